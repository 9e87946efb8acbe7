/* Writes the box character as a GLB with animations, so that tests of stages that need motions have one
 * without any file from elsewhere. Clips "wave" (0.8 s: the chain bends, the root moves along) and "nod"
 * (0.6 s). */
#ifndef LMB_TESTS_BOX_GLB_H
#define LMB_TESTS_BOX_GLB_H

#include "box_tissue.h"

#include "formats/glb_writer.h"

#include <stdlib.h>

enum
{
	boxGlbKeys = 13
};

static inline json_t *BoxGlb_Channel( lmbGlbWriter *writer, json_t *samplers, int times, const char *type,
                                      const float *values, int node, const char *path )
{
	int output = lmbGlbWriter_AddFloats( writer, type, values, boxGlbKeys, lmb_glbData, false );
	json_array_append_new(
	    samplers, json_pack( "{s:i,s:i,s:s}", "input", times, "output", output, "interpolation", "LINEAR" ) );
	return json_pack( "{s:i,s:{s:i,s:s}}", "sampler", (int)json_array_size( samplers ) - 1, "target", "node",
	                  node, "path", path );
}

/* bend: rad at the extremes; travel: m along x and up for the root. */
static inline json_t *BoxGlb_Clip( lmbGlbWriter *writer, const lmbCharacter *character, const char *name,
                                   double seconds, double bend, double travel )
{
	float times[boxGlbKeys], turns[4 * boxGlbKeys] = { 0 }, places[3 * boxGlbKeys];
	const double *root = character->bones[0].bind;
	for ( int k = 0; k < boxGlbKeys; ++k )
	{
		double share = (double)k / ( boxGlbKeys - 1 ), angle = bend * sin( 6.283185307 * share );
		times[k] = (float)( seconds * share );
		turns[4 * k + 2] = (float)sin( 0.5 * angle );
		turns[4 * k + 3] = (float)cos( 0.5 * angle );
		places[3 * k] = (float)( root[3] + travel * share );
		places[3 * k + 1] = (float)( root[7] + 0.5 * travel * sin( 9.0 * share ) );
		places[3 * k + 2] = (float)root[11];
	}
	json_t *samplers = json_array(), *channels = json_array();
	int input = lmbGlbWriter_AddFloats( writer, "SCALAR", times, boxGlbKeys, lmb_glbData, true );
	for ( int j = 1; j < character->boneCount; ++j )
		json_array_append_new( channels,
		                       BoxGlb_Channel( writer, samplers, input, "VEC4", turns, j, "rotation" ) );
	json_array_append_new( channels,
	                       BoxGlb_Channel( writer, samplers, input, "VEC3", places, 0, "translation" ) );
	return json_pack( "{s:s,s:o,s:o}", "name", name, "samplers", samplers, "channels", channels );
}

static inline json_t *BoxGlb_Mesh( lmbGlbWriter *writer, const lmbCharacter *character )
{
	size_t count = (size_t)character->vertexCount;
	float *positions = calloc( 3 * count, sizeof( float ) ), *weights = calloc( 4 * count, sizeof( float ) );
	uint16_t *joints = calloc( 4 * count, sizeof( uint16_t ) );
	for ( size_t v = 0; v < count; ++v )
	{
		for ( int i = 0; i < 3; ++i )
			positions[3 * v + i] = (float)character->bind[3 * v + i];
		for ( int k = 0; k < 2; ++k )
		{
			weights[4 * v + k] = (float)character->weights[2 * v + k];
			joints[4 * v + k] = weights[4 * v + k] > 0.0f ? (uint16_t)character->vertexBones[2 * v + k] : 0;
		}
	}
	int position = lmbGlbWriter_AddFloats( writer, "VEC3", positions, count, lmb_glbVertices, true );
	int weight = lmbGlbWriter_AddFloats( writer, "VEC4", weights, count, lmb_glbVertices, false );
	int joint = lmbGlbWriter_AddJoints( writer, joints, count );
	int indices = lmbGlbWriter_AddIndices( writer, (const uint32_t *)character->triangles,
	                                       3 * (size_t)character->triangleCount );
	free( positions );
	free( weights );
	free( joints );
	return json_pack( "{s:[{s:{s:i,s:i,s:i},s:i}]}", "primitives", "attributes", "POSITION", position,
	                  "JOINTS_0", joint, "WEIGHTS_0", weight, "indices", indices );
}

static inline lmbStatus BoxGlb_Write( const lmbCharacter *character, const char *path, lmbError *error )
{
	lmbGlbWriter writer;
	lmbGlbWriter_Init( &writer, NULL, error );
	json_t *nodes = json_array(), *joints = json_array();
	float *inverse = calloc( 16 * (size_t)character->boneCount, sizeof( float ) );
	for ( int j = 0; j < character->boneCount; ++j )
	{
		const double *bind = character->bones[j].bind;
		double place[3] = { bind[3], bind[7], bind[11] };
		for ( int i = 0; i < 3; ++i )
		{
			inverse[16 * j + 5 * i] = 1.0f;
			inverse[16 * j + 12 + i] = (float)-place[i];
			if ( j > 0 )
				place[i] -= character->bones[j - 1].bind[4 * i + 3];
		}
		inverse[16 * j + 15] = 1.0f;
		json_t *node = json_pack( "{s:s,s:[f,f,f]}", "name", character->bones[j].name, "translation",
		                          place[0], place[1], place[2] );
		if ( j + 1 < character->boneCount )
			json_object_set_new( node, "children", json_pack( "[i]", j + 1 ) );
		json_array_append_new( nodes, node );
		json_array_append_new( joints, json_integer( j ) );
	}
	json_array_append_new( nodes, json_pack( "{s:s,s:i,s:i}", "name", "box", "mesh", 0, "skin", 0 ) );
	json_object_set_new( writer.root, "nodes", nodes );
	json_object_set_new( writer.root, "scenes",
	                     json_pack( "[{s:[i,i]}]", "nodes", 0, character->boneCount ) );
	json_object_set_new( writer.root, "scene", json_integer( 0 ) );
	json_object_set_new( writer.root, "meshes", json_pack( "[o]", BoxGlb_Mesh( &writer, character ) ) );
	int matrices =
	    lmbGlbWriter_AddFloats( &writer, "MAT4", inverse, (size_t)character->boneCount, lmb_glbData, false );
	json_object_set_new( writer.root, "skins",
	                     json_pack( "[{s:o,s:i}]", "joints", joints, "inverseBindMatrices", matrices ) );
	json_object_set_new( writer.root, "animations",
	                     json_pack( "[o,o]", BoxGlb_Clip( &writer, character, "wave", 0.8, 0.7, 0.5 ),
	                                BoxGlb_Clip( &writer, character, "nod", 0.6, -0.4, 0.0 ) ) );
	free( inverse );
	lmbStatus status = lmbGlbWriter_Write( &writer, path, error );
	lmbGlbWriter_Free( &writer );
	return status;
}

#endif
