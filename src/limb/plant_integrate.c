/* Reference motions: SUNDIALS' ARKODE, an explicit pair of orders 5 and 6 (Verner 1978) with error control,
 * begun anew at every sample, because the input may jump there. */
#include "limb/plant_private.h"

#include <arkode/arkode_erkstep.h>
#include <lapacke.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdlib.h>
#include <string.h>
#include <sundials/sundials_context.h>

static const double relativeTolerance = 1e-10, absoluteTolerance = 1e-12;
static const double farthest = 1e9; /* as in the runtime: beyond this a motion has diverged */

enum
{
	mostSteps = 100000 /* between two samples */
};

struct lmbPlantSolver
{
	lmbPlant *plant;
	SUNContext context;
	N_Vector state; /* positions, velocities */
	void *arkode;
	const double *begin, *end; /* inputs at the sample and at the next; end NULL: held */
	double duration;           /* s between them */
	double lastStep;           /* s that went well before; 0: none yet */
};

static int Slope( double time, N_Vector state, N_Vector slope, void *user )
{
	lmbPlantSolver *solver = user;
	lmbPlant *plant = solver->plant;
	int n = plant->dofCount;
	const double *x = N_VGetArrayPointer( state ), *input = solver->begin;
	double *dx = N_VGetArrayPointer( slope ), between[lmbLimbMaxInputs];
	if ( solver->end != NULL )
	{
		double share = time / solver->duration;
		for ( int i = 0; i < plant->inputCount; ++i )
			between[i] = input[i] + share * ( solver->end[i] - input[i] );
		input = between;
	}
	memcpy( dx, x + n, (size_t)n * sizeof( double ) );
	/* A positive number asks for a shorter step. */
	return lmbPlant_Acceleration( plant, x, x + n, input, dx + n ) ? 0 : 1;
}

/* What SUNDIALS would print; the caller reports failures. */
static void Silent( int code, const char *module, const char *function, char *message, void *user )
{
	(void)code;
	(void)module;
	(void)function;
	(void)message;
	(void)user;
}

void lmbPlantSolver_Close( lmbPlantSolver *solver )
{
	if ( solver == NULL )
		return;
	if ( solver->arkode != NULL )
		ERKStepFree( &solver->arkode );
	if ( solver->state != NULL )
		N_VDestroy( solver->state );
	if ( solver->context != NULL )
		SUNContext_Free( &solver->context );
	free( solver );
}

/* Verner's pair with a last stage at the step's end, which is the next step's first. ARKODE 5.4 takes the
 * last stage for that whenever its time is the step's end, which is wrong for the pair as it is; error tests
 * then fail at any step. */
static bool SetPair( void *arkode )
{
	ARKodeButcherTable pair = ARKodeButcherTable_LoadERK( ARKODE_VERNER_8_5_6 );
	ARKodeButcherTable longer = pair != NULL ? ARKodeButcherTable_Alloc( pair->stages + 1, SUNTRUE ) : NULL;
	bool set = false;
	if ( longer != NULL )
	{
		int stages = pair->stages;
		size_t row = (size_t)stages * sizeof( double );
		longer->q = pair->q;
		longer->p = pair->p;
		for ( int i = 0; i < stages; ++i )
			memcpy( longer->A[i], pair->A[i], row );
		memcpy( longer->A[stages], pair->b, row );
		memcpy( longer->b, pair->b, row );
		memcpy( longer->d, pair->d, row );
		memcpy( longer->c, pair->c, row );
		longer->c[stages] = 1.0;
		set = ERKStepSetTable( arkode, longer ) == ARK_SUCCESS;
	}
	ARKodeButcherTable_Free( longer );
	ARKodeButcherTable_Free( pair );
	return set;
}

static bool Prepare( lmbPlantSolver *solver )
{
	if ( SUNContext_Create( NULL, &solver->context ) != 0 )
		return false;
	solver->state = N_VNew_Serial( 2 * solver->plant->dofCount, solver->context );
	if ( solver->state == NULL )
		return false;
	N_VConst( 0.0, solver->state );
	solver->arkode = ERKStepCreate( Slope, 0.0, solver->state, solver->context );
	return solver->arkode != NULL && ERKStepSetErrHandlerFn( solver->arkode, Silent, NULL ) == ARK_SUCCESS &&
	       SetPair( solver->arkode ) &&
	       ERKStepSStolerances( solver->arkode, relativeTolerance, absoluteTolerance ) == ARK_SUCCESS &&
	       ERKStepSetMaxNumSteps( solver->arkode, mostSteps ) == ARK_SUCCESS &&
	       ERKStepSetUserData( solver->arkode, solver ) == ARK_SUCCESS;
}

