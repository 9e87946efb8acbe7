#include "formats/npy.h"

#include <string.h>

/* The header is the text of a Python dictionary: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
 */
typedef struct Header
{
	const char *what, *at, *end;
	lmbError *error;
	bool haveType, haveOrder, haveShape;
	bool tooMany; /* dimensions */
} Header;

static lmbStatus Broken( const Header *header, const char *where )
{
	return lmbError_Set( header->error, lmb_statusCorrupt,
	                     "%s: the header of the NumPy array is broken (%s); save it again with numpy.save",
	                     header->what, where );
}

static char Peek( Header *header )
{
	while ( header->at < header->end && strchr( " \t\n", *header->at ) != NULL && *header->at != 0 )
		header->at += 1;
	return header->at < header->end ? *header->at : 0;
}

static bool Take( Header *header, char c )
{
	if ( Peek( header ) != c )
		return false;
	header->at += 1;
	return true;
}

/* A quoted word without escapes, shorter than size. */
static bool TakeString( Header *header, char *out, size_t size )
{
	char quote = Peek( header );
	if ( quote != '\'' && quote != '"' )
		return false;
	const char *start = header->at + 1;
	const char *close = memchr( start, quote, (size_t)( header->end - start ) );
	if ( close == NULL || (size_t)( close - start ) >= size )
		return false;
	memcpy( out, start, (size_t)( close - start ) );
	out[close - start] = 0;
	header->at = close + 1;
	return true;
}

static bool TakeWord( Header *header, const char *word )
{
	size_t length = strlen( word );
	Peek( header );
	if ( (size_t)( header->end - header->at ) < length || memcmp( header->at, word, length ) != 0 )
		return false;
	header->at += length;
	return true;
}

static lmbStatus TakeType( Header *header, lmbNpy *out )
{
	char type[32];
	if ( Peek( header ) == '[' )
		return lmbError_Set(
		    header->error, lmb_statusUnsupported,
		    "%s: a structured array; save its fields as arrays of their own: numpy.savez(file, "
		    "**{n: a[n] for n in a.dtype.names})",
		    header->what );
	if ( !TakeString( header, type, sizeof( type ) ) || strlen( type ) < 2 )
		return Broken( header, "descr" );
	const char *rest = type;
	out->bigEndian = *rest == '>';
	rest += strchr( "<>|=", *rest ) != NULL;
	out->kind = *rest;
	out->size = rest[0] != 0 && rest[1] >= '1' && rest[1] <= '9' && rest[2] == 0 ? rest[1] - '0' : 0;
	bool whole = ( out->kind == 'i' || out->kind == 'u' ) &&
	             ( out->size == 1 || out->size == 2 || out->size == 4 || out->size == 8 );
	bool real = out->kind == 'f' && ( out->size == 4 || out->size == 8 );
	bool truth = out->kind == 'b' && out->size == 1;
	header->haveType = true;
	if ( whole || real || truth )
		return lmb_statusOk;
	if ( out->kind == 'O' )
		return lmbError_Set(
		    header->error, lmb_statusUnsupported,
		    "%s: holds Python objects, which are never read; save numbers: a.astype('float64')",
		    header->what );
	return lmbError_Set(
	    header->error, lmb_statusUnsupported,
	    "%s: elements of type \"%s\"; real numbers of 4 or 8 bytes and whole numbers are read: save "
	    "a.astype('float64')",
	    header->what, type );
}

static lmbStatus TakeShape( Header *header, lmbNpy *out )
{
	if ( !Take( header, '(' ) )
		return Broken( header, "shape" );
	out->rank = 0;
	out->dims[0] = out->dims[1] = 1;
	while ( Peek( header ) >= '0' && Peek( header ) <= '9' )
	{
		uint64_t value = 0;
		for ( ; header->at < header->end && *header->at >= '0' && *header->at <= '9'; ++header->at )
			if ( __builtin_mul_overflow( value, 10, &value ) ||
			     __builtin_add_overflow( value, (uint64_t)( *header->at - '0' ), &value ) )
				return Broken( header, "a dimension beyond 64 bits" );
		(void)TakeWord( header, "L" ); /* Python 2 */
		if ( out->rank < 2 )
			out->dims[out->rank] = value;
		header->tooMany = out->rank >= 2;
		out->rank += out->rank < 3;
		if ( !Take( header, ',' ) )
			break;
	}
	if ( !Take( header, ')' ) )
		return Broken( header, "shape" );
	header->haveShape = true;
	return lmb_statusOk;
}

