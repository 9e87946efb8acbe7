/* Four floats that are added and multiplied lane by lane. With gcc and clang they are a vector of the
 * machine, elsewhere (or with LMB_PLAIN_KERNELS) an array; lanes never mix, so the bits are the same. */
#ifndef LMB_RUNTIME_FOUR_H
#define LMB_RUNTIME_FOUR_H

#if defined( __GNUC__ ) && !defined( LMB_PLAIN_KERNELS )

typedef float lmbFour __attribute__( ( vector_size( 16 ), aligned( 4 ), may_alias ) );
typedef int lmbFourMask __attribute__( ( vector_size( 16 ) ) );

static inline lmbFour lmbFour_Load( const float *from )
{
	return *(const lmbFour *)from;
}

static inline void lmbFour_Store( float *to, lmbFour a )
{
	*(lmbFour *)to = a;
}

static inline lmbFour lmbFour_Scale( float s, lmbFour a )
{
	return s * a;
}

/* sum + s a, rounded after the product and after the sum. */
static inline lmbFour lmbFour_AddScaled( lmbFour sum, float s, lmbFour a )
{
	return sum + s * a;
}

static inline lmbFour lmbFour_Splat( float s )
{
	return ( lmbFour ){ s, s, s, s };
}

static inline lmbFour lmbFour_Add( lmbFour a, lmbFour b )
{
	return a + b;
}

static inline lmbFour lmbFour_Subtract( lmbFour a, lmbFour b )
{
	return a - b;
}

static inline lmbFour lmbFour_Multiply( lmbFour a, lmbFour b )
{
	return a * b;
}

static inline lmbFour lmbFour_Divide( lmbFour a, lmbFour b )
{
	return a / b;
}

/* a where a < b, else b: a NaN in a gives b. */
static inline lmbFour lmbFour_Lower( lmbFour a, lmbFour b )
{
	lmbFourMask less = (lmbFourMask)( a < b );
	return (lmbFour)( ( less & (lmbFourMask)a ) | ( ~less & (lmbFourMask)b ) );
}

/* a where a > b, else b: a NaN in a gives b. */
static inline lmbFour lmbFour_Higher( lmbFour a, lmbFour b )
{
	lmbFourMask more = (lmbFourMask)( a > b );
	return (lmbFour)( ( more & (lmbFourMask)a ) | ( ~more & (lmbFourMask)b ) );
}

#else

typedef struct lmbFour
{
	float lanes[4];
} lmbFour;

static inline lmbFour lmbFour_Load( const float *from )
{
	lmbFour a;
	for ( int l = 0; l < 4; ++l )
		a.lanes[l] = from[l];
	return a;
}

static inline void lmbFour_Store( float *to, lmbFour a )
{
	for ( int l = 0; l < 4; ++l )
		to[l] = a.lanes[l];
}

static inline lmbFour lmbFour_Scale( float s, lmbFour a )
{
	for ( int l = 0; l < 4; ++l )
		a.lanes[l] = s * a.lanes[l];
	return a;
}

static inline lmbFour lmbFour_AddScaled( lmbFour sum, float s, lmbFour a )
{
	for ( int l = 0; l < 4; ++l )
		sum.lanes[l] = sum.lanes[l] + s * a.lanes[l];
	return sum;
}

static inline lmbFour lmbFour_Splat( float s )
{
	lmbFour a = { { s, s, s, s } };
	return a;
}

static inline lmbFour lmbFour_Add( lmbFour a, lmbFour b )
{
	for ( int l = 0; l < 4; ++l )
		a.lanes[l] = a.lanes[l] + b.lanes[l];
	return a;
}

static inline lmbFour lmbFour_Subtract( lmbFour a, lmbFour b )
{
	for ( int l = 0; l < 4; ++l )
		a.lanes[l] = a.lanes[l] - b.lanes[l];
	return a;
}

static inline lmbFour lmbFour_Multiply( lmbFour a, lmbFour b )
{
	for ( int l = 0; l < 4; ++l )
		a.lanes[l] = a.lanes[l] * b.lanes[l];
	return a;
}

static inline lmbFour lmbFour_Divide( lmbFour a, lmbFour b )
{
	for ( int l = 0; l < 4; ++l )
		a.lanes[l] = a.lanes[l] / b.lanes[l];
	return a;
}

static inline lmbFour lmbFour_Lower( lmbFour a, lmbFour b )
{
	for ( int l = 0; l < 4; ++l )
		a.lanes[l] = a.lanes[l] < b.lanes[l] ? a.lanes[l] : b.lanes[l];
	return a;
}

static inline lmbFour lmbFour_Higher( lmbFour a, lmbFour b )
{
	for ( int l = 0; l < 4; ++l )
		a.lanes[l] = a.lanes[l] > b.lanes[l] ? a.lanes[l] : b.lanes[l];
	return a;
}

#endif

#endif
