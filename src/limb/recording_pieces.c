/* A recording cut at its gaps and brought to a constant step. */
#include "limb/recording_private.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A cut between two instants, or before or after one. */
typedef struct Cut
{
	double from, to;
} Cut;

static int CompareCuts( const void *a, const void *b )
{
	const Cut *x = a, *y = b;
	return ( x->from > y->from ) - ( x->from < y->from );
}

static double Value( const lmbRecordingSource *source, int column, int i )
{
	return source->table->columns[column][source->stamps.rows[i]];
}

/* Cuts of one run: wherever a column has no value for longer than a gap. Room for width (rows + 2). */
static int FindCuts( const lmbRecordingSource *source, int width, int from, int to, Cut *cuts )
{
	const double *times = source->stamps.times;
	int count = 0;
	for ( int w = 0; w < width; ++w )
	{
		double last = -HUGE_VAL;
		for ( int i = from; i < to; ++i )
		{
			if ( !isfinite( Value( source, source->order[w], i ) ) )
				continue;
			if ( times[i] - last > source->stamps.gap )
				cuts[count++] = ( Cut ){ last, times[i] };
			last = times[i];
		}
		cuts[count++] = ( Cut ){ last, HUGE_VAL };
	}
	qsort( cuts, (size_t)count, sizeof( *cuts ), CompareCuts );
	return count;
}

static int Unwrap( double *values, int count, int stride )
{
	const double turn = 2.0 * acos( -1.0 );
	double last = NAN, shift = 0.0;
	int jumps = 0;
	for ( int i = 0; i < count; ++i )
	{
		double *value = &values[(size_t)i * (size_t)stride];
		if ( !isfinite( *value ) )
			continue;
		*value += shift;
		if ( isfinite( last ) && fabs( *value - last ) > 0.5 * turn )
		{
			double more = -turn * round( ( *value - last ) / turn );
			jumps += more != 0.0;
			shift += more;
			*value += more;
		}
		last = *value;
	}
	return jumps;
}

/* One column of a piece, in SI, with what is missing still missing. (count) in stamps from..; returns how
 * many are missing. */
static int TakeColumn( lmbRecordingReader *reader, lmbRecordingSource *source, int w, int from, int count,
                       double *out )
{
	int column = source->order[w], missing = 0;
	double factor = source->columns.factors[column];
	for ( int i = 0; i < count; ++i )
	{
		out[i] = Value( source, column, from + i ) * factor;
		missing += !isfinite( out[i] );
	}
	if ( source->roles[w] == lmb_recordingPosition && reader->def->unwrap && !source->columns.slides[w] )
		source->unwrapped += Unwrap( out, count, 1 );
	return missing;
}

static lmbStatus AddPiece( lmbRecordingReader *reader, const lmbRecordingPiece *piece, lmbError *error )
{
	int count = reader->pieceCount;
	if ( ( count & ( count - 1 ) ) == 0 )
	{
		lmbRecordingPiece *more = LMB_NEW( &reader->arena, lmbRecordingPiece, count > 0 ? 2 * count : 1 );
		if ( more == NULL )
			return lmbError_Memory( error );
		if ( count > 0 )
			memcpy( more, reader->pieces, (size_t)count * sizeof( *more ) );
		reader->pieces = more;
	}
	reader->pieces[reader->pieceCount++] = *piece;
	return lmb_statusOk;
}

/* The file's name without folder and ending, "#2" for further pieces, more marks where it is taken. */
static const char *PieceName( lmbRecordingReader *reader, const lmbRecordingSource *source )
{
	const char *slash = strrchr( source->table->path, '/' ),
	           *base = slash != NULL ? slash + 1 : source->table->path;
	const char *dot = strrchr( base, '.' );
	size_t length = dot != NULL && dot > base ? (size_t)( dot - base ) : strlen( base );
	char *name = lmbArena_New( &reader->arena, length + 48, 1 );
	if ( name == NULL )
		return NULL;
	for ( int number = source->pieces, tries = 0; tries < 100000; ++number, ++tries )
	{
		snprintf( name, length + 48, number == 1 ? "%.*s" : "%.*s#%d", (int)length, base, number );
		bool taken = false;
		for ( int i = 0; i < reader->pieceCount && !taken; ++i )
			taken = strcmp( reader->pieces[i].name, name ) == 0;
		if ( !taken )
			return name;
	}
	return NULL;
}

/* Where the new samples lie. */
typedef struct Grid
{
	int from, count; /* stamps */
	bool copy;       /* they are the stamps */
	double start, step;
	int gridCount;
} Grid;

static Grid PlanGrid( const lmbRecordingReader *reader, const lmbRecordingSource *source, int from, int to,
                      int missing )
{
	const double *times = source->stamps.times;
	double factor = source->columns.time >= 0 ? source->columns.factors[source->columns.time] : 1.0;
	int count = to - from;
	Grid grid = { .from = from, .count = count, .start = times[from], .gridCount = count };
	double length = times[to - 1] - times[from], own = length / ( count - 1 );
	bool regular = lmbRecordingStamps_Regular( times + from, count, factor );
	grid.step = regular ? own : source->stamps.step;
	double rate = 1.0 / grid.step;
	/* A clock that jitters around 100 Hz means 100 Hz. */
	if ( !regular && fabs( rate - round( rate ) ) < 0.005 * rate )
		grid.step = 1.0 / round( rate );
	if ( reader->def->rate > 0.0 && fabs( reader->def->rate * grid.step - 1.0 ) > 1e-6 )
	{
		grid.step = 1.0 / reader->def->rate;
		regular = false;
	}
	grid.copy = regular && missing == 0;
	double samples = floor( length / grid.step + 1e-6 ) + 1.0;
	if ( !grid.copy )
		grid.gridCount = samples < 2147483000.0 ? (int)samples : INT_MAX;
	return grid;
}

