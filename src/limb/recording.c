#include "limb/recording_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lmbStatus CheckDef( const lmbRecordingDef *def, lmbError *error )
{
	if ( !( def->timeUnit >= 0.0 && def->timeUnit < 1e6 ) )
		return lmbError_Set( error, lmb_statusInvalidArgument, "time unit: %g s; give seconds, such as 0.001",
		                     def->timeUnit );
	if ( !( def->rate >= 0.0 && def->rate <= 1e6 ) )
		return lmbError_Set( error, lmb_statusInvalidArgument, "rate: %g Hz; give 0 to 1e6 Hz", def->rate );
	if ( !( def->longestGap >= 0.0 && def->longestGap < 1e6 ) )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "longest gap: %g s; give 0 (five steps) or more", def->longestGap );
	if ( !( def->window >= 3.0 && def->window <= 100.0 ) )
		return lmbError_Set( error, lmb_statusInvalidArgument, "window: %g steps; give 3 to 100",
		                     def->window );
	if ( def->fewestSamples < 2 )
		return lmbError_Set( error, lmb_statusInvalidArgument, "fewest samples: %d; give 2 or more",
		                     def->fewestSamples );
	return lmb_statusOk;
}

/* "q1 (deg)" and "q1_deg" are "q1" once in radians. */
static const char *CleanName( lmbArena *arena, const char *name )
{
	char *copy = lmbArena_String( arena, name );
	if ( copy == NULL )
		return NULL;
	char *bracket = strpbrk( copy, "([" );
	size_t length = bracket != NULL && bracket > copy ? (size_t)( bracket - copy ) : strlen( copy );
	static const char *const ends[] = { "_deg", "_rad", "_deg/s", "_rad/s" };
	for ( size_t i = 0; i < sizeof( ends ) / sizeof( ends[0] ); ++i )
		if ( length > strlen( ends[i] ) &&
		     strncmp( copy + length - strlen( ends[i] ), ends[i], strlen( ends[i] ) ) == 0 )
			length -= strlen( ends[i] );
	while ( length > 1 && copy[length - 1] == ' ' )
		length -= 1;
	copy[length] = 0;
	return copy;
}

/* The columns in the order of a piece's values; the first file decides how many there must be. */
static lmbStatus OrderColumns( lmbRecordingReader *reader, lmbRecordingSource *source, lmbError *error )
{
	const int *counts = source->columns.counts;
	bool first = reader->firstPath == NULL;
	for ( int role = lmb_recordingPosition; role < lmb_recordingRoleCount; ++role )
	{
		if ( first )
			reader->counts[role] = counts[role];
		else if ( counts[role] != reader->counts[role] )
			return lmbError_Set( error, lmb_statusInvalidArgument,
			                     "%s: %d columns of %s, but %s has %d; name the columns that all files have",
			                     source->table->path, counts[role],
			                     lmbRecordingRole_Name( (lmbRecordingRole)role ), reader->firstPath,
			                     reader->counts[role] );
		reader->width += first ? counts[role] : 0;
	}
	source->order = LMB_NEW( &source->table->arena, int, reader->width );
	source->roles = LMB_NEW( &source->table->arena, lmbRecordingRole, reader->width );
	if ( first )
		reader->names = LMB_NEW( &reader->arena, const char *, reader->width );
	if ( source->order == NULL || source->roles == NULL || reader->names == NULL )
		return lmbError_Memory( error );
	int w = 0;
	for ( int role = lmb_recordingPosition; role < lmb_recordingRoleCount; ++role )
		for ( int i = 0; i < counts[role]; ++i, ++w )
		{
			source->order[w] = source->columns.items[role][i];
			source->roles[w] = (lmbRecordingRole)role;
			if ( first )
				reader->names[w] = CleanName( &reader->arena, source->table->names[source->order[w]] );
			if ( reader->names[w] == NULL )
				return lmbError_Memory( error );
		}
	reader->firstPath = first ? lmbArena_String( &reader->arena, source->table->path ) : reader->firstPath;
	return reader->firstPath != NULL ? lmb_statusOk : lmbError_Memory( error );
}

/* Notes of the table; those that the first file gave too are said once. */
static lmbStatus PassNotes( lmbRecordingReader *reader, const lmbTable *table, bool first, lmbError *error )
{
	if ( first )
	{
		reader->notes = LMB_NEW( &reader->arena, const char *, table->noteCount );
		if ( reader->notes == NULL )
			return lmbError_Memory( error );
	}
	for ( int i = 0; i < table->noteCount; ++i )
	{
		bool known = false;
		for ( int k = 0; k < reader->noteCount && !first; ++k )
			known = known || strcmp( reader->notes[k], table->notes[i] ) == 0;
		if ( first )
			reader->notes[reader->noteCount++] = lmbArena_String( &reader->arena, table->notes[i] );
		if ( first && reader->notes[reader->noteCount - 1] == NULL )
			return lmbError_Memory( error );
		if ( !known )
			lmbJob_Note( reader->job, "%s: %s", table->path, table->notes[i] );
	}
	return lmb_statusOk;
}

