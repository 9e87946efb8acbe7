/* A set of motions made by several threads, each with a plant of its own. */
#include "limb/motions_private.h"

#include <math.h>
#include <string.h>

static lmbStatus CopyNames( const lmbPlant *plant, lmbTrajectories *set, lmbError *error )
{
	bool fine = true;
	set->hold = lmb_inputHeld;
	for ( int i = 0; i < plant->dofCount; ++i )
	{
		set->slides[i] = plant->slides[i];
		set->turns[i] = plant->turns[i];
		set->dofNames[i] = lmbArena_String( &set->arena, plant->dofNames[i] );
		fine = fine && set->dofNames[i] != NULL;
	}
	for ( int i = 0; i < plant->inputCount; ++i )
	{
		set->inputNames[i] = lmbArena_String( &set->arena, plant->inputNames[i] );
		fine = fine && set->inputNames[i] != NULL;
	}
	return fine ? lmb_statusOk : lmbError_Memory( error );
}

lmbStatus lmbPlantMotionSet_Open( lmbPlantMotionSet *making, const lmbPlant *plant, int count,
                                  const lmbJob *job, lmbError *error )
{
	static const lmbJob plain = { 0 };
	making->job = job != NULL ? job : &plain;
	making->threads = making->job->threads > 1 ? making->job->threads : 1;
	pthread_mutex_init( &making->lock, NULL );
	LMB_TRY( lmbTrajectories_New( plant->dofCount, plant->inputCount, count, &making->set, error ) );
	LMB_TRY( CopyNames( plant, making->set, error ) );
	making->plants = LMB_NEW( &making->arena, lmbPlant *, making->threads );
	if ( making->plants == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < making->threads; ++i )
		LMB_TRY( lmbPlant_Copy( plant, &making->plants[i], error ) );
	return lmb_statusOk;
}

lmbStatus lmbPlantMotionSet_Add( lmbPlantMotionSet *making, int index, const char *name,
                                 const lmbPlantMotionDef *def, lmbError *error )
{
	int samples = (int)floor( def->rate * def->duration + 0.5 );
	return lmbTrajectories_Allocate( making->set, index, name, samples > 2 ? samples : 2, 1.0 / def->rate,
	                                 true, true, error );
}

void lmbPlantMotionSet_Progress( lmbPlantMotionSet *making )
{
	pthread_mutex_lock( &making->lock );
	lmbJob_Progress( making->job, "motions", ++making->done, making->set->count, "" );
	pthread_mutex_unlock( &making->lock );
}

lmbStatus lmbPlantMotionSet_Close( lmbPlantMotionSet *making, lmbStatus status, lmbTrajectories **out )
{
	for ( int i = 0; making->plants != NULL && i < making->threads; ++i )
		lmbPlant_Free( making->plants[i] );
	lmbArena_Free( &making->arena );
	pthread_mutex_destroy( &making->lock );
	if ( status != lmb_statusOk )
	{
		lmbTrajectories_Free( making->set );
		making->set = NULL;
	}
	*out = making->set;
	return status;
}
