/* What is strange about a recording, before anybody trains on it. */
#include "limb/recording_private.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
	mostSuspicions = 8
};

static lmbStatus Suspect( lmbRecordingSummary *summary, lmbRecordingColumn *column, lmbError *error,
                          const char *format, ... ) __attribute__( ( format( printf, 4, 5 ) ) );

static lmbStatus Suspect( lmbRecordingSummary *summary, lmbRecordingColumn *column, lmbError *error,
                          const char *format, ... )
{
	char text[512];
	va_list arguments;
	va_start( arguments, format );
	vsnprintf( text, sizeof( text ), format, arguments );
	va_end( arguments );
	if ( column->suspicions == NULL )
		column->suspicions = LMB_NEW( &summary->arena, const char *, mostSuspicions );
	char *copy = lmbArena_String( &summary->arena, text );
	if ( column->suspicions == NULL || copy == NULL )
		return lmbError_Memory( error );
	if ( column->suspicionCount < mostSuspicions )
		column->suspicions[column->suspicionCount++] = copy;
	return lmb_statusOk;
}

/* " in line 7" or " in row 7". */
static const char *Place( const lmbTable *table, int row, char out[40] )
{
	snprintf( out, 40, table->lines != NULL ? "line %d" : "row %d",
	          table->lines != NULL ? table->lines[row] : row + 1 );
	return out;
}

static int CompareDoubles( const void *a, const void *b )
{
	double x = *(const double *)a, y = *(const double *)b;
	return ( x > y ) - ( x < y );
}

/* Everything that the judges of one column need. */
typedef struct Judged
{
	lmbRecordingSummary *summary;
	const lmbTable *table;
	lmbRecordingColumn *column;
	int count;       /* values that are there */
	double *values;  /* (count) */
	int *rows;       /* (count) */
	double *scratch; /* (count) */
} Judged;

static lmbStatus JudgeValues( Judged *judged, lmbError *error )
{
	lmbRecordingColumn *column = judged->column;
	int rows = judged->table->rowCount;
	if ( judged->count == 0 )
		return Suspect( judged->summary, column, error, "no value at all" );
	if ( column->missing > 0 )
		LMB_TRY( Suspect( judged->summary, column, error, "%.3g %% of the values are missing (%d)",
		                  100.0 * column->missing / rows, column->missing ) );
	if ( judged->count > 1 && column->low == column->high )
		return Suspect( judged->summary, column, error, "constant, %g all the way: not connected?",
		                column->low );
	return lmb_statusOk;
}

/* A run of one value at an end of the range: how long, where, the larger step at its sides, and how
 * far the signal goes in as many samples before or after it. */
typedef struct Plateau
{
	int longest, runs, total, first;
	double side, far;
} Plateau;

static Plateau FindPlateau( const double *values, int count, double end )
{
	Plateau plateau = { 0 };
	int run = 0;
	for ( int i = 0; i < count; ++i )
	{
		run = values[i] == end ? run + 1 : 0;
		plateau.total += run > 0;
		plateau.runs += run == 3;
		if ( run > plateau.longest )
		{
			plateau.longest = run;
			plateau.first = i - run + 1;
		}
	}
	int before = plateau.first - 1, after = plateau.first + plateau.longest;
	plateau.side = before >= 0 ? fabs( end - values[before] ) : 0.0;
	if ( after < count )
		plateau.side = fmax( plateau.side, fabs( values[after] - end ) );
	before = plateau.first - plateau.longest;
	after += plateau.longest - 1;
	plateau.far = fmax( before >= 0 ? fabs( end - values[before] ) : 0.0,
	                    after < count ? fabs( values[after] - end ) : 0.0 );
	return plateau;
}

/* A converter that could go no further. Where a coarse signal turns it stands still as well, for L samples,
 * and a parabola that hides less than a step in them has gone by less than eight steps L samples further on;
 * a signal that is cut off comes with its slope and has gone by more. */
