/* Loops that find the machine's limits, and the integrator that the springs are compared with, compiled for
 * the widest vectors of the processor, so that what is measured is the machine and not the compiler's
 * choice. */
#ifndef LMB_BENCH_LOOPS_H
#define LMB_BENCH_LOOPS_H

#include <stddef.h>

enum
{
	lmbEulerPlanes = 14, /* h k, 1 - h c, then h a at the start, h a's change a substep, u and v of 3 each */
	lmbEulerLanes = 64
};

typedef struct lmbLoops
{
	/* Sum of count floats. */
	float ( *read )( const float *memory, size_t count );
	/* x <- s x + x. */
	void ( *move )( float *memory, size_t count, float s );
	/* So many rounds of independent multiply-adds of floats, product rounded first; how many in a round. */
	float ( *multiply )( long rounds );
	int multipliesOfRound;
	/* The same of 16-bit products summed in 32 bits; NULL where this file has no loop for the processor. */
	int ( *products )( long rounds );
	int productsOfRound;
	/* Blocks (blockCount x lmbEulerPlanes x lmbEulerLanes) by so many substeps of length h of semi-implicit
	 * Euler: v <- (1 - h c) v - h k u - h a, u <- u + h v. The planes of h a are left as they are. */
	void ( *euler )( float *blocks, size_t blockCount, int substeps, float h );
} lmbLoops;

const lmbLoops *lmbLoops_Find( void );

#endif
