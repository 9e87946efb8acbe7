#include "flesh/project.h"

#include "flesh/project_table.h"

#include <math.h>
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
			int line, column;
			lmbProjectFile_Place( &project->file, name, &line, &column );
			return lmbError_Set( error, lmb_statusInvalidArgument,
			                     "%s:%d:%d: two motions are called \"%s\"; give one of them a \"name\"",
			                     project->file.path, line, column, name );
		}
	return lmb_statusOk;
}

lmbStatus lmbProject_Load( const char *path, lmbProject **out, lmbError *error )
{
	*out = NULL;
	lmbProjectFile *file = NULL;
	LMB_TRY( lmbProjectFile_New( &lmbFleshProjectTable, path, &file, error ) );
	lmbProject *project = (lmbProject *)file;
	lmbStatus status = lmbProjectFile_Load( file, error );
	if ( status == lmb_statusOk && project->name == NULL &&
	     ( project->name = lmbProjectFile_Name( &file->arena, path ) ) == NULL )
		status = lmbError_Memory( error );
	if ( status == lmb_statusOk )
		status = CheckMotions( project, error );
	if ( status == lmb_statusOk )
		*out = project;
	else
		lmbProject_Free( project );
	return status;
}

lmbStatus lmbProject_ForCharacter( const char *character, lmbProject **out, lmbError *error )
{
	*out = NULL;
	lmbProjectFile *file = NULL;
	LMB_TRY( lmbProjectFile_New( &lmbFleshProjectTable, character, &file, error ) );
	lmbProject *project = (lmbProject *)file;
	project->character = file->path;
	project->name = lmbProjectFile_Name( &file->arena, character );
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
	lmbProjectFile_Free( (lmbProjectFile *)project );
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
