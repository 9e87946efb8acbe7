/* The three kinds of work of the stage `simulate`. Each task's result depends on its own inputs alone: not
 * on the worker, on what the worker did before, or on where an earlier run was stopped. */
#include "flesh/simulate_private.h"

#include "base/files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static lmbStatus Prepare( lmbSimulation *simulation, lmbSimulateWorker *worker, lmbError *error )
{
	if ( worker->solver == NULL )
	{
		const lmbSimulateDef *def = simulation->def;
		lmbSolverDef solver = { .tolerance = def->tolerance,
		                        .iterationLimit = def->iterationLimit,
		                        .gravity = { def->gravity[0], def->gravity[1], def->gravity[2] },
		                        .dampingMass = def->dampingMass,
		                        .dampingStiffness = def->dampingStiffness,
		                        .stepping = def->stepping };
		LMB_TRY( lmbSolver_Make( simulation->plan, &solver, &worker->solver, error ) );
	}
	lmbSolver_Sync( worker->solver );
	memset( worker->displacement, 0, 3 * (size_t)simulation->tissue->nodeCount * sizeof( double ) );
	return lmb_statusOk;
}

static void Count( lmbSimulation *simulation, int *counter, double cost )
{
	pthread_mutex_lock( &simulation->mutex );
	*counter += 1;
	simulation->done += cost;
	char detail[160];
	snprintf( detail, sizeof( detail ), "poses %d/%d, still frames %d/%d, time steps %d/%d",
	          simulation->posesDone, simulation->posesTotal, simulation->stillsDone, simulation->stillsTotal,
	          simulation->stepsDone, simulation->stepsTotal );
	lmbJob_Progress( simulation->job, "steps' worth", simulation->done, simulation->total, detail );
	pthread_mutex_unlock( &simulation->mutex );
}

static void NoteFailures( lmbSimulation *simulation, const char *what, int first, int count,
                          const uint8_t *converged, double residual )
{
	int failed = 0;
	for ( int i = 0; i < count; ++i )
		failed += converged[i] == 0;
	if ( failed == 0 )
		return;
	pthread_mutex_lock( &simulation->mutex );
	lmbJob_Note(
	    simulation->job,
	    "%s, %d to %d: %d did not converge (residual up to %.1e, wanted %.1e); marked, and left out of "
	    "training",
	    what, first, first + count - 1, failed, residual, simulation->def->tolerance );
	pthread_mutex_unlock( &simulation->mutex );
}

static void Round( const double *nodes, const double *origin, size_t count, float *out )
{
	for ( size_t k = 0; k < count; ++k )
		for ( size_t i = 0; i < 3; ++i )
			out[3 * k + i] = (float)( nodes[3 * k + i] - origin[i] );
}

static void MoveBones( double *bones, int boneCount, const double *origin )
{
	for ( size_t j = 0; j < (size_t)boneCount; ++j )
		for ( int i = 0; i < 3; ++i )
			bones[12 * j + 4 * i + 3] -= origin[i];
}

static lmbTensorWriter *NewWriter( const char *fingerprint )
{
	lmbTensorWriter *writer = malloc( sizeof( *writer ) );
	if ( writer != NULL )
		lmbDatasetFile_Begin( writer, fingerprint );
	return writer;
}

