/* Hostile and broken files: each is refused with the file, the JSON pointer and a remedy, none crashes. */
#include "formats/synthetic.h"

#include "base/files.h"
#include "base/random.h"

typedef struct Refusal
{
	const char *pointer, *value; /* what is set in a sound body */
	lmbStatus status;
	const char *place, *remedy; /* what the message must name */
} Refusal;

static const Refusal refusals[] = {
    { "/accessors/0/bufferView", "99", lmb_statusCorrupt, "/accessors/0/bufferView: 99", "export it again" },
    { "/accessors/0/bufferView", "-1", lmb_statusCorrupt, "/accessors/0/bufferView: -1", "export it again" },
    { "/accessors/0/bufferView", "\"x\"", lmb_statusCorrupt, "/accessors/0/bufferView", "whole number" },
    { "/accessors/0/count", "13", lmb_statusCorrupt, "/accessors/0/bufferView", "13 elements need" },
    { "/accessors/0/count", "0", lmb_statusCorrupt, "/accessors/0/count", "export it again" },
    { "/accessors/0/count", "1e300", lmb_statusCorrupt, "/accessors/0/count", "export it again" },
    { "/accessors/0/count", "30000000", lmb_statusCorrupt, "/accessors/0/bufferView", "export it again" },
    { "/accessors/0/byteOffset", "4", lmb_statusCorrupt, "/accessors/0/bufferView", "export it again" },
    { "/accessors/0/byteOffset", "8589934592", lmb_statusCorrupt, "/accessors/0/bufferView",
      "export it again" },
    { "/accessors/0/type", "\"VEC2\"", lmb_statusCorrupt, "/accessors/0/type", "POSITION" },
    { "/accessors/0/componentType", "5124", lmb_statusCorrupt, "/accessors/0/componentType", "5124" },
    { "/accessors/0/normalized", "1", lmb_statusCorrupt, "/accessors/0/normalized", "true or false" },
    { "/accessors/0/sparse", "{\"count\":99}", lmb_statusCorrupt, "/accessors/0/sparse/count",
      "export it again" },
    { "/bufferViews/0/buffer", "1", lmb_statusCorrupt, "/bufferViews/0/buffer", "export it again" },
    { "/bufferViews/0/byteLength", "999999", lmb_statusCorrupt, "/bufferViews/0", "export it again" },
    { "/bufferViews/0/byteOffset", "1000000000000", lmb_statusCorrupt, "/bufferViews/0/byteOffset",
      "outside" },
    { "/bufferViews/0/byteStride", "8", lmb_statusCorrupt, "/accessors/0/bufferView", "12 bytes lie 8" },
    { "/meshes/0/primitives/0/attributes/POSITION", "2", lmb_statusCorrupt, "/accessors/2/type", "POSITION" },
    { "/meshes/0/primitives/0/attributes/POSITION", NULL, lmb_statusCorrupt,
      "/meshes/0/primitives/0/attributes/POSITION", "missing" },
    { "/meshes/0/primitives/0/attributes/WEIGHTS_0", NULL, lmb_statusCorrupt,
      "/meshes/0/primitives/0/attributes/WEIGHTS_0", "missing" },
    { "/meshes/0/primitives/0/attributes/JOINTS_0", "2", lmb_statusCorrupt, "/accessors/2",
      "unsigned integers" },
    { "/accessors/1/count", "11", lmb_statusCorrupt, "/meshes/0/primitives/0/attributes/JOINTS_0",
      "11 entries" },
    { "/meshes/0/primitives/0/mode", "7", lmb_statusCorrupt, "/meshes/0/primitives/0/mode", "outside" },
    { "/meshes/0/primitives/0/mode", "1", lmb_statusUnsupported, "/meshes", "triangles" },
    { "/meshes/0/primitives/0/extensions", "{\"KHR_draco_mesh_compression\":{\"bufferView\":0}}",
      lmb_statusOk, "", "" },
    { "/extensionsRequired", "[\"KHR_draco_mesh_compression\"]", lmb_statusUnsupported,
      "/extensionsRequired/0", "without compression" },
    { "/extensionsRequired", "[\"KHR_materials_unlit\",\"EXT_meshopt_compression\"]", lmb_statusUnsupported,
      "/extensionsRequired/1", "without compression" },
    { "/extensionsRequired", "[\"ACME_teapots\"]", lmb_statusUnsupported, "/extensionsRequired/0",
      "ACME_teapots" },
    { "/asset/version", "\"1.0\"", lmb_statusUnsupported, "/asset/version", "convert the file to glTF 2.0" },
    { "/asset", NULL, lmb_statusCorrupt, "/asset/version", "export the character as .glb" },
    { "/nodes/2/children", "[1]", lmb_statusCorrupt, "/children", "export the file again" },
    { "/nodes/2/children", "[2]", lmb_statusCorrupt, "/nodes/2/children/0", "its own child" },
    { "/nodes/0/children", "[2]", lmb_statusCorrupt, "/nodes/1/children/0", "two parents" },
    { "/nodes/1/children", "[9]", lmb_statusCorrupt, "/nodes/1/children/0", "outside" },
    { "/nodes/0/skin", "1", lmb_statusCorrupt, "/nodes/0/skin", "outside" },
    { "/nodes/0/skin", NULL, lmb_statusUnsupported, "/skins", "parent the mesh to an armature" },
    { "/nodes/0/mesh", "-3", lmb_statusCorrupt, "/nodes/0/mesh", "outside" },
    { "/nodes/1/rotation", "[0,0,0,0]", lmb_statusNumerical, "/nodes/1/rotation", "all zero" },
    { "/nodes/1/rotation", "[0,0,0]", lmb_statusCorrupt, "/nodes/1/rotation", "4 numbers" },
    { "/nodes/1/translation", "[0,null,0]", lmb_statusCorrupt, "/nodes/1/translation", "not a number" },
    { "/nodes/1/scale", "[0,0,0]", lmb_statusNumerical, "/skins/0", "apply all scales" },
    { "/nodes/1/scale", "[1e200,1e200,1e200]", lmb_statusNumerical, "/skins/0", "apply all scales" },
    { "/nodes/1/matrix", "[1,0,0,1, 0,1,0,0, 0,0,1,0, 0,0,0,1]", lmb_statusUnsupported, "/nodes/1/matrix",
      "last row" },
    { "/scene", "5", lmb_statusCorrupt, "/scene", "outside" },
    { "/scenes/0/nodes", "[77]", lmb_statusCorrupt, "/scenes/0/nodes/0", "outside" },
    { "/skins/0/joints", "[]", lmb_statusCorrupt, "/skins/0/joints", "no joints" },
    { "/skins/0/joints", "[1,77]", lmb_statusCorrupt, "/skins/0/joints/1", "outside" },
    { "/skins/0/joints", "[1]", lmb_statusCorrupt, "/meshes/0/primitives/0/attributes/JOINTS_0",
      "skin of 1" },
    { "/skins/0/joints", "[1,2,2]", lmb_statusCorrupt, "/skins/0/inverseBindMatrices", "2 matrices for 3" },
    { "/animations/0/channels/0/target/node", "3", lmb_statusCorrupt, "/animations/0/channels/0/target/node",
      "outside" },
    { "/animations/0/channels/0/sampler", "1", lmb_statusCorrupt, "/animations/0/channels/0/sampler",
      "outside" },
    { "/animations/0/samplers/0/interpolation", "\"BEZIER\"", lmb_statusUnsupported,
      "/animations/0/samplers/0/interpolation", "bake the animation" },
    { "/animations/0/samplers/0/interpolation", "\"CUBICSPLINE\"", lmb_statusCorrupt,
      "/animations/0/samplers/0/output", "do not fit 4 keys" },
    { "/animations/0/samplers/0/output", "0", lmb_statusCorrupt, "/accessors/0/type", "output" },
    { "/animations/0/samplers/0/input", "6", lmb_statusCorrupt, "/accessors/6/type", "input" } };

