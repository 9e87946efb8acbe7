/* limber predict: a limb's motion from its inputs, or the torques that a motion takes. */
#include "cli/verbs.h"
#include "formats/number.h"
#include "formats/table.h"
#include "limb/load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Predict
{
	lmbCommand command;
	const char *torques, *start, *integrator, *out;
	double step, tolerance;
	int inverse;
	lmbArena arena;
	lmbLimb *model;
	lmbLimbInfo info;
	lmbLimbBody *body;
	lmbTable *table, *result;
	int time; /* column */
} Predict;

static lmbStatus CheckTimes( const Predict *predict, lmbError *error )
{
	const lmbTable *table = predict->table;
	const double *times = table->columns[predict->time];
	for ( int row = 0; row < table->rowCount; ++row )
		if ( !( fabs( times[row] ) <= 1e9 ) || ( row > 0 && times[row] <= times[row - 1] ) )
			return lmbError_Set( error, lmb_statusCorrupt,
			                     "%s: row %d: the time is missing or not after the one before", table->path,
			                     row + 1 );
	return lmb_statusOk;
}

/* The column called name or, with an ending, name_ending; every value must be there. */
static lmbStatus NeedColumn( const lmbTable *table, const char *name, const char *ending, const double **out,
                             lmbError *error )
{
	char full[256];
	int column = -1;
	snprintf( full, sizeof( full ), "%s%s", name, ending );
	LMB_TRY( lmbTable_Need( table, full, &column, error ) );
	for ( int row = 0; row < table->rowCount; ++row )
		if ( !( fabs( table->columns[column][row] ) <= 1e9 ) )
			return lmbError_Set( error, lmb_statusCorrupt,
			                     "%s: row %d: \"%s\" has no value, or one beyond 1e9", table->path, row + 1,
			                     full );
	*out = table->columns[column];
	return lmb_statusOk;
}

/* One NAME=VALUE of --start; the name is a position's, or ends in _velocity. */
static lmbStatus SetStart( const Predict *predict, const char *name, size_t length, double value, double *q,
                           double *v, lmbError *error )
{
	static const char ending[] = "_velocity";
	for ( int j = 0; j < predict->info.dofCount; ++j )
	{
		const char *dof = lmbLimb_DofName( predict->model, j );
		size_t known = strlen( dof );
		if ( length < known || strncmp( name, dof, known ) != 0 )
			continue;
		if ( length == known )
		{
			q[j] = value;
			return lmb_statusOk;
		}
		if ( length == known + strlen( ending ) && strncmp( name + known, ending, strlen( ending ) ) == 0 )
		{
			v[j] = value;
			return lmb_statusOk;
		}
	}
	return lmbError_Set(
	    error, lmb_statusNotFound,
	    "--start: the model has no \"%.*s\"; its first position is \"%s\", its velocity \"%s%s\"",
	    (int)length, name, lmbLimb_DofName( predict->model, 0 ), lmbLimb_DofName( predict->model, 0 ),
	    ending );
}

static lmbStatus Start( Predict *predict, lmbError *error )
{
	double q[lmb_limbMaxDofs] = { 0 }, v[lmb_limbMaxDofs] = { 0 };
	const char *at = predict->start;
	while ( at != NULL && *at != 0 )
	{
		size_t length = strcspn( at, "=," ), rest;
		double value;
		if ( at[length] != '=' )
			return lmbError_Set( error, lmb_statusInvalidArgument, "--start: \"%s\" is not NAME=VALUE", at );
		rest = strcspn( at + length + 1, "," );
		if ( lmbNumber_Parse( at + length + 1, rest, '.', &value ) != lmb_numberFinite )
			return lmbError_Set( error, lmb_statusInvalidArgument, "--start: \"%.*s\" is not a number",
			                     (int)rest, at + length + 1 );
		LMB_TRY( SetStart( predict, at, length, value, q, v, error ) );
		at += length + 1 + rest;
		at += *at == ',' ? 1 : 0;
	}
	lmbStatus status = lmbLimbBody_Start( predict->body, q, v );
	return status == lmb_statusOk ? status : lmbError_Set( error, status, "--start: a number is beyond 1e9" );
}

