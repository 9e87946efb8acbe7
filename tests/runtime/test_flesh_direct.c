/* What directs a body without training it anew: scales of size and time, teleports found by themselves,
 * sleep, regions of bones, gusts and blows, against closed forms and sums in double. */
#include "check.h"

#include "runtime/flesh_body.h"
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

enum
{
	vertices = 90, /* of smallFixture */
	numbers = 3 * vertices
};

static lmbFleshDef MakeDef( int layer, int interpolation )
{
	lmbFleshDef def = lmbDefaultFleshDef( model.flesh );
	def.layer = (lmbLayer)layer;
	def.interpolation = (lmbTargetInterpolation)interpolation;
	return def;
}

static lmbFleshBody *MakeBody( lmbArena *arena, const lmbFleshDef *def )
{
	lmbFleshBody *body = NULL;
	CHECK_OR_STOP( lmbModel_Body( &model, def, arena, &body, NULL ) == lmb_statusOk );
	return body;
}

static const float *Step( lmbFleshBody *body, const lmbFleshPose *pose, double dt )
{
	lmbFleshShape shape = { 0 };
	CHECK_INT( lmbFleshBody_Step( body, pose, dt, &shape ), lmb_statusOk );
	return shape.positions;
}

static double Difference( const float *a, const float *b )
{
	double largest = 0.0;
	for ( int i = 0; i < numbers; ++i )
	{
		double difference = fabs( (double)a[i] - (double)b[i] );
		largest = difference > largest || isnan( difference ) ? difference : largest;
	}
	return largest;
}

/* The body at x = speed t, in one pose, from a time on. */
static const float *Glide( lmbFleshBody *body, double speed, double time, double dt )
{
	Placement placement;
	Fixture_Pose( &fixture, 0.2, &placement );
	placement.pose.position[0] = speed * time;
	return Step( body, &placement.pose, dt );
}

/* A body that appears at a run is not jerked to its speed; one that is reset is. */
static void AppearsAtARun( void **state )
{
	(void)state;
	for ( int interpolation = 0; interpolation < 2; ++interpolation )
	{
		lmbArena arena = { 0 };
		lmbFleshDef def = MakeDef( lmb_layerHybrid, interpolation );
		lmbFleshBody *appears = MakeBody( &arena, &def ), *resets = MakeBody( &arena, &def );
		float still[numbers];
		double kick = 0.0, calm = 0.0;
		lmbFleshBody_Appear( appears );
		lmbFleshBody_Reset( resets );
		memcpy( still, Glide( appears, 5.0, 0.0, 0.01 ), sizeof( still ) );
		Glide( resets, 5.0, 0.0, 0.01 );
		for ( int n = 1; n < 100; ++n )
		{
			double dt = n % 2 == 0 ? 0.01 : 0.016, time = 0.013 * n + ( n % 2 == 0 ? 0.0 : 0.003 );
			calm = fmax( calm, Difference( still, Glide( appears, 5.0, time, dt ) ) );
			kick = fmax( kick, Difference( still, Glide( resets, 5.0, time, dt ) ) );
		}
		printf( "appears: %.2g m, reset: %.2g m\n", calm, kick );
		/* 5 m/s in steps that are known to 1e-16 s and divided by 1e-2 s, over springs of 1e2 / s^2 */
		CHECK_NEAR( calm, 0.0, 1e-6 );
		CHECK( kick > 0.05 );
		lmbArena_Free( &arena );
	}
}

/* A figure of another size under a motion as much wider, in the same time or in its own, shows the same
 * shape: with forces and pushes that grow alike. */
static void AnySizeSwaysAlike( void **state )
{
	(void)state;
	static const float sizes[] = { 0.01f, 0.1f, 10.0f, 100.0f };
	for ( int c = 0; c < 4 * 5 * 2; ++c )
	{
		lmbArena arena = { 0 };
		double size = sizes[c % 4], time = c / 20 == 1 ? size : 1.0;
		lmbFleshDef def = MakeDef( c / 4 % 5, 0 );
		lmbFleshBody *plain = MakeBody( &arena, &def ), *other = MakeBody( &arena, &def );
		lmbFleshDirection direction = lmbDefaultFleshDirection();
		double worst = 0.0;
		direction.acceleration[1] = 4.0;
		CHECK_INT( lmbFleshBody_Direct( plain, &direction ), lmb_statusOk );
		direction.acceleration[1] = 4.0 * size / ( time * time );
		direction.slowsWithSize = c / 20 == 1;
		CHECK_INT( lmbFleshBody_Direct( other, &direction ), lmb_statusOk );
		for ( int n = 0; n < 90; ++n )
		{
			Placement placement;
			float shape[numbers];
			double dt = n % 3 == 0 ? 0.02 : 0.012;
			Fixture_Pose( &fixture, 0.05 + 0.014 * n, &placement );
			if ( n == 40 )
			{
				const double push[3] = { 0.5, 0.0, 0.2 };
				double wide[3] = { push[0] * size / time, 0.0, push[2] * size / time };
				CHECK_INT( lmbFleshBody_Push( plain, push ), lmb_statusOk );
				CHECK_INT( lmbFleshBody_Push( other, wide ), lmb_statusOk );
			}
			memcpy( shape, Step( plain, &placement.pose, dt ), sizeof( shape ) );
			for ( int i = 0; i < 3; ++i )
				placement.pose.position[i] *= size;
			placement.pose.scale = (float)size;
			worst = fmax( worst, Difference( shape, Step( other, &placement.pose, dt * time ) ) );
		}
		/* The same numbers but for the last bit of a few doubles, which may change the last of some floats of
		 * 2 m, and springs that gather them. */
		CHECK_NEAR( worst, 0.0, 4e-6 );
		lmbArena_Free( &arena );
	}
}

