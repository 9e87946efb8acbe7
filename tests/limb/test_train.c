#include "limb/train.h"

#include "base/files.h"
#include "check.h"
#include "limb/closed_arm.h"

#include <unistd.h>

static const ClosedArm flat = { .viscosity = 0.2 }, upright = { .viscosity = 0.2, .gravity = 9.81 };

typedef struct Model
{
	lmbLimb *limb;
	lmbLimbBody *body;
	char *data;
	size_t size;
	lmbArena arena;
} Model;

static void Path( char *path, size_t size, const char *name )
{
	snprintf( path, size, "%s/test-limb-%s-%d.safetensors", LMB_TEST_BUILD, name, (int)getpid() );
}

static Model Load( const char *path )
{
	Model model = { .arena = { 0 } };
	const char *problem = NULL;
	CHECK_OR_STOP( lmbFile_Read( path, &model.arena, &model.data, &model.size, NULL ) == lmb_statusOk );
	size_t size = lmbLimb_Size( model.data, model.size );
	lmbStatus status = lmbLimb_Load( model.data, model.size, lmbArena_New( &model.arena, 1, size ), size,
	                                 &model.limb, &problem );
	if ( status != lmb_statusOk )
		printf( "%s: %s\n", path, problem );
	CHECK_OR_STOP( status == lmb_statusOk );
	lmbLimbDef def = lmbDefaultLimbDef( model.limb );
	size = lmbLimbBody_Size( model.limb, &def );
	CHECK_OR_STOP( lmbLimbBody_Place( model.limb, &def, lmbArena_New( &model.arena, 1, size ), size,
	                                  &model.body ) == lmb_statusOk );
	return model;
}

/* RMS of the angles, degrees, over the runtime's open-loop replay of one trajectory. */
static double Replay( const Model *model, const lmbTrajectory *truth )
{
	double sum = 0.0, q[2], v[2];
	lmbLimbBody_Start( model->body, truth->positions, truth->velocities );
	for ( int s = 0; s + 1 < truth->sampleCount; ++s )
	{
		lmbLimbBody_Step( model->body, truth->inputs + 2 * s, NULL, truth->step );
		lmbLimbBody_State( model->body, q, v );
		for ( int i = 0; i < 2; ++i )
			sum += pow( q[i] - truth->positions[2 * s + 2 + i], 2.0 );
	}
	return 57.29577951308232 * sqrt( sum / ( 2.0 * ( truth->sampleCount - 1 ) ) );
}

static double MeanReplay( const Model *model, const lmbTrajectories *set )
{
	double sum = 0.0;
	for ( int i = 0; i < set->count; ++i )
		sum += Replay( model, &set->items[i] ) / set->count;
	return sum;
}

static lmbLimbTrainDef SmallDef( lmbLimbKind kind )
{
	lmbLimbTrainDef def = lmbDefaultLimbTrainDef( kind );
	def.width = 12;
	def.adamEpochs = 10;
	def.lbfgsIterations = 20; /* times five: the sets are small */
	return def;
}

/* Ten seconds of motion; the runtime's replay of motions never seen stays within a degree over two seconds
 * and accelerations are known to a percent of their size (which is about 40
 * rad/s^2).
 */
