/* What one step of a limb costs: a Lagrangian model of the two-segment arm (mass network 2 - 32 - 32 - 3,
 * constant damping, trust on) under RK4, and beside it an arm's equations in closed form under the same
 * integrator and, where the build found MuJoCo, the same arm there.
 *   bench_limb_step [REPETITIONS]
 * Prints the least and the median time of a step over the repetitions, each of many steps. */
#include "runtime/limb_core.h"
#include "../tests/runtime/limb_fixture.h"

#include <time.h>

#ifdef LMB_HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

enum
{
	stepsOfOne = 2000,
	mostRepetitions = 10000
};

static int Compare( const void *a, const void *b )
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/* Time that this thread itself was running, so that the machine's other work counts less. */
static double ThreadSeconds( void )
{
	struct timespec time;
	clock_gettime( CLOCK_THREAD_CPUTIME_ID, &time );
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Runs the task's steps repetitions times and prints nanoseconds of a step. */
static double Measure( const char *title, int repetitions, void ( *task )( void * ), void *context )
{
	static double times[mostRepetitions];
	for ( int r = 0; r < repetitions; ++r )
	{
		double start = ThreadSeconds();
		task( context );
		times[r] = 1e9 * ( ThreadSeconds() - start ) / stepsOfOne;
	}
	qsort( times, (size_t)repetitions, sizeof( times[0] ), Compare );
	printf( "%-44s %8.0f ns least %8.0f ns median\n", title, times[0], times[repetitions / 2] );
	return times[repetitions / 2];
}

static void RunBody( void *context )
{
	lmbLimbBody *body = context;
	const double start[2] = { 0.3, 1.1 }, still[2] = { 0.0, 0.0 };
	lmbLimbBody_Start( body, start, still );
	for ( int i = 0; i < stepsOfOne; ++i )
	{
		double torques[2] = { 0.4 * ( i % 200 < 100 ? 1 : -1 ), 0.2 * ( i % 140 < 70 ? 1 : -1 ) };
		lmbLimbBody_Step( body, torques, NULL, 0.005 );
	}
}

/* An adult's arm: mass, length, centre of mass from the proximal joint, inertia about it; forearm with hand.
 */
static const double upper[4] = { 2.03, 0.283, 0.163, 0.0127 }, lower[4] = { 1.67, 0.44, 0.174, 0.0231 };
static const double viscosity = 0.2; /* N m s / rad */

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
	arm->state[0] = 0.3;
	arm->state[1] = 1.1;
	arm->state[2] = arm->state[3] = 0.0;
	for ( int i = 0; i < stepsOfOne; ++i )
	{
		double torques[2] = { 0.4 * ( i % 200 < 100 ? 1 : -1 ), 0.2 * ( i % 140 < 70 ? 1 : -1 ) };
		ArmRk4( arm, torques, 0.005 );
	}
}

#ifdef LMB_HAVE_MUJOCO
typedef struct Engine
{
	mjModel *model;
	mjData *data;
	bool forward; /* accelerations alone */
} Engine;

static void RunEngine( void *context )
{
	Engine *engine = context;
	mj_resetData( engine->model, engine->data );
	engine->data->qpos[0] = 0.3;
	engine->data->qpos[1] = 1.1;
	for ( int i = 0; i < stepsOfOne; ++i )
	{
		engine->data->ctrl[0] = 0.4 * ( i % 200 < 100 ? 1 : -1 );
		engine->data->ctrl[1] = 0.2 * ( i % 140 < 70 ? 1 : -1 );
		if ( engine->forward )
			mj_forward( engine->model, engine->data );
		else
			mj_step( engine->model, engine->data );
	}
}

