#include "box_tissue.h"
#include "check.h"
#include "flesh/solver_private.h"

#include <lapacke.h>
#include <stdlib.h>

static const char *const ruleNames[3] = { "trapezoidal", "BDF2", "backward Euler" };

typedef struct Fixture
{
	BoxDef def;
	lmbTissue tissue;
	lmbSolverPlan *plan;
	lmbSolver *solver;
	double *nodes; /* (nodeCount x 3) */
} Fixture;

static void Make( Fixture *f, const lmbSolverDef *def )
{
	lmbError error = { 0 };
	CHECK_OR_STOP( lmbSolverPlan_Make( &f->tissue, lmb_orderingBest, &f->plan, &error ) == lmb_statusOk );
	CHECK_OR_STOP( lmbSolver_Make( f->plan, def, &f->solver, &error ) == lmb_statusOk );
	f->nodes = calloc( 3 * (size_t)f->tissue.nodeCount, sizeof( double ) );
}

static void Drop( Fixture *f )
{
	lmbSolver_Free( f->solver );
	lmbSolverPlan_Free( f->plan );
	free( f->nodes );
	Box_Free( &f->tissue, NULL );
}

/* One node in the middle of a block whose surface is held: three oscillators, the stiffest taken. */
static int MakeOscillator( Fixture *f, const lmbSolverDef *def, double *axis, double *omegaSquared )
{
	f->def = Box_DefaultDef();
	f->def.cells[0] = f->def.cells[1] = f->def.cells[2] = 2;
	f->def.size[0] = f->def.size[1] = f->def.size[2] = 0.2;
	f->def.boneCount = 1;
	Box_MakeTissue( &f->def, &f->tissue );
	int middle = Box_Node( &f->def, 1, 1, 1 );
	memset( f->tissue.held, 1, (size_t)f->tissue.nodeCount );
	f->tissue.held[middle] = 0;
	Make( f, def );
	double stiffness[9], values[3];
	for ( int k = 0; k < f->tissue.nodeCount; ++k )
		memcpy( f->solver->trial + 3 * (size_t)k, f->tissue.nodes + 3 * (size_t)f->plan->outer[k],
		        3 * sizeof( double ) );
	f->solver->terms.massFactor = f->solver->terms.dampingFactor = 0.0;
	lmbSolver_AssembleHessian( f->solver, f->solver->trial, false );
	memcpy( stiffness, f->solver->values, sizeof( stiffness ) );
	CHECK_INT( LAPACKE_dsyev( LAPACK_COL_MAJOR, 'V', 'L', 3, stiffness, 3, values ), 0 );
	memcpy( axis, stiffness + 6, 3 * sizeof( double ) );
	*omegaSquared = values[2] / f->tissue.mass[middle];
	return middle;
}

/* The same rule on x'' + c x' + k x = 0: what a step must do to a single oscillator. */
typedef struct Oscillator
{
	double k, c, x, v, oldX, oldV;
	int steps;
} Oscillator;

static void Oscillator_Step( Oscillator *o, lmbTimeStepping rule, double dt )
{
	double x = o->x, v = o->v, nextX, nextV;
	if ( rule == lmb_steppingTrapezoidal )
	{
		double h = 0.5 * dt;
		nextV = ( v - h * ( 2.0 * o->k * x + o->c * v + h * o->k * v ) ) / ( 1.0 + h * o->c + h * h * o->k );
		nextX = x + h * ( v + nextV );
	}
	else
	{
		bool two = rule == lmb_steppingBdf2 && o->steps > 0;
		double h = two ? 2.0 * dt / 3.0 : dt;
		double baseX = two ? ( 4.0 * x - o->oldX ) / 3.0 : x, baseV = two ? ( 4.0 * v - o->oldV ) / 3.0 : v;
		nextV = ( baseV - h * o->k * baseX ) / ( 1.0 + h * o->c + h * h * o->k );
		nextX = baseX + h * nextV;
	}
	o->oldX = x;
	o->oldV = v;
	o->x = nextX;
	o->v = nextV;
	o->steps += 1;
}

