#include "flesh/solver_private.h"

#include "base/math3.h"
#include "flesh/skinning.h"

#include <stdlib.h>

lmbSolverDef lmbDefaultSolverDef( void )
{
	lmbSolverDef def = { .tolerance = 1e-6,
	                     .iterationLimit = 60,
	                     .dampingStiffness = 0.004,
	                     .stepping = lmb_steppingTrapezoidal };
	return def;
}

static lmbStatus CheckDef( const lmbSolverDef *def, lmbError *error )
{
	if ( !( def->tolerance >= 1e-14 && def->tolerance <= 1.0 ) )
		return lmbError_Set( error, lmb_statusInvalidArgument, "tolerance %g: must be in [1e-14, 1]",
		                     def->tolerance );
	if ( def->iterationLimit < 1 || def->iterationLimit > 10000 )
		return lmbError_Set( error, lmb_statusInvalidArgument, "iteration limit %d: must be in [1, 10000]",
		                     def->iterationLimit );
	for ( int i = 0; i < 3; ++i )
		if ( !isfinite( def->gravity[i] ) )
			return lmbError_Set( error, lmb_statusInvalidArgument, "gravity must be finite" );
	if ( !( def->dampingMass >= 0.0 && def->dampingStiffness >= 0.0 ) || !isfinite( def->dampingMass ) ||
	     !isfinite( def->dampingStiffness ) )
		return lmbError_Set( error, lmb_statusInvalidArgument, "damping must be finite and not negative" );
	if ( def->stepping < lmb_steppingTrapezoidal || def->stepping > lmb_steppingBackwardEuler )
		return lmbError_Set( error, lmb_statusInvalidArgument, "unknown time stepping %d", def->stepping );
	return lmb_statusOk;
}

static lmbStatus Allocate( lmbSolver *solver, lmbError *error )
{
	const lmbSolverPlan *plan = solver->plan;
	size_t numbers = 3 * (size_t)plan->nodeCount;
	size_t blocks = 9 * (size_t)plan->columnStart[plan->freeCount];
	double **vectors[] = { &solver->terms.massTarget, &solver->terms.dampingTarget,
	                       &solver->terms.load,       &solver->gradient,
	                       &solver->direction,        &solver->trial,
	                       &solver->trialGradient,    &solver->difference,
	                       &solver->skinned,          &solver->position,
	                       &solver->velocity,         &solver->previousPosition,
	                       &solver->previousVelocity, &solver->acceleration,
	                       &solver->elasticForce,     &solver->start,
	                       &solver->conjugate,        &solver->product,
	                       &solver->preconditioned };
	for ( size_t i = 0; i < sizeof( vectors ) / sizeof( vectors[0] ); ++i )
		if ( ( *vectors[i] = LMB_NEW( &solver->arena, double, numbers ) ) == NULL )
			return lmbError_Memory( error );
	solver->values = LMB_NEW( &solver->arena, double, blocks );
	solver->dampingValues = LMB_NEW( &solver->arena, double, blocks );
	solver->dampingF = LMB_NEW( &solver->arena, double, 9 * lmbLanes * (size_t)plan->batchCount );
	solver->rotations = LMB_NEW( &solver->arena, double, 3 * numbers );
	solver->factorRotations = LMB_NEW( &solver->arena, double, 3 * numbers );
	solver->quaternions = LMB_NEW( &solver->arena, double, 4 * (size_t)plan->tissue->boneCount );
	solver->shifted = LMB_NEW( &solver->arena, double, 12 * (size_t)plan->tissue->boneCount );
	if ( solver->values == NULL || solver->dampingValues == NULL || solver->dampingF == NULL ||
	     solver->rotations == NULL || solver->factorRotations == NULL || solver->quaternions == NULL ||
	     solver->shifted == NULL )
		return lmbError_Memory( error );
	return lmb_statusOk;
}

lmbStatus lmbSolver_Make( const lmbSolverPlan *plan, const lmbSolverDef *def, lmbSolver **out,
                          lmbError *error )
{
	*out = NULL;
	LMB_TRY( CheckDef( def, error ) );
	lmbSolver *solver = calloc( 1, sizeof( *solver ) );
	if ( solver == NULL )
		return lmbError_Memory( error );
	solver->plan = plan;
	solver->def = *def;
	lmbStatus status = Allocate( solver, error );
	if ( status == lmb_statusOk )
		status = lmbSolver_MakeLinear( solver, error );
	if ( status != lmb_statusOk )
	{
		lmbSolver_Free( solver );
		return status;
	}
	*out = solver;
	return lmb_statusOk;
}

void lmbSolver_Free( lmbSolver *solver )
{
	if ( solver == NULL )
		return;
	if ( solver->factor != NULL )
		lmbSolver_FreeLinear( solver );
	lmbArena_Free( &solver->arena );
	free( solver );
}

lmbSolveReport lmbSolver_Totals( const lmbSolver *solver )
{
	return solver->totals;
}

void lmbSolver_Reference( const lmbSolver *solver, const double *bones, double *reference )
{
	lmbMat34_Point( reference, bones, solver->plan->centre );
}

void lmbSolver_Skin( lmbSolver *solver, const double *bones, const double *reference )
{
	const lmbTissue *tissue = solver->plan->tissue;
	lmbWeights weights = { tissue->nodeCount, tissue->influenceCount, tissue->nodeBones,
	                       tissue->nodeWeights };
	memcpy( solver->shifted, bones, 12 * (size_t)tissue->boneCount * sizeof( double ) );
	for ( size_t j = 0; j < (size_t)tissue->boneCount; ++j )
		for ( int i = 0; i < 3; ++i )
			solver->shifted[12 * j + 4 * i + 3] -= reference[i];
	lmbSkin_Points( &weights, solver->shifted, tissue->nodes, solver->skinned );
	lmbSkin_BoneQuaternions( tissue->boneCount, solver->shifted, solver->quaternions );
	lmbSkin_Rotations( &weights, solver->quaternions, solver->rotations );
}

