/* What inertia is where no trajectory has been.
 *
 * A network says nothing sensible about elbows bent as no elbow in the data was. But limbs are chains of
 * rigid segments (chain.h), and least squares over the data tell whether one explains them. Where it does,
 * states in postures far from all data are made up, with the accelerations that this chain has, and join what
 * teaches. Within the data they change nothing. Where it is near, networks begin there.  */
#include "learn/optimize.h"
#include "limb/chain.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

enum
{
	known = 1000, /* samples that say where data are */
	imaginedLeast = 200,
	imaginedPart = 20, /* one for so many samples */
	imaginedMost = 2000
};

/* A chain whose share is below this is the better beginning. */
static const double useful = 0.3;
/* A posture is far when its features, each between -1 and 1, are this far from all that were seen. */
static const double far = 0.25;

/* Squared distance of mass features to the nearest of what was seen; seen (count x massCount). */
static double Nearest( const double *seen, int count, int width, const double *here )
{
	double nearest = HUGE_VAL;
	for ( int s = 0; s < count; ++s )
	{
		double sum = 0.0;
		for ( int k = 0; k < width; ++k )
			sum += ( seen[s * width + k] - here[k] ) * ( seen[s * width + k] - here[k] );
		nearest = fmin( nearest, sum );
	}
	return nearest;
}

/* A state such as the data hold, but in any posture. */
static void Draw( const lmbChain *chain, const lmbEquationsDef *spread, lmbRandom *random, double *q,
                  double *v, double *inputs )
{
	const lmbTrajectories *set = chain->training->set;
	for ( int i = 0; i < chain->n; ++i )
	{
		double any = 2.0 * lmbRandom_Uniform( random ) - 1.0;
		q[i] = set->turns != NULL && set->turns[i]
		           ? 3.141592653589793 * any
		           : spread->positionMean[i] + 3.0 * spread->positionSpread[i] * any;
		v[i] = 1.5 * spread->velocitySpread[i] * lmbRandom_Normal( random );
	}
	for ( int j = 0; j < chain->equations->inputCount; ++j )
		inputs[j] = spread->inputMean[j] + spread->inputSpread[j] * lmbRandom_Normal( random );
}

static lmbStatus Imagine( lmbChain *chain, lmbSamples *out, lmbArena *arena, lmbError *error )
{
	const lmbSamples *samples = &chain->training->trainSamples;
	size_t n = (size_t)chain->n, m = (size_t)chain->equations->inputCount;
	int wanted = samples->count / imaginedPart, stride = samples->count / known + 1, seenCount = 0;
	wanted = wanted < imaginedLeast ? imaginedLeast : wanted > imaginedMost ? imaginedMost : wanted;
	double *seen = LMB_NEW( &chain->arena, double, (size_t)( known + 1 ) * (size_t)chain->massCount );
	out->positions = LMB_NEW( arena, double, (size_t)wanted *n );
	out->velocities = LMB_NEW( arena, double, (size_t)wanted *n );
	out->accelerations = LMB_NEW( arena, double, (size_t)wanted *n );
	out->inputs = LMB_NEW( arena, double, (size_t)wanted *m );
	if ( seen == NULL || out->positions == NULL || out->velocities == NULL || out->accelerations == NULL ||
	     out->inputs == NULL )
		return lmbError_Memory( error );
	for ( int s = 0; s < samples->count && seenCount <= known; s += stride )
		lmbChain_MassFeatures( chain, samples->positions + n * (size_t)s,
		                       seen + seenCount++ * chain->massCount );
	lmbEquationsDef spread = { 0 };
	lmbTraining_EquationsDef( chain->training, &spread );
	lmbRandom random =
	    lmbRandom_Seed( chain->training->job != NULL ? chain->training->job->seed : 0, 0xc4a1 );
	for ( int draw = 0; draw < 20 * wanted && out->count < wanted; ++draw )
	{
		size_t at = (size_t)out->count;
		double features[lmbFeaturesMax] = { 0 }, *q = out->positions + n * at, *v = out->velocities + n * at;
		double *a = out->accelerations + n * at, *inputs = out->inputs + m * at;
		Draw( chain, &spread, &random, q, v, inputs );
		lmbChain_MassFeatures( chain, q, features );
		if ( Nearest( seen, seenCount, chain->massCount, features ) < far * far )
			continue;
		bool sound = lmbChain_Acceleration( chain, q, v, inputs, a );
		for ( size_t i = 0; i < n; ++i )
			sound = sound && fabs( a[i] ) < 10.0 * spread.accelerationSpread[i];
		out->count += sound ? 1 : 0;
	}
	return lmb_statusOk;
}

