/* The arm of examples/arm with a small budget: what the whole run promises, only less of it. */
#include "check.h"

#include "evaluate/limb_metrics.h"
#include "limb/pipeline.h"

#include <stdlib.h>
#include <unistd.h>

static char folder[64] = "/tmp/limber-arm-XXXXXX";

static double Number( const json_t *metrics, const char *model, const char *test, const char *key,
                      const char *part )
{
	const json_t *at = json_object_get( json_object_get( metrics, "models" ), model );
	at = json_object_get( json_object_get( json_object_get( at, "tests" ), test ), key );
	at = part != NULL ? json_object_get( at, part ) : at;
	return json_is_number( at ) ? json_number_value( at ) : NAN;
}

static void SmallBudgetLearnsTheArm( void **state )
{
	(void)state;
	static const char *const settings[] = {
	    "motions.train=[{ kind: torques, count: 24 }, { kind: reaches, count: 12 }, { kind: swings, count: 4 "
	    "}]",
	    "train.models=[{ kind: lagrangian, width: 16, layers: 1, adam_epochs: 20, lbfgs_iterations: 120 }, "
	    "{ kind: gru, width: 16, adam_epochs: 5 }]",
	    "evaluate.motions=10" };
	lmbLimbProject *project = NULL;
	lmbError error = { 0 };
	lmbStatus status = lmbLimbProject_Load( LMB_TEST_SOURCE "/examples/arm/project.yaml", &project, &error );
	for ( size_t i = 0; i < sizeof( settings ) / sizeof( settings[0] ) && status == lmb_statusOk; ++i )
		status = lmbProjectFile_Set( &project->file, settings[i], &error );
	json_t *metrics = NULL;
	lmbPipelineDef def = { .folder = folder, .stages = ( 1u << lmb_limbStageCount ) - 1 };
	lmbJob job = { .threads = 2 };
	if ( status == lmb_statusOk )
		status = lmbLimbPipeline_Run( project, &def, &job, &metrics, &error );
	if ( status != lmb_statusOk )
		CheckReport( __FILE__, __LINE__, error.message );
	CHECK_OR_STOP( status == lmb_statusOk );
	static const char *const tests[] = { "held_out", "novel_velocity", "novel_posture",
	                                     "pulse",    "half_rate",      "double_rate" };
	for ( size_t t = 0; t < sizeof( tests ) / sizeof( tests[0] ); ++t )
	{
		double model = Number( metrics, "ape_lagrangian", tests[t], "rmse_deg_10s", "median" );
		double direct = Number( metrics, "gru", tests[t], "rmse_deg_10s", "median" );
		double truth = Number( metrics, "truth", tests[t], "rmse_deg_10s", "median" );
		printf( "%s: lagrangian %.3g, gru %.3g, truth %.3g degrees after 10 s\n", tests[t], model, direct,
		        truth );
		/* RK4 at 5 ms with 10 s of arm motions: the step's error is far below a thousandth of a degree. A
		 * fifth of the data and of the time keep within a degree; within ten where starts are beyond all
		 * that was seen. */
		CHECK( truth < 1e-3 );
		CHECK( model < ( strncmp( tests[t], "novel", 5 ) == 0 ? 10.0 : 1.0 ) );
		CHECK( model < 0.1 * direct );
		CHECK( Number( metrics, "ape_lagrangian", tests[t], "diverged", NULL ) <= 0.1 );
	}
	CHECK( Number( metrics, "ape_lagrangian", "pulse", "interaction_torque_error", NULL ) < 0.03 );
	CHECK( Number( metrics, "truth", "pulse", "interaction_torque_error", NULL ) < 1e-4 );
	json_decref( metrics );
	lmbLimbProject_Free( project );
}

int main( void )
{
	const struct CMUnitTest tests[] = { CHECK_TEST( SmallBudgetLearnsTheArm ) };
	if ( mkdtemp( folder ) == NULL )
		return 1;
	int failed = CHECK_RUN( tests );
	char command[128];
	snprintf( command, sizeof( command ), "rm -r %s", folder );
	return system( command ) == 0 ? failed : 1;
}
