#include "flesh_model.h"

#include "flesh_mesh.h"

#include <math.h>
#include <string.h>

static int Larger( int a, int b )
{
	return a > b ? a : b;
}

static int Padded( int count )
{
	return ( count + lmbTile - 1 ) / lmbTile * lmbTile;
}

/* Takes the memory that the model needs; the same calls in the same order when counting and when placing. */
typedef struct Packing
{
	lmbCarver carver;
	lmbFlesh *model;
	const lmbFleshFile *file;
	int32_t *place; /* (vertexCount) block * lmbLanes + lane of each vertex */
	bool twice;     /* soft_order names a vertex twice */
	uint64_t most;  /* how far scratch reaches */
} Packing;

static void PackNames( Packing *packing )
{
	const lmbFleshFile *file = packing->file;
	const char **names = lmbCarver_Take( &packing->carver, (uint64_t)file->boneCount, sizeof( char * ) );
	const char *at = file->names;
	for ( int j = 0; names != NULL && j < file->boneCount; ++j, at += strlen( at ) + 1 )
		names[j] = at;
	if ( names != NULL )
		packing->model->boneNames = names;
}

static void CountBlocks( const lmbFleshFile *file, int *softBlocks, int *blocks )
{
	int soft = 0;
	for ( int v = 0; v < file->vertexCount; ++v )
		soft += file->softness[v] > 0.0f;
	*softBlocks = ( soft + lmbLanes - 1 ) / lmbLanes;
	*blocks = *softBlocks + ( file->vertexCount - soft + lmbLanes - 1 ) / lmbLanes;
}

/* Bones of a vertex up to its last weight. */
static int CountBones( const lmbFleshFile *file, int v )
{
	const float *weights = file->weights + (size_t)v * file->influenceCount;
	int used = 1;
	for ( int k = 1; k < file->influenceCount; ++k )
		used = weights[k] > 0.0f ? k + 1 : used;
	return used;
}

/* Numbers of rigid vertices by how many bones they use. */
static void CountRigid( const lmbFleshFile *file, int counts[lmbInfluenceLimit + 1] )
{
	memset( counts, 0, ( lmbInfluenceLimit + 1 ) * sizeof( *counts ) );
	for ( int v = 0; v < file->vertexCount; ++v )
		if ( !( file->softness[v] > 0.0f ) )
			counts[CountBones( file, v )] += 1;
}

/* Bones per lane of all blocks together: the most that a vertex of each block uses. */
static uint64_t CountBlockBones( const lmbFleshFile *file )
{
	int counts[lmbInfluenceLimit + 1], softBlocks, blocks, lane = 0, most = 0, rigid = 0;
	uint64_t total = 0;
	CountBlocks( file, &softBlocks, &blocks );
	for ( int i = 0; i < ( file->softOrder != NULL ? softBlocks * lmbLanes : file->vertexCount ); ++i )
	{
		int v = file->softOrder != NULL ? file->softOrder[i] : i;
		if ( v >= 0 && !( file->softness[v] > 0.0f ) )
			continue;
		most = Larger( most, v >= 0 ? CountBones( file, v ) : 1 );
		lane = ( lane + 1 ) % lmbLanes;
		if ( lane != 0 )
			continue;
		total += (uint64_t)most;
		most = 0;
	}
	total += (uint64_t)most;
	CountRigid( file, counts );
	for ( int used = 1; used <= lmbInfluenceLimit; ++used )
	{
		/* Blocks that end within the vertices of this many bones, or begin there as the last. */
		int after = rigid + counts[used];
		total += (uint64_t)( after / lmbLanes - rigid / lmbLanes ) * (uint64_t)used;
		rigid = after;
		if ( counts[used] > 0 )
			most = used;
	}
	return total + ( rigid % lmbLanes != 0 ? (uint64_t)most : 0 );
}

/* Soft vertices first, in the file's order or the one that it says; then rigid ones, by how many bones they
 * use. */
