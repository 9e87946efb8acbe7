/* Vertices, weights and triangles of every primitive of every skinned node. */
#include "formats/character_rig.h"

#include "base/math3.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
	setLimit = 8, /* JOINTS_0 .. JOINTS_7 */
	influenceLimit = 4 * setLimit,
	modeTriangles = 4,
	modeStrip = 5,
	modeFan = 6
};

typedef struct Primitive
{
	lmbJson place;
	const lmbSkin *skin;
	int node, mesh, index, skinIndex;
	int mode, vertexCount, setCount;
	int positionAccessor, setAccessors[2 * setLimit];
	bool morphed; /* default morph weights are not all 0: its vertices are its own */
	int sharedWith;
	double *positions;
	uint32_t *joints[setLimit];
	double *weights[setLimit];
	int indexCount;    /* of triangles' corners as the mode lists them */
	uint32_t *indices; /* Nullable: 0, 1, 2 ... */
} Primitive;

typedef struct Reader
{
	lmbCharacter *character;
	const lmbSkin *skins;
	lmbArena *scratch;
	Primitive *primitives;
	int count, capacity;
	int unskinned, lines, morphTargets; /* for notes */
	char unskinnedNames[160];
	int rescaled, weightless, negative, degenerate;
	double lowestSum, highestSum;
} Reader;

static int ReferenceOf( const lmbJson *place )
{
	return place->value != NULL ? (int)json_number_value( place->value ) : -1;
}

static lmbStatus ReadWeightSets( lmbGltf *gltf, const lmbJson *attributes, lmbArena *scratch, Primitive *out,
                                 lmbError *error )
{
	for ( int n = 0; n <= setLimit; ++n )
	{
		char joints[24], weights[24];
		snprintf( joints, sizeof( joints ), "JOINTS_%d", n );
		snprintf( weights, sizeof( weights ), "WEIGHTS_%d", n );
		lmbJson jointPlace = lmbJson_Key( attributes, joints ),
		        weightPlace = lmbJson_Key( attributes, weights );
		if ( jointPlace.value == NULL && weightPlace.value == NULL )
			break;
		if ( n == setLimit )
			return lmbJson_Fail( &jointPlace, error, lmb_statusUnsupported,
			                     "more than %d influences a vertex; limit them in the exporter",
			                     influenceLimit );
		lmbAccessor accessor;
		LMB_TRY( lmbGltf_Accessor( gltf, &jointPlace, " VEC4 ", &accessor, error ) );
		if ( accessor.count != out->vertexCount )
			return lmbJson_Fail( &jointPlace, error, lmb_statusCorrupt,
			                     "%d entries for %d vertices; export the file again", accessor.count,
			                     out->vertexCount );
		LMB_TRY( lmbAccessor_Integers( &accessor, scratch, &out->joints[n], error ) );
		LMB_TRY( lmbGltf_Accessor( gltf, &weightPlace, " VEC4 ", &accessor, error ) );
		if ( accessor.count != out->vertexCount )
			return lmbJson_Fail( &weightPlace, error, lmb_statusCorrupt,
			                     "%d entries for %d vertices; export the file again", accessor.count,
			                     out->vertexCount );
		LMB_TRY( lmbAccessor_Numbers( &accessor, scratch, &out->weights[n], error ) );
		out->setAccessors[2 * n] = ReferenceOf( &jointPlace );
		out->setAccessors[2 * n + 1] = ReferenceOf( &weightPlace );
		out->setCount = n + 1;
	}
	return lmb_statusOk;
}

