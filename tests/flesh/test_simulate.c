#include "box_glb.h"
#include "base/files.h"
#include "check.h"
#include "flesh/dataset.h"
#include "flesh/poses.h"
#include "flesh/solver.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Scene
{
	lmbTissue tissue;
	lmbCharacter *character;
	lmbMotion *motions[2];
	lmbSimulateMotion list[2];
	lmbSimulateDef def;
	char folder[256];
} Scene;

static void Scene_Make( Scene *scene )
{
	lmbError error = { 0 };
	lmbCharacter box;
	char path[300];
	BoxDef def = Box_DefaultDef();
	def.cells[0] = 6;
	def.cells[1] = def.cells[2] = 2;
	def.size[0] = 0.6;
	def.size[1] = def.size[2] = 0.2;
	def.core = 0.04;
	memset( scene, 0, sizeof( *scene ) );
	Box_MakeTissue( &def, &scene->tissue );
	Box_MakeCharacter( &scene->tissue, &def, &box );
	strcpy( scene->folder, "/tmp/limber-test-XXXXXX" );
	CHECK_OR_STOP( mkdtemp( scene->folder ) != NULL );
	snprintf( path, sizeof( path ), "%s/box.glb", scene->folder );
	CHECK_OR_STOP( BoxGlb_Write( &box, path, &error ) == lmb_statusOk );
	lmbArena_Free( &box.arena );
	lmbImportDef import = { .metresPerUnit = 1.0 };
	CHECK_OR_STOP( lmbCharacter_Load( path, &import, &scene->character, &error ) == lmb_statusOk );
	lmbMotionDef motionDef = lmbDefaultMotionDef();
	for ( int i = 0; i < 2; ++i )
	{
		CHECK_OR_STOP( lmbMotion_Make( scene->character, i, &motionDef, &scene->motions[i], &error ) == 0 );
		scene->list[i] = ( lmbSimulateMotion ){ scene->motions[i], i == 0 };
	}
	scene->def = lmbDefaultSimulateDef();
	scene->def.poseCount = 6;
	scene->def.gravity[1] = -9.81;
}

static void RemoveTree( const char *path )
{
	DIR *folder = opendir( path );
	struct dirent *entry;
	while ( folder != NULL && ( entry = readdir( folder ) ) != NULL )
	{
		char inner[1024];
		struct stat info;
		if ( strcmp( entry->d_name, "." ) == 0 || strcmp( entry->d_name, ".." ) == 0 )
			continue;
		snprintf( inner, sizeof( inner ), "%s/%s", path, entry->d_name );
		if ( lstat( inner, &info ) == 0 && S_ISDIR( info.st_mode ) )
			RemoveTree( inner );
		else
			unlink( inner );
	}
	if ( folder != NULL )
		closedir( folder );
	rmdir( path );
}

static void Scene_Drop( Scene *scene )
{
	for ( int i = 0; i < 2; ++i )
		lmbMotion_Free( scene->motions[i] );
	lmbCharacter_Free( scene->character );
	Box_Free( &scene->tissue, NULL );
	RemoveTree( scene->folder );
}

static void Place( const Scene *scene, const char *name, char *out )
{
	snprintf( out, 512, "%s/%s", scene->folder, name );
}

static lmbStatus Simulate( Scene *scene, const char *name, const lmbJob *job, lmbError *error )
{
	char path[512];
	Place( scene, name, path );
	return lmbSimulate( scene->character, &scene->tissue, scene->list, 2, &scene->def, job, path, error );
}

static const char *const files[] = { "dataset.json",
                                     "poses/000000.safetensors",
                                     "poses/000005.safetensors",
                                     "motions/00-wave/still-000000.safetensors",
                                     "motions/00-wave/still-000032.safetensors",
                                     "motions/00-wave/moving-000000.safetensors",
                                     "motions/00-wave/moving-000032.safetensors",
                                     "motions/01-nod/still-000032.safetensors",
                                     "motions/01-nod/moving-000032.safetensors" };

static void CheckSameFiles( const Scene *scene, const char *first, const char *second )
{
	for ( size_t i = 0; i < sizeof( files ) / sizeof( files[0] ); ++i )
	{
		char pathA[512], pathB[512], name[256], *a = NULL, *b = NULL;
		size_t sizeA = 0, sizeB = 1;
		lmbArena arena = { 0 };
		lmbError error = { 0 };
		snprintf( name, sizeof( name ), "%s/%s", first, files[i] );
		Place( scene, name, pathA );
		snprintf( name, sizeof( name ), "%s/%s", second, files[i] );
		Place( scene, name, pathB );
		CHECK_INT( lmbFile_Read( pathA, &arena, &a, &sizeA, &error ), lmb_statusOk );
		CHECK_INT( lmbFile_Read( pathB, &arena, &b, &sizeB, &error ), lmb_statusOk );
		CHECK_INT( sizeA, sizeB );
		if ( sizeA == sizeB && memcmp( a, b, sizeA ) != 0 )
			CheckReport( __FILE__, __LINE__, files[i] );
		lmbArena_Free( &arena );
	}
}

