/* The puppet's skeleton and its skin weights. */
#include "puppet.h"

#include "base/math3.h"

const PuppetBone puppetBones[puppetBoneCount] = {
    { "pelvis", -1, puppetPelvis, { 0, 0.740, -0.010 }, { 0, 0.720, -0.010, 0, 0.860, -0.010 } },
    { "spine", puppetPelvis, puppetSpine, { 0, 0.870, -0.015 }, { 0, 0.860, -0.015, 0, 1.040, -0.020 } },
    { "chest", puppetSpine, puppetChest, { 0, 1.050, -0.022 }, { 0, 1.050, -0.022, 0, 1.240, -0.020 } },
    { "head", puppetChest, puppetHead, { 0, 1.275, -0.010 }, { 0, 1.290, -0.008, 0, 1.500, 0.020 } },
    { "upper_arm.L",
      puppetChest,
      puppetUpperArmRight,
      { 0.190, 1.190, -0.022 },
      { 0.200, 1.187, -0.022, 0.415, 1.087, -0.022 } },
    { "lower_arm.L",
      puppetUpperArmLeft,
      puppetLowerArmRight,
      { 0.415, 1.087, -0.022 },
      { 0.415, 1.087, -0.022, 0.690, 0.960, -0.010 } },
    { "upper_arm.R",
      puppetChest,
      puppetUpperArmLeft,
      { -0.190, 1.190, -0.022 },
      { -0.200, 1.187, -0.022, -0.415, 1.087, -0.022 } },
    { "lower_arm.R",
      puppetUpperArmRight,
      puppetLowerArmLeft,
      { -0.415, 1.087, -0.022 },
      { -0.415, 1.087, -0.022, -0.690, 0.960, -0.010 } },
    { "upper_leg.L",
      puppetPelvis,
      puppetUpperLegRight,
      { 0.125, 0.720, 0.000 },
      { 0.136, 0.680, 0.000, 0.200, 0.410, 0.010 } },
    { "lower_leg.L",
      puppetUpperLegLeft,
      puppetLowerLegRight,
      { 0.200, 0.410, 0.010 },
      { 0.200, 0.410, 0.010, 0.245, 0.110, -0.005 } },
    { "foot.L",
      puppetLowerLegLeft,
      puppetFootRight,
      { 0.246, 0.095, -0.008 },
      { 0.248, 0.070, -0.010, 0.262, 0.058, 0.120 } },
    { "upper_leg.R",
      puppetPelvis,
      puppetUpperLegLeft,
      { -0.125, 0.720, 0.000 },
      { -0.136, 0.680, 0.000, -0.200, 0.410, 0.010 } },
    { "lower_leg.R",
      puppetUpperLegRight,
      puppetLowerLegLeft,
      { -0.200, 0.410, 0.010 },
      { -0.200, 0.410, 0.010, -0.245, 0.110, -0.005 } },
    { "foot.R",
      puppetLowerLegRight,
      puppetFootLeft,
      { -0.246, 0.095, -0.008 },
      { -0.248, 0.070, -0.010, -0.262, 0.058, 0.120 } },
};

static double SegmentDistance( const double *segment, const double *point )
{
	double axis[3], offset[3];
	lmbSub( axis, segment + 3, segment );
	lmbSub( offset, point, segment );
	double t = fmin( 1.0, fmax( 0.0, lmbDot( offset, axis ) / lmbDot( axis, axis ) ) );
	lmbAddScaled( offset, offset, -t, axis );
	return lmbLength( offset );
}

static const uint8_t boneRegions[puppetBoneCount] = {
    [puppetPelvis] = 1 << puppetTrunk,
    [puppetSpine] = 1 << puppetTrunk,
    [puppetChest] = 1 << puppetTrunk | 1 << puppetNeck,
    [puppetHead] = 1 << puppetNeck,
    [puppetUpperArmLeft] = 1 << puppetArm,
    [puppetLowerArmLeft] = 1 << puppetArm,
    [puppetUpperArmRight] = 1 << puppetArm,
    [puppetLowerArmRight] = 1 << puppetArm,
    [puppetUpperLegLeft] = 1 << puppetLeg,
    [puppetLowerLegLeft] = 1 << puppetLeg,
    [puppetFootLeft] = 1 << puppetLeg,
    [puppetUpperLegRight] = 1 << puppetLeg,
    [puppetLowerLegRight] = 1 << puppetLeg,
    [puppetFootRight] = 1 << puppetLeg,
};

/* Heat source of a place: the nearest bone of its region. Of all bones it would not do: the front of the
 * belly is nearer to the thighs than to the spine. */
static int NearestBone( const double *point, int region, double *distance )
{
	int nearest = -1;
	for ( int bone = 0; bone < puppetBoneCount; ++bone )
	{
		double d = SegmentDistance( puppetBones[bone].segment, point );
		if ( ( boneRegions[bone] >> region & 1 ) && ( nearest < 0 || d < *distance ) )
		{
			*distance = d;
			nearest = bone;
		}
	}
	return nearest;
}

typedef struct HeatSystem
{
	double *neighbourSum; /* (vertexCount x (puppetBoneCount + 1)) and the number of neighbours */
	double *conductance;  /* (vertexCount) 1/m^2, of the Laplacian's diagonal: 4 / mean squared edge */
	double *supply;       /* (vertexCount) 1/m^2, 1 / distance^2 */
	int32_t *nearest;     /* (vertexCount) */
} HeatSystem;

