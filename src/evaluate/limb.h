/* Judging models of limbs on motions that they never saw: roll-outs through the runtime, on any number of
 * threads, with the same numbers. What the numbers mean: limb_metrics.h, docs/formats/metrics.md. */
#ifndef LMB_EVALUATE_LIMB_H
#define LMB_EVALUATE_LIMB_H

#include "base/job.h"
#include "evaluate/limb_details.h"
#include "evaluate/limb_player.h"

/* Who is judged: a model file, or equations under RK4. */
typedef struct lmbLimbContender
{
	const char *path;             /* NULL: equations */
	lmbAccelerationOf *equations; /* with one of contexts (job->threads), each for one thread at a time */
	void *const *contexts;
} lmbLimbContender;

typedef struct lmbLimbTestSet
{
	const char *name;
	const lmbTrajectories *truth;
	/* (count) s, Nullable: until when an error in a trajectory's state grows by less than
	 * lmbLimbAmplificationLimit in the plant itself. */
	const double *judgedTimes;
} lmbLimbTestSet;

/* Where the plant multiplies an error by more, a replay judges the plant. */
extern const double lmbLimbAmplificationLimit; /* 1000 */

typedef struct lmbLimbJudgeDef
{
	lmbIntegrator integrator; /* of models */
	double step;              /* s, at most */
	double fitStart; /* s: starts are fitted to so much of the motion; 0: they are the recorded ones */
	lmbPlant *const *plants; /* (job->threads) Nullable: for the interaction torque */
	lmbLimbErrors *errors;   /* (truth->count) Nullable: of each motion, set */
	lmbLimbDetails *details; /* Nullable: filled too; the caller's to free, also after a failure */
} lmbLimbJudgeDef;

typedef struct lmbLimbScore
{
	lmbLimbSummary summary;
	double interactionError; /* RMS of the difference over RMS of the truth, pooled; NaN: no pulses */
	double trustRank;        /* Spearman's, of score and acceleration's error; NaN: no score */
} lmbLimbScore;

/* One contender on one test. */
lmbStatus lmbLimbScore_Of( const lmbLimbContender *contender, const lmbLimbTestSet *test,
                           const lmbLimbJudgeDef *def, const lmbJob *job, lmbLimbScore *out,
                           lmbError *error );

/* How much the plant itself amplifies errors along a test's trajectories: median at lmbLimbTimes (NaN:
 * shorter), and for each trajectory the time of judgedTimes above. plants (job->threads). */
lmbStatus lmbLimbAmplification_Of( lmbPlant *const *plants, const lmbTrajectories *truth, const lmbJob *job,
                                   double median[lmbLimbTimeCount], double *judgedTimes, lmbError *error );

#endif
