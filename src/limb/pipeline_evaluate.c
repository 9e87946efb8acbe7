/* The stage `evaluate`: every model on every test, beside the true equations. */
#include "limb/pipeline_private.h"

#include "evaluate/details_file.h"
#include "evaluate/limb_report.h"

#include <math.h>
#include <string.h>

/* One test at work. */
typedef struct Testing
{
	lmbLimbPipeline *pipeline;
	lmbLimbTestSet set;
	lmbLimbJudgeDef def;
	bool judged;                        /* some of its motions are judged for less than the last time */
	json_t *models;                     /* of metrics.json */
	json_t *testDetails, *modelDetails; /* of evaluation.json */
	double progress;                    /* scores so far, of total */
	double total;
	lmbLimbKnown *known; /* with numbers found from the whole data; NULL: none */
} Testing;

static bool PlantEquations( void *context, const double *q, const double *v, const double *u, double *a )
{
	return lmbPlant_Acceleration( context, q, v, u, a );
}

/* The object models.NAME.tests. */
static json_t *TestsOf( json_t *models, const char *name )
{
	json_t *model = json_object_get( models, name );
	if ( model == NULL )
	{
		model = json_object();
		json_object_set_new( models, name, model );
		json_object_set_new( model, "tests", json_object() );
	}
	return json_object_get( model, "tests" );
}

/* Recordings differ, and are few: what each of them came to. */
static json_t *DescribeEach( const Testing *testing )
{
	const lmbTrajectories *truth = testing->set.truth;
	json_t *each = json_object();
	for ( int i = 0; i < truth->count; ++i )
		json_object_set_new( each, truth->items[i].name,
		                     json_pack( "{s:f, s:f}", "rmse_deg_whole", testing->def.errors[i].whole,
		                                "valid_s", testing->def.errors[i].valid ) );
	return each;
}

/* details: for evaluation.json. */
static lmbStatus Score( Testing *testing, const lmbLimbContender *contender, json_t **out, json_t **details,
                        lmbError *error )
{
	lmbLimbScore score;
	lmbLimbDetails beyond = { 0 };
	lmbJob *job = &testing->pipeline->stages.job;
	if ( lmbJob_Cancelled( job ) )
		return lmbJob_CancelledStatus( error );
	testing->def.details = &beyond;
	lmbStatus status = lmbLimbScore_Of( contender, &testing->set, &testing->def, job, &score, error );
	testing->def.details = NULL;
	*details = status == lmb_statusOk ? lmbLimbDetails_Json( &beyond ) : NULL;
	lmbLimbDetails_Free( &beyond );
	LMB_TRY( status );
	testing->progress += 1.0;
	lmbJob_Progress( job, "scores", testing->progress, testing->total, testing->set.name );
	*out = *details != NULL ? lmbLimbReport_Score( &score, testing->judged ) : NULL;
	if ( *out != NULL && testing->def.errors != NULL )
		json_object_set_new( *out, "each", DescribeEach( testing ) );
	if ( *out != NULL )
		return lmb_statusOk;
	json_decref( *details );
	return lmbError_Memory( error );
}

static void KeepDetails( Testing *testing, const char *model, json_t *details )
{
	json_t *tests = json_object_get( testing->modelDetails, model );
	if ( tests == NULL )
	{
		tests = json_object();
		json_object_set_new( testing->modelDetails, model, tests );
	}
	json_object_set_new( tests, testing->set.name, details );
}

/* What the stage `train` said about a task. */
static const json_t *TaskFacts( const lmbLimbPipeline *pipeline, const lmbLimbTask *task )
{
	const json_t *stamp = json_object_get( pipeline->stages.stamps, "train" );
	return json_object_get( json_object_get( stamp, "facts" ), task->stem );
}

