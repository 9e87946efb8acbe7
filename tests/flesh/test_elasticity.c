#include "base/math3.h"
#include "base/random.h"
#include "check.h"
#include "flesh/elasticity.h"

#include <stdlib.h>

static const double young = 50e3, poisson = 0.45;

/* A deformation gradient: identity plus noise; every third is pushed far, so about half of those invert. */
static void RandomDeformation( lmbRandom *random, int index, double *F )
{
	double size = index % 3 == 0 ? 1.5 : 0.3;
	for ( int e = 0; e < 9; ++e )
		F[e] = ( e % 4 == 0 ) + size * lmbRandom_Normal( random );
}

static void RestIsFreeOfStress( void **state )
{
	(void)state;
	for ( int i = 0; i < 20; ++i )
	{
		lmbElastic elastic = lmbElastic_Make( 1e3 * ( i + 1 ), 0.025 * i );
		double F[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, P[9];
		lmbElastic_Stress( &elastic, F, P );
		CHECK_NEAR( lmbElastic_Energy( &elastic, F ), 0.0, 0.0 );
		for ( int e = 0; e < 9; ++e )
			CHECK_NEAR( P[e], 0.0, 1e-15 * elastic.lambda * elastic.alpha );
	}
}

/* At rest the tangent must be Hooke's law: mu_L (eps + eps^T) + lambda_L tr eps I. */
static void SmallStrainsObeyHooke( void **state )
{
	(void)state;
	for ( int n = 0; n < 10; ++n )
	{
		double nu = 0.049 * n;
		double shear = young / ( 2.0 * ( 1.0 + nu ) );
		double lame = young * nu / ( ( 1.0 + nu ) * ( 1.0 - 2.0 * nu ) );
		lmbElastic elastic = lmbElastic_Make( young, nu );
		double F[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, tangent[81];
		lmbElastic_Tangent( &elastic, F, tangent );
		for ( int i = 0; i < 3; ++i )
			for ( int j = 0; j < 3; ++j )
				for ( int k = 0; k < 3; ++k )
					for ( int l = 0; l < 3; ++l )
					{
						double hooke = shear * ( ( i == k && j == l ) + ( i == l && j == k ) ) +
						               lame * ( i == j && k == l );
						/* Rounding of sums of terms as large as lambda. */
						CHECK_NEAR( tangent[9 * ( 3 * i + j ) + 3 * k + l], hooke, 1e-13 * elastic.lambda );
					}
	}
}

/* Fourth-order central differences with step h: truncation ~ h^4, rounding ~ 1e-16 / h of the scale. */
static double Difference( const double *values, double h )
{
	return ( values[0] - 8.0 * values[1] + 8.0 * values[2] - values[3] ) / ( 12.0 * h );
}
static const double offsets[4] = { -2.0, -1.0, 1.0, 2.0 };

static void StressIsTheGradient( void **state )
{
	(void)state;
	checkSeed = 11;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	lmbElastic elastic = lmbElastic_Make( young, poisson );
	int inverted = 0;
	for ( int n = 0; n < 300; ++n )
	{
		double F[9], P[9], h = 1e-3;
		RandomDeformation( &random, n, F );
		inverted += lmbMat33_Determinant( F ) < 0.0;
		lmbElastic_Stress( &elastic, F, P );
		double scale = elastic.lambda * ( 1.0 + lmbElastic_Energy( &elastic, F ) / elastic.lambda );
		for ( int e = 0; e < 9; ++e )
		{
			double values[4], G[9];
			for ( int s = 0; s < 4; ++s )
			{
				memcpy( G, F, sizeof( G ) );
				G[e] += offsets[s] * h;
				values[s] = lmbElastic_Energy( &elastic, G );
			}
			CHECK_NEAR( Difference( values, h ), P[e], 1e-10 * scale );
		}
	}
	CHECK( inverted > 30 );
}

static void TangentIsTheHessian( void **state )
{
	(void)state;
	checkSeed = 12;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	lmbElastic elastic = lmbElastic_Make( young, poisson );
	for ( int n = 0; n < 300; ++n )
	{
		double F[9], tangent[81], stress[4][9], h = 1e-3;
		RandomDeformation( &random, n, F );
		lmbElastic_Tangent( &elastic, F, tangent );
		double scale = elastic.lambda * ( 1.0 + lmbElastic_Energy( &elastic, F ) / elastic.lambda );
		for ( int e = 0; e < 9; ++e )
		{
			for ( int s = 0; s < 4; ++s )
			{
				double G[9];
				memcpy( G, F, sizeof( G ) );
				G[e] += offsets[s] * h;
				lmbElastic_Stress( &elastic, G, stress[s] );
			}
			for ( int r = 0; r < 9; ++r )
			{
				double values[4] = { stress[0][r], stress[1][r], stress[2][r], stress[3][r] };
				CHECK_NEAR( Difference( values, h ), tangent[9 * r + e], 1e-10 * scale );
			}
		}
	}
}

static void SingularValuesRebuild( void **state )
{
	(void)state;
	checkSeed = 13;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	for ( int n = 0; n < 1000; ++n )
	{
		double F[9], U[9], V[9], sigma[3];
		RandomDeformation( &random, n, F );
		if ( n % 10 == 1 ) /* singular: rank 2, 1, 0 */
			for ( int e = 0; e < 9; ++e )
				F[e] = n % 20 == 1 ? F[3 * ( e / 3 )] * F[e % 3] : e % 3 == 2 ? 0.0 : F[e];
		if ( n == 0 )
			memset( F, 0, sizeof( F ) );
		lmbMat33_Svd( F, U, sigma, V );
		CHECK( sigma[0] >= sigma[1] && sigma[1] >= fabs( sigma[2] ) - 1e-15 );
		CHECK_NEAR( lmbMat33_Determinant( U ), 1.0, 1e-13 );
		CHECK_NEAR( lmbMat33_Determinant( V ), 1.0, 1e-13 );
		for ( int i = 0; i < 3; ++i )
			for ( int j = 0; j < 3; ++j )
			{
				double back = 0.0, unit = 0.0;
				for ( int k = 0; k < 3; ++k )
				{
					back += U[3 * i + k] * sigma[k] * V[3 * j + k];
					unit += U[3 * k + i] * U[3 * k + j];
				}
				CHECK_NEAR( back, F[3 * i + j], 1e-14 * ( 1.0 + sigma[0] ) );
				CHECK_NEAR( unit, i == j, 1e-14 );
			}
	}
}

/* Eigenvalues of a symmetric n x n matrix by plain cyclic Jacobi: slow, independent of the code under
 * test. */
static void Eigenvalues( double *A, int n, double *values )
{
	for ( int sweep = 0; sweep < 60; ++sweep )
		for ( int p = 0; p < n; ++p )
			for ( int q = p + 1; q < n; ++q )
			{
				double angle = 0.5 * atan2( 2.0 * A[p * n + q], A[q * n + q] - A[p * n + p] );
				double c = cos( angle ), s = sin( angle );
				for ( int k = 0; k < n; ++k )
				{
					double a = A[k * n + p], b = A[k * n + q];
					A[k * n + p] = c * a - s * b;
					A[k * n + q] = s * a + c * b;
				}
				for ( int k = 0; k < n; ++k )
				{
					double a = A[p * n + k], b = A[q * n + k];
					A[p * n + k] = c * a - s * b;
					A[q * n + k] = s * a + c * b;
				}
			}
	for ( int i = 0; i < n; ++i )
		values[i] = A[i * n + i];
}

static int CompareDoubles( const void *a, const void *b )
{
	double x = *(const double *)a, y = *(const double *)b;
	return ( x > y ) - ( x < y );
}

/* The spectrum of (tangent - negative part) must be that of the tangent with negatives set to 0. */
static void ProjectionClampsTheSpectrum( void **state )
{
	(void)state;
	checkSeed = 14;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	lmbElastic elastic = lmbElastic_Make( young, poisson );
	int projected = 0;
	for ( int n = 0; n < 200; ++n )
	{
		double F[9], tangent[81], values[9], modes[9][9], before[9], after[9], copy[81];
		RandomDeformation( &random, n, F );
		lmbElastic_Tangent( &elastic, F, tangent );
		int negative = lmbElastic_NegativeModes( &elastic, F, values, modes );
		projected += negative > 0;
		memcpy( copy, tangent, sizeof( copy ) );
		Eigenvalues( copy, 9, before );
		memcpy( copy, tangent, sizeof( copy ) );
		for ( int e = 0; e < 81 * negative; ++e )
			copy[e % 81] -= values[e / 81] * modes[e / 81][e % 81 / 9] * modes[e / 81][e % 9];
		Eigenvalues( copy, 9, after );
		qsort( before, 9, sizeof( double ), CompareDoubles );
		qsort( after, 9, sizeof( double ), CompareDoubles );
		for ( int i = 0; i < 9; ++i )
			CHECK_NEAR( after[i], fmax( before[i], 0.0 ), 1e-11 * ( fabs( before[0] ) + before[8] ) );
	}
	CHECK( projected > 50 );
	CHECK( projected < 200 );
}

/* Simple shear by g: I = 3 + g^2, J = 1. Psi = mu/2 (g^2 - ln(1 + g^2/4)); stress P_xy by its derivative. */
static void SimpleShear( void **state )
{
	(void)state;
	lmbElastic elastic = lmbElastic_Make( young, poisson );
	double mu = 4.0 / 3.0 * young / ( 2.0 * ( 1.0 + poisson ) );
	for ( double g = -2.0; g <= 2.0; g += 0.25 )
	{
		double F[9] = { 1, g, 0, 0, 1, 0, 0, 0, 1 }, P[9];
		double psi = 0.5 * mu * ( g * g - log( 1.0 + 0.25 * g * g ) );
		/* alpha > 1, so unit volume carries the pressure lambda (1 - alpha) = -3/4 mu against a F. */
		double shear = mu * ( 1.0 - 1.0 / ( 4.0 + g * g ) ) * g;
		lmbElastic_Stress( &elastic, F, P );
		CHECK_NEAR( lmbElastic_Energy( &elastic, F ), psi, 1e-14 * young );
		CHECK_NEAR( P[1], shear, 1e-12 * young );
	}
}

/* Uniaxial stretch s along x with the sides left free: find the side stretch t with P_yy = 0 by bisection
 * on the closed form, then compare energy and axial stress with dPsi/ds along that path. */
static double FreeSide( double mu, double lambda, double alpha, double s )
{
	double low = 0.1, high = 3.0;
	for ( int i = 0; i < 200; ++i )
	{
		double t = 0.5 * ( low + high );
		double side =
		    mu * ( 1.0 - 1.0 / ( s * s + 2 * t * t + 1.0 ) ) * t + lambda * ( s * t * t - alpha ) * s * t;
		*( side > 0.0 ? &high : &low ) = t;
	}
	return 0.5 * ( low + high );
}

static double ClosedEnergy( double mu, double lambda, double alpha, double s, double t )
{
	double I = s * s + 2.0 * t * t, J = s * t * t;
	return 0.5 * mu * ( I - 3.0 ) - 0.5 * mu * log( ( I + 1.0 ) / 4.0 ) +
	       0.5 * lambda * ( ( J - alpha ) * ( J - alpha ) - ( 1.0 - alpha ) * ( 1.0 - alpha ) );
}

static void UniaxialStretch( void **state )
{
	(void)state;
	lmbElastic elastic = lmbElastic_Make( young, poisson );
	double shear = young / ( 2.0 * ( 1.0 + poisson ) );
	double mu = 4.0 / 3.0 * shear;
	double lambda = young * poisson / ( ( 1.0 + poisson ) * ( 1.0 - 2.0 * poisson ) ) + 5.0 / 6.0 * shear;
	double alpha = 1.0 + 0.75 * mu / lambda;
	for ( double s = 0.5; s <= 2.0; s += 0.1 )
	{
		double t = FreeSide( mu, lambda, alpha, s ), h = 1e-4, P[9];
		double F[9] = { s, 0, 0, 0, t, 0, 0, 0, t };
		lmbElastic_Stress( &elastic, F, P );
		CHECK_NEAR( lmbElastic_Energy( &elastic, F ), ClosedEnergy( mu, lambda, alpha, s, t ),
		            1e-12 * young );
		CHECK_NEAR( P[4], 0.0, 1e-12 * lambda );
		double up = ClosedEnergy( mu, lambda, alpha, s + h, FreeSide( mu, lambda, alpha, s + h ) );
		double down = ClosedEnergy( mu, lambda, alpha, s - h, FreeSide( mu, lambda, alpha, s - h ) );
		/* Second-order difference: h^2 times a third derivative of the order of lambda. */
		CHECK_NEAR( P[0], ( up - down ) / ( 2.0 * h ), 1e-7 * lambda );
	}
	/* The slope at rest is Young's modulus. */
	double F[9] = { 1.0 + 1e-6, 0, 0, 0, 1.0 - poisson * 1e-6, 0, 0, 0, 1.0 - poisson * 1e-6 }, P[9];
	lmbElastic_Stress( &elastic, F, P );
	CHECK_NEAR( P[0] / 1e-6, young, 1e-4 * young );
}

static double ElementEnergy( const lmbElement *element, const lmbElastic *elastic, const double *positions )
{
	double F[9];
	lmbElement_Deformation( element, positions, F );
	return element->volume * lmbElastic_Energy( elastic, F );
}

static void ElementForceAndStiffness( void **state )
{
	(void)state;
	checkSeed = 15;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	lmbElastic elastic = lmbElastic_Make( young, poisson );
	for ( int n = 0; n < 60; ++n )
	{
		double corners[12], positions[12], h = 1e-3;
		lmbElement element;
		do
			for ( int e = 0; e < 12; ++e )
				corners[e] = lmbRandom_Normal( &random );
		while ( !lmbElement_Make( corners, &element ) || element.volume < 0.05 );
		for ( int e = 0; e < 12; ++e )
			positions[e] = corners[e] + 0.5 * lmbRandom_Normal( &random );
		double F[9], P[9], force[12] = { 0 }, stiffness[144];
		lmbElement_Deformation( &element, positions, F );
		lmbElastic_Stress( &elastic, F, P );
		lmbElement_AddForce( &element, element.volume, P, force );
		lmbElement_Stiffness( &element, &elastic, element.volume, positions, false, stiffness );
		/* Derivatives grow with powers of F over the element's height. */
		double scale = ( elastic.lambda + lmbElastic_Energy( &elastic, F ) ) * 100.0;
		for ( int e = 0; e < 12; ++e )
		{
			double values[4], forces[4][12] = { { 0 } };
			for ( int s = 0; s < 4; ++s )
			{
				double moved[12];
				memcpy( moved, positions, sizeof( moved ) );
				moved[e] += offsets[s] * h;
				values[s] = ElementEnergy( &element, &elastic, moved );
				lmbElement_Deformation( &element, moved, F );
				lmbElastic_Stress( &elastic, F, P );
				lmbElement_AddForce( &element, element.volume, P, forces[s] );
			}
			CHECK_NEAR( Difference( values, h ), -force[e], 1e-9 * scale );
			for ( int r = 0; r < 12; ++r )
			{
				double column[4] = { forces[0][r], forces[1][r], forces[2][r], forces[3][r] };
				CHECK_NEAR( Difference( column, h ), -stiffness[12 * r + e], 1e-9 * scale );
			}
		}
	}
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( RestIsFreeOfStress ),
	    CHECK_TEST( SmallStrainsObeyHooke ),
	    CHECK_TEST( StressIsTheGradient ),
	    CHECK_TEST( TangentIsTheHessian ),
	    CHECK_TEST( SingularValuesRebuild ),
	    CHECK_TEST( ProjectionClampsTheSpectrum ),
	    CHECK_TEST( SimpleShear ),
	    CHECK_TEST( UniaxialStretch ),
	    CHECK_TEST( ElementForceAndStiffness ),
	};
	return CHECK_RUN( tests );
}
