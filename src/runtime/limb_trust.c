/* Part of what `limber export --c` writes: see limb_core.h. */
#include "limb_core.h"

#include "kernels/limb_kernels.h"

#include <math.h>

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
	double score = sqrt( (double)lmbKernel_Nearest( d, model->trustCentres, model->trustPlanes, z ) ) /
	               model->trustScale;
	return score <= 1e9 ? score : 1e9; /* far out the squares leave the range of float */
}
