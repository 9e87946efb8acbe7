#include "human.h"

#include "base/random.h"
#include "flesh/compact.h"
#include "formats/onnx.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum
{
	boneCount = 31,
	ring = 20,
	ringCount = 669,
	vertexCount = ring * ringCount,
	softCount = 201 * ring,        /* the first rings */
	window = 29 * softCount / 200, /* vertices of one of 20 regions, which overlap */
	poseFeatures = 3 + 9 * ( boneCount - 1 )
};

const lmbHumanDef lmbHumanOfRegions = { .regionCount = 20,
                                        .coefficients = 24,
                                        .featureCount = 108,
                                        .hidden = 128,
                                        .layerCount = 2,
                                        .modeCount = 64 };
const lmbHumanDef lmbHumanOfOne = { .regionCount = 1,
                                    .coefficients = 64,
                                    .featureCount = poseFeatures,
                                    .hidden = 256,
                                    .layerCount = 3,
                                    .modeCount = 32 };

typedef struct Human
{
	lmbArena arena;
	lmbRandom random;
	lmbCharacter character;
	lmbTissue tissue;
	lmbNetwork network;
	lmbSprings springs;
	bool noMemory;
} Human;

static void *New( Human *h, size_t count, size_t size )
{
	void *memory = lmbArena_New( &h->arena, count, size );
	h->noMemory = h->noMemory || memory == NULL;
	return memory;
}

static float *Floats( Human *h, size_t count, double size )
{
	float *numbers = New( h, count, sizeof( float ) );
	for ( size_t i = 0; i < count && numbers != NULL; ++i )
		numbers[i] = (float)( size * ( 2.0 * lmbRandom_Uniform( &h->random ) - 1.0 ) );
	return numbers;
}

static double *Doubles( Human *h, size_t count, double low, double high )
{
	double *numbers = New( h, count, sizeof( double ) );
	for ( size_t i = 0; i < count && numbers != NULL; ++i )
		numbers[i] = low + ( high - low ) * lmbRandom_Uniform( &h->random );
	return numbers;
}

static int BoneOfRing( int index )
{
	return index * boneCount / ringCount;
}

/* Rings around the y axis, each on its bone and, near the joints, on the bones beside. */
static void FillSkin( lmbCharacter *c )
{
	for ( int v = 0; v < vertexCount; ++v )
	{
		int at = v / ring, bone = BoneOfRing( at );
		double angle = 6.283185307179586 * ( v % ring ) / ring;
		double along = (double)at * boneCount / ringCount - bone;
		const double place[3] = { 0.1 * cos( angle ), 0.0027 * at, 0.1 * sin( angle ) };
		memcpy( c->bind + 3 * v, place, sizeof( place ) );
		int beside = along < 0.5 ? bone - 1 : bone + 1;
		beside = beside < 0 ? 1 : beside == boneCount ? boneCount - 2 : beside;
		double share = 0.5 * fmax( 0.0, fabs( 2.0 * along - 1.0 ) - 0.4 ) / 0.6;
		c->vertexBones[2 * v] = bone;
		c->vertexBones[2 * v + 1] = share > 0.0 ? beside : 0;
		c->weights[2 * v] = 1.0 - share;
		c->weights[2 * v + 1] = share;
	}
	for ( int q = 0; q < ring * ( ringCount - 1 ); ++q )
	{
		int next = q % ring == ring - 1 ? q + 1 - ring : q + 1;
		const int32_t corners[6] = { q, q + ring, next, next, q + ring, next + ring };
		memcpy( c->triangles + 6 * (size_t)q, corners, sizeof( corners ) );
	}
}

