#include "limb/plant.h"

#include "base/random.h"

#include "check.h"

#include <stdlib.h>

static const double gravity = 9.81;

static lmbPlant *MakeArm( const lmbArmDef *def )
{
	lmbPlant *plant = NULL;
	lmbError error = { 0 };
	CHECK_INT( lmbPlant_MakeArm( def, &plant, &error ), lmb_statusOk );
	assert_non_null( plant );
	return plant;
}

static void DrawState( lmbRandom *random, double *q, double *v )
{
	for ( int j = 0; j < 2; ++j )
	{
		q[j] = 3.0 * ( 2.0 * lmbRandom_Uniform( random ) - 1.0 );
		v[j] = 8.0 * ( 2.0 * lmbRandom_Uniform( random ) - 1.0 );
	}
}

/* The table of men as another source prints it, beside the arithmetic by hand. */
static void SegmentsFollowDeLeva( void **state )
{
	(void)state;
	lmbArmDef def = lmbDefaultArmDef();
	lmbSegment upper = lmbPlant_ArmSegment( &def, 0 ), fore = lmbPlant_ArmSegment( &def, 1 );
	/* 75 kg: 2.0325 and 1.215 + 0.4575; lengths times 1.75 / 1.741. */
	CHECK_NEAR( upper.mass, 2.0325, 1e-12 );
	CHECK_NEAR( upper.length, 0.28315623, 1e-8 );
	CHECK_NEAR( upper.centre, 0.16343778, 1e-8 );
	CHECK_NEAR( upper.inertia, 2.0325 * 0.0761690263 * 0.0761690263, 1e-9 );
	CHECK_NEAR( fore.mass, 1.6725, 1e-12 );
	/* Centre (1.215 * 0.12363068 + 0.4575 * 0.33874009) / 1.6725, from lengths 0.27029006 and 0.08664561. */
	CHECK_NEAR( fore.centre, 0.18247226, 1e-8 );
	CHECK_NEAR( fore.inertia,
	            1.215 * ( 0.0716268659 * 0.0716268659 + 0.05884158 * 0.05884158 ) +
	                0.4575 * ( 0.0444491931 * 0.0444491931 + 0.15626783 * 0.15626783 ),
	            1e-7 );
	def.female = true;
	CHECK_NEAR( lmbPlant_ArmSegment( &def, 0 ).mass, 75.0 * 0.0255, 1e-12 );
	CHECK_NEAR( lmbPlant_ArmSegment( &def, 0 ).length, 0.2751 * 1.75 / 1.735, 1e-12 );

	const char *table = LMB_TEST_SHARED "/limb/segments_male_deLeva.txt";
	CHECK_SHARED( table );
	FILE *stream = fopen( table, "r" );
	CHECK_OR_STOP( stream != NULL );
	char line[256], name[32], ends[32];
	int found = 0;
	def = lmbDefaultArmDef();
	while ( fgets( line, sizeof( line ), stream ) != NULL )
	{
		double mass, centre, sagittal, transverse;
		if ( sscanf( line, "%31[^\t]\t%31[^\t]\t%lf\t%lf\t%lf\t%lf", name, ends, &mass, &centre, &sagittal,
		             &transverse ) != 6 ||
		     strcmp( name, "Upper arm" ) != 0 )
			continue;
		found += 1;
		CHECK_NEAR( upper.mass, 75.0 * mass, 1e-12 );
		CHECK_NEAR( upper.centre / upper.length, centre, 1e-12 );
		CHECK_NEAR( sqrt( upper.inertia / upper.mass ) / upper.length, transverse, 1e-12 );
	}
	fclose( stream );
	CHECK_INT( found, 1 );
}

/* Energy of two rigid rods from where their centres are and how they move: nothing of the closed form. */
static double PointEnergy( const lmbArmDef *def, const double *q, const double *v, double *potential )
{
	lmbSegment upper = lmbPlant_ArmSegment( def, 0 ), fore = lmbPlant_ArmSegment( def, 1 );
	double turn = q[0] + q[1], speed = v[0] + v[1];
	double vx = -upper.length * sin( q[0] ) * v[0] - fore.centre * sin( turn ) * speed;
	double vy = upper.length * cos( q[0] ) * v[0] + fore.centre * cos( turn ) * speed;
	*potential = def->gravity * ( upper.mass * upper.centre * sin( q[0] ) +
	                              fore.mass * ( upper.length * sin( q[0] ) + fore.centre * sin( turn ) ) );
	return 0.5 * ( upper.mass * upper.centre * upper.centre + upper.inertia ) * v[0] * v[0] +
	       0.5 * fore.mass * ( vx * vx + vy * vy ) + 0.5 * fore.inertia * speed * speed;
}

