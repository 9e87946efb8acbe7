#include "runtime/springs.h"

#include "base/random.h"
#include "check.h"

/* The truth: the matrix exponential of the spring and its forcing in __float128 (113 bits), by scaling and
 * squaring.
 *
 * Measure of error. Over a step of one unit of time, with w = sqrt(k) t and p = c t:
 * - the propagator in coordinates (w u, u'), in which its entries say how energy is passed on: the largest
 *   error of an entry, relative to the largest entry (so that decayed motion counts in full);
 * - what a unit acceleration does to u' and to u: relative to the most that it can do,
 *   v = min(1, 1 / (w + p)) and min(v, 1 / w^2);
 * - a derivative: on the larger of the same scale and its own largest entry. */
typedef __float128 Quad;

typedef struct QuadMap
{
	Quad phi[4], gamma[4]; /* in unit time, not scaled */
} QuadMap;

enum
{
	size = 4
};

static Quad QuadAbs( Quad x )
{
	return x < 0.0 ? -x : x;
}

static Quad QuadSqrt( Quad x )
{
	Quad root = sqrt( (double)x );
	for ( int i = 0; i < 2; ++i )
		root = 0.5 * ( root + x / root );
	return root;
}

static void QuadMultiply( Quad *out, const Quad *a, const Quad *b )
{
	Quad product[size * size];
	for ( int i = 0; i < size; ++i )
		for ( int j = 0; j < size; ++j )
		{
			Quad sum = 0.0;
			for ( int k = i < 2 ? 0 : i; k < size; ++k ) /* block upper triangular */
				if ( b[size * k + j] != 0.0 )
					sum += a[size * i + k] * b[size * k + j];
			product[size * i + j] = sum;
		}
	memcpy( out, product, sizeof( product ) );
}

static void QuadExponential( Quad *out, Quad *m, double norm )
{
	int squarings = 0;
	Quad scale = 1.0;
	for ( ; norm > 0.05; norm *= 0.5, ++squarings )
		scale *= 0.5;
	for ( int i = 0; i < size * size; ++i )
		m[i] *= scale;
	/* Horner's rule; 0.05^19 / 19! is below 1e-41. */
	memset( out, 0, size * size * sizeof( Quad ) );
	for ( int i = 0; i < size; ++i )
		out[( size + 1 ) * i] = 1.0;
	for ( int n = 18; n > 0; --n )
	{
		QuadMultiply( out, m, out );
		for ( int i = 0; i < size * size; ++i )
			out[i] /= n;
		for ( int i = 0; i < size; ++i )
			out[( size + 1 ) * i] += 1.0;
	}
	for ( int i = 0; i < squarings; ++i )
		QuadMultiply( out, out, out );
}

/* State (w u, u', a, a'), unit time. */
static QuadMap QuadSpring( Quad p, Quad q )
{
	Quad w = QuadSqrt( q );
	Quad m[size * size] = { 0, w, 0, 0, -w, -p, -1, 0, 0, 0, 0, 1, 0, 0, 0, 0 };
	Quad e[size * size];
	QuadExponential( e, m, (double)( w + p ) + 1.0 );
	QuadMap map = { { e[0], e[1] / w, e[4] * w, e[5] }, { 0 } };
	/* e's third and fourth columns answer a constant acceleration and a ramp; a0 (1 - s) + a1 s. */
	map.gamma[0] = -( e[2] - e[3] ) / w;
	map.gamma[1] = -e[3] / w;
	map.gamma[2] = -( e[6] - e[7] );
	map.gamma[3] = -e[7];
	return map;
}

/* Entries brought to the scales described above; largest of phi in *largest. */
static void ScaleMap( QuadMap *map, double w, double p )
{
	double velocity = fmin( 1.0, 1.0 / ( w + p ) );
	double place = fmin( velocity, 1.0 / ( w * w ) );
	map->phi[1] *= w;
	map->phi[2] /= w;
	map->gamma[0] /= place;
	map->gamma[1] /= place;
	map->gamma[2] /= velocity;
	map->gamma[3] /= velocity;
}

