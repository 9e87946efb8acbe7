/* What the header promises about calls: pause, teleport, reset, dt 0, refused input, saved states, layers
 * that a model lacks, far origins, bounds for any length of step. */
#include "check.h"

#include "runtime/flesh_fixture.h"

static Fixture fixture;
static lmbModel model;

static int OpenFixture( void **state )
{
	(void)state;
	Fixture_Make( &fixture, &smallFixture );
	Fixture_Open( &fixture, &model );
	return 0;
}

static int CloseFixture( void **state )
{
	(void)state;
	lmbModel_Close( &model );
	Fixture_Free( &fixture );
	return 0;
}

static lmbFleshBody *MakeBody( lmbArena *arena, const lmbFleshDef *def )
{
	lmbFleshBody *body = NULL;
	CHECK_OR_STOP( lmbModel_Body( &model, def, arena, &body, NULL ) == lmb_statusOk );
	return body;
}

static lmbFleshShape Step( lmbFleshBody *body, const Placement *placement, double dt )
{
	lmbFleshShape shape = { 0 };
	CHECK_INT( lmbFleshBody_Step( body, &placement->pose, dt, &shape ), lmb_statusOk );
	return shape;
}

/* Takes the body through part of the motion, from step first to last - 1 at 60 Hz; the last shape is
 * copied to out (3 x vertexCount; Nullable). */
static void Run( lmbFleshBody *body, int first, int last, float *out )
{
	Placement placement;
	lmbFleshShape shape = { 0 };
	for ( int n = first; n < last; ++n )
	{
		Fixture_Pose( &fixture, n / 60.0, &placement );
		shape = Step( body, &placement, 1.0 / 60.0 );
	}
	if ( out != NULL && shape.positions != NULL )
		memcpy( out, shape.positions, 3 * (size_t)fixture.def.vertexCount * sizeof( float ) );
}

static double Difference( const float *a, const float *b )
{
	double largest = 0.0;
	for ( int i = 0; i < 3 * fixture.def.vertexCount; ++i )
	{
		double difference = fabs( (double)a[i] - (double)b[i] );
		largest = difference > largest || isnan( difference ) ? difference : largest;
	}
	return largest;
}

enum
{
	numbers = 3 * 90 /* of smallFixture's shape */
};

static void TellsWhatItHolds( void **state )
{
	(void)state;
	lmbFleshInfo info = lmbFlesh_Info( model.flesh );
	CHECK( info.hasNetwork && info.hasModes && info.hasFittedModes && info.hasHybrid &&
	       info.hasVertexSprings );
	CHECK_INT( info.boneCount, fixture.def.boneCount );
	CHECK_INT( info.modeCount, fixture.def.modeCount );
	CHECK_INT( info.coefficientCount, fixture.network.coefficientCount );
	for ( int j = 0; j < info.boneCount; ++j )
	{
		CHECK( strcmp( lmbFlesh_BoneName( model.flesh, j ), fixture.character.bones[j].name ) == 0 );
		CHECK_INT( lmbFlesh_BoneParent( model.flesh, j ), fixture.character.bones[j].parent );
	}
	CHECK( lmbFlesh_BoneName( model.flesh, -1 ) == NULL &&
	       lmbFlesh_BoneName( model.flesh, info.boneCount ) == NULL );
	CHECK_INT( lmbFlesh_BoneParent( model.flesh, info.boneCount ), -1 );
	CHECK_INT( info.triangleCount, fixture.character.triangleCount );
	for ( int i = 0; i < 3 * info.triangleCount; ++i )
		CHECK_INT( lmbFlesh_Triangles( model.flesh )[i], fixture.character.triangles[i] );
	for ( int i = 0; i < 3 * info.vertexCount; ++i )
		CHECK_NEAR( lmbFlesh_Bind( model.flesh )[i], fixture.character.bind[i], 0.0 );
}

