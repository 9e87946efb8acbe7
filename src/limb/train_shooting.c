/* Multiple shooting (Bock and Plitt 1984): windows of each trajectory with starts of their own are carried
 * forward by RK4 and held against the measured positions and against the next window's start. Parameters and
 * starts are found together by L-BFGS; the gradient is the adjoint of the discrete steps, exact. */
#include "limb/train_windows.h"

#include "learn/optimize.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

enum
{
	lookEvery = 5, /* iterations */
	patience = 60, /* iterations without a better stopping loss, or this part of all of them: */
	patientPart = 4,
	correctionRounds = 2 /* Gauss-Newton on a stopping window's start */
};

/* Starts of neighbouring windows agree to this part of the noise; velocities to that in this time. */
static const double joinShare = 0.3, joinTime = 0.1;

static lmbStatus BackwardBatch( void *context, int index, int worker, lmbError *error )
{
	lmbShooting *shot = context;
	(void)error;
	lmbWindowBatch *batch = &shot->now->batches[index];
	size_t n = (size_t)shot->n, numbers = (size_t)batch->count * n;
	double *begin = shot->work + (size_t)worker * shot->room;
	double *end = begin + (size_t)batch->count * (size_t)shot->m;
	double *byQ = end + (size_t)batch->count * (size_t)shot->m, *byV = byQ + numbers;
	double *gradient = shot->batchGradients + (size_t)index * shot->equations->parameterCount;
	double share = 1.0 / shot->now->numbers;
	memset( gradient, 0, shot->equations->parameterCount * sizeof( double ) );
	for ( size_t k = 0; k < (size_t)batch->count; ++k )
	{
		const double *own = shot->now->byEnds + ( (size_t)batch->first + k ) * 2 * n;
		memcpy( byQ + k * n, own, n * sizeof( double ) );
		memcpy( byV + k * n, own + n, n * sizeof( double ) );
	}
	for ( int s = batch->steps * batch->substeps - 1; s >= 0; --s )
	{
		const double *q = batch->q + (size_t)s * numbers, *v = batch->v + (size_t)s * numbers;
		bool straight = lmbShooting_BatchInputs( shot, batch, s, begin, end );
		lmbRollout_StepBackward( &shot->rollouts[worker], shot->parameters, batch->count, batch->dt, begin,
		                         straight ? end : NULL, q, v, byQ, byV, gradient );
		if ( s % batch->substeps == 0 )
			lmbShooting_SampleLoss( shot, batch, s / batch->substeps, q, share, byQ );
	}
	for ( size_t k = 0; k < (size_t)batch->count; ++k )
	{
		double *own = shot->startGradients + ( (size_t)batch->first + k ) * 2 * n;
		for ( size_t i = 0; i < n; ++i )
		{
			own[i] += byQ[k * n + i];
			own[n + i] += byV[k * n + i];
		}
	}
	return lmb_statusOk;
}

/* What each window's end lacks to the next one's start, and its gradients. */
static double Join( lmbShooting *shot )
{
	lmbWindows *set = &shot->teach;
	size_t n = (size_t)shot->n;
	double sum = 0.0;
	memset( set->byEnds, 0, (size_t)set->windowCount * 2 * n * sizeof( double ) );
	memset( shot->startGradients, 0, (size_t)set->windowCount * 2 * n * sizeof( double ) );
	for ( int w = 0; w < set->windowCount; ++w )
	{
		int next = set->windows[w].next;
		for ( size_t i = 0; i < 2 * n && next >= 0; ++i )
		{
			double unit = joinShare * shot->sigma[i % n] / ( i < n ? 1.0 : joinTime );
			double off = ( set->ends[(size_t)w * 2 * n + i] - set->starts[(size_t)next * 2 * n + i] ) / unit;
			double slope = 2.0 * off / ( unit * set->numbers );
			sum += off * off / set->numbers;
			set->byEnds[(size_t)w * 2 * n + i] = slope;
			shot->startGradients[(size_t)next * 2 * n + i] -= slope;
		}
	}
	return sum;
}

