/* limber train: the quasistatic network, or a limb's equations of motion. */
#include "cli/project_verb.h"
#include "cli/verbs.h"

int lmbVerb_Train( const lmbVerb *verb, int argc, const char **argv )
{
	return lmbProjectVerb_Main( verb, argc, argv, 1u << lmb_stageTrain, 1u << lmb_limbStageTrain );
}
