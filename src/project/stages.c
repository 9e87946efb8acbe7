#include "project/stages.h"

#include "base/files.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

void lmbStages_Wrote( lmbStages *stages, const char *name )
{
	json_object_set_new( stages->written, name, json_null() );
}

char *lmbStages_Path( lmbStages *stages, const char *name )
{
	char path[4096];
	if ( lmbPath_Join( path, sizeof( path ), stages->def->folder, name, NULL ) != lmb_statusOk )
		return NULL;
	return lmbArena_String( &stages->arena, path );
}

void lmbStages_FileName( char *out, size_t capacity, const char *prefix, const char *name,
                         const char *ending )
{
	snprintf( out, capacity, "%s%s%s", prefix, name, ending );
	for ( char *c = out; *c != 0; ++c )
		if ( !isalnum( (unsigned char)*c ) && strchr( "-_.", *c ) == NULL )
			*c = '_';
}

static void Tell( lmbStages *stages, int stage, lmbStageEvent event )
{
	json_t *stamp = json_object_get( stages->stamps, stages->specs[stage].name );
	if ( stages->def->event != NULL )
		stages->def->event( stages->def->context, stages->specs[stage].name, event,
		                    json_number_value( json_object_get( stamp, "seconds" ) ),
		                    event == lmb_stageStarted ? NULL : json_object_get( stamp, "facts" ) );
}

/* Hashes what the stage wrote and makes it its stamp. */
static lmbStatus Stamp( lmbStages *stages, int stage, json_t *facts, double seconds, lmbError *error )
{
	const char *name;
	json_t *value;
	char text[lmbHashTextSize];
	json_t *files = json_object();
	json_object_foreach( stages->written, name, value )
	{
		lmbHash hash;
		lmbHash_Begin( &hash );
		char *path = lmbStages_Path( stages, name );
		lmbStatus status = path != NULL ? lmbStamps_HashTree( &hash, path, error ) : lmbError_Memory( error );
		if ( status != lmb_statusOk )
		{
			json_decref( files );
			return status;
		}
		lmbHash_Text( lmbHash_End( &hash ), text );
		json_object_set_new( files, name, json_string( text ) );
	}
	lmbHash_Text( stages->fingerprint, text );
	json_t *stamp = json_pack( "{s:s, s:o, s:f, s:O}", "fingerprint", text, "files", files, "seconds",
	                           seconds, "facts", facts );
	if ( stamp == NULL || json_object_set_new( stages->stamps, stages->specs[stage].name, stamp ) != 0 )
		return lmbError_Memory( error );
	return lmbStamps_Write( stages->def->folder, stages->stamps, error );
}

/* Seconds that earlier, interrupted runs spent on the same work. */
static double SecondsBefore( lmbStages *stages, int stage )
{
	json_t *stamp = json_object_get( stages->stamps, stages->specs[stage].name );
	char text[lmbHashTextSize];
	lmbHash_Text( stages->fingerprint, text );
	const char *was = json_string_value( json_object_get( stamp, "begun" ) );
	return was != NULL && strcmp( was, text ) == 0 ? json_number_value( json_object_get( stamp, "seconds" ) )
	                                               : 0.0;
}

/* A stamp that promises nothing, for a stage that was begun: only for the time it took so far. */
static lmbStatus StampBegun( lmbStages *stages, int stage, double seconds, lmbError *error )
{
	char text[lmbHashTextSize];
	lmbHash_Text( stages->fingerprint, text );
	json_t *stamp = json_pack( "{s:s, s:f}", "begun", text, "seconds", seconds );
	if ( stamp == NULL || json_object_set_new( stages->stamps, stages->specs[stage].name, stamp ) != 0 )
		return lmbError_Memory( error );
	return lmbStamps_Write( stages->def->folder, stages->stamps, error );
}

static lmbStatus RunStage( lmbStages *stages, int stage, lmbError *error )
{
	LMB_TRY( lmbStamps_Fingerprint( stages, stage, &stages->fingerprint, error ) );
	if ( lmbStamps_Holds( stages, stage, stages->fingerprint ) )
	{
		Tell( stages, stage, lmb_stageSkipped );
		return lmb_statusOk;
	}
	double before = SecondsBefore( stages, stage ), began = lmbClock_Seconds();
	/* What the stage left in an earlier run must not pass for its result while it runs. */
	LMB_TRY( StampBegun( stages, stage, before, error ) );
	Tell( stages, stage, lmb_stageStarted );
	stages->forget( stages, stage );
	json_t *facts = json_object();
	stages->written = json_object();
	lmbStatus status = stages->specs[stage].run( stages, facts, error );
	double seconds = before + lmbClock_Seconds() - began;
	if ( status == lmb_statusOk )
		status = Stamp( stages, stage, facts, seconds, error );
	else
		(void)StampBegun( stages, stage, seconds, NULL ); /* the first error is the one to tell */
	json_decref( facts );
	json_decref( stages->written );
	stages->written = NULL;
	if ( status == lmb_statusOk )
		Tell( stages, stage, lmb_stageFinished );
	return status;
}

