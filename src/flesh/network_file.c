#include "flesh/network_parts.h"
#include "formats/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Docs: docs/formats/network.md. Regions' arrays lie one behind the other, cut by the table of sizes. */

enum
{
	fileVersion = 1,
	sizeFields = 6,
	numberLimit = 1 << 24 /* of bones, vertices, features, regions: keeps every product in 64 bits */
};

static size_t LayerNumbers( const lmbRegion *region )
{
	size_t count = 0;
	for ( int l = 0; l < region->layerCount; ++l )
		count +=
		    ( (size_t)lmbRegion_LayerInputs( region, l ) + 1 ) * (size_t)lmbRegion_LayerOutputs( region, l );
	return count;
}

bool lmbRegion_Allocate( lmbRegion *region, lmbArena *arena )
{
	size_t features = (size_t)region->featureCount, coefficients = (size_t)region->coefficientCount;
	region->features = LMB_NEW( arena, int32_t, features );
	region->vertices = LMB_NEW( arena, int32_t, region->vertexCount );
	region->basis = LMB_NEW( arena, float, 3 * coefficients * (size_t)region->vertexCount );
	region->linear = LMB_NEW( arena, float, coefficients *( features + 1 ) );
	region->featureMean = LMB_NEW( arena, float, features );
	region->featureScale = LMB_NEW( arena, float, features );
	region->layerWeights = LMB_NEW( arena, float *, region->layerCount );
	region->layerBias = LMB_NEW( arena, float *, region->layerCount );
	if ( region->features == NULL || region->vertices == NULL || region->basis == NULL ||
	     region->linear == NULL || region->featureMean == NULL || region->featureScale == NULL ||
	     region->layerWeights == NULL || region->layerBias == NULL )
		return false;
	for ( int l = 0; l < region->layerCount; ++l )
	{
		size_t in = (size_t)lmbRegion_LayerInputs( region, l ),
		       out = (size_t)lmbRegion_LayerOutputs( region, l );
		region->layerWeights[l] = LMB_NEW( arena, float, in *out );
		region->layerBias[l] = LMB_NEW( arena, float, out );
		if ( region->layerWeights[l] == NULL || region->layerBias[l] == NULL )
			return false;
	}
	return true;
}

/* The arrays of all regions, joined; what a region's part of each is long. */
typedef struct Joined
{
	int32_t *sizes, *features, *vertices;
	float *basis, *linear, *mean, *scale, *layers;
	size_t featureCount, vertexCount, basisCount, linearCount, layerCount;
} Joined;

static void Count( Joined *joined, const lmbRegion *region )
{
	joined->featureCount += (size_t)region->featureCount;
	joined->vertexCount += (size_t)region->vertexCount;
	joined->basisCount += 3 * (size_t)region->coefficientCount * (size_t)region->vertexCount;
	joined->linearCount += (size_t)region->coefficientCount * ( (size_t)region->featureCount + 1 );
	joined->layerCount += LayerNumbers( region );
}

/* Copies between a region and its part of the joined arrays, and moves on. */
static void Transfer( Joined *at, lmbRegion *region, bool intoRegion )
{
	Joined count = { 0 };
	Count( &count, region );
	struct
	{
		void *own, **joined;
		size_t numbers;
	} parts[] = {
	    { region->features, (void **)&at->features, count.featureCount },
	    { region->vertices, (void **)&at->vertices, count.vertexCount },
	    { region->basis, (void **)&at->basis, count.basisCount },
	    { region->linear, (void **)&at->linear, count.linearCount },
	    { region->featureMean, (void **)&at->mean, count.featureCount },
	    { region->featureScale, (void **)&at->scale, count.featureCount },
	};
	for ( size_t i = 0; i < sizeof( parts ) / sizeof( parts[0] ); ++i )
	{
		size_t bytes = 4 * parts[i].numbers;
		memcpy( intoRegion ? parts[i].own : *parts[i].joined, intoRegion ? *parts[i].joined : parts[i].own,
		        bytes );
		*parts[i].joined = (char *)*parts[i].joined + bytes;
	}
	for ( int l = 0; l < region->layerCount; ++l )
	{
		size_t out = (size_t)lmbRegion_LayerOutputs( region, l );
		size_t weights = out * (size_t)lmbRegion_LayerInputs( region, l );
		memcpy( intoRegion ? region->layerWeights[l] : at->layers,
		        intoRegion ? at->layers : region->layerWeights[l], weights * sizeof( float ) );
		at->layers += weights;
		memcpy( intoRegion ? region->layerBias[l] : at->layers,
		        intoRegion ? at->layers : region->layerBias[l], out * sizeof( float ) );
		at->layers += out;
	}
}

