/* One set of kernels (kernels.h says what each computes): included by kernels.c for each instruction set,
 * with LMB_SET, LMB_WIDTH and LMB_ROOT defined. No guard: it is meant to be read many times. */
#include "lanes.h"

/* Vectors of outputs that are summed at once, so that no sum waits for the one before it. */
#if LMB_WIDTH == 16
#define LMB_SUMS 4
#else
#define LMB_SUMS 8
#endif

static inline void LMB_NAME( DenseChunk )( int inputs, size_t outputs, const float *restrict weights,
                                           const float *restrict bias, const float *restrict x, int vectors,
                                           float *restrict y )
{
	Lanes sums[LMB_SUMS];
	for ( int k = 0; k < vectors; ++k )
		sums[k] = bias != NULL ? Load( bias + k * LMB_WIDTH ) : Same( 0.0f );
	for ( int i = 0; i < inputs; ++i, weights += outputs )
		for ( int k = 0; k < vectors; ++k )
			sums[k] = sums[k] + x[i] * Load( weights + k * LMB_WIDTH );
	for ( int k = 0; k < vectors; ++k )
		Store( y + k * LMB_WIDTH, sums[k] );
}

static void LMB_NAME( Dense )( int inputs, int outputs, const float *restrict weights,
                               const float *restrict bias, const float *restrict x, float *restrict y )
{
	int at = 0;
	for ( ; at + LMB_SUMS * LMB_WIDTH <= outputs; at += LMB_SUMS * LMB_WIDTH )
		LMB_NAME( DenseChunk )
	( inputs, (size_t)outputs, weights + at, bias != NULL ? bias + at : NULL, x, LMB_SUMS, y + at );
	for ( ; at + 2 * lmbTile <= outputs && 2 * lmbTile / LMB_WIDTH <= LMB_SUMS; at += 2 * lmbTile )
		LMB_NAME( DenseChunk )
	( inputs, (size_t)outputs, weights + at, bias != NULL ? bias + at : NULL, x,
	  2 * lmbTile / LMB_WIDTH <= LMB_SUMS ? 2 * lmbTile / LMB_WIDTH : 1, y + at );
	for ( ; at < outputs; at += LMB_WIDTH < 2 ? 1 : lmbTile )
		LMB_NAME( DenseChunk )
	( inputs, (size_t)outputs, weights + at, bias != NULL ? bias + at : NULL, x,
	  LMB_WIDTH < 2 ? 1 : lmbTile / LMB_WIDTH, y + at );
}

static inline void LMB_NAME( DenseTwoChunk )( int inputs, size_t outputs, const float *restrict weights,
                                              const float *restrict x0, const float *restrict x1, int vectors,
                                              float *restrict y0, float *restrict y1 )
{
	Lanes first[4], second[4];
	for ( int k = 0; k < vectors; ++k )
		first[k] = second[k] = Same( 0.0f );
	for ( int i = 0; i < inputs; ++i, weights += outputs )
		for ( int k = 0; k < vectors; ++k )
		{
			Lanes weight = Load( weights + k * LMB_WIDTH );
			first[k] = first[k] + x0[i] * weight;
			second[k] = second[k] + x1[i] * weight;
		}
	for ( int k = 0; k < vectors; ++k )
	{
		Store( y0 + k * LMB_WIDTH, first[k] );
		Store( y1 + k * LMB_WIDTH, second[k] );
	}
}

static void LMB_NAME( DenseTwo )( int inputs, int outputs, const float *restrict weights,
                                  const float *const x[2], float *const y[2] )
{
	enum
	{
		few = LMB_WIDTH < 4 ? 4 : lmbTile / LMB_WIDTH
	};
	int at = 0;
	for ( ; at + 4 * LMB_WIDTH <= outputs; at += 4 * LMB_WIDTH )
		LMB_NAME( DenseTwoChunk )
	( inputs, (size_t)outputs, weights + at, x[0], x[1], 4, y[0] + at, y[1] + at );
	for ( ; at < outputs; at += few * LMB_WIDTH )
		LMB_NAME( DenseTwoChunk )
	( inputs, (size_t)outputs, weights + at, x[0], x[1], few, y[0] + at, y[1] + at );
}

/* e^x for x in [0, 19], x = n ln 2 + r; n is made whole by a number so large that its last bit counts ones,
 * ln 2 is two numbers, the first short enough that n times it is exact. */
static inline Lanes LMB_NAME( Exp )( Lanes x )
{
	const float shift = 12582912.0f; /* 1.5 * 2^23 */
	Lanes shifted = x * 1.44269504f + shift;
	Lanes n = shifted - shift;
	Lanes r = ( x - n * 0.693359375f ) - n * -2.12194440e-4f;
	/* (e^r - 1 - r) / r^2 interpolated in Chebyshev's points of |r| <= ln 2 / 2; off by less than 5e-8 */
	Lanes p = r * 0.00019890981f + 0.0013933642f;
	p = p * r + 0.0083333105f;
	p = p * r + 0.041666467f;
	p = p * r + 0.16666667f;
	p = p * r + 0.5f;
	return ( ( r * r ) * p + r + 1.0f ) * Double2( shifted );
}

