#include "flesh_file.h"

#include "kernels/kernels.h"
#include "tensors.h"

#include <math.h>
#include <string.h>

/* Far above any real model, low enough that no product of two counts leaves int64. */
enum
{
	vertexLimit = 1 << 24,
	boneLimit = 1 << 16,
	regionLimit = 1 << 12,
	coefficientLimit = 256, /* of one region */
	hiddenLimit = 1 << 12,
	modeLimit = 1 << 12
};

static const double numberLimit = 1e9; /* larger numbers are damage, not data */

typedef struct Reader
{
	const void *data;
	size_t size;
	lmbStatus status;
	const char *problem; /* NULL while all is well */
} Reader;

static bool Fail( Reader *reader, lmbStatus status, const char *problem )
{
	if ( reader->problem == NULL )
	{
		reader->status = status;
		reader->problem = problem;
	}
	return false;
}

static bool Corrupt( Reader *reader, const char *problem )
{
	return Fail( reader, lmb_statusCorrupt, problem );
}

/* The array's data; its shape must be shape[], where -1 takes what the file says. */
static const void *Get( Reader *reader, const char *name, lmbDataType type, int rank, int64_t *shape,
                        const char *problem )
{
	lmbTensor tensor;
	if ( reader->problem != NULL )
		return NULL;
	bool matches = lmbTensors_Find( reader->data, reader->size, name, &tensor ) == lmb_statusOk &&
	               tensor.type == type && tensor.rank == rank;
	for ( int i = 0; matches && i < rank; ++i )
	{
		matches = shape[i] == -1 || shape[i] == tensor.shape[i];
		shape[i] = tensor.shape[i];
	}
	if ( !matches )
	{
		Corrupt( reader, problem );
		return NULL;
	}
	return tensor.data;
}

static bool Has( const Reader *reader, const char *name )
{
	lmbTensor tensor;
	return reader->problem == NULL &&
	       lmbTensors_Find( reader->data, reader->size, name, &tensor ) == lmb_statusOk;
}

/* Names, types and shapes as in docs/formats/model.md. */
#define GET( reader, name, type, rank, shape )                                                               \
	Get( reader, name, type, rank, shape,                                                                    \
	     "array \"" name "\" is missing or has another type or shape than needed" )

static bool CheckFloats( Reader *reader, const float *numbers, int64_t count )
{
	for ( int64_t i = 0; reader->problem == NULL && i < count; ++i )
		if ( !( fabs( (double)numbers[i] ) <= numberLimit ) )
			Fail( reader, lmb_statusNumerical, "an array holds a number that is not finite or above 1e9" );
	return reader->problem == NULL;
}

static bool CheckSprings( Reader *reader, const double *numbers, int64_t count )
{
	for ( int64_t i = 0; reader->problem == NULL && numbers != NULL && i < 2 * count; ++i )
		if ( !( numbers[i] >= 0.0 && numbers[i] <= 1e30 ) )
			Fail( reader, lmb_statusNumerical, "a spring's stiffness or damping is negative or not finite" );
	return reader->problem == NULL;
}

static bool CheckIndices( Reader *reader, const int32_t *indices, int64_t count, int64_t low, int64_t high )
{
	for ( int64_t i = 0; reader->problem == NULL && i < count; ++i )
		if ( indices[i] < low || indices[i] >= high )
			Corrupt( reader, "an index reaches outside the array that it points into" );
	return reader->problem == NULL;
}

static int ReadCount( Reader *reader, int64_t count, int64_t limit, const char *problem )
{
	if ( count < 0 || count > limit )
		Fail( reader, lmb_statusUnsupported, problem );
	return reader->problem == NULL ? (int)count : 0;
}

