#include "limb/plant.h"

#include "base/files.h"
#include "base/random.h"

#include "check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char path[] = LMB_TEST_BUILD "/test_mujoco.xml";

static void Write( const char *text )
{
	lmbError error = { 0 };
	assert_int_equal( lmbFile_Write( path, text, strlen( text ), &error ), lmb_statusOk );
}

static lmbPlant *Load( const char *text )
{
	lmbPlant *plant = NULL;
	lmbError error = { 0 };
	Write( text );
	CHECK_INT( lmbPlant_LoadMujoco( path, &plant, &error ), lmb_statusOk );
	if ( plant == NULL )
		printf( "%s\n", error.message );
	assert_non_null( plant );
	return plant;
}

/* The closed-form arm's segments as an MJCF model. Inertia about z alone matters. */
static void ArmText( const lmbArmDef *def, char *text, size_t capacity )
{
	lmbSegment s[2] = { lmbPlant_ArmSegment( def, 0 ), lmbPlant_ArmSegment( def, 1 ) };
	snprintf(
	    text, capacity,
	    "<mujoco><compiler angle='radian'/><option gravity='0 %.17g 0'/><worldbody>"
	    "<body><joint name='shoulder' axis='0 0 1' damping='%.17g'/>"
	    "<inertial pos='%.17g 0 0' mass='%.17g' diaginertia='%.17g %.17g %.17g'/>"
	    "<body pos='%.17g 0 0'><joint name='elbow' axis='0 0 1' damping='%.17g'/>"
	    "<inertial pos='%.17g 0 0' mass='%.17g' diaginertia='%.17g %.17g %.17g'/></body></body></worldbody>"
	    "<actuator><motor joint='shoulder' name='m1'/><motor joint='elbow' gear='1'/></actuator></mujoco>",
	    -def->gravity, def->viscosity[0], s[0].centre, s[0].mass, s[0].inertia, s[0].inertia, s[0].inertia,
	    s[0].length, def->viscosity[1], s[1].centre, s[1].mass, s[1].inertia, s[1].inertia, s[1].inertia );
}

static void CheckBoth( double actual, double expected, double scale, const char *what )
{
	char text[64];
	snprintf( text, sizeof( text ), "%s, relative", what );
	CheckNear( __FILE__, __LINE__, text, ( actual - expected ) / scale, 0.0, 1e-10 );
}

/* 1,000 random states and torques, with and without gravity; relative to the largest of the accelerations. */
static void AgreesWithTheClosedForm( void **state )
{
	(void)state;
	for ( int heavy = 0; heavy < 2; ++heavy )
	{
		lmbError error = { 0 };
		char text[2048];
		lmbArmDef def = lmbDefaultArmDef();
		def.gravity = heavy == 1 ? 9.81 : 0.0;
		def.viscosity[1] = 0.15;
		lmbPlant *arm = NULL, *mujoco;
		CHECK_OR_STOP( lmbPlant_MakeArm( &def, &arm, &error ) == lmb_statusOk );
		ArmText( &def, text, sizeof( text ) );
		mujoco = Load( text );
		CHECK_INT( mujoco->dofCount, 2 );
		CHECK_INT( mujoco->inputCount, 2 );
		CHECK_CONTAINS( mujoco->dofNames[1], "elbow" );
		CHECK_CONTAINS( mujoco->inputNames[0], "m1" );
		CHECK_CONTAINS( mujoco->inputNames[1], "u2" );
		CHECK_INT( mujoco->invariantBase, heavy == 0 );
		CHECK( mujoco->turns[0] && mujoco->turns[1] );
		CHECK( mujoco->notes == NULL );
		double rest = lmbPlant_Energy( arm, ( double[] ){ 0, 0 }, ( double[] ){ 0, 0 } ) -
		              lmbPlant_Energy( mujoco, ( double[] ){ 0, 0 }, ( double[] ){ 0, 0 } );
		lmbRandom random = lmbRandom_Seed( 21, 0 );
		checkSeed = 21;
		for ( int s = 0; s < 1000; ++s )
		{
			double q[2], v[2], u[2], a[2], b[2];
			for ( int i = 0; i < 2; ++i )
			{
				q[i] = 6.0 * lmbRandom_Uniform( &random ) - 3.0;
				v[i] = 20.0 * lmbRandom_Uniform( &random ) - 10.0;
				u[i] = 20.0 * lmbRandom_Uniform( &random ) - 10.0;
			}
			CHECK( lmbPlant_Acceleration( arm, q, v, u, a ) && lmbPlant_Acceleration( mujoco, q, v, u, b ) );
			double scale = fmax( fabs( a[0] ), fabs( a[1] ) );
			CheckBoth( b[0], a[0], scale, "shoulder acceleration" );
			CheckBoth( b[1], a[1], scale, "elbow acceleration" );
			lmbPlantTerms t, m;
			CHECK( lmbPlant_Terms( arm, q, v, u, &t ) && lmbPlant_Terms( mujoco, q, v, u, &m ) );
			for ( int i = 0; i < 4; ++i )
				CheckBoth( m.mass[i], t.mass[i], 0.1, "mass" );
			for ( int i = 0; i < 2; ++i )
			{
				double torque = 1.0 + fabs( t.bias[i] ) + fabs( t.gravity[i] );
				CheckBoth( m.bias[i], t.bias[i], torque, "bias" );
				CheckBoth( m.gravity[i], t.gravity[i], torque, "gravity" );
				CheckBoth( m.passive[i], t.passive[i], torque, "passive" );
				CheckBoth( m.input[i], t.input[i], torque, "input" );
				CheckBoth( m.interaction[i], t.interaction[i], torque + fabs( t.interaction[i] ),
				           "interaction" );
			}
			CheckBoth( lmbPlant_Energy( mujoco, q, v ) + rest, lmbPlant_Energy( arm, q, v ), 10.0, "energy" );
		}
		lmbPlant_Free( arm );
		lmbPlant_Free( mujoco );
	}
	unlink( path );
}

