#include "formats/gltf.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum
{
	componentI8 = 5120,
	componentU8 = 5121,
	componentI16 = 5122,
	componentU16 = 5123,
	componentU32 = 5125,
	componentFloat = 5126
};

static const int64_t byteLimit = (int64_t)8 << 30;

static size_t ComponentSize( int component )
{
	switch ( component )
	{
	case componentI8:
	case componentU8:
		return 1;
	case componentI16:
	case componentU16:
		return 2;
	case componentU32:
	case componentFloat:
		return 4;
	default:
		return 0;
	}
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

/* The bytes of the bufferView whose index stands at reference. */
static lmbStatus FindView( lmbGltf *gltf, const lmbJson *reference, const unsigned char **data, size_t *size,
                           size_t *stride, lmbError *error )
{
	lmbJson views = lmbJson_Key( &gltf->top, "bufferViews" );
	int64_t index = 0, buffer = 0, offset = 0, length = 0, step = 0;
	LMB_TRY( lmbJson_NeedInt( reference, 0, (int64_t)lmbJson_Count( &views ) - 1, &index, error ) );
	lmbJson view = lmbJson_Item( &views, (int)index );
	lmbJson bufferPlace = lmbJson_Key( &view, "buffer" ), offsetPlace = lmbJson_Key( &view, "byteOffset" );
	lmbJson lengthPlace = lmbJson_Key( &view, "byteLength" ), stepPlace = lmbJson_Key( &view, "byteStride" );
	LMB_TRY( lmbJson_NeedInt( &bufferPlace, 0, (int64_t)gltf->bufferCount - 1, &buffer, error ) );
	const lmbGltfBuffer *bytes = &gltf->buffers[buffer];
	if ( bytes->data == NULL )
	{
		lmbJson extensions = lmbJson_Key( &view, "extensions" );
		if ( json_object_get( extensions.value, "EXT_meshopt_compression" ) != NULL ||
		     json_object_get( extensions.value, "KHR_meshopt_compression" ) != NULL )
			return lmbJson_Fail( &extensions, error, lmb_statusUnsupported,
			                     "the data is compressed with meshopt; export again without compression" );
		return lmbJson_Fail( &bufferPlace, error, lmb_statusCorrupt,
		                     "buffer %lld has no data; export the file again, as .glb", (long long)buffer );
	}
	LMB_TRY( lmbJson_Int( &offsetPlace, 0, byteLimit, &offset, error ) );
	LMB_TRY( lmbJson_NeedInt( &lengthPlace, 1, byteLimit, &length, error ) );
	LMB_TRY( lmbJson_Int( &stepPlace, 4, 252, &step, error ) );
	if ( (uint64_t)offset + (uint64_t)length > bytes->size )
		return lmbJson_Fail( &view, error, lmb_statusCorrupt,
		                     "reaches to byte %lld of a buffer of %zu; the file is damaged, export it again",
		                     (long long)offset + (long long)length, bytes->size );
	*data = bytes->data + offset;
	*size = (size_t)length;
	*stride = (size_t)step;
	return lmb_statusOk;
}

/* Bytes for count elements of size bytes in the view at place/bufferView, from place/byteOffset. */
static lmbStatus FindElements( lmbGltf *gltf, const lmbJson *place, int64_t count, size_t size, bool strided,
                               const unsigned char **data, size_t *stride, lmbError *error )
{
	lmbJson viewPlace = lmbJson_Key( place, "bufferView" ), offsetPlace = lmbJson_Key( place, "byteOffset" );
	size_t viewSize = 0, step = 0;
	int64_t offset = 0;
	LMB_TRY( FindView( gltf, &viewPlace, data, &viewSize, &step, error ) );
	LMB_TRY( lmbJson_Int( &offsetPlace, 0, byteLimit, &offset, error ) );
	*stride = strided && step != 0 ? step : size;
	if ( *stride < size )
		return lmbJson_Fail( &viewPlace, error, lmb_statusCorrupt,
		                     "elements of %zu bytes lie %zu bytes apart; export the file again", size,
		                     *stride );
	uint64_t last = (uint64_t)offset + (uint64_t)( count - 1 ) * *stride + size;
	if ( last > viewSize )
		return lmbJson_Fail(
		    &viewPlace, error, lmb_statusCorrupt,
		    "%lld elements need %llu bytes of a view of %zu; the file is damaged, export it again",
		    (long long)count, (unsigned long long)last, viewSize );
	*data += offset;
	return lmb_statusOk;
}

static lmbStatus FindSparse( lmbGltf *gltf, const lmbJson *sparse, lmbAccessor *accessor, size_t elementSize,
                             lmbError *error )
{
	lmbJson countPlace = lmbJson_Key( sparse, "count" ), indices = lmbJson_Key( sparse, "indices" );
	lmbJson values = lmbJson_Key( sparse, "values" ), kind = lmbJson_Key( &indices, "componentType" );
	int64_t count = 0, component = 0;
	size_t stride;
	LMB_TRY( lmbJson_NeedInt( &countPlace, 1, accessor->count, &count, error ) );
	LMB_TRY( lmbJson_NeedInt( &kind, componentU8, componentU32, &component, error ) );
	if ( component != componentU8 && component != componentU16 && component != componentU32 )
		return lmbJson_Fail( &kind, error, lmb_statusCorrupt, "must be 5121, 5123 or 5125" );
	size_t indexSize = ComponentSize( (int)component );
	LMB_TRY(
	    FindElements( gltf, &indices, count, indexSize, false, &accessor->sparseIndices, &stride, error ) );
	LMB_TRY(
	    FindElements( gltf, &values, count, elementSize, false, &accessor->sparseValues, &stride, error ) );
	accessor->sparseCount = (int)count;
	accessor->sparseIndexComponent = (int)component;
	return lmb_statusOk;
}

lmbStatus lmbGltf_Accessor( lmbGltf *gltf, const lmbJson *reference, const char *types, lmbAccessor *accessor,
                            lmbError *error )
{
	memset( accessor, 0, sizeof( *accessor ) );
	lmbJson accessors = lmbJson_Key( &gltf->top, "accessors" );
	int64_t index = 0, count = 0, component = 0;
	LMB_TRY( lmbJson_NeedInt( reference, 0, (int64_t)lmbJson_Count( &accessors ) - 1, &index, error ) );
	lmbJson place = accessor->place = lmbJson_Item( &accessors, (int)index );
	lmbJson countPlace = lmbJson_Key( &place, "count" ), kindPlace = lmbJson_Key( &place, "componentType" );
	lmbJson typePlace = lmbJson_Key( &place, "type" ), flagPlace = lmbJson_Key( &place, "normalized" );
	lmbJson viewPlace = lmbJson_Key( &place, "bufferView" ), sparse = lmbJson_Key( &place, "sparse" );
	LMB_TRY( lmbJson_NeedInt( &countPlace, 1, INT_MAX / 64, &count, error ) );
	LMB_TRY( lmbJson_NeedInt( &kindPlace, componentI8, componentFloat, &component, error ) );
	LMB_TRY( lmbJson_Bool( &flagPlace, &accessor->normalized, error ) );
	char wanted[16];
	const char *type = lmbJson_Text( &typePlace );
	snprintf( wanted, sizeof( wanted ), " %.8s ", type != NULL ? type : "?" );
	if ( type == NULL || strstr( types, wanted ) == NULL )
		return lmbJson_Fail( &typePlace, error, lmb_statusCorrupt,
		                     "%s asks for%sdata; the exporter that wrote the file is at fault",
		                     reference->pointer, types );
	size_t componentSize = ComponentSize( (int)component );
	if ( componentSize == 0 )
		return lmbJson_Fail( &kindPlace, error, lmb_statusCorrupt, "%lld is no component type of glTF",
		                     (long long)component );
	accessor->count = (int)count;
	accessor->width = TypeWidth( type );
	accessor->component = (int)component;
	size_t elementSize = componentSize * (size_t)accessor->width;
	if ( viewPlace.value != NULL )
		LMB_TRY( FindElements( gltf, &place, count, elementSize, true, &accessor->data, &accessor->stride,
		                       error ) );
	if ( sparse.value != NULL )
		LMB_TRY( FindSparse( gltf, &sparse, accessor, elementSize, error ) );
	size_t numbers = (size_t)count * (size_t)accessor->width;
	/* Zeros cost the file nothing, so they cost more here. */
	if ( viewPlace.value == NULL )
		numbers *= 16;
	if ( numbers > gltf->budget )
		return lmbJson_Fail( &countPlace, error, lmb_statusUnsupported,
		                     "with this the file holds more than 1 GiB of numbers; simplify the character" );
	gltf->budget -= numbers;
	return lmb_statusOk;
}

static uint32_t ReadUnsigned( const unsigned char *b, int component )
{
	if ( component == componentU8 )
		return b[0];
	uint32_t low = b[0] | (uint32_t)b[1] << 8;
	return component == componentU16 ? low : low | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* One component as glTF's section "Animations" (the equations for normalised integers) says. */
static double ReadComponent( const unsigned char *b, int component, bool normalized )
{
	if ( component == componentFloat )
	{
		uint32_t bits = ReadUnsigned( b, componentU32 );
		float value;
		memcpy( &value, &bits, sizeof( value ) );
		return (double)value;
	}
	if ( component == componentI8 )
		return normalized ? fmax( (int8_t)b[0] / 127.0, -1.0 ) : (int8_t)b[0];
	double value = ReadUnsigned( b, component == componentI16 ? componentU16 : component );
	if ( component == componentI16 )
	{
		value -= value >= 32768.0 ? 65536.0 : 0.0;
		return normalized ? fmax( value / 32767.0, -1.0 ) : value;
	}
	if ( !normalized )
		return value;
	return value / ( component == componentU8 ? 255.0 : component == componentU16 ? 65535.0 : 4294967295.0 );
}

static lmbStatus CheckSparse( const lmbAccessor *accessor, int entry, uint32_t *index, lmbError *error )
{
	size_t size = ComponentSize( accessor->sparseIndexComponent );
	*index = ReadUnsigned( accessor->sparseIndices + (size_t)entry * size, accessor->sparseIndexComponent );
	if ( *index < (uint32_t)accessor->count )
		return lmb_statusOk;
	return lmbJson_Fail( &accessor->place, error, lmb_statusCorrupt,
	                     "entry %d of its sparse indices is %u, there are %d elements; export the file again",
	                     entry, *index, accessor->count );
}

lmbStatus lmbAccessor_Numbers( const lmbAccessor *accessor, lmbArena *arena, double **out, lmbError *error )
{
	size_t width = (size_t)accessor->width, size = ComponentSize( accessor->component );
	double *numbers = lmbArena_New( arena, (size_t)accessor->count * width, sizeof( double ) );
	if ( numbers == NULL )
		return lmbError_Memory( error );
	for ( size_t i = 0; accessor->data != NULL && i < (size_t)accessor->count; ++i )
		for ( size_t c = 0; c < width; ++c )
			numbers[i * width + c] = ReadComponent( accessor->data + i * accessor->stride + c * size,
			                                        accessor->component, accessor->normalized );
	for ( int entry = 0; entry < accessor->sparseCount; ++entry )
	{
		uint32_t index;
		LMB_TRY( CheckSparse( accessor, entry, &index, error ) );
		for ( size_t c = 0; c < width; ++c )
			numbers[index * width + c] =
			    ReadComponent( accessor->sparseValues + ( (size_t)entry * width + c ) * size,
			                   accessor->component, accessor->normalized );
	}
	for ( size_t i = 0; i < (size_t)accessor->count * width; ++i )
		if ( !isfinite( numbers[i] ) )
			return lmbJson_Fail(
			    &accessor->place, error, lmb_statusNumerical,
			    "element %zu is not a finite number; repair the model in the tool that it came "
			    "from and export it again",
			    i / width );
	*out = numbers;
	return lmb_statusOk;
}

lmbStatus lmbAccessor_Integers( const lmbAccessor *accessor, lmbArena *arena, uint32_t **out,
                                lmbError *error )
{
	if ( accessor->component != componentU8 && accessor->component != componentU16 &&
	     accessor->component != componentU32 )
		return lmbJson_Fail( &accessor->place, error, lmb_statusCorrupt,
		                     "must hold unsigned integers; the exporter that wrote the file is at fault" );
	size_t width = (size_t)accessor->width, size = ComponentSize( accessor->component );
	uint32_t *numbers = lmbArena_New( arena, (size_t)accessor->count * width, sizeof( uint32_t ) );
	if ( numbers == NULL )
		return lmbError_Memory( error );
	for ( size_t i = 0; accessor->data != NULL && i < (size_t)accessor->count; ++i )
		for ( size_t c = 0; c < width; ++c )
			numbers[i * width + c] =
			    ReadUnsigned( accessor->data + i * accessor->stride + c * size, accessor->component );
	for ( int entry = 0; entry < accessor->sparseCount; ++entry )
	{
		uint32_t index;
		LMB_TRY( CheckSparse( accessor, entry, &index, error ) );
		for ( size_t c = 0; c < width; ++c )
			numbers[index * width + c] = ReadUnsigned(
			    accessor->sparseValues + ( (size_t)entry * width + c ) * size, accessor->component );
	}
	*out = numbers;
	return lmb_statusOk;
}
