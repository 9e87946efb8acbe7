/* The bake on bodies made here: what is kept, what is added, how good the targets are. */
#include "formats/bake.h"
#include "formats/node.h"
#include "formats/synthetic.h"

#include "base/files.h"
#include "base/random.h"

#include <lapacke.h>

enum
{
	frameCount = 20
};

static const double rate = 20.0;

/* Positions along the clip: skinning plus random displacements of about size metres. */
static float *MakePositions( const lmbCharacter *character, const lmbMotion *motion, double size )
{
	size_t count = (size_t)character->vertexCount;
	float *positions = calloc( 3 * count * frameCount, sizeof( float ) );
	double *bones = calloc( 12 * (size_t)character->boneCount, sizeof( double ) );
	double *points = calloc( 3 * count, sizeof( double ) );
	lmbRandom random = lmbRandom_Seed( 3, 0 );
	const lmbWeights weights = { (int)count, character->influenceCount, character->vertexBones,
	                             character->weights };
	for ( int f = 0; f < frameCount; ++f )
	{
		lmbMotion_Pose( motion, f / rate, bones );
		lmbSkin_Points( &weights, bones, character->bind, points );
		for ( size_t i = 0; i < 3 * count; ++i )
			positions[(size_t)f * 3 * count + i] = (float)( points[i] + size * lmbRandom_Normal( &random ) );
	}
	free( bones );
	free( points );
	return positions;
}

static lmbMotion *BodyMotion( const lmbCharacter *character, int clip )
{
	const lmbMotionDef def = { .keyRate = 20.0 };
	lmbMotion *motion = NULL;
	lmbError error = { 0 };
	CHECK_INT( lmbMotion_Make( character, clip, &def, &motion, &error ), lmb_statusOk );
	CHECK_OR_STOP( motion != NULL );
	return motion;
}

/* A body with two primitives over one set of vertices, lines, a target with normals and its animation, the
 * mesh shown by two skinned nodes and one plain one, extras, and another animated node. */
static lmbCharacter *MakeRichBody( void )
{
	lmbGlbWriter writer;
	MakeBody( &writer );
	const uint32_t cap[] = { 8, 9, 10, 8, 10, 11 }, lines[] = { 0, 1, 1, 2 };
	float normals[3 * bodyVertices], offsets[3 * bodyVertices];
	for ( int i = 0; i < 3 * bodyVertices; ++i )
	{
		normals[i] = i % 3 == 1 ? 1.0f : 0.0f;
		offsets[i] = i % 3 == 2 ? 0.1f : 0.0f;
	}
	const float faces[2 * 4] = { 0.0f, 1.0f, 0.5f, 0.25f, 0, 0, 0, 0 };
	int normal = lmbGlbWriter_AddFloats( &writer, "VEC3", normals, bodyVertices, lmb_glbVertices, true );
	int target = lmbGlbWriter_AddFloats( &writer, "VEC3", offsets, bodyVertices, lmb_glbVertices, true );
	int capIndices = lmbGlbWriter_AddIndices( &writer, cap, 6 );
	int lineIndices = lmbGlbWriter_AddIndices( &writer, lines, 4 );
	int face = lmbGlbWriter_AddFloats( &writer, "SCALAR", faces, 4, lmb_glbData, false );
	const float spin[16] = { 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0 };
	int spins = lmbGlbWriter_AddFloats( &writer, "VEC4", spin, 4, lmb_glbData, false );
	char text[700];
	snprintf( text, sizeof( text ),
	          "[{\"attributes\":{\"POSITION\":0,\"NORMAL\":%d,\"JOINTS_0\":1,\"WEIGHTS_0\":2},\"indices\":3,"
	          "\"targets\":[{\"POSITION\":%d,\"NORMAL\":%d}]},"
	          "{\"attributes\":{\"POSITION\":0,\"NORMAL\":%d,\"JOINTS_0\":1,\"WEIGHTS_0\":2},\"indices\":%d,"
	          "\"targets\":[{\"POSITION\":%d,\"NORMAL\":%d}]},"
	          "{\"attributes\":{\"POSITION\":0,\"NORMAL\":%d},\"indices\":%d,\"mode\":1,"
	          "\"targets\":[{\"POSITION\":%d,\"NORMAL\":%d}]}]",
	          normal, target, target, normal, capIndices, target, target, normal, lineIndices, target,
	          target );
	BodySet( &writer, "/meshes/0/primitives", text );
	BodySet( &writer, "/meshes/0/extras", "{\"mine\":[1,\"two\"],\"targetNames\":[\"smile\"]}" );
	BodySet( &writer, "/nodes/-", "{\"name\":\"twin\",\"mesh\":0,\"skin\":0,\"weights\":[0.0]}" );
	BodySet( &writer, "/nodes/-", "{\"name\":\"statue\",\"mesh\":0,\"translation\":[3,0,0]}" );
	BodySet( &writer, "/scenes/0/nodes", "[0,1,3,4]" );
	snprintf( text, sizeof( text ),
	          "[{\"input\":5,\"output\":6},{\"input\":5,\"output\":%d},{\"input\":5,\"output\":%d}]", face,
	          spins );
	BodySet( &writer, "/animations/0/samplers", text );
	BodySet( &writer, "/animations/0/channels/-",
	         "{\"sampler\":1,\"target\":{\"node\":3,\"path\":\"weights\"}}" );
	BodySet( &writer, "/animations/0/channels/-",
	         "{\"sampler\":2,\"target\":{\"node\":4,\"path\":\"rotation\"}}" );
	BodySet( &writer, "/animations/-",
	         "{\"name\":\"turn (limber)\",\"samplers\":[{\"input\":5,\"output\":6}],"
	         "\"channels\":[{\"sampler\":0,\"target\":{\"node\":2,\"path\":\"rotation\"}}]}" );
	BodySet( &writer, "/extras", "{\"author\":\"somebody\"}" );
	BodySet( &writer, "/materials",
	         "[{\"name\":\"unused\",\"pbrMetallicRoughness\":{\"roughnessFactor\":0.3}}]" );
	return NeedBody( &writer );
}

