#include "flesh/pipeline_private.h"

#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

const char *lmbStage_Name( lmbStage stage )
{
	return lmbStageSpecs[stage].name;
}

void lmbPipeline_Wrote( lmbPipeline *pipeline, const char *name )
{
	json_object_set_new( pipeline->written, name, json_null() );
}

static void Tell( lmbPipeline *pipeline, lmbStage stage, lmbStageEvent event )
{
	json_t *stamp = json_object_get( pipeline->stamps, lmbStageSpecs[stage].name );
	if ( pipeline->def->event != NULL )
		pipeline->def->event( pipeline->def->context, stage, event,
		                      json_number_value( json_object_get( stamp, "seconds" ) ),
		                      event == lmb_stageStarted ? NULL : json_object_get( stamp, "facts" ) );
}

/* Hashes what the stage wrote and makes it its stamp. */
static lmbStatus Stamp( lmbPipeline *pipeline, lmbStage stage, json_t *facts, double seconds,
                        lmbError *error )
{
	const char *name;
	json_t *value;
	char text[lmbHashTextSize];
	json_t *files = json_object();
	json_object_foreach( pipeline->written, name, value )
	{
		lmbHash hash;
		lmbHash_Begin( &hash );
		char *path = lmbPipeline_Path( pipeline, name );
		lmbStatus status = path != NULL ? lmbStamps_HashTree( &hash, path, error ) : lmbError_Memory( error );
		if ( status != lmb_statusOk )
		{
			json_decref( files );
			return status;
		}
		lmbHash_Text( lmbHash_End( &hash ), text );
		json_object_set_new( files, name, json_string( text ) );
	}
	lmbHash_Text( pipeline->fingerprint, text );
	json_t *stamp = json_pack( "{s:s, s:o, s:f, s:O}", "fingerprint", text, "files", files, "seconds",
	                           seconds, "facts", facts );
	if ( stamp == NULL || json_object_set_new( pipeline->stamps, lmbStageSpecs[stage].name, stamp ) != 0 )
		return lmbError_Memory( error );
	return lmbStamps_Write( pipeline->def->folder, pipeline->stamps, error );
}

/* Seconds that earlier, interrupted runs spent on the same work. */
static double SecondsBefore( lmbPipeline *pipeline, lmbStage stage )
{
	json_t *stamp = json_object_get( pipeline->stamps, lmbStageSpecs[stage].name );
	char text[lmbHashTextSize];
	lmbHash_Text( pipeline->fingerprint, text );
	const char *was = json_string_value( json_object_get( stamp, "begun" ) );
	return was != NULL && strcmp( was, text ) == 0 ? json_number_value( json_object_get( stamp, "seconds" ) )
	                                               : 0.0;
}

/* A stamp that promises nothing, for a stage that was begun: only for the time it took so far. */
static lmbStatus StampBegun( lmbPipeline *pipeline, lmbStage stage, double seconds, lmbError *error )
{
	char text[lmbHashTextSize];
	lmbHash_Text( pipeline->fingerprint, text );
	json_t *stamp = json_pack( "{s:s, s:f}", "begun", text, "seconds", seconds );
	if ( stamp == NULL || json_object_set_new( pipeline->stamps, lmbStageSpecs[stage].name, stamp ) != 0 )
		return lmbError_Memory( error );
	return lmbStamps_Write( pipeline->def->folder, pipeline->stamps, error );
}

static lmbStatus RunStage( lmbPipeline *pipeline, lmbStage stage, lmbError *error )
{
	LMB_TRY( lmbStamps_Fingerprint( pipeline, stage, &pipeline->fingerprint, error ) );
	if ( lmbStamps_Holds( pipeline, stage, pipeline->fingerprint ) )
	{
		Tell( pipeline, stage, lmb_stageSkipped );
		return lmb_statusOk;
	}
	double before = SecondsBefore( pipeline, stage ), began = lmbClock_Seconds();
	/* What the stage left in an earlier run must not pass for its result while it runs. */
	LMB_TRY( StampBegun( pipeline, stage, before, error ) );
	Tell( pipeline, stage, lmb_stageStarted );
	lmbPipeline_Forget( pipeline, stage );
	json_t *facts = json_object();
	pipeline->written = json_object();
	lmbStatus status = lmbStageSpecs[stage].run( pipeline, facts, error );
	double seconds = before + lmbClock_Seconds() - began;
	if ( status == lmb_statusOk )
		status = Stamp( pipeline, stage, facts, seconds, error );
	else
		(void)StampBegun( pipeline, stage, seconds, NULL ); /* the first error is the one to tell */
	json_decref( facts );
	json_decref( pipeline->written );
	pipeline->written = NULL;
	if ( status == lmb_statusOk )
		Tell( pipeline, stage, lmb_stageFinished );
	return status;
}

/* All stages that the wanted ones need, and themselves. */
static unsigned Closure( const lmbPipelineDef *def )
{
	unsigned wanted = def->stages;
	for ( int s = lmb_stageCount - 1; s >= 0; --s )
	{
		const lmbStageSpec *spec = &lmbStageSpecs[s];
		if ( def->instant && !spec->instant )
			wanted &= ~( 1u << s );
		if ( wanted >> s & 1u )
			wanted |= def->instant ? spec->needs & ~spec->drops : spec->needs;
	}
	return wanted;
}

