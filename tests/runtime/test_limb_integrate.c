/* The integrators: order of convergence against a fine reference of the same model, energy, inputs,
 * stiffness, error control, and states that diverge. */
#include "check.h"

#include "runtime/limb_fixture.h"

static const LimbDef armDef = { .kind = lmb_limbLagrangian,
                                .n = 2,
                                .m = 2,
                                .style = styleAll,
                                .hiddenLayers = 2,
                                .width = 16,
                                .potential = true,
                                .dampingConstant = true,
                                .seed = 31 };
static const LimbDef freeDef = { .kind = lmb_limbLagrangian,
                                 .n = 2,
                                 .m = 2,
                                 .style = styleAll,
                                 .hiddenLayers = 2,
                                 .width = 16,
                                 .potential = true,
                                 .seed = 32 };

static const char *const names[] = { "semi-implicit Euler", "RK4", "implicit midpoint", "Dormand-Prince" };

/* One second from a fixed start in equal calls, each one step of the method; the input is a ramp. */
static void Run( LimbFixture *f, const lmbLimb *model, lmbIntegrator integrator, int steps, double out[4] )
{
	lmbLimbDef def = lmbDefaultLimbDef( model );
	def.integrator = integrator;
	def.maxStep = 2.0 / steps;
	def.tolerance = 1.0; /* Dormand-Prince takes what it is given */
	lmbLimbBody *body = LimbFixture_Body( f, model, &def );
	const double q[2] = { 0.3, 1.1 }, v[2] = { 2.4, -1.8 };
	CHECK_INT( lmbLimbBody_Start( body, q, v ), lmb_statusOk );
	for ( int i = 0; i < steps; ++i )
	{
		double a = (double)i / steps, b = ( i + 1.0 ) / steps;
		double start[2] = { 1.0 - 2.0 * a, 0.5 * a }, end[2] = { 1.0 - 2.0 * b, 0.5 * b };
		CHECK_INT( lmbLimbBody_Step( body, start, end, 1.0 / steps ), lmb_statusOk );
	}
	lmbLimbBody_State( body, out, out + 2 );
}

static double Distance( const double *a, const double *b )
{
	double sum = 0.0;
	for ( int i = 0; i < 4; ++i )
		sum += ( a[i] - b[i] ) * ( a[i] - b[i] );
	return sqrt( sum );
}

static void OrdersOfConvergence( void **state )
{
	(void)state;
	LimbFixture *f = LimbFixture_Make( &armDef );
	const lmbLimb *model = LimbFixture_Load( f );
	const double orders[4] = { 1.0, 4.0, 2.0, 5.0 };
	const int steps[4] = { 400, 16, 100, 8 };
	double reference[4], other[4];
	Run( f, model, lmb_integratorRk4, 2000, reference );
	Run( f, model, lmb_integratorRk4, 1000, other );
	/* What float networks leave of a state after a second; errors below must stand well above it. */
	double noise = Distance( reference, other );
	printf( "reference: %.1e\n", noise );
	CHECK( noise < 3e-7 );
	for ( int method = 0; method < 4; ++method )
	{
		double errors[2];
		for ( int half = 0; half < 2; ++half )
		{
			double end[4];
			Run( f, model, (lmbIntegrator)method, steps[method] << half, end );
			errors[half] = Distance( end, reference );
		}
		double order = log2( errors[0] / errors[1] );
		printf( "%s: %.2e, %.2e, order %.2f\n", names[method], errors[0], errors[1], order );
		CHECK( errors[1] > 10.0 * noise );
		/* The next term of the error's series shows at steps this long; of Dormand-Prince, whose own term was
		 * made small, it rules, and the linear motion below tells its order. */
		CHECK( order > orders[method] - 0.35 );
		CHECK( order < orders[method] + ( method == 3 ? 1.35 : 0.35 ) );
	}
	LimbFixture_Free( f );
}

