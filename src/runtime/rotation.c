#include "rotation.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

void lmbQuaternion_Normalize( double *q )
{
	double length = sqrt( q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] );
	bool sound = length > 1e-150;
	for ( int i = 0; i < 4; ++i )
		q[i] = sound ? q[i] / length : i == 3 ? 1.0 : 0.0;
}

void lmbQuaternion_ToMatrix( const double *q, double *m )
{
	double x = q[0], y = q[1], z = q[2], w = q[3];
	m[0] = 1.0 - 2.0 * ( y * y + z * z );
	m[1] = 2.0 * ( x * y - z * w );
	m[2] = 2.0 * ( x * z + y * w );
	m[3] = 2.0 * ( x * y + z * w );
	m[4] = 1.0 - 2.0 * ( x * x + z * z );
	m[5] = 2.0 * ( y * z - x * w );
	m[6] = 2.0 * ( x * z - y * w );
	m[7] = 2.0 * ( y * z + x * w );
	m[8] = 1.0 - 2.0 * ( x * x + y * y );
}

/* Shepperd 1978: the largest of the four terms first. */
static void QuaternionOf( const double *m, double *q )
{
	double trace = m[0] + m[4] + m[8];
	double terms[4] = { m[0], m[4], m[8], trace };
	int largest = 0;
	for ( int i = 1; i < 4; ++i )
		if ( terms[i] > terms[largest] )
			largest = i;
	if ( largest == 3 )
	{
		q[3] = 1.0 + trace;
		q[0] = m[7] - m[5];
		q[1] = m[2] - m[6];
		q[2] = m[3] - m[1];
	}
	else
	{
		int i = largest, j = ( i + 1 ) % 3, k = ( i + 2 ) % 3;
		q[i] = 1.0 + m[4 * i] - m[4 * j] - m[4 * k];
		q[j] = m[3 * i + j] + m[3 * j + i];
		q[k] = m[3 * i + k] + m[3 * k + i];
		q[3] = m[3 * k + j] - m[3 * j + k];
	}
}

static double Determinant( const double *m )
{
	return m[0] * ( m[4] * m[8] - m[5] * m[7] ) - m[1] * ( m[3] * m[8] - m[5] * m[6] ) +
	       m[2] * ( m[3] * m[7] - m[4] * m[6] );
}

/* The inverse transpose, from the cofactors; d is the determinant. */
static void InverseTranspose( double *out, const double *m, double d )
{
	double s = 1.0 / d;
	out[0] = s * ( m[4] * m[8] - m[5] * m[7] );
	out[1] = s * ( m[5] * m[6] - m[3] * m[8] );
	out[2] = s * ( m[3] * m[7] - m[4] * m[6] );
	out[3] = s * ( m[2] * m[7] - m[1] * m[8] );
	out[4] = s * ( m[0] * m[8] - m[2] * m[6] );
	out[5] = s * ( m[1] * m[6] - m[0] * m[7] );
	out[6] = s * ( m[1] * m[5] - m[2] * m[4] );
	out[7] = s * ( m[2] * m[3] - m[0] * m[5] );
	out[8] = s * ( m[0] * m[4] - m[1] * m[3] );
}

/* Newton's iteration for the polar factor, X <- (X + X^-T) / 2 (Higham 1986): ten rounds at most from a
 * determinant of 0.01 where the squares of the entries sum to 3. */
static void PolarFactor( double *rotation )
{
	for ( int round = 0; round < 30; ++round )
	{
		double inverse[9], change = 0.0;
		InverseTranspose( inverse, rotation, Determinant( rotation ) );
		for ( int i = 0; i < 9; ++i )
		{
			double next = 0.5 * ( rotation[i] + inverse[i] );
			change += fabs( next - rotation[i] );
			rotation[i] = next;
		}
		if ( change < 1e-14 )
			break;
	}
}

