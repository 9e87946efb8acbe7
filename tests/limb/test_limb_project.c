/* The project file of a limb: values, defaults, refusals with their places, the reference page. */
#include "check.h"

#include "base/files.h"
#include "limb/project.h"

#include <stdlib.h>
#include <unistd.h>

static char folder[64] = "/tmp/limber-limb-project-XXXXXX";

static const char *WriteProject( const char *text )
{
	static char path[128];
	lmbError error = { 0 };
	snprintf( path, sizeof( path ), "%s/test.yaml", folder );
	CHECK( lmbFile_Write( path, text, strlen( text ), &error ) == lmb_statusOk );
	return path;
}

static void CheckRefused( int line, const char *text, const char *place, const char *message )
{
	lmbLimbProject *project;
	lmbError error = { 0 };
	const char *path = WriteProject( text );
	lmbStatus status = lmbLimbProject_Load( path, &project, &error );
	CheckInt( __FILE__, line, "status", status, lmb_statusInvalidArgument );
	char expected[256];
	snprintf( expected, sizeof( expected ), "%s:%s: ", path, place );
	CheckContains( __FILE__, line, error.message, expected );
	CheckContains( __FILE__, line, error.message, message );
	if ( project != NULL )
		CheckReport( __FILE__, line, "a project in spite of an error" );
}
#define CHECK_REFUSED( text, place, message ) CheckRefused( __LINE__, text, place, message )

static void MistakesAreNamedWithTheirPlace( void **state )
{
	(void)state;
	CHECK_REFUSED( "limb:\n  gravty: 9.81\n", "2:3",
	               "limb: unknown key \"gravty\"; the nearest known one is \"gravity\"" );
	CHECK_REFUSED( "limb: { viscosity: [0.1] }\n", "1:20", "viscosity must be a list of two numbers" );
	CHECK_REFUSED( "limb: { viscosity: [0.1, -1] }\n", "1:26",
	               "viscosity must be in 0 to 1000 N m s/rad, not -1" );
	CHECK_REFUSED( "limb: { plant: leg }\n", "1:16", "plant must be one of arm, mujoco, recordings" );
	CHECK_REFUSED( "limb: { plant: arm }\ntrain: { models: [gruu] }\n", "2:19",
	               "kind must be one of lagrangian, affine, plain, gru, lstm, not \"gruu\"" );
	CHECK_REFUSED( "limb: { plant: arm }\nevaluate: { tests: [pulse, pulse] }\n", "2:28",
	               "tests: \"pulse\" is here twice" );
	CHECK_REFUSED( "limb: { plant: arm }\nevaluate: { samples: [1000, many] }\n", "2:29",
	               "samples must be a list of numbers" );
	CHECK_REFUSED( "limb: { plant: arm }\nevaluate: { samples: 5 }\n", "2:22",
	               "samples must be a list of numbers, not \"5\"" );
	CHECK_REFUSED( "limb: { plant: arm }\nrecordings: { files: a.csv }\n", "2:22",
	               "files must be a list of files" );
	CHECK_REFUSED( "motions: { rate: 100 }\n", "1:1", "the key \"limb\" is missing" );
	CHECK_REFUSED( "character: a.glb\n", "1:1", "unknown key \"character\"" );
}

static void KeysGoTogether( void **state )
{
	(void)state;
	CHECK_REFUSED( "limb: { plant: mujoco }\n", "1:1", "limb.model must name a file" );
	CHECK_REFUSED( "limb: { plant: recordings }\n", "1:1", "recordings.files names no file" );
	CHECK_REFUSED( "limb: { plant: arm }\nmotions: { train: [] }\n", "1:1", "motions.train is empty" );
	CHECK_REFUSED( "limb: { plant: arm }\ntrain: { models: [] }\n", "1:1", "train.models is empty" );
	CHECK_REFUSED( "limb: { plant: arm }\ntrain: { models: [gru, gru] }\n", "1:1", "two are called \"gru\"" );
	CHECK_REFUSED(
	    "limb: { plant: arm }\ntrain:\n  models:\n    - { kind: gru, name: a }\n    - { kind: lstm, "
	    "name: a }\n",
	    "5:27", "two are called \"a\"" );
	CHECK_REFUSED( "limb: { plant: arm }\ntrain: { models: [{ kind: gru, name: truth }] }\n", "2:38",
	               "\"truth\"" );
	CHECK_REFUSED( "limb: { plant: arm }\ntrain: { models: [{ kind: gru, name: ../x }] }\n", "2:38",
	               "letters, digits" );
	CHECK_REFUSED( "limb: { plant: arm, limit_stiffness: 1, elbow_limits: [20, 10] }\n", "1:1",
	               "lower limit must lie below" );
}

