/* How a text of numbers is laid out: separator, names, units, where the numbers start. Judged by the first
 * few hundred lines. */
#include "formats/number.h"
#include "formats/table_private.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum
{
	sampleRecords = 256
};

/* Lines as long as this are judged by fewer. */
static const size_t sampleBytes = (size_t)8 << 20;

/* What is remembered of one record. */
typedef struct Record
{
	int line, count, finite, words;
	bool comment, units, lastEmpty;
	const char *start;
} Record;

typedef struct Sample
{
	Record records[sampleRecords];
	int count;
	int columns;  /* the commonest number of cells in a record */
	double score; /* share of numbers among the cells of such records, times their share of all */
	bool lastColumnEmpty;
} Sample;

static lmbNumberKind CellKind( const lmbTableCell *cell, char separator, char decimal )
{
	double value;
	char first = decimal != 0 ? decimal : '.';
	lmbNumberKind kind = lmbNumber_Parse( cell->text, cell->length, first, &value );
	if ( kind == lmb_numberNone && decimal == 0 && separator != ',' )
		kind = lmbNumber_Parse( cell->text, cell->length, ',', &value );
	return kind;
}

static bool IsUnit( const lmbTableCell *cell )
{
	static const char *const units[] = {
	    "s",        "sec",     "seconds", "ms",     "us",     "deg",   "degrees",    "rad",    "radians",
	    "\xc2\xb0", "\xb0",    "m",       "cm",     "mm",     "nm",    "n m",        "n*m",    "n.m",
	    "n",        "v",       "mv",      "uv",     "deg/s",  "rad/s", "\xc2\xb0/s", "\xb0/s", "m/s",
	    "deg/s^2",  "rad/s^2", "m/s^2",   "deg/s2", "rad/s2", "hz",    "kg",         "%" };
	size_t length = cell->length;
	const char *text = cell->text;
	if ( length >= 2 &&
	     ( ( text[0] == '(' && text[length - 1] == ')' ) || ( text[0] == '[' && text[length - 1] == ']' ) ) )
		return true;
	for ( size_t i = 0; i < sizeof( units ) / sizeof( units[0] ); ++i )
		if ( strlen( units[i] ) == length && strncasecmp( units[i], text, length ) == 0 )
			return true;
	return false;
}

/* A line of units: some of its cells are, and the others are empty or a dash. */
static bool IsUnitRow( const lmbTableScan *scan )
{
	int units = 0;
	for ( int i = 0; i < scan->count; ++i )
	{
		const lmbTableCell *cell = &scan->cells[i];
		if ( IsUnit( cell ) )
			units += 1;
		else if ( cell->length > 0 && !( cell->length == 1 && strchr( "-1", cell->text[0] ) != NULL ) )
			return false;
	}
	return units > 0;
}

static Record Describe( const lmbTableScan *scan, char decimal )
{
	Record record = {
	    .line = scan->recordLine, .count = scan->count, .comment = scan->comment, .start = scan->record };
	for ( int i = 0; i < scan->count && !scan->comment; ++i )
	{
		lmbNumberKind kind = CellKind( &scan->cells[i], scan->separator, decimal );
		record.finite += kind == lmb_numberFinite;
		record.words += kind == lmb_numberNone;
	}
	record.units = !scan->comment && IsUnitRow( scan );
	record.lastEmpty = scan->cells[scan->count - 1].length == 0;
	return record;
}

/* The commonest number of cells; of two as common the one that comes later. */
static void FindColumns( Sample *sample )
{
	int best = 0, total = 0;
	sample->columns = 0;
	sample->score = 0.0;
	for ( int i = 0; i < sample->count; ++i )
	{
		if ( sample->records[i].comment )
			continue;
		total += 1;
		int same = 0;
		for ( int j = 0; j < sample->count; ++j )
			same += !sample->records[j].comment && sample->records[j].count == sample->records[i].count;
		if ( same >= best )
		{
			best = same;
			sample->columns = sample->records[i].count;
		}
	}
	for ( int i = 0; i < sample->count; ++i )
	{
		const Record *record = &sample->records[i];
		if ( !record->comment && record->count == sample->columns )
			sample->score += 1.0 - (double)record->words / record->count;
	}
	sample->score /= total > 0 ? total : 1;
	if ( sample->columns == 1 )
		sample->score *= 0.01; /* any separator that is not there gives one column */
}

