#include "base/files.h"
#include "formats/table_private.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

lmbStatus lmbTable_Allocate( lmbTable *table, int rowCount, int columnCount, lmbError *error )
{
	lmbArena *arena = &table->arena;
	size_t rows = (size_t)rowCount, columns = (size_t)columnCount;
	double *values = LMB_NEW( arena, double, columns *rows );
	table->names = LMB_NEW( arena, const char *, columns );
	table->units = LMB_NEW( arena, const char *, columns );
	table->columns = LMB_NEW( arena, double *, columns );
	table->text = LMB_NEW( arena, bool, columns );
	char( *names )[32] = (char( * )[32])lmbArena_New( arena, columns, sizeof( *names ) );
	if ( values == NULL || table->names == NULL || table->units == NULL || table->columns == NULL ||
	     table->text == NULL || names == NULL )
		return lmbError_Memory( error );
	table->rowCount = rowCount;
	table->columnCount = columnCount;
	for ( size_t c = 0; c < columns; ++c )
	{
		snprintf( names[c], sizeof( names[c] ), "column%zu", c + 1 );
		table->names[c] = names[c];
		table->columns[c] = values + c * rows;
	}
	for ( size_t i = 0; i < columns * rows; ++i )
		values[i] = NAN;
	return lmb_statusOk;
}

lmbStatus lmbTable_New( int rowCount, int columnCount, lmbTable **out, lmbError *error )
{
	*out = NULL;
	if ( rowCount < 1 || columnCount < 1 || columnCount > lmbTableMaxColumns )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "a table of %d rows and %d columns: it takes at least one of each and at most "
		                     "%d columns",
		                     rowCount, columnCount, lmbTableMaxColumns );
	lmbTable *table = calloc( 1, sizeof( *table ) );
	if ( table == NULL )
		return lmbError_Memory( error );
	table->path = "";
	lmbStatus status = lmbTable_Allocate( table, rowCount, columnCount, error );
	if ( status == lmb_statusOk )
		*out = table;
	else
		lmbTable_Free( table );
	return status;
}

void lmbTable_Free( lmbTable *table )
{
	if ( table == NULL )
		return;
	lmbArena_Free( &table->arena );
	free( table );
}

/* An array in the arena, one longer: capacity doubles at powers of two. */
static void *Grow( lmbArena *arena, void *items, int count, size_t size )
{
	if ( count > 0 && ( count & ( count - 1 ) ) != 0 )
		return items;
	void *larger = lmbArena_New( arena, count > 0 ? (size_t)count * 2 : 1, size );
	if ( larger != NULL && count > 0 )
		memcpy( larger, items, (size_t)count * size );
	return larger;
}

lmbStatus lmbTable_Note( lmbTable *table, lmbError *error, const char *format, ... )
{
	char text[1024];
	va_list arguments;
	va_start( arguments, format );
	vsnprintf( text, sizeof( text ), format, arguments );
	va_end( arguments );
	const char **notes =
	    (const char **)Grow( &table->arena, (void *)table->notes, table->noteCount, sizeof( *notes ) );
	char *copy = lmbArena_String( &table->arena, text );
	if ( notes == NULL || copy == NULL )
		return lmbError_Memory( error );
	table->notes = notes;
	table->notes[table->noteCount++] = copy;
	return lmb_statusOk;
}

lmbStatus lmbTable_AddFact( lmbTable *table, const char *key, const char *value, lmbError *error )
{
	lmbTableText *facts = Grow( &table->arena, table->facts, table->factCount, sizeof( *facts ) );
	char *keyCopy = lmbArena_String( &table->arena, key );
	char *valueCopy = lmbArena_String( &table->arena, value );
	if ( facts == NULL || keyCopy == NULL || valueCopy == NULL )
		return lmbError_Memory( error );
	table->facts = facts;
	table->facts[table->factCount++] = ( lmbTableText ){ keyCopy, valueCopy };
	return lmb_statusOk;
}

const char *lmbTable_Fact( const lmbTable *table, const char *key )
{
	for ( int i = 0; i < table->factCount; ++i )
		if ( strcasecmp( table->facts[i].key, key ) == 0 )
			return table->facts[i].value;
	return NULL;
}

int lmbTable_Column( const lmbTable *table, const char *name )
{
	int found = -1, count = 0;
	for ( int c = 0; c < table->columnCount; ++c )
	{
		if ( strcmp( table->names[c], name ) == 0 )
			return c;
		if ( strcasecmp( table->names[c], name ) == 0 )
		{
			found = c;
			count += 1;
		}
	}
	if ( count == 1 )
		return found;
	char *end = NULL;
	long number = name[0] == '#' ? strtol( name + 1, &end, 10 ) : 0;
	return end != NULL && *end == 0 && number >= 1 && number <= table->columnCount ? (int)number - 1 : -1;
}

lmbStatus lmbTable_Need( const lmbTable *table, const char *name, int *column, lmbError *error )
{
	*column = lmbTable_Column( table, name );
	if ( *column >= 0 )
		return lmb_statusOk;
	char list[600] = "";
	size_t used = 0;
	for ( int c = 0; c < table->columnCount; ++c )
	{
		int length =
		    snprintf( list + used, sizeof( list ) - used, "%s\"%s\"", c > 0 ? ", " : "", table->names[c] );
		if ( length < 0 || used + (size_t)length >= sizeof( list ) - 8 )
		{
			snprintf( list + used, sizeof( list ) - used, ", .." );
			break;
		}
		used += (size_t)length;
	}
	return lmbError_Set( error, lmb_statusNotFound,
	                     "%s: no column \"%.100s\"; name one of %s, or #1 to #%d by position",
	                     table->path[0] != 0 ? table->path : "table", name, list, table->columnCount );
}

