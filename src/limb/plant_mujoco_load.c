/* Reading an MJCF file: what is refused, what is left out, and what the file does not say. */
#include "limb/plant_mujoco.h"

#include "base/files.h"
#include "base/random.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct Loading
{
	const char *path;
	mjModel *model;
	mjData *data;
	char text[1000];
} Loading;

static void LoadModel( void *context )
{
	Loading *loading = context;
	loading->model = mj_loadXML( loading->path, NULL, loading->text, (int)sizeof( loading->text ) );
}

static void MakeData( void *context )
{
	Loading *loading = context;
	loading->data = mj_makeData( loading->model );
}

static lmbStatus Refuse( const char *path, lmbError *error, const char *format, ... )
    __attribute__( ( format( printf, 3, 4 ) ) );
static lmbStatus Refuse( const char *path, lmbError *error, const char *format, ... )
{
	char text[512];
	va_list arguments;
	va_start( arguments, format );
	vsnprintf( text, sizeof( text ), format, arguments );
	va_end( arguments );
	(void)lmbError_Set( error, lmb_statusUnsupported, "%s: %s", path, text );
	return lmb_statusUnsupported;
}

static const char *Named( const mjModel *model, int type, int index )
{
	const char *name = mj_id2name( model, type, index );
	return name != NULL ? name : "";
}

static lmbStatus CheckModel( const char *path, const mjModel *model, lmbError *error )
{
	for ( int i = 0; i < model->njnt; ++i )
		if ( model->jnt_type[i] != mjJNT_HINGE && model->jnt_type[i] != mjJNT_SLIDE )
			return Refuse(
			    path, error,
			    "joint %d, \"%s\", is a %s joint; a limb takes hinges and slides: make three hinges "
			    "of a ball joint, fix a free body to the world",
			    i, Named( model, mjOBJ_JOINT, i ), model->jnt_type[i] == mjJNT_FREE ? "free" : "ball" );
	if ( model->nv < 1 || model->nv > lmbLimbMaxDofs || model->nu > lmbLimbMaxInputs )
		return Refuse( path, error, "%d joints and %d actuators; a limb takes 1 to %d and 0 to %d", model->nv,
		               model->nu, lmbLimbMaxDofs, lmbLimbMaxInputs );
	for ( int i = 0; i < model->neq; ++i )
		if ( model->eq_active[i] )
			return Refuse(
			    path, error,
			    "equality constraint %d, \"%s\": a limb takes none; switch it off (active=\"false\") or "
			    "take it out",
			    i, Named( model, mjOBJ_EQUALITY, i ) );
	for ( int i = 0; i < model->nu; ++i )
	{
		int dynamics = model->actuator_dyntype[i];
		if ( dynamics != mjDYN_NONE && dynamics != mjDYN_MUSCLE )
			return Refuse(
			    path, error,
			    "actuator %d, \"%s\", has a state of its own; a limb takes motors and muscles: set "
			    "dyntype to none",
			    i, Named( model, mjOBJ_ACTUATOR, i ) );
	}
	return lmb_statusOk;
}

/* Whether two geoms could touch. */
static bool CouldTouch( const mjModel *model )
{
	if ( model->opt.disableflags & mjDSBL_CONTACT )
		return false;
	for ( int i = 0; i < model->ngeom; ++i )
		for ( int j = i + 1; j < model->ngeom; ++j )
		{
			int a = model->geom_bodyid[i], b = model->geom_bodyid[j];
			bool neighbours = a == b || ( a != 0 && model->body_parentid[b] == a ) ||
			                  ( b != 0 && model->body_parentid[a] == b );
			bool fit = ( model->geom_contype[i] & model->geom_conaffinity[j] ) != 0 ||
			           ( model->geom_contype[j] & model->geom_conaffinity[i] ) != 0;
			if ( fit && !neighbours )
				return true;
		}
	return model->npair > 0;
}

