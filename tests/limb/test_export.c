/* Models as C. Alone: what the call refuses, and that it writes the same files twice. For test_export_c.sh,
 * which compiles and runs what is written:
 *   test_limb_export write FOLDER             writes models of every kind into the folder
 *   test_limb_export play MODEL INTEGRATOR     plays one in the library and prints every bit
 *   test_limb_export states MODEL              prints random states and their accelerations */
#include "check.h"

#include "export_play.h"
#include "limb/export_c.h"
#include "limb/load.h"
#include "runtime/limb_fixture.h"

static const struct
{
	const char *name;
	LimbDef def;
} models[] = {
    { "arm",
      { .kind = lmb_limbLagrangian,
        .n = 2,
        .m = 2,
        .style = styleNoBase,
        .hiddenLayers = 2,
        .width = 32,
        .dampingConstant = true,
        .trust = true,
        .seed = 1 } },
    { "muscles",
      { .kind = lmb_limbLagrangian,
        .n = 3,
        .m = 6,
        .style = styleLinear,
        .hiddenLayers = 1,
        .width = 14,
        .potential = true,
        .dampingNet = true,
        .driveMatrix = true,
        .driveNet = true,
        .seed = 2 } },
    { "slider",
      { .kind = lmb_limbLagrangian,
        .n = 1,
        .m = 1,
        .style = styleNoBase,
        .hiddenLayers = 1,
        .width = 4,
        .dampingConstant = true,
        .seed = 3 } },
    { "affine",
      { .kind = lmb_limbAffine,
        .n = 2,
        .m = 2,
        .style = styleAll,
        .hiddenLayers = 2,
        .width = 17,
        .trust = true,
        .seed = 4 } },
    { "plain",
      { .kind = lmb_limbPlain,
        .n = 2,
        .m = 0,
        .style = styleDifferences,
        .hiddenLayers = 1,
        .width = 20,
        .seed = 5 } },
    { "gru",
      { .kind = lmb_limbGru,
        .n = 2,
        .m = 2,
        .style = styleAll,
        .hiddenLayers = 2,
        .width = 10,
        .trust = true,
        .seed = 6 } },
    { "lstm",
      { .kind = lmb_limbLstm,
        .n = 2,
        .m = 3,
        .style = styleNoBase,
        .hiddenLayers = 1,
        .width = 13,
        .seed = 7 } },
};

enum
{
	modelCount = sizeof( models ) / sizeof( models[0] )
};

static int WriteModels( const char *folder )
{
	char path[512];
	for ( int i = 0; i < modelCount; ++i )
	{
		LimbFixture *f = LimbFixture_Make( &models[i].def );
		snprintf( path, sizeof( path ), "%s/%s.safetensors", folder, models[i].name );
		if ( f == NULL || !WriteModel( f, path ) )
			return 1;
		LimbFixture_Free( f );
	}
	return 0;
}

static int PlayModel( const char *path, int integrator )
{
	lmbArena arena = { 0 };
	lmbError error = { 0 };
	lmbLimb *model;
	lmbLimbBody *body;
	double q[16], v[16], a[16], u[64], end[64];
	if ( lmbLimb_LoadFile( path, &arena, &model, &error ) != lmb_statusOk )
	{
		printf( "%s\n", error.message );
		return 1;
	}
	lmbLimbInfo info = lmbLimb_Info( model );
	lmbLimbDef def = lmbDefaultLimbDef( model );
	def.integrator = (lmbIntegrator)integrator;
	if ( lmbLimb_NewBody( model, &def, &arena, &body, &error ) != lmb_statusOk )
		return 1;
	Play_Numbers( 0, 1, q, info.dofCount );
	Play_Numbers( 0, 2, v, info.dofCount );
	printf( "start %d\n", lmbLimbBody_Start( body, q, v ) != lmb_statusOk );
	for ( int step = 0; step < playSteps; ++step )
	{
		double place[16], speed[16], trust;
		Play_Numbers( step, 3, u, info.inputCount );
		Play_Numbers( step, 4, end, info.inputCount );
		printf( "step %d\n",
		        lmbLimbBody_Step( body, u, step % 3 == 0 ? end : NULL, Play_Time( step ) ) != lmb_statusOk );
		lmbLimbBody_State( body, place, speed );
		trust = lmbLimbBody_Trust( body );
		Play_Print( "q", place, info.dofCount );
		Play_Print( "v", speed, info.dofCount );
		Play_Print( "trust", &trust, 1 );
	}
	if ( lmbLimbBody_Acceleration( body, q, v, u, a ) == lmb_statusOk )
		Play_Print( "a", a, info.dofCount );
	lmbLimbTorques torques;
	if ( lmbLimbBody_Inverse( body, q, v, a, &torques ) == lmb_statusOk )
	{
		Play_Print( "input", torques.input, info.dofCount );
		Play_Print( "interaction", torques.interaction, info.dofCount );
	}
	lmbArena_Free( &arena );
	return 0;
}

