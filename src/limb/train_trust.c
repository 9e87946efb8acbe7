/* The region of state and input that a model was taught in: whitened samples, their centres by k-means, and
 * the distance that 99 % of them stay below. */
#include "limb/train_private.h"

#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum
{
	widestTrust = 64, /* entries of the list; of the runtime */
	studied = 20000,  /* samples that the centres are found on */
	rounds = 25,
	samplesPerCentre = 20
};

typedef struct Region
{
	int count, d;
	double *rows; /* (count x d), whitened in place */
	int centreCount;
	double *centres; /* (centreCount x d) */
} Region;

static double Distance( const double *a, const double *b, int d )
{
	double sum = 0.0;
	for ( int k = 0; k < d; ++k )
		sum += ( a[k] - b[k] ) * ( a[k] - b[k] );
	return sum;
}

static int Nearest( const Region *region, const double *row, double *distance )
{
	int best = 0;
	*distance = HUGE_VAL;
	for ( int c = 0; c < region->centreCount; ++c )
	{
		double own = Distance( row, region->centres + (size_t)c * region->d, region->d );
		if ( own < *distance )
		{
			*distance = own;
			best = c;
		}
	}
	return best;
}

static lmbStatus Whiten( Region *region, lmbTrustRegion *trust, lmbError *error )
{
	int d = region->d;
	double *covariance = calloc( (size_t)d * (size_t)d, sizeof( double ) );
	if ( covariance == NULL )
		return lmbError_Memory( error );
	for ( int s = 0; s < region->count; ++s )
		for ( int k = 0; k < d; ++k )
			trust->mean[k] += region->rows[(size_t)s * d + k] / region->count;
	for ( int s = 0; s < region->count; ++s )
	{
		double *row = region->rows + (size_t)s * d;
		for ( int k = 0; k < d; ++k )
			row[k] -= trust->mean[k];
		for ( int i = 0; i < d; ++i )
			for ( int j = 0; j <= i; ++j )
				covariance[i * d + j] += row[i] * row[j] / region->count;
	}
	/* Sine and cosine of a small range are nearly one number, and what never moved in training has no spread:
	 * a floor under each keeps such directions from deciding alone. */
	for ( int i = 0; i < d; ++i )
	{
		double own = covariance[i * d + i];
		covariance[i * d + i] = 1.01 * own + 1e-6 * ( 1.0 + trust->mean[i] * trust->mean[i] );
	}
	bool positive = LAPACKE_dpotrf( LAPACK_ROW_MAJOR, 'L', d, covariance, d ) == 0 &&
	                LAPACKE_dtrtri( LAPACK_ROW_MAJOR, 'L', 'N', d, covariance, d ) == 0;
	for ( int i = 0; i < d && positive; ++i )
		memcpy( trust->whiten + (ptrdiff_t)i * d, covariance + (ptrdiff_t)i * d,
		        (size_t)( i + 1 ) * sizeof( double ) );
	free( covariance );
	if ( !positive )
		return lmbError_Set( error, lmb_statusNumerical, "the training data have no finite covariance" );
	for ( int s = 0; s < region->count; ++s )
	{
		double z[widestTrust] = { 0 }, *row = region->rows + (size_t)s * d;
		for ( int i = 0; i < d; ++i )
			for ( int j = 0; j <= i; ++j )
				z[i] += trust->whiten[i * d + j] * row[j];
		memcpy( row, z, (size_t)d * sizeof( double ) );
	}
	return lmb_statusOk;
}

