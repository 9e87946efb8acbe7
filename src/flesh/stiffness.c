#include "flesh/stiffness.h"

#include "base/math3.h"
#include "flesh/network.h"
#include "flesh/solver_private.h"
#include "learn/ridge.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
	posesMost = 400,  /* of the random poses */
	framesMost = 100, /* of the frames of trained motions */
	samplesLeast = 20,
	foldCount = 5
};

/* A mass that moves nothing but makes the Hessian definite where a piece of tissue is free, as in modes.c. */
static const double shift = 1e-3;

/* One thread's solver and what it solves for. */
typedef struct Bench
{
	lmbSolver *solver;
	double *position; /* (nodeCount x 3) inner */
	double *forces;   /* (modeCount x 3 freeCount) M R phi, inner */
} Bench;

static lmbStatus MakeBench( const lmbSolverPlan *plan, int modeCount, lmbArena *arena, Bench *bench,
                            lmbError *error )
{
	lmbSolverDef def = lmbDefaultSolverDef();
	LMB_TRY( lmbSolver_Make( plan, &def, &bench->solver, error ) );
	bench->position = LMB_NEW( arena, double, 3 * (size_t)plan->nodeCount );
	bench->forces = LMB_NEW( arena, double, 3 * (size_t)plan->freeCount * (size_t)modeCount );
	if ( bench->position == NULL || bench->forces == NULL )
		return lmbError_Memory( error );
	bench->solver->terms.massFactor = shift;
	bench->solver->terms.dampingFactor = 0.0;
	return lmb_statusOk;
}

static void FillForces( const lmbModes *modes, Bench *bench )
{
	const lmbSolverPlan *plan = bench->solver->plan;
	size_t nodes = (size_t)plan->nodeCount, free = (size_t)plan->freeCount;
	for ( size_t m = 0; m < (size_t)modes->count; ++m )
		for ( size_t i = 0; i < free; ++i )
		{
			size_t node = (size_t)plan->outer[i];
			double *force = bench->forces + 3 * ( free * m + i );
			lmbMat33_Apply( force, bench->solver->rotations + 9 * node,
			                modes->shapes + 3 * ( nodes * m + node ) );
			for ( int axis = 0; axis < 3; ++axis )
				force[axis] *= plan->mass[i];
		}
}

/* logs (modeCount); *definite false leaves them alone. The bench's position is filled. */
static lmbStatus Measure( const lmbModes *modes, const double *bones, Bench *bench, double *logs,
                          bool *definite, lmbError *error )
{
	lmbSolver *solver = bench->solver;
	const lmbSolverPlan *plan = solver->plan;
	size_t size = 3 * (size_t)plan->freeCount, count = (size_t)modes->count;
	double reference[3];
	*definite = false;
	lmbSolver_Reference( solver, bones, reference );
	lmbSolver_Skin( solver, bones, reference );
	lmbSolver_AssembleHessian( solver, bench->position, false );
	if ( !cholmod_factorize( &solver->matrix, solver->factor, &solver->common ) ||
	     ( solver->common.status != CHOLMOD_OK && solver->common.status != CHOLMOD_NOT_POSDEF ) )
		return solver->common.status == CHOLMOD_OUT_OF_MEMORY
		           ? lmbError_Memory( error )
		           : lmbError_Set( error, lmb_statusNumerical,
		                           "fit: factoring a stiffness failed (CHOLMOD %d)", solver->common.status );
	if ( solver->common.status == CHOLMOD_NOT_POSDEF )
		return lmb_statusOk;
	FillForces( modes, bench );
	cholmod_dense b = { size, count, size * count, size, bench->forces, NULL, CHOLMOD_REAL, CHOLMOD_DOUBLE };
	cholmod_dense *x = cholmod_solve( CHOLMOD_A, solver->factor, &b, &solver->common );
	if ( x == NULL )
		return lmbError_Memory( error );
	*definite = true;
	for ( size_t m = 0; m < count; ++m )
	{
		double compliance =
		    cblas_ddot( (int)size, bench->forces + size * m, 1, (const double *)x->x + size * m, 1 );
		double ratio = ( 1.0 / compliance - shift ) / modes->omegaSquared[m];
		*definite = *definite && ratio > 0.0 && isfinite( ratio );
		logs[m] =
		    *definite ? fmax( -lmbStiffness_LogLimit, fmin( log( ratio ), lmbStiffness_LogLimit ) ) : 0.0;
	}
	cholmod_free_dense( &x, &solver->common );
	return lmb_statusOk;
}

