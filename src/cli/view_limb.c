#include "cli/view_limb.h"

#include "formats/safetensors.h"
#include "limb/load.h"

#include <string.h>

bool lmbViewLimb_IsModel( const char *path )
{
	lmbTensorFile file;
	char format[32] = "";
	lmbError ignored = { 0 };
	if ( lmbTensorFile_Open( &file, path, NULL, INT32_MAX, &ignored ) != lmb_statusOk )
		return false;
	bool known = lmbTensorFile_Metadata( &file, "format", format, sizeof( format ) );
	lmbTensorFile_Close( &file );
	return known && strcmp( format, "limber.limb" ) == 0;
}

/* Motions that there are, for a message. */
typedef struct Names
{
	char text[600];
} Names;

static lmbStatus NotText( const char *path, lmbError *error )
{
	return lmbError_Set( error, lmb_statusCorrupt, "%s: a name in it is not UTF-8", path );
}

/* Numbers of one trajectory as the page reads it: (dofCount) speeds at its start, positions, inputs. */
static size_t CountNumbers( const lmbTrajectories *set, int index )
{
	size_t n = (size_t)set->dofCount, m = (size_t)set->inputCount;
	return n + (size_t)set->items[index].sampleCount * ( n + m );
}

static void CopyNumbers( const lmbTrajectories *set, int index, double *data )
{
	const lmbTrajectory *item = &set->items[index];
	size_t n = (size_t)set->dofCount, samples = (size_t)item->sampleCount;
	size_t positions = samples * n, inputs = samples * (size_t)set->inputCount;
	// Where speeds were not measured: from the first two samples, as `limber evaluate` begins.
	for ( size_t j = 0; j < n; ++j )
		data[j] = item->velocities != NULL ? item->velocities[j]
		          : samples > 1            ? ( item->positions[n + j] - item->positions[j] ) / item->step
		                                   : 0.0;
	memcpy( data + n, item->positions, positions * sizeof( double ) );
	if ( inputs > 0 )
		memcpy( data + n + positions, item->inputs, inputs * sizeof( double ) );
}

/* The wanted trajectories of a test, one behind the other in one piece of data. */
static lmbStatus AddMotions( const lmbViewLimbDef *def, lmbViewPage *page, const lmbTrajectories *set,
                             const char *test, json_t *motions, const char *path, lmbError *error )
{
	size_t total = 0;
	for ( int i = 0; i < set->count; ++i )
		total += CountNumbers( set, i );
	double *data = LMB_NEW( &page->arena, double, total );
	if ( data == NULL )
		return lmbError_Memory( error );
	total = 0;
	for ( int i = 0; i < set->count; ++i )
	{
		const lmbTrajectory *item = &set->items[i];
		if ( !lmbViewPage_Wanted( def->motions, item->name ) )
			continue;
		json_t *facts = json_pack( "{s:s, s:f, s:i}", "name", item->name, "step", item->step, "samples",
		                           item->sampleCount );
		if ( facts == NULL )
			return NotText( path, error );
		json_array_append_new( motions, facts );
		CopyNumbers( set, i, data + total );
		total += CountNumbers( set, i );
	}
	return total > 0 ? lmbViewPage_Add( page, test, data, total * sizeof( double ), error ) : lmb_statusOk;
}

static lmbStatus AddTest( const lmbViewLimbDef *def, const lmbLimbInfo *info, const lmbTrajectories *set,
                          const char *test, const char *path, Names *names, lmbViewPage *page,
                          lmbError *error )
{
	if ( set->dofCount != info->dofCount || set->inputCount != info->inputCount )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "%s has %d joints and %d inputs, but %s has %d and %d: run the project again",
		                     path, set->dofCount, set->inputCount, def->model, info->dofCount,
		                     info->inputCount );
	json_t *motions = json_array();
	for ( int i = 0; i < set->count; ++i )
	{
		size_t length = strlen( names->text );
		snprintf( names->text + length, sizeof( names->text ) - length, "%s%s", length > 0 ? ", " : "",
		          set->items[i].name );
	}
	lmbStatus status = AddMotions( def, page, set, test, motions, path, error );
	if ( json_array_size( motions ) > 0 )
		json_array_append_new( json_object_get( page->manifest, "tests" ),
		                       json_pack( "{s:s, s:O}", "name", test, "motions", motions ) );
	json_decref( motions );
	return status;
}