static void AsleepAtFirst( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	lmbFleshDef def = lmbDefaultFleshDef( model.flesh ), still = def;
	CHECK_INT( def.layer, lmb_layerHybrid );
	CHECK( def.network && def.normals && def.interpolation == lmb_targetCubic );
	still.layer = lmb_layerNone;
	float first[numbers], second[numbers];
	Run( MakeBody( &arena, &def ), 40, 41, first );
	Run( MakeBody( &arena, &still ), 40, 41, second );
	CHECK( Difference( first, second ) == 0.0 );
	lmbArena_Free( &arena );
}

static void NoTimeChangesNothing( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	lmbFleshBody *plain = MakeBody( &arena, NULL ), *stopped = MakeBody( &arena, NULL );
	float a[numbers], b[numbers];
	Placement placement;
	Run( plain, 0, 20, NULL );
	Run( stopped, 0, 20, NULL );
	Fixture_Pose( &fixture, 19 / 60.0, &placement );
	for ( int i = 0; i < 7; ++i )
		Step( stopped, &placement, i == 3 ? 1e-12 : 0.0 ); /* below a nanosecond is no time either */
	Run( plain, 20, 40, a );
	Run( stopped, 20, 40, b );
	CHECK( Difference( a, b ) == 0.0 );

	/* A pose that changes in no time is taken over, and the springs stay where they are, turned with the
	 * body: the same displacement on another still shape. */
	lmbFleshDef still = lmbDefaultFleshDef( model.flesh );
	still.layer = lmb_layerVertex;
	still.network = false;
	lmbFleshBody *jumped = MakeBody( &arena, &still );
	Run( jumped, 0, 20, a );
	Fixture_Pose( &fixture, 19 / 60.0, &placement );
	placement.pose.position[0] += 1000.0;
	const float turn[4] = { 0.6f, 0.0f, 0.0f, 0.8f };
	memcpy( placement.pose.rotation, turn, sizeof( turn ) );
	lmbFleshShape shape = Step( jumped, &placement, 0.0 );
	CHECK_NEAR( Difference( shape.positions, a ), 0.0, 1e-6 ); /* in model space nothing has moved */
	lmbArena_Free( &arena );
}

/* A body that is carried off evenly faster and faster shows what a body at its place shows under the opposite
 * force: in all layers, modes too. */
static void ForceIsInertia( void **state )
{
	(void)state;
	const double a[3] = { 2.0, -1.0, 3.0 };
	for ( int layer = 1; layer < 5; ++layer )
	{
		lmbArena arena = { 0 };
		lmbFleshDef def = lmbDefaultFleshDef( model.flesh );
		def.layer = (lmbLayer)layer;
		lmbFleshBody *carried = MakeBody( &arena, &def ), *pushed = MakeBody( &arena, &def ),
		             *neither = MakeBody( &arena, &def );
		lmbFleshDirection direction = lmbDefaultFleshDirection();
		CHECK_INT( lmbFleshBody_Direct( neither, &direction ), lmb_statusOk );
		for ( int i = 0; i < 3; ++i )
			direction.acceleration[i] = -a[i];
		CHECK_INT( lmbFleshBody_Direct( pushed, &direction ), lmb_statusOk );
		double difference = 0.0, effect = 0.0;
		for ( int n = 0; n < 120; ++n )
		{
			Placement here, there;
			double t = n / 60.0;
			Fixture_Pose( &fixture, t, &here );
			there = here;
			there.pose.bones = there.bones;
			for ( int i = 0; i < 3; ++i )
				there.pose.position[i] += 0.5 * a[i] * t * t;
			lmbFleshShape first = Step( carried, &there, 1.0 / 60.0 ),
			              second = Step( pushed, &here, 1.0 / 60.0 ),
			              third = Step( neither, &here, 1.0 / 60.0 );
			if ( n < 100 ) /* at first the one still has to come up to speed */
				continue;
			difference = fmax( difference, Difference( first.positions, second.positions ) );
			effect = fmax( effect, Difference( first.positions, third.positions ) );
		}
		printf( "layer %d: moved by %.4f m, differs by %.2g m\n", layer, effect, difference );
		CHECK( effect > 3e-4 );     /* the tissue is stiff against even forces in this made-up model */
		CHECK( difference < 3e-6 ); /* places of 2 m, through some ten roundings */
		lmbArena_Free( &arena );
	}
}