lmbStatus lmbStiffness_Sample( const lmbTissue *tissue, const lmbModes *modes, const double *bones,
                               const double *nodes, double *logs, bool *definite, lmbError *error )
{
	lmbArena arena = { 0 };
	Bench bench = { 0 };
	lmbSolverPlan *plan = NULL;
	lmbStatus status = lmbSolverPlan_Make( tissue, lmb_orderingBest, &plan, error );
	if ( status == lmb_statusOk )
		status = MakeBench( plan, modes->count, &arena, &bench, error );
	if ( status == lmb_statusOk )
	{
		for ( size_t i = 0; i < (size_t)plan->nodeCount; ++i )
			memcpy( bench.position + 3 * i, nodes + 3 * (size_t)plan->outer[i], 3 * sizeof( double ) );
		status = Measure( modes, bones, &bench, logs, definite, error );
	}
	lmbSolver_Free( bench.solver );
	lmbSolverPlan_Free( plan );
	lmbArena_Free( &arena );
	return status;
}

/* A still shape that may teach. */
typedef struct Sample
{
	const double *bones;
	const float *nodes;
	bool random; /* a random pose: judges too */
	bool definite;
} Sample;

typedef struct Learning
{
	lmbArena arena;
	const lmbCharacter *character;
	const lmbModes *modes;
	const lmbJob *job;
	lmbSolverPlan *plan;
	Bench *benches; /* (threadCount) */
	int threadCount, sampleCount, featureCount;
	Sample *samples;         /* (sampleCount) */
	double *features, *logs; /* (sampleCount x featureCount), (sampleCount x modeCount) */
	_Atomic int done;
} Learning;

static void AddSample( Learning *learning, const double *bones, const float *nodes, bool random )
{
	learning->samples[learning->sampleCount++] = ( Sample ){ bones, nodes, random, false };
}

static int UsedFrames( const lmbSequence *sequence, double useSeconds )
{
	double most = useSeconds > 0.0 ? floor( useSeconds * sequence->rate ) + 1.0 : 1e9;
	return !sequence->trained ? 0 : most < sequence->frameCount ? (int)most : sequence->frameCount;
}

/* Evenly spread over what converged. */
static lmbStatus ChooseSamples( Learning *learning, const lmbDataset *dataset, double useSeconds,
                                lmbError *error )
{
	learning->samples = LMB_NEW( &learning->arena, Sample, posesMost + framesMost );
	if ( learning->samples == NULL )
		return lmbError_Memory( error );
	const lmbPoseSet *poses = &dataset->poses;
	size_t bones = 12 * (size_t)poses->boneCount, nodes = 3 * (size_t)poses->nodeCount;
	double spacing = fmax( 1.0, (double)poses->count / posesMost );
	for ( int i = 0; (int)( spacing * i ) < poses->count && i < posesMost; ++i )
	{
		size_t at = (size_t)( spacing * i );
		if ( poses->converged[at] )
			AddSample( learning, poses->bones + bones * at, poses->nodes + nodes * at, true );
	}
	int frames = 0;
	for ( int s = 0; s < dataset->sequenceCount; ++s )
		frames += UsedFrames( &dataset->sequences[s], useSeconds );
	spacing = fmax( 1.0, (double)frames / framesMost );
	double next = 0.0;
	int chosen = 0, before = 0;
	for ( int s = 0; s < dataset->sequenceCount; ++s )
	{
		const lmbSequence *sequence = &dataset->sequences[s];
		int used = UsedFrames( sequence, useSeconds );
		for ( int f = 0; f < used; ++f )
		{
			if ( before + f < (int)next || chosen == framesMost )
				continue;
			next += spacing;
			chosen += 1;
			if ( sequence->converged[f] )
				AddSample( learning, sequence->bones + bones * (size_t)f, sequence->still + nodes * (size_t)f,
				           false );
		}
		before += used;
	}
	return lmb_statusOk;
}