static void LearnsTheArmFromAccelerations( void **state )
{
	(void)state;
	checkSeed = 71;
	char path[4096];
	Path( path, sizeof( path ), "regression" );
	lmbTrajectories *set = ClosedArm_Set( &flat, &taughtStarts, 0.0, 10, 100, 0.01, true, checkSeed );
	lmbTrajectories *unseen = ClosedArm_Set( &flat, &taughtStarts, 0.0, 5, 200, 0.01, true, checkSeed + 1 );
	lmbLimbTrainDef def = SmallDef( lmb_limbLagrangian );
	def.lbfgsIterations = 60;
	def.potential = false;
	lmbLimbTrainReport report;
	lmbError error = { 0 };
	CHECK_INT( lmbLimb_Train( set, &def, &( lmbJob ){ .seed = 1 }, path, &report, &error ), lmb_statusOk );
	CHECK_OR_STOP( error.message[0] == '\0' );
	CHECK( report.usedInvariance );
	CHECK_INT( report.stopCount, 1 );
	CHECK( report.stopLoss < 0.4 && report.trainLoss < 0.4 );
	Model model = Load( path );
	CHECK( lmbLimb_Info( model.limb ).kind == lmb_limbLagrangian );
	CHECK_NEAR( lmbLimb_Info( model.limb ).step, 0.01, 0.0 );
	CHECK( MeanReplay( &model, unseen ) < 1.0 );
	/* The report's own number, from the file by the runtime: single precision changes it by 1e-6. */
	double sum = 0.0;
	int numbers = 0;
	for ( int i = 0; i < set->count; ++i )
		for ( int s = 0;
		      s < set->items[i].sampleCount && strcmp( set->items[i].name, report.stopNames[0] ) == 0; ++s )
		{
			double a[2];
			const lmbTrajectory *item = &set->items[i];
			CHECK_INT( lmbLimbBody_Acceleration( model.body, item->positions + 2 * s,
			                                     item->velocities + 2 * s, item->inputs + 2 * s, a ),
			           lmb_statusOk );
			for ( int k = 0; k < 2; ++k, ++numbers )
				sum += pow( a[k] - item->accelerations[2 * s + k], 2.0 );
		}
	CHECK_INT( numbers, 200 );
	CHECK_NEAR( sqrt( sum / numbers ), report.stopLoss, 1e-3 * report.stopLoss + 1e-4 );
	lmbArena_Free( &model.arena );
	ClosedArm_FreeSet( set );
	ClosedArm_FreeSet( unseen );
	remove( path );
}

/* With gravity the base angle matters, without it does not; told from the data. */
static void FindsWhetherTheBaseAngleMatters( void **state )
{
	(void)state;
	checkSeed = 72;
	char path[4096];
	Path( path, sizeof( path ), "gravity" );
	lmbTrajectories *set = ClosedArm_Set( &upright, &taughtStarts, 0.0, 10, 100, 0.01, true, checkSeed );
	lmbLimbTrainDef def = SmallDef( lmb_limbLagrangian );
	lmbLimbTrainReport report;
	CHECK_INT( lmbLimb_Train( set, &def, NULL, path, &report, NULL ), lmb_statusOk );
	CHECK( !report.usedInvariance );
	def.invariantBase = true;
	CHECK_INT( lmbLimb_Train( set, &def, NULL, path, &report, NULL ), lmb_statusOk );
	CHECK( report.usedInvariance );
	ClosedArm_FreeSet( set );
	remove( path );
}

/* Root mean square error of accelerations with the elbow bent as it never was, as a share of theirs. */
static double FarError( const Model *model )
{
	lmbRandom random = lmbRandom_Seed( 9, 0 );
	double off = 0.0, all = 0.0;
	for ( int s = 0; s < 400; ++s )
	{
		double q[2], v[2], u[2], a[2], truth[2];
		for ( int i = 0; i < 2; ++i )
		{
			q[i] = i == 0 ? 0.0 : -2.0 + 2.0 * lmbRandom_Uniform( &random );
			v[i] = 2.0 * lmbRandom_Normal( &random );
			u[i] = lmbRandom_Normal( &random );
		}
		ClosedArm_Acceleration( &flat, q, v, u, truth );
		CHECK_INT( lmbLimbBody_Acceleration( model->body, q, v, u, a ), lmb_statusOk );
		for ( int i = 0; i < 2; ++i )
		{
			off += ( a[i] - truth[i] ) * ( a[i] - truth[i] );
			all += truth[i] * truth[i];
		}
	}
	return sqrt( off / all );
}

/* Elbows of the data stay about 1.5 rad; judged at -2 to 0. A chain of rigid segments explains the data, so
 * it is what the network takes on beyond them. */
static void ChainHoldsBeyondTheData( void **state )
{
	(void)state;
	checkSeed = 79;
	static const StartRange bent = { { 0.5, 1.5 }, { 1.0, 0.3 }, 0.5 };
	char path[4096];
	double errors[2];
	Path( path, sizeof( path ), "chain" );
	lmbTrajectories *set = ClosedArm_Set( &flat, &bent, 0.0, 20, 30, 0.01, true, checkSeed );
	for ( int with = 0; with < 2; ++with )
	{
		lmbLimbTrainDef def = SmallDef( lmb_limbLagrangian );
		def.lbfgsIterations = 60;
		def.potential = false;
		def.findInvariance = false;
		def.invariantBase = true;
		def.chainPrior = with == 1;
		CHECK_INT( lmbLimb_Train( set, &def, NULL, path, NULL, NULL ), lmb_statusOk );
		Model model = Load( path );
		errors[with] = FarError( &model );
		lmbArena_Free( &model.arena );
	}
	printf( "accelerations beyond the data are off by %.3g without the chain, %.3g with it\n", errors[0],
	        errors[1] );
	CHECK( errors[1] < 0.05 );
	CHECK( errors[0] > 2.0 * errors[1] );
	ClosedArm_FreeSet( set );
	remove( path );
}

