#include "formats/glb_writer.h"

#include "base/files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
	targetVertices = 34962, /* ARRAY_BUFFER */
	targetIndices = 34963,  /* ELEMENT_ARRAY_BUFFER */
	componentU8 = 5121,
	componentU16 = 5123,
	componentU32 = 5125,
	componentFloat = 5126
};

/* The array root[key], made when absent; NULL without memory or when it is something else. */
static json_t *RootArray( lmbGlbWriter *writer, const char *key )
{
	json_t *array = json_object_get( writer->root, key );
	if ( array == NULL && json_object_set_new( writer->root, key, json_array() ) == 0 )
		array = json_object_get( writer->root, key );
	return json_is_array( array ) ? array : NULL;
}

static int Fail( lmbGlbWriter *writer, lmbStatus status )
{
	if ( writer->status == lmb_statusOk )
		writer->status = status;
	return -1;
}

lmbStatus lmbGlbWriter_Init( lmbGlbWriter *writer, const json_t *root, lmbError *error )
{
	memset( writer, 0, sizeof( *writer ) );
	if ( root != NULL )
		writer->root = json_deep_copy( root );
	else
		writer->root = json_pack( "{s:{s:s, s:s}}", "asset", "version", "2.0", "generator", "Limber" );
	if ( writer->root == NULL )
		return lmbError_Memory( error );
	json_object_del( writer->root, "buffers" );
	return lmb_statusOk;
}

void lmbGlbWriter_Free( lmbGlbWriter *writer )
{
	json_decref( writer->root );
	free( writer->data );
	memset( writer, 0, sizeof( *writer ) );
}

size_t lmbGlbWriter_AddBytes( lmbGlbWriter *writer, const void *data, size_t size )
{
	if ( writer->status != lmb_statusOk )
		return SIZE_MAX;
	size_t offset = ( writer->size + 3 ) / 4 * 4;
	if ( size > UINT32_MAX || offset + size > UINT32_MAX )
	{
		Fail( writer, lmb_statusInvalidArgument );
		return SIZE_MAX;
	}
	if ( offset + size > writer->capacity )
	{
		size_t capacity = writer->capacity < 4096 ? 4096 : writer->capacity;
		while ( capacity < offset + size )
			capacity += capacity / 2;
		unsigned char *grown = realloc( writer->data, capacity );
		if ( grown == NULL )
		{
			Fail( writer, lmb_statusOutOfMemory );
			return SIZE_MAX;
		}
		writer->data = grown;
		writer->capacity = capacity;
	}
	if ( writer->size < offset )
		memset( writer->data + writer->size, 0, offset - writer->size );
	if ( size > 0 )
		memcpy( writer->data + offset, data, size );
	writer->size = offset + size;
	return offset;
}

int lmbGlbWriter_AddView( lmbGlbWriter *writer, const void *data, size_t size, lmbGlbUse use, int stride )
{
	size_t offset = lmbGlbWriter_AddBytes( writer, data, size );
	if ( offset == SIZE_MAX )
		return -1;
	json_t *view = json_pack( "{s:i, s:I, s:I}", "buffer", 0, "byteOffset", (json_int_t)offset, "byteLength",
	                          (json_int_t)size );
	json_t *views = RootArray( writer, "bufferViews" );
	bool good = view != NULL && views != NULL;
	if ( good && use == lmb_glbVertices && stride > 0 )
		good = json_object_set_new( view, "byteStride", json_integer( stride ) ) == 0;
	if ( good && use != lmb_glbData )
		good = json_object_set_new(
		           view, "target",
		           json_integer( use == lmb_glbVertices ? targetVertices : targetIndices ) ) == 0;
	if ( !good || json_array_append( views, view ) != 0 )
	{
		json_decref( view );
		return Fail( writer, lmb_statusOutOfMemory );
	}
	json_decref( view );
	return (int)json_array_size( views ) - 1;
}

