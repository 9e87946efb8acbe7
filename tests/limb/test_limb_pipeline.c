/* The stages of a limb's pipeline with tiny budgets: files, skipping, going on after a stop, threads. */
#include "check.h"

#include "base/files.h"
#include "evaluate/limb_metrics.h"
#include "limb/pipeline.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64] = "/tmp/limber-limb-pipeline-XXXXXX";

static const char tiny[] =
    "name: tiny\nseed: 5\nlimb: { plant: arm }\n"
    "motions: { rate: 50, duration: 1, train: [{ kind: torques, count: 6 }, { kind: reaches, count: 3 }, { "
    "kind: "
    "swings, count: 2 }] }\n"
    "train:\n  models:\n"
    "    - { kind: lagrangian, width: 6, layers: 1, adam_epochs: 2, lbfgs_iterations: 5, seeds: 2 }\n"
    "    - { kind: affine, width: 6, layers: 1, adam_epochs: 2, lbfgs_iterations: 5, variants: false }\n"
    "    - { kind: plain, width: 6, layers: 1, adam_epochs: 2, lbfgs_iterations: 5, variants: false }\n"
    "    - { kind: gru, width: 5, layers: 1, adam_epochs: 2, lbfgs_iterations: 0, variants: false }\n"
    "evaluate: { motions: 4, pairs: 2, duration: 1.2, step: 0.01, samples: [200], tests: [held_out, "
    "novel_velocity, "
    "novel_posture, pulse, half_rate, double_rate] }\n";

static lmbLimbProject *LoadTiny( void )
{
	static char path[128];
	lmbError error = { 0 };
	lmbLimbProject *project = NULL;
	snprintf( path, sizeof( path ), "%s/tiny.yaml", folder );
	CHECK( lmbFile_Write( path, tiny, strlen( tiny ), &error ) == lmb_statusOk );
	if ( lmbLimbProject_Load( path, &project, &error ) != lmb_statusOk )
		CheckReport( __FILE__, __LINE__, error.message );
	CHECK_OR_STOP( project != NULL );
	return project;
}

/* What happened in a run. */
typedef struct Watch
{
	int started, skipped;
	atomic_bool cancelled;
	int cancelAt; /* stop at this stage's first progress; -1: never */
	int stage;
} Watch;

static void OnStage( void *context, const char *stage, lmbStageEvent event, double seconds, json_t *facts )
{
	(void)seconds;
	(void)facts;
	Watch *watch = context;
	watch->started += event == lmb_stageStarted;
	watch->skipped += event == lmb_stageSkipped;
	watch->stage = strcmp( stage, "simulate" ) == 0 ? 0 : strcmp( stage, "train" ) == 0 ? 1 : 2;
}

static void OnProgress( void *context, const char *unit, double done, double total, const char *detail )
{
	(void)unit;
	(void)done;
	(void)total;
	(void)detail;
	Watch *watch = context;
	if ( watch->stage == watch->cancelAt )
		atomic_store( &watch->cancelled, true );
}

static lmbStatus Run( const lmbLimbProject *project, const char *out, int threads, int cancelAt, Watch *watch,
                      json_t **metrics )
{
	lmbError error = { 0 };
	*watch = ( Watch ){ .cancelAt = cancelAt, .stage = -1 };
	lmbPipelineDef def = { .folder = out, .stages = 7, .event = OnStage, .context = watch };
	lmbJob job = {
	    .threads = threads, .cancelled = &watch->cancelled, .progress = OnProgress, .context = watch };
	lmbStatus status = lmbLimbPipeline_Run( project, &def, &job, metrics, &error );
	if ( status != lmb_statusOk && status != lmb_statusCancelled )
		CheckReport( __FILE__, __LINE__, error.message );
	return status;
}

