#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum
{
	arenaAlignment = 64
};

typedef struct lmbArenaBlock
{
	struct lmbArenaBlock *next;
} lmbArenaBlock;

void *lmbArena_New( lmbArena *arena, size_t count, size_t size )
{
	size_t bytes;
	if ( __builtin_mul_overflow( count, size, &bytes ) || bytes > SIZE_MAX / 2 )
		return NULL;
	size_t total = arenaAlignment + ( bytes + arenaAlignment - 1 ) / arenaAlignment * arenaAlignment;
	lmbArenaBlock *block = aligned_alloc( arenaAlignment, total );
	if ( block == NULL )
		return NULL;
	memset( block, 0, total );
	block->next = arena->blocks;
	arena->blocks = block;
	return (char *)block + arenaAlignment;
}

char *lmbArena_String( lmbArena *arena, const char *text )
{
	size_t bytes = strlen( text ) + 1;
	char *copy = lmbArena_New( arena, bytes, 1 );
	if ( copy != NULL )
		memcpy( copy, text, bytes );
	return copy;
}

void lmbArena_Free( lmbArena *arena )
{
	while ( arena->blocks != NULL )
	{
		lmbArenaBlock *next = arena->blocks->next;
		free( arena->blocks );
		arena->blocks = next;
	}
}
