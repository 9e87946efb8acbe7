#include "flesh/fit.h"

#include "formats/safetensors.h"

#include <stdlib.h>
#include <string.h>

void lmbSprings_Free( lmbSprings *springs )
{
	if ( springs == NULL )
		return;
	lmbArena_Free( &springs->arena );
	free( springs );
}

enum
{
	fieldRank = 3,
	countCount = 6
};

/* An array of doubles of lmbSprings as the file has it. A size of 0 ends the shape. */
typedef struct Field
{
	const char *name;
	double **values;
	int64_t shape[fieldRank];
	bool damping; /* may be 0; stiffness may not */
	bool signless;
} Field;

enum
{
	fieldCount = 13
};

static void ListFields( lmbSprings *s, Field *fields )
{
	const int64_t v = s->vertexCount, m = s->modeCount, f = s->featureCount;
	const Field list[fieldCount] = {
	    { "vertex_stiffness", &s->vertexStiffness, { v }, false, true },
	    { "vertex_damping", &s->vertexDamping, { v }, true, true },
	    { "mode_stiffness", &s->modeStiffness, { m }, false, true },
	    { "mode_damping", &s->modeDamping, { m }, true, true },
	    { "mode_stiffness_unfitted", &s->modeStiffnessUnfitted, { m }, false, true },
	    { "mode_damping_unfitted", &s->modeDampingUnfitted, { m }, true, true },
	    { "remainder_stiffness", &s->remainderStiffness, { v }, false, true },
	    { "remainder_damping", &s->remainderDamping, { v }, true, true },
	    { "skin_shapes", &s->skinShapes, { m, v, 3 }, false, false },
	    { "bone_forcing", &s->boneForcing, { m, s->pairCount, 12 }, false, false },
	    { "coefficient_forcing", &s->coefficientForcing, { m, s->coefficientCount }, false, false },
	    { "pose_stiffness", &s->stiffnessWeights, { m, f + 1 }, false, false },
	    { "pose_stiffness_range", &s->stiffnessRange, { m, 2 }, false, false },
	};
	memcpy( fields, list, sizeof( list ) );
}

static int Rank( const Field *field )
{
	int rank = 1;
	while ( rank < fieldRank && field->shape[rank] > 0 )
		rank += 1;
	return rank;
}

lmbStatus lmbSprings_Write( const lmbSprings *springs, const char *path, lmbError *error )
{
	lmbTensorWriter *writer = calloc( 1, sizeof( *writer ) );
	if ( writer == NULL )
		return lmbError_Memory( error );
	lmbTensorWriter_Metadata( writer, "format", "limber.springs" );
	lmbTensorWriter_Metadata( writer, "version", "2" );
	lmbSprings copy = *springs;
	const int64_t counts[countCount] = { copy.vertexCount,      copy.modeCount, copy.boneCount,
	                                     copy.coefficientCount, copy.pairCount, copy.featureCount };
	const int64_t countShape[1] = { countCount }, pairShape[2] = { copy.pairCount, 2 };
	lmbTensorWriter_Add( writer, "counts", lmb_dataI64, 1, countShape, counts );
	Field fields[fieldCount];
	ListFields( &copy, fields );
	for ( int i = 0; i < fieldCount; ++i )
		if ( *fields[i].values != NULL )
			lmbTensorWriter_Add( writer, fields[i].name, lmb_dataF64, Rank( &fields[i] ), fields[i].shape,
			                     *fields[i].values );
	if ( copy.pairs != NULL )
		lmbTensorWriter_Add( writer, "pairs", lmb_dataI32, 2, pairShape, copy.pairs );
	lmbStatus status = lmbTensorWriter_Write( writer, path, error );
	free( writer );
	return status;
}

static lmbStatus ReadCounts( const lmbTensorFile *file, lmbSprings *springs, lmbError *error )
{
	int64_t shape[1] = { countCount };
	const void *data;
	LMB_TRY( lmbTensorFile_Get( file, "counts", lmb_dataI64, 1, shape, &data, error ) );
	const int64_t *counts = data;
	const int64_t limits[countCount] = { INT32_MAX / 3, 65536, 65536, 65536, INT32_MAX / 2, 9 * 65536 };
	for ( int i = 0; i < countCount; ++i )
		if ( counts[i] < 0 || counts[i] > limits[i] )
			return lmbError_Set( error, lmb_statusCorrupt, "%s: counts[%d] = %lld must lie in [0, %lld]",
			                     file->path, i, (long long)counts[i], (long long)limits[i] );
	springs->vertexCount = (int)counts[0];
	springs->modeCount = (int)counts[1];
	springs->boneCount = (int)counts[2];
	springs->coefficientCount = (int)counts[3];
	springs->pairCount = (int)counts[4];
	springs->featureCount = (int)counts[5];
	return lmb_statusOk;
}

