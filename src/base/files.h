/* Whole files: read with a bound, written complete or not at all. */
#ifndef LMB_BASE_FILES_H
#define LMB_BASE_FILES_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdio.h>

/* Reads a whole file into the arena, one zero byte behind its end (not counted in size).
 * A folder, a missing file, or one above 8 GiB is an error that names path. */
lmbStatus lmbFile_Read( const char *path, lmbArena *arena, char **data, size_t *size, lmbError *error );

/* A file being written under a temporary name beside its own. Commit syncs and renames it; Abort (or
 * a kill) leaves the old file, or none. Folders, devices and pipes are refused. */
typedef struct lmbFileWriter
{
	FILE *stream;
	char path[4096];
	char temporary[4160];
} lmbFileWriter;

lmbStatus lmbFileWriter_Open( lmbFileWriter *writer, const char *path, lmbError *error );
lmbStatus lmbFileWriter_Write( lmbFileWriter *writer, const void *data, size_t size, lmbError *error );
lmbStatus lmbFileWriter_Commit( lmbFileWriter *writer, lmbError *error );
void lmbFileWriter_Abort( lmbFileWriter *writer );

/* The same for data that is already whole in memory. */
lmbStatus lmbFile_Write( const char *path, const void *data, size_t size, lmbError *error );

/* Makes a folder and its parents; a folder that is there already is fine. */
lmbStatus lmbFolder_Make( const char *path, lmbError *error );

bool lmbFile_Exists( const char *path );

/* Joins folder and name with one '/', or copies name when it is absolute. lmb_statusInvalidArgument
 * when it does not fit. */
lmbStatus lmbPath_Join( char *out, size_t capacity, const char *folder, const char *name, lmbError *error );

#endif
