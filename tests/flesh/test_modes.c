#include "flesh/modes.h"

#include "base/random.h"
#include "check.h"
#include "flesh/box_tissue.h"

#include <lapacke.h>
#include <stdlib.h>
#include <unistd.h>

/* K by hand, independent of the tools' own: Hooke's law, B^T D B V of every tetrahedron, B from the
 * inverse of [1 x y z]. Dense (3n x 3n) over all nodes. */
static void DenseStiffness( const lmbTissue *tissue, double *K )
{
	size_t n = 3 * (size_t)tissue->nodeCount;
	memset( K, 0, n * n * sizeof( double ) );
	for ( int t = 0; t < tissue->tetCount; ++t )
	{
		const int32_t *tet = tissue->tets + 4 * (size_t)t;
		double a[16], volume = Box_TetVolume( tissue, tet ) * tissue->fill[t];
		int pivots[4];
		for ( int i = 0; i < 4; ++i )
		{
			a[4 * i] = 1.0;
			memcpy( a + 4 * i + 1, tissue->nodes + 3 * (size_t)tet[i], 3 * sizeof( double ) );
		}
		LAPACKE_dgetrf( LAPACK_ROW_MAJOR, 4, 4, a, 4, pivots );
		LAPACKE_dgetri( LAPACK_ROW_MAJOR, 4, a, 4, pivots );
		double B[6][12] = { { 0 } }, D[6][6] = { { 0 } };
		double E = tissue->young[t], nu = tissue->poisson[t];
		double lambda = E * nu / ( ( 1 + nu ) * ( 1 - 2 * nu ) ), mu = E / ( 2 * ( 1 + nu ) );
		for ( int i = 0; i < 3; ++i )
			for ( int j = 0; j < 3; ++j )
				D[i][j] = lambda + ( i == j ? 2 * mu : 0.0 );
		D[3][3] = D[4][4] = D[5][5] = mu;
		for ( int i = 0; i < 4; ++i )
		{
			double x = a[4 + i], y = a[8 + i], z = a[12 + i];
			B[0][3 * i] = B[3][3 * i + 1] = B[5][3 * i + 2] = x;
			B[1][3 * i + 1] = B[3][3 * i] = B[4][3 * i + 2] = y;
			B[2][3 * i + 2] = B[4][3 * i + 1] = B[5][3 * i] = z;
		}
		for ( int r = 0; r < 12; ++r )
			for ( int c = 0; c < 12; ++c )
			{
				double sum = 0.0;
				for ( int i = 0; i < 6; ++i )
					for ( int j = 0; j < 6; ++j )
						sum += B[i][r] * D[i][j] * B[j][c];
				K[n * ( 3 * (size_t)tet[r / 3] + r % 3 ) + 3 * (size_t)tet[c / 3] + c % 3] += volume * sum;
			}
	}
}

/* All eigenvalues (ascending) and vectors (rows) of the free part, by LAPACK. */
static int DenseModes( const lmbTissue *tissue, double **values, double **vectors, int32_t **freeNodes )
{
	size_t n = 3 * (size_t)tissue->nodeCount;
	double *K = malloc( n * n * sizeof( double ) );
	*freeNodes = malloc( n * sizeof( int32_t ) );
	DenseStiffness( tissue, K );
	int free3 = 0;
	for ( int i = 0; i < tissue->nodeCount; ++i )
		for ( int axis = 0; !tissue->held[i] && axis < 3; ++axis )
			( *freeNodes )[free3++] = 3 * i + axis;
	size_t m = (size_t)free3;
	*vectors = malloc( m * m * sizeof( double ) );
	*values = malloc( m * sizeof( double ) );
	double *mass = calloc( m * m, sizeof( double ) );
	for ( size_t r = 0; r < m; ++r )
	{
		mass[( m + 1 ) * r] = tissue->mass[( *freeNodes )[r] / 3];
		for ( size_t c = 0; c < m; ++c )
			( *vectors )[m * r + c] = K[n * (size_t)( *freeNodes )[r] + (size_t)( *freeNodes )[c]];
	}
	CHECK_INT( LAPACKE_dsygvd( LAPACK_COL_MAJOR, 1, 'V', 'U', free3, *vectors, free3, mass, free3, *values ),
	           0 );
	free( K );
	free( mass );
	return free3;
}

