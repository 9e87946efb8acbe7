#include "limb/train_windows.h"

#include <math.h>
#include <string.h>

enum
{
	batchSmallest = 32, /* windows carried together */
	batchLimit = 64     /* batches, while they stay above the smallest */
};

static const double longestStep = 0.01; /* s of RK4: what is left of its error is below what data show */

/* Cuts stretches into windows as equal as whole steps allow. */
static lmbStatus Cut( lmbShooting *shot, const lmbStretch *stretches, int count, lmbWindows *out,
                      lmbError *error )
{
	const lmbTraining *training = shot->training;
	size_t most = 0;
	for ( int pass = 0; pass < 2; ++pass )
	{
		if ( pass == 1 )
		{
			out->windows = LMB_NEW( &shot->arena, lmbWindow, most );
			if ( out->windows == NULL )
				return lmbError_Memory( error );
		}
		for ( int i = 0; i < count; ++i )
		{
			int steps = stretches[i].count - 1;
			double wanted = training->def->window / training->set->items[stretches[i].trajectory].step;
			if ( steps < 1 )
				continue;
			int parts = (int)floor( steps / fmax( wanted, 1.0 ) + 0.5 );
			parts = parts < 1 ? 1 : parts;
			int length = steps / parts;
			most += (size_t)parts;
			for ( int k = 0; k < parts && pass == 1; ++k )
			{
				int next = k + 1 < parts ? out->windowCount + 1 : -1;
				out->windows[out->windowCount++] =
				    ( lmbWindow ){ stretches[i].trajectory, stretches[i].begin + k * length, length, next };
				out->numbers += (double)length * shot->n;
			}
		}
	}
	if ( out->windowCount == 0 )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "no trajectory is long enough for a shooting window of %g s",
		                     training->def->window );
	return lmb_statusOk;
}

static double StepOf( const lmbShooting *shot, const lmbWindow *window )
{
	return shot->training->set->items[window->trajectory].step;
}

/* Joins windows of equal length and step, in order, into batches. */
static lmbStatus MakeBatches( lmbShooting *shot, lmbWindows *set, lmbError *error )
{
	int most = ( set->windowCount + batchLimit - 1 ) / batchLimit;
	most = most < batchSmallest ? batchSmallest : most;
	set->batches = LMB_NEW( &shot->arena, lmbWindowBatch, set->windowCount );
	size_t states = (size_t)set->windowCount * 2 * (size_t)shot->n;
	set->starts = LMB_NEW( &shot->arena, double, states );
	set->ends = LMB_NEW( &shot->arena, double, states );
	set->byEnds = LMB_NEW( &shot->arena, double, states );
	if ( set->batches == NULL || set->starts == NULL || set->ends == NULL || set->byEnds == NULL )
		return lmbError_Memory( error );
	for ( int w = 0; w < set->windowCount; ++w )
	{
		const lmbWindow *window = &set->windows[w];
		lmbWindowBatch *batch = set->batchCount > 0 ? &set->batches[set->batchCount - 1] : NULL;
		if ( batch == NULL || batch->count == most || batch->steps != window->steps ||
		     StepOf( shot, &set->windows[batch->first] ) != StepOf( shot, window ) )
		{
			batch = &set->batches[set->batchCount++];
			int substeps = (int)ceil( StepOf( shot, window ) / longestStep - 1e-9 );
			substeps = substeps < 1 ? 1 : substeps;
			*batch = ( lmbWindowBatch ){
			    w, 0, window->steps, substeps, StepOf( shot, window ) / substeps, NULL, NULL };
		}
		batch->count += 1;
	}
	for ( int b = 0; b < set->batchCount; ++b )
	{
		lmbWindowBatch *batch = &set->batches[b];
		size_t numbers =
		    ( (size_t)batch->steps * (size_t)batch->substeps + 1 ) * (size_t)batch->count * (size_t)shot->n;
		batch->q = LMB_NEW( &shot->arena, double, numbers );
		batch->v = LMB_NEW( &shot->arena, double, numbers );
		if ( batch->q == NULL || batch->v == NULL )
			return lmbError_Memory( error );
	}
	return lmb_statusOk;
}

/* Starts from the smoothed motion. */
void lmbShooting_FillStarts( const lmbShooting *shot, lmbWindows *set )
{
	size_t n = (size_t)shot->n, row = n * sizeof( double );
	for ( int w = 0; w < set->windowCount; ++w )
	{
		const lmbTrajectory *motion = &shot->training->motion[set->windows[w].trajectory];
		double *start = set->starts + (size_t)w * 2 * n;
		memcpy( start, motion->positions + (size_t)set->windows[w].begin * n, row );
		memcpy( start + n, motion->velocities + (size_t)set->windows[w].begin * n, row );
	}
}

