/* How a program embeds the runtime: reads a model that `limber run` made, lets the body hop in its bind pose,
 * and prints how far the skin swings.
 *
 *   embed out/puppet/model.safetensors */
#include <limber/flesh.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *ReadFile( const char *path, size_t *size )
{
	FILE *stream = fopen( path, "rb" );
	if ( stream == NULL )
		return NULL;
	fseek( stream, 0, SEEK_END );
	long length = ftell( stream );
	rewind( stream );
	void *data = length > 0 ? malloc( (size_t)length ) : NULL;
	if ( data != NULL && fread( data, 1, (size_t)length, stream ) != (size_t)length )
	{
		free( data );
		data = NULL;
	}
	fclose( stream );
	*size = (size_t)length;
	return data;
}

/* The runtime places models and bodies in memory of the caller, aligned to 64 bytes. */
static void *NewBlock( size_t size )
{
	return aligned_alloc( 64, ( size / 64 + 1 ) * 64 ); /* a size of 0, of what is no model, is fine too */
}

/* Hops 20 cm high, twice a second; the springs see it as the acceleration of the whole body. */
static void Play( lmbFleshBody *body, const lmbFleshInfo *info, float *bones, float *rest )
{
	const double rate = 60.0;
	for ( int frame = 0; frame < 120; ++frame )
	{
		double t = frame / rate;
		lmbFleshPose pose = { .bones = bones,
		                      .position = { 0.0, 0.1 * ( 1.0 - cos( 4.0 * 3.14159265358979 * t ) ), 0.0 },
		                      .rotation = { 0.0f, 0.0f, 0.0f, 1.0f } };
		lmbFleshShape shape;
		if ( lmbFleshBody_Step( body, &pose, frame == 0 ? 0.0 : 1.0 / rate, &shape ) != lmb_statusOk )
			return;
		size_t bytes = 3 * (size_t)info->vertexCount * sizeof( float );
		if ( frame == 0 )
			memcpy( rest, shape.positions, bytes );
		double most = 0.0;
		for ( int v = 0; v < info->vertexCount; ++v )
		{
			double square = 0.0;
			for ( int e = 0; e < 3; ++e )
				square += pow( (double)shape.positions[3 * v + e] - rest[3 * v + e], 2.0 );
			most = square > most ? square : most;
		}
		if ( frame % 6 == 0 )
			printf( "%5.2f s  %6.2f mm\n", t, 1e3 * sqrt( most ) );
	}
}

int main( int argc, char **argv )
{
	size_t size = 0;
	void *data = argc == 2 ? ReadFile( argv[1], &size ) : NULL;
	if ( data == NULL )
	{
		fprintf( stderr, "usage: embed MODEL.safetensors\n" );
		return 1;
	}
	lmbFlesh *model;
	const char *problem = NULL;
	size_t modelSize = lmbFlesh_Size( data, size );
	void *modelMemory = NewBlock( modelSize );
	if ( modelMemory == NULL ||
	     lmbFlesh_Load( data, size, modelMemory, modelSize, &model, &problem ) != lmb_statusOk )
	{
		fprintf( stderr, "%s: %s\n", argv[1], problem != NULL ? problem : "no memory" );
		return 1;
	}
	lmbFleshInfo info = lmbFlesh_Info( model );
	lmbFleshDef def = lmbDefaultFleshDef( model );
	size_t bodySize = lmbFleshBody_Size( model, &def );
	void *bodyMemory = NewBlock( bodySize );
	lmbFleshBody *body;
	float *bones = calloc( (size_t)info.boneCount * 12, sizeof( float ) );
	float *rest = calloc( (size_t)info.vertexCount * 3, sizeof( float ) );
	if ( bodyMemory == NULL || bones == NULL || rest == NULL ||
	     lmbFleshBody_Place( model, &def, bodyMemory, bodySize, &body ) != lmb_statusOk )
		return 1;
	for ( int j = 0; j < info.boneCount; ++j ) /* the bind pose: identity from bind space to model space */
		bones[12 * j] = bones[12 * j + 5] = bones[12 * j + 10] = 1.0f;
	Play( body, &info, bones, rest );
	free( rest );
	free( bones );
	free( bodyMemory );
	free( modelMemory );
	free( data );
	return 0;
}
