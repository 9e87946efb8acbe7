/* A moving body: pose in, skinned soft body out, at any frame rate.
 *
 * A model is read from memory and never changes; threads may share it. An instance is one character in
 * one scene; it lives in a block of memory that the caller owns and belongs to one thread at a time.
 * A step allocates nothing, prints nothing and touches nothing but its instance. The same calls give the
 * same bits from every compiler and instruction set with IEEE floats, when the library is compiled with
 * -ffp-contract=off as its CMake does.
 *
 * Pointers must not be NULL unless a line says Nullable.
 *
 * Equations: the shape at rest is LBS(bind) + R B z(pose) (docs/derivations/network.md); on top of it lie
 * zero-restlength springs u'' + c u' + k u = -y'', per vertex (arXiv 2201.10122, section 4) and per
 * vibration mode, stepped by their exact propagator (docs/derivations/spring.md). */
#ifndef LIMBER_FLESH_H
#define LIMBER_FLESH_H

#include <limber/base.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C"
{
#endif

	/* Which springs move on top of the network's shape. */
	typedef enum lmbLayer
	{
		lmb_layerNone = 0,          /* the network's still shape */
		lmb_layerVertex = 1,        /* one spring per vertex */
		lmb_layerModalUnfitted = 2, /* one spring per vibration mode, stiffness and damping from the tissue */
		lmb_layerModal = 3,         /* the same, fitted */
		lmb_layerHybrid = 4         /* modes, and per-vertex springs for what they leave over */
	} lmbLayer;

	/* How the target moves between two frames. */
	typedef enum lmbTargetInterpolation
	{
		lmb_targetCubic = 0, /* C1 cubic: the acceleration is linear inside a frame */
		lmb_targetLinear = 1 /* velocity jumps at each frame */
	} lmbTargetInterpolation;

	typedef struct lmbFlesh lmbFlesh;         /* a model */
	typedef struct lmbFleshBody lmbFleshBody; /* an instance */

	/* What a model consists of. */
	typedef struct lmbFleshInfo
	{
		/* Sizes; modes are vibration modes, coefficients those of the network's shapes. 0 where there are
		 * none. */
		int vertexCount, triangleCount, boneCount, modeCount, coefficientCount;
		/* What lmbFleshDef can ask for: hybrid means the vertices' springs on what fitted modes leave over.
		 */
		bool hasNetwork, hasVertexSprings, hasModes, hasFittedModes, hasHybrid, hasPoseStiffness;
	} lmbFleshInfo;

	/* How a body is run; lmbDefaultFleshDef fills it in. */
	typedef struct lmbFleshDef
	{
		lmbLayer
		    layer;    /* default: the best that the model has: hybrid, modal, modal unfitted, vertex, none */
		bool network; /* default true where the model has one; false: skinning's shape */
		lmbTargetInterpolation interpolation; /* default cubic */
		bool normals;                         /* default true: compute vertex normals in a step */
		bool poseStiffness; /* default true where the model has it, else without effect: the modes' stiffness
		                       follows the pose */
		lmbKernelSet kernels; /* default the best; one that lmbKernels_Name does not know is refused */
	} lmbFleshDef;

	/* Where the character is in one frame. */
	typedef struct lmbFleshPose
	{
		/* (boneCount x 12) rows of a 3x4 matrix: bind space to model space, metres. Copied by the call.
		 * |entry| <= 1e9; scale and shear are fine, displacements follow the nearest rotation. */
		const float *bones;
		double position[3]; /* m, of model space in the world, |.| <= 1e12 */
		float rotation[4];  /* xyzw, of model space in the world; made unit length, all 0 counts as no turn */
		/* Of model space in the world: 1e-3 .. 1e3, 0 counts as 1. What a step gives stays in model space, so
		 * the program's own transform of the character scales it too. The springs see the world's motion on
		 * the body's own scale, so a figure ten times as large under a motion ten times as wide sways alike;
		 * lmbFleshDirection.slowsWithSize makes it also slower, as flesh of that size is. A change of scale
		 * is no motion. */
		float scale;
	} lmbFleshPose;

	/* What a step gives. */
	typedef struct lmbFleshShape
	{
		const float *positions; /* (vertexCount x 3) m, model space; valid until the next call on the body */
		/* (vertexCount x 3) unit, model space, weighted by area; vertices at one place in bind share theirs.
		 * NULL when not asked for. */
		const float *normals;
	} lmbFleshShape;

	/* Bytes that a model with this file needs besides the file itself; 0 when the file is not a sound model
	 * (lmbFlesh_Load says why). data aligned to 8. */
	LMB_API size_t lmbFlesh_Size( const void *data, size_t size );

	/* Reads a model (docs/formats/model.md). data must stay, unchanged, as long as the model; memory holds at
	 * least lmbFlesh_Size bytes aligned to 64. There is nothing to free but data and memory, once no body
	 * uses the model. On failure *model is NULL, nothing is kept, and problem (Nullable) gets one static
	 * sentence, NULL on success. Safe for any bytes. Errors: lmb_statusCorrupt, lmb_statusUnsupported,
	 * lmb_statusNumerical for the data, lmb_statusInvalidArgument for data or memory that is too small or not
	 * aligned. */
	LMB_API lmbStatus lmbFlesh_Load( const void *data, size_t size, void *memory, size_t memorySize,
	                                 lmbFlesh **model, const char **problem );

	/* Any thread. */
	LMB_API lmbFleshInfo lmbFlesh_Info( const lmbFlesh *model );

	/* What a program needs to match its own skeleton and mesh to the model's. Names are UTF-8; a bone's
	 * parent is below its own index, or -1; all point into the model's data. bone outside 0 .. boneCount - 1:
	 * NULL and -1. */
	LMB_API const char *lmbFlesh_BoneName( const lmbFlesh *model, int bone );
	LMB_API int lmbFlesh_BoneParent( const lmbFlesh *model, int bone );
	LMB_API const int32_t *lmbFlesh_Triangles( const lmbFlesh *model ); /* (triangleCount x 3) */
	LMB_API const float *lmbFlesh_Bind( const lmbFlesh *model );        /* (vertexCount x 3) m, bind space */

	/* The best that the model and this processor have. */
	LMB_API lmbFleshDef lmbDefaultFleshDef( const lmbFlesh *model );

	/* Bytes of an instance: 0 when def asks for springs or a network that the model lacks, or is out of
	 * range. Placing one in the caller's block (aligned to 64), which fails only for such a def or too small
	 * or unaligned a block: lmb_statusInvalidArgument, *body NULL. The body starts asleep at rest: its first
	 * step takes the pose as it is, without motion, whatever its dt. A body is gone when its block is. */
	LMB_API size_t lmbFleshBody_Size( const lmbFlesh *model, const lmbFleshDef *def );
	LMB_API lmbStatus lmbFleshBody_Place( const lmbFlesh *model, const lmbFleshDef *def, void *memory,
	                                      size_t memorySize, lmbFleshBody **body );

	/* Goes on by dt seconds to a new pose. dt 0 (and below a nanosecond): the springs stay, turned with the
	 * body, and the pose is taken over without becoming motion. Any finite dt >= 0 keeps the result bounded
	 * and finite, and so does any jump of the pose. A negative or non-finite dt, or a pose outside the ranges
	 * of lmbFleshPose or not finite, returns lmb_statusInvalidArgument and changes nothing. A dt unlike the
	 * last two costs more: the springs' steps are computed anew.
	 *
	 * shape is Nullable: without it, what only shows is not computed (normals, and where no vertex has a
	 * spring of its own all vertices), and the body goes on to the same bits. A program that draws at a low
	 * rate but can pose the skeleton more often gives the poses between two frames so: what lies between
	 * frames is all that the rate changes. */
	LMB_API lmbStatus lmbFleshBody_Step( lmbFleshBody *body, const lmbFleshPose *pose, double dt,
	                                     lmbFleshShape *shape );

	/* How a program's own threads take part in lmbFleshBody_StepMany. */
	typedef struct lmbTasks
	{
		/* Calls work( context, i ) once for each i in 0 .. count - 1, in any order, on any threads, and
		 * returns when all have returned. */
		void ( *run )( void *user, int count, void ( *work )( void *context, int index ), void *context );
		void *user;  /* handed to run; Nullable */
		int threads; /* >= 1; how many calls of work are to be had at once */
	} lmbTasks;

	/* Steps many bodies of one model, each to its own pose, by the same dt, which shares the reading of the
	 * model among them: the same bits as lmbFleshBody_Step for each, whatever their number, order, layers and
	 * threads, at less cost. bodies (count) each once, poses (count), shapes (count) Nullable as there. tasks
	 * Nullable: all in the caller's thread; with them groups of bodies are run side by side, and no body may
	 * be used elsewhere before the call returns. lmb_statusInvalidArgument, and nothing changes, when a body
	 * is named twice or is of another model than the first, when lmbFleshBody_Step would refuse one of the
	 * steps, or for a negative count or tasks without run or threads. */
	LMB_API lmbStatus lmbFleshBody_StepMany( lmbFleshBody *const *bodies, const lmbFleshPose *poses,
	                                         int count, double dt, const lmbTasks *tasks,
	                                         lmbFleshShape *shapes );

	/* Forgets all motion: the next step takes its pose as it is, and until then the body has stood still. For
	 * a body that appears anew, for instance after a fall. A pause stays on. */
	LMB_API void lmbFleshBody_Reset( lmbFleshBody *body );
	/* The same, but until then the body has moved on evenly at the speed that its second step shows: for one
	 * that appears at a run, which lmbFleshBody_Reset would jerk to that speed. */
	LMB_API void lmbFleshBody_Appear( lmbFleshBody *body );
	/* The next step's jump in position and turn is not motion: the body is taken to have gone on there at the
	 * speed that it had, and the springs keep swinging, turned with the body. For a body that goes through a
	 * door in space. */
	LMB_API void lmbFleshBody_Teleport( lmbFleshBody *body );

	/* Time stands still: steps count as dt 0, whatever their dt, until paused is false again. */
	LMB_API void lmbFleshBody_Pause( lmbFleshBody *body, bool paused );

	/* For a body that nobody sees. Asleep, a step only counts time: its pose is Nullable and not read, and
	 * its shape is still that of the last step that gave one. After asleep = false, the next step that takes
	 * time moves the springs on exactly by all the time slept, about a target at rest and under the force
	 * that the direction has, turned with the body; from there on the body has moved evenly, as in
	 * lmbFleshBody_Appear. So a short sleep leaves the swing where it would be, a long one the body at rest,
	 * and neither kicks it. Belongs to the saved state. */
	LMB_API void lmbFleshBody_Sleep( lmbFleshBody *body, bool asleep );

	/* How the springs show, and what else moves them; nothing is trained anew, and every bound stays: steps
	 * are exact for whatever stiffness, damping and force. */
	typedef struct lmbFleshDirection
	{
		float gain; /* 0 .. 10, default 1: of the springs' displacement as it shows */
		float
		    limit; /* m, >= 0, default 0, none: displacement eases into it, d / sqrt( 1 + (|d| / limit)^2 ) */
		/* (vertexCount) 0 .. 10: gain of each vertex besides; a mask. Copied. Nullable: 1. */
		const float *vertexGain;
		/* 1e-3 .. 1e3, default 1: times the springs' own */
		float stiffness, damping;
		/* m/s^2, world, |.| <= 1e6, default 0: a force on all of the flesh in proportion to its mass. Wind,
		 * or what gravity differs by from the one that the model was made in. Steady, it moves a spring by
		 * acceleration / stiffness. When it changes, it goes evenly from the old to the new over the next
		 * step that takes time, so that gusts do not depend on the frame rate. */
		double acceleration[3];
		/* (boneCount) the same besides for the region of each bone, 0 .. 10 and twice 1e-3 .. 1e3. A vertex
		 * takes the mean over its bones by their weights. A vibration mode spans regions and stays one
		 * spring: it takes the mean over the vertices by the square of how far it moves them. Copied.
		 * Nullable: 1. */
		const float *boneGain, *boneStiffness, *boneDamping;
		/* m/s, 0 .. 1e12, default 0, never: a step that takes lmbFleshPose.position further than this speed
		 * counts as a teleport */
		float teleportSpeed;
		bool teleportForgets; /* and as lmbFleshBody_Appear, default false: as lmbFleshBody_Teleport */
		/* Default false. True: the springs' periods grow with lmbFleshPose.scale, at the same share of
		 * critical damping, as those of a body of that size made of the same tissue do. */
		bool slowsWithSize;
	} lmbFleshDirection;

	/* Springs as they are, no force. */
	LMB_API lmbFleshDirection lmbDefaultFleshDirection( void );

	/* From the next step on. Not part of a saved state: who restores one directs the body as it was. A
	 * number outside its range: lmb_statusInvalidArgument, nothing changes. */
	LMB_API lmbStatus lmbFleshBody_Direct( lmbFleshBody *body, const lmbFleshDirection *direction );

	/* The next step that takes time begins with a blow: all flesh gains so much velocity against the bones
	 * (m/s, world, |.| <= 1e4, else lmb_statusInvalidArgument), spread over the step. Several add up. */
	LMB_API lmbStatus lmbFleshBody_Push( lmbFleshBody *body, const double velocity[3] );

	/* A blow at a place. */
	typedef struct lmbFleshStrike
	{
		double point[3];   /* m, world, |.| <= 1e12; where the flesh was in the last step */
		double impulse[3]; /* N s, world, |.| <= 1e6 */
		/* m, world, 1e-4 .. 1e3: how wide. At a distance d the blow is (1 - (d / radius)^2)^2 as strong. */
		double radius;
	} lmbFleshStrike;

	/* The flesh within reach gains velocity at once, and the impulse is spread over the skin by area. Modes
	 * know their mass and take their part of it exactly. Vertices' own springs have none: the flesh under the
	 * skin counts as half as deep as the blow is wide, at 1000 kg/m^3, and in the hybrid layer they gain what
	 * the modes leave over. No vertex gains more than 1e4 m/s. Nothing soft within reach, or no springs: no
	 * effect. It depends on nothing but the state, so that a restored body is struck alike.
	 * lmb_statusInvalidArgument: a number outside its range, or no step since the body was placed, reset or
	 * made to appear. */
	LMB_API lmbStatus lmbFleshBody_Strike( lmbFleshBody *body, const lmbFleshStrike *strike );

	/* The state of an instance as plain bytes, to be restored into any body of the same model file and def on
	 * a machine of the same byte order; it goes on bit for bit. Save: lmb_statusInvalidArgument when size is
	 * below StateSize. Restore: lmb_statusInvalidArgument when the state belongs to another model, def or
	 * size, lmb_statusCorrupt when it holds what no step leaves; the body is then unchanged. Safe for any
	 * bytes. */
	LMB_API size_t lmbFleshBody_StateSize( const lmbFleshBody *body );
	LMB_API lmbStatus lmbFleshBody_Save( const lmbFleshBody *body, void *out, size_t size );
	LMB_API lmbStatus lmbFleshBody_Restore( lmbFleshBody *body, const void *state, size_t size );

	/* Levels of detail. The body goes on with the motion of another one: of a model of the same character
	 * with other vertices or fewer modes (limber.level in the Python package makes such a model). Both bodies
	 * must run modes alone (lmb_layerModal, lmb_layerModalUnfitted), of the same def, and their models must
	 * have the same bones, the same number of the network's coefficients, and the same springs as far as both
	 * have modes; else lmb_statusInvalidArgument, and nothing changes. Modes that only body has begin at
	 * rest. How the body is directed is its own; what waits as a push is taken over. A step of dt 0 to the
	 * pose that from showed gives the shape of the same instant. Copies some kilobytes. from is only read. */
	LMB_API lmbStatus lmbFleshBody_TakeOver( lmbFleshBody *body, const lmbFleshBody *from );

#ifdef __cplusplus
}
#endif

#endif
