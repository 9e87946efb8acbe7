/* One step of a limb by RK4: a Lagrangian model of the two-segment arm (mass network 2 - 32 - 32 - 3,
 * constant damping), the same arm's equations in closed form, and MuJoCo's own step. */
#include "base/files.h"
#include "limb/limb_model.h"
#include "limb/plant.h"
#include "measure.h"

#include <limber/limb.h>
#include <math.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum
{
	steps = 2000,
	samples = 200
};

static const double stepSeconds = 0.005;

static void Torques( int step, double *u )
{
	u[0] = 0.4 * ( step % 200 < 100 ? 1 : -1 );
	u[1] = 0.2 * ( step % 140 < 70 ? 1 : -1 );
}

static const double start[2] = { 0.3, 1.1 }, still[2] = { 0.0, 0.0 };

static void RunBody( void *context )
{
	lmbLimbBody *body = context;
	lmbLimbBody_Start( body, start, still );
	for ( int i = 0; i < steps; ++i )
	{
		double u[2];
		Torques( i, u );
		lmbLimbBody_Step( body, u, NULL, stepSeconds );
	}
}

typedef struct Arm
{
	double alpha, beta, delta, viscosity; /* kg m^2; N m s / rad */
	double state[4];
} Arm;

/* M = (alpha + 2 beta cos q2, delta + beta cos q2; delta + beta cos q2, delta). */
static void ArmAcceleration( const Arm *arm, const double *x, const double *u, double *a )
{
	double c = cos( x[1] ), s = sin( x[1] ), b = arm->beta * s;
	double m11 = arm->alpha + 2.0 * arm->beta * c, m12 = arm->delta + arm->beta * c, m22 = arm->delta;
	double r1 = u[0] + b * ( 2.0 * x[2] * x[3] + x[3] * x[3] ) - arm->viscosity * x[2];
	double r2 = u[1] - b * x[2] * x[2] - arm->viscosity * x[3];
	double inverse = 1.0 / ( m11 * m22 - m12 * m12 );
	a[0] = inverse * ( m22 * r1 - m12 * r2 );
	a[1] = inverse * ( m11 * r2 - m12 * r1 );
}

static void ArmRk4( Arm *arm, const double *u, double h )
{
	double k[4][4], x[4];
	const double shares[4] = { 0.0, 0.5, 0.5, 1.0 };
	for ( int stage = 0; stage < 4; ++stage )
	{
		for ( int i = 0; i < 4; ++i )
			x[i] = arm->state[i] + ( stage > 0 ? h * shares[stage] * k[stage - 1][i] : 0.0 );
		k[stage][0] = x[2];
		k[stage][1] = x[3];
		ArmAcceleration( arm, x, u, k[stage] + 2 );
	}
	for ( int i = 0; i < 4; ++i )
		arm->state[i] += h / 6.0 * ( k[0][i] + 2.0 * ( k[1][i] + k[2][i] ) + k[3][i] );
}

static void RunArm( void *context )
{
	Arm *arm = context;
	for ( int i = 0; i < 4; ++i )
		arm->state[i] = i < 2 ? start[i] : 0.0;
	for ( int i = 0; i < steps; ++i )
	{
		double u[2];
		Torques( i, u );
		ArmRk4( arm, u, stepSeconds );
	}
}

static Arm MakeArm( const lmbArmDef *def )
{
	lmbSegment upper = lmbPlant_ArmSegment( def, 0 ), lower = lmbPlant_ArmSegment( def, 1 );
	double distal = lower.inertia + lower.mass * lower.centre * lower.centre;
	return ( Arm ){ .alpha = upper.inertia + upper.mass * upper.centre * upper.centre +
	                         lower.mass * upper.length * upper.length + distal,
	                .beta = lower.mass * upper.length * lower.centre,
	                .delta = distal,
	                .viscosity = def->viscosity[0] };
}

typedef struct Engine
{
	mjModel *model;
	mjData *data;
} Engine;