/* What the mass network should say, before softplus and in its own scale, in postures anywhere. */
typedef struct Shaping
{
	const lmbScaledNetwork *part;
	lmbMlpPass pass;
	int count;
	double *inputs, *targets, *gradient; /* (count x massCount), (count x outputs) twice */
} Shaping;

static double ShapingLoss( void *context, const double *parameters, double *gradient )
{
	Shaping *shaping = context;
	const lmbMlp *mlp = &shaping->part->mlp;
	const double *outputs = lmbMlp_Forward( &shaping->pass, parameters, shaping->inputs, shaping->count );
	lmbSquaresLoss loss = {
	    shaping->count, mlp->sizes[mlp->layerCount], outputs, shaping->targets, NULL, NULL };
	double value = lmbSquaresLoss_Evaluate( &loss, shaping->gradient );
	memset( gradient, 0, mlp->parameterCount * sizeof( double ) );
	lmbMlp_Backward( &shaping->pass, parameters, shaping->inputs, shaping->gradient, gradient, NULL );
	return value;
}

/* The network's raw numbers for a mass matrix; false when it is not positive. */
static bool RawMass( const lmbEquations *equations, const double *triangle, double *raw )
{
	const lmbScaledNetwork *part = &equations->parts[lmb_partMass];
	double mass[lmbLimbMaxDofs * lmbLimbMaxDofs] = { 0 };
	int n = equations->dofCount;
	for ( int j = 0, pair = 0; j < n; ++j )
		for ( int k = 0; k <= j; ++k )
			mass[j * n + k] = mass[k * n + j] = triangle[pair++];
	if ( LAPACKE_dpotrf( LAPACK_ROW_MAJOR, 'L', n, mass, n ) != 0 )
		return false;
	for ( int j = 0, pair = 0; j < n; ++j )
		for ( int k = 0; k <= j; ++k, ++pair )
		{
			double entry = mass[j * n + k] - ( j == k ? equations->massFloor : 0.0 );
			if ( j == k && !( entry > 0.0 ) )
				return false;
			/* The inverse of softplus, log( e^x - 1 ). */
			double x = j != k ? entry : entry > 30.0 ? entry : log( expm1( entry ) );
			raw[pair] = ( x - part->outputShift[pair] ) / part->outputScale[pair];
		}
	return true;
}