static json_t *ReadGlb( const char *path, lmbArena *arena, char **binary )
{
	char *data = NULL;
	size_t size = 0;
	lmbError error = { 0 };
	CHECK_OR_STOP( lmbFile_Read( path, arena, &data, &size, &error ) == lmb_statusOk );
	uint32_t jsonSize;
	memcpy( &jsonSize, data + 12, 4 );
	*binary = data + 20 + jsonSize + 8;
	json_t *root = json_loadb( data + 20, jsonSize, 0, NULL );
	CHECK_OR_STOP( root != NULL );
	return root;
}

/* A value by path of keys and numbers, e.g. "meshes/0/weights". */
static json_t *At( json_t *root, const char *path )
{
	char copy[256];
	snprintf( copy, sizeof( copy ), "%s", path );
	json_t *at = root;
	char *save = NULL;
	for ( char *token = strtok_r( copy, "/", &save ); token != NULL; token = strtok_r( NULL, "/", &save ) )
		at = json_is_array( at ) ? json_array_get( at, (size_t)atoi( token ) ) : json_object_get( at, token );
	return at;
}

static size_t Length( json_t *root, const char *path )
{
	return json_array_size( At( root, path ) );
}

static double Number( json_t *root, const char *path )
{
	const json_t *value = At( root, path );
	CHECK( json_is_number( value ) );
	return json_number_value( value );
}

static const float *Floats( json_t *root, const char *binary, int accessor )
{
	char path[64];
	snprintf( path, sizeof( path ), "accessors/%d/bufferView", accessor );
	snprintf( path, sizeof( path ), "bufferViews/%d/byteOffset", (int)Number( root, path ) );
	return (const float *)(const void *)( binary + (size_t)Number( root, path ) );
}

