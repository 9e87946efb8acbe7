#include "limb/project.h"

#include <string.h>

lmbStatus lmbLimbProject_Load( const char *path, lmbLimbProject **out, lmbError *error )
{
	*out = NULL;
	lmbProjectFile *file = NULL;
	LMB_TRY( lmbProjectFile_New( &lmbLimbProjectTable, path, &file, error ) );
	lmbLimbProject *project = (lmbLimbProject *)file;
	lmbStatus status = lmbProjectFile_Load( file, error );
	if ( status == lmb_statusOk && project->name == NULL &&
	     ( project->name = lmbProjectFile_Name( &file->arena, path ) ) == NULL )
		status = lmbError_Memory( error );
	if ( status == lmb_statusOk )
		status = lmbLimbProject_Check( project, error );
	if ( status == lmb_statusOk )
		*out = project;
	else
		lmbLimbProject_Free( project );
	return status;
}

void lmbLimbProject_Free( lmbLimbProject *project )
{
	lmbProjectFile_Free( (lmbProjectFile *)project );
}

const char *lmbLimbModel_Name( const lmbLimbProjectModel *model )
{
	static const char *const names[] = { "ape_lagrangian", "ape_affine", "ape_plain", "gru", "lstm" };
	return model->name != NULL ? model->name : names[model->kind];
}

static lmbStatus Refuse( const lmbLimbProject *project, const char *at, lmbError *error, const char *text,
                         const char *name )
{
	int line, column;
	lmbProjectFile_Place( &project->file, at, &line, &column );
	return lmbError_Set( error, lmb_statusInvalidArgument, "%s:%d:%d: %s%s%s%s", project->file.path, line,
	                     column, text, name != NULL ? " \"" : "", name != NULL ? name : "",
	                     name != NULL ? "\"" : "" );
}

static lmbStatus CheckModels( const lmbLimbProject *project, lmbError *error )
{
	if ( project->modelCount == 0 )
		return Refuse( project, NULL, error, "train.models is empty; name at least one kind of model", NULL );
	for ( int i = 0; i < project->modelCount; ++i )
	{
		const char *name = lmbLimbModel_Name( &project->models[i] );
		/* Names of reference rows, and of files: they become part of one. */
		if ( strcmp( name, "truth" ) == 0 || strcmp( name, "known_terms" ) == 0 )
			return Refuse( project, name, error, "a model may not be called as a row of reference is,",
			               name );
		if ( name[0] == 0 ||
		     strspn( name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-" ) !=
		         strlen( name ) )
			return Refuse( project, name, error,
			               "a model's name may have letters, digits, \"_\" and \"-\" only, not", name );
		for ( int k = 0; k < i; ++k )
			if ( strcmp( name, lmbLimbModel_Name( &project->models[k] ) ) == 0 )
				return Refuse( project, name, error, "give one of the models a \"name\": two are called",
				               name );
	}
	return lmb_statusOk;
}

lmbStatus lmbLimbProject_Check( const lmbLimbProject *project, lmbError *error )
{
	LMB_TRY( CheckModels( project, error ) );
	if ( project->source == lmb_limbSourceRecordings )
		return project->fileCount > 0
		           ? lmb_statusOk
		           : Refuse( project, NULL, error,
		                     "recordings.files names no file, but the plant is recordings", NULL );
	if ( project->source == lmb_limbSourceMujoco && project->mujoco == NULL )
		return Refuse( project, NULL, error, "limb.model must name a file, since the plant is mujoco", NULL );
	if ( project->motionCount == 0 )
		return Refuse( project, NULL, error, "motions.train is empty; name at least one kind of motion",
		               NULL );
	if ( project->arm.limitStiffness > 0.0 && ( project->shoulderLimits[0] >= project->shoulderLimits[1] ||
	                                            project->elbowLimits[0] >= project->elbowLimits[1] ) )
		return Refuse( project, NULL, error, "a joint's lower limit must lie below its upper one", NULL );
	if ( project->novelVelocity[0] > project->novelVelocity[1] )
		return Refuse( project, NULL, error, "evaluate.novel_velocity goes from a speed to a higher one",
		               NULL );
	if ( project->novelPosture[0] > project->novelPosture[1] )
		return Refuse( project, NULL, error, "evaluate.novel_posture goes from a share to a higher one",
		               NULL );
	return lmb_statusOk;
}

lmbArmDef lmbLimbProject_ArmDef( const lmbLimbProject *project )
{
	const double degree = 3.14159265358979323846 / 180.0;
	lmbArmDef def = project->arm;
	for ( int end = 0; end < 2; ++end )
	{
		def.limits[0][end] = degree * project->shoulderLimits[end];
		def.limits[1][end] = degree * project->elbowLimits[end];
	}
	return def;
}
