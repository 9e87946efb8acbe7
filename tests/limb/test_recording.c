/* From tables to trajectories, and what the summary finds: known signals against their closed forms, and the
 * real recordings. */
#include "check.h"

#include "base/files.h"
#include "base/random.h"
#include "limb/recording.h"

#include <stdlib.h>
#include <unistd.h>

static lmbError error;
static char path[512];
static char notes[8192];

/* Stand-ins where the trajectories' own file is not in the library; the library's win. */
__attribute__( ( weak ) ) lmbStatus lmbTrajectories_New( int dofCount, int inputCount, int count,
                                                         lmbTrajectories **out, lmbError *problem )
{
	(void)problem;
	lmbTrajectories *set = calloc( 1, sizeof( *set ) );
	set->dofCount = dofCount;
	set->inputCount = inputCount;
	set->count = count;
	set->dofNames = LMB_NEW( &set->arena, const char *, dofCount );
	set->inputNames = LMB_NEW( &set->arena, const char *, inputCount );
	set->slides = LMB_NEW( &set->arena, bool, dofCount );
	set->turns = LMB_NEW( &set->arena, bool, dofCount );
	set->items = LMB_NEW( &set->arena, lmbTrajectory, count );
	*out = set;
	return lmb_statusOk;
}

__attribute__( ( weak ) ) lmbStatus lmbTrajectories_Allocate( lmbTrajectories *set, int index,
                                                              const char *name, int sampleCount, double step,
                                                              bool velocities, bool accelerations,
                                                              lmbError *problem )
{
	(void)problem;
	size_t n = (size_t)sampleCount * (size_t)set->dofCount;
	lmbTrajectory *item = &set->items[index];
	item->name = lmbArena_String( &set->arena, name );
	item->sampleCount = sampleCount;
	item->step = step;
	item->positions = LMB_NEW( &set->arena, double, n );
	item->velocities = velocities ? LMB_NEW( &set->arena, double, n ) : NULL;
	item->accelerations = accelerations ? LMB_NEW( &set->arena, double, n ) : NULL;
	item->inputs = set->inputCount > 0
	                   ? LMB_NEW( &set->arena, double, (size_t)sampleCount *(size_t)set->inputCount )
	                   : NULL;
	return lmb_statusOk;
}

__attribute__( ( weak ) ) void lmbTrajectories_Free( lmbTrajectories *set )
{
	if ( set == NULL )
		return;
	lmbArena_Free( &set->arena );
	free( set );
}

static void Note( void *context, const char *line )
{
	(void)context;
	strncat( notes, line, sizeof( notes ) - strlen( notes ) - 2 );
	strcat( notes, "\n" );
}

static const lmbJob job = { .note = Note };

static lmbTrajectories *ReadFile( const char *file, const lmbRecordingDef *def )
{
	lmbTrajectories *set = NULL;
	memset( &error, 0, sizeof( error ) );
	notes[0] = 0;
	lmbStatus status = lmbRecording_Read( &file, 1, def, &job, &set, &error );
	CHECK_INT( status, error.status );
	CHECK( ( set == NULL ) == ( status != lmb_statusOk ) );
	return set;
}

/* A text that grows, as a file. */
static FILE *Begin( void )
{
	snprintf( path, sizeof( path ), "%s/recording-%ld.csv", LMB_TEST_BUILD, (long)getpid() );
	FILE *stream = fopen( path, "wb" );
	CHECK_OR_STOP( stream != NULL );
	return stream;
}

static lmbTrajectories *End( FILE *stream, const lmbRecordingDef *def )
{
	lmbRecordingDef standard = lmbDefaultRecordingDef();
	CHECK_INT( fclose( stream ), 0 );
	lmbTrajectories *set = ReadFile( path, def != NULL ? def : &standard );
	unlink( path );
	return set;
}

static lmbTrajectories *ReadText( const char *text, const lmbRecordingDef *def )
{
	FILE *stream = Begin();
	fputs( text, stream );
	return End( stream, def );
}

static void Refuse( const char *text, const lmbRecordingDef *def, lmbStatus status, const char *message )
{
	lmbTrajectories *set = ReadText( text, def );
	CHECK_INT( error.status, status );
	CHECK_CONTAINS( error.message, message );
	lmbTrajectories_Free( set );
}

