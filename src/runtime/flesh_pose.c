#include "flesh_body.h"

#include "rotation.h"

#include <string.h>

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
		double matrix[12], linear[9], quaternion[4];
		for ( int e = 0; e < 12; ++e )
			matrix[e] = pose->bones[12 * (size_t)bone + e];
		for ( int i = 0; i < 3; ++i )
			memcpy( linear + 3 * i, matrix + 4 * i, 3 * sizeof( double ) );
		lmbQuaternion_Nearest( linear, quaternion );
		float *palette = body->palette + (size_t)bone * lmbBoneFloats;
		for ( int column = 0; column < 4; ++column )
		{
			for ( int row = 0; row < 3; ++row )
				palette[4 * column + row] = pose->bones[12 * (size_t)bone + 4 * row + column];
			palette[4 * column + 3] = (float)quaternion[column];
			for ( int copy = 0; copy < 4; ++copy )
				palette[lmbBoneQuaternion + 4 * copy + column] = (float)quaternion[column];
		}
		double *own = body->modelTurns + 9 * (size_t)bone;
		lmbQuaternion_ToMatrix( quaternion, own );
		TurnColumns( frame->rotation, own, 3, body->nextTurns + 9 * (size_t)bone );
		TurnColumns( frame->rotation, matrix, 4, body->nextBones + 12 * (size_t)bone );
	}
	if ( body->def.network || body->followsPose )
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
			body->kernels->turn( single, values, turned );
			memcpy( values, turned, sizeof( turned ) );
		}
}
