#include "flesh/train_parts.h"
#include "learn/optimize.h"

#include <math.h>
#include <string.h>

enum
{
	batchSize = 128,
	checkEvery = 25, /* Adam steps between looks at the stopping samples */
	patience = 25    /* L-BFGS iterations without a better stopping error */
};

static const double firstRate = 5e-3, lastRate = 5e-5; /* of Adam, falling along half a cosine */

typedef struct Fit
{
	const lmbPerceptronData *data;
	const lmbMlp *mlp;
	const lmbJob *job;
	double decay;
	lmbMlpPass pass, batchPass;
	double *outputGradient; /* (trainCount x outputCount) */
	double *best;           /* parameters with the least stopping error */
	double bestLoss;
	int bestIteration;
} Fit;

static double StopLoss( Fit *fit, const double *parameters )
{
	const lmbPerceptronData *data = fit->data;
	lmbSquaresLoss loss = {
	    .count = data->stopCount, .width = data->outputCount, .targets = data->stopTargets };
	loss.outputs = lmbMlp_Forward( &fit->pass, parameters, data->stopInputs, data->stopCount );
	return lmbSquaresLoss_Evaluate( &loss, NULL );
}

static bool Look( Fit *fit, const double *parameters )
{
	double loss = StopLoss( fit, parameters );
	if ( !( loss < fit->bestLoss ) )
		return false;
	fit->bestLoss = loss;
	memcpy( fit->best, parameters, fit->mlp->parameterCount * sizeof( double ) );
	return true;
}

static double Objective( void *context, const double *parameters, double *gradient )
{
	Fit *fit = context;
	const lmbPerceptronData *data = fit->data;
	lmbSquaresLoss loss = {
	    .count = data->trainCount, .width = data->outputCount, .targets = data->trainTargets };
	loss.outputs = lmbMlp_Forward( &fit->pass, parameters, data->trainInputs, data->trainCount );
	double value = lmbSquaresLoss_Evaluate( &loss, fit->outputGradient );
	memset( gradient, 0, fit->mlp->parameterCount * sizeof( double ) );
	lmbMlp_Backward( &fit->pass, parameters, data->trainInputs, fit->outputGradient, gradient, NULL );
	return value + lmbMlp_Decay( fit->mlp, fit->decay, parameters, gradient );
}

static bool Observe( void *context, int iteration, const double *parameters, double value )
{
	Fit *fit = context;
	(void)value;
	if ( Look( fit, parameters ) )
		fit->bestIteration = iteration;
	return iteration - fit->bestIteration < patience && !lmbJob_Cancelled( fit->job );
}

static void Shuffle( int32_t *order, int count, lmbRandom *random )
{
	for ( int i = count - 1; i > 0; --i )
	{
		uint32_t k = lmbRandom_Below( random, (uint32_t)i + 1 );
		int32_t swap = order[i];
		order[i] = order[k];
		order[k] = swap;
	}
}

/* One batch copied together: inputs, then targets. */
static int TakeBatch( const lmbPerceptronData *data, const int32_t *order, int begin, double *inputs,
                      double *targets )
{
	int count = data->trainCount - begin < batchSize ? data->trainCount - begin : batchSize;
	for ( int i = 0; i < count; ++i )
	{
		size_t at = (size_t)order[begin + i], in = (size_t)data->inputCount, out = (size_t)data->outputCount;
		memcpy( inputs + (size_t)i * in, data->trainInputs + at * in, in * sizeof( double ) );
		memcpy( targets + (size_t)i * out, data->trainTargets + at * out, out * sizeof( double ) );
	}
	return count;
}