static double Kinetic( const lmbArmDef *def, double q0, double q1, double v0, double v1 )
{
	double potential;
	return PointEnergy( def, ( double[] ){ q0, q1 }, ( double[] ){ v0, v1 }, &potential );
}

static double Potential( const lmbArmDef *def, double q0, double q1 )
{
	double potential;
	PointEnergy( def, ( double[] ){ q0, q1 }, ( double[] ){ 0.0, 0.0 }, &potential );
	return potential;
}

/* Lagrange's equations by differences of the rods' energy. T is quadratic in v, so differences in v are
 * exact; those in q of step 1e-5 leave 1e-10 of T'' and rounding 1e-11: 1e-8 is safe. */
static void TermsAreLagranges( void **state )
{
	(void)state;
	lmbArmDef def = lmbDefaultArmDef();
	def.gravity = gravity;
	lmbPlant *plant = MakeArm( &def );
	lmbRandom random = lmbRandom_Seed( 3, 0 );
	checkSeed = 3;
	const double h = 1e-5;
	for ( int i = 0; i < 200; ++i )
	{
		double q[2], v[2], u[2] = { 1.0, -2.0 }, potential;
		lmbPlantTerms t;
		DrawState( &random, q, v );
		CHECK( lmbPlant_Terms( plant, q, v, u, &t ) );
		double kinetic = PointEnergy( &def, q, v, &potential );
		CHECK_NEAR( lmbPlant_Energy( plant, q, v ), kinetic + potential, 1e-12 );
		double m00 = 2.0 * Kinetic( &def, q[0], q[1], 1.0, 0.0 ),
		       m11 = 2.0 * Kinetic( &def, q[0], q[1], 0.0, 1.0 );
		double m01 = Kinetic( &def, q[0], q[1], 1.0, 1.0 ) - 0.5 * ( m00 + m11 );
		CHECK_NEAR( t.mass[0], m00, 1e-12 );
		CHECK_NEAR( t.mass[1], m01, 1e-12 );
		CHECK_NEAR( t.mass[2], m01, 1e-12 );
		CHECK_NEAR( t.mass[3], m11, 1e-12 );
		for ( int j = 0; j < 2; ++j )
		{
			double e0 = j == 0 ? h : 0.0, e1 = j == 1 ? h : 0.0;
			/* d/dt (dT/dv_j) at constant v, minus dT/dq_j. */
			double f0 = j == 0 ? 1.0 : 0.0, f1 = 1.0 - f0, momentum[2];
			for ( int s = 0; s < 2; ++s )
			{
				double d = s == 0 ? h : -h, a = q[0] + d * v[0], b = q[1] + d * v[1];
				momentum[s] = 0.5 * ( Kinetic( &def, a, b, v[0] + f0, v[1] + f1 ) -
				                      Kinetic( &def, a, b, v[0] - f0, v[1] - f1 ) );
			}
			double slope = Kinetic( &def, q[0] + e0, q[1] + e1, v[0], v[1] ) -
			               Kinetic( &def, q[0] - e0, q[1] - e1, v[0], v[1] );
			CHECK_NEAR( t.bias[j], ( momentum[0] - momentum[1] - slope ) / ( 2.0 * h ), 1e-7 );
			CHECK_NEAR(
			    t.gravity[j],
			    ( Potential( &def, q[0] + e0, q[1] + e1 ) - Potential( &def, q[0] - e0, q[1] - e1 ) ) /
			        ( 2.0 * h ),
			    1e-8 );
			CHECK_NEAR( t.passive[j], 0.2 * v[j], 1e-15 );
			double other = t.mass[2 * j + 1 - j] * t.acceleration[1 - j];
			CHECK_NEAR( t.interaction[j], other + t.bias[j], 1e-12 );
			CHECK_NEAR( t.mass[3 * j] * t.acceleration[j] + t.interaction[j] + t.gravity[j] + t.passive[j],
			            u[j], 1e-11 );
		}
	}
	lmbPlant_Free( plant );
}

