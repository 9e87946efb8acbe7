/* metrics.json, evaluation.json, and the table that a person reads. */
#ifndef LMB_EVALUATE_REPORT_H
#define LMB_EVALUATE_REPORT_H

#include "evaluate/evaluate.h"

#include <jansson.h>
#include <stdio.h>

/* The members "soft_skin" and "motions" of metrics.json (docs/formats/metrics.md); numbers without a
 * meaning are left out. NULL without memory. */
json_t *lmbReport_Json( const lmbEvaluation *evaluation );

/* What evaluation.json holds (docs/formats/evaluation.md). name: of the project; springs is Nullable. NULL
 * without memory, or when a name is not UTF-8. */
json_t *lmbReport_Details( const char *name, const lmbEvaluation *evaluation, const lmbCharacter *character,
                           const lmbSprings *springs );

/* The table of metrics.json's motions, trained ones before held-out ones. Nothing when there are none. */
void lmbReport_Print( const json_t *metrics, FILE *stream );

#endif
