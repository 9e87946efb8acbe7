/* Six muscles of the planar arm: equations and parameters in docs/derivations/arm.md. */
#include "limb/plant_private.h"

#include <math.h>

typedef struct Muscle
{
	double force;    /* N at activation 1, optimal length, standing still */
	double length;   /* m, optimal length of the fibres */
	double arm[2];   /* m at shoulder and elbow; positive: flexes */
	double swing[2]; /* how much of the arm comes and goes with the angle */
	double peak[2];  /* rad, where the arm is largest */
} Muscle;

/* Angles at which every muscle has its optimal length, rad. */
static const double optimalPosture[2] = { 0.8, 1.4 };

const char *const lmbMuscleNames[lmbMuscleCount] = { "shoulder flexor",    "shoulder extensor",
                                                     "elbow flexor",       "elbow extensor",
                                                     "biarticular flexor", "biarticular extensor" };

/* Sizes as planar models of the human arm have them (moment arms of 2.5 to 4 cm; forces that give some 40 and
 * 30 N m); the elbow's flexors have their largest arm at 100 degrees (Murray, Delp and Buchanan 1995). */
static const Muscle muscles[lmbMuscleCount] = {
    { 800.0, 0.16, { 0.040, 0.0 }, { 0.15, 0.0 }, { 0.8, 0.0 } },
    { 800.0, 0.16, { -0.040, 0.0 }, { 0.15, 0.0 }, { 0.4, 0.0 } },
    { 700.0, 0.12, { 0.0, 0.028 }, { 0.0, 0.30 }, { 0.0, 1.75 } },
    { 700.0, 0.12, { 0.0, -0.025 }, { 0.0, 0.15 }, { 0.0, 0.9 } },
    { 400.0, 0.18, { 0.028, 0.030 }, { 0.15, 0.30 }, { 0.8, 1.75 } },
    { 400.0, 0.18, { -0.028, -0.030 }, { 0.15, 0.15 }, { 0.4, 0.9 } },
};

static const double lengthWidth = 0.45;  /* Thelen 2003 */
static const double fastest = 10.0;      /* optimal lengths per second */
static const double hillShape = 0.25;    /* a / F0 of Hill's hyperbola */
static const double lengthening = 1.4;   /* largest force while it is drawn out, Thelen 2003 */
static const double passiveStrain = 0.6; /* lengthened by this share, passive force equals F0 */

/* speed: optimal lengths per fastest, positive shortens. One slope on either side of 0. */
static double ForceVelocity( double speed )
{
	if ( speed >= 1.0 )
		return 0.0;
	if ( speed >= 0.0 )
		return ( 1.0 - speed ) / ( 1.0 + speed / hillShape );
	double half = ( lengthening - 1.0 ) / ( 1.0 + 1.0 / hillShape );
	return 1.0 + ( lengthening - 1.0 ) * -speed / ( half - speed );
}

void lmbMuscles_Evaluate( const double *q, const double *v, bool constantArms, double *passive, double *drive,
                          double *energy )
{
	double none[2], unused[2 * lmbMuscleCount], stored = 0.0;
	passive = passive != NULL ? passive : none;
	drive = drive != NULL ? drive : unused;
	passive[0] = passive[1] = 0.0;
	for ( int m = 0; m < lmbMuscleCount; ++m )
	{
		const Muscle *muscle = &muscles[m];
		double arms[2], length = 1.0, shortening = 0.0;
		for ( int j = 0; j < 2; ++j )
		{
			double swing = constantArms ? 0.0 : muscle->swing[j];
			arms[j] = muscle->arm[j] * ( 1.0 + swing * cos( q[j] - muscle->peak[j] ) );
			/* The arm is minus the length's derivative by the angle. */
			double way =
			    q[j] - optimalPosture[j] +
			    swing * ( sin( q[j] - muscle->peak[j] ) - sin( optimalPosture[j] - muscle->peak[j] ) );
			length -= muscle->arm[j] * way / muscle->length;
			shortening += arms[j] * v[j] / ( muscle->length * fastest );
		}
		double strain = length > 1.0 ? ( length - 1.0 ) / passiveStrain : 0.0;
		double off = ( length - 1.0 ) * ( length - 1.0 ) / lengthWidth;
		double active = muscle->force * exp( -off ) * ForceVelocity( shortening );
		for ( int j = 0; j < 2; ++j )
		{
			passive[j] += arms[j] * muscle->force * strain * strain;
			drive[j * lmbMuscleCount + m] = arms[j] * active;
		}
		stored += muscle->force * muscle->length * passiveStrain * strain * strain * strain / 3.0;
	}
	if ( energy != NULL )
		*energy = stored;
}
