/* The same springs by semi-implicit Euler with enough substeps for the error of the exact step. Truth is the
 * continuous motion: a spring under sines in closed form. Both integrators get what a program has, the
 * frames, and the same cubic between them. */
#include "measure.h"
#include "runtime/springs.h"
#include "runtime/target.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum
{
	blocks = 210, /* 13,440 vertices, a human's */
	judged = 2,   /* blocks whose error counts */
	frames = 120,
	rate = 60,
	sines = 3,
	perBlock = ( lmbSpringPlanes + 12 ) * lmbLanes,
	mostSubsteps = 4096
};

static const double frequencies[sines] = { 0.7, 1.9, 3.1 }; /* Hz; amplitudes fall as 1 / f^2 */

typedef struct Euler
{
	lmbBench *bench;
	float *exact, *substepped;
	int substeps;
} Euler;

/* 2 to 8 Hz, a twentieth to a half of critical damping. */
static void SpringOf( size_t index, double *k, double *c )
{
	double w = 2.0 * 3.14159265358979 * ( 2.0 + 6.0 * (double)( index % 97 ) / 96.0 );
	*k = w * w;
	*c = 2.0 * w * ( 0.05 + 0.45 * (double)( index % 31 ) / 30.0 );
}

static double Target( double time )
{
	double sum = 0.0;
	for ( int i = 0; i < sines; ++i )
		sum +=
		    sin( 2.0 * 3.14159265358979 * frequencies[i] * time + i ) / ( frequencies[i] * frequencies[i] );
	return 0.01 * sum;
}

/* u'' + c u' + k u = -y'' with all transients gone. */
static void Truth( double k, double c, double time, double *u, double *v )
{
	*u = *v = 0.0;
	for ( int i = 0; i < sines; ++i )
	{
		double w = 2.0 * 3.14159265358979 * frequencies[i], phase = w * time + i;
		double drive = 0.01 * w * w / ( frequencies[i] * frequencies[i] );
		double lag = atan2( c * w, k - w * w ), size = drive / hypot( k - w * w, c * w );
		*u += size * sin( phase - lag );
		*v += size * w * cos( phase - lag );
	}
}

/* Start and end of a step's acceleration, from the frames. */
static void Drive( int frame, double *start, double *end )
{
	const double steps[3] = { 1.0 / rate, 1.0 / rate, 1.0 / rate };
	lmbTargetWeights weights;
	lmbTarget_Weights( lmb_targetCubic, steps, lmbTargetFrames, &weights );
	*start = *end = 0.0;
	for ( int i = 0; i < lmbTargetFrames; ++i )
	{
		*start += weights.start[i] * Target( (double)( frame - i ) / rate );
		*end += weights.end[i] * Target( (double)( frame - i ) / rate );
	}
}

static void StepExact( Euler *euler, size_t count )
{
	for ( size_t b = 0; b < count; ++b )
	{
		float *at = euler->exact + b * perBlock;
		lmbSpringBlock block = { at, at + 8 * lmbLanes, at + 11 * lmbLanes, at + 14 * lmbLanes,
		                         at + 17 * lmbLanes };
		euler->bench->kernels->springs( &block, false );
	}
}

static void RunExact( void *context )
{
	StepExact( context, blocks );
}

static void RunEuler( void *context )
{
	Euler *euler = context;
	euler->bench->loops->euler( euler->substepped, blocks, euler->substeps,
	                            (float)( 1.0 / rate / euler->substeps ) );
}

/* Both at the truth's start. */
static void Begin( Euler *euler )
{
	double h = 1.0 / rate / euler->substeps;
	for ( size_t i = 0; i < (size_t)blocks * lmbLanes; ++i )
	{
		double k, c, u, v;
		lmbSpringMap map;
		SpringOf( i, &k, &c );
		Truth( k, c, 0.0, &u, &v );
		float *exact = euler->exact + i / lmbLanes * perBlock, *other;
		other = euler->substepped + i / lmbLanes * lmbEulerPlanes * lmbEulerLanes;
		size_t lane = i % lmbLanes;
		lmbSpringMap_Make( k, c, 1.0 / rate, &map );
		lmbSpringMap_Store( &map, exact, lmbLanes, lane );
		other[lane] = (float)( h * k );
		other[lmbEulerLanes + lane] = (float)( 1.0 - h * c );
		for ( size_t axis = 0; axis < 3; ++axis )
		{
			exact[( 8 + axis ) * lmbLanes + lane] = (float)u;
			exact[( 11 + axis ) * lmbLanes + lane] = (float)v;
			other[( 8 + axis ) * lmbEulerLanes + lane] = (float)u;
			other[( 11 + axis ) * lmbEulerLanes + lane] = (float)v;
		}
	}
}

static void SetDrive( Euler *euler, int frame )
{
	double start, end, h = 1.0 / rate / euler->substeps;
	Drive( frame, &start, &end );
	double change = ( end - start ) / euler->substeps; /* each substep takes its middle's */
	for ( size_t b = 0; b < judged; ++b )
		for ( size_t i = 0; i < 3 * lmbLanes; ++i )
		{
			float *exact = euler->exact + b * perBlock, *other;
			other = euler->substepped + b * lmbEulerPlanes * lmbEulerLanes;
			exact[14 * lmbLanes + i] = (float)start;
			exact[17 * lmbLanes + i] = (float)end;
			other[2 * lmbEulerLanes + i] = (float)( h * ( start + 0.5 * change ) );
			other[5 * lmbEulerLanes + i] = (float)( h * change );
		}
}

