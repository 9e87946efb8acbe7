/* Writes graphs of numbers as ONNX files (onnx.ai, IR version 8, operator set 13): float tensors of fixed
 * shape. The format is a protobuf message; the dozen fields that are needed are written here directly (see
 * docs/decisions/0007-onnx.md).
 *
 * A graph collects values and nodes in order; memory that runs out is noticed once, by Write. */
#ifndef LMB_FORMATS_ONNX_H
#define LMB_FORMATS_ONNX_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum
{
	lmbOnnxMaxRank = 4
};

/* Bytes that grow. */
typedef struct lmbOnnxBytes
{
	char *data;
	size_t size, capacity;
} lmbOnnxBytes;

/* A tensor in the graph. */
typedef struct lmbOnnxValue
{
	int id;
} lmbOnnxValue;

typedef struct lmbOnnx
{
	lmbOnnxBytes nodes, initializers, inputs, outputs; /* fields of the graph, ready */
	int valueCount;
	bool noMemory;
} lmbOnnx; /* zero-initialise */

/* An attribute of a node: one whole number, or several. */
typedef struct lmbOnnxAttribute
{
	const char *name;
	int count; /* 0: a single number, numbers[0] */
	const int64_t *numbers;
} lmbOnnxAttribute;

/* An input of the graph, float, with a name of its own. */
lmbOnnxValue lmbOnnx_Input( lmbOnnx *graph, const char *name, int rank, const int64_t *shape );
/* Constants; the numbers are copied. */
lmbOnnxValue lmbOnnx_Floats( lmbOnnx *graph, int rank, const int64_t *shape, const float *numbers );
lmbOnnxValue lmbOnnx_Whole( lmbOnnx *graph, int rank, const int64_t *shape, const int64_t *numbers );
/* A node with one output. attribute is Nullable. */
lmbOnnxValue lmbOnnx_Node( lmbOnnx *graph, const char *operator, const lmbOnnxAttribute * attribute,
                           int count, const lmbOnnxValue *inputs );
lmbOnnxValue lmbOnnx_One( lmbOnnx *graph, const char *operator, lmbOnnxValue a );
lmbOnnxValue lmbOnnx_Two( lmbOnnx *graph, const char *operator, lmbOnnxValue a, lmbOnnxValue b );
/* Makes a value an output of the graph under a name. */
void lmbOnnx_Output( lmbOnnx *graph, lmbOnnxValue value, const char *name, int rank, const int64_t *shape );

/* The file, complete or not at all. The same calls give the same bytes. */
lmbStatus lmbOnnx_Write( const lmbOnnx *graph, const char *name, const char *path, lmbError *error );
void lmbOnnx_Free( lmbOnnx *graph );

#endif
