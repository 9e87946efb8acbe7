#include "flesh/tissue_surface.h"

#include "base/math3.h"

#include <float.h>
#include <stdlib.h>

/* Vertices nearer than this share of the skin's size are one point: seams of texture coordinates repeat
 * positions exactly, or up to the rounding of float32. */
static const double weldShare = 1e-6;

static lmbStatus CheckCharacter( const lmbCharacter *character, double *size, lmbError *error )
{
	const char *path = character->path != NULL ? character->path : "character";
	if ( character->vertexCount < 3 || character->triangleCount < 1 || character->boneCount < 1 )
		return lmbError_Set(
		    error, lmb_statusInvalidArgument,
		    "%s: %d vertices, %d triangles and %d bones make no body; a skinned mesh with at "
		    "least one triangle and one bone is needed",
		    path, character->vertexCount, character->triangleCount, character->boneCount );
	double low[3] = { DBL_MAX, DBL_MAX, DBL_MAX }, high[3] = { -DBL_MAX, -DBL_MAX, -DBL_MAX };
	for ( int t = 0; t < 3 * character->triangleCount; ++t )
	{
		int32_t v = character->triangles[t];
		if ( v < 0 || v >= character->vertexCount )
			return lmbError_Set( error, lmb_statusCorrupt, "%s: triangle %d names vertex %d of %d", path,
			                     t / 3, v, character->vertexCount );
		for ( int a = 0; a < 3; ++a )
		{
			low[a] = fmin( low[a], character->bind[3 * (size_t)v + a] );
			high[a] = fmax( high[a], character->bind[3 * (size_t)v + a] );
		}
	}
	for ( size_t i = 0; i < 3 * (size_t)character->vertexCount; ++i )
		if ( !isfinite( character->bind[i] ) )
			return lmbError_Set( error, lmb_statusCorrupt, "%s: vertex %zu has a position that is not finite",
			                     path, i / 3 );
	double diagonal[3];
	lmbSub( diagonal, high, low );
	*size = lmbLength( diagonal );
	if ( !( *size > 0.0 && *size < 1e9 ) )
		return lmbError_Set(
		    error, lmb_statusInvalidArgument,
		    "%s: the skin is %g m across; set the unit of length so that it has a size of metres", path,
		    *size );
	return lmb_statusOk;
}

/* Hash grid of welded points: cells of 4 tolerances, so a point within tolerance is in one of 8 cells. */
typedef struct WeldTable
{
	size_t mask;
	int32_t *heads, *next;
	double cell, tolerance;
} WeldTable;

static size_t WeldSlot( const WeldTable *table, const int64_t *key )
{
	uint64_t h = (uint64_t)key[0] * UINT64_C( 0x9e3779b97f4a7c15 );
	h = ( h ^ (uint64_t)key[1] ) * UINT64_C( 0xbf58476d1ce4e5b9 );
	h = ( h ^ ( h >> 29 ) ^ (uint64_t)key[2] ) * UINT64_C( 0x94d049bb133111eb );
	return (size_t)( h ^ ( h >> 32 ) ) & table->mask;
}

static int FindWelded( const WeldTable *table, const double *points, const double *position )
{
	int found = -1;
	for ( int corner = 0; corner < 8; ++corner )
	{
		int64_t key[3];
		for ( int a = 0; a < 3; ++a )
			key[a] = (int64_t)floor( ( position[a] + ( corner >> a & 1 ? 1 : -1 ) * table->tolerance ) /
			                         table->cell );
		for ( int32_t i = table->heads[WeldSlot( table, key )]; i >= 0; i = table->next[i] )
		{
			double d[3];
			lmbSub( d, points + 3 * (size_t)i, position );
			if ( lmbLength( d ) <= table->tolerance && ( found < 0 || i < found ) )
				found = i;
		}
	}
	return found;
}

