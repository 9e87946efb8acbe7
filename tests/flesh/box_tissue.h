/* A beam of tetrahedra along x with bones along it, built without any file: a tissue whose exact answers
 * are known. Shared by the flesh tests.
 *
 *   BoxDef def = Box_DefaultDef();
 *   lmbTissue tissue; lmbCharacter character;
 *   Box_MakeTissue( &def, &tissue ); Box_MakeCharacter( &tissue, &def, &character );
 *   ... Box_Free( &tissue, &character );
 *
 * Both structs live with the caller (do not call lmbTissue_Free or lmbCharacter_Free on them).
 * Cubes are cut into six tetrahedra along one diagonal (Kuhn), mirrored in odd cells so that the mesh has
 * no preferred direction. The skin is the beam's surface: one vertex per surface node. */
#ifndef LMB_TESTS_BOX_TISSUE_H
#define LMB_TESTS_BOX_TISSUE_H

#include "base/math3.h"
#include "flesh/tissue.h"
#include "formats/character.h"

#include <assert.h>

typedef struct BoxDef
{
	int cells[3];   /* along x, y, z */
	double size[3]; /* m; the box spans [0, size] */
	int boneCount;  /* equal pieces along x, a chain from bone 0 at x = 0 */
	double heldEnd; /* m: nodes with x <= heldEnd (and 0) are held by bone 0 */
	double core;    /* m: nodes this close to the axis (y, z centre line) are held too; < 0: none */
	double young, poisson, density;
} BoxDef;

/* 8 x 3 x 3 cells of 5 cm, 2 bones, held at x = 0 only, 50 kPa, 0.45, 1000 kg/m^3. */
static inline BoxDef Box_DefaultDef( void )
{
	BoxDef def = { { 8, 3, 3 }, { 0.4, 0.15, 0.15 }, 2, 0.0, -1.0, 50e3, 0.45, 1000.0 };
	return def;
}

static inline int Box_Node( const BoxDef *def, int x, int y, int z )
{
	return ( x * ( def->cells[1] + 1 ) + y ) * ( def->cells[2] + 1 ) + z;
}

/* Linear hats at the bones' middles: two influences a point. */
static inline void Box_BoneWeights( const BoxDef *def, double x, int32_t *bones, double *weights )
{
	double place = x / def->size[0] * def->boneCount - 0.5;
	int low = (int)floor( place );
	double share = place - low;
	int first = low < 0 ? 0 : low;
	int second = low + 1 >= def->boneCount ? def->boneCount - 1 : low + 1;
	bones[0] = share <= 0.5 ? first : second;
	bones[1] = share <= 0.5 ? second : first;
	weights[0] = share <= 0.5 ? 1.0 - share : share;
	weights[1] = 1.0 - weights[0];
}

static inline void Box_MakeNodes( const BoxDef *def, lmbTissue *tissue )
{
	for ( int x = 0; x <= def->cells[0]; ++x )
		for ( int y = 0; y <= def->cells[1]; ++y )
			for ( int z = 0; z <= def->cells[2]; ++z )
			{
				int node = Box_Node( def, x, y, z );
				double *place = tissue->nodes + 3 * (size_t)node;
				place[0] = def->size[0] * x / def->cells[0];
				place[1] = def->size[1] * y / def->cells[1];
				place[2] = def->size[2] * z / def->cells[2];
				double off[2] = { place[1] - 0.5 * def->size[1], place[2] - 0.5 * def->size[2] };
				bool inCore = def->core >= 0.0 && hypot( off[0], off[1] ) <= def->core * ( 1.0 + 1e-12 );
				tissue->held[node] = x == 0 || place[0] <= def->heldEnd * ( 1.0 + 1e-12 ) || inCore;
				Box_BoneWeights( def, place[0], tissue->nodeBones + 2 * (size_t)node,
				                 tissue->nodeWeights + 2 * (size_t)node );
			}
}

static inline double Box_TetVolume( const lmbTissue *tissue, const int32_t *tet )
{
	double edges[9];
	for ( int i = 0; i < 3; ++i )
		lmbSub( edges + 3 * i, tissue->nodes + 3 * (size_t)tet[i + 1], tissue->nodes + 3 * (size_t)tet[0] );
	return lmbMat33_Determinant( edges ) / 6.0;
}

static inline void Box_AddTet( const BoxDef *def, lmbTissue *tissue, const int32_t *corners )
{
	int index = tissue->tetCount++;
	int32_t *tet = tissue->tets + 4 * (size_t)index;
	memcpy( tet, corners, 4 * sizeof( *tet ) );
	double volume = Box_TetVolume( tissue, tet );
	if ( volume < 0.0 )
	{
		int32_t swap = tet[2];
		tet[2] = tet[3];
		tet[3] = swap;
		volume = -volume;
	}
	tissue->fill[index] = 1.0;
	tissue->young[index] = def->young;
	tissue->poisson[index] = def->poisson;
	tissue->density[index] = def->density;
	for ( int i = 0; i < 4; ++i )
		tissue->mass[tet[i]] += 0.25 * def->density * volume;
}

