/* docs/formats/trajectories.md: the samples of all trajectories one after another in a few arrays. */
#include "formats/safetensors.h"
#include "limb/trajectory.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
	kindCount = 4,
	formatVersion = 1
};

/* The arrays that a trajectory may have, in the order of lmbTrajectory. */
static const struct
{
	const char *array, *flag; /* flag NULL: all trajectories have it */
	size_t place;
	bool input;
} kinds[kindCount] = {
    { "positions", NULL, offsetof( lmbTrajectory, positions ), false },
    { "velocities", "trajectories.velocities", offsetof( lmbTrajectory, velocities ), false },
    { "accelerations", "trajectories.accelerations", offsetof( lmbTrajectory, accelerations ), false },
    { "inputs", NULL, offsetof( lmbTrajectory, inputs ), true },
};

static double **Numbers( lmbTrajectory *item, int kind )
{
	return (double **)(void *)( (char *)item + kinds[kind].place );
}

static const double *ConstNumbers( const lmbTrajectory *item, int kind )
{
	return *(double *const *)(const void *)( (const char *)item + kinds[kind].place );
}

static int Columns( const lmbTrajectories *set, int kind )
{
	return kinds[kind].input ? set->inputCount : set->dofCount;
}

static lmbStatus CheckItem( const lmbTrajectories *set, const lmbTrajectory *item, lmbError *error )
{
	if ( item->name == NULL || item->sampleCount < 1 || !( item->step > 0.0 ) || !isfinite( item->step ) ||
	     item->positions == NULL || ( set->inputCount > 0 && item->inputs == NULL ) )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "trajectory %d, \"%s\", is not complete: it takes a name, samples, a step above "
		                     "0, positions and inputs",
		                     (int)( item - set->items ), item->name != NULL ? item->name : "" );
	for ( int kind = 0; kind < kindCount; ++kind )
	{
		const double *numbers = ConstNumbers( item, kind );
		size_t columns = (size_t)Columns( set, kind ), count = (size_t)item->sampleCount * columns;
		for ( size_t i = 0; numbers != NULL && i < count; ++i )
			if ( !isfinite( numbers[i] ) )
				return lmbError_Set(
				    error, lmb_statusNumerical,
				    "trajectory \"%s\": %s of sample %zu, column %zu, is not a finite number", item->name,
				    kinds[kind].array, i / columns, i % columns );
	}
	return lmb_statusOk;
}

static void AddNames( lmbTensorWriter *writer, const char *tensor, const char *const *names, size_t stride,
                      int count, lmbArena *arena )
{
	size_t size = 0, at = 0;
	for ( int i = 0; i < count; ++i )
		size += strlen( *(const char *const *)(const void *)( (const char *)names + i * stride ) ) + 1;
	char *joined = LMB_NEW( arena, char, size + 1 );
	writer->overflow = writer->overflow || joined == NULL;
	for ( int i = 0; i < count && joined != NULL; ++i )
	{
		const char *name = *(const char *const *)(const void *)( (const char *)names + i * stride );
		size_t length = strlen( name ) + 1;
		memcpy( joined + at, name, length );
		at += length;
	}
	lmbTensorWriter_Add( writer, tensor, lmb_dataU8, 1, ( int64_t[] ){ (int64_t)size }, joined );
}

static lmbStatus AddFlags( lmbTensorWriter *writer, const char *tensor, const bool *flags, int count,
                           lmbArena *arena, lmbError *error )
{
	int32_t *numbers = LMB_NEW( arena, int32_t, count );
	if ( numbers == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < count; ++i )
		numbers[i] = flags[i] ? 1 : 0;
	lmbTensorWriter_Add( writer, tensor, lmb_dataI32, 1, ( int64_t[] ){ count }, numbers );
	return lmb_statusOk;
}