static void PauseIsNoMotion( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	lmbFleshBody *plain = MakeBody( &arena, NULL ), *paused = MakeBody( &arena, NULL );
	float a[numbers], b[numbers];
	Placement placement;
	Run( plain, 0, 20, NULL );
	Run( paused, 0, 20, NULL );
	lmbFleshBody_Pause( paused, true );
	for ( int n = 0; n < 100; ++n ) /* it is carried off, and comes back to where it was */
	{
		Fixture_Pose( &fixture, 3.0 + n, &placement );
		placement.pose.position[0] += 70.0 * n;
		Step( paused, &placement, 0.3 );
	}
	Fixture_Pose( &fixture, 19 / 60.0, &placement );
	Step( paused, &placement, 0.3 );
	lmbFleshBody_Pause( paused, false );
	Run( plain, 20, 40, a );
	Run( paused, 20, 40, b );
	CHECK_NEAR( Difference( a, b ), 0.0, 1e-5 ); /* a hundred turns of displacements of 0.1 m in 24 bits */
	lmbArena_Free( &arena );
}

/* Elsewhere and facing another way, under a body that moves as before. */
static void Elsewhere( Placement *placement )
{
	double turn[4], old[4], now[4], place[3], matrix[9];
	AxisTurn( turn, 0.0, 1.0, 0.0, 2.1 );
	for ( int i = 0; i < 4; ++i )
		old[i] = placement->pose.rotation[i];
	lmbQuat_Multiply( now, turn, old );
	for ( int i = 0; i < 4; ++i )
		placement->pose.rotation[i] = (float)now[i];
	lmbQuat_ToMat33( matrix, turn );
	lmbMat33_Apply( place, matrix, placement->pose.position );
	const double far[3] = { 5000.0, -30.0, 800.0 };
	for ( int i = 0; i < 3; ++i )
		placement->pose.position[i] = place[i] + far[i];
}

/* A body that glides evenly and one that is moved elsewhere in its midst look the same. */
static void TeleportIsNoMotion( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	lmbFleshBody *plain = MakeBody( &arena, NULL ), *moved = MakeBody( &arena, NULL );
	double jolt = 0.0, largest = 0.0;
	for ( int n = 0; n < 60; ++n )
	{
		Placement placement;
		lmbFleshShape a, b;
		float other[numbers];
		Fixture_Pose( &fixture, n / 60.0, &placement );
		const float upright[4] = { 0.0f, 0.0f, 0.0f, 1.0f };
		memcpy( placement.pose.rotation, upright, sizeof( upright ) );
		const double glide[3] = { 0.05 * n, 0.0, 0.02 * n };
		memcpy( placement.pose.position, glide, sizeof( glide ) );
		a = Step( plain, &placement, 1.0 / 60.0 );
		memcpy( other, a.positions, sizeof( other ) );
		if ( n >= 30 )
			Elsewhere( &placement );
		if ( n == 30 )
			lmbFleshBody_Teleport( moved );
		b = Step( moved, &placement, 1.0 / 60.0 );
		largest = fmax( largest, Difference( other, b.positions ) );
	}
	CHECK_NEAR( largest, 0.0, 1e-5 );

	/* Unannounced, the same jump shows; it stays finite. */
	Placement placement;
	Fixture_Pose( &fixture, 1.0, &placement );
	lmbFleshBody *jumper = MakeBody( &arena, NULL );
	Step( jumper, &placement, 1.0 / 60.0 );
	placement.pose.position[0] += 5000.0;
	lmbFleshShape shape = Step( jumper, &placement, 1.0 / 60.0 );
	for ( int i = 0; i < numbers; ++i )
	{
		CHECK( isfinite( shape.positions[i] ) );
		jolt = fmax( jolt, fabs( shape.positions[i] ) );
	}
	CHECK( jolt > 100.0 );
	lmbArena_Free( &arena );
}

