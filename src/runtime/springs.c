#include "springs.h"

#include "functions.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Everything is computed for a step of unit time, with p = c t and q = k t^2: G is the displacement that a
 * unit velocity gives, H = G * G its convolution with itself (minus the derivative of G by q), and the
 * map and its derivatives are G, H, their derivatives and their integrals. Derivation and the choice of
 * regimes: docs/derivations/spring.md. */
typedef struct Response
{
	double fromUnit;        /* displacement after starting at 1, at rest */
	double g, gDot, g1, g2; /* G, G', its integral, its twofold integral */
	double h, hDot, h1, h2; /* the same of H; only with derivatives */
} Response;

enum
{
	seriesTerms = 32
};

#define RECIPROCALS( n ) 1.0 / ( ( n ) + 1 ), 1.0 / ( ( n ) + 2 ), 1.0 / ( ( n ) + 3 ), 1.0 / ( ( n ) + 4 )
static const double reciprocals[seriesTerms + 2] = { /* 1 / (n + 1) */
                                                     RECIPROCALS( 0.0 ),  RECIPROCALS( 4.0 ),
                                                     RECIPROCALS( 8.0 ),  RECIPROCALS( 12.0 ),
                                                     RECIPROCALS( 16.0 ), RECIPROCALS( 20.0 ),
                                                     RECIPROCALS( 24.0 ), RECIPROCALS( 28.0 ),
                                                     1.0 / 33.0,          1.0 / 34.0 };
#undef RECIPROCALS

/* Power series of the differential equations G'' + p G' + q G = 0 and H'' + p H' + q H = G. For p, q <= 2
 * terms fall faster than 2.8^n / n! and cancel by less than a digit. A term is made of the two before it
 * and shrinks them, so two that are too small to be seen end the series; the sums are at least 1e-3. */
static inline void SeriesResponse( double p, double q, bool derivatives, Response *r )
{
	const double unseen = 1e-21;
	double g0 = 0.0, g1 = 1.0, h0 = 0.0, h1 = 0.0; /* coefficients n and n + 1 */
	memset( r, 0, sizeof( *r ) );
	for ( int n = 0; n < seriesTerms; ++n )
	{
		double once = reciprocals[n], twice = once * reciprocals[n + 1];
		r->g += g0;
		r->gDot += ( n + 1.0 ) * g1;
		r->g1 += g0 * once;
		r->g2 += g0 * twice;
		double g2 = -( p * ( n + 1.0 ) * g1 + q * g0 ) * twice;
		if ( derivatives )
		{
			r->h += h0;
			r->hDot += ( n + 1.0 ) * h1;
			r->h1 += h0 * once;
			r->h2 += h0 * twice;
			double h2 = ( g0 - p * ( n + 1.0 ) * h1 - q * h0 ) * twice;
			h0 = h1;
			h1 = h2;
		}
		g0 = g1;
		g1 = g2;
		if ( fabs( g0 ) < unseen && fabs( g1 ) < unseen && fabs( h0 ) < unseen && fabs( h1 ) < unseen )
			break;
	}
	r->fromUnit = 1.0 - q * r->g1;
}

/* Around critical damping: C = cosh sqrt z, S = sinh sqrt z / sqrt z and T = dS/dz as entire functions of
 * z = D t^2, |z| <= 1. */
static void NearCritical( double half, double z, Response *r )
{
	double c = 0.0, s = 0.0, t = 0.0, power = 1.0; /* power = z^n / (2 n)! */
	for ( int n = 0; n < 11; ++n )
	{
		c += power;
		s += power / ( 2.0 * n + 1.0 );
		t += power / ( 2.0 * ( 2.0 * n + 1.0 ) * ( 2.0 * n + 3.0 ) );
		power *= z / ( ( 2.0 * n + 1.0 ) * ( 2.0 * n + 2.0 ) );
	}
	double e = lmbExp( -half );
	r->fromUnit = e * ( c + half * s );
	r->g = e * s;
	r->gDot = e * ( c - half * s );
	r->h = e * t;
	r->hDot = e * ( 0.5 * s - half * t );
}

/* The phase is the product that loses digits: 1e7 radians in double are known to 1e-9 only. */
static void Oscillating( double half, lmbTwofold phase, Response *r )
{
	double sine, cosine;
	lmbSinCos( phase, &sine, &cosine );
	double e = lmbExp( -half ), theta = phase.high;
	double s = sine / theta;
	double t = ( s - cosine ) / ( 2.0 * theta * theta );
	r->fromUnit = e * ( cosine + half * s );
	r->g = e * s;
	r->gDot = e * ( cosine - half * s );
	r->h = e * t;
	r->hDot = e * ( 0.5 * s - half * t );
}

/* Two decays, of rates slow = q / (half + root) and fast = half + root. */
static void Overdamped( double slow, double fast, double root, Response *r )
{
	double e1 = lmbExp( -slow ), e2 = lmbExp( -fast );
	double split = 2.0 * root;
	r->fromUnit = ( fast * e1 - slow * e2 ) / split;
	r->g = ( e1 - e2 ) / split;
	r->gDot = ( fast * e2 - slow * e1 ) / split;
	r->h = ( e1 + e2 - 2.0 * r->g ) / ( split * split );
	r->hDot = ( ( 1.0 - slow ) * e1 + ( 1.0 - fast ) * e2 - 2.0 * r->gDot ) / ( split * split );
}

