/* An instance. Places and velocities of the world are kept relative to the body's own position, which is
 * followed in double, so that distance from the world's origin costs no precision.
 *
 * A signal's past is its last value and the two increments before it: e1 = y(n-1) - y(n-2) and
 * e2 = y(n-2) - y(n-3), of world axes. Increments survive a change of origin, and a jump that is to count
 * as no motion (a pause, a teleport) replaces the last value alone. */
#ifndef LMB_RUNTIME_FLESH_BODY_H
#define LMB_RUNTIME_FLESH_BODY_H

#include "flesh_model.h"
#include "springs.h"

/* What must be saved besides the arrays. */
typedef struct lmbFleshClock
{
	int32_t known; /* frames in the signals' past, 0 .. 3; 0: asleep */
	int32_t paused, teleported;
	int32_t sleep;           /* lmbSleep */
	int32_t glides;          /* before the oldest known frame the target moved evenly; else it stood still */
	int32_t unused;          /* keeps the doubles aligned; 0 */
	double steps[2];         /* s, of the increments e1 and e2 */
	double position[3];      /* m, at the last frame, world */
	double increments[2][3]; /* m, of the position, on the body's own scale: e1, e2 */
	double rotation[9];      /* model space to world, at the last frame */
	double scale;            /* of model space in the world, at the last frame */
	double force[3];         /* m/s^2, world: the direction's acceleration at the last frame */
	double slept;            /* s */
} lmbFleshClock;

/* Waking: the next step that takes time makes up for the time slept. */
typedef enum lmbSleep
{
	lmb_sleepAwake = 0,
	lmb_sleepAsleep = 1,
	lmb_sleepWaking = 2
} lmbSleep;

/* The springs' maps of one length of step. */
typedef struct lmbFleshMaps
{
	double step;         /* s; 0: empty */
	lmbSpringMap *modes; /* (modeCount) */
	float *vertices;     /* (softBlockCount x lmbSpringPlanes x lmbLanes) */
} lmbFleshMaps;

struct lmbFleshBody
{
	const lmbFlesh *model;
	const lmbKernels *kernels;
	lmbFleshDef def;
	bool hasModes, hasVertexSprings; /* of the chosen layer */
	bool followsPose;                /* the modes' stiffness follows the pose */
	const double *modeSprings, *vertexSprings;
	/* Direction (flesh_direction.c). */
	bool listed;   /* in the batch that is being checked (flesh_batch.c) */
	bool directed; /* displacement has gains or a limit */
	float perLimit;
	bool slowsWithSize;
	bool regional; /* bones have stiffness or damping of their own */
	bool teleportForgets;
	double teleportSpeed; /* m/s; 0: none */
	double stiffness, damping, acceleration[3], push[3];
	float *gains;         /* (softBlockCount x lmbLanes) */
	float *participation; /* (modeCount x boneCount) of each bone's region in a mode, rows sum to 1 */
	bool participationKnown;

	double *modeRates;  /* (modeCount x 2) stiffness and damping as directed */
	float *vertexRates; /* (softBlockCount x 2 x lmbLanes) stiffness and damping; stiffness -1: no vertex */

	/* State, one run of memory from stateBegin, doubles before floats. World axes, relative to position. */
	char *stateBegin;
	size_t stateDoubles, stateFloats;
	lmbFleshClock *clock;
	double *bones;        /* (3 x boneCount x 12) world matrices: last, e1, e2 */
	double *turns;        /* (boneCount x 9) world rotations of the bones at the last frame */
	double *coefficients; /* (3 x coefficientCount) last, e1, e2 */
	double
	    *modes; /* (2 x modeCount) amplitude and its velocity; U and V (springs.h) when stiffness follows */
	double
	    *modeLogs;   /* (modeCount) log ratio of stiffness at the last frame; only when it follows the pose */
	float *vertices; /* (softBlockCount x lmbVertexPlanes x lmbLanes), see lmbVertexPlane */

	/* Of one step. */
	lmbFleshMaps maps[2];
	int nextMaps;                  /* which to overwrite */
	double *nextBones, *nextTurns; /* (boneCount x 12), (boneCount x 9): world, this frame */
	double *modelTurns;            /* (boneCount x 9) rotations of the bones in model space */
	double *bonesStart, *bonesEnd; /* (boneCount x 12) world acceleration at the step's start and end */
	float *palette;                /* (boneCount x lmbBoneFloats) model space */
	float *features;               /* (featureCount) */
	float *amplitudes;             /* (coefficientCount) */
	float *scratch[3];             /* network and forcing: inputs, and two of outputs */
	float *still; /* ((softBlockCount + 1) x 3 x lmbLanes) B z, bind axes; none where blocks sum their own */
	float *modeAmounts[3];      /* (modePad) amplitudes, and forcing at start and end */
	float *moreForcing[2];      /* (modePad) */
	float *nextLogs;            /* (modePad) log ratios of this frame */
	float *positions, *normals; /* (vertexCount x 3) m, model space */
	float *normalSums;          /* lmbNormals; zeros between steps */
	float *struck;              /* (2 x vertexCount) of a strike: weight, and weight times area */
};

