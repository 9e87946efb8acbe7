#include "flesh/modes.h"

#include "formats/safetensors.h"

#include <stdlib.h>
#include <string.h>

void lmbModes_Free( lmbModes *modes )
{
	if ( modes == NULL )
		return;
	lmbArena_Free( &modes->arena );
	free( modes );
}

lmbStatus lmbModes_Write( const lmbModes *modes, const char *path, lmbError *error )
{
	lmbTensorWriter *writer = calloc( 1, sizeof( *writer ) );
	if ( writer == NULL )
		return lmbError_Memory( error );
	lmbTensorWriter_Metadata( writer, "format", "limber.modes" );
	lmbTensorWriter_Metadata( writer, "version", "1" );
	const int64_t shape[3] = { modes->count, modes->nodeCount, 3 };
	lmbTensorWriter_Add( writer, "omega_squared", lmb_dataF64, 1, shape, modes->omegaSquared );
	lmbTensorWriter_Add( writer, "residual", lmb_dataF64, 1, shape, modes->residual );
	lmbTensorWriter_Add( writer, "shapes", lmb_dataF64, 3, shape, modes->shapes );
	lmbStatus status = lmbTensorWriter_Write( writer, path, error );
	free( writer );
	return status;
}

static lmbStatus ReadModes( const lmbTensorFile *file, lmbModes *modes, lmbError *error )
{
	int64_t shape[3] = { -1, -1, 3 };
	const void *shapes, *omegaSquared, *residual;
	LMB_TRY( lmbTensorFile_Get( file, "shapes", lmb_dataF64, 3, shape, &shapes, error ) );
	LMB_TRY( lmbTensorFile_Get( file, "omega_squared", lmb_dataF64, 1, shape, &omegaSquared, error ) );
	LMB_TRY( lmbTensorFile_Get( file, "residual", lmb_dataF64, 1, shape, &residual, error ) );
	if ( shape[0] < 1 || shape[0] > 65536 || shape[1] < 1 || shape[1] > INT32_MAX / 3 )
		return lmbError_Set( error, lmb_statusCorrupt, "%s: %lld modes of %lld nodes are out of range",
		                     file->path, (long long)shape[0], (long long)shape[1] );
	size_t count = (size_t)shape[0], values = count * (size_t)shape[1] * 3;
	modes->count = (int)count;
	modes->nodeCount = (int)shape[1];
	modes->omegaSquared = LMB_NEW( &modes->arena, double, count );
	modes->residual = LMB_NEW( &modes->arena, double, count );
	modes->shapes = LMB_NEW( &modes->arena, double, values );
	if ( modes->omegaSquared == NULL || modes->residual == NULL || modes->shapes == NULL )
		return lmbError_Memory( error );
	memcpy( modes->omegaSquared, omegaSquared, count * sizeof( double ) );
	memcpy( modes->residual, residual, count * sizeof( double ) );
	memcpy( modes->shapes, shapes, values * sizeof( double ) );
	for ( size_t m = 0; m < count; ++m )
		if ( !( modes->omegaSquared[m] > 0.0 ) ||
		     ( m > 0 && modes->omegaSquared[m] < modes->omegaSquared[m - 1] ) )
			return lmbError_Set( error, lmb_statusCorrupt,
			                     "%s: omega_squared must be positive and ascending, and is not at mode %d",
			                     file->path, (int)m );
	return lmb_statusOk;
}

lmbStatus lmbModes_Load( const char *path, lmbModes **out, lmbError *error )
{
	*out = NULL;
	lmbModes *modes = calloc( 1, sizeof( *modes ) );
	lmbTensorFile *file = calloc( 1, sizeof( *file ) );
	lmbStatus status = modes == NULL || file == NULL ? lmbError_Memory( error ) : lmb_statusOk;
	if ( status == lmb_statusOk )
	{
		status = lmbTensorFile_Open( file, path, "limber.modes", 1, error );
		if ( status == lmb_statusOk )
			status = ReadModes( file, modes, error );
		lmbTensorFile_Close( file );
	}
	free( file );
	if ( status != lmb_statusOk )
		lmbModes_Free( modes );
	else
		*out = modes;
	return status;
}
