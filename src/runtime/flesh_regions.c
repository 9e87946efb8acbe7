#include "flesh_body.h"

#include <string.h>

/* Of shapes as bytes, all columns of the mode are added up. */
static void SumColumns( const lmbFileColumns *columns, int block, int mode, float *out )
{
	size_t first = (size_t)columns->blocks[block];
	int count = columns->blocks[block + 1] - columns->blocks[block];
	const int8_t *entries = columns->entries + first * 3 * lmbLanes;
	memset( out, 0, 3 * lmbLanes * sizeof( *out ) );
	for ( int i = 0; i < count; ++i )
	{
		if ( columns->amount[first + (size_t)i] != mode )
			continue;
		float scale = columns->scales[first + (size_t)i];
		for ( int lane = 0; lane < 3 * lmbLanes; ++lane )
		{
			int tile = lane / lmbTile;
			size_t at = ( ( (size_t)tile * ( count / 2 ) + i / 2 ) * lmbTile + lane % lmbTile ) * 2 + i % 2;
			out[lane] += scale * entries[at];
		}
	}
}

void lmbFleshBlock_Mode( const lmbFlesh *model, int block, int mode, float *out )
{
	if ( model->modeColumns.blocks != NULL )
	{
		SumColumns( &model->modeColumns, block, mode, out );
		return;
	}
	size_t modes = (size_t)model->info.modeCount;
	const float *shapes = model->shapes + (size_t)block * 3 * lmbLanes * modes;
	for ( size_t tile = 0; tile < 3 * lmbLanes / lmbTile; ++tile )
		memcpy( out + tile * lmbTile, shapes + ( tile * modes + (size_t)mode ) * lmbTile,
		        lmbTile * sizeof( *out ) );
}

/* The bones of a lane's vertex and their weights; returns how many. */
static int GetBones( const lmbFlesh *model, int lane, const uint16_t **bones, const float **weights )
{
	int block = lane / lmbLanes, used = model->blockBones[block + 1] - model->blockBones[block];
	size_t first = (size_t)model->blockBones[block] * lmbLanes + (size_t)( lane % lmbLanes ) * (size_t)used;
	*bones = model->bones + first;
	*weights = model->weights + first;
	return used;
}

double lmbFleshLane_BoneMean( const lmbFlesh *model, int lane, const float *values )
{
	const uint16_t *bones;
	const float *weights;
	int used = GetBones( model, lane, &bones, &weights );
	double sum = 0.0, all = 0.0;
	for ( int i = 0; i < used; ++i )
	{
		sum += (double)weights[i] * values[bones[i]];
		all += weights[i];
	}
	return all > 0.0 ? sum / all : 1.0;
}

/* Each vertex gives what the mode moves it, squared, to its bones. */
static void FindParticipation( lmbFleshBody *body, int mode )
{
	const lmbFlesh *model = body->model;
	float *row = body->participation + (size_t)mode * (size_t)model->info.boneCount;
	double sum = 0.0;
	for ( int block = 0; block < model->softBlockCount; ++block )
	{
		float shape[3 * lmbLanes];
		lmbFleshBlock_Mode( model, block, mode, shape );
		for ( int l = 0; l < lmbLanes; ++l )
		{
			const uint16_t *bones;
			const float *weights;
			const float *x = shape + l, *y = x + lmbLanes, *z = y + lmbLanes;
			double square = (double)*x * *x + (double)*y * *y + (double)*z * *z;
			int used = GetBones( model, block * lmbLanes + l, &bones, &weights );
			if ( model->order[block * lmbLanes + l] < 0 )
				continue;
			for ( int i = 0; i < used; ++i )
				row[bones[i]] += (float)( square * weights[i] );
		}
	}
	for ( int bone = 0; bone < model->info.boneCount; ++bone )
		sum += row[bone];
	for ( int bone = 0; bone < model->info.boneCount; ++bone )
		row[bone] =
		    sum > 1e-30 && sum < 1e30 ? (float)( row[bone] / sum ) : 1.0f / (float)model->info.boneCount;
}

double lmbFleshBody_ModeMean( lmbFleshBody *body, int mode, const float *values )
{
	int bones = body->model->info.boneCount;
	for ( int m = 0; m < body->model->info.modeCount && !body->participationKnown; ++m )
		FindParticipation( body, m );
	body->participationKnown = true;
	const float *row = body->participation + (size_t)mode * (size_t)bones;
	double sum = 0.0, all = 0.0;
	for ( int bone = 0; bone < bones; ++bone )
	{
		sum += (double)row[bone] * values[bone];
		all += row[bone];
	}
	return sum / all;
}
