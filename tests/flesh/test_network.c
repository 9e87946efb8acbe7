/* Features, files and the reference evaluation of the quasistatic network. */
#include "flesh/network.h"

#include "base/files.h"
#include "check.h"
#include "flesh/network_limb.h"
#include "flesh/network_parts.h"
#include "formats/safetensors.h"
#include "learn/mlp.h"

#include <unistd.h>

static const char path[] = "test_network.safetensors", other[] = "test_network_again.safetensors";

/* Moving and turning about the vertical changes nothing; bind gives zeros; a bent joint shows as its own
 * rotation less the identity. */
static void FeaturesOfAPose( void **state )
{
	(void)state;
	Limb limb;
	LimbMake( &limb );
	int32_t offsets[limbBones + 1];
	int count = lmbNetwork_FeatureOffsets( &limb.character, offsets );
	CHECK_INT( count, 3 + 4 * 9 );
	CHECK_INT( offsets[1], 3 );
	CHECK_INT( offsets[limbBones], count );
	double bones[12 * limbBones], features[39], turned[39], turns[3 * limbBones] = { 0 }, place[3] = { 0 };
	LimbPose( turns, place, bones );
	lmbNetwork_Features( &limb.character, bones, features );
	for ( int i = 0; i < count; ++i )
		CHECK_NEAR( features[i], 0.0, 1e-15 );
	turns[3 * 1 + 2] = 0.5; /* bone a about z */
	turns[0] = 0.3;         /* the body leans about x */
	LimbPose( turns, place, bones );
	lmbNetwork_Features( &limb.character, bones, features );
	CHECK_NEAR( features[3], cos( 0.5 ) - 1.0, 1e-14 );
	CHECK_NEAR( features[3 + 1], -sin( 0.5 ), 1e-14 );
	CHECK_NEAR( features[3 + 3], sin( 0.5 ), 1e-14 );
	/* Gravity in the root's frame: R^T (0, -1, 0) = (0, -cos, sin). */
	CHECK_NEAR( features[1], 1.0 - cos( 0.3 ), 1e-14 );
	CHECK_NEAR( features[2], sin( 0.3 ), 1e-14 );
	double world[12] = { cos( 1.1 ), 0, sin( 1.1 ), 5, 0, 1, 0, -3, -sin( 1.1 ), 0, cos( 1.1 ), 7 };
	double moved[12 * limbBones];
	for ( int j = 0; j < limbBones; ++j )
		lmbMat34_Multiply( moved + 12 * j, world, bones + 12 * j );
	lmbNetwork_Features( &limb.character, moved, turned );
	for ( int i = 0; i < count; ++i )
		CHECK_NEAR( turned[i], features[i], 1e-14 );
	LimbFree( &limb );
}

/* A small network of random numbers: two regions, one with a perceptron, one without, and a lattice. */
static void MakeNetwork( lmbNetwork *network, uint64_t seed )
{
	memset( network, 0, sizeof( *network ) );
	lmbRandom random = lmbRandom_Seed( seed, 0 );
	lmbArena *arena = &network->arena;
	network->boneCount = limbBones;
	network->vertexCount = 20;
	network->featureCount = 39;
	network->regionCount = 2;
	network->regions = LMB_NEW( arena, lmbRegion, 2 );
	for ( int r = 0; r < 2; ++r )
	{
		lmbRegion *region = &network->regions[r];
		*region = ( lmbRegion ){ .bone = 2 * r,
		                         .featureCount = 9 + r,
		                         .coefficientCount = 4 + r,
		                         .vertexCount = 12,
		                         .hiddenCount = r == 0 ? 7 : 0,
		                         .layerCount = r == 0 ? 3 : 0 };
		CHECK_OR_STOP( lmbRegion_Allocate( region, arena ) );
		for ( int i = 0; i < region->featureCount; ++i )
		{
			region->features[i] = 3 * i + r;
			region->featureMean[i] = (float)( 0.1 * lmbRandom_Normal( &random ) );
			region->featureScale[i] = (float)( 0.5 + lmbRandom_Uniform( &random ) );
		}
		for ( int i = 0; i < region->vertexCount; ++i )
			region->vertices[i] = i + 8 * r;
		for ( int i = 0; i < 3 * region->coefficientCount * region->vertexCount; ++i )
			region->basis[i] = (float)lmbRandom_Normal( &random );
		for ( int i = 0; i < region->coefficientCount * ( region->featureCount + 1 ); ++i )
			region->linear[i] = (float)lmbRandom_Normal( &random );
		for ( int l = 0; l < region->layerCount; ++l )
		{
			int in = lmbRegion_LayerInputs( region, l ), out = lmbRegion_LayerOutputs( region, l );
			for ( int i = 0; i < in * out; ++i )
				region->layerWeights[l][i] = (float)( 0.5 * lmbRandom_Normal( &random ) );
			for ( int i = 0; i < out; ++i )
				region->layerBias[l][i] = (float)( 0.2 * lmbRandom_Normal( &random ) );
		}
		network->coefficientCount += region->coefficientCount;
	}
	network->nodeCount = 6;
	int numbers = network->coefficientCount * network->nodeCount * 3;
	network->lattice = LMB_NEW( arena, float, numbers );
	for ( int i = 0; i < numbers; ++i )
		network->lattice[i] = (float)lmbRandom_Normal( &random );
}

