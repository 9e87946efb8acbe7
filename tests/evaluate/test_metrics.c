/* The numbers of the report on shapes small enough to work out by hand. */
#include "check.h"

#include "evaluate/metrics.h"

#include <string.h>

/* Sums of a few floats with exact values in double: only the last rounding is left. */
static const double tiny = 1e-12;

enum
{
	vertexCount = 2
};

/* Vertex 0 counts, vertex 1 does not: whatever happens there must not show. */
static const uint8_t judged[vertexCount] = { 1, 0 };

/* A skin with vertex 0 at x, y, z and vertex 1 far away. */
static const float *At( float x, float y, float z )
{
	static float ring[32][6];
	static int next;
	float *skin = ring[next++ % 32];
	float values[6] = { x, y, z, 100.0f * (float)next, -7.0f, 1e6f };
	memcpy( skin, values, sizeof( values ) );
	return skin;
}

static void OneFrameByHand( void **state )
{
	(void)state;
	/* x_Q at 0, x_D at (4, 0, 0): u = 4. Skinning at (0, 3, 0), network at (1, 0, 0). */
	lmbScoreFrame frame = { vertexCount, judged, At( 0, 0, 0 ), At( 4, 0, 0 ), { 0 } };
	frame.columns[lmb_columnSkinning] = At( 0, 3, 0 );
	frame.columns[lmb_columnNetwork] = At( 1, 0, 0 );
	frame.columns[lmb_columnInstant] = At( 2, 3, 0 ); /* U = 2 over skinning */
	frame.columns[lmb_columnVertex] = At( 2, 0, 0 );  /* U = 1 over the network */
	frame.columns[lmb_columnHybrid] = At( 5, 0, 0 );  /* U = 4 = u */
	lmbScoreSums sums = { 0 };
	lmbScore_AddFrame( &sums, &frame );
	lmbScore_AddExact( &sums, lmb_columnHybrid, &frame, At( 3, 0, 0 ) );
	lmbScore score = lmbScore_Finish( &sums );
	CHECK_INT( score.frameCount, 1 );
	CHECK_NEAR( score.dynamicsRms, 4.0, tiny );
	CHECK_NEAR( score.rms[lmb_columnSkinning], 5.0, tiny ); /* 3-4-5 */
	CHECK_NEAR( score.rms[lmb_columnNetwork], 3.0, tiny );
	CHECK_NEAR( score.rms[lmb_columnInstant], sqrt( 13.0 ), tiny );
	CHECK_NEAR( score.rms[lmb_columnHybrid], 1.0, tiny );
	CHECK_NEAR( score.stillRms[lmb_columnSkinning], 3.0, tiny );
	CHECK_NEAR( score.stillRms[lmb_columnNetwork], 1.0, tiny );
	CHECK( isnan( score.stillRms[lmb_columnHybrid] ) );
	CHECK_NEAR( score.dynamicShare[lmb_columnInstant], 1.0 - 4.0 / 16.0, tiny );
	CHECK_NEAR( score.dynamicShare[lmb_columnVertex], 1.0 - 9.0 / 16.0, tiny );
	CHECK_NEAR( score.dynamicShare[lmb_columnHybrid], 1.0, tiny );
	CHECK( isnan( score.dynamicShare[lmb_columnNetwork] ) );
	CHECK_NEAR( score.captured[lmb_columnVertex], 1.0 - 4.0 / 9.0, tiny );
	CHECK_NEAR( score.captured[lmb_columnHybrid], 1.0 - 1.0 / 9.0, tiny );
	/* The hybrid's U is u, so what it captures is the cap. */
	CHECK_NEAR( score.capturedCap, 1.0 - 1.0 / 9.0, tiny );
	CHECK_NEAR( score.capturedExact[lmb_columnHybrid], 1.0 - 1.0 / 16.0, tiny );
	CHECK( isnan( score.capturedExact[lmb_columnVertex] ) );
	CHECK( isnan( score.rms[lmb_columnModal] ) && isnan( score.captured[lmb_columnModal] ) );
}

