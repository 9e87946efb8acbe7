#include "base/job.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

bool lmbJob_Cancelled( const lmbJob *job )
{
	return job != NULL && job->cancelled != NULL &&
	       atomic_load_explicit( job->cancelled, memory_order_relaxed );
}

void lmbJob_Progress( const lmbJob *job, const char *unit, double done, double total, const char *detail )
{
	if ( job != NULL && job->progress != NULL )
		job->progress( job->context, unit, done, total, detail );
}

void lmbJob_Note( const lmbJob *job, const char *format, ... )
{
	if ( job == NULL || job->note == NULL )
		return;
	char line[1024];
	va_list arguments;
	va_start( arguments, format );
	vsnprintf( line, sizeof( line ), format, arguments );
	va_end( arguments );
	job->note( job->context, line );
}

lmbStatus lmbJob_CancelledStatus( lmbError *error )
{
	return lmbError_Set( error, lmb_statusCancelled,
	                     "stopped on request; run the same command again to go on" );
}

typedef struct Crew
{
	const lmbJob *job;
	int count;
	lmbTask *task;
	void *context;
	pthread_mutex_t mutex;
	int next;
	int failedIndex; /* count while nothing failed */
	lmbStatus status;
	lmbError error;
} Crew;

typedef struct Worker
{
	Crew *crew;
	int index;
} Worker;

static int TakeIndex( Crew *crew )
{
	pthread_mutex_lock( &crew->mutex );
	int index = crew->next;
	if ( crew->failedIndex < crew->count || lmbJob_Cancelled( crew->job ) )
		index = crew->count;
	if ( index < crew->count )
		crew->next += 1;
	pthread_mutex_unlock( &crew->mutex );
	return index;
}

static void *Work( void *argument )
{
	Worker *worker = argument;
	Crew *crew = worker->crew;
	for ( int index = TakeIndex( crew ); index < crew->count; index = TakeIndex( crew ) )
	{
		lmbError error = { 0 };
		lmbStatus status = crew->task( crew->context, index, worker->index, &error );
		if ( status == lmb_statusOk )
			continue;
		pthread_mutex_lock( &crew->mutex );
		if ( index < crew->failedIndex )
		{
			crew->failedIndex = index;
			crew->status = status;
			crew->error = error;
		}
		pthread_mutex_unlock( &crew->mutex );
	}
	return NULL;
}

lmbStatus lmbJob_ForEach( const lmbJob *job, int count, lmbTask *task, void *context, lmbError *error )
{
	int threads = job != NULL && job->threads > 1 ? job->threads : 1;
	if ( threads > count )
		threads = count > 1 ? count : 1;
	Crew crew = { .job = job, .count = count, .task = task, .context = context, .failedIndex = count };
	pthread_mutex_init( &crew.mutex, NULL );
	Worker *workers = calloc( (size_t)threads, sizeof( *workers ) );
	pthread_t *handles = calloc( (size_t)threads, sizeof( *handles ) );
	if ( workers == NULL || handles == NULL )
	{
		free( workers );
		free( handles );
		return lmbError_Memory( error );
	}
	/* A thread that cannot be made leaves its share to the others; the caller's own always works. */
	int started = 1;
	for ( int i = 0; i < threads; ++i )
		workers[i] = ( Worker ){ &crew, i };
	while ( started < threads && pthread_create( &handles[started], NULL, Work, &workers[started] ) == 0 )
		started += 1;
	Work( &workers[0] );
	for ( int i = 1; i < started; ++i )
		pthread_join( handles[i], NULL );
	pthread_mutex_destroy( &crew.mutex );
	free( workers );
	free( handles );
	if ( crew.failedIndex < count )
	{
		if ( error != NULL )
			*error = crew.error;
		return crew.status;
	}
	if ( crew.next < count )
		return lmbJob_CancelledStatus( error );
	return lmb_statusOk;
}

double lmbClock_Seconds( void )
{
	struct timespec now;
	clock_gettime( CLOCK_MONOTONIC, &now );
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
