/* Shared by pipeline*.c only. */
#ifndef LMB_FLESH_PIPELINE_PRIVATE_H
#define LMB_FLESH_PIPELINE_PRIVATE_H

#include "base/hash.h"
#include "flesh/modes.h"
#include "flesh/pipeline.h"

enum
{
	lmbStageNeedsMax = 6,
	lmbStageSectionsMax = 5
};

typedef struct lmbPipeline lmbPipeline;

typedef struct lmbStageSpec
{
	const char *name;
	int version;    /* raised when the stage makes something else from the same settings */
	unsigned needs; /* stages whose files it reads */
	unsigned drops; /* of needs: not read in an instant pipeline */
	bool instant;   /* part of an instant pipeline */
	bool seed;      /* depends on the seed */
	const char *sections[lmbStageSectionsMax]; /* of the project, NULL-terminated */
	/* Runs, and lists what it wrote with lmbPipeline_Wrote. facts: an object to fill. */
	lmbStatus ( *run )( lmbPipeline *pipeline, json_t *facts, lmbError *error );
} lmbStageSpec;

extern const lmbStageSpec lmbStageSpecs[lmb_stageCount];

struct lmbPipeline
{
	lmbArena arena;
	const lmbProject *project;
	const lmbPipelineDef *def;
	lmbJob job;
	json_t *stamps;          /* content of stages.json */
	json_t *written;         /* while a stage runs: names of its files in the folder */
	uint64_t fingerprint;    /* of the stage that runs */
	lmbCharacter *character; /* everything below is loaded when first asked for */
	lmbTissue *tissue;
	lmbModes *modes;
	lmbDataset *dataset;
	lmbNetwork *network;
	lmbSprings *springs;
	lmbMotion **motions; /* (motionCount) trained ones first */
	bool *trained;       /* (motionCount) */
	int motionCount;
};

/* Loading, once. */
lmbStatus lmbPipeline_NeedCharacter( lmbPipeline *pipeline, lmbError *error );
lmbStatus lmbPipeline_NeedMotions( lmbPipeline *pipeline, lmbError *error );
lmbStatus lmbPipeline_NeedTissue( lmbPipeline *pipeline, lmbError *error );
lmbStatus lmbPipeline_NeedModes( lmbPipeline *pipeline, lmbError *error );
lmbStatus lmbPipeline_NeedDataset( lmbPipeline *pipeline, lmbError *error );
lmbStatus lmbPipeline_NeedNetwork( lmbPipeline *pipeline, lmbError *error );
lmbStatus lmbPipeline_NeedSprings( lmbPipeline *pipeline, lmbError *error );
/* Forgets what was loaded of a stage that has written anew. */
void lmbPipeline_Forget( lmbPipeline *pipeline, lmbStage stage );
void lmbPipeline_ForgetAll( lmbPipeline *pipeline );

/* The path of a file in the output folder, in the arena of the pipeline; NULL without memory. */
char *lmbPipeline_Path( lmbPipeline *pipeline, const char *name );
/* Says that the running stage wrote folder/name (a file, or a folder with all in it). */
void lmbPipeline_Wrote( lmbPipeline *pipeline, const char *name );
/* A motion's name as part of a file name: letters, digits, '-', '_' and '.' stay. */
void lmbPipeline_FileName( char *out, size_t capacity, const char *prefix, const char *motion,
                           const char *ending );

/* Stamps. */
lmbStatus lmbStamps_Load( const char *folder, json_t **out, lmbError *error );
lmbStatus lmbStamps_Write( const char *folder, const json_t *stamps, lmbError *error );
/* Fingerprint of a stage as things are now; reads the stamps of what it needs. */
lmbStatus lmbStamps_Fingerprint( lmbPipeline *pipeline, lmbStage stage, uint64_t *out, lmbError *error );
/* True when the stage's stamp carries fingerprint and its files are as it left them. */
bool lmbStamps_Holds( lmbPipeline *pipeline, lmbStage stage, uint64_t fingerprint );
/* Hash of a file, or of all files below a folder with their names. */
lmbStatus lmbStamps_HashTree( lmbHash *hash, const char *path, lmbError *error );

#endif