/* Torques recorded with a tenth of their own size of noise. Regression of accelerations finds too much
 * inertia (errors in variables); regression of torques does not, and keeps near what the least squares of a
 * chain say, of which noise is no refutation. */
static void NoisyTorquesDoNotBias( void **state )
{
	(void)state;
	checkSeed = 83;
	char path[4096];
	double errors[3];
	Path( path, sizeof( path ), "torques" );
	lmbTrajectories *set = ClosedArm_Set( &flat, &taughtStarts, 0.0, 40, 100, 0.01, true, checkSeed );
	lmbTrajectories *truth = ClosedArm_Set( &flat, &taughtStarts, 0.0, 10, 100, 0.01, true, checkSeed + 1 );
	double squares = 0.0;
	size_t count = 0;
	for ( int t = 0; t < set->count; ++t )
		for ( int k = 0; k < 2 * set->items[t].sampleCount; ++k, ++count )
			squares += set->items[t].inputs[k] * set->items[t].inputs[k];
	lmbRandom random = lmbRandom_Seed( checkSeed, 1 );
	for ( int t = 0; t < set->count; ++t )
		for ( int k = 0; k < 2 * set->items[t].sampleCount; ++k )
			set->items[t].inputs[k] += 0.1 * sqrt( squares / (double)count ) * lmbRandom_Normal( &random );
	for ( int way = 0; way < 3; ++way )
	{
		lmbLimbTrainDef def = SmallDef( lmb_limbLagrangian );
		def.potential = false;
		def.findInvariance = false;
		def.invariantBase = true;
		def.torqueNoise = way > 0;
		def.chainPrior = way == 2;
		CHECK_INT( lmbLimb_Train( set, &def, NULL, path, NULL, NULL ), lmb_statusOk );
		Model model = Load( path );
		errors[way] = MeanReplay( &model, truth );
		lmbArena_Free( &model.arena );
	}
	printf( "replays off by %.3g by accelerations, %.3g by torques, %.3g from a chain\n", errors[0],
	        errors[1], errors[2] );
	CHECK( errors[1] < 0.5 * errors[0] );
	CHECK( errors[2] < 0.5 * errors[0] );
	ClosedArm_FreeSet( set );
	ClosedArm_FreeSet( truth );
	remove( path );
}

/* The same file from one, two and three threads, byte for byte, for each way of training. */
static void ThreadsDoNotMatter( void **state )
{
	(void)state;
	checkSeed = 73;
	static const lmbLimbKind kinds[] = { lmb_limbLagrangian, lmb_limbPlain, lmb_limbAffine,
	                                     lmb_limbLagrangian, lmb_limbGru };
	lmbTrajectories *set = ClosedArm_Set( &flat, &taughtStarts, 0.0, 12, 60, 0.01, true, checkSeed );
	for ( int k = 0; k < 5; ++k )
	{
		char path[4096];
		lmbArena arena = { 0 };
		char *data[3] = { NULL };
		size_t sizes[3] = { 0 };
		Path( path, sizeof( path ), "threads" );
		for ( int t = 0; t < 3; ++t )
		{
			lmbLimbTrainDef def = SmallDef( kinds[k] );
			def.adamEpochs = 3;
			def.lbfgsIterations = 4;
			def.findInvariance = false;
			def.method = k == 3 ? lmb_limbMethodShooting : lmb_limbMethodAuto;
			def.window = 0.2;
			CHECK_INT(
			    lmbLimb_Train( set, &def, &( lmbJob ){ .threads = t + 1, .seed = 5 }, path, NULL, NULL ),
			    lmb_statusOk );
			CHECK_OR_STOP( lmbFile_Read( path, &arena, &data[t], &sizes[t], NULL ) == lmb_statusOk );
			CHECK_INT( sizes[t], sizes[0] );
			CHECK( memcmp( data[t], data[0], sizes[0] ) == 0 );
		}
		lmbArena_Free( &arena );
		remove( path );
	}
	ClosedArm_FreeSet( set );
}

/* Angles with 0.3 degrees of noise, nothing else: after the quick start, shooting is better, and replays
 * unseen motions within a degree over two seconds. */
