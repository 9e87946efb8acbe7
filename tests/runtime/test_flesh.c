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

/* Shapes as bytes: off by no more than the tolerance says, still as a body and as the springs' force; a model
 * without columns that matter shrinks; made twice it is the same file, and compact already it stays. */
static void CompactAgrees( void **state )
{
	(void)state;
	static const double tolerances[] = { 1e-6, 2e-5, 5e-4 }; /* m */
	Fixture fixture;
	lmbModel before, after;
	Fixture_Make( &fixture, &smallFixture );
	Fixture_Open( &fixture, &before );
	lmbFleshDef def = lmbDefaultFleshDef( before.flesh );
	for ( int t = 0; t < 3; ++t )
	{
		lmbArena arena = { 0 };
		lmbError error = { 0 };
		lmbFleshBody *bodies[2];
		double sum = 0.0;
		lmbModel_Close( &before );
		Fixture_Open( &fixture, &before );
		CHECK_OR_STOP( Fixture_Compact( &fixture, fixture.path, tolerances[t] ) );
		CHECK( !Fixture_Compact( &fixture, fixture.path, tolerances[t] ) );
		CHECK_OR_STOP( lmbModel_Open( &after, fixture.path, &error ) == lmb_statusOk );
		CHECK( memcmp( &( lmbFleshInfo[1] ){ lmbFlesh_Info( before.flesh ) }[0],
		               &( lmbFleshInfo[1] ){ lmbFlesh_Info( after.flesh ) }[0],
		               sizeof( lmbFleshInfo ) ) == 0 );
		bodies[0] = MakeBody( &before, &def, &arena );
		bodies[1] = MakeBody( &after, &def, &arena );
		for ( int n = 0; n < 120; ++n )
		{
			Placement placement;
			lmbFleshShape shapes[2];
			Fixture_Pose( &fixture, n / 60.0, &placement );
			for ( int i = 0; i < 2; ++i )
				CHECK_INT( lmbFleshBody_Step( bodies[i], &placement.pose, 1.0 / 60.0, &shapes[i] ),
				           lmb_statusOk );
			for ( int i = 0; i < 3 * fixture.def.vertexCount; ++i )
			{
				double off = (double)shapes[0].positions[i] - shapes[1].positions[i];
				sum += off * off;
			}
		}
		double rms = sqrt( sum / ( 120.0 * fixture.def.vertexCount ) );
		printf( "tolerance %.4f mm: off by %.4f mm RMS\n", 1e3 * tolerances[t], 1e3 * rms );
		/* Network and modes may each be off by the tolerance, and the amounts here are only roughly those
		 * that it was made for. Amounts are rounded to 16 bits besides, the network's weights and what
		 * they multiply to 13: about 1e-4 of displacements of 0.1 m. */
		CHECK( rms < 3.0 * tolerances[t] + 1e-5 );
		lmbModel_Close( &after );
		lmbArena_Free( &arena );
	}
	lmbModel_Close( &before );
	Fixture_Free( &fixture );
}

/* `write PATH` makes a small model for tests that drive other programs, `compact PATH` the same with its
 * shapes as bytes. */
static int WriteModel( const char *path, bool compact )
{
	Fixture fixture;
	lmbError error = { 0 };
	Fixture_Make( &fixture, &smallFixture );
	lmbStatus status = lmbModel_Write( &fixture.character, &fixture.tissue, &fixture.network,
	                                   &fixture.springs, path, &error );
	bool done = status == lmb_statusOk && ( !compact || Fixture_Compact( &fixture, path, 2e-5 ) );
	Fixture_Free( &fixture );
	return done ? 0 : 1;
}

int main( int argc, char **argv )
{
	if ( argc == 3 && strcmp( argv[1], "write" ) == 0 )
		return WriteModel( argv[2], false );
	if ( argc == 3 && strcmp( argv[1], "compact" ) == 0 )
		return WriteModel( argv[2], true );
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( AgreesWithDouble ),
	    CHECK_TEST( CompactAgrees ),
	};
	return CHECK_RUN( tests );
}
