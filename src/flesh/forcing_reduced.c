/* The forcing of the modes from bones and network coefficients alone; docs/derivations/fit.md. */
#include "flesh/forcing.h"

#include "base/math3.h"
#include "runtime/target.h"

#include <stdlib.h>

/* Pairs of bones that share less than this of all moving mass drive no mode noticeably. */
static const double leastShare = 1e-5;

/* slot[boneCount j + k] = index of pair (j, k), or -1. */
static lmbStatus FindPairs( const lmbTissue *tissue, lmbSprings *springs, int32_t *slot, lmbError *error )
{
	size_t bones = (size_t)tissue->boneCount, influences = (size_t)tissue->influenceCount;
	double *shared = calloc( bones * bones, sizeof( double ) ), total = 0.0;
	if ( shared == NULL )
		return lmbError_Memory( error );
	for ( size_t i = 0; i < (size_t)tissue->nodeCount; ++i )
	{
		if ( tissue->held[i] )
			continue;
		total += tissue->mass[i];
		const int32_t *b = tissue->nodeBones + i * influences;
		const double *w = tissue->nodeWeights + i * influences;
		for ( size_t j = 0; j < influences; ++j )
			for ( size_t k = 0; k < influences; ++k )
				shared[bones * (size_t)b[j] + (size_t)b[k]] += tissue->mass[i] * w[j] * w[k];
	}
	int count = 0;
	for ( size_t p = 0; p < bones * bones; ++p )
		slot[p] = shared[p] > leastShare * total ? count++ : -1;
	free( shared );
	springs->pairCount = count;
	springs->pairs = LMB_NEW( &springs->arena, int32_t, 2 * (size_t)count );
	if ( springs->pairs == NULL )
		return lmbError_Memory( error );
	for ( size_t p = 0; p < bones * bones; ++p )
		if ( slot[p] >= 0 )
		{
			springs->pairs[2 * slot[p]] = (int32_t)( p / bones );
			springs->pairs[2 * slot[p] + 1] = (int32_t)( p % bones );
		}
	return lmb_statusOk;
}

/* boneForcing[m][pair (j, k)] += mass w_j w_k phi (x) (X, 1). */
static void AddNode( const lmbTissue *tissue, const lmbModes *modes, size_t node, const int32_t *slot,
                     lmbSprings *springs )
{
	size_t influences = (size_t)tissue->influenceCount, bones = (size_t)tissue->boneCount;
	const int32_t *b = tissue->nodeBones + node * influences;
	const double *w = tissue->nodeWeights + node * influences;
	const double *place = tissue->nodes + 3 * node;
	for ( size_t j = 0; j < influences; ++j )
		for ( size_t k = 0; k < influences; ++k )
		{
			int32_t pair = slot[bones * (size_t)b[j] + (size_t)b[k]];
			double share = tissue->mass[node] * w[j] * w[k];
			for ( size_t m = 0; m < (size_t)modes->count && pair >= 0 && share != 0.0; ++m )
			{
				const double *phi = modes->shapes + 3 * ( (size_t)modes->nodeCount * m + node );
				double *out = springs->boneForcing + 12 * ( (size_t)springs->pairCount * m + (size_t)pair );
				for ( int r = 0; r < 3; ++r )
					for ( int c = 0; c < 4; ++c )
						out[4 * r + c] += share * phi[r] * ( c < 3 ? place[c] : 1.0 );
			}
		}
}

static void ProjectLattice( const lmbTissue *tissue, const lmbModes *modes, const lmbNetwork *network,
                            double *out )
{
	size_t nodes = (size_t)tissue->nodeCount, coefficients = (size_t)network->coefficientCount;
	for ( size_t m = 0; m < (size_t)modes->count; ++m )
		for ( size_t c = 0; c < coefficients; ++c )
		{
			double sum = 0.0;
			for ( size_t i = 0; i < nodes; ++i )
			{
				const double *phi = modes->shapes + 3 * ( nodes * m + i );
				const float *basis = network->lattice + 3 * ( nodes * c + i );
				sum += tissue->mass[i] *
				       ( phi[0] * (double)basis[0] + phi[1] * (double)basis[1] + phi[2] * (double)basis[2] );
			}
			out[coefficients * m + c] = sum;
		}
}

