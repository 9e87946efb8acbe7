#include "limb_kernels.h"

#include "four.h"

/* 16 outputs of two jets: eight sums that do not wait for one another, each row of weights read once. */
static void PairTile( int inputs, int outputs, const float *row, lmbFour first[4], const float *x0,
                      const float *x1, float *y0, float *y1 )
{
	lmbFour a0 = first[0], a1 = first[1], a2 = first[2], a3 = first[3];
	lmbFour b0 = lmbFour_Splat( 0.0f ), b1 = b0, b2 = b0, b3 = b0;
	for ( int i = 0; i < inputs; ++i, row += outputs )
	{
		lmbFour w0 = lmbFour_Load( row ), w1 = lmbFour_Load( row + 4 );
		lmbFour w2 = lmbFour_Load( row + 8 ), w3 = lmbFour_Load( row + 12 );
		a0 = lmbFour_AddScaled( a0, x0[i], w0 );
		a1 = lmbFour_AddScaled( a1, x0[i], w1 );
		a2 = lmbFour_AddScaled( a2, x0[i], w2 );
		a3 = lmbFour_AddScaled( a3, x0[i], w3 );
		b0 = lmbFour_AddScaled( b0, x1[i], w0 );
		b1 = lmbFour_AddScaled( b1, x1[i], w1 );
		b2 = lmbFour_AddScaled( b2, x1[i], w2 );
		b3 = lmbFour_AddScaled( b3, x1[i], w3 );
	}
	lmbFour_Store( y0, a0 );
	lmbFour_Store( y0 + 4, a1 );
	lmbFour_Store( y0 + 8, a2 );
	lmbFour_Store( y0 + 12, a3 );
	lmbFour_Store( y1, b0 );
	lmbFour_Store( y1 + 4, b1 );
	lmbFour_Store( y1 + 8, b2 );
	lmbFour_Store( y1 + 12, b3 );
}

static void Tile( int inputs, int outputs, const float *row, lmbFour first[4], const float *x, float *y )
{
	lmbFour a0 = first[0], a1 = first[1], a2 = first[2], a3 = first[3];
	for ( int i = 0; i < inputs; ++i, row += outputs )
	{
		a0 = lmbFour_AddScaled( a0, x[i], lmbFour_Load( row ) );
		a1 = lmbFour_AddScaled( a1, x[i], lmbFour_Load( row + 4 ) );
		a2 = lmbFour_AddScaled( a2, x[i], lmbFour_Load( row + 8 ) );
		a3 = lmbFour_AddScaled( a3, x[i], lmbFour_Load( row + 12 ) );
	}
	lmbFour_Store( y, a0 );
	lmbFour_Store( y + 4, a1 );
	lmbFour_Store( y + 8, a2 );
	lmbFour_Store( y + 12, a3 );
}

static void SmallTile( int inputs, int outputs, const float *row, lmbFour first, const float *x, float *y )
{
	for ( int i = 0; i < inputs; ++i, row += outputs )
		first = lmbFour_AddScaled( first, x[i], lmbFour_Load( row ) );
	lmbFour_Store( y, first );
}

static void Outputs( int inputs, int outputs, int tile, const float *weights, const float *bias, int jets,
                     const float *x, float *y, int stride )
{
	for ( ; tile + 16 <= outputs; tile += 16 )
	{
		lmbFour zero = lmbFour_Splat( 0.0f );
		lmbFour first[4] = { lmbFour_Load( bias + tile ), lmbFour_Load( bias + tile + 4 ),
		                     lmbFour_Load( bias + tile + 8 ), lmbFour_Load( bias + tile + 12 ) };
		int jet = 0;
		for ( ; jet + 2 <= jets; jet += 2 )
		{
			PairTile( inputs, outputs, weights + tile, first, x + jet * stride, x + ( jet + 1 ) * stride,
			          y + jet * stride + tile, y + ( jet + 1 ) * stride + tile );
			first[0] = first[1] = first[2] = first[3] = zero;
		}
		if ( jet < jets )
			Tile( inputs, outputs, weights + tile, first, x + jet * stride, y + jet * stride + tile );
	}
	for ( ; tile < outputs; tile += 4 )
		for ( int jet = 0; jet < jets; ++jet )
			SmallTile( inputs, outputs, weights + tile,
			           jet == 0 ? lmbFour_Load( bias + tile ) : lmbFour_Splat( 0.0f ), x + jet * stride,
			           y + jet * stride + tile );
}

void lmbKernel_Layer( int inputs, int outputs, const float *weights, const float *bias, int jets,
                      const float *x, float *y, int stride )
{
	Outputs( inputs, outputs, 0, weights, bias, jets, x, y, stride );
}

