#include "runtime/target.h"

#include "base/random.h"
#include "check.h"
#include "runtime/springs.h"

static double Apply( const double *row, const double *places )
{
	return row[0] * places[0] + row[1] * places[1] + row[2] * places[2] + row[3] * places[3];
}

static void RandomSteps( lmbRandom *random, double *steps )
{
	for ( int i = 0; i < 3; ++i )
		steps[i] = 0.01 * pow( 100.0, lmbRandom_Uniform( random ) );
}

/* Places of a + b t + c t^2 at frames n .. n - 3, frame n at time 0. */
static void Parabola( const double *steps, double a, double b, double c, double *places )
{
	double t = 0.0;
	for ( int i = 0; i < lmbTargetFrames; ++i )
	{
		places[i] = a + b * t + c * t * t;
		t -= i < 3 ? steps[i] : 0.0;
	}
}

static void ParabolasAreExact( void **state )
{
	(void)state;
	checkSeed = 1;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	for ( int i = 0; i < 200; ++i )
	{
		double steps[3], places[lmbTargetFrames];
		RandomSteps( &random, steps );
		lmbTargetWeights weights;
		lmbTarget_Weights( lmb_targetCubic, steps, 4, &weights );
		Parabola( steps, 0.7, -2.0, 3.0, places );
		/* Weights up to 6 / dt^2 = 6e4 times places of 10, in 1e-16. */
		CHECK_NEAR( Apply( weights.start, places ), 6.0, 1e-9 );
		CHECK_NEAR( Apply( weights.end, places ), 6.0, 1e-9 );
		lmbTarget_Weights( lmb_targetLinear, steps, 4, &weights );
		Parabola( steps, 0.7, -2.0, 0.0, places );
		CHECK_NEAR( Apply( weights.start, places ), 0.0, 1e-12 );
		CHECK_NEAR( Apply( weights.end, places ), 0.0, 0.0 );
	}
}

/* The acceleration, integrated once and twice, is the change of velocity and of place: step after step
 * the cubic passes through the frames and is C1, whatever the spacing. */
static void TheCurveIsC1( void **state )
{
	(void)state;
	checkSeed = 2;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	double times[40], y[40];
	times[0] = 0.0;
	for ( int i = 0; i < 40; ++i )
	{
		y[i] = lmbRandom_Normal( &random );
		if ( i > 0 )
			times[i] = times[i - 1] + 0.01 * pow( 100.0, lmbRandom_Uniform( &random ) );
	}
	double place = y[0], velocity = 0.0;
	for ( int n = 1; n < 40; ++n )
	{
		double steps[3] = { 0 }, places[lmbTargetFrames] = { 0 };
		int known = n + 1 < lmbTargetFrames ? n + 1 : lmbTargetFrames;
		for ( int i = 0; i < known; ++i )
		{
			places[i] = y[n - i];
			if ( i + 1 < known )
				steps[i] = times[n - i] - times[n - i - 1];
		}
		lmbTargetWeights weights;
		lmbTarget_Weights( lmb_targetCubic, steps, known, &weights );
		double a0 = Apply( weights.start, places ), a1 = Apply( weights.end, places ), dt = steps[0];
		place += dt * velocity + dt * dt * ( a0 / 3.0 + a1 / 6.0 );
		velocity += 0.5 * dt * ( a0 + a1 );
		CHECK_NEAR( place, y[n], 1e-10 ); /* 40 steps of rounding at |a| up to 1e5 */
		place = y[n];
	}
}

static void HitchesStayBounded( void **state )
{
	(void)state;
	const double spacings[] = { 1e-6, 1e-3, 1.0, 1e3 };
	for ( int i = 0; i < 64; ++i )
	{
		double steps[3] = { spacings[i % 4], spacings[i / 4 % 4], spacings[i / 16] };
		double places[lmbTargetFrames] = { 0.0 };
		const double slopes[3] = { 1.0, -1.0, 1.0 };
		for ( int j = 0; j < 3; ++j )
			places[j + 1] = places[j] - slopes[j] * steps[j];
		lmbTargetWeights weights;
		lmbTarget_Weights( lmb_targetCubic, steps, 4, &weights );
		/* |v| <= 3 when all slopes are +-1, so dt |a| <= 6 + 4 * 3 + 2 * 3; places of 1e3 round. */
		double largest = fmax( fabs( Apply( weights.start, places ) ), fabs( Apply( weights.end, places ) ) );
		CHECK( largest * steps[0] <= 24.0 + 1e-12 * 1e3 / steps[0] );
	}
}

static void StandsStillBefore( void **state )
{
	(void)state;
	const double steps[3] = { 0.02, 0.02, 0.02 };
	for ( int interpolation = 0; interpolation < 2; ++interpolation )
	{
		lmbTargetWeights full, part;
		const double stood[4][4] = { { 3, 3, 3, 3 }, { 5, 3, 3, 3 }, { 7, 5, 3, 3 }, { 8, 7, 5, 3 } };
		lmbTarget_Weights( (lmbTargetInterpolation)interpolation, steps, 4, &full );
		for ( int known = 1; known <= 4; ++known )
		{
			lmbTarget_Weights( (lmbTargetInterpolation)interpolation, steps, known, &part );
			CHECK_NEAR( Apply( part.start, stood[known - 1] ), Apply( full.start, stood[known - 1] ), 1e-9 );
			CHECK_NEAR( Apply( part.end, stood[known - 1] ), Apply( full.end, stood[known - 1] ), 1e-9 );
			for ( int i = known; i < 4; ++i )
				CHECK( part.start[i] == 0.0 && part.end[i] == 0.0 );
		}
	}
}

