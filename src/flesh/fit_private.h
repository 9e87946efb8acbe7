/* What the files of the stage `fit` share. */
#ifndef LMB_FLESH_FIT_PRIVATE_H
#define LMB_FLESH_FIT_PRIVATE_H

#include "flesh/fit_spring.h"
#include "flesh/forcing.h"

enum
{
	lmbFitFrequencies = 6 /* of the springs that a vertex's fit starts from, each with two dampings */
};

typedef struct lmbFit
{
	lmbArena arena;
	const lmbCharacter *character;
	const lmbTissue *tissue;
	const lmbModes *modes; /* Nullable */
	const lmbFitDef *def;
	const lmbJob *job;
	lmbSprings *springs;
	/* The trained sequences, one after the other. */
	int sequenceCount, frameCount;
	lmbFrames *frames;    /* (sequenceCount) */
	lmbSegment *segments; /* (sequenceCount) */
	uint8_t *counted;     /* (frameCount) */
	lmbModalRows modal;   /* (frameCount x modeCount) */
	double *modalPlace;   /* (frameCount x modeCount) of the fitted modes' springs */
	double *logRatios;    /* (modeCount x frameCount) of the modes' stiffness by pose; NULL: 0 */
	lmbSpringPoint starts[2 * lmbFitFrequencies];
	double *modeEnergy, *modeShare; /* (modeCount) */
} lmbFit;

/* A layer of springs, one per vertex, and how well each explains its record. */
typedef struct lmbFitLayer
{
	bool remainder;                               /* what the modes leave over, or all */
	double *stiffness, *damping, *energy, *share; /* (vertexCount) */
} lmbFitLayer;

/* Rows of a few vertices over all sequences. */
typedef struct lmbFitChunk
{
	double *start, *end, *offset, *rotations, *scratch, *fitScratch;
	void *block; /* free() it */
	int first, count;
} lmbFitChunk;

lmbStatus lmbFitChunk_Make( const lmbFit *fit, int first, int count, lmbFitChunk *chunk, lmbError *error );
/* Takes away what the modes do: the rows become those of the remainder. */
void lmbFitChunk_TakeModes( const lmbFit *fit, lmbFitChunk *chunk );
lmbSpringRecord lmbFitChunk_Record( const lmbFit *fit, const lmbFitChunk *chunk, int index );

/* Log ratios of the modes' stiffness over a sequence's frames, mode m at frame n to out[stride m + n].
 * Springs must have them. */
lmbStatus lmbFit_LogRatios( const lmbCharacter *character, const lmbSprings *springs, const lmbFrames *frames,
                            double *out, size_t stride, lmbError *error );

/* Displacements that count as none: a hundred-thousandth of a lattice cell, RMS. */
double lmbFit_LeastEnergy( const lmbFit *fit );

/* Gives springs that their own record hardly determines the median of their neighbours' values where that
 * explains the record as well, and stillness where nothing does. */
lmbStatus lmbFit_AskNeighbours( const lmbFit *fit, lmbFitLayer *layer, lmbError *error );

#endif