static lmbStatus TakeSample( const lmbTableDef *def, char separator, const char *text, const char *end,
                             int firstLine, Sample *sample, lmbError *error )
{
	lmbTableScan scan = { .at = text, .end = end, .line = firstLine, .separator = separator };
	sample->count = 0;
	while ( sample->count < sampleRecords &&
	        ( sample->count < 4 || (size_t)( scan.at - text ) < sampleBytes ) && lmbTableScan_Next( &scan ) )
		sample->records[sample->count++] = Describe( &scan, def->decimal );
	bool memory = scan.count >= 0;
	lmbTableScan_Free( &scan );
	if ( !memory )
		return lmbError_Memory( error );
	FindColumns( sample );
	return lmb_statusOk;
}

/* The cells of one record again. */
static bool Again( lmbTableScan *scan, const Record *record )
{
	scan->at = record->start;
	scan->line = record->line;
	return lmbTableScan_Next( scan );
}

/* Which columns hold numbers in most of the sample's records; `balance` (columns) is numbers minus words. */
static bool JudgeColumns( const lmbTableDef *def, lmbTableScan *scan, Sample *sample, int *balance )
{
	sample->lastColumnEmpty = true;
	for ( int i = 0; i < sample->count; ++i )
	{
		const Record *record = &sample->records[i];
		if ( record->comment || record->count != sample->columns )
			continue;
		if ( !Again( scan, record ) )
			return false;
		for ( int c = 0; c < sample->columns; ++c )
		{
			lmbNumberKind kind = CellKind( &scan->cells[c], scan->separator, def->decimal );
			balance[c] += ( kind == lmb_numberFinite ) - ( kind == lmb_numberNone );
		}
		if ( record->finite > 0 && scan->cells[sample->columns - 1].length > 0 )
			sample->lastColumnEmpty = false;
	}
	return true;
}

/* The first record with numbers where numbers are the rule; -1: none. */
static int FirstNumbers( const lmbTableDef *def, lmbTableScan *scan, const Sample *sample,
                         const int *balance )
{
	for ( int i = 0; i < sample->count; ++i )
	{
		const Record *record = &sample->records[i];
		if ( record->comment || record->count != sample->columns || record->finite == 0 )
			continue;
		bool words = false;
		if ( record->words > 0 && Again( scan, record ) )
			for ( int c = 0; c < sample->columns; ++c )
				words = words || ( balance[c] > 0 && CellKind( &scan->cells[c], scan->separator,
				                                               def->decimal ) == lmb_numberNone );
		if ( !words )
			return i;
	}
	return -1;
}

/* The record that is no comment before record i; -1: none. */
static int Before( const Sample *sample, int i )
{
	do
		i -= 1;
	while ( i >= 0 && sample->records[i].comment );
	return i;
}

/* Missing values, or a word among numbers, in lines below the names belong to the numbers. */
static int MoveUp( const Sample *sample, int first )
{
	for ( ;; )
	{
		int i = Before( sample, first ), names = i >= 0 ? Before( sample, i ) : -1;
		if ( i < 0 || sample->records[i].count != sample->columns )
			return first;
		bool missing = sample->records[i].words == 0;
		bool mixed = sample->records[i].finite > 0 && names >= 0 && sample->records[names].finite == 0 &&
		             sample->records[names].count == sample->columns;
		if ( !missing && !mixed )
			return first;
		first = i;
	}
}

static lmbStatus FindNames( const char *path, const Sample *sample, int first, lmbTableLayout *layout,
                            lmbError *error )
{
	int i = Before( sample, first );
	if ( i < 0 )
		return lmb_statusOk;
	int above = Before( sample, i );
	if ( sample->records[i].units && above >= 0 && sample->records[above].count == sample->records[i].count )
	{
		layout->unitsLine = sample->records[i].line;
		i = above;
	}
	const Record *names = &sample->records[i];
	bool trailing = names->count == sample->columns - 1 && sample->lastColumnEmpty;
	layout->namesWithoutFirst = names->count == sample->columns - 1 && !sample->lastColumnEmpty;
	if ( names->count == sample->columns || ( names->count == sample->columns + 1 && names->lastEmpty ) ||
	     trailing || ( layout->namesWithoutFirst && names->count > 1 ) )
		layout->namesLine = names->line;
	else if ( layout->separator == ',' && names->count > 1 && sample->columns == 2 * names->count )
		return lmbError_Set(
		    error, lmb_statusCorrupt,
		    "%s:%d: %d names stand above %d columns, as if commas both separated the columns "
		    "and stood for decimal points; save it with semicolons or tabs between the columns",
		    path, names->line, names->count, sample->columns );
	else if ( names->count > 1 )
		return lmbError_Set( error, lmb_statusCorrupt,
		                     "%s:%d: %d cells stand above %d columns of numbers; name every column, or put # "
		                     "before the line",
		                     path, names->line, names->count, sample->columns );
	return lmb_statusOk;
}

