/* The samples that the network learns from and is judged on. */
#ifndef LMB_FLESH_TRAIN_DATA_H
#define LMB_FLESH_TRAIN_DATA_H

#include "flesh/dataset.h"
#include "flesh/mirror.h"
#include "flesh/network.h"
#include "flesh/regions.h"

typedef enum lmbSampleUse
{
	lmb_useTrain,
	lmb_useStop,  /* steers early stopping and the choice between regression and perceptron */
	lmb_useReport /* judges, and does nothing else */
} lmbSampleUse;

typedef struct lmbTrainSource
{
	const double *bones; /* (boneCount x 12) */
	const float *nodes;  /* (nodeCount x 3) */
} lmbTrainSource;

typedef struct lmbTrainData
{
	int ownCount;    /* samples of the dataset; in order of use: train, stop, report */
	int sampleCount; /* with the mirrored ones, sample ownCount + i mirroring sample i */
	int trainCount, stopCount, reportCount; /* of the own ones */
	int poseCount;                          /* random poses among the own ones */
	int featureCount, vertexCount;
	lmbTrainSource *sources; /* (ownCount) */
	uint8_t *uses;           /* (sampleCount) lmbSampleUse */
	int32_t *folds;          /* (sampleCount) for cross-validation: -1 trains always */
	double *features;        /* (sampleCount x featureCount) */
	float *displacement;     /* (sampleCount x vertexCount x 3) m, bind axes */
} lmbTrainData;

enum
{
	lmbTrainFolds = 5
};

/* Chooses and splits samples (converged ones; frames of trained sequences only) and computes them.
 * mirror is Nullable. The data live in the arena. Too few samples is lmb_statusInvalidArgument. */
lmbStatus lmbTrainData_Make( const lmbCharacter *character, const lmbTissue *tissue,
                             const lmbDataset *dataset, const lmbTrainDef *def, const lmbMirror *mirror,
                             const lmbJob *job, lmbArena *arena, lmbTrainData *data, lmbError *error );

/* Bind-space displacement of the skin of one still shape: d_v = R_v^T (x_v - LBS_v), softness included.
 * out (vertexCount x 3). scratch: lmbTrain_ScratchSize numbers. */
size_t lmbTrain_ScratchSize( const lmbCharacter *character, const lmbTissue *tissue );
void lmbTrain_Displacement( const lmbCharacter *character, const lmbTissue *tissue, const double *bones,
                            const float *nodes, double *scratch, float *out );
/* The same for the lattice's nodes: out (nodeCount x 3). */
void lmbTrain_NodeDisplacement( const lmbTissue *tissue, const double *bones, const float *nodes,
                                double *scratch, double *out );

#endif
