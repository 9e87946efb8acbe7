#include "evaluate/details.h"

#include "base/math3.h"

lmbStatus lmbMotionDetails_Begin( lmbMotionDetails *details, int frameCount, int vertexCount,
                                  const bool present[lmb_columnCount], lmbError *error )
{
	*details = ( lmbMotionDetails ){ .frameCount = frameCount, .vertexCount = vertexCount };
	lmbArena *arena = &details->arena;
	details->judged = LMB_NEW( arena, uint8_t, frameCount );
	details->dynamics = LMB_NEW( arena, double, frameCount );
	details->vertexDynamics = LMB_NEW( arena, double, vertexCount );
	details->moments = LMB_NEW( arena, double, 6 * (size_t)vertexCount );
	bool failed = details->judged == NULL || details->dynamics == NULL || details->vertexDynamics == NULL ||
	              details->moments == NULL;
	for ( int c = 0; c < lmb_columnCount; ++c )
	{
		if ( !present[c] )
			continue;
		details->rms[c] = LMB_NEW( arena, double, frameCount );
		details->vertexRms[c] = LMB_NEW( arena, double, vertexCount );
		failed = failed || details->rms[c] == NULL || details->vertexRms[c] == NULL;
	}
	return failed ? lmbError_Memory( error ) : lmb_statusOk;
}

void lmbMotionDetails_Look( lmbMotionDetails *details, const lmbScoreFrame *frame )
{
	details->lookedCount += 1;
	for ( int v = 0; v < details->vertexCount; ++v )
	{
		double u[3], *m = details->moments + 6 * (size_t)v;
		for ( int i = 0; i < 3; ++i )
			u[i] = (double)frame->moving[3 * (size_t)v + i] - (double)frame->still[3 * (size_t)v + i];
		m[0] += u[0] * u[0];
		m[1] += u[0] * u[1];
		m[2] += u[0] * u[2];
		m[3] += u[1] * u[1];
		m[4] += u[1] * u[2];
		m[5] += u[2] * u[2];
	}
}

static double Trace( const double *moments )
{
	return moments[0] + moments[3] + moments[5];
}

/* The eigenvector of the largest eigenvalue. The matrix is squared instead of applied, so that few rounds
 * separate even eigenvalues that are close; between equal ones any direction is right. */
static void MainDirection( const double *m, double *direction )
{
	double a[9] = { m[0], m[1], m[2], m[1], m[3], m[4], m[2], m[4], m[5] }, squared[9];
	for ( int round = 0; round < 12; ++round )
	{
		double trace = a[0] + a[4] + a[8];
		for ( int i = 0; i < 9 && trace > 0.0; ++i )
			a[i] /= trace;
		lmbMat33_Multiply( squared, a, a );
		memcpy( a, squared, sizeof( a ) );
	}
	const double *row = a;
	for ( int i = 1; i < 3; ++i )
		if ( lmbLength( a + 3 * (size_t)i ) > lmbLength( row ) )
			row = a + 3 * (size_t)i;
	double length = lmbLength( row ), largest = 0.0;
	for ( int i = 0; i < 3; ++i )
		if ( fabs( row[i] ) > fabs( largest ) )
			largest = row[i];
	/* Towards the positive side of its largest component. */
	for ( int i = 0; i < 3; ++i )
		direction[i] = length > 0.0 ? row[i] / ( largest < 0.0 ? -length : length ) : ( i == 1 ? 1.0 : 0.0 );
}

static bool IsApart( const lmbMotionDetails *details, const double *bind, int vertex, double distance )
{
	for ( int t = 0; t < details->trackCount; ++t )
	{
		double d[3];
		lmbSub( d, bind + 3 * (size_t)vertex, bind + 3 * (size_t)details->tracks[t].vertex );
		if ( lmbLength( d ) <= distance )
			return false;
	}
	return true;
}

static double SizeOf( const double *bind, int vertexCount )
{
	double low[3] = { HUGE_VAL, HUGE_VAL, HUGE_VAL }, high[3] = { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL };
	for ( size_t i = 0; i < 3 * (size_t)vertexCount; ++i )
	{
		low[i % 3] = fmin( low[i % 3], bind[i] );
		high[i % 3] = fmax( high[i % 3], bind[i] );
	}
	return fmax( fmax( high[0] - low[0], high[1] - low[1] ), high[2] - low[2] );
}

