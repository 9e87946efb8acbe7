/* The page of `limber evaluate --report`: one HTML file that holds its script and its numbers. */
#ifndef LMB_EVALUATE_PAGE_H
#define LMB_EVALUATE_PAGE_H

#include "base/error.h"

typedef struct lmbPageDef
{
	const char *page;    /* path: what report/build made */
	const char *metrics; /* path: metrics.json */
	const char *details; /* path: evaluation.json */
} lmbPageDef;

/* Puts the two files into the page, byte for byte but for "<", which JSON writes as \u003c, so that nothing
 * in them can end the element that they lie in. Errors name the file: lmb_statusCorrupt for a page without a
 * place for data, lmb_statusNotFound for one of the files. */
lmbStatus lmbPage_Write( const lmbPageDef *def, const char *path, lmbError *error );

#endif
