#include "limb/rollout.h"

#include "check.h"

enum
{
	n = 2,
	count = 3
};

typedef struct Problem
{
	lmbEquations equations;
	lmbRollout rollout;
	double *parameters, *gradient;
	double q[count * n], v[count * n], begin[count * n], end[count * n], byQ[count * n], byV[count * n];
	lmbArena arena;
} Problem;

static void Make( Problem *problem, uint64_t seed )
{
	static const bool no[n] = { false };
	checkSeed = seed;
	lmbRandom random = lmbRandom_Seed( seed, 0 );
	lmbEquationsDef def = { .kind = lmb_limbLagrangian,
	                        .dofCount = n,
	                        .inputCount = n,
	                        .slides = no,
	                        .turns = no,
	                        .hiddenLayers = 1,
	                        .width = 5,
	                        .potential = true };
	memset( problem, 0, sizeof( *problem ) );
	for ( int i = 0; i < n; ++i )
	{
		def.positionSpread[i] = def.velocitySpread[i] = def.inputSpread[i] = 1.0;
		def.accelerationSpread[i] = 2.0;
	}
	CHECK_INT( lmbEquations_Make( &def, &problem->equations, NULL ), lmb_statusOk );
	CHECK_INT( lmbRollout_Make( &problem->rollout, &problem->equations, count, &problem->arena, NULL ),
	           lmb_statusOk );
	problem->parameters = LMB_NEW( &problem->arena, double, problem->equations.parameterCount );
	problem->gradient = LMB_NEW( &problem->arena, double, problem->equations.parameterCount );
	lmbEquations_Init( &problem->equations, &random, problem->parameters );
	for ( size_t i = 0; i < problem->equations.parameterCount; ++i )
		problem->parameters[i] += 0.2 * lmbRandom_Normal( &random );
	for ( int i = 0; i < count * n; ++i )
	{
		problem->q[i] = lmbRandom_Normal( &random );
		problem->v[i] = lmbRandom_Normal( &random );
		problem->begin[i] = lmbRandom_Normal( &random );
		problem->end[i] = lmbRandom_Normal( &random );
		problem->byQ[i] = lmbRandom_Normal( &random );
		problem->byV[i] = lmbRandom_Normal( &random );
	}
}

static void Free( Problem *problem )
{
	lmbEquations_Free( &problem->equations );
	lmbArena_Free( &problem->arena );
}

static double Loss( Problem *problem, double dt )
{
	double q[count * n], v[count * n], sum = 0.0;
	memcpy( q, problem->q, sizeof( q ) );
	memcpy( v, problem->v, sizeof( v ) );
	lmbRollout_Step( &problem->rollout, problem->parameters, count, dt, problem->begin, problem->end, q, v );
	for ( int i = 0; i < count * n; ++i )
		sum += problem->byQ[i] * q[i] + problem->byV[i] * v[i];
	return sum;
}

static void CheckSlope( Problem *problem, double dt, double *at, double exact )
{
	double keep = *at, h = 1e-5;
	*at = keep + h;
	double up = Loss( problem, dt );
	*at = keep - h;
	double down = Loss( problem, dt );
	*at = keep;
	/* Rounding 1e-15 / h, truncation h^2 times third derivatives of order 10. */
	CHECK_NEAR( exact, ( up - down ) / ( 2.0 * h ), 3e-8 * fmax( 1.0, fabs( exact ) ) );
}

/* The adjoint of a step, with inputs that change along it, by every parameter and state. */
static void AdjointByDifferences( void **state )
{
	(void)state;
	Problem problem;
	Make( &problem, 61 );
	double byQ[count * n], byV[count * n], dt = 0.1;
	memcpy( byQ, problem.byQ, sizeof( byQ ) );
	memcpy( byV, problem.byV, sizeof( byV ) );
	lmbRollout_StepBackward( &problem.rollout, problem.parameters, count, dt, problem.begin, problem.end,
	                         problem.q, problem.v, byQ, byV, problem.gradient );
	for ( size_t i = 0; i < problem.equations.parameterCount; ++i )
		CheckSlope( &problem, dt, &problem.parameters[i], problem.gradient[i] );
	for ( int i = 0; i < count * n; ++i )
	{
		CheckSlope( &problem, dt, &problem.q[i], byQ[i] );
		CheckSlope( &problem, dt, &problem.v[i], byV[i] );
	}
	Free( &problem );
}

static double ErrorWithSteps( Problem *problem, int steps, const double *exact, double *out )
{
	double v[count * n], worst = 0.0;
	memcpy( out, problem->q, sizeof( v ) );
	memcpy( v, problem->v, sizeof( v ) );
	for ( int s = 0; s < steps; ++s )
	{
		double from[count * n], to[count * n];
		for ( int i = 0; i < count * n; ++i )
		{
			double change = problem->end[i] - problem->begin[i];
			from[i] = problem->begin[i] + change * s / steps;
			to[i] = problem->begin[i] + change * ( s + 1 ) / steps;
		}
		lmbRollout_Step( &problem->rollout, problem->parameters, count, 0.4 / steps, from, to, out, v );
	}
	for ( int i = 0; i < count * n && exact != NULL; ++i )
		worst = fmax( worst, fabs( out[i] - exact[i] ) );
	return worst;
}

/* Half the step, a sixteenth of the error: between 14 and 18, because terms of the next order are left. */
static void OrderIsFour( void **state )
{
	(void)state;
	Problem problem;
	Make( &problem, 62 );
	double exact[count * n], out[count * n];
	ErrorWithSteps( &problem, 512, NULL, exact );
	double coarse = ErrorWithSteps( &problem, 8, exact, out ),
	       fine = ErrorWithSteps( &problem, 16, exact, out );
	CHECK_NEAR( coarse / fine, 16.0, 2.0 );
	Free( &problem );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( AdjointByDifferences ),
	    CHECK_TEST( OrderIsFour ),
	};
	return CHECK_RUN( tests );
}
