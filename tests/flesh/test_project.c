/* The project file: every error path with its place, defaults against the stages' own, the reference page
 * against the table. */
#include "check.h"

#include "base/files.h"
#include "flesh/project_table.h"

#include <stdlib.h>
#include <unistd.h>

static char folder[64] = "/tmp/limber-project-XXXXXX";

static const char *WriteProject( const char *text )
{
	static char path[128];
	lmbError error = { 0 };
	snprintf( path, sizeof( path ), "%s/test.yaml", folder );
	CHECK( lmbFile_Write( path, text, strlen( text ), &error ) == lmb_statusOk );
	return path;
}

/* That loading text fails at "line:column" with message in the error. */
static void CheckRefused( int line, const char *text, const char *place, const char *message )
{
	lmbProject *project;
	lmbError error = { 0 };
	const char *path = WriteProject( text );
	lmbStatus status = lmbProject_Load( path, &project, &error );
	CheckInt( __FILE__, line, "status", status, lmb_statusInvalidArgument );
	char expected[256];
	snprintf( expected, sizeof( expected ), "%s:%s: ", path, place );
	CheckContains( __FILE__, line, error.message, expected );
	CheckContains( __FILE__, line, error.message, message );
	if ( project != NULL )
		CheckReport( __FILE__, line, "a project in spite of an error" );
}
#define CHECK_REFUSED( text, place, message ) CheckRefused( __LINE__, text, place, message )

static void UnknownKeysAreNamed( void **state )
{
	(void)state;
	CHECK_REFUSED( "character: a.glb\ntisue:\n  cell: 0.1\n", "2:1",
	               "unknown key \"tisue\"; the nearest known one is \"tissue\"" );
	CHECK_REFUSED( "character: a.glb\ntissue:\n  node: 100\n", "3:3",
	               "tissue: unknown key \"node\"; the nearest known one is \"nodes\"" );
	CHECK_REFUSED( "character: a.glb\ntrain: { cell: 3 }\n", "2:10",
	               "\"cell\"; it belongs under \"tissue\"" );
	CHECK_REFUSED( "character: a.glb\nstep_rate: 3\n", "2:1",
	               "\"step_rate\"; it belongs under \"simulate\"" );
	CHECK_REFUSED( "character: a.glb\ntissue:\n  materials:\n    - { bone: hip, yung: 1e4 }\n", "4:20",
	               "material: unknown key \"yung\"; the nearest known one is \"young\"" );
	CHECK_REFUSED( "character: a.glb\nunit: 1\nunit: 2\n", "3:1", "\"unit\" is here twice" );
	CHECK_REFUSED( "character: a.glb\n[1]: 2\n", "2:1", "a key must be a word" );
}

