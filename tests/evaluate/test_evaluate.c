/* The stage `evaluate` on a beam whose truth is made by hand: the model is skinning alone, the simulation is
 * skinning and known offsets, so every number of the report is known. */
#include "check.h"

#include "../flesh/box_tissue.h"
#include "flesh/skinning.h"
#include "evaluate/report.h"
#include "flesh/model.h"

#include <stdlib.h>
#include <unistd.h>

enum
{
	frameCount = 5
};

typedef struct Scene
{
	BoxDef def;
	lmbTissue tissue;
	lmbCharacter character;
	lmbSequence sequence;
	lmbDataset dataset;
	char model[64];
} Scene;

/* The beam bends a little more each frame; the still shape is off skinning by 3 mm along z, the moving one by
 * another 4 mm along y. Frame 2 did not converge and is far off. */
static void Scene_Make( Scene *scene )
{
	*scene = ( Scene ){ .def = Box_DefaultDef(), .model = "/tmp/limber-evaluate-XXXXXX" };
	close( mkstemp( scene->model ) );
	Box_MakeTissue( &scene->def, &scene->tissue );
	Box_MakeCharacter( &scene->tissue, &scene->def, &scene->character );
	size_t nodes = (size_t)scene->tissue.nodeCount, bones = (size_t)scene->tissue.boneCount;
	scene->sequence = ( lmbSequence ){ .name = "bend",
	                                   .frameCount = frameCount,
	                                   .boneCount = (int)bones,
	                                   .nodeCount = (int)nodes,
	                                   .rate = 60.0,
	                                   .bones = calloc( frameCount * bones * 12, sizeof( double ) ),
	                                   .still = calloc( frameCount * nodes * 3, sizeof( float ) ),
	                                   .moving = calloc( frameCount * nodes * 3, sizeof( float ) ),
	                                   .converged = calloc( frameCount, 1 ) };
	lmbWeights weights = { (int)nodes, scene->tissue.influenceCount, scene->tissue.nodeBones,
	                       scene->tissue.nodeWeights };
	double *shape = calloc( nodes * 3, sizeof( double ) );
	for ( int f = 0; f < frameCount; ++f )
	{
		double *pose = scene->sequence.bones + (size_t)f * bones * 12;
		Box_BendPose( &scene->def, 0.1 * f, pose );
		lmbSkin_Points( &weights, pose, scene->tissue.nodes, shape );
		scene->sequence.converged[f] = f != 2;
		for ( size_t i = 0; i < nodes * 3; ++i )
		{
			double z = i % 3 == 2 ? 0.003 : 0.0, y = i % 3 == 1 ? 0.004 : 0.0;
			scene->sequence.still[(size_t)f * nodes * 3 + i] = (float)( shape[i] + z );
			scene->sequence.moving[(size_t)f * nodes * 3 + i] =
			    (float)( shape[i] + z + y + ( f == 2 ? 5.0 : 0.0 ) );
		}
	}
	free( shape );
	scene->dataset = ( lmbDataset ){ .sequenceCount = 1, .sequences = &scene->sequence };
}

static void Scene_Free( Scene *scene )
{
	unlink( scene->model );
	free( scene->sequence.bones );
	free( scene->sequence.still );
	free( scene->sequence.moving );
	free( scene->sequence.converged );
	Box_Free( &scene->tissue, &scene->character );
}

static lmbEvaluateInput Input( const Scene *scene )
{
	return ( lmbEvaluateInput ){ .character = &scene->character,
	                             .tissue = &scene->tissue,
	                             .dataset = &scene->dataset,
	                             .model = scene->model,
	                             .softSkin = 0.5 };
}

/* Positions are floats of a body 0.4 m long: half a unit in the last place is 1.5e-8 m; the runtime's own
 * single-precision blend loses a few more. */
static const double tolerance = 2e-7;

