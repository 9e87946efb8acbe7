#include "target.h"

#include <string.h>

/* A row of weights: += scale d(n - back), of which standing still makes nothing before the oldest frame. */
static void AddSlope( double *row, int back, double scale, const double *steps, int known )
{
	if ( back + 1 >= known )
		return;
	row[back] += scale / steps[back];
	row[back + 1] -= scale / steps[back];
}

/* += scale v(n - back). */
static void AddVelocity( double *row, int back, double scale, const double *steps, int known )
{
	if ( back + 1 >= known )
		return;
	/* Before the oldest frame, still frames at the spacing of the first known step. */
	double before = back + 2 < known ? steps[back + 1] : steps[back];
	double share = steps[back] / ( steps[back] + before );
	AddSlope( row, back, scale * ( 1.0 + share ), steps, known );
	AddSlope( row, back + 1, -scale * share, steps, known );
}

void lmbTarget_Weights( lmbTargetInterpolation interpolation, const double *steps, int known,
                        lmbTargetWeights *weights )
{
	memset( weights, 0, sizeof( *weights ) );
	if ( known > lmbTargetFrames )
		known = lmbTargetFrames;
	if ( known < 2 )
		return;
	if ( interpolation == lmb_targetLinear )
	{
		AddSlope( weights->start, 0, 1.0, steps, known );
		AddSlope( weights->start, 1, -1.0, steps, known );
		return;
	}
	double rate = 1.0 / steps[0];
	AddSlope( weights->start, 0, 6.0 * rate, steps, known );
	AddVelocity( weights->start, 1, -4.0 * rate, steps, known );
	AddVelocity( weights->start, 0, -2.0 * rate, steps, known );
	AddSlope( weights->end, 0, -6.0 * rate, steps, known );
	AddVelocity( weights->end, 1, 2.0 * rate, steps, known );
	AddVelocity( weights->end, 0, 4.0 * rate, steps, known );
}
