/* Time stepping: each step is a minimisation of the incremental potential (solver.h). */
#include "flesh/solver_private.h"

#include "base/math3.h"

/* nodes given in scene space, or the skinned pose of held nodes: where everything is at rest. */
void lmbSolver_Begin( lmbSolver *solver, const double *bones, const double *nodes )
{
	const lmbSolverPlan *plan = solver->plan;
	size_t numbers = 3 * (size_t)plan->nodeCount;
	lmbSolver_Reference( solver, bones, solver->reference );
	for ( size_t k = 0; k < (size_t)plan->nodeCount; ++k )
		lmbSub( solver->position + 3 * k, nodes + 3 * (size_t)plan->outer[k], solver->reference );
	memset( solver->velocity, 0, numbers * sizeof( double ) );
	memset( solver->acceleration, 0, numbers * sizeof( double ) );
	memcpy( solver->previousPosition, solver->position, numbers * sizeof( double ) );
	memset( solver->previousVelocity, 0, numbers * sizeof( double ) );
	lmbSolver_Elastic( solver, solver->position, solver->elasticForce );
	solver->lastStep = 0.0;
}

/* Moves the reference point, in which positions are expressed, along with the body. */
static void MoveReference( lmbSolver *solver, const double *reference )
{
	double shift[3];
	lmbSub( shift, reference, solver->reference );
	for ( size_t e = 0; e < 3 * (size_t)solver->plan->nodeCount; ++e )
	{
		solver->position[e] -= shift[e % 3];
		solver->previousPosition[e] -= shift[e % 3];
	}
	memcpy( solver->reference, reference, 3 * sizeof( double ) );
}

/* With the new velocity eliminated, each rule is
 *   s M (x - y) + r C (x - z) + W'(x) = b      (docs/derivations/elasticity.md)
 * with, for a base (p, u) and a step h:
 *   backward Euler   p = x_n, u = v_n, h = dt
 *   BDF2             p = (4 x_n - x_(n-1)) / 3, u likewise of v, h = 2 dt / 3
 *   trapezoidal      p = x_n, u = v_n, and the elastic force of x_n joins the load. */
static void SetTerms( lmbSolver *solver, double dt )
{
	const lmbSolverPlan *plan = solver->plan;
	const lmbSolverDef *def = &solver->def;
	lmbEnergyTerms *terms = &solver->terms;
	bool trapezoidal = def->stepping == lmb_steppingTrapezoidal;
	bool twoSteps = def->stepping == lmb_steppingBdf2 && solver->lastStep == dt;
	double h = twoSteps ? 2.0 * dt / 3.0 : dt;
	double weight = trapezoidal ? 2.0 : 1.0; /* the trapezoidal rule's equation is halved */
	double inertia = weight * ( trapezoidal ? 2.0 : 1.0 ) / ( h * h ), drag = weight * def->dampingMass / h;
	terms->massFactor = inertia + drag;
	terms->dampingFactor = weight * def->dampingStiffness / h;
	for ( size_t e = 0; e < 3 * (size_t)plan->nodeCount; ++e )
	{
		double p = solver->position[e], u = solver->velocity[e];
		if ( twoSteps )
		{
			p = ( 4.0 * p - solver->previousPosition[e] ) / 3.0;
			u = ( 4.0 * u - solver->previousVelocity[e] ) / 3.0;
		}
		terms->massTarget[e] = ( inertia * ( p + h * u ) + drag * p ) / terms->massFactor;
		terms->dampingTarget[e] = p;
		terms->load[e] = weight * plan->mass[e / 3] * def->gravity[e % 3] +
		                 ( trapezoidal ? solver->elasticForce[e] : 0.0 );
	}
}

/* Velocities and history after the step to x. Held nodes move with their mean velocity over the step:
 * the trapezoidal rule's own would ring. */
static void Advance( lmbSolver *solver, const double *x, double dt )
{
	const lmbSolverPlan *plan = solver->plan;
	bool twoSteps = solver->def.stepping == lmb_steppingBdf2 && solver->lastStep == dt;
	size_t free = 3 * (size_t)plan->freeCount;
	for ( size_t e = 0; e < 3 * (size_t)plan->nodeCount; ++e )
	{
		double mean = ( x[e] - solver->position[e] ) / dt, next = mean;
		if ( solver->def.stepping == lmb_steppingTrapezoidal && e < free )
			next = 2.0 * mean - solver->velocity[e];
		else if ( twoSteps )
			next = ( 3.0 * x[e] - 4.0 * solver->position[e] + solver->previousPosition[e] ) / ( 2.0 * dt );
		solver->acceleration[e] = ( next - solver->velocity[e] ) / dt;
		solver->previousPosition[e] = solver->position[e];
		solver->previousVelocity[e] = solver->velocity[e];
		solver->position[e] = x[e];
		solver->velocity[e] = next;
	}
	solver->lastStep = dt;
}

