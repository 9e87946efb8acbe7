/* Makes a model file small: shapes as bytes, block by block (docs/formats/model.md, version 2). */
#ifndef LMB_FLESH_COMPACT_H
#define LMB_FLESH_COMPACT_H

#include "base/error.h"
#include "formats/motion.h"

typedef struct lmbCompactReport
{
	bool compact;    /* false: left as it was, since bytes would not have been smaller */
	double rms, max; /* m: what it moved the soft skin by over the motions, root mean square and most */
} lmbCompactReport;

/* Rewrites the model at path. tolerance (m, > 0): the RMS over the soft skin that shapes may be off by when
 * their amounts are as in the motions (for the network's, also in random poses). Each block of vertices
 * gets as many bytes for each shape as that costs least: none where it hardly moves, one, or two. The loss
 * is then measured: all motions at 60 Hz through both files. motions are of the model's character. The
 * same input gives the same file. */
lmbStatus lmbModel_Compact( const char *path, const lmbMotion *const *motions, int motionCount,
                            double tolerance, lmbCompactReport *report, lmbError *error );

/* The same for amounts that are known (RMS, m or as the model has them): coefficients (coefficientCount) and
 * modes (modeCount); NULL where the model has none. Nothing is measured: rms and max stay 0. */
lmbStatus lmbModel_CompactFor( const char *path, const double *coefficients, const double *modes,
                               double tolerance, lmbCompactReport *report, lmbError *error );

#endif
