#include "limb/known_terms_private.h"
#include "limb/train_private.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

static const char *const parameterNames[lmbKnownTermsMax] = {
    "inertia at the shoulder", "inertia that couples", "inertia at the elbow",  "shoulder viscosity",
    "elbow viscosity",         "shoulder friction",    "elbow friction",        "limit stiffness",
    "limit damping",           "weight of both",       "weight of the forearm", "lean of both",
    "lean of the forearm" };

double *lmbKnownTerms_Parameter( lmbArm *arm, int index )
{
	double *const places[lmbKnownTermsMax] = { &arm->first,
	                                           &arm->coupling,
	                                           &arm->second,
	                                           &arm->def.viscosity[0],
	                                           &arm->def.viscosity[1],
	                                           &arm->def.friction[0],
	                                           &arm->def.friction[1],
	                                           &arm->def.limitStiffness,
	                                           &arm->def.limitDamping,
	                                           &arm->weight[0],
	                                           &arm->weight[1],
	                                           &arm->lean[0],
	                                           &arm->lean[1] };
	return places[index];
}

enum
{
	blockRows = 4096,
	columnsMost = lmbKnownTermsMax + 1,
	roomRows = blockRows + columnsMost
};

/* The triangle of the QR factorisation of all rows [regressors, torque] so far, which new rows join. */
typedef struct Regression
{
	int count;                         /* parameters */
	int which[lmbKnownTermsMax];       /* of all */
	lmbPlant *units[lmbKnownTermsMax]; /* arms of which only this parameter is there, and 1 */
	lmbPlant *rest;                    /* an arm without any: what is known */
	int given;                         /* the parameter of all that is known as well; -1: none */
	int rows;                          /* filled in room */
	double total;                      /* rows so far */
	double *room;                      /* (roomRows x count + 1) */
	lmbArena arena;
} Regression;

static void Close( Regression *regression )
{
	for ( int i = 0; i < regression->count; ++i )
		lmbPlant_Free( regression->units[i] );
	lmbPlant_Free( regression->rest );
	lmbArena_Free( &regression->arena );
}

static lmbStatus Open( Regression *regression, const lmbArm *arm, lmbError *error )
{
	lmbArm empty = *arm;
	regression->room = LMB_NEW( &regression->arena, double, roomRows *columnsMost );
	if ( regression->room == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < lmbKnownTermsMax; ++i )
		*lmbKnownTerms_Parameter( &empty, i ) = 0.0;
	lmbArm rest = empty, whole = *arm;
	if ( regression->given >= 0 )
		*lmbKnownTerms_Parameter( &rest, regression->given ) =
		    *lmbKnownTerms_Parameter( &whole, regression->given );
	LMB_TRY( lmbArm_Wrap( &rest, "rest", &regression->rest, error ) );
	empty.def.muscles = false;
	for ( int i = 0; i < lmbKnownTermsMax; ++i )
	{
		lmbArm unit = empty;
		if ( *lmbKnownTerms_Parameter( &whole, i ) == 0.0 || i == regression->given )
			continue;
		*lmbKnownTerms_Parameter( &unit, i ) = 1.0;
		regression->which[regression->count] = i;
		LMB_TRY( lmbArm_Wrap( &unit, "unit", &regression->units[regression->count], error ) );
		regression->count += 1;
	}
	return lmb_statusOk;
}

/* Brings the room back to a triangle. */
static lmbStatus Reduce( Regression *regression, lmbError *error )
{
	int columns = regression->count + 1, rows = regression->rows;
	double scales[columnsMost];
	if ( rows <= columns )
		return lmb_statusOk;
	if ( LAPACKE_dgeqrf( LAPACK_ROW_MAJOR, rows, columns, regression->room, columns, scales ) != 0 )
		return lmbError_Memory( error );
	for ( int i = 0; i < columns; ++i )
		memset( regression->room + (ptrdiff_t)i * columns, 0, (size_t)i * sizeof( double ) );
	regression->rows = columns;
	return lmb_statusOk;
}

/* The torques of a motion in an arm, inputs apart. */
static void Torques( lmbPlant *arm, const double *q, const double *v, const double *a, double *out )
{
	static const double none[lmbMuscleCount] = { 0 };
	lmbPlantTerms terms;
	memset( &terms, 0, sizeof( terms ) );
	arm->class->terms( arm, q, v, none, &terms );
	for ( int i = 0; i < 2; ++i )
		out[i] = terms.mass[2 * i] * a[0] + terms.mass[2 * i + 1] * a[1] + terms.bias[i] + terms.gravity[i] +
		         terms.passive[i];
}

static lmbStatus AddSample( Regression *regression, const double *q, const double *v, const double *a,
                            const double *u, lmbError *error )
{
	int columns = regression->count + 1;
	if ( regression->rows + 2 > roomRows )
		LMB_TRY( Reduce( regression, error ) );
	double *row = regression->room + (ptrdiff_t)regression->rows * columns, torques[2];
	for ( int i = 0; i < regression->count; ++i )
	{
		Torques( regression->units[i], q, v, a, torques );
		row[i] = torques[0];
		row[columns + i] = torques[1];
	}
	lmbPlantTerms terms;
	memset( &terms, 0, sizeof( terms ) );
	regression->rest->class->terms( regression->rest, q, v, u, &terms );
	Torques( regression->rest, q, v, a, torques );
	for ( int i = 0; i < 2; ++i )
		row[i * columns + columns - 1] = terms.input[i] - torques[i];
	regression->rows += 2;
	regression->total += 2.0;
	return lmb_statusOk;
}

