/* The quick start: velocities and accelerations from measured positions alone. A zero-phase low-pass takes
 * the noise away, a cubic spline through what is left is differentiated. */
#include "formats/motion_curves.h"
#include "limb/train_private.h"

#include <math.h>
#include <string.h>

enum
{
	cutoffSteps = 60 /* tried between the lowest and half the sampling rate */
};

/* Sum of squares of what a low-pass takes out of all hinges' positions (of all dofs when there are no
 * hinges), and how many numbers. */
static lmbStatus Residual( const lmbTrajectories *set, double cutoff, double *room, double *squares,
                           double *numbers, lmbError *error )
{
	int n = set->dofCount;
	bool hinges = false;
	for ( int i = 0; i < n; ++i )
		hinges = hinges || !set->slides[i];
	*squares = *numbers = 0.0;
	for ( int t = 0; t < set->count; ++t )
	{
		const lmbTrajectory *item = &set->items[t];
		if ( cutoff >= 0.45 / item->step )
			continue;
		size_t count = (size_t)item->sampleCount * (size_t)n;
		memcpy( room, item->positions, count * sizeof( double ) );
		LMB_TRY( lmbLowPass_Run( room, item->sampleCount, n, 1.0 / item->step, cutoff, error ) );
		for ( size_t k = 0; k < count; ++k )
			if ( !hinges || !set->slides[k % (size_t)n] )
			{
				*squares += pow( room[k] - item->positions[k], 2.0 );
				*numbers += 1.0;
			}
	}
	return lmb_statusOk;
}

/* The lowest cutoff whose residual is no more than noise: white noise of deviation s leaves s^2 (1 - 2 f dt)
 * above a sharp cutoff f (residual analysis, Winter, Biomechanics and Motor Control of Human Movement). 0: no
 * filter. */
static lmbStatus ChooseCutoff( const lmbTrajectories *set, const lmbLimbTrainDef *def, double *room,
                               double *cutoff, lmbError *error )
{
	double step = set->items[0].step, longest = 0.0;
	*cutoff = def->cutoff;
	if ( def->cutoff > 0.0 || def->noise == 0.0 )
		return lmb_statusOk;
	for ( int t = 0; t < set->count; ++t )
	{
		step = fmin( step, set->items[t].step );
		longest = fmax( longest, set->items[t].step * set->items[t].sampleCount );
	}
	double lowest = fmax( 2.0 / longest, 1e-3 / step ), highest = 0.45 / step;
	for ( int k = 0; k < cutoffSteps; ++k )
	{
		double squares, numbers, tried = lowest * pow( highest / lowest, (double)k / cutoffSteps );
		LMB_TRY( Residual( set, tried, room, &squares, &numbers, error ) );
		if ( numbers == 0.0 ||
		     squares > 1.02 * numbers * def->noise * def->noise * ( 1.0 - 2.0 * tried * step ) )
			continue;
		*cutoff = tried;
		break;
	}
	return lmb_statusOk;
}

static void Differentiate( lmbTrajectory *item, int n )
{
	double h = item->step;
	const double *x = item->positions, *m = item->accelerations;
	int last = item->sampleCount - 1;
	for ( int s = 0; s <= last; ++s )
		for ( int i = 0; i < n; ++i )
		{
			/* Slope of the spline at its piece's begin; of the last piece, at its end. */
			size_t at = (size_t)( s < last ? s : s - 1 ) * (size_t)n + (size_t)i, next = at + (size_t)n;
			double chord = ( x[next] - x[at] ) / h;
			item->velocities[(size_t)s * (size_t)n + (size_t)i] =
			    s < last ? chord - h / 6.0 * ( 2.0 * m[at] + m[next] )
			             : chord + h / 6.0 * ( m[at] + 2.0 * m[next] );
		}
}

/* Inputs as the smoothed acceleration sees them: at a sample a held input has just jumped, and the filter
 * smears both sides of the equation alike. */
static void InputsAtSamples( const lmbTrajectories *set, const lmbTrajectory *from, double *to )
{
	size_t m = (size_t)set->inputCount;
	for ( size_t s = 0; s < (size_t)from->sampleCount; ++s )
		for ( size_t j = 0; j < m; ++j )
		{
			double now = from->inputs[s * m + j];
			double before = s > 0 && set->hold == lmb_inputHeld ? from->inputs[( s - 1 ) * m + j] : now;
			to[s * m + j] = 0.5 * ( now + before );
		}
}

static lmbStatus SmoothOne( const lmbTrajectories *set, const lmbTrajectory *from, double cutoff,
                            lmbArena *arena, lmbTrajectory *to, lmbError *error )
{
	int n = set->dofCount, m = set->inputCount, count = from->sampleCount;
	size_t numbers = (size_t)count * (size_t)n;
	*to = *from;
	to->positions = LMB_NEW( arena, double, numbers );
	to->velocities = LMB_NEW( arena, double, numbers );
	to->accelerations = LMB_NEW( arena, double, numbers );
	to->inputs = LMB_NEW( arena, double, (size_t)count *(size_t)m );
	if ( to->positions == NULL || to->velocities == NULL || to->accelerations == NULL || to->inputs == NULL )
		return lmbError_Memory( error );
	memcpy( to->positions, from->positions, numbers * sizeof( double ) );
	if ( m > 0 )
		InputsAtSamples( set, from, to->inputs );
	if ( cutoff > 0.0 && cutoff < 0.49 / from->step )
	{
		LMB_TRY( lmbLowPass_Run( to->positions, count, n, 1.0 / from->step, cutoff, error ) );
		if ( m > 0 )
			LMB_TRY( lmbLowPass_Run( to->inputs, count, m, 1.0 / from->step, cutoff, error ) );
	}
	LMB_TRY( lmbSpline_Curvatures( to->positions, count, n, from->step, to->accelerations, error ) );
	Differentiate( to, n );
	return lmb_statusOk;
}

lmbStatus lmbTrain_Smooth( lmbTraining *training, lmbError *error )
{
	const lmbTrajectories *set = training->set;
	int longest = 0;
	for ( int t = 0; t < set->count; ++t )
		longest = set->items[t].sampleCount > longest ? set->items[t].sampleCount : longest;
	lmbTrajectory *motion = LMB_NEW( &training->arena, lmbTrajectory, set->count );
	double cutoff, *room = LMB_NEW( &training->arena, double, (size_t)longest *(size_t)set->dofCount );
	if ( motion == NULL || room == NULL )
		return lmbError_Memory( error );
	LMB_TRY( ChooseCutoff( set, training->def, room, &cutoff, error ) );
	if ( cutoff > 0.0 )
		lmbJob_Note( training->job, "Smoothing below %.3g Hz", cutoff );
	for ( int t = 0; t < set->count; ++t )
		LMB_TRY( SmoothOne( set, &set->items[t], cutoff, &training->arena, &motion[t], error ) );
	training->motion = motion;
	/* The filter knows nothing beyond the ends, and there its second derivative is a guess. */
	training->trim = cutoff > 0.0 ? (int)ceil( 0.5 / ( cutoff * set->items[0].step ) ) : 0;
	return lmb_statusOk;
}
