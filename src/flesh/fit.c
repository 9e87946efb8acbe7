#include "flesh/fit.h"

#include "base/math3.h"
#include "flesh/fit_private.h"
#include "flesh/stiffness.h"

#include <cblas.h>
#include <stdlib.h>

enum
{
	chunkVertices = 16, /* of one task: their rows stay in cache */
	batchChunks = 64    /* between two reports of progress */
};

lmbFitDef lmbDefaultFitDef( void )
{
	lmbFitDef def = { .interpolation = lmb_targetCubic,
	                  .optimizer = lmb_optimizerLevenbergMarquardt,
	                  .dropShare = 0.1,
	                  .useSeconds = 0.0,
	                  .poseStiffness = true,
	                  .dampingMass = 0.0,
	                  .dampingStiffness = 0.004 };
	return def;
}

static const double twoPi = 6.283185307179586;

static lmbSpringPoint PointOf( double stiffness, double damping )
{
	return ( lmbSpringPoint ){ log( stiffness ), log( damping ) };
}

static lmbSpringPoint FrequencyPoint( double hertz, double ratio )
{
	double omega = twoPi * hertz;
	return PointOf( omega * omega, 2.0 * ratio * omega );
}

static lmbStatus CheckDef( const lmbFitDef *def, lmbError *error )
{
	if ( !( def->dropShare >= 0.0 && def->dropShare <= 0.5 ) )
		return lmbError_Set( error, lmb_statusInvalidArgument, "fit: dropShare %g must lie in [0, 0.5]",
		                     def->dropShare );
	if ( !( def->useSeconds >= 0.0 ) || !( def->dampingMass >= 0.0 ) || !( def->dampingStiffness >= 0.0 ) )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "fit: useSeconds, dampingMass and dampingStiffness must be 0 or more" );
	return lmb_statusOk;
}

static lmbStatus CheckInputs( const lmbCharacter *character, const lmbTissue *tissue, const lmbModes *modes,
                              const lmbNetwork *network, const lmbDataset *dataset, lmbError *error )
{
	const char *again = "make the stages again from the same character and tissue";
	if ( character->vertexCount != tissue->vertexCount || character->boneCount != tissue->boneCount )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "fit: the tissue has %d vertices and %d bones, the character %d and %d; %s",
		                     tissue->vertexCount, tissue->boneCount, character->vertexCount,
		                     character->boneCount, again );
	if ( modes != NULL && modes->nodeCount != tissue->nodeCount )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "fit: the modes have %d nodes, the tissue %d; %s", modes->nodeCount,
		                     tissue->nodeCount, again );
	if ( network != NULL && network->lattice != NULL && network->nodeCount != tissue->nodeCount )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "fit: the network's lattice has %d nodes, the tissue %d; %s", network->nodeCount,
		                     tissue->nodeCount, again );
	for ( int s = 0; dataset != NULL && s < dataset->sequenceCount; ++s )
	{
		const lmbSequence *sequence = &dataset->sequences[s];
		if ( sequence->nodeCount != tissue->nodeCount || sequence->boneCount != tissue->boneCount )
			return lmbError_Set( error, lmb_statusInvalidArgument,
			                     "fit: motion \"%s\" has %d nodes and %d bones, the tissue %d and %d; %s",
			                     sequence->name, sequence->nodeCount, sequence->boneCount, tissue->nodeCount,
			                     tissue->boneCount, again );
		if ( !( sequence->rate > 0.0 ) )
			return lmbError_Set( error, lmb_statusInvalidArgument, "fit: motion \"%s\" has frame rate %g",
			                     sequence->name, sequence->rate );
	}
	return lmb_statusOk;
}

/* Modes at the skin, in bind axes: the embedded displacement, as far as the skin follows the tissue. */
static lmbStatus MakeSkinShapes( const lmbTissue *tissue, const lmbModes *modes, lmbSprings *springs,
                                 lmbError *error )
{
	size_t vertices = (size_t)tissue->vertexCount, nodes = (size_t)tissue->nodeCount;
	springs->skinShapes = LMB_NEW( &springs->arena, double, 3 * vertices * (size_t)modes->count );
	if ( springs->skinShapes == NULL )
		return lmbError_Memory( error );
	for ( size_t m = 0; m < (size_t)modes->count; ++m )
		for ( size_t v = 0; v < vertices; ++v )
		{
			double *out = springs->skinShapes + 3 * ( vertices * m + v );
			const int32_t *tet = tissue->tets + 4 * (size_t)tissue->skinTets[v];
			for ( int i = 0; i < 4; ++i )
				lmbAddScaled( out, out, tissue->softness[v] * tissue->skinWeights[4 * v + (size_t)i],
				              modes->shapes + 3 * ( nodes * m + (size_t)tet[i] ) );
		}
	return lmb_statusOk;
}

