/* The bake's file: the character's own glTF with morph targets and an animation more. Internal to the
 * bake. */
#ifndef LMB_FORMATS_BAKE_GLB_H
#define LMB_FORMATS_BAKE_GLB_H

#include "formats/bake.h"
#include "formats/bake_basis.h"
#include "formats/glb_writer.h"
#include "formats/motion_curves.h"

/* A node whose mesh gets the targets. */
typedef struct lmbBakedNode
{
	int node, mesh; /* indices in the new file */
	int before;     /* morph targets that the mesh had */
} lmbBakedNode;

typedef struct lmbBakeFile
{
	const lmbCharacter *character;
	const lmbBakeFrames *frames;
	const lmbBakeBasis *basis;
	const lmbJob *job;
	const char *name; /* of the new animation */
	lmbArena arena;
	lmbGlbWriter writer;
	int nodeCount;
	lmbBakedNode *nodes;
} lmbBakeFile;

/* root[key][index], or NULL. */
json_t *lmbBakeFile_Entry( const lmbBakeFile *file, const char *key, int index );

/* The stages, in order. */
lmbStatus lmbBakeFile_CarryOver( lmbBakeFile *file, lmbError *error );    /* buffers, views, pictures */
lmbStatus lmbBakeFile_AddTargets( lmbBakeFile *file, lmbError *error );   /* fills nodes */
lmbStatus lmbBakeFile_Mend( lmbBakeFile *file, lmbError *error );         /* weights, colours */
lmbStatus lmbBakeFile_WidenWeights( lmbBakeFile *file, lmbError *error ); /* animations that were there */
lmbStatus lmbBakeFile_AddAnimation( lmbBakeFile *file, lmbError *error );

#endif
