/* Springs of a moving body against closed forms, and the same motion at many frame rates. */
#include "check.h"

#include "runtime/flesh_fixture.h"

#include <complex.h>

static const double stiffness = 900.0, damping = 12.0; /* 4.8 Hz, a fifth of critical */

/* One vertex on one bone, one spring. */
static void MakePoint( const double *bind, lmbModel *model )
{
	double weight = 1.0, place[3] = { bind[0], bind[1], bind[2] }, k = stiffness, c = damping;
	int32_t bone = 0;
	lmbBone root = { .name = "root", .parent = -1 };
	lmbCharacter character = { .vertexCount = 1,
	                           .boneCount = 1,
	                           .influenceCount = 1,
	                           .bind = place,
	                           .vertexBones = &bone,
	                           .weights = &weight,
	                           .bones = &root };
	lmbSprings springs = { .vertexCount = 1, .boneCount = 1, .vertexStiffness = &k, .vertexDamping = &c };
	char path[] = "/tmp/limber-flesh-XXXXXX";
	close( mkstemp( path ) );
	lmbError error = { 0 };
	CHECK_INT( lmbModel_Write( &character, NULL, NULL, &springs, path, &error ), lmb_statusOk );
	CHECK_OR_STOP( lmbModel_Open( model, path, &error ) == lmb_statusOk );
	CHECK_INT( lmbDefaultFleshDef( model->flesh ).layer, lmb_layerVertex );
	unlink( path );
}

static lmbFleshBody *MakeBody( const lmbModel *model, lmbArena *arena, lmbTargetInterpolation interpolation )
{
	lmbFleshBody *body = NULL;
	lmbFleshDef def = lmbDefaultFleshDef( model->flesh );
	def.interpolation = interpolation;
	CHECK_OR_STOP( lmbModel_Body( model, &def, arena, &body, NULL ) == lmb_statusOk );
	return body;
}

static const float identity[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };

/* Where the point is in model space, when its body is at x and turned about y by angle. */
static void StepPoint( lmbFleshBody *body, double x, double angle, double dt, double *out )
{
	lmbFleshPose pose = { .bones = identity,
	                      .position = { x, 0.0, 0.0 },
	                      .rotation = { 0.0f, (float)sin( 0.5 * angle ), 0.0f, (float)cos( 0.5 * angle ) } };
	lmbFleshShape shape;
	CHECK_INT( lmbFleshBody_Step( body, &pose, dt, &shape ), lmb_statusOk );
	for ( int i = 0; i < 3; ++i )
		out[i] = shape.positions[i];
}

/* Evenly moving: no displacement. Evenly accelerated: -a / k, whatever the steps. */
static void EvenMotion( void **state )
{
	(void)state;
	const double origin[3] = { 0 };
	lmbModel model;
	MakePoint( origin, &model );
	checkSeed = 11;
	for ( int interpolation = 0; interpolation < 2; ++interpolation )
	{
		lmbArena arena = { 0 };
		lmbFleshBody *glides = MakeBody( &model, &arena, (lmbTargetInterpolation)interpolation );
		lmbFleshBody *falls = MakeBody( &model, &arena, (lmbTargetInterpolation)interpolation );
		lmbRandom random = lmbRandom_Seed( checkSeed, 1 );
		double time = 0.0, out[3];
		for ( int n = 0; n < 2000; ++n )
		{
			double dt = interpolation == 0 ? 0.004 + 0.03 * lmbRandom_Uniform( &random ) : 0.002;
			time += dt;
			StepPoint( glides, 7.0 * time, 0.0, dt, out );
		}
		CHECK_NEAR( out[0], 0.0, 1e-6 );
		for ( int n = 0; n < 2000; ++n )
		{
			double dt = interpolation == 0 ? 0.004 + 0.03 * lmbRandom_Uniform( &random ) : 0.002;
			time += dt;
			StepPoint( falls, 0.5 * -9.81 * time * time, 0.0, dt, out );
		}
		/* The cubic is exact for a parabola. Straight lines jump by a dt at each frame's start, and the
		 * spring is seen at its end: to first order in dt c / k ... = 2 % here. */
		CHECK_NEAR( out[0], 9.81 / stiffness, ( interpolation == 0 ? 1e-4 : 2e-2 ) * 9.81 / stiffness );
		lmbArena_Free( &arena );
	}
	lmbModel_Close( &model );
}