/* Two sines of 1 and 3 Hz. */
static double Signal( double t )
{
	return 0.8 * sin( 2.0 * M_PI * t ) + 0.3 * cos( 6.0 * M_PI * t );
}

static double WorstOff( const lmbTrajectory *item, int dofs, double start )
{
	double worst = 0.0;
	for ( int i = 0; i < item->sampleCount; ++i )
		worst = fmax( worst,
		              fabs( item->positions[(size_t)i * (size_t)dofs] - Signal( start + i * item->step ) ) );
	return worst;
}

/* 100 Hz with stamps off by up to 3 ms. The error of a fit of degree 5 is about x^(6) h^6 / 6!: with 3 Hz and
 * a reach of 40 ms, 0.3 * 18.8^6 * 0.04^6 / 720 = 7e-5 times a factor below 1. The nearest sample would be
 * off by 3 ms * 10 rad/s = 3e-2. */
static void Test_Jitter( void **state )
{
	(void)state;
	lmbRandom random = lmbRandom_Seed( checkSeed = 4, 1 );
	FILE *stream = Begin();
	fputs( "time,q1,tau1\n", stream );
	for ( int i = 0; i < 1000; ++i )
	{
		double t = 2.0 + 0.01 * i + 0.006 * ( lmbRandom_Uniform( &random ) - 0.5 );
		if ( i == 0 || i == 999 )
			t = 2.0 + 0.01 * i;
		fprintf( stream, "%.15g,%.17g,%.17g\n", t, Signal( t ), 3.0 * t );
	}
	lmbTrajectories *set = End( stream, NULL );
	CHECK_OR_STOP( set != NULL );
	CHECK_INT( set->count, 1 );
	CHECK_INT( set->items[0].sampleCount, 1000 );
	CHECK_NEAR( set->items[0].step, 0.01, 0.0 ); /* the clock means 100 Hz */
	double worst = WorstOff( &set->items[0], 1, 2.0 );
	printf( "jitter of 3 ms at 100 Hz: off by at most %.2g rad\n", worst );
	CHECK( worst < 7e-5 );
	for ( int i = 0; i < 1000; ++i ) /* a straight input is straight between its stamps: rounding only */
		CHECK_NEAR( set->items[0].inputs[i], 3.0 * ( 2.0 + 0.01 * i ), 1e-12 );
	CHECK_CONTAINS( notes, "resampled at a constant step" );
	lmbTrajectories_Free( set );
}

/* Stamps rounded to milliseconds at 120 Hz are regular: values stay bit for bit. */
static void Test_RoundedStamps( void **state )
{
	(void)state;
	FILE *stream = Begin();
	fputs( "t (ms);q1 (deg)\n", stream );
	for ( int i = 0; i < 600; ++i )
		fprintf( stream, "%.0f;%d,5\n", floor( 1000.0 * i / 120.0 + 0.5 ), i % 90 );
	lmbTrajectories *set = End( stream, NULL );
	CHECK_OR_STOP( set != NULL );
	CHECK_INT( set->items[0].sampleCount, 600 );
	CHECK_NEAR( set->items[0].step, 1.0 / 120.0,
	            0.001 / 599 ); /* both ends are rounded by half a millisecond */
	CHECK( strcmp( set->dofNames[0], "q1" ) == 0 );
	double factor = acos( -1.0 ) / 180.0;
	for ( int i = 0; i < 600; ++i )
		CHECK_NEAR( set->items[0].positions[i], ( i % 90 + 0.5 ) * factor, 0.0 );
	CHECK( strstr( notes, "resampled" ) == NULL );
	lmbTrajectories_Free( set );
}