static void ResetForgets( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	lmbFleshBody *fresh = MakeBody( &arena, NULL ), *used = MakeBody( &arena, NULL );
	float a[numbers], b[numbers];
	Run( used, 0, 35, NULL );
	lmbFleshBody_Teleport( used );
	lmbFleshBody_Reset( used );
	Run( used, 50, 80, a );
	Run( fresh, 50, 80, b );
	CHECK( Difference( a, b ) == 0.0 );
	lmbArena_Free( &arena );
}

static void RefusesWhatIsNotFinite( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	lmbFleshBody *body = MakeBody( &arena, NULL );
	size_t size = lmbFleshBody_StateSize( body );
	char *before = lmbArena_New( &arena, size, 1 ), *after = lmbArena_New( &arena, size, 1 );
	Run( body, 0, 10, NULL );
	CHECK_INT( lmbFleshBody_Save( body, before, size ), lmb_statusOk );
	const double badSteps[] = { -1e-3, -INFINITY, INFINITY, NAN };
	const float badNumbers[] = { NAN, INFINITY, -INFINITY, 1e20f };
	Placement placement;
	Fixture_Pose( &fixture, 0.2, &placement );
	CHECK_INT( lmbFleshBody_Step( body, NULL, 0.01, NULL ), lmb_statusInvalidArgument );
	for ( int i = 0; i < 4; ++i )
	{
		CHECK_INT( lmbFleshBody_Step( body, &placement.pose, badSteps[i], NULL ), lmb_statusInvalidArgument );
		Placement bad = placement;
		bad.pose.bones = bad.bones;
		bad.bones[12 * fixture.def.boneCount - 1] = badNumbers[i];
		CHECK_INT( lmbFleshBody_Step( body, &bad.pose, 0.01, NULL ), lmb_statusInvalidArgument );
		bad = placement;
		bad.pose.position[2] = i == 3 ? 1e13 : badNumbers[i];
		CHECK_INT( lmbFleshBody_Step( body, &bad.pose, 0.01, NULL ), lmb_statusInvalidArgument );
		bad = placement;
		bad.pose.rotation[0] = badNumbers[i];
		CHECK_INT( lmbFleshBody_Step( body, &bad.pose, 0.01, NULL ), lmb_statusInvalidArgument );
	}
	Placement none = placement;
	none.pose.bones = NULL;
	CHECK_INT( lmbFleshBody_Step( body, &none.pose, 0.01, NULL ), lmb_statusInvalidArgument );
	CHECK_INT( lmbFleshBody_Save( body, after, size ), lmb_statusOk );
	CHECK( memcmp( before, after, size ) == 0 );
	lmbArena_Free( &arena );
}

static void SavedStateGoesOnBitForBit( void **state )
{
	(void)state;
	for ( int layer = 0; layer < 5; ++layer )
	{
		lmbArena arena = { 0 };
		lmbFleshDef def = lmbDefaultFleshDef( model.flesh );
		def.layer = (lmbLayer)layer;
		def.interpolation = (lmbTargetInterpolation)( layer % 2 );
		lmbFleshBody *first = MakeBody( &arena, &def ), *second = MakeBody( &arena, &def );
		size_t size = lmbFleshBody_StateSize( first );
		char *saved = lmbArena_New( &arena, size, 1 );
		float a[numbers], b[numbers];
		Run( first, 0, 30, NULL );
		CHECK_INT( lmbFleshBody_Save( first, saved, size - 1 ), lmb_statusInvalidArgument );
		CHECK_INT( lmbFleshBody_Save( first, saved, size ), lmb_statusOk );
		Run( first, 30, 60, a );
		Run( second, 100, 117, NULL ); /* it had a life of its own */
		CHECK_INT( lmbFleshBody_Restore( second, saved, size ), lmb_statusOk );
		Run( second, 30, 60, b );
		CHECK( memcmp( a, b, sizeof( a ) ) == 0 );
		CHECK_INT( lmbFleshBody_Restore( first, saved, size ), lmb_statusOk ); /* back in time */
		Run( first, 30, 60, b );
		CHECK( memcmp( a, b, sizeof( a ) ) == 0 );

		CHECK_INT( lmbFleshBody_Restore( second, saved, size - 4 ), lmb_statusInvalidArgument );
		CHECK_INT( lmbFleshBody_Restore( second, NULL, size ), lmb_statusInvalidArgument );
		def.layer = (lmbLayer)( ( layer + 1 ) % 5 );
		lmbFleshBody *other = MakeBody( &arena, &def );
		CHECK_INT( lmbFleshBody_Restore( other, saved, size ), lmb_statusInvalidArgument );
		lmbArena_Free( &arena );
	}
}

