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
	int hiddenLayers, width; /* of each network: 0 to 7, 1 to 256; recurrent: layers and units, from 1 */
	bool potential;          /* Lagrangian: V and gravity */
	bool frictionNetwork;    /* Lagrangian: damping that depends on state, besides the constant one */
	bool driveNetwork;       /* Lagrangian: inputs through learned moment arms and gains (muscles) */
	bool
	    chainPrior; /* Lagrangian: rigid segments on hinges where no trajectory has been, if the data agree */
	/* Lagrangian: the noise is in the inputs rather than in the accelerations, and regression is of torques
	 * at the measured accelerations. (Regression of accelerations on noisy inputs finds too much inertia.) */
	bool torqueNoise;
	const double *driveMatrix; /* (dofCount x inputCount) Nullable: known moment arms */
	bool absoluteAngles;       /* angles against the world, not against the previous segment */
	bool invariantBase;  /* nothing depends on the first joint angle (absolute: on turning all together) */
	bool findInvariance; /* try without it, and keep the better of the two on data that do not train */
	double noise;        /* rad (m for slides): standard deviation of measured positions; 0: exact */
	double cutoff;       /* Hz of the smoothing filter of the quick start; 0: from the noise */
	double window;       /* s of a shooting window */
	/* Regression on fewer than 20,000 samples makes up to 5 times the iterations: they cost little there, and
	 * small sets need them; on more, half of the iterations work on a part
	 * of the samples, and are as many more. Shooting makes lbfgsIterations after regression on the smoothed
	 * data. */
	int adamEpochs, lbfgsIterations;
	double stopShare; /* share of whole trajectories that stop the training, in (0, 0.5] */
	bool trust;
} lmbLimbTrainDef;

/* Lagrangian and affine: 2x32 networks, potential, invariance found from the data; plain: 2x64, none of that;
 * recurrent: one layer of 64 units. Window 0.5 s, a tenth of the trajectories stops, trust on. */
lmbLimbTrainDef lmbDefaultLimbTrainDef( lmbLimbKind kind );

typedef struct lmbLimbTrainReport
{
	size_t parameterCount;
	double seconds;
	/* RMS over samples and degrees of freedom of the model that was written: of accelerations, rad/s^2
	 * (regression), or of positions, rad (shooting: within windows; recurrent: over whole trajectories). */
	double trainLoss, stopLoss;
	int stopCount;                /* trajectories that stopped the training; with too few, the end of each */
	const char *const *stopNames; /* (stopCount) in the set's arena; ends are marked "(its end)" */
	bool usedInvariance;
} lmbLimbTrainReport;

/* Trains and writes the model file, complete or not at all: killed or cancelled (lmb_statusCancelled) it
 * leaves what was there. The same set, def and seed give the same file, whatever the number of threads. Steps
 * may differ between trajectories; the model's is the first one's. report may be NULL. Progress counts
 * "iterations" and tells the loss on what stops the training. Numbers that are not finite and settings out of
 * range are refused with the trajectory's or setting's name. */
lmbStatus lmbLimb_Train( lmbTrajectories *set, const lmbLimbTrainDef *def, const lmbJob *job,
                         const char *path, lmbLimbTrainReport *report, lmbError *error );

#endif
