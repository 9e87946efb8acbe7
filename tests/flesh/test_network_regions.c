/* Regions and left-right symmetry on a body whose answers are known (network_limb.h). */
#include "flesh/regions.h"

#include "check.h"
#include "flesh/mirror.h"
#include "flesh/network.h"
#include "flesh/network_limb.h"

static const int largeBones[] = { 0, 1, 3 }, partners[limbBones] = { 0, 3, 4, 1, 2 };

/* Weights are positive, sum to 1 at every soft vertex and at no other, and change little from one vertex to
 * the next: no seam can show. */
static void WeightsAreAPartition( void **state )
{
	(void)state;
	Limb limb;
	LimbMake( &limb );
	lmbSurface surface = { 0 };
	lmbRegionMap map;
	CHECK_INT( lmbSurface_Make( &limb.character, &surface, NULL ), lmb_statusOk );
	lmbRegionDef def = lmbDefaultRegionDef( &surface );
	CHECK_INT( lmbRegions_Make( &limb.character, &limb.tissue, &surface, &def, &limb.arena, &map, NULL ),
	           lmb_statusOk );
	CHECK_INT( map.count, limbBones );
	static double all[limbBones][limbVertices];
	double area = 0.0;
	memset( all, 0, sizeof( all ) );
	for ( int r = 0; r < map.count; ++r )
		for ( int i = 0; i < map.areas[r].vertexCount; ++i )
		{
			CHECK( i == 0 || map.areas[r].vertices[i] > map.areas[r].vertices[i - 1] );
			CHECK( map.areas[r].weights[i] > 0.0 );
			all[r][map.areas[r].vertices[i]] = map.areas[r].weights[i];
		}
	for ( int v = 0; v < limbVertices; ++v )
	{
		double sum = 0.0;
		for ( int r = 0; r < map.count; ++r )
			sum += all[r][v];
		CHECK_NEAR( sum, limb.tissue.softness[v] > 0.0 ? 1.0 : 0.0, 1e-12 );
		area += map.vertexAreas[v];
	}
	CHECK_NEAR( area, surface.area, 1e-12 );
	/* Skin weights hand over within 0.15 m, that is 3 rings of 0.05 m: at most 0.32 from ring to ring. */
	for ( int t = 0; t < limb.character.triangleCount; ++t )
		for ( int k = 0; k < 3; ++k )
		{
			int a = limb.character.triangles[3 * t + k], b = limb.character.triangles[3 * t + ( k + 1 ) % 3];
			for ( int r = 0; r < map.count && limb.tissue.softness[a] > 0.0 && limb.tissue.softness[b] > 0.0;
			      ++r )
				CHECK( fabs( all[r][a] - all[r][b] ) < 0.32 );
		}
	lmbSurface_Free( &surface );
	LimbFree( &limb );
}

/* A bone whose share of the soft skin is below the limit has no region; its skin goes to its parent. */
static void SmallBonesJoinTheirParent( void **state )
{
	(void)state;
	Limb limb;
	LimbMake( &limb );
	lmbSurface surface = { 0 };
	lmbRegionMap map;
	CHECK_INT( lmbSurface_Make( &limb.character, &surface, NULL ), lmb_statusOk );
	lmbRegionDef def = lmbDefaultRegionDef( &surface );
	def.smallest = 0.19; /* b and d move 0.38 m of 2 m each, less the rigid hands; the others 0.4 m */
	CHECK_INT( lmbRegions_Make( &limb.character, &limb.tissue, &surface, &def, &limb.arena, &map, NULL ),
	           lmb_statusOk );
	CHECK_INT( map.count, 3 );
	for ( int r = 0; r < map.count; ++r )
		CHECK_INT( map.areas[r].bone, largeBones[r] );
	lmbSurface_Free( &surface );
	LimbFree( &limb );
}

/* Turns the whole body in bind space and moves it; the plane must be found wherever it is. */
static void PlaneFoundAnywhere( void **state )
{
	(void)state;
	checkSeed = 51;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	for ( int trial = 0; trial < 4; ++trial )
	{
		Limb limb;
		LimbMake( &limb );
		double q[4] = { 0, 0, 0, 1 }, rotation[9], shift[3] = { 0 }, p[3];
		for ( int i = 0; trial > 0 && i < 4; ++i )
			q[i] = lmbRandom_Normal( &random );
		lmbQuat_Normalize( q, q );
		lmbQuat_ToMat33( rotation, q );
		for ( int i = 0; trial > 0 && i < 3; ++i )
			shift[i] = lmbRandom_Normal( &random );
		for ( int v = 0; v < limbVertices; ++v )
		{
			memcpy( p, limb.character.bind + 3 * v, sizeof( p ) );
			p[0] *= trial > 0 ? 1.0 + 1e-3 * sin( v ) : 1.0; /* real bodies are not perfect */
			lmbMat33_Apply( limb.character.bind + 3 * v, rotation, p );
			lmbAddScaled( limb.character.bind + 3 * v, limb.character.bind + 3 * v, 1.0, shift );
		}
		for ( int j = 0; j < limbBones; ++j )
		{
			double joint[3] = { limbJoints[j], 1.0, 0.0 };
			lmbMat33_Apply( p, rotation, joint );
			for ( int i = 0; i < 3; ++i )
				limb.character.bones[j].bind[4 * i + 3] = p[i] + shift[i];
		}
		lmbSurface surface = { 0 };
		lmbMirror mirror;
		bool found;
		const char *reason;
		CHECK_INT( lmbSurface_Make( &limb.character, &surface, NULL ), lmb_statusOk );
		CHECK_INT( lmbMirror_Find( &limb.character, &surface, &limb.arena, &mirror, &found, &reason, NULL ),
		           lmb_statusOk );
		CHECK( found );
		/* The tube has other planes along it; whichever is found, bones must map onto bones. */
		CHECK( mirror.skinError < 2e-3 );
		CHECK( mirror.boneError < 5e-3 );
		for ( int j = 0; found && j < limbBones; ++j )
			CHECK_INT( mirror.bones[mirror.bones[j]], j );
		double along[3] = { rotation[0], rotation[3], rotation[6] };
		if ( found && fabs( lmbDot( along, mirror.normal ) ) > 0.5 )
		{
			CHECK_NEAR( fabs( lmbDot( along, mirror.normal ) ), 1.0, 1e-3 );
			for ( int j = 0; j < limbBones; ++j )
				CHECK_INT( mirror.bones[j], partners[j] );
		}
		if ( trial == 0 )
			CHECK_NEAR( fabs( mirror.normal[0] ), 1.0, 1e-3 ); /* the usual plane is preferred */
		lmbSurface_Free( &surface );
		LimbFree( &limb );
	}
}

