/* Regression of accelerations: Adam over mini-batches, then L-BFGS over all samples. */
#include "limb/train_private.h"

#include "learn/optimize.h"

#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum
{
	blockSize = 256,  /* samples that pass through the networks together */
	chunkLimit = 64,  /* sums are formed chunk by chunk, in this many chunks whatever the threads */
	batchChunk = 128, /* samples of a mini-batch that one task takes */
	batchSmallest = 64,
	batchLargest = 1024,
	patience = 60, /* L-BFGS iterations without a better stopping loss, or this part of all of them: */
	patientPart = 4,
	thinCount = 20000 /* samples of the first half of L-BFGS, when there are many more */
};

static const double firstRate = 5e-3, lastRate = 1e-4; /* of Adam, falling along half a cosine */

typedef struct Regression
{
	lmbTraining *training;
	const lmbEquations *equations;
	bool ofTorques; /* errors are torques missing from the balance at the measured accelerations */
	double weight[lmbLimbMaxDofs * lmbLimbMaxDofs]; /* (n x n) of the squared error */
	int workerCount;
	lmbEquationsPass *passes; /* (workerCount) */
	double *residuals;        /* (workerCount x blockSize x n) */
	double *chunkGradients;   /* (chunkLimit x parameterCount) */
	double chunkLosses[chunkLimit];
	lmbBest *best;
	const lmbSamples *taught; /* what L-BFGS works on */
	int bestIteration, patience;
	lmbArena arena;
	/* The evaluation that is going on. */
	const lmbSamples *samples;
	const double *parameters;
	int chunkCount;
	bool wantsGradient;
} Regression;

/* Errors are measured by the inverse covariance of the accelerations: each joint counts by its spread, and so
 * does each combination of joints, whichever way the angles are counted. Forward elbow against backward
 * shoulder is light and fast; the whole arm swinging is slow, and drifts if it is wrong. */
static lmbStatus WeighAccelerations( Regression *fit, lmbError *error )
{
	const lmbSamples *samples = &fit->training->trainSamples;
	int n = fit->equations->dofCount;
	double mean[lmbLimbMaxDofs] = { 0 }, covariance[lmbLimbMaxDofs * lmbLimbMaxDofs] = { 0 };
	for ( int s = 0; s < samples->count; ++s )
		for ( int i = 0; i < n; ++i )
			mean[i] += samples->accelerations[(size_t)s * n + i] / samples->count;
	for ( int s = 0; s < samples->count; ++s )
	{
		const double *a = samples->accelerations + (size_t)s * n;
		for ( int i = 0; i < n; ++i )
			for ( int j = 0; j < n; ++j )
				covariance[i * n + j] += ( a[i] - mean[i] ) * ( a[j] - mean[j] ) / samples->count;
	}
	for ( int i = 0; i < n; ++i )
		covariance[i * n + i] = covariance[i * n + i] > 1e-18 ? 1.0001 * covariance[i * n + i] : 1.0;
	/* weight = covariance^-1 / n */
	if ( LAPACKE_dpotrf( LAPACK_ROW_MAJOR, 'L', n, covariance, n ) != 0 ||
	     LAPACKE_dpotri( LAPACK_ROW_MAJOR, 'L', n, covariance, n ) != 0 )
		return lmbError_Set( error, lmb_statusNumerical,
		                     "the accelerations of the training data have no covariance; are they finite?" );
	for ( int i = 0; i < n; ++i )
		for ( int j = 0; j <= i; ++j )
			fit->weight[i * n + j] = fit->weight[j * n + i] = covariance[i * n + j] / n;
	return lmb_statusOk;
}

/* Noise on measured inputs is noise of the torques, and each joint's is its own. */
static void WeighTorques( Regression *fit )
{
	const lmbSamples *samples = &fit->training->trainSamples;
	const lmbEquations *equations = fit->equations;
	int n = equations->dofCount, m = equations->inputCount;
	for ( int i = 0; i < n; ++i )
	{
		double squares = 0.0;
		for ( int s = 0; s < samples->count; ++s )
		{
			const double *u = samples->inputs + (size_t)s * (size_t)m;
			double torque = equations->identityDrive ? u[i] : 0.0;
			for ( int j = 0; j < m && equations->driveMatrix != NULL; ++j )
				torque += equations->driveMatrix[i * m + j] * u[j];
			squares += torque * torque / samples->count;
		}
		for ( int j = 0; j < n; ++j )
			fit->weight[i * n + j] = i == j && squares > 0.0 ? 1.0 / ( n * squares ) : i == j ? 1.0 / n : 0.0;
	}
}

