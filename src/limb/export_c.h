/* A limb's model as C: one .c and one .h in C99 that hold its numbers and the runtime's own code, for devices
 * without files, heap or this library. They include <math.h>, <stdbool.h>, <stdint.h> and <string.h> and call
 * fabs, floor, sqrt, memcpy and memset. Compiled without contraction of floating-point sums (which the file
 * itself asks gcc and clang for) they give the runtime's numbers bit for bit. */
#ifndef LMB_LIMB_EXPORT_C_H
#define LMB_LIMB_EXPORT_C_H

#include "base/error.h"

#include <limber/limb.h>

/* One of the runtime's sources that an export is made of; see cmake/embed-text.cmake. */
typedef struct lmbCoreText
{
	const char *name, *text;
} lmbCoreText;

extern const lmbCoreText lmbCoreTexts[]; /* ends with a NULL name */

typedef struct lmbExportCDef
{
	const char *name; /* Nullable: of the files, and before every name in them; else the model file's own */
	unsigned
	    integrators; /* bits 1 << lmbIntegrator; 0: RK4 and semi-implicit Euler. Recurrent models: unused */
} lmbExportCDef;

/* Reads the model file and writes folder/NAME.c and folder/NAME.h; makes the folder. def Nullable. Errors: of
 * the file and of writing; lmb_statusInvalidArgument for a name that is none in C, or unknown integrators. */
lmbStatus lmbLimb_ExportC( const char *path, const lmbExportCDef *def, const char *folder, lmbError *error );

#endif