static void FillOrder( Packing *packing )
{
	lmbFlesh *model = packing->model;
	const lmbFleshFile *file = packing->file;
	int counts[lmbInfluenceLimit + 1], next[lmbInfluenceLimit + 1];
	CountRigid( file, counts );
	next[0] = 0; /* soft */
	for ( int used = 1, at = model->softBlockCount * lmbLanes; used <= lmbInfluenceLimit; ++used )
	{
		next[used] = at;
		at += counts[used];
	}
	for ( int i = 0; i < model->blockCount * lmbLanes; ++i )
		model->order[i] = -1;
	for ( int v = 0; v < file->vertexCount; ++v )
	{
		bool soft = file->softness[v] > 0.0f;
		packing->place[v] = -1;
		if ( soft && file->softOrder != NULL )
			continue;
		int at = next[soft ? 0 : CountBones( file, v )]++;
		model->order[at] = v;
		packing->place[v] = at;
	}
	for ( int at = 0; file->softOrder != NULL && at < model->softBlockCount * lmbLanes; ++at )
	{
		int v = file->softOrder[at];
		model->order[at] = v;
		if ( v < 0 )
			continue;
		packing->twice = packing->twice || packing->place[v] >= 0;
		packing->place[v] = at;
	}
}

static void FillBlock( const Packing *packing, int block )
{
	lmbFlesh *model = packing->model;
	const lmbFleshFile *file = packing->file;
	const int32_t *order = model->order + (size_t)block * lmbLanes;
	int used = 1;
	for ( int lane = 0; lane < lmbLanes; ++lane )
	{
		int own = order[lane] < 0 ? 1 : CountBones( file, order[lane] );
		uint8_t *tile = model->tiles + ( (size_t)block * lmbLanes + (size_t)lane ) / lmbTile;
		used = Larger( used, own );
		*tile = (uint8_t)( lane % lmbTile == 0 ? own : Larger( *tile, own ) );
	}
	size_t first = (size_t)model->blockBones[block] * lmbLanes;
	model->blockBones[block + 1] = model->blockBones[block] + used;
	for ( int lane = 0; lane < lmbLanes; ++lane )
	{
		int v = order[lane];
		float *weights = model->weights + first + (size_t)lane * used;
		uint16_t *bones = model->bones + first + (size_t)lane * used;
		float *rest = model->rest + ( (size_t)block * lmbLanes + lane ) * 3;
		memset( weights, 0, (size_t)used * sizeof( *weights ) );
		memset( bones, 0, (size_t)used * sizeof( *bones ) );
		memset( rest, 0, 3 * sizeof( *rest ) );
		weights[0] = 1.0f; /* padding follows bone 0 */
		if ( v < 0 )
			continue;
		size_t from = (size_t)v * file->influenceCount;
		memcpy( rest, file->bind + 3 * (size_t)v, 3 * sizeof( *rest ) );
		memcpy( weights, file->weights + from, (size_t)used * sizeof( *weights ) );
		memcpy( bones, file->vertexBones + from, (size_t)used * sizeof( *bones ) );
	}
}

static void PackSkin( Packing *packing )
{
	lmbFlesh *model = packing->model;
	lmbCarver *carver = &packing->carver;
	int softBlocks, blocks;
	CountBlocks( packing->file, &softBlocks, &blocks );
	uint64_t lanes = (uint64_t)blocks * lmbLanes, bonesPerLane = CountBlockBones( packing->file );
	int32_t *order = lmbCarver_Take( carver, lanes, sizeof( int32_t ) );
	float *rest = lmbCarver_Take( carver, lanes, 3 * sizeof( float ) );
	uint16_t *bones = lmbCarver_Take( carver, bonesPerLane, lmbLanes * sizeof( uint16_t ) );
	float *weights = lmbCarver_Take( carver, bonesPerLane, lmbLanes * sizeof( float ) );
	int32_t *blockBones = lmbCarver_Take( carver, (uint64_t)blocks + 1, sizeof( int32_t ) );
	uint8_t *tiles = lmbCarver_Take( carver, lanes / lmbTile, sizeof( uint8_t ) );
	packing->place = lmbCarver_Take( carver, (uint64_t)packing->file->vertexCount, sizeof( int32_t ) );
	if ( model == NULL || order == NULL || packing->place == NULL )
		return;
	model->softBlockCount = softBlocks;
	model->blockCount = blocks;
	model->order = order;
	model->rest = rest;
	model->bones = bones;
	model->weights = weights;
	model->blockBones = blockBones;
	model->tiles = tiles;
	blockBones[0] = 0;
	FillOrder( packing );
	for ( int block = 0; block < blocks; ++block )
		FillBlock( packing, block );
}

