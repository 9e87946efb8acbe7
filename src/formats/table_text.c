/* Tables in text: CSV and its relatives, and OpenSim's files, which are the same below their header. */
#include "formats/number.h"
#include "formats/table_private.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* The numbers while they are read: how many there will be is known at the end only. */
typedef struct Rows
{
	double *values; /* (capacity x columnCount), row by row */
	int *lines;
	size_t count, capacity;
	char decimal;
	int decimalLine; /* where it was first seen; 0: told, or not yet known */
	size_t infinite;
	int *finite, *words; /* (columnCount) */
	lmbTableCell *firstWord;
	int *firstWordLine;
	int shortLine, shortCount; /* a record with too few cells, allowed only as the last */
} Rows;

static void FreeRows( Rows *rows )
{
	free( rows->values );
	free( rows->lines );
	free( rows->finite );
	free( rows->words );
	free( rows->firstWord );
	free( rows->firstWordLine );
}

static bool MakeRoom( Rows *rows, size_t columns )
{
	if ( rows->count < rows->capacity )
		return true;
	size_t capacity = rows->capacity == 0 ? 16 : 2 * rows->capacity, bytes;
	if ( __builtin_mul_overflow( capacity, columns * sizeof( double ), &bytes ) )
		return false;
	double *values = realloc( rows->values, bytes );
	if ( values != NULL )
		rows->values = values;
	int *lines = values != NULL ? realloc( rows->lines, capacity * sizeof( int ) ) : NULL;
	if ( lines == NULL )
		return false;
	rows->lines = lines;
	rows->capacity = capacity;
	return true;
}

static lmbStatus DecimalsDiffer( const lmbTable *table, const Rows *rows, const lmbTableCell *cell, int line,
                                 lmbError *error )
{
	return lmbError_Set(
	    error, lmb_statusCorrupt,
	    "%s:%d: \"%.*s\" has a decimal %s, but line %d has a decimal %s; use one of them in the whole "
	    "file, and no thousands separators",
	    table->path, line, (int)( cell->length < 40 ? cell->length : 40 ), cell->text,
	    rows->decimal == '.' ? "comma" : "point", rows->decimalLine,
	    rows->decimal == '.' ? "point" : "comma" );
}

/* One cell; the first one with a decimal mark decides which it is. */
static lmbStatus ParseCell( const lmbTable *table, Rows *rows, const lmbTableCell *cell, int line,
                            double *value, lmbNumberKind *kind, lmbError *error )
{
	char decimal = rows->decimal != 0 ? rows->decimal : '.';
	*kind = lmbNumber_Parse( cell->text, cell->length, decimal, value );
	if ( *kind == lmb_numberFinite || *kind == lmb_numberInfinite )
	{
		if ( rows->decimal == 0 && memchr( cell->text, '.', cell->length ) != NULL )
		{
			rows->decimal = '.';
			rows->decimalLine = line;
		}
		return lmb_statusOk;
	}
	if ( *kind == lmb_numberMissing || ( rows->decimal != 0 && rows->decimalLine == 0 ) )
		return lmb_statusOk;
	double other;
	lmbNumberKind otherKind = lmbNumber_Parse( cell->text, cell->length, decimal == '.' ? ',' : '.', &other );
	if ( otherKind != lmb_numberFinite )
		return lmb_statusOk;
	if ( rows->decimal != 0 )
		return DecimalsDiffer( table, rows, cell, line, error );
	rows->decimal = ',';
	rows->decimalLine = line;
	*kind = otherKind;
	*value = other;
	return lmb_statusOk;
}

static lmbStatus ShortRecord( const lmbTable *table, int line, int cells, int columns, lmbError *error )
{
	return lmbError_Set(
	    error, lmb_statusCorrupt,
	    "%s:%d: %d cell%s where the other lines have %d; leave a cell empty or write nan where a "
	    "value is missing",
	    table->path, line, cells, cells == 1 ? "" : "s", columns );
}

