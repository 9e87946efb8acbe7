#include "formats/point_cache.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum
{
	pc2HeaderSize = 32
};

static const char pc2Magic[12] = "POINTCACHE2";

const char *lmbPointCache_Extension( lmbPointCacheFormat format )
{
	return format == lmb_cachePc2 ? "pc2" : "mdd";
}

/* Bytes of a 32-bit number in the file's order: PC2 little-endian, MDD big-endian. */
static uint32_t GetU32( const unsigned char *b, lmbPointCacheFormat format )
{
	if ( format == lmb_cachePc2 )
		return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
	return b[3] | (uint32_t)b[2] << 8 | (uint32_t)b[1] << 16 | (uint32_t)b[0] << 24;
}

static void PutU32( unsigned char *b, uint32_t value, lmbPointCacheFormat format )
{
	for ( int i = 0; i < 4; ++i )
		b[format == lmb_cachePc2 ? i : 3 - i] = (unsigned char)( value >> ( 8 * i ) );
}

static float GetFloat( const unsigned char *b, lmbPointCacheFormat format )
{
	uint32_t bits = GetU32( b, format );
	float value;
	memcpy( &value, &bits, sizeof( value ) );
	return value;
}

static void PutFloat( unsigned char *b, float value, lmbPointCacheFormat format )
{
	uint32_t bits;
	memcpy( &bits, &value, sizeof( bits ) );
	PutU32( b, bits, format );
}

/* Counts, and where times and positions begin. */
static lmbStatus ReadHeader( lmbPointCache *cache, const char *path, const unsigned char *data, size_t size,
                             size_t *positionsAt, lmbError *error )
{
	bool pc2 = size >= sizeof( pc2Magic ) && memcmp( data, pc2Magic, sizeof( pc2Magic ) ) == 0;
	cache->format = pc2 ? lmb_cachePc2 : lmb_cacheMdd;
	size_t header = pc2 ? pc2HeaderSize : 8;
	if ( size < header )
		return lmbError_Set( error, lmb_statusCorrupt, "%s: ends inside its header; write it again", path );
	if ( pc2 && GetU32( data + 12, cache->format ) != 1 )
		return lmbError_Set( error, lmb_statusUnsupported, "%s: PC2 version %u, only 1 is known", path,
		                     GetU32( data + 12, cache->format ) );
	uint64_t frames = GetU32( data + ( pc2 ? 28 : 0 ), cache->format );
	uint64_t points = GetU32( data + ( pc2 ? 16 : 4 ), cache->format );
	uint64_t timeBytes = pc2 ? 0 : 4 * frames;
	/* Both counts are below 2^32, but their product times 12 may pass 2^64: bound it first. */
	uint64_t perFrame = 12 * points;
	bool fits = frames > 0 && points > 0 && frames <= INT_MAX / 4 && points <= INT_MAX / 4 &&
	            perFrame <= size && frames <= size / perFrame &&
	            header + timeBytes + frames * perFrame == size;
	if ( !fits )
		return lmbError_Set(
		    error, lmb_statusCorrupt,
		    "%s: is %zu bytes long, which does not fit %llu frames of %llu points: not a %s file, "
		    "or cut short",
		    path, size, (unsigned long long)frames, (unsigned long long)points, pc2 ? "PC2" : "PC2 or MDD" );
	cache->frameCount = (int)frames;
	cache->pointCount = (int)points;
	*positionsAt = header + (size_t)timeBytes;
	return lmb_statusOk;
}

static lmbStatus ReadBody( lmbPointCache *cache, const char *path, const unsigned char *data, size_t size,
                           lmbError *error )
{
	size_t at = 0;
	LMB_TRY( ReadHeader( cache, path, data, size, &at, error ) );
	size_t numbers = 3 * (size_t)cache->frameCount * (size_t)cache->pointCount;
	cache->times = LMB_NEW( &cache->arena, float, cache->frameCount );
	cache->positions = LMB_NEW( &cache->arena, float, numbers );
	if ( cache->times == NULL || cache->positions == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < cache->frameCount; ++i )
	{
		cache->times[i] = cache->format == lmb_cacheMdd ? GetFloat( data + 8 + 4 * (size_t)i, cache->format )
		                                                : GetFloat( data + 20, cache->format ) +
		                                                      (float)i * GetFloat( data + 24, cache->format );
		if ( !isfinite( cache->times[i] ) )
			return lmbError_Set( error, lmb_statusNumerical,
			                     "%s: the time of frame %d is not finite; write the cache again", path, i );
	}
	for ( size_t i = 0; i < numbers; ++i )
	{
		cache->positions[i] = GetFloat( data + at + 4 * i, cache->format );
		if ( !isfinite( cache->positions[i] ) )
			return lmbError_Set( error, lmb_statusNumerical,
			                     "%s: frame %zu, point %zu is not finite; write the cache again", path,
			                     i / 3 / (size_t)cache->pointCount, i / 3 % (size_t)cache->pointCount );
	}
	return lmb_statusOk;
}

