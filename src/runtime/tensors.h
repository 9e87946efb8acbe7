/* Reads a safetensors file that lies in memory: 8 bytes little-endian header length, a JSON header,
 * then the arrays (huggingface.co/docs/safetensors). No allocation; every offset checked. Elements are
 * little-endian, and so must be the machine. */
#ifndef LMB_RUNTIME_TENSORS_H
#define LMB_RUNTIME_TENSORS_H

#include <limber/base.h>

#include <stdbool.h>

typedef enum lmbDataType
{
	lmb_dataU8,
	lmb_dataI8,
	lmb_dataU16,
	lmb_dataI16,
	lmb_dataF16,
	lmb_dataU32,
	lmb_dataI32,
	lmb_dataF32,
	lmb_dataI64,
	lmb_dataF64,
	lmb_dataTypeCount
} lmbDataType;

enum
{
	lmbTensorMaxRank = 5
};

typedef struct lmbTensor
{
	lmbDataType type;
	int rank;
	int64_t shape[lmbTensorMaxRank];
	const void *data;
	size_t bytes;
} lmbTensor;

size_t lmbDataType_Size( lmbDataType type );      /* bytes of one element */
const char *lmbDataType_Name( lmbDataType type ); /* "F32", as the format spells it */

/* Checks the whole file once: header syntax, known types, shapes against bytes, names not repeated, and
 * that the arrays fill the file from the header's end to the last byte without gap or overlap, as the
 * format wants. *problem (Nullable) names the first fault, NULL when there is none. data must be aligned to
 * 8; arrays that are not aligned to their own element are refused. At most 512 arrays, 128 metadata
 * strings, names of 255 bytes, a header of 16 MiB. Uses about 25 KB of stack. Safe for any bytes. */
lmbStatus lmbTensors_Check( const void *data, size_t size, const char **problem );

/* The length of the well-formed UTF-8 sequence that starts at `at` (Unicode 15, table 3-7), or 0.
 * at < end. */
int lmbUtf8_Length( const uint8_t *at, const uint8_t *end );

/* For a file that passed Check. lmb_statusNotFound when there is no such array. */
lmbStatus lmbTensors_Find( const void *data, size_t size, const char *name, lmbTensor *tensor );

/* For a file that passed Check: the metadata string of key, unescaped into out (capacity includes the
 * terminating zero). lmb_statusNotFound when absent, lmb_statusInvalidArgument when it does not fit. */
lmbStatus lmbTensors_Metadata( const void *data, size_t size, const char *key, char *out, size_t capacity );

#endif
