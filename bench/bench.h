/* Timings of the runtime, which `limber bench` runs (docs/formats/bench.md): each with what binds it on this
 * machine, measured in the same run. Everything happens on the calling thread and is timed in that thread's
 * own time, so that other work counts less; what it does to the caches still counts. */
#ifndef LMB_BENCH_BENCH_H
#define LMB_BENCH_BENCH_H

#include "base/job.h"

#include <jansson.h>

typedef struct lmbBenchDef
{
	const char *const *names; /* (nameCount) which to run; none: all */
	int nameCount;
	const char *const *models; /* (modelCount) files of characters; none: two that are made up */
	int modelCount;
	lmbKernelSet kernels;
	bool quick;         /* small sizes and few repetitions, to see that it works */
	int largest;        /* vertices in the largest row of springs */
	const char *python; /* one that may have onnxruntime and numpy */
} lmbBenchDef;

lmbBenchDef lmbDefaultBenchDef( void );

/* Name and sentence of each bench, the last NULL. */
typedef struct lmbBenchTitle
{
	const char *name, *title;
} lmbBenchTitle;
const lmbBenchTitle *lmbBench_Titles( void );

/* Runs them and fills the document (an object). Errors: lmb_statusNotFound for a name that is none,
 * lmb_statusInvalidArgument for kernels that this processor lacks, those of the models' files,
 * lmb_statusOutOfMemory, lmb_statusCancelled; the document then holds what was finished. */
lmbStatus lmbBench_Run( const lmbBenchDef *def, const lmbJob *job, json_t *document, lmbError *error );

#endif
