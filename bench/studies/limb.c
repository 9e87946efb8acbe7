/* How well models of a limb do on a planar two-segment arm in closed form (0.2 N m s/rad, no gravity):
 *   limb [--threads N] [--seed N] [--trajectories N] [--noise DEGREES] [NAME=VALUE ...] MODEL ...
 * MODEL: lagrangian, affine, plain, gru, lstm; NAME=VALUE sets what comes after it (layers, width, potential,
 * invariant, find, friction, adam, lbfgs, window, cutoff). Teaches on that many motions of 5 s at 100 Hz,
 * then prints the error of the angles in degrees (RMS over the joints) 1, 5 and 10 s after the start of
 * open-loop replay by the runtime with RK4, the median over 40 motions each; how many diverged (above 180
 * degrees); and the pooled error of the elbow's interaction torque while a pulse acts at the shoulder. With
 * noise, the angles taught are noisy and no speeds and accelerations are given. */
#include "../../tests/limb/closed_arm.h"
#include "base/files.h"
#include "limb/train.h"

#include <stdio.h>

enum
{
	tests = 4,
	motions = 40,
	testSamples = 1001
};

static const ClosedArm arm = { .viscosity = 0.2 };
static const char *const testNames[tests] = { "held out", "new velocities", "new postures", "pulse" };

typedef struct Bench
{
	lmbJob job;
	int trajectories;
	double noise; /* rad */
	double lastTold;
	lmbTrajectories *sets[tests];
} Bench;

static void Tell( void *context, const char *unit, double done, double total, const char *detail )
{
	Bench *bench = context;
	if ( lmbClock_Seconds() - bench->lastTold < 10.0 )
		return;
	bench->lastTold = lmbClock_Seconds();
	fprintf( stderr, "  %.0f of %.0f %s, %s\n", done, total, unit, detail );
}

static void Note( void *context, const char *line )
{
	(void)context;
	fprintf( stderr, "  %s\n", line );
}

/* M_21 q1'' + (C q')_2 of the true arm. */
static double Interaction( const double *q, const double *v, const double *a )
{
	double m[4];
	ClosedArm_Mass( q, m );
	return m[2] * a[0] + armMass[1] * armLength * armCentre[1] * sin( q[1] ) * v[0] * v[0];
}

typedef struct Score
{
	double errors[3][motions];
	int diverged;
	double interactionOff, interactionTrue; /* sums of squares */
} Score;

static int Ascending( const void *a, const void *b )
{
	double x = *(const double *)a, y = *(const double *)b;
	return ( x > y ) - ( x < y );
}

static void Judge( lmbLimbBody *body, bool recurrent, const lmbTrajectory *truth, int index, Score *score )
{
	lmbLimbBody_Start( body, truth->positions, truth->velocities );
	bool diverged = false;
	for ( int s = 0; s + 1 < truth->sampleCount; ++s )
	{
		double q[2], v[2], a[2];
		if ( s >= 200 && s < 220 && !recurrent )
		{
			lmbLimbBody_State( body, q, v );
			lmbLimbBody_Acceleration( body, q, v, truth->inputs + 2 * s, a );
			double real = Interaction( truth->positions + 2 * s, truth->velocities + 2 * s,
			                           truth->accelerations + 2 * s );
			score->interactionOff += pow( Interaction( q, v, a ) - real, 2.0 );
			score->interactionTrue += real * real;
		}
		lmbStatus status = lmbLimbBody_Step( body, truth->inputs + 2 * s, NULL, truth->step );
		lmbLimbBody_State( body, q, v );
		double off = hypot( q[0] - truth->positions[2 * s + 2], q[1] - truth->positions[2 * s + 3] );
		off *= 57.29577951308232 / sqrt( 2.0 );
		diverged = diverged || status != lmb_statusOk || !( off < 180.0 );
		if ( s + 1 == 100 || s + 1 == 500 || s + 1 == 1000 )
			score->errors[s + 1 == 100 ? 0 : s + 1 == 500 ? 1 : 2][index] = off;
	}
	score->diverged += diverged ? 1 : 0;
}

