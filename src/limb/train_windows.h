/* Windows of trajectories that are carried forward by RK4: the half of multiple shooting that teaching and
 * stopping share. Internal to src/limb/train_shooting.c and train_windows.c. */
#ifndef LMB_LIMB_TRAIN_WINDOWS_H
#define LMB_LIMB_TRAIN_WINDOWS_H

#include "limb/rollout.h"
#include "limb/train_private.h"

typedef struct lmbWindow
{
	int trajectory, begin, steps; /* samples begin .. begin + steps */
	int next;                     /* the window that starts where this one ends; -1 */
} lmbWindow;

typedef struct lmbWindowBatch
{
	int first, count, steps, substeps; /* windows first .. first + count - 1, all of the same length */
	double dt;                         /* s of one substep */
	double *q, *v;                     /* ((steps substeps + 1) x count x n) */
} lmbWindowBatch;

/* One set of windows, teaching or stopping. */
typedef struct lmbWindows
{
	int windowCount, batchCount;
	lmbWindow *windows;
	lmbWindowBatch *batches;
	double *starts, *ends, *byEnds; /* (windowCount x 2 n): positions, velocities */
	double numbers;                 /* measured positions in all of them */
} lmbWindows;

typedef struct lmbShooting
{
	lmbTraining *training;
	const lmbEquations *equations;
	int n, m, workerCount;
	lmbWindows teach, stop;
	lmbRollout *rollouts;         /* (workerCount) */
	double *work;                 /* (workerCount x room) */
	size_t room;                  /* numbers of one worker */
	double *batchGradients;       /* (teach.batchCount x parameterCount) */
	double *batchLosses;          /* of either set */
	double sigma[lmbLimbMaxDofs]; /* of measured positions */
	double startScale[2 * lmbLimbMaxDofs];
	double *point;   /* (parameterCount) */
	double *anchors; /* (teach.windowCount x 2 n) starts at the last iteration */
	/* The starts' normal equations, of the larger set: positions at samples and ends (windowCount x 2 n) with
	 * each number of the starts moved, and with none; blocks (2 n x 2 n) of each window and with the next. */
	double *columns[2 * lmbLimbMaxDofs + 1], *endColumns, *normal, *mixed, *right;
	lmbBest best;
	double trainRms;
	int bestIteration;
	lmbArena arena;
	/* The evaluation that is going on. */
	lmbWindows *now;
	const double *parameters;
} lmbShooting;

/* Cuts stretches into windows, joins those of equal length into batches, and makes room for their states. */
lmbStatus lmbShooting_MakeWindows( lmbShooting *shot, const lmbStretch *stretches, int count, lmbWindows *out,
                                   lmbError *error );
/* Starts from the smoothed motion. */
void lmbShooting_FillStarts( const lmbShooting *shot, lmbWindows *set );
/* Carries all windows of the set forward; its mismatch with the data, mean square in units of the noise; NAN
 * when cancelled. */
double lmbShooting_Carry( lmbShooting *shot, lmbWindows *set, const double *parameters );

/* The inputs of a batch of shot->now at a substep's begin and end; returns whether the end differs. */
bool lmbShooting_BatchInputs( const lmbShooting *shot, const lmbWindowBatch *batch, int substep,
                              double *begin, double *end );
/* Measured positions of a window after so many steps. */
const double *lmbShooting_Measured( const lmbShooting *shot, const lmbWindow *window, int step );
/* Share of the squared mismatch of one sample of a batch in units of the noise; ADDS its gradient by q
 * (Nullable). */
double lmbShooting_SampleLoss( const lmbShooting *shot, const lmbWindowBatch *batch, int step,
                               const double *q, double share, double *byQ );

#endif