static int AddAccessor( lmbGlbWriter *writer, int view, int component, const char *type, size_t count,
                        json_t *min, json_t *max )
{
	json_t *accessor = NULL, *accessors = NULL;
	if ( view >= 0 )
	{
		accessor = json_pack( "{s:i, s:i, s:I, s:s}", "bufferView", view, "componentType", component, "count",
		                      (json_int_t)count, "type", type );
		accessors = RootArray( writer, "accessors" );
	}
	bool good = accessor != NULL && accessors != NULL;
	if ( good && min != NULL )
		good = json_object_set( accessor, "min", min ) == 0 && json_object_set( accessor, "max", max ) == 0;
	good = good && json_array_append( accessors, accessor ) == 0;
	json_decref( accessor );
	json_decref( min );
	json_decref( max );
	return good ? (int)json_array_size( accessors ) - 1 : Fail( writer, lmb_statusOutOfMemory );
}

static int TypeWidth( const char *type )
{
	static const struct
	{
		const char *name;
		int width;
	} types[] = { { "SCALAR", 1 }, { "VEC2", 2 }, { "VEC3", 3 }, { "VEC4", 4 }, { "MAT4", 16 } };
	for ( size_t i = 0; i < sizeof( types ) / sizeof( types[0] ); ++i )
		if ( strcmp( type, types[i].name ) == 0 )
			return types[i].width;
	return 0;
}

/* Column extremes as JSON arrays. */
static bool MakeBounds( const float *values, size_t count, int width, json_t **min, json_t **max )
{
	*min = json_array();
	*max = json_array();
	bool good = *min != NULL && *max != NULL;
	for ( int c = 0; c < width; ++c )
	{
		float low = values[c], high = values[c];
		for ( size_t i = 1; i < count; ++i )
		{
			low = fminf( low, values[i * (size_t)width + (size_t)c] );
			high = fmaxf( high, values[i * (size_t)width + (size_t)c] );
		}
		good = good && json_array_append_new( *min, json_real( (double)low ) ) == 0 &&
		       json_array_append_new( *max, json_real( (double)high ) ) == 0;
	}
	return good;
}

int lmbGlbWriter_AddFloats( lmbGlbWriter *writer, const char *type, const float *values, size_t count,
                            lmbGlbUse use, bool bounds )
{
	int width = TypeWidth( type );
	if ( writer->status != lmb_statusOk )
		return -1;
	if ( width == 0 || count == 0 || count > UINT32_MAX / 4 / (size_t)width )
		return Fail( writer, lmb_statusInvalidArgument );
	for ( size_t i = 0; i < count * (size_t)width; ++i )
		if ( !isfinite( values[i] ) )
			return Fail( writer, lmb_statusNumerical );
	int view =
	    lmbGlbWriter_AddView( writer, values, count * (size_t)width * sizeof( float ), use, 4 * width );
	json_t *min = NULL, *max = NULL;
	if ( view >= 0 && bounds && !MakeBounds( values, count, width, &min, &max ) )
		view = Fail( writer, lmb_statusOutOfMemory );
	return AddAccessor( writer, view, componentFloat, type, count, min, max );
}

/* Integers stored in size bytes each (1, 2 or 4). */
static int AddIntegers( lmbGlbWriter *writer, const uint32_t *values, size_t total, size_t size )
{
	unsigned char *packed = malloc( total * size + 1 );
	if ( packed == NULL )
		return Fail( writer, lmb_statusOutOfMemory );
	for ( size_t i = 0; i < total; ++i )
		for ( size_t b = 0; b < size; ++b )
			packed[i * size + b] = (unsigned char)( values[i] >> ( 8 * b ) );
	int view = lmbGlbWriter_AddView( writer, packed, total * size, lmb_glbIndices, 0 );
	free( packed );
	return view;
}

int lmbGlbWriter_AddIndices( lmbGlbWriter *writer, const uint32_t *indices, size_t count )
{
	if ( writer->status != lmb_statusOk )
		return -1;
	if ( count == 0 || count > UINT32_MAX / 4 )
		return Fail( writer, lmb_statusInvalidArgument );
	uint32_t largest = 0;
	for ( size_t i = 0; i < count; ++i )
		largest = indices[i] > largest ? indices[i] : largest;
	/* 65535 itself is the restart value that the specification forbids as an index. */
	bool narrow = largest < 65535;
	int view = AddIntegers( writer, indices, count, narrow ? 2 : 4 );
	return AddAccessor( writer, view, narrow ? componentU16 : componentU32, "SCALAR", count, NULL, NULL );
}

