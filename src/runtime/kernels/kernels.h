/* The loops in which a step spends its time, once for each instruction set, all with the same bits: every
 * sum has one order, stated here, products are rounded before they are added, and nothing is estimated.
 * kernel_set.h is the one source of all sets.
 *
 * Lanes: vertices are worked on in blocks of lmbLanes, one array of lanes per coordinate; sums over shapes
 * run on tiles of lmbTile lanes, so that the sums stay in registers. */
#ifndef LMB_RUNTIME_KERNELS_H
#define LMB_RUNTIME_KERNELS_H

#include <limber/base.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum
{
	lmbLanes = 64, /* vertices of a block */
	lmbTile = 16,  /* lanes of a tile; divides lmbLanes */
	/* A bone: columns of its 3x4 matrix, each with a number of its unit quaternion behind it, then four
	 * times the quaternion. */
	lmbBoneFloats = 32,
	lmbBoneQuaternion = 16,
	lmbMostHalvings = 4,
	lmbColumnLimit = 512, /* so that a sum of so many products of 127 and 32767 fits in 32 bits */
	lmbWordChunk = 128,   /* the same for products of lmbWordLimit and lmbWordLimit */
	lmbWordLimit = 4095
};

/* Bones of a block's vertices. */
typedef struct lmbSkin
{
	const float *palette;  /* (bones x lmbBoneFloats) */
	const uint16_t *bones; /* (lmbLanes x used) */
	const float *weights;  /* (lmbLanes x used), the heaviest first */
	int used;              /* bones of each vertex, >= 1 */
	const uint8_t *tiles;  /* (lmbLanes / lmbTile) bones that a tile's vertices need, 1 .. used */
	const float *rest;     /* (lmbLanes x 3) m, bind space */
} lmbSkin;

/* Shapes of a block as bytes. What column i holds counts scales[i] amounts[amount[i]]; several columns may
 * have the same amount, the later ones for what rounding left of the first. */
typedef struct lmbColumns
{
	int count;             /* even, at most lmbColumnLimit */
	const int32_t *amount; /* (count) */
	const float *scales;   /* (count) */
	const int8_t *entries; /* (3 x lmbLanes / lmbTile x count / 2 x lmbTile x 2), -127 .. 127 */
} lmbColumns;

/* A matrix as whole numbers of 13 bits: the weight of input i counts scales[i] entry. Inputs lie in chunks of
 * lmbWordChunk, those of a chunk in pairs, the last one with zeros. */
typedef struct lmbWords
{
	int inputs, outputs;    /* outputs a multiple of lmbTile */
	const float *scales;    /* (inputs padded to lmbTile) */
	const int16_t *entries; /* (chunks x outputs / lmbTile x pairs x lmbTile x 2), within lmbWordLimit */
} lmbWords;

/* Entries of such a matrix. */
static inline uint64_t lmbWords_Count( int inputs, int outputs )
{
	return ( (uint64_t)inputs + 1 ) / 2 * 2 * (uint64_t)outputs;
}

/* What the motion of a block's target over a step makes of its past, for one coordinate. */
typedef struct lmbDrive
{
	float start[3], end[3];       /* weights of this step's increment and the two before */
	float startOrigin, endOrigin; /* the same of the body's own position */
} lmbDrive;

/* Springs in blocks of lanes; a coordinate lies lmbLanes behind the one before. */
typedef struct lmbSpringBlock
{
	const float *map;         /* (lmbSpringPlanes x lmbLanes), springs.h */
	float *u, *v;             /* (3 x lmbLanes) */
	const float *start, *end; /* (3 x lmbLanes); with jumps start is the jump and end is not read */
} lmbSpringBlock;

/* Vertices that follow one bone, as all around them does: their normals turn with it. */
typedef struct lmbTurned
{
	float normal[3]; /* unit, or 0 without area; bind space */
	int32_t vertex;
} lmbTurned;

/* So many of them behind one another. */
typedef struct lmbTurnedRun
{
	int32_t bone, count;
} lmbTurnedRun;

/* A mesh for its normals. Triangles lie in strips, one behind the other (strips.h): a triangle then costs one
 * vertex to read and one sum to write, in place of three. */
typedef struct lmbNormals
{
	int vertexCount, stripCount, seamCount, runCount;
	const int32_t *strips;    /* (stripCount) vertices; stripCount even, 0 or at least 4 */
	const int32_t *seams;     /* (seamCount x 2) a vertex, and the first one of its group */
	const lmbTurnedRun *runs; /* (runCount) */
	const lmbTurned *turned;  /* (sum of the runs' counts); what strips say of these is not used */
	const float *palette;     /* (bones x lmbBoneFloats) */
	const float *positions;   /* (vertexCount x 3), and a float more behind the last */
	float *sums;              /* (vertexCount padded to lmbTile x 4) zeros, before and after */
	float *normals;           /* (vertexCount padded to lmbTile x 3), and four floats more */
} lmbNormals;

