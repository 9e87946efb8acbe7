/* Finds where a tissue's nodes are: at rest in a pose, or one time step on. Newton's method on an energy,
 * sparse Cholesky by CHOLMOD. Derivation: docs/derivations/elasticity.md.
 *
 * A plan belongs to a tissue and never changes: the fill-reducing order of the free nodes, the pattern of
 * the Hessian, where each tetrahedron adds to it, one symbolic analysis. Threads share it; each has a
 * solver of its own. Held nodes are prescribed: they follow the skinned pose.
 *
 * The energy that a solve minimises over the free nodes' positions x is
 *   Phi(x) = W(x) + s/2 |x - y|_M^2 + r/2 |x - z|_C^2 - b.x
 * with the elastic energy W, the lumped mass M and a damping matrix C; the time rules below only choose s,
 * y, r, z and b. For a still shape s = r = 0 and b is the weight.
 *
 * Damping: Rayleigh's, alpha M + beta K, with the stiffness part taken as a viscosity on the rate of the
 * Green strain, C = sum_t V_t B_t^T H B_t, H being Hooke's law and B_t the strain's derivative at a
 * predicted state x_n + theta dt v_n (theta 1/2 for the trapezoidal rule, else 1). So C is symmetric and
 * positive semidefinite, equals K at rest, does not resist any rigid motion, and is fixed within a step.
 *
 * Linear systems: consecutive frames and steps change the Hessian little, so the last factor of an
 * unprojected Hessian, turned along with the nodes, preconditions conjugate gradients (single precision,
 * at most 10 steps); when that is slow the new Hessian is factored. lmbSolver_Sync drops the old factor: from
 * there on nothing that was solved before shows in the results.
 *
 * Convergence: |gradient of Phi| <= tolerance x force scale. The force scale is the 2-norm over the free
 * nodes of sum_t E_t fill_t V_t |grad N|: the force that a stress of Young's modulus would put on a node
 * if the stresses of its tetrahedra did not balance. So tolerance 1e-6 leaves about 1e-6 E of unbalanced
 * stress.
 *
 * Positions are kept relative to a reference point that travels with bone 0; a body far from the origin
 * is solved like one at it. */
#ifndef LMB_FLESH_SOLVER_H
#define LMB_FLESH_SOLVER_H

#include "flesh/simulate.h"
#include "flesh/tissue.h"

typedef enum lmbOrdering
{
	lmb_orderingBest,  /* of the two below, the one whose factorisation takes fewer operations */
	lmb_orderingMetis, /* nested dissection */
	lmb_orderingAmd    /* approximate minimum degree */
} lmbOrdering;

typedef struct lmbSolverPlan lmbSolverPlan;

typedef struct lmbSolverPlanInfo
{
	int freeCount;           /* nodes that are solved for */
	double forceScale;       /* N */
	double matrixNonzeros;   /* of the lower triangle */
	double factorNonzeros;   /* of the Cholesky factor */
	double factorOperations; /* floating-point operations of one factorisation */
} lmbSolverPlanInfo;

/* The tissue must outlive the plan. A tissue without free nodes is an error. */
lmbStatus lmbSolverPlan_Make( const lmbTissue *tissue, lmbOrdering ordering, lmbSolverPlan **out,
                              lmbError *error );
void lmbSolverPlan_Free( lmbSolverPlan *plan ); /* NULL is fine; free solvers first */
lmbSolverPlanInfo lmbSolverPlan_Info( const lmbSolverPlan *plan );

typedef struct lmbSolverDef
{
	double tolerance;        /* relative to the force scale, in [1e-14, 1] */
	int iterationLimit;      /* Newton iterations, in [1, 10000] */
	double gravity[3];       /* m/s^2 */
	double dampingMass;      /* 1/s, Rayleigh alpha, >= 0 */
	double dampingStiffness; /* s, Rayleigh beta, >= 0 */
	lmbTimeStepping stepping;
} lmbSolverDef;

/* tolerance 1e-6, 60 iterations, no gravity, alpha 0, beta 0.004, trapezoidal. */
lmbSolverDef lmbDefaultSolverDef( void );

/* One solver is one thread's. OpenBLAS is set to one thread (process-wide): parallelise over samples. */
typedef struct lmbSolver lmbSolver;
lmbStatus lmbSolver_Make( const lmbSolverPlan *plan, const lmbSolverDef *def, lmbSolver **out,
                          lmbError *error );
void lmbSolver_Free( lmbSolver *solver ); /* NULL is fine */

/* What a solve took. Counters add up over the life of a solver in lmbSolver_Totals. */
typedef struct lmbSolveReport
{
	bool converged;
	int iterations;             /* Newton steps */
	int factorizations;         /* of the Hessian, failed attempts too */
	int projections;            /* iterations whose Hessian had to be projected */
	int linearIterations;       /* of conjugate gradients */
	int evaluations;            /* of energy and gradient */
	double residual;            /* |gradient| / force scale at the end */
	double smallestVolumeRatio; /* min over tetrahedra of det F at the end; negative: inverted */
	double assemblySeconds, factorSeconds, solveSeconds, totalSeconds;
} lmbSolveReport;

lmbSolveReport lmbSolver_Totals( const lmbSolver *solver );

/* The still shape in a pose. bones (boneCount x 12). displacement (nodeCount x 3): on entry the start in
 * bind axes, shape = LBS + R d (skinning.h), zeros for the skinned pose; on return the result in the same
 * form. nodes (nodeCount x 3) scene space, Nullable. cancelled is asked before every iteration.
 * Not converging is no error: the report says so and the best shape found is returned. */
lmbStatus lmbSolver_Still( lmbSolver *solver, const double *bones, double *displacement, double *nodes,
                           const lmbJob *job, lmbSolveReport *report, lmbError *error );

/* Dynamics. Begin sets the state: at rest in this pose with these nodes (scene space). */
void lmbSolver_Begin( lmbSolver *solver, const double *bones, const double *nodes );
/* One step of dt > 0 seconds to a pose. nodes (nodeCount x 3) scene space, Nullable. BDF2 takes its first
 * step, and one after a change of dt, by backward Euler. */
lmbStatus lmbSolver_Step( lmbSolver *solver, const double *bones, double dt, double *nodes, const lmbJob *job,
                          lmbSolveReport *report, lmbError *error );

/* Mechanical energy of the present state, J: kinetic of the free nodes, elastic, and of weight relative to
 * the scene's origin. Nullable outputs. */
void lmbSolver_Energy( lmbSolver *solver, double *kinetic, double *elastic, double *potential );

/* The state of the dynamics as numbers, for checkpoints: save into, or restore from, `count` doubles.
 * Restoring gives the same bits from there on, provided that Sync was called where it was saved. */
size_t lmbSolverPlan_StateSize( const lmbSolverPlan *plan ); /* doubles */
size_t lmbSolver_StateSize( const lmbSolver *solver );
void lmbSolver_SaveState( const lmbSolver *solver, double *state );
void lmbSolver_RestoreState( lmbSolver *solver, const double *state );
/* Forgets what earlier solves left for speed only (a stale factor). */
void lmbSolver_Sync( lmbSolver *solver );

#endif