static lmbStatus TakeRecord( const lmbTable *table, const lmbTableScan *scan, int columns, Rows *rows,
                             lmbError *error )
{
	int count = scan->count;
	while ( count > 0 && scan->cells[count - 1].length == 0 )
		count -= 1;
	if ( count == 0 )
		return lmb_statusOk; /* spreadsheets end with lines of separators only */
	if ( scan->openQuote )
		return lmbError_Set( error, lmb_statusCorrupt,
		                     "%s:%d: a quotation mark that is never closed; remove it", table->path,
		                     scan->recordLine );
	if ( rows->shortLine != 0 )
		return ShortRecord( table, rows->shortLine, rows->shortCount, columns, error );
	if ( count > columns )
		return ShortRecord( table, scan->recordLine, scan->count, columns, error );
	if ( scan->count < columns )
	{
		rows->shortLine = scan->recordLine;
		rows->shortCount = scan->count;
		return lmb_statusOk;
	}
	if ( rows->count >= INT_MAX - 1 )
		return lmbError_Set( error, lmb_statusUnsupported, "%s: more than %d rows; split it", table->path,
		                     INT_MAX - 1 );
	if ( !MakeRoom( rows, (size_t)columns ) )
		return lmbError_Memory( error );
	for ( int c = 0; c < columns; ++c )
	{
		lmbNumberKind kind;
		double *value = &rows->values[rows->count * (size_t)columns + (size_t)c];
		LMB_TRY( ParseCell( table, rows, &scan->cells[c], scan->recordLine, value, &kind, error ) );
		rows->finite[c] += kind == lmb_numberFinite;
		rows->infinite += kind == lmb_numberInfinite;
		if ( kind == lmb_numberNone && rows->words[c]++ == 0 )
		{
			rows->firstWord[c] = scan->cells[c];
			rows->firstWordLine[c] = scan->recordLine;
		}
	}
	rows->lines[rows->count++] = scan->recordLine;
	return lmb_statusOk;
}

static lmbStatus TakeRows( const lmbTable *table, const lmbTableLayout *layout, lmbTableScan *scan,
                           Rows *rows, lmbError *error )
{
	size_t columns = (size_t)layout->columnCount;
	rows->finite = calloc( columns, sizeof( int ) );
	rows->words = calloc( columns, sizeof( int ) );
	rows->firstWord = calloc( columns, sizeof( lmbTableCell ) );
	rows->firstWordLine = calloc( columns, sizeof( int ) );
	if ( rows->finite == NULL || rows->words == NULL || rows->firstWord == NULL ||
	     rows->firstWordLine == NULL )
		return lmbError_Memory( error );
	while ( lmbTableScan_Next( scan ) )
		if ( !scan->comment && scan->recordLine >= layout->firstLine )
			LMB_TRY( TakeRecord( table, scan, layout->columnCount, rows, error ) );
	if ( scan->count < 0 )
		return lmbError_Memory( error );
	if ( rows->count == 0 )
		return lmbError_Set( error, lmb_statusCorrupt, "%s: not one whole row of numbers; was it cut off?",
		                     table->path );
	return lmb_statusOk;
}

/* Names or units of all columns from one line. */
static lmbStatus TakeNames( lmbTable *table, const lmbTableLayout *layout, lmbTableScan scan, int line,
                            bool names, lmbError *error )
{
	scan.cells = NULL;
	scan.capacity = 0;
	lmbStatus status = lmb_statusOk;
	while ( lmbTableScan_Next( &scan ) && scan.recordLine != line )
	{
	}
	lmbTableScan inside = scan;
	if ( names && layout->namesInComment && scan.count > 0 )
	{
		inside = ( lmbTableScan ){ .at = scan.cells[0].text, .line = 1, .separator = scan.separator };
		inside.end = inside.at + scan.cells[0].length;
		lmbTableScan_Next( &inside );
	}
	if ( inside.count < 0 )
		status = lmbError_Memory( error );
	int offset = layout->namesWithoutFirst ? 1 : 0;
	for ( int c = 0; c + offset < table->columnCount && status == lmb_statusOk; ++c )
	{
		lmbTableCell empty = { "", 0, false };
		char *text = lmbTableCell_Text( c < inside.count ? &inside.cells[c] : &empty, &table->arena );
		if ( text == NULL )
			status = lmbError_Memory( error );
		else if ( names )
			table->names[c + offset] = text;
		else
			table->units[c + offset] = text[0] != 0 ? text : NULL;
	}
	if ( inside.cells != scan.cells )
		lmbTableScan_Free( &inside );
	lmbTableScan_Free( &scan );
	return status;
}

