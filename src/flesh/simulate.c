#include "flesh/simulate_private.h"

#include "base/files.h"
#include "base/math3.h"

#include <stdlib.h>
#include <string.h>

lmbSimulateDef lmbDefaultSimulateDef( void )
{
	lmbSimulateDef def = { .poseCount = 400,
	                       .poseSpread = 20.0,
	                       .poseRange = 110.0,
	                       .rate = 60.0,
	                       .stepRate = 240.0,
	                       .stepping = lmb_steppingTrapezoidal,
	                       .dampingStiffness = 0.004,
	                       .tolerance = 1e-6,
	                       .iterationLimit = 60,
	                       .shardCount = 1 };
	return def;
}

static lmbStatus CheckRange( const char *name, double value, double low, double high, lmbError *error )
{
	if ( value >= low && value <= high )
		return lmb_statusOk;
	return lmbError_Set( error, lmb_statusInvalidArgument, "simulate: %s is %g: must be in [%g, %g]", name,
	                     value, low, high );
}

/* What the solver does not check itself. */
static lmbStatus CheckDef( const lmbSimulateDef *def, int motionCount, lmbError *error )
{
	LMB_TRY( CheckRange( "the number of poses", def->poseCount, 0, 100000, error ) );
	LMB_TRY( CheckRange( "the spread of poses", def->poseSpread, 0, 90, error ) );
	LMB_TRY( CheckRange( "the range of poses", def->poseRange, 0, 180, error ) );
	LMB_TRY( CheckRange( "the frame rate", def->rate, 5, 1000, error ) );
	LMB_TRY( CheckRange( "the step rate", def->stepRate, 1, 1e5, error ) );
	if ( def->shardCount < 1 || def->shardIndex < 0 || def->shardIndex >= def->shardCount )
		return lmbError_Set( error, lmb_statusInvalidArgument, "simulate: there is no shard %d of %d",
		                     def->shardIndex, def->shardCount );
	if ( def->poseCount == 0 && motionCount == 0 )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "simulate: neither a pose nor a motion is asked for" );
	return lmb_statusOk;
}

/* A body that starts far away is stored relative to whole metres near it; dataset.h says why. */
static void Origin( const lmbTissue *tissue, const double *bones, double *origin )
{
	double first[3];
	bool far = false;
	for ( int i = 0; i < 3; ++i )
	{
		first[i] = bones[4 * i] * tissue->nodes[0] + bones[4 * i + 1] * tissue->nodes[1] +
		           bones[4 * i + 2] * tissue->nodes[2] + bones[4 * i + 3];
		far = far || fabs( first[i] ) > 8.0;
	}
	for ( int i = 0; i < 3; ++i )
		origin[i] = far ? floor( first[i] + 0.5 ) : 0.0;
}

static lmbStatus Describe( lmbSimulation *simulation, int motionCount, lmbError *error )
{
	const lmbSimulateDef *def = simulation->def;
	lmbManifest *manifest = &simulation->manifest;
	double *bones = LMB_NEW( &simulation->arena, double, 12 * (size_t)simulation->tissue->boneCount );
	manifest->motions = LMB_NEW( &simulation->arena, lmbMotionRecord, motionCount );
	if ( bones == NULL || manifest->motions == NULL )
		return lmbError_Memory( error );
	manifest->poseCount = def->poseCount;
	manifest->boneCount = simulation->tissue->boneCount;
	manifest->nodeCount = simulation->tissue->nodeCount;
	manifest->motionCount = motionCount;
	lmbMat34_Identity( bones ); /* random poses stand where the bind pose does */
	Origin( simulation->tissue, bones, manifest->poseOrigin );
	for ( int i = 0; i < motionCount; ++i )
	{
		const lmbMotion *motion = simulation->motions[i].motion;
		lmbMotionRecord *record = manifest->motions + i;
		record->name = motion->name;
		record->trained = simulation->motions[i].trained;
		record->rate = def->rate;
		/* A duration that is a whole number of frames keeps its last one in spite of rounding. */
		double frames = floor( motion->duration * def->rate + 1e-6 ) + 1.0;
		if ( !( frames >= 1.0 && frames <= 1e7 ) )
			return lmbError_Set( error, lmb_statusInvalidArgument, "motion \"%s\": %g frames are too many",
			                     motion->name, frames );
		record->frameCount = (int)frames;
		LMB_TRY( lmbMotionRecord_Folder( i, motion->name, &simulation->arena, &record->folder, error ) );
		lmbMotion_Pose( motion, 0.0, bones );
		Origin( simulation->tissue, bones, record->origin );
	}
	return lmb_statusOk;
}

