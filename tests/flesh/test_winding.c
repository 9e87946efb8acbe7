/* Winding numbers against closed forms and plain sums; nearest points against their optimality conditions. */
#include "flesh/winding.h"

#include "base/math3.h"
#include "base/random.h"
#include "check.h"
#include "tissue_shapes.h"

static double PlainSum( const Shape *shape, const double *point )
{
	double sum = 0.0;
	for ( int t = 0; t < shape->character.triangleCount; ++t )
	{
		const int32_t *c = shape->character.triangles + 3 * t;
		const double *p = shape->character.bind;
		sum += lmbTriangle_Winding( p + 3 * c[0], p + 3 * c[1], p + 3 * c[2], point );
	}
	return sum;
}

static lmbTriangleTree *MakeTree( lmbArena *arena, const Shape *shape )
{
	lmbTriangleTree *tree = lmbTriangleTree_Make( arena, shape->character.bind, shape->character.triangles,
	                                              NULL, shape->character.triangleCount );
	CHECK_OR_STOP( tree != NULL );
	return tree;
}

static void RandomPoint( lmbRandom *random, double size, double *point )
{
	for ( int a = 0; a < 3; ++a )
		point[a] = size * ( 2.0 * lmbRandom_Uniform( random ) - 1.0 );
}

/* The solid angle of a disc of radius r from a point at height d on its axis is 2 pi (1 - d / sqrt(d^2 +
 * r^2)); the fan of 4,000 triangles misses the disc by its sagitta, 3e-7 of the radius. */
static void DiscInClosedForm( void **state )
{
	(void)state;
	Shape shape = { .bone = -1 };
	const int sectors = 4000;
	const double radius = 0.7;
	Shape_AddVertex( &shape, 0, 0, 0 );
	for ( int s = 0; s < sectors; ++s )
		Shape_AddVertex( &shape, radius * cos( 2.0 * shapePi * s / sectors ), 0.0,
		                 -radius * sin( 2.0 * shapePi * s / sectors ) );
	for ( int s = 0; s < sectors; ++s )
		Shape_AddTriangle( &shape, 0, 1 + s, 1 + ( s + 1 ) % sectors );
	lmbArena arena = { 0 };
	lmbTriangleTree *tree = MakeTree( &arena, &shape );
	for ( double d = 0.01; d < 30.0; d *= 1.7 )
	{
		double below[3] = { 0.0, -d, 0.0 }, above[3] = { 0.0, d, 0.0 };
		double expected = 0.5 * ( 1.0 - d / sqrt( d * d + radius * radius ) );
		CHECK_NEAR( PlainSum( &shape, below ), expected, 2e-6 );
		CHECK_NEAR( PlainSum( &shape, above ), -expected, 2e-6 );
		CHECK_NEAR( lmbTriangleTree_Winding( tree, below, 2.0 ), expected, 0.01 );
		CHECK_NEAR( lmbTriangleTree_Winding( tree, below, 20.0 ), expected, 1e-4 );
	}
	lmbArena_Free( &arena );
	Shape_Free( &shape );
}

/* A closed surface winds a whole number of times; the tree keeps that within 0.05 at reach 2 and
 * within 0.01 at reach 4, anywhere. */
static void ClosedSurfaces( void **state )
{
	(void)state;
	checkSeed = 3;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	Shape shape = { .bone = -1 };
	const double a[3] = { -0.3, 0, 0.1 }, b[3] = { 0.4, 0.2, 0 }, c[3] = { 0.1, 0.1, 0.1 };
	Shape_AddCapsule( &shape, a, b, 0.3, 24, 48 );
	Shape_AddCapsule( &shape, c, c, 0.1, 8, 16 ); /* inside the first: 2 */
	lmbArena arena = { 0 };
	lmbTriangleTree *tree = MakeTree( &arena, &shape );
	double worst[2] = { 0.0 };
	int counts[3] = { 0 };
	for ( int i = 0; i < 3000; ++i )
	{
		double point[3];
		RandomPoint( &random, i % 3 == 0 ? 0.2 : 0.8, point );
		double sum = PlainSum( &shape, point );
		CHECK_NEAR( sum, rint( sum ), 1e-10 ); /* 5,000 roundings of atan2 */
		int winding = (int)rint( sum );
		CHECK( winding >= 0 && winding <= 2 );
		counts[winding < 0 ? 0 : winding > 2 ? 2 : winding] += 1;
		for ( int r = 0; r < 2; ++r )
			worst[r] =
			    fmax( worst[r], fabs( lmbTriangleTree_Winding( tree, point, r == 0 ? 2.0 : 4.0 ) - sum ) );
	}
	printf( "largest error of the tree at reach 2: %.4f, at reach 4: %.4f\n", worst[0], worst[1] );
	CHECK( worst[0] < 0.05 );
	CHECK( worst[1] < 0.01 );
	CHECK( counts[0] > 100 && counts[1] > 100 && counts[2] > 5 );
	lmbArena_Free( &arena );
	Shape_Free( &shape );
}