static lmbStatus JudgeSaturation( Judged *judged, lmbError *error )
{
	const double *values = judged->values;
	const double ends[] = { judged->column->low, judged->column->high };
	int still = 0, moves = 0;
	for ( int i = 1; i < judged->count; ++i )
	{
		if ( values[i] != values[i - 1] )
			judged->scratch[moves++] = fabs( values[i] - values[i - 1] );
		else
			still += values[i] != ends[0] && values[i] != ends[1];
	}
	if ( moves < 8 || 10 * still > 3 * judged->count )
		return lmb_statusOk;
	qsort( judged->scratch, (size_t)moves, sizeof( double ), CompareDoubles );
	double small = judged->scratch[moves / 10];
	for ( int e = 0; e < 2; ++e )
	{
		Plateau plateau = FindPlateau( values, judged->count, ends[e] );
		double full = fabs( ends[e] );
		bool converter =
		    full == 32767.0 || full == 32768.0 || full == 2047.0 || full == 2048.0 || full == 65535.0;
		bool cut = ( plateau.longest >= 9 && plateau.far > 8.0 * plateau.side ) ||
		           ( plateau.runs >= 3 && plateau.side > 3.0 * small );
		char place[40];
		if ( cut || ( converter && plateau.total >= 2 ) )
			LMB_TRY(
			    Suspect( judged->summary, judged->column, error,
			             "%d values are exactly %g, the %s there is, %d in a row from %s on: saturated%s?",
			             plateau.total, ends[e], e == 0 ? "lowest" : "highest", plateau.longest,
			             Place( judged->table, judged->rows[plateau.first], place ),
			             converter ? " (the end of a converter's range)" : "" ) );
	}
	return lmb_statusOk;
}

/* A step that no neighbour comes near: ten times the largest of the three before and the three after (its own
 * return left out), and far above what is usual. Steps of inputs are what inputs do. */
static lmbStatus JudgeJumps( Judged *judged, lmbError *error )
{
	int count = judged->count - 1, jumps = 0, wraps = 0, worstRow = 0;
	double *steps = judged->scratch, worst = 0.0;
	if ( count < 8 || judged->column->role == lmb_recordingInput )
		return lmb_statusOk;
	for ( int i = 0; i < count; ++i )
		steps[i] = fabs( judged->values[i + 1] - judged->values[i] );
	qsort( steps, (size_t)count, sizeof( *steps ), CompareDoubles );
	double usual = fmax( steps[count / 2], steps[count * 9 / 10] );
	double turn = strcmp( judged->column->unit, "deg" ) == 0 ? 360.0 : 2.0 * acos( -1.0 );
	for ( int i = 0; i < count; ++i )
	{
		double step = fabs( judged->values[i + 1] - judged->values[i] ), near = 0.0;
		if ( !( step > 4.0 * usual && step > 0.02 * ( judged->column->high - judged->column->low ) ) )
			continue;
		for ( int k = i - 4; k <= i + 4; ++k )
			if ( k >= 0 && k < count && abs( k - i ) > 1 )
				near = fmax( near, fabs( judged->values[k + 1] - judged->values[k] ) );
		if ( step <= 10.0 * near )
			continue;
		if ( judged->column->role == lmb_recordingPosition && fabs( step - turn ) < 0.1 * turn + 2.0 * usual )
		{
			wraps += 1;
			continue;
		}
		jumps += 1;
		if ( step > worst )
		{
			worst = step;
			worstRow = judged->rows[i + 1];
		}
	}
	char place[40];
	if ( wraps > 0 )
		LMB_TRY( Suspect( judged->summary, judged->column, error,
		                  "jumps by a full turn %d times; it goes on when it is read", wraps ) );
	if ( jumps > 0 )
		LMB_TRY( Suspect( judged->summary, judged->column, error,
		                  "%d jumps that the samples around do not explain, the largest of %.4g in %s", jumps,
		                  worst, Place( judged->table, worstRow, place ) ) );
	return lmb_statusOk;
}

