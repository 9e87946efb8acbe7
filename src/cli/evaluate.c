/* limber evaluate: the model against the simulation, as numbers and as pictures. */
#include "cli/project_verb.h"
#include "cli/verbs.h"

int lmbVerb_Evaluate( const lmbVerb *verb, int argc, const char **argv )
{
	return lmbProjectVerb_Main( verb, argc, argv, 1u << lmb_stageEvaluate | 1u << lmb_stageSheet,
	                            1u << lmb_limbStageEvaluate );
}
