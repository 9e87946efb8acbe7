/* Puts a binary glTF file (.glb) together: a JSON tree and one binary chunk.
 *
 *     lmbGlbWriter writer;
 *     lmbGlbWriter_Init( &writer, NULL, &error );
 *     int positions = lmbGlbWriter_AddFloats( &writer, "VEC3", points, count, lmb_glbVertices, true );
 *     ... build writer.root with jansson; refer to accessors by the numbers that came back ...
 *     lmbStatus status = lmbGlbWriter_Write( &writer, "out.glb", &error );
 *     lmbGlbWriter_Free( &writer );
 *
 * Calls after a failed one do nothing and return -1; Write reports the first failure, so a caller need
 * not test each call. Numbers in the JSON keep 17 digits; object keys keep the order of their making, so
 * the same calls give the same bytes. */
#ifndef LMB_FORMATS_GLB_WRITER_H
#define LMB_FORMATS_GLB_WRITER_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/* What a piece of the binary chunk is for: decides bufferView.target and byteStride. */
typedef enum lmbGlbUse
{
	lmb_glbData,     /* animation, inverse bind matrices: no target */
	lmb_glbVertices, /* vertex attributes, morph targets: ARRAY_BUFFER */
	lmb_glbIndices   /* ELEMENT_ARRAY_BUFFER */
} lmbGlbUse;

typedef struct lmbGlbWriter
{
	json_t *root;        /* the caller may change anything but /buffers */
	unsigned char *data; /* the binary chunk so far */
	size_t size, capacity;
	lmbStatus status; /* of the first failure */
} lmbGlbWriter;

/* root: the JSON to start from, borrowed and copied deeply, its /buffers replaced by the one chunk (see
 * AddBuffer); NULL starts with {"asset":{"version":"2.0","generator":"Limber"}}. Free also after a failure.
 */
lmbStatus lmbGlbWriter_Init( lmbGlbWriter *writer, const json_t *root, lmbError *error );
void lmbGlbWriter_Free( lmbGlbWriter *writer );

/* Appends bytes at a multiple of 4 and returns their offset in the chunk, or SIZE_MAX. For carrying the
 * buffers of another file over: add each offset to the byteOffset of that buffer's views. */
size_t lmbGlbWriter_AddBytes( lmbGlbWriter *writer, const void *data, size_t size );

/* Appends bytes as a bufferView of their own; returns its index or -1. stride: bytes from one element to
 * the next, written only for lmb_glbVertices (0: none; else a multiple of 4 in [4, 252]). */
int lmbGlbWriter_AddView( lmbGlbWriter *writer, const void *data, size_t size, lmbGlbUse use, int stride );

/* Appends count elements of a type ("SCALAR", "VEC2", "VEC3", "VEC4", "MAT4" column-major) as float32,
 * with a bufferView and an accessor; returns the accessor's index or -1. Numbers must be finite.
 * bounds: write min and max, which the specification demands of POSITION (also in morph targets) and of
 * animation times. count >= 1. */
int lmbGlbWriter_AddFloats( lmbGlbWriter *writer, const char *type, const float *values, size_t count,
                            lmbGlbUse use, bool bounds );

/* Triangle indices, stored as 16 bits when they fit, else 32. count >= 1. */
int lmbGlbWriter_AddIndices( lmbGlbWriter *writer, const uint32_t *indices, size_t count );

/* JOINTS_n, (count x 4), as 8 or 16 bits. */
int lmbGlbWriter_AddJoints( lmbGlbWriter *writer, const uint16_t *joints, size_t count );

/* Writes the file (temporary name, then renamed). Fails when the whole would not fit in 4 GiB, the limit
 * of the format. */
lmbStatus lmbGlbWriter_Write( lmbGlbWriter *writer, const char *path, lmbError *error );

#endif