/* Jumps faster than the threshold are what a call would have said they are. */
static void FindsTeleportsItself( void **state )
{
	(void)state;
	for ( int forgets = 0; forgets < 2; ++forgets )
	{
		lmbArena arena = { 0 };
		lmbFleshDef def = MakeDef( lmb_layerHybrid, 0 );
		lmbFleshBody *finds = MakeBody( &arena, &def ), *told = MakeBody( &arena, &def );
		lmbFleshDirection direction = lmbDefaultFleshDirection();
		direction.teleportSpeed = 20.0f;
		direction.teleportForgets = forgets == 1;
		CHECK_INT( lmbFleshBody_Direct( finds, &direction ), lmb_statusOk );
		double largest = 0.0, swing = 0.0;
		float before[numbers];
		for ( int n = 0; n < 60; ++n )
		{
			Placement placement;
			float shape[numbers];
			Fixture_Pose( &fixture, n / 60.0, &placement );
			if ( n >= 30 )
				placement.pose.position[2] += 1.0; /* 60 m/s */
			if ( n == 30 && forgets )
				lmbFleshBody_Appear( told );
			else if ( n == 30 )
				lmbFleshBody_Teleport( told );
			memcpy( shape, Step( told, &placement.pose, 1.0 / 60.0 ), sizeof( shape ) );
			const float *found = Step( finds, &placement.pose, 1.0 / 60.0 );
			largest = fmax( largest, Difference( shape, found ) );
			if ( n > 0 )
				swing = fmax( swing, Difference( before, found ) );
			memcpy( before, found, sizeof( before ) );
		}
		CHECK( largest == 0.0 );
		CHECK( swing < 0.3 ); /* a metre in a frame did not become motion */
		lmbArena_Free( &arena );
	}
}

/* Asleep and woken, a body that swings about a pose that stays is where one that was awake all the while is.
 */
static void SleepIsExact( void **state )
{
	(void)state;
	static const double naps[] = { 0.0, 0.004, 0.13, 1.1, 60.0 };
	for ( int c = 0; c < 5 * 5; ++c )
	{
		lmbArena arena = { 0 };
		lmbFleshDef def = MakeDef( c % 5, 0 );
		def.poseStiffness = false; /* an awake body's modes change with the mean of two poses, once */
		lmbFleshBody *sleeps = MakeBody( &arena, &def ), *wakes = MakeBody( &arena, &def );
		lmbFleshDirection direction = lmbDefaultFleshDirection();
		Placement placement;
		double nap = naps[c / 5];
		float shape[numbers];
		direction.acceleration[1] = -3.0;
		CHECK_INT( lmbFleshBody_Direct( sleeps, &direction ), lmb_statusOk );
		CHECK_INT( lmbFleshBody_Direct( wakes, &direction ), lmb_statusOk );
		for ( int n = 0; n < 40; ++n )
		{
			Fixture_Pose( &fixture, n / 60.0, &placement );
			Step( sleeps, &placement.pose, 1.0 / 60.0 );
			Step( wakes, &placement.pose, 1.0 / 60.0 );
		}
		/* The one awake stops, which is no motion: it teleports to where it is, again and again. */
		lmbFleshBody_Appear( wakes );
		CHECK_INT( lmbFleshBody_StateSize( wakes ), lmbFleshBody_StateSize( sleeps ) );
		memcpy( wakes->clock, sleeps->clock, lmbFleshBody_StateSize( wakes ) - 40 );
		wakes->clock->known = 1;
		wakes->clock->glides = 1;

		lmbFleshBody_Sleep( sleeps, true );
		const float *shown = sleeps->positions;
		memcpy( shape, shown, sizeof( shape ) );
		lmbFleshShape dozing;
		for ( int n = 0; n < 10; ++n )
			CHECK_INT( lmbFleshBody_Step( sleeps, NULL, 0.1 * nap, &dozing ), lmb_statusOk );
		CHECK( dozing.positions == shown && Difference( shape, shown ) == 0.0 );
		CHECK_INT( lmbFleshBody_Step( sleeps, NULL, -1.0, NULL ), lmb_statusInvalidArgument );
		lmbFleshBody_Sleep( sleeps, false );
		const double last = 0.01;
		memcpy( shape, Step( sleeps, &placement.pose, last ), sizeof( shape ) );
		int steps = nap > 10.0 ? 600 : 50;
		const float *awake = NULL;
		for ( int n = 0; n < steps; ++n )
			awake = Step( wakes, &placement.pose, ( nap + last ) / steps );
		CHECK_NEAR( Difference( shape, awake ), 0.0, 3e-6 ); /* as in AnySizeSwaysAlike */
		lmbArena_Free( &arena );
	}
}