static lmbStatus ReadField( const lmbTensorFile *file, const Field *field, lmbSprings *springs,
                            lmbError *error )
{
	if ( !lmbTensorFile_Has( file, field->name ) )
		return lmb_statusOk;
	int64_t shape[fieldRank];
	const void *data;
	memcpy( shape, field->shape, sizeof( shape ) );
	LMB_TRY( lmbTensorFile_Get( file, field->name, lmb_dataF64, Rank( field ), shape, &data, error ) );
	size_t count = 1;
	for ( int i = 0; i < Rank( field ); ++i )
		count *= (size_t)shape[i];
	double *values = LMB_NEW( &springs->arena, double, count );
	if ( values == NULL )
		return lmbError_Memory( error );
	memcpy( values, data, count * sizeof( double ) );
	for ( size_t i = 0; field->signless && i < count; ++i )
		if ( !( field->damping ? values[i] >= 0.0 : values[i] > 0.0 ) )
			return lmbError_Set( error, lmb_statusCorrupt, "%s: %s[%zu] = %g must be %s", file->path,
			                     field->name, i, values[i], field->damping ? "0 or more" : "above 0" );
	*field->values = values;
	return lmb_statusOk;
}

static lmbStatus ReadPairs( const lmbTensorFile *file, lmbSprings *springs, lmbError *error )
{
	if ( !lmbTensorFile_Has( file, "pairs" ) )
		return lmb_statusOk;
	int64_t shape[2] = { springs->pairCount, 2 };
	const void *data;
	LMB_TRY( lmbTensorFile_Get( file, "pairs", lmb_dataI32, 2, shape, &data, error ) );
	size_t count = 2 * (size_t)springs->pairCount;
	springs->pairs = LMB_NEW( &springs->arena, int32_t, count );
	if ( springs->pairs == NULL )
		return lmbError_Memory( error );
	memcpy( springs->pairs, data, count * sizeof( int32_t ) );
	for ( size_t i = 0; i < count; ++i )
		if ( springs->pairs[i] < 0 || springs->pairs[i] >= springs->boneCount )
			return lmbError_Set( error, lmb_statusCorrupt, "%s: pairs[%zu] = %d is not a bone", file->path, i,
			                     (int)springs->pairs[i] );
	return lmb_statusOk;
}

/* What belongs together must be there together. */
static lmbStatus CheckWhole( const lmbTensorFile *file, const lmbSprings *s, lmbError *error )
{
	bool modes = s->modeCount > 0;
	const char *missing = NULL;
	if ( ( s->vertexStiffness == NULL ) != ( s->vertexDamping == NULL ) )
		missing = "vertex_stiffness or vertex_damping";
	if ( ( s->modeStiffness == NULL ) != ( s->modeDamping == NULL ) )
		missing = "mode_stiffness or mode_damping";
	if ( ( s->remainderStiffness == NULL ) != ( s->remainderDamping == NULL ) )
		missing = "remainder_stiffness or remainder_damping";
	if ( modes && ( s->modeStiffnessUnfitted == NULL || s->modeDampingUnfitted == NULL ||
	                s->skinShapes == NULL || s->pairs == NULL || s->boneForcing == NULL ) )
		missing = "an array of the modes";
	if ( ( s->stiffnessWeights == NULL ) != ( s->stiffnessRange == NULL ) )
		missing = "pose_stiffness or pose_stiffness_range";
	if ( s->coefficientCount > 0 && s->coefficientForcing == NULL )
		missing = "coefficient_forcing";
	if ( missing != NULL )
		return lmbError_Set( error, lmb_statusCorrupt, "%s: %s is missing; run `limber fit` again",
		                     file->path, missing );
	return lmb_statusOk;
}

static lmbStatus ReadSprings( const lmbTensorFile *file, lmbSprings *springs, lmbError *error )
{
	LMB_TRY( ReadCounts( file, springs, error ) );
	Field fields[fieldCount];
	ListFields( springs, fields );
	for ( int i = 0; i < fieldCount; ++i )
		LMB_TRY( ReadField( file, &fields[i], springs, error ) );
	LMB_TRY( ReadPairs( file, springs, error ) );
	return CheckWhole( file, springs, error );
}

lmbStatus lmbSprings_Load( const char *path, lmbSprings **out, lmbError *error )
{
	*out = NULL;
	lmbSprings *springs = calloc( 1, sizeof( *springs ) );
	lmbTensorFile *file = calloc( 1, sizeof( *file ) );
	lmbStatus status = springs == NULL || file == NULL ? lmbError_Memory( error ) : lmb_statusOk;
	if ( status == lmb_statusOk )
	{
		status = lmbTensorFile_Open( file, path, "limber.springs", 2, error );
		if ( status == lmb_statusOk )
			status = ReadSprings( file, springs, error );
		lmbTensorFile_Close( file );
	}
	free( file );
	if ( status != lmb_statusOk )
		lmbSprings_Free( springs );
	else
		*out = springs;
	return status;
}
