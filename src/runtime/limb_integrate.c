/* Part of what `limber export --c` writes: see limb_core.h. An export defines LMB_CORE_INTEGRATORS to the
 * bits (1 << integrator) that it wants, 0 for a recurrent model; the others' code is then left out. */
#include "limb_core.h"

#include <math.h>
#include <string.h>

#ifndef LMB_CORE_INTEGRATORS
#define LMB_CORE_INTEGRATORS 15
#define LMB_CORE_RECURRENT 1
#endif

#if LMB_CORE_INTEGRATORS
static const double stateLimit = 1e9;
#endif

/* One Step call: the inputs go straight from start to end, s from 0 to 1. */
typedef struct Motion
{
	lmbCoreWork *work;
	const double *start, *end;
} Motion;

static void InputAt( const Motion *motion, double s, double *u )
{
	for ( int i = 0; i < motion->work->model->inputCount; ++i )
		u[i] = motion->start[i] + s * ( motion->end[i] - motion->start[i] );
}

#if LMB_CORE_INTEGRATORS
static inline int Dofs( const Motion *motion )
{
	return lmbCore_Dofs( motion->work->model );
}

static void AccelerationAt( const Motion *motion, double s, const double *q, const double *v, double *a )
{
	double u[lmbCoreMaxInputs];
	if ( motion->start == motion->end )
	{
		lmbCore_Acceleration( motion->work, q, v, motion->start, a );
		return;
	}
	InputAt( motion, s, u );
	lmbCore_Acceleration( motion->work, q, v, u, a );
}

/* Takes over the next state where it is within bounds. A number beyond them stays at the bound, one that is
 * none stays where it was. */
static bool Accept( lmbCoreState *state, int n, const double *q, const double *v )
{
	bool sound = true;
	for ( int part = 0; part < 2; ++part )
	{
		double *to = part == 0 ? state->positions : state->velocities;
		const double *from = part == 0 ? q : v;
		for ( int i = 0; i < n; ++i )
		{
			bool within = fabs( from[i] ) <= stateLimit;
			sound = sound && within;
			if ( within )
				to[i] = from[i];
			else if ( from[i] == from[i] )
				to[i] = from[i] > 0.0 ? stateLimit : -stateLimit;
		}
	}
	return sound;
}

#if LMB_CORE_INTEGRATORS & 1
static lmbCoreResult SemiImplicitEuler( const Motion *motion, lmbCoreState *state, const double *a, double h )
{
	double q[lmbCoreMaxDofs], v[lmbCoreMaxDofs];
	for ( int i = 0; i < Dofs( motion ); ++i )
	{
		v[i] = state->velocities[i] + h * a[i];
		q[i] = state->positions[i] + h * v[i];
	}
	return Accept( state, Dofs( motion ), q, v ) ? lmbCoreOk : lmbCoreDiverged;
}
#endif

#if LMB_CORE_INTEGRATORS & 2
/* The classical method. s and ds: where in the call the step begins, and its length there. */
static lmbCoreResult Rk4( const Motion *motion, lmbCoreState *state, const double *a1, double s, double ds,
                          double h )
{
	int n = Dofs( motion );
	const double *q = state->positions, *v = state->velocities;
	double place[lmbCoreMaxDofs], v2[lmbCoreMaxDofs], v3[lmbCoreMaxDofs], v4[lmbCoreMaxDofs];
	double a2[lmbCoreMaxDofs], a3[lmbCoreMaxDofs], a4[lmbCoreMaxDofs], half = 0.5 * h, sixth = h / 6.0;
	for ( int i = 0; i < n; ++i )
	{
		place[i] = q[i] + half * v[i];
		v2[i] = v[i] + half * a1[i];
	}
	AccelerationAt( motion, s + 0.5 * ds, place, v2, a2 );
	for ( int i = 0; i < n; ++i )
	{
		place[i] = q[i] + half * v2[i];
		v3[i] = v[i] + half * a2[i];
	}
	AccelerationAt( motion, s + 0.5 * ds, place, v3, a3 );
	for ( int i = 0; i < n; ++i )
	{
		place[i] = q[i] + h * v3[i];
		v4[i] = v[i] + h * a3[i];
	}
	AccelerationAt( motion, s + ds, place, v4, a4 );
	for ( int i = 0; i < n; ++i )
	{
		place[i] = q[i] + sixth * ( v[i] + 2.0 * ( v2[i] + v3[i] ) + v4[i] );
		v4[i] = v[i] + sixth * ( a1[i] + 2.0 * ( a2[i] + a3[i] ) + a4[i] );
	}
	return Accept( state, n, place, v4 ) ? lmbCoreOk : lmbCoreDiverged;
}
#endif