static lmbStatus DoPose( lmbSimulation *simulation, lmbSimulateWorker *worker, int index, lmbError *error )
{
	char path[lmbDatasetPathSize];
	const int64_t bones = simulation->tissue->boneCount, nodes = simulation->tissue->nodeCount;
	lmbSolveReport report;
	LMB_TRY( lmbDatasetPath_Pose( path, simulation->folder, index, error ) );
	LMB_TRY( lmbPoseSource_Draw( simulation->poses, index, worker->bones, error ) );
	LMB_TRY( lmbSolver_Still( worker->solver, worker->bones, worker->displacement, worker->nodes,
	                          simulation->job, &report, error ) );
	Round( worker->nodes, simulation->manifest.poseOrigin, (size_t)nodes, worker->frames );
	MoveBones( worker->bones, (int)bones, simulation->manifest.poseOrigin );
	uint8_t converged = report.converged;
	int32_t iterations = report.iterations;
	lmbTensorWriter *writer = NewWriter( simulation->manifest.poses );
	if ( writer == NULL )
		return lmbError_Memory( error );
	lmbTensorWriter_Add( writer, "bones", lmb_dataF64, 2, ( int64_t[] ){ bones, 12 }, worker->bones );
	lmbTensorWriter_Add( writer, "nodes", lmb_dataF32, 2, ( int64_t[] ){ nodes, 3 }, worker->frames );
	lmbTensorWriter_Add( writer, "iterations", lmb_dataI32, 1, ( int64_t[] ){ 1 }, &iterations );
	lmbTensorWriter_Add( writer, "converged", lmb_dataU8, 1, ( int64_t[] ){ 1 }, &converged );
	lmbStatus status = lmbDatasetFile_Write( writer, path, error );
	free( writer );
	NoteFailures( simulation, "random poses", index, 1, &converged, report.residual );
	Count( simulation, &simulation->posesDone, lmbCostPose );
	return status;
}

static lmbStatus WriteShard( lmbSimulation *simulation, lmbSimulateWorker *worker, int motion, bool moving,
                             int first, const uint8_t *converged, lmbError *error )
{
	char path[lmbDatasetPathSize];
	const lmbMotionRecord *record = simulation->manifest.motions + motion;
	const int64_t length = lmbShard_Length( record->frameCount, first );
	const int64_t bones = simulation->tissue->boneCount, nodes = simulation->tissue->nodeCount;
	LMB_TRY(
	    lmbDatasetPath_Shard( path, simulation->folder, record, moving ? "moving" : "still", first, error ) );
	lmbTensorWriter *writer = NewWriter( moving ? record->moving : record->still );
	if ( writer == NULL )
		return lmbError_Memory( error );
	if ( !moving )
		lmbTensorWriter_Add( writer, "bones", lmb_dataF64, 3, ( int64_t[] ){ length, bones, 12 },
		                     worker->bones );
	lmbTensorWriter_Add( writer, "nodes", lmb_dataF32, 3, ( int64_t[] ){ length, nodes, 3 }, worker->frames );
	lmbTensorWriter_Add( writer, "converged", lmb_dataU8, 1, ( int64_t[] ){ length }, converged );
	lmbStatus status = lmbDatasetFile_Write( writer, path, error );
	free( writer );
	return status;
}

static lmbStatus DoStill( lmbSimulation *simulation, lmbSimulateWorker *worker, int motion, int first,
                          lmbError *error )
{
	const lmbMotionRecord *record = simulation->manifest.motions + motion;
	size_t bones = 12 * (size_t)simulation->tissue->boneCount, nodes = (size_t)simulation->tissue->nodeCount;
	int length = lmbShard_Length( record->frameCount, first );
	uint8_t converged[lmbShardFrames];
	double residual = 0.0;
	for ( int i = 0; i < length; ++i )
	{
		lmbSolveReport report;
		double *pose = worker->bones + bones * (size_t)i;
		lmbMotion_Pose( simulation->motions[motion].motion, ( first + i ) / record->rate, pose );
		LMB_TRY( lmbSolver_Still( worker->solver, pose, worker->displacement, worker->nodes, simulation->job,
		                          &report, error ) );
		Round( worker->nodes, record->origin, nodes, worker->frames + 3 * nodes * (size_t)i );
		MoveBones( pose, simulation->tissue->boneCount, record->origin );
		converged[i] = report.converged;
		residual = fmax( residual, report.residual );
		/* A shape that is no solution is no start for the next one. */
		if ( !report.converged )
			memset( worker->displacement, 0, 3 * nodes * sizeof( double ) );
		Count( simulation, &simulation->stillsDone, lmbCostStill );
	}
	char what[160];
	snprintf( what, sizeof( what ), "%.100s, still frames", record->name );
	NoteFailures( simulation, what, first, length, converged, residual );
	return WriteShard( simulation, worker, motion, false, first, converged, error );
}

