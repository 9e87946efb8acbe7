/* The kernels of limb_kernels.h with eight lanes (AVX2), for processors that have them; the same sums in the
 * same order, so the same bits. */
#ifndef LMB_RUNTIME_LIMB_WIDE_H
#define LMB_RUNTIME_LIMB_WIDE_H

#include <stdbool.h>

#if defined( __x86_64__ ) && defined( __GNUC__ ) && !defined( LMB_PLAIN_KERNELS )
#define LMB_WIDE_KERNELS 1
#else
#define LMB_WIDE_KERNELS 0
#endif

/* Whether this processor and its system take eight lanes. Slow (a virtual machine traps it): ask once. */
bool lmbWide_Works( void );

/* A hidden layer of lmbKernel_Layer and lmbKernel_Tanh at once. Only where it works. */
void lmbWide_Hidden( int inputs, int outputs, const float *weights, const float *bias, int jets,
                     const float *x, float *y, int stride );

#endif