/* Both over the whole motion: RMS differences from the truth as a share of its RMS. */
static void Judge( Euler *euler, int substeps, double *exactError, double *eulerError )
{
	double sums[3] = { 0.0 };
	euler->substeps = substeps;
	Begin( euler );
	for ( int frame = 1; frame <= frames; ++frame )
	{
		SetDrive( euler, frame );
		StepExact( euler, judged );
		euler->bench->loops->euler( euler->substepped, judged, substeps, (float)( 1.0 / rate / substeps ) );
		for ( size_t i = 0; i < (size_t)judged * lmbLanes; ++i )
		{
			double k, c, u, v;
			SpringOf( i, &k, &c );
			Truth( k, c, (double)frame / rate, &u, &v );
			double exact = euler->exact[i / lmbLanes * perBlock + 8 * lmbLanes + i % lmbLanes];
			double other =
			    euler->substepped[( i / lmbLanes * lmbEulerPlanes + 8 ) * lmbEulerLanes + i % lmbLanes];
			sums[0] += ( exact - u ) * ( exact - u );
			sums[1] += ( other - u ) * ( other - u );
			sums[2] += u * u;
		}
	}
	*exactError = sqrt( sums[0] / sums[2] );
	*eulerError = sqrt( sums[1] / sums[2] );
}

/* The fewest substeps with at most that error, by bisection since it falls with their number. */
static int Enough( Euler *euler, double most, double *error )
{
	double exact;
	int low = 0, high = 1;
	for ( ;; high *= 2 )
	{
		Judge( euler, high, &exact, error );
		if ( *error <= most || high >= mostSubsteps || lmbJob_Cancelled( euler->bench->job ) )
			break;
		low = high;
	}
	while ( high - low > 1 )
	{
		int middle = ( low + high ) / 2;
		double at;
		Judge( euler, middle, &exact, &at );
		if ( at <= most )
		{
			high = middle;
			*error = at;
		}
		else
			low = middle;
	}
	return high;
}

static lmbStatus Measure( Euler *euler, lmbError *error )
{
	lmbBenchTimes ours, theirs;
	double exactError, eulerError;
	char text[200];
	double lanes = (double)blocks * lmbLanes;
	lmbBenchCost cost = { .items = lanes,
	                      .bytes = 26.0 * 4.0 * lanes,
	                      .workingSet = (size_t)blocks * perBlock * sizeof( float ),
	                      .walk = lmb_walkMove,
	                      .multiplyAdds = 24.0 * lanes };
	Judge( euler, 1, &exactError, &eulerError );
	lmbBenchTask task = { .run = RunExact, .context = euler, .samples = 50, .repeats = 20 };
	LMB_TRY( lmbBench_Time( euler->bench, &task, &ours, error ) );
	snprintf( text, sizeof( text ), "exact step, off by %.3g %%", 100.0 * exactError );
	lmbBench_Row( euler->bench, text, &ours, &cost );
	const double levels[2] = { 1.05 * exactError, 0.01 }; /* a twentieth in its favour */
	for ( int i = 0; i < 2; ++i )
	{
		int substeps = Enough( euler, levels[i], &eulerError );
		euler->substeps = substeps;
		task = ( lmbBenchTask ){ .run = RunEuler, .context = euler, .samples = 50, .repeats = 1 };
		LMB_TRY( lmbBench_Time( euler->bench, &task, &theirs, error ) );
		cost.bytes = 20.0 * 4.0 * lanes;
		cost.workingSet = (size_t)blocks * lmbEulerPlanes * lmbEulerLanes * sizeof( float );
		cost.multiplyAdds = 12.0 * lanes * substeps;
		snprintf( text, sizeof( text ), "%d substeps, off by %.3g %%", substeps, 100.0 * eulerError );
		lmbBench_Row( euler->bench, text, &theirs, &cost );
		lmbBench_Compare( euler->bench,
		                  i == 0 ? "Euler as exact as ours, of our time" : "Euler to 1 %, of our time",
		                  ours.typical > 0.0 ? theirs.typical / ours.typical : 0.0, i == 0 ? 5.0 : 0.0,
		                  eulerError <= levels[i] ? "" : "not as exact with as many substeps as were tried" );
	}
	return lmb_statusOk;
}

lmbStatus lmbBench_Euler( lmbBench *bench, lmbError *error )
{
	lmbArena arena = { 0 };
	Euler euler = { .bench = bench, .substeps = 1 };
	euler.exact = LMB_NEW( &arena, float, (size_t)blocks *perBlock );
	euler.substepped = LMB_NEW( &arena, float, (size_t)blocks *lmbEulerPlanes *lmbEulerLanes );
	lmbStatus status =
	    euler.exact == NULL || euler.substepped == NULL ? lmbError_Memory( error ) : Measure( &euler, error );
	lmbArena_Free( &arena );
	return status;
}
