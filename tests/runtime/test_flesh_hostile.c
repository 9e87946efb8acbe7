/* Damaged model files, and what a step must not do: allocate, write outside its instance, change the model,
 * or depend on another thread's body. */
#include "check.h"

#include "base/files.h"
#include "runtime/flesh_fixture.h"

#include <pthread.h>

#if defined( __SANITIZE_ADDRESS__ )
#define COUNTS_ALLOCATIONS 0
#elif defined( __has_feature )
#if __has_feature( address_sanitizer )
#define COUNTS_ALLOCATIONS 0
#endif
#endif
#if !defined( COUNTS_ALLOCATIONS ) && defined( __GLIBC__ )
#define COUNTS_ALLOCATIONS 1
#endif

static long allocations;

#if COUNTS_ALLOCATIONS
/* Taking the place of the C library's own, which stays reachable under these names. */
void *__libc_malloc( size_t size );
void *__libc_calloc( size_t count, size_t size );
void *__libc_realloc( void *memory, size_t size );
void *__libc_memalign( size_t alignment, size_t size );

void *malloc( size_t size )
{
	allocations += 1;
	return __libc_malloc( size );
}

void *calloc( size_t count, size_t size )
{
	allocations += 1;
	return __libc_calloc( count, size );
}

void *realloc( void *memory, size_t size )
{
	allocations += 1;
	return __libc_realloc( memory, size );
}

void *aligned_alloc( size_t alignment, size_t size )
{
	allocations += 1;
	return __libc_memalign( alignment, size );
}
#endif

static Fixture fixture;
static lmbArena fileArena;
static char *sound; /* the bytes of a model file */
static size_t soundSize;

static int MakeFixture( bool compact )
{
	const FixtureDef def = { 3, 24, 3, 2, 2, 3, 3, 3, 0.2, 0.6 };
	Fixture_Make( &fixture, &def );
	lmbError error = { 0 };
	if ( lmbModel_Write( &fixture.character, &fixture.tissue, &fixture.network, &fixture.springs,
	                     fixture.path, &error ) != lmb_statusOk )
		return 1;
	if ( compact && !Fixture_Compact( &fixture, fixture.path, 1e-5 ) )
		return 1;
	return lmbFile_Read( fixture.path, &fileArena, &sound, &soundSize, &error ) != lmb_statusOk;
}

static int WriteFixture( void **state )
{
	(void)state;
	return MakeFixture( false );
}

/* Its shapes as bytes, block by block. */
static int WriteCompactFixture( void **state )
{
	(void)state;
	return MakeFixture( true );
}

static int FreeFixture( void **state )
{
	(void)state;
	lmbArena_Free( &fileArena );
	Fixture_Free( &fixture );
	return 0;
}

/* Loads bytes into memory of exactly the size asked for, and when they are a model runs every layer for a
 * few steps. The bytes lie in a block of exactly their size: a sanitizer sees any read beyond. */
static bool TryModel( const char *bytes, size_t size )
{
	const char *problem = NULL;
	size_t needed = lmbFlesh_Size( bytes, size );
	if ( needed > (size_t)1 << 30 )
	{
		CHECK( false ); /* a small file must not ask for that */
		return false;
	}
	char *memory = aligned_alloc( 64, ( needed + 63 ) / 64 * 64 + 64 );
	lmbFlesh *model = NULL;
	lmbStatus status = lmbFlesh_Load( bytes, size, memory, needed, &model, &problem );
	CHECK_INT( status == lmb_statusOk, needed > 0 );
	CHECK_INT( status == lmb_statusOk, model != NULL );
	CHECK_INT( status == lmb_statusOk, problem == NULL );
	for ( int layer = 0; layer < 5 && model != NULL; ++layer )
	{
		lmbFleshDef def = lmbDefaultFleshDef( model );
		def.layer = (lmbLayer)layer;
		size_t bodySize = lmbFleshBody_Size( model, &def );
		if ( bodySize == 0 || bodySize > (size_t)1 << 28 )
			continue;
		lmbFleshBody *body;
		char *block = aligned_alloc( 64, ( bodySize + 63 ) / 64 * 64 );
		CHECK_INT( lmbFleshBody_Place( model, &def, block, bodySize, &body ), lmb_statusOk );
		Placement placement;
		static float bones[12 * 65536];
		for ( int n = 0; n < 3; ++n )
		{
			lmbFleshShape shape;
			Fixture_Pose( &fixture, 0.3 + n / 60.0, &placement );
			memset( bones, 0, (size_t)lmbFlesh_Info( model ).boneCount * 12 * sizeof( float ) );
			memcpy( bones, placement.bones, 12 * 3 * sizeof( float ) );
			placement.pose.bones = bones;
			CHECK_INT( lmbFleshBody_Step( body, &placement.pose, 1.0 / 60.0, &shape ), lmb_statusOk );
			for ( int i = 0; i < 3 * lmbFlesh_Info( model ).vertexCount; ++i )
				CHECK( isfinite( shape.positions[i] ) && isfinite( shape.normals[i] ) );
		}
		free( block );
	}
	free( memory );
	return model != NULL;
}

