/* evaluation.json: what the page of `limber evaluate --report` draws (docs/formats/evaluation.md). What it
 * holds comes from lmbReport_Details and lmbLimbDetails_Json. */
#ifndef LMB_EVALUATE_DETAILS_FILE_H
#define LMB_EVALUATE_DETAILS_FILE_H

#include "base/error.h"

#include <jansson.h>

#define lmbDetailsFile_Name "evaluation.json"

/* Writes and releases the document; NULL is lmb_statusOutOfMemory. Five significant digits. */
lmbStatus lmbDetailsFile_Write( json_t *document, const char *path, lmbError *error );

/* A number, or null when it is not finite; an array of them, each times scale, NULL for NULL. */
json_t *lmbDetails_Number( double value );
json_t *lmbDetails_Numbers( const double *values, size_t count, double scale );

#endif
