/* An error of the tools: a status and one sentence that names the file, the place and the remedy. */
#ifndef LMB_BASE_ERROR_H
#define LMB_BASE_ERROR_H

#include <limber/base.h>

typedef struct lmbError
{
	lmbStatus status;
	char message[1024]; /* UTF-8, always terminated; empty when status is ok */
} lmbError;

/* Sets error and returns status, so that a caller can write `return lmbError_Set( ... )`.
 * error may be NULL. A message longer than the buffer is cut. */
lmbStatus lmbError_Set( lmbError *error, lmbStatus status, const char *format, ... )
    __attribute__( ( format( printf, 3, 4 ) ) );

/* Puts "prefix: " before the message that is there, for a caller that knows the file or the stage. */
lmbStatus lmbError_Prefix( lmbError *error, const char *prefix );

/* No memory: one wording for all callers. */
lmbStatus lmbError_Memory( lmbError *error );

/* The static analyser looks at one file at a time and would think that these may return lmb_statusOk. */
#ifdef __clang_analyzer__
#define lmbError_Set( error, status, ... )                                                                   \
	( (void)lmbError_Set( ( error ), ( status ), __VA_ARGS__ ), ( status ) )
#define lmbError_Memory( error ) ( (void)lmbError_Memory( error ), lmb_statusOutOfMemory )
#endif

/* Returns from the calling function when the expression is not lmb_statusOk. */
#define LMB_TRY( expression )                                                                                \
	do                                                                                                       \
	{                                                                                                        \
		lmbStatus lmbTryStatus = ( expression );                                                             \
		if ( lmbTryStatus != lmb_statusOk )                                                                  \
			return lmbTryStatus;                                                                             \
	} while ( 0 )

#endif
