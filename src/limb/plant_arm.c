/* The planar two-segment arm: docs/derivations/arm.md. */
#include "limb/plant_private.h"

#include <math.h>
#include <string.h>

/* One body segment by de Leva 1996, "Adjustments to Zatsiorsky-Seluyanov's segment inertia parameters",
 * J. Biomech. 29(9), Table 4: mean length (m), share of the body's mass, centre of mass from the proximal end
 * and radius of gyration about the transverse axis (that of flexion) as shares of the length. */
typedef struct DeLeva
{
	double length, mass, centre, gyration;
} DeLeva;

/* Upper arm from shoulder to elbow joint centre; forearm from elbow to wrist joint centre; hand from wrist
 * joint centre to the knuckle of the third finger (WJC to MET3), in line with the forearm: a loose fist. */
static const DeLeva segments[2][3] = {
    { { 0.2817, 0.0271, 0.5772, 0.269 },
      { 0.2689, 0.0162, 0.4574, 0.265 },
      { 0.0862, 0.0061, 0.7900, 0.513 } }, /* men */
    { { 0.2751, 0.0255, 0.5754, 0.260 },
      { 0.2643, 0.0138, 0.4559, 0.257 },
      { 0.0780, 0.0056, 0.7474, 0.454 } }, /* women */
};
static const double meanStature[2] = { 1.741, 1.735 }; /* m, ibid.; lengths grow with stature */

static const double frictionSpeed = 0.1; /* rad/s, where dry friction is mostly there */

lmbArmDef lmbDefaultArmDef( void )
{
	return ( lmbArmDef ){ .bodyMass = 75.0, .bodyHeight = 1.75, .viscosity = { 0.2, 0.2 } };
}

static lmbSegment Scaled( const lmbArmDef *def, int part )
{
	const DeLeva *table = &segments[def->female ? 1 : 0][part];
	double length = table->length * def->bodyHeight / meanStature[def->female ? 1 : 0];
	double mass = table->mass * def->bodyMass, radius = table->gyration * length;
	return ( lmbSegment ){
	    .mass = mass, .length = length, .centre = table->centre * length, .inertia = mass * radius * radius };
}

lmbSegment lmbPlant_ArmSegment( const lmbArmDef *def, int index )
{
	if ( index == 0 )
		return Scaled( def, 0 );
	lmbSegment forearm = Scaled( def, 1 ), hand = Scaled( def, 2 );
	double handCentre = forearm.length + hand.centre;
	lmbSegment both = { .mass = forearm.mass + hand.mass, .length = forearm.length + hand.length };
	both.centre = ( forearm.mass * forearm.centre + hand.mass * handCentre ) / both.mass;
	/* Parallel axes (Huygens and Steiner). */
	double forearmOff = forearm.centre - both.centre, handOff = handCentre - both.centre;
	both.inertia = forearm.inertia + forearm.mass * forearmOff * forearmOff + hand.inertia +
	               hand.mass * handOff * handOff;
	return both;
}

/* The limit's torque p on the passive side and the energy it stores. */
static double LimitTorque( const lmbArm *arm, int joint, double q, double v, double *energy )
{
	const lmbArmDef *def = &arm->def;
	*energy = 0.0;
	if ( !arm->limited )
		return 0.0;
	double above = q - def->limits[joint][1], below = def->limits[joint][0] - q;
	double depth = above > 0.0 ? above : below > 0.0 ? below : 0.0;
	*energy = def->limitStiffness * depth * depth * depth / 3.0;
	return ( above > 0.0 ? 1.0 : -1.0 ) * def->limitStiffness * depth * depth + def->limitDamping * depth * v;
}

