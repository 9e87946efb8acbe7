#include "flesh/winding.h"

#include "base/math3.h"

#include <float.h>
#include <stdbool.h>
#include <stdlib.h>

enum
{
	leafTriangles = 8
};

typedef struct Node
{
	double low[3], high[3];
	double centre[3]; /* area-weighted */
	double radius;    /* of a ball around centre that holds the triangles */
	double dipole[3]; /* sum of area vectors */
	double moment[9]; /* sum of ( centroid - centre ) x area vector, row-major */
	int begin, end;   /* in order[] */
	int right;        /* the left child follows its parent; 0: a leaf */
} Node;

struct lmbTriangleTree
{
	const double *points;
	const int32_t *triangles;
	int32_t *order;
	Node *nodes;
	int count, nodeCount;
};

typedef struct Key
{
	uint64_t code;
	int32_t triangle;
} Key;

static int CompareKeys( const void *left, const void *right )
{
	const Key *a = left, *b = right;
	if ( a->code != b->code )
		return a->code < b->code ? -1 : 1;
	return a->triangle < b->triangle ? -1 : a->triangle > b->triangle;
}

/* Spreads 21 bits so that two zero bits follow each (Morton order). */
static uint64_t Spread( uint64_t x )
{
	x &= 0x1fffff;
	x = ( x | x << 32 ) & UINT64_C( 0x1f00000000ffff );
	x = ( x | x << 16 ) & UINT64_C( 0x1f0000ff0000ff );
	x = ( x | x << 8 ) & UINT64_C( 0x100f00f00f00f00f );
	x = ( x | x << 4 ) & UINT64_C( 0x10c30c30c30c30c3 );
	return ( x | x << 2 ) & UINT64_C( 0x1249249249249249 );
}

static const double *Corner( const lmbTriangleTree *tree, int triangle, int corner )
{
	return tree->points + 3 * (size_t)tree->triangles[3 * (size_t)triangle + corner];
}

static void Centroid( const lmbTriangleTree *tree, int triangle, double *out )
{
	for ( int i = 0; i < 3; ++i )
		out[i] = ( Corner( tree, triangle, 0 )[i] + Corner( tree, triangle, 1 )[i] +
		           Corner( tree, triangle, 2 )[i] ) /
		         3.0;
}

static void AreaVector( const lmbTriangleTree *tree, int triangle, double *out )
{
	double ab[3], ac[3];
	lmbSub( ab, Corner( tree, triangle, 1 ), Corner( tree, triangle, 0 ) );
	lmbSub( ac, Corner( tree, triangle, 2 ), Corner( tree, triangle, 0 ) );
	lmbCross( out, ab, ac );
	for ( int i = 0; i < 3; ++i )
		out[i] *= 0.5;
}

/* Along a Morton curve of the centroids. False when there is no memory. */
static bool SortTriangles( lmbTriangleTree *tree, const int32_t *chosen )
{
	Key *keys = calloc( (size_t)tree->count, sizeof( *keys ) );
	if ( keys == NULL )
		return false;
	double low[3] = { DBL_MAX, DBL_MAX, DBL_MAX }, high[3] = { -DBL_MAX, -DBL_MAX, -DBL_MAX };
	for ( int i = 0; i < tree->count; ++i )
	{
		double centroid[3];
		keys[i].triangle = chosen != NULL ? chosen[i] : i;
		Centroid( tree, keys[i].triangle, centroid );
		for ( int a = 0; a < 3; ++a )
		{
			low[a] = fmin( low[a], centroid[a] );
			high[a] = fmax( high[a], centroid[a] );
		}
	}
	double size = fmax( fmax( high[0] - low[0], high[1] - low[1] ), high[2] - low[2] );
	double scale = size > 0.0 ? 2097151.0 / size : 0.0;
	for ( int i = 0; i < tree->count; ++i )
	{
		double centroid[3];
		Centroid( tree, keys[i].triangle, centroid );
		for ( int a = 0; a < 3; ++a )
			keys[i].code |= Spread( (uint64_t)( ( centroid[a] - low[a] ) * scale ) ) << a;
	}
	qsort( keys, (size_t)tree->count, sizeof( *keys ), CompareKeys );
	for ( int i = 0; i < tree->count; ++i )
		tree->order[i] = keys[i].triangle;
	free( keys );
	return true;
}

