/* limber train: the quasistatic network. */
#include "cli/project_verb.h"
#include "cli/verbs.h"

int lmbVerb_Train( const lmbVerb *verb, int argc, const char **argv )
{
	return lmbProjectVerb_Main( verb, argc, argv, 1u << lmb_stageTrain );
}
