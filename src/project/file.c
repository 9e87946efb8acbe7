/* A project as a file: made, loaded, changed. */
#include "project/table.h"

#include "base/files.h"

#include <stdlib.h>
#include <string.h>

const char *lmbProjectFile_Name( lmbArena *arena, const char *path )
{
	char *copy = lmbArena_String( arena, path );
	if ( copy == NULL )
		return NULL;
	for ( int turn = 0; turn < 2; ++turn )
	{
		char *slash = strrchr( copy, '/' );
		char *base = slash != NULL ? slash + 1 : copy;
		char *dot = turn == 0 ? strrchr( base, '.' ) : NULL;
		if ( dot != NULL && dot != base )
			*dot = 0;
		if ( strcmp( base, "project" ) != 0 || slash == NULL )
			return base[0] != 0 && strcmp( base, "." ) != 0 && strcmp( base, ".." ) != 0
			           ? base
			           : lmbArena_String( arena, "project" );
		*slash = 0;
	}
	return lmbArena_String( arena, "project" );
}

lmbStatus lmbProjectFile_New( const lmbProjectTable *table, const char *path, lmbProjectFile **out,
                              lmbError *error )
{
	lmbProjectFile *file = calloc( 1, table->size );
	if ( file == NULL )
		return lmbError_Memory( error );
	table->defaults( file );
	file->table = table;
	file->path = lmbArena_String( &file->arena, path );
	if ( file->path == NULL )
	{
		lmbProjectFile_Free( file );
		return lmbError_Memory( error );
	}
	*out = file;
	return lmb_statusOk;
}

void lmbProjectFile_Free( lmbProjectFile *file )
{
	if ( file == NULL )
		return;
	lmbArena_Free( &file->arena );
	free( file );
}

lmbStatus lmbProjectFile_Load( lmbProjectFile *file, lmbError *error )
{
	char folder[4096] = "";
	const char *slash = strrchr( file->path, '/' );
	size_t length = slash != NULL ? (size_t)( slash - file->path ) + 1 : 0;
	if ( length >= sizeof( folder ) )
		return lmbError_Set( error, lmb_statusInvalidArgument, "%s: the path is too long", file->path );
	memcpy( folder, file->path, length );
	lmbArena arena = { 0 };
	char *text = NULL;
	size_t size = 0;
	lmbStatus status = lmbFile_Read( file->path, &arena, &text, &size, error );
	if ( status == lmb_statusOk )
		status = lmbProjectFile_Read( file, file->path, folder, text, size, error );
	lmbArena_Free( &arena );
	LMB_TRY( status );
	if ( !file->hasNeeded )
		return lmbError_Set( error, lmb_statusInvalidArgument, "%s:1:1: the key \"%s\" is missing; %s",
		                     file->path, file->table->needed, file->table->missing );
	return lmb_statusOk;
}

lmbStatus lmbProjectFile_Set( lmbProjectFile *file, const char *assignment, lmbError *error )
{
	const char *equals = strchr( assignment, '=' );
	const char *dot = strchr( assignment, '.' );
	char text[4096];
	if ( equals == NULL )
		return lmbError_Set( error, lmb_statusInvalidArgument, "--set: \"%s\" is not SECTION.KEY=VALUE",
		                     assignment );
	/* As flow YAML, { section: { key: value } }, it goes the same way as the file. */
	int used;
	if ( dot != NULL && dot < equals )
		used = snprintf( text, sizeof( text ), "{ %.*s: { %.*s: %s } }", (int)( dot - assignment ),
		                 assignment, (int)( equals - dot - 1 ), dot + 1, equals + 1 );
	else
		used = snprintf( text, sizeof( text ), "{ %.*s: %s }", (int)( equals - assignment ), assignment,
		                 equals + 1 );
	if ( used < 0 || (size_t)used >= sizeof( text ) )
		return lmbError_Set( error, lmb_statusInvalidArgument, "--set: the text is too long" );
	return lmbProjectFile_Read( file, NULL, "", text, (size_t)used, error );
}

void lmbProjectFile_Place( const lmbProjectFile *file, const char *text, int *line, int *column )
{
	*line = *column = 1;
	const lmbProjectPlace *place = file->places;
	while ( place != NULL && place->text != text )
		place = place->next;
	if ( place == NULL )
		return;
	*line = place->line;
	*column = place->column;
}

const lmbProjectRecord *lmbProjectTable_FindRecord( const lmbProjectTable *table, const char *name )
{
	for ( int i = 0; i < table->recordCount; ++i )
		if ( strcmp( table->records[i].name, name ) == 0 )
			return &table->records[i];
	return NULL;
}
