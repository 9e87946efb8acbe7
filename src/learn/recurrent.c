#include "learn/recurrent.h"

#include "learn/mlp.h"

#include <assert.h>
#include <cblas.h>
#include <math.h>
#include <string.h>

enum
{
	widest = 4096
};

lmbStatus lmbRecurrent_Make( lmbRecurrent *recurrent, bool lstm, int layerCount, int inputCount, int hidden,
                             lmbError *error )
{
	memset( recurrent, 0, sizeof( *recurrent ) );
	if ( layerCount < 1 || layerCount > lmbRecurrentMaxLayers || inputCount < 1 || inputCount > widest ||
	     hidden < 1 || hidden > widest )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "%d recurrent layers of %d units over %d inputs; 1 to %d layers, 1 to %d units "
		                     "and inputs are possible",
		                     layerCount, hidden, inputCount, lmbRecurrentMaxLayers, widest );
	*recurrent = ( lmbRecurrent ){ .lstm = lstm,
	                               .layerCount = layerCount,
	                               .inputCount = inputCount,
	                               .hidden = hidden,
	                               .gates = lstm ? 4 : 3,
	                               .stateCount = ( lstm ? 2 : 1 ) * layerCount * hidden };
	size_t at = 0, rows = (size_t)recurrent->gates * (size_t)hidden;
	for ( int l = 0; l < layerCount; ++l )
	{
		recurrent->inputWeights[l] = at;
		at += rows * (size_t)( l == 0 ? inputCount : hidden );
		recurrent->hiddenWeights[l] = at;
		at += rows * (size_t)hidden;
		recurrent->inputBiases[l] = at;
		recurrent->hiddenBiases[l] = at + rows;
		at += 2 * rows;
	}
	recurrent->parameterCount = at;
	return lmb_statusOk;
}

void lmbRecurrent_Init( const lmbRecurrent *recurrent, lmbRandom *random, double *parameters )
{
	double bound = 1.0 / sqrt( recurrent->hidden );
	for ( size_t i = 0; i < recurrent->parameterCount; ++i )
		parameters[i] = bound * ( 2.0 * lmbRandom_Uniform( random ) - 1.0 );
}

lmbStatus lmbRecurrentPass_Make( lmbRecurrentPass *pass, const lmbRecurrent *recurrent, int capacity,
                                 int stepCapacity, lmbArena *arena, lmbError *error )
{
	memset( pass, 0, sizeof( *pass ) );
	pass->recurrent = recurrent;
	pass->capacity = capacity;
	pass->stepCapacity = stepCapacity;
	size_t rows = (size_t)capacity * (size_t)stepCapacity, h = (size_t)recurrent->hidden;
	size_t gates = (size_t)recurrent->gates * h;
	bool complete = true;
	for ( int l = 0; l < recurrent->layerCount; ++l )
	{
		pass->gates[l] = LMB_NEW( arena, double, rows *gates );
		pass->h[l] = LMB_NEW( arena, double, ( rows + (size_t)capacity ) * h );
		pass->c[l] = recurrent->lstm ? LMB_NEW( arena, double, ( rows + (size_t)capacity ) * h ) : NULL;
		pass->hiddenNew[l] = recurrent->lstm ? NULL : LMB_NEW( arena, double, rows *h );
		complete = complete && pass->gates[l] != NULL && pass->h[l] != NULL &&
		           ( recurrent->lstm ? pass->c[l] : pass->hiddenNew[l] ) != NULL;
	}
	pass->byGates = LMB_NEW( arena, double, rows *gates );
	pass->byHiddenGates = recurrent->lstm ? pass->byGates : LMB_NEW( arena, double, rows *gates );
	pass->byOutput = LMB_NEW( arena, double, rows *h );
	pass->byH = LMB_NEW( arena, double, (size_t)capacity *h );
	pass->byC = LMB_NEW( arena, double, (size_t)capacity *h );
	pass->work = LMB_NEW( arena, double, (size_t)capacity *gates );
	complete = complete && pass->byGates != NULL && pass->byHiddenGates != NULL && pass->byOutput != NULL &&
	           pass->byH != NULL && pass->byC != NULL && pass->work != NULL;
	return complete ? lmb_statusOk : lmbError_Memory( error );
}

/* The logistic function by the hyperbolic tangent: 1 / (1 + e^-x) = (1 + tanh( x / 2 )) / 2. */
static void Logistic( double *values, int count )
{
	for ( int i = 0; i < count; ++i )
		values[i] *= 0.5;
	lmbTanh_Array( values, (size_t)count );
	for ( int i = 0; i < count; ++i )
		values[i] = 0.5 + 0.5 * values[i];
}

/* One sequence's step of a GRU. gates comes as W x + b and leaves as r, z, n; hidden is U h + c. */
static void StepGru( int n, double *gates, const double *hidden, const double *h, double *hiddenNew,
                     double *next )
{
	for ( int i = 0; i < 2 * n; ++i )
		gates[i] += hidden[i];
	Logistic( gates, 2 * n );
	for ( int i = 0; i < n; ++i )
	{
		hiddenNew[i] = hidden[2 * n + i];
		gates[2 * n + i] += gates[i] * hiddenNew[i];
	}
	lmbTanh_Array( gates + 2 * n, (size_t)n );
	for ( int i = 0; i < n; ++i )
		next[i] = gates[2 * n + i] + gates[n + i] * ( h[i] - gates[2 * n + i] );
}

