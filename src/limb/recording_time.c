/* The time stamps of a recording: order, runs, gaps, jitter, and whether they are regular but for rounding.
 */
#include "limb/recording_private.h"

#include <math.h>
#include <stdlib.h>

typedef struct Stamp
{
	double time;
	int row;
} Stamp;

static int CompareStamps( const void *a, const void *b )
{
	const Stamp *x = a, *y = b;
	if ( x->time != y->time )
		return x->time < y->time ? -1 : 1;
	return ( x->row > y->row ) - ( x->row < y->row );
}

static int CompareDoubles( const void *a, const void *b )
{
	double x = *(const double *)a, y = *(const double *)b;
	return ( x > y ) - ( x < y );
}

/* Median of the steps forward; 0 when there are none. */
static double MedianStep( const Stamp *stamps, int count, double *scratch )
{
	int steps = 0;
	for ( int i = 1; i < count; ++i )
		if ( stamps[i].time > stamps[i - 1].time )
			scratch[steps++] = stamps[i].time - stamps[i - 1].time;
	if ( steps == 0 )
		return 0.0;
	qsort( scratch, (size_t)steps, sizeof( *scratch ), CompareDoubles );
	return steps % 2 == 1 ? scratch[steps / 2] : 0.5 * ( scratch[steps / 2 - 1] + scratch[steps / 2] );
}

/* The largest power of ten of which all stamps are whole multiples: how finely they were written; 0: none. */
static double Resolution( const double *times, int count, double factor )
{
	for ( double unit = 1.0; unit > 5e-10; unit /= 10.0 )
	{
		bool all = true;
		for ( int i = 0; i < count && all; ++i )
		{
			double turns = times[i] / factor / unit;
			all = fabs( turns - round( turns ) ) < 1e-6 + 1e-15 * fabs( turns );
		}
		if ( all )
			return unit * factor;
	}
	return 0.0;
}

/* Rounded multiples of a constant step differ by two neighbouring multiples of the unit, and by one only when
 * the step is a multiple of it itself; and lie within one unit around a line. Anything else is real jitter,
 * or a lost sample. */
bool lmbRecordingStamps_Regular( const double *times, int count, double factor )
{
	if ( count < 2 )
		return false;
	double step = ( times[count - 1] - times[0] ) / ( count - 1 );
	double unit = Resolution( times, count, factor ), low = 0.0, high = 0.0;
	double rounding = 1e-12 * fmax( fabs( times[0] ), fabs( times[count - 1] ) ) + 1e-9 * step;
	for ( int i = 0; i < count; ++i )
	{
		double off = times[i] - ( times[0] + i * step );
		low = fmin( low, off );
		high = fmax( high, off );
	}
	if ( high - low <= 2.0 * rounding )
		return true;
	if ( unit <= 0.0 || unit > 0.51 * step || high - low > 1.01 * unit + rounding )
		return false;
	double multiple = step / unit;
	bool whole = fabs( multiple - round( multiple ) ) < 0.02;
	for ( int i = 1; i < count; ++i )
	{
		double steps = ( times[i] - times[i - 1] ) / unit;
		if ( steps < floor( multiple ) - 0.01 || steps > ceil( multiple ) + 0.01 ||
		     ( whole && fabs( steps - round( multiple ) ) > 0.01 ) )
			return false;
	}
	return true;
}

/* A run ends where the clock goes back by more than a gap; smaller disorder is sorted. */
static lmbStatus FindRuns( lmbTable *table, Stamp *stamps, int count, lmbRecordingStamps *out,
                           lmbError *error )
{
	out->runs = LMB_NEW( &table->arena, int, count + 1 );
	if ( out->runs == NULL )
		return lmbError_Memory( error );
	double latest = -HUGE_VAL;
	out->firstBackwards = -1;
	for ( int i = 0; i < count; ++i )
	{
		out->repeated += i > 0 && stamps[i].time == stamps[i - 1].time;
		if ( i > 0 && stamps[i].time < stamps[i - 1].time )
		{
			out->backwards += 1;
			if ( out->firstBackwards < 0 )
				out->firstBackwards = stamps[i].row;
		}
		if ( i == 0 || stamps[i].time < latest - out->gap )
		{
			out->runs[out->runCount++] = i;
			latest = stamps[i].time;
		}
		latest = fmax( latest, stamps[i].time );
	}
	out->runs[out->runCount] = count;
	for ( int k = 0; k < out->runCount; ++k )
		qsort( stamps + out->runs[k], (size_t)( out->runs[k + 1] - out->runs[k] ), sizeof( *stamps ),
		       CompareStamps );
	return lmb_statusOk;
}