static void EachRuleStepsAnOscillatorAsItShould( void **state )
{
	(void)state;
	for ( int rule = 0; rule < 3; ++rule )
		for ( int damped = 0; damped < 2; ++damped )
		{
			lmbSolverDef def = lmbDefaultSolverDef();
			def.stepping = (lmbTimeStepping)rule;
			def.tolerance = 1e-14;
			def.dampingMass = damped ? 3.0 : 0.0;
			def.dampingStiffness = damped ? 2e-4 : 0.0;
			Fixture f = { 0 };
			double axis[3], k, amplitude = 1e-7, bones[12], dt = 0.002;
			int middle = MakeOscillator( &f, &def, axis, &k );
			lmbMat34_Identity( bones );
			memcpy( f.nodes, f.tissue.nodes, 3 * (size_t)f.tissue.nodeCount * sizeof( double ) );
			lmbAddScaled( f.nodes + 3 * middle, f.nodes + 3 * middle, amplitude, axis );
			lmbSolver_Begin( f.solver, bones, f.nodes );
			Oscillator o = { .k = k, .c = def.dampingMass + def.dampingStiffness * k, .x = amplitude };
			double worst = 0.0;
			for ( int step = 0; step < 200; ++step )
			{
				lmbSolveReport report;
				lmbError error = { 0 };
				CHECK_INT( lmbSolver_Step( f.solver, bones, dt, f.nodes, NULL, &report, &error ), 0 );
				Oscillator_Step( &o, def.stepping, dt );
				double away[3];
				lmbSub( away, f.nodes + 3 * middle, f.tissue.nodes + 3 * middle );
				worst = fmax( worst, fabs( lmbDot( away, axis ) - o.x ) );
			}
			/* Nonlinearity: amplitude over cell, 1e-6 relative; rounding 1e-17 m a step. */
			if ( worst > 1e-4 * amplitude )
				CheckReport( __FILE__, __LINE__, ruleNames[rule] );
			CHECK_NEAR( worst, 0.0, 1e-4 * amplitude );
			Drop( &f );
		}
}

/* A beam let go from a small bend, no damping: the trapezoidal rule keeps the energy, backward Euler loses
 * it at (1 + w^2 dt^2)^-1 a step for each mode, so faster than its slowest mode would. */
static void EnergyOfAFreeBeam( void **state )
{
	(void)state;
	for ( int rule = 0; rule < 3; ++rule )
	{
		lmbSolverDef def = lmbDefaultSolverDef();
		def.stepping = (lmbTimeStepping)rule;
		def.tolerance = 1e-12;
		def.dampingStiffness = 0.0;
		Fixture f = { .def = Box_DefaultDef() };
		Box_MakeTissue( &f.def, &f.tissue );
		Make( &f, &def );
		double bones[24], kinetic, elastic, first = 0.0, last = 0.0, lowest = INFINITY, highest = 0.0;
		Box_BendPose( &f.def, 0.0, bones );
		memcpy( f.nodes, f.tissue.nodes, 3 * (size_t)f.tissue.nodeCount * sizeof( double ) );
		for ( int k = 0; k < f.tissue.nodeCount; ++k )
			f.nodes[3 * k + 1] += 1e-5 * f.nodes[3 * k] * f.nodes[3 * k]; /* 1.6 micrometres at the tip */
		lmbSolver_Begin( f.solver, bones, f.nodes );
		for ( int step = 0; step <= 400; ++step )
		{
			lmbSolver_Energy( f.solver, &kinetic, &elastic, NULL );
			double energy = kinetic + elastic;
			first = step == 0 ? energy : first;
			lowest = fmin( lowest, energy );
			highest = fmax( highest, energy );
			if ( rule == lmb_steppingBackwardEuler && step > 0 )
				CHECK( energy < last );
			last = energy;
			lmbSolveReport report;
			lmbError error = { 0 };
			CHECK_INT( lmbSolver_Step( f.solver, bones, 0.005, NULL, NULL, &report, &error ), 0 );
		}
		CHECK( first > 0.0 );
		/* Strains of 1e-5: the cubic terms of the energy are that much smaller. Measured 6e-6. */
		if ( rule == lmb_steppingTrapezoidal )
		{
			CHECK_NEAR( lowest / first, 1.0, 5e-5 );
			CHECK_NEAR( highest / first, 1.0, 5e-5 );
		}
		else
			CHECK( last < 0.5 * first );
		if ( getenv( "LMB_VERBOSE" ) != NULL )
			printf( "%s: energy / first from %.9f to %.9f, last %.6f\n", ruleNames[rule], lowest / first,
			        highest / first, last / first );
		CHECK( highest <= first * ( 1.0 + 5e-5 ) );
		Drop( &f );
	}
}

