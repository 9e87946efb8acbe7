#include "limb/motions.h"

#include "check.h"

#include <stdlib.h>

static const double degree = 3.14159265358979323846 / 180.0;

static lmbPlant *MakeArm( bool muscles )
{
	lmbPlant *plant = NULL;
	lmbError error = { 0 };
	lmbArmDef def = lmbDefaultArmDef();
	def.muscles = muscles;
	assert_int_equal( lmbPlant_MakeArm( &def, &plant, &error ), lmb_statusOk );
	return plant;
}

static lmbTrajectories *Make( const lmbPlant *plant, const lmbPlantMotionDef *defs, int count, int threads,
                              uint64_t seed )
{
	lmbTrajectories *set = NULL;
	lmbError error = { 0 };
	lmbJob job = { .threads = threads, .seed = seed };
	CHECK_INT( lmbPlantMotions_Make( plant, defs, count, &job, &set, &error ), lmb_statusOk );
	if ( set == NULL )
		printf( "%s\n", error.message );
	assert_non_null( set );
	return set;
}

static bool Same( const lmbTrajectory *a, const lmbTrajectory *b, int inputs )
{
	size_t n = 2 * (size_t)a->sampleCount * sizeof( double );
	return a->sampleCount == b->sampleCount && memcmp( a->positions, b->positions, n ) == 0 &&
	       memcmp( a->velocities, b->velocities, n ) == 0 &&
	       memcmp( a->accelerations, b->accelerations, n ) == 0 &&
	       memcmp( a->inputs, b->inputs, n / 2 * (size_t)inputs ) == 0;
}

/* The default is the study's; threads and neighbours change nothing; seeds and streams do. */
static void DependOnSeedAlone( void **state )
{
	(void)state;
	lmbPlant *plant = MakeArm( false );
	lmbPlantMotionDef defs[3] = { lmbDefaultPlantMotionDef( lmb_plantMotionTorques ),
	                              lmbDefaultPlantMotionDef( lmb_plantMotionReaches ),
	                              lmbDefaultPlantMotionDef( lmb_plantMotionSwings ) };
	CHECK_NEAR( defs[0].count * defs[0].rate * defs[0].duration, 1e5, 0.0 );
	for ( int d = 0; d < 3; ++d )
	{
		defs[d].count = 4;
		defs[d].duration = 2.0;
	}
	lmbTrajectories *one = Make( plant, defs, 3, 1, 5 ), *three = Make( plant, defs, 3, 3, 5 );
	lmbTrajectories *alone = Make( plant, defs + 1, 1, 2, 5 ), *other = Make( plant, defs, 3, 1, 6 );
	CHECK_INT( one->count, 12 );
	CHECK_CONTAINS( one->items[5].name, "reaches 002" );
	CHECK_CONTAINS( one->inputNames[1], "elbow torque" );
	CHECK( one->turns[0] && one->hold == lmb_inputHeld );
	CHECK_INT( one->items[0].sampleCount, 200 );
	for ( int i = 0; i < 12; ++i )
	{
		CHECK( Same( &one->items[i], &three->items[i], 2 ) );
		CHECK( !Same( &one->items[i], &other->items[i], 2 ) );
	}
	for ( int i = 0; i < 4; ++i )
		CHECK( Same( &one->items[4 + i], &alone->items[i], 2 ) );
	defs[0].stream = 1;
	lmbTrajectories *stream = Make( plant, defs, 1, 1, 5 );
	CHECK( !Same( &one->items[0], &stream->items[0], 2 ) );
	lmbTrajectories_Free( one );
	lmbTrajectories_Free( three );
	lmbTrajectories_Free( alone );
	lmbTrajectories_Free( other );
	lmbTrajectories_Free( stream );
	lmbPlant_Free( plant );
}

