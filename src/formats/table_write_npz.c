/* Tables as NumPy's .npz: a zip archive with one array of doubles for each column. */
#include "base/files.h"
#include "formats/table.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zip.h>

/* Archives of the same numbers are to be the same bytes, so all members are of zip's first day. */
static const zip_fileinfo firstDay = { .dosDate = ( 1 << 5 ) | 1 };

enum
{
	memberNameSize = 256,
	headSize = 128
};

/* The name of a column's member; a slash would make it a folder. */
static lmbStatus MemberName( const lmbTable *table, int column, char out[memberNameSize], lmbError *error )
{
	int length = snprintf( out, memberNameSize, "%s.npy", table->names[column] );
	if ( length >= memberNameSize )
		return lmbError_Set( error, lmb_statusUnsupported,
		                     "the name of column %d is too long for .npz: at most %d bytes", column + 1,
		                     memberNameSize - 5 );
	for ( char *at = out; *at != 0; ++at )
		if ( *at == '/' || *at == '\\' )
			*at = '_';
	return lmb_statusOk;
}

static lmbStatus CheckNames( const lmbTable *table, lmbError *error )
{
	for ( int c = 0; c < table->columnCount; ++c )
	{
		char name[memberNameSize], other[memberNameSize];
		LMB_TRY( MemberName( table, c, name, error ) );
		for ( int before = 0; before < c; ++before )
		{
			LMB_TRY( MemberName( table, before, other, error ) );
			if ( strcmp( name, other ) == 0 )
				return lmbError_Set( error, lmb_statusUnsupported,
				                     "columns %d and %d would both be %s; write CSV or rename one",
				                     before + 1, c + 1, name );
		}
	}
	return lmb_statusOk;
}

/* The header of a .npy of version 1.0, padded with spaces to 128 bytes as the format asks (a multiple of 64).
 */
static void Head( int rowCount, char out[headSize] )
{
	char text[headSize];
	memset( out, ' ', headSize );
	memcpy( out, "\x93NUMPY\x01\x00", 8 );
	out[8] = (char)( headSize - 10 );
	out[9] = 0;
	int length = snprintf( text, sizeof( text ), "{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }",
	                       rowCount );
	memcpy( out + 10, text, (size_t)length );
	out[headSize - 1] = '\n';
}

static bool WriteColumn( zipFile zip, const lmbTable *table, int column, const char *name )
{
	char head[headSize];
	Head( table->rowCount, head );
	if ( zipOpenNewFileInZip64( zip, name, &firstDay, NULL, 0, NULL, 0, NULL, Z_DEFLATED, 6, 1 ) != ZIP_OK )
		return false;
	bool written = zipWriteInFileInZip( zip, head, headSize ) == ZIP_OK;
	for ( int r = 0; r < table->rowCount && written; ++r )
	{
		uint64_t bits;
		unsigned char bytes[8];
		memcpy( &bits, &table->columns[column][r], 8 );
		for ( int b = 0; b < 8; ++b )
			bytes[b] = (unsigned char)( bits >> ( 8 * b ) );
		written = zipWriteInFileInZip( zip, bytes, 8 ) == ZIP_OK;
	}
	return zipCloseFileInZip( zip ) == ZIP_OK && written;
}

/* minizip opens files by name, so it writes through the temporary name that the writer holds open. */
static lmbStatus WriteArchive( const lmbTable *table, const lmbFileWriter *writer, lmbError *error )
{
	zipFile zip = zipOpen64( writer->temporary, APPEND_STATUS_CREATE );
	bool written = zip != NULL;
	for ( int c = 0; c < table->columnCount && written; ++c )
	{
		char name[memberNameSize];
		written = MemberName( table, c, name, error ) == lmb_statusOk && WriteColumn( zip, table, c, name );
	}
	if ( zip != NULL )
		written = zipClose( zip, NULL ) == ZIP_OK && written;
	return written ? lmb_statusOk
	               : lmbError_Set( error, lmb_statusIo, "%s: cannot write; is the disk full?", writer->path );
}

lmbStatus lmbTable_WriteNpz( const lmbTable *table, const char *path, lmbError *error )
{
	lmbFileWriter writer = { 0 };
	LMB_TRY( CheckNames( table, error ) );
	LMB_TRY( lmbFileWriter_Open( &writer, path, error ) );
	lmbStatus status = WriteArchive( table, &writer, error );
	if ( status == lmb_statusOk )
		return lmbFileWriter_Commit( &writer, error );
	lmbFileWriter_Abort( &writer );
	return status;
}