/* Names a column of the result. */
static lmbStatus NameColumn( Predict *predict, int column, const char *name, const char *ending,
                             lmbError *error )
{
	char text[256];
	snprintf( text, sizeof( text ), "%s%s", name, ending );
	predict->result->names[column] = lmbArena_String( &predict->result->arena, text );
	return predict->result->names[column] != NULL ? lmb_statusOk : lmbError_Memory( error );
}

static lmbStatus NewResult( Predict *predict, int perDof, const char *const *endings, bool trust,
                            lmbError *error )
{
	int n = predict->info.dofCount, rows = predict->table->rowCount;
	LMB_TRY( lmbTable_New( rows, 1 + perDof * n + ( trust ? 1 : 0 ), &predict->result, error ) );
	LMB_TRY( NameColumn( predict, 0, "time", "", error ) );
	for ( int part = 0; part < perDof; ++part )
		for ( int j = 0; j < n; ++j )
			LMB_TRY( NameColumn( predict, 1 + part * n + j, lmbLimb_DofName( predict->model, j ),
			                     endings[part], error ) );
	if ( trust )
		LMB_TRY( NameColumn( predict, 1 + perDof * n, "trust", "", error ) );
	memcpy( predict->result->columns[0], predict->table->columns[predict->time],
	        (size_t)rows * sizeof( double ) );
	return lmb_statusOk;
}

static void StoreState( Predict *predict, int row, bool trust )
{
	double q[lmb_limbMaxDofs], v[lmb_limbMaxDofs];
	int n = predict->info.dofCount;
	double **columns = predict->result->columns;
	lmbLimbBody_State( predict->body, q, v );
	for ( int j = 0; j < n; ++j )
	{
		columns[1 + j][row] = q[j];
		columns[1 + n + j][row] = v[j];
	}
	if ( trust )
		columns[1 + 2 * n][row] = lmbLimbBody_Trust( predict->body );
}

/* Trust is of the step that begins at a row; the last row has none of its own and repeats it. */
static lmbStatus Forward( Predict *predict, lmbError *error )
{
	static const char *const endings[] = { "", "_velocity" };
	const double *inputs[lmb_limbMaxInputs];
	const double *times = predict->table->columns[predict->time];
	int m = predict->info.inputCount, rows = predict->table->rowCount, notConverged = 0;
	bool trust = predict->info.hasTrust;
	for ( int i = 0; i < m; ++i )
		LMB_TRY(
		    NeedColumn( predict->table, lmbLimb_InputName( predict->model, i ), "", &inputs[i], error ) );
	LMB_TRY( NewResult( predict, 2, endings, trust, error ) );
	LMB_TRY( Start( predict, error ) );
	StoreState( predict, 0, trust );
	for ( int row = 0; row + 1 < rows; ++row )
	{
		double u[lmb_limbMaxInputs], end[lmb_limbMaxInputs];
		for ( int i = 0; i < m; ++i )
		{
			u[i] = inputs[i][row];
			end[i] = inputs[i][row + 1];
		}
		if ( lmbJob_Cancelled( &predict->command.job ) )
			return lmbJob_CancelledStatus( error );
		lmbStatus status = lmbLimbBody_Step( predict->body, u, predict->info.linearInput ? end : NULL,
		                                     times[row + 1] - times[row] );
		if ( trust )
			predict->result->columns[1 + 2 * predict->info.dofCount][row] =
			    lmbLimbBody_Trust( predict->body );
		StoreState( predict, row + 1, trust );
		notConverged += status == lmb_statusNotConverged;
		if ( status == lmb_statusNumerical )
			return lmbError_Set( error, status,
			                     "%s: the motion diverged after %g s; --out has what came before",
			                     predict->torques, times[row] );
		if ( status != lmb_statusOk && status != lmb_statusNotConverged )
			return lmbError_Set( error, status, "%s: row %d: the step is too long for steps of --step",
			                     predict->torques, row + 1 );
	}
	if ( notConverged > 0 )
		lmbJob_Note( &predict->command.job, "%d steps did not reach their tolerance: try a smaller --step",
		             notConverged );
	return lmb_statusOk;
}

