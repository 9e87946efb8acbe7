/* Part of what `limber export --c` writes: see limb_core.h. */
#include "limb_core.h"

#include <string.h>

/* The mass matrix's Cholesky factor L and its derivatives by the model's directions; lower triangles, row by
 * row. */
typedef struct Factor
{
	int directions;
	double factor[lmbCoreMaxTriangle];
	double slopes[lmbCoreMaxDirections][lmbCoreMaxTriangle];
} Factor;

static inline int Row( int i )
{
	return i * ( i + 1 ) / 2;
}

static inline void RunMass( lmbCoreWork *work, int n, Factor *out )
{
	const lmbCoreModel *model = work->model;
	int directions = model->directionCount;
	const float *raw = lmbCoreNet_Run( &model->mass, work, 1 + directions );
	out->directions = directions;
	for ( int i = 0; i < n; ++i )
		for ( int j = 0; j <= i; ++j )
		{
			int e = Row( i ) + j;
			double value = raw[e], slope = 1.0;
			out->factor[e] = j == i ? lmbSoftplus( value, &slope ) + model->massFloor : value;
			for ( int t = 0; t < directions; ++t )
				out->slopes[t][e] = slope * (double)raw[( t + 1 ) * model->stride + e];
		}
}

/* out = L x and out = L^T x. */
static inline void Lower( int n, const double *l, const double *x, double *out )
{
	for ( int i = 0; i < n; ++i )
	{
		double sum = 0.0;
		for ( int j = 0; j <= i; ++j )
			sum += l[Row( i ) + j] * x[j];
		out[i] = sum;
	}
}

static inline void LowerTransposed( int n, const double *l, const double *x, double *out )
{
	for ( int j = 0; j < n; ++j )
	{
		double sum = 0.0;
		for ( int i = j; i < n; ++i )
			sum += l[Row( i ) + j] * x[i];
		out[j] = sum;
	}
}

/* x with L L^T x = x, in place. */
static inline void Solve( int n, const double *l, double *x )
{
	for ( int i = 0; i < n; ++i )
	{
		double sum = x[i];
		for ( int j = 0; j < i; ++j )
			sum -= l[Row( i ) + j] * x[j];
		x[i] = sum / l[Row( i ) + i];
	}
	for ( int i = n - 1; i >= 0; --i )
	{
		double sum = x[i];
		for ( int j = i + 1; j < n; ++j )
			sum -= l[Row( j ) + i] * x[j];
		x[i] = sum / l[Row( i ) + i];
	}
}

/* C(q, v) v = M' v - d/dq (v^T M v) / 2 with M = L L^T: with w = L^T v, z_t = (dL/dt)^T v and the speeds p_t
 * of the directions, M' v = L' w + L (L'^T v), L' = sum_t p_t dL/dt, and the gradient is sum_t (w . z_t) of
 * each direction. */
static inline void Coriolis( const lmbCoreModel *model, int n, const Factor *mass, const double *v,
                             double *out )
{
	int directions = mass->directions;
	double w[lmbCoreMaxDofs], z[lmbCoreMaxDofs], turned[lmbCoreMaxDofs] = { 0 }, moved[lmbCoreMaxDofs];
	memset( out, 0, (size_t)n * sizeof( *out ) );
	LowerTransposed( n, mass->factor, v, w );
	for ( int t = 0; t < directions; ++t )
	{
		const int32_t *k = model->directions + t * n;
		double speed = 0.0, gradient = 0.0;
		LowerTransposed( n, mass->slopes[t], v, z );
		Lower( n, mass->slopes[t], w, moved );
		for ( int j = 0; j < n; ++j )
			speed += k[j] * v[j];
		for ( int j = 0; j < n; ++j )
			gradient += w[j] * z[j];
		for ( int j = 0; j < n; ++j )
		{
			turned[j] += speed * z[j];
			out[j] += speed * moved[j] - k[j] * gradient;
		}
	}
	Lower( n, mass->factor, turned, moved );
	for ( int j = 0; j < n; ++j )
		out[j] += moved[j];
}

