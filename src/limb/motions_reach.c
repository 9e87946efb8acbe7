/* Reaches: minimum-jerk plans followed by inverse dynamics with feedback. */
#include "limb/motions_private.h"

#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

lmbReachTestDef lmbDefaultReachTestDef( void )
{
	lmbReachTestDef def = { .targetCount = 10,
	                        .motion = lmbDefaultPlantMotionDef( lmb_plantMotionReaches ),
	                        .pulse = 0.5,
	                        .pulseTime = 0.1,
	                        .pulseStart = -1.0 };
	def.motion.duration = 2.0;
	def.motion.noise = 0.0;
	def.motion.name = "reach";
	return def;
}

/* The generalised torques of one unit of each input, (n x m): forces are affine in inputs. */
static bool DriveMatrix( lmbPlant *plant, const double *q, const double *v, double *matrix )
{
	int n = plant->dofCount, m = plant->inputCount;
	lmbPlantTerms terms;
	for ( int j = 0; j < m; ++j )
	{
		/* Within what the input may be: motors of a MuJoCo model are cut off at their range. */
		double u[lmbLimbMaxInputs] = { 0 }, unit = plant->inputRange[j][1];
		if ( !( unit > 0.0 ) )
			unit = plant->inputRange[j][0];
		u[j] = unit;
		if ( unit == 0.0 || !lmbPlant_Terms( plant, q, v, u, &terms ) )
			return false;
		for ( int i = 0; i < n; ++i )
			matrix[i * m + j] = terms.input[i] / unit;
	}
	return true;
}

/* change (m) = R^T (R R^T)^-1 torque over the inputs that are free; false where nothing is to be had. */
static bool LeastChange( const double *drive, const bool *free, int n, int m, const double *torque,
                         double *change )
{
	double square[lmbLimbMaxDofs * lmbLimbMaxDofs] = { 0 }, multiplier[lmbLimbMaxDofs], largest = 0.0;
	for ( int i = 0; i < n; ++i )
		for ( int j = 0; j < n; ++j )
			for ( int k = 0; k < m; ++k )
				square[i * n + j] += free[k] ? drive[i * m + k] * drive[j * m + k] : 0.0;
	for ( int i = 0; i < n; ++i )
		largest = fmax( largest, square[i * n + i] );
	/* A trace of damping for joints that nothing drives. */
	for ( int i = 0; i < n; ++i )
		square[i * n + i] += 1e-10 * largest;
	memcpy( multiplier, torque, (size_t)n * sizeof( double ) );
	if ( !( largest > 0.0 ) || LAPACKE_dposv( LAPACK_ROW_MAJOR, 'U', n, 1, square, n, multiplier, 1 ) != 0 )
		return false;
	for ( int k = 0; k < m; ++k )
	{
		change[k] = 0.0;
		for ( int i = 0; i < n && free[k]; ++i )
			change[k] += drive[i * m + k] * multiplier[i];
	}
	return true;
}

void lmbPlantMotion_Distribute( lmbPlant *plant, const double *q, const double *v, const double *torque,
                                double *u )
{
	int n = plant->dofCount, m = plant->inputCount;
	double drive[lmbLimbMaxDofs * lmbLimbMaxInputs], change[lmbLimbMaxInputs], left[lmbLimbMaxDofs];
	bool free[lmbLimbMaxInputs];
	if ( m == 0 || !DriveMatrix( plant, q, v, drive ) )
		return;
	memcpy( left, torque, (size_t)n * sizeof( double ) );
	for ( int k = 0; k < m; ++k )
		free[k] = true;
	/* An input that comes to the end of its range stays there, and the others take over what is left. */
	for ( int round = 0; round <= m; ++round )
	{
		bool bounded = false;
		if ( !LeastChange( drive, free, n, m, left, change ) )
			return;
		for ( int k = 0; k < m; ++k )
		{
			double old = u[k];
			u[k] = lmbPlantMotion_Clamp( old + change[k], plant->inputRange[k][0], plant->inputRange[k][1] );
			if ( free[k] && u[k] != old + change[k] )
			{
				free[k] = false;
				bounded = true;
			}
			for ( int i = 0; i < n; ++i )
				left[i] -= drive[i * m + k] * ( u[k] - old );
		}
		if ( !bounded )
			return;
	}
}