static void EachIsNamed( void **state )
{
	(void)state;
	for ( size_t i = 0; i < sizeof( refusals ) / sizeof( refusals[0] ); ++i )
	{
		const Refusal *refusal = &refusals[i];
		lmbGlbWriter writer;
		lmbError error;
		MakeBody( &writer );
		BodySet( &writer, refusal->pointer, refusal->value );
		lmbCharacter *character = LoadBody( &writer, &error );
		if ( ( character == NULL ) != ( refusal->status != lmb_statusOk ) || error.status != refusal->status )
		{
			printf( "%s = %s gives \"%s\"\n", refusal->pointer, refusal->value, error.message );
			CHECK_INT( error.status, refusal->status );
		}
		if ( refusal->status != lmb_statusOk )
		{
			CHECK_CONTAINS( error.message, "body.glb" );
			CHECK_CONTAINS( error.message, refusal->place );
			CHECK_CONTAINS( error.message, refusal->remedy );
		}
		lmbCharacter_Free( character );
	}
}

/* Faults inside the binary data. */
static void BinaryFaults( void **state )
{
	(void)state;
	static const struct
	{
		int view;
		size_t at; /* 4-byte word of the view */
		uint32_t word;
		lmbStatus status;
		const char *place, *remedy;
	} faults[] = {
	    { 0, 5, 0x7FC00000, lmb_statusNumerical, "/accessors/0: element 1", "repair the model" }, /* NaN */
	    { 0, 5, 0x7F800000, lmb_statusNumerical, "/accessors/0: element 1",
	      "repair the model" }, /* infinity */
	    { 2, 0, 0xFFC00000, lmb_statusNumerical, "/accessors/2: element 0", "repair the model" },
	    { 3, 2, 0x000C0000, lmb_statusCorrupt, "/accessors/3: index 5 is 12", "export the file again" },
	    { 1, 4, 0x00000200, lmb_statusCorrupt, "JOINTS_0: vertex 4 names joint 2", "export the file again" },
	    { 5, 2, 0x3E000000, lmb_statusCorrupt, "/accessors/5: key 2", "before the key" },
	    { 5, 3, 0x7F000000, lmb_statusCorrupt, "/accessors/5: key 3", "beyond 1e6 s" },
	    { 6, 3, 0x00000000, lmb_statusNumerical, "/accessors/6: key 0", "all zero" },
	    { 4, 3, 0x3F800000, lmb_statusUnsupported, "/skins/0/inverseBindMatrices", "last row" } };
	for ( size_t i = 0; i < sizeof( faults ) / sizeof( faults[0] ); ++i )
	{
		lmbGlbWriter writer;
		lmbError error;
		MakeBody( &writer );
		const json_t *view =
		    json_array_get( json_object_get( writer.root, "bufferViews" ), (size_t)faults[i].view );
		size_t offset = (size_t)json_integer_value( json_object_get( view, "byteOffset" ) );
		for ( int b = 0; b < 4; ++b )
			writer.data[offset + 4 * faults[i].at + (size_t)b] =
			    (unsigned char)( faults[i].word >> ( 8 * b ) );
		lmbCharacter *character = LoadBody( &writer, &error );
		CHECK( character == NULL );
		CHECK_INT( error.status, faults[i].status );
		CHECK_CONTAINS( error.message, faults[i].place );
		CHECK_CONTAINS( error.message, faults[i].remedy );
		lmbCharacter_Free( character );
	}
}

