/* What a loaded model is made of: arrays of the file, and copies of some of them in the order in which a
 * step reads them. */
#ifndef LMB_RUNTIME_FLESH_MODEL_H
#define LMB_RUNTIME_FLESH_MODEL_H

#include <limber/flesh.h>

#include "carver.h"
#include "flesh_file.h"
#include "kernels/kernels.h"

/* A dense layer. Models that store shapes by blocks have its weights as whole numbers. */
typedef struct lmbDense
{
	int inputs, outputs; /* outputs a multiple of lmbTile */
	float *weights;      /* (inputs x outputs); NULL: words */
	lmbWords words;
	float *bias; /* (outputs), Nullable */
} lmbDense;

/* One region of the network. Lanes are its soft vertices, padded to a multiple of lmbTile; outputs are
 * padded to a multiple of lmbTile too. */
typedef struct lmbFleshRegion
{
	int featureCount, coefficientCount, hiddenCount, layerCount, laneCount;
	int coefficientPad, hiddenPad;
	int firstCoefficient;    /* among those of all regions */
	const int32_t *features; /* (featureCount) indices of the pose's features */
	const float *mean, *scale;
	lmbDense linear, layers[lmbLayersMax];
	float *basis;     /* (laneCount / lmbTile x 3 x coefficientCount x lmbTile) */
	int32_t *targets; /* (laneCount) offset of the lane's x in a (blocks x 3 x lmbLanes) array */
} lmbFleshRegion;

struct lmbFlesh
{
	lmbFleshInfo info;
	int pairCount, featureCount, regionCount;
	uint64_t key; /* of the file's bytes: a saved state belongs to one model */

	const float *bind;        /* (vertexCount x 3) */
	const char **boneNames;   /* (boneCount) */
	const int32_t *parents;   /* (boneCount) */
	const int32_t *triangles; /* (triangleCount x 3) */

	/* Blocks of lmbLanes vertices: first those with softness, then the rigid ones. A lane of -1 is padding.
	 */
	int softBlockCount, blockCount;
	int32_t *order; /* (blockCount x lmbLanes) vertex of each lane */
	float *rest;    /* (blockCount x lmbLanes x 3) m, bind space */
	/* Bones of each block as (lmbLanes x used), blocks behind one another. Rigid vertices are sorted by how
	 * many bones they use. */
	uint16_t *bones;
	float *weights;
	int32_t *blockBones; /* (blockCount + 1) bones per lane in all blocks before */

	uint8_t *tiles; /* (blockCount x lmbLanes / lmbTile) bones that a tile's vertices need */

	int seamCount, runCount, stripCount; /* lmbNormals */
	int32_t *seams, *strips;
	lmbTurned *turned;
	lmbTurnedRun *runs;

	lmbFleshRegion *regions; /* (regionCount) */
	int coefficientPadMax, hiddenPadMax, regionFeatureMax;

	lmbFileColumns networkColumns, modeColumns; /* in place of the regions' basis and of shapes */

	float *shapes; /* (softBlockCount x 3 x lmbLanes / lmbTile x modeCount x lmbTile) */
	int modePad;   /* modeCount, padded to a multiple of lmbTile */
	lmbDense boneForcing, coefficientForcing; /* (pairCount * 12), (coefficientCount) or no x modePad */
	float *poseStiffness; /* ((featureCount + 1) x modePad), the constant last; NULL: modes keep theirs */
	float *poseStiffnessRange; /* (2 x modePad) lowest, highest */
	const int32_t *pairs;      /* (pairCount x 2) */
	/* (count x 2) stiffness and damping, NULL when the model has none */
	const double *modeSprings, *modeSpringsUnfitted, *vertexSprings, *remainderSprings;
};

/* y = bias + W^T x; and two of them without bias. x (inputs), y (outputs), no overlap. */
void lmbDense_Run( const lmbDense *dense, const lmbKernels *kernels, const float *x, float *y );
void lmbDense_RunTwo( const lmbDense *dense, const lmbKernels *kernels, const float *const x[2],
                      float *const y[2] );

#endif
