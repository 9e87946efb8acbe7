#include "flesh/modes.h"

#include "base/random.h"
#include "flesh/solver_private.h"

#include <arpack/arpack.h>
#include <cblas.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Lanczos on (K - shift M)^-1 M. A shift a little below zero keeps the factor positive definite when parts
 * of the tissue can move freely; the slowest modes are still the ones it finds first. */
static const double shift = -1.0;

/* Vectors are over the solver's free nodes in its own order, three entries each. */
typedef struct Problem
{
	lmbArena arena;
	lmbSolverPlan *plan;
	lmbSolver *solver; /* its matrix: K - shift M, its factor that one's */
	size_t size;       /* 3 x free nodes */
	double *mass;      /* (size) */
} Problem;

static void FreeProblem( Problem *problem )
{
	lmbSolver_Free( problem->solver );
	lmbSolverPlan_Free( problem->plan );
	lmbArena_Free( &problem->arena );
}

static lmbStatus CholmodFailure( const Problem *problem, lmbError *error, const char *what )
{
	if ( problem->solver->common.status == CHOLMOD_OUT_OF_MEMORY )
		return lmbError_Memory( error );
	return lmbError_Set( error, lmb_statusNumerical,
	                     "modes: %s failed (CHOLMOD status %d); check the tissue for tetrahedra without "
	                     "volume and for stiffness that is not a number",
	                     what, problem->solver->common.status );
}

/* The solver's own Hessian at rest with an inertia of -shift. */
static lmbStatus MakeProblem( Problem *problem, const lmbTissue *tissue, lmbError *error )
{
	lmbSolverDef def = lmbDefaultSolverDef();
	LMB_TRY( lmbSolverPlan_Make( tissue, lmb_orderingMetis, &problem->plan, error ) );
	LMB_TRY( lmbSolver_Make( problem->plan, &def, &problem->solver, error ) );
	const lmbSolverPlan *plan = problem->plan;
	lmbSolver *solver = problem->solver;
	problem->size = 3 * (size_t)plan->freeCount;
	problem->mass = LMB_NEW( &problem->arena, double, problem->size );
	double *rest = LMB_NEW( &problem->arena, double, 3 * (size_t)plan->nodeCount );
	if ( problem->mass == NULL || rest == NULL )
		return lmbError_Memory( error );
	for ( size_t i = 0; i < (size_t)plan->nodeCount; ++i )
		memcpy( rest + 3 * i, tissue->nodes + 3 * (size_t)plan->outer[i], 3 * sizeof( double ) );
	for ( size_t i = 0; i < problem->size; ++i )
	{
		problem->mass[i] = plan->mass[i / 3];
		if ( !( problem->mass[i] > 0.0 ) )
			return lmbError_Set( error, lmb_statusNumerical, "modes: node %d has no mass",
			                     (int)plan->outer[i / 3] );
	}
	solver->terms.massFactor = -shift;
	solver->terms.dampingFactor = 0.0;
	lmbSolver_AssembleHessian( solver, rest, false );
	if ( !cholmod_factorize( &solver->matrix, solver->factor, &solver->common ) ||
	     solver->common.status != CHOLMOD_OK )
		return CholmodFailure( problem, error, "factoring the stiffness" );
	return lmb_statusOk;
}

static void ApplyMass( const Problem *problem, const double *x, double *out )
{
	for ( size_t i = 0; i < problem->size; ++i )
		out[i] = problem->mass[i] * x[i];
}

/* out = (K - shift M)^-1 right. */
static lmbStatus Solve( Problem *problem, double *right, double *out, lmbError *error )
{
	lmbSolver *solver = problem->solver;
	size_t size = problem->size;
	cholmod_dense b = { size, 1, size, size, right, NULL, CHOLMOD_REAL, CHOLMOD_DOUBLE };
	if ( !cholmod_solve2( CHOLMOD_A, solver->factor, &b, NULL, &solver->solution, NULL, &solver->workY,
	                      &solver->workE, &solver->common ) )
		return CholmodFailure( problem, error, "solving for a mode" );
	memcpy( out, solver->solution->x, size * sizeof( double ) );
	return lmb_statusOk;
}

/* What ARPACK asks for and gives back. */
typedef struct Lanczos
{
	a_int size, wanted, vectors, workCount;
	a_int parameters[11], pointers[14];
	double *residual, *basis, *work, *workBig, *values;
	a_int *select;
} Lanczos;