static void LMB_NAME( Tanh )( int count, float *x )
{
	for ( int i = 0; i < count; i += LMB_WIDTH )
	{
		Lanes value = Load( x + i ), size = Size( value );
		/* From 9.02 on the tangent rounds to 1. */
		Lanes bounded = ChooseLess( size, Same( 9.5f ), size, Same( 9.5f ) );
		Lanes far = 1.0f - 2.0f / ( LMB_NAME( Exp )( bounded + bounded ) + 1.0f );
		/* (tanh x / x - 1) / x^2 as a polynomial of z = x^2, interpolated in Chebyshev's points of
		 * |x| <= 0.625; off by less than 4e-8. */
		Lanes z = bounded * bounded;
		Lanes p = z * 0.0022927448f + -0.0083439453f;
		p = p * z + 0.021768918f;
		p = p * z + -0.053959258f;
		p = p * z + 0.13333304f;
		p = p * z + -0.33333334f;
		Lanes near = bounded + bounded * ( z * p );
		Store( x + i, FlipBy( ChooseLess( size, Same( 0.625f ), near, far ), value ) );
	}
}

/* Sums over as many vectors of lanes at once as keep the processor busy; a tile lies count tiles behind the
 * one before. */
static inline void LMB_NAME( ShapesChunk )( int count, const float *restrict shapes, int sums, int vectors,
                                            const float *const *amounts, float *const *out, int at )
{
	enum
	{
		perTile = lmbTile / LMB_WIDTH
	};
	Lanes total[3][4];
	const float *row[4];
	for ( int k = 0; k < vectors; ++k )
	{
		row[k] = shapes + ( (size_t)( k / perTile ) * (size_t)count * lmbTile + k % perTile * LMB_WIDTH );
		for ( int s = 0; s < sums; ++s )
			total[s][k] = Same( 0.0f );
	}
	for ( int i = 0; i < count; ++i )
		for ( int k = 0; k < vectors; ++k )
		{
			Lanes shape = Load( row[k] + (size_t)i * lmbTile );
			for ( int s = 0; s < sums; ++s )
				total[s][k] = total[s][k] + amounts[s][i] * shape;
		}
	for ( int s = 0; s < sums; ++s )
		for ( int k = 0; k < vectors; ++k )
			Store( out[s] + at + k * LMB_WIDTH, total[s][k] );
}

static void LMB_NAME( Shapes )( int count, const float *restrict shapes, int sums,
                                const float *const *amounts, float *const *out )
{
	enum
	{
		perTile = lmbTile / LMB_WIDTH,
		one = 4,                        /* vectors at once for one sum */
		three = LMB_WIDTH == 16 ? 4 : 2 /* and for three, which take more registers */
	};
	int step = ( sums == 3 ? three : one ) * LMB_WIDTH;
	for ( int at = 0; at < 3 * lmbLanes; at += step )
	{
		const float *from = shapes + (size_t)( at / lmbTile ) * (size_t)count * lmbTile + at % lmbTile;
		if ( sums == 3 )
			LMB_NAME( ShapesChunk )( count, from, 3, three, amounts, out, at );
		else
			LMB_NAME( ShapesChunk )( count, from, 1, one, amounts, out, at );
	}
}

/* Numbers as whole ones within limit of the largest; returns what one counts. scaled (count padded to
 * lmbTile) ends in zeros. */
static inline float LMB_NAME( RoundScaled )( int padded, const float *restrict scaled, float limit,
                                             int16_t *restrict rounded )
{
	const float shift = 12582912.0f; /* 1.5 * 2^23: adding it rounds to whole numbers */
	Lanes largest = Same( 0.0f );
	for ( int i = 0; i < padded; i += LMB_WIDTH )
	{
		Lanes size = Size( Load( scaled + i ) );
		largest = ChooseLess( size, largest, largest, size );
	}
	LMB_ALIGNED float sizes[LMB_WIDTH];
	Store( sizes, largest );
	float most = sizes[0];
	for ( int l = 1; l < LMB_WIDTH; ++l )
		most = sizes[l] > most ? sizes[l] : most;
	if ( !( most > 1e-25f && most < 1e30f ) )
	{
		memset( rounded, 0, (size_t)padded * sizeof( *rounded ) );
		return 0.0f;
	}
	Lanes inverse = Same( limit / most );
	for ( int i = 0; i < padded; i += LMB_WIDTH )
		LMB_STORE_WORDS( rounded + i, Whole( Load( scaled + i ) * inverse + shift ) );
	return most / limit;
}

