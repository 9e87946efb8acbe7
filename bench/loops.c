#include "loops.h"

#include <string.h>

enum
{
	loopChains = 12 /* enough for a latency of 4 at two units */
};

/* Makes a vector look as if it came out of nowhere, so that no product can be kept from the round before. */
#if defined( __x86_64__ )
#define LOOP_HIDE( vector ) __asm__ volatile( "" : "+x"( vector ) )
#elif defined( __aarch64__ )
#define LOOP_HIDE( vector ) __asm__ volatile( "" : "+w"( vector ) )
#else
#define LOOP_HIDE( vector ) __asm__ volatile( "" : "+m"( vector ) )
#endif

#define LOOP_SET 16
#define LOOP_BYTES 16
#define LOOP_TARGET
#include "loop_set.h"

#ifdef __x86_64__
#include <immintrin.h>

#define LOOP_SET 32
#define LOOP_BYTES 32
#define LOOP_TARGET __attribute__( ( target( "avx2" ) ) )
#include "loop_set.h"

#define LOOP_SET 64
#define LOOP_BYTES 64
#define LOOP_TARGET __attribute__( ( target( "avx512f" ) ) )
#include "loop_set.h"

/* Products of pairs of 16 bits, summed in 32: what a set of kernels does with shapes as bytes. */
#define PRODUCTS( name, attribute, words, zero, one, add )                                                   \
	attribute static int name( long rounds )                                                                 \
	{                                                                                                        \
		words sums[loopChains], factor = one;                                                                \
		for ( int k = 0; k < loopChains; ++k )                                                               \
			sums[k] = zero;                                                                                  \
		for ( long r = 0; r < rounds; ++r )                                                                  \
		{                                                                                                    \
			for ( int k = 0; k < loopChains; ++k )                                                           \
			{                                                                                                \
				LOOP_HIDE( factor );                                                                         \
				sums[k] = add( sums[k], factor );                                                            \
			}                                                                                                \
		}                                                                                                    \
		int total = 0;                                                                                       \
		for ( int k = 0; k < loopChains; ++k )                                                               \
		{                                                                                                    \
			int first;                                                                                       \
			memcpy( &first, &sums[k], sizeof( first ) );                                                     \
			total += first;                                                                                  \
		}                                                                                                    \
		return total;                                                                                        \
	}
#define ADD_SSE2( sum, x ) _mm_add_epi32( sum, _mm_madd_epi16( x, x ) )
#define ADD_AVX2( sum, x ) _mm256_add_epi32( sum, _mm256_madd_epi16( x, x ) )
#define ADD_AVX512( sum, x ) _mm512_dpwssd_epi32( sum, x, x )
PRODUCTS( Products16, , __m128i, _mm_setzero_si128(), _mm_set1_epi16( 1 ), ADD_SSE2 )
PRODUCTS( Products32, __attribute__( ( target( "avx2" ) ) ), __m256i, _mm256_setzero_si256(),
          _mm256_set1_epi16( 1 ), ADD_AVX2 )
PRODUCTS( Products64, __attribute__( ( target( "avx512f,avx512bw,avx512vnni" ) ) ), __m512i,
          _mm512_setzero_si512(), _mm512_set1_epi16( 1 ), ADD_AVX512 )

#define LOOPS( width )                                                                                       \
	{                                                                                                        \
		Read##width, Move##width, Multiply##width, loopChains *( width ) / 4, Products##width,               \
		    loopChains *( width ) / 2, Euler##width                                                          \
	}
static const lmbLoops loops16 = LOOPS( 16 ), loops32 = LOOPS( 32 ), loops64 = LOOPS( 64 );
#else
static const lmbLoops loops16 = { Read16, Move16, Multiply16, loopChains * 4, NULL, 0, Euler16 };
#endif

const lmbLoops *lmbLoops_Find( void )
{
#ifdef __x86_64__
	__builtin_cpu_init();
	if ( __builtin_cpu_supports( "avx512f" ) && __builtin_cpu_supports( "avx512bw" ) &&
	     __builtin_cpu_supports( "avx512vnni" ) )
		return &loops64;
	if ( __builtin_cpu_supports( "avx2" ) )
		return &loops32;
#endif
	return &loops16;
}
