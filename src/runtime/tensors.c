#include "tensors.h"

#include <string.h>

/* Limits that keep a hostile header cheap: time is at most tensors^2 * name bytes. Files of ours stay far
 * below them. */
enum
{
	headerLimit = 16 << 20,
	entryLimit = 512,
	nameLimit = 255
};

static const struct
{
	const char *name;
	size_t size;
} dataTypes[lmb_dataTypeCount] = {
    [lmb_dataU8] = { "U8", 1 },   [lmb_dataI8] = { "I8", 1 },   [lmb_dataU16] = { "U16", 2 },
    [lmb_dataI16] = { "I16", 2 }, [lmb_dataF16] = { "F16", 2 }, [lmb_dataU32] = { "U32", 4 },
    [lmb_dataI32] = { "I32", 4 }, [lmb_dataF32] = { "F32", 4 }, [lmb_dataI64] = { "I64", 8 },
    [lmb_dataF64] = { "F64", 8 },
};

/* Bytes between two quotes, checked to be valid JSON and UTF-8, escapes still in them. */
typedef struct Span
{
	const uint8_t *at, *end;
} Span;

typedef struct Cursor
{
	const uint8_t *at, *end;
	lmbStatus status;
	const char *problem; /* NULL while all is well */
} Cursor;

/* One member of the header. */
typedef struct Entry
{
	Span name;
	bool isMetadata;
	Cursor metadata; /* at the '{' of the metadata object */
	lmbDataType type;
	int rank;
	int64_t shape[lmbTensorMaxRank];
	uint64_t begin, end; /* relative to the end of the header */
} Entry;

/* What Check keeps of each entry. Offsets of the name are relative to the header. */
typedef struct Kept
{
	uint32_t nameAt, nameEnd;
	uint64_t begin, end;
} Kept;

size_t lmbDataType_Size( lmbDataType type )
{
	return (unsigned)type < lmb_dataTypeCount ? dataTypes[type].size : 0;
}

const char *lmbDataType_Name( lmbDataType type )
{
	return (unsigned)type < lmb_dataTypeCount ? dataTypes[type].name : "unknown";
}

static bool Fail( Cursor *cursor, lmbStatus status, const char *problem )
{
	if ( cursor->problem == NULL )
	{
		cursor->status = status;
		cursor->problem = problem;
	}
	return false;
}

static bool Corrupt( Cursor *cursor, const char *problem )
{
	return Fail( cursor, lmb_statusCorrupt, problem );
}

static void SkipSpace( Cursor *cursor )
{
	while ( cursor->at < cursor->end &&
	        ( *cursor->at == ' ' || *cursor->at == '\n' || *cursor->at == '\r' || *cursor->at == '\t' ) )
		cursor->at += 1;
}

static bool Peek( Cursor *cursor, char symbol )
{
	SkipSpace( cursor );
	return cursor->at < cursor->end && *cursor->at == (uint8_t)symbol;
}

static bool Take( Cursor *cursor, char symbol, const char *problem )
{
	if ( !Peek( cursor, symbol ) )
		return Corrupt( cursor, problem );
	cursor->at += 1;
	return true;
}

int lmbUtf8_Length( const uint8_t *at, const uint8_t *end )
{
	uint8_t lead = at[0];
	if ( lead < 0x80 )
		return 1;
	int length = lead >= 0xC2 && lead <= 0xDF   ? 2
	             : ( lead & 0xF0 ) == 0xE0      ? 3
	             : lead >= 0xF0 && lead <= 0xF4 ? 4
	                                            : 0;
	if ( length == 0 || end - at < length )
		return 0;
	uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
	uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
	if ( at[1] < low || at[1] > high )
		return 0;
	for ( int i = 2; i < length; ++i )
		if ( ( at[i] & 0xC0 ) != 0x80 )
			return 0;
	return length;
}

/* Four hexadecimal digits, or -1. */
static int Hex4( const uint8_t *at, const uint8_t *end )
{
	if ( end - at < 4 )
		return -1;
	int value = 0;
	for ( int i = 0; i < 4; ++i )
	{
		int c = at[i];
		int digit = c >= '0' && c <= '9'   ? c - '0'
		            : c >= 'a' && c <= 'f' ? c - 'a' + 10
		            : c >= 'A' && c <= 'F' ? c - 'A' + 10
		                                   : -1;
		if ( digit < 0 )
			return -1;
		value = value * 16 + digit;
	}
	return value;
}

