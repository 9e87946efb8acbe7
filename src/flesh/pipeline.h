/* The stages of the flesh pipeline, from a project to a model, its report and its bakes: project/stages.h
 * says how they run. */
#ifndef LMB_FLESH_PIPELINE_H
#define LMB_FLESH_PIPELINE_H

#include "flesh/project.h"
#include "project/stages.h"

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

/* As lmbStages_Run. */
lmbStatus lmbPipeline_Run( const lmbProject *project, const lmbPipelineDef *def, const lmbJob *job,
                           json_t **metrics, lmbError *error );

#endif