static void SpreadPoint( lmbShooting *shot, const double *point )
{
	size_t states = 2 * (size_t)shot->n, p = shot->equations->parameterCount;
	for ( size_t k = 0; k < (size_t)shot->teach.windowCount * states; ++k )
		shot->teach.starts[k] = shot->firstStarts[k] + shot->startScale[k % states] * point[p + k];
}

static double Objective( void *context, const double *point, double *gradient )
{
	lmbShooting *shot = context;
	size_t states = 2 * (size_t)shot->n, p = shot->equations->parameterCount;
	SpreadPoint( shot, point );
	double loss = lmbShooting_Carry( shot, &shot->teach, point );
	shot->trainRms = loss;
	loss += Join( shot );
	memset( gradient, 0, p * sizeof( double ) );
	if ( !isfinite( loss ) || lmbJob_ForEach( shot->training->job, shot->teach.batchCount, BackwardBatch,
	                                          shot, NULL ) != lmb_statusOk )
		return (double)NAN;
	for ( int b = 0; b < shot->teach.batchCount; ++b )
		for ( size_t k = 0; k < p; ++k )
			gradient[k] += shot->batchGradients[(size_t)b * p + k];
	for ( size_t k = 0; k < (size_t)shot->teach.windowCount * states; ++k )
		gradient[p + k] = shot->startGradients[k] * shot->startScale[k % states];
	return loss;
}

/* Adds one moved start's part of the normal equations: columns are differences of whole windows. */
static void Accumulate( const lmbShooting *shot, const lmbWindowBatch *batch, int k, double *const *columns,
                        double *a, double *b )
{
	int states = 2 * shot->n;
	for ( int s = 0; s < batch->steps; ++s )
		for ( int i = 0; i < shot->n; ++i )
		{
			size_t at = ( (size_t)s * (size_t)batch->count + (size_t)k ) * (size_t)shot->n + (size_t)i;
			double weight = 1.0 / ( shot->sigma[i] * shot->sigma[i] );
			const double *real = lmbShooting_Measured( shot, &shot->now->windows[batch->first + k], s );
			double base = columns[states][at];
			for ( int x = 0; x < states; ++x )
			{
				double slope = columns[x][at] - base;
				b[x] += weight * slope * ( real[i] - base );
				for ( int y = 0; y <= x; ++y )
					a[x * states + y] += weight * slope * ( columns[y][at] - base );
			}
		}
}

/* One Gauss-Newton step of the stopping windows' starts: what a user would do who knows the first second of
 * measurements. columns: (2 n + 1) copies of each batch's positions at samples. */
static lmbStatus CorrectStarts( lmbShooting *shot, const double *parameters, double *const *columns,
                                lmbError *error )
{
	lmbWindows *set = &shot->stop;
	int n = shot->n, states = 2 * n;
	double move[2 * lmbLimbMaxDofs + 1] = { 0 };
	for ( int x = 0; x <= states; ++x )
	{
		double moved = move[x] = x == states ? 0.0 : 1e-4 * shot->startScale[x];
		for ( int w = 0; w < set->windowCount && x < states; ++w )
			set->starts[(size_t)w * (size_t)states + (size_t)x] += moved;
		double loss = lmbShooting_Carry( shot, set, parameters );
		for ( int w = 0; w < set->windowCount && x < states; ++w )
			set->starts[(size_t)w * (size_t)states + (size_t)x] -= moved;
		if ( !isfinite( loss ) )
			return lmbJob_Cancelled( shot->training->job ) ? lmbJob_CancelledStatus( error ) : lmb_statusOk;
		double *to = columns[x];
		for ( int b = 0; b < set->batchCount; ++b )
		{
			const lmbWindowBatch *batch = &set->batches[b];
			size_t numbers = (size_t)batch->count * (size_t)n;
			for ( int s = 0; s < batch->steps; ++s, to += numbers )
				memcpy( to, batch->q + (size_t)s * (size_t)batch->substeps * numbers,
				        numbers * sizeof( double ) );
		}
	}
	size_t at = 0;
	for ( int b = 0; b < set->batchCount; ++b )
	{
		const lmbWindowBatch *batch = &set->batches[b];
		double *own[2 * lmbLimbMaxDofs + 1];
		for ( int x = 0; x <= states; ++x )
			own[x] = columns[x] + at;
		for ( int k = 0; k < batch->count; ++k )
		{
			double a[4 * lmbLimbMaxDofs * lmbLimbMaxDofs] = { 0 }, right[2 * lmbLimbMaxDofs] = { 0 };
			Accumulate( shot, batch, k, own, a, right );
			for ( int x = 0; x < states; ++x )
				a[x * states + x] += 1e-9 * a[x * states + x] + 1e-300;
			if ( LAPACKE_dposv( LAPACK_ROW_MAJOR, 'L', states, 1, a, states, right, 1 ) == 0 )
				for ( int x = 0; x < states; ++x )
					set->starts[(size_t)( batch->first + k ) * (size_t)states + (size_t)x] +=
					    right[x] * move[x];
		}
		at += (size_t)batch->steps * (size_t)batch->count * (size_t)n;
	}
	return lmb_statusOk;
}