/* Scaled amounts as whole numbers of 16 bits; returns what one counts. */
static inline float LMB_NAME( RoundAmounts )( const lmbColumns *columns, const float *restrict amounts,
                                              int16_t *restrict rounded )
{
	LMB_ALIGNED float scaled[lmbColumnLimit];
	int count = columns->count, padded = ( count + lmbTile - 1 ) / lmbTile * lmbTile;
	for ( int i = 0; i < count; ++i )
		scaled[i] = columns->scales[i] * amounts[columns->amount[i]];
	for ( int i = count; i < padded; ++i )
		scaled[i] = 0.0f;
	return LMB_NAME( RoundScaled )( padded, scaled, 32767.0f, rounded );
}

/* Inputs of a chunk, the same way. */
static inline float LMB_NAME( RoundInputs )( int count, const float *restrict scales, const float *restrict x,
                                             int16_t *restrict rounded )
{
	LMB_ALIGNED float scaled[lmbWordChunk];
	int padded = ( count + lmbTile - 1 ) / lmbTile * lmbTile;
	for ( int i = 0; i < count; ++i )
		scaled[i] = scales[i] * x[i];
	for ( int i = count; i < padded; ++i )
		scaled[i] = 0.0f;
	return LMB_NAME( RoundScaled )( padded, scaled, (float)lmbWordLimit, rounded );
}

/* Adds a chunk's sums for some tiles of outputs. */
static inline void LMB_NAME( WordsChunk )( int pairs, const int16_t *restrict entries, int sums, int tiles,
                                           const int16_t *restrict inputs, const float *units,
                                           float *const *y, int at )
{
	enum
	{
		perTile = lmbTile / LMB_WIDTH
	};
	LMB_TOTALS total[2][perTile > 4 ? perTile : 4];
	for ( int s = 0; s < sums; ++s )
		for ( int k = 0; k < tiles * perTile; ++k )
			total[s][k] = LMB_NO_TOTALS;
	for ( int i = 0; i < pairs; ++i )
		for ( int k = 0; k < tiles * perTile; ++k )
		{
			LMB_WORDS words = LMB_LOAD_WORDS(
			    entries + ( (size_t)( k / perTile ) * (size_t)pairs + (size_t)i ) * 2 * lmbTile +
			    k % perTile * 2 * LMB_WIDTH );
			for ( int s = 0; s < sums; ++s )
				total[s][k] = LMB_MULTIPLY_ADD( total[s][k], words, inputs + s * lmbWordChunk + 2 * i );
		}
	for ( int s = 0; s < sums; ++s )
		for ( int k = 0; k < tiles * perTile; ++k )
		{
			float *to = y[s] + at + k * LMB_WIDTH;
			Store( to, Load( to ) + units[s] * LMB_TO_LANES( total[s][k] ) );
		}
}

static void LMB_NAME( Words )( const lmbWords *matrix, const float *bias, int sums, const float *const *x,
                               float *const *y )
{
	enum
	{
		many = LMB_WIDTH == 16  ? 4
		       : LMB_WIDTH == 8 ? 2
		                        : 1
	};
	LMB_ALIGNED int16_t inputs[2 * lmbWordChunk];
	float units[2];
	const int16_t *entries = matrix->entries;
	for ( int s = 0; s < sums; ++s )
		for ( int o = 0; o < matrix->outputs; o += LMB_WIDTH )
			Store( y[s] + o, bias != NULL ? Load( bias + o ) : Same( 0.0f ) );
	for ( int first = 0; first < matrix->inputs; first += lmbWordChunk )
	{
		int left = matrix->inputs - first, count = left < lmbWordChunk ? left : lmbWordChunk;
		int pairs = ( count + 1 ) / 2, at = 0;
		for ( int s = 0; s < sums; ++s )
			units[s] = LMB_NAME( RoundInputs )( count, matrix->scales + first, x[s] + first,
			                                    inputs + s * lmbWordChunk );
		for ( ; at + many * lmbTile <= matrix->outputs;
		      at += many * lmbTile, entries += (size_t)many * (size_t)pairs * 2 * lmbTile )
			if ( sums == 2 )
				LMB_NAME( WordsChunk )( pairs, entries, 2, many, inputs, units, y, at );
			else
				LMB_NAME( WordsChunk )( pairs, entries, 1, many, inputs, units, y, at );
		for ( ; at < matrix->outputs; at += lmbTile, entries += (size_t)pairs * 2 * lmbTile )
			LMB_NAME( WordsChunk )( pairs, entries, sums, 1, inputs, units, y, at );
	}
}

