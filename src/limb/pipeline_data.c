/* The stage `simulate`: motions to learn from and motions to judge by, or recordings parted into the two. */
#include "limb/pipeline_private.h"

#include "base/random.h"
#include "limb/motions.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double radiansPerDegree = 3.14159265358979323846 / 180.0;

/* What a test is called in files; -1 is the training. */
static const char *SetName( int test )
{
	return test < 0 ? "train" : lmbLimbTest_Name( (lmbLimbTestKind)test );
}

static double RateOf( const lmbLimbProject *project, int test )
{
	return project->rate * ( test == lmb_limbTestHalfRate     ? 0.5
	                         : test == lmb_limbTestDoubleRate ? 2.0
	                                                          : 1.0 );
}

/* Sets that differ under one seed: sets of the project, by entries of motions.train. */
static uint64_t StreamOf( int test, int entry )
{
	return (uint64_t)( test + 2 ) * 1024 + (uint64_t)entry;
}

/* Where motions of a set start: training within its share of the range, novel tests beside it. */
static lmbPlantMotionStart StartOf( const lmbLimbProject *project, const lmbLimbProjectMotion *motion,
                                    int test )
{
	lmbPlantMotionStart start = { 0.0, project->startRange, 0.0, motion->speed * radiansPerDegree };
	if ( test == lmb_limbTestNovelPosture )
	{
		start.inner = project->novelPosture[0];
		start.outer = project->novelPosture[1];
	}
	if ( test == lmb_limbTestNovelPosture || test == lmb_limbTestNovelVelocity )
	{
		start.slowest = project->novelVelocity[0] * radiansPerDegree;
		start.fastest = project->novelVelocity[1] * radiansPerDegree;
	}
	return start;
}

/* One entry of motions.train as a set of the training (test -1) or of a test, count motions of it. */
static lmbPlantMotionDef DefOf( const lmbLimbProject *project, const lmbLimbProjectMotion *motion, int test,
                                int count )
{
	lmbPlantMotionDef def = lmbDefaultPlantMotionDef( motion->kind );
	def.count = count;
	def.rate = RateOf( project, test );
	def.duration = isnan( motion->duration ) ? project->duration : motion->duration;
	if ( test >= 0 )
		def.duration = project->testDuration + 1.0 / def.rate; /* its last sample lies at the end */
	def.effort = motion->effort;
	def.bandwidth = motion->bandwidth;
	def.centring = motion->centring;
	def.feedback = motion->feedback;
	def.noise = motion->noise;
	def.start = StartOf( project, motion, test );
	def.stream = StreamOf( test, (int)( motion - project->motions ) );
	return def;
}

/* The sets' names: of the test and the kind, and where a kind comes more than once, of the entry. */
static const char *NameDef( lmbArena *arena, const lmbLimbProject *project, int test, int entry )
{
	static const char *const kinds[] = { "torques", "reaches", "swings" };
	char name[64];
	int before = 0;
	for ( int i = 0; i < entry; ++i )
		before += project->motions[i].kind == project->motions[entry].kind;
	const char *kind = kinds[project->motions[entry].kind];
	if ( before > 0 )
		snprintf( name, sizeof( name ), "%s %s %c", SetName( test ), kind, 'A' + before % 26 );
	else
		snprintf( name, sizeof( name ), "%s %s", SetName( test ), kind );
	return lmbArena_String( arena, name );
}

/* The training's motions, or a test's with the training's mixture of kinds. */
static lmbStatus MakeMixture( lmbLimbPipeline *pipeline, int test, lmbTrajectories **out, lmbError *error )
{
	const lmbLimbProject *project = pipeline->project;
	lmbPlantMotionDef *defs = LMB_NEW( &pipeline->stages.arena, lmbPlantMotionDef, project->motionCount );
	double total = 0.0, sum = 0.0;
	int defCount = 0, made = 0;
	if ( defs == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < project->motionCount; ++i )
		total += project->motions[i].count;
	for ( int i = 0; i < project->motionCount; ++i )
	{
		sum += project->motions[i].count;
		int count = test < 0 ? project->motions[i].count
		                     : (int)floor( project->testMotions * sum / total + 0.5 ) - made;
		if ( count == 0 )
			continue;
		made += count;
		lmbPlantMotionDef *def = &defs[defCount++];
		*def = DefOf( project, &project->motions[i], test, count );
		def->name = NameDef( &pipeline->stages.arena, project, test, i );
		if ( def->name == NULL )
			return lmbError_Memory( error );
	}
	return lmbPlantMotions_Make( pipeline->plant, defs, defCount, &pipeline->stages.job, out, error );
}

