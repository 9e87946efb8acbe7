/* The reference run of fitted springs on a sequence, full form. */
#include "flesh/fit.h"

#include "flesh/fit_private.h"
#include "flesh/network.h"
#include "flesh/stiffness.h"
#include <cblas.h>
#include <stdlib.h>
#include <string.h>

enum
{
	chunkVertices = 64
};

typedef struct Replay
{
	lmbArena arena;
	const lmbCharacter *character;
	const lmbTissue *tissue;
	const lmbSprings *springs;
	lmbSpringLayer layer;
	lmbTargetInterpolation interpolation;
	lmbFrames frames;
	lmbSegment segment;
	lmbModalRows modal; /* (frameCount x modeCount) */
	double *place;      /* (frameCount x modeCount) of the modes' springs */
} Replay;

static lmbStatus CheckReplay( const Replay *replay, const lmbModes *modes, const lmbSequence *sequence,
                              lmbError *error )
{
	const lmbSprings *springs = replay->springs;
	const lmbTissue *tissue = replay->tissue;
	bool has = replay->layer == lmb_springsVertex          ? springs->vertexStiffness != NULL
	           : replay->layer == lmb_springsModalUnfitted ? springs->modeStiffnessUnfitted != NULL
	           : replay->layer == lmb_springsModal         ? springs->modeStiffness != NULL
	                                                       : springs->remainderStiffness != NULL;
	if ( !has )
		return lmbError_Set( error, lmb_statusNotFound,
		                     "replay: these springs have no such layer; fit it first" );
	bool same = springs->vertexCount == tissue->vertexCount &&
	            replay->character->vertexCount == tissue->vertexCount &&
	            replay->character->boneCount == tissue->boneCount &&
	            sequence->boneCount == tissue->boneCount && sequence->nodeCount == tissue->nodeCount;
	if ( same && springs->stiffnessWeights != NULL )
		same = springs->featureCount == lmbNetwork_FeatureOffsets( replay->character, NULL );
	if ( same && replay->layer != lmb_springsVertex )
		same = modes != NULL && modes->count == springs->modeCount && modes->nodeCount == tissue->nodeCount;
	if ( !same )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "replay: character, tissue, modes, springs and motion \"%s\" do not belong "
		                     "together; make the stages again",
		                     sequence->name );
	return lmb_statusOk;
}

static lmbSpringRecord Record( const Replay *replay, int dimension, const double *start, const double *end )
{
	return ( lmbSpringRecord ){ .dimension = dimension,
	                            .segmentCount = 1,
	                            .frameCount = replay->frames.frameCount,
	                            .segments = &replay->segment,
	                            .interpolation = replay->interpolation,
	                            .start = start,
	                            .end = end };
}

lmbStatus lmbFit_LogRatios( const lmbCharacter *character, const lmbSprings *springs, const lmbFrames *frames,
                            double *out, size_t stride, lmbError *error )
{
	size_t modes = (size_t)springs->modeCount;
	double *features = malloc( ( (size_t)springs->featureCount + modes ) * sizeof( double ) );
	if ( features == NULL )
		return lmbError_Memory( error );
	double *logs = features + springs->featureCount;
	for ( size_t n = 0; n < (size_t)frames->frameCount; ++n )
	{
		lmbNetwork_Features( character, frames->bones + n * 12 * (size_t)frames->boneCount, features );
		lmbStiffness_Evaluate( springs->modeCount, springs->featureCount, springs->stiffnessWeights,
		                       springs->stiffnessRange, features, logs );
		for ( size_t m = 0; m < modes; ++m )
			out[stride * m + n] = logs[m];
	}
	free( features );
	return lmb_statusOk;
}

static lmbStatus RunModes( Replay *replay, const lmbModes *modes, lmbError *error )
{
	size_t frames = (size_t)replay->frames.frameCount, count = (size_t)modes->count;
	const lmbSprings *springs = replay->springs;
	bool unfitted = replay->layer == lmb_springsModalUnfitted;
	const double *stiffness = unfitted ? springs->modeStiffnessUnfitted : springs->modeStiffness;
	const double *damping = unfitted ? springs->modeDampingUnfitted : springs->modeDamping;
	replay->modal.start = LMB_NEW( &replay->arena, double, frames *count );
	replay->modal.end = LMB_NEW( &replay->arena, double, frames *count );
	replay->place = LMB_NEW( &replay->arena, double, frames *count );
	double *rows = LMB_NEW( &replay->arena, double, 3 * frames );
	if ( replay->modal.start == NULL || replay->modal.end == NULL || replay->place == NULL || rows == NULL )
		return lmbError_Memory( error );
	LMB_TRY( lmbForcing_Modal( replay->tissue, modes, replay->interpolation, &replay->frames, NULL,
	                           &replay->modal, error ) );
	double *ratios = NULL;
	if ( springs->stiffnessWeights != NULL )
	{
		ratios = LMB_NEW( &replay->arena, double, frames *count );
		if ( ratios == NULL )
			return lmbError_Memory( error );
		LMB_TRY( lmbFit_LogRatios( replay->character, springs, &replay->frames, ratios, frames, error ) );
	}
	lmbSpringRecord record = Record( replay, 1, rows, rows + frames );
	for ( size_t m = 0; m < count; ++m )
	{
		for ( size_t n = 0; n < frames; ++n )
		{
			rows[n] = replay->modal.start[count * n + m];
			rows[frames + n] = replay->modal.end[count * n + m];
		}
		record.logRatios = ratios == NULL ? NULL : ratios + frames * m;
		lmbSpring_Run( &record, stiffness[m], damping[m], rows + 2 * frames );
		for ( size_t n = 0; n < frames; ++n )
			replay->place[count * n + m] = rows[2 * frames + n];
	}
	return lmb_statusOk;
}