static void SkinningAgainstKnownOffsets( void **state )
{
	(void)state;
	Scene scene;
	lmbError error = { 0 };
	Scene_Make( &scene );
	CHECK_OR_STOP( lmbModel_Write( &scene.character, &scene.tissue, NULL, NULL, scene.model, &error ) ==
	               lmb_statusOk );
	lmbEvaluateInput input = Input( &scene );
	lmbEvaluation *evaluation;
	CHECK_INT( lmbEvaluate( &input, NULL, &evaluation, &error ), lmb_statusOk );
	CHECK_OR_STOP( evaluation != NULL );
	const lmbSequenceScore *score = &evaluation->sequences[0];
	CHECK_INT( evaluation->judgedCount, scene.tissue.vertexCount );
	CHECK_INT( score->frameCount, frameCount - 1 );
	CHECK_INT( score->skippedCount, 1 );
	CHECK( !score->trained );
	CHECK_NEAR( score->score.rms[lmb_columnSkinning], 0.005, tolerance ); /* 3, 4, 5 */
	CHECK_NEAR( score->score.stillRms[lmb_columnSkinning], 0.003, tolerance );
	CHECK_NEAR( score->score.dynamicsRms, 0.004, tolerance );
	CHECK( isnan( score->score.rms[lmb_columnNetwork] ) && isnan( score->score.rms[lmb_columnInstant] ) );
	json_t *report = lmbReport_Json( evaluation );
	json_t *motion = json_object_get( json_object_get( report, "motions" ), "bend" );
	json_t *cells = json_object_get( motion, "rms_mm" );
	CHECK_INT( json_object_size( cells ), 1 );
	CHECK_NEAR( json_number_value( json_object_get( cells, "skinning" ) ), 5.0, 1e3 * tolerance );
	CHECK( json_object_get( motion, "captured_cap" ) == NULL );
	char text[4096] = "";
	FILE *stream = fmemopen( text, sizeof( text ), "w" );
	lmbReport_Print( report, stream );
	fclose( stream );
	CHECK_CONTAINS( text, "bend (held out), 4 frames, 1 not converged and left out, dynamics 4.00 mm" );
	json_decref( report );
	lmbEvaluation_Free( evaluation );
	Scene_Free( &scene );
}

static void DetailsAgainstKnownOffsets( void **state )
{
	(void)state;
	Scene scene;
	lmbError error = { 0 };
	Scene_Make( &scene );
	lmbEvaluateInput input = Input( &scene );
	CHECK_OR_STOP( lmbModel_Write( &scene.character, &scene.tissue, NULL, NULL, scene.model, &error ) ==
	               lmb_statusOk );
	lmbEvaluation *evaluation;
	CHECK_OR_STOP( lmbEvaluate( &input, NULL, &evaluation, &error ) == lmb_statusOk );
	const lmbMotionDetails *details = &evaluation->sequences[0].details;
	CHECK_INT( details->frameCount, frameCount );
	for ( int f = 0; f < frameCount; ++f )
	{
		CHECK_INT( details->judged[f], f != 2 );
		if ( f == 2 )
		{
			CHECK( isnan( details->dynamics[f] ) && isnan( details->rms[lmb_columnSkinning][f] ) );
			continue;
		}
		CHECK_NEAR( details->dynamics[f], 0.004, tolerance );
		CHECK_NEAR( details->rms[lmb_columnSkinning][f], 0.005, tolerance );
	}
	CHECK( details->rms[lmb_columnNetwork] == NULL && details->vertexRms[lmb_columnNetwork] == NULL );
	for ( int v = 0; v < evaluation->vertexCount; ++v )
	{
		CHECK_NEAR( details->vertexDynamics[v], 0.004, tolerance );
		CHECK_NEAR( details->vertexRms[lmb_columnSkinning][v], 0.005, tolerance );
	}
	/* All vertices move alike along y, so any may be chosen, but not two that are near to each other. */
	CHECK_INT( details->trackCount, lmbTrackMax );
	for ( int t = 0; t < details->trackCount; ++t )
	{
		const lmbTrack *track = &details->tracks[t];
		CHECK_NEAR( track->direction[1], 1.0, 1e-6 );
		CHECK_NEAR( track->moving[4], 0.004, tolerance );
		CHECK_NEAR( track->still[4], 0.0, tolerance );
		CHECK_NEAR( track->columns[lmb_columnSkinning][4], 0.0, 0.0 );
		for ( int other = 0; other < t; ++other )
		{
			double squared = 0.0;
			for ( int i = 0; i < 3; ++i )
			{
				double d = scene.character.bind[3 * track->vertex + i] -
				           scene.character.bind[3 * details->tracks[other].vertex + i];
				squared += d * d;
			}
			CHECK( squared > 0.04 * 0.04 - 1e-12 ); /* the beam is 0.4 m long */
		}
	}
	json_t *document = lmbReport_Details( "beam", evaluation, &scene.character, NULL );
	json_t *motion = json_object_get( json_object_get( document, "motions" ), "bend" );
	json_t *frames = json_object_get( json_object_get( motion, "rms_mm" ), "skinning" );
	CHECK_INT( json_array_size( frames ), frameCount );
	CHECK( json_is_null( json_array_get( frames, 2 ) ) );
	CHECK_NEAR( json_number_value( json_array_get( frames, 3 ) ), 5.0, 1e3 * tolerance );
	json_decref( document );
	lmbEvaluation_Free( evaluation );
	Scene_Free( &scene );
}