static void NoteStamps( const lmbRecordingReader *reader, const lmbRecordingSource *source )
{
	const lmbRecordingStamps *stamps = &source->stamps;
	const lmbTable *table = source->table;
	const char *path = table->path;
	if ( stamps->missing > 0 )
		lmbJob_Note( reader->job, "%s: %d rows without a time are left out", path, stamps->missing );
	if ( stamps->backwards > 0 )
	{
		int line = table->lines != NULL ? table->lines[stamps->firstBackwards] : stamps->firstBackwards + 1;
		lmbJob_Note( reader->job, "%s: the time runs backwards %d times, first in %s %d; %s", path,
		             stamps->backwards, table->lines != NULL ? "line" : "row", line,
		             stamps->runCount > 1 ? "where it begins anew, a new piece does" : "put in order" );
	}
	if ( stamps->repeated > 0 )
		lmbJob_Note( reader->job, "%s: %d time stamps are there twice; their values are averaged", path,
		             stamps->repeated );
	if ( stamps->gapCount > 0 )
		lmbJob_Note( reader->job, "%s: %d gaps longer than %.4g s, the longest %.4g s: cut there", path,
		             stamps->gapCount, stamps->gap, stamps->gapLargest );
	if ( source->resampled )
		lmbJob_Note( reader->job,
		             "%s: resampled at a constant step (the stamps' jitter is %.3g s, root mean square)",
		             path, stamps->jitter );
	if ( source->interpolated > 0 )
		lmbJob_Note( reader->job, "%s: %d missing values are interpolated", path, source->interpolated );
	if ( source->unwrapped > 0 )
		lmbJob_Note( reader->job, "%s: angles jump by a turn %d times and go on instead", path,
		             source->unwrapped );
	if ( source->tooShort > 0 )
		lmbJob_Note( reader->job, "%s: %d pieces of fewer than %d samples are left out", path,
		             source->tooShort, reader->def->fewestSamples );
}

static lmbStatus TakeTable( lmbRecordingReader *reader, lmbRecordingSource *source, lmbError *error )
{
	lmbTable *table = source->table;
	bool first = reader->firstPath == NULL;
	LMB_TRY( lmbRecordingColumns_Find( table, reader->def, true, &source->columns, error ) );
	LMB_TRY( OrderColumns( reader, source, error ) );
	int dofs = reader->counts[lmb_recordingPosition];
	if ( first && ( reader->slides = LMB_NEW( &reader->arena, bool, dofs ) ) == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < dofs; ++i )
	{
		if ( first )
			reader->slides[i] = source->columns.slides[i];
		else if ( reader->slides[i] != source->columns.slides[i] )
			return lmbError_Set( error, lmb_statusInvalidArgument,
			                     "%s: \"%s\" is %s, but in %s it is not; say which are (slides)", table->path,
			                     table->names[source->order[i]],
			                     source->columns.slides[i] ? "in metres" : "an angle", reader->firstPath );
		if ( reader->def->absolute && reader->slides[i] )
			return lmbError_Set( error, lmb_statusInvalidArgument,
			                     "%s: \"%s\" is in metres; absolute angles are for limbs of hinges only",
			                     table->path, table->names[source->order[i]] );
	}
	LMB_TRY( lmbRecordingStamps_Find( table, reader->def, &source->columns, &source->stamps, error ) );
	LMB_TRY( PassNotes( reader, table, first, error ) );
	for ( int k = 0; k < source->stamps.runCount; ++k )
		LMB_TRY( lmbRecordingReader_TakeRun( reader, source, source->stamps.runs[k],
		                                     source->stamps.runs[k + 1], error ) );
	NoteStamps( reader, source );
	if ( source->pieces == 0 )
		return lmbError_Set(
		    error, lmb_statusCorrupt,
		    "%s: no stretch of %d samples without a gap in a column longer than %.4g s; allow longer gaps "
		    "or shorter pieces, or name fewer columns",
		    table->path, reader->def->fewestSamples, source->stamps.gap );
	return lmb_statusOk;
}

static void MakeRelative( double *values, int count, int dofs )
{
	for ( int i = 0; values != NULL && i < count; ++i )
		for ( int d = dofs - 1; d > 0; --d )
			values[i * (size_t)dofs + (size_t)d] -= values[i * (size_t)dofs + (size_t)d - 1];
}