/* Whether the loss is of torques rather than of accelerations. */
static bool OfTorques( const lmbTraining *training, const lmbEquations *equations )
{
	return training->def->torqueNoise && equations->kind == lmb_limbLagrangian && equations->inputCount > 0 &&
	       !equations->parts[lmb_partDrive].used;
}

static lmbStatus Prepare( Regression *fit, lmbError *error )
{
	const lmbJob *job = fit->training->job;
	fit->workerCount = job != NULL && job->threads > 1 ? job->threads : 1;
	fit->passes = LMB_NEW( &fit->arena, lmbEquationsPass, fit->workerCount );
	fit->residuals =
	    LMB_NEW( &fit->arena, double, (size_t)fit->workerCount *blockSize *(size_t)fit->equations->dofCount );
	fit->chunkGradients = LMB_NEW( &fit->arena, double, chunkLimit * fit->equations->parameterCount );
	if ( fit->passes == NULL || fit->residuals == NULL || fit->chunkGradients == NULL )
		return lmbError_Memory( error );
	for ( int w = 0; w < fit->workerCount; ++w )
		LMB_TRY( lmbEquationsPass_Make( &fit->passes[w], fit->equations, blockSize, &fit->arena, error ) );
	fit->ofTorques = OfTorques( fit->training, fit->equations );
	if ( !fit->ofTorques )
		return WeighAccelerations( fit, error );
	WeighTorques( fit );
	return lmb_statusOk;
}

/* Squared error of one block in the weight, and its gradient by a: accelerations, or missing torques. */
static double BlockLoss( const Regression *fit, int begin, int count, const double *a, double *gradient )
{
	int n = fit->equations->dofCount;
	double sum = 0.0, share = 1.0 / fit->samples->count;
	for ( int s = 0; s < count; ++s )
	{
		double off[lmbLimbMaxDofs];
		for ( int i = 0; i < n; ++i )
			off[i] = a[s * n + i] -
			         ( fit->ofTorques ? 0.0 : fit->samples->accelerations[(size_t)( begin + s ) * n + i] );
		for ( int i = 0; i < n; ++i )
		{
			double weighted = 0.0;
			for ( int j = 0; j < n; ++j )
				weighted += fit->weight[i * n + j] * off[j];
			sum += share * weighted * off[i];
			gradient[s * n + i] = 2.0 * share * weighted;
		}
	}
	return sum;
}

static lmbStatus EvaluateChunk( void *context, int chunk, int worker, lmbError *error )
{
	Regression *fit = context;
	(void)error;
	const lmbSamples *samples = fit->samples;
	size_t n = (size_t)fit->equations->dofCount, m = (size_t)fit->equations->inputCount;
	size_t parameterCount = fit->equations->parameterCount;
	int begin = (int)( (int64_t)samples->count * chunk / fit->chunkCount );
	int end = (int)( (int64_t)samples->count * ( chunk + 1 ) / fit->chunkCount );
	double *gradient = fit->chunkGradients + (size_t)chunk * parameterCount, loss = 0.0;
	double *residuals = fit->residuals + (size_t)worker * blockSize * n;
	if ( fit->wantsGradient )
		memset( gradient, 0, parameterCount * sizeof( double ) );
	for ( int at = begin; at < end; at += blockSize )
	{
		int count = end - at < blockSize ? end - at : blockSize;
		if ( fit->ofTorques )
			fit->passes[worker].measured = samples->accelerations + (size_t)at * n;
		const double *a = lmbEquations_Forward(
		    &fit->passes[worker], fit->parameters, samples->positions + (size_t)at * n,
		    samples->velocities + (size_t)at * n, m > 0 ? samples->inputs + (size_t)at * m : NULL, count );
		loss += BlockLoss( fit, at, count, a, residuals );
		if ( fit->wantsGradient )
			lmbEquations_Backward( &fit->passes[worker], fit->parameters, residuals, gradient, NULL, NULL );
	}
	fit->chunkLosses[chunk] = loss;
	return lmb_statusOk;
}