static const char *const results[] = { "trajectories-train.safetensors",
                                       "trajectories-held_out.safetensors",
                                       "trajectories-novel_velocity.safetensors",
                                       "trajectories-novel_posture.safetensors",
                                       "trajectories-pulse.safetensors",
                                       "trajectories-half_rate.safetensors",
                                       "trajectories-double_rate.safetensors",
                                       "model.safetensors",
                                       "model-lagrangian.safetensors",
                                       "model-lagrangian-seed1.safetensors",
                                       "model-lagrangian-samples_200.safetensors",
                                       "model-affine.safetensors",
                                       "model-plain.safetensors",
                                       "model-gru.safetensors" };

static void CheckSame( int line, const char *a, const char *b )
{
	for ( size_t i = 0; i < sizeof( results ) / sizeof( results[0] ); ++i )
	{
		lmbArena arena = { 0 };
		char *one = NULL, *two = NULL, path[256];
		size_t oneSize = 0, twoSize = 0;
		lmbError error = { 0 };
		snprintf( path, sizeof( path ), "%s/%s", a, results[i] );
		lmbStatus status = lmbFile_Read( path, &arena, &one, &oneSize, &error );
		snprintf( path, sizeof( path ), "%s/%s", b, results[i] );
		if ( status == lmb_statusOk )
			status = lmbFile_Read( path, &arena, &two, &twoSize, &error );
		if ( status != lmb_statusOk )
			CheckReport( __FILE__, line, error.message );
		else if ( oneSize != twoSize || memcmp( one, two, oneSize ) != 0 )
			CheckReport( __FILE__, line, results[i] );
		lmbArena_Free( &arena );
	}
}

/* The scores, without what depends on the clock. */
static char *Scores( const json_t *metrics )
{
	json_t *copy = json_deep_copy( json_object_get( metrics, "models" ) );
	const char *name;
	json_t *model;
	json_object_foreach( copy, name, model ) json_object_del( model, "training_s" );
	char *text = json_dumps( copy, JSON_SORT_KEYS | JSON_INDENT( 1 ) );
	json_decref( copy );
	return text;
}

static json_t *whole; /* metrics of the run that nothing disturbed */

static void AllStagesRun( void **state )
{
	(void)state;
	lmbLimbProject *project = LoadTiny();
	char out[128];
	Watch watch;
	snprintf( out, sizeof( out ), "%s/whole", folder );
	CHECK_OR_STOP( Run( project, out, 1, -1, &watch, &whole ) == lmb_statusOk );
	CHECK_INT( watch.started, 3 );
	static const char *const models[] = { "ape_lagrangian", "ape_affine", "ape_plain", "gru",
	                                      "truth",          "known_terms" };
	static const char *const tests[] = { "held_out", "novel_velocity", "novel_posture",
	                                     "pulse",    "half_rate",      "double_rate" };
	for ( size_t m = 0; m < 6; ++m )
		for ( size_t t = 0; t < 6; ++t )
		{
			json_t *model = json_object_get( json_object_get( whole, "models" ), models[m] );
			json_t *test = json_object_get( json_object_get( model, "tests" ), tests[t] );
			json_t *pair = json_object_get( test, "rmse_deg_1s" );
			double mean = json_number_value( json_object_get( pair, "mean" ) );
			if ( !json_is_number( json_object_get( pair, "median" ) ) ||
			     !json_is_number( json_object_get( test, "diverged" ) ) )
				CheckReport( __FILE__, __LINE__, tests[t] );
			/* Steps of RK4 at 10 ms are far finer than this motion; the others have hardly been trained. */
			CHECK( m >= 4 ? mean < 1e-3 : mean > 1e-3 && mean <= lmbLimbErrorCap );
			/* 1.2 s of motion have no fifth second. */
			CHECK( json_object_get( test, "rmse_deg_5s" ) == NULL );
			CHECK_INT( json_integer_value( json_object_get( test, "motions" ) ), 4 );
			bool pulse = strcmp( tests[t], "pulse" ) == 0;
			CHECK( pulse == json_is_number( json_object_get( test, "interaction_torque_error" ) ) );
		}
	json_t *lagrangian = json_object_get( json_object_get( whole, "models" ), "ape_lagrangian" );
	CHECK( json_object_get( json_object_get( lagrangian, "tests" ), "samples_200" ) != NULL );
	CHECK_INT( json_integer_value( json_object_get( lagrangian, "seeds" ) ), 2 );
	/* Parameters of the equations themselves need few samples. */
	json_t *known = json_object_get( json_object_get( whole, "models" ), "known_terms" );
	json_t *few = json_object_get( json_object_get( known, "tests" ), "samples_200" );
	CHECK( json_number_value( json_object_get( json_object_get( few, "rmse_deg_1s" ), "mean" ) ) < 1e-3 );
	CHECK( few != NULL );
	CHECK_INT( json_array_size( json_object_get( whole, "held_out_motions" ) ), 4 );
	lmbLimbProject_Free( project );
}

