/* Shared by limb/motions*.c only. */
#ifndef LMB_LIMB_MOTIONS_PRIVATE_H
#define LMB_LIMB_MOTIONS_PRIVATE_H

#include "base/random.h"
#include "limb/motions.h"

#include <pthread.h>

/* Waves of random frequency, phase and size, at most 1 in all. */
enum
{
	lmbWaveCount = 6
};

typedef struct lmbWaves
{
	double size[lmbWaveCount], speed[lmbWaveCount], phase[lmbWaveCount];
} lmbWaves;

lmbWaves lmbWaves_Draw( lmbRandom *random, double bandwidth );
double lmbWaves_At( const lmbWaves *waves, double time );

/* One trajectory being made. */
typedef struct lmbPlantMotionRun
{
	lmbPlant *plant; /* the thread's */
	const lmbPlantMotionDef *def;
	lmbTrajectory *out;
	lmbRandom random;
	lmbWaves waves[lmbLimbMaxInputs];
	/* Reaches: the one that is under way, and when the next begins, s. */
	double reachStart, reachEnd, nextReach;
	double from[lmbLimbMaxDofs], to[lmbLimbMaxDofs];
	bool once; /* stays at `to` after the first */
} lmbPlantMotionRun;

/* The input u of a sample, given the state x there. */
typedef void lmbPlantMotionInput( lmbPlantMotionRun *run, int sample, const double *x, double *u );

/* Draws the waves and makes the motion from x (2 n). */
lmbStatus lmbPlantMotion_Run( lmbPlantMotionRun *run, lmbPlantMotionInput *input, double *x,
                              lmbError *error );
void lmbPlantMotion_BeginReaches( lmbPlantMotionRun *run, const double *x );
/* From where it was going to, to another posture. */
void lmbPlantMotion_NextReach( lmbPlantMotionRun *run, double now, const double *to );
lmbPlantMotionInput lmbPlantMotion_ReachInput;

double lmbPlantMotion_Clamp( double number, double low, double high );
/* Each joint inner to outer halves of the range of starts from its middle. */
void lmbPlantMotion_DrawPosture( const lmbPlant *plant, double inner, double outer, lmbRandom *random,
                                 double *q );
/* Changes inputs u, which are in their ranges, by little and within them so that they give these generalised
 * torques more, as far as they can. */
void lmbPlantMotion_Distribute( lmbPlant *plant, const double *q, const double *v, const double *torque,
                                double *u );
lmbStatus lmbPlantMotionDef_Check( const lmbPlantMotionDef *def, lmbError *error );

/* A set being made by several threads. */
typedef struct lmbPlantMotionSet
{
	const lmbJob *job;
	lmbTrajectories *set;
	lmbPlant **plants; /* (threads) copies */
	int threads;
	lmbArena arena;
	pthread_mutex_t lock; /* progress is told by one thread at a time */
	int done;
} lmbPlantMotionSet;

/* Close also after a failure. */
lmbStatus lmbPlantMotionSet_Open( lmbPlantMotionSet *making, const lmbPlant *plant, int count,
                                  const lmbJob *job, lmbError *error );
lmbStatus lmbPlantMotionSet_Add( lmbPlantMotionSet *making, int index, const char *name,
                                 const lmbPlantMotionDef *def, lmbError *error );
void lmbPlantMotionSet_Progress( lmbPlantMotionSet *making );
lmbStatus lmbPlantMotionSet_Close( lmbPlantMotionSet *making, lmbStatus status, lmbTrajectories **out );

#endif
