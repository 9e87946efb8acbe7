#include "flesh/model.h"

#include "base/files.h"
#include "formats/safetensors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The arrays that the file takes live in the arena until it is written; memory that runs out is noticed
 * once, at the end. */
typedef struct Packer
{
	lmbTensorWriter writer;
	lmbArena arena;
	bool noMemory;
	int64_t vertexCount, boneCount;
} Packer;

static void *New( Packer *packer, int64_t count, size_t size )
{
	void *memory = lmbArena_New( &packer->arena, (size_t)count, size );
	packer->noMemory |= memory == NULL;
	return memory;
}

static void Add( Packer *packer, const char *name, lmbDataType type, int64_t rows, int64_t columns,
                 int64_t depth, const void *data )
{
	int64_t shape[3] = { rows, columns, depth };
	lmbTensorWriter_Add( &packer->writer, name, type, columns == 0 ? 1 : depth == 0 ? 2 : 3, shape, data );
}

static void AddFloats( Packer *packer, const char *name, int64_t rows, int64_t columns, int64_t depth,
                       const double *numbers )
{
	int64_t count = rows * ( columns == 0 ? 1 : columns ) * ( depth == 0 ? 1 : depth );
	float *floats = New( packer, count, sizeof( float ) );
	for ( int64_t i = 0; floats != NULL && i < count; ++i )
		floats[i] = (float)numbers[i];
	Add( packer, name, lmb_dataF32, rows, columns, depth, floats );
}

/* (count x 2) of stiffness and damping. */
static void AddSprings( Packer *packer, const char *name, int64_t count, const double *stiffness,
                        const double *damping )
{
	double *pairs = New( packer, 2 * count, sizeof( double ) );
	for ( int64_t i = 0; pairs != NULL && i < count; ++i )
	{
		pairs[2 * i] = stiffness[i];
		pairs[2 * i + 1] = damping[i];
	}
	Add( packer, name, lmb_dataF64, count, 2, 0, pairs );
}

typedef struct Place
{
	float point[3];
	int32_t vertex;
} Place;

