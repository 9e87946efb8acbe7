#include "formats/onnx.h"

#include "base/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Field numbers of onnx.proto3 (ONNX 1.12). */
enum
{
	modelIrVersion = 1,
	modelProducer = 2,
	modelProducerVersion = 3,
	modelGraph = 7,
	modelOperatorSet = 8,
	operatorSetVersion = 2,
	graphNode = 1,
	graphName = 2,
	graphInitializer = 5,
	graphInput = 11,
	graphOutput = 12,
	nodeInput = 1,
	nodeOutput = 2,
	nodeOperator = 4,
	nodeAttribute = 5,
	attributeName = 1,
	attributeWhole = 3,
	attributeWholes = 8,
	attributeType = 20,
	tensorDimension = 1,
	tensorType = 2,
	tensorName = 8,
	tensorRaw = 9,
	valueName = 1,
	valueType = 2,
	typeTensor = 1,
	typeElement = 1,
	typeShape = 2,
	shapeDimension = 1,
	dimensionValue = 1
};

enum
{
	elementFloat = 1,
	elementWhole = 7, /* int64 */
	kindWhole = 2,
	kindWholes = 7,
	irVersion = 8,
	operatorSet = 13
};

/* Appends; false (and failed) without memory. */
static void Append( lmbOnnxBytes *bytes, const void *data, size_t size, bool *failed )
{
	if ( bytes->size + size > bytes->capacity )
	{
		size_t capacity = 2 * ( bytes->size + size ) + 64;
		char *grown = realloc( bytes->data, capacity );
		if ( grown == NULL )
		{
			*failed = true;
			return;
		}
		bytes->data = grown;
		bytes->capacity = capacity;
	}
	if ( size > 0 )
		memcpy( bytes->data + bytes->size, data, size );
	bytes->size += size;
}

static void AppendVarint( lmbOnnxBytes *bytes, uint64_t value, bool *failed )
{
	unsigned char digits[10];
	size_t count = 0;
	do
	{
		digits[count++] = (unsigned char)( ( value & 0x7f ) | ( value > 0x7f ? 0x80 : 0 ) );
		value >>= 7;
	} while ( value > 0 );
	Append( bytes, digits, count, failed );
}

static void AddWhole( lmbOnnxBytes *bytes, int field, int64_t value, bool *failed )
{
	AppendVarint( bytes, (uint64_t)field << 3, failed );
	AppendVarint( bytes, (uint64_t)value, failed );
}

static void AddBytes( lmbOnnxBytes *bytes, int field, const void *data, size_t size, bool *failed )
{
	AppendVarint( bytes, (uint64_t)field << 3 | 2, failed );
	AppendVarint( bytes, size, failed );
	Append( bytes, data, size, failed );
}

static void AddText( lmbOnnxBytes *bytes, int field, const char *text, bool *failed )
{
	AddBytes( bytes, field, text, strlen( text ), failed );
}

/* A message within a message; part is emptied. */
static void AddPart( lmbOnnxBytes *bytes, int field, lmbOnnxBytes *part, bool *failed )
{
	AddBytes( bytes, field, part->data, part->size, failed );
	free( part->data );
	*part = ( lmbOnnxBytes ){ 0 };
}

static void NameOf( lmbOnnxValue value, char out[24] )
{
	snprintf( out, 24, "v%d", value.id );
}

static lmbOnnxValue NewValue( lmbOnnx *graph )
{
	return ( lmbOnnxValue ){ graph->valueCount++ };
}

static void AddValueInfo( lmbOnnxBytes *to, int field, const char *name, int rank, const int64_t *shape,
                          bool *failed )
{
	lmbOnnxBytes info = { 0 }, type = { 0 }, tensor = { 0 }, dimensions = { 0 };
	for ( int i = 0; i < rank; ++i )
	{
		lmbOnnxBytes dimension = { 0 };
		AddWhole( &dimension, dimensionValue, shape[i], failed );
		AddPart( &dimensions, shapeDimension, &dimension, failed );
	}
	AddWhole( &tensor, typeElement, elementFloat, failed );
	AddPart( &tensor, typeShape, &dimensions, failed );
	AddPart( &type, typeTensor, &tensor, failed );
	AddText( &info, valueName, name, failed );
	AddPart( &info, valueType, &type, failed );
	AddPart( to, field, &info, failed );
}

static void AddNode( lmbOnnx *graph, const char *operator, const lmbOnnxAttribute * attribute, int count,
                     const char *const *inputs, const char *output )
{
	bool *failed = &graph->noMemory;
	lmbOnnxBytes node = { 0 };
	for ( int i = 0; i < count; ++i )
		AddText( &node, nodeInput, inputs[i], failed );
	AddText( &node, nodeOutput, output, failed );
	AddText( &node, nodeOperator, operator, failed );
	if ( attribute != NULL )
	{
		lmbOnnxBytes part = { 0 };
		AddText( &part, attributeName, attribute->name, failed );
		if ( attribute->count == 0 )
			AddWhole( &part, attributeWhole, attribute->numbers[0], failed );
		for ( int i = 0; i < attribute->count; ++i )
			AddWhole( &part, attributeWholes, attribute->numbers[i], failed );
		AddWhole( &part, attributeType, attribute->count == 0 ? kindWhole : kindWholes, failed );
		AddPart( &node, nodeAttribute, &part, failed );
	}
	AddPart( &graph->nodes, graphNode, &node, failed );
}