static lmbStatus ShapeMass( lmbChain *chain, double *parameters, lmbError *error )
{
	enum
	{
		postures = 1000,
		iterations = 1500
	};
	const lmbScaledNetwork *part = &chain->equations->parts[lmb_partMass];
	int outputs = part->mlp.sizes[part->mlp.layerCount], width = chain->massCount;
	Shaping shaping = { .part = part };
	shaping.inputs = LMB_NEW( &chain->arena, double, (size_t)postures *(size_t)width );
	shaping.targets = LMB_NEW( &chain->arena, double, (size_t)postures *(size_t)outputs );
	shaping.gradient = LMB_NEW( &chain->arena, double, (size_t)postures *(size_t)outputs );
	if ( shaping.inputs == NULL || shaping.targets == NULL || shaping.gradient == NULL )
		return lmbError_Memory( error );
	LMB_TRY( lmbMlpPass_Make( &shaping.pass, &part->mlp, postures, &chain->arena, error ) );
	lmbEquationsDef spread = { 0 };
	lmbTraining_EquationsDef( chain->training, &spread );
	lmbRandom random =
	    lmbRandom_Seed( chain->training->job != NULL ? chain->training->job->seed : 0, 0x5a3e );
	for ( int draw = 0; draw < 2 * postures && shaping.count < postures; ++draw )
	{
		double q[lmbLimbMaxDofs] = { 0 }, v[lmbLimbMaxDofs], u[lmbLimbMaxInputs],
		       triangle[lmbLimbMaxDofs * lmbLimbMaxDofs] = { 0 };
		double *inputs = shaping.inputs + (size_t)shaping.count * (size_t)width;
		Draw( chain, &spread, &random, q, v, u );
		lmbChain_MassFeatures( chain, q, inputs );
		lmbChain_Mass( chain, inputs, triangle );
		for ( int k = 0; k < width; ++k )
			inputs[k] = ( inputs[k] - part->inputShift[k] ) * part->inputScale[k];
		shaping.count +=
		    RawMass( chain->equations, triangle, shaping.targets + (size_t)shaping.count * (size_t)outputs )
		        ? 1
		        : 0;
	}
	if ( shaping.count < postures / 2 )
		return lmb_statusOk;
	lmbLbfgsDef def = lmbDefaultLbfgsDef();
	def.iterations = iterations;
	def.tolerance = 1e-12;
	return lmbLbfgs_Minimize( part->mlp.parameterCount, parameters + part->offset, ShapingLoss, &shaping,
	                          &def, NULL, error );
}

lmbStatus lmbTrain_ChainHolds( lmbTraining *training, const lmbEquations *equations, bool *holds,
                               lmbError *error )
{
	lmbChain chain;
	double share;
	lmbStatus status = lmbChain_Open( &chain, training, equations, &share, error );
	*holds = share < lmbChainBelieved;
	lmbArena_Free( &chain.arena );
	return status;
}

/* The constant damping, when the chain's is positive: D = S K K^T S, S the equations' scales. */
static void ShapeDamping( const lmbChain *chain, double *parameters )
{
	const lmbEquations *equations = chain->equations;
	double factor[lmbLimbMaxDofs * lmbLimbMaxDofs];
	int n = chain->n;
	if ( chain->dampingAt < 0 )
		return;
	for ( int j = 0, pair = 0; j < n; ++j )
		for ( int k = 0; k <= j; ++k, ++pair )
			factor[j * n + k] = factor[k * n + j] = chain->unknowns[chain->dampingAt + pair];
	if ( LAPACKE_dpotrf( LAPACK_ROW_MAJOR, 'L', n, factor, n ) != 0 )
		return;
	for ( int j = 0, pair = 0; j < n; ++j )
		for ( int k = 0; k <= j; ++k, ++pair )
			parameters[equations->dampingOffset + (size_t)pair] =
			    factor[j * n + k] / equations->dampingScale[j];
}

lmbStatus lmbTrain_StartFromChain( lmbTraining *training, const lmbEquations *equations, double *parameters,
                                   bool *started, lmbError *error )
{
	lmbChain chain;
	double share;
	lmbStatus status = lmbChain_Open( &chain, training, equations, &share, error );
	const lmbScaledNetwork *part = &equations->parts[lmb_partPotential];
	*started = status == lmb_statusOk && share < useful;
	for ( int k = 0; *started && part->used && k < part->mlp.sizes[0]; ++k )
		parameters[part->offset + part->mlp.weights[0] + (size_t)k] =
		    chain.unknowns[chain.potentialAt + k] / ( part->outputScale[0] * part->inputScale[k] );
	if ( *started )
	{
		ShapeDamping( &chain, parameters );
		status = ShapeMass( &chain, parameters, error );
	}
	lmbArena_Free( &chain.arena );
	return status;
}

lmbStatus lmbTrain_ImagineChain( lmbTraining *training, const lmbEquations *equations, lmbArena *arena,
                                 lmbSamples *out, lmbError *error )
{
	lmbChain chain;
	double share;
	*out = ( lmbSamples ){ 0 };
	lmbStatus status = lmbChain_Open( &chain, training, equations, &share, error );
	if ( status == lmb_statusOk && share < lmbChainBelieved )
		status = Imagine( &chain, out, arena, error );
	lmbArena_Free( &chain.arena );
	return status;
}
