/* How the puppet is moved: a few controls in degrees and metres, arms by joint angles, legs by where
 * the feet stand. */
#ifndef LMB_EXAMPLES_PUPPET_MOTION_H
#define LMB_EXAMPLES_PUPPET_MOTION_H

#include "puppet.h"

/* Left is side 0. Angles in degrees; for each side they mean the mirror image of the other. */
typedef struct PuppetControls
{
	double place[2], heading;             /* m (x, z) and turn to the left: where the body stands and faces */
	double pelvis[3];                     /* m, seen from there, away from the bind pose */
	double turn, bow, lean;               /* of the pelvis: to the left, forwards, to the left side */
	double twist, bend, side;             /* of the trunk, spread over spine and chest */
	double headTwist, headBend, headSide; /* of the head */
	double raise[2];                      /* upper arm above (below: negative) the horizontal, sideways */
	double flex[2];                       /* then turned forwards about the axis left-right */
	double inward[2];                     /* then turned inwards about the vertical */
	double roll[2];                       /* about its own axis, so that the forearm bends upwards */
	double elbow[2];                      /* 0: straight */
	double foot[2][3];                    /* m, ankle: outwards, up from its height when standing, forwards */
	double toe[2];                        /* foot tipped up */
	double knee[2];                       /* knee pointed outwards */
} PuppetControls;

/* A relaxed stance: feet 0.2 m from the middle, knees soft, arms hanging a little away from the body. */
PuppetControls PuppetControls_Default( void );
/* Joint rotations and root. Smooth in the controls as long as feet stay below the hips. */
void PuppetControls_Pose( const PuppetControls *controls, PuppetPose *pose );

/* 0 before 0, 1 after 1, between them the quintic that is twice continuously differentiable. */
double Puppet_Ramp( double t );
/* 0 outside (0, 1), 1 at its middle, twice continuously differentiable. */
double Puppet_Bump( double t );

#endif
