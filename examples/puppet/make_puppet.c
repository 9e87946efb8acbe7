/* Writes the puppet as a binary glTF file: make_puppet PATH. */
#include "puppet.h"

#include "base/math3.h"
#include "formats/glb_writer.h"

#include <stdio.h>
#include <stdlib.h>

enum
{
	keyRate = 60, /* Hz */
	meshNode = puppetBoneCount
};

static void SetNew( json_t *object, const char *key, json_t *value )
{
	json_object_set_new( object, key, value );
}

static float *Floats( lmbArena *arena, const double *values, int count )
{
	float *out = LMB_NEW( arena, float, count );
	for ( int i = 0; i < count && out != NULL; ++i )
		out[i] = (float)values[i];
	return out;
}

/* The bones that weigh on each vertex, heaviest first. */
static lmbStatus AddInfluences( lmbArena *arena, lmbGlbWriter *writer, const PuppetMesh *mesh,
                                json_t *attributes, lmbError *error )
{
	uint16_t *joints = LMB_NEW( arena, uint16_t, puppetInfluenceCount * mesh->vertexCount );
	float *weights = LMB_NEW( arena, float, puppetInfluenceCount * mesh->vertexCount );
	if ( joints == NULL || weights == NULL )
		return lmbError_Memory( error );
	for ( int v = 0; v < mesh->vertexCount; ++v )
	{
		double left[puppetBoneCount];
		memcpy( left, mesh->weights + puppetBoneCount * v, sizeof( left ) );
		for ( int k = 0; k < puppetInfluenceCount; ++k )
		{
			int heaviest = 0;
			for ( int bone = 1; bone < puppetBoneCount; ++bone )
				if ( left[bone] > left[heaviest] )
					heaviest = bone;
			bool used = left[heaviest] > 0.0; /* the validator wants joint 0 where the weight is 0 */
			joints[puppetInfluenceCount * v + k] = used ? (uint16_t)heaviest : 0;
			weights[puppetInfluenceCount * v + k] = (float)left[heaviest];
			left[heaviest] = 0.0;
		}
	}
	SetNew( attributes, "JOINTS_0",
	        json_integer( lmbGlbWriter_AddJoints( writer, joints, (size_t)mesh->vertexCount ) ) );
	SetNew( attributes, "WEIGHTS_0",
	        json_integer( lmbGlbWriter_AddFloats( writer, "VEC4", weights, (size_t)mesh->vertexCount,
	                                              lmb_glbVertices, false ) ) );
	return lmb_statusOk;
}

static lmbStatus AddMesh( lmbArena *arena, lmbGlbWriter *writer, const PuppetMesh *mesh, lmbError *error )
{
	size_t count = (size_t)mesh->vertexCount;
	float *positions = Floats( arena, mesh->positions, 3 * mesh->vertexCount );
	float *normals = Floats( arena, mesh->normals, 3 * mesh->vertexCount );
	float *colors = Floats( arena, mesh->colors, 3 * mesh->vertexCount );
	uint32_t *indices = LMB_NEW( arena, uint32_t, 3 * mesh->triangleCount );
	if ( positions == NULL || normals == NULL || colors == NULL || indices == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < 3 * mesh->triangleCount; ++i )
		indices[i] = (uint32_t)mesh->triangles[i];
	json_t *attributes = json_object();
	SetNew(
	    attributes, "POSITION",
	    json_integer( lmbGlbWriter_AddFloats( writer, "VEC3", positions, count, lmb_glbVertices, true ) ) );
	SetNew(
	    attributes, "NORMAL",
	    json_integer( lmbGlbWriter_AddFloats( writer, "VEC3", normals, count, lmb_glbVertices, false ) ) );
	SetNew( attributes, "COLOR_0",
	        json_integer( lmbGlbWriter_AddFloats( writer, "VEC3", colors, count, lmb_glbVertices, false ) ) );
	lmbStatus status = AddInfluences( arena, writer, mesh, attributes, error );
	json_t *primitive = json_object();
	SetNew( primitive, "attributes", attributes );
	SetNew( primitive, "indices",
	        json_integer( lmbGlbWriter_AddIndices( writer, indices, 3 * (size_t)mesh->triangleCount ) ) );
	SetNew( primitive, "material", json_integer( 0 ) );
	json_t *primitives = json_array();
	json_array_append_new( primitives, primitive );
	json_t *meshes = json_array();
	json_array_append_new( meshes, json_pack( "{s:s, s:o}", "name", "puppet", "primitives", primitives ) );
	SetNew( writer->root, "meshes", meshes );
	SetNew( writer->root, "materials",
	        json_pack( "[{s:s, s:{s:f, s:f}}]", "name", "matt", "pbrMetallicRoughness", "metallicFactor", 0.0,
	                   "roughnessFactor", 0.8 ) );
	return status;
}