static lmbStatus MakeHeatSystem( lmbArena *arena, const PuppetMesh *mesh, HeatSystem *heat, lmbError *error )
{
	heat->neighbourSum = LMB_NEW( arena, double, ( puppetBoneCount + 1 ) * mesh->vertexCount );
	heat->conductance = LMB_NEW( arena, double, mesh->vertexCount );
	heat->supply = LMB_NEW( arena, double, mesh->vertexCount );
	heat->nearest = LMB_NEW( arena, int32_t, mesh->vertexCount );
	double *degree = LMB_NEW( arena, double, mesh->vertexCount );
	if ( heat->neighbourSum == NULL || heat->conductance == NULL || heat->supply == NULL ||
	     heat->nearest == NULL || degree == NULL )
		return lmbError_Memory( error );
	for ( int t = 0; t < mesh->triangleCount; ++t )
		for ( int k = 0; k < 3; ++k )
		{
			int v = mesh->triangles[3 * t + k], next = mesh->triangles[3 * t + ( k + 1 ) % 3];
			double edge[3];
			lmbSub( edge, mesh->positions + 3 * v, mesh->positions + 3 * next );
			heat->conductance[v] += lmbDot( edge, edge );
			degree[v] += 1.0;
		}
	for ( int v = 0; v < mesh->vertexCount; ++v )
	{
		double distance = 1.0;
		heat->conductance[v] = 4.0 * degree[v] / heat->conductance[v];
		heat->nearest[v] = NearestBone( mesh->positions + 3 * v, mesh->regions[v], &distance );
		heat->supply[v] = 1.0 / ( distance * distance );
	}
	return lmb_statusOk;
}

/* One Jacobi sweep of (conductance + supply) w = conductance * mean of neighbours + supply * nearest,
 * on the half; the other half is its mirror image. */
static void Sweep( const HeatSystem *heat, PuppetMesh *mesh )
{
	enum
	{
		stride = puppetBoneCount + 1
	};
	memset( heat->neighbourSum, 0, stride * (size_t)mesh->vertexCount * sizeof( double ) );
	for ( int t = 0; t < mesh->triangleCount; ++t )
		for ( int k = 0; k < 3; ++k )
		{
			double *sum = heat->neighbourSum + stride * mesh->triangles[3 * t + k];
			const double *weights = mesh->weights + puppetBoneCount * mesh->triangles[3 * t + ( k + 1 ) % 3];
			for ( int bone = 0; bone < puppetBoneCount; ++bone )
				sum[bone] += weights[bone];
			sum[puppetBoneCount] += 1.0;
		}
	for ( int v = 0; v < mesh->halfCount; ++v )
	{
		const double *sum = heat->neighbourSum + stride * v;
		double total = heat->conductance[v] + heat->supply[v];
		for ( int bone = 0; bone < puppetBoneCount; ++bone )
		{
			double source = bone == heat->nearest[v] ? heat->supply[v] : 0.0;
			mesh->weights[puppetBoneCount * v + bone] =
			    ( heat->conductance[v] * sum[bone] / sum[puppetBoneCount] + source ) / total;
		}
	}
}

/* Keeps the four heaviest bones. Weights fade to zero at the size of the fifth, so that a bone that
 * drops out of the four does so without a step. */
static void KeepFour( double *weights )
{
	double sorted[puppetBoneCount], total = 0.0;
	memcpy( sorted, weights, sizeof( sorted ) );
	for ( int i = 0; i <= puppetInfluenceCount; ++i )
		for ( int j = i + 1; j < puppetBoneCount; ++j )
			if ( sorted[j] > sorted[i] )
			{
				double swap = sorted[i];
				sorted[i] = sorted[j];
				sorted[j] = swap;
			}
	double floor = fmax( sorted[puppetInfluenceCount], 0.004 );
	for ( int bone = 0; bone < puppetBoneCount; ++bone )
	{
		weights[bone] = fmax( 0.0, weights[bone] - floor );
		total += weights[bone];
	}
	for ( int bone = 0; bone < puppetBoneCount; ++bone )
		weights[bone] /= total;
}

static void MirrorWeights( PuppetMesh *mesh )
{
	for ( int v = 0; v < mesh->halfCount; ++v )
	{
		double *weights = mesh->weights + puppetBoneCount * v;
		double *mirrored = mesh->weights + puppetBoneCount * mesh->mirror[v];
		for ( int bone = 0; bone < puppetBoneCount; ++bone )
		{
			int other = puppetBones[bone].mirror;
			if ( mesh->mirror[v] != v )
				mirrored[other] = weights[bone];
			else if ( other > bone ) /* in the middle both sides weigh the same */
				weights[bone] = weights[other] = 0.5 * ( weights[bone] + weights[other] );
		}
	}
}

lmbStatus PuppetMesh_AddWeights( lmbArena *arena, PuppetMesh *mesh, lmbError *error )
{
	/* The slowest error of Jacobi falls by about 1 - supply / conductance = 0.98 a sweep. */
	const int sweeps = 1200;
	HeatSystem heat;
	LMB_TRY( MakeHeatSystem( arena, mesh, &heat, error ) );
	mesh->weights = LMB_NEW( arena, double, puppetBoneCount * mesh->vertexCount );
	if ( mesh->weights == NULL )
		return lmbError_Memory( error );
	for ( int v = 0; v < mesh->vertexCount; ++v )
		mesh->weights[puppetBoneCount * v + heat.nearest[v]] = 1.0;
	for ( int sweep = 0; sweep < sweeps; ++sweep )
	{
		Sweep( &heat, mesh );
		MirrorWeights( mesh );
	}
	for ( int v = 0; v < mesh->halfCount; ++v )
		KeepFour( mesh->weights + puppetBoneCount * v );
	MirrorWeights( mesh );
	return lmb_statusOk;
}
