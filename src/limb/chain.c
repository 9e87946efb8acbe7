#include "limb/chain.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

enum
{
	unknownsMost = 512
};

const double lmbChainBelieved = 0.02;

static double Derivative( const lmbChain *chain, int f, int dof )
{
	return chain->slopes[f] * chain->equations->features.angles[f * chain->n + dof];
}

/* Adds value to the entry of torque i. */
static void Put( const lmbChain *chain, int i, int unknown, double value )
{
	chain->row[i * chain->unknownCount + unknown] += value;
}

/* What a symmetric matrix with ones at (j, k) and (k, j) makes of a vector, into an unknown's column. */
static void PutPair( const lmbChain *chain, int unknown, int j, int k, double scale, const double *vector )
{
	Put( chain, j, unknown, scale * vector[k] );
	if ( j != k )
		Put( chain, k, unknown, scale * vector[j] );
}

static void PutMass( const lmbChain *chain, int j, int k, int first, const double *v, const double *a )
{
	const lmbFeatures *features = &chain->equations->features;
	double energy = j == k ? 0.5 * v[j] * v[j] : v[j] * v[k];
	PutPair( chain, first, j, k, 1.0, a );
	for ( int f = 0, u = first + 1; f < features->count; ++f )
	{
		if ( !( features->seenBy[f] & lmbSeenByMass ) )
			continue;
		double rate = 0.0;
		for ( int i = 0; i < chain->n; ++i )
		{
			rate += Derivative( chain, f, i ) * v[i];
			Put( chain, i, u, -Derivative( chain, f, i ) * energy );
		}
		PutPair( chain, u, j, k, chain->values[f], a );
		PutPair( chain, u, j, k, rate, v );
		u += 1;
	}
}

/* The rows of one state: torques by the unknowns. */
static void FillRows( lmbChain *chain, const double *q, const double *v, const double *a )
{
	const lmbFeatures *features = &chain->equations->features;
	lmbFeatures_Evaluate( features, q, chain->values, chain->slopes, chain->curvatures );
	memset( chain->row, 0, (size_t)chain->n * (size_t)chain->unknownCount * sizeof( double ) );
	for ( int j = 0, pair = 0; j < chain->n; ++j )
		for ( int k = 0; k <= j; ++k, ++pair )
		{
			PutMass( chain, j, k, pair * ( 1 + chain->massCount ), v, a );
			if ( chain->dampingAt >= 0 )
				PutPair( chain, chain->dampingAt + pair, j, k, 1.0, v );
		}
	for ( int f = 0, u = chain->potentialAt; f < features->count && chain->potentialAt >= 0; ++f )
	{
		if ( !( features->seenBy[f] & lmbSeenByPotential ) )
			continue;
		for ( int i = 0; i < chain->n; ++i )
			Put( chain, i, u, Derivative( chain, f, i ) );
		u += 1;
	}
}

/* Generalised torques of the inputs; inputs that go through a network are not known. */
static void Torques( const lmbChain *chain, const double *inputs, double *torques )
{
	int n = chain->n, m = chain->equations->inputCount;
	for ( int i = 0; i < n; ++i )
	{
		torques[i] = chain->equations->identityDrive ? inputs[i] : 0.0;
		for ( int j = 0; j < m && !chain->equations->identityDrive; ++j )
			torques[i] += chain->equations->driveMatrix[i * m + j] * inputs[j];
	}
}

/* What the rows must give in a sample: generalised torques, which are known; of a free limb, what its first
 * inertia takes, which is no unknown then. */
static void Target( lmbChain *chain, const lmbSamples *samples, size_t s, double *torques )
{
	size_t n = (size_t)chain->n;
	FillRows( chain, samples->positions + n * s, samples->velocities + n * s,
	          samples->accelerations + n * s );
	Torques( chain, samples->inputs + (size_t)chain->equations->inputCount * s, torques );
	for ( size_t i = 0; i < n && chain->free; ++i )
	{
		double *first = &chain->row[i * (size_t)chain->unknownCount];
		torques[i] -= *first;
		*first = 0.0;
	}
}

static double RowDot( const lmbChain *chain, int i )
{
	const double *row = chain->row + (size_t)i * (size_t)chain->unknownCount;
	double sum = 0.0;
	for ( int u = 0; u < chain->unknownCount; ++u )
		sum += row[u] * chain->unknowns[u];
	return sum;
}

