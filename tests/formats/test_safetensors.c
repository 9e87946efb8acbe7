/* Reading and writing safetensors, whole files. tests/runtime/test_tensors.c feeds the parser hostile
 * headers; here are files, messages and the round trip. */
#include "check.h"

#include "base/files.h"
#include "base/random.h"
#include "formats/safetensors.h"

#include <stdlib.h>
#include <unistd.h>

static char folder[64], path[128];

static int MakeFolder( void **state )
{
	(void)state;
	strcpy( folder, "/tmp/limber-test-XXXXXX" );
	if ( mkdtemp( folder ) == NULL )
		return 1;
	snprintf( path, sizeof( path ), "%s/file.safetensors", folder );
	return 0;
}

static int RemoveFolder( void **state )
{
	(void)state;
	unlink( path );
	return rmdir( folder );
}

static const float floats[6] = { 1.0f, -2.5f, 3.25f, 0.0f, 1e-30f, -7.0f };
static const double doubles[3] = { 1.0 / 3.0, -1e200, 5e-324 };
static const int32_t integers[4] = { -1, 2, INT32_MAX, INT32_MIN };
static const uint8_t bytes[5] = { 0, 1, 127, 128, 255 };

static void FillWriter( lmbTensorWriter *writer )
{
	lmbTensorWriter_Metadata( writer, "format", "limber.test" );
	lmbTensorWriter_Metadata( writer, "version", "2" );
	lmbTensorWriter_Metadata( writer, "odd \"key\"\\", "line\nbreak \xF0\x9F\x90\x8E \xC3\xA9" );
	lmbTensorWriter_Add( writer, "bytes", lmb_dataU8, 1, ( int64_t[] ){ 5 }, bytes );
	lmbTensorWriter_Add( writer, "floats", lmb_dataF32, 2, ( int64_t[] ){ 2, 3 }, floats );
	lmbTensorWriter_Add( writer, "empty", lmb_dataF32, 2, ( int64_t[] ){ 0, 3 }, NULL );
	lmbTensorWriter_Add( writer, "scalar", lmb_dataF64, 0, NULL, doubles );
	lmbTensorWriter_Add( writer, "gr\xC3\xBC\xC3\x9F\x65\"\\", lmb_dataI32, 3, ( int64_t[] ){ 1, 4, 1 },
	                     integers );
	lmbTensorWriter_Add( writer, "doubles", lmb_dataF64, 1, ( int64_t[] ){ 3 }, doubles );
}

/* What FillWriter put there, whoever wrote the file. */
static void CheckFile( const char *where )
{
	lmbError error = { 0 };
	lmbTensorFile file;
	CHECK_INT( lmbTensorFile_Open( &file, where, "limber.test", 2, &error ), lmb_statusOk );
	char text[64];
	CHECK( lmbTensorFile_Metadata( &file, "odd \"key\"\\", text, sizeof( text ) ) );
	CHECK_CONTAINS( text, "line\nbreak \xF0\x9F\x90\x8E \xC3\xA9" );
	CHECK( !lmbTensorFile_Metadata( &file, "format", text, 11 ) ); /* one too short for the zero */
	CHECK( lmbTensorFile_Metadata( &file, "format", text, 12 ) );
	CHECK( lmbTensorFile_Has( &file, "scalar" ) && !lmbTensorFile_Has( &file, "scala" ) );

	const void *data;
	int64_t shape[3] = { -1, 3, 0 };
	CHECK_INT( lmbTensorFile_Get( &file, "floats", lmb_dataF32, 2, shape, &data, &error ), lmb_statusOk );
	CHECK( shape[0] == 2 && memcmp( data, floats, sizeof( floats ) ) == 0 );
	shape[0] = 1, shape[1] = 4, shape[2] = 1;
	CHECK_INT( lmbTensorFile_Get( &file, "gr\xC3\xBC\xC3\x9F\x65\"\\", lmb_dataI32, 3, shape, &data, &error ),
	           lmb_statusOk );
	CHECK( memcmp( data, integers, sizeof( integers ) ) == 0 );
	shape[0] = -1;
	CHECK_INT( lmbTensorFile_Get( &file, "doubles", lmb_dataF64, 1, shape, &data, &error ), lmb_statusOk );
	CHECK( shape[0] == 3 && memcmp( data, doubles, sizeof( doubles ) ) == 0 );
	CHECK_INT( lmbTensorFile_Get( &file, "scalar", lmb_dataF64, 0, NULL, &data, &error ), lmb_statusOk );
	CHECK( memcmp( data, doubles, sizeof( double ) ) == 0 );
	shape[0] = -1, shape[1] = -1;
	CHECK_INT( lmbTensorFile_Get( &file, "empty", lmb_dataF32, 2, shape, &data, &error ), lmb_statusOk );
	CHECK( shape[0] == 0 && shape[1] == 3 );
	shape[0] = -1;
	CHECK_INT( lmbTensorFile_Get( &file, "bytes", lmb_dataU8, 1, shape, &data, &error ), lmb_statusOk );
	CHECK( shape[0] == 5 && memcmp( data, bytes, 5 ) == 0 );
	lmbTensorFile_Close( &file );
}

