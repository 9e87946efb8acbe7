#include "learn/pca.h"

#include "base/random.h"
#include "check.h"

#include <lapacke.h>

typedef struct Data
{
	lmbArena arena;
	int rows, blocks, width, columns;
	float *values;
	double *blockWeights, *rowWeights;
	int32_t *order;
} Data;

/* Random data with a falling spectrum; a few rows of weight 0; blocks picked from a wider row. */
static Data MakeData( int rows, int blocks, uint64_t seed )
{
	Data data = { .rows = rows, .blocks = blocks, .width = 3, .columns = 3 * blocks };
	lmbRandom random = lmbRandom_Seed( seed, 0 );
	int wide = 2 * data.columns;
	data.values = LMB_NEW( &data.arena, float, (size_t)rows *(size_t)wide );
	data.blockWeights = LMB_NEW( &data.arena, double, blocks );
	data.rowWeights = LMB_NEW( &data.arena, double, rows );
	data.order = LMB_NEW( &data.arena, int32_t, blocks );
	int rank = rows < wide ? rows : wide;
	double *factor = LMB_NEW( &data.arena, double, wide );
	for ( int k = 0; k < rank; ++k )
	{
		for ( int c = 0; c < wide; ++c )
			factor[c] = lmbRandom_Normal( &random ) * pow( 0.9, k );
		for ( int i = 0; i < rows; ++i )
		{
			double a = lmbRandom_Normal( &random );
			for ( int c = 0; c < wide; ++c )
				data.values[(size_t)i * (size_t)wide + (size_t)c] += (float)( a * factor[c] );
		}
	}
	for ( int b = 0; b < blocks; ++b )
	{
		data.blockWeights[b] = 0.2 + lmbRandom_Uniform( &random );
		data.order[b] = 2 * b + ( b & 1 );
	}
	for ( int i = 0; i < rows; ++i )
		data.rowWeights[i] = i % 7 == 3 ? 0.0 : 0.2 + lmbRandom_Uniform( &random );
	return data;
}

static lmbSampleView ViewOf( const Data *data )
{
	return ( lmbSampleView ){ .rowCount = data->rows,
	                          .data = data->values,
	                          .stride = 2 * (size_t)data->columns,
	                          .blockCount = data->blocks,
	                          .blockWidth = 3,
	                          .blocks = data->order,
	                          .blockWeights = data->blockWeights,
	                          .rowWeights = data->rowWeights };
}

static double Value( const Data *data, int row, int column )
{
	int block = data->order[column / 3];
	return data->values[(size_t)row * 2 * (size_t)data->columns + (size_t)( 3 * block + column % 3 )];
}

/* Values, orthonormality and the best possible residual against LAPACK's dense singular values. */
static void AgainstDenseSvd( int rows, int blocks, int limit )
{
	lmbArena arena = { 0 };
	Data data = MakeData( rows, blocks, checkSeed );
	lmbSampleView view = ViewOf( &data );
	lmbPca pca;
	CHECK_INT( lmbPca_Compute( &view, limit, 1.0, 5, &arena, &pca, NULL ), lmb_statusOk );
	int columns = data.columns, rank = rows < columns ? rows : columns;
	double *dense = LMB_NEW( &arena, double, (size_t)rows *(size_t)columns );
	double *singular = LMB_NEW( &arena, double, rank ), *super = LMB_NEW( &arena, double, rank );
	double total = 0.0;
	for ( int i = 0; i < rows; ++i )
		for ( int c = 0; c < columns; ++c )
		{
			double v = Value( &data, i, c ) * sqrt( data.rowWeights[i] * data.blockWeights[c / 3] );
			dense[(size_t)i * (size_t)columns + (size_t)c] = v;
			total += v * v;
		}
	CHECK_INT( LAPACKE_dgesvd( LAPACK_ROW_MAJOR, 'N', 'N', rows, columns, dense, columns, singular, NULL, 1,
	                           NULL, 1, super ),
	           0 );
	CHECK_NEAR( pca.total, total, 1e-12 * total );
	CHECK_INT( pca.count, limit );
	for ( int k = 0; k < pca.count; ++k )
		CHECK_NEAR( pca.values[k], singular[k] * singular[k], 1e-9 * singular[0] * singular[0] );
	for ( int k = 0; k < pca.count; ++k )
		for ( int l = 0; l <= k; ++l )
		{
			double dot = 0.0;
			for ( int c = 0; c < columns; ++c )
				dot += data.blockWeights[c / 3] * pca.basis[k * columns + c] * pca.basis[l * columns + c];
			CHECK_NEAR( dot, k == l ? 1.0 : 0.0, 1e-6 ); /* the Gram route loses half the digits at small s */
		}
	/* What is left after the components is what the dense spectrum leaves, and not more. */
	double left = 0.0, best = total;
	for ( int k = 0; k < pca.count; ++k )
		best -= singular[k] * singular[k];
	for ( int i = 0; i < rows; ++i )
		for ( int c = 0; c < columns; ++c )
		{
			double v = Value( &data, i, c );
			for ( int k = 0; k < pca.count; ++k )
				v -= pca.coefficients[i * pca.count + k] * pca.basis[k * columns + c];
			left += data.rowWeights[i] * data.blockWeights[c / 3] * v * v;
		}
	CHECK_NEAR( left / total, best / total, 1e-9 );
	lmbArena_Free( &arena );
	lmbArena_Free( &data.arena );
}

static void WideAgainstDenseSvd( void **state )
{
	(void)state;
	checkSeed = 3;
	AgainstDenseSvd( 40, 60, 10 );   /* small: LAPACK's eigenvalues of the row Gram */
	AgainstDenseSvd( 200, 300, 12 ); /* subspace iteration */
}

static void TallAgainstDenseSvd( void **state )
{
	(void)state;
	checkSeed = 4;
	AgainstDenseSvd( 150, 20, 10 );
	AgainstDenseSvd( 400, 60, 12 );
}

static void KeepsTheShareAskedFor( void **state )
{
	(void)state;
	checkSeed = 6;
	Data data = MakeData( 60, 40, checkSeed );
	lmbSampleView view = ViewOf( &data );
	lmbPca pca;
	CHECK_INT( lmbPca_Compute( &view, 50, 0.8, 5, &data.arena, &pca, NULL ), lmb_statusOk );
	double sum = 0.0;
	for ( int k = 0; k < pca.count; ++k )
		sum += pca.values[k];
	CHECK( sum >= 0.8 * pca.total );
	CHECK( sum - pca.values[pca.count - 1] < 0.8 * pca.total );
	/* Nothing in: no component, no failure. */
	memset( data.values, 0, sizeof( float ) * 60 * 2 * (size_t)data.columns );
	CHECK_INT( lmbPca_Compute( &view, 50, 0.8, 5, &data.arena, &pca, NULL ), lmb_statusOk );
	CHECK_INT( pca.count, 0 );
	data.values[1] = NAN;
	data.order[0] = 0;
	CHECK_INT( lmbPca_Compute( &view, 50, 0.8, 5, &data.arena, &pca, NULL ), lmb_statusNumerical );
	CHECK_INT( lmbPca_Compute( &view, 0, 0.8, 5, &data.arena, &pca, NULL ), lmb_statusInvalidArgument );
	lmbArena_Free( &data.arena );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( WideAgainstDenseSvd ),
	    CHECK_TEST( TallAgainstDenseSvd ),
	    CHECK_TEST( KeepsTheShareAskedFor ),
	};
	return CHECK_RUN( tests );
}