/* The minimum-jerk way at a share of its time: place, speed and acceleration of a way of 1 in a time of 1. */
static void MinimumJerk( double share, double *place, double *speed, double *acceleration )
{
	double s = lmbPlantMotion_Clamp( share, 0.0, 1.0 );
	*place = s * s * s * ( 10.0 + s * ( -15.0 + 6.0 * s ) );
	*speed = 30.0 * s * s * ( 1.0 - s ) * ( 1.0 - s );
	*acceleration = 60.0 * s * ( 1.0 - s ) * ( 1.0 - 2.0 * s );
}

/* What the inputs can give at each joint, about. */
static bool LargestTorques( lmbPlant *plant, const double *q, double *most )
{
	int n = plant->dofCount, m = plant->inputCount;
	double drive[lmbLimbMaxDofs * lmbLimbMaxInputs], still[lmbLimbMaxDofs] = { 0 };
	if ( m == 0 || !DriveMatrix( plant, q, still, drive ) )
		return false;
	for ( int i = 0; i < n; ++i )
	{
		most[i] = 0.0;
		for ( int k = 0; k < m; ++k )
			most[i] += fabs( drive[i * m + k] ) * 0.5 * ( plant->inputRange[k][1] - plant->inputRange[k][0] );
	}
	return true;
}

/* The time of a reach: the least asked for, or as long as it takes for inertia and Coriolis forces, which
 * fall with the time squared, to leave two fifths of what the inputs can give for all else. Whole samples. */
static double ReachTime( lmbPlant *plant, const lmbPlantMotionDef *def, const double *from, const double *to )
{
	enum
	{
		points = 20
	};
	int n = plant->dofCount;
	double most[lmbLimbMaxDofs], zero[lmbLimbMaxInputs] = { 0 }, time = def->reachTime;
	bool known = LargestTorques( plant, from, most );
	for ( int k = 0; k <= points && known; ++k )
	{
		double place, speed, acceleration, q[lmbLimbMaxDofs], v[lmbLimbMaxDofs];
		lmbPlantTerms terms;
		MinimumJerk( (double)k / points, &place, &speed, &acceleration );
		for ( int i = 0; i < n; ++i )
		{
			q[i] = from[i] + place * ( to[i] - from[i] );
			v[i] = speed * ( to[i] - from[i] );
		}
		known = lmbPlant_Terms( plant, q, v, zero, &terms );
		for ( int i = 0; i < n && known; ++i )
		{
			double torque = terms.bias[i];
			for ( int j = 0; j < n; ++j )
				torque += terms.mass[i * n + j] * acceleration * ( to[j] - from[j] );
			if ( most[i] > 0.0 )
				time = fmax( time, sqrt( fabs( torque ) / ( 0.6 * most[i] ) ) );
		}
	}
	return ceil( time * def->rate - 1e-9 ) / def->rate;
}

void lmbPlantMotion_BeginReaches( lmbPlantMotionRun *run, const double *x )
{
	run->reachEnd = run->nextReach = 0.0;
	memcpy( run->to, x, (size_t)run->plant->dofCount * sizeof( double ) );
}

void lmbPlantMotion_NextReach( lmbPlantMotionRun *run, double now, const double *to )
{
	size_t bytes = (size_t)run->plant->dofCount * sizeof( double );
	memcpy( run->from, run->to, bytes );
	memcpy( run->to, to, bytes );
	run->reachStart = now;
	run->reachEnd = now + ReachTime( run->plant, run->def, run->from, run->to );
	run->nextReach = run->once ? INFINITY : run->reachEnd + run->def->restTime;
}

