#include "formats/safetensors.h"

#include "base/files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static lmbStatus CheckFormat( const lmbTensorFile *file, const char *format, int maxVersion, lmbError *error )
{
	char text[128], *end;
	if ( format == NULL )
		return lmb_statusOk;
	if ( !lmbTensorFile_Metadata( file, "format", text, sizeof( text ) ) || strcmp( text, format ) != 0 )
		return lmbError_Set(
		    error, lmb_statusCorrupt,
		    "%s: is not a \"%s\" file (its metadata \"format\" says otherwise); pass the file that the "
		    "stage before wrote",
		    file->path, format );
	if ( !lmbTensorFile_Metadata( file, "version", text, sizeof( text ) ) || text[0] < '0' || text[0] > '9' )
		return lmbError_Set( error, lmb_statusCorrupt,
		                     "%s: metadata \"version\" is missing or not a number; make the "
		                     "file again",
		                     file->path );
	long version = strtol( text, &end, 10 );
	if ( *end != 0 || version < 1 || version > 1000000 )
		return lmbError_Set( error, lmb_statusCorrupt,
		                     "%s: metadata \"version\" is \"%s\", not a number; make the file "
		                     "again",
		                     file->path, text );
	if ( version > maxVersion )
		return lmbError_Set( error, lmb_statusUnsupported,
		                     "%s: %s version %ld is newer than this program reads (%d); update the program",
		                     file->path, format, version, maxVersion );
	return lmb_statusOk;
}

lmbStatus lmbTensorFile_Open( lmbTensorFile *file, const char *path, const char *format, int maxVersion,
                              lmbError *error )
{
	memset( file, 0, sizeof( *file ) );
	if ( strlen( path ) >= sizeof( file->path ) )
		return lmbError_Set( error, lmb_statusInvalidArgument, "%s: the path is too long", path );
	strcpy( file->path, path );
	char *data;
	LMB_TRY( lmbFile_Read( path, &file->arena, &data, &file->size, error ) );
	const char *problem;
	lmbStatus status = lmbTensors_Check( data, file->size, &problem );
	if ( status != lmb_statusOk )
		return lmbError_Set( error, status, "%s: %s; copy or make the file again", path, problem );
	file->data = data;
	return CheckFormat( file, format, maxVersion, error );
}

void lmbTensorFile_Close( lmbTensorFile *file )
{
	lmbArena_Free( &file->arena );
	file->data = NULL;
	file->size = 0;
}

/* "F32 (3 x any)" */
static void Describe( char *out, size_t capacity, lmbDataType type, int rank, const int64_t *shape )
{
	size_t used = (size_t)snprintf( out, capacity, "%s (", lmbDataType_Name( type ) );
	for ( int i = 0; i < rank && used < capacity; ++i )
	{
		const char *separator = i > 0 ? " x " : "";
		used += shape[i] < 0 ? (size_t)snprintf( out + used, capacity - used, "%sany", separator )
		                     : (size_t)snprintf( out + used, capacity - used, "%s%lld", separator,
		                                         (long long)shape[i] );
	}
	if ( used < capacity )
		snprintf( out + used, capacity - used, ")" );
}

/* The index of the first number that is not finite, or -1. */
static int64_t FindNonFinite( const lmbTensor *tensor )
{
	if ( tensor->type == lmb_dataF32 )
	{
		const float *numbers = tensor->data;
		for ( size_t i = 0; i < tensor->bytes / sizeof( float ); ++i )
			if ( !isfinite( numbers[i] ) )
				return (int64_t)i;
	}
	else if ( tensor->type == lmb_dataF64 )
	{
		const double *numbers = tensor->data;
		for ( size_t i = 0; i < tensor->bytes / sizeof( double ); ++i )
			if ( !isfinite( numbers[i] ) )
				return (int64_t)i;
	}
	return -1;
}

lmbStatus lmbTensorFile_Get( const lmbTensorFile *file, const char *name, lmbDataType type, int rank,
                             int64_t *shape, const void **data, lmbError *error )
{
	lmbTensor tensor;
	char expected[160], found[160];
	Describe( expected, sizeof( expected ), type, rank, shape );
	if ( file->data == NULL || lmbTensors_Find( file->data, file->size, name, &tensor ) != lmb_statusOk )
		return lmbError_Set( error, lmb_statusNotFound,
		                     "%s: array \"%s\", %s, is missing; make the file again", file->path, name,
		                     expected );
	bool matches = tensor.type == type && tensor.rank == rank;
	for ( int i = 0; matches && i < rank; ++i )
		matches = shape[i] < 0 || shape[i] == tensor.shape[i];
	if ( !matches )
	{
		Describe( found, sizeof( found ), tensor.type, tensor.rank, tensor.shape );
		return lmbError_Set( error, lmb_statusCorrupt,
		                     "%s: array \"%s\" is %s where %s is needed; make the file again", file->path,
		                     name, found, expected );
	}
	int64_t bad = FindNonFinite( &tensor );
	if ( bad >= 0 )
		return lmbError_Set( error, lmb_statusNumerical,
		                     "%s: array \"%s\": element %lld is not a finite number; make the file again",
		                     file->path, name, (long long)bad );
	for ( int i = 0; i < rank; ++i )
		shape[i] = tensor.shape[i];
	*data = tensor.data;
	return lmb_statusOk;
}

