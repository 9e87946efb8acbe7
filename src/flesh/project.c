#include "flesh/project.h"

#include "base/files.h"
#include "flesh/project_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static lmbStatus CheckMotions( const lmbProject *project, lmbError *error )
{
	int count = project->trainedCount + project->heldOutCount;
	for ( int i = 0; i < count; ++i )
		for ( int k = 0; k < i; ++k )
		{
			const lmbProjectMotion *a = i < project->trainedCount
			                                ? &project->trained[i]
			                                : &project->heldOut[i - project->trainedCount];
			const lmbProjectMotion *b = k < project->trainedCount
			                                ? &project->trained[k]
			                                : &project->heldOut[k - project->trainedCount];
			const char *name = a->name != NULL ? a->name : a->clip;
			if ( strcmp( name, b->name != NULL ? b->name : b->clip ) != 0 )
				continue;
			const lmbProjectPlace *place = project->places;
			while ( place != NULL && place->text != name )
				place = place->next;
			return lmbError_Set( error, lmb_statusInvalidArgument,
			                     "%s:%d:%d: two motions are called \"%s\"; give one of them a \"name\"",
			                     project->path, place != NULL ? place->line : 1,
			                     place != NULL ? place->column : 1, name );
		}
	return lmb_statusOk;
}

/* The file's name without its ending; of ".../puppet/project.yaml" it is "puppet". */
static char *NameOf( lmbArena *arena, const char *path )
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

static lmbStatus NewProject( const char *path, lmbProject **out, lmbError *error )
{
	lmbProject *project = calloc( 1, sizeof( *project ) );
	if ( project == NULL )
		return lmbError_Memory( error );
	lmbProject_Defaults( project );
	project->path = lmbArena_String( &project->arena, path );
	if ( project->path == NULL )
	{
		lmbProject_Free( project );
		return lmbError_Memory( error );
	}
	*out = project;
	return lmb_statusOk;
}

static lmbStatus ReadFile( lmbProject *project, lmbError *error )
{
	char folder[4096] = "";
	const char *slash = strrchr( project->path, '/' );
	size_t length = slash != NULL ? (size_t)( slash - project->path ) + 1 : 0;
	if ( length >= sizeof( folder ) )
		return lmbError_Set( error, lmb_statusInvalidArgument, "%s: the path is too long", project->path );
	memcpy( folder, project->path, length );
	lmbArena arena = { 0 };
	char *text = NULL;
	size_t size = 0;
	lmbStatus status = lmbFile_Read( project->path, &arena, &text, &size, error );
	if ( status == lmb_statusOk )
		status = lmbProject_Read( project, project->path, folder, text, size, error );
	lmbArena_Free( &arena );
	LMB_TRY( status );
	if ( project->character == NULL )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "%s:1:1: the key \"character\" is missing; it names a .glb or .gltf file",
		                     project->path );
	if ( project->name == NULL && ( project->name = NameOf( &project->arena, project->path ) ) == NULL )
		return lmbError_Memory( error );
	return CheckMotions( project, error );
}

lmbStatus lmbProject_Load( const char *path, lmbProject **out, lmbError *error )
{
	*out = NULL;
	lmbProject *project = NULL;
	LMB_TRY( NewProject( path, &project, error ) );
	lmbStatus status = ReadFile( project, error );
	if ( status == lmb_statusOk )
		*out = project;
	else
		lmbProject_Free( project );
	return status;
}

lmbStatus lmbProject_ForCharacter( const char *character, lmbProject **out, lmbError *error )
{
	*out = NULL;
	lmbProject *project = NULL;
	LMB_TRY( NewProject( character, &project, error ) );
	project->character = project->path;
	project->name = NameOf( &project->arena, character );
	if ( project->name == NULL )
	{
		lmbProject_Free( project );
		return lmbError_Memory( error );
	}
	*out = project;
	return lmb_statusOk;
}

void lmbProject_Free( lmbProject *project )
{
	if ( project == NULL )
		return;
	lmbArena_Free( &project->arena );
	free( project );
}

const char *lmbProject_Section( int index )
{
	return index >= 0 && index < lmbProjectSectionCount ? lmbProjectSections[index].name : NULL;
}

lmbStatus lmbProject_Set( lmbProject *project, const char *assignment, lmbError *error )
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
	return lmbProject_Read( project, NULL, "", text, (size_t)used, error );
}

lmbStatus lmbProject_TissueDef( const lmbProject *project, lmbArena *arena, lmbTissueDef *out,
                                lmbError *error )
{
	lmbTissueDef defaults = lmbDefaultTissueDef();
	int count = defaults.materialCount + project->tissue.materialCount;
	lmbMaterial *materials = LMB_NEW( arena, lmbMaterial, count );
	if ( materials == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < count; ++i )
		materials[i] = i < defaults.materialCount ? defaults.materials[i]
		                                          : project->tissue.materials[i - defaults.materialCount];
	*out = project->tissue;
	out->materials = materials;
	out->materialCount = count;
	return lmb_statusOk;
}

lmbMotionDef lmbProject_MotionDef( const lmbProject *project, const lmbProjectMotion *motion )
{
	lmbMotionDef def = project->motion;
	def.start = motion->start;
	def.duration = motion->duration;
	if ( !isnan( motion->keyRate ) )
		def.keyRate = motion->keyRate;
	if ( !isnan( motion->cutoff ) )
		def.cutoff = motion->cutoff;
	if ( !isnan( motion->warpIn ) )
		def.warpIn = motion->warpIn;
	return def;
}
