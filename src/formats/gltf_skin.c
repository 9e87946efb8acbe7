/* Bones: one per (joint node, inverse bind) over all skins that are used.
 *
 * Skin s carries its mesh space to the scene by W_n B_sn, n a joint, W_n its world matrix, B_sn the
 * inverse bind. Bind space is the mesh space of the first skin, scaled by S so that W_n B_sn / S has unit
 * scale in the default pose. Another skin's mesh space reaches it by A_s = I_n^-1 B_sn over a joint n that
 * both know, I_n being that bone's inverse bind; where joints disagree on A_s, most win and the others
 * become bones of their own. */
#include "formats/character_rig.h"

#include "base/math3.h"

#include <stdlib.h>
#include <string.h>

/* Relative difference up to which two binds count as one: float32 matrices that went through an inverse
 * and a product differ by some 1e-6; importing must stay within 1e-5 of the character's size. */
static const double bindTolerance = 4e-6;

typedef struct Bone
{
	int live;  /* the joint among the rig's nodes */
	int skin;  /* the first that made it */
	int index; /* order of making */
	double inverseBind[12];
} Bone;

typedef struct BoneSet
{
	lmbCharacter *character;
	const double *worlds; /* (liveCount x 12) default pose, scene units */
	Bone *bones;
	int count, differing;
	double extent; /* largest distance of a joint from the first one in bind space */
} BoneSet;

static lmbStatus ReadJoints( lmbGltf *gltf, const lmbJson *place, int nodeCount, lmbArena *scratch,
                             lmbSkin *skin, lmbError *error )
{
	lmbJson joints = lmbJson_Key( place, "joints" ), binds = lmbJson_Key( place, "inverseBindMatrices" );
	skin->jointCount = lmbJson_Count( &joints );
	if ( skin->jointCount == 0 )
		return lmbJson_Fail( &joints, error, lmb_statusCorrupt, "has no joints; export the file again" );
	skin->bones = LMB_NEW( scratch, int, skin->jointCount );
	skin->jointNodes = LMB_NEW( scratch, int, skin->jointCount );
	skin->inverseBinds = LMB_NEW( scratch, double, 12 * (size_t)skin->jointCount );
	if ( !skin->bones || !skin->jointNodes || !skin->inverseBinds )
		return lmbError_Memory( error );
	for ( int j = 0; j < skin->jointCount; ++j )
	{
		lmbJson item = lmbJson_Item( &joints, j );
		int64_t node = 0;
		LMB_TRY( lmbJson_NeedInt( &item, 0, nodeCount - 1, &node, error ) );
		skin->jointNodes[j] = (int)node;
		lmbMat34_Identity( skin->inverseBinds + 12 * (size_t)j );
	}
	if ( binds.value == NULL )
		return lmb_statusOk;
	lmbAccessor accessor;
	double *columns = NULL;
	LMB_TRY( lmbGltf_Accessor( gltf, &binds, " MAT4 ", &accessor, error ) );
	if ( accessor.count < skin->jointCount )
		return lmbJson_Fail( &binds, error, lmb_statusCorrupt,
		                     "%d matrices for %d joints; export the file again", accessor.count,
		                     skin->jointCount );
	LMB_TRY( lmbAccessor_Numbers( &accessor, scratch, &columns, error ) );
	for ( int j = 0; j < skin->jointCount; ++j )
	{
		const double *m = columns + 16 * (size_t)j;
		if ( fabs( m[3] ) + fabs( m[7] ) + fabs( m[11] ) + fabs( m[15] - 1.0 ) > 1e-4 )
			return lmbJson_Fail(
			    &binds, error, lmb_statusUnsupported,
			    "matrix %d has a last row other than 0 0 0 1; bind the skin anew and export again", j );
		for ( int i = 0; i < 12; ++i )
			skin->inverseBinds[12 * (size_t)j + (size_t)i] = m[4 * ( i % 4 ) + i / 4];
	}
	return lmb_statusOk;
}

static bool Invertible( const double *matrix )
{
	double linear[9];
	lmbMat34_Linear( linear, matrix );
	double size = 0.0;
	for ( int i = 0; i < 9; ++i )
		size += linear[i] * linear[i];
	/* 1e-9: a bone flattened to a billionth; a zero matrix also lands here. */
	return fabs( lmbMat33_Determinant( linear ) ) > 1e-9 * pow( size / 3.0, 1.5 ) && size > 0.0;
}

static int CompareNumbers( const void *a, const void *b )
{
	double x = *(const double *)a, y = *(const double *)b;
	return ( x > y ) - ( x < y );
}