static lmbStatus MeasureSample( void *context, int index, int worker, lmbError *error )
{
	Learning *learning = context;
	Sample *sample = &learning->samples[index];
	Bench *bench = &learning->benches[worker];
	const lmbSolverPlan *plan = learning->plan;
	for ( size_t i = 0; i < (size_t)plan->nodeCount; ++i )
		for ( size_t axis = 0; axis < 3; ++axis )
			bench->position[3 * i + axis] = sample->nodes[3 * (size_t)plan->outer[i] + axis];
	LMB_TRY( Measure( learning->modes, sample->bones, bench,
	                  learning->logs + (size_t)index * (size_t)learning->modes->count, &sample->definite,
	                  error ) );
	lmbNetwork_Features( learning->character, sample->bones,
	                     learning->features + (size_t)index * (size_t)learning->featureCount );
	lmbJob_Progress( learning->job, "stiffnesses", ++learning->done, learning->sampleCount, "" );
	return lmb_statusOk;
}

static lmbStatus MeasureAll( Learning *learning, const lmbTissue *tissue, lmbError *error )
{
	lmbArena *arena = &learning->arena;
	size_t count = (size_t)learning->sampleCount;
	learning->threadCount = learning->job != NULL && learning->job->threads > 1 ? learning->job->threads : 1;
	learning->benches = LMB_NEW( arena, Bench, learning->threadCount );
	learning->features = LMB_NEW( arena, double, count *(size_t)learning->featureCount );
	learning->logs = LMB_NEW( arena, double, count *(size_t)learning->modes->count );
	if ( learning->benches == NULL || learning->features == NULL || learning->logs == NULL )
		return lmbError_Memory( error );
	LMB_TRY( lmbSolverPlan_Make( tissue, lmb_orderingBest, &learning->plan, error ) );
	for ( int t = 0; t < learning->threadCount; ++t )
		LMB_TRY( MakeBench( learning->plan, learning->modes->count, arena, &learning->benches[t], error ) );
	return lmbJob_ForEach( learning->job, learning->sampleCount, MeasureSample, learning, error );
}

/* Moves the samples that can be used to the front; returns how many. */
static int KeepDefinite( Learning *learning )
{
	size_t features = (size_t)learning->featureCount, modes = (size_t)learning->modes->count, kept = 0;
	for ( size_t i = 0; i < (size_t)learning->sampleCount; ++i )
	{
		if ( !learning->samples[i].definite )
			continue;
		memmove( learning->features + features * kept, learning->features + features * i,
		         features * sizeof( double ) );
		memmove( learning->logs + modes * kept, learning->logs + modes * i, modes * sizeof( double ) );
		learning->samples[kept++] = learning->samples[i];
	}
	return (int)kept;
}

/* Share of the variance of random poses' log ratios that ridges fitted without them explain. */
static lmbStatus Judge( const Learning *learning, lmbRidgeDef def, int count, double *explained,
                        lmbError *error )
{
	size_t features = (size_t)learning->featureCount, modes = (size_t)learning->modes->count;
	double *weights = LMB_NEW( (lmbArena *)&learning->arena, double, (size_t)count );
	double *solution = LMB_NEW( (lmbArena *)&learning->arena, double, modes *( features + 1 ) );
	double *predicted = LMB_NEW( (lmbArena *)&learning->arena, double, (size_t)count *modes );
	if ( weights == NULL || solution == NULL || predicted == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < count; ++i )
		weights[i] = def.folds[i] == 0 ? 0.0 : 1.0;
	def.sampleWeights = weights;
	LMB_TRY( lmbRidge_Fit( &def, solution, NULL, error ) );
	lmbRidge_Evaluate( count, (int)features, (int)modes, def.features, solution, predicted );
	double error2 = 0.0, total = 0.0;
	for ( size_t m = 0; m < modes; ++m )
	{
		double mean = 0.0, n = 0.0;
		for ( size_t i = 0; i < (size_t)count; ++i )
			if ( weights[i] == 0.0 )
			{
				mean += def.targets[modes * i + m];
				n += 1.0;
			}
		for ( size_t i = 0; i < (size_t)count; ++i )
			if ( weights[i] == 0.0 )
			{
				double off = predicted[modes * i + m] - def.targets[modes * i + m];
				double part = def.targets[modes * i + m] - mean / n;
				error2 += off * off;
				total += part * part;
			}
	}
	*explained = total > 0.0 ? 1.0 - error2 / total : 0.0;
	return lmb_statusOk;
}