static void RoundTrip( void **state )
{
	(void)state;
	lmbTensorWriter writer = { 0 };
	FillWriter( &writer );
	lmbError error = { 0 };
	CHECK_INT( lmbTensorWriter_Write( &writer, path, &error ), lmb_statusOk );
	CheckFile( path );
}

static void SameCallsSameBytes( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	char *data[2];
	size_t size[2];
	for ( int i = 0; i < 2; ++i )
	{
		lmbTensorWriter writer;
		memset( &writer, 0, sizeof( writer ) );
		FillWriter( &writer );
		CHECK_INT( lmbTensorWriter_Write( &writer, path, NULL ), lmb_statusOk );
		CHECK_INT( lmbFile_Read( path, &arena, &data[i], &size[i], NULL ), lmb_statusOk );
	}
	CHECK_INT( size[0], size[1] );
	CHECK( memcmp( data[0], data[1], size[0] ) == 0 );
	lmbArena_Free( &arena );
}

static void MessagesNameFileArrayAndShape( void **state )
{
	(void)state;
	lmbTensorWriter writer = { 0 };
	FillWriter( &writer );
	float bad[3] = { 0.0f, INFINITY, 1.0f };
	lmbTensorWriter_Add( &writer, "bad", lmb_dataF32, 1, ( int64_t[] ){ 3 }, bad );
	lmbError error = { 0 };
	CHECK_INT( lmbTensorWriter_Write( &writer, path, &error ), lmb_statusOk );
	lmbTensorFile file;
	CHECK_INT( lmbTensorFile_Open( &file, path, "limber.other", 2, &error ), lmb_statusCorrupt );
	CHECK_CONTAINS( error.message, "limber.other" );
	lmbTensorFile_Close( &file );
	CHECK_INT( lmbTensorFile_Open( &file, path, "limber.test", 1, &error ), lmb_statusUnsupported );
	CHECK_CONTAINS( error.message, "version 2" );
	lmbTensorFile_Close( &file );
	CHECK_INT( lmbTensorFile_Open( &file, path, NULL, 0, &error ), lmb_statusOk );
	const void *data;
	int64_t shape[2] = { -1, 4 };
	CHECK_INT( lmbTensorFile_Get( &file, "floats", lmb_dataF32, 2, shape, &data, &error ),
	           lmb_statusCorrupt );
	CHECK_CONTAINS( error.message, path );
	CHECK_CONTAINS( error.message, "\"floats\" is F32 (2 x 3) where F32 (any x 4) is needed" );
	CHECK_INT( lmbTensorFile_Get( &file, "floats", lmb_dataI32, 1, shape, &data, &error ),
	           lmb_statusCorrupt );
	CHECK_INT( lmbTensorFile_Get( &file, "none", lmb_dataI32, 1, shape, &data, &error ), lmb_statusNotFound );
	CHECK_CONTAINS( error.message, "\"none\"" );
	shape[0] = -1;
	CHECK_INT( lmbTensorFile_Get( &file, "bad", lmb_dataF32, 1, shape, &data, &error ), lmb_statusNumerical );
	CHECK_CONTAINS( error.message, "element 1" );
	lmbTensorFile_Close( &file );

	CHECK_INT( lmbTensorFile_Open( &file, "/nowhere/at/all", NULL, 0, &error ), lmb_statusIo );
	lmbTensorFile_Close( &file );
	CHECK_INT( lmbFile_Write( path, "not a tensor file", 17, &error ), lmb_statusOk );
	CHECK_INT( lmbTensorFile_Open( &file, path, NULL, 0, &error ), lmb_statusCorrupt );
	CHECK_CONTAINS( error.message, path );
	CHECK( !lmbTensorFile_Has( &file, "x" ) );
	lmbTensorFile_Close( &file );
}