static bool CheckFormat( Reader *reader, int *version )
{
	char text[32];
	if ( lmbTensors_Metadata( reader->data, reader->size, "format", text, sizeof( text ) ) != lmb_statusOk ||
	     strcmp( text, "limber.flesh" ) != 0 )
		return Corrupt( reader, "not a model: the file's metadata lacks \"format\": \"limber.flesh\"" );
	if ( lmbTensors_Metadata( reader->data, reader->size, "version", text, sizeof( text ) ) != lmb_statusOk )
		return Corrupt( reader, "the file's metadata lacks \"version\"" );
	*version = strcmp( text, "1" ) == 0 ? 1 : 2;
	if ( *version == 2 && strcmp( text, "2" ) != 0 )
		return Fail( reader, lmb_statusUnsupported,
		             "the model's version is neither 1 nor 2, which this library reads" );
	return true;
}

static void CheckWeights( Reader *reader, const lmbFleshFile *file )
{
	for ( int64_t v = 0; reader->problem == NULL && v < file->vertexCount; ++v )
	{
		const float *weights = file->weights + v * file->influenceCount;
		const uint16_t *bones = file->vertexBones + v * file->influenceCount;
		double sum = 0.0;
		for ( int k = 0; k < file->influenceCount; ++k )
		{
			if ( bones[k] >= file->boneCount )
				Corrupt( reader, "vertex_bones names a bone that is not there" );
			if ( !( weights[k] >= 0.0f && weights[k] <= weights[0] ) )
				Corrupt( reader, "vertex_weights has a negative number or does not start with the heaviest" );
			sum += weights[k];
		}
		if ( !( fabs( sum - 1.0 ) <= 1e-3 ) )
			Corrupt( reader, "a vertex's weights do not sum to 1" );
	}
}

/* boneCount strings of UTF-8, each ending in a zero. */
static void CheckNames( Reader *reader, const lmbFleshFile *file, int64_t bytes )
{
	const uint8_t *at = (const uint8_t *)file->names, *end = at + bytes;
	int64_t count = 0;
	for ( int length = 0; reader->problem == NULL && at < end; at += length )
	{
		length = lmbUtf8_Length( at, end );
		count += *at == 0;
		if ( length == 0 )
			Corrupt( reader, "bone_names is not UTF-8" );
	}
	if ( reader->problem == NULL && ( count != file->boneCount || end[-1] != 0 ) )
		Corrupt( reader, "bone_names does not hold a name for each bone" );
}

static void ReadBones( Reader *reader, lmbFleshFile *file )
{
	int64_t count[1] = { -1 }, bytes[1] = { -1 };
	file->parents = GET( reader, "bone_parents", lmb_dataI32, 1, count );
	file->boneCount = ReadCount( reader, count[0], boneLimit, "the model has more than 65536 bones" );
	file->names = GET( reader, "bone_names", lmb_dataU8, 1, bytes );
	if ( reader->problem == NULL && file->boneCount < 1 )
		Corrupt( reader, "the model has no bones" );
	if ( reader->problem == NULL )
		CheckNames( reader, file, bytes[0] );
	for ( int j = 0; reader->problem == NULL && j < file->boneCount; ++j )
	{
		if ( file->parents[j] < -1 || file->parents[j] >= j )
			Corrupt( reader, "a bone's parent does not come before it" );
		file->featureCount += lmbBone_FeatureCount( file->parents, j );
	}
}