static void MakeCharacter( Human *h )
{
	lmbCharacter *c = &h->character;
	c->vertexCount = h->tissue.vertexCount = vertexCount;
	c->boneCount = boneCount;
	c->influenceCount = 2;
	c->triangleCount = 2 * ring * ( ringCount - 1 );
	c->bones = New( h, boneCount, sizeof( *c->bones ) );
	c->bind = New( h, 3 * vertexCount, sizeof( double ) );
	c->vertexBones = New( h, 2 * vertexCount, sizeof( int32_t ) );
	c->weights = New( h, 2 * vertexCount, sizeof( double ) );
	c->triangles = New( h, 3 * (size_t)c->triangleCount, sizeof( int32_t ) );
	h->tissue.softness = New( h, vertexCount, sizeof( double ) );
	if ( h->noMemory )
		return;
	for ( int j = 0; j < boneCount; ++j )
	{
		c->bones[j].name = "bone";
		c->bones[j].parent = j - 1;
	}
	for ( int v = 0; v < softCount; ++v )
		h->tissue.softness[v] = 1.0;
	FillSkin( c );
}

/* A smooth shape over count vertices, fading to both sides. */
static double Shape( int index, int count, int which, int axis )
{
	double x = ( index + 0.5 ) / count, angle = 6.283185307179586 * ( index % ring ) / ring;
	return sin( 3.141592653589793 * x ) *
	       cos( 3.0 * which * x + axis * ( 1.0 + which ) + ( which % 4 ) * angle );
}

static void MakeRegion( Human *h, const lmbHumanDef *def, int index, lmbRegion *r )
{
	int count = def->regionCount == 1 ? softCount : window;
	int first = def->regionCount == 1 ? 0 : index * ( softCount - count ) / ( def->regionCount - 1 );
	r->bone = BoneOfRing( ( first + count / 2 ) / ring );
	r->coefficientCount = def->coefficients;
	r->vertexCount = count;
	r->featureCount = def->featureCount;
	r->hiddenCount = def->layerCount > 1 ? def->hidden : 0;
	r->layerCount = def->layerCount;
	r->features = New( h, (size_t)r->featureCount, sizeof( int32_t ) );
	r->vertices = New( h, (size_t)count, sizeof( int32_t ) );
	r->basis = New( h, (size_t)r->coefficientCount * (size_t)count * 3, sizeof( float ) );
	r->linear = Floats( h, (size_t)r->coefficientCount * (size_t)( r->featureCount + 1 ), 0.002 );
	r->featureMean = Floats( h, (size_t)r->featureCount, 0.1 );
	r->featureScale = New( h, (size_t)r->featureCount, sizeof( float ) );
	r->layerWeights = New( h, (size_t)r->layerCount, sizeof( float * ) );
	r->layerBias = New( h, (size_t)r->layerCount, sizeof( float * ) );
	for ( int l = 0; l < r->layerCount && !h->noMemory; ++l )
	{
		int in = l == 0 ? r->featureCount : r->hiddenCount;
		int out = l == r->layerCount - 1 ? r->coefficientCount : r->hiddenCount;
		r->layerWeights[l] = Floats( h, (size_t)in * (size_t)out, l == r->layerCount - 1 ? 0.002 : 0.2 );
		r->layerBias[l] = Floats( h, (size_t)out, 0.001 );
	}
	if ( h->noMemory )
		return;
	int spare = poseFeatures - r->featureCount;
	for ( int i = 0; i < r->featureCount; ++i )
	{
		r->features[i] = i + ( spare > 0 ? index * spare / def->regionCount : 0 );
		r->featureScale[i] = 1.0f;
	}
	for ( int v = 0; v < count; ++v )
		r->vertices[v] = first + v;
	for ( int c = 0; c < r->coefficientCount; ++c )
		for ( int i = 0; i < 3 * count; ++i )
			r->basis[(size_t)c * 3 * (size_t)count + (size_t)i] = (float)Shape( i / 3, count, c, i % 3 );
	h->network.coefficientCount += r->coefficientCount;
}

