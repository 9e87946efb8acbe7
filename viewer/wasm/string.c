#include <string.h>

/* Compiled with -mbulk-memory, which makes the first three one instruction, so they do not call themselves.
 */
void *memcpy( void *restrict to, const void *restrict from, size_t size )
{
	return __builtin_memcpy( to, from, size );
}

void *memmove( void *to, const void *from, size_t size )
{
	return __builtin_memmove( to, from, size );
}

void *memset( void *to, int value, size_t size )
{
	return __builtin_memset( to, value, size );
}

int memcmp( const void *a, const void *b, size_t size )
{
	const unsigned char *x = a, *y = b;
	for ( size_t i = 0; i < size; ++i )
		if ( x[i] != y[i] )
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

void *memchr( const void *from, int value, size_t size )
{
	const unsigned char *bytes = from;
	for ( size_t i = 0; i < size; ++i )
		if ( bytes[i] == (unsigned char)value )
			return (void *)( bytes + i );
	return NULL;
}

size_t strlen( const char *text )
{
	size_t length = 0;
	while ( text[length] != 0 )
		++length;
	return length;
}

int strcmp( const char *a, const char *b )
{
	for ( ; *a != 0 && *a == *b; ++a, ++b )
		;
	return (int)(unsigned char)*a - (int)(unsigned char)*b;
}

int strncmp( const char *a, const char *b, size_t size )
{
	for ( size_t i = 0; i < size; ++i )
		if ( a[i] != b[i] || a[i] == 0 )
			return (int)(unsigned char)a[i] - (int)(unsigned char)b[i];
	return 0;
}