/* Loss over samples, and its gradient (Nullable); NAN when the job was cancelled. */
static double Evaluate( Regression *fit, const lmbSamples *samples, int chunkSize, const double *parameters,
                        double *gradient )
{
	fit->samples = samples;
	fit->parameters = parameters;
	fit->wantsGradient = gradient != NULL;
	int chunks = ( samples->count + chunkSize - 1 ) / chunkSize;
	fit->chunkCount = chunks < 1 ? 1 : chunks > chunkLimit ? chunkLimit : chunks;
	if ( lmbJob_ForEach( fit->training->job, fit->chunkCount, EvaluateChunk, fit, NULL ) != lmb_statusOk )
		return (double)NAN;
	double loss = 0.0;
	if ( gradient != NULL )
		memset( gradient, 0, fit->equations->parameterCount * sizeof( double ) );
	for ( int c = 0; c < fit->chunkCount; ++c )
	{
		loss += fit->chunkLosses[c];
		const double *own = fit->chunkGradients + (size_t)c * fit->equations->parameterCount;
		for ( size_t k = 0; gradient != NULL && k < fit->equations->parameterCount; ++k )
			gradient[k] += own[k];
	}
	return loss;
}

static bool Look( Regression *fit, const double *parameters, double trainLoss )
{
	double loss = Evaluate( fit, &fit->training->stopSamples, blockSize, parameters, NULL );
	if ( !( loss < fit->best->loss ) )
		return false;
	fit->best->loss = loss;
	fit->best->trainLoss = trainLoss;
	memcpy( fit->best->parameters, parameters, fit->equations->parameterCount * sizeof( double ) );
	return true;
}

static double Objective( void *context, const double *parameters, double *gradient )
{
	Regression *fit = context;
	return Evaluate( fit, fit->taught, blockSize, parameters, gradient );
}

static bool Observe( void *context, int iteration, const double *parameters, double value )
{
	Regression *fit = context;
	if ( Look( fit, parameters, value ) )
		fit->bestIteration = iteration;
	double share = (double)fit->taught->count / fit->training->trainSamples.count;
	lmbTraining_Tell( fit->training, share, "L-BFGS", fit->best->loss );
	return iteration - fit->bestIteration < fit->patience && !lmbJob_Cancelled( fit->training->job );
}

static void CopyRows( double *to, int toRow, const double *from, int fromRow, int width )
{
	if ( width > 0 )
		memcpy( to + (size_t)toRow * width, from + (size_t)fromRow * width,
		        (size_t)width * sizeof( double ) );
}