static inline void Box_MakeTets( const BoxDef *def, lmbTissue *tissue )
{
	static const int orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
	                                  { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
	for ( int x = 0; x < def->cells[0]; ++x )
		for ( int y = 0; y < def->cells[1]; ++y )
			for ( int z = 0; z < def->cells[2]; ++z )
				for ( int path = 0; path < 6; ++path )
				{
					int cell[3] = { x, y, z }, corner[3], step[3];
					for ( int axis = 0; axis < 3; ++axis )
					{
						corner[axis] = cell[axis] + cell[axis] % 2;
						step[axis] = cell[axis] % 2 == 0 ? 1 : -1;
					}
					int32_t nodes[4] = { Box_Node( def, corner[0], corner[1], corner[2] ) };
					for ( int i = 0; i < 3; ++i )
					{
						corner[orders[path][i]] += step[orders[path][i]];
						nodes[i + 1] = Box_Node( def, corner[0], corner[1], corner[2] );
					}
					Box_AddTet( def, tissue, nodes );
				}
}

/* One skin vertex for every surface node, carried by a tetrahedron with that node as a corner. */
static inline void Box_MakeSkin( const BoxDef *def, lmbTissue *tissue )
{
	for ( int x = 0; x <= def->cells[0]; ++x )
		for ( int y = 0; y <= def->cells[1]; ++y )
			for ( int z = 0; z <= def->cells[2]; ++z )
			{
				bool inside =
				    x > 0 && x < def->cells[0] && y > 0 && y < def->cells[1] && z > 0 && z < def->cells[2];
				if ( inside )
					continue;
				int vertex = tissue->vertexCount++;
				int node = Box_Node( def, x, y, z );
				tissue->softness[vertex] = 1.0;
				for ( int t = 0; t < tissue->tetCount; ++t )
					for ( int i = 0; i < 4; ++i )
						if ( tissue->tets[4 * (size_t)t + i] == node )
						{
							memset( tissue->skinWeights + 4 * (size_t)vertex, 0, 4 * sizeof( double ) );
							tissue->skinTets[vertex] = t;
							tissue->skinWeights[4 * (size_t)vertex + i] = 1.0;
						}
			}
}

static inline void Box_MakeTissue( const BoxDef *def, lmbTissue *tissue )
{
	memset( tissue, 0, sizeof( *tissue ) );
	lmbArena *arena = &tissue->arena;
	size_t nodes = ( (size_t)def->cells[0] + 1 ) * ( def->cells[1] + 1 ) * ( def->cells[2] + 1 );
	size_t tets = (size_t)6 * def->cells[0] * def->cells[1] * def->cells[2];
	tissue->nodeCount = (int)nodes;
	tissue->boneCount = def->boneCount;
	tissue->influenceCount = 2;
	tissue->cell = def->size[0] / def->cells[0];
	tissue->nodes = LMB_NEW( arena, double, 3 * nodes );
	tissue->mass = LMB_NEW( arena, double, nodes );
	tissue->held = LMB_NEW( arena, uint8_t, nodes );
	tissue->nodeBones = LMB_NEW( arena, int32_t, 2 * nodes );
	tissue->nodeWeights = LMB_NEW( arena, double, 2 * nodes );
	tissue->tets = LMB_NEW( arena, int32_t, 4 * tets );
	tissue->fill = LMB_NEW( arena, double, tets );
	tissue->young = LMB_NEW( arena, double, tets );
	tissue->poisson = LMB_NEW( arena, double, tets );
	tissue->density = LMB_NEW( arena, double, tets );
	tissue->skinTets = LMB_NEW( arena, int32_t, nodes );
	tissue->skinWeights = LMB_NEW( arena, double, 4 * nodes );
	tissue->softness = LMB_NEW( arena, double, nodes );
	assert( tissue->nodes != NULL && tissue->tets != NULL && tissue->softness != NULL );
	Box_MakeNodes( def, tissue );
	Box_MakeTets( def, tissue );
	Box_MakeSkin( def, tissue );
}

static inline void Box_AddQuad( lmbCharacter *character, const int32_t *nodeVertices, const int *quad )
{
	static const int halves[2][3] = { { 0, 1, 2 }, { 0, 2, 3 } };
	for ( int half = 0; half < 2; ++half )
		for ( int i = 0; i < 3; ++i )
			character->triangles[3 * (size_t)( character->triangleCount + half ) + i] =
			    nodeVertices[quad[halves[half][i]]];
	character->triangleCount += 2;
}

static inline void Box_MakeSurface( const BoxDef *def, const int32_t *nodeVertices, lmbCharacter *character )
{
	for ( int axis = 0; axis < 3; ++axis )
		for ( int side = 0; side < 2; ++side )
		{
			int u = ( axis + 1 ) % 3, v = ( axis + 2 ) % 3;
			for ( int i = 0; i < def->cells[u]; ++i )
				for ( int j = 0; j < def->cells[v]; ++j )
				{
					static const int steps[4][2] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 1 } };
					int quad[4];
					for ( int k = 0; k < 4; ++k )
					{
						int place[3];
						int turn = side == 1 ? k : 3 - k; /* outward: counter-clockwise seen from outside */
						place[axis] = side * def->cells[axis];
						place[u] = i + steps[turn][0];
						place[v] = j + steps[turn][1];
						quad[k] = Box_Node( def, place[0], place[1], place[2] );
					}
					Box_AddQuad( character, nodeVertices, quad );
				}
		}
}

