#include "flesh/forcing.h"

#include "base/random.h"
#include "check.h"
#include "flesh/shaken_box.h"
#include "flesh/skinning.h"
#include "formats/motion.h"
#include "runtime/target.h"

typedef struct Scene
{
	BoxDef box;
	lmbTissue tissue;
	lmbCharacter character;
	lmbModes *modes;
	lmbSprings springs;
	lmbArena arena;
} Scene;

static void MakeScene( Scene *scene )
{
	memset( scene, 0, sizeof( *scene ) );
	scene->box = Shake_Box();
	scene->box.boneCount = 3;
	Box_MakeTissue( &scene->box, &scene->tissue );
	Box_MakeCharacter( &scene->tissue, &scene->box, &scene->character );
	lmbError error = { 0 };
	CHECK_INT( lmbModes_Compute( &scene->tissue, 12, NULL, &scene->modes, &error ), lmb_statusOk );
	scene->springs.modeCount = scene->modes->count;
	scene->springs.boneCount = scene->tissue.boneCount;
	CHECK_INT( lmbForcing_Reduce( &scene->tissue, scene->modes, NULL, &scene->springs, &error ),
	           lmb_statusOk );
}

static void FreeScene( Scene *scene )
{
	lmbModes_Free( scene->modes );
	lmbArena_Free( &scene->springs.arena );
	lmbArena_Free( &scene->arena );
	Box_Free( &scene->tissue, &scene->character );
}

/* The artist's skinning as the still shape, at a distance from the origin. */
static void SkinnedSequence( Scene *scene, const ShakeDef *def, const double *place, lmbSequence *sequence )
{
	size_t nodes = 3 * (size_t)scene->tissue.nodeCount, bones = 12 * (size_t)scene->tissue.boneCount;
	int frames = (int)( def->seconds * def->rate ) + 1;
	*sequence = ( lmbSequence ){ .name = "skinned",
	                             .frameCount = frames,
	                             .boneCount = scene->tissue.boneCount,
	                             .nodeCount = scene->tissue.nodeCount,
	                             .rate = def->rate };
	sequence->bones = LMB_NEW( &scene->arena, double, bones *(size_t)frames );
	sequence->still = LMB_NEW( &scene->arena, float, nodes *(size_t)frames );
	double *skinned = LMB_NEW( &scene->arena, double, nodes );
	lmbWeights weights = { scene->tissue.nodeCount, scene->tissue.influenceCount, scene->tissue.nodeBones,
	                       scene->tissue.nodeWeights };
	for ( int n = 0; n < frames; ++n )
	{
		double *pose = sequence->bones + bones * (size_t)n;
		Shake_Pose( &scene->box, def, n / def->rate, pose );
		for ( int j = 0; j < scene->tissue.boneCount; ++j )
			for ( int axis = 0; axis < 3; ++axis )
				pose[12 * j + 4 * axis + 3] += place[axis];
		lmbSkin_Points( &weights, pose, scene->tissue.nodes, skinned );
		Shake_Store( skinned, nodes, sequence->still + nodes * (size_t)n );
	}
}

static void MakeRows( Scene *scene, int frames, lmbModalRows *rows )
{
	size_t count = (size_t)frames * (size_t)scene->modes->count;
	rows->start = LMB_NEW( &scene->arena, double, count );
	rows->end = LMB_NEW( &scene->arena, double, count );
	rows->target = NULL;
}

static double Rms( const double *a, const double *b, size_t count )
{
	double sum = 0.0;
	for ( size_t i = 0; i < count; ++i )
		sum += ( a[i] - ( b == NULL ? 0.0 : b[i] ) ) * ( a[i] - ( b == NULL ? 0.0 : b[i] ) );
	return sqrt( sum / (double)count );
}

/* A body that falls freely and turns at a constant rate: g_m = phi^T M R^T y'' in closed form,
 * R^T y'' = R^T a - |w|^2 (X less its part along the axis). */
