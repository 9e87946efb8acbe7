/* The parts of training a limb; internal to src/limb/train*.c. */
#ifndef LMB_LIMB_TRAIN_PRIVATE_H
#define LMB_LIMB_TRAIN_PRIVATE_H

#include "limb/equations.h"
#include "limb/limb_model.h"
#include "limb/train.h"

/* A stretch of one trajectory. */
typedef struct lmbStretch
{
	int trajectory, begin, count;
} lmbStretch;

/* Which stretches teach, and which stop the training: whole trajectories, or the ends of all when there are
 * too few of them. */
typedef struct lmbSplit
{
	int trainCount, stopCount;
	lmbStretch *train, *stop;
} lmbSplit;

/* One row per instant, gathered from stretches. */
typedef struct lmbSamples
{
	int count;
	double *positions, *velocities, *accelerations, *inputs;
} lmbSamples;

/* What the whole of training works on. Motion is the set itself, or a smoothed copy of it: velocities and
 * accelerations always there. */
typedef struct lmbTraining
{
	const lmbTrajectories *set;
	const lmbTrajectory *motion; /* (set->count) */
	const lmbLimbTrainDef *def;
	const lmbJob *job;
	int trim; /* samples at either end of a motion that smoothing has spoiled */
	lmbSplit split;
	lmbSamples trainSamples, stopSamples;
	double progressDone, progressTotal;
	lmbArena arena;
} lmbTraining;

/* The best found so far, judged on the stopping data. */
typedef struct lmbBest
{
	double *parameters; /* (parameterCount) */
	double loss;        /* weighted; HUGE_VAL before the first look */
	double trainLoss;   /* at the same point, NAN when not known */
} lmbBest;

lmbStatus lmbTraining_Split( lmbTraining *training, lmbError *error );
lmbStatus lmbTraining_Gather( lmbTraining *training, const lmbStretch *stretches, int count,
                              lmbSamples *samples, lmbError *error );
/* Settings and spreads of the training samples, for lmbEquations_Make. */
void lmbTraining_EquationsDef( const lmbTraining *training, lmbEquationsDef *def );
/* Says how far training is; detail is the loss. */
void lmbTraining_Tell( lmbTraining *training, double steps, const char *what, double loss );

/* Regression of accelerations. */
typedef struct lmbRegressionDef
{
	int adamEpochs, lbfgsIterations;
} lmbRegressionDef;

/* From parameters (in: start, out: best). */
lmbStatus lmbTrain_Regression( lmbTraining *training, const lmbEquations *equations,
                               const lmbRegressionDef *def, lmbRandom *random, double *parameters,
                               lmbBest *best, lmbError *error );
/* Whether a chain of rigid segments explains the data, gravity's potential linear in its features included.
 */
lmbStatus lmbTrain_ChainHolds( lmbTraining *training, const lmbEquations *equations, bool *holds,
                               lmbError *error );
/* Where it does (and V is linear or absent): the mass network and V take on the chain's before they are
 * taught. */
lmbStatus lmbTrain_StartFromChain( lmbTraining *training, const lmbEquations *equations, double *parameters,
                                   bool *started, lmbError *error );
/* Of residuals (trainSamples and stopSamples count x n), the mean square that follows from the state, by
 * joint (n) over the stopping samples: what there is to learn beside noise. */
lmbStatus lmbTrain_LackOfFit( const lmbTraining *training, const lmbEquations *equations,
                              const double *trainResiduals, const double *stopResiduals, double *explained,
                              lmbError *error );
/* Made-up states in postures far from all data, with the accelerations of a chain of rigid segments, where
 * such a chain explains the data (train_chain.c); none where it does not. */
lmbStatus lmbTrain_ImagineChain( lmbTraining *training, const lmbEquations *equations, lmbArena *arena,
                                 lmbSamples *out, lmbError *error );
/* Root mean square of the acceleration's error over samples, dofs together. */
lmbStatus lmbTrain_AccelerationError( lmbTraining *training, const lmbEquations *equations,
                                      const lmbSamples *samples, const double *parameters, double *rms,
                                      lmbError *error );

/* Multiple shooting from parameters (in: start, out: best); rms: of the positions over the stopping
 * trajectories' windows, and of the training's. */
lmbStatus lmbTrain_Shooting( lmbTraining *training, const lmbEquations *equations, double *parameters,
                             double *trainRms, double *stopRms, lmbError *error );

/* Velocities and accelerations from positions alone: sets motion and trim. */
lmbStatus lmbTrain_Smooth( lmbTraining *training, lmbError *error );

/* GRU and LSTM; fills the model and what the report says. */
lmbStatus lmbTrain_Direct( lmbTraining *training, lmbLimbModel *model, lmbLimbTrainReport *report,
                           lmbError *error );

/* Squared error of the acceleration, dofs added, of each sample (samples->count). */
lmbStatus lmbTrain_SquaredErrors( lmbTraining *training, const lmbEquations *equations,
                                  const lmbSamples *samples, const double *parameters, double *out,
                                  lmbError *error );
/* The region of the training samples, over the list that features open. squaredErrors of the training
 * samples, Nullable: without, the score does not grow with speed and drive inside the region. */
lmbStatus lmbTrain_Trust( lmbTraining *training, const lmbFeatures *features, const double *squaredErrors,
                          lmbTrustRegion *trust, lmbError *error );

#endif