static double Largest( const Quad *v )
{
	Quad largest = 0.0;
	for ( int i = 0; i < 4; ++i )
		largest = QuadAbs( v[i] ) > largest ? QuadAbs( v[i] ) : largest;
	return (double)largest;
}

static QuadMap FromDouble( const lmbSpringMap *map, double t )
{
	QuadMap out;
	const Quad phi[4] = { 1.0, 1.0 / (Quad)t, (Quad)t, 1.0 };
	const Quad gamma[4] = { 1.0 / ( (Quad)t * t ), 1.0 / ( (Quad)t * t ), 1.0 / (Quad)t, 1.0 / (Quad)t };
	for ( int i = 0; i < 4; ++i )
	{
		out.phi[i] = phi[i] * (Quad)map->phi[i];
		out.gamma[i] = gamma[i] * (Quad)map->gamma[i];
	}
	return out;
}

typedef struct Worst
{
	double phi, gamma, phiGradient, gammaGradient;
} Worst;

static double Difference( const Quad *a, const Quad *b, double scale )
{
	Quad d[4];
	for ( int i = 0; i < 4; ++i )
		d[i] = a[i] - b[i];
	/* 1e-290: results this small are subnormal on their way. */
	return Largest( d ) / ( scale + 1e-290 );
}

static void Note( double *worst, double error, const char *what, double k, double c, double t )
{
	if ( !( error <= *worst ) )
		*worst = error;
	if ( !( error <= 1e-12 ) )
	{
		char text[200];
		snprintf( text, sizeof( text ), "%s off by %.3g at k %.17g c %.17g t %.17g", what, error, k, c, t );
		CheckReport( __FILE__, __LINE__, text );
	}
}

/* Central differences of fourth order by log k (power 1, 0) or log c (0, 1): with h (1 + phase) = 1e-5 the
 * truncation is about 1e-20 and the truth's own rounding, amplified by phase / h, 1e-13 at worst. */
static QuadMap Differences( Quad p, Quad q, Quad h, int powerP, int powerQ )
{
	const Quad weights[4] = { 1.0, -8.0, 8.0, -1.0 };
	const int places[4] = { -2, -1, 1, 2 };
	QuadMap sum = { { 0 }, { 0 } };
	for ( int n = 0; n < 4; ++n )
	{
		Quad x = places[n] * h, factor = 1.0;
		for ( int i = 9; i > 0; --i ) /* e^x */
			factor = 1.0 + factor * x / i;
		QuadMap map = QuadSpring( powerP ? p * factor : p, powerQ ? q * factor : q );
		for ( int i = 0; i < 4; ++i )
		{
			sum.phi[i] += weights[n] * map.phi[i] / ( 12.0 * h );
			sum.gamma[i] += weights[n] * map.gamma[i] / ( 12.0 * h );
		}
	}
	return sum;
}

static void CompareGradient( Worst *worst, const lmbSpringMap *actual, const QuadMap *truth, QuadMap expected,
                             double k, double c, double t )
{
	double w = sqrt( k ) * t, p = c * t;
	QuadMap given = FromDouble( actual, t );
	ScaleMap( &expected, w, p );
	ScaleMap( &given, w, p );
	double scale = fmax( Largest( truth->phi ), Largest( expected.phi ) );
	Note( &worst->phiGradient, Difference( given.phi, expected.phi, scale ), "d phi", k, c, t );
	scale = fmax( 1.0, Largest( expected.gamma ) );
	Note( &worst->gammaGradient, Difference( given.gamma, expected.gamma, scale ), "d gamma", k, c, t );
}

static void CompareSpring( Worst *worst, double k, double c, double t )
{
	Quad p = (Quad)c * t, q = (Quad)k * t * t;
	double w = sqrt( k ) * t;
	lmbSpringMap map;
	lmbSpringMap_Make( k, c, t, &map );
	QuadMap truth = QuadSpring( p, q ), given = FromDouble( &map, t );
	ScaleMap( &truth, w, c * t );
	ScaleMap( &given, w, c * t );
	Note( &worst->phi, Difference( given.phi, truth.phi, Largest( truth.phi ) ), "phi", k, c, t );
	Note( &worst->gamma, Difference( given.gamma, truth.gamma, 1.0 ), "gamma", k, c, t );
	lmbSpringMap same;
	lmbSpringMapGradient gradient;
	lmbSpringMap_MakeWithGradient( k, c, t, &same, &gradient );
	CHECK( memcmp( &same, &map, sizeof( map ) ) == 0 );
	Quad h = 1e-5 / ( 1.0 + w + c * t );
	CompareGradient( worst, &gradient.byLogStiffness, &truth, Differences( p, q, h, 0, 1 ), k, c, t );
	if ( c > 0.0 )
		CompareGradient( worst, &gradient.byLogDamping, &truth, Differences( p, q, h, 1, 0 ), k, c, t );
}

