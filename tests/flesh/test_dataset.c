#include "base/files.h"
#include "base/random.h"
#include "check.h"
#include "flesh/dataset.h"
#include "flesh/dataset_files.h"

#include <stdlib.h>
#include <unistd.h>

/* A small dataset written by hand: 3 poses, one motion of 40 frames (two shards), 2 bones, 5 nodes. */
enum
{
	poseCount = 3,
	frameCount = 40,
	boneCount = 2,
	nodeCount = 5
};

static char folder[64];
static double bones[lmbShardFrames * boneCount * 12];
static float nodes[lmbShardFrames * nodeCount * 3];
static uint8_t converged[lmbShardFrames];
static lmbMotionRecord motion = { .name = "a/../motion",
                                  .trained = true,
                                  .frameCount = frameCount,
                                  .rate = 60.0,
                                  .origin = { 1.0, 2.0, 3.0 },
                                  .still = "0123456789abcdef",
                                  .moving = "fedcba9876543210" };
static lmbManifest manifest = { .complete = true,
                                .poseCount = poseCount,
                                .boneCount = boneCount,
                                .nodeCount = nodeCount,
                                .motionCount = 1,
                                .poses = "00000000000000aa",
                                .motions = &motion };

static void WriteShard( const char *kind, const char *fingerprint, int first )
{
	char path[lmbDatasetPathSize];
	lmbError error = { 0 };
	lmbTensorWriter writer;
	int64_t n = lmbShard_Length( frameCount, first );
	for ( int i = 0; i < (int)n; ++i )
	{
		converged[i] = first + i != 33;
		for ( int e = 0; e < 3 * nodeCount; ++e )
			nodes[3 * nodeCount * i + e] =
			    (float)( ( first + i ) * 100 + e + ( kind[0] == 'm' ? 0.5 : 0.0 ) );
		for ( int e = 0; e < 12 * boneCount; ++e )
			bones[12 * boneCount * i + e] = first + i + 0.01 * e;
	}
	lmbDatasetFile_Begin( &writer, fingerprint );
	if ( kind[0] == 's' )
		lmbTensorWriter_Add( &writer, "bones", lmb_dataF64, 3, ( int64_t[] ){ n, boneCount, 12 }, bones );
	lmbTensorWriter_Add( &writer, "nodes", lmb_dataF32, 3, ( int64_t[] ){ n, nodeCount, 3 }, nodes );
	lmbTensorWriter_Add( &writer, "converged", lmb_dataU8, 1, &n, converged );
	CHECK_INT( lmbDatasetPath_Shard( path, folder, &motion, kind, first, &error ), lmb_statusOk );
	CHECK_INT( lmbDatasetFile_Write( &writer, path, &error ), lmb_statusOk );
}

static void WritePose( int index )
{
	char path[lmbDatasetPathSize];
	lmbError error = { 0 };
	lmbTensorWriter writer;
	converged[0] = index != 1;
	nodes[0] = (float)index;
	lmbDatasetFile_Begin( &writer, manifest.poses );
	lmbTensorWriter_Add( &writer, "bones", lmb_dataF64, 2, ( int64_t[] ){ boneCount, 12 }, bones );
	lmbTensorWriter_Add( &writer, "nodes", lmb_dataF32, 2, ( int64_t[] ){ nodeCount, 3 }, nodes );
	lmbTensorWriter_Add( &writer, "converged", lmb_dataU8, 1, ( int64_t[] ){ 1 }, converged );
	CHECK_INT( lmbDatasetPath_Pose( path, folder, index, &error ), lmb_statusOk );
	CHECK_INT( lmbDatasetFile_Write( &writer, path, &error ), lmb_statusOk );
}

static lmbArena arena;

static void MakeDataset( void )
{
	char path[lmbDatasetPathSize], name[128];
	lmbError error = { 0 };
	strcpy( folder, "/tmp/limber-test-XXXXXX" );
	CHECK_OR_STOP( mkdtemp( folder ) != NULL );
	CHECK_INT( lmbMotionRecord_Folder( 0, motion.name, &arena, &motion.folder, &error ), lmb_statusOk );
	CHECK( strcmp( motion.folder, "00-a_.._motion" ) == 0 );
	snprintf( path, sizeof( path ), "%s/poses", folder );
	lmbFolder_Make( path, &error );
	snprintf( name, sizeof( name ), "motions/%s", motion.folder );
	lmbPath_Join( path, sizeof( path ), folder, name, &error );
	lmbFolder_Make( path, &error );
	for ( int first = 0; first < frameCount; first += lmbShardFrames )
	{
		WriteShard( "still", motion.still, first );
		WriteShard( "moving", motion.moving, first );
	}
	for ( int i = 0; i < poseCount; ++i )
		WritePose( i );
	CHECK_INT( lmbManifest_Write( &manifest, folder, &error ), lmb_statusOk );
}

