/* What simulation leaves for training: poses with their still shapes, and motions with still and moving
 * shapes. docs/formats/dataset.md has the arrays of each file.
 *
 * A dataset is a folder. Every file is written complete or not at all, so that a killed run loses at most
 * what it was at, and many processes can fill one folder:
 *   dataset.json                            the manifest: counts, names, trained or held out, settings
 *   poses/000123.safetensors                one random pose
 *   motions/00-NAME/still-000064.safetensors    still shapes of 32 output frames from frame 64 on
 *   motions/00-NAME/moving-000064.safetensors   moving shapes of the same frames
 *   motions/00-NAME/checkpoint.safetensors  where the moving sequence goes on from
 * Each file carries the fingerprint of what it was computed from.
 *
 * Positions are of lattice nodes, in scene space less `origin`, metres, float32. origin is 0 unless the
 * body starts more than 8 m from the scene's origin, and then whole metres: within 8 m float32 rounds
 * positions by at most 2.4e-7 m, so second differences at 60 Hz by about 1e-3 m/s^2 (RMS), below what the
 * solver's tolerance leaves; 1e4 m away it would be 1 m/s^2. Poses and shapes of one sequence have the same
 * origin, so whoever works within a sequence need not know it. */
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
	double origin[3];   /* m: add it to translations of bones and to nodes for scene space */
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
	double origin[3];   /* m: add it to translations of bones and to nodes for scene space */
} lmbSequence;

typedef struct lmbDataset
{
	lmbArena arena;
	lmbPoseSet poses;
	int sequenceCount;
	lmbSequence *sequences;
} lmbDataset;

/* Reads a finished dataset; an unfinished or damaged one is an error that names the file. Safe for any
 * bytes in any of its files. */
lmbStatus lmbDataset_Load( const char *folder, lmbDataset **out, lmbError *error );
void lmbDataset_Free( lmbDataset *dataset ); /* NULL is fine */

#endif
