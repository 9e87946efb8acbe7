/* The command `limber`: finds the verb and hands over. */
#include "cli/command.h"
#include "project/table.h"

#include <stdio.h>
#include <string.h>

static void PrintHelp( FILE *stream )
{
	fprintf( stream,
	         "Usage: limber VERB [OPTION...] FILE\n\n"
	         "Teaches a network what a rigged character's soft body does at rest, and springs, integrated\n"
	         "exactly, how it moves; and a limb's equations of motion, which an integrator carries "
	         "on.\n\nVerbs:\n" );
	for ( const lmbVerb *verb = lmbVerbs; verb->name != NULL; ++verb )
		fprintf( stream, "  %-10s%s\n", verb->name, verb->summary );
	fprintf( stream, "\nlimber VERB --help tells more; limber --version prints the version.\n" );
}

static int UnknownVerb( const char *name )
{
	const char *names[32];
	int count = 0;
	for ( const lmbVerb *verb = lmbVerbs; verb->name != NULL && count < 32; ++verb )
		names[count++] = verb->name;
	fprintf( stderr, "limber: there is no verb \"%s\"; the nearest is \"%s\"\nTry: limber --help\n", name,
	         lmbProject_Nearest( name, names, count ) );
	return lmbExitUsage;
}

int main( int argc, char **argv )
{
	const char *name = argc > 1 ? argv[1] : "";
	if ( strcmp( name, "--help" ) == 0 || strcmp( name, "-h" ) == 0 || strcmp( name, "help" ) == 0 )
	{
		PrintHelp( stdout );
		return lmbExitOk;
	}
	if ( strcmp( name, "--version" ) == 0 )
	{
		printf( "limber %d.%d.%d\n", LMB_VERSION_MAJOR, LMB_VERSION_MINOR, LMB_VERSION_PATCH );
		return lmbExitOk;
	}
	if ( name[0] == 0 )
	{
		PrintHelp( stderr );
		return lmbExitUsage;
	}
	if ( name[0] == '-' )
	{
		fprintf( stderr,
		         "limber: the verb comes first, then options; \"%s\" is not a verb\nTry: limber --help\n",
		         name );
		return lmbExitUsage;
	}
	for ( const lmbVerb *verb = lmbVerbs; verb->name != NULL; ++verb )
		if ( strcmp( verb->name, name ) == 0 )
			return verb->run( verb, argc - 1, (const char **)argv + 1 );
	return UnknownVerb( name );
}