/* Some tiles of a block; amounts and entries of two columns at a time. */
static inline void LMB_NAME( ColumnsChunk )( int pairs, const int8_t *restrict entries, int sums, int tiles,
                                             const int16_t *restrict amounts, const float *units,
                                             float *const *out, int at )
{
	enum
	{
		perTile = lmbTile / LMB_WIDTH
	};
	LMB_TOTALS total[3][perTile > 4 ? perTile : 4];
	for ( int s = 0; s < sums; ++s )
		for ( int k = 0; k < tiles * perTile; ++k )
			total[s][k] = LMB_NO_TOTALS;
	for ( int i = 0; i < pairs; ++i )
	{
		for ( int k = 0; k < tiles; ++k ) /* the tiles after these */
			LMB_AHEAD( entries + ( (size_t)k * (size_t)pairs + (size_t)i ) * 2 * lmbTile,
			           (size_t)tiles * (size_t)pairs * 2 * lmbTile );
		for ( int k = 0; k < tiles * perTile; ++k )
		{
			LMB_WORDS words =
			    LMB_WIDEN( entries + ( (size_t)( k / perTile ) * (size_t)pairs + (size_t)i ) * 2 * lmbTile +
			               k % perTile * 2 * LMB_WIDTH );
			for ( int s = 0; s < sums; ++s )
				total[s][k] = LMB_MULTIPLY_ADD( total[s][k], words, amounts + s * lmbColumnLimit + 2 * i );
		}
	}
	for ( int s = 0; s < sums; ++s )
		for ( int k = 0; k < tiles * perTile; ++k )
			Store( out[s] + at + k * LMB_WIDTH, units[s] * LMB_TO_LANES( total[s][k] ) );
}

static void LMB_NAME( Columns )( const lmbColumns *columns, int sums, const float *const *amounts,
                                 float *const *out )
{
	enum
	{
		tiles = LMB_WIDTH == 16 ? 4 : 1
	};
	LMB_ALIGNED int16_t rounded[3 * lmbColumnLimit];
	float units[3];
	for ( int s = 0; s < sums; ++s )
		units[s] = LMB_NAME( RoundAmounts )( columns, amounts[s], rounded + s * lmbColumnLimit );
	int pairs = columns->count / 2;
	for ( int at = 0; at < 3 * lmbLanes; at += tiles * lmbTile )
	{
		const int8_t *entries = columns->entries + (size_t)at * 2 * (size_t)pairs;
		if ( sums == 3 )
			LMB_NAME( ColumnsChunk )
		( pairs, entries, 3, tiles, rounded, units, out, at );
		else LMB_NAME( ColumnsChunk )( pairs, entries, 1, tiles, rounded, units, out, at );
	}
}

/* The bones of one vertex blended: four columns of the matrix, each followed by a number of the quaternion.
 */
static inline void LMB_NAME( Blend )( const float *palette, const uint16_t *bones, const float *weights,
                                      int used, bool turns, float *out )
{
	enum
	{
		parts = 16 / LMB_WIDTH
	};
	const float *first = palette + (size_t)bones[0] * lmbBoneFloats;
	Turns own = TurnsLoad( first + lmbBoneQuaternion );
	Lanes sums[parts];
	for ( int part = 0; part < parts; ++part )
		sums[part] = weights[0] * Load( first + part * LMB_WIDTH );
	for ( int k = 1; k < used; ++k )
	{
		const float *bone = palette + (size_t)bones[k] * lmbBoneFloats;
		Turns same = own;
		if ( turns )
			same = TurnsDot( own, TurnsLoad( bone + lmbBoneQuaternion ) );
		for ( int part = 0; part < parts; ++part )
		{
			Lanes weight = turns ? TurnsWeight( weights[k], same, part ) : Same( weights[k] );
			sums[part] = sums[part] + weight * Load( bone + part * LMB_WIDTH );
		}
	}
	for ( int part = 0; part < parts; ++part )
		Store( out + part * LMB_WIDTH, sums[part] );
}

/* ((column0 x + column1 y) + column2 z) + column3 */
static inline Quad LMB_NAME( Place )( const float *blended, const float *rest )
{
	Quad sum =
	    QuadAdd( QuadScale( rest[0], QuadLoad( blended ) ), QuadScale( rest[1], QuadLoad( blended + 4 ) ) );
	return QuadAdd( QuadAdd( sum, QuadScale( rest[2], QuadLoad( blended + 8 ) ) ), QuadLoad( blended + 12 ) );
}

static void LMB_NAME( Skin )( const lmbSkin *skin, float *restrict positions, float *restrict quaternions )
{
	for ( int l = 0; l < lmbLanes; ++l )
	{
		LMB_ALIGNED float blended[16];
		LMB_ALIGNED float place[4];
		LMB_NAME( Blend )
		( skin->palette, skin->bones + l * skin->used, skin->weights + l * skin->used,
		  skin->tiles[l / lmbTile], true, blended );
		QuadStore( place, LMB_NAME( Place )( blended, skin->rest + 3 * l ) );
		for ( int i = 0; i < 3; ++i )
			positions[i * lmbLanes + l] = place[i];
		for ( int i = 0; i < 4; ++i )
			quaternions[i * lmbLanes + l] = blended[4 * i + 3];
	}
	/* The sum has at least the heaviest bone's weight in that bone's direction, so its length is not zero; a
	 * padding lane has bone 0 with weight 1. */
	for ( int l = 0; l < lmbLanes; l += LMB_WIDTH )
	{
		Lanes x = Load( quaternions + l ), y = Load( quaternions + lmbLanes + l ),
		      z = Load( quaternions + 2 * lmbLanes + l ), w = Load( quaternions + 3 * lmbLanes + l );
		Lanes scale = 1.0f / Root( x * x + y * y + z * z + w * w );
		Store( quaternions + l, x * scale );
		Store( quaternions + lmbLanes + l, y * scale );
		Store( quaternions + 2 * lmbLanes + l, z * scale );
		Store( quaternions + 3 * lmbLanes + l, w * scale );
	}
}

