/* Multiple shooting (Bock and Plitt 1984): windows of each trajectory with starts of their own are carried
 * forward by RK4 and held against the measured positions and against the next window's start. For given
 * parameters the best starts are found by Gauss-Newton, which leaves the parameters alone to L-BFGS; the
 * gradient is the adjoint of the discrete steps, exact. */
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
	return lmb_statusOk;
}

/* The unit of what entry x of a window's end lacks to the next one's start. */
static double JoinUnit( const lmbShooting *shot, int x )
{
	return joinShare * shot->sigma[x % shot->n] / ( x < shot->n ? 1.0 : joinTime );
}

/* What each window's end lacks to the next one's start, and its gradients. */
static double Join( lmbShooting *shot )
{
	lmbWindows *set = &shot->teach;
	int states = 2 * shot->n;
	double sum = 0.0;
	memset( set->byEnds, 0, (size_t)set->windowCount * (size_t)states * sizeof( double ) );
	for ( int w = 0; w < set->windowCount; ++w )
		for ( int x = 0; x < states && set->windows[w].next >= 0; ++x )
		{
			double *end = set->ends + (size_t)w * (size_t)states + (size_t)x;
			const double *next = set->starts + (size_t)( w + 1 ) * (size_t)states + (size_t)x;
			double unit = JoinUnit( shot, x ), off = ( *end - *next ) / unit;
			sum += off * off / set->numbers;
			set->byEnds[(size_t)w * (size_t)states + (size_t)x] = 2.0 * off / ( unit * set->numbers );
		}
	return sum;
}

