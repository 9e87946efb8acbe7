/* What JavaScript needs besides the runtime's own functions: memory to put things into, and where the fields
 * of the public structs lie, so that it does not have to know. */
#include <limber/flesh.h>
#include <limber/limb.h>

/* --- memory --- */

extern unsigned char __heap_base; /* the linker's: the first byte behind the program's own */
static uintptr_t next;

/* The place where the next piece begins; handing it to lmbPage_Release frees all that came after. */
uint32_t lmbPage_Mark( void )
{
	if ( next == 0 )
		next = ( (uintptr_t)&__heap_base + 63 ) & ~(uintptr_t)63;
	return (uint32_t)next;
}

void lmbPage_Release( uint32_t mark )
{
	next = mark;
}

/* Zeroed memory aligned to 64 bytes, or 0 when there is no more. May move what JavaScript sees of the memory.
 */
uint32_t lmbPage_Allocate( uint32_t size )
{
	uint64_t page = 65536, start = lmbPage_Mark(), end = ( start + size + 63 ) & ~(uint64_t)63;
	uint64_t have = (uint64_t)__builtin_wasm_memory_size( 0 ) * page;
	if ( end > have &&
	     __builtin_wasm_memory_grow( 0, (size_t)( ( end - have + page - 1 ) / page ) ) == SIZE_MAX )
		return 0;
	__builtin_memset( (void *)(uintptr_t)start, 0, (size_t)( end - start ) );
	next = (uintptr_t)end;
	return (uint32_t)start;
}

/* --- structs --- */

#define LAYOUT( X )                                                                                          \
	X( lmbFleshInfo, vertexCount )                                                                           \
	X( lmbFleshInfo, triangleCount )                                                                         \
	X( lmbFleshInfo, boneCount )                                                                             \
	X( lmbFleshInfo, modeCount )                                                                             \
	X( lmbFleshInfo, coefficientCount )                                                                      \
	X( lmbFleshInfo, hasNetwork )                                                                            \
	X( lmbFleshInfo, hasVertexSprings )                                                                      \
	X( lmbFleshInfo, hasModes )                                                                              \
	X( lmbFleshInfo, hasFittedModes )                                                                        \
	X( lmbFleshInfo, hasHybrid )                                                                             \
	X( lmbFleshInfo, hasPoseStiffness )                                                                      \
	X( lmbFleshDef, layer )                                                                                  \
	X( lmbFleshDef, network )                                                                                \
	X( lmbFleshDef, interpolation )                                                                          \
	X( lmbFleshDef, normals )                                                                                \
	X( lmbFleshDef, poseStiffness )                                                                          \
	X( lmbFleshDef, kernels )                                                                                \
	X( lmbFleshPose, bones )                                                                                 \
	X( lmbFleshPose, position )                                                                              \
	X( lmbFleshPose, rotation )                                                                              \
	X( lmbFleshShape, positions )                                                                            \
	X( lmbFleshShape, normals )                                                                              \
	X( lmbFleshDirection, gain )                                                                             \
	X( lmbFleshDirection, limit )                                                                            \
	X( lmbFleshDirection, vertexGain )                                                                       \
	X( lmbFleshDirection, stiffness )                                                                        \
	X( lmbFleshDirection, damping )                                                                          \
	X( lmbFleshDirection, acceleration )                                                                     \
	X( lmbLimbInfo, kind )                                                                                   \
	X( lmbLimbInfo, dofCount )                                                                               \
	X( lmbLimbInfo, inputCount )                                                                             \
	X( lmbLimbInfo, hasTrust )                                                                               \
	X( lmbLimbInfo, linearInput )                                                                            \
	X( lmbLimbInfo, step )                                                                                   \
	X( lmbLimbDef, integrator )                                                                              \
	X( lmbLimbDef, maxStep )                                                                                 \
	X( lmbLimbDef, tolerance )                                                                               \
	X( lmbLimbDef, trust )

/* How JavaScript reads and writes a field; pointers are numbers of 32 bits. */
#define KIND( value )                                                                                        \
	_Generic( ( value ), bool: "bool", float: "f32", double: "f64", float *: "f32", double *: "f64",         \
	    default: "i32" )

typedef struct PageField
{
	const char *type, *name, *kind;
	uint32_t offset;
} PageField;

#define FIELD( type, field ) { #type, #field, KIND( ( (type *)0 )->field ), offsetof( type, field ) },
static const PageField fields[] = { LAYOUT( FIELD ) };

typedef struct PageSize
{
	const char *type;
	uint32_t size;
} PageSize;

#define SIZE( type )                                                                                         \
	{                                                                                                        \
#type, sizeof( type )                                                                                \
	}
static const PageSize sizes[] = { SIZE( lmbFleshInfo ),     SIZE( lmbFleshDef ), SIZE( lmbFleshPose ),
                                  SIZE( lmbFleshShape ),    SIZE( lmbLimbInfo ), SIZE( lmbLimbDef ),
                                  SIZE( lmbFleshDirection ) };

/* Tables that JavaScript reads: how many rows, and where they begin. */
uint32_t lmbPage_FieldCount( void )
{
	return sizeof( fields ) / sizeof( *fields );
}

uint32_t lmbPage_Fields( void )
{
	return (uint32_t)(uintptr_t)fields;
}

uint32_t lmbPage_SizeCount( void )
{
	return sizeof( sizes ) / sizeof( *sizes );
}

uint32_t lmbPage_Sizes( void )
{
	return (uint32_t)(uintptr_t)sizes;
}