/* Reaches between all ordered pairs of ten targets, without and with a pulse. */
static lmbStatus MakePulses( lmbLimbPipeline *pipeline, lmbTrajectories **out, lmbError *error )
{
	const lmbLimbProject *project = pipeline->project;
	lmbReachTestDef def = lmbDefaultReachTestDef();
	def.motion.rate = project->rate;
	def.motion.duration = project->testDuration + 1.0 / project->rate;
	def.motion.start = ( lmbPlantMotionStart ){ 0.0, project->startRange, 0.0, 0.0 };
	def.motion.stream = StreamOf( lmb_limbTestPulse, 0 );
	def.pairCount = project->pairs;
	def.pulse = project->pulse;
	def.pulseTime = project->pulseTime;
	return lmbPlantMotions_MakeReachTest( pipeline->plant, &def, &pipeline->stages.job, out, error );
}

static lmbStatus SaveSet( lmbLimbPipeline *pipeline, const lmbTrajectories *set, const char *test,
                          lmbError *error )
{
	char name[96];
	snprintf( name, sizeof( name ), "trajectories-%s.safetensors", test );
	char *path = lmbStages_Path( &pipeline->stages, name );
	LMB_TRY( path != NULL ? lmbTrajectories_Save( set, path, error ) : lmbError_Memory( error ) );
	lmbStages_Wrote( &pipeline->stages, name );
	return lmb_statusOk;
}

/* Measured angles: noise, and nothing else known. */
static void MeasureAngles( const lmbLimbPipeline *pipeline, const lmbTrajectories *set )
{
	double degrees = pipeline->project->noise;
	for ( int i = 0; i < set->count && degrees > 0.0; ++i )
	{
		lmbTrajectory *item = &set->items[i];
		lmbRandom random = lmbRandom_Seed( pipeline->stages.job.seed, 0x6d65617375726564 + (uint64_t)i );
		int n = set->dofCount;
		for ( int k = 0; k < item->sampleCount * n; ++k )
		{
			double draw = radiansPerDegree * degrees * lmbRandom_Normal( &random );
			item->positions[k] += set->slides[k % n] ? 0.0 : draw;
		}
		item->velocities = item->accelerations = NULL;
	}
}

/* Measured inputs: others acted. */
static void MeasureInputs( const lmbLimbPipeline *pipeline, const lmbTrajectories *set )
{
	const lmbPlant *plant = pipeline->plant;
	double share = pipeline->project->inputNoise;
	for ( int i = 0; i < set->count && share > 0.0; ++i )
	{
		lmbTrajectory *item = &set->items[i];
		lmbRandom random = lmbRandom_Seed( pipeline->stages.job.seed, 0x696e70757473 + (uint64_t)i );
		for ( int k = 0; k < item->sampleCount * set->inputCount; ++k )
		{
			const double *range = plant->inputRange[k % set->inputCount];
			item->inputs[k] += 0.5 * ( range[1] - range[0] ) * share * lmbRandom_Normal( &random );
		}
	}
}

static lmbStatus MakeSet( lmbLimbPipeline *pipeline, int test, json_t *facts, lmbError *error )
{
	lmbTrajectories *set = NULL;
	LMB_TRY( test == lmb_limbTestPulse ? MakePulses( pipeline, &set, error )
	                                   : MakeMixture( pipeline, test, &set, error ) );
	if ( test < 0 )
	{
		MeasureAngles( pipeline, set );
		MeasureInputs( pipeline, set );
	}
	lmbStatus status = SaveSet( pipeline, set, SetName( test ), error );
	json_int_t samples = 0;
	for ( int i = 0; i < set->count; ++i )
		samples += set->items[i].sampleCount;
	const char *key = test < 0 ? "motions" : "test_motions";
	json_int_t before = json_integer_value( json_object_get( facts, key ) );
	json_object_set_new( facts, key, json_integer( before + set->count ) );
	if ( test < 0 )
		json_object_set_new( facts, "samples", json_integer( samples ) );
	lmbTrajectories_Free( set );
	return status;
}

