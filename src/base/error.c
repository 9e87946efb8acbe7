#include "base/error.h"

#undef lmbError_Set
#undef lmbError_Memory

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

lmbStatus lmbError_Set( lmbError *error, lmbStatus status, const char *format, ... )
{
	if ( error == NULL )
		return status;
	error->status = status;
	va_list arguments;
	va_start( arguments, format );
	vsnprintf( error->message, sizeof( error->message ), format, arguments );
	va_end( arguments );
	return status;
}

lmbStatus lmbError_Prefix( lmbError *error, const char *prefix )
{
	if ( error == NULL )
		return lmb_statusOk;
	char old[sizeof( error->message )];
	memcpy( old, error->message, sizeof( old ) );
	size_t used = (size_t)snprintf( error->message, sizeof( error->message ), "%s: ", prefix );
	if ( used < sizeof( error->message ) )
		memccpy( error->message + used, old, 0, sizeof( error->message ) - used );
	error->message[sizeof( error->message ) - 1] = 0;
	return error->status;
}

lmbStatus lmbError_Memory( lmbError *error )
{
	return lmbError_Set( error, lmb_statusOutOfMemory,
	                     "not enough memory; close other programs or make the job smaller" );
}
