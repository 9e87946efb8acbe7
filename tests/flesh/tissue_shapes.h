/* Characters of analytic shapes, made in memory for the tissue tests.
 *
 *   Shape shape = { 0 };
 *   Shape_AddCapsule( &shape, a, b, radius, rings, sectors );
 *   Shape_AddBone( &shape, "root", -1, a );
 *   Shape_Bind( &shape, 0.05 );
 *   ... lmbTissue_Make( &shape.character, ... ) ...
 *   Shape_Free( &shape );
 *
 * The character lives in the shape: do not call lmbCharacter_Free on it. */
#ifndef LMB_TESTS_TISSUE_SHAPES_H
#define LMB_TESTS_TISSUE_SHAPES_H

#include "base/math3.h"
#include "formats/character.h"

#include <stdlib.h>

static const double shapePi = 3.141592653589793;

typedef struct Shape
{
	lmbCharacter character;
	int vertexRoom, triangleRoom;
	lmbBone bones[32];
	int bone; /* bone that new vertices belong to until Shape_Bind; -1 as a mark for Shape_Bind */
	int32_t *owners;
} Shape;

static inline int Shape_AddVertex( Shape *shape, double x, double y, double z )
{
	lmbCharacter *c = &shape->character;
	if ( c->vertexCount == shape->vertexRoom )
	{
		shape->vertexRoom = 2 * shape->vertexRoom + 64;
		c->bind = realloc( c->bind, 3 * sizeof( double ) * (size_t)shape->vertexRoom );
		shape->owners = realloc( shape->owners, sizeof( int32_t ) * (size_t)shape->vertexRoom );
	}
	double *p = c->bind + 3 * (size_t)c->vertexCount;
	p[0] = x;
	p[1] = y;
	p[2] = z;
	shape->owners[c->vertexCount] = shape->bone;
	return c->vertexCount++;
}

static inline void Shape_AddTriangle( Shape *shape, int a, int b, int c )
{
	lmbCharacter *character = &shape->character;
	if ( character->triangleCount == shape->triangleRoom )
	{
		shape->triangleRoom = 2 * shape->triangleRoom + 64;
		character->triangles =
		    realloc( character->triangles, 3 * sizeof( int32_t ) * (size_t)shape->triangleRoom );
	}
	int32_t *t = character->triangles + 3 * (size_t)character->triangleCount++;
	t[0] = a;
	t[1] = b;
	t[2] = c;
}

/* Two axes at right angles to a unit direction, right-handed with it. */
static inline void Shape_Frame( const double *direction, double *u, double *v )
{
	double helper[3] = { 0 };
	helper[fabs( direction[0] ) < 0.7 ? 0 : 1] = 1.0;
	lmbCross( u, helper, direction );
	double length = lmbLength( u );
	for ( int a = 0; a < 3; ++a )
		u[a] /= length;
	lmbCross( v, direction, u );
}

/* A closed capsule from a to b (a sphere when they coincide), cut along its length into `rings` in each cap
 * and in the tube; the seam repeats its vertices as seams of texture coordinates do. */
static inline void Shape_AddCapsule( Shape *shape, const double *a, const double *b, double radius, int rings,
                                     int sectors )
{
	double axis[3], u[3], v[3];
	lmbSub( axis, b, a );
	double length = lmbLength( axis );
	for ( int i = 0; i < 3; ++i )
		axis[i] = length > 0.0 ? axis[i] / length : ( i == 1 );
	Shape_Frame( axis, u, v );
	int rows = ( length > 0.0 ? 3 : 2 ) * rings, first = shape->character.vertexCount;
	for ( int r = 0; r <= rows; ++r )
		for ( int s = 0; s <= sectors; ++s )
		{
			double along, around, angle = 2.0 * shapePi * ( s % sectors ) / sectors;
			if ( r <= rings )
			{
				along = -radius * cos( 0.5 * shapePi * r / rings );
				around = r == 0 ? 0.0 : radius * sin( 0.5 * shapePi * r / rings );
			}
			else if ( rows - r <= rings )
			{
				along = length + radius * cos( 0.5 * shapePi * ( rows - r ) / rings );
				around = r == rows ? 0.0 : radius * sin( 0.5 * shapePi * ( rows - r ) / rings );
			}
			else
			{
				along = length * ( r - rings ) / rings;
				around = radius;
			}
			double p[3];
			for ( int i = 0; i < 3; ++i )
				p[i] = a[i] + along * axis[i] + around * ( cos( angle ) * u[i] + sin( angle ) * v[i] );
			Shape_AddVertex( shape, p[0], p[1], p[2] );
		}
	for ( int r = 0; r < rows; ++r )
		for ( int s = 0; s < sectors; ++s )
		{
			int p = first + r * ( sectors + 1 ) + s, q = p + sectors + 1;
			Shape_AddTriangle( shape, p, p + 1, q + 1 );
			Shape_AddTriangle( shape, p, q + 1, q );
		}
}

