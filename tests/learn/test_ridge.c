#include "learn/ridge.h"

#include "base/arena.h"
#include "base/random.h"
#include "check.h"

#include <lapacke.h>

enum
{
	n = 80,
	F = 6,
	O = 2
};

typedef struct Data
{
	double features[n * F], targets[n * O], weights[n];
	int32_t folds[n];
} Data;

static void MakeData( Data *data, double noise, uint64_t seed )
{
	lmbRandom random = lmbRandom_Seed( seed, 0 );
	for ( int i = 0; i < n; ++i )
	{
		for ( int f = 0; f < F; ++f )
			data->features[i * F + f] = 3.0 + ( 1.0 + f ) * lmbRandom_Normal( &random );
		for ( int o = 0; o < O; ++o )
		{
			double y = 5.0 - o;
			for ( int f = 0; f < F; ++f )
				y += ( f - 2.0 * o ) * data->features[i * F + f];
			data->targets[i * O + o] = y + noise * lmbRandom_Normal( &random );
		}
		data->weights[i] = 0.5 + lmbRandom_Uniform( &random );
		data->folds[i] = i % 5;
	}
}

/* The normal equations with the bias as one more feature that carries no penalty, by LAPACK. */
static void NormalEquations( const Data *data, double lambda, double *solution )
{
	double matrix[( F + 1 ) * ( F + 1 )] = { 0 }, right[( F + 1 ) * O] = { 0 }, total = 0.0;
	for ( int i = 0; i < n; ++i )
		total += data->weights[i];
	for ( int i = 0; i < n; ++i )
	{
		double row[F + 1], w = data->weights[i] / total;
		memcpy( row, data->features + i * F, F * sizeof( double ) );
		row[F] = 1.0;
		for ( int a = 0; a <= F; ++a )
		{
			for ( int b = 0; b <= F; ++b )
				matrix[a * ( F + 1 ) + b] += w * row[a] * row[b];
			for ( int o = 0; o < O; ++o )
				right[a * O + o] += w * row[a] * data->targets[i * O + o];
		}
	}
	for ( int a = 0; a < F; ++a )
		matrix[a * ( F + 1 ) + a] += lambda;
	CHECK_INT( LAPACKE_dposv( LAPACK_ROW_MAJOR, 'U', F + 1, O, matrix, F + 1, right, O ), 0 );
	for ( int o = 0; o < O; ++o )
		for ( int a = 0; a <= F; ++a )
			solution[o * ( F + 1 ) + a] = right[a * O + o];
}

static double CovarianceTrace( const Data *data )
{
	double trace = 0.0;
	for ( int f = 0; f < F; ++f )
	{
		double total = 0.0, mean = 0.0, square = 0.0;
		for ( int i = 0; i < n; ++i )
		{
			total += data->weights[i];
			mean += data->weights[i] * data->features[i * F + f];
			square += data->weights[i] * data->features[i * F + f] * data->features[i * F + f];
		}
		trace += square / total - mean / total * mean / total;
	}
	return trace;
}

static void AgainstNormalEquations( void **state )
{
	(void)state;
	checkSeed = 21;
	Data data;
	MakeData( &data, 1.0, checkSeed );
	for ( double ridge = 1e-8; ridge < 20.0; ridge *= 10.0 )
	{
		lmbRidgeDef def = { n, F, O, data.features, data.targets, data.weights, ridge, NULL, 0 };
		double solution[O * ( F + 1 )], expected[O * ( F + 1 )];
		CHECK_INT( lmbRidge_Fit( &def, solution, NULL, NULL ), lmb_statusOk );
		NormalEquations( &data, ridge * CovarianceTrace( &data ) / F, expected );
		for ( int k = 0; k < O * ( F + 1 ); ++k )
			CHECK_NEAR( solution[k], expected[k], 1e-10 ); /* condition number about 1e3, entries up to 10 */
		double outputs[n * O], off = 0.0;
		lmbRidge_Evaluate( n, F, O, data.features, solution, outputs );
		for ( int i = 0; i < n; ++i )
			for ( int o = 0; o < O; ++o )
			{
				double y = solution[o * ( F + 1 ) + F];
				for ( int f = 0; f < F; ++f )
					y += solution[o * ( F + 1 ) + f] * data.features[i * F + f];
				off = fmax( off, fabs( y - outputs[i * O + o] ) );
			}
		CHECK_NEAR( off, 0.0, 1e-12 );
	}
}