static bool Weld( const lmbCharacter *character, double tolerance, lmbSurface *surface )
{
	int count = character->vertexCount;
	lmbArena scratch = { 0 };
	size_t slots = 16;
	while ( slots < 2 * (size_t)count )
		slots *= 2;
	WeldTable table = { .mask = slots - 1, .cell = 4.0 * tolerance, .tolerance = tolerance };
	table.heads = LMB_NEW( &scratch, int32_t, slots );
	table.next = LMB_NEW( &scratch, int32_t, count );
	surface->points = LMB_NEW( &surface->arena, double, 3 * (size_t)count );
	surface->vertexPoints = LMB_NEW( &surface->arena, int32_t, count );
	bool fine =
	    table.heads != NULL && table.next != NULL && surface->points != NULL && surface->vertexPoints != NULL;
	if ( fine )
		memset( table.heads, 0xff, slots * sizeof( *table.heads ) );
	for ( int v = 0; fine && v < count; ++v )
	{
		const double *position = character->bind + 3 * (size_t)v;
		int point = FindWelded( &table, surface->points, position );
		if ( point < 0 )
		{
			point = surface->pointCount++;
			memcpy( surface->points + 3 * (size_t)point, position, 3 * sizeof( double ) );
			int64_t key[3];
			for ( int a = 0; a < 3; ++a )
				key[a] = (int64_t)floor( position[a] / table.cell );
			size_t slot = WeldSlot( &table, key );
			table.next[point] = table.heads[slot];
			table.heads[slot] = point;
		}
		surface->vertexPoints[v] = point;
	}
	lmbArena_Free( &scratch );
	return fine;
}

static void TriangleArea( const lmbSurface *surface, int triangle, double *out )
{
	const int32_t *corners = surface->triangles + 3 * (size_t)triangle;
	double ab[3], ac[3];
	lmbSub( ab, surface->points + 3 * (size_t)corners[1], surface->points + 3 * (size_t)corners[0] );
	lmbSub( ac, surface->points + 3 * (size_t)corners[2], surface->points + 3 * (size_t)corners[0] );
	lmbCross( out, ab, ac );
	for ( int i = 0; i < 3; ++i )
		out[i] *= 0.5;
}

/* Triangles that welding made a line or a point are gone; flat ones with three corners stay, since their
 * edges belong to the surface's topology. */
static bool KeepTriangles( const lmbCharacter *character, lmbSurface *surface )
{
	surface->triangles = LMB_NEW( &surface->arena, int32_t, 3 * (size_t)character->triangleCount );
	surface->vertices = LMB_NEW( &surface->arena, int32_t, 3 * (size_t)character->triangleCount );
	surface->components = LMB_NEW( &surface->arena, int32_t, character->triangleCount );
	if ( surface->triangles == NULL || surface->vertices == NULL || surface->components == NULL )
		return false;
	for ( int t = 0; t < character->triangleCount; ++t )
	{
		int32_t p[3];
		for ( int c = 0; c < 3; ++c )
			p[c] = surface->vertexPoints[character->triangles[3 * (size_t)t + c]];
		if ( p[0] == p[1] || p[1] == p[2] || p[2] == p[0] )
			continue;
		size_t kept = 3 * (size_t)surface->triangleCount++;
		memcpy( surface->triangles + kept, p, sizeof( p ) );
		memcpy( surface->vertices + kept, character->triangles + 3 * (size_t)t, sizeof( p ) );
	}
	return true;
}

static int32_t Root( int32_t *parents, int32_t i )
{
	while ( parents[i] != i )
		i = parents[i] = parents[parents[i]];
	return i;
}

/* Connected parts, numbered in the order of their first triangle. */
static bool FindComponents( lmbSurface *surface )
{
	lmbArena scratch = { 0 };
	int32_t *parents = LMB_NEW( &scratch, int32_t, surface->pointCount );
	int32_t *numbers = LMB_NEW( &scratch, int32_t, surface->pointCount );
	bool fine = parents != NULL && numbers != NULL;
	for ( int i = 0; fine && i < surface->pointCount; ++i )
	{
		parents[i] = i;
		numbers[i] = -1;
	}
	for ( int t = 0; fine && t < surface->triangleCount; ++t )
		for ( int c = 1; c < 3; ++c )
		{
			int32_t a = Root( parents, surface->triangles[3 * (size_t)t] );
			int32_t b = Root( parents, surface->triangles[3 * (size_t)t + c] );
			parents[a > b ? a : b] = a > b ? b : a;
		}
	for ( int t = 0; fine && t < surface->triangleCount; ++t )
	{
		int32_t root = Root( parents, surface->triangles[3 * (size_t)t] );
		if ( numbers[root] < 0 )
			numbers[root] = surface->componentCount++;
		surface->components[t] = numbers[root];
	}
	lmbArena_Free( &scratch );
	return fine;
}

typedef struct Edge
{
	int32_t low, high, component;
	int8_t direction;
} Edge;

