/* limber run: the whole pipeline. */
#include "cli/project_verb.h"
#include "cli/verbs.h"

#include <stdio.h>

int lmbVerb_Run( const lmbVerb *verb, int argc, const char **argv )
{
	lmbProjectVerb project = { .stages = ( 1u << lmb_stageCount ) - 1 };
	int defaults = 0, reference = 0;
	const struct poptOption options[] = {
	    LMB_PROJECT_OPTIONS( project ),
	    { "defaults", 0, POPT_ARG_NONE, &defaults, 0, "Print a project file with every key at its default",
	      NULL },
	    { "reference", 0, POPT_ARG_NONE, &reference, 0, "Print the page docs/formats/project.md", NULL },
	    LMB_COMMAND_OPTIONS( project.command ) };
	int code = lmbCommand_Begin( &project.command, verb, argc, argv, options );
	if ( code >= 0 )
		return code;
	if ( defaults || reference )
	{
		if ( defaults )
			lmbProjectTable_PrintDefaults( &lmbFleshProjectTable, stdout );
		if ( reference )
			lmbProjectTable_PrintReference( &lmbFleshProjectTable, stdout );
		project.command.json = 0;
		return lmbCommand_End( &project.command, lmb_statusOk, NULL );
	}
	if ( project.command.argumentCount == 0 )
		return lmbCommand_Reject( &project.command );
	return lmbProjectVerb_Run( &project );
}