static lmbStatus AddTests( const lmbViewLimbDef *def, const lmbLimbInfo *info, Names *names,
                           lmbViewPage *page, lmbError *error )
{
	for ( int t = 0; t < lmb_limbTestCount; ++t )
	{
		char path[4096], file[96];
		const char *test = lmbLimbTest_Name( (lmbLimbTestKind)t );
		lmbTrajectories *set = NULL;
		snprintf( file, sizeof( file ), "trajectories-%s.safetensors", test );
		LMB_TRY( lmbPath_Join( path, sizeof( path ), def->folder, file, error ) );
		if ( !lmbFile_Exists( path ) )
			continue;
		lmbStatus status = lmbTrajectories_Load( path, &set, error );
		if ( status == lmb_statusOk )
			status = AddTest( def, info, set, test, path, names, page, error );
		lmbTrajectories_Free( set );
		LMB_TRY( status );
	}
	return lmb_statusOk;
}

static const char *NameOf( const json_t *motions, size_t index )
{
	return json_string_value( json_object_get( json_array_get( motions, index ), "name" ) );
}

/* That each motion asked for is in some test. */
static lmbStatus CheckMotions( const lmbViewLimbDef *def, const json_t *tests, const Names *names,
                               lmbError *error )
{
	for ( int i = 0; def->motions != NULL && def->motions[i] != NULL; ++i )
	{
		bool found = false;
		for ( size_t t = 0; t < json_array_size( tests ); ++t )
		{
			const json_t *motions = json_object_get( json_array_get( tests, t ), "motions" );
			for ( size_t k = 0; k < json_array_size( motions ); ++k )
				found = found || strcmp( NameOf( motions, k ), def->motions[i] ) == 0;
		}
		if ( !found )
			return lmbError_Set( error, lmb_statusNotFound,
			                     "--motion: no test has a motion \"%.100s\"; there are: %s", def->motions[i],
			                     names->text );
	}
	return lmb_statusOk;
}

/* What is known of the limb's shape and of its inputs. */
static void AddProject( const lmbLimbProject *project, json_t *manifest )
{
	bool absolute = project->modelCount > 0 && project->models[0].absoluteAngles;
	json_object_set_new( manifest, "integrator", json_integer( (json_int_t)project->integrator ) );
	json_object_set_new( manifest, "step", json_real( project->step ) );
	json_object_set_new( manifest, "absolute", json_boolean( absolute ) );
	if ( project->source != lmb_limbSourceArm )
		return;
	lmbArmDef arm = lmbLimbProject_ArmDef( project );
	json_object_set_new(
	    manifest, "lengths",
	    json_pack( "[f,f]", lmbPlant_ArmSegment( &arm, 0 ).length, lmbPlant_ArmSegment( &arm, 1 ).length ) );
	json_object_set_new( manifest, "unit", json_string( arm.muscles ? "" : "N m" ) );
}

lmbStatus lmbViewLimb_Make( const lmbViewLimbDef *def, lmbViewPage *page, lmbError *error )
{
	LMB_TRY( lmbViewPage_Begin( page, "limb.html", error ) );
	lmbLimb *model;
	LMB_TRY( lmbLimb_LoadFile( def->model, &page->arena, &model, error ) );
	lmbLimbInfo info = lmbLimb_Info( model );
	page->manifest = json_pack( "{s:s, s:[]}", "name", def->name, "tests" );
	if ( page->manifest == NULL )
		return lmbError_Set( error, lmb_statusCorrupt, "the name \"%s\" is not UTF-8", def->name );
	LMB_TRY( lmbViewPage_AddFile( page, "model", def->model, error ) );
	if ( def->project == NULL )
		return lmb_statusOk;
	AddProject( def->project, page->manifest );
	Names names = { 0 };
	LMB_TRY( AddTests( def, &info, &names, page, error ) );
	return CheckMotions( def, json_object_get( page->manifest, "tests" ), &names, error );
}