/* S: the median over joints of the scale of bind to scene; negative for mirrored characters. */
static lmbStatus MeasureScale( const BoneSet *set, const lmbSkin *skin, lmbArena *scratch, double *scale,
                               lmbError *error )
{
	const lmbRig *rig = set->character->rig;
	double *scales = LMB_NEW( scratch, double, skin->jointCount );
	if ( scales == NULL )
		return lmbError_Memory( error );
	for ( int j = 0; j < skin->jointCount; ++j )
	{
		double matrix[12], linear[9];
		int live = rig->liveOfNode[skin->jointNodes[j]];
		lmbMat34_Multiply( matrix, set->worlds + 12 * (size_t)live, skin->inverseBinds + 12 * (size_t)j );
		lmbMat34_Linear( linear, matrix );
		scales[j] = cbrt( lmbMat33_Determinant( linear ) );
	}
	qsort( scales, (size_t)skin->jointCount, sizeof( double ), CompareNumbers );
	*scale = scales[skin->jointCount / 2];
	return lmb_statusOk;
}

/* Do two inverse binds place a body of the set's extent alike? */
static bool SameBind( const BoneSet *set, const double *a, const double *b )
{
	double linear = 0.0, linearDifference = 0.0, shift = 0.0, offset = 0.0;
	for ( int i = 0; i < 12; ++i )
	{
		double difference = ( a[i] - b[i] ) * ( a[i] - b[i] );
		if ( i % 4 == 3 )
		{
			shift += difference;
			offset += a[i] * a[i];
		}
		else
		{
			linearDifference += difference;
			linear += a[i] * a[i];
		}
	}
	linear = sqrt( linear / 3.0 );
	return sqrt( linearDifference ) <= bindTolerance * linear &&
	       sqrt( shift ) <= bindTolerance * ( linear * set->extent + sqrt( offset ) );
}

static int FindBone( const BoneSet *set, int live, const double *inverseBind )
{
	for ( int b = 0; b < set->count; ++b )
		if ( set->bones[b].live == live && SameBind( set, set->bones[b].inverseBind, inverseBind ) )
			return b;
	return -1;
}

/* The skin's inverse bind of joint j in the common bind space: B A^-1. */
static void CommonBind( const lmbSkin *skin, int joint, double *out )
{
	double inverse[12];
	lmbMat34_Inverse( inverse, skin->meshToBind );
	lmbMat34_Multiply( out, skin->inverseBinds + 12 * (size_t)joint, inverse );
}

static int CountAgreeing( const BoneSet *set, const lmbSkin *skin )
{
	int agreeing = 0;
	for ( int j = 0; j < skin->jointCount; ++j )
	{
		double bind[12];
		CommonBind( skin, j, bind );
		agreeing += FindBone( set, set->character->rig->liveOfNode[skin->jointNodes[j]], bind ) >= 0;
	}
	return agreeing;
}

/* A_s by the joints that earlier skins know: of the first few candidates the one that most joints share. */
static bool AlignByJoints( const BoneSet *set, lmbSkin *skin )
{
	const lmbRig *rig = set->character->rig;
	double best[12];
	int bestCount = 0, tried = 0;
	for ( int j = 0; j < skin->jointCount && tried < 16; ++j )
		for ( int b = 0; b < set->count && tried < 16; ++b )
		{
			const double *bind = skin->inverseBinds + 12 * (size_t)j;
			if ( set->bones[b].live != rig->liveOfNode[skin->jointNodes[j]] ||
			     !Invertible( set->bones[b].inverseBind ) || !Invertible( bind ) )
				continue;
			double inverse[12];
			lmbMat34_Inverse( inverse, set->bones[b].inverseBind );
			lmbMat34_Multiply( skin->meshToBind, inverse, bind );
			tried += 1;
			int count = CountAgreeing( set, skin );
			if ( count > bestCount )
			{
				bestCount = count;
				memcpy( best, skin->meshToBind, sizeof( best ) );
			}
			if ( count == skin->jointCount )
				return true;
		}
	if ( bestCount > 0 )
		memcpy( skin->meshToBind, best, sizeof( best ) );
	return bestCount > 0;
}