static void CheckRichFile( json_t *root, const char *binary )
{
	/* Meshes: the original for the statue, one copy for each skinned node. */
	CHECK_INT( Length( root, "meshes" ), 3 );
	CHECK_INT( Number( root, "nodes/4/mesh" ), 0 );
	CHECK_INT( Length( root, "meshes/0/primitives/0/targets" ), 1 );
	for ( int m = 1; m < 3; ++m )
	{
		char path[64];
		for ( int p = 0; p < 3; ++p )
		{
			snprintf( path, sizeof( path ), "meshes/%d/primitives/%d/targets", m, p );
			CHECK_INT( Length( root, path ), 1 + 4 );
			/* Targets beside one with normals have normals too, of 0. */
			snprintf( path, sizeof( path ), "meshes/%d/primitives/%d/targets/4/NORMAL", m, p );
			const float *zeros = Floats( root, binary, (int)Number( root, path ) );
			for ( int i = 0; i < 3 * bodyVertices; ++i )
				CHECK_NEAR( (double)zeros[i], 0.0, 0.0 );
		}
		snprintf( path, sizeof( path ), "meshes/%d/weights", m );
		CHECK_INT( Length( root, path ), 5 );
		snprintf( path, sizeof( path ), "meshes/%d/extras/targetNames", m );
		CHECK_INT( Length( root, path ), 5 );
		/* Primitives over the same vertices share their targets. */
		snprintf( path, sizeof( path ), "meshes/%d/primitives/0/targets/1/POSITION", m );
		double first = Number( root, path );
		snprintf( path, sizeof( path ), "meshes/%d/primitives/1/targets/1/POSITION", m );
		CHECK_NEAR( Number( root, path ), first, 0.0 );
	}
	CHECK_INT( Length( root, "nodes/3/weights" ), 5 );
	CHECK( At( root, "nodes/0/weights" ) == NULL );
	/* What was there is there. */
	CHECK( strcmp( json_string_value( At( root, "extras/author" ) ), "somebody" ) == 0 );
	CHECK( strcmp( json_string_value( At( root, "meshes/1/extras/mine/1" ) ), "two" ) == 0 );
	CHECK( strcmp( json_string_value( At( root, "meshes/1/extras/targetNames/0" ) ), "smile" ) == 0 );
	CHECK_NEAR( Number( root, "materials/0/pbrMetallicRoughness/roughnessFactor" ), 0.3, 0.0 );
	CHECK_NEAR( (double)Floats( root, binary, 0 )[34], 1.0, 0.0 );
	/* The old weights channel has five numbers a key now, the old ones first. */
	const float *widened = Floats( root, binary, (int)Number( root, "animations/0/samplers/1/output" ) );
	CHECK_NEAR( (double)widened[5], 1.0, 0.0 );
	CHECK_NEAR( (double)widened[10], 0.5, 0.0 );
	CHECK_NEAR( (double)widened[6], 0.0, 0.0 );
	/* The new animation: its name evades the one that was there; joint, statue, two nodes' weights. */
	CHECK_INT( Length( root, "animations" ), 3 );
	CHECK( strcmp( json_string_value( At( root, "animations/2/name" ) ), "turn (limber) 2" ) == 0 );
	CHECK_INT( Length( root, "animations/2/channels" ), 4 );
	CHECK_NEAR( Number( root, "animations/2/channels/1/target/node" ), 4.0, 0.0 );
	CHECK_NEAR( Number( root, "animations/2/channels/3/target/node" ), 3.0, 0.0 );
	/* The twin keeps its own target's animation: 1 at clip time 0.5 (frame 5), after it the new ones. */
	const float *twin = Floats( root, binary, (int)Number( root, "animations/2/samplers/3/output" ) );
	CHECK_NEAR( (double)twin[5 * 5], 1.0, 1e-6 );
	const float *own = Floats( root, binary, (int)Number( root, "animations/2/samplers/2/output" ) );
	CHECK_NEAR( (double)own[5 * 5], 0.0, 0.0 );
	CHECK_NEAR( (double)own[5 * 5 + 1], (double)twin[5 * 5 + 1], 0.0 );
	/* Joint keys are the motion's: the clip starts at 0.25 s, frame 5 is its key at 0.5 s. */
	const float *turns = Floats( root, binary, (int)Number( root, "animations/2/samplers/0/output" ) );
	CHECK_NEAR( 2.0 * asin( (double)turns[4 * 5 + 2] ), 0.6, 2e-3 );
}