/* Copies rows of inputs from (outputs x stride) to (inputs x pad), zero beyond outputs. */
static void Transpose( const float *from, int outputs, int inputs, int stride, float *to, int pad )
{
	memset( to, 0, (size_t)inputs * pad * sizeof( float ) );
	for ( int o = 0; o < outputs; ++o )
		for ( int i = 0; i < inputs; ++i )
			to[(size_t)i * pad + o] = from[(size_t)o * stride + i];
}

/* The same as whole numbers (kernels.h, lmbWords). */
static void FillWords( const float *from, int outputs, int inputs, int stride, int pad, float *scales,
                       int16_t *entries )
{
	memset( entries, 0, (size_t)lmbWords_Count( inputs, pad ) * sizeof( *entries ) );
	for ( int i = 0; i < Padded( inputs ); ++i )
	{
		float most = 0.0f;
		for ( int o = 0; o < outputs && i < inputs; ++o )
		{
			float size = fabsf( from[(size_t)o * stride + i] );
			most = size > most ? size : most;
		}
		scales[i] = most / lmbWordLimit;
		int first = i / lmbWordChunk * lmbWordChunk, left = inputs - first;
		int pairs = ( ( left < lmbWordChunk ? left : lmbWordChunk ) + 1 ) / 2;
		for ( int o = 0; o < outputs && scales[i] > 0.0f; ++o )
		{
			double whole = floor( (double)from[(size_t)o * stride + i] / scales[i] + 0.5 );
			whole = whole > lmbWordLimit ? lmbWordLimit : whole < -lmbWordLimit ? -lmbWordLimit : whole;
			size_t pair = (size_t)first / 2 * (size_t)( pad / lmbTile ) + (size_t)( o / lmbTile * pairs ) +
			              (size_t)( ( i - first ) / 2 );
			entries[pair * 2 * lmbTile + (size_t)( o % lmbTile * 2 + i % 2 )] = (int16_t)whole;
		}
	}
}

/* Takes a layer's memory, and fills it from rows of inputs for each output, a stride apart; bias Nullable. */
static void PackDense( Packing *packing, const float *from, int outputs, int inputs, int stride,
                       const float *bias, int biasStride, lmbDense *dense )
{
	int pad = Padded( outputs );
	bool whole = packing->file->softOrder != NULL;
	float *weights = lmbCarver_Take( &packing->carver, whole ? 0 : (uint64_t)inputs * pad, sizeof( float ) );
	int16_t *entries =
	    lmbCarver_Take( &packing->carver, whole ? lmbWords_Count( inputs, pad ) : 0, sizeof( int16_t ) );
	float *scales =
	    lmbCarver_Take( &packing->carver, whole ? (uint64_t)Padded( inputs ) : 0, sizeof( float ) );
	float *biases = lmbCarver_Take( &packing->carver, bias != NULL ? (uint64_t)pad : 0, sizeof( float ) );
	if ( packing->carver.memory == NULL )
		return;
	*dense = ( lmbDense ){ .inputs = inputs, .outputs = pad, .weights = whole ? NULL : weights };
	if ( whole )
	{
		dense->words = ( lmbWords ){ inputs, pad, scales, entries };
		FillWords( from, outputs, inputs, stride, pad, scales, entries );
	}
	else
		Transpose( from, outputs, inputs, stride, weights, pad );
	if ( bias != NULL )
	{
		dense->bias = biases;
		Transpose( bias, outputs, 1, biasStride, biases, pad );
	}
}

void lmbDense_Run( const lmbDense *dense, const lmbKernels *kernels, const float *x, float *y )
{
	if ( dense->weights != NULL )
		kernels->dense( dense->inputs, dense->outputs, dense->weights, dense->bias, x, y );
	else
		kernels->words( &dense->words, dense->bias, 1, &x, &y );
}

void lmbDense_RunTwo( const lmbDense *dense, const lmbKernels *kernels, const float *const x[2],
                      float *const y[2] )
{
	if ( dense->weights != NULL )
		kernels->denseTwo( dense->inputs, dense->outputs, dense->weights, x, y );
	else
		kernels->words( &dense->words, NULL, 2, x, y );
}