/* One lost sample is no rounding: it is interpolated. Twenty are a gap: the recording is cut. */
static void Test_Gaps( void **state )
{
	(void)state;
	FILE *stream = Begin();
	fputs( "time,q1\n", stream );
	for ( int i = 0; i < 600; ++i )
		if ( i != 100 && !( i >= 300 && i < 320 ) )
			fprintf( stream, "%.2f,%.17g\n", 0.01 * i, Signal( 0.01 * i ) );
	lmbTrajectories *set = End( stream, NULL );
	CHECK_OR_STOP( set != NULL && set->count == 2 );
	CHECK_INT( set->items[0].sampleCount, 300 );
	CHECK_INT( set->items[1].sampleCount, 280 );
	CHECK_NEAR( WorstOff( &set->items[0], 1, 0.0 ), 0.0, 7e-5 );
	CHECK_NEAR( WorstOff( &set->items[1], 1, 3.2 ), 0.0, 1e-13 ); /* rounding of the stamps */
	CHECK_CONTAINS( set->items[1].name, "#2" );
	CHECK_CONTAINS( notes, "1 gaps longer than 0.05 s, the longest 0.21 s" );
	lmbTrajectories_Free( set );
	/* The same with empty cells, in one of two columns. */
	stream = Begin();
	fputs( "time,q1,q2\n", stream );
	for ( int i = 0; i < 600; ++i )
		if ( i == 100 || ( i >= 300 && i < 320 ) )
			fprintf( stream, "%.2f,,1\n", 0.01 * i );
		else
			fprintf( stream, "%.2f,%.17g,%d\n", 0.01 * i, Signal( 0.01 * i ), i % 2 );
	lmbRecordingDef def = lmbDefaultRecordingDef();
	set = End( stream, &def );
	CHECK_OR_STOP( set != NULL && set->count == 2 );
	CHECK_INT( set->items[0].sampleCount, 300 );
	CHECK_NEAR( WorstOff( &set->items[0], 2, 0.0 ), 0.0, 7e-5 );
	CHECK_CONTAINS( notes, "1 missing values are interpolated" );
	lmbTrajectories_Free( set );
}

static void Test_Disorder( void **state )
{
	(void)state;
	/* Two rows swapped, one stamp twice; then the clock begins anew. */
	FILE *stream = Begin();
	fputs( "time,q1\n", stream );
	for ( int i = 0; i < 200; ++i )
	{
		int k = i == 50 ? 51 : i == 51 ? 50 : i;
		fprintf( stream, "%.2f,%.17g\n", 0.01 * k, Signal( 0.01 * k ) );
		if ( i == 120 )
			fprintf( stream, "%.2f,%.17g\n", 0.01 * k, Signal( 0.01 * k ) );
	}
	for ( int i = 0; i < 100; ++i )
		fprintf( stream, "%.2f,%.17g\n", 0.01 * i, Signal( 0.01 * i ) );
	lmbTrajectories *set = End( stream, NULL );
	CHECK_OR_STOP( set != NULL && set->count == 2 );
	CHECK_INT( set->items[0].sampleCount, 200 );
	CHECK_INT( set->items[1].sampleCount, 100 );
	CHECK_NEAR( WorstOff( &set->items[0], 1, 0.0 ), 0.0, 7e-5 );
	CHECK_CONTAINS( notes, "runs backwards 2 times, first in line 53" );
	CHECK_CONTAINS( notes, "1 time stamps are there twice" );
	lmbTrajectories_Free( set );
}

static void Test_OtherRate( void **state )
{
	(void)state;
	FILE *stream = Begin();
	fputs( "time,q1,u1\n", stream );
	for ( int i = 0; i <= 1000; ++i ) /* a pulse of 1 from 0.4 to 0.405 s */
		fprintf( stream, "%.3f,%.17g,%d\n", 0.001 * i, Signal( 0.001 * i ), i >= 400 && i < 405 );
	lmbRecordingDef def = lmbDefaultRecordingDef();
	def.rate = 100.0;
	def.hold = lmb_inputHeld;
	lmbTrajectories *set = End( stream, &def );
	CHECK_OR_STOP( set != NULL && set->items[0].sampleCount == 101 );
	CHECK_INT( set->hold, lmb_inputHeld );
	CHECK_NEAR( WorstOff( &set->items[0], 1, 0.0 ), 0.0, 7e-5 );
	double impulse = 0.0;
	for ( int i = 0; i < 101; ++i )
		impulse += 0.01 * set->items[0].inputs[i];
	CHECK_NEAR( impulse, 0.005, 1e-12 ); /* rounding of a few hundred sums */
	CHECK_NEAR( set->items[0].inputs[40], 0.5, 1e-9 );
	lmbTrajectories_Free( set );
}

