/* What a step costs for a character of a human's size. Prints the time of each kind of step; fails only far
 * above the target of 2 ms, since machines and what else they do differ. */
#include "check.h"

#include "runtime/flesh_fixture.h"

#include <time.h>

enum
{
	stepCount = 200
};

/* Time that this thread itself was running, so that the machine's other work counts less. */
static double ThreadSeconds( void )
{
	struct timespec time;
	clock_gettime( CLOCK_THREAD_CPUTIME_ID, &time );
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int CompareDoubles( const void *a, const void *b )
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/* Median milliseconds of a step; jitter: no two steps of the same length. */
static double StepCost( const Fixture *fixture, const lmbModel *model, const lmbFleshDef *def, bool jitter )
{
	lmbArena arena = { 0 };
	lmbFleshBody *body = NULL;
	double times[stepCount], time = 0.0;
	if ( lmbModel_Body( model, def, &arena, &body, NULL ) != lmb_statusOk )
		return -1.0;
	for ( int n = 0; n < stepCount; ++n )
	{
		Placement placement;
		lmbFleshShape shape;
		double dt = jitter ? ( 1.0 + 0.001 * n ) / 60.0 : 1.0 / 60.0;
		time += dt;
		Fixture_Pose( fixture, time, &placement );
		double before = ThreadSeconds();
		CHECK_INT( lmbFleshBody_Step( body, &placement.pose, dt, &shape ), lmb_statusOk );
		times[n] = 1e3 * ( ThreadSeconds() - before );
	}
	qsort( times, stepCount, sizeof( times[0] ), CompareDoubles );
	lmbArena_Free( &arena );
	return times[stepCount / 2];
}

static void StepOfAHuman( void **state )
{
	(void)state;
	static const char *const layers[] = { "none", "vertex", "modal unfitted", "modal", "hybrid" };
	Fixture fixture;
	lmbModel model;
	Fixture_Make( &fixture, &largeFixture );
	Fixture_Open( &fixture, &model );
	lmbFleshInfo info = lmbFlesh_Info( model.flesh );
	lmbFleshDef def = lmbDefaultFleshDef( model.flesh );
	printf( "%d vertices, %d bones, %d coefficients, %d modes; instance %.2f MB\n", info.vertexCount,
	        info.boneCount, info.coefficientCount, info.modeCount,
	        1e-6 * (double)lmbFleshBody_Size( model.flesh, &def ) );
	for ( int layer = 0; layer < 5; ++layer )
		for ( int normals = 0; normals < 2; ++normals )
		{
			def.layer = (lmbLayer)layer;
			def.normals = normals == 1;
			double steady = StepCost( &fixture, &model, &def, false ),
			       jittered = StepCost( &fixture, &model, &def, true );
			printf( "%-14s %-12s %.3f ms a step, %.3f ms when its length changes\n", layers[layer],
			        normals ? "with normals" : "", steady, jittered );
			CHECK( steady < 20.0 );
		}
	lmbModel_Close( &model );
	Fixture_Free( &fixture );
}

int main( void )
{
	const struct CMUnitTest tests[] = { CHECK_TEST( StepOfAHuman ) };
	return CHECK_RUN( tests );
}
