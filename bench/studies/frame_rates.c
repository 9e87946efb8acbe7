/* One motion at many frame rates:
 *   frame_rates CHARACTER MODEL CLIP [CUTOFF_HZ [SECONDS]]   a character's clip, each layer of its model
 *   frame_rates point                        one spring, beside bench/springbone, which shakes a bone alike
 * All runs are seen at the same instants, three a second, and compared there with the run at 1,920 Hz (the
 * point: at 60 Hz). Jittered: every step but those that end at an instant ends up to 0.4 of its length early
 * or late. */
#include "base/random.h"
#include "flesh/model.h"
#include "formats/motion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum
{
	rateCount = 7,
	finest = 1920
};
static const int rates[rateCount] = { 15, 24, 30, 60, 120, 144, 240 };

/* What is played. A pose is taken from pose( time ). */
typedef struct Scene
{
	const lmbModel *model;
	const lmbMotion *motion; /* NULL: the point */
	int instants;
	double *bones;
	float *palette;
} Scene;

/* The point's motion along x: 1.3 and 2.1 Hz, coming up from rest within a second. */
static double Shake( double t )
{
	const double turn = 6.283185307179586;
	double ramp = t <= 0.0 ? 0.0 : t >= 1.0 ? 1.0 : t * t * t * ( 10.0 - 15.0 * t + 6.0 * t * t );
	return ramp * ( 0.1 * sin( turn * 1.3 * t ) + 0.05 * sin( turn * 2.1 * t + 1.0 ) );
}

static void StepTo( const Scene *scene, lmbFleshBody *body, double time, double dt, lmbFleshShape *shape )
{
	int bones = lmbFlesh_Info( scene->model->flesh ).boneCount;
	lmbFleshPose pose = { .bones = scene->palette };
	if ( scene->motion != NULL )
	{
		lmbMotion_Pose( scene->motion, time, scene->bones );
		for ( int i = 0; i < 12 * bones; ++i )
			scene->palette[i] = (float)scene->bones[i];
	}
	else
		pose.position[0] = Shake( time );
	if ( lmbFleshBody_Step( body, &pose, dt, shape ) != lmb_statusOk )
		abort();
}

/* The shapes at the instants to out (instants x vertexCount x 3). */
static void Run( const Scene *scene, const lmbFleshDef *def, int rate, bool jittered, float *out )
{
	lmbArena arena = { 0 };
	lmbFleshBody *body = NULL;
	lmbFleshShape shape;
	lmbRandom random = lmbRandom_Seed( 77, 1 );
	size_t numbers = 3 * (size_t)lmbFlesh_Info( scene->model->flesh ).vertexCount;
	if ( lmbModel_Body( scene->model, def, &arena, &body, NULL ) != lmb_statusOk )
		abort();
	StepTo( scene, body, 0.0, 0.0, &shape );
	double time = 0.0;
	for ( int i = 0; i < scene->instants; ++i )
	{
		int count = rate / 3;
		for ( int n = 1; n <= count; ++n )
		{
			double wobble = jittered && n < count ? 0.8 * ( lmbRandom_Uniform( &random ) - 0.5 ) : 0.0;
			double next = i / 3.0 + ( n + wobble ) / rate;
			StepTo( scene, body, next, next - time, &shape );
			time = next;
		}
		memcpy( out + (size_t)i * numbers, shape.positions, numbers * sizeof( float ) );
	}
	lmbArena_Free( &arena );
}

/* RMS distance of the vertices, rigid ones too, which do not differ. */
static double Rms( const Scene *scene, const float *a, const float *b )
{
	int vertices = lmbFlesh_Info( scene->model->flesh ).vertexCount;
	double sum = 0.0;
	for ( size_t k = 0; k < 3 * (size_t)scene->instants * (size_t)vertices; ++k )
		sum += ( (double)a[k] - b[k] ) * ( (double)a[k] - b[k] );
	return sqrt( sum / ( scene->instants * (double)vertices ) );
}

static void PrintLayer( const Scene *scene, const lmbFleshDef *def, const char *name, int reference )
{
	size_t numbers = 3 * (size_t)lmbFlesh_Info( scene->model->flesh ).vertexCount * (size_t)scene->instants;
	float *still = malloc( numbers * sizeof( float ) ), *truth = malloc( numbers * sizeof( float ) ),
	      *other = malloc( numbers * sizeof( float ) ), *first = malloc( numbers * sizeof( float ) );
	lmbFleshDef none = *def;
	none.layer = lmb_layerNone;
	Run( scene, &none, rates[0], false, still );
	Run( scene, def, reference, false, truth );
	double swing = Rms( scene, truth, still ), apart = 0.0;
	printf( "| %s | %.2f |", name, 1e3 * swing );
	for ( int r = 0; r < rateCount; ++r )
	{
		Run( scene, def, rates[r], false, other );
		printf( " %.2f /", 100.0 * Rms( scene, truth, other ) / swing );
		if ( rates[r] == 30 )
			memcpy( first, other, numbers * sizeof( float ) );
		if ( rates[r] == 240 )
			apart = Rms( scene, first, other );
		Run( scene, def, rates[r], true, other );
		printf( " %.2f |", 100.0 * Rms( scene, truth, other ) / swing );
		fflush( stdout );
	}
	printf( " %.2f |\n", 100.0 * apart / swing );
	free( still );
	free( truth );
	free( other );
	free( first );
}

