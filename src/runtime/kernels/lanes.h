/* Lanes: LMB_WIDTH floats on which a set of kernels works at once, and quads: always four. Included once
 * for each set (kernel_set.h), with LMB_SET its name; LMB_WIDTH 1 is plain C without vectors. Only
 * operations that IEEE 754 defines to the last bit: no fused products, no estimates of reciprocals. */

#define LMB_JOIN2( name, set ) name##_##set
#define LMB_JOIN( name, set ) LMB_JOIN2( name, set )
#define LMB_NAME( name ) LMB_JOIN( name, LMB_SET )

#define Lanes LMB_NAME( Lanes )
#define Bits LMB_NAME( Bits )
#define Quad LMB_NAME( Quad )
#define Load LMB_NAME( Load )
#define Store LMB_NAME( Store )
#define Same LMB_NAME( Same )
#define Root LMB_NAME( Root )
#define ChooseLess LMB_NAME( ChooseLess )
#define Size LMB_NAME( Size )
#define FlipBy LMB_NAME( FlipBy )
#define Whole LMB_NAME( Whole )
#define Double2 LMB_NAME( Double2 )
#define QuadLoad LMB_NAME( QuadLoad )
#define QuadStore LMB_NAME( QuadStore )
#define QuadStore3 LMB_NAME( QuadStore3 )
#define QuadScale LMB_NAME( QuadScale )
#define QuadAdd LMB_NAME( QuadAdd )
#define QuadSub LMB_NAME( QuadSub )
#define QuadMul LMB_NAME( QuadMul )
#define QuadNext LMB_NAME( QuadNext )
#define Turns LMB_NAME( Turns )
#define TurnsLoad LMB_NAME( TurnsLoad )
#define TurnsDot LMB_NAME( TurnsDot )
#define TurnsWeight LMB_NAME( TurnsWeight )
#define SumSquares LMB_NAME( SumSquares )
#define StoreUnit LMB_NAME( StoreUnit )

#if LMB_WIDTH > 1

typedef float Lanes __attribute__( ( vector_size( 4 * LMB_WIDTH ), aligned( 4 ), may_alias ) );
typedef int32_t Bits __attribute__( ( vector_size( 4 * LMB_WIDTH ), aligned( 4 ), may_alias ) );
typedef float Quad __attribute__( ( vector_size( 16 ), aligned( 4 ), may_alias ) );

static inline Lanes Load( const float *from )
{
	return *(const Lanes *)from;
}

static inline void Store( float *to, Lanes a )
{
	*(Lanes *)to = a;
}

static inline Lanes Same( float a )
{
	return a - ( Lanes ){ 0 }; /* minus 0 leaves -0 as it is, which plus 0 would not */
}

static inline Lanes Root( Lanes a )
{
	return (Lanes)LMB_ROOT( a );
}

static inline Lanes ChooseLess( Lanes a, Lanes b, Lanes yes, Lanes no )
{
	Bits mask = (Bits)( a < b );
	return (Lanes)( ( mask & (Bits)yes ) | ( ~mask & (Bits)no ) );
}

static inline Lanes Size( Lanes a )
{
	return (Lanes)( (Bits)a & 0x7fffffff );
}

/* a with its sign turned where b is below zero. */
static inline Lanes FlipBy( Lanes a, Lanes b )
{
	return (Lanes)( (Bits)a ^ ( (Bits)b & INT32_MIN ) );
}

/* 2^n for whole n in [-126, 127], given as n + 1.5 * 2^23. */
static inline Lanes Double2( Lanes shifted )
{
	return (Lanes)( ( (Bits)shifted - ( 0x4b400000 - 127 ) ) << 23 );
}

/* n of n + 1.5 * 2^23 */
static inline Bits Whole( Lanes shifted )
{
	return (Bits)shifted - 0x4b400000;
}

static inline Quad QuadLoad( const float *from )
{
	return *(const Quad *)from;
}

static inline void QuadStore( float *to, Quad a )
{
	*(Quad *)to = a;
}

static inline void QuadStore3( float *to, Quad a )
{
	to[0] = a[0];
	to[1] = a[1];
	to[2] = a[2];
}

static inline Quad QuadScale( float s, Quad a )
{
	return s * a;
}

static inline Quad QuadAdd( Quad a, Quad b )
{
	return a + b;
}

static inline Quad QuadSub( Quad a, Quad b )
{
	return a - b;
}

static inline Quad QuadMul( Quad a, Quad b )
{
	return a * b;
}

/* (y, z, x, w) */
static inline Quad QuadNext( Quad a )
{
	return __builtin_shufflevector( a, a, 1, 2, 0, 3 );
}