/* Mismatch on the stopping trajectories, each window from its own best start. */
static lmbStatus Look( lmbShooting *shot, const double *parameters, int iteration, double trainLoss,
                       lmbError *error )
{
	int states = 2 * shot->n;
	size_t numbers = (size_t)shot->stop.numbers;
	lmbArena room = { 0 };
	double *columns[2 * lmbLimbMaxDofs + 1];
	lmbStatus status = lmb_statusOk;
	for ( int x = 0; x <= states; ++x )
	{
		columns[x] = LMB_NEW( &room, double, numbers );
		status = columns[x] == NULL ? lmbError_Memory( error ) : status;
	}
	lmbShooting_FillStarts( shot, &shot->stop );
	for ( int round = 0; round < correctionRounds && status == lmb_statusOk; ++round )
		status = CorrectStarts( shot, parameters, columns, error );
	lmbArena_Free( &room );
	LMB_TRY( status );
	double loss = lmbShooting_Carry( shot, &shot->stop, parameters );
	if ( loss < shot->best.loss )
	{
		shot->best.loss = loss;
		shot->best.trainLoss = trainLoss;
		shot->bestIteration = iteration;
		memcpy( shot->best.parameters, parameters, shot->equations->parameterCount * sizeof( double ) );
	}
	return lmb_statusOk;
}

static bool Observe( void *context, int iteration, const double *point, double value )
{
	lmbShooting *shot = context;
	(void)value;
	if ( iteration % lookEvery == 0 && Look( shot, point, iteration, shot->trainRms, NULL ) != lmb_statusOk )
		return false;
	lmbTraining_Tell( shot->training, 1.0, "shooting", shot->best.loss );
	int part = shot->training->def->lbfgsIterations / patientPart;
	return iteration - shot->bestIteration < ( part > patience ? part : patience ) &&
	       !lmbJob_Cancelled( shot->training->job );
}

