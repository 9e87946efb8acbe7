#include "formats/bake_glb.h"

#include "base/math3.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

json_t *lmbBakeFile_Entry( const lmbBakeFile *file, const char *key, int index )
{
	return index < 0 ? NULL : json_array_get( json_object_get( file->writer.root, key ), (size_t)index );
}

static int IntegerOr( const json_t *object, const char *key, int fallback )
{
	const json_t *value = json_object_get( object, key );
	return json_is_number( value ) ? (int)json_number_value( value ) : fallback;
}

/* --- buffers and pictures --- */

static lmbStatus CarryBuffers( lmbBakeFile *file, lmbError *error )
{
	const lmbGltf *gltf = &file->character->rig->gltf;
	size_t *offsets = LMB_NEW( &file->arena, size_t, gltf->bufferCount );
	if ( offsets == NULL )
		return lmbError_Memory( error );
	for ( int b = 0; b < gltf->bufferCount; ++b )
		offsets[b] = lmbGlbWriter_AddBytes( &file->writer, gltf->buffers[b].data, gltf->buffers[b].size );
	lmbJson views = lmbJson_Key( &gltf->top, "bufferViews" );
	for ( int v = 0; v < lmbJson_Count( &views ); ++v )
	{
		lmbJson place = lmbJson_Item( &views, v ), bufferPlace = lmbJson_Key( &place, "buffer" );
		lmbJson offsetPlace = lmbJson_Key( &place, "byteOffset" );
		int64_t buffer = 0, offset = 0;
		LMB_TRY( lmbJson_NeedInt( &bufferPlace, 0, (int64_t)gltf->bufferCount - 1, &buffer, error ) );
		LMB_TRY( lmbJson_Int( &offsetPlace, 0, UINT32_MAX, &offset, error ) );
		json_t *view = lmbBakeFile_Entry( file, "bufferViews", v );
		if ( gltf->buffers[buffer].data == NULL ||
		     json_object_get( json_object_get( view, "extensions" ), "EXT_meshopt_compression" ) != NULL ||
		     json_object_get( json_object_get( view, "extensions" ), "KHR_meshopt_compression" ) != NULL )
			return lmbJson_Fail( &place, error, lmb_statusUnsupported,
			                     "compressed or missing data cannot be carried into a baked file; export the "
			                     "character without compression" );
		if ( json_object_set_new( view, "buffer", json_integer( 0 ) ) != 0 ||
		     json_object_set_new( view, "byteOffset",
		                          json_integer( (json_int_t)offsets[buffer] + (json_int_t)offset ) ) != 0 )
			return lmbError_Memory( error );
	}
	return lmb_statusOk;
}

static const char *PictureType( const char *uri )
{
	static const char *const types[][2] = { { ".png", "image/png" },
	                                        { ".jpg", "image/jpeg" },
	                                        { ".jpeg", "image/jpeg" },
	                                        { ".webp", "image/webp" },
	                                        { ".ktx2", "image/ktx2" } };
	const char *dot = strrchr( uri, '.' );
	for ( size_t i = 0; dot != NULL && i < sizeof( types ) / sizeof( types[0] ); ++i )
		if ( strcasecmp( dot, types[i][0] ) == 0 )
			return types[i][1];
	return NULL;
}

/* Pictures beside a .gltf come along, since the new file may go elsewhere. */
static lmbStatus CarryPictures( lmbBakeFile *file, lmbError *error )
{
	lmbGltf *gltf = &file->character->rig->gltf;
	lmbJson images = lmbJson_Key( &gltf->top, "images" );
	for ( int i = 0; i < lmbJson_Count( &images ); ++i )
	{
		lmbJson place = lmbJson_Item( &images, i ), uriPlace = lmbJson_Key( &place, "uri" );
		const char *uri = lmbJson_Text( &uriPlace );
		if ( uri == NULL || strncmp( uri, "data:", 5 ) == 0 )
			continue;
		char *data = NULL;
		size_t size = 0;
		const char *type = PictureType( uri );
		lmbError problem = { 0 };
		if ( type == NULL || lmbGltf_ReadBeside( gltf, &uriPlace, uri, &file->arena, &data, &size,
		                                         &problem ) != lmb_statusOk )
		{
			lmbJob_Note( file->job, "the picture %.200s stays outside the baked file: %.300s", uri,
			             type == NULL ? "its kind is not known" : problem.message );
			continue;
		}
		int view = lmbGlbWriter_AddView( &file->writer, data, size, lmb_glbData, 0 );
		json_t *image = lmbBakeFile_Entry( file, "images", i );
		if ( view < 0 || json_object_del( image, "uri" ) != 0 ||
		     json_object_set_new( image, "bufferView", json_integer( view ) ) != 0 ||
		     json_object_set_new( image, "mimeType", json_string( type ) ) != 0 )
			return lmbError_Memory( error );
	}
	return lmb_statusOk;
}

