#include "limb/pipeline_motions.h"

#include <math.h>
#include <string.h>

static const double turn = 6.283185307179586;

/* Waves of random frequency, phase and size, at most 1 in all: smooth, and never at rest. */
enum
{
	waveCount = 6
};

typedef struct Waves
{
	double size[waveCount], speed[waveCount], phase[waveCount];
} Waves;

static Waves DrawWaves( lmbRandom *random, double bandwidth )
{
	Waves waves;
	double sum = 0.0;
	for ( int i = 0; i < waveCount; ++i )
	{
		waves.size[i] = lmbRandom_Uniform( random );
		/* Nothing slow: it would turn a limb with little damping around and around. */
		waves.speed[i] = turn * bandwidth * ( 0.25 + 0.75 * lmbRandom_Uniform( random ) );
		waves.phase[i] = turn * lmbRandom_Uniform( random );
		sum += waves.size[i];
	}
	for ( int i = 0; i < waveCount; ++i )
		waves.size[i] /= sum;
	return waves;
}

static double WaveAt( const Waves *waves, double time )
{
	double value = 0.0;
	for ( int i = 0; i < waveCount; ++i )
		value += waves->size[i] * sin( waves->speed[i] * time + waves->phase[i] );
	return value;
}

/* Random inputs around the middle of their range; share of the range's half. */
static void DrawTorques( const lmbPlant *plant, double share, double bandwidth, lmbRandom *random,
                         lmbTrajectory *out )
{
	for ( int i = 0; i < plant->inputCount; ++i )
	{
		double low = plant->inputRange[i][0], high = plant->inputRange[i][1];
		Waves waves = DrawWaves( random, bandwidth );
		for ( int k = 0; k < out->sampleCount; ++k )
			out->inputs[(size_t)k * (size_t)plant->inputCount + (size_t)i] +=
			    0.5 * ( high + low ) + 0.5 * ( high - low ) * share * WaveAt( &waves, k * out->step );
	}
}

/* The minimum-jerk way from one posture to another (Flash and Hogan 1985), share of the time 0 to 1. */
static void MinimumJerk( double share, double *way, double *speed, double *acceleration )
{
	double s = share < 0.0 ? 0.0 : share > 1.0 ? 1.0 : share;
	*way = s * s * s * ( 10.0 - 15.0 * s + 6.0 * s * s );
	*speed = 30.0 * s * s * ( 1.0 - s ) * ( 1.0 - s );
	*acceleration = 60.0 * s * ( 1.0 - s ) * ( 1.0 - 2.0 * s );
}

static const double reachTime = 0.8, restTime = 0.2; /* s */

/* Torques that take the plant from posture to posture, by its inverse dynamics at the plan: to random ones,
 * or to other (dofCount, Nullable) and back again. */
static bool DrawReaches( lmbPlant *plant, const double *other, lmbRandom *random, lmbTrajectory *out )
{
	int n = plant->dofCount, leg = -1;
	double from[lmbLimbMaxDofs] = { 0 }, to[lmbLimbMaxDofs] = { 0 }, zero[lmbLimbMaxInputs] = { 0 };
	memcpy( to, out->positions, (size_t)n * sizeof( double ) );
	for ( int k = 0; k < out->sampleCount; ++k )
	{
		double time = k * out->step, period = reachTime + restTime;
		int now = (int)floor( time / period );
		for ( ; leg < now; ++leg )
			for ( int i = 0; i < n; ++i )
			{
				double low = plant->startRange[i][0], high = plant->startRange[i][1];
				from[i] = to[i];
				if ( other != NULL )
					to[i] = leg % 2 != 0 ? other[i] : out->positions[i];
				else
					to[i] = low + lmbRandom_Uniform( random ) * ( high - low );
			}
		double way, speed, acceleration, q[lmbLimbMaxDofs], v[lmbLimbMaxDofs], a[lmbLimbMaxDofs];
		MinimumJerk( ( time - now * period ) / reachTime, &way, &speed, &acceleration );
		for ( int i = 0; i < n; ++i )
		{
			q[i] = from[i] + way * ( to[i] - from[i] );
			v[i] = speed / reachTime * ( to[i] - from[i] );
			a[i] = acceleration / ( reachTime * reachTime ) * ( to[i] - from[i] );
		}
		lmbPlantTerms terms;
		if ( !lmbPlant_Terms( plant, q, v, zero, &terms ) )
			return false;
		for ( int i = 0; i < n; ++i )
		{
			double torque = terms.bias[i] + terms.gravity[i] + terms.passive[i];
			for ( int j = 0; j < n; ++j )
				torque += terms.mass[i * n + j] * a[j];
			out->inputs[k * n + i] += torque;
		}
	}
	return true;
}

bool lmbLimbMotion_CanReach( const lmbPlant *plant )
{
	return plant->inputCount == plant->dofCount && plant->inputRange[0][0] < 0.0;
}

bool lmbLimbMotion_DrawReach( lmbPlant *plant, const double *target, lmbTrajectory *out )
{
	return DrawReaches( plant, target, NULL, out );
}

bool lmbLimbMotion_Draw( lmbPlant *plant, const lmbLimbProjectMotion *motion, lmbRandom *random,
                         lmbTrajectory *out )
{
	if ( motion->kind == lmb_limbMotionSwings )
		return true; /* the inputs are zero */
	/* Where inputs are not the joints' torques, inverse dynamics does not give them. */
	if ( motion->kind == lmb_limbMotionReaches && lmbLimbMotion_CanReach( plant ) )
	{
		DrawTorques( plant, motion->noise, motion->bandwidth, random, out );
		return DrawReaches( plant, NULL, random, out );
	}
	DrawTorques( plant, motion->effort, motion->bandwidth, random, out );
	return true;
}