/* All rows of one kind, from the trajectories that have it. */
static lmbStatus AddKind( lmbTensorWriter *writer, const lmbTrajectories *set, int kind, lmbArena *arena,
                          lmbError *error )
{
	size_t rows = 0, at = 0, columns = (size_t)Columns( set, kind );
	bool *has = LMB_NEW( arena, bool, set->count );
	if ( has == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < set->count; ++i )
	{
		has[i] = columns > 0 && ConstNumbers( &set->items[i], kind ) != NULL;
		rows += has[i] ? (size_t)set->items[i].sampleCount : 0;
	}
	if ( kinds[kind].flag != NULL )
		LMB_TRY( AddFlags( writer, kinds[kind].flag, has, set->count, arena, error ) );
	if ( rows == 0 )
		return lmb_statusOk;
	double *all = LMB_NEW( arena, double, rows *columns );
	if ( all == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < set->count; ++i )
	{
		size_t numbers = (size_t)set->items[i].sampleCount * columns;
		if ( !has[i] )
			continue;
		memcpy( all + at, ConstNumbers( &set->items[i], kind ), numbers * sizeof( double ) );
		at += numbers;
	}
	lmbTensorWriter_Add( writer, kinds[kind].array, lmb_dataF64, 2,
	                     ( int64_t[] ){ (int64_t)rows, (int64_t)columns }, all );
	return lmb_statusOk;
}

static lmbStatus AddSet( lmbTensorWriter *writer, const lmbTrajectories *set, lmbArena *arena,
                         lmbError *error )
{
	int64_t count = set->count;
	int32_t *samples = LMB_NEW( arena, int32_t, set->count );
	double *steps = LMB_NEW( arena, double, set->count );
	if ( samples == NULL || steps == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < set->count; ++i )
	{
		samples[i] = set->items[i].sampleCount;
		steps[i] = set->items[i].step;
	}
	lmbTensorWriter_Metadata( writer, "format", "limber.trajectories" );
	lmbTensorWriter_Metadata( writer, "version", "1" );
	lmbTensorWriter_Metadata( writer, "hold", set->hold == lmb_inputLinear ? "linear" : "held" );
	AddNames( writer, "dofs.names", set->dofNames, sizeof( char * ), set->dofCount, arena );
	LMB_TRY( AddFlags( writer, "dofs.slides", set->slides, set->dofCount, arena, error ) );
	LMB_TRY( AddFlags( writer, "dofs.turns", set->turns, set->dofCount, arena, error ) );
	AddNames( writer, "inputs.names", set->inputNames, sizeof( char * ), set->inputCount, arena );
	AddNames( writer, "trajectories.names", &set->items[0].name, sizeof( lmbTrajectory ), set->count, arena );
	lmbTensorWriter_Add( writer, "trajectories.samples", lmb_dataI32, 1, &count, samples );
	lmbTensorWriter_Add( writer, "trajectories.steps", lmb_dataF64, 1, &count, steps );
	for ( int kind = 0; kind < kindCount; ++kind )
		LMB_TRY( AddKind( writer, set, kind, arena, error ) );
	return lmb_statusOk;
}

static lmbStatus SaveInto( lmbTensorWriter *writer, lmbArena *arena, const lmbTrajectories *set,
                           const char *path, lmbError *error )
{
	for ( int i = 0; i < set->count; ++i )
		LMB_TRY( CheckItem( set, &set->items[i], error ) );
	LMB_TRY( lmbTrajectories_CheckNames( set, error ) );
	LMB_TRY( AddSet( writer, set, arena, error ) );
	return lmbTensorWriter_Write( writer, path, error );
}

lmbStatus lmbTrajectories_Save( const lmbTrajectories *set, const char *path, lmbError *error )
{
	lmbArena arena = { 0 };
	lmbTensorWriter *writer = LMB_NEW( &arena, lmbTensorWriter, 1 );
	lmbStatus status =
	    writer != NULL ? SaveInto( writer, &arena, set, path, error ) : lmbError_Memory( error );
	lmbArena_Free( &arena );
	return status;
}

static lmbStatus Damaged( const lmbTensorFile *file, const char *array, const char *what, lmbError *error )
{
	return lmbError_Set( error, lmb_statusCorrupt, "%s: array \"%s\" %s; make the file again", file->path,
	                     array, what );
}

