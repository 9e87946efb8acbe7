#include "base/files.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t fileSizeLimit = (uint64_t)8 << 30;

static lmbStatus FileError( lmbError *error, const char *path, const char *action )
{
	return lmbError_Set( error, lmb_statusIo, "%s: cannot %s: %s", path, action, strerror( errno ) );
}

lmbStatus lmbFile_Read( const char *path, lmbArena *arena, char **data, size_t *size, lmbError *error )
{
	FILE *stream = fopen( path, "rb" );
	if ( stream == NULL )
		return FileError( error, path, "open" );
	struct stat info;
	lmbStatus status = lmb_statusOk;
	char *bytes = NULL;
	size_t length = 0;
	if ( fstat( fileno( stream ), &info ) != 0 )
		status = FileError( error, path, "read" );
	else if ( !S_ISREG( info.st_mode ) )
		status = lmbError_Set( error, lmb_statusIo, "%s: is not a regular file", path );
	else if ( (uint64_t)info.st_size > fileSizeLimit )
		status = lmbError_Set( error, lmb_statusUnsupported, "%s: is larger than 8 GiB", path );
	else if ( ( bytes = lmbArena_New( arena, (size_t)info.st_size + 1, 1 ) ) == NULL )
		status = lmbError_Memory( error );
	else
	{
		length = fread( bytes, 1, (size_t)info.st_size, stream );
		if ( length != (size_t)info.st_size )
			status = lmbError_Set( error, lmb_statusIo, "%s: changed or failed while it was read", path );
	}
	fclose( stream );
	if ( status == lmb_statusOk )
	{
		*data = bytes;
		*size = length;
	}
	return status;
}

lmbStatus lmbFileWriter_Open( lmbFileWriter *writer, const char *path, lmbError *error )
{
	memset( writer, 0, sizeof( *writer ) );
	if ( strlen( path ) >= sizeof( writer->path ) )
		return lmbError_Set( error, lmb_statusInvalidArgument, "%s: the path is too long", path );
	/* The rename at the end would put a file in the place of a device, for those who may. */
	struct stat info;
	if ( stat( path, &info ) == 0 && !S_ISREG( info.st_mode ) )
		return lmbError_Set( error, lmb_statusIo,
		                     "%s: is %s, not a file that could be written anew; give the name of a file",
		                     path, S_ISDIR( info.st_mode ) ? "a folder" : "a device or a pipe" );
	strcpy( writer->path, path );
	snprintf( writer->temporary, sizeof( writer->temporary ), "%s.tmp-%ld", path, (long)getpid() );
	writer->stream = fopen( writer->temporary, "wb" );
	if ( writer->stream == NULL )
		return FileError( error, path, "create" );
	return lmb_statusOk;
}

lmbStatus lmbFileWriter_Write( lmbFileWriter *writer, const void *data, size_t size, lmbError *error )
{
	if ( size > 0 && fwrite( data, 1, size, writer->stream ) != size )
		return FileError( error, writer->path, "write" );
	return lmb_statusOk;
}

lmbStatus lmbFileWriter_Commit( lmbFileWriter *writer, lmbError *error )
{
	bool written = fflush( writer->stream ) == 0 && fsync( fileno( writer->stream ) ) == 0;
	int code = errno;
	bool closed = fclose( writer->stream ) == 0;
	writer->stream = NULL;
	if ( written && closed && rename( writer->temporary, writer->path ) == 0 )
		return lmb_statusOk;
	if ( !written )
		errno = code;
	lmbStatus status = FileError( error, writer->path, "write" );
	unlink( writer->temporary );
	return status;
}

void lmbFileWriter_Abort( lmbFileWriter *writer )
{
	if ( writer->stream == NULL )
		return;
	fclose( writer->stream );
	writer->stream = NULL;
	unlink( writer->temporary );
}

lmbStatus lmbFile_Write( const char *path, const void *data, size_t size, lmbError *error )
{
	lmbFileWriter writer;
	LMB_TRY( lmbFileWriter_Open( &writer, path, error ) );
	lmbStatus status = lmbFileWriter_Write( &writer, data, size, error );
	if ( status == lmb_statusOk )
		return lmbFileWriter_Commit( &writer, error );
	lmbFileWriter_Abort( &writer );
	return status;
}

lmbStatus lmbFolder_Make( const char *path, lmbError *error )
{
	char partial[4096];
	size_t length = strlen( path );
	if ( length == 0 || length >= sizeof( partial ) )
		return lmbError_Set( error, lmb_statusInvalidArgument, "\"%s\": not a usable folder name", path );
	for ( size_t i = 1; i <= length; ++i )
	{
		if ( path[i] != '/' && path[i] != 0 )
			continue;
		memcpy( partial, path, i );
		partial[i] = 0;
		if ( mkdir( partial, 0777 ) != 0 && errno != EEXIST )
			return FileError( error, partial, "make the folder" );
	}
	struct stat info;
	if ( stat( path, &info ) != 0 || !S_ISDIR( info.st_mode ) )
		return lmbError_Set( error, lmb_statusIo, "%s: is there but is not a folder", path );
	return lmb_statusOk;
}

bool lmbFile_Exists( const char *path )
{
	struct stat info;
	return stat( path, &info ) == 0;
}

lmbStatus lmbPath_Join( char *out, size_t capacity, const char *folder, const char *name, lmbError *error )
{
	bool alone = name[0] == '/' || folder[0] == 0;
	size_t length = strlen( folder );
	const char *separator = length > 0 && folder[length - 1] == '/' ? "" : "/";
	int used = alone ? snprintf( out, capacity, "%s", name )
	                 : snprintf( out, capacity, "%s%s%s", folder, separator, name );
	if ( used < 0 || (size_t)used >= capacity )
		return lmbError_Set( error, lmb_statusInvalidArgument, "%s/%s: the path is too long", folder, name );
	return lmb_statusOk;
}
