/* MuJoCo models as plants. Equality constraints and joints of more than one degree of freedom are refused;
 * contacts are switched off. Joint limits and dry friction are MuJoCo's own soft constraints, solved at every
 * evaluation, and count as passive. docs/derivations/arm.md says what goes where. */
#include "limb/plant_mujoco.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* MuJoCo tells errors by a call that must not return, and by default prints, writes MUJOCO_LOG.TXT and exits.
 * Here a call of ours is left by a jump; whatever it had allocated is lost. Calls by others keep what they
 * had. */
static _Thread_local jmp_buf *guard;
static _Thread_local char guardText[256];
static void ( *othersError )( const char * );
static void ( *othersWarning )( const char * );

static void OnError( const char *text )
{
	if ( guard != NULL )
	{
		snprintf( guardText, sizeof( guardText ), "%s", text );
		longjmp( *guard, 1 );
	}
	mju_user_error = othersError;
	mju_error( text );
}

static void OnWarning( const char *text )
{
	if ( guard == NULL && othersWarning != NULL )
		othersWarning( text );
}

static void Install( void )
{
	othersError = mju_user_error;
	othersWarning = mju_user_warning;
	mju_user_error = OnError;
	mju_user_warning = OnWarning;
}

bool lmbMujoco_Guarded( void ( *call )( void *context ), void *context, const char **problem )
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	jmp_buf here;
	pthread_once( &once, Install );
	guard = &here;
	guardText[0] = 0;
	if ( setjmp( here ) != 0 )
	{
		guard = NULL;
		*problem = guardText;
		return false;
	}
	call( context );
	guard = NULL;
	*problem = NULL;
	return true;
}

/* One evaluation. */
typedef struct Evaluation
{
	lmbMujoco *mujoco;
	const double *q, *v, *u;
	double *a;
	lmbPlantTerms *terms; /* Nullable */
	double energy;
} Evaluation;

static void SetInputs( const lmbMujoco *mujoco, const double *u )
{
	const mjModel *m = mujoco->model;
	mjData *d = mujoco->data;
	/* MuJoCo keeps actuators with a state, here muscles, behind those without. */
	int stateless = m->nu - m->na;
	for ( int i = 0; i < m->nu; ++i )
	{
		d->ctrl[i] = i < stateless && u != NULL ? u[i] : 0.0;
		if ( i >= stateless )
			d->act[i - stateless] = u != NULL ? u[i] : 0.0;
	}
}

static void Evaluate( void *context )
{
	Evaluation *evaluation = context;
	const mjModel *m = evaluation->mujoco->model;
	mjData *d = evaluation->mujoco->data;
	lmbPlantTerms *terms = evaluation->terms;
	size_t bytes = (size_t)m->nv * sizeof( double );
	memcpy( d->qpos, evaluation->q, bytes );
	memcpy( d->qvel, evaluation->v, bytes );
	SetInputs( evaluation->mujoco, evaluation->u );
	mj_forwardSkip( m, d, mjSTAGE_NONE, 1 );
	memcpy( evaluation->a, d->qacc, bytes );
	if ( terms == NULL )
		return;
	mj_fullM( m, terms->mass, d->qM );
	memcpy( terms->bias, d->qfrc_bias, bytes );
	memcpy( terms->input, d->qfrc_actuator, bytes );
	for ( int i = 0; i < m->nv; ++i )
		terms->passive[i] = -d->qfrc_passive[i] - d->qfrc_constraint[i];
	/* What actuators do without input is passive: muscles' parallel elasticity, servos' own springs. */
	SetInputs( evaluation->mujoco, NULL );
	mj_fwdActuation( m, d );
	for ( int i = 0; i < m->nv; ++i )
	{
		terms->input[i] -= d->qfrc_actuator[i];
		terms->passive[i] -= d->qfrc_actuator[i];
	}
	/* Without speed the bias is gravity alone. */
	memset( d->qvel, 0, bytes );
	mj_fwdVelocity( m, d );
	for ( int i = 0; i < m->nv; ++i )
	{
		terms->gravity[i] = d->qfrc_bias[i];
		terms->bias[i] -= d->qfrc_bias[i];
	}
}

static void EvaluateEnergy( void *context )
{
	Evaluation *evaluation = context;
	const mjModel *m = evaluation->mujoco->model;
	mjData *d = evaluation->mujoco->data;
	memcpy( d->qpos, evaluation->q, (size_t)m->nv * sizeof( double ) );
	memcpy( d->qvel, evaluation->v, (size_t)m->nv * sizeof( double ) );
	mj_fwdPosition( m, d );
	mj_fwdVelocity( m, d );
	mj_energyPos( m, d );
	mj_energyVel( m, d );
	evaluation->energy = d->energy[0] + d->energy[1];
}

/* MuJoCo takes numbers that are not finite for granted. */
static bool Finite( const lmbPlant *plant, const double *q, const double *v, const double *u )
{
	bool finite = true;
	for ( int i = 0; i < plant->dofCount; ++i )
		finite = finite && isfinite( q[i] ) && isfinite( v[i] );
	for ( int i = 0; u != NULL && i < plant->inputCount; ++i )
		finite = finite && isfinite( u[i] );
	return finite;
}

