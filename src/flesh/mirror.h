/* Left and right: a character's plane of symmetry, and what mirrors what. */
#ifndef LMB_FLESH_MIRROR_H
#define LMB_FLESH_MIRROR_H

#include "flesh/tissue_surface.h"

typedef struct lmbMirror
{
	double normal[3]; /* unit, of the plane in bind space: normal . x = offset */
	double offset;    /* m */
	int32_t *bones;   /* (boneCount) the bone that bone j mirrors; its own inverse */
	/* Vertex v lies where the mirrored skin is the weighted mean of these vertices. */
	int32_t *vertices;  /* (vertexCount x 3) */
	double *weights;    /* (vertexCount x 3) sum to 1 */
	double skinError;   /* m, area-weighted RMS distance of the skin from its mirror image */
	double boneError;   /* m, the largest distance of a joint from its partner's mirror image */
	double weightError; /* mean over the skin of half the sum over bones of |weight - mirrored weight| */
} lmbMirror;

/* Looks for the plane by geometry alone: names and orders of bones do not matter. Symmetric means: the
 * skin lies within 1 % of the root of its area of its mirror image (RMS), every joint within 3 % of its
 * partner's image with parents mirroring parents, and the skin weights differ by at most 0.15.
 * *found false (and why, a short phrase, in reason) is no error: many characters have no such plane. */
lmbStatus lmbMirror_Find( const lmbCharacter *character, const lmbSurface *surface, lmbArena *arena,
                          lmbMirror *mirror, bool *found, const char **reason, lmbError *error );

/* out = a mirrored at the plane's direction (vectors, not points). May alias. */
void lmbMirror_Vector( const lmbMirror *mirror, const double *a, double *out );

/* The mirrored pose: bone m(j) does what bone j does, reflected; the root's place and heading are
 * reflected at a vertical plane of the scene. out (boneCount x 12), not bones. */
void lmbMirror_Pose( const lmbMirror *mirror, int boneCount, const double *bones, double *out );

#endif
