#include "evaluate/limb_details.h"

#include "evaluate/details_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double degreesPerRadian = 57.29577951308232;

enum
{
	exampleSamples = 250 /* about so many of an example are kept in the file */
};

static int FindTimes( const lmbTrajectories *truth, double times[lmbLimbCurveMax] )
{
	double end = 0.0, last = lmbLimbTimes[lmbLimbTimeCount - 1];
	for ( int i = 0; i < truth->count; ++i )
		end = fmax( end, ( truth->items[i].sampleCount - 1 ) * truth->items[i].step );
	end = fmin( end, last );
	double spacing = end >= 1.0 ? 0.1 : end / 50.0;
	int count = spacing > 0.0 ? (int)floor( end / spacing + 1e-9 ) + 1 : 1;
	for ( int k = 0; k < count; ++k )
		times[k] = end >= 1.0 ? k / 10.0 : k * spacing;
	return count;
}

static int FindExamples( const lmbTrajectories *truth, int out[lmbLimbExampleMax] )
{
	int pulses = 0, count = 0;
	lmbLimbPulse pulse;
	for ( int i = 0; i < truth->count; ++i )
		pulses += lmbLimbPulse_Find( truth, i, &pulse );
	int candidates = pulses > 0 ? pulses : truth->count, seen = 0;
	const int wanted[lmbLimbExampleMax] = { 0, candidates / 2, candidates - 1 };
	for ( int i = 0; i < truth->count && count < lmbLimbExampleMax; ++i )
	{
		if ( pulses > 0 && !lmbLimbPulse_Find( truth, i, &pulse ) )
			continue;
		bool want = false;
		for ( int k = 0; k < lmbLimbExampleMax; ++k )
			want = want || wanted[k] == seen;
		if ( want )
			out[count++] = i;
		seen += 1;
	}
	return count;
}

/* Where the torque that a pulse causes is looked at: over the pulse and as long again. False: no pulse at a
 * joint. */
static bool PulseSpan( const lmbTrajectories *truth, int motion, lmbLimbPulse *pulse, int *end )
{
	const lmbTrajectory *trajectory = &truth->items[motion];
	if ( truth->inputCount != truth->dofCount || trajectory->velocities == NULL ||
	     !lmbLimbPulse_Find( truth, motion, pulse ) )
		return false;
	*end = 2 * pulse->end - pulse->first;
	*end = *end < trajectory->sampleCount - 1 ? *end : trajectory->sampleCount - 1;
	return pulse->first < *end;
}

/* out (dofCount x steps), or NULL where the motion has no pulse; the error tells the two NULLs apart. */
static lmbStatus Interaction( const lmbTrajectories *truth, int motion, const lmbLimbRollout *rollout,
                              lmbPlant *plant, double **out, lmbError *error )
{
	lmbLimbPulse pulse;
	int end;
	*out = NULL;
	if ( plant == NULL || !PulseSpan( truth, motion, &pulse, &end ) )
		return lmb_statusOk;
	int steps = end - pulse.first;
	*out = calloc( (size_t)truth->dofCount * (size_t)steps, sizeof( double ) );
	if ( *out == NULL )
		return lmbError_Memory( error );
	for ( int joint = 0; joint < truth->dofCount; ++joint )
		for ( int k = 0; k < steps; ++k )
		{
			double *at = *out + (size_t)joint * (size_t)steps + (size_t)k;
			if ( joint == pulse.input || pulse.first + k + 1 >= rollout->finiteCount ||
			     !lmbLimbInteraction_At( plant, &truth->items[motion], rollout, joint, pulse.first + k, at ) )
				*at = NAN;
		}
	return lmb_statusOk;
}

