/* The lattice of tetrahedra around a skin.
 *
 * Cells of a regular grid, kept where they overlap the inside, each cut into five tetrahedra: a regular
 * one in the middle and four at alternating corners, the cut mirrored from cell to cell, so that faces
 * match. Of the usual cuts it is the least stiff in bending and has no preferred direction, and it is
 * its own mirror image (docs/derivations/tissue.md compares it by numbers). All its angles are at most
 * 90 degrees, so diffusion on it keeps to the range of its data.
 *
 * A cell in which separate parts of the body lie is there once for each part, and cells are joined only
 * across faces through which the inside goes on: an arm beside a torso shares nothing with it. */
#ifndef LMB_FLESH_LATTICE_H
#define LMB_FLESH_LATTICE_H

#include "flesh/lattice_samples.h"

enum
{
	lmbCellTets = 5,
	lmbNoCopy = 255 /* label of a sample outside */
};

/* A copy of a cell that belongs to one connected part of the inside within it. */
typedef struct lmbLatticeCell
{
	int32_t cell;              /* in the grid */
	int32_t nodes[8];          /* corner 4 x + 2 y + z; -1 after a trim when no tetrahedron has it */
	int32_t tets[lmbCellTets]; /* those that coincide with another copy's are one; -1: left out by a trim */
} lmbLatticeCell;

typedef struct lmbLattice
{
	lmbArena arena;
	lmbSamples samples;
	uint8_t *labels;       /* (blockCount x 512) which copy of its cell a sample belongs to */
	int32_t *first;        /* (grid cells + 1) first copy of each cell */
	lmbLatticeCell *cells; /* (copyCount) */
	int copyCount, nodeCount, tetCount;
	double *nodes;  /* (nodeCount x 3) m */
	int32_t *tets;  /* (tetCount x 4) positive volume */
	double *fill;   /* (tetCount) share of the volume inside the skin, in [0, 1] */
	double volume;  /* m^3, inside */
	int splitCount; /* cells that are there more than once */
} lmbLattice;

/* A lattice without any tetrahedron is not an error here. Free with lmbLattice_Free. */
lmbStatus lmbLattice_Make( const lmbSurface *surface, double cell, const lmbJob *job, lmbLattice **out,
                           lmbError *error );
/* Leaves out separate crumbs of less than 0.05 cells, tetrahedra with a fill below 0.02, and nodes that carry
 * no other, except those that keep
 * (tetCount; 1: stays, for instance since skin lies in it; overwritten) asks for and those that hold parts
 * together face to face. */
lmbStatus lmbLattice_Trim( lmbLattice *lattice, uint8_t *keep, lmbError *error );

void lmbLattice_Free( lmbLattice *lattice ); /* NULL is fine */

typedef struct lmbPlace
{
	int tet;           /* -1: no inside within a cell of the point */
	double weights[4]; /* barycentric */
	double distance;   /* m, from the point to the sample of the inside that was chosen */
} lmbPlace;

/* The tetrahedron that carries a point of the skin: the nearest sample of the inside, on the inner side of
 * the skin there (outward normal; zero when unknown), says which part of the body the point belongs to. */
lmbPlace lmbLattice_Locate( const lmbLattice *lattice, const double *point, const double *normal );

/* Whether the sample nearest to a point is inside. */
bool lmbLattice_Inside( const lmbLattice *lattice, const double *point );

#endif