static lmbStatus Prepare( lmbShooting *shot, const double *parameters, lmbError *error )
{
	lmbTraining *training = shot->training;
	size_t n = (size_t)shot->n, m = (size_t)shot->m, p = shot->equations->parameterCount;
	LMB_TRY( lmbShooting_MakeWindows( shot, training->split.train, training->split.trainCount, &shot->teach,
	                                  error ) );
	LMB_TRY( lmbShooting_MakeWindows( shot, training->split.stop, training->split.stopCount, &shot->stop,
	                                  error ) );
	int widest = 1;
	for ( int b = 0; b < shot->teach.batchCount; ++b )
		widest = shot->teach.batches[b].count > widest ? shot->teach.batches[b].count : widest;
	for ( int b = 0; b < shot->stop.batchCount; ++b )
		widest = shot->stop.batches[b].count > widest ? shot->stop.batches[b].count : widest;
	int batches =
	    shot->teach.batchCount > shot->stop.batchCount ? shot->teach.batchCount : shot->stop.batchCount;
	shot->workerCount = training->job != NULL && training->job->threads > 1 ? training->job->threads : 1;
	shot->room = (size_t)widest * 2 * ( n + m );
	size_t states = (size_t)shot->teach.windowCount * 2 * n;
	shot->rollouts = LMB_NEW( &shot->arena, lmbRollout, shot->workerCount );
	shot->work = LMB_NEW( &shot->arena, double, (size_t)shot->workerCount * shot->room );
	shot->batchGradients = LMB_NEW( &shot->arena, double, (size_t)shot->teach.batchCount *p );
	shot->batchLosses = LMB_NEW( &shot->arena, double, batches );
	shot->startGradients = LMB_NEW( &shot->arena, double, states );
	shot->firstStarts = LMB_NEW( &shot->arena, double, states );
	shot->point = LMB_NEW( &shot->arena, double, p + states );
	shot->best.parameters = LMB_NEW( &shot->arena, double, p );
	if ( shot->rollouts == NULL || shot->work == NULL || shot->batchGradients == NULL ||
	     shot->batchLosses == NULL || shot->startGradients == NULL || shot->firstStarts == NULL ||
	     shot->point == NULL || shot->best.parameters == NULL )
		return lmbError_Memory( error );
	for ( int w = 0; w < shot->workerCount; ++w )
		LMB_TRY( lmbRollout_Make( &shot->rollouts[w], shot->equations, widest, &shot->arena, error ) );
	lmbShooting_FillStarts( shot, &shot->teach );
	memcpy( shot->firstStarts, shot->teach.starts, states * sizeof( double ) );
	memcpy( shot->point, parameters, p * sizeof( double ) );
	return lmb_statusOk;
}

/* The unit of mismatch, and what a start's unknowns are counted in. */
static void ChooseScales( lmbShooting *shot )
{
	lmbEquationsDef spread;
	lmbTraining_EquationsDef( shot->training, &spread );
	double noise = shot->training->def->noise;
	for ( int i = 0; i < shot->n; ++i )
	{
		double position = fmax( spread.positionSpread[i], 1e-9 );
		shot->sigma[i] = noise > 0.0 ? noise : 1e-3 * position;
		shot->startScale[i] = position;
		shot->startScale[shot->n + i] = fmax( spread.velocitySpread[i], 1e-9 );
	}
}

static lmbStatus Shoot( lmbShooting *shot, double *parameters, lmbError *error )
{
	size_t p = shot->equations->parameterCount;
	ChooseScales( shot );
	LMB_TRY( Prepare( shot, parameters, error ) );
	LMB_TRY( Look( shot, parameters, 0, (double)NAN, error ) );
	lmbLbfgsDef lbfgs = lmbDefaultLbfgsDef();
	lbfgs.iterations = shot->training->def->lbfgsIterations;
	lbfgs.memory = 40;
	lbfgs.observer = Observe;
	size_t unknowns = p + (size_t)shot->teach.windowCount * 2 * (size_t)shot->n;
	LMB_TRY( lmbLbfgs_Minimize( unknowns, shot->point, Objective, shot, &lbfgs, NULL, error ) );
	if ( lmbJob_Cancelled( shot->training->job ) )
		return lmbJob_CancelledStatus( error );
	LMB_TRY( Look( shot, shot->point, 0, shot->trainRms, error ) );
	if ( !( shot->best.loss < HUGE_VAL ) )
		return lmbError_Set(
		    error, lmb_statusNumerical,
		    "the model never stayed finite on the stopping trajectories; try a shorter window "
		    "or more smoothing" );
	memcpy( parameters, shot->best.parameters, p * sizeof( double ) );
	return lmb_statusOk;
}

lmbStatus lmbTrain_Shooting( lmbTraining *training, const lmbEquations *equations, double *parameters,
                             double *trainRms, double *stopRms, lmbError *error )
{
	lmbShooting shot = { .training = training,
	                     .equations = equations,
	                     .n = equations->dofCount,
	                     .m = equations->inputCount,
	                     .best = { .loss = HUGE_VAL, .trainLoss = (double)NAN } };
	lmbStatus status = Shoot( &shot, parameters, error );
	double unit = 0.0;
	for ( int i = 0; i < shot.n; ++i )
		unit += shot.sigma[i] / shot.n;
	*trainRms = sqrt( shot.best.trainLoss ) * unit;
	*stopRms = sqrt( shot.best.loss ) * unit;
	lmbArena_Free( &shot.arena );
	return status;
}
