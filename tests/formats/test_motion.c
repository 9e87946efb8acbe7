/* Motions: smooth through their keys, filtered as Butterworth says, started from rest. */
#include "formats/synthetic.h"

#include "base/math3.h"
#include "base/random.h"
#include "formats/motion.h"
#include "formats/motion_curves.h"

static const double pi = 3.14159265358979323846;

/* The body with its upper joint's translation and turn animated at rate Hz by functions of time. */
static lmbCharacter *AnimatedBody( int keys, double rate, double first, double ( *height )( double ),
                                   double ( *angle )( double ), bool flipSigns )
{
	lmbGlbWriter writer;
	MakeBody( &writer );
	float *times = calloc( (size_t)keys, sizeof( float ) ), *places = calloc( (size_t)keys, 12 ),
	      *turns = calloc( (size_t)keys, 16 );
	for ( int k = 0; k < keys; ++k )
	{
		double t = k / rate;
		times[k] = (float)( first + t );
		places[3 * k + 1] = (float)height( t );
		float sign = flipSigns && k % 2 == 1 ? -1.0f : 1.0f;
		turns[4 * k + 2] = sign * (float)sin( 0.5 * angle( t ) );
		turns[4 * k + 3] = sign * (float)cos( 0.5 * angle( t ) );
	}
	char text[200];
	int input = lmbGlbWriter_AddFloats( &writer, "SCALAR", times, (size_t)keys, lmb_glbData, true );
	int turned = lmbGlbWriter_AddFloats( &writer, "VEC4", turns, (size_t)keys, lmb_glbData, false );
	int moved = lmbGlbWriter_AddFloats( &writer, "VEC3", places, (size_t)keys, lmb_glbData, false );
	snprintf( text, sizeof( text ), "[{\"input\":%d,\"output\":%d},{\"input\":%d,\"output\":%d}]", input,
	          turned, input, moved );
	BodySet( &writer, "/animations/0/samplers", text );
	BodySet( &writer, "/animations/0/channels/-",
	         "{\"sampler\":1,\"target\":{\"node\":2,\"path\":\"translation\"}}" );
	free( times );
	free( places );
	free( turns );
	return NeedBody( &writer );
}

/* Height and angle of the upper joint at a motion time. */
static void Sample( const lmbMotion *motion, double time, double *height, double *angle )
{
	double bones[24];
	lmbMotion_Pose( motion, time, bones );
	*angle = atan2( bones[16], bones[12] );
	*height = bones[17] * 0.5 + bones[19];
}

static lmbMotion *MakeMotion( const lmbCharacter *character, const lmbMotionDef *def )
{
	lmbMotion *motion = NULL;
	lmbError error = { 0 };
	if ( lmbMotion_Make( character, 0, def, &motion, &error ) != lmb_statusOk )
		printf( "%s\n", error.message );
	CHECK_OR_STOP( motion != NULL );
	return motion;
}

static double Wave( double t )
{
	return 0.5 + 0.1 * sin( 7.0 * t + 0.3 );
}

static double Swing( double t )
{
	return 0.8 * sin( 5.0 * t );
}

/* A not-a-knot cubic spline reproduces cubics; two and three keys give the line and the parabola. */
static void SplineReproducesCubics( void **state )
{
	(void)state;
	double step = 0.25;
	for ( int count = 2; count <= 12; ++count )
	{
		int degree = count < 4 ? count - 1 : 3;
		double values[12 * 2], curvatures[12 * 2];
		for ( int i = 0; i < count; ++i )
		{
			double t = i * step;
			values[2 * i] =
			    1.0 - 2.0 * t + ( degree > 1 ? 3.0 * t * t : 0.0 ) + ( degree > 2 ? t * t * t : 0.0 );
			values[2 * i + 1] = 5.0;
		}
		CHECK_INT( lmbSpline_Curvatures( values, count, 2, step, curvatures, NULL ), lmb_statusOk );
		for ( int i = 0; i < count; ++i )
		{
			double expected = ( degree > 1 ? 6.0 : 0.0 ) + ( degree > 2 ? 6.0 * i * step : 0.0 );
			CHECK_NEAR( curvatures[2 * i], expected, 1e-11 );
			CHECK_NEAR( curvatures[2 * i + 1], 0.0, 1e-11 );
		}
	}
}

