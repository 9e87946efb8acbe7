#include "formats/point_cache.h"

#include "check.h"

#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/limber-test-XXXXXX";

static const char *Path( const char *name )
{
	static char path[256];
	snprintf( path, sizeof( path ), "%s/%s", folder, name );
	return path;
}

/* Three frames of 300 points, so that more than one block is written. */
enum
{
	frames = 3,
	points = 300
};

static float positions[frames][3 * points];

static void WriteCache( lmbPointCacheFormat format, const char *path )
{
	lmbError error = { 0 };
	lmbPointCacheWriter writer;
	for ( int f = 0; f < frames; ++f )
		for ( int i = 0; i < 3 * points; ++i )
			positions[f][i] = (float)( 0.1 * i - 7.0 * f );
	CHECK_INT( lmbPointCacheWriter_Open( &writer, path, format, frames, points, 24.0, &error ),
	           lmb_statusOk );
	for ( int f = 0; f < frames; ++f )
		CHECK_INT( lmbPointCacheWriter_Frame( &writer, positions[f], &error ), lmb_statusOk );
	CHECK_INT( lmbPointCacheWriter_Commit( &writer, &error ), lmb_statusOk );
}

static void ReadAll( const char *path, lmbArena *arena, unsigned char **data, size_t *size )
{
	lmbError error = { 0 };
	char *bytes = NULL;
	CHECK_OR_STOP( lmbFile_Read( path, arena, &bytes, size, &error ) == lmb_statusOk );
	*data = (unsigned char *)bytes;
}

/* Byte for byte as the formats are described: 1.0f is 3F800000, 1/24 is 3D2AAAAB. */
static void Layouts( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	unsigned char *data;
	size_t size;
	WriteCache( lmb_cachePc2, Path( "a.pc2" ) );
	ReadAll( Path( "a.pc2" ), &arena, &data, &size );
	static const unsigned char pc2[32] = { 'P', 'O', 'I',  'N',  'T',  'C',  'A', 'C', 'H', 'E', '2',
	                                       0,   1,   0,    0,    0,    44,   1,   0,   0,   0,   0,
	                                       0,   0,   0x00, 0x00, 0x80, 0x3F, 3,   0,   0,   0 };
	CHECK_INT( size, 32 + 12 * frames * points );
	CHECK( memcmp( data, pc2, sizeof( pc2 ) ) == 0 );
	CHECK( memcmp( data + 32, positions[0], sizeof( positions ) ) == 0 ); /* on a little-endian machine */
	WriteCache( lmb_cacheMdd, Path( "a.mdd" ) );
	ReadAll( Path( "a.mdd" ), &arena, &data, &size );
	static const unsigned char mdd[20] = { 0, 0, 0,    3,    0,    0,    1,    44,   0,    0,
	                                       0, 0, 0x3D, 0x2A, 0xAA, 0xAB, 0x3D, 0xAA, 0xAA, 0xAB };
	CHECK_INT( size, 8 + 4 * frames + 12 * frames * points );
	CHECK( memcmp( data, mdd, sizeof( mdd ) ) == 0 );
	float number = 0.0f;
	unsigned char turned[4];
	for ( int i = 0; i < 4; ++i )
		turned[i] = data[20 + 4 * 5 + 3 - i];
	memcpy( &number, turned, 4 );
	CHECK_NEAR( (double)number, (double)positions[0][5], 0.0 );
	lmbArena_Free( &arena );
	unlink( Path( "a.pc2" ) );
	unlink( Path( "a.mdd" ) );
}

static void RoundTrip( void **state )
{
	(void)state;
	for ( int format = 0; format < 2; ++format )
	{
		lmbPointCache cache;
		lmbError error = { 0 };
		WriteCache( (lmbPointCacheFormat)format, Path( "b" ) );
		CHECK_INT( lmbPointCache_Open( &cache, Path( "b" ), &error ), lmb_statusOk );
		CHECK_INT( cache.format, format );
		CHECK_INT( cache.frameCount, frames );
		CHECK_INT( cache.pointCount, points );
		CHECK( memcmp( cache.positions, positions, sizeof( positions ) ) == 0 );
		CHECK_NEAR( (double)cache.times[2], format == lmb_cacheMdd ? (double)(float)( 2.0 / 24.0 ) : 2.0,
		            0.0 );
		lmbPointCache_Close( &cache );
		unlink( Path( "b" ) );
	}
	CHECK( strcmp( lmbPointCache_Extension( lmb_cacheMdd ), "mdd" ) == 0 );
}

