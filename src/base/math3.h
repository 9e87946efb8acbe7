/* Small fixed-size algebra in double for the tools. Vectors are double[3], quaternions double[4]
 * xyzw, 3x3 matrices double[9] and 3x4 matrices double[12], row-major. Outputs may alias inputs only
 * where a line says so. */
#ifndef LMB_BASE_MATH3_H
#define LMB_BASE_MATH3_H

#include <math.h>
#include <string.h>

static inline double lmbDot( const double *a, const double *b )
{
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double lmbLength( const double *a )
{
	return sqrt( lmbDot( a, a ) );
}

static inline void lmbSub( double *out, const double *a, const double *b ) /* may alias */
{
	for ( int i = 0; i < 3; ++i )
		out[i] = a[i] - b[i];
}

static inline void lmbAddScaled( double *out, const double *a, double s, const double *b ) /* may alias */
{
	for ( int i = 0; i < 3; ++i )
		out[i] = a[i] + s * b[i];
}

static inline void lmbCross( double *out, const double *a, const double *b )
{
	out[0] = a[1] * b[2] - a[2] * b[1];
	out[1] = a[2] * b[0] - a[0] * b[2];
	out[2] = a[0] * b[1] - a[1] * b[0];
}

/* out = m v for a 3x3 matrix. */
static inline void lmbMat33_Apply( double *out, const double *m, const double *v )
{
	for ( int i = 0; i < 3; ++i )
		out[i] = m[3 * i] * v[0] + m[3 * i + 1] * v[1] + m[3 * i + 2] * v[2];
}

/* out = m^T v for a 3x3 matrix. */
static inline void lmbMat33_ApplyTransposed( double *out, const double *m, const double *v )
{
	for ( int i = 0; i < 3; ++i )
		out[i] = m[i] * v[0] + m[3 + i] * v[1] + m[6 + i] * v[2];
}

static inline void lmbMat33_Multiply( double *out, const double *a, const double *b )
{
	for ( int i = 0; i < 3; ++i )
		for ( int j = 0; j < 3; ++j )
			out[3 * i + j] = a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j];
}

/* out = a^T b. */
static inline void lmbMat33_TransposedMultiply( double *out, const double *a, const double *b )
{
	for ( int i = 0; i < 3; ++i )
		for ( int j = 0; j < 3; ++j )
			out[3 * i + j] = a[i] * b[j] + a[3 + i] * b[3 + j] + a[6 + i] * b[6 + j];
}

static inline double lmbMat33_Determinant( const double *m )
{
	return m[0] * ( m[4] * m[8] - m[5] * m[7] ) - m[1] * ( m[3] * m[8] - m[5] * m[6] ) +
	       m[2] * ( m[3] * m[7] - m[4] * m[6] );
}

/* The inverse; the determinant must not be 0. */
static inline void lmbMat33_Inverse( double *out, const double *m )
{
	double s = 1.0 / lmbMat33_Determinant( m );
	out[0] = s * ( m[4] * m[8] - m[5] * m[7] );
	out[1] = s * ( m[2] * m[7] - m[1] * m[8] );
	out[2] = s * ( m[1] * m[5] - m[2] * m[4] );
	out[3] = s * ( m[5] * m[6] - m[3] * m[8] );
	out[4] = s * ( m[0] * m[8] - m[2] * m[6] );
	out[5] = s * ( m[2] * m[3] - m[0] * m[5] );
	out[6] = s * ( m[3] * m[7] - m[4] * m[6] );
	out[7] = s * ( m[1] * m[6] - m[0] * m[7] );
	out[8] = s * ( m[0] * m[4] - m[1] * m[3] );
}

static inline void lmbMat34_Identity( double *m )
{
	memset( m, 0, 12 * sizeof( double ) );
	m[0] = m[5] = m[10] = 1.0;
}

/* out = m p, a point. */
static inline void lmbMat34_Point( double *out, const double *m, const double *p )
{
	for ( int i = 0; i < 3; ++i )
		out[i] = m[4 * i] * p[0] + m[4 * i + 1] * p[1] + m[4 * i + 2] * p[2] + m[4 * i + 3];
}

/* out = a b as affine maps. */
static inline void lmbMat34_Multiply( double *out, const double *a, const double *b )
{
	for ( int i = 0; i < 3; ++i )
		for ( int j = 0; j < 4; ++j )
			out[4 * i + j] = a[4 * i] * b[j] + a[4 * i + 1] * b[4 + j] + a[4 * i + 2] * b[8 + j] +
			                 ( j == 3 ? a[4 * i + 3] : 0.0 );
}

static inline void lmbMat34_Linear( double *out, const double *m ) /* 3x4 -> its 3x3 part */
{
	for ( int i = 0; i < 3; ++i )
		for ( int j = 0; j < 3; ++j )
			out[3 * i + j] = m[4 * i + j];
}

static inline void lmbMat34_Inverse( double *out, const double *m )
{
	double linear[9], inverse[9];
	lmbMat34_Linear( linear, m );
	lmbMat33_Inverse( inverse, linear );
	for ( int i = 0; i < 3; ++i )
	{
		for ( int j = 0; j < 3; ++j )
			out[4 * i + j] = inverse[3 * i + j];
		out[4 * i + 3] = -( inverse[3 * i] * m[3] + inverse[3 * i + 1] * m[7] + inverse[3 * i + 2] * m[11] );
	}
}

/* out = a b: turn by b, then by a. */
static inline void lmbQuat_Multiply( double *out, const double *a, const double *b )
{
	out[0] = a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1];
	out[1] = a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0];
	out[2] = a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3];
	out[3] = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
}

/* Unit length; a zero quaternion becomes the identity. May alias. */
static inline void lmbQuat_Normalize( double *out, const double *q )
{
	double length = sqrt( q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] );
	if ( !( length > 1e-150 ) )
	{
		out[0] = out[1] = out[2] = 0.0;
		out[3] = 1.0;
		return;
	}
	for ( int i = 0; i < 4; ++i )
		out[i] = q[i] / length;
}

/* 3x3 rotation of a unit quaternion. */
static inline void lmbQuat_ToMat33( double *m, const double *q )
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

/* The unit quaternion of a rotation matrix (Shepperd 1978: the largest of the four terms first). */
static inline void lmbQuat_FromMat33( double *q, const double *m )
{
	double trace = m[0] + m[4] + m[8];
	double t[4] = { m[0], m[4], m[8], trace };
	int largest = 0;
	for ( int i = 1; i < 4; ++i )
		if ( t[i] > t[largest] )
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
	lmbQuat_Normalize( q, q );
}

#endif