/* Of vertices with one bone, the same sums. */
static inline void LMB_NAME( SkinOne )( const lmbSkin *skin, const int32_t *restrict order,
                                        float *restrict positions )
{
	for ( int l = 0; l < lmbLanes; ++l )
	{
		if ( order[l] < 0 )
			continue;
		const float *bone = skin->palette + (size_t)skin->bones[l] * lmbBoneFloats;
		const float *rest = skin->rest + 3 * l;
		float weight = skin->weights[l];
		Quad sum = QuadAdd( QuadScale( rest[0], QuadScale( weight, QuadLoad( bone ) ) ),
		                    QuadScale( rest[1], QuadScale( weight, QuadLoad( bone + 4 ) ) ) );
		sum = QuadAdd( sum, QuadScale( rest[2], QuadScale( weight, QuadLoad( bone + 8 ) ) ) );
		QuadStore3( positions + 3 * (size_t)order[l],
		            QuadAdd( sum, QuadScale( weight, QuadLoad( bone + 12 ) ) ) );
	}
}

static void LMB_NAME( SkinRigid )( const lmbSkin *skin, const int32_t *restrict order,
                                   float *restrict positions )
{
	if ( skin->used == 1 )
	{
		LMB_NAME( SkinOne )( skin, order, positions );
		return;
	}
	for ( int l = 0; l < lmbLanes; ++l )
	{
		if ( order[l] < 0 )
			continue;
		LMB_ALIGNED float blended[16];
		LMB_NAME( Blend )
		( skin->palette, skin->bones + l * skin->used, skin->weights + l * skin->used,
		  skin->tiles[l / lmbTile], false, blended );
		QuadStore3( positions + 3 * (size_t)order[l], LMB_NAME( Place )( blended, skin->rest + 3 * l ) );
	}
}

/* v + 2 w (q x v) + 2 q x (q x v) */
static void LMB_NAME( Rotate )( const float *restrict q, const float *restrict in, float *restrict out )
{
	for ( int l = 0; l < lmbLanes; l += LMB_WIDTH )
	{
		Lanes x = Load( q + l ), y = Load( q + lmbLanes + l ), z = Load( q + 2 * lmbLanes + l ),
		      w = Load( q + 3 * lmbLanes + l );
		Lanes vx = Load( in + l ), vy = Load( in + lmbLanes + l ), vz = Load( in + 2 * lmbLanes + l );
		Lanes tx = 2.0f * ( y * vz - z * vy ), ty = 2.0f * ( z * vx - x * vz ),
		      tz = 2.0f * ( x * vy - y * vx );
		Store( out + l, vx + w * tx + ( y * tz - z * ty ) );
		Store( out + lmbLanes + l, vy + w * ty + ( z * tx - x * tz ) );
		Store( out + 2 * lmbLanes + l, vz + w * tz + ( x * ty - y * tx ) );
	}
}

static void LMB_NAME( Turn )( const float *restrict m, const float *restrict in, float *restrict out )
{
	for ( int l = 0; l < lmbLanes; l += LMB_WIDTH )
	{
		Lanes x = Load( in + l ), y = Load( in + lmbLanes + l ), z = Load( in + 2 * lmbLanes + l );
		for ( int row = 0; row < 3; ++row )
			Store( out + row * lmbLanes + l, m[3 * row] * x + m[3 * row + 1] * y + m[3 * row + 2] * z );
	}
}

static void LMB_NAME( Drive )( const lmbDrive *drive, const float *restrict place, float *restrict last,
                               float *restrict e1, float *restrict e2, float *restrict start,
                               float *restrict end )
{
	for ( int l = 0; l < lmbLanes; l += LMB_WIDTH )
	{
		Lanes next = Load( place + l ), now = next - Load( last + l ), before = Load( e1 + l ),
		      oldest = Load( e2 + l );
		Lanes begins =
		    drive->start[0] * now + drive->start[1] * before + drive->start[2] * oldest + drive->startOrigin;
		Lanes ends = drive->end[0] * now + drive->end[1] * before + drive->end[2] * oldest + drive->endOrigin;
		Store( start + l, begins - Load( start + l ) );
		Store( end + l, ends - Load( end + l ) );
		Store( e2 + l, before );
		Store( e1 + l, now );
		Store( last + l, next );
	}
}