static double LogUniform( lmbRandom *random, double low, double high )
{
	return low * pow( high / low, lmbRandom_Uniform( random ) );
}

static void Print( const char *name, const Worst *worst )
{
	printf( "%s: phi %.2g, gamma %.2g, d phi %.2g, d gamma %.2g\n", name, worst->phi, worst->gamma,
	        worst->phiGradient, worst->gammaGradient );
}

static void WholeRange( void **state )
{
	(void)state;
	checkSeed = 11;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	Worst worst = { 0 };
	for ( int i = 0; i < 3000; ++i )
	{
		double k = LogUniform( &random, 1e-2, 1e8 );
		double c = i % 10 == 0 ? 0.0 : LogUniform( &random, 1e-4, 1e5 );
		double t = LogUniform( &random, 1e-6, 1e3 );
		CompareSpring( &worst, k, c, t );
	}
	Print( "whole range", &worst );
}

/* c = 2 sqrt(k) (1 + d), |d| from 1e-17 to 0.1 on both sides, over times at which the spring still moves. */
static void CriticalDamping( void **state )
{
	(void)state;
	checkSeed = 12;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	Worst worst = { 0 };
	for ( int i = 0; i < 3000; ++i )
	{
		double k = LogUniform( &random, 1e-2, 1e8 );
		double off = LogUniform( &random, 1e-17, 1e-1 ) * ( i % 2 == 0 ? 1.0 : -1.0 );
		double t = fmin( 1e3, LogUniform( &random, 1e-3, 1e2 ) / sqrt( k ) );
		if ( i % 5 == 0 )
		{
			double root = floor( LogUniform( &random, 1.0, 1e4 ) ) * 0.25; /* exactly critical */
			k = root * root;
			off = 0.0;
		}
		CompareSpring( &worst, k, 2.0 * sqrt( k ) * ( 1.0 + off ), t );
	}
	Print( "critical", &worst );
}

/* Where one formula hands over to the next: p or q near 2, |D| t^2 near 1, slow decay near 1. */
static void Seams( void **state )
{
	(void)state;
	checkSeed = 13;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	Worst worst = { 0 };
	for ( int i = 0; i < 600; ++i )
	{
		double near = 1.0 + 1e-3 * ( lmbRandom_Uniform( &random ) - 0.5 );
		double t = LogUniform( &random, 1e-3, 10.0 ), p, q;
		double free = LogUniform( &random, 1e-3, 2.0 );
		p = i % 4 == 0 ? 2.0 * near : free;
		q = i % 4 == 1 ? 2.0 * near : free * free;
		if ( i % 4 == 2 ) /* p^2 / 4 - q = +-1 */
		{
			p = LogUniform( &random, 2.1, 1e3 );
			q = 0.25 * p * p + ( i % 8 < 4 ? -near : near );
		}
		if ( i % 4 == 3 ) /* rates 1 and fast */
		{
			double fast = LogUniform( &random, 1.5, 1e4 );
			p = near + fast;
			q = near * fast;
		}
		CompareSpring( &worst, q / ( t * t ), p / t, t );
	}
	Print( "seams", &worst );
}

