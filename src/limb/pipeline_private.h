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
/* What a task trains on: sampleCount samples of the training's (0: all), noise added to its angles (degrees;
 * 0: none, and velocities and accelerations stay). The caller's to free, also after a failure. */
lmbStatus lmbLimbPipeline_CopyTraining( lmbLimbPipeline *pipeline, int sampleCount, double noise,
                                        lmbTrajectories **out, lmbError *error );
/* Equations whose form is known and whose numbers are from the data, for one thread. */
typedef struct lmbLimbKnown
{
	lmbPlant *plant;
	bool absolute, free; /* recordings: angles against the world; no inputs */
} lmbLimbKnown;

/* Fits the arm, or (where the project asks for it) two segments to recordings, to the data of a variant
 * (NULL: the whole); (threads) copies. *out is NULL where there is no such form or the data do not tell,
 * which is noted. Free also after a failure. */
lmbStatus lmbLimbPipeline_FitKnownTerms( lmbLimbPipeline *pipeline, const lmbLimbTask *variant,
                                         lmbLimbKnown **out, lmbError *error );
void lmbLimbPipeline_FreeKnownTerms( const lmbLimbPipeline *pipeline, lmbLimbKnown *known );
/* An lmbAccelerationOf of one lmbLimbKnown. */
bool lmbLimbPipeline_KnownAcceleration( void *known, const double *q, const double *v, const double *u,
                                        double *a );

/* The stages. */
lmbStatus lmbLimbPipeline_RunSimulate( void *pipeline, json_t *facts, lmbError *error );
lmbStatus lmbLimbPipeline_RunTrain( void *pipeline, json_t *facts, lmbError *error );
lmbStatus lmbLimbPipeline_RunEvaluate( void *pipeline, json_t *facts, lmbError *error );

#endif
