/* The kernels and functions of limbs against long double, and the wide kernels against the others bit by
 * bit. */
#include "check.h"

#include "base/random.h"
#include "runtime/kernels/limb_kernels.h"
#include "runtime/kernels/limb_wide.h"
#include "runtime/limb_core.h"

static void TanhWithinItsBound( void **state )
{
	(void)state;
	double worst = 0.0, worstRelative = 0.0;
	for ( int i = -400000; i <= 400000; ++i )
	{
		float x[4] = { (float)i * 2.6e-5f, (float)i * 1e-7f, (float)i * 1e3f, (float)i * 7e-5f }, y[4];
		memcpy( y, x, sizeof( y ) );
		lmbKernel_Tanh( 4, 1, y, 4 );
		for ( int l = 0; l < 4; ++l )
		{
			double truth = tanh( (double)x[l] ), error = fabs( y[l] - truth );
			worst = error > worst ? error : worst;
			if ( x[l] != 0.0f )
				worstRelative = error / fabs( truth ) > worstRelative ? error / fabs( truth ) : worstRelative;
		}
	}
	printf( "tanh: %.2e absolute, %.2e relative\n", worst, worstRelative );
	CHECK( worst <= 4e-7 && worstRelative <= 4e-7 ); /* what limb_kernels.h promises */
	float odd[4] = { NAN, INFINITY, -INFINITY, 0.0f };
	lmbKernel_Tanh( 4, 1, odd, 4 );
	CHECK( fabsf( odd[0] ) <= 1.0001f );
	CHECK_NEAR( odd[1], 1.0, 4e-7 );
	CHECK_NEAR( odd[2], -1.0, 4e-7 );
	CHECK_NEAR( odd[3], 0.0, 0.0 );
}

static void SoftplusAndItsSlope( void **state )
{
	(void)state;
	double worst = 0.0, worstSlope = 0.0;
	for ( int i = -200000; i <= 200000; ++i )
	{
		double x = i * 3.5e-3, slope, y = lmbSoftplus( x, &slope );
		long double truth = ( x > 0.0 ? x : 0.0L ) + log1pl( expl( -fabsl( x ) ) );
		long double trueSlope = x > 0.0 ? 1.0L / ( 1.0L + expl( -x ) ) : expl( x ) / ( 1.0L + expl( x ) );
		double error = (double)( fabsl( y - truth ) / truth ),
		       slopeError = (double)( fabsl( slope - trueSlope ) / trueSlope );
		worst = error > worst ? error : worst;
		worstSlope = slopeError > worstSlope ? slopeError : worstSlope;
	}
	printf( "softplus: %.2e relative, slope %.2e\n", worst, worstSlope );
	CHECK( worst <= 9e-16 && worstSlope <= 9e-16 ); /* 4 units in the last place */
	double slope;
	CHECK_NEAR( lmbSoftplus( -1e9, &slope ), 0.0, 1e-300 );
	CHECK_NEAR( lmbSoftplus( 1e9, &slope ), 1e9, 0.0 );
	CHECK_NEAR( slope, 1.0, 0.0 );
}

static void PhasesWithinTheirBound( void **state )
{
	(void)state;
	checkSeed = 3;
	lmbRandom random = lmbRandom_Seed( checkSeed, 1 );
	double worst = 0.0;
	for ( int i = 0; i < 1000000; ++i )
	{
		const double ranges[4] = { 4.0, 100.0, 1e5, 1e6 };
		double range = ranges[i % 4], x = range * ( 2.0 * lmbRandom_Uniform( &random ) - 1.0 ), s, c;
		if ( i % 5 == 0 ) /* near multiples of a quarter turn */
			x = floor( x ) * 1.5707963267948966;
		lmbPhase_SinCos( x, &s, &c );
		double error = fmax( fabs( (double)( s - sinl( x ) ) ), fabs( (double)( c - cosl( x ) ) ) );
		worst = error > worst ? error : worst;
	}
	printf( "sine and cosine: %.2e\n", worst );
	CHECK( worst <= 3e-16 );
}

typedef struct Layer
{
	int inputs, outputs, jets, stride;
	float weights[260 * 260], bias[260], x[17 * 260], y[17 * 260], other[17 * 260];
} Layer;