void lmbPlantMotion_ReachInput( lmbPlantMotionRun *run, int sample, const double *x, double *u )
{
	lmbPlant *plant = run->plant;
	const lmbPlantMotionDef *def = run->def;
	int n = plant->dofCount;
	double time = sample * run->out->step;
	if ( time >= run->nextReach - 0.5 * run->out->step )
	{
		double to[lmbLimbMaxDofs];
		lmbPlantMotion_DrawPosture( plant, 0.0, fmin( def->start.outer, 1.0 ), &run->random, to );
		lmbPlantMotion_NextReach( run, time, to );
	}
	double place, speed, acceleration, wanted[lmbLimbMaxDofs], torque[lmbLimbMaxDofs], w = def->feedback;
	double length = run->reachEnd - run->reachStart;
	MinimumJerk( ( time - run->reachStart ) / length, &place, &speed, &acceleration );
	for ( int i = 0; i < n; ++i )
	{
		double way = run->to[i] - run->from[i];
		double q = run->from[i] + way * place, v = way * speed / length;
		wanted[i] =
		    way * acceleration / ( length * length ) + w * w * ( q - x[i] ) + 2.0 * w * ( v - x[n + i] );
	}
	lmbPlantTerms terms;
	double zero[lmbLimbMaxInputs] = { 0 };
	for ( int i = 0; i < plant->inputCount; ++i )
		u[i] = lmbPlantMotion_Clamp( 0.0, plant->inputRange[i][0], plant->inputRange[i][1] );
	if ( lmbPlant_Terms( plant, x, x + n, zero, &terms ) )
	{
		for ( int i = 0; i < n; ++i )
		{
			torque[i] = terms.bias[i] + terms.gravity[i] + terms.passive[i];
			for ( int j = 0; j < n; ++j )
				torque[i] += terms.mass[i * n + j] * wanted[j];
		}
		lmbPlantMotion_Distribute( plant, x, x + n, torque, u );
	}
	for ( int i = 0; i < plant->inputCount; ++i )
	{
		double low = plant->inputRange[i][0], high = plant->inputRange[i][1];
		u[i] += 0.5 * ( high - low ) * def->noise * lmbWaves_At( &run->waves[i], time );
		u[i] = lmbPlantMotion_Clamp( u[i], low, high );
	}
}

/* The test of pairs. */
typedef struct Pairs
{
	const lmbReachTestDef *def;
	double *targets; /* (targetCount x n) */
	int pairCount;
	lmbPlantMotionSet set;
} Pairs;

/* All ordered pairs, or some spread over them. */
static void PairAt( const Pairs *pairs, int index, int *from, int *to )
{
	int targets = pairs->def->targetCount, all = targets * ( targets - 1 );
	int pair = (int)( (int64_t)index * all / pairs->pairCount );
	*from = pair / ( targets - 1 );
	*to = pair % ( targets - 1 );
	*to += *to >= *from ? 1 : 0;
}

static void AddPulse( const Pairs *pairs, int index, double reachTime, lmbRandom *random, lmbTrajectory *out )
{
	const lmbReachTestDef *def = pairs->def;
	const lmbPlant *plant = pairs->set.plants[0];
	int m = plant->inputCount, input = index % m;
	double low = plant->inputRange[input][0], high = plant->inputRange[input][1];
	double start = def->pulseStart;
	double anywhere = lmbRandom_Uniform( random ) * fmax( reachTime - def->pulseTime, 0.0 );
	if ( start < 0.0 )
		start = anywhere;
	double length = fmax( 1.0, floor( def->pulseTime / out->step + 0.5 ) );
	double first = floor( start / out->step + 0.5 );
	double height = 0.5 * ( high - low ) * def->pulse;
	height *= low < 0.0 && index / m % 2 == 1 ? -1.0 : 1.0;
	for ( int k = 0; k < out->sampleCount; ++k )
	{
		double *u = &out->inputs[(size_t)k * (size_t)m + (size_t)input];
		if ( k >= first && k < first + length )
			*u = low < 0.0 ? *u + height : lmbPlantMotion_Clamp( *u + height, low, high );
	}
}

