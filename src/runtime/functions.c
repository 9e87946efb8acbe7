#include "functions.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

lmbTwofold lmbTwofold_Sum( double a, double b )
{
	double sum = a + b;
	double part = sum - a;
	return ( lmbTwofold ){ sum, ( a - ( sum - part ) ) + ( b - part ) };
}

lmbTwofold lmbTwofold_Product( double a, double b )
{
	/* 2^27 + 1 splits 53 bits into two halves whose products are exact. */
	double x = 134217729.0 * a, y = 134217729.0 * b;
	double aHigh = x - ( x - a ), bHigh = y - ( y - b );
	double aLow = a - aHigh, bLow = b - bHigh;
	double product = a * b;
	double error = ( ( aHigh * bHigh - product ) + aHigh * bLow + aLow * bHigh ) + aLow * bLow;
	return ( lmbTwofold ){ product, error };
}

lmbTwofold lmbTwofold_Scale( lmbTwofold a, double b )
{
	lmbTwofold product = lmbTwofold_Product( a.high, b );
	return lmbTwofold_Sum( product.high, product.low + a.low * b );
}

lmbTwofold lmbTwofold_Sqrt( lmbTwofold a )
{
	double root = sqrt( a.high );
	if ( !( root > 0.0 ) )
		return ( lmbTwofold ){ 0.0, 0.0 };
	lmbTwofold square = lmbTwofold_Product( root, root );
	double rest = ( a.high - square.high ) - square.low + a.low;
	return lmbTwofold_Sum( root, rest / ( 2.0 * root ) );
}

static double PowerOfTwo( int exponent ) /* in [-1022, 1023] */
{
	uint64_t bits = (uint64_t)( exponent + 1023 ) << 52;
	double value;
	memcpy( &value, &bits, sizeof( value ) );
	return value;
}

double lmbExp( double x )
{
	/* ln 2 in two parts, the first short enough that n times it is exact. */
	const double ln2High = 0x1.62e42feep-1, ln2Low = 0x1.a39ef35793c76p-33;
	if ( x != x )
		return x;
	if ( x > 709.79 )
		return INFINITY;
	if ( x < -745.2 )
		return 0.0;
	double n = floor( x * 1.4426950408889634 + 0.5 );
	double high = x - n * ln2High, low = n * ln2Low;
	double r = high - low;
	double lost = ( high - r ) - low;
	/* Taylor: |r| <= 0.3466, the first term left out is below 5e-18. */
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
	double value = 1.0 + ( r + ( r * r * p + lost ) );
	/* In two factors, so that results below the smallest normal number round once. */
	int exponent = (int)n;
	int half = exponent / 2;
	return value * PowerOfTwo( half ) * PowerOfTwo( exponent - half );
}

/* x less n quarter turns, in [-pi/4, pi/4] with a low part; n returned modulo 4. pi/2 has 159 bits here,
 * so the remainder keeps full relative accuracy up to |x| = 1e14. */
static lmbTwofold QuarterTurns( lmbTwofold x, int *quadrant )
{
	const double part1 = 0x1.921fb54442d18p+0, part2 = 0x1.1a62633145c07p-54, part3 = -0x1.f1976b7ed8fbcp-110;
	double n = floor( x.high * 0.6366197723675814 + 0.5 );
	lmbTwofold first = lmbTwofold_Product( n, part1 ), second = lmbTwofold_Product( n, part2 );
	lmbTwofold rest = lmbTwofold_Sum( x.high, -first.high );
	double terms[3] = { -first.low, x.low, -second.high };
	double low = rest.low;
	for ( int i = 0; i < 3; ++i )
	{
		lmbTwofold sum = lmbTwofold_Sum( rest.high, terms[i] );
		rest.high = sum.high;
		low += sum.low;
	}
	low += -second.low - n * part3;
	*quadrant = (int)( n - 4.0 * floor( 0.25 * n ) );
	return lmbTwofold_Sum( rest.high, low );
}

/* Taylor about 0 for |r| <= pi/4; the first term left out is below 1e-19 of the result. */
static double SinePart( lmbTwofold r )
{
	double x = r.high, z = x * x;
	double p = 1.0 / 355687428096000.0;
	p = p * z - 1.0 / 1307674368000.0;
	p = p * z + 1.0 / 6227020800.0;
	p = p * z - 1.0 / 39916800.0;
	p = p * z + 1.0 / 362880.0;
	p = p * z - 1.0 / 5040.0;
	p = p * z + 1.0 / 120.0;
	p = p * z - 1.0 / 6.0;
	return x + ( x * z * p + r.low * ( 1.0 - 0.5 * z ) );
}

static double CosinePart( lmbTwofold r )
{
	double x = r.high, z = x * x;
	double p = -1.0 / 6402373705728000.0;
	p = p * z + 1.0 / 20922789888000.0;
	p = p * z - 1.0 / 87178291200.0;
	p = p * z + 1.0 / 479001600.0;
	p = p * z - 1.0 / 3628800.0;
	p = p * z + 1.0 / 40320.0;
	p = p * z - 1.0 / 720.0;
	p = p * z + 1.0 / 24.0;
	double half = 0.5 * z, rough = 1.0 - half;
	return rough + ( ( ( 1.0 - rough ) - half ) + ( z * z * p - x * r.low ) );
}

void lmbSinCos( lmbTwofold x, double *sine, double *cosine )
{
	*sine = 0.0;
	*cosine = 1.0;
	if ( !( fabs( x.high ) <= 1e14 ) )
		return;
	int quadrant;
	lmbTwofold r = QuarterTurns( x, &quadrant );
	double s = SinePart( r ), c = CosinePart( r );
	double sines[4] = { s, c, -s, -c };
	*sine = sines[quadrant];
	*cosine = sines[( quadrant + 1 ) & 3];
}

double lmbSin( double x )
{
	double sine, cosine;
	lmbSinCos( ( lmbTwofold ){ x, 0.0 }, &sine, &cosine );
	return sine;
}

double lmbCos( double x )
{
	double sine, cosine;
	lmbSinCos( ( lmbTwofold ){ x, 0.0 }, &sine, &cosine );
	return cosine;
}
