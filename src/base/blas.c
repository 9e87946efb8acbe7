#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "base/blas.h"

#include <cblas.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Kernels without AVX2: what OpenBLAS takes for old processors, and for those it has never heard of. */
static bool IsOldCore( const char *name )
{
	static const char *const old[] = { "Prescott",   "Core2",   "Penryn",
	                                   "Dunnington", "Nehalem", "Sandybridge" };
	for ( size_t i = 0; i < sizeof( old ) / sizeof( old[0] ); ++i )
		if ( strcmp( name, old[i] ) == 0 )
			return true;
	return false;
}

static const char *BetterCore( void )
{
#if defined( __x86_64__ )
	__builtin_cpu_init();
	if ( __builtin_cpu_supports( "avx512f" ) && __builtin_cpu_supports( "avx512dq" ) &&
	     __builtin_cpu_supports( "avx512bw" ) && __builtin_cpu_supports( "avx512vl" ) &&
	     __builtin_cpu_supports( "avx512cd" ) )
		return "SkylakeX";
	if ( __builtin_cpu_supports( "avx2" ) && __builtin_cpu_supports( "fma" ) )
		return "Haswell";
#endif
	return NULL;
}

/* OpenBLAS reads OPENBLAS_CORETYPE once, when it is loaded, which is before any code of ours; so it is
 * made to choose again. Both functions are exported by its DYNAMIC_ARCH builds since 2011
 * (driver/others/dynamic.c); where they are missing nothing is done. */
static void Prepare( void )
{
	openblas_set_num_threads( 1 );
	const char *better = BetterCore();
	if ( better == NULL || getenv( "OPENBLAS_CORETYPE" ) != NULL || !IsOldCore( openblas_get_corename() ) )
		return;
	void ( *quit )( void ), ( *init )( void );
	*(void **)&quit = dlsym( RTLD_DEFAULT, "gotoblas_dynamic_quit" );
	*(void **)&init = dlsym( RTLD_DEFAULT, "gotoblas_dynamic_init" );
	if ( quit == NULL || init == NULL || setenv( "OPENBLAS_CORETYPE", better, 1 ) != 0 )
		return;
	quit();
	init();
	unsetenv( "OPENBLAS_CORETYPE" );
}

/* The loader runs this after OpenBLAS's own start and before main, while there is one thread. */
__attribute__( ( constructor ) ) static void PrepareAtStart( void )
{
	lmbBlas_Prepare();
}

void lmbBlas_Prepare( void )
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once( &once, Prepare );
}
