#include "check.h"

#include "base/math3.h"
#include "flesh/skinning.h"
#include "formats/motion.h"
#include "puppet.h"

#include <stdlib.h>

static const double degree = 3.14159265358979323846 / 180.0;
static const double frame = 1.0 / 60.0; /* s: the keys' spacing */

static lmbCharacter *LoadPuppet( void )
{
	lmbCharacter *puppet = NULL;
	lmbError error = { 0 };
	lmbImportDef def = { 0 };
	if ( lmbCharacter_Load( LMB_TEST_BUILD "/puppet.glb", &def, &puppet, &error ) != lmb_statusOk )
		CheckReport( __FILE__, __LINE__, error.message );
	CHECK_OR_STOP( puppet != NULL );
	return puppet;
}

typedef struct Edge
{
	int from, to;
} Edge;

static int CompareEdges( const void *a, const void *b )
{
	const Edge *p = a, *q = b;
	return p->from != q->from ? ( p->from < q->from ? -1 : 1 ) : ( p->to > q->to ) - ( p->to < q->to );
}

/* The corners after and before a vertex in each triangle around it must chain into one ring. */
static bool IsOneRing( const Edge *spokes, int count )
{
	int corner = spokes[0].from, length = 0;
	do
	{
		int next = -1;
		for ( int i = 0; i < count; ++i )
			if ( spokes[i].from == corner )
				next = spokes[i].to;
		corner = next;
		length += 1;
	} while ( corner >= 0 && corner != spokes[0].from && length <= count );
	return corner == spokes[0].from && length == count;
}

/* Every edge has two triangles that run through it in opposite ways; every vertex one ring of triangles;
 * one piece without handles (Euler: V - E + F = 2). */
static void SurfaceIsClosedAndManifold( void **state )
{
	(void)state;
	lmbCharacter *puppet = LoadPuppet();
	int edgeCount = 3 * puppet->triangleCount, vertexCount = puppet->vertexCount;
	CHECK( vertexCount >= 3000 && vertexCount <= 6000 );
	Edge *edges = malloc( (size_t)edgeCount * sizeof( Edge ) );
	Edge( *spokes )[24] = calloc( (size_t)vertexCount, sizeof( *spokes ) );
	int *valence = calloc( (size_t)vertexCount, sizeof( int ) );
	for ( int i = 0; i < edgeCount; ++i )
	{
		const int32_t *triangle = puppet->triangles + i / 3 * 3;
		int a = triangle[i % 3], b = triangle[( i + 1 ) % 3], c = triangle[( i + 2 ) % 3];
		edges[i] = ( Edge ){ a, b };
		CHECK_OR_STOP( valence[a] < 24 );
		spokes[a][valence[a]++] = ( Edge ){ b, c };
	}
	qsort( edges, (size_t)edgeCount, sizeof( Edge ), CompareEdges );
	int repeated = 0, alone = 0, broken = 0;
	for ( int i = 0; i < edgeCount; ++i )
	{
		Edge back = { edges[i].to, edges[i].from };
		repeated += i > 0 && CompareEdges( &edges[i], &edges[i - 1] ) == 0;
		alone += bsearch( &back, edges, (size_t)edgeCount, sizeof( Edge ), CompareEdges ) == NULL;
	}
	for ( int v = 0; v < vertexCount; ++v )
		broken += valence[v] < 3 || !IsOneRing( spokes[v], valence[v] );
	CHECK_INT( repeated, 0 );
	CHECK_INT( alone, 0 );
	CHECK_INT( broken, 0 );
	CHECK_INT( vertexCount - edgeCount / 2 + puppet->triangleCount, 2 );
	free( edges );
	free( spokes );
	free( valence );
	lmbCharacter_Free( puppet );
}

