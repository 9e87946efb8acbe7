/* Minimising a smooth function of one flat parameter vector: Adam for the noisy way down, L-BFGS
 * (liblbfgs) for the polish. */
#ifndef LMB_LEARN_OPTIMIZE_H
#define LMB_LEARN_OPTIMIZE_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>

/* Adam (Kingma and Ba 2015, algorithm 1). */
typedef struct lmbAdam
{
	size_t count;
	double beta1, beta2, epsilon; /* 0.9, 0.999, 1e-8 */
	double *first, *second;       /* (count) running moments of the gradient */
	long step;
} lmbAdam;

lmbStatus lmbAdam_Make( lmbAdam *adam, size_t count, lmbArena *arena, lmbError *error );
/* parameters -= rate m / (sqrt v + epsilon), bias-corrected. gradient (count). */
void lmbAdam_Step( lmbAdam *adam, double rate, const double *gradient, double *parameters );

/* Value at parameters, and its gradient (count), which it must overwrite. */
typedef double lmbObjective( void *context, const double *parameters, double *gradient );
/* Told after every iteration; false stops there. */
typedef bool lmbObserver( void *context, int iteration, const double *parameters, double value );

typedef struct lmbLbfgsDef
{
	int memory;            /* pairs kept, in [3, 100] */
	int iterations;        /* at most; 0: none */
	double tolerance;      /* stops when |gradient| <= tolerance max(1, |parameters|) */
	lmbObserver *observer; /* Nullable */
} lmbLbfgsDef;

lmbLbfgsDef lmbDefaultLbfgsDef( void ); /* 20, 200, 1e-10, NULL */

typedef struct lmbLbfgsReport
{
	int iterations, evaluations;
	double value;
	bool converged; /* by the gradient; else out of iterations, stopped, or down to rounding */
} lmbLbfgsReport;

/* parameters (count) are the start and become the best point found. A line search that can go no further
 * (rounding) is an ordinary end; a value or gradient that is not finite at the start is
 * lmb_statusNumerical. count in [1, 2^30]. report may be NULL. */
lmbStatus lmbLbfgs_Minimize( size_t count, double *parameters, lmbObjective *objective, void *context,
                             const lmbLbfgsDef *def, lmbLbfgsReport *report, lmbError *error );

#endif
