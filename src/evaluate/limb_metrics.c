#include "evaluate/limb_metrics.h"

#include <math.h>
#include <stdlib.h>

const double lmbLimbTimes[lmbLimbTimeCount] = { 1.0, 5.0, 10.0 };
const double lmbLimbErrorCap = 180.0;
const double lmbLimbValidSquares = 0.01;

static const double degreesPerRadian = 57.29577951308232;

/* The largest difference among the angles at a sample, capped, and the root mean square of all. */
static double ErrorAt( const lmbTrajectory *truth, const lmbLimbRollout *rollout, int dofCount,
                       const bool *slides, int sample, double *rmse )
{
	double sum = 0.0, largest = 0.0;
	int angles = 0;
	for ( int i = 0; i < dofCount; ++i )
	{
		if ( slides[i] )
			continue;
		size_t at = (size_t)sample * (size_t)dofCount + (size_t)i;
		double difference = degreesPerRadian * fabs( rollout->positions[at] - truth->positions[at] );
		if ( !( difference < lmbLimbErrorCap ) )
			difference = lmbLimbErrorCap;
		largest = difference > largest ? difference : largest;
		sum += difference * difference;
		angles += 1;
	}
	*rmse = angles > 0 ? sqrt( sum / angles ) : 0.0;
	return largest;
}

/* The error that counts at a sample, when samples are asked for one after the other. */
static double CountedError( const lmbTrajectory *truth, const lmbLimbRollout *rollout, int dofCount,
                            const bool *slides, int sample, bool *diverged )
{
	double rmse = lmbLimbErrorCap;
	*diverged = *diverged || sample >= rollout->finiteCount ||
	            ErrorAt( truth, rollout, dofCount, slides, sample, &rmse ) >= lmbLimbErrorCap;
	return *diverged ? lmbLimbErrorCap : rmse;
}

/* What is asked of all samples together. */
static void JudgeWhole( const lmbTrajectory *truth, const lmbLimbRollout *rollout, int dofCount,
                        const bool *slides, lmbLimbErrors *out )
{
	double squares = 0.0, angles = 0.0;
	bool diverged = false, valid = true;
	for ( int i = 0; i < dofCount; ++i )
		angles += slides[i] ? 0.0 : 1.0;
	out->valid = ( truth->sampleCount - 1 ) * truth->step;
	for ( int k = 0; k < truth->sampleCount; ++k )
	{
		double rmse = CountedError( truth, rollout, dofCount, slides, k, &diverged );
		squares += rmse * rmse / truth->sampleCount;
		double sum = angles * rmse * rmse / ( degreesPerRadian * degreesPerRadian );
		if ( valid && sum >= lmbLimbValidSquares )
		{
			out->valid = k * truth->step;
			valid = false;
		}
	}
	out->whole = sqrt( squares );
}

lmbLimbErrors lmbLimbErrors_Of( const lmbTrajectory *truth, const lmbLimbRollout *rollout, int dofCount,
                                const bool *slides, double judgedTime )
{
	lmbLimbErrors out = { .judged = NAN };
	double *slots[lmbLimbTimeCount + 1];
	int ends[lmbLimbTimeCount + 1], last = -1;
	for ( int t = 0; t <= lmbLimbTimeCount; ++t )
	{
		double samples = floor( ( t < lmbLimbTimeCount ? lmbLimbTimes[t] : judgedTime ) / truth->step + 0.5 );
		ends[t] = samples < truth->sampleCount ? (int)samples : -1;
		slots[t] = t < lmbLimbTimeCount ? &out.rmse[t] : &out.judged;
		*slots[t] = NAN;
	}
	last = ends[lmbLimbTimeCount - 1] >= 0 ? ends[lmbLimbTimeCount - 1] : truth->sampleCount - 1;
	for ( int k = 0; k <= last; ++k )
	{
		double rmse = lmbLimbErrorCap, largest = lmbLimbErrorCap;
		if ( k < rollout->finiteCount && !out.diverged )
			largest = ErrorAt( truth, rollout, dofCount, slides, k, &rmse );
		if ( largest >= lmbLimbErrorCap )
		{
			out.diverged = true;
			rmse = lmbLimbErrorCap;
		}
		for ( int t = 0; t <= lmbLimbTimeCount; ++t )
			if ( ends[t] == k )
				*slots[t] = rmse;
	}
	JudgeWhole( truth, rollout, dofCount, slides, &out );
	return out;
}

