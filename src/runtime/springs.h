/* Zero-restlength springs stepped exactly. A spring of unit mass, u its displacement from its moving
 * target: u'' + c u' + k u = -a, a the target's acceleration.
 *
 * Over a step of t seconds, with a linear from a0 to a1 (a target that is a cubic), the step is the
 * linear map (u, u') <- Phi (u, u') - Gamma (a0, a1), found once per (k, c, t) in double. A target that
 * is piecewise linear has a = 0 inside the step and a jump of velocity J at its start: u' -= J, then
 * (u, u') <- Phi (u, u'). Derivation: docs/derivations/spring.md. */
#ifndef LMB_RUNTIME_SPRINGS_H
#define LMB_RUNTIME_SPRINGS_H

/* The exact map of one spring over one step. */
typedef struct lmbSpringMap
{
	double phi[4];   /* (2 x 2) row-major: u from u, u from u', u' from u, u' from u' */
	double gamma[4]; /* (2 x 2): u and u' lose gamma (a0, a1)^T */
} lmbSpringMap;

/* Derivatives of a map by log k and log c. */
typedef struct lmbSpringMapGradient
{
	lmbSpringMap byLogStiffness, byLogDamping;
} lmbSpringMapGradient;

/* k >= 0 [1/s^2], c >= 0 [1/s], t >= 0 [s]; all finite. k = 0 and c = 0 are fine; t = 0 gives identity.
 * Agrees with an extended-precision matrix exponential to 1e-12 (tests/runtime/test_springs.c). */
void lmbSpringMap_Make( double stiffness, double damping, double time, lmbSpringMap *map );
/* The map and its derivatives. k > 0, c > 0. */
void lmbSpringMap_MakeWithGradient( double stiffness, double damping, double time, lmbSpringMap *map,
                                    lmbSpringMapGradient *gradient );

#endif
