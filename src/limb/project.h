/* The project file of a limb: which plant or recordings, which motions, which models, which tests.
 *
 * Read by the table lmbLimbProjectTable (project/table.h); docs/formats/limb-project.md is printed from it.
 * Angles are degrees in the file and radians here. */
#ifndef LMB_LIMB_PROJECT_H
#define LMB_LIMB_PROJECT_H

#include "limb/motions.h"
#include "limb/plant.h"
#include "limb/recording.h"
#include "limb/train.h"
#include "project/table.h"

typedef enum lmbLimbSource
{
	lmb_limbSourceArm,       /* the planar arm in closed form */
	lmb_limbSourceMujoco,    /* a MuJoCo model */
	lmb_limbSourceRecordings /* measured: no plant that could be asked */
} lmbLimbSource;

/* A setting that is found out when it is not said. */
typedef enum lmbLimbChoice
{
	lmb_limbChoiceAuto,
	lmb_limbChoiceTrue,
	lmb_limbChoiceFalse
} lmbLimbChoice;

/* What a motion is drawn from. */
typedef struct lmbLimbProjectMotion
{
	lmbPlantMotionKind kind;
	int count;
	double duration;           /* s; NaN: the project's */
	double effort;             /* share of the inputs' range that the inputs use */
	double bandwidth;          /* Hz of random inputs */
	double speed;              /* degrees/s: starts are drawn from +-this */
	double noise;              /* share of a reach's inputs that is random */
	double centring, feedback; /* rad/s: as lmbPlantMotionDef's */
} lmbLimbProjectMotion;

typedef struct lmbLimbProjectModel
{
	lmbLimbKind kind;
	const char *name;  /* NULL: as lmbLimbModel_Name */
	int layers, width; /* -1: the kind's own; so below */
	int adamEpochs, lbfgsIterations;
	double stopShare, window; /* NaN: the kind's own */
	lmbLimbMethod method;
	bool chainPrior;
	lmbLimbChoice potential, frictionNetwork, driveNetwork, invariance, torqueNoise;
	bool absoluteAngles;
	bool variants; /* also trained on the noisy and the small sets of the tests */
	int seeds;
	lmbLimbChoice best; /* of several seeds: true, the one that the stopping set likes best; false, medians */
} lmbLimbProjectModel;

/* Tests by their names in metrics.json, in the order of the table. */
typedef enum lmbLimbTestKind
{
	lmb_limbTestHeldOut,
	lmb_limbTestNovelVelocity,
	lmb_limbTestNovelPosture,
	lmb_limbTestPulse,
	lmb_limbTestHalfRate,
	lmb_limbTestDoubleRate,
	lmb_limbTestNoise,
	lmb_limbTestCount
} lmbLimbTestKind;

typedef struct lmbLimbProject
{
	lmbProjectFile file;
	const char *name;
	int seed;

	lmbLimbSource source;
	const char *mujoco; /* path; NULL without one */
	lmbArmDef arm;      /* limits in degrees as the file has them; lmbLimbProject_ArmDef converts */
	double shoulderLimits[2], elbowLimits[2]; /* degrees */

	lmbRecordingDef recording;
	const char *const *files; /* (fileCount) recordings */
	int fileCount;
	const char *const *heldOut; /* (heldOutCount) patterns of recordings' names */
	int heldOutCount;

	double rate, duration;               /* Hz, s */
	double startRange;                   /* share of the plant's range of starting angles that is used */
	double noise;                        /* degrees: of the measured angles that training sees */
	double inputNoise;                   /* share of half an input's range: of the measured inputs */
	const lmbLimbProjectMotion *motions; /* (motionCount) */
	int motionCount;

	const lmbLimbProjectModel *models; /* (modelCount) */
	int modelCount;
	bool trust;
	bool twoSegments; /* recordings: a row of two rigid segments in a plane */

	const int *tests; /* (testCount) lmbLimbTestKind */
	int testCount;
	int testMotions;     /* trajectories of each test but that of pulses */
	int pairs;           /* reaches of that one */
	double testDuration; /* s */
	lmbIntegrator integrator;
	double step;                /* s */
	double testNoise;           /* degrees */
	double novelVelocity[2];    /* degrees/s: starting speeds, from and to, of either sign */
	double novelPosture[2];     /* share of half the plant's range of starting positions, from its middle */
	double fitStart;            /* s of the motion to which starts are fitted */
	double pulse, pulseTime;    /* share of the inputs' range, s */
	const double *sampleCounts; /* (sampleCountCount) */
	int sampleCountCount;
} lmbLimbProject;

extern const lmbProjectTable lmbLimbProjectTable;

/* Reads and checks a project file, as lmbProjectFile_Load. */
lmbStatus lmbLimbProject_Load( const char *path, lmbLimbProject **out, lmbError *error );
void lmbLimbProject_Free( lmbLimbProject *project ); /* NULL is fine */

/* That keys go together: what each plant needs, and names that differ. Load calls it; call it after Set. */
lmbStatus lmbLimbProject_Check( const lmbLimbProject *project, lmbError *error );

/* The plant's settings in radians. */
lmbArmDef lmbLimbProject_ArmDef( const lmbLimbProject *project );
/* The model's name in metrics.json: its own, or "ape_lagrangian", "ape_affine", "ape_plain", "gru", "lstm".
 */
const char *lmbLimbModel_Name( const lmbLimbProjectModel *model );
/* A test's name in metrics.json. */
const char *lmbLimbTest_Name( lmbLimbTestKind test );

#endif