static void RichFileIsKept( void **state )
{
	(void)state;
	lmbCharacter *character = MakeRichBody();
	CHECK_INT( character->partCount, 4 );
	CHECK_INT( character->vertexCount, 24 );
	lmbMotion *motion = BodyMotion( character, 0 );
	float *positions = MakePositions( character, motion, 0.01 );
	const lmbBakeFrames frames = { motion, frameCount, rate, positions };
	const lmbBakeDef def = { .targets = 4, .sweeps = 1 };
	lmbBakeReport report;
	lmbError error = { 0 };
	const char *path = BodyPath( "rich.glb" );
	CHECK_INT( lmbBake_WriteGlb( character, &def, &frames, path, NULL, &report, &error ), lmb_statusOk );
	CHECK_INT( report.targets, 4 );
	CHECK( strcmp( report.name, "turn (limber) 2" ) == 0 );
	CHECK( report.truncation > 0.0 && report.truncation < report.dynamics );
	lmbArena arena = { 0 };
	char *binary = NULL;
	json_t *root = ReadGlb( path, &arena, &binary );
	CheckRichFile( root, binary );
	json_decref( root );
	lmbArena_Free( &arena );
	if ( NodeIsHere() )
		CHECK( NodeRun( "validate.mjs", path ) );
	unlink( path );
	free( positions );
	lmbMotion_Free( motion );
	lmbCharacter_Free( character );
}

/* On a body that does not turn, the best that N targets can do is what N singular values leave
 * (Eckart-Young): sqrt( sum_{k > N} s_k^2 / frames / vertices ). */
static void AsGoodAsSingularValues( void **state )
{
	(void)state;
	lmbGlbWriter writer;
	MakeBody( &writer );
	BodySet( &writer, "/animations/0/channels/0/target/node", "0" );
	lmbCharacter *character = NeedBody( &writer );
	lmbMotion *motion = BodyMotion( character, 0 );
	float *positions = MakePositions( character, motion, 0.01 );
	const lmbBakeFrames frames = { motion, frameCount, rate, positions };
	enum
	{
		columns = 3 * bodyVertices
	};
	double matrix[frameCount * columns], values[frameCount], unused[frameCount];
	for ( int i = 0; i < frameCount * columns; ++i )
		matrix[i] = (double)positions[i] - character->bind[i % columns];
	CHECK_INT( LAPACKE_dgesvd( LAPACK_ROW_MAJOR, 'N', 'N', frameCount, columns, matrix, columns, values, NULL,
	                           1, NULL, 1, unused ),
	           0 );
	for ( int targets = 1; targets <= 64; targets += targets < 20 ? 3 : 44 )
	{
		const lmbBakeDef def = { .targets = targets, .sweeps = 3 };
		lmbBakeReport report;
		lmbError error = { 0 };
		CHECK_INT( lmbBake_WriteGlb( character, &def, &frames, BodyPath( "svd.glb" ), NULL, &report, &error ),
		           lmb_statusOk );
		double rest = 0.0;
		for ( int k = targets; k < frameCount; ++k )
			rest += values[k] * values[k];
		/* What the file holds is float32, of displacements of 1 cm in positions of 1 m. */
		CHECK_NEAR( report.truncation, sqrt( rest / frameCount / bodyVertices ), 1e-7 );
		CHECK_INT( report.targets, targets < frameCount ? targets : frameCount );
	}
	unlink( BodyPath( "svd.glb" ) );
	free( positions );
	lmbMotion_Free( motion );
	lmbCharacter_Free( character );
}

/* The same bytes on one thread and on three. */
static void ThreadsDoNotMatter( void **state )
{
	(void)state;
	lmbCharacter *character = MakeRichBody();
	lmbMotion *motion = BodyMotion( character, 0 );
	float *positions = MakePositions( character, motion, 0.01 );
	const lmbBakeFrames frames = { motion, frameCount, rate, positions };
	const lmbBakeDef def = lmbDefaultBakeDef();
	lmbArena arena = { 0 };
	char *bytes[2];
	size_t sizes[2];
	for ( int i = 0; i < 2; ++i )
	{
		const lmbJob job = { .threads = i == 0 ? 1 : 3 };
		lmbError error = { 0 };
		const char *path = BodyPath( "t.glb" );
		CHECK_INT( lmbBake_WriteGlb( character, &def, &frames, path, &job, NULL, &error ), lmb_statusOk );
		CHECK_OR_STOP( lmbFile_Read( path, &arena, &bytes[i], &sizes[i], &error ) == lmb_statusOk );
		unlink( path );
	}
	CHECK_INT( sizes[0], sizes[1] );
	CHECK( sizes[0] == sizes[1] && memcmp( bytes[0], bytes[1], sizes[0] ) == 0 );
	lmbArena_Free( &arena );
	free( positions );
	lmbMotion_Free( motion );
	lmbCharacter_Free( character );
}