static void AddSample( lmbChain *chain, int s, const double *weight, double *normal )
{
	const lmbSamples *samples = &chain->training->trainSamples;
	size_t n = (size_t)chain->n, count = (size_t)chain->unknownCount;
	double torques[lmbLimbMaxDofs] = { 0 };
	Target( chain, samples, (size_t)s, torques );
	for ( size_t i = 0; i < n; ++i )
	{
		const double *row = chain->row + i * count;
		for ( size_t a = 0; a < count; ++a )
		{
			double scaled = weight[i] * row[a];
			chain->unknowns[a] += scaled * torques[i];
			for ( size_t b = 0; b <= a && scaled != 0.0; ++b )
				normal[a * count + b] += scaled * row[b];
		}
	}
}

/* What the chain leaves of the torques (count x n), and the torques' squares added up by joint; of a free
 * limb they are those of the first, where alone something is known. */
static void Residuals( lmbChain *chain, const lmbSamples *samples, double *out, double *squares )
{
	size_t n = (size_t)chain->n;
	memset( squares, 0, n * sizeof( double ) );
	for ( size_t s = 0; s < (size_t)samples->count; ++s )
	{
		double torques[lmbLimbMaxDofs] = { 0 };
		Target( chain, samples, s, torques );
		for ( int i = 0; i < chain->n; ++i )
		{
			double known = torques[chain->free ? 0 : i];
			out[n * s + (size_t)i] = torques[i] - RowDot( chain, i );
			squares[i] += known * known;
		}
	}
}

/* How far the chain is off, as a share of the torques: of all that it leaves, or, when that is much, of what
 * in it follows from the state. */
static lmbStatus Judge( lmbChain *chain, double *share, lmbError *error )
{
	const lmbTraining *training = chain->training;
	size_t n = (size_t)chain->n;
	int count = training->stopSamples.count;
	double *train = LMB_NEW( &chain->arena, double, (size_t)training->trainSamples.count *n );
	double *stop = LMB_NEW( &chain->arena, double, (size_t)count *n );
	double squares[lmbLimbMaxDofs] = { 0 }, explained[lmbLimbMaxDofs] = { 0 }, left = 0.0;
	if ( train == NULL || stop == NULL )
		return lmbError_Memory( error );
	Residuals( chain, &training->stopSamples, stop, squares );
	for ( size_t k = 0; k < (size_t)count * n; ++k )
		left += squares[k % n] > 0.0 ? stop[k] * stop[k] / squares[k % n] / chain->n : 0.0;
	*share = sqrt( left );
	if ( *share < lmbChainBelieved )
		return lmb_statusOk;
	double unused[lmbLimbMaxDofs] = { 0 };
	Residuals( chain, &training->trainSamples, train, unused );
	LMB_TRY( lmbTrain_LackOfFit( training, chain->equations, train, stop, explained, error ) );
	left = 0.0;
	for ( int i = 0; i < chain->n; ++i )
		left += squares[i] > 0.0 ? explained[i] * count / squares[i] / chain->n : 0.0;
	*share = sqrt( left );
	return lmb_statusOk;
}

/* Every so manieth sample of the least squares: all, as long as that is a matter of seconds. */
static int StudyStride( const lmbChain *chain )
{
	const double work = 2e9;
	double each = chain->n * (double)chain->unknownCount * chain->unknownCount;
	return (int)( chain->training->trainSamples.count * each / work ) + 1;
}

/* Least squares; share as Judge, HUGE_VAL when there is no solution. */
static lmbStatus Identify( lmbChain *chain, double *share, lmbError *error )
{
	const lmbSamples *samples = &chain->training->trainSamples;
	size_t count = (size_t)chain->unknownCount;
	double *normal = LMB_NEW( &chain->arena, double, count *count ), weight[lmbLimbMaxDofs] = { 0 };
	*share = HUGE_VAL;
	if ( normal == NULL )
		return lmbError_Memory( error );
	int stride = StudyStride( chain );
	for ( int s = 0; s < samples->count; s += stride )
	{
		double torques[lmbLimbMaxDofs] = { 0 };
		Target( chain, samples, (size_t)s, torques );
		for ( int i = 0; i < chain->n; ++i )
			weight[i] += torques[chain->free ? 0 : i] * torques[chain->free ? 0 : i];
	}
	for ( int i = 0; i < chain->n; ++i )
		weight[i] = weight[i] > 0.0 ? 1.0 / weight[i] : 0.0;
	for ( int s = 0; s < samples->count; s += stride )
		AddSample( chain, s, weight, normal );
	for ( size_t a = 0; a < count; ++a )
		normal[a * count + a] += 1e-10 * normal[a * count + a] + 1e-30;
	int size = (int)count;
	if ( LAPACKE_dposv( LAPACK_ROW_MAJOR, 'L', size, 1, normal, size, chain->unknowns, 1 ) != 0 )
		return lmb_statusOk;
	if ( chain->free )
		chain->unknowns[0] = 1.0;
	return Judge( chain, share, error );
}

