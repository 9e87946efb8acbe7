#include "formats/character_rig.h"

#include "base/math3.h"

#include <string.h>

static lmbStatus ReadParents( const lmbGltf *gltf, int nodeCount, int *parents, lmbError *error )
{
	lmbJson nodes = lmbJson_Key( &gltf->top, "nodes" );
	for ( int i = 0; i < nodeCount; ++i )
		parents[i] = -1;
	for ( int i = 0; i < nodeCount; ++i )
	{
		lmbJson node = lmbJson_Item( &nodes, i );
		lmbJson children = lmbJson_Key( &node, "children" );
		for ( int k = 0; k < lmbJson_Count( &children ); ++k )
		{
			lmbJson item = lmbJson_Item( &children, k );
			int64_t child = 0;
			LMB_TRY( lmbJson_NeedInt( &item, 0, nodeCount - 1, &child, error ) );
			if ( parents[child] >= 0 || child == i )
				return lmbJson_Fail( &item, error, lmb_statusCorrupt,
				                     "node %lld is its own child or has two parents; export the file again",
				                     (long long)child );
			parents[child] = i;
		}
	}
	return lmb_statusOk;
}

/* Parents before children, by walking up from each node; a walk that never ends is a cycle. */
static lmbStatus OrderNodes( const lmbGltf *gltf, int nodeCount, const int *parents, lmbArena *scratch,
                             int *order, lmbError *error )
{
	bool *placed = LMB_NEW( scratch, bool, nodeCount );
	int *path = LMB_NEW( scratch, int, nodeCount );
	if ( placed == NULL || path == NULL )
		return lmbError_Memory( error );
	int count = 0;
	for ( int i = 0; i < nodeCount; ++i )
	{
		int depth = 0;
		for ( int n = i; n >= 0 && !placed[n]; n = parents[n] )
		{
			if ( depth == nodeCount )
			{
				lmbJson nodes = lmbJson_Key( &gltf->top, "nodes" ), node = lmbJson_Item( &nodes, i );
				lmbJson children = lmbJson_Key( &node, "children" );
				return lmbJson_Fail( &children, error, lmb_statusCorrupt,
				                     "the nodes form a circle; export the file again" );
			}
			path[depth++] = n;
		}
		while ( depth > 0 )
		{
			order[count++] = path[--depth];
			placed[path[depth]] = true;
		}
	}
	return lmb_statusOk;
}

static lmbStatus MarkScene( const lmbGltf *gltf, int nodeCount, lmbNodeTable *table, lmbError *error )
{
	lmbJson scenes = lmbJson_Key( &gltf->top, "scenes" ), choice = lmbJson_Key( &gltf->top, "scene" );
	int sceneCount = lmbJson_Count( &scenes );
	int64_t scene = 0;
	if ( sceneCount == 0 )
	{
		memset( table->inScene, 1, (size_t)nodeCount * sizeof( bool ) );
		return lmb_statusOk;
	}
	LMB_TRY( lmbJson_Int( &choice, 0, sceneCount - 1, &scene, error ) );
	lmbJson place = lmbJson_Item( &scenes, (int)scene ), roots = lmbJson_Key( &place, "nodes" );
	for ( int k = 0; k < lmbJson_Count( &roots ); ++k )
	{
		lmbJson item = lmbJson_Item( &roots, k );
		int64_t node = 0;
		LMB_TRY( lmbJson_NeedInt( &item, 0, nodeCount - 1, &node, error ) );
		table->inScene[node] = true;
	}
	for ( int k = 0; k < nodeCount; ++k )
	{
		int node = table->order[k];
		if ( table->parents[node] >= 0 && table->inScene[table->parents[node]] )
			table->inScene[node] = true;
	}
	return lmb_statusOk;
}

lmbStatus lmbGltf_ReadNodeTable( lmbCharacter *character, lmbArena *scratch, lmbNodeTable *table,
                                 lmbError *error )
{
	lmbRig *rig = character->rig;
	lmbJson nodes = lmbJson_Key( &rig->gltf.top, "nodes" ), meshes = lmbJson_Key( &rig->gltf.top, "meshes" );
	lmbJson skins = lmbJson_Key( &rig->gltf.top, "skins" );
	int count = rig->nodeCount = lmbJson_Count( &nodes );
	table->parents = LMB_NEW( scratch, int, count );
	table->order = LMB_NEW( scratch, int, count );
	table->inScene = LMB_NEW( scratch, bool, count );
	table->skinned = LMB_NEW( scratch, int, count );
	if ( !table->parents || !table->order || !table->inScene || !table->skinned )
		return lmbError_Memory( error );
	LMB_TRY( ReadParents( &rig->gltf, count, table->parents, error ) );
	LMB_TRY( OrderNodes( &rig->gltf, count, table->parents, scratch, table->order, error ) );
	LMB_TRY( MarkScene( &rig->gltf, count, table, error ) );
	for ( int i = 0; i < count; ++i )
	{
		lmbJson node = lmbJson_Item( &nodes, i );
		lmbJson mesh = lmbJson_Key( &node, "mesh" ), skin = lmbJson_Key( &node, "skin" );
		int64_t meshIndex = -1, skinIndex = -1;
		LMB_TRY( lmbJson_Int( &mesh, 0, lmbJson_Count( &meshes ) - 1, &meshIndex, error ) );
		LMB_TRY( lmbJson_Int( &skin, 0, lmbJson_Count( &skins ) - 1, &skinIndex, error ) );
		if ( meshIndex >= 0 && skinIndex >= 0 && table->inScene[i] )
			table->skinned[table->skinnedCount++] = i;
	}
	return lmb_statusOk;
}