/* Without dynamics there is nothing to add but the motion. */
static void NothingToAdd( void **state )
{
	(void)state;
	lmbGlbWriter writer;
	MakeBody( &writer );
	lmbCharacter *character = NeedBody( &writer );
	lmbMotion *motion = BodyMotion( character, 0 );
	float *positions = MakePositions( character, motion, 0.0 );
	const lmbBakeFrames frames = { motion, frameCount, rate, positions };
	const lmbBakeDef def = { .targets = 8, .sweeps = 2, .name = "as it was" };
	lmbBakeReport report;
	lmbError error = { 0 };
	const char *path = BodyPath( "still.glb" );
	CHECK_INT( lmbBake_WriteGlb( character, &def, &frames, path, NULL, &report, &error ), lmb_statusOk );
	CHECK_INT( report.targets, 0 );
	CHECK_NEAR( report.truncation, 0.0, 1e-7 );
	lmbArena arena = { 0 };
	char *binary = NULL;
	json_t *root = ReadGlb( path, &arena, &binary );
	CHECK( At( root, "meshes/0/primitives/0/targets" ) == NULL );
	CHECK( At( root, "meshes/0/weights" ) == NULL );
	CHECK( strcmp( json_string_value( At( root, "animations/1/name" ) ), "as it was" ) == 0 );
	CHECK_INT( Length( root, "animations/1/channels" ), 1 );
	json_decref( root );
	lmbArena_Free( &arena );
	unlink( path );
	free( positions );
	lmbMotion_Free( motion );
	lmbCharacter_Free( character );
}

/* A .gltf whose picture lies beside it becomes a .glb that holds it. */
static void PicturesComeAlong( void **state )
{
	(void)state;
	/* The smallest PNG: one transparent pixel. */
	static const unsigned char png[] = {
	    0x89, 'P', 'N',  'G',  13,  10,  26,  10,   0,    0,    0,   13,  'I',  'H',  'D',  'R',  0,
	    0,    0,   1,    0,    0,   0,   1,   8,    6,    0,    0,   0,   0x1F, 0x15, 0xC4, 0x89, 0,
	    0,    0,   13,   'I',  'D', 'A', 'T', 0x78, 0x9C, 0x62, 0,   1,   0,    0,    5,    0,    1,
	    0x0D, 10,  0x2D, 0xB4, 0,   0,   0,   0,    'I',  'E',  'N', 'D', 0xAE, 0x42, 0x60, 0x82 };
	lmbGlbWriter writer;
	lmbError error = { 0 };
	MakeBody( &writer );
	BodySet( &writer, "/images", "[{\"uri\":\"skin.png\"},{\"uri\":\"lost.png\"}]" );
	CHECK_INT( lmbFile_Write( BodyPath( "skin.png" ), png, sizeof( png ), &error ), lmb_statusOk );
	CHECK_INT( lmbFile_Write( BodyPath( "data.bin" ), writer.data, writer.size, &error ), lmb_statusOk );
	json_object_set_new(
	    writer.root, "buffers",
	    json_pack( "[{s:I,s:s}]", "byteLength", (json_int_t)writer.size, "uri", "data.bin" ) );
	char *text = json_dumps( writer.root, 0 );
	CHECK_INT( lmbFile_Write( BodyPath( "body.gltf" ), text, strlen( text ), &error ), lmb_statusOk );
	free( text );
	lmbGlbWriter_Free( &writer );
	lmbCharacter *character = NULL;
	CHECK_INT( lmbCharacter_Load( BodyPath( "body.gltf" ), NULL, &character, &error ), lmb_statusOk );
	CHECK_OR_STOP( character != NULL );
	lmbMotion *motion = BodyMotion( character, 0 );
	float *positions = MakePositions( character, motion, 0.01 );
	const lmbBakeFrames frames = { motion, frameCount, rate, positions };
	const lmbBakeDef def = lmbDefaultBakeDef();
	const char *path = BodyPath( "out.glb" );
	CHECK_INT( lmbBake_WriteGlb( character, &def, &frames, path, NULL, NULL, &error ), lmb_statusOk );
	lmbArena arena = { 0 };
	char *binary = NULL;
	json_t *root = ReadGlb( path, &arena, &binary );
	CHECK_INT( Length( root, "buffers" ), 1 );
	CHECK( At( root, "images/0/uri" ) == NULL );
	CHECK( strcmp( json_string_value( At( root, "images/0/mimeType" ) ), "image/png" ) == 0 );
	char view[64];
	snprintf( view, sizeof( view ), "bufferViews/%d/byteOffset", (int)Number( root, "images/0/bufferView" ) );
	CHECK( memcmp( binary + (size_t)Number( root, view ), png, sizeof( png ) ) == 0 );
	CHECK( strcmp( json_string_value( At( root, "images/1/uri" ) ), "lost.png" ) == 0 );
	json_decref( root );
	lmbArena_Free( &arena );
	free( positions );
	lmbMotion_Free( motion );
	lmbCharacter_Free( character );
	static const char *const made[] = { "skin.png", "data.bin", "body.gltf", "out.glb" };
	for ( int i = 0; i < 4; ++i )
		unlink( BodyPath( made[i] ) );
}