static lmbStatus Inverse( Predict *predict, lmbError *error )
{
	static const char *const endings[] = { "_torque", "_inertial", "_interaction", "_gravity", "_viscous" };
	const double *motion[3][lmb_limbMaxDofs];
	int n = predict->info.dofCount;
	static const char *const parts[] = { "", "_velocity", "_acceleration" };
	for ( int part = 0; part < 3; ++part )
		for ( int j = 0; j < n; ++j )
			LMB_TRY( NeedColumn( predict->table, lmbLimb_DofName( predict->model, j ), parts[part],
			                     &motion[part][j], error ) );
	LMB_TRY( NewResult( predict, 5, endings, false, error ) );
	for ( int row = 0; row < predict->table->rowCount; ++row )
	{
		double at[3][lmb_limbMaxDofs];
		lmbLimbTorques torques;
		for ( int part = 0; part < 3; ++part )
			for ( int j = 0; j < n; ++j )
				at[part][j] = motion[part][j][row];
		lmbStatus status = lmbLimbBody_Inverse( predict->body, at[0], at[1], at[2], &torques );
		if ( status == lmb_statusUnsupported )
			return lmbError_Set( error, status, "%s: only a lagrangian model knows the torques of a motion",
			                     predict->command.arguments[0] );
		if ( status != lmb_statusOk )
			return lmbError_Set( error, status, "%s: row %d: %s", predict->torques, row + 1,
			                     lmbStatus_Text( status ) );
		const double *columns[5] = { torques.input, torques.inertial, torques.interaction, torques.gravity,
		                             torques.viscous };
		for ( int part = 0; part < 5; ++part )
			for ( int j = 0; j < n; ++j )
				predict->result->columns[1 + part * n + j][row] = columns[part][j];
	}
	return lmb_statusOk;
}

/* The result on standard output, as WriteCsv writes it. */
static void PrintResult( Predict *predict )
{
	const lmbTable *table = predict->result;
	for ( int c = 0; c < table->columnCount; ++c )
		lmbCommand_Print( &predict->command, "%s%s", c > 0 ? "," : "", table->names[c] );
	lmbCommand_Print( &predict->command, "\n" );
	for ( int row = 0; row < table->rowCount; ++row )
	{
		for ( int c = 0; c < table->columnCount; ++c )
		{
			char text[lmbNumberTextSize];
			lmbNumber_Print( table->columns[c][row], text );
			lmbCommand_Print( &predict->command, "%s%s", c > 0 ? "," : "", text );
		}
		lmbCommand_Print( &predict->command, "\n" );
	}
}

static lmbStatus Prepare( Predict *predict, lmbError *error )
{
	if ( predict->torques == NULL )
		return lmbError_Set( error, lmb_statusInvalidArgument, "nothing to play: give --torques FILE" );
	LMB_TRY( lmbLimb_LoadFile( predict->command.arguments[0], &predict->arena, &predict->model, error ) );
	predict->info = lmbLimb_Info( predict->model );
	lmbLimbDef def = lmbDefaultLimbDef( predict->model );
	if ( predict->integrator != NULL )
	{
		int which = lmbCommand_Integrator( predict->integrator, strlen( predict->integrator ) );
		if ( which < 0 )
			return lmbError_Set( error, lmb_statusInvalidArgument,
			                     "--integrator: \"%s\" is none of euler, rk4, midpoint, dormand-prince",
			                     predict->integrator );
		def.integrator = (lmbIntegrator)which;
	}
	def.maxStep = predict->step != 0.0 ? predict->step : def.maxStep;
	def.tolerance = predict->tolerance != 0.0 ? predict->tolerance : def.tolerance;
	LMB_TRY( lmbLimb_NewBody( predict->model, &def, &predict->arena, &predict->body, error ) );
	LMB_TRY( lmbTable_Read( predict->torques, NULL, &predict->table, error ) );
	for ( int i = 0; i < predict->table->noteCount; ++i )
		lmbJob_Note( &predict->command.job, "%s", predict->table->notes[i] );
	LMB_TRY( lmbTable_Need( predict->table, "time", &predict->time, error ) );
	return CheckTimes( predict, error );
}