/* NumPy's savetxt writes the names into a comment. */
static void FindNamesInComment( lmbTableScan *scan, const Sample *sample, int first, const char *end,
                                lmbTableLayout *layout )
{
	int i = first - 1;
	if ( i < 0 || !sample->records[i].comment || !Again( scan, &sample->records[i] ) )
		return;
	lmbTableScan inside = { .at = scan->cells[0].text, .line = 1, .separator = layout->separator };
	inside.end = inside.at + scan->cells[0].length;
	if ( inside.end <= end && lmbTableScan_Next( &inside ) && inside.count == sample->columns )
	{
		layout->namesLine = sample->records[i].line;
		layout->namesInComment = true;
	}
	lmbTableScan_Free( &inside );
}

static lmbStatus FindLines( const lmbTableDef *def, const char *path, lmbTableScan *scan, Sample *sample,
                            lmbTableLayout *layout, lmbError *error )
{
	int *balance = calloc( (size_t)sample->columns + 1, sizeof( *balance ) );
	if ( balance == NULL || !JudgeColumns( def, scan, sample, balance ) )
	{
		free( balance );
		return lmbError_Memory( error );
	}
	int top = Before( sample, sample->count ) < 0 ? -1 : 0;
	while ( top >= 0 && sample->records[top].comment )
		top += 1;
	int first = -1;
	if ( def->header == lmb_tableHeaderNone )
		first = top;
	else if ( def->header == lmb_tableHeaderFirst && top >= 0 )
	{
		first = top + 1;
		while ( first < sample->count && ( sample->records[first].comment || sample->records[first].units ) )
			first += 1;
		first = first < sample->count ? first : -1;
	}
	else
		first = FirstNumbers( def, scan, sample, balance );
	free( balance );
	if ( first < 0 )
		return lmbError_Set(
		    error, lmb_statusCorrupt,
		    "%s: no line of numbers among the first %d lines that are not empty; is it a table of text?",
		    path, sample->count );
	if ( def->header == lmb_tableHeaderAuto )
		first = MoveUp( sample, first );
	layout->firstLine = sample->records[first].line;
	layout->columnCount = sample->columns;
	if ( def->header == lmb_tableHeaderNone )
		return lmb_statusOk;
	LMB_TRY( FindNames( path, sample, first, layout, error ) );
	if ( layout->namesLine == 0 )
		FindNamesInComment( scan, sample, first, scan->end, layout );
	return lmb_statusOk;
}

lmbStatus lmbTableLayout_Find( const lmbTableDef *def, const char *path, const char *text, const char *end,
                               int firstLine, lmbTableLayout *layout, lmbError *error )
{
	/* In this order when two explain the text as well. */
	const char candidates[] = { '\t', ';', ',', ' ' };
	Sample *sample = malloc( sizeof( *sample ) );
	if ( sample == NULL )
		return lmbError_Memory( error );
	*layout = ( lmbTableLayout ){ .separator = def->separator };
	lmbStatus status = lmb_statusOk;
	double best = -1.0;
	for ( int i = 0; i < 4 && def->separator == 0 && status == lmb_statusOk; ++i )
	{
		status = TakeSample( def, candidates[i], text, end, firstLine, sample, error );
		if ( status == lmb_statusOk && sample->score > best )
		{
			best = sample->score;
			layout->separator = candidates[i];
		}
	}
	lmbTableScan scan = { .at = text, .end = end, .line = firstLine, .separator = layout->separator };
	if ( status == lmb_statusOk )
		status = TakeSample( def, layout->separator, text, end, firstLine, sample, error );
	if ( status == lmb_statusOk )
		status = FindLines( def, path, &scan, sample, layout, error );
	lmbTableScan_Free( &scan );
	free( sample );
	return status;
}
