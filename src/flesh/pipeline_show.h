/* What a viewer shows of a project: model, character, motions, and the simulation where it is there. */
#ifndef LMB_FLESH_PIPELINE_SHOW_H
#define LMB_FLESH_PIPELINE_SHOW_H

#include "flesh/dataset.h"
#include "flesh/project.h"
#include "flesh/tissue.h"

typedef struct lmbShow
{
	const lmbCharacter *character;
	int motionCount;
	lmbMotion *const
	    *motions;            /* (motionCount) the project's, trained ones first; or all of the character's */
	const bool *trained;     /* (motionCount) */
	const lmbTissue *tissue; /* NULL where the folder has none that fits the character */
	const char *tissuePath;  /* NULL likewise */
	const lmbDataset *dataset;    /* NULL without a finished simulation of this tissue */
	struct lmbPipeline *pipeline; /* owns all of the above */
} lmbShow;

/* Loads them. project must outlive show. folder: the project's output folder, or NULL: neither tissue nor
 * dataset. What does not belong to the character is left out, and a note of the job says so. Close also
 * after a failure. */
lmbStatus lmbShow_Open( const lmbProject *project, const char *folder, const lmbJob *job, lmbShow *show,
                        lmbError *error );
void lmbShow_Close( lmbShow *show );

#endif
