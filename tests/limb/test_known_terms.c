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
	const struct CMUnitTest tests[] = { CHECK_TEST( FindsTheParameters ), CHECK_TEST( FollowsTheData ),
	                                    CHECK_TEST( WorksFromAnglesAlone ),
	                                    CHECK_TEST( RefusesWhatDoesNotTell ) };
	return CHECK_RUN( tests );
}