/* All that needs no motion: what the instant model runs on. */
static lmbStatus FillUnfitted( const lmbTissue *tissue, const lmbModes *modes, const lmbNetwork *network,
                               const lmbFitDef *def, lmbSprings *springs, lmbError *error )
{
	springs->vertexCount = tissue->vertexCount;
	springs->boneCount = tissue->boneCount;
	if ( modes == NULL )
		return lmb_statusOk;
	springs->modeCount = modes->count;
	springs->modeStiffnessUnfitted = LMB_NEW( &springs->arena, double, modes->count );
	springs->modeDampingUnfitted = LMB_NEW( &springs->arena, double, modes->count );
	if ( springs->modeStiffnessUnfitted == NULL || springs->modeDampingUnfitted == NULL )
		return lmbError_Memory( error );
	for ( int m = 0; m < modes->count; ++m )
	{
		springs->modeStiffnessUnfitted[m] = modes->omegaSquared[m];
		springs->modeDampingUnfitted[m] = def->dampingMass + def->dampingStiffness * modes->omegaSquared[m];
	}
	LMB_TRY( MakeSkinShapes( tissue, modes, springs, error ) );
	return lmbForcing_Reduce( tissue, modes, network, springs, error );
}

/* Every motion counts alike, however large: errors are shares of the motion's own jiggle, as the report
 * has them, else one violent motion would decide for all. (mean m) / sum of m |moving - still|^2. */
static double MotionWeight( const lmbTissue *tissue, const lmbFrames *frames, const uint8_t *counted )
{
	double energy = 0.0, mass = 0.0;
	size_t nodes = (size_t)frames->nodeCount;
	for ( size_t i = 0; i < nodes; ++i )
		mass += tissue->mass[i] / (double)nodes;
	for ( size_t n = 0; n < (size_t)frames->frameCount; ++n )
		for ( size_t i = 0; counted[n] && i < 3 * nodes; ++i )
		{
			size_t at = 3 * nodes * n + i;
			double off = (double)frames->moving[at] - (double)frames->still[at];
			energy += tissue->mass[i / 3] * off * off;
		}
	return energy > 0.0 ? mass / energy : 0.0;
}

static lmbStatus GatherFrames( lmbFit *fit, const lmbDataset *dataset, lmbError *error )
{
	int count = dataset == NULL ? 0 : dataset->sequenceCount;
	fit->frames = LMB_NEW( &fit->arena, lmbFrames, count );
	fit->segments = LMB_NEW( &fit->arena, lmbSegment, count );
	if ( fit->frames == NULL || fit->segments == NULL )
		return lmbError_Memory( error );
	for ( int s = 0; s < count; ++s )
	{
		const lmbSequence *sequence = &dataset->sequences[s];
		double most = fit->def->useSeconds > 0.0 ? floor( fit->def->useSeconds * sequence->rate ) + 1.0 : 1e9;
		int frames = most < sequence->frameCount ? (int)most : sequence->frameCount;
		if ( !sequence->trained || frames < 8 )
			continue;
		int index = fit->sequenceCount++;
		LMB_TRY( lmbFrames_Make( sequence, frames, &fit->arena, &fit->frames[index], error ) );
		fit->segments[index] = ( lmbSegment ){ fit->frameCount, frames, 1.0 / sequence->rate, 0.0 };
		fit->frameCount += frames;
	}
	fit->counted = LMB_NEW( &fit->arena, uint8_t, fit->frameCount );
	if ( fit->counted == NULL )
		return lmbError_Memory( error );
	int index = 0, bad = 0;
	for ( int s = 0; s < count && index < fit->sequenceCount; ++s )
	{
		const lmbSequence *sequence = &dataset->sequences[s];
		if ( sequence->still != fit->frames[index].still )
			continue;
		/* A still shape that is off pushes the spring over the step that ends in it and the two after. */
		for ( int n = 0; n < fit->segments[index].count; ++n )
		{
			bool good = true;
			for ( int i = 0; i < 3 && i <= n; ++i )
				good = good && sequence->converged[n - i];
			fit->counted[fit->segments[index].first + n] = good;
			bad += !good;
		}
		fit->segments[index].weight =
		    MotionWeight( fit->tissue, &fit->frames[index], fit->counted + fit->segments[index].first );
		index += 1;
	}
	if ( bad > 0 )
		lmbJob_Note( fit->job, "fit: %d of %d frames left out, at or just after solves that did not converge",
		             bad, fit->frameCount );
	return lmb_statusOk;
}

