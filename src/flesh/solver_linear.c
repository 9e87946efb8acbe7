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

/* Factors the matrix as it is assembled; *definite says whether it is positive definite. */
static lmbStatus Factor( lmbSolver *solver, bool projected, bool *definite, lmbSolveReport *report,
                         lmbError *error )
{
	double start = lmbClock_Seconds();
	KeepToOneThread();
	int done = cholmod_factorize( &solver->matrix, solver->factor, &solver->common );
	report->factorSeconds += lmbClock_Seconds() - start;
	report->factorizations += 1;
	if ( !done && solver->common.status != CHOLMOD_NOT_POSDEF )
		return LinearError( solver, error );
	*definite = solver->common.status != CHOLMOD_NOT_POSDEF;
	solver->hasFactor = *definite && !projected;
	solver->lastLinear = 0;
	if ( !solver->hasFactor )
		return lmb_statusOk;
	memcpy( solver->factorRotations, solver->rotations,
	        9 * (size_t)solver->plan->nodeCount * sizeof( double ) );
	return lmbSolver_KeepFactor( solver, error );
}

static void Assemble( lmbSolver *solver, const double *x, bool project, lmbSolveReport *report )
{
	double start = lmbClock_Seconds();
	lmbSolver_AssembleHessian( solver, x, project );
	report->assemblySeconds += lmbClock_Seconds() - start;
}

static lmbStatus ApplyFactor( lmbSolver *solver, const double *right, double *out, lmbError *error )
{
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
	return lmb_statusOk;
}

/* out = A in, from the lower triangle. */
static void MultiplyMatrix( const lmbSolver *solver, const double *in, double *out )
{
	const lmbSolverPlan *plan = solver->plan;
	memset( out, 0, 3 * (size_t)plan->freeCount * sizeof( *out ) );
	for ( size_t j = 0; j < (size_t)plan->freeCount; ++j )
	{
		size_t first = (size_t)plan->columnStart[j], length = (size_t)plan->columnStart[j + 1] - first;
		const double *a = solver->values + 9 * first, *b = a + 3 * length, *c = b + 3 * length;
		const double *x = in + 3 * j;
		double sums[3] = { 0.0 };
		for ( size_t k = 1; k < length; ++k )
		{
			const double *y = in + 3 * (size_t)plan->blockRow[first + k];
			double *o = out + 3 * (size_t)plan->blockRow[first + k];
			for ( size_t i = 0; i < 3; ++i )
			{
				double p = a[3 * k + i], q = b[3 * k + i], r = c[3 * k + i];
				o[i] += p * x[0] + q * x[1] + r * x[2];
				sums[0] += p * y[i];
				sums[1] += q * y[i];
				sums[2] += r * y[i];
			}
		}
		for ( size_t i = 0; i < 3; ++i )
			out[3 * j + i] += a[i] * x[0] + b[i] * x[1] + c[i] * x[2] + sums[i];
	}
}

/* The old factor, turned along with the nodes since it was made: out = T F^-1 T^T in, T = R R_then^T. */
static void Precondition( lmbSolver *solver, const double *in, double *out )
{
	const lmbSolverPlan *plan = solver->plan;
	double middle[3];
	for ( size_t k = 0; k < (size_t)plan->freeCount; ++k )
	{
		size_t node = 9 * (size_t)plan->outer[k];
		lmbMat33_ApplyTransposed( middle, solver->rotations + node, in + 3 * k );
		lmbMat33_Apply( out + 3 * k, solver->factorRotations + node, middle );
	}
	lmbSolver_ApplyKept( solver, out );
	for ( size_t k = 0; k < (size_t)plan->freeCount; ++k )
	{
		size_t node = 9 * (size_t)plan->outer[k];
		lmbMat33_ApplyTransposed( middle, solver->factorRotations + node, out + 3 * k );
		lmbMat33_Apply( out + 3 * k, solver->rotations + node, middle );
	}
}

static double Dot( const double *a, const double *b, size_t count )
{
	double sum = 0.0;
	for ( size_t e = 0; e < count; ++e )
		sum += a[e] * b[e];
	return sum;
}

