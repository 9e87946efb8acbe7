/* The header scanner against headers written by hand: what it must read, and what it must refuse with which
 * words. Every buffer is exactly as long as its file, so that a sanitizer sees any read beyond it. */
#include "check.h"

#include "runtime/tensors.h"

#include <stdlib.h>

/* A file with this header and so many bytes behind it. */
static char *MakeFile( const char *header, size_t headerBytes, size_t arrayBytes, size_t *size )
{
	*size = 8 + headerBytes + arrayBytes;
	char *file = malloc( *size );
	for ( int i = 0; i < 8; ++i )
		file[i] = (char)( (uint64_t)headerBytes >> ( 8 * i ) );
	memcpy( file + 8, header, headerBytes );
	for ( size_t i = 0; i < arrayBytes; ++i )
		file[8 + headerBytes + i] = (char)i;
	return file;
}

/* Headers are padded to a multiple of 8 with spaces, so that the arrays are aligned. */
static lmbStatus CheckText( const char *header, size_t arrayBytes, const char **problem )
{
	char padded[4096];
	size_t length = strlen( header );
	memcpy( padded, header, length );
	while ( length % 8 != 0 )
		padded[length++] = ' ';
	size_t size;
	char *file = MakeFile( padded, length, arrayBytes, &size );
	lmbStatus status = lmbTensors_Check( file, size, problem );
	free( file );
	return status;
}

static const char sound[] = " \"a\" :{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},\n"
                            "\"__metadata__\":{\"k\\u00e9y\":\"v\\ud83d\\udc0e\\n\",\"empty\":\"\"},"
                            "\"b\\/c\":{\"shape\":[],\"data_offsets\":[24,25],\"dtype\":\"U8\"},\t"
                            "\"none\":{\"data_offsets\":[25,25],\"dtype\":\"I8\",\"shape\":[4,0]} }   ";

static char *MakeSound( size_t *size )
{
	char header[sizeof( sound ) + 16] = "{";
	strcat( header, sound );
	while ( strlen( header ) % 8 != 0 )
		strcat( header, " " );
	return MakeFile( header, strlen( header ), 25, size );
}

static void ReadsWhatTheFormatAllows( void **state )
{
	(void)state;
	size_t size;
	char *file = MakeSound( &size );
	const char *problem = "";
	CHECK_INT( lmbTensors_Check( file, size, &problem ), lmb_statusOk );
	CHECK( problem == NULL );
	lmbTensor tensor;
	CHECK_INT( lmbTensors_Find( file, size, "a", &tensor ), lmb_statusOk );
	CHECK( tensor.type == lmb_dataF32 && tensor.rank == 2 && tensor.shape[0] == 2 && tensor.shape[1] == 3 );
	CHECK( tensor.bytes == 24 && (const char *)tensor.data == file + size - 25 );
	CHECK_INT( lmbTensors_Find( file, size, "b/c", &tensor ), lmb_statusOk );
	CHECK( tensor.rank == 0 && tensor.bytes == 1 && *(const char *)tensor.data == 24 );
	CHECK_INT( lmbTensors_Find( file, size, "none", &tensor ), lmb_statusOk );
	CHECK_INT( tensor.bytes, 0 );
	CHECK_INT( lmbTensors_Find( file, size, "non", &tensor ), lmb_statusNotFound );
	CHECK_INT( lmbTensors_Find( file, size, "nones", &tensor ), lmb_statusNotFound );
	CHECK_INT( lmbTensors_Find( file, size, "__metadata__", &tensor ), lmb_statusNotFound );
	char text[16];
	CHECK_INT( lmbTensors_Metadata( file, size, "k\xC3\xA9y", text, sizeof( text ) ), lmb_statusOk );
	CHECK( strcmp( text, "v\xF0\x9F\x90\x8E\n" ) == 0 );
	CHECK_INT( lmbTensors_Metadata( file, size, "k\xC3\xA9y", text, 6 ), lmb_statusInvalidArgument );
	CHECK_INT( lmbTensors_Metadata( file, size, "k\xC3\xA9y", text, 0 ), lmb_statusInvalidArgument );
	CHECK_INT( lmbTensors_Metadata( file, size, "empty", text, 1 ), lmb_statusOk );
	CHECK_INT( lmbTensors_Metadata( file, size, "absent", text, 9 ), lmb_statusNotFound );
	free( file );
	CHECK_INT( CheckText( "{}", 0, NULL ), lmb_statusOk );
	CHECK_INT( CheckText( "{\"__metadata__\":{}}", 0, NULL ), lmb_statusOk );
}

