/* Every set of kernels that this processor has against plain C, bit for bit, on random numbers, and plain C
 * against the formulas in double. */
#include "check.h"

#include "base/random.h"
#include "runtime/kernels/kernels.h"
#include "runtime/springs.h"
#include "runtime/strips.h"

#include <stdlib.h>

enum
{
	inputs = 37,
	outputs = 9 * lmbTile, /* whole chunks and what is left over, for every set */
	block = 3 * lmbLanes,
	bones = 9,
	vertexCount = 77,
	triangleCount = 151,
	most = 1 << 15 /* numbers of one call */
};

/* What a call reads and what it has written. */
typedef struct Case
{
	float in[most], out[most];
} Case;

static void Fill( lmbRandom *random, float *numbers, size_t count )
{
	for ( size_t i = 0; i < count; ++i )
		numbers[i] = (float)( lmbRandom_Normal( random ) * ( i % 7 == 0 ? 1e-20 : 1.0 ) );
}

static void Dense( const lmbKernels *kernels, Case *c, lmbRandom *random )
{
	(void)random;
	const float *weights = c->in, *bias = weights + inputs * outputs, *x = bias + outputs;
	const float *both[2] = { x, x + inputs };
	float *y[2] = { c->out + 2 * outputs, c->out + 3 * outputs };
	kernels->dense( inputs, outputs, weights, bias, x, c->out );
	kernels->dense( inputs, outputs, weights, NULL, x, c->out + outputs );
	kernels->denseTwo( inputs, outputs, weights, both, y );
	CHECK( memcmp( y[0], c->out + outputs, outputs * sizeof( float ) ) == 0 );
	for ( int o = 0; o < outputs; ++o )
	{
		double sum = bias[o], size = fabs( sum );
		for ( int i = 0; i < inputs; ++i )
		{
			sum += (double)weights[i * outputs + o] * x[i];
			size += fabs( (double)weights[i * outputs + o] * x[i] );
		}
		CHECK_NEAR( c->out[o], sum, 40 * 6e-8 * size ); /* a rounding each of product and sum */
	}
}

static void Tanh( const lmbKernels *kernels, Case *c, lmbRandom *random )
{
	enum
	{
		count = 1024
	};
	const float edges[] = { 0.0f, -0.0f, 0.625f, -0.6249999f, 9.5f, 20.0f, -1e30f, 3e38f, 1e-38f, INFINITY };
	for ( int i = 0; i < count; ++i )
		c->out[i] = (float)( 3.0 * lmbRandom_Normal( random ) );
	memcpy( c->out, edges, sizeof( edges ) );
	float x[count];
	memcpy( x, c->out, sizeof( x ) );
	kernels->tanh( count, c->out );
	for ( int i = 0; i < count; ++i )
	{
		double truth = tanh( (double)x[i] );
		CHECK_NEAR( c->out[i], truth, 1.5e-7 * fabs( truth ) ); /* two units in the last place at most */
	}
	CHECK( signbit( c->out[1] ) );
}

static void Shapes( const lmbKernels *kernels, Case *c, lmbRandom *random )
{
	(void)random;
	enum
	{
		count = 21
	};
	const float *amounts[3] = { c->in, c->in + count, c->in + 2 * count }, *shapes = c->in + 3 * count;
	float *out[3] = { c->out, c->out + block, c->out + 2 * block }, *alone = c->out + 3 * block;
	kernels->shapes( count, shapes, 3, amounts, out );
	kernels->shapes( count, shapes, 1, amounts, &alone );
	CHECK( memcmp( alone, out[0], block * sizeof( float ) ) == 0 );
	for ( int s = 0; s < 3; ++s )
		for ( int l = 0; l < block; ++l )
		{
			double sum = 0.0;
			for ( int i = 0; i < count; ++i )
				sum += (double)shapes[( l / lmbTile * count + i ) * lmbTile + l % lmbTile] * amounts[s][i];
			CHECK_NEAR( out[s][l], sum, 2e-5 );
		}
}