lmbOnnxValue lmbOnnx_Input( lmbOnnx *graph, const char *name, int rank, const int64_t *shape )
{
	char text[24];
	lmbOnnxValue value = NewValue( graph );
	AddValueInfo( &graph->inputs, graphInput, name, rank, shape, &graph->noMemory );
	NameOf( value, text );
	AddNode( graph, "Identity", NULL, 1, &name, text );
	return value;
}

static lmbOnnxValue Constant( lmbOnnx *graph, int type, size_t size, int rank, const int64_t *shape,
                              const void *numbers )
{
	bool *failed = &graph->noMemory;
	lmbOnnxBytes tensor = { 0 };
	lmbOnnxValue value = NewValue( graph );
	char text[24];
	size_t count = 1;
	NameOf( value, text );
	for ( int i = 0; i < rank; ++i )
	{
		AddWhole( &tensor, tensorDimension, shape[i], failed );
		count *= (size_t)shape[i];
	}
	AddWhole( &tensor, tensorType, type, failed );
	AddText( &tensor, tensorName, text, failed );
	AddBytes( &tensor, tensorRaw, numbers, count * size, failed );
	AddPart( &graph->initializers, graphInitializer, &tensor, failed );
	return value;
}

lmbOnnxValue lmbOnnx_Floats( lmbOnnx *graph, int rank, const int64_t *shape, const float *numbers )
{
	return Constant( graph, elementFloat, sizeof( float ), rank, shape, numbers );
}

lmbOnnxValue lmbOnnx_Whole( lmbOnnx *graph, int rank, const int64_t *shape, const int64_t *numbers )
{
	return Constant( graph, elementWhole, sizeof( int64_t ), rank, shape, numbers );
}

lmbOnnxValue lmbOnnx_Node( lmbOnnx *graph, const char *operator, const lmbOnnxAttribute * attribute,
                           int count, const lmbOnnxValue *inputs )
{
	enum
	{
		most = 32
	};
	char texts[most][24], output[24];
	const char *names[most];
	for ( int i = 0; i < count && i < most; ++i )
	{
		NameOf( inputs[i], texts[i] );
		names[i] = texts[i];
	}
	lmbOnnxValue value = NewValue( graph );
	NameOf( value, output );
	AddNode( graph, operator, attribute, count < most ? count : most, names, output );
	return value;
}

lmbOnnxValue lmbOnnx_One( lmbOnnx *graph, const char *operator, lmbOnnxValue a )
{
	return lmbOnnx_Node( graph, operator, NULL, 1, &a );
}

lmbOnnxValue lmbOnnx_Two( lmbOnnx *graph, const char *operator, lmbOnnxValue a, lmbOnnxValue b )
{
	lmbOnnxValue inputs[2] = { a, b };
	return lmbOnnx_Node( graph, operator, NULL, 2, inputs );
}

void lmbOnnx_Output( lmbOnnx *graph, lmbOnnxValue value, const char *name, int rank, const int64_t *shape )
{
	char text[24];
	const char *input = text;
	NameOf( value, text );
	AddNode( graph, "Identity", NULL, 1, &input, name );
	AddValueInfo( &graph->outputs, graphOutput, name, rank, shape, &graph->noMemory );
}

lmbStatus lmbOnnx_Write( const lmbOnnx *graph, const char *name, const char *path, lmbError *error )
{
	bool failed = graph->noMemory;
	char version[32];
	lmbOnnxBytes model = { 0 }, body = { 0 }, set = { 0 };
	Append( &body, graph->nodes.data, graph->nodes.size, &failed );
	AddText( &body, graphName, name, &failed );
	Append( &body, graph->initializers.data, graph->initializers.size, &failed );
	Append( &body, graph->inputs.data, graph->inputs.size, &failed );
	Append( &body, graph->outputs.data, graph->outputs.size, &failed );
	snprintf( version, sizeof( version ), "%d.%d.%d", LMB_VERSION_MAJOR, LMB_VERSION_MINOR,
	          LMB_VERSION_PATCH );
	AddWhole( &model, modelIrVersion, irVersion, &failed );
	AddText( &model, modelProducer, "limber", &failed );
	AddText( &model, modelProducerVersion, version, &failed );
	AddPart( &model, modelGraph, &body, &failed );
	AddWhole( &set, operatorSetVersion, operatorSet, &failed );
	AddPart( &model, modelOperatorSet, &set, &failed );
	lmbStatus status =
	    failed ? lmbError_Memory( error ) : lmbFile_Write( path, model.data, model.size, error );
	free( model.data );
	return status;
}

void lmbOnnx_Free( lmbOnnx *graph )
{
	free( graph->nodes.data );
	free( graph->initializers.data );
	free( graph->inputs.data );
	free( graph->outputs.data );
	*graph = ( lmbOnnx ){ 0 };
}
