/* The linear systems of Newton's method. */
#include "flesh/solver_private.h"

#include "base/blas.h"
#include "base/math3.h"

/* CHOLMOD may be built with OpenMP and then asks for four threads in each of its loops, whatever the
 * machine; threads are for samples here. A limit of 0 nested levels makes its regions serial. */
extern void omp_set_max_active_levels( int levels ) __attribute__( ( weak ) );

static void KeepToOneThread( void )
{
	lmbBlas_Prepare();
	if ( omp_set_max_active_levels != NULL )
		omp_set_max_active_levels( 0 );
}

static lmbStatus LinearError( lmbSolver *solver, lmbError *error )
{
	if ( solver->common.status == CHOLMOD_OUT_OF_MEMORY )
		return lmbError_Memory( error );
	return lmbError_Set( error, lmb_statusNumerical, "the Cholesky factorisation failed (CHOLMOD status %d)",
	                     solver->common.status );
}

lmbStatus lmbSolver_MakeLinear( lmbSolver *solver, lmbError *error )
{
	const lmbSolverPlan *plan = solver->plan;
	size_t n = 3 * (size_t)plan->freeCount;
	cholmod_start( &solver->common );
	solver->common.print = 0;
	solver->common.quick_return_if_not_posdef = true;
	solver->common.supernodal = CHOLMOD_SUPERNODAL;
	KeepToOneThread();
	/* Copying reads the plan only; its own workspace is not touched. */
	solver->factor = cholmod_copy_factor( plan->symbolic, &solver->common );
	if ( solver->factor == NULL )
		return LinearError( solver, error );
	solver->matrix = ( cholmod_sparse ){ .nrow = n,
	                                     .ncol = n,
	                                     .nzmax = (size_t)plan->sparseStart[n],
	                                     .p = plan->sparseStart,
	                                     .i = plan->sparseRow,
	                                     .x = solver->values,
	                                     .stype = -1,
	                                     .itype = CHOLMOD_INT,
	                                     .xtype = CHOLMOD_REAL,
	                                     .dtype = CHOLMOD_DOUBLE,
	                                     .sorted = true,
	                                     .packed = true };
	return lmb_statusOk;
}

void lmbSolver_FreeLinear( lmbSolver *solver )
{
	cholmod_free_dense( &solver->solution, &solver->common );
	cholmod_free_dense( &solver->workY, &solver->common );
	cholmod_free_dense( &solver->workE, &solver->common );
	cholmod_free_factor( &solver->factor, &solver->common );
	cholmod_finish( &solver->common );
}

/* Factors the Hessian at x; *definite says whether it is positive definite. */
static lmbStatus Factor( lmbSolver *solver, const double *x, bool project, bool *definite,
                         lmbSolveReport *report, lmbError *error )
{
	double start = lmbClock_Seconds();
	lmbSolver_AssembleHessian( solver, x, project );
	double assembled = lmbClock_Seconds();
	KeepToOneThread();
	int done = cholmod_factorize( &solver->matrix, solver->factor, &solver->common );
	report->assemblySeconds += assembled - start;
	report->factorSeconds += lmbClock_Seconds() - assembled;
	report->factorizations += 1;
	if ( !done && solver->common.status != CHOLMOD_NOT_POSDEF )
		return LinearError( solver, error );
	*definite = solver->common.status != CHOLMOD_NOT_POSDEF;
	return lmb_statusOk;
}

static lmbStatus ApplyFactor( lmbSolver *solver, const double *right, double *out, lmbSolveReport *report,
                              lmbError *error )
{
	double start = lmbClock_Seconds();
	size_t n = 3 * (size_t)solver->plan->freeCount;
	cholmod_dense side = { .nrow = n,
	                       .ncol = 1,
	                       .nzmax = n,
	                       .d = n,
	                       .x = (void *)right,
	                       .xtype = CHOLMOD_REAL,
	                       .dtype = CHOLMOD_DOUBLE };
	if ( !cholmod_solve2( CHOLMOD_A, solver->factor, &side, NULL, &solver->solution, NULL, &solver->workY,
	                      &solver->workE, &solver->common ) )
		return LinearError( solver, error );
	memcpy( out, solver->solution->x, n * sizeof( *out ) );
	report->solveSeconds += lmbClock_Seconds() - start;
	return lmb_statusOk;
}

lmbStatus lmbSolver_Direction( lmbSolver *solver, const double *x, lmbSolveReport *report, lmbError *error )
{
	bool definite = false;
	LMB_TRY( Factor( solver, x, false, &definite, report, error ) );
	if ( !definite )
	{
		LMB_TRY( Factor( solver, x, true, &definite, report, error ) );
		report->projections += 1;
	}
	if ( !definite )
		return lmbError_Set( error, lmb_statusNumerical,
		                     "the projected Hessian is not positive definite: the lattice has a part that no "
		                     "bone holds, or its stiffness spans too many orders of magnitude" );
	LMB_TRY( ApplyFactor( solver, solver->gradient, solver->direction, report, error ) );
	for ( size_t e = 0; e < 3 * (size_t)solver->plan->freeCount; ++e )
		solver->direction[e] = -solver->direction[e];
	return lmb_statusOk;
}