static void Columns( const lmbKernels *kernels, Case *c, lmbRandom *random )
{
	enum
	{
		count = 38,
		amountCount = 50
	};
	static int8_t entries[count * block];
	int32_t amount[count];
	float scales[count];
	for ( int i = 0; i < count * block; ++i )
		entries[i] = (int8_t)( (int)lmbRandom_Below( random, 255 ) - 127 );
	for ( int i = 0; i < count; ++i )
	{
		amount[i] = (int32_t)lmbRandom_Below( random, amountCount );
		scales[i] = (float)lmbRandom_Uniform( random );
	}
	memset( entries, 127, 100 ); /* the largest sums */
	lmbColumns columns = { count, amount, scales, entries };
	const float *amounts[3] = { c->in, c->in + amountCount, c->in + 2 * amountCount };
	float *out[3] = { c->out, c->out + block, c->out + 2 * block }, *alone = c->out + 3 * block;
	kernels->columns( &columns, 3, amounts, out );
	kernels->columns( &columns, 1, amounts + 1, &alone );
	CHECK( memcmp( alone, out[1], block * sizeof( float ) ) == 0 );
	for ( int s = 0; s < 3; ++s )
		for ( int l = 0; l < block; ++l )
		{
			double sum = 0.0, largest = 0.0;
			for ( int i = 0; i < count; ++i )
			{
				double scaled = (double)scales[i] * amounts[s][amount[i]];
				int at = ( l / lmbTile * count / 2 + i / 2 ) * 2 * lmbTile + l % lmbTile * 2 + i % 2;
				sum += scaled * entries[at];
				largest = fmax( largest, fabs( scaled ) );
			}
			/* Half a unit of 16 bits for each column at most. */
			CHECK_NEAR( out[s][l], sum, 127.0 * count * 0.51 * largest / 32767.0 );
		}
	/* As many of the largest as there may be. */
	static int8_t full[lmbColumnLimit * block];
	static int32_t same[lmbColumnLimit];
	static float ones[lmbColumnLimit];
	memset( full, -127, sizeof( full ) );
	for ( int i = 0; i < lmbColumnLimit; ++i )
		ones[i] = 1.0f;
	columns = ( lmbColumns ){ lmbColumnLimit, same, ones, full };
	const float two[1] = { 2.0f }, none[1] = { NAN }, *given = two;
	kernels->columns( &columns, 1, &given, &alone );
	for ( int l = 0; l < block; ++l )
		CHECK_NEAR( alone[l], -2.0 * 127.0 * lmbColumnLimit, 1e-6 * 2.0 * 127.0 * lmbColumnLimit );
	given = none;
	kernels->columns( &columns, 1, &given, &alone );
	for ( int l = 0; l < block; ++l )
		CHECK( alone[l] == 0.0f );
}

