/* The stages that show what a model does: report, contact sheets, bakes. */
#ifndef LMB_FLESH_PIPELINE_RESULTS_H
#define LMB_FLESH_PIPELINE_RESULTS_H

#include "flesh/pipeline_private.h"

lmbStatus lmbPipeline_RunEvaluate( void *pipeline, json_t *facts, lmbError *error );
lmbStatus lmbPipeline_RunSheet( void *pipeline, json_t *facts, lmbError *error );
lmbStatus lmbPipeline_RunBake( void *pipeline, json_t *facts, lmbError *error );

#endif