/* A torus about the y axis. */
static inline void Shape_AddTorus( Shape *shape, double major, double minor, int rings, int sectors )
{
	int first = shape->character.vertexCount;
	for ( int r = 0; r < rings; ++r )
		for ( int s = 0; s < sectors; ++s )
		{
			double p = 2.0 * shapePi * r / rings, q = 2.0 * shapePi * s / sectors;
			double around = major + minor * cos( q );
			Shape_AddVertex( shape, around * sin( p ), minor * sin( q ), around * cos( p ) );
		}
	for ( int r = 0; r < rings; ++r )
		for ( int s = 0; s < sectors; ++s )
		{
			int r1 = ( r + 1 ) % rings, s1 = ( s + 1 ) % sectors;
			int a = first + r * sectors + s, b = first + r1 * sectors + s;
			int c = first + r1 * sectors + s1, d = first + r * sectors + s1;
			Shape_AddTriangle( shape, a, b, c );
			Shape_AddTriangle( shape, a, c, d );
		}
}

/* A closed box of twelve triangles. */
static inline void Shape_AddBox( Shape *shape, const double *low, const double *high )
{
	static const int faces[6][4] = { { 0, 1, 3, 2 }, { 4, 6, 7, 5 }, { 0, 4, 5, 1 },
	                                 { 2, 3, 7, 6 }, { 0, 2, 6, 4 }, { 1, 5, 7, 3 } };
	int first = shape->character.vertexCount;
	for ( int i = 0; i < 8; ++i )
		Shape_AddVertex( shape, i & 4 ? high[0] : low[0], i & 2 ? high[1] : low[1],
		                 i & 1 ? high[2] : low[2] );
	for ( int f = 0; f < 6; ++f )
	{
		const int *c = faces[f];
		Shape_AddTriangle( shape, first + c[0], first + c[1], first + c[2] );
		Shape_AddTriangle( shape, first + c[0], first + c[2], first + c[3] );
	}
}

static inline int Shape_AddBone( Shape *shape, const char *name, int parent, const double *joint )
{
	int index = shape->character.boneCount++;
	lmbBone *bone = shape->bones + index;
	bone->name = name;
	bone->parent = parent;
	lmbMat34_Identity( bone->bind );
	for ( int a = 0; a < 3; ++a )
		bone->bind[4 * a + 3] = joint[a];
	shape->character.bones = shape->bones;
	return index;
}

/* Weights: vertices that belong to no bone (shape.bone was -1 while they were made) follow the nearest two
 * segments from a bone to its children (or its joint), blended over `blend` metres (0: the nearest alone);
 * the others follow their bone. */
static inline double Shape_BoneDistance( const Shape *shape, int bone, const double *point )
{
	const lmbCharacter *c = &shape->character;
	double best = INFINITY, joint[3], arm[3];
	for ( int a = 0; a < 3; ++a )
		joint[a] = c->bones[bone].bind[4 * a + 3];
	for ( int child = 0; child < c->boneCount; ++child )
	{
		if ( child != bone && c->bones[child].parent != bone )
			continue;
		double edge[3], t;
		for ( int a = 0; a < 3; ++a )
			edge[a] = c->bones[child].bind[4 * a + 3] - joint[a];
		lmbSub( arm, point, joint );
		double square = lmbDot( edge, edge );
		t = square > 0.0 ? fmin( fmax( lmbDot( arm, edge ) / square, 0.0 ), 1.0 ) : 0.0;
		lmbAddScaled( arm, arm, -t, edge );
		best = fmin( best, lmbLength( arm ) );
	}
	return best;
}

static inline void Shape_Bind( Shape *shape, double blend )
{
	lmbCharacter *c = &shape->character;
	c->path = "shape";
	c->influenceCount = 2;
	c->vertexBones = calloc( 2 * (size_t)c->vertexCount, sizeof( int32_t ) );
	c->weights = calloc( 2 * (size_t)c->vertexCount, sizeof( double ) );
	for ( int v = 0; v < c->vertexCount; ++v )
	{
		int near[2] = { shape->owners[v], 0 };
		double distances[2] = { INFINITY, INFINITY };
		for ( int j = 0; shape->owners[v] < 0 && j < c->boneCount; ++j )
		{
			double d = Shape_BoneDistance( shape, j, c->bind + 3 * (size_t)v );
			int place = d < distances[0] ? 0 : d < distances[1] ? 1 : 2;
			if ( place == 0 )
			{
				distances[1] = distances[0];
				near[1] = near[0] < 0 ? 0 : near[0];
			}
			if ( place < 2 )
			{
				distances[place] = d;
				near[place] = j;
			}
		}
		double far = distances[1] - distances[0];
		double share = blend > 0.0 && far < blend ? 0.5 * ( 1.0 - far / blend ) : 0.0;
		c->vertexBones[2 * v] = near[0];
		c->vertexBones[2 * v + 1] = share > 0.0 ? near[1] : 0;
		c->weights[2 * v] = 1.0 - share;
		c->weights[2 * v + 1] = share;
	}
}

static inline void Shape_Free( Shape *shape )
{
	free( shape->character.bind );
	free( shape->character.triangles );
	free( shape->character.vertexBones );
	free( shape->character.weights );
	free( shape->owners );
	memset( shape, 0, sizeof( *shape ) );
}

#endif
