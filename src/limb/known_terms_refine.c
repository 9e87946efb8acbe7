/* Measured positions have errors, and accelerations made of them more: least squares with them would find too
 * little inertia. What is left after it is found by comparing positions with positions: windows of a second
 * are integrated from starts that are unknown too (multiple shooting), and Levenberg and Marquardt's method
 * goes to the least squares of the differences. Starts are eliminated window by window. */
#include "limb/known_terms_private.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

static const double windowTime = 1.0;    /* s */
static const double longestStep = 0.005; /* s */
static const double nudge = 1e-5;        /* of parameters, relative to 1e-3 and their size; of starts, rad */

enum
{
	states = 4,
	rounds = 20,
	few = 40, /* windows with which it begins */
	localsMost = states + lmbKnownTermsMax
};

typedef struct Window
{
	int trajectory, begin, count;
	double start[states], trial[states];
	/* Of the last derivatives: squares; the reduced normal equations; how the start follows the parameters.
	 */
	double cost;
	double normal[lmbKnownTermsMax * lmbKnownTermsMax], slope[lmbKnownTermsMax];
	double shift[states], follow[states * lmbKnownTermsMax];
} Window;

typedef struct Refinement
{
	const lmbTrajectories *set;
	const lmbJob *job;
	lmbArm arm;
	const int *which;
	int count, windowCount;
	int stride;                      /* every so manieth window is looked at */
	double scales[lmbKnownTermsMax]; /* of the parameters' steps */
	bool derivatives;
	Window *windows;
} Refinement;

/* One step of RK4 from u to end (NULL: held). Errors of 5 ms are far below those of measured positions. */
static bool Step( lmbPlant *plant, double *x, const double *u, const double *end, double h )
{
	double slopes[4][states], y[states], middle[lmbMuscleCount];
	const double *last = end != NULL ? end : u;
	for ( int i = 0; i < plant->inputCount; ++i )
		middle[i] = 0.5 * ( u[i] + last[i] );
	memcpy( y, x, sizeof( y ) );
	for ( int s = 0; s < 4; ++s )
	{
		slopes[s][0] = y[2];
		slopes[s][1] = y[3];
		if ( !lmbPlant_Acceleration( plant, y, y + 2, s == 0 ? u : s == 3 ? last : middle, &slopes[s][2] ) )
			return false;
		for ( int i = 0; i < states && s < 3; ++i )
			y[i] = x[i] + ( s == 2 ? 1.0 : 0.5 ) * h * slopes[s][i];
	}
	for ( int i = 0; i < states; ++i )
		x[i] += h / 6.0 * ( slopes[0][i] + 2.0 * slopes[1][i] + 2.0 * slopes[2][i] + slopes[3][i] );
	return true;
}

/* One sample on, in even steps. */
static bool Advance( lmbPlant *plant, double *x, const double *u, const double *end, double duration )
{
	int pieces = (int)ceil( duration / longestStep - 1e-9 );
	double from[lmbMuscleCount], to[lmbMuscleCount];
	for ( int k = 0; k < pieces; ++k )
	{
		for ( int i = 0; i < plant->inputCount && end != NULL; ++i )
		{
			from[i] = u[i] + ( end[i] - u[i] ) * k / pieces;
			to[i] = u[i] + ( end[i] - u[i] ) * ( k + 1 ) / pieces;
		}
		if ( !Step( plant, x, end != NULL ? from : u, end != NULL ? to : NULL, duration / pieces ) )
			return false;
	}
	return true;
}

/* Positions (count x 2) of a window under an arm; false when they do not stay finite. */
static bool Play( const Refinement *refinement, const lmbArm *arm, const Window *window, const double *start,
                  double *positions )
{
	const lmbTrajectories *set = refinement->set;
	const lmbTrajectory *item = &set->items[window->trajectory];
	lmbPlant *plant;
	double x[states];
	if ( lmbArm_Wrap( arm, "trial", &plant, NULL ) != lmb_statusOk )
		return false;
	bool fine = true;
	memcpy( x, start, sizeof( x ) );
	for ( int k = 0; k < window->count && fine; ++k )
	{
		memcpy( positions + 2 * (ptrdiff_t)k, x, 2 * sizeof( double ) );
		const double *u = item->inputs + (size_t)( window->begin + k ) * (size_t)set->inputCount;
		const double *end = set->hold == lmb_inputLinear ? u + set->inputCount : NULL;
		fine = k + 1 == window->count || Advance( plant, x, u, end, item->step );
	}
	lmbPlant_Free( plant );
	return fine;
}