/* Point caches: one per node, its primitives' used vertices one after the other. */
static void PointCachesByNode( void **state )
{
	(void)state;
	lmbCharacter *character = MakeRichBody();
	lmbMotion *motion = BodyMotion( character, 0 );
	float *positions = MakePositions( character, motion, 0.01 );
	const lmbBakeFrames frames = { motion, frameCount, rate, positions };
	lmbError error = { 0 };
	int files = 0;
	CHECK_INT(
	    lmbBake_WritePointCaches( character, &frames, lmb_cacheMdd, bodyFolder, "jump", &files, &error ),
	    lmb_statusOk );
	CHECK_INT( files, 2 );
	lmbPointCache cache;
	CHECK_INT( lmbPointCache_Open( &cache, BodyPath( "jump.twin.mdd" ), &error ), lmb_statusOk );
	CHECK_INT( cache.frameCount, frameCount );
	/* Twelve of the sides and the four of the cap. */
	CHECK_INT( cache.pointCount, 16 );
	CHECK_NEAR( (double)cache.times[3], 3.0 / rate, 1e-7 );
	for ( int c = 0; c < 3; ++c )
	{
		CHECK_NEAR( (double)cache.positions[3 * ( 16 * 5 + 2 ) + c],
		            (double)positions[3 * ( 24 * 5 + 12 + 2 ) + c], 0.0 );
		CHECK_NEAR( (double)cache.positions[3 * ( 16 * 5 + 12 ) + c],
		            (double)positions[3 * ( 24 * 5 + 12 + 8 ) + c], 0.0 );
	}
	lmbPointCache_Close( &cache );
	CHECK( lmbFile_Exists( BodyPath( "jump.skin.mdd" ) ) );
	unlink( BodyPath( "jump.twin.mdd" ) );
	unlink( BodyPath( "jump.skin.mdd" ) );
	free( positions );
	lmbMotion_Free( motion );
	lmbCharacter_Free( character );
}

/* The first line that begins with this, spaces before it left out, from at on; NULL: none. */
static const char *Line( const char *at, const char *begin )
{
	for ( ; at != NULL; at = strchr( at, '\n' ) )
	{
		at += strspn( at, " \n" );
		if ( *at == 0 || strncmp( at, begin, strlen( begin ) ) == 0 )
			return *at != 0 ? at : NULL;
	}
	return NULL;
}

/* USD: a mesh for each node; triangles count the points of their own primitive's share; nothing else is read
 * here, since tests/formats/test_usd.sh has USD's own library read one. */
