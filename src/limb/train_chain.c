/* What inertia is where no trajectory has been.
 *
 * A network says nothing sensible about elbows bent as no elbow in the data was. But the inertia of rigid
 * segments on hinges is, to first order, a constant and the first harmonics of the joint angles (exactly so
 * for two segments in a plane), and with such a mass matrix the torque balance is linear in what is unknown:
 *   tau = M(q) a + dM/dt v - d(v^T M v / 2)/dq + D v + dV/dq,   M, V linear in [1, features].
 * Least squares over the data tells whether that holds there. Where it does, states in postures far from all
 * data are made up, with the accelerations that this chain has, and join what teaches. Within the data they
 * change nothing. */
#include "learn/optimize.h"
#include "limb/train_private.h"

#include <math.h>
#include <string.h>

enum
{
	unknownsMost = 512,
	studied = 20000, /* samples of the least squares */
	known = 1000,    /* samples that say where data are */
	imaginedLeast = 200,
	imaginedPart = 20, /* one for so many samples */
	imaginedMost = 2000
};

/* The chain is believed when it explains the torques to this share, root mean square. */
static const double believed = 0.02;
/* A posture is far when its features, each between -1 and 1, are this far from all that were seen. */
static const double far = 0.25;

typedef struct Chain
{
	const lmbTraining *training;
	const lmbEquations *equations;
	int n, massCount, pairCount, unknownCount;
	int dampingAt, potentialAt; /* first unknown of each; -1: none */
	double *unknowns;           /* (unknownCount) */
	double values[lmbFeaturesMax], slopes[lmbFeaturesMax], curvatures[lmbFeaturesMax];
	double *row; /* (n x unknownCount) */
	lmbArena arena;
} Chain;

static double Derivative( const Chain *chain, int f, int dof )
{
	return chain->slopes[f] * chain->equations->features.angles[f * chain->n + dof];
}

/* Adds value to the entry of torque i. */
static void Put( const Chain *chain, int i, int unknown, double value )
{
	chain->row[i * chain->unknownCount + unknown] += value;
}

/* What a symmetric matrix with ones at (j, k) and (k, j) makes of a vector, into an unknown's column. */
static void PutPair( const Chain *chain, int unknown, int j, int k, double scale, const double *vector )
{
	Put( chain, j, unknown, scale * vector[k] );
	if ( j != k )
		Put( chain, k, unknown, scale * vector[j] );
}

static void PutMass( const Chain *chain, int j, int k, int first, const double *v, const double *a )
{
	const lmbFeatures *features = &chain->equations->features;
	double energy = j == k ? 0.5 * v[j] * v[j] : v[j] * v[k];
	PutPair( chain, first, j, k, 1.0, a );
	for ( int f = 0, u = first + 1; f < features->count; ++f )
	{
		if ( !( features->seenBy[f] & lmbSeenByMass ) )
			continue;
		double rate = 0.0;
		for ( int i = 0; i < chain->n; ++i )
		{
			rate += Derivative( chain, f, i ) * v[i];
			Put( chain, i, u, -Derivative( chain, f, i ) * energy );
		}
		PutPair( chain, u, j, k, chain->values[f], a );
		PutPair( chain, u, j, k, rate, v );
		u += 1;
	}
}

/* The rows of one state: torques by the unknowns. */
static void FillRows( Chain *chain, const double *q, const double *v, const double *a )
{
	const lmbFeatures *features = &chain->equations->features;
	lmbFeatures_Evaluate( features, q, chain->values, chain->slopes, chain->curvatures );
	memset( chain->row, 0, (size_t)chain->n * (size_t)chain->unknownCount * sizeof( double ) );
	for ( int j = 0, pair = 0; j < chain->n; ++j )
		for ( int k = 0; k <= j; ++k, ++pair )
		{
			PutMass( chain, j, k, pair * ( 1 + chain->massCount ), v, a );
			if ( chain->dampingAt >= 0 )
				PutPair( chain, chain->dampingAt + pair, j, k, 1.0, v );
		}
	for ( int f = 0, u = chain->potentialAt; f < features->count && chain->potentialAt >= 0; ++f )
	{
		if ( !( features->seenBy[f] & lmbSeenByPotential ) )
			continue;
		for ( int i = 0; i < chain->n; ++i )
			Put( chain, i, u, Derivative( chain, f, i ) );
		u += 1;
	}
}

