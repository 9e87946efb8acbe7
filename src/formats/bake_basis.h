/* The few displacement fields and their weights in time that come closest to given skin positions.
 * Internal to the bake; docs/derivations/bake.md. */
#ifndef LMB_FORMATS_BAKE_BASIS_H
#define LMB_FORMATS_BAKE_BASIS_H

#include "base/job.h"
#include "formats/character.h"

typedef struct lmbBakeProblem
{
	const lmbCharacter *character;
	int frameCount;
	const double *bones;    /* (frameCount x boneCount x 12) */
	const float *positions; /* (frameCount x vertexCount x 3) m, scene space */
	int targets, sweeps;
} lmbBakeProblem;

typedef struct lmbBakeBasis
{
	int targets;     /* found, at most those asked for; 0 when skinning alone is right to 0.1 um */
	float *weights;  /* (frameCount x targets) in [-1, 1] */
	float *fields;   /* (targets x vertexCount x 3) m, bind space; strongest first */
	double dynamics; /* m, RMS of positions less skinning */
	double truncation, largestTruncation; /* m, of positions less what fields and weights give */
} lmbBakeBasis;

/* Minimises sum over frames f and vertices v of |L_fv sum_k c_fk b_kv - u_fv|^2, L the linear part of the
 * skinning matrix and u positions less skinning. Results live in the arena; they do not depend on the
 * number of threads. */
lmbStatus lmbBakeBasis_Find( const lmbBakeProblem *problem, const lmbJob *job, lmbArena *arena,
                             lmbBakeBasis *basis, lmbError *error );

#endif
