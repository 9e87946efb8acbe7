/* What the files of the solver share. Nodes are renumbered: free ones first, in elimination order, then
 * held ones; "inner" arrays are in that order. */
#ifndef LMB_FLESH_SOLVER_PRIVATE_H
#define LMB_FLESH_SOLVER_PRIVATE_H

#include "flesh/elasticity.h"
#include "flesh/solver.h"

#include <cholmod.h>

enum
{
	lmbLanes = 8,  /* tetrahedra that are worked on side by side */
	lmbBlocks = 10 /* of a tetrahedron's stiffness: 6 pairs of corners, then 4 corners */
};

/* The corners of block k: row first[k] <= ... the row is the later corner, as in a lower triangle. */
static const int lmbBlockColumn[lmbBlocks] = { 0, 0, 0, 1, 1, 2, 0, 1, 2, 3 };
static const int lmbBlockRow[lmbBlocks] = { 1, 2, 3, 2, 3, 3, 0, 1, 2, 3 };

/* Tetrahedra side by side; corners sorted by inner index, so that pairs fall into the lower triangle.
 * Places past count repeat the first tetrahedron with scale 0. */
typedef struct lmbBatch
{
	int count;
	int32_t corners[4][lmbLanes];       /* inner nodes */
	int32_t slots[lmbBlocks][lmbLanes]; /* first value of the block in the matrix, or -1 */
	double gradients[9][lmbLanes];      /* of the hats of corners 1 to 3 (corner, axis), 1/m */
	double scale[lmbLanes];             /* fill x volume, m^3 */
	double mu[lmbLanes], lambda[lmbLanes], alpha[lmbLanes];
} lmbBatch;

struct lmbSolverPlan
{
	lmbArena arena;
	const lmbTissue *tissue;
	int nodeCount, freeCount, batchCount;
	int32_t *inner;    /* (nodeCount) node -> inner */
	int32_t *outer;    /* (nodeCount) inner -> node */
	double *mass;      /* (nodeCount) inner, kg */
	lmbBatch *batches; /* (batchCount) */
	/* The lower triangle by block columns: blocks columnStart[j] .. columnStart[j + 1] of free node j,
	 * the diagonal one first. Value (r, c) of block k is values[9 columnStart[j] + c stride + 3 (k -
	 * columnStart[j]) + r], stride = 3 (columnStart[j + 1] - columnStart[j]): CHOLMOD's compressed columns,
	 * with the diagonal blocks stored whole (CHOLMOD passes over what lies above the diagonal). */
	int32_t *columnStart; /* (freeCount + 1) */
	int32_t *blockRow;    /* (columnStart[freeCount]) inner nodes */
	int *sparseStart;     /* (3 freeCount + 1) CHOLMOD's */
	int *sparseRow;       /* (9 columnStart[freeCount]) CHOLMOD's */
	cholmod_common common;
	cholmod_factor *symbolic;
	double centre[3]; /* mean of the nodes at rest: the point of bone 0 that positions are relative to */
	lmbSolverPlanInfo info;
};

/* The energy of one solve; see solver.h. Arrays (nodeCount x 3) inner. */
typedef struct lmbEnergyTerms
{
	double massFactor;     /* s, 1/s^2 */
	double dampingFactor;  /* r, 1/s; 0: no damping term */
	double *massTarget;    /* y */
	double *dampingTarget; /* z, held nodes included */
	double *load;          /* b, N */
} lmbEnergyTerms;

struct lmbSolver
{
	lmbArena arena;
	const lmbSolverPlan *plan;
	lmbSolverDef def;
	cholmod_common common;
	cholmod_factor *factor;
	bool hasFactor; /* it holds a matrix that this solver has met: good enough to precondition with */
	double *factorRotations;                   /* (nodeCount x 9) outer: skinning's when it was made */
	float *single, *singleVector, *singleRows; /* the factor in single precision, and work space */
	int lastLinear;                            /* conjugate gradients of the last solve with it */
	cholmod_sparse matrix; /* header over the pattern of the plan and the values of this solver */
	cholmod_dense *solution, *workY, *workE;
	double *values;        /* (9 blocks) Hessian */
	double *dampingValues; /* (9 blocks) C */
	double *dampingF;      /* (batchCount x 9 x lanes) deformation gradients that C is taken at */
	lmbEnergyTerms terms;
	double *gradient, *direction, *trial, *trialGradient, *difference; /* (nodeCount x 3) inner */
	double *conjugate, *product, *preconditioned;                      /* (nodeCount x 3) inner */
	double *start;                                                     /* (nodeCount x 3) inner */
	double *skinned, *rotations;   /* (nodeCount x 3), (nodeCount x 9) outer */
	double *quaternions, *shifted; /* (boneCount x 4), (boneCount x 12) */
	/* dynamics, inner, relative to `reference` */
	double reference[3];
	double *position, *velocity, *previousPosition, *previousVelocity, *acceleration, *elasticForce;
	double lastStep; /* s; 0 before the first step */
	lmbSolveReport totals;
};

/* solver_assembly.c. All on inner arrays; gradient (nodeCount x 3) is overwritten. */
double lmbSolver_Evaluate( lmbSolver *solver, const double *x, double *gradient );
/* Elastic energy and force alone. force (nodeCount x 3) is overwritten. */
double lmbSolver_Elastic( const lmbSolver *solver, const double *x, double *force );
void lmbSolver_AssembleHessian( lmbSolver *solver, const double *x, bool project );
/* Takes the damping matrix at deformed positions x. */
void lmbSolver_AssembleDamping( lmbSolver *solver, const double *x );
double lmbSolver_SmallestVolumeRatio( const lmbSolver *solver, const double *x );

/* solver_linear.c */
lmbStatus lmbSolver_MakeLinear( lmbSolver *solver, lmbError *error );
void lmbSolver_FreeLinear( lmbSolver *solver );
/* The Newton direction at x: direction = -H^-1 gradient (free nodes; held ones 0). lmb_statusNotConverged
 * when no factor can be had. */
lmbStatus lmbSolver_Direction( lmbSolver *solver, const double *x, lmbSolveReport *report, lmbError *error );

/* solver_triangular.c: keeps the factor as it is now in single precision; solves with what was kept, in
 * place. */
lmbStatus lmbSolver_KeepFactor( lmbSolver *solver, lmbError *error );
void lmbSolver_ApplyKept( lmbSolver *solver, double *x );

/* solver.c: Newton from x (inner, held nodes in place) on the solver's terms. x ends at the best found. */
lmbStatus lmbSolver_Minimize( lmbSolver *solver, double *x, const lmbJob *job, lmbSolveReport *report,
                              lmbError *error );
/* Skinned positions relative to reference, into solver->skinned; the rotations too. */
void lmbSolver_Skin( lmbSolver *solver, const double *bones, const double *reference );
void lmbSolver_Reference( const lmbSolver *solver, const double *bones, double *reference );

#endif
