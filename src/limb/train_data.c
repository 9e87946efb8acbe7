/* Which data teach, which stop, and their spread. */
#include "limb/train_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Marks stopCount trajectories, drawn by the seed. */
static void DrawStops( bool *stops, int count, int stopCount, uint64_t seed )
{
	lmbRandom random = lmbRandom_Seed( seed, 0x57095 );
	for ( int left = stopCount; left > 0; )
	{
		uint32_t k = lmbRandom_Below( &random, (uint32_t)count );
		left -= stops[k] ? 0 : 1;
		stops[k] = true;
	}
}

lmbStatus lmbTraining_Split( lmbTraining *training, lmbError *error )
{
	int count = training->set->count;
	lmbSplit *split = &training->split;
	split->train = LMB_NEW( &training->arena, lmbStretch, count );
	split->stop = LMB_NEW( &training->arena, lmbStretch, count );
	bool *stops = LMB_NEW( &training->arena, bool, count );
	if ( split->train == NULL || split->stop == NULL || stops == NULL )
		return lmbError_Memory( error );
	int stopCount = (int)( training->def->stopShare * count + 0.5 );
	if ( stopCount < 1 || count < 2 )
	{
		/* Too few to spare one: the end of each. */
		for ( int i = 0; i < count; ++i )
		{
			int samples = training->set->items[i].sampleCount;
			int stop = (int)ceil( training->def->stopShare * samples );
			split->stop[split->stopCount++] = ( lmbStretch ){ i, samples - stop, stop };
			if ( samples > stop )
				split->train[split->trainCount++] = ( lmbStretch ){ i, 0, samples - stop };
		}
	}
	else
	{
		DrawStops( stops, count, stopCount, training->job != NULL ? training->job->seed : 0 );
		for ( int i = 0; i < count; ++i )
		{
			lmbStretch all = { i, 0, training->set->items[i].sampleCount };
			if ( stops[i] )
				split->stop[split->stopCount++] = all;
			else
				split->train[split->trainCount++] = all;
		}
	}
	if ( split->trainCount == 0 )
		return lmbError_Set(
		    error, lmb_statusInvalidArgument,
		    "too few samples to teach from: nothing is left beside what stops the training" );
	return lmb_statusOk;
}

static void CopyStretch( double *to, const double *from, const lmbStretch *stretch, int width )
{
	if ( width > 0 && from != NULL )
		memcpy( to, from + (size_t)stretch->begin * width,
		        (size_t)stretch->count * (size_t)width * sizeof( double ) );
}

/* The stretch without what smoothing has spoiled, where enough is left. */
static lmbStretch Trimmed( const lmbTraining *training, const lmbStretch *stretch )
{
	lmbStretch out = *stretch;
	int end = stretch->begin + stretch->count, last = training->set->items[stretch->trajectory].sampleCount;
	int from = stretch->begin < training->trim ? training->trim : stretch->begin;
	int to = end > last - training->trim ? last - training->trim : end;
	if ( to - from >= stretch->count / 4 && to > from )
		out = ( lmbStretch ){ stretch->trajectory, from, to - from };
	return out;
}

lmbStatus lmbTraining_Gather( lmbTraining *training, const lmbStretch *stretches, int count,
                              lmbSamples *samples, lmbError *error )
{
	int n = training->set->dofCount, m = training->set->inputCount;
	size_t total = 0;
	for ( int i = 0; i < count; ++i )
		total += (size_t)Trimmed( training, &stretches[i] ).count;
	if ( total > (size_t)1 << 28 )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "%zu samples are more than a training takes; thin them out", total );
	samples->count = (int)total;
	samples->positions = LMB_NEW( &training->arena, double, total *(size_t)n );
	samples->velocities = LMB_NEW( &training->arena, double, total *(size_t)n );
	samples->accelerations = LMB_NEW( &training->arena, double, total *(size_t)n );
	samples->inputs = LMB_NEW( &training->arena, double, total *(size_t)m );
	if ( samples->positions == NULL || samples->velocities == NULL || samples->accelerations == NULL ||
	     samples->inputs == NULL )
		return lmbError_Memory( error );
	size_t at = 0;
	for ( int i = 0; i < count; ++i )
	{
		lmbStretch stretch = Trimmed( training, &stretches[i] );
		const lmbTrajectory *motion = &training->motion[stretch.trajectory];
		CopyStretch( samples->positions + at * n, motion->positions, &stretch, n );
		CopyStretch( samples->velocities + at * n, motion->velocities, &stretch, n );
		CopyStretch( samples->accelerations + at * n, motion->accelerations, &stretch, n );
		CopyStretch( samples->inputs + at * m, motion->inputs, &stretch, m );
		at += (size_t)stretch.count;
	}
	return lmb_statusOk;
}

/* Mean and standard deviation of each column; mean Nullable: about 0. */
static void Spread( const double *rows, int count, int width, double *mean, double *spread )
{
	for ( int i = 0; i < width; ++i )
	{
		double sum = 0.0, squares = 0.0;
		for ( int s = 0; s < count && mean != NULL; ++s )
			sum += rows[(size_t)s * width + i];
		double centre = mean != NULL ? sum / count : 0.0;
		for ( int s = 0; s < count; ++s )
			squares += pow( rows[(size_t)s * width + i] - centre, 2.0 );
		spread[i] = sqrt( squares / count );
		if ( mean != NULL )
			mean[i] = centre;
	}
}

void lmbTraining_EquationsDef( const lmbTraining *training, lmbEquationsDef *out )
{
	const lmbLimbTrainDef *def = training->def;
	const lmbSamples *samples = &training->trainSamples;
	*out = ( lmbEquationsDef ){ .kind = def->kind,
	                            .dofCount = training->set->dofCount,
	                            .inputCount = training->set->inputCount,
	                            .slides = training->set->slides,
	                            .turns = training->set->turns,
	                            .hiddenLayers = def->hiddenLayers,
	                            .width = def->width,
	                            .potential = def->potential,
	                            .frictionNetwork = def->frictionNetwork,
	                            .driveNetwork = def->driveNetwork,
	                            .absoluteAngles = def->absoluteAngles,
	                            .invariantBase = def->invariantBase,
	                            .driveMatrix = def->driveMatrix };
	int n = out->dofCount;
	Spread( samples->positions, samples->count, n, out->positionMean, out->positionSpread );
	Spread( samples->velocities, samples->count, n, NULL, out->velocitySpread );
	Spread( samples->accelerations, samples->count, n, NULL, out->accelerationSpread );
	Spread( samples->inputs, samples->count, out->inputCount, out->inputMean, out->inputSpread );
}

void lmbTraining_Tell( lmbTraining *training, double steps, const char *what, double loss )
{
	char detail[64];
	snprintf( detail, sizeof( detail ), "%s, loss %.3g", what, loss );
	training->progressDone = fmin( training->progressDone + steps, training->progressTotal );
	lmbJob_Progress( training->job, "iterations", training->progressDone, training->progressTotal, detail );
}