/* The character whose skin is the tissue's: bind pose, weights like the nodes', a chain of bones. */
static inline void Box_MakeCharacter( const lmbTissue *tissue, const BoxDef *def, lmbCharacter *character )
{
	memset( character, 0, sizeof( *character ) );
	lmbArena *arena = &character->arena;
	size_t vertices = (size_t)tissue->vertexCount;
	character->path = "box";
	character->vertexCount = tissue->vertexCount;
	character->boneCount = def->boneCount;
	character->influenceCount = 2;
	character->metresPerUnit = 1.0;
	character->bind = LMB_NEW( arena, double, 3 * vertices );
	character->vertexBones = LMB_NEW( arena, int32_t, 2 * vertices );
	character->weights = LMB_NEW( arena, double, 2 * vertices );
	character->bones = LMB_NEW( arena, lmbBone, def->boneCount );
	int quads =
	    2 * ( def->cells[0] * def->cells[1] + def->cells[1] * def->cells[2] + def->cells[2] * def->cells[0] );
	character->triangles = LMB_NEW( arena, int32_t, 6 * (size_t)quads );
	int32_t *nodeVertices = LMB_NEW( arena, int32_t, tissue->nodeCount );
	assert( character->triangles != NULL && nodeVertices != NULL && character->weights != NULL );
	for ( int i = 0; i < tissue->vertexCount; ++i )
	{
		int corner = 0;
		while ( tissue->skinWeights[4 * (size_t)i + corner] != 1.0 )
			corner += 1;
		int node = tissue->tets[4 * (size_t)tissue->skinTets[i] + corner];
		nodeVertices[node] = i;
		memcpy( character->bind + 3 * (size_t)i, tissue->nodes + 3 * (size_t)node, 3 * sizeof( double ) );
		Box_BoneWeights( def, tissue->nodes[3 * (size_t)node], character->vertexBones + 2 * (size_t)i,
		                 character->weights + 2 * (size_t)i );
	}
	Box_MakeSurface( def, nodeVertices, character );
	static const char *const names[8] = { "bone0", "bone1", "bone2", "bone3",
	                                      "bone4", "bone5", "bone6", "bone7" };
	assert( def->boneCount <= 8 );
	for ( int j = 0; j < def->boneCount; ++j )
	{
		character->bones[j].name = names[j];
		character->bones[j].parent = j - 1;
		lmbMat34_Identity( character->bones[j].bind );
		character->bones[j].bind[3] = def->size[0] * j / def->boneCount;
		character->bones[j].bind[7] = 0.5 * def->size[1];
		character->bones[j].bind[11] = 0.5 * def->size[2];
	}
}

/* A pose that bends the chain: every bone but the first turns by angle (radians) about z at its joint,
 * relative to its parent. bones (boneCount x 12). */
static inline void Box_BendPose( const BoxDef *def, double angle, double *bones )
{
	lmbMat34_Identity( bones );
	for ( int j = 1; j < def->boneCount; ++j )
	{
		double c = cos( angle ), s = sin( angle );
		double x = def->size[0] * j / def->boneCount, y = 0.5 * def->size[1];
		double turn[12] = { c, -s, 0.0, x - c * x + s * y, s, c, 0.0, y - s * x - c * y, 0.0, 0.0, 1.0, 0.0 };
		lmbMat34_Multiply( bones + 12 * j, bones + 12 * ( j - 1 ), turn );
	}
}

static inline void Box_Free( lmbTissue *tissue, lmbCharacter *character )
{
	lmbArena_Free( &tissue->arena );
	if ( character != NULL )
		lmbArena_Free( &character->arena );
}

#endif
