/* The loops of a limb's networks. Numbers travel as jets: a layer's values, and behind them, stride floats
 * further each, their derivatives in one or more directions. Widths and strides are multiples of 4, padding
 * is zero. Sums run over the inputs in ascending order, so that every width of vector gives the same bits. */
#ifndef LMB_RUNTIME_LIMB_KERNELS_H
#define LMB_RUNTIME_LIMB_KERNELS_H

/* y = W^T x, and the bias on the values: weights (inputs x outputs), outputs a multiple of 4. x and y
 * (jets x stride), no overlap. */
void lmbKernel_Layer( int inputs, int outputs, const float *weights, const float *bias, int jets,
                      const float *x, float *y, int stride );

/* A hidden layer, lmbKernel_Layer and then lmbKernel_Tanh, of the outputs from first on, a multiple of 4. */
void lmbKernel_Hidden( int inputs, int outputs, int first, const float *weights, const float *bias, int jets,
                       const float *x, float *y, int stride );

/* For the last layer, which is narrow: y = W x, weights (outputs x inputs), inputs a multiple of 4. Each sum
 * is that of four lanes' sums, (0 + 1) + (2 + 3), then the bias. */
void lmbKernel_Rows( int inputs, int outputs, const float *weights, const float *bias, int jets,
                     const float *x, float *y, int stride );

/* Values become their tanh, derivatives are multiplied by 1 - tanh^2; in place. tanh is within 4e-7 of the
 * truth, also relative to it (measured by tests/runtime/test_limb_kernels.c); at +-9 and beyond it is that
 * of +-9; a NaN becomes a number. */
void lmbKernel_Tanh( int count, int jets, float *x, int stride );

/* The least of sum_d (z_d - centre_d)^2 over the centres; centres (dimensions x count), count a multiple of
 * 4, at least 4. */
float lmbKernel_Nearest( int dimensions, int count, const float *centres, const float *z );

#endif
