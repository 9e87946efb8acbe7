#include "cli/command.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The only thing that a signal handler may touch; a process has one set of signals, so this is global. */
static atomic_bool stopRequested;

static void OnSignal( int number )
{
	(void)number;
	/* The second request does not wait for a clean end; files are written whole or not at all anyway. */
	if ( atomic_exchange( &stopRequested, true ) )
		_exit( lmbExitStopped );
}

static void CatchSignals( void )
{
	struct sigaction action = { .sa_handler = OnSignal };
	sigemptyset( &action.sa_mask );
	sigaction( SIGINT, &action, NULL );
	sigaction( SIGTERM, &action, NULL );
	/* A reader that goes away (limber ... | head) ends as a write error, not as a death by signal. */
	action.sa_handler = SIG_IGN;
	sigaction( SIGPIPE, &action, NULL );
}

static void OnProgress( void *context, const char *unit, double done, double total, const char *detail )
{
	lmbProgress_Update( &( (lmbCommand *)context )->progress, unit, done, total, detail );
}

static void OnNote( void *context, const char *line )
{
	lmbProgress_Line( &( (lmbCommand *)context )->progress, line );
}

static void PrintHelp( const lmbCommand *command )
{
	printf( "limber %s: %s\n\n%s\n\n", command->verb->name, command->verb->summary, command->verb->help );
	poptPrintHelp( command->context, stdout, 0 );
}

static int Misused( const lmbCommand *command, const char *format, ... )
    __attribute__( ( format( printf, 2, 3 ) ) );

static int Misused( const lmbCommand *command, const char *format, ... )
{
	char message[1024];
	va_list arguments;
	va_start( arguments, format );
	vsnprintf( message, sizeof( message ), format, arguments );
	va_end( arguments );
	fprintf( stderr, "limber %s: %s\nTry: limber %s --help\n", command->verb->name, message,
	         command->verb->name );
	if ( command->json )
	{
		json_t *document = json_pack( "{s:s, s:b, s:{s:s, s:s}}", "command", command->verb->name, "ok", 0,
		                              "error", "status", "usage", "message", message );
		json_dumpf( document, stdout, JSON_INDENT( 2 ) );
		putchar( '\n' );
		json_decref( document );
	}
	return lmbExitUsage;
}

static int WrongCount( const lmbCommand *command )
{
	return Misused( command, "it works on one %s, not on %d", command->verb->arguments,
	                command->argumentCount );
}

int lmbCommand_Reject( lmbCommand *command )
{
	int code = WrongCount( command );
	json_decref( command->document );
	poptFreeContext( command->context );
	return code;
}

static int ReadOptions( lmbCommand *command )
{
	int code;
	while ( ( code = poptGetNextOpt( command->context ) ) > 0 )
		;
	if ( code < -1 )
		return Misused( command, "%s: %s", poptBadOption( command->context, POPT_BADOPTION_NOALIAS ),
		                poptStrerror( code ) );
	if ( command->help )
	{
		PrintHelp( command );
		return lmbExitOk;
	}
	if ( command->threads < 0 || command->threads > 4096 )
		return Misused( command, "--threads must be in 1 to 4096" );
	if ( command->seed < -1 )
		return Misused( command, "--seed must not be negative" );
	command->arguments = poptGetArgs( command->context );
	while ( command->arguments != NULL && command->arguments[command->argumentCount] != NULL )
		command->argumentCount += 1;
	if ( command->argumentCount < command->verb->fewest || command->argumentCount > command->verb->most )
		return WrongCount( command );
	return -1;
}

int lmbCommand_Begin( lmbCommand *command, const lmbVerb *verb, int argc, const char **argv,
                      const struct poptOption *options )
{
	command->verb = verb;
	command->seed = -1;
	snprintf( command->name, sizeof( command->name ), "limber %s", verb->name );
	snprintf( command->usage, sizeof( command->usage ), "[OPTION...] %s", verb->arguments );
	argv[0] = command->name; /* popt's usage line starts with it */
	command->context = poptGetContext( "limber", argc, argv, options, 0 );
	poptSetOtherOptionHelp( command->context, command->usage );
	int code = ReadOptions( command );
	if ( code >= 0 )
	{
		poptFreeContext( command->context );
		return code;
	}
	long cores = sysconf( _SC_NPROCESSORS_ONLN );
	if ( command->threads == 0 )
		command->threads = cores > 0 ? (int)cores : 1;
	command->document = json_object();
	command->progress.quiet = command->quiet != 0;
	command->progress.terminal = isatty( STDERR_FILENO ) == 1;
	command->job = ( lmbJob ){ .threads = command->threads,
	                           .seed = command->seed > 0 ? (uint64_t)command->seed : 0,
	                           .cancelled = &stopRequested,
	                           .progress = OnProgress,
	                           .note = OnNote,
	                           .context = command };
	CatchSignals();
	return -1;
}

void lmbCommand_Print( lmbCommand *command, const char *format, ... )
{
	if ( command->json )
		return;
	lmbProgress_Clear( &command->progress );
	va_list arguments;
	va_start( arguments, format );
	vprintf( format, arguments );
	va_end( arguments );
}

int lmbCommand_End( lmbCommand *command, lmbStatus status, const lmbError *error )
{
	lmbProgress_Clear( &command->progress );
	int code = status == lmb_statusOk          ? lmbExitOk
	           : status == lmb_statusCancelled ? lmbExitStopped
	                                           : lmbExitError;
	if ( status != lmb_statusOk )
		fprintf( stderr, "limber %s: %s\n", command->verb->name, error->message );
	if ( command->json && command->document != NULL )
	{
		json_object_set_new( command->document, "command", json_string( command->verb->name ) );
		json_object_set_new( command->document, "ok", json_boolean( status == lmb_statusOk ) );
		if ( status != lmb_statusOk )
			json_object_set_new(
			    command->document, "error",
			    json_pack( "{s:s, s:s}", "status", lmbStatus_Text( status ), "message", error->message ) );
		json_dumpf( command->document, stdout, JSON_INDENT( 2 ) | JSON_REAL_PRECISION( 9 ) );
		putchar( '\n' );
	}
	if ( ( fflush( stdout ) != 0 || ferror( stdout ) ) && code == lmbExitOk )
	{
		fprintf( stderr, "limber %s: cannot write to standard output\n", command->verb->name );
		code = lmbExitError;
	}
	json_decref( command->document );
	poptFreeContext( command->context );
	return code;
}
