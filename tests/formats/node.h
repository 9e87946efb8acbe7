/* Runs the Node scripts beside the tests; skips the test where Node or its packages cannot be had. */
#ifndef LMB_TESTS_FORMATS_NODE_H
#define LMB_TESTS_FORMATS_NODE_H

#include "check.h"

#include <stdlib.h>
#include <sys/wait.h>

/* Makes tests/node_modules when it is not there. false: there is no Node on this machine, skip. Packages
 * that cannot be installed fail the test. */
static inline bool NodeIsHere( void )
{
	int status = system( "'" LMB_TEST_SOURCE "/tests/node_modules.sh'" );
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
	char command[8192];
	snprintf( command, sizeof( command ), "node '" LMB_TEST_SOURCE "/tests/formats/%s' %s", script,
	          arguments );
	int status = system( command );
	return status != -1 && WIFEXITED( status ) && WEXITSTATUS( status ) == 0;
}

#endif
