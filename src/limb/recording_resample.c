/* Values at new instants from samples at theirs. */
#include "limb/recording_private.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

enum
{
	degree = 5,
	coefficients = degree + 1
};

/* Weights (count) by which the samples at times add up to the value at t of the weighted least-squares
 * polynomial: the least-norm solution x of A^T x = e_0 with A = sqrt(W) V, then sqrt(W) x, V the powers of
 * (times - t) / reach. a: room for count x coefficients. False when they do not determine it. */
static bool FitWeights( const double *times, int count, double t, double reach, int powers, double *a,
                        double *weights )
{
	for ( int i = 0; i < count; ++i )
	{
		double x = ( times[i] - t ) / reach, cube = 1.0 - fabs( x * x * x ),
		       root = sqrt( cube * cube * cube );
		double power = root;
		weights[i] = i == 0 ? 1.0 : 0.0;
		for ( int j = 0; j < powers; ++j )
		{
			a[i * powers + j] = power;
			power *= x;
		}
	}
	if ( LAPACKE_dgels( LAPACK_ROW_MAJOR, 'T', count, powers, 1, a, powers, weights, 1 ) != 0 )
		return false;
	double sum = 0.0;
	for ( int i = 0; i < count; ++i )
	{
		double x = ( times[i] - t ) / reach, cube = 1.0 - fabs( x * x * x );
		weights[i] *= sqrt( cube * cube * cube );
		sum += weights[i];
	}
	return fabs( sum - 1.0 ) < 1e-6; /* a constant must come out as it is */
}

/* A window that moves forward over the samples, and the part of it (or more) that a fit takes. */
typedef struct Window
{
	int first, end; /* within reach */
	int low, high;  /* widened */
} Window;

/* The samples within reach of t, at least `need` of them by widening; returns the reach that covers them. */
static double Around( Window *window, const double *times, int count, double t, double reach, int need )
{
	while ( window->end < count && times[window->end] <= t + reach )
		window->end += 1;
	while ( window->first < window->end && times[window->first] < t - reach )
		window->first += 1;
	int low = window->first, high = window->end;
	while ( high - low < need && ( low > 0 || high < count ) )
	{
		bool left = high == count || ( low > 0 && t - times[low - 1] <= times[high] - t );
		low -= left;
		high += !left;
	}
	window->low = low;
	window->high = high;
	/* The outermost samples must weigh something. */
	return fmax( reach, 1.05 * fmax( t - times[low], times[high - 1] - t ) );
}

static double Fit( const double *times, const double *values, int count, double t, double reach,
                   double *scratch )
{
	double *weights = scratch, *a = scratch + count;
	int powers = count - 1 < coefficients ? ( count > 1 ? count - 1 : 1 ) : coefficients;
	while ( powers > 1 && !FitWeights( times, count, t, reach, powers, a, weights ) )
		powers -= 1;
	if ( powers == 1 && !FitWeights( times, count, t, reach, 1, a, weights ) )
		return NAN;
	double value = 0.0;
	for ( int i = 0; i < count; ++i )
		value += weights[i] * values[i];
	return value;
}

lmbStatus lmbResample_Smooth( const lmbResample *resample, const double *values, double *out, int stride,
                              lmbError *error )
{
	/* Only what is there; equal stamps become one with the mean. */
	double *times = resample->scratch, *kept = times + resample->count, *room = kept + resample->count;
	int count = 0, merged = 1;
	for ( int i = 0; i < resample->count; ++i )
	{
		if ( !isfinite( values[i] ) )
			continue;
		if ( count > 0 && resample->times[i] == times[count - 1] )
		{
			merged += 1;
			kept[count - 1] += ( values[i] - kept[count - 1] ) / merged;
			continue;
		}
		merged = 1;
		times[count] = resample->times[i];
		kept[count++] = values[i];
	}
	if ( count == 0 )
		return lmbError_Set( error, lmb_statusNumerical, "nothing to resample" );
	Window window = { 0 };
	for ( int k = 0; k < resample->gridCount; ++k )
	{
		double t = resample->start + k * resample->step;
		double reach = Around( &window, times, count, t, resample->reach, coefficients + 2 );
		double value = Fit( times + window.low, kept + window.low, window.high - window.low, t, reach, room );
		if ( !isfinite( value ) )
			return lmbError_Set(
			    error, lmb_statusNumerical,
			    "at %.9g s no polynomial fits the samples around; their values or stamps are extreme", t );
		out[(size_t)k * (size_t)stride] = value;
	}
	return lmb_statusOk;
}

/* The integral of the input from the first stamp to t: (count) at the stamps in sums. */
static double Integral( const double *times, const double *values, const double *sums, int count, int at,
                        double t )
{
	if ( at >= count - 1 )
		return sums[count - 1] + values[count - 1] * ( t - times[count - 1] );
	return sums[at] + values[at] * ( t - times[at] );
}

lmbStatus lmbResample_Input( const lmbResample *resample, lmbInputHold hold, const double *values,
                             double *out, int stride )
{
	double *times = resample->scratch, *kept = times + resample->count, *sums = kept + resample->count;
	int count = 0;
	for ( int i = 0; i < resample->count; ++i )
		if ( isfinite( values[i] ) )
		{
			if ( count > 0 && times[count - 1] == resample->times[i] )
				count -= 1; /* the last one said counts */
			times[count] = resample->times[i];
			kept[count++] = values[i];
		}
	if ( count == 0 )
		return lmb_statusNumerical;
	sums[0] = 0.0;
	for ( int i = 1; i < count; ++i )
		sums[i] = sums[i - 1] + kept[i - 1] * ( times[i] - times[i - 1] );
	int at = 0;
	for ( int k = 0; k < resample->gridCount; ++k )
	{
		double t = resample->start + k * resample->step;
		while ( at + 1 < count && times[at + 1] <= t )
			at += 1;
		double value = kept[at];
		if ( hold == lmb_inputHeld )
		{
			int later = at;
			while ( later + 1 < count && times[later + 1] <= t + resample->step )
				later += 1;
			if ( later > at )
				value = ( Integral( times, kept, sums, count, later, t + resample->step ) -
				          Integral( times, kept, sums, count, at, t ) ) /
				        resample->step;
		}
		else if ( at + 1 < count && t > times[at] )
			value += ( kept[at + 1] - kept[at] ) * ( ( t - times[at] ) / ( times[at + 1] - times[at] ) );
		out[(size_t)k * (size_t)stride] = value;
	}
	return lmb_statusOk;
}
