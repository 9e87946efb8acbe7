/* Skinned positions of every character of the shared folder, at several times of each of its motions,
 * against those that three.js computes (three_positions.mjs): within 1e-5 of the character's size. */
#include "base/files.h"
#include "flesh/skinning.h"
#include "formats/character.h"
#include "formats/node.h"

#include <dirent.h>
#include <unistd.h>

#include <jansson.h>

typedef struct Comparison
{
	lmbCharacter *character;
	double *bones, *points;
	double size, largest;
	int entries;
} Comparison;

static double Diagonal( const double *points, int count )
{
	double squares = 0.0;
	for ( int c = 0; c < 3; ++c )
	{
		double low = INFINITY, high = -INFINITY;
		for ( int i = 0; i < count; ++i )
		{
			low = fmin( low, points[3 * i + c] );
			high = fmax( high, points[3 * i + c] );
		}
		squares += ( high - low ) * ( high - low );
	}
	return sqrt( squares );
}

static void PosePoints( Comparison *comparison, int clip, double time )
{
	const lmbCharacter *character = comparison->character;
	lmbCharacter_Pose( character, clip, time, comparison->bones );
	const lmbWeights weights = { character->vertexCount, character->influenceCount, character->vertexBones,
	                             character->weights };
	lmbSkin_Points( &weights, comparison->bones, character->bind, comparison->points );
}

static long long Integer( const json_t *entry, const char *key )
{
	return (long long)json_number_value( json_object_get( entry, key ) );
}

static void CompareEntry( Comparison *comparison, const json_t *entry, const double *theirs )
{
	const lmbCharacter *character = comparison->character;
	for ( int p = 0; p < character->partCount; ++p )
	{
		const lmbPart *part = &character->parts[p];
		if ( part->node != Integer( entry, "node" ) || part->mesh != Integer( entry, "mesh" ) ||
		     part->primitive != Integer( entry, "primitive" ) )
			continue;
		CHECK_INT( part->vertexCount, Integer( entry, "count" ) );
		PosePoints( comparison, (int)Integer( entry, "clip" ),
		            json_number_value( json_object_get( entry, "time" ) ) );
		for ( int i = 0; i < part->vertexCount; ++i )
		{
			double squares = 0.0;
			for ( int c = 0; c < 3; ++c )
			{
				double off = comparison->points[3 * ( part->firstVertex + i ) + c] -
				             character->metresPerUnit * theirs[3 * i + c];
				squares += off * off;
			}
			/* Written so that a NaN counts as far away. */
			if ( !( sqrt( squares ) <= comparison->largest ) )
				comparison->largest = sqrt( squares );
		}
		comparison->entries += 1;
		return;
	}
	CHECK( !"three.js skins a primitive that the importer does not have" );
}

static void CompareFile( const char *path, const char *folder )
{
	char out[256], arguments[1024], name[300];
	lmbArena arena = { 0 };
	lmbError error = { 0 };
	Comparison comparison = { 0 };
	snprintf( out, sizeof( out ), "%s/positions", folder );
	snprintf( arguments, sizeof( arguments ), "'%s' '%s'", path, out );
	CHECK_OR_STOP( NodeRun( "three_positions.mjs", arguments ) );
	CHECK_OR_STOP( lmbCharacter_Load( path, NULL, &comparison.character, &error ) == lmb_statusOk );
	const lmbCharacter *character = comparison.character;
	comparison.bones = LMB_NEW( &arena, double, 12 * character->boneCount );
	comparison.points = LMB_NEW( &arena, double, 3 * character->vertexCount );
	PosePoints( &comparison, -1, 0.0 );
	comparison.size = Diagonal( comparison.points, character->vertexCount );

	char *data = NULL;
	size_t bytes = 0;
	snprintf( name, sizeof( name ), "%s.bin", out );
	CHECK_OR_STOP( lmbFile_Read( name, &arena, &data, &bytes, &error ) == lmb_statusOk );
	unlink( name );
	snprintf( name, sizeof( name ), "%s.json", out );
	json_t *root = json_load_file( name, 0, NULL );
	unlink( name );
	CHECK_OR_STOP( root != NULL );
	json_t *entries = json_object_get( root, "entries" );
	for ( size_t i = 0; i < json_array_size( entries ); ++i )
	{
		json_t *entry = json_array_get( entries, i );
		CompareEntry( &comparison, entry, (const double *)(void *)data + Integer( entry, "offset" ) );
	}
	/* Every part was seen at one rest pose and seven times of every clip. */
	CHECK_INT( comparison.entries, character->partCount * ( 1 + 7 * character->clipCount ) );
	CHECK_NEAR( comparison.largest / comparison.size, 0.0, 1e-5 );
	/* three.js's own blend, float32 inside, agrees with the double one that is compared with. */
	CHECK_NEAR( json_number_value( json_object_get( root, "blendDifference" ) ) * character->metresPerUnit /
	                comparison.size,
	            0.0, 1e-6 );
	printf( "%s: %d poses of parts, largest difference %.2g of the size\n", path, comparison.entries,
	        comparison.largest / comparison.size );
	json_decref( root );
	lmbCharacter_Free( comparison.character );
	lmbArena_Free( &arena );
}

static void SharedCharacters( void **state )
{
	(void)state;
	const char *assets = LMB_TEST_SHARED "/assets";
	CHECK_SHARED( LMB_TEST_SHARED "/assets/human.glb" );
	if ( !NodeIsHere() )
		skip();
	char folder[] = "/tmp/limber-test-XXXXXX";
	CHECK_OR_STOP( mkdtemp( folder ) != NULL );
	DIR *listing = opendir( assets );
	CHECK_OR_STOP( listing != NULL );
	int count = 0;
	for ( struct dirent *entry = readdir( listing ); entry != NULL; entry = readdir( listing ) )
	{
		const char *dot = strrchr( entry->d_name, '.' );
		if ( dot == NULL || ( strcmp( dot, ".glb" ) != 0 && strcmp( dot, ".gltf" ) != 0 ) )
			continue;
		char path[1024];
		snprintf( path, sizeof( path ), "%s/%s", assets, entry->d_name );
		CompareFile( path, folder );
		count += 1;
	}
	closedir( listing );
	rmdir( folder );
	CHECK( count >= 8 );
}

int main( void )
{
	const struct CMUnitTest tests[] = { CHECK_TEST( SharedCharacters ) };
	return CHECK_RUN( tests );
}
