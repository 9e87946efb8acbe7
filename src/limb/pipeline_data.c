/* The stage `simulate`: motions to learn from and motions to judge by, or recordings parted into the two. */
#include "limb/pipeline_private.h"

#include "base/random.h"
#include "evaluate/limb_metrics.h"
#include "limb/pipeline_motions.h"

#include <fnmatch.h>
#include <math.h>
#include <string.h>

static const double radiansPerDegree = 3.14159265358979323846 / 180.0;

/* A set of motions being made; every motion has a sequence of random numbers of its own. */
typedef struct Making
{
	lmbLimbPipeline *pipeline;
	lmbTrajectories *set;
	int test;        /* lmbLimbTestKind, or -1: to learn from */
	uint64_t stream; /* of the first motion */
	double rate, duration;
} Making;

static const lmbLimbProjectMotion *MotionOf( const Making *making, int index )
{
	const lmbLimbProject *project = making->pipeline->project;
	double total = 0.0, sum = 0.0;
	for ( int i = 0; i < project->motionCount; ++i )
		total += project->motions[i].count;
	/* Motions of the test of pulses go in twos that differ by the pulse alone. */
	if ( making->test == lmb_limbTestPulse )
		index -= index % 2;
	/* A test has the training's mixture of kinds. */
	double place = making->test < 0 ? index + 0.5 : ( index + 0.5 ) / making->set->count * total;
	for ( int i = 0; i < project->motionCount; ++i )
		if ( place < ( sum += project->motions[i].count ) )
			return &project->motions[i];
	return &project->motions[project->motionCount - 1];
}

/* Uniform in +-1, or (novel) of either sign in from to to. */
static double Draw( lmbRandom *random, bool novel, double from, double to )
{
	double sign = lmbRandom_Uniform( random ) < 0.5 ? -1.0 : 1.0, share = lmbRandom_Uniform( random );
	return novel ? sign * ( from + share * ( to - from ) ) : sign * share * to;
}

/* The start: postures from the part of the plant's range that trains, or from outside of it. */
static void DrawStart( const Making *making, const lmbLimbProjectMotion *motion, lmbRandom *random,
                       lmbTrajectory *out )
{
	const lmbLimbProject *project = making->pipeline->project;
	const lmbPlant *plant = making->pipeline->plant;
	bool novelPosture = making->test == lmb_limbTestNovelPosture;
	bool novelSpeed = novelPosture || making->test == lmb_limbTestNovelVelocity;
	/* A reach is planned from rest. */
	double speed =
	    motion->kind == lmb_limbMotionReaches && lmbLimbMotion_CanReach( plant ) ? 0.0 : motion->speed;
	for ( int i = 0; i < plant->dofCount; ++i )
	{
		double low = plant->startRange[i][0], high = plant->startRange[i][1];
		double unit = plant->slides[i] ? 1.0 : radiansPerDegree;
		double place = novelPosture ? Draw( random, true, project->novelPosture[0], project->novelPosture[1] )
		                            : Draw( random, false, 0.0, project->startRange );
		out->positions[i] = 0.5 * ( low + high ) + 0.5 * ( high - low ) * place;
		out->velocities[i] =
		    unit * ( novelSpeed ? Draw( random, true, project->novelVelocity[0], project->novelVelocity[1] )
		                        : Draw( random, false, 0.0, speed ) );
	}
}

/* A push at one input, in the middle third, on top of what the motion does anyway. */
static void AddPulse( const Making *making, lmbRandom *random, int index, lmbTrajectory *out )
{
	const lmbLimbProject *project = making->pipeline->project;
	const lmbPlant *plant = making->pipeline->plant;
	int input = index / 2 % plant->inputCount, samples = (int)floor( project->pulseTime / out->step + 0.5 );
	samples = samples > 1 ? samples : 1;
	int first = (int)( ( 1.0 + lmbRandom_Uniform( random ) ) / 3.0 * out->sampleCount );
	double low = plant->inputRange[input][0], high = plant->inputRange[input][1];
	double height = project->pulse * 0.5 * ( high - low );
	/* Muscles cannot push: their activations stay in their range. */
	bool bounded = low >= 0.0;
	if ( !bounded && lmbRandom_Uniform( random ) < 0.5 )
		height = -height;
	for ( int k = first; k < first + samples && k < out->sampleCount; ++k )
	{
		double *u = &out->inputs[(size_t)k * (size_t)plant->inputCount + (size_t)input];
		*u += height;
		*u = bounded && *u > high ? high : *u;
	}
}