static void TruncatedAtEveryLength( void **state )
{
	(void)state;
	for ( size_t length = 0; length < soundSize; length += length < 4096 || length + 512 > soundSize ? 1 : 7 )
	{
		char *cut = malloc( length > 0 ? length : 1 );
		memcpy( cut, sound, length );
		CHECK( !TryModel( cut, length ) );
		free( cut );
	}
	CHECK( TryModel( sound, soundSize ) );
}

static void FlippedBits( void **state )
{
	(void)state;
	checkSeed = 99;
	lmbRandom random = lmbRandom_Seed( checkSeed, 1 );
	uint64_t header = 0;
	memcpy( &header, sound, 8 );
	int loaded = 0;
	for ( int round = 0; round < 2000; ++round )
	{
		char *copy = malloc( soundSize );
		memcpy( copy, sound, soundSize );
		/* A third in the header, a third in the sizes and indices, which come last, a third anywhere. */
		size_t first = round % 3 == 0 ? 8 : round % 3 == 1 ? soundSize * 4 / 5 : 0;
		size_t reach = round % 3 == 0 ? (size_t)header : soundSize - first;
		for ( uint32_t flips = 1 + lmbRandom_Below( &random, 4 ); flips > 0; --flips )
			copy[first + lmbRandom_Below( &random, (uint32_t)reach )] ^=
			    (char)( 1 << lmbRandom_Below( &random, 8 ) );
		loaded += TryModel( copy, soundSize );
		free( copy );
	}
	CHECK( loaded > 100 && loaded < 1900 ); /* both ways are exercised */
}

static void RefusesBadMemory( void **state )
{
	(void)state;
	size_t needed = lmbFlesh_Size( sound, soundSize );
	char *memory = aligned_alloc( 64, ( needed + 63 ) / 64 * 64 + 64 );
	lmbFlesh *model;
	const char *problem;
	CHECK_INT( lmbFlesh_Load( sound, soundSize, memory, needed - 1, &model, &problem ),
	           lmb_statusInvalidArgument );
	CHECK( model == NULL && problem != NULL );
	CHECK_INT( lmbFlesh_Load( sound, soundSize, memory + 8, needed, &model, NULL ),
	           lmb_statusInvalidArgument );
	CHECK_INT( lmbFlesh_Load( sound, soundSize, NULL, needed, &model, NULL ), lmb_statusInvalidArgument );
	CHECK_INT( lmbFlesh_Load( NULL, 0, memory, needed, &model, &problem ), lmb_statusCorrupt );
	char *shifted = malloc( soundSize + 4 );
	memcpy( shifted + 4, sound, soundSize );
	CHECK_INT( lmbFlesh_Load( shifted + 4, soundSize, memory, needed, &model, &problem ),
	           lmb_statusInvalidArgument );
	CHECK_INT( lmbFlesh_Load( sound, soundSize, memory, needed, &model, &problem ), lmb_statusOk );
	CHECK( problem == NULL );
	free( shifted );
	free( memory );
}

