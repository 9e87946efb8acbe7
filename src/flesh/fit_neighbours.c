#include "flesh/fit_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
	rings = 3,        /* edges that a neighbour may be away */
	neighbourMax = 64 /* neighbours that are asked */
};

/* A spring whose fit captures less than this of its record is hardly determined by it. */
static const double doubtfulShare = 0.05;

/* Vertices joined by an edge: neighbours[start[v]] .. neighbours[start[v + 1] - 1], with repeats. */
typedef struct Adjacency
{
	int32_t *start, *neighbours;
} Adjacency;

static lmbStatus MakeAdjacency( const lmbCharacter *character, lmbArena *arena, Adjacency *adjacency,
                                lmbError *error )
{
	size_t vertices = (size_t)character->vertexCount, corners = 3 * (size_t)character->triangleCount;
	adjacency->start = LMB_NEW( arena, int32_t, vertices + 2 );
	adjacency->neighbours = LMB_NEW( arena, int32_t, 2 * corners );
	if ( adjacency->start == NULL || adjacency->neighbours == NULL )
		return lmbError_Memory( error );
	/* Counted one place late, so that filling moves each start to where it belongs. */
	int32_t *start = adjacency->start;
	for ( size_t c = 0; c < corners; ++c )
		start[character->triangles[c] + 2] += 2;
	for ( size_t v = 2; v < vertices + 2; ++v )
		start[v] += start[v - 1];
	for ( size_t c = 0; c < corners; ++c )
	{
		const int32_t *triangle = character->triangles + c / 3 * 3;
		int32_t *next = &start[triangle[c % 3] + 1];
		adjacency->neighbours[( *next )++] = triangle[( c + 1 ) % 3];
		adjacency->neighbours[( *next )++] = triangle[( c + 2 ) % 3];
	}
	return lmb_statusOk;
}

static bool IsSure( const lmbFit *fit, const lmbFitLayer *layer, int32_t vertex )
{
	return layer->energy[vertex] > lmbFit_LeastEnergy( fit ) && layer->share[vertex] >= doubtfulShare;
}

/* Sure vertices on the first ring that has any, breadth first; returns their number. */
static int FindSure( const lmbFit *fit, const lmbFitLayer *layer, const Adjacency *adjacency, int32_t vertex,
                     int32_t *sure )
{
	int32_t seen[neighbourMax] = { vertex };
	int seenCount = 1, ringStart = 0, sureCount = 0;
	for ( int ring = 0; ring < rings && sureCount == 0; ++ring )
	{
		int ringEnd = seenCount;
		for ( int i = ringStart; i < ringEnd; ++i )
			for ( int32_t e = adjacency->start[seen[i]]; e < adjacency->start[seen[i] + 1]; ++e )
			{
				int32_t next = adjacency->neighbours[e];
				bool known = seenCount == neighbourMax;
				for ( int j = 0; j < seenCount && !known; ++j )
					known = seen[j] == next;
				if ( known )
					continue;
				seen[seenCount++] = next;
				if ( IsSure( fit, layer, next ) )
					sure[sureCount++] = next;
			}
		ringStart = ringEnd;
	}
	return sureCount;
}

static int CompareDoubles( const void *a, const void *b )
{
	double x = *(const double *)a, y = *(const double *)b;
	return ( x > y ) - ( x < y );
}

static double MedianLog( const double *values, const int32_t *indices, int count )
{
	double sorted[neighbourMax];
	for ( int i = 0; i < count; ++i )
		sorted[i] = log( values[indices[i]] );
	qsort( sorted, (size_t)count, sizeof( double ), CompareDoubles );
	return 0.5 * ( sorted[( count - 1 ) / 2] + sorted[count / 2] );
}

typedef struct DoubtTask
{
	const lmbFit *fit;
	const lmbFitLayer *layer;
	Adjacency adjacency;
	int32_t *vertices;    /* (count) */
	lmbSpringFit *answer; /* (count) */
} DoubtTask;

/* Reads the layer, writes only the answer, so that the order of tasks does not matter. */
static lmbStatus AskOne( void *context, int index, int worker, lmbError *error )
{
	(void)worker;
	DoubtTask *task = context;
	const lmbFitLayer *layer = task->layer;
	int32_t vertex = task->vertices[index], sure[neighbourMax];
	lmbSpringFit *answer = &task->answer[index];
	*answer = ( lmbSpringFit ){ layer->stiffness[vertex], layer->damping[vertex], layer->energy[vertex],
	                            layer->share[vertex] };
	int count = FindSure( task->fit, layer, &task->adjacency, vertex, sure );
	if ( count == 0 )
		return lmb_statusOk;
	lmbFitChunk chunk;
	LMB_TRY( lmbFitChunk_Make( task->fit, vertex, 1, &chunk, error ) );
	if ( layer->remainder )
		lmbFitChunk_TakeModes( task->fit, &chunk );
	lmbSpringRecord record = lmbFitChunk_Record( task->fit, &chunk, 0 );
	lmbSpringPoint median = { MedianLog( layer->stiffness, sure, count ),
	                          MedianLog( layer->damping, sure, count ) };
	double share = 1.0 - lmbSpring_Error( &record, NULL, median, NULL, NULL ) / answer->energy;
	free( chunk.block );
	if ( share >= 0.0 && share >= answer->share - 0.02 )
		*answer =
		    ( lmbSpringFit ){ exp( median.logStiffness ), exp( median.logDamping ), answer->energy, share };
	return lmb_statusOk;
}

lmbStatus lmbFit_AskNeighbours( const lmbFit *fit, lmbFitLayer *layer, lmbError *error )
{
	lmbArena arena = { 0 };
	DoubtTask task = { .fit = fit, .layer = layer };
	int count = 0, vertices = fit->springs->vertexCount;
	task.vertices = LMB_NEW( &arena, int32_t, vertices );
	task.answer = LMB_NEW( &arena, lmbSpringFit, vertices );
	lmbStatus status = task.vertices == NULL || task.answer == NULL
	                       ? lmbError_Memory( error )
	                       : MakeAdjacency( fit->character, &arena, &task.adjacency, error );
	for ( int32_t v = 0; status == lmb_statusOk && v < vertices; ++v )
		if ( layer->energy[v] > lmbFit_LeastEnergy( fit ) && !IsSure( fit, layer, v ) )
			task.vertices[count++] = v;
	if ( status == lmb_statusOk )
		status = lmbJob_ForEach( fit->job, count, AskOne, &task, error );
	for ( int i = 0; status == lmb_statusOk && i < count; ++i )
	{
		layer->stiffness[task.vertices[i]] = task.answer[i].stiffness;
		layer->damping[task.vertices[i]] = task.answer[i].damping;
		layer->share[task.vertices[i]] = task.answer[i].share;
	}
	lmbArena_Free( &arena );
	return status;
}
