/* Stable neo-Hookean elasticity (Smith, de Goes, Kim: "Stable Neo-Hookean Flesh Simulation", ACM TOG
 * 37(2), 2018) for linear tetrahedra. Derivation: docs/derivations/elasticity.md.
 *
 *   Psi(F) = mu/2 (I - 3) - mu/2 ln((I + 1)/4) + lambda/2 (J - alpha)^2 - lambda/2 (1 - alpha)^2,
 *   I = |F|^2, J = det F, alpha = 1 + 3 mu / (4 lambda)
 *
 * Finite for every F, inverted ones too; zero and stress-free at rest. mu and lambda are reparametrised
 * so that small strains obey Hooke's law with the given Young's modulus and Poisson ratio.
 * Everything here is pure and thread-safe. Matrices 3x3 row-major; F[3 i + j] = dx_i / dX_j. */
#ifndef LMB_FLESH_ELASTICITY_H
#define LMB_FLESH_ELASTICITY_H

#include <stdbool.h>

typedef struct lmbElastic
{
	double mu, lambda, alpha; /* Pa, Pa, 1 */
} lmbElastic;

/* young > 0 [Pa], poisson in [0, 0.5). */
lmbElastic lmbElastic_Make( double young, double poisson );

double lmbElastic_Energy( const lmbElastic *elastic, const double *F ); /* J/m^3 */
/* First Piola-Kirchhoff stress P = dPsi/dF, Pa. */
void lmbElastic_Stress( const lmbElastic *elastic, const double *F, double *P );
/* d2Psi/dF2 (9 x 9) symmetric, Pa. */
void lmbElastic_Tangent( const lmbElastic *elastic, const double *F, double *tangent );
/* The tangent's negative eigenvalues and their unit eigenvectors, each a 3x3 matrix like F; returns how many
 * (0 to 9). The tangent less sum values[m] modes[m] modes[m]^T is the nearest positive semidefinite matrix.
 * From the analytic eigensystem in the frame of F's singular vectors. */
int lmbElastic_NegativeModes( const lmbElastic *elastic, const double *F, double values[9],
                              double modes[9][9] );

/* F = U diag(sigma) V^T with rotations U and V; sigma[2] carries the sign of det F and is the smallest in
 * magnitude. One-sided Jacobi: accurate for singular and inverted F too. */
void lmbMat33_Svd( const double *F, double *U, double *sigma, double *V );

/* A tetrahedron at rest. */
typedef struct lmbElement
{
	double gradients[12]; /* (4 x 3) of the corner's hat functions in rest space, 1/m */
	double volume;        /* m^3, full (fill not included) */
} lmbElement;

/* corners (4 x 3) m. False when the volume is not positive. */
bool lmbElement_Make( const double *corners, lmbElement *element );
/* F from the corners' positions (4 x 3). */
void lmbElement_Deformation( const lmbElement *element, const double *positions, double *F );
/* force += -scale dPsi/dx, (4 x 3), with scale = volume x fill. */
void lmbElement_AddForce( const lmbElement *element, double scale, const double *P, double *force );
/* stiffness (12 x 12) = scale d2Psi/dx2; with `project` its element-wise positive semidefinite part. */
void lmbElement_Stiffness( const lmbElement *element, const lmbElastic *elastic, double scale,
                           const double *positions, bool project, double *stiffness );

#endif