/* Adds the mesh's default morph weights; a node's own come first. */
static lmbStatus ApplyMorphs( Reader *reader, const lmbJson *node, const lmbJson *mesh, Primitive *out,
                              lmbError *error )
{
	lmbGltf *gltf = &reader->character->rig->gltf;
	lmbJson targets = lmbJson_Key( &out->place, "targets" );
	lmbJson nodeWeights = lmbJson_Key( node, "weights" ), meshWeights = lmbJson_Key( mesh, "weights" );
	const lmbJson *weights = nodeWeights.value != NULL ? &nodeWeights : &meshWeights;
	int targetCount = lmbJson_Count( &targets );
	reader->morphTargets += targetCount;
	for ( int t = 0; t < targetCount && weights->value != NULL; ++t )
	{
		lmbJson target = lmbJson_Item( &targets, t ), position = lmbJson_Key( &target, "POSITION" );
		lmbJson weightPlace = lmbJson_Item( weights, t );
		double weight = json_number_value( weightPlace.value );
		if ( weight == 0.0 || position.value == NULL )
			continue;
		lmbAccessor accessor;
		double *offsets = NULL;
		LMB_TRY( lmbGltf_Accessor( gltf, &position, " VEC3 ", &accessor, error ) );
		if ( accessor.count != out->vertexCount )
			return lmbJson_Fail( &position, error, lmb_statusCorrupt,
			                     "%d entries for %d vertices; export the file again", accessor.count,
			                     out->vertexCount );
		LMB_TRY( lmbAccessor_Numbers( &accessor, reader->scratch, &offsets, error ) );
		for ( size_t i = 0; i < 3 * (size_t)out->vertexCount; ++i )
			out->positions[i] += weight * offsets[i];
		out->morphed = true;
	}
	return lmb_statusOk;
}

static lmbStatus ReadPositions( Reader *reader, Primitive *out, lmbError *error )
{
	lmbGltf *gltf = &reader->character->rig->gltf;
	lmbJson attributes = lmbJson_Key( &out->place, "attributes" );
	lmbJson position = lmbJson_Key( &attributes, "POSITION" );
	lmbJson extensions = lmbJson_Key( &out->place, "extensions" );
	lmbJson draco = lmbJson_Key( &extensions, "KHR_draco_mesh_compression" );
	lmbJson accessors = lmbJson_Key( &gltf->top, "accessors" );
	lmbAccessor accessor;
	out->positionAccessor = ReferenceOf( &position );
	if ( draco.value != NULL )
	{
		lmbJson place = lmbJson_Item( &accessors, out->positionAccessor );
		if ( json_object_get( place.value, "bufferView" ) == NULL )
			return lmbJson_Fail(
			    &draco, error, lmb_statusUnsupported,
			    "the mesh is compressed with Draco; export again with compression switched off" );
	}
	LMB_TRY( lmbGltf_Accessor( gltf, &position, " VEC3 ", &accessor, error ) );
	LMB_TRY( lmbAccessor_Numbers( &accessor, reader->scratch, &out->positions, error ) );
	out->vertexCount = accessor.count;
	return ReadWeightSets( gltf, &attributes, reader->scratch, out, error );
}

static lmbStatus ReadIndices( Reader *reader, Primitive *out, lmbError *error )
{
	lmbJson place = lmbJson_Key( &out->place, "indices" );
	out->indexCount = out->vertexCount;
	if ( place.value == NULL )
		return lmb_statusOk;
	lmbAccessor accessor;
	LMB_TRY( lmbGltf_Accessor( &reader->character->rig->gltf, &place, " SCALAR ", &accessor, error ) );
	LMB_TRY( lmbAccessor_Integers( &accessor, reader->scratch, &out->indices, error ) );
	out->indexCount = accessor.count;
	for ( int i = 0; i < accessor.count; ++i )
		if ( out->indices[i] >= (uint32_t)out->vertexCount )
			return lmbJson_Fail( &accessor.place, error, lmb_statusCorrupt,
			                     "index %d is %u, the primitive has %d vertices; export the file again", i,
			                     out->indices[i], out->vertexCount );
	return lmb_statusOk;
}

/* An earlier primitive of the same node that uses the very same vertices, or -1. */
static int FindShared( const Reader *reader, const Primitive *primitive )
{
	for ( int i = 0; i < reader->count; ++i )
	{
		const Primitive *other = &reader->primitives[i];
		if ( other->node == primitive->node && !other->morphed && !primitive->morphed &&
		     other->positionAccessor == primitive->positionAccessor &&
		     other->setCount == primitive->setCount &&
		     memcmp( other->setAccessors, primitive->setAccessors, sizeof( other->setAccessors ) ) == 0 )
			return other->sharedWith >= 0 ? other->sharedWith : i;
	}
	return -1;
}

