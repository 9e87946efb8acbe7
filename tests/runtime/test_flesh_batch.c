/* Many bodies in one call against each stepped alone: bit for bit, whatever their number, layers, directions
 * and threads; and what the call refuses. */
#include "check.h"

#include "runtime/flesh_fixture.h"

#include <pthread.h>

enum
{
	most = 37, /* three groups, the last one not full */
	frames = 24
};

static Fixture fixture;
static lmbModel models[2]; /* as written, and compact */

static int OpenFixtures( void **state )
{
	(void)state;
	Fixture_Make( &fixture, &smallFixture );
	Fixture_Open( &fixture, &models[0] );
	lmbError error = { 0 };
	CHECK_OR_STOP( Fixture_Compact( &fixture, fixture.path, 1e-4 ) );
	CHECK_OR_STOP( lmbModel_Open( &models[1], fixture.path, &error ) == lmb_statusOk );
	return 0;
}

static int CloseFixtures( void **state )
{
	(void)state;
	lmbModel_Close( &models[0] );
	lmbModel_Close( &models[1] );
	Fixture_Free( &fixture );
	return 0;
}

/* Body i has its own layer, target and direction. */
static lmbFleshBody *MakeBody( const lmbModel *model, lmbArena *arena, int i )
{
	lmbFleshBody *body = NULL;
	lmbFleshDef def = lmbDefaultFleshDef( model->flesh );
	def.layer = i % 3 == 0 ? lmb_layerHybrid : (lmbLayer)( i % 5 );
	def.interpolation = i % 4 == 1 ? lmb_targetLinear : lmb_targetCubic;
	def.network = i % 7 != 2;
	def.normals = i % 6 != 5;
	def.kernels = i % 8 == 7 ? lmb_kernelsPlain : lmb_kernelsBest;
	CHECK_OR_STOP( lmbModel_Body( model, &def, arena, &body, NULL ) == lmb_statusOk );
	lmbFleshDirection direction = lmbDefaultFleshDirection();
	direction.gain = 1.0f + 0.1f * (float)( i % 4 );
	direction.stiffness = i % 2 ? 1.0f : 1.7f;
	direction.acceleration[0] = 0.3 * i;
	CHECK_INT( lmbFleshBody_Direct( body, &direction ), lmb_statusOk );
	return body;
}

/* What happens to a body between frames; the same for both ways. */
static void Disturb( lmbFleshBody *body, int i, int frame )
{
	if ( frame == 5 + i % 4 && i % 3 == 1 )
		CHECK_INT( lmbFleshBody_Push( body, ( double[] ){ 0.4, 0.1 * i, -0.2 } ), lmb_statusOk );
	if ( i % 5 == 4 && frame == 8 )
		lmbFleshBody_Sleep( body, true );
	if ( i % 5 == 4 && frame == 14 )
		lmbFleshBody_Sleep( body, false );
	if ( i % 6 == 3 && frame == 11 )
		lmbFleshBody_Teleport( body );
	if ( i % 9 == 6 )
		lmbFleshBody_Pause( body, frame > 9 && frame < 13 );
}

/* Threads that take the next index as long as there is one. */
typedef struct Crew
{
	void ( *work )( void *context, int index );
	void *context;
	int count, next, calls;
	pthread_mutex_t lock;
} Crew;

static void *TakeTurns( void *argument )
{
	Crew *crew = argument;
	for ( ;; )
	{
		pthread_mutex_lock( &crew->lock );
		int index = crew->next++;
		pthread_mutex_unlock( &crew->lock );
		if ( index >= crew->count )
			return NULL;
		crew->work( crew->context, index );
	}
}

static void RunInThreads( void *user, int count, void ( *work )( void *context, int index ), void *context )
{
	enum
	{
		threads = 4
	};
	pthread_t ids[threads];
	Crew crew = { .work = work, .context = context, .count = count };
	pthread_mutex_init( &crew.lock, NULL );
	for ( int t = 0; t < threads; ++t )
		CHECK_OR_STOP( pthread_create( &ids[t], NULL, TakeTurns, &crew ) == 0 );
	for ( int t = 0; t < threads; ++t )
		pthread_join( ids[t], NULL );
	pthread_mutex_destroy( &crew.lock );
	*(int *)user += count;
}

static void RunBackwards( void *user, int count, void ( *work )( void *context, int index ), void *context )
{
	for ( int i = count - 1; i >= 0; --i )
		work( context, i );
	*(int *)user += count;
}

static void CompareShapes( const lmbFleshShape *a, const lmbFleshShape *b )
{
	size_t bytes = 3 * (size_t)fixture.def.vertexCount * sizeof( float );
	CHECK( memcmp( a->positions, b->positions, bytes ) == 0 );
	CHECK( ( a->normals == NULL ) == ( b->normals == NULL ) );
	CHECK( a->normals == NULL || b->normals == NULL || memcmp( a->normals, b->normals, bytes ) == 0 );
}

static void CompareStates( const lmbFleshBody *a, const lmbFleshBody *b )
{
	size_t size = lmbFleshBody_StateSize( a );
	char *both = calloc( 2, size );
	CHECK_INT( lmbFleshBody_Save( a, both, size ), lmb_statusOk );
	CHECK_INT( lmbFleshBody_Save( b, both + size, size ), lmb_statusOk );
	CHECK( memcmp( both, both + size, size ) == 0 );
	free( both );
}

