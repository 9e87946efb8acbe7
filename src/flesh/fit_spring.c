#include "flesh/fit_spring.h"

#include "runtime/functions.h"
#include "runtime/springs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

lmbSpringPoint lmbSpring_Still( void )
{
	/* Critically damped at the highest stiffness. */
	return ( lmbSpringPoint ){ log( lmbSpring_StiffnessHigh ), log( 2.0 * sqrt( lmbSpring_StiffnessHigh ) ) };
}

/* One coordinate: displacement and velocity, and their derivatives by log k and log c. */
typedef struct Track
{
	double u, v, uk, vk, uc, vc;
} Track;

static inline void StepDerivative( const double *phi, const double *gamma, const lmbSpringMap *map, double u,
                                   double v, double a0, double a1, double *du, double *dv )
{
	double x = *du, y = *dv;
	*du = phi[0] * u + phi[1] * v - gamma[0] * a0 - gamma[1] * a1 + map->phi[0] * x + map->phi[1] * y;
	*dv = phi[2] * u + phi[3] * v - gamma[2] * a0 - gamma[3] * a1 + map->phi[2] * x + map->phi[3] * y;
}

/* scale: what divides a jump. */
static inline void StepTrack( Track *t, const lmbSpringMap *map, const lmbSpringMapGradient *gradient,
                              bool jump, double scale, double start, double end )
{
	if ( jump )
	{
		t->v -= start / scale;
		start = 0.0;
	}
	double u = t->u, v = t->v;
	if ( gradient != NULL )
	{
		const lmbSpringMap *k = &gradient->byLogStiffness, *c = &gradient->byLogDamping;
		StepDerivative( k->phi, k->gamma, map, u, v, start, end, &t->uk, &t->vk );
		StepDerivative( c->phi, c->gamma, map, u, v, start, end, &t->uc, &t->vc );
	}
	t->u = map->phi[0] * u + map->phi[1] * v - map->gamma[0] * start - map->gamma[1] * end;
	t->v = map->phi[2] * u + map->phi[3] * v - map->gamma[2] * start - map->gamma[3] * end;
}

/* The recursion of a spring that follows the pose, over one segment. Tracks are of (U, V). */
static double FollowingError( const lmbSpringRecord *record, const lmbSegment *segment,
                              const double *frameWeights, lmbSpringPoint point, bool gradient, double *sums )
{
	double k = exp( point.logStiffness ), c = exp( point.logDamping ), error = 0.0;
	Track t;
	memset( &t, 0, sizeof( t ) );
	lmbSpringMap map;
	lmbSpringMapGradient derivatives;
	for ( int n = segment->first + 1; n < segment->first + segment->count; ++n )
	{
		double weight = record->counted == NULL || record->counted[n] ? segment->weight : 0.0;
		if ( frameWeights != NULL )
			weight *= frameWeights[n];
		double ratio = 0.5 * ( record->logRatios[n - 1] + record->logRatios[n] );
		double scale =
		    gradient ? lmbSpringMap_MakeScaledWithGradient( k, c, ratio, segment->step, &map, &derivatives )
		             : lmbSpringMap_MakeScaled( k, c, ratio, segment->step, &map );
		StepTrack( &t, &map, gradient ? &derivatives : NULL, record->interpolation == lmb_targetLinear, scale,
		           record->start[n], record->end[n] );
		double back = lmbExp( -0.25 * record->logRatios[n] ), off = back * t.u - record->truth[n];
		error += weight * off * off;
		if ( !gradient )
			continue;
		double uk = back * t.uk, uc = back * t.uc;
		sums[0] += weight * off * uk;
		sums[1] += weight * off * uc;
		sums[2] += weight * uk * uk;
		sums[3] += weight * uk * uc;
		sums[4] += weight * uc * uc;
	}
	return error;
}

/* The recursion over one segment; dimension a constant where it is called, so that the compiler unrolls. */
static inline __attribute__( ( always_inline ) ) double
SegmentError( const lmbSpringRecord *record, const lmbSegment *segment, const double *frameWeights,
              const lmbSpringMap *map, const lmbSpringMapGradient *gradient, int dimension, double *sums )
{
	Track tracks[3];
	memset( tracks, 0, sizeof( tracks ) );
	bool jump = record->interpolation == lmb_targetLinear;
	double error = 0.0;
	for ( int n = segment->first + 1; n < segment->first + segment->count; ++n )
	{
		double weight = record->counted == NULL || record->counted[n] ? segment->weight : 0.0;
		if ( frameWeights != NULL )
			weight *= frameWeights[n];
		for ( int axis = 0; axis < dimension; ++axis )
		{
			Track *t = &tracks[axis];
			size_t at = (size_t)n * (size_t)dimension + (size_t)axis;
			StepTrack( t, map, gradient, jump, 1.0, record->start[at], record->end[at] );
			double off = t->u - record->truth[at];
			error += weight * off * off;
			if ( gradient == NULL )
				continue;
			sums[0] += weight * off * t->uk;
			sums[1] += weight * off * t->uc;
			sums[2] += weight * t->uk * t->uk;
			sums[3] += weight * t->uk * t->uc;
			sums[4] += weight * t->uc * t->uc;
		}
	}
	return error;
}

