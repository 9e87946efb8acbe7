/* limber modes: the vibration modes of the tissue. */
#include "cli/project_verb.h"
#include "cli/verbs.h"

int lmbVerb_Modes( const lmbVerb *verb, int argc, const char **argv )
{
	return lmbProjectVerb_Main( verb, argc, argv, 1u << lmb_stageModes, 0 );
}