static void LearnsFromNoisyAngles( void **state )
{
	(void)state;
	checkSeed = 74;
	char path[4096];
	Path( path, sizeof( path ), "shooting" );
	double noise = 0.3 / 57.29577951308232;
	lmbTrajectories *set = ClosedArm_Set( &flat, &taughtStarts, 0.0, 12, 150, 0.01, false, checkSeed );
	lmbTrajectories *unseen = ClosedArm_Set( &flat, &taughtStarts, 0.0, 8, 200, 0.01, true, checkSeed + 1 );
	lmbRandom random = lmbRandom_Seed( checkSeed, 9 );
	for ( int i = 0; i < set->count; ++i )
		for ( int k = 0; k < 300; ++k )
			set->items[i].positions[k] += noise * lmbRandom_Normal( &random );
	lmbLimbTrainDef def = SmallDef( lmb_limbLagrangian );
	def.noise = noise;
	def.invariantBase = true;
	def.potential = false;
	def.lbfgsIterations = 60;
	double error[2];
	for ( int k = 0; k < 2; ++k )
	{
		lmbLimbTrainReport report;
		def.method = k == 0 ? lmb_limbMethodRegression : lmb_limbMethodAuto;
		CHECK_INT( lmbLimb_Train( set, &def, &( lmbJob ){ .threads = 2 }, path, &report, NULL ),
		           lmb_statusOk );
		Model model = Load( path );
		error[k] = MeanReplay( &model, unseen );
		lmbArena_Free( &model.arena );
		/* The noise is all that is left: between 0.8 and 1.2 of it. */
		if ( k == 1 )
			CHECK_NEAR( report.stopLoss, noise, 0.2 * noise );
	}
	CHECK( error[1] < 1.0 );
	CHECK( error[1] < error[0] );
	ClosedArm_FreeSet( set );
	ClosedArm_FreeSet( unseen );
	remove( path );
}

/* A recurrent model's reported error is what the runtime makes of its file: PyTorch's equations, the start
 * network and the read-out, in single precision, agree over whole trajectories to a thousandth. */
static void RecurrentReportsWhatTheRuntimeDoes( void **state )
{
	(void)state;
	checkSeed = 75;
	lmbTrajectories *set = ClosedArm_Set( &flat, &taughtStarts, 0.0, 20, 60, 0.01, true, checkSeed );
	for ( int k = 0; k < 2; ++k )
	{
		char path[4096];
		Path( path, sizeof( path ), "recurrent" );
		lmbLimbTrainDef def = lmbDefaultLimbTrainDef( k == 0 ? lmb_limbGru : lmb_limbLstm );
		def.hiddenLayers = 2;
		def.width = 10;
		def.adamEpochs = 80;
		lmbLimbTrainReport report;
		CHECK_INT( lmbLimb_Train( set, &def, &( lmbJob ){ .threads = 2 }, path, &report, NULL ),
		           lmb_statusOk );
		Model model = Load( path );
		double squares = 0.0, still = 0.0;
		CHECK_INT( report.stopCount, 2 );
		for ( int i = 0; i < set->count; ++i )
			for ( int c = 0; c < report.stopCount; ++c )
			{
				if ( strcmp( set->items[i].name, report.stopNames[c] ) != 0 )
					continue;
				squares += pow( Replay( &model, &set->items[i] ), 2.0 ) / report.stopCount;
				for ( int s = 0; s < 118; ++s )
					still += pow( 57.29577951308232 *
					                  ( set->items[i].positions[2 + s] - set->items[i].positions[s % 2] ),
					              2.0 ) /
					         ( 118.0 * report.stopCount );
			}
		double reported = 57.29577951308232 * report.stopLoss;
		CHECK_NEAR( sqrt( squares ), reported, 1e-3 * reported );
		CHECK( squares < 0.6 * still ); /* it learned something: staying where one is, is worse by far */
		lmbArena_Free( &model.arena );
		remove( path );
	}
	ClosedArm_FreeSet( set );
}

