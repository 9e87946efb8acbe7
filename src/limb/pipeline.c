#include "limb/pipeline_private.h"

#include "base/files.h"

#include <string.h>

int lmbLimbPipeline_Threads( const lmbLimbPipeline *pipeline )
{
	return pipeline->stages.job.threads > 1 ? pipeline->stages.job.threads : 1;
}

bool lmbLimbPipeline_HasTest( const lmbLimbPipeline *pipeline, lmbLimbTestKind test )
{
	const lmbLimbProject *project = pipeline->project;
	for ( int i = 0; i < project->testCount; ++i )
		if ( project->tests[i] == (int)test )
			return true;
	return false;
}

lmbStatus lmbLimbPipeline_NeedPlants( lmbLimbPipeline *pipeline, lmbError *error )
{
	const lmbLimbProject *project = pipeline->project;
	if ( pipeline->plants != NULL || project->source == lmb_limbSourceRecordings )
		return lmb_statusOk;
	if ( project->source == lmb_limbSourceMujoco )
		LMB_TRY( lmbPlant_LoadMujoco( project->mujoco, &pipeline->plant, error ) );
	else
	{
		lmbArmDef def = lmbLimbProject_ArmDef( project );
		LMB_TRY( lmbPlant_MakeArm( &def, &pipeline->plant, error ) );
	}
	if ( pipeline->plant->notes != NULL )
		lmbJob_Note( &pipeline->stages.job, "%s", pipeline->plant->notes );
	int threads = lmbLimbPipeline_Threads( pipeline );
	lmbPlant **plants = LMB_NEW( &pipeline->stages.arena, lmbPlant *, threads );
	if ( plants == NULL )
		return lmbError_Memory( error );
	pipeline->plants = plants;
	for ( int i = 0; i < threads; ++i )
		LMB_TRY( lmbPlant_Copy( pipeline->plant, &plants[i], error ) );
	return lmb_statusOk;
}

lmbStatus lmbLimbPipeline_NeedTraining( lmbLimbPipeline *pipeline, lmbError *error )
{
	if ( pipeline->training != NULL )
		return lmb_statusOk;
	char *path = lmbStages_Path( &pipeline->stages, "trajectories-train.safetensors" );
	return path != NULL ? lmbTrajectories_Load( path, &pipeline->training, error ) : lmbError_Memory( error );
}

lmbStatus lmbLimbPipeline_LoadTest( lmbLimbPipeline *pipeline, lmbLimbTestKind test, lmbTrajectories **out,
                                    lmbError *error )
{
	char name[96];
	*out = NULL;
	snprintf( name, sizeof( name ), "trajectories-%s.safetensors", lmbLimbTest_Name( test ) );
	char *path = lmbStages_Path( &pipeline->stages, name );
	if ( path == NULL )
		return lmbError_Memory( error );
	return lmbTrajectories_Load( path, out, error );
}

void lmbLimbPipeline_TaskFile( const lmbLimbTask *task, const char *ending, char *out, size_t capacity )
{
	snprintf( out, capacity, "model-%s%s", task->stem, ending );
}

/* Adds a task when there is room; counts it always. */
static lmbStatus AddTask( lmbLimbPipeline *pipeline, int capacity, lmbLimbTask task, lmbError *error )
{
	static const char *const kinds[] = { "lagrangian", "affine", "plain", "gru", "lstm" };
	int index = pipeline->taskCount++;
	if ( index >= capacity )
		return lmb_statusOk;
	char stem[256], seed[32] = "";
	const lmbLimbProjectModel *model = task.model;
	if ( task.seed > 0 )
		snprintf( seed, sizeof( seed ), "-seed%d", task.seed );
	snprintf( stem, sizeof( stem ), "%s%s%s%s", model->name != NULL ? model->name : kinds[model->kind],
	          task.test != NULL ? "-" : "", task.test != NULL ? task.test : "", seed );
	task.stem = lmbArena_String( &pipeline->stages.arena, stem );
	pipeline->tasks[index] = task;
	return task.stem != NULL ? lmb_statusOk : lmbError_Memory( error );
}