/* (e^x - 1) / x and ((e^x - 1) / x - 1) / x at x = -r <= 0, and their derivatives by x. */
static void PhiFunctions( double r, double phi[2], double derivative[2] )
{
	memset( phi, 0, 2 * sizeof( *phi ) );
	memset( derivative, 0, 2 * sizeof( *derivative ) );
	if ( r >= 1.0 )
	{
		double e = lmbExp( -r );
		phi[0] = ( 1.0 - e ) / r;
		phi[1] = ( 1.0 - phi[0] ) / r;
		derivative[0] = ( phi[0] - e ) / r;
		derivative[1] = ( phi[1] - derivative[0] ) / r;
		return;
	}
	double power = 1.0; /* (-r)^m / m! */
	for ( int m = 0; m < 18; ++m )
	{
		phi[0] += power / ( m + 1.0 );
		phi[1] += power / ( ( m + 1.0 ) * ( m + 2.0 ) );
		derivative[0] += power / ( m + 2.0 );
		derivative[1] += power / ( ( m + 2.0 ) * ( m + 3.0 ) );
		power *= -r / ( m + 1.0 );
	}
}

/* Integrals as divided differences of exp at -fast, -slow, 0, 0, built towards the zeros: nothing
 * cancels while fast >= 1, even when slow is 0. */
static void DecayIntegrals( double slow, double fast, double root, Response *r )
{
	double phi[2], derivative[2];
	PhiFunctions( slow, phi, derivative );
	r->g1 = ( phi[0] - r->g ) / fast;
	r->g2 = ( phi[1] - r->g1 ) / fast;
	double once = ( derivative[0] - ( 0.5 * r->g + root * r->h ) ) / fast; /* exp[-fast, -slow, -slow, 0] */
	double twice = ( derivative[1] - once ) / fast; /* exp[-fast, -slow, -slow, 0, 0] */
	r->h1 = ( once - r->h ) / fast;
	r->h2 = ( twice - r->h1 ) / fast;
}

/* Integrals from the differential equations, for q not small. */
static void StiffIntegrals( double p, double q, Response *r )
{
	r->g1 = ( 1.0 - r->fromUnit ) / q;
	r->g2 = ( 1.0 - r->g - p * r->g1 ) / q;
	r->h1 = ( r->g1 - r->hDot - p * r->h ) / q;
	r->h2 = ( r->g2 - r->h - p * r->h1 ) / q;
}

/* c^2 / 4 - k to about 2^-100 of the larger: both sides of critical damping need all of it. */
static lmbTwofold Discriminant( double stiffness, double damping )
{
	lmbTwofold square = lmbTwofold_Product( 0.5 * damping, 0.5 * damping );
	lmbTwofold rest = lmbTwofold_Sum( square.high, -stiffness );
	return lmbTwofold_Sum( rest.high, rest.low + square.low );
}

static inline void UnitResponse( double stiffness, double damping, double time, bool derivatives,
                                 Response *r )
{
	double p = damping * time, q = stiffness * time * time, half = 0.5 * p;
	if ( p <= 2.0 && q <= 2.0 )
	{
		SeriesResponse( p, q, derivatives, r );
		return;
	}
	lmbTwofold d = Discriminant( stiffness, damping );
	double z = d.high * time * time;
	double root = z > 0.0 ? sqrt( d.high ) * time : 0.0;
	double fast = half + root, slow = q / fast;
	if ( fabs( z ) <= 1.0 )
		NearCritical( half, z, r );
	else if ( z > 0.0 )
		Overdamped( slow, fast, root, r );
	else
	{
		lmbTwofold opposite = { -d.high, -d.low };
		Oscillating( half, lmbTwofold_Scale( lmbTwofold_Sqrt( opposite ), time ), r );
	}
	if ( z >= 0.0 )
		DecayIntegrals( slow, fast, root, r );
	else
		StiffIntegrals( p, q, r );
}

static void FillGamma( double *gamma, double time, double g, double g1, double g2 )
{
	gamma[0] = time * time * ( g1 - g2 );
	gamma[1] = time * time * g2;
	gamma[2] = time * ( g - g1 );
	gamma[3] = time * g1;
}

static void MakeMap( double stiffness, double time, const Response *r, lmbSpringMap *map )
{
	map->phi[0] = r->fromUnit;
	map->phi[1] = time * r->g;
	map->phi[2] = -stiffness * time * r->g;
	map->phi[3] = r->gDot;
	FillGamma( map->gamma, time, r->g, r->g1, r->g2 );
}

static void Clamp( double *stiffness, double *damping, double *time )
{
	*stiffness = *stiffness < 1e16 ? *stiffness : 1e16;
	*damping = *damping < 1e10 ? *damping : 1e10;
	*time = *time < 1e6 ? *time : 1e6;
}

