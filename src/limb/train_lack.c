/* How much of what a model leaves of the torques follows from the state, and is not noise.
 *
 * A lack-of-fit test without repeated measurements: a general regressor, random tanh units and ridge
 * regression over them (Huang, Zhu and Siew, Extreme learning machine, Neurocomputing 70, 2006), learns the
 * residuals of the training samples from features, velocities and inputs. What it takes away from the
 * residuals of the stopping samples, which it has not seen, is there to be learned; the rest is noise to it.
 */
#include "learn/ridge.h"
#include "limb/train_private.h"

#include <math.h>

enum
{
	units = 150,
	studied = 20000, /* training samples at most */
	foldCount = 5
};

/* Inputs of the regressor: features, velocities, inputs, of order 1 each, and 1. */
static int Width( const lmbEquations *equations )
{
	return equations->features.count + equations->dofCount + equations->inputCount + 1;
}

static void FillUnits( const lmbEquations *equations, const lmbEquationsDef *spread,
                       const lmbSamples *samples, int s, const double *weights, double *out )
{
	double values[lmbFeaturesMax], slopes[lmbFeaturesMax], curvatures[lmbFeaturesMax];
	double row[lmbListMax + 1];
	int n = equations->dofCount, m = equations->inputCount, width = 0;
	lmbFeatures_Evaluate( &equations->features, samples->positions + (size_t)s * (size_t)n, values, slopes,
	                      curvatures );
	for ( int f = 0; f < equations->features.count; ++f )
		row[width++] = values[f];
	for ( int i = 0; i < n; ++i )
		row[width++] = samples->velocities[(size_t)s * (size_t)n + (size_t)i] / spread->velocitySpread[i];
	for ( int j = 0; j < m; ++j )
		row[width++] = ( samples->inputs[(size_t)s * (size_t)m + (size_t)j] - spread->inputMean[j] ) /
		               spread->inputSpread[j];
	row[width++] = 1.0;
	for ( int u = 0; u < units; ++u )
	{
		double sum = 0.0;
		for ( int k = 0; k < width; ++k )
			sum += weights[u * width + k] * row[k];
		out[u] = tanh( sum );
	}
}

static lmbStatus Learn( const lmbTraining *training, const lmbEquations *equations,
                        const lmbEquationsDef *spread, const double *weights, const double *residuals,
                        double *solution, lmbArena *arena, lmbError *error )
{
	const lmbSamples *samples = &training->trainSamples;
	size_t n = (size_t)equations->dofCount;
	int stride = samples->count / studied + 1, count = ( samples->count + stride - 1 ) / stride;
	double *features = LMB_NEW( arena, double, (size_t)count *units );
	double *targets = LMB_NEW( arena, double, (size_t)count *n );
	int32_t *folds = LMB_NEW( arena, int32_t, count );
	if ( features == NULL || targets == NULL || folds == NULL )
		return lmbError_Memory( error );
	for ( int k = 0; k < count; ++k )
	{
		FillUnits( equations, spread, samples, k * stride, weights, features + (size_t)k * units );
		for ( size_t i = 0; i < n; ++i )
			targets[(size_t)k * n + i] = residuals[(size_t)( k * stride ) * n + i];
		/* In one piece each: neighbours in time resemble one another. */
		folds[k] = (int32_t)( (int64_t)k * foldCount / count );
	}
	lmbRidgeDef def = { .sampleCount = count,
	                    .featureCount = units,
	                    .outputCount = equations->dofCount,
	                    .features = features,
	                    .targets = targets,
	                    .folds = folds,
	                    .foldCount = foldCount };
	return lmbRidge_Fit( &def, solution, NULL, error );
}

static lmbStatus Explain( const lmbTraining *training, const lmbEquations *equations,
                          const double *trainResiduals, const double *stopResiduals, double *explained,
                          lmbArena *arena, lmbError *error )
{
	const lmbSamples *samples = &training->stopSamples;
	int n = equations->dofCount, width = Width( equations );
	double *weights = LMB_NEW( arena, double, units *(size_t)width ), unit[units], guess[lmbLimbMaxDofs];
	double *solution = LMB_NEW( arena, double, ( units + 1 ) * (size_t)n );
	if ( weights == NULL || solution == NULL )
		return lmbError_Memory( error );
	lmbEquationsDef spread = { 0 };
	lmbTraining_EquationsDef( training, &spread );
	for ( int i = 0; i < n; ++i )
		spread.velocitySpread[i] = fmax( spread.velocitySpread[i], 1e-9 );
	for ( int j = 0; j < equations->inputCount; ++j )
		spread.inputSpread[j] = fmax( spread.inputSpread[j], 1e-12 );
	lmbRandom random = lmbRandom_Seed( training->job != NULL ? training->job->seed : 0, 0x1ac4 );
	for ( int k = 0; k < units * width; ++k )
		weights[k] = 2.0 * lmbRandom_Normal( &random ) / sqrt( width );
	LMB_TRY( Learn( training, equations, &spread, weights, trainResiduals, solution, arena, error ) );
	for ( int i = 0; i < n; ++i )
		explained[i] = 0.0;
	for ( int s = 0; s < samples->count; ++s )
	{
		FillUnits( equations, &spread, samples, s, weights, unit );
		lmbRidge_Evaluate( 1, units, n, unit, solution, guess );
		for ( int i = 0; i < n; ++i )
		{
			double residual = stopResiduals[(size_t)s * (size_t)n + (size_t)i], left = residual - guess[i];
			explained[i] += ( residual * residual - left * left ) / samples->count;
		}
	}
	for ( int i = 0; i < n; ++i )
		explained[i] = fmax( explained[i], 0.0 );
	return lmb_statusOk;
}

lmbStatus lmbTrain_LackOfFit( const lmbTraining *training, const lmbEquations *equations,
                              const double *trainResiduals, const double *stopResiduals, double *explained,
                              lmbError *error )
{
	lmbArena arena = { 0 };
	lmbStatus status =
	    Explain( training, equations, trainResiduals, stopResiduals, explained, &arena, error );
	lmbArena_Free( &arena );
	return status;
}
