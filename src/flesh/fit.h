/* Finds the springs' stiffness and damping from simulated motion; the stage `fit`.
 *
 * Three layers (vertex, modal, hybrid) and the modal one with nothing fitted. Everything here works on
 * frames of sequences in double and is the reference ("full form") that the runtime's reduced forcing is
 * measured against. */
#ifndef LMB_FLESH_FIT_H
#define LMB_FLESH_FIT_H

#include "flesh/dataset.h"
#include "flesh/modes.h"
#include "flesh/network.h"
#include "flesh/tissue.h"

#include <limber/flesh.h>

typedef struct lmbSprings
{
	lmbArena arena;
	int vertexCount, modeCount, boneCount, coefficientCount, pairCount;
	/* Stiffness in 1/s^2, damping in 1/s. NULL where nothing was fitted. A vertex that does not move by
	 * itself (rigid skin, skin on a bone) has a spring so stiff that it stands still. */
	/* vertex layer (vertexCount) */
	double *vertexStiffness, *vertexDamping;
	/* modal layer (modeCount): fitted, and as the tissue says (w^2, alpha + beta w^2) */
	double *modeStiffness, *modeDamping;
	double *modeStiffnessUnfitted, *modeDampingUnfitted; /* NULL without modes */
	/* per-vertex remainder of the hybrid (vertexCount) */
	double *remainderStiffness, *remainderDamping;
	/* The skin's own: from here on NULL without modes. */
	double *skinShapes; /* (modeCount x vertexCount x 3) modes at the skin, bind axes, softness included */
	/* Reduced forcing. Mode m is forced by -g_m,
	 *   g_m = sum_p boneForcing[m][p] : (R_k^T A_j'') + sum_c coefficientForcing[m][c] z_c'',
	 * p = pair (j, k) of bones that share nodes, A_j the 3x4 world matrix of bone j, R_k the rotation of k.
	 */
	int32_t *pairs;             /* (pairCount x 2) */
	double *boneForcing;        /* (modeCount x pairCount x 12) */
	double *coefficientForcing; /* (modeCount x coefficientCount); Nullable without a network */
	/* How the modes' stiffness follows the pose (stiffness.h): all modal layers use it. NULL: it does not. */
	int featureCount;
	double *stiffnessWeights; /* (modeCount x (featureCount + 1)) */
	double *stiffnessRange;   /* (modeCount x 2) */
} lmbSprings;

typedef enum lmbOptimizer
{
	lmb_optimizerLevenbergMarquardt,
	lmb_optimizerAdam
} lmbOptimizer;

typedef struct lmbFitDef
{
	lmbTargetInterpolation interpolation;
	lmbOptimizer optimizer;
	double dropShare;   /* worst frames of each spring left out of the second fit, in [0, 0.5] */
	double useSeconds;  /* of each trained motion; 0: all of it */
	bool poseStiffness; /* let the modes' stiffness follow the pose */
	double dampingMass, dampingStiffness; /* the simulation's Rayleigh alpha and beta */
} lmbFitDef;

lmbFitDef lmbDefaultFitDef( void ); /* cubic, Levenberg-Marquardt, 0.1, 0, true, alpha 0, beta 0.004 */

/* modes and network are Nullable: without modes only the vertex layer is fitted; without sequences only
 * what the tissue says is filled in (modal unfitted, reduced forcing: the instant model). Uses trained
 * sequences alone. */
lmbStatus lmbSprings_Fit( const lmbCharacter *character, const lmbTissue *tissue, const lmbModes *modes,
                          const lmbNetwork *network, const lmbDataset *dataset, const lmbFitDef *def,
                          const lmbJob *job, lmbSprings **out, lmbError *error );
void lmbSprings_Free( lmbSprings *springs );
lmbStatus lmbSprings_Write( const lmbSprings *springs, const char *path,
                            lmbError *error ); /* "limber.springs" */
lmbStatus lmbSprings_Load( const char *path, lmbSprings **out, lmbError *error );

/* The layers of the report. */
typedef enum lmbSpringLayer
{
	lmb_springsVertex,
	lmb_springsModalUnfitted,
	lmb_springsModal,
	lmb_springsHybrid
} lmbSpringLayer;

/* Reference run, full form: springs driven by given still shapes of the nodes (exact quasistatic targets
 * when they are the simulation's own). Starts at rest. still (frameCount x nodeCount x 3); out
 * (frameCount x vertexCount x 3) the skin's dynamic displacement U in scene axes, to be added to the skin
 * of still. */
lmbStatus lmbSprings_Replay( const lmbCharacter *character, const lmbTissue *tissue, const lmbModes *modes,
                             const lmbSprings *springs, lmbSpringLayer layer,
                             lmbTargetInterpolation interpolation, const lmbSequence *sequence, float *out,
                             lmbError *error );

#endif
