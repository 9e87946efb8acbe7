/* The motion that an export and the library both play, number by number: what test_export_c.sh compares. */
#ifndef LMB_TESTS_EXPORT_PLAY_H
#define LMB_TESTS_EXPORT_PLAY_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum
{
	playSteps = 40
};

static inline void Play_Print( const char *name, const double *numbers, int count )
{
	for ( int i = 0; i < count; ++i )
	{
		uint64_t bits;
		memcpy( &bits, &numbers[i], sizeof( bits ) );
		printf( "%s %08lx%08lx\n", name, (unsigned long)( bits >> 32 ),
		        (unsigned long)( bits & 0xffffffffu ) );
	}
}

/* Sixteenths, so that no machine rounds them. */
static inline void Play_Numbers( int step, int salt, double *out, int count )
{
	for ( int i = 0; i < count; ++i )
		out[i] = ( ( step * 29 + salt * 53 + i * 17 ) % 41 - 20 ) / 16.0;
}

static inline double Play_Time( int step )
{
	const double times[4] = { 0.00390625, 0.0078125, 0.013671875, 0.001953125 };
	return times[step % 4];
}

#endif