static void RigidMotionInClosedForm( void **state )
{
	(void)state;
	Scene scene;
	MakeScene( &scene );
	const double rate = 240.0, spin = 3.0, fall[3] = { 1.0, -9.81, 0.5 };
	enum
	{
		frames = 40
	};
	size_t nodes = 3 * (size_t)scene.tissue.nodeCount;
	lmbSequence sequence = {
	    .frameCount = frames, .boneCount = 3, .nodeCount = scene.tissue.nodeCount, .rate = rate };
	sequence.bones = LMB_NEW( &scene.arena, double, 36 * frames );
	sequence.still = LMB_NEW( &scene.arena, float, nodes *frames );
	for ( int n = 0; n < frames; ++n )
	{
		double t = n / rate, c = cos( spin * t ), s = sin( spin * t );
		const double pose[12] = { c, -s, 0, 0.5 * fall[0] * t * t, s, c, 0, 0.5 * fall[1] * t * t,
		                          0, 0,  1, 0.5 * fall[2] * t * t };
		for ( int j = 0; j < 3; ++j )
			memcpy( sequence.bones + 36 * n + 12 * j, pose, sizeof( pose ) );
		for ( size_t i = 0; i < nodes / 3; ++i )
		{
			double place[3];
			lmbMat34_Point( place, pose, scene.tissue.nodes + 3 * i );
			Shake_Store( place, 3, sequence.still + nodes * (size_t)n + 3 * i );
		}
	}
	lmbFrames view;
	lmbError error = { 0 };
	lmbModalRows full, reduced;
	MakeRows( &scene, frames, &full );
	MakeRows( &scene, frames, &reduced );
	CHECK_INT( lmbFrames_Make( &sequence, frames, &scene.arena, &view, &error ), lmb_statusOk );
	CHECK_INT( lmbForcing_Modal( &scene.tissue, scene.modes, lmb_targetCubic, &view, NULL, &full, &error ),
	           lmb_statusOk );
	lmbForcing_Reduced( &scene.springs, lmb_targetCubic, &view, NULL, &reduced );
	for ( int n = 5; n < frames; ++n )
		for ( int m = 0; m < scene.modes->count; ++m )
		{
			double expected = 0.0, scale = 0.0;
			for ( int side = 0; side < 2; ++side )
				for ( size_t i = 0; i < nodes / 3; ++i )
				{
					double t = ( n - 1 + side ) / rate, c = cos( spin * t ), s = sin( spin * t );
					const double *X = scene.tissue.nodes + 3 * i;
					const double *phi = scene.modes->shapes + nodes * (size_t)m + 3 * i;
					double a[3] = { c * fall[0] + s * fall[1] - spin * spin * X[0],
					                -s * fall[0] + c * fall[1] - spin * spin * X[1], fall[2] };
					expected += 0.5 * scene.tissue.mass[i] * lmbDot( phi, a );
					scale += 0.5 * scene.tissue.mass[i] * lmbLength( phi ) * lmbLength( a );
				}
			/* The mean over the step: at its ends the cubic's acceleration is off by 2 dt times the third
			 * derivative, one way and the other. Places in floats: 3e-8 m times 6 x 240^2 is 0.01 of
			 * 10 m/s^2, averaged over 150 nodes. */
			size_t at = (size_t)scene.modes->count * (size_t)n + (size_t)m;
			CHECK_NEAR( 0.5 * ( full.start[at] + full.end[at] ), expected, 1e-3 * scale );
			CHECK_NEAR( 0.5 * ( reduced.start[at] + reduced.end[at] ), expected, 1e-3 * scale );
		}
	FreeScene( &scene );
}

/* Moving the scene by kilometres changes nothing but what the floats of a dataset cannot hold. */
static void FarFromTheOrigin( void **state )
{
	(void)state;
	Scene scene;
	MakeScene( &scene );
	const ShakeDef def = { 4, 0.05, 0.2, 0.2, 1.0, 60.0, 1 };
	const double here[3] = { 0.0, 0.0, 0.0 }, there[3] = { 1024.0, -512.0, 256.0 };
	lmbSequence near, far;
	SkinnedSequence( &scene, &def, here, &near );
	SkinnedSequence( &scene, &def, there, &far );
	lmbModalRows a, b;
	MakeRows( &scene, near.frameCount, &a );
	MakeRows( &scene, near.frameCount, &b );
	lmbFrames nearView, farView;
	lmbError error = { 0 };
	CHECK_INT( lmbFrames_Make( &near, near.frameCount, &scene.arena, &nearView, &error ), lmb_statusOk );
	CHECK_INT( lmbFrames_Make( &far, near.frameCount, &scene.arena, &farView, &error ), lmb_statusOk );
	lmbForcing_Reduced( &scene.springs, lmb_targetCubic, &nearView, NULL, &a );
	lmbForcing_Reduced( &scene.springs, lmb_targetCubic, &farView, NULL, &b );
	size_t count = (size_t)near.frameCount * (size_t)scene.modes->count;
	/* Doubles at 1 km: 1e-13 m times 6 x 60^2. */
	CHECK_NEAR( Rms( a.start, b.start, count ) / Rms( a.start, NULL, count ), 0.0, 1e-8 );
	FreeScene( &scene );
}