static void WithoutStiffness( void **state )
{
	(void)state;
	lmbSpringMap map;
	lmbSpringMap_Make( 0.0, 0.0, 0.25, &map );
	CHECK( map.phi[0] == 1.0 && map.phi[1] == 0.25 && map.phi[2] == 0.0 && map.phi[3] == 1.0 );
	CHECK_NEAR( map.gamma[0], 0.0625 / 3.0, 1e-17 ); /* t^2 / 3, t^2 / 6, t / 2, t / 2 */
	CHECK_NEAR( map.gamma[1], 0.0625 / 6.0, 1e-17 );
	CHECK_NEAR( map.gamma[2], 0.125, 1e-16 );
	CHECK_NEAR( map.gamma[3], 0.125, 1e-16 );
	/* k = 0: velocity decays; a constant pull reaches the terminal velocity 1 / c. */
	const double dampings[] = { 1e-3, 1.0, 30.0, 1e5 };
	for ( int i = 0; i < 4; ++i )
	{
		double c = dampings[i], t = 0.5, x = c * t;
		lmbSpringMap_Make( 0.0, c, t, &map );
		CHECK( map.phi[0] == 1.0 && map.phi[2] == 0.0 );
		CHECK_NEAR( map.phi[3], exp( -x ), 1e-15 );
		CHECK_NEAR( map.phi[1] * c, -expm1( -x ), 2e-15 );
		CHECK_NEAR( ( map.gamma[2] + map.gamma[3] ) * c, -expm1( -x ), 2e-15 );
		double place =
		    x < 0.01 ? 0.5 - x / 6.0 + x * x / 24.0 - x * x * x / 120.0 : ( x + expm1( -x ) ) / ( x * x );
		CHECK_NEAR( ( map.gamma[0] + map.gamma[1] ) / ( t * t * place ), 1.0, 1e-13 );
	}
}

static void NoTimeNoStep( void **state )
{
	(void)state;
	const double values[] = { 0.0, 1e-2, 400.0, 1e8, 1e300 };
	for ( int i = 0; i < 25; ++i )
	{
		lmbSpringMap map;
		lmbSpringMap_Make( values[i / 5], values[i % 5], 0.0, &map );
		CHECK( map.phi[0] == 1.0 && map.phi[1] == 0.0 && map.phi[2] == 0.0 && map.phi[3] == 1.0 );
		for ( int j = 0; j < 4; ++j )
			CHECK( map.gamma[j] == 0.0 );
	}
}

/* Far outside the stated range nothing may overflow, and no step may add energy. */
static void BoundedEverywhere( void **state )
{
	(void)state;
	const double values[] = { 0.0, 1e-300, 1e-20, 1e-5, 1.0, 1e5, 1e10, 1e20, 1e300 };
	for ( int i = 0; i < 729; ++i )
	{
		double k = values[i / 81], c = values[i / 9 % 9], t = values[i % 9];
		lmbSpringMap map;
		lmbSpringMapGradient gradient;
		lmbSpringMap_MakeWithGradient( k, c, t, &map, &gradient );
		const lmbSpringMap *maps[3] = { &map, &gradient.byLogStiffness, &gradient.byLogDamping };
		for ( int m = 0; m < 3; ++m )
			for ( int j = 0; j < 4; ++j )
				CHECK( isfinite( maps[m]->phi[j] ) && isfinite( maps[m]->gamma[j] ) );
		double w = sqrt( fmin( k, 1e16 ) );
		CHECK( fabs( map.phi[0] ) <= 1.0 + 1e-12 && fabs( map.phi[3] ) <= 1.0 + 1e-12 );
		CHECK( fabs( map.phi[1] ) * w <= 1.0 + 1e-12 );
		CHECK( w == 0.0 || fabs( map.phi[2] ) / w <= 1.0 + 1e-12 );
	}
}