static void MeasureNode( const lmbTriangleTree *tree, Node *node )
{
	double total = 0.0, plain[3] = { 0 };
	for ( int a = 0; a < 3; ++a )
	{
		node->low[a] = DBL_MAX;
		node->high[a] = -DBL_MAX;
	}
	for ( int i = node->begin; i < node->end; ++i )
	{
		double centroid[3], vector[3];
		Centroid( tree, tree->order[i], centroid );
		AreaVector( tree, tree->order[i], vector );
		double area = lmbLength( vector );
		total += area;
		lmbAddScaled( node->centre, node->centre, area, centroid );
		lmbAddScaled( plain, plain, 1.0 / ( node->end - node->begin ), centroid );
		lmbAddScaled( node->dipole, node->dipole, 1.0, vector );
		for ( int c = 0; c < 3; ++c )
			for ( int a = 0; a < 3; ++a )
			{
				node->low[a] = fmin( node->low[a], Corner( tree, tree->order[i], c )[a] );
				node->high[a] = fmax( node->high[a], Corner( tree, tree->order[i], c )[a] );
			}
	}
	for ( int a = 0; a < 3; ++a )
		node->centre[a] = total > 0.0 ? node->centre[a] / total : plain[a];
	for ( int i = node->begin; i < node->end; ++i )
	{
		double arm[3], vector[3];
		Centroid( tree, tree->order[i], arm );
		AreaVector( tree, tree->order[i], vector );
		lmbSub( arm, arm, node->centre );
		for ( int a = 0; a < 3; ++a )
			lmbAddScaled( node->moment + 3 * a, node->moment + 3 * a, arm[a], vector );
		for ( int c = 0; c < 3; ++c )
		{
			lmbSub( arm, Corner( tree, tree->order[i], c ), node->centre );
			node->radius = fmax( node->radius, lmbLength( arm ) );
		}
	}
}

/* Halves the sorted range; depth is log2 of the count, so recursion is safe. */
static void BuildNode( lmbTriangleTree *tree, int begin, int end )
{
	Node *node = tree->nodes + tree->nodeCount++;
	node->begin = begin;
	node->end = end;
	MeasureNode( tree, node );
	if ( end - begin <= leafTriangles )
		return;
	int middle = begin + ( end - begin ) / 2;
	BuildNode( tree, begin, middle );
	node->right = tree->nodeCount;
	BuildNode( tree, middle, end );
}

lmbTriangleTree *lmbTriangleTree_Make( lmbArena *arena, const double *points, const int32_t *triangles,
                                       const int32_t *chosen, int count )
{
	lmbTriangleTree *tree = LMB_NEW( arena, lmbTriangleTree, 1 );
	if ( tree == NULL )
		return NULL;
	*tree = ( lmbTriangleTree ){ .points = points, .triangles = triangles, .count = count };
	tree->order = LMB_NEW( arena, int32_t, count );
	/* Halving leaves at least leafTriangles / 2 in a leaf, so there are fewer nodes than this. */
	tree->nodes = LMB_NEW( arena, Node, (size_t)count / ( leafTriangles / 4 ) + 2 );
	if ( tree->order == NULL || tree->nodes == NULL )
		return NULL;
	if ( count == 0 )
		return tree;
	if ( !SortTriangles( tree, chosen ) )
		return NULL;
	BuildNode( tree, 0, count );
	return tree;
}

double lmbTriangle_Winding( const double *a, const double *b, const double *c, const double *point )
{
	double u[3], v[3], w[3], cross[3];
	lmbSub( u, a, point );
	lmbSub( v, b, point );
	lmbSub( w, c, point );
	double lu = lmbLength( u ), lv = lmbLength( v ), lw = lmbLength( w );
	lmbCross( cross, v, w );
	double volume = lmbDot( u, cross );
	double base = lu * lv * lw + lmbDot( u, v ) * lw + lmbDot( v, w ) * lu + lmbDot( w, u ) * lv;
	return atan2( volume, base ) / 6.283185307179586;
}

/* Both terms of the expansion of ( x - p ) . n / |x - p|^3 about the group's centre. */
static double FarWinding( const Node *node, const double *arm, double distance )
{
	double inverse = 1.0 / distance, cube = inverse * inverse * inverse;
	double turned[3];
	lmbMat33_Apply( turned, node->moment, arm );
	double trace = node->moment[0] + node->moment[4] + node->moment[8];
	double first = cube * ( trace - 3.0 * inverse * inverse * lmbDot( arm, turned ) );
	return ( cube * lmbDot( arm, node->dipole ) + first ) / 12.566370614359172;
}

