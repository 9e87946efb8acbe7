/* Numbers of limb roll-outs against cases that can be computed by hand. */
#include "check.h"

#include "evaluate/limb_player.h"
#include "evaluate/limb_report.h"

static const double degree = 3.14159265358979323846 / 180.0;

/* A plant whose terms are plain numbers: the interaction torque can be computed by hand. The library's own
 * plants are not linked into this test. */
bool lmbPlant_Terms( lmbPlant *plant, const double *q, const double *v, const double *u, lmbPlantTerms *out )
{
	(void)plant;
	(void)u;
	*out = ( lmbPlantTerms ){ .mass = { 3.0, 0.5 + q[1], 0.5 + q[1], 2.0 }, .bias = { v[1], -v[0] * v[0] } };
	return true;
}

enum
{
	samples = 1001,
	dofs = 2
};

static double truthPositions[samples * dofs], positions[samples * dofs], velocities[samples * dofs];
static const bool noSlides[dofs] = { false, false };

static lmbTrajectory Still( int count )
{
	memset( truthPositions, 0, sizeof( truthPositions ) );
	memset( positions, 0, sizeof( positions ) );
	memset( velocities, 0, sizeof( velocities ) );
	return ( lmbTrajectory ){
	    .name = "still", .sampleCount = count, .step = 0.01, .positions = truthPositions };
}

static lmbLimbRollout Rollout( int count )
{
	return ( lmbLimbRollout ){ positions, velocities, count };
}

static void ErrorsAreThoseAtTheirTimes( void **state )
{
	(void)state;
	lmbTrajectory truth = Still( samples );
	lmbLimbRollout rollout = Rollout( samples );
	/* 3 and 4 degrees: sqrt( ( 9 + 16 ) / 2 ). The samples beside are different. */
	positions[100 * dofs] = 3.0 * degree;
	positions[100 * dofs + 1] = -4.0 * degree;
	positions[99 * dofs] = positions[101 * dofs] = 50.0 * degree;
	positions[500 * dofs] = 1.0 * degree;
	positions[700 * dofs + 1] = 7.0 * degree;
	lmbLimbErrors errors = lmbLimbErrors_Of( &truth, &rollout, dofs, noSlides, 7.0 );
	CHECK_NEAR( errors.rmse[0], sqrt( 12.5 ), 1e-12 );
	CHECK_NEAR( errors.rmse[1], sqrt( 0.5 ), 1e-12 );
	CHECK_NEAR( errors.rmse[2], 0.0, 0.0 );
	CHECK_NEAR( errors.judged, sqrt( 24.5 ), 1e-12 );
	CHECK( !errors.diverged );
	/* A slide is no angle. */
	const bool second[dofs] = { false, true };
	CHECK_NEAR( lmbLimbErrors_Of( &truth, &rollout, dofs, second, NAN ).rmse[0], 3.0, 1e-12 );
	/* Shorter than a time: no number. */
	truth.sampleCount = 501;
	errors = lmbLimbErrors_Of( &truth, &rollout, dofs, noSlides, NAN );
	CHECK_NEAR( errors.rmse[1], sqrt( 0.5 ), 1e-12 );
	CHECK( isnan( errors.rmse[2] ) && isnan( errors.judged ) );
	truth.sampleCount = 500;
	CHECK( isnan( lmbLimbErrors_Of( &truth, &rollout, dofs, noSlides, NAN ).rmse[1] ) );
}

