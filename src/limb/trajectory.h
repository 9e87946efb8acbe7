/* Motion of a limb over time: what plants and recordings give, and what models learn from and are judged on.
 *
 * A trajectory is sampled at a constant step. Angles in radians (slides in metres), speeds in rad/s (m/s),
 * inputs in the unit of the plant's or recording's inputs: joint torques in N m, or muscle activations or
 * forces. File: docs/formats/trajectories.md. */
#ifndef LMB_LIMB_TRAJECTORY_H
#define LMB_LIMB_TRAJECTORY_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>

enum
{
	lmbLimbMaxDofs = 16, /* as in the runtime */
	lmbLimbMaxInputs = 64
};

/* What the input does between two samples. */
typedef enum lmbInputHold
{
	lmb_inputHeld,  /* input i acts from sample i to sample i + 1: edges of pulses fall on steps */
	lmb_inputLinear /* straight from sample i to sample i + 1 */
} lmbInputHold;

typedef struct lmbTrajectory
{
	const char *name;
	int sampleCount;
	double step;           /* s between samples */
	double *positions;     /* (sampleCount x dofCount) */
	double *velocities;    /* (sampleCount x dofCount); NULL: not measured */
	double *accelerations; /* (sampleCount x dofCount), just after an edge of the input; NULL: not measured */
	double *inputs;        /* (sampleCount x inputCount); inputCount 0: NULL */
} lmbTrajectory;

typedef struct lmbTrajectories
{
	lmbArena arena;
	int dofCount, inputCount;
	const char **dofNames, **inputNames;
	bool *slides; /* (dofCount) metres instead of radians */
	bool *turns;  /* (dofCount) a hinge that can turn fully: only the sine and cosine of its angle matter */
	lmbInputHold hold;
	int count;
	lmbTrajectory *items; /* (count) */
} lmbTrajectories;

/* Everything finite, names unique and not empty, else lmb_statusNumerical or lmb_statusInvalidArgument. Load
 * takes no memory beyond what the file holds; a file that lies is lmb_statusCorrupt, with its path. */
lmbStatus lmbTrajectories_Save( const lmbTrajectories *set, const char *path, lmbError *error );
lmbStatus lmbTrajectories_Load( const char *path, lmbTrajectories **out, lmbError *error );
void lmbTrajectories_Free( lmbTrajectories *set ); /* NULL is fine */
/* That no two trajectories have one name. */
lmbStatus lmbTrajectories_CheckNames( const lmbTrajectories *set, lmbError *error );

/* An empty set with room for count >= 1 trajectories, names "q1".., "tau1".. until set otherwise (to strings
 * in the set's arena). */
lmbStatus lmbTrajectories_New( int dofCount, int inputCount, int count, lmbTrajectories **out,
                               lmbError *error );
/* Room for one trajectory's arrays in the set's arena, zeroed; name is copied. accelerations and velocities
 * as asked for. Not for several threads at a time; filling the arrays is. */
lmbStatus lmbTrajectories_Allocate( lmbTrajectories *set, int index, const char *name, int sampleCount,
                                    double step, bool velocities, bool accelerations, lmbError *error );

#endif