/* Generalised torques of the inputs; inputs that go through a network are not known. */
static void Torques( const Chain *chain, const double *inputs, double *torques )
{
	int n = chain->n, m = chain->equations->inputCount;
	for ( int i = 0; i < n; ++i )
	{
		torques[i] = chain->equations->identityDrive ? inputs[i] : 0.0;
		for ( int j = 0; j < m && !chain->equations->identityDrive; ++j )
			torques[i] += chain->equations->driveMatrix[i * m + j] * inputs[j];
	}
}

static double RowDot( const Chain *chain, int i )
{
	const double *row = chain->row + (size_t)i * (size_t)chain->unknownCount;
	double sum = 0.0;
	for ( int u = 0; u < chain->unknownCount; ++u )
		sum += row[u] * chain->unknowns[u];
	return sum;
}

static void Solve( const double *factor, int n, double *x )
{
	for ( int i = 0; i < n; ++i )
	{
		for ( int j = 0; j < i; ++j )
			x[i] -= factor[i * n + j] * x[j];
		x[i] /= factor[i * n + i];
	}
	for ( int i = n - 1; i >= 0; --i )
	{
		for ( int j = i + 1; j < n; ++j )
			x[i] -= factor[j * n + i] * x[j];
		x[i] /= factor[i * n + i];
	}
}

static void AddSample( Chain *chain, int s, const double *weight, double *normal )
{
	const lmbSamples *samples = &chain->training->trainSamples;
	size_t n = (size_t)chain->n, count = (size_t)chain->unknownCount;
	double torques[lmbLimbMaxDofs] = { 0 };
	FillRows( chain, samples->positions + n * (size_t)s, samples->velocities + n * (size_t)s,
	          samples->accelerations + n * (size_t)s );
	Torques( chain, samples->inputs + (size_t)chain->equations->inputCount * (size_t)s, torques );
	for ( size_t i = 0; i < n; ++i )
	{
		const double *row = chain->row + i * count;
		for ( size_t a = 0; a < count; ++a )
		{
			double scaled = weight[i] * row[a];
			chain->unknowns[a] += scaled * torques[i];
			for ( size_t b = 0; b <= a && scaled != 0.0; ++b )
				normal[a * count + b] += scaled * row[b];
		}
	}
}

/* Root mean square of what the chain leaves of the torques, as a share of them, over the stopping data. */
static double Residual( Chain *chain, const double *weight )
{
	const lmbSamples *samples = &chain->training->stopSamples;
	size_t n = (size_t)chain->n;
	double off = 0.0, all = 0.0;
	for ( size_t s = 0; s < (size_t)samples->count; ++s )
	{
		double torques[lmbLimbMaxDofs] = { 0 };
		FillRows( chain, samples->positions + n * s, samples->velocities + n * s,
		          samples->accelerations + n * s );
		Torques( chain, samples->inputs + (size_t)chain->equations->inputCount * s, torques );
		for ( int i = 0; i < chain->n; ++i )
		{
			double left = torques[i] - RowDot( chain, i );
			off += weight[i] * left * left;
			all += weight[i] * torques[i] * torques[i];
		}
	}
	return all > 0.0 ? sqrt( off / all ) : HUGE_VAL;
}