/* Against the layers of learn/mlp, which training runs. */
static void ReferenceMatchesTraining( void **state )
{
	(void)state;
	checkSeed = 31;
	lmbNetwork network;
	MakeNetwork( &network, checkSeed );
	lmbRandom random = lmbRandom_Seed( checkSeed, 1 );
	double features[39], coefficients[9];
	for ( int i = 0; i < 39; ++i )
		features[i] = lmbRandom_Normal( &random );
	lmbNetwork_Coefficients( &network, features, coefficients );
	const lmbRegion *region = &network.regions[0];
	lmbMlp mlp;
	lmbMlpPass pass;
	CHECK_INT( lmbMlp_Make( &mlp, ( int[] ){ 9, 7, 7, 4 }, 3, NULL ), lmb_statusOk );
	CHECK_INT( lmbMlpPass_Make( &pass, &mlp, 1, &network.arena, NULL ), lmb_statusOk );
	double *parameters = LMB_NEW( &network.arena, double, mlp.parameterCount );
	for ( int l = 0; l < 3; ++l )
	{
		for ( size_t i = mlp.weights[l]; i < mlp.biases[l]; ++i )
			parameters[i] = region->layerWeights[l][i - mlp.weights[l]];
		for ( int i = 0; i < mlp.sizes[l + 1]; ++i )
			parameters[mlp.biases[l] + (size_t)i] = region->layerBias[l][i];
	}
	double inputs[9];
	for ( int i = 0; i < 9; ++i )
		inputs[i] = ( features[region->features[i]] - (double)region->featureMean[i] ) *
		            (double)region->featureScale[i];
	const double *y = lmbMlp_Forward( &pass, parameters, inputs, 1 );
	for ( int k = 0; k < 4; ++k )
	{
		double expected = y[k] + (double)region->linear[k * 10 + 9];
		for ( int i = 0; i < 9; ++i )
			expected += (double)region->linear[k * 10 + i] * features[region->features[i]];
		CHECK_NEAR( coefficients[k], expected, 1e-13 ); /* sums of ten numbers of order 1 */
	}
	/* Displacement: vertices 8 .. 11 belong to both regions, 0 to the first alone. */
	double displacement[60];
	lmbNetwork_Displacement( &network, coefficients, displacement );
	for ( int i = 0; i < 3; ++i )
	{
		double first = 0.0, shared = 0.0;
		for ( int k = 0; k < 4; ++k )
		{
			first += coefficients[k] * (double)region->basis[36 * k + i];
			shared += coefficients[k] * (double)region->basis[36 * k + 3 * 9 + i];
		}
		for ( int k = 0; k < 5; ++k )
			shared += coefficients[4 + k] * (double)network.regions[1].basis[36 * k + 3 * 1 + i];
		CHECK_NEAR( displacement[i], first, 1e-13 );
		CHECK_NEAR( displacement[3 * 9 + i], shared, 1e-13 );
	}
	lmbArena_Free( &network.arena );
}

static void ReadWhole( const char *name, lmbArena *arena, char **data, size_t *size )
{
	lmbError error = { 0 };
	CHECK_INT( lmbFile_Read( name, arena, data, size, &error ), lmb_statusOk );
}

