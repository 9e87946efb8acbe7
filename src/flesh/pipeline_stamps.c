/* stages.json: what was made from what. */
#include "flesh/pipeline_private.h"

#include "base/files.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const stampsName = "stages.json";

lmbStatus lmbStamps_Load( const char *folder, json_t **out, lmbError *error )
{
	char path[4096];
	LMB_TRY( lmbPath_Join( path, sizeof( path ), folder, stampsName, error ) );
	/* A missing or damaged file only means that everything is made again. */
	json_t *stamps = json_load_file( path, 0, NULL );
	if ( !json_is_object( stamps ) )
	{
		json_decref( stamps );
		stamps = json_object();
	}
	*out = stamps;
	return stamps != NULL ? lmb_statusOk : lmbError_Memory( error );
}

lmbStatus lmbStamps_Write( const char *folder, const json_t *stamps, lmbError *error )
{
	char path[4096];
	LMB_TRY( lmbPath_Join( path, sizeof( path ), folder, stampsName, error ) );
	char *text = json_dumps( stamps, JSON_INDENT( 2 ) );
	if ( text == NULL )
		return lmbError_Memory( error );
	lmbStatus status = lmbFile_Write( path, text, strlen( text ), error );
	free( text );
	return status;
}

static int IsListed( const struct dirent *entry )
{
	return strcmp( entry->d_name, "." ) != 0 && strcmp( entry->d_name, ".." ) != 0;
}

static lmbStatus HashFolder( lmbHash *hash, const char *path, lmbError *error )
{
	struct dirent **entries;
	int count = scandir( path, &entries, IsListed, alphasort );
	if ( count < 0 )
		return lmbError_Set( error, lmb_statusIo, "%s: cannot list: %s", path, strerror( errno ) );
	lmbStatus status = lmb_statusOk;
	for ( int i = 0; i < count; ++i )
	{
		char inner[4096];
		if ( status == lmb_statusOk )
			status = lmbPath_Join( inner, sizeof( inner ), path, entries[i]->d_name, error );
		if ( status == lmb_statusOk )
		{
			lmbHash_AddText( hash, entries[i]->d_name );
			status = lmbStamps_HashTree( hash, inner, error );
		}
		free( entries[i] );
	}
	free( entries );
	return status;
}

lmbStatus lmbStamps_HashTree( lmbHash *hash, const char *path, lmbError *error )
{
	struct stat info;
	if ( stat( path, &info ) != 0 )
		return lmbError_Set( error, lmb_statusIo, "%s: cannot read: %s", path, strerror( errno ) );
	if ( S_ISDIR( info.st_mode ) )
		return HashFolder( hash, path, error );
	uint64_t size = (uint64_t)info.st_size;
	lmbHash_Add( hash, &size, sizeof( size ) );
	return lmbHash_AddFile( hash, path, error );
}

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

lmbStatus lmbStamps_Fingerprint( lmbPipeline *pipeline, lmbStage stage, uint64_t *out, lmbError *error )
{
	const lmbStageSpec *spec = &lmbStageSpecs[stage];
	const lmbProject *project = pipeline->project;
	lmbHash hash;
	lmbHash_Begin( &hash );
	lmbHash_AddText( &hash, spec->name );
	int numbers[3] = { spec->version, pipeline->def->instant ? 1 : 0, spec->seed ? project->seed : 0 };
	lmbHash_Add( &hash, numbers, sizeof( numbers ) );
	lmbHash_Add( &hash, &project->import.metresPerUnit, sizeof( double ) );
	LMB_TRY( HashCharacter( &hash, project->character, error ) );
	for ( int i = 0; spec->sections[i] != NULL; ++i )
	{
		const char *settings = lmbProject_Settings( project, spec->sections[i], &pipeline->arena );
		if ( settings == NULL )
			return lmbError_Memory( error );
		lmbHash_AddText( &hash, settings );
	}
	for ( int s = 0; s < lmb_stageCount; ++s )
	{
		unsigned needs = pipeline->def->instant ? spec->needs & ~spec->drops : spec->needs;
		if ( ( needs >> s & 1u ) == 0 )
			continue;
		/* Files made again with the same content change nothing downstream. */
		char *files = json_dumps(
		    json_object_get( json_object_get( pipeline->stamps, lmbStageSpecs[s].name ), "files" ),
		    JSON_COMPACT | JSON_SORT_KEYS );
		lmbHash_AddText( &hash, files != NULL ? files : "" );
		free( files );
	}
	*out = lmbHash_End( &hash );
	return lmb_statusOk;
}

bool lmbStamps_Holds( lmbPipeline *pipeline, lmbStage stage, uint64_t fingerprint )
{
	json_t *stamp = json_object_get( pipeline->stamps, lmbStageSpecs[stage].name );
	char text[lmbHashTextSize];
	lmbHash_Text( fingerprint, text );
	const char *was = json_string_value( json_object_get( stamp, "fingerprint" ) );
	json_t *files = json_object_get( stamp, "files" );
	if ( was == NULL || strcmp( was, text ) != 0 || !json_is_object( files ) )
		return false;
	const char *name;
	json_t *value;
	json_object_foreach( files, name, value )
	{
		char path[4096];
		lmbHash hash;
		lmbHash_Begin( &hash );
		if ( lmbPath_Join( path, sizeof( path ), pipeline->def->folder, name, NULL ) != lmb_statusOk ||
		     lmbStamps_HashTree( &hash, path, NULL ) != lmb_statusOk )
			return false;
		lmbHash_Text( lmbHash_End( &hash ), text );
		if ( !json_is_string( value ) || strcmp( json_string_value( value ), text ) != 0 )
			return false;
	}
	return true;
}
