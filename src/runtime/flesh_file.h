/* A model file (docs/formats/model.md) as checked pointers into its bytes. */
#ifndef LMB_RUNTIME_FLESH_FILE_H
#define LMB_RUNTIME_FLESH_FILE_H

#include <limber/base.h>

#include <stdbool.h>

/* Columns of network.regions. */
enum
{
	lmbRegionBone,
	lmbRegionFeatures,
	lmbRegionCoefficients,
	lmbRegionVertices,
	lmbRegionHidden,
	lmbRegionLayers,
	lmbRegionColumns
};

enum
{
	lmbLayersMax = 8,      /* dense layers of a region's perceptron */
	lmbInfluenceLimit = 64 /* bones of a vertex */
};

/* Shapes as bytes, for each block of soft vertices (kernels.h, lmbColumns); all NULL when the file has none.
 */
typedef struct lmbFileColumns
{
	const int32_t *blocks; /* (softBlockCount + 1) first column of each block, all even */
	const int32_t *amount; /* (columns) */
	const float *scales;   /* (columns) */
	const int8_t *entries; /* (columns x 3 x lmbLanes) */
} lmbFileColumns;

typedef struct lmbFleshFile
{
	int version;
	const int32_t
	    *softOrder; /* (soft blocks x lmbLanes) each soft vertex, or -1; Nullable: the file's order */
	lmbFileColumns networkColumns, modeColumns; /* in place of basis and shapes */
	int vertexCount, triangleCount, boneCount, influenceCount;
	int regionCount, featureCount, coefficientCount, modeCount, pairCount;
	const float *bind;           /* (vertexCount x 3) */
	const int32_t *triangles;    /* (triangleCount x 3) */
	const uint16_t *vertexBones; /* (vertexCount x influenceCount) */
	const float *weights;        /* (vertexCount x influenceCount) */
	const int32_t *groups;       /* (vertexCount) */
	const float *softness;       /* (vertexCount) */
	const int32_t *parents;      /* (boneCount) */
	const char *names;           /* boneCount strings, each with its zero */
	/* All regions behind one another; NULL without a network. */
	const int32_t *regions; /* (regionCount x lmbRegionColumns) */
	const int32_t *features, *regionVertices;
	const float *basis, *linear, *mean, *scale, *layers;
	/* NULL without modes, shapes also where modeColumns are. */
	const float *shapes;                            /* (modeCount x vertexCount x 3) */
	const double *unfitted, *fitted;                /* (modeCount x 2); fitted Nullable */
	const float *poseStiffness;                     /* (modeCount x (featureCount + 1)), Nullable */
	const float *poseStiffnessRange;                /* (modeCount x 2), with it */
	const int32_t *pairs;                           /* (pairCount x 2) */
	const float *boneForcing;                       /* (modeCount x pairCount x 12) */
	const float *coefficientForcing;                /* (modeCount x coefficientCount), Nullable */
	const double *vertexSprings, *remainderSprings; /* (vertexCount x 2), Nullable */
} lmbFleshFile;

/* Reads and checks everything: shapes, indices, finiteness, the rules of the format. *problem is a static
 * sentence when the status is not ok, else NULL. */
lmbStatus lmbFleshFile_Read( const void *data, size_t size, lmbFleshFile *file, const char **problem );

/* Inputs and outputs of a dense layer of a region (a row of regions). */
void lmbRegion_LayerSize( const int32_t *region, int layer, int *inputs, int *outputs );

/* Features of a bone: 9 of its rotation against its parent, or 3 of a root. */
static inline int lmbBone_FeatureCount( const int32_t *parents, int bone )
{
	return parents[bone] < 0 ? 3 : 9;
}

#endif
