#include "flesh/fit.h"

#include "check.h"
#include "flesh/shaken_box.h"

#include <unistd.h>

/* One simulated scene for all tests: a box, its modes, two motions to train on and one to judge by. */
typedef struct Scene
{
	lmbTissue tissue;
	lmbCharacter character;
	lmbModes *modes;
	lmbDataset dataset;
	lmbSequence sequences[3];
	bool made;
} Scene;

static Scene *TheScene( void )
{
	static Scene scene;
	if ( scene.made )
		return &scene;
	BoxDef box = Shake_Box();
	Box_MakeTissue( &box, &scene.tissue );
	Box_MakeCharacter( &scene.tissue, &box, &scene.character );
	lmbError error = { 0 };
	CHECK_INT( lmbModes_Compute( &scene.tissue, 24, NULL, &scene.modes, &error ), lmb_statusOk );
	/* Small: a few millimetres of jiggle on 20 cm; the last two bend far enough to turn the modes along. */
	const ShakeDef defs[3] = { { 1, 0.004, 0.02, 0.02, 2.0, 60.0, 6 },
	                           { 2, 0.01, 0.25, 0.2, 2.0, 60.0, 4 },
	                           { 3, 0.01, 0.25, 0.2, 2.0, 60.0, 4 } };
	const char *names[3] = { "small", "large", "unseen" };
	for ( int i = 0; i < 3; ++i )
		Shake_Simulate( &scene.tissue, &box, &defs[i], &scene.dataset.arena, names[i], i < 2,
		                &scene.sequences[i] );
	scene.dataset.sequenceCount = 3;
	scene.dataset.sequences = scene.sequences;
	scene.made = true;
	return &scene;
}

static double Captured( const Scene *scene, const lmbSprings *springs, lmbSpringLayer layer,
                        lmbTargetInterpolation interpolation, const lmbSequence *sequence )
{
	size_t vertices = (size_t)scene->tissue.vertexCount, frames = (size_t)sequence->frameCount;
	float *out = malloc( 3 * vertices * frames * sizeof( float ) );
	lmbError error = { 0 };
	CHECK_INT( lmbSprings_Replay( &scene->character, &scene->tissue, scene->modes, springs, layer,
	                              interpolation, sequence, out, &error ),
	           lmb_statusOk );
	double left = 0.0, total = 0.0;
	for ( size_t n = 0; n < frames; ++n )
		for ( size_t v = 0; v < vertices; ++v )
		{
			/* The box's skin vertices are nodes. */
			const lmbTissue *t = &scene->tissue;
			int corner = 0;
			while ( t->skinWeights[4 * v + (size_t)corner] != 1.0 )
				corner += 1;
			size_t node = 3 * ( (size_t)t->nodeCount * n + (size_t)t->tets[4 * t->skinTets[v] + corner] );
			for ( size_t axis = 0; axis < 3; ++axis )
			{
				double u = (double)sequence->moving[node + axis] - (double)sequence->still[node + axis];
				double off = u - (double)out[3 * ( vertices * n + v ) + axis];
				left += off * off;
				total += u * u;
			}
		}
	free( out );
	return 1.0 - left / total;
}

static lmbSprings *FitAll( const Scene *scene, const lmbFitDef *def, int threads )
{
	lmbSprings *springs = NULL;
	lmbError error = { 0 };
	lmbJob job = { .threads = threads };
	CHECK_INT( lmbSprings_Fit( &scene->character, &scene->tissue, scene->modes, NULL, &scene->dataset, def,
	                           &job, &springs, &error ),
	           lmb_statusOk );
	return springs;
}

static const char *const layerNames[] = { "vertex", "modal unfitted", "modal", "hybrid" };