/* Random triangles, some degenerate. A point x is nearest to p in a triangle when (p - x) . (corner - x) <=
 * 0 for every corner: the condition of a convex set, which needs no second algorithm. */
static void NearestPoints( void **state )
{
	(void)state;
	checkSeed = 4;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	Shape shape = { .bone = -1 };
	for ( int t = 0; t < 200; ++t )
	{
		double p[3], d[3];
		RandomPoint( &random, 1.0, p );
		for ( int c = 0; c < 3; ++c )
		{
			RandomPoint( &random, t % 7 == 0 ? 0.0 : 0.2, d );
			if ( t % 5 == 0 )
				d[1] = d[2] = 0.0; /* on a line */
			Shape_AddVertex( &shape, p[0] + d[0], p[1] + d[1], p[2] + d[2] );
		}
		Shape_AddTriangle( &shape, 3 * t, 3 * t + 1, 3 * t + 2 );
	}
	lmbArena arena = { 0 };
	lmbTriangleTree *tree = MakeTree( &arena, &shape );
	lmbTriangleTree *single[200];
	for ( int t = 0; t < 200; ++t )
	{
		int32_t chosen = t;
		single[t] =
		    lmbTriangleTree_Make( &arena, shape.character.bind, shape.character.triangles, &chosen, 1 );
	}
	for ( int i = 0; i < 300; ++i )
	{
		double point[3], least = INFINITY;
		RandomPoint( &random, 1.5, point );
		for ( int t = 0; t < 200; ++t )
		{
			lmbNearest near = lmbTriangleTree_Nearest( single[t], point );
			CHECK_INT( near.triangle, t );
			double x[3] = { 0 }, arm[3], side[3], sum = 0.0;
			for ( int c = 0; c < 3; ++c )
			{
				lmbAddScaled( x, x, near.weights[c], shape.character.bind + 9 * t + 3 * c );
				sum += near.weights[c];
				CHECK( near.weights[c] >= 0.0 );
			}
			CHECK_NEAR( sum, 1.0, 1e-12 );
			lmbSub( arm, point, x );
			CHECK_NEAR( lmbLength( arm ), near.distance, 1e-12 );
			for ( int c = 0; c < 3; ++c )
			{
				lmbSub( side, shape.character.bind + 9 * t + 3 * c, x );
				CHECK( lmbDot( arm, side ) <= 1e-12 );
			}
			least = fmin( least, near.distance );
		}
		CHECK_NEAR( lmbTriangleTree_Nearest( tree, point ).distance, least, 1e-13 );
	}
	lmbArena_Free( &arena );
	Shape_Free( &shape );
}

static void EmptyAndAllAtOnePlace( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	const double origin[3] = { 0 };
	lmbTriangleTree *empty = lmbTriangleTree_Make( &arena, NULL, NULL, NULL, 0 );
	CHECK_OR_STOP( empty != NULL );
	CHECK_NEAR( lmbTriangleTree_Winding( empty, origin, 2.0 ), 0.0, 0.0 );
	CHECK_INT( lmbTriangleTree_Nearest( empty, origin ).triangle, -1 );

	/* A thousand copies of one point: no sort key tells them apart. */
	double points[9] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };
	int32_t triangles[3000];
	for ( int i = 0; i < 3000; ++i )
		triangles[i] = i % 3;
	lmbTriangleTree *dots = lmbTriangleTree_Make( &arena, points, triangles, NULL, 1000 );
	CHECK_OR_STOP( dots != NULL );
	CHECK_NEAR( lmbTriangleTree_Winding( dots, origin, 2.0 ), 0.0, 0.0 );
	CHECK_NEAR( lmbTriangleTree_Winding( dots, points, 2.0 ), 0.0, 0.0 );
	CHECK_NEAR( lmbTriangleTree_Nearest( dots, origin ).distance, sqrt( 3.0 ), 1e-15 );
	lmbArena_Free( &arena );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( DiscInClosedForm ),
	    CHECK_TEST( ClosedSurfaces ),
	    CHECK_TEST( NearestPoints ),
	    CHECK_TEST( EmptyAndAllAtOnePlace ),
	};
	return CHECK_RUN( tests );
}