typedef struct lmbKernels
{
	const char *name;

	/* y = bias + W^T x, inputs ascending. weights (inputs x outputs), outputs a multiple of lmbTile; bias
	 * Nullable. */
	void ( *dense )( int inputs, int outputs, const float *weights, const float *bias, const float *x,
	                 float *y );
	/* Two of them over the same weights, without bias. */
	void ( *denseTwo )( int inputs, int outputs, const float *weights, const float *const x[2],
	                    float *const y[2] );
	/* Hyperbolic tangent in place, within 2 units in the last place; count a multiple of lmbTile. */
	void ( *tanh )( int count, float *x );

	/* y[s] = bias + W^T x[s] for a matrix of whole numbers, bias Nullable, sums 1 or 2. Inputs times their
	 * scales are rounded to within lmbWordLimit of a chunk's largest; a chunk's sum has no error more. Those
	 * of the chunks are added in ascending order. Inputs that are not finite count as none. */
	void ( *words )( const lmbWords *matrix, const float *bias, int sums, const float *const *x,
	                 float *const *y );

	/* Sums of shapes over a block: out[s][axis][lane] = sum_i amounts[s][i] shapes[..][i][lane], i
	 * ascending. shapes (3 x lmbLanes / lmbTile x count x lmbTile), sums 1 or 3, out (3 x lmbLanes). */
	void ( *shapes )( int count, const float *shapes, int sums, const float *const *amounts,
	                  float *const *out );

	/* The same of shapes as bytes: scaled amounts are rounded to 16 bits, relative to the block's largest,
	 * and summed as whole numbers, without error. amounts[s] may be of any length that columns->amount
	 * reaches into. Amounts that are not finite count as none. */
	void ( *columns )( const lmbColumns *columns, int sums, const float *const *amounts, float *const *out );

	/* positions (3 x lmbLanes) and unit quaternions (4 x lmbLanes) of a block. The bones' quaternions are
	 * turned to the half-space of the lane's first bone. */
	void ( *skin )( const lmbSkin *skin, float *positions, float *quaternions );
	/* Positions alone, to positions + 3 order[lane], where order[lane] >= 0. */
	void ( *skinRigid )( const lmbSkin *skin, const int32_t *order, float *positions );
	/* out = R(q) in. q (4 x lmbLanes) unit, in and out (3 x lmbLanes), no overlap. */
	void ( *rotate )( const float *q, const float *in, float *out );
	/* out = m in for one 3x3 matrix; no overlap. */
	void ( *turn )( const float *m, const float *in, float *out );
	/* start and end become what drives the springs less what they held; the past moves on to place. All
	 * (lmbLanes). */
	void ( *drive )( const lmbDrive *drive, const float *place, float *last, float *e1, float *e2,
	                 float *start, float *end );
	/* Maps of a block's springs over a step of time: rates (2 x lmbLanes) stiffness and damping, map
	 * (lmbSpringPlanes x lmbLanes), springs.h. Made for time / 2^halvings, where damping * time <= 1 and
	 * stiffness * time^2 <= 2 must hold, and doubled. Off by less than 1e-6 of what an entry can
	 * do without halvings, 7e-6 with lmbMostHalvings. docs/derivations/spring.md. */
	void ( *maps )( const float *rates, float time, int halvings, float *map );
	/* One step of a block (springs.h), with a cubic or (jumps) a linear target. Springs that numbers at the
	 * edge of their range have thrown out of it come to rest. */
	void ( *springs )( const lmbSpringBlock *block, bool jumps );

	/* positions += d / sqrt( 1 + (perLimit |d|)^2 ), d = gain moved: shorter than 1 / perLimit. moved and
	 * positions (3 x lmbLanes), gains (lmbLanes). */
	void ( *direct )( const float *moved, const float *gains, float perLimit, float *positions );

	/* Sums of the face normals around each vertex, weighted by area, a strip's part of a vertex at a time;
	 * those of a seam together; turned ones by their bone's cofactors; then unit length (a vertex without
	 * area points up). */
	void ( *normals )( const lmbNormals *mesh );
} lmbKernels;

/* The set asked for, or with lmb_kernelsBest the fastest; NULL where this processor lacks it. */
const lmbKernels *lmbKernels_Find( lmbKernelSet set );

/* lmbKernels.dense of a set that every processor of the target has. */
void lmbKernel_Dense( int inputs, int outputs, const float *weights, const float *bias, const float *x,
                      float *y );

#endif