static int CompareEdges( const void *left, const void *right )
{
	const Edge *a = left, *b = right;
	if ( a->low != b->low )
		return a->low < b->low ? -1 : 1;
	if ( a->high != b->high )
		return a->high < b->high ? -1 : 1;
	return a->direction - b->direction;
}

/* A part whose edges all carry as many triangles one way as the other has no border in the sense of
 * homology: its winding number is a whole number everywhere. */
static bool FindBorders( lmbSurface *surface )
{
	size_t count = 3 * (size_t)surface->triangleCount;
	lmbArena scratch = { 0 };
	Edge *edges = LMB_NEW( &scratch, Edge, count );
	surface->balanced = LMB_NEW( &surface->arena, uint8_t, surface->componentCount );
	surface->borders = LMB_NEW( &surface->arena, int32_t, 2 * count );
	if ( edges == NULL || surface->balanced == NULL || surface->borders == NULL )
	{
		lmbArena_Free( &scratch );
		return false;
	}
	for ( size_t e = 0; e < count; ++e )
	{
		int32_t a = surface->triangles[e], b = surface->triangles[e / 3 * 3 + ( e + 1 ) % 3];
		edges[e] = ( Edge ){ a < b ? a : b, a < b ? b : a, surface->components[e / 3], a < b ? 1 : -1 };
	}
	qsort( edges, count, sizeof( *edges ), CompareEdges );
	memset( surface->balanced, 1, (size_t)surface->componentCount );
	surface->closed = true;
	for ( size_t begin = 0, end; begin < count; begin = end )
	{
		int sum = 0;
		for ( end = begin;
		      end < count && edges[end].low == edges[begin].low && edges[end].high == edges[begin].high;
		      ++end )
			sum += edges[end].direction;
		if ( end - begin != 2 || sum != 0 )
			surface->closed = false;
		if ( sum == 0 )
			continue;
		surface->balanced[edges[begin].component] = 0;
		surface->borders[2 * (size_t)surface->borderCount] = edges[begin].low;
		surface->borders[2 * (size_t)surface->borderCount++ + 1] = edges[begin].high;
	}
	lmbArena_Free( &scratch );
	return true;
}

/* Volume of each part about the part's own middle, and its area. */
static void MeasureParts( const lmbSurface *surface, double *volumes, double *areas, double *middles )
{
	for ( int pass = 0; pass < 2; ++pass )
		for ( int t = 0; t < surface->triangleCount; ++t )
		{
			int part = surface->components[t];
			double vector[3], centroid[3] = { 0 };
			TriangleArea( surface, t, vector );
			for ( int c = 0; c < 3; ++c )
				lmbAddScaled( centroid, centroid, 1.0 / 3.0,
				              surface->points + 3 * (size_t)surface->triangles[3 * (size_t)t + c] );
			double area = lmbLength( vector );
			if ( pass == 0 )
			{
				areas[part] += area;
				lmbAddScaled( middles + 3 * (size_t)part, middles + 3 * (size_t)part, area, centroid );
				continue;
			}
			double arm[3];
			for ( int a = 0; a < 3; ++a )
				arm[a] =
				    centroid[a] - ( areas[part] > 0.0 ? middles[3 * (size_t)part + a] / areas[part] : 0.0 );
			volumes[part] += lmbDot( arm, vector ) / 3.0;
		}
}

/* Winding number, at one point of each inside-out part, of everything else; a part inside another body is
 * a cavity and stays as it is. Cavities are rare, so a plain sum over a few parts will do. */
static bool IsCavity( const lmbSurface *surface, int part )
{
	const double *point = NULL;
	for ( int t = 0; point == NULL && t < surface->triangleCount; ++t )
		if ( surface->components[t] == part )
			point = surface->points + 3 * (size_t)surface->triangles[3 * (size_t)t];
	double winding = 0.0;
	for ( int t = 0; point != NULL && t < surface->triangleCount; ++t )
	{
		const int32_t *corners = surface->triangles + 3 * (size_t)t;
		if ( surface->components[t] != part )
			winding += lmbTriangle_Winding( surface->points + 3 * (size_t)corners[0],
			                                surface->points + 3 * (size_t)corners[1],
			                                surface->points + 3 * (size_t)corners[2], point );
	}
	return winding > 0.5;
}

static void SwapCorners( int32_t *corners )
{
	int32_t second = corners[1];
	corners[1] = corners[2];
	corners[2] = second;
}