static lmbTrajectory Room( lmbTrajectories **set, const lmbPlant *plant, int samples, double step )
{
	lmbError error = { 0 };
	assert_int_equal( lmbTrajectories_New( 2, plant->inputCount, 1, set, &error ), lmb_statusOk );
	assert_int_equal( lmbTrajectories_Allocate( *set, 0, "test", samples, step, true, true, &error ),
	                  lmb_statusOk );
	return ( *set )->items[0];
}

/* rate 0: constant ones. */
static void SmoothInputs( const lmbPlant *plant, double rate, lmbTrajectory *t )
{
	for ( int k = 0; k < t->sampleCount; ++k )
		for ( int i = 0; i < plant->inputCount; ++i )
		{
			double low = plant->inputRange[i][0], high = plant->inputRange[i][1];
			t->inputs[k * plant->inputCount + i] =
			    0.5 * ( low + high ) + 0.2 * ( high - low ) * sin( ( 3.0 + i ) * rate * k * t->step + i );
		}
}

/* Power in minus dissipated is the change of energy. The integral of the power by Simpson's rule over steps
 * of 1 ms under constant inputs: its error is h^4 / 180 of the fourth derivative, 1e-12 (8/s)^4 50 W 5 s /
 * 180 or 6e-9 J. Dry friction, a limit and Hill's curve have edges within a sample: 2e-6 J
 * measured on the 2 J that come and go, 1e-5 allowed. */
static void EnergyIsBalanced( void **state )
{
	(void)state;
	static const lmbArmDef defs[] = {
	    { .bodyMass = 75, .bodyHeight = 1.75, .viscosity = { 0.2, 0.3 }, .gravity = 9.81 },
	    { .bodyMass = 75,
	      .bodyHeight = 1.75,
	      .viscosity = { 0.4, 0.4 },
	      .friction = { 0.3, 0.2 },
	      .female = true },
	    { .bodyMass = 75,
	      .bodyHeight = 1.75,
	      .viscosity = { 0.2, 0.2 },
	      .limits = { { -0.6, 0.8 }, { 0.1, 1.5 } },
	      .limitStiffness = 200.0,
	      .limitDamping = 5.0 },
	    { .bodyMass = 75, .bodyHeight = 1.75, .viscosity = { 0.2, 0.2 }, .muscles = true },
	};
	for ( size_t d = 0; d < sizeof( defs ) / sizeof( defs[0] ); ++d )
	{
		lmbError error = { 0 };
		lmbTrajectories *set;
		lmbPlant *plant = MakeArm( &defs[d] );
		lmbTrajectory t = Room( &set, plant, 5001, 0.001 );
		SmoothInputs( plant, 0.0, &t );
		t.positions[0] = 0.2;
		t.positions[1] = 1.0;
		t.velocities[0] = 2.0;
		CHECK_INT( lmbPlant_Integrate( plant, lmb_inputLinear, &t, &error ), lmb_statusOk );
		double work = 0.0, dissipated = 0.0, first = lmbPlant_Energy( plant, t.positions, t.velocities );
		for ( int k = 0; k < t.sampleCount; ++k )
		{
			const double *q = t.positions + 2 * k, *v = t.velocities + 2 * k;
			lmbPlantTerms terms;
			CHECK( lmbPlant_Terms( plant, q, v, t.inputs + k * plant->inputCount, &terms ) );
			double weight = 0.001 / 3.0 * ( k == 0 || k == t.sampleCount - 1 ? 1.0 : k % 2 == 1 ? 4.0 : 2.0 );
			for ( int j = 0; j < 2; ++j )
			{
				work += weight * v[j] * terms.input[j];
				/* Apart from what is stored: viscosity, friction, and the limit's damping. */
				double over = fmax( q[j] - defs[d].limits[j][1], defs[d].limits[j][0] - q[j] );
				double damping = defs[d].viscosity[j] + defs[d].limitDamping * fmax( over, 0.0 );
				if ( defs[d].limitStiffness == 0.0 )
					damping = defs[d].viscosity[j];
				dissipated += weight * v[j] * ( damping * v[j] + defs[d].friction[j] * tanh( v[j] / 0.1 ) );
			}
		}
		double last = lmbPlant_Energy( plant, t.positions + 10000, t.velocities + 10000 );
		CHECK( dissipated > 0.5 && fabs( work ) > 0.5 );
		bool edges = defs[d].gravity == 0.0;
		CHECK_NEAR( last - first, work - dissipated, edges ? 1e-5 : 1e-6 );
		lmbTrajectories_Free( set );
		lmbPlant_Free( plant );
	}
}