/* The direction of a swing is the one that was put in, also where another is nearly as strong. */
static void MainDirectionOfAPath( void **state )
{
	(void)state;
	enum
	{
		count = 64
	};
	const double main[3] = { 0.6, 0.0, -0.8 }, other[3] = { 0.8, 0.0, 0.6 };
	const double bind[3] = { 0 };
	const uint8_t judged = 1;
	bool present[lmb_columnCount] = { [lmb_columnSkinning] = true };
	lmbMotionDetails details;
	lmbError error = { 0 };
	CHECK_OR_STOP( lmbMotionDetails_Begin( &details, count, 1, present, &error ) == lmb_statusOk );
	for ( int f = 0; f < count; ++f )
	{
		/* Three whole turns, so that the two do not mix. */
		double angle = 3.0 * 2.0 * 3.14159265358979323846 * f / count;
		float still[3] = { 0 }, moving[3];
		for ( int i = 0; i < 3; ++i )
			moving[i] = (float)( 0.010 * cos( angle ) * main[i] + 0.009 * sin( angle ) * other[i] );
		lmbScoreFrame frame = { .vertexCount = 1, .judged = &judged, .still = still, .moving = moving };
		lmbMotionDetails_Look( &details, &frame );
	}
	CHECK_OR_STOP( lmbMotionDetails_Choose( &details, &judged, bind, &error ) == lmb_statusOk );
	CHECK_OR_STOP( details.trackCount == 1 );
	/* Floats of 1e-2 m are off by 5e-10 m; the eigenvalues differ by a fifth. Its largest part, z, is
	 * positive. */
	for ( int i = 0; i < 3; ++i )
		CHECK_NEAR( details.tracks[0].direction[i], -main[i], 1e-6 );
	lmbMotionDetails_Free( &details );
}