/* Random states, rounded to float as ONNX takes them, and the library's accelerations. */
static int PrintStates( const char *path )
{
	lmbArena arena = { 0 };
	lmbError error = { 0 };
	lmbLimb *model;
	lmbLimbBody *body;
	lmbRandom random = lmbRandom_Seed( 4, 1 );
	if ( lmbLimb_LoadFile( path, &arena, &model, &error ) != lmb_statusOk )
		return 1;
	lmbLimbInfo info = lmbLimb_Info( model );
	lmbLimbDef def = lmbDefaultLimbDef( model );
	if ( lmbLimb_NewBody( model, &def, &arena, &body, &error ) != lmb_statusOk )
		return 1;
	int n = info.dofCount, m = info.inputCount;
	for ( int row = 0; row < 200; ++row )
	{
		double state[96], a[16];
		for ( int i = 0; i < 2 * n + m; ++i )
			state[i] = (float)( 2.0 * lmbRandom_Normal( &random ) );
		if ( lmbLimbBody_Acceleration( body, state, state + n, state + 2 * n, a ) != lmb_statusOk )
			return 1;
		for ( int i = 0; i < 2 * n + m; ++i )
			printf( "%.17g ", state[i] );
		for ( int i = 0; i < n; ++i )
			printf( "%.17g ", a[i] );
		printf( "\n" );
	}
	lmbArena_Free( &arena );
	return 0;
}

static void WritesTheSameTwice( void **state )
{
	(void)state;
	char folder[] = "/tmp/limber-export-XXXXXX", paths[4][64];
	const char *const endings[2] = { ".c", ".h" };
	CHECK_OR_STOP( mkdtemp( folder ) != NULL );
	for ( int i = 0; i < modelCount; ++i )
	{
		LimbFixture *f = LimbFixture_Make( &models[i].def );
		lmbError error = { 0 };
		lmbExportCDef def = { .name = "arm_1" };
		lmbArena arena = { 0 };
		char *data[2][2];
		size_t sizes[2][2];
		for ( int round = 0; round < 2; ++round )
		{
			CHECK_INT( lmbLimb_ExportC( f->path, &def, folder, &error ), lmb_statusOk );
			for ( int e = 0; e < 2; ++e )
			{
				snprintf( paths[e], sizeof( paths[e] ), "%s/arm_1%s", folder, endings[e] );
				CHECK_INT( lmbFile_Read( paths[e], &arena, &data[round][e], &sizes[round][e], &error ),
				           lmb_statusOk );
				unlink( paths[e] );
			}
		}
		for ( int e = 0; e < 2; ++e )
			CHECK( sizes[0][e] == sizes[1][e] && memcmp( data[0][e], data[1][e], sizes[0][e] ) == 0 );
		CHECK_CONTAINS( data[0][1], "int arm_1_Step( arm_1_Body *body" );
		CHECK( strstr( data[0][0], "NAME" ) == NULL && strstr( data[0][1], "DOFS" ) == NULL );
		lmbArena_Free( &arena );
		LimbFixture_Free( f );
	}
	rmdir( folder );
}

static void RefusesWhatItCannotWrite( void **state )
{
	(void)state;
	LimbFixture *f = LimbFixture_Make( &models[0].def );
	lmbError error = { 0 };
	lmbExportCDef def = { .name = "two words" };
	CHECK_INT( lmbLimb_ExportC( f->path, &def, "/tmp", &error ), lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "two words" );
	def = ( lmbExportCDef ){ .name = "ok", .integrators = 16 };
	CHECK_INT( lmbLimb_ExportC( f->path, &def, "/tmp", &error ), lmb_statusInvalidArgument );
	def.integrators = 0;
	CHECK_INT( lmbLimb_ExportC( "/nowhere/model.safetensors", &def, "/tmp", &error ), lmb_statusIo );
	CHECK_CONTAINS( error.message, "/nowhere/model.safetensors" );
	CHECK( lmbLimb_ExportC( f->path, &def, "/proc/nowhere", &error ) != lmb_statusOk );
	LimbFixture_Free( f );
}

int main( int count, char **arguments )
{
	if ( count == 3 && strcmp( arguments[1], "write" ) == 0 )
		return WriteModels( arguments[2] );
	if ( count == 4 && strcmp( arguments[1], "play" ) == 0 )
		return PlayModel( arguments[2], atoi( arguments[3] ) );
	if ( count == 3 && strcmp( arguments[1], "states" ) == 0 )
		return PrintStates( arguments[2] );
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( WritesTheSameTwice ),
	    CHECK_TEST( RefusesWhatItCannotWrite ),
	};
	return CHECK_RUN( tests );
}
