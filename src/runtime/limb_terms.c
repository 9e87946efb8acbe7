/* Part of what `limber export --c` writes: see limb_core.h. An export defines LMB_CORE_LAGRANGIAN. */
#include "limb_core.h"

#ifndef LMB_CORE_LAGRANGIAN
#define LMB_CORE_LAGRANGIAN 1
#endif

static void Affine( lmbCoreWork *work, const double *v, const double *u, double *a )
{
	const lmbCoreModel *model = work->model;
	int n = lmbCore_Dofs( model ), m = model->inputCount, pairs = n * ( n + 1 ) / 2;
	const float *byInput = lmbCoreNet_Run( &model->acceleration, work, 1 );
	const float *byPair = byInput + n * m, *bySpeed = byPair + n * pairs, *constant = bySpeed + n * n;
	for ( int i = 0; i < n; ++i )
	{
		double sum = constant[i];
		for ( int j = 0; j < m; ++j )
			sum += byInput[i * m + j] * u[j];
		for ( int j = 0, p = 0; j < n; ++j )
			for ( int k = 0; k <= j; ++k, ++p )
				sum += byPair[i * pairs + p] * ( v[j] * v[k] );
		for ( int j = 0; j < n; ++j )
			sum += bySpeed[i * n + j] * v[j];
		a[i] = sum;
	}
}

void lmbCore_Acceleration( lmbCoreWork *work, const double *q, const double *v, const double *u, double *a )
{
	const lmbCoreModel *model = work->model;
	lmbCore_See( work, q, v, u );
#if LMB_CORE_LAGRANGIAN
	if ( model->kind == lmbCoreLagrangian )
	{
		lmbCore_Lagrangian( work, v, u, a );
		return;
	}
#endif
	if ( model->kind == lmbCoreAffine )
	{
		Affine( work, v, u, a );
		return;
	}
	const float *raw = lmbCoreNet_Run( &model->acceleration, work, 1 );
	for ( int i = 0; i < lmbCore_Dofs( model ); ++i )
		a[i] = raw[i];
}
