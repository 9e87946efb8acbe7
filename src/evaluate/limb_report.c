#include "evaluate/limb_report.h"

#include <math.h>
#include <string.h>

static const char *const timeKeys[lmbLimbTimeCount] = { "rmse_deg_1s", "rmse_deg_5s", "rmse_deg_10s" };

static void SetPair( json_t *object, const char *key, double mean, double median )
{
	if ( !isnan( mean ) )
		json_object_set_new( object, key, json_pack( "{s:f, s:f}", "mean", mean, "median", median ) );
}

json_t *lmbLimbReport_Score( const lmbLimbScore *score, bool judged )
{
	json_t *out = json_object();
	json_object_set_new( out, "motions", json_integer( score->summary.count ) );
	for ( int t = 0; t < lmbLimbTimeCount; ++t )
		SetPair( out, timeKeys[t], score->summary.mean[t], score->summary.median[t] );
	if ( judged )
		SetPair( out, "rmse_deg_judged", score->summary.judgedMean, score->summary.judgedMedian );
	SetPair( out, "rmse_deg_whole", score->summary.wholeMean, score->summary.wholeMedian );
	SetPair( out, "valid_s", score->summary.validMean, score->summary.validMedian );
	json_object_set_new( out, "diverged", json_real( score->summary.diverged ) );
	if ( !isnan( score->interactionError ) )
		json_object_set_new( out, "interaction_torque_error", json_real( score->interactionError ) );
	if ( !isnan( score->trustRank ) )
		json_object_set_new( out, "trust_rank_correlation", json_real( score->trustRank ) );
	return out;
}

enum
{
	medianMax = 128
};

json_t *lmbLimbReport_Median( json_t *const *objects, int count )
{
	json_t *out = json_object();
	const char *key;
	json_t *first;
	if ( count < 1 )
		return out;
	json_object_foreach( objects[0], key, first )
	{
		json_t *same[medianMax] = { first };
		double numbers[medianMax];
		int used = 0;
		for ( int i = 0; i < count && used < medianMax; ++i )
		{
			json_t *value = json_object_get( objects[i], key );
			if ( value == NULL || json_is_number( value ) != json_is_number( first ) ||
			     json_is_object( value ) != json_is_object( first ) )
				continue;
			same[used] = value;
			numbers[used++] = json_number_value( value );
		}
		if ( json_is_object( first ) && used == count )
			json_object_set_new( out, key, lmbLimbReport_Median( same, used ) );
		else if ( json_is_integer( first ) || ( !json_is_number( first ) && !json_is_object( first ) ) )
			json_object_set( out, key, first );
		else if ( json_is_number( first ) && used == count )
			json_object_set_new( out, key, json_real( lmbMedian( numbers, used ) ) );
	}
	return out;
}

static double Number( const json_t *object, const char *key )
{
	const json_t *value = json_object_get( object, key );
	return json_is_number( value ) ? json_number_value( value ) : NAN;
}

/* A cell of width 13, or a dash. */
static void PrintCell( FILE *stream, double value )
{
	if ( isnan( value ) )
		fprintf( stream, "%13s", "-" );
	else
		fprintf( stream, "%13.*f", value < 9.9995 ? 4 : 2, value );
}

static void PrintRow( FILE *stream, const char *model, const json_t *score )
{
	fprintf( stream, "  %-20s", model );
	for ( int t = 0; t < lmbLimbTimeCount; ++t )
	{
		const json_t *pair = json_object_get( score, timeKeys[t] );
		PrintCell( stream, Number( pair, "median" ) );
		PrintCell( stream, Number( pair, "mean" ) );
	}
	fprintf( stream, "%11.0f %%", 100.0 * Number( score, "diverged" ) );
	double torque = Number( score, "interaction_torque_error" );
	if ( !isnan( torque ) )
		fprintf( stream, "   interaction torque off by %.3g %%", 100.0 * torque );
	double judged = Number( json_object_get( score, "rmse_deg_judged" ), "median" );
	if ( !isnan( judged ) )
		fprintf( stream, "   judged %.4f", judged );
	/* Motions that end before the last column are judged over all that there is. */
	if ( json_object_get( score, timeKeys[lmbLimbTimeCount - 1] ) == NULL )
		fprintf( stream, "   whole %.4g degrees, valid %.4g s",
		         Number( json_object_get( score, "rmse_deg_whole" ), "median" ),
		         Number( json_object_get( score, "valid_s" ), "median" ) );
	double rank = Number( score, "trust_rank_correlation" );
	if ( !isnan( rank ) )
		fprintf( stream, "   trust ranks %.2f", rank );
	fprintf( stream, "\n" );
}

static void PrintTest( FILE *stream, const char *name, const json_t *test, const json_t *models )
{
	fprintf( stream, "\n%s: %lld motions of %.4g s at %.4g Hz", name,
	         (long long)json_integer_value( json_object_get( test, "motions" ) ),
	         Number( test, "duration_s" ), Number( test, "rate_hz" ) );
	double amplified = Number( test, "amplification_10s" );
	double judged = Number( test, "judged_s" );
	if ( !isnan( judged ) )
		fprintf( stream,
		         "; the plant itself multiplies an error by %.2g in 10 s (median): \"judged\" is at 10 s, or "
		         "before, where it multiplies by 1000 (median %.3g s)",
		         amplified, judged );
	fprintf( stream, "\n" );
	const char *model;
	json_t *row;
	json_object_foreach( (json_t *)models, model, row )
	{
		const json_t *score = json_object_get( json_object_get( row, "tests" ), name );
		if ( score != NULL )
			PrintRow( stream, model, score );
	}
}

void lmbLimbReport_Print( const json_t *metrics, FILE *stream )
{
	const json_t *models = json_object_get( metrics, "models" );
	json_t *tests = json_object_get( metrics, "tests" ), *test;
	const char *name;
	if ( json_object_size( models ) == 0 )
		return;
	fprintf( stream, "joint angles, root mean square error in degrees of open-loop roll-outs\n  %-20s", "" );
	for ( int t = 0; t < lmbLimbTimeCount; ++t )
	{
		char median[32];
		snprintf( median, sizeof( median ), "%.0f s: median", lmbLimbTimes[t] );
		fprintf( stream, "%13s%13s", median, "mean" );
	}
	fprintf( stream, "%13s\n", "diverged" );
	json_object_foreach( tests, name, test ) PrintTest( stream, name, test, models );
}
