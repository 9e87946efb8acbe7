/* Text into records and cells. */
#include "formats/table_private.h"

#include <limits.h>
#include <string.h>

/* A quoted name may hold line ends (spreadsheets do that), but a stray quotation mark must not swallow the
 * file. */
static const int longestQuote = 16;

static bool IsBlank( char c )
{
	return c == ' ' || c == '\t';
}

static bool IsLineEnd( char c )
{
	return c == '\n' || c == '\r';
}

/* Behind a line end, which may be two characters. */
static const char *BehindLineEnd( const char *at, const char *end )
{
	if ( at < end && *at == '\r' )
		return at + 1 < end && at[1] == '\n' ? at + 2 : at + 1;
	return at < end ? at + 1 : end;
}

static bool AddCell( lmbTableScan *scan, const char *from, const char *to, bool quoted )
{
	if ( scan->count == scan->capacity )
	{
		int capacity = scan->capacity == 0 ? 64 : scan->capacity <= INT_MAX / 2 ? 2 * scan->capacity : 0;
		lmbTableCell *cells =
		    capacity == 0 ? NULL : realloc( scan->cells, (size_t)capacity * sizeof( *cells ) );
		if ( cells == NULL )
			return false;
		scan->cells = cells;
		scan->capacity = capacity;
	}
	while ( from < to && IsBlank( *from ) )
		from += 1;
	while ( to > from && IsBlank( to[-1] ) )
		to -= 1;
	scan->cells[scan->count++] = ( lmbTableCell ){ from, (size_t)( to - from ), quoted };
	return true;
}

/* The closing quotation mark of a cell that opens before `at`; NULL when there is none. */
static const char *ClosingQuote( const lmbTableScan *scan, const char *at )
{
	int lines = 0;
	for ( ; at < scan->end; ++at )
	{
		if ( *at == '"' && ( at + 1 == scan->end || at[1] != '"' ) )
			return at;
		if ( *at == '"' )
			at += 1;
		else if ( *at == '\n' && ++lines > longestQuote )
			return NULL;
	}
	return NULL;
}

static void CountLines( lmbTableScan *scan, const char *from, const char *to )
{
	for ( ; from < to; ++from )
		scan->line += *from == '\n' || ( *from == '\r' && ( from + 1 == to || from[1] != '\n' ) );
}

static bool AtCellEnd( const lmbTableScan *scan, const char *at )
{
	return at == scan->end || IsLineEnd( *at ) ||
	       ( scan->separator == ' ' ? IsBlank( *at ) : *at == scan->separator );
}

/* One cell from at; returns where it ends, NULL without memory. */
static const char *TakeCell( lmbTableScan *scan, const char *at )
{
	const char *from = at;
	while ( from < scan->end && IsBlank( *from ) && *from != scan->separator )
		from += 1;
	if ( from < scan->end && *from == '"' )
	{
		const char *close = ClosingQuote( scan, from + 1 );
		const char *behind = close != NULL ? close + 1 : NULL;
		while ( behind != NULL && behind < scan->end && IsBlank( *behind ) && !AtCellEnd( scan, behind ) )
			behind += 1;
		if ( behind != NULL && AtCellEnd( scan, behind ) )
		{
			CountLines( scan, from, close );
			return AddCell( scan, from + 1, close, true ) ? behind : NULL;
		}
		scan->openQuote = scan->openQuote || close == NULL;
	}
	while ( !AtCellEnd( scan, at ) )
		at += 1;
	return AddCell( scan, from < at ? from : at, at, false ) ? at : NULL;
}

static const char *SkipBlankLines( lmbTableScan *scan, const char *at )
{
	for ( ;; )
	{
		const char *start = at;
		while ( at < scan->end && IsBlank( *at ) )
			at += 1;
		if ( at == scan->end || !IsLineEnd( *at ) )
			return at == scan->end ? at : start;
		at = BehindLineEnd( at, scan->end );
		scan->line += 1;
	}
}

static const char *CommentText( const lmbTableScan *scan, const char *at )
{
	while ( at < scan->end && IsBlank( *at ) )
		at += 1;
	if ( *at == '#' || *at == '%' )
		return at + 1;
	return scan->end - at >= 2 && at[0] == '/' && at[1] == '/' ? at + 2 : NULL;
}

bool lmbTableScan_Next( lmbTableScan *scan )
{
	const char *at = SkipBlankLines( scan, scan->at );
	scan->count = 0;
	scan->openQuote = false;
	scan->at = at;
	if ( at == scan->end )
		return false;
	scan->record = at;
	scan->recordLine = scan->line;
	const char *comment = CommentText( scan, at );
	scan->comment = comment != NULL;
	if ( scan->comment )
	{
		while ( at < scan->end && !IsLineEnd( *at ) )
			at += 1;
		if ( !AddCell( scan, comment, at, false ) )
			at = NULL;
	}
	else
	{
		while ( scan->separator == ' ' && IsBlank( *at ) )
			at += 1;
		for ( ;; )
		{
			at = TakeCell( scan, at );
			while ( at != NULL && scan->separator == ' ' && at < scan->end && IsBlank( *at ) )
				at += 1;
			if ( at == NULL || at == scan->end || IsLineEnd( *at ) )
				break;
			at += scan->separator != ' ';
		}
	}
	if ( at == NULL )
	{
		scan->count = -1;
		return false;
	}
	scan->at = BehindLineEnd( at, scan->end );
	scan->line += 1;
	return true;
}

void lmbTableScan_Free( lmbTableScan *scan )
{
	free( scan->cells );
	scan->cells = NULL;
	scan->capacity = scan->count = 0;
}

/* Bytes of a well-formed UTF-8 character at text (RFC 3629), 0 when it is none. */
static size_t Utf8Length( const unsigned char *text, size_t left )
{
	if ( text[0] < 0x80 )
		return 1;
	size_t need = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
	if ( text[0] < 0xc2 || text[0] > 0xf4 || need > left )
		return 0;
	for ( size_t i = 1; i < need; ++i )
		if ( ( text[i] & 0xc0 ) != 0x80 )
			return 0;
	bool overlong = ( text[0] == 0xe0 && text[1] < 0xa0 ) || ( text[0] == 0xf0 && text[1] < 0x90 );
	bool surrogate = text[0] == 0xed && text[1] > 0x9f;
	bool beyond = text[0] == 0xf4 && text[1] > 0x8f;
	return overlong || surrogate || beyond ? 0 : need;
}

char *lmbTableCell_Text( const lmbTableCell *cell, lmbArena *arena )
{
	char *out = lmbArena_New( arena, 2 * cell->length + 1, 1 );
	if ( out == NULL )
		return NULL;
	const unsigned char *text = (const unsigned char *)cell->text;
	size_t used = 0;
	for ( size_t i = 0; i < cell->length; )
	{
		size_t length = Utf8Length( text + i, cell->length - i );
		if ( length == 0 )
		{
			/* Laboratories' programs on Windows write the sign of degrees as the one byte B0. */
			out[used++] = (char)( 0xc0 | text[i] >> 6 );
			out[used++] = (char)( 0x80 | ( text[i] & 0x3f ) );
			i += 1;
			continue;
		}
		bool control = text[i] < 0x20 || text[i] == 0x7f;
		memcpy( out + used, text + i, length );
		if ( control )
			out[used] = ' ';
		used += length;
		i += length;
		if ( cell->quoted && text[i - 1] == '"' && i < cell->length && text[i] == '"' )
			i += 1;
	}
	out[used] = 0;
	return out;
}