/* Compressed data that only an extension can read. */
static void Compression( void **state )
{
	(void)state;
	lmbGlbWriter writer;
	lmbError error;
	MakeBody( &writer );
	BodySet( &writer, "/meshes/0/primitives/0/extensions",
	         "{\"KHR_draco_mesh_compression\":{\"bufferView\":0}}" );
	BodySet( &writer, "/accessors/0/bufferView", NULL );
	CHECK( LoadBody( &writer, &error ) == NULL );
	CHECK_INT( error.status, lmb_statusUnsupported );
	CHECK_CONTAINS( error.message, "/meshes/0/primitives/0/extensions/KHR_draco_mesh_compression" );
	CHECK_CONTAINS( error.message, "compression switched off" );

	static const char *const buffers = "[{\"byteLength\":100},{\"byteLength\":64,\"extensions\":"
	                                   "{\"EXT_meshopt_compression\":{\"fallback\":true}}}]";
	MakeBody( &writer );
	BodySet( &writer, "/bufferViews/4/buffer", "1" );
	BodySet( &writer, "/bufferViews/4/extensions", "{\"EXT_meshopt_compression\":{\"buffer\":0}}" );
	/* The writer makes /buffers itself, so this file is put together by hand. */
	json_object_set_new( writer.root, "buffers", json_loads( buffers, 0, NULL ) );
	char *text = json_dumps( writer.root, 0 );
	CHECK_INT( lmbFile_Write( BodyPath( "m.gltf" ), text, strlen( text ), &error ), lmb_statusOk );
	lmbCharacter *character;
	CHECK_INT( lmbCharacter_Load( BodyPath( "m.gltf" ), NULL, &character, &error ), lmb_statusUnsupported );
	CHECK_CONTAINS( error.message, "/bufferViews/4/extensions" );
	CHECK_CONTAINS( error.message, "without compression" );
	free( text );
	lmbGlbWriter_Free( &writer );
	unlink( BodyPath( "m.gltf" ) );
}

