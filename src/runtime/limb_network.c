/* Part of what `limber export --c` writes: see limb_core.h. */
#include "limb_core.h"

#include "functions.h"
#include "kernels/limb_kernels.h"
#ifndef LMB_CORE_EXPORT
#include "kernels/limb_wide.h"
#endif

#include <math.h>
#include <string.h>

/* e^x for x <= 0, within 2 units in the last place; below -708 that of -708. As lmbExp, but summed in pairs,
 * which a processor works on at once: lmbExp takes longer than all the rest of a mass matrix of two. */
static double QuickExp( double x )
{
	const double ln2High = 0x1.62e42feep-1, ln2Low = 0x1.a39ef35793c76p-33;
	x = x > -708.0 ? x : -708.0;
	double n = floor( x * 1.4426950408889634 + 0.5 );
	double r = ( x - n * ln2High ) - n * ln2Low;
	double r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
	double t0 = ( 1.0 + r ) + r2 * ( 0.5 + r * ( 1.0 / 6.0 ) );
	double t4 = ( 1.0 / 24.0 + r * ( 1.0 / 120.0 ) ) + r2 * ( 1.0 / 720.0 + r * ( 1.0 / 5040.0 ) );
	double t8 =
	    ( 1.0 / 40320.0 + r * ( 1.0 / 362880.0 ) ) + r2 * ( 1.0 / 3628800.0 + r * ( 1.0 / 39916800.0 ) );
	double t12 = 1.0 / 479001600.0 + r * ( 1.0 / 6227020800.0 );
	uint64_t bits = (uint64_t)( (int)n + 1023 ) << 52;
	double power;
	memcpy( &power, &bits, sizeof( power ) );
	return ( ( t0 + r4 * t4 ) + r8 * ( t8 + r4 * t12 ) ) * power;
}

/* log(1 + e^x) = max(x, 0) + log(1 + e), e = e^-|x|; log(1 + e) = 2 artanh s, s = e / (2 + e) <= 1/3, by its
 * series; the first term left out is below 2e-18 of the sum. */
double lmbSoftplus( double x, double *slope )
{
	double e = QuickExp( -fabs( x ) );
	double s = e / ( 2.0 + e ), z = s * s;
	double z2 = z * z, z4 = z2 * z2, z8 = z4 * z4;
	double t0 = ( 1.0 + z * ( 1.0 / 3.0 ) ) + z2 * ( 1.0 / 5.0 + z * ( 1.0 / 7.0 ) );
	double t4 = ( 1.0 / 9.0 + z * ( 1.0 / 11.0 ) ) + z2 * ( 1.0 / 13.0 + z * ( 1.0 / 15.0 ) );
	double t8 = ( 1.0 / 17.0 + z * ( 1.0 / 19.0 ) ) + z2 * ( 1.0 / 21.0 + z * ( 1.0 / 23.0 ) );
	double t12 = ( 1.0 / 25.0 + z * ( 1.0 / 27.0 ) ) + z2 * ( 1.0 / 29.0 + z * ( 1.0 / 31.0 ) );
	double series = ( t0 + z4 * t4 ) + z8 * ( ( t8 + z4 * t12 ) + z8 * ( 1.0 / 33.0 ) );
	*slope = ( x < 0.0 ? e : 1.0 ) / ( 1.0 + e );
	return ( x > 0.0 ? x : 0.0 ) + 2.0 * s * series;
}

/* Sine and cosine with an absolute error below 3e-16 for phases up to 1e5 rad (Cody and Waite's reduction
 * in three parts, Taylor in pairs), in a third of the time of lmbSinCos, which keeps every relative digit and
 * takes over beyond. Networks see them rounded to float. */