static lmbStatus ModalForcing( lmbFit *fit, lmbError *error )
{
	size_t modes = (size_t)fit->modes->count, values = modes * (size_t)fit->frameCount;
	lmbModalRows *rows = &fit->modal;
	rows->start = LMB_NEW( &fit->arena, double, values );
	rows->end = LMB_NEW( &fit->arena, double, values );
	rows->target = LMB_NEW( &fit->arena, double, values );
	fit->modalPlace = LMB_NEW( &fit->arena, double, values );
	if ( rows->start == NULL || rows->end == NULL || rows->target == NULL || fit->modalPlace == NULL )
		return lmbError_Memory( error );
	for ( int s = 0; s < fit->sequenceCount; ++s )
	{
		size_t first = modes * (size_t)fit->segments[s].first;
		lmbModalRows part = { rows->start + first, rows->end + first, rows->target + first };
		LMB_TRY( lmbForcing_Modal( fit->tissue, fit->modes, fit->def->interpolation, &fit->frames[s],
		                           fit->job, &part, error ) );
	}
	return lmb_statusOk;
}

/* How the modes' stiffness follows the pose, and its log ratios over the frames. */
static lmbStatus LearnStiffness( lmbFit *fit, const lmbDataset *dataset, lmbError *error )
{
	lmbSprings *springs = fit->springs;
	size_t modes = (size_t)springs->modeCount, frames = (size_t)fit->frameCount;
	lmbStiffness stiffness;
	LMB_TRY( lmbStiffness_Learn( fit->character, fit->tissue, fit->modes, dataset, fit->def->useSeconds,
	                             fit->job, &springs->arena, &stiffness, error ) );
	if ( stiffness.weights == NULL )
		return lmb_statusOk;
	springs->featureCount = stiffness.featureCount;
	springs->stiffnessWeights = stiffness.weights;
	springs->stiffnessRange = stiffness.range;
	fit->logRatios = LMB_NEW( &fit->arena, double, modes *frames );
	if ( fit->logRatios == NULL )
		return lmbError_Memory( error );
	for ( int s = 0; s < fit->sequenceCount; ++s )
		LMB_TRY( lmbFit_LogRatios( fit->character, springs, &fit->frames[s],
		                           fit->logRatios + fit->segments[s].first, frames, error ) );
	return lmb_statusOk;
}

static lmbSpringRecord Record( const lmbFit *fit, int dimension, const double *start, const double *end,
                               const double *truth )
{
	return ( lmbSpringRecord ){ dimension,
	                            fit->sequenceCount,
	                            fit->frameCount,
	                            fit->segments,
	                            fit->def->interpolation,
	                            start,
	                            end,
	                            truth,
	                            fit->counted,
	                            NULL };
}

static double Seconds( const lmbFit *fit )
{
	double seconds = 0.0;
	for ( int s = 0; s < fit->sequenceCount; ++s )
		seconds += fit->segments[s].step * fit->segments[s].count;
	return seconds;
}

/* How strongly a mode is pulled to the tissue's own values, given the share of its record that a spring does
 * not explain: misfit / (independent samples x variance of the log), the least squares that follow from
 * normal errors. Two samples a second, as what other modes do to this one lasts; fits on long motions differ
 * from the tissue by 6 % in k and 30 % in c. */
static lmbSpringPoint BeliefInTissue( const lmbFit *fit, double misfit )
{
	const double samplesPerSecond = 2.0, deviationK = 0.06, deviationC = 0.3;
	double pull = misfit / ( samplesPerSecond * Seconds( fit ) );
	return ( lmbSpringPoint ){ pull / ( deviationK * deviationK ), pull / ( deviationC * deviationC ) };
}

