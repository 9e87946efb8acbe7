/* The inputs of one motion of a project. */
#ifndef LMB_LIMB_PIPELINE_MOTIONS_H
#define LMB_LIMB_PIPELINE_MOTIONS_H

#include "base/random.h"
#include "limb/project.h"

/* Fills out->inputs for a motion from out's first state; false when the plant's forces are not finite. */
bool lmbLimbMotion_Draw( lmbPlant *plant, const lmbLimbProjectMotion *motion, lmbRandom *random,
                         lmbTrajectory *out );

/* Whether the inputs are the joints' torques, so that inverse dynamics gives them. Others make torques of
 * reaches.
 */
bool lmbLimbMotion_CanReach( const lmbPlant *plant );
/* The same for reaches from out's first posture to target (dofCount) and back, again and again. */
bool lmbLimbMotion_DrawReach( lmbPlant *plant, const double *target, lmbTrajectory *out );

#endif