/* One model: its seeds on the test, and of them the best or the medians. variant as lmbLimbTask.test. */
static lmbStatus ScoreModel( Testing *testing, const lmbLimbProjectModel *model, const char *variant,
                             lmbError *error )
{
	lmbLimbPipeline *pipeline = testing->pipeline;
	json_t *scores[128], *details[128], *chosen = NULL;
	int count = 0, best = 0;
	double least = INFINITY;
	lmbStatus status = lmb_statusOk;
	for ( int i = 0; i < pipeline->taskCount && status == lmb_statusOk && count < 128; ++i )
	{
		const lmbLimbTask *task = &pipeline->tasks[i];
		bool same =
		    variant == NULL ? task->test == NULL : task->test != NULL && strcmp( task->test, variant ) == 0;
		if ( task->model != model || !same )
			continue;
		char name[300];
		lmbLimbPipeline_TaskFile( task, ".safetensors", name, sizeof( name ) );
		lmbLimbContender contender = { .path = lmbStages_Path( &pipeline->stages, name ) };
		status = contender.path != NULL ? Score( testing, &contender, &scores[count], &details[count], error )
		                                : lmbError_Memory( error );
		if ( status != lmb_statusOk )
			break;
		double loss = json_number_value( json_object_get( TaskFacts( pipeline, task ), "stop_loss" ) );
		if ( loss < least )
		{
			least = loss;
			best = count;
		}
		count += 1;
	}
	bool recurrent = model->kind == lmb_limbGru || model->kind == lmb_limbLstm;
	bool takeBest = model->best == lmb_limbChoiceAuto ? recurrent : model->best == lmb_limbChoiceTrue;
	if ( status == lmb_statusOk && count > 0 )
		chosen = takeBest ? json_incref( scores[best] ) : lmbLimbReport_Median( scores, count );
	/* A page cannot show the median of curves as one model's motion: it shows the best seed, or the first. */
	if ( chosen != NULL )
	{
		json_object_set_new( TestsOf( testing->models, lmbLimbModel_Name( model ) ), testing->set.name,
		                     chosen );
		KeepDetails( testing, lmbLimbModel_Name( model ), json_incref( details[takeBest ? best : 0] ) );
	}
	for ( int i = 0; i < count; ++i )
	{
		json_decref( scores[i] );
		json_decref( details[i] );
	}
	return status;
}

/* Equations as a row of reference. */
static lmbStatus ScoreEquations( Testing *testing, const char *name, lmbAccelerationOf *equations,
                                 void *const *contexts, lmbError *error )
{
	lmbLimbContender contender = { .equations = equations, .contexts = contexts };
	json_t *score, *details;
	LMB_TRY( Score( testing, &contender, &score, &details, error ) );
	json_object_set_new( TestsOf( testing->models, name ), testing->set.name, score );
	KeepDetails( testing, name, details );
	return lmb_statusOk;
}

/* The same equations with numbers from the data that the models had. */
static lmbStatus ScoreKnownTerms( Testing *testing, const char *variant, lmbError *error )
{
	lmbLimbPipeline *pipeline = testing->pipeline;
	lmbLimbKnown *own = NULL, *known = testing->known;
	lmbStatus status = lmb_statusOk;
	for ( int i = 0; i < pipeline->taskCount && variant != NULL; ++i )
		if ( pipeline->tasks[i].test != NULL && strcmp( pipeline->tasks[i].test, variant ) == 0 )
		{
			status = lmbLimbPipeline_FitKnownTerms( pipeline, &pipeline->tasks[i], &own, error );
			known = own;
			break;
		}
	int threads = lmbLimbPipeline_Threads( pipeline );
	void **contexts = LMB_NEW( &pipeline->stages.arena, void *, threads );
	if ( contexts == NULL )
		status = lmbError_Memory( error );
	for ( int i = 0; status == lmb_statusOk && known != NULL && i < threads; ++i )
		contexts[i] = &known[i];
	if ( status == lmb_statusOk && known != NULL )
		status = ScoreEquations( testing, "known_terms", lmbLimbPipeline_KnownAcceleration, contexts, error );
	lmbLimbPipeline_FreeKnownTerms( pipeline, own );
	return status;
}