static void FramesAreWeighedByTheirSquares( void **state )
{
	(void)state;
	/* u = 3 captured whole, then u = 1 missed whole: 1 - 1/10, not the mean of 1 and 0. */
	lmbScoreSums sums = { 0 };
	lmbScoreFrame frame = { vertexCount, judged, At( 0, 0, 0 ), At( 3, 0, 0 ), { 0 } };
	frame.columns[lmb_columnNetwork] = At( 0, 0, 0 );
	frame.columns[lmb_columnModal] = At( 3, 0, 0 );
	lmbScore_AddFrame( &sums, &frame );
	lmbScore_AddExact( &sums, lmb_columnModal, &frame, At( 3, 0, 0 ) );
	frame.moving = At( 0, 1, 0 );
	frame.columns[lmb_columnModal] = At( 0, 0, 0 );
	lmbScore_AddFrame( &sums, &frame );
	lmbScore_AddExact( &sums, lmb_columnModal, &frame, At( 0, 0, 0 ) );
	lmbScore score = lmbScore_Finish( &sums );
	CHECK_NEAR( score.dynamicShare[lmb_columnModal], 0.9, tiny );
	CHECK_NEAR( score.capturedExact[lmb_columnModal], 0.9, tiny );
	CHECK_NEAR( score.captured[lmb_columnModal], 0.9, tiny );
	CHECK_NEAR( score.rms[lmb_columnNetwork], sqrt( 5.0 ), tiny );
	CHECK_NEAR( score.capturedCap, 1.0, tiny );
}

static void WrongMotionCostsMoreThanNone( void **state )
{
	(void)state;
	/* U = -u: 1 - 4 = -3. */
	lmbScoreSums sums = { 0 };
	lmbScoreFrame frame = { vertexCount, judged, At( 0, 0, 0 ), At( 0, 0, 2 ), { 0 } };
	frame.columns[lmb_columnSkinning] = At( 0, 0, 0 );
	frame.columns[lmb_columnInstant] = At( 0, 0, -2 );
	lmbScore_AddFrame( &sums, &frame );
	lmbScore score = lmbScore_Finish( &sums );
	CHECK_NEAR( score.dynamicShare[lmb_columnInstant], -3.0, tiny );
	/* No network: nothing to compare with, end to end. */
	CHECK( isnan( score.captured[lmb_columnInstant] ) && isnan( score.capturedCap ) );
}

static void NothingToDivideByIsNoNumber( void **state )
{
	(void)state;
	lmbScoreSums none = { 0 };
	lmbScore score = lmbScore_Finish( &none );
	CHECK( isnan( score.rms[lmb_columnSkinning] ) && isnan( score.dynamicsRms ) &&
	       isnan( score.capturedCap ) );
	/* A motion without dynamics. */
	lmbScoreFrame frame = { vertexCount, judged, At( 1, 1, 1 ), At( 1, 1, 1 ), { 0 } };
	frame.columns[lmb_columnNetwork] = At( 1, 1, 1 );
	frame.columns[lmb_columnHybrid] = At( 1, 1, 1 );
	lmbScoreSums sums = { 0 };
	lmbScore_AddFrame( &sums, &frame );
	score = lmbScore_Finish( &sums );
	CHECK_NEAR( score.rms[lmb_columnHybrid], 0.0, 0.0 );
	CHECK( isnan( score.dynamicShare[lmb_columnHybrid] ) && isnan( score.captured[lmb_columnHybrid] ) );
}

static void NamesAreThoseOfTheFile( void **state )
{
	(void)state;
	const char *names[] = { "skinning", "network", "instant", "vertex", "modal_unfitted", "modal", "hybrid" };
	for ( int c = 0; c < lmb_columnCount; ++c )
		CHECK( strcmp( lmbColumn_Name( (lmbColumn)c ), names[c] ) == 0 );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( OneFrameByHand ),
	    CHECK_TEST( FramesAreWeighedByTheirSquares ),
	    CHECK_TEST( WrongMotionCostsMoreThanNone ),
	    CHECK_TEST( NothingToDivideByIsNoNumber ),
	    CHECK_TEST( NamesAreThoseOfTheFile ),
	};
	return CHECK_RUN( tests );
}
