/* Limbs whose equations of motion are known: the ground truth that models are trained on and judged by.
 *
 *     M(q) q'' + C(q, q') q' + g(q) + p(q, q') = R(q, q') u
 *
 * n degrees of freedom q, m inputs u (joint torques, or muscle activations), p everything passive that takes
 * energy or stores it apart from gravity: viscosity, dry friction, joint limits, passive muscle force. */
#ifndef LMB_LIMB_PLANT_H
#define LMB_LIMB_PLANT_H

#include "limb/trajectory.h"

/* The planar arm: upper arm; forearm with hand as one segment. Angles of the shoulder against the x axis and
 * of the elbow against the upper arm (joint angles); y up. Zeros in lmbArmDef mean "not there". */
typedef struct lmbArmDef
{
	double bodyMass, bodyHeight; /* kg, m: segment parameters by de Leva 1996, Table 4 */
	bool female;
	double viscosity[2];     /* N m s / rad at shoulder and elbow */
	double friction[2];      /* N m, dry (smoothed: tanh of speed over 0.1 rad/s) */
	double gravity;          /* m / s^2, along -y; 0: a horizontal plane */
	double limits[2][2];     /* rad: lowest and highest angle where a torque begins to push back */
	double limitStiffness;   /* N m / rad^2 beyond the limit (torque = k d^2); 0: no limits */
	double limitDamping;     /* N m s / rad^2: damping that grows with depth, torque = b d q' while in */
	bool muscles;            /* six muscles in place of torques (docs/derivations/arm.md); inputs in [0, 1] */
	bool constantMomentArms; /* of the muscles; false: they change with the angle */
} lmbArmDef;

lmbArmDef lmbDefaultArmDef( void ); /* 75 kg, 1.75 m, viscosity 0.2, nothing else */

/* One rigid segment, for documents and tests. */
typedef struct lmbSegment
{
	double mass, length, centre, inertia; /* kg, m, m from the proximal joint, kg m^2 about the centre */
} lmbSegment;

typedef struct lmbPlant
{
	const char *name;
	int dofCount, inputCount;
	const char **dofNames, **inputNames;
	bool *slides, *turns;      /* (dofCount) as in lmbTrajectories */
	bool invariantBase;        /* the dynamics do not depend on the first angle */
	double ( *inputRange )[2]; /* (inputCount) what the input may be */
	double ( *startRange )[2]; /* (dofCount) positions from which motions start by default */
	const struct lmbPlantClass *class;
	void *data;
	const char *notes; /* what of a MuJoCo model was left out or taken otherwise, in words; NULL: nothing */
	lmbArena arena;
} lmbPlant;

/* Parts of the torque balance at one instant, all generalised torques, (dofCount) each; mass (n x n). */
typedef struct lmbPlantTerms
{
	double mass[lmbLimbMaxDofs * lmbLimbMaxDofs];
	double bias[lmbLimbMaxDofs];    /* C(q, q') q' */
	double gravity[lmbLimbMaxDofs]; /* g */
	double passive[lmbLimbMaxDofs]; /* p */
	double input[lmbLimbMaxDofs];   /* R u */
	double acceleration[lmbLimbMaxDofs];
	/* What the motion of the other joints costs this one: sum_{j != i} M_ij q''_j + (C q')_i */
	double interaction[lmbLimbMaxDofs];
} lmbPlantTerms;

lmbStatus lmbPlant_MakeArm( const lmbArmDef *def, lmbPlant **out, lmbError *error );
lmbSegment lmbPlant_ArmSegment( const lmbArmDef *def, int index ); /* 0 upper arm, 1 forearm with hand */
/* A MuJoCo model (MJCF) with 1 to 16 hinge and slide joints, driven by motors,
 * servos without state, and muscles, whose inputs are activations. Ball and free joints, active equality
 * constraints and other actuators with a state are lmb_statusUnsupported; contacts are left out, which notes
 * then says; what MuJoCo refuses is lmb_statusCorrupt with its words, element and line. MuJoCo neither prints
 * nor writes its log nor ends the process. It keeps its handlers of errors in globals while it reads a file:
 * load when no other thread evaluates a MuJoCo plant. invariantBase and turns are found by turning joints at
 * random states. Energy lacks what muscles and servos store. */
lmbStatus lmbPlant_LoadMujoco( const char *path, lmbPlant **out, lmbError *error );
void lmbPlant_Free( lmbPlant *plant );

/* Thread safety: a plant belongs to one thread at a time. Copies share nothing. */
lmbStatus lmbPlant_Copy( const lmbPlant *plant, lmbPlant **out, lmbError *error );

/* q'' for state and input; false when it is not finite. (dofCount), (dofCount), (inputCount), (dofCount). */
bool lmbPlant_Acceleration( lmbPlant *plant, const double *q, const double *v, const double *u, double *a );
bool lmbPlant_Terms( lmbPlant *plant, const double *q, const double *v, const double *u, lmbPlantTerms *out );
double lmbPlant_Energy( lmbPlant *plant, const double *q, const double *v ); /* J, kinetic and stored */

/* Fills a trajectory's positions, velocities and accelerations from its first sample and its inputs: SUNDIALS
 * (ARKODE explicit, or CVODE), relative tolerance 1e-10, restarted at every sample, where the input may jump.
 * lmb_statusNumerical when the motion does not stay finite. */
lmbStatus lmbPlant_Integrate( lmbPlant *plant, lmbInputHold hold, lmbTrajectory *trajectory,
                              lmbError *error );

/* The same by hand, sample by sample, for inputs that depend on where the plant is. x (2 n): positions, then
 * velocities, goes on by duration seconds in place, from inputs begin to end (NULL: begin is held). The same
 * calls give the same bits, and those of lmbPlant_Integrate. False when the motion does not stay finite. */
typedef struct lmbPlantSolver lmbPlantSolver;
lmbStatus lmbPlantSolver_Open( lmbPlant *plant, lmbPlantSolver **out, lmbError *error );
bool lmbPlantSolver_Advance( lmbPlantSolver *solver, double *x, const double *begin, const double *end,
                             double duration );
void lmbPlantSolver_Close( lmbPlantSolver *solver ); /* NULL is fine */

/* How much the plant itself multiplies a small error in the state along a trajectory: the largest singular
 * value of d x(t) / d x(0) at every sample, (sampleCount), by finite differences or the variational equation.
 */
lmbStatus lmbPlant_Amplification( lmbPlant *plant, lmbInputHold hold, const lmbTrajectory *trajectory,
                                  double *out, lmbError *error );

#endif