static void SpringsReproduceTheTissue( void **state )
{
	(void)state;
	const Scene *scene = TheScene();
	lmbFitDef def = lmbDefaultFitDef();
	lmbSprings *springs = FitAll( scene, &def, 2 );
	CHECK_OR_STOP( springs != NULL );
	double share[4][3];
	for ( int layer = 0; layer < 4; ++layer )
	{
		printf( "%-16s", layerNames[layer] );
		for ( int s = 0; s < 3; ++s )
		{
			share[layer][s] =
			    Captured( scene, springs, (lmbSpringLayer)layer, lmb_targetCubic, &scene->sequences[s] );
			printf( " %s %.4f", scene->sequences[s].name, share[layer][s] );
		}
		printf( "\n" );
	}
	/* In the linear range the modes are the tissue: what is left are the modes beyond the 24th, the
	 * cubic between frames and the simulation's own steps. Farther out the tissue is not linear, and turning
	 * frames (Coriolis) are not in the model. */
	CHECK( share[lmb_springsModalUnfitted][0] > 0.97 );
	for ( int s = 0; s < 3; ++s )
	{
		CHECK( share[lmb_springsModalUnfitted][s] > 0.85 );
		CHECK( share[lmb_springsHybrid][s] > 0.93 );
		CHECK( share[lmb_springsHybrid][s] > share[lmb_springsVertex][s] );
		CHECK( share[lmb_springsHybrid][s] >= share[lmb_springsModal][s] - 0.005 );
	}
	lmbSprings_Free( springs );
}

static void LinearTargetsWorkToo( void **state )
{
	(void)state;
	const Scene *scene = TheScene();
	lmbFitDef def = lmbDefaultFitDef();
	def.interpolation = lmb_targetLinear;
	lmbSprings *springs = FitAll( scene, &def, 2 );
	CHECK_OR_STOP( springs != NULL );
	double hybrid = Captured( scene, springs, lmb_springsHybrid, lmb_targetLinear, &scene->sequences[2] );
	printf( "hybrid, linear target, unseen: %.4f\n", hybrid );
	CHECK( hybrid > 0.93 );
	lmbSprings_Free( springs );
}

static void AdamFindsTheSame( void **state )
{
	(void)state;
	const Scene *scene = TheScene();
	lmbFitDef def = lmbDefaultFitDef();
	def.optimizer = lmb_optimizerAdam;
	def.useSeconds = 1.0; /* thirty times slower than Levenberg-Marquardt */
	lmbSprings *springs = FitAll( scene, &def, 2 );
	CHECK_OR_STOP( springs != NULL );
	double hybrid = Captured( scene, springs, lmb_springsHybrid, lmb_targetCubic, &scene->sequences[2] );
	printf( "hybrid, Adam, unseen: %.4f\n", hybrid );
	CHECK( hybrid > 0.93 );
	lmbSprings_Free( springs );
}

static void CheckSame( const double *a, const double *b, size_t count )
{
	CHECK( ( a == NULL ) == ( b == NULL ) );
	if ( a != NULL && b != NULL )
		CHECK( memcmp( a, b, count * sizeof( double ) ) == 0 );
}

static void CheckSameSprings( const lmbSprings *a, const lmbSprings *b )
{
	size_t v = (size_t)a->vertexCount, m = (size_t)a->modeCount;
	CHECK_INT( a->vertexCount, b->vertexCount );
	CHECK_INT( a->modeCount, b->modeCount );
	CHECK_INT( a->boneCount, b->boneCount );
	CHECK_INT( a->pairCount, b->pairCount );
	CheckSame( a->vertexStiffness, b->vertexStiffness, v );
	CheckSame( a->vertexDamping, b->vertexDamping, v );
	CheckSame( a->modeStiffness, b->modeStiffness, m );
	CheckSame( a->modeDamping, b->modeDamping, m );
	CheckSame( a->modeStiffnessUnfitted, b->modeStiffnessUnfitted, m );
	CheckSame( a->modeDampingUnfitted, b->modeDampingUnfitted, m );
	CheckSame( a->remainderStiffness, b->remainderStiffness, v );
	CheckSame( a->remainderDamping, b->remainderDamping, v );
	CheckSame( a->skinShapes, b->skinShapes, 3 * v * m );
	CheckSame( a->boneForcing, b->boneForcing, 12 * m * (size_t)a->pairCount );
	CHECK( a->pairs == NULL ||
	       memcmp( a->pairs, b->pairs, 2 * (size_t)a->pairCount * sizeof( int32_t ) ) == 0 );
}