/* A column at the rows where time runs forward, unwrapped when it is an angle. */
static int Aligned( const lmbTable *table, const lmbRecordingStamps *stamps, int from, int to, int column,
                    double turn, double *out )
{
	int good = 0;
	double last = NAN, shift = 0.0;
	for ( int i = from; i < to; ++i )
	{
		double value = table->columns[column][stamps->rows[i]] + shift;
		if ( isfinite( value ) && isfinite( last ) && turn > 0.0 && fabs( value - last ) > 0.5 * turn )
		{
			double more = -turn * round( ( value - last ) / turn );
			shift += more;
			value += more;
		}
		last = isfinite( value ) ? value : last;
		out[i] = value;
		good += isfinite( value );
	}
	return good;
}

/* Sums of a regression through the origin: changes of x over windows against the integral of v. */
typedef struct Regression
{
	double xx, xv, vv;
	int count;
} Regression;

static void Accumulate( const lmbRecordingStamps *stamps, int from, int to, const double *x, const double *v,
                        Regression *sums )
{
	int width = ( to - from ) / 100;
	width = width < 4 ? 4 : width > 50 ? 50 : width;
	for ( int i = from; i + width < to; i += width )
	{
		double integral = 0.0;
		bool whole = true;
		for ( int k = i; k < i + width; ++k )
		{
			double step = stamps->times[k + 1] - stamps->times[k];
			integral += 0.5 * ( v[k] + v[k + 1] ) * step;
			whole = whole && step <= stamps->gap;
		}
		double change = x[i + width] - x[i];
		if ( !whole || !isfinite( integral ) || !isfinite( change ) )
			continue;
		sums->xx += change * change;
		sums->xv += change * integral;
		sums->vv += integral * integral;
		sums->count += 1;
	}
}

/* Is v the derivative of x? Judged on the integral, which noise does not hurt. what: "velocity" of
 * "position". */
static lmbStatus JudgeDerivative( lmbRecordingSummary *summary, const lmbTable *table,
                                  const lmbRecordingStamps *stamps, int x, int v, lmbError *error )
{
	double *scratch = malloc( 2 * (size_t)stamps->count * sizeof( *scratch ) );
	if ( scratch == NULL )
		return lmbError_Memory( error );
	Regression sums = { 0 };
	lmbRecordingColumn *column = &summary->columns[v];
	bool angle = summary->columns[x].role == lmb_recordingPosition;
	bool degrees = strcmp( summary->columns[x].unit, "deg" ) == 0;
	double turn = angle ? ( degrees ? 360.0 : 2.0 * acos( -1.0 ) ) : 0.0;
	for ( int k = 0; k < stamps->runCount; ++k )
	{
		int from = stamps->runs[k], to = stamps->runs[k + 1];
		Aligned( table, stamps, from, to, x, turn, scratch );
		Aligned( table, stamps, from, to, v, 0.0, scratch + stamps->count );
		Accumulate( stamps, from, to, scratch, scratch + stamps->count, &sums );
	}
	free( scratch );
	if ( sums.count < 8 || !( sums.xx > 0.0 ) || !( sums.vv > 0.0 ) )
		return lmb_statusOk;
	double ratio = sums.xv / sums.xx, likeness = sums.xv / sqrt( sums.xx * sums.vv ),
	       radian = 180.0 / acos( -1.0 );
	const char *name = summary->columns[x].name;
	bool sameUnit = ( strcmp( column->unit, "deg/s" ) == 0 ) == degrees;
	if ( likeness > 0.9 && fabs( ratio * radian - 1.0 ) < 0.15 && ( sameUnit || degrees ) )
		return sameUnit ? Suspect( summary, &summary->columns[x], error,
		                           "changes %.3g times faster than its derivative \"%.100s\" says: in "
		                           "degrees while that is in "
		                           "radians?",
		                           1.0 / ratio, column->name )
		                : lmb_statusOk;
	if ( likeness > 0.9 && fabs( ratio / radian - 1.0 ) < 0.15 )
		return sameUnit
		           ? Suspect( summary, column, error,
		                      "%.3g times the derivative of \"%.100s\": in degrees while that is in radians?",
		                      ratio, name )
		           : lmb_statusOk;
	if ( likeness < 0.9 || fabs( ratio - 1.0 ) > 0.15 )
		return Suspect(
		    summary, column, error,
		    "not the derivative of \"%.100s\": its integral is %.3g times as large and correlates by %.2f",
		    name, ratio, likeness );
	return lmb_statusOk;
}

