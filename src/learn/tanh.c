#include "learn/mlp.h"

#include <math.h>
#include <string.h>

/* tanh |x| = 1 - 2 / (e^(2|x|) + 1). The exponential: 2|x| = n log 2 + r with |r| <= log 2 / 2, e^r by its
 * Taylor polynomial of degree 13 (first term left out: r^14 / 14! < 5e-18), 2^n put into the exponent's
 * bits. Written without branches so that the compiler makes vectors of it. */
#if defined( __GNUC__ ) && !defined( __clang__ )
__attribute__( ( optimize( "no-trapping-math" ) ) ) /* or gcc keeps the comparison a branch */
#if defined( __x86_64__ ) && defined( __linux__ )
__attribute__( ( target_clones( "avx512f", "avx2", "default" ) ) ) /* the same operations, wider */
#endif
#endif
void lmbTanh_Array( double *values, size_t count )
{
	static const double log2High = 6.93147180369123816490e-01, log2Low = 1.90821492927058770002e-10;
	static const double roundShift = 6755399441055744.0; /* 1.5 * 2^52: adding it rounds to an integer */
	for ( size_t i = 0; i < count; ++i )
	{
		double x = values[i];
		double y = 2.0 * fabs( x );
		y = y < 44.0 ? y : 44.0; /* tanh 22 rounds to 1 */
		double shifted = y * 1.4426950408889634 + roundShift;
		double n = shifted - roundShift;
		double r = ( y - n * log2High ) - n * log2Low;
		double p = 1.0 / 6227020800.0;
		p = p * r + 1.0 / 479001600.0;
		p = p * r + 1.0 / 39916800.0;
		p = p * r + 1.0 / 3628800.0;
		p = p * r + 1.0 / 362880.0;
		p = p * r + 1.0 / 40320.0;
		p = p * r + 1.0 / 5040.0;
		p = p * r + 1.0 / 720.0;
		p = p * r + 1.0 / 120.0;
		p = p * r + 1.0 / 24.0;
		p = p * r + 1.0 / 6.0;
		p = p * r + 0.5;
		p = p * r + 1.0;
		p = p * r + 1.0;
		uint64_t bits;
		memcpy( &bits, &shifted, sizeof( bits ) );
		bits = ( bits + 1023 ) << 52;
		double scale;
		memcpy( &scale, &bits, sizeof( scale ) );
		values[i] = copysign( 1.0 - 2.0 / ( p * scale + 1.0 ), x ) + 0.0 * x; /* a NaN stays one */
	}
}