static void WriterRefuses( void **state )
{
	(void)state;
	lmbError error = { 0 };
	static lmbTensorWriter writer;
	FillWriter( &writer );
	lmbTensorWriter_Add( &writer, "floats", lmb_dataF32, 1, ( int64_t[] ){ 1 }, floats );
	CHECK_INT( lmbTensorWriter_Write( &writer, path, &error ), lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "twice" );
	memset( &writer, 0, sizeof( writer ) );
	lmbTensorWriter_Add( &writer, "not \xFF utf", lmb_dataF32, 1, ( int64_t[] ){ 1 }, floats );
	CHECK_INT( lmbTensorWriter_Write( &writer, path, &error ), lmb_statusInvalidArgument );
	memset( &writer, 0, sizeof( writer ) );
	lmbTensorWriter_Add( &writer, "huge", lmb_dataF64, 3, ( int64_t[] ){ INT64_MAX, 2, 2 }, floats );
	CHECK_INT( lmbTensorWriter_Write( &writer, path, &error ), lmb_statusInvalidArgument );
	memset( &writer, 0, sizeof( writer ) );
	lmbTensorWriter_Add( &writer, "negative", lmb_dataF64, 1, ( int64_t[] ){ -1 }, floats );
	CHECK_INT( lmbTensorWriter_Write( &writer, path, &error ), lmb_statusInvalidArgument );
	memset( &writer, 0, sizeof( writer ) );
	for ( int i = 0; i <= lmbTensorWriterMax; ++i )
	{
		char name[16];
		snprintf( name, sizeof( name ), "t%d", i );
		lmbTensorWriter_Add( &writer, name, lmb_dataF32, 1, ( int64_t[] ){ 6 }, floats );
	}
	CHECK( writer.overflow );
	CHECK_INT( lmbTensorWriter_Write( &writer, path, &error ), lmb_statusInvalidArgument );
	memset( &writer, 0, sizeof( writer ) );
	char text[600];
	memset( text, 'x', sizeof( text ) );
	text[sizeof( text ) - 1] = 0;
	lmbTensorWriter_Metadata( &writer, "long", text );
	CHECK( writer.overflow );
}

/* Flips, cuts and splices of a sound file: opened or refused, never a crash, and whatever opens has every
 * array inside the file. */
static void MutatedFilesAreSafe( void **state )
{
	(void)state;
	static lmbTensorWriter writer;
	memset( &writer, 0, sizeof( writer ) );
	FillWriter( &writer );
	CHECK_INT( lmbTensorWriter_Write( &writer, path, NULL ), lmb_statusOk );
	lmbArena arena = { 0 };
	char *sound;
	size_t size;
	CHECK_INT( lmbFile_Read( path, &arena, &sound, &size, NULL ), lmb_statusOk );
	checkSeed = 20;
	lmbRandom random = lmbRandom_Seed( checkSeed, 1 );
	int opened = 0;
	for ( int round = 0; round < 2000; ++round )
	{
		size_t cut = round % 4 == 0 ? lmbRandom_Below( &random, (uint32_t)size + 1 ) : size;
		char *copy = malloc( cut + 1 ); /* exactly as long as the file: a sanitizer sees any read beyond */
		memcpy( copy, sound, cut );
		for ( uint32_t flips = lmbRandom_Below( &random, 4 ); flips > 0 && cut > 0; --flips )
			copy[lmbRandom_Below( &random, (uint32_t)cut )] ^= (char)( 1 << lmbRandom_Below( &random, 8 ) );
		const char *problem;
		lmbTensor tensor;
		if ( lmbTensors_Check( copy, cut, &problem ) == lmb_statusOk )
		{
			opened += 1;
			static const char *const names[] = { "bytes", "floats", "empty", "scalar", "doubles" };
			for ( int i = 0; i < 5; ++i )
				if ( lmbTensors_Find( copy, cut, names[i], &tensor ) == lmb_statusOk )
					CHECK( (const char *)tensor.data >= copy &&
					       (const char *)tensor.data + tensor.bytes <= copy + cut );
		}
		else
			CHECK( problem != NULL );
		free( copy );
	}
	CHECK( opened > 100 && opened < 1900 ); /* both ways out are exercised */
	lmbArena_Free( &arena );
}

/* For test_safetensors_reference.sh: the same file to and from another implementation. */
static const char *peerPath;

static void FromAPeer( void **state )
{
	(void)state;
	CheckFile( peerPath );
}

int main( int argc, char **argv )
{
	if ( argc == 3 && strcmp( argv[1], "write" ) == 0 )
	{
		static lmbTensorWriter writer;
		FillWriter( &writer );
		return lmbTensorWriter_Write( &writer, argv[2], NULL ) == lmb_statusOk ? 0 : 1;
	}
	if ( argc == 3 && strcmp( argv[1], "read" ) == 0 )
	{
		const struct CMUnitTest peer[] = { CHECK_TEST( FromAPeer ) };
		peerPath = argv[2];
		return CHECK_RUN( peer );
	}
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( RoundTrip ),
	    CHECK_TEST( SameCallsSameBytes ),
	    CHECK_TEST( MessagesNameFileArrayAndShape ),
	    CHECK_TEST( WriterRefuses ),
	    CHECK_TEST( MutatedFilesAreSafe ),
	};
	return cmocka_run_group_tests( tests, MakeFolder, RemoveFolder );
}
