#include "evaluate/details_file.h"

#include "base/files.h"

#include <math.h>

json_t *lmbDetails_Number( double value )
{
	return isfinite( value ) ? json_real( value ) : json_null();
}

json_t *lmbDetails_Numbers( const double *values, size_t count, double scale )
{
	if ( values == NULL )
		return NULL;
	json_t *array = json_array();
	for ( size_t i = 0; i < count; ++i )
		json_array_append_new( array, lmbDetails_Number( scale * values[i] ) );
	return array;
}

lmbStatus lmbDetailsFile_Write( json_t *document, const char *path, lmbError *error )
{
	if ( document == NULL )
		return lmbError_Memory( error );
	lmbFileWriter writer;
	lmbStatus status = lmbFileWriter_Open( &writer, path, error );
	if ( status == lmb_statusOk )
	{
		if ( json_dumpf( document, writer.stream, JSON_COMPACT | JSON_REAL_PRECISION( 5 ) ) == 0 )
			status = lmbFileWriter_Commit( &writer, error );
		else
		{
			lmbFileWriter_Abort( &writer );
			status = lmbError_Set( error, lmb_statusIo, "%s: cannot be written; is the disk full?", path );
		}
	}
	json_decref( document );
	return status;
}
