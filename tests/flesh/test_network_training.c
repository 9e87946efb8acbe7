/* Training on a body whose truth is known (network_limb.h). */
#include "flesh/network.h"

#include "base/files.h"
#include "check.h"
#include "flesh/network_limb.h"

#include <unistd.h>

static const char checkpoint[] = "test_network_training.checkpoint";

static lmbTrainDef SmallDef( void )
{
	lmbTrainDef def = lmbDefaultTrainDef();
	def.coefficients = 24;
	def.hidden = 48;
	def.adamSteps = 600;
	def.lbfgsSteps = 100;
	return def;
}

/* RMS over soft vertices of the network's (or, without one, skinning's) distance from the truth, over fresh
 * poses from another seed. */
static double UnseenError( const Limb *limb, const lmbNetwork *network, uint64_t seed )
{
	static double truth[3 * limbVertices], guess[3 * limbVertices];
	lmbRandom random = lmbRandom_Seed( seed, 9 );
	double sum = 0.0, count = 0.0;
	for ( int i = 0; i < 60; ++i )
	{
		double bones[12 * limbBones], features[39], z[320];
		LimbRandomPose( &random, 0.35, bones );
		LimbTruth( limb, bones, truth );
		memset( guess, 0, sizeof( guess ) );
		if ( network != NULL )
		{
			lmbNetwork_Features( &limb->character, bones, features );
			lmbNetwork_Coefficients( network, features, z );
			lmbNetwork_Displacement( network, z, guess );
		}
		for ( int v = 0; v < limbVertices; ++v )
		{
			if ( limb->tissue.softness[v] < 1.0 )
				continue;
			for ( int k = 0; k < 3; ++k )
				sum += pow( guess[3 * v + k] - truth[3 * v + k], 2.0 );
			count += 1.0;
		}
	}
	return sqrt( sum / count );
}

static lmbNetwork *Train( const Limb *limb, const lmbTrainDef *def, const lmbJob *job,
                          lmbTrainReport *report )
{
	lmbNetwork *network = NULL;
	lmbError error = { 0 };
	CHECK_INT( lmbNetwork_Train( &limb->character, &limb->tissue, &limb->dataset, def, job, &network, report,
	                             &error ),
	           lmb_statusOk );
	if ( network == NULL )
		printf( "%s\n", error.message );
	CHECK_OR_STOP( network != NULL );
	return network;
}

/* The network beats skinning on poses that it has never seen, the perceptron beats regression alone, and the
 * report agrees with what fresh poses say. Held-out frames and poses that did not converge are NaN in the
 * data set: reading one would spoil everything. */
static void Generalises( void **state )
{
	(void)state;
	checkSeed = 41;
	Limb limb;
	LimbMake( &limb );
	LimbDataset( &limb, 260, checkSeed );
	lmbTrainDef def = SmallDef();
	lmbJob job = { .threads = 2, .seed = checkSeed };
	lmbTrainReport report, regressionReport;
	lmbNetwork *network = Train( &limb, &def, &job, &report );
	def.hidden = 0;
	lmbNetwork *regression = Train( &limb, &def, &job, &regressionReport );
	double skinning = UnseenError( &limb, NULL, 5 ), full = UnseenError( &limb, network, 5 );
	double linear = UnseenError( &limb, regression, 5 );
	printf( "unseen poses, mm: skinning %.2f, regression %.2f, with perceptron %.2f (report %.2f, truncation "
	        "%.2f, trained %.2f)\n",
	        1e3 * skinning, 1e3 * linear, 1e3 * full, 1e3 * report.unseenRms, 1e3 * report.truncationRms,
	        1e3 * report.trainedRms );
	CHECK( linear < 0.5 * skinning );
	CHECK( full < 0.85 * linear );
	CHECK( full < 0.25 * skinning );
	/* Other poses, other vertex weights: the two measurements agree to a third. */
	CHECK_NEAR( report.unseenRms / full, 1.0, 0.33 );
	CHECK_NEAR( report.unseenSkinningRms / skinning, 1.0, 0.33 );
	CHECK( report.truncationRms < report.unseenRms );
	CHECK_INT( report.mirroredCount, report.poseCount );
	CHECK( report.poseCount >= 247 && report.heldOutCount >= 48 && report.heldOutCount <= 52 );
	lmbNetwork_Free( network );
	lmbNetwork_Free( regression );
	LimbFree( &limb );
}