/* Columns from, .. of a piece into an array of a trajectory. */
static void CopyColumns( const lmbRecordingPiece *piece, int width, int from, int count, double *out )
{
	for ( int i = 0; out != NULL && i < piece->count; ++i )
		for ( int c = 0; c < count; ++c )
			out[i * (size_t)count + (size_t)c] = piece->values[i * (size_t)width + (size_t)( from + c )];
}

static lmbStatus FillTrajectory( const lmbRecordingReader *reader, lmbTrajectories *set, int index,
                                 lmbError *error )
{
	const lmbRecordingPiece *piece = &reader->pieces[index];
	const int *counts = reader->counts;
	int dofs = counts[lmb_recordingPosition], at = 0;
	LMB_TRY( lmbTrajectories_Allocate( set, index, piece->name, piece->count, piece->step,
	                                   counts[lmb_recordingVelocity] > 0,
	                                   counts[lmb_recordingAcceleration] > 0, error ) );
	lmbTrajectory *trajectory = &set->items[index];
	double *arrays[] = { trajectory->positions, trajectory->velocities, trajectory->accelerations,
	                     trajectory->inputs };
	for ( int k = 0; k < 4; ++k )
	{
		int count = counts[lmb_recordingPosition + k];
		CopyColumns( piece, reader->width, at, count, count > 0 ? arrays[k] : NULL );
		if ( k < 3 && reader->def->absolute && count > 0 )
			MakeRelative( arrays[k], piece->count, dofs );
		at += count;
	}
	for ( int d = 0; d < dofs; ++d )
	{
		double low = HUGE_VAL, high = -HUGE_VAL;
		for ( int i = 0; i < piece->count; ++i )
		{
			low = fmin( low, trajectory->positions[i * (size_t)dofs + (size_t)d] );
			high = fmax( high, trajectory->positions[i * (size_t)dofs + (size_t)d] );
		}
		/* More than a turn between the extremes: the joint has no stop. */
		set->turns[d] = set->turns[d] || ( !reader->slides[d] && high - low > 2.0 * acos( -1.0 ) );
	}
	return lmb_statusOk;
}

static lmbStatus MakeSet( const lmbRecordingReader *reader, lmbTrajectories **out, lmbError *error )
{
	int dofs = reader->counts[lmb_recordingPosition], inputs = reader->counts[lmb_recordingInput];
	LMB_TRY( lmbTrajectories_New( dofs, inputs, reader->pieceCount, out, error ) );
	lmbTrajectories *set = *out;
	set->hold = reader->def->hold;
	for ( int i = 0; i < dofs; ++i )
	{
		set->dofNames[i] = lmbArena_String( &set->arena, reader->names[i] );
		set->slides[i] = reader->slides[i];
	}
	bool memory = true;
	for ( int i = 0; i < inputs; ++i )
	{
		set->inputNames[i] = lmbArena_String( &set->arena, reader->names[reader->width - inputs + i] );
		memory = memory && set->inputNames[i] != NULL;
	}
	for ( int i = 0; i < dofs; ++i )
		memory = memory && set->dofNames[i] != NULL;
	if ( !memory )
		return lmbError_Memory( error );
	for ( int i = 0; i < reader->pieceCount; ++i )
		LMB_TRY( FillTrajectory( reader, set, i, error ) );
	for ( int d = 0; d < dofs; ++d )
		if ( set->turns[d] )
			lmbJob_Note( reader->job, "\"%s\" turns fully: only the sine and cosine of its angle will matter",
			             set->dofNames[d] );
	return lmb_statusOk;
}

lmbStatus lmbRecording_Read( const char *const *paths, int pathCount, const lmbRecordingDef *def,
                             const lmbJob *job, lmbTrajectories **out, lmbError *error )
{
	*out = NULL;
	LMB_TRY( CheckDef( def, error ) );
	if ( pathCount < 1 )
		return lmbError_Set( error, lmb_statusInvalidArgument, "no recordings; name at least one file" );
	lmbRecordingReader reader = { .def = def, .job = job };
	lmbStatus status = lmb_statusOk;
	for ( int i = 0; i < pathCount && status == lmb_statusOk; ++i )
	{
		lmbRecordingSource source = { 0 };
		status = lmbJob_Cancelled( job ) ? lmbJob_CancelledStatus( error )
		                                 : lmbTable_Read( paths[i], &def->table, &source.table, error );
		if ( status == lmb_statusOk )
			status = TakeTable( &reader, &source, error );
		lmbTable_Free( source.table );
		lmbJob_Progress( job, "recordings", i + 1, pathCount, "" );
	}
	if ( status == lmb_statusOk )
		status = MakeSet( &reader, out, error );
	if ( status != lmb_statusOk )
	{
		lmbTrajectories_Free( *out );
		*out = NULL;
	}
	lmbArena_Free( &reader.arena );
	return status;
}
