/* Carrying taught equations through time by RK4: what shooting differentiates, and what judges a model here.
 * The runtime has its own integrators (src/runtime); this one works on batches, and backwards. */
#ifndef LMB_LIMB_ROLLOUT_H
#define LMB_LIMB_ROLLOUT_H

#include "limb/equations.h"

/* Room for a batch of motions that go on in step. */
typedef struct lmbRollout
{
	lmbEquationsPass pass;
	int capacity;
	double *stages; /* (4 x 2 x capacity x n) positions and velocities that the four stages look at */
	double *inputs; /* (capacity x m) halfway through the step */
	double *work;   /* (6 x capacity x n) */
} lmbRollout;

lmbStatus lmbRollout_Make( lmbRollout *rollout, const lmbEquations *equations, int capacity, lmbArena *arena,
                           lmbError *error );

/* One RK4 step of dt seconds of count motions, in place. positions, velocities (count x n); begin and end
 * (count x m): the inputs there, straight in between; end NULL: begin is held. */
void lmbRollout_Step( lmbRollout *rollout, const double *parameters, int count, double dt,
                      const double *begin, const double *end, double *positions, double *velocities );

/* The adjoint of that step from the same positions and velocities at its begin: gradients by the state at the
 * end become those at the begin, in place; that by the parameters is ADDED. */
void lmbRollout_StepBackward( lmbRollout *rollout, const double *parameters, int count, double dt,
                              const double *begin, const double *end, const double *positions,
                              const double *velocities, double *positionGradient, double *velocityGradient,
                              double *gradient );

#endif
