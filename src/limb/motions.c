#include "limb/motions.h"

#include "base/random.h"
#include "limb/motions_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

lmbPlantMotionDef lmbDefaultPlantMotionDef( lmbPlantMotionKind kind )
{
	static const char *const names[] = { "torques", "reaches", "swings" };
	return ( lmbPlantMotionDef ){ .kind = kind,
	                              .count = 200,
	                              .rate = 100.0,
	                              .duration = 5.0,
	                              .effort = 0.5,
	                              .bandwidth = 1.5,
	                              .centring = 3.0,
	                              .noise = 0.05,
	                              .reachTime = 0.6,
	                              .restTime = 0.2,
	                              .feedback = 8.0,
	                              .start = { 0.0, 1.0, 0.0, 1.0 },
	                              .name = names[kind] };
}

lmbPlantMotionStart lmbNovelSpeeds( void )
{
	return ( lmbPlantMotionStart ){ 0.0, 1.0, 2.0, 4.0 };
}

lmbPlantMotionStart lmbNovelPostures( void )
{
	return ( lmbPlantMotionStart ){ 1.0, 1.5, 2.0, 4.0 };
}

static bool Within( double number, double low, double high )
{
	return number >= low && number <= high;
}

lmbStatus lmbPlantMotionDef_Check( const lmbPlantMotionDef *def, lmbError *error )
{
	const char *name = def->name != NULL ? def->name : "";
	const lmbPlantMotionStart *start = &def->start;
	const struct
	{
		const char *what;
		double number, low, high;
	} checks[] = {
	    { "count", def->count, 1.0, 1e6 },
	    { "rate", def->rate, 1e-3, 1e6 },
	    { "duration", def->duration, 1e-6, 1e6 },
	    { "samples (rate times duration)", def->rate * def->duration, 0.0, 1e8 },
	    { "effort", def->effort, 0.0, 100.0 },
	    { "bandwidth", def->bandwidth, 1e-3, 1e4 },
	    { "centring", def->centring, 0.0, 1e4 },
	    { "noise", def->noise, 0.0, 100.0 },
	    { "reach time", def->reachTime, 1e-3, 1e6 },
	    { "rest time", def->restTime, 0.0, 1e6 },
	    { "feedback", def->feedback, 0.0, 1e4 },
	    { "inner start", start->inner, 0.0, start->outer },
	    { "outer start", start->outer, 0.0, 1e3 },
	    { "slowest start", start->slowest, 0.0, start->fastest },
	    { "fastest start", start->fastest, 0.0, 1e6 },
	};
	for ( size_t i = 0; i < sizeof( checks ) / sizeof( checks[0] ); ++i )
		if ( !Within( checks[i].number, checks[i].low, checks[i].high ) )
			return lmbError_Set( error, lmb_statusInvalidArgument,
			                     "motions \"%s\": a %s of %g is outside %g to %g", name, checks[i].what,
			                     checks[i].number, checks[i].low, checks[i].high );
	if ( name[0] == 0 || strlen( name ) > 64 )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "motions \"%s\": a name takes 1 to 64 characters", name );
	return lmb_statusOk;
}

lmbWaves lmbWaves_Draw( lmbRandom *random, double bandwidth )
{
	static const double turn = 6.283185307179586;
	lmbWaves waves;
	double sum = 0.0;
	for ( int i = 0; i < lmbWaveCount; ++i )
	{
		waves.size[i] = lmbRandom_Uniform( random );
		waves.speed[i] = turn * bandwidth * ( 0.1 + 0.9 * lmbRandom_Uniform( random ) );
		waves.phase[i] = turn * lmbRandom_Uniform( random );
		sum += waves.size[i];
	}
	for ( int i = 0; i < lmbWaveCount; ++i )
		waves.size[i] /= sum > 0.0 ? sum : 1.0;
	return waves;
}

double lmbWaves_At( const lmbWaves *waves, double time )
{
	double value = 0.0;
	for ( int i = 0; i < lmbWaveCount; ++i )
		value += waves->size[i] * sin( waves->speed[i] * time + waves->phase[i] );
	return value;
}