/* Through every key; between them fourth order; second derivatives continuous at the keys, where the
 * file's own LINEAR interpolation jumps in the first. */
static void ThroughTheKeysAndSmooth( void **state )
{
	(void)state;
	const lmbMotionDef def = { .warpIn = 0.0 };
	lmbCharacter *character = AnimatedBody( 61, 30.0, 0.7, Wave, Swing, false );
	lmbMotion *motion = MakeMotion( character, &def );
	CHECK_NEAR( motion->duration, 2.0, 1e-6 );
	double step = motion->duration / 60, height, angle;
	for ( int k = 0; k <= 60; ++k )
	{
		double bones[24], ours[24];
		lmbCharacter_Pose( character, 0, 0.7f + k * step, bones );
		lmbMotion_Pose( motion, k * step, ours );
		for ( int e = 0; e < 24; ++e )
			/* Key times in the file are float32 near 2 s, 1e-7, at 4 rad/s. */
			CHECK_NEAR( ours[e], bones[e], 2e-6 );
		/* Interpolation error of a cubic spline: 5/384 h^4 times the fourth derivative (625 * 0.8), a few
		 * times that at the ends. */
		double t = ( k + 0.37 ) * step;
		if ( k < 60 )
		{
			Sample( motion, t, &height, &angle );
			CHECK_NEAR( height, Wave( t ), 2e-5 );
			CHECK_NEAR( angle, Swing( t ), 5e-5 );
		}
	}
	for ( int k = 2; k < 58; ++k )
	{
		double d = 1e-4, a[7], h[7];
		for ( int i = 0; i < 7; ++i )
			Sample( motion, k * step + ( i - 3 ) * d, &h[i], &a[i] );
		double before = ( a[1] - 2.0 * a[2] + a[3] ) / ( d * d ),
		       after = ( a[3] - 2.0 * a[4] + a[5] ) / ( d * d );
		/* The third derivative, up to 0.8 * 125 and more at keys in float32, times 2 d, and rounding of the
		 * angle, 1e-16 / d^2. */
		CHECK_NEAR( after, before, 0.1 );
		CHECK_NEAR( ( h[3] - 2.0 * h[4] + h[5] ) / ( d * d ), ( h[1] - 2.0 * h[2] + h[3] ) / ( d * d ),
		            0.05 );
	}
	lmbMotion_Free( motion );
	lmbCharacter_Free( character );
}

/* Keys whose quaternions change sign describe the same turns. */
static void SignsDoNotMatter( void **state )
{
	(void)state;
	const lmbMotionDef def = lmbDefaultMotionDef();
	lmbCharacter *plain = AnimatedBody( 31, 30.0, 0.0, Wave, Swing, false );
	lmbCharacter *flipped = AnimatedBody( 31, 30.0, 0.0, Wave, Swing, true );
	lmbMotion *a = MakeMotion( plain, &def ), *b = MakeMotion( flipped, &def );
	for ( double t = 0.0; t < a->duration; t += 0.0123 )
	{
		double p[24], q[24];
		lmbMotion_Pose( a, t, p );
		lmbMotion_Pose( b, t, q );
		for ( int e = 0; e < 24; ++e )
			CHECK_NEAR( p[e], q[e], 1e-12 );
	}
	lmbMotion_Free( a );
	lmbMotion_Free( b );
	lmbCharacter_Free( plain );
	lmbCharacter_Free( flipped );
}

/* The gain of forwards and backwards, in closed form, at frequencies around the cutoff; no shift in phase;
 * straight lines, ends included, as they were. */
