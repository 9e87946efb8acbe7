/* A moving body against the same equations in double, and against what its header promises. */
#include "check.h"

#include "runtime/flesh_fixture.h"

static lmbFleshBody *MakeBody( const lmbModel *model, const lmbFleshDef *def, lmbArena *arena )
{
	lmbFleshBody *body = NULL;
	lmbError error = { 0 };
	CHECK_INT( lmbModel_Body( model, def, arena, &body, &error ), lmb_statusOk );
	CHECK_OR_STOP( body != NULL );
	return body;
}

static double Largest( const float *a, const double *b, int count )
{
	double largest = 0.0;
	for ( int i = 0; i < count; ++i )
		largest = fmax( largest, fabs( a[i] - b[i] ) );
	return largest;
}

static void AgreesWithDouble( void **state )
{
	(void)state;
	Fixture fixture;
	lmbModel model;
	Fixture_Make( &fixture, &smallFixture );
	Fixture_Open( &fixture, &model );
	checkSeed = fixture.def.seed;
	for ( int c = 0; c < 5 * 2 * 2 * 2; ++c )
	{
		lmbArena arena = { 0 };
		lmbFleshDef def = { .layer = (lmbLayer)( c % 5 ),
		                    .network = c / 5 % 2 == 1,
		                    .interpolation = (lmbTargetInterpolation)( c / 10 % 2 ),
		                    .normals = true,
		                    .poseStiffness = c / 20 == 1 };
		lmbFleshBody *body = MakeBody( &model, &def, &arena );
		Reference reference;
		Reference_Make( &reference, &fixture, &def );
		lmbRandom random = lmbRandom_Seed( checkSeed, 2 );
		double time = 0.3, worst = 0.0, motion = 0.0;
		for ( int n = 0; n < 120; ++n )
		{
			Placement placement;
			lmbFleshShape shape;
			double dt = n % 3 == 0 ? 1.0 / 60.0 : 0.002 + 0.03 * lmbRandom_Uniform( &random );
			time += dt;
			Fixture_Pose( &fixture, time, &placement );
			CHECK_INT( lmbFleshBody_Step( body, &placement.pose, dt, &shape ), lmb_statusOk );
			Reference_Step( &reference, &placement.pose, dt );
			worst = fmax( worst, Largest( shape.positions, reference.shape, 3 * fixture.def.vertexCount ) );
			for ( int i = 0; i < 3 * fixture.def.vertexCount; ++i )
				motion = fmax( motion, fabs( reference.u[i] ) );
			for ( int m = 0; m < fixture.def.modeCount; ++m )
				motion = fmax( motion, fabs( reference.q[m] ) );
		}
		/* Places of about 2 m in 24 bits, through some ten roundings and springs that gather them. */
		CHECK_NEAR( worst, 0.0, 4e-6 );
		CHECK( motion > 0.05 || def.layer == lmb_layerNone ); /* the springs did move */
		printf( "layer %d, network %d, interpolation %d: off by %.2g m, springs moved %.2g\n", def.layer,
		        def.network, def.interpolation, worst, motion );
		Reference_Free( &reference );
		lmbArena_Free( &arena );
	}
	lmbModel_Close( &model );
	Fixture_Free( &fixture );
}

/* `write PATH` makes a small model for tests that drive other programs. */
static int WriteModel( const char *path )
{
	Fixture fixture;
	lmbError error = { 0 };
	Fixture_Make( &fixture, &smallFixture );
	lmbStatus status = lmbModel_Write( &fixture.character, &fixture.tissue, &fixture.network,
	                                   &fixture.springs, path, &error );
	Fixture_Free( &fixture );
	return status == lmb_statusOk ? 0 : 1;
}

int main( int argc, char **argv )
{
	if ( argc == 3 && strcmp( argv[1], "write" ) == 0 )
		return WriteModel( argv[2] );
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( AgreesWithDouble ),
	};
	return CHECK_RUN( tests );
}