/* count strings, each with its zero, well-formed UTF-8, not empty; into names with a stride. */
static lmbStatus ReadNames( const lmbTensorFile *file, const char *array, int count, const char **names,
                            size_t stride, lmbArena *arena, lmbError *error )
{
	int64_t size = -1;
	const void *data;
	LMB_TRY( lmbTensorFile_Get( file, array, lmb_dataU8, 1, &size, &data, error ) );
	const uint8_t *at = data, *end = at + size;
	for ( int i = 0; i < count; ++i )
	{
		const uint8_t *zero = at < end ? memchr( at, 0, (size_t)( end - at ) ) : NULL;
		if ( zero == NULL || zero == at )
			return Damaged( file, array, "does not hold a name for each", error );
		for ( const uint8_t *c = at; c < zero; )
		{
			int length = lmbUtf8_Length( c, zero );
			if ( length == 0 )
				return Damaged( file, array, "is not UTF-8", error );
			c += length;
		}
		const char *name = lmbArena_String( arena, (const char *)at );
		if ( name == NULL )
			return lmbError_Memory( error );
		*(const char **)(void *)( (char *)names + i * stride ) = name;
		at = zero + 1;
	}
	return at == end ? lmb_statusOk : Damaged( file, array, "holds more names than needed", error );
}

static lmbStatus ReadFlags( const lmbTensorFile *file, const char *array, int count, bool *flags,
                            lmbError *error )
{
	int64_t length = count;
	const void *data;
	LMB_TRY( lmbTensorFile_Get( file, array, lmb_dataI32, 1, &length, &data, error ) );
	const int32_t *numbers = data;
	for ( int i = 0; i < count; ++i )
	{
		if ( numbers[i] != 0 && numbers[i] != 1 )
			return Damaged( file, array, "has a number that is neither 0 nor 1", error );
		flags[i] = numbers[i] == 1;
	}
	return lmb_statusOk;
}

static lmbStatus ReadKind( const lmbTensorFile *file, lmbTrajectories *set, int kind, lmbError *error )
{
	lmbArena scratch = { 0 };
	int64_t rows = 0, columns = Columns( set, kind );
	bool *has = LMB_NEW( &scratch, bool, set->count );
	if ( has == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < set->count; ++i )
		has[i] = columns > 0;
	lmbStatus status = lmb_statusOk;
	if ( kinds[kind].flag != NULL )
		status = ReadFlags( file, kinds[kind].flag, set->count, has, error );
	for ( int i = 0; i < set->count; ++i )
		rows += has[i] ? set->items[i].sampleCount : 0;
	const void *data = NULL;
	double *all = NULL;
	if ( status == lmb_statusOk && rows > 0 )
		status = lmbTensorFile_Get( file, kinds[kind].array, lmb_dataF64, 2, ( int64_t[] ){ rows, columns },
		                            &data, error );
	if ( status == lmb_statusOk && rows > 0 )
	{
		all = LMB_NEW( &set->arena, double, (size_t)rows *(size_t)columns );
		status = all != NULL ? lmb_statusOk : lmbError_Memory( error );
	}
	if ( status == lmb_statusOk && rows > 0 )
		memcpy( all, data, (size_t)rows * (size_t)columns * sizeof( double ) );
	for ( int i = 0; i < set->count && status == lmb_statusOk; ++i )
	{
		if ( !has[i] )
			continue;
		*Numbers( &set->items[i], kind ) = all;
		all += (size_t)set->items[i].sampleCount * (size_t)columns;
	}
	lmbArena_Free( &scratch );
	return status;
}