static void ReadSkin( Reader *reader, lmbFleshFile *file )
{
	int64_t shape[2] = { -1, 3 };
	file->bind = GET( reader, "bind", lmb_dataF32, 2, shape );
	file->vertexCount =
	    ReadCount( reader, shape[0], vertexLimit, "the model has more than 16777216 vertices" );
	int64_t vertexCount = file->vertexCount;
	file->softness = GET( reader, "softness", lmb_dataF32, 1, ( ( int64_t[] ){ vertexCount } ) );
	file->groups = GET( reader, "normal_groups", lmb_dataI32, 1, ( ( int64_t[] ){ vertexCount } ) );
	shape[0] = -1, shape[1] = 3;
	file->triangles = GET( reader, "triangles", lmb_dataI32, 2, shape );
	file->triangleCount =
	    ReadCount( reader, shape[0], 2 * vertexLimit, "the model has more than 33554432 triangles" );
	shape[0] = vertexCount, shape[1] = -1;
	file->vertexBones = GET( reader, "vertex_bones", lmb_dataU16, 2, shape );
	file->influenceCount =
	    ReadCount( reader, shape[1], lmbInfluenceLimit, "a vertex has more than 64 bones" );
	file->weights = GET( reader, "vertex_weights", lmb_dataF32, 2, shape );
	if ( reader->problem != NULL )
		return;
	if ( vertexCount < 1 || file->influenceCount < 1 )
		Corrupt( reader, "the model has no vertices or no weights" );
	CheckFloats( reader, file->bind, 3 * vertexCount );
	CheckWeights( reader, file );
	CheckIndices( reader, file->triangles, 3 * (int64_t)file->triangleCount, 0, vertexCount );
	CheckIndices( reader, file->groups, vertexCount, 0, vertexCount );
	for ( int64_t v = 0; reader->problem == NULL && v < vertexCount; ++v )
	{
		if ( file->groups[v] > v || file->groups[file->groups[v]] != file->groups[v] )
			Corrupt( reader, "normal_groups does not name the first vertex of each group" );
		if ( !( file->softness[v] >= 0.0f && file->softness[v] <= 1.0f ) )
			Corrupt( reader, "softness leaves the range from 0 to 1" );
	}
}

static int SoftBlocks( const lmbFleshFile *file, int *softCount )
{
	*softCount = 0;
	for ( int v = 0; v < file->vertexCount; ++v )
		*softCount += file->softness[v] > 0.0f;
	return ( *softCount + lmbLanes - 1 ) / lmbLanes;
}

/* Whether an order names a vertex twice, looking at so many vertices at a time as a little memory has bits
 * for. */
static bool NamesTwice( const int32_t *order, int64_t count, int vertexCount )
{
	enum
	{
		window = 1 << 17
	};
	uint8_t seen[window / 8];
	for ( int first = 0; first < vertexCount; first += window )
	{
		memset( seen, 0, sizeof( seen ) );
		for ( int64_t i = 0; i < count; ++i )
		{
			if ( order[i] < first || order[i] - first >= window )
				continue;
			int at = order[i] - first;
			if ( seen[at / 8] >> at % 8 & 1 )
				return true;
			seen[at / 8] |= (uint8_t)( 1 << at % 8 );
		}
	}
	return false;
}

static void ReadSoftOrder( Reader *reader, lmbFleshFile *file )
{
	if ( reader->problem != NULL || file->version < 2 || !Has( reader, "soft_order" ) )
		return;
	int softCount, count = 0;
	int64_t shape[1] = { (int64_t)SoftBlocks( file, &softCount ) * lmbLanes };
	file->softOrder = GET( reader, "soft_order", lmb_dataI32, 1, shape );
	if ( reader->problem != NULL )
		return;
	CheckIndices( reader, file->softOrder, shape[0], -1, file->vertexCount );
	for ( int64_t i = 0; reader->problem == NULL && i < shape[0]; ++i )
	{
		int v = file->softOrder[i];
		count += v >= 0;
		if ( v >= 0 && !( file->softness[v] > 0.0f ) )
			Corrupt( reader, "soft_order names a vertex that is not soft" );
	}
	if ( reader->problem == NULL &&
	     ( count != softCount || NamesTwice( file->softOrder, shape[0], file->vertexCount ) ) )
		Corrupt( reader, "soft_order does not hold each soft vertex once" );
}