/* The same answer for the same question, to rounding. */
static void SetOptions( mjModel *model )
{
	model->opt.disableflags |= mjDSBL_CONTACT | mjDSBL_WARMSTART;
	model->opt.enableflags = mjENBL_ENERGY; /* without it mj_energyPos and mj_energyVel give 0 */
	model->opt.solver = mjSOL_NEWTON;
	model->opt.iterations = 200;
	model->opt.tolerance = 1e-15;
	model->opt.noslip_iterations = 0;
}

static lmbStatus SetNotes( lmbPlant *plant, bool touch, lmbError *error )
{
	char notes[256];
	int muscles = ( (const lmbMujoco *)plant->data )->model->na, at = 0;
	if ( touch )
		at = snprintf( notes, sizeof( notes ), "contacts between bodies are left out" );
	if ( muscles > 0 )
		snprintf(
		    notes + at, sizeof( notes ) - (size_t)at,
		    "%sthe inputs of %d muscles are their activations, MuJoCo's activation dynamics is left out",
		    at > 0 ? "; " : "", muscles );
	if ( !touch && muscles == 0 )
		return lmb_statusOk;
	plant->notes = lmbArena_String( &plant->arena, notes );
	return plant->notes != NULL ? lmb_statusOk : lmbError_Memory( error );
}

enum
{
	stateCount = 24
};

/* States and inputs from the plant's ranges. */
static void DrawState( const lmbPlant *plant, lmbRandom *random, double *q, double *v, double *u )
{
	for ( int i = 0; i < plant->dofCount; ++i )
	{
		double low = plant->startRange[i][0], high = plant->startRange[i][1];
		q[i] = low + ( high - low ) * lmbRandom_Uniform( random );
		v[i] = 4.0 * lmbRandom_Uniform( random ) - 2.0;
	}
	for ( int i = 0; i < plant->inputCount; ++i )
	{
		double low = plant->inputRange[i][0], high = plant->inputRange[i][1];
		u[i] = low + ( high - low ) * lmbRandom_Uniform( random );
	}
}

/* Whether turning a joint changes no acceleration: by whole turns, or by any angle. */
static bool Unchanged( lmbPlant *plant, int joint, bool whole )
{
	lmbRandom random = lmbRandom_Seed( 1, (uint64_t)joint );
	for ( int s = 0; s < stateCount; ++s )
	{
		double q[lmbLimbMaxDofs], v[lmbLimbMaxDofs], u[lmbLimbMaxInputs], a[lmbLimbMaxDofs],
		    b[lmbLimbMaxDofs];
		DrawState( plant, &random, q, v, u );
		if ( !lmbPlant_Acceleration( plant, q, v, u, a ) )
			return false;
		double turns = s % 2 == 0 ? 1.0 : -1.0;
		q[joint] += 6.283185307179586 * turns * ( whole ? 1.0 : lmbRandom_Uniform( &random ) );
		if ( !lmbPlant_Acceleration( plant, q, v, u, b ) )
			return false;
		for ( int i = 0; i < plant->dofCount; ++i )
			if ( fabs( a[i] - b[i] ) > 1e-8 * ( 1.0 + fabs( a[i] ) ) )
				return false;
	}
	return true;
}

/* What gravity pulls at most, over some postures. */
static void LargestGravity( lmbPlant *plant, double *out )
{
	lmbRandom random = lmbRandom_Seed( 2, 0 );
	memset( out, 0, (size_t)plant->dofCount * sizeof( double ) );
	for ( int s = 0; s < stateCount; ++s )
	{
		double q[lmbLimbMaxDofs], v[lmbLimbMaxDofs], u[lmbLimbMaxInputs];
		lmbPlantTerms terms;
		DrawState( plant, &random, q, v, u );
		if ( !lmbPlant_Terms( plant, q, v, u, &terms ) )
			continue;
		for ( int i = 0; i < plant->dofCount; ++i )
			out[i] = fmax( out[i], fabs( terms.gravity[i] ) );
	}
}

