/* Pieces of one block of memory that the caller owns. */
#ifndef LMB_RUNTIME_CARVER_H
#define LMB_RUNTIME_CARVER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Hands out pieces of one block of memory, each aligned to 64. Without memory it only counts. */
typedef struct lmbCarver
{
	char *memory; /* NULL: count only; else at least as large as counting said */
	uint64_t used;
} lmbCarver;

/* NULL when counting. A sum that leaves the range makes used enormous. */
static inline void *lmbCarver_Take( lmbCarver *carver, uint64_t count, uint64_t size )
{
	const uint64_t limit = UINT64_C( 1 ) << 60;
	uint64_t at = ( carver->used + 63 ) / 64 * 64;
	if ( at > limit || ( size > 0 && count > ( limit - at ) / size ) )
	{
		carver->used = limit;
		return NULL;
	}
	carver->used = at + count * size;
	return carver->memory == NULL ? NULL : carver->memory + at;
}

/* Tells files apart, so that a state is not restored into another model. FNV-1a over 8-byte words. */
static inline uint64_t lmbFile_Key( const void *data, size_t size )
{
	uint64_t hash = UINT64_C( 14695981039346656037 );
	for ( size_t i = 0; i < size; i += 8 )
	{
		uint64_t word = 0;
		memcpy( &word, (const char *)data + i, size - i < 8 ? size - i : 8 );
		hash = ( hash ^ word ) * UINT64_C( 1099511628211 );
		hash ^= hash >> 29;
	}
	return hash;
}

#endif