/* network.* or modes.*; amountCount: what their columns may ask for. */
static void ReadColumns( Reader *reader, const lmbFleshFile *file, bool modes, int amountCount,
                         lmbFileColumns *columns )
{
	static const char *const names[2][4] = {
	    { "network.blocks", "network.columns", "network.scales", "network.entries" },
	    { "modes.blocks", "modes.columns", "modes.scales", "modes.entries" } };
	const char *problem =
	    modes ? "modes.blocks, .columns, .scales or .entries is missing or has another shape"
	          : "network.blocks, .columns, .scales or .entries is missing or has another shape";
	int softCount, blocks = SoftBlocks( file, &softCount );
	int64_t shape[1] = { (int64_t)blocks + 1 };
	if ( reader->problem == NULL && file->softOrder == NULL )
		Corrupt( reader, "shapes are stored by blocks, but soft_order is missing" );
	columns->blocks = Get( reader, names[modes][0], lmb_dataI32, 1, shape, problem );
	for ( int b = 0; reader->problem == NULL && b <= blocks; ++b )
	{
		int64_t first = columns->blocks[b], before = b == 0 ? 0 : columns->blocks[b - 1];
		if ( first < before || first - before > lmbColumnLimit || first % 2 != 0 || ( b == 0 && first != 0 ) )
			Corrupt( reader, "a block of shapes has an odd number of columns, or more than 512" );
	}
	if ( reader->problem != NULL )
		return;
	int64_t count = columns->blocks[blocks], bytes = count * 3 * lmbLanes;
	columns->amount = Get( reader, names[modes][1], lmb_dataI32, 1, &count, problem );
	columns->scales = Get( reader, names[modes][2], lmb_dataF32, 1, &count, problem );
	columns->entries = Get( reader, names[modes][3], lmb_dataI8, 1, &bytes, problem );
	if ( reader->problem != NULL )
		return;
	CheckIndices( reader, columns->amount, count, 0, amountCount );
	CheckFloats( reader, columns->scales, count );
	for ( int64_t i = 0; reader->problem == NULL && i < bytes; ++i )
		if ( columns->entries[i] < -127 )
			Corrupt( reader, "a shape holds the byte -128, which would let sums overflow" );
}

void lmbRegion_LayerSize( const int32_t *region, int layer, int *inputs, int *outputs )
{
	*inputs = layer == 0 ? region[lmbRegionFeatures] : region[lmbRegionHidden];
	*outputs = layer == region[lmbRegionLayers] - 1 ? region[lmbRegionCoefficients] : region[lmbRegionHidden];
}

/* What the regions together need of each joined array. */
typedef struct Totals
{
	int64_t features, vertices, basis, linear, layers, coefficients;
} Totals;

static bool AddRegion( Reader *reader, const lmbFleshFile *file, const int32_t *region, Totals *totals )
{
	int64_t features = region[lmbRegionFeatures], coefficients = region[lmbRegionCoefficients];
	int64_t vertices = region[lmbRegionVertices], layers = region[lmbRegionLayers];
	if ( region[lmbRegionBone] < 0 || region[lmbRegionBone] >= file->boneCount || features < 0 ||
	     features > file->featureCount || coefficients < 1 || coefficients > coefficientLimit ||
	     vertices < 0 || vertices > file->vertexCount || layers < 0 || layers > lmbLayersMax ||
	     region[lmbRegionHidden] < 0 || region[lmbRegionHidden] > hiddenLimit ||
	     ( layers > 1 && region[lmbRegionHidden] == 0 ) )
		return Corrupt( reader, "network.regions has a size outside its range" );
	totals->features += features;
	totals->vertices += vertices;
	totals->coefficients += coefficients;
	totals->basis += coefficients * vertices * 3;
	totals->linear += coefficients * ( features + 1 );
	for ( int layer = 0; layer < layers; ++layer )
	{
		int inputs, outputs;
		lmbRegion_LayerSize( region, layer, &inputs, &outputs );
		totals->layers += ( (int64_t)inputs + 1 ) * outputs;
	}
	return true;
}

static void CheckRegionVertices( Reader *reader, const lmbFleshFile *file )
{
	const int32_t *vertices = file->regionVertices;
	for ( int r = 0; r < file->regionCount; ++r )
	{
		int count = file->regions[r * lmbRegionColumns + lmbRegionVertices];
		for ( int i = 1; i < count && reader->problem == NULL; ++i )
			if ( vertices[i] <= vertices[i - 1] )
				Corrupt( reader, "network.vertices does not ascend within a region" );
		vertices += count;
	}
}