/* No common joint: put the skin where the default pose puts it beside the nearest bone above it. */
static void AlignByPose( const BoneSet *set, lmbSkin *skin )
{
	const lmbRig *rig = set->character->rig;
	int live = rig->liveOfNode[skin->jointNodes[0]], other = -1;
	for ( int n = live; n >= 0 && other < 0; n = rig->live[n].parent )
		for ( int b = 0; b < set->count && other < 0; ++b )
			other = set->bones[b].live == n ? b : -1;
	const Bone *bone = &set->bones[other >= 0 ? other : 0];
	double reference[12], mine[12], inverse[12];
	lmbMat34_Multiply( reference, set->worlds + 12 * (size_t)bone->live, bone->inverseBind );
	lmbMat34_Multiply( mine, set->worlds + 12 * (size_t)live, skin->inverseBinds );
	if ( Invertible( reference ) && Invertible( mine ) )
	{
		lmbMat34_Inverse( inverse, reference );
		lmbMat34_Multiply( skin->meshToBind, inverse, mine );
	}
}

static lmbStatus AddSkin( BoneSet *set, const lmbJson *place, lmbSkin *skin, int skinIndex, lmbError *error )
{
	const lmbRig *rig = set->character->rig;
	for ( int j = 0; j < skin->jointCount; ++j )
	{
		double bind[12];
		int live = rig->liveOfNode[skin->jointNodes[j]];
		CommonBind( skin, j, bind );
		int bone = FindBone( set, live, bind );
		if ( bone < 0 )
		{
			if ( set->count == lmbRigBoneLimit )
				return lmbJson_Fail(
				    place, error, lmb_statusUnsupported,
				    "with this skin there are more than %d bones; remove joints that no vertex "
				    "needs",
				    lmbRigBoneLimit );
			for ( int b = 0; b < set->count; ++b )
				if ( set->bones[b].live == live )
				{
					set->differing += 1;
					break;
				}
			bone = set->count++;
			set->bones[bone] = ( Bone ){ .live = live, .skin = skinIndex, .index = bone };
			memcpy( set->bones[bone].inverseBind, bind, sizeof( bind ) );
		}
		skin->bones[j] = bone;
	}
	return lmb_statusOk;
}

static void MeasureExtent( BoneSet *set, const lmbSkin *skin )
{
	double first[3] = { 0 };
	bool any = false;
	for ( int j = 0; j < skin->jointCount; ++j )
	{
		double bind[12], inverse[12], offset[3];
		CommonBind( skin, j, bind );
		if ( !Invertible( bind ) )
			continue;
		lmbMat34_Inverse( inverse, bind );
		double position[3] = { inverse[3], inverse[7], inverse[11] };
		if ( !any )
			memcpy( first, position, sizeof( first ) );
		any = true;
		lmbSub( offset, position, first );
		set->extent = fmax( set->extent, lmbLength( offset ) );
	}
}

static int CompareBones( const void *a, const void *b )
{
	const Bone *x = a, *y = b;
	return x->live != y->live ? ( x->live > y->live ) - ( x->live < y->live ) : x->index - y->index;
}

/* The bone of the nearest ancestor, of the same skin where there is a choice. */
static int FindParent( const BoneSet *set, const Bone *bone )
{
	const lmbRig *rig = set->character->rig;
	for ( int n = rig->live[bone->live].parent; n >= 0; n = rig->live[n].parent )
	{
		int found = -1;
		for ( int b = 0; b < set->count && set->bones[b].live <= n; ++b )
			if ( set->bones[b].live == n && ( found < 0 || set->bones[b].skin == bone->skin ) )
				found = b;
		if ( found >= 0 )
			return found;
	}
	return -1;
}

/* Sorts the bones, parents first, and hands them to the character. */
static lmbStatus FinishBones( BoneSet *set, lmbSkin *skins, int skinCount, lmbArena *scratch,
                              lmbError *error )
{
	lmbCharacter *character = set->character;
	lmbRig *rig = character->rig;
	int *newIndex = LMB_NEW( scratch, int, set->count );
	character->boneCount = set->count;
	character->bones = LMB_NEW( &character->arena, lmbBone, set->count );
	rig->boneLive = LMB_NEW( &character->arena, int, set->count );
	rig->inverseBinds = LMB_NEW( &character->arena, double, 12 * (size_t)set->count );
	if ( !newIndex || !character->bones || !rig->boneLive || !rig->inverseBinds )
		return lmbError_Memory( error );
	qsort( set->bones, (size_t)set->count, sizeof( Bone ), CompareBones );
	for ( int b = 0; b < set->count; ++b )
	{
		newIndex[set->bones[b].index] = b;
		character->bones[b].parent = FindParent( set, &set->bones[b] );
		rig->boneLive[b] = set->bones[b].live;
		memcpy( rig->inverseBinds + 12 * (size_t)b, set->bones[b].inverseBind, 12 * sizeof( double ) );
	}
	for ( int s = 0; s < skinCount; ++s )
		for ( int j = 0; skins[s].used && j < skins[s].jointCount; ++j )
			skins[s].bones[j] = newIndex[skins[s].bones[j]];
	if ( set->differing > 0 )
		lmbCharacter_Note( character,
		                   "%d joints are bound differently by several skins; each bind became a bone",
		                   set->differing );
	return lmb_statusOk;
}