/* Two half steps are one whole step: what frame-rate independence rests on. */
static void StepsCompose( void **state )
{
	(void)state;
	checkSeed = 14;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	for ( int i = 0; i < 200; ++i )
	{
		double k = LogUniform( &random, 1.0, 1e4 ), c = LogUniform( &random, 0.1, 1e3 ), t = 1.0 / 30.0;
		double u = lmbRandom_Normal( &random ), v = 10.0 * lmbRandom_Normal( &random );
		double a0 = 50.0 * lmbRandom_Normal( &random ), a1 = 50.0 * lmbRandom_Normal( &random );
		lmbSpringMap whole, half;
		lmbSpringMap_Make( k, c, t, &whole );
		lmbSpringMap_Make( k, c, 0.5 * t, &half );
		double x = whole.phi[0] * u + whole.phi[1] * v - whole.gamma[0] * a0 - whole.gamma[1] * a1;
		double y = whole.phi[2] * u + whole.phi[3] * v - whole.gamma[2] * a0 - whole.gamma[3] * a1;
		for ( int s = 0; s < 2; ++s )
		{
			double b0 = s == 0 ? a0 : 0.5 * ( a0 + a1 ), b1 = s == 0 ? 0.5 * ( a0 + a1 ) : a1;
			double next = half.phi[0] * u + half.phi[1] * v - half.gamma[0] * b0 - half.gamma[1] * b1;
			v = half.phi[2] * u + half.phi[3] * v - half.gamma[2] * b0 - half.gamma[3] * b1;
			u = next;
		}
		CHECK_NEAR( u, x, 1e-13 * ( 1.0 + fabs( x ) ) );
		CHECK_NEAR( v, y, 1e-12 * ( 1.0 + fabs( y ) ) );
	}
}

/* The single-precision step against the map in double, over 10 s of a soft and a stiff spring at 1 kHz:
 * a spring of 0.1 Hz loses its stiffness there when phi is stored with its identity. */
static void FloatStepKeepsSoftSprings( void **state )
{
	(void)state;
	enum
	{
		count = 2,
		steps = 10000
	};
	const double stiffness[count] = { 0.4, 4000.0 }, damping[count] = { 0.05, 8.0 };
	float coefficients[lmbSpringPlanes * count];
	lmbSpringMap maps[count];
	double u[count] = { 1.0, 1.0 }, v[count] = { 0.0, 0.0 };
	float uf[3 * count], vf[3 * count] = { 0 }, a0[3 * count], a1[3 * count];
	for ( int i = 0; i < count; ++i )
	{
		lmbSpringMap_Make( stiffness[i], damping[i], 1e-3, &maps[i] );
		lmbSpringMap_Store( &maps[i], coefficients, count, (size_t)i );
		for ( int axis = 0; axis < 3; ++axis )
			uf[count * axis + i] = 1.0f;
	}
	lmbSpringStep step = { count, 3, coefficients, count, uf, vf, a0, a1, count };
	for ( int s = 0; s < steps; ++s )
	{
		double t = 1e-3 * s, f0 = sin( 3.0 * t ), f1 = sin( 3.0 * ( t + 1e-3 ) );
		for ( int i = 0; i < 3 * count; ++i )
		{
			a0[i] = (float)f0;
			a1[i] = (float)f1;
		}
		lmbSprings_Step( &step );
		for ( int i = 0; i < count; ++i )
		{
			const double *p = maps[i].phi, *g = maps[i].gamma;
			double next = p[0] * u[i] + p[1] * v[i] - g[0] * f0 - g[1] * f1;
			v[i] = p[2] * u[i] + p[3] * v[i] - g[2] * f0 - g[3] * f1;
			u[i] = next;
		}
	}
	for ( int i = 0; i < count; ++i )
		for ( int axis = 0; axis < 3; ++axis )
		{
			/* 1e4 roundings of 6e-8 add up like a random walk: 6e-6 of the amplitude. */
			CHECK_NEAR( uf[count * axis + i], u[i], 3e-5 );
			CHECK_NEAR( vf[count * axis + i], v[i], 3e-5 * sqrt( stiffness[i] + 1.0 ) );
		}
}

/* A jump of the target's velocity is a constant acceleration over no time. */
static void JumpIsAPush( void **state )
{
	(void)state;
	float coefficients[lmbSpringPlanes];
	lmbSpringMap map;
	lmbSpringMap_Make( 300.0, 5.0, 0.02, &map );
	lmbSpringMap_Store( &map, coefficients, 1, 0 );
	float u = 0.01f, v = 0.3f, jump = 0.7f;
	lmbSpringStep step = { 1, 1, coefficients, 1, &u, &v, &jump, NULL, 1 };
	lmbSprings_StepJump( &step );
	CHECK_NEAR( u, map.phi[0] * 0.01 + map.phi[1] * ( 0.3 - 0.7 ), 1e-8 );
	CHECK_NEAR( v, map.phi[2] * 0.01 + map.phi[3] * ( 0.3 - 0.7 ), 1e-6 );
}

