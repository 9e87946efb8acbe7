/* What the runtime takes from <string.h>, for a target without a C library: viewer/wasm/string.c. */
#ifndef LMB_VIEWER_STRING_H
#define LMB_VIEWER_STRING_H

#include <stddef.h>

void *memcpy( void *restrict to, const void *restrict from, size_t size );
void *memmove( void *to, const void *from, size_t size );
void *memset( void *to, int value, size_t size );
int memcmp( const void *a, const void *b, size_t size );
void *memchr( const void *from, int value, size_t size );
size_t strlen( const char *text );
int strcmp( const char *a, const char *b );
int strncmp( const char *a, const char *b, size_t size );

#endif