static void Draw( lmbRandom *random, Layer *layer )
{
	layer->inputs = 1 + (int)lmbRandom_Below( random, 64 );
	layer->outputs = 4 * ( 1 + (int)lmbRandom_Below( random, 20 ) );
	layer->jets = 1 + (int)lmbRandom_Below( random, 4 );
	layer->stride = 80;
	for ( int i = 0; i < layer->inputs * layer->outputs; ++i )
		layer->weights[i] = (float)lmbRandom_Normal( random );
	for ( int i = 0; i < layer->outputs; ++i )
		layer->bias[i] = (float)lmbRandom_Normal( random );
	for ( int i = 0; i < layer->jets * layer->stride; ++i )
		layer->x[i] = 0.2f * (float)lmbRandom_Normal( random );
}

static void HiddenLayersAndTheirDerivatives( void **state )
{
	(void)state;
	static Layer l;
	checkSeed = 5;
	lmbRandom random = lmbRandom_Seed( checkSeed, 1 );
	for ( int round = 0; round < 300; ++round )
	{
		Draw( &random, &l );
		lmbKernel_Hidden( l.inputs, l.outputs, 0, l.weights, l.bias, l.jets, l.x, l.y, l.stride );
		for ( int o = 0; o < l.outputs; ++o )
			for ( int jet = 0; jet < l.jets; ++jet )
			{
				double sums[2] = { l.bias[o], 0.0 };
				for ( int i = 0; i < l.inputs; ++i )
				{
					sums[0] += (double)l.weights[i * l.outputs + o] * l.x[i];
					sums[1] += (double)l.weights[i * l.outputs + o] * l.x[jet * l.stride + i];
				}
				double value = tanh( sums[0] );
				/* 64 products of about 0.2, each rounded at 6e-8 of the sum; tanh 4e-7. */
				CHECK_NEAR( l.y[jet * l.stride + o], jet == 0 ? value : sums[1] * ( 1.0 - value * value ),
				            1e-5 );
			}
		if ( !lmbWide_Works() )
			continue;
		lmbWide_Hidden( l.inputs, l.outputs, l.weights, l.bias, l.jets, l.x, l.other, l.stride );
		for ( int jet = 0; jet < l.jets; ++jet )
			CHECK( memcmp( l.y + jet * l.stride, l.other + jet * l.stride,
			               (size_t)l.outputs * sizeof( float ) ) == 0 );
	}
	if ( !lmbWide_Works() )
		printf( "this processor has no eight lanes: the wide kernels were not compared\n" );
}

static void RowsAndNearest( void **state )
{
	(void)state;
	static Layer l;
	checkSeed = 6;
	lmbRandom random = lmbRandom_Seed( checkSeed, 1 );
	for ( int round = 0; round < 200; ++round )
	{
		Draw( &random, &l );
		int inputs = lmbCore_Pad( l.inputs ) - 4 * ( round % 2 ), outputs = l.outputs / 4;
		lmbKernel_Rows( inputs, outputs, l.weights, l.bias, l.jets, l.x, l.y, l.stride );
		for ( int o = 0; o < outputs; ++o )
			for ( int jet = 0; jet < l.jets; ++jet )
			{
				double sum = jet == 0 ? l.bias[o] : 0.0;
				for ( int i = 0; i < inputs; ++i )
					sum += (double)l.weights[o * inputs + i] * l.x[jet * l.stride + i];
				CHECK_NEAR( l.y[jet * l.stride + o], sum, 1e-5 );
			}
		double least = INFINITY;
		for ( int c = 0; c < l.outputs; ++c )
		{
			double sum = 0.0;
			for ( int d = 0; d < l.inputs; ++d )
				sum += pow( (double)l.x[d] - l.weights[d * l.outputs + c], 2.0 );
			least = sum < least ? sum : least;
		}
		CHECK_NEAR( lmbKernel_Nearest( l.inputs, l.outputs, l.weights, l.x ), least, 1e-5 * least );
	}
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( TanhWithinItsBound ),     CHECK_TEST( SoftplusAndItsSlope ),
	    CHECK_TEST( PhasesWithinTheirBound ), CHECK_TEST( HiddenLayersAndTheirDerivatives ),
	    CHECK_TEST( RowsAndNearest ),
	};
	return CHECK_RUN( tests );
}
