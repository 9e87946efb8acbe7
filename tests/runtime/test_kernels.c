/* The kernels with the machine's vectors against the same without, bit for bit, on random numbers. */
#include "check.h"

/* The plain ones, under other names. */
#define LMB_PLAIN_KERNELS
#define lmbKernel_Dense Plain_Dense
#define lmbKernel_Shapes Plain_Shapes
#define lmbKernel_Shapes3 Plain_Shapes3
#define lmbKernel_Blend Plain_Blend
#define lmbKernel_Points Plain_Points
#define lmbKernel_Normalize Plain_Normalize
#define lmbKernel_Rotate Plain_Rotate
#define lmbKernel_Turn Plain_Turn
#define lmbKernel_Normals Plain_Normals
#include "runtime/kernels/kernels.c"
#undef lmbKernel_Dense
#undef lmbKernel_Shapes
#undef lmbKernel_Shapes3
#undef lmbKernel_Blend

/* The library's. */
void lmbKernel_Dense( int inputs, int outputs, const float *weights, const float *bias, const float *x,
                      float *y );
void lmbKernel_Shapes( int count, const float *shapes, const float *amounts, float *out );
void lmbKernel_Shapes3( int count, const float *shapes, const float *const amounts[3], float *const out[3] );
void lmbKernel_Blend( const float *palette, const uint16_t *bones, const float *weights, int influenceCount,
                      int used, lmbBlend *blend );

#include "base/random.h"

static void Fill( lmbRandom *random, float *numbers, size_t count )
{
	for ( size_t i = 0; i < count; ++i )
		numbers[i] = (float)( lmbRandom_Normal( random ) * ( i % 7 == 0 ? 1e-20 : 1.0 ) );
}

static void SameBits( void **state )
{
	(void)state;
	enum
	{
		inputs = 37,
		outputs = 3 * lmbTile
	};
	checkSeed = 4;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	for ( int round = 0; round < 50; ++round )
	{
		float weights[inputs * outputs], bias[outputs], x[3][inputs], a[3][outputs], b[3][outputs];
		Fill( &random, weights, inputs * outputs );
		Fill( &random, bias, outputs );
		Fill( &random, x[0], 3 * inputs );
		lmbKernel_Dense( inputs, outputs, weights, round % 2 == 0 ? bias : NULL, x[0], a[0] );
		Plain_Dense( inputs, outputs, weights, round % 2 == 0 ? bias : NULL, x[0], b[0] );
		CHECK( memcmp( a[0], b[0], sizeof( a[0] ) ) == 0 );
		lmbKernel_Shapes( inputs, weights, x[0], a[0] );
		Plain_Shapes( inputs, weights, x[0], b[0] );
		CHECK( memcmp( a[0], b[0], lmbTile * sizeof( float ) ) == 0 );
		const float *amounts[3] = { x[0], x[1], x[2] };
		lmbKernel_Shapes3( inputs, weights, amounts, ( float *[3] ){ a[0], a[1], a[2] } );
		Plain_Shapes3( inputs, weights, amounts, ( float *[3] ){ b[0], b[1], b[2] } );
		for ( int i = 0; i < 3; ++i )
		{
			float one[lmbTile];
			Plain_Shapes( inputs, weights, x[i], one );
			CHECK( memcmp( a[i], b[i], lmbTile * sizeof( float ) ) == 0 );
			CHECK( memcmp( a[i], one, lmbTile * sizeof( float ) ) == 0 );
		}

		float palette[9 * lmbBoneFloats], shares[lmbLanes * 4];
		uint16_t bones[lmbLanes * 4];
		lmbBlend blend[2];
		Fill( &random, palette, 9 * lmbBoneFloats );
		Fill( &random, shares, lmbLanes * 4 );
		for ( int i = 0; i < lmbLanes * 4; ++i )
			bones[i] = (uint16_t)lmbRandom_Below( &random, 9 );
		for ( int used = 1; used <= 4; ++used )
		{
			lmbKernel_Blend( palette, bones, shares, 4, used, &blend[0] );
			Plain_Blend( palette, bones, shares, 4, used, &blend[1] );
			CHECK( memcmp( &blend[0], &blend[1], sizeof( lmbBlend ) ) == 0 );
		}
	}
}

int main( void )
{
	const struct CMUnitTest tests[] = { CHECK_TEST( SameBits ) };
	return CHECK_RUN( tests );
}