#if LMB_CORE_INTEGRATORS & 4
/* a becomes the acceleration at the middle of the step that a leads to; returns by how much it changed,
 * against its size (NaN when it is not finite). */
static double MidpointMap( const Motion *motion, const lmbCoreState *state, double s, double h,
                           const double *a, double *out )
{
	double q[lmbCoreMaxDofs] = { 0 }, v[lmbCoreMaxDofs] = { 0 }, change = 0.0, size = 1.0;
	for ( int i = 0; i < Dofs( motion ); ++i )
	{
		v[i] = state->velocities[i] + 0.5 * h * a[i];
		q[i] = state->positions[i] + 0.5 * h * v[i];
	}
	AccelerationAt( motion, s, q, v, out );
	for ( int i = 0; i < Dofs( motion ); ++i )
	{
		double off = fabs( out[i] - a[i] );
		change = off > change || off != off ? off : change;
		size = fabs( out[i] ) > size ? fabs( out[i] ) : size;
	}
	return change / size;
}

/* Solves the n x n system m x = b in place by elimination with pivots; false: singular. */
static bool Eliminate( int n, double m[][lmbCoreMaxDofs], double *b )
{
	for ( int k = 0; k < n; ++k )
	{
		int pivot = k;
		for ( int i = k + 1; i < n; ++i )
			pivot = fabs( m[i][k] ) > fabs( m[pivot][k] ) ? i : pivot;
		if ( !( fabs( m[pivot][k] ) > 1e-12 ) )
			return false;
		for ( int j = 0; j < n; ++j )
		{
			double other = m[k][j];
			m[k][j] = m[pivot][j];
			m[pivot][j] = other;
		}
		double other = b[k];
		b[k] = b[pivot];
		b[pivot] = other;
		for ( int i = k + 1; i < n; ++i )
		{
			double factor = m[i][k] / m[k][k];
			for ( int j = k; j < n; ++j )
				m[i][j] -= factor * m[k][j];
			b[i] -= factor * b[k];
		}
	}
	for ( int i = n - 1; i >= 0; --i )
	{
		for ( int j = i + 1; j < n; ++j )
			b[i] -= m[i][j] * b[j];
		b[i] /= m[i][i];
	}
	return true;
}

/* One Newton step towards a = map(a); mapped is the map of a. Differences wide enough that the network's
 * float numbers do not drown them; that costs Newton its last digits' speed, not the result. */
static bool MidpointNewton( const Motion *motion, const lmbCoreState *state, double s, double h, double *a,
                            const double *mapped )
{
	int n = Dofs( motion );
	double jacobian[lmbCoreMaxDofs][lmbCoreMaxDofs] = { { 0.0 } }, moved[lmbCoreMaxDofs], out[lmbCoreMaxDofs],
	       rest[lmbCoreMaxDofs];
	for ( int j = 0; j < n; ++j )
	{
		double width = 1e-2 * ( 1.0 + fabs( a[j] ) );
		memcpy( moved, a, sizeof( moved ) );
		moved[j] += width;
		MidpointMap( motion, state, s, h, moved, out );
		for ( int i = 0; i < n; ++i )
			jacobian[i][j] = ( i == j ? 1.0 : 0.0 ) - ( out[i] - mapped[i] ) / width;
		rest[j] = mapped[j] - a[j];
	}
	if ( !Eliminate( n, jacobian, rest ) )
		return false;
	for ( int i = 0; i < n; ++i )
		a[i] += rest[i];
	return true;
}

/* Iterates while each round helps: by the map itself, and by Newton's method once the map stops
 * contracting. The networks' float numbers leave steps of about 1e-7 that no iteration gets below, so it has
 * converged when it no longer improves and is that near. */
static bool MidpointAcceleration( const Motion *motion, const lmbCoreState *state, double s, double h,
                                  double *a )
{
	const double exact = 1e-14, enough = 1e-5;
	double next[lmbCoreMaxDofs] = { 0 }, best[lmbCoreMaxDofs] = { 0 }, least = INFINITY;
	bool newton = false;
	int since = 0;
	for ( int round = 0; round < 60; ++round )
	{
		double change = MidpointMap( motion, state, s, h, a, next );
		if ( change < least )
		{
			since = change < 0.5 * least ? 0 : since + 1;
			least = change;
			memcpy( best, next, sizeof( best ) );
		}
		else
			since += 1;
		if ( least <= exact || ( since >= 3 && least <= enough ) )
			break;
		newton = newton || since >= 2 || change != change;
		if ( !newton )
			memcpy( a, next, sizeof( next ) );
		else if ( !MidpointNewton( motion, state, s, h, a, next ) )
			break;
	}
	if ( least < INFINITY )
		memcpy( a, best, sizeof( best ) );
	return least <= enough;
}

