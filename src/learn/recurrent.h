/* Recurrent layers, GRU (Cho et al. 2014) and LSTM (Hochreiter and Schmidhuber 1997), over OpenBLAS: batches
 * of sequences forward, gradients backward through time, in double. Gates and equations are PyTorch's, so
 * that weights can be exchanged:
 *
 *   GRU   r = s( Wr x + br + Ur h + cr ), z = s( .. ), n = tanh( Wn x + bn + r (Un h + cn) ),
 *         h' = (1 - z) n + z h
 *   LSTM  i, f, o = s( .. ), g = tanh( .. ), c' = f c + i g, h' = o tanh c'
 *
 * Parameters are one flat vector that the caller owns. Each layer's block: W (gates h x inputs), U (gates h x
 * h), b (gates h), c (gates h), gates in the order r, z, n or i, f, g, o. */
#ifndef LMB_LEARN_RECURRENT_H
#define LMB_LEARN_RECURRENT_H

#include "base/arena.h"
#include "base/error.h"
#include "base/random.h"

#include <stdbool.h>

enum
{
	lmbRecurrentMaxLayers = 8
};

typedef struct lmbRecurrent
{
	bool lstm;
	int layerCount, inputCount, hidden;
	int gates;                                  /* 3 or 4 */
	size_t inputWeights[lmbRecurrentMaxLayers]; /* offsets in the parameter vector */
	size_t hiddenWeights[lmbRecurrentMaxLayers];
	size_t inputBiases[lmbRecurrentMaxLayers];
	size_t hiddenBiases[lmbRecurrentMaxLayers];
	size_t parameterCount;
	int stateCount; /* numbers of one sequence's state: h of all layers, then (LSTM) c of all layers */
} lmbRecurrent;

/* layerCount in [1, lmbRecurrentMaxLayers], inputCount and hidden in [1, 4096]. */
lmbStatus lmbRecurrent_Make( lmbRecurrent *recurrent, bool lstm, int layerCount, int inputCount, int hidden,
                             lmbError *error );
/* Everything uniform in +-1 / sqrt( hidden ), as PyTorch does. */
void lmbRecurrent_Init( const lmbRecurrent *recurrent, lmbRandom *random, double *parameters );

/* Room for one batch of sequences on one thread: up to capacity of them, longer ones when they are fewer, as
 * long as steps times sequences stay within capacity times stepCapacity. */
typedef struct lmbRecurrentPass
{
	const lmbRecurrent *recurrent;
	int capacity, stepCapacity, count, steps; /* sequences, steps: room for, and in the last forward pass */
	double *gates[lmbRecurrentMaxLayers];     /* (steps x count x gates h), after their functions */
	double *hiddenNew[lmbRecurrentMaxLayers]; /* GRU: (steps x count x h) Un h + cn */
	double *h[lmbRecurrentMaxLayers], *c[lmbRecurrentMaxLayers]; /* ((steps + 1) x count x h) */
	double *byGates, *byHiddenGates;                             /* (steps x count x gates h) */
	double *byOutput;                                            /* (steps x count x h) */
	double *byH, *byC, *work; /* (count x h), (count x h), (count x gates h) */
} lmbRecurrentPass;

lmbStatus lmbRecurrentPass_Make( lmbRecurrentPass *pass, const lmbRecurrent *recurrent, int capacity,
                                 int stepCapacity, lmbArena *arena, lmbError *error );

/* h of the last layer after every step, (steps x count x hidden), valid until the next forward pass. inputs
 * (steps x count x inputs); start (count x stateCount). */
const double *lmbRecurrent_Forward( lmbRecurrentPass *pass, const double *parameters, const double *inputs,
                                    const double *start, int steps, int count );

/* After Forward with the same arguments: ADDS the gradient of a loss by the parameters given its gradient by
 * the outputs (steps x count x hidden); sets that by start (count x stateCount). */
void lmbRecurrent_Backward( lmbRecurrentPass *pass, const double *parameters, const double *inputs,
                            const double *outputGradient, double *gradient, double *startGradient );

#endif