/* A trailing separator in every line is no column. */
static void DropEmptyColumn( lmbTable *table, const lmbTableLayout *layout, const Rows *rows )
{
	int last = table->columnCount - 1;
	if ( last > 0 && rows->finite[last] == 0 && rows->words[last] == 0 &&
	     ( layout->namesLine == 0 || table->names[last][0] == 0 ) )
		table->columnCount = last;
}

/* A column of words only is left out; a word among numbers is a mistake. */
static lmbStatus JudgeWords( lmbTable *table, const Rows *rows, lmbError *error )
{
	for ( int c = 0; c < table->columnCount; ++c )
	{
		if ( rows->words[c] == 0 )
			continue;
		const lmbTableCell *word = &rows->firstWord[c];
		int length = (int)( word->length < 60 ? word->length : 60 );
		char *text =
		    lmbTableCell_Text( &( lmbTableCell ){ word->text, (size_t)length, false }, &table->arena );
		if ( text == NULL )
			return lmbError_Memory( error );
		if ( rows->finite[c] > 0 )
			return lmbError_Set(
			    error, lmb_statusCorrupt,
			    "%s:%d: column \"%.200s\": \"%s\" is not a number; mend it, or leave the cell empty "
			    "where a value is missing",
			    table->path, rows->firstWordLine[c], table->names[c], text );
		table->text[c] = true;
		LMB_TRY( lmbTable_Note( table, error, "column \"%.200s\" holds words (\"%s\") and is left out",
		                        table->names[c], text ) );
	}
	return lmb_statusOk;
}

static lmbStatus NoteGuesses( lmbTable *table, const lmbTableLayout *layout, const Rows *rows,
                              lmbError *error )
{
	if ( layout->namesInComment )
		LMB_TRY( lmbTable_Note( table, error, "the names are taken from the comment in line %d",
		                        layout->namesLine ) );
	if ( layout->namesLine != 0 && layout->namesWithoutFirst )
		LMB_TRY( lmbTable_Note(
		    table, error,
		    "one name fewer than columns: the first column is taken for a number of the row" ) );
	if ( rows->decimal == ',' && rows->decimalLine != 0 )
		LMB_TRY( lmbTable_Note( table, error, "decimal commas" ) );
	if ( rows->infinite > 0 )
		LMB_TRY( lmbTable_Note( table, error, "%zu infinite values count as missing", rows->infinite ) );
	if ( rows->shortLine != 0 )
		LMB_TRY( lmbTable_Note( table, error, "line %d, the last, has %d of %d cells and is left out",
		                        rows->shortLine, rows->shortCount, layout->columnCount ) );
	return lmb_statusOk;
}

static lmbStatus FillTable( lmbTable *table, const lmbTableLayout *layout, const lmbTableScan *start,
                            Rows *rows, lmbError *error )
{
	int columns = layout->columnCount;
	LMB_TRY( lmbTable_Allocate( table, (int)rows->count, columns, error ) );
	table->lines = LMB_NEW( &table->arena, int, rows->count );
	if ( table->lines == NULL )
		return lmbError_Memory( error );
	memcpy( table->lines, rows->lines, rows->count * sizeof( int ) );
	for ( size_t r = 0; r < rows->count; ++r )
		for ( int c = 0; c < columns; ++c )
			table->columns[c][r] = rows->values[r * (size_t)columns + (size_t)c];
	table->named = layout->namesLine != 0;
	if ( table->named )
	{
		if ( layout->namesWithoutFirst )
			table->names[0] = "row";
		LMB_TRY( TakeNames( table, layout, *start, layout->namesLine, true, error ) );
	}
	if ( layout->unitsLine != 0 )
		LMB_TRY( TakeNames( table, layout, *start, layout->unitsLine, false, error ) );
	DropEmptyColumn( table, layout, rows );
	LMB_TRY( lmbTable_MendNames( table, error ) );
	LMB_TRY( JudgeWords( table, rows, error ) );
	return NoteGuesses( table, layout, rows, error );
}

