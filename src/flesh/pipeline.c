#include "flesh/pipeline_private.h"

#include "base/files.h"

#include <string.h>

/* The buffers that a .gltf names; a .glb carries its own. */
static lmbStatus HashCharacter( lmbHash *hash, const char *path, lmbError *error )
{
	LMB_TRY( lmbHash_AddFile( hash, path, error ) );
	json_t *document = json_load_file( path, 0, NULL ); /* NULL for a .glb */
	const char *slash = strrchr( path, '/' );
	char folder[4096] = "";
	if ( slash != NULL )
		snprintf( folder, sizeof( folder ), "%.*s", (int)( slash - path + 1 ), path );
	size_t index;
	json_t *buffer;
	json_array_foreach( json_object_get( document, "buffers" ), index, buffer )
	{
		const char *uri = json_string_value( json_object_get( buffer, "uri" ) );
		char inner[4096];
		lmbError ignored; /* the importer reports a missing buffer, with its place */
		if ( uri != NULL && strncmp( uri, "data:", 5 ) != 0 &&
		     lmbPath_Join( inner, sizeof( inner ), folder, uri, &ignored ) == lmb_statusOk )
			(void)lmbHash_AddFile( hash, inner, &ignored );
	}
	json_decref( document );
	return lmb_statusOk;
}

static lmbStatus HashInputs( void *context, int stage, lmbHash *hash, lmbError *error )
{
	(void)stage; /* all of them come from the character */
	const lmbProject *project = ( (lmbPipeline *)context )->project;
	lmbHash_Add( hash, &project->import.metresPerUnit, sizeof( double ) );
	return HashCharacter( hash, project->character, error );
}

static void Forget( void *context, int stage )
{
	lmbPipeline_Forget( context, (lmbStage)stage );
}

lmbStatus lmbPipeline_Run( const lmbProject *project, const lmbPipelineDef *def, const lmbJob *job,
                           json_t **metrics, lmbError *error )
{
	lmbPipeline pipeline = { .stages = { .specs = lmbFleshStages,
	                                     .count = lmb_stageCount,
	                                     .project = &project->file,
	                                     .seed = project->seed,
	                                     .shardStage = lmb_stageSimulate,
	                                     .hashInputs = HashInputs,
	                                     .forget = Forget },
	                         .project = project };
	/* Told before the stages that come first have taken their time. */
	unsigned withoutMotion = 1u << lmb_stageTissue | 1u << lmb_stageModes;
	if ( !def->instant && project->trainedCount == 0 && ( def->stages & ~withoutMotion ) != 0 &&
	     lmbFile_Exists( project->character ) )
		return lmbError_Set(
		    error, lmb_statusInvalidArgument,
		    "%s: motions.train names no motion; name at least one animation, or run with --instant",
		    project->file.path );
	lmbStatus status = lmbStages_Run( &pipeline.stages, def, job, metrics, error );
	lmbPipeline_ForgetAll( &pipeline );
	return status;
}
