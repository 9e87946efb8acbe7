/* limber export: a limb's model as C or ONNX. */
#include "cli/verbs.h"
#include "limb/export_c.h"
#include "limb/export_onnx.h"

#include <stdlib.h>
#include <string.h>

static const char *const integratorNames[] = { "euler", "rk4", "midpoint", "dormand-prince" };

int lmbCommand_Integrator( const char *name, size_t length )
{
	for ( int i = 0; i < 4; ++i )
		if ( strlen( integratorNames[i] ) == length && strncmp( name, integratorNames[i], length ) == 0 )
			return i;
	return -1;
}

/* "rk4,euler" to bits. */
static lmbStatus ReadIntegrators( const char *text, unsigned *bits, lmbError *error )
{
	*bits = 0;
	while ( text != NULL && *text != 0 )
	{
		size_t length = strcspn( text, "," );
		int which = lmbCommand_Integrator( text, length );
		if ( which < 0 )
			return lmbError_Set( error, lmb_statusInvalidArgument,
			                     "--integrators: \"%.*s\" is none of euler, rk4, midpoint, dormand-prince",
			                     (int)length, text );
		*bits |= 1u << which;
		text += length + ( text[length] == ',' ? 1 : 0 );
	}
	return lmb_statusOk;
}

int lmbVerb_Export( const lmbVerb *verb, int argc, const char **argv )
{
	lmbCommand command = { 0 };
	const char *folder = NULL, *onnx = NULL, *name = NULL, *integrators = NULL;
	const struct poptOption options[] = {
	    { "c", 0, POPT_ARG_STRING, &folder, 0, "Write NAME.c and NAME.h into this folder", "DIR" },
	    { "onnx", 0, POPT_ARG_STRING, &onnx, 0, "Write the accelerations as an ONNX graph", "FILE" },
	    { "name", 0, POPT_ARG_STRING, &name, 0,
	      "NAME of the C files and of all in them (default: the model file's)", "NAME" },
	    { "integrators", 0, POPT_ARG_STRING, &integrators, 0,
	      "Which of euler, rk4, midpoint, dormand-prince the C has (default: rk4,euler)", "LIST" },
	    LMB_COMMAND_OPTIONS( command ) };
	int code = lmbCommand_Begin( &command, verb, argc, argv, options );
	if ( code >= 0 )
		return code;
	lmbError error = { 0 };
	lmbExportCDef def = { .name = name };
	const char *path = command.arguments[0];
	lmbStatus status = ReadIntegrators( integrators, &def.integrators, &error );
	if ( status == lmb_statusOk && folder == NULL && onnx == NULL )
		status = lmbError_Set( &error, lmb_statusInvalidArgument,
		                       "nothing to write: give --c DIR or --onnx FILE" );
	if ( status == lmb_statusOk && folder != NULL )
	{
		status = lmbLimb_ExportC( path, &def, folder, &error );
		if ( status == lmb_statusOk )
			lmbCommand_Print( &command, "C written into %s\n", folder );
		json_object_set_new( command.document, "c", json_string( folder ) );
	}
	if ( status == lmb_statusOk && onnx != NULL )
	{
		status = lmbLimb_ExportOnnx( path, onnx, &error );
		if ( status == lmb_statusOk )
			lmbCommand_Print( &command, "ONNX written to %s\n", onnx );
		json_object_set_new( command.document, "onnx", json_string( onnx ) );
	}
	code = lmbCommand_End( &command, status, &error );
	const char *texts[] = { folder, onnx, name, integrators }; /* popt's copies */
	for ( size_t i = 0; i < sizeof( texts ) / sizeof( texts[0] ); ++i )
		free( (void *)texts[i] );
	return code;
}