/* The model's own range; a muscle's 0 to 1; else what swings the limb at 40 rad/s^2 and bears its weight. */
static void SetInputRanges( lmbPlant *plant )
{
	const double lively = 40.0;
	const mjModel *model = ( (const lmbMujoco *)plant->data )->model;
	double weight[lmbLimbMaxDofs];
	LargestGravity( plant, weight );
	for ( int i = 0; i < model->nu; ++i )
	{
		double *range = plant->inputRange[i];
		double gain =
		    model->actuator_gaintype[i] == mjGAIN_FIXED ? fabs( model->actuator_gainprm[mjNGAIN * i] ) : 1.0;
		double most = model->actuator_acc0[i] > 1e-9 ? lively / model->actuator_acc0[i] : 1.0;
		double gear = fabs( model->actuator_gear[6 * i] );
		if ( model->actuator_trntype[i] == mjTRN_JOINT && gear > 0.0 )
			most += weight[model->actuator_trnid[2 * i]] / gear;
		most = gain > 0.0 ? most / gain : most;
		range[0] = -most;
		range[1] = most;
		if ( model->actuator_dyntype[i] == mjDYN_MUSCLE )
		{
			range[0] = 0.0;
			range[1] = 1.0;
		}
		else if ( model->actuator_ctrllimited[i] )
			memcpy( range, model->actuator_ctrlrange + 2 * i, 2 * sizeof( double ) );
	}
}

static lmbStatus Describe( lmbPlant *plant, bool touch, lmbError *error )
{
	const mjModel *model = ( (const lmbMujoco *)plant->data )->model;
	double a[lmbLimbMaxDofs], q[lmbLimbMaxDofs], zero[lmbLimbMaxInputs] = { 0 };
	memcpy( q, model->qpos0, (size_t)model->nv * sizeof( double ) );
	if ( !lmbPlant_Acceleration( plant, q, zero, zero, a ) )
		return lmbError_Set(
		    error, lmb_statusNumerical,
		    "%s: the acceleration of the model at rest is not finite; check its masses and inertias",
		    plant->name );
	SetInputRanges( plant );
	for ( int i = 0; i < plant->dofCount; ++i )
		plant->turns[i] = !plant->slides[i] && !model->jnt_limited[i] && Unchanged( plant, i, true );
	plant->invariantBase = plant->turns[0] && Unchanged( plant, 0, false );
	return SetNotes( plant, touch, error );
}

/* MuJoCo's text has lines. */
static lmbStatus Faulty( const char *path, const char *text, lmbError *error )
{
	char line[1000];
	snprintf( line, sizeof( line ), "%s", text );
	size_t length = strlen( line );
	while ( length > 0 && ( line[length - 1] == '\n' || line[length - 1] == '\r' ) )
		line[--length] = 0;
	for ( char *c = line; *c != 0; ++c )
		*c = *c == '\n' || *c == '\r' ? ' ' : *c;
	return lmbError_Set( error, lmb_statusCorrupt, "%s: MuJoCo does not take this model: %s", path, line );
}

lmbStatus lmbPlant_LoadMujoco( const char *path, lmbPlant **out, lmbError *error )
{
	Loading loading = { .path = path };
	lmbArena arena = { 0 };
	const char *problem;
	char *bytes;
	size_t size;
	lmbPlant *plant;
	*out = NULL;
	/* For our own words about files that are not there or not files. */
	lmbStatus status = lmbFile_Read( path, &arena, &bytes, &size, error );
	lmbArena_Free( &arena );
	LMB_TRY( status );
	if ( !lmbMujoco_Guarded( LoadModel, &loading, &problem ) )
		return Faulty( path, problem, error );
	if ( loading.model == NULL )
		return Faulty( path, loading.text, error );
	status = CheckModel( path, loading.model, error );
	if ( status != lmb_statusOk )
	{
		mj_deleteModel( loading.model );
		return status;
	}
	bool touch = CouldTouch( loading.model );
	SetOptions( loading.model );
	if ( !lmbMujoco_Guarded( MakeData, &loading, &problem ) || loading.data == NULL )
	{
		mj_deleteModel( loading.model );
		return lmbError_Memory( error );
	}
	LMB_TRY( lmbMujoco_Wrap( loading.model, loading.data, path, &plant, error ) );
	status = Describe( plant, touch, error );
	if ( status != lmb_statusOk )
	{
		lmbPlant_Free( plant );
		return status;
	}
	*out = plant;
	return lmb_statusOk;
}