/* Least squares; false when it does not hold. */
static lmbStatus Identify( Chain *chain, bool *holds, lmbError *error )
{
	const lmbSamples *samples = &chain->training->trainSamples;
	size_t count = (size_t)chain->unknownCount, m = (size_t)chain->equations->inputCount;
	double *normal = LMB_NEW( &chain->arena, double, count *count ), weight[lmbLimbMaxDofs] = { 0 };
	if ( normal == NULL )
		return lmbError_Memory( error );
	int stride = samples->count / studied + 1;
	for ( int s = 0; s < samples->count; s += stride )
	{
		double torques[lmbLimbMaxDofs] = { 0 };
		Torques( chain, samples->inputs + m * (size_t)s, torques );
		for ( int i = 0; i < chain->n; ++i )
			weight[i] += torques[i] * torques[i];
	}
	for ( int i = 0; i < chain->n; ++i )
		weight[i] = weight[i] > 0.0 ? 1.0 / weight[i] : 0.0;
	for ( int s = 0; s < samples->count; s += stride )
		AddSample( chain, s, weight, normal );
	for ( size_t a = 0; a < count; ++a )
		normal[a * count + a] += 1e-10 * normal[a * count + a] + 1e-30;
	*holds = lmbCholesky_Factor( normal, (int)count );
	if ( *holds )
	{
		Solve( normal, (int)count, chain->unknowns );
		*holds = Residual( chain, weight ) < believed;
	}
	return lmb_statusOk;
}

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

static int TakeMassFeatures( Chain *chain, const double *q, double *out )
{
	const lmbFeatures *features = &chain->equations->features;
	int count = 0;
	lmbFeatures_Evaluate( features, q, chain->values, chain->slopes, chain->curvatures );
	for ( int f = 0; f < features->count; ++f )
		if ( features->seenBy[f] & lmbSeenByMass )
			out[count++] = chain->values[f];
	return count;
}

/* The chain's mass matrix at mass features (massCount), lower triangle row by row. */
static void ChainMass( const Chain *chain, const double *features, double *triangle )
{
	for ( int pair = 0; pair < chain->pairCount; ++pair )
	{
		const double *own = chain->unknowns + pair * ( 1 + chain->massCount );
		triangle[pair] = own[0];
		for ( int f = 0; f < chain->massCount; ++f )
			triangle[pair] += own[1 + f] * features[f];
	}
}

/* The chain's acceleration in a state; false when its mass matrix is not positive there. */
static bool Accelerate( Chain *chain, const double *q, const double *v, const double *inputs, double *a )
{
	const double none[lmbLimbMaxDofs] = { 0 };
	double mass[lmbLimbMaxDofs * lmbLimbMaxDofs] = { 0 }, triangle[lmbLimbMaxDofs * lmbLimbMaxDofs] = { 0 };
	double features[lmbFeaturesMax] = { 0 };
	int n = chain->n;
	TakeMassFeatures( chain, q, features );
	ChainMass( chain, features, triangle );
	for ( int j = 0, pair = 0; j < n; ++j )
		for ( int k = 0; k <= j; ++k )
			mass[j * n + k] = mass[k * n + j] = triangle[pair++];
	FillRows( chain, q, v, none );
	Torques( chain, inputs, a );
	for ( int i = 0; i < n; ++i )
		a[i] -= RowDot( chain, i );
	if ( !lmbCholesky_Factor( mass, n ) )
		return false;
	Solve( mass, n, a );
	return true;
}

/* A state such as the data hold, but in any posture. */
static void Draw( const Chain *chain, const lmbEquationsDef *spread, lmbRandom *random, double *q, double *v,
                  double *inputs )
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

static lmbStatus Imagine( Chain *chain, lmbSamples *out, lmbArena *arena, lmbError *error )
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
		TakeMassFeatures( chain, samples->positions + n * (size_t)s, seen + seenCount++ * chain->massCount );
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
		TakeMassFeatures( chain, q, features );
		if ( Nearest( seen, seenCount, chain->massCount, features ) < far * far )
			continue;
		bool sound = Accelerate( chain, q, v, inputs, a );
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
	if ( !lmbCholesky_Factor( mass, n ) )
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

