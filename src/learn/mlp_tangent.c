#include "learn/mlp.h"

#include <assert.h>
#include <cblas.h>
#include <string.h>

/* With h = tanh z and a direction's z' : h' = (1 - h^2) z'. Rows of one matrix hold the values of all samples
 * and then each direction's derivatives, so that every layer stays one product. */
static void BendTangents( double *rows, size_t numbers, int tangentCount )
{
	lmbTanh_Array( rows, numbers );
	for ( int t = 1; t <= tangentCount; ++t )
	{
		double *tangent = rows + (size_t)t * numbers;
		for ( size_t k = 0; k < numbers; ++k )
			tangent[k] *= 1.0 - rows[k] * rows[k];
	}
}

/* From the gradient by h and h' to that by z and z', in place:
 *   by z' : (1 - h^2) times that by h';   by z : (1 - h^2) times that by h, minus 2 h sum h' (that by h'),
 * since d(1 - h^2)/dz z' = -2 h (1 - h^2) z' = -2 h h'. */
static void UnbendTangents( const double *rows, size_t numbers, int tangentCount, double *delta )
{
	for ( size_t k = 0; k < numbers; ++k )
		delta[k] *= 1.0 - rows[k] * rows[k];
	for ( int t = 1; t <= tangentCount; ++t )
	{
		const double *tangent = rows + (size_t)t * numbers;
		double *own = delta + (size_t)t * numbers;
		for ( size_t k = 0; k < numbers; ++k )
		{
			delta[k] -= 2.0 * rows[k] * tangent[k] * own[k];
			own[k] *= 1.0 - rows[k] * rows[k];
		}
	}
}

const double *lmbMlp_ForwardTangents( lmbMlpPass *pass, const double *parameters, const double *inputs,
                                      int count, int tangentCount )
{
	const lmbMlp *mlp = pass->mlp;
	int rows = count * ( 1 + tangentCount );
	assert( count >= 1 && tangentCount >= 0 && rows <= pass->capacity );
	pass->count = count;
	pass->tangentCount = tangentCount;
	for ( int l = 0; l < mlp->layerCount; ++l )
	{
		int in = mlp->sizes[l], out = mlp->sizes[l + 1];
		const double *source = l == 0 ? inputs : pass->activations[l];
		double *target = pass->activations[l + 1];
		for ( int i = 0; i < count; ++i )
			memcpy( target + (size_t)i * out, parameters + mlp->biases[l], (size_t)out * sizeof( double ) );
		memset( target + (size_t)count * out, 0, (size_t)( rows - count ) * (size_t)out * sizeof( double ) );
		cblas_dgemm( CblasRowMajor, CblasNoTrans, CblasTrans, rows, out, in, 1.0, source, in,
		             parameters + mlp->weights[l], in, 1.0, target, out );
		if ( l < mlp->layerCount - 1 )
			BendTangents( target, (size_t)count * (size_t)out, tangentCount );
	}
	return pass->activations[mlp->layerCount];
}

void lmbMlp_BackwardTangents( lmbMlpPass *pass, const double *parameters, const double *inputs,
                              const double *outputGradient, double *gradient, double *inputGradient )
{
	const lmbMlp *mlp = pass->mlp;
	int count = pass->count, rows = count * ( 1 + pass->tangentCount );
	const double *delta = outputGradient;
	for ( int l = mlp->layerCount - 1; l >= 0; --l )
	{
		int in = mlp->sizes[l], out = mlp->sizes[l + 1];
		const double *source = l == 0 ? inputs : pass->activations[l];
		cblas_dgemm( CblasRowMajor, CblasTrans, CblasNoTrans, out, in, rows, 1.0, delta, out, source, in, 1.0,
		             gradient + mlp->weights[l], in );
		double *bias = gradient + mlp->biases[l];
		for ( int i = 0; i < count; ++i )
			for ( int k = 0; k < out; ++k )
				bias[k] += delta[(size_t)i * out + k];
		double *next = l == 0 ? inputGradient : pass->deltas[l & 1];
		if ( next == NULL )
			return;
		cblas_dgemm( CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, in, out, 1.0, delta, out,
		             parameters + mlp->weights[l], in, 0.0, next, in );
		if ( l > 0 )
			UnbendTangents( source, (size_t)count * (size_t)in, pass->tangentCount, next );
		delta = next;
	}
}