/* Of an LSTM: gates leave as i, f, g, o. */
static void StepLstm( int n, double *gates, const double *hidden, const double *c, double *nextC,
                      double *next )
{
	for ( int i = 0; i < 4 * n; ++i )
		gates[i] += hidden[i];
	Logistic( gates, 2 * n );
	lmbTanh_Array( gates + 2 * n, (size_t)n );
	Logistic( gates + 3 * n, n );
	for ( int i = 0; i < n; ++i )
		next[i] = nextC[i] = gates[n + i] * c[i] + gates[i] * gates[2 * n + i];
	lmbTanh_Array( next, (size_t)n );
	for ( int i = 0; i < n; ++i )
		next[i] *= gates[3 * n + i];
}

/* rows of target = bias, then += source weights^T. */
static void Affine( int rows, int out, int in, const double *source, const double *weights,
                    const double *bias, double *target )
{
	for ( int r = 0; r < rows; ++r )
		memcpy( target + (size_t)r * out, bias, (size_t)out * sizeof( double ) );
	cblas_dgemm( CblasRowMajor, CblasNoTrans, CblasTrans, rows, out, in, 1.0, source, in, weights, in, 1.0,
	             target, out );
}

static void ForwardLayer( lmbRecurrentPass *pass, int l, const double *parameters, const double *inputs )
{
	const lmbRecurrent *recurrent = pass->recurrent;
	int n = recurrent->hidden, g = recurrent->gates * n, count = pass->count;
	int in = l == 0 ? recurrent->inputCount : n;
	Affine( pass->steps * count, g, in, inputs, parameters + recurrent->inputWeights[l],
	        parameters + recurrent->inputBiases[l], pass->gates[l] );
	for ( int s = 0; s < pass->steps; ++s )
	{
		size_t at = (size_t)s * (size_t)count * (size_t)n, ahead = at + (size_t)count * (size_t)n;
		Affine( count, g, n, pass->h[l] + at, parameters + recurrent->hiddenWeights[l],
		        parameters + recurrent->hiddenBiases[l], pass->work );
		for ( int i = 0; i < count; ++i )
		{
			size_t row = (size_t)i * (size_t)n;
			double *gates = pass->gates[l] + ( (size_t)s * (size_t)count + (size_t)i ) * (size_t)g;
			const double *hidden = pass->work + (size_t)i * (size_t)g;
			if ( recurrent->lstm )
				StepLstm( n, gates, hidden, pass->c[l] + at + row, pass->c[l] + ahead + row,
				          pass->h[l] + ahead + row );
			else
				StepGru( n, gates, hidden, pass->h[l] + at + row, pass->hiddenNew[l] + at + row,
				         pass->h[l] + ahead + row );
		}
	}
}

/* Copies a layer's first h (which 0) or c (which 1) between the state rows and its own array. */
static void MoveStart( const lmbRecurrentPass *pass, int l, int which, double *own, double *rows, bool out )
{
	const lmbRecurrent *recurrent = pass->recurrent;
	size_t n = (size_t)recurrent->hidden;
	for ( int i = 0; i < pass->count; ++i )
	{
		double *row = rows + (size_t)i * (size_t)recurrent->stateCount +
		              (size_t)( which * recurrent->layerCount + l ) * n;
		memcpy( out ? row : own + (size_t)i * n, out ? own + (size_t)i * n : row, n * sizeof( double ) );
	}
}

const double *lmbRecurrent_Forward( lmbRecurrentPass *pass, const double *parameters, const double *inputs,
                                    const double *start, int steps, int count )
{
	const lmbRecurrent *recurrent = pass->recurrent;
	assert( steps >= 1 && count >= 1 && count <= pass->capacity );
	assert( (size_t)steps * (size_t)count <= (size_t)pass->stepCapacity * (size_t)pass->capacity );
	pass->steps = steps;
	pass->count = count;
	size_t first = (size_t)count * (size_t)recurrent->hidden;
	for ( int l = 0; l < recurrent->layerCount; ++l )
	{
		MoveStart( pass, l, 0, pass->h[l], (double *)start, false );
		if ( recurrent->lstm )
			MoveStart( pass, l, 1, pass->c[l], (double *)start, false );
		ForwardLayer( pass, l, parameters, l == 0 ? inputs : pass->h[l - 1] + first );
	}
	return pass->h[recurrent->layerCount - 1] + first;
}

