#include "flesh/stiffness.h"

#include "base/random.h"
#include "check.h"
#include "flesh/box_tissue.h"
#include "flesh/elasticity.h"

#include <lapacke.h>
#include <stdlib.h>

/* Force on every node, from the elements' energy alone: independent of the solver's assembly. */
static void Forces( const lmbTissue *tissue, const double *nodes, double *forces )
{
	memset( forces, 0, 3 * (size_t)tissue->nodeCount * sizeof( double ) );
	for ( int t = 0; t < tissue->tetCount; ++t )
	{
		const int32_t *tet = tissue->tets + 4 * (size_t)t;
		double rest[12], now[12], F[9], P[9], force[12] = { 0 };
		for ( int i = 0; i < 4; ++i )
		{
			memcpy( rest + 3 * i, tissue->nodes + 3 * (size_t)tet[i], 3 * sizeof( double ) );
			memcpy( now + 3 * i, nodes + 3 * (size_t)tet[i], 3 * sizeof( double ) );
		}
		lmbElement element;
		lmbElastic elastic = lmbElastic_Make( tissue->young[t], tissue->poisson[t] );
		CHECK_OR_STOP( lmbElement_Make( rest, &element ) );
		lmbElement_Deformation( &element, now, F );
		lmbElastic_Stress( &elastic, F, P );
		lmbElement_AddForce( &element, element.volume * tissue->fill[t], P, force );
		for ( int i = 0; i < 12; ++i )
			forces[3 * (size_t)tet[i / 3] + i % 3] += force[i];
	}
}

/* phi^T M K^-1 M phi of each mode with K by central differences of the forces, dense, LU by LAPACK. */
static void DenseCompliance( const lmbTissue *tissue, const lmbModes *modes, const double *nodes,
                             double *out )
{
	size_t n = 3 * (size_t)tissue->nodeCount, size = 0;
	size_t *at = malloc( n * sizeof( size_t ) );
	for ( size_t i = 0; i < n; ++i )
		if ( !tissue->held[i / 3] )
			at[size++] = i;
	double *K = calloc( size * size, sizeof( double ) ), *moved = malloc( n * sizeof( double ) );
	double *up = malloc( n * sizeof( double ) ), *down = malloc( n * sizeof( double ) );
	double *b = calloc( size * (size_t)modes->count, sizeof( double ) ), h = 1e-6;
	lapack_int *pivots = malloc( size * sizeof( lapack_int ) );
	for ( size_t c = 0; c < size; ++c )
	{
		memcpy( moved, nodes, n * sizeof( double ) );
		moved[at[c]] += h;
		Forces( tissue, moved, up );
		moved[at[c]] -= 2.0 * h;
		Forces( tissue, moved, down );
		for ( size_t r = 0; r < size; ++r )
			K[size * c + r] = -( up[at[r]] - down[at[r]] ) / ( 2.0 * h );
	}
	for ( size_t m = 0; m < (size_t)modes->count; ++m )
		for ( size_t i = 0; i < size; ++i )
			b[size * m + i] = tissue->mass[at[i] / 3] * modes->shapes[n * m + at[i]];
	double *x = malloc( size * (size_t)modes->count * sizeof( double ) );
	memcpy( x, b, size * (size_t)modes->count * sizeof( double ) );
	CHECK_INT( LAPACKE_dgesv( LAPACK_COL_MAJOR, (lapack_int)size, modes->count, K, (lapack_int)size, pivots,
	                          x, (lapack_int)size ),
	           0 );
	for ( size_t m = 0; m < (size_t)modes->count; ++m )
	{
		out[m] = 0.0;
		for ( size_t i = 0; i < size; ++i )
			out[m] += x[size * m + i] * b[size * m + i];
	}
	free( at );
	free( K );
	free( moved );
	free( up );
	free( down );
	free( b );
	free( pivots );
	free( x );
}

static BoxDef def;
static lmbTissue tissue;
static lmbCharacter character;
static lmbModes *modes;

static int Setup( void **state )
{
	(void)state;
	lmbError error = { 0 };
	def = Box_DefaultDef();
	def.cells[0] = 5;
	def.cells[1] = def.cells[2] = 2;
	def.size[0] = 0.25;
	def.size[1] = def.size[2] = 0.1;
	Box_MakeTissue( &def, &tissue );
	Box_MakeCharacter( &tissue, &def, &character );
	return lmbModes_Compute( &tissue, 8, NULL, &modes, &error ) == lmb_statusOk ? 0 : -1;
}