static void LowPassIsButterworth( void **state )
{
	(void)state;
	enum
	{
		count = 4000
	};
	static double values[count * 2];
	double rate = 100.0, cutoff = 6.0;
	for ( double f = 1.0; f < 40.0; f *= 1.25 )
	{
		for ( int i = 0; i < count; ++i )
		{
			values[2 * i] = cos( 2.0 * pi * f * i / rate + 0.4 );
			values[2 * i + 1] = 3.0 - 0.01 * i;
		}
		CHECK_INT( lmbLowPass_Run( values, count, 2, rate, cutoff, NULL ), lmb_statusOk );
		double gain = 1.0 / ( 1.0 + pow( tan( pi * f / rate ) / tan( pi * cutoff / rate ), 8.0 ) );
		for ( int i = 500; i < 3500; i += 7 )
			/* What the ends disturb has died away by exp(-2 pi 6 sin(pi/8) 5 s). */
			CHECK_NEAR( values[2 * i], gain * cos( 2.0 * pi * f * i / rate + 0.4 ), 1e-10 );
		for ( int i = 0; i < count; i += 13 )
			/* The padding's far end, forgotten to 4e-9, times the line's rise over the filter's memory. */
			CHECK_NEAR( values[2 * i + 1], 3.0 - 0.01 * i, 4e-9 );
	}
	/* Shorter than the filter's memory, still finite and a constant still the constant. */
	double few[3] = { 2.0, 2.0, 2.0 };
	CHECK_INT( lmbLowPass_Run( few, 3, 1, rate, 0.1, NULL ), lmb_statusOk );
	for ( int i = 0; i < 3; ++i )
		CHECK_NEAR( few[i], 2.0, 1e-12 );
}

static double Noisy( double t )
{
	return 0.5 + 0.1 * sin( 2.0 * pi * 1.0 * t ) + 0.02 * sin( 2.0 * pi * 12.0 * t );
}

static double Still( double t )
{
	(void)t;
	return 0.0;
}

/* The same through a whole motion: 12 Hz goes, 1 Hz stays. */
static void CutoffTakesNoiseOut( void **state )
{
	(void)state;
	lmbCharacter *character = AnimatedBody( 241, 60.0, 0.0, Noisy, Still, false );
	const lmbMotionDef def = { .cutoff = 4.0 };
	lmbMotion *motion = MakeMotion( character, &def );
	double keep = 1.0 / ( 1.0 + pow( tan( pi * 1.0 / 60.0 ) / tan( pi * 4.0 / 60.0 ), 8.0 ) );
	double left = 1.0 / ( 1.0 + pow( tan( pi * 12.0 / 60.0 ) / tan( pi * 4.0 / 60.0 ), 8.0 ) );
	for ( double t = 1.0; t < 3.0; t += 0.0137 )
	{
		double height, angle;
		Sample( motion, t, &height, &angle );
		/* Of 0.02 of noise, left is 2e-6; keys are float32 and the spline between them is good to 1e-6. */
		CHECK_NEAR( height, 0.5 + 0.1 * keep * sin( 2.0 * pi * t ), 0.02 * left + 2e-6 );
	}
	lmbMotion_Free( motion );
	lmbCharacter_Free( character );
}

/* Speed and acceleration are 0 at the start, everything is continuous where the warp ends, and from there
 * the clip runs at its own rate to its last key. */
static void StartsFromRest( void **state )
{
	(void)state;
	lmbCharacter *character = AnimatedBody( 121, 60.0, 0.0, Wave, Swing, false );
	const lmbMotionDef def = { .warpIn = 0.5 };
	lmbMotion *motion = MakeMotion( character, &def );
	CHECK_NEAR( motion->duration, 2.25, 1e-6 );
	double d = 1e-3, h[3], a[3], height, angle;
	for ( int i = 0; i < 3; ++i )
		Sample( motion, i * d, &h[i], &a[i] );
	/* tau ~ 2.5 t^4 / W^3: at 2 ms 3e-10 s of a motion at 4 rad/s. */
	CHECK_NEAR( h[1], h[0], 1e-9 );
	CHECK_NEAR( a[2], a[0], 1e-8 );
	Sample( motion, 0.0, &height, &angle );
	CHECK_NEAR( height, Wave( 0.0 ), 1e-7 );
	for ( double t = 0.5; t < 2.25; t += 0.05 )
	{
		Sample( motion, t, &height, &angle );
		CHECK_NEAR( height, Wave( t - 0.25 ), 2e-6 );
		CHECK_NEAR( angle, Swing( t - 0.25 ), 5e-6 );
	}
	/* Rate of clip time: rises without a step, 1 at the end of the warp with no corner. */
	double last = 0.0;
	for ( double t = 0.0; t < 0.5; t += 0.01 )
	{
		double rate = ( lmbMotion_ClipTime( motion, t + 1e-5 ) - lmbMotion_ClipTime( motion, t ) ) / 1e-5;
		double x = ( t + 5e-6 ) / 0.5;
		CHECK_NEAR( rate, x * x * x * ( x * ( 6.0 * x - 15.0 ) + 10.0 ), 1e-8 );
		CHECK( rate >= last );
		last = rate;
	}
	CHECK_NEAR( lmbMotion_ClipTime( motion, 0.5 ), 0.25, 1e-15 );
	/* Outside its time a motion stands. */
	double before[24], after[24], end[24], start[24];
	lmbMotion_Pose( motion, -3.0, before );
	lmbMotion_Pose( motion, 0.0, start );
	lmbMotion_Pose( motion, 99.0, after );
	lmbMotion_Pose( motion, motion->duration, end );
	for ( int e = 0; e < 24; ++e )
	{
		CHECK_NEAR( before[e], start[e], 0.0 );
		CHECK_NEAR( after[e], end[e], 0.0 );
	}
	lmbMotion_Free( motion );
	lmbCharacter_Free( character );
}