static lmbStatus FitMode( void *context, int index, int worker, lmbError *error )
{
	(void)worker;
	lmbFit *fit = context;
	lmbSprings *springs = fit->springs;
	size_t frames = (size_t)fit->frameCount, modes = (size_t)springs->modeCount, m = (size_t)index;
	double *block = malloc( 6 * frames * sizeof( double ) );
	if ( block == NULL )
		return lmbError_Memory( error );
	double *start = block, *end = block + frames, *truth = block + 2 * frames, *place = block + 3 * frames;
	for ( size_t n = 0; n < frames; ++n )
	{
		start[n] = fit->modal.start[modes * n + m];
		end[n] = fit->modal.end[modes * n + m];
		truth[n] = fit->modal.target[modes * n + m];
	}
	lmbSpringRecord record = Record( fit, 1, start, end, truth );
	record.logRatios = fit->logRatios == NULL ? NULL : fit->logRatios + frames * m;
	/* What the tissue says is a good guess. Without damping in the tissue's definition, 2 %. */
	double stiffness = springs->modeStiffnessUnfitted[m];
	double damping = fmax( springs->modeDampingUnfitted[m], 0.04 * sqrt( stiffness ) );
	lmbSpringPoint starts[3] = { PointOf( stiffness, damping ), PointOf( 0.5 * stiffness, damping ),
	                             PointOf( 2.0 * stiffness, damping ) };
	lmbSpringSearch search = {
	    fit->def->optimizer, fit->def->dropShare, starts[0], BeliefInTissue( fit, 0.05 ), starts, 3 };
	lmbSpringFit found = lmbSpring_Fit( &record, &search, block + 4 * frames );
	/* A mode that the motion drives little, and that other modes shake, explains little of its record. */
	search.priorWeight = BeliefInTissue( fit, fmax( 0.02, 1.0 - found.share ) );
	found = lmbSpring_Fit( &record, &search, block + 4 * frames );
	springs->modeStiffness[m] = found.stiffness;
	springs->modeDamping[m] = found.damping;
	fit->modeEnergy[m] = found.energy;
	fit->modeShare[m] = found.share;
	lmbSpring_Run( &record, found.stiffness, found.damping, place );
	for ( size_t n = 0; n < frames; ++n )
		fit->modalPlace[modes * n + m] = place[n];
	free( block );
	return lmb_statusOk;
}

lmbStatus lmbFitChunk_Make( const lmbFit *fit, int first, int count, lmbFitChunk *chunk, lmbError *error )
{
	size_t frames = (size_t)fit->frameCount, width = 3 * (size_t)count;
	size_t scratch = 0;
	for ( int s = 0; s < fit->sequenceCount; ++s )
	{
		size_t skin = lmbForcing_SkinScratch( &fit->frames[s], count );
		size_t carry = lmbForcing_CarryScratch( &fit->frames[s], count, fit->springs->modeCount );
		scratch = skin > scratch ? skin : scratch;
		scratch = carry > scratch ? carry : scratch;
	}
	double *next = calloc( frames * ( 6 * width + 2 ) + scratch, sizeof( double ) );
	if ( next == NULL )
		return lmbError_Memory( error );
	*chunk = ( lmbFitChunk ){ .block = next, .first = first, .count = count };
	chunk->start = next;
	chunk->end = chunk->start + frames * width;
	chunk->offset = chunk->end + frames * width;
	chunk->rotations = chunk->offset + frames * width;
	chunk->fitScratch = chunk->rotations + 3 * frames * width;
	chunk->scratch = chunk->fitScratch + 2 * frames;
	for ( int s = 0; s < fit->sequenceCount; ++s )
	{
		size_t at = 3 * (size_t)fit->segments[s].first;
		lmbSkinRows rows = { first,
		                     count,
		                     frames,
		                     chunk->start + at,
		                     chunk->end + at,
		                     chunk->offset + at,
		                     chunk->rotations + at * width };
		lmbForcing_Skin( fit->character, fit->tissue, fit->def->interpolation, &fit->frames[s],
		                 chunk->scratch, &rows );
	}
	return lmb_statusOk;
}

void lmbFitChunk_TakeModes( const lmbFit *fit, lmbFitChunk *chunk )
{
	size_t modes = (size_t)fit->springs->modeCount;
	for ( int s = 0; s < fit->sequenceCount; ++s )
	{
		size_t first = (size_t)fit->segments[s].first, at = 3 * first;
		lmbSkinRows rows = { .first = chunk->first,
		                     .count = chunk->count,
		                     .frameStride = (size_t)fit->frameCount,
		                     .rotations = chunk->rotations + 9 * (size_t)chunk->count * first };
		const double *values[3] = { fit->modal.start, fit->modal.end, fit->modalPlace };
		double *outs[3] = { chunk->start + at, chunk->end + at, chunk->offset + at };
		for ( int i = 0; i < 3; ++i )
			lmbForcing_Carry( fit->springs->skinShapes, (int)modes, fit->springs->vertexCount,
			                  values[i] + modes * first, i == 0 ? 1 : 0, -1.0, &fit->frames[s], &rows,
			                  chunk->scratch, outs[i] );
	}
}