static void Print( const char *test, bool recurrent, Score *score )
{
	double median[3], mean = 0.0;
	for ( int i = 0; i < motions; ++i )
		mean += score->errors[2][i] / motions;
	for ( int k = 0; k < 3; ++k )
	{
		qsort( score->errors[k], motions, sizeof( double ), Ascending );
		median[k] = 0.5 * ( score->errors[k][motions / 2 - 1] + score->errors[k][motions / 2] );
	}
	printf( "| %-14s | %8.4f | %8.4f | %8.4f | %8.4f | %2d ", test, median[0], median[1], median[2], mean,
	        score->diverged );
	if ( recurrent )
		printf( "| %7s |\n", "" );
	else
		printf( "| %6.3f%% |\n", 100.0 * sqrt( score->interactionOff / score->interactionTrue ) );
	fflush( stdout );
}

static int JudgeFile( const Bench *bench, const char *path )
{
	lmbArena arena = { 0 };
	lmbError error = { 0 };
	char *data;
	size_t size;
	const char *problem = NULL;
	lmbLimb *model;
	lmbLimbBody *body;
	if ( lmbFile_Read( path, &arena, &data, &size, &error ) != lmb_statusOk )
		return fprintf( stderr, "limb: %s\n", error.message ), 1;
	size_t modelSize = lmbLimb_Size( data, size );
	if ( lmbLimb_Load( data, size, lmbArena_New( &arena, 1, modelSize ), modelSize, &model, &problem ) !=
	     lmb_statusOk )
		return fprintf( stderr, "limb: %s: %s\n", path, problem ), 1;
	lmbLimbDef def = lmbDefaultLimbDef( model );
	bool recurrent = lmbLimb_Info( model ).kind >= lmb_limbGru;
	size_t bodySize = lmbLimbBody_Size( model, &def );
	if ( lmbLimbBody_Place( model, &def, lmbArena_New( &arena, 1, bodySize ), bodySize, &body ) !=
	     lmb_statusOk )
		return fprintf( stderr, "limb: %s: no body\n", path ), 1;
	printf( "| test           |      1 s |      5 s |     10 s | mean 10s | div | interaction |\n" );
	for ( int t = 0; t < tests; ++t )
	{
		Score score = { 0 };
		for ( int i = 0; i < motions; ++i )
			Judge( body, recurrent, &bench->sets[t]->items[i], i, &score );
		Print( testNames[t], recurrent, &score );
	}
	lmbArena_Free( &arena );
	return 0;
}

static int Teach( Bench *bench, const lmbLimbTrainDef *def )
{
	lmbTrajectories *set = ClosedArm_Set( &arm, &taughtStarts, 0.0, bench->trajectories, 500, 0.01,
	                                      bench->noise == 0.0, 1 + bench->job.seed );
	lmbLimbTrainReport report;
	lmbError error = { 0 };
	char path[64];
	snprintf( path, sizeof( path ), "bench-limb-%d.safetensors", (int)def->kind );
	lmbRandom random = lmbRandom_Seed( 77, bench->job.seed );
	for ( int i = 0; i < set->count; ++i )
		for ( int k = 0; k < 1000; ++k )
			set->items[i].positions[k] += bench->noise * lmbRandom_Normal( &random );
	lmbStatus status = lmbLimb_Train( set, def, &bench->job, path, &report, &error );
	ClosedArm_FreeSet( set );
	if ( status != lmb_statusOk )
		return fprintf( stderr, "limb: %s\n", error.message ), 1;
	printf( "\n%zu parameters, %.0f s, %d samples, loss %.3g (stopping %.3g)%s\n", report.parameterCount,
	        report.seconds, 500 * bench->trajectories, report.trainLoss, report.stopLoss,
	        report.usedInvariance ? ", without the base angle" : "" );
	int failed = JudgeFile( bench, path );
	remove( path );
	return failed;
}

