/* Shared by limb/plant*.c only. */
#ifndef LMB_LIMB_PLANT_PRIVATE_H
#define LMB_LIMB_PLANT_PRIVATE_H

#include "limb/plant.h"

/* A kind of plant. */
struct lmbPlantClass
{
	/* Everything but acceleration and interaction, which follow; false when something is not finite. */
	bool ( *terms )( lmbPlant *plant, const double *q, const double *v, const double *u, lmbPlantTerms *out );
	/* The same acceleration sooner than through the terms. */
	bool ( *acceleration )( lmbPlant *plant, const double *q, const double *v, const double *u, double *a );
	double ( *energy )( lmbPlant *plant, const double *q, const double *v );
	lmbStatus ( *copy )( const lmbPlant *plant, lmbPlant **out, lmbError *error );
	void ( *free )( lmbPlant *plant ); /* what data holds outside the arena; Nullable */
};

/* An empty plant with names and ranges for so many degrees of freedom and inputs. */
lmbStatus lmbPlant_New( int dofCount, int inputCount, size_t dataSize, lmbPlant **out, lmbError *error );

/* The planar arm's numbers, all of which its equations are linear in. */
typedef struct lmbArm
{
	lmbArmDef def;                  /* viscosity, friction, limits, muscles of it are used */
	double first, coupling, second; /* kg m^2: M11 without the coupling, b, M22 */
	double weight[2];               /* N m: of both segments at the shoulder, of the second at its joint */
	double lean[2];                 /* N m: the same for the part of gravity that acts along -x */
	bool limited;                   /* whether limits are there */
} lmbArm;

/* A plant of them, unchecked; ranges are those of def. */
lmbStatus lmbArm_Wrap( const lmbArm *arm, const char *name, lmbPlant **out, lmbError *error );

/* The six muscles of the arm (docs/derivations/arm.md). */
enum
{
	lmbMuscleCount = 6
};

extern const char *const lmbMuscleNames[lmbMuscleCount];

/* Torques (2) of the muscles without activation, and the change of each by an activation of 1
 * (2 x lmbMuscleCount); the energy that their passive force stores, J (Nullable each). */
void lmbMuscles_Evaluate( const double *q, const double *v, bool constantArms, double *passive, double *drive,
                          double *energy );

#endif