static lmbStatus AddPrimitive( Reader *reader, const Primitive *primitive, lmbError *error )
{
	if ( reader->count == reader->capacity )
	{
		int capacity = reader->capacity == 0 ? 16 : 2 * reader->capacity;
		Primitive *grown = LMB_NEW( reader->scratch, Primitive, capacity );
		if ( grown == NULL )
			return lmbError_Memory( error );
		if ( reader->count > 0 )
			memcpy( grown, reader->primitives, (size_t)reader->count * sizeof( Primitive ) );
		reader->primitives = grown;
		reader->capacity = capacity;
	}
	reader->primitives[reader->count++] = *primitive;
	return lmb_statusOk;
}

static void NoteUnskinned( Reader *reader, const lmbJson *node, const lmbJson *mesh )
{
	lmbJson nodeName = lmbJson_Key( node, "name" ), meshName = lmbJson_Key( mesh, "name" );
	const char *name =
	    lmbJson_Text( &nodeName ) != NULL ? lmbJson_Text( &nodeName ) : lmbJson_Text( &meshName );
	size_t used = strlen( reader->unskinnedNames );
	if ( reader->unskinned < 4 && name != NULL )
		snprintf( reader->unskinnedNames + used, sizeof( reader->unskinnedNames ) - used, "%s%.32s",
		          used > 0 ? ", " : "", name );
	reader->unskinned += 1;
}

static lmbStatus ReadNode( Reader *reader, int nodeIndex, lmbError *error )
{
	lmbGltf *gltf = &reader->character->rig->gltf;
	lmbJson nodes = lmbJson_Key( &gltf->top, "nodes" ), meshes = lmbJson_Key( &gltf->top, "meshes" );
	lmbJson node = lmbJson_Item( &nodes, nodeIndex ), skinPlace = lmbJson_Key( &node, "skin" );
	lmbJson meshPlace = lmbJson_Key( &node, "mesh" ),
	        mesh = lmbJson_Item( &meshes, ReferenceOf( &meshPlace ) );
	lmbJson primitives = lmbJson_Key( &mesh, "primitives" );
	for ( int p = 0; p < lmbJson_Count( &primitives ); ++p )
	{
		Primitive primitive = { .place = lmbJson_Item( &primitives, p ),
		                        .skin = &reader->skins[ReferenceOf( &skinPlace )],
		                        .node = nodeIndex,
		                        .mesh = ReferenceOf( &meshPlace ),
		                        .index = p,
		                        .skinIndex = ReferenceOf( &skinPlace ) };
		lmbJson modePlace = lmbJson_Key( &primitive.place, "mode" );
		int64_t mode = modeTriangles;
		LMB_TRY( lmbJson_Int( &modePlace, 0, 6, &mode, error ) );
		primitive.mode = (int)mode;
		if ( mode < modeTriangles )
		{
			reader->lines += 1;
			continue;
		}
		memset( primitive.setAccessors, -1, sizeof( primitive.setAccessors ) );
		LMB_TRY( ReadPositions( reader, &primitive, error ) );
		if ( primitive.setCount == 0 )
		{
			NoteUnskinned( reader, &node, &mesh );
			continue;
		}
		LMB_TRY( ReadIndices( reader, &primitive, error ) );
		LMB_TRY( ApplyMorphs( reader, &node, &mesh, &primitive, error ) );
		primitive.sharedWith = FindShared( reader, &primitive );
		LMB_TRY( AddPrimitive( reader, &primitive, error ) );
	}
	return lmb_statusOk;
}

typedef struct Influence
{
	int bone;
	double weight;
} Influence;

static int CompareInfluences( const void *a, const void *b )
{
	const Influence *x = a, *y = b;
	return x->weight != y->weight ? ( x->weight < y->weight ) - ( x->weight > y->weight )
	                              : ( x->bone > y->bone ) - ( x->bone < y->bone );
}

