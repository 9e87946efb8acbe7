/* Strips against the triangles that they are made from: each one once, wound alike, and nothing else with an
 * area. */
#include "check.h"

#include "base/random.h"
#include "runtime/strips.h"

#include <stdlib.h>

enum
{
	side = 40,
	most = 2 * side * side
};

static int32_t triangles[3 * most], row[5 * most + 4], heads[most], next[3 * most], stamps[most];
static bool wanted[most];
static uint64_t found[most], expected[most];

/* A triangle as one number, its smallest corner first. */
static uint64_t Key( int32_t a, int32_t b, int32_t c )
{
	while ( a > b || a > c )
	{
		int32_t first = a;
		a = b;
		b = c;
		c = first;
	}
	return ( (uint64_t)a << 40 ) + ( (uint64_t)b << 20 ) + (uint64_t)c;
}

static int Compare( const void *a, const void *b )
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* The row's length. */
static int Check( int vertexCount, int triangleCount )
{
	lmbStripMesh mesh = { vertexCount, triangleCount, triangles, wanted, heads, next, stamps };
	int count = lmbStrips_Make( &mesh, row ), foundCount = 0, expectedCount = 0;
	for ( int t = 0; t < triangleCount; ++t )
	{
		const int32_t *at = triangles + 3 * t;
		if ( wanted[t] && at[0] != at[1] && at[1] != at[2] && at[2] != at[0] )
			expected[expectedCount++] = Key( at[0], at[1], at[2] );
	}
	CHECK( count % 2 == 0 && ( count == 0 || count >= 4 ) && count <= lmbStrips_Most( triangleCount ) );
	if ( count > 0 )
		CHECK( row[count - 1] == row[count - 2] && row[count - 2] == row[count - 3] );
	for ( int i = 2; i < count && foundCount < most; ++i )
	{
		int32_t a = row[i - 2], b = row[i - 1], c = row[i];
		CHECK( c >= 0 && c < vertexCount );
		if ( a != b && b != c && c != a )
			found[foundCount++] = i % 2 == 0 ? Key( a, b, c ) : Key( b, a, c );
	}
	CHECK_INT( foundCount, expectedCount );
	qsort( found, (size_t)foundCount, sizeof( *found ), Compare );
	qsort( expected, (size_t)expectedCount, sizeof( *expected ), Compare );
	CHECK( foundCount == expectedCount &&
	       memcmp( found, expected, (size_t)foundCount * sizeof( *found ) ) == 0 );
	return count;
}

static void AllWanted( int count )
{
	for ( int t = 0; t < count; ++t )
		wanted[t] = true;
}

/* A sheet of squares, as artists make them: strips are long. */
static void Sheet( void **state )
{
	(void)state;
	int count = 0;
	for ( int y = 0; y < side - 1; ++y )
		for ( int x = 0; x < side - 1; ++x )
		{
			int32_t a = y * side + x, corners[6] = { a, a + 1, a + side, a + side, a + 1, a + side + 1 };
			memcpy( triangles + 3 * count, corners, sizeof( corners ) );
			count += 2;
		}
	AllWanted( count );
	int length = Check( side * side, count );
	printf( "%d triangles of a sheet in %d vertices\n", count, length );
	CHECK( length < 1.15 * count );
	/* The same in any order of triangles and corners. */
	lmbRandom random = lmbRandom_Seed( 3, 1 );
	for ( int t = count - 1; t > 0; --t )
	{
		int other = (int)lmbRandom_Below( &random, (uint32_t)t + 1 ),
		    turn = (int)lmbRandom_Below( &random, 3 );
		int32_t own[3];
		memcpy( own, triangles + 3 * t, sizeof( own ) );
		for ( int i = 0; i < 3; ++i )
			triangles[3 * t + i] = triangles[3 * other + ( i + turn ) % 3];
		memcpy( triangles + 3 * other, own, sizeof( own ) );
	}
	length = Check( side * side, count );
	printf( "shuffled: %d\n", length );
	CHECK( length < 1.4 * count );
	for ( int t = 0; t < count; ++t )
		wanted[t] = lmbRandom_Below( &random, 3 ) > 0;
	Check( side * side, count );
}

/* Meshes that are none: edges of many triangles, corners that coincide, the same triangle many times. */
static void Odd( void **state )
{
	(void)state;
	for ( int round = 0; round < 300; ++round )
	{
		checkSeed = (uint64_t)round;
		lmbRandom random = lmbRandom_Seed( checkSeed, 2 );
		int vertices = 1 + (int)lmbRandom_Below( &random, 12 ), count = (int)lmbRandom_Below( &random, 40 );
		for ( int i = 0; i < 3 * count; ++i )
			triangles[i] = (int32_t)lmbRandom_Below( &random, (uint32_t)vertices );
		AllWanted( count );
		Check( vertices, count );
	}
	/* Every triangle around one vertex. */
	for ( int t = 0; t < most; ++t )
	{
		const int32_t corners[3] = { 0, 1 + t % ( side - 1 ), 1 + ( t + 1 ) % ( side - 1 ) };
		memcpy( triangles + 3 * t, corners, sizeof( corners ) );
	}
	AllWanted( most );
	Check( side, most );
}

int main( void )
{
	const struct CMUnitTest tests[] = { CHECK_TEST( Sheet ), CHECK_TEST( Odd ) };
	return CHECK_RUN( tests );
}