static lmbCoreResult ImplicitMidpoint( const Motion *motion, lmbCoreState *state, double *a, double s,
                                       double ds, double h )
{
	double q[lmbCoreMaxDofs], v[lmbCoreMaxDofs];
	bool converged = MidpointAcceleration( motion, state, s + 0.5 * ds, h, a );
	for ( int i = 0; i < Dofs( motion ); ++i )
	{
		v[i] = state->velocities[i] + h * a[i];
		q[i] = state->positions[i] + 0.5 * h * ( state->velocities[i] + v[i] );
	}
	if ( !Accept( state, Dofs( motion ), q, v ) )
		return lmbCoreDiverged;
	return converged ? lmbCoreOk : lmbCoreNotConverged;
}
#endif

#if LMB_CORE_INTEGRATORS & 8
/* Dormand and Prince 1980, RK5(4)7M. */
static const double pairNodes[7] = { 0.0, 1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0, 1.0 };
static const double pairWeights[7][6] = {
    { 0.0, 0.0, 0.0, 0.0, 0.0, 0.0 },
    { 1.0 / 5.0, 0.0, 0.0, 0.0, 0.0, 0.0 },
    { 3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0 },
    { 44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0 },
    { 19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0, 0.0 },
    { 9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0, 0.0 },
    { 35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0 } };
/* The order 5 result less that of order 4. */
static const double pairErrors[7] = { 71.0 / 57600.0,      0.0,          -71.0 / 16695.0, 71.0 / 1920.0,
                                      -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0 };

/* The fifth root of 3e-4 <= x <= 4e3, to about 1e-6, by Newton's method. */
static double FifthRoot( double x )
{
	double y = sqrt( sqrt( x ) );
	for ( int i = 0; i < 8; ++i )
		y = 0.8 * y + 0.2 * x / ( y * y * y * y );
	return y;
}

/* The next state and its slopes (last stage), and the error's largest part against the tolerance. */
static double PairStep( const Motion *motion, const lmbCoreState *state, double tolerance, double s,
                        double ds, double h, double speeds[7][lmbCoreMaxDofs],
                        double slopes[7][lmbCoreMaxDofs], double *q )
{
	int n = Dofs( motion );
	double worst = 0.0;
	for ( int stage = 1; stage < 7; ++stage )
	{
		for ( int i = 0; i < n; ++i )
		{
			double place = 0.0, speed = 0.0;
			for ( int k = 0; k < stage; ++k )
			{
				place += pairWeights[stage][k] * speeds[k][i];
				speed += pairWeights[stage][k] * slopes[k][i];
			}
			q[i] = state->positions[i] + h * place;
			speeds[stage][i] = state->velocities[i] + h * speed;
		}
		AccelerationAt( motion, s + pairNodes[stage] * ds, q, speeds[stage], slopes[stage] );
	}
	for ( int i = 0; i < n; ++i )
	{
		double place = 0.0, speed = 0.0;
		for ( int k = 0; k < 7; ++k )
		{
			place += pairErrors[k] * speeds[k][i];
			speed += pairErrors[k] * slopes[k][i];
		}
		double errors[2] = { h * place, h * speed };
		double sizes[2] = { fabs( state->positions[i] ), fabs( state->velocities[i] ) };
		double ends[2] = { fabs( q[i] ), fabs( speeds[6][i] ) };
		for ( int part = 0; part < 2; ++part )
		{
			double size = 1.0 + ( ends[part] > sizes[part] ? ends[part] : sizes[part] );
			double error = fabs( errors[part] ) / ( tolerance * size );
			worst = error > worst || error != error ? error : worst;
		}
	}
	return worst;
}

/* The whole call at once, in steps of its own choice. A step at the shortest length is taken whatever its
 * error. */