static bool Join( const lmbNetwork *network, lmbArena *arena, Joined *joined )
{
	for ( int r = 0; r < network->regionCount; ++r )
		Count( joined, &network->regions[r] );
	joined->sizes = LMB_NEW( arena, int32_t, (size_t)network->regionCount * sizeFields );
	joined->features = LMB_NEW( arena, int32_t, joined->featureCount );
	joined->vertices = LMB_NEW( arena, int32_t, joined->vertexCount );
	joined->basis = LMB_NEW( arena, float, joined->basisCount );
	joined->linear = LMB_NEW( arena, float, joined->linearCount );
	joined->mean = LMB_NEW( arena, float, joined->featureCount );
	joined->scale = LMB_NEW( arena, float, joined->featureCount );
	joined->layers = LMB_NEW( arena, float, joined->layerCount );
	if ( joined->sizes == NULL || joined->features == NULL || joined->vertices == NULL ||
	     joined->basis == NULL || joined->linear == NULL || joined->mean == NULL || joined->scale == NULL ||
	     joined->layers == NULL )
		return false;
	Joined at = *joined;
	for ( int r = 0; r < network->regionCount; ++r )
	{
		lmbRegion *region = &network->regions[r];
		const int32_t sizes[sizeFields] = {
		    region->bone,        region->featureCount, region->coefficientCount,
		    region->vertexCount, region->hiddenCount,  region->layerCount };
		memcpy( joined->sizes + (size_t)r * sizeFields, sizes, sizeof( sizes ) );
		Transfer( &at, region, false );
	}
	return true;
}

lmbStatus lmbNetworkFile_Write( const lmbNetwork *network, const char *path, const char *format,
                                const char *mark, lmbError *error )
{
	lmbArena arena = { 0 };
	Joined joined = { 0 };
	lmbTensorWriter *writer = LMB_NEW( &arena, lmbTensorWriter, 1 );
	lmbStatus status = lmb_statusOk;
	if ( writer == NULL || !Join( network, &arena, &joined ) )
		status = lmbError_Memory( error );
	else
	{
		char version[16];
		snprintf( version, sizeof( version ), "%d", fileVersion );
		lmbTensorWriter_Metadata( writer, "format", format );
		lmbTensorWriter_Metadata( writer, "version", version );
		if ( mark != NULL )
			lmbTensorWriter_Metadata( writer, "mark", mark );
		const int32_t counts[3] = { network->boneCount, network->vertexCount, network->featureCount };
		int64_t features = (int64_t)joined.featureCount;
		lmbTensorWriter_Add( writer, "counts", lmb_dataI32, 1, ( int64_t[] ){ 3 }, counts );
		lmbTensorWriter_Add( writer, "regions", lmb_dataI32, 2,
		                     ( int64_t[] ){ network->regionCount, sizeFields }, joined.sizes );
		lmbTensorWriter_Add( writer, "features", lmb_dataI32, 1, &features, joined.features );
		lmbTensorWriter_Add( writer, "vertices", lmb_dataI32, 1, ( int64_t[] ){ (int64_t)joined.vertexCount },
		                     joined.vertices );
		lmbTensorWriter_Add( writer, "basis", lmb_dataF32, 1, ( int64_t[] ){ (int64_t)joined.basisCount },
		                     joined.basis );
		lmbTensorWriter_Add( writer, "linear", lmb_dataF32, 1, ( int64_t[] ){ (int64_t)joined.linearCount },
		                     joined.linear );
		lmbTensorWriter_Add( writer, "mean", lmb_dataF32, 1, &features, joined.mean );
		lmbTensorWriter_Add( writer, "scale", lmb_dataF32, 1, &features, joined.scale );
		lmbTensorWriter_Add( writer, "layers", lmb_dataF32, 1, ( int64_t[] ){ (int64_t)joined.layerCount },
		                     joined.layers );
		if ( network->lattice != NULL )
			lmbTensorWriter_Add( writer, "lattice", lmb_dataF32, 3,
			                     ( int64_t[] ){ network->coefficientCount, network->nodeCount, 3 },
			                     network->lattice );
		status = lmbTensorWriter_Write( writer, path, error );
	}
	lmbArena_Free( &arena );
	return status;
}

