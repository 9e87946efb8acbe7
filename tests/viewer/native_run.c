/* Steps a model through poses and writes every position and normal: what the page must reproduce.
 *   native_run MODEL POSES LAYER NETWORK DT OUT GAIN STIFFNESS DAMPING
 * POSES: for each frame (boneCount x 12) floats, then 3 doubles of position and 4 floats of rotation. */
#include <limber/flesh.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *Read( const char *path, size_t *size )
{
	FILE *file = fopen( path, "rb" );
	if ( file == NULL || fseek( file, 0, SEEK_END ) != 0 )
		exit( 2 );
	*size = (size_t)ftell( file );
	rewind( file );
	void *data = aligned_alloc( 64, ( *size + 64 ) / 64 * 64 );
	if ( data == NULL || fread( data, 1, *size, file ) != *size )
		exit( 2 );
	fclose( file );
	return data;
}

static void *Room( size_t size )
{
	return aligned_alloc( 64, ( size + 64 ) / 64 * 64 );
}

int main( int argc, char **argv )
{
	if ( argc != 10 )
		return 2;
	size_t size, poseSize;
	void *data = Read( argv[1], &size );
	const unsigned char *poses = Read( argv[2], &poseSize );
	lmbFlesh *model;
	size_t modelSize = lmbFlesh_Size( data, size );
	if ( lmbFlesh_Load( data, size, Room( modelSize ), modelSize, &model, NULL ) != lmb_statusOk )
		return 3;
	lmbFleshInfo info = lmbFlesh_Info( model );
	lmbFleshDef def = lmbDefaultFleshDef( model );
	def.layer = (lmbLayer)atoi( argv[3] );
	def.network = atoi( argv[4] ) != 0;
	lmbFleshBody *body;
	size_t bodySize = lmbFleshBody_Size( model, &def );
	if ( lmbFleshBody_Place( model, &def, Room( bodySize ), bodySize, &body ) != lmb_statusOk )
		return 4;
	lmbFleshDirection direction = lmbDefaultFleshDirection();
	direction.gain = strtof( argv[7], NULL );
	direction.stiffness = strtof( argv[8], NULL );
	direction.damping = strtof( argv[9], NULL );
	if ( lmbFleshBody_Direct( body, &direction ) != lmb_statusOk )
		return 5;
	size_t boneBytes = (size_t)info.boneCount * 12 * sizeof( float ), frameBytes = boneBytes + 40;
	float *bones = Room( boneBytes );
	FILE *out = fopen( argv[6], "wb" );
	for ( size_t at = 0; out != NULL && at + frameBytes <= poseSize; at += frameBytes )
	{
		lmbFleshPose pose = { .bones = bones };
		lmbFleshShape shape;
		memcpy( bones, poses + at, boneBytes );
		memcpy( pose.position, poses + at + boneBytes, sizeof( pose.position ) );
		memcpy( pose.rotation, poses + at + boneBytes + 24, sizeof( pose.rotation ) );
		if ( lmbFleshBody_Step( body, &pose, strtod( argv[5], NULL ), &shape ) != lmb_statusOk )
			return 6;
		size_t count = 3 * (size_t)info.vertexCount;
		if ( fwrite( shape.positions, sizeof( float ), count, out ) != count ||
		     fwrite( shape.normals, sizeof( float ), count, out ) != count )
			return 7;
	}
	return out != NULL && fclose( out ) == 0 ? 0 : 8;
}