static inline void Gravity( lmbCoreWork *work, int n, double *out )
{
	const lmbCoreModel *model = work->model;
	int directions = model->directionCount;
	memset( out, 0, (size_t)n * sizeof( *out ) );
	if ( model->potential.layerCount == 0 || directions == 0 )
		return;
	const float *raw = lmbCoreNet_Run( &model->potential, work, 1 + directions );
	for ( int t = 0; t < directions; ++t )
		for ( int j = 0; j < n; ++j )
			out[j] += model->directions[t * n + j] * (double)raw[( t + 1 ) * model->stride];
}

/* D v = sum of K K^T v. */
static inline void Viscous( lmbCoreWork *work, int n, const double *v, double *out )
{
	const lmbCoreModel *model = work->model;
	double turned[lmbCoreMaxDofs], k[lmbCoreMaxTriangle], part[lmbCoreMaxDofs];
	memset( out, 0, (size_t)n * sizeof( *out ) );
	if ( model->dampingConstant != NULL )
	{
		LowerTransposed( n, model->dampingConstant, v, turned );
		Lower( n, model->dampingConstant, turned, out );
	}
	if ( model->damping.layerCount == 0 )
		return;
	const float *raw = lmbCoreNet_Run( &model->damping, work, 1 );
	for ( int e = 0; e < Row( n ); ++e )
		k[e] = raw[e];
	LowerTransposed( n, k, v, turned );
	Lower( n, k, turned, part );
	for ( int j = 0; j < n; ++j )
		out[j] += part[j];
}

/* G u */
static inline void Drive( lmbCoreWork *work, int n, const double *u, double *out )
{
	const lmbCoreModel *model = work->model;
	int m = model->inputCount;
	for ( int i = 0; i < n; ++i )
	{
		out[i] = model->driveIdentity ? u[i] : 0.0;
		for ( int j = 0; model->driveMatrix != NULL && j < m; ++j )
			out[i] += model->driveMatrix[i * m + j] * u[j];
	}
	if ( model->drive.layerCount == 0 )
		return;
	const float *raw = lmbCoreNet_Run( &model->drive, work, 1 );
	for ( int i = 0; i < n; ++i )
		for ( int j = 0; j < m; ++j )
			out[i] += (double)raw[i * m + j] * u[j];
}

static inline void LagrangianOf( lmbCoreWork *work, int n, const double *v, const double *u, double *a )
{
	Factor mass;
	double bias[lmbCoreMaxDofs], gravity[lmbCoreMaxDofs], viscous[lmbCoreMaxDofs];
	RunMass( work, n, &mass );
	Coriolis( work->model, n, &mass, v, bias );
	Gravity( work, n, gravity );
	Viscous( work, n, v, viscous );
	Drive( work, n, u, a );
	for ( int i = 0; i < n; ++i )
		a[i] -= bias[i] + gravity[i] + viscous[i];
	Solve( n, mass.factor, a );
}

/* The same operations; loops over a number that the compiler knows cost half. */
void lmbCore_Lagrangian( lmbCoreWork *work, const double *v, const double *u, double *a )
{
	int n = lmbCore_Dofs( work->model );
	if ( n == 2 )
	{
		LagrangianOf( work, 2, v, u, a );
		return;
	}
	LagrangianOf( work, n, v, u, a );
}

void lmbCore_Inverse( lmbCoreWork *work, const double *q, const double *v, const double *a,
                      lmbCoreTorques *torques )
{
	const lmbCoreModel *model = work->model;
	int n = lmbCore_Dofs( model );
	const double none[lmbCoreMaxInputs] = { 0 };
	Factor mass;
	double bias[lmbCoreMaxDofs], turned[lmbCoreMaxDofs], whole[lmbCoreMaxDofs];
	memset( torques, 0, sizeof( *torques ) );
	lmbCore_See( work, q, v, none );
	RunMass( work, n, &mass );
	Coriolis( model, n, &mass, v, bias );
	Gravity( work, n, torques->gravity );
	Viscous( work, n, v, torques->viscous );
	LowerTransposed( n, mass.factor, a, turned );
	Lower( n, mass.factor, turned, whole );
	for ( int i = 0; i < n; ++i )
	{
		double diagonal = 0.0;
		for ( int j = 0; j <= i; ++j )
			diagonal += mass.factor[Row( i ) + j] * mass.factor[Row( i ) + j];
		torques->inertial[i] = diagonal * a[i];
		torques->interaction[i] = whole[i] - torques->inertial[i] + bias[i];
		torques->input[i] = whole[i] + bias[i] + torques->gravity[i] + torques->viscous[i];
	}
}