/* A walker that wakes elsewhere, turned and at speed, is not kicked; and a saved sleep goes on alike. */
static void WakesWithoutAKick( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	lmbFleshDef def = MakeDef( lmb_layerHybrid, 0 );
	lmbFleshBody *body = MakeBody( &arena, &def ), *copy = MakeBody( &arena, &def );
	float still[numbers];
	double kick = 0.0;
	lmbFleshBody_Appear( body );
	memcpy( still, Glide( body, 5.0, 0.0, 0.01 ), sizeof( still ) );
	for ( int n = 1; n < 20; ++n )
		Glide( body, 5.0, 0.01 * n, 0.01 );
	lmbFleshBody_Sleep( body, true );
	lmbFleshBody_Step( body, NULL, 3.0, NULL );
	size_t size = lmbFleshBody_StateSize( body );
	char *saved = lmbArena_New( &arena, size, 1 );
	CHECK_INT( lmbFleshBody_Save( body, saved, size ), lmb_statusOk );
	CHECK_INT( lmbFleshBody_Restore( copy, saved, size ), lmb_statusOk );
	CHECK_INT( lmbFleshBody_Step( copy, NULL, 0.0, NULL ), lmb_statusOk ); /* it sleeps too */
	lmbFleshBody_Sleep( body, false );
	lmbFleshBody_Sleep( copy, false );
	for ( int n = 0; n < 60; ++n )
	{
		const float *shape = Glide( body, 5.0, 50.0 + 0.01 * n, 0.01 );
		kick = fmax( kick, Difference( still, shape ) );
		CHECK( memcmp( shape, Glide( copy, 5.0, 50.0 + 0.01 * n, 0.01 ), sizeof( still ) ) == 0 );
	}
	CHECK_NEAR( kick, 0.0, 1e-6 );
	lmbArena_Free( &arena );
}

/* Weighted mean of a vertex's bones. */
static double BoneMean( int v, const float *values )
{
	const lmbCharacter *c = &fixture.character;
	double sum = 0.0;
	for ( int i = 0; i < c->influenceCount; ++i )
		sum += c->weights[v * c->influenceCount + i] * values[c->vertexBones[v * c->influenceCount + i]];
	return sum;
}

/* Of a mode, by where it moves. */
static double ModeMean( int m, const float *values )
{
	double sum = 0.0, all = 0.0;
	for ( int v = 0; v < vertices; ++v )
	{
		const double *phi = fixture.springs.skinShapes + 3 * ( (size_t)m * vertices + v );
		sum += lmbDot( phi, phi ) * BoneMean( v, values );
		all += lmbDot( phi, phi );
	}
	return sum / all;
}

static void RegionsOfBones( void **state )
{
	(void)state;
	const float gain[4] = { 0.0f, 2.0f, 0.5f, 1.0f }, stiffness[4] = { 4.0f, 0.5f, 1.0f, 8.0f },
	            damping[4] = { 1.0f, 3.0f, 0.2f, 2.0f };
	lmbArena arena = { 0 };
	lmbFleshDef def = MakeDef( lmb_layerHybrid, 0 );
	lmbFleshBody *plain = MakeBody( &arena, &def ), *loud = MakeBody( &arena, &def ),
	             *stiff = MakeBody( &arena, &def );
	lmbFleshDirection direction = lmbDefaultFleshDirection();
	direction.boneGain = gain;
	CHECK_INT( lmbFleshBody_Direct( loud, &direction ), lmb_statusOk );
	def.layer = lmb_layerNone;
	lmbFleshBody *still = MakeBody( &arena, &def );
	for ( int n = 0; n < 30; ++n )
	{
		Placement placement;
		float rest[numbers], shape[numbers];
		Fixture_Pose( &fixture, n / 60.0, &placement );
		memcpy( rest, Step( still, &placement.pose, 1.0 / 60.0 ), sizeof( rest ) );
		memcpy( shape, Step( plain, &placement.pose, 1.0 / 60.0 ), sizeof( shape ) );
		const float *louder = Step( loud, &placement.pose, 1.0 / 60.0 );
		for ( int i = 0; i < numbers; ++i )
			CHECK_NEAR( louder[i] - rest[i], BoneMean( i / 3, gain ) * ( shape[i] - rest[i] ), 2e-6 );
	}

	direction = lmbDefaultFleshDirection();
	direction.stiffness = 1.5f;
	direction.boneStiffness = stiffness;
	direction.boneDamping = damping;
	CHECK_INT( lmbFleshBody_Direct( stiff, &direction ), lmb_statusOk );
	const lmbSprings *springs = &fixture.springs;
	for ( int m = 0; m < fixture.def.modeCount; ++m )
	{
		/* shapes as floats, summed as floats */
		CHECK_NEAR( stiff->modeRates[2 * m] / ( 1.5 * springs->modeStiffness[m] * ModeMean( m, stiffness ) ),
		            1.0, 1e-5 );
		CHECK_NEAR( stiff->modeRates[2 * m + 1] / ( springs->modeDamping[m] * ModeMean( m, damping ) ), 1.0,
		            1e-5 );
	}
	int seen = 0;
	for ( int i = 0; i < stiff->model->softBlockCount * lmbLanes; ++i )
	{
		int v = stiff->model->order[i];
		const float *rates = stiff->vertexRates + i / lmbLanes * 2 * lmbLanes + i % lmbLanes;
		if ( v < 0 )
			continue;
		seen += 1;
		CHECK_NEAR( rates[0] / ( 1.5 * springs->remainderStiffness[v] * BoneMean( v, stiffness ) ), 1.0,
		            1e-6 );
		CHECK_NEAR( rates[lmbLanes] / ( springs->remainderDamping[v] * BoneMean( v, damping ) ), 1.0, 1e-6 );
	}
	CHECK( seen > 60 );
	direction = lmbDefaultFleshDirection(); /* and back */
	CHECK_INT( lmbFleshBody_Direct( stiff, &direction ), lmb_statusOk );
	CHECK_NEAR( stiff->modeRates[0], springs->modeStiffness[0], 0.0 );
	lmbArena_Free( &arena );
}