static lmbStatus MakePair( void *context, int index, int worker, lmbError *error )
{
	Pairs *pairs = context;
	const lmbPlantMotionDef *def = &pairs->def->motion;
	lmbTrajectory *plain = &pairs->set.set->items[2 * index], *pushed = plain + 1;
	lmbPlantMotionRun run = { .plant = pairs->set.plants[worker], .def = def, .out = plain, .once = true };
	size_t n = (size_t)run.plant->dofCount, m = (size_t)run.plant->inputCount;
	run.random = lmbRandom_Seed( pairs->set.job->seed, ( def->stream << 24 ) + (uint64_t)index );
	double x[2 * lmbLimbMaxDofs] = { 0 };
	int from, to;
	PairAt( pairs, index, &from, &to );
	memcpy( x, pairs->targets + (size_t)from * n, n * sizeof( double ) );
	lmbPlantMotion_BeginReaches( &run, x );
	lmbPlantMotion_NextReach( &run, 0.0, pairs->targets + (size_t)to * n );
	LMB_TRY( lmbPlantMotion_Run( &run, lmbPlantMotion_ReachInput, x, error ) );
	memcpy( pushed->positions, plain->positions, n * sizeof( double ) );
	memcpy( pushed->velocities, plain->velocities, n * sizeof( double ) );
	memcpy( pushed->inputs, plain->inputs, (size_t)plain->sampleCount * m * sizeof( double ) );
	AddPulse( pairs, index, run.reachEnd, &run.random, pushed );
	LMB_TRY( lmbPlant_Integrate( run.plant, lmb_inputHeld, pushed, error ) );
	lmbPlantMotionSet_Progress( &pairs->set );
	lmbPlantMotionSet_Progress( &pairs->set );
	return lmb_statusOk;
}

static lmbStatus PreparePairs( Pairs *pairs, const lmbPlant *plant, const lmbJob *job, lmbError *error )
{
	const lmbReachTestDef *def = pairs->def;
	LMB_TRY( lmbPlantMotionSet_Open( &pairs->set, plant, 2 * pairs->pairCount, job, error ) );
	pairs->targets = LMB_NEW( &pairs->set.arena, double, def->targetCount * plant->dofCount );
	if ( pairs->targets == NULL )
		return lmbError_Memory( error );
	lmbRandom random = lmbRandom_Seed( pairs->set.job->seed, ( def->motion.stream << 24 ) + 0xffffff );
	for ( int t = 0; t < def->targetCount; ++t )
		lmbPlantMotion_DrawPosture( plant, 0.0, def->motion.start.outer, &random,
		                            pairs->targets + (ptrdiff_t)t * plant->dofCount );
	for ( int i = 0; i < pairs->pairCount; ++i )
	{
		char name[128];
		int from, to;
		PairAt( pairs, i, &from, &to );
		for ( int pushed = 0; pushed < 2; ++pushed )
		{
			snprintf( name, sizeof( name ), "%s %02d-%02d%s", def->motion.name, from + 1, to + 1,
			          pushed == 1 ? lmbLimbPulseMark : "" );
			LMB_TRY( lmbPlantMotionSet_Add( &pairs->set, 2 * i + pushed, name, &def->motion, error ) );
		}
	}
	return lmb_statusOk;
}

lmbStatus lmbPlantMotions_MakeReachTest( const lmbPlant *plant, const lmbReachTestDef *def, const lmbJob *job,
                                         lmbTrajectories **out, lmbError *error )
{
	int all = def->targetCount * ( def->targetCount - 1 );
	*out = NULL;
	LMB_TRY( lmbPlantMotionDef_Check( &def->motion, error ) );
	if ( plant->inputCount == 0 )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "%s has no inputs; reaches between targets take some", plant->name );
	if ( def->targetCount < 2 || def->targetCount > 100 || def->pairCount < 0 || def->pairCount > all )
		return lmbError_Set(
		    error, lmb_statusInvalidArgument,
		    "%d pairs of %d targets: it takes 2 to 100 targets and no more pairs than they have",
		    def->pairCount, def->targetCount );
	if ( !isfinite( def->pulse ) || !( def->pulseTime >= 0.0 ) || !isfinite( def->pulseTime ) ||
	     !isfinite( def->pulseStart ) )
		return lmbError_Set(
		    error, lmb_statusInvalidArgument,
		    "a pulse of %g for %g s from %g s: it takes finite numbers and a time of 0 or above", def->pulse,
		    def->pulseTime, def->pulseStart );
	Pairs pairs = { .def = def, .pairCount = def->pairCount > 0 ? def->pairCount : all };
	lmbStatus status = PreparePairs( &pairs, plant, job, error );
	if ( status == lmb_statusOk )
		status = lmbJob_ForEach( job, pairs.pairCount, MakePair, &pairs, error );
	return lmbPlantMotionSet_Close( &pairs.set, status, out );
}
