/* Strips of triangles: a row of vertices of which each three make a triangle, every other one wound the other
 * way round. Strips lie behind one another in one row, with vertices repeated between them: a triangle with
 * two corners at one place has no area and no normal. */
#ifndef LMB_RUNTIME_STRIPS_H
#define LMB_RUNTIME_STRIPS_H

#include <stdbool.h>
#include <stdint.h>

/* Scratch and mesh of lmbStrips_Make. */
typedef struct lmbStripMesh
{
	int vertexCount, triangleCount;
	const int32_t *triangles; /* (triangleCount x 3) below vertexCount */
	const bool *wanted;       /* (triangleCount) others are left out */
	int32_t *heads;           /* (vertexCount) scratch */
	int32_t *next;            /* (triangleCount x 3) scratch */
	int32_t *stamps;          /* (triangleCount) scratch */
} lmbStripMesh;

/* The most vertices that so many triangles take. */
static inline int64_t lmbStrips_Most( int64_t triangleCount )
{
	return 5 * triangleCount + 4;
}

/* Writes the row (lmbStrips_Most of the wanted triangles) and returns its length: even, and 0 or at least 4.
 * The triangle of vertex i and the two before it has its own winding where i is even. Its last two vertices
 * are the same as the one before them. Time and result depend on the mesh alone; time grows like
 * triangleCount for any mesh, since neighbours are looked for among the first few triangles of a vertex. */
int lmbStrips_Make( const lmbStripMesh *mesh, int32_t *row );

#endif
