#include "learn/ridge.h"

#include "base/arena.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

double lmbRidgeGrid( int index )
{
	return pow( 10.0, -8.0 + 0.5 * index );
}

/* Weighted covariances of a part of the samples, and the eigenvectors of the features' own. */
typedef struct Moments
{
	double weight;
	double *featureMean, *targetMean; /* (F), (O) */
	double *covariance;               /* (F x F), becomes the eigenvectors as columns */
	double *cross;                    /* (F x O), becomes eigenvectors^T cross */
	double *eigen;                    /* (F) */
	double unit;                      /* trace / F: what a relative ridge of 1 is */
} Moments;

typedef struct Bench
{
	const lmbRidgeDef *def;
	Moments moments;
	double *centred, *weightedTargets; /* (n x F), (n x O) */
	double *scaled;                    /* (F x O) the solution in the eigenvectors' frame */
	double *weights;                   /* (F x O) */
	double *outputs;                   /* (n x O) */
} Bench;

static double Weight( const lmbRidgeDef *def, int i )
{
	return def->sampleWeights == NULL ? 1.0 : def->sampleWeights[i];
}

static bool IsIn( const lmbRidgeDef *def, int i, int leftOut )
{
	return leftOut < 0 || def->folds[i] != leftOut;
}

static void Means( Bench *bench, int leftOut )
{
	const lmbRidgeDef *def = bench->def;
	Moments *m = &bench->moments;
	int F = def->featureCount, O = def->outputCount;
	m->weight = 0.0;
	memset( m->featureMean, 0, (size_t)F * sizeof( double ) );
	memset( m->targetMean, 0, (size_t)O * sizeof( double ) );
	for ( int i = 0; i < def->sampleCount; ++i )
	{
		if ( !IsIn( def, i, leftOut ) )
			continue;
		double w = Weight( def, i );
		m->weight += w;
		cblas_daxpy( F, w, def->features + (size_t)i * F, 1, m->featureMean, 1 );
		cblas_daxpy( O, w, def->targets + (size_t)i * O, 1, m->targetMean, 1 );
	}
	if ( m->weight > 0.0 )
	{
		cblas_dscal( F, 1.0 / m->weight, m->featureMean, 1 );
		cblas_dscal( O, 1.0 / m->weight, m->targetMean, 1 );
	}
}

/* Moments of all samples but those of fold leftOut (-1: of all), rotated to the covariance's own axes. */
static lmbStatus Decompose( Bench *bench, int leftOut, lmbError *error )
{
	const lmbRidgeDef *def = bench->def;
	Moments *m = &bench->moments;
	int F = def->featureCount, O = def->outputCount, n = 0;
	Means( bench, leftOut );
	if ( !( m->weight > 0.0 ) )
		return lmbError_Set( error, lmb_statusInvalidArgument, "ridge regression without a sample to fit" );
	for ( int i = 0; i < def->sampleCount; ++i )
	{
		if ( !IsIn( def, i, leftOut ) || Weight( def, i ) == 0.0 )
			continue;
		double w = sqrt( Weight( def, i ) / m->weight );
		for ( int f = 0; f < F; ++f )
			bench->centred[(size_t)n * F + f] = w * ( def->features[(size_t)i * F + f] - m->featureMean[f] );
		for ( int o = 0; o < O; ++o )
			bench->weightedTargets[(size_t)n * O + o] =
			    w * ( def->targets[(size_t)i * O + o] - m->targetMean[o] );
		n += 1;
	}
	cblas_dsyrk( CblasRowMajor, CblasUpper, CblasTrans, F, n, 1.0, bench->centred, F, 0.0, m->covariance, F );
	double *cross = bench->scaled;
	cblas_dgemm( CblasRowMajor, CblasTrans, CblasNoTrans, F, O, n, 1.0, bench->centred, F,
	             bench->weightedTargets, O, 0.0, cross, O );
	double trace = 0.0, check = cblas_dasum( F * O, cross, 1 );
	for ( int f = 0; f < F; ++f )
		trace += m->covariance[(size_t)f * F + f];
	if ( !isfinite( trace ) || !isfinite( check ) )
		return lmbError_Set( error, lmb_statusNumerical, "ridge regression on numbers that are not finite" );
	m->unit = trace > 0.0 ? trace / F : 1.0;
	if ( LAPACKE_dsyevd( LAPACK_ROW_MAJOR, 'V', 'U', F, m->covariance, F, m->eigen ) != 0 )
		return lmbError_Set( error, lmb_statusNumerical, "ridge regression: eigenvalues were not found" );
	cblas_dgemm( CblasRowMajor, CblasTrans, CblasNoTrans, F, O, F, 1.0, m->covariance, F, cross, O, 0.0,
	             m->cross, O );
	return lmb_statusOk;
}

/* weights (F x O) of the decomposed moments, output o with ridges[o]. */
static void Solve( Bench *bench, const double *ridges )
{
	const Moments *m = &bench->moments;
	int F = bench->def->featureCount, O = bench->def->outputCount;
	for ( int f = 0; f < F; ++f )
		for ( int o = 0; o < O; ++o )
		{
			double eigen = m->eigen[f] > 0.0 ? m->eigen[f] : 0.0;
			bench->scaled[(size_t)f * O + o] = m->cross[(size_t)f * O + o] / ( eigen + ridges[o] * m->unit );
		}
	cblas_dgemm( CblasRowMajor, CblasNoTrans, CblasNoTrans, F, O, F, 1.0, m->covariance, F, bench->scaled, O,
	             0.0, bench->weights, O );
}

