#include "limb/trajectory.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

lmbStatus lmbTrajectories_New( int dofCount, int inputCount, int count, lmbTrajectories **out,
                               lmbError *error )
{
	*out = NULL;
	if ( dofCount < 1 || dofCount > lmbLimbMaxDofs || inputCount < 0 || inputCount > lmbLimbMaxInputs ||
	     count < 1 )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "a set of %d trajectories with %d degrees of freedom and %d inputs: it takes at "
		                     "least 1, 1 to %d and 0 to %d",
		                     count, dofCount, inputCount, lmbLimbMaxDofs, lmbLimbMaxInputs );
	lmbTrajectories *set = calloc( 1, sizeof( *set ) );
	if ( set == NULL )
		return lmbError_Memory( error );
	*set = ( lmbTrajectories ){ .dofCount = dofCount, .inputCount = inputCount, .count = count };
	set->dofNames = LMB_NEW( &set->arena, const char *, dofCount );
	set->inputNames = LMB_NEW( &set->arena, const char *, inputCount );
	set->slides = LMB_NEW( &set->arena, bool, dofCount );
	set->turns = LMB_NEW( &set->arena, bool, dofCount );
	set->items = LMB_NEW( &set->arena, lmbTrajectory, count );
	bool ok = set->dofNames != NULL && set->inputNames != NULL && set->slides != NULL && set->turns != NULL &&
	          set->items != NULL;
	for ( int i = 0; ok && i < dofCount + inputCount; ++i )
	{
		char name[16];
		snprintf( name, sizeof( name ), i < dofCount ? "q%d" : "tau%d",
		          i < dofCount ? i + 1 : i - dofCount + 1 );
		const char **place = i < dofCount ? &set->dofNames[i] : &set->inputNames[i - dofCount];
		*place = lmbArena_String( &set->arena, name );
		ok = *place != NULL;
	}
	if ( !ok )
	{
		lmbTrajectories_Free( set );
		return lmbError_Memory( error );
	}
	*out = set;
	return lmb_statusOk;
}

void lmbTrajectories_Free( lmbTrajectories *set )
{
	if ( set == NULL )
		return;
	lmbArena_Free( &set->arena );
	free( set );
}

lmbStatus lmbTrajectories_Allocate( lmbTrajectories *set, int index, const char *name, int sampleCount,
                                    double step, bool velocities, bool accelerations, lmbError *error )
{
	if ( index < 0 || index >= set->count || sampleCount < 1 || !( step > 0.0 ) || !isfinite( step ) )
		return lmbError_Set(
		    error, lmb_statusInvalidArgument,
		    "trajectory %d, \"%s\", of %d samples every %g s: the set has room for %d, of at "
		    "least one sample, and time goes on",
		    index, name, sampleCount, step, set->count );
	size_t rows = (size_t)sampleCount, numbers = rows * (size_t)set->dofCount;
	lmbTrajectory item = { .sampleCount = sampleCount, .step = step };
	item.name = lmbArena_String( &set->arena, name );
	item.positions = LMB_NEW( &set->arena, double, numbers );
	if ( velocities )
		item.velocities = LMB_NEW( &set->arena, double, numbers );
	if ( accelerations )
		item.accelerations = LMB_NEW( &set->arena, double, numbers );
	if ( set->inputCount > 0 )
		item.inputs = LMB_NEW( &set->arena, double, rows *(size_t)set->inputCount );
	if ( item.name == NULL || item.positions == NULL || ( velocities && item.velocities == NULL ) ||
	     ( accelerations && item.accelerations == NULL ) || ( set->inputCount > 0 && item.inputs == NULL ) )
		return lmbError_Memory( error );
	set->items[index] = item;
	return lmb_statusOk;
}

static int CompareNames( const void *a, const void *b )
{
	return strcmp( *(const char *const *)a, *(const char *const *)b );
}

lmbStatus lmbTrajectories_CheckNames( const lmbTrajectories *set, lmbError *error )
{
	lmbArena arena = { 0 };
	const char *repeated = NULL;
	const char **names = LMB_NEW( &arena, const char *, set->count );
	if ( names == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < set->count; ++i )
		names[i] = set->items[i].name;
	qsort( names, (size_t)set->count, sizeof( *names ), CompareNames );
	for ( int i = 1; i < set->count && repeated == NULL; ++i )
		if ( strcmp( names[i - 1], names[i] ) == 0 )
			repeated = names[i];
	lmbArena_Free( &arena );
	if ( repeated != NULL )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "two trajectories are called \"%s\"; give each a name of its own", repeated );
	return lmb_statusOk;
}
