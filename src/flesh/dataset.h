/* What simulation leaves for training: poses with their still shapes, and motions with still and moving
 * shapes.
 *
 * A dataset is a folder. Every sample is a file of its own, written complete or absent, so that a killed
 * run loses at most the sample it was at and many processes can fill one folder:
 *   poses/000123.safetensors            one random pose: bones, nodes, converged, iterations
 *   motions/NAME/still-000045.safetensors   the still shape of output frame 45
 *   motions/NAME/moving.safetensors     the whole moving sequence; moving.checkpoint.safetensors while
 *                                       it is being computed
 *   dataset.json                        the manifest: settings, counts, names, trained or held out
 * All positions are of lattice nodes, in scene space, metres. */
#ifndef LMB_FLESH_DATASET_H
#define LMB_FLESH_DATASET_H

#include "base/arena.h"
#include "base/job.h"

/* Poses with their quasistatic shapes. */
typedef struct lmbPoseSet
{
	int count, boneCount, nodeCount;
	double *bones;      /* (count x boneCount x 12) */
	float *nodes;       /* (count x nodeCount x 3) */
	uint8_t *converged; /* (count) 0: leave it out of training */
} lmbPoseSet;

/* One motion at frames 0 .. frameCount - 1, spaced 1 / rate seconds. */
typedef struct lmbSequence
{
	const char *name;
	bool trained; /* false: held out, for judging only */
	int frameCount, boneCount, nodeCount;
	double rate;        /* Hz, of the output frames */
	double *bones;      /* (frameCount x boneCount x 12) */
	float *still;       /* (frameCount x nodeCount x 3) quasistatic */
	float *moving;      /* (frameCount x nodeCount x 3) dynamic */
	uint8_t *converged; /* (frameCount) 0: the still or the moving solve of this frame did not converge */
} lmbSequence;

typedef struct lmbDataset
{
	lmbArena arena;
	lmbPoseSet poses;
	int sequenceCount;
	lmbSequence *sequences;
} lmbDataset;

/* Reads a finished dataset; an unfinished or damaged one is an error that names the file. */
lmbStatus lmbDataset_Load( const char *folder, lmbDataset **out, lmbError *error );
void lmbDataset_Free( lmbDataset *dataset );

#endif
