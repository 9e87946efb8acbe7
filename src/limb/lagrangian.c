/* q'' of a Lagrangian model from its networks' outputs, and the gradient backwards. Derived in
 * docs/derivations/limb.md; the names below are those of that page. */
#include "limb/equations.h"

#include <math.h>
#include <string.h>

enum
{
	maxN = lmbLimbMaxDofs
};

/* What forward and backward both need. */
typedef struct Balance
{
	int n;
	double l[maxN][maxN];        /* L, zeros above the diagonal */
	double slopes[maxN];         /* d softplus / dx of the diagonal */
	double li[maxN][maxN][maxN]; /* dL / dq_i */
	bool depends[maxN];          /* whether li[i] is there at all */
	double p[maxN];              /* L^T v */
	double pi[maxN][maxN];       /* (dL / dq_i)^T v */
	double w[maxN];              /* (dL / dt)^T v */
	double ldot[maxN][maxN];     /* dL / dt */
	double a[maxN], la[maxN];    /* q'' and L^T q'' */
	double imbalance[maxN];      /* M q'' + .. - G u, where q'' is given */
} Balance;

static double Softplus( double x )
{
	return x > 0.0 ? x + log1p( exp( -x ) ) : log1p( exp( x ) );
}

static double Logistic( double x )
{
	return x > 0.0 ? 1.0 / ( 1.0 + exp( -x ) ) : 1.0 - 1.0 / ( 1.0 + exp( x ) );
}

/* out = A^T x for a lower triangle. */
static void TimesTransposed( int n, double a[maxN][maxN], const double *x, double *out )
{
	for ( int j = 0; j < n; ++j )
	{
		double sum = 0.0;
		for ( int i = j; i < n; ++i )
			sum += a[i][j] * x[i];
		out[j] = sum;
	}
}

static double LowerRow( double a[maxN][maxN], int i, const double *x )
{
	double sum = 0.0;
	for ( int j = 0; j <= i; ++j )
		sum += a[i][j] * x[j];
	return sum;
}

static void Solve( const Balance *b, double *x )
{
	for ( int i = 0; i < b->n; ++i )
	{
		for ( int j = 0; j < i; ++j )
			x[i] -= b->l[i][j] * x[j];
		x[i] /= b->l[i][i];
	}
	for ( int i = b->n - 1; i >= 0; --i )
	{
		for ( int j = i + 1; j < b->n; ++j )
			x[i] -= b->l[j][i] * x[j];
		x[i] /= b->l[i][i];
	}
}

static void FillFactors( const lmbLagrangianTerms *terms, Balance *b )
{
	int n = b->n = terms->n;
	memset( b->l, 0, sizeof( b->l ) );
	for ( int i = 0, k = 0; i < n; ++i )
		for ( int j = 0; j <= i; ++j, ++k )
			b->l[i][j] = i == j ? Softplus( terms->mass[k] ) + terms->massFloor : terms->mass[k];
	for ( int i = 0; i < n; ++i )
		b->slopes[i] = Logistic( terms->mass[i * ( i + 1 ) / 2 + i] );
	TimesTransposed( n, b->l, terms->velocities, b->p );
	memset( b->ldot, 0, sizeof( b->ldot ) );
	memset( b->w, 0, sizeof( b->w ) );
	for ( int d = 0; d < n; ++d )
	{
		b->depends[d] = terms->massTangents[d] != NULL;
		if ( !b->depends[d] )
			continue;
		double v = terms->velocities[d];
		for ( int i = 0, k = 0; i < n; ++i )
			for ( int j = 0; j <= i; ++j, ++k )
			{
				b->li[d][i][j] = terms->massTangents[d][k] * ( i == j ? b->slopes[i] : 1.0 );
				b->ldot[i][j] += v * b->li[d][i][j];
			}
		TimesTransposed( n, b->li[d], terms->velocities, b->pi[d] );
		for ( int j = 0; j < n; ++j )
			b->w[j] += v * b->pi[d][j];
	}
}

