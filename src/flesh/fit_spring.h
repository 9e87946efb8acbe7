/* One spring fitted to one record of motion: the inner problem of the stage `fit`. */
#ifndef LMB_FLESH_FIT_SPRING_H
#define LMB_FLESH_FIT_SPRING_H

#include "base/error.h"
#include "flesh/fit.h"

/* A run of evenly spaced frames that starts at rest. */
typedef struct lmbSegment
{
	int first, count; /* frames, in the record's arrays */
	double step;      /* s */
	double weight;    /* of its frames in every sum of squares */
} lmbSegment;

/* What drove a spring and where it should have been. Rows as in forcing.h. */
typedef struct lmbSpringRecord
{
	int dimension; /* 1 or 3 coordinates that share the spring */
	int segmentCount, frameCount;
	const lmbSegment *segments;
	lmbTargetInterpolation interpolation;
	const double *start, *end, *truth; /* (frameCount x dimension) */
	const uint8_t *counted;            /* (frameCount) 0: the frame does not enter the error; Nullable */
	const double *logRatios; /* (frameCount) log of stiffness and damping against those sought, by frame
	                            (runtime/springs.h); Nullable: 0. Dimension 1 only */
} lmbSpringRecord;

/* A spring as it is searched for. */
typedef struct lmbSpringPoint
{
	double logStiffness, logDamping;
} lmbSpringPoint;

/* Stiffness in [1, 1e7] 1/s^2 and damping in [0.01, 1e5] 1/s: 0.16 to 500 Hz, and slower or faster than any
 * motion seen in frames. Above, a spring stands still: lmbSpring_Still is one that never moves visibly. */
#define lmbSpring_StiffnessLow 1.0
#define lmbSpring_StiffnessHigh 1e7
#define lmbSpring_DampingLow 0.01
#define lmbSpring_DampingHigh 1e5
lmbSpringPoint lmbSpring_Still( void );

typedef struct lmbSpringFit
{
	double stiffness, damping;
	double energy; /* weighted sum |truth|^2 over the frames that count */
	double share;  /* captured: 1 - sum|truth - spring|^2 / energy over them; 0 when energy is 0 */
} lmbSpringFit;

/* How a spring is sought. The prior pulls: priorWeight is what one unit of log^2 costs, as a share of the
 * record's energy, for each of the two. It decides what the motion leaves open. */
typedef struct lmbSpringSearch
{
	lmbOptimizer optimizer;
	double dropShare; /* worst frames left out in the second pass */
	lmbSpringPoint prior, priorWeight;
	const lmbSpringPoint *starts; /* (startCount) tried; the best two are followed */
	int startCount;
} lmbSpringSearch;

/* scratch: 2 frameCount doubles. Pure; the same record and search give the same bits. */
lmbSpringFit lmbSpring_Fit( const lmbSpringRecord *record, const lmbSpringSearch *search, double *scratch );

/* Weighted sum over counted frames of |truth - spring|^2, and its derivatives by log k and log c (gradient
 * (2)) and Gauss-Newton matrix (hessian (3): kk, kc, cc) when gradient is not NULL. frameWeights (frameCount)
 * is Nullable. */
double lmbSpring_Error( const lmbSpringRecord *record, const double *frameWeights, lmbSpringPoint point,
                        double *gradient, double *hessian );

/* out (frameCount x dimension): the spring's displacement. truth is not read. */
void lmbSpring_Run( const lmbSpringRecord *record, double stiffness, double damping, double *out );

#endif