static void AgreesWithDenseSolver( void **state )
{
	(void)state;
	BoxDef def = Box_DefaultDef();
	lmbTissue tissue;
	Box_MakeTissue( &def, &tissue );
	checkSeed = 5;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	for ( int t = 0; t < tissue.tetCount; ++t ) /* uneven material: every factor counts */
	{
		tissue.young[t] *= 0.5 + lmbRandom_Uniform( &random );
		tissue.fill[t] = 0.3 + 0.7 * lmbRandom_Uniform( &random );
	}
	enum
	{
		count = 40
	};
	lmbModes *modes;
	lmbError error = { 0 };
	CHECK_OR_STOP( lmbModes_Compute( &tissue, count, NULL, &modes, &error ) == lmb_statusOk );
	double *values, *vectors;
	int32_t *freeNodes;
	int size = DenseModes( &tissue, &values, &vectors, &freeNodes );
	CHECK_INT( modes->count, count );
	CHECK_INT( modes->nodeCount, tissue.nodeCount );
	double worst = 0.0, worstShape = 0.0, worstResidual = 0.0;
	for ( int m = 0; m < count; ++m )
	{
		worst = fmax( worst, fabs( modes->omegaSquared[m] / values[m] - 1.0 ) );
		worstResidual = fmax( worstResidual, modes->residual[m] );
		/* Well apart: with random material no two frequencies are equal. |phi^T M psi| = 1. */
		double product = 0.0;
		for ( int i = 0; i < size; ++i )
			product += tissue.mass[freeNodes[i] / 3] * vectors[(size_t)size * m + i] *
			           modes->shapes[3 * (size_t)tissue.nodeCount * m + freeNodes[i]];
		worstShape = fmax( worstShape, fabs( fabs( product ) - 1.0 ) );
	}
	printf( "w^2 %.2g, shapes %.2g, residual %.2g\n", worst, worstShape, worstResidual );
	CHECK_NEAR( worst, 0.0, 1e-9 );
	CHECK_NEAR( worstShape, 0.0, 1e-9 );
	CHECK_NEAR( worstResidual, 0.0, 1e-9 );
	free( values );
	free( vectors );
	free( freeNodes );
	lmbModes_Free( modes );
	Box_Free( &tissue, NULL );
}

static void ShapesAreOrthonormalAndHeld( void **state )
{
	(void)state;
	BoxDef def = Box_DefaultDef();
	def.core = 0.03; /* a bone inside */
	lmbTissue tissue;
	Box_MakeTissue( &def, &tissue );
	lmbModes *modes;
	lmbError error = { 0 };
	CHECK_OR_STOP( lmbModes_Compute( &tissue, 24, NULL, &modes, &error ) == lmb_statusOk );
	size_t n = 3 * (size_t)tissue.nodeCount;
	for ( int a = 0; a < modes->count; ++a )
	{
		const double *x = modes->shapes + n * (size_t)a;
		double largest = 0.0;
		for ( size_t i = 0; i < n; ++i )
		{
			CHECK( !tissue.held[i / 3] || x[i] == 0.0 );
			/* Equal but for rounding: the first counts. */
			largest = fabs( x[i] ) > ( 1.0 + 1e-6 ) * fabs( largest ) ? x[i] : largest;
		}
		CHECK( largest > 0.0 );
		for ( int b = 0; b <= a; ++b )
		{
			double product = 0.0;
			for ( size_t i = 0; i < n; ++i )
				product += x[i] * tissue.mass[i / 3] * modes->shapes[n * (size_t)b + i];
			CHECK_NEAR( product, a == b ? 1.0 : 0.0, 1e-11 );
		}
	}
	lmbModes_Free( modes );
	Box_Free( &tissue, NULL );
}

/* First bending mode of a slender cantilever, nu = 0: f = 1.8751^2 / (2 pi L^2) sqrt(E I / (rho A)). Linear
 * tetrahedra are too stiff in bending and converge with the square of the cell. */
static void BeamConverges( void **state )
{
	(void)state;
	double ratio = 0.0, previous = 0.0;
	for ( int refine = 1; refine <= 3; ++refine )
	{
		BoxDef def = Box_DefaultDef();
		def.size[0] = 1.0;
		def.size[1] = 0.1;
		def.size[2] = 0.14;
		def.cells[0] = 10 * refine;
		def.cells[1] = 2 * refine;
		def.cells[2] = refine;
		def.poisson = 0.0;
		lmbTissue tissue;
		Box_MakeTissue( &def, &tissue );
		lmbModes *modes;
		lmbError error = { 0 };
		CHECK_OR_STOP( lmbModes_Compute( &tissue, 4, NULL, &modes, &error ) == lmb_statusOk );
		double theory = 1.875104 * 1.875104 * sqrt( def.young / 12.0 / def.density ) * def.size[1];
		previous = ratio;
		ratio = sqrt( modes->omegaSquared[0] ) / theory;
		printf( "cell %.3f m: first bending frequency %.4f of beam theory's\n", 0.1 / refine, ratio );
		CHECK( refine == 1 || ratio < previous );
		lmbModes_Free( modes );
		Box_Free( &tissue, NULL );
	}
	/* The limit for cells 1/2 and 1/3, error as h^2; theory neglects shear and turning, about 1 %. */
	CHECK_NEAR( ( 9.0 * ratio - 4.0 * previous ) / 5.0, 1.0, 0.015 );
}