/* Columns p and q of a 4x4 matrix turned in their plane. */
static void TurnPlane( double m[4][4], int p, int q, double c, double s )
{
	for ( int k = 0; k < 4; ++k )
	{
		double a = m[k][p], b = m[k][q];
		m[k][p] = c * a - s * b;
		m[k][q] = s * a + c * b;
	}
}

static void Transpose( double m[4][4] )
{
	for ( int i = 0; i < 4; ++i )
		for ( int j = 0; j < i; ++j )
		{
			double swap = m[i][j];
			m[i][j] = m[j][i];
			m[j][i] = swap;
		}
}

/* Eigenvectors (columns of vectors) and eigenvalues (diagonal of matrix) of a symmetric matrix by cyclic
 * Jacobi rotations; the smaller angle of the two that clear an entry, without arc tangents (Rutishauser
 * 1966). */
static void Eigen( double matrix[4][4], double vectors[4][4] )
{
	for ( int i = 0; i < 4; ++i )
		for ( int j = 0; j < 4; ++j )
			vectors[i][j] = i == j ? 1.0 : 0.0;
	for ( int sweep = 0; sweep < 12; ++sweep )
		for ( int p = 0; p < 3; ++p )
			for ( int q = p + 1; q < 4; ++q )
			{
				if ( matrix[p][q] == 0.0 )
					continue;
				double slope = ( matrix[q][q] - matrix[p][p] ) / ( 2.0 * matrix[p][q] );
				double tangent =
				    ( slope < 0.0 ? -1.0 : 1.0 ) / ( fabs( slope ) + sqrt( slope * slope + 1.0 ) );
				double c = 1.0 / sqrt( tangent * tangent + 1.0 ), s = tangent * c;
				TurnPlane( matrix, p, q, c, s );
				Transpose( matrix );
				TurnPlane( matrix, p, q, c, s );
				TurnPlane( vectors, p, q, c, s );
			}
}

/* As an eigenvector problem in the quaternion (Horn 1987). The identity's share in the space of the largest
 * eigenvalue is the rotation that turns least. */
static void NearestByEigenvector( const double *m, double *q )
{
	double k[4][4] = { { m[0] - m[4] - m[8], m[1] + m[3], m[2] + m[6], m[7] - m[5] },
	                   { m[1] + m[3], m[4] - m[0] - m[8], m[5] + m[7], m[2] - m[6] },
	                   { m[2] + m[6], m[5] + m[7], m[8] - m[0] - m[4], m[3] - m[1] },
	                   { m[7] - m[5], m[2] - m[6], m[3] - m[1], m[0] + m[4] + m[8] } };
	double vectors[4][4], sum[4] = { 0 };
	int first = 0;
	Eigen( k, vectors );
	for ( int e = 1; e < 4; ++e )
		first = k[e][e] > k[first][first] ? e : first;
	double largest = k[first][first];
	for ( int e = 0; e < 4; ++e )
		for ( int i = 0; i < 4 && k[e][e] >= largest - 1e-12; ++i )
			sum[i] += vectors[3][e] * vectors[i][e];
	for ( int i = 0; i < 4; ++i )
		q[i] = sum[3] > 1e-12 ? sum[i] : vectors[i][first];
	lmbQuaternion_Normalize( q );
}

void lmbQuaternion_Nearest( const double *m, double *q )
{
	double square = 0.0, scaled[9];
	for ( int i = 0; i < 9; ++i )
		square += m[i] * m[i];
	q[0] = q[1] = q[2] = 0.0;
	q[3] = 1.0;
	if ( !( square > 1e-280 && square < 1e280 ) )
		return;
	for ( int i = 0; i < 9; ++i )
		scaled[i] = m[i] * sqrt( 3.0 / square );
	if ( Determinant( scaled ) < 0.01 )
	{
		NearestByEigenvector( scaled, q );
		return;
	}
	PolarFactor( scaled );
	QuaternionOf( scaled, q );
	lmbQuaternion_Normalize( q );
}
