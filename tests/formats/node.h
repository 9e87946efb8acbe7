/* Runs the Node scripts beside the tests; skips the test where Node or its packages cannot be had. */
#ifndef LMB_TESTS_FORMATS_NODE_H
#define LMB_TESTS_FORMATS_NODE_H

#include "check.h"

#include <stdlib.h>
#include <sys/wait.h>

/* The folder tests/ of the sources, from the path under which this header was compiled. */
static inline void NodeTestsFolder( char *out, size_t capacity )
{
	snprintf( out, capacity, "%s", __FILE__ );
	for ( int i = 0; i < 2; ++i )
	{
		char *slash = strrchr( out, '/' );
		if ( slash != NULL )
			*slash = 0;
	}
}

/* Makes tests/node_modules when it is not there. false: there is no Node on this machine, skip. Packages
 * that cannot be installed fail the test. */
static inline bool NodeIsHere( void )
{
	char folder[2048], command[2200];
	NodeTestsFolder( folder, sizeof( folder ) );
	snprintf( command, sizeof( command ), "'%s/node_modules.sh'", folder );
	int status = system( command );
	if ( status != -1 && WIFEXITED( status ) && WEXITSTATUS( status ) == 77 )
	{
		printf( "skipped: Node and npm are not here\n" );
		return false;
	}
	CHECK_INT( status, 0 );
	return true;
}

/* Runs tests/formats/SCRIPT with arguments; true when it exits with 0. */
static inline bool NodeRun( const char *script, const char *arguments )
{
	char folder[2048], command[8192];
	NodeTestsFolder( folder, sizeof( folder ) );
	snprintf( command, sizeof( command ), "node '%s/formats/%s' %s", folder, script, arguments );
	int status = system( command );
	return status != -1 && WIFEXITED( status ) && WEXITSTATUS( status ) == 0;
}

#endif
