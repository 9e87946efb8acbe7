#include "flesh_body.h"

#include <string.h>

static void FillModeRates( lmbFleshBody *body, const float *boneStiffness, const float *boneDamping )
{
	for ( int m = 0; m < body->model->info.modeCount && body->hasModes; ++m )
	{
		double *rates = body->modeRates + 2 * (size_t)m;
		const double *springs = body->modeSprings + 2 * (size_t)m;
		rates[0] = body->stiffness * springs[0];
		rates[1] = body->damping * springs[1];
		if ( boneStiffness != NULL )
			rates[0] *= lmbFleshBody_ModeMean( body, m, boneStiffness );
		if ( boneDamping != NULL )
			rates[1] *= lmbFleshBody_ModeMean( body, m, boneDamping );
	}
}

void lmbFleshBody_FillRates( lmbFleshBody *body, const float *boneStiffness, const float *boneDamping )
{
	FillModeRates( body, boneStiffness, boneDamping );
	for ( int i = 0; body->hasVertexSprings && i < body->model->softBlockCount * lmbLanes; ++i )
	{
		float *rates = body->vertexRates + (size_t)( i / lmbLanes ) * 2 * lmbLanes + i % lmbLanes;
		int v = body->model->order[i];
		double stiffness = body->stiffness, damping = body->damping;
		if ( boneStiffness != NULL && v >= 0 )
			stiffness *= lmbFleshLane_BoneMean( body->model, i, boneStiffness );
		if ( boneDamping != NULL && v >= 0 )
			damping *= lmbFleshLane_BoneMean( body->model, i, boneDamping );
		rates[0] = v < 0 ? -1.0f : (float)( stiffness * body->vertexSprings[2 * (size_t)v] );
		rates[lmbLanes] = v < 0 ? 0.0f : (float)( damping * body->vertexSprings[2 * (size_t)v + 1] );
	}
}

/* How often a step must be halved before its map has a short series (kernels.h); above lmbMostHalvings: too
 * stiff for that. */
static int CountHalvings( float stiffness, float damping, double dt )
{
	int halvings = 0;
	for ( double t = dt; halvings <= lmbMostHalvings && ( damping * t > 1.0 || stiffness * t * t > 2.0 );
	      t *= 0.5 )
		halvings += 1;
	return halvings;
}

/* Maps of a block's springs. Those that are too stiff for the common way are made one by one, and lanes
 * without a vertex keep still. */
static void FillBlockMaps( const lmbFleshBody *body, int block, double dt, float *map )
{
	const float *rates = body->vertexRates + (size_t)block * 2 * lmbLanes;
	float stiffest = 0.0f, most = 0.0f, common[2 * lmbLanes];
	bool odd = false;
	for ( int l = 0; l < lmbLanes; ++l )
	{
		stiffest = rates[l] > stiffest ? rates[l] : stiffest;
		most = rates[lmbLanes + l] > most ? rates[lmbLanes + l] : most;
		odd = odd || rates[l] < 0.0f;
	}
	int halvings = CountHalvings( stiffest, most, dt );
	if ( !odd && halvings <= lmbMostHalvings )
	{
		body->kernels->maps( rates, (float)dt, halvings, map );
		return;
	}
	memcpy( common, rates, sizeof( common ) );
	halvings = 0;
	for ( int l = 0; l < lmbLanes; ++l )
	{
		int own = CountHalvings( rates[l], rates[lmbLanes + l], dt );
		if ( own > lmbMostHalvings || rates[l] < 0.0f )
			common[l] = common[lmbLanes + l] = 0.0f;
		else
			halvings = own > halvings ? own : halvings;
	}
	body->kernels->maps( common, (float)( dt < 1e6 ? dt : 1e6 ), halvings, map );
	for ( int l = 0; l < lmbLanes; ++l )
	{
		lmbSpringMap own = { { 1.0, 0.0, 0.0, 1.0 }, { 0.0 } };
		if ( rates[l] >= 0.0f && CountHalvings( rates[l], rates[lmbLanes + l], dt ) <= lmbMostHalvings )
			continue;
		if ( rates[l] >= 0.0f )
			lmbSpringMap_Make( rates[l], rates[lmbLanes + l], dt, &own );
		lmbSpringMap_Store( &own, map, lmbLanes, (size_t)l );
	}
}

static void FillMaps( const lmbFleshBody *body, double dt, lmbFleshMaps *maps )
{
	const lmbFlesh *model = body->model;
	maps->step = dt;
	for ( int m = 0; m < model->info.modeCount && body->hasModes && !body->followsPose; ++m )
		lmbSpringMap_Make( body->modeRates[2 * m], body->modeRates[2 * m + 1], dt, &maps->modes[m] );
	for ( int b = 0; b < model->softBlockCount && body->hasVertexSprings; ++b )
		FillBlockMaps( body, b, dt, maps->vertices + (size_t)b * lmbSpringPlanes * lmbLanes );
}

/* Two lengths of step are kept, since frames often alternate between two. */
const lmbFleshMaps *lmbFleshBody_FindMaps( lmbFleshBody *body, double dt )
{
	for ( int i = 0; i < 2; ++i )
		if ( body->maps[i].step == dt )
		{
			body->nextMaps = 1 - i;
			return &body->maps[i];
		}
	lmbFleshMaps *maps = &body->maps[body->nextMaps];
	body->nextMaps = 1 - body->nextMaps;
	FillMaps( body, dt, maps );
	return maps;
}