/* Training and evaluation never mix: no motion of a test is one of the training's. */
static void TestsHaveMotionsOfTheirOwn( void **state )
{
	(void)state;
	char path[256];
	lmbError error = { 0 };
	lmbTrajectories *train, *test;
	snprintf( path, sizeof( path ), "%s/whole/trajectories-train.safetensors", folder );
	CHECK_OR_STOP( lmbTrajectories_Load( path, &train, &error ) == lmb_statusOk );
	CHECK_INT( train->count, 11 );
	CHECK_INT( train->items[0].sampleCount, 50 );
	CHECK_NEAR( train->items[0].step, 0.02, 1e-15 );
	for ( size_t i = 1; i < 7; ++i )
	{
		snprintf( path, sizeof( path ), "%s/whole/%s", folder, results[i] );
		CHECK_OR_STOP( lmbTrajectories_Load( path, &test, &error ) == lmb_statusOk );
		bool pulses = strstr( results[i], "pulse" ) != NULL;
		for ( int k = 0; k < test->count; ++k )
		{
			const lmbTrajectory *item = &test->items[k];
			CHECK_NEAR( ( item->sampleCount - 1 ) * item->step, 1.2, 0.021 );
			for ( int j = 0; j < train->count; ++j )
				CHECK( item->positions[0] != train->items[j].positions[0] );
			/* A pulse's twin starts as it does; these two reaches do not, nor does any other motion. */
			for ( int j = 0; j < k; ++j )
				CHECK( ( item->positions[0] == test->items[j].positions[0] ) ==
				       ( pulses && j == k - 1 && k % 2 == 1 ) );
			lmbLimbPulse pulse;
			CHECK( lmbLimbPulse_Find( test, k, &pulse ) == ( pulses && k % 2 == 1 ) );
		}
		lmbTrajectories_Free( test );
	}
	lmbTrajectories_Free( train );
}

static void WhatIsUpToDateIsSkipped( void **state )
{
	(void)state;
	lmbLimbProject *project = LoadTiny();
	char out[128], path[256];
	Watch watch;
	lmbError error = { 0 };
	json_t *metrics = NULL;
	snprintf( out, sizeof( out ), "%s/whole", folder );
	CHECK_INT( Run( project, out, 1, -1, &watch, &metrics ), lmb_statusOk );
	CHECK_INT( watch.skipped, 3 );
	CHECK_INT( watch.started, 0 );
	CHECK( json_equal( metrics, whole ) );
	json_decref( metrics );
	/* The integrator's step only concerns the judging. The data is made again, since its section changed, and
	 * comes out the same. */
	CHECK_INT( lmbProjectFile_Set( &project->file, "evaluate.step=0.005", &error ), lmb_statusOk );
	snprintf( path, sizeof( path ), "%s/model-gru.safetensors", out );
	struct stat before, after;
	CHECK( stat( path, &before ) == 0 );
	CHECK_INT( Run( project, out, 1, -1, &watch, &metrics ), lmb_statusOk );
	CHECK( stat( path, &after ) == 0 );
	CHECK( before.st_ino == after.st_ino ); /* a written file would be another one */
	static const char *const models[] = { "ape_lagrangian", "gru" };
	for ( int m = 0; m < 2; ++m )
	{
		json_t *now = json_object_get( json_object_get( metrics, "models" ), models[m] );
		json_t *then = json_object_get( json_object_get( whole, "models" ), models[m] );
		/* What has no integrator goes by the steps that it was taught. */
		CHECK( json_equal( json_object_get( now, "tests" ), json_object_get( then, "tests" ) ) ==
		       ( m == 1 ) );
	}
	json_decref( metrics );
	lmbLimbProject_Free( project );
}

