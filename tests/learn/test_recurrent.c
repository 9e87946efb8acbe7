#include "learn/recurrent.h"

#include "base/arena.h"
#include "check.h"
#include "formats/safetensors.h"

#include <stdlib.h>

enum
{
	steps = 5,
	count = 2,
	inputs = 3,
	hidden = 4,
	layers = 2
};

typedef struct Problem
{
	lmbRecurrent recurrent;
	lmbRecurrentPass pass;
	double *parameters, *gradient;
	double x[steps * count * inputs], start[count * 2 * layers * hidden], weights[steps * count * hidden];
	lmbArena arena;
} Problem;

static double Loss( Problem *problem )
{
	const double *y =
	    lmbRecurrent_Forward( &problem->pass, problem->parameters, problem->x, problem->start, steps, count );
	double sum = 0.0;
	for ( int i = 0; i < steps * count * hidden; ++i )
		sum += problem->weights[i] * y[i];
	return sum;
}

static void CheckSlope( Problem *problem, const char *what, double *at, double exact )
{
	double keep = *at, h = 1e-5;
	*at = keep + h;
	double up = Loss( problem );
	*at = keep - h;
	double down = Loss( problem );
	*at = keep;
	/* Truncation h^2 times third derivatives of order 1; rounding 1e-15 / h. */
	if ( !( fabs( exact - ( up - down ) / ( 2.0 * h ) ) <= 2e-9 ) )
		CheckNear( __FILE__, __LINE__, what, exact, ( up - down ) / ( 2.0 * h ), 2e-9 );
}

/* Through two layers and five steps: by every parameter and every number of the first state. */
static void GradientByDifferences( void **state )
{
	(void)state;
	for ( int lstm = 0; lstm < 2; ++lstm )
	{
		checkSeed = 51 + (uint64_t)lstm;
		lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
		Problem problem = { .arena = { 0 } };
		CHECK_INT( lmbRecurrent_Make( &problem.recurrent, lstm == 1, layers, inputs, hidden, NULL ),
		           lmb_statusOk );
		CHECK_INT(
		    lmbRecurrentPass_Make( &problem.pass, &problem.recurrent, count, steps, &problem.arena, NULL ),
		    lmb_statusOk );
		size_t parameterCount = problem.recurrent.parameterCount;
		problem.parameters = LMB_NEW( &problem.arena, double, parameterCount );
		problem.gradient = LMB_NEW( &problem.arena, double, parameterCount );
		lmbRecurrent_Init( &problem.recurrent, &random, problem.parameters );
		for ( int i = 0; i < steps * count * inputs; ++i )
			problem.x[i] = lmbRandom_Normal( &random );
		for ( int i = 0; i < count * problem.recurrent.stateCount; ++i )
			problem.start[i] = lmbRandom_Normal( &random );
		for ( int i = 0; i < steps * count * hidden; ++i )
			problem.weights[i] = lmbRandom_Normal( &random );
		double byStart[count * 2 * layers * hidden];
		Loss( &problem );
		lmbRecurrent_Backward( &problem.pass, problem.parameters, problem.x, problem.weights,
		                       problem.gradient, byStart );
		const char *name = lstm == 1 ? "lstm" : "gru";
		for ( size_t i = 0; i < parameterCount; ++i )
			CheckSlope( &problem, name, &problem.parameters[i], problem.gradient[i] );
		for ( int i = 0; i < count * problem.recurrent.stateCount; ++i )
			CheckSlope( &problem, name, &problem.start[i], byStart[i] );
		lmbArena_Free( &problem.arena );
	}
}

static const double *Get( const lmbTensorFile *file, const char *kind, const char *what, int rank,
                          int64_t *shape )
{
	char name[64];
	const void *data = NULL;
	lmbError error = { 0 };
	snprintf( name, sizeof( name ), "%s.%s", kind, what );
	CHECK_INT( lmbTensorFile_Get( file, name, lmb_dataF64, rank, shape, &data, &error ), lmb_statusOk );
	CHECK_OR_STOP( data != NULL );
	return data;
}