/* A gust that is told once a frame counts as what lies between the frames: to second order. */
static void GustsAtAnyRate( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	lmbFleshDef def = MakeDef( lmb_layerVertex, 0 );
	float ends[4][numbers];
	for ( int r = 0; r < 4; ++r )
	{
		int rate = r == 3 ? 1920 : 30 << r;
		lmbFleshBody *body = MakeBody( &arena, &def );
		Placement placement;
		Fixture_Pose( &fixture, 0.2, &placement );
		for ( int n = 0; n <= rate; ++n )
		{
			lmbFleshDirection direction = lmbDefaultFleshDirection();
			direction.acceleration[0] = 20.0 * sin( 9.0 * n / rate );
			CHECK_INT( lmbFleshBody_Direct( body, &direction ), lmb_statusOk );
			memcpy( ends[r], Step( body, &placement.pose, 1.0 / rate ), sizeof( ends[r] ) );
		}
	}
	double off[3];
	for ( int r = 0; r < 3; ++r )
		off[r] = Difference( ends[r], ends[3] );
	printf( "gusts off by %.3g, %.3g, %.3g m at 30, 60, 120 Hz\n", off[0], off[1], off[2] );
	for ( int r = 1; r < 3; ++r )
		CHECK_NEAR( off[r - 1] / off[r], 4.0, 0.6 );
	lmbArena_Free( &arena );
}

/* Where vertices count for a strike, world axes from the body: their springs' targets and displacements, or
 * with modes alone the skinning of a body without anything else. */
static void PlacesToStrike( const lmbFleshBody *body, const lmbFleshPose *pose, double *places )
{
	lmbArena arena = { 0 };
	lmbFleshDef def = MakeDef( lmb_layerNone, 0 );
	double root[9], q[4];
	def.network = false;
	lmbFleshBody *still = MakeBody( &arena, &def );
	Step( still, pose, 0.0 );
	for ( int i = 0; i < 4; ++i )
		q[i] = pose->rotation[i];
	lmbQuat_Normalize( q, q );
	lmbQuat_ToMat33( root, q );
	for ( int v = 0; v < vertices; ++v )
	{
		double shown[3];
		for ( int i = 0; i < 3; ++i )
			shown[i] = still->positions[3 * v + i];
		lmbMat33_Apply( places + 3 * v, root, shown );
	}
	for ( int i = 0; i < body->model->softBlockCount * lmbLanes && body->hasVertexSprings; ++i )
		for ( int axis = 0; axis < 3 && body->model->order[i] >= 0; ++axis )
		{
			const float *state =
			    body->vertices + (size_t)( i / lmbLanes ) * lmbVertexPlanes * lmbLanes + i % lmbLanes;
			places[3 * body->model->order[i] + axis] =
			    (double)state[( lmbPlaneY + axis ) * lmbLanes] + state[( lmbPlaneU + axis ) * lmbLanes];
		}
	lmbArena_Free( &arena );
}

/* The velocity field that a strike gives soft vertices with springs of their own, world axes. */
static void StrikeField( const lmbFleshStrike *strike, const lmbFleshBody *body, const lmbFleshPose *pose,
                         double *shares, double *field )
{
	const lmbCharacter *c = &fixture.character;
	double weights[vertices] = { 0 }, areas[vertices] = { 0 }, places[numbers], total = 0.0, momentum = 0.0;
	PlacesToStrike( body, pose, places );
	for ( int v = 0; v < vertices; ++v )
	{
		double away[3];
		lmbAddScaled( away, places + 3 * v, 1.0, pose->position );
		lmbSub( away, away, strike->point );
		double left = 1.0 - lmbDot( away, away ) / ( strike->radius * strike->radius );
		weights[v] = fixture.tissue.softness[v] > 0.0 && left > 0.0 ? left * left : 0.0;
	}
	for ( int t = 0; t < c->triangleCount; ++t )
	{
		double e[3], f[3], n[3];
		const int32_t *corners = c->triangles + 3 * t;
		lmbSub( e, c->bind + 3 * corners[1], c->bind + 3 * corners[0] );
		lmbSub( f, c->bind + 3 * corners[2], c->bind + 3 * corners[0] );
		lmbCross( n, e, f );
		for ( int k = 0; k < 3; ++k )
			areas[corners[k]] += lmbLength( n ) / 6.0;
	}
	for ( int v = 0; v < vertices; ++v )
		total += weights[v] * areas[v];
	for ( int v = 0; v < vertices; ++v )
	{
		double mass = 1000.0 * areas[v] * 0.5 * strike->radius;
		shares[v] = weights[v] * areas[v] / total;
		for ( int i = 0; i < 3; ++i )
			field[3 * v + i] = strike->impulse[i] * weights[v] / ( 500.0 * strike->radius * total );
		momentum += mass * field[3 * v];
	}
	CHECK_NEAR( momentum, strike->impulse[0], 1e-12 * fabs( strike->impulse[0] ) );
}

