/* A small rigged body made in the test: a box of 12 vertices around two joints, one turning animation.
 * Tests change its JSON and see what the importer makes of it. */
#ifndef LMB_TESTS_FORMATS_SYNTHETIC_H
#define LMB_TESTS_FORMATS_SYNTHETIC_H

#include "check.h"
#include "formats/character.h"
#include "formats/glb_writer.h"
#include "flesh/skinning.h"

#include <stdlib.h>
#include <unistd.h>

enum
{
	bodyVertices = 12,
	bodyIndices = 48,
	bodyKeys = 4,
	/* accessors, in the order of their making */
	bodyPositions = 0,
	bodyJoints = 1,
	bodyWeights = 2,
	bodyIndicesAccessor = 3,
	bodyBinds = 4,
	bodyTimes = 5,
	bodyTurns = 6
};

static char bodyFolder[64];

/* A folder for files, in memory where there is one: hundreds of synced writes follow. */
static inline bool MakeBodyFolder( void )
{
	strcpy( bodyFolder, "/dev/shm/limber-test-XXXXXX" );
	if ( mkdtemp( bodyFolder ) != NULL )
		return true;
	strcpy( bodyFolder, "/tmp/limber-test-XXXXXX" );
	return mkdtemp( bodyFolder ) != NULL;
}

static inline const char *BodyPath( const char *name )
{
	static char paths[4][256];
	static int next;
	char *path = paths[next = ( next + 1 ) % 4];
	snprintf( path, sizeof( paths[0] ), "%s/%s", bodyFolder, name );
	return path;
}

/* Rings of four vertices at heights 0, 0.5 and 1. */
static inline void BodyGeometry( float *positions, uint16_t *joints, float *weights, uint32_t *indices )
{
	static const float corners[4][2] = { { -0.1f, -0.1f }, { -0.1f, 0.1f }, { 0.1f, 0.1f }, { 0.1f, -0.1f } };
	for ( int i = 0; i < bodyVertices; ++i )
	{
		positions[3 * i] = corners[i % 4][0];
		positions[3 * i + 1] = 0.5f * (float)( i / 4 );
		positions[3 * i + 2] = corners[i % 4][1];
		float upper = i / 4 == 0 ? 0.0f : i / 4 == 1 ? 0.5f : 1.0f;
		for ( int k = 0; k < 4; ++k )
		{
			joints[4 * i + k] = k == 1 ? 1 : 0;
			weights[4 * i + k] = k == 0 ? 1.0f - upper : k == 1 ? upper : 0.0f;
		}
	}
	int count = 0;
	for ( uint32_t ring = 0; ring < 2; ++ring )
		for ( uint32_t c = 0; c < 4; ++c )
		{
			uint32_t a = 4 * ring + c, b = 4 * ring + ( c + 1 ) % 4;
			const uint32_t quad[6] = { a, b, b + 4, a, b + 4, a + 4 };
			for ( int k = 0; k < 6; ++k )
				indices[count++] = quad[k];
		}
}

static const float bodyKeyTimes[bodyKeys] = { 0.25f, 0.5f, 1.0f, 2.0f };

/* The angle about z at each key. */
static const double bodyKeyAngles[bodyKeys] = { 0.0, 0.6, -0.4, 0.9 };

static inline void MakeBody( lmbGlbWriter *writer )
{
	float positions[3 * bodyVertices], weights[4 * bodyVertices];
	uint16_t joints[4 * bodyVertices];
	uint32_t indices[bodyIndices];
	BodyGeometry( positions, joints, weights, indices );
	const float binds[32] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0,     0, 1,
	                          1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -0.5f, 0, 1 };
	float turns[4 * bodyKeys] = { 0 };
	for ( int k = 0; k < bodyKeys; ++k )
	{
		turns[4 * k + 2] = (float)sin( 0.5 * bodyKeyAngles[k] );
		turns[4 * k + 3] = (float)cos( 0.5 * bodyKeyAngles[k] );
	}
	CHECK_OR_STOP( lmbGlbWriter_Init( writer, NULL, NULL ) == lmb_statusOk );
	lmbGlbWriter_AddFloats( writer, "VEC3", positions, bodyVertices, lmb_glbVertices, true );
	lmbGlbWriter_AddJoints( writer, joints, bodyVertices );
	lmbGlbWriter_AddFloats( writer, "VEC4", weights, bodyVertices, lmb_glbVertices, false );
	lmbGlbWriter_AddIndices( writer, indices, bodyIndices );
	lmbGlbWriter_AddFloats( writer, "MAT4", binds, 2, lmb_glbData, false );
	lmbGlbWriter_AddFloats( writer, "SCALAR", bodyKeyTimes, bodyKeys, lmb_glbData, true );
	lmbGlbWriter_AddFloats( writer, "VEC4", turns, bodyKeys, lmb_glbData, false );
	static const char *const rest =
	    "{\"scene\":0,\"scenes\":[{\"nodes\":[0,1]}],"
	    "\"nodes\":[{\"name\":\"skin\",\"mesh\":0,\"skin\":0},"
	    "{\"name\":\"lower\",\"children\":[2]},{\"name\":\"upper\",\"translation\":[0,0.5,0]}],"
	    "\"skins\":[{\"joints\":[1,2],\"inverseBindMatrices\":4}],"
	    "\"meshes\":[{\"name\":\"box\",\"primitives\":[{\"attributes\":"
	    "{\"POSITION\":0,\"JOINTS_0\":1,\"WEIGHTS_0\":2},\"indices\":3}]}],"
	    "\"animations\":[{\"name\":\"turn\",\"samplers\":[{\"input\":5,\"output\":6}],"
	    "\"channels\":[{\"sampler\":0,\"target\":{\"node\":2,\"path\":\"rotation\"}}]}]}";
	json_t *more = json_loads( rest, 0, NULL );
	CHECK_OR_STOP( more != NULL && json_object_update( writer->root, more ) == 0 );
	json_decref( more );
}

