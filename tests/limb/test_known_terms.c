#include "limb/known_terms.h"

#include "base/random.h"
#include "evaluate/limb_player.h"
#include "limb/motions.h"

#include "check.h"

#include <stdlib.h>

static const double degree = 3.14159265358979323846 / 180.0;

static lmbTrajectories *Motions( const lmbArmDef *arm, int count, double duration, uint64_t seed )
{
	lmbPlant *plant = NULL;
	lmbTrajectories *set = NULL;
	lmbError error = { 0 };
	lmbJob job = { .threads = 2, .seed = seed };
	lmbPlantMotionDef def = lmbDefaultPlantMotionDef( lmb_plantMotionTorques );
	def.count = count;
	def.duration = duration;
	assert_int_equal( lmbPlant_MakeArm( arm, &plant, &error ), lmb_statusOk );
	assert_int_equal( lmbPlantMotions_Make( plant, &def, 1, &job, &set, &error ), lmb_statusOk );
	lmbPlant_Free( plant );
	return set;
}

static bool Equations( void *context, const double *q, const double *v, const double *u, double *a )
{
	return lmbPlant_Acceleration( context, q, v, u, a );
}

/* The error of the joint angles at the end of open-loop roll-outs by RK4 at 5 ms; the worst joint of all. */
static double WorstEnd( lmbPlant *plant, const lmbTrajectories *set )
{
	double worst = 0.0;
	lmbError error = { 0 };
	for ( int i = 0; i < set->count; ++i )
	{
		const lmbTrajectory *t = &set->items[i];
		lmbLimbPlayer player = lmbLimbPlayer_FromEquations( Equations, plant, 2, set->inputCount, 0.005 );
		size_t numbers = 2 * (size_t)t->sampleCount;
		lmbLimbRollout rollout = { .positions = calloc( numbers, sizeof( double ) ),
		                           .velocities = calloc( numbers, sizeof( double ) ) };
		assert_non_null( rollout.positions );
		assert_non_null( rollout.velocities );
		CHECK_INT( lmbLimbPlayer_Run( &player, t, set->hold, &rollout, &error ), lmb_statusOk );
		for ( size_t k = numbers - 2; k < numbers; ++k )
			worst = fmax( worst, fabs( rollout.positions[k] - t->positions[k] ) );
		free( rollout.positions );
		free( rollout.velocities );
	}
	return worst / degree;
}

typedef struct Case
{
	const char *name;
	lmbArmDef arm;
	int count;
} Case;

static const Case cases[] = {
    { "plain", { .bodyMass = 75, .bodyHeight = 1.75, .viscosity = { 0.2, 0.2 } }, 5 },
    { "gravity and friction",
      { .bodyMass = 60,
        .bodyHeight = 1.65,
        .female = true,
        .viscosity = { 0.3, 0.2 },
        .friction = { 0.3, 0.2 },
        .gravity = 9.81 },
      9 },
    { "limits",
      { .bodyMass = 75,
        .bodyHeight = 1.75,
        .viscosity = { 0.2, 0.2 },
        .limits = { { -0.8, 1.2 }, { 0.3, 2.2 } },
        .limitStiffness = 60.0,
        .limitDamping = 1.0 },
      7 },
    { "muscles", { .bodyMass = 75, .bodyHeight = 1.75, .viscosity = { 0.2, 0.2 }, .muscles = true }, 5 },
};

/* From exact data the parameters are exact: inertia as from the segments, everything else as set. The
 * residual of the least squares is rounding: 1e-16 of 100 N m, times the conditioning. */
static void FindsTheParameters( void **state )
{
	(void)state;
	for ( size_t c = 0; c < sizeof( cases ) / sizeof( cases[0] ); ++c )
	{
		lmbError error = { 0 };
		lmbKnownTermsReport report;
		lmbPlant *fitted = NULL;
		const lmbArmDef *arm = &cases[c].arm;
		lmbTrajectories *set = Motions( arm, 8, 2.0, 3 ), *test = Motions( arm, 3, 2.0, 99 );
		CHECK_INT( lmbKnownTerms_Fit( arm, set, 0.0, NULL, &fitted, &report, &error ), lmb_statusOk );
		CHECK_OR_STOP( fitted != NULL );
		CHECK_INT( report.count, cases[c].count );
		CHECK( report.residual < 1e-10 );
		CHECK_NEAR( report.samples, 8 * 200.0, 0.0 );
		for ( int i = 0; i < report.count; ++i )
			CHECK_NEAR( report.values[i] / report.truth[i], 1.0, 1e-9 );
		lmbSegment upper = lmbPlant_ArmSegment( arm, 0 ), fore = lmbPlant_ArmSegment( arm, 1 );
		CHECK_NEAR( report.values[1], fore.mass * upper.length * fore.centre, 1e-9 );
		CHECK_NEAR( report.values[2], fore.inertia + fore.mass * fore.centre * fore.centre, 1e-9 );
		CHECK_NEAR( report.values[3], arm->viscosity[0], 1e-9 );
		/* RK4 at 5 ms is what remains; friction's and muscles' turns within a step are its worst. */
		CHECK( WorstEnd( fitted, test ) < 0.05 );
		lmbPlant_Free( fitted );
		lmbTrajectories_Free( set );
		lmbTrajectories_Free( test );
	}
}