/* The test itself: how many motions of what length, and how far the plant amplifies errors in them. */
static lmbStatus DescribeTest( Testing *testing, lmbArena *arena, json_t *tests, lmbError *error )
{
	static const char *const keys[] = { "amplification_1s", "amplification_5s", "amplification_10s" };
	lmbLimbPipeline *pipeline = testing->pipeline;
	const lmbTrajectories *truth = testing->set.truth;
	const lmbTrajectory *first = &truth->items[0];
	json_t *test = json_pack( "{s:i, s:f, s:f}", "motions", truth->count, "rate_hz", 1.0 / first->step,
	                          "duration_s", ( first->sampleCount - 1 ) * first->step );
	json_object_set_new( tests, testing->set.name, test );
	json_object_set_new(
	    testing->testDetails, testing->set.name,
	    lmbLimbDetails_TestJson( truth, pipeline->plants != NULL ? pipeline->plants[0] : NULL ) );
	if ( pipeline->plants == NULL )
		return lmb_statusOk;
	double median[lmbLimbTimeCount], *times = LMB_NEW( arena, double, truth->count );
	if ( times == NULL )
		return lmbError_Memory( error );
	LMB_TRY(
	    lmbLimbAmplification_Of( pipeline->plants, truth, &pipeline->stages.job, median, times, error ) );
	testing->set.judgedTimes = times;
	for ( int t = 0; t < lmbLimbTimeCount; ++t )
		if ( !isnan( median[t] ) )
			json_object_set_new( test, keys[t], json_real( median[t] ) );
	double last = lmbLimbTimes[lmbLimbTimeCount - 1];
	for ( int i = 0; i < truth->count; ++i )
	{
		double end = ( truth->items[i].sampleCount - 1 ) * truth->items[i].step;
		testing->judged = testing->judged || times[i] < 0.999 * ( end < last ? end : last );
	}
	double *sorted = LMB_NEW( arena, double, truth->count );
	if ( sorted == NULL )
		return lmbError_Memory( error );
	memcpy( sorted, times, (size_t)truth->count * sizeof( double ) );
	if ( testing->judged )
		json_object_set_new( test, "judged_s", json_real( lmbMedian( sorted, truth->count ) ) );
	return lmb_statusOk;
}

static lmbStatus RunTest( Testing *testing, const char *variant, json_t *tests, lmbArena *arena,
                          lmbError *error )
{
	lmbLimbPipeline *pipeline = testing->pipeline;
	testing->judged = false;
	testing->set.judgedTimes = NULL;
	testing->def.errors = NULL;
	if ( pipeline->project->source == lmb_limbSourceRecordings &&
	     ( testing->def.errors = LMB_NEW( arena, lmbLimbErrors, testing->set.truth->count ) ) == NULL )
		return lmbError_Memory( error );
	LMB_TRY( DescribeTest( testing, arena, tests, error ) );
	for ( int i = 0; i < pipeline->project->modelCount; ++i )
		LMB_TRY( ScoreModel( testing, &pipeline->project->models[i], variant, error ) );
	LMB_TRY( ScoreKnownTerms( testing, variant, error ) );
	if ( pipeline->plants == NULL || variant != NULL )
		return lmb_statusOk;
	return ScoreEquations( testing, "truth", PlantEquations, (void *const *)pipeline->plants, error );
}

static lmbStatus LoadAndRun( Testing *testing, lmbLimbTestKind data, const char *variant, json_t *tests,
                             json_t *heldOut, lmbError *error )
{
	lmbTrajectories *set;
	lmbArena arena = { 0 };
	LMB_TRY( lmbLimbPipeline_LoadTest( testing->pipeline, data, &set, error ) );
	testing->set.name = variant != NULL ? variant : lmbLimbTest_Name( data );
	testing->set.truth = set;
	lmbStatus status = set->count > 0 ? RunTest( testing, variant, tests, &arena, error )
	                                  : lmbError_Set( error, lmb_statusCorrupt,
	                                                  "the test \"%s\" has no motions", testing->set.name );
	for ( int i = 0; heldOut != NULL && i < set->count; ++i )
		json_array_append_new( heldOut, json_string( set->items[i].name ) );
	lmbArena_Free( &arena );
	lmbTrajectories_Free( set );
	return status;
}

/* Parameters and losses of each model, of its first seed. */
static void DescribeModels( const lmbLimbPipeline *pipeline, json_t *models )
{
	for ( int i = 0; i < pipeline->taskCount; ++i )
	{
		const lmbLimbTask *task = &pipeline->tasks[i];
		json_t *model = json_object_get( models, lmbLimbModel_Name( task->model ) );
		if ( model == NULL || task->test != NULL || task->seed > 0 )
			continue;
		const json_t *facts = TaskFacts( pipeline, task );
		json_object_set( model, "parameters", json_object_get( facts, "parameters" ) );
		json_object_set( model, "training_s", json_object_get( facts, "seconds" ) );
		json_object_set_new( model, "seeds", json_integer( task->model->seeds ) );
	}
}

