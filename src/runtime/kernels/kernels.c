#include "kernels.h"

#include "four.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

void lmbKernel_Dense( int inputs, int outputs, const float *restrict weights, const float *restrict bias,
                      const float *restrict x, float *restrict y )
{
	static const float zeros[lmbTile];
	for ( int tile = 0; tile < outputs; tile += lmbTile )
	{
		const float *first = bias != NULL ? bias + tile : zeros;
		const float *row = weights + tile;
		lmbFour a = lmbFour_Load( first ), b = lmbFour_Load( first + 4 );
		lmbFour c = lmbFour_Load( first + 8 ), d = lmbFour_Load( first + 12 );
		for ( int i = 0; i < inputs; ++i, row += outputs )
		{
			a = lmbFour_AddScaled( a, x[i], lmbFour_Load( row ) );
			b = lmbFour_AddScaled( b, x[i], lmbFour_Load( row + 4 ) );
			c = lmbFour_AddScaled( c, x[i], lmbFour_Load( row + 8 ) );
			d = lmbFour_AddScaled( d, x[i], lmbFour_Load( row + 12 ) );
		}
		lmbFour_Store( y + tile, a );
		lmbFour_Store( y + tile + 4, b );
		lmbFour_Store( y + tile + 8, c );
		lmbFour_Store( y + tile + 12, d );
	}
}

void lmbKernel_Shapes( int count, const float *restrict shapes, const float *restrict amounts,
                       float *restrict out )
{
	lmbKernel_Dense( count, lmbTile, shapes, NULL, amounts, out );
}

void lmbKernel_Shapes3( int count, const float *restrict shapes, const float *const amounts[3],
                        float *const out[3] )
{
	const float *restrict a = amounts[0], *restrict b = amounts[1], *restrict c = amounts[2];
	const lmbFour zero = { 0 };
	for ( int lane = 0; lane < lmbTile; lane += 8 )
	{
		const float *row = shapes + lane;
		lmbFour a0 = zero, a1 = zero, b0 = zero, b1 = zero, c0 = zero, c1 = zero;
		for ( int i = 0; i < count; ++i, row += lmbTile )
		{
			lmbFour first = lmbFour_Load( row ), second = lmbFour_Load( row + 4 );
			a0 = lmbFour_AddScaled( a0, a[i], first );
			a1 = lmbFour_AddScaled( a1, a[i], second );
			b0 = lmbFour_AddScaled( b0, b[i], first );
			b1 = lmbFour_AddScaled( b1, b[i], second );
			c0 = lmbFour_AddScaled( c0, c[i], first );
			c1 = lmbFour_AddScaled( c1, c[i], second );
		}
		lmbFour_Store( out[0] + lane, a0 );
		lmbFour_Store( out[0] + lane + 4, a1 );
		lmbFour_Store( out[1] + lane, b0 );
		lmbFour_Store( out[1] + lane + 4, b1 );
		lmbFour_Store( out[2] + lane, c0 );
		lmbFour_Store( out[2] + lane + 4, c1 );
	}
}

/* value with its sign turned where sign is below zero; no branch, since which way it goes is random. */
static float TurnSign( float value, float sign )
{
	uint32_t bits, mask;
	memcpy( &bits, &value, sizeof( bits ) );
	memcpy( &mask, &sign, sizeof( mask ) );
	bits ^= mask & UINT32_C( 0x80000000 );
	memcpy( &value, &bits, sizeof( value ) );
	return value;
}

/* One vertex; out (lmbBoneFloats). */
static void BlendVertex( const float *palette, const uint16_t *bones, const float *weights, int used,
                         float *out )
{
	const float *first = palette + (size_t)bones[0] * lmbBoneFloats;
	lmbFour x = lmbFour_Scale( weights[0], lmbFour_Load( first ) );
	lmbFour y = lmbFour_Scale( weights[0], lmbFour_Load( first + 4 ) );
	lmbFour z = lmbFour_Scale( weights[0], lmbFour_Load( first + 8 ) );
	lmbFour q = lmbFour_Scale( weights[0], lmbFour_Load( first + 12 ) );
	for ( int k = 1; k < used; ++k )
	{
		const float *other = palette + (size_t)bones[k] * lmbBoneFloats;
		float same =
		    first[12] * other[12] + first[13] * other[13] + first[14] * other[14] + first[15] * other[15];
		x = lmbFour_AddScaled( x, weights[k], lmbFour_Load( other ) );
		y = lmbFour_AddScaled( y, weights[k], lmbFour_Load( other + 4 ) );
		z = lmbFour_AddScaled( z, weights[k], lmbFour_Load( other + 8 ) );
		q = lmbFour_AddScaled( q, TurnSign( weights[k], same ), lmbFour_Load( other + 12 ) );
	}
	lmbFour_Store( out, x );
	lmbFour_Store( out + 4, y );
	lmbFour_Store( out + 8, z );
	lmbFour_Store( out + 12, q );
}

void lmbKernel_Blend( const float *restrict palette, const uint16_t *restrict bones,
                      const float *restrict weights, int influenceCount, int used, lmbBlend *restrict blend )
{
	float lanes[lmbTile][lmbBoneFloats];
	for ( int tile = 0; tile < lmbLanes; tile += lmbTile )
	{
		for ( int l = 0; l < lmbTile; ++l )
			BlendVertex( palette, bones + ( tile + l ) * influenceCount,
			             weights + ( tile + l ) * influenceCount, used, lanes[l] );
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
		float scale = 1.0f / length;
		n[0] = sound ? n[0] * scale : 0.0f;
		n[1] = sound ? n[1] * scale : 1.0f;
		n[2] = sound ? n[2] * scale : 0.0f;
	}
	for ( int v = 0; v < vertexCount; ++v )
		if ( group[v] != v )
			memcpy( normals + 3 * (size_t)v, normals + 3 * (size_t)group[v], 3 * sizeof( float ) );
}
