#include "limb/rollout.h"

#include <string.h>

lmbStatus lmbRollout_Make( lmbRollout *rollout, const lmbEquations *equations, int capacity, lmbArena *arena,
                           lmbError *error )
{
	size_t rows = (size_t)capacity * (size_t)equations->dofCount;
	memset( rollout, 0, sizeof( *rollout ) );
	rollout->capacity = capacity;
	rollout->stages = LMB_NEW( arena, double, 8 * rows );
	rollout->inputs = LMB_NEW( arena, double, (size_t)capacity *(size_t)equations->inputCount );
	rollout->work = LMB_NEW( arena, double, 6 * rows );
	if ( rollout->stages == NULL || rollout->inputs == NULL || rollout->work == NULL )
		return lmbError_Memory( error );
	return lmbEquationsPass_Make( &rollout->pass, equations, capacity, arena, error );
}

/* The input at a stage: at the begin, halfway, or at the end. */
static const double *StageInputs( lmbRollout *rollout, int stage, int count, const double *begin,
                                  const double *end )
{
	size_t numbers = (size_t)count * (size_t)rollout->pass.equations->inputCount;
	if ( end == NULL || stage == 0 )
		return begin;
	if ( stage == 3 )
		return end;
	for ( size_t i = 0; i < numbers; ++i )
		rollout->inputs[i] = 0.5 * ( begin[i] + end[i] );
	return rollout->inputs;
}

static const double stageTime[4] = { 0.0, 0.5, 0.5, 1.0 }; /* part of the step */
static const double stageShare[4] = { 1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0 };

/* Fills the states of the four stages; with ends, moves positions and velocities on. */
static void Stages( lmbRollout *rollout, const double *parameters, int count, double dt, const double *begin,
                    const double *end, const double *positions, const double *velocities,
                    double *endPositions, double *endVelocities )
{
	size_t numbers = (size_t)count * (size_t)rollout->pass.equations->dofCount;
	double *q = rollout->stages, *v = q + 4 * numbers, *sumQ = rollout->work, *sumV = sumQ + numbers;
	memcpy( q, positions, numbers * sizeof( double ) );
	memcpy( v, velocities, numbers * sizeof( double ) );
	memset( sumQ, 0, 2 * numbers * sizeof( double ) );
	for ( int s = 0; s < 4; ++s )
	{
		const double *ownV = v + (size_t)s * numbers;
		bool last = s == 3;
		if ( last && endPositions == NULL )
			break;
		const double *a = lmbEquations_Forward( &rollout->pass, parameters, q + (size_t)s * numbers, ownV,
		                                        StageInputs( rollout, s, count, begin, end ), count );
		double ahead = last ? 0.0 : dt * stageTime[s + 1];
		for ( size_t i = 0; i < numbers; ++i )
		{
			sumQ[i] += stageShare[s] * ownV[i];
			sumV[i] += stageShare[s] * a[i];
			if ( last )
				continue;
			q[(size_t)( s + 1 ) * numbers + i] = positions[i] + ahead * ownV[i];
			v[(size_t)( s + 1 ) * numbers + i] = velocities[i] + ahead * a[i];
		}
	}
	for ( size_t i = 0; i < numbers && endPositions != NULL; ++i )
	{
		endPositions[i] += dt * sumQ[i];
		endVelocities[i] += dt * sumV[i];
	}
}

void lmbRollout_Step( lmbRollout *rollout, const double *parameters, int count, double dt,
                      const double *begin, const double *end, double *positions, double *velocities )
{
	Stages( rollout, parameters, count, dt, begin, end, positions, velocities, positions, velocities );
}

void lmbRollout_StepBackward( lmbRollout *rollout, const double *parameters, int count, double dt,
                              const double *begin, const double *end, const double *positions,
                              const double *velocities, double *positionGradient, double *velocityGradient,
                              double *gradient )
{
	size_t numbers = (size_t)count * (size_t)rollout->pass.equations->dofCount;
	Stages( rollout, parameters, count, dt, begin, end, positions, velocities, NULL, NULL );
	const double *q = rollout->stages, *v = q + 4 * numbers;
	/* Gradients by the stages' slopes (velocity, acceleration), and by the states that stages look at. */
	double *bySlopeQ = rollout->work, *bySlopeV = bySlopeQ + numbers, *byQ = bySlopeV + numbers;
	double *byV = byQ + numbers, *sumQ = byV + numbers, *sumV = sumQ + numbers;
	for ( size_t i = 0; i < numbers; ++i )
	{
		sumQ[i] = positionGradient[i];
		sumV[i] = velocityGradient[i];
		byQ[i] = byV[i] = 0.0;
	}
	for ( int s = 3; s >= 0; --s )
	{
		/* Slope s moves the step's end by its share, and the next stage's state by its time. */
		double ahead = s == 3 ? 0.0 : dt * stageTime[s + 1];
		for ( size_t i = 0; i < numbers; ++i )
		{
			bySlopeQ[i] = dt * stageShare[s] * positionGradient[i] + ahead * byQ[i];
			bySlopeV[i] = dt * stageShare[s] * velocityGradient[i] + ahead * byV[i];
		}
		lmbEquations_Forward( &rollout->pass, parameters, q + (size_t)s * numbers, v + (size_t)s * numbers,
		                      StageInputs( rollout, s, count, begin, end ), count );
		lmbEquations_Backward( &rollout->pass, parameters, bySlopeV, gradient, byQ, byV );
		for ( size_t i = 0; i < numbers; ++i )
		{
			byV[i] += bySlopeQ[i];
			sumQ[i] += byQ[i];
			sumV[i] += byV[i];
		}
	}
	memcpy( positionGradient, sumQ, numbers * sizeof( double ) );
	memcpy( velocityGradient, sumV, numbers * sizeof( double ) );
}