/* Sets the value at a JSON pointer ("-" appends); NULL text removes it. Missing objects on the way are
 * made. text is JSON. */
static inline void BodySet( lmbGlbWriter *writer, const char *pointer, const char *text )
{
	char copy[256];
	snprintf( copy, sizeof( copy ), "%s", pointer );
	json_t *at = writer->root;
	char *save = NULL, *token = strtok_r( copy, "/", &save );
	for ( char *next = strtok_r( NULL, "/", &save ); next != NULL;
	      token = next, next = strtok_r( NULL, "/", &save ) )
	{
		json_t *child =
		    json_is_array( at ) ? json_array_get( at, (size_t)atoi( token ) ) : json_object_get( at, token );
		if ( child == NULL && json_is_object( at ) )
		{
			json_object_set_new( at, token, json_object() );
			child = json_object_get( at, token );
		}
		CHECK_OR_STOP( child != NULL );
		at = child;
	}
	json_t *value = text != NULL ? json_loads( text, JSON_DECODE_ANY, NULL ) : NULL;
	CHECK_OR_STOP( text == NULL || value != NULL );
	if ( json_is_array( at ) && strcmp( token, "-" ) == 0 )
		json_array_append_new( at, value );
	else if ( json_is_array( at ) && value != NULL )
		json_array_set_new( at, (size_t)atoi( token ), value );
	else if ( json_is_array( at ) )
		json_array_remove( at, (size_t)atoi( token ) );
	else if ( value != NULL )
		json_object_set_new( at, token, value );
	else
		json_object_del( at, token );
}

/* Writes the body, frees the writer and imports it; NULL with a message in error. */
static inline lmbCharacter *LoadBody( lmbGlbWriter *writer, lmbError *error )
{
	const char *path = BodyPath( "body.glb" );
	lmbCharacter *character = NULL;
	*error = ( lmbError ){ 0 };
	CHECK_INT( lmbGlbWriter_Write( writer, path, error ), lmb_statusOk );
	lmbGlbWriter_Free( writer );
	lmbCharacter_Load( path, NULL, &character, error );
	unlink( path );
	return character;
}

/* The same for a body that must import. */
static inline lmbCharacter *NeedBody( lmbGlbWriter *writer )
{
	lmbError error;
	lmbCharacter *character = LoadBody( writer, &error );
	if ( character == NULL )
		printf( "%s\n", error.message );
	CHECK_OR_STOP( character != NULL );
	return character;
}

/* Skinned positions (vertexCount x 3), metres. */
static inline void BodyPoints( const lmbCharacter *character, int clip, double time, double *points )
{
	double bones[12 * 16];
	CHECK_OR_STOP( character->boneCount <= 16 );
	lmbCharacter_Pose( character, clip, time, bones );
	const lmbWeights weights = { character->vertexCount, character->influenceCount, character->vertexBones,
	                             character->weights };
	lmbSkin_Points( &weights, bones, character->bind, points );
}

/* Where vertex i of the plain body is when the upper joint is turned by angle about z. */
static inline void BodyExpected( int i, double angle, double *out )
{
	float positions[3 * bodyVertices], weights[4 * bodyVertices];
	uint16_t joints[4 * bodyVertices];
	uint32_t indices[bodyIndices];
	BodyGeometry( positions, joints, weights, indices );
	double x = (double)positions[3 * i], y = (double)positions[3 * i + 1], w = (double)weights[4 * i + 1];
	out[0] = ( 1.0 - w ) * x + w * ( cos( angle ) * x - sin( angle ) * ( y - 0.5 ) );
	out[1] = ( 1.0 - w ) * y + w * ( 0.5 + sin( angle ) * x + cos( angle ) * ( y - 0.5 ) );
	out[2] = (double)positions[3 * i + 2];
}

/* The imported body is the plain one at this time of the animation. */
static inline void CheckBody( const lmbCharacter *character, double time, double angle, double tolerance )
{
	double points[3 * 256];
	CHECK_OR_STOP( character->vertexCount >= bodyVertices && character->vertexCount <= 256 );
	BodyPoints( character, 0, time, points );
	for ( int i = 0; i < bodyVertices; ++i )
	{
		double expected[3];
		BodyExpected( i, angle, expected );
		for ( int c = 0; c < 3; ++c )
			CHECK_NEAR( points[3 * i + c], expected[c], tolerance );
	}
}

#endif