static bool ArmTerms( lmbPlant *plant, const double *q, const double *v, const double *u, lmbPlantTerms *out )
{
	const lmbArm *arm = plant->data;
	const lmbArmDef *def = &arm->def;
	double c = arm->coupling * cos( q[1] ), s = arm->coupling * sin( q[1] );
	out->mass[0] = arm->first + 2.0 * c;
	out->mass[1] = out->mass[2] = arm->second + c;
	out->mass[3] = arm->second;
	out->bias[0] = -s * v[1] * ( 2.0 * v[0] + v[1] );
	out->bias[1] = s * v[0] * v[0];
	/* Also without weight, so that an angle that is not finite is noticed. */
	out->gravity[1] = arm->weight[1] * cos( q[0] + q[1] ) - arm->lean[1] * sin( q[0] + q[1] );
	out->gravity[0] = arm->weight[0] * cos( q[0] ) - arm->lean[0] * sin( q[0] ) + out->gravity[1];
	for ( int j = 0; j < 2; ++j )
	{
		double energy;
		out->passive[j] = def->viscosity[j] * v[j] + LimitTorque( arm, j, q[j], v[j], &energy );
		if ( def->friction[j] != 0.0 )
			out->passive[j] += def->friction[j] * tanh( v[j] / frictionSpeed );
		out->input[j] = def->muscles ? 0.0 : u[j];
	}
	if ( def->muscles )
	{
		double passive[2], drive[2 * lmbMuscleCount];
		lmbMuscles_Evaluate( q, v, def->constantMomentArms, passive, drive, NULL );
		for ( int j = 0; j < 2; ++j )
		{
			out->passive[j] -= passive[j];
			for ( int m = 0; m < lmbMuscleCount; ++m )
				out->input[j] += drive[j * lmbMuscleCount + m] * u[m];
		}
	}
	return true;
}

static bool ArmAcceleration( lmbPlant *plant, const double *q, const double *v, const double *u, double *a )
{
	lmbPlantTerms t;
	ArmTerms( plant, q, v, u, &t );
	double first = t.input[0] - t.bias[0] - t.gravity[0] - t.passive[0];
	double second = t.input[1] - t.bias[1] - t.gravity[1] - t.passive[1];
	double determinant = t.mass[0] * t.mass[3] - t.mass[1] * t.mass[1];
	a[0] = ( t.mass[3] * first - t.mass[1] * second ) / determinant;
	a[1] = ( t.mass[0] * second - t.mass[1] * first ) / determinant;
	return true;
}

static double ArmEnergy( lmbPlant *plant, const double *q, const double *v )
{
	const lmbArm *arm = plant->data;
	double c = arm->coupling * cos( q[1] );
	double energy = 0.5 * ( arm->first + 2.0 * c ) * v[0] * v[0] + ( arm->second + c ) * v[0] * v[1] +
	                0.5 * arm->second * v[1] * v[1];
	energy += arm->weight[0] * sin( q[0] ) + arm->weight[1] * sin( q[0] + q[1] );
	energy += arm->lean[0] * cos( q[0] ) + arm->lean[1] * cos( q[0] + q[1] );
	for ( int j = 0; j < 2; ++j )
	{
		double stored;
		LimitTorque( arm, j, q[j], v[j], &stored );
		energy += stored;
	}
	if ( arm->def.muscles )
	{
		double stored;
		lmbMuscles_Evaluate( q, v, arm->def.constantMomentArms, NULL, NULL, &stored );
		energy += stored;
	}
	return energy;
}

static lmbStatus ArmCopy( const lmbPlant *plant, lmbPlant **out, lmbError *error )
{
	return lmbArm_Wrap( plant->data, plant->name, out, error );
}

static const struct lmbPlantClass armClass = {
    .terms = ArmTerms, .acceleration = ArmAcceleration, .energy = ArmEnergy, .copy = ArmCopy };

static bool AtLeastZero( double number )
{
	return number >= 0.0 && isfinite( number );
}

static lmbStatus CheckDef( const lmbArmDef *def, lmbError *error )
{
	if ( !( def->bodyMass >= 2.0 && def->bodyMass <= 500.0 ) )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "the arm's body mass of %g kg is outside 2 to 500", def->bodyMass );
	if ( !( def->bodyHeight >= 0.4 && def->bodyHeight <= 3.0 ) )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "the arm's body height of %g m is outside 0.4 to 3", def->bodyHeight );
	if ( !isfinite( def->gravity ) || fabs( def->gravity ) > 1000.0 )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "the arm's gravity of %g m/s^2 is outside -1000 to 1000", def->gravity );
	bool fine = AtLeastZero( def->limitStiffness ) && AtLeastZero( def->limitDamping );
	for ( int j = 0; j < 2; ++j )
		fine = fine && AtLeastZero( def->viscosity[j] ) && AtLeastZero( def->friction[j] );
	if ( !fine )
		return lmbError_Set(
		    error, lmb_statusInvalidArgument,
		    "the arm's viscosity, friction, limit stiffness and limit damping must be 0 or above" );
	for ( int j = 0; j < 2 && def->limitStiffness > 0.0; ++j )
		if ( !( def->limits[j][0] < def->limits[j][1] ) )
			return lmbError_Set( error, lmb_statusInvalidArgument,
			                     "the %s's lowest angle, %g rad, must be below its highest, %g rad",
			                     j == 0 ? "shoulder" : "elbow", def->limits[j][0], def->limits[j][1] );
	return lmb_statusOk;
}

