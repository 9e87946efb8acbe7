#include "learn/mlp.h"
#include "learn/optimize.h"

#include "base/arena.h"
#include "check.h"

enum
{
	sampleCount = 7
};

typedef struct Problem
{
	lmbMlp mlp;
	lmbMlpPass pass;
	double inputs[sampleCount * 5], targets[sampleCount * 3], sampleWeights[sampleCount], outputWeights[3];
	double outputGradient[sampleCount * 3];
	double decay;
} Problem;

static double Loss( void *context, const double *parameters, double *gradient )
{
	Problem *problem = context;
	lmbSquaresLoss loss = { sampleCount,
	                        3,
	                        lmbMlp_Forward( &problem->pass, parameters, problem->inputs, sampleCount ),
	                        problem->targets,
	                        problem->sampleWeights,
	                        problem->outputWeights };
	double value = lmbSquaresLoss_Evaluate( &loss, problem->outputGradient );
	if ( gradient != NULL )
	{
		memset( gradient, 0, problem->mlp.parameterCount * sizeof( double ) );
		lmbMlp_Backward( &problem->pass, parameters, problem->inputs, problem->outputGradient, gradient,
		                 NULL );
	}
	return value + lmbMlp_Decay( &problem->mlp, problem->decay, parameters, gradient );
}

static void MakeProblem( Problem *problem, int layers, lmbRandom *random, lmbArena *arena )
{
	int sizes[] = { 5, 8, 6, 4, 3 };
	sizes[layers] = 3;
	CHECK_INT( lmbMlp_Make( &problem->mlp, sizes, layers, NULL ), lmb_statusOk );
	CHECK_INT( lmbMlpPass_Make( &problem->pass, &problem->mlp, sampleCount, arena, NULL ), lmb_statusOk );
	for ( int i = 0; i < sampleCount * 5; ++i )
		problem->inputs[i] = lmbRandom_Normal( random );
	for ( int i = 0; i < sampleCount * 3; ++i )
		problem->targets[i] = lmbRandom_Normal( random );
	for ( int i = 0; i < sampleCount; ++i )
		problem->sampleWeights[i] = i == 2 ? 0.0 : 0.5 + lmbRandom_Uniform( random );
	for ( int i = 0; i < 3; ++i )
		problem->outputWeights[i] = 0.5 + lmbRandom_Uniform( random );
	problem->decay = 0.01;
}

/* Every parameter's derivative against central differences: with h = 1e-5 the truncation is h^2 times a
 * third derivative of order 1, 1e-10, and the rounding 1e-16 / h = 1e-11 times the loss of order 10. */
static void GradientByDifferences( void **state )
{
	(void)state;
	checkSeed = 11;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	for ( int layers = 1; layers <= 4; ++layers )
	{
		lmbArena arena = { 0 };
		Problem problem;
		MakeProblem( &problem, layers, &random, &arena );
		size_t count = problem.mlp.parameterCount;
		double *parameters = LMB_NEW( &arena, double, count ), *gradient = LMB_NEW( &arena, double, count );
		lmbMlp_Init( &problem.mlp, 1.0, &random, parameters );
		for ( int l = 0; l < layers; ++l ) /* biases too, which start at 0 */
			for ( int k = 0; k < problem.mlp.sizes[l + 1]; ++k )
				parameters[problem.mlp.biases[l] + (size_t)k] = 0.3 * lmbRandom_Normal( &random );
		Loss( &problem, parameters, gradient );
		for ( size_t i = 0; i < count; ++i )
		{
			double keep = parameters[i], h = 1e-5;
			parameters[i] = keep + h;
			double up = Loss( &problem, parameters, NULL );
			parameters[i] = keep - h;
			double down = Loss( &problem, parameters, NULL );
			parameters[i] = keep;
			CHECK_NEAR( gradient[i], ( up - down ) / ( 2.0 * h ), 2e-9 );
		}
		lmbArena_Free( &arena );
	}
}

/* The gradient by the inputs, which structured limb models need. Loss: the plain sum of outputs. */
static void InputGradientByDifferences( void **state )
{
	(void)state;
	checkSeed = 12;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	lmbArena arena = { 0 };
	Problem problem;
	MakeProblem( &problem, 3, &random, &arena );
	size_t count = problem.mlp.parameterCount;
	double *parameters = LMB_NEW( &arena, double, count ), *gradient = LMB_NEW( &arena, double, count );
	lmbMlp_Init( &problem.mlp, 1.0, &random, parameters );
	double ones[sampleCount * 3], inputGradient[sampleCount * 5];
	for ( int i = 0; i < sampleCount * 3; ++i )
		ones[i] = 1.0;
	lmbMlp_Forward( &problem.pass, parameters, problem.inputs, sampleCount );
	lmbMlp_Backward( &problem.pass, parameters, problem.inputs, ones, gradient, inputGradient );
	for ( int i = 0; i < sampleCount * 5; ++i )
	{
		double sums[2], h = 1e-5, keep = problem.inputs[i];
		for ( int side = 0; side < 2; ++side )
		{
			problem.inputs[i] = side == 0 ? keep + h : keep - h;
			const double *y = lmbMlp_Forward( &problem.pass, parameters, problem.inputs, sampleCount );
			sums[side] = 0.0;
			for ( int k = 0; k < sampleCount * 3; ++k )
				sums[side] += y[k];
		}
		problem.inputs[i] = keep;
		CHECK_NEAR( inputGradient[i], ( sums[0] - sums[1] ) / ( 2.0 * h ), 2e-9 ); /* as above */
	}
	lmbArena_Free( &arena );
}

