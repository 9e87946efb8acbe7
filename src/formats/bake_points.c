/* What the files of points share, and point caches. */
#include "formats/bake_points.h"

#include "formats/character_rig.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

lmbStatus lmbBakeFrames_Check( const lmbCharacter *character, const lmbBakeFrames *frames, lmbError *error )
{
	if ( frames->motion == NULL || frames->motion->character != character || frames->positions == NULL )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "a bake needs a motion of the same character, and positions" );
	if ( frames->frameCount < 1 || !( frames->rate >= 1.0 && frames->rate <= 1000.0 ) )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "a bake of %d frames at %g Hz: at least 1 frame, 1 to 1000 Hz",
		                     frames->frameCount, frames->rate );
	size_t perFrame = 3 * (size_t)character->vertexCount;
	for ( size_t i = 0; i < perFrame * (size_t)frames->frameCount; ++i )
		if ( !( fabsf( frames->positions[i] ) < 1e12f ) )
			return lmbError_Set( error, lmb_statusNumerical,
			                     "frame %zu, vertex %zu: the position is not finite", i / perFrame,
			                     i % perFrame / 3 );
	return lmb_statusOk;
}

/* Vertices that the file's indices use, ascending, appended to list. */
static int UsedVertices( const lmbCharacter *character, int partIndex, int32_t *list )
{
	const lmbPart *part = &character->parts[partIndex];
	int count = 0;
	for ( int i = 0; i < part->vertexCount; ++i )
		if ( character->rig->parts[partIndex].used[i] )
			list[count++] = part->firstVertex + i;
	return count;
}

static bool FirstOfNode( const lmbCharacter *character, int partIndex )
{
	for ( int p = 0; p < partIndex; ++p )
		if ( character->parts[p].node == character->parts[partIndex].node )
			return false;
	return true;
}

/* The name of a mesh among several; one that another node has too, or none, gets the node's number. */
static void NameMesh( const lmbCharacter *character, int partIndex, lmbBakeMesh *mesh )
{
	const lmbPart *part = &character->parts[partIndex];
	bool repeated = part->name[0] == 0;
	for ( int p = 0; p < character->partCount; ++p )
		repeated = repeated || ( character->parts[p].node != part->node &&
		                         strcmp( character->parts[p].name, part->name ) == 0 );
	if ( repeated )
		snprintf( mesh->name, sizeof( mesh->name ), "%.150s-%d", part->name, part->node );
	else
		snprintf( mesh->name, sizeof( mesh->name ), "%.150s", part->name );
}

lmbStatus lmbBakeMeshes_Find( const lmbCharacter *character, lmbArena *arena, lmbBakeMeshes *out,
                              lmbError *error )
{
	size_t most = 0;
	for ( int p = 0; p < character->partCount; ++p )
		most += (size_t)character->parts[p].vertexCount;
	int32_t *list = LMB_NEW( arena, int32_t, most );
	*out = ( lmbBakeMeshes ){ .meshes = LMB_NEW( arena, lmbBakeMesh, character->partCount ) };
	if ( list == NULL || out->meshes == NULL )
		return lmbError_Memory( error );
	for ( int p = 0; p < character->partCount; ++p )
	{
		if ( !FirstOfNode( character, p ) )
			continue;
		int node = character->parts[p].node;
		lmbBakeMesh *mesh = &out->meshes[out->count];
		*mesh = ( lmbBakeMesh ){ .node = node, .vertices = list };
		NameMesh( character, p, mesh );
		out->several = out->several || node != character->parts[0].node;
		for ( int q = p; q < character->partCount; ++q )
			if ( character->parts[q].node == node )
				mesh->count += UsedVertices( character, q, list + mesh->count );
		list += mesh->count;
		out->count += mesh->count > 0;
	}
	return lmb_statusOk;
}

void lmbBakeMesh_Points( const lmbBakeMesh *mesh, const lmbCharacter *character, const lmbBakeFrames *frames,
                         int frame, float *points )
{
	const float *positions = frames->positions + 3 * (size_t)frame * (size_t)character->vertexCount;
	for ( int i = 0; i < mesh->count; ++i )
		memcpy( points + 3 * (size_t)i, positions + 3 * (size_t)mesh->vertices[i], 3 * sizeof( float ) );
}

/* --- point caches --- */

static lmbStatus WriteCache( const lmbCharacter *character, const lmbBakeFrames *frames,
                             const lmbBakeMesh *mesh, lmbPointCacheFormat format, const char *path,
                             lmbError *error )
{
	lmbArena scratch = { 0 };
	float *points = LMB_NEW( &scratch, float, 3 * (size_t)mesh->count );
	lmbPointCacheWriter writer = { 0 };
	lmbStatus status = lmb_statusOk;
	if ( points == NULL )
		status = lmbError_Memory( error );
	else
		status = lmbPointCacheWriter_Open( &writer, path, format, frames->frameCount, mesh->count,
		                                   frames->rate, error );
	for ( int f = 0; status == lmb_statusOk && f < frames->frameCount; ++f )
	{
		lmbBakeMesh_Points( mesh, character, frames, f, points );
		status = lmbPointCacheWriter_Frame( &writer, points, error );
	}
	if ( status == lmb_statusOk )
		status = lmbPointCacheWriter_Commit( &writer, error );
	lmbPointCacheWriter_Abort( &writer );
	lmbArena_Free( &scratch );
	return status;
}

/* FOLDER/NAME.EXT, or FOLDER/NAME.MESH.EXT with what a file name cannot hold replaced. */
static lmbStatus CachePath( const lmbBakeMesh *mesh, bool several, lmbPointCacheFormat format,
                            const char *folder, const char *name, char *path, size_t capacity,
                            lmbError *error )
{
	char file[600], middle[sizeof( mesh->name ) + 1] = "";
	if ( several )
		snprintf( middle, sizeof( middle ), ".%s", mesh->name );
	for ( char *c = middle; *c != 0; ++c )
		if ( strchr( "/\\:*?\"<>| ", *c ) != NULL || (unsigned char)*c < 32 )
			*c = '_';
	snprintf( file, sizeof( file ), "%.300s%s.%s", name, middle, lmbPointCache_Extension( format ) );
	return lmbPath_Join( path, capacity, folder, file, error );
}

lmbStatus lmbBake_WritePointCaches( const lmbCharacter *character, const lmbBakeFrames *frames,
                                    lmbPointCacheFormat format, const char *folder, const char *name,
                                    int *fileCount, lmbError *error )
{
	LMB_TRY( lmbBakeFrames_Check( character, frames, error ) );
	lmbArena scratch = { 0 };
	lmbBakeMeshes meshes = { 0 };
	lmbStatus status = lmbBakeMeshes_Find( character, &scratch, &meshes, error );
	for ( int m = 0; status == lmb_statusOk && m < meshes.count; ++m )
	{
		char path[4096];
		status =
		    CachePath( &meshes.meshes[m], meshes.several, format, folder, name, path, sizeof( path ), error );
		if ( status == lmb_statusOk )
			status = WriteCache( character, frames, &meshes.meshes[m], format, path, error );
	}
	if ( fileCount != NULL )
		*fileCount = status == lmb_statusOk ? meshes.count : 0;
	lmbArena_Free( &scratch );
	return status;
}