/* Torques that swing the arm at some 15 rad/s^2, and gravity's largest on top; starts in front of the body.
 */
static void SetRanges( lmbPlant *plant, const lmbArm *arm )
{
	const lmbArmDef *def = &arm->def;
	static const double starts[2][2] = { { -1.5, 1.5 }, { 0.2, 2.4 } };
	double size = def->bodyMass * def->bodyHeight * def->bodyHeight / ( 75.0 * 1.75 * 1.75 );
	double weights[2] = { fabs( arm->weight[0] ) + fabs( arm->weight[1] ), fabs( arm->weight[1] ) };
	for ( int i = 0; i < plant->inputCount; ++i )
	{
		double most = def->muscles ? 1.0 : i == 0 ? 6.0 * size + weights[0] : 3.0 * size + weights[1];
		plant->inputRange[i][0] = def->muscles ? 0.0 : -most;
		plant->inputRange[i][1] = most;
	}
	for ( int j = 0; j < 2; ++j )
	{
		double low = starts[j][0], high = starts[j][1];
		if ( def->limitStiffness > 0.0 )
		{
			low = fmax( low, def->limits[j][0] );
			high = fmin( high, def->limits[j][1] );
		}
		if ( !( low < high ) )
		{
			/* The limits lie outside of the usual range altogether. */
			low = isfinite( def->limits[j][0] ) ? def->limits[j][0] : def->limits[j][1] - 1.0;
			high = isfinite( def->limits[j][1] ) ? def->limits[j][1] : low + 1.0;
		}
		plant->startRange[j][0] = low;
		plant->startRange[j][1] = high;
	}
}

static bool HasLimits( const lmbArmDef *def, int joint )
{
	return def->limitStiffness > 0.0 &&
	       ( isfinite( def->limits[joint][0] ) || isfinite( def->limits[joint][1] ) );
}

lmbStatus lmbArm_Wrap( const lmbArm *arm, const char *name, lmbPlant **out, lmbError *error )
{
	static const char *const joints[2] = { "shoulder", "elbow" };
	static const char *const torques[2] = { "shoulder torque", "elbow torque" };
	const lmbArmDef *def = &arm->def;
	lmbPlant *plant;
	*out = NULL;
	int inputs = def->muscles ? lmbMuscleCount : 2;
	LMB_TRY( lmbPlant_New( 2, inputs, sizeof( lmbArm ), &plant, error ) );
	*(lmbArm *)plant->data = *arm;
	plant->name = lmbArena_String( &plant->arena, name );
	if ( plant->name == NULL )
	{
		lmbPlant_Free( plant );
		return lmbError_Memory( error );
	}
	plant->class = &armClass;
	plant->invariantBase = def->gravity == 0.0 && !def->muscles && !HasLimits( def, 0 );
	for ( int j = 0; j < 2; ++j )
	{
		plant->dofNames[j] = joints[j];
		plant->turns[j] = !def->muscles && !HasLimits( def, j );
	}
	for ( int i = 0; i < inputs; ++i )
		plant->inputNames[i] = def->muscles ? lmbMuscleNames[i] : torques[i];
	SetRanges( plant, arm );
	*out = plant;
	return lmb_statusOk;
}

lmbStatus lmbPlant_MakeArm( const lmbArmDef *def, lmbPlant **out, lmbError *error )
{
	*out = NULL;
	LMB_TRY( CheckDef( def, error ) );
	lmbSegment upper = lmbPlant_ArmSegment( def, 0 ), fore = lmbPlant_ArmSegment( def, 1 );
	lmbArm arm = { .def = *def, .limited = HasLimits( def, 0 ) || HasLimits( def, 1 ) };
	arm.second = fore.inertia + fore.mass * fore.centre * fore.centre;
	arm.coupling = fore.mass * upper.length * fore.centre;
	arm.first = upper.inertia + upper.mass * upper.centre * upper.centre +
	            fore.mass * upper.length * upper.length + arm.second;
	arm.weight[0] = ( upper.mass * upper.centre + fore.mass * upper.length ) * def->gravity;
	arm.weight[1] = fore.mass * fore.centre * def->gravity;
	return lmbArm_Wrap( &arm, "arm", out, error );
}
