#include "base/hash.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const uint64_t prime1 = UINT64_C( 0x9E3779B185EBCA87 );
static const uint64_t prime2 = UINT64_C( 0xC2B2AE3D27D4EB4F );
static const uint64_t prime3 = UINT64_C( 0x165667B19E3779F9 );
static const uint64_t prime4 = UINT64_C( 0x85EBCA77C2B2AE63 );
static const uint64_t prime5 = UINT64_C( 0x27D4EB2F165667C5 );

static uint64_t RotateLeft( uint64_t value, int bits )
{
	return ( value << bits ) | ( value >> ( 64 - bits ) );
}

static uint64_t ReadLittle( const unsigned char *bytes, int count )
{
	uint64_t value = 0;
	for ( int i = count - 1; i >= 0; --i )
		value = ( value << 8 ) | bytes[i];
	return value;
}

static uint64_t Round( uint64_t lane, uint64_t input )
{
	return RotateLeft( lane + input * prime2, 31 ) * prime1;
}

static void AddStripe( lmbHash *hash, const unsigned char *bytes )
{
	for ( int i = 0; i < 4; ++i )
		hash->lanes[i] = Round( hash->lanes[i], ReadLittle( bytes + 8 * i, 8 ) );
}

void lmbHash_Begin( lmbHash *hash )
{
	memset( hash, 0, sizeof( *hash ) );
	hash->lanes[0] = prime1 + prime2;
	hash->lanes[1] = prime2;
	hash->lanes[2] = 0;
	hash->lanes[3] = 0 - prime1;
}

void lmbHash_Add( lmbHash *hash, const void *data, size_t size )
{
	const unsigned char *bytes = data;
	size_t held = (size_t)( hash->length % 32 );
	hash->length += size;
	if ( held + size < 32 )
	{
		if ( size > 0 )
			memcpy( hash->tail + held, bytes, size );
		return;
	}
	if ( held > 0 )
	{
		memcpy( hash->tail + held, bytes, 32 - held );
		AddStripe( hash, hash->tail );
		bytes += 32 - held;
		size -= 32 - held;
	}
	for ( ; size >= 32; bytes += 32, size -= 32 )
		AddStripe( hash, bytes );
	if ( size > 0 )
		memcpy( hash->tail, bytes, size );
}

void lmbHash_AddText( lmbHash *hash, const char *text )
{
	lmbHash_Add( hash, text, strlen( text ) + 1 );
}

static uint64_t MergeLanes( const lmbHash *hash )
{
	static const int turns[4] = { 1, 7, 12, 18 };
	uint64_t value = 0;
	for ( int i = 0; i < 4; ++i )
		value += RotateLeft( hash->lanes[i], turns[i] );
	for ( int i = 0; i < 4; ++i )
		value = ( value ^ Round( 0, hash->lanes[i] ) ) * prime1 + prime4;
	return value;
}

uint64_t lmbHash_End( const lmbHash *hash )
{
	uint64_t value = hash->length >= 32 ? MergeLanes( hash ) : prime5;
	value += hash->length;
	const unsigned char *bytes = hash->tail;
	int left = (int)( hash->length % 32 );
	for ( ; left >= 8; bytes += 8, left -= 8 )
		value = RotateLeft( value ^ Round( 0, ReadLittle( bytes, 8 ) ), 27 ) * prime1 + prime4;
	if ( left >= 4 )
	{
		value = RotateLeft( value ^ ( ReadLittle( bytes, 4 ) * prime1 ), 23 ) * prime2 + prime3;
		bytes += 4;
		left -= 4;
	}
	for ( ; left > 0; ++bytes, --left )
		value = RotateLeft( value ^ ( *bytes * prime5 ), 11 ) * prime1;
	value = ( value ^ ( value >> 33 ) ) * prime2;
	value = ( value ^ ( value >> 29 ) ) * prime3;
	return value ^ ( value >> 32 );
}

lmbStatus lmbHash_AddFile( lmbHash *hash, const char *path, lmbError *error )
{
	FILE *stream = fopen( path, "rb" );
	if ( stream == NULL )
		return lmbError_Set( error, lmb_statusIo, "%s: cannot open: %s", path, strerror( errno ) );
	unsigned char buffer[65536];
	size_t size;
	while ( ( size = fread( buffer, 1, sizeof( buffer ), stream ) ) > 0 )
		lmbHash_Add( hash, buffer, size );
	bool failed = ferror( stream ) != 0;
	fclose( stream );
	if ( failed )
		return lmbError_Set( error, lmb_statusIo, "%s: cannot read", path );
	return lmb_statusOk;
}

void lmbHash_Text( uint64_t value, char out[lmbHashTextSize] )
{
	snprintf( out, lmbHashTextSize, "%016llx", (unsigned long long)value );
}