static lmbStatus WriteCheckpoint( lmbSimulation *simulation, lmbSimulateWorker *worker,
                                  const lmbMotionRecord *record, int frames, lmbError *error )
{
	char path[lmbDatasetPathSize];
	const int64_t size = (int64_t)lmbSolver_StateSize( worker->solver );
	const int32_t done = frames;
	LMB_TRY( lmbDatasetPath_Checkpoint( path, simulation->folder, record, error ) );
	lmbTensorWriter *writer = NewWriter( record->moving );
	if ( writer == NULL )
		return lmbError_Memory( error );
	lmbSolver_SaveState( worker->solver, worker->state );
	lmbTensorWriter_Add( writer, "state", lmb_dataF64, 1, &size, worker->state );
	lmbTensorWriter_Add( writer, "frames", lmb_dataI32, 1, ( int64_t[] ){ 1 }, &done );
	lmbStatus status = lmbDatasetFile_Write( writer, path, error );
	free( writer );
	return status;
}

/* Frames that a checkpoint says are done, with its state when wanted; 0 when there is none to use. */
static int ReadCheckpoint( const lmbSimulation *simulation, const lmbMotionRecord *record, int64_t size,
                           double *state )
{
	char path[lmbDatasetPathSize];
	int frames = 0;
	const void *data;
	lmbTensorFile *file = calloc( 1, sizeof( *file ) );
	if ( file == NULL )
		return 0;
	if ( lmbDatasetPath_Checkpoint( path, simulation->folder, record, NULL ) == lmb_statusOk &&
	     lmbFile_Exists( path ) && lmbDatasetFile_Open( file, path, record->moving, NULL ) == lmb_statusOk &&
	     lmbTensorFile_Get( file, "frames", lmb_dataI32, 1, ( int64_t[] ){ 1 }, &data, NULL ) ==
	         lmb_statusOk )
	{
		frames = *(const int32_t *)data;
		bool whole = frames > 0 && frames < record->frameCount && frames % lmbShardFrames == 0 &&
		             lmbTensorFile_Get( file, "state", lmb_dataF64, 1, ( int64_t[] ){ size }, &data, NULL ) ==
		                 lmb_statusOk;
		if ( !whole )
			frames = 0;
		else if ( state != NULL )
			memcpy( state, data, (size_t)size * sizeof( double ) );
	}
	lmbTensorFile_Close( file );
	free( file );
	return frames;
}

static bool ShardIsThere( const lmbSimulation *simulation, const lmbMotionRecord *record, int first )
{
	char path[lmbDatasetPathSize];
	return lmbDatasetPath_Shard( path, simulation->folder, record, "moving", first, NULL ) == lmb_statusOk &&
	       lmbDatasetFile_IsThere( path, record->moving );
}

static int ShardFramesDone( const lmbSimulation *simulation, const lmbMotionRecord *record )
{
	int first = 0;
	while ( first < record->frameCount && ShardIsThere( simulation, record, first ) )
		first += lmbShardFrames;
	return first < record->frameCount ? first : record->frameCount;
}

int lmbSimulation_MovingFramesDone( const lmbSimulation *simulation, int motion )
{
	const lmbMotionRecord *record = simulation->manifest.motions + motion;
	int shards = ShardFramesDone( simulation, record );
	if ( shards >= record->frameCount )
		return record->frameCount;
	int64_t size = (int64_t)lmbSolverPlan_StateSize( simulation->plan );
	int frames = ReadCheckpoint( simulation, record, size, NULL );
	return frames <= shards ? frames : 0;
}

