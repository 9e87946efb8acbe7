/* XXH64 against published values (xxhash specification and the reference's sanity check: a buffer of bytes
 * from its generator), and independence of how the bytes are cut. */
#include "check.h"

#include "base/hash.h"

#include <stdlib.h>

static uint64_t HashOf( const void *data, size_t size )
{
	lmbHash hash;
	lmbHash_Begin( &hash );
	lmbHash_Add( &hash, data, size );
	return lmbHash_End( &hash );
}

static void KnownValues( void **state )
{
	(void)state;
	CHECK( HashOf( "", 0 ) == UINT64_C( 0xEF46DB3751D8E999 ) );
	CHECK( HashOf( "a", 1 ) == UINT64_C( 0xD24EC4F1A98C6E5B ) );
	CHECK( HashOf( "abc", 3 ) == UINT64_C( 0x44BC2CF5AD770999 ) );
	/* The reference's sanity buffer: byte i is the top byte of a generator seeded with prime32, squared each
	 * time by prime64 (xxhash, tests/sanity_test.c). */
	unsigned char buffer[222];
	uint64_t generator = 2654435761u;
	for ( int i = 0; i < 222; ++i )
	{
		buffer[i] = (unsigned char)( generator >> 56 );
		generator *= UINT64_C( 11400714785074694797 );
	}
	CHECK( HashOf( buffer, 1 ) == UINT64_C( 0xE934A84ADB052768 ) );
	CHECK( HashOf( buffer, 4 ) == UINT64_C( 0x9136A0DCA57457EE ) );
	CHECK( HashOf( buffer, 14 ) == UINT64_C( 0x8282DCC4994E35C8 ) );
	CHECK( HashOf( buffer, 222 ) == UINT64_C( 0xB641AE8CB691C174 ) );
}

static void CutsDoNotMatter( void **state )
{
	(void)state;
	unsigned char bytes[200];
	for ( int i = 0; i < 200; ++i )
		bytes[i] = (unsigned char)( 37 * i + 11 );
	for ( size_t length = 0; length <= 200; ++length )
		for ( size_t first = 0; first <= length; first += 7 )
		{
			lmbHash hash;
			lmbHash_Begin( &hash );
			lmbHash_Add( &hash, bytes, first );
			lmbHash_Add( &hash, bytes + first, length - first );
			CHECK( lmbHash_End( &hash ) == HashOf( bytes, length ) );
		}
}

static void TextsKeepTheirEnds( void **state )
{
	(void)state;
	lmbHash a, b;
	lmbHash_Begin( &a );
	lmbHash_AddText( &a, "ab" );
	lmbHash_AddText( &a, "c" );
	lmbHash_Begin( &b );
	lmbHash_AddText( &b, "a" );
	lmbHash_AddText( &b, "bc" );
	CHECK( lmbHash_End( &a ) != lmbHash_End( &b ) );
	char text[lmbHashTextSize];
	lmbHash_Text( 0xab, text );
	CHECK( strcmp( text, "00000000000000ab" ) == 0 );
	lmbError error = { 0 };
	CHECK_INT( lmbHash_AddFile( &a, "/nowhere/x", &error ), lmb_statusIo );
}

int main( void )
{
	const struct CMUnitTest tests[] = { CHECK_TEST( KnownValues ), CHECK_TEST( CutsDoNotMatter ),
	                                    CHECK_TEST( TextsKeepTheirEnds ) };
	return CHECK_RUN( tests );
}
