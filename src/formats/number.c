#include "formats/number.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

lmbStatus lmbNumberLocale_Begin( lmbNumberLocale *locale, lmbError *error )
{
	locale->previous = (locale_t)0;
	locale->own = newlocale( LC_ALL_MASK, "C", (locale_t)0 );
	if ( locale->own == (locale_t)0 )
		return lmbError_Memory( error );
	locale->previous = uselocale( locale->own );
	return lmb_statusOk;
}

void lmbNumberLocale_End( lmbNumberLocale *locale )
{
	if ( locale->own == (locale_t)0 )
		return;
	uselocale( locale->previous );
	freelocale( locale->own );
	locale->own = (locale_t)0;
}

static bool IsWord( const char *text, size_t length, const char *const *words )
{
	for ( ; *words != NULL; ++words )
		if ( strlen( *words ) == length && strncasecmp( text, *words, length ) == 0 )
			return true;
	return false;
}

static lmbNumberKind Word( const char *text, size_t length )
{
	/* What spreadsheets, NumPy, pandas, R, MATLAB and old Windows programs write for "no value". */
	static const char *const missing[] = {
	    "",          "nan",  "na",       "n/a",     "#n/a",    "null",    "none",
	    "missing",   "-nan", "nan(ind)", "1.#qnan", "1.#ind",  "-1.#ind", "-1.#qnan",
	    "-nan(ind)", "--",   "-",        "?",       "#value!", "#div/0!", NULL };
	static const char *const infinite[] = { "inf",       "+inf",   "-inf",    "infinity", "+infinity",
	                                        "-infinity", "1.#inf", "-1.#inf", NULL };
	if ( IsWord( text, length, missing ) )
		return lmb_numberMissing;
	return IsWord( text, length, infinite ) ? lmb_numberInfinite : lmb_numberNone;
}

/* A number taken apart: digits without leading zeros, as long as they fit, and the power of ten. */
typedef struct Decimal
{
	bool negative;
	bool exact; /* digits holds all of them */
	uint64_t digits;
	int exponent;
} Decimal;

static const char *Exponent( const char *at, const char *end, int *exponent )
{
	bool negative = false;
	if ( at < end && ( *at == '+' || *at == '-' ) )
		negative = *at++ == '-';
	if ( at == end )
		return NULL;
	int value = 0;
	for ( ; at < end && *at >= '0' && *at <= '9'; ++at )
		value = value < 100000 ? 10 * value + ( *at - '0' ) : value;
	*exponent += negative ? -value : value;
	return at;
}

/* False when the text is no decimal number. */
static bool TakeApart( const char *at, const char *end, char decimal, Decimal *out )
{
	*out = ( Decimal ){ .exact = true };
	if ( at < end && ( *at == '+' || *at == '-' ) )
		out->negative = *at++ == '-';
	bool point = false;
	int count = 0;
	for ( ; at < end; ++at )
	{
		if ( *at == decimal && !point )
		{
			point = true;
			continue;
		}
		if ( *at < '0' || *at > '9' )
			break;
		count += 1;
		if ( out->digits > ( UINT64_MAX - 9 ) / 10 )
			out->exact = false;
		else
		{
			out->digits = 10 * out->digits + (uint64_t)( *at - '0' );
			out->exponent -= point;
		}
	}
	if ( count == 0 )
		return false;
	if ( at == end )
		return true;
	if ( strchr( "eEdD", *at ) == NULL || *at == 0 )
		return false;
	return Exponent( at + 1, end, &out->exponent ) == end;
}

/* By the C library, which rounds correctly. */
static lmbNumberKind ParseSlowly( const char *text, size_t length, char decimal, double *value )
{
	char copy[512];
	if ( length >= sizeof( copy ) )
		return lmb_numberNone;
	for ( size_t i = 0; i < length; ++i )
		copy[i] = text[i] == decimal ? '.' : ( text[i] == 'd' || text[i] == 'D' ) ? 'e' : text[i];
	copy[length] = 0;
	*value = strtod( copy, NULL );
	if ( isfinite( *value ) )
		return lmb_numberFinite;
	*value = NAN;
	return lmb_numberInfinite;
}

lmbNumberKind lmbNumber_Parse( const char *text, size_t length, char decimal, double *value )
{
	/* All of these are exact, and so is a product or quotient of two exact doubles but for one rounding
	 * (Clinger 1990, "How to read floating point numbers accurately"). */
	static const double powers[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
	                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
	Decimal parts;
	*value = NAN;
	if ( !TakeApart( text, text + length, decimal, &parts ) )
		return Word( text, length );
	int size = parts.exponent < 0 ? -parts.exponent : parts.exponent;
	if ( !parts.exact || parts.digits > UINT64_C( 1 ) << 53 || size > 22 )
		return ParseSlowly( text, length, decimal, value );
	double number = (double)parts.digits;
	number = parts.exponent < 0 ? number / powers[size] : number * powers[size];
	*value = parts.negative ? -number : number;
	return lmb_numberFinite;
}

void lmbNumber_Print( double value, char out[lmbNumberTextSize] )
{
	if ( isnan( value ) )
	{
		memcpy( out, "nan", 4 );
		return;
	}
	for ( int digits = 15; digits <= 17; ++digits )
	{
		snprintf( out, lmbNumberTextSize, "%.*g", digits, value );
		if ( strtod( out, NULL ) == value )
			return;
	}
}