static void Measure( lmbRecordingStamps *out, double factor )
{
	double sum = 0.0;
	int steps = 0;
	out->regular = true;
	for ( int k = 0; k < out->runCount; ++k )
	{
		int from = out->runs[k], to = out->runs[k + 1];
		for ( int i = from + 1; i < to; ++i )
		{
			double step = out->times[i] - out->times[i - 1], off = fabs( step - out->step );
			if ( step > out->gap )
			{
				out->gapCount += 1;
				out->gapLargest = fmax( out->gapLargest, step );
				continue;
			}
			sum += off * off;
			steps += 1;
			out->jitterLargest = fmax( out->jitterLargest, off );
		}
		out->regular = out->regular && lmbRecordingStamps_Regular( out->times + from, to - from, factor );
	}
	out->jitter = steps > 0 ? sqrt( sum / steps ) : 0.0;
}

/* The mean of the steps that are about as long as the median one, which rounding makes no more exact. */
static double TypicalStep( const lmbRecordingStamps *stamps )
{
	double total = 0.0;
	int steps = 0;
	for ( int k = 0; k < stamps->runCount; ++k )
		for ( int i = stamps->runs[k] + 1; i < stamps->runs[k + 1]; ++i )
		{
			double step = stamps->times[i] - stamps->times[i - 1];
			if ( step < 0.5 * stamps->step || step > 1.5 * stamps->step )
				continue;
			total += step;
			steps += 1;
		}
	return steps > 0 ? total / steps : stamps->step;
}

lmbStatus lmbRecordingStamps_Find( lmbTable *table, const lmbRecordingDef *def,
                                   const lmbRecordingColumns *columns, lmbRecordingStamps *out,
                                   lmbError *error )
{
	*out = ( lmbRecordingStamps ){ .firstBackwards = -1 };
	int rows = table->rowCount;
	Stamp *stamps = LMB_NEW( &table->arena, Stamp, rows );
	double *scratch = LMB_NEW( &table->arena, double, rows );
	out->rows = LMB_NEW( &table->arena, int, rows );
	out->times = LMB_NEW( &table->arena, double, rows );
	if ( stamps == NULL || scratch == NULL || out->rows == NULL || out->times == NULL )
		return lmbError_Memory( error );
	double factor = columns->time >= 0 ? columns->factors[columns->time] : 1.0;
	for ( int r = 0; r < rows; ++r )
	{
		double time = columns->time >= 0 ? table->columns[columns->time][r] * factor : r / def->rate;
		if ( isfinite( time ) && fabs( time ) < 1e15 )
			stamps[out->count++] = ( Stamp ){ time, r };
	}
	out->missing = rows - out->count;
	out->step = MedianStep( stamps, out->count, scratch );
	if ( !( out->step > 0.0 ) )
		return lmbError_Set(
		    error, lmb_statusCorrupt,
		    "%s: the time%s%s%s never advances; name another column (time) or give the rate of the samples "
		    "(rate)",
		    table->path, columns->time >= 0 ? " in column \"" : "",
		    columns->time >= 0 ? table->names[columns->time] : "", columns->time >= 0 ? "\"" : "" );
	if ( out->step < 1e-9 || out->step > 1e6 )
		return lmbError_Set( error, lmb_statusCorrupt,
		                     "%s: steps of %.3g s; say what one unit of the time is in seconds (time unit)",
		                     table->path, out->step );
	out->gap = def->longestGap > 0.0 ? fmax( def->longestGap, 1.5 * out->step ) : 5.0 * out->step;
	LMB_TRY( FindRuns( table, stamps, out->count, out, error ) );
	for ( int i = 0; i < out->count; ++i )
	{
		out->rows[i] = stamps[i].row;
		out->times[i] = stamps[i].time;
	}
	Measure( out, factor );
	out->step = TypicalStep( out );
	return lmb_statusOk;
}