static void CountNotes( void *context, const char *line )
{
	(void)line;
	*(int *)context += 1;
}

static void CompareWithDense( const lmbTissue *tissue, int idle )
{
	int notes = 0;
	lmbJob job = { .note = CountNotes, .context = &notes };
	lmbModes *modes;
	lmbError error = { 0 };
	CHECK_OR_STOP( lmbModes_Compute( tissue, 6, &job, &modes, &error ) == lmb_statusOk );
	double *values, *vectors;
	int32_t *freeNodes;
	DenseModes( tissue, &values, &vectors, &freeNodes );
	CHECK_NEAR( values[idle - 1], 0.0, 1e-6 );
	CHECK_INT( notes, 1 );
	CHECK_INT( modes->count, 6 );
	for ( int m = 0; m < 6; ++m )
		CHECK_NEAR( modes->omegaSquared[m] / values[m + idle], 1.0, 1e-8 );
	free( values );
	free( vectors );
	free( freeNodes );
	lmbModes_Free( modes );
}

/* A piece that nothing holds moves in six ways without stiffness; one held along a line turns about it. */
static void LoosePieces( void **state )
{
	(void)state;
	BoxDef def = Box_DefaultDef();
	lmbTissue tissue;
	Box_MakeTissue( &def, &tissue );
	memset( tissue.held, 0, (size_t)tissue.nodeCount );
	CompareWithDense( &tissue, 6 );
	for ( int z = 0; z <= def.cells[2]; ++z )
		tissue.held[Box_Node( &def, 0, 0, z )] = 1;
	CompareWithDense( &tissue, 1 );
	Box_Free( &tissue, NULL );
}

/* Asking for more modes than there are gives those that there are. */
static void FewerThanAsked( void **state )
{
	(void)state;
	BoxDef def = Box_DefaultDef();
	def.cells[0] = 2;
	def.cells[1] = def.cells[2] = 1;
	lmbTissue tissue;
	Box_MakeTissue( &def, &tissue );
	lmbModes *modes;
	lmbError error = { 0 };
	CHECK_OR_STOP( lmbModes_Compute( &tissue, 500, NULL, &modes, &error ) == lmb_statusOk );
	CHECK_INT( modes->count, 3 * 8 - 1 );
	lmbModes_Free( modes );
	Box_Free( &tissue, NULL );
}

static void FilesAndRepeats( void **state )
{
	(void)state;
	BoxDef def = Box_DefaultDef();
	lmbTissue tissue;
	Box_MakeTissue( &def, &tissue );
	lmbModes *first, *second, *loaded;
	lmbError error = { 0 };
	CHECK_OR_STOP( lmbModes_Compute( &tissue, 12, NULL, &first, &error ) == lmb_statusOk );
	CHECK_OR_STOP( lmbModes_Compute( &tissue, 12, NULL, &second, &error ) == lmb_statusOk );
	size_t bytes = 3 * 12 * (size_t)tissue.nodeCount * sizeof( double );
	CHECK( memcmp( first->shapes, second->shapes, bytes ) == 0 );
	CHECK( memcmp( first->omegaSquared, second->omegaSquared, 12 * sizeof( double ) ) == 0 );
	char path[64];
	snprintf( path, sizeof( path ), "test_modes_%d.safetensors", (int)getpid() );
	CHECK_INT( lmbModes_Write( first, path, &error ), lmb_statusOk );
	CHECK_OR_STOP( lmbModes_Load( path, &loaded, &error ) == lmb_statusOk );
	CHECK( memcmp( first->shapes, loaded->shapes, bytes ) == 0 );
	CHECK( memcmp( first->residual, loaded->residual, 12 * sizeof( double ) ) == 0 );
	lmbModes_Free( loaded );
	first->omegaSquared[3] = -1.0;
	CHECK_INT( lmbModes_Write( first, path, &error ), lmb_statusOk );
	CHECK_INT( lmbModes_Load( path, &loaded, &error ), lmb_statusCorrupt );
	CHECK( loaded == NULL );
	CHECK_CONTAINS( error.message, "mode 3" );
	CHECK_INT( lmbModes_Load( "no such file", &loaded, &error ), lmb_statusIo );
	remove( path );
	lmbModes_Free( first );
	lmbModes_Free( second );
	Box_Free( &tissue, NULL );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( AgreesWithDenseSolver ), CHECK_TEST( ShapesAreOrthonormalAndHeld ),
	    CHECK_TEST( BeamConverges ),         CHECK_TEST( LoosePieces ),
	    CHECK_TEST( FewerThanAsked ),        CHECK_TEST( FilesAndRepeats ),
	};
	return CHECK_RUN( tests );
}