static void ThreadsChangeNothing( void **state )
{
	(void)state;
	lmbLimbProject *project = LoadTiny();
	char out[128], one[128];
	Watch watch;
	json_t *metrics = NULL;
	snprintf( one, sizeof( one ), "%s/whole", folder );
	snprintf( out, sizeof( out ), "%s/threads", folder );
	CHECK_OR_STOP( Run( project, out, 2, -1, &watch, &metrics ) == lmb_statusOk );
	CheckSame( __LINE__, one, out );
	char *a = Scores( whole ), *b = Scores( metrics );
	CHECK( strcmp( a, b ) == 0 );
	free( a );
	free( b );
	json_decref( metrics );
	lmbLimbProject_Free( project );
}

/* Stopped in each stage in turn, then gone on with: the same files as without. */
static void StoppedRunsGoOn( void **state )
{
	(void)state;
	lmbLimbProject *project = LoadTiny();
	char out[128], one[128];
	Watch watch;
	json_t *metrics = NULL;
	snprintf( one, sizeof( one ), "%s/whole", folder );
	snprintf( out, sizeof( out ), "%s/stopped", folder );
	for ( int stage = 0; stage < 3; ++stage )
	{
		CHECK_INT( Run( project, out, 1, stage, &watch, &metrics ), lmb_statusCancelled );
		CHECK( metrics == NULL );
	}
	CHECK_OR_STOP( Run( project, out, 1, -1, &watch, &metrics ) == lmb_statusOk );
	CHECK_INT( watch.skipped, 2 );
	CheckSame( __LINE__, one, out );
	char *a = Scores( whole ), *b = Scores( metrics );
	CHECK( strcmp( a, b ) == 0 );
	free( a );
	free( b );
	json_decref( metrics );
	lmbLimbProject_Free( project );
}

/* Another seed, other motions and models. */
static void SeedsMatter( void **state )
{
	(void)state;
	lmbLimbProject *project = LoadTiny();
	char out[128];
	Watch watch;
	json_t *metrics = NULL;
	project->seed = 6;
	snprintf( out, sizeof( out ), "%s/seed", folder );
	CHECK_OR_STOP( Run( project, out, 1, -1, &watch, &metrics ) == lmb_statusOk );
	char *a = Scores( whole ), *b = Scores( metrics );
	CHECK( strcmp( a, b ) != 0 );
	free( a );
	free( b );
	json_decref( metrics );
	lmbLimbProject_Free( project );
}

/* A trajectory as a laboratory would have it: time, angles in degrees, torques. */
static void WriteCsv( const lmbTrajectory *trajectory, const char *path )
{
	FILE *stream = fopen( path, "w" );
	CHECK_OR_STOP( stream != NULL );
	fprintf( stream, "time,shoulder,elbow,shoulder_torque,elbow_torque\n" );
	for ( int k = 0; k < trajectory->sampleCount; ++k )
	{
		const double *q = trajectory->positions + 2 * k, *u = trajectory->inputs + 2 * k;
		fprintf( stream, "%.4f,%.12g,%.12g,%.12g,%.12g\n", k * trajectory->step, 57.29577951308232 * q[0],
		         57.29577951308232 * q[1], u[0], u[1] );
	}
	fclose( stream );
}