typedef struct Stop
{
	atomic_bool flag;
	int after;
	int calls;
	double lastDone, lastTotal;
} Stop;

static void StopLater( void *context, const char *unit, double done, double total, const char *detail )
{
	(void)unit;
	(void)detail;
	Stop *stop = context;
	stop->calls += 1;
	stop->lastDone = done;
	stop->lastTotal = total;
	if ( stop->calls == stop->after )
		atomic_store( &stop->flag, true );
}

/* One thread, two threads, killed three times and resumed: the same bytes. */
static void SameFilesHoweverItRuns( void **state )
{
	(void)state;
	Scene scene;
	lmbError error = { 0 };
	Scene_Make( &scene );
	Stop stop = { .after = -1 };
	lmbJob job = { .threads = 1, .seed = 5, .progress = StopLater, .context = &stop };
	CHECK_INT( Simulate( &scene, "one", &job, &error ), lmb_statusOk );
	CHECK_NEAR( stop.lastDone, stop.lastTotal, 0.0 );
	int all = stop.calls;
	job.threads = 2;
	CHECK_INT( Simulate( &scene, "two", &job, &error ), lmb_statusOk );
	CheckSameFiles( &scene, "one", "two" );
	char path[512];
	Place( &scene, "killed", path );
	job.threads = 1;
	for ( int kill = 0; kill < 3; ++kill )
	{
		/* In the second shard of either moving sequence, in still frames. */
		static const double shares[3] = { 0.35, 0.55, 0.25 };
		stop = ( Stop ){ .after = (int)( all * shares[kill] ) };
		job.cancelled = &stop.flag;
		CHECK_INT( Simulate( &scene, "killed", &job, &error ), lmb_statusCancelled );
		lmbDataset *dataset;
		CHECK( lmbDataset_Load( path, &dataset, &error ) != lmb_statusOk );
		CHECK_CONTAINS( error.message, "not finished" );
	}
	stop = ( Stop ){ .after = -1 };
	CHECK_INT( Simulate( &scene, "killed", &job, &error ), lmb_statusOk );
	CHECK( stop.calls > 0 && stop.calls < all / 4 ); /* what was there was kept */
	CheckSameFiles( &scene, "one", "killed" );
	stop = ( Stop ){ .after = -1 };
	CHECK_INT( Simulate( &scene, "killed", &job, &error ), lmb_statusOk );
	CHECK_INT( stop.calls, 0 ); /* nothing left to do */
	Scene_Drop( &scene );
}

static void TwoProcessesFillOneFolder( void **state )
{
	(void)state;
	Scene scene;
	lmbError error = { 0 };
	Scene_Make( &scene );
	lmbJob job = { .threads = 1, .seed = 5 };
	CHECK_INT( Simulate( &scene, "one", &job, &error ), lmb_statusOk );
	scene.def.shardCount = 2;
	scene.def.shardIndex = 1;
	CHECK_INT( Simulate( &scene, "shared", &job, &error ), lmb_statusOk );
	lmbDataset *dataset;
	char path[512];
	Place( &scene, "shared", path );
	CHECK( lmbDataset_Load( path, &dataset, &error ) != lmb_statusOk );
	scene.def.shardIndex = 0;
	CHECK_INT( Simulate( &scene, "shared", &job, &error ), lmb_statusOk );
	CheckSameFiles( &scene, "one", "shared" );
	Scene_Drop( &scene );
}