lmbStatus lmbPointCache_Open( lmbPointCache *cache, const char *path, lmbError *error )
{
	memset( cache, 0, sizeof( *cache ) );
	lmbArena scratch = { 0 };
	char *bytes = NULL;
	size_t size = 0;
	lmbStatus status = lmbFile_Read( path, &scratch, &bytes, &size, error );
	if ( status == lmb_statusOk )
		status = ReadBody( cache, path, (const unsigned char *)bytes, size, error );
	lmbArena_Free( &scratch );
	return status;
}

void lmbPointCache_Close( lmbPointCache *cache )
{
	lmbArena_Free( &cache->arena );
	memset( cache, 0, sizeof( *cache ) );
}

lmbStatus lmbPointCacheWriter_Open( lmbPointCacheWriter *writer, const char *path, lmbPointCacheFormat format,
                                    int frameCount, int pointCount, double rate, lmbError *error )
{
	memset( writer, 0, sizeof( *writer ) );
	writer->format = format;
	writer->frameCount = frameCount;
	writer->pointCount = pointCount;
	if ( frameCount < 1 || pointCount < 1 || !( rate > 0.0 ) )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "%s: a point cache of %d frames and %d points at %g Hz cannot be", path,
		                     frameCount, pointCount, rate );
	LMB_TRY( lmbFileWriter_Open( &writer->file, path, error ) );
	unsigned char header[pc2HeaderSize] = { 0 };
	lmbStatus status;
	if ( format == lmb_cachePc2 )
	{
		memcpy( header, pc2Magic, sizeof( pc2Magic ) );
		PutU32( header + 12, 1, format );
		PutU32( header + 16, (uint32_t)pointCount, format );
		PutFloat( header + 20, 0.0f, format );
		PutFloat( header + 24, 1.0f, format );
		PutU32( header + 28, (uint32_t)frameCount, format );
		status = lmbFileWriter_Write( &writer->file, header, pc2HeaderSize, error );
	}
	else
	{
		PutU32( header, (uint32_t)frameCount, format );
		PutU32( header + 4, (uint32_t)pointCount, format );
		status = lmbFileWriter_Write( &writer->file, header, 8, error );
		for ( int i = 0; status == lmb_statusOk && i < frameCount; ++i )
		{
			PutFloat( header, (float)( i / rate ), format );
			status = lmbFileWriter_Write( &writer->file, header, 4, error );
		}
	}
	if ( status != lmb_statusOk )
		lmbFileWriter_Abort( &writer->file );
	return status;
}

lmbStatus lmbPointCacheWriter_Frame( lmbPointCacheWriter *writer, const float *positions, lmbError *error )
{
	unsigned char block[12 * 256];
	writer->written += 1;
	for ( int first = 0; first < writer->pointCount; first += 256 )
	{
		int count = writer->pointCount - first < 256 ? writer->pointCount - first : 256;
		for ( int i = 0; i < 3 * count; ++i )
			PutFloat( block + 4 * i, positions[3 * (size_t)first + (size_t)i], writer->format );
		LMB_TRY( lmbFileWriter_Write( &writer->file, block, 12 * (size_t)count, error ) );
	}
	return lmb_statusOk;
}

lmbStatus lmbPointCacheWriter_Commit( lmbPointCacheWriter *writer, lmbError *error )
{
	if ( writer->written == writer->frameCount )
		return lmbFileWriter_Commit( &writer->file, error );
	lmbStatus status = lmbError_Set( error, lmb_statusInvalidArgument, "%s: %d frames announced, %d written",
	                                 writer->file.path, writer->frameCount, writer->written );
	lmbFileWriter_Abort( &writer->file );
	return status;
}

void lmbPointCacheWriter_Abort( lmbPointCacheWriter *writer )
{
	lmbFileWriter_Abort( &writer->file );
}