static lmbStatus ReadItems( const lmbTensorFile *file, lmbTrajectories *set, lmbError *error )
{
	int64_t count = set->count;
	const void *samples, *steps;
	LMB_TRY( lmbTensorFile_Get( file, "trajectories.samples", lmb_dataI32, 1, &count, &samples, error ) );
	LMB_TRY( lmbTensorFile_Get( file, "trajectories.steps", lmb_dataF64, 1, &count, &steps, error ) );
	for ( int i = 0; i < set->count; ++i )
	{
		set->items[i].sampleCount = ( (const int32_t *)samples )[i];
		set->items[i].step = ( (const double *)steps )[i];
		if ( set->items[i].sampleCount < 1 )
			return Damaged( file, "trajectories.samples", "has a number below 1", error );
		if ( !( set->items[i].step > 0.0 ) )
			return Damaged( file, "trajectories.steps", "has a number that is not above 0", error );
	}
	LMB_TRY( ReadNames( file, "trajectories.names", set->count, &set->items[0].name, sizeof( lmbTrajectory ),
	                    &set->arena, error ) );
	if ( lmbTrajectories_CheckNames( set, error ) != lmb_statusOk )
		return lmbError_Prefix( error, file->path );
	for ( int kind = 0; kind < kindCount; ++kind )
		LMB_TRY( ReadKind( file, set, kind, error ) );
	return lmb_statusOk;
}

static lmbStatus CountNames( const lmbTensorFile *file, const char *array, int limit, int *count,
                             lmbError *error )
{
	int64_t size = -1;
	const void *data;
	LMB_TRY( lmbTensorFile_Get( file, array, lmb_dataU8, 1, &size, &data, error ) );
	int64_t zeros = 0;
	for ( int64_t i = 0; i < size; ++i )
		zeros += ( (const uint8_t *)data )[i] == 0;
	if ( zeros > limit )
		return Damaged( file, array, "holds more names than a limb may have", error );
	*count = (int)zeros;
	return lmb_statusOk;
}

static lmbStatus ReadSet( const lmbTensorFile *file, lmbTrajectories **out, lmbError *error )
{
	char hold[16];
	int dofs = 0, inputs = 0;
	int64_t count = -1;
	const void *samples;
	if ( !lmbTensorFile_Metadata( file, "hold", hold, sizeof( hold ) ) ||
	     ( strcmp( hold, "held" ) != 0 && strcmp( hold, "linear" ) != 0 ) )
		return lmbError_Set( error, lmb_statusCorrupt,
		                     "%s: the metadata string \"hold\" must be held or linear; make the file again",
		                     file->path );
	LMB_TRY( CountNames( file, "dofs.names", lmbLimbMaxDofs, &dofs, error ) );
	LMB_TRY( CountNames( file, "inputs.names", lmbLimbMaxInputs, &inputs, error ) );
	LMB_TRY( lmbTensorFile_Get( file, "trajectories.samples", lmb_dataI32, 1, &count, &samples, error ) );
	if ( dofs < 1 || count < 1 || count > INT_MAX )
		return Damaged( file, dofs < 1 ? "dofs.names" : "trajectories.samples", "is empty or too long",
		                error );
	LMB_TRY( lmbTrajectories_New( dofs, inputs, (int)count, out, error ) );
	lmbTrajectories *set = *out;
	set->hold = strcmp( hold, "linear" ) == 0 ? lmb_inputLinear : lmb_inputHeld;
	LMB_TRY( ReadNames( file, "dofs.names", dofs, set->dofNames, sizeof( char * ), &set->arena, error ) );
	LMB_TRY(
	    ReadNames( file, "inputs.names", inputs, set->inputNames, sizeof( char * ), &set->arena, error ) );
	LMB_TRY( ReadFlags( file, "dofs.slides", dofs, set->slides, error ) );
	LMB_TRY( ReadFlags( file, "dofs.turns", dofs, set->turns, error ) );
	return ReadItems( file, set, error );
}

lmbStatus lmbTrajectories_Load( const char *path, lmbTrajectories **out, lmbError *error )
{
	lmbTensorFile file;
	lmbTrajectories *set = NULL;
	*out = NULL;
	lmbStatus status = lmbTensorFile_Open( &file, path, "limber.trajectories", formatVersion, error );
	if ( status == lmb_statusOk )
		status = ReadSet( &file, &set, error );
	lmbTensorFile_Close( &file );
	if ( status != lmb_statusOk )
	{
		lmbTrajectories_Free( set );
		return status;
	}
	*out = set;
	return lmb_statusOk;
}