/* Noise is not made larger than it is: the fit's gain is at most 1 inside. */
static void Test_Noise( void **state )
{
	(void)state;
	lmbRandom random = lmbRandom_Seed( checkSeed = 8, 1 );
	FILE *stream = Begin();
	fputs( "time,q1\n", stream );
	for ( int i = 0; i < 4000; ++i )
		fprintf( stream, "%.9f,%.17g\n", 0.01 * i + 0.009 * ( lmbRandom_Uniform( &random ) - 0.5 ),
		         0.01 * lmbRandom_Normal( &random ) );
	lmbTrajectories *set = End( stream, NULL );
	CHECK_OR_STOP( set != NULL );
	double sum = 0.0, worst = 0.0;
	for ( int i = 0; i < set->items[0].sampleCount; ++i )
	{
		sum += pow( set->items[0].positions[i], 2.0 );
		worst = fmax( worst, fabs( set->items[0].positions[i] ) );
	}
	double rms = sqrt( sum / set->items[0].sampleCount );
	printf( "noise of 0.01 with near coincident stamps: %.4f after, at most %.4f\n", rms, worst );
	CHECK( rms < 0.01 );
	CHECK( worst < 0.06 ); /* a spline through the samples reaches 0.1 and more here */
	lmbTrajectories_Free( set );
}

static void Test_Angles( void **state )
{
	(void)state;
	FILE *stream = Begin();
	fputs( "time,phi1,phi2,dphi1,dphi2\n", stream );
	for ( int i = 0; i < 200; ++i )
		fprintf( stream, "%.2f,%.15g,%.15g,%.15g,%.15g\n", 0.01 * i, remainder( 0.1 * i, 2 * M_PI ),
		         0.5 * sin( 0.1 * i ), 10.0, 5.0 * cos( 0.1 * i ) );
	lmbRecordingDef def = lmbDefaultRecordingDef();
	def.absolute = true;
	lmbTrajectories *set = End( stream, &def );
	CHECK_OR_STOP( set != NULL );
	CHECK( set->turns[0] );
	CHECK_CONTAINS( notes, "jump by a turn 3 times" );
	for ( int i = 0; i < 200; ++i )
	{
		CHECK_NEAR( set->items[0].positions[2 * i], 0.1 * i, 1e-13 ); /* 15 digits and three turns */
		CHECK_NEAR( set->items[0].positions[2 * i + 1], 0.5 * sin( 0.1 * i ) - 0.1 * i, 1e-13 );
		CHECK_NEAR( set->items[0].velocities[2 * i + 1], 5.0 * cos( 0.1 * i ) - 10.0, 1e-13 );
	}
	lmbTrajectories_Free( set );
}

static void Test_Columns( void **state )
{
	(void)state;
	lmbRecordingDef def = lmbDefaultRecordingDef();
	def.fewestSamples = 2;
	def.positions = "b, a";
	def.inputs = "m*";
	def.degrees = "a";
	lmbTrajectories *set = ReadText( "time,a,m1,b,m2,q\n0,180,1,2,3,9\n1,90,1,2,4,9\n2,0,1,2,5,9\n", &def );
	CHECK_OR_STOP( set != NULL );
	CHECK_INT( set->dofCount, 2 );
	CHECK_INT( set->inputCount, 2 );
	CHECK( strcmp( set->dofNames[0], "b" ) == 0 && strcmp( set->inputNames[1], "m2" ) == 0 );
	CHECK_NEAR( set->items[0].positions[1], M_PI, 1e-15 );
	CHECK_NEAR( set->items[0].inputs[5], 5.0, 0.0 );
	lmbTrajectories_Free( set );
	def = lmbDefaultRecordingDef();
	def.fewestSamples = 2;
	Refuse( "time,x,y\n0,1,2\n1,1,2\n", &def, lmb_statusNotFound,
	        "say which are (positions): the columns are \"time\", \"x\"" );
	Refuse( "q1,q2\n5,2\n4,2\n", &def, lmb_statusNotFound, "the rate of the samples in Hz" );
	Refuse( "time,q1\n1,2\n1,2\n", &def, lmb_statusCorrupt, "column \"time\" never advances" );
	Refuse( "time,q1\n0,1\n1e-30,2\n2e-30,1\n", &def, lmb_statusCorrupt, "say what one unit of the time" );
	Refuse( "time,q1\n12:00:01,1\n12:00:02,2\n", &def, lmb_statusUnsupported,
	        "\"time\" is written as words" );
	def.rate = 1000.0;
	Refuse( "time,q1\n0,1\n1e5,2\n2e5,1\n", &def, lmb_statusInvalidArgument,
	        "3 samples would become 200000001" );
	def.rate = 0.0;
	def.positions = "q3";
	Refuse( "time,q1\n1,2\n2,2\n", &def, lmb_statusNotFound, "no column \"q3\"" );
	def.positions = "q1,q2";
	def.velocities = "v1";
	Refuse( "time,q1,q2,v1\n1,2,3,4\n2,2,3,4\n", &def, lmb_statusInvalidArgument,
	        "1 columns of velocities for 2" );
	def = lmbDefaultRecordingDef();
	Refuse( "time,q1\n0,1\n1,2\n", &def, lmb_statusCorrupt, "no stretch of 16 samples" );
	def.fewestSamples = 2;
	def.rate = 10.0;
	set = ReadText( "q1,q2\n5,2\n4,2\n3,1\n", &def );
	CHECK_OR_STOP( set != NULL );
	CHECK_NEAR( set->items[0].step, 0.1, 1e-15 );
	lmbTrajectories_Free( set );
	def.rate = 0.0;
	Refuse( "time,q1\n0,1\n1,1e300\n2,1\n", &def, lmb_statusCorrupt,
	        "line 3: column \"q1\" is 1e+300; is it a mark for a missing value?" );
	def.rate = -1.0;
	Refuse( "time,q1\n0,1\n1,2\n", &def, lmb_statusInvalidArgument, "rate" );
}