/* More than two turns without any speed to compare with: perhaps degrees. */
static lmbStatus JudgeRange( lmbRecordingSummary *summary, lmbRecordingColumn *column, lmbError *error )
{
	double range = column->high - column->low;
	if ( strcmp( column->unit, "deg" ) == 0 || !( range > 4.0 * acos( -1.0 ) ) )
		return lmb_statusOk;
	return Suspect( summary, column, error, "spans %.4g, which is %.1f turns if that is radians: degrees?",
	                range, range / ( 2.0 * acos( -1.0 ) ) );
}

static lmbStatus JudgeColumn( lmbRecordingSummary *summary, const lmbTable *table, int c, lmbError *error )
{
	lmbRecordingColumn *column = &summary->columns[c];
	Judged judged = { .summary = summary, .table = table, .column = column };
	judged.values = malloc( (size_t)table->rowCount * sizeof( double ) );
	judged.scratch = malloc( (size_t)table->rowCount * sizeof( double ) );
	judged.rows = malloc( (size_t)table->rowCount * sizeof( int ) );
	lmbStatus status = judged.values == NULL || judged.scratch == NULL || judged.rows == NULL
	                       ? lmbError_Memory( error )
	                       : lmb_statusOk;
	double sum = 0.0;
	column->low = column->high = column->mean = NAN;
	for ( int r = 0; r < table->rowCount && status == lmb_statusOk; ++r )
	{
		double value = table->columns[c][r];
		if ( isnan( value ) )
			continue;
		judged.values[judged.count] = value;
		judged.rows[judged.count++] = r;
		column->low = fmin( column->low, value );
		column->high = fmax( column->high, value );
		sum += value;
	}
	column->missing = table->rowCount - judged.count;
	if ( judged.count > 0 )
		column->mean = sum / judged.count;
	if ( status == lmb_statusOk && !table->text[c] )
		status = JudgeValues( &judged, error );
	if ( status == lmb_statusOk && judged.count > 1 && column->role != lmb_recordingTime &&
	     column->low < column->high )
		status = JudgeSaturation( &judged, error );
	if ( status == lmb_statusOk && column->role != lmb_recordingTime && column->role != lmb_recordingOther )
		status = JudgeJumps( &judged, error );
	free( judged.values );
	free( judged.scratch );
	free( judged.rows );
	return status;
}

static lmbStatus JudgeMotion( lmbRecordingSummary *summary, const lmbTable *table,
                              const lmbRecordingColumns *columns, const lmbRecordingStamps *stamps,
                              lmbError *error )
{
	int dofs = columns->counts[lmb_recordingPosition];
	bool fast = columns->counts[lmb_recordingVelocity] == dofs,
	     faster = columns->counts[lmb_recordingAcceleration] == dofs;
	for ( int i = 0; i < dofs; ++i )
	{
		int x = columns->items[lmb_recordingPosition][i];
		if ( fast && stamps != NULL )
			LMB_TRY( JudgeDerivative( summary, table, stamps, x, columns->items[lmb_recordingVelocity][i],
			                          error ) );
		else if ( !columns->slides[i] )
			LMB_TRY( JudgeRange( summary, &summary->columns[x], error ) );
		if ( fast && faster && stamps != NULL )
			LMB_TRY( JudgeDerivative( summary, table, stamps, columns->items[lmb_recordingVelocity][i],
			                          columns->items[lmb_recordingAcceleration][i], error ) );
	}
	return lmb_statusOk;
}

static void TakeStamps( lmbRecordingSummary *summary, const lmbRecordingStamps *stamps )
{
	summary->timed = true;
	summary->start = HUGE_VAL;
	summary->end = -HUGE_VAL;
	for ( int i = 0; i < stamps->count; ++i )
	{
		summary->start = fmin( summary->start, stamps->times[i] );
		summary->end = fmax( summary->end, stamps->times[i] );
	}
	summary->rate = 1.0 / stamps->step;
	summary->jitter = stamps->jitter;
	summary->jitterLargest = stamps->jitterLargest;
	summary->regular = stamps->regular;
	summary->repeated = stamps->repeated;
	summary->backwards = stamps->backwards;
	summary->gapCount = stamps->gapCount;
	summary->gapLargest = stamps->gapLargest;
}