static void LoadBytes( const char *bytes, size_t size, lmbStatus *status, lmbError *error )
{
	lmbCharacter *character = NULL;
	*error = ( lmbError ){ 0 };
	FILE *stream =
	    fopen( BodyPath( "x.glb" ), "wb" ); /* without the sync of lmbFile_Write: thousands follow */
	CHECK_OR_STOP( stream != NULL && fwrite( bytes, 1, size, stream ) == size && fclose( stream ) == 0 );
	*status = lmbCharacter_Load( BodyPath( "x.glb" ), NULL, &character, error );
	if ( character != NULL )
	{
		double bones[12 * 16];
		CHECK_OR_STOP( character->boneCount <= 16 );
		for ( int c = -1; c < character->clipCount; ++c )
			lmbCharacter_Pose( character, c, 0.4, bones );
	}
	CHECK( ( character != NULL ) == ( *status == lmb_statusOk ) );
	lmbCharacter_Free( character );
}

static void ReadBody( lmbArena *arena, char **data, size_t *size )
{
	lmbGlbWriter writer;
	lmbError error;
	MakeBody( &writer );
	CHECK_INT( lmbGlbWriter_Write( &writer, BodyPath( "x.glb" ), &error ), lmb_statusOk );
	lmbGlbWriter_Free( &writer );
	CHECK_OR_STOP( lmbFile_Read( BodyPath( "x.glb" ), arena, data, size, &error ) == lmb_statusOk );
}

static void CutAtEveryLength( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	lmbError error;
	char *data;
	size_t size;
	lmbStatus status;
	ReadBody( &arena, &data, &size );
	for ( size_t length = 0; length <= size; ++length )
	{
		LoadBytes( data, length, &status, &error );
		if ( ( status == lmb_statusOk ) != ( length == size ) )
		{
			CHECK_INT( status, lmb_statusCorrupt );
			printf( "length %zu of %zu\n", length, size );
		}
		if ( status != lmb_statusOk )
			CHECK_CONTAINS( error.message, "x.glb: " );
	}
	unlink( BodyPath( "x.glb" ) );
	lmbArena_Free( &arena );
}

/* Random bytes changed, in the JSON and in the data: the answer may be yes or no, never a crash (run under
 * the sanitizers too), and what imports keeps its indices in range. */
static void FlippedBytes( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	lmbError error;
	char *data, copy[16384];
	size_t size;
	ReadBody( &arena, &data, &size );
	CHECK_OR_STOP( size < sizeof( copy ) );
	checkSeed = 20;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	int accepted = 0;
	for ( int round = 0; round < 3000; ++round )
	{
		memcpy( copy, data, size );
		int changes = 1 + (int)lmbRandom_Below( &random, 4 );
		for ( int c = 0; c < changes; ++c )
		{
			size_t at = lmbRandom_Below( &random, (uint32_t)size );
			/* Digits for digits keep the JSON readable, so that wrong numbers are met behind the parser. */
			if ( copy[at] >= '0' && copy[at] <= '9' )
				copy[at] = (char)( '0' + lmbRandom_Below( &random, 10 ) );
			else if ( at > 1200 || lmbRandom_Below( &random, 8 ) == 0 )
				copy[at] = (char)lmbRandom_Below( &random, 256 );
		}
		lmbStatus status;
		LoadBytes( copy, size, &status, &error );
		accepted += status == lmb_statusOk ? 1 : 0;
		CHECK( status == lmb_statusOk || error.message[0] != 0 );
	}
	/* Both answers must occur, or the test looks at nothing. */
	CHECK( accepted > 100 && accepted < 2900 );
	unlink( BodyPath( "x.glb" ) );
	lmbArena_Free( &arena );
}

