#include "evaluate/metrics.h"

#include <math.h>
#include <stddef.h>

static const char *const columnNames[lmb_columnCount] = { "skinning",       "network", "instant", "vertex",
                                                          "modal_unfitted", "modal",   "hybrid" };

const char *lmbColumn_Name( lmbColumn column )
{
	return columnNames[column];
}

/* The still shape that a column's springs move around; lmb_columnCount for a column without springs. */
static lmbColumn BaseOf( lmbColumn column )
{
	if ( column == lmb_columnSkinning || column == lmb_columnNetwork )
		return lmb_columnCount;
	return column == lmb_columnInstant ? lmb_columnSkinning : lmb_columnNetwork;
}

static double SquaredDistance( const lmbScoreFrame *frame, const float *a, const float *b )
{
	double sum = 0.0;
	for ( int i = 0; i < frame->vertexCount; ++i )
	{
		if ( frame->judged[i] == 0 )
			continue;
		for ( size_t k = 3 * (size_t)i; k < 3 * (size_t)i + 3; ++k )
		{
			double d = (double)a[k] - (double)b[k];
			sum += d * d;
		}
	}
	return sum;
}

/* sum |u - U|^2 with U = x - base, or U = x where base is NULL. */
static double ShapeDistance( const lmbScoreFrame *frame, const float *x, const float *base )
{
	double sum = 0.0;
	for ( int i = 0; i < frame->vertexCount; ++i )
	{
		if ( frame->judged[i] == 0 )
			continue;
		for ( size_t k = 3 * (size_t)i; k < 3 * (size_t)i + 3; ++k )
		{
			double u = (double)frame->moving[k] - (double)frame->still[k];
			double U = base != NULL ? (double)x[k] - (double)base[k] : (double)x[k];
			sum += ( u - U ) * ( u - U );
		}
	}
	return sum;
}

void lmbScore_AddFrame( lmbScoreSums *sums, const lmbScoreFrame *frame )
{
	sums->frameCount += 1;
	for ( int i = 0; i < frame->vertexCount; ++i )
		sums->pointCount += frame->judged[i] != 0 ? 1.0 : 0.0;
	sums->dynamics += SquaredDistance( frame, frame->moving, frame->still );
	for ( int c = 0; c < lmb_columnCount; ++c )
	{
		const float *x = frame->columns[c];
		if ( x == NULL )
			continue;
		lmbColumn base = BaseOf( (lmbColumn)c );
		sums->present[c] = true;
		sums->error[c] += SquaredDistance( frame, x, frame->moving );
		sums->still[c] += SquaredDistance( frame, x, frame->still );
		if ( base != lmb_columnCount && frame->columns[base] != NULL )
			sums->shape[c] += ShapeDistance( frame, x, frame->columns[base] );
	}
}

void lmbScore_AddExact( lmbScoreSums *sums, lmbColumn column, const lmbScoreFrame *frame,
                        const float *displacement )
{
	sums->exactPresent[column] = true;
	sums->exact[column] += ShapeDistance( frame, displacement, NULL );
}

/* 1 - part / whole. */
static double Share( double part, double whole )
{
	return whole > 0.0 ? 1.0 - part / whole : NAN;
}

static double Rms( double sum, double count )
{
	return count > 0.0 ? sqrt( sum / count ) : NAN;
}

lmbScore lmbScore_Finish( const lmbScoreSums *sums )
{
	lmbScore score = { .frameCount = sums->frameCount,
	                   .dynamicsRms = Rms( sums->dynamics, sums->pointCount ),
	                   .capturedCap = NAN };
	bool network = sums->present[lmb_columnNetwork];
	for ( int c = 0; c < lmb_columnCount; ++c )
	{
		lmbColumn base = BaseOf( (lmbColumn)c );
		bool springs = base != lmb_columnCount;
		bool moves = springs && sums->present[c] && sums->present[base];
		score.rms[c] = sums->present[c] ? Rms( sums->error[c], sums->pointCount ) : NAN;
		score.stillRms[c] = sums->present[c] && !springs ? Rms( sums->still[c], sums->pointCount ) : NAN;
		score.capturedExact[c] = sums->exactPresent[c] ? Share( sums->exact[c], sums->dynamics ) : NAN;
		score.dynamicShare[c] = moves ? Share( sums->shape[c], sums->dynamics ) : NAN;
		score.captured[c] = moves && base == lmb_columnNetwork
		                        ? Share( sums->error[c], sums->error[lmb_columnNetwork] )
		                        : NAN;
	}
	if ( network )
		score.capturedCap = Share( sums->still[lmb_columnNetwork], sums->error[lmb_columnNetwork] );
	return score;
}