/* Two chunks, the second one odd, and what tiles leave over. */
static void Words( const lmbKernels *kernels, Case *c, lmbRandom *random )
{
	enum
	{
		wide = lmbWordChunk + 21,
		most16 = ( wide + 1 ) * outputs
	};
	static int16_t entries[most16];
	float scales[wide + lmbTile] = { 0 }, x[2][wide];
	for ( int i = 0; i < wide; ++i )
	{
		scales[i] = (float)lmbRandom_Uniform( random );
		x[0][i] = c->in[i];
		x[1][i] = c->in[wide + i];
	}
	for ( int i = 0; i < most16; ++i )
		entries[i] = (int16_t)( (int)lmbRandom_Below( random, 2 * lmbWordLimit + 1 ) - lmbWordLimit );
	lmbWords matrix = { wide, outputs, scales, entries };
	const float *bias = c->in + 2 * wide, *both[2] = { x[0], x[1] };
	float *y[2] = { c->out, c->out + outputs }, *alone = c->out + 2 * outputs;
	kernels->words( &matrix, bias, 2, both, y );
	kernels->words( &matrix, bias, 1, both + 1, &alone );
	CHECK( memcmp( alone, y[1], outputs * sizeof( float ) ) == 0 );
	for ( int s = 0; s < 2; ++s )
		for ( int o = 0; o < outputs; ++o )
		{
			double sum = bias[o], largest = 0.0;
			for ( int i = 0; i < wide; ++i )
			{
				int first = i / lmbWordChunk * lmbWordChunk;
				int pairs = ( ( first == 0 ? lmbWordChunk : wide - lmbWordChunk ) + 1 ) / 2;
				double scaled = (double)scales[i] * x[s][i];
				int pair = first / 2 * ( outputs / lmbTile ) + o / lmbTile * pairs + ( i - first ) / 2;
				sum += scaled * entries[pair * 2 * lmbTile + o % lmbTile * 2 + i % 2];
				largest = fmax( largest, fabs( scaled ) );
			}
			/* Half a unit of each input at most: a unit is the chunk's largest over lmbWordLimit. */
			CHECK_NEAR( y[s][o], sum, 0.51 * largest * wide );
		}
	/* As many of the largest as there may be, and what is not finite. */
	float ones[lmbWordChunk], no[lmbWordChunk];
	for ( int i = 0; i < most16; ++i )
		entries[i] = lmbWordLimit;
	for ( int i = 0; i < lmbWordChunk; ++i )
	{
		ones[i] = scales[i] = 1.0f;
		no[i] = NAN;
	}
	matrix.inputs = lmbWordChunk;
	const float *given = ones;
	kernels->words( &matrix, NULL, 1, &given, &alone );
	for ( int o = 0; o < outputs; ++o )
		CHECK_NEAR( alone[o], (double)lmbWordLimit * lmbWordChunk, 1e-6 * lmbWordLimit * lmbWordChunk );
	given = no;
	kernels->words( &matrix, bias, 1, &given, &alone );
	CHECK( memcmp( alone, bias, outputs * sizeof( float ) ) == 0 );
}

static void Skin( const lmbKernels *kernels, Case *c, lmbRandom *random )
{
	uint16_t names[lmbLanes * 4];
	int32_t order[lmbLanes];
	for ( int i = 0; i < lmbLanes * 4; ++i )
		names[i] = (uint16_t)lmbRandom_Below( random, bones );
	for ( int l = 0; l < lmbLanes; ++l )
		order[l] = l % 5 == 0 ? -1 : lmbLanes - 1 - l;
	for ( int j = 0; j < bones; ++j ) /* four times the same quaternion */
		for ( int i = 4; i < 16; ++i )
			c->in[j * lmbBoneFloats + lmbBoneQuaternion + i] =
			    c->in[j * lmbBoneFloats + lmbBoneQuaternion + i % 4];
	for ( int used = 1; used <= 4; ++used )
	{
		const uint8_t tiles[lmbLanes / lmbTile] = { 1, (uint8_t)used, (uint8_t)( ( used + 1 ) / 2 ),
		                                            (uint8_t)used };
		float *out = c->out + ( used - 1 ) * 12 * lmbLanes;
		lmbSkin skin = { .palette = c->in,
		                 .bones = names,
		                 .weights = c->in + bones * lmbBoneFloats,
		                 .used = used,
		                 .tiles = tiles,
		                 .rest = c->in + bones * lmbBoneFloats + lmbLanes * 4 };
		kernels->skin( &skin, out, out + block );
		kernels->skinRigid( &skin, order, out + 8 * lmbLanes );
		for ( int l = 0; l < lmbLanes; ++l )
			for ( int i = 0; i < 3 && order[l] >= 0; ++i ) /* both ways place a vertex alike */
				CHECK( out[8 * lmbLanes + 3 * order[l] + i] == out[i * lmbLanes + l] );
	}
}

static void Turns( const lmbKernels *kernels, Case *c, lmbRandom *random )
{
	(void)random;
	kernels->rotate( c->in, c->in + 4 * lmbLanes, c->out );
	kernels->turn( c->in, c->in + 4 * lmbLanes, c->out + block );
	for ( int l = 0; l < lmbLanes; ++l )
		for ( int row = 0; row < 3; ++row )
		{
			double sum = 0.0;
			for ( int k = 0; k < 3; ++k )
				sum += (double)c->in[3 * row + k] * c->in[( 4 + k ) * lmbLanes + l];
			CHECK_NEAR( c->out[block + row * lmbLanes + l], sum, 1e-5 );
		}
}