/* Without gravity and viscosity energy and the momentum of the first angle stay; tolerance 1e-10 a step over
 * 1,000 samples. */
static void NothingIsLostWithoutFriction( void **state )
{
	(void)state;
	lmbError error = { 0 };
	lmbTrajectories *set;
	lmbArmDef def = { .bodyMass = 75.0, .bodyHeight = 1.75 };
	lmbPlant *plant = MakeArm( &def );
	lmbTrajectory t = Room( &set, plant, 1001, 0.01 );
	t.positions[1] = 1.3;
	t.velocities[0] = 3.0;
	t.velocities[1] = -7.0;
	CHECK_INT( lmbPlant_Integrate( plant, lmb_inputHeld, &t, &error ), lmb_statusOk );
	double energy = lmbPlant_Energy( plant, t.positions, t.velocities ), momentum = 0.0;
	for ( int k = 0; k <= 1000; k += 100 )
	{
		lmbPlantTerms terms;
		double *q = t.positions + 2 * k, *v = t.velocities + 2 * k;
		CHECK( lmbPlant_Terms( plant, q, v, t.inputs, &terms ) );
		double now = terms.mass[0] * v[0] + terms.mass[1] * v[1];
		momentum = k == 0 ? now : momentum;
		CHECK_NEAR( now, momentum, 1e-8 );
		CHECK_NEAR( lmbPlant_Energy( plant, q, v ), energy, 1e-8 );
	}
	lmbTrajectories_Free( set );
	lmbPlant_Free( plant );
}

static void RungeKutta( lmbPlant *plant, double *x, const double *u, double h )
{
	double k[4][4], y[4];
	for ( int s = 0; s < 4; ++s )
	{
		double share = s == 0 ? 0.0 : s == 3 ? 1.0 : 0.5;
		for ( int i = 0; i < 4; ++i )
			y[i] = x[i] + ( s > 0 ? share * h * k[s - 1][i] : 0.0 );
		k[s][0] = y[2];
		k[s][1] = y[3];
		CHECK( lmbPlant_Acceleration( plant, y, y + 2, u, &k[s][2] ) );
	}
	for ( int i = 0; i < 4; ++i )
		x[i] += h / 6.0 * ( k[0][i] + 2.0 * k[1][i] + 2.0 * k[2][i] + k[3][i] );
}

/* Against small steps of another method (RK4 at 0.1 ms: error (1e-4 * 10/s)^4 of 1 rad a second, 1e-12 a
 * step), with inputs that jump at samples. */
static void MotionsAreExact( void **state )
{
	(void)state;
	lmbError error = { 0 };
	lmbTrajectories *set, *fine;
	lmbArmDef def = lmbDefaultArmDef();
	def.gravity = gravity;
	lmbPlant *plant = MakeArm( &def );
	lmbTrajectory t = Room( &set, plant, 101, 0.02 ), half = Room( &fine, plant, 201, 0.01 );
	lmbRandom random = lmbRandom_Seed( 8, 0 );
	for ( int k = 0; k < 101 * 2; ++k )
		t.inputs[k] = 5.0 * ( 2.0 * lmbRandom_Uniform( &random ) - 1.0 );
	for ( int k = 0; k < 201; ++k )
		memcpy( half.inputs + 2 * k, t.inputs + 2 * ( k / 2 ), 2 * sizeof( double ) );
	t.velocities[0] = half.velocities[0] = 1.0;
	CHECK_INT( lmbPlant_Integrate( plant, lmb_inputHeld, &t, &error ), lmb_statusOk );
	CHECK_INT( lmbPlant_Integrate( plant, lmb_inputHeld, &half, &error ), lmb_statusOk );
	double x[4] = { 0.0, 0.0, 1.0, 0.0 };
	for ( int k = 0; k < 100; ++k )
	{
		for ( int j = 0; j < 2; ++j )
		{
			CHECK_NEAR( t.positions[2 * k + j], x[j], 1e-8 );
			CHECK_NEAR( t.velocities[2 * k + j], x[2 + j], 1e-7 );
			CHECK_NEAR( half.positions[4 * k + j], t.positions[2 * k + j], 1e-8 );
		}
		double a[2];
		CHECK(
		    lmbPlant_Acceleration( plant, t.positions + 2 * k, t.velocities + 2 * k, t.inputs + 2 * k, a ) );
		CHECK_NEAR( t.accelerations[2 * k], a[0], 0.0 );
		for ( int s = 0; s < 200; ++s )
			RungeKutta( plant, x, t.inputs + 2 * k, 1e-4 );
	}
	lmbTrajectories_Free( set );
	lmbTrajectories_Free( fine );
	lmbPlant_Free( plant );
}

