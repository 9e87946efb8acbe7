#include "formats/glb_writer.h"

#include "base/files.h"
#include "check.h"

#include <stdlib.h>
#include <unistd.h>

static char folder[64];

static const char *Path( const char *name )
{
	static char path[128];
	snprintf( path, sizeof( path ), "%s/%s", folder, name );
	return path;
}

static uint32_t U32( const char *data )
{
	const unsigned char *b = (const unsigned char *)data;
	return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static long long Number( const json_t *root, const char *array, size_t index, const char *key )
{
	return json_integer_value(
	    json_object_get( json_array_get( json_object_get( root, array ), index ), key ) );
}

/* The layout of the specification's section "GLB File Format", read back byte by byte. */
static void ContainerIsAsSpecified( void **state )
{
	(void)state;
	lmbGlbWriter writer;
	lmbError error = { 0 };
	CHECK_INT( lmbGlbWriter_Init( &writer, NULL, &error ), lmb_statusOk );
	const float points[] = { 0.0f, 0.1f, -2.0f, 1.0f, 5.0f, 3.0f, -1.0f, 2.0f, 0.5f };
	const uint32_t indices[] = { 0, 1, 2 };
	const uint16_t joints[] = { 0, 1, 2, 3, 300, 0, 0, 0 };
	CHECK_INT( lmbGlbWriter_AddFloats( &writer, "VEC3", points, 3, lmb_glbVertices, true ), 0 );
	CHECK_INT( lmbGlbWriter_AddIndices( &writer, indices, 3 ), 1 );
	CHECK_INT( lmbGlbWriter_AddJoints( &writer, joints, 1 ), 2 );
	CHECK_INT( lmbGlbWriter_AddJoints( &writer, joints, 2 ), 3 );
	CHECK_INT( lmbGlbWriter_Write( &writer, Path( "a.glb" ), &error ), lmb_statusOk );
	lmbGlbWriter_Free( &writer );

	lmbArena arena = { 0 };
	char *data = NULL;
	size_t size = 0;
	CHECK_OR_STOP( lmbFile_Read( Path( "a.glb" ), &arena, &data, &size, &error ) == lmb_statusOk );
	CHECK( memcmp( data, "glTF", 4 ) == 0 );
	CHECK_INT( U32( data + 4 ), 2 );
	CHECK_INT( U32( data + 8 ), size );
	uint32_t jsonSize = U32( data + 12 );
	CHECK_INT( jsonSize % 4, 0 );
	CHECK( memcmp( data + 16, "JSON", 4 ) == 0 );
	json_t *root = json_loadb( data + 20, jsonSize, 0, NULL );
	CHECK_OR_STOP( root != NULL );
	const char *binary = data + 20 + jsonSize;
	CHECK( memcmp( binary + 4, "BIN\0", 4 ) == 0 );
	CHECK_INT( U32( binary ) % 4, 0 );
	CHECK_INT( 20 + jsonSize + 8 + U32( binary ), size );
	for ( size_t i = 0; i < 4; ++i )
		CHECK_INT( Number( root, "bufferViews", i, "byteOffset" ) % 4, 0 );
	CHECK_INT( Number( root, "buffers", 0, "byteLength" ), 36 + 8 + 4 + 16 );
	CHECK_INT( Number( root, "accessors", 1, "componentType" ), 5123 );
	CHECK_INT( Number( root, "accessors", 2, "componentType" ), 5121 );
	CHECK_INT( Number( root, "accessors", 3, "componentType" ), 5123 );
	CHECK( memcmp( binary + 8, points, sizeof( points ) ) == 0 );
	json_t *min = json_object_get( json_array_get( json_object_get( root, "accessors" ), 0 ), "min" );
	/* Bounds must be the float32 values themselves, or viewers and validators complain. */
	CHECK_NEAR( json_real_value( json_array_get( min, 1 ) ), (double)0.1f, 0.0 );
	CHECK_NEAR( json_real_value( json_array_get( min, 2 ) ), -2.0, 0.0 );
	json_decref( root );
	lmbArena_Free( &arena );
	unlink( Path( "a.glb" ) );
}

static void FirstFailureIsReported( void **state )
{
	(void)state;
	lmbGlbWriter writer;
	lmbError error = { 0 };
	const float points[] = { 0.0f, NAN, 1.0f };
	CHECK_INT( lmbGlbWriter_Init( &writer, NULL, &error ), lmb_statusOk );
	CHECK_INT( lmbGlbWriter_AddFloats( &writer, "VEC3", points, 1, lmb_glbData, false ), -1 );
	CHECK_INT( lmbGlbWriter_AddFloats( &writer, "SCALAR", points, 1, lmb_glbData, false ), -1 );
	CHECK_INT( lmbGlbWriter_Write( &writer, Path( "b.glb" ), &error ), lmb_statusNumerical );
	CHECK_CONTAINS( error.message, "not finite" );
	CHECK( !lmbFile_Exists( Path( "b.glb" ) ) );
	lmbGlbWriter_Free( &writer );
}

/* Carrying a file over keeps its JSON, extras and order included. */
static void KeepsTheJson( void **state )
{
	(void)state;
	json_t *root = json_loads( "{\"zeta\":1,\"asset\":{\"version\":\"2.0\",\"extras\":{\"b\":0.1,\"a\":[1]}},"
	                           "\"buffers\":[{\"byteLength\":3}]}",
	                           0, NULL );
	lmbGlbWriter writer;
	lmbError error = { 0 };
	CHECK_INT( lmbGlbWriter_Init( &writer, root, &error ), lmb_statusOk );
	CHECK_INT( lmbGlbWriter_AddBytes( &writer, "abc", 3 ), 0 );
	CHECK_INT( lmbGlbWriter_AddBytes( &writer, "defgh", 5 ), 4 );
	CHECK_INT( lmbGlbWriter_Write( &writer, Path( "c.glb" ), &error ), lmb_statusOk );
	lmbGlbWriter_Free( &writer );
	json_decref( root );
	lmbArena arena = { 0 };
	char *data = NULL;
	size_t size = 0;
	CHECK_OR_STOP( lmbFile_Read( Path( "c.glb" ), &arena, &data, &size, &error ) == lmb_statusOk );
	data[20 + U32( data + 12 )] = 0;
	CHECK_CONTAINS( data + 20,
	                "{\"zeta\":1,\"asset\":{\"version\":\"2.0\",\"extras\":{\"b\":0.10000000000000001,"
	                "\"a\":[1]}},\"buffers\":[{\"byteLength\":9}]}" );
	CHECK( memcmp( data + size - 12, "abc\0defgh\0\0\0", 12 ) == 0 );
	lmbArena_Free( &arena );
	unlink( Path( "c.glb" ) );
}

int main( void )
{
	strcpy( folder, "/tmp/limber-test-XXXXXX" );
	if ( mkdtemp( folder ) == NULL )
		return 1;
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( ContainerIsAsSpecified ),
	    CHECK_TEST( FirstFailureIsReported ),
	    CHECK_TEST( KeepsTheJson ),
	};
	int failures = CHECK_RUN( tests );
	rmdir( folder );
	return failures;
}
