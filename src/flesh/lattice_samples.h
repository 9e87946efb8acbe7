/* Where the inside of a skin is, sampled 8 x 8 x 8 times in each cell that the skin touches, and which
 * neighbouring samples are joined through the inside.
 *
 * Rows of samples are shot through the skin along each axis. What a row crosses changes the winding number
 * by exactly one, so for parts without borders the crossings are the winding number; parts with borders
 * add what the tree of lmbTriangleTree_Winding says. Two samples that are both inside are joined unless
 * the way between them leaves the body: a gap far thinner than a sample still separates arm and torso. */
#ifndef LMB_FLESH_LATTICE_SAMPLES_H
#define LMB_FLESH_LATTICE_SAMPLES_H

#include "base/job.h"
#include "flesh/tissue_surface.h"

enum
{
	lmbCellSide = 8, /* samples along the edge of a cell */
	lmbCellMiddle = 4,
	lmbCellSamples = lmbCellSide * lmbCellSide * lmbCellSide
};

typedef struct lmbGrid
{
	double cell;      /* m */
	double origin[3]; /* m, lowest corner */
	int dims[3];      /* cells */
	int cellCount;
} lmbGrid;

typedef struct lmbSamples
{
	lmbArena arena;
	lmbGrid grid;
	int blockCount;
	int32_t *blocks;  /* (cellCount) where the cell's samples are, -1: the cell is whole or empty */
	uint8_t *whole;   /* (cellCount) for cells without samples: 1 inside, 0 outside */
	int16_t *winding; /* (blockCount x 512) winding number x 256, sample order z fastest, then y, x */
	uint8_t *gaps;    /* (blockCount x 512) bit a: the way to the next sample along axis a leaves the body */
} lmbSamples;

static inline int lmbGrid_Cell( const lmbGrid *grid, int x, int y, int z )
{
	return ( x * grid->dims[1] + y ) * grid->dims[2] + z;
}

static inline int lmbCell_Sample( int x, int y, int z )
{
	return ( x * lmbCellSide + y ) * lmbCellSide + z;
}

/* Where a sample, numbered over the whole grid along each axis, is. */
static inline void lmbGrid_SamplePoint( const lmbGrid *grid, const int *sample, double *point )
{
	for ( int a = 0; a < 3; ++a )
		point[a] = grid->origin[a] + ( sample[a] + 0.5 ) * ( grid->cell / lmbCellSide );
}

/* Inside means a winding number above one half. */
static inline bool lmbWinding_Inside( int winding256 )
{
	return winding256 > 128;
}

/* A grid around the surface with a layer of empty cells about it. Counts are even and the middle of the
 * skin lies on a plane between cells, so the lattice of a mirrored body is its own mirror image.
 * lmb_statusInvalidArgument when the cell is so small that the grid passes its limit. */
lmbStatus lmbGrid_Make( const lmbSurface *surface, double cell, lmbGrid *grid, lmbError *error );

/* samples must be zero; free with lmbSamples_Free also after a failure. */
lmbStatus lmbSamples_Make( const lmbSurface *surface, const lmbGrid *grid, const lmbJob *job,
                           lmbSamples *samples, lmbError *error );
void lmbSamples_Free( lmbSamples *samples );

#endif
