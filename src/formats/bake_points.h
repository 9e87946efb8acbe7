/* What files of points hold of a character: one mesh for each node that carries a skinned one, its points in
 * the order in which Blender's glTF importer makes vertices. Internal to src/formats. */
#ifndef LMB_FORMATS_BAKE_POINTS_H
#define LMB_FORMATS_BAKE_POINTS_H

#include "formats/bake.h"

typedef struct lmbBakeMesh
{
	char name[200]; /* of the mesh; unique among the character's */
	int node;       /* index in the file */
	int count;      /* of points, at least 1 */
	/* (count) of the character; part after part of the node, each ascending, those that triangles use */
	int32_t *vertices;
} lmbBakeMesh;

typedef struct lmbBakeMeshes
{
	int count;
	bool several;        /* nodes, even when all but one are without points */
	lmbBakeMesh *meshes; /* (count) */
} lmbBakeMeshes;

/* In the arena. */
lmbStatus lmbBakeMeshes_Find( const lmbCharacter *character, lmbArena *arena, lmbBakeMeshes *out,
                              lmbError *error );

/* points (count x 3) at a frame. */
void lmbBakeMesh_Points( const lmbBakeMesh *mesh, const lmbCharacter *character, const lmbBakeFrames *frames,
                         int frame, float *points );

/* That the frames are the character's, and finite. */
lmbStatus lmbBakeFrames_Check( const lmbCharacter *character, const lmbBakeFrames *frames, lmbError *error );

#endif