int lmbChain_MassFeatures( lmbChain *chain, const double *q, double *out )
{
	const lmbFeatures *features = &chain->equations->features;
	int count = 0;
	lmbFeatures_Evaluate( features, q, chain->values, chain->slopes, chain->curvatures );
	for ( int f = 0; f < features->count; ++f )
		if ( features->seenBy[f] & lmbSeenByMass )
			out[count++] = chain->values[f];
	return count;
}

void lmbChain_Mass( const lmbChain *chain, const double *features, double *triangle )
{
	for ( int pair = 0; pair < chain->pairCount; ++pair )
	{
		const double *own = chain->unknowns + pair * ( 1 + chain->massCount );
		triangle[pair] = own[0];
		for ( int f = 0; f < chain->massCount; ++f )
			triangle[pair] += own[1 + f] * features[f];
	}
}

bool lmbChain_Acceleration( lmbChain *chain, const double *q, const double *v, const double *inputs,
                            double *a )
{
	const double none[lmbLimbMaxDofs] = { 0 };
	double mass[lmbLimbMaxDofs * lmbLimbMaxDofs] = { 0 }, triangle[lmbLimbMaxDofs * lmbLimbMaxDofs] = { 0 };
	double features[lmbFeaturesMax] = { 0 };
	int n = chain->n;
	lmbChain_MassFeatures( chain, q, features );
	lmbChain_Mass( chain, features, triangle );
	for ( int j = 0, pair = 0; j < n; ++j )
		for ( int k = 0; k <= j; ++k )
			mass[j * n + k] = mass[k * n + j] = triangle[pair++];
	FillRows( chain, q, v, none );
	Torques( chain, inputs, a );
	for ( int i = 0; i < n; ++i )
		a[i] -= RowDot( chain, i );
	return LAPACKE_dposv( LAPACK_ROW_MAJOR, 'L', n, 1, mass, n, a, 1 ) == 0;
}

/* Lays the unknowns out; false when this cannot be a chain. The arena must be freed. */
static bool Begin( lmbChain *chain, const lmbTraining *training, const lmbEquations *equations )
{
	const lmbFeatures *features = &equations->features;
	int potentialCount = 0;
	*chain = ( lmbChain ){ .training = training,
	                       .equations = equations,
	                       .n = equations->dofCount,
	                       .free = equations->inputCount == 0 };
	if ( !training->def->chainPrior || equations->kind != lmb_limbLagrangian ||
	     equations->parts[lmb_partDrive].used ||
	     ( !chain->free && !equations->identityDrive && equations->driveMatrix == NULL ) )
		return false;
	for ( int f = 0; f < features->count; ++f )
	{
		chain->massCount += features->seenBy[f] & lmbSeenByMass ? 1 : 0;
		potentialCount += features->seenBy[f] & lmbSeenByPotential ? 1 : 0;
	}
	chain->pairCount = chain->n * ( chain->n + 1 ) / 2;
	chain->unknownCount = chain->pairCount * ( 1 + chain->massCount );
	chain->dampingAt = equations->constantDamping ? chain->unknownCount : -1;
	chain->unknownCount += equations->constantDamping ? chain->pairCount : 0;
	chain->potentialAt = equations->parts[lmb_partPotential].used ? chain->unknownCount : -1;
	chain->unknownCount += equations->parts[lmb_partPotential].used ? potentialCount : 0;
	return chain->massCount > 0 && chain->unknownCount <= unknownsMost;
}

static lmbStatus Study( lmbChain *chain, double *share, lmbError *error )
{
	chain->unknowns = LMB_NEW( &chain->arena, double, chain->unknownCount );
	chain->row = LMB_NEW( &chain->arena, double, (size_t)chain->n *(size_t)chain->unknownCount );
	return chain->unknowns == NULL || chain->row == NULL ? lmbError_Memory( error )
	                                                     : Identify( chain, share, error );
}

lmbStatus lmbChain_Open( lmbChain *chain, const lmbTraining *training, const lmbEquations *equations,
                         double *share, lmbError *error )
{
	*share = HUGE_VAL;
	return Begin( chain, training, equations ) ? Study( chain, share, error ) : lmb_statusOk;
}