static bool TurnOutwards( lmbSurface *surface )
{
	lmbArena scratch = { 0 };
	double *volumes = LMB_NEW( &scratch, double, surface->componentCount );
	double *areas = LMB_NEW( &scratch, double, surface->componentCount );
	double *middles = LMB_NEW( &scratch, double, 3 * (size_t)surface->componentCount );
	uint8_t *turn = LMB_NEW( &scratch, uint8_t, surface->componentCount );
	bool fine = volumes != NULL && areas != NULL && middles != NULL && turn != NULL;
	if ( fine )
		MeasureParts( surface, volumes, areas, middles );
	int questions = 0;
	for ( int part = 0; fine && part < surface->componentCount; ++part )
	{
		/* A sphere has volume 0.094 area^1.5; an open sheet that encloses little has no outside to find. */
		double least = surface->balanced[part] ? 0.0 : 0.01 * areas[part] * sqrt( areas[part] );
		if ( volumes[part] < -least && questions++ < 64 )
			turn[part] = !IsCavity( surface, part );
	}
	for ( int t = 0; fine && t < surface->triangleCount; ++t )
	{
		if ( !turn[surface->components[t]] )
			continue;
		SwapCorners( surface->triangles + 3 * (size_t)t );
		SwapCorners( surface->vertices + 3 * (size_t)t );
	}
	lmbArena_Free( &scratch );
	return fine;
}

static bool MeasureSurface( lmbSurface *surface )
{
	surface->normals = LMB_NEW( &surface->arena, double, 3 * (size_t)surface->pointCount );
	surface->areas = LMB_NEW( &surface->arena, double, surface->pointCount );
	int32_t *open = LMB_NEW( &surface->arena, int32_t, surface->triangleCount );
	if ( surface->normals == NULL || surface->areas == NULL || open == NULL )
		return false;
	int openCount = 0;
	const double *origin = surface->points + 3 * (size_t)surface->triangles[0];
	for ( int a = 0; a < 3; ++a )
		surface->low[a] = surface->high[a] = origin[a];
	for ( int t = 0; t < surface->triangleCount; ++t )
	{
		double vector[3], arm[3];
		TriangleArea( surface, t, vector );
		double area = lmbLength( vector );
		surface->area += area;
		for ( int c = 0; c < 3; ++c )
		{
			size_t p = (size_t)surface->triangles[3 * (size_t)t + c];
			lmbAddScaled( surface->normals + 3 * p, surface->normals + 3 * p, 1.0, vector );
			surface->areas[p] += area / 3.0;
			lmbSub( arm, surface->points + 3 * p, origin );
			surface->volume += lmbDot( arm, vector ) / 9.0;
			for ( int a = 0; a < 3; ++a )
			{
				surface->low[a] = fmin( surface->low[a], surface->points[3 * p + a] );
				surface->high[a] = fmax( surface->high[a], surface->points[3 * p + a] );
			}
		}
		if ( !surface->balanced[surface->components[t]] )
			open[openCount++] = t;
	}
	for ( size_t p = 0; p < (size_t)surface->pointCount; ++p )
	{
		double length = lmbLength( surface->normals + 3 * p );
		for ( int a = 0; a < 3; ++a )
			surface->normals[3 * p + a] = length > 0.0 ? surface->normals[3 * p + a] / length : 0.0;
	}
	surface->tree = lmbTriangleTree_Make( &surface->arena, surface->points, surface->triangles, NULL,
	                                      surface->triangleCount );
	surface->open =
	    lmbTriangleTree_Make( &surface->arena, surface->points, surface->triangles, open, openCount );
	return surface->tree != NULL && surface->open != NULL;
}

lmbStatus lmbSurface_Make( const lmbCharacter *character, lmbSurface *surface, lmbError *error )
{
	double size = 0.0;
	LMB_TRY( CheckCharacter( character, &size, error ) );
	if ( !Weld( character, weldShare * size, surface ) || !KeepTriangles( character, surface ) )
		return lmbError_Memory( error );
	if ( surface->triangleCount == 0 )
		return lmbError_Set( error, lmb_statusInvalidArgument, "%s: every triangle of the skin is degenerate",
		                     character->path != NULL ? character->path : "character" );
	if ( !FindComponents( surface ) || !FindBorders( surface ) || !TurnOutwards( surface ) ||
	     !MeasureSurface( surface ) )
		return lmbError_Memory( error );
	return lmb_statusOk;
}

void lmbSurface_Free( lmbSurface *surface )
{
	lmbArena_Free( &surface->arena );
}