static void MotionsThatAreLostAreTold( void **state )
{
	(void)state;
	lmbError error = { 0 };
	lmbTrajectories *set;
	lmbArmDef def = lmbDefaultArmDef();
	lmbPlant *plant = MakeArm( &def );
	lmbTrajectory t = Room( &set, plant, 3, 0.01 );
	t.inputs[2] = 1e300;
	CHECK_INT( lmbPlant_Integrate( plant, lmb_inputHeld, &t, &error ), lmb_statusNumerical );
	CHECK_CONTAINS( error.message, "after 0.01 s" );
	t.velocities = NULL;
	CHECK_INT( lmbPlant_Integrate( plant, lmb_inputHeld, &t, &error ), lmb_statusInvalidArgument );
	lmbTrajectories_Free( set );
	lmbPlant_Free( plant );
}

/* Standing still without friction the error grows as x' = v, v' = 0: the largest singular value of
 * (1 t; 0 1) is (t + sqrt( t^2 + 4 )) / 2. Swinging, it is compared with motions from starts beside. */
static void AmplificationIsTheStatesDerivative( void **state )
{
	(void)state;
	lmbError error = { 0 };
	lmbTrajectories *set, *other;
	double growth[151];
	lmbArmDef def = { .bodyMass = 75.0, .bodyHeight = 1.75 };
	lmbPlant *plant = MakeArm( &def );
	lmbTrajectory t = Room( &set, plant, 151, 0.01 );
	t.positions[1] = 0.7;
	CHECK_INT( lmbPlant_Integrate( plant, lmb_inputHeld, &t, &error ), lmb_statusOk );
	CHECK_INT( lmbPlant_Amplification( plant, lmb_inputHeld, &t, growth, &error ), lmb_statusOk );
	for ( int k = 0; k < 151; k += 50 )
	{
		double time = 0.01 * k;
		CHECK_NEAR( growth[k], 0.5 * ( time + sqrt( time * time + 4.0 ) ), 1e-7 );
	}
	lmbPlant_Free( plant );
	def.gravity = gravity;
	def.viscosity[0] = def.viscosity[1] = 0.05;
	plant = MakeArm( &def );
	SmoothInputs( plant, 1.0, &t );
	t.velocities[1] = 3.0;
	CHECK_INT( lmbPlant_Integrate( plant, lmb_inputHeld, &t, &error ), lmb_statusOk );
	CHECK_INT( lmbPlant_Amplification( plant, lmb_inputHeld, &t, growth, &error ), lmb_statusOk );
	/* The largest of many directions comes within the square of their spacing, 1 %, of the largest of all. */
	double largest = 0.0, nudge = 1e-6;
	lmbTrajectory beside = Room( &other, plant, 151, 0.01 );
	memcpy( beside.inputs, t.inputs, 302 * sizeof( double ) );
	lmbRandom random = lmbRandom_Seed( 2, 0 );
	for ( int i = 0; i < 400; ++i )
	{
		double d[4], length = 0.0, far = 0.0;
		for ( int j = 0; j < 4; ++j )
		{
			d[j] = lmbRandom_Normal( &random );
			length += d[j] * d[j];
		}
		for ( int j = 0; j < 2; ++j )
		{
			beside.positions[j] = t.positions[j] + nudge * d[j] / sqrt( length );
			beside.velocities[j] = t.velocities[j] + nudge * d[2 + j] / sqrt( length );
		}
		CHECK_INT( lmbPlant_Integrate( plant, lmb_inputHeld, &beside, &error ), lmb_statusOk );
		for ( int j = 0; j < 2; ++j )
			far += pow( beside.positions[300 + j] - t.positions[300 + j], 2.0 ) +
			       pow( beside.velocities[300 + j] - t.velocities[300 + j], 2.0 );
		largest = fmax( largest, sqrt( far ) / nudge );
	}
	CHECK_NEAR( largest / growth[150], 0.985, 0.0151 );
	lmbTrajectories_Free( set );
	lmbTrajectories_Free( other );
	lmbPlant_Free( plant );
}

