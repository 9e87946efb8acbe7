/* The verbs of the command, one file each. */
#ifndef LMB_CLI_VERBS_H
#define LMB_CLI_VERBS_H

#include "cli/command.h"

int lmbVerb_Info( const lmbVerb *verb, int argc, const char **argv );
int lmbVerb_Run( const lmbVerb *verb, int argc, const char **argv );
int lmbVerb_Tissue( const lmbVerb *verb, int argc, const char **argv );
int lmbVerb_Simulate( const lmbVerb *verb, int argc, const char **argv );
int lmbVerb_Modes( const lmbVerb *verb, int argc, const char **argv );
int lmbVerb_Train( const lmbVerb *verb, int argc, const char **argv );
int lmbVerb_Fit( const lmbVerb *verb, int argc, const char **argv );
int lmbVerb_Evaluate( const lmbVerb *verb, int argc, const char **argv );
int lmbVerb_Bake( const lmbVerb *verb, int argc, const char **argv );
int lmbVerb_View( const lmbVerb *verb, int argc, const char **argv );
int lmbVerb_Predict( const lmbVerb *verb, int argc, const char **argv );
int lmbVerb_Export( const lmbVerb *verb, int argc, const char **argv );
int lmbVerb_Bench( const lmbVerb *verb, int argc, const char **argv );

/* An integrator by the name that --integrator takes, which has length bytes; -1: there is none. */
int lmbCommand_Integrator( const char *name, size_t length );

#endif