static void CompareRuns( const lmbModel *model, int count, const lmbTasks *tasks )
{
	lmbArena arena = { 0 };
	lmbFleshBody *alone[most], *together[most];
	Placement *placements = LMB_NEW( &arena, Placement, most );
	lmbFleshPose poses[most];
	lmbFleshShape shapes[most], shape;
	for ( int i = 0; i < count; ++i )
	{
		alone[i] = MakeBody( model, &arena, i );
		together[i] = MakeBody( model, &arena, i );
	}
	for ( int n = 0; n < frames; ++n )
	{
		double dt = n % 6 == 5 ? 0.0 : n % 3 == 0 ? 1.0 / 30.0 : 1.0 / 60.0;
		for ( int i = 0; i < count; ++i )
		{
			Fixture_Pose( &fixture, n / 60.0 + 0.37 * i, &placements[i] );
			poses[i] = placements[i].pose;
			poses[i].scale = i % 10 == 8 ? 2.0f : 1.0f;
			Disturb( alone[i], i, n );
			Disturb( together[i], i, n );
		}
		CHECK_INT( lmbFleshBody_StepMany( together, poses, count, dt, tasks, shapes ), lmb_statusOk );
		for ( int i = 0; i < count; ++i )
		{
			CHECK_INT( lmbFleshBody_Step( alone[i], &poses[i], dt, &shape ), lmb_statusOk );
			CompareShapes( &shapes[i], &shape );
		}
	}
	for ( int i = 0; i < count; ++i )
		CompareStates( alone[i], together[i] );
	lmbArena_Free( &arena );
}

static void EqualsEachAlone( void **state )
{
	(void)state;
	const int counts[] = { 1, 3, 16, most };
	int calls = 0;
	const lmbTasks threads = { RunInThreads, &calls, 4 }, backwards = { RunBackwards, &calls, 1000 },
	               one = { RunBackwards, &calls, 1 };
	for ( int m = 0; m < 2; ++m )
		for ( int c = 0; c < 4; ++c )
		{
			CompareRuns( &models[m], counts[c], NULL );
			CompareRuns( &models[m], counts[c], &threads );
		}
	CHECK( calls >= 2 * frames * ( 3 + 4 + 4 ) ); /* the callback has done the work */
	calls = 0;
	CompareRuns( &models[1], most, &backwards );
	CHECK_INT( calls, frames * most );
	calls = 0;
	CompareRuns( &models[1], most, &one );
	CHECK_INT( calls, frames * 3 );
}

static void Refuses( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	int calls = 0;
	lmbFleshBody *bodies[3], *before[3];
	lmbFleshPose poses[3];
	lmbTasks tasks = { RunBackwards, &calls, 2 };
	Placement placement;
	Fixture_Pose( &fixture, 0.3, &placement );
	for ( int i = 0; i < 3; ++i )
	{
		bodies[i] = MakeBody( &models[0], &arena, i );
		before[i] = MakeBody( &models[0], &arena, i );
		poses[i] = placement.pose;
	}
	CHECK_INT( lmbFleshBody_StepMany( NULL, NULL, 0, 0.1, NULL, NULL ), lmb_statusOk );
	CHECK_INT( lmbFleshBody_StepMany( bodies, poses, -1, 0.1, NULL, NULL ), lmb_statusInvalidArgument );
	CHECK_INT( lmbFleshBody_StepMany( bodies, NULL, 3, 0.1, NULL, NULL ), lmb_statusInvalidArgument );
	CHECK_INT( lmbFleshBody_StepMany( bodies, poses, 3, -0.1, NULL, NULL ), lmb_statusInvalidArgument );
	CHECK_INT( lmbFleshBody_StepMany( bodies, poses, 3, NAN, NULL, NULL ), lmb_statusInvalidArgument );
	poses[2].position[1] = INFINITY;
	CHECK_INT( lmbFleshBody_StepMany( bodies, poses, 3, 0.1, &tasks, NULL ), lmb_statusInvalidArgument );
	poses[2] = poses[0];
	tasks.threads = 0;
	CHECK_INT( lmbFleshBody_StepMany( bodies, poses, 3, 0.1, &tasks, NULL ), lmb_statusInvalidArgument );
	tasks = ( lmbTasks ){ NULL, NULL, 1 };
	CHECK_INT( lmbFleshBody_StepMany( bodies, poses, 3, 0.1, &tasks, NULL ), lmb_statusInvalidArgument );
	lmbFleshBody *twice[3] = { bodies[0], bodies[1], bodies[0] }, *none[3] = { bodies[0], NULL, bodies[1] },
	             *mixed[3] = { bodies[0], bodies[1], MakeBody( &models[1], &arena, 2 ) };
	CHECK_INT( lmbFleshBody_StepMany( twice, poses, 3, 0.1, NULL, NULL ), lmb_statusInvalidArgument );
	CHECK_INT( lmbFleshBody_StepMany( none, poses, 3, 0.1, NULL, NULL ), lmb_statusInvalidArgument );
	CHECK_INT( lmbFleshBody_StepMany( mixed, poses, 3, 0.1, NULL, NULL ), lmb_statusInvalidArgument );
	CHECK_INT( calls, 0 );
	for ( int i = 0; i < 3; ++i ) /* nothing has changed, and all can be stepped */
		CompareStates( bodies[i], before[i] );
	CHECK_INT( lmbFleshBody_StepMany( bodies, poses, 3, 0.1, NULL, NULL ), lmb_statusOk );
	lmbArena_Free( &arena );
}

int main( void )
{
	const struct CMUnitTest tests[] = { CHECK_TEST( EqualsEachAlone ), CHECK_TEST( Refuses ) };
	return cmocka_run_group_tests( tests, OpenFixtures, CloseFixtures );
}