static void Springs( const lmbKernels *kernels, Case *c, lmbRandom *random )
{
	(void)random;
	/* 8 planes of maps, then state and drive, which are changed: all but the maps is copied to out. */
	memcpy( c->out, c->in, 40 * lmbLanes * sizeof( float ) );
	float *state = c->out + 8 * lmbLanes;
	state[3] = 1e16f; /* out of range: back to rest */
	state[3 * lmbLanes + 5] = 2e30f;
	state[7] = NAN;
	lmbDrive drive = { { 0.3f, -0.2f, 0.1f }, { 0.5f, 0.7f, -0.9f }, 0.25f, -0.5f };
	for ( int axis = 0; axis < 3; ++axis )
		kernels->drive( &drive, c->in + ( 30 + axis ) * lmbLanes, state + ( 12 + axis ) * lmbLanes,
		                state + ( 15 + axis ) * lmbLanes, state + ( 18 + axis ) * lmbLanes,
		                state + ( 6 + axis ) * lmbLanes, state + ( 9 + axis ) * lmbLanes );
	for ( int jumps = 0; jumps < 2; ++jumps )
	{
		lmbSpringBlock springs = { .map = c->out,
		                           .u = state,
		                           .v = state + block,
		                           .start = state + 2 * block,
		                           .end = state + 3 * block };
		float u[block], v[block];
		memcpy( u, state, sizeof( u ) );
		memcpy( v, state + block, sizeof( v ) );
		lmbSpringStep step = { .count = lmbLanes,
		                       .dimension = 3,
		                       .coefficients = c->out,
		                       .coefficientStride = lmbLanes,
		                       .u = u,
		                       .v = v,
		                       .a0 = springs.start,
		                       .a1 = springs.end,
		                       .stride = lmbLanes };
		kernels->springs( &springs, jumps == 1 );
		if ( jumps == 1 )
			lmbSprings_StepJump( &step );
		else
			lmbSprings_Step( &step );
		for ( int i = 0; i < block; ++i )
		{
			bool sound = fabsf( u[i] ) < 1e15f && fabsf( v[i] ) < 1e30f;
			CHECK( state[i] == ( sound ? u[i] : 0.0f ) && state[block + i] == ( sound ? v[i] : 0.0f ) );
		}
	}
}

/* Against the map in double. */
static void Maps( const lmbKernels *kernels, Case *c, lmbRandom *random )
{
	for ( int halvings = 0; halvings <= lmbMostHalvings; ++halvings )
	{
		float rates[2 * lmbLanes], *map = c->out + halvings * lmbSpringPlanes * lmbLanes;
		double time = 0.001 + 0.05 * lmbRandom_Uniform( random ), part = time / ( 1 << halvings );
		for ( int l = 0; l < lmbLanes; ++l )
		{
			rates[l] = (float)( 1.99 * lmbRandom_Uniform( random ) / ( part * part ) );
			rates[lmbLanes + l] = (float)( 0.99 * lmbRandom_Uniform( random ) / part );
		}
		rates[0] = rates[lmbLanes + 1] = rates[2] = rates[lmbLanes + 2] = 0.0f;
		kernels->maps( rates, (float)time, halvings, map );
		double tolerance = 4e-7 * ( 1 + ( 1 << halvings ) ); /* roundings, twice as much with each doubling */
		for ( int l = 0; l < lmbLanes; ++l )
		{
			lmbSpringMap truth;
			float planes[lmbSpringPlanes];
			double k = rates[l], root = sqrt( k ) > 1.0 / time ? sqrt( k ) : 1.0 / time;
			lmbSpringMap_Make( k, rates[lmbLanes + l], (float)time, &truth );
			lmbSpringMap_Store( &truth, planes, 1, 0 );
			/* What an entry does to motion of energy 1, or to a unit of force over the step. */
			const double scales[lmbSpringPlanes] = { 1.0,         1.0 / root,  root, 1.0,
			                                         time * time, time * time, time, time };
			for ( int plane = 0; plane < lmbSpringPlanes; ++plane )
				CHECK_NEAR( map[plane * lmbLanes + l], planes[plane], tolerance * scales[plane] );
			if ( halvings == 0 ) /* a soft spring keeps its stiffness: relative to the entry itself */
				CHECK_NEAR( map[2 * lmbLanes + l], planes[2], 1e-6 * fabs( planes[2] ) );
		}
	}
}