int lmbGlbWriter_AddJoints( lmbGlbWriter *writer, const uint16_t *joints, size_t count )
{
	if ( writer->status != lmb_statusOk )
		return -1;
	if ( count == 0 || count > UINT32_MAX / 8 )
		return Fail( writer, lmb_statusInvalidArgument );
	uint16_t largest = 0;
	for ( size_t i = 0; i < 4 * count; ++i )
		largest = joints[i] > largest ? joints[i] : largest;
	size_t size = largest < 256 ? 1 : 2;
	unsigned char *packed = malloc( 4 * count * size + 1 );
	if ( packed == NULL )
		return Fail( writer, lmb_statusOutOfMemory );
	for ( size_t i = 0; i < 4 * count; ++i )
		for ( size_t b = 0; b < size; ++b )
			packed[i * size + b] = (unsigned char)( joints[i] >> ( 8 * b ) );
	int view = lmbGlbWriter_AddView( writer, packed, 4 * count * size, lmb_glbVertices, (int)( 4 * size ) );
	free( packed );
	return AddAccessor( writer, view, size == 1 ? componentU8 : componentU16, "VEC4", count, NULL, NULL );
}

static void PutU32( unsigned char *out, size_t value )
{
	for ( int b = 0; b < 4; ++b )
		out[b] = (unsigned char)( value >> ( 8 * b ) );
}

static lmbStatus WriteChunks( lmbFileWriter *file, const char *json, size_t jsonSize,
                              const lmbGlbWriter *writer, lmbError *error )
{
	size_t jsonPadded = ( jsonSize + 3 ) / 4 * 4, dataPadded = ( writer->size + 3 ) / 4 * 4;
	size_t total = 12 + 8 + jsonPadded + ( dataPadded > 0 ? 8 + dataPadded : 0 );
	if ( total > UINT32_MAX )
		return lmbError_Set(
		    error, lmb_statusInvalidArgument,
		    "%s: would be larger than 4 GiB, the limit of .glb; bake fewer frames or targets", file->path );
	unsigned char header[20] = "glTF\2\0\0\0....----JSON";
	PutU32( header + 8, total );
	PutU32( header + 12, jsonPadded );
	LMB_TRY( lmbFileWriter_Write( file, header, sizeof( header ), error ) );
	LMB_TRY( lmbFileWriter_Write( file, json, jsonSize, error ) );
	LMB_TRY( lmbFileWriter_Write( file, "   ", jsonPadded - jsonSize, error ) );
	if ( dataPadded == 0 )
		return lmb_statusOk;
	unsigned char chunk[8] = "----BIN\0";
	PutU32( chunk, dataPadded );
	LMB_TRY( lmbFileWriter_Write( file, chunk, sizeof( chunk ), error ) );
	LMB_TRY( lmbFileWriter_Write( file, writer->data, writer->size, error ) );
	return lmbFileWriter_Write( file, "\0\0\0", dataPadded - writer->size, error );
}

lmbStatus lmbGlbWriter_Write( lmbGlbWriter *writer, const char *path, lmbError *error )
{
	if ( writer->status == lmb_statusNumerical )
		return lmbError_Set( error, writer->status, "%s: not written: a number to store is not finite",
		                     path );
	if ( writer->status != lmb_statusOk )
		return lmbError_Set( error, writer->status, "%s: not written: %s", path,
		                     lmbStatus_Text( writer->status ) );
	if ( writer->size > 0 )
	{
		json_t *buffers = json_pack( "[{s:I}]", "byteLength", (json_int_t)writer->size );
		if ( buffers == NULL || json_object_set_new( writer->root, "buffers", buffers ) != 0 )
			return lmbError_Memory( error );
	}
	char *json = json_dumps( writer->root, JSON_COMPACT );
	if ( json == NULL )
		return lmbError_Memory( error );
	lmbFileWriter file;
	lmbStatus status = lmbFileWriter_Open( &file, path, error );
	if ( status == lmb_statusOk )
	{
		status = WriteChunks( &file, json, strlen( json ), writer, error );
		if ( status == lmb_statusOk )
			status = lmbFileWriter_Commit( &file, error );
		else
			lmbFileWriter_Abort( &file );
	}
	free( json );
	return status;
}
