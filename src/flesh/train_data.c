#include "flesh/train_data.h"

#include "base/math3.h"
#include "base/random.h"
#include "flesh/skinning.h"

#include <stdlib.h>

enum
{
	leastSamples = 10,
	leastPoses = 30,        /* fewer random poses than this: frames are split, not poses */
	framesPerBlock = 30,    /* neighbouring frames go to one fold, or to one side of the split */
	leastFrameBudget = 300, /* frames kept, at most, or as many as there are poses */
};

/* Frames nearer to the last one kept than this turn (radians) at every joint teach nothing new. */
static const double frameSpacing = 0.07;

/* A sample before it is computed. Samples of one unit stay together in every split. */
typedef struct Candidate
{
	lmbTrainSource source;
	int unit;
	bool pose;
} Candidate;

typedef struct Candidates
{
	Candidate *list;
	int count, unitCount, poseCount;
} Candidates;

static void AddPoses( const lmbPoseSet *poses, Candidates *out )
{
	for ( int i = 0; i < poses->count; ++i )
	{
		if ( poses->converged[i] == 0 )
			continue;
		out->list[out->count++] = ( Candidate ){ { poses->bones + 12 * (size_t)i * (size_t)poses->boneCount,
		                                           poses->nodes + 3 * (size_t)i * (size_t)poses->nodeCount },
		                                         out->unitCount++,
		                                         true };
		out->poseCount += 1;
	}
}

/* The largest turn of a joint between two poses, from their features: |R - R'| = 2 sqrt 2 sin( turn / 2 ). */
static double LargestTurn( const lmbCharacter *character, const int32_t *offsets, const double *a,
                           const double *b )
{
	double largest = 0.0;
	for ( int j = 0; j < character->boneCount; ++j )
	{
		double square = 0.0;
		for ( int f = offsets[j]; f < offsets[j + 1]; ++f )
			square += ( a[f] - b[f] ) * ( a[f] - b[f] );
		largest = fmax( largest, sqrt( 0.5 * square ) );
	}
	return largest;
}

/* Frames of trained sequences, each at least `spacing` away from the one kept before. */
static void AddFrames( const lmbCharacter *character, const lmbDataset *dataset, const int32_t *offsets,
                       double *features, double spacing, Candidates *out )
{
	double *last = features + offsets[character->boneCount];
	for ( int s = 0; s < dataset->sequenceCount; ++s )
	{
		const lmbSequence *sequence = &dataset->sequences[s];
		bool first = true;
		for ( int i = 0; sequence->trained && i < sequence->frameCount; ++i )
		{
			const double *bones = sequence->bones + 12 * (size_t)i * (size_t)sequence->boneCount;
			if ( i % framesPerBlock == 0 )
				out->unitCount += 1;
			if ( sequence->converged[i] == 0 )
				continue;
			lmbNetwork_Features( character, bones, features );
			if ( !first && LargestTurn( character, offsets, features, last ) < spacing )
				continue;
			memcpy( last, features, (size_t)offsets[character->boneCount] * sizeof( double ) );
			first = false;
			out->list[out->count++] =
			    ( Candidate ){ { bones, sequence->still + 3 * (size_t)i * (size_t)sequence->nodeCount },
			                   out->unitCount - 1,
			                   false };
		}
	}
}

/* Poses, then as many frames as the budget allows: the spacing grows until they fit. */
static lmbStatus Collect( const lmbCharacter *character, const lmbDataset *dataset, lmbArena *scratch,
                          Candidates *out, lmbError *error )
{
	int most = dataset->poses.count;
	for ( int s = 0; s < dataset->sequenceCount; ++s )
		most += dataset->sequences[s].frameCount;
	int32_t *offsets = LMB_NEW( scratch, int32_t, character->boneCount + 1 );
	out->list = LMB_NEW( scratch, Candidate, most );
	if ( offsets == NULL || out->list == NULL )
		return lmbError_Memory( error );
	int featureCount = lmbNetwork_FeatureOffsets( character, offsets );
	double *features = LMB_NEW( scratch, double, 2 * (size_t)featureCount );
	if ( features == NULL )
		return lmbError_Memory( error );
	AddPoses( &dataset->poses, out );
	Candidates poses = *out;
	int budget = poses.count > leastFrameBudget ? poses.count : leastFrameBudget;
	for ( double spacing = frameSpacing; spacing < 10.0; spacing *= 1.25 )
	{
		*out = poses;
		AddFrames( character, dataset, offsets, features, spacing, out );
		if ( out->count - poses.count <= budget )
			break;
	}
	if ( out->count < leastSamples )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "%d converged poses and frames are too few to train on; simulate at least %d",
		                     out->count, leastSamples );
	return lmb_statusOk;
}

