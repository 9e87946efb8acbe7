/* Motions of a plant: what a study draws its training and its tests from. Every maker gives a set that holds,
 * for each trajectory, the inputs that acted and the exact motion under them (lmbPlant_Integrate): positions,
 * velocities and accelerations. Inputs are held between samples, so edges lie on samples; integrating the
 * first sample under the recorded inputs again gives the same bits.
 *
 * Where a maker reacts to where the plant is (random inputs that keep it in a range, reaches with feedback),
 * it does so at samples, and what acted is in the inputs like everything else.
 *
 * A trajectory's random numbers depend on the job's seed, the def's stream and its place in its def alone,
 * never on threads (each has a copy of the plant) or on the other trajectories. */
#ifndef LMB_LIMB_MOTIONS_H
#define LMB_LIMB_MOTIONS_H

#include "base/job.h"
#include "limb/plant.h"

typedef enum lmbPlantMotionKind
{
	/* Band-limited random inputs about the middle of each input's range, and a pull back into the range of
	 * starts for joints that have left it. */
	lmb_plantMotionTorques,
	/* From posture to posture in the range of starts: minimum-jerk joint trajectories (Flash and Hogan 1985)
	 * by inverse dynamics with feedback at every sample, plus random inputs. The first begins at the start.
	 */
	lmb_plantMotionReaches,
	/* No input: each is 0, or the end of its range nearest to 0. */
	lmb_plantMotionSwings
} lmbPlantMotionKind;

/* Where motions start. "Half" is half of the plant's range of starts (lmbPlant.startRange), about its middle.
 */
typedef struct lmbPlantMotionStart
{
	/* Positions: each joint's distance from the middle is uniform from inner to outer, as shares of its half,
	 * to either side. Default 0 to 1: the whole range. Beyond 1 lies what the default never starts from. */
	double inner, outer;
	/* Speeds: uniform from slowest to fastest, of either sign, rad/s or m/s. Default 0 to 1. */
	double slowest, fastest;
} lmbPlantMotionStart;

typedef struct lmbPlantMotionDef
{
	lmbPlantMotionKind kind;
	int count;        /* trajectories, at least 1 */
	double rate;      /* samples a second; default 100 */
	double duration;  /* s; default 5: round( rate * duration ) samples, at least 2 */
	double effort;    /* share of half of each input's range that random inputs reach at most; default 0.5 */
	double bandwidth; /* Hz: random inputs are six waves of 0.1 to 1 times this; default 1.5 */
	/* rad/s: how firmly a joint that has left the range of starts is pulled back: as by a critically damped
	 * spring of this frequency on its own inertia, within the inputs' range; default 3; 0: not at all. */
	double centring;
	double noise; /* of reaches: as effort; default 0.05 */
	/* s; default 0.6 and 0.2. A reach for which the inputs' range would not do takes longer: until inertia
	 * and Coriolis forces need no more than three fifths of it. */
	double reachTime, restTime;
	double feedback; /* rad/s: frequency of the reaches' feedback, critically damped; default 8 */
	lmbPlantMotionStart start;
	const char
	    *name; /* trajectories are called "NAME 001"..; default by kind: "torques", "reaches", "swings" */
	uint64_t stream; /* sets that must differ under one seed take different ones; default 0 */
} lmbPlantMotionDef;

/* The study's: 200 trajectories of 5 s at 100 Hz, 1e5 samples. */
lmbPlantMotionDef lmbDefaultPlantMotionDef( lmbPlantMotionKind kind );

/* The starts of the tests, beside which the defaults train: speeds of 2 to 4 rad/s; postures 1 to 1.5
 * halves from the middle, with such speeds. */
lmbPlantMotionStart lmbNovelSpeeds( void );
lmbPlantMotionStart lmbNovelPostures( void );

/* All defs' trajectories, in order, in one set. Names must differ. The plant is not changed. Errors:
 * lmb_statusInvalidArgument for a def out of range, lmb_statusNumerical for a motion that does not stay
 * finite, lmb_statusCancelled; *out is then NULL. */
lmbStatus lmbPlantMotions_Make( const lmbPlant *plant, const lmbPlantMotionDef *defs, int defCount,
                                const lmbJob *job, lmbTrajectories **out, lmbError *error );

/* Reaches between targets, each without and with a push. */
typedef struct lmbReachTestDef
{
	/* targets uniform in the range of starts (share outer of the half, of motion.start); all ordered pairs:
	 * default 10 targets, 90 pairs; 2 to 100. pairCount > 0: only so many pairs, spread over all. */
	int targetCount, pairCount;
	/* Of one reach: from rest at one target to the other, which is held to the end. count, kind, start's
	 * speeds and inner are not used. Default: 2 s, no noise. */
	lmbPlantMotionDef motion;
	double pulse;      /* share of half of the input's range, added to one input; default 0.5 */
	double pulseTime;  /* s, rounded to samples, at least one; default 0.1 */
	double pulseStart; /* s, rounded to samples; < 0: anywhere within the reach; default -1 */
} lmbReachTestDef;

lmbReachTestDef lmbDefaultReachTestDef( void );

/* At the end of the name of a trajectory that is the one of the same name without it but for a pulse. */
#define lmbLimbPulseMark " + pulse"

/* 2 trajectories a pair: "reach 03-07", whose inputs came from feedback, and "reach 03-07 + pulse", under the
 * same inputs and the pulse, to which nothing reacts. The pulse is at input (number of the pair) modulo
 * inputCount, its sign alternates (an input that cannot be negative gets positive ones, cut at its range). */
lmbStatus lmbPlantMotions_MakeReachTest( const lmbPlant *plant, const lmbReachTestDef *def, const lmbJob *job,
                                         lmbTrajectories **out, lmbError *error );

#endif
