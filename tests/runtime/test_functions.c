#include "runtime/functions.h"

#include "base/random.h"
#include "check.h"

/* The truth: Taylor series in __float128 (113 bits), arithmetic from the compiler's own library. */
typedef __float128 Quad;

static Quad QuadExp( Quad x )
{
	int halvings = 0;
	while ( x > 0.25 || x < -0.25 )
	{
		x *= 0.5;
		halvings += 1;
	}
	Quad sum = 1.0, term = 1.0;
	for ( int n = 1; n < 40; ++n )
	{
		term *= x / n;
		sum += term;
	}
	for ( ; halvings > 0; --halvings )
		sum *= sum;
	return sum;
}

static void QuadSeries( Quad x, Quad *sine, Quad *cosine )
{
	Quad s = 0.0, c = 0.0, term = 1.0;
	for ( int n = 0; n < 40; ++n )
	{
		Quad sign = ( n & 2 ) != 0 ? -1.0 : 1.0;
		if ( ( n & 1 ) == 0 )
			c += sign * term;
		else
			s += sign * term;
		term *= x / ( n + 1 );
	}
	*sine = s;
	*cosine = c;
}

/* pi/2 in four parts of 53 bits, so that quarter turns come off exactly enough even where x lies within
 * 1e-19 of one. */
static void QuadSinCos( Quad x, Quad *sine, Quad *cosine )
{
	const double parts[4] = { 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110,
	                          0x1.4cf98e804177dp-164 };
	double n = floor( (double)( x / (Quad)parts[0] ) + 0.5 );
	for ( int i = 0; i < 4; ++i )
		x -= (Quad)n * (Quad)parts[i];
	Quad s, c;
	QuadSeries( x, &s, &c );
	Quad sines[4] = { s, c, -s, -c };
	int quadrant = (int)( n - 4.0 * floor( 0.25 * n ) );
	*sine = sines[quadrant];
	*cosine = sines[( quadrant + 1 ) & 3];
}

/* Error in units in the last place of the double nearest to the truth. */
static double Ulps( double actual, Quad expected )
{
	int exponent;
	frexp( (double)expected, &exponent );
	double unit = ldexp( 1.0, exponent - 53 < -1074 ? -1074 : exponent - 53 );
	return fabs( (double)( ( (Quad)actual - expected ) / unit ) );
}

static void ExpWithinOneUlp( void **state )
{
	(void)state;
	checkSeed = 1;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	double worst = 0.0;
	for ( int i = 0; i < 40000; ++i )
	{
		double range = i % 3 == 0 ? 1.0 : i % 3 == 1 ? 30.0 : 1400.0;
		double x = range * ( lmbRandom_Uniform( &random ) - 0.5 );
		worst = fmax( worst, Ulps( lmbExp( x ), QuadExp( x ) ) );
	}
	printf( "exp: %.3f ulp\n", worst );
	CHECK_NEAR( worst, 0.0, 1.0 );
}

static void ExpAtTheEdges( void **state )
{
	(void)state;
	CHECK( lmbExp( 0.0 ) == 1.0 );
	CHECK( lmbExp( -746.0 ) == 0.0 );
	CHECK( lmbExp( -1e300 ) == 0.0 );
	CHECK( isinf( lmbExp( 710.0 ) ) );
	CHECK( isnan( lmbExp( NAN ) ) );
	/* Below the smallest normal number the last place is coarse: half a unit of it is 2.5e-324. */
	CHECK_NEAR( lmbExp( -740.0 ), (double)QuadExp( -740.0 ), 5e-324 );
	CHECK_NEAR( lmbExp( 709.5 ) / (double)QuadExp( 709.5 ), 1.0, 3e-16 );
}

