#include "flesh_body.h"

#include "functions.h"

#include <math.h>
#include <string.h>

/* Replaces the last value of a signal. When the frame moves, its increment goes into the past and what the
 * past makes of it is returned in start and end. */
static void Advance( const lmbFleshFrame *frame, double next, double *last, double *e1, double *e2,
                     double *start, double *end )
{
	*start = *end = 0.0;
	if ( lmbFleshFrame_Moves( frame ) )
	{
		double e0 = next - *last;
		*start = frame->startWeights[0] * e0 + frame->startWeights[1] * *e1 + frame->startWeights[2] * *e2;
		*end = frame->endWeights[0] * e0 + frame->endWeights[1] * *e1 + frame->endWeights[2] * *e2;
		*e2 = *e1;
		*e1 = e0;
	}
	*last = next;
}

/* World accelerations of the bones' matrices at the step's start and end, into bonesStart and bonesEnd. */
static void AdvanceBones( lmbFleshBody *body, const lmbFleshFrame *frame )
{
	size_t count = (size_t)body->model->info.boneCount * 12;
	double *last = body->bones, *e1 = last + count, *e2 = e1 + count;
	for ( size_t i = 0; i < count; ++i )
	{
		Advance( frame, body->nextBones[i], &last[i], &e1[i], &e2[i], &body->bonesStart[i],
		         &body->bonesEnd[i] );
		if ( i % 4 == 3 )
		{
			body->bonesStart[i] += frame->startOrigin[i / 4 % 3];
			body->bonesEnd[i] += frame->endOrigin[i / 4 % 3];
		}
	}
}

/* out = (R^T a), a (3 x 4), as single numbers. */
static void TurnBack( const double *rotation, const double *a, float *out )
{
	for ( int i = 0; i < 3; ++i )
		for ( int j = 0; j < 4; ++j )
			out[4 * i + j] =
			    (float)( rotation[i] * a[j] + rotation[3 + i] * a[4 + j] + rotation[6 + i] * a[8 + j] );
}

/* Inputs of the reduced forcing (docs/formats/model.md): each pair's acceleration in its second bone's
 * axes. */
static void GatherPairs( const lmbFleshBody *body, float *start, float *end )
{
	const lmbFlesh *model = body->model;
	for ( int p = 0; p < model->pairCount; ++p )
	{
		size_t moving = (size_t)model->pairs[2 * p], axes = (size_t)model->pairs[2 * p + 1];
		TurnBack( body->turns + 9 * axes, body->bonesStart + 12 * moving, start + 12 * (size_t)p );
		TurnBack( body->nextTurns + 9 * axes, body->bonesEnd + 12 * moving, end + 12 * (size_t)p );
	}
}

/* Accelerations of the network's coefficients. */
static void AdvanceCoefficients( lmbFleshBody *body, const lmbFleshFrame *frame, float *start, float *end )
{
	int count = body->model->info.coefficientCount;
	double *last = body->coefficients, *e1 = last + count, *e2 = e1 + count;
	for ( int c = 0; c < count; ++c )
	{
		double first, second;
		Advance( frame, body->amplitudes[c], &last[c], &e1[c], &e2[c], &first, &second );
		start[c] = (float)first;
		end[c] = (float)second;
	}
}

/* What drives the modes at the step's start and end, to modeAmounts 1 and 2. */
static void FindForcing( lmbFleshBody *body, const lmbFleshFrame *frame )
{
	const lmbFlesh *model = body->model;
	const float *inputs[2] = { body->scratch[0], body->scratch[1] };
	bool moves = lmbFleshFrame_Moves( frame );
	if ( moves )
	{
		GatherPairs( body, body->scratch[0], body->scratch[1] );
		lmbDense_RunTwo( &model->boneForcing, body->kernels, inputs, body->modeAmounts + 1 );
	}
	if ( !body->def.network )
		return;
	AdvanceCoefficients( body, frame, body->scratch[0], body->scratch[1] );
	if ( !moves || model->coefficientForcing.outputs == 0 )
		return;
	lmbDense_RunTwo( &model->coefficientForcing, body->kernels, inputs, body->moreForcing );
	for ( int i = 0; i < 2; ++i )
		for ( int m = 0; m < model->modePad; ++m )
			body->modeAmounts[1 + i][m] += body->moreForcing[i][m];
}

/* Springs that numbers at the edge of their range have thrown out of it come to rest. */
static void Guard( double *q, double *v )
{
	if ( !( fabs( *q ) < 1e15 && fabs( *v ) < 1e30 ) )
		*q = *v = 0.0;
}

/* Log ratios of the modes' stiffness in this frame's pose. */
static void FindLogs( lmbFleshBody *body )
{
	const lmbFlesh *model = body->model;
	const float *bias = model->poseStiffness + (size_t)model->featureCount * (size_t)model->modePad;
	const float *low = model->poseStiffnessRange, *high = low + model->modePad;
	body->kernels->dense( model->featureCount, model->modePad, model->poseStiffness, bias, body->features,
	                      body->nextLogs );
	for ( int m = 0; m < model->info.modeCount; ++m )
	{
		float log = body->nextLogs[m];
		body->nextLogs[m] = log > high[m] ? high[m] : log >= low[m] ? log : low[m];
	}
}

static void StepOscillators( lmbFleshBody *body, const lmbFleshFrame *frame, const lmbSpringMap *maps )
{
	int count = body->model->info.modeCount;
	bool jumps = body->def.interpolation == lmb_targetLinear;
	double *q = body->modes, *v = body->modes + count;
	for ( int m = 0; m < count; ++m )
	{
		lmbSpringMap own;
		const lmbSpringMap *map = &maps[m];
		double start = body->modeAmounts[1][m], end = jumps ? 0.0 : body->modeAmounts[2][m];
		double scale = 1.0;
		if ( body->followsPose )
		{
			const double *spring = body->modeRates + 2 * m;
			double log = 0.5 * ( body->modeLogs[m] + body->nextLogs[m] );
			scale = lmbSpringMap_MakeScaled( spring[0], spring[1], log, frame->step, &own );
			map = &own;
		}
		double x = q[m], y = jumps ? v[m] - start / scale : v[m];
		start = jumps ? 0.0 : start;
		q[m] = map->phi[0] * x + map->phi[1] * y - ( map->gamma[0] * start + map->gamma[1] * end );
		v[m] = map->phi[2] * x + map->phi[3] * y - ( map->gamma[2] * start + map->gamma[3] * end );
		Guard( &q[m], &v[m] );
	}
}

void lmbFleshBody_StepModes( lmbFleshBody *body, const lmbFleshFrame *frame, const lmbFleshMaps *maps )
{
	const lmbFlesh *model = body->model;
	AdvanceBones( body, frame );
	if ( body->followsPose )
		FindLogs( body );
	FindForcing( body, frame );
	if ( lmbFleshFrame_Moves( frame ) )
		StepOscillators( body, frame, maps->modes );
	memcpy( body->turns, body->nextTurns, (size_t)model->info.boneCount * 9 * sizeof( double ) );
	for ( int m = 0; m < model->info.modeCount; ++m )
	{
		double amount = body->modes[m];
		if ( body->followsPose )
		{
			body->modeLogs[m] = body->nextLogs[m];
			amount *= lmbExp( -0.25 * body->modeLogs[m] );
		}
		body->modeAmounts[0][m] = (float)amount;
	}
}