void lmbLimbErrors_Curve( const lmbTrajectory *truth, const lmbLimbRollout *rollout, int dofCount,
                          const bool *slides, double *curve )
{
	bool diverged = false;
	for ( int k = 0; k < truth->sampleCount; ++k )
		curve[k] = CountedError( truth, rollout, dofCount, slides, k, &diverged );
}

static int CompareNumbers( const void *a, const void *b )
{
	double x = *(const double *)a, y = *(const double *)b;
	return ( x > y ) - ( x < y );
}

double lmbMedian( double *values, int count )
{
	if ( count == 0 )
		return NAN;
	qsort( values, (size_t)count, sizeof( double ), CompareNumbers );
	return 0.5 * ( values[( count - 1 ) / 2] + values[count / 2] );
}

/* Number t of a trajectory's errors, and where its mean and median go. */
static double Entry( const lmbLimbErrors *errors, int t )
{
	return t < lmbLimbTimeCount        ? errors->rmse[t]
	       : t == lmbLimbTimeCount     ? errors->judged
	       : t == lmbLimbTimeCount + 1 ? errors->whole
	                                   : errors->valid;
}

lmbStatus lmbLimbSummary_Of( const lmbLimbErrors *errors, int count, lmbLimbSummary *out, lmbError *error )
{
	double *values = calloc( (size_t)count + 1, sizeof( double ) );
	if ( values == NULL )
		return lmbError_Memory( error );
	*out = ( lmbLimbSummary ){ .count = count };
	double *means[lmbLimbTimeCount + 3], *medians[lmbLimbTimeCount + 3];
	for ( int t = 0; t < lmbLimbTimeCount; ++t )
	{
		means[t] = &out->mean[t];
		medians[t] = &out->median[t];
	}
	means[lmbLimbTimeCount] = &out->judgedMean;
	medians[lmbLimbTimeCount] = &out->judgedMedian;
	means[lmbLimbTimeCount + 1] = &out->wholeMean;
	medians[lmbLimbTimeCount + 1] = &out->wholeMedian;
	means[lmbLimbTimeCount + 2] = &out->validMean;
	medians[lmbLimbTimeCount + 2] = &out->validMedian;
	for ( int t = 0; t < lmbLimbTimeCount + 3; ++t )
	{
		int used = 0;
		double sum = 0.0;
		for ( int i = 0; i < count; ++i )
		{
			double value = Entry( &errors[i], t );
			if ( !isnan( value ) )
				sum += values[used++] = value;
		}
		*means[t] = used > 0 ? sum / used : NAN;
		*medians[t] = lmbMedian( values, used );
	}
	for ( int i = 0; i < count; ++i )
		out->diverged += errors[i].diverged ? 1.0 / count : 0.0;
	free( values );
	return lmb_statusOk;
}

typedef struct Ranked
{
	double value, rank;
	int index;
} Ranked;

static int CompareRanked( const void *a, const void *b )
{
	const Ranked *x = a, *y = b;
	return ( x->value > y->value ) - ( x->value < y->value );
}

/* Ranks minus their mean; equal values share the mean of their ranks. */
static void Rank( const double *values, int count, Ranked *work, double *ranks )
{
	for ( int i = 0; i < count; ++i )
		work[i] = ( Ranked ){ values[i], 0.0, i };
	qsort( work, (size_t)count, sizeof( Ranked ), CompareRanked );
	for ( int first = 0; first < count; )
	{
		int end = first + 1;
		while ( end < count && work[end].value == work[first].value )
			end += 1;
		for ( int i = first; i < end; ++i )
			ranks[work[i].index] = 0.5 * ( first + end - 1 ) - 0.5 * ( count - 1 );
		first = end;
	}
}

lmbStatus lmbSpearman( const double *a, const double *b, int count, double *out, lmbError *error )
{
	double *ranks = calloc( 2 * (size_t)count + 1, sizeof( double ) );
	Ranked *work = calloc( (size_t)count + 1, sizeof( Ranked ) );
	if ( ranks == NULL || work == NULL )
	{
		free( ranks );
		free( work );
		return lmbError_Memory( error );
	}
	double *other = ranks + count, product = 0.0, squares = 0.0, otherSquares = 0.0;
	Rank( a, count, work, ranks );
	Rank( b, count, work, other );
	for ( int i = 0; i < count; ++i )
	{
		product += ranks[i] * other[i];
		squares += ranks[i] * ranks[i];
		otherSquares += other[i] * other[i];
	}
	*out = squares > 0.0 && otherSquares > 0.0 ? product / sqrt( squares * otherSquares ) : NAN;
	free( ranks );
	free( work );
	return lmb_statusOk;
}