/* Few poses: those seen in the mirror are as good as new ones. */
static void MirrorHelps( void **state )
{
	(void)state;
	checkSeed = 42;
	Limb limb;
	LimbMake( &limb );
	LimbDataset( &limb, 90, checkSeed );
	limb.dataset.sequenceCount = 0;
	lmbTrainDef def = SmallDef();
	lmbJob job = { .seed = checkSeed };
	double errors[2];
	for ( int mirror = 0; mirror < 2; ++mirror )
	{
		lmbTrainReport report;
		def.mirror = mirror == 1;
		lmbNetwork *network = Train( &limb, &def, &job, &report );
		errors[mirror] = UnseenError( &limb, network, 6 );
		CHECK_INT( report.mirroredCount, mirror == 1 ? report.poseCount : 0 );
		lmbNetwork_Free( network );
	}
	printf( "unseen poses, mm: %.2f without mirrored samples, %.2f with\n", 1e3 * errors[0],
	        1e3 * errors[1] );
	CHECK( errors[1] < 0.95 * errors[0] );
	LimbFree( &limb );
}

/* The lattice estimate carries the skin's displacement: here the nodes are the skin's own vertices, so both
 * must tell the same story where the skin is soft, up to a constant. */
static void LatticeFollows( void **state )
{
	(void)state;
	checkSeed = 43;
	Limb limb;
	LimbMake( &limb );
	LimbDataset( &limb, 150, checkSeed );
	lmbTrainDef def = SmallDef();
	def.hidden = 0;
	lmbJob job = { .seed = checkSeed };
	lmbNetwork *network = Train( &limb, &def, &job, NULL );
	CHECK_INT( network->nodeCount, limbVertices );
	lmbRandom random = lmbRandom_Seed( checkSeed, 3 );
	double bones[12 * limbBones], features[39], z[2][320], square = 0.0, off = 0.0;
	static double displacement[2][3 * limbVertices];
	for ( int trial = 0; trial < 20; ++trial )
	{
		for ( int side = 0; side < 2; ++side )
		{
			LimbRandomPose( &random, 0.35, bones );
			lmbNetwork_Features( &limb.character, bones, features );
			lmbNetwork_Coefficients( network, features, z[side] );
			lmbNetwork_Displacement( network, z[side], displacement[side] );
		}
		for ( int i = 0; i < 3 * limbVertices; ++i )
		{
			double change = 0.0, true_ = displacement[1][i] - displacement[0][i];
			for ( int c = 0; c < network->coefficientCount; ++c )
				change += ( z[1][c] - z[0][c] ) *
				          (double)network->lattice[(size_t)c * 3 * limbVertices + (size_t)i];
			if ( limb.tissue.softness[i / 3] < 1.0 )
				continue;
			square += true_ * true_;
			off += ( change - true_ ) * ( change - true_ );
		}
	}
	printf( "lattice: %.4f of the skin's change is missed\n", off / square );
	CHECK( off < 0.05 * square ); /* as much as the regression leaves of the skin */
	lmbNetwork_Free( network );
	LimbFree( &limb );
}

static void WriteAndRead( const lmbNetwork *network, lmbArena *arena, char **data, size_t *size )
{
	const char path[] = "test_network_training.safetensors";
	CHECK_INT( lmbNetwork_Write( network, path, NULL ), lmb_statusOk );
	CHECK_INT( lmbFile_Read( path, arena, data, size, NULL ), lmb_statusOk );
	unlink( path );
}

typedef struct Stopper
{
	atomic_bool stop;
	int seen, stopAt;
} Stopper;

static void StopAfter( void *context, const char *unit, double done, double total, const char *detail )
{
	Stopper *stopper = context;
	(void)unit, (void)done, (void)total, (void)detail;
	stopper->seen += 1;
	if ( stopper->seen >= stopper->stopAt )
		atomic_store( &stopper->stop, true );
}

/* One thread, two threads, and a run that was stopped after two regions and taken up again: the same file,
 * to the bit. */