/* Positions of a beam whose held end has been turned and pushed for half a second, far beyond small
 * strains. */
static double *Shake( lmbTimeStepping rule, int steps, size_t *count )
{
	lmbSolverDef def = lmbDefaultSolverDef();
	def.stepping = rule;
	def.tolerance = 1e-11;
	def.dampingMass = 0.5;
	def.gravity[1] = -5.0;
	Fixture f = { .def = Box_DefaultDef() };
	f.def.cells[0] = 5;
	f.def.cells[1] = f.def.cells[2] = 2;
	f.def.boneCount = 1;
	Box_MakeTissue( &f.def, &f.tissue );
	Make( &f, &def );
	double bones[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 }, seconds = 0.5;
	lmbSolveReport report;
	lmbError error = { 0 };
	double *displacement = calloc( 3 * (size_t)f.tissue.nodeCount, sizeof( double ) );
	lmbSolver_Still( f.solver, bones, displacement, f.nodes, NULL, &report, &error );
	lmbSolver_Begin( f.solver, bones, f.nodes );
	for ( int step = 1; step <= steps; ++step )
	{
		double s = (double)step / steps, smooth = s * s * s * s * ( 5.0 - 4.0 * s ); /* from rest, C3 */
		double turn = 1.5 * smooth;
		bones[0] = bones[5] = cos( turn );
		bones[4] = sin( turn );
		bones[1] = -bones[4];
		bones[3] = 0.3 * smooth;
		CHECK_INT( lmbSolver_Step( f.solver, bones, seconds / steps, f.nodes, NULL, &report, &error ), 0 );
		CHECK( report.converged );
	}
	*count = 3 * (size_t)f.tissue.nodeCount;
	double *result = calloc( *count, sizeof( double ) );
	memcpy( result, f.nodes, *count * sizeof( double ) );
	free( displacement );
	Drop( &f );
	return result;
}

static double Distance( const double *a, const double *b, size_t count )
{
	double sum = 0.0;
	for ( size_t e = 0; e < count; ++e )
		sum += ( a[e] - b[e] ) * ( a[e] - b[e] );
	return sqrt( sum );
}

/* Halving the step must quarter the error of the two second-order rules and halve backward Euler's, with
 * the damping matrix taken at a predicted state and held nodes driven. */
static void OrdersOfTheRules( void **state )
{
	(void)state;
	size_t count;
	double *reference = Shake( lmb_steppingTrapezoidal, 3200, &count );
	for ( int rule = 0; rule < 3; ++rule )
	{
		double errors[2];
		for ( int half = 0; half < 2; ++half )
		{
			double *result = Shake( (lmbTimeStepping)rule, half == 0 ? 200 : 400, &count );
			errors[half] = Distance( result, reference, count );
			free( result );
		}
		double order = log2( errors[0] / errors[1] );
		if ( getenv( "LMB_VERBOSE" ) != NULL )
			printf( "%s: errors %.3g and %.3g m, order %.2f\n", ruleNames[rule], errors[0], errors[1],
			        order );
		CHECK_NEAR( order, rule == lmb_steppingBackwardEuler ? 1.0 : 2.0, 0.15 );
	}
	free( reference );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( EachRuleStepsAnOscillatorAsItShould ),
	    CHECK_TEST( EnergyOfAFreeBeam ),
	    CHECK_TEST( OrdersOfTheRules ),
	};
	return CHECK_RUN( tests );
}
