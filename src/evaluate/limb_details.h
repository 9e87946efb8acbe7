/* What a page about models of limbs shows beyond metrics.json: errors over time, a few roll-outs, the torque
 * that a pulse causes, scores beside errors. docs/formats/evaluation.md is the file. */
#ifndef LMB_EVALUATE_LIMB_DETAILS_H
#define LMB_EVALUATE_LIMB_DETAILS_H

#include "evaluate/limb_metrics.h"

#include <jansson.h>

enum
{
	lmbLimbCurveMax = 101,
	lmbLimbExampleMax = 3,
	lmbLimbDoubtMax = 300
};

typedef struct lmbLimbExample
{
	int motion;          /* index in the test */
	double *positions;   /* (sampleCount x dofCount) */
	int finiteCount;     /* samples before the model gave up */
	double *interaction; /* (dofCount x steps) N m, as lmbLimbInteraction_Add has it, NaN at the pulse's own
	                        joint and where there is none; NULL: no pulse */
} lmbLimbExample;

/* Of one contender on one test. */
typedef struct lmbLimbDetails
{
	lmbArena arena;
	const lmbTrajectories *truth;
	int curveCount;
	double times[lmbLimbCurveMax]; /* s: every tenth of a second up to the last of lmbLimbTimes, or finer */
	double *curves;                /* (curveCount x count of motions) degrees; NaN: the motion is shorter */
	int exampleCount;
	lmbLimbExample examples[lmbLimbExampleMax];
	int doubtCount;
	double scores[lmbLimbDoubtMax], errors[lmbLimbDoubtMax]; /* lmbLimbPlayer_Doubt */
} lmbLimbDetails;

/* Examples are the first, the middle and the last motion of the test, of those with a pulse if there are any:
 * chosen by their place, not by how well somebody did. truth must outlive details; Free also after a failure.
 */
lmbStatus lmbLimbDetails_Begin( lmbLimbDetails *details, const lmbTrajectories *truth, lmbError *error );
/* One motion's roll-out; different motions may come from different threads. plant (Nullable) is the calling
 * thread's: for the interaction torque. */
lmbStatus lmbLimbDetails_Add( lmbLimbDetails *details, int motion, const lmbLimbRollout *rollout,
                              lmbPlant *plant, lmbError *error );
/* Keeps an even share of the pairs. */
void lmbLimbDetails_Doubts( lmbLimbDetails *details, const double *scores, const double *errors, int count );
void lmbLimbDetails_Free( lmbLimbDetails *details );

/* For the file: what a contender did, and what the test itself is (examples of the truth; plant Nullable).
 * NULL without memory. */
json_t *lmbLimbDetails_Json( const lmbLimbDetails *details );
json_t *lmbLimbDetails_TestJson( const lmbTrajectories *truth, lmbPlant *plant );

#endif
