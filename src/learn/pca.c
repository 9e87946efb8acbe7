#include "learn/pca.h"

#include "base/random.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum
{
	sliceColumns = 768 /* read at a time, about: a slice of 3,000 samples takes 18 MB */
};

static int Smaller( int a, int b )
{
	return a < b ? a : b;
}

/* Whole blocks of a slice, at least one. */
static int SliceBlocks( const lmbSampleView *view )
{
	return view->blockWidth < sliceColumns ? sliceColumns / view->blockWidth : 1;
}

static int ColumnCount( const lmbSampleView *view )
{
	return view->blockCount * view->blockWidth;
}

/* slice (rowCount x blocks * blockWidth) = blocks first .. first + blocks - 1 in double. weighted: times
 * sqrt rho and sqrt w. */
static void ReadSlice( const lmbSampleView *view, int first, int blocks, bool weighted, double *slice )
{
	for ( int i = 0; i < view->rowCount; ++i )
	{
		const float *row = view->data + (size_t)i * view->stride;
		double rowScale = weighted && view->rowWeights != NULL ? sqrt( view->rowWeights[i] ) : 1.0;
		for ( int b = first; b < first + blocks; ++b )
		{
			const float *block = row + ( view->blocks == NULL ? (size_t)b : (size_t)view->blocks[b] ) *
			                               (size_t)view->blockWidth;
			double scale = weighted && view->blockWeights != NULL ? sqrt( view->blockWeights[b] ) : 1.0;
			for ( int c = 0; c < view->blockWidth; ++c )
				*slice++ = rowScale * scale * (double)block[c];
		}
	}
}

/* A A^T (rowCount x rowCount), full. */
static void RowGram( const lmbSampleView *view, double *slice, double *gram )
{
	int n = view->rowCount;
	for ( int first = 0; first < view->blockCount; first += SliceBlocks( view ) )
	{
		int blocks = Smaller( view->blockCount - first, SliceBlocks( view ) ),
		    width = blocks * view->blockWidth;
		ReadSlice( view, first, blocks, true, slice );
		cblas_dsyrk( CblasRowMajor, CblasUpper, CblasNoTrans, n, width, 1.0, slice, width,
		             first == 0 ? 0.0 : 1.0, gram, n );
	}
	for ( int i = 0; i < n; ++i )
		for ( int j = 0; j < i; ++j )
			gram[(size_t)i * n + j] = gram[(size_t)j * n + i];
}

/* A^T A (columns x columns), full, and A itself (rowCount x columns) in whole. */
static void ColumnGram( const lmbSampleView *view, double *whole, double *gram )
{
	int n = view->rowCount, columns = ColumnCount( view );
	ReadSlice( view, 0, view->blockCount, true, whole );
	cblas_dsyrk( CblasRowMajor, CblasUpper, CblasTrans, columns, n, 1.0, whole, columns, 0.0, gram, columns );
	for ( int i = 0; i < columns; ++i )
		for ( int j = 0; j < i; ++j )
			gram[(size_t)i * columns + j] = gram[(size_t)j * columns + i];
}

static lmbStatus EigenAll( const double *matrix, int size, int count, double *values, double *vectors,
                           lmbError *error )
{
	lmbArena arena = { 0 };
	double *work = LMB_NEW( &arena, double, (size_t)size *size );
	double *all = LMB_NEW( &arena, double, size );
	lmbStatus status = lmb_statusOk;
	if ( work == NULL || all == NULL )
		status = lmbError_Memory( error );
	else
	{
		memcpy( work, matrix, (size_t)size * size * sizeof( double ) );
		if ( LAPACKE_dsyevd( LAPACK_ROW_MAJOR, 'V', 'U', size, work, size, all ) != 0 )
			status = lmbError_Set( error, lmb_statusNumerical,
			                       "the eigenvalues of a %d x %d matrix were not found", size, size );
	}
	for ( int k = 0; status == lmb_statusOk && k < count; ++k )
	{
		values[k] = all[size - 1 - k];
		for ( int i = 0; i < size; ++i )
			vectors[(size_t)k * size + i] = work[(size_t)i * size + ( size - 1 - k )];
	}
	lmbArena_Free( &arena );
	return status;
}

/* One round: block <- orthonormal basis of its span; image = matrix block; Ritz values and vectors of the
 * span, and block <- image turned to the Ritz vectors. Rows are vectors throughout. */