lmbSpringRecord lmbFitChunk_Record( const lmbFit *fit, const lmbFitChunk *chunk, int i )
{
	size_t at = 3 * (size_t)i * (size_t)fit->frameCount;
	return Record( fit, 3, chunk->start + at, chunk->end + at, chunk->offset + at );
}

double lmbFit_LeastEnergy( const lmbFit *fit )
{
	double least = 1e-5 * fit->tissue->cell, frames = 0.0;
	for ( int s = 0; s < fit->sequenceCount; ++s )
		frames += fit->segments[s].weight * fit->segments[s].count;
	return least * least * frames;
}

static void FitChunkLayer( const lmbFit *fit, const lmbFitChunk *chunk, lmbFitLayer *layer )
{
	lmbSpringSearch search = { fit->def->optimizer, fit->def->dropShare, FrequencyPoint( 4.0, 0.2 ),
	                           { 1e-4, 1e-4 },      fit->starts,         2 * lmbFitFrequencies };
	lmbSpringPoint still = lmbSpring_Still();
	for ( int i = 0; i < chunk->count; ++i )
	{
		lmbSpringRecord record = lmbFitChunk_Record( fit, chunk, i );
		lmbSpringFit found = lmbSpring_Fit( &record, &search, chunk->fitScratch );
		if ( found.energy <= lmbFit_LeastEnergy( fit ) || !( found.share > 0.0 ) )
		{
			found.stiffness = exp( still.logStiffness );
			found.damping = exp( still.logDamping );
			found.share = 0.0;
		}
		layer->stiffness[chunk->first + i] = found.stiffness;
		layer->damping[chunk->first + i] = found.damping;
		layer->energy[chunk->first + i] = found.energy;
		layer->share[chunk->first + i] = found.share;
	}
}

typedef struct VertexTask
{
	lmbFit *fit;
	lmbFitLayer *all, *remainder; /* remainder NULL without modes */
	int firstChunk;
} VertexTask;

static lmbStatus FitChunk( void *context, int index, int worker, lmbError *error )
{
	(void)worker;
	VertexTask *task = context;
	int first = ( task->firstChunk + index ) * chunkVertices, vertices = task->fit->springs->vertexCount;
	int count = vertices - first < chunkVertices ? vertices - first : chunkVertices;
	lmbFitChunk chunk;
	LMB_TRY( lmbFitChunk_Make( task->fit, first, count, &chunk, error ) );
	FitChunkLayer( task->fit, &chunk, task->all );
	if ( task->remainder != NULL )
	{
		lmbFitChunk_TakeModes( task->fit, &chunk );
		FitChunkLayer( task->fit, &chunk, task->remainder );
	}
	free( chunk.block );
	return lmb_statusOk;
}

static lmbStatus MakeLayer( lmbFit *fit, bool remainder, lmbFitLayer *layer, lmbError *error )
{
	lmbSprings *springs = fit->springs;
	size_t vertices = (size_t)springs->vertexCount;
	layer->remainder = remainder;
	layer->stiffness = LMB_NEW( &springs->arena, double, vertices );
	layer->damping = LMB_NEW( &springs->arena, double, vertices );
	layer->energy = LMB_NEW( &fit->arena, double, vertices );
	layer->share = LMB_NEW( &fit->arena, double, vertices );
	if ( layer->stiffness == NULL || layer->damping == NULL || layer->energy == NULL || layer->share == NULL )
		return lmbError_Memory( error );
	*( remainder ? &springs->remainderStiffness : &springs->vertexStiffness ) = layer->stiffness;
	*( remainder ? &springs->remainderDamping : &springs->vertexDamping ) = layer->damping;
	return lmb_statusOk;
}

/* Of all springs together: 1 - sum of what is not captured / sum of energy. */
static double Captured( const double *energy, const double *share, int count )
{
	double total = 0.0, captured = 0.0;
	for ( int i = 0; i < count; ++i )
	{
		total += energy[i];
		captured += share[i] * energy[i];
	}
	return total > 0.0 ? captured / total : 0.0;
}