/* That a stage's stamp is of the present settings and files, whether it belongs to this run or not. */
static bool IsCurrent( lmbPipeline *pipeline, lmbStage stage )
{
	uint64_t fingerprint;
	char text[lmbHashTextSize];
	json_t *stamp = json_object_get( pipeline->stamps, lmbStageSpecs[stage].name );
	const char *was = json_string_value( json_object_get( stamp, "fingerprint" ) );
	if ( was == NULL || ( pipeline->def->instant && !lmbStageSpecs[stage].instant ) ||
	     lmbStamps_Fingerprint( pipeline, stage, &fingerprint, NULL ) != lmb_statusOk )
		return false;
	lmbHash_Text( fingerprint, text );
	return strcmp( was, text ) == 0;
}

/* metrics.json from the stages' facts: the report as a whole, whichever stages ran this time. */
static lmbStatus WriteMetrics( lmbPipeline *pipeline, json_t **out, lmbError *error )
{
	json_t *metrics = json_object(), *timing = json_object();
	for ( int s = 0; s < lmb_stageCount; ++s )
	{
		json_t *stamp = json_object_get( pipeline->stamps, lmbStageSpecs[s].name );
		json_t *facts = json_object_get( stamp, "facts" );
		if ( !IsCurrent( pipeline, (lmbStage)s ) )
			continue;
		json_object_set( timing, lmbStageSpecs[s].name, json_object_get( stamp, "seconds" ) );
		if ( s == lmb_stageEvaluate )
			json_object_update( metrics, facts );
		else if ( json_object_size( facts ) > 0 )
			json_object_set( metrics, s == lmb_stageTrain ? "network" : lmbStageSpecs[s].name, facts );
	}
	json_object_set_new( metrics, "timing_s", timing );
	char *text = json_dumps( metrics, JSON_INDENT( 2 ) | JSON_REAL_PRECISION( 9 ) );
	char *path = lmbPipeline_Path( pipeline, "metrics.json" );
	lmbStatus status = text != NULL && path != NULL ? lmbFile_Write( path, text, strlen( text ), error )
	                                                : lmbError_Memory( error );
	free( text );
	if ( out != NULL && status == lmb_statusOk )
		*out = json_incref( metrics );
	json_decref( metrics );
	return status;
}

/* One process works in a folder. The lock goes with the process, however it ends. */
static lmbStatus Lock( const char *folder, bool shared, int *handle, lmbError *error )
{
	char path[4096];
	LMB_TRY( lmbPath_Join( path, sizeof( path ), folder, "lock", error ) );
	*handle = open( path, O_RDWR | O_CREAT | O_CLOEXEC, 0666 );
	if ( *handle < 0 )
		return lmbError_Set( error, lmb_statusIo, "%s: cannot create: %s", path, strerror( errno ) );
	if ( flock( *handle, ( shared ? LOCK_SH : LOCK_EX ) | LOCK_NB ) == 0 )
		return lmb_statusOk;
	close( *handle );
	return lmbError_Set( error, lmb_statusIo,
	                     "%s: another limber works in this folder; wait for it, or give another --out",
	                     folder );
}

/* A share of the simulation's poses: many processes fill one folder, and none of them calls it done. */
static lmbStatus RunShard( lmbPipeline *pipeline, lmbError *error )
{
	uint64_t fingerprint;
	LMB_TRY( lmbStamps_Fingerprint( pipeline, lmb_stageTissue, &fingerprint, error ) );
	if ( !lmbStamps_Holds( pipeline, lmb_stageTissue, fingerprint ) )
		return lmbError_Set( error, lmb_statusNotFound,
		                     "%s: the tissue is missing or of other settings; run limber "
		                     "tissue once before the shards",
		                     pipeline->def->folder );
	Tell( pipeline, lmb_stageSimulate, lmb_stageStarted );
	json_t *facts = json_object();
	pipeline->written = json_object();
	lmbStatus status = lmbStageSpecs[lmb_stageSimulate].run( pipeline, facts, error );
	json_decref( facts );
	json_decref( pipeline->written );
	return status;
}

static lmbStatus RunStages( lmbPipeline *pipeline, json_t **metrics, lmbError *error )
{
	unsigned stages = Closure( pipeline->def );
	for ( int s = 0; s < lmb_stageCount; ++s )
	{
		if ( ( stages >> s & 1u ) == 0 )
			continue;
		if ( lmbJob_Cancelled( &pipeline->job ) )
			return lmbJob_CancelledStatus( error );
		LMB_TRY( RunStage( pipeline, (lmbStage)s, error ) );
	}
	return WriteMetrics( pipeline, metrics, error );
}

lmbStatus lmbPipeline_Run( const lmbProject *project, const lmbPipelineDef *def, const lmbJob *job,
                           json_t **metrics, lmbError *error )
{
	if ( metrics != NULL )
		*metrics = NULL;
	lmbPipeline pipeline = { .project = project, .def = def };
	if ( job != NULL )
		pipeline.job = *job;
	pipeline.job.seed = (uint64_t)project->seed;
	int lock;
	LMB_TRY( lmbFolder_Make( def->folder, error ) );
	LMB_TRY( Lock( def->folder, def->shardCount > 0, &lock, error ) );
	lmbStatus status = lmbStamps_Load( def->folder, &pipeline.stamps, error );
	if ( status == lmb_statusOk && def->shardCount > 0 )
		status = RunShard( &pipeline, error );
	else if ( status == lmb_statusOk )
		status = RunStages( &pipeline, metrics, error );
	json_decref( pipeline.stamps );
	lmbPipeline_ForgetAll( &pipeline );
	close( lock );
	return status;
}