/* What acted is in the inputs: the motion under them, open loop, is the same to the bit. */
static void InputsAreAllThatActs( void **state )
{
	(void)state;
	for ( int muscles = 0; muscles < 2; ++muscles )
	{
		lmbPlant *plant = MakeArm( muscles == 1 );
		lmbError error = { 0 };
		lmbPlantMotionDef defs[2] = { lmbDefaultPlantMotionDef( lmb_plantMotionTorques ),
		                              lmbDefaultPlantMotionDef( lmb_plantMotionReaches ) };
		defs[0].count = defs[1].count = 2;
		lmbTrajectories *set = Make( plant, defs, 2, 1, 9 ), *again = Make( plant, defs, 2, 1, 9 );
		for ( int i = 0; i < 4; ++i )
		{
			lmbTrajectory *item = &again->items[i];
			size_t rest = 2 * (size_t)( item->sampleCount - 1 ) * sizeof( double );
			memset( item->positions + 2, 0, rest );
			memset( item->velocities + 2, 0, rest );
			memset( item->accelerations, 0, rest );
			CHECK_INT( lmbPlant_Integrate( plant, lmb_inputHeld, item, &error ), lmb_statusOk );
			CHECK( Same( item, &set->items[i], plant->inputCount ) );
		}
		lmbTrajectories_Free( set );
		lmbTrajectories_Free( again );
		lmbPlant_Free( plant );
	}
}

static double Farthest( const lmbPlant *plant, const lmbTrajectories *set )
{
	double far = 0.0;
	for ( int i = 0; i < set->count; ++i )
		for ( int k = 0; k < 2 * set->items[i].sampleCount; ++k )
		{
			double q = set->items[i].positions[k];
			far = fmax( far, fmax( plant->startRange[k % 2][0] - q, q - plant->startRange[k % 2][1] ) );
		}
	return far;
}

/* Bounded, band-limited, and kept near the range of starts. */
static void TorquesAreSmoothAndStay( void **state )
{
	(void)state;
	lmbPlant *plant = MakeArm( false );
	lmbPlantMotionDef def = lmbDefaultPlantMotionDef( lmb_plantMotionTorques );
	def.count = 20;
	lmbTrajectories *kept = Make( plant, &def, 1, 2, 1 );
	def.centring = 0.0;
	lmbTrajectories *let = Make( plant, &def, 1, 2, 1 );
	double largest = 0.0;
	for ( int i = 0; i < def.count; ++i )
		for ( int k = 0; k < 2 * let->items[i].sampleCount; ++k )
		{
			const double *u = let->items[i].inputs;
			double half = plant->inputRange[k % 2][1] * def.effort;
			largest = fmax( largest, fabs( u[k] ) / half );
			/* No wave is faster than the bandwidth. */
			if ( k >= 2 )
				CHECK( fabs( u[k] - u[k - 2] ) <= half * 2.0 * 3.1416 * def.bandwidth * 0.01 );
			CHECK( fabs( kept->items[i].inputs[k] ) <= plant->inputRange[k % 2][1] );
		}
	CHECK( largest > 0.5 && largest <= 1.0 );
	double with = Farthest( plant, kept ), without = Farthest( plant, let );
	printf( "  farthest from the range of starts: %.0f degrees, without centring %.0f\n", with / degree,
	        without / degree );
	CHECK( with < 90.0 * degree );
	CHECK( without > 2.0 * with );
	lmbTrajectories_Free( kept );
	lmbTrajectories_Free( let );
	lmbPlant_Free( plant );
}

/* When a joint has gone a share of its way, s. */
static double TimeOf( const lmbTrajectory *t, int joint, double share )
{
	double from = t->positions[joint], way = t->positions[2 * ( t->sampleCount - 1 ) + joint] - from;
	for ( int k = 1; k < t->sampleCount; ++k )
	{
		double before = ( t->positions[2 * k - 2 + joint] - from ) / way;
		double after = ( t->positions[2 * k + joint] - from ) / way;
		if ( after >= share )
			return ( k - 1 + ( share - before ) / ( after - before ) ) * t->step;
	}
	return -1.0;
}

/* Without noise a plan is followed, from rest to rest: a share of 0.1 and 0.9 of the way at 0.2466 and 0.7534
 * of the time (10 s^3 - 15 s^4 + 6 s^5), 1.875 times the mean speed in between. Inverse dynamics is exact at
 * samples; in between torques are held, which is as if they came 5 ms late: 1 % of a time of 0.6 s. */
