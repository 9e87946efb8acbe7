/* What a limb's step computes with: the model as constant arrays in the order in which a step reads them, and
 * the functions of one instant and of one step. Nothing here reads files or takes memory. `limber export --c`
 * writes these very sources (limb_core.c and those that say so) beside a model's arrays, so that a device
 * gets the runtime's own numbers; they need nothing but C99. Equations: docs/formats/limb-model.md and
 * docs/derivations/integrators.md. */
#ifndef LMB_RUNTIME_LIMB_CORE_H
#define LMB_RUNTIME_LIMB_CORE_H

#include <stdbool.h>
#include <stdint.h>

/* An export defines these to what its model has, so that a device's stack holds no more. */
#ifndef LMB_CORE_DOFS
#define LMB_CORE_DOFS 16
#define LMB_CORE_INPUTS 64
#define LMB_CORE_FEATURES 128
#define LMB_CORE_TRUST 64
#define LMB_CORE_DIRECTIONS LMB_CORE_DOFS
#endif

enum
{
	lmbCoreMaxDofs = LMB_CORE_DOFS,
	lmbCoreMaxInputs = LMB_CORE_INPUTS,
	lmbCoreMaxLayers = 8, /* dense layers of a network, or recurrent layers */
	lmbCoreMaxFeatures = LMB_CORE_FEATURES,
	lmbCoreMaxTrust = LMB_CORE_TRUST, /* dimensions of the trust score */
	lmbCoreMaxDirections = LMB_CORE_DIRECTIONS,
	lmbCoreMaxList = lmbCoreMaxFeatures + lmbCoreMaxDofs + lmbCoreMaxInputs,
	lmbCoreMaxTriangle = lmbCoreMaxDofs * ( lmbCoreMaxDofs + 1 ) / 2
};

/* As lmbLimbKind and lmbIntegrator; tests/runtime/test_limb.c holds them together. */
enum
{
	lmbCoreLagrangian,
	lmbCoreAffine,
	lmbCorePlain,
	lmbCoreGru,
	lmbCoreLstm
};
enum
{
	lmbCoreSemiImplicitEuler,
	lmbCoreRk4,
	lmbCoreImplicitMidpoint,
	lmbCoreDormandPrince
};

/* A perceptron with tanh. Hidden layers are stored (inputs x outputs padded to 4), the last (outputs x inputs
 * padded to 4); biases are padded like outputs. */
typedef struct lmbCoreNet
{
	int layerCount; /* 0: there is no such network */
	int sizes[lmbCoreMaxLayers + 1];
	const int32_t *inputs; /* (sizes[0]) indices into the list: features, velocities, inputs */
	const float *weights[lmbCoreMaxLayers], *biases[lmbCoreMaxLayers];
} lmbCoreNet;

/* One recurrent layer: weights (inputs x gate outputs padded to 4), transposed from the file's. */
typedef struct lmbCoreCell
{
	const float *input, *hidden, *inputBias, *hiddenBias;
} lmbCoreCell;

/* A phase is a whole-number combination of positions that features are functions of. Derivatives by position
 * are taken in few directions: the phases themselves, or the dofs that any feature depends on, whichever are
 * fewer; d/dq_j = sum_t directions[t][j] d/dt. */
typedef struct lmbCoreModel
{
	int kind, dofCount, inputCount;
	int featureCount, phaseCount, directionCount;
	int stride;                       /* floats between jets: the widest layer, padded to 4 */
	const int32_t *phases;            /* (phaseCount x dofCount) */
	const int32_t *phaseTurns;        /* (phaseCount) 1: a sine or cosine of it is needed */
	const int32_t *directions;        /* (directionCount x dofCount) */
	const int32_t *featurePhases;     /* (featureCount) */
	const int32_t *featureKinds;      /* (featureCount) 0 sine, 1 cosine, 2 linear */
	const double *featureShifts;      /* (featureCount) */
	const double *featureScales;      /* (featureCount) */
	const int32_t *featureDirections; /* (featureCount x directionCount): phase's slope in a direction */
	lmbCoreNet mass, potential, damping, drive; /* of a Lagrangian model */
	double massFloor;
	const double *dampingConstant; /* (triangle) Nullable */
	const double *driveMatrix;     /* (dofCount x inputCount) Nullable */
	bool driveIdentity;            /* the input is the generalised torque */
	lmbCoreNet acceleration;       /* affine and plain */
	/* Recurrent: gates per unit 3 or 4, each gate padded to a multiple of 4 units. */
	int cellCount, hiddenCount;
	lmbCoreCell cells[lmbCoreMaxLayers];
	const double *stepShift, *stepScale; /* (inputCount + 1) */
	const double *readBase;              /* (dofCount) */
	lmbCoreNet start, read;
	/* Trust; dimensions 0: none. */
	int trustDimensions, trustCentres;     /* centres padded to a multiple of 4 by repeating the first */
	const int32_t *trustInputs;            /* (trustDimensions) */
	const double *trustWhiten, *trustMean; /* (d x d), (d) */
	const float *trustPlanes;              /* (d x trustCentres) */
	const double *trustGrowth;             /* (2 n + m + 5) Nullable: see limb_trust.c */
	double trustScale;
} lmbCoreModel;

