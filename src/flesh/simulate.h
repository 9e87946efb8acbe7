/* Still shapes over poses and moving shapes over motions, by finite elements: the stage `simulate`. */
#ifndef LMB_FLESH_SIMULATE_H
#define LMB_FLESH_SIMULATE_H

#include "flesh/tissue.h"
#include "formats/motion.h"

typedef enum lmbTimeStepping
{
	lmb_steppingTrapezoidal,
	lmb_steppingBdf2,
	lmb_steppingBackwardEuler
} lmbTimeStepping;

typedef struct lmbPoseRange
{
	const char *bone;
	double degrees; /* largest turn away from bind for random poses, in [0, 180] */
} lmbPoseRange;

typedef struct lmbSimulateDef
{
	/* Poses: bones' local rotations drawn around frames of the training motions. */
	int poseCount;              /* in [0, 100000] */
	double poseSpread;          /* degrees: standard deviation of each joint's random turn, in [0, 90] */
	double poseRange;           /* degrees: largest turn of any joint away from bind, in [0, 180] */
	const lmbPoseRange *ranges; /* (rangeCount) overrides by bone */
	int rangeCount;
	/* Motions. */
	double rate;     /* Hz, output frames, in [5, 1000] */
	double stepRate; /* Hz, dynamics; a multiple of rate is made of it, rounding up */
	lmbTimeStepping stepping;
	double dampingMass;      /* 1/s, Rayleigh alpha */
	double dampingStiffness; /* s, Rayleigh beta */
	double gravity[3];       /* m/s^2, scene space */
	double tolerance;        /* Newton: residual relative to a force scale, see solver.h */
	int iterationLimit;
	int shardIndex, shardCount; /* this process does poses with index % shardCount == shardIndex */
} lmbSimulateDef;

/* 400 poses, spread 20, range 110; 60 Hz frames, 240 Hz steps, trapezoidal, alpha 0, beta 0.004 s,
 * no gravity (the artist's shape already hangs in it), tolerance 1e-6, 60 iterations, one shard. */
lmbSimulateDef lmbDefaultSimulateDef( void );

typedef struct lmbSimulateMotion
{
	const lmbMotion *motion;
	bool trained;
} lmbSimulateMotion;

/* Fills folder (dataset.h). What is there already and belongs to the same settings is kept; what belongs
 * to others is replaced. Poses are drawn from the trained motions only. */
lmbStatus lmbSimulate( const lmbCharacter *character, const lmbTissue *tissue,
                       const lmbSimulateMotion *motions, int motionCount, const lmbSimulateDef *def,
                       const lmbJob *job, const char *folder, lmbError *error );

#endif
