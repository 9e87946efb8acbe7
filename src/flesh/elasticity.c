#include "flesh/elasticity.h"

#include "base/math3.h"

lmbElastic lmbElastic_Make( double young, double poisson )
{
	double shear = young / ( 2.0 * ( 1.0 + poisson ) );
	double lame = young * poisson / ( ( 1.0 + poisson ) * ( 1.0 - 2.0 * poisson ) );
	lmbElastic elastic = { 4.0 / 3.0 * shear, lame + 5.0 / 6.0 * shear, 0.0 };
	elastic.alpha = 1.0 + 0.75 * elastic.mu / elastic.lambda;
	return elastic;
}

static double SquaredNorm( const double *F )
{
	double sum = 0.0;
	for ( int i = 0; i < 9; ++i )
		sum += F[i] * F[i];
	return sum;
}

static void Cofactor( const double *F, double *C )
{
	C[0] = F[4] * F[8] - F[5] * F[7];
	C[1] = F[5] * F[6] - F[3] * F[8];
	C[2] = F[3] * F[7] - F[4] * F[6];
	C[3] = F[2] * F[7] - F[1] * F[8];
	C[4] = F[0] * F[8] - F[2] * F[6];
	C[5] = F[1] * F[6] - F[0] * F[7];
	C[6] = F[1] * F[5] - F[2] * F[4];
	C[7] = F[2] * F[3] - F[0] * F[5];
	C[8] = F[0] * F[4] - F[1] * F[3];
}

/* Written in what differs from rest, i = I - 3 and j = J - 1: no large constants that cancel. */
double lmbElastic_Energy( const lmbElastic *elastic, const double *F )
{
	double i = SquaredNorm( F ) - 3.0;
	double j = lmbMat33_Determinant( F ) - 1.0;
	return 0.5 * elastic->mu * ( i - log1p( 0.25 * i ) - 1.5 * j ) + 0.5 * elastic->lambda * j * j;
}

void lmbElastic_Stress( const lmbElastic *elastic, const double *F, double *P )
{
	double cofactor[9];
	Cofactor( F, cofactor );
	double J = F[0] * cofactor[0] + F[1] * cofactor[1] + F[2] * cofactor[2];
	double a = elastic->mu * ( 1.0 - 1.0 / ( SquaredNorm( F ) + 1.0 ) );
	double p = elastic->lambda * ( J - elastic->alpha );
	for ( int e = 0; e < 9; ++e )
		P[e] = a * F[e] + p * cofactor[e];
}

void lmbElastic_Tangent( const lmbElastic *elastic, const double *F, double *tangent )
{
	double C[9];
	Cofactor( F, C );
	double J = F[0] * C[0] + F[1] * C[1] + F[2] * C[2];
	double s = 1.0 / ( SquaredNorm( F ) + 1.0 );
	double a = elastic->mu * ( 1.0 - s ), b = 2.0 * elastic->mu * s * s;
	double p = elastic->lambda * ( J - elastic->alpha );
	for ( int r = 0; r < 9; ++r )
		for ( int c = 0; c < 9; ++c )
			tangent[9 * r + c] = b * F[r] * F[c] + elastic->lambda * C[r] * C[c] + ( r == c ? a : 0.0 );
	/* d2J / dF_ij dF_kl = epsilon_ikm epsilon_jln F_mn */
	for ( int i = 0; i < 3; ++i )
		for ( int j = 0; j < 3; ++j )
			for ( int turnRow = 1; turnRow < 3; ++turnRow )
				for ( int turnColumn = 1; turnColumn < 3; ++turnColumn )
				{
					int k = ( i + turnRow ) % 3, l = ( j + turnColumn ) % 3;
					double sign = turnRow == turnColumn ? 1.0 : -1.0;
					tangent[9 * ( 3 * i + j ) + 3 * k + l] += p * sign * F[3 * ( 3 - i - k ) + 3 - j - l];
				}
}

