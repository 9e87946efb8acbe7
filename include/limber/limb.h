/* A moving limb: torques in, angles out. What was learned is the equations of motion at an instant; an
 * integrator, chosen here and now, carries time.
 *
 * A model is read from memory and never changes; threads may share it. An instance (one limb) lives in a
 * block that the caller owns and belongs to one thread at a time. A step allocates nothing, prints nothing
 * and touches nothing but its instance. The same calls give the same bits from every compiler and instruction
 * set with IEEE floats, when the library is compiled with -ffp-contract=off as its CMake does.
 *
 * Networks run in float, state and the small algebra around them in double. Pointers must not be NULL unless
 * a line says Nullable. Model file: docs/formats/limb-model.md. Equations: docs/derivations/limb.md. */
#ifndef LIMBER_LIMB_H
#define LIMBER_LIMB_H

#include <limber/base.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C"
{
#endif

	/* Largest sizes of a model, for arrays on the stack. */
	enum
	{
		lmb_limbMaxDofs = 16,  /* degrees of freedom */
		lmb_limbMaxInputs = 64 /* torques, forces, activations */
	};

	/* What was learned. */
	typedef enum lmbLimbKind
	{
		lmb_limbLagrangian =
		    0,              /* M(q) q'' + C(q, q') q' + dV/dq + D(q, q') q' = G(q, q') u, D never negative */
		lmb_limbAffine = 1, /* affine in the input, quadratic in speed */
		lmb_limbPlain = 2,  /* one network from state and input to acceleration */
		lmb_limbGru = 3,    /* one recurrent network from inputs and first state to states: no integrator */
		lmb_limbLstm = 4    /* likewise */
	} lmbLimbKind;

	/* What carries time. */
	typedef enum lmbIntegrator
	{
		lmb_integratorSemiImplicitEuler = 0, /* order 1 */
		lmb_integratorRk4 = 1,               /* order 4, explicit: the default */
		lmb_integratorImplicitMidpoint = 2,  /* order 2, fixed-point or Newton iteration to rounding */
		lmb_integratorDormandPrince = 3      /* order 5 with error control (Dormand and Prince 1980) */
	} lmbIntegrator;

	typedef struct lmbLimb lmbLimb;         /* a model */
	typedef struct lmbLimbBody lmbLimbBody; /* an instance */

	/* What a model consists of. */
	typedef struct lmbLimbInfo
	{
		lmbLimbKind kind; /* what was learned */
		/* 1 .. lmb_limbMaxDofs, 0 .. lmb_limbMaxInputs; numbers that were learned */
		int dofCount, inputCount, parameterCount;
		/* The model has the score of trust; it was trained on inputs that go straight between samples. */
		bool hasTrust, linearInput;
		double step; /* s: sampling of the data it learned from */
	} lmbLimbInfo;

	/* How a body is run; lmbDefaultLimbDef fills it in. */
	typedef struct lmbLimbDef
	{
		lmbIntegrator integrator; /* default RK4; ignored by recurrent models */
		/* s, 1e-9 to 1e3: a longer dt is split evenly; default 0.005, of recurrent models their data's step;
		 * Dormand-Prince: its first trial */
		double maxStep;
		double tolerance; /* of Dormand-Prince, relative and absolute; default 1e-5, at least 1e-7 */
		bool trust;       /* default true where the model has it: compute the score in every step */
	} lmbLimbDef;

	/* Parts of the torque balance of a Lagrangian model at one instant: generalised torques, (dofCount) each.
	 * input = inertial + interaction + gravity + viscous, where inertial_i = M_ii q''_i and
	 * interaction_i = sum_{j != i} M_ij q''_j + (C q')_i; gravity is dV/dq, springs included. */
	typedef struct lmbLimbTorques
	{
		/* N m, of slides N */
		double input[lmb_limbMaxDofs], inertial[lmb_limbMaxDofs], interaction[lmb_limbMaxDofs],
		    gravity[lmb_limbMaxDofs], viscous[lmb_limbMaxDofs];
	} lmbLimbTorques;

	/* As lmbFlesh_Size and lmbFlesh_Load. */
	LMB_API size_t lmbLimb_Size( const void *data, size_t size );
	LMB_API lmbStatus lmbLimb_Load( const void *data, size_t size, void *memory, size_t memorySize,
	                                lmbLimb **model, const char **problem );
	/* Any thread. */
	LMB_API lmbLimbInfo lmbLimb_Info( const lmbLimb *model );
	/* UTF-8, in the model's data; NULL outside the range. */
	LMB_API const char *lmbLimb_DofName( const lmbLimb *model, int dof );
	LMB_API const char *lmbLimb_InputName( const lmbLimb *model, int input );

	/* RK4 in steps of at most 5 ms. */
	LMB_API lmbLimbDef lmbDefaultLimbDef( const lmbLimb *model );
	/* Bytes of an instance; 0 when def is out of range. */
	LMB_API size_t lmbLimbBody_Size( const lmbLimb *model, const lmbLimbDef *def );
	/* Placed at all angles and speeds zero. */
	LMB_API lmbStatus lmbLimbBody_Place( const lmbLimb *model, const lmbLimbDef *def, void *memory,
	                                     size_t memorySize, lmbLimbBody **body );

	/* The state. positions, velocities (dofCount), finite, |.| <= 1e9. Recurrent models begin anew from it.
	 */
	LMB_API lmbStatus lmbLimbBody_Start( lmbLimbBody *body, const double *positions,
	                                     const double *velocities );
	LMB_API void lmbLimbBody_State( const lmbLimbBody *body, double *positions, double *velocities );

	/* Goes on by dt seconds under inputs (inputCount), |.| <= 1e9, held over dt; or going straight from
	 * inputs to inputsEnd (Nullable). Any dt from 0 to 1e6 maxStep gives a finite state; one that would leave
	 * +-1e9 stays there and the step returns lmb_statusNumerical (the body diverged; what was left of dt is
	 * not gone through). lmb_statusNotConverged: the state went on by dt, but the implicit midpoint's
	 * iteration or Dormand and Prince's shortest step (maxStep / 1000) did not reach what they are held to.
	 * Other errors: lmb_statusInvalidArgument, nothing changed. */
	LMB_API lmbStatus lmbLimbBody_Step( lmbLimbBody *body, const double *inputs, const double *inputsEnd,
	                                    double dt );

	/* How far state and input of the last step were from what the model was trained on: 0 well inside, 1 at
	 * the edge (99 % of the training data lie below), growing beyond, up to 1e9. Where the step was split,
	 * the largest of its parts' starts (Dormand-Prince: the step's start). -1 without trust. */
	LMB_API double lmbLimbBody_Trust( const lmbLimbBody *body );

	/* The network at one instant, without a step; body gives the room to work in, its state is not touched.
	 * Not for recurrent models (lmb_statusUnsupported). */
	LMB_API lmbStatus lmbLimbBody_Acceleration( lmbLimbBody *body, const double *positions,
	                                            const double *velocities, const double *inputs,
	                                            double *accelerations );
	/* Inverse dynamics, Lagrangian models only: the torques that a motion takes, and their parts. */
	LMB_API lmbStatus lmbLimbBody_Inverse( lmbLimbBody *body, const double *positions,
	                                       const double *velocities, const double *accelerations,
	                                       lmbLimbTorques *torques );

	/* As for flesh: plain bytes, to go on bit for bit. */
	LMB_API size_t lmbLimbBody_StateSize( const lmbLimbBody *body );
	LMB_API lmbStatus lmbLimbBody_Save( const lmbLimbBody *body, void *out, size_t size );
	LMB_API lmbStatus lmbLimbBody_Restore( lmbLimbBody *body, const void *state, size_t size );

#ifdef __cplusplus
}
#endif

#endif
