/* limber bake: motions with their dynamics, back into files. */
#include "cli/project_verb.h"
#include "cli/verbs.h"

int lmbVerb_Bake( const lmbVerb *verb, int argc, const char **argv )
{
	return lmbProjectVerb_Main( verb, argc, argv, 1u << lmb_stageBake, 0 );
}