/* Moment arms are the change of length by angle, so passive torque is the slope of the stored energy. */
static void MusclesPullAsTheirEnergySays( void **state )
{
	(void)state;
	lmbArmDef def = lmbDefaultArmDef();
	def.muscles = true;
	for ( int constant = 0; constant < 2; ++constant )
	{
		def.constantMomentArms = constant == 1;
		lmbPlant *plant = MakeArm( &def );
		CHECK_INT( plant->inputCount, 6 );
		CHECK( !plant->turns[0] && !plant->invariantBase );
		const double h = 1e-5, none[6] = { 0 }, still[2] = { 0 };
		for ( int i = 0; i < 50; ++i )
		{
			double q[2] = { -1.5 + 0.08 * i, 0.1 + 0.05 * i };
			lmbPlantTerms t;
			CHECK( lmbPlant_Terms( plant, q, still, none, &t ) );
			for ( int j = 0; j < 2; ++j )
			{
				double up[2] = { q[0], q[1] }, down[2] = { q[0], q[1] };
				up[j] += h;
				down[j] -= h;
				double slope =
				    ( lmbPlant_Energy( plant, up, still ) - lmbPlant_Energy( plant, down, still ) ) /
				    ( 2.0 * h );
				/* Differences of some J: 1e-16 / 1e-5, and h^2 of a third derivative of 1e3. */
				CHECK_NEAR( t.passive[j], slope, 1e-6 );
				CHECK_NEAR( t.input[j], 0.0, 0.0 );
			}
		}
		lmbPlant_Free( plant );
	}
}

static void MusclesFollowHill( void **state )
{
	(void)state;
	lmbArmDef def = lmbDefaultArmDef();
	def.muscles = def.constantMomentArms = true;
	lmbPlant *plant = MakeArm( &def );
	lmbPlantTerms t;
	/* At the posture of optimal length: force times arm. */
	double q[2] = { 0.8, 1.4 }, still[2] = { 0 }, elbow[6] = { 0, 0, 0.5, 0, 0, 0 };
	CHECK( lmbPlant_Terms( plant, q, still, elbow, &t ) );
	CHECK_NEAR( t.input[1], 0.5 * 700.0 * 0.028, 1e-12 );
	CHECK_NEAR( t.input[0], 0.0, 0.0 );
	/* Shortening by v r / (10 L0) = s: (1 - s) / (1 + 4 s); lengthening tends to 1.4. */
	double speed = 20.0, s = 20.0 * 0.028 / 1.2;
	CHECK( lmbPlant_Terms( plant, q, ( double[] ){ 0.0, speed }, elbow, &t ) );
	CHECK_NEAR( t.input[1], 9.8 * ( 1.0 - s ) / ( 1.0 + 4.0 * s ), 1e-12 );
	CHECK( lmbPlant_Terms( plant, q, ( double[] ){ 0.0, -1e7 }, elbow, &t ) );
	CHECK_NEAR( t.input[1], 9.8 * 1.4, 1e-4 );
	CHECK( lmbPlant_Terms( plant, q, ( double[] ){ 0.0, 100.0 }, elbow, &t ) );
	CHECK_NEAR( t.input[1], 0.0, 0.0 );
	/* Biarticular muscles pull at both joints. */
	CHECK( lmbPlant_Terms( plant, q, still, ( double[] ){ 0, 0, 0, 0, 0, 1.0 }, &t ) );
	CHECK_NEAR( t.input[0], -400.0 * 0.028, 1e-12 );
	CHECK_NEAR( t.input[1], -400.0 * 0.030, 1e-12 );
	/* Off the optimal length, on the bell exp( -(l - 1)^2 / 0.45 ). */
	CHECK( lmbPlant_Terms( plant, ( double[] ){ 0.8, 2.4 }, still, elbow, &t ) );
	CHECK_NEAR( t.input[1], 9.8 * exp( -pow( 0.028 / 0.12, 2.0 ) / 0.45 ), 1e-12 );
	lmbPlant_Free( plant );
}