static void TruncatedAtEveryLength( void **state )
{
	(void)state;
	size_t size;
	char *file = MakeSound( &size );
	for ( size_t length = 0; length < size; ++length )
	{
		char *cut = malloc( length > 0 ? length : 1 );
		memcpy( cut, file, length );
		const char *problem = NULL;
		CHECK_INT( lmbTensors_Check( cut, length, &problem ), lmb_statusCorrupt );
		CHECK( problem != NULL );
		lmbTensor tensor;
		char text[16];
		lmbTensors_Find( cut, length, "none",
		                 &tensor ); /* unchecked files: any answer, no read beyond the end */
		lmbTensors_Metadata( cut, length, "empty", text, sizeof( text ) );
		free( cut );
	}
	/* The same with the header's own length made to fit, so that the JSON itself ends early. */
	for ( size_t length = 1; length < size - 8 - 25; ++length )
	{
		size_t cutSize;
		char *cut = MakeFile( file + 8, length, 0, &cutSize );
		bool complete = strspn( file + 8 + length, " " ) >= size - 8 - 25 - length;
		if ( !complete )
			CHECK_INT( lmbTensors_Check( cut, cutSize, NULL ), lmb_statusCorrupt );
		free( cut );
	}
	free( file );
	CHECK_INT( lmbTensors_Check( NULL, 0, NULL ), lmb_statusCorrupt );
}

#define ARRAY( name, type, shape, begin, end )                                                               \
	"\"" name "\":{\"dtype\":\"" type "\",\"shape\":[" shape "],\"data_offsets\":[" begin "," end "]}"