static void DivergedRolloutsCountWithTheCap( void **state )
{
	(void)state;
	lmbTrajectory truth = Still( samples );
	lmbLimbRollout rollout = Rollout( samples );
	/* Half a turn off at 3 s, and by chance right again at 5 s: no way back. Angles do not wrap. */
	positions[300 * dofs] = 360.0 * degree;
	lmbLimbErrors errors = lmbLimbErrors_Of( &truth, &rollout, dofs, noSlides, 2.99 );
	CHECK( errors.diverged );
	CHECK_NEAR( errors.rmse[0], 0.0, 0.0 );
	CHECK_NEAR( errors.rmse[1], lmbLimbErrorCap, 0.0 );
	CHECK_NEAR( errors.rmse[2], lmbLimbErrorCap, 0.0 );
	CHECK_NEAR( errors.judged, 0.0, 0.0 );
	/* Just below half a turn it has not. */
	positions[300 * dofs] = 179.9 * degree;
	CHECK( !lmbLimbErrors_Of( &truth, &rollout, dofs, noSlides, NAN ).diverged );
	/* Neither a NaN nor a model that gives up gets away. */
	positions[300 * dofs] = NAN;
	errors = lmbLimbErrors_Of( &truth, &rollout, dofs, noSlides, NAN );
	CHECK( errors.diverged );
	CHECK_NEAR( errors.rmse[2], lmbLimbErrorCap, 0.0 );
	positions[300 * dofs] = 0.0;
	rollout.finiteCount = 1000;
	errors = lmbLimbErrors_Of( &truth, &rollout, dofs, noSlides, NAN );
	CHECK( errors.diverged );
	CHECK_NEAR( errors.rmse[1], 0.0, 0.0 );
	CHECK_NEAR( errors.rmse[2], lmbLimbErrorCap, 0.0 );
	/* What happens behind the last time does not matter. */
	truth.sampleCount = 1;
	rollout.finiteCount = 1;
	CHECK( !lmbLimbErrors_Of( &truth, &rollout, dofs, noSlides, NAN ).diverged );
}

static void WholeRolloutsByHand( void **state )
{
	(void)state;
	lmbTrajectory truth = Still( 101 );
	lmbLimbRollout rollout = Rollout( 101 );
	/* 3 and 4 degrees at one sample of 101, and 5.7 at another: 0.09949 rad, still valid by a hair. */
	positions[10 * dofs] = 3.0 * degree;
	positions[10 * dofs + 1] = -4.0 * degree;
	positions[60 * dofs + 1] = 5.7 * degree;
	lmbLimbErrors errors = lmbLimbErrors_Of( &truth, &rollout, dofs, noSlides, NAN );
	CHECK_NEAR( errors.whole, sqrt( ( 12.5 + 0.5 * 5.7 * 5.7 ) / 101.0 ), 1e-12 );
	CHECK_NEAR( errors.valid, 1.0, 1e-12 );
	/* 0.06 and 0.08 rad: the squares are 0.01 together. */
	positions[60 * dofs] = 0.0600001;
	positions[60 * dofs + 1] = 0.08;
	CHECK_NEAR( lmbLimbErrors_Of( &truth, &rollout, dofs, noSlides, NAN ).valid, 0.6, 1e-12 );
	/* A slide is no angle. */
	const bool second[dofs] = { false, true };
	CHECK_NEAR( lmbLimbErrors_Of( &truth, &rollout, dofs, second, NAN ).valid, 1.0, 1e-12 );
	/* From where it gives up, the cap counts. */
	memset( positions, 0, sizeof( positions ) );
	rollout.finiteCount = 51;
	errors = lmbLimbErrors_Of( &truth, &rollout, dofs, noSlides, NAN );
	CHECK_NEAR( errors.valid, 0.51, 1e-12 );
	CHECK_NEAR( errors.whole, lmbLimbErrorCap * sqrt( 50.0 / 101.0 ), 1e-10 );
}

static void SummariesLeaveNothingOut( void **state )
{
	(void)state;
	const lmbLimbErrors errors[4] = {
	    { .rmse = { 1.0, 5.0, NAN }, .judged = 1.0, .whole = 3.0, .valid = 4.0 },
	    { .rmse = { 2.0, 180.0, NAN }, .judged = 2.0, .diverged = true },
	    { .rmse = { 9.0, 7.0, NAN }, .judged = 9.0 },
	    { .rmse = { 4.0, NAN, NAN }, .judged = NAN } };
	lmbLimbSummary summary;
	lmbError error = { 0 };
	CHECK_OR_STOP( lmbLimbSummary_Of( errors, 4, &summary, &error ) == lmb_statusOk );
	CHECK_NEAR( summary.mean[0], 4.0, 1e-15 );
	CHECK_NEAR( summary.median[0], 3.0, 0.0 );
	CHECK_NEAR( summary.mean[1], 64.0, 1e-13 );
	CHECK_NEAR( summary.median[1], 7.0, 0.0 );
	CHECK( isnan( summary.mean[2] ) && isnan( summary.median[2] ) );
	CHECK_NEAR( summary.judgedMean, 4.0, 1e-15 );
	CHECK_NEAR( summary.judgedMedian, 2.0, 0.0 );
	CHECK_NEAR( summary.wholeMean, 0.75, 1e-15 );
	CHECK_NEAR( summary.wholeMedian, 0.0, 0.0 );
	CHECK_NEAR( summary.validMean, 1.0, 1e-15 );
	CHECK_NEAR( summary.diverged, 0.25, 0.0 );
	CHECK_INT( summary.count, 4 );
}