/* torque -= K (K^T v), K a lower triangle by rows. */
static void Damp( int n, const double *k, const double *v, double *torque )
{
	double y[maxN] = { 0 };
	for ( int i = 0, at = 0; i < n; ++i )
		for ( int j = 0; j <= i; ++j, ++at )
			y[j] += k[at] * v[i];
	for ( int i = 0, at = 0; i < n; ++i )
		for ( int j = 0; j <= i; ++j, ++at )
			torque[i] -= k[at] * y[j];
}

static void Balances( const lmbLagrangianTerms *terms, Balance *b )
{
	FillFactors( terms, b );
	int n = b->n;
	for ( int i = 0; i < n; ++i )
	{
		double sum = terms->identityDrive ? terms->inputs[i] : 0.0;
		for ( int j = 0; j < terms->m && !terms->identityDrive; ++j )
			sum += ( ( terms->driveMatrix == NULL ? 0.0 : terms->driveMatrix[i * terms->m + j] ) +
			         ( terms->drive == NULL ? 0.0 : terms->drive[i * terms->m + j] ) ) *
			       terms->inputs[j];
		sum -= LowerRow( b->ldot, i, b->p ) + LowerRow( b->l, i, b->w );
		for ( int j = 0; j < n && b->depends[i]; ++j )
			sum += b->p[j] * b->pi[i][j];
		b->a[i] = sum - ( terms->slope[i] == NULL ? 0.0 : *terms->slope[i] );
	}
	if ( terms->dampingConstant != NULL )
		Damp( n, terms->dampingConstant, terms->velocities, b->a );
	if ( terms->damping != NULL )
		Damp( n, terms->damping, terms->velocities, b->a );
	if ( terms->accelerations == NULL )
	{
		Solve( b, b->a );
		TimesTransposed( n, b->l, b->a, b->la );
		return;
	}
	double torque[maxN];
	for ( int i = 0; i < n; ++i )
	{
		torque[i] = b->a[i];
		b->a[i] = terms->accelerations[i];
		b->la[i] = 0.0;
	}
	TimesTransposed( n, b->l, b->a, b->la );
	for ( int i = 0; i < n; ++i )
		b->imbalance[i] = LowerRow( b->l, i, b->la ) - torque[i];
}

void lmbLagrangian_Acceleration( const lmbLagrangianTerms *terms, double *acceleration )
{
	Balance b;
	Balances( terms, &b );
	memcpy( acceleration, terms->accelerations != NULL ? b.imbalance : b.a, (size_t)b.n * sizeof( double ) );
}

/* Of mu . K K^T v: by K into kGradient (added when add is true), by v added to vGradient. */
static void DampBackward( int n, const double *k, const double *v, const double *mu, bool add,
                          double *kGradient, double *vGradient )
{
	double y[maxN] = { 0 }, z[maxN] = { 0 };
	for ( int i = 0, at = 0; i < n; ++i )
		for ( int j = 0; j <= i; ++j, ++at )
		{
			y[j] += k[at] * v[i];
			z[j] += k[at] * mu[i];
		}
	for ( int i = 0, at = 0; i < n; ++i )
		for ( int j = 0; j <= i; ++j, ++at )
		{
			double slope = mu[i] * y[j] + v[i] * z[j];
			kGradient[at] = add ? kGradient[at] + slope : slope;
			vGradient[i] += k[at] * z[j];
		}
}