static int ComparePoints( const float *a, const float *b )
{
	for ( int i = 0; i < 3; ++i )
		if ( a[i] != b[i] )
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

static int ComparePlaces( const void *a, const void *b )
{
	const Place *one = a, *two = b;
	int order = ComparePoints( one->point, two->point );
	if ( order != 0 )
		return order;
	return one->vertex < two->vertex ? -1 : one->vertex > two->vertex;
}

/* Vertices that lie at the same place (seams of the texture) share one normal: each names the first. */
static void AddNormalGroups( Packer *packer, const double *bind )
{
	int64_t count = packer->vertexCount;
	Place *places = New( packer, count, sizeof( Place ) );
	int32_t *groups = New( packer, count, sizeof( int32_t ) );
	if ( places == NULL || groups == NULL )
		return;
	for ( int64_t i = 0; i < count; ++i )
	{
		for ( int k = 0; k < 3; ++k )
			places[i].point[k] = (float)bind[3 * i + k];
		places[i].vertex = (int32_t)i;
	}
	qsort( places, (size_t)count, sizeof( Place ), ComparePlaces );
	for ( int64_t i = 0, first = 0; i < count; ++i )
	{
		if ( ComparePoints( places[i].point, places[first].point ) != 0 )
			first = i;
		groups[places[i].vertex] = places[first].vertex;
	}
	Add( packer, "normal_groups", lmb_dataI32, count, 0, 0, groups );
}

static void AddBones( Packer *packer, const lmbCharacter *character )
{
	int64_t bytes = 0;
	for ( int i = 0; i < character->boneCount; ++i )
		bytes += (int64_t)strlen( character->bones[i].name ) + 1;
	char *names = New( packer, bytes, 1 );
	int32_t *parents = New( packer, packer->boneCount, sizeof( int32_t ) );
	if ( names == NULL || parents == NULL )
		return;
	Add( packer, "bone_parents", lmb_dataI32, packer->boneCount, 0, 0, parents );
	Add( packer, "bone_names", lmb_dataU8, bytes, 0, 0, names );
	for ( int i = 0; i < character->boneCount; ++i )
	{
		parents[i] = character->bones[i].parent;
		size_t length = strlen( character->bones[i].name ) + 1;
		memcpy( names, character->bones[i].name, length );
		names += length;
	}
}

static void AddSkin( Packer *packer, const lmbCharacter *character, const lmbTissue *tissue )
{
	int64_t vertexCount = packer->vertexCount, influenceCount = character->influenceCount;
	AddFloats( packer, "bind", vertexCount, 3, 0, character->bind );
	Add( packer, "triangles", lmb_dataI32, character->triangleCount, 3, 0, character->triangles );
	uint16_t *bones = New( packer, vertexCount * influenceCount, sizeof( uint16_t ) );
	float *softness = New( packer, vertexCount, sizeof( float ) );
	if ( bones == NULL || softness == NULL )
		return;
	for ( int64_t i = 0; i < vertexCount * influenceCount; ++i )
		bones[i] = (uint16_t)character->vertexBones[i];
	for ( int64_t i = 0; i < vertexCount; ++i )
		softness[i] = tissue != NULL ? (float)tissue->softness[i] : 1.0f;
	Add( packer, "vertex_bones", lmb_dataU16, vertexCount, influenceCount, 0, bones );
	AddFloats( packer, "vertex_weights", vertexCount, influenceCount, 0, character->weights );
	Add( packer, "softness", lmb_dataF32, vertexCount, 0, 0, softness );
	AddNormalGroups( packer, character->bind );
}

/* Weights and biases of one region's perceptron, in order of its layers. */
static int64_t LayerNumbers( const lmbRegion *region, float *out )
{
	int64_t total = 0;
	for ( int layer = 0; layer < region->layerCount; ++layer )
	{
		int64_t in = layer == 0 ? region->featureCount : region->hiddenCount;
		int64_t outputs = layer == region->layerCount - 1 ? region->coefficientCount : region->hiddenCount;
		if ( out != NULL )
		{
			memcpy( out + total, region->layerWeights[layer], (size_t)( in * outputs ) * sizeof( float ) );
			memcpy( out + total + in * outputs, region->layerBias[layer], (size_t)outputs * sizeof( float ) );
		}
		total += in * outputs + outputs;
	}
	return total;
}

/* One array of all regions, cut from each by field; count and source are given per region. */
typedef struct Joined
{
	const char *name;
	lmbDataType type;
	int64_t ( *count )( const lmbRegion * );
	const void *( *source )( const lmbRegion * );
} Joined;

static int64_t CountFeatures( const lmbRegion *r )
{
	return r->featureCount;
}
static int64_t CountVertices( const lmbRegion *r )
{
	return r->vertexCount;
}
static int64_t CountBasis( const lmbRegion *r )
{
	return (int64_t)r->coefficientCount * r->vertexCount * 3;
}
static int64_t CountLinear( const lmbRegion *r )
{
	return (int64_t)r->coefficientCount * ( r->featureCount + 1 );
}
static const void *GetFeatures( const lmbRegion *r )
{
	return r->features;
}
static const void *GetVertices( const lmbRegion *r )
{
	return r->vertices;
}
static const void *GetBasis( const lmbRegion *r )
{
	return r->basis;
}
static const void *GetLinear( const lmbRegion *r )
{
	return r->linear;
}
static const void *GetMean( const lmbRegion *r )
{
	return r->featureMean;
}
static const void *GetScale( const lmbRegion *r )
{
	return r->featureScale;
}

static const Joined joined[] = {
    { "network.features", lmb_dataI32, CountFeatures, GetFeatures },
    { "network.vertices", lmb_dataI32, CountVertices, GetVertices },
    { "network.basis", lmb_dataF32, CountBasis, GetBasis },
    { "network.linear", lmb_dataF32, CountLinear, GetLinear },
    { "network.mean", lmb_dataF32, CountFeatures, GetMean },
    { "network.scale", lmb_dataF32, CountFeatures, GetScale },
};

static void AddJoined( Packer *packer, const lmbNetwork *network, const Joined *field )
{
	int64_t total = 0;
	for ( int i = 0; i < network->regionCount; ++i )
		total += field->count( &network->regions[i] );
	char *out = New( packer, total, 4 );
	Add( packer, field->name, field->type, total, 0, 0, out );
	for ( int i = 0; out != NULL && i < network->regionCount; ++i )
	{
		size_t bytes = (size_t)field->count( &network->regions[i] ) * 4;
		const void *source = field->source( &network->regions[i] );
		if ( bytes > 0 && source != NULL ) /* without a perceptron mean and scale may be absent: zeros */
			memcpy( out, source, bytes );
		out += bytes;
	}
}

static void AddNetwork( Packer *packer, const lmbNetwork *network )
{
	int32_t *sizes = New( packer, 6 * (int64_t)network->regionCount, sizeof( int32_t ) );
	int64_t total = 0;
	for ( int i = 0; sizes != NULL && i < network->regionCount; ++i )
	{
		const lmbRegion *region = &network->regions[i];
		const int32_t row[6] = { region->bone,        region->featureCount, region->coefficientCount,
		                         region->vertexCount, region->hiddenCount,  region->layerCount };
		memcpy( sizes + 6 * i, row, sizeof( row ) );
		total += LayerNumbers( region, NULL );
	}
	Add( packer, "network.regions", lmb_dataI32, network->regionCount, 6, 0, sizes );
	for ( size_t i = 0; i < sizeof( joined ) / sizeof( joined[0] ); ++i )
		AddJoined( packer, network, &joined[i] );
	float *layers = New( packer, total, sizeof( float ) );
	Add( packer, "network.layers", lmb_dataF32, total, 0, 0, layers );
	for ( int i = 0; layers != NULL && i < network->regionCount; ++i )
		layers += LayerNumbers( &network->regions[i], layers );
}

static void AddModes( Packer *packer, const lmbSprings *springs, bool hasNetwork )
{
	int64_t modeCount = springs->modeCount;
	AddFloats( packer, "modes.shapes", modeCount, packer->vertexCount, 3, springs->skinShapes );
	AddSprings( packer, "modes.unfitted", modeCount, springs->modeStiffnessUnfitted,
	            springs->modeDampingUnfitted );
	if ( springs->modeStiffness != NULL )
		AddSprings( packer, "modes.fitted", modeCount, springs->modeStiffness, springs->modeDamping );
	if ( springs->stiffnessWeights != NULL )
	{
		AddFloats( packer, "modes.pose_stiffness", modeCount, springs->featureCount + 1, 0,
		           springs->stiffnessWeights );
		AddFloats( packer, "modes.pose_stiffness_range", modeCount, 2, 0, springs->stiffnessRange );
	}
	Add( packer, "modes.pairs", lmb_dataI32, springs->pairCount, 2, 0, springs->pairs );
	AddFloats( packer, "modes.bone_forcing", modeCount, springs->pairCount, 12, springs->boneForcing );
	if ( hasNetwork && springs->coefficientForcing != NULL )
		AddFloats( packer, "modes.coefficient_forcing", modeCount, springs->coefficientCount, 0,
		           springs->coefficientForcing );
	if ( springs->modeStiffness != NULL && springs->remainderStiffness != NULL )
		AddSprings( packer, "springs.remainder", packer->vertexCount, springs->remainderStiffness,
		            springs->remainderDamping );
}

static lmbStatus Mismatch( lmbError *error, const char *path, const char *part, int has, const char *what,
                           int needed )
{
	return lmbError_Set(
	    error, lmb_statusInvalidArgument,
	    "%s: %d %s in the %s, %d in the character; they were made from different characters, "
	    "make the %s again",
	    path, has, what, part, needed, part );
}

static lmbStatus CheckParts( const lmbCharacter *character, const lmbTissue *tissue,
                             const lmbNetwork *network, const lmbSprings *springs, const char *path,
                             lmbError *error )
{
	int vertexCount = character->vertexCount, boneCount = character->boneCount;
	if ( boneCount > 65535 )
		return lmbError_Set( error, lmb_statusUnsupported,
		                     "%s: a model holds at most 65535 bones, this has %d", path, boneCount );
	if ( tissue != NULL && tissue->vertexCount != vertexCount )
		return Mismatch( error, path, "tissue", tissue->vertexCount, "vertices", vertexCount );
	if ( network != NULL && network->vertexCount != vertexCount )
		return Mismatch( error, path, "network", network->vertexCount, "vertices", vertexCount );
	if ( network != NULL && network->boneCount != boneCount )
		return Mismatch( error, path, "network", network->boneCount, "bones", boneCount );
	if ( springs != NULL && springs->vertexCount != vertexCount )
		return Mismatch( error, path, "springs", springs->vertexCount, "vertices", vertexCount );
	if ( springs != NULL && springs->modeCount > 0 && springs->boneCount != boneCount )
		return Mismatch( error, path, "springs", springs->boneCount, "bones", boneCount );
	if ( springs != NULL && network != NULL && springs->coefficientForcing != NULL &&
	     springs->coefficientCount != network->coefficientCount )
		return lmbError_Set(
		    error, lmb_statusInvalidArgument,
		    "%s: the springs were fitted to a network of %d coefficients, this one has %d; fit again", path,
		    springs->coefficientCount, network->coefficientCount );
	return lmb_statusOk;
}

/* What was written must be what the runtime reads: a model that is not sound never leaves here. */
static lmbStatus CheckWritten( const char *path, lmbError *error )
{
	lmbModel model;
	lmbStatus status = lmbModel_Open( &model, path, error );
	lmbModel_Close( &model );
	if ( status != lmb_statusOk )
		remove( path );
	return status;
}

lmbStatus lmbModel_Write( const lmbCharacter *character, const lmbTissue *tissue, const lmbNetwork *network,
                          const lmbSprings *springs, const char *path, lmbError *error )
{
	LMB_TRY( CheckParts( character, tissue, network, springs, path, error ) );
	Packer *packer = calloc( 1, sizeof( Packer ) );
	if ( packer == NULL )
		return lmbError_Memory( error );
	packer->vertexCount = character->vertexCount;
	packer->boneCount = character->boneCount;
	lmbTensorWriter_Metadata( &packer->writer, "format", "limber.flesh" );
	lmbTensorWriter_Metadata( &packer->writer, "version", "1" );
	AddSkin( packer, character, tissue );
	AddBones( packer, character );
	if ( network != NULL )
		AddNetwork( packer, network );
	if ( springs != NULL && springs->modeCount > 0 )
		AddModes( packer, springs, network != NULL );
	if ( springs != NULL && springs->vertexStiffness != NULL )
		AddSprings( packer, "springs.vertex", packer->vertexCount, springs->vertexStiffness,
		            springs->vertexDamping );
	lmbStatus status =
	    packer->noMemory ? lmbError_Memory( error ) : lmbTensorWriter_Write( &packer->writer, path, error );
	lmbArena_Free( &packer->arena );
	free( packer );
	return status == lmb_statusOk ? CheckWritten( path, error ) : status;
}

lmbStatus lmbModel_Open( lmbModel *model, const char *path, lmbError *error )
{
	memset( model, 0, sizeof( *model ) );
	char *data;
	size_t size;
	LMB_TRY( lmbFile_Read( path, &model->arena, &data, &size, error ) );
	size_t bytes = lmbFlesh_Size( data, size );
	void *memory = lmbArena_New( &model->arena, bytes, 1 );
	if ( memory == NULL )
		return lmbError_Memory( error );
	const char *problem;
	lmbStatus status = lmbFlesh_Load( data, size, memory, bytes, &model->flesh, &problem );
	if ( status != lmb_statusOk )
		return lmbError_Set( error, status, "%s: %s; make the model again", path, problem );
	return lmb_statusOk;
}

void lmbModel_Close( lmbModel *model )
{
	lmbArena_Free( &model->arena );
	model->flesh = NULL;
}

lmbStatus lmbModel_Body( const lmbModel *model, const lmbFleshDef *def, lmbArena *arena, lmbFleshBody **body,
                         lmbError *error )
{
	lmbFleshDef chosen = def != NULL ? *def : lmbDefaultFleshDef( model->flesh );
	size_t bytes = lmbFleshBody_Size( model->flesh, &chosen );
	if ( bytes == 0 )
		return lmbError_Set( error, lmb_statusNotFound,
		                     "the model has no springs of the layer asked for; fit them, or "
		                     "choose a layer that `limber info` lists" );
	void *memory = lmbArena_New( arena, bytes, 1 );
	if ( memory == NULL )
		return lmbError_Memory( error );
	lmbStatus status = lmbFleshBody_Place( model->flesh, &chosen, memory, bytes, body );
	return status == lmb_statusOk ? status
	                              : lmbError_Set( error, status, "a body of the model could not be made" );
}