/* Solves L X = B, or with L transposed, in place of B (size x columns), L a lower triangle. */
static bool Triangle( const double *l, int size, char transposed, double *b, int columns )
{
	return LAPACKE_dtrtrs( LAPACK_ROW_MAJOR, 'L', transposed, 'N', size, columns, l, size, b, columns ) == 0;
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

/* What a window's start moves by when so much of each of its numbers is one unit. */
static double Move( const lmbShooting *shot, int x )
{
	return x == 2 * shot->n ? 0.0 : 1e-4 * shot->startScale[x];
}

/* Positions at samples and ends of all windows, with each number of the start moved, and with none. False:
 * not finite, or cancelled. */
static bool Vary( lmbShooting *shot, lmbWindows *set, const double *parameters )
{
	int n = shot->n, states = 2 * n;
	size_t all = (size_t)set->windowCount * (size_t)states;
	for ( int x = 0; x <= states; ++x )
	{
		for ( int w = 0; w < set->windowCount && x < states; ++w )
			set->starts[(size_t)w * (size_t)states + (size_t)x] += Move( shot, x );
		double loss = lmbShooting_Carry( shot, set, parameters );
		for ( int w = 0; w < set->windowCount && x < states; ++w )
			set->starts[(size_t)w * (size_t)states + (size_t)x] -= Move( shot, x );
		if ( !isfinite( loss ) )
			return false;
		memcpy( shot->endColumns + (size_t)x * all, set->ends, all * sizeof( double ) );
		double *to = shot->columns[x];
		for ( int b = 0; b < set->batchCount; ++b )
		{
			const lmbWindowBatch *batch = &set->batches[b];
			size_t numbers = (size_t)batch->count * (size_t)n;
			for ( int s = 0; s < batch->steps; ++s, to += numbers )
				memcpy( to, batch->q + (size_t)s * (size_t)batch->substeps * numbers,
				        numbers * sizeof( double ) );
		}
	}
	return true;
}

/* The data's part of the normal equations of every start, lower triangles. */
static void FillNormal( lmbShooting *shot, const lmbWindows *set )
{
	size_t states = 2 * (size_t)shot->n, at = 0;
	memset( shot->normal, 0, (size_t)set->windowCount * states * states * sizeof( double ) );
	memset( shot->right, 0, (size_t)set->windowCount * states * sizeof( double ) );
	for ( int b = 0; b < set->batchCount; ++b )
	{
		const lmbWindowBatch *batch = &set->batches[b];
		double *own[2 * lmbLimbMaxDofs + 1];
		for ( size_t x = 0; x <= states; ++x )
			own[x] = shot->columns[x] + at;
		for ( int k = 0; k < batch->count; ++k )
		{
			size_t w = (size_t)( batch->first + k );
			double *a = shot->normal + w * states * states;
			Accumulate( shot, batch, k, own, a, shot->right + w * states );
			for ( size_t x = 0; x < states; ++x )
				a[x * states + x] += 1e-9 * a[x * states + x] + 1e-300;
		}
		at += (size_t)batch->steps * (size_t)batch->count * (size_t)shot->n;
	}
}

/* Adds what joins window w, whose end is off by so much, to the one behind it; mixed (states x states): the
 * block of both. */
static void JoinNormal( lmbShooting *shot, const lmbWindows *set, int w, double *mixed )
{
	int states = 2 * shot->n;
	size_t all = (size_t)set->windowCount * (size_t)states, at = (size_t)w * (size_t)states;
	double *own = shot->normal + at * (size_t)states, *next = own + (size_t)states * (size_t)states;
	const double *base = shot->endColumns + (size_t)states * all + at;
	for ( int e = 0; e < states; ++e )
	{
		double unit = JoinUnit( shot, e ), move = Move( shot, e ) / unit;
		double off = ( base[e] - set->starts[at + (size_t)states + (size_t)e] ) / unit;
		double slopes[2 * lmbLimbMaxDofs] = { 0 };
		for ( int x = 0; x < states; ++x )
			slopes[x] = ( shot->endColumns[(size_t)x * all + at + (size_t)e] - base[e] ) / unit;
		for ( int x = 0; x < states; ++x )
		{
			shot->right[at + (size_t)x] -= slopes[x] * off;
			mixed[x * states + e] = -slopes[x] * move;
			for ( int y = 0; y <= x; ++y )
				own[x * states + y] += slopes[x] * slopes[y];
		}
		next[e * states + e] += move * move;
		shot->right[at + (size_t)( states + e )] += move * off;
	}
}

/* Solves the normal equations, in place of the right sides; joined: of neighbours together, a block
 * tridiagonal system. False when it is not positive. */
static bool SolveStarts( lmbShooting *shot, const lmbWindows *set, bool joined )
{
	int states = 2 * shot->n;
	size_t size = (size_t)states * (size_t)states;
	for ( int w = 0; w < set->windowCount; ++w )
	{
		bool joins = joined && set->windows[w].next >= 0;
		double *own = shot->normal + (size_t)w * size, *mixed = shot->mixed + (size_t)w * size;
		double *right = shot->right + (size_t)w * (size_t)states;
		if ( joins )
			JoinNormal( shot, set, w, mixed );
		if ( LAPACKE_dpotrf( LAPACK_ROW_MAJOR, 'L', states, own, states ) != 0 ||
		     !Triangle( own, states, 'N', right, 1 ) )
			return false;
		if ( !joins )
			continue;
		if ( !Triangle( own, states, 'N', mixed, states ) )
			return false;
		for ( int x = 0; x < states; ++x )
			for ( int k = 0; k < states; ++k )
			{
				right[states + x] -= mixed[k * states + x] * right[k];
				for ( int y = 0; y <= x; ++y )
					own[size + (size_t)( x * states + y )] -= mixed[k * states + x] * mixed[k * states + y];
			}
	}
	for ( int w = set->windowCount - 1; w >= 0; --w )
	{
		const double *own = shot->normal + (size_t)w * size, *mixed = shot->mixed + (size_t)w * size;
		double *right = shot->right + (size_t)w * (size_t)states;
		for ( int x = 0; x < states && joined && set->windows[w].next >= 0; ++x )
			for ( int k = 0; k < states; ++k )
				right[x] -= mixed[x * states + k] * right[states + k];
		if ( !Triangle( own, states, 'T', right, 1 ) )
			return false;
	}
	return true;
}

/* One Gauss-Newton step of all windows' starts to where the parameters fit best: of stopping windows, what a
 * user would do who knows the first second of measurements. False: there is none, and nothing has changed. */
static bool CorrectStarts( lmbShooting *shot, lmbWindows *set, bool joined, const double *parameters )
{
	int states = 2 * shot->n;
	if ( !Vary( shot, set, parameters ) )
		return false;
	FillNormal( shot, set );
	if ( !SolveStarts( shot, set, joined ) )
		return false;
	for ( int w = 0; w < set->windowCount; ++w )
		for ( int x = 0; x < states; ++x )
		{
			size_t at = (size_t)w * (size_t)states + (size_t)x;
			set->starts[at] += shot->right[at] * Move( shot, x );
		}
	return true;
}

/* The starts follow the parameters (variable projection, Golub and Pereyra 1973): at the best ones they do
 * not matter for the gradient. Corrected from where the last iteration had them, so that a step that is tried
 * and given up leaves nothing behind. */
static double Objective( void *context, const double *point, double *gradient )
{
	lmbShooting *shot = context;
	size_t states = 2 * (size_t)shot->n, p = shot->equations->parameterCount;
	lmbWindows *set = &shot->teach;
	memcpy( set->starts, shot->anchors, (size_t)set->windowCount * states * sizeof( double ) );
	(void)CorrectStarts( shot, set, true, point );
	double loss = lmbShooting_Carry( shot, set, point );
	shot->trainRms = loss;
	loss += Join( shot );
	memset( gradient, 0, p * sizeof( double ) );
	if ( !isfinite( loss ) ||
	     lmbJob_ForEach( shot->training->job, set->batchCount, BackwardBatch, shot, NULL ) != lmb_statusOk )
		return (double)NAN;
	for ( int b = 0; b < set->batchCount; ++b )
		for ( size_t k = 0; k < p; ++k )
			gradient[k] += shot->batchGradients[(size_t)b * p + k];
	return loss;
}

/* Mismatch on the stopping trajectories, each window from its own best start. */
static void Look( lmbShooting *shot, const double *parameters, int iteration, double trainLoss )
{
	lmbShooting_FillStarts( shot, &shot->stop );
	for ( int round = 0; round < correctionRounds; ++round )
		(void)CorrectStarts( shot, &shot->stop, false, parameters );
	double loss = lmbShooting_Carry( shot, &shot->stop, parameters );
	if ( loss < shot->best.loss )
	{
		shot->best.loss = loss;
		shot->best.trainLoss = trainLoss;
		shot->bestIteration = iteration;
		memcpy( shot->best.parameters, parameters, shot->equations->parameterCount * sizeof( double ) );
	}
}

static void KeepStarts( lmbShooting *shot )
{
	memcpy( shot->anchors, shot->teach.starts,
	        (size_t)shot->teach.windowCount * 2 * (size_t)shot->n * sizeof( double ) );
}

static bool Observe( void *context, int iteration, const double *point, double value )
{
	lmbShooting *shot = context;
	(void)value;
	KeepStarts( shot );
	if ( iteration % lookEvery == 0 )
		Look( shot, point, iteration, shot->trainRms );
	lmbTraining_Tell( shot->training, 1.0, "shooting", shot->best.loss );
	int part = shot->training->def->lbfgsIterations / patientPart;
	return iteration - shot->bestIteration < ( part > patience ? part : patience ) &&
	       !lmbJob_Cancelled( shot->training->job );
}

/* Room for the starts' normal equations, of either set. */
static lmbStatus PrepareStarts( lmbShooting *shot, lmbError *error )
{
	const lmbWindows *teach = &shot->teach, *stop = &shot->stop;
	size_t states = 2 * (size_t)shot->n, numbers = (size_t)fmax( teach->numbers, stop->numbers );
	size_t windows =
	    (size_t)( teach->windowCount > stop->windowCount ? teach->windowCount : stop->windowCount );
	bool complete = true;
	for ( size_t x = 0; x <= states; ++x )
	{
		shot->columns[x] = LMB_NEW( &shot->arena, double, numbers );
		complete = complete && shot->columns[x] != NULL;
	}
	shot->endColumns = LMB_NEW( &shot->arena, double, ( states + 1 ) * windows * states );
	shot->normal = LMB_NEW( &shot->arena, double, windows *states *states );
	shot->mixed = LMB_NEW( &shot->arena, double, windows *states *states );
	shot->right = LMB_NEW( &shot->arena, double, windows *states );
	shot->anchors = LMB_NEW( &shot->arena, double, windows *states );
	complete = complete && shot->endColumns != NULL && shot->normal != NULL && shot->mixed != NULL &&
	           shot->right != NULL && shot->anchors != NULL;
	return complete ? lmb_statusOk : lmbError_Memory( error );
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
	shot->rollouts = LMB_NEW( &shot->arena, lmbRollout, shot->workerCount );
	shot->work = LMB_NEW( &shot->arena, double, (size_t)shot->workerCount * shot->room );
	shot->batchGradients = LMB_NEW( &shot->arena, double, (size_t)shot->teach.batchCount *p );
	shot->batchLosses = LMB_NEW( &shot->arena, double, batches );
	shot->point = LMB_NEW( &shot->arena, double, p );
	shot->best.parameters = LMB_NEW( &shot->arena, double, p );
	if ( shot->rollouts == NULL || shot->work == NULL || shot->batchGradients == NULL ||
	     shot->batchLosses == NULL || shot->point == NULL || shot->best.parameters == NULL )
		return lmbError_Memory( error );
	LMB_TRY( PrepareStarts( shot, error ) );
	for ( int w = 0; w < shot->workerCount; ++w )
		LMB_TRY( lmbRollout_Make( &shot->rollouts[w], shot->equations, widest, &shot->arena, error ) );
	lmbShooting_FillStarts( shot, &shot->teach );
	KeepStarts( shot );
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
	double *gradient = LMB_NEW( &shot->arena, double, p );
	if ( gradient == NULL )
		return lmbError_Memory( error );
	(void)Objective( shot, shot->point, gradient );
	KeepStarts( shot );
	Look( shot, parameters, 0, shot->trainRms );
	lmbLbfgsDef lbfgs = lmbDefaultLbfgsDef();
	lbfgs.iterations = shot->training->def->lbfgsIterations;
	lbfgs.memory = 40;
	lbfgs.observer = Observe;
	LMB_TRY( lmbLbfgs_Minimize( p, shot->point, Objective, shot, &lbfgs, NULL, error ) );
	if ( lmbJob_Cancelled( shot->training->job ) )
		return lmbJob_CancelledStatus( error );
	Look( shot, shot->point, 0, shot->trainRms );
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