/* Gradients of mu . (C v) by L, dL / dq_i and v. lGradient (n x n, lower) is added to. */
static void CoriolisBackward( const lmbLagrangianTerms *terms, Balance *b, const double *mu,
                              double lGradient[maxN][maxN], lmbLagrangianGradient *gradient )
{
	int n = b->n;
	const double *v = terms->velocities;
	double pGradient[maxN] = { 0 }, wGradient[maxN] = { 0 };
	TimesTransposed( n, b->ldot, mu, pGradient );
	TimesTransposed( n, b->l, mu, wGradient );
	for ( int d = 0; d < n; ++d )
		for ( int j = 0; j < n && b->depends[d]; ++j )
			pGradient[j] -= mu[d] * b->pi[d][j];
	for ( int d = 0; d < n; ++d )
	{
		if ( !b->depends[d] )
			continue;
		double piGradient[maxN] = { 0 }, byV = 0.0;
		for ( int j = 0; j < n; ++j )
		{
			piGradient[j] = v[d] * wGradient[j] - mu[d] * b->p[j];
			byV += b->pi[d][j] * wGradient[j];
		}
		for ( int i = 0, k = 0; i < n; ++i )
			for ( int j = 0; j <= i; ++j, ++k )
			{
				double by = v[d] * mu[i] * b->p[j] + v[i] * piGradient[j];
				byV += b->li[d][i][j] * mu[i] * b->p[j];
				gradient->massTangents[d][k] = by * ( i == j ? b->slopes[i] : 1.0 );
				gradient->velocities[i] += b->li[d][i][j] * piGradient[j];
				/* The diagonal of dL / dq is softplus'(x) x': it moves with x as well. */
				if ( i == j )
					gradient->mass[k] +=
					    by * terms->massTangents[d][k] * b->slopes[i] * ( 1.0 - b->slopes[i] );
			}
		gradient->velocities[d] += byV;
	}
	for ( int i = 0; i < n; ++i )
		for ( int j = 0; j <= i; ++j )
		{
			lGradient[i][j] += mu[i] * b->w[j] + v[i] * pGradient[j];
			gradient->velocities[i] += b->l[i][j] * pGradient[j];
		}
}

void lmbLagrangian_Backward( const lmbLagrangianTerms *terms, const double *accelerationGradient,
                             lmbLagrangianGradient *gradient )
{
	Balance b;
	Balances( terms, &b );
	int n = b.n;
	double lambda[maxN] = { 0 }, mu[maxN] = { 0 }, lLambda[maxN] = { 0 };
	double lGradient[maxN][maxN] = { { 0 } };
	/* q'' moves against an imbalance: d q'' = -M^-1 d (M q'' + .. - G u). */
	for ( int i = 0; i < n; ++i )
		lambda[i] = terms->accelerations != NULL ? -accelerationGradient[i] : accelerationGradient[i];
	if ( terms->accelerations == NULL )
		Solve( &b, lambda );
	TimesTransposed( n, b.l, lambda, lLambda );
	for ( int i = 0; i < n; ++i )
	{
		mu[i] = -lambda[i];
		for ( int j = 0; j <= i; ++j )
			lGradient[i][j] = mu[i] * b.la[j] - b.a[i] * lLambda[j];
	}
	memset( gradient->mass, 0, (size_t)( n * ( n + 1 ) / 2 ) * sizeof( double ) );
	CoriolisBackward( terms, &b, mu, lGradient, gradient );
	for ( int i = 0, k = 0; i < n; ++i )
		for ( int j = 0; j <= i; ++j, ++k )
			gradient->mass[k] += lGradient[i][j] * ( i == j ? b.slopes[i] : 1.0 );
	for ( int i = 0; i < n; ++i )
		if ( terms->slope[i] != NULL )
			*gradient->slope[i] = mu[i];
	if ( terms->dampingConstant != NULL )
		DampBackward( n, terms->dampingConstant, terms->velocities, mu, true, gradient->dampingConstant,
		              gradient->velocities );
	if ( terms->damping != NULL )
		DampBackward( n, terms->damping, terms->velocities, mu, false, gradient->damping,
		              gradient->velocities );
	for ( int i = 0; i < n && terms->drive != NULL; ++i )
		for ( int j = 0; j < terms->m; ++j )
			gradient->drive[i * terms->m + j] = lambda[i] * terms->inputs[j];
}