static void ReachesFollowMinimumJerk( void **state )
{
	(void)state;
	lmbPlant *plant = MakeArm( false );
	lmbPlantMotionDef def = lmbDefaultPlantMotionDef( lmb_plantMotionReaches );
	def.count = 20;
	def.noise = 0.0;
	def.start.fastest = 0.0;
	def.restTime = 100.0;
	def.duration = 5.0;
	/* The first reach begins at once and the second not before the end. */
	lmbTrajectories *set = Make( plant, &def, 1, 2, 3 );
	double shortest = 9.0, longest = 0.0;
	for ( int i = 0; i < def.count; ++i )
	{
		const lmbTrajectory *t = &set->items[i];
		double times[2];
		for ( int j = 0; j < 2; ++j )
		{
			double last = t->positions[2 * 499 + j], way = last - t->positions[j];
			double early = TimeOf( t, j, 0.1 ), late = TimeOf( t, j, 0.9 );
			int middle = (int)( 50.0 * ( early + late ) + 0.5 );
			times[j] = ( late - early ) / 0.5068;
			CHECK_NEAR( t->positions[2 * middle + j], t->positions[j] + 0.5 * way,
			            0.003 + 0.03 * fabs( way ) );
			CHECK_NEAR( t->velocities[2 * middle + j], 1.875 * way / times[j],
			            0.003 + 0.03 * fabs( way / times[j] ) );
			CHECK_NEAR( early - 0.2466 * times[j], 0.0, 0.03 );
			CHECK_NEAR( t->velocities[2 * 499 + j], 0.0, 0.01 );
			CHECK( last > plant->startRange[j][0] && last < plant->startRange[j][1] );
			for ( int k = 0; k < 500; ++k )
				CHECK( fabs( t->inputs[2 * k + j] ) < plant->inputRange[j][1] );
		}
		CHECK_NEAR( times[0], times[1], 0.05 * times[0] );
		shortest = fmin( shortest, times[0] );
		longest = fmax( longest, times[0] );
	}
	printf( "  reaches of %.2f to %.2f s\n", shortest, longest );
	/* Short ways take the least time, long ones what the torques' range needs. */
	CHECK( shortest < 0.63 && longest > 0.8 );
	lmbTrajectories_Free( set );
	lmbPlant_Free( plant );
}

static void SwingsHaveNoInput( void **state )
{
	(void)state;
	lmbPlant *plant = MakeArm( true );
	lmbPlantMotionDef def = lmbDefaultPlantMotionDef( lmb_plantMotionSwings );
	def.count = 2;
	lmbTrajectories *set = Make( plant, &def, 1, 1, 3 );
	double moved = 0.0;
	for ( int k = 0; k < 6 * 500; ++k )
		CHECK_NEAR( set->items[1].inputs[k], 0.0, 0.0 );
	for ( int k = 0; k < 2 * 500; ++k )
		moved = fmax( moved, fabs( set->items[1].velocities[k] ) );
	CHECK( moved > 0.1 );
	lmbTrajectories_Free( set );
	lmbPlant_Free( plant );
}

/* Starts lie where they are said to, to both sides. */
static void StartsAreWhereTheyShouldBe( void **state )
{
	(void)state;
	lmbPlant *plant = MakeArm( false );
	lmbPlantMotionStart starts[3] = { lmbDefaultPlantMotionDef( lmb_plantMotionSwings ).start,
	                                  lmbNovelSpeeds(), lmbNovelPostures() };
	for ( int s = 0; s < 3; ++s )
	{
		lmbPlantMotionDef def = lmbDefaultPlantMotionDef( lmb_plantMotionSwings );
		def.start = starts[s];
		def.duration = 0.02;
		def.count = 100;
		lmbTrajectories *set = Make( plant, &def, 1, 1, 7 );
		int above = 0;
		for ( int i = 0; i < 2 * def.count; ++i )
		{
			const double *range = plant->startRange[i % 2];
			double half = 0.5 * ( range[1] - range[0] );
			double place = ( set->items[i / 2].positions[i % 2] - 0.5 * ( range[0] + range[1] ) ) / half;
			double speed = fabs( set->items[i / 2].velocities[i % 2] );
			above += place > 0.0;
			CHECK( fabs( place ) >= starts[s].inner - 1e-12 && fabs( place ) <= starts[s].outer + 1e-12 );
			CHECK( speed >= starts[s].slowest && speed <= starts[s].fastest );
		}
		CHECK( above > 70 && above < 130 );
		lmbTrajectories_Free( set );
	}
	lmbPlant_Free( plant );
}

