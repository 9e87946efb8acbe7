#include "evaluate/page.h"

#include "base/files.h"

#include <string.h>

static const char marker[] = "<!--limber-data-->";

static lmbStatus WriteText( lmbFileWriter *writer, const char *text, lmbError *error )
{
	return lmbFileWriter_Write( writer, text, strlen( text ), error );
}

/* A file as the content of a script element that is data. */
static lmbStatus WriteJson( lmbFileWriter *writer, const char *id, const char *path, lmbArena *arena,
                            lmbError *error )
{
	char *data, open[96];
	size_t size;
	LMB_TRY( lmbFile_Read( path, arena, &data, &size, error ) );
	snprintf( open, sizeof( open ), "<script type=\"application/json\" id=\"%s\">", id );
	LMB_TRY( WriteText( writer, open, error ) );
	for ( const char *at = data, *end = data + size; at < end; )
	{
		const char *less = memchr( at, '<', (size_t)( end - at ) );
		LMB_TRY( lmbFileWriter_Write( writer, at, (size_t)( ( less != NULL ? less : end ) - at ), error ) );
		if ( less == NULL )
			break;
		LMB_TRY( WriteText( writer, "\\u003c", error ) );
		at = less + 1;
	}
	return WriteText( writer, "</script>\n", error );
}

static lmbStatus WriteParts( const lmbPageDef *def, lmbFileWriter *writer, lmbArena *arena, lmbError *error )
{
	char *page;
	size_t size;
	LMB_TRY( lmbFile_Read( def->page, arena, &page, &size, error ) );
	char *at = strstr( page, marker );
	if ( at == NULL || strlen( page ) != size )
		return lmbError_Set( error, lmb_statusCorrupt, "%s: has no place for data; run report/build again",
		                     def->page );
	LMB_TRY( lmbFileWriter_Write( writer, page, (size_t)( at - page ), error ) );
	LMB_TRY( WriteJson( writer, "limber-metrics", def->metrics, arena, error ) );
	LMB_TRY( WriteJson( writer, "limber-evaluation", def->details, arena, error ) );
	return WriteText( writer, at + strlen( marker ), error );
}

lmbStatus lmbPage_Write( const lmbPageDef *def, const char *path, lmbError *error )
{
	lmbArena arena = { 0 };
	lmbFileWriter writer;
	lmbStatus status = lmbFileWriter_Open( &writer, path, error );
	if ( status == lmb_statusOk )
	{
		status = WriteParts( def, &writer, &arena, error );
		if ( status == lmb_statusOk )
			status = lmbFileWriter_Commit( &writer, error );
		else
			lmbFileWriter_Abort( &writer );
	}
	lmbArena_Free( &arena );
	return status;
}