/* Random triangles in a row of strips, seams, and vertices that turn with a bone. */
static void Normals( const lmbKernels *kernels, Case *c, lmbRandom *random )
{
	enum
	{
		turnedCount = 5
	};
	int32_t triangles[3 * triangleCount], row[5 * triangleCount + 4];
	int32_t heads[vertexCount], next[3 * triangleCount], stamps[triangleCount];
	bool wanted[triangleCount];
	const int32_t seams[4] = { 30, 11, 76, 11 };
	for ( int i = 0; i < 3 * triangleCount; ++i )
		triangles[i] = (int32_t)lmbRandom_Below( random, vertexCount - 2 ); /* the last ones have no area */
	for ( int t = 0; t < triangleCount; ++t )
		wanted[t] = true;
	lmbStripMesh strips = { vertexCount, triangleCount, triangles, wanted, heads, next, stamps };
	const lmbTurnedRun runs[3] = { { 4, 2 }, { 1, 0 }, { 2, turnedCount - 2 } };
	lmbTurned turned[turnedCount];
	const float *palette = c->in + 4 * vertexCount;
	for ( int i = 0; i < turnedCount; ++i )
	{
		turned[i].vertex = 50 + 2 * i;
		for ( int axis = 0; axis < 3; ++axis )
			turned[i].normal[axis] = i == 1 ? 0.0f : (float)lmbRandom_Normal( random );
	}
	lmbNormals mesh = { .vertexCount = vertexCount,
	                    .stripCount = lmbStrips_Make( &strips, row ),
	                    .seamCount = 2,
	                    .runCount = 3,
	                    .strips = row,
	                    .seams = seams,
	                    .runs = runs,
	                    .turned = turned,
	                    .palette = palette,
	                    .positions = c->in,
	                    .sums = c->out + most / 2,
	                    .normals = c->out };
	kernels->normals( &mesh );
	for ( int i = 0; i < most / 2; ++i )
		CHECK( c->out[most / 2 + i] == 0.0f ); /* ready for the next step */
	memset( c->out + 3 * vertexCount, 0, 64 * sizeof( float ) );
	double sums[vertexCount][3] = { { 0 } };
	for ( int t = 0; t < triangleCount; ++t )
	{
		const float *a = c->in + 3 * triangles[3 * t], *b = c->in + 3 * triangles[3 * t + 1],
		            *d = c->in + 3 * triangles[3 * t + 2];
		for ( int i = 0; i < 3; ++i )
		{
			int j = ( i + 1 ) % 3, k = ( i + 2 ) % 3;
			double n = ( (double)b[j] - a[j] ) * ( (double)d[k] - a[k] ) -
			           ( (double)b[k] - a[k] ) * ( (double)d[j] - a[j] );
			for ( int corner = 0; corner < 3; ++corner )
				sums[triangles[3 * t + corner]][i] += n;
		}
	}
	for ( int i = 0; i < turnedCount; ++i )
	{
		const float *bone = palette + runs[i < 2 ? 0 : 2].bone * lmbBoneFloats; /* columns, 4 apart */
		for ( int axis = 0; axis < 3; ++axis )
		{
			int j = ( axis + 1 ) % 3, k = ( axis + 2 ) % 3;
			sums[turned[i].vertex][axis] = 0.0;
			for ( int column = 0; column < 3; ++column )
			{
				const float *next1 = bone + 4 * ( ( column + 1 ) % 3 ),
				            *next2 = bone + 4 * ( ( column + 2 ) % 3 );
				double cofactor = (double)next1[j] * next2[k] - (double)next1[k] * next2[j];
				sums[turned[i].vertex][axis] += cofactor * turned[i].normal[column];
			}
		}
	}
	for ( int v = 0; v < vertexCount; ++v )
	{
		double sum[3];
		for ( int i = 0; i < 3; ++i )
			sum[i] = v == 11 || v == 30 || v == 76 ? sums[11][i] + sums[30][i] + sums[76][i] : sums[v][i];
		double length = sqrt( sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2] );
		for ( int i = 0; i < 3; ++i )
			CHECK_NEAR( c->out[3 * v + i], length > 0.0 ? sum[i] / length : i == 1, 2e-4 );
	}
}