/* The derivatives of a window's positions by its start, then by the parameters, one row each. */
static bool Differentiate( const Refinement *refinement, const Window *window, const double *base,
                           double *rows, double *moved )
{
	int numbers = 2 * window->count;
	for ( int j = 0; j < states + refinement->count; ++j )
	{
		lmbArm arm = refinement->arm;
		double start[states], step = nudge;
		memcpy( start, window->start, sizeof( start ) );
		if ( j < states )
			start[j] += nudge;
		else
		{
			step *= refinement->scales[j - states];
			*lmbKnownTerms_Parameter( &arm, refinement->which[j - states] ) += step;
		}
		if ( !Play( refinement, &arm, window, start, moved ) )
			return false;
		for ( int i = 0; i < numbers; ++i )
			rows[j * numbers + i] = ( moved[i] - base[i] ) / step;
	}
	return true;
}

static double Inner( const double *a, const double *b, int count )
{
	double sum = 0.0;
	for ( int i = 0; i < count; ++i )
		sum += a[i] * b[i];
	return sum;
}

/* Normal equations of a window, without its start. */
static bool Eliminate( Window *window, int p, const double *rows, const double *off )
{
	int numbers = 2 * window->count, columns = 1 + p;
	double square[states * states], right[states * ( 1 + lmbKnownTermsMax )];
	double mixed[states * lmbKnownTermsMax];
	for ( int i = 0; i < states; ++i )
	{
		const double *row = rows + (ptrdiff_t)i * numbers;
		for ( int j = 0; j < states; ++j )
			square[i * states + j] = Inner( row, rows + (ptrdiff_t)j * numbers, numbers );
		right[i * columns] = Inner( row, off, numbers );
		for ( int j = 0; j < p; ++j )
			mixed[i * p + j] = right[i * columns + 1 + j] =
			    Inner( row, rows + (ptrdiff_t)( states + j ) * numbers, numbers );
	}
	if ( LAPACKE_dposv( LAPACK_ROW_MAJOR, 'U', states, columns, square, states, right, columns ) != 0 )
		return false;
	for ( int i = 0; i < states; ++i )
	{
		window->shift[i] = right[i * columns];
		memcpy( window->follow + (ptrdiff_t)i * p, right + (ptrdiff_t)i * columns + 1,
		        (size_t)p * sizeof( double ) );
	}
	for ( int i = 0; i < p; ++i )
	{
		const double *row = rows + (ptrdiff_t)( states + i ) * numbers;
		window->slope[i] = Inner( row, off, numbers );
		for ( int k = 0; k < states; ++k )
			window->slope[i] -= mixed[k * p + i] * window->shift[k];
		for ( int j = 0; j < p; ++j )
		{
			double sum = Inner( row, rows + (ptrdiff_t)( states + j ) * numbers, numbers );
			for ( int k = 0; k < states; ++k )
				sum -= mixed[k * p + i] * window->follow[k * p + j];
			window->normal[i * p + j] = sum;
		}
	}
	return true;
}

static lmbStatus VisitWindow( void *context, int index, int worker, lmbError *error )
{
	(void)worker;
	const Refinement *refinement = context;
	Window *window = &refinement->windows[(ptrdiff_t)index * refinement->stride];
	lmbArena arena = { 0 };
	int numbers = 2 * window->count;
	double *base = LMB_NEW( &arena, double, numbers ), *off = LMB_NEW( &arena, double, numbers );
	double *moved = LMB_NEW( &arena, double, numbers ),
	       *rows = LMB_NEW( &arena, double, localsMost *numbers );
	lmbStatus status = lmb_statusOk;
	window->cost = HUGE_VAL;
	if ( base == NULL || off == NULL || moved == NULL || rows == NULL )
		status = lmbError_Memory( error );
	else if ( Play( refinement, &refinement->arm, window, window->start, base ) )
	{
		const double *measured =
		    refinement->set->items[window->trajectory].positions + 2 * (ptrdiff_t)window->begin;
		for ( int i = 0; i < numbers; ++i )
			off[i] = base[i] - measured[i];
		window->cost = Inner( off, off, numbers );
		if ( refinement->derivatives && ( !Differentiate( refinement, window, base, rows, moved ) ||
		                                  !Eliminate( window, refinement->count, rows, off ) ) )
			window->cost = HUGE_VAL;
	}
	lmbArena_Free( &arena );
	return status;
}

static lmbStatus Visit( Refinement *refinement, bool derivatives, double *cost, lmbError *error )
{
	refinement->derivatives = derivatives;
	int visited = ( refinement->windowCount + refinement->stride - 1 ) / refinement->stride;
	LMB_TRY( lmbJob_ForEach( refinement->job, visited, VisitWindow, refinement, error ) );
	*cost = 0.0;
	for ( int w = 0; w < refinement->windowCount; w += refinement->stride )
		*cost += refinement->windows[w].cost;
	return lmb_statusOk;
}

/* The step of the parameters with so much damping; false: the equations are singular. */
static bool StepOf( const Refinement *refinement, double damping, double *step )
{
	int p = refinement->count;
	double normal[lmbKnownTermsMax * lmbKnownTermsMax] = { 0 };
	memset( step, 0, (size_t)p * sizeof( double ) );
	for ( int w = 0; w < refinement->windowCount; w += refinement->stride )
	{
		for ( int i = 0; i < p * p; ++i )
			normal[i] += refinement->windows[w].normal[i];
		for ( int i = 0; i < p; ++i )
			step[i] -= refinement->windows[w].slope[i];
	}
	for ( int i = 0; i < p; ++i )
		normal[i * p + i] *= 1.0 + damping;
	return LAPACKE_dposv( LAPACK_ROW_MAJOR, 'U', p, 1, normal, p, step, 1 ) == 0;
}

