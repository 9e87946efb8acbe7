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

/* Asks for a line of the cache long before it is read, where the processor's own guesses end: with each tile,
 * and each page. Past the end of an array this is harmless. */
#if defined( __GNUC__ ) && !defined( LMB_PLAIN_KERNELS )
#define LMB_AHEAD( address, bytes ) __builtin_prefetch( (const char *)( address ) + ( bytes ) )
#else
#define LMB_AHEAD( address, bytes ) (void)( address )
#endif

/* A pair of numbers next to each other, as vectors of whole numbers hold them. Plain C has no use for it. */
#if defined( __GNUC__ )
__attribute__( ( unused ) )
#endif
static inline int32_t
LoadPair( const int16_t *from )
{
	int32_t pair;
	memcpy( &pair, from, sizeof( pair ) );
	return pair;
}

/* Of each set: LMB_WIDEN reads two bytes for each lane as 16 bits, LMB_LOAD_WORDS two words; LMB_MULTIPLY_ADD
 * adds the sum of their products with a pair of amounts. */
typedef struct PlainWords
{
	int16_t at[2];
} PlainWords;
#define LMB_SET plain
#define LMB_WIDTH 1
#define LMB_WORDS PlainWords
#define LMB_TOTALS int32_t
#define LMB_STORE_WORDS( to, bits ) *( to ) = (int16_t)( bits )
#define LMB_NO_TOTALS 0
#define LMB_WIDEN( from )                                                                                    \
	( PlainWords )                                                                                           \
	{                                                                                                        \
		{                                                                                                    \
			( from )[0], ( from )[1]                                                                         \
		}                                                                                                    \
	}
#define LMB_LOAD_WORDS( from ) LMB_WIDEN( from )
#define LMB_MULTIPLY_ADD( total, words, pair )                                                               \
	( ( total ) + ( words ).at[0] * ( pair )[0] + ( words ).at[1] * ( pair )[1] )
#define LMB_TO_LANES( total ) (float)( total )
#include "kernel_set.h"

#if defined( LMB_X86 )
#define LMB_SET sse2
#define LMB_WIDTH 4
#define LMB_ROOT( a ) _mm_sqrt_ps( (__m128)( a ) )
#define LMB_WORDS __m128i
#define LMB_TOTALS __m128i
#define LMB_STORE_WORDS( to, bits )                                                                          \
	_mm_storel_epi64( (__m128i *)(void *)( to ), _mm_packs_epi32( (__m128i)( bits ), (__m128i)( bits ) ) )
#define LMB_NO_TOTALS _mm_setzero_si128()
#define LMB_WIDEN( from ) WidenSse2( from )
#define LMB_LOAD_WORDS( from ) _mm_loadu_si128( (const __m128i *)(const void *)( from ) )
#define LMB_MULTIPLY_ADD( total, words, pair )                                                               \
	_mm_add_epi32( total, _mm_madd_epi16( words, _mm_set1_epi32( LoadPair( pair ) ) ) )