static lmbStatus ShapeMass( Chain *chain, double *parameters, lmbError *error )
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
		TakeMassFeatures( chain, q, inputs );
		ChainMass( chain, inputs, triangle );
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

/* Lays the unknowns out; false when this cannot be a chain. The arena must be freed. */
static bool Begin( Chain *chain, const lmbTraining *training, const lmbEquations *equations )
{
	const lmbFeatures *features = &equations->features;
	int potentialCount = 0;
	*chain = ( Chain ){ .training = training, .equations = equations, .n = equations->dofCount };
	if ( !training->def->chainPrior || equations->kind != lmb_limbLagrangian ||
	     equations->parts[lmb_partDrive].used || equations->inputCount == 0 ||
	     ( !equations->identityDrive && equations->driveMatrix == NULL ) )
		return false;
	for ( int f = 0; f < features->count; ++f )
	{
		chain->massCount += features->seenBy[f] & lmbSeenByMass ? 1 : 0;
		potentialCount += features->seenBy[f] & lmbSeenByPotential ? 1 : 0;
	}
	chain->pairCount = chain->n * ( chain->n + 1 ) / 2;
	chain->unknownCount = chain->pairCount * ( 1 + chain->massCount );
	chain->dampingAt = equations->constantDamping ? chain->unknownCount : -1;
	chain->unknownCount += equations->constantDamping ? chain->pairCount : 0;
	chain->potentialAt = equations->parts[lmb_partPotential].used ? chain->unknownCount : -1;
	chain->unknownCount += equations->parts[lmb_partPotential].used ? potentialCount : 0;
	return chain->massCount > 0 && chain->unknownCount <= unknownsMost;
}

static lmbStatus Study( Chain *chain, bool *holds, lmbError *error )
{
	chain->unknowns = LMB_NEW( &chain->arena, double, chain->unknownCount );
	chain->row = LMB_NEW( &chain->arena, double, (size_t)chain->n *(size_t)chain->unknownCount );
	return chain->unknowns == NULL || chain->row == NULL ? lmbError_Memory( error )
	                                                     : Identify( chain, holds, error );
}

lmbStatus lmbTrain_ChainHolds( lmbTraining *training, const lmbEquations *equations, bool *holds,
                               lmbError *error )
{
	Chain chain;
	*holds = false;
	lmbStatus status = Begin( &chain, training, equations ) ? Study( &chain, holds, error ) : lmb_statusOk;
	lmbArena_Free( &chain.arena );
	return status;
}

lmbStatus lmbTrain_StartFromChain( lmbTraining *training, const lmbEquations *equations, double *parameters,
                                   bool *started, lmbError *error )
{
	Chain chain;
	*started = false;
	lmbStatus status = Begin( &chain, training, equations ) ? Study( &chain, started, error ) : lmb_statusOk;
	const lmbScaledNetwork *part = &equations->parts[lmb_partPotential];
	for ( int k = 0; status == lmb_statusOk && *started && part->used && k < part->mlp.sizes[0]; ++k )
		parameters[part->offset + part->mlp.weights[0] + (size_t)k] =
		    chain.unknowns[chain.potentialAt + k] / ( part->outputScale[0] * part->inputScale[k] );
	if ( status == lmb_statusOk && *started )
		status = ShapeMass( &chain, parameters, error );
	lmbArena_Free( &chain.arena );
	return status;
}

lmbStatus lmbTrain_ImagineChain( lmbTraining *training, const lmbEquations *equations, lmbArena *arena,
                                 lmbSamples *out, lmbError *error )
{
	Chain chain;
	bool holds = false;
	*out = ( lmbSamples ){ 0 };
	lmbStatus status = Begin( &chain, training, equations ) ? Study( &chain, &holds, error ) : lmb_statusOk;
	if ( status == lmb_statusOk && holds )
		status = Imagine( &chain, out, arena, error );
	lmbArena_Free( &chain.arena );
	return status;
}
