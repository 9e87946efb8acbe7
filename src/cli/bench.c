/* limber bench: how fast the runtime is on this machine. */
#include "bench.h"

#include "cli/verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double Number( const json_t *row, const char *key )
{
	return json_number_value( json_object_get( row, key ) );
}

static void PrintRow( lmbCommand *command, const json_t *row )
{
	const char *bound = json_string_value( json_object_get( row, "bound" ) );
	lmbCommand_Print( command, "| %s | %.4g | %.4g |", json_string_value( json_object_get( row, "name" ) ),
	                  Number( row, "us" ), Number( row, "us_median" ) );
	static const char *const keys[] = { "ns_per_item", "gb_s", "bandwidth_gb_s", "bound_us" };
	for ( int i = 0; i < 4; ++i )
	{
		if ( json_object_get( row, keys[i] ) != NULL )
			lmbCommand_Print( command, " %.3g |", Number( row, keys[i] ) );
		else
			lmbCommand_Print( command, " |" );
	}
	if ( bound != NULL )
		lmbCommand_Print( command, " %s, %.0f %% |\n", bound, 100.0 * Number( row, "of_bound" ) );
	else
		lmbCommand_Print( command, " |\n" );
}

static void PrintComparison( lmbCommand *command, const json_t *row )
{
	const char *name = json_string_value( json_object_get( row, "name" ) ),
	           *note = json_string_value( json_object_get( row, "note" ) );
	const json_t *times = json_object_get( row, "times" );
	if ( json_is_number( times ) )
		lmbCommand_Print( command, "%s: %.2f times", name, json_number_value( times ) );
	else
		lmbCommand_Print( command, "%s: not measured", name );
	if ( json_object_get( row, "target" ) != NULL )
		lmbCommand_Print( command, " (at least %g wanted)", Number( row, "target" ) );
	lmbCommand_Print( command, "%s%s\n", note[0] != 0 ? "; " : "", note );
}

static void PrintBench( lmbCommand *command, const json_t *bench )
{
	size_t i;
	const json_t *row;
	lmbCommand_Print(
	    command,
	    "\n%s: %s\n\n| | us | median | ns an item | GB/s | bandwidth, GB/s | at least, us | bound, "
	    "reached |\n|---|---|---|---|---|---|---|---|\n",
	    json_string_value( json_object_get( bench, "name" ) ),
	    json_string_value( json_object_get( bench, "title" ) ) );
	json_array_foreach( json_object_get( bench, "rows" ), i, row ) PrintRow( command, row );
	if ( json_array_size( json_object_get( bench, "comparisons" ) ) > 0 )
		lmbCommand_Print( command, "\n" );
	json_array_foreach( json_object_get( bench, "comparisons" ), i, row ) PrintComparison( command, row );
}

static void PrintAll( lmbCommand *command )
{
	size_t i;
	const json_t *document = command->document, *bench;
	lmbCommand_Print( command, "`%s`: commit %s, %s, kernels %s, load %.1f\n",
	                  json_string_value( json_object_get( document, "run" ) ),
	                  json_string_value( json_object_get( document, "commit" ) ),
	                  json_string_value( json_object_get( document, "processor" ) ),
	                  json_string_value( json_object_get( document, "kernels" ) ),
	                  Number( document, "load" ) );
	json_array_foreach( json_object_get( document, "benches" ), i, bench ) PrintBench( command, bench );
}

static void List( lmbCommand *command )
{
	json_t *list = json_array();
	for ( const lmbBenchTitle *title = lmbBench_Titles(); title->name != NULL; ++title )
	{
		lmbCommand_Print( command, "%-10s%s\n", title->name, title->title );
		json_array_append_new( list, json_pack( "{s:s, s:s}", "name", title->name, "title", title->title ) );
	}
	json_object_set_new( command->document, "list", list );
}

/* The line that makes the same table. */
static void Remember( lmbCommand *command, int argc, const char **argv )
{
	char text[1024] = "limber bench";
	for ( int i = 1; i < argc; ++i )
	{
		size_t used = strlen( text );
		snprintf( text + used, sizeof( text ) - used, " %s", argv[i] );
	}
	json_object_set_new( command->document, "run", json_string( text ) );
}

static lmbStatus FindKernels( const char *name, lmbKernelSet *set, lmbError *error )
{
	*set = lmb_kernelsBest;
	for ( int i = lmb_kernelsPlain; name != NULL && i < lmb_kernelsCount; ++i )
	{
		const char *other = lmbKernels_Name( (lmbKernelSet)i );
		if ( other != NULL && strcmp( other, name ) == 0 )
			*set = (lmbKernelSet)i;
	}
	if ( name != NULL && *set == lmb_kernelsBest )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "--kernels: this processor has no kernels called \"%s\"", name );
	return lmb_statusOk;
}

int lmbVerb_Bench( const lmbVerb *verb, int argc, const char **argv )
{
	lmbCommand command = { 0 };
	lmbBenchDef def = lmbDefaultBenchDef();
	int list = 0, quick = 0;
	const char *kernels = NULL, *model = NULL, *python = NULL;
	const struct poptOption options[] = {
	    { "list", 0, POPT_ARG_NONE, &list, 0, "Say what there is, and run nothing", NULL },
	    { "quick", 0, POPT_ARG_NONE, &quick, 0, "Small sizes, few repetitions: to see that it works", NULL },
	    { "largest", 0, POPT_ARG_INT, &def.largest, 0,
	      "Vertices in the largest row of springs (default: 10000000)", "N" },
	    { "kernels", 0, POPT_ARG_STRING, &kernels, 0,
	      "plain, sse2, avx2, avx512, neon (default: the fastest)", "NAME" },
	    { "model", 0, POPT_ARG_STRING, &model, 0,
	      "A model of a character for step and crowd (default: two made up, of a human's size)", "FILE" },
	    { "python", 0, POPT_ARG_STRING, &python, 0,
	      "One with onnxruntime and numpy, for network (default: python3)", "PROGRAM" },
	    LMB_COMMAND_OPTIONS( command ) };
	int code = lmbCommand_Begin( &command, verb, argc, argv, options );
	if ( code >= 0 )
		return code;
	lmbError error = { 0 };
	Remember( &command, argc, argv );
	def.names = command.arguments;
	def.nameCount = command.argumentCount;
	def.models = &model;
	def.modelCount = model != NULL ? 1 : 0;
	def.python = python != NULL ? python : def.python;
	def.quick = quick != 0;
	lmbStatus status = FindKernels( kernels, &def.kernels, &error );
	if ( status == lmb_statusOk && def.largest < 1000 )
		status = lmbError_Set( &error, lmb_statusInvalidArgument, "--largest must be at least 1000" );
	if ( status == lmb_statusOk && list )
		List( &command );
	else if ( status == lmb_statusOk )
	{
		lmbProgress_Title( &command.progress, "bench" );
		status = lmbBench_Run( &def, &command.job, command.document, &error );
		if ( status == lmb_statusOk || status == lmb_statusCancelled )
			PrintAll( &command );
	}
	code = lmbCommand_End( &command, status, &error );
	free( (void *)kernels );
	free( (void *)model );
	free( (void *)python );
	return code;
}