static void RankCorrelationOfKnownCases( void **state )
{
	(void)state;
	lmbError error = { 0 };
	double rank;
	const double up[] = { 1, 10, 100, 1000, 2000 }, down[] = { 5, 4, 3, 2, 1 };
	CHECK( lmbSpearman( up, up, 5, &rank, &error ) == lmb_statusOk );
	CHECK_NEAR( rank, 1.0, 1e-15 );
	CHECK( lmbSpearman( up, down, 5, &rank, &error ) == lmb_statusOk );
	CHECK_NEAR( rank, -1.0, 1e-15 );
	/* 1 - 6 sum d^2 / ( n ( n^2 - 1 ) ), d = 1, 1, 1, 1, 0. */
	const double swapped[] = { 2, 1, 4, 3, 5 };
	CHECK( lmbSpearman( up, swapped, 5, &rank, &error ) == lmb_statusOk );
	CHECK_NEAR( rank, 1.0 - 24.0 / 120.0, 1e-15 );
	/* Ties share the mean rank: 1, 2.5, 2.5, 4 with 1, 2, 3, 4: 4.5 / sqrt( 4.5 * 5 ). */
	const double ties[] = { 0, 1, 1, 7 }, order[] = { 1, 2, 3, 4 };
	CHECK( lmbSpearman( ties, order, 4, &rank, &error ) == lmb_statusOk );
	CHECK_NEAR( rank, 4.5 / sqrt( 22.5 ), 1e-15 );
	const double flat[] = { 3, 3, 3 };
	CHECK( lmbSpearman( flat, order, 3, &rank, &error ) == lmb_statusOk );
	CHECK( isnan( rank ) );
	CHECK( lmbSpearman( NULL, NULL, 0, &rank, &error ) == lmb_statusOk );
	CHECK( isnan( rank ) );
}

static void InteractionTorqueByHand( void **state )
{
	(void)state;
	double truthQ[] = { 0, 0, 0, 0.2 }, truthV[] = { 1, 2, 3, 2 };
	double modelQ[] = { 0, 0, 0, 0.2 }, modelV[] = { 1, 2, 2, 2 };
	double inputs[4] = { 0 };
	lmbPlant plant = { .dofCount = 2, .inputCount = 2 };
	lmbTrajectory truth = { .name = "a",
	                        .sampleCount = 2,
	                        .step = 0.1,
	                        .positions = truthQ,
	                        .velocities = truthV,
	                        .inputs = inputs };
	lmbLimbRollout rollout = { modelQ, modelV, 2 };
	lmbLimbInteraction sums = { 0 };
	/* Elbow: M_10 a_0 + bias_1 with M_10 = 0.5 + 0.1; truth: a_0 = 20, bias -4: 8. Model: a_0 = 10, bias
	 * -1.5^2: 3.75. */
	CHECK( lmbLimbInteraction_Add( &sums, &plant, &truth, &rollout, 1, 0, 1 ) );
	CHECK_NEAR( sums.truth, 64.0, 1e-12 );
	CHECK_NEAR( sums.difference, 4.25 * 4.25, 1e-12 );
	/* Shoulder: M_01 a_1 + bias_0, a_1 = 0: 2 for both. */
	sums = ( lmbLimbInteraction ){ 0 };
	CHECK( lmbLimbInteraction_Add( &sums, &plant, &truth, &rollout, 0, 0, 1 ) );
	CHECK_NEAR( sums.truth, 4.0, 1e-12 );
	CHECK_NEAR( sums.difference, 0.0, 1e-24 );
	/* A model that gave up misses all of it. */
	rollout.finiteCount = 1;
	sums = ( lmbLimbInteraction ){ 0 };
	CHECK( lmbLimbInteraction_Add( &sums, &plant, &truth, &rollout, 1, 0, 1 ) );
	CHECK_NEAR( sums.difference, sums.truth, 0.0 );
}

