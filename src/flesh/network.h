/* The quasistatic network: pose to the still shape of the skin; the stage `train`.
 *
 * Features of a pose: for every bone the rotation relative to its parent, R_parent^T R_bone in bind-space
 * axes, as 9 matrix entries less the identity; for root bones the direction of gravity in the bone's
 * frame, R_root^T (0,-1,0) less the bind's own, 3 entries. Turning the whole character about the vertical,
 * or moving it, changes nothing.
 *
 * The skin is covered by overlapping regions, one per bone that moves soft skin, with smooth weights that
 * sum to 1. Each region has its own basis (weighted PCA of bind-space displacements over the vertices that
 * it covers), its own input features (those of bones near it in the skeleton) and its own predictor:
 * ridge regression plus a small multilayer perceptron on what the regression leaves. The displacement of a
 * vertex is the sum over regions of basis x coefficients (the region's weight is folded into its basis). */
#ifndef LMB_FLESH_NETWORK_H
#define LMB_FLESH_NETWORK_H

#include "flesh/dataset.h"
#include "flesh/tissue.h"

/* One region as it is stored and run. Sizes differ from region to region. */
typedef struct lmbRegion
{
	int bone;
	int featureCount, coefficientCount, vertexCount, hiddenCount;
	int layerCount;    /* dense layers: 0 for regression alone, else hidden layers + 1, at most 5 */
	int32_t *features; /* (featureCount) indices into the pose's feature vector */
	int32_t *vertices; /* (vertexCount) skin vertices, ascending */
	float *basis;  /* (coefficientCount x vertexCount x 3) m per unit coefficient, region weight included */
	float *linear; /* (coefficientCount x (featureCount + 1)) ridge regression, bias last */
	/* Perceptron: layerCount dense layers, tanh between; layer 0 reads the features (normalised),
	 * hidden layers are hiddenCount wide, the last gives coefficientCount. Row-major (out x in), then bias.
	 */
	float *featureMean, *featureScale; /* (featureCount) the perceptron reads (f - mean) * scale */
	float **layerWeights;              /* [layerCount] (out x in) */
	float **layerBias;                 /* [layerCount] (out) */
} lmbRegion;

typedef struct lmbNetwork
{
	lmbArena arena;
	int boneCount, vertexCount, featureCount, regionCount;
	int coefficientCount; /* of all regions together */
	lmbRegion *regions;
	/* Linear estimate of the still lattice from the coefficients, projected on modes by the stage `fit`:
	 * lattice displacement (bind axes) ~ lattice^T z + a constant. Nullable before training. */
	float *lattice; /* (coefficientCount x nodeCount x 3) */
	int nodeCount;
} lmbNetwork;

typedef struct lmbTrainDef
{
	int coefficients;    /* of each region at most, in [1, 64] */
	double varianceKept; /* fewer when they keep this share of the region's variance, in (0, 1] */
	int hidden;          /* width of the perceptrons' hidden layers, in [0, 1024]; 0: regression only */
	int layers;          /* hidden layers, in [1, 4] */
	int reach;           /* bones within this many steps of the region's bone are its inputs, in [0, 64] */
	double ridge;        /* relative ridge, >= 0; 0: chosen by cross-validation */
	bool mirror;         /* add left-right mirrored samples when the character is symmetric */
	double heldOutPoses; /* share of poses kept for early stopping and reporting, in [0.05, 0.5] */
	int adamSteps, lbfgsSteps;
	double weightDecay;
	const char *checkpoint; /* Nullable: file to resume from and to write while training */
} lmbTrainDef;

lmbTrainDef lmbDefaultTrainDef( void );

typedef struct lmbTrainReport
{
	int poseCount, heldOutCount, mirroredCount;
	double unseenRms; /* m, soft skin, poses kept apart that neither steered the stopping nor trained */
	double unseenSkinningRms; /* m, the same vertices and poses, skinning alone */
	double truncationRms;     /* m, the best that the basis could do on them */
	double trainedRms;        /* m, on its own poses */
} lmbTrainReport;

/* Trains on the poses and on the still frames of trained sequences (never of held-out ones). */
lmbStatus lmbNetwork_Train( const lmbCharacter *character, const lmbTissue *tissue, const lmbDataset *dataset,
                            const lmbTrainDef *def, const lmbJob *job, lmbNetwork **out,
                            lmbTrainReport *report, lmbError *error );
void lmbNetwork_Free( lmbNetwork *network );
lmbStatus lmbNetwork_Write( const lmbNetwork *network, const char *path,
                            lmbError *error ); /* "limber.network" */
lmbStatus lmbNetwork_Load( const char *path, lmbNetwork **out, lmbError *error );

/* Where each bone's features begin in a pose's feature vector: offsets (boneCount + 1; Nullable), the last
 * is their number, which is returned too. */
int lmbNetwork_FeatureOffsets( const lmbCharacter *character, int32_t *offsets );

/* Reference evaluation in double, for tests and for offline stages: features (featureCount),
 * coefficients (coefficientCount), displacement (vertexCount x 3) in bind axes. */
void lmbNetwork_Features( const lmbCharacter *character, const double *bones, double *features );
void lmbNetwork_Coefficients( const lmbNetwork *network, const double *features, double *coefficients );
void lmbNetwork_Displacement( const lmbNetwork *network, const double *coefficients, double *displacement );

#endif
