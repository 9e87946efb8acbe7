/* A planar two-segment arm in closed form, and smooth random motions of it: what the tests and the bench of
 * training learn from. Joint angles; about 75 kg and 1.75 m (de Leva 1996). */
#ifndef LMB_TESTS_CLOSED_ARM_H
#define LMB_TESTS_CLOSED_ARM_H

#include "base/random.h"
#include "limb/trajectory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ClosedArm
{
	double viscosity, gravity; /* N m s/rad at both joints; m/s^2 */
} ClosedArm;

static const double armLength = 0.283, armMass[2] = { 2.03, 1.67 }, armCentre[2] = { 0.163, 0.19 },
                    armInertia[2] = { 0.0132, 0.0212 };

static inline void ClosedArm_Mass( const double *q, double *m )
{
	double b = armMass[1] * armLength * armCentre[1];
	double c = armInertia[1] + armMass[1] * armCentre[1] * armCentre[1];
	double a =
	    armInertia[0] + armMass[0] * armCentre[0] * armCentre[0] + armMass[1] * armLength * armLength + c;
	m[0] = a + 2.0 * b * cos( q[1] );
	m[1] = m[2] = c + b * cos( q[1] );
	m[3] = c;
}

static inline void ClosedArm_Acceleration( const ClosedArm *arm, const double *q, const double *v,
                                           const double *u, double *a )
{
	double m[4], h = armMass[1] * armLength * armCentre[1] * sin( q[1] );
	ClosedArm_Mass( q, m );
	double second = armMass[1] * armCentre[1] * arm->gravity * cos( q[0] + q[1] );
	double first =
	    second + ( armMass[0] * armCentre[0] + armMass[1] * armLength ) * arm->gravity * cos( q[0] );
	double t0 = u[0] + h * ( 2.0 * v[0] * v[1] + v[1] * v[1] ) - arm->viscosity * v[0] - first;
	double t1 = u[1] - h * v[0] * v[0] - arm->viscosity * v[1] - second;
	double det = m[0] * m[3] - m[1] * m[1];
	a[0] = ( m[3] * t0 - m[1] * t1 ) / det;
	a[1] = ( m[0] * t1 - m[1] * t0 ) / det;
}

static inline void ClosedArm_Step( const ClosedArm *arm, double dt, const double *u, double *q, double *v )
{
	double k[4][4], x[4] = { q[0], q[1], v[0], v[1] }, y[4];
	memcpy( y, x, sizeof( y ) );
	for ( int s = 0; s < 4; ++s )
	{
		k[s][0] = y[2];
		k[s][1] = y[3];
		ClosedArm_Acceleration( arm, y, y + 2, u, &k[s][2] );
		for ( int i = 0; i < 4 && s < 3; ++i )
			y[i] = x[i] + ( s == 2 ? 1.0 : 0.5 ) * dt * k[s][i];
	}
	for ( int i = 0; i < 4; ++i )
		x[i] += dt / 6.0 * ( k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i] );
	memcpy( q, x, 2 * sizeof( double ) );
	memcpy( v, x + 2, 2 * sizeof( double ) );
}

/* Torque of joint j at a time: four sines of 0.1 to 1.5 Hz, about 2 and 1 N m RMS. */
typedef struct SmoothTorque
{
	double amplitude[2][4], frequency[2][4], phase[2][4];
} SmoothTorque;

static inline SmoothTorque SmoothTorque_Draw( lmbRandom *random )
{
	SmoothTorque torque;
	for ( int j = 0; j < 2; ++j )
		for ( int k = 0; k < 4; ++k )
		{
			torque.amplitude[j][k] = ( j == 0 ? 1.4 : 0.7 ) * lmbRandom_Normal( random ) * 0.7;
			torque.frequency[j][k] = 0.1 + 1.4 * lmbRandom_Uniform( random );
			torque.phase[j][k] = 6.283185307179586 * lmbRandom_Uniform( random );
		}
	return torque;
}

static inline void SmoothTorque_At( const SmoothTorque *torque, double time, double *u )
{
	for ( int j = 0; j < 2; ++j )
	{
		u[j] = 0.0;
		for ( int k = 0; k < 4; ++k )
			u[j] += torque->amplitude[j][k] *
			        sin( 6.283185307179586 * torque->frequency[j][k] * time + torque->phase[j][k] );
	}
}