static void WrongKindsAreNamed( void **state )
{
	(void)state;
	CHECK_REFUSED( "character: a.glb\nunit: wide\n", "2:7", "unit must be a number, not \"wide\"" );
	CHECK_REFUSED( "character: a.glb\nunit: \"1\"\n", "2:7", "unit must be a number" );
	CHECK_REFUSED( "character: a.glb\nunit: 0x10\n", "2:7", "unit must be a number" );
	CHECK_REFUSED( "character: a.glb\nunit: .inf\n", "2:7", "unit must be a number" );
	CHECK_REFUSED( "character: a.glb\nunit: nan\n", "2:7", "unit must be a number" );
	CHECK_REFUSED( "character: a.glb\nunit: [1]\n", "2:7", "unit must be a number, not a list" );
	CHECK_REFUSED( "character: a.glb\nunit:\n", "2:6", "unit must be a number" );
	CHECK_REFUSED( "character: a.glb\nmodes: { count: 2.5 }\n", "2:17",
	               "count must be a whole number, not \"2.5\"" );
	CHECK_REFUSED( "character: a.glb\ntrain: { mirror: yes }\n", "2:18",
	               "mirror must be true or false, not \"yes\"" );
	CHECK_REFUSED( "character: a.glb\nsimulate: { gravity: [0, 1] }\n", "2:22",
	               "gravity must be a list of three numbers" );
	CHECK_REFUSED( "character: a.glb\nsimulate: { gravity: [0, down, 0] }\n", "2:26", "\"down\"" );
	CHECK_REFUSED( "character: a.glb\ntissue: { rigid: head }\n", "2:18",
	               "rigid must be a list of bones, not \"head\"" );
	CHECK_REFUSED( "character: a.glb\ntissue: { rigid: [head, [hand]] }\n", "2:25", "rigid must be" );
	CHECK_REFUSED( "character: a.glb\nmotions: { train: jump }\n", "2:19",
	               "train must be a list of entries" );
	CHECK_REFUSED( "character: a.glb\nmotions: { train: [[jump]] }\n", "2:20",
	               "motion must be a group of keys" );
	CHECK_REFUSED( "character: a.glb\ntissue: 5\n", "2:9", "tissue must be a group of keys" );
	CHECK_REFUSED( "character: { a: b }\n", "1:12", "character must be the name of a file" );
	CHECK_REFUSED( "character: a.glb\nsimulate: { stepping: euler }\n", "2:23",
	               "stepping must be one of trapezoidal, bdf2, backward_euler, not \"euler\"" );
	CHECK_REFUSED( "character: a.glb\nmotions: { train: [{ start: 1 }] }\n", "2:20",
	               "this entry of train needs \"clip\"" );
	CHECK_REFUSED( "character: a.glb\ntissue: { radii: [{ radius: 1 }] }\n", "2:19",
	               "this entry of radii needs \"bone\"" );
}

static void RangesAreKept( void **state )
{
	(void)state;
	CHECK_REFUSED( "character: a.glb\ntissue: { cell: -1 }\n", "2:17", "cell must be in 0 to 10 m, not -1" );
	CHECK_REFUSED( "character: a.glb\ntissue:\n  materials: [{ poisson: 0.5 }]\n", "3:26",
	               "poisson must be in 0 to 0.495, not 0.5" );
	CHECK_REFUSED( "character: a.glb\ntissue: { nodes: 1e300 }\n", "2:18", "nodes must be in 50 to 200000" );
	CHECK_REFUSED( "character: a.glb\nsimulate: { gravity: [0, -1e9, 0] }\n", "2:26", "gravity must be in" );
	/* Every number of the table, just outside both of its ends. */
	for ( int i = 0; i < lmbFleshProjectTable.keyCount; ++i )
	{
		const lmbProjectKey *key = &lmbFleshProjectTable.keys[i];
		bool number = key->kind == lmb_keyNumber || key->kind == lmb_keyCount;
		if ( !number || lmbProjectTable_FindRecord( &lmbFleshProjectTable, key->section ) != NULL ||
		     key->section[0] == 0 )
			continue;
		CHECK( key->minimum < key->maximum );
		for ( int end = 0; end < 2; ++end )
		{
			char text[256];
			double value = end == 0 ? key->minimum - 1.0 : key->maximum * 1.5 + 1.0;
			snprintf( text, sizeof( text ), "character: a.glb\n%s:\n  %s: %.17g\n", key->section, key->name,
			          key->kind == lmb_keyCount ? floor( value ) : value );
			char place[32];
			snprintf( place, sizeof( place ), "3:%zu", strlen( key->name ) + 5 );
			CHECK_REFUSED( text, place, "must be in" );
		}
	}
}