/* Where the next region's numbers lie in the joined arrays. */
typedef struct Joined
{
	const int32_t *features, *vertices;
	const float *basis, *linear, *mean, *scale, *layers;
	int coefficient;
} Joined;

static void PackLayers( Packing *packing, const int32_t *row, Joined *joined, lmbFleshRegion *region )
{
	for ( int layer = 0; layer < row[lmbRegionLayers]; ++layer )
	{
		int inputs, outputs;
		lmbRegion_LayerSize( row, layer, &inputs, &outputs );
		PackDense( packing, joined->layers, outputs, inputs, inputs,
		           joined->layers + (size_t)inputs * outputs, 1, &region->layers[layer] );
		joined->layers += ( (size_t)inputs + 1 ) * outputs;
	}
}

static int CountSoft( const lmbFleshFile *file, const int32_t *vertices, int count )
{
	int soft = 0;
	for ( int i = 0; i < count; ++i )
		soft += file->softness[vertices[i]] > 0.0f;
	return soft;
}

/* Rigid vertices are left out: nothing moves them but skinning. */
static void PackBasis( Packing *packing, const Joined *joined, int coefficients, int vertexCount,
                       lmbFleshRegion *region )
{
	const lmbFleshFile *file = packing->file;
	int lanes = Padded( CountSoft( file, joined->vertices, vertexCount ) ), lane = 0;
	float *basis =
	    lmbCarver_Take( &packing->carver, (uint64_t)lanes * 3, (uint64_t)coefficients * sizeof( float ) );
	int32_t *targets = lmbCarver_Take( &packing->carver, (uint64_t)lanes, sizeof( int32_t ) );
	if ( basis == NULL || targets == NULL )
		return;
	memset( basis, 0, (size_t)lanes * 3 * coefficients * sizeof( float ) );
	for ( int i = 0; i < lanes; ++i ) /* padding adds zeros to a block of its own, behind the last */
		targets[i] = packing->model->softBlockCount * 3 * lmbLanes;
	for ( int i = 0; i < vertexCount; ++i )
	{
		int v = joined->vertices[i];
		if ( !( file->softness[v] > 0.0f ) )
			continue;
		int at = packing->place[v];
		targets[lane] = at / lmbLanes * 3 * lmbLanes + at % lmbLanes;
		for ( int axis = 0; axis < 3; ++axis )
			for ( int c = 0; c < coefficients; ++c )
				basis[( ( (size_t)( lane / lmbTile ) * 3 + axis ) * coefficients + c ) * lmbTile +
				      lane % lmbTile] = joined->basis[( (size_t)c * vertexCount + i ) * 3 + axis];
		lane += 1;
	}
	region->basis = basis;
	region->targets = targets;
	region->laneCount = lanes;
}

static void PackRegion( Packing *packing, const int32_t *row, Joined *joined, lmbFleshRegion *region )
{
	int features = row[lmbRegionFeatures], coefficients = row[lmbRegionCoefficients];
	int vertices = row[lmbRegionVertices];
	PackDense( packing, joined->linear, coefficients, features, features + 1, joined->linear + features,
	           features + 1, &region->linear );
	PackBasis( packing, joined, coefficients, vertices, region );
	PackLayers( packing, row, joined, region );
	lmbFlesh *model = packing->model;
	if ( model != NULL )
	{
		region->featureCount = features;
		region->coefficientCount = coefficients;
		region->coefficientPad = Padded( coefficients );
		region->hiddenCount = row[lmbRegionHidden];
		region->hiddenPad = Padded( region->hiddenCount );
		region->layerCount = row[lmbRegionLayers];
		region->firstCoefficient = joined->coefficient;
		region->features = joined->features;
		region->mean = joined->mean;
		region->scale = joined->scale;
		model->coefficientPadMax = Larger( model->coefficientPadMax, region->coefficientPad );
		model->hiddenPadMax = Larger( model->hiddenPadMax, region->hiddenPad );
		model->regionFeatureMax = Larger( model->regionFeatureMax, features );
	}
	joined->features += features;
	joined->mean += features;
	joined->scale += features;
	joined->vertices += vertices;
	joined->basis += (size_t)coefficients * vertices * 3;
	joined->linear += (size_t)coefficients * ( (size_t)features + 1 );
	joined->coefficient += coefficients;
}