/* All stages that the wanted ones need, and themselves. */
static unsigned Closure( const lmbStages *stages )
{
	bool instant = stages->def->instant;
	unsigned wanted = stages->def->stages;
	for ( int s = stages->count - 1; s >= 0; --s )
	{
		const lmbStageSpec *spec = &stages->specs[s];
		if ( instant && !spec->instant )
			wanted &= ~( 1u << s );
		if ( wanted >> s & 1u )
			wanted |= instant ? spec->needs & ~spec->drops : spec->needs;
	}
	return wanted;
}

/* That a stage's stamp is of the present settings and files, whether it belongs to this run or not. */
static bool IsCurrent( lmbStages *stages, int stage )
{
	uint64_t fingerprint;
	char text[lmbHashTextSize];
	json_t *stamp = json_object_get( stages->stamps, stages->specs[stage].name );
	const char *was = json_string_value( json_object_get( stamp, "fingerprint" ) );
	if ( was == NULL || ( stages->def->instant && !stages->specs[stage].instant ) ||
	     lmbStamps_Fingerprint( stages, stage, &fingerprint, NULL ) != lmb_statusOk )
		return false;
	lmbHash_Text( fingerprint, text );
	return strcmp( was, text ) == 0;
}

/* metrics.json from the stages' facts: the report as a whole, whichever stages ran this time. */
static lmbStatus WriteMetrics( lmbStages *stages, json_t **out, lmbError *error )
{
	json_t *metrics = json_object(), *timing = json_object();
	for ( int s = 0; s < stages->count; ++s )
	{
		json_t *stamp = json_object_get( stages->stamps, stages->specs[s].name );
		json_t *facts = json_object_get( stamp, "facts" );
		if ( !IsCurrent( stages, s ) )
			continue;
		json_object_set( timing, stages->specs[s].name, json_object_get( stamp, "seconds" ) );
		const char *member = stages->specs[s].metrics;
		if ( member != NULL && member[0] == 0 )
			json_object_update( metrics, facts );
		else if ( json_object_size( facts ) > 0 )
			json_object_set( metrics, member != NULL ? member : stages->specs[s].name, facts );
	}
	json_object_set_new( metrics, "timing_s", timing );
	char *text = json_dumps( metrics, JSON_INDENT( 2 ) | JSON_REAL_PRECISION( 9 ) );
	char *path = lmbStages_Path( stages, "metrics.json" );
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

/* A share of one stage's work: many processes fill one folder, and none of them calls it done. */
static lmbStatus RunShard( lmbStages *stages, lmbError *error )
{
	const lmbStageSpec *spec = &stages->specs[stages->shardStage];
	for ( int s = 0; s < stages->count; ++s )
	{
		uint64_t fingerprint;
		if ( ( spec->needs >> s & 1u ) == 0 )
			continue;
		LMB_TRY( lmbStamps_Fingerprint( stages, s, &fingerprint, error ) );
		const char *name = stages->specs[s].name;
		if ( !lmbStamps_Holds( stages, s, fingerprint ) )
			return lmbError_Set( error, lmb_statusNotFound,
			                     "%s: the %s is missing or of other settings; run limber %s once before the "
			                     "shards",
			                     stages->def->folder, name, name );
	}
	Tell( stages, stages->shardStage, lmb_stageStarted );
	json_t *facts = json_object();
	stages->written = json_object();
	lmbStatus status = spec->run( stages, facts, error );
	json_decref( facts );
	json_decref( stages->written );
	return status;
}

static lmbStatus RunStages( lmbStages *stages, json_t **metrics, lmbError *error )
{
	unsigned wanted = Closure( stages );
	for ( int s = 0; s < stages->count; ++s )
	{
		if ( ( wanted >> s & 1u ) == 0 )
			continue;
		if ( lmbJob_Cancelled( &stages->job ) )
			return lmbJob_CancelledStatus( error );
		LMB_TRY( RunStage( stages, s, error ) );
	}
	return WriteMetrics( stages, metrics, error );
}

lmbStatus lmbStages_Run( lmbStages *stages, const lmbPipelineDef *def, const lmbJob *job, json_t **metrics,
                         lmbError *error )
{
	if ( metrics != NULL )
		*metrics = NULL;
	stages->def = def;
	if ( job != NULL )
		stages->job = *job;
	stages->job.seed = (uint64_t)stages->seed;
	int lock;
	LMB_TRY( lmbFolder_Make( def->folder, error ) );
	LMB_TRY( Lock( def->folder, def->shardCount > 0, &lock, error ) );
	lmbStatus status = lmbStamps_Load( def->folder, &stages->stamps, error );
	if ( status == lmb_statusOk && def->shardCount > 0 )
		status = RunShard( stages, error );
	else if ( status == lmb_statusOk )
		status = RunStages( stages, metrics, error );
	json_decref( stages->stamps );
	stages->stamps = NULL;
	close( lock );
	return status;
}
