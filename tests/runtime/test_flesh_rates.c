/* One motion at 15 to 240 frames a second: differences shrink at the order that the target promises, jittered
 * steps and pauses cost no more, and time may run at any speed. */
#include "check.h"

#include "runtime/flesh_fixture.h"

enum
{
	instants = 24, /* every third of a second, all rates have a frame there */
	numbers = instants * 3 * 90,
	finest = 3840
};

typedef enum Steps
{
	steps_Even,
	steps_Jittered,
	steps_Paused, /* even, and at every instant the body stands paused for a while */
	steps_Slow,   /* even, and everything takes three times as long, told by dt */
	steps_Lean    /* even, without asking for the shape but at the instants */
} Steps;

/* The fixture's motion, coming up from rest within a second, so that no start rings the springs. */
static double Warp( double t )
{
	return t < 1.0 ? t * t * t * ( 1.0 - 0.5 * t ) : t - 0.5;
}

static void Run( const Fixture *fixture, const lmbModel *model, const lmbFleshDef *def, int rate, Steps kind,
                 float *out )
{
	lmbArena arena = { 0 };
	lmbFleshBody *body = NULL;
	CHECK_OR_STOP( lmbModel_Body( model, def, &arena, &body, NULL ) == lmb_statusOk );
	lmbRandom random = lmbRandom_Seed( 78, 1 );
	Placement placement;
	lmbFleshShape shape;
	double time = 0.0;
	Fixture_Pose( fixture, 0.0, &placement );
	lmbFleshBody_Step( body, &placement.pose, 0.0, &shape );
	for ( int i = 0; i < instants; ++i )
	{
		for ( int n = 1; n <= rate / 3; ++n )
		{
			bool wobbles = kind == steps_Jittered && n < rate / 3;
			double wobble = wobbles ? 0.8 * ( lmbRandom_Uniform( &random ) - 0.5 ) : 0.0;
			double next = i / 3.0 + ( n + wobble ) / rate;
			Fixture_Pose( fixture, Warp( next ), &placement );
			/* A clock of the world that runs three times as fast as the body's: the caller divides. */
			double dt = kind == steps_Slow ? ( 3.0 * next - 3.0 * time ) / 3.0 : next - time;
			lmbFleshShape *wanted = kind == steps_Lean && n < rate / 3 ? NULL : &shape;
			CHECK_INT( lmbFleshBody_Step( body, &placement.pose, dt, wanted ), lmb_statusOk );
			time = next;
		}
		memcpy( out + (size_t)i * 3 * 90, shape.positions, 3 * 90 * sizeof( float ) );
		lmbFleshBody_Pause( body, true );
		for ( int n = 0; n < 5 && kind == steps_Paused; ++n )
			lmbFleshBody_Step( body, &placement.pose, 0.7, &shape );
		lmbFleshBody_Pause( body, false );
	}
	lmbArena_Free( &arena );
}

static double Rms( const float *a, const float *b )
{
	double sum = 0.0;
	for ( int i = 0; i < numbers; ++i )
		sum += ( (double)a[i] - b[i] ) * ( (double)a[i] - b[i] );
	return sqrt( sum / numbers );
}

static const int rates[] = { 15, 24, 30, 60, 120, 144, 240 };

/* What a layer and target must reach: difference from 3840 Hz as a share of the swing at each rate, about 1.5
 * times what was measured, the order in the length of step by which it shrinks from 60 to 120 Hz, and from
 * 120 to 240 Hz as far as 24 bits show it. */
typedef struct Promise
{
	lmbLayer layer;
	lmbTargetInterpolation interpolation;
	double shares[7];
	double order;
} Promise;

static void CheckLayer( const Fixture *fixture, const lmbModel *model, const Promise *promise )
{
	static float still[numbers], truth[numbers], even[7][numbers], other[numbers];
	lmbFleshDef def = lmbDefaultFleshDef( model->flesh );
	def.interpolation = promise->interpolation;
	def.normals = false;
	def.layer = lmb_layerNone;
	Run( fixture, model, &def, rates[0], steps_Even, still );
	def.layer = promise->layer;
	def.interpolation = lmb_targetCubic;
	Run( fixture, model, &def, finest, steps_Even, truth );
	def.interpolation = promise->interpolation;
	double swing = Rms( truth, still ), share[7];
	printf( "layer %d, target %d, swing %.1f mm:", def.layer, def.interpolation, 1e3 * swing );
	for ( int r = 0; r < 7; ++r )
	{
		Run( fixture, model, &def, rates[r], steps_Even, even[r] );
		share[r] = Rms( truth, even[r] ) / swing;
		Run( fixture, model, &def, rates[r], steps_Jittered, other );
		double jittered = Rms( truth, other ) / swing;
		printf( " %d Hz %.3f/%.3f%%", rates[r], 100.0 * share[r], 100.0 * jittered );
		CHECK( share[r] < promise->shares[r] );
		CHECK( jittered < pow( 1.8, promise->order ) * promise->shares[r] ); /* by its longest steps */
		Run( fixture, model, &def, rates[r], steps_Paused, other );
		CHECK( memcmp( other, even[r], sizeof( other ) ) == 0 );
		Run( fixture, model, &def, rates[r], steps_Lean, other );
		CHECK( memcmp( other, even[r], sizeof( other ) ) == 0 );
	}
	Run( fixture, model, &def, 60, steps_Slow, other );
	CHECK_NEAR( Rms( other, even[3] ) / swing, 0.0, 1e-4 );
	double order = log2( share[3] / share[4] );
	printf( "; order %.1f, %.1f; 30 against 240 Hz %.2f%%\n", order, log2( share[4] / share[6] ),
	        100.0 * Rms( even[2], even[6] ) / swing );
	CHECK( order > promise->order - 0.5 );
	if ( promise->interpolation == lmb_targetCubic )
		CHECK( Rms( even[2], even[6] ) < 0.1 * swing );
}

static void DifferencesShrink( void **state )
{
	(void)state;
	/* A cubic that passes through the frames is off by dt^4. The modes' forcing is carried evenly between the
	 * axes of the bones at a step's two ends, which is off by dt^2, as straight lines are. */
	static const Promise promises[] = {
	    { lmb_layerVertex,
	      lmb_targetCubic,
	      { 0.073, 0.011, 0.0045, 0.0003, 3.5e-05, 3.5e-05, 3.5e-05 },
	      4.0 },
	    { lmb_layerModal, lmb_targetCubic, { 0.12, 0.051, 0.033, 0.0082, 0.002, 0.0014, 0.00052 }, 2.0 },
	    { lmb_layerHybrid, lmb_targetCubic, { 0.16, 0.052, 0.033, 0.0081, 0.002, 0.0014, 0.00052 }, 2.0 },
	    { lmb_layerVertex, lmb_targetLinear, { 0.42, 0.17, 0.11, 0.027, 0.0068, 0.0047, 0.0017 }, 2.0 },
	    { lmb_layerHybrid, lmb_targetLinear, { 0.32, 0.093, 0.058, 0.015, 0.0037, 0.0026, 0.001 }, 2.0 },
	};
	Fixture fixture;
	lmbModel model;
	Fixture_Make( &fixture, &smallFixture );
	Fixture_Open( &fixture, &model );
	for ( int p = 0; p < (int)( sizeof( promises ) / sizeof( promises[0] ) ); ++p )
		CheckLayer( &fixture, &model, &promises[p] );
	lmbModel_Close( &model );
	Fixture_Free( &fixture );
}

int main( void )
{
	const struct CMUnitTest tests[] = { CHECK_TEST( DifferencesShrink ) };
	return CHECK_RUN( tests );
}
