#include "kernels.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

void lmbKernel_Dense( int inputs, int outputs, const float *restrict weights, const float *restrict bias,
                      const float *restrict x, float *restrict y )
{
	for ( int tile = 0; tile < outputs; tile += lmbTile )
	{
		float sum[lmbTile];
		for ( int o = 0; o < lmbTile; ++o )
			sum[o] = bias != NULL ? bias[tile + o] : 0.0f;
		for ( int i = 0; i < inputs; ++i )
			for ( int o = 0; o < lmbTile; ++o )
				sum[o] += x[i] * weights[(size_t)i * outputs + tile + o];
		for ( int o = 0; o < lmbTile; ++o )
			y[tile + o] = sum[o];
	}
}

void lmbKernel_Shapes( int count, const float *restrict shapes, const float *restrict amounts,
                       float *restrict out )
{
	float sum[lmbTile] = { 0 };
	for ( int i = 0; i < count; ++i )
		for ( int l = 0; l < lmbTile; ++l )
			sum[l] += amounts[i] * shapes[i * lmbTile + l];
	for ( int l = 0; l < lmbTile; ++l )
		out[l] = sum[l];
}

void lmbKernel_Shapes3( int count, const float *restrict shapes, const float *const amounts[3],
                        float *const out[3] )
{
	const float *restrict a = amounts[0], *restrict b = amounts[1], *restrict c = amounts[2];
	for ( int half = 0; half < lmbTile; half += lmbTile / 2 )
	{
		float sa[lmbTile / 2] = { 0 }, sb[lmbTile / 2] = { 0 }, sc[lmbTile / 2] = { 0 };
		for ( int i = 0; i < count; ++i )
			for ( int l = 0; l < lmbTile / 2; ++l )
			{
				float shape = shapes[i * lmbTile + half + l];
				sa[l] += a[i] * shape;
				sb[l] += b[i] * shape;
				sc[l] += c[i] * shape;
			}
		for ( int l = 0; l < lmbTile / 2; ++l )
		{
			out[0][half + l] = sa[l];
			out[1][half + l] = sb[l];
			out[2][half + l] = sc[l];
		}
	}
}

void lmbKernel_Blend( const float *restrict palette, const uint16_t *restrict bones,
                      const float *restrict weights, int influenceCount, int used, lmbBlend *restrict blend )
{
	float lanes[lmbTile][lmbBoneFloats];
	for ( int tile = 0; tile < lmbLanes; tile += lmbTile )
	{
		for ( int l = 0; l < lmbTile; ++l )
		{
			const uint16_t *bone = bones + ( tile + l ) * influenceCount;
			const float *weight = weights + ( tile + l ) * influenceCount;
			const float *first = palette + (size_t)bone[0] * lmbBoneFloats;
			float sum[lmbBoneFloats];
			for ( int e = 0; e < lmbBoneFloats; ++e )
				sum[e] = weight[0] * first[e];
			for ( int k = 1; k < used; ++k )
			{
				const float *other = palette + (size_t)bone[k] * lmbBoneFloats;
				float same = first[12] * other[12] + first[13] * other[13] + first[14] * other[14] +
				             first[15] * other[15];
				float turned = same < 0.0f ? -weight[k] : weight[k];
				for ( int e = 0; e < 12; ++e )
					sum[e] += weight[k] * other[e];
				for ( int e = 12; e < lmbBoneFloats; ++e )
					sum[e] += turned * other[e];
			}
			memcpy( lanes[l], sum, sizeof( sum ) );
		}
		for ( int e = 0; e < lmbBoneFloats; ++e )
			for ( int l = 0; l < lmbTile; ++l )
				blend->entry[e][tile + l] = lanes[l][e];
	}
}

void lmbKernel_Points( const lmbBlend *restrict blend, const float *restrict rest, float *restrict out )
{
	const float *x = rest, *y = rest + lmbLanes, *z = rest + 2 * lmbLanes;
	for ( int row = 0; row < 3; ++row )
	{
		const float( *m )[lmbLanes] = blend->entry + 4 * row;
		for ( int l = 0; l < lmbLanes; ++l )
			out[row * lmbLanes + l] = m[0][l] * x[l] + m[1][l] * y[l] + m[2][l] * z[l] + m[3][l];
	}
}

