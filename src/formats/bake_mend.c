/* What a baked file mends of its source, so that viewers show what was computed and validators pass it. */
#include "formats/bake_glb.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum
{
	setLimit = 8
};

typedef struct WeightSets
{
	int count, vertexCount;
	double *values[setLimit]; /* (vertexCount x 4) */
} WeightSets;

static lmbStatus ReadSets( lmbGltf *gltf, const lmbPart *part, lmbArena *arena, WeightSets *sets,
                           lmbError *error )
{
	lmbJson meshes = lmbJson_Key( &gltf->top, "meshes" ), mesh = lmbJson_Item( &meshes, part->mesh );
	lmbJson primitives = lmbJson_Key( &mesh, "primitives" );
	lmbJson primitive = lmbJson_Item( &primitives, part->primitive );
	lmbJson attributes = lmbJson_Key( &primitive, "attributes" );
	sets->vertexCount = part->vertexCount;
	for ( int n = 0; n < setLimit; ++n )
	{
		char key[24];
		snprintf( key, sizeof( key ), "WEIGHTS_%d", n );
		lmbJson place = lmbJson_Key( &attributes, key );
		if ( place.value == NULL )
			break;
		lmbAccessor accessor;
		size_t budget = gltf->budget; /* read before, and counted then */
		LMB_TRY( lmbGltf_Accessor( gltf, &place, " VEC4 ", &accessor, error ) );
		gltf->budget = budget;
		LMB_TRY( lmbAccessor_Numbers( &accessor, arena, &sets->values[n], error ) );
		sets->count = n + 1;
	}
	return lmb_statusOk;
}

/* The specification allows 2e-7 per weight that is not 0; true when a vertex is further off, and then all
 * are scaled to 1, rounding included. */
static bool Normalize( WeightSets *sets )
{
	bool off = false;
	if ( sets->count == 0 )
		return false;
	for ( int i = 0; i < sets->vertexCount; ++i )
	{
		double sum = 0.0;
		int used = 0;
		for ( int k = 0; k < 4 * sets->count; ++k )
		{
			double weight = sets->values[k / 4][4 * (size_t)i + (size_t)( k % 4 )];
			off = off || weight < 0.0;
			sum += weight;
			used += weight != 0.0 ? 1 : 0;
		}
		off = off || fabs( sum - 1.0 ) > 2e-7 * used;
	}
	for ( int i = 0; off && i < sets->vertexCount; ++i )
	{
		double sum = 0.0, rounded = 0.0, *largest = &sets->values[0][4 * (size_t)i];
		for ( int k = 0; k < 4 * sets->count; ++k )
			sum += fmax( sets->values[k / 4][4 * (size_t)i + (size_t)( k % 4 )], 0.0 );
		if ( sum == 0.0 )
			*largest = sum = 1.0;
		for ( int k = 0; k < 4 * sets->count; ++k )
		{
			double *weight = &sets->values[k / 4][4 * (size_t)i + (size_t)( k % 4 )];
			*weight = (double)(float)( fmax( *weight, 0.0 ) / sum );
			rounded += *weight;
			largest = *weight > *largest ? weight : largest;
		}
		*largest += 1.0 - rounded;
	}
	return off;
}

static lmbStatus WriteSets( lmbBakeFile *file, const lmbPart *part, const WeightSets *sets,
                            json_t *attributes, lmbError *error )
{
	lmbArena scratch = { 0 };
	size_t numbers = 4 * (size_t)part->vertexCount;
	float *values = LMB_NEW( &scratch, float, numbers );
	lmbStatus status = values != NULL ? lmb_statusOk : lmbError_Memory( error );
	for ( int n = 0; status == lmb_statusOk && n < sets->count; ++n )
	{
		char key[24];
		snprintf( key, sizeof( key ), "WEIGHTS_%d", n );
		for ( size_t i = 0; i < numbers; ++i )
			values[i] = (float)sets->values[n][i];
		int accessor = lmbGlbWriter_AddFloats( &file->writer, "VEC4", values, (size_t)part->vertexCount,
		                                       lmb_glbVertices, false );
		if ( json_object_set_new( attributes, key, json_integer( accessor ) ) != 0 )
			status = lmbError_Memory( error );
	}
	lmbArena_Free( &scratch );
	return status;
}

/* Viewers that do not scale weights would show another body than the one that was simulated. */
static lmbStatus MendWeights( lmbBakeFile *file, lmbError *error )
{
	const lmbCharacter *character = file->character;
	int mended = 0;
	for ( int p = 0; p < character->partCount; ++p )
	{
		const lmbPart *part = &character->parts[p];
		json_t *node = lmbBakeFile_Entry( file, "nodes", part->node );
		json_t *mesh =
		    lmbBakeFile_Entry( file, "meshes", (int)json_number_value( json_object_get( node, "mesh" ) ) );
		json_t *primitive = json_array_get( json_object_get( mesh, "primitives" ), (size_t)part->primitive );
		lmbArena scratch = { 0 };
		WeightSets sets = { 0 };
		lmbStatus status = ReadSets( &character->rig->gltf, part, &scratch, &sets, error );
		if ( status == lmb_statusOk && Normalize( &sets ) )
		{
			status = WriteSets( file, part, &sets, json_object_get( primitive, "attributes" ), error );
			mended += 1;
		}
		lmbArena_Free( &scratch );
		LMB_TRY( status );
	}
	if ( mended > 0 )
		lmbJob_Note( file->job, "weights that did not sum to 1 were scaled in the baked file (%d primitives)",
		             mended );
	return lmb_statusOk;
}

/* COLOR_1 without COLOR_0 is not valid, and COLOR_0 tints the mesh: keep such colours under a name of the
 * application's own, where they change nothing. */
static lmbStatus MendColours( lmbBakeFile *file, lmbError *error )
{
	json_t *meshes = json_object_get( file->writer.root, "meshes" );
	for ( size_t m = 0; m < json_array_size( meshes ); ++m )
	{
		json_t *primitives = json_object_get( json_array_get( meshes, m ), "primitives" );
		for ( size_t p = 0; p < json_array_size( primitives ); ++p )
		{
			json_t *attributes = json_object_get( json_array_get( primitives, p ), "attributes" );
			bool gap = false;
			for ( int n = 0; n < 8; ++n )
			{
				char key[24], own[32];
				snprintf( key, sizeof( key ), "COLOR_%d", n );
				snprintf( own, sizeof( own ), "_%s", key );
				json_t *colour = json_object_get( attributes, key );
				gap = gap || colour == NULL;
				if ( colour == NULL || !gap )
					continue;
				if ( json_object_set( attributes, own, colour ) != 0 )
					return lmbError_Memory( error );
				json_object_del( attributes, key );
			}
		}
	}
	return lmb_statusOk;
}

lmbStatus lmbBakeFile_Mend( lmbBakeFile *file, lmbError *error )
{
	LMB_TRY( MendWeights( file, error ) );
	return MendColours( file, error );
}