static void ValuesArrive( void **state )
{
	(void)state;
	lmbLimbProject *project;
	lmbError error = { 0 };
	const char *path = WriteProject(
	    "name: mine\nseed: 9\n"
	    "limb: { plant: mujoco, model: sub/arm.xml, viscosity: [0.1, 0.3], gravity: 9.81, elbow_limits: [10, "
	    "90] }\n"
	    "recordings: { files: [a.csv, /b.sto], held_out: [a*], positions: \"q1,q2\", rate: 50, hold: held }\n"
	    "motions: { rate: 200, noise: 0.5, train: [swings, { kind: reaches, count: 7, duration: 2 }] }\n"
	    "train:\n  models:\n    - gru\n    - { kind: lagrangian, width: 16, potential: true, seeds: 3 }\n"
	    "evaluate: { tests: [pulse, held_out], integrator: implicit_midpoint, step: 0.01, samples: [1e3, "
	    "1e4], "
	    "novel_velocity: [10, 20] }\n" );
	lmbStatus status = lmbLimbProject_Load( path, &project, &error );
	if ( status != lmb_statusOk )
		CheckReport( __FILE__, __LINE__, error.message );
	CHECK_OR_STOP( status == lmb_statusOk );
	char expected[128];
	snprintf( expected, sizeof( expected ), "%s/sub/arm.xml", folder );
	CHECK( strcmp( project->mujoco, expected ) == 0 );
	snprintf( expected, sizeof( expected ), "%s/a.csv", folder );
	CHECK( strcmp( project->files[0], expected ) == 0 );
	CHECK( strcmp( project->files[1], "/b.sto" ) == 0 );
	CHECK( strcmp( project->heldOut[0], "a*" ) == 0 );
	CHECK( strcmp( project->recording.positions, "q1,q2" ) == 0 && project->recording.velocities == NULL );
	CHECK_NEAR( project->recording.rate, 50.0, 0.0 );
	CHECK_INT( project->recording.hold, lmb_inputHeld );
	CHECK_INT( project->seed, 9 );
	CHECK_INT( project->source, lmb_limbSourceMujoco );
	CHECK_NEAR( project->arm.viscosity[1], 0.3, 0.0 );
	lmbArmDef arm = lmbLimbProject_ArmDef( project );
	CHECK_NEAR( arm.limits[1][1], 1.5707963267948966, 1e-15 );
	CHECK_NEAR( arm.limits[1][0], 1.5707963267948966 / 9.0, 1e-15 );
	CHECK_INT( project->motionCount, 2 );
	CHECK_INT( project->motions[0].kind, lmb_plantMotionSwings );
	CHECK( isnan( project->motions[0].duration ) );
	CHECK_INT( project->motions[1].count, 7 );
	CHECK_NEAR( project->motions[1].duration, 2.0, 0.0 );
	CHECK_INT( project->modelCount, 2 );
	CHECK_INT( project->models[0].kind, lmb_limbGru );
	CHECK_INT( project->models[0].width, -1 );
	CHECK( strcmp( lmbLimbModel_Name( &project->models[0] ), "gru" ) == 0 );
	CHECK( strcmp( lmbLimbModel_Name( &project->models[1] ), "ape_lagrangian" ) == 0 );
	CHECK_INT( project->models[1].width, 16 );
	CHECK_INT( project->models[1].potential, lmb_limbChoiceTrue );
	CHECK_INT( project->models[1].invariance, lmb_limbChoiceAuto );
	CHECK_INT( project->models[1].seeds, 3 );
	CHECK_INT( project->testCount, 2 );
	CHECK_INT( project->tests[0], lmb_limbTestPulse );
	CHECK_INT( project->tests[1], lmb_limbTestHeldOut );
	CHECK_INT( project->integrator, lmb_integratorImplicitMidpoint );
	CHECK_INT( project->sampleCountCount, 2 );
	CHECK_NEAR( project->sampleCounts[1], 1e4, 0.0 );
	CHECK_NEAR( project->novelVelocity[1], 20.0, 0.0 );
	CHECK_INT( lmbProjectFile_Set( &project->file, "train.models=[plain]", &error ), lmb_statusOk );
	CHECK_INT( project->models[0].kind, lmb_limbPlain );
	CHECK_INT( lmbProjectFile_Set( &project->file, "limb.gravity=-1", &error ), lmb_statusInvalidArgument );
	lmbLimbProject_Free( project );
}

