/* A limb's equations of motion as a network, while it is being taught: batches in double, exact gradients by
 * the parameters and by state and input. Kinds and equations: docs/formats/limb-model.md; derivations:
 * docs/derivations/limb.md. Internal to src/limb.
 *
 * All parameters are one flat vector that the caller owns. Networks see inputs and give outputs that are
 * scaled to order 1 here; the model file has the scales folded in (limb_model.c). */
#ifndef LMB_LIMB_EQUATIONS_H
#define LMB_LIMB_EQUATIONS_H

#include "learn/mlp.h"
#include "limb/trajectory.h"

#include <limber/limb.h>

enum
{
	lmbFeaturesMax = 128,
	lmbListMax = lmbFeaturesMax + lmbLimbMaxDofs + lmbLimbMaxInputs
};

typedef enum lmbFeatureKind
{
	lmb_featureSine = 0,
	lmb_featureCosine = 1,
	lmb_featureLinear = 2
} lmbFeatureKind;

/* Who looks at a feature. A joint whose axis stands in the world never changes the limb's inertia; a hinge
 * that cannot turn fully may have its angle, besides sine and cosine, looked at by forces; sums of angles
 * serve gravity alone. */
enum
{
	lmbSeenByMass = 1,
	lmbSeenByPotential = 2,
	lmbSeenByForces = 4, /* damping, drive, and the networks of the other kinds */
	lmbSeenByAll = 7
};

/* The positions as networks see them: each feature a function of a whole-number combination k . q. */
typedef struct lmbFeatures
{
	int count, dofCount;
	int32_t angles[lmbFeaturesMax * lmbLimbMaxDofs]; /* (count x dofCount) k */
	int32_t kinds[lmbFeaturesMax];
	double shift[lmbFeaturesMax], scale[lmbFeaturesMax]; /* of linear ones: (k . q - shift) * scale */
	unsigned char seenBy[lmbFeaturesMax];                /* lmbSeenBy.. joined */
} lmbFeatures;

/* Values (count), first and second derivatives by k . q (count each; both Nullable together). */
void lmbFeatures_Evaluate( const lmbFeatures *features, const double *positions, double *values,
                           double *slopes, double *curvatures );

typedef enum lmbEquationsPart
{
	lmb_partMass,
	lmb_partPotential,
	lmb_partDamping,
	lmb_partDrive,
	lmb_partAffine,
	lmb_partPlain,
	lmb_partCount
} lmbEquationsPart;

/* One perceptron between scaled numbers: y = outputShift + outputScale net( (x - inputShift) inputScale ). */
typedef struct lmbScaledNetwork
{
	bool used;
	lmbMlp mlp;
	size_t offset;   /* of its parameters in the flat vector */
	int32_t *inputs; /* (sizes[0]) entries of the list: features, velocities, inputs */
	double *inputShift, *inputScale, *outputShift, *outputScale;
	int tangentCount; /* dofs by which it is differentiated: those that move a feature it sees */
	int tangentDofs[lmbLimbMaxDofs];
} lmbScaledNetwork;

typedef struct lmbEquations
{
	lmbLimbKind kind;
	int dofCount, inputCount;
	lmbFeatures features;
	lmbScaledNetwork parts[lmb_partCount];
	double massFloor;
	bool constantDamping;
	size_t dampingOffset; /* of K, n (n + 1) / 2 parameters, times dampingScale row by row */
	double dampingScale[lmbLimbMaxDofs];
	double *driveMatrix; /* (dofCount x inputCount) Nullable */
	bool identityDrive;  /* inputs are the generalised torques themselves */
	size_t parameterCount;
	lmbArena arena;
} lmbEquations;

/* What the equations are made for: settings, and the spread of the data. */
typedef struct lmbEquationsDef
{
	lmbLimbKind kind; /* not recurrent */
	int dofCount, inputCount;
	const bool *slides, *turns; /* (dofCount) */
	int hiddenLayers, width;
	bool linearPotential; /* V linear in its features, as gravity on a chain is, in place of a network */
	bool potential, frictionNetwork, driveNetwork, absoluteAngles, invariantBase;
	const double *driveMatrix; /* Nullable */
	/* (dofCount) and (inputCount) of the training data. Standard deviations > 0 are lower-bounded inside. */
	double positionMean[lmbLimbMaxDofs], positionSpread[lmbLimbMaxDofs];
	double velocitySpread[lmbLimbMaxDofs], accelerationSpread[lmbLimbMaxDofs];
	double inputMean[lmbLimbMaxInputs], inputSpread[lmbLimbMaxInputs];
} lmbEquationsDef;

