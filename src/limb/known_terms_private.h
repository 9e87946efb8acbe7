/* Shared by limb/known_terms*.c only. */
#ifndef LMB_LIMB_KNOWN_TERMS_PRIVATE_H
#define LMB_LIMB_KNOWN_TERMS_PRIVATE_H

#include "limb/known_terms.h"
#include "limb/plant_private.h"

/* The parameter of an arm by its number in the report's order of all lmbKnownTermsMax. */
double *lmbKnownTerms_Parameter( lmbArm *arm, int index );

/* Those numbers of truth that are not 0, but for the one given (-1: none), from the set: regression, after
 * smoothing where accelerations are not measured, and then refined. */
lmbStatus lmbKnownTerms_FitArm( const lmbArm *truth, int inputCount, int given, const lmbTrajectories *set,
                                double noise, const lmbJob *job, lmbPlant **out,
                                lmbKnownTermsReport *report /* Nullable */, lmbError *error );

/* Improves arm's parameters which (count) until motions integrated over windows meet the measured positions,
 * least squares over them and over where the windows start. smooth (set->count): velocities to start from;
 * residual: m, rad RMS. */
lmbStatus lmbKnownTerms_Refine( lmbArm *arm, const int *which, int count, const lmbTrajectories *set,
                                const lmbTrajectory *smooth, const lmbJob *job, double *residual,
                                lmbError *error );

#endif