static void PackNetwork( Packing *packing )
{
	const lmbFleshFile *file = packing->file;
	Joined joined = { file->features, file->regionVertices, file->basis,  file->linear,
	                  file->mean,     file->scale,          file->layers, 0 };
	lmbFleshRegion *regions =
	    lmbCarver_Take( &packing->carver, (uint64_t)file->regionCount, sizeof( lmbFleshRegion ) );
	if ( regions != NULL )
	{
		memset( regions, 0, (size_t)file->regionCount * sizeof( *regions ) );
		packing->model->regions = regions;
		packing->model->regionCount = file->regionCount;
	}
	lmbFleshRegion unused;
	for ( int r = 0; r < file->regionCount; ++r )
		PackRegion( packing, file->regions + r * lmbRegionColumns, &joined,
		            regions != NULL ? &regions[r] : &unused );
}

static void FillShapes( const Packing *packing, float *shapes )
{
	const lmbFleshFile *file = packing->file;
	const lmbFlesh *model = packing->model;
	for ( int i = 0; i < model->softBlockCount * lmbLanes; ++i )
	{
		int v = model->order[i];
		for ( int axis = 0; axis < 3; ++axis )
		{
			size_t tile =
			    ( (size_t)( i / lmbLanes ) * 3 + axis ) * ( lmbLanes / lmbTile ) + i % lmbLanes / lmbTile;
			float *to = shapes + tile * file->modeCount * lmbTile + i % lmbTile;
			for ( int m = 0; m < file->modeCount; ++m )
				to[(size_t)m * lmbTile] =
				    v < 0 ? 0.0f : file->shapes[( (size_t)m * file->vertexCount + (size_t)v ) * 3 + axis];
		}
	}
}

static void PackPoseStiffness( Packing *packing, int pad )
{
	const lmbFleshFile *file = packing->file;
	int modes = file->modeCount, features = file->featureCount;
	if ( file->poseStiffness == NULL )
		return;
	float *weights =
	    lmbCarver_Take( &packing->carver, (uint64_t)features + 1, (uint64_t)pad * sizeof( float ) );
	float *range = lmbCarver_Take( &packing->carver, 2, (uint64_t)pad * sizeof( float ) );
	if ( packing->model == NULL || weights == NULL || range == NULL )
		return;
	packing->model->poseStiffness = weights;
	packing->model->poseStiffnessRange = range;
	Transpose( file->poseStiffness, modes, features + 1, features + 1, weights, pad );
	Transpose( file->poseStiffnessRange, modes, 2, 2, range, pad );
}

static void PackModes( Packing *packing )
{
	const lmbFleshFile *file = packing->file;
	int modes = file->modeCount, pad = Padded( modes ), softBlocks, blocks;
	int boneInputs = file->pairCount * 12;
	CountBlocks( file, &softBlocks, &blocks );
	uint64_t shapeBlocks = file->shapes != NULL ? (uint64_t)softBlocks : 0;
	float *shapes =
	    lmbCarver_Take( &packing->carver, shapeBlocks * 3 * lmbLanes, (uint64_t)modes * sizeof( float ) );
	lmbDense bones = { 0 }, coefficients = { 0 };
	PackDense( packing, file->boneForcing, modes, boneInputs, boneInputs, NULL, 0, &bones );
	if ( file->coefficientForcing != NULL )
		PackDense( packing, file->coefficientForcing, modes, file->coefficientCount, file->coefficientCount,
		           NULL, 0, &coefficients );
	PackPoseStiffness( packing, pad );
	lmbFlesh *model = packing->model;
	if ( model == NULL || shapes == NULL )
		return;
	model->modePad = pad;
	model->shapes = shapes;
	model->boneForcing = bones;
	model->coefficientForcing = coefficients;
	if ( file->shapes != NULL )
		FillShapes( packing, shapes );
}

static lmbFleshInfo MakeInfo( const lmbFleshFile *file )
{
	return ( lmbFleshInfo ){
	    .vertexCount = file->vertexCount,
	    .triangleCount = file->triangleCount,
	    .boneCount = file->boneCount,
	    .modeCount = file->modeCount,
	    .coefficientCount = file->coefficientCount,
	    .hasNetwork = file->regions != NULL,
	    .hasVertexSprings = file->vertexSprings != NULL,
	    .hasModes = file->modeCount > 0,
	    .hasFittedModes = file->fitted != NULL,
	    .hasHybrid = file->remainderSprings != NULL,
	    .hasPoseStiffness = file->poseStiffness != NULL,
	};
}

