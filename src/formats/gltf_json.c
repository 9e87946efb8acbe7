#include "formats/gltf.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

lmbJson lmbJson_Key( const lmbJson *parent, const char *key )
{
	lmbJson child = { .path = parent->path, .value = json_object_get( parent->value, key ) };
	snprintf( child.pointer, sizeof( child.pointer ), "%.120s/%.38s", parent->pointer, key );
	return child;
}

lmbJson lmbJson_Item( const lmbJson *parent, int index )
{
	lmbJson child = { .path = parent->path, .value = json_array_get( parent->value, (size_t)index ) };
	snprintf( child.pointer, sizeof( child.pointer ), "%.140s/%d", parent->pointer, index );
	return child;
}

int lmbJson_Count( const lmbJson *place )
{
	size_t count = json_array_size( place->value );
	return count < INT_MAX / 16 ? (int)count : INT_MAX / 16;
}

lmbStatus lmbJson_Fail( const lmbJson *place, lmbError *error, lmbStatus status, const char *format, ... )
{
	char text[700];
	va_list arguments;
	va_start( arguments, format );
	vsnprintf( text, sizeof( text ), format, arguments );
	va_end( arguments );
	const char *pointer = place->pointer[0] != 0 ? place->pointer : "/";
	return lmbError_Set( error, status, "%s: %s: %s", place->path, pointer, text );
}

lmbStatus lmbJson_Int( const lmbJson *place, int64_t low, int64_t high, int64_t *out, lmbError *error )
{
	if ( place->value == NULL )
		return lmb_statusOk;
	double number = json_number_value( place->value );
	/* Some exporters write 3.0 for 3. */
	if ( !json_is_number( place->value ) || number != floor( number ) )
		return lmbJson_Fail( place, error, lmb_statusCorrupt,
		                     "must be a whole number; the exporter that wrote the file is at fault" );
	if ( high < low )
		return lmbJson_Fail( place, error, lmb_statusCorrupt,
		                     "refers to something of which the file has none; export it again" );
	if ( !( number >= (double)low && number <= (double)high ) )
		return lmbJson_Fail( place, error, lmb_statusCorrupt,
		                     "%.0f is outside %lld .. %lld; the file is damaged, export it again", number,
		                     (long long)low, (long long)high );
	*out = json_is_integer( place->value ) ? json_integer_value( place->value ) : (int64_t)number;
	return lmb_statusOk;
}

lmbStatus lmbJson_NeedInt( const lmbJson *place, int64_t low, int64_t high, int64_t *out, lmbError *error )
{
	if ( place->value == NULL )
		return lmbJson_Fail( place, error, lmb_statusCorrupt,
		                     "is missing; the file is damaged, export it again" );
	return lmbJson_Int( place, low, high, out, error );
}

lmbStatus lmbJson_Bool( const lmbJson *place, bool *out, lmbError *error )
{
	if ( place->value == NULL )
		return lmb_statusOk;
	if ( !json_is_boolean( place->value ) )
		return lmbJson_Fail( place, error, lmb_statusCorrupt, "must be true or false" );
	*out = json_is_true( place->value );
	return lmb_statusOk;
}

lmbStatus lmbJson_Numbers( const lmbJson *place, int count, double *out, lmbError *error )
{
	if ( place->value == NULL )
		return lmb_statusOk;
	if ( !json_is_array( place->value ) || json_array_size( place->value ) != (size_t)count )
		return lmbJson_Fail( place, error, lmb_statusCorrupt, "must be a list of %d numbers", count );
	for ( int i = 0; i < count; ++i )
	{
		const json_t *item = json_array_get( place->value, (size_t)i );
		double number = json_number_value( item );
		if ( !json_is_number( item ) || !isfinite( number ) )
			return lmbJson_Fail( place, error, lmb_statusCorrupt, "number %d of the list is not a number",
			                     i );
		out[i] = number;
	}
	return lmb_statusOk;
}

const char *lmbJson_Text( const lmbJson *place )
{
	return json_string_value( place->value );
}