static void LMB_NAME( Direct )( const float *restrict moved, const float *restrict gains, float perLimit,
                                float *restrict positions )
{
	for ( int l = 0; l < lmbLanes; l += LMB_WIDTH )
	{
		Lanes gain = Load( gains + l );
		Lanes x = gain * Load( moved + l ), y = gain * Load( moved + lmbLanes + l ),
		      z = gain * Load( moved + 2 * lmbLanes + l );
		/* Of the limit first, so that no square leaves the range of float. */
		Lanes a = perLimit * x, b = perLimit * y, c = perLimit * z;
		Lanes scale = 1.0f / Root( 1.0f + ( a * a + b * b + c * c ) );
		Store( positions + l, Load( positions + l ) + scale * x );
		Store( positions + lmbLanes + l, Load( positions + lmbLanes + l ) + scale * y );
		Store( positions + 2 * lmbLanes + l, Load( positions + 2 * lmbLanes + l ) + scale * z );
	}
}

/* The map over a step from that over its half, both with a forcing that is linear in time. */
static inline void LMB_NAME( DoubleMap )( Lanes *m )
{
	Lanes half0 = 0.5f * m[4], half1 = 0.5f * m[5], half2 = 0.5f * m[6], half3 = 0.5f * m[7];
	Lanes u = m[4] + half1, v = m[6] + half3; /* what the first half's forcing leaves for the start's */
	Lanes start0 = ( u + ( m[0] * u + m[1] * v ) ) + half0, start1 = ( v + ( m[2] * u + m[3] * v ) ) + half2;
	Lanes end0 = ( half1 + ( m[0] * half1 + m[1] * half3 ) ) + ( half0 + m[5] );
	Lanes end1 = ( half3 + ( m[2] * half1 + m[3] * half3 ) ) + ( half2 + m[7] );
	Lanes cross = m[1] * m[2], trace = m[0] + m[3];
	Lanes e0 = ( m[0] + m[0] ) + ( m[0] * m[0] + cross ), e3 = ( m[3] + m[3] ) + ( m[3] * m[3] + cross );
	m[1] = ( m[1] + m[1] ) + trace * m[1];
	m[2] = ( m[2] + m[2] ) + trace * m[2];
	m[0] = e0;
	m[3] = e3;
	m[4] = start0;
	m[5] = end0;
	m[6] = start1;
	m[7] = end1;
}

static void LMB_NAME( Maps )( const float *rates, float time, int halvings, float *map )
{
	enum
	{
		terms = 14
	};
	static const float factorials[terms + 1] = { /* 1 / (n + 3)! */
	                                             1.0f / 6.0f,
	                                             1.0f / 24.0f,
	                                             1.0f / 120.0f,
	                                             1.0f / 720.0f,
	                                             1.0f / 5040.0f,
	                                             1.0f / 40320.0f,
	                                             1.0f / 362880.0f,
	                                             1.0f / 3628800.0f,
	                                             1.0f / 39916800.0f,
	                                             1.0f / 479001600.0f,
	                                             1.0f / 6227020800.0f,
	                                             1.0f / 87178291200.0f,
	                                             1.0f / 1307674368000.0f,
	                                             1.0f / 20922789888000.0f,
	                                             1.0f / 355687428096000.0f };
	for ( int i = 0; i < halvings; ++i )
		time *= 0.5f;
	for ( int l = 0; l < lmbLanes; l += LMB_WIDTH )
	{
		Lanes k = Load( rates + l ), p = Load( rates + lmbLanes + l ) * time, q = ( k * time ) * time;
		/* Derivatives h of G at 0 make G2 = sum h_n / (n + 2)! and G3 = sum h_n / (n + 3)!, h_1 = 1. */
		Lanes last = Same( 0.0f ), h = Same( 1.0f );
		Lanes g2 = Same( factorials[0] ), g3 = Same( factorials[1] );
		for ( int n = 1; n < terms; ++n )
		{
			Lanes next = ( 0.0f - p ) * h - q * last;
			last = h;
			h = next;
			g2 = g2 + factorials[n] * h;
			g3 = g3 + factorials[n + 1] * h;
		}
		/* From the differential equation, integrated twice and once. */
		Lanes g1 = 0.5f - ( p * g2 + q * g3 ), g = 1.0f - ( p * g1 + q * g2 );
		Lanes m[8] = { 0.0f - q * g1,
		               time * g,
		               ( 0.0f - k ) * ( time * g ),
		               0.0f - ( p * g + q * g1 ),
		               ( time * time ) * ( g1 - g2 ),
		               ( time * time ) * g2,
		               time * ( g - g1 ),
		               time * g1 };
		for ( int i = 0; i < halvings; ++i )
			LMB_NAME( DoubleMap )( m );
		for ( int plane = 0; plane < 8; ++plane )
			Store( map + plane * lmbLanes + l, m[plane] );
	}
}

/* Both become 0 where one of them has left its range. */
static inline void LMB_NAME( StoreSound )( float *u, float *v, Lanes x, Lanes y )
{
	const Lanes none = Same( 0.0f ), farthest = Same( 1e15f ), fastest = Same( 1e30f );
	Store( u, ChooseLess( Size( x ), farthest, ChooseLess( Size( y ), fastest, x, none ), none ) );
	Store( v, ChooseLess( Size( x ), farthest, ChooseLess( Size( y ), fastest, y, none ), none ) );
}

