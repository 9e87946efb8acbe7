/* What `limber evaluate` and `limber run` make of metrics.json and evaluation.json: --report, --svg, --png.
 */
#ifndef LMB_CLI_PROJECT_REPORT_H
#define LMB_CLI_PROJECT_REPORT_H

#include "cli/command.h"

/* Files to write, each Nullable. */
typedef struct lmbReportFiles
{
	const char *page, *svg, *png;
} lmbReportFiles;

#define LMB_REPORT_OPTIONS( files )                                                                          \
	{ "report", 0, POPT_ARG_STRING, &( files ).page, 0, "Write a page with plots and tables", "FILE.html" }, \
	    { "svg", 0, POPT_ARG_STRING, &( files ).svg, 0, "Write the figure for papers", "FILE.svg" },         \
	{                                                                                                        \
		"png", 0, POPT_ARG_STRING, &( files ).png, 0, "The same as a picture", "FILE.png"                    \
	}

/* Whether what is asked for can be made, before minutes are spent on what it shows. */
lmbStatus lmbReportFiles_Check( const lmbReportFiles *files, lmbError *error );
/* folder: where the two files are. */
lmbStatus lmbReportFiles_Write( const lmbReportFiles *files, const char *folder, lmbCommand *command,
                                lmbError *error );

#endif