/* One Jacobi rotation that makes columns p and q of A orthogonal; V turns along. True when it turned. */
static bool TurnColumns( double *A, double *V, int p, int q )
{
	double pp = 0.0, qq = 0.0, pq = 0.0;
	for ( int i = 0; i < 3; ++i )
	{
		pp += A[3 * i + p] * A[3 * i + p];
		qq += A[3 * i + q] * A[3 * i + q];
		pq += A[3 * i + p] * A[3 * i + q];
	}
	if ( fabs( pq ) <= 1e-16 * sqrt( pp * qq ) || pp * qq == 0.0 )
		return false;
	double zeta = ( qq - pp ) / ( 2.0 * pq );
	double t = ( zeta >= 0.0 ? 1.0 : -1.0 ) / ( fabs( zeta ) + sqrt( 1.0 + zeta * zeta ) );
	double c = 1.0 / sqrt( 1.0 + t * t ), s = c * t;
	for ( int i = 0; i < 3; ++i )
	{
		double a = A[3 * i + p], b = A[3 * i + q], v = V[3 * i + p], w = V[3 * i + q];
		A[3 * i + p] = c * a - s * b;
		A[3 * i + q] = s * a + c * b;
		V[3 * i + p] = c * v - s * w;
		V[3 * i + q] = s * v + c * w;
	}
	return true;
}

static void SwapColumns( double *M, int p, int q )
{
	for ( int i = 0; i < 3; ++i )
	{
		double keep = M[3 * i + p];
		M[3 * i + p] = M[3 * i + q];
		M[3 * i + q] = -keep; /* a turn by 90 degrees, so that rotations stay rotations */
	}
}

/* Columns 0 and 1 of U from the sorted, orthogonal columns of A; zero columns get any unit direction. */
static void LeftVectors( const double *A, const double *length, double *U )
{
	double first[3] = { 1.0, 0.0, 0.0 }, second[3], third[3];
	for ( int i = 0; i < 3 && length[0] > 0.0; ++i )
		first[i] = A[3 * i] / length[0];
	for ( int i = 0; i < 3; ++i )
		second[i] = A[3 * i + 1];
	if ( length[1] <= 1e-14 * length[0] )
	{
		int axis = fabs( first[0] ) < 0.6 ? 0 : fabs( first[1] ) < 0.6 ? 1 : 2;
		for ( int i = 0; i < 3; ++i )
			second[i] = i == axis;
	}
	/* Against rounding in columns of very different lengths. */
	lmbAddScaled( second, second, -lmbDot( first, second ), first );
	double norm = lmbLength( second );
	for ( int i = 0; i < 3; ++i )
		second[i] /= norm;
	lmbCross( third, first, second );
	for ( int i = 0; i < 3; ++i )
	{
		U[3 * i] = first[i];
		U[3 * i + 1] = second[i];
		U[3 * i + 2] = third[i];
	}
}

void lmbMat33_Svd( const double *F, double *U, double *sigma, double *V )
{
	double A[9], length[3];
	memcpy( A, F, sizeof( A ) );
	memset( V, 0, 9 * sizeof( double ) );
	V[0] = V[4] = V[8] = 1.0;
	for ( int sweep = 0; sweep < 30; ++sweep )
	{
		bool turned = TurnColumns( A, V, 0, 1 );
		turned = TurnColumns( A, V, 0, 2 ) || turned;
		turned = TurnColumns( A, V, 1, 2 ) || turned;
		if ( !turned )
			break;
	}
	for ( int pass = 0; pass < 3; ++pass )
	{
		int p = pass == 1 ? 1 : 0;
		for ( int j = 0; j < 3; ++j )
			length[j] = sqrt( A[j] * A[j] + A[3 + j] * A[3 + j] + A[6 + j] * A[6 + j] );
		if ( length[p] < length[p + 1] )
		{
			SwapColumns( A, p, p + 1 );
			SwapColumns( V, p, p + 1 );
		}
	}
	for ( int j = 0; j < 3; ++j )
		length[j] = sqrt( A[j] * A[j] + A[3 + j] * A[3 + j] + A[6 + j] * A[6 + j] );
	LeftVectors( A, length, U );
	sigma[0] = length[0];
	sigma[1] = U[1] * A[1] + U[4] * A[4] + U[7] * A[7];
	sigma[2] = U[2] * A[2] + U[5] * A[5] + U[8] * A[8];
}

