/* limber run: the whole pipeline. */
#include "cli/project_verb.h"
#include "cli/verbs.h"

#include <stdio.h>
#include <string.h>

/* The argument of --defaults and --reference: a kind of project, or (both) none for characters first, then
 * limbs. NULL-terminated; empty when it is no kind. */
static void ChooseTables( const lmbCommand *command, bool both, const lmbProjectTable *tables[3] )
{
	const char *kind = command->argumentCount > 0 ? command->arguments[0] : "";
	int count = 0;
	if ( strcmp( kind, "character" ) == 0 || kind[0] == 0 )
		tables[count++] = &lmbFleshProjectTable;
	if ( strcmp( kind, "limb" ) == 0 || ( both && kind[0] == 0 ) )
		tables[count++] = &lmbLimbProjectTable;
	tables[count] = NULL;
}

static int PrintTables( lmbCommand *command, bool defaults )
{
	const lmbProjectTable *tables[3];
	lmbError error = { 0 };
	lmbStatus status = lmb_statusOk;
	ChooseTables( command, !defaults, tables );
	if ( tables[0] == NULL )
		status = lmbError_Set( &error, lmb_statusInvalidArgument, "\"%.100s\": there are character and limb",
		                       command->arguments[0] );
	for ( int i = 0; tables[i] != NULL; ++i )
		if ( defaults )
			lmbProjectTable_PrintDefaults( tables[i], stdout );
		else
			lmbProjectTable_PrintReference( tables[i], stdout );
	command->json = 0;
	return lmbCommand_End( command, status, &error );
}

int lmbVerb_Run( const lmbVerb *verb, int argc, const char **argv )
{
	lmbProjectVerb project = { .stages = ( 1u << lmb_stageCount ) - 1,
	                           .limbStages = ( 1u << lmb_limbStageCount ) - 1 };
	int defaults = 0, reference = 0;
	const struct poptOption options[] = {
	    LMB_PROJECT_OPTIONS( project ),
	    LMB_REPORT_OPTIONS( project.report ),
	    { "defaults", 0, POPT_ARG_NONE, &defaults, 0,
	      "Print a project file with every key at its default (of \"limb\", or of a character)", NULL },
	    { "reference", 0, POPT_ARG_NONE, &reference, 0,
	      "Print docs/formats/project.md and limb-project.md, or one with \"character\" or \"limb\"", NULL },
	    LMB_COMMAND_OPTIONS( project.command ) };
	int code = lmbCommand_Begin( &project.command, verb, argc, argv, options );
	if ( code >= 0 )
		return code;
	if ( defaults || reference )
		return PrintTables( &project.command, defaults != 0 );
	if ( project.command.argumentCount == 0 )
		return lmbCommand_Reject( &project.command );
	return lmbProjectVerb_Run( &project );
}
