/* Anything that goes on from a limb's state under inputs: a model in the runtime, or equations under RK4. */
#ifndef LMB_EVALUATE_LIMB_PLAYER_H
#define LMB_EVALUATE_LIMB_PLAYER_H

#include "evaluate/limb_metrics.h"
#include "limb/load.h"

/* Equations of motion: q'' (dofCount) for state and input; false when it is not finite. */
typedef bool lmbAccelerationOf( void *context, const double *q, const double *v, const double *u, double *a );

/* One of them. Belongs to one thread at a time. */
typedef struct lmbLimbPlayer
{
	int dofCount, inputCount;
	lmbLimbBody *body; /* NULL: equations */
	lmbAccelerationOf *equations;
	void *context;
	double maxStep; /* s, of equations; a longer step is split evenly */
	double positions[lmbLimbMaxDofs], velocities[lmbLimbMaxDofs];
} lmbLimbPlayer;

/* A body in the arena's memory; an error says what does not fit (dofCount, inputCount). */
lmbStatus lmbLimbPlayer_FromModel( const lmbLimb *model, const lmbLimbDef *def, int dofCount, int inputCount,
                                   lmbArena *arena, lmbLimbPlayer *out, lmbError *error );
lmbLimbPlayer lmbLimbPlayer_FromEquations( lmbAccelerationOf *equations, void *context, int dofCount,
                                           int inputCount, double maxStep );

/* Starts in the trajectory's first state and gives it the trajectory's inputs; fills rollout, whose arrays
 * are the caller's. Where the trajectory has no velocities it starts from the first difference of positions.
 */
lmbStatus lmbLimbPlayer_Run( lmbLimbPlayer *player, const lmbTrajectory *trajectory, lmbInputHold hold,
                             lmbLimbRollout *rollout, lmbError *error );

/* The start (2 dofCount: positions, velocities) from which the roll-out is nearest to the trajectory's
 * positions over the first duration, s: least squares, begun at the recorded first state, which stays where
 * fewer than three samples are so early or where the roll-out does not last. All dofs count alike. */
lmbStatus lmbLimbPlayer_FitStart( lmbLimbPlayer *player, const lmbTrajectory *trajectory, lmbInputHold hold,
                                  double duration, double *start, lmbError *error );

/* The model's own score in a state of a true motion, and the size of its acceleration's error there, dofs
 * together. False where there is none: no score, no instant acceleration, nothing true to compare with. */
bool lmbLimbPlayer_Doubt( lmbLimbPlayer *player, const lmbTrajectory *trajectory, int sample, double *score,
                          double *error );

#endif