/* Lines above the names that are neither names nor units are facts: "Subject: 7", "rate, 100". */
static lmbStatus TakePreamble( lmbTable *table, const lmbTableLayout *layout, lmbTableScan scan,
                               lmbError *error )
{
	lmbStatus status = lmb_statusOk;
	scan.separator = '\n';
	scan.cells = NULL;
	scan.capacity = 0;
	while ( status == lmb_statusOk && table->factCount < 1000 && lmbTableScan_Next( &scan ) &&
	        scan.recordLine < layout->firstLine )
	{
		if ( scan.recordLine == layout->namesLine || scan.recordLine == layout->unitsLine || scan.count < 1 )
			continue;
		lmbTableCell cell = scan.cells[0];
		cell.length = cell.length < 500 ? cell.length : 500;
		char *text = lmbTableCell_Text( &cell, &table->arena );
		if ( text == NULL )
		{
			status = lmbError_Memory( error );
			break;
		}
		char *mark = strpbrk( text, ":=,;\t" );
		if ( mark != NULL )
			*mark++ = 0;
		for ( size_t length = strlen( text ); length > 0 && text[length - 1] == ' '; )
			text[--length] = 0;
		while ( mark != NULL && ( *mark == ' ' || *mark == '\t' ) )
			mark += 1;
		status =
		    lmbTable_AddFact( table, mark != NULL ? text : "comment", mark != NULL ? mark : text, error );
	}
	lmbTableScan_Free( &scan );
	return status;
}

static lmbStatus ReadBody( lmbTable *table, const lmbTableDef *def, lmbTableScan start, lmbError *error )
{
	lmbTableLayout layout;
	LMB_TRY( lmbTableLayout_Find( def, table->path, start.at, start.end, start.line, &layout, error ) );
	if ( layout.columnCount > lmbTableMaxColumns )
		return lmbError_Set( error, lmb_statusUnsupported,
		                     "%s: %d columns, more than %d; is it transposed, with a sample in every column?",
		                     table->path, layout.columnCount, lmbTableMaxColumns );
	start.separator = layout.separator;
	lmbTableScan scan = start;
	Rows rows = { .decimal = def->decimal };
	if ( rows.decimal == 0 && layout.separator == ',' )
		rows.decimal = '.';
	lmbStatus status = TakeRows( table, &layout, &scan, &rows, error );
	if ( status == lmb_statusOk )
		status = FillTable( table, &layout, &start, &rows, error );
	if ( status == lmb_statusOk )
		status = TakePreamble( table, &layout, start, error );
	lmbTableScan_Free( &scan );
	FreeRows( &rows );
	return status;
}

/* Where an OpenSim header ends (behind the line "endheader"), or NULL; *line is the line behind it. */
static const char *HeaderEnd( const char *text, const char *end, int *line )
{
	const char *limit = end - text > 1 << 20 ? text + ( 1 << 20 ) : end;
	*line = 1;
	while ( text < limit )
	{
		const char *stop = text;
		while ( stop < limit && *stop != '\n' && *stop != '\r' )
			stop += 1;
		const char *next = stop + ( end - stop >= 2 && stop[0] == '\r' && stop[1] == '\n' ? 2 : stop < end );
		const char *last = stop;
		while ( text < last && ( *text == ' ' || *text == '\t' ) )
			text += 1;
		while ( last > text && ( last[-1] == ' ' || last[-1] == '\t' ) )
			last -= 1;
		*line += 1;
		if ( last - text == 9 && strncasecmp( text, "endheader", 9 ) == 0 )
			return next;
		text = next;
	}
	return NULL;
}

static lmbStatus TakeHeader( lmbTable *table, const char *text, const char *end, lmbError *error )
{
	lmbTableScan scan = { .at = text, .end = end, .line = 1, .separator = '\n' };
	lmbStatus status = lmb_statusOk;
	while ( status == lmb_statusOk && table->factCount < 1000 && lmbTableScan_Next( &scan ) )
	{
		char *key = lmbTableCell_Text( &scan.cells[0], &table->arena );
		if ( key == NULL )
		{
			status = lmbError_Memory( error );
			break;
		}
		char *value = strchr( key, '=' );
		if ( value == NULL &&
		     ( strncasecmp( key, "datarows ", 9 ) == 0 || strncasecmp( key, "datacolumns ", 12 ) == 0 ) )
			value = strchr( key, ' ' ); /* the older .mot of SIMM */
		if ( value != NULL )
			*value++ = 0;
		status = lmbTable_AddFact( table,
		                           value != NULL          ? key
		                           : scan.recordLine == 1 ? "name"
		                                                  : "comment",
		                           value != NULL ? value : key, error );
	}
	lmbTableScan_Free( &scan );
	return status;
}