static lmbStatus FitVertices( lmbFit *fit, lmbError *error )
{
	lmbFitLayer all, remainder;
	lmbSprings *springs = fit->springs;
	VertexTask task = { fit, &all, NULL, 0 };
	LMB_TRY( MakeLayer( fit, false, &all, error ) );
	if ( springs->modeCount > 0 )
	{
		LMB_TRY( MakeLayer( fit, true, &remainder, error ) );
		task.remainder = &remainder;
	}
	const double hertz[lmbFitFrequencies] = { 1.0, 2.5, 5.0, 10.0, 25.0, 80.0 };
	for ( int i = 0; i < lmbFitFrequencies; ++i )
	{
		fit->starts[2 * i] = FrequencyPoint( hertz[i], 0.1 );
		fit->starts[2 * i + 1] = FrequencyPoint( hertz[i], 0.5 );
	}
	int chunks = ( springs->vertexCount + chunkVertices - 1 ) / chunkVertices;
	for ( task.firstChunk = 0; task.firstChunk < chunks; task.firstChunk += batchChunks )
	{
		int count = chunks - task.firstChunk < batchChunks ? chunks - task.firstChunk : batchChunks;
		LMB_TRY( lmbJob_ForEach( fit->job, count, FitChunk, &task, error ) );
		lmbJob_Progress( fit->job, "vertices",
		                 fmin( ( task.firstChunk + count ) * chunkVertices, springs->vertexCount ),
		                 springs->vertexCount, "" );
	}
	LMB_TRY( lmbFit_AskNeighbours( fit, &all, error ) );
	lmbJob_Note( fit->job, "fit: vertex springs capture %.3f of the training motion",
	             Captured( all.energy, all.share, springs->vertexCount ) );
	if ( task.remainder == NULL )
		return lmb_statusOk;
	LMB_TRY( lmbFit_AskNeighbours( fit, &remainder, error ) );
	lmbJob_Note( fit->job, "fit: the remainder's springs capture %.3f of what the modes leave over",
	             Captured( remainder.energy, remainder.share, springs->vertexCount ) );
	return lmb_statusOk;
}

static lmbStatus FitModes( lmbFit *fit, const lmbDataset *dataset, lmbError *error )
{
	lmbSprings *springs = fit->springs;
	size_t modes = (size_t)springs->modeCount;
	springs->modeStiffness = LMB_NEW( &springs->arena, double, modes );
	springs->modeDamping = LMB_NEW( &springs->arena, double, modes );
	fit->modeEnergy = LMB_NEW( &fit->arena, double, modes );
	fit->modeShare = LMB_NEW( &fit->arena, double, modes );
	if ( springs->modeStiffness == NULL || springs->modeDamping == NULL || fit->modeEnergy == NULL ||
	     fit->modeShare == NULL )
		return lmbError_Memory( error );
	LMB_TRY( ModalForcing( fit, error ) );
	if ( fit->def->poseStiffness )
		LMB_TRY( LearnStiffness( fit, dataset, error ) );
	LMB_TRY( lmbJob_ForEach( fit->job, springs->modeCount, FitMode, fit, error ) );
	lmbJob_Note( fit->job, "fit: %d modes capture %.3f of the training motion in their own directions",
	             springs->modeCount, Captured( fit->modeEnergy, fit->modeShare, springs->modeCount ) );
	return lmb_statusOk;
}

lmbStatus lmbSprings_Fit( const lmbCharacter *character, const lmbTissue *tissue, const lmbModes *modes,
                          const lmbNetwork *network, const lmbDataset *dataset, const lmbFitDef *def,
                          const lmbJob *job, lmbSprings **out, lmbError *error )
{
	*out = NULL;
	LMB_TRY( CheckDef( def, error ) );
	LMB_TRY( CheckInputs( character, tissue, modes, network, dataset, error ) );
	openblas_set_num_threads( 1 );
	lmbSprings *springs = calloc( 1, sizeof( *springs ) );
	if ( springs == NULL )
		return lmbError_Memory( error );
	lmbFit fit = { .character = character,
	               .tissue = tissue,
	               .modes = modes,
	               .def = def,
	               .job = job,
	               .springs = springs };
	lmbStatus status = FillUnfitted( tissue, modes, network, def, springs, error );
	if ( status == lmb_statusOk )
		status = GatherFrames( &fit, dataset, error );
	if ( status == lmb_statusOk && fit.sequenceCount > 0 && modes != NULL )
		status = FitModes( &fit, dataset, error );
	if ( status == lmb_statusOk && fit.sequenceCount > 0 )
		status = FitVertices( &fit, error );
	lmbArena_Free( &fit.arena );
	if ( status != lmb_statusOk )
		lmbSprings_Free( springs );
	else
		*out = springs;
	return status;
}
