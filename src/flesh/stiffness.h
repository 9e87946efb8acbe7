/* How stiff the vibration modes are in other poses than rest.
 *
 * A bent trunk squeezes one side and frees the other, and the modes' frequencies move by a tenth and more. In
 * a pose with still shape x, rotations R and Hessian K(x), the force M R phi_m moves the tissue by K^-1 M R
 * phi_m, and the mode's own share of that gives its stiffness there: 1 / k_m = phi_m^T R^T M K(x)^-1 M R
 * phi_m At rest k_m = w_m^2. The rest of the tissue follows by itself, as it does when the mode swings
 * slowly. What is learned is log( k_m / w_m^2 ), linear in the features of the pose (network.h): from random
 * poses and frames of trained motions, from shapes at rest alone. Derivation: docs/derivations/modes.md. */
#ifndef LMB_FLESH_STIFFNESS_H
#define LMB_FLESH_STIFFNESS_H

#include "flesh/dataset.h"
#include "flesh/modes.h"
#include "flesh/tissue.h"
#include "formats/character.h"

/* Limits of log( k_m / w_m^2 ): a factor of e either way. */
#define lmbStiffness_LogLimit 1.0

typedef struct lmbStiffness
{
	int modeCount, featureCount;
	double *weights;  /* (modeCount x (featureCount + 1)) log ratio = W features + b, b last in a row */
	double *range;    /* (modeCount x 2) lowest and highest log ratio met: predictions are clamped to it */
	int sampleCount;  /* still shapes that taught it */
	double explained; /* share of the log ratios' variance on poses that did not teach, mode by mode */
} lmbStiffness;

/* log( k_m / w_m^2 ) in one pose, (modeCount); bones (boneCount x 12), nodes (nodeCount x 3). False when the
 * Hessian there is not positive definite. Opens a solver of its own: for tests. */
lmbStatus lmbStiffness_Sample( const lmbTissue *tissue, const lmbModes *modes, const double *bones,
                               const double *nodes, double *logs, bool *definite, lmbError *error );

/* Learns it, from the first useSeconds of each trained motion (0: all) and the random poses. Arrays lie in
 * the arena. Same result for any number of threads. Too few usable shapes (below 20) leave stiffness->weights
 * NULL. */
lmbStatus lmbStiffness_Learn( const lmbCharacter *character, const lmbTissue *tissue, const lmbModes *modes,
                              const lmbDataset *dataset, double useSeconds, const lmbJob *job,
                              lmbArena *arena, lmbStiffness *stiffness, lmbError *error );

/* Log ratios of one pose, clamped, (modeCount). features (featureCount). */
void lmbStiffness_Evaluate( int modeCount, int featureCount, const double *weights, const double *range,
                            const double *features, double *logs );

#endif
