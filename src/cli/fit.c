/* limber fit: the springs, and the model that holds all. */
#include "cli/project_verb.h"
#include "cli/verbs.h"

int lmbVerb_Fit( const lmbVerb *verb, int argc, const char **argv )
{
	return lmbProjectVerb_Main( verb, argc, argv, 1u << lmb_stageFit | 1u << lmb_stageModel, 0 );
}