lmbStatus lmbBakeFile_CarryOver( lmbBakeFile *file, lmbError *error )
{
	LMB_TRY( CarryBuffers( file, error ) );
	return CarryPictures( file, error );
}

/* --- morph targets --- */

/* One accessor per target for the vertices of a part, in the mesh's own space. */
static lmbStatus AddFields( lmbBakeFile *file, int partIndex, int *accessors, lmbError *error )
{
	const lmbCharacter *character = file->character;
	const lmbPart *part = &character->parts[partIndex];
	double linear[9], inverse[9];
	lmbMat34_Linear( linear, character->rig->parts[partIndex].meshToBind );
	lmbMat33_Inverse( inverse, linear );
	lmbArena scratch = { 0 };
	float *values = LMB_NEW( &scratch, float, 3 * (size_t)part->vertexCount );
	if ( values == NULL )
		return lmbError_Memory( error );
	for ( int k = 0; k < file->basis->targets; ++k )
	{
		const float *field = file->basis->fields +
		                     3 * ( (size_t)k * (size_t)character->vertexCount + (size_t)part->firstVertex );
		for ( size_t i = 0; i < (size_t)part->vertexCount; ++i )
		{
			const double in[3] = { (double)field[3 * i], (double)field[3 * i + 1], (double)field[3 * i + 2] };
			double out[3];
			lmbMat33_Apply( out, inverse, in );
			for ( size_t c = 0; c < 3; ++c )
				values[3 * i + c] = (float)out[c];
		}
		accessors[k] = lmbGlbWriter_AddFloats( &file->writer, "VEC3", values, (size_t)part->vertexCount,
		                                       lmb_glbVertices, true );
	}
	lmbArena_Free( &scratch );
	return lmb_statusOk;
}

/* An accessor of zeros as long as another one. */
static lmbStatus AddZeros( lmbBakeFile *file, int like, int *accessor, lmbError *error )
{
	int count = IntegerOr( lmbBakeFile_Entry( file, "accessors", like ), "count", 1 );
	lmbArena scratch = { 0 };
	float *zeros = count > 0 ? LMB_NEW( &scratch, float, 3 * (size_t)count ) : NULL;
	if ( zeros == NULL )
		return lmbError_Memory( error );
	*accessor = lmbGlbWriter_AddFloats( &file->writer, "VEC3", zeros, (size_t)count, lmb_glbVertices, true );
	lmbArena_Free( &scratch );
	return lmb_statusOk;
}

/* Appends the targets to a primitive. Targets that were there may also move normals; viewers expect all
 * targets of a primitive to have the same attributes, so ours get zeros there. */
static lmbStatus ExtendPrimitive( lmbBakeFile *file, json_t *primitive, const int *accessors,
                                  lmbError *error )
{
	static const char *const others[] = { "NORMAL", "TANGENT" };
	int position = IntegerOr( json_object_get( primitive, "attributes" ), "POSITION", -1 );
	json_t *targets = json_object_get( primitive, "targets" );
	int zeros[2] = { -1, -1 }, still = -1;
	size_t before = json_array_size( targets );
	for ( size_t t = 0; t < before; ++t )
		for ( int o = 0; o < 2; ++o )
			if ( zeros[o] < 0 && json_object_get( json_array_get( targets, t ), others[o] ) != NULL )
				LMB_TRY( AddZeros( file, position, &zeros[o], error ) );
	if ( accessors == NULL )
		LMB_TRY( AddZeros( file, position, &still, error ) );
	if ( targets == NULL )
	{
		targets = json_array();
		if ( targets == NULL || json_object_set_new( primitive, "targets", targets ) != 0 )
			return lmbError_Memory( error );
	}
	for ( int k = 0; k < file->basis->targets; ++k )
	{
		json_t *target = json_pack( "{s:i}", "POSITION", accessors != NULL ? accessors[k] : still );
		for ( int o = 0; o < 2 && target != NULL; ++o )
			if ( zeros[o] >= 0 && json_object_set_new( target, others[o], json_integer( zeros[o] ) ) != 0 )
				return lmbError_Memory( error );
		if ( target == NULL || json_array_append_new( targets, target ) != 0 )
			return lmbError_Memory( error );
	}
	return lmb_statusOk;
}

/* A list of numbers made exactly count + more long, with zeros. */
static bool PadWeights( json_t *object, int count, int more )
{
	json_t *weights = json_object_get( object, "weights" );
	if ( weights == NULL )
	{
		weights = json_array();
		if ( weights == NULL || json_object_set_new( object, "weights", weights ) != 0 )
			return false;
	}
	while ( json_array_size( weights ) < (size_t)count + (size_t)more )
		if ( json_array_append_new( weights, json_real( 0.0 ) ) != 0 )
			return false;
	return true;
}