static bool Acceleration( lmbPlant *plant, const double *q, const double *v, const double *u, double *a )
{
	const char *problem;
	Evaluation evaluation = { .mujoco = plant->data, .q = q, .v = v, .u = u, .a = a };
	return Finite( plant, q, v, u ) && lmbMujoco_Guarded( Evaluate, &evaluation, &problem );
}

static bool Terms( lmbPlant *plant, const double *q, const double *v, const double *u, lmbPlantTerms *out )
{
	const char *problem;
	double a[lmbLimbMaxDofs];
	Evaluation evaluation = { .mujoco = plant->data, .q = q, .v = v, .u = u, .a = a, .terms = out };
	return Finite( plant, q, v, u ) && lmbMujoco_Guarded( Evaluate, &evaluation, &problem );
}

static double Energy( lmbPlant *plant, const double *q, const double *v )
{
	const char *problem;
	Evaluation evaluation = { .mujoco = plant->data, .q = q, .v = v };
	if ( !Finite( plant, q, v, NULL ) || !lmbMujoco_Guarded( EvaluateEnergy, &evaluation, &problem ) )
		return NAN;
	return evaluation.energy;
}

static void Free( lmbPlant *plant )
{
	const lmbMujoco *mujoco = plant->data;
	mj_deleteData( mujoco->data );
	mj_deleteModel( mujoco->model );
}

typedef struct Copying
{
	const mjModel *from;
	mjModel *to;
	mjData *data;
} Copying;

static void CopyModel( void *context )
{
	Copying *copying = context;
	copying->to = copying->from != NULL ? mj_copyModel( NULL, copying->from ) : copying->to;
	copying->data = copying->to != NULL ? mj_makeData( copying->to ) : NULL;
}

static lmbStatus Copy( const lmbPlant *plant, lmbPlant **out, lmbError *error )
{
	const char *problem;
	Copying copying = { .from = ( (const lmbMujoco *)plant->data )->model };
	*out = NULL;
	if ( !lmbMujoco_Guarded( CopyModel, &copying, &problem ) || copying.data == NULL )
		return lmbError_Memory( error );
	LMB_TRY( lmbMujoco_Wrap( copying.to, copying.data, plant->name, out, error ) );
	memcpy( ( *out )->inputRange, plant->inputRange,
	        (size_t)plant->inputCount * sizeof( *plant->inputRange ) );
	memcpy( ( *out )->turns, plant->turns, (size_t)plant->dofCount * sizeof( bool ) );
	( *out )->invariantBase = plant->invariantBase;
	( *out )->notes = plant->notes != NULL ? lmbArena_String( &( *out )->arena, plant->notes ) : NULL;
	return lmb_statusOk;
}

static const struct lmbPlantClass mujocoClass = {
    .terms = Terms, .acceleration = Acceleration, .energy = Energy, .copy = Copy, .free = Free };

/* Named as in the model, or by number. */
static const char *NameOf( lmbPlant *plant, int type, int index, const char *otherwise )
{
	const lmbMujoco *mujoco = plant->data;
	const char *name = mj_id2name( mujoco->model, type, index );
	char text[32];
	snprintf( text, sizeof( text ), "%s%d", otherwise, index + 1 );
	return lmbArena_String( &plant->arena, name != NULL && name[0] != 0 ? name : text );
}

static void SetStartRange( lmbPlant *plant, const mjModel *model, int joint )
{
	double *range = plant->startRange[joint];
	double room = plant->slides[joint] ? 0.5 : 1.5; /* m, rad */
	range[0] = model->qpos0[joint] - room;
	range[1] = model->qpos0[joint] + room;
	if ( model->jnt_limited[joint] )
	{
		double low = model->jnt_range[2 * joint], high = model->jnt_range[2 * joint + 1];
		range[0] = low + 0.05 * ( high - low );
		range[1] = high - 0.05 * ( high - low );
	}
}

lmbStatus lmbMujoco_Wrap( mjModel *model, mjData *data, const char *name, lmbPlant **out, lmbError *error )
{
	lmbPlant *plant;
	lmbStatus status = lmbPlant_New( model->nv, model->nu, sizeof( lmbMujoco ), &plant, error );
	*out = NULL;
	if ( status != lmb_statusOk )
	{
		mj_deleteData( data );
		mj_deleteModel( model );
		return status;
	}
	lmbMujoco *mujoco = plant->data;
	mujoco->model = model;
	mujoco->data = data;
	plant->class = &mujocoClass;
	plant->name = lmbArena_String( &plant->arena, name );
	bool named = plant->name != NULL;
	for ( int i = 0; i < model->nv; ++i )
	{
		plant->dofNames[i] = NameOf( plant, mjOBJ_JOINT, i, "q" );
		plant->slides[i] = model->jnt_type[i] == mjJNT_SLIDE;
		SetStartRange( plant, model, i );
		named = named && plant->dofNames[i] != NULL;
	}
	for ( int i = 0; i < model->nu; ++i )
	{
		plant->inputNames[i] = NameOf( plant, mjOBJ_ACTUATOR, i, "u" );
		named = named && plant->inputNames[i] != NULL;
	}
	if ( !named )
	{
		lmbPlant_Free( plant );
		return lmbError_Memory( error );
	}
	*out = plant;
	return lmb_statusOk;
}
