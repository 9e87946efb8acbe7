/* The stage `train`: every model of the project, each kept as soon as it is made, so that a stopped run goes
 * on with the next, and a change to one model trains that one alone. */
#include "limb/pipeline_private.h"

#include "base/files.h"
#include "base/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double radiansPerDegree = 3.14159265358979323846 / 180.0;

/* auto stands for what the plant is. */
static bool Choose( lmbLimbChoice choice, bool otherwise )
{
	return choice == lmb_limbChoiceAuto ? otherwise : choice == lmb_limbChoiceTrue;
}

static lmbLimbTrainDef TrainDef( const lmbLimbPipeline *pipeline, const lmbLimbTask *task )
{
	const lmbLimbProject *project = pipeline->project;
	const lmbLimbProjectModel *model = task->model;
	lmbLimbTrainDef def = lmbDefaultLimbTrainDef( model->kind );
	const lmbArmDef *arm = &project->arm;
	bool isArm = project->source == lmb_limbSourceArm;
	bool measured = project->source == lmb_limbSourceRecordings;
	def.method = model->method;
	def.hiddenLayers = model->layers >= 0 ? model->layers : def.hiddenLayers;
	def.width = model->width >= 0 ? model->width : def.width;
	def.adamEpochs = model->adamEpochs >= 0 ? model->adamEpochs : def.adamEpochs;
	def.lbfgsIterations = model->lbfgsIterations >= 0 ? model->lbfgsIterations : def.lbfgsIterations;
	def.stopShare = isnan( model->stopShare ) ? def.stopShare : model->stopShare;
	def.window = isnan( model->window ) ? def.window : model->window;
	def.absoluteAngles = model->absoluteAngles;
	def.chainPrior = model->chainPrior;
	def.trust = project->trust;
	def.potential =
	    Choose( model->potential, !isArm || arm->gravity > 0.0 || arm->limitStiffness > 0.0 || arm->muscles );
	def.frictionNetwork =
	    Choose( model->frictionNetwork, !isArm || arm->friction[0] > 0.0 || arm->friction[1] > 0.0 ||
	                                        arm->limitStiffness > 0.0 || arm->muscles );
	int inputs = pipeline->training->inputCount;
	def.driveNetwork =
	    Choose( model->driveNetwork, isArm      ? arm->muscles
	                                 : measured ? inputs > 0 && inputs != pipeline->training->dofCount
	                                            : true );
	/* The plain network is there to show what no knowledge at all gives. */
	bool plain = model->kind == lmb_limbPlain;
	def.invariantBase =
	    Choose( model->invariance, !plain && pipeline->plant != NULL && pipeline->plant->invariantBase );
	def.findInvariance = measured && !plain && model->invariance == lmb_limbChoiceAuto;
	def.torqueNoise = Choose( model->torqueNoise, !measured && project->inputNoise > 0.0 );
	double noise = radiansPerDegree * sqrt( project->noise * project->noise + task->noise * task->noise );
	def.noise = noise;
	return def;
}

/* Of everything that a task's model depends on. */
static lmbStatus Fingerprint( const lmbLimbPipeline *pipeline, const lmbLimbTask *task,
                              const lmbLimbTrainDef *def, const char *data, char out[lmbHashTextSize],
                              lmbError *error )
{
	char text[1024];
	const double numbers[] = { def->noise, def->cutoff, def->window, def->stopShare, task->noise };
	snprintf( text, sizeof( text ), "%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d", def->kind,
	          def->method, def->hiddenLayers, def->width, def->potential, def->frictionNetwork,
	          def->driveNetwork, def->absoluteAngles, def->invariantBase, def->findInvariance,
	          def->adamEpochs, def->lbfgsIterations, def->chainPrior, def->trust, def->torqueNoise,
	          task->seed, task->sampleCount, pipeline->project->seed );
	lmbHash hash;
	lmbHash_Begin( &hash );
	lmbHash_AddText( &hash, text );
	lmbHash_Add( &hash, numbers, sizeof( numbers ) );
	LMB_TRY( lmbHash_AddFile( &hash, data, error ) );
	lmbHash_Text( lmbHash_End( &hash ), out );
	return lmb_statusOk;
}

/* Which of the set's trajectories a smaller set takes: spread evenly, the last cut short. */
static lmbStatus CopyTrajectory( lmbTrajectories *to, int index, const lmbTrajectories *from, int source,
                                 int sampleCount, bool moving, lmbError *error )
{
	const lmbTrajectory *old = &from->items[source];
	bool velocities = moving && old->velocities != NULL, accelerations = moving && old->accelerations != NULL;
	LMB_TRY( lmbTrajectories_Allocate( to, index, old->name, sampleCount, old->step, velocities,
	                                   accelerations, error ) );
	lmbTrajectory *new = &to->items[index];
	size_t states = (size_t)sampleCount * (size_t)from->dofCount * sizeof( double );
	memcpy( new->positions, old->positions, states );
	if ( velocities )
		memcpy( new->velocities, old->velocities, states );
	if ( accelerations )
		memcpy( new->accelerations, old->accelerations, states );
	if ( from->inputCount > 0 )
		memcpy( new->inputs, old->inputs, (size_t)sampleCount * (size_t)from->inputCount * sizeof( double ) );
	return lmb_statusOk;
}