void lmbPhase_SinCos( double x, double *sine, double *cosine )
{
	const double part1 = 0x1.921fb544p+0, part2 = 0x1.0b4611a6p-34, part3 = 0x1.3198a2e037073p-69;
	if ( !( fabs( x ) <= 1e5 ) )
	{
		lmbSinCos( ( lmbTwofold ){ x, 0.0 }, sine, cosine );
		return;
	}
	double n = floor( x * 0.6366197723675814 + 0.5 );
	double r = ( ( x - n * part1 ) - n * part2 ) - n * part3;
	double z = r * r, z2 = z * z, z4 = z2 * z2;
	double s = ( -1.0 / 6.0 + z * ( 1.0 / 120.0 ) ) + z2 * ( -1.0 / 5040.0 + z * ( 1.0 / 362880.0 ) );
	s += z4 * ( ( -1.0 / 39916800.0 + z * ( 1.0 / 6227020800.0 ) ) + z2 * ( -1.0 / 1307674368000.0 ) );
	double c = ( 1.0 / 24.0 + z * ( -1.0 / 720.0 ) ) + z2 * ( 1.0 / 40320.0 + z * ( -1.0 / 3628800.0 ) );
	c += z4 * ( ( 1.0 / 479001600.0 + z * ( -1.0 / 87178291200.0 ) ) + z2 * ( 1.0 / 20922789888000.0 ) );
	s = r + r * z * s;
	c = ( 1.0 - 0.5 * z ) + z2 * c;
	int quadrant = (int)n & 3;
	double first = ( quadrant & 1 ) != 0 ? c : s, second = ( quadrant & 1 ) != 0 ? s : c;
	*sine = ( quadrant & 2 ) != 0 ? -first : first;
	*cosine = quadrant == 1 || quadrant == 2 ? -second : second;
}

void lmbCore_See( lmbCoreWork *work, const double *q, const double *v, const double *u )
{
	const lmbCoreModel *model = work->model;
	int n = lmbCore_Dofs( model ), count = lmbCore_Features( model );
	double phases[lmbCoreMaxFeatures], sines[lmbCoreMaxFeatures], cosines[lmbCoreMaxFeatures];
	for ( int p = 0; p < model->phaseCount; ++p )
	{
		const int32_t *k = model->phases + p * n;
		double sum = 0.0;
		for ( int j = 0; j < n; ++j )
			sum += k[j] * q[j];
		phases[p] = sum;
		if ( model->phaseTurns[p] != 0 )
			lmbPhase_SinCos( sum, &sines[p], &cosines[p] );
	}
	for ( int f = 0; f < count; ++f )
	{
		int p = model->featurePhases[f], kind = model->featureKinds[f];
		double scale = model->featureScales[f];
		work->list[f] = kind == 0   ? sines[p]
		                : kind == 1 ? cosines[p]
		                            : ( phases[p] - model->featureShifts[f] ) * scale;
		work->slopes[f] = kind == 0 ? cosines[p] : kind == 1 ? -sines[p] : scale;
	}
	for ( int j = 0; j < n; ++j )
		work->list[count + j] = v[j];
	for ( int j = 0; j < model->inputCount; ++j )
		work->list[count + n + j] = u[j];
}

static void RunHidden( const lmbCoreWork *work, int inputs, int outputs, const float *weights,
                       const float *bias, int jets, const float *x, float *y )
{
#ifndef LMB_CORE_EXPORT
	if ( work->wide )
	{
		lmbWide_Hidden( inputs, outputs, weights, bias, jets, x, y, work->model->stride );
		return;
	}
#endif
	lmbKernel_Hidden( inputs, outputs, 0, weights, bias, jets, x, y, work->model->stride );
}

const float *lmbCoreNet_RunLayers( const lmbCoreNet *net, lmbCoreWork *work, int jets )
{
	int stride = work->model->stride, last = net->layerCount - 1;
	float *from = work->layers[0], *to = work->layers[1];
	for ( int layer = 0; layer < last; ++layer )
	{
		int outputs = lmbCore_Pad( net->sizes[layer + 1] );
		RunHidden( work, net->sizes[layer], outputs, net->weights[layer], net->biases[layer], jets, from,
		           to );
		float *other = from;
		from = to;
		to = other;
	}
	lmbKernel_Rows( lmbCore_Pad( net->sizes[last] ), net->sizes[last + 1], net->weights[last],
	                net->biases[last], jets, from, to, stride );
	return to;
}

const float *lmbCoreNet_Run( const lmbCoreNet *net, lmbCoreWork *work, int jets )
{
	const lmbCoreModel *model = work->model;
	float *at = work->layers[0];
	int count = net->sizes[0], padded = lmbCore_Pad( count );
	for ( int jet = 0; jet < jets; ++jet, at += model->stride )
	{
		for ( int i = 0; i < count; ++i )
		{
			int f = net->inputs[i];
			at[i] = (float)( jet == 0 ? work->list[f]
			                          : work->slopes[f] *
			                                model->featureDirections[f * model->directionCount + jet - 1] );
		}
		for ( int i = count; i < padded; ++i )
			at[i] = 0.0f;
	}
	return lmbCoreNet_RunLayers( net, work, jets );
}
