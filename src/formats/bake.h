/* Writes a motion with its dynamics back into the character's own file; the stage `bake`.
 *
 * A glTF mesh cannot store a point per frame, but it can add a few fixed displacement fields (morph
 * targets) with a weight that changes in time, before skinning. The bake finds the fields and weights that
 * come closest, in scene space, to given skin positions: docs/derivations/bake.md. */
#ifndef LMB_FORMATS_BAKE_H
#define LMB_FORMATS_BAKE_H

#include "base/job.h"
#include "formats/motion.h"
#include "formats/point_cache.h"

typedef struct lmbBakeDef
{
	int targets;      /* morph targets added at most, in [1, 64]; eight is what every viewer draws */
	const char *name; /* of the new animation; NULL: "CLIP (limber)" */
	int sweeps;       /* improvements of the fields after the first estimate, in [0, 20] */
} lmbBakeDef;

lmbBakeDef lmbDefaultBakeDef( void ); /* 8, NULL, 1 */

/* The skin along a motion: frame i is at i / rate seconds of it. */
typedef struct lmbBakeFrames
{
	const lmbMotion *motion;
	int frameCount;         /* at least 1; frames beyond the motion's end hold its last pose */
	double rate;            /* Hz, in [1, 1000] */
	const float *positions; /* (frameCount x vertexCount x 3) m, scene space */
} lmbBakeFrames;

typedef struct lmbBakeReport
{
	int targets;              /* added */
	double dynamics;          /* m, RMS over frames and vertices of positions less skinning alone */
	double truncation;        /* m, RMS of positions less what the written file shows at the frames */
	double largestTruncation; /* m, the worst single vertex */
	char name[256];           /* of the new animation */
} lmbBakeReport;

/* Writes path (.glb): the character's file with every part kept, new morph targets behind those that its
 * meshes have, and one new animation with the motion's joints and the weights at the frames. report is
 * Nullable. The character must be the motion's. */
lmbStatus lmbBake_WriteGlb( const lmbCharacter *character, const lmbBakeDef *def, const lmbBakeFrames *frames,
                            const char *path, const lmbJob *job, lmbBakeReport *report, lmbError *error );

/* Writes the frames as point caches, scene space, metres, one file per node of the character that carries
 * a skinned mesh: folder/NAME.pc2 for a character of one mesh, folder/NAME.MESH.pc2 for more. Points are
 * the mesh's vertices in the order in which Blender's importer makes them: primitive after primitive, the
 * vertices that its triangles use. fileCount (Nullable): files written. */
lmbStatus lmbBake_WritePointCaches( const lmbCharacter *character, const lmbBakeFrames *frames,
                                    lmbPointCacheFormat format, const char *folder, const char *name,
                                    int *fileCount, lmbError *error );

/* Writes the frames as path (.usda, USD's text): below one Xform "Character" a Mesh for each node, with the
 * points of the point caches and the same values bit for bit as time samples; a time code is a frame.
 * docs/formats/usd.md. */
lmbStatus lmbBake_WriteUsd( const lmbCharacter *character, const lmbBakeFrames *frames, const char *path,
                            lmbError *error );

#endif