/* A part of a clip, a denser key rate, and what is refused. */
static void PartsAndRanges( void **state )
{
	(void)state;
	lmbCharacter *character = AnimatedBody( 61, 30.0, 1.0, Wave, Swing, false );
	lmbMotionDef def = { .start = 0.5, .duration = 0.75, .keyRate = 90.0 };
	lmbMotion *motion = MakeMotion( character, &def );
	double height, angle;
	CHECK_NEAR( motion->duration, 0.75, 1e-12 );
	CHECK_INT( motion->curves->keyCount, 181 );
	Sample( motion, 0.0, &height, &angle );
	CHECK_NEAR( height, Wave( 0.5 ), 1e-5 );
	lmbMotion_Free( motion );
	/* A warp longer than the motion allows ends with it. */
	def = ( lmbMotionDef ){ .start = 1.9, .warpIn = 5.0 };
	motion = MakeMotion( character, &def );
	CHECK_NEAR( motion->duration, 0.2, 1e-6 );
	CHECK_NEAR( lmbMotion_ClipTime( motion, motion->duration ), 3.0, 1e-6 );
	lmbMotion_Free( motion );

	static const struct
	{
		lmbMotionDef def;
		int clip;
		const char *message;
	} wrong[] = { { { .keyRate = 0.5 }, 0, "key rate" },
	              { { .keyRate = 2000.0 }, 0, "key rate" },
	              { { .warpIn = -1.0 }, 0, "warp-in" },
	              { { .warpIn = NAN }, 0, "warp-in" },
	              { { .start = 2.5 }, 0, "2 s long" },
	              { { .duration = -1.0 }, 0, "duration" },
	              { { .cutoff = 15.5 }, 0, "half the key rate" },
	              { { .cutoff = -1.0 }, 0, "cutoff" },
	              { { .keyRate = 0.0 }, 1, "1 animations" },
	              { { .keyRate = 0.0 }, -1, "number -1" } };
	for ( size_t i = 0; i < sizeof( wrong ) / sizeof( wrong[0] ); ++i )
	{
		lmbError error = { 0 };
		CHECK( lmbMotion_Make( character, wrong[i].clip, &wrong[i].def, &motion, &error ) != lmb_statusOk );
		CHECK( motion == NULL );
		CHECK_CONTAINS( error.message, wrong[i].message );
	}
	lmbCharacter_Free( character );
	lmbMotion_Free( NULL );

	/* One key alone does not move; nodes that multiply beyond all bounds are refused. */
	lmbGlbWriter writer;
	lmbError error = { 0 };
	def = lmbDefaultMotionDef();
	MakeBody( &writer );
	BodySet( &writer, "/accessors/5/count", "1" );
	BodySet( &writer, "/accessors/6/count", "1" );
	character = NeedBody( &writer );
	CHECK_INT( lmbMotion_Make( character, 0, &def, &motion, &error ), lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "single pose" );
	lmbCharacter_Free( character );
	const float huge[12] = { 0, 0, 0, 1e38f, 1e38f, 1e38f, 1e38f, 0, 0, 0, 0, 0 };
	MakeBody( &writer );
	char text[100];
	snprintf( text, sizeof( text ), "[{\"input\":5,\"output\":%d}]",
	          lmbGlbWriter_AddFloats( &writer, "VEC3", huge, 4, lmb_glbData, false ) );
	BodySet( &writer, "/animations/0/samplers", text );
	BodySet( &writer, "/animations/0/channels/0/target/path", "\"scale\"" );
	character = NeedBody( &writer );
	CHECK_INT( lmbMotion_Make( character, 0, &def, &motion, &error ), lmb_statusNumerical );
	CHECK_CONTAINS( error.message, "\"turn\"" );
	lmbCharacter_Free( character );
}