/* A list that YAML ends with nothing must not become one that is not there. */
static void SettingsTellDifferencesApart( void **state )
{
	(void)state;
	static const char *const changes[][2] = {
	    { "limb", "limb.viscosity=[0.2, 0.3]" },      { "limb", "limb.muscles=true" },
	    { "recordings", "recordings.files=[x.csv]" }, { "recordings", "recordings.inputs=tau" },
	    { "motions", "motions.train=[swings]" },      { "motions", "motions.start_range=0.5" },
	    { "train", "train.models=[{ kind: gru }]" },  { "train", "train.models=[{ stop_share: 0.2 }]" },
	    { "evaluate", "evaluate.tests=[held_out]" },  { "evaluate", "evaluate.samples=[1000]" } };
	for ( size_t i = 0; i < sizeof( changes ) / sizeof( changes[0] ); ++i )
	{
		lmbLimbProject *project;
		lmbError error = { 0 };
		lmbArena arena = { 0 };
		CHECK_OR_STOP( lmbLimbProject_Load( WriteProject( "limb: { plant: arm }\n" ), &project, &error ) ==
		               lmb_statusOk );
		const char *before = lmbProjectFile_Settings( &project->file, changes[i][0], &arena );
		CHECK_INT( lmbProjectFile_Set( &project->file, changes[i][1], &error ), lmb_statusOk );
		if ( strcmp( before, lmbProjectFile_Settings( &project->file, changes[i][0], &arena ) ) == 0 )
			CheckReport( __FILE__, __LINE__, changes[i][1] );
		lmbArena_Free( &arena );
		lmbLimbProject_Free( project );
	}
}

/* Every number of the table lies in its range at its default, and is refused just outside of it. */
static void RangesAreKept( void **state )
{
	(void)state;
	lmbLimbProject *project;
	lmbError error = { 0 };
	CHECK_OR_STOP( lmbLimbProject_Load( WriteProject( "limb: { plant: arm }\n" ), &project, &error ) ==
	               lmb_statusOk );
	for ( int i = 0; i < lmbLimbProjectTable.keyCount; ++i )
	{
		const lmbProjectKey *key = &lmbLimbProjectTable.keys[i];
		const lmbProjectRecord *record = lmbProjectTable_FindRecord( &lmbLimbProjectTable, key->section );
		bool number = key->kind == lmb_keyNumber || key->kind == lmb_keyCount;
		if ( !number )
			continue;
		const char *at = ( record != NULL ? record->defaults : (const char *)project ) + key->offset;
		double value = key->kind == lmb_keyNumber ? *(const double *)at : *(const int *)at;
		if ( key->unset == NULL && !( value >= key->minimum && value <= key->maximum ) )
			CheckReport( __FILE__, __LINE__, key->name );
		if ( record != NULL || key->section[0] == 0 )
			continue;
		for ( int end = 0; end < 2; ++end )
		{
			char text[256];
			double outside = end == 0 ? key->minimum - 1.0 : key->maximum * 1.5 + 1.0;
			snprintf( text, sizeof( text ), "%s.%s=%.17g", key->section, key->name,
			          key->kind == lmb_keyCount ? floor( outside ) : outside );
			CHECK_INT( lmbProjectFile_Set( &project->file, text, &error ), lmb_statusInvalidArgument );
			CHECK_CONTAINS( error.message, "must be in" );
		}
	}
	lmbLimbProject_Free( project );
}

static void KindsAreTold( void **state )
{
	(void)state;
	static const lmbProjectTable other = { .needed = "character" };
	const lmbProjectTable *const tables[] = { &other, &lmbLimbProjectTable };
	CHECK_INT( lmbProjectFile_Kind( WriteProject( "seed: 1\nlimb: { plant: arm }\n" ), tables, 2 ), 1 );
	CHECK_INT( lmbProjectFile_Kind( WriteProject( "character: a.glb\n" ), tables, 2 ), 0 );
	CHECK_INT( lmbProjectFile_Kind( WriteProject( "seed: 1\n" ), tables, 2 ), -1 );
	CHECK_INT( lmbProjectFile_Kind( WriteProject( "[limb]\n" ), tables, 2 ), -1 );
	CHECK_INT( lmbProjectFile_Kind( WriteProject( "limb: {\n" ), tables, 2 ), -1 );
	CHECK_INT( lmbProjectFile_Kind( WriteProject( "" ), tables, 2 ), -1 );
	CHECK_INT( lmbProjectFile_Kind( "/nowhere/a.yaml", tables, 2 ), -1 );
}