static void Test_RealRecordings( void **state )
{
	(void)state;
	lmbRecordingDef def = lmbDefaultRecordingDef();
	char files[37][512];
	const char *list[37];
	const char *letters = "abcdghlmnoprsuwyz";
	for ( int i = 0; i < 37; ++i )
	{
		if ( i < 20 )
			snprintf( files[i], sizeof( files[i] ), "%s/limb/double_pendulum/swing_%02d.csv", LMB_TEST_SHARED,
			          i );
		else
			snprintf( files[i], sizeof( files[i] ), "%s/limb/two_link_characters/%c.csv", LMB_TEST_SHARED,
			          letters[i - 20] );
		CHECK_SHARED( files[i] );
		list[i] = files[i];
	}
	lmbTrajectories *set = NULL;
	CHECK_INT( lmbRecording_Read( list, 20, &def, NULL, &set, &error ), lmb_statusOk );
	CHECK_OR_STOP( set != NULL );
	CHECK_INT( set->count, 20 );
	CHECK_NEAR( set->items[0].positions[0], 2.615775, 0.0 ); /* bit for bit */
	CHECK_NEAR( set->items[0].velocities[1], -1.410456, 0.0 );
	for ( int i = 0; i < 20; ++i )
	{
		CHECK( set->items[i].sampleCount >= 2660 && set->items[i].accelerations == NULL );
		CHECK_NEAR( set->items[i].step, 0.001, 1e-15 );
	}
	lmbTrajectories_Free( set );
	CHECK_INT( lmbRecording_Read( list + 20, 17, &def, NULL, &set, &error ), lmb_statusOk );
	CHECK_OR_STOP( set != NULL );
	CHECK_INT( set->count, 17 );
	CHECK_INT( set->inputCount, 2 );
	CHECK_INT( set->items[0].sampleCount, 148 );
	CHECK_NEAR( set->items[0].step, 0.04, 1e-15 );
	CHECK_NEAR( set->items[0].accelerations[3], -0.09087723, 0.0 );
	CHECK_NEAR( set->items[0].inputs[2], 2.6803935, 0.0 );
	lmbTrajectories_Free( set );
	/* Different kinds of files at once have different columns. */
	CHECK_INT( lmbRecording_Read( list + 19, 2, &def, NULL, &set, &error ), lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "a.csv: 2 columns of acceleration, but" );
	char file[512];
	snprintf( file, sizeof( file ), "%s/limb/arm26_Kinematics_q.sto", LMB_TEST_SHARED );
	set = ReadFile( file, &def );
	CHECK_OR_STOP( set != NULL );
	CHECK_NEAR( set->items[0].positions[1], 0.25601298 * M_PI / 180.0, 1e-17 ); /* the header says degrees */
	lmbTrajectories_Free( set );
}