/* Eigenvalues and vectors (columns) of a symmetric 3x3 matrix by cyclic Jacobi. */
static void SymmetricEigen( double *S, double *vectors )
{
	memset( vectors, 0, 9 * sizeof( double ) );
	vectors[0] = vectors[4] = vectors[8] = 1.0;
	for ( int sweep = 0; sweep < 30; ++sweep )
	{
		double off = fabs( S[1] ) + fabs( S[2] ) + fabs( S[5] );
		if ( off <= 1e-16 * ( fabs( S[0] ) + fabs( S[4] ) + fabs( S[8] ) ) )
			break;
		for ( int pair = 0; pair < 3; ++pair )
		{
			int p = pair == 2 ? 1 : 0, q = pair == 0 ? 1 : 2;
			if ( S[3 * p + q] == 0.0 )
				continue;
			double theta = ( S[4 * q] - S[4 * p] ) / ( 2.0 * S[3 * p + q] );
			double t = ( theta >= 0.0 ? 1.0 : -1.0 ) / ( fabs( theta ) + sqrt( theta * theta + 1.0 ) );
			double c = 1.0 / sqrt( t * t + 1.0 ), s = t * c;
			for ( int k = 0; k < 3; ++k )
			{
				double a = S[3 * k + p], b = S[3 * k + q], v = vectors[3 * k + p], w = vectors[3 * k + q];
				S[3 * k + p] = c * a - s * b;
				S[3 * k + q] = s * a + c * b;
				vectors[3 * k + p] = c * v - s * w;
				vectors[3 * k + q] = s * v + c * w;
			}
			for ( int k = 0; k < 3; ++k )
			{
				double a = S[3 * p + k], b = S[3 * q + k];
				S[3 * p + k] = c * a - s * b;
				S[3 * q + k] = s * a + c * b;
			}
		}
	}
}

/* mode = U D V^T. */
static void TurnMode( const double *U, const double *V, const double *D, double *mode )
{
	double left[9];
	lmbMat33_Multiply( left, U, D );
	for ( int i = 0; i < 3; ++i )
		for ( int j = 0; j < 3; ++j )
			mode[3 * i + j] = lmbDot( left + 3 * i, V + 3 * j );
}

int lmbElastic_NegativeModes( const lmbElastic *elastic, const double *F, double values[9],
                              double modes[9][9] )
{
	double U[9], V[9], sigma[3], scaling[9], vectors[9];
	lmbMat33_Svd( F, U, sigma, V );
	double J = sigma[0] * sigma[1] * sigma[2];
	double s = 1.0 / ( lmbDot( sigma, sigma ) + 1.0 );
	double a = elastic->mu * ( 1.0 - s ), b = 2.0 * elastic->mu * s * s;
	double p = elastic->lambda * ( J - elastic->alpha );
	double area[3] = { sigma[1] * sigma[2], sigma[2] * sigma[0], sigma[0] * sigma[1] };
	for ( int i = 0; i < 3; ++i )
		for ( int j = 0; j < 3; ++j )
			scaling[3 * i + j] = b * sigma[i] * sigma[j] + elastic->lambda * area[i] * area[j] +
			                     ( i == j ? a : p * sigma[3 - i - j] );
	SymmetricEigen( scaling, vectors );
	int count = 0;
	for ( int m = 0; m < 9; ++m )
	{
		/* 0 to 2: scalings; 3 to 5: turns, a + p sigma; 6 to 8: flips, a - p sigma. */
		int axis = m % 3, j = ( axis + 1 ) % 3, k = ( axis + 2 ) % 3;
		double value = m < 3 ? scaling[4 * axis] : a + ( m < 6 ? p : -p ) * sigma[axis];
		if ( value >= 0.0 )
			continue;
		double D[9] = { 0.0 };
		if ( m < 3 )
			for ( int i = 0; i < 3; ++i )
				D[4 * i] = vectors[3 * i + axis];
		else
		{
			D[3 * j + k] = sqrt( 0.5 );
			D[3 * k + j] = m < 6 ? -sqrt( 0.5 ) : sqrt( 0.5 );
		}
		TurnMode( U, V, D, modes[count] );
		values[count++] = value;
	}
	return count;
}