static bool Set( lmbLimbTrainDef *def, const char *name, double value )
{
	int whole = (int)value;
	if ( strcmp( name, "layers" ) == 0 )
		def->hiddenLayers = whole;
	else if ( strcmp( name, "width" ) == 0 )
		def->width = whole;
	else if ( strcmp( name, "potential" ) == 0 )
		def->potential = whole != 0;
	else if ( strcmp( name, "friction" ) == 0 )
		def->frictionNetwork = whole != 0;
	else if ( strcmp( name, "invariant" ) == 0 )
		def->invariantBase = whole != 0;
	else if ( strcmp( name, "find" ) == 0 )
		def->findInvariance = whole != 0;
	else if ( strcmp( name, "adam" ) == 0 )
		def->adamEpochs = whole;
	else if ( strcmp( name, "lbfgs" ) == 0 )
		def->lbfgsIterations = whole;
	else if ( strcmp( name, "window" ) == 0 )
		def->window = value;
	else if ( strcmp( name, "cutoff" ) == 0 )
		def->cutoff = value;
	else if ( strcmp( name, "method" ) == 0 )
		def->method = (lmbLimbMethod)whole;
	else
		return false;
	return true;
}

/* One argument: a setting, or a model to teach with the settings so far. */
static int Do( Bench *bench, const char *argument, const char **settings, int *settingCount )
{
	static const char *const kinds[] = { "lagrangian", "affine", "plain", "gru", "lstm" };
	if ( strchr( argument, '=' ) != NULL && *settingCount < 16 )
	{
		settings[( *settingCount )++] = argument;
		return 0;
	}
	for ( int k = 0; k < 5; ++k )
	{
		if ( strcmp( argument, kinds[k] ) != 0 )
			continue;
		lmbLimbTrainDef def = lmbDefaultLimbTrainDef( (lmbLimbKind)k );
		def.noise = bench->noise;
		for ( int i = 0; i < *settingCount; ++i )
		{
			char name[16] = "";
			double value = 0.0;
			if ( sscanf( settings[i], "%15[a-z]=%lf", name, &value ) != 2 || !Set( &def, name, value ) )
				return fprintf( stderr, "limb: no setting %s\n", settings[i] ), 1;
		}
		printf( "\n%s", argument );
		for ( int i = 0; i < *settingCount; ++i )
			printf( " %s", settings[i] );
		return Teach( bench, &def );
	}
	return fprintf( stderr, "limb: no model %s\n", argument ), 1;
}

int main( int argc, char **argv )
{
	Bench bench = { .job = { .threads = 1, .progress = Tell, .note = Note }, .trajectories = 200 };
	const char *settings[16];
	int settingCount = 0, failed = 0;
	bench.job.context = &bench;
	for ( int t = 0; t < tests; ++t )
		bench.sets[t] =
		    ClosedArm_Set( &arm,
		                   t == 1   ? &fasterStarts
		                   : t == 2 ? &anyStarts
		                            : &taughtStarts,
		                   t == 3 ? 10.0 : 0.0, motions, testSamples, 0.01, true, 1000 + (uint64_t)t );
	for ( int i = 1; i < argc && !failed; ++i )
	{
		if ( strcmp( argv[i], "--threads" ) == 0 && i + 1 < argc )
			bench.job.threads = atoi( argv[++i] );
		else if ( strcmp( argv[i], "--seed" ) == 0 && i + 1 < argc )
			bench.job.seed = strtoull( argv[++i], NULL, 10 );
		else if ( strcmp( argv[i], "--trajectories" ) == 0 && i + 1 < argc )
			bench.trajectories = atoi( argv[++i] );
		else if ( strcmp( argv[i], "--noise" ) == 0 && i + 1 < argc )
			bench.noise = atof( argv[++i] ) / 57.29577951308232;
		else
			failed = Do( &bench, argv[i], settings, &settingCount );
	}
	for ( int t = 0; t < tests; ++t )
		ClosedArm_FreeSet( bench.sets[t] );
	return failed;
}