/* Goes the step, or back. */
static void Take( Refinement *refinement, const double *step, double sign )
{
	int p = refinement->count;
	for ( int i = 0; i < p; ++i )
		*lmbKnownTerms_Parameter( &refinement->arm, refinement->which[i] ) += sign * step[i];
	for ( int w = 0; w < refinement->windowCount; w += refinement->stride )
	{
		Window *window = &refinement->windows[w];
		for ( int i = 0; i < states; ++i )
			window->start[i] -=
			    sign * ( window->shift[i] + Inner( window->follow + (ptrdiff_t)i * p, step, p ) );
	}
}

static lmbStatus Descend( Refinement *refinement, double *cost, lmbError *error )
{
	double damping = 1e-3, step[lmbKnownTermsMax];
	LMB_TRY( Visit( refinement, true, cost, error ) );
	for ( int round = 0; round < rounds; ++round )
	{
		double tried;
		bool known = isfinite( *cost ) && StepOf( refinement, damping, step );
		if ( !known )
			break;
		Take( refinement, step, 1.0 );
		LMB_TRY( Visit( refinement, false, &tried, error ) );
		lmbJob_Progress( refinement->job, "rounds", round + 1, rounds, "" );
		if ( tried < *cost )
		{
			/* Or rounding is all that is left of exact positions. */
			bool done = tried > *cost * ( 1.0 - 1e-6 ) || tried < 1e-16 * refinement->windowCount;
			damping = fmax( damping * 0.1, 1e-12 );
			LMB_TRY( Visit( refinement, true, cost, error ) );
			if ( done )
				break;
			continue;
		}
		Take( refinement, step, -1.0 );
		damping *= 10.0;
		if ( damping > 1e6 )
			break;
	}
	return lmb_statusOk;
}

static lmbStatus MakeWindows( Refinement *refinement, const lmbTrajectory *smooth, lmbArena *arena,
                              lmbError *error )
{
	const lmbTrajectories *set = refinement->set;
	int most = 0;
	for ( int t = 0; t < set->count; ++t )
		most += 1 + (int)( set->items[t].sampleCount * set->items[t].step / windowTime );
	refinement->windows = LMB_NEW( arena, Window, most );
	if ( refinement->windows == NULL )
		return lmbError_Memory( error );
	for ( int t = 0; t < set->count; ++t )
	{
		int samples = set->items[t].sampleCount;
		int length = (int)fmax( 8.0, fmin( 10000.0, windowTime / set->items[t].step ) );
		/* The last sample of a window is the next one's first; too short a rest is left out. */
		for ( int begin = 0; begin + 7 < samples && refinement->windowCount < most; begin += length )
		{
			Window *window = &refinement->windows[refinement->windowCount++];
			int left = samples - begin;
			*window =
			    ( Window ){ .trajectory = t, .begin = begin, .count = left < length + 1 ? left : length + 1 };
			memcpy( window->start, smooth[t].positions + 2 * (ptrdiff_t)begin, 2 * sizeof( double ) );
			memcpy( window->start + 2, smooth[t].velocities + 2 * (ptrdiff_t)begin, 2 * sizeof( double ) );
		}
	}
	return lmb_statusOk;
}

lmbStatus lmbKnownTerms_Refine( lmbArm *arm, const int *which, int count, const lmbTrajectories *set,
                                const lmbTrajectory *smooth, const lmbJob *job, double *residual,
                                lmbError *error )
{
	Refinement refinement = { .set = set, .job = job, .arm = *arm, .which = which, .count = count };
	lmbArena arena = { 0 };
	double cost = 0.0, numbers = 0.0;
	for ( int i = 0; i < count; ++i )
		refinement.scales[i] = 1e-3 + fabs( *lmbKnownTerms_Parameter( arm, which[i] ) );
	lmbStatus status = MakeWindows( &refinement, smooth, &arena, error );
	if ( status == lmb_statusOk )
	{
		refinement.stride = 1 + ( refinement.windowCount - 1 ) / few;
		status = Descend( &refinement, &cost, error );
	}
	if ( status == lmb_statusOk && refinement.stride > 1 )
	{
		refinement.stride = 1;
		status = Descend( &refinement, &cost, error );
	}
	for ( int w = 0; w < refinement.windowCount; ++w )
		numbers += 2.0 * refinement.windows[w].count;
	if ( status == lmb_statusOk && isfinite( cost ) && numbers > 0.0 )
	{
		*arm = refinement.arm;
		*residual = sqrt( cost / numbers );
	}
	lmbArena_Free( &arena );
	return status;
}
