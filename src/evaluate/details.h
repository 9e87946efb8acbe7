/* What a page about a model shows beyond the sums of metrics.json: each frame, each vertex, and the paths of
 * a few vertices. docs/formats/evaluation.md is the file. */
#ifndef LMB_EVALUATE_DETAILS_H
#define LMB_EVALUATE_DETAILS_H

#include "base/arena.h"
#include "base/error.h"
#include "evaluate/metrics.h"

enum
{
	lmbTrackMax = 4
};

/* One vertex over a motion: how far it is from where skinning has it, along one direction. */
typedef struct lmbTrack
{
	int vertex;
	double direction[3];             /* unit, scene axes: along it dynamics moves the vertex most */
	float *still, *moving;           /* (frameCount) m: x_Q and x_D */
	float *columns[lmb_columnCount]; /* (frameCount) m; NULL: not there */
} lmbTrack;

/* Of one motion. RMS values are square roots of means, m; NaN where nothing was judged. */
typedef struct lmbMotionDetails
{
	lmbArena arena;
	int frameCount, vertexCount;
	uint8_t *judged;                    /* (frameCount) 0: did not converge, no number here counts it */
	double *dynamics;                   /* (frameCount) of |u| over the judged vertices */
	double *rms[lmb_columnCount];       /* (frameCount) to x_D over the judged vertices; NULL: not there */
	double *vertexDynamics;             /* (vertexCount) of |u| over the judged frames */
	double *vertexRms[lmb_columnCount]; /* (vertexCount) to x_D over the judged frames; NULL: not there */
	double *moments;                    /* (vertexCount x 6) while looking: sums of u u^T */
	int lookedCount;                    /* frames that were looked at */
	int trackCount;                     /* the vertices that dynamics moves most, apart from each other */
	lmbTrack tracks[lmbTrackMax];
} lmbMotionDetails;

/* Fills: Begin; Look at the true shapes of all judged frames; Choose the tracks; Add every frame; Finish.
 * details is zeroed by Begin; Free also after a failure. present: which columns there are. One thread. */
lmbStatus lmbMotionDetails_Begin( lmbMotionDetails *details, int frameCount, int vertexCount,
                                  const bool present[lmb_columnCount], lmbError *error );
void lmbMotionDetails_Look( lmbMotionDetails *details, const lmbScoreFrame *frame );
/* bind (vertexCount x 3) m: chosen vertices are at least a tenth of the body apart there. */
lmbStatus lmbMotionDetails_Choose( lmbMotionDetails *details, const uint8_t *judgedVertices,
                                   const double *bind, lmbError *error );
/* judged: the frame converged. The tracks get it in any case. */
void lmbMotionDetails_Add( lmbMotionDetails *details, int frame, bool judged, const lmbScoreFrame *shapes );
void lmbMotionDetails_Finish( lmbMotionDetails *details );
void lmbMotionDetails_Free( lmbMotionDetails *details );

#endif