/* One pair of twins: they differ by a pulse at one input, and by nothing before it. */
static void CheckTwins( const lmbPlant *plant, const lmbTrajectory *plain, const lmbTrajectory *pushed,
                        int pair )
{
	int input = pair % 2, first = -1, last = -1;
	for ( int k = 0; k < 200; ++k )
	{
		CHECK_NEAR( pushed->inputs[2 * k + 1 - input], plain->inputs[2 * k + 1 - input], 0.0 );
		double pulse = pushed->inputs[2 * k + input] - plain->inputs[2 * k + input];
		if ( fabs( pulse ) < 1e-9 )
			continue;
		double sign = pair / 2 % 2 == 0 ? 1.0 : -1.0;
		CHECK_NEAR( pulse, sign * 0.5 * plant->inputRange[input][1], 1e-12 );
		first = first < 0 ? k : first;
		last = k;
	}
	CHECK_INT( last - first, 9 );
	CHECK( first >= 0 && first <= 170 );
	for ( int k = 0; k < 2 * ( first + 1 ); ++k )
		CHECK_NEAR( pushed->positions[k], plain->positions[k], 0.0 );
	/* The interaction: the joint that is not pushed is moved as well. */
	double other =
	    pushed->velocities[2 * ( last + 1 ) + 1 - input] - plain->velocities[2 * ( last + 1 ) + 1 - input];
	CHECK( fabs( other ) > 0.02 );
}

static void ReachTestHasAllPairs( void **state )
{
	(void)state;
	lmbPlant *plant = MakeArm( false );
	lmbReachTestDef def = lmbDefaultReachTestDef();
	lmbTrajectories *set = NULL, *again = NULL;
	lmbError error = { 0 };
	lmbJob job = { .threads = 2, .seed = 4 };
	CHECK_INT( lmbPlantMotions_MakeReachTest( plant, &def, &job, &set, &error ), lmb_statusOk );
	CHECK_OR_STOP( set != NULL );
	CHECK_INT( set->count, 180 );
	CHECK_CONTAINS( set->items[0].name, "reach 01-02" );
	CHECK_CONTAINS( set->items[179].name, "reach 10-09 + pulse" );
	double worst = 0.0;
	for ( int pair = 0; pair < 90; ++pair )
	{
		const lmbTrajectory *plain = &set->items[2 * pair];
		int from = pair / 9, to = pair % 9;
		to += to >= from ? 1 : 0;
		/* Where the target's own reaches start. */
		const double *target = set->items[2 * 9 * to].positions;
		for ( int j = 0; j < 2; ++j )
		{
			CHECK_NEAR( plain->velocities[j], 0.0, 0.0 );
			worst = fmax( worst, fabs( plain->positions[2 * 199 + j] - target[j] ) );
		}
		CheckTwins( plant, plain, plain + 1, pair );
	}
	printf( "  farthest from a target: %.3f degrees\n", worst / degree );
	CHECK( worst < 0.1 * degree );
	/* Some of the pairs, another number of threads. */
	def.pairCount = 9;
	job.threads = 1;
	CHECK_INT( lmbPlantMotions_MakeReachTest( plant, &def, &job, &again, &error ), lmb_statusOk );
	CHECK_OR_STOP( again != NULL );
	CHECK_INT( again->count, 18 );
	CHECK_CONTAINS( again->items[2].name, "reach 02-03" );
	CHECK( Same( &again->items[0], &set->items[0], 2 ) );
	lmbTrajectories_Free( set );
	lmbTrajectories_Free( again );
	lmbPlant_Free( plant );
}

