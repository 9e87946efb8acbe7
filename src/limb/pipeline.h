/* The stages of a limb's pipeline, from a project to models and their report: project/stages.h says how they
 * run. */
#ifndef LMB_LIMB_PIPELINE_H
#define LMB_LIMB_PIPELINE_H

#include "limb/project.h"
#include "project/stages.h"

/* In the order in which they run. */
typedef enum lmbLimbStage
{
	lmb_limbStageSimulate, /* trajectories-train.safetensors, trajectories-TEST.safetensors */
	lmb_limbStageTrain,    /* model-KIND.safetensors, model.safetensors */
	lmb_limbStageEvaluate, /* its part of metrics.json */
	lmb_limbStageCount
} lmbLimbStage;

/* As lmbStages_Run. */
lmbStatus lmbLimbPipeline_Run( const lmbLimbProject *project, const lmbPipelineDef *def, const lmbJob *job,
                               json_t **metrics, lmbError *error );

#endif
