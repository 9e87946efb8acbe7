#include "limb/plant_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

lmbStatus lmbPlant_New( int dofCount, int inputCount, size_t dataSize, lmbPlant **out, lmbError *error )
{
	lmbPlant *plant = calloc( 1, sizeof( *plant ) );
	*out = NULL;
	if ( plant == NULL )
		return lmbError_Memory( error );
	plant->dofCount = dofCount;
	plant->inputCount = inputCount;
	plant->dofNames = LMB_NEW( &plant->arena, const char *, dofCount );
	plant->inputNames = LMB_NEW( &plant->arena, const char *, inputCount );
	plant->slides = LMB_NEW( &plant->arena, bool, dofCount );
	plant->turns = LMB_NEW( &plant->arena, bool, dofCount );
	plant->inputRange = lmbArena_New( &plant->arena, (size_t)inputCount, sizeof( *plant->inputRange ) );
	plant->startRange = lmbArena_New( &plant->arena, (size_t)dofCount, sizeof( *plant->startRange ) );
	plant->data = lmbArena_New( &plant->arena, 1, dataSize );
	if ( plant->dofNames == NULL || plant->inputNames == NULL || plant->slides == NULL ||
	     plant->turns == NULL || plant->inputRange == NULL || plant->startRange == NULL ||
	     plant->data == NULL )
	{
		lmbPlant_Free( plant );
		return lmbError_Memory( error );
	}
	*out = plant;
	return lmb_statusOk;
}

void lmbPlant_Free( lmbPlant *plant )
{
	if ( plant == NULL )
		return;
	if ( plant->class != NULL && plant->class->free != NULL )
		plant->class->free( plant );
	lmbArena_Free( &plant->arena );
	free( plant );
}

lmbStatus lmbPlant_Copy( const lmbPlant *plant, lmbPlant **out, lmbError *error )
{
	return plant->class->copy( plant, out, error );
}

static bool AllFinite( const double *numbers, int count )
{
	bool finite = true;
	for ( int i = 0; i < count; ++i )
		finite = finite && isfinite( numbers[i] );
	return finite;
}

bool lmbPlant_Acceleration( lmbPlant *plant, const double *q, const double *v, const double *u, double *a )
{
	return plant->class->acceleration( plant, q, v, u, a ) && AllFinite( a, plant->dofCount );
}

double lmbPlant_Energy( lmbPlant *plant, const double *q, const double *v )
{
	return plant->class->energy( plant, q, v );
}

bool lmbPlant_Terms( lmbPlant *plant, const double *q, const double *v, const double *u, lmbPlantTerms *out )
{
	int n = plant->dofCount;
	memset( out, 0, sizeof( *out ) );
	if ( !plant->class->terms( plant, q, v, u, out ) ||
	     !plant->class->acceleration( plant, q, v, u, out->acceleration ) )
		return false;
	for ( int i = 0; i < n; ++i )
	{
		out->interaction[i] = out->bias[i];
		for ( int j = 0; j < n; ++j )
			out->interaction[i] += j != i ? out->mass[i * n + j] * out->acceleration[j] : 0.0;
	}
	return AllFinite( out->mass, n * n ) && AllFinite( out->passive, n ) && AllFinite( out->input, n ) &&
	       AllFinite( out->interaction, n ) && AllFinite( out->gravity, n ) &&
	       AllFinite( out->acceleration, n );
}