/* Starts far apart (k-means++, Arthur and Vassilvitskii 2007), then Lloyd's rounds. */
static lmbStatus FindCentres( Region *region, uint64_t seed, lmbArena *arena, lmbError *error )
{
	int d = region->d, stride = ( region->count + studied - 1 ) / studied;
	int used = ( region->count + stride - 1 ) / stride;
	int wanted = used / samplesPerCentre;
	wanted = wanted < 1 ? 1 : wanted > lmbTrustCentresMax ? lmbTrustCentresMax : wanted;
	lmbRandom random = lmbRandom_Seed( seed, 0x72057 );
	region->centres = LMB_NEW( arena, double, wanted *d );
	double *sums = LMB_NEW( arena, double, wanted *d ), *far = LMB_NEW( arena, double, used );
	int *members = LMB_NEW( arena, int, wanted );
	if ( region->centres == NULL || sums == NULL || far == NULL || members == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < used; ++i )
		far[i] = 1.0;
	while ( region->centreCount < wanted )
	{
		double total = 0.0, pick;
		int at = 0;
		for ( int i = 0; i < used; ++i )
			total += far[i];
		pick = lmbRandom_Uniform( &random ) * total;
		for ( ; at < used - 1 && pick >= far[at]; ++at )
			pick -= far[at];
		double *centre = region->centres + (size_t)region->centreCount * d;
		memcpy( centre, region->rows + (size_t)at * stride * d, (size_t)d * sizeof( double ) );
		for ( int i = 0; i < used; ++i )
		{
			double own = Distance( region->rows + (size_t)i * stride * d, centre, d );
			far[i] = region->centreCount == 0 ? own : fmin( far[i], own );
		}
		region->centreCount += 1;
	}
	for ( int round = 0; round < rounds; ++round )
	{
		memset( sums, 0, (size_t)wanted * (size_t)d * sizeof( double ) );
		memset( members, 0, (size_t)wanted * sizeof( int ) );
		for ( int i = 0; i < used; ++i )
		{
			double distance;
			const double *row = region->rows + (size_t)i * stride * d;
			int c = Nearest( region, row, &distance );
			members[c] += 1;
			for ( int k = 0; k < d; ++k )
				sums[c * d + k] += row[k];
		}
		for ( int c = 0; c < wanted; ++c )
			for ( int k = 0; k < d && members[c] > 0; ++k )
				region->centres[c * d + k] = sums[c * d + k] / members[c];
	}
	return lmb_statusOk;
}

static int Ascending( const void *a, const void *b )
{
	double x = *(const double *)a, y = *(const double *)b;
	return ( x > y ) - ( x < y );
}

/* growth (count) Nullable. */
static lmbStatus Measure( Region *region, const double *growth, lmbTrustRegion *trust, lmbArena *arena,
                          lmbError *error )
{
	int d = region->d, centres = region->centreCount;
	trust->centreCount = centres;
	trust->centres = LMB_NEW( arena, float, centres *d );
	double *distances = LMB_NEW( arena, double, region->count );
	if ( trust->centres == NULL || distances == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < centres * d; ++i )
	{
		trust->centres[i] = (float)region->centres[i];
		region->centres[i] = (double)trust->centres[i];
	}
	for ( int s = 0; s < region->count; ++s )
	{
		Nearest( region, region->rows + (size_t)s * d, &distances[s] );
		distances[s] *= growth != NULL ? growth[s] : 1.0;
	}
	qsort( distances, (size_t)region->count, sizeof( double ), Ascending );
	int at = (int)ceil( 0.99 * region->count ) - 1;
	trust->scale = fmax( sqrt( distances[at < 0 ? 0 : at] ), 1e-9 );
	return lmb_statusOk;
}

enum
{
	growthTerms = 5,
	growthRounds = 12,
	growthSweeps = 200
};

/* 1, speed, its square, drive, acceleration: sums of squares in units of their spread. */
static void GrowthTerms( const double *inverse, const lmbSamples *samples, size_t s, int n, int m,
                         double terms[growthTerms] )
{
	const double *v = samples->velocities + (size_t)n * s, *u = samples->inputs + (size_t)m * s;
	const double *a = samples->accelerations + (size_t)n * s;
	double speed = 0.0, drive = 0.0, change = 0.0;
	for ( int i = 0; i < n; ++i )
	{
		speed += inverse[i] * v[i] * inverse[i] * v[i];
		change += inverse[n + m + i] * a[i] * inverse[n + m + i] * a[i];
	}
	for ( int j = 0; j < m; ++j )
		drive += inverse[n + j] * u[j] * inverse[n + j] * u[j];
	terms[0] = 1.0;
	terms[1] = speed;
	terms[2] = speed * speed;
	terms[3] = drive;
	terms[4] = change;
}

/* Least squares with no share below 0, by descent along one share after the other: normal and right of that.
 */
static void SolveShares( const double normal[growthTerms][growthTerms], const double *right, double *shares )
{
	for ( int sweep = 0; sweep < growthSweeps; ++sweep )
		for ( int k = 0; k < growthTerms; ++k )
		{
			double sum = right[k];
			for ( int l = 0; l < growthTerms; ++l )
				sum -= l == k ? 0.0 : normal[k][l] * shares[l];
			shares[k] = normal[k][k] > 0.0 ? fmax( sum / normal[k][k], 0.0 ) : 0.0;
		}
}

/* How the model's own squared error grows with speed and drive where it was taught: least squares of relative
 * errors, weighted anew by what the round before expects. growth (count): the roots of what is expected. */