static lmbStatus Regress( Learning *learning, int count, lmbArena *arena, lmbStiffness *out, lmbError *error )
{
	size_t features = (size_t)learning->featureCount, modes = (size_t)learning->modes->count;
	int32_t *folds = LMB_NEW( &learning->arena, int32_t, count );
	out->weights = LMB_NEW( arena, double, modes *( features + 1 ) );
	out->range = LMB_NEW( arena, double, 2 * modes );
	if ( folds == NULL || out->weights == NULL || out->range == NULL )
		return lmbError_Memory( error );
	for ( int i = 0, random = 0; i < count; ++i )
		folds[i] = learning->samples[i].random ? random++ % foldCount : -1;
	lmbRidgeDef def = { .sampleCount = count,
	                    .featureCount = (int)features,
	                    .outputCount = (int)modes,
	                    .features = learning->features,
	                    .targets = learning->logs,
	                    .folds = folds,
	                    .foldCount = foldCount };
	LMB_TRY( Judge( learning, def, count, &out->explained, error ) );
	LMB_TRY( lmbRidge_Fit( &def, out->weights, NULL, error ) );
	for ( size_t m = 0; m < modes; ++m )
	{
		double *range = out->range + 2 * m;
		for ( size_t i = 0; i < (size_t)count; ++i )
		{
			range[0] = fmin( range[0], learning->logs[modes * i + m] );
			range[1] = fmax( range[1], learning->logs[modes * i + m] );
		}
	}
	out->sampleCount = count;
	return lmb_statusOk;
}

static lmbStatus Learn( Learning *learning, const lmbTissue *tissue, const lmbDataset *dataset,
                        double useSeconds, lmbArena *arena, lmbStiffness *out, lmbError *error )
{
	LMB_TRY( ChooseSamples( learning, dataset, useSeconds, error ) );
	LMB_TRY( MeasureAll( learning, tissue, error ) );
	int count = KeepDefinite( learning ), random = 0;
	for ( int i = 0; i < count; ++i )
		random += learning->samples[i].random;
	if ( random < samplesLeast )
	{
		lmbJob_Note(
		    learning->job,
		    "fit: modes keep their stiffness in every pose: that takes %d random poses, and there are %d",
		    samplesLeast, random );
		return lmb_statusOk;
	}
	LMB_TRY( Regress( learning, count, arena, out, error ) );
	lmbJob_Note(
	    learning->job,
	    "fit: modes' stiffness by pose from %d still shapes (%d without a stable equilibrium left out); "
	    "explains %.2f of its variance on poses that did not teach it",
	    count, learning->sampleCount - count, out->explained );
	return lmb_statusOk;
}

lmbStatus lmbStiffness_Learn( const lmbCharacter *character, const lmbTissue *tissue, const lmbModes *modes,
                              const lmbDataset *dataset, double useSeconds, const lmbJob *job,
                              lmbArena *arena, lmbStiffness *stiffness, lmbError *error )
{
	*stiffness = ( lmbStiffness ){ .modeCount = modes->count,
	                               .featureCount = lmbNetwork_FeatureOffsets( character, NULL ) };
	Learning learning = {
	    .character = character, .modes = modes, .job = job, .featureCount = stiffness->featureCount };
	lmbStatus status = Learn( &learning, tissue, dataset, useSeconds, arena, stiffness, error );
	for ( int t = 0; learning.benches != NULL && t < learning.threadCount; ++t )
		lmbSolver_Free( learning.benches[t].solver );
	lmbSolverPlan_Free( learning.plan );
	lmbArena_Free( &learning.arena );
	return status;
}

void lmbStiffness_Evaluate( int modeCount, int featureCount, const double *weights, const double *range,
                            const double *features, double *logs )
{
	size_t width = (size_t)featureCount;
	for ( size_t m = 0; m < (size_t)modeCount; ++m )
	{
		const double *row = weights + ( width + 1 ) * m;
		double sum = row[width];
		for ( size_t f = 0; f < width; ++f )
			sum += row[f] * features[f];
		logs[m] = fmax( range[2 * m], fmin( sum, range[2 * m + 1] ) );
	}
}