static void BrokenFilesAreRefused( void **state )
{
	(void)state;
	CHECK_REFUSED( "", "1:1", "the file is empty" );
	CHECK_REFUSED( "# nothing\n", "1:1", "the file is empty" );
	CHECK_REFUSED( "tissue: { cell: 0.1 }\n", "1:1", "the key \"character\" is missing" );
	CHECK_REFUSED( "character: [a.glb\n", "2:1", "" );
	CHECK_REFUSED( "character: a.glb\n\tunit: 1\n", "2:1", "" );
	CHECK_REFUSED( "character: \"a.glb\n", "2:1", "" );
	CHECK_REFUSED( "- a\n- b\n", "1:1", "a project file must be a group of keys" );
	CHECK_REFUSED( "character: \"a\\0b\"\n", "1:12", "character must be the name of a file" );
	CHECK_REFUSED( "character: a.glb\nmotions: { train: [run], held_out: [run] }\n", "2:37",
	               "two motions are called \"run\"; give one of them a \"name\"" );
	CHECK_REFUSED( "character: a.glb\ntissue: &x { materials: [*x] }\n", "2:14", "material: unknown key" );
	lmbProject *project;
	lmbError error = { 0 };
	CHECK_INT( lmbProject_Load( "/nowhere/a.yaml", &project, &error ), lmb_statusIo );
	CHECK_CONTAINS( error.message, "/nowhere/a.yaml: cannot open" );
}

/* Cutting a sound file anywhere, or turning any of its bytes over, gives a project or a message, and nothing
 * that the sanitizers object to. */
static void AnyBytesAreSafe( void **state )
{
	(void)state;
	const char *sound = "character: a.glb\ntissue: { materials: [{ bone: b, young: 1e4 }], rigid: [c] }\n"
	                    "motions:\n  train:\n    - jump\n    - { clip: run, name: r, cutoff: 6 }\n"
	                    "simulate: { gravity: [0, -9.81, 0], stepping: bdf2 }\n";
	size_t length = strlen( sound );
	char text[512];
	for ( size_t i = 0; i < 4 * length; ++i )
	{
		memcpy( text, sound, length + 1 );
		if ( i < length )
			text[i] = 0;
		else
			text[i % length] = (char)( text[i % length] ^ ( 1 << ( i / length + 3 ) ) );
		lmbProject *project = NULL;
		lmbError error = { 0 };
		lmbStatus status = lmbProject_Load( WriteProject( text ), &project, &error );
		CHECK( ( status == lmb_statusOk ) == ( project != NULL ) );
		CHECK( status == lmb_statusOk || error.message[0] != 0 );
		lmbProject_Free( project );
	}
}

static void ValuesArrive( void **state )
{
	(void)state;
	lmbProject *project;
	lmbError error = { 0 };
	const char *path = WriteProject(
	    "character: sub/a.glb\nunit: 0.01\nseed: 7\nname: mine\n"
	    "tissue:\n  nodes: 900\n  materials:\n    - { bone: belly, young: 2e4 }\n    - { density: 900 }\n"
	    "  radii: [{ bone: arm, radius: 0.02 }]\n  rigid: [head, hand]\n"
	    "motions:\n  train: [jump, { clip: run, name: fast, start: 1, duration: 2.5, cutoff: 6 }]\n"
	    "  held_out: [{ clip: run }]\n  cutoff: 3\n  warp_in: 0.25\n"
	    "simulate: { poses: 12, stepping: backward_euler, gravity: [0, -9.81, 0], ranges: [{ bone: arm, "
	    "degrees: 90 }] }\n"
	    "fit: { optimizer: adam, interpolation: linear }\nbake: { layer: modal, pc2: true, motions: [fast] "
	    "}\n" );
	CHECK_OR_STOP( lmbProject_Load( path, &project, &error ) == lmb_statusOk );
	char expected[128];
	snprintf( expected, sizeof( expected ), "%s/sub/a.glb", folder );
	CHECK( strcmp( project->character, expected ) == 0 );
	CHECK( strcmp( project->name, "mine" ) == 0 );
	CHECK_NEAR( project->import.metresPerUnit, 0.01, 0.0 );
	CHECK_INT( project->seed, 7 );
	CHECK_INT( project->tissue.nodeTarget, 900 );
	CHECK_INT( project->tissue.materialCount, 2 );
	CHECK( strcmp( project->tissue.materials[0].bone, "belly" ) == 0 );
	CHECK_NEAR( project->tissue.materials[0].young, 2e4, 0.0 );
	CHECK_NEAR( project->tissue.materials[0].poisson, 0.45, 0.0 );
	CHECK( project->tissue.materials[1].bone == NULL );
	CHECK_NEAR( project->tissue.materials[1].density, 900.0, 0.0 );
	CHECK_NEAR( project->tissue.radii[0].radius, 0.02, 0.0 );
	CHECK_INT( project->tissue.rigidCount, 2 );
	CHECK( strcmp( project->tissue.rigidBones[1], "hand" ) == 0 );
	CHECK_INT( project->trainedCount, 2 );
	CHECK( strcmp( project->trained[0].clip, "jump" ) == 0 && project->trained[0].name == NULL );
	CHECK( strcmp( project->trained[1].name, "fast" ) == 0 );
	lmbMotionDef own = lmbProject_MotionDef( project, &project->trained[1] );
	lmbMotionDef shared = lmbProject_MotionDef( project, &project->trained[0] );
	CHECK_NEAR( own.cutoff, 6.0, 0.0 );
	CHECK_NEAR( own.start, 1.0, 0.0 );
	CHECK_NEAR( own.duration, 2.5, 0.0 );
	CHECK_NEAR( shared.cutoff, 3.0, 0.0 );
	CHECK_NEAR( shared.warpIn, 0.25, 0.0 );
	CHECK_INT( project->simulate.stepping, lmb_steppingBackwardEuler );
	CHECK_NEAR( project->simulate.gravity[1], -9.81, 0.0 );
	CHECK_NEAR( project->simulate.ranges[0].degrees, 90.0, 0.0 );
	CHECK_INT( project->fit.optimizer, lmb_optimizerAdam );
	CHECK_INT( project->fit.interpolation, lmb_targetLinear );
	CHECK_INT( project->bake.layer, lmb_layerModal );
	CHECK( project->bake.pc2 && project->bake.glb && !project->bake.mdd );
	lmbProject_Free( project );
}

