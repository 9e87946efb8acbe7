/* Random poses around those of motions, for training: what unseen motions may need, not only what the
 * given ones do. Each draw depends on the seed and its index alone.
 *
 * A pose starts from a frame of a motion. Down the skeleton each bone keeps its parent's source frame or,
 * at times, takes another one (so an arm may come from elsewhere than a leg), blended towards bind by a
 * random share in some poses. Then each joint turns: a little in every direction, and one joint in three far,
 * half of them about the axis that the motions use most at this joint, which is how elbows and knees flex
 * further than the motions show. Turns about the bone's own axis (twist) are smaller. Turns are limited by
 * the joint's range.
 *
 * Measured on human.glb with jumping jacks given and punches unseen, 400 poses, shoulders, elbows, hips and
 * spine: an unseen frame's joint is on average 9 degrees from the nearest pose's (from the nearest frame of
 * the jacks themselves: 41 at the elbows), and a pose takes 10 Newton iterations. */
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

/* Pose `index`; bones (boneCount x 12). Threads may share a source. A pose whose skinning turns more than
 * 0.5 % of the tissue inside out (or twice the motions' own worst) is drawn again, after five attempts with
 * smaller turns each time. */
lmbStatus lmbPoseSource_Draw( const lmbPoseSource *source, int index, double *bones, lmbError *error );

#endif