/* Planes of a block's state, each lmbLanes long: three coordinates of displacement, its velocity, the still
 * shape's place and its two increments, then the quaternion of the skinning rotation (model axes). */
enum
{
	lmbPlaneU = 0,
	lmbPlaneV = 3,
	lmbPlaneY = 6,
	lmbPlaneE1 = 9,
	lmbPlaneE2 = 12,
	lmbPlaneQ = 15,
	lmbVertexPlanes = 19
};

/* Where the body stands in a frame, and how increments make what drives the springs over the step:
 * acceleration at its start and end, or the jump of velocity (target.h). */
typedef struct lmbFleshFrame
{
	double step;                           /* s, in the springs' own time; 0: no motion */
	bool wakes;                            /* the step makes up for time slept */
	double scale;                          /* of model space in the world */
	double rotation[9];                    /* model space to world */
	double position[3], increment[3];      /* m, world; increment since the last frame, on the body's scale */
	double startWeights[3], endWeights[3]; /* of this step's increment, e1, e2 */
	double startOrigin[3], endOrigin[3];   /* the same of the position itself */
} lmbFleshFrame;

/* What lmbFleshBody_Step refuses, for a body that is awake. */
bool lmbFleshBody_Accepts( const lmbFleshBody *body, const lmbFleshPose *pose, double dt );

/* The parts of a step, in their order (flesh_body.c but where said otherwise; flesh_batch.c calls them).
 * Begin takes what Accepts does; *maps is NULL in a frame without motion. */
void lmbFleshBody_Begin( lmbFleshBody *body, const lmbFleshPose *pose, double dt, lmbFleshFrame *frame,
                         const lmbFleshMaps **maps );
/* flesh_maps.c: springs as directed, as the maps' kernel reads them; bones' own factors are Nullable. And the
 * maps of a step of dt > 0. */
void lmbFleshBody_FillRates( lmbFleshBody *body, const float *boneStiffness, const float *boneDamping );
const lmbFleshMaps *lmbFleshBody_FindMaps( lmbFleshBody *body, double dt );
/* flesh_pose.c: bones of the frame to palette, nextBones and the rotations; features. */
void lmbFleshBody_PlaceBones( lmbFleshBody *body, const lmbFleshPose *pose, const lmbFleshFrame *frame );
/* flesh_network.c: features to amplitudes and still, region by region. */
void lmbFleshBody_BeginNetwork( lmbFleshBody *body );
void lmbFleshBody_RunRegion( lmbFleshBody *body, int region );
/* flesh_modes.c: forcing, and a step of the modes; modeAmounts is filled. */
void lmbFleshBody_StepModes( lmbFleshBody *body, const lmbFleshFrame *frame, const lmbFleshMaps *maps );
/* flesh_vertices.c: a block's bones, with this frame's palette. */
lmbSkin lmbFleshBody_Skin( const lmbFleshBody *body, int block );
/* Shapes, and a step of the vertices' springs, of one block; with all blocks positions is filled. */
void lmbFleshBody_StepBlock( lmbFleshBody *body, int block, const lmbFleshFrame *frame,
                             const lmbFleshMaps *maps );

void lmbFleshBody_FillNormals( lmbFleshBody *body );
/* The frame becomes the past. */
void lmbFleshBody_End( lmbFleshBody *body, const lmbFleshFrame *frame );

/* flesh_pose.c: turns the whole past by a 3x3 rotation of the world. */
void lmbFleshBody_Turn( lmbFleshBody *body, const double *turn );

/* flesh_sleep.c: a step of a body that sleeps. */
lmbStatus lmbFleshBody_Doze( lmbFleshBody *body, double dt, lmbFleshShape *shape );
/* flesh_direction.c: whether a step of dt seconds jumps so far that the direction takes it for no motion. */
bool lmbFleshBody_JumpsFar( const lmbFleshBody *body, const lmbFleshFrame *frame, double dt );
/* m/s^2 and m/s of the world as the body's springs count them, on its own scale and in its own time. */
double lmbFleshBody_ForceScale( const lmbFleshBody *body, double scale );
double lmbFleshBody_SpeedScale( const lmbFleshBody *body, double scale );

/* flesh_regions.c: a mode's shape at the vertices of a soft block, bind axes, out (3 x lmbLanes). */
void lmbFleshBlock_Mode( const lmbFlesh *model, int block, int mode, float *out );
/* Mean of values (boneCount) over the bones of a lane's vertex, by their weights; lane counts through all
 * soft blocks. */
double lmbFleshLane_BoneMean( const lmbFlesh *model, int lane, const float *values );
/* The same over a mode's region, by where the mode moves. */
double lmbFleshBody_ModeMean( lmbFleshBody *body, int mode, const float *values );

static inline bool lmbFleshFrame_Moves( const lmbFleshFrame *frame )
{
	return frame->step > 0.0;
}

#endif
