/* What one step of a limb costs: a Lagrangian model of the two-segment arm (mass network 2 - 32 - 32 - 3,
 * constant damping, trust on) under RK4, and beside it the same arm's equations in closed form under the same
 * integrator.
 *   bench_limb_step [REPETITIONS]
 * Prints the least and the median time of a step over the repetitions, each of many steps. */
#include "base/job.h"
#include "runtime/limb_core.h"
#include "../tests/runtime/limb_fixture.h"

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

/* Runs the task's steps repetitions times and prints nanoseconds of a step. */
static double Measure( const char *title, int repetitions, void ( *task )( void * ), void *context )
{
	static double times[mostRepetitions];
	for ( int r = 0; r < repetitions; ++r )
	{
		double start = lmbClock_Seconds();
		task( context );
		times[r] = 1e9 * ( lmbClock_Seconds() - start ) / stepsOfOne;
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

/* 75 kg, 1.75 m by de Leva's table as plant_arm.c has it, rounded: moments of the two segments. */
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
#include "limb_step_mujoco.h"
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
	Arm arm = { 0.3, 0.1, 0.09, 0.2, { 0 } };
	Measure( "closed form, RK4", repetitions, RunArm, &arm );
#ifdef LMB_HAVE_MUJOCO
	MeasureMujoco( repetitions );
#endif
	printf( "trust takes %.0f %% of the step\n", 100.0 * ( with - without ) / with );
	LimbFixture_Free( fixture );
	return 0;
}