static void LMB_NAME( Springs )( const lmbSpringBlock *block, bool jumps )
{
	const float *restrict m = block->map, *restrict start = block->start, *restrict end = block->end;
	float *restrict u = block->u, *restrict v = block->v;
	for ( int at = 0; at < 3 * lmbLanes; at += LMB_WIDTH )
	{
		const float *map = m + at % lmbLanes;
		Lanes x = Load( u + at ), y = Load( v + at );
		Lanes pushX = Same( 0.0f ), pushY = pushX;
		if ( jumps )
			y = y - Load( start + at );
		else
		{
			Lanes a0 = Load( start + at ), a1 = Load( end + at );
			pushX = Load( map + 4 * lmbLanes ) * a0 + Load( map + 5 * lmbLanes ) * a1;
			pushY = Load( map + 6 * lmbLanes ) * a0 + Load( map + 7 * lmbLanes ) * a1;
		}
		LMB_NAME( StoreSound )
		( u + at, v + at, x + ( ( Load( map ) * x + Load( map + lmbLanes ) * y ) - pushX ),
		  y + ( ( Load( map + 2 * lmbLanes ) * x + Load( map + 3 * lmbLanes ) * y ) - pushY ) );
	}
}

static inline void LMB_NAME( AddTo )( float *sum, Quad n )
{
	QuadStore( sum, QuadAdd( QuadLoad( sum ), n ) );
}

/* e x f as (z, x, y), which spares a shuffle: e next( f ) - next( e ) f. */
static inline Quad LMB_NAME( Cross )( Quad e, Quad nextE, Quad f, Quad nextF )
{
	return QuadSub( QuadMul( e, nextF ), QuadMul( nextE, f ) );
}

/* The triangle of a vertex and the two before it has its own winding where the vertex's index is even, the
 * other one where it is odd. A vertex takes part in three triangles, whose normals are summed before they go
 * to memory. */
static inline void LMB_NAME( Gather )( int count, const int32_t *restrict strips,
                                       const float *restrict positions, float *restrict sums )
{
	if ( count < 4 )
		return;
	uint32_t first = (uint32_t)strips[0], second = (uint32_t)strips[1];
	Quad last = QuadLoad( positions + 3 * (size_t)second );
	Quad e = QuadSub( last, QuadLoad( positions + 3 * (size_t)first ) ), nextE = QuadNext( e );
	Quad n1 = QuadSub( last, last ), n2 = n1; /* of the triangles that end with first and second */
	for ( int i = 2; i < count; i += 2 )
	{
		uint32_t third = (uint32_t)strips[i], fourth = (uint32_t)strips[i + 1];
		Quad place = QuadLoad( positions + 3 * (size_t)third );
		Quad f = QuadSub( place, last ), nextF = QuadNext( f );
		Quad n3 = LMB_NAME( Cross )( e, nextE, f, nextF );
		LMB_NAME( AddTo )( sums + 4 * (size_t)first, QuadAdd( QuadAdd( n1, n2 ), n3 ) );
		last = QuadLoad( positions + 3 * (size_t)fourth );
		e = QuadSub( last, place );
		nextE = QuadNext( e );
		Quad n4 = LMB_NAME( Cross )( e, nextE, f, nextF );
		LMB_NAME( AddTo )( sums + 4 * (size_t)second, QuadAdd( QuadAdd( n2, n3 ), n4 ) );
		n1 = n3;
		n2 = n4;
		first = third;
		second = fourth;
	}
}

/* The cofactors of a matrix turn its faces' normals, areas and all. */
static inline void LMB_NAME( TurnNormals )( const lmbNormals *mesh )
{
	const lmbTurned *turned = mesh->turned;
	for ( int r = 0; r < mesh->runCount; ++r )
	{
		const float *bone = mesh->palette + (size_t)mesh->runs[r].bone * lmbBoneFloats;
		Quad x = QuadLoad( bone ), y = QuadLoad( bone + 4 ), z = QuadLoad( bone + 8 );
		Quad nextX = QuadNext( x ), nextY = QuadNext( y ), nextZ = QuadNext( z );
		Quad yz = LMB_NAME( Cross )( y, nextY, z, nextZ ), zx = LMB_NAME( Cross )( z, nextZ, x, nextX ),
		     xy = LMB_NAME( Cross )( x, nextX, y, nextY );
		for ( const lmbTurned *end = turned + mesh->runs[r].count; turned < end; ++turned )
			QuadStore(
			    mesh->sums + 4 * (size_t)turned->vertex,
			    QuadAdd( QuadAdd( QuadScale( turned->normal[0], yz ), QuadScale( turned->normal[1], zx ) ),
			             QuadScale( turned->normal[2], xy ) ) );
	}
}