static lmbStatus TakeNotes( lmbRecordingSummary *summary, const lmbTable *table, const char *more,
                            lmbError *error )
{
	summary->notes = LMB_NEW( &summary->arena, const char *, table->noteCount + 1 );
	if ( summary->notes == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < table->noteCount + ( more != NULL ); ++i )
	{
		const char *copy = lmbArena_String( &summary->arena, i < table->noteCount ? table->notes[i] : more );
		if ( copy == NULL )
			return lmbError_Memory( error );
		summary->notes[summary->noteCount++] = copy;
	}
	return lmb_statusOk;
}

static lmbStatus DescribeColumns( lmbRecordingSummary *summary, const lmbTable *table,
                                  const lmbRecordingColumns *columns, lmbError *error )
{
	summary->columns = LMB_NEW( &summary->arena, lmbRecordingColumn, table->columnCount );
	if ( summary->columns == NULL )
		return lmbError_Memory( error );
	for ( int role = lmb_recordingTime; role < lmb_recordingRoleCount; ++role )
		for ( int i = 0; i < columns->counts[role]; ++i )
			summary->columns[columns->items[role][i]].role = (lmbRecordingRole)role;
	for ( int c = 0; c < table->columnCount; ++c )
	{
		summary->columns[c].name = lmbArena_String( &summary->arena, table->names[c] );
		summary->columns[c].unit = lmbArena_String( &summary->arena, columns->units[c] );
		if ( summary->columns[c].name == NULL || summary->columns[c].unit == NULL )
			return lmbError_Memory( error );
		LMB_TRY( JudgeColumn( summary, table, c, error ) );
	}
	return lmb_statusOk;
}

static lmbStatus Summarise( lmbRecordingSummary *summary, lmbTable *table, const lmbRecordingDef *def,
                            lmbError *error )
{
	static const char *const formats[] = { "text", "OpenSim", "npy", "npz" };
	lmbRecordingColumns columns;
	lmbRecordingStamps stamps;
	summary->format = formats[table->format];
	summary->rowCount = table->rowCount;
	summary->columnCount = table->columnCount;
	LMB_TRY( lmbRecordingColumns_Find( table, def, false, &columns, error ) );
	LMB_TRY( DescribeColumns( summary, table, &columns, error ) );
	lmbError problem = { 0 };
	const char *more = NULL;
	bool timed = columns.time >= 0;
	if ( timed )
	{
		lmbStatus status = lmbRecordingStamps_Find( table, def, &columns, &stamps, &problem );
		timed = status == lmb_statusOk;
		if ( status == lmb_statusCorrupt )
			more = "the time never advances, or by steps that no clock makes";
		else if ( status != lmb_statusOk )
			return lmbError_Set( error, status, "%s", problem.message );
	}
	if ( timed )
		TakeStamps( summary, &stamps );
	LMB_TRY( JudgeMotion( summary, table, &columns, timed ? &stamps : NULL, error ) );
	return TakeNotes( summary, table, more, error );
}

lmbStatus lmbRecording_Summarise( const char *path, const lmbRecordingDef *def, lmbRecordingSummary **out,
                                  lmbError *error )
{
	*out = NULL;
	lmbTable *table = NULL;
	LMB_TRY( lmbTable_Read( path, &def->table, &table, error ) );
	lmbRecordingSummary *summary = calloc( 1, sizeof( *summary ) );
	lmbStatus status = summary != NULL ? Summarise( summary, table, def, error ) : lmbError_Memory( error );
	lmbTable_Free( table );
	if ( status == lmb_statusOk )
		*out = summary;
	else
		lmbRecordingSummary_Free( summary );
	return status;
}

void lmbRecordingSummary_Free( lmbRecordingSummary *summary )
{
	if ( summary == NULL )
		return;
	lmbArena_Free( &summary->arena );
	free( summary );
}
