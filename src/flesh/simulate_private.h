/* What the files of the stage `simulate` share. */
#ifndef LMB_FLESH_SIMULATE_PRIVATE_H
#define LMB_FLESH_SIMULATE_PRIVATE_H

#include "flesh/dataset_files.h"
#include "flesh/poses.h"
#include "flesh/simulate.h"
#include "flesh/solver.h"

#include <pthread.h>

typedef enum lmbWorkKind
{
	lmb_workMoving, /* a motion's whole moving sequence */
	lmb_workStill,  /* one shard of a motion's still shapes */
	lmb_workPose
} lmbWorkKind;

/* About how long a time step, a still frame and a random pose take, in time steps. */
enum
{
	lmbCostStep = 1,
	lmbCostStill = 2,
	lmbCostPose = 20
};

typedef struct lmbWork
{
	lmbWorkKind kind;
	int motion;  /* of moving and still */
	int index;   /* first frame of the shard, or the pose */
	double cost; /* in time steps, for the order and the progress */
} lmbWork;

/* What one worker thread owns. */
typedef struct lmbSimulateWorker
{
	lmbSolver *solver;            /* made at the first task */
	double *bones;                /* (shard frames x boneCount x 12) */
	double *displacement, *nodes; /* (nodeCount x 3) */
	float *frames;                /* (shard frames x nodeCount x 3) */
	double *state;                /* of the solver's dynamics */
} lmbSimulateWorker;

typedef struct lmbSimulation
{
	lmbArena arena;
	const lmbCharacter *character;
	const lmbTissue *tissue;
	const lmbSimulateMotion *motions;
	const lmbSimulateDef *def;
	const lmbJob *job;
	const char *folder;
	lmbSolverPlan *plan;
	lmbPoseSource *poses;
	lmbManifest manifest; /* records, fingerprints */
	int substeps;         /* time steps in an output frame */
	lmbWork *work;
	int workCount;
	lmbSimulateWorker *workers;
	int workerCount;
	pthread_mutex_t mutex; /* progress and notes, counters below */
	double done, total;
	int posesDone, stillsDone, stepsDone, posesTotal, stillsTotal, stepsTotal;
} lmbSimulation;

/* simulate_fingerprints.c */
lmbStatus lmbSimulation_Fingerprints( lmbSimulation *simulation, lmbError *error );

/* simulate_tasks.c: does work[index] on a worker thread; lmbTask. */
lmbStatus lmbSimulation_Do( void *context, int index, int worker, lmbError *error );
/* Output frames of a motion that a killed run left, and that going on can build on. */
int lmbSimulation_MovingFramesDone( const lmbSimulation *simulation, int motion );

#endif