static void DefaultsAreTheStagesOwn( void **state )
{
	(void)state;
	lmbProject *project;
	lmbError error = { 0 };
	CHECK_OR_STOP( lmbProject_Load( WriteProject( "character: a.glb\n" ), &project, &error ) ==
	               lmb_statusOk );
	CHECK( strcmp( project->name, "test" ) == 0 );
	CHECK_INT( project->simulate.poseCount, lmbDefaultSimulateDef().poseCount );
	CHECK_NEAR( project->simulate.stepRate, lmbDefaultSimulateDef().stepRate, 0.0 );
	CHECK_INT( project->train.hidden, lmbDefaultTrainDef().hidden );
	CHECK_NEAR( project->fit.dropShare, lmbDefaultFitDef().dropShare, 0.0 );
	lmbTissueDef tissue = lmbDefaultTissueDef(), made;
	CHECK_INT( tissue.materialCount, 1 );
	const lmbMaterial *listed = lmbProjectTable_FindRecord( &lmbFleshProjectTable, "material" )->defaults;
	CHECK_NEAR( listed->young, tissue.materials[0].young, 0.0 );
	CHECK_NEAR( listed->poisson, tissue.materials[0].poisson, 0.0 );
	CHECK_NEAR( listed->density, tissue.materials[0].density, 0.0 );
	lmbArena arena = { 0 };
	CHECK( lmbProject_TissueDef( project, &arena, &made, &error ) == lmb_statusOk );
	CHECK_INT( made.materialCount, 1 );
	CHECK( made.materials[0].bone == NULL );
	/* Every default lies in the range that the table states. */
	for ( int i = 0; i < lmbFleshProjectTable.keyCount; ++i )
	{
		const lmbProjectKey *key = &lmbFleshProjectTable.keys[i];
		const lmbProjectRecord *record = lmbProjectTable_FindRecord( &lmbFleshProjectTable, key->section );
		const char *base = record != NULL ? record->defaults : (const char *)project;
		double value = key->kind == lmb_keyNumber  ? *(const double *)( base + key->offset )
		               : key->kind == lmb_keyCount ? *(const int *)( base + key->offset )
		                                           : NAN;
		if ( !isnan( value ) && !( value >= key->minimum && value <= key->maximum ) )
			CheckReport( __FILE__, __LINE__, key->name );
	}
	lmbArena_Free( &arena );
	lmbProject_Free( project );
}