static void OtherFiles( void **state )
{
	(void)state;
	static const struct
	{
		const char *bytes, *message;
	} files[] = {
	    { "Kaydara FBX Binary  ", "is not glTF; export the character as .glb" },
	    { "", "is not glTF" },
	    { "{\"asset\":", "JSON line 1" },
	    { "[1,2]", "is not glTF" },
	    { "{}", "/asset/version" },
	    { "{\"asset\":{\"version\":\"2.0\"}}", "bound to a skeleton" },
	    { "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":4,\"uri\":\"/etc/passwd\"}]}",
	      "beside the .gltf" },
	    { "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":4,\"uri\":\"..%2Fx.bin\"}]}",
	      "beside the .gltf" },
	    { "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":4,\"uri\":\"http://a/b\"}]}",
	      "beside the .gltf" },
	    { "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":4,\"uri\":"
	      "\"data:x;base64,A!AA\"}]}",
	      "not base64" },
	    { "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":4,\"uri\":"
	      "\"data:x;base64,AAAA\"}]}",
	      "/buffers/0/byteLength: says 4 bytes, there are 3" } };
	for ( size_t i = 0; i < sizeof( files ) / sizeof( files[0] ); ++i )
	{
		lmbStatus status;
		lmbError error;
		LoadBytes( files[i].bytes, strlen( files[i].bytes ), &status, &error );
		CHECK( status != lmb_statusOk );
		CHECK_CONTAINS( error.message, files[i].message );
	}
	unlink( BodyPath( "x.glb" ) );
	lmbCharacter *character;
	lmbError error = { 0 };
	CHECK_INT( lmbCharacter_Load( BodyPath( "none.glb" ), NULL, &character, &error ), lmb_statusIo );
	CHECK_CONTAINS( error.message, "none.glb" );
}

/* Deep and wide, but cheap to write: what costs more than its bytes is bounded. */
static void AbsurdCounts( void **state )
{
	(void)state;
	lmbError error = { 0 };
	/* 6,000 joints in a chain. */
	size_t capacity = 1 << 20, at = 0;
	char *text = malloc( capacity );
	at += (size_t)sprintf( text + at, "{\"asset\":{\"version\":\"2.0\"},\"meshes\":[{\"primitives\":[]}],"
	                                  "\"skins\":[{\"joints\":[6000]}],\"nodes\":[{\"mesh\":0,\"skin\":0}" );
	for ( int i = 1; i <= 6000; ++i )
		at += (size_t)sprintf( text + at, i < 6000 ? ",{\"children\":[%d]}" : ",{}", i + 1 );
	at += (size_t)sprintf( text + at, "]}" );
	lmbStatus status;
	LoadBytes( text, at, &status, &error );
	CHECK_INT( status, lmb_statusUnsupported );
	CHECK_CONTAINS( error.message, "/nodes: 6000 nodes carry the skeleton, at most 4096" );
	/* 200 primitives of a million zeros each: no bytes in the file, 18 GB in memory. */
	at = (size_t)sprintf( text,
	                      "{\"asset\":{\"version\":\"2.0\"},\"skins\":[{\"joints\":[1]}],"
	                      "\"nodes\":[{\"mesh\":0,\"skin\":0},{}],\"accessors\":[{\"componentType\":5126,"
	                      "\"count\":1000000,\"type\":\"VEC3\"},{\"componentType\":5121,\"count\":1000000,"
	                      "\"type\":\"VEC4\"}],\"meshes\":[{\"primitives\":[" );
	for ( int i = 0; i < 200; ++i )
		at +=
		    (size_t)sprintf( text + at, "%s{\"attributes\":{\"POSITION\":0,\"JOINTS_0\":1,\"WEIGHTS_0\":1}}",
		                     i > 0 ? "," : "" );
	at += (size_t)sprintf( text + at, "]}]}" );
	LoadBytes( text, at, &status, &error );
	CHECK_INT( status, lmb_statusUnsupported );
	CHECK_CONTAINS( error.message, "/count: " );
	CHECK_CONTAINS( error.message, "simplify the character" );
	/* Brackets deeper than any file has. */
	memset( text, '[', capacity );
	memcpy( text, "{\"a\":", 5 );
	LoadBytes( text, capacity, &status, &error );
	CHECK_INT( status, lmb_statusCorrupt );
	unlink( BodyPath( "x.glb" ) );
	free( text );
}

int main( void )
{
	if ( !MakeBodyFolder() )
		return 1;
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( EachIsNamed ),      CHECK_TEST( BinaryFaults ), CHECK_TEST( Compression ),
	    CHECK_TEST( CutAtEveryLength ), CHECK_TEST( FlippedBytes ), CHECK_TEST( OtherFiles ),
	    CHECK_TEST( AbsurdCounts ),
	};
	int failures = CHECK_RUN( tests );
	rmdir( bodyFolder );
	return failures;
}
