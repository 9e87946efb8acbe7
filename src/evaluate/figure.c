#include "evaluate/figure.h"

#include "base/files.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum
{
	panelMax = 12,
	panelWidth = 440,
	panelHeight = 330,
	pngScale = 2 /* pixels of a PNG for one of an SVG */
};

/* Okabe and Ito's colours, as on the page (report/src/chart.js). */
static const struct
{
	const char *name, *colour;
	int dash;
} looks[] = {
    { "skinning", "#8c8c8c", 2 },   { "network", "#e69f00", 2 },     { "instant", "#56b4e9", 3 },
    { "vertex", "#009e73", 1 },     { "modal", "#0072b2", 1 },       { "modal_unfitted", "#cc79a7", 1 },
    { "hybrid", "#d55e00", 1 },     { "truth", "#000000", 1 },       { "ape_lagrangian", "#d55e00", 1 },
    { "ape_affine", "#0072b2", 1 }, { "ape_plain", "#009e73", 1 },   { "gru", "#e69f00", 2 },
    { "lstm", "#cc79a7", 2 },       { "known_terms", "#56b4e9", 3 },
};

/* Text of somebody else's in gnuplot's single quotes, where a quote is doubled and nothing else means
 * anything. */
static void Quote( FILE *stream, const char *text )
{
	fputc( '\'', stream );
	for ( const char *c = text; *c != 0; ++c )
	{
		if ( *c == '\'' )
			fputc( '\'', stream );
		fputc( (unsigned char)*c < 0x20 || *c == 0x7f ? ' ' : *c, stream );
	}
	fputc( '\'', stream );
}

/* One named line of a panel; x is NULL for samples at a constant step. */
typedef struct Curve
{
	const char *name;
	const json_t *x, *y;
	double step;
} Curve;

enum
{
	curveMax = 16
};

static void WriteCurve( FILE *stream, int index, const Curve *curve, bool logarithmic )
{
	fprintf( stream, "$curve%d << EOD\n", index );
	size_t count = json_array_size( curve->y );
	for ( size_t i = 0; i < count; ++i )
	{
		const json_t *y = json_array_get( curve->y, i );
		double x =
		    curve->x != NULL ? json_number_value( json_array_get( curve->x, i ) ) : (double)i * curve->step;
		double value = json_number_value( y );
		if ( json_is_number( y ) && ( !logarithmic || value > 0.0 ) )
			fprintf( stream, "%.7g %.7g\n", x, value );
		else
			fprintf( stream, "\n" ); /* the line is broken here */
	}
	fprintf( stream, "EOD\n" );
}

static void WritePanel( FILE *stream, const char *title, const Curve *curves, int count, bool logarithmic )
{
	for ( int i = 0; i < count; ++i )
		WriteCurve( stream, i, &curves[i], logarithmic );
	fprintf( stream, "set title " );
	Quote( stream, title );
	fprintf( stream, "\nplot " );
	for ( int i = 0; i < count; ++i )
	{
		const char *colour = "#7570b3";
		int dash = 1;
		for ( size_t k = 0; k < sizeof( looks ) / sizeof( looks[0] ); ++k )
			if ( strcmp( looks[k].name, curves[i].name ) == 0 )
			{
				colour = looks[k].colour;
				dash = looks[k].dash;
			}
		fprintf( stream, "%s$curve%d using 1:2 with lines lw 1.5 dt %d lc rgb '%s' title ", i > 0 ? ", " : "",
		         i, dash, colour );
		Quote( stream, curves[i].name );
	}
	fprintf( stream, "\n" );
}