/* Any bytes restored into a body are refused or leave it sane. */
static void DamagedStatesAreSafe( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	lmbFleshBody *body = MakeBody( &arena, NULL );
	size_t size = lmbFleshBody_StateSize( body );
	char *saved = lmbArena_New( &arena, size, 1 ), *bad = lmbArena_New( &arena, size, 1 );
	Run( body, 0, 10, NULL );
	CHECK_INT( lmbFleshBody_Save( body, saved, size ), lmb_statusOk );
	checkSeed = 5;
	lmbRandom random = lmbRandom_Seed( checkSeed, 3 );
	int taken = 0;
	for ( int round = 0; round < 2000; ++round )
	{
		memcpy( bad, saved, size );
		uint32_t reach = round % 2 == 0 ? 200 : (uint32_t)size; /* the head is the richer half */
		for ( uint32_t flips = 1 + lmbRandom_Below( &random, 3 ); flips > 0; --flips )
			bad[lmbRandom_Below( &random, reach )] ^= (char)( 1 << lmbRandom_Below( &random, 8 ) );
		if ( lmbFleshBody_Restore( body, bad, size ) != lmb_statusOk )
			continue;
		taken += 1;
		Placement placement;
		Fixture_Pose( &fixture, 0.1, &placement );
		lmbFleshShape shape = Step( body, &placement, 1.0 / 60.0 );
		shape = Step( body, &placement, 1.0 / 60.0 );
		for ( int i = 0; i < numbers; ++i )
			CHECK( isfinite( shape.positions[i] ) );
	}
	CHECK( taken > 100 && taken < 1900 );
	lmbArena_Free( &arena );
}

static void LayersThatAModelLacks( void **state )
{
	(void)state;
	lmbError error = { 0 };
	lmbArena arena = { 0 };
	char path[80];
	snprintf( path, sizeof( path ), "%s-bare", fixture.path );
	CHECK_INT( lmbModel_Write( &fixture.character, NULL, NULL, NULL, path, &error ), lmb_statusOk );
	lmbModel bare;
	CHECK_INT( lmbModel_Open( &bare, path, &error ), lmb_statusOk );
	lmbFleshInfo info = lmbFlesh_Info( bare.flesh );
	CHECK( !info.hasNetwork && !info.hasModes && !info.hasFittedModes && !info.hasHybrid &&
	       !info.hasVertexSprings );
	CHECK_INT( info.vertexCount, fixture.def.vertexCount );
	lmbFleshDef def = lmbDefaultFleshDef( bare.flesh );
	CHECK( def.layer == lmb_layerNone && !def.network );
	lmbFleshBody *body = MakeBody( &arena, NULL );
	for ( int layer = -1; layer <= 5; ++layer )
	{
		def.layer = (lmbLayer)layer;
		CHECK_INT( lmbFleshBody_Size( bare.flesh, &def ) != 0, layer == 0 );
		CHECK_INT( lmbModel_Body( &bare, &def, &arena, &body, &error ) == lmb_statusOk, layer == 0 );
	}
	def.layer = lmb_layerNone;
	def.network = true;
	CHECK_INT( lmbFleshBody_Size( bare.flesh, &def ), 0 );
	def.network = false;
	CHECK_INT( lmbModel_Body( &bare, &def, &arena, &body, &error ), lmb_statusOk );
	Placement placement;
	Fixture_Pose( &fixture, 0.2, &placement );
	CHECK( Step( body, &placement, 0.01 ).normals != NULL );
	lmbModel_Close( &bare );

	/* The instant model: modes as the tissue says, nothing fitted. */
	lmbSprings instant = fixture.springs;
	instant.vertexStiffness = instant.vertexDamping = instant.remainderStiffness = instant.remainderDamping =
	    NULL;
	instant.modeStiffness = instant.modeDamping = instant.coefficientForcing = NULL;
	instant.coefficientCount = 0;
	CHECK_INT( lmbModel_Write( &fixture.character, &fixture.tissue, NULL, &instant, path, &error ),
	           lmb_statusOk );
	CHECK_INT( lmbModel_Open( &bare, path, &error ), lmb_statusOk );
	CHECK_INT( lmbDefaultFleshDef( bare.flesh ).layer, lmb_layerModalUnfitted );
	CHECK_INT( lmbModel_Body( &bare, NULL, &arena, &body, &error ), lmb_statusOk );
	Step( body, &placement, 0.01 );
	lmbModel_Close( &bare );
	unlink( path );
	lmbArena_Free( &arena );
}