static int CompareOrder( const void *a, const void *b )
{
	const int64_t *x = a, *y = b;
	return x[0] < y[0] ? -1 : x[0] > y[0];
}

/* Units drawn for stopping and for the report; frames stay with training wherever there are enough poses
 * to judge by, for a frame resembles its neighbours. use (unitCount). */
static lmbStatus Split( const Candidates *all, double share, uint64_t seed, lmbArena *scratch, uint8_t *use,
                        lmbError *error )
{
	bool posesOnly = all->poseCount >= leastPoses;
	/* (key, unit, samples) per unit; the key is random, and puts units that may not be drawn last. */
	int64_t( *order )[3] = lmbArena_New( scratch, (size_t)all->unitCount, sizeof( *order ) );
	if ( order == NULL )
		return lmbError_Memory( error );
	lmbRandom random = lmbRandom_Seed( seed, 1 );
	for ( int u = 0; u < all->unitCount; ++u )
	{
		order[u][0] = (int64_t)lmbRandom_Bits( &random ) + ( posesOnly ? INT64_C( 1 ) << 40 : 0 );
		order[u][1] = u;
	}
	for ( int i = 0; i < all->count; ++i )
	{
		int64_t *unit = order[all->list[i].unit];
		unit[2] += 1;
		if ( posesOnly && all->list[i].pose )
			unit[0] &= INT64_C( 0xffffffff );
	}
	qsort( order, (size_t)all->unitCount, sizeof( *order ), CompareOrder );
	double wanted = share * ( posesOnly ? all->poseCount : all->count );
	int64_t drawn = 0;
	for ( int u = 0; u < all->unitCount; ++u )
	{
		use[order[u][1]] = (uint8_t)lmb_useTrain;
		if ( order[u][2] == 0 || (double)drawn >= wanted )
			continue;
		use[order[u][1]] = (uint8_t)( (double)drawn < 0.5 * wanted ? lmb_useStop : lmb_useReport );
		drawn += order[u][2];
	}
	return lmb_statusOk;
}

/* Own samples in order of use, with uses and folds. */
static lmbStatus Arrange( const Candidates *all, const uint8_t *use, lmbArena *arena, lmbTrainData *data,
                          lmbError *error )
{
	data->sources = LMB_NEW( arena, lmbTrainSource, data->ownCount );
	data->uses = LMB_NEW( arena, uint8_t, data->sampleCount );
	data->folds = LMB_NEW( arena, int32_t, data->sampleCount );
	if ( data->sources == NULL || data->uses == NULL || data->folds == NULL )
		return lmbError_Memory( error );
	int at = 0, *counts[] = { &data->trainCount, &data->stopCount, &data->reportCount };
	bool posesOnly = all->poseCount >= leastPoses;
	for ( int u = lmb_useTrain; u <= lmb_useReport; ++u )
		for ( int i = 0; i < all->count; ++i )
		{
			const Candidate *candidate = &all->list[i];
			if ( use[candidate->unit] != u )
				continue;
			data->sources[at] = candidate->source;
			data->uses[at] = (uint8_t)u;
			data->folds[at] = posesOnly && !candidate->pose ? -1 : candidate->unit % lmbTrainFolds;
			data->poseCount += candidate->pose;
			*counts[u] += 1;
			at += 1;
		}
	for ( int i = data->ownCount; i < data->sampleCount; ++i )
	{
		data->uses[i] = data->uses[i - data->ownCount];
		data->folds[i] = data->folds[i - data->ownCount];
	}
	if ( data->trainCount > 0 && data->stopCount > 0 && data->reportCount > 0 )
		return lmb_statusOk;
	return lmbError_Set( error, lmb_statusInvalidArgument,
	                     "%d samples leave nothing to train, stop and report on; simulate more poses",
	                     data->ownCount );
}

