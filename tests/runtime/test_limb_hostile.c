/* Damaged model files of limbs, and what a step must not do: allocate, write outside its instance, change the
 * model, or leave numbers that are not finite. */
#include "check.h"

#include "runtime/limb_fixture.h"

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
#endif

static const LimbDef defs[] = {
    { .kind = lmb_limbLagrangian,
      .n = 2,
      .m = 3,
      .style = styleAll,
      .hiddenLayers = 1,
      .width = 5,
      .potential = true,
      .dampingConstant = true,
      .dampingNet = true,
      .driveMatrix = true,
      .driveNet = true,
      .trust = true,
      .seed = 1 },
    { .kind = lmb_limbAffine,
      .n = 2,
      .m = 2,
      .style = styleLinear,
      .hiddenLayers = 1,
      .width = 5,
      .trust = true,
      .seed = 2 },
    { .kind = lmb_limbPlain,
      .n = 2,
      .m = 1,
      .style = styleDifferences,
      .hiddenLayers = 2,
      .width = 5,
      .seed = 3 },
    { .kind = lmb_limbGru,
      .n = 2,
      .m = 2,
      .style = styleNoBase,
      .hiddenLayers = 2,
      .width = 5,
      .trust = true,
      .seed = 4 },
    { .kind = lmb_limbLstm, .n = 1, .m = 2, .style = styleAll, .hiddenLayers = 1, .width = 6, .seed = 5 },
};

enum
{
	defCount = sizeof( defs ) / sizeof( defs[0] )
};

static void CheckState( const lmbLimb *model, const lmbLimbBody *body )
{
	double q[16], v[16];
	lmbLimbBody_State( body, q, v );
	for ( int i = 0; i < lmbLimb_Info( model ).dofCount; ++i )
		CHECK( fabs( q[i] ) <= 1e9 && fabs( v[i] ) <= 1e9 );
	CHECK( lmbLimbBody_Trust( body ) >= -1.0 && lmbLimbBody_Trust( body ) <= 1e9 );
}

/* Any model that loads must run, wild numbers or not. */
static void RunModel( const lmbLimb *model )
{
	double u[64], q[16], v[16], a[16];
	lmbLimbTorques torques;
	for ( int i = 0; i < 64; ++i )
		u[i] = i % 3 - 0.7;
	for ( int i = 0; i < 16; ++i )
	{
		q[i] = 0.3 * i;
		v[i] = 1.0 - i;
	}
	for ( int integrator = 0; integrator < 4; ++integrator )
	{
		lmbLimbDef def = lmbDefaultLimbDef( model );
		def.integrator = (lmbIntegrator)integrator;
		def.maxStep = 0.005;
		size_t size = lmbLimbBody_Size( model, &def );
		CHECK( size > 0 && size < (size_t)1 << 24 );
		lmbLimbBody *body;
		char *block = aligned_alloc( 64, ( size + 63 ) / 64 * 64 );
		CHECK_INT( lmbLimbBody_Place( model, &def, block, size, &body ), lmb_statusOk );
		CheckState( model, body );
		lmbLimbBody_Start( body, q, v );
		for ( int n = 0; n < 3; ++n )
		{
			lmbStatus status = lmbLimbBody_Step( body, u, n == 1 ? u + 2 : NULL, 0.01 );
			CHECK( status == lmb_statusOk || status == lmb_statusNumerical ||
			       status == lmb_statusNotConverged );
			CheckState( model, body );
		}
		lmbLimbBody_Acceleration( body, q, v, u, a );
		lmbLimbBody_Inverse( body, q, v, q, &torques );
		free( block );
	}
}

/* Loads bytes, in a block of exactly their size so that a sanitizer sees any read beyond, into memory of
 * exactly the size asked for. */