static lmbStatus MakeLanczos( Problem *problem, int wanted, Lanczos *lanczos, lmbError *error )
{
	lmbArena *arena = &problem->arena;
	memset( lanczos, 0, sizeof( *lanczos ) );
	lanczos->size = (a_int)problem->size;
	lanczos->wanted = wanted;
	lanczos->vectors = 2 * wanted + 10 < lanczos->size ? 2 * wanted + 10 : lanczos->size;
	lanczos->workCount = lanczos->vectors * ( lanczos->vectors + 8 );
	size_t n = (size_t)lanczos->size, m = (size_t)lanczos->vectors;
	lanczos->residual = LMB_NEW( arena, double, n );
	lanczos->basis = LMB_NEW( arena, double, n *m );
	lanczos->work = LMB_NEW( arena, double, 3 * n );
	lanczos->workBig = LMB_NEW( arena, double, lanczos->workCount );
	lanczos->values = LMB_NEW( arena, double, m );
	lanczos->select = LMB_NEW( arena, a_int, m );
	if ( lanczos->residual == NULL || lanczos->basis == NULL || lanczos->work == NULL ||
	     lanczos->workBig == NULL || lanczos->values == NULL || lanczos->select == NULL )
		return lmbError_Memory( error );
	lmbRandom random = lmbRandom_Seed( 1, 0 );
	for ( size_t i = 0; i < n; ++i )
		lanczos->residual[i] = lmbRandom_Normal( &random );
	lanczos->parameters[0] = 1;   /* ARPACK chooses its own restarts */
	lanczos->parameters[2] = 300; /* restarts at most */
	lanczos->parameters[6] = 3;   /* shift and invert */
	return lmb_statusOk;
}

static lmbStatus Iterate( Problem *problem, Lanczos *lanczos, const lmbJob *job, lmbError *error )
{
	size_t n = (size_t)lanczos->size;
	double *scratch = LMB_NEW( &problem->arena, double, n );
	if ( scratch == NULL )
		return lmbError_Memory( error );
	a_int ask = 0, info = 1; /* info 1: start from residual */
	for ( int solves = 0;; )
	{
		dsaupd_c( &ask, "G", lanczos->size, "LM", lanczos->wanted, 0.0, lanczos->residual, lanczos->vectors,
		          lanczos->basis, lanczos->size, lanczos->parameters, lanczos->pointers, lanczos->work,
		          lanczos->workBig, lanczos->workCount, &info );
		if ( ask == 99 )
			break;
		if ( lmbJob_Cancelled( job ) )
			return lmbJob_CancelledStatus( error );
		double *x = lanczos->work + lanczos->pointers[0] - 1, *y = lanczos->work + lanczos->pointers[1] - 1;
		if ( ask == 2 )
		{
			ApplyMass( problem, x, y );
			continue;
		}
		if ( ask == -1 )
			ApplyMass( problem, x, scratch );
		else
			memcpy( scratch, lanczos->work + lanczos->pointers[2] - 1, n * sizeof( double ) );
		LMB_TRY( Solve( problem, scratch, y, error ) );
		/* How many it takes is not known: four a mode is usual, and more are always nearly done. */
		solves += 1;
		lmbJob_Progress( job, "solves", solves, fmax( 4.0 * lanczos->wanted, 1.05 * solves ), "" );
	}
	if ( info != 0 )
		return lmbError_Set( error, lmb_statusNotConverged,
		                     "modes: %d of %d vibration modes converged (ARPACK %d); ask for fewer modes",
		                     (int)lanczos->parameters[4], (int)lanczos->wanted, (int)info );
	a_int wantVectors = 1;
	dseupd_c( wantVectors, "A", lanczos->select, lanczos->values, lanczos->basis, lanczos->size, shift, "G",
	          lanczos->size, "LM", lanczos->wanted, 0.0, lanczos->residual, lanczos->vectors, lanczos->basis,
	          lanczos->size, lanczos->parameters, lanczos->pointers, lanczos->work, lanczos->workBig,
	          lanczos->workCount, &info );
	return info == 0 ? lmb_statusOk
	                 : lmbError_Set( error, lmb_statusNumerical, "modes: ARPACK failed (%d)", (int)info );
}

static double Dot( const double *a, const double *b, size_t n )
{
	return cblas_ddot( (int)n, a, 1, b, 1 );
}

static void Normalize( const Problem *problem, double *shape, double *scratch )
{
	ApplyMass( problem, shape, scratch );
	cblas_dscal( (int)problem->size, 1.0 / sqrt( Dot( shape, scratch, problem->size ) ), shape, 1 );
}

/* Entries equal but for rounding must not decide by it: the first of them does. */
static void FixSign( double *shape, size_t n )
{
	size_t largest = 0;
	for ( size_t i = 1; i < n; ++i )
		if ( fabs( shape[i] ) > ( 1.0 + 1e-6 ) * fabs( shape[largest] ) )
			largest = i;
	if ( shape[largest] < 0.0 )
		cblas_dscal( (int)n, -1.0, shape, 1 );
}

