/* Part of what `limber export --c` writes: see limb_core.h. */
#include "limb_core.h"

#include "kernels/limb_kernels.h"

#include <math.h>

/* Squared error to expect of the data's own region, by how fast the limb moves, how hard it is driven
 * and how much that changes its speed. */
static double Growth( const lmbCoreWork *work, const double *a )
{
	const lmbCoreModel *model = work->model;
	int n = lmbCore_Dofs( model ), m = model->inputCount;
	const double *x = work->list + lmbCore_Features( model ), *inverse = model->trustGrowth;
	const double *share = inverse + 2 * n + m;
	double speed = 0.0, drive = 0.0, change = 0.0;
	for ( int i = 0; i < n; ++i )
		speed += ( inverse[i] * x[i] ) * ( inverse[i] * x[i] );
	for ( int j = n; j < n + m; ++j )
		drive += ( inverse[j] * x[j] ) * ( inverse[j] * x[j] );
	inverse += n + m;
	for ( int i = 0; i < n && a != 0; ++i )
		change += ( inverse[i] * a[i] ) * ( inverse[i] * a[i] );
	double growth = share[0] + share[1] * speed + share[2] * ( speed * speed ) + share[3] * drive;
	growth = growth + share[4] * change;
	return growth <= 1e300 ? growth : 1e300; /* also for what is not a number */
}

double lmbCore_Trust( lmbCoreWork *work, const double *a )
{
	const lmbCoreModel *model = work->model;
	int d = model->trustDimensions;
	double off[lmbCoreMaxTrust];
	float z[lmbCoreMaxTrust];
	for ( int i = 0; i < d; ++i )
		off[i] = work->list[model->trustInputs[i]] - model->trustMean[i];
	for ( int i = 0; i < d; ++i )
	{
		const double *row = model->trustWhiten + i * d;
		double sum = 0.0;
		for ( int j = 0; j < d; ++j )
			sum += row[j] * off[j];
		z[i] = (float)sum;
	}
	double square = (double)lmbKernel_Nearest( d, model->trustCentres, model->trustPlanes, z );
	if ( model->trustGrowth != 0 )
		square *= sqrt( Growth( work, a ) );
	double score = sqrt( square ) / model->trustScale;
	return score <= 1e9 ? score : 1e9; /* far out the squares leave the range of float */
}