typedef struct NameOrder
{
	const char *name;
	int column;
} NameOrder;

static int CompareText( const void *a, const void *b )
{
	return strcmp( ( (const NameOrder *)a )->name, ( (const NameOrder *)b )->name );
}

static int CompareNames( const void *a, const void *b )
{
	const NameOrder *x = a, *y = b;
	int order = CompareText( x, y );
	return order != 0 ? order : ( x->column > y->column ) - ( x->column < y->column );
}

/* A second "q" becomes "q#7" after its position, with more marks where the file has that name too. */
static const char *NewName( lmbTable *table, const NameOrder *order, const char *name, int column )
{
	size_t capacity = strlen( name ) + 80;
	char *text = lmbArena_New( &table->arena, capacity, 1 );
	if ( text == NULL )
		return NULL;
	int used = snprintf( text, capacity, "%s#%d", name[0] != 0 ? name : "column", column + 1 );
	NameOrder key = { text, 0 };
	while ( (size_t)used + 1 < capacity &&
	        bsearch( &key, order, (size_t)table->columnCount, sizeof( *order ), CompareText ) != NULL )
		text[used++] = '#';
	return text;
}

lmbStatus lmbTable_MendNames( lmbTable *table, lmbError *error )
{
	int count = table->columnCount, mended = 0;
	NameOrder *order = malloc( (size_t)count * sizeof( *order ) );
	if ( order == NULL )
		return lmbError_Memory( error );
	for ( int c = 0; c < count; ++c )
		order[c] = ( NameOrder ){ table->names[c], c };
	qsort( order, (size_t)count, sizeof( *order ), CompareNames );
	lmbStatus status = lmb_statusOk;
	for ( int i = 0; i < count && status == lmb_statusOk; ++i )
	{
		bool empty = order[i].name[0] == 0;
		if ( !empty && ( i == 0 || strcmp( order[i].name, order[i - 1].name ) != 0 ) )
			continue;
		int column = order[i].column;
		const char *name = NewName( table, order, order[i].name, column );
		if ( name == NULL )
			status = lmbError_Memory( error );
		else if ( ++mended == 1 )
			status = lmbTable_Note( table, error, "column %d %s; it is called \"%.200s\" here", column + 1,
			                        empty ? "has no name" : "has a name that is there already", name );
		table->names[column] = name;
	}
	free( order );
	if ( status == lmb_statusOk && mended > 1 )
		status = lmbTable_Note(
		    table, error, "%d more columns without a name, or with one that is there already", mended - 1 );
	return status;
}

/* A zip archive is not read into memory whole: its arrays are unpacked one by one. */
static bool IsZip( const char *path )
{
	unsigned char first[4] = { 0 };
	FILE *stream = fopen( path, "rb" );
	size_t got = stream != NULL ? fread( first, 1, sizeof( first ), stream ) : 0;
	if ( stream != NULL )
		fclose( stream );
	return got == sizeof( first ) && memcmp( first, "PK", 2 ) == 0 && first[2] < 9 && first[3] < 9;
}

static lmbStatus ReadAny( lmbTable *table, const lmbTableDef *def, lmbError *error )
{
	if ( IsZip( table->path ) )
		return lmbTable_ReadNpz( table, def, error );
	lmbArena file = { 0 };
	char *data;
	size_t size;
	lmbStatus status = lmbFile_Read( table->path, &file, &data, &size, error );
	if ( status == lmb_statusOk )
	{
		if ( size >= 6 && memcmp( data, "\x93NUMPY", 6 ) == 0 )
			status = lmbTable_ReadNpy( table, data, size, error );
		else if ( size >= 128 && memcmp( data, "MATLAB ", 7 ) == 0 )
			status = lmbError_Set( error, lmb_statusUnsupported,
			                       "%s: a file of MATLAB's, which is not read; save a table there with "
			                       "writetable( .., \"FILE.csv\" )",
			                       table->path );
		else
			status = lmbTable_ReadText( table, def, data, size, error );
	}
	lmbArena_Free( &file );
	return status;
}

lmbStatus lmbTable_Read( const char *path, const lmbTableDef *def, lmbTable **out, lmbError *error )
{
	*out = NULL;
	lmbTableDef standard = def != NULL ? *def : ( lmbTableDef ){ 0 };
	if ( ( standard.decimal != 0 && standard.decimal != '.' && standard.decimal != ',' ) ||
	     ( standard.separator != 0 && standard.separator == standard.decimal ) ||
	     ( standard.separator != 0 && strchr( "\r\n\"0123456789+-.eE", standard.separator ) != NULL ) )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "%s: the decimal mark must be '.' or ',', and the separator another character "
		                     "that is no part of a number",
		                     path );
	lmbTable *table = calloc( 1, sizeof( *table ) );
	if ( table == NULL )
		return lmbError_Memory( error );
	table->path = lmbArena_String( &table->arena, path );
	lmbStatus status = table->path != NULL ? ReadAny( table, &standard, error ) : lmbError_Memory( error );
	if ( status == lmb_statusOk )
		*out = table;
	else
		lmbTable_Free( table );
	return status;
}
