#include "formats/character_rig.h"

#include "base/math3.h"
#include "flesh/skinning.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void lmbCharacter_Note( lmbCharacter *character, const char *format, ... )
{
	if ( character->noteCount == lmbRigNoteLimit )
		return;
	char line[512];
	va_list arguments;
	va_start( arguments, format );
	vsnprintf( line, sizeof( line ), format, arguments );
	va_end( arguments );
	char *copy = lmbArena_String( &character->arena, line );
	if ( copy != NULL )
		character->notes[character->noteCount++] = copy;
}

static bool NameTaken( const lmbCharacter *character, const char *name, int before )
{
	for ( int b = 0; b < before; ++b )
		if ( strcmp( character->bones[b].name, name ) == 0 )
			return true;
	return false;
}

/* Bones are spoken of by name, so names must differ: "Hips", "Hips #2". */
static lmbStatus NameBones( lmbCharacter *character, lmbError *error )
{
	const lmbRig *rig = character->rig;
	lmbJson nodes = lmbJson_Key( &rig->gltf.top, "nodes" );
	for ( int b = 0; b < character->boneCount; ++b )
	{
		int nodeIndex = rig->live[rig->boneLive[b]].node;
		lmbJson node = lmbJson_Item( &nodes, nodeIndex ), place = lmbJson_Key( &node, "name" );
		char plain[256], name[288];
		if ( lmbJson_Text( &place ) != NULL && lmbJson_Text( &place )[0] != 0 )
			snprintf( plain, sizeof( plain ), "%s", lmbJson_Text( &place ) );
		else
			snprintf( plain, sizeof( plain ), "node %d", nodeIndex );
		snprintf( name, sizeof( name ), "%s", plain );
		for ( int n = 2; NameTaken( character, name, b ); ++n )
			snprintf( name, sizeof( name ), "%s #%d", plain, n );
		character->bones[b].name = lmbArena_String( &character->arena, name );
		if ( character->bones[b].name == NULL )
			return lmbError_Memory( error );
	}
	return lmb_statusOk;
}

/* A power of ten that brings a body of this many units to the size of people and animals. Centimetres
 * come first: they are what exporters forget to convert; then millimetres, and whatever else it takes. */
static double GuessUnit( double extent )
{
	static const double candidates[] = { 0.01, 0.001, 0.1, 100.0, 10.0, 1000.0 };
	if ( extent >= 0.05 && extent <= 20.0 )
		return 1.0;
	for ( size_t i = 0; i < sizeof( candidates ) / sizeof( candidates[0] ); ++i )
		if ( extent * candidates[i] >= 0.25 && extent * candidates[i] <= 5.0 )
			return candidates[i];
	return pow( 10.0, -floor( log10( extent / 0.5 ) ) );
}

/* The longest side of the box around the skin in the default pose, scene units. */
static lmbStatus MeasureExtent( const lmbCharacter *character, double *extent, lmbError *error )
{
	double *bones = malloc( 12 * sizeof( double ) * (size_t)character->boneCount );
	double *points = malloc( 3 * sizeof( double ) * (size_t)character->vertexCount );
	if ( bones == NULL || points == NULL )
	{
		free( bones );
		free( points );
		return lmbError_Memory( error );
	}
	lmbCharacter_Pose( character, -1, 0.0, bones );
	const lmbWeights weights = { character->vertexCount, character->influenceCount, character->vertexBones,
	                             character->weights };
	lmbSkin_Points( &weights, bones, character->bind, points );
	double low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY };
	bool finite = true;
	for ( int i = 0; i < 3 * character->triangleCount; ++i )
		for ( int c = 0; c < 3; ++c )
		{
			double value = points[3 * (size_t)character->triangles[i] + (size_t)c];
			finite = finite && isfinite( value );
			low[c] = fmin( low[c], value );
			high[c] = fmax( high[c], value );
		}
	free( bones );
	free( points );
	*extent = fmax( fmax( high[0] - low[0], high[1] - low[1] ), high[2] - low[2] );
	if ( finite && *extent > 1e-12 && *extent < 1e12 )
		return lmb_statusOk;
	return lmbError_Set(
	    error, lmb_statusNumerical,
	    "%s: in its default pose the skin is %g units long; apply all scales in the modelling "
	    "tool and export again",
	    character->path, *extent );
}

/* From scene units to metres: vertices, bind frames, inverse binds. */
static lmbStatus ApplyUnit( lmbCharacter *character, const lmbImportDef *def, lmbError *error )
{
	lmbRig *rig = character->rig;
	double extent = 0.0;
	LMB_TRY( MeasureExtent( character, &extent, error ) );
	double unit = def->metresPerUnit;
	if ( unit == 0.0 )
	{
		unit = GuessUnit( extent );
		if ( unit == 1.0 )
			lmbCharacter_Note( character, "the skin is %.3g units long, taken as metres", extent );
		else
			lmbCharacter_Note(
			    character,
			    "the skin is %.3g units long, so a unit is taken as %g m and the body as %.3g m; "
			    "set the unit if that is wrong",
			    extent, unit, extent * unit );
	}
	character->unitGiven = def->metresPerUnit != 0.0;
	character->metresPerUnit = unit;
	for ( size_t i = 0; i < 3 * (size_t)character->vertexCount; ++i )
		character->bind[i] *= unit;
	for ( int p = 0; p < character->partCount; ++p )
		for ( int i = 0; i < 12; ++i )
			rig->parts[p].meshToBind[i] *= unit;
	for ( int b = 0; b < character->boneCount; ++b )
		for ( int i = 0; i < 12; ++i )
			rig->inverseBinds[12 * (size_t)b + (size_t)i] /= i % 4 == 3 ? 1.0 : unit;
	return lmb_statusOk;
}