static void DropDataset( void )
{
	char command[128];
	snprintf( command, sizeof( command ), "rm -r '%s'", folder );
	CHECK_INT( system( command ), 0 );
	lmbArena_Free( &arena );
}

static void LoadsWhatWasWritten( void **state )
{
	(void)state;
	MakeDataset();
	lmbDataset *dataset = NULL;
	lmbError error = { 0 };
	CHECK_OR_STOP( lmbDataset_Load( folder, &dataset, &error ) == lmb_statusOk );
	CHECK_INT( dataset->poses.count, poseCount );
	CHECK_NEAR( dataset->poses.nodes[3 * nodeCount * 2], 2.0, 0.0 );
	CHECK_INT( dataset->poses.converged[0], 1 );
	CHECK_INT( dataset->poses.converged[1], 0 );
	const lmbSequence *s = dataset->sequences;
	CHECK( strcmp( s->name, motion.name ) == 0 );
	CHECK( s->trained );
	CHECK_INT( s->frameCount, frameCount );
	CHECK_NEAR( s->origin[2], 3.0, 0.0 );
	for ( int f = 0; f < frameCount; ++f )
	{
		CHECK_INT( s->converged[f], f != 33 );
		CHECK_NEAR( s->still[3 * nodeCount * f + 7], 100.0 * f + 7.0, 0.0 );
		CHECK_NEAR( s->moving[3 * nodeCount * f + 7], 100.0 * f + 7.5, 0.0 );
		CHECK_NEAR( s->bones[12 * boneCount * f + 23], f + 0.23, 1e-12 );
	}
	lmbDataset_Free( dataset );
	DropDataset();
}

static void CheckRefused( const char *part )
{
	lmbDataset *dataset = NULL;
	lmbError error = { 0 };
	CHECK( lmbDataset_Load( folder, &dataset, &error ) != lmb_statusOk );
	CHECK( dataset == NULL );
	CHECK_CONTAINS( error.message, part );
	CHECK_CONTAINS( error.message, folder );
}

static void RefusesWhatDoesNotBelong( void **state )
{
	(void)state;
	char path[lmbDatasetPathSize];
	lmbError error = { 0 };
	MakeDataset();
	/* A shard of other settings. */
	WriteShard( "moving", "0000000000000000", 32 );
	CheckRefused( "moving-000032.safetensors: belongs to other settings" );
	WriteShard( "moving", motion.moving, 32 );
	/* A shard too short for the manifest. */
	motion.frameCount = 41;
	lmbManifest_Write( &manifest, folder, &error );
	CheckRefused( "still-000032" );
	motion.frameCount = frameCount;
	/* Another body. */
	manifest.nodeCount = 6;
	lmbManifest_Write( &manifest, folder, &error );
	CheckRefused( "nodes" );
	manifest.nodeCount = 1 << 26;
	lmbManifest_Write( &manifest, folder, &error );
	CheckRefused( "too short" ); /* before memory for it is taken */
	manifest.poseCount = 100000;
	manifest.nodeCount = nodeCount;
	lmbManifest_Write( &manifest, folder, &error );
	CheckRefused( "000003.safetensors: is missing" );
	manifest.nodeCount = nodeCount;
	manifest.poseCount = poseCount;
	manifest.complete = false;
	lmbManifest_Write( &manifest, folder, &error );
	CheckRefused( "not finished" );
	manifest.complete = true;
	lmbManifest_Write( &manifest, folder, &error );
	lmbDatasetPath_Pose( path, folder, 2, &error );
	unlink( path );
	CheckRefused( "000002" );
	DropDataset();
}

/* Any bit of an array: the file counts as not there, so that the stage makes it anew, and does not load. */
static void NoticesAFlippedBit( void **state )
{
	(void)state;
	MakeDataset();
	char path[lmbDatasetPathSize], *data;
	size_t size;
	lmbArena room = { 0 };
	CHECK_INT( lmbDatasetPath_Pose( path, folder, 1, NULL ), lmb_statusOk );
	CHECK_OR_STOP( lmbFile_Read( path, &room, &data, &size, NULL ) == lmb_statusOk );
	CHECK( lmbDatasetFile_IsThere( path, manifest.poses ) );
	size_t arrays = (size_t)( 12 * boneCount * 8 + 3 * nodeCount * 4 + 1 );
	for ( size_t at = size - arrays; at < size; ++at )
	{
		data[at] ^= (char)( 1 << at % 8 );
		CHECK_INT( lmbFile_Write( path, data, size, NULL ), lmb_statusOk );
		CHECK( !lmbDatasetFile_IsThere( path, manifest.poses ) );
		data[at] ^= (char)( 1 << at % 8 );
	}
	data[size - 2] ^= 4;
	CHECK_INT( lmbFile_Write( path, data, size, NULL ), lmb_statusOk );
	CheckRefused( "not those that were written" );
	lmbArena_Free( &room );
	DropDataset();
}

