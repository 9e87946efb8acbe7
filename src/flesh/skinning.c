#include "flesh/skinning.h"

#include "base/math3.h"

void lmbSkin_Points( const lmbWeights *weights, const double *bones, const double *rest, double *out )
{
	for ( int i = 0; i < weights->pointCount; ++i )
	{
		double blend[12] = { 0 };
		for ( int k = 0; k < weights->influenceCount; ++k )
		{
			double w = weights->weights[(size_t)i * weights->influenceCount + k];
			const double *bone = bones + 12 * (size_t)weights->bones[(size_t)i * weights->influenceCount + k];
			for ( int e = 0; w != 0.0 && e < 12; ++e )
				blend[e] += w * bone[e];
		}
		lmbMat34_Point( out + 3 * (size_t)i, blend, rest + 3 * (size_t)i );
	}
}

/* Newton's iteration for the polar factor, X <- (X + X^-T) / 2 (Higham 1986): quadratic convergence
 * from any nonsingular start, and bones are close to rotations. */
static void PolarRotation( double *rotation, const double *matrix )
{
	memcpy( rotation, matrix, 9 * sizeof( double ) );
	for ( int iteration = 0; iteration < 60; ++iteration )
	{
		if ( !( fabs( lmbMat33_Determinant( rotation ) ) > 1e-30 ) )
			break;
		double inverse[9], change = 0.0;
		lmbMat33_Inverse( inverse, rotation );
		for ( int i = 0; i < 3; ++i )
			for ( int j = 0; j < 3; ++j )
			{
				double next = 0.5 * ( rotation[3 * i + j] + inverse[3 * j + i] );
				change += fabs( next - rotation[3 * i + j] );
				rotation[3 * i + j] = next;
			}
		if ( change < 1e-15 )
			break;
	}
}

void lmbSkin_BoneQuaternions( int boneCount, const double *bones, double *quaternions )
{
	for ( int j = 0; j < boneCount; ++j )
	{
		double linear[9], rotation[9];
		lmbMat34_Linear( linear, bones + 12 * (size_t)j );
		PolarRotation( rotation, linear );
		lmbQuat_FromMat33( quaternions + 4 * (size_t)j, rotation );
	}
}

void lmbSkin_Rotations( const lmbWeights *weights, const double *quaternions, double *out )
{
	for ( int i = 0; i < weights->pointCount; ++i )
	{
		const int32_t *bones = weights->bones + (size_t)i * weights->influenceCount;
		const double *first = quaternions + 4 * (size_t)bones[0];
		double blend[4] = { 0 };
		for ( int k = 0; k < weights->influenceCount; ++k )
		{
			const double *q = quaternions + 4 * (size_t)bones[k];
			double w = weights->weights[(size_t)i * weights->influenceCount + k];
			double same = first[0] * q[0] + first[1] * q[1] + first[2] * q[2] + first[3] * q[3];
			for ( int e = 0; e < 4; ++e )
				blend[e] += ( same < 0.0 ? -w : w ) * q[e];
		}
		lmbQuat_Normalize( blend, blend );
		lmbQuat_ToMat33( out + 9 * (size_t)i, blend );
	}
}
