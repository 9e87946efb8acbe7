/* A limb's model file (docs/formats/limb-model.md) as checked pointers into its bytes. */
#ifndef LMB_RUNTIME_LIMB_FILE_H
#define LMB_RUNTIME_LIMB_FILE_H

#include <limber/limb.h>

#include "limb_core.h"

/* A perceptron as the file has it. */
typedef struct lmbLimbFileNet
{
	int layerCount;        /* 0: absent */
	const int32_t *inputs; /* (sizes[0]); NULL: 0, 1, 2.. (of `read`) */
	int32_t sizes[lmbCoreMaxLayers + 1];
	const float *layers;
} lmbLimbFileNet;

typedef struct lmbLimbFileCell
{
	const float *input, *hidden, *bias;
} lmbLimbFileCell;

typedef struct lmbLimbFile
{
	lmbLimbKind kind;
	bool linear;
	double step;
	int dofCount, inputCount, featureCount;
	int64_t parameterCount;            /* trained numbers: networks, damping, cells */
	const char *dofNames, *inputNames; /* strings, each with its zero */
	const int32_t *angles, *featureKinds;
	const double *featureShifts, *featureScales;
	lmbLimbFileNet mass, potential, damping, drive, acceleration, start, read;
	double massFloor;
	const double *dampingConstant, *driveMatrix; /* Nullable */
	int cellCount, hiddenCount;
	lmbLimbFileCell cells[lmbCoreMaxLayers];
	const double *stepShift, *stepScale, *readBase;
	int trustDimensions, trustCentres; /* 0: no trust */
	const int32_t *trustInputs;
	const double *trustWhiten, *trustMean;
	const float *trustCentreList; /* (trustCentres x trustDimensions) */
	const double *trustGrowth;    /* (2 dofCount + inputCount + 5) Nullable */
	double trustScale;
} lmbLimbFile;

/* Reads and checks everything: shapes, indices, finiteness, the rules of the format. *problem is a static
 * sentence when the status is not ok, else NULL. Safe for any bytes. */
lmbStatus lmbLimbFile_Read( const void *data, size_t size, lmbLimbFile *file, const char **problem );

#endif
