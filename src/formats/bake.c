#include "formats/bake.h"

#include "formats/bake_basis.h"
#include "formats/bake_glb.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

lmbBakeDef lmbDefaultBakeDef( void )
{
	return ( lmbBakeDef ){ .targets = 8, .sweeps = 1 };
}

static lmbStatus CheckFrames( const lmbCharacter *character, const lmbBakeFrames *frames, lmbError *error )
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

/* "CLIP (limber)", and a number behind it where the file has that name already. */
static const char *AnimationName( lmbBakeFile *file, const lmbBakeDef *def )
{
	char plain[200], name[220];
	if ( def->name != NULL )
		snprintf( plain, sizeof( plain ), "%s", def->name );
	else
		snprintf( plain, sizeof( plain ), "%.180s (limber)", file->frames->motion->name );
	snprintf( name, sizeof( name ), "%s", plain );
	for ( int n = 2; lmbCharacter_FindClip( file->character, name ) >= 0; ++n )
		snprintf( name, sizeof( name ), "%s %d", plain, n );
	return lmbArena_String( &file->arena, name );
}

static lmbStatus FindBasis( lmbBakeFile *file, const lmbBakeDef *def, lmbBakeBasis *basis, lmbError *error )
{
	const lmbBakeFrames *frames = file->frames;
	size_t perFrame = 12 * (size_t)file->character->boneCount;
	double *bones = LMB_NEW( &file->arena, double, perFrame *(size_t)frames->frameCount );
	if ( bones == NULL )
		return lmbError_Memory( error );
	for ( int f = 0; f < frames->frameCount; ++f )
		lmbMotion_Pose( frames->motion, f / frames->rate, bones + perFrame * (size_t)f );
	const lmbBakeProblem problem = { .character = file->character,
	                                 .frameCount = frames->frameCount,
	                                 .bones = bones,
	                                 .positions = frames->positions,
	                                 .targets = def->targets,
	                                 .sweeps = def->sweeps };
	return lmbBakeBasis_Find( &problem, file->job, &file->arena, basis, error );
}

static lmbStatus WriteFile( lmbBakeFile *file, const char *path, lmbError *error )
{
	LMB_TRY( lmbGlbWriter_Init( &file->writer, file->character->rig->gltf.root, error ) );
	LMB_TRY( lmbBakeFile_CarryOver( file, error ) );
	LMB_TRY( lmbBakeFile_AddTargets( file, error ) );
	LMB_TRY( lmbBakeFile_Mend( file, error ) );
	LMB_TRY( lmbBakeFile_WidenWeights( file, error ) );
	LMB_TRY( lmbBakeFile_AddAnimation( file, error ) );
	return lmbGlbWriter_Write( &file->writer, path, error );
}

lmbStatus lmbBake_WriteGlb( const lmbCharacter *character, const lmbBakeDef *def, const lmbBakeFrames *frames,
                            const char *path, const lmbJob *job, lmbBakeReport *report, lmbError *error )
{
	LMB_TRY( CheckFrames( character, frames, error ) );
	if ( def->targets < 1 || def->targets > 64 || def->sweeps < 0 || def->sweeps > 20 )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "%d morph targets and %d sweeps: 1 to 64 and 0 to 20 are possible", def->targets,
		                     def->sweeps );
	lmbBakeBasis basis = { 0 };
	lmbBakeFile file = { .character = character, .frames = frames, .basis = &basis, .job = job };
	file.name = AnimationName( &file, def );
	lmbStatus status = file.name != NULL ? FindBasis( &file, def, &basis, error ) : lmbError_Memory( error );
	if ( status == lmb_statusOk )
		status = WriteFile( &file, path, error );
	if ( status == lmb_statusOk && report != NULL )
	{
		*report = ( lmbBakeReport ){ .targets = basis.targets,
		                             .dynamics = basis.dynamics,
		                             .truncation = basis.truncation,
		                             .largestTruncation = basis.largestTruncation };
		snprintf( report->name, sizeof( report->name ), "%s", file.name );
	}
	lmbGlbWriter_Free( &file.writer );
	lmbArena_Free( &file.arena );
	return status;
}

/* --- point caches --- */

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

