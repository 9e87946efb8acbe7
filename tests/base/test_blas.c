#include "base/blas.h"

#include "base/job.h"
#include "base/random.h"
#include "check.h"

#include <cblas.h>
#include <stdlib.h>

/* The kernels chosen must be right: a product against plain loops, in sizes that are no multiple of any
 * register. Sums of 67 products of order 1: 1e-14 each. */
static void ProductByLoops( void **state )
{
	(void)state;
	enum
	{
		rows = 45,
		columns = 53,
		inner = 67
	};
	checkSeed = 5;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	static double a[rows * inner], b[inner * columns], c[rows * columns];
	for ( int i = 0; i < rows * inner; ++i )
		a[i] = lmbRandom_Normal( &random );
	for ( int i = 0; i < inner * columns; ++i )
		b[i] = lmbRandom_Normal( &random );
	cblas_dgemm( CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, inner, 1.0, a, inner, b, columns,
	             0.0, c, columns );
	for ( int i = 0; i < rows; ++i )
		for ( int j = 0; j < columns; ++j )
		{
			double sum = 0.0;
			for ( int k = 0; k < inner; ++k )
				sum += a[i * inner + k] * b[k * columns + j];
			CHECK_NEAR( c[i * columns + j], sum, 1e-13 );
		}
}

/* The choice was made before main, and no test had to ask for it. */
static void ModernKernels( void **state )
{
	(void)state;
	CHECK_INT( openblas_get_num_threads(), 1 );
	lmbBlas_Prepare();
	printf( "OpenBLAS kernels: %s\n", openblas_get_corename() );
	fflush( stdout );
#if defined( __x86_64__ )
	if ( getenv( "OPENBLAS_CORETYPE" ) == NULL && __builtin_cpu_supports( "avx2" ) &&
	     __builtin_cpu_supports( "fma" ) )
		CHECK( strcmp( openblas_get_corename(), "Prescott" ) != 0 );
#endif
	CHECK( getenv( "OPENBLAS_CORETYPE" ) == NULL );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( ProductByLoops ),
	    CHECK_TEST( ModernKernels ),
	};
	return CHECK_RUN( tests );
}
