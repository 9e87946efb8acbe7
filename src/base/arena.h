/* Memory of one object of the tools, freed at once. Not thread-safe: one arena, one thread. */
#ifndef LMB_BASE_ARENA_H
#define LMB_BASE_ARENA_H

#include <stddef.h>

/* Zero-initialise before use: `lmbArena arena = { 0 };`. */
typedef struct lmbArena
{
	struct lmbArenaBlock *blocks;
} lmbArena;

/* count * size zeroed bytes aligned to 64, or NULL when there is no memory or the product overflows.
 * A count of 0 gives a valid pointer that must not be read. */
void *lmbArena_New( lmbArena *arena, size_t count, size_t size );

#define LMB_NEW( arena, type, count ) ( (type *)lmbArena_New( ( arena ), (size_t)( count ), sizeof( type ) ) )

/* A copy of a string, or NULL. */
char *lmbArena_String( lmbArena *arena, const char *text );

/* Frees everything; the arena is empty and usable again. */
void lmbArena_Free( lmbArena *arena );

#endif
