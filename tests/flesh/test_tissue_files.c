/* Tissues as files, whatever the number of threads, and the characters of the shared folder. */
#include "flesh/tissue.h"

#include "base/files.h"
#include "check.h"
#include "flesh/skinning.h"
#include "tissue_shapes.h"

#include <unistd.h>

static void MakeFolder( char *folder )
{
	strcpy( folder, "/tmp/limber-test-XXXXXX" );
	CHECK_OR_STOP( mkdtemp( folder ) != NULL );
}

static void MakeBody( Shape *shape )
{
	const double a[3] = { 0, 0, 0 }, b[3] = { 0.3, 0.1, 0 };
	shape->bone = -1;
	Shape_AddCapsule( shape, a, b, 0.1, 10, 16 );
	Shape_AddBone( shape, "a", -1, a );
	Shape_AddBone( shape, "b", 0, b );
	Shape_Bind( shape, 0.1 );
}

static lmbTissue *MakeTissue( const lmbCharacter *character, double cell, int threads )
{
	lmbTissueDef def = lmbDefaultTissueDef();
	def.cell = cell;
	lmbJob job = { .threads = threads };
	lmbTissue *tissue = NULL;
	lmbError error = { 0 };
	CHECK_INT( lmbTissue_Make( character, &def, &job, &tissue, NULL, &error ), lmb_statusOk );
	CHECK_OR_STOP( tissue != NULL );
	return tissue;
}

static void CheckSameFile( const char *left, const char *right )
{
	lmbArena arena = { 0 };
	char *a = NULL, *b = NULL;
	size_t sizeA = 0, sizeB = 0;
	CHECK_INT( lmbFile_Read( left, &arena, &a, &sizeA, NULL ), lmb_statusOk );
	CHECK_INT( lmbFile_Read( right, &arena, &b, &sizeB, NULL ), lmb_statusOk );
	CHECK_INT( sizeA, sizeB );
	CHECK( sizeA == sizeB && memcmp( a, b, sizeA ) == 0 );
	lmbArena_Free( &arena );
}

static void RoundTrip( void **state )
{
	(void)state;
	char folder[64], first[128], second[128];
	MakeFolder( folder );
	snprintf( first, sizeof( first ), "%s/first", folder );
	snprintf( second, sizeof( second ), "%s/second", folder );
	Shape shape = { 0 };
	MakeBody( &shape );
	lmbTissue *tissue = MakeTissue( &shape.character, 0.05, 1 ), *loaded = NULL;
	lmbError error = { 0 };
	CHECK_INT( lmbTissue_Write( tissue, first, &error ), lmb_statusOk );
	CHECK_INT( lmbTissue_Load( first, &loaded, &error ), lmb_statusOk );
	CHECK_OR_STOP( loaded != NULL );
	CHECK_INT( loaded->nodeCount, tissue->nodeCount );
	CHECK_INT( loaded->boneCount, tissue->boneCount );
	CHECK_NEAR( loaded->cell, tissue->cell, 0.0 );
	CHECK( memcmp( loaded->nodes, tissue->nodes, 24 * (size_t)tissue->nodeCount ) == 0 );
	CHECK( memcmp( loaded->softness, tissue->softness, 8 * (size_t)tissue->vertexCount ) == 0 );
	CHECK_INT( lmbTissue_Write( loaded, second, &error ), lmb_statusOk );
	CheckSameFile( first, second );
	lmbTissue_Free( loaded );

	/* Threads and repetition change no bit; the open end sends samples through the threaded path. */
	shape.character.triangleCount -= 60;
	for ( int threads = 1; threads <= 3; ++threads )
	{
		lmbTissue *open = MakeTissue( &shape.character, 0.05, threads );
		CHECK_INT( lmbTissue_Write( open, threads == 1 ? first : second, &error ), lmb_statusOk );
		lmbTissue_Free( open );
		if ( threads > 1 )
			CheckSameFile( first, second );
	}
	lmbTissue_Free( tissue );
	unlink( first );
	unlink( second );
	rmdir( folder );
	Shape_Free( &shape );
}

/* Writes the tissue with one number changed and expects Load to say what is wrong, and where. */
static void CheckDamaged( const lmbTissue *tissue, const char *path, const char *part )
{
	lmbError error = { 0 };
	lmbTissue *loaded = (lmbTissue *)tissue;
	CHECK_INT( lmbTissue_Write( tissue, path, &error ), lmb_statusOk );
	CHECK( lmbTissue_Load( path, &loaded, &error ) != lmb_statusOk );
	CHECK( loaded == NULL );
	CHECK_CONTAINS( error.message, part );
	CHECK_CONTAINS( error.message, path );
}

