/* The characters of the shared folder: each imports, and its numbers keep the contract. */
#include "check.h"
#include "formats/motion.h"

#include "base/math3.h"

#include <stdlib.h>

typedef struct Expected
{
	const char *file;
	int vertices, triangles, bones, clips, influences;
	double metresPerUnit;
} Expected;

/* Counts as the files' own READMEs and exporters state them. */
static const Expected files[] = {
    { "human.glb", 13380, 26756, 31, 2, 7, 1.0 },     { "human_cubic.glb", 13380, 26756, 31, 1, 4, 1.0 },
    { "horse.glb", 2146, 3414, 56, 14, 4, 1.0 },      { "horse_quantized.glb", 2144, 3414, 56, 14, 4, 1.0 },
    { "cesium_man.gltf", 3273, 4672, 19, 1, 4, 1.0 }, { "fox.glb", 1728, 576, 24, 3, 4, 0.01 },
    { "greenman.glb", 196, 356, 12, 4, 4, 1.0 },      { "robot_expressive.glb", 1108, 544, 43, 14, 4, 1.0 } };

static void CheckContract( const lmbCharacter *character )
{
	int width = character->influenceCount;
	for ( int i = 0; i < character->vertexCount; ++i )
	{
		double sum = 0.0, before = 2.0;
		for ( int k = 0; k < width; ++k )
		{
			double weight = character->weights[(size_t)i * (size_t)width + (size_t)k];
			int bone = character->vertexBones[(size_t)i * (size_t)width + (size_t)k];
			if ( !( weight >= 0.0 && weight <= before ) || bone < 0 || bone >= character->boneCount )
			{
				CHECK( weight >= 0.0 && weight <= before );
				return;
			}
			sum += weight;
			before = weight;
		}
		if ( !( fabs( sum - 1.0 ) < 1e-14 ) ) /* a sum of at most 32 doubles */
		{
			CHECK_NEAR( sum, 1.0, 1e-14 );
			return;
		}
	}
	for ( int i = 0; i < 3 * character->triangleCount; ++i )
		if ( character->triangles[i] < 0 || character->triangles[i] >= character->vertexCount )
		{
			CHECK_INT( character->triangles[i], 0 );
			return;
		}
	for ( int b = 0; b < character->boneCount; ++b )
	{
		CHECK( character->bones[b].parent < b );
		double linear[9];
		lmbMat34_Linear( linear, character->bones[b].bind );
		CHECK_NEAR( lmbMat33_Determinant( linear ), 1.0, 1e-12 );
		CHECK_INT( lmbCharacter_FindBone( character, character->bones[b].name ), b );
	}
}

/* In the default pose bones carry bind space to the scene at unit scale, node scales of 100 or not. */
static void CheckScale( const lmbCharacter *character )
{
	double *bones = malloc( 12 * sizeof( double ) * (size_t)character->boneCount );
	lmbCharacter_Pose( character, -1, 0.0, bones );
	int unit = 0;
	for ( int b = 0; b < character->boneCount; ++b )
	{
		double linear[9];
		lmbMat34_Linear( linear, bones + 12 * (size_t)b );
		unit += fabs( cbrt( lmbMat33_Determinant( linear ) ) - 1.0 ) < 0.01 ? 1 : 0;
	}
	CHECK( unit >= character->boneCount / 2 );
	free( bones );
}

static void EveryFileImports( void **state )
{
	(void)state;
	CHECK_SHARED( LMB_TEST_SHARED "/assets/human.glb" );
	for ( size_t i = 0; i < sizeof( files ) / sizeof( files[0] ); ++i )
	{
		char path[512];
		snprintf( path, sizeof( path ), "%s/assets/%s", LMB_TEST_SHARED, files[i].file );
		lmbCharacter *character;
		lmbError error = { 0 };
		if ( lmbCharacter_Load( path, NULL, &character, &error ) != lmb_statusOk )
		{
			CheckReport( __FILE__, __LINE__, error.message );
			continue;
		}
		printf( "%s\n", files[i].file );
		CHECK_INT( character->vertexCount, files[i].vertices );
		CHECK_INT( character->triangleCount, files[i].triangles );
		CHECK_INT( character->boneCount, files[i].bones );
		CHECK_INT( character->clipCount, files[i].clips );
		CHECK_INT( character->influenceCount, files[i].influences );
		CHECK_NEAR( character->metresPerUnit, files[i].metresPerUnit, 0.0 );
		CHECK( !character->unitGiven );
		CheckContract( character );
		CheckScale( character );
		for ( int c = 0; c < character->clipCount; ++c )
		{
			lmbMotionDef def = lmbDefaultMotionDef();
			lmbMotion *motion;
			CHECK_INT( lmbMotion_Make( character, c, &def, &motion, &error ), lmb_statusOk );
			lmbMotion_Free( motion );
		}
		lmbCharacter_Free( character );
	}
}

/* The unit can be given, and everything scales with it. */
static void UnitIsSettable( void **state )
{
	(void)state;
	const char *path = LMB_TEST_SHARED "/assets/fox.glb";
	CHECK_SHARED( path );
	lmbError error = { 0 };
	lmbCharacter *measured, *given;
	const lmbImportDef def = { .metresPerUnit = 0.02 };
	CHECK_OR_STOP( lmbCharacter_Load( path, NULL, &measured, &error ) == lmb_statusOk );
	CHECK_OR_STOP( lmbCharacter_Load( path, &def, &given, &error ) == lmb_statusOk );
	CHECK( given->unitGiven );
	for ( int i = 0; i < 30; ++i )
		CHECK_NEAR( given->bind[i], 2.0 * measured->bind[i], 1e-15 );
	double a[12 * 24], b[12 * 24];
	lmbCharacter_Pose( measured, 1, 0.3, a );
	lmbCharacter_Pose( given, 1, 0.3, b );
	for ( int i = 0; i < 12 * 24; ++i )
		CHECK_NEAR( b[i], ( i % 4 == 3 ? 2.0 : 1.0 ) * a[i], 1e-13 );
	lmbCharacter_Free( measured );
	lmbCharacter_Free( given );
	const lmbImportDef bad = { .metresPerUnit = -1.0 };
	CHECK_INT( lmbCharacter_Load( path, &bad, &given, &error ), lmb_statusInvalidArgument );
	CHECK( given == NULL );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( EveryFileImports ),
	    CHECK_TEST( UnitIsSettable ),
	};
	return CHECK_RUN( tests );
}