static void MakeSprings( Human *h, const lmbHumanDef *def )
{
	lmbSprings *s = &h->springs;
	size_t modes = (size_t)def->modeCount, coefficients = (size_t)h->network.coefficientCount;
	s->vertexCount = vertexCount;
	s->modeCount = def->modeCount;
	s->boneCount = boneCount;
	s->coefficientCount = h->network.coefficientCount;
	s->pairCount = 2 * boneCount - 1;
	s->vertexStiffness = Doubles( h, vertexCount, 400.0, 3000.0 );
	s->vertexDamping = Doubles( h, vertexCount, 4.0, 30.0 );
	s->remainderStiffness = Doubles( h, vertexCount, 400.0, 3000.0 );
	s->remainderDamping = Doubles( h, vertexCount, 4.0, 30.0 );
	s->modeStiffness = Doubles( h, modes, 200.0, 3000.0 );
	s->modeDamping = Doubles( h, modes, 3.0, 20.0 );
	s->modeStiffnessUnfitted = Doubles( h, modes, 200.0, 3000.0 );
	s->modeDampingUnfitted = Doubles( h, modes, 3.0, 20.0 );
	s->skinShapes = New( h, modes * vertexCount * 3, sizeof( double ) );
	s->pairs = New( h, 2 * (size_t)s->pairCount, sizeof( int32_t ) );
	s->boneForcing = Doubles( h, modes * (size_t)s->pairCount * 12, -0.01, 0.01 );
	s->coefficientForcing = Doubles( h, modes * coefficients, -0.01, 0.01 );
	s->featureCount = poseFeatures;
	s->stiffnessWeights = Doubles( h, modes * ( poseFeatures + 1 ), -0.01, 0.01 );
	s->stiffnessRange = New( h, 2 * modes, sizeof( double ) );
	if ( h->noMemory )
		return;
	for ( int p = 0; p < s->pairCount; ++p ) /* each bone by itself and against its parent */
	{
		s->pairs[2 * p] = ( p + 1 ) / 2;
		s->pairs[2 * p + 1] = p / 2;
	}
	for ( size_t m = 0; m < modes; ++m )
	{
		s->stiffnessRange[2 * m] = -0.3;
		s->stiffnessRange[2 * m + 1] = 0.3;
		/* A mode swings a quarter of what is soft. */
		int count = softCount / 4, first = (int)m * ( softCount - count ) / def->modeCount;
		for ( int i = 0; i < 3 * count; ++i )
			s->skinShapes[m * vertexCount * 3 + 3 * (size_t)first + (size_t)i] =
			    Shape( i / 3, count, (int)m, i % 3 );
	}
}

/* Root mean squares of amounts as a body's are: the first some mm, the others ever less. */
static lmbStatus Compact( const Human *h, const lmbHumanDef *def, const char *path, lmbError *error )
{
	double coefficients[512], modes[64];
	lmbCompactReport report;
	for ( int i = 0; i < h->network.coefficientCount; ++i )
		coefficients[i] = 0.01 / ( 1.0 + i % def->coefficients );
	for ( int m = 0; m < def->modeCount; ++m )
		modes[m] = 0.005 / ( 1.0 + 0.2 * m );
	return lmbModel_CompactFor( path, coefficients, modes, 4e-5, &report, error );
}

static void MakeNetwork( Human *h, const lmbHumanDef *def )
{
	h->network.boneCount = boneCount;
	h->network.vertexCount = vertexCount;
	h->network.featureCount = poseFeatures;
	h->network.regionCount = def->regionCount;
	h->network.regions = New( h, (size_t)def->regionCount, sizeof( lmbRegion ) );
	for ( int i = 0; i < def->regionCount && !h->noMemory; ++i )
		MakeRegion( h, def, i, &h->network.regions[i] );
}

