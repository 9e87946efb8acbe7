#include "bench.h"

#include "measure.h"

#include <stdlib.h>
#include <string.h>

static const lmbBenchTitle titles[] = {
    { "springs", "springs of vertices alone" },
    { "euler", "the same springs by substeps of semi-implicit Euler, at equal error" },
    { "step", "a whole step of a character, and its parts" },
    { "network", "a network alone, and the same in onnxruntime" },
    { "crowd", "1, 16 and 64 characters of one model" },
    { "limb", "a step of a limb: ours, closed form, MuJoCo" },
    { NULL, NULL } };
static lmbBenchRun *const runs[] = { lmbBench_Springs, lmbBench_Euler, lmbBench_Step,
                                     lmbBench_Network, lmbBench_Crowd, lmbBench_Limb };

const lmbBenchTitle *lmbBench_Titles( void )
{
	return titles;
}

lmbBenchDef lmbDefaultBenchDef( void )
{
	return ( lmbBenchDef ){ .kernels = lmb_kernelsBest, .largest = 10000000, .python = "python3" };
}

static bool IsAsked( const lmbBenchDef *def, const char *name )
{
	bool asked = def->nameCount == 0;
	for ( int i = 0; i < def->nameCount; ++i )
		asked = asked || strcmp( def->names[i], name ) == 0;
	return asked;
}

static lmbStatus CheckNames( const lmbBenchDef *def, lmbError *error )
{
	for ( int i = 0; i < def->nameCount; ++i )
	{
		int found = 0;
		for ( const lmbBenchTitle *title = titles; title->name != NULL; ++title )
			found += strcmp( title->name, def->names[i] ) == 0;
		if ( found == 0 )
			return lmbError_Set( error, lmb_statusNotFound,
			                     "there is no bench \"%s\"; `limber bench --list` names them",
			                     def->names[i] );
	}
	return lmb_statusOk;
}

static void DescribeMachine( const lmbBench *bench, json_t *document )
{
	char processor[256];
	double load = 0.0;
	lmbBench_Processor( processor, sizeof( processor ) );
	json_object_set_new( document, "processor", json_string( processor ) );
	json_object_set_new( document, "kernels", json_string( bench->kernels->name ) );
	json_object_set_new( document, "compiler", json_string( __VERSION__ ) );
	json_object_set_new( document, "commit", json_string( LMB_BENCH_COMMIT ) );
	if ( getloadavg( &load, 1 ) == 1 )
		json_object_set_new( document, "load", json_real( load ) );
	json_object_set_new( document, "quick", json_boolean( bench->def->quick ) );
	json_object_set_new( document, "multiply_adds_us", json_real( bench->multiplyAdds ) );
	if ( bench->products > 0.0 )
		json_object_set_new( document, "products_us", json_real( bench->products ) );
	json_object_set_new( document, "streamed_bytes", json_integer( (json_int_t)bench->streamBytes ) );
}

static lmbStatus RunOne( lmbBench *bench, int index, json_t *list, lmbError *error )
{
	json_t *entry = json_object();
	bench->rows = json_array();
	bench->comparisons = json_array();
	json_object_set_new( entry, "name", json_string( titles[index].name ) );
	json_object_set_new( entry, "title", json_string( titles[index].title ) );
	json_object_set_new( entry, "rows", bench->rows );
	json_object_set_new( entry, "comparisons", bench->comparisons );
	json_array_append_new( list, entry );
	lmbStatus status = runs[index]( bench, error );
	if ( status == lmb_statusOk && lmbJob_Cancelled( bench->job ) )
		status = lmbJob_CancelledStatus( error );
	return status;
}

lmbStatus lmbBench_Run( const lmbBenchDef *def, const lmbJob *job, json_t *document, lmbError *error )
{
	lmbBench bench = { .def = def, .job = job, .kernels = lmbKernels_Find( def->kernels ) };
	LMB_TRY( CheckNames( def, error ) );
	if ( bench.kernels == NULL )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "this processor has not the kernels that were asked for" );
	lmbStatus status = lmbBench_MeasureMachine( &bench, error );
	if ( status == lmb_statusOk )
	{
		json_t *list = json_array();
		DescribeMachine( &bench, document );
		json_object_set_new( document, "benches", list );
		for ( int i = 0; titles[i].name != NULL && status == lmb_statusOk; ++i )
			if ( IsAsked( def, titles[i].name ) )
				status = RunOne( &bench, i, list, error );
	}
	lmbArena_Free( &bench.arena );
	return status;
}