enum
{
	targetCount = 10,
	pairCount = targetCount * ( targetCount - 1 )
};

/* Reaches between an ordered pair of ten targets, the same ones for all motions of a project. */
static bool DrawPair( const Making *making, int pair, lmbPlant *plant, lmbTrajectory *out )
{
	const lmbLimbPipeline *pipeline = making->pipeline;
	double targets[targetCount][lmbLimbMaxDofs];
	lmbRandom random = lmbRandom_Seed( pipeline->stages.job.seed, 0x74617267657473 );
	for ( int t = 0; t < targetCount; ++t )
		for ( int i = 0; i < plant->dofCount; ++i )
		{
			double low = plant->startRange[i][0], high = plant->startRange[i][1];
			targets[t][i] = 0.5 * ( low + high ) +
			                0.5 * ( high - low ) * Draw( &random, false, 0.0, pipeline->project->startRange );
		}
	int from = pair / ( targetCount - 1 ), to = pair % ( targetCount - 1 );
	to += to >= from ? 1 : 0;
	for ( int i = 0; i < plant->dofCount; ++i )
	{
		out->positions[i] = targets[from][i];
		out->velocities[i] = 0.0;
	}
	return lmbLimbMotion_DrawReach( plant, targets[to], out );
}

static lmbStatus MakeMotion( void *context, int index, int worker, lmbError *error )
{
	const Making *making = context;
	lmbLimbPipeline *pipeline = making->pipeline;
	lmbTrajectory *out = &making->set->items[index];
	const lmbLimbProjectMotion *motion = MotionOf( making, index );
	bool pulses = making->test == lmb_limbTestPulse;
	int own = pulses ? index / 2 : index;
	lmbRandom random = lmbRandom_Seed( pipeline->stages.job.seed, making->stream + (uint64_t)own );
	bool pairs = pulses && lmbLimbMotion_CanReach( pipeline->plant );
	/* A step that has no factor in common with 90 visits all pairs, and few of them spread out. */
	const int stride = 37;
	DrawStart( making, motion, &random, out );
	if ( pairs ? !DrawPair( making, own * stride % pairCount, pipeline->plants[worker], out )
	           : !lmbLimbMotion_Draw( pipeline->plants[worker], motion, &random, out ) )
		return lmbError_Set( error, lmb_statusNumerical, "\"%s\": the plant's forces are not finite",
		                     out->name );
	if ( pulses && index % 2 == 1 )
		AddPulse( making, &random, index, out );
	return lmbPlant_Integrate( pipeline->plants[worker], lmb_inputHeld, out, error );
}

/* Allocation is in order, before the threads start. */
static lmbStatus AllocateMotions( const Making *making, lmbError *error )
{
	static const char *const kinds[] = { "torques", "reaches", "swings" };
	lmbTrajectories *set = making->set;
	for ( int i = 0; i < set->count; ++i )
	{
		bool pulses = making->test == lmb_limbTestPulse;
		const lmbLimbProjectMotion *motion = MotionOf( making, i );
		char name[128];
		double duration =
		    making->test < 0 && !isnan( motion->duration ) ? motion->duration : making->duration;
		int samples = (int)floor( duration * making->rate + 0.5 ) + ( making->test < 0 ? 0 : 1 );
		snprintf( name, sizeof( name ), "%s-%s-%03d%s",
		          making->test < 0 ? "train" : lmbLimbTest_Name( (lmbLimbTestKind)making->test ),
		          pulses && lmbLimbMotion_CanReach( making->pipeline->plant ) ? kinds[lmb_limbMotionReaches]
		                                                                      : kinds[motion->kind],
		          ( pulses ? i / 2 : i ) + 1, pulses && i % 2 == 1 ? lmbLimbPulseMark : "" );
		LMB_TRY( lmbTrajectories_Allocate( set, i, name, samples > 2 ? samples : 2, 1.0 / making->rate, true,
		                                   true, error ) );
	}
	return lmb_statusOk;
}