/* A fit with torques that are wrong by a share is wrong by that share. */
static void FollowsTheData( void **state )
{
	(void)state;
	lmbError error = { 0 };
	lmbKnownTermsReport report;
	lmbPlant *fitted = NULL, *copy = NULL;
	lmbTrajectories *set = Motions( &cases[0].arm, 3, 2.0, 3 );
	for ( int i = 0; i < set->count; ++i )
		for ( int k = 0; k < 400; ++k )
			set->items[i].inputs[k] *= 1.1;
	CHECK_INT( lmbKnownTerms_Fit( &cases[0].arm, set, 0.0, NULL, &fitted, &report, &error ), lmb_statusOk );
	CHECK_OR_STOP( fitted != NULL );
	for ( int i = 0; i < report.count; ++i )
		CHECK_NEAR( report.values[i] / report.truth[i], 1.1, 1e-9 );
	/* A copy has the parameters that were found, not the arm's. */
	CHECK_INT( lmbPlant_Copy( fitted, &copy, &error ), lmb_statusOk );
	double a[2], b[2], q[2] = { 0.3, 1.0 }, v[2] = { 1.0, -2.0 }, u[2] = { 1.0, 0.5 };
	CHECK( lmbPlant_Acceleration( fitted, q, v, u, a ) && lmbPlant_Acceleration( copy, q, v, u, b ) );
	CHECK_NEAR( b[0], a[0], 0.0 );
	lmbPlantTerms terms;
	CHECK( lmbPlant_Terms( copy, q, v, u, &terms ) );
	CHECK_NEAR( terms.mass[3], 1.1 * report.truth[2], 1e-9 );
	lmbPlant_Free( fitted );
	lmbPlant_Free( copy );
	lmbTrajectories_Free( set );
}

/* Angles alone, exact and with noise of 0.3 degrees. What the regression finds in the latter is a fifth off,
 * because noise becomes acceleration; then positions are compared with positions, which leaves the noise
 * itself and, of parameters, about noise / (1 rad sqrt( 6400 )) = 7e-5 times the conditioning. */
static void WorksFromAnglesAlone( void **state )
{
	(void)state;
	for ( int noisy = 0; noisy < 2; ++noisy )
	{
		lmbError error = { 0 };
		lmbKnownTermsReport report;
		lmbPlant *fitted = NULL;
		lmbTrajectories *set = Motions( &cases[0].arm, 8, 4.0, 3 );
		double noise = noisy == 1 ? 0.3 * degree : 0.0;
		lmbRandom random = lmbRandom_Seed( 1, 2 );
		for ( int i = 0; i < set->count; ++i )
		{
			for ( int k = 0; k < 800; ++k )
				set->items[i].positions[k] += noise * lmbRandom_Normal( &random );
			set->items[i].velocities = set->items[i].accelerations = NULL;
		}
		CHECK_INT( lmbKnownTerms_Fit( &cases[0].arm, set, noise, NULL, &fitted, &report, &error ),
		           lmb_statusOk );
		CHECK_OR_STOP( fitted != NULL );
		for ( int i = 0; i < report.count; ++i )
		{
			printf( "  %s: %.5f, true %.5f\n", report.names[i], report.values[i], report.truth[i] );
			CHECK_NEAR( report.values[i] / report.truth[i], 1.0, noisy == 1 ? 0.01 : 1e-5 );
		}
		CHECK_NEAR( report.positionResidual, noise, noisy == 1 ? 0.03 * noise : 1e-7 );
		lmbPlant_Free( fitted );
		lmbTrajectories_Free( set );
	}
}

/* A double pendulum in absolute angles, as textbooks have it, with gravity askew and dry friction:
 *   M = [[1, b cos d], [b cos d, c]], d = q1 - q2, torques of viscosity and friction at the hinges. */