static void DamagedFiles( void **state )
{
	(void)state;
	char folder[64], path[128];
	MakeFolder( folder );
	snprintf( path, sizeof( path ), "%s/tissue", folder );
	Shape shape = { 0 };
	MakeBody( &shape );
	lmbTissue *t = MakeTissue( &shape.character, 0.05, 1 );
#define DAMAGE( place, value, part )                                                                         \
	do                                                                                                       \
	{                                                                                                        \
		__typeof__( place ) good = ( place );                                                                \
		( place ) = ( value );                                                                               \
		CheckDamaged( t, path, part );                                                                       \
		( place ) = good;                                                                                    \
	} while ( 0 )
	DAMAGE( t->tets[5], t->nodeCount, "tets[1]" );
	DAMAGE( t->tets[5], -1, "tets[1]" );
	DAMAGE( t->tets[5], t->tets[4], "tets[1]" ); /* no volume */
	DAMAGE( t->fill[2], 0.0, "fill[2]" );
	DAMAGE( t->fill[2], 1.5, "fill[2]" );
	DAMAGE( t->fill[2], NAN, "fill" );
	DAMAGE( t->young[3], -1.0, "young" );
	DAMAGE( t->density[3], 0.0, "density" );
	DAMAGE( t->poisson[3], 0.5, "poisson[3]" );
	DAMAGE( t->mass[4], 0.0, "mass[4]" );
	DAMAGE( t->held[4], 2, "held[4]" );
	DAMAGE( t->nodeBones[0], t->boneCount, "node_bones[0]" );
	DAMAGE( t->nodeWeights[0], 5.0, "node_weights[0]" );
	DAMAGE( t->nodes[0], INFINITY, "nodes" );
	DAMAGE( t->skinTets[7], t->tetCount, "skin_tets[7]" );
	DAMAGE( t->skinWeights[28], 3.0, "skin_weights[7]" );
	DAMAGE( t->softness[7], -0.1, "softness[7]" );
	DAMAGE( t->cell, 0.0, "cell" );
	DAMAGE( t->boneCount, 0, "bones" );
#undef DAMAGE
	lmbTissue *loaded = t;
	lmbError error = { 0 };
	CHECK_INT( lmbTissue_Load( "/nowhere/tissue", &loaded, &error ), lmb_statusIo );
	CHECK( loaded == NULL );
	lmbTissue_Free( t );
	unlink( path );
	rmdir( folder );
	Shape_Free( &shape );
}

static int CountOf( const char *text, const char *part )
{
	int count = 0;
	for ( const char *at = strstr( text, part ); at != NULL; at = strstr( at + 1, part ) )
		count += 1;
	return count;
}

/* As far as this can be told without VTK: tags that close, the counts that the header promises. */
static void VtuFile( void **state )
{
	(void)state;
	char folder[64], path[128], expected[128];
	MakeFolder( folder );
	snprintf( path, sizeof( path ), "%s/tissue.vtu", folder );
	Shape shape = { 0 };
	MakeBody( &shape );
	lmbTissue *tissue = MakeTissue( &shape.character, 0.05, 1 );
	lmbError error = { 0 };
	lmbArena arena = { 0 };
	char *text = NULL;
	size_t size;
	CHECK_INT( lmbTissue_WriteVtu( tissue, path, &error ), lmb_statusOk );
	CHECK_INT( lmbFile_Read( path, &arena, &text, &size, &error ), lmb_statusOk );
	CHECK_OR_STOP( text != NULL );
	snprintf( expected, sizeof( expected ), "<Piece NumberOfPoints=\"%d\" NumberOfCells=\"%d\">",
	          tissue->nodeCount, tissue->tetCount );
	CHECK_CONTAINS( text, expected );
	static const char *const tags[] = { "VTKFile",  "UnstructuredGrid", "Piece", "PointData",
	                                    "CellData", "Points",           "Cells", "DataArray" };
	for ( int i = 0; i < 8; ++i )
	{
		char open[64], open2[64], close[64];
		snprintf( open, sizeof( open ), "<%s ", tags[i] );
		snprintf( open2, sizeof( open2 ), "<%s>", tags[i] );
		snprintf( close, sizeof( close ), "</%s>", tags[i] );
		CHECK( CountOf( text, open ) + CountOf( text, open2 ) >= 1 );
		CHECK_INT( CountOf( text, open ) + CountOf( text, open2 ), CountOf( text, close ) );
	}
	const char *types = strstr( text, "Name=\"types\"" );
	CHECK_OR_STOP( types != NULL );
	CHECK_INT( CountOf( types, "10\n" ), tissue->tetCount );
	CHECK( strstr( text, "nan" ) == NULL && strstr( text, "inf" ) == NULL );
	lmbArena_Free( &arena );
	lmbTissue_Free( tissue );
	unlink( path );
	rmdir( folder );
	Shape_Free( &shape );
}

