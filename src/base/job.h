/* What a long computation is told and tells: threads, seed, a request to stop, progress. */
#ifndef LMB_BASE_JOB_H
#define LMB_BASE_JOB_H

#include "base/error.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Zero is a valid job: one thread, seed 0, silent, never cancelled. */
typedef struct lmbJob
{
	int threads; /* 0 counts as 1 */
	uint64_t seed;
	const atomic_bool *cancelled; /* Nullable: set from a signal handler to stop soon and cleanly */
	/* Nullable. Called from one thread at a time. done and total in the stage's own unit ("poses",
	 * "steps"); unit names it; detail is one short phrase, e.g. the loss, or "". */
	void ( *progress )( void *context, const char *unit, double done, double total, const char *detail );
	void ( *note )( void *context, const char *line ); /* Nullable: one line for the user's log */
	void *context;
} lmbJob;

bool lmbJob_Cancelled( const lmbJob *job ); /* job may be NULL: false */
void lmbJob_Progress( const lmbJob *job, const char *unit, double done, double total, const char *detail );
void lmbJob_Note( const lmbJob *job, const char *format, ... ) __attribute__( ( format( printf, 2, 3 ) ) );

/* The status and message of a job that was cancelled. */
lmbStatus lmbJob_CancelledStatus( lmbError *error );

/* Calls task( context, index, worker ) for index 0 .. count - 1, in order of start, on job->threads
 * threads (worker 0 .. threads - 1). Stops handing out work at the first failure or on
 * cancellation; returns the failure of the lowest index. The task's error is its own to fill.
 * Tasks must not depend on one another. */
typedef lmbStatus lmbTask( void *context, int index, int worker, lmbError *error );
lmbStatus lmbJob_ForEach( const lmbJob *job, int count, lmbTask *task, void *context, lmbError *error );

/* Seconds of a monotonic clock. */
double lmbClock_Seconds( void );

#endif