/* Adds each output's squared error on fold to errors (O). */
static void Judge( Bench *bench, int fold, double *errors )
{
	const lmbRidgeDef *def = bench->def;
	const Moments *m = &bench->moments;
	int F = def->featureCount, O = def->outputCount, n = 0;
	for ( int i = 0; i < def->sampleCount; ++i )
		if ( def->folds[i] == fold )
		{
			for ( int f = 0; f < F; ++f )
				bench->centred[(size_t)n * F + f] = def->features[(size_t)i * F + f] - m->featureMean[f];
			n += 1;
		}
	if ( n == 0 )
		return;
	cblas_dgemm( CblasRowMajor, CblasNoTrans, CblasNoTrans, n, O, F, 1.0, bench->centred, F, bench->weights,
	             O, 0.0, bench->outputs, O );
	n = 0;
	for ( int i = 0; i < def->sampleCount; ++i )
	{
		if ( def->folds[i] != fold )
			continue;
		for ( int o = 0; o < O; ++o )
		{
			double off =
			    bench->outputs[(size_t)n * O + o] + m->targetMean[o] - def->targets[(size_t)i * O + o];
			errors[o] += Weight( def, i ) * off * off;
		}
		n += 1;
	}
}

static lmbStatus Choose( Bench *bench, lmbArena *arena, double *ridges, lmbError *error )
{
	int O = bench->def->outputCount;
	double *errors = LMB_NEW( arena, double, (size_t)lmbRidgeGridCount *O );
	if ( errors == NULL )
		return lmbError_Memory( error );
	for ( int fold = 0; fold < bench->def->foldCount; ++fold )
	{
		LMB_TRY( Decompose( bench, fold, error ) );
		for ( int g = 0; g < lmbRidgeGridCount; ++g )
		{
			for ( int o = 0; o < O; ++o )
				ridges[o] = lmbRidgeGrid( g );
			Solve( bench, ridges );
			Judge( bench, fold, errors + (size_t)g * O );
		}
	}
	for ( int o = 0; o < O; ++o )
	{
		int best = 0;
		for ( int g = 1; g < lmbRidgeGridCount; ++g )
			if ( errors[(size_t)g * O + o] < errors[(size_t)best * O + o] )
				best = g;
		ridges[o] = lmbRidgeGrid( best );
	}
	return lmb_statusOk;
}

static lmbStatus Fit( Bench *bench, lmbArena *arena, double *solution, double *chosen, lmbError *error )
{
	const lmbRidgeDef *def = bench->def;
	size_t n = (size_t)def->sampleCount, F = (size_t)def->featureCount, O = (size_t)def->outputCount;
	Moments *m = &bench->moments;
	double **needs[] = {
	    &m->featureMean, &m->targetMean,  &m->covariance,          &m->cross,      &m->eigen, &bench->centred,
	    &bench->scaled,  &bench->weights, &bench->weightedTargets, &bench->outputs };
	size_t counts[] = { F, O, F * F, F * O, F, n * F, F * O, F * O, n * O, n * O };
	for ( size_t i = 0; i < sizeof( counts ) / sizeof( counts[0] ); ++i )
		if ( ( *needs[i] = LMB_NEW( arena, double, counts[i] ) ) == NULL )
			return lmbError_Memory( error );
	double *ridges = LMB_NEW( arena, double, O );
	if ( ridges == NULL )
		return lmbError_Memory( error );
	for ( size_t o = 0; o < O; ++o )
		ridges[o] = def->ridge;
	if ( def->ridge == 0.0 )
		LMB_TRY( Choose( bench, arena, ridges, error ) );
	LMB_TRY( Decompose( bench, -1, error ) );
	Solve( bench, ridges );
	for ( size_t o = 0; o < O; ++o )
	{
		double *row = solution + o * ( F + 1 ), bias = m->targetMean[o];
		for ( size_t f = 0; f < F; ++f )
		{
			row[f] = bench->weights[f * O + o];
			bias -= row[f] * m->featureMean[f];
		}
		row[F] = bias;
		if ( chosen != NULL )
			chosen[o] = ridges[o];
	}
	return lmb_statusOk;
}

lmbStatus lmbRidge_Fit( const lmbRidgeDef *def, double *solution, double *chosen, lmbError *error )
{
	if ( def->sampleCount < 1 || def->featureCount < 1 || def->outputCount < 1 || !( def->ridge >= 0.0 ) ||
	     ( def->ridge == 0.0 && ( def->folds == NULL || def->foldCount < 2 || def->foldCount > 64 ) ) )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "ridge regression of %d samples, %d features, %d outputs, ridge %g, %d folds: "
		                     "out of range",
		                     def->sampleCount, def->featureCount, def->outputCount, def->ridge,
		                     def->foldCount );
	lmbArena arena = { 0 };
	Bench bench = { .def = def };
	lmbStatus status = Fit( &bench, &arena, solution, chosen, error );
	lmbArena_Free( &arena );
	return status;
}

void lmbRidge_Evaluate( int sampleCount, int featureCount, int outputCount, const double *features,
                        const double *solution, double *outputs )
{
	for ( int i = 0; i < sampleCount; ++i )
		for ( int o = 0; o < outputCount; ++o )
			outputs[(size_t)i * outputCount + o] = solution[(size_t)( o + 1 ) * ( featureCount + 1 ) - 1];
	cblas_dgemm( CblasRowMajor, CblasNoTrans, CblasTrans, sampleCount, outputCount, featureCount, 1.0,
	             features, featureCount, solution, featureCount + 1, 1.0, outputs, outputCount );
}
