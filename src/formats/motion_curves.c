#include "formats/motion_curves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Interior rows are m[i-1] + 4 m[i] + m[i+1] = 6 (second difference) / step^2 (de Boor 1978, ch. IV).
 * Not-a-knot on equal spacing says m[0] = 2 m[1] - m[2], which turns the first row into 6 m[1] = rhs, and
 * the last likewise: two unknowns known at once, the rest a tridiagonal system. */
static void SolveColumn( const double *values, int count, int width, double step, double *m, double *work )
{
	size_t w = (size_t)width;
	for ( int i = 1; i < count - 1; ++i )
		m[(size_t)i * w] =
		    6.0 *
		    ( values[(size_t)( i - 1 ) * w] - 2.0 * values[(size_t)i * w] + values[(size_t)( i + 1 ) * w] ) /
		    ( step * step );
	int first = 1, last = count - 2;
	m[(size_t)first * w] /= 6.0;
	if ( last > first )
		m[(size_t)last * w] /= 6.0;
	/* Rows first+1 .. last-1 by the Thomas algorithm; diagonally dominant, so no pivoting. */
	double previousRatio = 0.0, previousValue = m[(size_t)first * w];
	for ( int i = first + 1; i < last; ++i )
	{
		double pivot = 4.0 - previousRatio;
		previousRatio = work[i] = 1.0 / pivot;
		previousValue = m[(size_t)i * w] = ( m[(size_t)i * w] - previousValue ) / pivot;
	}
	for ( int i = last - 1; i > first; --i )
		m[(size_t)i * w] -= work[i] * m[(size_t)( i + 1 ) * w];
	bool parabola = count == 3;
	m[0] = parabola ? m[w] : 2.0 * m[w] - m[2 * w];
	m[(size_t)( count - 1 ) * w] = parabola ? m[w] : 2.0 * m[(size_t)last * w] - m[(size_t)( last - 1 ) * w];
}

lmbStatus lmbSpline_Curvatures( const double *values, int count, int width, double step, double *curvatures,
                                lmbError *error )
{
	memset( curvatures, 0, (size_t)count * (size_t)width * sizeof( double ) );
	if ( count < 3 )
		return lmb_statusOk;
	double *work = malloc( (size_t)count * sizeof( double ) );
	if ( work == NULL )
		return lmbError_Memory( error );
	for ( int c = 0; c < width; ++c )
		SolveColumn( values + c, count, width, step, curvatures + c, work );
	free( work );
	return lmb_statusOk;
}

typedef struct Biquad
{
	double b0, b1, b2, a1, a2;
} Biquad;

static Biquad MakeBiquad( double k, double damping )
{
	double norm = 1.0 / ( 1.0 + damping * k + k * k );
	Biquad biquad = { .b0 = k * k * norm, .a1 = 2.0 * ( k * k - 1.0 ) * norm };
	biquad.b1 = 2.0 * biquad.b0;
	biquad.b2 = biquad.b0;
	biquad.a2 = ( 1.0 - damping * k + k * k ) * norm;
	return biquad;
}

/* One pass in place, stride +1 or -1, the state as if the first value had stood for ever. */
static void RunBiquad( const Biquad *biquad, double *x, int count, int stride )
{
	double s1 = x[0] * ( 1.0 - biquad->b0 ), s2 = x[0] * ( biquad->b2 - biquad->a2 );
	for ( int i = 0; i < count; ++i, x += stride )
	{
		double in = *x, out = biquad->b0 * in + s1;
		s1 = biquad->b1 * in - biquad->a1 * out + s2;
		s2 = biquad->b2 * in - biquad->a2 * out;
		*x = out;
	}
}

lmbStatus lmbLowPass_Run( double *values, int count, int width, double rate, double cutoff, lmbError *error )
{
	static const double pi = 3.14159265358979323846;
	if ( count < 2 )
		return lmb_statusOk;
	double k = tan( pi * cutoff / rate );
	const Biquad stages[2] = { MakeBiquad( k, 2.0 * cos( pi / 8.0 ) ),
	                           MakeBiquad( k, 2.0 * cos( 3.0 * pi / 8.0 ) ) };
	/* Ends are continued by turning the data about their last points, which keeps value and slope. After
	 * eight periods of the cutoff the slower pole pair has forgotten the far end of that:
	 * exp(-2 pi 8 sin(pi/8)) is 4e-9. */
	double wanted = ceil( 8.0 * rate / cutoff );
	int pad = wanted < count - 1 ? (int)wanted : count - 1, total = count + 2 * pad;
	double *x = calloc( (size_t)total, sizeof( double ) );
	if ( x == NULL )
		return lmbError_Memory( error );
	for ( int c = 0; c < width; ++c )
	{
		double *column = values + c;
		size_t w = (size_t)width;
		for ( int i = 0; i < count; ++i )
			x[pad + i] = column[(size_t)i * w];
		for ( int i = 1; i <= pad; ++i )
		{
			x[pad - i] = 2.0 * x[pad] - x[pad + i];
			x[pad + count - 1 + i] = 2.0 * x[pad + count - 1] - x[pad + count - 1 - i];
		}
		for ( int s = 0; s < 2; ++s )
			RunBiquad( &stages[s], x, total, 1 );
		for ( int s = 0; s < 2; ++s )
			RunBiquad( &stages[s], x + total - 1, total, -1 );
		for ( int i = 0; i < count; ++i )
			column[(size_t)i * w] = x[pad + i];
	}
	free( x );
	return lmb_statusOk;
}
