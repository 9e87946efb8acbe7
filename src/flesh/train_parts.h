/* What the files of the stage `train` share. */
#ifndef LMB_FLESH_TRAIN_PARTS_H
#define LMB_FLESH_TRAIN_PARTS_H

#include "flesh/network_parts.h"
#include "flesh/train_data.h"
#include "learn/mlp.h"

/* Given to every region's training; constant meanwhile. */
typedef struct lmbTrainSetup
{
	const lmbCharacter *character;
	const lmbTrainDef *def;
	const lmbTrainData *data;
	const lmbRegionMap *map;
	const lmbJob *job;
	const int32_t *offsets; /* (boneCount + 1) features of each bone */
} lmbTrainSetup;

typedef struct lmbTrainedRegion
{
	lmbArena arena; /* of the region's arrays */
	lmbRegion region;
	double linearError, error; /* m, RMS on the stopping samples: regression alone, and what was kept */
	bool done;
} lmbTrainedRegion;

/* Basis, regression and perceptron of region `index` of the map. Depends on nothing but the setup and
 * job->seed. */
lmbStatus lmbTrainRegion( const lmbTrainSetup *setup, int index, lmbTrainedRegion *out, lmbError *error );

/* What a perceptron is fitted to. Inputs are normalised. */
typedef struct lmbPerceptronData
{
	int trainCount, stopCount, inputCount, outputCount;
	const double *trainInputs, *trainTargets; /* (trainCount x inputCount), (trainCount x outputCount) */
	const double *stopInputs, *stopTargets;
} lmbPerceptronData;

/* Adam, then L-BFGS; parameters (of mlp) end where the mean squared error over the stopping samples was
 * least, which is returned in *stopLoss. */
lmbStatus lmbTrainPerceptron( const lmbPerceptronData *data, const lmbMlp *mlp, const lmbTrainDef *def,
                              const lmbJob *job, lmbRandom *random, double *parameters, double *stopLoss,
                              lmbError *error );

/* The lattice's regression on the coefficients: fills network->lattice and nodeCount. coefficients
 * (trainCount x network->coefficientCount) of the own training samples. */
lmbStatus lmbTrainLattice( const lmbTissue *tissue, const lmbTrainData *data, const double *coefficients,
                           const lmbJob *job, lmbNetwork *network, lmbError *error );

/* Measures a finished network on the samples for the report, and makes its lattice. */
lmbStatus lmbTrain_Judge( const lmbTrainSetup *setup, const lmbTissue *tissue, lmbNetwork *network,
                          lmbTrainReport *report, lmbError *error );

#endif