/* The inputs of a batch at a substep's begin and end; returns whether the end differs. */
bool lmbShooting_BatchInputs( const lmbShooting *shot, const lmbWindowBatch *batch, int substep,
                              double *begin, double *end )
{
	const lmbTrajectories *set = shot->training->set;
	size_t m = (size_t)shot->m;
	int step = substep / batch->substeps;
	double from = (double)( substep % batch->substeps ) / batch->substeps;
	double to = from + 1.0 / batch->substeps;
	bool straight = set->hold == lmb_inputLinear;
	for ( int k = 0; k < batch->count; ++k )
	{
		const lmbWindow *window = &shot->now->windows[batch->first + k];
		const double *now =
		    m > 0 ? set->items[window->trajectory].inputs + (size_t)( window->begin + step ) * m : NULL;
		for ( size_t j = 0; j < m; ++j )
		{
			double change = straight ? now[m + j] - now[j] : 0.0;
			begin[(size_t)k * m + j] = now[j] + from * change;
			end[(size_t)k * m + j] = now[j] + to * change;
		}
	}
	return straight;
}

const double *lmbShooting_Measured( const lmbShooting *shot, const lmbWindow *window, int step )
{
	return shot->training->set->items[window->trajectory].positions +
	       (size_t)( window->begin + step ) * (size_t)shot->n;
}

/* Squared mismatch of one batch's sample in units of the noise; ADDS its gradient by q (Nullable). The
 * start's own sample counts as well. */
double lmbShooting_SampleLoss( const lmbShooting *shot, const lmbWindowBatch *batch, int step,
                               const double *q, double share, double *byQ )
{
	double sum = 0.0;
	for ( int k = 0; k < batch->count; ++k )
	{
		const double *real = lmbShooting_Measured( shot, &shot->now->windows[batch->first + k], step );
		for ( int i = 0; i < shot->n; ++i )
		{
			double off = ( q[k * shot->n + i] - real[i] ) / shot->sigma[i];
			sum += share * off * off;
			if ( byQ != NULL )
				byQ[k * shot->n + i] += 2.0 * share * off / shot->sigma[i];
		}
	}
	return sum;
}

static lmbStatus ForwardBatch( void *context, int index, int worker, lmbError *error )
{
	lmbShooting *shot = context;
	(void)error;
	lmbWindowBatch *batch = &shot->now->batches[index];
	size_t n = (size_t)shot->n, numbers = (size_t)batch->count * n;
	double *begin = shot->work + (size_t)worker * shot->room;
	double *end = begin + (size_t)batch->count * (size_t)shot->m;
	double loss = 0.0, share = 1.0 / shot->now->numbers;
	for ( size_t k = 0; k < (size_t)batch->count; ++k )
	{
		const double *start = shot->now->starts + ( (size_t)batch->first + k ) * 2 * n;
		memcpy( batch->q + k * n, start, n * sizeof( double ) );
		memcpy( batch->v + k * n, start + n, n * sizeof( double ) );
	}
	for ( int s = 0; s < batch->steps * batch->substeps; ++s )
	{
		double *q = batch->q + (size_t)s * numbers, *v = batch->v + (size_t)s * numbers;
		if ( s % batch->substeps == 0 )
			loss += lmbShooting_SampleLoss( shot, batch, s / batch->substeps, q, share, NULL );
		memcpy( q + numbers, q, numbers * sizeof( double ) );
		memcpy( v + numbers, v, numbers * sizeof( double ) );
		bool straight = lmbShooting_BatchInputs( shot, batch, s, begin, end );
		lmbRollout_Step( &shot->rollouts[worker], shot->parameters, batch->count, batch->dt, begin,
		                 straight ? end : NULL, q + numbers, v + numbers );
	}
	size_t last = (size_t)batch->steps * (size_t)batch->substeps * numbers;
	for ( size_t k = 0; k < (size_t)batch->count; ++k )
	{
		double *own = shot->now->ends + ( (size_t)batch->first + k ) * 2 * n;
		memcpy( own, batch->q + last + k * n, n * sizeof( double ) );
		memcpy( own + n, batch->v + last + k * n, n * sizeof( double ) );
	}
	shot->batchLosses[index] = loss;
	return lmb_statusOk;
}

/* Mismatch of the set's windows with the data; NAN when cancelled. */
double lmbShooting_Carry( lmbShooting *shot, lmbWindows *set, const double *parameters )
{
	shot->now = set;
	shot->parameters = parameters;
	if ( lmbJob_ForEach( shot->training->job, set->batchCount, ForwardBatch, shot, NULL ) != lmb_statusOk )
		return (double)NAN;
	double loss = 0.0;
	for ( int b = 0; b < set->batchCount; ++b )
		loss += shot->batchLosses[b];
	return loss;
}

lmbStatus lmbShooting_MakeWindows( lmbShooting *shot, const lmbStretch *stretches, int count, lmbWindows *out,
                                   lmbError *error )
{
	LMB_TRY( Cut( shot, stretches, count, out, error ) );
	return MakeBatches( shot, out, error );
}