static void RunEngine( void *context )
{
	Engine *engine = context;
	mj_resetData( engine->model, engine->data );
	engine->data->qpos[0] = start[0];
	engine->data->qpos[1] = start[1];
	for ( int i = 0; i < steps; ++i )
	{
		Torques( i, engine->data->ctrl );
		mj_step( engine->model, engine->data );
	}
}

/* A file of its own in the folder for such; the caller removes it. */
static lmbStatus NewPath( char *path, lmbError *error )
{
	int handle = mkstemp( path );
	if ( handle < 0 )
		return lmbError_Set( error, lmb_statusIo, "%s: cannot be made; is /tmp writable?", path );
	close( handle );
	return lmb_statusOk;
}

static lmbStatus LoadEngine( const lmbArmDef *def, Engine *engine, lmbError *error )
{
	lmbSegment upper = lmbPlant_ArmSegment( def, 0 ), lower = lmbPlant_ArmSegment( def, 1 );
	char path[] = "/tmp/limber-bench-XXXXXX", text[2048], problem[512] = "";
	snprintf(
	    text, sizeof( text ),
	    "<mujoco><compiler angle=\"radian\"/>"
	    "<option timestep=\"0.005\" gravity=\"0 0 0\" integrator=\"RK4\"/>"
	    "<default><joint type=\"hinge\" axis=\"0 0 1\" damping=\"%.17g\"/></default><worldbody><body>"
	    "<joint name=\"shoulder\"/><inertial mass=\"%.17g\" pos=\"%.17g 0 0\" diaginertia=\"%.17g %.17g "
	    "%.17g\"/>"
	    "<body pos=\"%.17g 0 0\"><joint name=\"elbow\"/>"
	    "<inertial mass=\"%.17g\" pos=\"%.17g 0 0\" diaginertia=\"%.17g %.17g %.17g\"/></body></body>"
	    "</worldbody><actuator><motor joint=\"shoulder\"/><motor joint=\"elbow\"/></actuator></mujoco>\n",
	    def->viscosity[0], upper.mass, upper.centre, upper.inertia, upper.inertia, upper.inertia,
	    upper.length, lower.mass, lower.centre, lower.inertia, lower.inertia, lower.inertia );
	LMB_TRY( NewPath( path, error ) );
	lmbStatus status = lmbFile_Write( path, text, strlen( text ), error );
	if ( status == lmb_statusOk )
		engine->model = mj_loadXML( path, NULL, problem, sizeof( problem ) );
	unlink( path );
	if ( status == lmb_statusOk && engine->model == NULL )
		status = lmbError_Set( error, lmb_statusCorrupt, "MuJoCo refuses the arm: %s", problem );
	if ( status == lmb_statusOk )
		engine->data = mj_makeData( engine->model );
	return status;
}

/* A model that was taught nothing yet, which costs the same. */
static lmbStatus WriteModel( const char *path, lmbArena *arena, lmbError *error )
{
	static const bool turns[2] = { true, true }, slides[2] = { false, false };
	static const char *const dofs[2] = { "shoulder", "elbow" };
	lmbEquationsDef def = { .kind = lmb_limbLagrangian,
	                        .dofCount = 2,
	                        .inputCount = 2,
	                        .slides = slides,
	                        .turns = turns,
	                        .hiddenLayers = 2,
	                        .width = 32,
	                        .invariantBase = true };
	for ( int i = 0; i < 2; ++i )
		def.positionSpread[i] = def.velocitySpread[i] = def.accelerationSpread[i] = def.inputSpread[i] = 1.0;
	lmbEquations equations;
	lmbStatus status = lmbEquations_Make( &def, &equations, error );
	if ( status == lmb_statusOk )
	{
		lmbRandom random = lmbRandom_Seed( 1, 1 );
		double *parameters = LMB_NEW( arena, double, equations.parameterCount );
		lmbLimbModel model = { .kind = def.kind,
		                       .dofCount = 2,
		                       .inputCount = 2,
		                       .dofNames = dofs,
		                       .inputNames = dofs,
		                       .slides = slides,
		                       .step = stepSeconds };
		if ( parameters == NULL )
			status = lmbError_Memory( error );
		else
		{
			lmbEquations_Init( &equations, &random, parameters );
			status = lmbLimbModel_FromEquations( &model, &equations, parameters, arena, error );
		}
		if ( status == lmb_statusOk )
			status = lmbLimbModel_Write( &model, path, error );
	}
	lmbEquations_Free( &equations );
	return status;
}