/* Finds a suspicion about a column. */
static void Suspects( const lmbRecordingSummary *summary, int column, const char *text )
{
	char all[2048] = "";
	for ( int i = 0; i < summary->columns[column].suspicionCount; ++i )
		snprintf( all + strlen( all ), sizeof( all ) - strlen( all ), "%s\n",
		          summary->columns[column].suspicions[i] );
	CHECK_CONTAINS( all, text );
}

static lmbRecordingSummary *Summarise( FILE *stream )
{
	lmbRecordingDef def = lmbDefaultRecordingDef();
	lmbRecordingSummary *summary = NULL;
	CHECK_INT( fclose( stream ), 0 );
	CHECK_INT( lmbRecording_Summarise( path, &def, &summary, &error ), lmb_statusOk );
	unlink( path );
	CHECK_OR_STOP( summary != NULL );
	return summary;
}

/* Every fault in a column of its own; the sound ones must stay unsuspected. */
static void Test_Suspicions( void **state )
{
	(void)state;
	FILE *stream = Begin();
	fputs( "time,q1,q2,q3,q4,q5,qd1,qd2,qd3,qd4,qd5,tau1,tau2,tau3\n", stream );
	double degree = 180.0 / acos( -1.0 );
	for ( int i = 0; i < 1000; ++i )
	{
		double t = 0.01 * i, s = sin( 3.0 * t ), c = 3.0 * cos( 3.0 * t );
		fprintf( stream, "%.2f,%.9f,%.9f,%.9f,%.9f,%.9f,%.9f,%.9f,%.9f,%.9f,%.9f,%.9f,", t, s, s * degree, s,
		         i == 500 ? s + 0.5 : s, remainder( 5.0 * t, 2 * M_PI ), c, c, c * degree, c, 5.0, 7.0 );
		fprintf( stream, "%.0f,", fmax( -32768, fmin( 32767, 35000 * s ) ) );
		if ( i % 10 != 0 )
			fprintf( stream, "%d", ( i / 100 ) % 2 ); /* an input that steps is sound */
		fputc( '\n', stream );
	}
	lmbRecordingSummary *summary = Summarise( stream );
	CHECK_INT( summary->rowCount, 1000 );
	CHECK( summary->timed && summary->regular );
	CHECK_NEAR( summary->rate, 100.0, 1e-9 );
	CHECK_NEAR( summary->end, 9.99, 1e-12 );
	CHECK_INT( summary->columns[1].suspicionCount, 0 );
	Suspects( summary, 2, "57.3 times faster than its derivative \"qd2\" says: in degrees" );
	Suspects( summary, 8, "57.3 times the derivative of \"q3\": in degrees" );
	CHECK_INT( summary->columns[3].suspicionCount, 0 );
	Suspects( summary, 4, "2 jumps that the samples around do not explain, the largest of 0.5" );
	Suspects( summary, 4, "in line 50" );
	Suspects( summary, 5, "jumps by a full turn 8 times" );
	CHECK_INT( summary->columns[6].suspicionCount, 0 );
	CHECK_INT( summary->columns[7].suspicionCount, 0 );
	CHECK_INT( summary->columns[9].suspicionCount, 0 );
	Suspects( summary, 10, "constant, 5" );
	Suspects( summary, 11, "constant, 7" );
	Suspects( summary, 12, "exactly -32768, the lowest there is" );
	Suspects( summary, 12, "exactly 32767, the highest there is" );
	Suspects( summary, 12, "end of a converter's range" );
	Suspects( summary, 13, "10 % of the values are missing (100)" );
	CHECK_INT( summary->columns[13].suspicionCount, 1 );
	CHECK_INT( summary->columns[13].missing, 100 );
	lmbRecordingSummary_Free( summary );
	/* No speed to compare with; and a speed that belongs to something else. */
	stream = Begin();
	fputs( "time,q1\n", stream );
	for ( int i = 0; i < 100; ++i )
		fprintf( stream, "%.2f,%.6f\n", 0.01 * i, 45.0 * sin( 0.1 * i ) );
	summary = Summarise( stream );
	Suspects( summary, 1, "spans 89.98, which is 14.3 turns" );
	Suspects( summary, 1, "degrees?" );
	lmbRecordingSummary_Free( summary );
	stream = Begin();
	fputs( "time,q1,qd1\n", stream );
	for ( int i = 0; i < 500; ++i )
		fprintf( stream, "%.2f,%.6f,%.6f\n", 0.01 * i, sin( 0.1 * i ), sin( 0.1 * i ) );
	summary = Summarise( stream );
	Suspects( summary, 2, "not the derivative of \"q1\"" );
	lmbRecordingSummary_Free( summary );
}