void lmbKernel_Hidden( int inputs, int outputs, int first, const float *weights, const float *bias, int jets,
                       const float *x, float *y, int stride )
{
	Outputs( inputs, outputs, first, weights, bias, jets, x, y, stride );
	lmbKernel_Tanh( outputs - first, jets, y + first, stride );
}

static float SumOfLanes( lmbFour a )
{
	float lanes[4];
	lmbFour_Store( lanes, a );
	return ( lanes[0] + lanes[1] ) + ( lanes[2] + lanes[3] );
}

void lmbKernel_Rows( int inputs, int outputs, const float *weights, const float *bias, int jets,
                     const float *x, float *y, int stride )
{
	for ( int jet = 0; jet < jets; ++jet, x += stride, y += stride )
		for ( int o = 0; o < outputs; ++o )
		{
			const float *row = weights + o * inputs;
			lmbFour sum = lmbFour_Splat( 0.0f );
			for ( int i = 0; i < inputs; i += 4 )
				sum = lmbFour_Add( sum, lmbFour_Multiply( lmbFour_Load( row + i ), lmbFour_Load( x + i ) ) );
			y[o] = jet == 0 ? SumOfLanes( sum ) + bias[o] : SumOfLanes( sum );
		}
}

/* tanh x = x P(x^2) / Q(x^2) up to 9, where it is 1 - 3e-8. P and Q of degree 4 fitted to the least relative
 * error (2e-8; Lawson's reweighted least squares on the linearised problem, in extended precision); rounding
 * makes the rest of the error. */
static lmbFour Tanh( lmbFour x )
{
	const float p1 = 0x1.120b1ep-3f, p2 = 0x1.ca2c8p-9f, p3 = 0x1.59c362p-16f, p4 = 0x1.cadcf6p-27f;
	const float q1 = 0x1.de5ad8p-2f, q2 = 0x1.a7f7fp-6f, q3 = 0x1.58861ep-12f, q4 = 0x1.a18048p-21f;
	lmbFour one = lmbFour_Splat( 1.0f );
	x = lmbFour_Higher( lmbFour_Lower( x, lmbFour_Splat( 9.0f ) ), lmbFour_Splat( -9.0f ) );
	lmbFour z = lmbFour_Multiply( x, x );
	lmbFour p = lmbFour_AddScaled( lmbFour_Splat( p3 ), p4, z );
	lmbFour q = lmbFour_AddScaled( lmbFour_Splat( q3 ), q4, z );
	p = lmbFour_Add( lmbFour_Splat( p2 ), lmbFour_Multiply( p, z ) );
	q = lmbFour_Add( lmbFour_Splat( q2 ), lmbFour_Multiply( q, z ) );
	p = lmbFour_Add( lmbFour_Splat( p1 ), lmbFour_Multiply( p, z ) );
	q = lmbFour_Add( lmbFour_Splat( q1 ), lmbFour_Multiply( q, z ) );
	p = lmbFour_Add( one, lmbFour_Multiply( p, z ) );
	q = lmbFour_Add( one, lmbFour_Multiply( q, z ) );
	return lmbFour_Divide( lmbFour_Multiply( x, p ), q );
}

void lmbKernel_Tanh( int count, int jets, float *x, int stride )
{
	for ( int i = 0; i < count; i += 4 )
	{
		lmbFour h = Tanh( lmbFour_Load( x + i ) );
		lmbFour slope = lmbFour_Subtract( lmbFour_Splat( 1.0f ), lmbFour_Multiply( h, h ) );
		lmbFour_Store( x + i, h );
		for ( int jet = 1; jet < jets; ++jet )
		{
			float *at = x + jet * stride + i;
			lmbFour_Store( at, lmbFour_Multiply( lmbFour_Load( at ), slope ) );
		}
	}
}

float lmbKernel_Nearest( int dimensions, int count, const float *centres, const float *z )
{
	lmbFour least = lmbFour_Splat( 0.0f );
	for ( int c = 0; c < count; c += 4 )
	{
		lmbFour sum = lmbFour_Splat( 0.0f );
		for ( int d = 0; d < dimensions; ++d )
		{
			lmbFour off = lmbFour_Subtract( lmbFour_Splat( z[d] ), lmbFour_Load( centres + d * count + c ) );
			sum = lmbFour_Add( sum, lmbFour_Multiply( off, off ) );
		}
		least = c == 0 ? sum : lmbFour_Lower( sum, least );
	}
	float lanes[4];
	lmbFour_Store( lanes, least );
	for ( int l = 1; l < 4; ++l )
		lanes[0] = lanes[l] < lanes[0] ? lanes[l] : lanes[0];
	return lanes[0];
}
