/* limber simulate: still and moving shapes by finite elements, in shards over many processes; or a limb's
 * motions.
 */
#include "cli/project_verb.h"
#include "cli/verbs.h"

int lmbVerb_Simulate( const lmbVerb *verb, int argc, const char **argv )
{
	lmbProjectVerb project = { .stages = 1u << lmb_stageSimulate, .limbStages = 1u << lmb_limbStageSimulate };
	const struct poptOption options[] = {
	    LMB_PROJECT_OPTIONS( project ),
	    { "shard", 0, POPT_ARG_STRING, &project.shard, 0, "Make only share I of N of the poses", "I/N" },
	    LMB_COMMAND_OPTIONS( project.command ) };
	int code = lmbCommand_Begin( &project.command, verb, argc, argv, options );
	return code >= 0 ? code : lmbProjectVerb_Run( &project );
}