/* On skinning alone the reduced form differs only by blending matrices' transposes instead of
 * quaternions: under a percent here where bones turn against one another, nothing where they do not. */
static void ReducedAgainstFull( void **state )
{
	(void)state;
	Scene scene;
	MakeScene( &scene );
	const double here[3] = { 0.0, 0.0, 0.0 };
	const double bends[3] = { 0.0, 0.1, 0.3 };
	const double limits[3] = { 1e-4, 0.003, 0.02 };
	for ( int i = 0; i < 3; ++i )
		for ( int kind = 0; kind < 2; ++kind )
		{
			const ShakeDef def = { 4, 0.05, bends[i], 0.3, 2.0, 60.0, 1 };
			lmbSequence sequence;
			SkinnedSequence( &scene, &def, here, &sequence );
			lmbModalRows full, reduced;
			MakeRows( &scene, sequence.frameCount, &full );
			MakeRows( &scene, sequence.frameCount, &reduced );
			lmbFrames view;
			lmbError error = { 0 };
			CHECK_INT( lmbFrames_Make( &sequence, sequence.frameCount, &scene.arena, &view, &error ),
			           lmb_statusOk );
			CHECK_INT( lmbForcing_Modal( &scene.tissue, scene.modes, (lmbTargetInterpolation)kind, &view,
			                             NULL, &full, &error ),
			           lmb_statusOk );
			lmbForcing_Reduced( &scene.springs, (lmbTargetInterpolation)kind, &view, NULL, &reduced );
			size_t count = (size_t)sequence.frameCount * (size_t)scene.modes->count;
			double off = Rms( full.start, reduced.start, count ) / Rms( full.start, NULL, count );
			printf( "bend %.1f, %s: reduced forcing off by %.2f %%\n", bends[i],
			        kind == 0 ? "cubic" : "linear", 100.0 * off );
			CHECK( off < limits[i] );
			if ( kind == 1 )
				CHECK( Rms( full.end, NULL, count ) == 0.0 );
		}
	FreeScene( &scene );
}

/* A network's part: a displacement R L z with one coefficient, one bone turn for all. */
static void CoefficientsAddTheirPart( void **state )
{
	(void)state;
	Scene scene;
	MakeScene( &scene );
	enum
	{
		frames = 61,
		coefficients = 2
	};
	size_t nodes = 3 * (size_t)scene.tissue.nodeCount;
	lmbRandom random = lmbRandom_Seed( 9, 0 );
	float *lattice = LMB_NEW( &scene.arena, float, coefficients *nodes );
	for ( size_t i = 0; i < coefficients * nodes; ++i )
		lattice[i] = (float)( 0.01 * lmbRandom_Normal( &random ) );
	lmbNetwork network = {
	    .coefficientCount = coefficients, .lattice = lattice, .nodeCount = scene.tissue.nodeCount };
	lmbError error = { 0 };
	lmbArena_Free( &scene.springs.arena );
	CHECK_INT( lmbForcing_Reduce( &scene.tissue, scene.modes, &network, &scene.springs, &error ),
	           lmb_statusOk );
	CHECK_INT( scene.springs.coefficientCount, coefficients );
	const ShakeDef def = { 5, 0.02, 0.0, 0.0, ( frames - 1 ) / 60.0, 60.0, 1 };
	const double here[3] = { 0.0, 0.0, 0.0 };
	lmbSequence sequence;
	SkinnedSequence( &scene, &def, here, &sequence );
	double z[frames * coefficients];
	for ( int n = 0; n < frames; ++n )
	{
		double t = n / 60.0;
		z[coefficients * n] = 1.0 - cos( 9.0 * t );
		z[coefficients * n + 1] = t * t * sin( 14.0 * t );
		for ( size_t i = 0; i < nodes; ++i )
			sequence.still[nodes * (size_t)n + i] +=
			    (float)( z[coefficients * n] * (double)lattice[i] +
			             z[coefficients * n + 1] * (double)lattice[nodes + i] );
	}
	lmbModalRows full, reduced;
	MakeRows( &scene, frames, &full );
	MakeRows( &scene, frames, &reduced );
	lmbFrames view;
	CHECK_INT( lmbFrames_Make( &sequence, frames, &scene.arena, &view, &error ), lmb_statusOk );
	CHECK_INT( lmbForcing_Modal( &scene.tissue, scene.modes, lmb_targetCubic, &view, NULL, &full, &error ),
	           lmb_statusOk );
	lmbForcing_Reduced( &scene.springs, lmb_targetCubic, &view, z, &reduced );
	size_t count = (size_t)frames * (size_t)scene.modes->count;
	CHECK_NEAR( Rms( full.end, reduced.end, count ) / Rms( full.end, NULL, count ), 0.0, 1e-4 );
	lmbForcing_Reduced( &scene.springs, lmb_targetCubic, &view, NULL, &reduced );
	CHECK( Rms( full.end, reduced.end, count ) / Rms( full.end, NULL, count ) > 0.01 );
	FreeScene( &scene );
}

