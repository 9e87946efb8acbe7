/* The row of reference of a report: somebody who knows the arm's equations, all but their numbers, and finds
 * those by linear regression. A learned model cannot be asked to do much better on the same data. */
#ifndef LMB_LIMB_KNOWN_TERMS_H
#define LMB_LIMB_KNOWN_TERMS_H

#include "base/job.h"
#include "limb/plant.h"

enum
{
	lmbKnownTermsMax = 13
};

/* What was found. */
typedef struct lmbKnownTermsReport
{
	int count; /* of parameters that the arm has */
	const char *names[lmbKnownTermsMax];
	double values[lmbKnownTermsMax], truth[lmbKnownTermsMax]; /* SI; what the arm itself has */
	double residual;         /* N m, RMS of the torque balance, of the regression */
	double positionResidual; /* rad, RMS over windows, where accelerations are not measured; else 0 */
	double samples;
} lmbKnownTermsReport;

/* Least squares (LAPACK, QR) of the torque balance over all samples, for the inertial parameters (three
 * combinations of the segments'), viscosities, dry frictions (their tanh's speed is known), stiffness and
 * damping of the limits (their angles are known) and weights, as many of them as the arm has. Muscles are
 * known, with their passive forces; without them inputs are the joints' torques. *out is an arm with the
 * parameters found: everything in plant.h works on it, lmbPlant_Acceleration for roll-outs and lmbPlant_Copy
 * for threads.
 *
 * Where trajectories lack velocities or accelerations, all of them are smoothed and differentiated as the
 * quick start of training does, for measured positions with that much noise (rad, 0: exact), and the
 * regression's result is where least squares over the positions start: integrated windows of a second, their
 * starts unknown. Errors: lmb_statusInvalidArgument when the set does not fit the arm; lmb_statusNumerical
 * when the motions do not tell the parameters apart; lmb_statusCancelled. */
lmbStatus lmbKnownTerms_Fit( const lmbArmDef *arm, const lmbTrajectories *set, double noise,
                             const lmbJob *job, lmbPlant **out, lmbKnownTermsReport *report /* Nullable */,
                             lmbError *error );

/* The same for recordings of two hinges whose segments nobody knows: rigid segments in a plane, gravity in
 * any direction of it, viscous and dry friction at the hinges. *out takes relative angles and joint torques,
 * whatever the set has; lmbKnownTerms_Absolute translates. A set without inputs tells inertia's ratios alone:
 * the inertia at the first hinge counts as 1 and the other ten numbers are found; with two inputs, the
 * generalised torques of the angles, eleven. report->truth is 0. */
lmbStatus lmbKnownTerms_FitSegments( const lmbTrajectories *set, bool absoluteAngles, double noise,
                                     const lmbJob *job, lmbPlant **out,
                                     lmbKnownTermsReport *report /* Nullable */, lmbError *error );

/* The acceleration of absolute angles (2) from such a plant; u (2), generalised torques of these angles. */
bool lmbKnownTerms_Absolute( lmbPlant *segments, const double *q, const double *v, const double *u,
                             double *acceleration );

#endif