static void SameBits( void **state )
{
	(void)state;
	static const struct
	{
		const char *name;
		void ( *run )( const lmbKernels *, Case *, lmbRandom * );
	} calls[] = { { "dense", Dense }, { "tanh", Tanh },      { "shapes", Shapes }, { "columns", Columns },
	              { "words", Words }, { "skin", Skin },      { "turns", Turns },   { "springs", Springs },
	              { "maps", Maps },   { "normals", Normals } };
	Case *first = malloc( sizeof( Case ) ), *other = malloc( sizeof( Case ) );
	for ( int set = lmb_kernelsPlain; set < lmb_kernelsCount; ++set )
	{
		const lmbKernels *kernels = lmbKernels_Find( (lmbKernelSet)set );
		if ( kernels == NULL )
			continue;
		printf( "%s\n", kernels->name );
		for ( int call = 0; call < (int)( sizeof( calls ) / sizeof( calls[0] ) ); ++call )
			for ( int round = 0; round < 30; ++round )
			{
				checkSeed = (uint64_t)( 100 * call + round );
				lmbRandom random = lmbRandom_Seed( checkSeed, 0 ), again;
				memset( first, 0, sizeof( *first ) );
				memset( other, 0, sizeof( *other ) );
				Fill( &random, first->in, most );
				memcpy( other->in, first->in, sizeof( other->in ) );
				again = random;
				calls[call].run( lmbKernels_Find( lmb_kernelsPlain ), first, &random );
				calls[call].run( kernels, other, &again );
				if ( memcmp( first->out, other->out, sizeof( first->out ) ) != 0 )
					printf( "%s: %s\n", kernels->name, calls[call].name );
				CHECK( memcmp( first->out, other->out, sizeof( first->out ) ) == 0 );
			}
	}
	free( first );
	free( other );
}

static void Choice( void **state )
{
	(void)state;
	CHECK( lmbKernels_Find( lmb_kernelsPlain ) != NULL && lmbKernels_Find( lmb_kernelsBest ) != NULL );
	CHECK( lmbKernels_Find( lmb_kernelsCount ) == NULL && lmbKernels_Find( (lmbKernelSet)-1 ) == NULL );
	CHECK( strcmp( lmbKernels_Name( lmb_kernelsPlain ), "plain" ) == 0 );
#if defined( __x86_64__ )
	CHECK( lmbKernels_Name( lmb_kernelsSse2 ) != NULL && lmbKernels_Name( lmb_kernelsNeon ) == NULL );
	bool avx2 = lmbKernels_Name( lmb_kernelsAvx2 ) != NULL;
	CHECK_INT( avx2, __builtin_cpu_supports( "avx2" ) != 0 );
	bool avx512 = lmbKernels_Name( lmb_kernelsAvx512 ) != NULL;
	CHECK_INT( avx512,
	           __builtin_cpu_supports( "avx512vnni" ) != 0 && __builtin_cpu_supports( "avx512bw" ) != 0 );
#endif
}

int main( void )
{
	const struct CMUnitTest tests[] = { CHECK_TEST( SameBits ), CHECK_TEST( Choice ) };
	return CHECK_RUN( tests );
}
