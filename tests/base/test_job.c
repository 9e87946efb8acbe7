#include "base/job.h"
#include "base/math3.h"
#include "base/random.h"
#include "check.h"

typedef struct Marks
{
	int seen[100];
	int failAt;
} Marks;

static lmbStatus Mark( void *context, int index, int worker, lmbError *error )
{
	Marks *marks = context;
	(void)worker;
	marks->seen[index] += 1;
	if ( index == marks->failAt )
		return lmbError_Set( error, lmb_statusNumerical, "task %d", index );
	return lmb_statusOk;
}

static void EveryTaskOnce( void **state )
{
	(void)state;
	for ( int threads = 1; threads <= 4; ++threads )
	{
		Marks marks = { .failAt = -1 };
		lmbJob job = { .threads = threads };
		lmbError error = { 0 };
		CHECK_INT( lmbJob_ForEach( &job, 100, Mark, &marks, &error ), lmb_statusOk );
		for ( int i = 0; i < 100; ++i )
			CHECK_INT( marks.seen[i], 1 );
	}
}

static void FailureStops( void **state )
{
	(void)state;
	Marks marks = { .failAt = 10 };
	lmbJob job = { .threads = 2 };
	lmbError error = { 0 };
	CHECK_INT( lmbJob_ForEach( &job, 100, Mark, &marks, &error ), lmb_statusNumerical );
	CHECK_CONTAINS( error.message, "task 10" );
	CHECK_INT( marks.seen[99], 0 );
}

static void CancelStops( void **state )
{
	(void)state;
	atomic_bool stop = true;
	Marks marks = { .failAt = -1 };
	lmbJob job = { .threads = 2, .cancelled = &stop };
	CHECK_INT( lmbJob_ForEach( &job, 100, Mark, &marks, NULL ), lmb_statusCancelled );
	CHECK_INT( marks.seen[0], 0 );
}

/* Rotation to quaternion and back, over random rotations and the half turns where the trace is -1. */
static void QuaternionRoundTrip( void **state )
{
	(void)state;
	checkSeed = 7;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	for ( int i = 0; i < 1000; ++i )
	{
		double q[4] = { lmbRandom_Normal( &random ), lmbRandom_Normal( &random ), lmbRandom_Normal( &random ),
		                i % 4 == 0 ? 0.0 : lmbRandom_Normal( &random ) };
		lmbQuat_Normalize( q, q );
		double m[9], p[4], n[9];
		lmbQuat_ToMat33( m, q );
		lmbQuat_FromMat33( p, m );
		lmbQuat_ToMat33( n, p );
		for ( int j = 0; j < 9; ++j )
			CHECK_NEAR( n[j], m[j], 1e-14 ); /* a few roundings of numbers up to 1 */
	}
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( EveryTaskOnce ),
	    CHECK_TEST( FailureStops ),
	    CHECK_TEST( CancelStops ),
	    CHECK_TEST( QuaternionRoundTrip ),
	};
	return CHECK_RUN( tests );
}
