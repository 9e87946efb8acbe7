/* NumPy's array file (numpy.lib.format, versions 1 to 3), read from memory. Internal to src/formats. */
#ifndef LMB_FORMATS_NPY_H
#define LMB_FORMATS_NPY_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Points into the file's bytes. */
typedef struct lmbNpy
{
	char kind; /* 'f' 4 or 8 bytes, 'i' and 'u' 1 to 8, 'b' 1 */
	int size;  /* bytes of an element */
	bool bigEndian, fortran;
	int rank;         /* 0 to 2 */
	uint64_t dims[2]; /* rows and columns; 1 beyond the rank */
	const unsigned char *values;
} lmbNpy;

/* what names the file (and the array in it) in messages. lmb_statusUnsupported for arrays of more than two
 * dimensions or of other things than real numbers. */
lmbStatus lmbNpy_Parse( const char *what, const void *data, size_t size, lmbNpy *out, lmbError *error );

/* The element in row and column, inside the dims. */
double lmbNpy_Value( const lmbNpy *array, uint64_t row, uint64_t column );

#endif
