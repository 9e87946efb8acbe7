/* OpenBLAS made fit for us. */
#ifndef LMB_BASE_BLAS_H
#define LMB_BASE_BLAS_H

/* One thread inside BLAS (work is spread over samples, and results must not depend on the number of
 * threads), and kernels that suit the processor. OpenBLAS falls back to SSE2 kernels on processors newer
 * than itself: Debian 12's 0.3.21 does so on a Xeon of 2023 and multiplies 8 times slower than it could.
 *
 * Runs by itself when a program that links the tools starts; call it before the first use of BLAS where
 * that is not given. Any number of calls does no harm. OPENBLAS_CORETYPE in the environment wins. */
void lmbBlas_Prepare( void );

#endif
