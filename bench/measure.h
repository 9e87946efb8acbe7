/* What all benches share: times, limits of the machine, rows. */
#ifndef LMB_BENCH_MEASURE_H
#define LMB_BENCH_MEASURE_H

#include "base/arena.h"
#include "bench.h"
#include "loops.h"
#include "runtime/kernels/kernels.h"

/* How memory is walked. */
typedef enum lmbWalk
{
	lmb_walkRead, /* sums */
	lmb_walkMove  /* x <- s x + x in place; counts twice */
} lmbWalk;

enum
{
	lmbKnownBandwidths = 64
};

typedef struct lmbBench
{
	const lmbBenchDef *def;
	const lmbJob *job;
	const lmbKernels *kernels;
	const lmbLoops *loops;
	lmbArena arena;        /* until the end of the run */
	unsigned char *stream; /* (streamBytes) other work */
	size_t streamBytes;
	double clock;                  /* us that reading the clock takes */
	double multiplyAdds, products; /* a us: of floats, of 16 bits with a 32-bit sum */
	struct
	{
		size_t bytes;
		lmbWalk walk;
		bool cold;
		double rate;
	} bandwidths[lmbKnownBandwidths];
	int bandwidthCount;
	json_t *rows, *comparisons; /* of the bench that runs */
} lmbBench;

/* What is timed. */
typedef struct lmbBenchTask
{
	void ( *run )( void *context );
	void *context;
	int samples; /* asked for; fewer when quick */
	int repeats; /* runs in each sample, >= 1; 1 when cold */
	bool cold;   /* other work streams memory before each sample */
} lmbBenchTask;

/* Microseconds of a run. Typical is the tenth quantile: what the machine does when others leave it alone. */
typedef struct lmbBenchTimes
{
	double typical, least, median;
	int samples;
} lmbBenchTimes;

/* What a run does, to be held against what the machine can. Zeros: not said. */
typedef struct lmbBenchCost
{
	double items;      /* vertices, characters */
	double bytes;      /* read and written */
	size_t workingSet; /* what is touched in all until the same bytes come again */
	lmbWalk walk;
	bool cold;
	double multiplyAdds; /* of floats */
	double products;     /* of 16-bit numbers, summed */
} lmbBenchCost;

double lmbBench_Clock( void ); /* us of this thread */
/* The machine's limits, once, into bench. */
lmbStatus lmbBench_MeasureMachine( lmbBench *bench, lmbError *error );
/* Model name of the processor, or what kind it is. */
void lmbBench_Processor( char *out, size_t capacity );
/* Bytes a microsecond over so much memory; memory (Nullable: own) is used and overwritten. 0: no memory. */
double lmbBench_Bandwidth( lmbBench *bench, float *memory, size_t bytes, lmbWalk walk, bool cold );
void lmbBench_Stream( lmbBench *bench );

int lmbBench_Samples( const lmbBench *bench, int wanted );
lmbStatus lmbBench_Time( lmbBench *bench, const lmbBenchTask *task, lmbBenchTimes *times, lmbError *error );
/* From samples (us, sorted in place), without the clock's own time. */
lmbBenchTimes lmbBenchTimes_From( const lmbBench *bench, double *samples, int count );

void lmbBench_Row( lmbBench *bench, const char *name, const lmbBenchTimes *times, const lmbBenchCost *cost );
/* A ratio that is to reach target (0: none); value 0: could not be measured, which note then says. */
void lmbBench_Compare( lmbBench *bench, const char *name, double value, double target, const char *note );

/* The benches. */
typedef lmbStatus lmbBenchRun( lmbBench *bench, lmbError *error );
lmbBenchRun lmbBench_Springs, lmbBench_Euler, lmbBench_Step, lmbBench_Crowd, lmbBench_Network, lmbBench_Limb;

#endif
