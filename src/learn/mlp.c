#include "learn/mlp.h"

#include <cblas.h>
#include <stdbool.h>
#include <string.h>

lmbStatus lmbMlp_Make( lmbMlp *mlp, const int *sizes, int layerCount, lmbError *error )
{
	memset( mlp, 0, sizeof( *mlp ) );
	if ( layerCount < 1 || layerCount > lmbMlpMaxLayers )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "a perceptron of %d dense layers; it may have 1 to %d", layerCount,
		                     lmbMlpMaxLayers );
	for ( int i = 0; i <= layerCount; ++i )
		if ( sizes[i] < 1 || sizes[i] > lmbMlpMaxWidth )
			return lmbError_Set( error, lmb_statusInvalidArgument,
			                     "a perceptron layer of width %d; it may be 1 to %d", sizes[i],
			                     lmbMlpMaxWidth );
	mlp->layerCount = layerCount;
	mlp->sizes[0] = sizes[0];
	for ( int i = 0; i < layerCount; ++i )
	{
		size_t in = (size_t)sizes[i], out = (size_t)sizes[i + 1];
		mlp->sizes[i + 1] = sizes[i + 1];
		mlp->weights[i] = mlp->parameterCount;
		mlp->biases[i] = mlp->parameterCount + in * out;
		mlp->parameterCount += in * out + out;
	}
	return lmb_statusOk;
}

void lmbMlp_Init( const lmbMlp *mlp, double outputScale, lmbRandom *random, double *parameters )
{
	memset( parameters, 0, mlp->parameterCount * sizeof( double ) );
	for ( int i = 0; i < mlp->layerCount; ++i )
	{
		double bound = sqrt( 6.0 / ( mlp->sizes[i] + mlp->sizes[i + 1] ) );
		if ( i == mlp->layerCount - 1 )
			bound *= outputScale;
		for ( size_t k = mlp->weights[i]; k < mlp->biases[i]; ++k )
			parameters[k] = bound * ( 2.0 * lmbRandom_Uniform( random ) - 1.0 );
	}
}

lmbStatus lmbMlpPass_Make( lmbMlpPass *pass, const lmbMlp *mlp, int capacity, lmbArena *arena,
                           lmbError *error )
{
	memset( pass, 0, sizeof( *pass ) );
	pass->mlp = mlp;
	pass->capacity = capacity;
	int widest = 0;
	for ( int i = 0; i <= mlp->layerCount; ++i )
		widest = mlp->sizes[i] > widest ? mlp->sizes[i] : widest;
	bool complete = true;
	for ( int i = 1; i <= mlp->layerCount; ++i )
	{
		pass->activations[i] = LMB_NEW( arena, double, (size_t)capacity *(size_t)mlp->sizes[i] );
		complete = complete && pass->activations[i] != NULL;
	}
	for ( int i = 0; i < 2; ++i )
	{
		pass->deltas[i] = LMB_NEW( arena, double, (size_t)capacity *(size_t)widest );
		complete = complete && pass->deltas[i] != NULL;
	}
	return complete ? lmb_statusOk : lmbError_Memory( error );
}

const double *lmbMlp_Forward( lmbMlpPass *pass, const double *parameters, const double *inputs, int count )
{
	const lmbMlp *mlp = pass->mlp;
	pass->count = count;
	for ( int l = 0; l < mlp->layerCount; ++l )
	{
		int in = mlp->sizes[l], out = mlp->sizes[l + 1];
		const double *source = l == 0 ? inputs : pass->activations[l];
		double *target = pass->activations[l + 1];
		for ( int i = 0; i < count; ++i )
			memcpy( target + (size_t)i * out, parameters + mlp->biases[l], (size_t)out * sizeof( double ) );
		cblas_dgemm( CblasRowMajor, CblasNoTrans, CblasTrans, count, out, in, 1.0, source, in,
		             parameters + mlp->weights[l], in, 1.0, target, out );
		if ( l < mlp->layerCount - 1 )
			lmbTanh_Array( target, (size_t)count * (size_t)out );
	}
	return pass->activations[mlp->layerCount];
}

void lmbMlp_Backward( lmbMlpPass *pass, const double *parameters, const double *inputs,
                      const double *outputGradient, double *gradient, double *inputGradient )
{
	const lmbMlp *mlp = pass->mlp;
	int count = pass->count;
	const double *delta = outputGradient;
	for ( int l = mlp->layerCount - 1; l >= 0; --l )
	{
		int in = mlp->sizes[l], out = mlp->sizes[l + 1];
		const double *source = l == 0 ? inputs : pass->activations[l];
		cblas_dgemm( CblasRowMajor, CblasTrans, CblasNoTrans, out, in, count, 1.0, delta, out, source, in,
		             1.0, gradient + mlp->weights[l], in );
		double *bias = gradient + mlp->biases[l];
		for ( int i = 0; i < count; ++i )
			for ( int k = 0; k < out; ++k )
				bias[k] += delta[(size_t)i * out + k];
		double *next = l == 0 ? inputGradient : pass->deltas[l & 1];
		if ( next == NULL )
			return;
		cblas_dgemm( CblasRowMajor, CblasNoTrans, CblasNoTrans, count, in, out, 1.0, delta, out,
		             parameters + mlp->weights[l], in, 0.0, next, in );
		for ( size_t k = 0; l > 0 && k < (size_t)count * (size_t)in; ++k )
			next[k] *= 1.0 - source[k] * source[k];
		delta = next;
	}
}

double lmbMlp_Decay( const lmbMlp *mlp, double decay, const double *parameters, double *gradient )
{
	double sum = 0.0;
	for ( int l = 0; l < mlp->layerCount; ++l )
		for ( size_t k = mlp->weights[l]; k < mlp->biases[l]; ++k )
		{
			sum += parameters[k] * parameters[k];
			if ( gradient != NULL )
				gradient[k] += decay * parameters[k];
		}
	return 0.5 * decay * sum;
}

double lmbSquaresLoss_Evaluate( const lmbSquaresLoss *loss, double *gradient )
{
	double total = 0.0, sum = 0.0;
	for ( int i = 0; i < loss->count; ++i )
		total += loss->sampleWeights == NULL ? 1.0 : loss->sampleWeights[i];
	for ( int i = 0; i < loss->count; ++i )
	{
		double sample = ( loss->sampleWeights == NULL ? 1.0 : loss->sampleWeights[i] ) / total;
		for ( int k = 0; k < loss->width; ++k )
		{
			size_t at = (size_t)i * loss->width + k;
			double weight = sample * ( loss->outputWeights == NULL ? 1.0 : loss->outputWeights[k] );
			double off = loss->outputs[at] - loss->targets[at];
			sum += weight * off * off;
			if ( gradient != NULL )
				gradient[at] = 2.0 * weight * off;
		}
	}
	return sum;
}