static lmbStatus ReadTransform( const lmbJson *node, lmbRigNode *out, lmbError *error )
{
	lmbJson matrix = lmbJson_Key( node, "matrix" ), translation = lmbJson_Key( node, "translation" );
	lmbJson rotation = lmbJson_Key( node, "rotation" ), scale = lmbJson_Key( node, "scale" );
	double columns[16];
	memcpy( out->local, ( double[10] ){ 0, 0, 0, 0, 0, 0, 1, 1, 1, 1 }, sizeof( out->local ) );
	lmbMat34_Identity( out->matrix );
	if ( matrix.value != NULL )
	{
		LMB_TRY( lmbJson_Numbers( &matrix, 16, columns, error ) );
		if ( fabs( columns[3] ) + fabs( columns[7] ) + fabs( columns[11] ) + fabs( columns[15] - 1.0 ) >
		     1e-6 )
			return lmbJson_Fail(
			    &matrix, error, lmb_statusUnsupported,
			    "its last row must be 0 0 0 1; apply the transform of this node and export again" );
		for ( int i = 0; i < 12; ++i )
			out->matrix[i] = columns[4 * ( i % 4 ) + i / 4];
		out->fixed = true;
		return lmb_statusOk;
	}
	LMB_TRY( lmbJson_Numbers( &translation, 3, out->local, error ) );
	LMB_TRY( lmbJson_Numbers( &rotation, 4, out->local + 3, error ) );
	LMB_TRY( lmbJson_Numbers( &scale, 3, out->local + 7, error ) );
	const double *q = out->local + 3;
	if ( q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] < 1e-12 )
		return lmbJson_Fail( &rotation, error, lmb_statusNumerical,
		                     "is no rotation (all zero); export the file again" );
	lmbQuat_Normalize( out->local + 3, q );
	return lmb_statusOk;
}

lmbStatus lmbGltf_ReadLiveNodes( lmbCharacter *character, const lmbNodeTable *table, const bool *wanted,
                                 lmbError *error )
{
	lmbRig *rig = character->rig;
	lmbJson nodes = lmbJson_Key( &rig->gltf.top, "nodes" );
	rig->liveOfNode = LMB_NEW( &character->arena, int, rig->nodeCount );
	if ( rig->liveOfNode == NULL )
		return lmbError_Memory( error );
	/* Children before parents: a wanted child makes its parent wanted. Marked with 0, others -1. */
	for ( int i = 0; i < rig->nodeCount; ++i )
		rig->liveOfNode[i] = wanted[i] ? 0 : -1;
	for ( int k = rig->nodeCount - 1; k >= 0; --k )
	{
		int node = table->order[k], parent = table->parents[node];
		if ( rig->liveOfNode[node] >= 0 && parent >= 0 )
			rig->liveOfNode[parent] = 0;
	}
	for ( int i = 0; i < rig->nodeCount; ++i )
		rig->liveCount += rig->liveOfNode[i] >= 0 ? 1 : 0;
	if ( rig->liveCount > lmbRigNodeLimit )
		return lmbJson_Fail(
		    &nodes, error, lmb_statusUnsupported,
		    "%d nodes carry the skeleton, at most %d can; remove joints that no vertex needs", rig->liveCount,
		    lmbRigNodeLimit );
	rig->live = LMB_NEW( &character->arena, lmbRigNode, rig->liveCount );
	if ( rig->live == NULL )
		return lmbError_Memory( error );
	for ( int k = 0, count = 0; k < rig->nodeCount; ++k )
	{
		int node = table->order[k], parent = table->parents[node];
		if ( rig->liveOfNode[node] < 0 )
			continue;
		lmbRigNode *out = &rig->live[count];
		out->node = node;
		out->parent = parent >= 0 ? rig->liveOfNode[parent] : -1;
		rig->liveOfNode[node] = count++;
		lmbJson place = lmbJson_Item( &nodes, node );
		LMB_TRY( ReadTransform( &place, out, error ) );
	}
	return lmb_statusOk;
}