double lmbSpring_Error( const lmbSpringRecord *record, const double *frameWeights, lmbSpringPoint point,
                        double *gradient, double *hessian )
{
	double error = 0.0, sums[5] = { 0.0 };
	double k = exp( point.logStiffness ), c = exp( point.logDamping );
	for ( int s = 0; s < record->segmentCount; ++s )
	{
		const lmbSegment *segment = &record->segments[s];
		lmbSpringMap map;
		lmbSpringMapGradient derivatives;
		if ( record->logRatios != NULL )
		{
			error += FollowingError( record, segment, frameWeights, point, gradient != NULL, sums );
			continue;
		}
		if ( gradient == NULL )
			lmbSpringMap_Make( k, c, segment->step, &map );
		else
			lmbSpringMap_MakeWithGradient( k, c, segment->step, &map, &derivatives );
		if ( gradient == NULL && record->dimension == 1 )
			error += SegmentError( record, segment, frameWeights, &map, NULL, 1, sums );
		else if ( gradient == NULL )
			error += SegmentError( record, segment, frameWeights, &map, NULL, 3, sums );
		else if ( record->dimension == 1 )
			error += SegmentError( record, segment, frameWeights, &map, &derivatives, 1, sums );
		else
			error += SegmentError( record, segment, frameWeights, &map, &derivatives, 3, sums );
	}
	if ( gradient != NULL )
	{
		gradient[0] = 2.0 * sums[0];
		gradient[1] = 2.0 * sums[1];
		for ( int i = 0; i < 3; ++i )
			hessian[i] = 2.0 * sums[2 + i];
	}
	return error;
}

/* All coordinates one frame on, without derivatives. map is the spring's own where it does not follow the
 * pose, else overwritten. Returns what the tracks' u must be multiplied by to be a displacement. */
static double StepFrame( const lmbSpringRecord *record, double step, double stiffness, double damping, int n,
                         lmbSpringMap *map, Track *tracks )
{
	double scale = 1.0, back = 1.0;
	if ( record->logRatios != NULL )
	{
		double ratio = 0.5 * ( record->logRatios[n - 1] + record->logRatios[n] );
		scale = lmbSpringMap_MakeScaled( stiffness, damping, ratio, step, map );
		back = lmbExp( -0.25 * record->logRatios[n] );
	}
	for ( int axis = 0; axis < record->dimension; ++axis )
	{
		size_t at = (size_t)n * (size_t)record->dimension + (size_t)axis;
		StepTrack( &tracks[axis], map, NULL, record->interpolation == lmb_targetLinear, scale,
		           record->start[at], record->end[at] );
	}
	return back;
}

void lmbSpring_Run( const lmbSpringRecord *record, double stiffness, double damping, double *out )
{
	size_t dimension = (size_t)record->dimension;
	memset( out, 0, (size_t)record->frameCount * dimension * sizeof( double ) );
	for ( int s = 0; s < record->segmentCount; ++s )
	{
		const lmbSegment *segment = &record->segments[s];
		lmbSpringMap map;
		lmbSpringMap_Make( stiffness, damping, segment->step, &map );
		Track tracks[3];
		memset( tracks, 0, sizeof( tracks ) );
		for ( int n = segment->first + 1; n < segment->first + segment->count; ++n )
		{
			double back = StepFrame( record, segment->step, stiffness, damping, n, &map, tracks );
			for ( size_t axis = 0; axis < dimension; ++axis )
				out[(size_t)n * dimension + axis] = back * tracks[axis].u;
		}
	}
}

/* What is minimised: the error as a share of the record's energy, and the pull of the prior. */
typedef struct Objective
{
	const lmbSpringRecord *record;
	const lmbSpringSearch *search;
	const double *frameWeights; /* Nullable */
	double energy;
} Objective;