double lmbPlantMotion_Clamp( double number, double low, double high )
{
	return number < low ? low : number > high ? high : number;
}

void lmbPlantMotion_DrawPosture( const lmbPlant *plant, double inner, double outer, lmbRandom *random,
                                 double *q )
{
	for ( int i = 0; i < plant->dofCount; ++i )
	{
		double low = plant->startRange[i][0], high = plant->startRange[i][1];
		double side = lmbRandom_Uniform( random ) < 0.5 ? -1.0 : 1.0;
		double share = side * ( inner + lmbRandom_Uniform( random ) * ( outer - inner ) );
		q[i] = 0.5 * ( low + high ) + 0.5 * ( high - low ) * share;
	}
}

static void DrawStart( const lmbPlant *plant, const lmbPlantMotionStart *start, lmbRandom *random, double *x )
{
	lmbPlantMotion_DrawPosture( plant, start->inner, start->outer, random, x );
	for ( int i = 0; i < plant->dofCount; ++i )
	{
		double side = lmbRandom_Uniform( random ) < 0.5 ? -1.0 : 1.0;
		x[plant->dofCount + i] =
		    side * ( start->slowest + lmbRandom_Uniform( random ) * ( start->fastest - start->slowest ) );
	}
}

/* The torque of the pull back into the range of starts; whether there is any. */
static bool Centre( const lmbPlantMotionRun *run, const double *q, const double *v, double *torque )
{
	const lmbPlant *plant = run->plant;
	double zero[lmbLimbMaxInputs] = { 0 }, w = run->def->centring;
	bool outside = false;
	for ( int i = 0; i < plant->dofCount; ++i )
		outside = outside || q[i] < plant->startRange[i][0] || q[i] > plant->startRange[i][1];
	lmbPlantTerms terms;
	if ( !outside || w == 0.0 || !lmbPlant_Terms( run->plant, q, v, zero, &terms ) )
		return false;
	for ( int i = 0; i < plant->dofCount; ++i )
	{
		double over = q[i] - lmbPlantMotion_Clamp( q[i], plant->startRange[i][0], plant->startRange[i][1] );
		double back = over != 0.0 ? -w * w * over - 2.0 * w * v[i] : 0.0;
		/* It never pushes outwards: a joint on its way back is let go. */
		torque[i] = back * over < 0.0 ? terms.mass[i * plant->dofCount + i] * back : 0.0;
	}
	return true;
}

static void TorqueInput( lmbPlantMotionRun *run, int sample, const double *x, double *u )
{
	lmbPlant *plant = run->plant;
	double torque[lmbLimbMaxDofs];
	for ( int i = 0; i < plant->inputCount; ++i )
	{
		double low = plant->inputRange[i][0], high = plant->inputRange[i][1];
		double wave = lmbWaves_At( &run->waves[i], sample * run->out->step );
		u[i] = 0.5 * ( low + high ) + 0.5 * ( high - low ) * run->def->effort * wave;
		u[i] = lmbPlantMotion_Clamp( u[i], low, high );
	}
	if ( Centre( run, x, x + plant->dofCount, torque ) )
		lmbPlantMotion_Distribute( plant, x, x + plant->dofCount, torque, u );
}

static void NoInput( lmbPlantMotionRun *run, int sample, const double *x, double *u )
{
	(void)sample;
	(void)x;
	for ( int i = 0; i < run->plant->inputCount; ++i )
		u[i] = lmbPlantMotion_Clamp( 0.0, run->plant->inputRange[i][0], run->plant->inputRange[i][1] );
}

