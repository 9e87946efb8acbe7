/* Random poses around those of motions, for training: what unseen motions may need, not only what the
 * given ones do. Each draw depends on the seed and its index alone.
 *
 * A pose starts from a frame of a motion. Down the skeleton each bone keeps its parent's source frame or,
 * at times, takes another one (so an arm may come from elsewhere than a leg), blended towards bind by a
 * random share in some poses. Then each joint turns: a little in every direction, less about the bone's own
 * axis (twist), and at times far along the direction in which the motions bend this joint, which is how
 * elbows and knees flex further than the motions show. Turns are limited by the joint's range. */
#ifndef LMB_FLESH_POSES_H
#define LMB_FLESH_POSES_H

#include "flesh/simulate.h"

typedef struct lmbPoseSource lmbPoseSource;

/* Learns the joints' directions from the trained motions; without any, poses spread around bind. The
 * character, tissue and motions must outlive the source. An unknown bone in the ranges is an error. */
lmbStatus lmbPoseSource_Make( const lmbCharacter *character, const lmbTissue *tissue,
                              const lmbSimulateMotion *motions, int motionCount, const lmbSimulateDef *def,
                              uint64_t seed, lmbPoseSource **out, lmbError *error );
void lmbPoseSource_Free( lmbPoseSource *source ); /* NULL is fine */

/* Pose `index`; bones (boneCount x 12). Threads may share a source. Poses that turn more than 2 % of the
 * tissue inside the bones inside out are drawn again, with smaller turns each time. */
lmbStatus lmbPoseSource_Draw( const lmbPoseSource *source, int index, double *bones, lmbError *error );

#endif