static void CheckArray( const char *what, const double *actual, const double *expected, size_t numbers,
                        double tolerance )
{
	double worst = 0.0;
	for ( size_t i = 0; i < numbers; ++i )
		worst = fmax( worst, fabs( actual[i] - expected[i] ) );
	CheckNear( __FILE__, __LINE__, what, worst, 0.0, tolerance );
}

/* PyTorch's own values and gradients in double (tests/golden/recurrent.py). Sums of some ten numbers of order
 * 1 in another order: 1e-14; gradients add over 21 rows and pass through seven steps: 1e-12. */
static void AgainstPyTorch( void **state )
{
	(void)state;
	static lmbTensorFile file;
	lmbError error = { 0 };
	CHECK_INT(
	    lmbTensorFile_Open( &file, LMB_TEST_SOURCE "/tests/golden/recurrent.safetensors", NULL, 0, &error ),
	    lmb_statusOk );
	CHECK_OR_STOP( error.message[0] == '\0' );
	for ( int lstm = 0; lstm < 2; ++lstm )
	{
		const char *kind = lstm == 1 ? "lstm" : "gru";
		int64_t x[3] = { -1, -1, -1 }, y[3] = { -1, -1, -1 }, p[1] = { -1 }, s[2] = { -1, -1 };
		const double *inputRows = Get( &file, kind, "inputs", 3, x );
		const double *outputs = Get( &file, kind, "outputs", 3, y );
		const double *weight = Get( &file, kind, "weight", 3, y );
		const double *parameters = Get( &file, kind, "parameters", 1, p );
		const double *gradient = Get( &file, kind, "gradient", 1, p );
		const double *start = Get( &file, kind, "start", 2, s );
		const double *startGradient = Get( &file, kind, "start_gradient", 2, s );
		lmbRecurrent recurrent;
		lmbRecurrentPass pass;
		lmbArena arena = { 0 };
		CHECK_INT( lmbRecurrent_Make( &recurrent, lstm == 1, 2, (int)x[2], (int)y[2], NULL ), lmb_statusOk );
		CHECK_INT( recurrent.parameterCount, p[0] );
		CHECK_INT( recurrent.stateCount, s[1] );
		CHECK_INT( lmbRecurrentPass_Make( &pass, &recurrent, (int)x[1], (int)x[0], &arena, NULL ),
		           lmb_statusOk );
		const double *h = lmbRecurrent_Forward( &pass, parameters, inputRows, start, (int)x[0], (int)x[1] );
		CheckArray( kind, h, outputs, (size_t)( y[0] * y[1] * y[2] ), 1e-14 );
		double *own = LMB_NEW( &arena, double, p[0] ), *byStart = LMB_NEW( &arena, double, s[0] * s[1] );
		lmbRecurrent_Backward( &pass, parameters, inputRows, weight, own, byStart );
		CheckArray( kind, own, gradient, (size_t)p[0], 1e-12 );
		CheckArray( kind, byStart, startGradient, (size_t)( s[0] * s[1] ), 1e-12 );
		lmbArena_Free( &arena );
	}
	lmbTensorFile_Close( &file );
}

static void WrongShapesAreRefused( void **state )
{
	(void)state;
	lmbRecurrent recurrent;
	lmbError error = { 0 };
	CHECK_INT( lmbRecurrent_Make( &recurrent, false, 9, 1, 1, &error ), lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "9 recurrent layers" );
	CHECK_INT( lmbRecurrent_Make( &recurrent, true, 1, 0, 1, &error ), lmb_statusInvalidArgument );
	CHECK_INT( lmbRecurrent_Make( &recurrent, true, 1, 1, 5000, &error ), lmb_statusInvalidArgument );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( GradientByDifferences ),
	    CHECK_TEST( AgainstPyTorch ),
	    CHECK_TEST( WrongShapesAreRefused ),
	};
	return CHECK_RUN( tests );
}