/* A vertex's influences, heaviest first, one per bone, weights as in the file. *sum of what is there. */
static lmbStatus GatherInfluences( Reader *reader, const Primitive *primitive, int vertex, Influence *out,
                                   int *count, double *sum, lmbError *error )
{
	*count = 0;
	*sum = 0.0;
	for ( int k = 0; k < 4 * primitive->setCount; ++k )
	{
		size_t at = 4 * (size_t)vertex + (size_t)( k % 4 );
		double weight = primitive->weights[k / 4][at];
		uint32_t joint = primitive->joints[k / 4][at];
		reader->negative += weight < 0.0 ? 1 : 0;
		if ( !( weight > 0.0 ) && k > 0 )
			continue;
		if ( joint >= (uint32_t)primitive->skin->jointCount )
		{
			lmbJson attributes = lmbJson_Key( &primitive->place, "attributes" );
			char key[24];
			snprintf( key, sizeof( key ), "JOINTS_%d", k / 4 );
			lmbJson place = lmbJson_Key( &attributes, key );
			if ( !( weight > 0.0 ) )
				joint = 0;
			else
				return lmbJson_Fail( &place, error, lmb_statusCorrupt,
				                     "vertex %d names joint %u of a skin of %d; export the file again",
				                     vertex, joint, primitive->skin->jointCount );
		}
		weight = fmax( weight, 0.0 );
		int bone = primitive->skin->bones[joint], at2 = 0;
		while ( at2 < *count && out[at2].bone != bone )
			at2 += 1;
		if ( at2 == *count )
			out[( *count )++] = ( Influence ){ bone, 0.0 };
		out[at2].weight += weight;
		*sum += weight;
	}
	qsort( out, (size_t)*count, sizeof( Influence ), CompareInfluences );
	while ( *count > 1 && out[*count - 1].weight == 0.0 )
		*count -= 1;
	return lmb_statusOk;
}

static lmbStatus CountInfluences( Reader *reader, lmbError *error )
{
	lmbCharacter *character = reader->character;
	Influence influences[influenceLimit];
	int count, most = 1;
	double sum;
	reader->lowestSum = reader->highestSum = 1.0;
	for ( int p = 0; p < reader->count; ++p )
		for ( int i = 0; reader->primitives[p].sharedWith < 0 && i < reader->primitives[p].vertexCount; ++i )
		{
			LMB_TRY( GatherInfluences( reader, &reader->primitives[p], i, influences, &count, &sum, error ) );
			most = count > most ? count : most;
			/* Four bytes that round to a sum of 1 may miss it by 2/255 all told. */
			reader->rescaled += fabs( sum - 1.0 ) > 0.01 ? 1 : 0;
			reader->weightless += sum == 0.0 ? 1 : 0;
			reader->lowestSum = fmin( reader->lowestSum, sum );
			reader->highestSum = fmax( reader->highestSum, sum );
		}
	character->influenceCount = most;
	return lmb_statusOk;
}

static lmbStatus FillVertices( Reader *reader, const Primitive *primitive, int first, lmbError *error )
{
	lmbCharacter *character = reader->character;
	size_t width = (size_t)character->influenceCount;
	for ( int i = 0; i < primitive->vertexCount; ++i )
	{
		size_t vertex = (size_t)first + (size_t)i;
		Influence influences[influenceLimit];
		int count;
		double sum;
		LMB_TRY( GatherInfluences( reader, primitive, i, influences, &count, &sum, error ) );
		if ( sum == 0.0 )
			influences[0].weight = sum = 1.0;
		for ( int k = 0; k < count; ++k )
		{
			character->vertexBones[vertex * width + (size_t)k] = influences[k].bone;
			character->weights[vertex * width + (size_t)k] = influences[k].weight / sum;
		}
		lmbMat34_Point( character->bind + 3 * vertex, primitive->skin->meshToBind,
		                primitive->positions + 3 * (size_t)i );
	}
	return lmb_statusOk;
}

static int CountTriangles( const Primitive *primitive )
{
	if ( primitive->mode == modeTriangles )
		return primitive->indexCount / 3;
	return primitive->indexCount > 2 ? primitive->indexCount - 2 : 0;
}

/* Corners of triangle t, as the specification's section "Meshes" orders strips and fans. */
static void TriangleCorners( const Primitive *primitive, int t, int *corners )
{
	int at[3] = { 3 * t, 3 * t + 1, 3 * t + 2 };
	if ( primitive->mode == modeStrip )
	{
		at[0] = t;
		at[1] = t + 1 + t % 2;
		at[2] = t + 2 - t % 2;
	}
	else if ( primitive->mode == modeFan )
	{
		at[0] = t + 1;
		at[1] = t + 2;
		at[2] = 0;
	}
	for ( int k = 0; k < 3; ++k )
		corners[k] = primitive->indices != NULL ? (int)primitive->indices[at[k]] : at[k];
}

