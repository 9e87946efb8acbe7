#include "flesh/train_parts.h"

#include "learn/ridge.h"

#include <stdlib.h>

/* The lattice follows the skin linearly: node displacements d_n (bind axes) ~ sum_c z_c lattice_c, without
 * a bias, since a body at rest has z of rest, and accelerations are all that it is used for. */

enum
{
	nodesPerTask = 256,
	probeNodes = 48 /* nodes that choose the ridge for all */
};

typedef struct Lattice
{
	const lmbTissue *tissue;
	const lmbTrainData *data;
	const double *coefficients;
	lmbNetwork *network;
	float *displacement; /* (trainCount x nodeCount x 3) */
	double *scratch;
	size_t scratchSize;
	double ridge;
} Lattice;

static lmbStatus ComputeSample( void *context, int index, int worker, lmbError *error )
{
	Lattice *lattice = context;
	(void)error;
	size_t numbers = 3 * (size_t)lattice->tissue->nodeCount;
	double *scratch = lattice->scratch + (size_t)worker * lattice->scratchSize, *out = scratch;
	const lmbTrainSource *source = &lattice->data->sources[index];
	lmbTrain_NodeDisplacement( lattice->tissue, source->bones, source->nodes, scratch + numbers, out );
	for ( size_t i = 0; i < numbers; ++i )
		lattice->displacement[(size_t)index * numbers + i] = (float)out[i];
	return lmb_statusOk;
}

/* Regression of `count` nodes, first + i * stride, on the coefficients; chosen (3 count; Nullable). */
static lmbStatus FitNodes( const Lattice *lattice, int first, int stride, int count, double ridge,
                           double *chosen, lmbError *error )
{
	const lmbTrainData *data = lattice->data;
	lmbNetwork *network = lattice->network;
	lmbArena arena = { 0 };
	size_t samples = (size_t)data->trainCount, outputs = 3 * (size_t)count,
	       inputs = (size_t)network->coefficientCount;
	double *targets = LMB_NEW( &arena, double, samples *outputs );
	double *solution = LMB_NEW( &arena, double, outputs *( inputs + 1 ) );
	lmbStatus status = targets == NULL || solution == NULL ? lmbError_Memory( error ) : lmb_statusOk;
	for ( size_t i = 0; status == lmb_statusOk && i < samples; ++i )
		for ( size_t o = 0; o < outputs; ++o )
		{
			size_t node = (size_t)first + ( o / 3 ) * (size_t)stride;
			targets[i * outputs + o] =
			    lattice->displacement[( i * (size_t)lattice->tissue->nodeCount + node ) * 3 + o % 3];
		}
	lmbRidgeDef def = { .sampleCount = data->trainCount,
	                    .featureCount = network->coefficientCount,
	                    .outputCount = (int)outputs,
	                    .features = lattice->coefficients,
	                    .targets = targets,
	                    .ridge = ridge,
	                    .folds = data->folds,
	                    .foldCount = lmbTrainFolds };
	if ( status == lmb_statusOk )
		status = lmbRidge_Fit( &def, solution, chosen, error );
	for ( size_t o = 0; status == lmb_statusOk && ridge > 0.0 && o < outputs; ++o )
		for ( size_t c = 0; c < inputs; ++c )
			network->lattice[( c * (size_t)network->nodeCount + (size_t)first + o / 3 ) * 3 + o % 3] =
			    (float)solution[o * ( inputs + 1 ) + c];
	lmbArena_Free( &arena );
	return status;
}

static lmbStatus FitTask( void *context, int index, int worker, lmbError *error )
{
	Lattice *lattice = context;
	(void)worker;
	int first = index * nodesPerTask, left = lattice->tissue->nodeCount - first;
	return FitNodes( lattice, first, 1, left < nodesPerTask ? left : nodesPerTask, lattice->ridge, NULL,
	                 error );
}

static int CompareNumbers( const void *a, const void *b )
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/* The median of the ridges that a few nodes, spread over the body, would choose. */
static lmbStatus ChooseRidge( Lattice *lattice, lmbArena *scratch, lmbError *error )
{
	int stride = ( lattice->tissue->nodeCount + probeNodes - 1 ) / probeNodes;
	int count = ( lattice->tissue->nodeCount + stride - 1 ) / stride;
	double *chosen = LMB_NEW( scratch, double, 3 * (size_t)count );
	if ( chosen == NULL )
		return lmbError_Memory( error );
	LMB_TRY( FitNodes( lattice, 0, stride, count, 0.0, chosen, error ) );
	qsort( chosen, 3 * (size_t)count, sizeof( double ), CompareNumbers );
	lattice->ridge = chosen[3 * count / 2];
	return lmb_statusOk;
}

static lmbStatus Run( Lattice *lattice, const lmbJob *job, lmbArena *scratch, lmbError *error )
{
	lmbNetwork *network = lattice->network;
	size_t nodes = (size_t)lattice->tissue->nodeCount,
	       workers = job != NULL && job->threads > 1 ? (size_t)job->threads : 1;
	network->nodeCount = lattice->tissue->nodeCount;
	network->lattice = LMB_NEW( &network->arena, float, 3 * (size_t)network->coefficientCount * nodes );
	lattice->displacement = LMB_NEW( scratch, float, 3 * (size_t)lattice->data->trainCount * nodes );
	lattice->scratchSize = 21 * nodes + 4 * (size_t)lattice->tissue->boneCount;
	lattice->scratch = LMB_NEW( scratch, double, workers * lattice->scratchSize );
	if ( network->lattice == NULL || lattice->displacement == NULL || lattice->scratch == NULL )
		return lmbError_Memory( error );
	LMB_TRY( lmbJob_ForEach( job, lattice->data->trainCount, ComputeSample, lattice, error ) );
	LMB_TRY( ChooseRidge( lattice, scratch, error ) );
	int tasks = ( lattice->tissue->nodeCount + nodesPerTask - 1 ) / nodesPerTask;
	return lmbJob_ForEach( job, tasks, FitTask, lattice, error );
}

lmbStatus lmbTrainLattice( const lmbTissue *tissue, const lmbTrainData *data, const double *coefficients,
                           const lmbJob *job, lmbNetwork *network, lmbError *error )
{
	lmbArena scratch = { 0 };
	Lattice lattice = { .tissue = tissue, .data = data, .coefficients = coefficients, .network = network };
	lmbStatus status = Run( &lattice, job, &scratch, error );
	lmbArena_Free( &scratch );
	return status;
}