static bool TryModel( const char *bytes, size_t size )
{
	const char *problem = NULL;
	size_t needed = lmbLimb_Size( bytes, size );
	if ( needed > (size_t)1 << 26 )
	{
		CHECK( false ); /* a small file must not ask for that */
		return false;
	}
	char *memory = aligned_alloc( 64, ( needed + 63 ) / 64 * 64 + 64 );
	lmbLimb *model = NULL;
	lmbStatus status = lmbLimb_Load( bytes, size, memory, needed, &model, &problem );
	CHECK_INT( status == lmb_statusOk, needed > 0 );
	CHECK_INT( status == lmb_statusOk, model != NULL );
	CHECK_INT( status == lmb_statusOk, problem == NULL );
	if ( model != NULL )
		RunModel( model );
	free( memory );
	return model != NULL;
}

static void TruncatedAtEveryLength( void **state )
{
	(void)state;
	for ( int d = 0; d < defCount; ++d )
	{
		LimbFixture *f = LimbFixture_Make( &defs[d] );
		CHECK_OR_STOP( f != NULL );
		for ( size_t length = 0; length < f->size; ++length )
		{
			char *cut = malloc( length > 0 ? length : 1 );
			memcpy( cut, f->bytes, length );
			CHECK( !TryModel( cut, length ) );
			free( cut );
		}
		CHECK( TryModel( f->bytes, f->size ) );
		LimbFixture_Free( f );
	}
}

static void FlippedBits( void **state )
{
	(void)state;
	checkSeed = 7;
	lmbRandom random = lmbRandom_Seed( checkSeed, 1 );
	for ( int d = 0; d < defCount; ++d )
	{
		LimbFixture *f = LimbFixture_Make( &defs[d] );
		uint64_t header = 0;
		memcpy( &header, f->bytes, 8 );
		int loaded = 0;
		for ( int round = 0; round < 1500; ++round )
		{
			char *copy = malloc( f->size );
			memcpy( copy, f->bytes, f->size );
			/* A third in the header, a third in the sizes and indices, which come last, a third anywhere. */
			size_t first = round % 3 == 0 ? 8 : round % 3 == 1 ? f->size * 9 / 10 : 0;
			size_t reach = round % 3 == 0 ? (size_t)header : f->size - first;
			for ( uint32_t flips = 1 + lmbRandom_Below( &random, 3 ); flips > 0; --flips )
				copy[first + lmbRandom_Below( &random, (uint32_t)reach )] ^=
				    (char)( 1 << lmbRandom_Below( &random, 8 ) );
			loaded += TryModel( copy, f->size );
			free( copy );
		}
		printf( "kind %d: %d of 1500 damaged files load\n", (int)defs[d].kind, loaded );
		CHECK( loaded > 100 && loaded < 1400 ); /* both ways are exercised */
		LimbFixture_Free( f );
	}
}

/* Files whose bytes are sound but whose content breaks one rule of docs/formats/limb-model.md. */
static void Refuse( const LimbFixture *f, lmbStatus expected, const char *part )
{
	lmbArena arena = { 0 };
	char *bytes = NULL;
	size_t size = 0;
	lmbLimb *model = NULL;
	const char *problem = NULL;
	CHECK_OR_STOP( WriteModel( f, f->path ) &&
	               lmbFile_Read( f->path, &arena, &bytes, &size, NULL ) == lmb_statusOk );
	CHECK_INT( lmbLimb_Size( bytes, size ), 0 );
	CHECK_INT( lmbLimb_Load( bytes, size, NULL, 0, &model, &problem ), expected );
	CHECK( problem != NULL );
	CHECK_CONTAINS( problem != NULL ? problem : "", part );
	lmbArena_Free( &arena );
}

