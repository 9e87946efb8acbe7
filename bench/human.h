/* A made-up character of a human's size: 13,380 vertices in tubes around 31 bones, 4,020 of them soft. */
#ifndef LMB_BENCH_HUMAN_H
#define LMB_BENCH_HUMAN_H

#include "flesh/model.h"

typedef struct lmbHumanDef
{
	int regionCount, coefficients; /* of the network; coefficients of each region */
	int featureCount;              /* of a region, at most what a pose has */
	int hidden, layerCount;        /* its perceptron: width, dense layers */
	int modeCount;
} lmbHumanDef;

/* As the stages make one of 20 regions; and one network of 64 coefficients for all of the skin, 32 modes. */
extern const lmbHumanDef lmbHumanOfRegions, lmbHumanOfOne;

/* Written to a file of its own, made compact, opened and removed. Close also after a failure. */
lmbStatus lmbHuman_Open( const lmbHumanDef *def, lmbModel *model, lmbError *error );

/* The network of a human of one region as an ONNX graph, features (1 x F) to coefficients (1 x K). */
lmbStatus lmbHuman_WriteOnnx( const lmbHumanDef *def, const char *path, lmbError *error );

#endif
