/* Tables as MATLAB's level 5 files: `data`, one matrix, and `names`, a cell of its columns' names. */
#include "base/files.h"
#include "formats/table.h"

#include <iconv.h>
#include <matio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Without a header of our own the date would be in the file, and the same table give other bytes. */
static const char header[] = "MATLAB 5.0 MAT-file, written by Limber";

/* MATLAB itself stops here in files of this level. */
static const size_t largestMatrix = (size_t)1 << 31;

/* A name as a row of characters: UTF-16, as MATLAB has them, since its readers count units and not
 * characters. NULL: no memory, or no UTF-8. */
static matvar_t *Name( const char *name )
{
	const uint16_t one = 1;
	size_t inLeft = strlen( name ), outLeft = 2 * inLeft;
	uint16_t *units = malloc( outLeft > 0 ? outLeft : 1 );
	iconv_t convert = iconv_open( *(const char *)&one == 1 ? "UTF-16LE" : "UTF-16BE", "UTF-8" );
	matvar_t *result = NULL;
	if ( units != NULL && convert != (iconv_t)-1 )
	{
		char *in = (char *)name, *out = (char *)units;
		if ( iconv( convert, &in, &inLeft, &out, &outLeft ) != (size_t)-1 )
		{
			size_t dims[2] = { 1, strlen( name ) - outLeft / 2 };
			result = Mat_VarCreate( NULL, MAT_C_CHAR, MAT_T_UTF16, 2, dims, units, 0 );
		}
	}
	if ( convert != (iconv_t)-1 )
		iconv_close( convert );
	free( units );
	return result;
}

static matvar_t *Names( const lmbTable *table )
{
	size_t count = (size_t)table->columnCount, dims[2] = { 1, count };
	matvar_t **cells = calloc( count, sizeof( matvar_t * ) ), *result = NULL;
	bool good = cells != NULL;
	for ( size_t c = 0; c < count && good; ++c )
		good = ( cells[c] = Name( table->names[c] ) ) != NULL;
	if ( good )
		result = Mat_VarCreate( "names", MAT_C_CELL, MAT_T_CELL, 2, dims, cells, 0 );
	for ( size_t c = 0; c < count && result == NULL && cells != NULL; ++c )
		Mat_VarFree( cells[c] );
	free( cells );
	return result;
}

static bool WriteVariables( const char *path, matvar_t *names, matvar_t *data )
{
	mat_t *file = Mat_CreateVer( path, header, MAT_FT_MAT5 );
	if ( file == NULL )
		return false;
	bool written = Mat_VarWrite( file, data, MAT_COMPRESSION_NONE ) == 0 &&
	               Mat_VarWrite( file, names, MAT_COMPRESSION_NONE ) == 0;
	return Mat_Close( file ) == 0 && written;
}

/* matio does not tell when a disk is full, so what it wrote is read again. */
static bool IsThere( const char *path, const matvar_t *data )
{
	mat_t *file = Mat_Open( path, MAT_ACC_RDONLY );
	if ( file == NULL )
		return false;
	matvar_t *back = Mat_VarRead( file, "data" ), *names = Mat_VarRead( file, "names" );
	bool same = back != NULL && back->data != NULL && back->nbytes == data->nbytes &&
	            memcmp( back->data, data->data, data->nbytes ) == 0 && names != NULL && names->data != NULL;
	size_t count = same ? names->nbytes / sizeof( matvar_t * ) : 0;
	for ( size_t c = 0; c < count && same; ++c )
		same = ( (matvar_t **)names->data )[c] != NULL && ( (matvar_t **)names->data )[c]->data != NULL;
	Mat_VarFree( back );
	Mat_VarFree( names );
	Mat_Close( file );
	return same;
}

/* matio opens files by name, so it writes through the temporary name that the writer holds open. */
static lmbStatus WriteFile( const lmbTable *table, const lmbFileWriter *writer, lmbError *error )
{
	size_t rows = (size_t)table->rowCount, dims[2] = { rows, (size_t)table->columnCount };
	double *values = malloc( dims[0] * dims[1] * sizeof( double ) );
	if ( values == NULL )
		return lmbError_Memory( error );
	for ( size_t c = 0; c < dims[1]; ++c )
		memcpy( values + c * rows, table->columns[c], rows * sizeof( double ) );
	matvar_t *data =
	    Mat_VarCreate( "data", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, dims, values, MAT_F_DONT_COPY_DATA );
	matvar_t *names = Names( table );
	lmbStatus status = lmb_statusOk;
	if ( data == NULL )
		status = lmbError_Memory( error );
	else if ( names == NULL )
		status = lmbError_Set( error, lmb_statusUnsupported,
		                       "%s: the name of a column is no UTF-8; write CSV or rename it", writer->path );
	else if ( !WriteVariables( writer->temporary, names, data ) || !IsThere( writer->temporary, data ) )
		status = lmbError_Set( error, lmb_statusIo, "%s: cannot write; is the disk full?", writer->path );
	Mat_VarFree( names );
	Mat_VarFree( data );
	free( values );
	return status;
}

lmbStatus lmbTable_WriteMatlab( const lmbTable *table, const char *path, lmbError *error )
{
	lmbFileWriter writer = { 0 };
	size_t numbers = (size_t)table->rowCount * (size_t)table->columnCount;
	if ( numbers >= largestMatrix / sizeof( double ) )
		return lmbError_Set( error, lmb_statusUnsupported,
		                     "%s: %zu numbers; MATLAB's files of level 5 hold 2 GiB, so write .npz or CSV",
		                     path, numbers );
	LMB_TRY( lmbFileWriter_Open( &writer, path, error ) );
	lmbStatus status = WriteFile( table, &writer, error );
	if ( status == lmb_statusOk )
		return lmbFileWriter_Commit( &writer, error );
	lmbFileWriter_Abort( &writer );
	return status;
}
