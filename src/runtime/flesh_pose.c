#include "flesh_body.h"

#include <math.h>
#include <string.h>

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

/* The rotation nearest to a matrix, by Newton's iteration X <- (X + X^-T) / 2 (Higham 1986). At most 60
 * rounds: 30 halve any scale that the limits of a pose allow, the rest converge. A matrix that is nearly
 * singular is left where the iteration ends; only its direction is used. */
static void PolarRotation( const double *matrix, double *rotation )
{
	memcpy( rotation, matrix, 9 * sizeof( double ) );
	for ( int round = 0; round < 60; ++round )
	{
		double inverse[9], change = 0.0, d = Determinant( rotation );
		if ( !( fabs( d ) > 1e-30 ) )
			break;
		InverseTranspose( inverse, rotation, d );
		for ( int i = 0; i < 9; ++i )
		{
			double next = 0.5 * ( rotation[i] + inverse[i] );
			change += fabs( next - rotation[i] );
			rotation[i] = next;
		}
		if ( change < 1e-15 )
			break;
	}
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

/* out = turn m, m with so many columns; no overlap. */
static void TurnColumns( const double *turn, const double *m, int columns, double *out )
{
	for ( int i = 0; i < 3; ++i )
		for ( int j = 0; j < columns; ++j )
			out[i * columns + j] =
			    turn[3 * i] * m[j] + turn[3 * i + 1] * m[columns + j] + turn[3 * i + 2] * m[2 * columns + j];
}

/* What the network reads of each bone (docs/formats/model.md). */
static void FillFeatures( lmbFleshBody *body )
{
	const lmbFlesh *model = body->model;
	float *out = body->features;
	for ( int bone = 0; bone < model->info.boneCount; ++bone )
	{
		int parent = model->parents[bone];
		const double *own = body->modelTurns + 9 * (size_t)bone;
		if ( parent < 0 )
		{
			const double *world = body->nextTurns + 9 * (size_t)bone;
			for ( int i = 0; i < 3; ++i )
				*out++ = (float)( i == 1 ? 1.0 - world[3 + i] : -world[3 + i] );
			continue;
		}
		const double *above = body->modelTurns + 9 * (size_t)parent;
		for ( int i = 0; i < 3; ++i )
			for ( int j = 0; j < 3; ++j )
				*out++ = (float)( above[i] * own[j] + above[3 + i] * own[3 + j] + above[6 + i] * own[6 + j] -
				                  ( i == j ? 1.0 : 0.0 ) );
	}
}

void lmbFleshBody_PlaceBones( lmbFleshBody *body, const lmbFleshPose *pose, const lmbFleshFrame *frame )
{
	for ( int bone = 0; bone < body->model->info.boneCount; ++bone )
	{
		double matrix[12], linear[9], rotation[9], quaternion[4];
		for ( int e = 0; e < 12; ++e )
			matrix[e] = pose->bones[12 * (size_t)bone + e];
		for ( int i = 0; i < 3; ++i )
			memcpy( linear + 3 * i, matrix + 4 * i, 3 * sizeof( double ) );
		PolarRotation( linear, rotation );
		QuaternionOf( rotation, quaternion );
		lmbQuaternion_Normalize( quaternion );
		float *palette = body->palette + (size_t)bone * lmbBoneFloats;
		memcpy( palette, pose->bones + 12 * (size_t)bone, 12 * sizeof( float ) );
		for ( int i = 0; i < 4; ++i )
			palette[12 + i] = (float)quaternion[i];
		double *own = body->modelTurns + 9 * (size_t)bone;
		lmbQuaternion_ToMatrix( quaternion, own );
		TurnColumns( frame->rotation, own, 3, body->nextTurns + 9 * (size_t)bone );
		TurnColumns( frame->rotation, matrix, 4, body->nextBones + 12 * (size_t)bone );
	}
	if ( body->def.network )
		FillFeatures( body );
}

static void TurnInPlace( const double *turn, double *m, int columns )
{
	double turned[12];
	TurnColumns( turn, m, columns, turned );
	memcpy( m, turned, 3 * (size_t)columns * sizeof( double ) );
}

void lmbFleshBody_Turn( lmbFleshBody *body, const double *turn )
{
	lmbFleshClock *clock = body->clock;
	int boneCount = body->hasModes ? body->model->info.boneCount : 0;
	for ( int i = 0; i < 3 * boneCount; ++i )
		TurnInPlace( turn, body->bones + 12 * (size_t)i, 4 );
	for ( int i = 0; i < boneCount; ++i )
		TurnInPlace( turn, body->turns + 9 * (size_t)i, 3 );
	TurnInPlace( turn, clock->rotation, 3 );
	TurnInPlace( turn, clock->increments[0], 1 );
	TurnInPlace( turn, clock->increments[1], 1 );
	float single[9], turned[3 * lmbLanes];
	for ( int i = 0; i < 9; ++i )
		single[i] = (float)turn[i];
	int blocks = body->hasVertexSprings ? body->model->softBlockCount : 0;
	for ( int block = 0; block < blocks; ++block )
		for ( int plane = lmbPlaneU; plane < lmbPlaneQ; plane += 3 )
		{
			float *values = body->vertices + ( (size_t)block * lmbVertexPlanes + plane ) * lmbLanes;
			lmbKernel_Turn( single, values, turned );
			memcpy( values, turned, sizeof( turned ) );
		}
}