lmbStatus lmbNetwork_Write( const lmbNetwork *network, const char *path, lmbError *error )
{
	return lmbNetworkFile_Write( network, path, "limber.network", NULL, error );
}

static lmbStatus Corrupt( const lmbTensorFile *file, int region, const char *what, lmbError *error )
{
	return lmbError_Set( error, lmb_statusCorrupt, "%s: region %d: %s; train again", file->path, region,
	                     what );
}

static bool InRange( int64_t value, int64_t low, int64_t high )
{
	return value >= low && value <= high;
}

static lmbStatus ReadSizes( const lmbTensorFile *file, lmbNetwork *network, Joined *total, lmbError *error )
{
	int64_t shape[2] = { -1, sizeFields };
	const void *data;
	LMB_TRY( lmbTensorFile_Get( file, "regions", lmb_dataI32, 2, shape, &data, error ) );
	if ( !InRange( shape[0], 0, network->boneCount ) )
		return lmbError_Set( error, lmb_statusCorrupt, "%s: %lld regions over %d bones; train again",
		                     file->path, (long long)shape[0], network->boneCount );
	network->regionCount = (int)shape[0];
	network->regions = LMB_NEW( &network->arena, lmbRegion, network->regionCount );
	if ( network->regions == NULL )
		return lmbError_Memory( error );
	for ( int r = 0; r < network->regionCount; ++r )
	{
		const int32_t *sizes = (const int32_t *)data + (size_t)r * sizeFields;
		lmbRegion *region = &network->regions[r];
		region->bone = sizes[0];
		region->featureCount = sizes[1];
		region->coefficientCount = sizes[2];
		region->vertexCount = sizes[3];
		region->hiddenCount = sizes[4];
		region->layerCount = sizes[5];
		bool perceptron = region->layerCount != 0;
		if ( !InRange( region->bone, 0, network->boneCount - 1 ) ||
		     !InRange( region->featureCount, 0, lmbRegionFeaturesMax ) ||
		     !InRange( region->coefficientCount, 1, lmbCoefficientsMax ) ||
		     !InRange( region->vertexCount, 1, network->vertexCount ) ||
		     !InRange( region->layerCount, 0, lmbHiddenLayersMax + 1 ) || region->layerCount == 1 ||
		     !InRange( region->hiddenCount, perceptron ? 1 : 0, perceptron ? lmbHiddenMax : 0 ) )
			return Corrupt( file, r, "its sizes are out of range", error );
		Count( total, region );
		network->coefficientCount += region->coefficientCount;
	}
	return lmb_statusOk;
}

/* Indices in range, vertices ascending: a reader may then trust them. */
static lmbStatus CheckRegion( const lmbTensorFile *file, const lmbNetwork *network, int r, lmbError *error )
{
	const lmbRegion *region = &network->regions[r];
	for ( int i = 0; i < region->featureCount; ++i )
		if ( !InRange( region->features[i], 0, network->featureCount - 1 ) )
			return Corrupt( file, r, "a feature's index is out of range", error );
	for ( int i = 0; i < region->vertexCount; ++i )
		if ( !InRange( region->vertices[i], i == 0 ? 0 : (int64_t)region->vertices[i - 1] + 1,
		               network->vertexCount - 1 ) )
			return Corrupt( file, r, "its vertices are not ascending indices of the skin", error );
	return lmb_statusOk;
}

static lmbStatus Get( const lmbTensorFile *file, const char *name, lmbDataType type, size_t count,
                      const void **data, lmbError *error )
{
	int64_t shape[1] = { (int64_t)count };
	return lmbTensorFile_Get( file, name, type, 1, shape, data, error );
}

