/* Teaching a network the equations of motion of a limb, from trajectories; and the one-network baselines.
 *
 * Three ways to the same model, by what the trajectories hold: accelerations known (regression on them);
 * positions and inputs alone, smoothed and differentiated (the quick start); and multiple shooting through
 * the integrator, which starts from the quick start and needs no acceleration. Whole trajectories stop the
 * training; which is in the report. */
#ifndef LMB_LIMB_TRAIN_H
#define LMB_LIMB_TRAIN_H

#include "base/job.h"
#include "limb/trajectory.h"

#include <limber/limb.h>

typedef enum lmbLimbMethod
{
	lmb_limbMethodAuto,       /* accelerations where the trajectories have them, else shooting */
	lmb_limbMethodRegression, /* on accelerations, measured or from smoothing */
	lmb_limbMethodShooting
} lmbLimbMethod;

typedef struct lmbLimbTrainDef
{
	lmbLimbKind kind;
	lmbLimbMethod method;
	int hiddenLayers, width;   /* of each network; recurrent: layers and units */
	bool potential;            /* Lagrangian: V and gravity */
	bool frictionNetwork;      /* Lagrangian: damping that depends on state, besides the constant one */
	bool driveNetwork;         /* Lagrangian: inputs through learned moment arms and gains (muscles) */
	const double *driveMatrix; /* (dofCount x inputCount) Nullable: known moment arms */
	bool absoluteAngles;       /* angles against the world, not against the previous segment */
	bool invariantBase;  /* nothing depends on the first joint angle (absolute: on turning all together) */
	bool findInvariance; /* try without it, and keep the better of the two on data that do not train */
	double noise;        /* rad: standard deviation of measured positions; 0: exact */
	double cutoff;       /* Hz of the smoothing filter of the quick start; 0: from the noise */
	double window;       /* s of a shooting window */
	int adamEpochs, lbfgsIterations;
	double stopShare; /* share of whole trajectories that stop the training, in (0, 0.5] */
	bool trust;
} lmbLimbTrainDef;

lmbLimbTrainDef lmbDefaultLimbTrainDef( lmbLimbKind kind );

typedef struct lmbLimbTrainReport
{
	size_t parameterCount;
	double seconds;
	double trainLoss, stopLoss;   /* RMS, rad/s^2 (regression) or rad (shooting, recurrent) */
	int stopCount;                /* trajectories that stopped the training */
	const char *const *stopNames; /* (stopCount) in the set's arena */
	bool usedInvariance;
} lmbLimbTrainReport;

/* Trains and writes the model file. The same set, def and seed give the same file, whatever the number of
 * threads. */
lmbStatus lmbLimb_Train( lmbTrajectories *set, const lmbLimbTrainDef *def, const lmbJob *job,
                         const char *path, lmbLimbTrainReport *report, lmbError *error );

#endif