static void PulsesAreFoundByTheirTwins( void **state )
{
	(void)state;
	double plain[10] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 }, elbow[10], both[10];
	memcpy( elbow, plain, sizeof( plain ) );
	memcpy( both, plain, sizeof( plain ) );
	elbow[3] += 1.0; /* samples 1 and 2 of the second input */
	elbow[5] += 1.0;
	both[2] += 1.0;
	both[5] += 1.0;
	lmbTrajectory items[] = { { .name = "reach 1", .sampleCount = 5, .inputs = plain },
	                          { .name = "reach 1 + pulse at the elbow", .sampleCount = 5, .inputs = elbow },
	                          { .name = "reach 1 + pulse at both", .sampleCount = 5, .inputs = both },
	                          { .name = "reach 10 + pulse", .sampleCount = 5, .inputs = elbow },
	                          { .name = "reach 1 + pulse of nothing", .sampleCount = 5, .inputs = plain } };
	lmbTrajectories set = { .dofCount = 2, .inputCount = 2, .count = 5, .items = items };
	lmbLimbPulse pulse;
	CHECK( !lmbLimbPulse_Find( &set, 0, &pulse ) );
	CHECK_OR_STOP( lmbLimbPulse_Find( &set, 1, &pulse ) );
	CHECK_INT( pulse.input, 1 );
	CHECK_INT( pulse.first, 1 );
	CHECK_INT( pulse.end, 3 );
	CHECK( !lmbLimbPulse_Find( &set, 2, &pulse ) );
	CHECK( !lmbLimbPulse_Find( &set, 3, &pulse ) );
	CHECK( !lmbLimbPulse_Find( &set, 4, &pulse ) );
}

/* A harmonic oscillator with 2 rad/s, and one that explodes. */
static bool Spring( void *context, const double *q, const double *v, const double *u, double *a )
{
	(void)v;
	*(int *)context += 1;
	a[0] = -4.0 * q[0] + u[0];
	return true;
}

static bool Explosion( void *context, const double *q, const double *v, const double *u, double *a )
{
	(void)context;
	(void)v;
	(void)u;
	a[0] = q[0] * q[0] * q[0];
	return isfinite( a[0] );
}

/* A spring around 0.25 from a start whose speed was measured badly: the positions of the first second tell
 * the start. Four numbers of a linear motion: what is left is RK4's error and the differences' rounding. */
static void StartsAreFittedToPositions( void **state )
{
	(void)state;
	enum
	{
		count = 101
	};
	double q[count], v[count] = { 0.3 }, u[count], start[2];
	lmbTrajectory trajectory = {
	    .name = "x", .sampleCount = count, .step = 0.02, .positions = q, .velocities = v, .inputs = u };
	for ( int k = 0; k < count; ++k )
	{
		u[k] = 1.0;
		q[k] = 0.25 + 0.25 * cos( 0.04 * k ) - 0.5 * sin( 0.04 * k );
	}
	int calls = 0;
	lmbError error = { 0 };
	lmbLimbPlayer player = lmbLimbPlayer_FromEquations( Spring, &calls, 1, 1, 0.01 );
	CHECK_INT( lmbLimbPlayer_FitStart( &player, &trajectory, lmb_inputHeld, 1.0, start, &error ),
	           lmb_statusOk );
	CHECK_NEAR( start[0], 0.5, 1e-7 );
	CHECK_NEAR( start[1], -1.0, 1e-7 );
	/* What comes later does not matter; what comes so early does. */
	q[51] += 1.0;
	CHECK_INT( lmbLimbPlayer_FitStart( &player, &trajectory, lmb_inputHeld, 1.0, start, &error ),
	           lmb_statusOk );
	CHECK_NEAR( start[1], -1.0, 1e-7 );
	q[50] += 1.0;
	CHECK_INT( lmbLimbPlayer_FitStart( &player, &trajectory, lmb_inputHeld, 1.0, start, &error ),
	           lmb_statusOk );
	CHECK( fabs( start[1] + 1.0 ) > 1e-3 );
	/* Two samples say less than the start has numbers: as it was measured. */
	CHECK_INT( lmbLimbPlayer_FitStart( &player, &trajectory, lmb_inputHeld, 0.02, start, &error ),
	           lmb_statusOk );
	CHECK_NEAR( start[1], 0.3, 0.0 );
}

