/* The stages of the flesh pipeline, from a project to a model, its report and its bakes.
 *
 * Stages talk through files in one output folder. Each finished stage leaves a stamp in stages.json: a
 * fingerprint of all that it depends on (the character's file, its settings, the files it reads) and of the
 * files it wrote. A stage whose stamp still holds is skipped; so a killed run goes on where it was. */
#ifndef LMB_FLESH_PIPELINE_H
#define LMB_FLESH_PIPELINE_H

#include "flesh/project.h"

#include <jansson.h>

/* In the order in which they run. */
typedef enum lmbStage
{
	lmb_stageTissue,   /* tissue.safetensors, tissue.vtu */
	lmb_stageModes,    /* modes.safetensors */
	lmb_stageSimulate, /* simulation/ (dataset.h) */
	lmb_stageTrain,    /* network.safetensors */
	lmb_stageFit,      /* springs.safetensors */
	lmb_stageModel,    /* model.safetensors */
	lmb_stageEvaluate, /* its part of metrics.json */
	lmb_stageSheet,    /* sheet-MOTION.png */
	lmb_stageBake,     /* MOTION.glb, point caches */
	lmb_stageCount
} lmbStage;

const char *lmbStage_Name( lmbStage stage );

typedef enum lmbStageEvent
{
	lmb_stageStarted,
	lmb_stageFinished,
	lmb_stageSkipped /* its results are there already */
} lmbStageEvent;

typedef struct lmbPipelineDef
{
	const char *folder; /* made when it is not there */
	unsigned stages;    /* bit per lmbStage: what to bring up to date, with all that it needs */
	bool instant;       /* no simulation, no network, nothing fitted; stages that need those drop out */
	int shardIndex, shardCount; /* count > 0: only this share of the simulation's poses is made; many
	                               processes may do so in one folder that has its tissue, and a run without
	                               shards goes on from there */
	/* Nullable. seconds: what the stage took, added up over interrupted runs. facts: what the stage reports,
	 * an object, borrowed; NULL when started. */
	void ( *event )( void *context, lmbStage stage, lmbStageEvent event, double seconds, json_t *facts );
	void *context;
} lmbPipelineDef;

/* Brings stages up to date and writes folder/metrics.json. On cancellation what is done stays, and the same
 * call goes on. One process at a time works in a folder; a second is told so. metrics (Nullable) gets a new
 * reference to the content of metrics.json. */
lmbStatus lmbPipeline_Run( const lmbProject *project, const lmbPipelineDef *def, const lmbJob *job,
                           json_t **metrics, lmbError *error );

#endif
