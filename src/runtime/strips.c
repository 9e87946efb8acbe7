#include "strips.h"

#include <stddef.h>

enum
{
	neighbourLimit = 32, /* half-edges of a vertex that are looked at */
	stripLimit = 256,    /* triangles */
	takenStamp = INT32_MAX
};

/* A strip that grows: its last two vertices, and whether the next triangle has its own winding. */
typedef struct Walk
{
	int32_t before, last;
	bool even;
} Walk;

typedef struct Strips
{
	const lmbStripMesh *mesh;
	int32_t *row;
	int count;
	int32_t stamp; /* of the walk that is tried */
} Strips;

static int32_t Corner( const lmbStripMesh *mesh, int32_t half, int ahead )
{
	return mesh->triangles[half / 3 * 3 + ( half + ahead ) % 3];
}

static void ListHalfEdges( const lmbStripMesh *mesh )
{
	for ( int v = 0; v < mesh->vertexCount; ++v )
		mesh->heads[v] = -1;
	for ( int32_t half = 3 * mesh->triangleCount - 1; half >= 0; --half )
	{
		mesh->next[half] = mesh->heads[mesh->triangles[half]];
		mesh->heads[mesh->triangles[half]] = half;
	}
	for ( int t = 0; t < mesh->triangleCount; ++t )
		mesh->stamps[t] = mesh->wanted[t] ? 0 : takenStamp;
}

/* A free triangle with the edge from a to b, as that half-edge, or -1. */
static int32_t FindHalfEdge( const Strips *strips, int32_t a, int32_t b )
{
	const lmbStripMesh *mesh = strips->mesh;
	int32_t half = mesh->heads[a];
	for ( int i = 0; half >= 0 && i < neighbourLimit; ++i, half = mesh->next[half] )
		if ( Corner( mesh, half, 1 ) == b && mesh->stamps[half / 3] != takenStamp &&
		     mesh->stamps[half / 3] != strips->stamp )
			return half;
	return -1;
}

/* The walk whose first triangle is the half-edge's. */
static Walk Begin( const lmbStripMesh *mesh, int32_t half, bool even )
{
	int32_t a = Corner( mesh, half, 0 ), b = Corner( mesh, half, 1 );
	return ( Walk ){ even ? a : b, even ? b : a, even };
}

/* Goes on to the half-edge's triangle, and returns the one after it, or -1. */
static int32_t Advance( const Strips *strips, Walk *walk, int32_t half, int32_t stamp )
{
	strips->mesh->stamps[half / 3] = stamp;
	walk->before = walk->last;
	walk->last = Corner( strips->mesh, half, 2 );
	walk->even = !walk->even;
	return walk->even ? FindHalfEdge( strips, walk->before, walk->last )
	                  : FindHalfEdge( strips, walk->last, walk->before );
}

/* How many triangles a walk has; *end becomes the last one's half-edge. */
static int Try( Strips *strips, int32_t half, bool even, int32_t *end )
{
	Walk walk = Begin( strips->mesh, half, even );
	int count = 0;
	strips->stamp += 1;
	for ( int32_t at = half; at >= 0 && count < stripLimit; ++count )
	{
		*end = at;
		at = Advance( strips, &walk, at, strips->stamp );
	}
	return count;
}

static void Add( Strips *strips, int32_t vertex )
{
	strips->row[strips->count++] = vertex;
}

/* Puts a strip behind the last one. Its first triangle is the half-edge's, at an even place or not. */
static void Append( Strips *strips, int32_t half, bool even )
{
	int32_t end, at = half;
	int length = Try( strips, half, even, &end );
	bool fits = ( strips->count % 2 == 0 ) == even; /* the first triangle ends two vertices on */
	Walk walk = Begin( strips->mesh, half, fits || length > 1 ? even : !even );
	if ( strips->count > 0 )
	{
		Add( strips, strips->row[strips->count - 1] );
		Add( strips, walk.before );
	}
	if ( !fits && length > 1 )
		Add( strips, walk.before );
	Add( strips, walk.before );
	Add( strips, walk.last );
	strips->stamp += 1;
	for ( int i = 0; i < length; ++i )
	{
		at = Advance( strips, &walk, at, takenStamp );
		Add( strips, walk.last );
	}
}

/* The longest strip through a triangle: to one end of it through each edge, and from there back. */
static void AppendBest( Strips *strips, int32_t triangle )
{
	int most = 0;
	int32_t best = 3 * triangle;
	bool bestEven = true;
	for ( int corner = 0; corner < 3; ++corner )
	{
		int32_t far, unused;
		bool even = Try( strips, 3 * triangle + corner, true, &far ) % 2 == 0;
		int32_t back = far / 3 * 3 + ( far % 3 + ( even ? 2 : 1 ) ) % 3;
		int length = Try( strips, back, even, &unused );
		if ( length > most )
		{
			most = length;
			best = back;
			bestEven = even;
		}
	}
	Append( strips, best, bestEven );
}

int lmbStrips_Make( const lmbStripMesh *mesh, int32_t *row )
{
	Strips strips = { mesh, row, 0, 0 };
	ListHalfEdges( mesh );
	for ( int32_t t = 0; t < mesh->triangleCount; ++t )
		while ( mesh->stamps[t] !=
		        takenStamp ) /* the way back may be another where edges have many triangles */
			AppendBest( &strips, t );
	if ( strips.count == 0 )
		return 0;
	Add( &strips, row[strips.count - 1] );
	Add( &strips, row[strips.count - 1] );
	if ( strips.count % 2 == 1 )
		Add( &strips, row[strips.count - 1] );
	return strips.count;
}