static void WriteHead( FILE *stream, lmbFigureFormat format, int panels, bool logarithmic,
                       const char *yLabel )
{
	int columns = panels > 1 ? 2 : 1, rows = ( panels + columns - 1 ) / columns;
	int scale = format == lmb_figurePng ? pngScale : 1;
	fprintf(
	    stream,
	    "set encoding utf8\nset terminal %s size %d,%d font 'sans,%d' %s noenhanced background '#ffffff'\n",
	    format == lmb_figurePng ? "pngcairo" : "svg", scale * columns * panelWidth,
	    scale * rows * panelHeight, format == lmb_figurePng ? 10 : 11,
	    format == lmb_figurePng ? "fontscale 2 linewidth 2" : "" );
	fprintf(
	    stream,
	    "set multiplot layout %d,%d\nset key outside bottom center horizontal samplen 2 font ',9'\nset tics "
	    "nomirror\n"
	    "set border 3\nset grid lw 0.5 dt 1 lc rgb '#d0d0d0'\nset xlabel 'time [s]'\nset ylabel '%s'\n%s",
	    rows, columns, yLabel, logarithmic ? "set logscale y\nset format y '%g'\n" : "set yrange [0:*]\n" );
}

static const char *const columnNames[] = { "skinning",       "network", "instant", "vertex",
                                           "modal_unfitted", "modal",   "hybrid" };

static int CharacterScript( const json_t *details, lmbFigureFormat format, FILE *stream )
{
	json_t *motions = json_object_get( details, "motions" ), *motion;
	const char *name;
	int heldOut = 0, panels = 0, all = 0;
	json_object_foreach( motions, name, motion )
	{
		heldOut += json_is_false( json_object_get( motion, "trained" ) );
		all += 1;
	}
	int wanted = heldOut > 0 ? heldOut : all;
	wanted = wanted < panelMax ? wanted : panelMax;
	if ( wanted == 0 )
		return 0;
	WriteHead( stream, format, wanted, false, "distance to the simulation [mm]" );
	json_object_foreach( motions, name, motion )
	{
		bool trained = json_is_true( json_object_get( motion, "trained" ) );
		if ( ( trained && heldOut > 0 ) || panels == wanted )
			continue;
		Curve curves[curveMax];
		int count = 0;
		char title[256];
		for ( size_t c = 0; c < sizeof( columnNames ) / sizeof( columnNames[0] ); ++c )
		{
			const json_t *y = json_object_get( json_object_get( motion, "rms_mm" ), columnNames[c] );
			if ( y != NULL )
				curves[count++] =
				    ( Curve ){ .name = columnNames[c],
				               .y = y,
				               .step = 1.0 / json_number_value( json_object_get( motion, "rate_hz" ) ) };
		}
		snprintf( title, sizeof( title ), "%.200s (%s)", name, trained ? "trained" : "held out" );
		WritePanel( stream, title, curves, count, false );
		panels += 1;
	}
	return panels;
}

static int LimbScript( const json_t *details, lmbFigureFormat format, FILE *stream )
{
	json_t *tests = json_object_get( details, "tests" ), *models = json_object_get( details, "models" );
	json_t *test, *model;
	const char *testName, *modelName;
	int panels = 0, wanted = (int)json_object_size( tests );
	wanted = wanted < panelMax ? wanted : panelMax;
	if ( wanted == 0 || json_object_size( models ) == 0 )
		return 0;
	WriteHead( stream, format, wanted, true, "median error [degrees]" );
	json_object_foreach( tests, testName, test )
	{
		Curve curves[curveMax];
		int count = 0;
		json_object_foreach( models, modelName, model )
		{
			const json_t *score = json_object_get( model, testName );
			if ( score != NULL && count < curveMax )
				curves[count++] =
				    ( Curve ){ .name = modelName,
				               .x = json_object_get( test, "times_s" ),
				               .y = json_object_get( json_object_get( score, "rmse_deg" ), "median" ) };
		}
		if ( panels < wanted )
			WritePanel( stream, testName, curves, count, true );
		panels += panels < wanted;
	}
	return panels;
}