static lmbStatus CheckCount( lmbTable *table, const char *key, const char *older, int actual,
                             const char *what, lmbError *error )
{
	const char *said = lmbTable_Fact( table, key );
	if ( said == NULL )
		said = lmbTable_Fact( table, older );
	if ( said == NULL )
		return lmb_statusOk;
	char *end;
	long long count = strtoll( said, &end, 10 );
	while ( *end == ' ' )
		end += 1;
	if ( *end == 0 && count == actual )
		return lmb_statusOk;
	return lmbTable_Note( table, error, "the header says %s=%.40s, but there are %d %s", key, said, actual,
	                      what );
}

static lmbStatus ReadOpenSim( lmbTable *table, const lmbTableDef *def, const char *text, const char *body,
                              const char *end, int line, lmbError *error )
{
	table->format = lmb_tableOpenSim;
	LMB_TRY( TakeHeader( table, text, body, error ) );
	const char *type = lmbTable_Fact( table, "DataType" );
	if ( type != NULL && strcasecmp( type, "double" ) != 0 )
		return lmbError_Set( error, lmb_statusUnsupported,
		                     "%s: DataType=%.40s; only DataType=double is read: write it with OpenSim's "
		                     "TimeSeriesTable.flatten() first",
		                     table->path, type );
	const char *degrees = lmbTable_Fact( table, "inDegrees" );
	if ( degrees != NULL )
	{
		while ( *degrees == ' ' )
			degrees += 1;
		bool yes =
		    strncasecmp( degrees, "y", 1 ) == 0 || strncasecmp( degrees, "t", 1 ) == 0 || degrees[0] == '1';
		table->angles = yes ? lmb_tableAnglesDegrees : lmb_tableAnglesRadians;
	}
	LMB_TRY( ReadBody( table, def, ( lmbTableScan ){ .at = body, .end = end, .line = line }, error ) );
	LMB_TRY( CheckCount( table, "nRows", "datarows", table->rowCount, "rows", error ) );
	return CheckCount( table, "nColumns", "datacolumns", table->columnCount, "columns", error );
}

/* What a text must not hold. */
static lmbStatus CheckText( const lmbTable *table, const char *data, size_t size, lmbError *error )
{
	const unsigned char *bytes = (const unsigned char *)data;
	bool wide =
	    size >= 2 && ( ( bytes[0] == 0xff && bytes[1] == 0xfe ) || ( bytes[0] == 0xfe && bytes[1] == 0xff ) );
	const char *zero = memchr( data, 0, size );
	if ( wide )
		return lmbError_Set( error, lmb_statusUnsupported, "%s: is UTF-16; save it as UTF-8 or as plain text",
		                     table->path );
	if ( zero != NULL )
		return lmbError_Set(
		    error, lmb_statusCorrupt,
		    "%s: byte %zu is zero, so it is no table in text; .csv, .sto, .mot, .npy and .npz are "
		    "read (UTF-16: save it as UTF-8)",
		    table->path, (size_t)( zero - data ) );
	return lmb_statusOk;
}

lmbStatus lmbTable_ReadText( lmbTable *table, const lmbTableDef *def, const char *data, size_t size,
                             lmbError *error )
{
	LMB_TRY( CheckText( table, data, size, error ) );
	const char *text = data, *end = data + size;
	lmbTableDef told = *def;
	if ( size >= 3 && memcmp( text, "\xef\xbb\xbf", 3 ) == 0 )
		text += 3;
	int line = 1;
	if ( end - text >= 6 && strncasecmp( text, "sep=", 4 ) == 0 && ( text[5] == '\n' || text[5] == '\r' ) &&
	     strchr( ",;\t|", text[4] ) != NULL )
	{
		told.separator = told.separator != 0 ? told.separator : text[4]; /* Excel's own first line */
		text += text[5] == '\r' && text[6] == '\n' ? 7 : 6;
		line = 2;
	}
	lmbNumberLocale locale;
	LMB_TRY( lmbNumberLocale_Begin( &locale, error ) );
	int bodyLine;
	const char *body = HeaderEnd( text, end, &bodyLine );
	lmbStatus status =
	    body != NULL
	        ? ReadOpenSim( table, &told, text, body, end, bodyLine, error )
	        : ReadBody( table, &told, ( lmbTableScan ){ .at = text, .end = end, .line = line }, error );
	lmbNumberLocale_End( &locale );
	return status;
}