static void EquationsRollOutByRk4( void **state )
{
	(void)state;
	enum
	{
		count = 101
	};
	double q[count] = { 0.5 }, v[count] = { 0.0 }, u[count] = { 0 };
	double outQ[count], outV[count];
	lmbTrajectory trajectory = {
	    .name = "x", .sampleCount = count, .step = 0.02, .positions = q, .velocities = v, .inputs = u };
	for ( int k = 0; k < count; ++k )
		u[k] = 1.0; /* rests at 0.25 */
	double errors[2];
	for ( int turn = 0; turn < 2; ++turn )
	{
		int calls = 0;
		lmbError error = { 0 };
		lmbLimbRollout rollout = { outQ, outV, 0 };
		lmbLimbPlayer player = lmbLimbPlayer_FromEquations( Spring, &calls, 1, 1, turn == 0 ? 0.01 : 0.005 );
		CHECK_OR_STOP( lmbLimbPlayer_Run( &player, &trajectory, lmb_inputHeld, &rollout, &error ) ==
		               lmb_statusOk );
		/* 0.02 s are two steps of 0.01 s, or four of 0.005 s, whatever rounding says. */
		CHECK_INT( calls, 4 * 100 * ( turn == 0 ? 2 : 4 ) );
		CHECK_INT( rollout.finiteCount, count );
		errors[turn] = fabs( outQ[100] - ( 0.25 + 0.25 * cos( 4.0 ) ) );
	}
	/* Fourth order: a half step, a sixteenth of the error; the first must be far above rounding. */
	CHECK( errors[0] > 1e-10 );
	CHECK_NEAR( errors[0] / errors[1], 16.0, 1.0 );
	/* q'' = q^3 from 30 at rest reaches infinity in less than 0.1 s. */
	lmbError error = { 0 };
	q[0] = 30.0;
	lmbLimbRollout rollout = { outQ, outV, 0 };
	lmbLimbPlayer player = lmbLimbPlayer_FromEquations( Explosion, NULL, 1, 1, 0.005 );
	CHECK_INT( lmbLimbPlayer_Run( &player, &trajectory, lmb_inputHeld, &rollout, &error ), lmb_statusOk );
	CHECK( rollout.finiteCount < 20 && rollout.finiteCount >= 1 );
}

/* q'' = u with u straight between samples: RK4 is exact for it. */
static bool Push( void *context, const double *q, const double *v, const double *u, double *a )
{
	(void)context;
	(void)q;
	(void)v;
	a[0] = u[0];
	return true;
}

static void InputsGoStraightWhereAsked( void **state )
{
	(void)state;
	double q[2] = { 1.0 }, v[2] = { 0.0 }, u[2] = { 0.0, 6.0 }, outQ[2], outV[2];
	lmbTrajectory trajectory = {
	    .name = "x", .sampleCount = 2, .step = 1.0, .positions = q, .velocities = v, .inputs = u };
	lmbLimbRollout rollout = { outQ, outV, 0 };
	lmbLimbPlayer player = lmbLimbPlayer_FromEquations( Push, NULL, 1, 1, 0.3 );
	lmbError error = { 0 };
	CHECK_INT( lmbLimbPlayer_Run( &player, &trajectory, lmb_inputLinear, &rollout, &error ), lmb_statusOk );
	CHECK_NEAR( outV[1], 3.0, 1e-14 ); /* t^2 / 2 * 6, t^3 */
	CHECK_NEAR( outQ[1], 2.0, 1e-14 );
	CHECK_INT( lmbLimbPlayer_Run( &player, &trajectory, lmb_inputHeld, &rollout, &error ), lmb_statusOk );
	CHECK_NEAR( outV[1], 0.0, 0.0 );
}