static const double pendulumB = 0.49, pendulumC = 0.56, pendulumG[2] = { 58.9, 27.8 }, pendulumTilt = 0.2,
                    pendulumViscosity[2] = { 0.03, 0.02 }, pendulumFriction[2] = { 0.3, 0.1 };

static void PendulumAcceleration( const double *q, const double *v, const double *u, double *a )
{
	double d = q[0] - q[1], speeds[2] = { v[0], v[1] - v[0] }, hinge[2];
	for ( int j = 0; j < 2; ++j )
		hinge[j] = pendulumViscosity[j] * speeds[j] + pendulumFriction[j] * tanh( speeds[j] / 0.1 );
	double m = pendulumB * cos( d );
	double first = u[0] - pendulumB * sin( d ) * v[1] * v[1] - pendulumG[0] * sin( q[0] - pendulumTilt ) -
	               hinge[0] + hinge[1];
	double second =
	    u[1] + pendulumB * sin( d ) * v[0] * v[0] - pendulumG[1] * sin( q[1] - pendulumTilt ) - hinge[1];
	a[0] = ( pendulumC * first - m * second ) / ( pendulumC - m * m );
	a[1] = ( second - m * first ) / ( pendulumC - m * m );
}

static lmbTrajectories *PendulumSwings( bool driven, bool measured )
{
	enum
	{
		swings = 6,
		samples = 200,
		inner = 10
	};
	lmbTrajectories *set = NULL;
	lmbError error = { 0 };
	lmbRandom random = lmbRandom_Seed( 5, 6 );
	assert_int_equal( lmbTrajectories_New( 2, driven ? 2 : 0, swings, &set, &error ), lmb_statusOk );
	for ( int t = 0; t < swings; ++t )
	{
		assert_int_equal(
		    lmbTrajectories_Allocate( set, t, "swing", samples, 0.01, measured, measured, &error ),
		    lmb_statusOk );
		lmbTrajectory *item = &set->items[t];
		double x[4], u[2] = { 0 };
		for ( int i = 0; i < 4; ++i )
			x[i] = ( i < 2 ? 2.0 : 4.0 ) * ( 2.0 * lmbRandom_Uniform( &random ) - 1.0 );
		for ( int k = 0; k < samples; ++k )
		{
			for ( int i = 0; i < 2 && driven; ++i )
				item->inputs[2 * k + i] = u[i] = 5.0 * sin( 0.1 * k * ( i + 1 ) + t );
			memcpy( item->positions + (ptrdiff_t)2 * k, x, 2 * sizeof( double ) );
			if ( measured )
			{
				memcpy( item->velocities + (ptrdiff_t)2 * k, x + 2, 2 * sizeof( double ) );
				PendulumAcceleration( x, x + 2, u, item->accelerations + (ptrdiff_t)2 * k );
			}
			for ( int s = 0; s < inner; ++s )
			{
				double slopes[4][4], y[4], dt = 0.01 / inner;
				memcpy( y, x, sizeof( y ) );
				for ( int stage = 0; stage < 4; ++stage )
				{
					slopes[stage][0] = y[2];
					slopes[stage][1] = y[3];
					PendulumAcceleration( y, y + 2, u, &slopes[stage][2] );
					for ( int i = 0; i < 4 && stage < 3; ++i )
						y[i] = x[i] + ( stage == 2 ? 1.0 : 0.5 ) * dt * slopes[stage][i];
				}
				for ( int i = 0; i < 4; ++i )
					x[i] +=
					    dt / 6.0 * ( slopes[0][i] + 2.0 * slopes[1][i] + 2.0 * slopes[2][i] + slopes[3][i] );
			}
		}
	}
	return set;
}

/* Accelerations of textbook and fit, in states that were not among the swings. */
static double WorstAcceleration( lmbPlant *plant, const double *u )
{
	double worst = 0.0;
	lmbRandom random = lmbRandom_Seed( 7, 8 );
	for ( int k = 0; k < 100; ++k )
	{
		double x[4], truth[2], found[2];
		for ( int i = 0; i < 4; ++i )
			x[i] = ( i < 2 ? 3.0 : 8.0 ) * ( 2.0 * lmbRandom_Uniform( &random ) - 1.0 );
		PendulumAcceleration( x, x + 2, u, truth );
		CHECK( lmbKnownTerms_Absolute( plant, x, x + 2, u, found ) );
		worst = fmax( worst, fmax( fabs( found[0] - truth[0] ), fabs( found[1] - truth[1] ) ) );
	}
	return worst;
}