/* What is loaded must be what the solver says, with bones and flags. */
static void LoadedIsWhatWasSolved( void **state )
{
	(void)state;
	Scene scene;
	lmbError error = { 0 };
	Scene_Make( &scene );
	lmbJob job = { .threads = 2, .seed = 5 };
	CHECK_INT( Simulate( &scene, "data", &job, &error ), lmb_statusOk );
	char path[512];
	Place( &scene, "data", path );
	lmbDataset *dataset = NULL;
	CHECK_OR_STOP( lmbDataset_Load( path, &dataset, &error ) == lmb_statusOk );
	CHECK_INT( dataset->poses.count, 6 );
	CHECK_INT( dataset->sequenceCount, 2 );
	const lmbSequence *wave = &dataset->sequences[0];
	CHECK( strcmp( wave->name, "wave" ) == 0 && strcmp( dataset->sequences[1].name, "nod" ) == 0 );
	CHECK( wave->trained && !dataset->sequences[1].trained );
	CHECK_INT( wave->frameCount, (int)floor( scene.motions[0]->duration * 60.0 + 1e-6 ) + 1 );
	lmbSolverPlan *plan;
	lmbSolver *solver;
	lmbSolverDef solverDef = lmbDefaultSolverDef();
	solverDef.gravity[1] = -9.81;
	CHECK_OR_STOP( lmbSolverPlan_Make( &scene.tissue, lmb_orderingBest, &plan, &error ) == lmb_statusOk );
	CHECK_OR_STOP( lmbSolver_Make( plan, &solverDef, &solver, &error ) == lmb_statusOk );
	size_t numbers = 3 * (size_t)scene.tissue.nodeCount;
	double bones[24], *displacement = calloc( numbers, 8 ), *nodes = calloc( numbers, 8 );
	int frames[3] = { 0, 20, wave->frameCount - 1 };
	double moved = 0.0, still = 0.0;
	for ( int f = 0; f < 3; ++f )
	{
		lmbSolveReport report;
		lmbMotion_Pose( scene.motions[0], frames[f] / 60.0, bones );
		for ( int e = 0; e < 24; ++e )
			CHECK_NEAR( wave->bones[24 * frames[f] + e], bones[e], 0.0 );
		memset( displacement, 0, numbers * 8 );
		CHECK_INT( lmbSolver_Still( solver, bones, displacement, nodes, NULL, &report, &error ), 0 );
		CHECK_INT( wave->converged[frames[f]], 1 );
		for ( size_t e = 0; e < numbers; ++e )
		{
			/* Two starts of one solve differ by the tolerance: 1e-6 of strain over 0.6 m, and rounding. */
			CHECK_NEAR( wave->still[numbers * (size_t)frames[f] + e], nodes[e], 1e-6 );
			double away = wave->moving[numbers * (size_t)frames[f] + e] - nodes[e];
			*( f == 0 ? &still : &moved ) += away * away;
		}
	}
	CHECK_NEAR( sqrt( still ), 0.0, 2e-6 ); /* dynamics start from the still shape */
	CHECK( sqrt( moved ) > 1e-3 );          /* and leave it */
	free( displacement );
	free( nodes );
	lmbSolver_Free( solver );
	lmbSolverPlan_Free( plan );
	lmbDataset_Free( dataset );
	Scene_Drop( &scene );
}

/* Other settings replace what depends on them, and keep the rest. */
static void SettingsReplaceTheirOwn( void **state )
{
	(void)state;
	Scene scene;
	lmbError error = { 0 };
	Scene_Make( &scene );
	Stop stop = { .after = -1 };
	lmbJob job = { .threads = 2, .seed = 5, .progress = StopLater, .context = &stop };
	CHECK_INT( Simulate( &scene, "data", &job, &error ), lmb_statusOk );
	scene.def.poseCount = 8;
	stop.calls = 0;
	CHECK_INT( Simulate( &scene, "data", &job, &error ), lmb_statusOk );
	CHECK_INT( stop.calls, 2 ); /* two poses more */
	job.seed = 6;
	stop.calls = 0;
	CHECK_INT( Simulate( &scene, "data", &job, &error ), lmb_statusOk );
	CHECK_INT( stop.calls, 8 ); /* other poses, the same motions */
	scene.def.dampingStiffness = 0.01;
	stop.calls = 0;
	CHECK_INT( Simulate( &scene, "data", &job, &error ), lmb_statusOk );
	int steps = 0;
	for ( int i = 0; i < 2; ++i )
		steps += 4 * (int)floor( scene.motions[i]->duration * 60.0 + 1e-6 );
	CHECK_INT( stop.calls, steps ); /* moving sequences only */
	Scene_Drop( &scene );
}

static int noteCount;
static void CountNote( void *context, const char *line )
{
	(void)context;
	noteCount += 1;
	CHECK_CONTAINS( line, "did not converge" );
}

static void NotesWhatDoesNotConverge( void **state )
{
	(void)state;
	Scene scene;
	lmbError error = { 0 };
	Scene_Make( &scene );
	scene.def.iterationLimit = 1;
	scene.def.tolerance = 1e-9;
	noteCount = 0;
	lmbJob job = { .threads = 1, .seed = 5, .note = CountNote };
	CHECK_INT( Simulate( &scene, "data", &job, &error ), lmb_statusOk );
	CHECK( noteCount >= 6 );
	char path[512];
	Place( &scene, "data", path );
	lmbDataset *dataset = NULL;
	CHECK_OR_STOP( lmbDataset_Load( path, &dataset, &error ) == lmb_statusOk );
	for ( int i = 0; i < 6; ++i )
		CHECK_INT( dataset->poses.converged[i], 0 );
	CHECK_INT( dataset->sequences[0].converged[30], 0 );
	lmbDataset_Free( dataset );
	Scene_Drop( &scene );
}