static void FillTriangles( Reader *reader, const Primitive *primitive, lmbPart *part )
{
	lmbCharacter *character = reader->character;
	double linear[9];
	lmbMat34_Linear( linear, primitive->skin->meshToBind );
	bool mirrored = lmbMat33_Determinant( linear ) < 0.0;
	part->firstTriangle = character->triangleCount;
	for ( int t = 0; t < CountTriangles( primitive ); ++t )
	{
		int corners[3];
		TriangleCorners( primitive, t, corners );
		if ( corners[0] == corners[1] || corners[1] == corners[2] || corners[2] == corners[0] )
		{
			reader->degenerate += primitive->mode == modeTriangles ? 1 : 0;
			continue;
		}
		int32_t *out = character->triangles + 3 * (size_t)character->triangleCount;
		out[0] = part->firstVertex + corners[0];
		out[1] = part->firstVertex + corners[mirrored ? 2 : 1];
		out[2] = part->firstVertex + corners[mirrored ? 1 : 2];
		character->triangleCount += 1;
	}
	part->triangleCount = character->triangleCount - part->firstTriangle;
}

static lmbStatus FillPart( Reader *reader, int index, lmbError *error )
{
	lmbCharacter *character = reader->character;
	const Primitive *primitive = &reader->primitives[index];
	lmbPart *part = &character->parts[index];
	lmbRigPart *source = &character->rig->parts[index];
	lmbGltf *gltf = &character->rig->gltf;
	lmbJson nodes = lmbJson_Key( &gltf->top, "nodes" ), meshes = lmbJson_Key( &gltf->top, "meshes" );
	lmbJson node = lmbJson_Item( &nodes, primitive->node ), mesh = lmbJson_Item( &meshes, primitive->mesh );
	lmbJson nodeName = lmbJson_Key( &node, "name" ), meshName = lmbJson_Key( &mesh, "name" );
	const char *name =
	    lmbJson_Text( &nodeName ) != NULL ? lmbJson_Text( &nodeName ) : lmbJson_Text( &meshName );
	part->name = lmbArena_String( &character->arena, name != NULL ? name : "" );
	part->node = primitive->node;
	part->mesh = primitive->mesh;
	part->primitive = primitive->index;
	part->vertexCount = primitive->vertexCount;
	source->skin = primitive->skinIndex;
	source->sharedWith = primitive->sharedWith;
	source->positionAccessor = primitive->positionAccessor;
	memcpy( source->meshToBind, primitive->skin->meshToBind, sizeof( source->meshToBind ) );
	bool *used = LMB_NEW( &character->arena, bool, primitive->vertexCount );
	if ( part->name == NULL || used == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < primitive->indexCount; ++i )
		used[primitive->indices != NULL ? primitive->indices[i] : (uint32_t)i] = true;
	source->used = used;
	if ( primitive->sharedWith >= 0 )
		part->firstVertex = character->parts[primitive->sharedWith].firstVertex;
	else
	{
		part->firstVertex = character->vertexCount;
		character->vertexCount += primitive->vertexCount;
		LMB_TRY( FillVertices( reader, primitive, part->firstVertex, error ) );
	}
	FillTriangles( reader, primitive, part );
	return lmb_statusOk;
}