/* By the divergence theorem; positive when triangles face outwards. The formulas' own volume: 0.1233. */
static void VolumeAndSizeAreAPersons( void **state )
{
	(void)state;
	lmbCharacter *puppet = LoadPuppet();
	double volume = 0.0, low[3] = { 9, 9, 9 }, high[3] = { -9, -9, -9 }, thinnest = 9.0;
	for ( int t = 0; t < puppet->triangleCount; ++t )
	{
		double *corner[3], cross[3];
		for ( int k = 0; k < 3; ++k )
			corner[k] = puppet->bind + 3 * puppet->triangles[3 * t + k];
		lmbCross( cross, corner[1], corner[2] );
		volume += lmbDot( corner[0], cross ) / 6.0;
		for ( int k = 0; k < 3; ++k )
		{
			double a[3], b[3];
			lmbSub( a, corner[( k + 1 ) % 3], corner[k] );
			lmbSub( b, corner[( k + 2 ) % 3], corner[k] );
			thinnest = fmin( thinnest, acos( lmbDot( a, b ) / ( lmbLength( a ) * lmbLength( b ) ) ) );
		}
	}
	for ( int i = 0; i < 3 * puppet->vertexCount; ++i )
	{
		low[i % 3] = fmin( low[i % 3], puppet->bind[i] );
		high[i % 3] = fmax( high[i % 3], puppet->bind[i] );
	}
	CHECK_NEAR( volume, 0.1233, 0.002 );
	CHECK( high[1] - low[1] > 1.5 && high[1] - low[1] < 1.8 );
	CHECK_NEAR( low[1], 0.0, 0.01 );   /* stands on the ground */
	CHECK( thinnest > 10.0 * degree ); /* good triangles: shading and tissue both like them */
	CHECK_NEAR( puppet->metresPerUnit, 1.0, 0.0 );
	lmbCharacter_Free( puppet );
}

static int FindMirrorBone( const lmbCharacter *puppet, int bone )
{
	char name[64];
	snprintf( name, sizeof( name ), "%s", puppet->bones[bone].name );
	size_t length = strlen( name );
	if ( length > 2 && name[length - 2] == '.' )
		name[length - 1] = name[length - 1] == 'L' ? 'R' : 'L';
	return lmbCharacter_FindBone( puppet, name );
}

static double WeightOf( const lmbCharacter *puppet, int vertex, int bone )
{
	double sum = 0.0;
	for ( int k = 0; k < puppet->influenceCount; ++k )
		if ( puppet->vertexBones[vertex * puppet->influenceCount + k] == bone )
			sum += puppet->weights[vertex * puppet->influenceCount + k];
	return sum;
}

static int FindMirrorVertex( const lmbCharacter *puppet, int vertex )
{
	const double *p = puppet->bind + 3 * vertex;
	for ( int v = 0; v < puppet->vertexCount; ++v )
	{
		const double *q = puppet->bind + 3 * v;
		if ( q[0] == -p[0] && q[1] == p[1] && q[2] == p[2] )
			return v;
	}
	return -1;
}

/* Bit for bit, vertices, weights and joints. */
static void LeftAndRightAreMirrorImages( void **state )
{
	(void)state;
	lmbCharacter *puppet = LoadPuppet();
	int lonely = 0, uneven = 0;
	for ( int v = 0; v < puppet->vertexCount; ++v )
	{
		int other = FindMirrorVertex( puppet, v );
		lonely += other < 0;
		for ( int bone = 0; bone < puppet->boneCount && other >= 0; ++bone )
			uneven +=
			    WeightOf( puppet, v, bone ) != WeightOf( puppet, other, FindMirrorBone( puppet, bone ) );
	}
	CHECK_INT( lonely, 0 );
	CHECK_INT( uneven, 0 );
	for ( int bone = 0; bone < puppet->boneCount; ++bone )
	{
		int other = FindMirrorBone( puppet, bone );
		CHECK_OR_STOP( other >= 0 );
		for ( int i = 0; i < 3; ++i )
			CHECK( puppet->bones[bone].bind[4 * i + 3] ==
			       ( i == 0 ? -1.0 : 1.0 ) * puppet->bones[other].bind[4 * i + 3] );
	}
	lmbCharacter_Free( puppet );
}

static void WeightsAreSound( void **state )
{
	(void)state;
	lmbCharacter *puppet = LoadPuppet();
	CHECK( puppet->boneCount >= 8 && puppet->boneCount <= 15 );
	CHECK( puppet->influenceCount <= 4 );
	for ( int v = 0; v < puppet->vertexCount; ++v )
	{
		double sum = 0.0;
		for ( int k = 0; k < puppet->influenceCount; ++k )
		{
			double weight = puppet->weights[v * puppet->influenceCount + k];
			CHECK( weight >= 0.0 && weight <= 1.0 );
			sum += weight;
		}
		CHECK_NEAR( sum, 1.0, 1e-12 ); /* the importer normalises in double */
	}
	/* Smooth: between neighbours, 28 mm apart at most 1.7 of that, no weight steps by more than 0.45;
	 * elbows, the sharpest place, blend over about 8 cm. */
	double steepest = 0.0;
	for ( int i = 0; i < 3 * puppet->triangleCount; ++i )
	{
		int a = puppet->triangles[i], b = puppet->triangles[i % 3 == 2 ? i - 2 : i + 1];
		for ( int bone = 0; bone < puppet->boneCount; ++bone )
			steepest = fmax( steepest, fabs( WeightOf( puppet, a, bone ) - WeightOf( puppet, b, bone ) ) );
	}
	CHECK( steepest < 0.45 );
	lmbCharacter_Free( puppet );
}

