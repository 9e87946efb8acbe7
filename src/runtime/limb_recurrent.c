/* Part of what `limber export --c` writes: see limb_core.h. */
#include "limb_core.h"

#include "kernels/limb_kernels.h"

#include <math.h>
#include <string.h>

static float *Hidden( const lmbCoreModel *model, lmbCoreState *state, int cell )
{
	return state->hidden + cell * lmbCore_Pad( model->hiddenCount );
}

/* Of LSTM, behind all hidden states. */
static float *Memory( const lmbCoreModel *model, lmbCoreState *state, int cell )
{
	return Hidden( model, state, model->cellCount + cell );
}

void lmbCore_StartRecurrent( lmbCoreWork *work, lmbCoreState *state )
{
	const lmbCoreModel *model = work->model;
	const double none[lmbCoreMaxInputs] = { 0 };
	int h = model->hiddenCount, padded = lmbCore_Pad( h );
	int count = model->cellCount * ( model->kind == lmbCoreLstm ? 2 : 1 );
	lmbCore_See( work, state->positions, state->velocities, none );
	const float *raw = lmbCoreNet_Run( &model->start, work, 1 );
	for ( int i = 0; i < count; ++i )
		for ( int k = 0; k < padded; ++k )
		{
			float x = k < h ? raw[i * h + k] : 0.0f;
			/* Hidden numbers lie in -1..1; a start far out must not make one that is not finite. */
			state->hidden[i * padded + k] = x >= -1e9f && x <= 1e9f ? x : 0.0f;
		}
	memcpy( state->base, state->positions, sizeof( state->base ) );
}

/* Logistic function by tanh: 1 / (1 + e^-x) = (1 + tanh(x / 2)) / 2. */
static void Logistic( int count, float *x )
{
	for ( int i = 0; i < count; ++i )
		x[i] *= 0.5f;
	lmbKernel_Tanh( count, 1, x, 0 );
	for ( int i = 0; i < count; ++i )
		x[i] = 0.5f + 0.5f * x[i];
}

/* Gates r, z, n as PyTorch's: n = tanh(W x + b + r (U h + c)), h' = (1 - z) n + z h. */
static void StepGru( int padded, float *byInput, float *byHidden, float *h )
{
	float *n = byInput + 2 * padded;
	for ( int i = 0; i < 2 * padded; ++i )
		byInput[i] += byHidden[i];
	Logistic( 2 * padded, byInput );
	for ( int i = 0; i < padded; ++i )
		n[i] += byInput[i] * byHidden[2 * padded + i];
	lmbKernel_Tanh( padded, 1, n, 0 );
	for ( int i = 0; i < padded; ++i )
		h[i] = ( 1.0f - byInput[padded + i] ) * n[i] + byInput[padded + i] * h[i];
}

/* Gates i, f, g, o as PyTorch's: c' = f c + i g, h' = o tanh c'. */
static void StepLstm( int padded, float *gates, float *byHidden, float *h, float *c )
{
	for ( int i = 0; i < 4 * padded; ++i )
		gates[i] += byHidden[i];
	Logistic( 2 * padded, gates );
	lmbKernel_Tanh( padded, 1, gates + 2 * padded, 0 );
	Logistic( padded, gates + 3 * padded );
	for ( int i = 0; i < padded; ++i )
	{
		float kept = gates[padded + i] * c[i] + gates[i] * gates[2 * padded + i];
		c[i] = kept >= -1e9f && kept <= 1e9f ? kept : 0.0f;
		h[i] = c[i];
	}
	lmbKernel_Tanh( padded, 1, h, 0 );
	for ( int i = 0; i < padded; ++i )
		h[i] = gates[3 * padded + i] * h[i];
}

static lmbCoreResult Read( lmbCoreWork *work, lmbCoreState *state, const float *h )
{
	const lmbCoreModel *model = work->model;
	int n = lmbCore_Dofs( model ), count = model->read.sizes[0];
	lmbCoreResult result = lmbCoreOk;
	for ( int i = 0; i < lmbCore_Pad( count ); ++i )
		work->layers[0][i] = i < count ? h[model->read.inputs[i]] : 0.0f;
	const float *raw = lmbCoreNet_RunLayers( &model->read, work, 1 );
	for ( int i = 0; i < n; ++i )
	{
		double speed = raw[i], place = (double)raw[n + i] + model->readBase[i] * state->base[i];
		bool sound = fabs( speed ) <= 1e9 && fabs( place ) <= 1e9;
		result = sound ? result : lmbCoreDiverged;
		state->velocities[i] = sound ? speed : state->velocities[i];
		state->positions[i] = sound ? place : state->positions[i];
	}
	return result;
}

lmbCoreResult lmbCore_StepRecurrent( lmbCoreWork *work, lmbCoreState *state, const double *meanInputs,
                                     double dt )
{
	const lmbCoreModel *model = work->model;
	int padded = lmbCore_Pad( model->hiddenCount ), gates = model->kind == lmbCoreLstm ? 4 : 3;
	float first[lmbCoreMaxInputs + 1];
	const float *x = first;
	int inputs = model->inputCount + 1;
	for ( int i = 0; i < inputs; ++i )
		first[i] = (float)( ( ( i < model->inputCount ? meanInputs[i] : dt ) - model->stepShift[i] ) *
		                    model->stepScale[i] );
	for ( int cell = 0; cell < model->cellCount; ++cell )
	{
		const lmbCoreCell *weights = &model->cells[cell];
		float *h = Hidden( model, state, cell ), *byInput = work->layers[0], *byHidden = work->layers[1];
		lmbKernel_Layer( inputs, gates * padded, weights->input, weights->inputBias, 1, x, byInput, 0 );
		lmbKernel_Layer( model->hiddenCount, gates * padded, weights->hidden, weights->hiddenBias, 1, h,
		                 byHidden, 0 );
		if ( gates == 3 )
			StepGru( padded, byInput, byHidden, h );
		else
			StepLstm( padded, byInput, byHidden, h, Memory( model, state, cell ) );
		x = h;
		inputs = model->hiddenCount;
	}
	return Read( work, state, x );
}