/* The same bits on one thread and on three, and through a file. */
static void ThreadsAndFiles( void **state )
{
	(void)state;
	const Scene *scene = TheScene();
	lmbFitDef def = lmbDefaultFitDef();
	def.useSeconds = 1.0;
	lmbSprings *one = FitAll( scene, &def, 1 ), *three = FitAll( scene, &def, 3 ), *loaded = NULL;
	CHECK_OR_STOP( one != NULL && three != NULL );
	CheckSameSprings( one, three );
	char path[64];
	lmbError error = { 0 };
	snprintf( path, sizeof( path ), "test_replay_%d.safetensors", (int)getpid() );
	CHECK_INT( lmbSprings_Write( one, path, &error ), lmb_statusOk );
	CHECK_OR_STOP( lmbSprings_Load( path, &loaded, &error ) == lmb_statusOk );
	CheckSameSprings( one, loaded );
	lmbSprings_Free( loaded );
	one->remainderDamping[5] = -1.0;
	CHECK_INT( lmbSprings_Write( one, path, &error ), lmb_statusOk );
	CHECK_INT( lmbSprings_Load( path, &loaded, &error ), lmb_statusCorrupt );
	CHECK_CONTAINS( error.message, "remainder_damping[5]" );
	one->remainderDamping[5] = 1.0;
	one->pairs[0] = 77;
	CHECK_INT( lmbSprings_Write( one, path, &error ), lmb_statusOk );
	CHECK_INT( lmbSprings_Load( path, &loaded, &error ), lmb_statusCorrupt );
	CHECK_CONTAINS( error.message, "77 is not a bone" );
	one->pairs[0] = 0;
	one->boneForcing = NULL;
	CHECK_INT( lmbSprings_Write( one, path, &error ), lmb_statusOk );
	CHECK_INT( lmbSprings_Load( path, &loaded, &error ), lmb_statusCorrupt );
	remove( path );
	lmbSprings_Free( one );
	lmbSprings_Free( three );
}

/* Without motions: what the tissue says. Without modes: vertex springs alone. */
static void PartsThatAreThere( void **state )
{
	(void)state;
	const Scene *scene = TheScene();
	lmbFitDef def = lmbDefaultFitDef();
	lmbSprings *springs = NULL;
	lmbError error = { 0 };
	CHECK_OR_STOP( lmbSprings_Fit( &scene->character, &scene->tissue, scene->modes, NULL, NULL, &def, NULL,
	                               &springs, &error ) == lmb_statusOk );
	CHECK( springs->vertexStiffness == NULL && springs->modeStiffness == NULL &&
	       springs->remainderStiffness == NULL );
	CHECK( springs->boneForcing != NULL && springs->skinShapes != NULL && springs->pairCount > 0 );
	for ( int m = 0; m < springs->modeCount; ++m )
	{
		CHECK_NEAR( springs->modeStiffnessUnfitted[m], scene->modes->omegaSquared[m], 0.0 );
		CHECK_NEAR( springs->modeDampingUnfitted[m], 0.004 * scene->modes->omegaSquared[m], 1e-9 );
	}
	CHECK( Captured( scene, springs, lmb_springsModalUnfitted, lmb_targetCubic, &scene->sequences[2] ) >
	       0.85 );
	float *out = malloc( sizeof( float ) );
	CHECK_INT( lmbSprings_Replay( &scene->character, &scene->tissue, scene->modes, springs, lmb_springsModal,
	                              lmb_targetCubic, &scene->sequences[2], out, &error ),
	           lmb_statusNotFound );
	free( out );
	lmbSprings_Free( springs );
	CHECK_OR_STOP( lmbSprings_Fit( &scene->character, &scene->tissue, NULL, NULL, &scene->dataset, &def, NULL,
	                               &springs, &error ) == lmb_statusOk );
	CHECK( springs->vertexStiffness != NULL && springs->modeStiffnessUnfitted == NULL &&
	       springs->modeCount == 0 );
	CHECK( Captured( scene, springs, lmb_springsVertex, lmb_targetCubic, &scene->sequences[0] ) > 0.5 );
	lmbSprings_Free( springs );
}

