/* What the importer keeps of a file beside the character itself: the node tree, inverse binds, animation
 * channels, and the file's own bytes for writing it again. Internal to src/formats. */
#ifndef LMB_FORMATS_CHARACTER_RIG_H
#define LMB_FORMATS_CHARACTER_RIG_H

#include "formats/character.h"
#include "formats/gltf.h"

enum
{
	lmbRigNodeLimit = 4096, /* nodes above joints; a pose keeps them on the stack */
	lmbRigBoneLimit = 4096,
	lmbRigClipLimit = 4096,
	lmbRigNoteLimit = 64
};

/* A node that is a joint or stands above one. Parents come first. */
typedef struct lmbRigNode
{
	int node;          /* index in the file */
	int parent;        /* index among these, or -1 */
	bool fixed;        /* placed by a matrix that is no translation, rotation and scale, and never animated */
	double matrix[12]; /* of a fixed node */
	double local[10];  /* translation 3, rotation xyzw 4, scale 3 */
} lmbRigNode;

typedef enum lmbChannelPath
{
	lmb_pathTranslation,
	lmb_pathRotation,
	lmb_pathScale,
	lmb_pathWeights
} lmbChannelPath;

typedef enum lmbInterpolation
{
	lmb_interpolationLinear,
	lmb_interpolationStep,
	lmb_interpolationCubic
} lmbInterpolation;

typedef struct lmbChannel
{
	int index; /* among the animation's channels in the file */
	int node;  /* index in the file */
	int live;  /* index among the rig's nodes, or -1 */
	lmbChannelPath path;
	lmbInterpolation interpolation;
	int keyCount, width; /* width 3, 4, or the number of morph targets */
	const double *times; /* (keyCount) s, ascending */
	const double
	    *values; /* (keyCount x width), cubic: (keyCount x 3 x width) in-tangent, value, out-tangent */
} lmbChannel;

typedef struct lmbRigClip
{
	int animation; /* index in the file */
	int channelCount;
	lmbChannel *channels;
} lmbRigClip;

/* Where a part's vertices come from. */
typedef struct lmbRigPart
{
	int skin;              /* index in the file */
	int sharedWith;        /* an earlier part with the same vertices, or -1 */
	int positionAccessor;  /* index in the file */
	double meshToBind[12]; /* the mesh's own space to bind space, metres */
	const bool *used;      /* (vertexCount) named by the file's indices */
} lmbRigPart;

typedef struct lmbRig
{
	lmbGltf gltf;
	int nodeCount; /* of the file */
	int liveCount;
	lmbRigNode *live;
	int *liveOfNode;      /* (nodeCount) or -1 */
	int *boneLive;        /* (boneCount) the joint */
	double *inverseBinds; /* (boneCount x 12) bind space, metres, to the joint's own space, scene units */
	lmbRigClip *clips;    /* (clipCount) */
	lmbRigPart *parts;    /* (partCount) */
} lmbRig;

/* The value of a channel at a time, clamped to its keys. out (width). */
void lmbChannel_Sample( const lmbChannel *channel, double time, double *out );

/* local (liveCount x 10) of every node at a time of a clip, clip -1: as the nodes state. */
void lmbRig_SampleClip( const lmbRig *rig, int clip, double time, double *local );
/* World matrices of all live nodes, scene units. local is not read for fixed nodes. */
void lmbRig_WorldMatrices( const lmbRig *rig, const double *local, double *worlds );
/* bones (boneCount x 12) from the nodes' local transforms, metres. */
void lmbRig_Pose( const lmbCharacter *character, const double *local, double *bones );

void lmbCharacter_Note( lmbCharacter *character, const char *format, ... )
    __attribute__( ( format( printf, 2, 3 ) ) );

/* --- stages of reading, in order; each in a file of its own --- */

/* Everything about nodes that later stages ask for. In the reader's scratch arena. */
typedef struct lmbNodeTable
{
	int *parents;     /* (nodeCount) or -1 */
	int *order;       /* (nodeCount) parents before children */
	bool *inScene;    /* (nodeCount) under the default scene; all of them when the file has no scene */
	int skinnedCount; /* nodes with a mesh and a skin, in the scene, in file order */
	int *skinned;
} lmbNodeTable;

lmbStatus lmbGltf_ReadNodeTable( lmbCharacter *character, lmbArena *scratch, lmbNodeTable *table,
                                 lmbError *error );
/* Fills rig->live with every node that wanted marks and all above it. wanted (nodeCount). */
lmbStatus lmbGltf_ReadLiveNodes( lmbCharacter *character, const lmbNodeTable *table, const bool *wanted,
                                 lmbError *error );

/* A skin brought into the common bind space. */
typedef struct lmbSkin
{
	bool used;
	int jointCount;
	int *bones;            /* (jointCount) the character's bone of each joint */
	double *inverseBinds;  /* (jointCount x 12) as the file states them */
	int *jointNodes;       /* (jointCount) nodes of the file */
	double meshToBind[12]; /* mesh space to bind space (scene units at this stage) */
} lmbSkin;

/* Makes the bones of all used skins: character->bones without names and frames. skins (skinCount). */
lmbStatus lmbGltf_ReadSkins( lmbCharacter *character, const lmbNodeTable *table, lmbArena *scratch,
                             lmbSkin **skins, int *skinCount, lmbError *error );
/* Fills vertices, triangles, weights, parts. */
lmbStatus lmbGltf_ReadMeshes( lmbCharacter *character, const lmbNodeTable *table, const lmbSkin *skins,
                              lmbArena *scratch, lmbError *error );
lmbStatus lmbGltf_ReadClips( lmbCharacter *character, lmbArena *scratch, lmbError *error );

#endif