lmbStatus lmbPlantSolver_Open( lmbPlant *plant, lmbPlantSolver **out, lmbError *error )
{
	lmbPlantSolver *solver = calloc( 1, sizeof( *solver ) );
	*out = NULL;
	if ( solver == NULL )
		return lmbError_Memory( error );
	solver->plant = plant;
	if ( !Prepare( solver ) )
	{
		lmbPlantSolver_Close( solver );
		return lmbError_Memory( error );
	}
	*out = solver;
	return lmb_statusOk;
}

static bool StaysNear( const double *x, int count )
{
	bool near = true;
	for ( int i = 0; i < count; ++i )
		near = near && fabs( x[i] ) <= farthest;
	return near;
}

bool lmbPlantSolver_Advance( lmbPlantSolver *solver, double *x, const double *begin, const double *end,
                             double duration )
{
	size_t bytes = 2 * (size_t)solver->plant->dofCount * sizeof( double );
	double reached;
	solver->begin = begin;
	solver->end = end;
	solver->duration = duration;
	memcpy( N_VGetArrayPointer( solver->state ), x, bytes );
	/* The error control corrects a first step that is too long. */
	double first = solver->lastStep > 0.0 ? solver->lastStep : duration;
	if ( ERKStepReInit( solver->arkode, Slope, 0.0, solver->state ) != ARK_SUCCESS ||
	     ERKStepSetInitStep( solver->arkode, fmin( first, duration ) ) != ARK_SUCCESS ||
	     ERKStepSetStopTime( solver->arkode, duration ) != ARK_SUCCESS ||
	     ERKStepEvolve( solver->arkode, duration, solver->state, &reached, ARK_NORMAL ) < 0 )
		return false;
	ERKStepGetCurrentStep( solver->arkode, &solver->lastStep );
	memcpy( x, N_VGetArrayPointer( solver->state ), bytes );
	return StaysNear( x, 2 * solver->plant->dofCount );
}

static lmbStatus CheckTrajectory( const lmbPlant *plant, const lmbTrajectory *trajectory, lmbError *error )
{
	if ( trajectory->sampleCount < 1 || !( trajectory->step > 0.0 ) || !isfinite( trajectory->step ) ||
	     trajectory->positions == NULL || trajectory->velocities == NULL ||
	     ( plant->inputCount > 0 && trajectory->inputs == NULL ) )
		return lmbError_Set(
		    error, lmb_statusInvalidArgument,
		    "\"%s\": to be integrated, a trajectory takes samples, a step above 0, positions, "
		    "velocities and the plant's inputs",
		    trajectory->name != NULL ? trajectory->name : "" );
	return lmb_statusOk;
}

static const double *InputAt( const lmbPlant *plant, const lmbTrajectory *trajectory, int sample )
{
	return plant->inputCount > 0 ? trajectory->inputs + (size_t)sample * (size_t)plant->inputCount : NULL;
}

static lmbStatus Lost( const lmbPlant *plant, const lmbTrajectory *trajectory, int sample, lmbError *error )
{
	return lmbError_Set( error, lmb_statusNumerical,
	                     "\"%s\": the motion of %s does not stay finite after %.6g s; take smaller inputs or "
	                     "starting speeds, or a plant without extreme stiffness",
	                     trajectory->name != NULL ? trajectory->name : "", plant->name,
	                     sample * trajectory->step );
}

static lmbStatus Run( lmbPlantSolver *solver, lmbInputHold hold, lmbTrajectory *trajectory, lmbError *error )
{
	lmbPlant *plant = solver->plant;
	size_t n = (size_t)plant->dofCount;
	double x[2 * lmbLimbMaxDofs];
	memcpy( x, trajectory->positions, n * sizeof( double ) );
	memcpy( x + n, trajectory->velocities, n * sizeof( double ) );
	for ( int k = 0; k < trajectory->sampleCount; ++k )
	{
		memcpy( trajectory->positions + (size_t)k * n, x, n * sizeof( double ) );
		memcpy( trajectory->velocities + (size_t)k * n, x + n, n * sizeof( double ) );
		const double *input = InputAt( plant, trajectory, k );
		if ( trajectory->accelerations != NULL &&
		     !lmbPlant_Acceleration( plant, x, x + n, input, trajectory->accelerations + (size_t)k * n ) )
			return Lost( plant, trajectory, k, error );
		if ( k + 1 == trajectory->sampleCount )
			break;
		const double *next = hold == lmb_inputLinear ? InputAt( plant, trajectory, k + 1 ) : NULL;
		if ( !lmbPlantSolver_Advance( solver, x, input, next, trajectory->step ) )
			return Lost( plant, trajectory, k, error );
	}
	return lmb_statusOk;
}