/* Shaken by A sin(w t): A w^2 / (k - w^2 + i c w), and how that converges with the frame rate. */
static void ShakenPoint( void **state )
{
	(void)state;
	const double origin[3] = { 0 };
	const double w = 2.0 * 3.14159265358979323846 * 3.0, amplitude = 0.05;
	lmbModel model;
	MakePoint( origin, &model );
	double complex gain = amplitude * w * w / ( stiffness - w * w + I * damping * w );
	double last = 0.0;
	for ( int rate = 60; rate <= 960; rate *= 2 )
	{
		lmbArena arena = { 0 };
		lmbFleshBody *body = MakeBody( &model, &arena, lmb_targetCubic );
		double worst = 0.0, out[3];
		for ( int n = 0; n < 4 * rate; ++n )
		{
			double time = (double)n / rate, x = cimag( gain * cexp( I * w * time ) );
			StepPoint( body, amplitude * sin( w * time ), 0.0, 1.0 / rate, out );
			if ( n > 3 * rate ) /* what the start has rung has decayed by exp( -c t / 2 ), 1.5e-8 */
				worst = fmax( worst, fabs( out[0] - x ) );
		}
		printf( "%4d Hz: off by %.5f %% of the swing\n", rate, 100.0 * worst / cabs( gain ) );
		/* The end velocities are off by y''' dt^2 / 3, which moves the target by as little as it changes the
		 * springs: fourth order is what remains, a factor of 16. From 480 Hz on it is 24 bits that remain. */
		if ( last > 0.0 && rate <= 240 )
			CHECK_NEAR( last / worst, 16.0, 2.0 );
		last = worst;
		lmbArena_Free( &arena );
	}
	CHECK_NEAR( last / cabs( gain ), 0.0, 1e-5 );
	lmbModel_Close( &model );
}

/* Turning evenly about y with the point at radius r: u = w^2 r / (k - w^2 + i c w), at rest in the body. */
static void SpinningPoint( void **state )
{
	(void)state;
	const double bind[3] = { 0.4, 1.0, 0.0 }, w = 5.0;
	lmbModel model;
	lmbArena arena = { 0 };
	MakePoint( bind, &model );
	lmbFleshBody *body = MakeBody( &model, &arena, lmb_targetCubic );
	double complex u = w * w * bind[0] / ( stiffness - w * w + I * damping * w );
	double out[3];
	for ( int n = 0; n < 240 * 4; ++n )
		StepPoint( body, 0.0, w * n / 240.0, 1.0 / 240.0, out );
	/* Turning by angle a about y takes x to (cos a, 0, -sin a): a lag is towards +z. Second order as above;
	 * (w dt)^2 is 4e-4. */
	CHECK_NEAR( out[0] - bind[0], creal( u ), 1e-3 * cabs( u ) );
	CHECK_NEAR( out[2], -cimag( u ), 1e-3 * cabs( u ) );
	CHECK_NEAR( out[1], bind[1], 1e-6 );
	lmbArena_Free( &arena );
	lmbModel_Close( &model );
}

/* Directed without being trained anew, against closed forms: a steady force, a blow, other springs, gains and
 * the limit. */