lmbStatus lmbMotionDetails_Choose( lmbMotionDetails *details, const uint8_t *judgedVertices,
                                   const double *bind, lmbError *error )
{
	double distance = 0.1 * SizeOf( bind, details->vertexCount );
	while ( details->trackCount < lmbTrackMax && details->lookedCount > 0 )
	{
		int best = -1;
		for ( int v = 0; v < details->vertexCount; ++v )
		{
			const double *m = details->moments + 6 * (size_t)v;
			if ( judgedVertices[v] != 0 && Trace( m ) > 0.0 &&
			     ( best < 0 || Trace( m ) > Trace( details->moments + 6 * (size_t)best ) ) &&
			     IsApart( details, bind, v, distance ) )
				best = v;
		}
		if ( best < 0 )
			break;
		lmbTrack *track = &details->tracks[details->trackCount++];
		track->vertex = best;
		MainDirection( details->moments + 6 * (size_t)best, track->direction );
		track->still = LMB_NEW( &details->arena, float, details->frameCount );
		track->moving = LMB_NEW( &details->arena, float, details->frameCount );
		bool failed = track->still == NULL || track->moving == NULL;
		for ( int c = 0; c < lmb_columnCount; ++c )
		{
			if ( details->rms[c] != NULL )
				track->columns[c] = LMB_NEW( &details->arena, float, details->frameCount );
			failed = failed || ( details->rms[c] != NULL && track->columns[c] == NULL );
		}
		if ( failed )
			return lmbError_Memory( error );
	}
	return lmb_statusOk;
}

/* Of shape x at the track's vertex. */
static float Along( const lmbTrack *track, const float *x, const float *skinning )
{
	double sum = 0.0;
	size_t at = 3 * (size_t)track->vertex;
	for ( int i = 0; i < 3; ++i )
		sum += track->direction[i] * ( (double)x[at + i] - (double)skinning[at + i] );
	return (float)sum;
}

static void AddTracks( lmbMotionDetails *details, int frame, const lmbScoreFrame *shapes )
{
	const float *skinning = shapes->columns[lmb_columnSkinning];
	for ( int t = 0; t < details->trackCount && skinning != NULL; ++t )
	{
		lmbTrack *track = &details->tracks[t];
		track->still[frame] = Along( track, shapes->still, skinning );
		track->moving[frame] = Along( track, shapes->moving, skinning );
		for ( int c = 0; c < lmb_columnCount; ++c )
			if ( track->columns[c] != NULL )
				track->columns[c][frame] = Along( track, shapes->columns[c], skinning );
	}
}

static void AddVertices( double *sums, int vertexCount, const float *a, const float *b )
{
	for ( size_t i = 0; i < 3 * (size_t)vertexCount; ++i )
	{
		double d = (double)a[i] - (double)b[i];
		sums[i / 3] += d * d;
	}
}

void lmbMotionDetails_Add( lmbMotionDetails *details, int frame, bool judged, const lmbScoreFrame *shapes )
{
	AddTracks( details, frame, shapes );
	/* The same sums as those of the motion as a whole, of one frame. */
	lmbScoreSums sums = { 0 };
	if ( judged )
		lmbScore_AddFrame( &sums, shapes );
	lmbScore score = lmbScore_Finish( &sums );
	details->judged[frame] = judged ? 1 : 0;
	details->dynamics[frame] = score.dynamicsRms;
	for ( int c = 0; c < lmb_columnCount; ++c )
		if ( details->rms[c] != NULL )
			details->rms[c][frame] = score.rms[c];
	if ( !judged )
		return;
	AddVertices( details->vertexDynamics, details->vertexCount, shapes->moving, shapes->still );
	for ( int c = 0; c < lmb_columnCount; ++c )
		if ( details->vertexRms[c] != NULL )
			AddVertices( details->vertexRms[c], details->vertexCount, shapes->columns[c], shapes->moving );
}

void lmbMotionDetails_Finish( lmbMotionDetails *details )
{
	double count = 0.0;
	for ( int f = 0; f < details->frameCount; ++f )
		count += details->judged[f];
	for ( int c = -1; c < lmb_columnCount; ++c )
	{
		double *sums = c < 0 ? details->vertexDynamics : details->vertexRms[c];
		for ( int v = 0; sums != NULL && v < details->vertexCount; ++v )
			sums[v] = count > 0.0 ? sqrt( sums[v] / count ) : NAN;
	}
}

void lmbMotionDetails_Free( lmbMotionDetails *details )
{
	lmbArena_Free( &details->arena );
}
