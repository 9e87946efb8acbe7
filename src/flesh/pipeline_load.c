/* What stages read: loaded when first asked for, kept for the next. */
#include "flesh/pipeline_private.h"

#include "base/files.h"

#include <stdio.h>
#include <string.h>

lmbStatus lmbPipeline_NeedCharacter( lmbPipeline *pipeline, lmbError *error )
{
	if ( pipeline->character != NULL )
		return lmb_statusOk;
	const lmbProject *project = pipeline->project;
	LMB_TRY( lmbCharacter_Load( project->character, &project->import, &pipeline->character, error ) );
	for ( int i = 0; i < pipeline->character->noteCount; ++i )
		lmbJob_Note( &pipeline->stages.job, "%s: %s", project->character, pipeline->character->notes[i] );
	return lmbProject_Check( project, pipeline->character, error );
}

/* Animations may share a name; their files must not. The second "wave" becomes "wave 2". */
static lmbStatus MakeNameUnique( lmbPipeline *pipeline, int index, lmbError *error )
{
	lmbMotion *motion = pipeline->motions[index];
	const char *given = motion->name;
	for ( int other = 0, number = 1; other < index; ++other )
	{
		char own[200], taken[200], text[256];
		lmbStages_FileName( own, sizeof( own ), "", motion->name, "" );
		lmbStages_FileName( taken, sizeof( taken ), "", pipeline->motions[other]->name, "" );
		if ( strcmp( own, taken ) != 0 )
			continue;
		snprintf( text, sizeof( text ), "%.200s %d", given, ++number );
		motion->name = lmbArena_String( &pipeline->stages.arena, text );
		if ( motion->name == NULL )
			return lmbError_Memory( error );
		other = -1; /* the new name may be taken too */
	}
	if ( motion->name != given )
		lmbJob_Note( &pipeline->stages.job,
		             "several animations are called \"%s\"; one of them is \"%s\" here", given,
		             motion->name );
	return lmb_statusOk;
}

lmbStatus lmbPipeline_NeedMotions( lmbPipeline *pipeline, lmbError *error )
{
	if ( pipeline->motions != NULL )
		return lmb_statusOk;
	LMB_TRY( lmbPipeline_NeedCharacter( pipeline, error ) );
	const lmbProject *project = pipeline->project;
	/* A project without motions (a bare character) shows all that the character can do. */
	bool all = project->trainedCount + project->heldOutCount == 0;
	int count = all ? pipeline->character->clipCount : project->trainedCount + project->heldOutCount;
	lmbMotion **motions = LMB_NEW( &pipeline->stages.arena, lmbMotion *, count );
	bool *trained = LMB_NEW( &pipeline->stages.arena, bool, count );
	if ( motions == NULL || trained == NULL )
		return lmbError_Memory( error );
	pipeline->motions = motions;
	pipeline->trained = trained;
	for ( int i = 0; i < count; ++i )
	{
		trained[i] = i < project->trainedCount;
		const lmbProjectMotion *motion = all          ? NULL
		                                 : trained[i] ? &project->trained[i]
		                                              : &project->heldOut[i - project->trainedCount];
		lmbMotionDef def = all ? project->motion : lmbProject_MotionDef( project, motion );
		int clip = all ? i : lmbCharacter_FindClip( pipeline->character, motion->clip );
		LMB_TRY( lmbMotion_Make( pipeline->character, clip, &def, &motions[i], error ) );
		pipeline->motionCount = i + 1;
		if ( !all && motion->name != NULL )
			motions[i]->name = motion->name;
		LMB_TRY( MakeNameUnique( pipeline, i, error ) );
	}
	return lmb_statusOk;
}

/* The path of a stage's file, or an error. */
static lmbStatus FilePath( lmbPipeline *pipeline, const char *name, char **path, lmbError *error )
{
	*path = lmbStages_Path( &pipeline->stages, name );
	return *path != NULL ? lmb_statusOk : lmbError_Memory( error );
}

lmbStatus lmbPipeline_NeedTissue( lmbPipeline *pipeline, lmbError *error )
{
	LMB_TRY( lmbPipeline_NeedCharacter( pipeline, error ) );
	char *path;
	LMB_TRY( FilePath( pipeline, "tissue.safetensors", &path, error ) );
	return pipeline->tissue != NULL ? lmb_statusOk : lmbTissue_Load( path, &pipeline->tissue, error );
}

lmbStatus lmbPipeline_NeedModes( lmbPipeline *pipeline, lmbError *error )
{
	char *path;
	LMB_TRY( FilePath( pipeline, "modes.safetensors", &path, error ) );
	return pipeline->modes != NULL ? lmb_statusOk : lmbModes_Load( path, &pipeline->modes, error );
}

lmbStatus lmbPipeline_NeedDataset( lmbPipeline *pipeline, lmbError *error )
{
	char *path;
	LMB_TRY( FilePath( pipeline, "simulation", &path, error ) );
	return pipeline->dataset != NULL ? lmb_statusOk : lmbDataset_Load( path, &pipeline->dataset, error );
}

lmbStatus lmbPipeline_NeedNetwork( lmbPipeline *pipeline, lmbError *error )
{
	char *path;
	LMB_TRY( FilePath( pipeline, "network.safetensors", &path, error ) );
	return pipeline->network != NULL ? lmb_statusOk : lmbNetwork_Load( path, &pipeline->network, error );
}

lmbStatus lmbPipeline_NeedSprings( lmbPipeline *pipeline, lmbError *error )
{
	char *path;
	LMB_TRY( FilePath( pipeline, "springs.safetensors", &path, error ) );
	return pipeline->springs != NULL ? lmb_statusOk : lmbSprings_Load( path, &pipeline->springs, error );
}

/* The loaders' Free functions take NULL. */
void lmbPipeline_Forget( lmbPipeline *pipeline, lmbStage stage )
{
	switch ( stage )
	{
	case lmb_stageTissue:
		lmbTissue_Free( pipeline->tissue );
		pipeline->tissue = NULL;
		break;
	case lmb_stageModes:
		lmbModes_Free( pipeline->modes );
		pipeline->modes = NULL;
		break;
	case lmb_stageSimulate:
		lmbDataset_Free( pipeline->dataset );
		pipeline->dataset = NULL;
		break;
	case lmb_stageTrain:
		lmbNetwork_Free( pipeline->network );
		pipeline->network = NULL;
		break;
	case lmb_stageFit:
		lmbSprings_Free( pipeline->springs );
		pipeline->springs = NULL;
		break;
	default:
		break;
	}
}

void lmbPipeline_ForgetAll( lmbPipeline *pipeline )
{
	for ( int s = 0; s < lmb_stageCount; ++s )
		lmbPipeline_Forget( pipeline, (lmbStage)s );
	for ( int i = 0; i < pipeline->motionCount; ++i )
		lmbMotion_Free( pipeline->motions[i] );
	lmbCharacter_Free( pipeline->character );
	lmbArena_Free( &pipeline->stages.arena );
}
