#include "flesh_body.h"

#include <string.h>

/* The region's inputs as the regression reads them, to scratch[0]. */
static void GatherFeatures( const lmbFleshBody *body, const lmbFleshRegion *region )
{
	for ( int i = 0; i < region->featureCount; ++i )
		body->scratch[0][i] = body->features[region->features[i]];
}

/* The perceptron's output; scratch[0] holds the inputs and is used up. */
static const float *RunPerceptron( const lmbFleshBody *body, const lmbFleshRegion *region )
{
	float *x = body->scratch[0], *y = body->scratch[1];
	for ( int i = 0; i < region->featureCount; ++i )
		x[i] = ( x[i] - region->mean[i] ) * region->scale[i];
	for ( int layer = 0; layer < region->layerCount; ++layer )
	{
		bool last = layer == region->layerCount - 1;
		lmbDense_Run( &region->layers[layer], body->kernels, x, y );
		if ( !last )
			body->kernels->tanh( region->hiddenPad, y );
		float *spare = x;
		x = y;
		y = spare;
	}
	return x;
}

static void AddBasis( const lmbFleshBody *body, const lmbFleshRegion *region, const float *amplitudes )
{
	const float *shapes = region->basis;
	float sum[lmbTile];
	for ( int tile = 0; tile < region->laneCount; tile += lmbTile )
		for ( int axis = 0; axis < 3; ++axis )
		{
			body->kernels->dense( region->coefficientCount, lmbTile, shapes, NULL, amplitudes, sum );
			shapes += (size_t)region->coefficientCount * lmbTile;
			float *out = body->still + axis * lmbLanes;
			for ( int l = 0; l < lmbTile; ++l )
				out[region->targets[tile + l]] += sum[l];
		}
}

void lmbFleshBody_BeginNetwork( lmbFleshBody *body )
{
	const lmbFlesh *model = body->model;
	if ( model->networkColumns.blocks == NULL ) /* else each block sums its own (flesh_vertices.c) */
		memset( body->still, 0, ( (size_t)model->softBlockCount + 1 ) * 3 * lmbLanes * sizeof( float ) );
}

void lmbFleshBody_RunRegion( lmbFleshBody *body, int index )
{
	const lmbFleshRegion *region = &body->model->regions[index];
	float *amplitudes = body->amplitudes + region->firstCoefficient;
	GatherFeatures( body, region );
	lmbDense_Run( &region->linear, body->kernels, body->scratch[0], body->scratch[2] );
	memcpy( amplitudes, body->scratch[2], (size_t)region->coefficientCount * sizeof( float ) );
	const float *more = region->layerCount > 0 ? RunPerceptron( body, region ) : NULL;
	for ( int c = 0; more != NULL && c < region->coefficientCount; ++c )
		amplitudes[c] += more[c];
	if ( body->model->networkColumns.blocks == NULL )
		AddBasis( body, region, amplitudes );
}
