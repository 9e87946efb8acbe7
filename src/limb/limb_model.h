/* The model file of a limb (docs/formats/limb-model.md), as training writes it. Internal to src/limb. */
#ifndef LMB_LIMB_LIMB_MODEL_H
#define LMB_LIMB_LIMB_MODEL_H

#include "limb/equations.h"

enum
{
	lmbLimbNetworksMax = 4, /* of one model: mass, potential, damping, drive */
	lmbLimbCellsMax = 8,
	lmbTrustCentresMax = 64
};

/* A perceptron as the file holds it: single precision, scales folded into the first and last layer. */
typedef struct lmbLimbNetwork
{
	const char *name;
	int layerCount;
	int32_t sizes[lmbMlpMaxLayers + 1];
	const int32_t *inputs; /* (sizes[0]) */
	float *layers;         /* (layerNumbers) */
	size_t layerNumbers;
} lmbLimbNetwork;

/* One recurrent layer; gates: 3 (GRU) or 4 (LSTM). */
typedef struct lmbLimbCell
{
	int inputs;                   /* h of the layer below, or m + 1 */
	float *input, *hidden, *bias; /* (gates h x inputs), (gates h x h), (2 x gates h) */
} lmbLimbCell;

/* How far from the training data; see the format. */
typedef struct lmbTrustRegion
{
	int inputCount, centreCount; /* inputCount 0: none */
	int32_t *inputs;
	double *whiten, *mean;
	float *centres;
	double *growth; /* (2 dofCount + inputCount + 5) Nullable */
	double scale;
} lmbTrustRegion;

typedef struct lmbLimbModel
{
	lmbLimbKind kind;
	int dofCount, inputCount;
	const char *const *dofNames, *const *inputNames;
	const bool *slides;
	lmbInputHold hold;
	double step; /* s */
	const lmbFeatures *features;
	int networkCount;
	lmbLimbNetwork networks[lmbLimbNetworksMax];
	double massFloor;                    /* Lagrangian */
	const double *damping, *driveMatrix; /* Nullable */
	int cellCount, hidden;               /* recurrent */
	lmbLimbCell cells[lmbLimbCellsMax];  /* (cellCount) */
	const double *stepShift, *stepScale; /* (m + 1) */
	const double *readBase;              /* (n) */
	lmbTrustRegion trust;
} lmbLimbModel;

/* Adds a scaled network, folded, to the model; memory from the arena. name and inputs must stay. */
lmbStatus lmbLimbModel_AddNetwork( lmbLimbModel *model, const char *name, const lmbScaledNetwork *network,
                                   const double *parameters, lmbArena *arena, lmbError *error );
/* Kind, features, networks and constants of taught equations, which must stay. */
lmbStatus lmbLimbModel_FromEquations( lmbLimbModel *model, const lmbEquations *equations,
                                      const double *parameters, lmbArena *arena, lmbError *error );
/* The file, complete or not at all. A number that is not finite is lmb_statusNumerical. */
lmbStatus lmbLimbModel_Write( const lmbLimbModel *model, const char *path, lmbError *error );

#endif