lmbStatus lmbHuman_Open( const lmbHumanDef *def, lmbModel *model, lmbError *error )
{
	Human h = { .random = lmbRandom_Seed( 1, 1 ) };
	char path[] = "/tmp/limber-bench-XXXXXX";
	*model = ( lmbModel ){ 0 };
	MakeCharacter( &h );
	MakeNetwork( &h, def );
	MakeSprings( &h, def );
	lmbStatus status = h.noMemory ? lmbError_Memory( error ) : lmb_statusOk;
	int handle = status == lmb_statusOk ? mkstemp( path ) : -1;
	if ( status == lmb_statusOk && handle < 0 )
		status = lmbError_Set( error, lmb_statusIo, "%s: cannot be made; is /tmp writable?", path );
	if ( status == lmb_statusOk )
	{
		close( handle );
		status = lmbModel_Write( &h.character, &h.tissue, &h.network, &h.springs, path, error );
		if ( status == lmb_statusOk )
			status = Compact( &h, def, path, error );
		if ( status == lmb_statusOk )
			status = lmbModel_Open( model, path, error );
		unlink( path );
	}
	lmbArena_Free( &h.arena );
	return status;
}

/* x W^T + b as one node; row r of weights begins at r * stride, its first count numbers are W, and the bias
 * stands apart or, where that is NULL, behind them. */
static lmbOnnxValue AddDense( Human *h, lmbOnnx *graph, lmbOnnxValue x, int inputs, int outputs,
                              const float *weights, const float *bias )
{
	int stride = bias != NULL ? inputs : inputs + 1;
	float *turned = New( h, (size_t)inputs * (size_t)outputs, sizeof( float ) );
	float *constant = New( h, (size_t)outputs, sizeof( float ) );
	for ( int o = 0; o < outputs && !h->noMemory; ++o )
	{
		constant[o] = bias != NULL ? bias[o] : weights[o * stride + inputs];
		for ( int i = 0; i < inputs; ++i )
			turned[i * outputs + o] = weights[o * stride + i];
	}
	if ( h->noMemory )
		return x;
	lmbOnnxValue parts[3] = { x, lmbOnnx_Floats( graph, 2, ( int64_t[] ){ inputs, outputs }, turned ),
	                          lmbOnnx_Floats( graph, 1, ( int64_t[] ){ outputs }, constant ) };
	return lmbOnnx_Node( graph, "Gemm", NULL, 3, parts );
}

lmbStatus lmbHuman_WriteOnnx( const lmbHumanDef *def, const char *path, lmbError *error )
{
	Human h = { .random = lmbRandom_Seed( 1, 1 ) };
	lmbOnnx graph = { 0 };
	MakeNetwork( &h, def );
	lmbStatus status = h.noMemory ? lmbError_Memory( error ) : lmb_statusOk;
	if ( status == lmb_statusOk )
	{
		const lmbRegion *r = &h.network.regions[0];
		int features = r->featureCount, outputs = r->coefficientCount;
		const int64_t row[2] = { 1, features };
		lmbOnnxValue x = lmbOnnx_Input( &graph, "features", 2, row );
		lmbOnnxValue sum = AddDense( &h, &graph, x, features, outputs, r->linear, NULL );
		x = lmbOnnx_Two( &graph, "Sub", x, lmbOnnx_Floats( &graph, 2, row, r->featureMean ) );
		x = lmbOnnx_Two( &graph, "Mul", x, lmbOnnx_Floats( &graph, 2, row, r->featureScale ) );
		for ( int l = 0; l < r->layerCount; ++l )
		{
			bool last = l == r->layerCount - 1;
			x = AddDense( &h, &graph, x, l == 0 ? features : r->hiddenCount, last ? outputs : r->hiddenCount,
			              r->layerWeights[l], r->layerBias[l] );
			x = last ? x : lmbOnnx_One( &graph, "Tanh", x );
		}
		lmbOnnx_Output( &graph, lmbOnnx_Two( &graph, "Add", sum, x ), "coefficients", 2,
		                ( int64_t[] ){ 1, outputs } );
		status = h.noMemory ? lmbError_Memory( error ) : lmbOnnx_Write( &graph, "network", path, error );
	}
	lmbOnnx_Free( &graph );
	lmbArena_Free( &h.arena );
	return status;
}