/* The motion sample by sample from x; inputs as the maker says. */
static lmbStatus Carry( lmbPlantMotionRun *run, lmbPlantMotionInput *input, double *x, lmbError *error )
{
	lmbPlantSolver *solver;
	lmbPlant *plant = run->plant;
	lmbTrajectory *out = run->out;
	size_t n = (size_t)plant->dofCount, m = (size_t)plant->inputCount;
	LMB_TRY( lmbPlantSolver_Open( plant, &solver, error ) );
	bool fine = true;
	for ( int k = 0; k < out->sampleCount && fine; ++k )
	{
		double none[1] = { 0.0 }, *u = m > 0 ? out->inputs + (size_t)k * m : none;
		memcpy( out->positions + (size_t)k * n, x, n * sizeof( double ) );
		memcpy( out->velocities + (size_t)k * n, x + n, n * sizeof( double ) );
		input( run, k, x, u );
		fine = lmbPlant_Acceleration( plant, x, x + n, u, out->accelerations + (size_t)k * n ) &&
		       ( k + 1 == out->sampleCount || lmbPlantSolver_Advance( solver, x, u, NULL, out->step ) );
	}
	lmbPlantSolver_Close( solver );
	if ( !fine )
		return lmbError_Set(
		    error, lmb_statusNumerical,
		    "\"%s\": the motion of %s does not stay finite; take smaller inputs, slower starts "
		    "or a lower bandwidth",
		    out->name, plant->name );
	return lmb_statusOk;
}

lmbStatus lmbPlantMotion_Run( lmbPlantMotionRun *run, lmbPlantMotionInput *input, double *x, lmbError *error )
{
	double bandwidth = run->def->bandwidth;
	for ( int i = 0; i < run->plant->inputCount; ++i )
		run->waves[i] = lmbWaves_Draw( &run->random, bandwidth );
	return Carry( run, input, x, error );
}

/* Trajectories being made on several threads. */
typedef struct Making
{
	const lmbPlantMotionDef *defs;
	int defCount;
	lmbPlantMotionSet set;
} Making;

static lmbStatus MakeOne( void *context, int index, int worker, lmbError *error )
{
	static lmbPlantMotionInput *const inputs[] = { TorqueInput, lmbPlantMotion_ReachInput, NoInput };
	Making *making = context;
	int place = index, d = 0;
	while ( place >= making->defs[d].count )
		place -= making->defs[d++].count;
	const lmbPlantMotionDef *def = &making->defs[d];
	lmbPlantMotionRun run = {
	    .plant = making->set.plants[worker], .def = def, .out = &making->set.set->items[index] };
	run.random = lmbRandom_Seed( making->set.job->seed, ( def->stream << 24 ) + (uint64_t)place );
	double x[2 * lmbLimbMaxDofs];
	DrawStart( run.plant, &def->start, &run.random, x );
	lmbPlantMotion_BeginReaches( &run, x );
	LMB_TRY( lmbPlantMotion_Run( &run, inputs[def->kind], x, error ) );
	lmbPlantMotionSet_Progress( &making->set );
	return lmb_statusOk;
}

lmbStatus lmbPlantMotions_Make( const lmbPlant *plant, const lmbPlantMotionDef *defs, int defCount,
                                const lmbJob *job, lmbTrajectories **out, lmbError *error )
{
	Making making = { .defs = defs, .defCount = defCount };
	int count = 0, index = 0;
	*out = NULL;
	for ( int d = 0; d < defCount; ++d )
	{
		LMB_TRY( lmbPlantMotionDef_Check( &defs[d], error ) );
		count += defs[d].count;
	}
	lmbStatus status = lmbPlantMotionSet_Open( &making.set, plant, count, job, error );
	for ( int d = 0; d < defCount; ++d )
		for ( int i = 0; i < defs[d].count && status == lmb_statusOk; ++i )
		{
			char name[96];
			snprintf( name, sizeof( name ), "%s %03d", defs[d].name, i + 1 );
			status = lmbPlantMotionSet_Add( &making.set, index++, name, &defs[d], error );
		}
	if ( status == lmb_statusOk )
		status = lmbTrajectories_CheckNames( making.set.set, error );
	if ( status == lmb_statusOk )
		status = lmbJob_ForEach( job, count, MakeOne, &making, error );
	return lmbPlantMotionSet_Close( &making.set, status, out );
}