/* The same motion from both, and from a copy on its own. */
static void MovesAsTheClosedForm( void **state )
{
	(void)state;
	lmbError error = { 0 };
	char text[2048];
	lmbArmDef def = lmbDefaultArmDef();
	def.gravity = 9.81;
	lmbPlant *plants[2] = { NULL, NULL }, *loaded;
	CHECK_OR_STOP( lmbPlant_MakeArm( &def, &plants[0], &error ) == lmb_statusOk );
	ArmText( &def, text, sizeof( text ) );
	loaded = Load( text );
	CHECK_OR_STOP( lmbPlant_Copy( loaded, &plants[1], &error ) == lmb_statusOk );
	CHECK_CONTAINS( plants[1]->dofNames[0], "shoulder" );
	CHECK_NEAR( plants[1]->inputRange[1][1], loaded->inputRange[1][1], 0.0 );
	lmbPlant_Free( loaded );
	lmbTrajectories *set;
	CHECK_OR_STOP( lmbTrajectories_New( 2, 2, 2, &set, &error ) == lmb_statusOk );
	for ( int i = 0; i < 2; ++i )
	{
		CHECK_INT(
		    lmbTrajectories_Allocate( set, i, i == 0 ? "arm" : "mujoco", 101, 0.01, true, true, &error ),
		    lmb_statusOk );
		for ( int k = 0; k < 202; ++k )
			set->items[i].inputs[k] = sin( 0.05 * k );
		CHECK_INT( lmbPlant_Integrate( plants[i], lmb_inputHeld, &set->items[i], &error ), lmb_statusOk );
	}
	for ( int k = 0; k < 202; ++k )
		CHECK_NEAR( set->items[1].positions[k], set->items[0].positions[k], 1e-8 );
	lmbTrajectories_Free( set );
	lmbPlant_Free( plants[0] );
	lmbPlant_Free( plants[1] );
	unlink( path );
}

