/* The inner problem of the stage `fit`: one spring, one record. Truth: springs with known constants, run
 * by the exact map. The whole stage is tested in test_replay.c. */
#include "flesh/fit_spring.h"

#include "base/random.h"
#include "check.h"

#include <stdlib.h>

enum
{
	frames = 300,
	dimension = 3
};

typedef struct Case
{
	double start[frames * dimension], end[frames * dimension], truth[frames * dimension];
	double scratch[2 * frames];
	uint8_t counted[frames];
	double logRatios[frames];
	lmbSegment segments[2];
	lmbSpringRecord record;
} Case;

/* Two segments at 60 and 30 Hz, driven by smooth random acceleration. */
static void MakeCase( Case *c, uint64_t seed, lmbTargetInterpolation interpolation )
{
	lmbRandom random = lmbRandom_Seed( seed, 0 );
	c->segments[0] = ( lmbSegment ){ 0, 180, 1.0 / 60.0, 1.0 };
	c->segments[1] = ( lmbSegment ){ 180, 120, 1.0 / 30.0, 2.5 };
	c->record = ( lmbSpringRecord ){ dimension, 2,      frames,   c->segments, interpolation,
	                                 c->start,  c->end, c->truth, c->counted,  NULL };
	memset( c->counted, 1, sizeof( c->counted ) );
	memset( c->truth, 0, sizeof( c->truth ) );
	double scale = interpolation == lmb_targetLinear ? 0.1 : 5.0, value[dimension] = { 0 };
	for ( int n = 0; n < frames; ++n )
		for ( int axis = 0; axis < dimension; ++axis )
		{
			c->start[dimension * n + axis] = value[axis];
			value[axis] = 0.85 * value[axis] + scale * lmbRandom_Normal( &random );
			c->end[dimension * n + axis] = interpolation == lmb_targetLinear ? 0.0 : value[axis];
		}
}

static lmbSpringPoint At( double stiffness, double damping )
{
	return ( lmbSpringPoint ){ log( stiffness ), log( damping ) };
}

static lmbSpringSearch Search( lmbOptimizer optimizer, double dropShare, const lmbSpringPoint *starts,
                               int count )
{
	return ( lmbSpringSearch ){ optimizer, dropShare, At( 600.0, 10.0 ), { 1e-6, 1e-6 }, starts, count };
}

static void FillStarts( lmbSpringPoint *starts )
{
	const double hertz[4] = { 1.0, 3.0, 9.0, 30.0 };
	for ( int i = 0; i < 4; ++i )
	{
		double w = 6.283185307179586 * hertz[i];
		starts[i] = At( w * w, 0.4 * w );
	}
}

static const double truths[][2] = { { 40.0, 0.5 },    { 300.0, 4.0 },    { 630.0, 60.0 },
                                    { 2500.0, 10.0 }, { 9000.0, 190.0 }, { 9000.0, 900.0 } };

