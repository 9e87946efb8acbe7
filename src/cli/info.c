/* limber info: what a file holds. */
#include "base/files.h"
#include "cli/info_recording.h"
#include "cli/verbs.h"
#include "flesh/project.h"
#include "flesh/tissue_surface.h"
#include "formats/safetensors.h"
#include "limb/project.h"

#include <stdio.h>
#include <string.h>
#include <stdlib.h>
#include <strings.h>

static void PrintBones( lmbCommand *command, const lmbCharacter *character, int parent, int depth )
{
	for ( int j = parent + 1; j < character->boneCount; ++j )
	{
		if ( character->bones[j].parent != parent )
			continue;
		lmbCommand_Print( command, "  %*s%s\n", 2 * depth, "", character->bones[j].name );
		PrintBones( command, character, j, depth + 1 );
	}
}

static void PrintCharacter( lmbCommand *command, const lmbCharacter *character, const lmbSurface *surface )
{
	const double *low = surface->low, *high = surface->high;
	lmbCommand_Print( command, "%s: a rigged character\n", character->path );
	lmbCommand_Print( command,
	                  "  %d vertices, %d triangles, %d parts, %d bones, up to %d influences a vertex\n",
	                  character->vertexCount, character->triangleCount, character->partCount,
	                  character->boneCount, character->influenceCount );
	lmbCommand_Print( command, "  %.3f x %.3f x %.3f m at %.6g m per unit (%s)\n", high[0] - low[0],
	                  high[1] - low[1], high[2] - low[2], character->metresPerUnit,
	                  character->unitGiven ? "given" : "measured from the skeleton" );
	lmbCommand_Print( command, "  the skin is %s, of %d connected parts, %.4g m^2 around %.4g m^3\n",
	                  surface->closed ? "closed" : "open", surface->componentCount, surface->area,
	                  surface->volume );
	lmbCommand_Print( command, "bones\n" );
	PrintBones( command, character, -1, 0 );
	lmbCommand_Print( command, "animations\n" );
	for ( int i = 0; i < character->clipCount; ++i )
		lmbCommand_Print( command, "  %-32s %8.3f s, %d keys, from %.3f s\n", character->clips[i].name,
		                  character->clips[i].end - character->clips[i].start, character->clips[i].keyCount,
		                  character->clips[i].start );
	if ( character->clipCount == 0 )
		lmbCommand_Print( command, "  none\n" );
	lmbCommand_Print( command, "notes\n" );
	for ( int i = 0; i < character->noteCount; ++i )
		lmbCommand_Print( command, "  %s\n", character->notes[i] );
	if ( character->noteCount == 0 )
		lmbCommand_Print( command, "  none\n" );
}

static void DescribeCharacter( json_t *document, const lmbCharacter *character, const lmbSurface *surface )
{
	const double *low = surface->low, *high = surface->high;
	json_t *bones = json_array(), *clips = json_array(), *parts = json_array(), *notes = json_array();
	for ( int j = 0; j < character->boneCount; ++j )
		json_array_append_new( bones, json_pack( "{s:s, s:i}", "name", character->bones[j].name, "parent",
		                                         character->bones[j].parent ) );
	for ( int i = 0; i < character->clipCount; ++i )
		json_array_append_new( clips,
		                       json_pack( "{s:s, s:f, s:f, s:i}", "name", character->clips[i].name, "start_s",
		                                  character->clips[i].start, "end_s", character->clips[i].end, "keys",
		                                  character->clips[i].keyCount ) );
	for ( int i = 0; i < character->partCount; ++i )
		json_array_append_new( parts, json_pack( "{s:s, s:i, s:i}", "name", character->parts[i].name,
		                                         "vertices", character->parts[i].vertexCount, "triangles",
		                                         character->parts[i].triangleCount ) );
	for ( int i = 0; i < character->noteCount; ++i )
		json_array_append_new( notes, json_string( character->notes[i] ) );
	json_t *facts =
	    json_pack( "{s:i, s:i, s:i, s:f, s:s, s:[f,f,f]}", "vertices", character->vertexCount, "triangles",
	               character->triangleCount, "influences", character->influenceCount, "metres_per_unit",
	               character->metresPerUnit, "unit", character->unitGiven ? "given" : "measured", "size_m",
	               high[0] - low[0], high[1] - low[1], high[2] - low[2] );
	json_object_set_new( facts, "skin",
	                     json_pack( "{s:b, s:i, s:f, s:f}", "closed", surface->closed, "components",
	                                surface->componentCount, "area_m2", surface->area, "volume_m3",
	                                surface->volume ) );
	json_object_set_new( facts, "bones", bones );
	json_object_set_new( facts, "animations", clips );
	json_object_set_new( facts, "parts", parts );
	json_object_set_new( facts, "notes", notes );
	json_object_set_new( document, "kind", json_string( "character" ) );
	json_object_set_new( document, "character", facts );
}

