#include "flesh/network.h"

#include "base/math3.h"
#include "flesh/network_parts.h"
#include "flesh/skinning.h"
#include "learn/mlp.h"

#include <stdlib.h>

void lmbNetwork_Free( lmbNetwork *network )
{
	if ( network == NULL )
		return;
	lmbArena_Free( &network->arena );
	free( network );
}

int lmbNetwork_FeatureOffsets( const lmbCharacter *character, int32_t *offsets )
{
	int count = 0;
	for ( int j = 0; j < character->boneCount; ++j )
	{
		if ( offsets != NULL )
			offsets[j] = count;
		count += character->bones[j].parent < 0 ? lmbRootFeatures : lmbJointFeatures;
	}
	if ( offsets != NULL )
		offsets[character->boneCount] = count;
	return count;
}

/* R_root^T (0, -1, 0) - (0, -1, 0). */
static void RootFeatures( const double *quaternion, double *out )
{
	double rotation[9];
	lmbQuat_ToMat33( rotation, quaternion );
	for ( int i = 0; i < 3; ++i )
		out[i] = -rotation[3 + i] + ( i == 1 ? 1.0 : 0.0 );
}

/* R_parent^T R_bone - 1. */
static void JointFeatures( const double *parent, const double *bone, double *out )
{
	double a[9], b[9];
	lmbQuat_ToMat33( a, parent );
	lmbQuat_ToMat33( b, bone );
	lmbMat33_TransposedMultiply( out, a, b );
	for ( int i = 0; i < 3; ++i )
		out[4 * i] -= 1.0;
}

void lmbNetwork_Features( const lmbCharacter *character, const double *bones, double *features )
{
	/* Bone by bone, so that nothing needs allocating; the polar decompositions cost little. */
	for ( int j = 0; j < character->boneCount; ++j )
	{
		double own[4], above[4];
		int parent = character->bones[j].parent;
		lmbSkin_BoneQuaternions( 1, bones + 12 * (size_t)j, own );
		if ( parent < 0 )
		{
			RootFeatures( own, features );
			features += lmbRootFeatures;
			continue;
		}
		lmbSkin_BoneQuaternions( 1, bones + 12 * (size_t)parent, above );
		JointFeatures( above, own, features );
		features += lmbJointFeatures;
	}
}

/* out (outputs) = weights x + bias, weights (outputs x inputs). */
static void Layer( const float *weights, const float *bias, int inputs, int outputs, const double *x,
                   double *out )
{
	for ( int o = 0; o < outputs; ++o )
	{
		double sum = bias[o];
		for ( int i = 0; i < inputs; ++i )
			sum += (double)weights[(size_t)o * inputs + i] * x[i];
		out[o] = sum;
	}
}

static void Perceptron( const lmbRegion *region, const double *inputs, double *coefficients )
{
	double hidden[2][lmbHiddenMax], out[lmbCoefficientsMax];
	const double *x = inputs;
	int width = region->featureCount;
	for ( int l = 0; l < region->layerCount - 1; ++l )
	{
		double *y = hidden[l & 1];
		Layer( region->layerWeights[l], region->layerBias[l], width, region->hiddenCount, x, y );
		lmbTanh_Array( y, (size_t)region->hiddenCount );
		x = y;
		width = region->hiddenCount;
	}
	int last = region->layerCount - 1;
	Layer( region->layerWeights[last], region->layerBias[last], width, region->coefficientCount, x, out );
	for ( int k = 0; k < region->coefficientCount; ++k )
		coefficients[k] += out[k];
}

void lmbRegion_Coefficients( const lmbRegion *region, const double *features, double *coefficients )
{
	double inputs[lmbRegionFeaturesMax];
	int count = region->featureCount;
	for ( int i = 0; i < count; ++i )
		inputs[i] = features[region->features[i]];
	for ( int k = 0; k < region->coefficientCount; ++k )
	{
		const float *row = region->linear + (size_t)k * (size_t)( count + 1 );
		coefficients[k] = row[count];
		for ( int i = 0; i < count; ++i )
			coefficients[k] += (double)row[i] * inputs[i];
	}
	if ( region->layerCount == 0 )
		return;
	for ( int i = 0; i < count; ++i )
		inputs[i] = ( inputs[i] - (double)region->featureMean[i] ) * (double)region->featureScale[i];
	Perceptron( region, inputs, coefficients );
}

void lmbNetwork_Coefficients( const lmbNetwork *network, const double *features, double *coefficients )
{
	for ( int r = 0; r < network->regionCount; ++r )
	{
		lmbRegion_Coefficients( &network->regions[r], features, coefficients );
		coefficients += network->regions[r].coefficientCount;
	}
}

void lmbNetwork_Displacement( const lmbNetwork *network, const double *coefficients, double *displacement )
{
	memset( displacement, 0, 3 * (size_t)network->vertexCount * sizeof( double ) );
	for ( int r = 0; r < network->regionCount; ++r )
	{
		const lmbRegion *region = &network->regions[r];
		for ( int k = 0; k < region->coefficientCount; ++k )
		{
			const float *basis = region->basis + 3 * (size_t)k * (size_t)region->vertexCount;
			for ( int v = 0; v < region->vertexCount; ++v )
				for ( int i = 0; i < 3; ++i )
					displacement[3 * (size_t)region->vertices[v] + i] +=
					    coefficients[k] * (double)basis[3 * v + i];
		}
		coefficients += region->coefficientCount;
	}
}