static void Test_SummaryOfTimes( void **state )
{
	(void)state;
	FILE *stream = Begin();
	fputs( "time,x,word\n0,1,a\n0.01,2,b\n0.02,2,c\n0.02,4,d\n0.031,3,e\n0.9,4,f\n0.91,5,g\n0.905,6,h\n0.92,"
	       "7,i\n",
	       stream );
	lmbRecordingSummary *summary = Summarise( stream );
	CHECK_INT( summary->repeated, 1 );
	CHECK_INT( summary->backwards, 1 );
	CHECK_INT( summary->gapCount, 1 );
	CHECK_NEAR( summary->gapLargest, 0.869, 1e-12 );
	CHECK( !summary->regular && summary->jitterLargest > 0.0 );
	CHECK_INT( summary->columns[1].role, lmb_recordingOther );
	CHECK_INT( summary->columns[2].missing, 9 );
	lmbRecordingSummary_Free( summary );
	stream = Begin();
	fputs( "a,b\n3,1\n3,2\n3,2\n", stream );
	summary = Summarise( stream );
	CHECK( !summary->timed );
	lmbRecordingSummary_Free( summary );
}

/* Sound recordings: nothing may be said against them. */
static void Test_SoundRecordings( void **state )
{
	(void)state;
	const char *letters = "abcdghlmnoprsuwyz";
	const char *arm[] = { "InverseDynamics.sto", "InverseKinematics.mot", "Kinematics_q.sto",
	                      "Kinematics_u.sto", "Kinematics_dudt.sto" };
	lmbRecordingDef def = lmbDefaultRecordingDef();
	for ( int i = 0; i < 42; ++i )
	{
		char file[512];
		if ( i < 20 )
			snprintf( file, sizeof( file ), "%s/limb/double_pendulum/swing_%02d.csv", LMB_TEST_SHARED, i );
		else if ( i < 37 )
			snprintf( file, sizeof( file ), "%s/limb/two_link_characters/%c.csv", LMB_TEST_SHARED,
			          letters[i - 20] );
		else
			snprintf( file, sizeof( file ), "%s/limb/arm26_%s", LMB_TEST_SHARED, arm[i - 37] );
		CHECK_SHARED( file );
		lmbRecordingSummary *summary = NULL;
		CHECK_INT( lmbRecording_Summarise( file, &def, &summary, &error ), lmb_statusOk );
		CHECK_OR_STOP( summary != NULL );
		CHECK( summary->timed && summary->regular );
		CHECK_NEAR( summary->rate, i < 20 ? 1000.0 : i < 37 ? 25.0 : i < 39 ? 120.0 : 1000.0, 0.01 );
		for ( int c = 0; c < summary->columnCount; ++c )
		{
			CHECK( summary->columns[c].role != lmb_recordingOther );
			for ( int k = 0; k < summary->columns[c].suspicionCount; ++k )
			{
				printf( "%s: %s: %s\n", file, summary->columns[c].name, summary->columns[c].suspicions[k] );
				CHECK( summary->columns[c].suspicions[k] == NULL );
			}
		}
		lmbRecordingSummary_Free( summary );
	}
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( Test_Jitter ),     CHECK_TEST( Test_RoundedStamps ),  CHECK_TEST( Test_Gaps ),
	    CHECK_TEST( Test_Disorder ),   CHECK_TEST( Test_OtherRate ),      CHECK_TEST( Test_Noise ),
	    CHECK_TEST( Test_Angles ),     CHECK_TEST( Test_Columns ),        CHECK_TEST( Test_RealRecordings ),
	    CHECK_TEST( Test_Suspicions ), CHECK_TEST( Test_SummaryOfTimes ), CHECK_TEST( Test_SoundRecordings ),
	};
	return CHECK_RUN( tests );
}