static lmbStatus NameColumns( lmbTrajectories *set, const lmbPlant *plant, lmbError *error )
{
	set->hold = lmb_inputHeld;
	for ( int i = 0; i < plant->dofCount; ++i )
	{
		set->slides[i] = plant->slides[i];
		set->turns[i] = plant->turns[i];
		if ( ( set->dofNames[i] = lmbArena_String( &set->arena, plant->dofNames[i] ) ) == NULL )
			return lmbError_Memory( error );
	}
	for ( int i = 0; i < plant->inputCount; ++i )
		if ( ( set->inputNames[i] = lmbArena_String( &set->arena, plant->inputNames[i] ) ) == NULL )
			return lmbError_Memory( error );
	return lmb_statusOk;
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

/* What a test is called in files; -1 is the training. */
static const char *SetName( int test )
{
	return test < 0 ? "train" : lmbLimbTest_Name( (lmbLimbTestKind)test );
}

static lmbStatus FillSet( Making *making, lmbError *error )
{
	const lmbLimbPipeline *pipeline = making->pipeline;
	LMB_TRY( NameColumns( making->set, pipeline->plant, error ) );
	LMB_TRY( AllocateMotions( making, error ) );
	return lmbJob_ForEach( &pipeline->stages.job, making->set->count, MakeMotion, making, error );
}

/* Measured angles: noise, and nothing else known. */
static void Measure( const Making *making )
{
	const lmbLimbPipeline *pipeline = making->pipeline;
	double degrees = pipeline->project->noise;
	for ( int i = 0; i < making->set->count && degrees > 0.0; ++i )
	{
		lmbTrajectory *item = &making->set->items[i];
		lmbRandom random = lmbRandom_Seed( pipeline->stages.job.seed, 0x6d65617375726564 + (uint64_t)i );
		int n = making->set->dofCount;
		for ( int k = 0; k < item->sampleCount * n; ++k )
		{
			double draw = radiansPerDegree * degrees * lmbRandom_Normal( &random );
			item->positions[k] += making->set->slides[k % n] ? 0.0 : draw;
		}
		item->velocities = item->accelerations = NULL;
	}
}

static lmbStatus MakeSet( lmbLimbPipeline *pipeline, int test, json_t *facts, lmbError *error )
{
	const lmbLimbProject *project = pipeline->project;
	Making making = { .pipeline = pipeline, .test = test, .rate = project->rate };
	making.stream = (uint64_t)( test + 1 ) * 1000000; /* more than motions.train can ask for */
	making.duration = test < 0 ? project->duration : project->testDuration;
	making.rate *= test == lmb_limbTestHalfRate ? 0.5 : test == lmb_limbTestDoubleRate ? 2.0 : 1.0;
	int count = project->testMotions;
	for ( int i = 0; test < 0 && i < project->motionCount; ++i )
		count = ( i == 0 ? 0 : count ) + project->motions[i].count;
	LMB_TRY( lmbTrajectories_New( pipeline->plant->dofCount, pipeline->plant->inputCount, count, &making.set,
	                              error ) );
	lmbStatus status = FillSet( &making, error );
	if ( status == lmb_statusOk && test < 0 )
		Measure( &making );
	if ( status == lmb_statusOk )
		status = SaveSet( pipeline, making.set, SetName( test ), error );
	json_int_t samples = 0;
	for ( int i = 0; i < count && status == lmb_statusOk; ++i )
		samples += making.set->items[i].sampleCount;
	const char *key = test < 0 ? "motions" : "test_motions";
	json_object_set_new( facts, key,
	                     json_integer( json_integer_value( json_object_get( facts, key ) ) + count ) );
	if ( test < 0 )
		json_object_set_new( facts, "samples", json_integer( samples ) );
	lmbTrajectories_Free( making.set );
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
