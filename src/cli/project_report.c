#include "cli/project_report.h"

#include "base/files.h"
#include "evaluate/details_file.h"
#include "evaluate/figure.h"
#include "evaluate/page.h"

#include <string.h>
#include <unistd.h>

/* report/build puts the page beside this program. */
static lmbStatus FindPage( char *out, size_t capacity, lmbError *error )
{
	char self[4096];
	ssize_t length = readlink( "/proc/self/exe", self, sizeof( self ) - 1 );
	self[length > 0 ? length : 0] = 0;
	char *slash = strrchr( self, '/' );
	if ( slash != NULL )
		*slash = 0;
	LMB_TRY( lmbPath_Join( out, capacity, slash != NULL ? self : ".", "report/report.html", error ) );
	if ( lmbFile_Exists( out ) )
		return lmb_statusOk;
	return lmbError_Set(
	    error, lmb_statusNotFound,
	    "%s: the report's page has not been built yet: run report/build %s/report (it needs Node and "
	    "npm; Debian: apt-get install nodejs npm)",
	    out, slash != NULL ? self : "." );
}

lmbStatus lmbReportFiles_Check( const lmbReportFiles *files, lmbError *error )
{
	char path[4096];
	if ( files->page != NULL )
		LMB_TRY( FindPage( path, sizeof( path ), error ) );
	return files->svg != NULL || files->png != NULL ? lmbFigure_Check( error ) : lmb_statusOk;
}

static void Tell( lmbCommand *command, const char *key, const char *path )
{
	lmbCommand_Print( command, "%s: %s\n", key, path );
	json_object_set_new( command->document, key, json_string( path ) );
}

static lmbStatus WriteFigures( const lmbReportFiles *files, const char *details, lmbCommand *command,
                               lmbError *error )
{
	json_error_t problem;
	json_t *document = json_load_file( details, 0, &problem );
	if ( document == NULL )
		return lmbError_Set( error, lmb_statusCorrupt, "%s:%d: %s", details, problem.line, problem.text );
	lmbStatus status = lmb_statusOk;
	if ( files->svg != NULL )
	{
		status = lmbFigure_Write( document, lmb_figureSvg, files->svg, error );
		if ( status == lmb_statusOk )
			Tell( command, "svg", files->svg );
	}
	if ( files->png != NULL && status == lmb_statusOk )
	{
		status = lmbFigure_Write( document, lmb_figurePng, files->png, error );
		if ( status == lmb_statusOk )
			Tell( command, "png", files->png );
	}
	json_decref( document );
	return status;
}

lmbStatus lmbReportFiles_Write( const lmbReportFiles *files, const char *folder, lmbCommand *command,
                                lmbError *error )
{
	char page[4096], metrics[4096], details[4096];
	LMB_TRY( lmbPath_Join( metrics, sizeof( metrics ), folder, "metrics.json", error ) );
	LMB_TRY( lmbPath_Join( details, sizeof( details ), folder, lmbDetailsFile_Name, error ) );
	if ( files->page != NULL )
	{
		LMB_TRY( FindPage( page, sizeof( page ), error ) );
		lmbPageDef def = { .page = page, .metrics = metrics, .details = details };
		LMB_TRY( lmbPage_Write( &def, files->page, error ) );
		Tell( command, "report", files->page );
	}
	return files->svg != NULL || files->png != NULL ? WriteFigures( files, details, command, error )
	                                                : lmb_statusOk;
}
