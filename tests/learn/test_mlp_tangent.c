#include "learn/mlp.h"

#include "base/arena.h"
#include "check.h"

#include <stdbool.h>

enum
{
	samples = 4,
	directions = 2,
	rows = samples * ( 1 + directions ),
	inputWidth = 3,
	outputWidth = 2
};

typedef struct Problem
{
	lmbMlp mlp;
	lmbMlpPass pass;
	double inputs[rows * inputWidth], weights[rows * outputWidth];
	double *parameters, *gradient;
	lmbArena arena;
} Problem;

static Problem Make( uint64_t seed )
{
	checkSeed = seed;
	lmbRandom random = lmbRandom_Seed( seed, 0 );
	Problem problem = { .arena = { 0 } };
	lmbMlp_Make( &problem.mlp, ( int[] ){ inputWidth, 6, 5, outputWidth }, 3, NULL );
	problem.parameters = LMB_NEW( &problem.arena, double, problem.mlp.parameterCount );
	problem.gradient = LMB_NEW( &problem.arena, double, problem.mlp.parameterCount );
	lmbMlp_Init( &problem.mlp, 1.0, &random, problem.parameters );
	for ( size_t i = 0; i < problem.mlp.parameterCount; ++i )
		problem.parameters[i] += 0.2 * lmbRandom_Normal( &random );
	for ( int i = 0; i < rows * inputWidth; ++i )
		problem.inputs[i] = lmbRandom_Normal( &random );
	for ( int i = 0; i < rows * outputWidth; ++i )
		problem.weights[i] = lmbRandom_Normal( &random );
	return problem;
}

/* A loss with curvature in values and derivatives: sum w y + y^2 / 2 over all stacked outputs. */
static double Loss( Problem *problem, double *outputGradient )
{
	const double *y =
	    lmbMlp_ForwardTangents( &problem->pass, problem->parameters, problem->inputs, samples, directions );
	double sum = 0.0;
	for ( int i = 0; i < rows * outputWidth; ++i )
	{
		sum += problem->weights[i] * y[i] + 0.5 * y[i] * y[i];
		if ( outputGradient != NULL )
			outputGradient[i] = problem->weights[i] + y[i];
	}
	return sum;
}

/* Directional derivatives against central differences of the plain forward pass: h = 1e-5, truncation 1e-10,
 * rounding 1e-11. */
static void DerivativesByDifferences( void **state )
{
	(void)state;
	Problem problem = Make( 21 );
	lmbMlpPass plain;
	CHECK_INT( lmbMlpPass_Make( &problem.pass, &problem.mlp, rows, &problem.arena, NULL ), lmb_statusOk );
	CHECK_INT( lmbMlpPass_Make( &plain, &problem.mlp, samples, &problem.arena, NULL ), lmb_statusOk );
	const double *y =
	    lmbMlp_ForwardTangents( &problem.pass, problem.parameters, problem.inputs, samples, directions );
	const double *value = lmbMlp_Forward( &plain, problem.parameters, problem.inputs, samples );
	for ( int i = 0; i < samples * outputWidth; ++i )
		CHECK_NEAR( y[i], value[i], 1e-14 ); /* the same sums, perhaps in another order */
	double h = 1e-5, moved[samples * inputWidth], up[samples * outputWidth];
	for ( int t = 1; t <= directions; ++t )
	{
		const double *direction = problem.inputs + t * samples * inputWidth;
		for ( int i = 0; i < samples * inputWidth; ++i )
			moved[i] = problem.inputs[i] + h * direction[i];
		memcpy( up, lmbMlp_Forward( &plain, problem.parameters, moved, samples ), sizeof( up ) );
		for ( int i = 0; i < samples * inputWidth; ++i )
			moved[i] = problem.inputs[i] - h * direction[i];
		const double *down = lmbMlp_Forward( &plain, problem.parameters, moved, samples );
		for ( int i = 0; i < samples * outputWidth; ++i )
			CHECK_NEAR( y[t * samples * outputWidth + i], ( up[i] - down[i] ) / ( 2.0 * h ), 2e-8 );
	}
	lmbArena_Free( &problem.arena );
}

/* The gradient by every parameter, input and direction, of a loss on values and derivatives. */
static void GradientByDifferences( void **state )
{
	(void)state;
	Problem problem = Make( 22 );
	CHECK_INT( lmbMlpPass_Make( &problem.pass, &problem.mlp, rows, &problem.arena, NULL ), lmb_statusOk );
	double outputGradient[rows * outputWidth], inputGradient[rows * inputWidth], h = 1e-5;
	Loss( &problem, outputGradient );
	lmbMlp_BackwardTangents( &problem.pass, problem.parameters, problem.inputs, outputGradient,
	                         problem.gradient, inputGradient );
	for ( size_t i = 0; i < problem.mlp.parameterCount + rows * inputWidth; ++i )
	{
		bool own = i < problem.mlp.parameterCount;
		double *at = own ? problem.parameters + i : problem.inputs + ( i - problem.mlp.parameterCount );
		double keep = *at;
		*at = keep + h;
		double up = Loss( &problem, NULL );
		*at = keep - h;
		double down = Loss( &problem, NULL );
		*at = keep;
		double exact = own ? problem.gradient[i] : inputGradient[i - problem.mlp.parameterCount];
		/* Rounding: 1e-16 of a loss of order 100, over h. Truncation: h^2 times third derivatives. */
		CHECK_NEAR( exact, ( up - down ) / ( 2.0 * h ), 2e-8 * fmax( 1.0, fabs( exact ) ) );
	}
	lmbArena_Free( &problem.arena );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( DerivativesByDifferences ),
	    CHECK_TEST( GradientByDifferences ),
	};
	return CHECK_RUN( tests );
}