/* Muscles cannot be told torques; feedback still brings the arm to its targets. */
static void MusclesReachToo( void **state )
{
	(void)state;
	lmbPlant *plant = MakeArm( true );
	lmbReachTestDef def = lmbDefaultReachTestDef();
	lmbTrajectories *set = NULL;
	lmbError error = { 0 };
	lmbJob job = { .threads = 2, .seed = 4 };
	def.targetCount = 4;
	CHECK_INT( lmbPlantMotions_MakeReachTest( plant, &def, &job, &set, &error ), lmb_statusOk );
	CHECK_OR_STOP( set != NULL );
	double worst = 0.0;
	for ( int pair = 0; pair < 12; ++pair )
	{
		int from = pair / 3, to = pair % 3;
		to += to >= from ? 1 : 0;
		for ( int j = 0; j < 2; ++j )
			worst = fmax( worst, fabs( set->items[2 * pair].positions[2 * 199 + j] -
			                           set->items[2 * 3 * to].positions[j] ) );
	}
	for ( int i = 0; i < set->count; ++i )
		for ( int k = 0; k < 6 * 200; ++k )
			CHECK( set->items[i].inputs[k] >= 0.0 && set->items[i].inputs[k] <= 1.0 );
	printf( "  farthest from a target: %.1f degrees\n", worst / degree );
	CHECK( worst < 2.0 * degree );
	lmbTrajectories_Free( set );
	lmbPlant_Free( plant );
}

typedef struct Told
{
	double done, total;
	int calls;
} Told;

static void Progress( void *context, const char *unit, double done, double total, const char *detail )
{
	(void)detail;
	Told *told = context;
	CHECK_CONTAINS( unit, "motions" );
	CHECK_NEAR( done, told->done + 1.0, 0.0 );
	told->done = done;
	told->total = total;
	told->calls += 1;
}

static void WrongDefsAreTold( void **state )
{
	(void)state;
	lmbPlant *plant = MakeArm( false );
	lmbTrajectories *set = NULL;
	lmbError error = { 0 };
	lmbPlantMotionDef defs[2] = { lmbDefaultPlantMotionDef( lmb_plantMotionSwings ),
	                              lmbDefaultPlantMotionDef( lmb_plantMotionSwings ) };
	defs[0].count = defs[1].count = 3;
	CHECK_INT( lmbPlantMotions_Make( plant, defs, 2, NULL, &set, &error ), lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "\"swings 001\"" );
	CHECK( set == NULL );
	defs[1].rate = NAN;
	CHECK_INT( lmbPlantMotions_Make( plant, defs, 2, NULL, &set, &error ), lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "rate" );
	defs[0].start.inner = 2.0;
	CHECK_INT( lmbPlantMotions_Make( plant, defs, 1, NULL, &set, &error ), lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "inner start" );
	defs[0] = lmbDefaultPlantMotionDef( lmb_plantMotionTorques );
	defs[0].count = 5;
	atomic_bool cancelled = true;
	lmbJob job = { .threads = 2, .cancelled = &cancelled };
	CHECK_INT( lmbPlantMotions_Make( plant, defs, 1, &job, &set, &error ), lmb_statusCancelled );
	CHECK( set == NULL );
	Told told = { 0 };
	job = ( lmbJob ){ .threads = 2, .progress = Progress, .context = &told };
	CHECK_INT( lmbPlantMotions_Make( plant, defs, 1, &job, &set, &error ), lmb_statusOk );
	CHECK_INT( told.calls, 5 );
	CHECK_NEAR( told.total, 5.0, 0.0 );
	lmbTrajectories_Free( set );
	lmbReachTestDef pairs = lmbDefaultReachTestDef();
	pairs.targetCount = 1;
	CHECK_INT( lmbPlantMotions_MakeReachTest( plant, &pairs, NULL, &set, &error ),
	           lmb_statusInvalidArgument );
	pairs = lmbDefaultReachTestDef();
	pairs.pulse = INFINITY;
	CHECK_INT( lmbPlantMotions_MakeReachTest( plant, &pairs, NULL, &set, &error ),
	           lmb_statusInvalidArgument );
	lmbPlant_Free( plant );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( DependOnSeedAlone ),       CHECK_TEST( InputsAreAllThatActs ),
	    CHECK_TEST( TorquesAreSmoothAndStay ), CHECK_TEST( ReachesFollowMinimumJerk ),
	    CHECK_TEST( SwingsHaveNoInput ),       CHECK_TEST( StartsAreWhereTheyShouldBe ),
	    CHECK_TEST( ReachTestHasAllPairs ),    CHECK_TEST( MusclesReachToo ),
	    CHECK_TEST( WrongDefsAreTold ),
	};
	return CHECK_RUN( tests );
}
