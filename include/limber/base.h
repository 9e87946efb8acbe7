/* What every part of Limber shares: status codes and what they mean.
 *
 * Conventions of the whole library: SI units, radians, seconds as double; right-handed, Y up;
 * quaternions xyzw; matrices row-major; a 3x4 matrix is 12 numbers, rows (r00 r01 r02 tx) first. */
#ifndef LIMBER_BASE_H
#define LIMBER_BASE_H

#include <stddef.h>
#include <stdint.h>

/* Before every call: a shared library shows these and hides the rest. Define it to change that. */
#ifndef LMB_API
#ifdef __GNUC__
#define LMB_API __attribute__( ( visibility( "default" ) ) )
#else
#define LMB_API
#endif
#endif

#ifdef __cplusplus
extern "C"
{
#endif

#define LMB_VERSION_MAJOR 0 /* another one breaks programs */
#define LMB_VERSION_MINOR 1 /* another one adds calls; while MAJOR is 0 it may break too */
#define LMB_VERSION_PATCH 0 /* another one mends */

/* Every status that a call may return: X(enumerator, value, text). Values never change. */
#define LMB_STATUS_LIST( X )                                                                                 \
	X( lmb_statusOk, 0, "ok" )                                                                               \
	X( lmb_statusInvalidArgument, 1, "an argument is outside its stated range" )                             \
	X( lmb_statusOutOfMemory, 2, "no memory, or a size that does not fit in size_t" )                        \
	X( lmb_statusIo, 3, "a file could not be read or written" )                                              \
	X( lmb_statusCorrupt, 4, "the data breaks the rules of its own format" )                                 \
	X( lmb_statusUnsupported, 5, "valid data that this version does not read" )                              \
	X( lmb_statusNotFound, 6, "a named thing is not there" )                                                 \
	X( lmb_statusNotConverged, 7, "an iteration ended before it reached its tolerance" )                     \
	X( lmb_statusCancelled, 8, "stopped on request" )                                                        \
	X( lmb_statusNumerical, 9, "a number that is not finite, or a matrix that is not what it must be" )

	/* What a call came to: an enumerator for each line of LMB_STATUS_LIST. */
	typedef enum lmbStatus
	{
#define LMB_STATUS_ENUM( name, value, text ) name = ( value ),
		LMB_STATUS_LIST( LMB_STATUS_ENUM )
#undef LMB_STATUS_ENUM
	} lmbStatus;

	/* The text of a status, never NULL ("unknown status" for a value outside the list). Static storage,
	 * any thread. */
	LMB_API const char *lmbStatus_Text( lmbStatus status );

	/* Which of the processor's instructions the runtime computes with. The results are the same, bit for bit;
	 * the time is not. */
	typedef enum lmbKernelSet
	{
		lmb_kernelsBest = 0, /* the fastest that this processor has */
		lmb_kernelsPlain,    /* plain C, the reference */
		lmb_kernelsSse2,     /* 4 lanes, x86-64 */
		lmb_kernelsAvx2,     /* 8 lanes, x86-64 */
		lmb_kernelsAvx512,   /* F, BW, DQ, VL, VNNI */
		lmb_kernelsNeon,     /* 4 lanes, 64-bit ARM */
		lmb_kernelsWasm,     /* 128 bits */
		lmb_kernelsCount     /* not a set */
	} lmbKernelSet;

	/* "avx2", ...: what a set (or the best) is called; NULL where this processor or build lacks it. Static
	 * storage, any thread. */
	LMB_API const char *lmbKernels_Name( lmbKernelSet set );

#ifdef __cplusplus
}
#endif

#endif
