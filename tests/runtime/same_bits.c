/* 600 frames of the model on standard input, for every layer that it has, both targets and every set of
 * kernels of this processor: prints a hash of all positions and normals of each layer and target, and fails
 * when a set disagrees with plain C. Uses nothing that differs between C libraries, so that the hashes are
 * the same everywhere. */
#include <limber/flesh.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
	frameCount = 600
};

static unsigned long long Hash( unsigned long long hash, const float *numbers, int count )
{
	for ( int i = 0; i < count; ++i )
	{
		unsigned bits;
		memcpy( &bits, &numbers[i], sizeof( bits ) );
		hash = ( hash ^ bits ) * 1099511628211ull;
		hash ^= hash >> 31;
	}
	return hash;
}

/* A wave of parabolas of period 1, between -1 and 1. */
static double Wave( double x )
{
	x -= (double)(long long)x;
	double half = x < 0.5 ? 4.0 * x : 4.0 * ( x - 0.5 );
	return ( x < 0.5 ? 1.0 : -1.0 ) * half * ( 2.0 - half );
}

static void MakePose( const lmbFlesh *model, double time, float *bones, lmbFleshPose *pose )
{
	for ( int j = 0; j < lmbFlesh_Info( model ).boneCount; ++j )
		for ( int i = 0; i < 12; ++i )
		{
			double unit = i % 5 == 0 ? 1.0 : 0.0;
			double bend = j == 0 ? 0.0 : 0.15 * Wave( 0.9 * time + 0.13 * i + 0.31 * j );
			bones[12 * j + i] = (float)( unit + bend );
		}
	*pose = ( lmbFleshPose ){ .bones = bones,
	                          .position = { 1.4 * time, 0.05 * Wave( 1.7 * time ), Wave( 0.2 * time ) },
	                          .rotation = { 0.0f, (float)( 0.3 * time ), 0.1f, 1.0f } };
}

/* The hash, or 0 when the model has no such layer; every tenth frame has its own length. */
static unsigned long long Run( const lmbFlesh *model, const lmbFleshDef *def )
{
	lmbFleshBody *body = NULL;
	lmbFleshInfo info = lmbFlesh_Info( model );
	size_t size = lmbFleshBody_Size( model, def );
	void *memory = aligned_alloc( 64, ( size + 63 ) / 64 * 64 );
	float *bones = malloc( (size_t)info.boneCount * 12 * sizeof( float ) );
	unsigned long long hash = 0;
	double time = 0.0;
	if ( size > 0 && memory != NULL && lmbFleshBody_Place( model, def, memory, size, &body ) == lmb_statusOk )
		for ( int n = 0; n < frameCount; ++n )
		{
			lmbFleshPose pose;
			lmbFleshShape shape;
			double dt = n % 10 == 0 ? 0.004 + 0.0001 * n : 1.0 / 60.0;
			time += dt;
			MakePose( model, time, bones, &pose );
			if ( lmbFleshBody_Step( body, &pose, dt, &shape ) != lmb_statusOk )
				exit( 3 );
			hash = Hash( hash, shape.positions, 3 * info.vertexCount );
			hash = Hash( hash, shape.normals, 3 * info.vertexCount );
		}
	free( bones );
	free( memory );
	return hash;
}

static int RunAll( const lmbFlesh *model )
{
	int failed = 0;
	for ( int set = lmb_kernelsPlain; set < lmb_kernelsCount; ++set )
		if ( lmbKernels_Name( (lmbKernelSet)set ) != NULL )
			fprintf( stderr, "%s ", lmbKernels_Name( (lmbKernelSet)set ) );
	fprintf( stderr, "\n" );
	for ( int layer = 0; layer <= (int)lmb_layerHybrid; ++layer )
		for ( int interpolation = 0; interpolation < 2; ++interpolation )
		{
			lmbFleshDef def = lmbDefaultFleshDef( model );
			def.layer = (lmbLayer)layer;
			def.interpolation = (lmbTargetInterpolation)interpolation;
			def.kernels = lmb_kernelsPlain;
			unsigned long long plain = Run( model, &def );
			printf( "layer %d, target %d: %016llx\n", layer, interpolation, plain );
			for ( int set = lmb_kernelsPlain + 1; set < lmb_kernelsCount; ++set )
			{
				def.kernels = (lmbKernelSet)set;
				if ( lmbKernels_Name( def.kernels ) == NULL )
					continue;
				unsigned long long other = Run( model, &def );
				if ( other == plain )
					continue;
				fprintf( stderr, "%s differs: %016llx\n", lmbKernels_Name( def.kernels ), other );
				failed = 1;
			}
		}
	return failed;
}

int main( void )
{
	static char data[1 << 20];
	size_t size = fread( data, 1, sizeof( data ), stdin );
	size_t bytes = lmbFlesh_Size( data, size );
	void *memory = aligned_alloc( 64, ( bytes + 127 ) / 64 * 64 );
	lmbFlesh *model = NULL;
	const char *problem = NULL;
	if ( lmbFlesh_Load( data, size, memory, bytes, &model, &problem ) != lmb_statusOk )
	{
		fprintf( stderr, "same_bits: %s\n", problem );
		return 2;
	}
	int failed = RunAll( model );
	free( memory );
	return failed;
}
