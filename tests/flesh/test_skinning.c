/* Skinning against plain sums; nearest rotations against LAPACK's singular values. */
#include "flesh/skinning.h"

#include "base/job.h"
#include "base/math3.h"
#include "base/random.h"
#include "check.h"

#include <lapacke.h>

static void RandomQuaternion( lmbRandom *random, double *q )
{
	for ( int i = 0; i < 4; ++i )
		q[i] = lmbRandom_Normal( random );
	lmbQuat_Normalize( q, q );
}

static void BoneFromLinear( const double *linear, const double *place, double *bone )
{
	for ( int i = 0; i < 3; ++i )
	{
		for ( int j = 0; j < 3; ++j )
			bone[4 * i + j] = linear[3 * i + j];
		bone[4 * i + 3] = place != NULL ? place[i] : 0.0;
	}
}

/* The nearest proper rotation by singular values: U diag(1, 1, det U V^T) V^T (Kabsch). */
static void NearestBySvd( const double *matrix, double *rotation, double *singular )
{
	double a[9], u[9], vt[9], work[3];
	memcpy( a, matrix, sizeof( a ) );
	CHECK_INT( LAPACKE_dgesvd( LAPACK_ROW_MAJOR, 'A', 'A', 3, 3, a, 3, singular, u, 3, vt, 3, work ), 0 );
	double sign = lmbMat33_Determinant( u ) * lmbMat33_Determinant( vt ) < 0.0 ? -1.0 : 1.0;
	for ( int i = 0; i < 3; ++i )
		u[3 * i + 2] *= sign;
	lmbMat33_Multiply( rotation, u, vt );
}

static void QuaternionToMatrix( const double *linear, double *out )
{
	double bone[12], q[4];
	BoneFromLinear( linear, NULL, bone );
	lmbSkin_BoneQuaternions( 1, bone, q );
	CHECK_NEAR( q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], 1.0, 1e-14 );
	lmbQuat_ToMat33( out, q );
}

/* Random matrices of either sign of the determinant, over scales from 1e-30 to 1e30. The nearest rotation
 * is as sensitive as 1 / ( s2 + sign s3 ), so that divides the tolerance. */
static void NearestRotations( void **state )
{
	(void)state;
	checkSeed = 11;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	for ( int i = 0; i < 4000; ++i )
	{
		double matrix[9], expected[9], actual[9], singular[3];
		double scale = pow( 10.0, 60.0 * lmbRandom_Uniform( &random ) - 30.0 );
		for ( int e = 0; e < 9; ++e )
			matrix[e] = scale * lmbRandom_Normal( &random );
		NearestBySvd( matrix, expected, singular );
		QuaternionToMatrix( matrix, actual );
		double sign = lmbMat33_Determinant( matrix ) < 0.0 ? -1.0 : 1.0;
		double gap = ( singular[1] + sign * singular[2] ) / singular[0];
		CHECK_NEAR( lmbMat33_Determinant( actual ), 1.0, 1e-13 );
		for ( int e = 0; e < 9; ++e )
			CHECK_NEAR( actual[e], expected[e], 1e-13 + 2e-14 / gap );
	}
}

/* A rotation with stretch along its own axes comes back exactly; flattened to a plane too. */
static void StretchedRotations( void **state )
{
	(void)state;
	checkSeed = 12;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	static const double stretches[][3] = {
	    { 1, 1, 1 },    { 2, 2, 2 },   { 0.1, 3, 1 },     { 1e-6, 1e-6, 1e-6 }, { 1, 1, 0 },
	    { 1, 1, 1e-9 }, { 5, 0.5, 0 }, { 1e5, 1e5, 1e5 }, { 1e-9, 1, 1.5 },     { 1e-40, 1e-40, 1e-40 } };
	for ( size_t s = 0; s < sizeof( stretches ) / sizeof( stretches[0] ); ++s )
		for ( int i = 0; i < 50; ++i )
		{
			double q[4], rotation[9], matrix[9], actual[9];
			RandomQuaternion( &random, q );
			lmbQuat_ToMat33( rotation, q );
			for ( int e = 0; e < 9; ++e )
				matrix[e] = rotation[e] * stretches[s][e % 3];
			QuaternionToMatrix( matrix, actual );
			for ( int e = 0; e < 9; ++e )
				CHECK_NEAR( actual[e], rotation[e],
				            1e-12 ); /* roundings over the smallest pair of stretches */
		}
}