double lmbTriangleTree_Winding( const lmbTriangleTree *tree, const double *point, double reach )
{
	double sum = 0.0;
	int stack[64], depth = 0;
	if ( tree->count > 0 )
		stack[depth++] = 0;
	while ( depth > 0 )
	{
		int index = stack[--depth];
		const Node *node = tree->nodes + index;
		double arm[3];
		lmbSub( arm, node->centre, point );
		double distance = lmbLength( arm );
		if ( distance > reach * node->radius && distance > 0.0 )
		{
			sum += FarWinding( node, arm, distance );
			continue;
		}
		if ( node->right > 0 )
		{
			stack[depth++] = node->right;
			stack[depth++] = index + 1;
			continue;
		}
		for ( int i = node->begin; i < node->end; ++i )
			sum += lmbTriangle_Winding( Corner( tree, tree->order[i], 0 ), Corner( tree, tree->order[i], 1 ),
			                            Corner( tree, tree->order[i], 2 ), point );
	}
	return sum;
}

static void NearestOnSegment( const double *a, const double *b, const double *point, double *t )
{
	double edge[3], arm[3];
	lmbSub( edge, b, a );
	lmbSub( arm, point, a );
	double length = lmbDot( edge, edge );
	*t = length > 0.0 ? fmin( fmax( lmbDot( arm, edge ) / length, 0.0 ), 1.0 ) : 0.0;
}

/* The nearest point is inside the triangle when its projection is, else on one of the edges; simple, and
 * right for degenerate triangles too. */
static double NearestOnTriangle( const double *const corners[3], const double *point, double *weights )
{
	double best = DBL_MAX;
	for ( int e = 0; e < 3; ++e )
	{
		int f = ( e + 1 ) % 3;
		double t, at[3];
		NearestOnSegment( corners[e], corners[f], point, &t );
		for ( int i = 0; i < 3; ++i )
			at[i] = point[i] - ( 1.0 - t ) * corners[e][i] - t * corners[f][i];
		double distance = lmbDot( at, at );
		if ( distance >= best )
			continue;
		best = distance;
		weights[e] = 1.0 - t;
		weights[f] = t;
		weights[( e + 2 ) % 3] = 0.0;
	}
	double ab[3], ac[3], normal[3], arm[3], side[3];
	lmbSub( ab, corners[1], corners[0] );
	lmbSub( ac, corners[2], corners[0] );
	lmbSub( arm, point, corners[0] );
	lmbCross( normal, ab, ac );
	double area = lmbDot( normal, normal );
	if ( !( area > 0.0 ) )
		return best;
	lmbCross( side, arm, ac );
	double v = lmbDot( side, normal ) / area;
	lmbCross( side, ab, arm );
	double w = lmbDot( side, normal ) / area;
	double height = lmbDot( arm, normal );
	if ( v < 0.0 || w < 0.0 || v + w > 1.0 || height * height / area >= best )
		return best;
	weights[0] = 1.0 - v - w;
	weights[1] = v;
	weights[2] = w;
	return height * height / area;
}

static double BoxDistance( const Node *node, const double *point )
{
	double sum = 0.0;
	for ( int i = 0; i < 3; ++i )
	{
		double d = fmax( fmax( node->low[i] - point[i], point[i] - node->high[i] ), 0.0 );
		sum += d * d;
	}
	return sum;
}

lmbNearest lmbTriangleTree_Nearest( const lmbTriangleTree *tree, const double *point )
{
	lmbNearest nearest = { .triangle = -1 };
	double best = DBL_MAX;
	int stack[64], depth = 0;
	if ( tree->count > 0 )
		stack[depth++] = 0;
	while ( depth > 0 )
	{
		int index = stack[--depth];
		const Node *node = tree->nodes + index;
		if ( BoxDistance( node, point ) >= best )
			continue;
		if ( node->right > 0 )
		{
			int left = index + 1, right = node->right;
			bool leftFirst =
			    BoxDistance( tree->nodes + left, point ) <= BoxDistance( tree->nodes + right, point );
			stack[depth++] = leftFirst ? right : left;
			stack[depth++] = leftFirst ? left : right;
			continue;
		}
		for ( int i = node->begin; i < node->end; ++i )
		{
			const double *corners[3];
			double weights[3];
			for ( int c = 0; c < 3; ++c )
				corners[c] = Corner( tree, tree->order[i], c );
			double distance = NearestOnTriangle( corners, point, weights );
			if ( distance >= best )
				continue;
			best = distance;
			nearest.triangle = tree->order[i];
			memcpy( nearest.weights, weights, sizeof( weights ) );
		}
	}
	nearest.distance = nearest.triangle >= 0 ? sqrt( best ) : DBL_MAX;
	return nearest;
}
