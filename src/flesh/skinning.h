/* Linear blend skinning, and the rotation that carries displacements from bind space into the pose.
 *
 * Blended matrices of real bodies come close to singular, so displacements travel by a rotation
 * instead: shape = LBS(bind) + R d, with R the normalised blend of the bones' unit quaternions
 * (sign-aligned to the heaviest bone). R preserves lengths: errors in bind space are errors in the pose,
 * in metres. */
#ifndef LMB_FLESH_SKINNING_H
#define LMB_FLESH_SKINNING_H

#include <stdint.h>

/* Bone weights of points (skin vertices or lattice nodes), heaviest first. */
typedef struct lmbWeights
{
	int pointCount, influenceCount;
	const int32_t *bones;  /* (pointCount x influenceCount) */
	const double *weights; /* (pointCount x influenceCount) */
} lmbWeights;

/* out (pointCount x 3) = sum_j w_j bones_j rest. */
void lmbSkin_Points( const lmbWeights *weights, const double *bones, const double *rest, double *out );

/* The rotation nearest to each bone's 3x3 part M, the one with the largest trace of R^T M, as unit
 * quaternions (boneCount x 4). That is the polar factor of M when its determinant is positive. A mirrored
 * bone (negative determinant) gets the nearest proper rotation too, never a reflection; where several are
 * equally near (a plain mirror, a bone flattened to a line or scaled to 0) the one that turns least; a bone
 * with a number that is not finite gets no turn. */
void lmbSkin_BoneQuaternions( int boneCount, const double *bones, double *quaternions );

/* out (pointCount x 9): R of every point. */
void lmbSkin_Rotations( const lmbWeights *weights, const double *quaternions, double *out );

#endif