/* A split step is its parts, and a held input acts to the end of its own call. */
static void LongStepsAreSplit( void **state )
{
	(void)state;
	LimbFixture *f = LimbFixture_Make( &armDef );
	const lmbLimb *model = LimbFixture_Load( f );
	for ( int method = 0; method < 3; ++method )
	{
		lmbLimbDef def = lmbDefaultLimbDef( model );
		def.integrator = (lmbIntegrator)method;
		lmbLimbBody *one = LimbFixture_Body( f, model, &def ), *two = LimbFixture_Body( f, model, &def );
		double a[4], b[4];
		for ( int i = 0; i < 50; ++i )
		{
			double u[2] = { i % 7 - 3.0, i % 5 - 2.0 };
			CHECK_INT( lmbLimbBody_Step( one, u, NULL, 0.02 ), lmb_statusOk );
			for ( int k = 0; k < 4; ++k )
				CHECK_INT( lmbLimbBody_Step( two, u, u, 0.005 ), lmb_statusOk );
		}
		lmbLimbBody_State( one, a, a + 2 );
		lmbLimbBody_State( two, b, b + 2 );
		CHECK( memcmp( a, b, sizeof( a ) ) == 0 );
		CHECK( fabs( a[0] ) + fabs( a[1] ) > 1e-3 );
	}
	LimbFixture_Free( f );
}

static Real Energy( const LimbFixture *f, const lmbLimbBody *body )
{
	double q[2], v[2];
	lmbLimbBody_State( body, q, v );
	return TrueEnergy( f, ( Real[] ){ q[0], q[1] }, ( Real[] ){ v[0], v[1] } );
}

/* 20 s without friction and input. RK4 loses a little at this step, implicit midpoint (symplectic) keeps
 * swinging about; what is left is the networks' float. */
static void EnergyStays( void **state )
{
	(void)state;
	LimbFixture *f = LimbFixture_Make( &freeDef );
	const lmbLimb *model = LimbFixture_Load( f );
	const double bounds[4] = { 5e-2, 1e-5, 1e-4, 1e-4 };
	for ( int method = 0; method < 4; ++method )
	{
		lmbLimbDef def = lmbDefaultLimbDef( model );
		def.integrator = (lmbIntegrator)method;
		lmbLimbBody *body = LimbFixture_Body( f, model, &def );
		const double q[2] = { 0.4, -0.9 }, v[2] = { 1.5, 0.5 }, none[2] = { 0.0, 0.0 };
		lmbLimbBody_Start( body, q, v );
		Real start = Energy( f, body ), kinetic = start - TruePotential( f, ( Real[] ){ q[0], q[1] } );
		double worst = 0.0, last = 0.0;
		for ( int i = 0; i < 4000; ++i )
		{
			CHECK_INT( lmbLimbBody_Step( body, none, NULL, 0.005 ), lmb_statusOk );
			if ( i % 40 != 39 )
				continue;
			last = (double)( ( Energy( f, body ) - start ) / kinetic );
			worst = fabs( last ) > worst ? fabs( last ) : worst;
		}
		printf( "%s: energy off by at most %.1e, at the end %.1e of the first kinetic energy\n",
		        names[method], worst, last );
		CHECK( worst < bounds[method] );
		CHECK( worst > 0.0 );
	}
	LimbFixture_Free( f );
}

/* One degree of freedom of constant mass m and damping d, a number of doubles alone: v' = (u - d v) / m. The
 * model is rewritten so that d / m = rate. */