static bool RitzRound( const double *matrix, int size, int width, double *block, double *image, double *tau,
                       double *small, double *ritz )
{
	/* Rows that are vectors are the columns of the transpose: column-major QR of the same memory. */
	if ( LAPACKE_dgeqrf( LAPACK_COL_MAJOR, size, width, block, size, tau ) != 0 ||
	     LAPACKE_dorgqr( LAPACK_COL_MAJOR, size, width, width, block, size, tau ) != 0 )
		return false;
	cblas_dgemm( CblasRowMajor, CblasNoTrans, CblasNoTrans, width, size, size, 1.0, block, size, matrix, size,
	             0.0, image, size );
	cblas_dgemm( CblasRowMajor, CblasNoTrans, CblasTrans, width, width, size, 1.0, block, size, image, size,
	             0.0, small, width );
	return LAPACKE_dsyevd( LAPACK_COL_MAJOR, 'V', 'U', width, small, width, ritz ) == 0;
}

lmbStatus lmbEigen_Leading( const double *matrix, int size, int count, uint64_t seed, double *values,
                            double *vectors, lmbError *error )
{
	int width = count + ( count > 16 ? count / 2 : 8 );
	if ( size <= 128 || width > size / 3 )
		return EigenAll( matrix, size, count, values, vectors, error );
	lmbArena arena = { 0 };
	size_t blockSize = (size_t)width * size;
	double *block = LMB_NEW( &arena, double, blockSize ), *image = LMB_NEW( &arena, double, blockSize );
	double *tau = LMB_NEW( &arena, double, width ), *ritz = LMB_NEW( &arena, double, width );
	double *small = LMB_NEW( &arena, double, (size_t)width *width );
	lmbStatus status = lmb_statusOk;
	if ( block == NULL || image == NULL || tau == NULL || ritz == NULL || small == NULL )
		status = lmbError_Memory( error );
	lmbRandom random = lmbRandom_Seed( seed, 77 );
	for ( size_t i = 0; status == lmb_statusOk && i < blockSize; ++i )
		block[i] = lmbRandom_Normal( &random );
	double last = 0.0;
	for ( int round = 0; status == lmb_statusOk && round < 200; ++round )
	{
		if ( !RitzRound( matrix, size, width, block, image, tau, small, ritz ) )
		{
			status =
			    lmbError_Set( error, lmb_statusNumerical, "eigenvalue iteration failed at size %d", size );
			break;
		}
		double sum = 0.0;
		for ( int k = 0; k < count; ++k )
			sum += ritz[width - 1 - k];
		bool done = fabs( sum - last ) <= 1e-13 * fabs( sum ) || round == 199;
		last = sum;
		for ( int k = 0; done && k < count; ++k )
		{
			values[k] = ritz[width - 1 - k];
			cblas_dgemv( CblasRowMajor, CblasTrans, width, size, 1.0, block, size,
			             small + (size_t)( width - 1 - k ) * width, 1, 0.0, vectors + (size_t)k * size, 1 );
		}
		if ( done )
			break;
		memcpy( block, image, blockSize * sizeof( double ) );
	}
	lmbArena_Free( &arena );
	return status;
}

/* How many leading values are wanted: until varianceKept of total, none below rounding. */
static int Kept( const double *values, int limit, double total, double varianceKept )
{
	double sum = 0.0;
	int count = 0;
	while ( count < limit && values[count] > 1e-14 * values[0] && values[count] > 0.0 &&
	        ( count == 0 || sum < varianceKept * total ) )
		sum += values[count++];
	return count;
}

/* rows (count x rowCount): sqrt( rho_i ) u_ki / s_k, which times X is the basis; from the eigenvectors of
 * whichever Gram matrix there was. */
static void BasisRows( const lmbSampleView *view, const lmbPca *pca, const double *vectors,
                       const double *whole, double *rows )
{
	int n = view->rowCount, columns = ColumnCount( view );
	if ( whole != NULL ) /* u = A v / s */
		cblas_dgemm( CblasRowMajor, CblasNoTrans, CblasTrans, pca->count, n, columns, 1.0, vectors, columns,
		             whole, columns, 0.0, rows, n );
	else
		memcpy( rows, vectors, (size_t)pca->count * n * sizeof( double ) );
	for ( int k = 0; k < pca->count; ++k )
		for ( int i = 0; i < n; ++i )
		{
			double rho = view->rowWeights == NULL ? 1.0 : view->rowWeights[i];
			double scale = whole != NULL ? 1.0 / pca->values[k] : 1.0 / sqrt( pca->values[k] );
			rows[(size_t)k * n + i] *= sqrt( rho ) * scale;
		}
}