static void PrintHead( int reference )
{
	printf( "Difference from %d Hz, %% of the swing's RMS, even / jittered steps\n\n| layer | swing, mm |",
	        reference );
	for ( int r = 0; r < rateCount; ++r )
		printf( " %d Hz |", rates[r] );
	printf( " 30 against 240 Hz |\n|---|---|" );
	for ( int r = 0; r <= rateCount; ++r )
		printf( "---|" );
	printf( "\n" );
}

/* One vertex on one bone, 4 Hz, a fifth of critical damping. */
static int RunPoint( void )
{
	static float palette[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
	double weight = 1.0, place[3] = { 0 }, k = 631.65, c = 10.06;
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
	char path[] = "/tmp/limber-point-XXXXXX";
	lmbError error = { 0 };
	lmbModel model = { 0 };
	int handle = mkstemp( path );
	if ( handle < 0 || lmbModel_Write( &character, NULL, NULL, &springs, path, &error ) != lmb_statusOk ||
	     lmbModel_Open( &model, path, &error ) != lmb_statusOk )
	{
		fprintf( stderr, "frame_rates: %s\n", error.message );
		return 1;
	}
	close( handle );
	unlink( path );
	Scene scene = { .model = &model, .instants = 60, .palette = palette };
	lmbFleshDef def = lmbDefaultFleshDef( model.flesh );
	PrintHead( 60 );
	PrintLayer( &scene, &def, "one spring, 4 Hz", 60 );
	lmbModel_Close( &model );
	return 0;
}

static int RunCharacter( int argc, char **argv )
{
	static const char *const names[] = { "none", "vertex", "modal, nothing fitted", "modal", "hybrid" };
	lmbError error = { 0 };
	lmbCharacter *character = NULL;
	lmbModel model = { 0 };
	lmbMotion *motion = NULL;
	lmbMotionDef motionDef = lmbDefaultMotionDef();
	motionDef.cutoff = argc > 4 ? atof( argv[4] ) : 0.0;
	lmbStatus status = lmbCharacter_Load( argv[1], NULL, &character, &error );
	if ( status == lmb_statusOk )
		status = lmbModel_Open( &model, argv[2], &error );
	int clip = status == lmb_statusOk ? lmbCharacter_FindClip( character, argv[3] ) : 0;
	if ( clip < 0 )
		status = lmbError_Set( &error, lmb_statusNotFound, "%s: no clip %s", argv[1], argv[3] );
	if ( status == lmb_statusOk )
		status = lmbMotion_Make( character, clip, &motionDef, &motion, &error );
	if ( status != lmb_statusOk )
	{
		fprintf( stderr, "frame_rates: %s\n", error.message );
		return 1;
	}
	lmbFleshInfo info = lmbFlesh_Info( model.flesh );
	double seconds = argc > 5 ? fmin( atof( argv[5] ), motion->duration ) : motion->duration;
	Scene scene = { .model = &model,
	                .motion = motion,
	                .instants = (int)floor( 3.0 * seconds ),
	                .bones = calloc( (size_t)info.boneCount * 12, sizeof( double ) ),
	                .palette = calloc( (size_t)info.boneCount * 12, sizeof( float ) ) };
	printf( "%s, %d instants\n", motion->name, scene.instants );
	PrintHead( finest );
	for ( int layer = lmb_layerVertex; layer <= lmb_layerHybrid; ++layer )
	{
		lmbFleshDef def = lmbDefaultFleshDef( model.flesh );
		def.layer = (lmbLayer)layer;
		def.normals = false;
		if ( lmbFleshBody_Size( model.flesh, &def ) > 0 )
			PrintLayer( &scene, &def, names[layer], finest );
	}
	free( scene.bones );
	free( scene.palette );
	lmbMotion_Free( motion );
	lmbModel_Close( &model );
	lmbCharacter_Free( character );
	return 0;
}

int main( int argc, char **argv )
{
	if ( argc == 2 && strcmp( argv[1], "point" ) == 0 )
		return RunPoint();
	if ( argc >= 4 )
		return RunCharacter( argc, argv );
	fprintf( stderr, "usage: frame_rates CHARACTER MODEL CLIP [CUTOFF_HZ [SECONDS]] | point\n" );
	return 1;
}
