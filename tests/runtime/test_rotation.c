/* The nearest rotation against the tools' own (src/flesh/skinning.c), which is written and tested apart; and
 * against what defines it. */
#include "check.h"

#include "base/math3.h"
#include "base/random.h"
#include "flesh/skinning.h"
#include "runtime/rotation.h"

static double Trace( const double *quaternion, const double *m )
{
	double r[9], sum = 0.0;
	lmbQuaternion_ToMatrix( quaternion, r );
	for ( int i = 0; i < 9; ++i )
		sum += r[i] * m[i];
	return sum;
}

static void AgreesWithTheTools( void **state )
{
	(void)state;
	checkSeed = 6;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	double worst = 0.0;
	for ( int round = 0; round < 20000; ++round )
	{
		double m[9], bone[12] = { 0 }, q[4], tools[4],
		             scale = pow( 10.0, 16.0 * lmbRandom_Uniform( &random ) - 8.0 );
		for ( int i = 0; i < 9; ++i )
			m[i] = scale * lmbRandom_Normal( &random ); /* half of them mirrored */
		if ( round % 5 == 0 )                           /* flattened to a plane */
			for ( int i = 0; i < 3; ++i )
				m[6 + i] = 0.3 * m[i] - 2.0 * m[3 + i];
		for ( int i = 0; i < 9; ++i )
			bone[4 * ( i / 3 ) + i % 3] = m[i];
		lmbQuaternion_Nearest( m, q );
		lmbSkin_BoneQuaternions( 1, bone, tools );
		double same = q[0] * tools[0] + q[1] * tools[1] + q[2] * tools[2] + q[3] * tools[3];
		worst = fmax( worst, 1.0 - fabs( same ) );
		/* No other rotation is nearer: not any near it, not any at all. */
		double other[4], best = Trace( q, m ), size = 0.0;
		for ( int i = 0; i < 9; ++i )
			size = fmax( size, fabs( m[i] ) );
		for ( int i = 0; i < 4; ++i )
			other[i] = ( round % 2 == 0 ? q[i] : 0.0 ) +
			           ( round % 2 == 0 ? 1e-3 : 1.0 ) * lmbRandom_Normal( &random );
		lmbQuaternion_Normalize( other );
		CHECK( Trace( other, m ) <= best + 1e-12 * size );
	}
	/* 1 - cos of half the angle between them: 1e-12 is 3e-6 rad, for the few that are nearly as near to a
	 * second rotation. */
	CHECK_NEAR( worst, 0.0, 1e-12 );
}

static void DegenerateOnesTurnLeast( void **state )
{
	(void)state;
	static const double matrices[][9] = {
	    { 1, 0, 0, 0, 1, 0, 0, 0, 1 },
	    { 1, 0, 0, 0, -1, 0, 0, 0, 1 },
	    { 0, 0, 0, 0, 0, 0, 0, 0, 0 },
	    { 2, 0, 0, 0, 0, 0, 0, 0, 0 },
	    { 1, 0, 0, 0, 1, 0, 0, 0, 0 },
	    { 1e200, 0, 0, 0, 1e200, 0, 0, 0, 1 },
	    { 1e-200, 0, 0, 0, 1e-200, 0, 0, 0, 1e-200 },
	};
	for ( size_t i = 0; i < sizeof( matrices ) / sizeof( matrices[0] ); ++i )
	{
		double q[4];
		lmbQuaternion_Nearest( matrices[i], q );
		CHECK_NEAR( fabs( q[3] ), 1.0, 1e-12 );
	}
	double q[4], zero[4] = { 0 };
	const double half[9] = { -1, 0, 0, 0, -1, 0, 0, 0, 1 }; /* half a turn about z */
	lmbQuaternion_Nearest( half, q );
	CHECK_NEAR( fabs( q[2] ), 1.0, 1e-12 );
	lmbQuaternion_Normalize( zero );
	CHECK_NEAR( zero[3], 1.0, 0.0 );
}

int main( void )
{
	const struct CMUnitTest tests[] = { CHECK_TEST( AgreesWithTheTools ),
	                                    CHECK_TEST( DegenerateOnesTurnLeast ) };
	return CHECK_RUN( tests );
}