static lmbCoreResult DormandPrince( const Motion *motion, lmbCoreState *state, const lmbCoreDef *def,
                                    const double *a, double dt )
{
	const double shortest = 1e-3 * def->maxStep;
	double speeds[7][lmbCoreMaxDofs], slopes[7][lmbCoreMaxDofs], q[lmbCoreMaxDofs];
	double done = 0.0;
	lmbCoreResult result = lmbCoreOk;
	memcpy( slopes[0], a, sizeof( slopes[0] ) );
	double trial = state->trial > 0.0 ? state->trial : def->maxStep;
	while ( done < dt )
	{
		bool last = done + trial * ( 1.0 + 1e-9 ) >= dt;
		double h = last ? dt - done : trial;
		memcpy( speeds[0], state->velocities, sizeof( speeds[0] ) );
		double error = PairStep( motion, state, def->tolerance, done / dt, h / dt, h, speeds, slopes, q );
		double bounded = error < 3e-4 ? 3e-4 : error < 4e3 ? error : 4e3; /* a NaN counts as large */
		double factor = 0.9 / FifthRoot( bounded );
		bool good = error <= 1.0;
		if ( good || h <= shortest )
		{
			if ( !Accept( state, Dofs( motion ), q, speeds[6] ) )
				return lmbCoreDiverged;
			memcpy( slopes[0], slopes[6], sizeof( slopes[0] ) );
			result = good ? result : lmbCoreNotConverged;
			done = last ? dt : done + h;
		}
		/* What is left of a call says little about the step that would do; it must not shorten the next. */
		double next = h * factor;
		trial = good && last && next < trial ? trial : next;
		trial = trial > shortest ? trial : shortest;
		trial = trial < 1e6 ? trial : 1e6;
	}
	state->trial = trial;
	return result;
}
#endif

/* The first evaluation is at the state's start for all, so that its list is what the trust score is of.
 * Semi-implicit Euler, which takes no other, has the mean input of its step. */
static lmbCoreResult OneStep( const Motion *motion, lmbCoreState *state, const lmbCoreDef *def, double s,
                              double ds, double h )
{
	double a[lmbCoreMaxDofs] = { 0 };
	AccelerationAt( motion, def->integrator == lmbCoreSemiImplicitEuler ? s + 0.5 * ds : s, state->positions,
	                state->velocities, a );
	if ( def->trust )
	{
		double score = lmbCore_Trust( motion->work, a );
		state->trust = score > state->trust ? score : state->trust;
	}
	switch ( def->integrator )
	{
#if LMB_CORE_INTEGRATORS & 1
	case lmbCoreSemiImplicitEuler:
		return SemiImplicitEuler( motion, state, a, h );
#endif
#if LMB_CORE_INTEGRATORS & 2
	case lmbCoreRk4:
		return Rk4( motion, state, a, s, ds, h );
#endif
#if LMB_CORE_INTEGRATORS & 4
	case lmbCoreImplicitMidpoint:
		return ImplicitMidpoint( motion, state, a, s, ds, h );
#endif
#if LMB_CORE_INTEGRATORS & 8
	case lmbCoreDormandPrince:
		return DormandPrince( motion, state, def, a, h );
#endif
	default:
		return lmbCoreNotConverged;
	}
}

#endif

#if LMB_CORE_RECURRENT
static lmbCoreResult OneRecurrentStep( const Motion *motion, lmbCoreState *state, const lmbCoreDef *def,
                                       double s, double ds, double h )
{
	double u[lmbCoreMaxInputs];
	InputAt( motion, s + 0.5 * ds, u );
	if ( def->trust )
	{
		lmbCore_See( motion->work, state->positions, state->velocities, u );
		double score = lmbCore_Trust( motion->work, 0 );
		state->trust = score > state->trust ? score : state->trust;
	}
	return lmbCore_StepRecurrent( motion->work, state, u, h );
}

#endif

static lmbCoreResult Part( const Motion *motion, lmbCoreState *state, const lmbCoreDef *def, double s,
                           double ds, double h )
{
#if LMB_CORE_RECURRENT
	if ( motion->work->model->kind >= lmbCoreGru )
		return OneRecurrentStep( motion, state, def, s, ds, h );
#endif
#if LMB_CORE_INTEGRATORS
	return OneStep( motion, state, def, s, ds, h );
#else
	return lmbCoreOk;
#endif
}

lmbCoreResult lmbCore_Step( lmbCoreWork *work, lmbCoreState *state, const lmbCoreDef *def,
                            const double *inputs, const double *end, double dt )
{
	bool recurrent = work->model->kind >= lmbCoreGru;
	Motion motion = { work, inputs, end };
	lmbCoreResult result = lmbCoreOk;
	/* A quotient that rounding lifts above a whole number is that number. */
	double parts = -floor( -( dt / def->maxStep ) * ( 1.0 - 1e-12 ) );
	if ( !recurrent && def->integrator == lmbCoreDormandPrince )
		parts = 1.0;
	state->trust = 0.0;
	for ( double part = 0.0; part < parts; part += 1.0 )
	{
		lmbCoreResult one = Part( &motion, state, def, part / parts, 1.0 / parts, dt / parts );
		if ( one == lmbCoreDiverged )
			return one;
		result = one == lmbCoreNotConverged ? one : result;
	}
	return result;
}