lmbStatus lmbSolver_Step( lmbSolver *solver, const double *bones, double dt, double *nodes, const lmbJob *job,
                          lmbSolveReport *report, lmbError *error )
{
	const lmbSolverPlan *plan = solver->plan;
	double *x = solver->start, reference[3];
	if ( !( dt > 0.0 ) || !isfinite( dt ) )
		return lmbError_Set( error, lmb_statusInvalidArgument, "a time step must be positive, not %g s", dt );
	lmbSolver_Reference( solver, bones, reference );
	lmbSolver_Skin( solver, bones, reference );
	MoveReference( solver, reference );
	if ( solver->def.dampingStiffness > 0.0 )
	{
		double theta = solver->def.stepping == lmb_steppingTrapezoidal ? 0.5 : 1.0;
		for ( size_t e = 0; e < 3 * (size_t)plan->nodeCount; ++e )
			x[e] = solver->position[e] + theta * dt * solver->velocity[e];
		lmbSolver_AssembleDamping( solver, x );
	}
	SetTerms( solver, dt );
	for ( size_t k = 0; k < (size_t)plan->nodeCount; ++k )
		for ( size_t e = 3 * k; e < 3 * k + 3; ++e )
			x[e] =
			    (int)k < plan->freeCount
			        ? solver->position[e] + dt * ( solver->velocity[e] + 0.5 * dt * solver->acceleration[e] )
			        : solver->skinned[3 * (size_t)plan->outer[k] + e % 3];
	LMB_TRY( lmbSolver_Minimize( solver, x, job, report, error ) );
	Advance( solver, x, dt );
	lmbSolver_Elastic( solver, solver->position, solver->elasticForce );
	for ( size_t k = 0; nodes != NULL && k < (size_t)plan->nodeCount; ++k )
		for ( int i = 0; i < 3; ++i )
			nodes[3 * (size_t)plan->outer[k] + i] = solver->position[3 * k + i] + reference[i];
	return lmb_statusOk;
}

void lmbSolver_Energy( lmbSolver *solver, double *kinetic, double *elastic, double *potential )
{
	const lmbSolverPlan *plan = solver->plan;
	double sum = 0.0, height = 0.0;
	for ( size_t k = 0; k < (size_t)plan->freeCount; ++k )
		for ( int i = 0; i < 3; ++i )
		{
			double v = solver->velocity[3 * k + i];
			sum += 0.5 * plan->mass[k] * v * v;
			height -= plan->mass[k] * solver->def.gravity[i] *
			          ( solver->position[3 * k + i] + solver->reference[i] );
		}
	if ( kinetic != NULL )
		*kinetic = sum;
	if ( potential != NULL )
		*potential = height;
	if ( elastic != NULL )
		*elastic = lmbSolver_Elastic( solver, solver->position, solver->difference );
}

enum
{
	stateArrays = 6
};

/* What a state consists of, each (nodeCount x 3), followed by the reference point and the last step. */
static void StateArrays( const lmbSolver *solver, double **arrays )
{
	arrays[0] = solver->position;
	arrays[1] = solver->velocity;
	arrays[2] = solver->previousPosition;
	arrays[3] = solver->previousVelocity;
	arrays[4] = solver->acceleration;
	arrays[5] = solver->elasticForce;
}

size_t lmbSolverPlan_StateSize( const lmbSolverPlan *plan )
{
	return stateArrays * 3 * (size_t)plan->nodeCount + 4;
}

size_t lmbSolver_StateSize( const lmbSolver *solver )
{
	return lmbSolverPlan_StateSize( solver->plan );
}

void lmbSolver_SaveState( const lmbSolver *solver, double *state )
{
	double *arrays[stateArrays];
	size_t numbers = 3 * (size_t)solver->plan->nodeCount;
	StateArrays( solver, arrays );
	for ( size_t i = 0; i < stateArrays; ++i )
		memcpy( state + i * numbers, arrays[i], numbers * sizeof( double ) );
	memcpy( state + stateArrays * numbers, solver->reference, 3 * sizeof( double ) );
	state[stateArrays * numbers + 3] = solver->lastStep;
}

void lmbSolver_RestoreState( lmbSolver *solver, const double *state )
{
	double *arrays[stateArrays];
	size_t numbers = 3 * (size_t)solver->plan->nodeCount;
	StateArrays( solver, arrays );
	for ( size_t i = 0; i < stateArrays; ++i )
		memcpy( arrays[i], state + i * numbers, numbers * sizeof( double ) );
	memcpy( solver->reference, state + stateArrays * numbers, 3 * sizeof( double ) );
	solver->lastStep = state[stateArrays * numbers + 3];
	lmbSolver_Sync( solver );
}

void lmbSolver_Sync( lmbSolver *solver )
{
	solver->hasFactor = false;
}
