/* Winding numbers of parts with borders, cell by cell: a smooth field plus the crossings. */
#ifndef LMB_FLESH_LATTICE_OPEN_H
#define LMB_FLESH_LATTICE_OPEN_H

#include "flesh/lattice_rows.h"

enum
{
	lmbOpenPlaces = 3 /* samples 0, 4 and 7 along each axis carry the field */
};

/* Errors of the tree are below 0.05 at this reach (winding.h); one half is far away. */
#define lmbWindingReach 2.0
/* A field this close to a whole number in the middle of a cell is taken as constant in it. */
#define lmbOpenSteady 0.2

/* What the winding number of the open parts does in one cell, away from borders: less the crossings between
 * the cell's middle and a sample it is smooth, and three samples an axis interpolate it quadratically. */
typedef struct lmbOpenCell
{
	uint8_t border; /* a border is near: nothing below holds */
	float field[lmbOpenPlaces][lmbOpenPlaces][lmbOpenPlaces];
	int8_t alongX[lmbCellSide];              /* crossings from sample x to x + 1, middle row */
	int8_t alongY[lmbCellSide][lmbCellSide]; /* [x][y], middle layer */
	int8_t alongZ[lmbOpenPlaces][lmbOpenPlaces][lmbCellSide]; /* rows of the field's places */
} lmbOpenCell;

/* The open parts' winding number in the middle of a cell. */
double lmbOpenCell_Middle( const lmbSurface *surface, const lmbGrid *grid, int x, int y, int z );

/* Fills cells (blockCount), whose border flags are set. rows: of the axes x, y, z. */
lmbStatus lmbOpenCells_Measure( const lmbSurface *surface, const lmbSamples *samples, const lmbRows *rows,
                                lmbOpenCell *cells, const lmbJob *job, lmbError *error );

/* Winding numbers (8) of the samples of row (x, y) of a cell. counts (8): crossings of open parts from the
 * row's begin to each sample. */
void lmbOpenCell_Row( const lmbOpenCell *cell, int x, int y, const int *counts, double *out );

#endif
