/* Part of what `limber export --c` writes: see limb_core.h. */
#include "limb_core.h"

#include "kernels/limb_kernels.h"

#include <math.h>

/* Squared error to expect of the data's own region, by how fast and how hard the limb is driven. */
static double Growth( const lmbCoreWork *work )
{
	const lmbCoreModel *model = work->model;
	int n = lmbCore_Dofs( model ), m = model->inputCount;
	const double *x = work->list + lmbCore_Features( model ), *inverse = model->trustGrowth;
	const double *share = inverse + n + m;
	double speed = 0.0, drive = 0.0;
	for ( int i = 0; i < n; ++i )
		speed += ( inverse[i] * x[i] ) * ( inverse[i] * x[i] );
	for ( int j = n; j < n + m; ++j )
		drive += ( inverse[j] * x[j] ) * ( inverse[j] * x[j] );
	return share[0] + share[1] * speed + share[2] * ( speed * speed ) + share[3] * drive;
}

double lmbCore_Trust( lmbCoreWork *work )
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
		square *= sqrt( Growth( work ) );
	double score = sqrt( square ) / model->trustScale;
	return score <= 1e9 ? score : 1e9; /* far out the squares leave the range of float */
}
