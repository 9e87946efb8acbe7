/* A dense multilayer perceptron over OpenBLAS: batches forward, gradients backward, in double.
 *
 * The parameters are one flat vector that the caller owns, so that any optimiser, checkpoint or larger
 * model (a Lagrangian network, a recurrent cell's read-out) can hold them among its own. Layer l maps
 * sizes[l] numbers to sizes[l + 1]; its block is the weights (out x in, row-major), then the bias (out).
 * tanh after every layer but the last.
 *
 * BLAS itself runs on one thread (base/blas.h): work is spread over models and samples, so that results
 * do not depend on the number of threads. */
#ifndef LMB_LEARN_MLP_H
#define LMB_LEARN_MLP_H

#include "base/arena.h"
#include "base/error.h"
#include "base/random.h"

enum
{
	lmbMlpMaxLayers = 8,
	lmbMlpMaxWidth = 65536
};

/* The shape of a perceptron; constant after lmbMlp_Make, shared freely. */
typedef struct lmbMlp
{
	int layerCount; /* dense layers: hidden layers + 1 */
	int sizes[lmbMlpMaxLayers + 1];
	size_t weights[lmbMlpMaxLayers]; /* offset of each layer's weights in the parameter vector */
	size_t biases[lmbMlpMaxLayers];
	size_t parameterCount;
} lmbMlp;

/* sizes has layerCount + 1 numbers in [1, lmbMlpMaxWidth]; layerCount in [1, lmbMlpMaxLayers]. */
lmbStatus lmbMlp_Make( lmbMlp *mlp, const int *sizes, int layerCount, lmbError *error );

/* Weights uniform in +-sqrt(6 / (in + out)) (Glorot and Bengio 2010), biases 0; the last layer's weights
 * times outputScale (0: the network starts as the constant 0). parameters (parameterCount). */
void lmbMlp_Init( const lmbMlp *mlp, double outputScale, lmbRandom *random, double *parameters );

/* Room for one batch on one thread. Both passes work in it. */
typedef struct lmbMlpPass
{
	const lmbMlp *mlp;
	int capacity, count;                      /* samples: room for, and in the last forward pass */
	int tangentCount;                         /* directions of the last ForwardTangents */
	double *activations[lmbMlpMaxLayers + 1]; /* [l] (capacity x sizes[l]); [0] is not used */
	double *deltas[2];                        /* (capacity x widest layer) */
} lmbMlpPass;

/* mlp must outlive the pass; memory comes from the arena. capacity >= 1. */
lmbStatus lmbMlpPass_Make( lmbMlpPass *pass, const lmbMlp *mlp, int capacity, lmbArena *arena,
                           lmbError *error );

/* Outputs of a batch, (count x outputs), valid until the next forward pass. inputs (count x inputs),
 * 1 <= count <= capacity. */
const double *lmbMlp_Forward( lmbMlpPass *pass, const double *parameters, const double *inputs, int count );

/* After Forward with the same parameters and inputs: ADDS the gradient of a loss by the parameters to
 * gradient (parameterCount), given its gradient by the outputs (count x outputs); and sets inputGradient
 * (count x inputs; Nullable). */
void lmbMlp_Backward( lmbMlpPass *pass, const double *parameters, const double *inputs,
                      const double *outputGradient, double *gradient, double *inputGradient );

/* Forward with derivatives of the outputs in tangentCount >= 0 directions of the input space, each sample its
 * own. inputs ((1 + tangentCount) count x inputs): the values of all samples, then all samples' first
 * direction, and so on; outputs alike, valid until the next forward pass. The pass needs room for
 * (1 + tangentCount) count samples. */
const double *lmbMlp_ForwardTangents( lmbMlpPass *pass, const double *parameters, const double *inputs,
                                      int count, int tangentCount );

/* The same as Backward after ForwardTangents: the loss may depend on values and derivatives. outputGradient
 * and inputGradient (Nullable) are stacked as outputs and inputs are. Exact: it contains the network's second
 * derivatives. */
void lmbMlp_BackwardTangents( lmbMlpPass *pass, const double *parameters, const double *inputs,
                              const double *outputGradient, double *gradient, double *inputGradient );

/* decay / 2 times the sum of squared weights (biases are free); ADDS its gradient (Nullable). */
double lmbMlp_Decay( const lmbMlp *mlp, double decay, const double *parameters, double *gradient );

/* Weighted mean square, sum_i w_i sum_k v_k (y_ik - t_ik)^2 / sum_i w_i, and its gradient by y.
 * outputs, targets (count x width); sampleWeights (count; Nullable: all 1), not all 0;
 * outputWeights (width; Nullable: all 1); gradient (count x width; Nullable). */
typedef struct lmbSquaresLoss
{
	int count, width;
	const double *outputs, *targets, *sampleWeights, *outputWeights;
} lmbSquaresLoss;

double lmbSquaresLoss_Evaluate( const lmbSquaresLoss *loss, double *gradient );

/* values[i] = tanh( values[i] ), to 3e-16 absolute (not relative: near 0 that is all a network needs).
 * NaN and infinities give NaN. The same bits on every machine, several times faster than the C library. */
void lmbTanh_Array( double *values, size_t count );

#endif