/* Frames marked as not converged may hold nonsense in the moving shape. */
static void BadFramesAreLeftOut( void **state )
{
	(void)state;
	Scene *scene = TheScene();
	lmbSequence *sequence = &scene->sequences[0];
	size_t nodes = 3 * (size_t)sequence->nodeCount;
	float *kept = malloc( 8 * nodes * sizeof( float ) );
	memcpy( kept, sequence->moving + 60 * nodes, 8 * nodes * sizeof( float ) );
	lmbFitDef def = lmbDefaultFitDef();
	def.dropShare = 0.0;
	lmbSprings *clean = FitAll( scene, &def, 2 );
	for ( size_t i = 0; i < 8 * nodes; ++i )
		sequence->moving[60 * nodes + i] += 1.0f;
	memset( sequence->converged + 60, 0, 8 );
	lmbSprings *marked = FitAll( scene, &def, 2 );
	memcpy( sequence->moving + 60 * nodes, kept, 8 * nodes * sizeof( float ) );
	memset( sequence->converged + 60, 1, 8 );
	double worst = 0.0;
	for ( int m = 0; m < 10; ++m )
		worst = fmax( worst, fabs( log( marked->modeStiffness[m] / clean->modeStiffness[m] ) ) );
	printf( "log k of the first modes without 10 of 302 frames: off by %.2g\n", worst );
	CHECK( worst < 0.02 );
	lmbSprings_Free( clean );
	lmbSprings_Free( marked );
	free( kept );
}

static void RefusesWhatDoesNotFit( void **state )
{
	(void)state;
	Scene *scene = TheScene();
	lmbFitDef def = lmbDefaultFitDef();
	lmbSprings *springs = NULL;
	lmbError error = { 0 };
	def.dropShare = 0.9;
	CHECK_INT( lmbSprings_Fit( &scene->character, &scene->tissue, scene->modes, NULL, NULL, &def, NULL,
	                           &springs, &error ),
	           lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "dropShare" );
	def = lmbDefaultFitDef();
	scene->sequences[1].boneCount += 1;
	CHECK_INT( lmbSprings_Fit( &scene->character, &scene->tissue, scene->modes, NULL, &scene->dataset, &def,
	                           NULL, &springs, &error ),
	           lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "\"large\"" );
	scene->sequences[1].boneCount -= 1;
	atomic_bool cancelled = true;
	lmbJob job = { .cancelled = &cancelled };
	CHECK_INT( lmbSprings_Fit( &scene->character, &scene->tissue, scene->modes, NULL, &scene->dataset, &def,
	                           &job, &springs, &error ),
	           lmb_statusCancelled );
	CHECK( springs == NULL );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( SpringsReproduceTheTissue ), CHECK_TEST( LinearTargetsWorkToo ),
	    CHECK_TEST( AdamFindsTheSame ),          CHECK_TEST( ThreadsAndFiles ),
	    CHECK_TEST( PartsThatAreThere ),         CHECK_TEST( BadFramesAreLeftOut ),
	    CHECK_TEST( RefusesWhatDoesNotFit ),
	};
	int failed = CHECK_RUN( tests );
	Scene *scene = TheScene();
	lmbModes_Free( scene->modes );
	lmbArena_Free( &scene->dataset.arena );
	Box_Free( &scene->tissue, &scene->character );
	return failed;
}
