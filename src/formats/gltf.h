/* Reading glTF 2.0 (registry.khronos.org/glTF/specs/2.0/glTF-2.0.html): container, JSON, buffers and
 * accessors. Internal to the importer and the bake.
 *
 * Every byte and number is hostile until checked. Errors read "FILE: /json/pointer: what; remedy". */
#ifndef LMB_FORMATS_GLTF_H
#define LMB_FORMATS_GLTF_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>

#include <jansson.h>

/* A place in the file: a JSON value (NULL when absent) and how to point at it. */
typedef struct lmbJson
{
	const char *path; /* the file */
	const json_t *value;
	char pointer[160]; /* RFC 6901 */
} lmbJson;

lmbJson lmbJson_Key( const lmbJson *parent, const char *key );
lmbJson lmbJson_Item( const lmbJson *parent, int index );
int lmbJson_Count( const lmbJson *place ); /* items of an array, 0 for anything else, at most INT_MAX / 16 */

lmbStatus lmbJson_Fail( const lmbJson *place, lmbError *error, lmbStatus status, const char *format, ... )
    __attribute__( ( format( printf, 4, 5 ) ) );

/* An absent value leaves *out as it is (the default); a wrong type or range is an error. */
lmbStatus lmbJson_Int( const lmbJson *place, int64_t low, int64_t high, int64_t *out, lmbError *error );
lmbStatus lmbJson_Bool( const lmbJson *place, bool *out, lmbError *error );
lmbStatus lmbJson_Numbers( const lmbJson *place, int count, double *out, lmbError *error );
const char *lmbJson_Text( const lmbJson *place ); /* NULL when absent or not a string */
/* The same, but absence is an error. */
lmbStatus lmbJson_NeedInt( const lmbJson *place, int64_t low, int64_t high, int64_t *out, lmbError *error );

typedef struct lmbGltfBuffer
{
	const unsigned char *data; /* NULL: the file gives none */
	size_t size;               /* its byteLength */
} lmbGltfBuffer;

typedef struct lmbGltf
{
	lmbArena arena;
	const char *path;
	json_t *root;
	lmbJson top;
	const unsigned char *chunk; /* BIN of a .glb; Nullable */
	size_t chunkSize;
	int bufferCount;
	lmbGltfBuffer *buffers;
	size_t budget; /* numbers that may still be read: guards against files that refer to the same bytes
	                  over and over */
} lmbGltf;

/* Reads the file, its JSON and all its buffers. Close also after a failure. */
lmbStatus lmbGltf_Open( lmbGltf *gltf, const char *path, lmbError *error );
void lmbGltf_Close( lmbGltf *gltf );

/* A file named by a URI at place, in the folder of the .gltf; URIs that lead elsewhere are refused. */
lmbStatus lmbGltf_ReadBeside( lmbGltf *gltf, const lmbJson *place, const char *uri, lmbArena *arena,
                              char **data, size_t *size, lmbError *error );

/* An accessor whose ranges have been checked. */
typedef struct lmbAccessor
{
	lmbJson place;
	int count, width; /* elements, components of each */
	int component;    /* 5120 .. 5126 */
	bool normalized;
	const unsigned char *data; /* NULL: zeros */
	size_t stride;
	int sparseCount, sparseIndexComponent;
	const unsigned char *sparseIndices, *sparseValues;
} lmbAccessor;

/* The accessor whose index stands at reference (which must be there). types: the allowed types, between
 * blanks, e.g. " VEC3 ". */
lmbStatus lmbGltf_Accessor( lmbGltf *gltf, const lmbJson *reference, const char *types, lmbAccessor *accessor,
                            lmbError *error );
/* All of it as doubles, normalised integers mapped, sparse entries put in; refuses a number that is not
 * finite. out (count x width), from arena. */
lmbStatus lmbAccessor_Numbers( const lmbAccessor *accessor, lmbArena *arena, double **out, lmbError *error );
/* All of it as unsigned integers below 2^32. out (count x width). */
lmbStatus lmbAccessor_Integers( const lmbAccessor *accessor, lmbArena *arena, uint32_t **out,
                                lmbError *error );

#endif