static void PrintedDefaultsReadBack( void **state )
{
	(void)state;
	char path[128];
	snprintf( path, sizeof( path ), "%s/defaults.yaml", folder );
	FILE *stream = fopen( path, "w" );
	CHECK_OR_STOP( stream != NULL );
	lmbProjectTable_PrintDefaults( &lmbLimbProjectTable, stream );
	fclose( stream );
	lmbLimbProject *project, *bare;
	lmbError error = { 0 };
	lmbArena arena = { 0 };
	lmbStatus status = lmbLimbProject_Load( path, &project, &error );
	if ( status != lmb_statusOk )
		CheckReport( __FILE__, __LINE__, error.message );
	CHECK_OR_STOP( status == lmb_statusOk );
	CHECK_OR_STOP( lmbLimbProject_Load( WriteProject( "limb: { plant: arm }\n" ), &bare, &error ) ==
	               lmb_statusOk );
	for ( int i = 0; i < lmbLimbProjectTable.sectionCount; ++i )
	{
		const char *section = lmbLimbProjectTable.sections[i].name;
		CHECK( strcmp( lmbProjectFile_Settings( &project->file, section, &arena ),
		               lmbProjectFile_Settings( &bare->file, section, &arena ) ) == 0 ||
		       section[0] == 0 ); /* the names differ */
	}
	lmbArena_Free( &arena );
	lmbLimbProject_Free( project );
	lmbLimbProject_Free( bare );
}

static void ReferencePageIsCurrent( void **state )
{
	(void)state;
	char path[128];
	snprintf( path, sizeof( path ), "%s/reference.md", folder );
	FILE *stream = fopen( path, "w" );
	CHECK_OR_STOP( stream != NULL );
	lmbProjectTable_PrintReference( &lmbLimbProjectTable, stream );
	fclose( stream );
	lmbArena arena = { 0 };
	char *printed, *page;
	size_t printedSize, pageSize;
	lmbError error = { 0 };
	CHECK_OR_STOP( lmbFile_Read( path, &arena, &printed, &printedSize, &error ) == lmb_statusOk );
	CHECK_OR_STOP( lmbFile_Read( LMB_TEST_SOURCE "/docs/formats/limb-project.md", &arena, &page, &pageSize,
	                             &error ) == lmb_statusOk );
	if ( strcmp( printed, page ) != 0 )
		CheckReport( __FILE__, __LINE__,
		             "docs/formats/limb-project.md is old; run: build/limber run --reference limb > "
		             "docs/formats/limb-project.md" );
	lmbArena_Free( &arena );
}

/* The project files that come with Limber. */
static void OwnProjectsLoad( void **state )
{
	(void)state;
	static const char *const names[] = {
	    "examples/arm/project.yaml", "bench/arm/seeds.yaml",        "bench/arm/gravity.yaml",
	    "bench/arm/limits.yaml",     "bench/arm/friction.yaml",     "bench/arm/muscles.yaml",
	    "bench/arm/noise.yaml",      "bench/pendulum/project.yaml", "bench/characters/project.yaml" };
	for ( size_t i = 0; i < sizeof( names ) / sizeof( names[0] ); ++i )
	{
		char path[512];
		lmbLimbProject *project;
		lmbError error = { 0 };
		snprintf( path, sizeof( path ), "%s/%s", LMB_TEST_SOURCE, names[i] );
		if ( lmbLimbProject_Load( path, &project, &error ) != lmb_statusOk )
			CheckReport( __FILE__, __LINE__, error.message );
		lmbLimbProject_Free( project );
	}
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( MistakesAreNamedWithTheirPlace ),
	    CHECK_TEST( KeysGoTogether ),
	    CHECK_TEST( ValuesArrive ),
	    CHECK_TEST( SettingsTellDifferencesApart ),
	    CHECK_TEST( RangesAreKept ),
	    CHECK_TEST( KindsAreTold ),
	    CHECK_TEST( PrintedDefaultsReadBack ),
	    CHECK_TEST( ReferencePageIsCurrent ),
	    CHECK_TEST( OwnProjectsLoad ),
	};
	if ( mkdtemp( folder ) == NULL )
		return 1;
	int failed = CHECK_RUN( tests );
	char command[128];
	snprintf( command, sizeof( command ), "rm -r %s", folder );
	return system( command ) == 0 ? failed : 1;
}