/* Driven, accelerations known: rounding. Free: the same, the ratios of eleven numbers. From angles alone:
 * what integration at 5 ms leaves of friction's turns within a step, of accelerations of 100 rad/s^2. */
static void FindsTheSegmentsOfRecordings( void **state )
{
	(void)state;
	for ( int kind = 0; kind < 3; ++kind )
	{
		bool driven = kind == 0, measured = kind < 2;
		const double none[2] = { 0.0, 0.0 }, some[2] = { 3.0, -2.0 };
		lmbError error = { 0 };
		lmbKnownTermsReport report;
		lmbPlant *fitted = NULL;
		lmbTrajectories *set = PendulumSwings( driven, measured );
		CHECK_INT( lmbKnownTerms_FitSegments( set, true, 0.0, NULL, &fitted, &report, &error ),
		           lmb_statusOk );
		CHECK_OR_STOP( fitted != NULL );
		CHECK_INT( report.count, driven ? 11 : 10 );
		CHECK_NEAR( WorstAcceleration( fitted, driven ? some : none ), 0.0, measured ? 1e-8 : 0.05 );
		/* Numbers by name: relative angles have the inertia 1 + c at the first hinge, which free counts as 1.
		 */
		double unit = driven ? 1.0 : 1.0 / ( 1.0 + pendulumC );
		double off = measured ? 1e-9 : 1e-3;
		for ( int i = 0; i < report.count; ++i )
		{
			double truth = strcmp( report.names[i], "inertia that couples" ) == 0   ? pendulumB
			               : strcmp( report.names[i], "inertia at the elbow" ) == 0 ? pendulumC
			               : strcmp( report.names[i], "elbow friction" ) == 0       ? pendulumFriction[1]
			                                                                        : NAN;
			if ( !isnan( truth ) )
				CHECK_NEAR( report.values[i], unit * truth, off );
		}
		/* What gravity does is the slope of the energy. */
		lmbPlantTerms terms;
		double q[2] = { 0.4, -1.1 }, still[2] = { 0.0, 0.0 };
		CHECK( lmbPlant_Terms( fitted, q, still, none, &terms ) );
		for ( int i = 0; i < 2; ++i )
		{
			double up[2] = { q[0], q[1] }, down[2] = { q[0], q[1] };
			up[i] += 1e-5;
			down[i] -= 1e-5;
			double slope =
			    ( lmbPlant_Energy( fitted, up, still ) - lmbPlant_Energy( fitted, down, still ) ) / 2e-5;
			CHECK_NEAR( terms.gravity[i], slope, 1e-6 );
		}
		lmbPlant_Free( fitted );
		lmbTrajectories_Free( set );
	}
	lmbError error = { 0 };
	lmbPlant *fitted = NULL;
	lmbTrajectories *set = NULL;
	CHECK_OR_STOP( lmbTrajectories_New( 3, 0, 1, &set, &error ) == lmb_statusOk );
	CHECK_INT( lmbKnownTerms_FitSegments( set, false, 0.0, NULL, &fitted, NULL, &error ),
	           lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "3 degrees of freedom" );
	lmbTrajectories_Free( set );
}

static void RefusesWhatDoesNotTell( void **state )
{
	(void)state;
	lmbError error = { 0 };
	lmbPlant *fitted = NULL;
	lmbTrajectories *set = Motions( &cases[0].arm, 1, 1.0, 3 );
	CHECK_INT( lmbKnownTerms_Fit( &cases[3].arm, set, 0.0, NULL, &fitted, NULL, &error ),
	           lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "6" );
	/* Standing still tells nothing. */
	for ( int k = 0; k < 200; ++k )
		set->items[0].velocities[k] = set->items[0].accelerations[k] = set->items[0].inputs[k] = 0.0;
	CHECK_INT( lmbKnownTerms_Fit( &cases[0].arm, set, 0.0, NULL, &fitted, NULL, &error ),
	           lmb_statusNumerical );
	CHECK_CONTAINS( error.message, "of the arm's 5 parameters" );
	CHECK( fitted == NULL );
	atomic_bool cancelled = true;
	lmbJob job = { .cancelled = &cancelled };
	CHECK_INT( lmbKnownTerms_Fit( &cases[0].arm, set, 0.0, &job, &fitted, NULL, &error ),
	           lmb_statusCancelled );
	lmbTrajectories_Free( set );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( FindsTheParameters ), CHECK_TEST( FollowsTheData ), CHECK_TEST( WorksFromAnglesAlone ),
	    CHECK_TEST( FindsTheSegmentsOfRecordings ), CHECK_TEST( RefusesWhatDoesNotTell ) };
	return CHECK_RUN( tests );
}
