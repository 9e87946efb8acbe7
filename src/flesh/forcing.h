/* What drives the springs: the acceleration of the still shape, seen by the skin's vertices and by the
 * tissue's modes.
 *
 * Over the step from frame n - 1 to n a spring is driven by an acceleration that is linear from `start` to
 * `end` (cubic target), or by a jump of velocity `start` at the step's beginning (linear target): the
 * operator of runtime/target.h on the still shape's places in the scene. A mode takes the projection
 *   g_m = phi_m^T M R^T y'',
 * R carrying bind axes into the pose at the frame where `start` or `end` stands. Row 0 is zero: a sequence
 * starts at rest. Arrays of rows are (frameCount x ...), row n for the step that ends at frame n. */
#ifndef LMB_FLESH_FORCING_H
#define LMB_FLESH_FORCING_H

#include "flesh/dataset.h"
#include "flesh/fit.h"
#include "flesh/modes.h"

/* The first frames of a sequence, with the bones' rotations. */
typedef struct lmbFrames
{
	int frameCount, boneCount, nodeCount;
	double rate;         /* Hz */
	const double *bones; /* (frameCount x boneCount x 12) */
	double *quaternions; /* (frameCount x boneCount x 4) */
	const float *still;  /* (frameCount x nodeCount x 3) */
	const float *moving; /* the same, Nullable */
} lmbFrames;

/* frameCount at most the sequence's. The sequence must outlive frames; quaternions lie in the arena. */
lmbStatus lmbFrames_Make( const lmbSequence *sequence, int frameCount, lmbArena *arena, lmbFrames *frames,
                          lmbError *error );

/* (frameCount x modeCount) each. target: phi^T M R^T (moving - still); Nullable, and not touched without
 * moving shapes. */
typedef struct lmbModalRows
{
	double *start, *end, *target;
} lmbModalRows;

lmbStatus lmbForcing_Modal( const lmbTissue *tissue, const lmbModes *modes,
                            lmbTargetInterpolation interpolation, const lmbFrames *frames, const lmbJob *job,
                            lmbModalRows *rows, lmbError *error );

/* Some neighbouring skin vertices, scene axes: vertex i at frame n is [3 (i frameStride + n)].
 * offset: skin of moving - skin of still, Nullable. rotations (frameCount x count x 9) of the vertices,
 * Nullable. */
typedef struct lmbSkinRows
{
	int first, count;
	size_t frameStride; /* >= frameCount */
	double *start, *end, *offset, *rotations;
} lmbSkinRows;

/* scratch: at least lmbForcing_SkinScratch doubles. */
size_t lmbForcing_SkinScratch( const lmbFrames *frames, int count );
void lmbForcing_Skin( const lmbCharacter *character, const lmbTissue *tissue,
                      lmbTargetInterpolation interpolation, const lmbFrames *frames, double *scratch,
                      lmbSkinRows *rows );

/* What modes do to the skin: values (frameCount x modeCount) -> out[i, n] += scale R(n - delay) sum_m
 * shapes_m values[n, m], out laid out like the rows'. shapes (modeCount x vertexCount x 3), bind axes.
 * scratch: at least lmbForcing_CarryScratch doubles. A delayed row 0 counts as 0. */
size_t lmbForcing_CarryScratch( const lmbFrames *frames, int count, int modeCount );
void lmbForcing_Carry( const double *shapes, int modeCount, int vertexCount, const double *values, int delay,
                       double scale, const lmbFrames *frames, const lmbSkinRows *rows, double *scratch,
                       double *out );

/* Fills the reduced forcing of springs (fit.h), allocated in its arena. network is Nullable. */
lmbStatus lmbForcing_Reduce( const lmbTissue *tissue, const lmbModes *modes, const lmbNetwork *network,
                             lmbSprings *springs, lmbError *error );

/* The reduced forcing evaluated as the runtime does, in double. coefficients (frameCount x
 * coefficientCount), Nullable: the bones' part alone. rows->target is not touched. */
void lmbForcing_Reduced( const lmbSprings *springs, lmbTargetInterpolation interpolation,
                         const lmbFrames *frames, const double *coefficients, lmbModalRows *rows );

#endif