/* The chosen ridge has the least cross-validated error, found here by solving every fold anew. */
static void ChoiceByBruteForce( void **state )
{
	(void)state;
	checkSeed = 22;
	static Data data;
	MakeData( &data, 40.0, checkSeed );
	lmbRidgeDef def = { n, F, O, data.features, data.targets, data.weights, 0.0, data.folds, 5 };
	double solution[O * ( F + 1 )], chosen[O];
	CHECK_INT( lmbRidge_Fit( &def, solution, chosen, NULL ), lmb_statusOk );
	double best[O] = { INFINITY, INFINITY }, bestRidge[O] = { 0 };
	for ( int g = 0; g < lmbRidgeGridCount; ++g )
	{
		double errors[O] = { 0 };
		for ( int fold = 0; fold < 5; ++fold )
		{
			double weights[n], part[O * ( F + 1 )];
			for ( int i = 0; i < n; ++i )
				weights[i] = data.folds[i] == fold ? 0.0 : data.weights[i];
			lmbRidgeDef one = { n, F, O, data.features, data.targets, weights, lmbRidgeGrid( g ), NULL, 0 };
			CHECK_INT( lmbRidge_Fit( &one, part, NULL, NULL ), lmb_statusOk );
			double outputs[n * O];
			lmbRidge_Evaluate( n, F, O, data.features, part, outputs );
			for ( int i = 0; i < n * O; ++i )
				if ( data.folds[i / O] == fold )
					errors[i % O] += data.weights[i / O] * pow( outputs[i] - data.targets[i], 2.0 );
		}
		for ( int o = 0; o < O; ++o )
			if ( errors[o] < best[o] )
			{
				best[o] = errors[o];
				bestRidge[o] = lmbRidgeGrid( g );
			}
	}
	for ( int o = 0; o < O; ++o )
		CHECK_NEAR( chosen[o], bestRidge[o], 1e-12 * bestRidge[o] );
	CHECK( bestRidge[0] > 1e-6 ); /* so much noise asks for a ridge: the choice is not the grid's edge */
}

static void BadDataRefused( void **state )
{
	(void)state;
	static Data data;
	MakeData( &data, 1.0, 1 );
	double solution[O * ( F + 1 )];
	lmbError error = { 0 };
	lmbRidgeDef def = { n, F, O, data.features, data.targets, data.weights, 0.0, NULL, 0 };
	CHECK_INT( lmbRidge_Fit( &def, solution, NULL, &error ), lmb_statusInvalidArgument );
	def.ridge = 1e-3;
	memset( data.weights, 0, sizeof( data.weights ) );
	CHECK_INT( lmbRidge_Fit( &def, solution, NULL, &error ), lmb_statusInvalidArgument );
	def.sampleWeights = NULL;
	data.features[5] = NAN;
	CHECK_INT( lmbRidge_Fit( &def, solution, NULL, &error ), lmb_statusNumerical );
	/* Features that never change are no failure: the mean is the answer. */
	for ( int i = 0; i < n * F; ++i )
		data.features[i] = 2.0;
	CHECK_INT( lmbRidge_Fit( &def, solution, NULL, &error ), lmb_statusOk );
	double mean = 0.0, outputs[n * O];
	for ( int i = 0; i < n; ++i )
		mean += data.targets[i * O] / n;
	lmbRidge_Evaluate( n, F, O, data.features, solution, outputs );
	CHECK_NEAR( outputs[0], mean, 1e-10 );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( AgainstNormalEquations ),
	    CHECK_TEST( ChoiceByBruteForce ),
	    CHECK_TEST( BadDataRefused ),
	};
	return CHECK_RUN( tests );
}