typedef struct Buffers
{
	double *start, *end, *rotations, *out, *sum, *scratch;
} Buffers;

static lmbStatus MakeBuffers( Replay *replay, Buffers *buffers, lmbError *error )
{
	size_t frames = (size_t)replay->frames.frameCount, values = 3 * chunkVertices * frames;
	size_t scratch = lmbForcing_SkinScratch( &replay->frames, chunkVertices );
	size_t carry = lmbForcing_CarryScratch( &replay->frames, chunkVertices, replay->springs->modeCount );
	lmbArena *arena = &replay->arena;
	*buffers = ( Buffers ){
	    LMB_NEW( arena, double, values ),     LMB_NEW( arena, double, values ),
	    LMB_NEW( arena, double, 3 * values ), LMB_NEW( arena, double, 3 * frames ),
	    LMB_NEW( arena, double, values ),     LMB_NEW( arena, double, carry > scratch ? carry : scratch ) };
	if ( buffers->start == NULL || buffers->end == NULL || buffers->rotations == NULL ||
	     buffers->out == NULL || buffers->sum == NULL || buffers->scratch == NULL )
		return lmbError_Memory( error );
	return lmb_statusOk;
}

/* Displacements of a chunk's vertices into buffers->sum, vertex by vertex. */
static void RunChunk( const Replay *replay, int first, int count, Buffers *buffers )
{
	const lmbSprings *springs = replay->springs;
	const lmbFrames *frames = &replay->frames;
	size_t width = 3 * (size_t)frames->frameCount;
	bool hybrid = replay->layer == lmb_springsHybrid, vertex = replay->layer == lmb_springsVertex;
	lmbSkinRows rows = { first,        count, (size_t)frames->frameCount,        buffers->start,
	                     buffers->end, NULL,  vertex ? NULL : buffers->rotations };
	lmbForcing_Skin( replay->character, replay->tissue, replay->interpolation, frames, buffers->scratch,
	                 &rows );
	memset( buffers->sum, 0, (size_t)count * width * sizeof( double ) );
	if ( !vertex )
		lmbForcing_Carry( springs->skinShapes, springs->modeCount, springs->vertexCount, replay->place, 0,
		                  1.0, frames, &rows, buffers->scratch, buffers->sum );
	if ( !vertex && !hybrid )
		return;
	const double *values[2] = { replay->modal.start, replay->modal.end };
	double *outs[2] = { buffers->start, buffers->end };
	for ( int i = 0; i < 2 && hybrid; ++i )
		lmbForcing_Carry( springs->skinShapes, springs->modeCount, springs->vertexCount, values[i], 1 - i,
		                  -1.0, frames, &rows, buffers->scratch, outs[i] );
	const double *stiffness = hybrid ? springs->remainderStiffness : springs->vertexStiffness;
	const double *damping = hybrid ? springs->remainderDamping : springs->vertexDamping;
	for ( int i = 0; i < count; ++i )
	{
		size_t at = width * (size_t)i;
		lmbSpringRecord record = Record( replay, 3, buffers->start + at, buffers->end + at );
		lmbSpring_Run( &record, stiffness[first + i], damping[first + i], buffers->out );
		for ( size_t e = 0; e < width; ++e )
			buffers->sum[at + e] += buffers->out[e];
	}
}

static lmbStatus RunReplay( Replay *replay, const lmbModes *modes, float *out, lmbError *error )
{
	if ( replay->layer != lmb_springsVertex )
		LMB_TRY( RunModes( replay, modes, error ) );
	Buffers buffers;
	LMB_TRY( MakeBuffers( replay, &buffers, error ) );
	size_t frames = (size_t)replay->frames.frameCount, vertices = (size_t)replay->springs->vertexCount;
	for ( int first = 0; first < (int)vertices; first += chunkVertices )
	{
		int count = (int)vertices - first < chunkVertices ? (int)vertices - first : chunkVertices;
		RunChunk( replay, first, count, &buffers );
		for ( size_t i = 0; i < (size_t)count; ++i )
			for ( size_t n = 0; n < frames; ++n )
				for ( size_t axis = 0; axis < 3; ++axis )
					out[3 * ( vertices * n + (size_t)first + i ) + axis] =
					    (float)buffers.sum[3 * ( frames * i + n ) + axis];
	}
	return lmb_statusOk;
}

lmbStatus lmbSprings_Replay( const lmbCharacter *character, const lmbTissue *tissue, const lmbModes *modes,
                             const lmbSprings *springs, lmbSpringLayer layer,
                             lmbTargetInterpolation interpolation, const lmbSequence *sequence, float *out,
                             lmbError *error )
{
	openblas_set_num_threads( 1 );
	Replay replay = { .character = character,
	                  .tissue = tissue,
	                  .springs = springs,
	                  .layer = layer,
	                  .interpolation = interpolation,
	                  .segment = { 0, sequence->frameCount, 1.0 / sequence->rate, 1.0 } };
	lmbStatus status = CheckReplay( &replay, modes, sequence, error );
	if ( status == lmb_statusOk )
		status = lmbFrames_Make( sequence, sequence->frameCount, &replay.arena, &replay.frames, error );
	if ( status == lmb_statusOk )
		status = RunReplay( &replay, modes, out, error );
	lmbArena_Free( &replay.arena );
	return status;
}