static void PlaceAsksForEnoughAlignedMemory( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	lmbFleshDef def = lmbDefaultFleshDef( model.flesh );
	size_t size = lmbFleshBody_Size( model.flesh, &def );
	char *memory = lmbArena_New( &arena, size + 64, 1 );
	lmbFleshBody *body;
	CHECK_INT( lmbFleshBody_Place( model.flesh, &def, memory, size - 1, &body ), lmb_statusInvalidArgument );
	CHECK( body == NULL );
	CHECK_INT( lmbFleshBody_Place( model.flesh, &def, memory + 32, size, &body ), lmb_statusInvalidArgument );
	CHECK_INT( lmbFleshBody_Place( model.flesh, &def, NULL, size, &body ), lmb_statusInvalidArgument );
	CHECK_INT( lmbFleshBody_Place( model.flesh, &def, memory + 64, size, &body ), lmb_statusOk );
	lmbArena_Free( &arena );
}

/* 1e5 m from the origin of the world nothing is lost: the position is followed in double. */
static void FarFromTheOrigin( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	lmbFleshBody *near = MakeBody( &arena, NULL ), *far = MakeBody( &arena, NULL );
	double largest = 0.0;
	for ( int n = 0; n < 240; ++n )
	{
		Placement placement;
		float other[numbers];
		Fixture_Pose( &fixture, n / 240.0, &placement );
		memcpy( other, Step( near, &placement, 1.0 / 240.0 ).positions, sizeof( other ) );
		placement.pose.position[0] += 1e5;
		placement.pose.position[1] -= 3e4;
		placement.pose.position[2] += 1e5;
		largest = fmax( largest, Difference( other, Step( far, &placement, 1.0 / 240.0 ).positions ) );
	}
	/* 1e5 m in double is known to 1.5e-11 m, which is 3e-6 m/s^2 at 240 Hz: nothing beside float's 1e-7 m. */
	CHECK_NEAR( largest, 0.0, 1e-6 );
	lmbArena_Free( &arena );
}

