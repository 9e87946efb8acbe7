/* Recordings of two hinges against rigid segments in a plane: the arm's equations, in relative angles. */
#include "limb/known_terms_private.h"

#include <string.h>

enum
{
	hinges = 2
};

/* Torques of relative angles from those of absolute ones: the transpose of how angles follow. */
static void JointTorques( bool absolute, const double *u, double *out )
{
	out[0] = u[0] + ( absolute ? u[1] : 0.0 );
	out[1] = u[1];
}

bool lmbKnownTerms_Absolute( lmbPlant *segments, const double *q, const double *v, const double *u,
                             double *acceleration )
{
	double joints[hinges] = { q[0], q[1] - q[0] }, speeds[hinges] = { v[0], v[1] - v[0] }, torques[hinges];
	JointTorques( true, u, torques );
	if ( !lmbPlant_Acceleration( segments, joints, speeds, torques, acceleration ) )
		return false;
	acceleration[1] += acceleration[0];
	return true;
}

/* Second columns minus the first ones. */
static void MakeRelative( double *rows, int count )
{
	for ( int k = 0; k < count && rows != NULL; ++k )
		rows[hinges * (ptrdiff_t)k + 1] -= rows[hinges * (ptrdiff_t)k];
}

static lmbStatus CopyItem( const lmbTrajectories *from, int index, bool absolute, lmbTrajectories *to,
                           lmbError *error )
{
	const lmbTrajectory *old = &from->items[index];
	LMB_TRY( lmbTrajectories_Allocate( to, index, old->name, old->sampleCount, old->step,
	                                   old->velocities != NULL, old->accelerations != NULL, error ) );
	lmbTrajectory *new = &to->items[index];
	double *const targets[3] = { new->positions, new->velocities, new->accelerations };
	const double *const sources[3] = { old->positions, old->velocities, old->accelerations };
	size_t size = (size_t)old->sampleCount * hinges * sizeof( double );
	for ( int i = 0; i < 3; ++i )
	{
		if ( sources[i] == NULL )
			continue;
		memcpy( targets[i], sources[i], size );
		if ( absolute )
			MakeRelative( targets[i], old->sampleCount );
	}
	memset( new->inputs, 0, size );
	for ( int k = 0; k < old->sampleCount && from->inputCount > 0; ++k )
		JointTorques( absolute, old->inputs + hinges * (ptrdiff_t)k, new->inputs + hinges *(ptrdiff_t)k );
	return lmb_statusOk;
}

/* Relative angles and joint torques, zero where there are none. */
static lmbStatus Translate( const lmbTrajectories *from, bool absolute, lmbTrajectories **out,
                            lmbError *error )
{
	*out = NULL;
	bool fits = from->dofCount == hinges && ( from->inputCount == 0 || from->inputCount == hinges );
	for ( int i = 0; i < from->dofCount; ++i )
		fits = fits && !from->slides[i];
	if ( !fits )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "two segments have 2 hinges and no inputs or 2 torques; these trajectories have "
		                     "%d degrees of freedom and %d inputs",
		                     from->dofCount, from->inputCount );
	LMB_TRY( lmbTrajectories_New( hinges, hinges, from->count, out, error ) );
	( *out )->hold = from->hold;
	for ( int t = 0; t < from->count; ++t )
		LMB_TRY( CopyItem( from, t, absolute, *out, error ) );
	return lmb_statusOk;
}

lmbStatus lmbKnownTerms_FitSegments( const lmbTrajectories *set, bool absoluteAngles, double noise,
                                     const lmbJob *job, lmbPlant **out, lmbKnownTermsReport *report,
                                     lmbError *error )
{
	/* Any number but 0 says that it is to be found; the inertia is 1. */
	const lmbArm all = { .def = { .viscosity = { 1.0, 1.0 }, .friction = { 1.0, 1.0 } },
	                     .first = 1.0,
	                     .coupling = 1.0,
	                     .second = 1.0,
	                     .weight = { 1.0, 1.0 },
	                     .lean = { 1.0, 1.0 } };
	lmbTrajectories *relative = NULL;
	*out = NULL;
	lmbStatus status = Translate( set, absoluteAngles, &relative, error );
	if ( status == lmb_statusOk )
		status = lmbKnownTerms_FitArm( &all, hinges, set->inputCount > 0 ? -1 : 0, relative, noise, job, out,
		                               report, error );
	for ( int i = 0; i < lmbKnownTermsMax && status == lmb_statusOk && report != NULL; ++i )
		report->truth[i] = 0.0;
	lmbTrajectories_Free( relative );
	return status;
}
