/* A chain of rigid segments on hinges as a hypothesis about a limb, in the features of its equations:
 *   tau = M(q) a + dM/dt v - d(v^T M v / 2)/dq + D v + dV/dq,   M, V linear in [1, features],
 * linear in what is unknown. Exact for two segments in a plane, where inertia is a constant and the first
 * harmonics of the joint angles. Where nothing drives the limb, only ratios can be told, and the constant of
 * M's first entry counts as 1. Internal to src/limb/train*.c. */
#ifndef LMB_LIMB_CHAIN_H
#define LMB_LIMB_CHAIN_H

#include "limb/train_private.h"

/* 0.02: a chain whose share (lmbChain_Open) is below this is believed. */
extern const double lmbChainBelieved;

typedef struct lmbChain
{
	const lmbTraining *training;
	const lmbEquations *equations;
	int n, massCount, pairCount, unknownCount;
	int dampingAt, potentialAt; /* first unknown of each; -1: none */
	bool free;                  /* nothing drives it: the first unknown is 1 */
	double *unknowns;           /* (unknownCount) */
	double values[lmbFeaturesMax], slopes[lmbFeaturesMax], curvatures[lmbFeaturesMax];
	double *row; /* (n x unknownCount) */
	lmbArena arena;
} lmbChain;

/* Least squares over the training samples. share: how far the chain is off, as a share of the torques of the
 * stopping samples, root mean square: of all that it leaves, or, when that is much, of what in it follows
 * from the state (lmbTrain_LackOfFit); HUGE_VAL where these equations cannot be a chain or there is no
 * solution. The arena must be freed, also after a failure. */
lmbStatus lmbChain_Open( lmbChain *chain, const lmbTraining *training, const lmbEquations *equations,
                         double *share, lmbError *error );

/* The features that M depends on, at q, into out (massCount). */
int lmbChain_MassFeatures( lmbChain *chain, const double *q, double *out );
/* M at them, lower triangle row by row. */
void lmbChain_Mass( const lmbChain *chain, const double *features, double *triangle );
/* False when M is not positive there. */
bool lmbChain_Acceleration( lmbChain *chain, const double *q, const double *v, const double *inputs,
                            double *a );

#endif