static void BrokenRules( void **state )
{
	(void)state;
	LimbFixture *f = LimbFixture_Make( &defs[0] );
	FixtureNet whole = f->mass;
#define BREAK( change, status, part )                                                                        \
	do                                                                                                       \
	{                                                                                                        \
		change;                                                                                              \
		Refuse( f, status, part );                                                                           \
		f->mass = whole;                                                                                     \
	} while ( 0 )
	BREAK( f->mass.inputs[0] = f->featureCount, lmb_statusCorrupt, "not one that this network may see" );
	BREAK( f->mass.inputs[1] = -1, lmb_statusCorrupt, "not one that this network may see" );
	BREAK( f->mass.sizes[f->mass.layers] = 2, lmb_statusCorrupt, "outputs" );
	BREAK( f->mass.sizes[1] = 0, lmb_statusCorrupt, "width" );
	BREAK( f->mass.numbers[3] = NAN, lmb_statusNumerical, "finite" );
	BREAK( f->mass.numbers[3] = 2e9f, lmb_statusNumerical, "1e9" );
#undef BREAK
	f->massFloor = 0.0;
	Refuse( f, lmb_statusNumerical, "mass.floor" );
	f->massFloor = 0.1;
	f->kinds[0] = 3;
	Refuse( f, lmb_statusCorrupt, "features.kinds" );
	f->kinds[0] = 0;
	f->angles[1] = 100000;
	Refuse( f, lmb_statusCorrupt, "features.angles" );
	f->angles[1] = 0;
	f->slides[1] = 2;
	Refuse( f, lmb_statusCorrupt, "dofs.slides" );
	f->slides[1] = 0;
	f->trustScale = -1.0;
	Refuse( f, lmb_statusNumerical, "trust.scale" );
	f->trustScale = 1.0;
	f->trustInputs[2] = 1000;
	Refuse( f, lmb_statusCorrupt, "trust.inputs" );
	f->trustInputs[2] = 0;
	f->def.driveMatrix = f->def.driveNet = false;
	Refuse( f, lmb_statusCorrupt, "drive.matrix" ); /* 3 inputs, 2 dofs */
	f->def.driveMatrix = true;
	f->dofNames[0] = (char)0xff;
	Refuse( f, lmb_statusCorrupt, "UTF-8" );
	LimbFixture_Free( f );
	f = LimbFixture_Make( &defs[3] );
	f->base[0] = 0.5;
	Refuse( f, lmb_statusCorrupt, "read.base" );
	f->base[0] = 1.0;
	f->hidden = 4;
	Refuse( f, lmb_statusCorrupt, "outputs" );
	LimbFixture_Free( f );
}

/* A body in a block with filled margins on both sides. */
static void StaysInItsBlock( void **state )
{
	(void)state;
	for ( int d = 0; d < defCount; ++d )
	{
		LimbFixture *f = LimbFixture_Make( &defs[d] );
		lmbLimb *model = LimbFixture_Load( f );
		size_t modelSize = lmbLimb_Size( f->bytes, f->size ), margin = 1024;
		char *modelBefore = malloc( modelSize );
		memcpy( modelBefore, model, modelSize );
		for ( int integrator = 0; integrator < 4; ++integrator )
		{
			lmbLimbDef def = lmbDefaultLimbDef( model );
			def.integrator = (lmbIntegrator)integrator;
			size_t size = lmbLimbBody_Size( model, &def );
			unsigned char *block = aligned_alloc( 64, 2 * margin + ( size + 63 ) / 64 * 64 );
			memset( block, 0xA5, 2 * margin + ( size + 63 ) / 64 * 64 );
			lmbLimbBody *body;
			double u[3] = { 0.3, -0.2, 0.1 }, a[2], q[3] = { 0.4, 0.5, 0.6 };
			CHECK_INT( lmbLimbBody_Place( model, &def, block + margin, size - 1, &body ),
			           lmb_statusInvalidArgument );
			CHECK_INT( lmbLimbBody_Place( model, &def, block + margin, size, &body ), lmb_statusOk );
			long before = allocations;
			for ( int n = 0; n < 50; ++n )
			{
				CHECK_INT( lmbLimbBody_Step( body, u, n % 2 == 0 ? NULL : q, 0.003 + 1e-4 * n ),
				           lmb_statusOk );
				lmbLimbBody_Acceleration( body, q, q, u, a );
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
		CHECK( memcmp( modelBefore, model, modelSize ) == 0 );
		free( modelBefore );
		LimbFixture_Free( f );
	}
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

int main( void )
{
	const struct CMUnitTest tests[] = {
#if COUNTS_ALLOCATIONS
		CHECK_TEST( CounterCounts ),
#endif
		CHECK_TEST( TruncatedAtEveryLength ),
		CHECK_TEST( FlippedBits ),
		CHECK_TEST( BrokenRules ),
		CHECK_TEST( StaysInItsBlock ),
	};
	return CHECK_RUN( tests );
}
