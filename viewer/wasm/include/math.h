/* What the runtime takes from <math.h>, for a target without a C library: each is one instruction of
 * WebAssembly, with the results that IEEE 754 prescribes. */
#ifndef LMB_VIEWER_MATH_H
#define LMB_VIEWER_MATH_H

#define INFINITY ( __builtin_inff() )
#define NAN ( __builtin_nanf( "" ) )
#define HUGE_VAL ( __builtin_huge_val() )
#define HUGE_VALF ( __builtin_huge_valf() )

#define sqrt( x ) __builtin_sqrt( x )
#define sqrtf( x ) __builtin_sqrtf( x )
#define fabs( x ) __builtin_fabs( x )
#define fabsf( x ) __builtin_fabsf( x )
#define floor( x ) __builtin_floor( x )
#define floorf( x ) __builtin_floorf( x )

#endif