static size_t Larger( size_t a, size_t b )
{
	return a > b ? a : b;
}

size_t lmbTrain_ScratchSize( const lmbCharacter *character, const lmbTissue *tissue )
{
	size_t vertices = (size_t)character->vertexCount, nodes = (size_t)tissue->nodeCount;
	return 3 * nodes + 15 * Larger( vertices, nodes ) + 4 * (size_t)character->boneCount;
}

/* out_i = R_i^T (shape_i - skinned_i); room: 12 numbers a point, and 4 a bone. */
static void PullBack( const lmbWeights *weights, int boneCount, const double *bones, const double *rest,
                      const double *shape, double *room, double *out )
{
	size_t count = (size_t)weights->pointCount;
	double *skinned = room, *rotations = room + 3 * count, *quaternions = room + 12 * count;
	lmbSkin_Points( weights, bones, rest, skinned );
	lmbSkin_BoneQuaternions( boneCount, bones, quaternions );
	lmbSkin_Rotations( weights, quaternions, rotations );
	for ( size_t i = 0; i < count; ++i )
	{
		double off[3];
		lmbSub( off, shape + 3 * i, skinned + 3 * i );
		lmbMat33_ApplyTransposed( out + 3 * i, rotations + 9 * i, off );
	}
}

void lmbTrain_Displacement( const lmbCharacter *character, const lmbTissue *tissue, const double *bones,
                            const float *nodes, double *scratch, float *out )
{
	size_t nodeNumbers = 3 * (size_t)tissue->nodeCount, count = (size_t)character->vertexCount;
	double *wide = scratch, *shape = wide + nodeNumbers, *room = shape + 3 * count;
	for ( size_t i = 0; i < nodeNumbers; ++i )
		wide[i] = nodes[i];
	lmbTissue_Skin( tissue, character, bones, wide, shape );
	lmbWeights weights = { character->vertexCount, character->influenceCount, character->vertexBones,
	                       character->weights };
	PullBack( &weights, character->boneCount, bones, character->bind, shape, room, shape );
	/* Rigid skin is the artist's to the last bit, not up to a rounding. */
	for ( size_t i = 0; i < 3 * count; ++i )
		out[i] = tissue->softness[i / 3] > 0.0 ? (float)shape[i] : 0.0f;
}

void lmbTrain_NodeDisplacement( const lmbTissue *tissue, const double *bones, const float *nodes,
                                double *scratch, double *out )
{
	size_t numbers = 3 * (size_t)tissue->nodeCount;
	for ( size_t i = 0; i < numbers; ++i )
		scratch[i] = nodes[i];
	lmbWeights weights = { tissue->nodeCount, tissue->influenceCount, tissue->nodeBones,
	                       tissue->nodeWeights };
	PullBack( &weights, tissue->boneCount, bones, tissue->nodes, scratch, scratch + numbers, out );
}

typedef struct Computing
{
	const lmbCharacter *character;
	const lmbTissue *tissue;
	const lmbMirror *mirror;
	lmbTrainData *data;
	double *scratch; /* one piece per worker */
	size_t scratchSize;
} Computing;

/* d'_v = S d at the vertex's mirror image (interpolated); the features are those of the mirrored pose. */
static void MirrorSample( const Computing *computing, int index, double *scratch )
{
	const lmbMirror *mirror = computing->mirror;
	lmbTrainData *data = computing->data;
	size_t numbers = 3 * (size_t)data->vertexCount, image = (size_t)( data->ownCount + index );
	const float *from = data->displacement + (size_t)index * numbers;
	float *to = data->displacement + image * numbers;
	for ( int v = 0; v < data->vertexCount; ++v )
	{
		double sum[3] = { 0 };
		for ( int k = 0; k < 3; ++k )
			for ( int i = 0; i < 3; ++i )
				sum[i] += mirror->weights[3 * (size_t)v + k] *
				          (double)from[3 * (size_t)mirror->vertices[3 * (size_t)v + k] + i];
		lmbMirror_Vector( mirror, sum, sum );
		for ( int i = 0; i < 3; ++i )
			to[3 * (size_t)v + i] = computing->tissue->softness[v] > 0.0 ? (float)sum[i] : 0.0f;
	}
	lmbMirror_Pose( mirror, computing->character->boneCount, data->sources[index].bones, scratch );
	lmbNetwork_Features( computing->character, scratch, data->features + image * (size_t)data->featureCount );
}