/* |K x - value M x| / |K x|. */
static double Residual( Problem *problem, double *shape, double value, double *scratch )
{
	size_t n = problem->size;
	double one[2] = { 1.0, 0.0 }, zero[2] = { 0.0, 0.0 };
	cholmod_dense x = { n, 1, n, n, shape, NULL, CHOLMOD_REAL, CHOLMOD_DOUBLE };
	cholmod_dense y = { n, 1, n, n, scratch, NULL, CHOLMOD_REAL, CHOLMOD_DOUBLE };
	cholmod_sdmult( &problem->solver->matrix, 0, one, zero, &x, &y, &problem->solver->common );
	double size = 0.0, difference = 0.0;
	for ( size_t i = 0; i < n; ++i )
	{
		double force = scratch[i] + shift * problem->mass[i] * shape[i];
		double off = force - value * problem->mass[i] * shape[i];
		size += force * force;
		difference += off * off;
	}
	return sqrt( difference / size );
}

/* Copies up to count modes from the iteration's ascending ones, past those without stiffness. */
static lmbStatus Collect( Problem *problem, const Lanczos *lanczos, int first, int count, lmbModes *modes,
                          lmbError *error )
{
	size_t n = (size_t)lanczos->size, nodeCount = (size_t)problem->plan->nodeCount;
	modes->count = count;
	modes->nodeCount = (int)nodeCount;
	modes->omegaSquared = LMB_NEW( &modes->arena, double, count );
	modes->residual = LMB_NEW( &modes->arena, double, count );
	modes->shapes = LMB_NEW( &modes->arena, double, 3 * nodeCount * (size_t)count );
	double *scratch = LMB_NEW( &problem->arena, double, n );
	if ( modes->omegaSquared == NULL || modes->residual == NULL || modes->shapes == NULL || scratch == NULL )
		return lmbError_Memory( error );
	for ( int m = 0; m < count; ++m )
	{
		double *shape = lanczos->basis + n * (size_t)( first + m );
		Normalize( problem, shape, scratch );
		modes->omegaSquared[m] = lanczos->values[first + m];
		modes->residual[m] = Residual( problem, shape, modes->omegaSquared[m], scratch );
		if ( !isfinite( modes->omegaSquared[m] ) || !isfinite( modes->residual[m] ) )
			return lmbError_Set( error, lmb_statusNumerical, "modes: mode %d is not finite", m );
		for ( size_t i = 0; i < n / 3; ++i )
			memcpy( modes->shapes + 3 * ( nodeCount * (size_t)m + (size_t)problem->plan->outer[i] ),
			        shape + 3 * i, 3 * sizeof( double ) );
		FixSign( modes->shapes + 3 * nodeCount * (size_t)m, 3 * nodeCount );
	}
	return lmb_statusOk;
}

static lmbStatus FindModes( Problem *problem, int count, const lmbJob *job, lmbModes *modes, lmbError *error )
{
	double lowest = 6.283185307179586 * lmbModes_LowestHertz;
	/* ARPACK finds at most size - 1. */
	int most = (int)problem->size - 1, wanted = count < most ? count : most;
	for ( ;; )
	{
		Lanczos lanczos;
		LMB_TRY( MakeLanczos( problem, wanted, &lanczos, error ) );
		LMB_TRY( Iterate( problem, &lanczos, job, error ) );
		int idle = 0;
		while ( idle < wanted && lanczos.values[idle] < lowest * lowest )
			idle += 1;
		if ( wanted - idle < count && wanted < most )
		{
			wanted = wanted + idle + 3 < most ? wanted + idle + 3 : most;
			continue;
		}
		if ( idle > 0 )
			lmbJob_Note( job,
			             "modes: left out %d motions without stiffness (pieces of tissue that no bone holds, "
			             "or that can turn)",
			             idle );
		int found = wanted - idle < count ? wanted - idle : count;
		return Collect( problem, &lanczos, idle, found, modes, error );
	}
}

lmbStatus lmbModes_Compute( const lmbTissue *tissue, int count, const lmbJob *job, lmbModes **out,
                            lmbError *error )
{
	static pthread_mutex_t arpackMutex = PTHREAD_MUTEX_INITIALIZER;
	*out = NULL;
	if ( count < 1 )
		return lmbError_Set( error, lmb_statusInvalidArgument, "modes: ask for at least one mode" );
	lmbModes *modes = calloc( 1, sizeof( *modes ) );
	if ( modes == NULL )
		return lmbError_Memory( error );
	pthread_mutex_lock( &arpackMutex );
	Problem problem = { 0 };
	lmbStatus status = MakeProblem( &problem, tissue, error );
	if ( status == lmb_statusOk )
		status = FindModes( &problem, count, job, modes, error );
	FreeProblem( &problem );
	pthread_mutex_unlock( &arpackMutex );
	if ( status != lmb_statusOk )
	{
		lmbModes_Free( modes );
		return status;
	}
	*out = modes;
	return lmb_statusOk;
}