static double AngleOf( const double *q )
{
	return 2.0 * atan2( lmbLength( q ), fabs( q[3] ) );
}

/* Draws depend on seed and index alone, keep to the ranges, and reach far within them. */
static void PosesAreReproducibleAndInRange( void **state )
{
	(void)state;
	Scene scene;
	lmbError error = { 0 };
	Scene_Make( &scene );
	lmbPoseRange range = { "bone1", 35.0 };
	lmbSimulateDef wide = scene.def;
	scene.def.ranges = &range;
	scene.def.rangeCount = 1;
	for ( int i = 0; i < 2; ++i )
		scene.list[i].trained = i == 1; /* "nod" bends 23 degrees at most */
	lmbPoseSource *source = NULL, *again = NULL, *other = NULL, *free = NULL;
	CHECK_OR_STOP( lmbPoseSource_Make( scene.character, &scene.tissue, scene.list, 2, &scene.def, 1, &source,
	                                   &error ) == 0 );
	lmbPoseSource_Make( scene.character, &scene.tissue, scene.list, 2, &scene.def, 1, &again, &error );
	lmbPoseSource_Make( scene.character, &scene.tissue, scene.list, 2, &scene.def, 2, &other, &error );
	lmbPoseSource_Make( scene.character, &scene.tissue, scene.list, 2, &wide, 1, &free, &error );
	double a[24], b[24], rotations[8], largest = 0.0, widest = 0.0;
	int different = 0;
	for ( int index = 199; index >= 0; --index )
	{
		lmbPoseSource_Draw( source, index, a, &error );
		lmbPoseSource_Draw( again, index, b, &error );
		CHECK( memcmp( a, b, sizeof( a ) ) == 0 );
		lmbPoseSource_Draw( other, index, b, &error );
		different += memcmp( a, b, sizeof( a ) ) != 0;
		lmbPose_LocalRotations( scene.character, a, rotations );
		CHECK( AngleOf( rotations + 4 ) <= 35.0 * 0.017453292519943295 + 1e-9 );
		largest = fmax( largest, AngleOf( rotations + 4 ) );
		lmbPoseSource_Draw( free, index, b, &error );
		lmbPose_LocalRotations( scene.character, b, rotations );
		widest = fmax( widest, AngleOf( rotations + 4 ) );
	}
	CHECK_INT( different, 200 );
	CHECK( largest > 0.6 );
	CHECK( widest > 1.2 ); /* 70 degrees: three times what the motion has */
	lmbPoseSource_Free( source );
	lmbPoseSource_Free( again );
	lmbPoseSource_Free( other );
	lmbPoseSource_Free( free );
	range.bone = "tail";
	CHECK_INT(
	    lmbPoseSource_Make( scene.character, &scene.tissue, scene.list, 2, &scene.def, 1, &source, &error ),
	    lmb_statusNotFound );
	CHECK_CONTAINS( error.message, "tail" );
	Scene_Drop( &scene );
}

static void RefusesNonsense( void **state )
{
	(void)state;
	Scene scene;
	lmbError error = { 0 };
	Scene_Make( &scene );
	const lmbSimulateDef good = scene.def;
	scene.def.rate = NAN;
	CHECK_INT( Simulate( &scene, "data", NULL, &error ), lmb_statusInvalidArgument );
	scene.def = good;
	scene.def.shardIndex = 1;
	CHECK_INT( Simulate( &scene, "data", NULL, &error ), lmb_statusInvalidArgument );
	scene.def = good;
	scene.def.dampingStiffness = -1.0;
	CHECK_INT( Simulate( &scene, "data", NULL, &error ), lmb_statusInvalidArgument );
	scene.def = good;
	scene.tissue.boneCount = 3;
	CHECK_INT( Simulate( &scene, "data", NULL, &error ), lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "stage tissue" );
	Scene_Drop( &scene );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( SameFilesHoweverItRuns ),   CHECK_TEST( TwoProcessesFillOneFolder ),
	    CHECK_TEST( LoadedIsWhatWasSolved ),    CHECK_TEST( SettingsReplaceTheirOwn ),
	    CHECK_TEST( NotesWhatDoesNotConverge ), CHECK_TEST( PosesAreReproducibleAndInRange ),
	    CHECK_TEST( RefusesNonsense ),
	};
	return CHECK_RUN( tests );
}