/* A slide under gravity, limited, with dry friction, a servo and geoms that touch: what goes where. */
static void SlidesLimitsAndServos( void **state )
{
	(void)state;
	lmbPlant *plant = Load(
	    "<mujoco><worldbody><geom type='plane' size='1 1 1'/><body pos='0 0 1'>"
	    "<joint type='slide' axis='0 0 1' limited='true' range='-0.5 0.3'/>"
	    "<geom size='0.1' mass='2'/>"
	    "<body pos='1 0 0'><joint name='wheel' axis='1 0 0' stiffness='3'/><geom size='0.1' mass='1'/></body>"
	    "</body></worldbody><actuator><motor joint='wheel' ctrllimited='true' ctrlrange='-2 5'/>"
	    "<position joint='wheel' kp='7'/></actuator></mujoco>" );
	CHECK( plant->slides[0] && !plant->slides[1] );
	CHECK( !plant->turns[0] && !plant->turns[1] && !plant->invariantBase );
	CHECK_CONTAINS( plant->dofNames[0], "q1" );
	CHECK( plant->notes != NULL );
	if ( plant->notes != NULL )
		CHECK_CONTAINS( plant->notes, "contacts" );
	CHECK_NEAR( plant->inputRange[0][1], 5.0, 0.0 );
	CHECK_NEAR( plant->startRange[0][0], -0.46, 1e-12 );
	lmbPlantTerms t;
	double q[2] = { -0.2, 0.5 }, v[2] = { 0.0, 0.0 }, u[2] = { 1.0, 2.0 };
	CHECK( lmbPlant_Terms( plant, q, v, u, &t ) );
	CHECK_NEAR( t.gravity[0], 3.0 * 9.81, 1e-10 );
	CHECK_NEAR( t.acceleration[0], -9.81, 1e-10 );
	/* The servo's own spring is passive, its command is not. */
	CHECK_NEAR( t.passive[1], 3.0 * 0.5 + 7.0 * 0.5, 1e-10 );
	CHECK_NEAR( t.input[1], 1.0 + 7.0 * 2.0, 1e-10 );
	/* Below the limit it is pushed up, and the balance still holds. */
	q[0] = -0.52;
	CHECK( lmbPlant_Terms( plant, q, v, u, &t ) );
	CHECK( t.passive[0] < -10.0 );
	CHECK_NEAR( t.mass[0] * t.acceleration[0] + t.interaction[0] + t.gravity[0] + t.passive[0], t.input[0],
	            1e-9 );
	CHECK( !lmbPlant_Acceleration( plant, ( double[] ){ NAN, 0.0 }, v, u, t.acceleration ) );
	CHECK( !lmbPlant_Terms( plant, q, v, ( double[] ){ INFINITY, 0.0 }, &t ) );
	lmbPlant_Free( plant );
	unlink( path );
}

static void MusclesTakeActivations( void **state )
{
	(void)state;
	lmbPlant *plant = Load(
	    "<mujoco><worldbody><site name='a' pos='0 0.05 0'/><body><joint name='j' axis='0 0 1' limited='true' "
	    "range='-60 60'/><geom type='capsule' fromto='0 0 0 0.3 0 0' size='0.02'/><site name='b' pos='0.1 "
	    "0.03 0'/>"
	    "</body></worldbody><tendon><spatial name='t'><site site='a'/><site site='b'/></spatial></tendon>"
	    "<actuator><motor joint='j'/><muscle tendon='t' force='100'/></actuator></mujoco>" );
	CHECK_INT( plant->inputCount, 2 );
	CHECK_NEAR( plant->inputRange[1][0], 0.0, 0.0 );
	CHECK_NEAR( plant->inputRange[1][1], 1.0, 0.0 );
	if ( plant->notes != NULL )
		CHECK_CONTAINS( plant->notes, "activations" );
	lmbPlantTerms none, half, full;
	double q[1] = { 0.1 }, v[1] = { 0.0 };
	CHECK( lmbPlant_Terms( plant, q, v, ( double[] ){ 0.5, 0.0 }, &none ) );
	CHECK( lmbPlant_Terms( plant, q, v, ( double[] ){ 0.5, 0.5 }, &half ) );
	CHECK( lmbPlant_Terms( plant, q, v, ( double[] ){ 0.5, 1.0 }, &full ) );
	/* Linear in the activation; passive force is not among the input's. */
	CHECK_NEAR( none.input[0], 0.5, 1e-12 );
	CHECK( fabs( full.input[0] - 0.5 ) > 0.5 );
	CHECK_NEAR( full.input[0] - 0.5, 2.0 * ( half.input[0] - 0.5 ), 1e-10 );
	CHECK_NEAR( full.passive[0], none.passive[0], 1e-12 );
	lmbPlant_Free( plant );
	unlink( path );
}