static void OpenBytes( const unsigned char *data, size_t size, lmbStatus expected, const char *message )
{
	lmbPointCache cache;
	lmbError error = { 0 };
	FILE *stream = fopen( Path( "c" ), "wb" );
	CHECK_OR_STOP( stream != NULL && fwrite( data, 1, size, stream ) == size && fclose( stream ) == 0 );
	CHECK_INT( lmbPointCache_Open( &cache, Path( "c" ), &error ), expected );
	if ( expected != lmb_statusOk )
	{
		CHECK_CONTAINS( error.message, "/c: " );
		CHECK_CONTAINS( error.message, message );
	}
	lmbPointCache_Close( &cache );
}

/* Cut at every length of the header and a while behind it, at the end, or longer; counts that overflow. */
static void Refusals( void **state )
{
	(void)state;
	for ( int format = 0; format < 2; ++format )
	{
		lmbArena arena = { 0 };
		unsigned char *data;
		size_t size;
		WriteCache( (lmbPointCacheFormat)format, Path( "d" ) );
		ReadAll( Path( "d" ), &arena, &data, &size );
		for ( size_t length = 0; length < 120; ++length )
			OpenBytes( data, length, lmb_statusCorrupt, "" );
		OpenBytes( data, size - 1, lmb_statusCorrupt, "cut short" );
		OpenBytes( data, size + 1, lmb_statusCorrupt, "cut short" ); /* the reader's spare byte behind it */
		OpenBytes( data, size, lmb_statusOk, "" );
		memset( data + size - 4, 0xFF, 4 );
		OpenBytes( data, size, lmb_statusNumerical, "frame 2, point 299" );
		memset( data + ( format == lmb_cachePc2 ? 16 : 0 ), 0xFF, 4 );
		OpenBytes( data, size, lmb_statusCorrupt, "does not fit" );
		memset( data + ( format == lmb_cachePc2 ? 28 : 4 ), 0xFF, 4 );
		OpenBytes( data, size, lmb_statusCorrupt, "does not fit" );
		memset( data + ( format == lmb_cachePc2 ? 16 : 0 ), 0, 4 );
		OpenBytes( data, size, lmb_statusCorrupt, "does not fit" );
		lmbArena_Free( &arena );
		unlink( Path( "d" ) );
	}
	unlink( Path( "c" ) );
	unsigned char version[40] = "POINTCACHE2\0\2\0\0";
	OpenBytes( version, sizeof( version ), lmb_statusUnsupported, "version 2" );
	unlink( Path( "c" ) );
}

static void UnfinishedIsNotWritten( void **state )
{
	(void)state;
	lmbPointCacheWriter writer;
	lmbError error = { 0 };
	CHECK_INT( lmbPointCacheWriter_Open( &writer, Path( "e" ), lmb_cacheMdd, 2, points, 24.0, &error ),
	           lmb_statusOk );
	CHECK_INT( lmbPointCacheWriter_Frame( &writer, positions[0], &error ), lmb_statusOk );
	CHECK_INT( lmbPointCacheWriter_Commit( &writer, &error ), lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "2 frames announced, 1 written" );
	CHECK( !lmbFile_Exists( Path( "e" ) ) );
	CHECK_INT( lmbPointCacheWriter_Open( &writer, Path( "e" ), lmb_cacheMdd, 0, points, 24.0, &error ),
	           lmb_statusInvalidArgument );
	lmbPointCacheWriter_Abort( &writer );
	CHECK( !lmbFile_Exists( Path( "e" ) ) );
}

int main( void )
{
	if ( mkdtemp( folder ) == NULL )
		return 1;
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( Layouts ),
	    CHECK_TEST( RoundTrip ),
	    CHECK_TEST( Refusals ),
	    CHECK_TEST( UnfinishedIsNotWritten ),
	};
	int failures = CHECK_RUN( tests );
	rmdir( folder );
	return failures;
}