/* Where motions start: angles and speeds uniform in centre +- reach. */
typedef struct StartRange
{
	double centre[2], angle[2], speed;
} StartRange;

static const StartRange taughtStarts = { { 0.5, 1.2 }, { 1.0, 1.0 }, 1.0 };
static const StartRange fasterStarts = { { 0.5, 1.2 }, { 1.0, 1.0 }, 6.0 };
static const StartRange anyStarts = { { 0.0, 0.0 }, { 3.14, 3.14 }, 6.0 };

/* pulse: N m added to the shoulder from 2 to 2.1 s. Torque held between samples; steps of 1 ms inside. */
static inline void ClosedArm_Move( const ClosedArm *arm, const StartRange *start, double pulse,
                                   lmbRandom *random, lmbTrajectory *out )
{
	SmoothTorque torque = SmoothTorque_Draw( random );
	double q[2], v[2];
	for ( int i = 0; i < 2; ++i )
	{
		q[i] = start->centre[i] + start->angle[i] * ( 2.0 * lmbRandom_Uniform( random ) - 1.0 );
		v[i] = start->speed * ( 2.0 * lmbRandom_Uniform( random ) - 1.0 );
	}
	int inner = (int)ceil( out->step / 0.001 - 1e-9 );
	for ( int s = 0; s < out->sampleCount; ++s )
	{
		double u[2], a[2], time = s * out->step;
		SmoothTorque_At( &torque, time + 0.5 * out->step, u );
		if ( time > 2.0 - 1e-9 && time < 2.1 - 1e-9 )
			u[0] += pulse;
		ClosedArm_Acceleration( arm, q, v, u, a );
		memcpy( out->positions + 2 * s, q, sizeof( q ) );
		memcpy( out->inputs + 2 * s, u, sizeof( u ) );
		if ( out->velocities != NULL )
			memcpy( out->velocities + 2 * s, v, sizeof( v ) );
		if ( out->accelerations != NULL )
			memcpy( out->accelerations + 2 * s, a, sizeof( a ) );
		for ( int k = 0; k < inner; ++k )
			ClosedArm_Step( arm, out->step / inner, u, q, v );
	}
}

/* A set of motions in an arena of its own; NULL without memory. Free with ClosedArm_FreeSet. */
static inline lmbTrajectories *ClosedArm_Set( const ClosedArm *arm, const StartRange *start, double pulse,
                                              int count, int samples, double step, bool derivatives,
                                              uint64_t seed )
{
	static const char *dofs[2] = { "shoulder", "elbow" }, *inputs[2] = { "shoulder torque", "elbow torque" };
	static bool slides[2] = { false, false }, turns[2] = { true, true };
	lmbTrajectories *set = calloc( 1, sizeof( *set ) );
	if ( set == NULL )
		return NULL;
	*set = ( lmbTrajectories ){ .dofCount = 2,
	                            .inputCount = 2,
	                            .dofNames = dofs,
	                            .inputNames = inputs,
	                            .slides = slides,
	                            .turns = turns,
	                            .hold = lmb_inputHeld,
	                            .count = count };
	set->items = LMB_NEW( &set->arena, lmbTrajectory, count );
	for ( int i = 0; i < count && set->items != NULL; ++i )
	{
		char name[32];
		snprintf( name, sizeof( name ), "motion %d", i );
		size_t numbers = 2 * (size_t)samples;
		lmbRandom random = lmbRandom_Seed( seed, (uint64_t)i );
		lmbTrajectory *item = &set->items[i];
		item->name = lmbArena_String( &set->arena, name );
		item->sampleCount = samples;
		item->step = step;
		item->positions = LMB_NEW( &set->arena, double, numbers );
		item->inputs = LMB_NEW( &set->arena, double, numbers );
		item->velocities = derivatives ? LMB_NEW( &set->arena, double, numbers ) : NULL;
		item->accelerations = derivatives ? LMB_NEW( &set->arena, double, numbers ) : NULL;
		ClosedArm_Move( arm, start, pulse, &random, item );
	}
	return set;
}

static inline void ClosedArm_FreeSet( lmbTrajectories *set )
{
	if ( set == NULL )
		return;
	lmbArena arena = set->arena;
	lmbArena_Free( &arena );
	free( set );
}

#endif