static void LimitsAndFrictionPushBack( void **state )
{
	(void)state;
	lmbArmDef def = lmbDefaultArmDef();
	def.viscosity[0] = def.viscosity[1] = 0.0;
	def.friction[0] = 0.4;
	def.limitStiffness = 100.0;
	def.limitDamping = 2.0;
	def.limits[0][0] = -INFINITY;
	def.limits[0][1] = INFINITY;
	def.limits[1][0] = 0.3;
	def.limits[1][1] = 2.0;
	lmbPlant *plant = MakeArm( &def ), *copy = NULL;
	lmbError error = { 0 };
	CHECK( plant->invariantBase && plant->turns[0] && !plant->turns[1] );
	CHECK_NEAR( plant->startRange[1][1], 2.0, 0.0 );
	CHECK_INT( lmbPlant_Copy( plant, &copy, &error ), lmb_statusOk );
	lmbPlant_Free( plant );
	CHECK_OR_STOP( copy != NULL );
	lmbPlantTerms t;
	double u[2] = { 0 };
	CHECK( lmbPlant_Terms( copy, ( double[] ){ 9.0, 2.5 }, ( double[] ){ 0.1, 3.0 }, u, &t ) );
	CHECK_NEAR( t.passive[0], 0.4 * tanh( 1.0 ), 1e-15 );
	CHECK_NEAR( t.passive[1], 25.0 + 3.0, 1e-12 );
	CHECK( lmbPlant_Terms( copy, ( double[] ){ 9.0, -0.7 }, ( double[] ){ 0.0, 0.0 }, u, &t ) );
	CHECK_NEAR( t.passive[1], -100.0, 1e-12 );
	CHECK( lmbPlant_Terms( copy, ( double[] ){ 9.0, 1.0 }, ( double[] ){ 0.0, 5.0 }, u, &t ) );
	CHECK_NEAR( t.passive[1], 0.0, 0.0 );
	CHECK( !lmbPlant_Acceleration( copy, ( double[] ){ NAN, 0.0 }, u, u, t.acceleration ) );
	lmbPlant_Free( copy );
}

static void WrongSettingsAreTold( void **state )
{
	(void)state;
	lmbPlant *plant;
	lmbError error = { 0 };
	lmbArmDef def = lmbDefaultArmDef();
	def.bodyMass = NAN;
	CHECK_INT( lmbPlant_MakeArm( &def, &plant, &error ), lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "body mass" );
	CHECK( plant == NULL );
	def = lmbDefaultArmDef();
	def.bodyHeight = 175.0;
	CHECK_INT( lmbPlant_MakeArm( &def, &plant, &error ), lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "body height of 175 m" );
	def = lmbDefaultArmDef();
	def.limitStiffness = 10.0;
	CHECK_INT( lmbPlant_MakeArm( &def, &plant, &error ), lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "shoulder's lowest angle" );
	def = lmbDefaultArmDef();
	def.viscosity[1] = -0.1;
	CHECK_INT( lmbPlant_MakeArm( &def, &plant, &error ), lmb_statusInvalidArgument );
	lmbPlant_Free( NULL );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( SegmentsFollowDeLeva ),
	    CHECK_TEST( TermsAreLagranges ),
	    CHECK_TEST( EnergyIsBalanced ),
	    CHECK_TEST( NothingIsLostWithoutFriction ),
	    CHECK_TEST( MotionsAreExact ),
	    CHECK_TEST( MotionsThatAreLostAreTold ),
	    CHECK_TEST( AmplificationIsTheStatesDerivative ),
	    CHECK_TEST( MusclesPullAsTheirEnergySays ),
	    CHECK_TEST( MusclesFollowHill ),
	    CHECK_TEST( LimitsAndFrictionPushBack ),
	    CHECK_TEST( WrongSettingsAreTold ),
	};
	return CHECK_RUN( tests );
}
