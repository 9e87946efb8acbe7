/* The puppet: a stout figure of one closed surface, made from formulas so that the repository needs no
 * file from elsewhere. 1.6 m tall, Y up, facing +Z, its left on +X, arms and legs apart.
 *
 * Left and right are exact mirror images, bit for bit: vertices come as one half (x >= 0) followed by
 * the mirrored copies of those with x > 0. */
#ifndef LMB_EXAMPLES_PUPPET_H
#define LMB_EXAMPLES_PUPPET_H

#include "base/arena.h"
#include "base/error.h"

enum
{
	puppetPelvis,
	puppetSpine,
	puppetChest,
	puppetHead,
	puppetUpperArmLeft,
	puppetLowerArmLeft,
	puppetUpperArmRight,
	puppetLowerArmRight,
	puppetUpperLegLeft,
	puppetLowerLegLeft,
	puppetFootLeft,
	puppetUpperLegRight,
	puppetLowerLegRight,
	puppetFootRight,
	puppetBoneCount,
	puppetInfluenceCount = 4
};

typedef struct PuppetBone
{
	const char *name;
	int parent;        /* or -1 */
	int mirror;        /* the bone on the other side, or itself */
	double joint[3];   /* m, where it turns; its axes in the bind pose are those of the scene */
	double segment[6]; /* m, its two ends, for the skin weights */
} PuppetBone;

extern const PuppetBone puppetBones[puppetBoneCount];

/* The part of the body that a place on the surface belongs to. */
typedef enum PuppetRegion
{
	puppetTrunk,
	puppetNeck,
	puppetArm,
	puppetLeg
} PuppetRegion;

typedef struct PuppetMesh
{
	int vertexCount, triangleCount, halfCount, quadCount;
	double *positions;  /* (vertexCount x 3) m */
	double *normals;    /* (vertexCount x 3) */
	double *colors;     /* (vertexCount x 3) linear RGB */
	int32_t *triangles; /* (triangleCount x 3) counter-clockwise from outside */
	int32_t *quads;     /* (quadCount x 4) of the half; the triangles are theirs and their mirror images' */
	int32_t *mirror;    /* (vertexCount) the vertex at -x */
	uint8_t *regions;   /* (vertexCount) a PuppetRegion */
	double *weights;    /* (vertexCount x puppetBoneCount) at most 4 in a row are not zero; sum 1 */
} PuppetMesh;

/* The surface; everything but weights. */
lmbStatus PuppetMesh_Make( lmbArena *arena, PuppetMesh *mesh, lmbError *error );
/* Skin weights: diffusion of heat from the nearest bone (Baran and Popovic 2007). */
lmbStatus PuppetMesh_AddWeights( lmbArena *arena, PuppetMesh *mesh, lmbError *error );

typedef struct PuppetPose
{
	double root[3];                       /* m, place of the pelvis */
	double rotations[puppetBoneCount][4]; /* xyzw, relative to the parent */
} PuppetPose;

typedef struct PuppetMotion
{
	const char *name;
	double duration;                                 /* s */
	void ( *pose )( double time, PuppetPose *pose ); /* twice continuously differentiable in time */
} PuppetMotion;

enum
{
	puppetMotionCount = 4
};

extern const PuppetMotion puppetMotions[puppetMotionCount];

#endif