static double FreeDot( const lmbSolver *solver, const double *a, const double *b )
{
	double sum = 0.0;
	for ( size_t e = 0; e < 3 * (size_t)solver->plan->freeCount; ++e )
		sum += a[e] * b[e];
	return sum;
}

/* Armijo backtracking along the direction, from energy at x. On success the trial point and its gradient
 * have become x and gradient. Near the minimum the change of energy drowns in rounding; there a step
 * counts as good when it shrinks the gradient. */
static bool Search( lmbSolver *solver, double *x, double *energy, lmbSolveReport *report )
{
	size_t free = 3 * (size_t)solver->plan->freeCount, all = 3 * (size_t)solver->plan->nodeCount;
	double slope = FreeDot( solver, solver->gradient, solver->direction );
	double norm = FreeDot( solver, solver->gradient, solver->gradient );
	memcpy( solver->trial + free, x + free, ( all - free ) * sizeof( *x ) );
	for ( double length = 1.0; length > 1e-10; length *= 0.5 )
	{
		for ( size_t e = 0; e < free; ++e )
			solver->trial[e] = x[e] + length * solver->direction[e];
		double next = lmbSolver_Evaluate( solver, solver->trial, solver->trialGradient );
		report->evaluations += 1;
		bool lower = next <= *energy + 1e-4 * length * slope;
		if ( !lower && -slope <= 1e-11 * solver->plan->info.forceScale * solver->plan->tissue->cell )
			lower = FreeDot( solver, solver->trialGradient, solver->trialGradient ) < norm;
		if ( !lower )
			continue;
		memcpy( x, solver->trial, free * sizeof( *x ) );
		memcpy( solver->gradient, solver->trialGradient, free * sizeof( *x ) );
		*energy = next;
		return true;
	}
	return false;
}

static void AddTotals( lmbSolveReport *totals, const lmbSolveReport *report )
{
	totals->iterations += report->iterations;
	totals->factorizations += report->factorizations;
	totals->projections += report->projections;
	totals->linearIterations += report->linearIterations;
	totals->evaluations += report->evaluations;
	totals->assemblySeconds += report->assemblySeconds;
	totals->factorSeconds += report->factorSeconds;
	totals->solveSeconds += report->solveSeconds;
	totals->totalSeconds += report->totalSeconds;
}

lmbStatus lmbSolver_Minimize( lmbSolver *solver, double *x, const lmbJob *job, lmbSolveReport *report,
                              lmbError *error )
{
	double start = lmbClock_Seconds(), scale = solver->plan->info.forceScale;
	lmbStatus status = lmb_statusOk;
	memset( report, 0, sizeof( *report ) );
	double energy = lmbSolver_Evaluate( solver, x, solver->gradient );
	for ( ;; )
	{
		report->residual = sqrt( FreeDot( solver, solver->gradient, solver->gradient ) ) / scale;
		report->converged = report->residual <= solver->def.tolerance;
		if ( report->converged || !isfinite( report->residual ) ||
		     report->iterations >= solver->def.iterationLimit )
			break;
		if ( lmbJob_Cancelled( job ) )
			return lmbJob_CancelledStatus( error );
		status = lmbSolver_Direction( solver, x, report, error );
		if ( status != lmb_statusOk )
			break; /* one that says "not converged" is no error, see below */
		report->iterations += 1;
		if ( !Search( solver, x, &energy, report ) )
			break;
	}
	if ( status == lmb_statusNotConverged )
		status = lmb_statusOk;
	if ( status == lmb_statusOk )
		report->smallestVolumeRatio = lmbSolver_SmallestVolumeRatio( solver, x );
	report->totalSeconds = lmbClock_Seconds() - start;
	AddTotals( &solver->totals, report );
	return status;
}

lmbStatus lmbSolver_Still( lmbSolver *solver, const double *bones, double *displacement, double *nodes,
                           const lmbJob *job, lmbSolveReport *report, lmbError *error )
{
	const lmbSolverPlan *plan = solver->plan;
	double reference[3], *x = solver->start;
	lmbSolver_Reference( solver, bones, reference );
	lmbSolver_Skin( solver, bones, reference );
	solver->terms.massFactor = solver->terms.dampingFactor = 0.0;
	for ( size_t k = 0; k < (size_t)plan->nodeCount; ++k )
	{
		size_t node = (size_t)plan->outer[k];
		double carried[3] = { 0.0, 0.0, 0.0 };
		if ( (int)k < plan->freeCount )
			lmbMat33_Apply( carried, solver->rotations + 9 * node, displacement + 3 * node );
		for ( int i = 0; i < 3; ++i )
		{
			x[3 * k + i] = solver->skinned[3 * node + i] + carried[i];
			solver->terms.load[3 * k + i] = plan->mass[k] * solver->def.gravity[i];
		}
	}
	LMB_TRY( lmbSolver_Minimize( solver, x, job, report, error ) );
	for ( size_t k = 0; k < (size_t)plan->nodeCount; ++k )
	{
		size_t node = (size_t)plan->outer[k];
		double away[3];
		lmbSub( away, x + 3 * k, solver->skinned + 3 * node );
		lmbMat33_ApplyTransposed( displacement + 3 * node, solver->rotations + 9 * node, away );
		for ( int i = 0; nodes != NULL && i < 3; ++i )
			nodes[3 * node + i] = x[3 * k + i] + reference[i];
	}
	return lmb_statusOk;
}