/* A bone's quaternion, as often as the lanes hold it. */
typedef Lanes Turns;

#if LMB_WIDTH == 4
#define LMB_SWAP( a, x, y, z, w ) __builtin_shufflevector( a, a, x, y, z, w )
#define LMB_FOURTH( s )                                                                                      \
	{                                                                                                        \
		0, 0, 0, s                                                                                           \
	}
#define LMB_UP                                                                                               \
	{                                                                                                        \
		0, 0, 1, 0                                                                                           \
	}
#elif LMB_WIDTH == 8
#define LMB_SWAP( a, x, y, z, w ) __builtin_shufflevector( a, a, x, y, z, w, x + 4, y + 4, z + 4, w + 4 )
#define LMB_FOURTH( s )                                                                                      \
	{                                                                                                        \
		0, 0, 0, s, 0, 0, 0, s                                                                               \
	}
#define LMB_UP                                                                                               \
	{                                                                                                        \
		0, 0, 1, 0, 0, 0, 1, 0                                                                               \
	}
#else
#define LMB_SWAP( a, x, y, z, w )                                                                            \
	__builtin_shufflevector( a, a, x, y, z, w, x + 4, y + 4, z + 4, w + 4, x + 8, y + 8, z + 8, w + 8,       \
	                         x + 12, y + 12, z + 12, w + 12 )
#define LMB_FOURTH( s )                                                                                      \
	{                                                                                                        \
		0, 0, 0, s, 0, 0, 0, s, 0, 0, 0, s, 0, 0, 0, s                                                       \
	}
#define LMB_UP                                                                                               \
	{                                                                                                        \
		0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0                                                       \
	}
#endif

static inline Turns TurnsLoad( const float *from )
{
	return Load( from );
}

/* (x x' + z z') + (y y' + w w') in every lane */
static inline Turns TurnsDot( Turns a, Turns b )
{
	Lanes product = a * b;
	Lanes half = product + LMB_SWAP( product, 2, 3, 0, 1 );
	return half + LMB_SWAP( half, 1, 0, 3, 2 );
}

/* The weight of the part-th lanes of a bone: its fourth numbers, the quaternion's, turn their sign with the
 * dot product. */
static inline Lanes TurnsWeight( float weight, Turns dot, int part )
{
	const Bits fourth = LMB_FOURTH( INT32_MIN );
	(void)part;
	return (Lanes)( (Bits)Same( weight ) ^ ( (Bits)dot & fourth ) );
}

/* In each quad of lanes: two of a, then two of b. */
#if LMB_WIDTH == 4
#define LMB_PAIR( a, b, x, y, z, w ) __builtin_shufflevector( a, b, x, y, z + 4, w + 4 )
#define LMB_CLOSE( a ) __builtin_shufflevector( a, a, 1, 2, 0, 3 )
#elif LMB_WIDTH == 8
#define LMB_PAIR( a, b, x, y, z, w )                                                                         \
	__builtin_shufflevector( a, b, x, y, z + 8, w + 8, x + 4, y + 4, z + 12, w + 12 )
#define LMB_CLOSE( a ) __builtin_shufflevector( a, a, 1, 2, 0, 5, 6, 4, 3, 7 )
#else
#define LMB_PAIR( a, b, x, y, z, w )                                                                         \
	__builtin_shufflevector( a, b, x, y, z + 16, w + 16, x + 4, y + 4, z + 20, w + 20, x + 8, y + 8, z + 24, \
	                         w + 24, x + 12, y + 12, z + 28, w + 28 )
#define LMB_CLOSE( a ) __builtin_shufflevector( a, a, 1, 2, 0, 5, 6, 4, 9, 10, 8, 13, 14, 12, 3, 7, 11, 15 )
#endif

/* Vectors (z, x, y, unused) of LMB_WIDTH vertices, a quad each: their sums of squares, (x x + y y) + z z.
 * Lane 4 g + k is the vertex in quad g of rows[k]. */
static inline Lanes SumSquares( const Lanes rows[4] )
{
	Lanes a = rows[0] * rows[0], b = rows[1] * rows[1], c = rows[2] * rows[2], d = rows[3] * rows[3];
	Lanes ab = LMB_PAIR( a, b, 0, 1, 0, 1 ), cd = LMB_PAIR( c, d, 0, 1, 0, 1 );
	Lanes abEnd = LMB_PAIR( a, b, 2, 3, 2, 3 ), cdEnd = LMB_PAIR( c, d, 2, 3, 2, 3 );
	Lanes x = LMB_PAIR( ab, cd, 1, 3, 1, 3 ), y = LMB_PAIR( abEnd, cdEnd, 0, 2, 0, 2 ),
	      z = LMB_PAIR( ab, cd, 0, 2, 0, 2 );
	return ( x + y ) + z;
}

