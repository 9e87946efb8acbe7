#include "flesh/modes.h"

#include "base/random.h"
#include "flesh/elasticity.h"

#include <arpack/arpack.h>
#include <cblas.h>
#include <cholmod.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Lanczos on (K - shift M)^-1 M. A shift a little below zero keeps the factor positive definite when parts
 * of the tissue can move freely; the slowest modes are still the ones it finds first. */
static const double shift = -1.0;

typedef struct Problem
{
	lmbArena arena;
	const lmbTissue *tissue;
	int freeCount;     /* nodes that move and that some bone holds, directly or not */
	int32_t *freeNode; /* (nodeCount) index among them, or -1 */
	double *mass;      /* (3 freeCount) */
	cholmod_common common;
	cholmod_sparse *stiffness; /* upper triangle */
	cholmod_factor *factor;    /* of K - shift M */
	cholmod_dense *solution, *workY, *workE;
} Problem;

static void FreeProblem( Problem *problem )
{
	cholmod_common *common = &problem->common;
	cholmod_free_dense( &problem->solution, common );
	cholmod_free_dense( &problem->workY, common );
	cholmod_free_dense( &problem->workE, common );
	cholmod_free_factor( &problem->factor, common );
	cholmod_free_sparse( &problem->stiffness, common );
	cholmod_finish( common );
	lmbArena_Free( &problem->arena );
}

static lmbStatus CholmodFailure( const Problem *problem, lmbError *error, const char *what )
{
	if ( problem->common.status == CHOLMOD_OUT_OF_MEMORY )
		return lmbError_Memory( error );
	return lmbError_Set( error, lmb_statusNumerical,
	                     "modes: %s failed (CHOLMOD status %d); check the tissue for tetrahedra without "
	                     "volume and for stiffness that is not a number",
	                     what, problem->common.status );
}

static int32_t Root( int32_t *parent, int32_t node )
{
	while ( parent[node] != node )
	{
		parent[node] = parent[parent[node]];
		node = parent[node];
	}
	return node;
}

/* Numbers the free nodes of pieces that a bone holds; pieces are nodes joined by tetrahedra. */
static lmbStatus NumberNodes( Problem *problem, const lmbJob *job, lmbError *error )
{
	const lmbTissue *tissue = problem->tissue;
	size_t nodeCount = (size_t)tissue->nodeCount;
	int32_t *parent = LMB_NEW( &problem->arena, int32_t, nodeCount );
	uint8_t *anchored = LMB_NEW( &problem->arena, uint8_t, nodeCount );
	problem->freeNode = LMB_NEW( &problem->arena, int32_t, nodeCount );
	if ( parent == NULL || anchored == NULL || problem->freeNode == NULL )
		return lmbError_Memory( error );
	for ( size_t i = 0; i < nodeCount; ++i )
		parent[i] = (int32_t)i;
	for ( size_t t = 0; t < (size_t)tissue->tetCount; ++t )
		for ( int i = 1; i < 4; ++i )
			parent[Root( parent, tissue->tets[4 * t + i] )] = Root( parent, tissue->tets[4 * t] );
	for ( size_t i = 0; i < nodeCount; ++i )
		if ( tissue->held[i] )
			anchored[Root( parent, (int32_t)i )] = 1;
	int loose = 0;
	for ( size_t i = 0; i < nodeCount; ++i )
	{
		bool moves = !tissue->held[i], anchor = anchored[Root( parent, (int32_t)i )];
		loose += moves && !anchor;
		problem->freeNode[i] = moves && anchor ? problem->freeCount++ : -1;
	}
	if ( loose > 0 )
		lmbJob_Note( job, "modes: %d lattice nodes belong to pieces that no bone holds; they get no springs",
		             loose );
	if ( problem->freeCount == 0 )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "modes: bones hold every node of the tissue; choose smaller bone radii" );
	return lmb_statusOk;
}