static LimbFixture *Damped( double rate, double *mass )
{
	const LimbDef def = { .kind = lmb_limbLagrangian,
	                      .n = 1,
	                      .m = 1,
	                      .style = styleNoBase,
	                      .hiddenLayers = 1,
	                      .width = 4,
	                      .dampingConstant = true,
	                      .seed = 33 };
	LimbFixture *f = LimbFixture_Make( &def );
	const double still = 0.0;
	double torque = 0.0, one = 1.0;
	lmbLimbTorques parts = { 0 };
	lmbLimbDef settings = lmbDefaultLimbDef( LimbFixture_Load( f ) );
	lmbLimbBody *body = LimbFixture_Body( f, LimbFixture_Load( f ), &settings );
	CHECK_INT( lmbLimbBody_Inverse( body, &still, &still, &one, &parts ), lmb_statusOk );
	Real truth[1], place[1] = { 0.0L };
	TrueMass( f, place, truth );
	torque = parts.inertial[0];
	CHECK_NEAR( torque, (double)truth[0], 1e-5 );
	*mass = torque;
	f->dampingConstant[0] = sqrt( rate * torque );
	CHECK_OR_STOP( WriteModel( f, f->path ) &&
	               lmbFile_Read( f->path, &f->arena, &f->bytes, &f->size, NULL ) == lmb_statusOk );
	return f;
}

/* Under a ramp u = 1 - 3 t from v = 2, q = 0.5: v = a + b t + c e^(-rate t). */
static void OrdersOnALinearMotion( void **state )
{
	(void)state;
	const double rate = 2.0, orders[4] = { 1.0, 4.0, 2.0, 5.0 };
	double mass;
	LimbFixture *f = Damped( rate, &mass );
	const lmbLimb *model = LimbFixture_Load( f );
	double d = rate * mass, b = -3.0 / d, a = ( 1.0 - mass * b ) / d, c = 2.0 - a;
	double speed = a + b + c * exp( -rate ), place = 0.5 + a + 0.5 * b + c * ( 1.0 - exp( -rate ) ) / rate;
	for ( int method = 0; method < 4; ++method )
	{
		double errors[2];
		for ( int half = 0; half < 2; ++half )
		{
			int steps = 16 << half;
			lmbLimbDef def = lmbDefaultLimbDef( model );
			def.integrator = (lmbIntegrator)method;
			def.maxStep = 1.0;
			def.tolerance = 1.0;
			lmbLimbBody *body = LimbFixture_Body( f, model, &def );
			double q = 0.5, v = 2.0;
			lmbLimbBody_Start( body, &q, &v );
			for ( int i = 0; i < steps; ++i )
			{
				double start = 1.0 - 3.0 * i / steps, end = 1.0 - 3.0 * ( i + 1 ) / steps;
				CHECK_INT( lmbLimbBody_Step( body, &start, &end, 1.0 / steps ), lmb_statusOk );
			}
			lmbLimbBody_State( body, &q, &v );
			errors[half] = hypot( q - place, v - speed );
		}
		double order = log2( errors[0] / errors[1] );
		printf( "%s: %.2e, %.2e, order %.2f against the closed form\n", names[method], errors[0], errors[1],
		        order );
		CHECK_NEAR( order, orders[method], 0.15 ); /* the series' next term, a sixteenth of a second apart */
	}
	LimbFixture_Free( f );
}

/* With d h / m = 5 a fixed-point iteration of the midpoint rule blows up; the rule itself is
 * (1 - x) / (1 + x), x = d h / (2 m). */
static void ImplicitMidpointTakesStiffness( void **state )
{
	(void)state;
	const double h = 0.005;
	double mass, q = 0.0, v = 2.0, u = 0.0, expected = v;
	LimbFixture *f = Damped( 5.0 / h, &mass );
	const lmbLimb *model = LimbFixture_Load( f );
	lmbLimbDef settings = lmbDefaultLimbDef( model );
	settings.integrator = lmb_integratorImplicitMidpoint;
	lmbLimbBody *body = LimbFixture_Body( f, model, &settings );
	lmbLimbBody_Start( body, &q, &v );
	for ( int i = 0; i < 20; ++i )
	{
		CHECK_INT( lmbLimbBody_Step( body, &u, NULL, h ), lmb_statusOk );
		expected *= ( 1.0 - 2.5 ) / ( 1.0 + 2.5 );
		lmbLimbBody_State( body, &q, &v );
		CHECK_NEAR( v, expected, 1e-12 ); /* converged to rounding, a step at a time */
	}
	LimbFixture_Free( f );
}