static lmbStatus DescendByAdam( Fit *fit, int steps, lmbRandom *random, double *parameters, lmbArena *arena,
                                lmbError *error )
{
	const lmbPerceptronData *data = fit->data;
	lmbAdam adam;
	LMB_TRY( lmbAdam_Make( &adam, fit->mlp->parameterCount, arena, error ) );
	double *gradient = LMB_NEW( arena, double, fit->mlp->parameterCount );
	double *inputs = LMB_NEW( arena, double, batchSize *(size_t)data->inputCount );
	double *targets = LMB_NEW( arena, double, batchSize *(size_t)data->outputCount );
	int32_t *order = LMB_NEW( arena, int32_t, data->trainCount );
	if ( gradient == NULL || inputs == NULL || targets == NULL || order == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < data->trainCount; ++i )
		order[i] = i;
	int begin = data->trainCount;
	for ( int step = 0; step < steps; ++step )
	{
		if ( begin >= data->trainCount )
		{
			Shuffle( order, data->trainCount, random );
			begin = 0;
		}
		lmbSquaresLoss loss = { .width = data->outputCount, .targets = targets };
		loss.count = TakeBatch( data, order, begin, inputs, targets );
		begin += loss.count;
		loss.outputs = lmbMlp_Forward( &fit->batchPass, parameters, inputs, loss.count );
		lmbSquaresLoss_Evaluate( &loss, fit->outputGradient );
		memset( gradient, 0, fit->mlp->parameterCount * sizeof( double ) );
		lmbMlp_Backward( &fit->batchPass, parameters, inputs, fit->outputGradient, gradient, NULL );
		lmbMlp_Decay( fit->mlp, fit->decay, parameters, gradient );
		double share = 0.5 + 0.5 * cos( 3.141592653589793 * step / steps );
		lmbAdam_Step( &adam, lastRate + ( firstRate - lastRate ) * share, gradient, parameters );
		if ( ( step + 1 ) % checkEvery == 0 )
			Look( fit, parameters );
		if ( lmbJob_Cancelled( fit->job ) )
			return lmbJob_CancelledStatus( error );
	}
	return lmb_statusOk;
}

static lmbStatus Train( Fit *fit, const lmbTrainDef *def, lmbRandom *random, double *parameters,
                        lmbArena *arena, lmbError *error )
{
	const lmbPerceptronData *data = fit->data;
	int capacity = data->trainCount > data->stopCount ? data->trainCount : data->stopCount;
	LMB_TRY( lmbMlpPass_Make( &fit->pass, fit->mlp, capacity, arena, error ) );
	LMB_TRY( lmbMlpPass_Make( &fit->batchPass, fit->mlp, batchSize, arena, error ) );
	fit->best = LMB_NEW( arena, double, fit->mlp->parameterCount );
	fit->outputGradient = LMB_NEW(
	    arena, double, (size_t)( capacity > batchSize ? capacity : batchSize ) * (size_t)data->outputCount );
	if ( fit->best == NULL || fit->outputGradient == NULL )
		return lmbError_Memory( error );
	lmbMlp_Init( fit->mlp, 0.1, random, parameters );
	Look( fit, parameters );
	LMB_TRY( DescendByAdam( fit, def->adamSteps, random, parameters, arena, error ) );
	memcpy( parameters, fit->best, fit->mlp->parameterCount * sizeof( double ) );
	lmbLbfgsDef lbfgs = lmbDefaultLbfgsDef();
	lbfgs.iterations = def->lbfgsSteps;
	lbfgs.observer = Observe;
	LMB_TRY( lmbLbfgs_Minimize( fit->mlp->parameterCount, parameters, Objective, fit, &lbfgs, NULL, error ) );
	if ( lmbJob_Cancelled( fit->job ) )
		return lmbJob_CancelledStatus( error );
	memcpy( parameters, fit->best, fit->mlp->parameterCount * sizeof( double ) );
	return lmb_statusOk;
}

lmbStatus lmbTrainPerceptron( const lmbPerceptronData *data, const lmbMlp *mlp, const lmbTrainDef *def,
                              const lmbJob *job, lmbRandom *random, double *parameters, double *stopLoss,
                              lmbError *error )
{
	lmbArena arena = { 0 };
	Fit fit = { .data = data, .mlp = mlp, .job = job, .decay = def->weightDecay, .bestLoss = HUGE_VAL };
	lmbStatus status = Train( &fit, def, random, parameters, &arena, error );
	*stopLoss = fit.bestLoss;
	lmbArena_Free( &arena );
	return status;
}
