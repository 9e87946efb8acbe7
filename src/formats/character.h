/* A rigged character as the tools see it: one skin, one skeleton, metres.
 *
 * Bind space is the space in which the skin was bound, scaled to metres; a pose is one 3x4 matrix per
 * bone that carries bind space to scene space (the usual skinning palette, joint world x inverse bind).
 * The pose is all that later stages need: rotations relative to bind follow from it. */
#ifndef LMB_FORMATS_CHARACTER_H
#define LMB_FORMATS_CHARACTER_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>

typedef struct lmbBone
{
	const char *name; /* of the node, made unique: "NAME #2" */
	int parent;       /* nearest ancestor that is a bone too, or -1; always below the bone's own index */
	double bind[12];  /* the joint's frame in bind space: rotation and position, no scale */
} lmbBone;

/* A run of vertices that came from one glTF primitive; lets a writer find its accessors again. Primitives
 * of one node over the same vertices share their run, so vertex counts of parts need not sum to the whole. */
typedef struct lmbPart
{
	const char *name;
	int node, mesh, primitive; /* indices in the glTF file */
	int firstVertex, vertexCount;
	int firstTriangle, triangleCount;
} lmbPart;

typedef struct lmbClip
{
	const char *name;
	double start, end; /* s: first and last key */
	int keyCount;      /* of the channel with the most keys */
} lmbClip;

typedef struct lmbCharacter
{
	lmbArena arena;
	const char *path;
	int vertexCount, triangleCount, boneCount, partCount, clipCount;
	int influenceCount;   /* per vertex, the most that any vertex has, at least 1 */
	double *bind;         /* (vertexCount x 3) m, bind space */
	int32_t *triangles;   /* (triangleCount x 3) counter-clockwise from outside */
	int32_t *vertexBones; /* (vertexCount x influenceCount) heaviest first; unused ones repeat bone 0 */
	double *weights;      /* (vertexCount x influenceCount) >= 0, each row sums to 1 */
	lmbBone *bones;       /* (boneCount) parents first */
	lmbPart *parts;       /* (partCount) */
	lmbClip *clips;       /* (clipCount) animations, in file order */
	double metresPerUnit; /* applied already to everything above and to every pose */
	bool unitGiven;       /* false: measured from the skeleton */
	int noteCount;
	const char **notes; /* what the importer mended, one sentence each */
	struct lmbRig *rig; /* the importer's own: nodes, inverse binds, channels */
} lmbCharacter;

typedef struct lmbImportDef
{
	double metresPerUnit; /* 0: measure it; else in [1e-6, 1e6] */
} lmbImportDef;           /* zero-initialise for the defaults; a NULL def is the same */

/* Reads .glb or .gltf. On failure *out is NULL and error names the file, the JSON pointer and the
 * remedy. Free with lmbCharacter_Free. */
lmbStatus lmbCharacter_Load( const char *path, const lmbImportDef *def, lmbCharacter **out, lmbError *error );
void lmbCharacter_Free( lmbCharacter *character ); /* NULL is fine */

/* The index of a clip or bone by name, or -1. */
int lmbCharacter_FindClip( const lmbCharacter *character, const char *name );
int lmbCharacter_FindBone( const lmbCharacter *character, const char *name );

/* The pose at a time of a clip (clamped to its ends), interpolated as glTF says; clip -1 gives the pose
 * that the nodes themselves state. bones (boneCount x 12). Threads may share a character. */
void lmbCharacter_Pose( const lmbCharacter *character, int clip, double time, double *bones );

#endif