/* Against plain loops and the C library's tanh, one sample at a time. */
static void ForwardByLoops( void **state )
{
	(void)state;
	checkSeed = 13;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	lmbArena arena = { 0 };
	Problem problem;
	MakeProblem( &problem, 3, &random, &arena );
	double *parameters = LMB_NEW( &arena, double, problem.mlp.parameterCount );
	lmbMlp_Init( &problem.mlp, 1.0, &random, parameters );
	const double *outputs = lmbMlp_Forward( &problem.pass, parameters, problem.inputs, sampleCount );
	for ( int s = 0; s < sampleCount; ++s )
	{
		double x[8], y[8];
		memcpy( x, problem.inputs + s * 5, 5 * sizeof( double ) );
		for ( int l = 0; l < 3; ++l )
		{
			for ( int o = 0; o < problem.mlp.sizes[l + 1]; ++o )
			{
				y[o] = parameters[problem.mlp.biases[l] + (size_t)o];
				for ( int i = 0; i < problem.mlp.sizes[l]; ++i )
					y[o] +=
					    parameters[problem.mlp.weights[l] + (size_t)( o * problem.mlp.sizes[l] + i )] * x[i];
				y[o] = l < 2 ? tanh( y[o] ) : y[o];
			}
			memcpy( x, y, sizeof( x ) );
		}
		for ( int o = 0; o < 3; ++o )
			CHECK_NEAR( outputs[s * 3 + o], x[o], 1e-14 ); /* sums of eight numbers of order 1 */
	}
	lmbArena_Free( &arena );
}

static void TanhEverywhere( void **state )
{
	(void)state;
	double worst = 0.0;
	for ( int i = -400000; i <= 400000; ++i )
	{
		double x = (double)i * 1e-4, y = x;
		lmbTanh_Array( &y, 1 );
		worst = fmax( worst, fabs( y - tanh( x ) ) );
	}
	CHECK_NEAR( worst, 0.0, 3e-16 ); /* two units in the last place of 1 */
	double special[] = { 0.0, -0.0, 1e-300, 1e300, -1e300, NAN, -INFINITY };
	lmbTanh_Array( special, 7 );
	CHECK( special[0] == 0.0 && special[1] == 0.0 && special[3] == 1.0 && special[4] == -1.0 );
	CHECK( isnan( special[5] ) && isnan( special[6] ) );
}

static void BadShapesRefused( void **state )
{
	(void)state;
	lmbMlp mlp;
	lmbError error = { 0 };
	CHECK_INT( lmbMlp_Make( &mlp, ( int[] ){ 3, 0, 1 }, 2, &error ), lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "width 0" );
	CHECK_INT( lmbMlp_Make( &mlp, ( int[] ){ 3 }, 0, &error ), lmb_statusInvalidArgument );
	CHECK_INT( lmbMlp_Make( &mlp, ( int[] ){ 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 }, 9, &error ),
	           lmb_statusInvalidArgument );
}

/* Adam, then L-BFGS, must bring a small network down on data that it can fit: 6 weighted samples of 3
 * numbers with 113 parameters. Without decay the loss reaches (nearly) 0. */
static void TrainingFitsSmallData( void **state )
{
	(void)state;
	checkSeed = 14;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	lmbArena arena = { 0 };
	Problem problem;
	MakeProblem( &problem, 2, &random, &arena );
	problem.decay = 0.0;
	size_t count = problem.mlp.parameterCount;
	double *parameters = LMB_NEW( &arena, double, count ), *gradient = LMB_NEW( &arena, double, count );
	lmbMlp_Init( &problem.mlp, 1.0, &random, parameters );
	lmbAdam adam;
	CHECK_INT( lmbAdam_Make( &adam, count, &arena, NULL ), lmb_statusOk );
	double first = Loss( &problem, parameters, NULL ), afterAdam = 0.0;
	for ( int step = 0; step < 300; ++step )
	{
		Loss( &problem, parameters, gradient );
		lmbAdam_Step( &adam, 0.01, gradient, parameters );
	}
	afterAdam = Loss( &problem, parameters, NULL );
	CHECK( afterAdam < 0.1 * first );
	lmbLbfgsDef def = lmbDefaultLbfgsDef();
	lmbLbfgsReport report;
	CHECK_INT( lmbLbfgs_Minimize( count, parameters, Loss, &problem, &def, &report, NULL ), lmb_statusOk );
	CHECK( report.value < 1e-8 * first );
	CHECK_NEAR( Loss( &problem, parameters, NULL ), report.value, 1e-15 );
	lmbArena_Free( &arena );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( GradientByDifferences ), CHECK_TEST( InputGradientByDifferences ),
	    CHECK_TEST( ForwardByLoops ),        CHECK_TEST( TanhEverywhere ),
	    CHECK_TEST( BadShapesRefused ),      CHECK_TEST( TrainingFitsSmallData ),
	};
	return CHECK_RUN( tests );
}