static void Directed( void **state )
{
	(void)state;
	const double origin[3] = { 0 }, force = 3.0, speed = 0.7;
	const float half = 0.5f, bad = NAN;
	lmbModel model;
	lmbArena arena = { 0 };
	MakePoint( origin, &model );
	checkSeed = 5;
	const lmbFleshDirection plain = lmbDefaultFleshDirection();
	const double steady = force / stiffness;
	const struct
	{
		float gain, limit, stiffness, damping;
		const float *vertexGain;
		double shown;
	} cases[] = {
	    { 1.0f, 0.0f, 1.0f, 1.0f, NULL, steady },
	    { 0.25f, 0.0f, 1.0f, 1.0f, &half, 0.125 * steady },
	    { 1.0f, 0.0f, 4.0f, 2.0f, NULL, 0.25 * steady },
	    { 1.0f, 0.002f, 1.0f, 1.0f, NULL, steady / sqrt( 1.0 + steady * steady / ( 0.002 * 0.002 ) ) },
	    { 1.0f, 10.0f, 1.0f, 1.0f, NULL, steady }, /* eased in: far below its limit nothing is changed */
	    { 0.0f, 0.0f, 1.0f, 1.0f, NULL, 0.0 },
	};
	for ( int c = 0; c < (int)( sizeof( cases ) / sizeof( cases[0] ) ); ++c )
		for ( int interpolation = 0; interpolation < 2; ++interpolation )
		{
			lmbFleshBody *body = MakeBody( &model, &arena, (lmbTargetInterpolation)interpolation );
			lmbFleshDirection direction = { .gain = cases[c].gain,
			                                .limit = cases[c].limit,
			                                .stiffness = cases[c].stiffness,
			                                .damping = cases[c].damping,
			                                .vertexGain = cases[c].vertexGain,
			                                .acceleration = { force } };
			CHECK_INT( lmbFleshBody_Direct( body, &direction ), lmb_statusOk );
			lmbRandom random = lmbRandom_Seed( checkSeed, 1 );
			double out[3];
			for ( int n = 0; n < 1000; ++n )
				StepPoint( body, 0.0, 0.0, interpolation == 0 ? 0.03 * lmbRandom_Uniform( &random ) : 0.002,
				           out );
			/* The cubic's force is steady within a step; the linear target's is a jump at its start, see
			 * EvenMotion. */
			CHECK_NEAR( out[0], cases[c].shown, ( interpolation == 0 ? 2e-6 : 3e-2 ) * steady );
			CHECK_NEAR( out[1], 0.0, 1e-9 );
		}

	lmbFleshBody *body = MakeBody( &model, &arena, lmb_targetCubic );
	const double w = sqrt( stiffness - 0.25 * damping * damping );
	const double dt = 0.001;
	double out[3], worst = 0.0;
	StepPoint( body, 0.0, 0.0, dt, out );
	CHECK_INT( lmbFleshBody_Push( body, ( const double[3] ){ 0.0, 0.25 * speed, 0.0 } ), lmb_statusOk );
	CHECK_INT( lmbFleshBody_Push( body, ( const double[3] ){ 0.0, 0.75 * speed, 0.0 } ), lmb_statusOk );
	StepPoint( body, 0.0, 0.0, 0.0, out ); /* takes no time: the blow waits */
	for ( int n = 1; n < 500; ++n )
	{
		StepPoint( body, 0.0, 0.0, dt, out );
		double t = ( n - 0.5 ) * dt; /* spread over the first step: its middle, to (w dt)^2 / 24 */
		worst = fmax( worst, fabs( out[1] - speed * exp( -0.5 * damping * t ) * sin( w * t ) / w ) );
	}
	CHECK_NEAR( worst, 0.0, 1e-4 * speed / w );

	lmbFleshDirection wrong = plain;
	wrong.gain = -1.0f;
	CHECK_INT( lmbFleshBody_Direct( body, &wrong ), lmb_statusInvalidArgument );
	wrong = plain;
	wrong.vertexGain = &bad;
	CHECK_INT( lmbFleshBody_Direct( body, &wrong ), lmb_statusInvalidArgument );
	wrong = plain;
	wrong.stiffness = INFINITY;
	CHECK_INT( lmbFleshBody_Direct( body, &wrong ), lmb_statusInvalidArgument );
	wrong = plain;
	wrong.acceleration[2] = NAN;
	CHECK_INT( lmbFleshBody_Direct( body, &wrong ), lmb_statusInvalidArgument );
	CHECK_INT( lmbFleshBody_Direct( body, NULL ), lmb_statusInvalidArgument );
	CHECK_INT( lmbFleshBody_Push( body, ( const double[3] ){ 0.0, NAN, 0.0 } ), lmb_statusInvalidArgument );
	CHECK_INT( lmbFleshBody_Push( body, ( const double[3] ){ 2e4, 0.0, 0.0 } ), lmb_statusInvalidArgument );
	lmbArena_Free( &arena );
	lmbModel_Close( &model );
}