/* Such vectors times the k-th lane of their quad in scale, or straight up where that is 0; as (x, y, z) close
 * together, with LMB_WIDTH / 4 numbers more written behind them. */
static inline void StoreUnit( float *to, Lanes row, Lanes scale, int k )
{
	const Lanes none = Same( 0.0f ), up = LMB_UP;
	Lanes own = k == 0   ? LMB_SWAP( scale, 0, 0, 0, 0 )
	            : k == 1 ? LMB_SWAP( scale, 1, 1, 1, 1 )
	            : k == 2 ? LMB_SWAP( scale, 2, 2, 2, 2 )
	                     : LMB_SWAP( scale, 3, 3, 3, 3 );
	Lanes unit = ChooseLess( none, own, row * own, up );
	Store( to, LMB_CLOSE( unit ) );
}

#undef LMB_SWAP
#undef LMB_FOURTH
#undef LMB_PAIR
#undef LMB_CLOSE
#undef LMB_UP

#else

typedef float Lanes;
typedef struct Quad
{
	float at[4];
} Quad;

static inline Lanes Load( const float *from )
{
	return *from;
}

static inline void Store( float *to, Lanes a )
{
	*to = a;
}

static inline Lanes Same( float a )
{
	return a;
}

static inline Lanes Root( Lanes a )
{
	return sqrtf( a );
}

static inline Lanes ChooseLess( Lanes a, Lanes b, Lanes yes, Lanes no )
{
	return a < b ? yes : no;
}

static inline Lanes Size( Lanes a )
{
	return fabsf( a );
}

static inline Lanes FlipBy( Lanes a, Lanes b )
{
	uint32_t bits, sign;
	memcpy( &bits, &a, sizeof( bits ) );
	memcpy( &sign, &b, sizeof( sign ) );
	bits ^= sign & UINT32_C( 0x80000000 );
	memcpy( &a, &bits, sizeof( a ) );
	return a;
}

static inline Lanes Double2( Lanes shifted )
{
	uint32_t bits;
	memcpy( &bits, &shifted, sizeof( bits ) );
	bits = ( bits - ( UINT32_C( 0x4b400000 ) - 127 ) ) << 23;
	memcpy( &shifted, &bits, sizeof( bits ) );
	return shifted;
}

static inline int32_t Whole( Lanes shifted )
{
	int32_t bits;
	memcpy( &bits, &shifted, sizeof( bits ) );
	return bits - 0x4b400000;
}

static inline Quad QuadLoad( const float *from )
{
	return ( Quad ){ { from[0], from[1], from[2], from[3] } };
}

static inline void QuadStore( float *to, Quad a )
{
	for ( int i = 0; i < 4; ++i )
		to[i] = a.at[i];
}

static inline void QuadStore3( float *to, Quad a )
{
	for ( int i = 0; i < 3; ++i )
		to[i] = a.at[i];
}

static inline Quad QuadScale( float s, Quad a )
{
	return ( Quad ){ { s * a.at[0], s * a.at[1], s * a.at[2], s * a.at[3] } };
}

static inline Quad QuadAdd( Quad a, Quad b )
{
	return ( Quad ){ { a.at[0] + b.at[0], a.at[1] + b.at[1], a.at[2] + b.at[2], a.at[3] + b.at[3] } };
}

static inline Quad QuadSub( Quad a, Quad b )
{
	return ( Quad ){ { a.at[0] - b.at[0], a.at[1] - b.at[1], a.at[2] - b.at[2], a.at[3] - b.at[3] } };
}

static inline Quad QuadMul( Quad a, Quad b )
{
	return ( Quad ){ { a.at[0] * b.at[0], a.at[1] * b.at[1], a.at[2] * b.at[2], a.at[3] * b.at[3] } };
}

static inline Quad QuadNext( Quad a )
{
	return ( Quad ){ { a.at[1], a.at[2], a.at[0], a.at[3] } };
}

typedef Quad Turns;

static inline Turns TurnsLoad( const float *from )
{
	return QuadLoad( from );
}

static inline Turns TurnsDot( Turns a, Turns b )
{
	Quad product = QuadMul( a, b );
	product.at[0] = ( product.at[0] + product.at[2] ) + ( product.at[1] + product.at[3] );
	return product;
}

static inline Lanes TurnsWeight( float weight, Turns dot, int part )
{
	return part % 4 == 3 ? FlipBy( weight, dot.at[0] ) : weight;
}

#endif