static double Evaluate( const Objective *objective, lmbSpringPoint point, double *gradient, double *hessian )
{
	double scale = 1.0 / objective->energy;
	double pullK = objective->search->priorWeight.logStiffness,
	       pullC = objective->search->priorWeight.logDamping;
	double k = point.logStiffness - objective->search->prior.logStiffness;
	double c = point.logDamping - objective->search->prior.logDamping;
	double value =
	    scale * lmbSpring_Error( objective->record, objective->frameWeights, point, gradient, hessian );
	if ( gradient != NULL )
	{
		gradient[0] = scale * gradient[0] + 2.0 * pullK * k;
		gradient[1] = scale * gradient[1] + 2.0 * pullC * c;
		hessian[0] = scale * hessian[0] + 2.0 * pullK;
		hessian[1] *= scale;
		hessian[2] = scale * hessian[2] + 2.0 * pullC;
	}
	return value + pullK * k * k + pullC * c * c;
}

static double Bound( double x, double low, double high )
{
	return x < low ? low : x > high ? high : x;
}

static lmbSpringPoint Bounded( lmbSpringPoint point )
{
	point.logStiffness =
	    Bound( point.logStiffness, log( lmbSpring_StiffnessLow ), log( lmbSpring_StiffnessHigh ) );
	point.logDamping = Bound( point.logDamping, log( lmbSpring_DampingLow ), log( lmbSpring_DampingHigh ) );
	return point;
}

/* Levenberg-Marquardt in two unknowns, steps of at most 1 in each log (a factor e), on a box. */
static lmbSpringPoint Levenberg( const Objective *objective, lmbSpringPoint point, double *value )
{
	double damping = 1e-3, gradient[2], hessian[3];
	*value = Evaluate( objective, point, gradient, hessian );
	for ( int iteration = 0; iteration < 40; ++iteration )
	{
		double a = hessian[0] * ( 1.0 + damping ) + 1e-12, d = hessian[2] * ( 1.0 + damping ) + 1e-12;
		double b = hessian[1], determinant = a * d - b * b;
		lmbSpringPoint next = {
		    point.logStiffness - Bound( ( d * gradient[0] - b * gradient[1] ) / determinant, -1, 1 ),
		    point.logDamping - Bound( ( a * gradient[1] - b * gradient[0] ) / determinant, -1, 1 ) };
		next = Bounded( next );
		double moved =
		    fabs( next.logStiffness - point.logStiffness ) + fabs( next.logDamping - point.logDamping );
		double tried = Evaluate( objective, next, NULL, NULL );
		if ( !( tried < *value ) )
		{
			damping *= 8.0;
			if ( moved < 1e-7 || damping > 1e8 )
				break;
			continue;
		}
		bool done = *value - tried < 1e-9 * *value || moved < 1e-7;
		damping = fmax( 0.2 * damping, 1e-9 );
		point = next;
		*value = done ? tried : Evaluate( objective, point, gradient, hessian );
		if ( done )
			break;
	}
	return point;
}

/* Adam (Kingma, Ba 2015), 400 steps with a rate that falls linearly from 0.1; the best point seen. */
static lmbSpringPoint Adam( const Objective *objective, lmbSpringPoint point, double *value )
{
	enum
	{
		steps = 400
	};
	double mean[2] = { 0.0 }, square[2] = { 0.0 }, decay[2] = { 1.0, 1.0 };
	lmbSpringPoint best = point;
	*value = INFINITY;
	for ( int step = 0; step < steps; ++step )
	{
		double gradient[2], hessian[3], move[2];
		double here = Evaluate( objective, point, gradient, hessian );
		if ( here < *value )
		{
			*value = here;
			best = point;
		}
		decay[0] *= 0.9;
		decay[1] *= 0.999;
		for ( int i = 0; i < 2; ++i )
		{
			mean[i] = 0.9 * mean[i] + 0.1 * gradient[i];
			square[i] = 0.999 * square[i] + 0.001 * gradient[i] * gradient[i];
			double size = sqrt( square[i] / ( 1.0 - decay[1] ) ) + 1e-12;
			move[i] = 0.1 * ( 1.0 - (double)step / steps ) * mean[i] / ( 1.0 - decay[0] ) / size;
		}
		point.logStiffness -= move[0];
		point.logDamping -= move[1];
		point = Bounded( point );
	}
	return best;
}

static lmbSpringPoint Descend( const Objective *objective, lmbSpringPoint point, double *value )
{
	return objective->search->optimizer == lmb_optimizerAdam ? Adam( objective, point, value )
	                                                         : Levenberg( objective, point, value );
}

