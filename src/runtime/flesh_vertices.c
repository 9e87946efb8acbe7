#include "flesh_body.h"

#include <math.h>
#include <string.h>

typedef float Vectors[3 * lmbLanes]; /* x of every lane, then y, then z */

/* One block while it is worked on. */
typedef struct Work
{
	lmbBlend blend;
	Vectors skinned;    /* LBS of the rest shape, model space */
	Vectors modes;      /* sum of the modes, bind axes */
	Vectors start, end; /* the modes' forcing, bind axes; then the springs' */
	Vectors turned, other;
} Work;

static void Skin( const lmbFleshBody *body, int block, Work *work )
{
	const lmbFlesh *model = body->model;
	size_t first = (size_t)block * lmbLanes * (size_t)model->influenceCount;
	lmbKernel_Blend( body->palette, model->bones + first, model->weights + first, model->influenceCount,
	                 model->blockUse[block], &work->blend );
	lmbKernel_Points( &work->blend, model->rest + (size_t)block * 3 * lmbLanes, work->skinned );
}

static void Scatter( lmbFleshBody *body, int block, const float *from )
{
	const int32_t *order = body->model->order + (size_t)block * lmbLanes;
	for ( int l = 0; l < lmbLanes; ++l )
	{
		if ( order[l] < 0 )
			continue;
		float *to = body->positions + 3 * (size_t)order[l];
		to[0] = from[l];
		to[1] = from[lmbLanes + l];
		to[2] = from[2 * lmbLanes + l];
	}
}

static void Add( float *restrict sum, const float *restrict more )
{
	for ( int i = 0; i < 3 * lmbLanes; ++i )
		sum[i] += more[i];
}

static void SumModes( const lmbFleshBody *body, int block, bool forcing, Work *work )
{
	int count = body->model->info.modeCount;
	const float *shapes = body->model->shapes + (size_t)block * 3 * lmbLanes * (size_t)count;
	const float *amounts[3] = { body->modeAmounts[0], body->modeAmounts[1], body->modeAmounts[2] };
	for ( int at = 0; at < 3 * lmbLanes; at += lmbTile, shapes += (size_t)count * lmbTile )
	{
		float *out[3] = { work->modes + at, work->start + at, work->end + at };
		if ( forcing )
			lmbKernel_Shapes3( count, shapes, amounts, out );
		else
			lmbKernel_Shapes( count, shapes, amounts[0], out[0] );
	}
}

/* What the target's motion makes of its past, less what the modes take of it (start and end hold that, in
 * world axes; zeros without modes), left in start and end. */
static void Drive( const lmbFleshFrame *frame, const float *restrict place, float *restrict state,
                   Work *work )
{
	for ( int axis = 0; axis < 3; ++axis )
	{
		const float *next = place + axis * lmbLanes;
		float *last = state + ( lmbPlaneY + axis ) * lmbLanes;
		float *e1 = state + ( lmbPlaneE1 + axis ) * lmbLanes, *e2 = state + ( lmbPlaneE2 + axis ) * lmbLanes;
		float *start = work->start + axis * lmbLanes, *end = work->end + axis * lmbLanes;
		float s0 = (float)frame->startWeights[0], s1 = (float)frame->startWeights[1],
		      s2 = (float)frame->startWeights[2], so = (float)frame->startOrigin[axis];
		float t0 = (float)frame->endWeights[0], t1 = (float)frame->endWeights[1],
		      t2 = (float)frame->endWeights[2], to = (float)frame->endOrigin[axis];
		for ( int l = 0; l < lmbLanes; ++l )
		{
			float e0 = next[l] - last[l];
			start[l] = ( s0 * e0 + s1 * e1[l] + s2 * e2[l] + so ) - start[l];
			end[l] = ( t0 * e0 + t1 * e1[l] + t2 * e2[l] + to ) - end[l];
			e2[l] = e1[l];
			e1[l] = e0;
			last[l] = next[l];
		}
	}
}

/* Springs that numbers at the edge of their range have thrown out of it come to rest. */
static void Guard( float *restrict u, float *restrict v )
{
	for ( int i = 0; i < 3 * lmbLanes; ++i )
	{
		bool sound = ( fabsf( u[i] ) < 1e15f ) & ( fabsf( v[i] ) < 1e30f );
		u[i] = sound ? u[i] : 0.0f;
		v[i] = sound ? v[i] : 0.0f;
	}
}