static void SameFileWhateverHappens( void **state )
{
	(void)state;
	checkSeed = 44;
	Limb limb;
	LimbMake( &limb );
	LimbDataset( &limb, 120, checkSeed );
	lmbTrainDef def = SmallDef();
	def.adamSteps = 200;
	def.checkpoint = checkpoint;
	unlink( checkpoint );
	lmbArena arena = { 0 };
	char *data[3];
	size_t size[3];
	for ( int run = 0; run < 3; ++run )
	{
		lmbJob job = { .threads = run == 1 ? 2 : 1, .seed = checkSeed };
		if ( run == 2 )
		{
			Stopper stopper = { .stopAt = 2 };
			lmbJob stopped = {
			    .seed = checkSeed, .cancelled = &stopper.stop, .progress = StopAfter, .context = &stopper };
			lmbNetwork *none = NULL;
			CHECK_INT( lmbNetwork_Train( &limb.character, &limb.tissue, &limb.dataset, &def, &stopped, &none,
			                             NULL, NULL ),
			           lmb_statusCancelled );
			CHECK( none == NULL );
			CHECK_INT( stopper.seen, 2 );
			CHECK( lmbFile_Exists( checkpoint ) );
		}
		Stopper counter = { .stopAt = 1000 };
		job.progress = StopAfter;
		job.context = &counter;
		lmbNetwork *network = Train( &limb, &def, &job, NULL );
		CHECK_INT( counter.seen, run == 2 ? network->regionCount - 2 : network->regionCount );
		WriteAndRead( network, &arena, &data[run], &size[run] );
		lmbNetwork_Free( network );
		CHECK( !lmbFile_Exists( checkpoint ) );
		CHECK_INT( size[run], size[0] );
		CHECK( size[run] == size[0] && memcmp( data[run], data[0], size[0] ) == 0 );
	}
	/* A checkpoint that is rubbish, or of other settings, is not taken up. */
	CHECK_INT( lmbFile_Write( checkpoint, "rubbish", 7, NULL ), lmb_statusOk );
	lmbJob job = { .seed = checkSeed };
	lmbNetwork *network = Train( &limb, &def, &job, NULL );
	char *again;
	size_t againSize;
	WriteAndRead( network, &arena, &again, &againSize );
	CHECK( againSize == size[0] && memcmp( again, data[0], againSize ) == 0 );
	lmbNetwork_Free( network );
	lmbArena_Free( &arena );
	LimbFree( &limb );
}

static void BadInputRefused( void **state )
{
	(void)state;
	Limb limb;
	LimbMake( &limb );
	LimbDataset( &limb, 40, 1 );
	lmbNetwork *network = NULL;
	lmbError error = { 0 };
	lmbTrainDef def = SmallDef();
	def.heldOutPoses = 0.9;
	CHECK_INT(
	    lmbNetwork_Train( &limb.character, &limb.tissue, &limb.dataset, &def, NULL, &network, NULL, &error ),
	    lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "heldOutPoses" );
	def = SmallDef();
	limb.dataset.poses.count = 3;
	limb.dataset.sequenceCount = 0;
	CHECK_INT(
	    lmbNetwork_Train( &limb.character, &limb.tissue, &limb.dataset, &def, NULL, &network, NULL, &error ),
	    lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "too few" );
	limb.dataset.poses.count = 40;
	limb.dataset.poses.nodes[100] = INFINITY;
	CHECK_INT(
	    lmbNetwork_Train( &limb.character, &limb.tissue, &limb.dataset, &def, NULL, &network, NULL, &error ),
	    lmb_statusNumerical );
	limb.dataset.poses.nodeCount = 7;
	CHECK_INT(
	    lmbNetwork_Train( &limb.character, &limb.tissue, &limb.dataset, &def, NULL, &network, NULL, &error ),
	    lmb_statusInvalidArgument );
	memset( limb.tissue.softness, 0, limbVertices * sizeof( double ) );
	limb.dataset.poses.nodeCount = limbVertices;
	CHECK_INT(
	    lmbNetwork_Train( &limb.character, &limb.tissue, &limb.dataset, &def, NULL, &network, NULL, &error ),
	    lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "soft" );
	CHECK( network == NULL );
	LimbFree( &limb );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( Generalises ),     CHECK_TEST( MirrorHelps ),
	    CHECK_TEST( LatticeFollows ),  CHECK_TEST( SameFileWhateverHappens ),
	    CHECK_TEST( BadInputRefused ),
	};
	return CHECK_RUN( tests );
}