bool lmbElement_Make( const double *corners, lmbElement *element )
{
	double edges[9], inverse[9];
	for ( int i = 0; i < 3; ++i )
		for ( int j = 0; j < 3; ++j )
			edges[3 * i + j] = corners[3 * ( j + 1 ) + i] - corners[i];
	double determinant = lmbMat33_Determinant( edges );
	element->volume = determinant / 6.0;
	if ( !( determinant > 0.0 ) )
		return false;
	lmbMat33_Inverse( inverse, edges );
	for ( int j = 0; j < 3; ++j )
		element->gradients[j] = -( inverse[j] + inverse[3 + j] + inverse[6 + j] );
	memcpy( element->gradients + 3, inverse, sizeof( inverse ) );
	return true;
}

void lmbElement_Deformation( const lmbElement *element, const double *positions, double *F )
{
	const double *g = element->gradients;
	for ( int i = 0; i < 3; ++i )
	{
		/* Differences first: a body far from the origin deforms like one at it. */
		double a = positions[3 + i] - positions[i], b = positions[6 + i] - positions[i],
		       c = positions[9 + i] - positions[i];
		for ( int j = 0; j < 3; ++j )
			F[3 * i + j] = a * g[3 + j] + b * g[6 + j] + c * g[9 + j];
	}
}

void lmbElement_AddForce( const lmbElement *element, double scale, const double *P, double *force )
{
	for ( int corner = 1; corner < 4; ++corner )
		for ( int i = 0; i < 3; ++i )
		{
			double f = scale * lmbDot( P + 3 * i, element->gradients + 3 * corner );
			force[3 * corner + i] -= f;
			force[i] += f;
		}
}

void lmbElement_Stiffness( const lmbElement *element, const lmbElastic *elastic, double scale,
                           const double *positions, bool project, double *stiffness )
{
	double F[9], tangent[81], values[9], modes[9][9], half[108];
	lmbElement_Deformation( element, positions, F );
	lmbElastic_Tangent( elastic, F, tangent );
	int negative = project ? lmbElastic_NegativeModes( elastic, F, values, modes ) : 0;
	for ( int m = 0; m < negative; ++m )
		for ( int e = 0; e < 81; ++e )
			tangent[e] -= values[m] * modes[m][e / 9] * modes[m][e % 9];
	const double *g = element->gradients;
	/* half (9 x 12): tangent times dF/dx, where dF_kl / dx_bk = g_bl. */
	for ( int r = 0; r < 9; ++r )
		for ( int b = 0; b < 4; ++b )
			for ( int k = 0; k < 3; ++k )
				half[12 * r + 3 * b + k] = scale * lmbDot( tangent + 9 * r + 3 * k, g + 3 * b );
	for ( int a = 0; a < 4; ++a )
		for ( int i = 0; i < 3; ++i )
			for ( int c = 0; c < 12; ++c )
				stiffness[12 * ( 3 * a + i ) + c] = g[3 * a] * half[12 * ( 3 * i ) + c] +
				                                    g[3 * a + 1] * half[12 * ( 3 * i + 1 ) + c] +
				                                    g[3 * a + 2] * half[12 * ( 3 * i + 2 ) + c];
}