/* Where the nearest rotation is not unique the one that turns least is taken, and never a reflection. */
static void DegenerateBones( void **state )
{
	(void)state;
	static const double mirror[9] = { -1, 0, 0, 0, 1, 0, 0, 0, 1 };
	static const double point[9] = { -1, 0, 0, 0, -1, 0, 0, 0, -1 };
	static const double zero[9] = { 0 };
	static const double line[9] = { 0, 0, 0, 0, 3, 0, 0, 0, 0 };
	static const double identity[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
	const double *const plain[] = { mirror, zero, line };
	double actual[9];
	for ( int i = 0; i < 3; ++i )
	{
		QuaternionToMatrix( plain[i], actual );
		for ( int e = 0; e < 9; ++e )
			CHECK_NEAR( actual[e], identity[e], 1e-12 );
	}
	/* Mirrored in a point: no turn at all is the farthest, every half turn is nearest. */
	QuaternionToMatrix( point, actual );
	CHECK_NEAR( actual[0] + actual[4] + actual[8], -1.0, 1e-14 );
	CHECK_NEAR( lmbMat33_Determinant( actual ), 1.0, 1e-14 );
	double bad[9] = { NAN, 0, 0, 0, 1, 0, 0, 0, INFINITY };
	QuaternionToMatrix( bad, actual );
	for ( int e = 0; e < 9; ++e )
		CHECK_NEAR( actual[e], identity[e], 0.0 );

	/* A mirrored bone that also turns: as near as any of many rotations tried. */
	checkSeed = 13;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	for ( int i = 0; i < 20; ++i )
	{
		double q[4], turn[9], matrix[9], best, trial = -INFINITY;
		RandomQuaternion( &random, q );
		lmbQuat_ToMat33( turn, q );
		lmbMat33_Multiply( matrix, turn, mirror );
		QuaternionToMatrix( matrix, actual );
		CHECK_NEAR( lmbMat33_Determinant( actual ), 1.0, 1e-13 );
		best = 0.0;
		for ( int e = 0; e < 9; ++e )
			best += actual[e] * matrix[e];
		for ( int t = 0; t < 2000; ++t )
		{
			double sum = 0.0;
			RandomQuaternion( &random, q );
			lmbQuat_ToMat33( turn, q );
			for ( int e = 0; e < 9; ++e )
				sum += turn[e] * matrix[e];
			trial = fmax( trial, sum );
		}
		CHECK( best >= trial - 1e-12 );
	}
}

/* No bone takes long: degenerate ones cost a bounded number of operations. */
static void DegenerateBonesAreQuick( void **state )
{
	(void)state;
	checkSeed = 14;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	enum
	{
		count = 20000
	};
	static double bones[12 * count], quaternions[4 * count];
	for ( int j = 0; j < count; ++j )
		for ( int e = 0; e < 12; ++e )
			bones[12 * j + e] = ( e == 0 || e == 5 ? 1.0
			                      : j % 3 == 0     ? -1e-15
			                                       : 0.0 ) *
			                    ( j % 2 == 0 ? 1.0 : 1e-120 * lmbRandom_Normal( &random ) );
	double start = lmbClock_Seconds();
	lmbSkin_BoneQuaternions( count, bones, quaternions );
	CHECK( lmbClock_Seconds() - start < 2.0 ); /* 10 us each measured; 100 us on a loaded machine */
	for ( int i = 0; i < 4 * count; ++i )
		CHECK( isfinite( quaternions[i] ) );
}

static void BlendedPoints( void **state )
{
	(void)state;
	checkSeed = 15;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	double bones[36], rest[15], weights[15], expected[15], actual[15];
	int32_t indices[15];
	for ( int e = 0; e < 36; ++e )
		bones[e] = lmbRandom_Normal( &random );
	for ( int e = 0; e < 15; ++e )
	{
		rest[e] = lmbRandom_Normal( &random );
		weights[e] = e % 3 == 2 ? 0.0 : lmbRandom_Uniform( &random );
		indices[e] = e % 3 == 2 ? 0 : ( e + e / 3 ) % 3;
	}
	for ( int p = 0; p < 5; ++p )
		for ( int a = 0; a < 3; ++a )
		{
			expected[3 * p + a] = 0.0;
			for ( int k = 0; k < 3; ++k )
			{
				const double *row = bones + 12 * indices[3 * p + k] + 4 * a;
				expected[3 * p + a] +=
				    weights[3 * p + k] *
				    ( row[0] * rest[3 * p] + row[1] * rest[3 * p + 1] + row[2] * rest[3 * p + 2] + row[3] );
			}
		}
	lmbWeights skin = { 5, 3, indices, weights };
	lmbSkin_Points( &skin, bones, rest, actual );
	for ( int e = 0; e < 15; ++e )
		CHECK_NEAR( actual[e], expected[e], 1e-14 ); /* a dozen roundings of numbers up to 10 */
}

/* Two bones turned about one axis blend to the half-way turn; opposite signs of a quaternion are one turn;
 * displacements keep their length. */
static void BlendedRotations( void **state )
{
	(void)state;
	double half = 0.35;
	double quaternions[12] = { 0, 0, sin( half ), cos( half ), 0, 0, 0, -1, 0, sin( 1.2 ), 0, cos( 1.2 ) };
	int32_t indices[6] = { 0, 1, 1, 0, 2, 0 };
	double weights[6] = { 0.5, 0.5, 0.5, 0.5, 1.0, 0.0 }, rotations[27], expected[9];
	lmbWeights skin = { 3, 2, indices, weights };
	lmbSkin_Rotations( &skin, quaternions, rotations );
	double middle[4] = { 0, 0, sin( 0.5 * half ), cos( 0.5 * half ) };
	lmbQuat_ToMat33( expected, middle );
	for ( int e = 0; e < 9; ++e )
	{
		CHECK_NEAR( rotations[e], expected[e], 1e-15 );
		CHECK_NEAR( rotations[9 + e], expected[e], 1e-15 );
	}
	lmbQuat_ToMat33( expected, quaternions + 8 );
	for ( int e = 0; e < 9; ++e )
		CHECK_NEAR( rotations[18 + e], expected[e], 1e-15 );
	double moved[3], displacement[3] = { 0.3, -1.0, 2.0 };
	lmbMat33_Apply( moved, rotations, displacement );
	CHECK_NEAR( lmbLength( moved ), lmbLength( displacement ), 1e-15 );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( NearestRotations ), CHECK_TEST( StretchedRotations ),
	    CHECK_TEST( DegenerateBones ),  CHECK_TEST( DegenerateBonesAreQuick ),
	    CHECK_TEST( BlendedPoints ),    CHECK_TEST( BlendedRotations ),
	};
	return CHECK_RUN( tests );
}