/* The two best of the starts, followed to the end. */
static lmbSpringPoint BestFromStarts( const Objective *objective )
{
	const lmbSpringSearch *search = objective->search;
	int best[2] = { 0, -1 };
	double values[2] = { INFINITY, INFINITY };
	for ( int i = 0; i < search->startCount; ++i )
	{
		double value = Evaluate( objective, Bounded( search->starts[i] ), NULL, NULL );
		int place = value < values[0] ? 0 : value < values[1] ? 1 : 2;
		if ( place == 0 && i > 0 )
		{
			best[1] = best[0];
			values[1] = values[0];
		}
		if ( place < 2 )
		{
			best[place] = i;
			values[place] = value;
		}
	}
	lmbSpringPoint result = Bounded( search->starts[best[0]] );
	result = Descend( objective, result, &values[0] );
	if ( best[1] < 0 )
		return result;
	lmbSpringPoint other = Descend( objective, Bounded( search->starts[best[1]] ), &values[1] );
	return values[1] < values[0] ? other : result;
}

static double RecordEnergy( const lmbSpringRecord *record, const double *frameWeights )
{
	double energy = 0.0;
	for ( int s = 0; s < record->segmentCount; ++s )
		for ( int i = 1; i < record->segments[s].count; ++i )
		{
			int n = record->segments[s].first + i;
			double weight = record->counted == NULL || record->counted[n] ? record->segments[s].weight : 0.0;
			if ( frameWeights != NULL )
				weight *= frameWeights[n];
			for ( int axis = 0; axis < record->dimension; ++axis )
			{
				double truth = record->truth[(size_t)n * (size_t)record->dimension + (size_t)axis];
				energy += weight * truth * truth;
			}
		}
	return energy;
}

static int CompareDoubles( const void *a, const void *b )
{
	double x = *(const double *)a, y = *(const double *)b;
	return ( x > y ) - ( x < y );
}

/* weights (frameCount): 0 for the worst dropShare of the counted frames under this spring, else 1. */
static void DropWorst( const lmbSpringRecord *record, lmbSpringPoint point, double dropShare, double *weights,
                       double *sorted )
{
	size_t used = 0;
	double stiffness = exp( point.logStiffness ), damping = exp( point.logDamping );
	for ( int s = 0; s < record->segmentCount; ++s )
	{
		const lmbSegment *segment = &record->segments[s];
		lmbSpringMap map;
		lmbSpringMap_Make( stiffness, damping, segment->step, &map );
		Track tracks[3];
		memset( tracks, 0, sizeof( tracks ) );
		weights[segment->first] = 0.0;
		for ( int n = segment->first + 1; n < segment->first + segment->count; ++n )
		{
			weights[n] = 0.0;
			double back = StepFrame( record, segment->step, stiffness, damping, n, &map, tracks );
			for ( int axis = 0; axis < record->dimension; ++axis )
			{
				size_t at = (size_t)n * (size_t)record->dimension + (size_t)axis;
				double off = back * tracks[axis].u - record->truth[at];
				weights[n] += segment->weight * off * off;
			}
			if ( record->counted == NULL || record->counted[n] )
				sorted[used++] = weights[n];
		}
	}
	qsort( sorted, used, sizeof( double ), CompareDoubles );
	size_t kept = used - (size_t)floor( dropShare * (double)used );
	double limit = kept > 0 ? sorted[kept - 1] : INFINITY;
	for ( int n = 0; n < record->frameCount; ++n )
		weights[n] = weights[n] <= limit ? 1.0 : 0.0;
}

lmbSpringFit lmbSpring_Fit( const lmbSpringRecord *record, const lmbSpringSearch *search, double *scratch )
{
	Objective objective = { record, search, NULL, RecordEnergy( record, NULL ) };
	lmbSpringFit fit = { exp( search->prior.logStiffness ), exp( search->prior.logDamping ), objective.energy,
	                     0.0 };
	if ( !( objective.energy > 0.0 ) || !isfinite( objective.energy ) )
		return fit;
	lmbSpringPoint point = BestFromStarts( &objective );
	double energy = objective.energy;
	if ( search->dropShare > 0.0 )
	{
		DropWorst( record, point, search->dropShare, scratch, scratch + record->frameCount );
		objective.frameWeights = scratch;
		objective.energy = RecordEnergy( record, scratch );
		double value;
		if ( objective.energy > 0.0 )
			point = Descend( &objective, point, &value );
	}
	fit.stiffness = exp( point.logStiffness );
	fit.damping = exp( point.logDamping );
	fit.share = 1.0 - lmbSpring_Error( record, NULL, point, NULL, NULL ) / energy;
	return fit;
}