static const struct
{
	const char *header;
	size_t arrayBytes;
	lmbStatus status;
	const char *words; /* part of the problem */
} hostile[] = {
    { "[]", 0, lmb_statusCorrupt, "does not start with '{'" },
    { " {}", 0, lmb_statusCorrupt, "does not start with '{'" },
    { "{} x", 0, lmb_statusCorrupt, "goes on behind its JSON" },
    { "{}{}", 0, lmb_statusCorrupt, "goes on behind its JSON" },
    { "{", 0, lmb_statusCorrupt, "lacks a string" },
    { "{,}", 0, lmb_statusCorrupt, "lacks a string" },
    { "{}", 1, lmb_statusCorrupt, "goes on behind its arrays" },
    { "{" ARRAY( "a", "F32", "1", "0", "4" ) ",}", 4, lmb_statusCorrupt, "lacks a string" },
    { "{" ARRAY( "a", "F32", "1", "0", "4" ) "}", 3, lmb_statusCorrupt, "beyond the end" },
    { "{" ARRAY( "a", "F32", "1", "0", "4" ) "}", 5, lmb_statusCorrupt, "goes on behind its arrays" },
    { "{" ARRAY( "a", "F32", "2", "0", "4" ) "}", 4, lmb_statusCorrupt, "does not match" },
    { "{" ARRAY( "a", "F32", "1", "4", "0" ) "}", 4, lmb_statusCorrupt, "does not match" },
    { "{" ARRAY( "a", "F32", "1", "4", "8" ) "}", 8, lmb_statusCorrupt, "leave bytes" },
    { "{" ARRAY( "a", "U8", "4", "0", "4" ) "," ARRAY( "b", "U8", "4", "2", "6" ) "}", 6, lmb_statusCorrupt,
      "overlap" },
    { "{" ARRAY( "a", "U8", "4", "0", "4" ) "," ARRAY( "b", "U8", "4", "0", "4" ) "}", 4, lmb_statusCorrupt,
      "overlap" },
    { "{" ARRAY( "a", "U8", "0", "2", "2" ) "," ARRAY( "b", "U8", "4", "0", "4" ) "}", 4, lmb_statusCorrupt,
      "overlap" },
    { "{" ARRAY( "a", "U8", "1", "0", "1" ) "," ARRAY( "b", "F32", "1", "1", "5" ) "}", 5,
      lmb_statusUnsupported, "not aligned" },
    { "{" ARRAY( "a", "U8", "1", "0", "1" ) "," ARRAY( "a", "U8", "1", "1", "2" ) "}", 2, lmb_statusCorrupt,
      "repeats a name" },
    { "{" ARRAY( "a", "U8", "1", "0", "1" ) "," ARRAY( "\\u0061", "U8", "1", "1", "2" ) "}", 2,
      lmb_statusCorrupt, "repeats a name" },
    { "{\"__metadata__\":{},\"__metadata__\":{}}", 0, lmb_statusCorrupt, "repeats __metadata__" },
    { "{\"__metadata__\":{\"a\":\"\",\"\\u0061\":\"\"}}", 0, lmb_statusCorrupt, "repeats a name" },
    { "{\"__metadata__\":{\"a\":1}}", 0, lmb_statusCorrupt, "lacks a string" },
    { "{\"__metadata__\":{\"a\":{}}}", 0, lmb_statusCorrupt, "lacks a string" },
    { "{\"__metadata__\":[]}", 0, lmb_statusCorrupt, "not an object" },
    { "{" ARRAY( "a", "F32", "4611686018427387904,4", "0", "0" ) "}", 0, lmb_statusCorrupt, "too large" },
    { "{" ARRAY( "a", "F32", "18446744073709551617", "0", "4" ) "}", 4, lmb_statusCorrupt, "too large" },
    { "{" ARRAY( "a", "F32", "4611686018427387905", "0", "4" ) "}", 4, lmb_statusCorrupt, "too large" },
    { "{" ARRAY( "a", "U8", "1", "0", "99999999999999999999999" ) "}", 4, lmb_statusCorrupt, "too large" },
    { "{" ARRAY( "a", "U8", "9223372036854775807", "0", "9223372036854775807" ) "}", 4, lmb_statusCorrupt,
      "beyond the end" },
    { "{" ARRAY( "a", "F32", "-1", "0", "4" ) "}", 4, lmb_statusCorrupt, "whole, non-negative" },
    { "{" ARRAY( "a", "F32", "01", "0", "4" ) "}", 4, lmb_statusCorrupt, "whole, non-negative" },
    { "{" ARRAY( "a", "F32", "1.0", "0", "4" ) "}", 4, lmb_statusCorrupt, "lacks a comma" },
    { "{" ARRAY( "a", "F32", "1e0", "0", "4" ) "}", 4, lmb_statusCorrupt, "lacks a comma" },
    { "{" ARRAY( "a", "F32", "1,", "0", "4" ) "}", 4, lmb_statusCorrupt, "whole, non-negative" },
    { "{" ARRAY( "a", "F32", "1,1,1,1,1,1", "0", "4" ) "}", 4, lmb_statusUnsupported, "more than 5" },
    { "{" ARRAY( "a", "BF16", "1", "0", "2" ) "}", 2, lmb_statusUnsupported, "element type" },
    { "{" ARRAY( "a", "f32", "1", "0", "4" ) "}", 4, lmb_statusUnsupported, "element type" },
    { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1]}}", 1, lmb_statusCorrupt, "lacks dtype" },
    { "{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
      lmb_statusCorrupt, "repeats a member" },
    { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"x\":[[[[[[[[]]]]]]]]}}", 1,
      lmb_statusCorrupt, "unknown member" },
    { "{\"a\":{\"dtype\":\"U8\",\"shape\":[[1]],\"data_offsets\":[0,1]}}", 1, lmb_statusCorrupt,
      "whole, non-negative" },
    { "{\"a\":{\"dtype\":\"U8\",\"shape\":1,\"data_offsets\":[0,1]}}", 1, lmb_statusCorrupt, "not a list" },
    { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1,2]}}", 1, lmb_statusCorrupt,
      "two numbers" },
    { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0]}}", 1, lmb_statusCorrupt, "two numbers" },
    { "{\"a\":null}", 0, lmb_statusCorrupt, "object" },
    { "{\"a\":[]}", 0, lmb_statusCorrupt, "object" },
    { "{a:{}}", 0, lmb_statusCorrupt, "lacks a string" },
    { "{\"a\" {}}", 0, lmb_statusCorrupt, "colon" },
    { "{\"a\x01\":{}}", 0, lmb_statusCorrupt, "control character" },
    { "{\"a\\x\":{}}", 0, lmb_statusCorrupt, "escape" },
    { "{\"a\\u00\":{}}", 0, lmb_statusCorrupt, "escape" },
    { "{\"a\\u000g\":{}}", 0, lmb_statusCorrupt, "escape" },
    { "{\"a\\u0000\":{}}", 0, lmb_statusCorrupt, "escape" },
    { "{\"a\\ud800\":{}}", 0, lmb_statusCorrupt, "escape" },
    { "{\"a\\udc00\":{}}", 0, lmb_statusCorrupt, "escape" },
    { "{\"a\\ud800\\u0041\":{}}", 0, lmb_statusCorrupt, "escape" },
    { "{\"\x80\":{}}", 0, lmb_statusCorrupt, "UTF-8" },
    { "{\"\xC0\x80\":{}}", 0, lmb_statusCorrupt, "UTF-8" },         /* overlong zero */
    { "{\"\xE0\x80\x80\":{}}", 0, lmb_statusCorrupt, "UTF-8" },     /* overlong */
    { "{\"\xED\xA0\x80\":{}}", 0, lmb_statusCorrupt, "UTF-8" },     /* surrogate */
    { "{\"\xF4\x90\x80\x80\":{}}", 0, lmb_statusCorrupt, "UTF-8" }, /* above U+10FFFF */
    { "{\"\xF0\x8F\xBF\xBF\":{}}", 0, lmb_statusCorrupt, "UTF-8" }, /* overlong */
    { "{\"\xC3\":{}}", 0, lmb_statusCorrupt, "UTF-8" },
    { "{\"a", 0, lmb_statusCorrupt, "does not end" },
};