enum
{
	linearHalf = 4, /* by then a tenth of the residual must be left, else it is given up */
	linearMax = 10, /* steps of conjugate gradients; some 15 cost as much as a new factor */
	linearTired = 7 /* after a solve this long the factor is made anew */
};

/* Conjugate gradients on A direction = -gradient with the old factor. False when it did not get there in
 * time, or met negative curvature. */
static bool SolveWithOldFactor( lmbSolver *solver, lmbSolveReport *report )
{
	size_t n = 3 * (size_t)solver->plan->freeCount;
	double *x = solver->direction, *r = solver->trialGradient, *z = solver->preconditioned,
	       *p = solver->conjugate, *q = solver->product;
	double scale = solver->def.tolerance * solver->plan->info.forceScale;
	double whole = sqrt( Dot( solver->gradient, solver->gradient, n ) );
	double target = fmax( 0.1 * scale, 1e-3 * whole );
	double last = 0.0;
	memset( x, 0, n * sizeof( *x ) );
	memset( p, 0, n * sizeof( *p ) );
	for ( size_t e = 0; e < n; ++e )
		r[e] = -solver->gradient[e];
	solver->lastLinear = 0;
	while ( solver->lastLinear < linearMax )
	{
		Precondition( solver, r, z );
		double rz = Dot( r, z, n ), keep = last > 0.0 ? rz / last : 0.0;
		for ( size_t e = 0; e < n; ++e )
			p[e] = z[e] + keep * p[e];
		MultiplyMatrix( solver, p, q );
		solver->lastLinear += 1;
		report->linearIterations += 1;
		double curvature = Dot( p, q, n );
		if ( !( curvature > 0.0 && rz > 0.0 ) )
			return false;
		double length = rz / curvature;
		for ( size_t e = 0; e < n; ++e )
		{
			x[e] += length * p[e];
			r[e] -= length * q[e];
		}
		last = rz;
		double left = sqrt( Dot( r, r, n ) );
		if ( left <= target )
			return true;
		if ( solver->lastLinear == linearHalf && left > 0.1 * whole )
			return false;
	}
	return false;
}

/* Adds a share of the diagonal's mean to the diagonal. */
static void AddToDiagonal( lmbSolver *solver, double share )
{
	const lmbSolverPlan *plan = solver->plan;
	size_t n = 3 * (size_t)plan->freeCount;
	double mean = 0.0;
	for ( int pass = 0; pass < 2; ++pass )
		for ( size_t e = 0; e < n; ++e )
		{
			/* Blocks of the diagonal come first in their columns, whole. */
			double *entry = solver->values + plan->sparseStart[e] + e % 3;
			if ( pass == 0 )
				mean += fabs( *entry ) / (double)n;
			else
				*entry += share * mean;
		}
}

lmbStatus lmbSolver_Direction( lmbSolver *solver, const double *x, lmbSolveReport *report, lmbError *error )
{
	bool solved = false, definite = false;
	Assemble( solver, x, false, report );
	double start = lmbClock_Seconds();
	if ( solver->hasFactor && solver->lastLinear <= linearTired )
		solved = SolveWithOldFactor( solver, report );
	report->solveSeconds += lmbClock_Seconds() - start;
	if ( solved )
		return lmb_statusOk;
	LMB_TRY( Factor( solver, false, &definite, report, error ) );
	if ( !definite )
	{
		Assemble( solver, x, true, report );
		LMB_TRY( Factor( solver, true, &definite, report, error ) );
		report->projections += 1;
	}
	/* Semidefinite is not definite: tetrahedra that are flat, or a part that no bone holds. */
	for ( double shift = 1e-9; !definite && shift < 1.0; shift *= 100.0 )
	{
		AddToDiagonal( solver, shift );
		LMB_TRY( Factor( solver, true, &definite, report, error ) );
	}
	if ( !definite )
		return lmbError_Set( error, lmb_statusNotConverged, "the Hessian cannot be made positive definite" );
	start = lmbClock_Seconds();
	LMB_TRY( ApplyFactor( solver, solver->gradient, solver->direction, error ) );
	report->solveSeconds += lmbClock_Seconds() - start;
	for ( size_t e = 0; e < 3 * (size_t)solver->plan->freeCount; ++e )
		solver->direction[e] = -solver->direction[e];
	return lmb_statusOk;
}