/* Rows of the skin: an affine motion of the box is known at every vertex; modes carried to the skin and
 * taken away again leave nothing. */
static void SkinRows( void **state )
{
	(void)state;
	Scene scene;
	MakeScene( &scene );
	const ShakeDef def = { 6, 0.05, 0.0, 0.3, 1.0, 60.0, 1 };
	const double here[3] = { 0.0, 0.0, 0.0 };
	lmbSequence sequence;
	SkinnedSequence( &scene, &def, here, &sequence );
	lmbFrames view;
	lmbError error = { 0 };
	CHECK_INT( lmbFrames_Make( &sequence, sequence.frameCount, &scene.arena, &view, &error ), lmb_statusOk );
	int count = scene.tissue.vertexCount, frames = view.frameCount, modes = scene.modes->count;
	size_t values = 3 * (size_t)count * (size_t)frames;
	lmbSkinRows rows = { .count = count, .frameStride = (size_t)frames };
	rows.start = LMB_NEW( &scene.arena, double, values );
	rows.end = LMB_NEW( &scene.arena, double, values );
	rows.rotations = LMB_NEW( &scene.arena, double, 3 * values );
	lmbForcing_Skin( &scene.character, &scene.tissue, lmb_targetCubic, &view,
	                 LMB_NEW( &scene.arena, double, lmbForcing_SkinScratch( &view, count ) ), &rows );
	/* Every bone moves alike, so the vertex moves with bone 0: the same operator on its matrix. */
	double steps[3] = { 1 / 60.0, 1 / 60.0, 1 / 60.0 }, worst = 0.0, size = 0.0;
	for ( int n = 4; n < frames; ++n )
		for ( int v = 0; v < count; ++v )
			for ( int axis = 0; axis < 3; ++axis )
			{
				lmbTargetWeights weights;
				lmbTarget_Weights( lmb_targetCubic, steps, n + 1, &weights );
				double expected = 0.0;
				for ( int i = 0; i < 4; ++i )
				{
					double place[3];
					lmbMat34_Point( place, sequence.bones + 36 * ( n - i ), scene.character.bind + 3 * v );
					expected += weights.end[i] * place[axis];
				}
				worst = fmax( worst, fabs( rows.end[3 * ( frames * v + n ) + axis] - expected ) );
				size = fmax( size, fabs( expected ) );
			}
	CHECK_NEAR( worst / size, 0.0, 0.02 ); /* floats: 3e-8 m times 6 x 60^2 m/s^2 */
	double *shapes = LMB_NEW( &scene.arena, double, 3 * (size_t)count * (size_t)modes );
	double *q = LMB_NEW( &scene.arena, double, (size_t)frames *(size_t)modes );
	lmbRandom random = lmbRandom_Seed( 2, 0 );
	for ( size_t i = 0; i < 3 * (size_t)count * (size_t)modes; ++i )
		shapes[i] = lmbRandom_Normal( &random );
	for ( size_t i = 0; i < (size_t)frames * (size_t)modes; ++i )
		q[i] = lmbRandom_Normal( &random );
	double *out = LMB_NEW( &scene.arena, double, values );
	double *scratch = LMB_NEW( &scene.arena, double, lmbForcing_CarryScratch( &view, count, modes ) );
	lmbForcing_Carry( shapes, modes, count, q, 1, -2.0, &view, &rows, scratch, out );
	for ( int n = 0; n < frames; n += 7 )
		for ( int v = 0; v < count; v += 5 )
		{
			double local[3] = { 0.0 }, turned[3] = { 0.0 };
			for ( int m = 0; m < modes && n > 0; ++m )
				lmbAddScaled( local, local, -2.0 * q[modes * n + m],
				              shapes + 3 * ( (size_t)count * (size_t)m + (size_t)v ) );
			if ( n > 0 )
				lmbMat33_Apply(
				    turned, rows.rotations + 9 * ( (size_t)count * (size_t)( n - 1 ) + (size_t)v ), local );
			for ( int axis = 0; axis < 3; ++axis )
				CHECK_NEAR( out[3 * ( frames * v + n ) + axis], turned[axis], 1e-12 );
		}
	FreeScene( &scene );
}

