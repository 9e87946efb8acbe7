#include "learn/optimize.h"

#include <lbfgs.h>
#include <math.h>
#include <string.h>

_Static_assert( sizeof( lbfgsfloatval_t ) == sizeof( double ), "liblbfgs must be the double build" );

lmbStatus lmbAdam_Make( lmbAdam *adam, size_t count, lmbArena *arena, lmbError *error )
{
	*adam = ( lmbAdam ){ .count = count, .beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8 };
	adam->first = LMB_NEW( arena, double, count );
	adam->second = LMB_NEW( arena, double, count );
	if ( adam->first == NULL || adam->second == NULL )
		return lmbError_Memory( error );
	return lmb_statusOk;
}

void lmbAdam_Step( lmbAdam *adam, double rate, const double *gradient, double *parameters )
{
	adam->step += 1;
	double correction1 = 1.0 - pow( adam->beta1, (double)adam->step );
	double correction2 = 1.0 - pow( adam->beta2, (double)adam->step );
	for ( size_t i = 0; i < adam->count; ++i )
	{
		adam->first[i] = adam->beta1 * adam->first[i] + ( 1.0 - adam->beta1 ) * gradient[i];
		adam->second[i] = adam->beta2 * adam->second[i] + ( 1.0 - adam->beta2 ) * gradient[i] * gradient[i];
		parameters[i] -= rate * ( adam->first[i] / correction1 ) /
		                 ( sqrt( adam->second[i] / correction2 ) + adam->epsilon );
	}
}

lmbLbfgsDef lmbDefaultLbfgsDef( void )
{
	return ( lmbLbfgsDef ){ .memory = 20, .iterations = 200, .tolerance = 1e-10 };
}

typedef struct Search
{
	size_t count;
	lmbObjective *objective;
	lmbObserver *observer;
	void *context;
	int evaluations, iterations;
	bool finite; /* at the start */
} Search;

static double Evaluate( void *instance, const double *x, double *g, const int n, const double step )
{
	Search *search = instance;
	(void)step;
	memset( g, 0, (size_t)n * sizeof( double ) ); /* the padding's gradient stays 0 */
	double value = search->objective( search->context, x, g );
	search->evaluations += 1;
	double sum = value;
	for ( size_t i = 0; i < search->count; ++i )
		sum += g[i];
	if ( isfinite( sum ) )
		return value;
	if ( search->evaluations == 1 )
		search->finite = false;
	/* A step into a place without a value: send the line search back with a huge one. */
	memset( g, 0, (size_t)n * sizeof( double ) );
	return 1e300;
}

static int Progress( void *instance, const double *x, const double *g, const double fx, const double xnorm,
                     const double gnorm, const double step, int n, int k, int ls )
{
	(void)g, (void)xnorm, (void)gnorm, (void)step, (void)n, (void)ls;
	Search *search = instance;
	search->iterations = k;
	return search->observer != NULL && !search->observer( search->context, k, x, fx );
}

/* What lbfgs() may end with besides a broken call: all of them leave the best point behind. */
static bool IsOrdinaryEnd( int code )
{
	switch ( code )
	{
	case LBFGS_SUCCESS:
	case LBFGS_STOP:
	case LBFGS_ALREADY_MINIMIZED:
	case LBFGSERR_CANCELED:
	case LBFGSERR_OUTOFINTERVAL:
	case LBFGSERR_INCORRECT_TMINMAX:
	case LBFGSERR_ROUNDING_ERROR:
	case LBFGSERR_MINIMUMSTEP:
	case LBFGSERR_MAXIMUMSTEP:
	case LBFGSERR_MAXIMUMLINESEARCH:
	case LBFGSERR_MAXIMUMITERATION:
	case LBFGSERR_WIDTHTOOSMALL:
	case LBFGSERR_INCREASEGRADIENT:
		return true;
	default:
		return false;
	}
}

lmbStatus lmbLbfgs_Minimize( size_t count, double *parameters, lmbObjective *objective, void *context,
                             const lmbLbfgsDef *def, lmbLbfgsReport *report, lmbError *error )
{
	if ( count < 1 || count > (size_t)1 << 30 || def->memory < 3 || def->memory > 100 || def->iterations < 0 )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "L-BFGS over %zu parameters with memory %d and %d iterations is out of range",
		                     count, def->memory, def->iterations );
	if ( report != NULL )
		*report = ( lmbLbfgsReport ){ 0 };
	if ( def->iterations == 0 )
		return lmb_statusOk;
	/* Builds with SSE2 want a multiple of 16 numbers, aligned; padding serves every build. */
	size_t padded = ( count + 15 ) / 16 * 16;
	double *x = lbfgs_malloc( (int)padded );
	if ( x == NULL )
		return lmbError_Memory( error );
	memset( x, 0, padded * sizeof( double ) );
	memcpy( x, parameters, count * sizeof( double ) );
	lbfgs_parameter_t settings;
	lbfgs_parameter_init( &settings );
	settings.m = def->memory;
	settings.epsilon = def->tolerance;
	settings.max_iterations = def->iterations;
	Search search = { count, objective, def->observer, context, 0, 0, true };
	double value = 0.0;
	int code = lbfgs( (int)padded, x, &value, Evaluate, Progress, &search, &settings );
	lmbStatus status = lmb_statusOk;
	if ( !search.finite )
		status = lmbError_Set( error, lmb_statusNumerical, "L-BFGS: the loss at the start is not finite" );
	else if ( code == LBFGSERR_OUTOFMEMORY )
		status = lmbError_Memory( error );
	else if ( !IsOrdinaryEnd( code ) )
		status = lmbError_Set( error, lmb_statusNumerical, "L-BFGS ended with code %d", code );
	else
		memcpy( parameters, x, count * sizeof( double ) );
	if ( report != NULL )
		*report = ( lmbLbfgsReport ){ search.iterations, search.evaluations, value,
		                              code == LBFGS_SUCCESS || code == LBFGS_ALREADY_MINIMIZED };
	lbfgs_free( x );
	return status;
}
