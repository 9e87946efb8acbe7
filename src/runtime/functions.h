/* Elementary functions of the runtime. The C library's differ from machine to machine; these use only
 * +, -, *, / and sqrt, which IEEE 754 defines to the last bit, so that results are the same wherever
 * double is binary64 and contraction is off. Errors measured by tests/runtime/test_functions.c. */
#ifndef LMB_RUNTIME_FUNCTIONS_H
#define LMB_RUNTIME_FUNCTIONS_H

/* A number as an unevaluated sum, |low| at most half a unit in the last place of high: about 106 bits. */
typedef struct lmbTwofold
{
	double high, low;
} lmbTwofold;

/* Sum and product without rounding error (Knuth; Dekker 1971 with Veltkamp's split). No hardware fma, so
 * that machines without one agree. Operands below 1e290; the product's error term is exact while
 * it does not underflow. */
lmbTwofold lmbTwofold_Sum( double a, double b );
lmbTwofold lmbTwofold_Product( double a, double b );
lmbTwofold lmbTwofold_Scale( lmbTwofold a, double b ); /* a b to about 2^-100 */
lmbTwofold lmbTwofold_Sqrt( lmbTwofold a );            /* a >= 0, to about 2^-100 */

/* e^x within 1 unit in the last place; 0 below -745.2, infinity above 709.79, NaN for NaN. */
double lmbExp( double x );

/* Sine and cosine of x within 1 unit in the last place, for |x.high| <= 1e14; beyond that, or for NaN,
 * sine 0 and cosine 1. */
void lmbSinCos( lmbTwofold x, double *sine, double *cosine );
double lmbSin( double x );
double lmbCos( double x );

#endif
