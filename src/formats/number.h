/* Numbers as text, the same on every machine: what the locale says about decimal commas does not matter. */
#ifndef LMB_FORMATS_NUMBER_H
#define LMB_FORMATS_NUMBER_H

#include "base/error.h"

#include <locale.h>
#include <stdbool.h>

/* Puts this thread into the "C" locale until End; one around many numbers. */
typedef struct lmbNumberLocale
{
	locale_t own, previous;
} lmbNumberLocale;

lmbStatus lmbNumberLocale_Begin( lmbNumberLocale *locale, lmbError *error );
void lmbNumberLocale_End( lmbNumberLocale *locale );

typedef enum lmbNumberKind
{
	lmb_numberFinite,
	lmb_numberMissing,  /* empty, NaN, NA, null and the like; value NaN */
	lmb_numberInfinite, /* inf, or beyond what a double holds; value NaN */
	lmb_numberNone      /* something else; value NaN */
} lmbNumberKind;

/* The nearest double to a decimal number of length characters without spaces around it. decimal is '.' or ','
 * (the other one is then no part of a number). The exponent may be written e, E, d or D (Fortran). Between
 * Begin and End only. */
lmbNumberKind lmbNumber_Parse( const char *text, size_t length, char decimal, double *value );

enum
{
	lmbNumberTextSize = 32
};

/* The shortest of 15 to 17 digits that read back as the same double; NaN is "nan". Between Begin and End. */
void lmbNumber_Print( double value, char out[lmbNumberTextSize] );

#endif