/* What a strike changed in the velocity with which vertices move, world axes: from the state before and
 * after. */
static void VelocityGained( const lmbFleshBody *body, const double *before, const float *beforeVertices,
                            const double *rotations, double *gained )
{
	const lmbFlesh *flesh = body->model;
	int modes = fixture.def.modeCount;
	memset( gained, 0, numbers * sizeof( *gained ) );
	for ( int v = 0; v < vertices && body->hasModes; ++v )
		for ( int m = 0; m < modes; ++m )
		{
			double turned[3], dq = body->modes[modes + m] - before[m];
			if ( body->followsPose ) /* V = rho^(-1/4) u', shown with U e^(-l / 4): see springs.h */
				dq *= exp( 0.25 * body->modeLogs[m] );
			lmbMat33_Apply( turned, rotations + 9 * v,
			                fixture.springs.skinShapes + 3 * ( (size_t)m * vertices + v ) );
			lmbAddScaled( gained + 3 * v, gained + 3 * v, dq, turned );
		}
	for ( int i = 0; i < flesh->softBlockCount * lmbLanes && body->hasVertexSprings; ++i )
		for ( int axis = 0; axis < 3 && flesh->order[i] >= 0; ++axis )
		{
			size_t at =
			    ( (size_t)( i / lmbLanes ) * lmbVertexPlanes + lmbPlaneV + axis ) * lmbLanes + i % lmbLanes;
			gained[3 * flesh->order[i] + axis] += body->vertices[at] - beforeVertices[at];
		}
}

static void StrikesAtAPlace( void **state )
{
	(void)state;
	for ( int c = 0; c < 4 * 2; ++c )
	{
		lmbArena arena = { 0 };
		lmbFleshDef def = MakeDef( 1 + c % 4, 0 );
		def.poseStiffness = c / 4 == 1;
		lmbFleshBody *body = MakeBody( &arena, &def ), *copy = MakeBody( &arena, &def );
		Reference reference;
		Reference_Make( &reference, &fixture, &def );
		Placement placement;
		for ( int n = 0; n < 30; ++n )
		{
			Fixture_Pose( &fixture, n / 600.0, &placement );
			Step( body, &placement.pose, 1.0 / 600.0 );
			Reference_Step( &reference, &placement.pose, 1.0 / 600.0 );
		}
		const double *place = placement.pose.position;
		lmbFleshStrike strike = { .point = { place[0], place[1] + 1.2, place[2] + 0.1 },
		                          .impulse = { 30.0, -10.0, 50.0 },
		                          .radius = 0.4 };
		double shares[vertices], field[numbers], gained[numbers], before[64];
		float *beforeVertices = lmbArena_New( &arena, body->stateFloats + 1, sizeof( float ) );
		memcpy( beforeVertices, body->vertices, body->stateFloats * sizeof( float ) );
		memcpy( before, body->modes + fixture.def.modeCount,
		        (size_t)fixture.def.modeCount * sizeof( double ) );
		StrikeField( &strike, body, &placement.pose, shares, field );
		size_t size = lmbFleshBody_StateSize( body );
		char *saved = lmbArena_New( &arena, size, 2 );
		CHECK_INT( lmbFleshBody_Save( body, saved, size ), lmb_statusOk );
		CHECK_INT( lmbFleshBody_Strike( body, &strike ), lmb_statusOk );
		VelocityGained( body, before, beforeVertices, reference.rotations[0], gained );
		if ( body->hasVertexSprings ) /* all of the field, part of it in the modes */
		{
			double largest = 0.0, worst = 0.0;
			for ( int v = 0; v < vertices; ++v )
				for ( int i = 0; i < 3 && fixture.tissue.softness[v] > 0.0; ++i )
				{
					worst = fmax( worst, fabs( gained[3 * v + i] - field[3 * v + i] ) );
					largest = fmax( largest, fabs( field[3 * v + i] ) );
				}
			printf( "layer %d: up to %.3g m/s, off by %.2g\n", def.layer, largest, worst );
			CHECK( largest > 0.1 );
			/* velocities of 1 m/s as floats, before and after */
			CHECK_NEAR( worst / largest, 0.0, 1e-5 );
		}
		for ( int m = 0; m < fixture.def.modeCount && body->hasModes; ++m )
		{
			double dq = 0.0, turned[3];
			for ( int v = 0; v < vertices; ++v )
			{
				lmbMat33_ApplyTransposed( turned, reference.rotations[0] + 9 * v, strike.impulse );
				dq += shares[v] *
				      lmbDot( turned, fixture.springs.skinShapes + 3 * ( (size_t)m * vertices + v ) );
			}
			double got = body->modes[fixture.def.modeCount + m] - before[m];
			got *= body->followsPose ? exp( 0.25 * body->modeLogs[m] ) : 1.0;
			/* weights as floats of places of 2 m as floats: 1e-6 of the impulse, by shapes of 0.3 */
			CHECK_NEAR( got, dq, 1e-6 * lmbLength( strike.impulse ) );
		}
		/* Restored elsewhere it is struck alike, without a step in between. */
		CHECK_INT( lmbFleshBody_Save( body, saved + size, size ), lmb_statusOk );
		CHECK_INT( lmbFleshBody_Restore( copy, saved, size ), lmb_statusOk );
		CHECK_INT( lmbFleshBody_Strike( copy, &strike ), lmb_statusOk );
		CHECK_INT( lmbFleshBody_Save( copy, saved, size ), lmb_statusOk );
		CHECK( memcmp( saved, saved + size, size ) == 0 );
		strike.point[0] += 50.0; /* nothing is there */
		CHECK_INT( lmbFleshBody_Strike( copy, &strike ), lmb_statusOk );
		CHECK_INT( lmbFleshBody_Save( copy, saved, size ), lmb_statusOk );
		CHECK( memcmp( saved, saved + size, size ) == 0 );
		Reference_Free( &reference );
		lmbArena_Free( &arena );
	}
}