static lmbStatus AddTasks( lmbLimbPipeline *pipeline, int capacity, lmbError *error )
{
	const lmbLimbProject *project = pipeline->project;
	lmbArena *arena = &pipeline->stages.arena;
	pipeline->taskCount = 0;
	for ( int i = 0; i < project->modelCount; ++i )
	{
		const lmbLimbProjectModel *model = &project->models[i];
		for ( int s = 0; s < model->seeds; ++s )
			LMB_TRY( AddTask( pipeline, capacity, ( lmbLimbTask ){ .model = model, .seed = s }, error ) );
		if ( !model->variants )
			continue;
		for ( int s = 0; s < model->seeds && lmbLimbPipeline_HasTest( pipeline, lmb_limbTestNoise ); ++s )
			LMB_TRY( AddTask( pipeline, capacity,
			                  ( lmbLimbTask ){ .model = model,
			                                   .seed = s,
			                                   .noise = project->testNoise,
			                                   .test = lmbLimbTest_Name( lmb_limbTestNoise ) },
			                  error ) );
		for ( int c = 0; c < project->sampleCountCount; ++c )
		{
			char name[64];
			snprintf( name, sizeof( name ), "samples_%.0f", project->sampleCounts[c] );
			const char *test = lmbArena_String( arena, name );
			if ( test == NULL )
				return lmbError_Memory( error );
			for ( int s = 0; s < model->seeds; ++s )
				LMB_TRY( AddTask( pipeline, capacity,
				                  ( lmbLimbTask ){ .model = model,
				                                   .seed = s,
				                                   .sampleCount = (int)project->sampleCounts[c],
				                                   .test = test },
				                  error ) );
		}
	}
	return lmb_statusOk;
}

lmbStatus lmbLimbPipeline_NeedTasks( lmbLimbPipeline *pipeline, lmbError *error )
{
	if ( pipeline->tasks != NULL )
		return lmb_statusOk;
	LMB_TRY( AddTasks( pipeline, 0, error ) );
	int count = pipeline->taskCount;
	pipeline->tasks = LMB_NEW( &pipeline->stages.arena, lmbLimbTask, count );
	return pipeline->tasks != NULL ? AddTasks( pipeline, count, error ) : lmbError_Memory( error );
}

/* The files that the data comes from; the plant in closed form is all settings. */
static lmbStatus HashInputs( void *context, int stage, lmbHash *hash, lmbError *error )
{
	(void)stage;
	const lmbLimbProject *project = ( (lmbLimbPipeline *)context )->project;
	if ( project->source == lmb_limbSourceMujoco )
		return lmbHash_AddFile( hash, project->mujoco, error );
	for ( int i = 0; project->source == lmb_limbSourceRecordings && i < project->fileCount; ++i )
		LMB_TRY( lmbHash_AddFile( hash, project->files[i], error ) );
	return lmb_statusOk;
}

static void Forget( void *context, int stage )
{
	lmbLimbPipeline *pipeline = context;
	if ( stage != lmb_limbStageSimulate )
		return;
	lmbTrajectories_Free( pipeline->training );
	pipeline->training = NULL;
}

static void ForgetAll( lmbLimbPipeline *pipeline )
{
	Forget( pipeline, lmb_limbStageSimulate );
	for ( int i = 0; pipeline->plants != NULL && i < lmbLimbPipeline_Threads( pipeline ); ++i )
		lmbPlant_Free( pipeline->plants[i] );
	lmbPlant_Free( pipeline->plant );
	lmbArena_Free( &pipeline->stages.arena );
}

#define BIT( stage ) ( 1u << ( stage ) )

static const lmbStageSpec specs[lmb_limbStageCount] = {
    [lmb_limbStageSimulate] = { .name = "simulate",
                                .version = 2,
                                .seed = true,
                                .sections = { "limb", "recordings", "motions", "evaluate" },
                                .run = lmbLimbPipeline_RunSimulate },
    [lmb_limbStageTrain] = { .name = "train",
                             .version = 3,
                             .needs = BIT( lmb_limbStageSimulate ),
                             .seed = true,
                             .sections = { "limb", "recordings", "motions", "train", "evaluate" },
                             .run = lmbLimbPipeline_RunTrain },
    [lmb_limbStageEvaluate] = { .name = "evaluate",
                                .version = 7,
                                .needs = BIT( lmb_limbStageSimulate ) | BIT( lmb_limbStageTrain ),
                                .metrics = "",
                                .sections = { "limb", "train", "evaluate" },
                                .run = lmbLimbPipeline_RunEvaluate },
};

lmbStatus lmbLimbPipeline_Run( const lmbLimbProject *project, const lmbPipelineDef *def, const lmbJob *job,
                               json_t **metrics, lmbError *error )
{
	LMB_TRY( lmbLimbProject_Check( project, error ) );
	lmbLimbPipeline pipeline = { .stages = { .specs = specs,
	                                         .count = lmb_limbStageCount,
	                                         .project = &project->file,
	                                         .seed = project->seed,
	                                         .shardStage = -1,
	                                         .hashInputs = HashInputs,
	                                         .forget = Forget },
	                             .project = project };
	lmbStatus status = lmbStages_Run( &pipeline.stages, def, job, metrics, error );
	ForgetAll( &pipeline );
	return status;
}
