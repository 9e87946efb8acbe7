/* Random numbers of the tools: PCG32 (O'Neill 2014, pcg-random.org; "minimal" variant). The same seed
 * gives the same numbers on every machine. */
#ifndef LMB_BASE_RANDOM_H
#define LMB_BASE_RANDOM_H

#include <math.h>
#include <stdint.h>

typedef struct lmbRandom
{
	uint64_t state;
	uint64_t increment;
} lmbRandom;

static inline uint32_t lmbRandom_Bits( lmbRandom *random )
{
	uint64_t old = random->state;
	random->state = old * UINT64_C( 6364136223846793005 ) + random->increment;
	uint32_t shifted = (uint32_t)( ( ( old >> 18 ) ^ old ) >> 27 );
	uint32_t turn = (uint32_t)( old >> 59 );
	return ( shifted >> turn ) | ( shifted << ( ( 32 - turn ) & 31 ) );
}

/* stream lets parallel samples each have their own sequence under one seed. */
static inline lmbRandom lmbRandom_Seed( uint64_t seed, uint64_t stream )
{
	lmbRandom random = { 0, ( stream << 1 ) | 1 };
	lmbRandom_Bits( &random );
	random.state += seed;
	lmbRandom_Bits( &random );
	return random;
}

/* Uniform in [0, 1), 53 bits. */
static inline double lmbRandom_Uniform( lmbRandom *random )
{
	uint64_t high = lmbRandom_Bits( random ) >> 5;
	uint64_t low = lmbRandom_Bits( random ) >> 6;
	return ( (double)high * 67108864.0 + (double)low ) / 9007199254740992.0;
}

/* Uniform in 0 .. bound - 1; bound >= 1. The bias, below bound / 2^32, does not matter here. */
static inline uint32_t lmbRandom_Below( lmbRandom *random, uint32_t bound )
{
	return (uint32_t)( ( (uint64_t)lmbRandom_Bits( random ) * bound ) >> 32 );
}

/* Standard normal (Box-Muller). */
static inline double lmbRandom_Normal( lmbRandom *random )
{
	double u = 1.0 - lmbRandom_Uniform( random );
	double v = lmbRandom_Uniform( random );
	return sqrt( -2.0 * log( u ) ) * cos( 6.283185307179586 * v );
}

#endif
