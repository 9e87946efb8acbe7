/* Zero-restlength springs stepped exactly. A spring of unit mass, u its displacement from its moving
 * target: u'' + c u' + k u = -a, a the target's acceleration.
 *
 * Over a step of t seconds, with a linear from a0 to a1 (a target that is a cubic), the step is the
 * linear map (u, u') <- Phi (u, u') - Gamma (a0, a1), found once per (k, c, t) in double. A target that
 * is piecewise linear has a = 0 inside the step and a jump of velocity J at its start: u' -= J, then
 * (u, u') <- Phi (u, u'). Derivation: docs/derivations/spring.md. */
#ifndef LMB_RUNTIME_SPRINGS_H
#define LMB_RUNTIME_SPRINGS_H

#include <stddef.h>

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
 * Values above k 1e16, c 1e10, t 1e6 count as these. Agrees with a matrix exponential in extended
 * precision to 1e-12 for k 1e-2 .. 1e8, c 0 .. 1e5, t 1e-6 .. 1e3, critical damping included; the
 * measure of error is in tests/runtime/test_springs.c. About 0.2 us a map. */
void lmbSpringMap_Make( double stiffness, double damping, double time, lmbSpringMap *map );
/* The map and its derivatives, to the same accuracy. k > 0, c > 0. */
void lmbSpringMap_MakeWithGradient( double stiffness, double damping, double time, lmbSpringMap *map,
                                    lmbSpringMapGradient *gradient );

/* A spring whose stiffness and damping are rho times k and c, rho changing slowly. Its state is
 * U = rho^(1/4) u, V = rho^(-1/4) u': for a slow oscillator the action u'^2 / w + w u^2 is what stays when w
 * changes (Liouville, Green), and it is bounded by the drive whatever rho does, which energy is not.
 * map: of (U, V), for rho = e^logRatio over the whole step. Returns rho^(1/4), which divides a jump. */
double lmbSpringMap_MakeScaled( double stiffness, double damping, double logRatio, double time,
                                lmbSpringMap *map );
double lmbSpringMap_MakeScaledWithGradient( double stiffness, double damping, double logRatio, double time,
                                            lmbSpringMap *map, lmbSpringMapGradient *gradient );

/* Many springs in single precision, plane after plane: coefficients (lmbSpringPlanes x stride), in order
 * phi00 - 1, phi01, phi10, phi11 - 1, gamma00, gamma01, gamma10, gamma11. Less the identity, so that a
 * soft spring at a high rate keeps its stiffness in 24 bits. */
enum
{
	lmbSpringPlanes = 8
};
void lmbSpringMap_Store( const lmbSpringMap *map, float *coefficients, size_t stride, size_t index );

typedef struct lmbSpringStep
{
	int count;                 /* springs */
	int dimension;             /* coordinates that share a spring's map: 3 for vertices, 1 for modes */
	const float *coefficients; /* (lmbSpringPlanes x coefficientStride) */
	size_t coefficientStride;  /* >= count */
	float *u, *v;              /* (dimension x stride) displacement and velocity, changed in place */
	const float *a0, *a1;      /* (dimension x stride); for StepJump a0 is the jump J and a1 is not read */
	size_t stride;             /* >= count, of u, v, a0, a1 */
} lmbSpringStep;

/* One step of every spring. The scalar reference: its order of operations is the result, and vector
 * variants match it bit for bit. No array may overlap another. */
void lmbSprings_Step( const lmbSpringStep *step );
void lmbSprings_StepJump( const lmbSpringStep *step );

#endif