/* The same on a real body and a real motion: jumping jacks, arms from the hips to over the head. */
static void ReducedOnTheHuman( void **state )
{
	(void)state;
	const char *path = LMB_TEST_SHARED "/assets/human.glb";
	CHECK_SHARED( path );
	Scene scene = { 0 };
	lmbError error = { 0 };
	lmbImportDef import = { 0 };
	lmbTissueDef tissueDef = lmbDefaultTissueDef();
	lmbMotionDef motionDef = lmbDefaultMotionDef();
	lmbCharacter *character = NULL;
	lmbTissue *tissue = NULL;
	lmbTissueReport report;
	lmbMotion *motion = NULL;
	tissueDef.nodeTarget = 1000;
	CHECK_OR_STOP( lmbCharacter_Load( path, &import, &character, &error ) == lmb_statusOk );
	CHECK_OR_STOP( lmbTissue_Make( character, &tissueDef, NULL, &tissue, &report, &error ) == lmb_statusOk );
	CHECK_OR_STOP( lmbModes_Compute( tissue, 32, NULL, &scene.modes, &error ) == lmb_statusOk );
	CHECK_OR_STOP( lmbMotion_Make( character, lmbCharacter_FindClip( character, "cmu_jumping_jacks" ),
	                               &motionDef, &motion, &error ) == lmb_statusOk );
	scene.springs.modeCount = scene.modes->count;
	scene.springs.boneCount = tissue->boneCount;
	CHECK_OR_STOP( lmbForcing_Reduce( tissue, scene.modes, NULL, &scene.springs, &error ) == lmb_statusOk );
	int frames = (int)( 60.0 * motion->duration );
	size_t nodes = 3 * (size_t)tissue->nodeCount, bones = 12 * (size_t)tissue->boneCount;
	lmbSequence sequence = {
	    .frameCount = frames, .boneCount = tissue->boneCount, .nodeCount = tissue->nodeCount, .rate = 60.0 };
	sequence.bones = LMB_NEW( &scene.arena, double, bones *(size_t)frames );
	sequence.still = LMB_NEW( &scene.arena, float, nodes *(size_t)frames );
	double *skinned = LMB_NEW( &scene.arena, double, nodes );
	lmbWeights weights = { tissue->nodeCount, tissue->influenceCount, tissue->nodeBones,
	                       tissue->nodeWeights };
	for ( int n = 0; n < frames; ++n )
	{
		lmbMotion_Pose( motion, n / 60.0, sequence.bones + bones * (size_t)n );
		lmbSkin_Points( &weights, sequence.bones + bones * (size_t)n, tissue->nodes, skinned );
		Shake_Store( skinned, nodes, sequence.still + nodes * (size_t)n );
	}
	lmbModalRows full, reduced;
	MakeRows( &scene, frames, &full );
	MakeRows( &scene, frames, &reduced );
	lmbFrames view;
	CHECK_INT( lmbFrames_Make( &sequence, frames, &scene.arena, &view, &error ), lmb_statusOk );
	CHECK_INT( lmbForcing_Modal( tissue, scene.modes, lmb_targetCubic, &view, NULL, &full, &error ),
	           lmb_statusOk );
	lmbForcing_Reduced( &scene.springs, lmb_targetCubic, &view, NULL, &reduced );
	size_t count = (size_t)frames * (size_t)scene.modes->count;
	double off = Rms( full.start, reduced.start, count ) / Rms( full.start, NULL, count );
	printf( "human, jumping jacks, %d bone pairs: reduced forcing off by %.2f %%\n", scene.springs.pairCount,
	        100.0 * off );
	CHECK( off < 0.05 );
	lmbMotion_Free( motion );
	lmbModes_Free( scene.modes );
	lmbTissue_Free( tissue );
	lmbCharacter_Free( character );
	lmbArena_Free( &scene.springs.arena );
	lmbArena_Free( &scene.arena );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( RigidMotionInClosedForm ),
	    CHECK_TEST( FarFromTheOrigin ),
	    CHECK_TEST( ReducedAgainstFull ),
	    CHECK_TEST( CoefficientsAddTheirPart ),
	    CHECK_TEST( SkinRows ),
	    CHECK_TEST( ReducedOnTheHuman ),
	};
	return CHECK_RUN( tests );
}