static void ReadNetwork( Reader *reader, lmbFleshFile *file )
{
	if ( !Has( reader, "network.regions" ) )
		return;
	int64_t shape[2] = { -1, lmbRegionColumns };
	Totals totals = { 0 };
	file->regions = GET( reader, "network.regions", lmb_dataI32, 2, shape );
	file->regionCount = ReadCount( reader, shape[0], regionLimit, "the network has more than 4096 regions" );
	for ( int r = 0; r < file->regionCount; ++r )
		if ( !AddRegion( reader, file, file->regions + r * lmbRegionColumns, &totals ) )
			return;
	file->coefficientCount = (int)totals.coefficients;
	file->features = GET( reader, "network.features", lmb_dataI32, 1, &totals.features );
	bool byBlocks = file->version >= 2 && Has( reader, "network.blocks" );
	if ( byBlocks )
	{
		if ( totals.vertices != 0 )
			Corrupt( reader,
			         "shapes of the network are stored by blocks, but a region has vertices of its own" );
		ReadColumns( reader, file, false, file->coefficientCount, &file->networkColumns );
	}
	else
	{
		file->regionVertices = GET( reader, "network.vertices", lmb_dataI32, 1, &totals.vertices );
		file->basis = GET( reader, "network.basis", lmb_dataF32, 1, &totals.basis );
	}
	file->linear = GET( reader, "network.linear", lmb_dataF32, 1, &totals.linear );
	file->mean = GET( reader, "network.mean", lmb_dataF32, 1, &totals.features );
	file->scale = GET( reader, "network.scale", lmb_dataF32, 1, &totals.features );
	file->layers = GET( reader, "network.layers", lmb_dataF32, 1, &totals.layers );
	if ( reader->problem != NULL )
		return;
	CheckIndices( reader, file->features, totals.features, 0, file->featureCount );
	if ( !byBlocks )
	{
		CheckIndices( reader, file->regionVertices, totals.vertices, 0, file->vertexCount );
		CheckRegionVertices( reader, file );
		CheckFloats( reader, file->basis, totals.basis );
	}
	CheckFloats( reader, file->linear, totals.linear );
	CheckFloats( reader, file->mean, totals.features );
	CheckFloats( reader, file->scale, totals.features );
	CheckFloats( reader, file->layers, totals.layers );
}

static void ReadPoseStiffness( Reader *reader, lmbFleshFile *file )
{
	if ( reader->problem != NULL || !Has( reader, "modes.pose_stiffness" ) )
		return;
	int64_t shape[2] = { file->modeCount, (int64_t)file->featureCount + 1 };
	file->poseStiffness = GET( reader, "modes.pose_stiffness", lmb_dataF32, 2, shape );
	int64_t count = shape[0] * shape[1];
	shape[1] = 2;
	file->poseStiffnessRange = GET( reader, "modes.pose_stiffness_range", lmb_dataF32, 2, shape );
	if ( reader->problem != NULL )
		return;
	CheckFloats( reader, file->poseStiffness, count );
	CheckFloats( reader, file->poseStiffnessRange, 2 * (int64_t)file->modeCount );
	for ( int m = 0; reader->problem == NULL && m < file->modeCount; ++m )
	{
		const float *range = file->poseStiffnessRange + 2 * m;
		if ( !( range[0] >= -1.0f && range[0] <= range[1] && range[1] <= 1.0f ) )
			Corrupt( reader, "modes.pose_stiffness_range does not lie in -1 to 1" );
	}
}