/* Names by which modelling tools show the targets. */
static bool NameTargets( json_t *mesh, int before, int more )
{
	json_t *extras = json_object_get( mesh, "extras" );
	if ( extras == NULL )
	{
		extras = json_object();
		if ( extras == NULL || json_object_set_new( mesh, "extras", extras ) != 0 )
			return false;
	}
	if ( !json_is_object( extras ) )
		return true; /* somebody's own extras: left alone */
	json_t *names = json_object_get( extras, "targetNames" );
	if ( names == NULL )
	{
		names = json_array();
		if ( names == NULL || json_object_set_new( extras, "targetNames", names ) != 0 )
			return false;
	}
	if ( !json_is_array( names ) )
		return true;
	while ( json_array_size( names ) < (size_t)before + (size_t)more )
	{
		char name[32];
		int index = (int)json_array_size( names );
		snprintf( name, sizeof( name ), index < before ? "target %d" : "limber %d",
		          index < before ? index : index - before );
		if ( json_array_append_new( names, json_string( name ) ) != 0 )
			return false;
	}
	return true;
}

/* The mesh of a node, copied when other nodes show it too. */
static lmbStatus OwnMesh( lmbBakeFile *file, int nodeIndex, int *meshIndex, lmbError *error )
{
	json_t *nodes = json_object_get( file->writer.root, "nodes" );
	json_t *meshes = json_object_get( file->writer.root, "meshes" );
	int uses = 0;
	for ( size_t i = 0; i < json_array_size( nodes ); ++i )
		uses += IntegerOr( json_array_get( nodes, i ), "mesh", -1 ) == *meshIndex ? 1 : 0;
	if ( uses < 2 )
		return lmb_statusOk;
	json_t *copy = json_deep_copy( json_array_get( meshes, (size_t)*meshIndex ) );
	if ( copy == NULL || json_array_append_new( meshes, copy ) != 0 )
		return lmbError_Memory( error );
	*meshIndex = (int)json_array_size( meshes ) - 1;
	if ( json_object_set_new( json_array_get( nodes, (size_t)nodeIndex ), "mesh",
	                          json_integer( *meshIndex ) ) != 0 )
		return lmbError_Memory( error );
	return lmb_statusOk;
}

static lmbStatus ExtendNode( lmbBakeFile *file, int nodeIndex, int meshIndex, int *partAccessors,
                             lmbError *error )
{
	const lmbCharacter *character = file->character;
	int more = file->basis->targets;
	int oldMesh = meshIndex;
	LMB_TRY( OwnMesh( file, nodeIndex, &meshIndex, error ) );
	json_t *mesh = lmbBakeFile_Entry( file, "meshes", meshIndex );
	json_t *node = lmbBakeFile_Entry( file, "nodes", nodeIndex );
	json_t *primitives = json_object_get( mesh, "primitives" );
	int before = (int)json_array_size( json_object_get( json_array_get( primitives, 0 ), "targets" ) );
	for ( size_t p = 0; p < json_array_size( primitives ); ++p )
	{
		const int *accessors = NULL;
		for ( int i = 0; i < character->partCount; ++i )
			if ( character->parts[i].node == nodeIndex && character->parts[i].mesh == oldMesh &&
			     character->parts[i].primitive == (int)p )
				accessors = partAccessors + (size_t)i * (size_t)more;
		LMB_TRY( ExtendPrimitive( file, json_array_get( primitives, p ), accessors, error ) );
	}
	if ( !PadWeights( mesh, before, more ) || !NameTargets( mesh, before, more ) ||
	     ( json_object_get( node, "weights" ) != NULL && !PadWeights( node, before, more ) ) )
		return lmbError_Memory( error );
	file->nodes[file->nodeCount++] = ( lmbBakedNode ){ nodeIndex, meshIndex, before };
	return lmb_statusOk;
}

lmbStatus lmbBakeFile_AddTargets( lmbBakeFile *file, lmbError *error )
{
	const lmbCharacter *character = file->character;
	int more = file->basis->targets;
	file->nodes = LMB_NEW( &file->arena, lmbBakedNode, character->partCount );
	int *accessors = LMB_NEW( &file->arena, int, (size_t)character->partCount *(size_t)more );
	if ( file->nodes == NULL || accessors == NULL )
		return lmbError_Memory( error );
	if ( more == 0 )
		return lmb_statusOk;
	for ( int p = 0; p < character->partCount; ++p )
	{
		int *own = accessors + (size_t)p * (size_t)more, shared = character->rig->parts[p].sharedWith;
		if ( shared >= 0 )
			memcpy( own, accessors + (size_t)shared * (size_t)more, (size_t)more * sizeof( int ) );
		else
			LMB_TRY( AddFields( file, p, own, error ) );
	}
	for ( int p = 0; p < character->partCount; ++p )
	{
		bool done = false;
		for ( int n = 0; n < file->nodeCount; ++n )
			done = done || file->nodes[n].node == character->parts[p].node;
		if ( !done )
			LMB_TRY(
			    ExtendNode( file, character->parts[p].node, character->parts[p].mesh, accessors, error ) );
	}
	return lmb_statusOk;
}
