#include "flesh/forcing.h"

#include "base/math3.h"
#include "flesh/skinning.h"
#include "runtime/target.h"

#include <cblas.h>

enum
{
	blockFrames = 8 /* frames projected on the modes at once */
};

lmbStatus lmbFrames_Make( const lmbSequence *sequence, int frameCount, lmbArena *arena, lmbFrames *frames,
                          lmbError *error )
{
	*frames =
	    ( lmbFrames ){ .frameCount = frameCount < sequence->frameCount ? frameCount : sequence->frameCount,
	                   .boneCount = sequence->boneCount,
	                   .nodeCount = sequence->nodeCount,
	                   .rate = sequence->rate,
	                   .bones = sequence->bones,
	                   .still = sequence->still,
	                   .moving = sequence->moving };
	size_t bones = (size_t)frames->boneCount;
	frames->quaternions = LMB_NEW( arena, double, 4 * bones * (size_t)frames->frameCount );
	if ( frames->quaternions == NULL )
		return lmbError_Memory( error );
	for ( size_t n = 0; n < (size_t)frames->frameCount; ++n )
		lmbSkin_BoneQuaternions( frames->boneCount, frames->bones + 12 * bones * n,
		                         frames->quaternions + 4 * bones * n );
	return lmb_statusOk;
}

/* The target operator at frame n of evenly spaced frames. */
static lmbTargetWeights FrameWeights( lmbTargetInterpolation interpolation, double rate, int n )
{
	double steps[3] = { 1.0 / rate, 1.0 / rate, 1.0 / rate };
	lmbTargetWeights weights;
	lmbTarget_Weights( interpolation, steps, n + 1, &weights );
	return weights;
}

typedef struct ModalTask
{
	const lmbTissue *tissue;
	const lmbModes *modes;
	lmbTargetInterpolation interpolation;
	const lmbFrames *frames;
	lmbModalRows *rows;
	int nodeCount;        /* nodes that modes move */
	const int32_t *nodes; /* (nodeCount) */
	int32_t *nodeBones;   /* (nodeCount x influenceCount) */
	double *nodeWeights;  /* (nodeCount x influenceCount) */
	double *projection;   /* (modeCount x nodeCount x 3) phi M */
} ModalTask;

static lmbStatus PackNodes( const lmbTissue *tissue, const lmbModes *modes, lmbArena *arena, ModalTask *task,
                            lmbError *error )
{
	size_t influences = (size_t)tissue->influenceCount, all = (size_t)tissue->nodeCount;
	int32_t *nodes = LMB_NEW( arena, int32_t, all );
	if ( nodes == NULL )
		return lmbError_Memory( error );
	int count = 0;
	for ( size_t i = 0; i < all; ++i )
	{
		bool moves = false;
		for ( size_t m = 0; m < (size_t)modes->count && !moves; ++m )
		{
			const double *phi = modes->shapes + 3 * ( all * m + i );
			moves = phi[0] != 0.0 || phi[1] != 0.0 || phi[2] != 0.0;
		}
		if ( moves )
			nodes[count++] = (int32_t)i;
	}
	size_t n = (size_t)count;
	task->nodeCount = count;
	task->nodes = nodes;
	task->nodeBones = LMB_NEW( arena, int32_t, n * influences );
	task->nodeWeights = LMB_NEW( arena, double, n *influences );
	task->projection = LMB_NEW( arena, double, 3 * n * (size_t)modes->count );
	if ( task->nodeBones == NULL || task->nodeWeights == NULL || task->projection == NULL )
		return lmbError_Memory( error );
	for ( size_t k = 0; k < n; ++k )
	{
		size_t i = (size_t)nodes[k];
		memcpy( task->nodeBones + k * influences, tissue->nodeBones + i * influences,
		        influences * sizeof( int32_t ) );
		memcpy( task->nodeWeights + k * influences, tissue->nodeWeights + i * influences,
		        influences * sizeof( double ) );
		for ( size_t m = 0; m < (size_t)modes->count; ++m )
			for ( int axis = 0; axis < 3; ++axis )
				task->projection[3 * ( n * m + k ) + axis] =
				    tissue->mass[i] * modes->shapes[3 * ( all * m + i ) + axis];
	}
	return lmb_statusOk;
}

/* sum_i row_i (y(n - i) - y(n)): the same as without y(n), but exact far from the origin. */
static void Accelerate( const double *row, const float *still, size_t stride, int known, double *out )
{
	for ( int axis = 0; axis < 3; ++axis )
	{
		double sum = 0.0;
		for ( int i = 1; i < known; ++i )
			sum += row[i] * ( (double)still[axis - (ptrdiff_t)( stride * (size_t)i )] - (double)still[axis] );
		out[axis] = sum;
	}
}