static void RefusesWithWords( void **state )
{
	(void)state;
	static const struct
	{
		const char *text, *says;
		lmbStatus status;
	} cases[] = {
	    { "", "MuJoCo does not take", lmb_statusCorrupt },
	    { "<mujoco><worldbody><body>", "MuJoCo does not take", lmb_statusCorrupt },
	    { "<mujoco>\n<worldbody>\n<bodi/>\n</worldbody></mujoco>", "line 3", lmb_statusCorrupt },
	    { "<mujoco><worldbody><body><joint/></body></worldbody></mujoco>", "MuJoCo does not take",
	      lmb_statusCorrupt },
	    { "<mujoco/>", "0 joints", lmb_statusUnsupported },
	    { "<mujoco><worldbody><body><freejoint name='f'/><geom size='1'/></body></worldbody></mujoco>",
	      "\"f\", is a free joint", lmb_statusUnsupported },
	    { "<mujoco><worldbody><body><joint type='ball'/><geom size='1'/></body></worldbody></mujoco>",
	      "ball joint", lmb_statusUnsupported },
	    { "<mujoco><worldbody><body><joint name='a'/><geom size='1'/></body></worldbody><equality><joint "
	      "joint1='a'/></equality></mujoco>",
	      "equality constraint 0", lmb_statusUnsupported },
	    { "<mujoco><worldbody><body><joint name='a'/><geom size='1'/></body></worldbody><actuator><general "
	      "joint='a' "
	      "name='slow' dyntype='filter'/></actuator></mujoco>",
	      "\"slow\", has a state", lmb_statusUnsupported },
	    { "<mujoco><asset><mesh name='m' file='not_there.stl'/></asset></mujoco>", "not_there.stl",
	      lmb_statusCorrupt },
	};
	for ( size_t i = 0; i < sizeof( cases ) / sizeof( cases[0] ); ++i )
	{
		lmbPlant *plant = NULL;
		lmbError error = { 0 };
		Write( cases[i].text );
		CHECK_INT( lmbPlant_LoadMujoco( path, &plant, &error ), cases[i].status );
		CHECK( plant == NULL );
		CHECK_CONTAINS( error.message, cases[i].says );
		CHECK_CONTAINS( error.message, path );
		CHECK( strchr( error.message, '\n' ) == NULL );
	}
	lmbPlant *plant = NULL;
	lmbError error = { 0 };
	unlink( path );
	CHECK_INT( lmbPlant_LoadMujoco( path, &plant, &error ), lmb_statusIo );
	CHECK_CONTAINS( error.message, path );
}

/* Errors for which MuJoCo ends the process, warnings for which it writes a log; here in a folder of our own.
 */
static void MujocoNeitherExitsNorWrites( void **state )
{
	(void)state;
	lmbPlant *plant = NULL;
	lmbError error = { 0 };
	char old[4096];
	static const char folder[] = LMB_TEST_BUILD "/test_mujoco_folder";
	CHECK_OR_STOP( getcwd( old, sizeof( old ) ) != NULL );
	CHECK_INT( lmbFolder_Make( folder, &error ), lmb_statusOk );
	CHECK_OR_STOP( chdir( folder ) == 0 );
	/* No stack: the engine cannot evaluate anything, and says so by mju_error. */
	Write(
	    "<mujoco><size nstack='1'/><worldbody><body><joint name='a' frictionloss='1'/><geom size='1'/></body>"
	    "</worldbody></mujoco>" );
	CHECK( lmbPlant_LoadMujoco( path, &plant, &error ) != lmb_statusOk );
	CHECK_CONTAINS( error.message, path );
	/* Numbers that overflow. */
	Write( "<mujoco><worldbody><body><joint name='a'/><geom size='1' "
	       "mass='1e300'/></body></worldbody></mujoco>" );
	if ( lmbPlant_LoadMujoco( path, &plant, &error ) == lmb_statusOk )
	{
		double a, q = 1e300, v = 1e300;
		(void)lmbPlant_Acceleration( plant, &q, &v, NULL, &a );
		lmbPlant_Free( plant );
	}
	struct stat about;
	CHECK( stat( "MUJOCO_LOG.TXT", &about ) != 0 );
	CHECK_INT( chdir( old ), 0 );
	CHECK_INT( rmdir( folder ), 0 );
	unlink( path );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( AgreesWithTheClosedForm ), CHECK_TEST( MovesAsTheClosedForm ),
	    CHECK_TEST( SlidesLimitsAndServos ),   CHECK_TEST( MusclesTakeActivations ),
	    CHECK_TEST( RefusesWithWords ),        CHECK_TEST( MujocoNeitherExitsNorWrites ),
	};
	return CHECK_RUN( tests );
}