/* Reads the escape whose backslash is at `at`. Returns its length and the code point, or 0. */
static int ReadEscape( const uint8_t *at, const uint8_t *end, uint32_t *code )
{
	static const char letters[] = "\"\\/bfnrt", meaning[] = "\"\\/\b\f\n\r\t";
	if ( end - at < 2 )
		return 0;
	for ( int i = 0; letters[i] != 0; ++i )
		if ( at[1] == (uint8_t)letters[i] )
		{
			*code = (uint8_t)meaning[i];
			return 2;
		}
	int high = at[1] == 'u' ? Hex4( at + 2, end ) : -1;
	if ( high <= 0 || ( high >= 0xDC00 && high <= 0xDFFF ) ) /* a zero would end the name early */
		return 0;
	*code = (uint32_t)high;
	if ( high < 0xD800 || high > 0xDBFF )
		return 6;
	int low = end - at >= 12 && at[6] == '\\' && at[7] == 'u' ? Hex4( at + 8, end ) : -1;
	if ( low < 0xDC00 || low > 0xDFFF )
		return 0;
	*code = 0x10000 + ( ( (uint32_t)high - 0xD800 ) << 10 ) + ( (uint32_t)low - 0xDC00 );
	return 12;
}

static bool ReadString( Cursor *cursor, Span *span )
{
	if ( !Take( cursor, '"', "the header's JSON lacks a string where one must be" ) )
		return false;
	span->at = cursor->at;
	while ( cursor->at < cursor->end && *cursor->at != '"' )
	{
		uint32_t code;
		int length = *cursor->at == '\\'  ? ReadEscape( cursor->at, cursor->end, &code )
		             : *cursor->at < 0x20 ? 0
		                                  : lmbUtf8_Length( cursor->at, cursor->end );
		if ( length == 0 )
			return Corrupt( cursor,
			                "a string of the header has invalid UTF-8, a bare control character or an "
			                "invalid escape" );
		cursor->at += length;
	}
	span->end = cursor->at;
	return Take( cursor, '"', "a string of the header does not end" );
}

/* The next character of a checked span as 1 to 4 bytes of UTF-8; 0 at its end. */
static int DecodeNext( Span *span, uint8_t *out )
{
	if ( span->at >= span->end )
		return 0;
	if ( *span->at != '\\' )
	{
		int length = lmbUtf8_Length( span->at, span->end );
		memcpy( out, span->at, (size_t)length );
		span->at += length;
		return length;
	}
	uint32_t code = 0;
	span->at += ReadEscape( span->at, span->end, &code );
	int length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	static const uint8_t leads[5] = { 0, 0, 0xC0, 0xE0, 0xF0 };
	for ( int i = length - 1; i > 0; --i, code >>= 6 )
		out[i] = (uint8_t)( 0x80 | ( code & 0x3F ) );
	out[0] = (uint8_t)( leads[length] | code );
	return length;
}

static bool SameSpans( Span a, Span b )
{
	uint8_t one[4], two[4];
	for ( ;; )
	{
		int length = DecodeNext( &a, one );
		if ( length != DecodeNext( &b, two ) || memcmp( one, two, (size_t)length ) != 0 )
			return false;
		if ( length == 0 )
			return true;
	}
}

static bool SpanIs( Span span, const char *text )
{
	uint8_t bytes[4];
	int length;
	while ( ( length = DecodeNext( &span, bytes ) ) > 0 )
	{
		if ( strncmp( text, (const char *)bytes, (size_t)length ) != 0 )
			return false;
		text += length;
	}
	return *text == 0;
}