/* Nodes 0 .. puppetBoneCount - 1 are the bones, the one after them carries the mesh. */
static void AddSkeleton( lmbGlbWriter *writer )
{
	float inverseBinds[puppetBoneCount][16] = { { 0 } };
	json_t *nodes = json_array(), *joints = json_array();
	for ( int bone = 0; bone < puppetBoneCount; ++bone )
	{
		const PuppetBone *self = &puppetBones[bone];
		double place[3] = { self->joint[0], self->joint[1], self->joint[2] };
		if ( self->parent >= 0 )
			lmbSub( place, place, puppetBones[self->parent].joint );
		json_t *children = json_array();
		for ( int other = 0; other < puppetBoneCount; ++other )
			if ( puppetBones[other].parent == bone )
				json_array_append_new( children, json_integer( other ) );
		json_t *node =
		    json_pack( "{s:s, s:[f,f,f]}", "name", self->name, "translation", place[0], place[1], place[2] );
		if ( json_array_size( children ) > 0 )
			json_object_set( node, "children", children );
		json_decref( children );
		json_array_append_new( nodes, node );
		json_array_append_new( joints, json_integer( bone ) );
		for ( int i = 0; i < 4; ++i ) /* column-major; the bind frames are the scene's, moved */
			inverseBinds[bone][5 * i] = 1.0f;
		for ( int i = 0; i < 3; ++i )
			inverseBinds[bone][12 + i] = (float)-self->joint[i];
	}
	json_array_append_new( nodes, json_pack( "{s:s, s:i, s:i}", "name", "puppet", "mesh", 0, "skin", 0 ) );
	SetNew( writer->root, "nodes", nodes );
	SetNew( writer->root, "scene", json_integer( 0 ) );
	SetNew( writer->root, "scenes", json_pack( "[{s:[i,i]}]", "nodes", meshNode, puppetPelvis ) );
	int accessor =
	    lmbGlbWriter_AddFloats( writer, "MAT4", &inverseBinds[0][0], puppetBoneCount, lmb_glbData, false );
	SetNew( writer->root, "skins",
	        json_pack( "[{s:s, s:i, s:i, s:o}]", "name", "puppet", "inverseBindMatrices", accessor,
	                   "skeleton", puppetPelvis, "joints", joints ) );
}

static void AddChannel( json_t *animation, int node, const char *path, int times, int values )
{
	json_t *samplers = json_object_get( animation, "samplers" );
	json_array_append_new( json_object_get( animation, "channels" ),
	                       json_pack( "{s:i, s:{s:i, s:s}}", "sampler", (int)json_array_size( samplers ),
	                                  "target", "node", node, "path", path ) );
	json_array_append_new( samplers, json_pack( "{s:i, s:s, s:i}", "input", times, "interpolation", "LINEAR",
	                                            "output", values ) );
}

/* Keys of one motion: the root's place and every joint's turn, with signs such that neighbouring
 * quaternions are close. */
static lmbStatus AddMotion( lmbArena *arena, lmbGlbWriter *writer, json_t *animations,
                            const PuppetMotion *motion, lmbError *error )
{
	int count = (int)( motion->duration * keyRate + 0.5 ) + 1;
	float *times = LMB_NEW( arena, float, count ), *places = LMB_NEW( arena, float, 3 * count );
	float *turns = LMB_NEW( arena, float, 4 * count * puppetBoneCount );
	if ( times == NULL || places == NULL || turns == NULL )
		return lmbError_Memory( error );
	for ( int key = 0; key < count; ++key )
	{
		PuppetPose pose;
		motion->pose( (double)key / keyRate, &pose );
		times[key] = (float)( (double)key / keyRate );
		for ( int i = 0; i < 3; ++i )
			places[3 * key + i] = (float)pose.root[i];
		for ( int bone = 0; bone < puppetBoneCount; ++bone )
		{
			float *turn = turns + 4 * ( bone * count + key );
			double dot = 0.0;
			for ( int i = 0; i < 4 && key > 0; ++i )
				dot += pose.rotations[bone][i] * turn[i - 4];
			for ( int i = 0; i < 4; ++i )
				turn[i] = (float)( dot < 0.0 ? -pose.rotations[bone][i] : pose.rotations[bone][i] );
		}
	}
	json_t *animation = json_pack( "{s:s, s:[], s:[]}", "name", motion->name, "channels", "samplers" );
	int input = lmbGlbWriter_AddFloats( writer, "SCALAR", times, (size_t)count, lmb_glbData, true );
	AddChannel( animation, puppetPelvis, "translation", input,
	            lmbGlbWriter_AddFloats( writer, "VEC3", places, (size_t)count, lmb_glbData, false ) );
	for ( int bone = 0; bone < puppetBoneCount; ++bone )
		AddChannel( animation, bone, "rotation", input,
		            lmbGlbWriter_AddFloats( writer, "VEC4", turns + 4 * bone * count, (size_t)count,
		                                    lmb_glbData, false ) );
	json_array_append_new( animations, animation );
	return lmb_statusOk;
}

static lmbStatus AddAll( lmbArena *arena, lmbGlbWriter *writer, lmbError *error )
{
	PuppetMesh mesh;
	LMB_TRY( PuppetMesh_Make( arena, &mesh, error ) );
	LMB_TRY( PuppetMesh_AddWeights( arena, &mesh, error ) );
	LMB_TRY( AddMesh( arena, writer, &mesh, error ) );
	AddSkeleton( writer );
	json_t *animations = json_array();
	SetNew( writer->root, "animations", animations );
	for ( int i = 0; i < puppetMotionCount; ++i )
		LMB_TRY( AddMotion( arena, writer, animations, &puppetMotions[i], error ) );
	return lmb_statusOk;
}

static lmbStatus MakePuppet( const char *path, lmbError *error )
{
	lmbArena arena = { 0 };
	lmbGlbWriter writer;
	lmbStatus status = lmbGlbWriter_Init( &writer, NULL, error );
	if ( status == lmb_statusOk )
		status = AddAll( &arena, &writer, error );
	if ( status == lmb_statusOk )
		status = lmbGlbWriter_Write( &writer, path, error );
	lmbGlbWriter_Free( &writer );
	lmbArena_Free( &arena );
	return status;
}

int main( int argc, char **argv )
{
	if ( argc != 2 )
	{
		fprintf( stderr, "usage: make_puppet PATH\n" );
		return EXIT_FAILURE;
	}
	lmbError error = { 0 };
	if ( MakePuppet( argv[1], &error ) == lmb_statusOk )
		return EXIT_SUCCESS;
	fprintf( stderr, "make_puppet: %s\n", error.message );
	return EXIT_FAILURE;
}