/* 1 / sqrt( squares ), 0 beyond lengths whose squares leave the range of float. */
static inline Lanes LMB_NAME( UnitScale )( Lanes squares )
{
	Lanes length = Root( squares ), none = Same( 0.0f );
	return ChooseLess( Same( 1e-30f ), length,
	                   ChooseLess( length, Same( 1e30f ), Same( 1.0f ) / length, none ), none );
}

/* Unit lengths of a tile's sums, which become zero: three floats for each vertex, and at most four more
 * written behind the last. */
static inline void LMB_NAME( Finish )( float *restrict sums, float *restrict normals )
{
#if LMB_WIDTH > 1
	for ( int l = 0; l < lmbTile; l += LMB_WIDTH, sums += 4 * LMB_WIDTH )
	{
		Lanes rows[4];
		for ( int k = 0; k < 4; ++k )
		{
			rows[k] = Load( sums + k * LMB_WIDTH );
			Store( sums + k * LMB_WIDTH, Same( 0.0f ) );
		}
		Lanes scale = LMB_NAME( UnitScale )( SumSquares( rows ) );
		for ( int k = 0; k < 4; ++k, normals += 3 * LMB_WIDTH / 4 )
			StoreUnit( normals, rows[k], scale, k );
	}
#else
	for ( int l = 0; l < lmbTile; ++l, sums += 4, normals += 3 )
	{
		float z = sums[0], x = sums[1], y = sums[2];
		float scale = LMB_NAME( UnitScale )( x * x + y * y + z * z );
		normals[0] = scale > 0.0f ? x * scale : 0.0f;
		normals[1] = scale > 0.0f ? y * scale : 1.0f;
		normals[2] = scale > 0.0f ? z * scale : 0.0f;
		memset( sums, 0, 4 * sizeof( *sums ) );
	}
#endif
}

static void LMB_NAME( Normals )( const lmbNormals *mesh )
{
	int padded = ( mesh->vertexCount + lmbTile - 1 ) / lmbTile * lmbTile;
	LMB_NAME( Gather )( mesh->stripCount, mesh->strips, mesh->positions, mesh->sums );
	for ( int s = 0; s < mesh->seamCount; ++s )
		LMB_NAME( AddTo )
	( mesh->sums + 4 * (size_t)mesh->seams[2 * s + 1],
	  QuadLoad( mesh->sums + 4 * (size_t)mesh->seams[2 * s] ) );
	LMB_NAME( TurnNormals )( mesh );
	for ( int v = 0; v < padded; v += lmbTile )
		LMB_NAME( Finish )( mesh->sums + 4 * (size_t)v, mesh->normals + 3 * (size_t)v );
	for ( int s = 0; s < mesh->seamCount; ++s )
		memcpy( mesh->normals + 3 * (size_t)mesh->seams[2 * s],
		        mesh->normals + 3 * (size_t)mesh->seams[2 * s + 1], 3 * sizeof( float ) );
}

#define LMB_TEXT2( name ) #name
#define LMB_TEXT( name ) LMB_TEXT2( name )
static const lmbKernels LMB_NAME( kernels ) = {
    .name = LMB_TEXT( LMB_SET ),
    .dense = LMB_NAME( Dense ),
    .denseTwo = LMB_NAME( DenseTwo ),
    .tanh = LMB_NAME( Tanh ),
    .words = LMB_NAME( Words ),
    .shapes = LMB_NAME( Shapes ),
    .columns = LMB_NAME( Columns ),
    .skin = LMB_NAME( Skin ),
    .skinRigid = LMB_NAME( SkinRigid ),
    .rotate = LMB_NAME( Rotate ),
    .turn = LMB_NAME( Turn ),
    .drive = LMB_NAME( Drive ),
    .maps = LMB_NAME( Maps ),
    .direct = LMB_NAME( Direct ),
    .springs = LMB_NAME( Springs ),
    .normals = LMB_NAME( Normals ),
};
#undef LMB_TEXT
#undef LMB_TEXT2
#undef LMB_SUMS
#undef LMB_SET
#undef LMB_WIDTH
#undef LMB_ROOT
#undef LMB_WORDS
#undef LMB_STORE_WORDS
#undef LMB_TOTALS
#undef LMB_NO_TOTALS
#undef LMB_WIDEN
#undef LMB_LOAD_WORDS
#undef LMB_MULTIPLY_ADD
#undef LMB_TO_LANES

#undef Lanes
#undef Bits
#undef Quad
#undef Load
#undef Store
#undef Same
#undef Root
#undef ChooseLess
#undef Size
#undef FlipBy
#undef Double2
#undef Whole
#undef QuadLoad
#undef QuadStore
#undef QuadStore3
#undef QuadScale
#undef QuadAdd
#undef QuadSub
#undef QuadMul
#undef QuadNext
#undef Turns
#undef TurnsLoad
#undef TurnsDot
#undef TurnsWeight
#undef SumSquares
#undef StoreUnit
#undef LMB_NAME
#undef LMB_JOIN
#undef LMB_JOIN2
