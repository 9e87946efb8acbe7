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

static bool AreWithin( const float *values, int count, double low, double high )
{
	bool within = true;
	for ( int i = 0; i < count && values != NULL; ++i )
		within = within && Within( values[i], low, high );
	return within;
}

static bool IsSound( const lmbFleshBody *body, const lmbFleshDirection *direction )
{
	bool sound = direction != NULL && Within( direction->gain, 0.0, 10.0 ) &&
	             Within( direction->limit, 0.0, 1e9 ) && Within( direction->stiffness, 1e-3, 1e3 ) &&
	             Within( direction->damping, 1e-3, 1e3 ) && Within( direction->teleportSpeed, 0.0, 1e12 );
	for ( int i = 0; sound && i < 3; ++i )
		sound = Within( direction->acceleration[i], -1e6, 1e6 );
	int bones = body->model->info.boneCount;
	return sound && AreWithin( direction->vertexGain, body->model->info.vertexCount, 0.0, 10.0 ) &&
	       AreWithin( direction->boneGain, bones, 0.0, 10.0 ) &&
	       AreWithin( direction->boneStiffness, bones, 1e-3, 1e3 ) &&
	       AreWithin( direction->boneDamping, bones, 1e-3, 1e3 );
}

static void FillGains( lmbFleshBody *body, const lmbFleshDirection *direction )
{
	for ( int i = 0; i < body->model->softBlockCount * lmbLanes; ++i )
	{
		int v = body->model->order[i];
		double gain = direction->gain;
		if ( v >= 0 && direction->vertexGain != NULL )
			gain *= direction->vertexGain[v];
		if ( v >= 0 && direction->boneGain != NULL )
			gain *= lmbFleshLane_BoneMean( body->model, i, direction->boneGain );
		body->gains[i] = (float)gain;
	}
}

lmbStatus lmbFleshBody_Direct( lmbFleshBody *body, const lmbFleshDirection *direction )
{
	if ( !IsSound( body, direction ) )
		return lmb_statusInvalidArgument;
	FillGains( body, direction );
	body->perLimit = direction->limit > 1e-9f  ? 1.0f / direction->limit
	                 : direction->limit > 0.0f ? 1e9f
	                                           : 0.0f;
	body->directed = direction->gain != 1.0f || direction->vertexGain != NULL ||
	                 direction->boneGain != NULL || direction->limit > 0.0f;
	memcpy( body->acceleration, direction->acceleration, sizeof( body->acceleration ) );
	body->slowsWithSize = direction->slowsWithSize;
	body->teleportSpeed = direction->teleportSpeed;
	body->teleportForgets = direction->teleportForgets;
	bool regional = direction->boneStiffness != NULL || direction->boneDamping != NULL;
	if ( body->stiffness != direction->stiffness || body->damping != direction->damping || regional ||
	     body->regional )
	{
		body->stiffness = direction->stiffness;
		body->damping = direction->damping;
		body->regional = regional;
		lmbFleshBody_FillRates( body, direction->boneStiffness, direction->boneDamping );
		body->maps[0].step = body->maps[1].step = 0.0;
	}
	return lmb_statusOk;
}

double lmbFleshBody_SpeedScale( const lmbFleshBody *body, double scale )
{
	return body->slowsWithSize ? 1.0 : 1.0 / scale;
}

double lmbFleshBody_ForceScale( const lmbFleshBody *body, double scale )
{
	return body->slowsWithSize ? scale : 1.0 / scale;
}

bool lmbFleshBody_JumpsFar( const lmbFleshBody *body, const lmbFleshFrame *frame, double dt )
{
	double square = 0.0, reach = body->teleportSpeed * dt;
	if ( body->teleportSpeed <= 0.0 || frame->wakes || !lmbFleshFrame_Moves( frame ) )
		return false;
	for ( int i = 0; i < 3; ++i )
	{
		double moved = frame->position[i] - body->clock->position[i];
		square += moved * moved;
	}
	return square > reach * reach;
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