bool lmbTensorFile_Has( const lmbTensorFile *file, const char *name )
{
	lmbTensor tensor;
	return file->data != NULL && lmbTensors_Find( file->data, file->size, name, &tensor ) == lmb_statusOk;
}

bool lmbTensorFile_Metadata( const lmbTensorFile *file, const char *key, char *out, size_t capacity )
{
	return file->data != NULL &&
	       lmbTensors_Metadata( file->data, file->size, key, out, capacity ) == lmb_statusOk;
}

static bool CopyText( char *out, size_t capacity, const char *text )
{
	size_t length = strlen( text );
	if ( length >= capacity )
		return false;
	memcpy( out, text, length + 1 );
	return true;
}

void lmbTensorWriter_Metadata( lmbTensorWriter *writer, const char *key, const char *value )
{
	int i = writer->metadataCount;
	if ( i == (int)( sizeof( writer->metadata ) / sizeof( writer->metadata[0] ) ) ||
	     !CopyText( writer->metadata[i].key, sizeof( writer->metadata[i].key ), key ) ||
	     !CopyText( writer->metadata[i].value, sizeof( writer->metadata[i].value ), value ) )
		writer->overflow = true;
	else
		writer->metadataCount += 1;
}

void lmbTensorWriter_Add( lmbTensorWriter *writer, const char *name, lmbDataType type, int rank,
                          const int64_t *shape, const void *data )
{
	int i = writer->tensorCount;
	if ( i == lmbTensorWriterMax || rank < 0 || rank > lmbTensorMaxRank ||
	     !CopyText( writer->tensors[i].name, sizeof( writer->tensors[i].name ), name ) )
	{
		writer->overflow = true;
		return;
	}
	writer->tensors[i].type = type;
	writer->tensors[i].rank = rank;
	for ( int k = 0; k < rank; ++k )
		writer->tensors[i].shape[k] = shape[k];
	writer->tensors[i].data = data;
	writer->tensorCount += 1;
}

/* Text that grows in an arena-owned buffer of a size found in a first pass: out NULL only counts. */
typedef struct Text
{
	char *out;
	size_t length;
} Text;

static void Put( Text *text, const char *part )
{
	size_t length = strlen( part );
	if ( text->out != NULL )
		memcpy( text->out + text->length, part, length );
	text->length += length;
}

static void PutString( Text *text, const char *string )
{
	Put( text, "\"" );
	for ( ; *string != 0; ++string )
	{
		char part[8] = { *string, 0 };
		if ( *string == '"' || *string == '\\' )
			snprintf( part, sizeof( part ), "\\%c", *string );
		else if ( (unsigned char)*string < 0x20 )
			snprintf( part, sizeof( part ), "\\u%04x", (unsigned char)*string );
		Put( text, part );
	}
	Put( text, "\"" );
}

static void PutNumber( Text *text, const char *before, uint64_t number )
{
	char part[40];
	snprintf( part, sizeof( part ), "%s%llu", before, (unsigned long long)number );
	Put( text, part );
}

/* Where each array goes. */
typedef struct Layout
{
	int order[lmbTensorWriterMax];
	uint64_t begin[lmbTensorWriterMax], bytes[lmbTensorWriterMax]; /* by tensor, not by order */
} Layout;

static bool PlanLayout( const lmbTensorWriter *writer, Layout *layout )
{
	uint64_t at = 0;
	int placed = 0;
	for ( size_t width = 8; width > 0; width /= 2 )
		for ( int i = 0; i < writer->tensorCount; ++i )
		{
			if ( lmbDataType_Size( writer->tensors[i].type ) != width )
				continue;
			uint64_t bytes = width;
			for ( int k = 0; k < writer->tensors[i].rank; ++k )
			{
				int64_t extent = writer->tensors[i].shape[k];
				if ( extent < 0 || ( extent > 0 && bytes > (uint64_t)INT64_MAX / (uint64_t)extent ) )
					return false;
				bytes *= (uint64_t)extent;
			}
			if ( bytes > (uint64_t)INT64_MAX - at )
				return false;
			layout->order[placed++] = i;
			layout->begin[i] = at;
			layout->bytes[i] = bytes;
			at += bytes;
		}
	return placed == writer->tensorCount;
}