static void TakeBatch( const Regression *fit, const int32_t *order, int begin, int size, lmbSamples *batch )
{
	const lmbSamples *samples = &fit->training->trainSamples;
	int n = fit->equations->dofCount, m = fit->equations->inputCount;
	batch->count = samples->count - begin < size ? samples->count - begin : size;
	for ( int i = 0; i < batch->count; ++i )
	{
		CopyRows( batch->positions, i, samples->positions, order[begin + i], n );
		CopyRows( batch->velocities, i, samples->velocities, order[begin + i], n );
		CopyRows( batch->accelerations, i, samples->accelerations, order[begin + i], n );
		CopyRows( batch->inputs, i, samples->inputs, order[begin + i], m );
	}
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

static lmbStatus DescendByAdam( Regression *fit, int epochs, lmbRandom *random, double *parameters,
                                lmbError *error )
{
	int total = fit->training->trainSamples.count, size = total / 50;
	size = size < batchSmallest ? batchSmallest : size > batchLargest ? batchLargest : size;
	size_t n = (size_t)fit->equations->dofCount, m = (size_t)fit->equations->inputCount;
	lmbSamples batch = { 0 };
	batch.positions = LMB_NEW( &fit->arena, double, (size_t)size *n );
	batch.velocities = LMB_NEW( &fit->arena, double, (size_t)size *n );
	batch.accelerations = LMB_NEW( &fit->arena, double, (size_t)size *n );
	batch.inputs = LMB_NEW( &fit->arena, double, (size_t)size *m );
	int32_t *order = LMB_NEW( &fit->arena, int32_t, total );
	double *gradient = LMB_NEW( &fit->arena, double, fit->equations->parameterCount );
	lmbAdam adam;
	LMB_TRY( lmbAdam_Make( &adam, fit->equations->parameterCount, &fit->arena, error ) );
	if ( batch.positions == NULL || batch.velocities == NULL || batch.accelerations == NULL ||
	     batch.inputs == NULL || order == NULL || gradient == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < total; ++i )
		order[i] = i;
	int steps = epochs * ( ( total + size - 1 ) / size ), step = 0;
	for ( int epoch = 0; epoch < epochs; ++epoch )
	{
		Shuffle( order, total, random );
		double sum = 0.0;
		for ( int begin = 0; begin < total; begin += size, ++step )
		{
			TakeBatch( fit, order, begin, size, &batch );
			double share = 0.5 + 0.5 * cos( 3.141592653589793 * step / steps );
			double loss = Evaluate( fit, &batch, batchChunk, parameters, gradient );
			if ( lmbJob_Cancelled( fit->training->job ) )
				return lmbJob_CancelledStatus( error );
			if ( isfinite( loss ) ) /* a batch that overflows teaches nothing */
				lmbAdam_Step( &adam, lastRate + ( firstRate - lastRate ) * share, gradient, parameters );
			sum += loss * batch.count / total;
		}
		Look( fit, parameters, sum );
		lmbTraining_Tell( fit->training, 1.0, "Adam", fit->best->loss );
	}
	return lmb_statusOk;
}

/* L-BFGS for so many iterations on what is taught, from the best point and to the best. */
static lmbStatus Polish( Regression *fit, const lmbSamples *taught, int iterations, double *parameters,
                         lmbError *error )
{
	size_t count = fit->equations->parameterCount;
	int part = iterations / patientPart;
	fit->taught = taught;
	fit->patience = part > patience ? part : patience;
	fit->bestIteration = 0;
	if ( fit->best->loss < HUGE_VAL )
		memcpy( parameters, fit->best->parameters, count * sizeof( double ) );
	lmbLbfgsDef lbfgs = lmbDefaultLbfgsDef();
	lbfgs.iterations = iterations;
	lbfgs.memory = 30;
	lbfgs.observer = Observe;
	LMB_TRY( lmbLbfgs_Minimize( count, parameters, Objective, fit, &lbfgs, NULL, error ) );
	return lmbJob_Cancelled( fit->training->job ) ? lmbJob_CancelledStatus( error ) : lmb_statusOk;
}

/* Every so manieth training sample, and what was made up. */
static lmbStatus Join( Regression *fit, int stride, const lmbSamples *imagined, lmbSamples *out,
                       lmbError *error )
{
	const lmbSamples *data = &fit->training->trainSamples;
	int n = fit->equations->dofCount, m = fit->equations->inputCount;
	int count = ( data->count + stride - 1 ) / stride;
	size_t total = (size_t)count + (size_t)imagined->count;
	out->count = (int)total;
	out->positions = LMB_NEW( &fit->arena, double, total *(size_t)n );
	out->velocities = LMB_NEW( &fit->arena, double, total *(size_t)n );
	out->accelerations = LMB_NEW( &fit->arena, double, total *(size_t)n );
	out->inputs = LMB_NEW( &fit->arena, double, total *(size_t)m );
	if ( out->positions == NULL || out->velocities == NULL || out->accelerations == NULL ||
	     out->inputs == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < out->count; ++i )
	{
		const lmbSamples *from = i < count ? data : imagined;
		int row = i < count ? i * stride : i - count;
		CopyRows( out->positions, i, from->positions, row, n );
		CopyRows( out->velocities, i, from->velocities, row, n );
		CopyRows( out->accelerations, i, from->accelerations, row, n );
		CopyRows( out->inputs, i, from->inputs, row, m );
	}
	return lmb_statusOk;
}

/* A smooth law is pinned down by fewer samples, and many cheap iterations bring it further than few dear
 * ones; against noise all samples count. So half of the work goes into a part of them, then half into all. */
static lmbStatus PolishInStages( Regression *fit, int iterations, double *parameters, lmbError *error )
{
	lmbSamples imagined, thin, all;
	LMB_TRY( lmbTrain_ImagineChain( fit->training, fit->equations, &fit->arena, &imagined, error ) );
	int stride = fit->training->trainSamples.count / thinCount;
	LMB_TRY( Join( fit, 1, &imagined, &all, error ) );
	if ( stride < 2 )
		return Polish( fit, &all, iterations, parameters, error );
	LMB_TRY( Join( fit, stride, &imagined, &thin, error ) );
	LMB_TRY( Polish( fit, &thin, iterations / 2 * stride, parameters, error ) );
	return Polish( fit, &all, iterations - iterations / 2, parameters, error );
}

static lmbStatus Run( Regression *fit, const lmbRegressionDef *def, lmbRandom *random, double *parameters,
                      lmbError *error )
{
	LMB_TRY( Prepare( fit, error ) );
	Look( fit, parameters, (double)NAN );
	if ( def->adamEpochs > 0 )
		LMB_TRY( DescendByAdam( fit, def->adamEpochs, random, parameters, error ) );
	LMB_TRY( PolishInStages( fit, def->lbfgsIterations, parameters, error ) );
	if ( !( fit->best->loss < HUGE_VAL ) )
		return lmbError_Set( error, lmb_statusNumerical,
		                     "the loss on the stopping trajectories never was finite; look at the data" );
	memcpy( parameters, fit->best->parameters, fit->equations->parameterCount * sizeof( double ) );
	return lmb_statusOk;
}

lmbStatus lmbTrain_Regression( lmbTraining *training, const lmbEquations *equations,
                               const lmbRegressionDef *def, lmbRandom *random, double *parameters,
                               lmbBest *best, lmbError *error )
{
	Regression fit = { .training = training, .equations = equations, .best = best };
	lmbStatus status = Run( &fit, def, random, parameters, error );
	lmbArena_Free( &fit.arena );
	return status;
}

lmbStatus lmbTrain_SquaredErrors( lmbTraining *training, const lmbEquations *equations,
                                  const lmbSamples *samples, const double *parameters, double *out,
                                  lmbError *error )
{
	lmbArena arena = { 0 };
	lmbEquationsPass pass;
	size_t n = (size_t)equations->dofCount, m = (size_t)equations->inputCount;
	lmbStatus status = lmbEquationsPass_Make( &pass, equations, blockSize, &arena, error );
	for ( int at = 0; at < samples->count && status == lmb_statusOk; at += blockSize )
	{
		int count = samples->count - at < blockSize ? samples->count - at : blockSize;
		const double *a = lmbEquations_Forward( &pass, parameters, samples->positions + (size_t)at * n,
		                                        samples->velocities + (size_t)at * n,
		                                        m > 0 ? samples->inputs + (size_t)at * m : NULL, count );
		const double *truth = samples->accelerations + (size_t)at * n;
		for ( size_t s = 0; s < (size_t)count; ++s )
		{
			out[(size_t)at + s] = 0.0;
			for ( size_t i = 0; i < n; ++i )
				out[(size_t)at + s] +=
				    ( a[n * s + i] - truth[n * s + i] ) * ( a[n * s + i] - truth[n * s + i] );
		}
		if ( lmbJob_Cancelled( training->job ) )
			status = lmbJob_CancelledStatus( error );
	}
	lmbArena_Free( &arena );
	return status;
}

lmbStatus lmbTrain_AccelerationError( lmbTraining *training, const lmbEquations *equations,
                                      const lmbSamples *samples, const double *parameters, double *rms,
                                      lmbError *error )
{
	Regression fit = { .training = training, .equations = equations };
	lmbStatus status = Prepare( &fit, error );
	int n = equations->dofCount;
	fit.ofTorques = false;
	for ( int i = 0; i < n * n; ++i ) /* plain squares in place of the weight */
		fit.weight[i] = i % ( n + 1 ) == 0 ? 1.0 / n : 0.0;
	if ( status == lmb_statusOk )
		*rms = sqrt( Evaluate( &fit, samples, blockSize, parameters, NULL ) );
	if ( status == lmb_statusOk && lmbJob_Cancelled( training->job ) )
		status = lmbJob_CancelledStatus( error );
	lmbArena_Free( &fit.arena );
	return status;
}
