/* What a Cortex-M4 needs before newlib's own start: a vector table, and its floating-point unit switched on.
 */
#include <stdint.h>

extern char __stack;
void _start( void );

void Reset( void )
{
	*(volatile uint32_t *)0xE000ED88u |= 0xFu << 20; /* CPACR: full access to coprocessors 10 and 11 */
	__asm volatile( "dsb\nisb" );
	_start();
}

static void Hang( void )
{
	for ( ;; )
		;
}

__attribute__( ( section( ".vectors" ), used ) ) static void *const vectors[16] = {
    &__stack, (void *)Reset, (void *)Hang, (void *)Hang, (void *)Hang, (void *)Hang, (void *)Hang };