/* A pose that pumps: stiffness jumps at the worst moments. The scaled state keeps V^2 + k U^2 from growing,
 * which the displacement and velocity themselves would not. */
static void FollowingAPoseNeverPumps( void **state )
{
	(void)state;
	const double k = 900.0, c = 0.05;
	double quarter = 1.5707963267948966 / sqrt( k ), u = 1.0, v = 0.0, x = 1.0, y = 0.0;
	for ( int n = 0; n < 400; ++n )
	{
		/* Stiff while it returns, soft while it leaves. */
		double log = n % 2 == 0 ? 0.8 : -0.8, time = quarter * exp( -0.5 * log );
		double before = v * v + k * u * u;
		lmbSpringMap map, plain;
		lmbSpringMap_MakeScaled( k, c, log, time, &map );
		lmbSpringMap_Make( k * exp( log ), c * exp( log ), time, &plain );
		double next = map.phi[0] * u + map.phi[1] * v;
		v = map.phi[2] * u + map.phi[3] * v;
		u = next;
		CHECK( v * v + k * u * u <= before * ( 1.0 + 1e-13 ) );
		next = plain.phi[0] * x + plain.phi[1] * y;
		y = plain.phi[2] * x + plain.phi[3] * y;
		x = next;
	}
	CHECK( fabs( x ) > 1e20 || fabs( y ) > 1e20 ); /* the case is one that pumps */
}

/* A stiffness that changes slowly: against the spring itself, integrated in a thousand times finer steps with
 * its stiffness taken anew in each, k u'' from the true ratio e^(0.3 sin). */
static void FollowsASlowPose( void **state )
{
	(void)state;
	const double k = 1600.0, c = 4.0, step = 1.0 / 60.0;
	double U = 0.0, V = 0.0, u = 0.0, v = 0.0, worst = 0.0, largest = 0.0;
	for ( int n = 0; n < 240; ++n )
	{
		double from = 0.3 * sin( 3.0 * step * n ), to = 0.3 * sin( 3.0 * step * ( n + 1 ) );
		double push = 50.0 * sin( 0.25 * n ), next = 50.0 * sin( 0.25 * ( n + 1 ) );
		lmbSpringMap map;
		lmbSpringMap_MakeScaled( k, c, 0.5 * ( from + to ), step, &map );
		double x = map.phi[0] * U + map.phi[1] * V - map.gamma[0] * push - map.gamma[1] * next;
		V = map.phi[2] * U + map.phi[3] * V - map.gamma[2] * push - map.gamma[3] * next;
		U = x;
		for ( int i = 0; i < 1000; ++i ) /* velocity Verlet */
		{
			double h = step / 1000.0, s = ( i + 0.5 ) / 1000.0;
			double rho = exp( 0.3 * sin( 3.0 * step * ( n + s ) ) ), a = push + s * ( next - push );
			u += 0.5 * h * v;
			v += h * ( -k * rho * u - c * rho * v - a );
			u += 0.5 * h * v;
		}
		worst = fmax( worst, fabs( U * exp( -0.25 * to ) - u ) );
		largest = fmax( largest, fabs( u ) );
	}
	/* What the scaled state leaves out is of second order in the change of log w per radian, 0.5 * 0.9 / 40
	 * / 2. */
	CHECK_NEAR( worst / largest, 0.0, 0.02 );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( WholeRange ),
	    CHECK_TEST( CriticalDamping ),
	    CHECK_TEST( Seams ),
	    CHECK_TEST( WithoutStiffness ),
	    CHECK_TEST( NoTimeNoStep ),
	    CHECK_TEST( BoundedEverywhere ),
	    CHECK_TEST( StepsCompose ),
	    CHECK_TEST( FloatStepKeepsSoftSprings ),
	    CHECK_TEST( JumpIsAPush ),
	    CHECK_TEST( FollowingAPoseNeverPumps ),
	    CHECK_TEST( FollowsASlowPose ),
	};
	return CHECK_RUN( tests );
}