static lmbStatus FillCharacter( Reader *reader, lmbError *error )
{
	lmbCharacter *character = reader->character;
	size_t vertices = 0, triangles = 0;
	for ( int p = 0; p < reader->count; ++p )
	{
		vertices += reader->primitives[p].sharedWith < 0 ? (size_t)reader->primitives[p].vertexCount : 0;
		triangles += (size_t)CountTriangles( &reader->primitives[p] );
	}
	LMB_TRY( CountInfluences( reader, error ) );
	size_t width = (size_t)character->influenceCount;
	reader->negative = 0; /* counted once more while filling */
	if ( vertices > INT_MAX / 64 || triangles > INT_MAX / 64 )
		return lmbError_Set( error, lmb_statusUnsupported,
		                     "%s: has %zu vertices and %zu triangles; simplify the character",
		                     character->path, vertices, triangles );
	character->bind = LMB_NEW( &character->arena, double, 3 * vertices );
	character->triangles = LMB_NEW( &character->arena, int32_t, 3 * triangles );
	character->vertexBones = LMB_NEW( &character->arena, int32_t, width * vertices );
	character->weights = LMB_NEW( &character->arena, double, width *vertices );
	character->parts = LMB_NEW( &character->arena, lmbPart, reader->count );
	character->rig->parts = LMB_NEW( &character->arena, lmbRigPart, reader->count );
	if ( !character->bind || !character->triangles || !character->vertexBones || !character->weights ||
	     !character->parts || !character->rig->parts )
		return lmbError_Memory( error );
	character->partCount = reader->count;
	for ( int p = 0; p < reader->count; ++p )
		LMB_TRY( FillPart( reader, p, error ) );
	return lmb_statusOk;
}

static void CountUnskinned( Reader *reader, const lmbNodeTable *table )
{
	const lmbRig *rig = reader->character->rig;
	lmbJson nodes = lmbJson_Key( &rig->gltf.top, "nodes" ), meshes = lmbJson_Key( &rig->gltf.top, "meshes" );
	for ( int i = 0; i < rig->nodeCount; ++i )
	{
		lmbJson node = lmbJson_Item( &nodes, i ), mesh = lmbJson_Key( &node, "mesh" );
		lmbJson meshPlace = lmbJson_Item( &meshes, ReferenceOf( &mesh ) );
		if ( table->inScene[i] && mesh.value != NULL && json_object_get( node.value, "skin" ) == NULL )
			NoteUnskinned( reader, &node, &meshPlace );
	}
}

static void WriteNotes( const Reader *reader )
{
	lmbCharacter *character = reader->character;
	if ( reader->unskinned > 0 )
		lmbCharacter_Note(
		    character, "%d meshes without a skin stay as they are (%s%s); bind those that shall move softly",
		    reader->unskinned, reader->unskinnedNames, reader->unskinned > 4 ? ", ..." : "" );
	if ( reader->lines > 0 )
		lmbCharacter_Note( character, "%d primitives of points or lines stay as they are", reader->lines );
	if ( reader->rescaled > reader->weightless )
		lmbCharacter_Note(
		    character,
		    "the weights of %d vertices do not sum to 1 (%.2f to %.2f); they were scaled so that "
		    "they do",
		    reader->rescaled - reader->weightless, reader->lowestSum, reader->highestSum );
	if ( reader->weightless > 0 )
		lmbCharacter_Note( character, "%d vertices have no weight at all; they follow their first joint",
		                   reader->weightless );
	if ( reader->negative > 0 )
		lmbCharacter_Note( character, "%d negative weights count as 0", reader->negative );
	if ( reader->degenerate > 0 )
		lmbCharacter_Note( character, "%d triangles use a vertex twice and were dropped",
		                   reader->degenerate );
	if ( reader->morphTargets > 0 )
		lmbCharacter_Note( character,
		                   "the skinned meshes' morph targets are held at their default weights (%d targets)",
		                   reader->morphTargets );
}

lmbStatus lmbGltf_ReadMeshes( lmbCharacter *character, const lmbNodeTable *table, const lmbSkin *skins,
                              lmbArena *scratch, lmbError *error )
{
	Reader reader = { .character = character, .skins = skins, .scratch = scratch };
	CountUnskinned( &reader, table );
	for ( int i = 0; i < table->skinnedCount; ++i )
		LMB_TRY( ReadNode( &reader, table->skinned[i], error ) );
	LMB_TRY( FillCharacter( &reader, error ) );
	if ( character->triangleCount == 0 )
	{
		lmbJson meshes = lmbJson_Key( &character->rig->gltf.top, "meshes" );
		return lmbJson_Fail(
		    &meshes, error, lmb_statusUnsupported,
		    "no skinned mesh has triangles with weights; parent the mesh to its armature with "
		    "weights and export again" );
	}
	WriteNotes( &reader );
	return lmb_statusOk;
}