static lmbStatus FillPiece( lmbRecordingReader *reader, lmbRecordingSource *source, const Grid *grid,
                            lmbRecordingPiece *piece, lmbError *error )
{
	double *values = malloc( (size_t)grid->count * 10 * sizeof( double ) );
	if ( values == NULL )
		return lmbError_Memory( error );
	double wide = fmax( grid->step, source->stamps.step );
	lmbResample resample = { .count = grid->count,
	                         .times = source->stamps.times + grid->from,
	                         .start = grid->start,
	                         .step = grid->step,
	                         .gridCount = grid->gridCount,
	                         .reach = reader->def->window * wide,
	                         .scratch = values + grid->count };
	lmbStatus status = lmb_statusOk;
	for ( int w = 0; w < reader->width && status == lmb_statusOk; ++w )
	{
		if ( lmbJob_Cancelled( reader->job ) )
			status = lmbJob_CancelledStatus( error );
		int missing = TakeColumn( reader, source, w, grid->from, grid->count, values );
		source->interpolated += missing;
		if ( status != lmb_statusOk )
			break;
		if ( grid->copy )
			for ( int i = 0; i < grid->count; ++i )
				piece->values[(size_t)i * (size_t)reader->width + (size_t)w] = values[i];
		else if ( source->roles[w] == lmb_recordingInput )
			status =
			    lmbResample_Input( &resample, reader->def->hold, values, piece->values + w, reader->width );
		else
			status = lmbResample_Smooth( &resample, values, piece->values + w, reader->width, error );
		if ( status == lmb_statusNumerical )
		{
			char prefix[600];
			snprintf( prefix, sizeof( prefix ), "%.400s: column \"%.150s\"", source->table->path,
			          source->table->names[source->order[w]] );
			lmbError_Prefix( error, prefix );
		}
	}
	free( values );
	return status;
}

/* Nothing that no limb does: the runtime's own bound. Counts what is missing. */
static lmbStatus CheckValues( const lmbRecordingReader *reader, const lmbRecordingSource *source, int from,
                              int to, int *missing, lmbError *error )
{
	const lmbTable *table = source->table;
	for ( int w = 0; w < reader->width; ++w )
		for ( int i = from; i < to; ++i )
		{
			int column = source->order[w], row = source->stamps.rows[i];
			double value = table->columns[column][row];
			*missing += !isfinite( value );
			if ( !( fabs( value * source->columns.factors[column] ) > 1e9 ) )
				continue;
			return lmbError_Set(
			    error, lmb_statusCorrupt,
			    "%s: %s %d: column \"%.200s\" is %g; is it a mark for a missing value? leave such cells "
			    "empty",
			    table->path, table->lines != NULL ? "line" : "row",
			    table->lines != NULL ? table->lines[row] : row + 1, table->names[column], value );
		}
	return lmb_statusOk;
}

static lmbStatus MakePiece( lmbRecordingReader *reader, lmbRecordingSource *source, int from, int to,
                            lmbError *error )
{
	if ( to - from < 2 || to - from < reader->def->fewestSamples / 2 )
	{
		source->tooShort += 1;
		return lmb_statusOk;
	}
	int missing = 0;
	LMB_TRY( CheckValues( reader, source, from, to, &missing, error ) );
	Grid grid = PlanGrid( reader, source, from, to, missing );
	if ( grid.gridCount / 1000 > grid.count )
		return lmbError_Set(
		    error, lmb_statusInvalidArgument,
		    "%s: %d samples would become %d at %g Hz; give a lower rate, or the right unit of time",
		    source->table->path, grid.count, grid.gridCount, 1.0 / grid.step );
	if ( grid.gridCount < reader->def->fewestSamples )
	{
		source->tooShort += 1;
		return lmb_statusOk;
	}
	double *values = LMB_NEW( &reader->arena, double, (size_t)grid.gridCount *(size_t)reader->width );
	source->pieces += 1;
	const char *name = values != NULL ? PieceName( reader, source ) : NULL;
	if ( name == NULL )
		return lmbError_Memory( error );
	lmbRecordingPiece piece = { name, grid.gridCount, grid.step, values };
	source->resampled = source->resampled || !grid.copy;
	LMB_TRY( FillPiece( reader, source, &grid, &piece, error ) );
	return AddPiece( reader, &piece, error );
}

lmbStatus lmbRecordingReader_TakeRun( lmbRecordingReader *reader, lmbRecordingSource *source, int from,
                                      int to, lmbError *error )
{
	const double *times = source->stamps.times;
	size_t room = (size_t)reader->width * ( (size_t)( to - from ) + 2 );
	Cut *cuts = malloc( room * sizeof( *cuts ) );
	if ( cuts == NULL )
		return lmbError_Memory( error );
	int count = FindCuts( source, reader->width, from, to, cuts );
	lmbStatus status = lmb_statusOk;
	double open = -HUGE_VAL; /* where the last cut ends */
	int at = from;
	for ( int i = 0; i < count && status == lmb_statusOk; ++i )
	{
		if ( isfinite( open ) && cuts[i].from >= open )
		{
			while ( at < to && times[at] < open )
				at += 1;
			int end = at;
			while ( end < to && times[end] <= cuts[i].from )
				end += 1;
			status = MakePiece( reader, source, at, end, error );
			at = end;
		}
		open = fmax( open, cuts[i].to );
	}
	free( cuts );
	return status;
}
