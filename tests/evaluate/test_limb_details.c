/* What evaluation.json says of limbs, against motions that can be followed by hand. */
#include "check.h"

#include "evaluate/limb_details.h"

static const double degree = 3.14159265358979323846 / 180.0;

enum
{
	count = 5,
	samples = 201
};

/* Five motions of one joint at 0.02 s, all at rest at 0; the last but one ends after 2 s. */
typedef struct Set
{
	double zeros[samples];
	bool slides[1];
	const char *dofNames[1];
	lmbTrajectory items[count];
	lmbTrajectories set;
} Set;

static void Set_Make( Set *set )
{
	static const char *const names[count] = { "a", "b", "c", "d", "e" };
	*set = ( Set ){ .dofNames = { "knee" } };
	for ( int i = 0; i < count; ++i )
		set->items[i] = ( lmbTrajectory ){ .name = names[i],
		                                   .sampleCount = i == 3 ? 101 : samples,
		                                   .step = 0.02,
		                                   .positions = set->zeros,
		                                   .velocities = set->zeros };
	set->set = ( lmbTrajectories ){ .dofCount = 1,
	                                .dofNames = set->dofNames,
	                                .slides = set->slides,
	                                .count = count,
	                                .items = set->items };
}

/* Motion i drifts by i + 1 degrees a second; motion 4 gives up after 3 s. */
static void Roll( const Set *set, lmbLimbDetails *details )
{
	lmbError error = { 0 };
	for ( int i = 0; i < count; ++i )
	{
		double positions[samples], velocities[samples] = { 0 };
		for ( int k = 0; k < samples; ++k )
			positions[k] = ( i + 1 ) * degree * 0.02 * k;
		lmbLimbRollout rollout = { positions, velocities, i == 4 ? 151 : set->items[i].sampleCount };
		CHECK_INT( lmbLimbDetails_Add( details, i, &rollout, NULL, &error ), lmb_statusOk );
	}
}

static double At( const json_t *object, const char *list, size_t index )
{
	return json_number_value( json_array_get( json_object_get( object, list ), index ) );
}

static void CurvesAndExamples( void **state )
{
	(void)state;
	Set set;
	lmbError error = { 0 };
	lmbLimbDetails details;
	Set_Make( &set );
	CHECK_OR_STOP( lmbLimbDetails_Begin( &details, &set.set, &error ) == lmb_statusOk );
	Roll( &set, &details );
	/* 0 to 4 s by tenths. */
	CHECK_INT( details.curveCount, 41 );
	CHECK_NEAR( details.times[40], 4.0, 0.0 );
	json_t *document = lmbLimbDetails_Json( &details );
	const json_t *rmse = json_object_get( document, "rmse_deg" );
	/* At 1 s they are 1 to 5 degrees off. */
	CHECK_NEAR( At( rmse, "mean", 10 ), 3.0, 1e-12 );
	CHECK_NEAR( At( rmse, "median", 10 ), 3.0, 1e-12 );
	/* At 2.5 s the fourth has ended. */
	CHECK_NEAR( At( rmse, "mean", 25 ), 2.5 * ( 1 + 2 + 3 + 5 ) / 4.0, 1e-12 );
	CHECK_NEAR( At( rmse, "median", 25 ), 2.5 * 2.5, 1e-12 );
	/* At 4 s the fifth counts with the cap. */
	CHECK_NEAR( At( rmse, "mean", 40 ), ( 4 + 8 + 12 + lmbLimbErrorCap ) / 4.0, 1e-12 );
	/* First, middle, last. */
	const json_t *examples = json_object_get( document, "examples" );
	CHECK_INT( json_array_size( examples ), 3 );
	const json_t *last = json_array_get( json_object_get( json_array_get( examples, 2 ), "positions" ), 0 );
	CHECK_INT( json_array_size( last ), samples );
	CHECK_NEAR( json_number_value( json_array_get( last, 100 ) ), 10.0, 1e-12 );
	CHECK( json_is_null( json_array_get( last, 151 ) ) );
	CHECK_INT( json_array_size( json_object_get( document, "trust_and_error" ) ), 0 );
	json_decref( document );

	document = lmbLimbDetails_TestJson( &set.set, NULL );
	static const char *const expected[] = { "a", "c", "e" };
	for ( size_t i = 0; i < 3; ++i )
	{
		const json_t *example = json_array_get( json_object_get( document, "examples" ), i );
		CHECK( strcmp( json_string_value( json_object_get( example, "motion" ) ), expected[i] ) == 0 );
		CHECK( json_is_null( json_object_get( example, "pulse" ) ) );
	}
	json_decref( document );
	lmbLimbDetails_Free( &details );
}

static void ShortMotionsAndSlides( void **state )
{
	(void)state;
	Set set;
	lmbError error = { 0 };
	lmbLimbDetails details;
	Set_Make( &set );
	set.set.count = 1;
	set.items[0].sampleCount = 26; /* half a second: fifty steps of a hundredth, every second one a sample */
	CHECK_OR_STOP( lmbLimbDetails_Begin( &details, &set.set, &error ) == lmb_statusOk );
	CHECK_INT( details.curveCount, 51 );
	CHECK_NEAR( details.times[50], 0.5, 1e-12 );
	CHECK_INT( details.exampleCount, 1 );
	lmbLimbDetails_Free( &details );

	/* A slide is in metres, and is no angle. */
	set.slides[0] = true;
	set.set.count = count;
	set.items[0].sampleCount = samples;
	CHECK_OR_STOP( lmbLimbDetails_Begin( &details, &set.set, &error ) == lmb_statusOk );
	Roll( &set, &details );
	json_t *document = lmbLimbDetails_Json( &details );
	CHECK_NEAR( At( json_object_get( document, "rmse_deg" ), "mean", 10 ), 0.0, 0.0 );
	const json_t *first = json_array_get( json_object_get( document, "examples" ), 0 );
	const json_t *path = json_array_get( json_object_get( first, "positions" ), 0 );
	CHECK_NEAR( json_number_value( json_array_get( path, 50 ) ), degree, 1e-15 );
	json_decref( document );
	lmbLimbDetails_Free( &details );
}

static void DoubtsAreAnEvenShare( void **state )
{
	(void)state;
	static double scores[1000], errors[1000];
	lmbLimbDetails details = { 0 };
	for ( int i = 0; i < 1000; ++i )
	{
		scores[i] = i;
		errors[i] = 2.0 * i;
	}
	lmbLimbDetails_Doubts( &details, scores, errors, 1000 );
	CHECK_INT( details.doubtCount, 250 );
	CHECK_NEAR( details.scores[249], 996.0, 0.0 );
	CHECK_NEAR( details.errors[249], 1992.0, 0.0 );
	lmbLimbDetails_Doubts( &details, scores, errors, 0 );
	CHECK_INT( details.doubtCount, 0 );
	lmbLimbDetails_Doubts( &details, scores, errors, lmbLimbDoubtMax );
	CHECK_INT( details.doubtCount, lmbLimbDoubtMax );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( CurvesAndExamples ),
	    CHECK_TEST( ShortMotionsAndSlides ),
	    CHECK_TEST( DoubtsAreAnEvenShare ),
	};
	return CHECK_RUN( tests );
}
