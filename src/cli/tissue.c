/* limber tissue: the soft body around the bones. */
#include "cli/project_verb.h"
#include "cli/verbs.h"

int lmbVerb_Tissue( const lmbVerb *verb, int argc, const char **argv )
{
	return lmbProjectVerb_Main( verb, argc, argv, 1u << lmb_stageTissue, 0 );
}