static void Describe( Predict *predict )
{
	json_t *document = predict->command.document;
	const lmbTable *table = predict->result;
	json_t *last = json_object();
	for ( int c = 0; c < table->columnCount; ++c )
	{
		double value = table->columns[c][table->rowCount - 1];
		json_object_set_new( last, table->names[c], isfinite( value ) ? json_real( value ) : json_null() );
	}
	json_object_set_new( document, "rows", json_integer( table->rowCount ) );
	json_object_set_new( document, "last", last );
	if ( predict->out != NULL )
		json_object_set_new( document, "out", json_string( predict->out ) );
}

int lmbVerb_Predict( const lmbVerb *verb, int argc, const char **argv )
{
	Predict predict = { 0 };
	const struct poptOption options[] = {
	    { "torques", 0, POPT_ARG_STRING, &predict.torques, 0,
	      "The inputs over time (with --inverse: the motion)", "FILE" },
	    { "start", 0, POPT_ARG_STRING, &predict.start, 0,
	      "First state, e.g. elbow=1.2,elbow_velocity=-0.5 (default: all zero)", "NAME=VALUE,.." },
	    { "integrator", 0, POPT_ARG_STRING, &predict.integrator, 0,
	      "euler, rk4, midpoint or dormand-prince (default: rk4)", "NAME" },
	    { "step", 0, POPT_ARG_DOUBLE, &predict.step, 0,
	      "Longest step of the integrator (default: 0.005; of recurrent models their data's)", "SECONDS" },
	    { "tolerance", 0, POPT_ARG_DOUBLE, &predict.tolerance, 0, "Of dormand-prince (default: 1e-5)",
	      "NUMBER" },
	    { "inverse", 0, POPT_ARG_NONE, &predict.inverse, 0, "Torques from a motion", NULL },
	    { "out", 'o', POPT_ARG_STRING, &predict.out, 0,
	      "Write the result there: .sto, .mot, .npz, .mat, else CSV (default: print it)", "FILE" },
	    LMB_COMMAND_OPTIONS( predict.command ) };
	int code = lmbCommand_Begin( &predict.command, verb, argc, argv, options );
	if ( code >= 0 )
		return code;
	lmbError error = { 0 };
	lmbNumberLocale locale;
	lmbStatus status = lmbNumberLocale_Begin( &locale, &error );
	bool localized = status == lmb_statusOk;
	if ( status == lmb_statusOk )
		status = Prepare( &predict, &error );
	if ( status == lmb_statusOk )
		status = predict.inverse ? Inverse( &predict, &error ) : Forward( &predict, &error );
	bool whole = status == lmb_statusOk || status == lmb_statusNumerical;
	if ( whole && predict.result != NULL )
	{
		Describe( &predict );
		if ( predict.out == NULL )
			PrintResult( &predict );
		else
		{
			lmbStatus written =
			    lmbTable_Write( predict.result, predict.out, predict.inverse ? "torques" : "motion",
			                    lmb_tableAnglesRadians, status == lmb_statusOk ? &error : NULL );
			status = status == lmb_statusOk ? written : status;
		}
	}
	if ( localized )
		lmbNumberLocale_End( &locale );
	lmbTable_Free( predict.result );
	lmbTable_Free( predict.table );
	lmbArena_Free( &predict.arena );
	code = lmbCommand_End( &predict.command, status, &error );
	const char *texts[] = { predict.torques, predict.start, predict.integrator,
	                        predict.out }; /* popt's copies */
	for ( size_t i = 0; i < sizeof( texts ) / sizeof( texts[0] ); ++i )
		free( (void *)texts[i] );
	return code;
}