static lmbStatus CopySet( const lmbTrajectories *from, int sampleCount, bool moving, lmbTrajectories **out,
                          lmbError *error )
{
	int taken = 0, left = sampleCount;
	int longest = 1;
	for ( int i = 0; i < from->count; ++i )
		longest = from->items[i].sampleCount > longest ? from->items[i].sampleCount : longest;
	int wanted = sampleCount > 0 ? ( sampleCount + longest - 1 ) / longest : from->count;
	wanted = wanted < from->count ? wanted : from->count;
	lmbTrajectories *set = NULL;
	LMB_TRY( lmbTrajectories_New( from->dofCount, from->inputCount, wanted, &set, error ) );
	*out = set;
	set->hold = from->hold;
	for ( int i = 0; i < from->dofCount; ++i )
	{
		set->dofNames[i] = lmbArena_String( &set->arena, from->dofNames[i] );
		set->slides[i] = from->slides[i];
		set->turns[i] = from->turns[i];
		if ( set->dofNames[i] == NULL )
			return lmbError_Memory( error );
	}
	for ( int i = 0; i < from->inputCount; ++i )
		if ( ( set->inputNames[i] = lmbArena_String( &set->arena, from->inputNames[i] ) ) == NULL )
			return lmbError_Memory( error );
	for ( ; taken < wanted; ++taken )
	{
		int source = (int)( ( taken + 0.5 ) * from->count / wanted ),
		    length = from->items[source].sampleCount;
		if ( sampleCount > 0 )
			length = length < left ? length : left;
		LMB_TRY( CopyTrajectory( set, taken, from, source, length > 2 ? length : 2, moving, error ) );
		left -= length;
	}
	return lmb_statusOk;
}

/* Normal noise on the measured angles, each trajectory its own sequence. */
static void AddNoise( lmbTrajectories *set, double degrees, uint64_t seed )
{
	for ( int i = 0; i < set->count; ++i )
	{
		lmbRandom random = lmbRandom_Seed( seed, 0x6e6f697365 + (uint64_t)i ); /* apart from other streams */
		size_t numbers = (size_t)set->items[i].sampleCount * (size_t)set->dofCount;
		for ( size_t k = 0; k < numbers; ++k )
		{
			double draw = radiansPerDegree * degrees * lmbRandom_Normal( &random );
			set->items[i].positions[k] += set->slides[k % (size_t)set->dofCount] ? 0.0 : draw;
		}
	}
}

lmbStatus lmbLimbPipeline_CopyTraining( lmbLimbPipeline *pipeline, int sampleCount, double noise,
                                        lmbTrajectories **out, lmbError *error )
{
	*out = NULL;
	LMB_TRY( CopySet( pipeline->training, sampleCount, noise == 0.0, out, error ) );
	if ( noise > 0.0 )
		AddNoise( *out, noise, pipeline->stages.job.seed );
	return lmb_statusOk;
}

static json_t *ReportJson( const lmbLimbTrainReport *report )
{
	json_t *names = json_array();
	for ( int i = 0; i < report->stopCount; ++i )
		json_array_append_new( names, json_string( report->stopNames[i] ) );
	return json_pack( "{s:I, s:f, s:f, s:f, s:b, s:o}", "parameters", (json_int_t)report->parameterCount,
	                  "seconds", report->seconds, "train_loss", report->trainLoss, "stop_loss",
	                  report->stopLoss, "invariant", report->usedInvariance, "stopped_by", names );
}

static lmbStatus TrainTask( lmbLimbPipeline *pipeline, const lmbLimbTask *task, const lmbLimbTrainDef *def,
                            const char *path, json_t **report, lmbError *error )
{
	lmbTrajectories *set = NULL;
	lmbJob job = pipeline->stages.job;
	job.seed += (uint64_t)task->seed;
	lmbStatus status = lmbLimbPipeline_CopyTraining( pipeline, task->sampleCount, task->noise, &set, error );
	lmbLimbTrainReport numbers = { 0 };
	if ( status == lmb_statusOk )
		status = lmbLimb_Train( set, def, &job, path, &numbers, error );
	if ( status == lmb_statusOk )
		*report = ReportJson( &numbers );
	lmbTrajectories_Free( set );
	return status;
}

