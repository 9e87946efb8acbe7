#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum
{
	sampleMicroseconds = 300 /* what a probe runs for at least, so that the clock's own time is nothing */
};

double lmbBench_Clock( void )
{
	struct timespec time;
	clock_gettime( CLOCK_THREAD_CPUTIME_ID, &time );
	return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

static int CompareDoubles( const void *a, const void *b )
{
	double x = *(const double *)a, y = *(const double *)b;
	return ( x > y ) - ( x < y );
}

lmbBenchTimes lmbBenchTimes_From( const lmbBench *bench, double *samples, int count )
{
	qsort( samples, (size_t)count, sizeof( *samples ), CompareDoubles );
	for ( int i = 0; i < count; ++i )
		samples[i] = samples[i] > bench->clock ? samples[i] - bench->clock : 0.0;
	return ( lmbBenchTimes ){ samples[count / 10], samples[0], samples[count / 2], count };
}

int lmbBench_Samples( const lmbBench *bench, int wanted )
{
	return !bench->def->quick ? wanted : wanted > 50 ? wanted / 10 : wanted < 5 ? wanted : 5;
}

void lmbBench_Stream( lmbBench *bench )
{
	for ( size_t i = 0; i < bench->streamBytes; i += 64 )
		bench->stream[i] = (unsigned char)( bench->stream[i] + 1 );
}

lmbStatus lmbBench_Time( lmbBench *bench, const lmbBenchTask *task, lmbBenchTimes *times, lmbError *error )
{
	int count = lmbBench_Samples( bench, task->samples ), repeats = task->cold ? 1 : task->repeats;
	double *samples = calloc( (size_t)count, sizeof( double ) );
	if ( samples == NULL )
		return lmbError_Memory( error );
	for ( int n = -1; n < count; ++n ) /* the first warms up */
	{
		if ( lmbJob_Cancelled( bench->job ) )
		{
			free( samples );
			return lmbJob_CancelledStatus( error );
		}
		if ( task->cold )
			lmbBench_Stream( bench );
		double begin = lmbBench_Clock();
		for ( int r = 0; r < repeats; ++r )
			task->run( task->context );
		if ( n >= 0 )
			samples[n] = ( lmbBench_Clock() - begin - bench->clock ) / repeats + bench->clock;
	}
	*times = lmbBenchTimes_From( bench, samples, count );
	free( samples );
	return lmb_statusOk;
}

/* The fastest of some runs, us: limits are what the machine can do. */
static double Least( lmbBench *bench, void ( *run )( void * ), void *context, int repeats, bool cold )
{
	double least = 1e30;
	for ( int n = 0; n < 7 && !lmbJob_Cancelled( bench->job ); ++n )
	{
		if ( cold )
			lmbBench_Stream( bench );
		double begin = lmbBench_Clock();
		for ( int r = 0; r < repeats; ++r )
			run( context );
		double time = ( lmbBench_Clock() - begin - bench->clock ) / repeats;
		least = time < least ? time : least;
	}
	return least > 1e-3 ? least : 1e-3;
}

typedef struct Probe
{
	const lmbLoops *loops;
	float *memory;
	size_t count;
	long rounds;
	volatile float sink;
} Probe;

static void RunRead( void *context )
{
	Probe *probe = context;
	probe->sink = probe->loops->read( probe->memory, probe->count );
}

static void RunMove( void *context )
{
	Probe *probe = context;
	probe->loops->move( probe->memory, probe->count, 1e-9f );
}

static void RunMultiply( void *context )
{
	Probe *probe = context;
	probe->sink = probe->loops->multiply( probe->rounds );
}

static void RunProducts( void *context )
{
	Probe *probe = context;
	probe->sink = (float)probe->loops->products( probe->rounds );
}

double lmbBench_Bandwidth( lmbBench *bench, float *memory, size_t bytes, lmbWalk walk, bool cold )
{
	for ( int i = 0; i < bench->bandwidthCount; ++i )
		if ( bench->bandwidths[i].bytes == bytes && bench->bandwidths[i].walk == walk &&
		     bench->bandwidths[i].cold == cold )
			return bench->bandwidths[i].rate;
	size_t count = bytes / sizeof( float ) / 256 * 256;
	Probe probe = { .loops = bench->loops, .count = count < 256 ? 256 : count };
	float *own = memory == NULL ? aligned_alloc( 64, probe.count * sizeof( float ) ) : NULL;
	probe.memory = memory != NULL ? memory : own;
	if ( probe.memory == NULL || bench->bandwidthCount == lmbKnownBandwidths )
	{
		free( own );
		return 0.0;
	}
	for ( size_t i = 0; i < probe.count; ++i )
		probe.memory[i] = 1.0f;
	double moved = (double)probe.count * ( walk == lmb_walkMove ? 8.0 : 4.0 );
	int repeats = cold ? 1 : 1 + (int)( sampleMicroseconds * 2e4 / moved );
	double rate = moved / Least( bench, walk == lmb_walkMove ? RunMove : RunRead, &probe, repeats, cold );
	free( own );
	bench->bandwidths[bench->bandwidthCount].bytes = bytes;
	bench->bandwidths[bench->bandwidthCount].walk = walk;
	bench->bandwidths[bench->bandwidthCount].cold = cold;
	bench->bandwidths[bench->bandwidthCount++].rate = rate;
	return rate;
}

lmbStatus lmbBench_MeasureMachine( lmbBench *bench, lmbError *error )
{
	bench->loops = lmbLoops_Find();
	bench->streamBytes = bench->def->quick ? 8u << 20 : 64u << 20;
	bench->stream = lmbArena_New( &bench->arena, bench->streamBytes, 1 );
	if ( bench->stream == NULL )
		return lmbError_Memory( error );
	double least = 1e30;
	for ( int n = 0; n < 1000; ++n )
	{
		double begin = lmbBench_Clock(), time = lmbBench_Clock() - begin;
		least = time < least ? time : least;
	}
	bench->clock = least;
	Probe probe = { .loops = bench->loops, .rounds = 100000 };
	bench->multiplyAdds = (double)probe.rounds * bench->loops->multipliesOfRound /
	                      Least( bench, RunMultiply, &probe, 1, false );
	if ( bench->loops->products != NULL )
		bench->products = (double)probe.rounds * bench->loops->productsOfRound /
		                  Least( bench, RunProducts, &probe, 1, false );
	return lmb_statusOk;
}

void lmbBench_Processor( char *out, size_t capacity )
{
	char line[256];
	FILE *stream = fopen( "/proc/cpuinfo", "r" );
#if defined( __x86_64__ )
	snprintf( out, capacity, "x86-64" );
#elif defined( __aarch64__ )
	snprintf( out, capacity, "64-bit ARM" );
#else
	snprintf( out, capacity, "unknown" );
#endif
	while ( stream != NULL && fgets( line, sizeof( line ), stream ) != NULL )
	{
		char *colon = strchr( line, ':' );
		if ( strncmp( line, "model name", 10 ) != 0 || colon == NULL || colon[1] == 0 )
			continue;
		line[strcspn( line, "\n" )] = 0;
		snprintf( out, capacity, "%s", colon + 2 );
		break;
	}
	if ( stream != NULL )
		fclose( stream );
}

static void SetNumber( json_t *object, const char *key, double value )
{
	if ( value > 0.0 )
		json_object_set_new( object, key, json_real( value ) );
}

void lmbBench_Row( lmbBench *bench, const char *name, const lmbBenchTimes *times, const lmbBenchCost *cost )
{
	json_t *row = json_object();
	json_object_set_new( row, "name", json_string( name ) );
	json_object_set_new( row, "us", json_real( times->typical ) );
	json_object_set_new( row, "us_least", json_real( times->least ) );
	json_object_set_new( row, "us_median", json_real( times->median ) );
	json_object_set_new( row, "samples", json_integer( times->samples ) );
	SetNumber( row, "ns_per_item", cost->items > 0.0 ? 1e3 * times->typical / cost->items : 0.0 );
	SetNumber( row, "bytes", cost->bytes );
	double byMemory = 0.0, byArithmetic = cost->multiplyAdds / bench->multiplyAdds;
	if ( cost->bytes > 0.0 )
	{
		double rate = lmbBench_Bandwidth( bench, NULL, cost->workingSet, cost->walk, cost->cold );
		byMemory = rate > 0.0 ? cost->bytes / rate : 0.0;
		SetNumber( row, "working_set", (double)cost->workingSet );
		SetNumber( row, "bandwidth_gb_s", 1e-3 * rate );
		SetNumber( row, "gb_s", 1e-3 * cost->bytes / ( times->typical > 0.0 ? times->typical : 1e-3 ) );
	}
	if ( bench->products > 0.0 )
		byArithmetic += cost->products / bench->products;
	SetNumber( row, "multiply_adds", cost->multiplyAdds );
	SetNumber( row, "products", cost->products );
	double bound = byMemory > byArithmetic ? byMemory : byArithmetic;
	if ( bound > 0.0 )
	{
		json_object_set_new( row, "bound", json_string( byMemory > byArithmetic ? "memory" : "arithmetic" ) );
		json_object_set_new( row, "bound_us", json_real( bound ) );
		SetNumber( row, "of_bound", bound / ( times->typical > 0.0 ? times->typical : 1e-3 ) );
	}
	json_array_append_new( bench->rows, row );
	lmbJob_Progress( bench->job, "rows", (double)json_array_size( bench->rows ), 0.0, name );
}

void lmbBench_Compare( lmbBench *bench, const char *name, double value, double target, const char *note )
{
	json_t *row = json_object();
	json_object_set_new( row, "name", json_string( name ) );
	json_object_set_new( row, "times", value > 0.0 ? json_real( value ) : json_null() );
	SetNumber( row, "target", target );
	if ( value > 0.0 && target > 0.0 )
		json_object_set_new( row, "reached", json_boolean( value >= target ) );
	json_object_set_new( row, "note", json_string( note ) );
	json_array_append_new( bench->comparisons, row );
}