static void SinCosWithinOneUlp( void **state )
{
	(void)state;
	checkSeed = 2;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	double worst = 0.0;
	for ( int i = 0; i < 40000; ++i )
	{
		/* Up to 1e10: a multiple of pi/2's first part still fits in a Quad. */
		double size = pow( 10.0, 10.0 * lmbRandom_Uniform( &random ) );
		double x = size * ( 2.0 * lmbRandom_Uniform( &random ) - 1.0 );
		Quad sine, cosine;
		QuadSinCos( x, &sine, &cosine );
		worst = fmax( worst, Ulps( lmbSin( x ), sine ) );
		worst = fmax( worst, Ulps( lmbCos( x ), cosine ) );
	}
	printf( "sin, cos: %.3f ulp\n", worst );
	CHECK_NEAR( worst, 0.0, 1.0 );
}

static void SinNearMultiplesOfPi( void **state )
{
	(void)state;
	double worst = 0.0;
	for ( int n = 1; n < 20000; n += 7 )
	{
		double x = n * 1.5707963267948966;
		Quad sine, cosine;
		QuadSinCos( x, &sine, &cosine );
		worst = fmax( worst, Ulps( lmbSin( x ), sine ) );
		worst = fmax( worst, Ulps( lmbCos( x ), cosine ) );
	}
	CHECK_NEAR( worst, 0.0, 1.0 );
}

/* A phase of 1e7 and more with its low part: what a stiff spring over a long pause asks for. */
static void TwofoldPhases( void **state )
{
	(void)state;
	checkSeed = 3;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	double worst = 0.0;
	for ( int i = 0; i < 20000; ++i )
	{
		lmbTwofold x = lmbTwofold_Sum( 1e9 * lmbRandom_Uniform( &random ),
		                               1e-8 * ( lmbRandom_Uniform( &random ) - 0.5 ) );
		Quad sine, cosine;
		double s, c;
		QuadSinCos( (Quad)x.high + (Quad)x.low, &sine, &cosine );
		lmbSinCos( x, &s, &c );
		worst = fmax( worst, fabs( (double)( (Quad)s - sine ) ) );
		worst = fmax( worst, fabs( (double)( (Quad)c - cosine ) ) );
	}
	CHECK_NEAR( worst, 0.0, 1.2e-16 );
	double s, c;
	lmbSinCos( ( lmbTwofold ){ 1e15, 0.0 }, &s, &c );
	CHECK( s == 0.0 && c == 1.0 );
	lmbSinCos( ( lmbTwofold ){ NAN, 0.0 }, &s, &c );
	CHECK( s == 0.0 && c == 1.0 );
}

static void TwofoldArithmetic( void **state )
{
	(void)state;
	checkSeed = 4;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	for ( int i = 0; i < 2000; ++i )
	{
		double a = lmbRandom_Normal( &random ) * pow( 10.0, 20.0 * lmbRandom_Uniform( &random ) - 10.0 );
		double b = lmbRandom_Normal( &random );
		lmbTwofold sum = lmbTwofold_Sum( a, b ), product = lmbTwofold_Product( a, b );
		CHECK( (Quad)sum.high + (Quad)sum.low == (Quad)a + (Quad)b );
		CHECK( (Quad)product.high + (Quad)product.low == (Quad)a * (Quad)b );
		lmbTwofold root = lmbTwofold_Sqrt( ( lmbTwofold ){ fabs( a ), 1e-17 * fabs( a ) } );
		Quad value = (Quad)root.high + (Quad)root.low, square = (Quad)fabs( a ) + (Quad)( 1e-17 * fabs( a ) );
		CHECK_NEAR( (double)( ( value * value - square ) / square ), 0.0, 0x1p-99 );
		lmbTwofold scaled = lmbTwofold_Scale( root, b );
		CHECK_NEAR( (double)( ( (Quad)scaled.high + (Quad)scaled.low - value * b ) / ( value * b ) ), 0.0,
		            0x1p-99 );
	}
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( ExpWithinOneUlp ),      CHECK_TEST( ExpAtTheEdges ),     CHECK_TEST( SinCosWithinOneUlp ),
	    CHECK_TEST( SinNearMultiplesOfPi ), CHECK_TEST( TwofoldArithmetic ), CHECK_TEST( TwofoldPhases ),
	};
	return CHECK_RUN( tests );
}