/* Room for one evaluation; pointers into the instance's block. */
typedef struct lmbCoreWork
{
	const lmbCoreModel *model;
	bool wide;        /* the processor has eight lanes (kernels/limb_wide.h) */
	float *layers[2]; /* ((1 + directionCount) x stride), or of recurrent models the gates */
	/* The last evaluation's list of what networks may see, and its features' slopes by their phase. */
	double list[lmbCoreMaxList];
	double slopes[lmbCoreMaxFeatures];
} lmbCoreWork;

/* Floats that each of lmbCoreWork.layers needs. */
static inline int lmbCore_LayerFloats( const lmbCoreModel *model )
{
	return model->stride * ( 1 + model->directionCount );
}

/* An export's is known to the compiler. */
static inline int lmbCore_Dofs( const lmbCoreModel *model )
{
#ifdef LMB_CORE_EXPORT
	(void)model;
	return lmbCoreMaxDofs;
#else
	return model->dofCount;
#endif
}

static inline int lmbCore_Features( const lmbCoreModel *model )
{
#ifdef LMB_CORE_EXPORT
	(void)model;
	return LMB_CORE_FEATURE_COUNT;
#else
	return model->featureCount;
#endif
}

static inline int lmbCore_Pad( int count )
{
	return ( count + 3 ) / 4 * 4;
}

/* The state of an instance; hidden (cellCount x padded hiddenCount, twice for LSTM). */
typedef struct lmbCoreState
{
	double positions[lmbCoreMaxDofs], velocities[lmbCoreMaxDofs];
	double base[lmbCoreMaxDofs]; /* recurrent: the first state's positions */
	double trial;                /* s: the step that Dormand-Prince tries next; 0: none yet */
	double trust;
	float *hidden;
} lmbCoreState;

typedef struct lmbCoreDef
{
	int integrator;
	double maxStep, tolerance;
	bool trust;
} lmbCoreDef;

/* Parts of the torque balance, (dofCount) each. */
typedef struct lmbCoreTorques
{
	double input[lmbCoreMaxDofs], inertial[lmbCoreMaxDofs], interaction[lmbCoreMaxDofs],
	    gravity[lmbCoreMaxDofs], viscous[lmbCoreMaxDofs];
} lmbCoreTorques;

typedef enum lmbCoreResult
{
	lmbCoreOk,
	lmbCoreDiverged,    /* a number left +-1e9; the state is the last within */
	lmbCoreNotConverged /* an inner iteration or the smallest step was not enough; the state went on */
} lmbCoreResult;

/* limb_network.c: log(1 + e^x) and its derivative, within 4 units in the last place. */
double lmbSoftplus( double x, double *slope );
/* Within 3e-16 for |x| <= 1e5, then as lmbSinCos. */
void lmbPhase_SinCos( double x, double *sine, double *cosine );
/* Fills work->list and slopes. */
void lmbCore_See( lmbCoreWork *work, const double *q, const double *v, const double *u );
/* Outputs of a network of the list (jets 1), or with derivatives by all directions (jets
 * 1 + directionCount; features only): jet j's outputs start at j * stride. */
const float *lmbCoreNet_Run( const lmbCoreNet *net, lmbCoreWork *work, int jets );
/* The same, of inputs that are already in work->layers[0]. */
const float *lmbCoreNet_RunLayers( const lmbCoreNet *net, lmbCoreWork *work, int jets );

/* limb_lagrangian.c: of a Lagrangian model, of what work->list holds. */
void lmbCore_Lagrangian( lmbCoreWork *work, const double *v, const double *u, double *a );
/* limb_terms.c. a (dofCount); may be anything, also not finite, when the state is far out. */
void lmbCore_Acceleration( lmbCoreWork *work, const double *q, const double *v, const double *u, double *a );
/* limb_lagrangian.c */
void lmbCore_Inverse( lmbCoreWork *work, const double *q, const double *v, const double *a,
                      lmbCoreTorques *torques );
/* limb_trust.c: the score of what work->list holds; a the acceleration there, Nullable where there is none.
 */
double lmbCore_Trust( lmbCoreWork *work, const double *a );

/* limb_recurrent.c */
void lmbCore_StartRecurrent( lmbCoreWork *work, lmbCoreState *state );
lmbCoreResult lmbCore_StepRecurrent( lmbCoreWork *work, lmbCoreState *state, const double *meanInputs,
                                     double dt );

/* limb_integrate.c: one whole step, split as def says. end may equal inputs. */
lmbCoreResult lmbCore_Step( lmbCoreWork *work, lmbCoreState *state, const lmbCoreDef *def,
                            const double *inputs, const double *end, double dt );

#endif
