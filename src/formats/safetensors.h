/* Files of named arrays (safetensors) for the stages of the tools. Parsing is the runtime's own
 * (src/runtime/tensors.h); this side adds whole files, messages and writing.
 *
 * A file of ours carries `__metadata__` strings, among them "format" (what it holds, e.g.
 * "limber.tissue") and "version" (an integer). */
#ifndef LMB_FORMATS_SAFETENSORS_H
#define LMB_FORMATS_SAFETENSORS_H

#include "base/arena.h"
#include "base/error.h"
#include "runtime/tensors.h"

typedef struct lmbTensorFile
{
	lmbArena arena;
	char path[4096];
	const void *data;
	size_t size;
} lmbTensorFile;

/* Reads and checks a whole file: header, offsets, overlaps, sizes. format: what "format" must say, or
 * NULL for any; maxVersion: the newest "version" the caller reads. Close also after a failure. */
lmbStatus lmbTensorFile_Open( lmbTensorFile *file, const char *path, const char *format, int maxVersion,
                              lmbError *error );
void lmbTensorFile_Close( lmbTensorFile *file );

/* The array called name. rank and each shape[i] must match; a shape[i] of -1 takes what the file says
 * and writes it there. Floating-point arrays (F32, F64) are refused when they hold a NaN or infinity.
 * data points into the file, aligned to the element; the message names file, array, expected shape. */
lmbStatus lmbTensorFile_Get( const lmbTensorFile *file, const char *name, lmbDataType type, int rank,
                             int64_t *shape, const void **data, lmbError *error );
bool lmbTensorFile_Has( const lmbTensorFile *file, const char *name );
/* A metadata string copied into out, or false when absent or too long. */
bool lmbTensorFile_Metadata( const lmbTensorFile *file, const char *key, char *out, size_t capacity );

/* Collects arrays and writes them at once; the arrays must live until Write. The first array starts at a
 * multiple of 64 bytes; wider elements come before narrower ones, else arrays land in the order added, so
 * that each is aligned to its element without the gaps that the format forbids. The same calls give the
 * same bytes. Names and strings are UTF-8. Text longer than 511 bytes belongs in a U8 array. */
enum
{
	lmbTensorWriterMax = 128
};

typedef struct lmbTensorWriter
{
	struct
	{
		char name[96];
		lmbDataType type;
		int rank;
		int64_t shape[lmbTensorMaxRank];
		const void *data;
	} tensors[lmbTensorWriterMax];
	int tensorCount;
	struct
	{
		char key[96];
		char value[512];
	} metadata[64];
	int metadataCount;
	bool overflow; /* too many or too long: Write reports it */
} lmbTensorWriter; /* zero-initialise */

void lmbTensorWriter_Metadata( lmbTensorWriter *writer, const char *key, const char *value );
/* shape has rank numbers. */
void lmbTensorWriter_Add( lmbTensorWriter *writer, const char *name, lmbDataType type, int rank,
                          const int64_t *shape, const void *data );
lmbStatus lmbTensorWriter_Write( const lmbTensorWriter *writer, const char *path, lmbError *error );

#endif