/* A model with its shapes as bytes has the same regions and takes the same blow, but for what rounding cost.
 */
static void CompactModelsAlike( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	lmbModel compact;
	lmbError error = { 0 };
	char path[80];
	snprintf( path, sizeof( path ), "%s-compact", fixture.path );
	lmbStatus written = lmbModel_Write( &fixture.character, &fixture.tissue, &fixture.network,
	                                    &fixture.springs, path, &error );
	CHECK_OR_STOP( written == lmb_statusOk && Fixture_Compact( &fixture, path, 1e-6 ) );
	CHECK_OR_STOP( lmbModel_Open( &compact, path, &error ) == lmb_statusOk );
	lmbFleshDef def = MakeDef( lmb_layerModal, 0 );
	lmbFleshBody *first = MakeBody( &arena, &def ), *second = NULL;
	CHECK_OR_STOP( lmbModel_Body( &compact, &def, &arena, &second, NULL ) == lmb_statusOk );
	CHECK( second->model->modeColumns.blocks != NULL );
	lmbFleshDirection direction = lmbDefaultFleshDirection();
	const float stiffness[4] = { 4.0f, 0.5f, 1.0f, 8.0f };
	direction.boneStiffness = stiffness;
	CHECK_INT( lmbFleshBody_Direct( first, &direction ), lmb_statusOk );
	CHECK_INT( lmbFleshBody_Direct( second, &direction ), lmb_statusOk );
	Placement placement;
	Fixture_Pose( &fixture, 0.1, &placement );
	Step( first, &placement.pose, 0.01 );
	Step( second, &placement.pose, 0.01 );
	lmbFleshStrike strike = { .impulse = { 0.3, -0.1, 0.5 }, .radius = 0.6 };
	memcpy( strike.point, placement.pose.position, sizeof( strike.point ) );
	strike.point[1] += 1.2;
	CHECK_INT( lmbFleshBody_Strike( first, &strike ), lmb_statusOk );
	CHECK_INT( lmbFleshBody_Strike( second, &strike ), lmb_statusOk );
	for ( int m = 0; m < fixture.def.modeCount; ++m )
	{
		/* shapes of 0.3 to 1e-5 by their largest 127, twice */
		CHECK_NEAR( second->modeRates[2 * m] / first->modeRates[2 * m], 1.0, 1e-3 );
		int at = fixture.def.modeCount + m;
		CHECK_NEAR( second->modes[at], first->modes[at], 1e-4 );
		CHECK( fabs( first->modes[at] ) > 1e-5 );
	}
	lmbModel_Close( &compact );
	unlink( path );
	lmbArena_Free( &arena );
}

/* A level of detail with fewer modes takes the motion over and gives it back: the modes that both have go on
 * bit for bit, and the others start at rest. */