static void AddElement( const Problem *problem, size_t t, cholmod_triplet *triplet )
{
	const lmbTissue *tissue = problem->tissue;
	double corners[12], stiffness[144];
	for ( int i = 0; i < 4; ++i )
		memcpy( corners + 3 * i, tissue->nodes + 3 * (size_t)tissue->tets[4 * t + i], 3 * sizeof( double ) );
	lmbElement element;
	if ( !lmbElement_Make( corners, &element ) )
		return;
	lmbElastic elastic = lmbElastic_Make( tissue->young[t], tissue->poisson[t] );
	lmbElement_Stiffness( &element, &elastic, tissue->fill[t] * element.volume, corners, false, stiffness );
	int *rows = triplet->i, *columns = triplet->j;
	double *values = triplet->x;
	for ( int a = 0; a < 12; ++a )
		for ( int b = 0; b < 12; ++b )
		{
			int32_t p = problem->freeNode[tissue->tets[4 * t + a / 3]];
			int32_t q = problem->freeNode[tissue->tets[4 * t + b / 3]];
			int row = 3 * p + a % 3, column = 3 * q + b % 3;
			if ( p < 0 || q < 0 || row > column )
				continue;
			rows[triplet->nnz] = row;
			columns[triplet->nnz] = column;
			values[triplet->nnz++] = stiffness[12 * a + b];
		}
}

static lmbStatus Assemble( Problem *problem, lmbError *error )
{
	const lmbTissue *tissue = problem->tissue;
	cholmod_common *common = &problem->common;
	size_t size = 3 * (size_t)problem->freeCount, entries = 78 * (size_t)tissue->tetCount;
	if ( entries > INT32_MAX )
		return lmbError_Set( error, lmb_statusUnsupported,
		                     "modes: %d tetrahedra are more than this version can take; use a coarser cell",
		                     tissue->tetCount );
	cholmod_triplet *triplet = cholmod_allocate_triplet( size, size, entries, 1, CHOLMOD_REAL, common );
	problem->mass = LMB_NEW( &problem->arena, double, size );
	if ( triplet == NULL || problem->mass == NULL )
	{
		cholmod_free_triplet( &triplet, common );
		return lmbError_Memory( error );
	}
	for ( size_t t = 0; t < (size_t)tissue->tetCount; ++t )
		AddElement( problem, t, triplet );
	problem->stiffness = cholmod_triplet_to_sparse( triplet, 0, common );
	cholmod_free_triplet( &triplet, common );
	if ( problem->stiffness == NULL )
		return CholmodFailure( problem, error, "assembling the stiffness" );
	for ( int i = 0; i < tissue->nodeCount; ++i )
		for ( int axis = 0; problem->freeNode[i] >= 0 && axis < 3; ++axis )
		{
			problem->mass[3 * (size_t)problem->freeNode[i] + axis] = tissue->mass[i];
			if ( !( tissue->mass[i] > 0.0 ) )
				return lmbError_Set( error, lmb_statusNumerical, "modes: node %d has no mass", i );
		}
	return lmb_statusOk;
}

static lmbStatus Factor( Problem *problem, lmbError *error )
{
	cholmod_common *common = &problem->common;
	cholmod_sparse *shifted = cholmod_copy_sparse( problem->stiffness, common );
	if ( shifted == NULL )
		return lmbError_Memory( error );
	const int *start = shifted->p, *rows = shifted->i;
	double *values = shifted->x;
	for ( size_t column = 0; column < shifted->ncol; ++column )
		for ( int k = start[column]; k < start[column + 1]; ++k )
			if ( rows[k] == (int)column )
				values[k] -= shift * problem->mass[column];
	problem->factor = cholmod_analyze( shifted, common );
	bool done = problem->factor != NULL && cholmod_factorize( shifted, problem->factor, common ) &&
	            common->status == CHOLMOD_OK;
	cholmod_free_sparse( &shifted, common );
	return done ? lmb_statusOk : CholmodFailure( problem, error, "factoring the stiffness" );
}

static lmbStatus MakeProblem( Problem *problem, const lmbTissue *tissue, const lmbJob *job, lmbError *error )
{
	memset( problem, 0, sizeof( *problem ) );
	problem->tissue = tissue;
	openblas_set_num_threads( 1 );
	cholmod_start( &problem->common );
	problem->common.print = 0;
	problem->common.supernodal = CHOLMOD_SUPERNODAL;
	LMB_TRY( NumberNodes( problem, job, error ) );
	LMB_TRY( Assemble( problem, error ) );
	return Factor( problem, error );
}

