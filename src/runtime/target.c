#include "target.h"

#include <stdbool.h>
#include <string.h>

/* What is known of the past. */
typedef struct Past
{
	const double *steps;
	int known;
	bool glides; /* before the oldest frame the target moved on evenly; else it stood still */
} Past;

/* A row of weights: += scale d(n - back). */
static void AddSlope( double *row, int back, double scale, const Past *past )
{
	if ( back + 1 >= past->known )
	{
		if ( !past->glides )
			return;
		back = past->known - 2;
	}
	row[back] += scale / past->steps[back];
	row[back + 1] -= scale / past->steps[back];
}

/* += scale v(n - back). */
static void AddVelocity( double *row, int back, double scale, const Past *past )
{
	if ( back + 1 >= past->known )
	{
		AddSlope( row, back, scale, past );
		return;
	}
	/* Before the oldest frame, frames at the spacing of the first known step. */
	const double *steps = past->steps;
	double before = back + 2 < past->known ? steps[back + 1] : steps[back];
	double share = steps[back] / ( steps[back] + before );
	AddSlope( row, back, scale * ( 1.0 + share ), past );
	AddSlope( row, back + 1, -scale * share, past );
}

static void FillWeights( lmbTargetInterpolation interpolation, const Past *past, lmbTargetWeights *weights )
{
	memset( weights, 0, sizeof( *weights ) );
	if ( past->known < 2 || ( past->glides && past->known == 2 ) )
		return;
	if ( interpolation == lmb_targetLinear )
	{
		AddSlope( weights->start, 0, 1.0, past );
		AddSlope( weights->start, 1, -1.0, past );
		return;
	}
	double rate = 1.0 / past->steps[0];
	AddSlope( weights->start, 0, 6.0 * rate, past );
	AddVelocity( weights->start, 1, -4.0 * rate, past );
	AddVelocity( weights->start, 0, -2.0 * rate, past );
	AddSlope( weights->end, 0, -6.0 * rate, past );
	AddVelocity( weights->end, 1, 2.0 * rate, past );
	AddVelocity( weights->end, 0, 4.0 * rate, past );
}

void lmbTarget_Weights( lmbTargetInterpolation interpolation, const double *steps, int known,
                        lmbTargetWeights *weights )
{
	Past past = { steps, known > lmbTargetFrames ? lmbTargetFrames : known, false };
	FillWeights( interpolation, &past, weights );
}

void lmbTarget_WeightsGliding( lmbTargetInterpolation interpolation, const double *steps, int known,
                               lmbTargetWeights *weights )
{
	Past past = { steps, known > lmbTargetFrames ? lmbTargetFrames : known, true };
	FillWeights( interpolation, &past, weights );
}
