/* A clip made fit for dynamics: sampled smoothly, starting from rest.
 *
 * LINEAR keys jump in velocity at every key, which rings a tissue; a motion is a C2 cubic spline per
 * joint through the clip's keys resampled at keyRate, in the joints' local rotations (sign-aligned unit
 * quaternions, renormalised) and translations. Everything downstream, simulation and runtime alike,
 * samples this one curve. */
#ifndef LMB_FORMATS_MOTION_H
#define LMB_FORMATS_MOTION_H

#include "formats/character.h"

typedef struct lmbMotionDef
{
	double keyRate;  /* Hz in [1, 1000]; 0: the clip's own densest key rate, at most 120 */
	double cutoff;   /* Hz: zero-phase low-pass (fourth-order Butterworth run forwards and backwards) on
	                    the resampled keys, against capture noise; 0: none */
	double warpIn;   /* s in [0, 5]: time over which the motion comes up to speed from rest */
	double start;    /* s, from the clip's first key */
	double duration; /* s; 0: to the clip's last key */
} lmbMotionDef;

lmbMotionDef lmbDefaultMotionDef( void ); /* keyRate 0, cutoff 0, warpIn 0.5, start 0, duration 0 */

typedef struct lmbMotion
{
	lmbArena arena;
	const char *name;
	double duration; /* s, warp included: time runs from 0 (at rest) to duration */
	const lmbCharacter *character;
	struct lmbMotionCurves *curves;
} lmbMotion;

/* The character must outlive the motion. */
lmbStatus lmbMotion_Make( const lmbCharacter *character, int clip, const lmbMotionDef *def, lmbMotion **out,
                          lmbError *error );
void lmbMotion_Free( lmbMotion *motion );

/* bones (boneCount x 12) at time, clamped to [0, duration]. Threads may share a motion. */
void lmbMotion_Pose( const lmbMotion *motion, double time, double *bones );

/* A pose from local rotations: turns each bone by rotations[bone] (unit quaternion, relative to the
 * parent bone, in bind-space axes: R_bone = R_parent * rotation), joints staying attached as in bind;
 * root bones stand at their bind place under root (3x4, Nullable: identity). rotations
 * (boneCount x 4), bones (boneCount x 12). The inverse of lmbPose_LocalRotations for poses without
 * stretch. */
void lmbPose_FromLocalRotations( const lmbCharacter *character, const double *rotations, const double *root,
                                 double *bones );
/* The rotations that lmbPose_FromLocalRotations takes: R_parent^T R_bone, and R_bone itself for roots,
 * R being the rotation nearest to the pose matrix. rotations (boneCount x 4). */
void lmbPose_LocalRotations( const lmbCharacter *character, const double *bones, double *rotations );

#endif