static void ReadModes( Reader *reader, lmbFleshFile *file )
{
	bool byBlocks = file->version >= 2 && Has( reader, "modes.blocks" );
	if ( !byBlocks && !Has( reader, "modes.shapes" ) )
		return;
	int64_t shape[3] = { -1, file->vertexCount, 3 }, two[2] = { -1, 2 };
	if ( byBlocks )
	{
		file->unfitted = GET( reader, "modes.unfitted", lmb_dataF64, 2, two );
		shape[0] = two[0];
		two[0] = -1;
	}
	else
		file->shapes = GET( reader, "modes.shapes", lmb_dataF32, 3, shape );
	file->modeCount = ReadCount( reader, shape[0], modeLimit, "the model has more than 4096 modes" );
	if ( reader->problem == NULL && file->modeCount < 1 )
		Corrupt( reader, "the model's modes are empty" );
	if ( byBlocks )
		ReadColumns( reader, file, true, file->modeCount, &file->modeColumns );
	file->pairs = GET( reader, "modes.pairs", lmb_dataI32, 2, two );
	file->pairCount = ReadCount( reader, two[0], 1 << 20, "the model has more than 1048576 pairs of bones" );
	two[0] = file->modeCount;
	file->unfitted = GET( reader, "modes.unfitted", lmb_dataF64, 2, two );
	if ( Has( reader, "modes.fitted" ) )
		file->fitted = GET( reader, "modes.fitted", lmb_dataF64, 2, two );
	shape[0] = file->modeCount, shape[1] = file->pairCount, shape[2] = 12;
	file->boneForcing = GET( reader, "modes.bone_forcing", lmb_dataF32, 3, shape );
	ReadPoseStiffness( reader, file );
	shape[0] = file->modeCount, shape[1] = file->coefficientCount;
	if ( file->regions != NULL && Has( reader, "modes.coefficient_forcing" ) )
		file->coefficientForcing = GET( reader, "modes.coefficient_forcing", lmb_dataF32, 2, shape );
	if ( reader->problem != NULL )
		return;
	int64_t modeCount = file->modeCount;
	if ( file->shapes != NULL )
		CheckFloats( reader, file->shapes, modeCount * file->vertexCount * 3 );
	CheckIndices( reader, file->pairs, 2 * (int64_t)file->pairCount, 0, file->boneCount );
	CheckFloats( reader, file->boneForcing, modeCount * file->pairCount * 12 );
	if ( file->coefficientForcing != NULL )
		CheckFloats( reader, file->coefficientForcing, modeCount * file->coefficientCount );
	CheckSprings( reader, file->unfitted, modeCount );
	CheckSprings( reader, file->fitted, modeCount );
}

static void ReadVertexSprings( Reader *reader, lmbFleshFile *file )
{
	int64_t shape[2] = { file->vertexCount, 2 };
	if ( Has( reader, "springs.vertex" ) )
		file->vertexSprings = GET( reader, "springs.vertex", lmb_dataF64, 2, shape );
	if ( Has( reader, "springs.remainder" ) )
		file->remainderSprings = GET( reader, "springs.remainder", lmb_dataF64, 2, shape );
	if ( reader->problem == NULL && file->remainderSprings != NULL && file->fitted == NULL )
		Corrupt( reader, "springs.remainder is there without modes.fitted" );
	CheckSprings( reader, file->vertexSprings, file->vertexCount );
	CheckSprings( reader, file->remainderSprings, file->vertexCount );
}

lmbStatus lmbFleshFile_Read( const void *data, size_t size, lmbFleshFile *file, const char **problem )
{
	Reader reader = { data, size, lmb_statusOk, NULL };
	memset( file, 0, sizeof( *file ) );
	reader.status = lmbTensors_Check( data, size, &reader.problem );
	if ( reader.problem == NULL && CheckFormat( &reader, &file->version ) )
	{
		ReadBones( &reader, file );
		ReadSkin( &reader, file );
		ReadSoftOrder( &reader, file );
		ReadNetwork( &reader, file );
		ReadModes( &reader, file );
		ReadVertexSprings( &reader, file );
	}
	*problem = reader.problem;
	return reader.status;
}