static void LevelsShareTheirMotion( void **state )
{
	(void)state;
	enum
	{
		few = 3
	};
	lmbArena arena = { 0 };
	lmbError error = { 0 };
	lmbModel level, stranger;
	char path[80];
	snprintf( path, sizeof( path ), "%s-level", fixture.path );
	lmbSprings fewer = fixture.springs;
	fewer.modeCount = few;
	lmbStatus written =
	    lmbModel_Write( &fixture.character, &fixture.tissue, &fixture.network, &fewer, path, &error );
	CHECK_OR_STOP( written == lmb_statusOk && lmbModel_Open( &level, path, &error ) == lmb_statusOk );
	double stiffness[8];
	memcpy( stiffness, fewer.modeStiffness, few * sizeof( double ) );
	stiffness[1] *= 1.01;
	fewer.modeStiffness = stiffness;
	written = lmbModel_Write( &fixture.character, &fixture.tissue, &fixture.network, &fewer, path, &error );
	CHECK_OR_STOP( written == lmb_statusOk && lmbModel_Open( &stranger, path, &error ) == lmb_statusOk );
	unlink( path );
	for ( int c = 0; c < 2 * 2 * 2; ++c )
	{
		lmbFleshDef def = MakeDef( c % 2 == 0 ? lmb_layerModal : lmb_layerModalUnfitted, c / 2 % 2 );
		def.poseStiffness = c / 4 == 1;
		lmbFleshBody *fine = MakeBody( &arena, &def ), *coarse = NULL, *back = MakeBody( &arena, &def );
		CHECK_OR_STOP( lmbModel_Body( &level, &def, &arena, &coarse, NULL ) == lmb_statusOk );
		int modes = fixture.def.modeCount;
		for ( int n = 0; n < 60; ++n )
		{
			Placement placement;
			Fixture_Pose( &fixture, n / 60.0, &placement );
			Step( fine, &placement.pose, 1.0 / 60.0 );
			if ( n == 20 )
			{
				const double push[3] = { 0.3, 0.0, 0.0 };
				CHECK_INT( lmbFleshBody_Push( fine, push ), lmb_statusOk );
				CHECK_INT( lmbFleshBody_TakeOver( coarse, fine ), lmb_statusOk );
				const float *shown = Step( coarse, &placement.pose, 0.0 );
				/* the same shape but for the modes that it lacks */
				double turned = 0.0;
				for ( int m = few; m < modes; ++m )
					turned += fabs( fine->modes[m] );
				CHECK( Difference( shown, fine->positions ) < 1e-6 + 0.3 * sqrt( 3.0 ) * 1.4 * turned );
				CHECK( Difference( shown, fine->positions ) > 0.0 );
			}
			else if ( n > 20 )
				Step( coarse, &placement.pose, 1.0 / 60.0 );
			if ( n == 40 )
				CHECK_INT( lmbFleshBody_TakeOver( back, coarse ), lmb_statusOk );
			else if ( n > 40 )
				Step( back, &placement.pose, 1.0 / 60.0 );
			for ( int m = 0; m < few && n >= 20; ++m )
			{
				CHECK( coarse->modes[m] == fine->modes[m] &&
				       coarse->modes[few + m] == fine->modes[modes + m] );
				if ( n >= 40 )
					CHECK( back->modes[m] == fine->modes[m] );
			}
			for ( int m = few; m < modes && n == 40; ++m )
				CHECK( back->modes[m] == 0.0 && back->modes[modes + m] == 0.0 );
		}
		lmbFleshBody *other = NULL;
		CHECK_OR_STOP( lmbModel_Body( &stranger, &def, &arena, &other, NULL ) == lmb_statusOk );
		bool fitted = def.layer == lmb_layerModal;
		CHECK_INT( lmbFleshBody_TakeOver( other, fine ), fitted ? lmb_statusInvalidArgument : lmb_statusOk );
		def.network = false;
		CHECK_INT( lmbFleshBody_TakeOver( MakeBody( &arena, &def ), fine ), lmb_statusInvalidArgument );
		def = MakeDef( lmb_layerHybrid, 0 );
		CHECK_INT( lmbFleshBody_TakeOver( MakeBody( &arena, &def ), fine ), lmb_statusInvalidArgument );
		def.layer = lmb_layerNone;
		CHECK_INT( lmbFleshBody_TakeOver( MakeBody( &arena, &def ), fine ), lmb_statusInvalidArgument );
	}
	lmbModel_Close( &level );
	lmbModel_Close( &stranger );
	lmbArena_Free( &arena );
}

static void RefusesWhatIsOutOfRange( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	lmbFleshDef def = MakeDef( lmb_layerHybrid, 0 );
	lmbFleshBody *body = MakeBody( &arena, &def );
	const lmbFleshStrike plain = { .point = { 0.0, 1.0, 0.0 }, .impulse = { 1.0 }, .radius = 0.2 };
	CHECK_INT( lmbFleshBody_Strike( body, &plain ), lmb_statusInvalidArgument ); /* it is nowhere yet */
	Placement placement;
	Fixture_Pose( &fixture, 0.1, &placement );
	Step( body, &placement.pose, 0.01 );
	CHECK_INT( lmbFleshBody_Strike( body, NULL ), lmb_statusInvalidArgument );
	const double wrong[] = { NAN, INFINITY, -INFINITY, 1e13, -1e13 };
	for ( int i = 0; i < 5; ++i )
	{
		lmbFleshStrike strike = plain;
		strike.point[2] = wrong[i];
		CHECK_INT( lmbFleshBody_Strike( body, &strike ), lmb_statusInvalidArgument );
		strike = plain;
		strike.impulse[0] = wrong[i];
		CHECK_INT( lmbFleshBody_Strike( body, &strike ), lmb_statusInvalidArgument );
		strike = plain;
		strike.radius = wrong[i];
		CHECK_INT( lmbFleshBody_Strike( body, &strike ), lmb_statusInvalidArgument );
		for ( int field = 0; field < 4; ++field )
		{
			const float values[4] = { 1.0f, (float)wrong[i], 1.0f, 1.0f };
			lmbFleshDirection direction = lmbDefaultFleshDirection();
			direction.boneGain = field == 0 ? values : NULL;
			direction.boneStiffness = field == 1 ? values : NULL;
			direction.boneDamping = field == 2 ? values : NULL;
			direction.teleportSpeed = field == 3 ? (float)wrong[i] : 0.0f;
			CHECK_INT( lmbFleshBody_Direct( body, &direction ), lmb_statusInvalidArgument );
		}
		placement.pose.scale = (float)wrong[i];
		CHECK_INT( lmbFleshBody_Step( body, &placement.pose, 0.01, NULL ), lmb_statusInvalidArgument );
	}
	placement.pose.scale = 9e-4f;
	CHECK_INT( lmbFleshBody_Step( body, &placement.pose, 0.01, NULL ), lmb_statusInvalidArgument );
	lmbArena_Free( &arena );
}