lmbStatus lmbPlant_Integrate( lmbPlant *plant, lmbInputHold hold, lmbTrajectory *trajectory, lmbError *error )
{
	lmbPlantSolver *solver;
	LMB_TRY( CheckTrajectory( plant, trajectory, error ) );
	LMB_TRY( lmbPlantSolver_Open( plant, &solver, error ) );
	lmbStatus status = Run( solver, hold, trajectory, error );
	lmbPlantSolver_Close( solver );
	return status;
}

/* The change of the state one sample on by the state at a sample: central differences, (2n x 2n) row-major.
 */
static bool StepMatrix( lmbPlantSolver *solver, const double *x, const double *begin, const double *end,
                        double duration, double *matrix )
{
	/* Rounding and tolerance give 1e-12 / 1e-5, curvature 1e-10: both far below what is asked. */
	const double nudge = 1e-5;
	int size = 2 * solver->plant->dofCount;
	for ( int j = 0; j < size; ++j )
	{
		double up[2 * lmbLimbMaxDofs], down[2 * lmbLimbMaxDofs];
		memcpy( up, x, (size_t)size * sizeof( double ) );
		memcpy( down, x, (size_t)size * sizeof( double ) );
		up[j] += nudge;
		down[j] -= nudge;
		if ( !lmbPlantSolver_Advance( solver, up, begin, end, duration ) ||
		     !lmbPlantSolver_Advance( solver, down, begin, end, duration ) )
			return false;
		for ( int i = 0; i < size; ++i )
			matrix[i * size + j] = ( up[i] - down[i] ) / ( 2.0 * nudge );
	}
	return true;
}

/* The largest singular value; work is overwritten. Negative: it was not found. */
static double Norm( double *work, int size )
{
	double values[2 * lmbLimbMaxDofs], off[2 * lmbLimbMaxDofs];
	if ( LAPACKE_dgesvd( LAPACK_ROW_MAJOR, 'N', 'N', size, size, work, size, values, NULL, size, NULL, size,
	                     off ) != 0 )
		return -1.0;
	return values[0];
}

typedef double SquareMatrix[4 * lmbLimbMaxDofs * lmbLimbMaxDofs];

static lmbStatus RunAmplification( lmbPlantSolver *solver, lmbInputHold hold, const lmbTrajectory *trajectory,
                                   double *out, lmbError *error )
{
	const double largest = 1e150;
	lmbPlant *plant = solver->plant;
	int n = plant->dofCount, size = 2 * n;
	SquareMatrix product = { 0 }, step, next;
	for ( int i = 0; i < size; ++i )
		product[i * size + i] = 1.0;
	out[0] = 1.0;
	for ( int k = 0; k + 1 < trajectory->sampleCount; ++k )
	{
		double x[2 * lmbLimbMaxDofs];
		if ( out[k] >= largest )
		{
			out[k + 1] = out[k];
			continue;
		}
		memcpy( x, trajectory->positions + (size_t)k * (size_t)n, (size_t)n * sizeof( double ) );
		memcpy( x + n, trajectory->velocities + (size_t)k * (size_t)n, (size_t)n * sizeof( double ) );
		const double *end = hold == lmb_inputLinear ? InputAt( plant, trajectory, k + 1 ) : NULL;
		if ( !StepMatrix( solver, x, InputAt( plant, trajectory, k ), end, trajectory->step, step ) )
			return Lost( plant, trajectory, k, error );
		for ( int i = 0; i < size; ++i )
			for ( int j = 0; j < size; ++j )
			{
				double sum = 0.0;
				for ( int l = 0; l < size; ++l )
					sum += step[i * size + l] * product[l * size + j];
				next[i * size + j] = sum;
			}
		memcpy( product, next, sizeof( product ) );
		out[k + 1] = Norm( next, size );
		if ( !( out[k + 1] >= 0.0 ) )
			return Lost( plant, trajectory, k, error );
	}
	return lmb_statusOk;
}

lmbStatus lmbPlant_Amplification( lmbPlant *plant, lmbInputHold hold, const lmbTrajectory *trajectory,
                                  double *out, lmbError *error )
{
	lmbPlantSolver *solver;
	LMB_TRY( CheckTrajectory( plant, trajectory, error ) );
	LMB_TRY( lmbPlantSolver_Open( plant, &solver, error ) );
	lmbStatus status = RunAmplification( solver, hold, trajectory, out, error );
	lmbPlantSolver_Close( solver );
	return status;
}