#define LMB_TO_LANES( total ) ( Lanes ) _mm_cvtepi32_ps( total )
static inline __m128i WidenSse2( const int8_t *from )
{
	__m128i bytes = _mm_loadl_epi64( (const __m128i *)(const void *)from );
	return _mm_srai_epi16( _mm_unpacklo_epi8( bytes, bytes ), 8 );
}
#include "kernel_set.h"
#elif defined( LMB_ARM )
#define LMB_SET neon
#define LMB_WIDTH 4
#define LMB_ROOT( a ) vsqrtq_f32( (float32x4_t)( a ) )
#define LMB_WORDS int16x8_t
#define LMB_TOTALS int32x4_t
#define LMB_STORE_WORDS( to, bits ) vst1_s16( to, vmovn_s32( (int32x4_t)( bits ) ) )
#define LMB_NO_TOTALS vdupq_n_s32( 0 )
#define LMB_WIDEN( from ) vmovl_s8( vld1_s8( from ) )
#define LMB_LOAD_WORDS( from ) vld1q_s16( from )
#define LMB_MULTIPLY_ADD( total, words, pair ) MultiplyAddNeon( total, words, pair )
#define LMB_TO_LANES( total ) ( Lanes ) vcvtq_f32_s32( total )
static inline int32x4_t MultiplyAddNeon( int32x4_t total, int16x8_t words, const int16_t *pair )
{
	int16x4_t both = vreinterpret_s16_s32( vdup_n_s32( LoadPair( pair ) ) );
	return vaddq_s32( total, vpaddq_s32( vmull_s16( vget_low_s16( words ), both ),
	                                     vmull_s16( vget_high_s16( words ), both ) ) );
}
#include "kernel_set.h"
#elif defined( LMB_WASM )
#define LMB_SET wasm
#define LMB_WIDTH 4
#define LMB_ROOT( a ) wasm_f32x4_sqrt( (v128_t)( a ) )
#define LMB_WORDS v128_t
#define LMB_TOTALS v128_t
#define LMB_STORE_WORDS( to, bits )                                                                          \
	wasm_v128_store64_lane( to, wasm_i16x8_narrow_i32x4( (v128_t)( bits ), (v128_t)( bits ) ), 0 )
#define LMB_NO_TOTALS wasm_i32x4_splat( 0 )
#define LMB_WIDEN( from ) wasm_i16x8_load8x8( from )
#define LMB_LOAD_WORDS( from ) wasm_v128_load( from )
#define LMB_MULTIPLY_ADD( total, words, pair )                                                               \
	wasm_i32x4_add( total, wasm_i32x4_dot_i16x8( words, wasm_i32x4_splat( LoadPair( pair ) ) ) )
#define LMB_TO_LANES( total ) ( Lanes ) wasm_f32x4_convert_i32x4( total )
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
#define LMB_WORDS __m256i
#define LMB_TOTALS __m256i
#define LMB_STORE_WORDS( to, bits )                                                                          \
	_mm_storeu_si128( (__m128i *)(void *)( to ),                                                             \
	                  _mm_packs_epi32( _mm256_castsi256_si128( (__m256i)( bits ) ),                          \
	                                   _mm256_extracti128_si256( (__m256i)( bits ), 1 ) ) )
#define LMB_NO_TOTALS _mm256_setzero_si256()
#define LMB_WIDEN( from ) _mm256_cvtepi8_epi16( _mm_loadu_si128( (const __m128i *)(const void *)( from ) ) )
#define LMB_LOAD_WORDS( from ) _mm256_loadu_si256( (const __m256i *)(const void *)( from ) )
#define LMB_MULTIPLY_ADD( total, words, pair )                                                               \
	_mm256_add_epi32( total, _mm256_madd_epi16( words, _mm256_set1_epi32( LoadPair( pair ) ) ) )
#define LMB_TO_LANES( total ) ( Lanes ) _mm256_cvtepi32_ps( total )
#include "kernel_set.h"
LMB_TARGET_END

LMB_TARGET( "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni" )
#define LMB_SET avx512
#define LMB_WIDTH 16
#define LMB_ROOT( a ) _mm512_sqrt_ps( (__m512)( a ) )
#define LMB_WORDS __m512i
#define LMB_TOTALS __m512i
#define LMB_STORE_WORDS( to, bits )                                                                          \
	_mm256_storeu_si256( (__m256i *)(void *)( to ), _mm512_cvtepi32_epi16( (__m512i)( bits ) ) )
#define LMB_NO_TOTALS _mm512_setzero_si512()
#define LMB_WIDEN( from )                                                                                    \
	_mm512_cvtepi8_epi16( _mm256_loadu_si256( (const __m256i *)(const void *)( from ) ) )
#define LMB_LOAD_WORDS( from ) _mm512_loadu_si512( from )
#define LMB_MULTIPLY_ADD( total, words, pair )                                                               \
	_mm512_dpwssd_epi32( total, words, _mm512_set1_epi32( LoadPair( pair ) ) )
#define LMB_TO_LANES( total ) ( Lanes ) _mm512_cvtepi32_ps( total )
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
