/* The page of a report, and the figure: what somebody else's text in them may not do. */
#include "check.h"

#include "base/files.h"
#include "evaluate/figure.h"
#include "evaluate/page.h"

#include <stdlib.h>
#include <unistd.h>

static char folder[64] = "/tmp/limber-page-XXXXXX";

/* A path in the folder; four at a time. */
static const char *Path( const char *name )
{
	static char paths[4][128];
	static int next;
	char *path = paths[next++ % 4];
	snprintf( path, sizeof( paths[0] ), "%s/%s", folder, name );
	return path;
}

static void Put( const char *name, const char *text )
{
	lmbError error = { 0 };
	CHECK_OR_STOP( lmbFile_Write( Path( name ), text, strlen( text ), &error ) == lmb_statusOk );
}

static lmbStatus WritePage( const char *name, lmbError *error )
{
	lmbPageDef def = {
	    .page = Path( "template" ), .metrics = Path( "metrics" ), .details = Path( "details" ) };
	return lmbPage_Write( &def, Path( name ), error );
}

static void DataCannotEndTheirElement( void **state )
{
	(void)state;
	lmbError error = { 0 };
	lmbArena arena = { 0 };
	char *page;
	size_t size;
	Put( "template", "<main></main><!--limber-data--><i>end</i>" );
	Put( "metrics", "{\"a\": \"</script><b>\", \"b\": 1.5}" );
	Put( "details", "{\"<!--\": \"<script>\\u00e9\"}" );
	CHECK_INT( WritePage( "out", &error ), lmb_statusOk );
	CHECK_OR_STOP( lmbFile_Read( Path( "out" ), &arena, &page, &size, &error ) == lmb_statusOk );
	const char *expected = "<main></main>"
	                       "<script type=\"application/json\" id=\"limber-metrics\">{\"a\": "
	                       "\"\\u003c/script>\\u003cb>\", \"b\": "
	                       "1.5}</script>\n"
	                       "<script type=\"application/json\" id=\"limber-evaluation\">{\"\\u003c!--\": "
	                       "\"\\u003cscript>\\u00e9\"}</script>\n"
	                       "<i>end</i>";
	CHECK( strcmp( page, expected ) == 0 );
	lmbArena_Free( &arena );
}

static void WhatIsMissingIsNamed( void **state )
{
	(void)state;
	lmbError error = { 0 };
	Put( "template", "<main></main>" );
	Put( "metrics", "{}" );
	Put( "details", "{}" );
	CHECK_INT( WritePage( "none", &error ), lmb_statusCorrupt );
	CHECK_CONTAINS( error.message, "run report/build again" );
	Put( "template", "<!--limber-data-->" );
	unlink( Path( "details" ) );
	CHECK( WritePage( "none", &error ) != lmb_statusOk );
	CHECK_CONTAINS( error.message, "/details" );
	CHECK( !lmbFile_Exists( Path( "none" ) ) );
}

/* A motion whose name is a command of gnuplot, of a shell, and two lines long. */
static json_t *Hostile( void )
{
	char name[256];
	snprintf( name, sizeof( name ), "it's'; system('touch %s'); '`touch %s`\nplot $(touch %s)",
	          Path( "touched" ), Path( "touched" ), Path( "touched" ) );
	return json_pack( "{s:s, s:{s:{s:b, s:f, s:{s:[f,n,f], s:[f,f,f]}}}}", "kind", "character", "motions",
	                  name, "trained", 0, "rate_hz", 60.0, "rms_mm", "skinning", 1.0, 3.0, "hybrid", 0.5,
	                  0.25, 0.125 );
}

static void NamesAreOnlyText( void **state )
{
	(void)state;
	json_t *details = Hostile();
	char *script = NULL;
	size_t size = 0;
	FILE *stream = open_memstream( &script, &size );
	CHECK_OR_STOP( details != NULL && stream != NULL );
	CHECK( lmbFigure_Script( details, lmb_figureSvg, stream ) );
	fclose( stream );
	CHECK_CONTAINS( script, "set title 'it''s''; system(''touch " );
	CHECK_CONTAINS( script, " plot $(touch " );
	CHECK_CONTAINS( script, "0 1\n\n0.03333333 3\n" ); /* no line over a frame that does not count */
	free( script );
	json_decref( details );
}

static void GnuplotDrawsThem( void **state )
{
	(void)state;
	lmbError error = { 0 };
	if ( lmbFigure_Check( &error ) != lmb_statusOk )
	{
		printf( "skipped: %s\n", error.message );
		return;
	}
	json_t *details = Hostile();
	lmbArena arena = { 0 };
	char *text;
	size_t size;
	for ( int format = lmb_figureSvg; format <= lmb_figurePng; ++format )
	{
		CHECK_INT( lmbFigure_Write( details, (lmbFigureFormat)format, Path( "figure" ), &error ),
		           lmb_statusOk );
		CHECK_OR_STOP( lmbFile_Read( Path( "figure" ), &arena, &text, &size, &error ) == lmb_statusOk );
		CHECK( format == lmb_figurePng ? memcmp( text, "\x89PNG", 4 ) == 0
		                               : strstr( text, "hybrid" ) != NULL );
	}
	CHECK( !lmbFile_Exists( Path( "touched" ) ) );
	CHECK( lmbFigure_Write( details, lmb_figureSvg, "/nowhere/figure", &error ) != lmb_statusOk );
	CHECK_CONTAINS( error.message, "/nowhere/figure" );
	json_t *nothing = json_object();
	CHECK_INT( lmbFigure_Write( nothing, lmb_figureSvg, Path( "nothing" ), &error ),
	           lmb_statusInvalidArgument );
	CHECK( !lmbFile_Exists( Path( "nothing" ) ) );
	json_decref( nothing );
	json_decref( details );
	lmbArena_Free( &arena );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( DataCannotEndTheirElement ),
	    CHECK_TEST( WhatIsMissingIsNamed ),
	    CHECK_TEST( NamesAreOnlyText ),
	    CHECK_TEST( GnuplotDrawsThem ),
	};
	if ( mkdtemp( folder ) == NULL )
		return 1;
	int failed = CHECK_RUN( tests );
	static const char *const names[] = { "template", "metrics", "details", "out",
	                                     "none",     "figure",  "touched" };
	for ( size_t i = 0; i < sizeof( names ) / sizeof( names[0] ); ++i )
		unlink( Path( names[i] ) );
	rmdir( folder );
	return failed;
}