static void OnlySoftSkinCounts( void **state )
{
	(void)state;
	Scene scene;
	lmbError error = { 0 };
	Scene_Make( &scene );
	/* Half of the skin is rigid: there the simulation's skin is skinning itself, which must not count. */
	int soft = 0;
	for ( int v = 0; v < scene.tissue.vertexCount; ++v )
	{
		scene.tissue.softness[v] = v % 2 == 0 ? 1.0 : 0.0;
		soft += v % 2 == 0;
	}
	CHECK_OR_STOP( lmbModel_Write( &scene.character, &scene.tissue, NULL, NULL, scene.model, &error ) ==
	               lmb_statusOk );
	lmbEvaluateInput input = Input( &scene );
	lmbEvaluation *evaluation;
	CHECK_OR_STOP( lmbEvaluate( &input, NULL, &evaluation, &error ) == lmb_statusOk );
	CHECK_INT( evaluation->judgedCount, soft );
	CHECK_NEAR( evaluation->sequences[0].score.rms[lmb_columnSkinning], 0.005, tolerance );
	lmbEvaluation_Free( evaluation );
	/* With all of it counted, half of the squares are zero. */
	input.softSkin = 0.0;
	CHECK_OR_STOP( lmbEvaluate( &input, NULL, &evaluation, &error ) == lmb_statusOk );
	double share = (double)soft / scene.tissue.vertexCount;
	CHECK_NEAR( evaluation->sequences[0].score.rms[lmb_columnSkinning], 0.005 * sqrt( share ), tolerance );
	lmbEvaluation_Free( evaluation );
	Scene_Free( &scene );
}

static void ThreadsDoNotMatter( void **state )
{
	(void)state;
	Scene scene;
	lmbError error = { 0 };
	Scene_Make( &scene );
	CHECK_OR_STOP( lmbModel_Write( &scene.character, &scene.tissue, NULL, NULL, scene.model, &error ) ==
	               lmb_statusOk );
	lmbSequence twice[2] = { scene.sequence, scene.sequence };
	twice[1].name = "again";
	scene.dataset = ( lmbDataset ){ .sequenceCount = 2, .sequences = twice };
	lmbEvaluateInput input = Input( &scene );
	lmbEvaluation *one, *two;
	lmbJob job = { .threads = 2 };
	CHECK_OR_STOP( lmbEvaluate( &input, NULL, &one, &error ) == lmb_statusOk );
	CHECK_OR_STOP( lmbEvaluate( &input, &job, &two, &error ) == lmb_statusOk );
	for ( int i = 0; i < 2; ++i )
		CHECK( memcmp( &one->sequences[i].score, &two->sequences[i].score, sizeof( lmbScore ) ) == 0 );
	lmbEvaluation_Free( one );
	lmbEvaluation_Free( two );
	Scene_Free( &scene );
}

static void WrongPartsAreNamed( void **state )
{
	(void)state;
	Scene scene;
	lmbError error = { 0 };
	Scene_Make( &scene );
	lmbEvaluateInput input = Input( &scene );
	lmbEvaluation *evaluation;
	CHECK( lmbEvaluate( &input, NULL, &evaluation, &error ) != lmb_statusOk ); /* an empty file */
	CHECK( evaluation == NULL );
	CHECK_CONTAINS( error.message, scene.model );
	CHECK_OR_STOP( lmbModel_Write( &scene.character, &scene.tissue, NULL, NULL, scene.model, &error ) ==
	               lmb_statusOk );
	scene.sequence.nodeCount -= 1;
	CHECK_INT( lmbEvaluate( &input, NULL, &evaluation, &error ), lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "motion \"bend\" was simulated with another tissue" );
	scene.sequence.nodeCount += 1;
	atomic_bool cancelled = true;
	lmbJob job = { .cancelled = &cancelled };
	CHECK_INT( lmbEvaluate( &input, &job, &evaluation, &error ), lmb_statusCancelled );
	Scene_Free( &scene );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( SkinningAgainstKnownOffsets ), CHECK_TEST( DetailsAgainstKnownOffsets ),
	    CHECK_TEST( MainDirectionOfAPath ),        CHECK_TEST( OnlySoftSkinCounts ),
	    CHECK_TEST( ThreadsDoNotMatter ),          CHECK_TEST( WrongPartsAreNamed ),
	};
	return CHECK_RUN( tests );
}