static lmbStatus InfoCharacter( lmbCommand *command, const char *path, double unit, lmbError *error )
{
	lmbImportDef def = { .metresPerUnit = unit };
	lmbCharacter *character = NULL;
	LMB_TRY( lmbCharacter_Load( path, &def, &character, error ) );
	lmbSurface surface = { 0 };
	lmbStatus status = lmbSurface_Make( character, &surface, error );
	if ( status == lmb_statusOk )
	{
		DescribeCharacter( command->document, character, &surface );
		PrintCharacter( command, character, &surface );
	}
	lmbSurface_Free( &surface );
	lmbCharacter_Free( character );
	return status;
}

/* The header of a file that was checked already: 8 bytes of length, then JSON. */
static json_t *TensorHeader( const lmbTensorFile *file )
{
	const unsigned char *bytes = file->data;
	uint64_t length = 0;
	for ( int i = 7; i >= 0; --i )
		length = length << 8 | bytes[i];
	return json_loadb( (const char *)bytes + 8, (size_t)length, 0, NULL );
}

static lmbStatus InfoTensors( lmbCommand *command, const char *path, lmbError *error )
{
	lmbTensorFile file;
	lmbStatus status = lmbTensorFile_Open( &file, path, NULL, INT32_MAX, error );
	json_t *header = status == lmb_statusOk ? TensorHeader( &file ) : NULL;
	if ( status == lmb_statusOk && header == NULL )
		status = lmbError_Memory( error );
	if ( status == lmb_statusOk )
	{
		const char *key;
		json_t *value, *metadata = json_object_get( header, "__metadata__" );
		lmbCommand_Print( command, "%s: %s\n", path,
		                  json_string_value( json_object_get( metadata, "format" ) ) != NULL
		                      ? json_string_value( json_object_get( metadata, "format" ) )
		                      : "safetensors, not written by Limber" );
		json_object_foreach( metadata, key, value )
		    lmbCommand_Print( command, "  %s: %s\n", key, json_string_value( value ) );
		json_object_foreach( header, key, value )
		{
			if ( value == metadata )
				continue;
			char *shape = json_dumps( json_object_get( value, "shape" ), 0 );
			lmbCommand_Print( command, "  %-40s %-4s %s\n", key,
			                  json_string_value( json_object_get( value, "dtype" ) ), shape );
			free( shape );
		}
		json_object_set_new( command->document, "kind", json_string( "safetensors" ) );
		json_object_set( command->document, "header", header );
	}
	json_decref( header );
	lmbTensorFile_Close( &file );
	return status;
}

static void DescribeProject( lmbCommand *command, const lmbProjectFile *file )
{
	json_t *sections = json_object();
	for ( int i = 0; i < file->table->sectionCount; ++i )
	{
		lmbArena arena = { 0 };
		const char *name = file->table->sections[i].name;
		const char *settings = lmbProjectFile_Settings( file, name, &arena );
		lmbCommand_Print( command, "%s", settings != NULL ? settings : "" );
		json_object_set_new( sections, name[0] != 0 ? name : "top", json_string( settings ) );
		lmbArena_Free( &arena );
	}
	json_object_set_new( command->document, "kind", json_string( "project" ) );
	json_object_set_new( command->document, "settings", sections );
}