/* The whole fixture at rates that share instants with 1920 Hz; the springs' displacement (shape less still
 * shape) may differ by what sampling the target costs. Jittered: the same instants, steps between them cut
 * at random. */
enum
{
	instants = 30, /* every third of a second */
	vertices = 90
};

static void RunAtRate( const Fixture *fixture, const lmbModel *model, lmbLayer layer, int rate, bool jittered,
                       float *out )
{
	lmbArena arena = { 0 };
	lmbFleshDef def = lmbDefaultFleshDef( model->flesh );
	def.layer = layer;
	lmbFleshBody *body = NULL;
	CHECK_OR_STOP( lmbModel_Body( model, &def, &arena, &body, NULL ) == lmb_statusOk );
	lmbRandom random = lmbRandom_Seed( 77, 1 );
	Placement placement;
	lmbFleshShape shape;
	double time = 0.0;
	Fixture_Pose( fixture, time, &placement );
	lmbFleshBody_Step( body, &placement.pose, 0.0, &shape );
	for ( int i = 0; i < instants; ++i )
	{
		double begin = i / 3.0;
		int count = rate / 3;
		for ( int n = 1; n <= count; ++n )
		{
			double wobble = jittered && n < count ? lmbRandom_Uniform( &random ) - 0.5 : 0.0;
			double next = begin + ( n + 0.8 * wobble ) / rate;
			Fixture_Pose( fixture, next, &placement );
			lmbFleshBody_Step( body, &placement.pose, next - time, &shape );
			time = next;
		}
		memcpy( out + (size_t)i * 3 * vertices, shape.positions, 3 * vertices * sizeof( float ) );
	}
	lmbArena_Free( &arena );
}

static double Rms( const float *a, const float *b )
{
	double sum = 0.0;
	for ( int i = 0; i < instants * 3 * vertices; ++i )
		sum += ( (double)a[i] - b[i] ) * ( (double)a[i] - b[i] );
	return sqrt( sum / ( instants * 3 * vertices ) );
}

static void AnyFrameRate( void **state )
{
	(void)state;
	static const int rates[] = { 15, 24, 30, 60, 90, 120, 144, 240 };
	/* The fixture's springs reach 14 Hz, its motion 1.4 Hz: at 15 Hz there is a frame per swing. What is left
	 * is the target between frames, nothing of the springs; a method whose damping or stiffness depended on
	 * the step would be off by tens of percent at 30 Hz. Measured, with half as much again. */
	static const double bounds[] = { 0.3, 0.08, 0.05, 0.015, 0.008, 0.004, 0.003, 0.002 };
	static float still[instants * 3 * vertices], truth[instants * 3 * vertices],
	    other[instants * 3 * vertices];
	Fixture fixture;
	lmbModel model;
	Fixture_Make( &fixture, &smallFixture );
	Fixture_Open( &fixture, &model );
	const lmbLayer layers[] = { lmb_layerVertex, lmb_layerModal, lmb_layerHybrid };
	RunAtRate( &fixture, &model, lmb_layerNone, 15, false, still );
	for ( int l = 0; l < 3; ++l )
	{
		RunAtRate( &fixture, &model, layers[l], 1920, false, truth );
		double swing = Rms( truth, still );
		printf( "layer %d, swing %.1f mm RMS; difference from 1920 Hz:", layers[l], 1e3 * swing );
		for ( int r = 0; r < 8; ++r )
			for ( int jittered = 0; jittered < 2; ++jittered )
			{
				RunAtRate( &fixture, &model, layers[l], rates[r], jittered == 1, other );
				double share = Rms( truth, other ) / swing;
				CHECK( share < bounds[r] );
				if ( jittered )
					printf( "/%.1f%%", 100.0 * share );
				else
					printf( " %d Hz %.1f", rates[r], 100.0 * share );
			}
		printf( "\n" );
	}
	lmbModel_Close( &model );
	Fixture_Free( &fixture );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( EvenMotion ), CHECK_TEST( ShakenPoint ),  CHECK_TEST( SpinningPoint ),
	    CHECK_TEST( Directed ),   CHECK_TEST( AnyFrameRate ),
	};
	return CHECK_RUN( tests );
}