/* Packs into memory, or with memory NULL finds the bytes needed (0: more than fits in size_t). */
static size_t Pack( const lmbFleshFile *file, void *memory )
{
	Packing packing = { { memory, 0 }, NULL, file, NULL, false, 0 };
	packing.model = lmbCarver_Take( &packing.carver, 1, sizeof( lmbFlesh ) );
	lmbFlesh *model = packing.model;
	if ( model != NULL )
	{
		memset( model, 0, sizeof( *model ) );
		model->info = MakeInfo( file );
		model->pairCount = file->pairCount;
		model->featureCount = file->featureCount;
		model->bind = file->bind;
		model->parents = file->parents;
		model->triangles = file->triangles;
		model->pairs = file->pairs;
		model->networkColumns = file->networkColumns;
		model->modeColumns = file->modeColumns;
		model->modeSprings = file->fitted;
		model->modeSpringsUnfitted = file->unfitted;
		model->vertexSprings = file->vertexSprings;
		model->remainderSprings = file->remainderSprings;
	}
	PackNames( &packing );
	PackSkin( &packing );
	lmbFleshMesh_Pack( &packing.carver, file, model, &packing.most );
	PackNetwork( &packing );
	PackModes( &packing );
	uint64_t size = packing.carver.used > packing.most ? packing.carver.used : packing.most;
	return size <= SIZE_MAX / 2 && !packing.twice ? (size_t)size : 0;
}

size_t lmbFlesh_Size( const void *data, size_t size )
{
	lmbFleshFile file;
	const char *problem;
	return lmbFleshFile_Read( data, size, &file, &problem ) == lmb_statusOk ? Pack( &file, NULL ) : 0;
}

lmbStatus lmbFlesh_Load( const void *data, size_t size, void *memory, size_t memorySize, lmbFlesh **model,
                         const char **problem )
{
	lmbFleshFile file;
	const char *unused;
	problem = problem != NULL ? problem : &unused;
	*model = NULL;
	lmbStatus status = lmbFleshFile_Read( data, size, &file, problem );
	if ( status != lmb_statusOk )
		return status;
	size_t needed = Pack( &file, NULL );
	if ( needed == 0 )
	{
		*problem = "the model does not fit into this machine's memory";
		return lmb_statusOutOfMemory;
	}
	if ( memory == NULL || (uintptr_t)memory % 64 != 0 || memorySize < needed )
	{
		*problem = "the memory for the model is smaller than lmbFlesh_Size says, or not aligned to 64";
		return lmb_statusInvalidArgument;
	}
	if ( Pack( &file, memory ) == 0 )
	{
		*problem = "soft_order does not hold each soft vertex once";
		return lmb_statusCorrupt;
	}
	*model = memory;
	( *model )->key = lmbFile_Key( data, size );
	return lmb_statusOk;
}

lmbFleshInfo lmbFlesh_Info( const lmbFlesh *model )
{
	return model->info;
}

const char *lmbFlesh_BoneName( const lmbFlesh *model, int bone )
{
	return bone >= 0 && bone < model->info.boneCount ? model->boneNames[bone] : NULL;
}

int lmbFlesh_BoneParent( const lmbFlesh *model, int bone )
{
	return bone >= 0 && bone < model->info.boneCount ? model->parents[bone] : -1;
}

const int32_t *lmbFlesh_Triangles( const lmbFlesh *model )
{
	return model->triangles;
}

const float *lmbFlesh_Bind( const lmbFlesh *model )
{
	return model->bind;
}

lmbFleshDef lmbDefaultFleshDef( const lmbFlesh *model )
{
	const lmbFleshInfo *info = &model->info;
	return ( lmbFleshDef ){
	    .layer = info->hasHybrid          ? lmb_layerHybrid
	             : info->hasFittedModes   ? lmb_layerModal
	             : info->hasModes         ? lmb_layerModalUnfitted
	             : info->hasVertexSprings ? lmb_layerVertex
	                                      : lmb_layerNone,
	    .network = info->hasNetwork,
	    .interpolation = lmb_targetCubic,
	    .normals = true,
	    .poseStiffness = info->hasPoseStiffness,
	};
}
