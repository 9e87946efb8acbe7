#include "learn/optimize.h"

#include "check.h"

/* Rosenbrock's valley in n dimensions (Rosenbrock 1960; this chained form as in More, Garbow and
 * Hillstrom 1981): the minimum is 0 at (1, .., 1). */
enum
{
	valleyCount = 10
};

static double Valley( void *context, const double *x, double *g )
{
	(void)context;
	double value = 0.0;
	memset( g, 0, valleyCount * sizeof( double ) );
	for ( int i = 0; i + 1 < valleyCount; ++i )
	{
		double a = x[i + 1] - x[i] * x[i], b = 1.0 - x[i];
		value += 100.0 * a * a + b * b;
		g[i] += -400.0 * a * x[i] - 2.0 * b;
		g[i + 1] += 200.0 * a;
	}
	return value;
}

static void LbfgsFindsTheValley( void **state )
{
	(void)state;
	double x[valleyCount];
	for ( int i = 0; i < valleyCount; ++i )
		x[i] = i % 2 == 0 ? -1.2 : 1.0;
	lmbLbfgsDef def = lmbDefaultLbfgsDef();
	def.iterations = 500;
	lmbLbfgsReport report;
	CHECK_INT( lmbLbfgs_Minimize( valleyCount, x, Valley, NULL, &def, &report, NULL ), lmb_statusOk );
	CHECK( report.converged );
	/* |gradient| <= 1e-10 |x| and a smallest curvature of about 0.2 there: |x - 1| below 2e-9. */
	for ( int i = 0; i < valleyCount; ++i )
		CHECK_NEAR( x[i], 1.0, 2e-9 );
}

/* A quadratic bowl of any (odd) size, so that the padding inside cannot matter. */
typedef struct Bowl
{
	size_t count;
	int seen, stopAt;
} Bowl;

static double BowlValue( void *context, const double *x, double *g )
{
	const Bowl *bowl = context;
	double value = 0.0;
	for ( size_t i = 0; i < bowl->count; ++i )
	{
		double stiffness = 1.0 + (double)i, off = x[i] - 0.1 * (double)i;
		value += 0.5 * stiffness * off * off;
		g[i] = stiffness * off;
	}
	return value;
}

static bool BowlObserver( void *context, int iteration, const double *parameters, double value )
{
	Bowl *bowl = context;
	(void)parameters, (void)value;
	bowl->seen = iteration;
	return iteration < bowl->stopAt;
}

static void LbfgsAnySizeAndObserver( void **state )
{
	(void)state;
	for ( size_t count = 1; count <= 40; ++count )
	{
		Bowl bowl = { count, 0, 1000 };
		double x[40] = { 5.0 };
		lmbLbfgsDef def = lmbDefaultLbfgsDef();
		def.observer = BowlObserver;
		CHECK_INT( lmbLbfgs_Minimize( count, x, BowlValue, &bowl, &def, NULL, NULL ), lmb_statusOk );
		for ( size_t i = 0; i < count; ++i )
			CHECK_NEAR( x[i], 0.1 * (double)i, 1e-8 ); /* gradient 1e-10 |x| over curvature >= 1 */
	}
	Bowl bowl = { 40, 0, 3 };
	double x[40] = { 5.0 };
	lmbLbfgsDef def = lmbDefaultLbfgsDef();
	def.observer = BowlObserver;
	lmbLbfgsReport report;
	CHECK_INT( lmbLbfgs_Minimize( 40, x, BowlValue, &bowl, &def, &report, NULL ), lmb_statusOk );
	CHECK_INT( bowl.seen, 3 );
	CHECK( !report.converged );
}

static double NotANumber( void *context, const double *x, double *g )
{
	(void)context;
	g[0] = x[0];
	return NAN;
}

static void LbfgsRefusesNan( void **state )
{
	(void)state;
	double x[1] = { 2.0 };
	lmbLbfgsDef def = lmbDefaultLbfgsDef();
	lmbError error = { 0 };
	CHECK_INT( lmbLbfgs_Minimize( 1, x, NotANumber, NULL, &def, NULL, &error ), lmb_statusNumerical );
	CHECK_CONTAINS( error.message, "not finite" );
	CHECK_NEAR( x[0], 2.0, 0.0 );
	CHECK_INT( lmbLbfgs_Minimize( 0, x, NotANumber, NULL, &def, NULL, &error ), lmb_statusInvalidArgument );
}

/* The first step of Adam is the rate times the gradient's sign, whatever the gradient's size; the second,
 * by hand from the paper's algorithm 1. */
static void AdamByHand( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	lmbAdam adam;
	CHECK_INT( lmbAdam_Make( &adam, 2, &arena, NULL ), lmb_statusOk );
	double x[2] = { 1.0, 1.0 };
	lmbAdam_Step( &adam, 0.1, ( double[] ){ 1000.0, -0.01 }, x );
	CHECK_NEAR( x[0], 0.9, 1e-6 ); /* epsilon 1e-8 over 0.01 */
	CHECK_NEAR( x[1], 1.1, 1e-6 );
	lmbAdam_Step( &adam, 0.1, ( double[] ){ 0.0, -0.01 }, x );
	double m = 0.9 * 100.0 / ( 1.0 - 0.81 ), v = 0.999 * 1000.0 / ( 1.0 - 0.998001 );
	CHECK_NEAR( x[0], 0.9 - 0.1 * m / sqrt( v ), 1e-9 );
	lmbArena_Free( &arena );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( LbfgsFindsTheValley ),
	    CHECK_TEST( LbfgsAnySizeAndObserver ),
	    CHECK_TEST( LbfgsRefusesNan ),
	    CHECK_TEST( AdamByHand ),
	};
	return CHECK_RUN( tests );
}