/* Gradients by the gates' sums, from that by h' (in byH); leaves in byH what goes to h past the gates. */
static void BackGru( int n, const double *gates, const double *hiddenNew, const double *h, double *byH,
                     double *byGates, double *byHiddenGates )
{
	for ( int i = 0; i < n; ++i )
	{
		double r = gates[i], z = gates[n + i], new = gates[2 * n + i];
		double byNew = byH[i] * ( 1.0 - z ) * ( 1.0 - new *new );
		double byZ = byH[i] * ( h[i] - new ) * z * ( 1.0 - z );
		double byR = byNew * hiddenNew[i] * r * ( 1.0 - r );
		byGates[i] = byHiddenGates[i] = byR;
		byGates[n + i] = byHiddenGates[n + i] = byZ;
		byGates[2 * n + i] = byNew;
		byHiddenGates[2 * n + i] = byNew * r;
		byH[i] *= z;
	}
}

static void BackLstm( int n, const double *gates, const double *c, const double *nextC, double *byH,
                      double *byC, double *byGates )
{
	for ( int k = 0; k < n; ++k )
	{
		double i = gates[k], f = gates[n + k], g = gates[2 * n + k], o = gates[3 * n + k];
		double bent = tanh( nextC[k] ), own = byC[k] + byH[k] * o * ( 1.0 - bent * bent );
		byGates[k] = own * g * i * ( 1.0 - i );
		byGates[n + k] = own * c[k] * f * ( 1.0 - f );
		byGates[2 * n + k] = own * i * ( 1.0 - g * g );
		byGates[3 * n + k] = byH[k] * bent * o * ( 1.0 - o );
		byC[k] = own * f;
		byH[k] = 0.0;
	}
}

/* byOutput holds the gradient by this layer's outputs and becomes that by its inputs (layers above the
 * first).
 */
static void BackwardLayer( lmbRecurrentPass *pass, int l, const double *parameters, const double *inputs,
                           double *gradient )
{
	const lmbRecurrent *recurrent = pass->recurrent;
	int n = recurrent->hidden, g = recurrent->gates * n, count = pass->count;
	int in = l == 0 ? recurrent->inputCount : n, rows = pass->steps * count;
	size_t width = (size_t)count * (size_t)n;
	memset( pass->byH, 0, width * sizeof( double ) );
	memset( pass->byC, 0, width * sizeof( double ) );
	for ( int s = pass->steps - 1; s >= 0; --s )
	{
		size_t at = (size_t)s * width, gate = (size_t)s * (size_t)count * (size_t)g;
		for ( size_t k = 0; k < width; ++k )
			pass->byH[k] += pass->byOutput[at + k];
		for ( int i = 0; i < count; ++i )
		{
			size_t row = (size_t)i * (size_t)n, own = gate + (size_t)i * (size_t)g;
			if ( recurrent->lstm )
				BackLstm( n, pass->gates[l] + own, pass->c[l] + at + row, pass->c[l] + at + width + row,
				          pass->byH + row, pass->byC + row, pass->byGates + own );
			else
				BackGru( n, pass->gates[l] + own, pass->hiddenNew[l] + at + row, pass->h[l] + at + row,
				         pass->byH + row, pass->byGates + own, pass->byHiddenGates + own );
		}
		cblas_dgemm( CblasRowMajor, CblasNoTrans, CblasNoTrans, count, n, g, 1.0, pass->byHiddenGates + gate,
		             g, parameters + recurrent->hiddenWeights[l], n, 1.0, pass->byH, n );
	}
	cblas_dgemm( CblasRowMajor, CblasTrans, CblasNoTrans, g, in, rows, 1.0, pass->byGates, g, inputs, in, 1.0,
	             gradient + recurrent->inputWeights[l], in );
	cblas_dgemm( CblasRowMajor, CblasTrans, CblasNoTrans, g, n, rows, 1.0, pass->byHiddenGates, g, pass->h[l],
	             n, 1.0, gradient + recurrent->hiddenWeights[l], n );
	for ( int r = 0; r < rows; ++r )
		for ( int k = 0; k < g; ++k )
		{
			gradient[recurrent->inputBiases[l] + (size_t)k] += pass->byGates[(size_t)r * g + k];
			gradient[recurrent->hiddenBiases[l] + (size_t)k] += pass->byHiddenGates[(size_t)r * g + k];
		}
	if ( l > 0 )
		cblas_dgemm( CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, in, g, 1.0, pass->byGates, g,
		             parameters + recurrent->inputWeights[l], in, 0.0, pass->byOutput, in );
}

void lmbRecurrent_Backward( lmbRecurrentPass *pass, const double *parameters, const double *inputs,
                            const double *outputGradient, double *gradient, double *startGradient )
{
	const lmbRecurrent *recurrent = pass->recurrent;
	size_t first = (size_t)pass->count * (size_t)recurrent->hidden;
	memcpy( pass->byOutput, outputGradient, (size_t)pass->steps * first * sizeof( double ) );
	for ( int l = recurrent->layerCount - 1; l >= 0; --l )
	{
		BackwardLayer( pass, l, parameters, l == 0 ? inputs : pass->h[l - 1] + first, gradient );
		MoveStart( pass, l, 0, pass->byH, startGradient, true );
		if ( recurrent->lstm )
			MoveStart( pass, l, 1, pass->byC, startGradient, true );
	}
}