lmbStatus lmbLimbDetails_Begin( lmbLimbDetails *details, const lmbTrajectories *truth, lmbError *error )
{
	*details = ( lmbLimbDetails ){ .truth = truth };
	details->curveCount = FindTimes( truth, details->times );
	details->curves = LMB_NEW( &details->arena, double, (size_t)details->curveCount *(size_t)truth->count );
	bool failed = details->curves == NULL;
	int motions[lmbLimbExampleMax];
	details->exampleCount = FindExamples( truth, motions );
	for ( int e = 0; e < details->exampleCount && !failed; ++e )
	{
		size_t numbers = (size_t)truth->items[motions[e]].sampleCount * (size_t)truth->dofCount;
		details->examples[e] = ( lmbLimbExample ){ .motion = motions[e],
		                                           .positions = LMB_NEW( &details->arena, double, numbers ) };
		failed = details->examples[e].positions == NULL;
	}
	return failed ? lmbError_Memory( error ) : lmb_statusOk;
}

lmbStatus lmbLimbDetails_Add( lmbLimbDetails *details, int motion, const lmbLimbRollout *rollout,
                              lmbPlant *plant, lmbError *error )
{
	const lmbTrajectories *truth = details->truth;
	const lmbTrajectory *trajectory = &truth->items[motion];
	double *errors = calloc( (size_t)trajectory->sampleCount, sizeof( double ) );
	if ( errors == NULL )
		return lmbError_Memory( error );
	lmbLimbErrors_Curve( trajectory, rollout, truth->dofCount, truth->slides, errors );
	for ( int t = 0; t < details->curveCount; ++t )
	{
		double sample = floor( details->times[t] / trajectory->step + 0.5 );
		details->curves[(size_t)t * (size_t)truth->count + (size_t)motion] =
		    sample < trajectory->sampleCount ? errors[(int)sample] : NAN;
	}
	free( errors );
	for ( int e = 0; e < details->exampleCount; ++e )
	{
		lmbLimbExample *example = &details->examples[e];
		if ( example->motion != motion )
			continue;
		memcpy( example->positions, rollout->positions,
		        (size_t)trajectory->sampleCount * (size_t)truth->dofCount * sizeof( double ) );
		example->finiteCount = rollout->finiteCount;
		LMB_TRY( Interaction( truth, motion, rollout, plant, &example->interaction, error ) );
	}
	return lmb_statusOk;
}

void lmbLimbDetails_Doubts( lmbLimbDetails *details, const double *scores, const double *errors, int count )
{
	int stride = ( count + lmbLimbDoubtMax - 1 ) / lmbLimbDoubtMax;
	details->doubtCount = 0;
	for ( int i = 0; i < count; i += stride )
	{
		details->scores[details->doubtCount] = scores[i];
		details->errors[details->doubtCount++] = errors[i];
	}
}

void lmbLimbDetails_Free( lmbLimbDetails *details )
{
	for ( int e = 0; e < details->exampleCount; ++e )
		free( details->examples[e].interaction );
	lmbArena_Free( &details->arena );
	*details = ( lmbLimbDetails ){ 0 };
}

/* The file. */

static int Stride( const lmbTrajectory *trajectory )
{
	int stride = trajectory->sampleCount / exampleSamples;
	return stride > 1 ? stride : 1;
}

/* Each joint's angles in degrees, or its slide in metres. */
static json_t *PositionsJson( const lmbTrajectories *truth, int motion, const double *positions,
                              int finiteCount )
{
	const lmbTrajectory *trajectory = &truth->items[motion];
	json_t *joints = json_array();
	for ( int i = 0; i < truth->dofCount; ++i )
	{
		json_t *values = json_array();
		double scale = truth->slides[i] ? 1.0 : degreesPerRadian;
		for ( int k = 0; k < trajectory->sampleCount; k += Stride( trajectory ) )
		{
			double value = scale * positions[(size_t)k * (size_t)truth->dofCount + (size_t)i];
			/* Beyond a hundred turns there is nothing to draw. */
			bool shown = k < finiteCount && fabs( value ) < 36000.0;
			json_array_append_new( values, shown ? json_real( value ) : json_null() );
		}
		json_array_append_new( joints, values );
	}
	return joints;
}

static json_t *InteractionJson( const lmbTrajectories *truth, int motion, const double *values )
{
	lmbLimbPulse pulse;
	int end;
	json_t *joints = json_array();
	if ( values != NULL && PulseSpan( truth, motion, &pulse, &end ) )
	{
		size_t steps = (size_t)( end - pulse.first );
		for ( int i = 0; i < truth->dofCount; ++i )
			json_array_append_new(
			    joints, i == pulse.input ? json_null()
			                             : lmbDetails_Numbers( values + (size_t)i * steps, steps, 1.0 ) );
	}
	return joints;
}