/* A body in a block with filled margins on both sides. */
static void StaysInItsBlock( void **state )
{
	(void)state;
	lmbModel model;
	lmbError error = { 0 };
	CHECK_OR_STOP( lmbModel_Open( &model, fixture.path, &error ) == lmb_statusOk );
	size_t modelSize = lmbFlesh_Size( sound, soundSize );
	char *modelBefore = malloc( modelSize );
	memcpy( modelBefore, model.flesh, modelSize );
	for ( int layer = 0; layer < 5; ++layer )
	{
		lmbFleshDef def = lmbDefaultFleshDef( model.flesh );
		def.layer = (lmbLayer)layer;
		size_t size = lmbFleshBody_Size( model.flesh, &def ), margin = 4096;
		unsigned char *block = aligned_alloc( 64, 2 * margin + ( size + 63 ) / 64 * 64 );
		memset( block, 0xA5, 2 * margin + ( size + 63 ) / 64 * 64 );
		lmbFleshBody *body;
		CHECK_INT( lmbFleshBody_Place( model.flesh, &def, block + margin, size, &body ), lmb_statusOk );
		long before = allocations;
		for ( int n = 0; n < 50; ++n )
		{
			Placement placement;
			lmbFleshShape shape;
			Fixture_Pose( &fixture, n / 60.0, &placement );
			if ( n == 20 )
				lmbFleshBody_Teleport( body );
			if ( n % 15 == 0 )
				lmbFleshBody_Pause( body, n % 2 == 0 );
			CHECK_INT(
			    lmbFleshBody_Step( body, &placement.pose, n % 2 == 0 ? 0.01 : 0.02 + 1e-4 * n, &shape ),
			    lmb_statusOk );
			if ( n == 40 )
				lmbFleshBody_Reset( body );
			CHECK( (const unsigned char *)shape.positions >= block + margin &&
			       (const unsigned char *)( shape.positions + 3 * fixture.def.vertexCount ) <=
			           block + margin + size );
		}
		CHECK_INT( allocations - before, 0 );
		for ( size_t i = 0; i < margin; ++i )
			if ( block[i] != 0xA5 || block[margin + size + i] != 0xA5 )
			{
				CHECK( false );
				break;
			}
		free( block );
	}
	CHECK( memcmp( modelBefore, model.flesh, modelSize ) == 0 );
	free( modelBefore );
	lmbModel_Close( &model );
}

#if COUNTS_ALLOCATIONS
/* The count above means something. */
static void CounterCounts( void **state )
{
	(void)state;
	long before = allocations;
	void *volatile block = malloc( 10 );
	free( block );
	CHECK_INT( allocations - before, 1 );
}
#endif

typedef struct Runner
{
	const lmbFlesh *model;
	double start;
	float positions[3 * 24];
} Runner;

static void *RunBody( void *argument )
{
	Runner *runner = argument;
	lmbFleshDef def = lmbDefaultFleshDef( runner->model );
	size_t size = lmbFleshBody_Size( runner->model, &def );
	char *block = aligned_alloc( 64, ( size + 63 ) / 64 * 64 );
	lmbFleshBody *body;
	lmbFleshShape shape = { 0 };
	if ( lmbFleshBody_Place( runner->model, &def, block, size, &body ) == lmb_statusOk )
		for ( int n = 0; n < 2000; ++n )
		{
			Placement placement;
			Fixture_Pose( &fixture, runner->start + n / 120.0, &placement );
			lmbFleshBody_Step( body, &placement.pose, n % 5 == 0 ? 1.0 / 90.0 : 1.0 / 120.0, &shape );
		}
	memcpy( runner->positions, shape.positions, sizeof( runner->positions ) );
	free( block );
	return NULL;
}

static void ThreadsShareAModel( void **state )
{
	(void)state;
	lmbModel model;
	lmbError error = { 0 };
	CHECK_OR_STOP( lmbModel_Open( &model, fixture.path, &error ) == lmb_statusOk );
	Runner together[3], alone[3];
	pthread_t threads[3];
	for ( int i = 0; i < 3; ++i )
	{
		together[i] = alone[i] = ( Runner ){ .model = model.flesh, .start = 0.5 * i };
		RunBody( &alone[i] );
	}
	for ( int i = 0; i < 3; ++i )
		CHECK_INT( pthread_create( &threads[i], NULL, RunBody, &together[i] ), 0 );
	for ( int i = 0; i < 3; ++i )
	{
		pthread_join( threads[i], NULL );
		CHECK( memcmp( together[i].positions, alone[i].positions, sizeof( alone[i].positions ) ) == 0 );
	}
	CHECK( memcmp( alone[0].positions, alone[1].positions, sizeof( alone[0].positions ) ) != 0 );
	lmbModel_Close( &model );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
#if COUNTS_ALLOCATIONS
		CHECK_TEST( CounterCounts ),
#endif
		CHECK_TEST( TruncatedAtEveryLength ),
		CHECK_TEST( FlippedBits ),
		CHECK_TEST( RefusesBadMemory ),
		CHECK_TEST( StaysInItsBlock ),
		CHECK_TEST( ThreadsShareAModel ),
	};
	int failed = cmocka_run_group_tests( tests, WriteFixture, FreeFixture );
	return failed + cmocka_run_group_tests( tests, WriteCompactFixture, FreeFixture );
}
