/* Stages of a project, each of which reads files and writes files in one output folder.
 *
 * A finished stage leaves a stamp in stages.json: a fingerprint of all that it depends on (the project's
 * data, its settings, the files it reads) and of the files it wrote. A stage whose stamp still holds is
 * skipped; so a killed run goes on where it was. Kinds of projects (flesh/pipeline.h, limb/pipeline.h) are
 * tables of lmbStageSpec. */
#ifndef LMB_PROJECT_STAGES_H
#define LMB_PROJECT_STAGES_H

#include "base/hash.h"
#include "base/job.h"
#include "project/table.h"

#include <jansson.h>

typedef enum lmbStageEvent
{
	lmb_stageStarted,
	lmb_stageFinished,
	lmb_stageSkipped /* its results are there already */
} lmbStageEvent;

typedef struct lmbPipelineDef
{
	const char *folder; /* made when it is not there */
	unsigned stages;    /* bit per stage: what to bring up to date, with all that it needs */
	bool instant; /* of characters: no simulation, no network, nothing fitted; stages that need those drop
	                 out */
	int shardIndex, shardCount; /* of characters; count > 0: only this share of the simulation's poses is
	                               made; many processes may do so in one folder that has its tissue, and a run
	                               without shards goes on from there */
	/* Nullable. seconds: what the stage took, added up over interrupted runs. facts: what the stage reports,
	 * an object, borrowed; NULL when started. */
	void ( *event )( void *context, const char *stage, lmbStageEvent event, double seconds, json_t *facts );
	void *context;
} lmbPipelineDef;

enum
{
	lmbStageSectionsMax = 6
};

typedef struct lmbStageSpec
{
	const char *name;
	int version;         /* raised when the stage makes something else from the same settings */
	unsigned needs;      /* stages whose files it reads */
	unsigned drops;      /* of needs: not read in an instant pipeline */
	bool instant;        /* part of an instant pipeline */
	bool seed;           /* depends on the seed */
	const char *metrics; /* member of metrics.json for its facts; NULL: its name; "": they are members */
	const char *sections[lmbStageSectionsMax]; /* of the project, NULL-terminated */
	/* Runs, and lists what it wrote with lmbStages_Wrote. facts: an object to fill. pipeline: a struct that
	 * starts with lmbStages. */
	lmbStatus ( *run )( void *pipeline, json_t *facts, lmbError *error );
} lmbStageSpec;

/* The first member of a kind's pipeline. The caller fills the first group, zeroes the rest. */
typedef struct lmbStages
{
	const lmbStageSpec *specs; /* (count) in the order in which they run */
	int count;
	const lmbProjectFile *project;
	int seed;
	int shardStage; /* the stage that can be made in shares, or -1 */
	/* Adds to a fingerprint what the stage depends on besides settings, seed and other stages' files. */
	lmbStatus ( *hashInputs )( void *pipeline, int stage, lmbHash *hash, lmbError *error );
	void ( *forget )( void *pipeline, int stage ); /* what was loaded of a stage that runs anew */

	lmbArena arena; /* the caller frees it */
	const lmbPipelineDef *def;
	lmbJob job;
	json_t *stamps;       /* content of stages.json */
	json_t *written;      /* while a stage runs: names of its files in the folder */
	uint64_t fingerprint; /* of the stage that runs */
} lmbStages;

/* Brings def's stages up to date and writes folder/metrics.json. On cancellation what is done stays, and the
 * same call goes on. One process at a time works in a folder; a second is told so. metrics (Nullable) gets a
 * new reference to the content of metrics.json. */
lmbStatus lmbStages_Run( lmbStages *stages, const lmbPipelineDef *def, const lmbJob *job, json_t **metrics,
                         lmbError *error );

/* For stages at work. */

/* The path of a file in the output folder, in the arena of the stages; NULL without memory. */
char *lmbStages_Path( lmbStages *stages, const char *name );
/* Says that the running stage wrote folder/name (a file, or a folder with all in it). */
void lmbStages_Wrote( lmbStages *stages, const char *name );
/* A name as part of a file name: letters, digits, '-', '_' and '.' stay. */
void lmbStages_FileName( char *out, size_t capacity, const char *prefix, const char *name,
                         const char *ending );

/* Stamps; for stages.c. */
lmbStatus lmbStamps_Load( const char *folder, json_t **out, lmbError *error );
lmbStatus lmbStamps_Write( const char *folder, const json_t *stamps, lmbError *error );
/* Fingerprint of a stage as things are now; reads the stamps of what it needs. */
lmbStatus lmbStamps_Fingerprint( lmbStages *stages, int stage, uint64_t *out, lmbError *error );
/* True when the stage's stamp carries fingerprint and its files are as it left them. */
bool lmbStamps_Holds( lmbStages *stages, int stage, uint64_t fingerprint );
/* Hash of a file, or of all files below a folder with their names. */
lmbStatus lmbStamps_HashTree( lmbHash *hash, const char *path, lmbError *error );

#endif