static lmbStatus ReadRegions( const lmbTensorFile *file, lmbNetwork *network, lmbError *error )
{
	Joined joined = { 0 };
	LMB_TRY( ReadSizes( file, network, &joined, error ) );
	LMB_TRY(
	    Get( file, "features", lmb_dataI32, joined.featureCount, (const void **)&joined.features, error ) );
	LMB_TRY(
	    Get( file, "vertices", lmb_dataI32, joined.vertexCount, (const void **)&joined.vertices, error ) );
	LMB_TRY( Get( file, "basis", lmb_dataF32, joined.basisCount, (const void **)&joined.basis, error ) );
	LMB_TRY( Get( file, "linear", lmb_dataF32, joined.linearCount, (const void **)&joined.linear, error ) );
	LMB_TRY( Get( file, "mean", lmb_dataF32, joined.featureCount, (const void **)&joined.mean, error ) );
	LMB_TRY( Get( file, "scale", lmb_dataF32, joined.featureCount, (const void **)&joined.scale, error ) );
	LMB_TRY( Get( file, "layers", lmb_dataF32, joined.layerCount, (const void **)&joined.layers, error ) );
	for ( int r = 0; r < network->regionCount; ++r )
	{
		if ( !lmbRegion_Allocate( &network->regions[r], &network->arena ) )
			return lmbError_Memory( error );
		Transfer( &joined, &network->regions[r], true );
		LMB_TRY( CheckRegion( file, network, r, error ) );
	}
	return lmb_statusOk;
}

static lmbStatus ReadLattice( const lmbTensorFile *file, lmbNetwork *network, lmbError *error )
{
	if ( !lmbTensorFile_Has( file, "lattice" ) )
		return lmb_statusOk;
	int64_t shape[3] = { network->coefficientCount, -1, 3 };
	const void *data;
	LMB_TRY( lmbTensorFile_Get( file, "lattice", lmb_dataF32, 3, shape, &data, error ) );
	if ( !InRange( shape[1], 0, numberLimit ) )
		return lmbError_Set( error, lmb_statusCorrupt, "%s: \"lattice\" of %lld nodes is out of range",
		                     file->path, (long long)shape[1] );
	network->nodeCount = (int)shape[1];
	size_t count = (size_t)network->coefficientCount * (size_t)network->nodeCount * 3;
	network->lattice = LMB_NEW( &network->arena, float, count );
	if ( network->lattice == NULL )
		return lmbError_Memory( error );
	memcpy( network->lattice, data, count * sizeof( float ) );
	return lmb_statusOk;
}

static lmbStatus ReadNetwork( const lmbTensorFile *file, const char *mark, lmbNetwork *network,
                              lmbError *error )
{
	char found[512];
	if ( mark != NULL &&
	     ( !lmbTensorFile_Metadata( file, "mark", found, sizeof( found ) ) || strcmp( found, mark ) != 0 ) )
		return lmbError_Set( error, lmb_statusNotFound, "%s: belongs to other settings or data", file->path );
	const void *data;
	LMB_TRY( Get( file, "counts", lmb_dataI32, 3, &data, error ) );
	const int32_t *counts = data;
	for ( int i = 0; i < 3; ++i )
		if ( !InRange( counts[i], 1, numberLimit ) )
			return lmbError_Set( error, lmb_statusCorrupt, "%s: \"counts\" is out of range; train again",
			                     file->path );
	network->boneCount = counts[0];
	network->vertexCount = counts[1];
	network->featureCount = counts[2];
	LMB_TRY( ReadRegions( file, network, error ) );
	return ReadLattice( file, network, error );
}

lmbStatus lmbNetworkFile_Load( const char *path, const char *format, const char *mark, lmbNetwork **out,
                               lmbError *error )
{
	*out = NULL;
	lmbNetwork *network = calloc( 1, sizeof( *network ) );
	lmbTensorFile *file = calloc( 1, sizeof( *file ) );
	lmbStatus status = network == NULL || file == NULL ? lmbError_Memory( error ) : lmb_statusOk;
	if ( status == lmb_statusOk )
	{
		status = lmbTensorFile_Open( file, path, format, fileVersion, error );
		if ( status == lmb_statusOk )
			status = ReadNetwork( file, mark, network, error );
		lmbTensorFile_Close( file );
	}
	free( file );
	if ( status == lmb_statusOk )
		*out = network;
	else
		lmbNetwork_Free( network );
	return status;
}

lmbStatus lmbNetwork_Load( const char *path, lmbNetwork **out, lmbError *error )
{
	return lmbNetworkFile_Load( path, "limber.network", NULL, out, error );
}