/* Local turns, in degrees away from bind, and the place of the root joint. */
static void Sample( const lmbCharacter *puppet, int clip, double time, double *turns, double *root )
{
	double bones[16 * 12], rotations[16 * 4];
	lmbCharacter_Pose( puppet, clip, time, bones );
	lmbPose_LocalRotations( puppet, bones, rotations );
	for ( int bone = 0; bone < puppet->boneCount; ++bone )
		turns[bone] = 2.0 * acos( fmin( 1.0, fabs( rotations[4 * bone + 3] ) ) ) / degree;
	double joint[3] = { puppet->bones[0].bind[3], puppet->bones[0].bind[7], puppet->bones[0].bind[11] };
	lmbMat34_Point( root, bones, joint );
}

static const char *const clipNames[4] = { "jumping_jacks", "stop_and_go", "run", "shadow_boxing" };

/* Joint angles stay where skinning does not collapse, and every joint moves. */
static void JointsStayInRange( void **state )
{
	(void)state;
	lmbCharacter *puppet = LoadPuppet();
	CHECK_INT( puppet->clipCount, 4 );
	for ( int c = 0; c < 4; ++c )
	{
		int clip = lmbCharacter_FindClip( puppet, clipNames[c] );
		CHECK_OR_STOP( clip >= 0 );
		double length = puppet->clips[clip].end - puppet->clips[clip].start, low[16], high[16];
		CHECK( length > 3.9 && length < 6.1 );
		CHECK_INT( puppet->clips[clip].keyCount, (int)( length / frame + 1.5 ) );
		for ( int bone = 0; bone < puppet->boneCount; ++bone )
			low[bone] = 1e9, high[bone] = -1e9;
		for ( double time = 0.0; time < length; time += frame )
		{
			double turns[16], root[3];
			Sample( puppet, clip, time, turns, root );
			for ( int bone = 0; bone < puppet->boneCount; ++bone )
			{
				low[bone] = fmin( low[bone], turns[bone] );
				high[bone] = fmax( high[bone], turns[bone] );
			}
		}
		for ( int bone = 0; bone < puppet->boneCount; ++bone )
		{
			bool trunk = bone < 4;
			checkSeed = (uint64_t)( 100 * c + bone );
			CHECK( high[bone] < ( trunk ? 60.0 : 125.0 ) );
			CHECK( high[bone] - low[bone] > 4.0 );
		}
	}
	lmbCharacter_Free( puppet );
}

/* Second differences of the root's height at the keys: free fall for a third of jumping jacks. */
static void JacksFlyFreely( void **state )
{
	(void)state;
	lmbCharacter *puppet = LoadPuppet();
	int clip = lmbCharacter_FindClip( puppet, "jumping_jacks" ), falling = 0, count = 0;
	double turns[16], root[3], heights[3] = { 0, 0, 0 }, hardest = 0.0;
	for ( int key = 0; key * frame < puppet->clips[clip].end; ++key )
	{
		Sample( puppet, clip, key * frame, turns, root );
		heights[0] = heights[1], heights[1] = heights[2], heights[2] = root[1];
		if ( key < 2 )
			continue;
		double acceleration = ( heights[0] - 2.0 * heights[1] + heights[2] ) / ( frame * frame );
		/* 0.02: float32 places of 0.7 m round by 3e-8 m, four of which over dt^2 are 4e-4. */
		falling += fabs( acceleration + 9.81 ) < 0.02;
		hardest = fmax( hardest, acceleration );
		count += 1;
	}
	/* 0.20 s of each 0.53 s hop; a second difference needs 3 keys in the air, so 2 of 12 are lost. */
	CHECK_NEAR( (double)falling / count, ( 0.20 - 2.0 * frame ) / 0.53, 0.04 );
	CHECK( hardest > 8.0 && hardest < 30.0 ); /* a stiff landing, not a blow */
	lmbCharacter_Free( puppet );
}