/* The gradient and the Gauss-Newton matrix by central differences of the springs themselves. */
static void DerivativesAreRight( void **state )
{
	(void)state;
	Case *c = malloc( sizeof( *c ) );
	double *up = malloc( sizeof( c->truth ) ), *down = malloc( sizeof( c->truth ) ), h = 1e-5;
	checkSeed = 3;
	for ( int kind = 0; kind < 4; ++kind )
		for ( int t = 0; t < 6; ++t )
		{
			MakeCase( c, checkSeed, (lmbTargetInterpolation)( kind % 2 ) );
			if ( kind >= 2 ) /* one coordinate whose stiffness follows a pose */
			{
				c->record.dimension = 1;
				c->record.logRatios = c->logRatios;
				for ( int n = 0; n < frames; ++n )
					c->logRatios[n] = 0.5 * sin( 0.11 * n );
			}
			int d = c->record.dimension;
			lmbSpring_Run( &c->record, 500.0, 8.0, c->truth );
			c->counted[17] = 0;
			lmbSpringPoint p = At( truths[t][0], truths[t][1] );
			double gradient[2], hessian[3], sum[2] = { 0.0 };
			double error = lmbSpring_Error( &c->record, NULL, p, gradient, hessian );
			CHECK( error == lmbSpring_Error( &c->record, NULL, p, NULL, NULL ) );
			for ( int i = 0; i < 2; ++i )
			{
				double dk = i == 0 ? h : 0.0, dc = i == 1 ? h : 0.0;
				double high = lmbSpring_Error( &c->record, NULL,
				                               ( lmbSpringPoint ){ p.logStiffness + dk, p.logDamping + dc },
				                               NULL, NULL );
				double low = lmbSpring_Error( &c->record, NULL,
				                              ( lmbSpringPoint ){ p.logStiffness - dk, p.logDamping - dc },
				                              NULL, NULL );
				/* Truncation h^2 of third derivatives, up to 1e4 times the gradient at 0.2 % damping. */
				CHECK_NEAR( gradient[i] / ( ( high - low ) / ( 2.0 * h ) ), 1.0, 1e-5 );
				lmbSpring_Run( &c->record, exp( p.logStiffness + dk ), exp( p.logDamping + dc ), up );
				lmbSpring_Run( &c->record, exp( p.logStiffness - dk ), exp( p.logDamping - dc ), down );
				for ( int e = 0; e < frames * d; ++e )
				{
					double slope = ( up[e] - down[e] ) / ( 2.0 * h );
					double weight = c->counted[e / d] ? c->segments[e / d >= 180].weight : 0.0;
					sum[i] += weight * 2.0 * slope * slope;
				}
			}
			CHECK_NEAR( hessian[0] / sum[0], 1.0, 1e-5 );
			CHECK_NEAR( hessian[2] / sum[1], 1.0, 1e-5 );
			CHECK( hessian[1] * hessian[1] <= hessian[0] * hessian[2] );
		}
	free( up );
	free( down );
	free( c );
}

static void RecoversKnownSprings( void **state )
{
	(void)state;
	Case *c = malloc( sizeof( *c ) );
	lmbSpringPoint starts[4];
	FillStarts( starts );
	for ( int kind = 0; kind < 2; ++kind )
		for ( int optimizer = 0; optimizer < 2; ++optimizer )
			for ( int t = 0; t < 6; ++t )
			{
				checkSeed = 10 + (uint64_t)t;
				MakeCase( c, checkSeed, (lmbTargetInterpolation)kind );
				lmbSpring_Run( &c->record, truths[t][0], truths[t][1], c->truth );
				lmbSpringSearch search = Search( (lmbOptimizer)optimizer, 0.0, starts, 4 );
				lmbSpringFit fit = lmbSpring_Fit( &c->record, &search, c->scratch );
				/* The prior pulls by 1e-6; Adam stops after 400 steps. */
				double tolerance = optimizer == lmb_optimizerAdam ? 0.02 : 2e-3;
				CHECK_NEAR( fit.stiffness / truths[t][0], 1.0, tolerance );
				CHECK_NEAR( fit.damping / truths[t][1], 1.0, 8.0 * tolerance );
				CHECK( fit.share > 0.998 );
			}
	free( c );
}

/* One frame in twelve is wrong by three times as much as the motion itself: without leaving the worst out,
 * the constants are off; with it they are not. */
