/* metrics.json of a limb, and the table that a person reads. */
#ifndef LMB_EVALUATE_LIMB_REPORT_H
#define LMB_EVALUATE_LIMB_REPORT_H

#include "evaluate/limb.h"

#include <jansson.h>
#include <stdio.h>

/* A test's numbers for one model; those without a meaning are left out. judged: some of the test's motions
 * are judged for less than the last time. NULL without memory. */
json_t *lmbLimbReport_Score( const lmbLimbScore *score, bool judged );

/* The medians of the same numbers in count objects, also of objects in them. A number that not all have is
 * left out; what is no number comes from the first. NULL without memory. */
json_t *lmbLimbReport_Median( json_t *const *objects, int count );

/* The table of metrics.json: for each test the models. Nothing when there are no models. */
void lmbLimbReport_Print( const json_t *metrics, FILE *stream );

#endif