static void RefusesBadManifests( void **state )
{
	(void)state;
	static const char *const texts[][2] = {
	    { "", "dataset.json" },
	    { "[]", "format" },
	    { "{\"format\": \"other\"}", "format" },
	    { "{\"format\": \"limber.dataset\", \"version\": 99}", "newer" },
	    { "{\"format\": \"limber.dataset\", \"version\": 1, \"bones\": -3}", "bones" },
	    { "{\"format\": \"limber.dataset\", \"version\": 1, \"bones\": 3, \"nodes\": \"x\"}", "nodes" },
	    { "{\"format\": \"limber.dataset\", \"version\": 1, \"bones\": 3, \"nodes\": 3, \"shard_frames\": "
	      "32, "
	      "\"poses\": 0, \"pose_origin\": [0, 0, 0], \"pose_fingerprint\": \"0123456789abcdef\", "
	      "\"motions\": "
	      "[{\"name\": \"x\", \"folder\": \"../up\"}]}",
	      "folder" },
	    { "{\"format\": \"limber.dataset\", \"version\": 1, \"bones\": 3, \"nodes\": 3, \"shard_frames\": "
	      "32, "
	      "\"poses\": 0, \"pose_origin\": [0, 0], \"pose_fingerprint\": \"0123456789abcdef\", \"motions\": "
	      "[]}",
	      "pose_origin" },
	};
	char path[lmbDatasetPathSize];
	lmbError error = { 0 };
	MakeDataset();
	snprintf( path, sizeof( path ), "%s/dataset.json", folder );
	for ( size_t i = 0; i < sizeof( texts ) / sizeof( texts[0] ); ++i )
	{
		CHECK_INT( lmbFile_Write( path, texts[i][0], strlen( texts[i][0] ), &error ), lmb_statusOk );
		CheckRefused( texts[i][1] );
	}
	DropDataset();
}

/* Flips, cuts and noise in any file: an error or a sound dataset, never a crash (run under the sanitizers
 * too). */
static void SurvivesDamage( void **state )
{
	(void)state;
	checkSeed = 31;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	MakeDataset();
	char paths[3][lmbDatasetPathSize];
	lmbError error = { 0 };
	snprintf( paths[0], sizeof( paths[0] ), "%s/dataset.json", folder );
	lmbDatasetPath_Pose( paths[1], folder, 1, &error );
	lmbDatasetPath_Shard( paths[2], folder, &motion, "still", 32, &error );
	int refused = 0;
	for ( int round = 0; round < 300; ++round )
	{
		const char *path = paths[round % 3];
		lmbArena bytes = { 0 };
		char *data, *copy;
		size_t size;
		CHECK_INT( lmbFile_Read( path, &bytes, &data, &size, &error ), lmb_statusOk );
		copy = lmbArena_New( &bytes, size, 1 );
		memcpy( copy, data, size );
		size_t kept = round % 2 == 0 ? size : lmbRandom_Below( &random, (uint32_t)size );
		/* Headers are short; half of the damage goes there. */
		for ( int flip = 0; flip < 3 && kept > 0; ++flip )
		{
			size_t reach = flip % 2 == 0 && kept > 400 ? 400 : kept;
			copy[lmbRandom_Below( &random, (uint32_t)reach )] ^= (char)( 1 << lmbRandom_Below( &random, 8 ) );
		}
		lmbFile_Write( path, copy, kept, &error );
		lmbDataset *dataset = NULL;
		refused += lmbDataset_Load( folder, &dataset, &error ) != lmb_statusOk;
		lmbDataset_Free( dataset );
		lmbFile_Write( path, data, size, &error );
		lmbArena_Free( &bytes );
	}
	CHECK( refused > 200 );
	lmbDataset *dataset = NULL;
	CHECK_INT( lmbDataset_Load( folder, &dataset, &error ), lmb_statusOk );
	lmbDataset_Free( dataset );
	DropDataset();
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( LoadsWhatWasWritten ), CHECK_TEST( RefusesWhatDoesNotBelong ),
	    CHECK_TEST( NoticesAFlippedBit ),  CHECK_TEST( RefusesBadManifests ),
	    CHECK_TEST( SurvivesDamage ),
	};
	return CHECK_RUN( tests );
}
