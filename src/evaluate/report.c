#include "evaluate/report.h"

#include <math.h>
#include <string.h>

static json_t *Cells( const double *values, double scale )
{
	json_t *cells = json_object();
	for ( int c = 0; c < lmb_columnCount; ++c )
		if ( !isnan( values[c] ) )
			json_object_set_new( cells, lmbColumn_Name( (lmbColumn)c ), json_real( scale * values[c] ) );
	return cells;
}

static json_t *SequenceJson( const lmbSequenceScore *sequence )
{
	const lmbScore *score = &sequence->score;
	json_t *motion = json_object();
	json_object_set_new( motion, "trained", json_boolean( sequence->trained ) );
	json_object_set_new( motion, "frames", json_integer( sequence->frameCount ) );
	json_object_set_new( motion, "frames_skipped", json_integer( sequence->skippedCount ) );
	json_object_set_new( motion, "rate_hz", json_real( sequence->rate ) );
	if ( !isnan( score->dynamicsRms ) )
		json_object_set_new( motion, "dynamics_rms_mm", json_real( 1e3 * score->dynamicsRms ) );
	json_object_set_new( motion, "rms_mm", Cells( score->rms, 1e3 ) );
	json_object_set_new( motion, "still_rms_mm", Cells( score->stillRms, 1e3 ) );
	json_object_set_new( motion, "captured_exact", Cells( score->capturedExact, 1.0 ) );
	json_object_set_new( motion, "dynamic_share", Cells( score->dynamicShare, 1.0 ) );
	json_object_set_new( motion, "captured", Cells( score->captured, 1.0 ) );
	if ( !isnan( score->capturedCap ) )
		json_object_set_new( motion, "captured_cap", json_real( score->capturedCap ) );
	return motion;
}

json_t *lmbReport_Json( const lmbEvaluation *evaluation )
{
	json_t *motions = json_object();
	for ( int i = 0; i < evaluation->sequenceCount; ++i )
		json_object_set_new( motions, evaluation->sequences[i].name,
		                     SequenceJson( &evaluation->sequences[i] ) );
	return json_pack( "{s:{s:i, s:i}, s:o}", "soft_skin", "judged_vertices", evaluation->judgedCount,
	                  "vertices", evaluation->vertexCount, "motions", motions );
}

static void PrintRow( FILE *stream, const json_t *motion, const char *key, const char *label, int decimals,
                      const char *after )
{
	const json_t *cells = json_object_get( motion, key );
	fprintf( stream, "  %-16s", label );
	for ( int c = 0; c < lmb_columnCount; ++c )
	{
		const json_t *cell = json_object_get( cells, lmbColumn_Name( (lmbColumn)c ) );
		if ( cell == NULL )
			fprintf( stream, "%15s", "-" );
		else
			fprintf( stream, "%15.*f", decimals, json_number_value( cell ) );
	}
	fprintf( stream, "%s\n", after );
}

static void PrintMotion( FILE *stream, const char *name, const json_t *motion )
{
	char cap[64] = "";
	const json_t *limit = json_object_get( motion, "captured_cap" );
	if ( limit != NULL )
		snprintf( cap, sizeof( cap ), "   at most %.3f", json_number_value( limit ) );
	fprintf( stream, "\n%s (%s), %lld frames", name,
	         json_is_true( json_object_get( motion, "trained" ) ) ? "trained" : "held out",
	         (long long)json_integer_value( json_object_get( motion, "frames" ) ) );
	if ( json_integer_value( json_object_get( motion, "frames_skipped" ) ) > 0 )
		fprintf( stream, ", %lld not converged and left out",
		         (long long)json_integer_value( json_object_get( motion, "frames_skipped" ) ) );
	fprintf( stream, ", dynamics %.2f mm\n",
	         json_number_value( json_object_get( motion, "dynamics_rms_mm" ) ) );
	PrintRow( stream, motion, "rms_mm", "rms [mm]", 2, "" );
	PrintRow( stream, motion, "still_rms_mm", "still rms [mm]", 2, "" );
	PrintRow( stream, motion, "captured_exact", "captured_exact", 3, "" );
	PrintRow( stream, motion, "dynamic_share", "dynamic_share", 3, "" );
	PrintRow( stream, motion, "captured", "captured", 3, cap );
}

void lmbReport_Print( const json_t *metrics, FILE *stream )
{
	json_t *motions = json_object_get( metrics, "motions" );
	const json_t *skin = json_object_get( metrics, "soft_skin" );
	if ( json_object_size( motions ) == 0 )
		return;
	fprintf( stream, "distance to the simulation over the soft skin (%lld of %lld vertices)\n%-18s",
	         (long long)json_integer_value( json_object_get( skin, "judged_vertices" ) ),
	         (long long)json_integer_value( json_object_get( skin, "vertices" ) ), "" );
	for ( int c = 0; c < lmb_columnCount; ++c )
		fprintf( stream, "%15s", lmbColumn_Name( (lmbColumn)c ) );
	for ( int trained = 1; trained >= 0; --trained )
	{
		const char *name;
		json_t *motion;
		json_object_foreach( motions, name, motion )
		{
			if ( json_is_true( json_object_get( motion, "trained" ) ) == ( trained == 1 ) )
				PrintMotion( stream, name, motion );
		}
	}
	const json_t *network = json_object_get( metrics, "network" );
	if ( json_object_get( network, "rms_mm_unseen_poses" ) != NULL )
		fprintf( stream, "\nunseen poses: network %.2f mm, skinning %.2f mm\n",
		         json_number_value( json_object_get( network, "rms_mm_unseen_poses" ) ),
		         json_number_value( json_object_get( network, "skinning_rms_mm_unseen_poses" ) ) );
}