/* Steps of the run at 2.5 to 3 Hz: peaks of the root's height. */
static void RunBounces( void **state )
{
	(void)state;
	lmbCharacter *puppet = LoadPuppet();
	int clip = lmbCharacter_FindClip( puppet, "run" ), peaks = 0;
	double turns[16], root[3], heights[3] = { 0, 0, 0 }, first = 0.0, last = 0.0;
	for ( int key = 0; key * frame < puppet->clips[clip].end; ++key )
	{
		Sample( puppet, clip, key * frame, turns, root );
		heights[0] = heights[1], heights[1] = heights[2], heights[2] = root[1];
		if ( key < 2 || heights[1] <= heights[0] || heights[1] < heights[2] )
			continue;
		first = peaks == 0 ? key * frame : first;
		last = key * frame;
		peaks += 1;
	}
	double rate = ( peaks - 1 ) / ( last - first );
	CHECK( rate > 2.5 && rate < 3.0 );
	lmbCharacter_Free( puppet );
}

/* The largest change of acceleration from one instant to the next, step apart, of the root and of the
 * joints' quaternions. */
static double LargestJump( const PuppetMotion *motion, double step )
{
	enum
	{
		stride = sizeof( PuppetPose ) / sizeof( double )
	};
	PuppetPose poses[4];
	double largest = 0.0;
	for ( int k = 0; k < 3; ++k )
		motion->pose( k * step, &poses[k] );
	for ( int k = 3; k * step < motion->duration; ++k )
	{
		motion->pose( k * step, &poses[3] );
		const double *values = (const double *)poses;
		for ( int i = 0; i < stride; ++i )
			largest = fmax( largest, fabs( values[3 * stride + i] - 3.0 * values[2 * stride + i] +
			                               3.0 * values[stride + i] - values[i] ) );
		memmove( poses, poses + 1, 3 * sizeof( PuppetPose ) );
	}
	return largest / ( step * step );
}

/* Twice continuously differentiable: over a step four times shorter, accelerations change about four
 * times less; a jump would stay. */
static void MotionsAreSmooth( void **state )
{
	(void)state;
	for ( int m = 0; m < puppetMotionCount; ++m )
	{
		double coarse = LargestJump( &puppetMotions[m], 4e-4 );
		double fine = LargestJump( &puppetMotions[m], 1e-4 );
		checkSeed = (uint64_t)m;
		CHECK( fine < 0.4 * coarse );
	}
}

/* No frame of a held-out motion is a frame of a training motion: the nearest differ by several degrees
 * in root mean square over the joints. */
static void HeldOutMotionsAreNew( void **state )
{
	(void)state;
	lmbCharacter *puppet = LoadPuppet();
	double nearest = 1e9;
	for ( int held = 2; held < 4; ++held )
		for ( int trained = 0; trained < 2; ++trained )
		{
			int a = lmbCharacter_FindClip( puppet, clipNames[held] );
			int b = lmbCharacter_FindClip( puppet, clipNames[trained] );
			for ( double s = 0.5; s < puppet->clips[a].end; s += 4.0 * frame )
				for ( double t = 0.0; t < puppet->clips[b].end; t += 4.0 * frame )
				{
					double bones[2][16 * 12], turns[2][16 * 4], sum = 0.0;
					lmbCharacter_Pose( puppet, a, s, bones[0] );
					lmbCharacter_Pose( puppet, b, t, bones[1] );
					lmbPose_LocalRotations( puppet, bones[0], turns[0] );
					lmbPose_LocalRotations( puppet, bones[1], turns[1] );
					for ( int bone = 1; bone < puppet->boneCount; ++bone )
					{
						double dot = 0.0;
						for ( int i = 0; i < 4; ++i )
							dot += turns[0][4 * bone + i] * turns[1][4 * bone + i];
						double angle = 2.0 * acos( fmin( 1.0, fabs( dot ) ) ) / degree;
						sum += angle * angle;
					}
					nearest = fmin( nearest, sqrt( sum / ( puppet->boneCount - 1 ) ) );
				}
		}
	printf( "nearest frames of trained and held-out motions: %.1f degrees apart\n", nearest );
	CHECK( nearest > 4.0 );
	lmbCharacter_Free( puppet );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( SurfaceIsClosedAndManifold ),
	    CHECK_TEST( VolumeAndSizeAreAPersons ),
	    CHECK_TEST( LeftAndRightAreMirrorImages ),
	    CHECK_TEST( WeightsAreSound ),
	    CHECK_TEST( JointsStayInRange ),
	    CHECK_TEST( JacksFlyFreely ),
	    CHECK_TEST( RunBounces ),
	    CHECK_TEST( MotionsAreSmooth ),
	    CHECK_TEST( HeldOutMotionsAreNew ),
	};
	return CHECK_RUN( tests );
}