static lmbStatus ComputeSample( void *context, int index, int worker, lmbError *error )
{
	const Computing *computing = context;
	lmbTrainData *data = computing->data;
	double *scratch = computing->scratch + (size_t)worker * computing->scratchSize;
	float *displacement = data->displacement + 3 * (size_t)index * (size_t)data->vertexCount;
	double *features = data->features + (size_t)index * (size_t)data->featureCount;
	lmbNetwork_Features( computing->character, data->sources[index].bones, features );
	lmbTrain_Displacement( computing->character, computing->tissue, data->sources[index].bones,
	                       data->sources[index].nodes, scratch, displacement );
	double sum = 0.0;
	for ( int i = 0; i < data->featureCount; ++i )
		sum += features[i];
	for ( size_t i = 0; i < 3 * (size_t)data->vertexCount; ++i )
		sum += displacement[i];
	if ( !isfinite( sum ) )
		return lmbError_Set(
		    error, lmb_statusNumerical,
		    "a converged sample of the dataset holds numbers that are not finite; simulate again" );
	if ( computing->mirror != NULL )
		MirrorSample( computing, index, scratch );
	return lmb_statusOk;
}

static lmbStatus Compute( Computing *computing, const lmbJob *job, lmbArena *arena, lmbArena *scratch,
                          lmbError *error )
{
	lmbTrainData *data = computing->data;
	size_t workers = job != NULL && job->threads > 1 ? (size_t)job->threads : 1,
	       samples = (size_t)data->sampleCount;
	data->features = LMB_NEW( arena, double, samples *(size_t)data->featureCount );
	data->displacement = LMB_NEW( arena, float, 3 * samples * (size_t)data->vertexCount );
	computing->scratchSize = Larger( lmbTrain_ScratchSize( computing->character, computing->tissue ),
	                                 12 * (size_t)computing->character->boneCount );
	computing->scratch = LMB_NEW( scratch, double, workers * computing->scratchSize );
	if ( data->features == NULL || data->displacement == NULL || computing->scratch == NULL )
		return lmbError_Memory( error );
	return lmbJob_ForEach( job, data->ownCount, ComputeSample, computing, error );
}

static lmbStatus Make( Computing *computing, const lmbDataset *dataset, const lmbTrainDef *def,
                       const lmbJob *job, lmbArena *arena, lmbArena *scratch, lmbError *error )
{
	lmbTrainData *data = computing->data;
	Candidates all = { 0 };
	LMB_TRY( Collect( computing->character, dataset, scratch, &all, error ) );
	uint8_t *use = LMB_NEW( scratch, uint8_t, all.unitCount );
	if ( use == NULL )
		return lmbError_Memory( error );
	LMB_TRY( Split( &all, def->heldOutPoses, job != NULL ? job->seed : 0, scratch, use, error ) );
	data->ownCount = all.count;
	data->sampleCount = computing->mirror != NULL ? 2 * all.count : all.count;
	data->featureCount = lmbNetwork_FeatureOffsets( computing->character, NULL );
	data->vertexCount = computing->character->vertexCount;
	LMB_TRY( Arrange( &all, use, arena, data, error ) );
	return Compute( computing, job, arena, scratch, error );
}

lmbStatus lmbTrainData_Make( const lmbCharacter *character, const lmbTissue *tissue,
                             const lmbDataset *dataset, const lmbTrainDef *def, const lmbMirror *mirror,
                             const lmbJob *job, lmbArena *arena, lmbTrainData *data, lmbError *error )
{
	memset( data, 0, sizeof( *data ) );
	lmbArena scratch = { 0 };
	Computing computing = { .character = character, .tissue = tissue, .mirror = mirror, .data = data };
	lmbStatus status = Make( &computing, dataset, def, job, arena, &scratch, error );
	lmbArena_Free( &scratch );
	return status;
}
