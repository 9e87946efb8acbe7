/* stages.json: what was made from what. */
#include "project/stages.h"

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

lmbStatus lmbStamps_Fingerprint( lmbStages *stages, int stage, uint64_t *out, lmbError *error )
{
	const lmbStageSpec *spec = &stages->specs[stage];
	lmbHash hash;
	lmbHash_Begin( &hash );
	lmbHash_AddText( &hash, spec->name );
	int numbers[3] = { spec->version, stages->def->instant ? 1 : 0, spec->seed ? stages->seed : 0 };
	lmbHash_Add( &hash, numbers, sizeof( numbers ) );
	LMB_TRY( stages->hashInputs( stages, stage, &hash, error ) );
	for ( int i = 0; spec->sections[i] != NULL; ++i )
	{
		const char *settings = lmbProjectFile_Settings( stages->project, spec->sections[i], &stages->arena );
		if ( settings == NULL )
			return lmbError_Memory( error );
		lmbHash_AddText( &hash, settings );
	}
	for ( int s = 0; s < stages->count; ++s )
	{
		unsigned needs = stages->def->instant ? spec->needs & ~spec->drops : spec->needs;
		if ( ( needs >> s & 1u ) == 0 )
			continue;
		/* Files made again with the same content change nothing downstream. */
		char *files =
		    json_dumps( json_object_get( json_object_get( stages->stamps, stages->specs[s].name ), "files" ),
		                JSON_COMPACT | JSON_SORT_KEYS );
		lmbHash_AddText( &hash, files != NULL ? files : "" );
		free( files );
	}
	*out = lmbHash_End( &hash );
	return lmb_statusOk;
}

bool lmbStamps_Holds( lmbStages *stages, int stage, uint64_t fingerprint )
{
	json_t *stamp = json_object_get( stages->stamps, stages->specs[stage].name );
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
		if ( lmbPath_Join( path, sizeof( path ), stages->def->folder, name, NULL ) != lmb_statusOk ||
		     lmbStamps_HashTree( &hash, path, NULL ) != lmb_statusOk )
			return false;
		lmbHash_Text( lmbHash_End( &hash ), text );
		if ( !json_is_string( value ) || strcmp( json_string_value( value ), text ) != 0 )
			return false;
	}
	return true;
}