/* The truth commutes with the mirror, so the mirrored pose's truth is the mirrored truth; and features of
 * the mirrored pose are those of a pose whose rotations are mirrored. */
static void MirroredPosesAreTrue( void **state )
{
	(void)state;
	checkSeed = 52;
	Limb limb;
	LimbMake( &limb );
	lmbSurface surface = { 0 };
	lmbMirror mirror;
	bool found;
	const char *reason;
	CHECK_INT( lmbSurface_Make( &limb.character, &surface, NULL ), lmb_statusOk );
	CHECK_INT( lmbMirror_Find( &limb.character, &surface, &limb.arena, &mirror, &found, &reason, NULL ),
	           lmb_statusOk );
	CHECK_OR_STOP( found );
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	static double truth[3 * limbVertices], mirrored[3 * limbVertices];
	for ( int trial = 0; trial < 5; ++trial )
	{
		double bones[12 * limbBones], image[12 * limbBones], back[12 * limbBones], worst = 0.0;
		LimbRandomPose( &random, 0.4, bones );
		lmbMirror_Pose( &mirror, limbBones, bones, image );
		LimbTruth( &limb, bones, truth );
		LimbTruth( &limb, image, mirrored );
		for ( int v = 0; v < limbVertices; ++v )
		{
			double sum[3] = { 0 };
			for ( int k = 0; k < 3; ++k )
				lmbAddScaled( sum, sum, mirror.weights[3 * v + k], truth + 3 * mirror.vertices[3 * v + k] );
			lmbMirror_Vector( &mirror, sum, sum );
			lmbSub( sum, sum, mirrored + 3 * v );
			worst = fmax( worst, lmbLength( sum ) );
		}
		CHECK_NEAR( worst, 0.0, 1e-6 ); /* displacements of centimetres; the plane is found to 1e-8 or so */
		lmbMirror_Pose( &mirror, limbBones, image, back );
		for ( int i = 0; i < 12 * limbBones; ++i )
			CHECK_NEAR( back[i], bones[i], 1e-12 );
	}
	lmbSurface_Free( &surface );
	LimbFree( &limb );
}

static void AsymmetryIsSeen( void **state )
{
	(void)state;
	for ( int what = 0; what < 3; ++what )
	{
		Limb limb;
		LimbMake( &limb );
		lmbSurface surface = { 0 };
		lmbMirror mirror;
		bool found;
		const char *reason;
		/* Make it lopsided about every plane through the tube: a bulge on one side above one arm, one joint
		 * off, or one arm's weights its parent's. */
		for ( int v = 0; v < limbVertices; ++v )
		{
			double *p = limb.character.bind + 3 * v;
			double bump = exp( -pow( ( p[0] - 0.5 ) / 0.2, 2.0 ) );
			if ( what == 0 )
				p[1] += 0.3 * bump * ( p[1] + 0.7 * p[2] > 1.02 ), p[2] += 0.2 * bump * ( p[1] > 1.0 );
			if ( what == 2 && p[0] > 0.0 )
				for ( int k = 0; k < limbBones; ++k )
					limb.character.vertexBones[v * limbBones + k] = 0;
			if ( what == 2 && p[1] + 0.5 * p[2] > 1.0 )
				for ( int k = 0; k < limbBones; ++k )
					limb.character.vertexBones[v * limbBones + k] = 2;
		}
		if ( what == 1 )
		{
			limb.character.bones[2].bind[3] += 0.3;
			limb.character.bones[2].bind[7] += 0.2;
			limb.character.bones[2].bind[11] += 0.15;
		}
		CHECK_INT( lmbSurface_Make( &limb.character, &surface, NULL ), lmb_statusOk );
		CHECK_INT( lmbMirror_Find( &limb.character, &surface, &limb.arena, &mirror, &found, &reason, NULL ),
		           lmb_statusOk );
		CHECK( !found );
		CHECK_CONTAINS( reason, what == 0 ? "skin is" : what == 1 ? "bones" : "weights" );
		lmbSurface_Free( &surface );
		LimbFree( &limb );
	}
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( WeightsAreAPartition ), CHECK_TEST( SmallBonesJoinTheirParent ),
	    CHECK_TEST( PlaneFoundAnywhere ),   CHECK_TEST( MirroredPosesAreTrue ),
	    CHECK_TEST( AsymmetryIsSeen ),
	};
	return CHECK_RUN( tests );
}