static void ApplyMass( const Problem *problem, const double *x, double *out )
{
	for ( size_t i = 0; i < 3 * (size_t)problem->freeCount; ++i )
		out[i] = problem->mass[i] * x[i];
}

/* out = (K - shift M)^-1 right. */
static lmbStatus Solve( Problem *problem, double *right, double *out, lmbError *error )
{
	size_t size = 3 * (size_t)problem->freeCount;
	cholmod_dense b = { size, 1, size, size, right, NULL, CHOLMOD_REAL, CHOLMOD_DOUBLE };
	if ( !cholmod_solve2( CHOLMOD_A, problem->factor, &b, NULL, &problem->solution, NULL, &problem->workY,
	                      &problem->workE, &problem->common ) )
		return CholmodFailure( problem, error, "solving for a mode" );
	memcpy( out, problem->solution->x, size * sizeof( double ) );
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
	lanczos->size = 3 * problem->freeCount;
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
		lmbJob_Progress( job, "solves", ++solves, 4.0 * lanczos->wanted, "" );
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
	size_t n = 3 * (size_t)problem->freeCount, largest = 0;
	ApplyMass( problem, shape, scratch );
	double scale = 1.0 / sqrt( Dot( shape, scratch, n ) );
	/* Entries equal but for rounding must not decide by it: the first of them does. */
	for ( size_t i = 1; i < n; ++i )
		if ( fabs( shape[i] ) > ( 1.0 + 1e-6 ) * fabs( shape[largest] ) )
			largest = i;
	cblas_dscal( (int)n, shape[largest] < 0.0 ? -scale : scale, shape, 1 );
}

/* |K x - value M x| / |K x|. */
static double Residual( Problem *problem, const double *shape, double value, double *scratch )
{
	size_t n = 3 * (size_t)problem->freeCount;
	double one[2] = { 1.0, 0.0 }, zero[2] = { 0.0, 0.0 };
	cholmod_dense x = { n, 1, n, n, (void *)shape, NULL, CHOLMOD_REAL, CHOLMOD_DOUBLE };
	cholmod_dense y = { n, 1, n, n, scratch, NULL, CHOLMOD_REAL, CHOLMOD_DOUBLE };
	cholmod_sdmult( problem->stiffness, 0, one, zero, &x, &y, &problem->common );
	double size = 0.0, difference = 0.0;
	for ( size_t i = 0; i < n; ++i )
	{
		double off = scratch[i] - value * problem->mass[i] * shape[i];
		size += scratch[i] * scratch[i];
		difference += off * off;
	}
	return sqrt( difference / size );
}

/* Copies up to count modes from the iteration's ascending ones, past those without stiffness. */
static lmbStatus Collect( Problem *problem, const Lanczos *lanczos, int first, int count, lmbModes *modes,
                          lmbError *error )
{
	size_t n = (size_t)lanczos->size, nodeCount = (size_t)problem->tissue->nodeCount;
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
		for ( size_t i = 0; i < nodeCount; ++i )
			if ( problem->freeNode[i] >= 0 )
				memcpy( modes->shapes + 3 * ( nodeCount * (size_t)m + i ),
				        shape + 3 * (size_t)problem->freeNode[i], 3 * sizeof( double ) );
	}
	return lmb_statusOk;
}

static lmbStatus FindModes( Problem *problem, int count, const lmbJob *job, lmbModes *modes, lmbError *error )
{
	double lowest = 6.283185307179586 * lmbModes_LowestHertz;
	/* ARPACK finds at most size - 1. */
	int most = 3 * problem->freeCount - 1, wanted = count < most ? count : most;
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
			lmbJob_Note( job, "modes: left out %d motions without stiffness (pieces that can turn freely)",
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
	Problem problem;
	lmbStatus status = MakeProblem( &problem, tissue, job, error );
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
