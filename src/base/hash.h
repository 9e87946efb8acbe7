/* A 64-bit fingerprint of bytes (XXH64, Collet 2012, xxhash.com/doc/v0.8.3/xxhash_spec.html): tells
 * whether something changed. Not against anyone who wants two things to look alike. */
#ifndef LMB_BASE_HASH_H
#define LMB_BASE_HASH_H

#include "base/error.h"

#include <stdbool.h>

typedef struct lmbHash
{
	uint64_t lanes[4];
	unsigned char tail[32];
	uint64_t length; /* bytes so far */
} lmbHash;

void lmbHash_Begin( lmbHash *hash );
void lmbHash_Add( lmbHash *hash, const void *data, size_t size );
/* The text and its terminating zero, so that ("ab", "c") and ("a", "bc") differ. */
void lmbHash_AddText( lmbHash *hash, const char *text );
uint64_t lmbHash_End( const lmbHash *hash );

/* Adds a file's bytes. */
lmbStatus lmbHash_AddFile( lmbHash *hash, const char *path, lmbError *error );

enum
{
	lmbHashTextSize = 17
};

/* 16 hexadecimal digits. */
void lmbHash_Text( uint64_t value, char out[lmbHashTextSize] );

#endif