static lmbStatus InfoProject( lmbCommand *command, const char *path, lmbError *error )
{
	static const lmbProjectTable *const kinds[] = { &lmbFleshProjectTable, &lmbLimbProjectTable };
	if ( lmbProjectFile_Kind( path, kinds, 2 ) == 1 )
	{
		lmbLimbProject *limb;
		LMB_TRY( lmbLimbProject_Load( path, &limb, error ) );
		lmbCommand_Print( command, "%s: the project \"%s\" of a limb\n", path, limb->name );
		DescribeProject( command, &limb->file );
		lmbLimbProject_Free( limb );
		return lmb_statusOk;
	}
	lmbProject *project;
	LMB_TRY( lmbProject_Load( path, &project, error ) );
	lmbCommand_Print( command, "%s: the project \"%s\" of %s\n", path, project->name, project->character );
	DescribeProject( command, &project->file );
	lmbProject_Free( project );
	return lmb_statusOk;
}

static bool EndsWith( const char *text, const char *end )
{
	size_t length = strlen( text ), need = strlen( end );
	return length >= need && strcasecmp( text + length - need, end ) == 0;
}

int lmbVerb_Info( const lmbVerb *verb, int argc, const char **argv )
{
	lmbCommand command = { 0 };
	double unit = 0.0;
	lmbRecordingDef recording = lmbDefaultRecordingDef();
	const struct poptOption options[] = {
	    { "unit", 0, POPT_ARG_DOUBLE, &unit, 0, "Metres per unit of a character (default: measured)",
	      "METRES" },
	    { "time", 0, POPT_ARG_STRING, &recording.time, 0, "Column of the time (default: guessed)", "NAME" },
	    { "positions", 0, POPT_ARG_STRING, &recording.positions, 0,
	      "Columns of a recording's positions, with * and ? (default: guessed)", "NAMES" },
	    { "velocities", 0, POPT_ARG_STRING, &recording.velocities, 0, "Likewise", "NAMES" },
	    { "accelerations", 0, POPT_ARG_STRING, &recording.accelerations, 0, "Likewise", "NAMES" },
	    { "inputs", 0, POPT_ARG_STRING, &recording.inputs, 0, "Likewise", "NAMES" },
	    { "degrees", 0, POPT_ARG_STRING, &recording.degrees, 0,
	      "Columns in degrees (default: as the file says)", "NAMES" },
	    LMB_COMMAND_OPTIONS( command ) };
	int code = lmbCommand_Begin( &command, verb, argc, argv, options );
	if ( code >= 0 )
		return code;
	const char *path = command.arguments[0];
	lmbError error = { 0 };
	lmbStatus status;
	json_object_set_new( command.document, "file", json_string( path ) );
	if ( EndsWith( path, ".glb" ) || EndsWith( path, ".gltf" ) )
		status = InfoCharacter( &command, path, unit, &error );
	else if ( EndsWith( path, ".safetensors" ) )
		status = InfoTensors( &command, path, &error );
	else if ( EndsWith( path, ".yaml" ) || EndsWith( path, ".yml" ) )
		status = InfoProject( &command, path, &error );
	else if ( lmbInfo_IsRecording( path ) )
		status = lmbInfo_Recording( &command, path, &recording, &error );
	else
		status = lmbError_Set(
		    &error, lmb_statusUnsupported,
		    "%s: not a .glb, .gltf, .safetensors, .yaml, .yml, .csv, .tsv, .txt, .sto, .mot, .npy or "
		    ".npz file",
		    path );
	return lmbCommand_End( &command, status, &error );
}