static void PutHeader( Text *text, const lmbTensorWriter *writer, const Layout *layout )
{
	Put( text, "{\"__metadata__\":{" );
	for ( int i = 0; i < writer->metadataCount; ++i )
	{
		Put( text, i > 0 ? "," : "" );
		PutString( text, writer->metadata[i].key );
		Put( text, ":" );
		PutString( text, writer->metadata[i].value );
	}
	Put( text, "}" );
	for ( int k = 0; k < writer->tensorCount; ++k )
	{
		int i = layout->order[k];
		Put( text, "," );
		PutString( text, writer->tensors[i].name );
		Put( text, ":{\"dtype\":\"" );
		Put( text, lmbDataType_Name( writer->tensors[i].type ) );
		Put( text, "\",\"shape\":[" );
		for ( int d = 0; d < writer->tensors[i].rank; ++d )
			PutNumber( text, d > 0 ? "," : "", (uint64_t)writer->tensors[i].shape[d] );
		PutNumber( text, "],\"data_offsets\":[", layout->begin[i] );
		PutNumber( text, ",", layout->begin[i] + layout->bytes[i] );
		Put( text, "]}" );
	}
	Put( text, "}" );
	while ( ( 8 + text->length ) % 64 != 0 )
		Put( text, " " );
}

static lmbStatus WriteAll( const lmbTensorWriter *writer, const Layout *layout, const Text *header,
                           const char *path, lmbError *error )
{
	lmbFileWriter file;
	LMB_TRY( lmbFileWriter_Open( &file, path, error ) );
	uint8_t length[8];
	for ( int i = 0; i < 8; ++i )
		length[i] = (uint8_t)( (uint64_t)header->length >> ( 8 * i ) );
	lmbStatus status = lmbFileWriter_Write( &file, length, 8, error );
	if ( status == lmb_statusOk )
		status = lmbFileWriter_Write( &file, header->out, header->length, error );
	for ( int k = 0; k < writer->tensorCount && status == lmb_statusOk; ++k )
	{
		int i = layout->order[k];
		status = lmbFileWriter_Write( &file, writer->tensors[i].data, (size_t)layout->bytes[i], error );
	}
	if ( status == lmb_statusOk )
		return lmbFileWriter_Commit( &file, error );
	lmbFileWriter_Abort( &file );
	return status;
}

static bool IsUtf8( const char *text )
{
	const uint8_t *at = (const uint8_t *)text, *end = at + strlen( text );
	for ( int length = 0; at < end; at += length )
		if ( ( length = lmbUtf8_Length( at, end ) ) == 0 )
			return false;
	return true;
}

static lmbStatus CheckNames( const lmbTensorWriter *writer, const char *path, lmbError *error )
{
	for ( int i = 0; i < writer->tensorCount; ++i )
	{
		const char *name = writer->tensors[i].name;
		if ( !IsUtf8( name ) || strcmp( name, "__metadata__" ) == 0 )
			return lmbError_Set( error, lmb_statusInvalidArgument,
			                     "%s: an array's name is reserved or not UTF-8", path );
		for ( int k = 0; k < i; ++k )
			if ( strcmp( name, writer->tensors[k].name ) == 0 )
				return lmbError_Set( error, lmb_statusInvalidArgument, "%s: array \"%s\" was added twice",
				                     path, name );
	}
	for ( int i = 0; i < writer->metadataCount; ++i )
	{
		const char *key = writer->metadata[i].key;
		if ( !IsUtf8( key ) || !IsUtf8( writer->metadata[i].value ) )
			return lmbError_Set( error, lmb_statusInvalidArgument, "%s: a metadata string is not UTF-8",
			                     path );
		for ( int k = 0; k < i; ++k )
			if ( strcmp( key, writer->metadata[k].key ) == 0 )
				return lmbError_Set( error, lmb_statusInvalidArgument, "%s: metadata \"%s\" was added twice",
				                     path, key );
	}
	return lmb_statusOk;
}

lmbStatus lmbTensorWriter_Write( const lmbTensorWriter *writer, const char *path, lmbError *error )
{
	Layout layout;
	if ( writer->overflow )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "%s: too many arrays or metadata strings, or too long a text, for one file",
		                     path );
	LMB_TRY( CheckNames( writer, path, error ) );
	if ( !PlanLayout( writer, &layout ) )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "%s: an array has a negative or too large a shape", path );
	Text header = { NULL, 0 };
	PutHeader( &header, writer, &layout );
	header.out = malloc( header.length );
	if ( header.out == NULL )
		return lmbError_Memory( error );
	header.length = 0;
	PutHeader( &header, writer, &layout );
	lmbStatus status = WriteAll( writer, &layout, &header, path, error );
	free( header.out );
	return status;
}