static void ToFloats( const double *m, bool transpose, float *out )
{
	for ( int i = 0; i < 3; ++i )
		for ( int j = 0; j < 3; ++j )
			out[3 * i + j] = (float)m[transpose ? 3 * j + i : 3 * i + j];
}

/* The modes' forcing turned from bind axes into the world's: as the skin lay at the step's start, and as it
 * lies at its end. */
static void TurnForcing( const float *lastRotation, const float *rotation, const float *lastQuaternions,
                         Work *work )
{
	lmbKernel_Rotate( lastQuaternions, work->start, work->other );
	lmbKernel_Turn( lastRotation, work->other, work->start );
	lmbKernel_Rotate( work->blend.entry[12], work->end, work->other );
	lmbKernel_Turn( rotation, work->other, work->end );
}

/* Steps the block's springs towards the still shape in work->skinned, and adds their displacement to it. */
static void StepSprings( lmbFleshBody *body, int block, const lmbFleshFrame *frame, const lmbFleshMaps *maps,
                         Work *work )
{
	float *state = body->vertices + (size_t)block * lmbVertexPlanes * lmbLanes;
	float *u = state + lmbPlaneU * lmbLanes, *v = state + lmbPlaneV * lmbLanes;
	float rotation[9], lastRotation[9], back[9];
	Vectors place;
	ToFloats( frame->rotation, false, rotation );
	ToFloats( frame->rotation, true, back );
	ToFloats( body->clock->rotation, false, lastRotation );
	lmbKernel_Turn( rotation, work->skinned, place );
	if ( lmbFleshFrame_Moves( frame ) )
	{
		if ( body->hasModes )
			TurnForcing( lastRotation, rotation, state + lmbPlaneQ * lmbLanes, work );
		Drive( frame, place, state, work );
		lmbSpringStep step = { .count = lmbLanes,
		                       .dimension = 3,
		                       .coefficients = maps->vertices + (size_t)block * lmbSpringPlanes * lmbLanes,
		                       .coefficientStride = lmbLanes,
		                       .u = u,
		                       .v = v,
		                       .a0 = work->start,
		                       .a1 = work->end,
		                       .stride = lmbLanes };
		if ( body->def.interpolation == lmb_targetLinear )
			lmbSprings_StepJump( &step );
		else
			lmbSprings_Step( &step );
		Guard( u, v );
	}
	else
		memcpy( state + lmbPlaneY * lmbLanes, place, sizeof( place ) );
	memcpy( state + lmbPlaneQ * lmbLanes, work->blend.entry[12], 4 * lmbLanes * sizeof( float ) );
	lmbKernel_Turn( back, u, place );
	Add( work->skinned, place );
}

static void SoftBlock( lmbFleshBody *body, int block, const lmbFleshFrame *frame, const lmbFleshMaps *maps,
                       Work *work )
{
	Skin( body, block, work );
	lmbKernel_Normalize( &work->blend );
	const float *quaternions = work->blend.entry[12];
	if ( body->def.network )
	{
		lmbKernel_Rotate( quaternions, body->still + (size_t)block * 3 * lmbLanes, work->turned );
		Add( work->skinned, work->turned );
	}
	if ( body->hasModes )
		SumModes( body, block, body->hasVertexSprings && lmbFleshFrame_Moves( frame ), work );
	else
	{
		memset( work->start, 0, sizeof( work->start ) );
		memset( work->end, 0, sizeof( work->end ) );
	}
	if ( body->hasVertexSprings )
		StepSprings( body, block, frame, maps, work );
	if ( body->hasModes )
	{
		lmbKernel_Rotate( quaternions, work->modes, work->turned );
		Add( work->skinned, work->turned );
	}
	Scatter( body, block, work->skinned );
}

void lmbFleshBody_StepVertices( lmbFleshBody *body, const lmbFleshFrame *frame, const lmbFleshMaps *maps )
{
	Work work;
	for ( int block = 0; block < body->model->softBlockCount; ++block )
		SoftBlock( body, block, frame, maps, &work );
	for ( int block = body->model->softBlockCount; block < body->model->blockCount; ++block )
	{
		Skin( body, block, &work );
		Scatter( body, block, work.skinned );
	}
}