/* What an earlier run left of the same task: its report, or NULL. */
static json_t *Earlier( const char *notePath, const char *fingerprint, const char *path )
{
	json_t *note = json_load_file( notePath, 0, NULL ), *report = NULL;
	const char *was = json_string_value( json_object_get( note, "fingerprint" ) );
	const char *bytes = json_string_value( json_object_get( note, "file" ) );
	char text[lmbHashTextSize];
	lmbHash hash;
	lmbHash_Begin( &hash );
	if ( was != NULL && bytes != NULL && strcmp( was, fingerprint ) == 0 &&
	     lmbHash_AddFile( &hash, path, NULL ) == lmb_statusOk )
	{
		lmbHash_Text( lmbHash_End( &hash ), text );
		if ( strcmp( text, bytes ) == 0 )
			report = json_incref( json_object_get( note, "report" ) );
	}
	json_decref( note );
	return report;
}

static lmbStatus WriteNote( const char *notePath, const char *fingerprint, const char *path, json_t *report,
                            lmbError *error )
{
	char bytes[lmbHashTextSize];
	lmbHash hash;
	lmbHash_Begin( &hash );
	LMB_TRY( lmbHash_AddFile( &hash, path, error ) );
	lmbHash_Text( lmbHash_End( &hash ), bytes );
	json_t *note =
	    json_pack( "{s:s, s:s, s:O}", "fingerprint", fingerprint, "file", bytes, "report", report );
	char *text = json_dumps( note, JSON_INDENT( 2 ) );
	lmbStatus status =
	    text != NULL ? lmbFile_Write( notePath, text, strlen( text ), error ) : lmbError_Memory( error );
	free( text );
	json_decref( note );
	return status;
}

/* model.safetensors: the first model, of several seeds the one that stopped best. */
static lmbStatus CopyFirst( lmbLimbPipeline *pipeline, const json_t *facts, lmbError *error )
{
	const lmbLimbTask *best = &pipeline->tasks[0];
	double least = INFINITY;
	for ( int i = 0; i < pipeline->taskCount && pipeline->tasks[i].model == best->model; ++i )
	{
		const lmbLimbTask *task = &pipeline->tasks[i];
		double loss =
		    json_number_value( json_object_get( json_object_get( facts, task->stem ), "stop_loss" ) );
		if ( task->test != NULL || loss >= least )
			continue;
		best = task;
		least = loss;
	}
	char name[300];
	lmbLimbPipeline_TaskFile( best, ".safetensors", name, sizeof( name ) );
	char *from = lmbStages_Path( &pipeline->stages, name ), *data;
	char *to = lmbStages_Path( &pipeline->stages, "model.safetensors" );
	size_t size;
	lmbArena arena = { 0 };
	lmbStatus status = from != NULL && to != NULL ? lmbFile_Read( from, &arena, &data, &size, error )
	                                              : lmbError_Memory( error );
	if ( status == lmb_statusOk )
		status = lmbFile_Write( to, data, size, error );
	lmbArena_Free( &arena );
	lmbStages_Wrote( &pipeline->stages, "model.safetensors" );
	return status;
}

lmbStatus lmbLimbPipeline_RunTrain( void *context, json_t *facts, lmbError *error )
{
	lmbLimbPipeline *pipeline = context;
	LMB_TRY( lmbLimbPipeline_NeedPlants( pipeline, error ) );
	LMB_TRY( lmbLimbPipeline_NeedTraining( pipeline, error ) );
	LMB_TRY( lmbLimbPipeline_NeedTasks( pipeline, error ) );
	char *data = lmbStages_Path( &pipeline->stages, "trajectories-train.safetensors" );
	for ( int i = 0; i < pipeline->taskCount; ++i )
	{
		const lmbLimbTask *task = &pipeline->tasks[i];
		char name[300], note[300], fingerprint[lmbHashTextSize];
		lmbLimbPipeline_TaskFile( task, ".safetensors", name, sizeof( name ) );
		lmbLimbPipeline_TaskFile( task, ".json", note, sizeof( note ) );
		char *path = lmbStages_Path( &pipeline->stages, name );
		char *notePath = lmbStages_Path( &pipeline->stages, note );
		if ( data == NULL || path == NULL || notePath == NULL )
			return lmbError_Memory( error );
		if ( lmbJob_Cancelled( &pipeline->stages.job ) )
			return lmbJob_CancelledStatus( error );
		lmbLimbTrainDef def = TrainDef( pipeline, task );
		LMB_TRY( Fingerprint( pipeline, task, &def, data, fingerprint, error ) );
		json_t *report = Earlier( notePath, fingerprint, path );
		if ( report == NULL )
		{
			lmbJob_Note( &pipeline->stages.job, "training %s (%d of %d)", task->stem, i + 1,
			             pipeline->taskCount );
			lmbStatus status = TrainTask( pipeline, task, &def, path, &report, error );
			if ( status == lmb_statusOk )
				status = WriteNote( notePath, fingerprint, path, report, error );
			if ( status != lmb_statusOk )
			{
				json_decref( report );
				return status;
			}
		}
		json_object_set_new( facts, task->stem, report );
		lmbStages_Wrote( &pipeline->stages, name );
	}
	return CopyFirst( pipeline, facts, error );
}
