/* What evaluation.json holds for a character. */
#include "evaluate/report.h"

#include "evaluate/details_file.h"

#include <math.h>

/* Members that are NULL are left out. */
static void Set( json_t *object, const char *key, json_t *value )
{
	if ( value != NULL )
		json_object_set_new( object, key, value );
}

static json_t *Flags( const uint8_t *flags, int count )
{
	json_t *array = json_array();
	for ( int i = 0; i < count; ++i )
		json_array_append_new( array, json_integer( flags[i] ) );
	return array;
}

static json_t *BodyJson( const lmbEvaluation *evaluation, const lmbCharacter *character )
{
	json_t *triangles = json_array();
	for ( size_t i = 0; i < 3 * (size_t)character->triangleCount; ++i )
		json_array_append_new( triangles, json_integer( character->triangles[i] ) );
	return json_pack( "{s:o, s:o, s:o}", "positions_m",
	                  lmbDetails_Numbers( character->bind, 3 * (size_t)character->vertexCount, 1.0 ),
	                  "triangles", triangles, "judged",
	                  Flags( evaluation->judged, evaluation->vertexCount ) );
}

static json_t *SpringsJson( const lmbSprings *springs )
{
	json_t *out = json_object();
	size_t vertices = (size_t)springs->vertexCount, modes = (size_t)springs->modeCount;
	const struct
	{
		const char *key;
		const double *values;
		size_t count;
	} arrays[] = {
	    { "vertex_stiffness", springs->vertexStiffness, vertices },
	    { "vertex_damping", springs->vertexDamping, vertices },
	    { "remainder_stiffness", springs->remainderStiffness, vertices },
	    { "remainder_damping", springs->remainderDamping, vertices },
	    { "mode_stiffness", springs->modeStiffness, modes },
	    { "mode_damping", springs->modeDamping, modes },
	    { "mode_stiffness_unfitted", springs->modeStiffnessUnfitted, modes },
	    { "mode_damping_unfitted", springs->modeDampingUnfitted, modes },
	};
	for ( size_t i = 0; i < sizeof( arrays ) / sizeof( arrays[0] ); ++i )
		Set( out, arrays[i].key, lmbDetails_Numbers( arrays[i].values, arrays[i].count, 1.0 ) );
	return out;
}

/* The track in mm; judged (Nullable): where the simulation's own shapes count. */
static json_t *PathJson( const float *values, int count, const uint8_t *judged )
{
	json_t *array = json_array();
	for ( int f = 0; f < count; ++f )
		json_array_append_new(
		    array, lmbDetails_Number( judged != NULL && judged[f] == 0 ? NAN : 1e3 * (double)values[f] ) );
	return array;
}

static json_t *TrackJson( const lmbMotionDetails *details, const lmbTrack *track )
{
	json_t *paths = json_object();
	Set( paths, "simulation", PathJson( track->moving, details->frameCount, details->judged ) );
	Set( paths, "at_rest", PathJson( track->still, details->frameCount, details->judged ) );
	for ( int c = 0; c < lmb_columnCount; ++c )
		if ( track->columns[c] != NULL )
			Set( paths, lmbColumn_Name( (lmbColumn)c ),
			     PathJson( track->columns[c], details->frameCount, NULL ) );
	return json_pack( "{s:i, s:o, s:o}", "vertex", track->vertex, "direction",
	                  lmbDetails_Numbers( track->direction, 3, 1.0 ), "path_mm", paths );
}

static json_t *Columns( double *const values[lmb_columnCount], int count )
{
	json_t *out = json_object();
	for ( int c = 0; c < lmb_columnCount; ++c )
		Set( out, lmbColumn_Name( (lmbColumn)c ), lmbDetails_Numbers( values[c], (size_t)count, 1e3 ) );
	return out;
}

static json_t *MotionJson( const lmbSequenceScore *sequence )
{
	const lmbMotionDetails *details = &sequence->details;
	json_t *tracks = json_array();
	for ( int t = 0; t < details->trackCount; ++t )
		json_array_append_new( tracks, TrackJson( details, &details->tracks[t] ) );
	return json_pack( "{s:b, s:f, s:o, s:o, s:o, s:o, s:o, s:o}", "trained", sequence->trained, "rate_hz",
	                  sequence->rate, "judged", Flags( details->judged, details->frameCount ), "dynamics_mm",
	                  lmbDetails_Numbers( details->dynamics, (size_t)details->frameCount, 1e3 ), "rms_mm",
	                  Columns( details->rms, details->frameCount ), "vertex_dynamics_mm",
	                  lmbDetails_Numbers( details->vertexDynamics, (size_t)details->vertexCount, 1e3 ),
	                  "vertex_rms_mm", Columns( details->vertexRms, details->vertexCount ), "tracks",
	                  tracks );
}

json_t *lmbReport_Details( const char *name, const lmbEvaluation *evaluation, const lmbCharacter *character,
                           const lmbSprings *springs )
{
	json_t *motions = json_object();
	for ( int i = 0; i < evaluation->sequenceCount; ++i )
		Set( motions, evaluation->sequences[i].name, MotionJson( &evaluation->sequences[i] ) );
	return json_pack( "{s:s, s:i, s:s, s:s, s:o, s:o, s:o}", "format", "limber.evaluation", "version", 1,
	                  "kind", "character", "name", name, "body", BodyJson( evaluation, character ), "springs",
	                  springs != NULL ? SpringsJson( springs ) : json_object(), "motions", motions );
}