/* The same stages from files alone: nobody knows the truth, and what is held out does not train. */
static void RecordingsTrainAndJudge( void **state )
{
	(void)state;
	char path[256], out[128];
	lmbError error = { 0 };
	lmbTrajectories *set;
	snprintf( path, sizeof( path ), "%s/whole/trajectories-train.safetensors", folder );
	CHECK_OR_STOP( lmbTrajectories_Load( path, &set, &error ) == lmb_statusOk );
	for ( int i = 0; i < 6; ++i )
	{
		snprintf( path, sizeof( path ), "%s/trial%d.csv", folder, i + 1 );
		WriteCsv( &set->items[i], path );
	}
	lmbTrajectories_Free( set );
	static const char text[] =
	    "name: recorded\nlimb: { plant: recordings }\n"
	    "recordings:\n  files: [trial1.csv, trial2.csv, trial3.csv, trial4.csv, trial5.csv, trial6.csv]\n"
	    "  held_out: [trial6]\n  positions: \"shoulder,elbow\"\n  inputs: \"shoulder_torque,elbow_torque\"\n"
	    "  degrees: \"shoulder,elbow\"\n  hold: held\n"
	    "train: { models: [{ kind: lagrangian, method: regression, width: 6, layers: 1, adam_epochs: 2, "
	    "lbfgs_iterations: 10 }] }\n"
	    "evaluate: { two_segments: true, fit_start: 0.1 }\n";
	snprintf( path, sizeof( path ), "%s/recorded.yaml", folder );
	CHECK( lmbFile_Write( path, text, strlen( text ), &error ) == lmb_statusOk );
	lmbLimbProject *project = NULL;
	if ( lmbLimbProject_Load( path, &project, &error ) != lmb_statusOk )
		CheckReport( __FILE__, __LINE__, error.message );
	CHECK_OR_STOP( project != NULL );
	Watch watch;
	json_t *metrics = NULL;
	snprintf( out, sizeof( out ), "%s/recorded", folder );
	CHECK_OR_STOP( Run( project, out, 1, -1, &watch, &metrics ) == lmb_statusOk );
	json_t *names = json_object_get( metrics, "held_out_motions" );
	CHECK_INT( json_array_size( names ), 1 );
	CHECK_CONTAINS( json_string_value( json_array_get( names, 0 ) ), "trial6" );
	json_t *models = json_object_get( metrics, "models" );
	CHECK( json_object_get( models, "truth" ) == NULL );
	json_t *tests = json_object_get( json_object_get( models, "ape_lagrangian" ), "tests" );
	CHECK_INT( json_object_size( tests ), 1 );
	CHECK( json_object_get( tests, "held_out" ) != NULL );
	/* The segments' own equations are the truth of these files but for their numbers, which angles with 12
	 * digits tell well. */
	json_t *known = json_object_get( json_object_get( models, "known_terms" ), "tests" );
	json_t *each = json_object_get( json_object_get( known, "held_out" ), "each" );
	CHECK_INT( json_object_size( each ), 1 );
	double whole =
	    json_number_value( json_object_get( json_object_get( each, "trial6" ), "rmse_deg_whole" ) );
	CHECK( whole > 0.0 && whole < 0.1 );
	CHECK( json_number_value( json_object_get(
	           json_object_get( json_object_get( tests, "held_out" ), "rmse_deg_whole" ), "mean" ) ) >
	       whole );
	snprintf( path, sizeof( path ), "%s/trajectories-train.safetensors", out );
	CHECK_OR_STOP( lmbTrajectories_Load( path, &set, &error ) == lmb_statusOk );
	CHECK_INT( set->count, 5 );
	for ( int i = 0; i < set->count; ++i )
		CHECK( strstr( set->items[i].name, "trial6" ) == NULL );
	lmbTrajectories_Free( set );
	/* Nothing held out is a mistake, and so is everything. */
	CHECK_INT( lmbProjectFile_Set( &project->file, "recordings.held_out=[\"trial*\"]", &error ),
	           lmb_statusOk );
	lmbPipelineDef def = { .folder = out, .stages = 1 };
	CHECK_INT( lmbLimbPipeline_Run( project, &def, NULL, NULL, &error ), lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "leaves no recording to learn from" );
	json_decref( metrics );
	lmbLimbProject_Free( project );
}

