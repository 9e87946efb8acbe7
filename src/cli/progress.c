#include "cli/command.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* On a terminal the line is redrawn this often at most; in a log a line appears this often at most. */
static const double terminalInterval = 0.1, logInterval = 15.0;

void lmbProgress_Duration( double seconds, char out[32] )
{
	long whole = seconds > 0.0 && seconds < 1e9 ? lround( seconds ) : 0;
	if ( whole >= 3600 )
		snprintf( out, 32, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60 );
	else
		snprintf( out, 32, "%ld:%02ld", whole / 60, whole % 60 );
}

void lmbProgress_Clear( lmbProgress *progress )
{
	if ( progress->shown )
		fputs( "\r\033[K", stderr );
	progress->shown = false;
}

void lmbProgress_Title( lmbProgress *progress, const char *title )
{
	lmbProgress_Clear( progress );
	snprintf( progress->title, sizeof( progress->title ), "%s", title );
	progress->unit[0] = 0;
}

void lmbProgress_Line( lmbProgress *progress, const char *line )
{
	if ( progress->quiet )
		return;
	lmbProgress_Clear( progress );
	fprintf( stderr, "%s\n", line );
}

void lmbProgress_Update( lmbProgress *progress, const char *unit, double done, double total,
                         const char *detail )
{
	if ( progress->quiet )
		return;
	double now = lmbClock_Seconds();
	if ( strncmp( progress->unit, unit, sizeof( progress->unit ) - 1 ) != 0 || done < progress->firstDone )
	{
		snprintf( progress->unit, sizeof( progress->unit ), "%s", unit );
		progress->firstDone = done;
		progress->firstTime = now;
		progress->lastTime = progress->terminal ? 0.0 : now;
	}
	if ( now - progress->lastTime < ( progress->terminal ? terminalInterval : logInterval ) )
		return;
	progress->lastTime = now;
	char left[64] = "";
	/* What a resumed run finds done already says nothing about its speed. */
	double gained = done - progress->firstDone;
	if ( gained > 0.0 && now > progress->firstTime && total >= done )
	{
		char duration[32];
		lmbProgress_Duration( ( total - done ) * ( now - progress->firstTime ) / gained, duration );
		snprintf( left, sizeof( left ), ", %s left", duration );
	}
	double percent = total > 0.0 ? 100.0 * done / total : 0.0;
	const char *separator = detail != NULL && detail[0] != 0 ? ", " : "";
	fprintf( stderr, "%s%s: %.0f of %.0f %s (%.0f %%%s)%s%s%s", progress->terminal ? "\r\033[K" : "",
	         progress->title, done, total, unit, percent, left, separator, detail != NULL ? detail : "",
	         progress->terminal ? "" : "\n" );
	fflush( stderr );
	progress->shown = progress->terminal;
}