/* Everything at once in any order, at the edges of its ranges: finite, and each state is one that a step
 * leaves; and the same bits from every set of kernels. */
static void BoundedWhateverIsAsked( void **state )
{
	(void)state;
	for ( int round = 0; round < 20; ++round )
	{
		lmbArena arena = { 0 };
		uint64_t hashes[lmb_kernelsCount] = { 0 };
		for ( int set = lmb_kernelsPlain; set < lmb_kernelsCount; ++set )
		{
			if ( lmbKernels_Name( (lmbKernelSet)set ) == NULL )
				continue;
			checkSeed = 100 + (uint64_t)round;
			lmbRandom random = lmbRandom_Seed( checkSeed, 4 );
			lmbFleshDef def = MakeDef( 1 + round % 4, round / 4 % 2 );
			def.kernels = (lmbKernelSet)set;
			lmbFleshBody *body = MakeBody( &arena, &def );
			size_t size = lmbFleshBody_StateSize( body );
			char *saved = lmbArena_New( &arena, size, 1 );
			for ( int n = 0; n < 200; ++n )
			{
				float bones[12];
				for ( int i = 0; i < 12; ++i )
					bones[i] = (float)pow( 1e3, 2.0 * lmbRandom_Uniform( &random ) - 1.0 );
				const float gains[4] = { bones[0] > 10.0f ? 10.0f : bones[0], 0.0f, 1.0f, 10.0f };
				lmbFleshDirection direction = lmbDefaultFleshDirection();
				direction.gain = gains[0];
				direction.limit = lmbRandom_Below( &random, 2 ) ? bones[1] : 0.0f;
				direction.stiffness = bones[2];
				direction.damping = bones[3];
				direction.boneGain = gains;
				direction.boneStiffness = bones + 4;
				direction.boneDamping = bones + 8;
				direction.acceleration[0] = 1e6 * ( lmbRandom_Uniform( &random ) - 0.5 );
				direction.slowsWithSize = lmbRandom_Below( &random, 2 );
				direction.teleportSpeed = lmbRandom_Below( &random, 2 ) ? bones[1] : 0.0f;
				direction.teleportForgets = lmbRandom_Below( &random, 2 );
				if ( lmbRandom_Below( &random, 4 ) == 0 )
					CHECK_INT( lmbFleshBody_Direct( body, &direction ), lmb_statusOk );
				Placement placement;
				Fixture_Pose( &fixture, 0.02 * n, &placement );
				placement.pose.scale = lmbRandom_Below( &random, 3 ) == 0 ? bones[0] : 1.0f;
				if ( placement.pose.scale < 1e-3f || placement.pose.scale > 1e3f )
					placement.pose.scale = 1.0f;
				if ( lmbRandom_Below( &random, 10 ) == 0 )
					placement.pose.position[1] += 1e12 * ( lmbRandom_Uniform( &random ) - 0.5 );
				lmbFleshBody_Sleep( body, lmbRandom_Below( &random, 10 ) == 0 );
				double dt = pow( 10.0, 20.0 * lmbRandom_Uniform( &random ) - 10.0 );
				const float *shape = Step( body, &placement.pose, lmbRandom_Below( &random, 4 ) ? 0.02 : dt );
				for ( int i = 0; i < numbers; ++i )
				{
					uint32_t bits;
					memcpy( &bits, &shape[i], sizeof( bits ) );
					hashes[set] = ( hashes[set] ^ bits ) * UINT64_C( 1099511628211 );
					hashes[set] ^= hashes[set] >> 31;
					CHECK( isfinite( shape[i] ) );
				}
				lmbFleshStrike strike = { .radius = 0.1 + lmbRandom_Uniform( &random ) };
				for ( int i = 0; i < 3; ++i )
				{
					strike.point[i] = placement.pose.position[i] + ( i == 1 ? placement.pose.scale : 0.0 );
					strike.impulse[i] = 1e6 * ( lmbRandom_Uniform( &random ) - 0.5 );
				}
				if ( body->clock->known > 0 )
					CHECK_INT( lmbFleshBody_Strike( body, &strike ), lmb_statusOk );
				CHECK_INT( lmbFleshBody_Save( body, saved, size ), lmb_statusOk );
				CHECK_INT( lmbFleshBody_Restore( body, saved, size ), lmb_statusOk );
			}
			CHECK( hashes[set] == hashes[lmb_kernelsPlain] );
		}
		lmbArena_Free( &arena );
	}
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( AppearsAtARun ),           CHECK_TEST( AnySizeSwaysAlike ),
	    CHECK_TEST( FindsTeleportsItself ),    CHECK_TEST( SleepIsExact ),
	    CHECK_TEST( WakesWithoutAKick ),       CHECK_TEST( RegionsOfBones ),
	    CHECK_TEST( GustsAtAnyRate ),          CHECK_TEST( StrikesAtAPlace ),
	    CHECK_TEST( CompactModelsAlike ),      CHECK_TEST( LevelsShareTheirMotion ),
	    CHECK_TEST( RefusesWhatIsOutOfRange ), CHECK_TEST( BoundedWhateverIsAsked ),
	};
	return cmocka_run_group_tests( tests, OpenFixture, CloseFixture );
}
