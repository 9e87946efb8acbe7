/* Linear least squares with a bias and a ridge: y ~ W f + b, W small where the data do not ask for it.
 *
 * Minimises sum_i w_i |W f_i + b - y_i|^2 / sum_i w_i + lambda |W|^2 with lambda = ridge * trace( C ) / F,
 * C the weighted covariance of the F features. The bias is free. The ridge is relative, so the same
 * number means the same for features in any unit. */
#ifndef LMB_LEARN_RIDGE_H
#define LMB_LEARN_RIDGE_H

#include "base/error.h"

#include <stdbool.h>

typedef struct lmbRidgeDef
{
	int sampleCount, featureCount, outputCount;
	const double *features;      /* (sampleCount x featureCount) */
	const double *targets;       /* (sampleCount x outputCount) */
	const double *sampleWeights; /* (sampleCount) >= 0, not all 0; Nullable: all 1 */
	double ridge;                /* > 0: taken as it is; 0: chosen, for each output by itself */
	/* Choosing: the ridge from lmbRidgeGrid with the least weighted squared error on folds left out.
	 * folds (sampleCount) in [0, foldCount), samples that resemble one another (neighbouring frames) in
	 * the same fold; a negative fold always trains and never judges. */
	const int32_t *folds;
	int foldCount; /* in [2, 64] when ridge is 0 */
} lmbRidgeDef;

enum
{
	lmbRidgeGridCount = 19
};

/* 1e-8, 10^-7.5, .. 10: the ridges tried. index in [0, lmbRidgeGridCount). */
double lmbRidgeGrid( int index );

/* solution (outputCount x (featureCount + 1)), bias last in each row. chosen (outputCount; Nullable): the
 * relative ridges taken. A data set without samples of weight is lmb_statusInvalidArgument; numbers that
 * are not finite lmb_statusNumerical. */
lmbStatus lmbRidge_Fit( const lmbRidgeDef *def, double *solution, double *chosen, lmbError *error );

/* outputs (sampleCount x outputCount) = W f + b. */
void lmbRidge_Evaluate( int sampleCount, int featureCount, int outputCount, const double *features,
                        const double *solution, double *outputs );

#endif