static lmbStatus AlignSkins( BoneSet *set, const lmbNodeTable *table, lmbSkin *skins, lmbArena *scratch,
                             lmbError *error )
{
	lmbGltf *gltf = &set->character->rig->gltf;
	lmbJson nodes = lmbJson_Key( &gltf->top, "nodes" ), list = lmbJson_Key( &gltf->top, "skins" );
	int first = -1;
	bool *done = LMB_NEW( scratch, bool, lmbJson_Count( &list ) );
	if ( done == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < table->skinnedCount; ++i )
	{
		lmbJson node = lmbJson_Item( &nodes, table->skinned[i] ), skinPlace = lmbJson_Key( &node, "skin" );
		int index = (int)json_number_value( skinPlace.value );
		if ( done[index] )
			continue;
		done[index] = true;
		lmbSkin *skin = &skins[index];
		lmbJson place = lmbJson_Item( &list, index );
		if ( first < 0 )
		{
			double scale = 0.0;
			LMB_TRY( MeasureScale( set, skin, scratch, &scale, error ) );
			if ( !( fabs( scale ) > 1e-12 && fabs( scale ) < 1e12 ) )
				return lmbJson_Fail(
				    &place, error, lmb_statusNumerical,
				    "the nodes scale this skin by %.3g; apply all scales in the modelling tool and "
				    "export again",
				    scale );
			lmbMat34_Identity( skin->meshToBind );
			skin->meshToBind[0] = skin->meshToBind[5] = skin->meshToBind[10] = scale;
			MeasureExtent( set, skin );
			first = index;
		}
		else
		{
			memcpy( skin->meshToBind, skins[first].meshToBind, sizeof( skin->meshToBind ) );
			if ( !AlignByJoints( set, skin ) )
				AlignByPose( set, skin );
		}
		LMB_TRY( AddSkin( set, &place, skin, index, error ) );
	}
	return lmb_statusOk;
}

lmbStatus lmbGltf_ReadSkins( lmbCharacter *character, const lmbNodeTable *table, lmbArena *scratch,
                             lmbSkin **skins, int *skinCount, lmbError *error )
{
	lmbRig *rig = character->rig;
	lmbJson nodes = lmbJson_Key( &rig->gltf.top, "nodes" ), list = lmbJson_Key( &rig->gltf.top, "skins" );
	*skinCount = lmbJson_Count( &list );
	if ( table->skinnedCount == 0 )
		return lmbJson_Fail(
		    &list, error, lmb_statusUnsupported,
		    "no mesh of the scene is bound to a skeleton; parent the mesh to an armature with "
		    "weights (Blender: Ctrl-P, With Automatic Weights) and export again" );
	*skins = LMB_NEW( scratch, lmbSkin, *skinCount );
	bool *wanted = LMB_NEW( scratch, bool, rig->nodeCount );
	if ( *skins == NULL || wanted == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < table->skinnedCount; ++i )
	{
		lmbJson node = lmbJson_Item( &nodes, table->skinned[i] ), place = lmbJson_Key( &node, "skin" );
		int index = (int)json_number_value( place.value );
		lmbSkin *skin = &( *skins )[index];
		if ( skin->used )
			continue;
		skin->used = true;
		lmbJson skinPlace = lmbJson_Item( &list, index );
		LMB_TRY( ReadJoints( &rig->gltf, &skinPlace, rig->nodeCount, scratch, skin, error ) );
		for ( int j = 0; j < skin->jointCount; ++j )
			wanted[skin->jointNodes[j]] = true;
	}
	LMB_TRY( lmbGltf_ReadLiveNodes( character, table, wanted, error ) );

	double *local = LMB_NEW( scratch, double, 10 * (size_t)rig->liveCount );
	double *worlds = LMB_NEW( scratch, double, 12 * (size_t)rig->liveCount );
	Bone *bones = LMB_NEW( scratch, Bone, lmbRigBoneLimit );
	if ( !local || !worlds || !bones )
		return lmbError_Memory( error );
	lmbRig_SampleClip( rig, -1, 0.0, local );
	lmbRig_WorldMatrices( rig, local, worlds );
	BoneSet set = { .character = character, .worlds = worlds, .bones = bones };
	LMB_TRY( AlignSkins( &set, table, *skins, scratch, error ) );
	return FinishBones( &set, *skins, *skinCount, scratch, error );
}
