#include "limb_wide.h"

#include "limb_kernels.h"

#if LMB_WIDE_KERNELS

#include <cpuid.h>

#define WIDE __attribute__( ( target( "avx2" ) ) )

typedef float Eight __attribute__( ( vector_size( 32 ), aligned( 4 ), may_alias ) );
typedef int EightMask __attribute__( ( vector_size( 32 ) ) );

bool lmbWide_Works( void )
{
	unsigned a, b, c, d, low, high;
	const unsigned systemSaves = 1u << 27, avx = 1u << 28, avx2 = 1u << 5;
	if ( __get_cpuid( 1, &a, &b, &c, &d ) == 0 || ( c & systemSaves ) == 0 || ( c & avx ) == 0 )
		return false;
	__asm__( "xgetbv" : "=a"( low ), "=d"( high ) : "c"( 0 ) );
	if ( ( low & 6u ) != 6u ) /* the system keeps the registers' lower and upper halves */
		return false;
	return __get_cpuid_count( 7, 0, &a, &b, &c, &d ) != 0 && ( b & avx2 ) != 0;
}

/* As Tanh in limb_kernels.c. */
WIDE static inline Eight Tanh( Eight x )
{
	const Eight most = { 9, 9, 9, 9, 9, 9, 9, 9 };
	EightMask less = (EightMask)( x < most );
	x = (Eight)( ( less & (EightMask)x ) | ( ~less & (EightMask)most ) );
	EightMask more = (EightMask)( x > -most );
	x = (Eight)( ( more & (EightMask)x ) | ( ~more & (EightMask)( -most ) ) );
	Eight z = x * x;
	Eight p = 0x1.59c362p-16f + 0x1.cadcf6p-27f * z, q = 0x1.58861ep-12f + 0x1.a18048p-21f * z;
	p = 0x1.ca2c8p-9f + p * z;
	q = 0x1.a7f7fp-6f + q * z;
	p = 0x1.120b1ep-3f + p * z;
	q = 0x1.de5ad8p-2f + q * z;
	p = 1.0f + p * z;
	q = 1.0f + q * z;
	return x * p / q;
}

/* 32 outputs of the values and one derivative. */
WIDE static void Pair32( int inputs, int outputs, const float *row, const float *bias, const float *x0,
                         const float *x1, float *y0, float *y1 )
{
	const Eight *b = (const Eight *)bias;
	Eight a0 = b[0], a1 = b[1], a2 = b[2], a3 = b[3];
	Eight d0 = { 0 }, d1 = d0, d2 = d0, d3 = d0;
	for ( int i = 0; i < inputs; ++i, row += outputs )
	{
		const Eight *w = (const Eight *)row;
		a0 += x0[i] * w[0];
		a1 += x0[i] * w[1];
		a2 += x0[i] * w[2];
		a3 += x0[i] * w[3];
		d0 += x1[i] * w[0];
		d1 += x1[i] * w[1];
		d2 += x1[i] * w[2];
		d3 += x1[i] * w[3];
	}
	a0 = Tanh( a0 );
	a1 = Tanh( a1 );
	a2 = Tanh( a2 );
	a3 = Tanh( a3 );
	( (Eight *)y0 )[0] = a0;
	( (Eight *)y0 )[1] = a1;
	( (Eight *)y0 )[2] = a2;
	( (Eight *)y0 )[3] = a3;
	( (Eight *)y1 )[0] = d0 * ( 1.0f - a0 * a0 );
	( (Eight *)y1 )[1] = d1 * ( 1.0f - a1 * a1 );
	( (Eight *)y1 )[2] = d2 * ( 1.0f - a2 * a2 );
	( (Eight *)y1 )[3] = d3 * ( 1.0f - a3 * a3 );
}

/* 32 outputs of one jet. bias NULL: of a derivative; the values are in y0 already. */
WIDE static void One32( int inputs, int outputs, const float *row, const float *bias, const float *x,
                        const float *y0, float *y )
{
	Eight sums[4] = { { 0 }, { 0 }, { 0 }, { 0 } };
	for ( int k = 0; bias != 0 && k < 4; ++k )
		sums[k] = ( (const Eight *)bias )[k];
	for ( int i = 0; i < inputs; ++i, row += outputs )
		for ( int k = 0; k < 4; ++k )
			sums[k] += x[i] * ( (const Eight *)row )[k];
	for ( int k = 0; k < 4; ++k )
	{
		if ( bias != 0 )
			sums[k] = Tanh( sums[k] );
		else
		{
			Eight h = ( (const Eight *)y0 )[k];
			sums[k] *= 1.0f - h * h;
		}
		( (Eight *)y )[k] = sums[k];
	}
}

/* The same of 8 outputs. */
WIDE static void One8( int inputs, int outputs, const float *row, const float *bias, const float *x,
                       const float *y0, float *y )
{
	Eight a = { 0 };
	if ( bias != 0 )
		a = *(const Eight *)bias;
	for ( int i = 0; i < inputs; ++i, row += outputs )
		a += x[i] * *(const Eight *)row;
	if ( bias != 0 )
		*(Eight *)y = Tanh( a );
	else
	{
		Eight h = *(const Eight *)y0;
		*(Eight *)y = a * ( 1.0f - h * h );
	}
}

void lmbWide_Hidden( int inputs, int outputs, const float *weights, const float *bias, int jets,
                     const float *x, float *y, int stride )
{
	int tile = 0;
	for ( ; jets == 2 && tile + 32 <= outputs; tile += 32 )
		Pair32( inputs, outputs, weights + tile, bias + tile, x, x + stride, y + tile, y + stride + tile );
	for ( ; tile + 32 <= outputs; tile += 32 )
		for ( int jet = 0; jet < jets; ++jet )
			One32( inputs, outputs, weights + tile, jet == 0 ? bias + tile : 0, x + jet * stride, y + tile,
			       y + jet * stride + tile );
	for ( ; tile + 8 <= outputs; tile += 8 )
		for ( int jet = 0; jet < jets; ++jet )
			One8( inputs, outputs, weights + tile, jet == 0 ? bias + tile : 0, x + jet * stride, y + tile,
			      y + jet * stride + tile );
	if ( tile < outputs )
		lmbKernel_Hidden( inputs, outputs, tile, weights, bias, jets, x, y, stride );
}

#else

bool lmbWide_Works( void )
{
	return false;
}

void lmbWide_Hidden( int inputs, int outputs, const float *weights, const float *bias, int jets,
                     const float *x, float *y, int stride )
{
	lmbKernel_Hidden( inputs, outputs, 0, weights, bias, jets, x, y, stride );
}

#endif