/* The sum has at least the heaviest bone's weight in that bone's direction, so its length is not zero; a
 * padding lane has bone 0 with weight 1. */
void lmbKernel_Normalize( lmbBlend *restrict blend )
{
	float *x = blend->entry[12], *y = blend->entry[13], *z = blend->entry[14], *w = blend->entry[15];
	for ( int l = 0; l < lmbLanes; ++l )
	{
		float scale = 1.0f / sqrtf( x[l] * x[l] + y[l] * y[l] + z[l] * z[l] + w[l] * w[l] );
		x[l] *= scale;
		y[l] *= scale;
		z[l] *= scale;
		w[l] *= scale;
	}
}

/* v + 2 w (q x v) + 2 q x (q x v) */
void lmbKernel_Rotate( const float *restrict q, const float *restrict in, float *restrict out )
{
	for ( int l = 0; l < lmbLanes; ++l )
	{
		float x = q[l], y = q[lmbLanes + l], z = q[2 * lmbLanes + l], w = q[3 * lmbLanes + l];
		float vx = in[l], vy = in[lmbLanes + l], vz = in[2 * lmbLanes + l];
		float tx = 2.0f * ( y * vz - z * vy ), ty = 2.0f * ( z * vx - x * vz ),
		      tz = 2.0f * ( x * vy - y * vx );
		out[l] = vx + w * tx + ( y * tz - z * ty );
		out[lmbLanes + l] = vy + w * ty + ( z * tx - x * tz );
		out[2 * lmbLanes + l] = vz + w * tz + ( x * ty - y * tx );
	}
}

void lmbKernel_Turn( const float *restrict m, const float *restrict in, float *restrict out )
{
	for ( int row = 0; row < 3; ++row )
		for ( int l = 0; l < lmbLanes; ++l )
			out[row * lmbLanes + l] = m[3 * row] * in[l] + m[3 * row + 1] * in[lmbLanes + l] +
			                          m[3 * row + 2] * in[2 * lmbLanes + l];
}

void lmbKernel_Normals( int vertexCount, int triangleCount, const int32_t *restrict triangles,
                        const int32_t *restrict group, const float *restrict positions,
                        float *restrict normals )
{
	memset( normals, 0, (size_t)vertexCount * 3 * sizeof( float ) );
	for ( int t = 0; t < triangleCount; ++t )
	{
		const int32_t *corner = triangles + 3 * (size_t)t;
		const float *a = positions + 3 * (size_t)corner[0], *b = positions + 3 * (size_t)corner[1],
		            *c = positions + 3 * (size_t)corner[2];
		float ex = b[0] - a[0], ey = b[1] - a[1], ez = b[2] - a[2];
		float fx = c[0] - a[0], fy = c[1] - a[1], fz = c[2] - a[2];
		float nx = ey * fz - ez * fy, ny = ez * fx - ex * fz, nz = ex * fy - ey * fx;
		for ( int k = 0; k < 3; ++k )
		{
			float *sum = normals + 3 * (size_t)group[corner[k]];
			sum[0] += nx;
			sum[1] += ny;
			sum[2] += nz;
		}
	}
	for ( int v = 0; v < vertexCount; ++v )
	{
		float *n = normals + 3 * (size_t)v;
		float length = sqrtf( n[0] * n[0] + n[1] * n[1] + n[2] * n[2] );
		bool sound = length > 1e-30f && length < 1e30f; /* else the squares have left the range of float */
		float scale = sound ? 1.0f / length : 0.0f;
		n[0] *= scale;
		n[1] = sound ? n[1] * scale : 1.0f;
		n[2] *= scale;
	}
	for ( int v = 0; v < vertexCount; ++v )
		if ( group[v] != v )
			memcpy( normals + 3 * (size_t)v, normals + 3 * (size_t)group[v], 3 * sizeof( float ) );
}