static void ResistsBadFrames( void **state )
{
	(void)state;
	Case *c = malloc( sizeof( *c ) );
	lmbSpringPoint starts[4];
	FillStarts( starts );
	double plainError = 0.0, robustError = 0.0;
	for ( int t = 0; t < 6; ++t )
	{
		checkSeed = 20 + (uint64_t)t;
		MakeCase( c, checkSeed, lmb_targetCubic );
		lmbSpring_Run( &c->record, truths[t][0], truths[t][1], c->truth );
		double rms = 0.0;
		for ( int e = 0; e < frames * dimension; ++e )
			rms += c->truth[e] * c->truth[e] / ( frames * dimension );
		lmbRandom random = lmbRandom_Seed( checkSeed, 1 );
		for ( int i = 0; i < frames / 12; ++i )
		{
			int bad = 12 * i + (int)lmbRandom_Below( &random, 12 );
			for ( int axis = 0; axis < dimension; ++axis )
				c->truth[dimension * bad + axis] += 3.0 * sqrt( rms );
		}
		lmbSpringSearch plain = Search( lmb_optimizerLevenbergMarquardt, 0.0, starts, 4 );
		lmbSpringSearch robust = Search( lmb_optimizerLevenbergMarquardt, 0.1, starts, 4 );
		lmbSpringFit a = lmbSpring_Fit( &c->record, &plain, c->scratch );
		lmbSpringFit b = lmbSpring_Fit( &c->record, &robust, c->scratch );
		plainError += fabs( log( a.stiffness / truths[t][0] ) ) + fabs( log( a.damping / truths[t][1] ) );
		robustError += fabs( log( b.stiffness / truths[t][0] ) ) + fabs( log( b.damping / truths[t][1] ) );
	}
	printf( "mean error of log k and log c: %.3f with all frames, %.4f without the worst\n",
	        plainError / 12.0, robustError / 12.0 );
	CHECK( robustError / 12.0 < 0.01 );
	CHECK( plainError > 5.0 * robustError );
	free( c );
}

/* Frames that do not count may hold anything. */
static void LeavesOutFrames( void **state )
{
	(void)state;
	Case *c = malloc( sizeof( *c ) );
	lmbSpringPoint starts[4];
	FillStarts( starts );
	MakeCase( c, 30, lmb_targetCubic );
	lmbSpring_Run( &c->record, 700.0, 9.0, c->truth );
	for ( int n = 40; n < 60; ++n )
	{
		c->counted[n] = 0;
		c->truth[dimension * n] = 1e6;
	}
	lmbSpringSearch search = Search( lmb_optimizerLevenbergMarquardt, 0.1, starts, 4 );
	lmbSpringFit fit = lmbSpring_Fit( &c->record, &search, c->scratch );
	CHECK_NEAR( fit.stiffness / 700.0, 1.0, 2e-3 );
	CHECK_NEAR( fit.damping / 9.0, 1.0, 1e-2 );
	free( c );
}

/* Nothing to learn from: the prior, and no numbers that are not finite. */
static void HopelessRecords( void **state )
{
	(void)state;
	Case *c = malloc( sizeof( *c ) );
	lmbSpringPoint starts[4];
	FillStarts( starts );
	MakeCase( c, 40, lmb_targetCubic );
	lmbSpringSearch search = Search( lmb_optimizerLevenbergMarquardt, 0.1, starts, 4 );
	lmbSpringFit fit = lmbSpring_Fit( &c->record, &search, c->scratch );
	CHECK_NEAR( fit.stiffness, 600.0, 1e-9 );
	CHECK( fit.energy == 0.0 && fit.share == 0.0 );
	/* Movement that the forcing has nothing to do with: bounded, and never worse than standing still. */
	lmbRandom random = lmbRandom_Seed( 41, 0 );
	for ( int e = 0; e < frames * dimension; ++e )
		c->truth[e] = lmbRandom_Normal( &random );
	fit = lmbSpring_Fit( &c->record, &search, c->scratch );
	CHECK( fit.stiffness >= lmbSpring_StiffnessLow && fit.stiffness <= lmbSpring_StiffnessHigh * 1.000001 );
	CHECK( fit.damping >= lmbSpring_DampingLow && fit.damping <= lmbSpring_DampingHigh * 1.000001 );
	CHECK( fit.share > -0.01 && fit.share < 0.2 );
	/* No forcing at all. */
	memset( c->start, 0, sizeof( c->start ) );
	memset( c->end, 0, sizeof( c->end ) );
	fit = lmbSpring_Fit( &c->record, &search, c->scratch );
	CHECK_NEAR( fit.stiffness, 600.0, 1e-2 );
	CHECK_NEAR( fit.share, 0.0, 1e-12 );
	free( c );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( DerivativesAreRight ), CHECK_TEST( RecoversKnownSprings ), CHECK_TEST( ResistsBadFrames ),
	    CHECK_TEST( LeavesOutFrames ),     CHECK_TEST( HopelessRecords ),
	};
	return CHECK_RUN( tests );
}