/* Frames before the oldest known one that a target in even motion would have had. */
static void GlidesBefore( void **state )
{
	(void)state;
	checkSeed = 3;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	for ( int i = 0; i < 200; ++i )
		for ( int known = 1; known <= 4; ++known )
		{
			lmbTargetInterpolation interpolation = (lmbTargetInterpolation)( i % 2 );
			double steps[3], places[lmbTargetFrames] = { 0 };
			RandomSteps( &random, steps );
			for ( int j = 0; j < known; ++j )
				places[j] = lmbRandom_Uniform( &random );
			lmbTargetWeights part, full;
			lmbTarget_WeightsGliding( interpolation, steps, known, &part );
			for ( int j = known; j < lmbTargetFrames && known > 1; ++j )
			{
				steps[j - 1] = steps[known - 2];
				places[j] = 2.0 * places[j - 1] - places[j - 2];
			}
			for ( int j = known; j < 4; ++j )
				CHECK( part.start[j] == 0.0 && part.end[j] == 0.0 );
			if ( known == 1 )
				for ( int j = 0; j < 4; ++j )
					CHECK( part.start[j] == 0.0 && part.end[j] == 0.0 );
			else
			{
				lmbTarget_Weights( interpolation, steps, 4, &full );
				CHECK_NEAR( Apply( part.start, places ), Apply( full.start, places ), 1e-8 );
				CHECK_NEAR( Apply( part.end, places ), Apply( full.end, places ), 1e-8 );
			}
		}
}

/* Six sines from 0.7 to 5.2 Hz, weighted by 1 / f^2, coming up smoothly from rest, and its acceleration. */
static double Motion( double t )
{
	const double frequencies[] = { 0.7, 1.3, 2.1, 3.0, 4.1, 5.2 };
	double ramp = t <= 0.0 ? 0.0 : t >= 1.0 ? 1.0 : t * t * t * ( 10.0 - 15.0 * t + 6.0 * t * t );
	double sum = 0.0;
	for ( int i = 0; i < 6; ++i )
		sum += sin( 6.283185307179586 * frequencies[i] * t + i ) / ( frequencies[i] * frequencies[i] );
	return ramp * sum;
}

static double MotionAcceleration( double t )
{
	double h = 1e-4;
	return ( -Motion( t + 2 * h ) + 16 * Motion( t + h ) - 30 * Motion( t ) + 16 * Motion( t - h ) -
	         Motion( t - 2 * h ) ) /
	       ( 12 * h * h );
}

/* RMS error of a 4 Hz spring (a tenth of critical damping) driven through the operator, relative to the
 * RMS of the same spring driven by the motion itself in 1/4000 s steps. */
static double SpringError( lmbTargetInterpolation interpolation, int rate )
{
	const double k = 631.65, c = 5.03, dt = 1.0 / rate;
	int fine = 4000 / rate;
	lmbSpringMap map, fineMap;
	lmbSpringMap_Make( k, c, dt, &map );
	lmbSpringMap_Make( k, c, dt / fine, &fineMap );
	double u = 0, v = 0, x = 0, y = 0, error = 0, total = 0;
	const double steps[3] = { dt, dt, dt };
	for ( int n = 1; n < 10 * rate; ++n )
	{
		double places[lmbTargetFrames];
		for ( int i = 0; i < lmbTargetFrames; ++i )
			places[i] = Motion( ( n - i ) * dt );
		lmbTargetWeights weights;
		lmbTarget_Weights( interpolation, steps, n + 1, &weights );
		double a0 = Apply( weights.start, places ), a1 = Apply( weights.end, places );
		if ( interpolation == lmb_targetLinear )
		{
			v -= a0;
			a0 = 0.0;
		}
		double next = map.phi[0] * u + map.phi[1] * v - map.gamma[0] * a0 - map.gamma[1] * a1;
		v = map.phi[2] * u + map.phi[3] * v - map.gamma[2] * a0 - map.gamma[3] * a1;
		u = next;
		for ( int s = 0; s < fine; ++s )
		{
			double b0 = MotionAcceleration( ( n - 1 + (double)s / fine ) * dt );
			double b1 = MotionAcceleration( ( n - 1 + ( s + 1.0 ) / fine ) * dt );
			next = fineMap.phi[0] * x + fineMap.phi[1] * y - fineMap.gamma[0] * b0 - fineMap.gamma[1] * b1;
			y = fineMap.phi[2] * x + fineMap.phi[3] * y - fineMap.gamma[2] * b0 - fineMap.gamma[3] * b1;
			x = next;
		}
		error += ( u - x ) * ( u - x );
		total += x * x;
	}
	return sqrt( error / total );
}

static void CubicBeatsLinear( void **state )
{
	(void)state;
	const int rates[] = { 15, 30, 60, 120 };
	double previous[2] = { 0 };
	for ( int i = 0; i < 4; ++i )
	{
		double cubic = SpringError( lmb_targetCubic, rates[i] );
		double linear = SpringError( lmb_targetLinear, rates[i] );
		printf( "%3d Hz: linear %.2f %%, cubic %.3f %%\n", rates[i], 100.0 * linear, 100.0 * cubic );
		if ( i > 0 )
		{
			CHECK( cubic < 0.25 * linear );
			/* Second order and better than third; 15 Hz is not in the asymptotic range. */
			CHECK( linear < previous[0] / 3.0 );
			CHECK( cubic < previous[1] / 8.0 );
		}
		previous[0] = linear;
		previous[1] = cubic;
	}
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( ParabolasAreExact ), CHECK_TEST( TheCurveIsC1 ), CHECK_TEST( HitchesStayBounded ),
	    CHECK_TEST( StandsStillBefore ), CHECK_TEST( GlidesBefore ), CHECK_TEST( CubicBeatsLinear ),
	};
	return CHECK_RUN( tests );
}
