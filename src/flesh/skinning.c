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

/* Newton's iteration for the polar factor, X <- (X + X^-T) / 2 (Higham 1986), for matrices that are well
 * away from singular: ten steps at most from a determinant of 0.01. */
static void PolarFactor( double *rotation )
{
	for ( int iteration = 0; iteration < 30; ++iteration )
	{
		double inverse[9], change = 0.0;
		lmbMat33_Inverse( inverse, rotation );
		for ( int i = 0; i < 3; ++i )
			for ( int j = 0; j < 3; ++j )
			{
				double next = 0.5 * ( rotation[3 * i + j] + inverse[3 * j + i] );
				change += fabs( next - rotation[3 * i + j] );
				rotation[3 * i + j] = next;
			}
		if ( change < 1e-14 )
			break;
	}
}

/* Eigenvectors (columns of vectors) and eigenvalues (diagonal of matrix) of a symmetric 4x4 matrix, by
 * cyclic Jacobi rotations. */
static void Eigen4( double matrix[4][4], double vectors[4][4] )
{
	for ( int i = 0; i < 4; ++i )
		for ( int j = 0; j < 4; ++j )
			vectors[i][j] = i == j;
	for ( int sweep = 0; sweep < 12; ++sweep )
		for ( int p = 0; p < 3; ++p )
			for ( int q = p + 1; q < 4; ++q )
			{
				if ( matrix[p][q] == 0.0 )
					continue;
				double angle = 0.5 * atan2( 2.0 * matrix[p][q], matrix[q][q] - matrix[p][p] );
				double c = cos( angle ), s = sin( angle );
				for ( int k = 0; k < 4; ++k )
				{
					double a = matrix[k][p], b = matrix[k][q];
					matrix[k][p] = c * a - s * b;
					matrix[k][q] = s * a + c * b;
				}
				for ( int k = 0; k < 4; ++k )
				{
					double a = matrix[p][k], b = matrix[q][k];
					matrix[p][k] = c * a - s * b;
					matrix[q][k] = s * a + c * b;
					a = vectors[k][p];
					b = vectors[k][q];
					vectors[k][p] = c * a - s * b;
					vectors[k][q] = s * a + c * b;
				}
			}
}

/* The rotation R with the largest trace of R^T M as an eigenvector problem in its quaternion (Horn 1987):
 * proper for every matrix. Where several are equally near (M singular twice over, or a mirror image), the
 * one that turns least. */
static void NearestByEigenvector( double *quaternion, const double *m )
{
	double k[4][4] = { { m[0] - m[4] - m[8], m[1] + m[3], m[2] + m[6], m[7] - m[5] },
	                   { m[1] + m[3], m[4] - m[0] - m[8], m[5] + m[7], m[2] - m[6] },
	                   { m[2] + m[6], m[5] + m[7], m[8] - m[0] - m[4], m[3] - m[1] },
	                   { m[7] - m[5], m[2] - m[6], m[3] - m[1], m[0] + m[4] + m[8] } };
	double vectors[4][4], largest = -INFINITY;
	Eigen4( k, vectors );
	for ( int e = 0; e < 4; ++e )
		largest = fmax( largest, k[e][e] );
	int first = -1;
	double sum[4] = { 0 };
	for ( int e = 0; e < 4; ++e )
	{
		if ( k[e][e] < largest - 1e-12 )
			continue;
		first = first < 0 ? e : first;
		for ( int i = 0; i < 4; ++i )
			sum[i] += vectors[3][e] * vectors[i][e];
	}
	for ( int i = 0; first >= 0 && i < 4; ++i )
		quaternion[i] = sum[3] > 1e-12 ? sum[i] : vectors[i][first];
	lmbQuat_Normalize( quaternion, quaternion );
}

static void NearestRotation( double *quaternion, const double *linear )
{
	double square = 0.0, scaled[9];
	for ( int i = 0; i < 9; ++i )
		square += linear[i] * linear[i];
	memcpy( quaternion, ( const double[4] ){ 0.0, 0.0, 0.0, 1.0 }, 4 * sizeof( double ) );
	if ( !( square > 1e-280 && square < 1e280 ) )
		return;
	for ( int i = 0; i < 9; ++i )
		scaled[i] = linear[i] * sqrt( 3.0 / square );
	if ( lmbMat33_Determinant( scaled ) < 0.01 )
	{
		NearestByEigenvector( quaternion, scaled );
		return;
	}
	PolarFactor( scaled );
	lmbQuat_FromMat33( quaternion, scaled );
}

void lmbSkin_BoneQuaternions( int boneCount, const double *bones, double *quaternions )
{
	for ( int j = 0; j < boneCount; ++j )
	{
		double linear[9];
		lmbMat34_Linear( linear, bones + 12 * (size_t)j );
		NearestRotation( quaternions + 4 * (size_t)j, linear );
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
