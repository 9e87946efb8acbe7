#include "flesh_body.h"

#include <string.h>

typedef float Vectors[3 * lmbLanes]; /* x of every lane, then y, then z */

/* One block while it is worked on. */
typedef struct Work
{
	Vectors skinned; /* LBS of the rest shape, model space */
	float quaternions[4 * lmbLanes];
	Vectors modes;      /* sum of the modes, bind axes */
	Vectors start, end; /* the modes' forcing, bind axes; then the springs' */
	Vectors turned, other;
	Vectors moved; /* by the springs, model space */
} Work;

lmbSkin lmbFleshBody_Skin( const lmbFleshBody *body, int block )
{
	const lmbFlesh *model = body->model;
	size_t first = (size_t)model->blockBones[block] * lmbLanes;
	return ( lmbSkin ){ .palette = body->palette,
	                    .bones = model->bones + first,
	                    .weights = model->weights + first,
	                    .used = model->blockBones[block + 1] - model->blockBones[block],
	                    .tiles = model->tiles + (size_t)block * ( lmbLanes / lmbTile ),
	                    .rest = model->rest + (size_t)block * 3 * lmbLanes };
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

static lmbColumns GetColumns( const lmbFileColumns *columns, int block )
{
	size_t first = (size_t)columns->blocks[block];
	return ( lmbColumns ){ .count = columns->blocks[block + 1] - columns->blocks[block],
	                       .amount = columns->amount + first,
	                       .scales = columns->scales + first,
	                       .entries = columns->entries + first * 3 * lmbLanes };
}

/* B z of a block, bind axes. */
static const float *SumNetwork( const lmbFleshBody *body, int block, Work *work )
{
	const lmbFileColumns *columns = &body->model->networkColumns;
	if ( columns->blocks == NULL )
		return body->still + (size_t)block * 3 * lmbLanes;
	lmbColumns own = GetColumns( columns, block );
	const float *amounts = body->amplitudes;
	float *out = work->other;
	body->kernels->columns( &own, 1, &amounts, &out );
	return out;
}

static void SumModes( const lmbFleshBody *body, int block, bool forcing, Work *work )
{
	int count = body->model->info.modeCount;
	const float *amounts[3] = { body->modeAmounts[0], body->modeAmounts[1], body->modeAmounts[2] };
	float *out[3] = { work->modes, work->start, work->end };
	if ( body->model->modeColumns.blocks != NULL )
	{
		lmbColumns columns = GetColumns( &body->model->modeColumns, block );
		body->kernels->columns( &columns, forcing ? 3 : 1, amounts, out );
		return;
	}
	const float *shapes = body->model->shapes + (size_t)block * 3 * lmbLanes * (size_t)count;
	body->kernels->shapes( count, shapes, forcing ? 3 : 1, amounts, out );
}

/* What the target's motion makes of its past, less what the modes take of it (start and end hold that, in
 * world axes; zeros without modes), left in start and end. */
static void Drive( const lmbFleshBody *body, const lmbFleshFrame *frame, const float *place, float *state,
                   Work *work )
{
	for ( int axis = 0; axis < 3; ++axis )
	{
		lmbDrive drive = { .startOrigin = (float)frame->startOrigin[axis],
		                   .endOrigin = (float)frame->endOrigin[axis] };
		for ( int i = 0; i < 3; ++i )
		{
			drive.start[i] = (float)frame->startWeights[i];
			drive.end[i] = (float)frame->endWeights[i];
		}
		size_t at = (size_t)axis * lmbLanes;
		body->kernels->drive( &drive, place + at, state + lmbPlaneY * lmbLanes + at,
		                      state + lmbPlaneE1 * lmbLanes + at, state + lmbPlaneE2 * lmbLanes + at,
		                      work->start + at, work->end + at );
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
static void TurnForcing( const lmbKernels *kernels, const float *lastRotation, const float *rotation,
                         const float *lastQuaternions, Work *work )
{
	kernels->rotate( lastQuaternions, work->start, work->other );
	kernels->turn( lastRotation, work->other, work->start );
	kernels->rotate( work->quaternions, work->end, work->other );
	kernels->turn( rotation, work->other, work->end );
}

/* Steps the block's springs towards the still shape in work->skinned, and adds their displacement to it. */
static void StepSprings( lmbFleshBody *body, int block, const lmbFleshFrame *frame, const lmbFleshMaps *maps,
                         Work *work )
{
	const lmbKernels *kernels = body->kernels;
	float *state = body->vertices + (size_t)block * lmbVertexPlanes * lmbLanes;
	float *u = state + lmbPlaneU * lmbLanes, *v = state + lmbPlaneV * lmbLanes;
	float rotation[9], lastRotation[9], back[9];
	Vectors place;
	ToFloats( frame->rotation, false, rotation );
	ToFloats( frame->rotation, true, back );
	ToFloats( body->clock->rotation, false, lastRotation );
	kernels->turn( rotation, work->skinned, place );
	if ( lmbFleshFrame_Moves( frame ) )
	{
		if ( body->hasModes )
			TurnForcing( kernels, lastRotation, rotation, state + lmbPlaneQ * lmbLanes, work );
		Drive( body, frame, place, state, work );
		lmbSpringBlock springs = { .map = maps->vertices + (size_t)block * lmbSpringPlanes * lmbLanes,
		                           .u = u,
		                           .v = v,
		                           .start = work->start,
		                           .end = work->end };
		kernels->springs( &springs, body->def.interpolation == lmb_targetLinear );
	}
	else
		memcpy( state + lmbPlaneY * lmbLanes, place, sizeof( place ) );
	memcpy( state + lmbPlaneQ * lmbLanes, work->quaternions, 4 * lmbLanes * sizeof( float ) );
	kernels->turn( back, u, work->moved );
}

static void SoftBlock( lmbFleshBody *body, int block, const lmbFleshFrame *frame, const lmbFleshMaps *maps,
                       Work *work )
{
	const lmbKernels *kernels = body->kernels;
	const float *quaternions = work->quaternions;
	lmbSkin skin = lmbFleshBody_Skin( body, block );
	kernels->skin( &skin, work->skinned, work->quaternions );
	if ( body->def.network )
	{
		kernels->rotate( quaternions, SumNetwork( body, block, work ), work->turned );
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
	if ( body->hasModes && body->hasVertexSprings )
	{
		kernels->rotate( quaternions, work->modes, work->turned );
		Add( work->moved, work->turned );
	}
	else if ( body->hasModes )
		kernels->rotate( quaternions, work->modes, work->moved );
	if ( body->directed && ( body->hasModes || body->hasVertexSprings ) )
		kernels->direct( work->moved, body->gains + (size_t)block * lmbLanes, body->perLimit, work->skinned );
	else if ( body->hasModes || body->hasVertexSprings )
		Add( work->skinned, work->moved );
	Scatter( body, block, work->skinned );
}

void lmbFleshBody_StepBlock( lmbFleshBody *body, int block, const lmbFleshFrame *frame,
                             const lmbFleshMaps *maps )
{
	if ( block < body->model->softBlockCount )
	{
		Work work;
		SoftBlock( body, block, frame, maps, &work );
		return;
	}
	lmbSkin skin = lmbFleshBody_Skin( body, block );
	body->kernels->skinRigid( &skin, body->model->order + (size_t)block * lmbLanes, body->positions );
}
