/* The contact sheet: a body at chosen instants of a motion (rows), by several methods (columns), each
 * coloured by its distance to the one that counts as the truth. */
#ifndef LMB_EVALUATE_SHEET_H
#define LMB_EVALUATE_SHEET_H

#include "base/error.h"

#include <stdint.h>

typedef struct lmbSheetColumn
{
	const char *label;             /* above the column, e.g. "skinning" */
	const float *const *positions; /* [instantCount] each (vertexCount x 3) m, Y up. A vertex that is not
	                                  finite leaves a hole and does not count in the error. */
} lmbSheetColumn;

typedef struct lmbSheetDef
{
	const char *title;    /* e.g. "puppet - run (held out)" */
	const char *subtitle; /* Nullable */
	int vertexCount, triangleCount;
	const int32_t *triangles; /* (triangleCount x 3) counter-clockwise from outside */
	const double *weights;    /* Nullable (vertexCount) in [0, 1]: share of a vertex in the error, e.g. its
	                             softness */
	int columnCount;          /* in [1, 8] */
	const lmbSheetColumn *columns;
	int truth;           /* the column that errors are measured to; it is drawn plain. -1: none, all plain */
	int instantCount;    /* in [1, 12] */
	const double *times; /* (instantCount) s, written beside the rows */
	double scale;        /* m at the dark end of the colours; 0: from the data, rounded */
	int cellWidth, cellHeight; /* pixels of one figure, in [40, 1024] */
	double yaw, pitch;         /* rad: where the camera stands; 0, 0 is in front of a body that faces +Z,
	                              positive yaw to its left, positive pitch above */
} lmbSheetDef;

/* Cells of 216 x 254, yaw 35 degrees, pitch 8 degrees, everything else zero. */
lmbSheetDef lmbDefaultSheetDef( void );

/* Draws the sheet and writes it as a PNG. Each row has one camera for all its columns, at the same
 * distance in all rows, centred on the truth. Under each figure stands the RMS distance over the
 * vertices. No state, any thread. lmb_statusInvalidArgument names what does not fit. */
lmbStatus lmbSheet_Write( const lmbSheetDef *def, const char *path, lmbError *error );

/* The colour of a share in [0, 1] of the scale, linear RGB; light to dark, so that it survives grey
 * printing. Values outside are cut; NaN counts as 1. */
void lmbSheet_HeatColor( double share, float *color );

#endif