static void UsdByNode( void **state )
{
	(void)state;
	lmbCharacter *character = MakeRichBody();
	lmbMotion *motion = BodyMotion( character, 0 );
	float *positions = MakePositions( character, motion, 0.01 );
	lmbBakeFrames frames = { motion, frameCount, rate, positions };
	const char *path = BodyPath( "jump.usda" );
	lmbArena arena = { 0 };
	lmbError error = { 0 };
	char *text = NULL;
	size_t size = 0;
	CHECK_INT( lmbBake_WriteUsd( character, &frames, path, &error ), lmb_statusOk );
	CHECK_OR_STOP( lmbFile_Read( path, &arena, &text, &size, &error ) == lmb_statusOk );
	CHECK( Line( text, "timeCodesPerSecond = 20\n" ) != NULL );
	const char *skin = Line( text, "def Mesh \"skin_0\"" ), *twin = Line( text, "def Mesh \"twin_3\"" );
	CHECK_OR_STOP( skin != NULL && twin != NULL );
	/* The sides name vertices 0 to 11; the cap 8 to 11, points 12 to 15 here. */
	const char *corners = Line( twin, "int[] faceVertexIndices = [" );
	CHECK_OR_STOP( corners != NULL );
	const char *end = strchr( corners, '\n' );
	static const char cap[] = ", 12, 13, 14, 12, 14, 15]";
	CHECK( memcmp( end - strlen( cap ), cap, strlen( cap ) ) == 0 );
	/* The cap's second vertex at frame 5 reads back as it was. */
	const char *points = Line( Line( twin, "point3f[] points.timeSamples" ), "5: [" );
	CHECK_OR_STOP( points != NULL );
	for ( int i = 0; i < 13; ++i )
		points = strstr( points, "), (" ) + 1;
	float back[3] = { 0 };
	CHECK_INT( sscanf( points, ", (%f, %f, %f)", &back[0], &back[1], &back[2] ), 3 );
	CHECK( memcmp( back, positions + 3 * ( 24 * 5 + 12 + 9 ), sizeof( back ) ) == 0 );
	unlink( path );
	frames.frameCount = 0;
	CHECK_INT( lmbBake_WriteUsd( character, &frames, path, &error ), lmb_statusInvalidArgument );
	CHECK( !lmbFile_Exists( path ) );
	frames.frameCount = frameCount;
	CHECK_INT( lmbBake_WriteUsd( character, &frames, BodyPath( "no/jump.usda" ), &error ), lmb_statusIo );
	lmbArena_Free( &arena );
	free( positions );
	lmbMotion_Free( motion );
	lmbCharacter_Free( character );
}

static void Refusals( void **state )
{
	(void)state;
	lmbGlbWriter writer;
	MakeBody( &writer );
	lmbCharacter *character = NeedBody( &writer );
	lmbMotion *motion = BodyMotion( character, 0 );
	float *positions = MakePositions( character, motion, 0.01 );
	lmbBakeFrames frames = { motion, frameCount, rate, positions };
	lmbBakeDef def = lmbDefaultBakeDef();
	lmbError error = { 0 };
	const char *path = BodyPath( "no.glb" );
	def.targets = 65;
	CHECK_INT( lmbBake_WriteGlb( character, &def, &frames, path, NULL, NULL, &error ),
	           lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "1 to 64" );
	def = lmbDefaultBakeDef();
	frames.frameCount = 0;
	CHECK_INT( lmbBake_WriteGlb( character, &def, &frames, path, NULL, NULL, &error ),
	           lmb_statusInvalidArgument );
	frames.frameCount = frameCount;
	positions[3 * ( bodyVertices * 7 + 4 ) + 1] = NAN;
	CHECK_INT( lmbBake_WriteGlb( character, &def, &frames, path, NULL, NULL, &error ), lmb_statusNumerical );
	CHECK_CONTAINS( error.message, "frame 7, vertex 4" );
	positions[3 * ( bodyVertices * 7 + 4 ) + 1] = 0.0f;
	const atomic_bool stop = true;
	const lmbJob job = { .cancelled = &stop };
	CHECK_INT( lmbBake_WriteGlb( character, &def, &frames, path, &job, NULL, &error ), lmb_statusCancelled );
	CHECK( !lmbFile_Exists( path ) );
	free( positions );
	lmbMotion_Free( motion );
	lmbCharacter_Free( character );
}

int main( void )
{
	if ( !MakeBodyFolder() )
		return 1;
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( RichFileIsKept ),     CHECK_TEST( AsGoodAsSingularValues ),
	    CHECK_TEST( ThreadsDoNotMatter ), CHECK_TEST( NothingToAdd ),
	    CHECK_TEST( PicturesComeAlong ),  CHECK_TEST( PointCachesByNode ),
	    CHECK_TEST( UsdByNode ),          CHECK_TEST( Refusals ),
	};
	int failures = CHECK_RUN( tests );
	rmdir( bodyFolder );
	return failures;
}