static void SettingsTellDifferencesApart( void **state )
{
	(void)state;
	lmbProject *project, *same;
	lmbError error = { 0 };
	lmbArena arena = { 0 };
	CHECK_OR_STOP( lmbProject_Load( WriteProject( "character: a.glb\ntissue: { cell: 0.1 }\n" ), &project,
	                                &error ) == lmb_statusOk );
	CHECK_OR_STOP( lmbProject_Load( WriteProject( "tissue:\n  cell: 1.0e-1\ncharacter: a.glb\n" ), &same,
	                                &error ) == lmb_statusOk );
	char *before = lmbProjectFile_Settings( &project->file, "tissue", &arena );
	CHECK( strcmp( before, lmbProjectFile_Settings( &same->file, "tissue", &arena ) ) == 0 );
	CHECK_CONTAINS( before, "tissue.cell: 0.1\n" );
	CHECK_INT( lmbProjectFile_Set( &project->file, "tissue.cell=0.10000000000000002", &error ),
	           lmb_statusOk );
	CHECK( strcmp( before, lmbProjectFile_Settings( &project->file, "tissue", &arena ) ) != 0 );
	CHECK_INT( lmbProjectFile_Set( &project->file, "unit=0.5", &error ), lmb_statusOk );
	CHECK_NEAR( project->import.metresPerUnit, 0.5, 0.0 );
	CHECK_INT( lmbProjectFile_Set( &project->file, "motions.train=[a, b]", &error ), lmb_statusOk );
	CHECK_INT( project->trainedCount, 2 );
	CHECK_INT( lmbProjectFile_Set( &project->file, "tissue.cel=1", &error ), lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "--set: tissue: unknown key \"cel\"" );
	CHECK_INT( lmbProjectFile_Set( &project->file, "tissue", &error ), lmb_statusInvalidArgument );
	CHECK_INT( lmbProjectFile_Set( &project->file, "tissue.cell={", &error ), lmb_statusInvalidArgument );
	lmbArena_Free( &arena );
	lmbProject_Free( project );
	lmbProject_Free( same );
}

static void NamesAreCheckedAgainstTheCharacter( void **state )
{
	(void)state;
	lmbBone bones[] = { { .name = "hip", .parent = -1 }, { .name = "upper_arm", .parent = 0 } };
	lmbClip clips[] = { { .name = "jump" } };
	lmbCharacter character = {
	    .path = "a.glb", .boneCount = 2, .bones = bones, .clipCount = 1, .clips = clips };
	static const struct
	{
		const char *text, *place, *message;
	} cases[] = {
	    { "tissue: { rigid: [hip, uper_arm] }\n", "2:24",
	      "a.glb has no bone called \"uper_arm\"; the nearest is \"upper_arm\"" },
	    { "tissue: { materials: [{ bone: hipp }] }\n", "2:31", "no bone called \"hipp\"" },
	    { "simulate: { ranges: [{ bone: x }] }\n", "2:30", "no bone called \"x\"" },
	    { "motions: { train: [jump, { clip: Jump2, name: j }] }\n", "2:34",
	      "no animation called \"Jump2\"; the nearest is \"jump\"" },
	};
	for ( size_t i = 0; i < sizeof( cases ) / sizeof( cases[0] ); ++i )
	{
		char text[256], place[192];
		lmbProject *project;
		lmbError error = { 0 };
		snprintf( text, sizeof( text ), "character: a.glb\n%s", cases[i].text );
		const char *path = WriteProject( text );
		snprintf( place, sizeof( place ), "%s:%s: ", path, cases[i].place );
		CHECK_OR_STOP( lmbProject_Load( path, &project, &error ) == lmb_statusOk );
		CHECK_INT( lmbProject_Check( project, &character, &error ), lmb_statusNotFound );
		CHECK_CONTAINS( error.message, place );
		CHECK_CONTAINS( error.message, cases[i].message );
		lmbProject_Free( project );
	}
	lmbProject *project;
	lmbError error = { 0 };
	CHECK_OR_STOP(
	    lmbProject_Load(
	        WriteProject( "character: a.glb\nmotions: { train: [jump] }\ntissue: { rigid: [hip] }\n" ),
	        &project, &error ) == lmb_statusOk );
	CHECK_INT( lmbProject_Check( project, &character, &error ), lmb_statusOk );
	lmbProject_Free( project );
}