/* The three right-hand sides of frame n, in bind axes: (3 x nodeCount x 3). */
static void FillFrame( const ModalTask *task, int n, const double *before, const double *now, double *out )
{
	const lmbFrames *frames = task->frames;
	size_t stride = 3 * (size_t)frames->nodeCount, count = (size_t)task->nodeCount;
	int known = n + 1 < lmbTargetFrames ? n + 1 : lmbTargetFrames;
	lmbTargetWeights weights = FrameWeights( task->interpolation, frames->rate, n );
	const float *still = frames->still + stride * (size_t)n;
	const float *moving = frames->moving == NULL ? still : frames->moving + stride * (size_t)n;
	for ( size_t k = 0; k < count; ++k )
	{
		size_t place = 3 * (size_t)task->nodes[k];
		double start[3], end[3], offset[3];
		Accelerate( weights.start, still + place, stride, known, start );
		Accelerate( weights.end, still + place, stride, known, end );
		for ( int axis = 0; axis < 3; ++axis )
			offset[axis] = (double)moving[place + axis] - (double)still[place + axis];
		lmbMat33_ApplyTransposed( out + 3 * k, before + 9 * k, start );
		lmbMat33_ApplyTransposed( out + 3 * ( count + k ), now + 9 * k, end );
		lmbMat33_ApplyTransposed( out + 3 * ( 2 * count + k ), now + 9 * k, offset );
	}
}

static lmbStatus ModalBlock( void *context, int index, int worker, lmbError *error )
{
	(void)worker;
	const ModalTask *task = context;
	const lmbFrames *frames = task->frames;
	int first = index * blockFrames, modeCount = task->modes->count;
	int count = frames->frameCount - first < blockFrames ? frames->frameCount - first : blockFrames;
	size_t n = (size_t)task->nodeCount, bones = (size_t)frames->boneCount;
	lmbArena arena = { 0 };
	double *right = LMB_NEW( &arena, double, 9 * n * blockFrames );
	double *rotations = LMB_NEW( &arena, double, 18 * n );
	double *products = LMB_NEW( &arena, double, 3 * blockFrames * (size_t)modeCount );
	if ( right == NULL || rotations == NULL || products == NULL )
	{
		lmbArena_Free( &arena );
		return lmbError_Memory( error );
	}
	lmbWeights weights = { task->nodeCount, task->tissue->influenceCount, task->nodeBones,
	                       task->nodeWeights };
	double *before = rotations, *now = rotations + 9 * n;
	lmbSkin_Rotations( &weights, frames->quaternions + 4 * bones * (size_t)( first > 0 ? first - 1 : 0 ),
	                   before );
	for ( int i = 0; i < count; ++i )
	{
		lmbSkin_Rotations( &weights, frames->quaternions + 4 * bones * (size_t)( first + i ), now );
		FillFrame( task, first + i, before, now, right + 9 * n * (size_t)i );
		double *swap = before;
		before = now;
		now = swap;
	}
	cblas_dgemm( CblasRowMajor, CblasNoTrans, CblasTrans, 3 * count, modeCount, (int)( 3 * n ), 1.0, right,
	             (int)( 3 * n ), task->projection, (int)( 3 * n ), 0.0, products, modeCount );
	for ( int i = 0; i < count; ++i )
	{
		size_t row = (size_t)modeCount * (size_t)( first + i ), bytes = (size_t)modeCount * sizeof( double );
		const double *product = products + 3 * (size_t)i * (size_t)modeCount;
		memcpy( task->rows->start + row, product, bytes );
		memcpy( task->rows->end + row, product + modeCount, bytes );
		if ( task->rows->target != NULL && frames->moving != NULL )
			memcpy( task->rows->target + row, product + 2 * (size_t)modeCount, bytes );
	}
	lmbArena_Free( &arena );
	return lmb_statusOk;
}

lmbStatus lmbForcing_Modal( const lmbTissue *tissue, const lmbModes *modes,
                            lmbTargetInterpolation interpolation, const lmbFrames *frames, const lmbJob *job,
                            lmbModalRows *rows, lmbError *error )
{
	lmbArena arena = { 0 };
	ModalTask task = {
	    .tissue = tissue, .modes = modes, .interpolation = interpolation, .frames = frames, .rows = rows };
	lmbStatus status = PackNodes( tissue, modes, &arena, &task, error );
	int blocks = ( frames->frameCount + blockFrames - 1 ) / blockFrames;
	if ( status == lmb_statusOk )
		status = lmbJob_ForEach( job, blocks, ModalBlock, &task, error );
	lmbArena_Free( &arena );
	return status;
}

size_t lmbForcing_SkinScratch( const lmbFrames *frames, int count )
{
	return 3 * (size_t)count * ( (size_t)frames->frameCount + 1 );
}

static void EmbeddedPoint( const lmbTissue *tissue, size_t vertex, const float *nodes, double *out )
{
	const int32_t *tet = tissue->tets + 4 * (size_t)tissue->skinTets[vertex];
	for ( int axis = 0; axis < 3; ++axis )
	{
		double sum = 0.0;
		for ( int i = 0; i < 4; ++i )
			sum += tissue->skinWeights[4 * vertex + (size_t)i] * (double)nodes[3 * (size_t)tet[i] + axis];
		out[axis] = sum;
	}
}