static lmbStatus FitGrowth( lmbTraining *training, const double *errors, lmbTrustRegion *trust,
                            double *growth, lmbError *error )
{
	const lmbSamples *samples = &training->trainSamples;
	size_t n = (size_t)training->set->dofCount, m = (size_t)training->set->inputCount;
	lmbEquationsDef spread;
	lmbTraining_EquationsDef( training, &spread );
	trust->growth = LMB_NEW( &training->arena, double, 2 * n + m + growthTerms );
	if ( trust->growth == NULL )
		return lmbError_Memory( error );
	double *shares = trust->growth + 2 * n + m, mean = 0.0;
	for ( size_t i = 0; i < n; ++i )
	{
		trust->growth[i] = 1.0 / fmax( spread.velocitySpread[i], 1e-9 );
		trust->growth[n + m + i] = 1.0 / fmax( spread.accelerationSpread[i], 1e-9 );
	}
	for ( size_t j = 0; j < m; ++j )
		trust->growth[n + j] = 1.0 / fmax( spread.inputSpread[j], 1e-9 );
	for ( int s = 0; s < samples->count; ++s )
		mean += errors[s] / samples->count;
	shares[0] = 1.0;
	for ( int round = 0; round < growthRounds && mean > 0.0; ++round )
	{
		double normal[growthTerms][growthTerms] = { { 0 } }, right[growthTerms] = { 0 };
		for ( size_t s = 0; s < (size_t)samples->count; ++s )
		{
			double terms[growthTerms], expected = 0.0;
			GrowthTerms( trust->growth, samples, s, (int)n, (int)m, terms );
			for ( int k = 0; k < growthTerms; ++k )
				expected += shares[k] * terms[k];
			double weight = 1.0 / fmax( expected * expected, 1e-12 );
			for ( int k = 0; k < growthTerms; ++k )
			{
				right[k] += weight * terms[k] * errors[s] / mean;
				for ( int l = 0; l < growthTerms; ++l )
					normal[k][l] += weight * terms[k] * terms[l];
			}
		}
		SolveShares( normal, right, shares );
	}
	for ( size_t s = 0; s < (size_t)samples->count; ++s )
	{
		double terms[growthTerms], expected = 0.0;
		GrowthTerms( trust->growth, samples, s, (int)n, (int)m, terms );
		for ( int k = 0; k < growthTerms; ++k )
			expected += shares[k] * terms[k];
		growth[s] = sqrt( expected );
	}
	return lmb_statusOk;
}

lmbStatus lmbTrain_Trust( lmbTraining *training, const lmbFeatures *features, const double *squaredErrors,
                          lmbTrustRegion *trust, lmbError *error )
{
	const lmbSamples *samples = &training->trainSamples;
	int n = training->set->dofCount, m = training->set->inputCount, width = features->count + n + m;
	int d = width < widestTrust ? width : widestTrust;
	lmbArena room = { 0 };
	Region region = { .count = samples->count, .d = d };
	trust->inputs = LMB_NEW( &training->arena, int32_t, d );
	trust->mean = LMB_NEW( &training->arena, double, d );
	trust->whiten = LMB_NEW( &training->arena, double, d *d );
	region.rows = LMB_NEW( &room, double, (size_t)samples->count *(size_t)d );
	lmbStatus status = lmb_statusOk;
	if ( trust->inputs == NULL || trust->mean == NULL || trust->whiten == NULL || region.rows == NULL )
		status = lmbError_Memory( error );
	/* Of a list too long, inputs and then velocities keep their places: features come first in it, and
	 * those of the last joints are left out. */
	for ( int k = 0; k < d && status == lmb_statusOk; ++k )
		trust->inputs[k] = width == d ? k : k < d - n - m ? k : width - d + k;
	for ( int s = 0; s < samples->count && status == lmb_statusOk; ++s )
	{
		double list[lmbListMax];
		lmbFeatures_Evaluate( features, samples->positions + (size_t)s * n, list, NULL, NULL );
		memcpy( list + features->count, samples->velocities + (size_t)s * n, (size_t)n * sizeof( double ) );
		if ( m > 0 )
			memcpy( list + features->count + n, samples->inputs + (size_t)s * m,
			        (size_t)m * sizeof( double ) );
		for ( int k = 0; k < d; ++k )
			region.rows[(size_t)s * d + k] = list[trust->inputs[k]];
	}
	if ( status == lmb_statusOk )
		status = Whiten( &region, trust, error );
	if ( status == lmb_statusOk )
		status = FindCentres( &region, training->job != NULL ? training->job->seed : 0, &room, error );
	double *growth = NULL;
	if ( status == lmb_statusOk && squaredErrors != NULL )
	{
		growth = LMB_NEW( &room, double, samples->count );
		status = growth == NULL ? lmbError_Memory( error )
		                        : FitGrowth( training, squaredErrors, trust, growth, error );
	}
	if ( status == lmb_statusOk )
		status = Measure( &region, growth, trust, &training->arena, error );
	if ( status == lmb_statusOk )
		trust->inputCount = d;
	lmbArena_Free( &room );
	return status;
}