static double LeastHeldRatio( const lmbTissue *tissue, const double *bones, double *nodes )
{
	lmbWeights weights = { tissue->nodeCount, tissue->influenceCount, tissue->nodeBones,
	                       tissue->nodeWeights };
	double least = INFINITY;
	lmbSkin_Points( &weights, bones, tissue->nodes, nodes );
	for ( int t = 0; t < tissue->tetCount; ++t )
	{
		const int32_t *n = tissue->tets + 4 * t;
		double rest[9], now[9];
		if ( !( tissue->held[n[0]] && tissue->held[n[1]] && tissue->held[n[2]] && tissue->held[n[3]] ) )
			continue;
		for ( int c = 0; c < 3; ++c )
		{
			lmbSub( rest + 3 * c, tissue->nodes + 3 * n[c + 1], tissue->nodes + 3 * n[0] );
			lmbSub( now + 3 * c, nodes + 3 * n[c + 1], nodes + 3 * n[0] );
		}
		least = fmin( least, lmbMat33_Determinant( now ) / lmbMat33_Determinant( rest ) );
	}
	return least;
}

static void CheckCharacter( const char *path, const lmbTissueDef *def, int lowNodes, int highNodes )
{
	lmbCharacter *character;
	lmbImportDef import = { 0 };
	lmbTissue *tissue;
	lmbTissueReport report;
	lmbError error = { 0 };
	CHECK_INT( lmbCharacter_Load( path, &import, &character, &error ), lmb_statusOk );
	CHECK_OR_STOP( character != NULL );
	double start = lmbClock_Seconds();
	CHECK_INT( lmbTissue_Make( character, def, NULL, &tissue, &report, &error ), lmb_statusOk );
	CHECK_OR_STOP( tissue != NULL );
	double seconds = lmbClock_Seconds() - start;
	CHECK( report.closed );
	CHECK_NEAR( report.volume / report.surfaceVolume, 1.0, 0.02 );
	CHECK_NEAR( report.mass / ( 1000.0 * report.volume ), 1.0, 0.015 );
	CHECK( tissue->nodeCount >= lowNodes && tissue->nodeCount <= highNodes );
	double *bones = calloc( 12 * (size_t)tissue->boneCount, sizeof( double ) );
	double *nodes = calloc( 3 * (size_t)tissue->nodeCount, sizeof( double ) ), least = INFINITY;
	for ( int c = 0; c < character->clipCount; ++c )
		for ( int f = 0; f <= 40; ++f )
		{
			double share = f / 40.0;
			lmbCharacter_Pose( character, c,
			                   ( 1.0 - share ) * character->clips[c].start + share * character->clips[c].end,
			                   bones );
			least = fmin( least, LeastHeldRatio( tissue, bones, nodes ) );
		}
	printf( "%s: cell %.1f mm, %d nodes, %d tetrahedra, %d held, %d split cells, volume %+.2f %%, least J of "
	        "held tetrahedra %.2f, %.2f s\n",
	        strrchr( path, '/' ) + 1, 1e3 * tissue->cell, tissue->nodeCount, tissue->tetCount,
	        report.heldCount, report.splitCellCount, 100.0 * ( report.volume / report.surfaceVolume - 1.0 ),
	        least, seconds );
	CHECK( least > 0.0 );
	CHECK( seconds < 20.0 ); /* 0.4 s alone on a 2.4 GHz machine; tests may run beside others */
	free( bones );
	free( nodes );
	lmbTissue_Free( tissue );
	lmbCharacter_Free( character );
}

static void HumanAtTwoSizes( void **state )
{
	(void)state;
	CHECK_SHARED( LMB_TEST_SHARED "/assets/human.glb" );
	const char *rigid[] = { "Head", "LeftHand", "RightHand", "LeftFoot", "RightFoot" };
	lmbTissueDef def = lmbDefaultTissueDef();
	for ( int choice = 0; choice < 2; ++choice )
	{
		def.rigidBones = rigid;
		def.rigidCount = choice == 0 ? 0 : 5;
		def.cell = 0.04;
		CheckCharacter( LMB_TEST_SHARED "/assets/human.glb", &def, 2000, 2800 );
		def.cell = 0.03;
		CheckCharacter( LMB_TEST_SHARED "/assets/human.glb", &def, 5000, 6500 );
	}
}

static void EveryCharacter( void **state )
{
	(void)state;
	CHECK_SHARED( LMB_TEST_SHARED "/assets/human.glb" );
	static const char *const names[] = { "cesium_man.gltf",     "fox.glb",         "greenman.glb",
	                                     "horse.glb",           "human_cubic.glb", "horse_quantized.glb",
	                                     "robot_expressive.glb" };
	lmbTissueDef def = lmbDefaultTissueDef();
	for ( int i = 0; i < 7; ++i )
	{
		char path[1024];
		snprintf( path, sizeof( path ), "%s/assets/%s", LMB_TEST_SHARED, names[i] );
		CheckCharacter( path, &def, 2280, 2520 );
	}
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( RoundTrip ),       CHECK_TEST( DamagedFiles ),   CHECK_TEST( VtuFile ),
	    CHECK_TEST( HumanAtTwoSizes ), CHECK_TEST( EveryCharacter ),
	};
	return CHECK_RUN( tests );
}