/* A pendulum with a motor, as a MuJoCo model; and one that is not there. */
static void MujocoModelsRun( void **state )
{
	(void)state;
	static const char model[] =
	    "<mujoco><option gravity=\"0 0 -9.81\"/><worldbody><body><joint name=\"hinge\" type=\"hinge\" "
	    "axis=\"0 1 0\" damping=\"0.2\"/><geom type=\"capsule\" fromto=\"0 0 0 0 0 -0.4\" size=\"0.03\" "
	    "mass=\"1.5\"/></body></worldbody><actuator><motor name=\"push\" joint=\"hinge\" "
	    "ctrllimited=\"true\" "
	    "ctrlrange=\"-3 3\"/></actuator></mujoco>";
	static const char text[] =
	    "name: pendulum\nlimb: { plant: mujoco, model: pendulum.xml }\n"
	    "motions: { rate: 50, duration: 1, train: [{ kind: torques, count: 8 }, { "
	    "kind: swings, count: 4 }] }\n"
	    "train: { models: [{ kind: lagrangian, width: 6, layers: 1, adam_epochs: 2, "
	    "lbfgs_iterations: 20 }] }\n"
	    "evaluate: { motions: 4, pairs: 2, duration: 1.2, tests: [held_out, pulse] }\n";
	char path[256], out[128];
	lmbError error = { 0 };
	snprintf( path, sizeof( path ), "%s/pendulum.xml", folder );
	CHECK( lmbFile_Write( path, model, strlen( model ), &error ) == lmb_statusOk );
	snprintf( path, sizeof( path ), "%s/pendulum.yaml", folder );
	CHECK( lmbFile_Write( path, text, strlen( text ), &error ) == lmb_statusOk );
	lmbLimbProject *project = NULL;
	CHECK_OR_STOP( lmbLimbProject_Load( path, &project, &error ) == lmb_statusOk );
	Watch watch;
	json_t *metrics = NULL;
	snprintf( out, sizeof( out ), "%s/pendulum", folder );
	CHECK_OR_STOP( Run( project, out, 2, -1, &watch, &metrics ) == lmb_statusOk );
	json_t *truth = json_object_get( json_object_get( metrics, "models" ), "truth" );
	json_t *test = json_object_get( json_object_get( truth, "tests" ), "held_out" );
	CHECK( json_number_value( json_object_get( json_object_get( test, "rmse_deg_1s" ), "mean" ) ) < 1e-3 );
	json_decref( metrics );
	CHECK_INT( lmbProjectFile_Set( &project->file, "limb.model=/nowhere/a.xml", &error ), lmb_statusOk );
	lmbPipelineDef def = { .folder = out, .stages = 1 };
	CHECK( lmbLimbPipeline_Run( project, &def, NULL, NULL, &error ) != lmb_statusOk );
	CHECK_CONTAINS( error.message, "/nowhere/a.xml" );
	lmbLimbProject_Free( project );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( AllStagesRun ),         CHECK_TEST( TestsHaveMotionsOfTheirOwn ),
	    CHECK_TEST( ThreadsChangeNothing ), CHECK_TEST( StoppedRunsGoOn ),
	    CHECK_TEST( SeedsMatter ),          CHECK_TEST( RecordingsTrainAndJudge ),
	    CHECK_TEST( MujocoModelsRun ),      CHECK_TEST( WhatIsUpToDateIsSkipped ),
	};
	if ( mkdtemp( folder ) == NULL )
		return 1;
	int failed = CHECK_RUN( tests );
	json_decref( whole );
	char command[128];
	snprintf( command, sizeof( command ), "rm -r %s", folder );
	return system( command ) == 0 ? failed : 1;
}
