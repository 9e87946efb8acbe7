/* Principal components of wide data: few samples, many columns, weights on both.
 *
 * With A = diag( sqrt rho ) X diag( sqrt w ), the smaller of A A^T ("snapshots", Sirovich 1987) and A^T A
 * is formed in double and its leading eigenvectors found; the wide matrix itself is read in slices, from
 * float, as it lies in memory. Nothing is centred: a mean that matters becomes a component. */
#ifndef LMB_LEARN_PCA_H
#define LMB_LEARN_PCA_H

#include "base/arena.h"
#include "base/error.h"

/* Samples as rows in memory, and which of their columns to look at. Columns come in blocks of equal width
 * (the three coordinates of a point). */
typedef struct lmbSampleView
{
	int rowCount;
	const float *data; /* row i begins at data + i * stride */
	size_t stride;
	int blockCount, blockWidth;
	const int32_t *blocks;      /* (blockCount) which blocks of a row; Nullable: the first blockCount */
	const double *blockWeights; /* (blockCount) w >= 0; Nullable: all 1 */
	const double *rowWeights;   /* (rowCount) rho >= 0; Nullable: all 1. Rows with 0 do not shape the basis */
} lmbSampleView;

typedef struct lmbPca
{
	int count;            /* components found */
	double total;         /* sum of rho_i w_c x_ic^2 */
	double *values;       /* (count) the part of total that each component explains, descending */
	double *basis;        /* (count x columns) B with B diag( w ) B^T = identity; each component's largest
	                         entry is positive */
	double *coefficients; /* (rowCount x count) Z = X diag( w ) B^T of every row, weight 0 included */
} lmbPca;

/* At most limit components (limit >= 1), and no more than keep the share varianceKept in (0, 1] of total;
 * components below 1e-7 of the largest singular value are rounding and left out. seed feeds the
 * random start of the eigenvalue iteration; its result depends on it only within rounding. Results live
 * in the arena. */
lmbStatus lmbPca_Compute( const lmbSampleView *view, int limit, double varianceKept, uint64_t seed,
                          lmbArena *arena, lmbPca *pca, lmbError *error );

/* The largest count eigenpairs of a symmetric matrix (size x size, full): values descending, vectors
 * (count x size) as rows. 1 <= count <= size. Block subspace iteration with Rayleigh-Ritz steps; LAPACK
 * where the block would be most of the matrix. */
lmbStatus lmbEigen_Leading( const double *matrix, int size, int count, uint64_t seed, double *values,
                            double *vectors, lmbError *error );

#endif
