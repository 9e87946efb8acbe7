/* limber evaluate: the model against the simulation, as numbers, as pictures, and as a page. */
#include "cli/project_verb.h"
#include "cli/verbs.h"

int lmbVerb_Evaluate( const lmbVerb *verb, int argc, const char **argv )
{
	lmbProjectVerb project = { .stages = 1u << lmb_stageEvaluate | 1u << lmb_stageSheet,
	                           .limbStages = 1u << lmb_limbStageEvaluate };
	const struct poptOption options[] = { LMB_PROJECT_OPTIONS( project ),
	                                      LMB_REPORT_OPTIONS( project.report ),
	                                      LMB_COMMAND_OPTIONS( project.command ) };
	int code = lmbCommand_Begin( &project.command, verb, argc, argv, options );
	return code >= 0 ? code : lmbProjectVerb_Run( &project );
}
