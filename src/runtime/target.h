/* How a target moves between frames, from what is known of it so far: the past frames' places become the
 * acceleration (or the jump of velocity) that drives the springs over the step from frame n - 1 to n. One
 * operator for the runtime, the fits and the reference; it is linear in the places, so it may be applied
 * to vertices, to bones' matrices, or to a network's coefficients alike.
 *
 * Cubic: the Hermite cubic through y(n-1) and y(n) whose end velocities are those of the parabola through
 * the frame and the two before it,
 *   v(n) = d(n) + (d(n) - d(n-1)) dt(n) / (dt(n) + dt(n-1)),   d(n) = (y(n) - y(n-1)) / dt(n).
 * It is C1, exact for parabolas at any spacing, and whatever the spacing v stays between d(n) and
 * 2 d(n) - d(n-1), so a hitch cannot blow it up. A parabola rather than a cubic through four frames:
 * docs/derivations/spring.md has the measurement.
 * Linear: straight lines from frame to frame; the velocity jumps by d(n) - d(n-1) at the step's start. */
#ifndef LMB_RUNTIME_TARGET_H
#define LMB_RUNTIME_TARGET_H

#include <limber/flesh.h>

enum
{
	lmbTargetFrames = 4 /* frames that a step can depend on: n, n - 1, n - 2, n - 3 */
};

/* Applied to (y(n), y(n-1), y(n-2), y(n-3)). Each row sums to 0 up to rounding: take places from a nearby
 * origin where they are large, the same one for all four. */
typedef struct lmbTargetWeights
{
	double start[lmbTargetFrames]; /* acceleration at the step's start; linear: the jump of velocity */
	double end[lmbTargetFrames];   /* acceleration at the step's end; linear: zeros */
} lmbTargetWeights;

/* steps: (dt(n), dt(n-1), dt(n-2)) seconds, each > 0 where it is used: known - 1 of them. known frames, in
 * [1, lmbTargetFrames] (values outside count as the nearest bound): the target is taken to have stood
 * still before the oldest, and the weights of frames not known are 0. With one frame all are 0. */
void lmbTarget_Weights( lmbTargetInterpolation interpolation, const double *steps, int known,
                        lmbTargetWeights *weights );
/* The same for a target that moved on evenly before the oldest frame, as it did in the first known step: for
 * one that was not watched until then. With two frames all weights are 0. */
void lmbTarget_WeightsGliding( lmbTargetInterpolation interpolation, const double *steps, int known,
                               lmbTargetWeights *weights );

#endif
