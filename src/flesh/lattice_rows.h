/* Where rows of a grid's samples cross a surface. */
#ifndef LMB_FLESH_LATTICE_ROWS_H
#define LMB_FLESH_LATTICE_ROWS_H

#include "flesh/lattice_samples.h"

typedef struct lmbCrossing
{
	double place; /* along the row, in sample spacings: sample i is at i */
	int8_t jump;  /* of the winding number when passing upwards: +1 or -1 */
	uint8_t open; /* the triangle's part has a border */
} lmbCrossing;

/* All crossings of the rows along one axis, row by row, ascending. Row (u, v) has index
 * u * counts[1] + v, where u and v count samples along axes axis + 1 and axis + 2, modulo 3. */
typedef struct lmbRows
{
	int axis, counts[3]; /* rows along u and v, samples along a row */
	size_t *first;       /* (counts[0] x counts[1] + 1) */
	lmbCrossing *crossings;
} lmbRows;

/* Watertight: neighbouring triangles agree about every row between them, also when a row goes exactly
 * through an edge or a corner (the row counts as moved by infinitesimals). Zero-initialise; free with
 * lmbRows_Free also after a failure. */
lmbStatus lmbRows_Make( const lmbSurface *surface, const lmbGrid *grid, int axis, lmbRows *rows,
                        lmbError *error );
void lmbRows_Free( lmbRows *rows );

#endif