static lmbStatus RunTests( Testing *testing, json_t *tests, json_t *heldOut, lmbError *error )
{
	lmbLimbPipeline *pipeline = testing->pipeline;
	const lmbLimbProject *project = pipeline->project;
	bool recordings = project->source == lmb_limbSourceRecordings;
	int full = recordings ? 1 : project->testCount - lmbLimbPipeline_HasTest( pipeline, lmb_limbTestNoise );
	for ( int i = 0; i < pipeline->taskCount; ++i )
		testing->total += pipeline->tasks[i].test != NULL ? 1.0 : full;
	testing->total += recordings ? 0.0 : full;
	testing->total += testing->known != NULL ? full : 0.0;
	for ( int i = 0; i < lmb_limbTestCount; ++i )
	{
		bool wanted =
		    recordings ? i == lmb_limbTestHeldOut : lmbLimbPipeline_HasTest( pipeline, (lmbLimbTestKind)i );
		if ( wanted && i != lmb_limbTestNoise )
			LMB_TRY( LoadAndRun( testing, (lmbLimbTestKind)i, NULL, tests,
			                     i == lmb_limbTestHeldOut ? heldOut : NULL, error ) );
	}
	/* Variants of training, each judged once, on the held-out motions. */
	for ( int i = 0; i < pipeline->taskCount; ++i )
	{
		const char *variant = pipeline->tasks[i].test;
		if ( variant != NULL && json_object_get( tests, variant ) == NULL )
			LMB_TRY( LoadAndRun( testing, lmb_limbTestHeldOut, variant, tests, NULL, error ) );
	}
	DescribeModels( pipeline, testing->models );
	return lmb_statusOk;
}

/* evaluation.json; takes the two objects. */
static lmbStatus WriteDetails( Testing *testing, lmbError *error )
{
	lmbLimbPipeline *pipeline = testing->pipeline;
	json_t *document = json_pack( "{s:s, s:i, s:s, s:s, s:O, s:O}", "format", "limber.evaluation", "version",
	                              1, "kind", "limb", "name", pipeline->project->name, "tests",
	                              testing->testDetails, "models", testing->modelDetails );
	char *path = lmbStages_Path( &pipeline->stages, lmbDetailsFile_Name );
	if ( path == NULL )
	{
		json_decref( document );
		return lmbError_Memory( error );
	}
	lmbStages_Wrote( &pipeline->stages, lmbDetailsFile_Name );
	return lmbDetailsFile_Write( document, path, error );
}

lmbStatus lmbLimbPipeline_RunEvaluate( void *context, json_t *facts, lmbError *error )
{
	lmbLimbPipeline *pipeline = context;
	LMB_TRY( lmbLimbPipeline_NeedPlants( pipeline, error ) );
	LMB_TRY( lmbLimbPipeline_NeedTasks( pipeline, error ) );
	json_t *tests = json_object(), *models = json_object(), *heldOut = json_array();
	json_object_set_new( facts, "held_out_motions", heldOut );
	json_object_set_new( facts, "tests", tests );
	json_object_set_new( facts, "models", models );
	Testing testing = { .pipeline = pipeline,
	                    .def = { .integrator = pipeline->project->integrator,
	                             .step = pipeline->project->step,
	                             .fitStart = pipeline->project->fitStart,
	                             .plants = (lmbPlant *const *)pipeline->plants },
	                    .models = models,
	                    .testDetails = json_object(),
	                    .modelDetails = json_object() };
	lmbStatus status = lmbLimbPipeline_FitKnownTerms( pipeline, NULL, &testing.known, error );
	if ( status == lmb_statusOk )
		status = RunTests( &testing, tests, heldOut, error );
	if ( status == lmb_statusOk )
		status = WriteDetails( &testing, error );
	json_decref( testing.testDetails );
	json_decref( testing.modelDetails );
	lmbLimbPipeline_FreeKnownTerms( pipeline, testing.known );
	return status;
}