/* The printed defaults are a project file that changes nothing. */
static void PrintedDefaultsReadBack( void **state )
{
	(void)state;
	char path[128];
	snprintf( path, sizeof( path ), "%s/test.yaml", folder );
	FILE *stream = fopen( path, "w" );
	CHECK_OR_STOP( stream != NULL );
	lmbProjectTable_PrintDefaults( &lmbFleshProjectTable, stream );
	fclose( stream );
	lmbProject *project, *bare;
	lmbError error = { 0 };
	lmbArena arena = { 0 };
	lmbStatus status = lmbProject_Load( path, &project, &error );
	if ( status != lmb_statusOk )
		CheckReport( __FILE__, __LINE__, error.message );
	CHECK_OR_STOP( status == lmb_statusOk );
	CHECK_OR_STOP( lmbProject_Load( WriteProject( "character: character.glb\n" ), &bare, &error ) ==
	               lmb_statusOk );
	for ( int i = 0; i < lmbFleshProjectTable.sectionCount; ++i )
	{
		const char *section = lmbFleshProjectTable.sections[i].name;
		CHECK( strcmp( lmbProjectFile_Settings( &project->file, section, &arena ),
		               lmbProjectFile_Settings( &bare->file, section, &arena ) ) == 0 );
	}
	lmbArena_Free( &arena );
	lmbProject_Free( project );
	lmbProject_Free( bare );
}

static void ReferencePageIsCurrent( void **state )
{
	(void)state;
	char path[128];
	snprintf( path, sizeof( path ), "%s/reference.md", folder );
	FILE *stream = fopen( path, "w" );
	CHECK_OR_STOP( stream != NULL );
	lmbProjectTable_PrintReference( &lmbFleshProjectTable, stream );
	fclose( stream );
	lmbArena arena = { 0 };
	char *printed, *page;
	size_t printedSize, pageSize;
	lmbError error = { 0 };
	CHECK_OR_STOP( lmbFile_Read( path, &arena, &printed, &printedSize, &error ) == lmb_statusOk );
	CHECK_OR_STOP( lmbFile_Read( LMB_TEST_SOURCE "/docs/formats/project.md", &arena, &page, &pageSize,
	                             &error ) == lmb_statusOk );
	if ( strcmp( printed, page ) != 0 )
		CheckReport( __FILE__, __LINE__,
		             "docs/formats/project.md is old; run: build/limber run --reference character > "
		             "docs/formats/project.md" );
	lmbArena_Free( &arena );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( UnknownKeysAreNamed ),
	    CHECK_TEST( WrongKindsAreNamed ),
	    CHECK_TEST( RangesAreKept ),
	    CHECK_TEST( BrokenFilesAreRefused ),
	    CHECK_TEST( AnyBytesAreSafe ),
	    CHECK_TEST( ValuesArrive ),
	    CHECK_TEST( DefaultsAreTheStagesOwn ),
	    CHECK_TEST( SettingsTellDifferencesApart ),
	    CHECK_TEST( NamesAreCheckedAgainstTheCharacter ),
	    CHECK_TEST( PrintedDefaultsReadBack ),
	    CHECK_TEST( ReferencePageIsCurrent ),
	};
	if ( mkdtemp( folder ) == NULL )
		return 1;
	int failed = CHECK_RUN( tests );
	char command[128];
	snprintf( command, sizeof( command ), "rm -r %s", folder );
	return system( command ) == 0 ? failed : 1;
}