json_t *lmbLimbDetails_Json( const lmbLimbDetails *details )
{
	const lmbTrajectories *truth = details->truth;
	json_t *mean = json_array(), *median = json_array(), *examples = json_array(), *doubts = json_array();
	double *values = calloc( (size_t)truth->count + 1, sizeof( double ) );
	for ( int t = 0; t < details->curveCount && values != NULL; ++t )
	{
		int used = 0;
		double sum = 0.0;
		for ( int i = 0; i < truth->count; ++i )
		{
			double error = details->curves[(size_t)t * (size_t)truth->count + (size_t)i];
			if ( !isnan( error ) )
				sum += values[used++] = error;
		}
		json_array_append_new( mean, json_real( used > 0 ? sum / used : 0.0 ) );
		json_array_append_new( median, json_real( used > 0 ? lmbMedian( values, used ) : 0.0 ) );
	}
	free( values );
	for ( int e = 0; e < details->exampleCount; ++e )
	{
		const lmbLimbExample *example = &details->examples[e];
		json_t *positions = PositionsJson( truth, example->motion, example->positions, example->finiteCount );
		json_array_append_new( examples,
		                       json_pack( "{s:o, s:o}", "positions", positions, "interaction_nm",
		                                  InteractionJson( truth, example->motion, example->interaction ) ) );
	}
	for ( int i = 0; i < details->doubtCount; ++i )
		json_array_append_new( doubts, json_pack( "[f,f]", details->scores[i], details->errors[i] ) );
	return json_pack( "{s:{s:o, s:o}, s:o, s:o}", "rmse_deg", "mean", mean, "median", median, "examples",
	                  examples, "trust_and_error", doubts );
}

/* A pulse as the page marks it. */
static json_t *PulseJson( const lmbTrajectories *truth, int motion )
{
	lmbLimbPulse pulse;
	int end;
	if ( !PulseSpan( truth, motion, &pulse, &end ) )
		return json_null();
	double step = truth->items[motion].step;
	return json_pack( "{s:i, s:f, s:f, s:f}", "joint", pulse.input, "start_s", pulse.first * step, "end_s",
	                  pulse.end * step, "step_s", step );
}

static json_t *TruthJson( const lmbTrajectories *truth, int motion, lmbPlant *plant )
{
	const lmbTrajectory *trajectory = &truth->items[motion];
	lmbLimbRollout real = { trajectory->positions, trajectory->velocities, trajectory->sampleCount };
	double *interaction;
	if ( Interaction( truth, motion, &real, plant, &interaction, NULL ) != lmb_statusOk )
		return NULL;
	json_t *torques = InteractionJson( truth, motion, interaction );
	free( interaction );
	return json_pack( "{s:s, s:f, s:o, s:o, s:o}", "motion", trajectory->name, "step_s",
	                  Stride( trajectory ) * trajectory->step, "positions",
	                  PositionsJson( truth, motion, trajectory->positions, trajectory->sampleCount ), "pulse",
	                  PulseJson( truth, motion ), "interaction_nm", torques );
}

json_t *lmbLimbDetails_TestJson( const lmbTrajectories *truth, lmbPlant *plant )
{
	double times[lmbLimbCurveMax];
	int motions[lmbLimbExampleMax], count = FindTimes( truth, times );
	json_t *examples = json_array();
	for ( int e = 0, n = FindExamples( truth, motions ); e < n; ++e )
		json_array_append_new( examples, TruthJson( truth, motions[e], plant ) );
	json_t *joints = json_array();
	for ( int i = 0; i < truth->dofCount; ++i )
		json_array_append_new( joints, json_pack( "{s:s, s:s}", "name", truth->dofNames[i], "unit",
		                                          truth->slides[i] ? "m" : "deg" ) );
	return json_pack( "{s:o, s:o, s:o}", "joints", joints, "times_s",
	                  lmbDetails_Numbers( times, (size_t)count, 1.0 ), "examples", examples );
}