/* Skin of the still nodes of frame n, as lmbTissue_Skin has it, (count x 3). */
static void StillSkin( const lmbCharacter *character, const lmbTissue *tissue, const lmbFrames *frames, int n,
                       const lmbSkinRows *rows, double *out )
{
	size_t first = (size_t)rows->first, influences = (size_t)character->influenceCount;
	lmbWeights weights = { rows->count, character->influenceCount,
	                       character->vertexBones + first * influences,
	                       character->weights + first * influences };
	lmbSkin_Points( &weights, frames->bones + 12 * (size_t)frames->boneCount * (size_t)n,
	                character->bind + 3 * first, out );
	const float *still = frames->still + 3 * (size_t)frames->nodeCount * (size_t)n;
	for ( size_t i = 0; i < (size_t)rows->count; ++i )
	{
		double embedded[3], softness = tissue->softness[first + i];
		EmbeddedPoint( tissue, first + i, still, embedded );
		for ( int axis = 0; axis < 3; ++axis )
			out[3 * i + axis] = ( 1.0 - softness ) * out[3 * i + axis] + softness * embedded[axis];
	}
}

static void SkinOffset( const lmbTissue *tissue, const lmbFrames *frames, int n, lmbSkinRows *rows )
{
	size_t nodes = 3 * (size_t)frames->nodeCount * (size_t)n;
	for ( size_t i = 0; i < (size_t)rows->count; ++i )
	{
		size_t vertex = (size_t)rows->first + i;
		double moving[3], still[3];
		EmbeddedPoint( tissue, vertex, frames->moving + nodes, moving );
		EmbeddedPoint( tissue, vertex, frames->still + nodes, still );
		double *out = rows->offset + 3 * ( i * rows->frameStride + (size_t)n );
		for ( int axis = 0; axis < 3; ++axis )
			out[axis] = tissue->softness[vertex] * ( moving[axis] - still[axis] );
	}
}

void lmbForcing_Skin( const lmbCharacter *character, const lmbTissue *tissue,
                      lmbTargetInterpolation interpolation, const lmbFrames *frames, double *scratch,
                      lmbSkinRows *rows )
{
	size_t width = 3 * (size_t)rows->count, first = (size_t)rows->first;
	size_t influences = (size_t)character->influenceCount;
	lmbWeights weights = { rows->count, character->influenceCount,
	                       character->vertexBones + first * influences,
	                       character->weights + first * influences };
	for ( int n = 0; n < frames->frameCount; ++n )
	{
		double *now = scratch + width * (size_t)n;
		StillSkin( character, tissue, frames, n, rows, now );
		if ( rows->rotations != NULL )
			lmbSkin_Rotations( &weights, frames->quaternions + 4 * (size_t)frames->boneCount * (size_t)n,
			                   rows->rotations + 3 * width * (size_t)n );
		if ( rows->offset != NULL )
			SkinOffset( tissue, frames, n, rows );
		lmbTargetWeights target = FrameWeights( interpolation, frames->rate, n );
		for ( size_t c = 0; c < width; ++c )
		{
			double start = 0.0, end = 0.0;
			for ( int i = 1; i < lmbTargetFrames && i <= n; ++i )
			{
				double place = now[c - width * (size_t)i] - now[c];
				start += target.start[i] * place;
				end += target.end[i] * place;
			}
			size_t out = 3 * ( c / 3 * rows->frameStride + (size_t)n ) + c % 3;
			rows->start[out] = start;
			rows->end[out] = end;
		}
	}
}

size_t lmbForcing_CarryScratch( const lmbFrames *frames, int count, int modeCount )
{
	return 3 * (size_t)count * ( (size_t)frames->frameCount + (size_t)modeCount );
}

void lmbForcing_Carry( const double *shapes, int modeCount, int vertexCount, const double *values, int delay,
                       double scale, const lmbFrames *frames, const lmbSkinRows *rows, double *scratch,
                       double *out )
{
	size_t width = 3 * (size_t)rows->count;
	double *packed = scratch, *local = scratch + width * (size_t)modeCount;
	for ( size_t m = 0; m < (size_t)modeCount; ++m )
		memcpy( packed + width * m, shapes + 3 * ( (size_t)vertexCount * m + (size_t)rows->first ),
		        width * sizeof( double ) );
	cblas_dgemm( CblasRowMajor, CblasNoTrans, CblasNoTrans, frames->frameCount, (int)width, modeCount, scale,
	             values, modeCount, packed, (int)width, 0.0, local, (int)width );
	for ( int n = delay; n < frames->frameCount; ++n )
		for ( size_t i = 0; i < (size_t)rows->count; ++i )
		{
			double turned[3], *place = out + 3 * ( i * rows->frameStride + (size_t)n );
			lmbMat33_Apply( turned, rows->rotations + 9 * ( (size_t)rows->count * (size_t)( n - delay ) + i ),
			                local + width * (size_t)n + 3 * i );
			lmbAddScaled( place, place, 1.0, turned );
		}
}