static void MediansOverSeeds( void **state )
{
	(void)state;
	json_t *seeds[3];
	for ( int i = 0; i < 3; ++i )
		seeds[i] = json_pack( "{s:i, s:{s:f, s:f}, s:s}", "motions", 40, "rmse_deg_1s", "mean",
		                      i == 1 ? 100.0 : 1.0 * i, "median", 5.0 - i, "name", "x" );
	json_object_set_new( seeds[2], "only_here", json_real( 1.0 ) );
	json_object_set_new( seeds[0], "not_there", json_real( 1.0 ) );
	json_t *all = lmbLimbReport_Median( seeds, 3 );
	json_t *pair = json_object_get( all, "rmse_deg_1s" );
	CHECK_NEAR( json_number_value( json_object_get( pair, "mean" ) ), 2.0, 0.0 );
	CHECK_NEAR( json_number_value( json_object_get( pair, "median" ) ), 4.0, 0.0 );
	CHECK_INT( json_integer_value( json_object_get( all, "motions" ) ), 40 );
	CHECK( json_object_get( all, "only_here" ) == NULL && json_object_get( all, "not_there" ) == NULL );
	json_decref( all );
	for ( int i = 0; i < 3; ++i )
		json_decref( seeds[i] );
}

static void ReportHasTheAgreedKeys( void **state )
{
	(void)state;
	lmbLimbScore score = { .summary = { .count = 2,
	                                    .mean = { 1.0, 2.0, NAN },
	                                    .median = { 0.5, 1.5, NAN },
	                                    .judgedMean = 3.0,
	                                    .judgedMedian = 2.5,
	                                    .wholeMean = 1.25,
	                                    .validMedian = 0.75,
	                                    .diverged = 0.5 },
	                       .interactionError = 0.002,
	                       .trustRank = NAN };
	json_t *report = lmbLimbReport_Score( &score, false );
	CHECK_NEAR( json_number_value( json_object_get( json_object_get( report, "rmse_deg_1s" ), "median" ) ),
	            0.5, 0.0 );
	CHECK_NEAR( json_number_value( json_object_get( json_object_get( report, "rmse_deg_5s" ), "mean" ) ), 2.0,
	            0.0 );
	CHECK_NEAR( json_number_value( json_object_get( json_object_get( report, "rmse_deg_whole" ), "mean" ) ),
	            1.25, 0.0 );
	CHECK_NEAR( json_number_value( json_object_get( json_object_get( report, "valid_s" ), "median" ) ), 0.75,
	            0.0 );
	CHECK( json_object_get( report, "rmse_deg_10s" ) == NULL );
	CHECK( json_object_get( report, "rmse_deg_judged" ) == NULL );
	CHECK( json_object_get( report, "trust_rank_correlation" ) == NULL );
	CHECK_NEAR( json_number_value( json_object_get( report, "diverged" ) ), 0.5, 0.0 );
	CHECK_NEAR( json_number_value( json_object_get( report, "interaction_torque_error" ) ), 0.002, 0.0 );
	json_decref( report );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( ErrorsAreThoseAtTheirTimes ),
	    CHECK_TEST( DivergedRolloutsCountWithTheCap ),
	    CHECK_TEST( WholeRolloutsByHand ),
	    CHECK_TEST( SummariesLeaveNothingOut ),
	    CHECK_TEST( RankCorrelationOfKnownCases ),
	    CHECK_TEST( InteractionTorqueByHand ),
	    CHECK_TEST( PulsesAreFoundByTheirTwins ),
	    CHECK_TEST( EquationsRollOutByRk4 ),
	    CHECK_TEST( StartsAreFittedToPositions ),
	    CHECK_TEST( InputsGoStraightWhereAsked ),
	    CHECK_TEST( MediansOverSeeds ),
	    CHECK_TEST( ReportHasTheAgreedKeys ),
	};
	return CHECK_RUN( tests );
}