static bool WriteEngineModel( const char *path )
{
	FILE *stream = fopen( path, "w" );
	if ( stream == NULL )
		return false;
	fprintf( stream,
	         "<mujoco><compiler angle=\"radian\"/>"
	         "<option timestep=\"0.005\" gravity=\"0 0 0\" integrator=\"RK4\"/>"
	         "<default><joint type=\"hinge\" axis=\"0 0 1\" damping=\"%g\"/></default><worldbody><body>"
	         "<joint name=\"shoulder\"/><inertial mass=\"%g\" pos=\"%g 0 0\" diaginertia=\"%g %g %g\"/>"
	         "<body pos=\"%g 0 0\"><joint name=\"elbow\"/>"
	         "<inertial mass=\"%g\" pos=\"%g 0 0\" diaginertia=\"%g %g %g\"/></body></body></worldbody>"
	         "<actuator><motor joint=\"shoulder\"/><motor joint=\"elbow\"/></actuator></mujoco>\n",
	         viscosity, upper[0], upper[2], upper[3], upper[3], upper[3], upper[1], lower[0], lower[2],
	         lower[3], lower[3], lower[3] );
	return fclose( stream ) == 0;
}

/* Also says how far apart the two are after the motion: they are to be the same arm. */
static void MeasureMujoco( int repetitions, const Arm *arm )
{
	char path[] = "/tmp/limber-bench-XXXXXX", problem[512] = "";
	int file = mkstemp( path );
	if ( file < 0 )
		return;
	close( file );
	Engine engine = { 0 };
	if ( WriteEngineModel( path ) )
		engine.model = mj_loadXML( path, NULL, problem, sizeof( problem ) );
	unlink( path );
	if ( engine.model == NULL )
	{
		printf( "MuJoCo: %s\n", problem );
		return;
	}
	engine.data = mj_makeData( engine.model );
	Measure( "MuJoCo, mj_step with RK4", repetitions, RunEngine, &engine );
	printf( "  after %g s its angles differ from the closed form's by %.1e and %.1e\n", 0.005 * stepsOfOne,
	        engine.data->qpos[0] - arm->state[0], engine.data->qpos[1] - arm->state[1] );
	engine.forward = true;
	Measure( "MuJoCo, mj_forward (one evaluation)", repetitions, RunEngine, &engine );
	mj_deleteData( engine.data );
	mj_deleteModel( engine.model );
}
#endif

int main( int count, char **arguments )
{
	const LimbDef def = { .kind = lmb_limbLagrangian,
	                      .n = 2,
	                      .m = 2,
	                      .style = styleNoBase,
	                      .hiddenLayers = 2,
	                      .width = 32,
	                      .dampingConstant = true,
	                      .trust = true,
	                      .seed = 5 };
	int repetitions = count > 1 ? atoi( arguments[1] ) : 500;
	repetitions = repetitions < 1 ? 1 : repetitions > mostRepetitions ? mostRepetitions : repetitions;
	LimbFixture *fixture = LimbFixture_Make( &def );
	lmbLimb *model = fixture != NULL ? LimbFixture_Load( fixture ) : NULL;
	if ( model == NULL )
		return 1;
	lmbLimbDef settings = lmbDefaultLimbDef( model );
	double with = Measure( "Lagrangian 2-32-32-3, RK4, trust", repetitions, RunBody,
	                       LimbFixture_Body( fixture, model, &settings ) );
	settings.trust = false;
	double without = Measure( "the same without trust", repetitions, RunBody,
	                          LimbFixture_Body( fixture, model, &settings ) );
	settings.integrator = lmb_integratorSemiImplicitEuler;
	Measure( "semi-implicit Euler (one evaluation)", repetitions, RunBody,
	         LimbFixture_Body( fixture, model, &settings ) );
	double distal = lower[3] + lower[0] * lower[2] * lower[2];
	Arm arm = { .alpha = upper[3] + upper[0] * upper[2] * upper[2] + lower[0] * upper[1] * upper[1] + distal,
	            .beta = lower[0] * upper[1] * lower[2],
	            .delta = distal,
	            .viscosity = viscosity };
	Measure( "closed form, RK4", repetitions, RunArm, &arm );
#ifdef LMB_HAVE_MUJOCO
	MeasureMujoco( repetitions, &arm );
#endif
	printf( "trust takes %.0f %% of the step\n", 100.0 * ( with - without ) / with );
	LimbFixture_Free( fixture );
	return 0;
}