static void RandomTurn( lmbRandom *random, double *q )
{
	for ( int i = 0; i < 4; ++i )
		q[i] = lmbRandom_Normal( random );
	lmbQuat_Normalize( q, q );
}

static double Same( const double *a, const double *b )
{
	return fabs( a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] );
}

/* Local rotations to pose and back; joints stay attached; the root goes where it is told. */
static void LocalRotationsRoundTrip( void **state )
{
	(void)state;
	const char *path = LMB_TEST_SHARED "/assets/human.glb";
	CHECK_SHARED( path );
	lmbCharacter *character;
	lmbError error = { 0 };
	CHECK_OR_STOP( lmbCharacter_Load( path, NULL, &character, &error ) == lmb_statusOk );
	int count = character->boneCount;
	CHECK_OR_STOP( count <= 64 );
	double rotations[4 * 64], back[4 * 64], bones[12 * 64], again[12 * 64], root[12];
	checkSeed = 5;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	for ( int round = 0; round < 20; ++round )
	{
		for ( int b = 0; b < count; ++b )
			RandomTurn( &random, rotations + 4 * b );
		lmbPose_FromLocalRotations( character, rotations, NULL, bones );
		lmbPose_LocalRotations( character, bones, back );
		for ( int b = 0; b < count; ++b )
		{
			CHECK_NEAR( Same( rotations + 4 * b, back + 4 * b ), 1.0, 1e-12 );
			int parent = character->bones[b].parent;
			const double *frame = character->bones[b].bind;
			const double joint[3] = { frame[3], frame[7], frame[11] };
			double mine[3], above[3] = { joint[0], joint[1], joint[2] };
			lmbMat34_Point( mine, bones + 12 * b, joint );
			if ( parent >= 0 )
				lmbMat34_Point( above, bones + 12 * parent, joint );
			for ( int c = 0; c < 3; ++c )
				CHECK_NEAR( mine[c], above[c], 1e-12 );
		}
		/* Under a root the whole pose is carried. */
		double turn[4], linear[9], carried[12];
		RandomTurn( &random, turn );
		lmbQuat_ToMat33( linear, turn );
		for ( int i = 0; i < 12; ++i )
			root[i] = i % 4 == 3 ? lmbRandom_Normal( &random ) : linear[3 * ( i / 4 ) + i % 4];
		lmbPose_FromLocalRotations( character, rotations, root, again );
		for ( int b = 0; b < count; ++b )
		{
			lmbMat34_Multiply( carried, root, bones + 12 * b );
			for ( int e = 0; e < 12; ++e )
				CHECK_NEAR( again[12 * b + e], carried[e], 1e-12 );
		}
	}
	/* A frame of a motion has no stretch to speak of: its rotations give its pose, root place apart. */
	lmbCharacter_Pose( character, 0, 1.3, bones );
	lmbPose_LocalRotations( character, bones, rotations );
	memcpy( root, ( double[12] ){ 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 }, sizeof( root ) );
	const double joint[3] = { character->bones[0].bind[3], character->bones[0].bind[7],
	                          character->bones[0].bind[11] };
	double place[3];
	lmbMat34_Point( place, bones, joint );
	for ( int c = 0; c < 3; ++c )
		root[4 * c + 3] = place[c] - joint[c];
	lmbPose_FromLocalRotations( character, rotations, root, again );
	for ( int e = 0; e < 12 * count; ++e )
		CHECK_NEAR( again[e], bones[e], 1e-4 );
	lmbCharacter_Free( character );
}

int main( void )
{
	if ( !MakeBodyFolder() )
		return 1;
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( SplineReproducesCubics ), CHECK_TEST( ThroughTheKeysAndSmooth ),
	    CHECK_TEST( SignsDoNotMatter ),       CHECK_TEST( LowPassIsButterworth ),
	    CHECK_TEST( CutoffTakesNoiseOut ),    CHECK_TEST( StartsFromRest ),
	    CHECK_TEST( PartsAndRanges ),         CHECK_TEST( LocalRotationsRoundTrip ),
	};
	int failures = CHECK_RUN( tests );
	rmdir( bodyFolder );
	return failures;
}
