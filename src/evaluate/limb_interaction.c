#include "evaluate/limb_metrics.h"
#include "limb/motions.h"

#include <math.h>
#include <string.h>

/* Of one step of a motion; false when it is not finite. */
static bool StepInteraction( lmbPlant *plant, const lmbTrajectory *truth, const double *positions,
                             const double *velocities, int joint, int sample, double *out )
{
	int n = plant->dofCount;
	double q[lmbLimbMaxDofs], v[lmbLimbMaxDofs], a[lmbLimbMaxDofs];
	const double *from = positions + (size_t)sample * (size_t)n;
	const double *speed = velocities + (size_t)sample * (size_t)n;
	for ( int i = 0; i < n; ++i )
	{
		q[i] = 0.5 * ( from[i] + from[n + i] );
		v[i] = 0.5 * ( speed[i] + speed[n + i] );
		a[i] = ( speed[n + i] - speed[i] ) / truth->step;
	}
	lmbPlantTerms terms;
	if ( !lmbPlant_Terms( plant, q, v, truth->inputs + (size_t)sample * (size_t)plant->inputCount, &terms ) )
		return false;
	*out = terms.bias[joint];
	for ( int j = 0; j < n; ++j )
		if ( j != joint )
			*out += terms.mass[joint * n + j] * a[j];
	return isfinite( *out );
}

bool lmbLimbInteraction_At( lmbPlant *plant, const lmbTrajectory *truth, const lmbLimbRollout *rollout,
                            int joint, int sample, double *out )
{
	return StepInteraction( plant, truth, rollout->positions, rollout->velocities, joint, sample, out );
}

bool lmbLimbInteraction_Add( lmbLimbInteraction *sums, lmbPlant *plant, const lmbTrajectory *truth,
                             const lmbLimbRollout *rollout, int joint, int first, int last )
{
	for ( int k = first; k < last; ++k )
	{
		double real, model = 0.0;
		if ( !StepInteraction( plant, truth, truth->positions, truth->velocities, joint, k, &real ) )
			return false;
		/* A model that has given up means no torque at all: all of it is missing. */
		if ( k + 1 < rollout->finiteCount &&
		     !StepInteraction( plant, truth, rollout->positions, rollout->velocities, joint, k, &model ) )
			return false;
		sums->difference += ( model - real ) * ( model - real );
		sums->truth += real * real;
	}
	return true;
}

/* The trajectory that is the same without a pulse: named as this one before lmbLimbPulseMark. */
static const lmbTrajectory *Twin( const lmbTrajectories *set, const lmbTrajectory *with )
{
	const char *mark = strstr( with->name, lmbLimbPulseMark );
	for ( int i = 0; mark != NULL && i < set->count; ++i )
	{
		const lmbTrajectory *other = &set->items[i];
		size_t length = (size_t)( mark - with->name );
		if ( strlen( other->name ) == length && strncmp( other->name, with->name, length ) == 0 &&
		     other->sampleCount == with->sampleCount )
			return other;
	}
	return NULL;
}

bool lmbLimbPulse_Find( const lmbTrajectories *set, int index, lmbLimbPulse *out )
{
	const lmbTrajectory *with = &set->items[index], *without = Twin( set, with );
	*out = ( lmbLimbPulse ){ .input = -1 };
	if ( without == NULL )
		return false;
	for ( int k = 0; k < with->sampleCount; ++k )
		for ( int i = 0; i < set->inputCount; ++i )
		{
			size_t at = (size_t)k * (size_t)set->inputCount + (size_t)i;
			if ( with->inputs[at] == without->inputs[at] )
				continue;
			if ( out->input >= 0 && out->input != i )
				return false;
			if ( out->input < 0 )
				out->first = k;
			out->input = i;
			out->end = k + 1;
		}
	return out->input >= 0;
}