/* A JSON number that is a non-negative integer below 2^63. */
static bool ReadInteger( Cursor *cursor, uint64_t *value )
{
	SkipSpace( cursor );
	const uint8_t *first = cursor->at;
	*value = 0;
	while ( cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9' )
	{
		uint64_t digit = (uint64_t)( *cursor->at - '0' );
		if ( *value > ( (uint64_t)INT64_MAX - digit ) / 10 )
			return Corrupt( cursor, "a number of the header is too large" );
		*value = *value * 10 + digit;
		cursor->at += 1;
	}
	if ( cursor->at == first || ( *first == '0' && cursor->at - first > 1 ) )
		return Corrupt( cursor, "a shape or offset of the header is not a whole, non-negative number" );
	return true;
}

static bool ReadType( Cursor *cursor, Entry *entry )
{
	Span name;
	if ( !ReadString( cursor, &name ) )
		return false;
	for ( int i = 0; i < lmb_dataTypeCount; ++i )
		if ( SpanIs( name, dataTypes[i].name ) )
		{
			entry->type = (lmbDataType)i;
			return true;
		}
	return Fail( cursor, lmb_statusUnsupported,
	             "an array has an element type that this version does not read" );
}

static bool ReadShape( Cursor *cursor, Entry *entry )
{
	if ( !Take( cursor, '[', "a shape of the header is not a list" ) )
		return false;
	entry->rank = 0;
	while ( !Peek( cursor, ']' ) )
	{
		uint64_t extent;
		if ( entry->rank > 0 && !Take( cursor, ',', "a shape of the header lacks a comma or its end" ) )
			return false;
		if ( !ReadInteger( cursor, &extent ) )
			return false;
		if ( entry->rank == lmbTensorMaxRank )
			return Fail( cursor, lmb_statusUnsupported, "an array has more than 5 dimensions" );
		entry->shape[entry->rank++] = (int64_t)extent;
	}
	return Take( cursor, ']', "a shape of the header does not end" );
}

static bool ReadOffsets( Cursor *cursor, Entry *entry )
{
	static const char problem[] = "data_offsets of the header are not a list of two numbers";
	return Take( cursor, '[', problem ) && ReadInteger( cursor, &entry->begin ) &&
	       Take( cursor, ',', problem ) && ReadInteger( cursor, &entry->end ) && Take( cursor, ']', problem );
}

static bool CheckBytes( Cursor *cursor, const Entry *entry )
{
	uint64_t bytes = dataTypes[entry->type].size;
	for ( int i = 0; i < entry->rank; ++i )
	{
		uint64_t extent = (uint64_t)entry->shape[i];
		if ( extent != 0 && bytes > (uint64_t)INT64_MAX / extent )
			return Corrupt( cursor, "a shape of the header is too large" );
		bytes *= extent;
	}
	if ( entry->end < entry->begin || entry->end - entry->begin != bytes )
		return Corrupt( cursor, "an array's byte range does not match its type and shape" );
	return true;
}

static bool ReadTensor( Cursor *cursor, Entry *entry )
{
	bool has[3] = { false, false, false };
	if ( !Take( cursor, '{', "an array of the header is not described by an object" ) )
		return false;
	for ( int member = 0; !Peek( cursor, '}' ); ++member )
	{
		Span key;
		if ( member > 0 && !Take( cursor, ',', "an array's description lacks a comma or its end" ) )
			return false;
		if ( !ReadString( cursor, &key ) || !Take( cursor, ':', "a name of the header lacks its colon" ) )
			return false;
		int which = SpanIs( key, "dtype" )          ? 0
		            : SpanIs( key, "shape" )        ? 1
		            : SpanIs( key, "data_offsets" ) ? 2
		                                            : 3;
		if ( which == 3 )
			return Corrupt( cursor, "an array's description has an unknown member" );
		if ( has[which] )
			return Corrupt( cursor, "an array's description repeats a member" );
		has[which] = true;
		bool read = which == 0   ? ReadType( cursor, entry )
		            : which == 1 ? ReadShape( cursor, entry )
		                         : ReadOffsets( cursor, entry );
		if ( !read )
			return false;
	}
	cursor->at += 1;
	if ( !has[0] || !has[1] || !has[2] )
		return Corrupt( cursor, "an array's description lacks dtype, shape or data_offsets" );
	return CheckBytes( cursor, entry );
}

/* Before the next member of an object whose '{' was read: false at its end (read) or on a fault. */
static bool NextMember( Cursor *cursor, int index, Span *key )
{
	if ( Peek( cursor, '}' ) )
	{
		cursor->at += 1;
		return false;
	}
	if ( index > 0 && !Take( cursor, ',', "the header's JSON lacks a comma or its end" ) )
		return false;
	return ReadString( cursor, key ) && Take( cursor, ':', "a name of the header lacks its colon" );
}

static bool ReadMetadata( Cursor *cursor )
{
	Span keys[entryLimit / 4], value;
	if ( !Take( cursor, '{', "__metadata__ is not an object" ) )
		return false;
	int count = 0;
	for ( Span key; NextMember( cursor, count, &key ); )
	{
		if ( count == entryLimit / 4 || key.end - key.at > nameLimit )
			return Fail( cursor, lmb_statusUnsupported,
			             "__metadata__ has more than 128 entries or too long a name" );
		for ( int i = 0; i < count; ++i )
			if ( SameSpans( keys[i], key ) )
				return Corrupt( cursor, "__metadata__ repeats a name" );
		keys[count++] = key;
		if ( !ReadString( cursor, &value ) )
			return false;
	}
	return cursor->problem == NULL;
}

/* The header's next member; false at its end or on a fault (cursor->problem tells). */
static bool NextEntry( Cursor *cursor, int index, Entry *entry )
{
	memset( entry, 0, sizeof( *entry ) );
	if ( !NextMember( cursor, index, &entry->name ) )
		return false;
	if ( entry->name.end - entry->name.at > nameLimit )
		return Fail( cursor, lmb_statusUnsupported, "an array's name is longer than 255 bytes" );
	entry->isMetadata = SpanIs( entry->name, "__metadata__" );
	entry->metadata = *cursor;
	return entry->isMetadata ? ReadMetadata( cursor ) : ReadTensor( cursor, entry );
}

/* Places cursor behind the header's '{'. */
static bool OpenHeader( const void *data, size_t size, Cursor *cursor )
{
	const uint8_t *bytes = data;
	memset( cursor, 0, sizeof( *cursor ) );
	if ( bytes == NULL || size < 8 )
		return Corrupt( cursor, "the file is shorter than the 8 bytes that start it" );
	if ( (uintptr_t)data % 8 != 0 )
		return Fail( cursor, lmb_statusInvalidArgument, "the data in memory is not aligned to 8 bytes" );
	uint64_t length = 0;
	for ( int i = 7; i >= 0; --i )
		length = length << 8 | bytes[i];
	if ( length > size - 8 )
		return Corrupt( cursor, "the file ends inside its header, or is not a safetensors file" );
	if ( length > headerLimit )
		return Fail( cursor, lmb_statusUnsupported, "the header is longer than 16 MiB" );
	cursor->at = bytes + 8;
	cursor->end = bytes + 8 + length;
	if ( length == 0 || *cursor->at != '{' )
		return Corrupt( cursor, "the header does not start with '{', or the file is not a safetensors file" );
	cursor->at += 1;
	return true;
}

static bool KeepEntry( Cursor *cursor, const uint8_t *header, const Entry *entry, Kept *kept, int count )
{
	if ( count == entryLimit )
		return Fail( cursor, lmb_statusUnsupported, "the file has more than 512 arrays" );
	for ( int i = 0; i < count; ++i )
	{
		Span other = { header + kept[i].nameAt, header + kept[i].nameEnd };
		if ( SameSpans( other, entry->name ) )
			return Corrupt( cursor, "the header repeats a name" );
	}
	/* Insertion by begin, then end: empty arrays come before the one that starts where they lie. */
	int place = count;
	for ( ; place > 0 && ( kept[place - 1].begin > entry->begin ||
	                       ( kept[place - 1].begin == entry->begin && kept[place - 1].end > entry->end ) );
	      --place )
		kept[place] = kept[place - 1];
	kept[place] = ( Kept ){ (uint32_t)( entry->name.at - header ), (uint32_t)( entry->name.end - header ),
	                        entry->begin, entry->end };
	return true;
}

/* Reads all members; the number of arrays kept. */
static int KeepEntries( Cursor *cursor, const uint8_t *header, uint64_t arrayBytes, Kept *kept )
{
	uint64_t headerBytes = (uint64_t)( cursor->end - header );
	bool hasMetadata = false;
	int count = 0;
	Entry entry;
	for ( int i = 0; NextEntry( cursor, i, &entry ); ++i )
	{
		if ( entry.isMetadata && hasMetadata )
			Corrupt( cursor, "the header repeats __metadata__" );
		else if ( entry.isMetadata )
			hasMetadata = true;
		else if ( entry.end > arrayBytes )
			Corrupt( cursor, "an array reaches beyond the end of the file" );
		else if ( ( 8 + headerBytes + entry.begin ) % dataTypes[entry.type].size != 0 )
			Fail( cursor, lmb_statusUnsupported, "an array is not aligned to its element" );
		else if ( KeepEntry( cursor, header, &entry, kept, count ) )
			count += 1;
		if ( cursor->problem != NULL )
			break;
	}
	return count;
}

lmbStatus lmbTensors_Check( const void *data, size_t size, const char **problem )
{
	Cursor cursor;
	Kept kept[entryLimit];
	if ( OpenHeader( data, size, &cursor ) )
	{
		const uint8_t *header = (const uint8_t *)data + 8;
		uint64_t arrayBytes = (uint64_t)( (const uint8_t *)data + size - cursor.end ), used = 0;
		int count = KeepEntries( &cursor, header, arrayBytes, kept );
		SkipSpace( &cursor );
		if ( cursor.at != cursor.end )
			Corrupt( &cursor, "the header goes on behind its JSON" );
		for ( int i = 0; i < count; ++i )
		{
			if ( kept[i].begin != used )
				Corrupt( &cursor, "arrays overlap or leave bytes between them" );
			used = kept[i].end;
		}
		if ( used != arrayBytes )
			Corrupt( &cursor, "the file goes on behind its arrays" );
	}
	if ( problem != NULL )
		*problem = cursor.problem;
	return cursor.status;
}

lmbStatus lmbTensors_Find( const void *data, size_t size, const char *name, lmbTensor *tensor )
{
	Cursor cursor;
	Entry entry;
	memset( tensor, 0, sizeof( *tensor ) );
	if ( !OpenHeader( data, size, &cursor ) )
		return lmb_statusNotFound;
	for ( int i = 0; NextEntry( &cursor, i, &entry ); ++i )
	{
		if ( entry.isMetadata || !SpanIs( entry.name, name ) )
			continue;
		if ( entry.end > (uint64_t)( (const uint8_t *)data + size - cursor.end ) )
			return lmb_statusNotFound;
		tensor->type = entry.type;
		tensor->rank = entry.rank;
		memcpy( tensor->shape, entry.shape, sizeof( entry.shape ) );
		tensor->data = cursor.end + entry.begin;
		tensor->bytes = (size_t)( entry.end - entry.begin );
		return lmb_statusOk;
	}
	return lmb_statusNotFound;
}

static lmbStatus CopySpan( Span span, char *out, size_t capacity )
{
	uint8_t bytes[4];
	size_t used = 0;
	int length;
	while ( ( length = DecodeNext( &span, bytes ) ) > 0 )
	{
		if ( used + (size_t)length >= capacity )
			return lmb_statusInvalidArgument;
		memcpy( out + used, bytes, (size_t)length );
		used += (size_t)length;
	}
	if ( used >= capacity )
		return lmb_statusInvalidArgument;
	out[used] = 0;
	return lmb_statusOk;
}

lmbStatus lmbTensors_Metadata( const void *data, size_t size, const char *key, char *out, size_t capacity )
{
	Cursor cursor;
	Entry entry;
	if ( !OpenHeader( data, size, &cursor ) )
		return lmb_statusNotFound;
	for ( int i = 0; NextEntry( &cursor, i, &entry ); ++i )
	{
		Cursor members = entry.metadata;
		Span name, value;
		if ( !entry.isMetadata )
			continue;
		Take( &members, '{', "" );
		for ( int k = 0; NextMember( &members, k, &name ) && ReadString( &members, &value ); ++k )
			if ( SpanIs( name, key ) )
				return CopySpan( value, out, capacity );
	}
	return lmb_statusNotFound;
}
