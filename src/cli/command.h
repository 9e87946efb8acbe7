/* What every verb of the command shares: options, the job with its signals and progress, how it ends. */
#ifndef LMB_CLI_COMMAND_H
#define LMB_CLI_COMMAND_H

#include "base/job.h"

#include <jansson.h>
#include <popt.h>

enum
{
	lmbExitOk = 0,
	lmbExitError = 1,
	lmbExitUsage = 2,
	lmbExitStopped = 130 /* as a shell reports a command that SIGINT ended */
};

typedef struct lmbVerb
{
	const char *name;
	const char *arguments; /* for the usage line, e.g. "PROJECT.yaml" */
	int fewest, most;      /* arguments besides options */
	const char *summary;   /* one line for `limber --help` */
	const char *help;      /* paragraphs for `limber VERB --help` */
	int ( *run )( const struct lmbVerb *verb, int argc, const char **argv );
} lmbVerb;

extern const lmbVerb lmbVerbs[]; /* ends with a NULL name */

/* Progress of one stage, on stderr. */
typedef struct lmbProgress
{
	bool terminal, quiet;
	bool shown;                  /* a line of progress stands on the terminal */
	char title[64];              /* the stage */
	char unit[32];               /* what is counted now; a change starts the clock anew */
	double firstDone, firstTime; /* where the clock started, for the time left */
	double lastTime;             /* when something was last drawn */
} lmbProgress;

typedef struct lmbCommand
{
	const lmbVerb *verb;
	char name[64], usage[128]; /* popt keeps pointers to them */
	poptContext context;
	const char **arguments; /* NULL-terminated, after the options */
	int argumentCount;
	int threads, seed; /* 0: all cores; -1: the project's */
	int json, quiet, help;
	json_t *document; /* what --json prints; an object */
	lmbProgress progress;
	lmbJob job;
} lmbCommand;

/* Options of all verbs, for a verb's own table. */
#define LMB_COMMAND_OPTIONS( command )                                                                       \
	{ "threads", 't', POPT_ARG_INT, &( command ).threads, 0, "Threads to use (default: all cores)", "N" },   \
	    { "seed", 0, POPT_ARG_INT, &( command ).seed, 0, "Start of all random numbers", "N" },               \
	    { "json",                                                                                            \
	      0,                                                                                                 \
	      POPT_ARG_NONE,                                                                                     \
	      &( command ).json,                                                                                 \
	      0,                                                                                                 \
	      "Print one JSON document on standard output and nothing else there",                               \
	      NULL },                                                                                            \
	    { "quiet", 'q', POPT_ARG_NONE, &( command ).quiet, 0, "No progress and no notes", NULL },            \
	    { "help", 'h', POPT_ARG_NONE, &( command ).help, 0, "Show this text", NULL }, POPT_TABLEEND

/* Reads the options and makes the job. Returns -1 to go on, or the code to end with (after --help or a
 * mistake in the use, which it has told). End is for after -1 only. options live as long as the command. */
int lmbCommand_Begin( lmbCommand *command, const lmbVerb *verb, int argc, const char **argv,
                      const struct poptOption *options );

/* Ends a command that lacks an argument which the table of verbs lets be optional; returns lmbExitUsage. */
int lmbCommand_Reject( lmbCommand *command );

/* Ends: prints the JSON document, or the error on stderr; returns the exit code. */
int lmbCommand_End( lmbCommand *command, lmbStatus status, const lmbError *error );

/* A line for people on standard output; nothing under --json. */
void lmbCommand_Print( lmbCommand *command, const char *format, ... )
    __attribute__( ( format( printf, 2, 3 ) ) );

/* Progress. */
void lmbProgress_Title( lmbProgress *progress, const char *title );
void lmbProgress_Update( lmbProgress *progress, const char *unit, double done, double total,
                         const char *detail );
void lmbProgress_Line( lmbProgress *progress, const char *line ); /* a note; takes the progress away first */
void lmbProgress_Clear( lmbProgress *progress );

/* "1:05:09" or "4:20". */
void lmbProgress_Duration( double seconds, char out[32] );

#endif
