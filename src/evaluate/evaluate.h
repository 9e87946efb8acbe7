/* Judges a model against the simulation, motion by motion; the stage `evaluate`.
 *
 * Skinning, the network and every spring layer run through the runtime from the model file, at the dataset's
 * frame rate: what is measured is what ships. Only captured_exact, which drives the springs by the
 * simulation's own still shapes, is the reference in double (lmbSprings_Replay). */
#ifndef LMB_EVALUATE_EVALUATE_H
#define LMB_EVALUATE_EVALUATE_H

#include "evaluate/details.h"
#include "evaluate/metrics.h"
#include "flesh/fit.h"

typedef struct lmbEvaluateInput
{
	const lmbCharacter *character;
	const lmbTissue *tissue;
	const lmbModes *modes;     /* Nullable: no modal layers in captured_exact */
	const lmbSprings *springs; /* Nullable: no captured_exact */
	const lmbDataset *dataset;
	const char *model; /* path */
	double softSkin;   /* vertices with at least this softness are judged */
	lmbTargetInterpolation interpolation;
} lmbEvaluateInput;

typedef struct lmbSequenceScore
{
	const char *name;
	bool trained;
	int frameCount;   /* judged */
	int skippedCount; /* not converged in the simulation: left out */
	double rate;      /* Hz */
	lmbScore score;
	lmbMotionDetails details;
} lmbSequenceScore;

typedef struct lmbEvaluation
{
	lmbArena arena;
	int judgedCount, vertexCount; /* vertices that are judged, and all */
	uint8_t *judged;              /* (vertexCount) 1: judged */
	int sequenceCount;
	lmbSequenceScore *sequences;
} lmbEvaluation;

lmbStatus lmbEvaluate( const lmbEvaluateInput *input, const lmbJob *job, lmbEvaluation **out,
                       lmbError *error );
void lmbEvaluation_Free( lmbEvaluation *evaluation ); /* NULL is fine */

/* Runs a model over a sequence through the runtime, frame after frame from rest, and hands each frame's skin
 * to the caller. layer lmb_layerNone: the still shape; network false: skinning's shape. */
typedef struct lmbPlayer
{
	lmbArena arena;
	const lmbSequence *sequence;
	lmbFleshBody *body;
	float *bones; /* (boneCount x 12) */
} lmbPlayer;

struct lmbModel;
lmbStatus lmbPlayer_Open( lmbPlayer *player, const struct lmbModel *model, const lmbSequence *sequence,
                          lmbLayer layer, bool network, lmbTargetInterpolation interpolation,
                          lmbError *error );
/* The next frame, from 0; positions (vertexCount x 3) valid until the next call. */
lmbStatus lmbPlayer_Frame( lmbPlayer *player, int frame, const float **positions, lmbError *error );
void lmbPlayer_Close( lmbPlayer *player );

/* The simulation's skin of one frame: out (vertexCount x 3), from nodes (nodeCount x 3) of the still or of
 * the moving shape. scratch ((nodeCount + vertexCount) x 3). */
void lmbSequence_Skin( const lmbSequence *sequence, const lmbTissue *tissue, const lmbCharacter *character,
                       int frame, const float *nodes, double *scratch, float *out );

#endif