/* The frame that a shard starts with: the first of all is the still shape, others follow from the state. */
static lmbStatus MoveTo( lmbSimulation *simulation, lmbSimulateWorker *worker, int motion, int frame,
                         lmbSolveReport *worst, lmbError *error )
{
	const lmbMotionRecord *record = simulation->manifest.motions + motion;
	const lmbMotion *curve = simulation->motions[motion].motion;
	double rate = record->rate * simulation->substeps;
	if ( frame == 0 )
	{
		lmbMotion_Pose( curve, 0.0, worker->bones );
		LMB_TRY( lmbSolver_Still( worker->solver, worker->bones, worker->displacement, worker->nodes,
		                          simulation->job, worst, error ) );
		lmbSolver_Begin( worker->solver, worker->bones, worker->nodes );
		return lmb_statusOk;
	}
	*worst = ( lmbSolveReport ){ .converged = true };
	for ( int step = ( frame - 1 ) * simulation->substeps + 1; step <= frame * simulation->substeps; ++step )
	{
		lmbSolveReport report;
		lmbMotion_Pose( curve, step / rate, worker->bones );
		LMB_TRY( lmbSolver_Step( worker->solver, worker->bones, 1.0 / rate, worker->nodes, simulation->job,
		                         &report, error ) );
		worst->converged = worst->converged && report.converged;
		worst->residual = fmax( worst->residual, report.residual );
		Count( simulation, &simulation->stepsDone, lmbCostStep );
	}
	return lmb_statusOk;
}

static lmbStatus DoMovingShard( lmbSimulation *simulation, lmbSimulateWorker *worker, int motion, int first,
                                lmbError *error )
{
	const lmbMotionRecord *record = simulation->manifest.motions + motion;
	size_t nodes = (size_t)simulation->tissue->nodeCount;
	int length = lmbShard_Length( record->frameCount, first );
	uint8_t converged[lmbShardFrames];
	double residual = 0.0;
	/* Nothing of the shards before may show in the numbers: a run that goes on from here must match. */
	lmbSolver_Sync( worker->solver );
	for ( int i = 0; i < length; ++i )
	{
		lmbSolveReport report;
		LMB_TRY( MoveTo( simulation, worker, motion, first + i, &report, error ) );
		Round( worker->nodes, record->origin, nodes, worker->frames + 3 * nodes * (size_t)i );
		converged[i] = report.converged;
		residual = fmax( residual, report.residual );
	}
	char what[160];
	snprintf( what, sizeof( what ), "%.100s, moving frames", record->name );
	NoteFailures( simulation, what, first, length, converged, residual );
	LMB_TRY( WriteShard( simulation, worker, motion, true, first, converged, error ) );
	if ( first + length < record->frameCount )
		return WriteCheckpoint( simulation, worker, record, first + length, error );
	char path[lmbDatasetPathSize];
	LMB_TRY( lmbDatasetPath_Checkpoint( path, simulation->folder, record, error ) );
	unlink( path );
	return lmb_statusOk;
}

static lmbStatus DoMoving( lmbSimulation *simulation, lmbSimulateWorker *worker, int motion, lmbError *error )
{
	const lmbMotionRecord *record = simulation->manifest.motions + motion;
	int first = lmbSimulation_MovingFramesDone( simulation, motion );
	if ( first > 0 && first < record->frameCount )
	{
		ReadCheckpoint( simulation, record, (int64_t)lmbSolver_StateSize( worker->solver ), worker->state );
		lmbSolver_RestoreState( worker->solver, worker->state );
	}
	for ( ; first < record->frameCount; first += lmbShardFrames )
		LMB_TRY( DoMovingShard( simulation, worker, motion, first, error ) );
	return lmb_statusOk;
}

lmbStatus lmbSimulation_Do( void *context, int index, int worker, lmbError *error )
{
	lmbSimulation *simulation = context;
	const lmbWork *work = simulation->work + index;
	lmbSimulateWorker *own = simulation->workers + worker;
	LMB_TRY( Prepare( simulation, own, error ) );
	switch ( work->kind )
	{
	case lmb_workMoving:
		return DoMoving( simulation, own, work->motion, error );
	case lmb_workStill:
		return DoStill( simulation, own, work->motion, work->index, error );
	default:
		return DoPose( simulation, own, work->index, error );
	}
}
