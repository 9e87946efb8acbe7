#include "base/files.h"
#include "formats/number.h"
#include "formats/table.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* Writes errors once: stdio remembers them until Commit, which checks. */
static void WriteQuoted( FILE *stream, const char *name )
{
	/* A name that starts like a comment, or with spaces, would not be read back. */
	bool plain = strpbrk( name, ",;\"\r\n\t" ) == NULL && strpbrk( name, " #%/" ) != name && name[0] != 0 &&
	             name[strlen( name ) - 1] != ' ';
	if ( plain )
	{
		fputs( name, stream );
		return;
	}
	fputc( '"', stream );
	for ( ; *name != 0; ++name )
	{
		if ( *name == '"' )
			fputc( '"', stream );
		fputc( *name, stream );
	}
	fputc( '"', stream );
}

static void WriteRows( FILE *stream, const lmbTable *table, char separator )
{
	for ( int r = 0; r < table->rowCount; ++r )
		for ( int c = 0; c < table->columnCount; ++c )
		{
			char text[lmbNumberTextSize];
			lmbNumber_Print( table->columns[c][r], text );
			fputs( text, stream );
			fputc( c + 1 < table->columnCount ? separator : '\n', stream );
		}
}

static void WriteCsv( FILE *stream, const lmbTable *table )
{
	for ( int c = 0; c < table->columnCount; ++c )
	{
		WriteQuoted( stream, table->names[c] );
		fputc( c + 1 < table->columnCount ? ',' : '\n', stream );
	}
	WriteRows( stream, table, ',' );
}

/* OpenSim knows no quotes: what would separate becomes an underscore. */
static void WriteLabel( FILE *stream, const char *name )
{
	for ( ; *name != 0; ++name )
		fputc( strchr( " \t\r\n,", *name ) != NULL ? '_' : *name, stream );
}

static void WriteSto( FILE *stream, const lmbTable *table, const char *name, lmbTableAngles angles )
{
	for ( ; *name != 0; ++name )
		fputc( *name == '\n' || *name == '\r' ? ' ' : *name, stream );
	fprintf( stream, "\nversion=1\nnRows=%d\nnColumns=%d\ninDegrees=%s\nendheader\ntime", table->rowCount,
	         table->columnCount, angles == lmb_tableAnglesDegrees ? "yes" : "no" );
	for ( int c = 1; c < table->columnCount; ++c )
	{
		fputc( '\t', stream );
		WriteLabel( stream, table->names[c] );
	}
	fputc( '\n', stream );
	WriteRows( stream, table, '\t' );
}

static lmbStatus Finish( lmbFileWriter *writer, lmbNumberLocale *locale, lmbError *error )
{
	lmbNumberLocale_End( locale );
	if ( ferror( writer->stream ) == 0 )
		return lmbFileWriter_Commit( writer, error );
	lmbError_Set( error, lmb_statusIo, "%s: cannot write; is the disk full?", writer->path );
	lmbFileWriter_Abort( writer );
	return lmb_statusIo;
}

lmbStatus lmbTable_WriteCsv( const lmbTable *table, const char *path, lmbError *error )
{
	lmbFileWriter writer;
	lmbNumberLocale locale;
	LMB_TRY( lmbNumberLocale_Begin( &locale, error ) );
	lmbStatus status = lmbFileWriter_Open( &writer, path, error );
	if ( status != lmb_statusOk )
	{
		lmbNumberLocale_End( &locale );
		return status;
	}
	WriteCsv( writer.stream, table );
	return Finish( &writer, &locale, error );
}

lmbStatus lmbTable_WriteSto( const lmbTable *table, const char *path, const char *name, lmbTableAngles angles,
                             lmbError *error )
{
	lmbFileWriter writer;
	lmbNumberLocale locale;
	LMB_TRY( lmbNumberLocale_Begin( &locale, error ) );
	lmbStatus status = lmbFileWriter_Open( &writer, path, error );
	if ( status != lmb_statusOk )
	{
		lmbNumberLocale_End( &locale );
		return status;
	}
	WriteSto( writer.stream, table, name, angles );
	return Finish( &writer, &locale, error );
}

lmbStatus lmbTable_Write( const lmbTable *table, const char *path, const char *name, lmbTableAngles angles,
                          lmbError *error )
{
	size_t length = strlen( path );
	const char *ending = length >= 4 ? path + length - 4 : "";
	if ( strcasecmp( ending, ".npz" ) == 0 )
		return lmbTable_WriteNpz( table, path, error );
	if ( strcasecmp( ending, ".mat" ) == 0 )
		return lmbTable_WriteMatlab( table, path, error );
	if ( strcasecmp( ending, ".sto" ) == 0 || strcasecmp( ending, ".mot" ) == 0 )
		return lmbTable_WriteSto( table, path, name, angles, error );
	return lmbTable_WriteCsv( table, path, error );
}
