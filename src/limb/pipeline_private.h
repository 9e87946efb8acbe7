/* Shared by limb/pipeline*.c only. */
#ifndef LMB_LIMB_PIPELINE_PRIVATE_H
#define LMB_LIMB_PIPELINE_PRIVATE_H

#include "limb/pipeline.h"

/* One training: a model of the project, from one beginning, on the whole data or on a variant of it. */
typedef struct lmbLimbTask
{
	const lmbLimbProjectModel *model;
	int seed;         /* 0 .. model->seeds - 1 */
	double noise;     /* degrees that are added to the angles; 0: none */
	int sampleCount;  /* 0: all */
	const char *test; /* NULL: on the whole data; else the test that this one is for */
	const char *stem; /* of its file, "model-STEM.safetensors" */
} lmbLimbTask;

typedef struct lmbLimbPipeline
{
	lmbStages stages;
	const lmbLimbProject *project;
	lmbPlant *plant;           /* everything below is made when first asked for */
	lmbPlant **plants;         /* (threads) copies, for one thread each */
	lmbTrajectories *training; /* trajectories-train.safetensors */
	lmbLimbTask *tasks;        /* (taskCount) all seeds of a model on the whole data follow one another */
	int taskCount;
} lmbLimbPipeline;

lmbStatus lmbLimbPipeline_NeedPlants( lmbLimbPipeline *pipeline, lmbError *error );
lmbStatus lmbLimbPipeline_NeedTraining( lmbLimbPipeline *pipeline, lmbError *error );
lmbStatus lmbLimbPipeline_NeedTasks( lmbLimbPipeline *pipeline, lmbError *error );
/* "model-STEM.safetensors" and the like. */
void lmbLimbPipeline_TaskFile( const lmbLimbTask *task, const char *ending, char *out, size_t capacity );
/* A test's trajectories. NULL when the project's data has no such test. */
lmbStatus lmbLimbPipeline_LoadTest( lmbLimbPipeline *pipeline, lmbLimbTestKind test, lmbTrajectories **out,
                                    lmbError *error );
/* Whether the project asks for a test. */
bool lmbLimbPipeline_HasTest( const lmbLimbPipeline *pipeline, lmbLimbTestKind test );
int lmbLimbPipeline_Threads( const lmbLimbPipeline *pipeline );

/* The stages. */
lmbStatus lmbLimbPipeline_RunSimulate( void *pipeline, json_t *facts, lmbError *error );
lmbStatus lmbLimbPipeline_RunTrain( void *pipeline, json_t *facts, lmbError *error );
lmbStatus lmbLimbPipeline_RunEvaluate( void *pipeline, json_t *facts, lmbError *error );

#endif
