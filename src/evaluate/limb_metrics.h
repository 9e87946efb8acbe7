/* How far roll-outs of a limb's model are from the truth (docs/formats/metrics.md).
 *
 * A roll-out starts in the truth's first state and gets the truth's inputs, nothing else. Its error at a time
 * is the root mean square over the joints of the difference of angles, which do not wrap: a joint that went
 * around once too often is 360 degrees off. Each joint's difference is capped at lmbLimbErrorCap; a roll-out
 * in which one reaches that, or that is not finite, has diverged and counts with the cap from there on.
 * Nothing is left out of any average. Slides do not count among the angles. Over a whole roll-out, the mean
 * is also taken over its samples; and a roll-out is valid until the squares of the differences, in rad and
 * added over the joints, reach lmbLimbValidSquares. */
#ifndef LMB_EVALUATE_LIMB_METRICS_H
#define LMB_EVALUATE_LIMB_METRICS_H

#include "limb/plant.h"
#include "limb/trajectory.h"

enum
{
	lmbLimbTimeCount = 3
};

extern const double lmbLimbTimes[lmbLimbTimeCount]; /* s: 1, 5, 10 */
extern const double lmbLimbErrorCap;                /* degrees: 180 */
extern const double lmbLimbValidSquares;            /* rad^2: 0.01 */

/* What a model made of one trajectory. */
typedef struct lmbLimbRollout
{
	double *positions, *velocities; /* (sampleCount x dofCount); both have the truth's first sample */
	int finiteCount;                /* samples before the model gave up; sampleCount: it did not */
} lmbLimbRollout;

typedef struct lmbLimbErrors
{
	double rmse[lmbLimbTimeCount]; /* degrees; NaN: the trajectory is shorter */
	double judged;                 /* the same at a time of the trajectory's own */
	double whole;                  /* degrees: over all samples to the trajectory's end */
	double valid;                  /* s until which it is valid; at most the trajectory's end */
	bool diverged;                 /* up to the last of the times, or the trajectory's end */
} lmbLimbErrors;

/* slides (dofCount) as in lmbTrajectories; judgedTime in s, NaN: none. */
lmbLimbErrors lmbLimbErrors_Of( const lmbTrajectory *truth, const lmbLimbRollout *rollout, int dofCount,
                                const bool *slides, double judgedTime );
/* The error of every sample, degrees: curve (sampleCount). */
void lmbLimbErrors_Curve( const lmbTrajectory *truth, const lmbLimbRollout *rollout, int dofCount,
                          const bool *slides, double *curve );

typedef struct lmbLimbSummary
{
	int count;
	double mean[lmbLimbTimeCount], median[lmbLimbTimeCount]; /* degrees; NaN: no trajectory is so long */
	double judgedMean, judgedMedian;
	double wholeMean, wholeMedian; /* degrees */
	double validMean, validMedian; /* s */
	double diverged;               /* share */
} lmbLimbSummary;

lmbStatus lmbLimbSummary_Of( const lmbLimbErrors *errors, int count, lmbLimbSummary *out, lmbError *error );

/* The middle value, or the mean of the two; NaN when count is 0. Sorts values. */
double lmbMedian( double *values, int count );

/* Spearman's rank correlation; equal values share the mean of their ranks. NaN when one side has no spread.
 */
lmbStatus lmbSpearman( const double *a, const double *b, int count, double *out, lmbError *error );

/* Sums of squares of an interaction torque, model minus truth, and truth. */
typedef struct lmbLimbInteraction
{
	double difference, truth;
} lmbLimbInteraction;

/* Adds the interaction torque that a motion means at one joint, sample first to last (first < last). In each
 * step it is sum_{j != joint} M_ij q''_j + (C q')_i at the mean of the step's two states, with q'' the change
 * of velocity over the step, both for the model and for the truth: so it asks nothing of the model but its
 * states. False when the plant's terms are not finite. */
bool lmbLimbInteraction_Add( lmbLimbInteraction *sums, lmbPlant *plant, const lmbTrajectory *truth,
                             const lmbLimbRollout *rollout, int joint, int first, int last );
/* That torque of one roll-out, in the step from a sample to the next (N m); false when it is not finite. */
bool lmbLimbInteraction_At( lmbPlant *plant, const lmbTrajectory *truth, const lmbLimbRollout *rollout,
                            int joint, int sample, double *out );

/* A pulse in one trajectory of a set: what differs from the inputs of its twin, which has the same name
 * without lmbLimbPulseMark and all behind it. */
typedef struct lmbLimbPulse
{
	int input, first, end; /* acts from sample first to sample end */
} lmbLimbPulse;

/* False: there is no twin, or none or several of the inputs differ. */
bool lmbLimbPulse_Find( const lmbTrajectories *set, int index, lmbLimbPulse *out );

#endif
