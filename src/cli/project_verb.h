/* What the verbs that work on a project share: all but `info`. */
#ifndef LMB_CLI_PROJECT_VERB_H
#define LMB_CLI_PROJECT_VERB_H

#include "cli/command.h"
#include "cli/project_report.h"
#include "flesh/pipeline.h"
#include "limb/pipeline.h"

typedef struct lmbProjectVerb
{
	lmbCommand command;
	unsigned stages;       /* to bring up to date for a character */
	unsigned limbStages;   /* for a limb; 0: the verb is not for limbs */
	const char *out;       /* Nullable: out/NAME */
	const char **settings; /* Nullable, NULL-terminated: SECTION.KEY=VALUE */
	const char *shard;     /* Nullable: "i/n" */
	int instant;
	lmbReportFiles report; /* of the verbs that judge */
	lmbProject *project;   /* one of the two */
	lmbLimbProject *limb;
	json_t *stageList; /* of the JSON document */
} lmbProjectVerb;

/* Options of all these verbs, before LMB_COMMAND_OPTIONS. */
#define LMB_PROJECT_OPTIONS( verb )                                                                          \
	{ "out", 'o', POPT_ARG_STRING, &( verb ).out, 0, "Output folder (default: out/NAME)", "DIR" },           \
	    { "set", 0, POPT_ARG_ARGV, &( verb ).settings, 0, "Change one key of the project", "KEY=VALUE" },    \
	{                                                                                                        \
		"instant", 0, POPT_ARG_NONE, &( verb ).instant, 0,                                                   \
		    "Work on the model without simulation, network and fit", NULL                                    \
	}

/* A verb that does nothing but bring stages up to date. */
int lmbProjectVerb_Main( const lmbVerb *verb, int argc, const char **argv, unsigned stages,
                         unsigned limbStages );
/* The same for a verb with options of its own, which has begun its command. */
int lmbProjectVerb_Run( lmbProjectVerb *verb );

#endif