static const char *SettingsText( lmbSimulation *simulation )
{
	static const char *const rules[] = { "trapezoidal", "bdf2", "backward_euler" };
	const lmbSimulateDef *def = simulation->def;
	char text[1024];
	snprintf(
	    text, sizeof( text ),
	    "{\"seed\": %lld, \"pose_spread_degrees\": %.17g, \"pose_range_degrees\": %.17g, \"frame_rate\": "
	    "%.17g, \"step_rate\": %.17g, \"stepping\": \"%s\", \"damping_mass\": %.17g, "
	    "\"damping_stiffness\": %.17g, \"gravity\": [%.17g, %.17g, %.17g], \"tolerance\": %.17g, "
	    "\"iteration_limit\": %d}",
	    (long long)( simulation->job != NULL ? simulation->job->seed : 0 ), def->poseSpread, def->poseRange,
	    def->rate, def->rate * simulation->substeps, rules[def->stepping], def->dampingMass,
	    def->dampingStiffness, def->gravity[0], def->gravity[1], def->gravity[2], def->tolerance,
	    def->iterationLimit );
	return lmbArena_String( &simulation->arena, text );
}

static lmbStatus MakeFolders( const lmbSimulation *simulation, lmbError *error )
{
	char path[lmbDatasetPathSize], name[160];
	LMB_TRY( lmbPath_Join( path, sizeof( path ), simulation->folder, "poses", error ) );
	LMB_TRY( lmbFolder_Make( path, error ) );
	for ( int i = 0; i < simulation->manifest.motionCount; ++i )
	{
		snprintf( name, sizeof( name ), "motions/%s", simulation->manifest.motions[i].folder );
		LMB_TRY( lmbPath_Join( path, sizeof( path ), simulation->folder, name, error ) );
		LMB_TRY( lmbFolder_Make( path, error ) );
	}
	return lmb_statusOk;
}

/* Adds a piece of work unless it is done or another process's; counts it either way. */
static void AddWork( lmbSimulation *simulation, lmbWork work, bool done, int *serial, double costDone )
{
	bool mine = ( *serial )++ % simulation->def->shardCount == simulation->def->shardIndex;
	if ( !mine && !done )
		return;
	simulation->total += work.cost;
	simulation->done += done ? work.cost : costDone;
	if ( !done )
		simulation->work[simulation->workCount++] = work;
}

static int CompareWork( const void *a, const void *b )
{
	const lmbWork *x = a, *y = b;
	if ( x->kind != y->kind )
		return x->kind < y->kind ? -1 : 1;
	if ( x->kind == lmb_workMoving && x->cost != y->cost )
		return x->cost > y->cost ? -1 : 1;
	return x->motion != y->motion ? x->motion - y->motion : x->index - y->index;
}

static void ListMotion( lmbSimulation *simulation, int motion, int *serial )
{
	const lmbMotionRecord *record = simulation->manifest.motions + motion;
	int steps = ( record->frameCount - 1 ) * simulation->substeps;
	int framesDone = lmbSimulation_MovingFramesDone( simulation, motion );
	int stepsDone = framesDone > 0 ? ( framesDone - 1 ) * simulation->substeps : 0;
	simulation->stepsTotal += steps;
	simulation->stepsDone += stepsDone;
	AddWork( simulation, ( lmbWork ){ lmb_workMoving, motion, 0, lmbCostStep * (double)steps },
	         framesDone >= record->frameCount, serial, lmbCostStep * (double)stepsDone );
	for ( int first = 0; first < record->frameCount; first += lmbShardFrames )
	{
		char path[lmbDatasetPathSize];
		int length = lmbShard_Length( record->frameCount, first );
		bool done =
		    lmbDatasetPath_Shard( path, simulation->folder, record, "still", first, NULL ) == lmb_statusOk &&
		    lmbDatasetFile_IsThere( path, record->still );
		simulation->stillsTotal += length;
		simulation->stillsDone += done ? length : 0;
		AddWork( simulation, ( lmbWork ){ lmb_workStill, motion, first, lmbCostStill * (double)length }, done,
		         serial, 0.0 );
	}
}

/* Everything that is not in the folder yet, the longest first: with the moving sequences under way, still
 * frames and then poses, short and many, keep every thread busy to the end. */
static lmbStatus ListWork( lmbSimulation *simulation, lmbError *error )
{
	size_t count = (size_t)simulation->def->poseCount;
	for ( int i = 0; i < simulation->manifest.motionCount; ++i )
		count += 1 + (size_t)lmbShard_Count( simulation->manifest.motions[i].frameCount );
	simulation->work = LMB_NEW( &simulation->arena, lmbWork, count );
	if ( simulation->work == NULL )
		return lmbError_Memory( error );
	simulation->workCount = simulation->posesTotal = simulation->posesDone = 0;
	simulation->stillsTotal = simulation->stillsDone = simulation->stepsTotal = simulation->stepsDone = 0;
	simulation->done = simulation->total = 0.0;
	int serial = 0;
	for ( int i = 0; i < simulation->manifest.motionCount; ++i )
		ListMotion( simulation, i, &serial );
	/* Poses are shared out by their own index, as simulate.h promises. */
	serial = 0;
	for ( int i = 0; i < simulation->def->poseCount; ++i )
	{
		char path[lmbDatasetPathSize];
		bool done = lmbDatasetPath_Pose( path, simulation->folder, i, NULL ) == lmb_statusOk &&
		            lmbDatasetFile_IsThere( path, simulation->manifest.poses );
		simulation->posesTotal += 1;
		simulation->posesDone += done;
		AddWork( simulation, ( lmbWork ){ lmb_workPose, 0, i, lmbCostPose }, done, &serial, 0.0 );
	}
	qsort( simulation->work, (size_t)simulation->workCount, sizeof( lmbWork ), CompareWork );
	return lmb_statusOk;
}

