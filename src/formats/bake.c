#include "formats/bake.h"

#include "formats/bake_basis.h"
#include "formats/bake_glb.h"
#include "formats/bake_points.h"

#include <stdio.h>
#include <string.h>

lmbBakeDef lmbDefaultBakeDef( void )
{
	return ( lmbBakeDef ){ .targets = 8, .sweeps = 1 };
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
	LMB_TRY( lmbBakeFrames_Check( character, frames, error ) );
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