/* Joint frames in bind space: the inverse of the inverse bind, without its scale. */
static lmbStatus MakeBindFrames( lmbCharacter *character, lmbError *error )
{
	const lmbRig *rig = character->rig;
	double *frames = malloc( 12 * sizeof( double ) * (size_t)character->boneCount );
	double *turns = malloc( 4 * sizeof( double ) * (size_t)character->boneCount );
	if ( frames == NULL || turns == NULL )
	{
		free( frames );
		free( turns );
		return lmbError_Memory( error );
	}
	int flat = 0;
	for ( int b = 0; b < character->boneCount; ++b )
	{
		double *frame = frames + 12 * (size_t)b, linear[9];
		const double *inverseBind = rig->inverseBinds + 12 * (size_t)b;
		lmbMat34_Linear( linear, inverseBind );
		double size = 0.0;
		for ( int i = 0; i < 9; ++i )
			size += linear[i] * linear[i];
		if ( fabs( lmbMat33_Determinant( linear ) ) > 1e-9 * pow( size / 3.0, 1.5 ) && size > 0.0 )
			lmbMat34_Inverse( frame, inverseBind );
		else
		{
			flat += 1;
			lmbMat34_Identity( frame );
			if ( character->bones[b].parent >= 0 )
				memcpy( frame, frames + 12 * (size_t)character->bones[b].parent, 12 * sizeof( double ) );
		}
		/* A mirrored joint has no rotation; the nearest one turns all three axes round. */
		lmbMat34_Linear( linear, frame );
		double sign = lmbMat33_Determinant( linear ) < 0.0 ? -1.0 : 1.0;
		for ( int i = 0; i < 12; ++i )
			frame[i] *= i % 4 == 3 ? 1.0 : sign;
	}
	lmbSkin_BoneQuaternions( character->boneCount, frames, turns );
	for ( int b = 0; b < character->boneCount; ++b )
	{
		double rotation[9];
		lmbQuat_ToMat33( rotation, turns + 4 * (size_t)b );
		for ( int i = 0; i < 12; ++i )
			character->bones[b].bind[i] =
			    i % 4 == 3 ? frames[12 * (size_t)b + (size_t)i] : rotation[3 * ( i / 4 ) + i % 4];
	}
	free( frames );
	free( turns );
	if ( flat > 0 )
		lmbCharacter_Note( character,
		                   "%d joints have an inverse bind that cannot be inverted; they count as "
		                   "standing where their parent stands",
		                   flat );
	return lmb_statusOk;
}

static lmbStatus ReadCharacter( lmbCharacter *character, const lmbImportDef *def, lmbArena *scratch,
                                lmbError *error )
{
	lmbNodeTable table = { 0 };
	lmbSkin *skins = NULL;
	int skinCount = 0;
	LMB_TRY( lmbGltf_Open( &character->rig->gltf, character->path, error ) );
	LMB_TRY( lmbGltf_ReadNodeTable( character, scratch, &table, error ) );
	LMB_TRY( lmbGltf_ReadSkins( character, &table, scratch, &skins, &skinCount, error ) );
	LMB_TRY( lmbGltf_ReadMeshes( character, &table, skins, scratch, error ) );
	LMB_TRY( lmbGltf_ReadClips( character, scratch, error ) );
	character->metresPerUnit = 1.0;
	LMB_TRY( ApplyUnit( character, def, error ) );
	LMB_TRY( NameBones( character, error ) );
	return MakeBindFrames( character, error );
}

lmbStatus lmbCharacter_Load( const char *path, const lmbImportDef *def, lmbCharacter **out, lmbError *error )
{
	*out = NULL;
	const lmbImportDef measured = { 0 };
	if ( def == NULL )
		def = &measured;
	if ( def->metresPerUnit != 0.0 && !( def->metresPerUnit >= 1e-6 && def->metresPerUnit <= 1e6 ) )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "metres per unit is %g; it must be 0 (measure) or in 1e-6 .. 1e6",
		                     def->metresPerUnit );
	lmbCharacter *character = calloc( 1, sizeof( *character ) );
	if ( character == NULL )
		return lmbError_Memory( error );
	character->rig = LMB_NEW( &character->arena, lmbRig, 1 );
	character->notes = LMB_NEW( &character->arena, const char *, lmbRigNoteLimit );
	character->path = lmbArena_String( &character->arena, path );
	lmbArena scratch = { 0 };
	lmbStatus status;
	if ( character->rig == NULL || character->notes == NULL || character->path == NULL )
		status = lmbError_Memory( error );
	else
		status = ReadCharacter( character, def, &scratch, error );
	lmbArena_Free( &scratch );
	if ( status == lmb_statusOk )
		*out = character;
	else
		lmbCharacter_Free( character );
	return status;
}

void lmbCharacter_Free( lmbCharacter *character )
{
	if ( character == NULL )
		return;
	if ( character->rig != NULL )
		lmbGltf_Close( &character->rig->gltf );
	lmbArena_Free( &character->arena );
	free( character );
}

int lmbCharacter_FindClip( const lmbCharacter *character, const char *name )
{
	for ( int i = 0; i < character->clipCount; ++i )
		if ( strcmp( character->clips[i].name, name ) == 0 )
			return i;
	return -1;
}

int lmbCharacter_FindBone( const lmbCharacter *character, const char *name )
{
	for ( int b = 0; b < character->boneCount; ++b )
		if ( strcmp( character->bones[b].name, name ) == 0 )
			return b;
	return -1;
}