static lmbStatus MakeWorkers( lmbSimulation *simulation, lmbError *error )
{
	const lmbJob *job = simulation->job;
	int threads = job != NULL && job->threads > 1 ? job->threads : 1;
	size_t bones = 12 * (size_t)simulation->tissue->boneCount,
	       nodes = 3 * (size_t)simulation->tissue->nodeCount;
	if ( threads > simulation->workCount )
		threads = simulation->workCount > 1 ? simulation->workCount : 1;
	simulation->workers = LMB_NEW( &simulation->arena, lmbSimulateWorker, threads );
	if ( simulation->workers == NULL )
		return lmbError_Memory( error );
	simulation->workerCount = threads;
	for ( int i = 0; i < threads; ++i )
	{
		lmbSimulateWorker *worker = simulation->workers + i;
		worker->bones = LMB_NEW( &simulation->arena, double, lmbShardFrames *bones );
		worker->displacement = LMB_NEW( &simulation->arena, double, nodes );
		worker->nodes = LMB_NEW( &simulation->arena, double, nodes );
		worker->frames = LMB_NEW( &simulation->arena, float, lmbShardFrames *nodes );
		worker->state = LMB_NEW( &simulation->arena, double, lmbSolverPlan_StateSize( simulation->plan ) );
		if ( worker->bones == NULL || worker->displacement == NULL || worker->nodes == NULL ||
		     worker->frames == NULL || worker->state == NULL )
			return lmbError_Memory( error );
	}
	return lmb_statusOk;
}

/* The folder is complete when every file is there, whichever process wrote it. */
static lmbStatus Finish( lmbSimulation *simulation, lmbError *error )
{
	LMB_TRY( ListWork( simulation, error ) );
	simulation->manifest.complete = simulation->posesDone == simulation->posesTotal &&
	                                simulation->stillsDone == simulation->stillsTotal &&
	                                simulation->stepsDone == simulation->stepsTotal &&
	                                simulation->workCount == 0;
	if ( !simulation->manifest.complete && simulation->def->shardCount == 1 )
		return lmbError_Set( error, lmb_statusIo, "%s: files that were just written are missing or damaged",
		                     simulation->folder );
	return lmbManifest_Write( &simulation->manifest, simulation->folder, error );
}

static lmbStatus Run( lmbSimulation *simulation, int motionCount, lmbError *error )
{
	const lmbSimulateDef *def = simulation->def;
	LMB_TRY( CheckDef( def, motionCount, error ) );
	if ( simulation->tissue->boneCount != simulation->character->boneCount )
		return lmbError_Set(
		    error, lmb_statusInvalidArgument,
		    "the tissue was made for %d bones, the character has %d; run the stage tissue again",
		    simulation->tissue->boneCount, simulation->character->boneCount );
	simulation->substeps = (int)ceil( def->stepRate / def->rate - 1e-9 );
	if ( simulation->substeps < 1 )
		simulation->substeps = 1;
	LMB_TRY( Describe( simulation, motionCount, error ) );
	LMB_TRY( lmbSimulation_Fingerprints( simulation, error ) );
	simulation->manifest.settings = SettingsText( simulation );
	LMB_TRY( lmbPoseSource_Make( simulation->character, simulation->tissue, simulation->motions, motionCount,
	                             def, simulation->job != NULL ? simulation->job->seed : 0, &simulation->poses,
	                             error ) );
	LMB_TRY( lmbSolverPlan_Make( simulation->tissue, lmb_orderingBest, &simulation->plan, error ) );
	LMB_TRY( MakeFolders( simulation, error ) );
	LMB_TRY( ListWork( simulation, error ) );
	if ( simulation->workCount > 0 )
		LMB_TRY( lmbManifest_Write( &simulation->manifest, simulation->folder, error ) );
	LMB_TRY( MakeWorkers( simulation, error ) );
	LMB_TRY( lmbJob_ForEach( simulation->job, simulation->workCount, lmbSimulation_Do, simulation, error ) );
	return Finish( simulation, error );
}

lmbStatus lmbSimulate( const lmbCharacter *character, const lmbTissue *tissue,
                       const lmbSimulateMotion *motions, int motionCount, const lmbSimulateDef *def,
                       const lmbJob *job, const char *folder, lmbError *error )
{
	lmbSimulation simulation = { .character = character,
	                             .tissue = tissue,
	                             .motions = motions,
	                             .def = def,
	                             .job = job,
	                             .folder = folder };
	pthread_mutex_init( &simulation.mutex, NULL );
	lmbStatus status = Run( &simulation, motionCount, error );
	for ( int i = 0; i < simulation.workerCount; ++i )
		lmbSolver_Free( simulation.workers[i].solver );
	lmbSolverPlan_Free( simulation.plan );
	lmbPoseSource_Free( simulation.poses );
	pthread_mutex_destroy( &simulation.mutex );
	lmbArena_Free( &simulation.arena );
	return status;
}