static void FileRoundTrip( void **state )
{
	(void)state;
	lmbNetwork network, *loaded = NULL;
	lmbError error = { 0 };
	for ( int lattice = 0; lattice < 2; ++lattice )
	{
		MakeNetwork( &network, 33 );
		if ( lattice == 0 )
			network.lattice = NULL;
		CHECK_INT( lmbNetwork_Write( &network, path, &error ), lmb_statusOk );
		CHECK_INT( lmbNetwork_Load( path, &loaded, &error ), lmb_statusOk );
		CHECK_CONTAINS( error.message, "" );
		CHECK_OR_STOP( loaded != NULL );
		CHECK_INT( lmbNetwork_Write( loaded, other, &error ), lmb_statusOk );
		lmbArena arena = { 0 };
		char *a, *b;
		size_t sizeA, sizeB;
		ReadWhole( path, &arena, &a, &sizeA );
		ReadWhole( other, &arena, &b, &sizeB );
		CHECK_INT( sizeA, sizeB );
		CHECK( sizeA == sizeB && memcmp( a, b, sizeA ) == 0 );
		double features[39], x[9], y[9];
		for ( int i = 0; i < 39; ++i )
			features[i] = sin( i );
		lmbNetwork_Coefficients( &network, features, x );
		lmbNetwork_Coefficients( loaded, features, y );
		CHECK( memcmp( x, y, sizeof( x ) ) == 0 );
		CHECK( ( loaded->lattice != NULL ) == ( lattice == 1 ) );
		lmbNetwork_Free( loaded );
		lmbArena_Free( &arena );
		lmbArena_Free( &network.arena );
	}
	unlink( path );
	unlink( other );
}

/* The file with one number changed behind the header must load as something sound or be refused. */
static void HostileFiles( void **state )
{
	(void)state;
	lmbNetwork network, *loaded = NULL;
	lmbError error = { 0 };
	MakeNetwork( &network, 34 );
	CHECK_INT( lmbNetwork_Write( &network, path, &error ), lmb_statusOk );
	lmbArena arena = { 0 };
	char *bytes;
	size_t size;
	ReadWhole( path, &arena, &bytes, &size );
	for ( size_t length = 0; length < size; length += 1 + length / 40 )
	{
		CHECK_INT( lmbFile_Write( other, bytes, length, &error ), lmb_statusOk );
		CHECK( lmbNetwork_Load( other, &loaded, &error ) != lmb_statusOk );
		CHECK( loaded == NULL );
		CHECK_CONTAINS( error.message, other );
	}
	checkSeed = 35;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	char *copy = lmbArena_New( &arena, size, 1 );
	int refused = 0;
	for ( int trial = 0; trial < 400; ++trial )
	{
		static const int32_t values[] = { -1, 0, 1, 5, 64, 1000, INT32_MAX, INT32_MIN };
		memcpy( copy, bytes, size );
		/* The tables lie first; data begin after the header, whose length is the first 8 bytes. */
		uint64_t header;
		memcpy( &header, bytes, 8 );
		size_t at = 8 + (size_t)header + 4 * lmbRandom_Below( &random, 90 );
		memcpy( copy + at, &values[lmbRandom_Below( &random, 8 )], 4 );
		CHECK_INT( lmbFile_Write( other, copy, size, &error ), lmb_statusOk );
		if ( lmbNetwork_Load( other, &loaded, &error ) != lmb_statusOk )
		{
			refused += 1;
			continue;
		}
		double features[39] = { 0 }, *z = LMB_NEW( &loaded->arena, double, loaded->coefficientCount );
		double *d = LMB_NEW( &loaded->arena, double, 3 * (size_t)loaded->vertexCount );
		if ( loaded->featureCount <= 39 ) /* sanitizers watch for reads out of range */
			lmbNetwork_Coefficients( loaded, features, z );
		lmbNetwork_Displacement( loaded, z, d );
		lmbNetwork_Free( loaded );
	}
	CHECK( refused > 100 );
	unlink( path );
	unlink( other );
	CHECK_INT( lmbNetwork_Load( other, &loaded, &error ), lmb_statusIo );
	lmbArena_Free( &arena );
	lmbArena_Free( &network.arena );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( FeaturesOfAPose ),
	    CHECK_TEST( ReferenceMatchesTraining ),
	    CHECK_TEST( FileRoundTrip ),
	    CHECK_TEST( HostileFiles ),
	};
	return CHECK_RUN( tests );
}