/* Lengths of step from a microsecond to days, in disorder; and poses at the edge of what is taken. */
static void BoundedForAnyStep( void **state )
{
	(void)state;
	static const double steps[] = { 1e-6,  10.0, 1.0 / 60.0, 1e-9, 1e6, 1e-3,
	                                1e300, 1e-8, 0.3,        1e9,  0.0, 1e-5 };
	for ( int layer = 0; layer < 10; ++layer )
	{
		lmbArena arena = { 0 };
		lmbFleshDef def = lmbDefaultFleshDef( model.flesh );
		def.layer = (lmbLayer)( layer % 5 );
		def.interpolation = (lmbTargetInterpolation)( layer / 5 );
		lmbFleshBody *body = MakeBody( &arena, &def );
		double largest = 0.0, wildest = 0.0;
		for ( int n = 0; n < 600; ++n )
		{
			Placement placement;
			Fixture_Pose( &fixture, 0.01 * n, &placement );
			lmbFleshShape shape = Step( body, &placement, steps[( 7 * n + n / 12 ) % 12] );
			for ( int i = 0; i < numbers; ++i )
				largest =
				    fmax( largest, isfinite( shape.positions[i] ) ? fabs( shape.positions[i] ) : 1e300 );
		}
		/* In a nanosecond the pose moves by centimetres, which is 1e7 m/s; a spring of 2 Hz carries that some
		 * 1e6 m, and not further. */
		CHECK( largest < 1e8 );
		for ( int n = 0; n < 60; ++n )
		{
			Placement placement;
			Fixture_Pose( &fixture, 0.01 * n, &placement );
			for ( int i = 0; i < 12 * fixture.def.boneCount; ++i )
				placement.bones[i] = n % 3 == 0 ? 1e9f : n % 3 == 1 ? -1e9f : 1e-30f;
			placement.pose.position[0] = n % 2 == 0 ? 1e12 : -1e12;
			lmbFleshShape shape = Step( body, &placement, steps[n % 12] );
			for ( int i = 0; i < numbers; ++i )
				wildest = fmax( wildest,
				                isfinite( shape.positions[i] ) && isfinite( shape.normals[i] ) ? 0.0 : 1.0 );
		}
		CHECK( wildest == 0.0 );
		Placement placement;
		Fixture_Pose( &fixture, 0.0, &placement );
		lmbFleshShape shape = { 0 };
		for ( int n = 0; n < 2000; ++n ) /* and after all that it comes to rest */
			shape = Step( body, &placement, 0.1 );
		for ( int i = 0; i < numbers; ++i )
			CHECK( fabs( shape.positions[i] ) < 10.0 );
		lmbArena_Free( &arena );
	}
}

static void NormalsAreUnitAndShared( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	lmbFleshDef def = lmbDefaultFleshDef( model.flesh );
	Placement placement;
	Fixture_Pose( &fixture, 0.7, &placement );
	lmbFleshShape shape = Step( MakeBody( &arena, &def ), &placement, 0.01 );
	double sums[numbers] = { 0 };
	for ( int t = 0; t < fixture.character.triangleCount; ++t )
	{
		double p[9], e[3], f[3], n[3];
		for ( int k = 0; k < 9; ++k )
			p[k] = shape.positions[3 * fixture.character.triangles[3 * t + k / 3] + k % 3];
		lmbSub( e, p + 3, p );
		lmbSub( f, p + 6, p );
		lmbCross( n, e, f );
		for ( int k = 0; k < 3; ++k )
			lmbAddScaled( sums + 3 * fixture.character.triangles[3 * t + k],
			              sums + 3 * fixture.character.triangles[3 * t + k], 1.0, n );
	}
	for ( int v = 0; v < fixture.def.vertexCount; ++v )
		for ( int k = 0; k < 3; ++k )
			CHECK_NEAR( shape.normals[3 * v + k], sums[3 * v + k] / lmbLength( sums + 3 * v ), 1e-5 );
	def.normals = false;
	CHECK( Step( MakeBody( &arena, &def ), &placement, 0.01 ).normals == NULL );
	lmbArena_Free( &arena );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( TellsWhatItHolds ),
	    CHECK_TEST( AsleepAtFirst ),
	    CHECK_TEST( NoTimeChangesNothing ),
	    CHECK_TEST( ForceIsInertia ),
	    CHECK_TEST( PauseIsNoMotion ),
	    CHECK_TEST( TeleportIsNoMotion ),
	    CHECK_TEST( ResetForgets ),
	    CHECK_TEST( RefusesWhatIsNotFinite ),
	    CHECK_TEST( SavedStateGoesOnBitForBit ),
	    CHECK_TEST( DamagedStatesAreSafe ),
	    CHECK_TEST( LayersThatAModelLacks ),
	    CHECK_TEST( PlaceAsksForEnoughAlignedMemory ),
	    CHECK_TEST( FarFromTheOrigin ),
	    CHECK_TEST( BoundedForAnyStep ),
	    CHECK_TEST( NormalsAreUnitAndShared ),
	};
	return cmocka_run_group_tests( tests, OpenFixture, CloseFixture );
}