lmbStatus lmbForcing_Reduce( const lmbTissue *tissue, const lmbModes *modes, const lmbNetwork *network,
                             lmbSprings *springs, lmbError *error )
{
	size_t bones = (size_t)tissue->boneCount, count = (size_t)modes->count;
	int32_t *slot = calloc( bones * bones, sizeof( int32_t ) );
	if ( slot == NULL )
		return lmbError_Memory( error );
	lmbStatus status = FindPairs( tissue, springs, slot, error );
	if ( status == lmb_statusOk )
	{
		springs->boneForcing = LMB_NEW( &springs->arena, double, 12 * count * (size_t)springs->pairCount );
		status = springs->boneForcing == NULL ? lmbError_Memory( error ) : lmb_statusOk;
	}
	for ( size_t i = 0; status == lmb_statusOk && i < (size_t)tissue->nodeCount; ++i )
		if ( !tissue->held[i] )
			AddNode( tissue, modes, i, slot, springs );
	free( slot );
	LMB_TRY( status );
	if ( network == NULL || network->lattice == NULL )
		return lmb_statusOk;
	springs->coefficientCount = network->coefficientCount;
	springs->coefficientForcing =
	    LMB_NEW( &springs->arena, double, count *(size_t)network->coefficientCount );
	if ( springs->coefficientForcing == NULL )
		return lmbError_Memory( error );
	ProjectLattice( tissue, modes, network, springs->coefficientForcing );
	return lmb_statusOk;
}

/* sum_i row_i (x(n - i) - x(n)). */
static double Operate( const double *row, const double *now, size_t stride, int n )
{
	double sum = 0.0;
	for ( int i = 1; i < lmbTargetFrames && i <= n; ++i )
		sum += row[i] * ( now[-(ptrdiff_t)( stride * (size_t)i )] - now[0] );
	return sum;
}

/* out[m] = sum_p boneForcing[m][p] : (R_k^T A_j''), R of frame `turned`. */
static void BonePart( const lmbSprings *springs, const lmbFrames *frames, const double *row, int n,
                      int turned, double *out )
{
	size_t bones = (size_t)springs->boneCount, pairs = (size_t)springs->pairCount;
	for ( int m = 0; m < springs->modeCount; ++m )
		out[m] = 0.0;
	for ( size_t p = 0; p < pairs; ++p )
	{
		size_t j = (size_t)springs->pairs[2 * p], k = (size_t)springs->pairs[2 * p + 1];
		double acceleration[12], seen[12], rotation[9];
		for ( size_t e = 0; e < 12; ++e )
			acceleration[e] =
			    Operate( row, frames->bones + 12 * ( bones * (size_t)n + j ) + e, 12 * bones, n );
		lmbQuat_ToMat33( rotation, frames->quaternions + 4 * ( bones * (size_t)turned + k ) );
		for ( int r = 0; r < 3; ++r )
			for ( int c = 0; c < 4; ++c )
				seen[4 * r + c] = rotation[r] * acceleration[c] + rotation[3 + r] * acceleration[4 + c] +
				                  rotation[6 + r] * acceleration[8 + c];
		for ( size_t m = 0; m < (size_t)springs->modeCount; ++m )
			for ( int e = 0; e < 12; ++e )
				out[m] += springs->boneForcing[12 * ( pairs * m + p ) + (size_t)e] * seen[e];
	}
}

void lmbForcing_Reduced( const lmbSprings *springs, lmbTargetInterpolation interpolation,
                         const lmbFrames *frames, const double *coefficients, lmbModalRows *rows )
{
	size_t modes = (size_t)springs->modeCount, width = (size_t)springs->coefficientCount;
	double steps[3] = { 1.0 / frames->rate, 1.0 / frames->rate, 1.0 / frames->rate };
	for ( int n = 0; n < frames->frameCount; ++n )
	{
		lmbTargetWeights target;
		lmbTarget_Weights( interpolation, steps, n + 1, &target );
		for ( int side = 0; side < 2; ++side )
		{
			const double *row = side == 0 ? target.start : target.end;
			double *out = ( side == 0 ? rows->start : rows->end ) + modes * (size_t)n;
			BonePart( springs, frames, row, n, side == 0 && n > 0 ? n - 1 : n, out );
			for ( size_t c = 0; c < width && coefficients != NULL; ++c )
			{
				double z = Operate( row, coefficients + width * (size_t)n + c, width, n );
				for ( size_t m = 0; m < modes; ++m )
					out[m] += springs->coefficientForcing[width * m + c] * z;
			}
		}
	}
}