static lmbStatus LoadBody( lmbArena *arena, lmbLimbBody **body, lmbError *error )
{
	char path[] = "/tmp/limber-bench-XXXXXX", *data = NULL;
	const char *problem = NULL;
	size_t size = 0;
	lmbLimb *model;
	LMB_TRY( NewPath( path, error ) );
	lmbStatus status = WriteModel( path, arena, error );
	if ( status == lmb_statusOk )
		status = lmbFile_Read( path, arena, &data, &size, error );
	unlink( path );
	if ( status != lmb_statusOk )
		return status;
	size_t modelSize = lmbLimb_Size( data, size );
	void *memory = lmbArena_New( arena, 1, modelSize );
	if ( memory == NULL )
		return lmbError_Memory( error );
	status = lmbLimb_Load( data, size, memory, modelSize, &model, &problem );
	if ( status != lmb_statusOk )
		return lmbError_Set( error, status, "the arm's model: %s", problem );
	lmbLimbDef def = lmbDefaultLimbDef( model );
	size_t bodySize = lmbLimbBody_Size( model, &def );
	memory = lmbArena_New( arena, 1, bodySize );
	return memory == NULL ? lmbError_Memory( error )
	                      : lmbLimbBody_Place( model, &def, memory, bodySize, body );
}

static lmbStatus Measure( lmbBench *bench, const char *name, void ( *run )( void * ), void *context,
                          lmbBenchTimes *times, lmbError *error )
{
	const lmbBenchTask task = { .run = run, .context = context, .samples = samples, .repeats = 1 };
	const lmbBenchCost cost = { .items = 1.0 };
	LMB_TRY( lmbBench_Time( bench, &task, times, error ) );
	times->typical /= steps;
	times->least /= steps;
	times->median /= steps;
	lmbBench_Row( bench, name, times, &cost );
	return lmb_statusOk;
}

static lmbStatus MeasureAll( lmbBench *bench, lmbArena *arena, Engine *engine, lmbError *error )
{
	lmbArmDef def = lmbDefaultArmDef();
	Arm arm = MakeArm( &def );
	lmbLimbBody *body = NULL;
	lmbBenchTimes ours, closed, theirs;
	char note[160];
	LMB_TRY( LoadBody( arena, &body, error ) );
	LMB_TRY( LoadEngine( &def, engine, error ) );
	LMB_TRY( Measure( bench, "Lagrangian model, RK4", RunBody, body, &ours, error ) );
	LMB_TRY( Measure( bench, "closed form, RK4", RunArm, &arm, &closed, error ) );
	LMB_TRY( Measure( bench, "MuJoCo, mj_step with RK4", RunEngine, engine, &theirs, error ) );
	snprintf( note, sizeof( note ), "its angles differ from the closed form's by %.1e and %.1e after %g s",
	          engine->data->qpos[0] - arm.state[0], engine->data->qpos[1] - arm.state[1],
	          stepSeconds * steps );
	lmbBench_Compare( bench, "MuJoCo, of our time", theirs.typical / ours.typical, 0.0, note );
	lmbBench_Compare( bench, "our model, of the closed form's time", ours.typical / closed.typical, 0.0, "" );
	return lmb_statusOk;
}

lmbStatus lmbBench_Limb( lmbBench *bench, lmbError *error )
{
	lmbArena arena = { 0 };
	Engine engine = { 0 };
	lmbStatus status = MeasureAll( bench, &arena, &engine, error );
	if ( engine.data != NULL )
		mj_deleteData( engine.data );
	if ( engine.model != NULL )
		mj_deleteModel( engine.model );
	lmbArena_Free( &arena );
	return status;
}