/* Recordings. */

static bool IsHeldOut( const lmbLimbProject *project, const char *name )
{
	/* "NAME#2" is a further piece of NAME. */
	char base[256];
	snprintf( base, sizeof( base ), "%s", name );
	char *piece = strrchr( base, '#' );
	if ( piece != NULL )
		*piece = 0;
	for ( int i = 0; i < project->heldOutCount; ++i )
		if ( fnmatch( project->heldOut[i], name, 0 ) == 0 || fnmatch( project->heldOut[i], base, 0 ) == 0 )
			return true;
	return false;
}

/* Saves the items that are held out, or that are not, as a set that borrows everything. */
static lmbStatus SavePart( lmbLimbPipeline *pipeline, const lmbTrajectories *all, bool heldOut, json_t *facts,
                           lmbError *error )
{
	lmbTrajectories part = *all;
	part.items = LMB_NEW( &pipeline->stages.arena, lmbTrajectory, all->count );
	part.count = 0;
	if ( part.items == NULL )
		return lmbError_Memory( error );
	json_int_t samples = 0;
	for ( int i = 0; i < all->count; ++i )
	{
		if ( IsHeldOut( pipeline->project, all->items[i].name ) != heldOut )
			continue;
		samples += all->items[i].sampleCount;
		part.items[part.count++] = all->items[i];
	}
	if ( part.count == 0 )
		return lmbError_Set(
		    error, lmb_statusInvalidArgument, "%s: recordings.held_out leaves no recording to %s",
		    pipeline->project->file.path, heldOut ? "judge by; name at least one" : "learn from" );
	json_object_set_new( facts, heldOut ? "test_motions" : "motions", json_integer( part.count ) );
	if ( !heldOut )
		json_object_set_new( facts, "samples", json_integer( samples ) );
	return SaveSet( pipeline, &part, heldOut ? lmbLimbTest_Name( lmb_limbTestHeldOut ) : "train", error );
}

static lmbStatus ReadRecordings( lmbLimbPipeline *pipeline, json_t *facts, lmbError *error )
{
	const lmbLimbProject *project = pipeline->project;
	lmbTrajectories *all = NULL;
	LMB_TRY( lmbRecording_Read( project->files, project->fileCount, &project->recording,
	                            &pipeline->stages.job, &all, error ) );
	lmbStatus status = SavePart( pipeline, all, false, facts, error );
	if ( status == lmb_statusOk )
		status = SavePart( pipeline, all, true, facts, error );
	lmbTrajectories_Free( all );
	return status;
}

lmbStatus lmbLimbPipeline_RunSimulate( void *context, json_t *facts, lmbError *error )
{
	lmbLimbPipeline *pipeline = context;
	if ( pipeline->project->source == lmb_limbSourceRecordings )
		return ReadRecordings( pipeline, facts, error );
	LMB_TRY( lmbLimbPipeline_NeedPlants( pipeline, error ) );
	double sets = 1.0 + pipeline->project->testCount;
	LMB_TRY( MakeSet( pipeline, -1, facts, error ) );
	double done = 1.0;
	for ( int i = 0; i < lmb_limbTestCount; ++i )
	{
		/* Held-out motions also judge the variants of training. */
		bool wanted = i == lmb_limbTestHeldOut || lmbLimbPipeline_HasTest( pipeline, (lmbLimbTestKind)i );
		if ( !wanted || i == lmb_limbTestNoise )
			continue;
		lmbJob_Progress( &pipeline->stages.job, "sets of motions", done, sets, SetName( i ) );
		LMB_TRY( MakeSet( pipeline, i, facts, error ) );
		done += 1.0;
	}
	return lmb_statusOk;
}