static int Teardown( void **state )
{
	(void)state;
	lmbModes_Free( modes );
	Box_Free( &tissue, &character );
	return 0;
}

static void Sample( const double *bones, const double *nodes, double *logs )
{
	bool definite = false;
	lmbError error = { 0 };
	CHECK_INT( lmbStiffness_Sample( &tissue, modes, bones, nodes, logs, &definite, &error ), lmb_statusOk );
	CHECK( definite );
}

static void AtRestNothingChanges( void **state )
{
	(void)state;
	double bones[24], logs[8];
	Box_BendPose( &def, 0.0, bones );
	Sample( bones, tissue.nodes, logs );
	for ( int m = 0; m < 8; ++m )
		CHECK_NEAR( logs[m], 0.0, 1e-9 );
}

/* A stretched and squeezed body, bones at rest, so that R is the identity. */
static void Squeeze( double *nodes )
{
	for ( int i = 0; i < tissue.nodeCount; ++i )
	{
		const double *X = tissue.nodes + 3 * (size_t)i;
		double *x = nodes + 3 * (size_t)i, s = X[0] / def.size[0];
		x[0] = X[0] * ( 1.0 + 0.008 * s );
		x[1] = X[1] + s * s * 0.004 * ( 1.0 + X[2] / def.size[2] );
		x[2] = X[2] * ( 1.0 - 0.01 * s );
	}
}

static void AgreesWithDenseSolve( void **state )
{
	(void)state;
	double bones[24], logs[8], compliance[8], largest = 0.0;
	double *nodes = malloc( 3 * (size_t)tissue.nodeCount * sizeof( double ) );
	Box_BendPose( &def, 0.0, bones );
	Squeeze( nodes );
	Sample( bones, nodes, logs );
	DenseCompliance( &tissue, modes, nodes, compliance );
	for ( int m = 0; m < 8; ++m )
	{
		/* Central differences over a micrometre in cells of 5 cm: 1e-10 of truncation, 1e-8 of rounding. */
		CHECK_NEAR( logs[m], -log( compliance[m] * modes->omegaSquared[m] ), 1e-6 );
		largest = fmax( largest, fabs( logs[m] ) );
	}
	CHECK( largest > 0.05 );
	free( nodes );
}

/* Turning the whole body, bones and shape together, changes no stiffness. */
static void TurningIsNoStrain( void **state )
{
	(void)state;
	double bones[24], logs[8], turned[8], c = cos( 2.0 ), s = sin( 2.0 );
	double *nodes = malloc( 3 * (size_t)tissue.nodeCount * sizeof( double ) );
	double turn[12] = { c, 0.0, s, 4.0, 0.0, 1.0, 0.0, -2.0, -s, 0.0, c, 1.0 }, whole[24];
	Box_BendPose( &def, 0.0, bones );
	Squeeze( nodes );
	Sample( bones, nodes, logs );
	for ( int i = 0; i < tissue.nodeCount; ++i )
	{
		double place[3];
		lmbMat34_Point( place, turn, nodes + 3 * (size_t)i );
		memcpy( nodes + 3 * (size_t)i, place, sizeof( place ) );
	}
	for ( int j = 0; j < 2; ++j )
		lmbMat34_Multiply( whole + 12 * j, turn, bones + 12 * j );
	Sample( whole, nodes, turned );
	for ( int m = 0; m < 8; ++m )
		CHECK_NEAR( turned[m], logs[m], 1e-8 );
	free( nodes );
}

static void EvaluateClampsAndAdds( void **state )
{
	(void)state;
	const double weights[2][3] = { { 0.5, -1.0, 0.1 }, { 2.0, 2.0, 0.0 } },
	             range[4] = { -0.5, 0.5, -0.2, 0.3 };
	const double features[2] = { 0.4, 0.2 };
	double logs[2];
	lmbStiffness_Evaluate( 2, 2, weights[0], range, features, logs );
	CHECK_NEAR( logs[0], 0.1, 1e-15 );
	CHECK_NEAR( logs[1], 0.3, 1e-15 );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( AtRestNothingChanges ),
	    CHECK_TEST( AgreesWithDenseSolve ),
	    CHECK_TEST( TurningIsNoStrain ),
	    CHECK_TEST( EvaluateClampsAndAdds ),
	};
	return cmocka_run_group_tests( tests, Setup, Teardown );
}
