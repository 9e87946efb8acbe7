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

/* Returns from the calling function when the expression is not lmb_statusOk. */
#define LMB_TRY( expression )                                                                                \
	do                                                                                                       \
	{                                                                                                        \
		lmbStatus lmbTryStatus = ( expression );                                                             \
		if ( lmbTryStatus != lmb_statusOk )                                                                  \
			return lmbTryStatus;                                                                             \
	} while ( 0 )

#endif