/* basis = rows X and Z = X W B^T, slice by slice. */
static void Project( const lmbSampleView *view, lmbPca *pca, const double *rows, double *slice,
                     double *weighted )
{
	int n = view->rowCount, columns = ColumnCount( view ), count = pca->count;
	memset( pca->coefficients, 0, (size_t)n * count * sizeof( double ) );
	for ( int first = 0; first < view->blockCount; first += SliceBlocks( view ) )
	{
		int blocks = Smaller( view->blockCount - first, SliceBlocks( view ) ),
		    width = blocks * view->blockWidth;
		double *basis = pca->basis + (size_t)first * (size_t)view->blockWidth;
		ReadSlice( view, first, blocks, false, slice );
		cblas_dgemm( CblasRowMajor, CblasNoTrans, CblasNoTrans, count, width, n, 1.0, rows, n, slice, width,
		             0.0, basis, columns );
		for ( int k = 0; k < count; ++k )
			for ( int c = 0; c < width; ++c )
				weighted[(size_t)k * width + c] =
				    basis[(size_t)k * columns + c] *
				    ( view->blockWeights == NULL ? 1.0 : view->blockWeights[first + c / view->blockWidth] );
		cblas_dgemm( CblasRowMajor, CblasNoTrans, CblasTrans, n, count, width, 1.0, slice, width, weighted,
		             width, 1.0, pca->coefficients, count );
	}
}

static void FixSigns( const lmbSampleView *view, lmbPca *pca )
{
	int columns = ColumnCount( view );
	for ( int k = 0; k < pca->count; ++k )
	{
		double *basis = pca->basis + (size_t)k * columns;
		size_t largest = cblas_idamax( columns, basis, 1 );
		if ( basis[largest] >= 0.0 )
			continue;
		for ( int c = 0; c < columns; ++c )
			basis[c] = -basis[c];
		for ( int i = 0; i < view->rowCount; ++i )
			pca->coefficients[(size_t)i * pca->count + k] = -pca->coefficients[(size_t)i * pca->count + k];
	}
}

static lmbStatus Compute( const lmbSampleView *view, int limit, double varianceKept, uint64_t seed,
                          lmbArena *scratch, lmbArena *arena, lmbPca *pca, lmbError *error )
{
	int n = view->rowCount, columns = ColumnCount( view );
	bool tall = columns < n;
	int size = tall ? columns : n;
	limit = Smaller( limit, size );
	int sliceWidth = Smaller( columns, SliceBlocks( view ) * view->blockWidth );
	size_t sliceSize = (size_t)n * (size_t)( tall ? columns : sliceWidth );
	double *slice = LMB_NEW( scratch, double, sliceSize );
	double *gram = LMB_NEW( scratch, double, (size_t)size *size );
	double *vectors = LMB_NEW( scratch, double, (size_t)limit *size );
	double *rows = LMB_NEW( scratch, double, (size_t)limit *n );
	double *weighted = LMB_NEW( scratch, double, (size_t)limit *sliceColumns );
	pca->values = LMB_NEW( arena, double, limit );
	if ( slice == NULL || gram == NULL || vectors == NULL || rows == NULL || weighted == NULL ||
	     pca->values == NULL )
		return lmbError_Memory( error );
	if ( tall )
		ColumnGram( view, slice, gram );
	else
		RowGram( view, slice, gram );
	for ( int i = 0; i < size; ++i )
		pca->total += gram[(size_t)i * size + i];
	if ( !isfinite( pca->total ) )
		return lmbError_Set( error, lmb_statusNumerical, "principal components of data that is not finite" );
	if ( pca->total > 0.0 )
	{
		LMB_TRY( lmbEigen_Leading( gram, size, limit, seed, pca->values, vectors, error ) );
		pca->count = Kept( pca->values, limit, pca->total, varianceKept );
	}
	pca->basis = LMB_NEW( arena, double, (size_t)pca->count *columns );
	pca->coefficients = LMB_NEW( arena, double, (size_t)n * pca->count );
	if ( pca->basis == NULL || pca->coefficients == NULL )
		return lmbError_Memory( error );
	if ( pca->count == 0 )
		return lmb_statusOk;
	BasisRows( view, pca, vectors, tall ? slice : NULL, rows );
	Project( view, pca, rows, slice, weighted );
	FixSigns( view, pca );
	return lmb_statusOk;
}

lmbStatus lmbPca_Compute( const lmbSampleView *view, int limit, double varianceKept, uint64_t seed,
                          lmbArena *arena, lmbPca *pca, lmbError *error )
{
	memset( pca, 0, sizeof( *pca ) );
	if ( view->rowCount < 1 || view->blockCount < 1 || view->blockWidth < 1 || limit < 1 ||
	     !( varianceKept > 0.0 && varianceKept <= 1.0 ) )
		return lmbError_Set(
		    error, lmb_statusInvalidArgument,
		    "principal components of %d samples by %d blocks of %d, at most %d: out of range", view->rowCount,
		    view->blockCount, view->blockWidth, limit );
	lmbArena scratch = { 0 };
	lmbStatus status = Compute( view, limit, varianceKept, seed, &scratch, arena, pca, error );
	lmbArena_Free( &scratch );
	return status;
}
