/* Uses every call of the runtime, so that one which is not linked or not declared shows. Reads a model that
 * is none, and must be told so. With an argument: a model file, which is run. */
#include <limber/flesh.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int HeaderWorksInCpp( void );

/* A number that changes with any bit of any coordinate. */
static unsigned long long Bits( unsigned long long hash, const float *points, int count )
{
	for ( int i = 0; i < 3 * count; ++i )
	{
		unsigned bits;
		memcpy( &bits, &points[i], sizeof( bits ) );
		hash = ( hash ^ bits ) * 1099511628211ull + 1;
	}
	return hash;
}

static int RunModel( const void *data, size_t size )
{
	const char *problem = NULL;
	lmbFlesh *model = NULL;
	lmbFleshBody *body = NULL;
	size_t modelSize = lmbFlesh_Size( data, size );
	void *modelMemory = aligned_alloc( 64, ( modelSize + 127 ) / 64 * 64 );
	if ( lmbFlesh_Load( data, size, modelMemory, modelSize, &model, &problem ) != lmb_statusOk )
	{
		printf( "refused: %s\n", problem );
		return 3;
	}
	lmbFleshInfo info = lmbFlesh_Info( model );
	lmbFleshDef def = lmbDefaultFleshDef( model );
	size_t bodySize = lmbFleshBody_Size( model, &def );
	void *bodyMemory = aligned_alloc( 64, ( bodySize + 63 ) / 64 * 64 );
	if ( lmbFleshBody_Place( model, &def, bodyMemory, bodySize, &body ) != lmb_statusOk )
		return 4;
	if ( lmbFlesh_BoneName( model, 0 ) == NULL || lmbFlesh_BoneParent( model, 0 ) != -1 ||
	     lmbFlesh_Triangles( model ) == NULL || lmbFlesh_Bind( model ) == NULL )
		return 8;
	float *bones = calloc( (size_t)info.boneCount * 12, sizeof( float ) );
	for ( int j = 0; j < info.boneCount; ++j )
		bones[12 * j] = bones[12 * j + 5] = bones[12 * j + 10] = 1.0f;
	lmbFleshPose pose = { .bones = bones };
	lmbFleshShape shape = { NULL, NULL };
	lmbFleshBody_Pause( body, false );
	for ( int n = 0; n < 60; ++n )
	{
		pose.position[1] = 0.01 * n * n;
		pose.rotation[1] = 0.02f * (float)n;
		pose.rotation[3] = 1.0f;
		for ( int j = 1; j < info.boneCount; ++j ) /* bends all bones but the first */
			bones[12 * j + 4] = 0.01f * (float)( n % 20 * j );
		if ( lmbFleshBody_Step( body, &pose, n % 3 == 0 ? 0.02 : 0.015, &shape ) != lmb_statusOk )
			return 5;
	}
	size_t stateSize = lmbFleshBody_StateSize( body );
	void *state = malloc( stateSize );
	if ( lmbFleshBody_Save( body, state, stateSize ) != lmb_statusOk ||
	     lmbFleshBody_Restore( body, state, stateSize ) != lmb_statusOk )
		return 6;
	lmbFleshBody_Teleport( body );
	lmbFleshBody_Reset( body );
	printf( "vertex 0 at %.9g %.9g %.9g, all bits %016llx\n", shape.positions[0], shape.positions[1],
	        shape.positions[2],
	        Bits( Bits( 0, shape.positions, info.vertexCount ), shape.normals, info.vertexCount ) );
	free( state );
	free( bones );
	free( bodyMemory );
	free( modelMemory );
	return 0;
}

int main( int argc, char **argv )
{
	if ( HeaderWorksInCpp() != LMB_VERSION_MINOR || strcmp( lmbStatus_Text( lmb_statusOk ), "ok" ) != 0 )
		return 1;
	if ( argc < 2 )
		return RunModel( "12345678", 8 ) == 3 ? 0 : 2;
	FILE *stream = fopen( argv[1], "rb" );
	if ( stream == NULL )
		return 7;
	fseek( stream, 0, SEEK_END );
	size_t size = (size_t)ftell( stream );
	rewind( stream );
	void *data = malloc( size );
	size_t got = fread( data, 1, size, stream );
	fclose( stream );
	int code = got == size ? RunModel( data, size ) : 7;
	free( data );
	return code;
}
