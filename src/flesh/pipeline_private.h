/* Shared by pipeline*.c only. */
#ifndef LMB_FLESH_PIPELINE_PRIVATE_H
#define LMB_FLESH_PIPELINE_PRIVATE_H

#include "flesh/modes.h"
#include "flesh/pipeline.h"

extern const lmbStageSpec lmbFleshStages[lmb_stageCount];

typedef struct lmbPipeline
{
	lmbStages stages;
	const lmbProject *project;
	lmbCharacter *character; /* everything below is loaded when first asked for */
	lmbTissue *tissue;
	lmbModes *modes;
	lmbDataset *dataset;
	lmbNetwork *network;
	lmbSprings *springs;
	lmbMotion **motions; /* (motionCount) trained ones first */
	bool *trained;       /* (motionCount) */
	int motionCount;
} lmbPipeline;

/* Loading, once. */
lmbStatus lmbPipeline_NeedCharacter( lmbPipeline *pipeline, lmbError *error );
lmbStatus lmbPipeline_NeedMotions( lmbPipeline *pipeline, lmbError *error );
lmbStatus lmbPipeline_NeedTissue( lmbPipeline *pipeline, lmbError *error );
lmbStatus lmbPipeline_NeedModes( lmbPipeline *pipeline, lmbError *error );
lmbStatus lmbPipeline_NeedDataset( lmbPipeline *pipeline, lmbError *error );
lmbStatus lmbPipeline_NeedNetwork( lmbPipeline *pipeline, lmbError *error );
lmbStatus lmbPipeline_NeedSprings( lmbPipeline *pipeline, lmbError *error );
/* Forgets what was loaded of a stage that has written anew. */
void lmbPipeline_Forget( lmbPipeline *pipeline, lmbStage stage );
void lmbPipeline_ForgetAll( lmbPipeline *pipeline );

#endif
