/* Where a roll-out starts when the first state is not measured well: Gauss and Newton's method on the first
 * stretch of the measured positions. */
#include "evaluate/limb_player.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
	rounds = 10,
	halvings = 4
};

static const double nudge =
    1e-4; /* rad, rad/s: of differences; the runtime's networks are single precision */
static const double enough = 1e-6; /* of the cost: a smaller gain ends it */

/* One fit. */
typedef struct Fit
{
	lmbLimbPlayer *player;
	const lmbTrajectory *truth;
	lmbInputHold hold;
	int count, n;                   /* samples that are fitted, dofs */
	double *positions, *velocities; /* (count x n) of the last play */
	double *slopes, *off;           /* (count n x 2 n), (count n) */
} Fit;

/* Plays from a start (2 n); the sum of squares of positions minus truth, HUGE_VAL when it does not last. */
static lmbStatus Play( Fit *fit, double *start, double *cost, lmbError *error )
{
	lmbTrajectory piece = *fit->truth;
	piece.sampleCount = fit->count;
	piece.positions = start;
	piece.velocities = start + fit->n;
	lmbLimbRollout rollout = { .positions = fit->positions, .velocities = fit->velocities };
	LMB_TRY( lmbLimbPlayer_Run( fit->player, &piece, fit->hold, &rollout, error ) );
	*cost = 0.0;
	for ( int k = 0; k < fit->count * fit->n; ++k )
		*cost += pow( fit->positions[k] - fit->truth->positions[k], 2.0 );
	if ( rollout.finiteCount < fit->count || !isfinite( *cost ) )
		*cost = HUGE_VAL;
	return lmb_statusOk;
}

/* Differences of the played positions by the start, and what they are off by; false: they do not last. */
static lmbStatus Differentiate( Fit *fit, const double *start, bool *known, lmbError *error )
{
	int states = 2 * fit->n, numbers = fit->count * fit->n;
	double moved[2 * lmbLimbMaxDofs], cost;
	memcpy( moved, start, (size_t)states * sizeof( double ) );
	LMB_TRY( Play( fit, moved, &cost, error ) );
	*known = isfinite( cost );
	for ( int k = 0; k < numbers; ++k )
	{
		fit->off[k] = fit->truth->positions[k] - fit->positions[k];
		for ( int x = 0; x < states; ++x )
			fit->slopes[k * states + x] = -fit->positions[k] / nudge;
	}
	for ( int x = 0; x < states && *known; ++x )
	{
		moved[x] = start[x] + nudge;
		LMB_TRY( Play( fit, moved, &cost, error ) );
		moved[x] = start[x];
		*known = isfinite( cost );
		for ( int k = 0; k < numbers; ++k )
			fit->slopes[k * states + x] += fit->positions[k] / nudge;
	}
	return lmb_statusOk;
}

static lmbStatus Descend( Fit *fit, double *start, lmbError *error )
{
	int states = 2 * fit->n, numbers = fit->count * fit->n;
	double cost;
	LMB_TRY( Play( fit, start, &cost, error ) );
	for ( int round = 0; round < rounds && isfinite( cost ); ++round )
	{
		bool known;
		LMB_TRY( Differentiate( fit, start, &known, error ) );
		/* The least squares' solution takes the place of the right side's first numbers. */
		if ( !known || LAPACKE_dgels( LAPACK_ROW_MAJOR, 'N', numbers, states, 1, fit->slopes, states,
		                              fit->off, 1 ) != 0 )
			break;
		double tried[2 * lmbLimbMaxDofs] = { 0 }, before = cost, share = 1.0;
		for ( int h = 0; h < halvings; ++h, share *= 0.5 )
		{
			double now;
			for ( int x = 0; x < states; ++x )
				tried[x] = start[x] + share * fit->off[x];
			LMB_TRY( Play( fit, tried, &now, error ) );
			if ( !( now < cost ) )
				continue;
			memcpy( start, tried, (size_t)states * sizeof( double ) );
			cost = now;
			break;
		}
		if ( !( cost < before * ( 1.0 - enough ) ) )
			break;
	}
	return lmb_statusOk;
}

lmbStatus lmbLimbPlayer_FitStart( lmbLimbPlayer *player, const lmbTrajectory *trajectory, lmbInputHold hold,
                                  double duration, double *start, lmbError *error )
{
	int n = player->dofCount, states = 2 * n;
	double wanted = floor( duration / trajectory->step + 0.5 ) + 1.0;
	int count = wanted < trajectory->sampleCount ? (int)wanted : trajectory->sampleCount;
	memcpy( start, trajectory->positions, (size_t)n * sizeof( double ) );
	for ( int i = 0; i < n; ++i )
		start[n + i] = trajectory->velocities != NULL ? trajectory->velocities[i]
		               : trajectory->sampleCount > 1
		                   ? ( trajectory->positions[n + i] - trajectory->positions[i] ) / trajectory->step
		                   : 0.0;
	if ( count < 3 ) /* says less than the start has numbers */
		return lmb_statusOk;
	size_t numbers = (size_t)count * (size_t)n;
	double *room = calloc( numbers * ( 3 + (size_t)states ), sizeof( double ) );
	if ( room == NULL )
		return lmbError_Memory( error );
	Fit fit = { player,
	            trajectory,
	            hold,
	            count,
	            n,
	            room,
	            room + numbers,
	            room + 2 * numbers,
	            room + ( 2 + (size_t)states ) * numbers };
	lmbStatus status = Descend( &fit, start, error );
	free( room );
	return status;
}