static void RefusesHostileHeaders( void **state )
{
	(void)state;
	for ( size_t i = 0; i < sizeof( hostile ) / sizeof( hostile[0] ); ++i )
	{
		const char *problem = NULL;
		lmbStatus status = CheckText( hostile[i].header, hostile[i].arrayBytes, &problem );
		if ( status != hostile[i].status || problem == NULL || strstr( problem, hostile[i].words ) == NULL )
		{
			printf( "case %zu: %s\n", i, hostile[i].header );
			CHECK_INT( status, hostile[i].status );
			CHECK_CONTAINS( problem == NULL ? "" : problem, hostile[i].words );
		}
	}
}

static void RefusesLyingLengthsAndMisplacedData( void **state )
{
	(void)state;
	size_t size;
	char *file = MakeSound( &size );
	const char *problem;
	char *moved = malloc( size + 8 );
	for ( int shift = 1; shift < 8; ++shift )
	{
		memcpy( moved + shift, file, size );
		CHECK_INT( lmbTensors_Check( moved + shift, size, &problem ), lmb_statusInvalidArgument );
		CHECK_CONTAINS( problem, "aligned" );
	}
	free( moved );
	memset( file, 0xFF, 8 );
	CHECK_INT( lmbTensors_Check( file, size, &problem ), lmb_statusCorrupt );
	memset( file, 0, 8 );
	CHECK_INT( lmbTensors_Check( file, size, &problem ), lmb_statusCorrupt );
	free( file );
}

/* 513 arrays, 129 metadata strings, 256-byte names: one beyond each limit; and exactly at each. */
static void Limits( void **state )
{
	(void)state;
	char *header = malloc( 64 << 10 ), name[300];
	memset( name, 'n', sizeof( name ) );
	for ( int over = 0; over <= 1; ++over )
	{
		size_t used = (size_t)sprintf( header, "{" );
		for ( int i = 0; i < 512 + over; ++i )
			used += (size_t)sprintf( header + used,
			                         "%s\"%d\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}",
			                         i > 0 ? "," : "", i );
		used += (size_t)sprintf( header + used, "}" );
		size_t size;
		char *file = MakeFile( header, used, 0, &size );
		CHECK_INT( lmbTensors_Check( file, size, NULL ), over ? lmb_statusUnsupported : lmb_statusOk );
		free( file );

		used = (size_t)sprintf( header, "{\"__metadata__\":{" );
		for ( int i = 0; i < 128 + over; ++i )
			used += (size_t)sprintf( header + used, "%s\"%d\":\"\"", i > 0 ? "," : "", i );
		used += (size_t)sprintf( header + used, "}}" );
		file = MakeFile( header, used, 0, &size );
		CHECK_INT( lmbTensors_Check( file, size, NULL ), over ? lmb_statusUnsupported : lmb_statusOk );
		free( file );

		name[255] = over ? 'n' : 0;
		name[255 + over] = 0;
		used = (size_t)sprintf( header, "{\"%s\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}}",
		                        name );
		file = MakeFile( header, used, 0, &size );
		CHECK_INT( lmbTensors_Check( file, size, NULL ), over ? lmb_statusUnsupported : lmb_statusOk );
		free( file );
	}
	free( header );
}

static void TypesHaveNamesAndSizes( void **state )
{
	(void)state;
	for ( int i = 0; i < lmb_dataTypeCount; ++i )
	{
		const char *name = lmbDataType_Name( (lmbDataType)i );
		CHECK_INT( atoi( name + 1 ), 8 * (int)lmbDataType_Size( (lmbDataType)i ) );
	}
	CHECK_INT( lmbDataType_Size( lmb_dataTypeCount ), 0 );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( ReadsWhatTheFormatAllows ),
	    CHECK_TEST( TruncatedAtEveryLength ),
	    CHECK_TEST( RefusesHostileHeaders ),
	    CHECK_TEST( RefusesLyingLengthsAndMisplacedData ),
	    CHECK_TEST( Limits ),
	    CHECK_TEST( TypesHaveNamesAndSizes ),
	};
	return CHECK_RUN( tests );
}
