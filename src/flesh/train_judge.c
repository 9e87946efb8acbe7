#include "flesh/train_parts.h"

#include "base/math3.h"

/* How the finished network, read back as it is stored, does on the samples; and the lattice, which follows
 * from its coefficients. */

enum
{
	judgedTrain = 200 /* training samples looked at, spread over all */
};

typedef struct Judging
{
	const lmbTrainSetup *setup;
	const lmbNetwork *network;
	double *coefficients; /* (own samples x coefficientCount) */
	double *displacement; /* (vertexCount x 3) of one sample */
	double *truth;        /* (coefficientCount) the best coefficients of one sample */
} Judging;

static lmbStatus Predict( void *context, int index, int worker, lmbError *error )
{
	Judging *judging = context;
	const lmbTrainData *data = judging->setup->data;
	(void)worker, (void)error;
	lmbNetwork_Coefficients( judging->network, data->features + (size_t)index * (size_t)data->featureCount,
	                         judging->coefficients +
	                             (size_t)index * (size_t)judging->network->coefficientCount );
	return lmb_statusOk;
}

/* The coefficients that a sample's true shape has in the stored basis: weighted projection, region weights
 * taken out of the basis again. */
static void Project( const Judging *judging, const float *truth, double *coefficients )
{
	const lmbRegionMap *map = judging->setup->map;
	for ( int r = 0; r < judging->network->regionCount; ++r )
	{
		const lmbRegion *region = &judging->network->regions[r];
		const lmbRegionArea *area = map->areas;
		while ( area->bone != region->bone )
			area += 1;
		for ( int k = 0; k < region->coefficientCount; ++k )
		{
			const float *basis = region->basis + 3 * (size_t)k * (size_t)region->vertexCount;
			double sum = 0.0, total = 0.0;
			for ( int i = 0; i < region->vertexCount; ++i )
			{
				double share = map->vertexAreas[region->vertices[i]];
				const float *d = truth + 3 * (size_t)region->vertices[i];
				total += share * area->weights[i];
				for ( int e = 0; e < 3; ++e )
					sum += share * (double)basis[3 * i + e] * (double)d[e];
			}
			coefficients[k] = total > 0.0 ? sum / total : 0.0;
		}
		coefficients += region->coefficientCount;
	}
}

/* Sum over soft vertices of area |d - truth|^2, over their area. coefficients NULL: d = 0, skinning. */
static double SampleError( Judging *judging, int sample, const double *coefficients )
{
	const lmbTrainData *data = judging->setup->data;
	const lmbRegionMap *map = judging->setup->map;
	const float *truth = data->displacement + 3 * (size_t)sample * (size_t)data->vertexCount;
	if ( coefficients != NULL )
		lmbNetwork_Displacement( judging->network, coefficients, judging->displacement );
	else
		memset( judging->displacement, 0, 3 * (size_t)data->vertexCount * sizeof( double ) );
	double sum = 0.0;
	for ( int v = 0; v < data->vertexCount; ++v )
		for ( int i = 0; map->soft[v] != 0 && i < 3; ++i )
		{
			double off = judging->displacement[3 * (size_t)v + i] - (double)truth[3 * (size_t)v + i];
			sum += map->vertexAreas[v] * off * off;
		}
	return sum / map->softArea;
}

static void Report( Judging *judging, lmbTrainReport *report )
{
	const lmbTrainData *data = judging->setup->data;
	size_t width = (size_t)judging->network->coefficientCount;
	double unseen = 0.0, skinning = 0.0, truncation = 0.0, trained = 0.0;
	int first = data->trainCount + data->stopCount, judged = 0;
	for ( int i = first; i < data->ownCount; ++i )
	{
		unseen += SampleError( judging, i, judging->coefficients + (size_t)i * width );
		skinning += SampleError( judging, i, NULL );
		Project( judging, data->displacement + 3 * (size_t)i * (size_t)data->vertexCount, judging->truth );
		truncation += SampleError( judging, i, judging->truth );
	}
	int stride = ( data->trainCount + judgedTrain - 1 ) / judgedTrain;
	for ( int i = 0; i < data->trainCount; i += stride, ++judged )
		trained += SampleError( judging, i, judging->coefficients + (size_t)i * width );
	report->unseenRms = sqrt( unseen / data->reportCount );
	report->unseenSkinningRms = sqrt( skinning / data->reportCount );
	report->truncationRms = sqrt( truncation / data->reportCount );
	report->trainedRms = sqrt( trained / judged );
	report->poseCount = data->ownCount;
	report->heldOutCount = data->stopCount + data->reportCount;
	report->mirroredCount = data->sampleCount - data->ownCount;
}

lmbStatus lmbTrain_Judge( const lmbTrainSetup *setup, const lmbTissue *tissue, lmbNetwork *network,
                          lmbTrainReport *report, lmbError *error )
{
	lmbArena scratch = { 0 };
	Judging judging = { .setup = setup, .network = network };
	judging.coefficients =
	    LMB_NEW( &scratch, double, (size_t)setup->data->ownCount *(size_t)network->coefficientCount );
	judging.displacement = LMB_NEW( &scratch, double, 3 * (size_t)network->vertexCount );
	judging.truth = LMB_NEW( &scratch, double, network->coefficientCount );
	lmbStatus status = lmb_statusOk;
	if ( judging.coefficients == NULL || judging.displacement == NULL || judging.truth == NULL )
		status = lmbError_Memory( error );
	if ( status == lmb_statusOk )
		status = lmbJob_ForEach( setup->job, setup->data->ownCount, Predict, &judging, error );
	if ( status == lmb_statusOk )
		status = lmbTrainLattice( tissue, setup->data, judging.coefficients, setup->job, network, error );
	if ( status == lmb_statusOk )
		Report( &judging, report );
	lmbArena_Free( &scratch );
	return status;
}