bool lmbFigure_Script( const json_t *details, lmbFigureFormat format, FILE *stream )
{
	const char *kind = json_string_value( json_object_get( details, "kind" ) );
	bool limb = kind != NULL && strcmp( kind, "limb" ) == 0;
	int panels = limb ? LimbScript( details, format, stream ) : CharacterScript( details, format, stream );
	if ( panels > 0 )
		fprintf( stream, "unset multiplot\n" );
	return panels > 0;
}

/* gnuplot with arguments; its streams are the given descriptors. The exit code, or -1 when it did not start.
 */
static int RunGnuplot( char *const arguments[], int in, int out, int errors )
{
	posix_spawn_file_actions_t actions;
	pid_t child;
	int code = -1;
	if ( posix_spawn_file_actions_init( &actions ) != 0 )
		return -1;
	const int from[3] = { in, out, errors };
	bool failed = false;
	for ( int i = 0; i < 3; ++i )
		failed = failed || posix_spawn_file_actions_adddup2( &actions, from[i], i ) != 0;
	if ( !failed && posix_spawnp( &child, arguments[0], &actions, NULL, arguments, environ ) == 0 )
	{
		while ( waitpid( child, &code, 0 ) < 0 && errno == EINTR )
			;
		code = WIFEXITED( code ) ? WEXITSTATUS( code ) : 1;
	}
	posix_spawn_file_actions_destroy( &actions );
	return code;
}

static lmbStatus NotThere( lmbError *error )
{
	return lmbError_Set(
	    error, lmb_statusNotFound,
	    "figures are drawn by gnuplot, which is not here: install it (Debian: apt-get install "
	    "gnuplot-nox), or leave --svg and --png out" );
}

lmbStatus lmbFigure_Check( lmbError *error )
{
	char *arguments[] = { "gnuplot", "--version", NULL };
	FILE *nothing = tmpfile();
	if ( nothing == NULL )
		return lmbError_Set( error, lmb_statusIo, "no temporary file can be made: %s", strerror( errno ) );
	int handle = fileno( nothing ), code = RunGnuplot( arguments, handle, handle, handle );
	fclose( nothing );
	return code == 0 ? lmb_statusOk : NotThere( error );
}

static lmbStatus Draw( FILE *script, FILE *complaint, const char *path, lmbError *error )
{
	char *arguments[] = { "gnuplot", "-", NULL };
	lmbFileWriter writer;
	LMB_TRY( lmbFileWriter_Open( &writer, path, error ) );
	rewind( script );
	int code = RunGnuplot( arguments, fileno( script ), fileno( writer.stream ), fileno( complaint ) );
	if ( code == 0 )
		return lmbFileWriter_Commit( &writer, error );
	lmbFileWriter_Abort( &writer );
	if ( code < 0 )
		return NotThere( error );
	char text[400] = "";
	rewind( complaint );
	size_t length = fread( text, 1, sizeof( text ) - 1, complaint );
	text[length] = 0;
	return lmbError_Set( error, lmb_statusIo, "%s: gnuplot failed: %s", path, text );
}

lmbStatus lmbFigure_Write( const json_t *details, lmbFigureFormat format, const char *path, lmbError *error )
{
	FILE *script = tmpfile(), *complaint = tmpfile();
	lmbStatus status = lmb_statusOk;
	if ( script == NULL || complaint == NULL )
		status = lmbError_Set( error, lmb_statusIo, "no temporary file can be made: %s", strerror( errno ) );
	else if ( !lmbFigure_Script( details, format, script ) )
		status = lmbError_Set( error, lmb_statusInvalidArgument, "%s: there is nothing to draw", path );
	else if ( fflush( script ) != 0 )
		status =
		    lmbError_Set( error, lmb_statusIo, "a temporary file cannot be written: %s", strerror( errno ) );
	else
		status = Draw( script, complaint, path, error );
	if ( script != NULL )
		fclose( script );
	if ( complaint != NULL )
		fclose( complaint );
	return status;
}