static lmbStatus WriteCache( const lmbBakeFrames *frames, int vertexCount, const int32_t *list, int count,
                             lmbPointCacheFormat format, const char *path, lmbError *error )
{
	lmbArena scratch = { 0 };
	float *points = LMB_NEW( &scratch, float, 3 * (size_t)count );
	lmbPointCacheWriter writer = { 0 };
	lmbStatus status = lmb_statusOk;
	if ( points == NULL )
		status = lmbError_Memory( error );
	else
		status =
		    lmbPointCacheWriter_Open( &writer, path, format, frames->frameCount, count, frames->rate, error );
	for ( int f = 0; status == lmb_statusOk && f < frames->frameCount; ++f )
	{
		const float *positions = frames->positions + 3 * (size_t)f * (size_t)vertexCount;
		for ( int i = 0; i < count; ++i )
			memcpy( points + 3 * (size_t)i, positions + 3 * (size_t)list[i], 3 * sizeof( float ) );
		status = lmbPointCacheWriter_Frame( &writer, points, error );
	}
	if ( status == lmb_statusOk )
		status = lmbPointCacheWriter_Commit( &writer, error );
	lmbPointCacheWriter_Abort( &writer );
	lmbArena_Free( &scratch );
	return status;
}

static bool SeveralNodes( const lmbCharacter *character )
{
	for ( int p = 1; p < character->partCount; ++p )
		if ( character->parts[p].node != character->parts[0].node )
			return true;
	return false;
}

/* FOLDER/NAME.EXT, or FOLDER/NAME.MESH.EXT with what a file name cannot hold replaced; a mesh's name that
 * another node has too gets the node's number. */
static lmbStatus CachePath( const lmbCharacter *character, int partIndex, lmbPointCacheFormat format,
                            const char *folder, const char *name, char *path, size_t capacity,
                            lmbError *error )
{
	const lmbPart *part = &character->parts[partIndex];
	char file[600], mesh[200] = "";
	bool several = SeveralNodes( character ), repeated = part->name[0] == 0;
	for ( int p = 0; p < character->partCount; ++p )
		repeated = repeated || ( character->parts[p].node != part->node &&
		                         strcmp( character->parts[p].name, part->name ) == 0 );
	if ( several && repeated )
		snprintf( mesh, sizeof( mesh ), ".%.150s-%d", part->name, part->node );
	else if ( several )
		snprintf( mesh, sizeof( mesh ), ".%.150s", part->name );
	for ( char *c = mesh; *c != 0; ++c )
		if ( strchr( "/\\:*?\"<>| ", *c ) != NULL || (unsigned char)*c < 32 )
			*c = '_';
	snprintf( file, sizeof( file ), "%.300s%s.%s", name, mesh, lmbPointCache_Extension( format ) );
	return lmbPath_Join( path, capacity, folder, file, error );
}

lmbStatus lmbBake_WritePointCaches( const lmbCharacter *character, const lmbBakeFrames *frames,
                                    lmbPointCacheFormat format, const char *folder, const char *name,
                                    int *fileCount, lmbError *error )
{
	LMB_TRY( CheckFrames( character, frames, error ) );
	lmbArena scratch = { 0 };
	size_t most = 0;
	for ( int p = 0; p < character->partCount; ++p )
		most += (size_t)character->parts[p].vertexCount;
	int32_t *list = LMB_NEW( &scratch, int32_t, most );
	lmbStatus status = list != NULL ? lmb_statusOk : lmbError_Memory( error );
	int files = 0;
	for ( int p = 0; status == lmb_statusOk && p < character->partCount; ++p )
	{
		int node = character->parts[p].node, count = 0;
		char path[4096];
		bool done = false;
		for ( int q = 0; q < p; ++q )
			done = done || character->parts[q].node == node;
		if ( done )
			continue;
		for ( int q = p; q < character->partCount; ++q )
			if ( character->parts[q].node == node )
				count += UsedVertices( character, q, list + count );
		if ( count == 0 )
			continue;
		status = CachePath( character, p, format, folder, name, path, sizeof( path ), error );
		if ( status == lmb_statusOk )
			status = WriteCache( frames, character->vertexCount, list, count, format, path, error );
		files += 1;
	}
	if ( fileCount != NULL )
		*fileCount = status == lmb_statusOk ? files : 0;
	lmbArena_Free( &scratch );
	return status;
}
