#include "cli/info_recording.h"

#include <math.h>
#include <string.h>
#include <strings.h>

bool lmbInfo_IsRecording( const char *path )
{
	static const char *const endings[] = { ".csv", ".tsv", ".txt", ".dat", ".sto", ".mot", ".npy", ".npz" };
	size_t length = strlen( path );
	for ( size_t i = 0; i < sizeof( endings ) / sizeof( endings[0] ); ++i )
		if ( length > 4 && strcasecmp( path + length - 4, endings[i] ) == 0 )
			return true;
	return false;
}

static void PrintTimes( lmbCommand *command, const lmbRecordingSummary *summary )
{
	if ( !summary->timed )
	{
		lmbCommand_Print( command, "  no column is taken for the time: name one with --time\n" );
		return;
	}
	lmbCommand_Print( command, "  %.6g s, from %.6g to %.6g s; %.6g Hz, %s\n", summary->end - summary->start,
	                  summary->start, summary->end, summary->rate,
	                  summary->regular ? "regular but for rounding" : "not regular" );
	lmbCommand_Print( command, "  jitter %.3g s (root mean square), at most %.3g s\n", summary->jitter,
	                  summary->jitterLargest );
	if ( summary->gapCount > 0 )
		lmbCommand_Print( command, "  %d gaps, the longest %.4g s\n", summary->gapCount,
		                  summary->gapLargest );
	if ( summary->repeated + summary->backwards > 0 )
		lmbCommand_Print( command, "  %d time stamps repeat, %d run backwards\n", summary->repeated,
		                  summary->backwards );
}

/* Columns of one role and unit that go on in the same way would fill a screen: all are told, briefly. */
static void PrintRecording( lmbCommand *command, const char *path, const lmbRecordingSummary *summary )
{
	int suspicions = 0;
	lmbCommand_Print( command, "%s: a table (%s) of %d rows and %d columns\n", path, summary->format,
	                  summary->rowCount, summary->columnCount );
	PrintTimes( command, summary );
	lmbCommand_Print( command, "columns\n  %-24s %-12s %-8s %12s %12s %12s %9s\n", "name", "taken for",
	                  "unit", "lowest", "highest", "mean", "missing" );
	for ( int c = 0; c < summary->columnCount; ++c )
	{
		const lmbRecordingColumn *column = &summary->columns[c];
		suspicions += column->suspicionCount;
		lmbCommand_Print( command, "  %-24s %-12s %-8s %12.6g %12.6g %12.6g %9d\n", column->name,
		                  lmbRecordingRole_Name( column->role ), column->unit[0] != 0 ? column->unit : "?",
		                  column->low, column->high, column->mean, column->missing );
	}
	lmbCommand_Print( command, "suspicious\n" );
	for ( int c = 0; c < summary->columnCount; ++c )
		for ( int i = 0; i < summary->columns[c].suspicionCount; ++i )
			lmbCommand_Print( command, "  %s: %s\n", summary->columns[c].name,
			                  summary->columns[c].suspicions[i] );
	if ( suspicions == 0 )
		lmbCommand_Print( command, "  nothing\n" );
	lmbCommand_Print( command, "notes\n" );
	for ( int i = 0; i < summary->noteCount; ++i )
		lmbCommand_Print( command, "  %s\n", summary->notes[i] );
	if ( summary->noteCount == 0 )
		lmbCommand_Print( command, "  none\n" );
}

static json_t *Number( double value )
{
	return isfinite( value ) ? json_real( value ) : json_null();
}

static void Describe( json_t *document, const lmbRecordingSummary *summary )
{
	json_t *columns = json_array(), *notes = json_array(), *facts = json_object();
	for ( int c = 0; c < summary->columnCount; ++c )
	{
		const lmbRecordingColumn *column = &summary->columns[c];
		json_t *suspicions = json_array();
		for ( int i = 0; i < column->suspicionCount; ++i )
			json_array_append_new( suspicions, json_string( column->suspicions[i] ) );
		json_array_append_new( columns,
		                       json_pack( "{s:s, s:s, s:s, s:o, s:o, s:o, s:i, s:o}", "name", column->name,
		                                  "role", lmbRecordingRole_Name( column->role ), "unit", column->unit,
		                                  "lowest", Number( column->low ), "highest", Number( column->high ),
		                                  "mean", Number( column->mean ), "missing", column->missing,
		                                  "suspicions", suspicions ) );
	}
	for ( int i = 0; i < summary->noteCount; ++i )
		json_array_append_new( notes, json_string( summary->notes[i] ) );
	json_object_set_new( facts, "format", json_string( summary->format ) );
	json_object_set_new( facts, "rows", json_integer( summary->rowCount ) );
	if ( summary->timed )
		json_object_set_new( facts, "time",
		                     json_pack( "{s:f, s:f, s:f, s:f, s:f, s:b, s:i, s:i, s:i, s:f}", "start_s",
		                                summary->start, "end_s", summary->end, "rate_hz", summary->rate,
		                                "jitter_s", summary->jitter, "jitter_largest_s",
		                                summary->jitterLargest, "regular", summary->regular, "repeated",
		                                summary->repeated, "backwards", summary->backwards, "gaps",
		                                summary->gapCount, "gap_largest_s", summary->gapLargest ) );
	json_object_set_new( facts, "columns", columns );
	json_object_set_new( facts, "notes", notes );
	json_object_set_new( document, "kind", json_string( "recording" ) );
	json_object_set_new( document, "recording", facts );
}

lmbStatus lmbInfo_Recording( lmbCommand *command, const char *path, const lmbRecordingDef *def,
                             lmbError *error )
{
	lmbRecordingSummary *summary;
	LMB_TRY( lmbRecording_Summarise( path, def, &summary, error ) );
	PrintRecording( command, path, summary );
	Describe( command->document, summary );
	lmbRecordingSummary_Free( summary );
	return lmb_statusOk;
}
