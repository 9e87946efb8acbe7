#include "kernels.h"

#include <math.h>
#include <string.h>

/* Vectors need what gcc (from 12) and clang have; elsewhere, or with LMB_PLAIN_KERNELS, plain C is all. */
#if defined( __has_builtin ) && !defined( LMB_PLAIN_KERNELS )
#if __has_builtin( __builtin_shufflevector )
#define LMB_VECTORS
#endif
#endif
#if defined( LMB_VECTORS ) && defined( __x86_64__ ) && defined( __SSE2__ )
#define LMB_X86
#include <cpuid.h>
#include <immintrin.h>
#elif defined( LMB_VECTORS ) && defined( __aarch64__ )
#define LMB_ARM
#include <arm_neon.h>
#elif defined( LMB_VECTORS ) && defined( __wasm_simd128__ )
#define LMB_WASM
#include <wasm_simd128.h>
#endif

/* A vector that is stored and read again in parts must not cross a line of the cache. */
#if defined( __GNUC__ )
#define LMB_ALIGNED __attribute__( ( aligned( 64 ) ) )
#else
#define LMB_ALIGNED
#endif

#define LMB_SET plain
#define LMB_WIDTH 1
#include "kernel_set.h"

#if defined( LMB_X86 )
#define LMB_SET sse2
#define LMB_WIDTH 4
#define LMB_ROOT( a ) _mm_sqrt_ps( (__m128)( a ) )
#include "kernel_set.h"
#elif defined( LMB_ARM )
#define LMB_SET neon
#define LMB_WIDTH 4
#define LMB_ROOT( a ) vsqrtq_f32( (float32x4_t)( a ) )
#include "kernel_set.h"
#elif defined( LMB_WASM )
#define LMB_SET wasm
#define LMB_WIDTH 4
#define LMB_ROOT( a ) wasm_f32x4_sqrt( (v128_t)( a ) )
#include "kernel_set.h"
#endif

/* One file for all instruction sets: each set's functions are compiled for theirs. Without fma among the
 * features, which the compiler could use to round once where the others round twice. */
#if defined( LMB_X86 ) && defined( __clang__ )
#define LMB_TARGET( features )                                                                               \
	LMB_PRAGMA( clang attribute push( __attribute__( ( target( features ) ) ), apply_to = function ) )
#define LMB_TARGET_END LMB_PRAGMA( clang attribute pop )
#define LMB_PRAGMA( text ) _Pragma( #text )
#elif defined( LMB_X86 )
#define LMB_TARGET( features ) LMB_PRAGMA( GCC push_options ) LMB_PRAGMA( GCC target( features ) )
#define LMB_TARGET_END LMB_PRAGMA( GCC pop_options )
#define LMB_PRAGMA( text ) _Pragma( #text )
#endif

#if defined( LMB_X86 )
LMB_TARGET( "avx2" )
#define LMB_SET avx2
#define LMB_WIDTH 8
#define LMB_ROOT( a ) _mm256_sqrt_ps( (__m256)( a ) )
#include "kernel_set.h"
LMB_TARGET_END

LMB_TARGET( "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni" )
#define LMB_SET avx512
#define LMB_WIDTH 16
#define LMB_ROOT( a ) _mm512_sqrt_ps( (__m512)( a ) )
#include "kernel_set.h"
LMB_TARGET_END

/* What the operating system saves of the registers when it switches between programs. */
static uint32_t SavedRegisters( void )
{
	uint32_t low, high;
	__asm__( "xgetbv" : "=a"( low ), "=d"( high ) : "c"( 0 ) );
	return low;
}

static bool HasAvx2( void )
{
	uint32_t a, b, c, d;
	if ( !__get_cpuid( 1, &a, &b, &c, &d ) || ( c & bit_OSXSAVE ) == 0 || ( SavedRegisters() & 0x6 ) != 0x6 )
		return false;
	return __get_cpuid_count( 7, 0, &a, &b, &c, &d ) && ( b & bit_AVX2 ) != 0;
}

static bool HasAvx512( void )
{
	uint32_t a, b, c, d;
	const uint32_t needed = bit_AVX512F | bit_AVX512BW | bit_AVX512VL | bit_AVX512DQ;
	return HasAvx2() && ( SavedRegisters() & 0xe6 ) == 0xe6 && __get_cpuid_count( 7, 0, &a, &b, &c, &d ) &&
	       ( b & needed ) == needed && ( c & bit_AVX512VNNI ) != 0;
}
#endif

const lmbKernels *lmbKernels_Find( lmbKernelSet set )
{
	(void)set;
#if defined( LMB_X86 )
	if ( ( set == lmb_kernelsBest || set == lmb_kernelsAvx512 ) && HasAvx512() )
		return &kernels_avx512;
	if ( ( set == lmb_kernelsBest || set == lmb_kernelsAvx2 ) && HasAvx2() )
		return &kernels_avx2;
	if ( set == lmb_kernelsBest || set == lmb_kernelsSse2 )
		return &kernels_sse2;
#elif defined( LMB_ARM )
	if ( set == lmb_kernelsBest || set == lmb_kernelsNeon )
		return &kernels_neon;
#elif defined( LMB_WASM )
	if ( set == lmb_kernelsBest || set == lmb_kernelsWasm )
		return &kernels_wasm;
#endif
	return set == lmb_kernelsBest || set == lmb_kernelsPlain ? &kernels_plain : NULL;
}

const char *lmbKernels_Name( lmbKernelSet set )
{
	const lmbKernels *kernels = lmbKernels_Find( set );
	return kernels != NULL ? kernels->name : NULL;
}

void lmbKernel_Dense( int inputs, int outputs, const float *restrict weights, const float *restrict bias,
                      const float *restrict x, float *restrict y )
{
#if defined( LMB_X86 )
	Dense_sse2( inputs, outputs, weights, bias, x, y );
#elif defined( LMB_ARM )
	Dense_neon( inputs, outputs, weights, bias, x, y );
#elif defined( LMB_WASM )
	Dense_wasm( inputs, outputs, weights, bias, x, y );
#else
	Dense_plain( inputs, outputs, weights, bias, x, y );
#endif
}
