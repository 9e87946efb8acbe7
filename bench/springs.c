/* Vertex springs as they lie in a body: a block's map and state, and what drives it. */
#include "measure.h"
#include "runtime/springs.h"

#include <stdio.h>
#include <stdlib.h>

enum
{
	perBlock = ( lmbSpringPlanes + 12 ) * lmbLanes
};

typedef struct Springs
{
	const lmbKernels *kernels;
	float *numbers;
	size_t blocks;
} Springs;

static void Run( void *context )
{
	const Springs *springs = context;
	for ( size_t b = 0; b < springs->blocks; ++b )
	{
		float *at = springs->numbers + b * perBlock;
		lmbSpringBlock block = { at, at + 8 * lmbLanes, at + 11 * lmbLanes, at + 14 * lmbLanes,
		                         at + 17 * lmbLanes };
		springs->kernels->springs( &block, false );
	}
}

static lmbStatus Measure( lmbBench *bench, Springs *springs, int vertices, lmbError *error )
{
	char name[64];
	lmbSpringMap map;
	size_t count = springs->blocks * perBlock;
	lmbBenchTimes times;
	/* 20 numbers of a vertex are read, 6 written; a coordinate takes 8 products and as many sums. */
	double lanes = (double)( springs->blocks * lmbLanes );
	lmbBenchCost cost = { .items = vertices,
	                      .bytes = 26.0 * 4.0 * lanes,
	                      .workingSet = count * sizeof( float ),
	                      .walk = lmb_walkMove,
	                      .multiplyAdds = 24.0 * lanes };
	/* Over the same memory, which for the largest is most of what there is. */
	lmbBench_Bandwidth( bench, springs->numbers, cost.workingSet, cost.walk, false );
	lmbSpringMap_Make( 900.0, 12.0, 1.0 / 60.0, &map );
	for ( size_t i = 0; i < count; ++i )
		springs->numbers[i] = 0.001f * (float)( i % 17 );
	for ( size_t b = 0; b < springs->blocks; ++b )
		for ( size_t l = 0; l < lmbLanes; ++l )
			lmbSpringMap_Store( &map, springs->numbers + b * perBlock, lmbLanes, l );
	const lmbBenchTask task = {
	    .run = Run, .context = springs, .samples = 15, .repeats = 1 + 400000 / vertices };
	LMB_TRY( lmbBench_Time( bench, &task, &times, error ) );
	snprintf( name, sizeof( name ), "%d vertices", vertices );
	lmbBench_Row( bench, name, &times, &cost );
	return lmb_statusOk;
}

lmbStatus lmbBench_Springs( lmbBench *bench, lmbError *error )
{
	int largest = bench->def->quick && bench->def->largest > 10000 ? 10000 : bench->def->largest;
	lmbStatus status = lmb_statusOk;
	for ( int vertices = 1000; vertices <= largest && status == lmb_statusOk; vertices *= 10 )
	{
		Springs springs = { bench->kernels, NULL, ( (size_t)vertices + lmbLanes - 1 ) / lmbLanes };
		springs.numbers = aligned_alloc( 64, springs.blocks * perBlock * sizeof( float ) );
		status =
		    springs.numbers != NULL ? Measure( bench, &springs, vertices, error ) : lmbError_Memory( error );
		free( springs.numbers );
	}
	return status;
}
