#include "flesh_body.h"

#include <math.h>
#include <string.h>

lmbFleshDirection lmbDefaultFleshDirection( void )
{
	return ( lmbFleshDirection ){ .gain = 1.0f, .stiffness = 1.0f, .damping = 1.0f };
}

static bool Within( double value, double low, double high )
{
	return value >= low && value <= high;
}

static bool IsSound( const lmbFleshBody *body, const lmbFleshDirection *direction )
{
	bool sound = direction != NULL && Within( direction->gain, 0.0, 10.0 ) &&
	             Within( direction->limit, 0.0, 1e9 ) && Within( direction->stiffness, 1e-3, 1e3 ) &&
	             Within( direction->damping, 1e-3, 1e3 );
	for ( int i = 0; sound && i < 3; ++i )
		sound = Within( direction->acceleration[i], -1e6, 1e6 );
	for ( int v = 0; sound && direction->vertexGain != NULL && v < body->model->info.vertexCount; ++v )
		sound = Within( direction->vertexGain[v], 0.0, 10.0 );
	return sound;
}

lmbStatus lmbFleshBody_Direct( lmbFleshBody *body, const lmbFleshDirection *direction )
{
	if ( !IsSound( body, direction ) )
		return lmb_statusInvalidArgument;
	for ( int i = 0; i < body->model->softBlockCount * lmbLanes; ++i )
	{
		int v = body->model->order[i];
		body->gains[i] =
		    direction->gain * ( v < 0 || direction->vertexGain == NULL ? 1.0f : direction->vertexGain[v] );
	}
	body->perLimit = direction->limit > 1e-9f  ? 1.0f / direction->limit
	                 : direction->limit > 0.0f ? 1e9f
	                                           : 0.0f;
	body->directed = direction->gain != 1.0f || direction->vertexGain != NULL || direction->limit > 0.0f;
	memcpy( body->acceleration, direction->acceleration, sizeof( body->acceleration ) );
	if ( body->stiffness != direction->stiffness || body->damping != direction->damping )
	{
		body->stiffness = direction->stiffness;
		body->damping = direction->damping;
		lmbFleshBody_FillRates( body );
		body->maps[0].step = body->maps[1].step = 0.0;
	}
	return lmb_statusOk;
}

lmbStatus lmbFleshBody_Push( lmbFleshBody *body, const double velocity[3] )
{
	double sum[3];
	for ( int i = 0; i < 3; ++i )
	{
		sum[i] = body->push[i] + velocity[i];
		if ( !( fabs( velocity[i] ) <= 1e4 && fabs( sum[i] ) <= 1e6 ) )
			return lmb_statusInvalidArgument;
	}
	memcpy( body->push, sum, sizeof( sum ) );
	return lmb_statusOk;
}