/* 99 of 100 training samples lie within the trusted region, and what is far away does not. */
static void TrustKnowsTheTrainingData( void **state )
{
	(void)state;
	checkSeed = 76;
	char path[4096];
	Path( path, sizeof( path ), "trust" );
	lmbTrajectories *set = ClosedArm_Set( &flat, &taughtStarts, 0.0, 20, 100, 0.01, true, checkSeed );
	lmbLimbTrainDef def = SmallDef( lmb_limbPlain );
	def.lbfgsIterations = 1;
	lmbLimbTrainReport report;
	CHECK_INT( lmbLimb_Train( set, &def, NULL, path, &report, NULL ), lmb_statusOk );
	Model model = Load( path );
	CHECK( lmbLimb_Info( model.limb ).hasTrust );
	int inside = 0, total = 0;
	for ( int i = 0; i < set->count; ++i )
		for ( int s = 0; s < 100; ++s )
		{
			const lmbTrajectory *item = &set->items[i];
			bool stops = strcmp( item->name, report.stopNames[0] ) == 0 ||
			             strcmp( item->name, report.stopNames[1] ) == 0;
			lmbLimbBody_Start( model.body, item->positions + 2 * s, item->velocities + 2 * s );
			lmbLimbBody_Step( model.body, item->inputs + 2 * s, NULL, 1e-9 ); /* at the state itself */
			total += stops ? 0 : 1;
			inside += !stops && lmbLimbBody_Trust( model.body ) <= 1.0 + 1e-6 ? 1 : 0;
		}
	CHECK_INT( total, 1800 );
	CHECK_INT( inside, 1782 ); /* 99 %, by definition of the scale */
	lmbLimbBody_Start( model.body, ( double[] ){ 0.5, 1.2 }, ( double[] ){ 60.0, -60.0 } );
	lmbLimbBody_Step( model.body, ( double[] ){ 30.0, 30.0 }, NULL, 1e-9 ); /* at the state itself */
	CHECK( lmbLimbBody_Trust( model.body ) > 3.0 );
	lmbArena_Free( &model.arena );
	ClosedArm_FreeSet( set );
	remove( path );
}

static void StopSoon( void *context, const char *unit, double done, double total, const char *detail )
{
	(void)unit, (void)total, (void)detail;
	if ( done >= 2.0 )
		atomic_store( (atomic_bool *)context, true );
}

/* Stopped half way, each way of training says so and leaves no file. */
static void CancelLeavesNothing( void **state )
{
	(void)state;
	checkSeed = 77;
	static const lmbLimbKind kinds[] = { lmb_limbLagrangian, lmb_limbLagrangian, lmb_limbLstm };
	char path[4096];
	Path( path, sizeof( path ), "cancel" );
	lmbTrajectories *set = ClosedArm_Set( &flat, &taughtStarts, 0.0, 10, 60, 0.01, true, checkSeed );
	for ( int k = 0; k < 3; ++k )
	{
		atomic_bool cancelled = false;
		lmbJob job = { .cancelled = &cancelled, .progress = StopSoon, .context = &cancelled };
		lmbLimbTrainDef def = SmallDef( kinds[k] );
		def.method = k == 1 ? lmb_limbMethodShooting : lmb_limbMethodAuto;
		CHECK_INT( lmbLimb_Train( set, &def, &job, path, NULL, NULL ), lmb_statusCancelled );
		CHECK( access( path, F_OK ) != 0 );
	}
	ClosedArm_FreeSet( set );
}

static void BadDataAndSettingsAreRefused( void **state )
{
	(void)state;
	checkSeed = 78;
	char path[4096];
	Path( path, sizeof( path ), "refused" );
	lmbTrajectories *set = ClosedArm_Set( &flat, &taughtStarts, 0.0, 4, 60, 0.01, true, checkSeed );
	lmbLimbTrainDef def = SmallDef( lmb_limbLagrangian );
	lmbError error = { 0 };
	def.stopShare = 0.7;
	CHECK_INT( lmbLimb_Train( set, &def, NULL, path, NULL, &error ), lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "0.7" );
	def = SmallDef( lmb_limbLagrangian );
	set->items[2].velocities[7] = NAN;
	CHECK_INT( lmbLimb_Train( set, &def, NULL, path, NULL, &error ), lmb_statusNumerical );
	CHECK_CONTAINS( error.message, "motion 2" );
	set->items[2].velocities[7] = 0.0;
	set->items[1].sampleCount = 1;
	CHECK_INT( lmbLimb_Train( set, &def, NULL, path, NULL, &error ), lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "motion 1" );
	set->items[1].sampleCount = 60;
	set->inputCount = 1;
	CHECK_INT( lmbLimb_Train( set, &def, NULL, path, NULL, &error ), lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "1 inputs cannot be the torques of 2" );
	set->inputCount = 2;
	def = SmallDef( lmb_limbGru );
	def.width = 300;
	CHECK_INT( lmbLimb_Train( set, &def, NULL, path, NULL, &error ), lmb_statusInvalidArgument );
	CHECK( access( path, F_OK ) != 0 );
	ClosedArm_FreeSet( set );
}