void lmbSpringMap_Make( double stiffness, double damping, double time, lmbSpringMap *map )
{
	Response r;
	Clamp( &stiffness, &damping, &time );
	UnitResponse( stiffness, damping, time, false, &r );
	MakeMap( stiffness, time, &r, map );
}

void lmbSpringMap_MakeWithGradient( double stiffness, double damping, double time, lmbSpringMap *map,
                                    lmbSpringMapGradient *gradient )
{
	Response r;
	Clamp( &stiffness, &damping, &time );
	UnitResponse( stiffness, damping, time, true, &r );
	MakeMap( stiffness, time, &r, map );

	double p = damping * time, q = stiffness * time * time;
	lmbSpringMap *k = &gradient->byLogStiffness, *c = &gradient->byLogDamping;
	/* q d/dq: G -> -q H, and its derivatives and integrals alike. */
	k->phi[0] = -q * ( r.hDot + p * r.h );
	k->phi[1] = -q * time * r.h;
	k->phi[2] = -stiffness * time * ( r.g - q * r.h );
	k->phi[3] = -q * r.hDot;
	FillGamma( k->gamma, time, -q * r.h, -q * r.h1, -q * r.h2 );
	/* p d/dp: G -> -p H'. */
	c->phi[0] = p * q * r.h;
	c->phi[1] = -p * time * r.hDot;
	c->phi[2] = stiffness * time * p * r.hDot;
	c->phi[3] = -p * ( r.g - p * r.hDot - q * r.h );
	FillGamma( c->gamma, time, -p * r.hDot, -p * r.h, -p * r.h1 );
}

/* A map of (u, u') as one of (U, V). */
static void ScaleMap( double scale, lmbSpringMap *map )
{
	map->phi[1] *= scale * scale;
	map->phi[2] /= scale * scale;
	map->gamma[0] *= scale;
	map->gamma[1] *= scale;
	map->gamma[2] /= scale;
	map->gamma[3] /= scale;
}

double lmbSpringMap_MakeScaled( double stiffness, double damping, double logRatio, double time,
                                lmbSpringMap *map )
{
	double scale = lmbExp( 0.25 * logRatio ), ratio = scale * scale * scale * scale;
	lmbSpringMap_Make( ratio * stiffness, ratio * damping, time, map );
	ScaleMap( scale, map );
	return scale;
}

double lmbSpringMap_MakeScaledWithGradient( double stiffness, double damping, double logRatio, double time,
                                            lmbSpringMap *map, lmbSpringMapGradient *gradient )
{
	double scale = lmbExp( 0.25 * logRatio ), ratio = scale * scale * scale * scale;
	lmbSpringMap_MakeWithGradient( ratio * stiffness, ratio * damping, time, map, gradient );
	ScaleMap( scale, map );
	ScaleMap( scale, &gradient->byLogStiffness );
	ScaleMap( scale, &gradient->byLogDamping );
	return scale;
}

void lmbSpringMap_Store( const lmbSpringMap *map, float *coefficients, size_t stride, size_t index )
{
	const double values[lmbSpringPlanes] = { map->phi[0] - 1.0, map->phi[1],   map->phi[2],
	                                         map->phi[3] - 1.0, map->gamma[0], map->gamma[1],
	                                         map->gamma[2],     map->gamma[3] };
	for ( int plane = 0; plane < lmbSpringPlanes; ++plane )
		coefficients[plane * stride + index] = (float)values[plane];
}

void lmbSprings_Step( const lmbSpringStep *step )
{
	const float *m = step->coefficients;
	size_t plane = step->coefficientStride;
	for ( int axis = 0; axis < step->dimension; ++axis )
	{
		float *u = step->u + axis * step->stride, *v = step->v + axis * step->stride;
		const float *a0 = step->a0 + axis * step->stride, *a1 = step->a1 + axis * step->stride;
		for ( int i = 0; i < step->count; ++i )
		{
			float x = u[i], y = v[i];
			float pushX = m[4 * plane + i] * a0[i] + m[5 * plane + i] * a1[i];
			float pushY = m[6 * plane + i] * a0[i] + m[7 * plane + i] * a1[i];
			u[i] = x + ( ( m[i] * x + m[plane + i] * y ) - pushX );
			v[i] = y + ( ( m[2 * plane + i] * x + m[3 * plane + i] * y ) - pushY );
		}
	}
}

void lmbSprings_StepJump( const lmbSpringStep *step )
{
	const float *m = step->coefficients;
	size_t plane = step->coefficientStride;
	for ( int axis = 0; axis < step->dimension; ++axis )
	{
		float *u = step->u + axis * step->stride, *v = step->v + axis * step->stride;
		const float *jump = step->a0 + axis * step->stride;
		for ( int i = 0; i < step->count; ++i )
		{
			float x = u[i], y = v[i] - jump[i];
			u[i] = x + ( m[i] * x + m[plane + i] * y );
			v[i] = y + ( m[2 * plane + i] * x + m[3 * plane + i] * y );
		}
	}
}