/* The error falls with the tolerance, whatever the length of the calls. */
static void DormandPrinceKeepsItsTolerance( void **state )
{
	(void)state;
	LimbFixture *f = LimbFixture_Make( &armDef );
	const lmbLimb *model = LimbFixture_Load( f );
	const double q[2] = { 0.3, 1.1 }, v[2] = { 2.4, -1.8 }, u[2] = { 1.0, -0.5 };
	double reference[4], end[4];
	for ( int lengths = 0; lengths < 2; ++lengths )
		for ( int t = 0; t < 4; ++t )
		{
			lmbLimbDef def = lmbDefaultLimbDef( model );
			const double tolerances[4] = { 0.0, 1e-3, 1e-5, 1e-6 };
			def.integrator = t == 0 ? lmb_integratorRk4 : lmb_integratorDormandPrince;
			def.tolerance = t == 0 ? def.tolerance : tolerances[t];
			def.maxStep = t == 0 ? 0.0005 : 0.1;
			lmbLimbBody *body = LimbFixture_Body( f, model, &def );
			lmbLimbBody_Start( body, q, v );
			for ( int i = 0; i < ( lengths == 0 ? 1 : 37 ); ++i )
				CHECK_INT( lmbLimbBody_Step( body, u, NULL, lengths == 0 ? 1.0 : 1.0 / 37.0 ), lmb_statusOk );
			lmbLimbBody_State( body, t == 0 ? reference : end, t == 0 ? reference + 2 : end + 2 );
			if ( t == 0 )
				continue;
			double error = Distance( reference, end );
			printf( "tolerance %.0e: error %.1e\n", tolerances[t], error );
			CHECK( error < 30.0 * tolerances[t] ); /* local errors add up over a few dozen steps */
		}
	LimbFixture_Free( f );
}

/* Quadratic in speed and nothing that brakes: such a model runs away. */
static void DivergenceIsCaught( void **state )
{
	(void)state;
	const LimbDef affine = { .kind = lmb_limbAffine,
	                         .n = 2,
	                         .m = 2,
	                         .style = styleAll,
	                         .hiddenLayers = 1,
	                         .width = 8,
	                         .seed = 34 };
	LimbFixture *f = LimbFixture_Make( &affine );
	const lmbLimb *model = LimbFixture_Load( f );
	for ( int method = 0; method < 4; ++method )
	{
		lmbLimbDef def = lmbDefaultLimbDef( model );
		def.integrator = (lmbIntegrator)method;
		lmbLimbBody *body = LimbFixture_Body( f, model, &def );
		const double q[2] = { 0.0, 0.0 }, v[2] = { 1e6, -1e6 }, u[2] = { 0.0, 1e9 };
		bool diverged = false;
		lmbLimbBody_Start( body, q, v );
		for ( int i = 0; i < 200; ++i )
		{
			double place[2], speed[2];
			diverged |= lmbLimbBody_Step( body, u, NULL, 0.01 ) == lmb_statusNumerical;
			lmbLimbBody_State( body, place, speed );
			for ( int k = 0; k < 2; ++k )
				CHECK( fabs( place[k] ) <= 1e9 && fabs( speed[k] ) <= 1e9 );
		}
		CHECK( diverged );
		/* A new start is as good as ever. */
		const double slow[2] = { 0.1, 0.1 }, none[2] = { 0.0, 0.0 };
		CHECK_INT( lmbLimbBody_Start( body, q, slow ), lmb_statusOk );
		CHECK_INT( lmbLimbBody_Step( body, none, NULL, 0.01 ), lmb_statusOk );
	}
	LimbFixture_Free( f );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( OrdersOfConvergence ),
	    CHECK_TEST( OrdersOnALinearMotion ),
	    CHECK_TEST( LongStepsAreSplit ),
	    CHECK_TEST( EnergyStays ),
	    CHECK_TEST( ImplicitMidpointTakesStiffness ),
	    CHECK_TEST( DormandPrinceKeepsItsTolerance ),
	    CHECK_TEST( DivergenceIsCaught ),
	};
	return CHECK_RUN( tests );
}