/* Free swings, nothing driving, absolute angles: only ratios can be learned, and they carry the motion. */
static void LearnsAFreeSwing( void **state )
{
	(void)state;
	checkSeed = 79;
	char path[4096];
	Path( path, sizeof( path ), "swing" );
	lmbTrajectories *set = ClosedArm_Set( &upright, &taughtStarts, 0.0, 12, 100, 0.01, true, checkSeed );
	for ( int i = 0; i < set->count; ++i )
		for ( int s = 0; s < 100; ++s )
		{
			/* Without torque, from the same states; then counted against the world. */
			lmbTrajectory *item = &set->items[i];
			const double none[2] = { 0.0, 0.0 };
			double *q = item->positions + 2 * s, *v = item->velocities + 2 * s,
			       *a = item->accelerations + 2 * s;
			ClosedArm_Acceleration( &upright, q, v, none, a );
			q[1] += q[0];
			v[1] += v[0];
			a[1] += a[0];
		}
	set->inputCount = 0;
	lmbLimbTrainDef def = SmallDef( lmb_limbLagrangian );
	def.absoluteAngles = true;
	def.findInvariance = false;
	def.lbfgsIterations = 40;
	lmbLimbTrainReport report;
	CHECK_INT( lmbLimb_Train( set, &def, NULL, path, &report, NULL ), lmb_statusOk );
	Model model = Load( path );
	CHECK_INT( lmbLimb_Info( model.limb ).inputCount, 0 );
	/* Accelerations are about 60 rad/s^2 RMS. The chain's least squares know the arm but for the unit of
	 * inertia, and the mass network starts there. */
	printf( "  free swings: %g rad/s^2\n", report.stopLoss );
	CHECK( report.stopLoss < 0.3 );
	lmbArena_Free( &model.arena );
	/* Whole swings, angles alone, rounded to 2e-5 rad: what shooting leaves is a matter of its iterations;
	 * both losses are told also where it can hardly better its start. */
	for ( int i = 0; i < set->count; ++i )
	{
		lmbTrajectory *item = &set->items[i];
		const double none[2] = { 0.0, 0.0 };
		double q[2] = { item->positions[0], item->positions[1] - item->positions[0] }, v[2] = { 1.0, -1.0 };
		item->velocities = item->accelerations = NULL;
		for ( int s = 0; s < 100; ++s )
		{
			item->positions[2 * s] = 2e-5 * floor( q[0] / 2e-5 + 0.5 );
			item->positions[2 * s + 1] = 2e-5 * floor( ( q[0] + q[1] ) / 2e-5 + 0.5 );
			for ( int k = 0; k < 10; ++k )
				ClosedArm_Step( &upright, 0.001, none, q, v );
		}
	}
	def.noise = 2e-5 / sqrt( 12.0 );
	for ( int iterations = 1; iterations <= 40; iterations += 39 )
	{
		def.lbfgsIterations = iterations;
		CHECK_INT( lmbLimb_Train( set, &def, NULL, path, &report, NULL ), lmb_statusOk );
		printf( "  angles alone, %d iterations: %g rad in training, %g\n", iterations, report.trainLoss,
		        report.stopLoss );
		CHECK( isfinite( report.trainLoss ) && report.trainLoss > 0.0 );
	}
	CHECK( report.stopLoss < 2e-3 );
	ClosedArm_FreeSet( set );
	remove( path );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( LearnsTheArmFromAccelerations ),
	    CHECK_TEST( FindsWhetherTheBaseAngleMatters ),
	    CHECK_TEST( ChainHoldsBeyondTheData ),
	    CHECK_TEST( NoisyTorquesDoNotBias ),
	    CHECK_TEST( ThreadsDoNotMatter ),
	    CHECK_TEST( LearnsFromNoisyAngles ),
	    CHECK_TEST( RecurrentReportsWhatTheRuntimeDoes ),
	    CHECK_TEST( TrustKnowsTheTrainingData ),
	    CHECK_TEST( CancelLeavesNothing ),
	    CHECK_TEST( BadDataAndSettingsAreRefused ),
	    CHECK_TEST( LearnsAFreeSwing ),
	};
	return CHECK_RUN( tests );
}