static lmbStatus AddMotions( Regression *regression, const lmbTrajectories *set, const lmbTrajectory *motion,
                             int trim, const lmbJob *job, lmbError *error )
{
	size_t m = (size_t)set->inputCount;
	for ( int t = 0; t < set->count; ++t )
	{
		const lmbTrajectory *item = &motion[t];
		if ( lmbJob_Cancelled( job ) )
			return lmbJob_CancelledStatus( error );
		for ( int k = trim; k < item->sampleCount - trim; ++k )
			LMB_TRY( AddSample( regression, item->positions + 2 * (size_t)k, item->velocities + 2 * (size_t)k,
			                    item->accelerations + 2 * (size_t)k, item->inputs + m * (size_t)k, error ) );
		lmbJob_Progress( job, "motions", t + 1, set->count, "" );
	}
	return Reduce( regression, error );
}

/* R x = r, columns scaled to length 1 for the question of what can be told apart. */
static lmbStatus Solve( const Regression *regression, double *values, double *residual, lmbError *error )
{
	int n = regression->count, columns = n + 1, rank = 0;
	lapack_int pivots[lmbKnownTermsMax] = { 0 };
	double matrix[lmbKnownTermsMax * lmbKnownTermsMax], lengths[lmbKnownTermsMax];
	for ( int j = 0; j < n; ++j )
	{
		double square = 0.0;
		for ( int i = 0; i <= j; ++i )
			square += regression->room[i * columns + j] * regression->room[i * columns + j];
		lengths[j] = sqrt( square );
	}
	for ( int i = 0; i < n; ++i )
	{
		for ( int j = 0; j < n; ++j )
			matrix[i * n + j] = lengths[j] > 0.0 ? regression->room[i * columns + j] / lengths[j] : 0.0;
		values[i] = regression->room[i * columns + n];
	}
	if ( regression->rows < columns ||
	     LAPACKE_dgelsy( LAPACK_ROW_MAJOR, n, n, 1, matrix, n, values, 1, pivots, 1e-10, &rank ) != 0 ||
	     rank < n )
		return lmbError_Set(
		    error, lmb_statusNumerical,
		    "the motions tell only %d of the arm's %d parameters apart; add motions that differ, "
		    "or that reach the limits",
		    rank, n );
	for ( int j = 0; j < n; ++j )
		values[j] /= lengths[j];
	*residual = fabs( regression->room[n * columns + n] ) / sqrt( regression->total );
	return lmb_statusOk;
}

static lmbStatus FitMotion( Regression *regression, const lmbArm *arm, lmbTraining *training, bool measured,
                            lmbPlant **out, lmbKnownTermsReport *report, lmbError *error )
{
	lmbKnownTermsReport found = { 0 };
	lmbArm fitted = *arm, truth = *arm;
	LMB_TRY( Open( regression, arm, error ) );
	LMB_TRY(
	    AddMotions( regression, training->set, training->motion, training->trim, training->job, error ) );
	LMB_TRY( Solve( regression, found.values, &found.residual, error ) );
	found.count = regression->count;
	found.samples = 0.5 * regression->total;
	for ( int i = 0; i < found.count; ++i )
		*lmbKnownTerms_Parameter( &fitted, regression->which[i] ) = found.values[i];
	if ( !measured )
		LMB_TRY( lmbKnownTerms_Refine( &fitted, regression->which, found.count, training->set,
		                               training->motion, training->job, &found.positionResidual, error ) );
	for ( int i = 0; i < found.count; ++i )
	{
		found.names[i] = parameterNames[regression->which[i]];
		found.values[i] = *lmbKnownTerms_Parameter( &fitted, regression->which[i] );
		found.truth[i] = *lmbKnownTerms_Parameter( &truth, regression->which[i] );
	}
	if ( report != NULL )
		*report = found;
	return lmbArm_Wrap( &fitted, "known terms", out, error );
}

lmbStatus lmbKnownTerms_FitArm( const lmbArm *truth, int inputCount, int given, const lmbTrajectories *set,
                                double noise, const lmbJob *job, lmbPlant **out, lmbKnownTermsReport *report,
                                lmbError *error )
{
	Regression regression = { .given = given };
	lmbLimbTrainDef def = { .noise = noise };
	lmbTraining training = { .set = set, .motion = set->items, .def = &def, .job = job };
	bool measured = true;
	for ( int t = 0; t < set->count; ++t )
		measured = measured && set->items[t].velocities != NULL && set->items[t].accelerations != NULL;
	lmbStatus status = lmb_statusOk;
	if ( set->dofCount != 2 || set->inputCount != inputCount )
		status = lmbError_Set( error, lmb_statusInvalidArgument,
		                       "trajectories of %d joints and %d inputs are not of an arm with 2 and %d",
		                       set->dofCount, set->inputCount, inputCount );
	else if ( !measured )
		status = lmbTrain_Smooth( &training, error );
	if ( status == lmb_statusOk )
		status = FitMotion( &regression, truth, &training, measured, out, report, error );
	Close( &regression );
	lmbArena_Free( &training.arena );
	return status;
}

lmbStatus lmbKnownTerms_Fit( const lmbArmDef *arm, const lmbTrajectories *set, double noise,
                             const lmbJob *job, lmbPlant **out, lmbKnownTermsReport *report, lmbError *error )
{
	lmbPlant *truth;
	*out = NULL;
	LMB_TRY( lmbPlant_MakeArm( arm, &truth, error ) );
	lmbStatus status =
	    lmbKnownTerms_FitArm( truth->data, truth->inputCount, -1, set, noise, job, out, report, error );
	lmbPlant_Free( truth );
	return status;
}