static lmbStatus TakeEntries( Header *header, lmbNpy *out )
{
	if ( !Take( header, '{' ) )
		return Broken( header, "no dictionary" );
	while ( !Take( header, '}' ) )
	{
		char key[32];
		if ( !TakeString( header, key, sizeof( key ) ) || !Take( header, ':' ) )
			return Broken( header, "key" );
		if ( strcmp( key, "descr" ) == 0 )
			LMB_TRY( TakeType( header, out ) );
		else if ( strcmp( key, "shape" ) == 0 )
			LMB_TRY( TakeShape( header, out ) );
		else if ( strcmp( key, "fortran_order" ) == 0 )
		{
			out->fortran = TakeWord( header, "True" );
			if ( !out->fortran && !TakeWord( header, "False" ) )
				return Broken( header, "fortran_order" );
			header->haveOrder = true;
		}
		else
			return Broken( header, "an unknown key" );
		(void)Take( header, ',' );
	}
	if ( !header->haveType || !header->haveOrder || !header->haveShape )
		return Broken( header, "descr, fortran_order or shape is not there" );
	if ( header->tooMany )
		return lmbError_Set( header->error, lmb_statusUnsupported,
		                     "%s: an array of more than two dimensions; save it with a row for every sample: "
		                     "a.reshape(len(a), -1)",
		                     header->what );
	return lmb_statusOk;
}

lmbStatus lmbNpy_Parse( const char *what, const void *data, size_t size, lmbNpy *out, lmbError *error )
{
	const unsigned char *bytes = data;
	Header header = { .what = what, .error = error };
	*out = ( lmbNpy ){ 0 };
	if ( size < 10 || memcmp( bytes, "\x93NUMPY", 6 ) != 0 )
		return lmbError_Set( error, lmb_statusCorrupt, "%s: is no NumPy array; was it cut off?", what );
	if ( bytes[6] < 1 || bytes[6] > 3 )
		return lmbError_Set( error, lmb_statusUnsupported,
		                     "%s: version %d of NumPy's array file; 1 to 3 are read", what, bytes[6] );
	size_t start = bytes[6] == 1 ? 10 : 12, length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
	if ( start == 12 && size >= 12 )
		length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
	if ( size < start || size - start < length )
		return lmbError_Set(
		    error, lmb_statusCorrupt,
		    "%s: %zu bytes, but the header of the NumPy array alone says it takes %zu; was it cut off?", what,
		    size, start + length );
	header.at = (const char *)bytes + start;
	header.end = header.at + length;
	LMB_TRY( TakeEntries( &header, out ) );
	uint64_t need;
	if ( __builtin_mul_overflow( out->dims[0], out->dims[1], &need ) ||
	     __builtin_mul_overflow( need, (uint64_t)out->size, &need ) || need != size - start - length )
		return lmbError_Set(
		    error, lmb_statusCorrupt,
		    "%s: %llu x %llu elements of %d bytes do not fit the %zu bytes behind the header; was it cut "
		    "off?",
		    what, (unsigned long long)out->dims[0], (unsigned long long)out->dims[1], out->size,
		    size - start - length );
	out->values = bytes + start + length;
	return lmb_statusOk;
}

double lmbNpy_Value( const lmbNpy *array, uint64_t row, uint64_t column )
{
	uint64_t index = array->fortran ? column * array->dims[0] + row : row * array->dims[1] + column;
	const unsigned char *at = array->values + index * (uint64_t)array->size;
	uint64_t bits = 0;
	for ( int i = 0; i < array->size; ++i )
		bits |= (uint64_t)at[array->bigEndian ? array->size - 1 - i : i] << ( 8 * i );
	if ( array->kind == 'f' && array->size == 8 )
	{
		double value;
		memcpy( &value, &bits, sizeof( value ) );
		return value;
	}
	if ( array->kind == 'f' )
	{
		uint32_t half = (uint32_t)bits;
		float value;
		memcpy( &value, &half, sizeof( value ) );
		return (double)value;
	}
	if ( array->kind == 'b' )
		return bits != 0 ? 1.0 : 0.0;
	if ( array->kind == 'u' )
		return (double)bits;
	/* Sign by two's complement: the top bit counts negative. */
	uint64_t top = UINT64_C( 1 ) << ( 8 * array->size - 1 );
	return ( bits & top ) != 0 ? -(double)( ( ~bits & ( top - 1 ) ) + 1 ) : (double)bits;
}