/* Chooses features and networks. equations must be freed, also after a failure. */
lmbStatus lmbEquations_Make( const lmbEquationsDef *def, lmbEquations *equations, lmbError *error );
void lmbEquations_Free( lmbEquations *equations );
/* parameters (parameterCount): a limb of the data's scale. */
void lmbEquations_Init( const lmbEquations *equations, lmbRandom *random, double *parameters );
/* Features only, into equations->features (dofCount set): what Make uses; for the recurrent models too. */
lmbStatus lmbEquations_ChooseFeatures( const lmbEquationsDef *def, lmbFeatures *features, lmbError *error );

/* Room for a batch on one thread. */
typedef struct lmbEquationsPass
{
	const lmbEquations *equations;
	int capacity, count;
	double *list;                      /* (capacity x F + n + m) */
	double *slopes, *curvatures;       /* (capacity x F) */
	const double *velocities, *inputs; /* of the last forward pass; the caller's */
	double *accelerations;             /* (capacity x n) */
	/* (count x n) the caller's, NULL at first; Lagrangian models only. Set before Forward: in place of
	 * accelerations, it and Backward deal with the torques missing from the balance at these ones. */
	const double *measured;
	double *combinationGradient; /* (capacity x F) by k . q, through the directions of differentiation */
	double *listGradient;        /* (capacity x F + n + m) */
	struct
	{
		lmbMlpPass pass;
		double *in, *out, *inGradient, *outGradient; /* ((1 + tangents) capacity x width) */
	} parts[lmb_partCount];
} lmbEquationsPass;

lmbStatus lmbEquationsPass_Make( lmbEquationsPass *pass, const lmbEquations *equations, int capacity,
                                 lmbArena *arena, lmbError *error );

/* Accelerations (count x n) of a batch, valid until the next forward pass. positions and velocities
 * (count x n), inputs (count x m; may be NULL when m is 0), which must stay until Backward. */
const double *lmbEquations_Forward( lmbEquationsPass *pass, const double *parameters, const double *positions,
                                    const double *velocities, const double *inputs, int count );

/* After Forward: ADDS the gradient of a loss by the parameters (parameterCount) given its gradient
 * by the accelerations; sets those by positions, velocities (count x n; Nullable both together). */
void lmbEquations_Backward( lmbEquationsPass *pass, const double *parameters,
                            const double *accelerationGradient, double *gradient, double *positionGradient,
                            double *velocityGradient );

/* The torque balance of one sample of a Lagrangian model; the arithmetic between its networks and q''.
 * Rows of network outputs; NULL for networks that are not there. Triangles are lower, row by row. */
typedef struct lmbLagrangianTerms
{
	int n, m;
	double massFloor;
	const double *mass;                         /* (n (n + 1) / 2) x: L's entries before softplus */
	const double *massTangents[lmbLimbMaxDofs]; /* by each dof; NULL: does not depend on it */
	const double *slope[lmbLimbMaxDofs];        /* dV / dq, one number each; NULL: 0 */
	const double *dampingConstant, *damping;    /* (n (n + 1) / 2) K of both */
	const double *driveMatrix, *drive;          /* (n x m) */
	bool identityDrive;
	const double *velocities, *inputs;
	const double *accelerations; /* Nullable */
} lmbLagrangianTerms;

/* Gradients by everything above, same shapes; set, except dampingConstant and velocities, which are ADDED. */
typedef struct lmbLagrangianGradient
{
	double *mass, *massTangents[lmbLimbMaxDofs], *slope[lmbLimbMaxDofs];
	double *dampingConstant, *damping, *drive, *velocities;
} lmbLagrangianGradient;

/* Where the terms have accelerations, what comes out (and what the gradient is by) is not the acceleration
 * but the torque that is missing from the balance there, M q'' + C v + D v + dV/dq - G u. */
void lmbLagrangian_Acceleration( const lmbLagrangianTerms *terms, double *acceleration );
void lmbLagrangian_Backward( const lmbLagrangianTerms *terms, const double *accelerationGradient,
                             lmbLagrangianGradient *gradient );

#endif
