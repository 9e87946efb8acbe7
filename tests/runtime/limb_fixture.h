/* Models of limbs with random numbers, written by the tools' own writer, and their equations once more in
 * double as docs/formats/limb-model.md states them: an independent reading of the same arrays. */
#ifndef LMB_TESTS_LIMB_FIXTURE_H
#define LMB_TESTS_LIMB_FIXTURE_H

#include "base/files.h"
#include "base/random.h"
#include "formats/safetensors.h"

#include <limber/limb.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum
{
	fixtureMaxFeatures = 40,
	fixtureMaxNumbers = 60000
};

/* Which features: sine and cosine of every angle, without the first angle, of differences of absolute angles,
 * or sines with a linear one. */
typedef enum FeatureStyle
{
	styleAll,
	styleNoBase,
	styleDifferences,
	styleLinear
} FeatureStyle;

typedef struct LimbDef
{
	lmbLimbKind kind;
	int n, m;
	FeatureStyle style;
	int hiddenLayers, width;
	bool potential, dampingConstant, dampingNet, driveMatrix, driveNet, trust, linear;
	uint64_t seed;
} LimbDef;

typedef struct FixtureNet
{
	int layers;
	int32_t sizes[9];
	int32_t inputs[256];
	float numbers[fixtureMaxNumbers];
} FixtureNet;

typedef struct LimbFixture
{
	LimbDef def;
	int featureCount;
	int32_t angles[fixtureMaxFeatures * 16], kinds[fixtureMaxFeatures], slides[16];
	double shift[fixtureMaxFeatures], scale[fixtureMaxFeatures];
	FixtureNet mass, potential, damping, drive, acceleration, start, read;
	double massFloor, dampingConstant[136], driveMatrix[16 * 64];
	int cells, hidden;
	float *cellInput[8], *cellHidden[8], *cellBias[8];
	double stepShift[65], stepScale[65], base[16];
	int trustCount, centreCount;
	int32_t trustInputs[64];
	double whiten[64 * 64], mean[64], growth[2 * 64 + 64 + 5], trustScale;
	float centres[64 * 64];
	char dofNames[256], inputNames[512];
	char path[64];
	lmbRandom random;
	lmbArena arena;
	char *bytes; /* of the file */
	size_t size;
} LimbFixture;

static inline double Drawn( LimbFixture *f, double scale )
{
	return scale * lmbRandom_Normal( &f->random );
}

/* Weights of a size that keeps tanh in its bend; outputs times gain. */
static inline void FillNet( LimbFixture *f, FixtureNet *net, const int32_t *inputs, int inputCount,
                            int outputs, double gain )
{
	net->layers = f->def.hiddenLayers + 1;
	float *at = net->numbers;
	for ( int l = 0; l <= net->layers; ++l )
		net->sizes[l] = l == 0 ? inputCount : l == net->layers ? outputs : f->def.width;
	memcpy( net->inputs, inputs, (size_t)inputCount * sizeof( int32_t ) );
	for ( int l = 0; l < net->layers; ++l )
	{
		int in = net->sizes[l], out = net->sizes[l + 1];
		double scale = ( l == net->layers - 1 ? gain : 1.0 ) / sqrt( in + 1.0 );
		for ( int i = 0; i < in * out; ++i )
			*at++ = (float)Drawn( f, scale );
		for ( int i = 0; i < out; ++i )
			*at++ = (float)Drawn( f, 0.3 * scale );
	}
}

static inline int NetNumbers( const FixtureNet *net )
{
	int total = 0;
	for ( int l = 0; l < net->layers; ++l )
		total += ( net->sizes[l] + 1 ) * net->sizes[l + 1];
	return total;
}

static inline void AddFeature( LimbFixture *f, const int32_t *k, int kind, double shift, double scale )
{
	memcpy( f->angles + f->featureCount * f->def.n, k, (size_t)f->def.n * sizeof( int32_t ) );
	f->kinds[f->featureCount] = kind;
	f->shift[f->featureCount] = shift;
	f->scale[f->featureCount] = scale;
	f->featureCount += 1;
}

static inline void MakeFeatures( LimbFixture *f )
{
	int n = f->def.n;
	for ( int j = 0; j < n; ++j )
	{
		int32_t k[16] = { 0 };
		if ( ( f->def.style == styleNoBase || f->def.style == styleDifferences ) && j == 0 )
			continue;
		k[j] = f->def.style == styleDifferences ? -1 : 1;
		if ( f->def.style == styleDifferences )
			k[j - 1] = 1;
		if ( f->def.style == styleLinear && j == n - 1 )
		{
			AddFeature( f, k, 2, 0.2, 0.7 );
			continue;
		}
		AddFeature( f, k, 0, 0.0, 1.0 );
		AddFeature( f, k, 1, 0.0, 1.0 );
	}
	if ( f->def.style == styleLinear && n > 1 ) /* one phase of two angles beside the others */
	{
		int32_t k[16] = { 1, 1 };
		AddFeature( f, k, 0, 0.0, 1.0 );
	}
}

static inline void MakeRecurrent( LimbFixture *f )
{
	int n = f->def.n, m = f->def.m, gates = f->def.kind == lmb_limbLstm ? 4 : 3;
	int h = f->hidden = f->def.width, states = f->def.kind == lmb_limbLstm ? 2 : 1;
	int32_t inputs[256];
	f->cells = f->def.hiddenLayers;
	for ( int i = 0; i < 256; ++i )
		inputs[i] = i;
	for ( int c = 0; c < f->cells; ++c )
	{
		int in = c == 0 ? m + 1 : h;
		f->cellInput[c] = LMB_NEW( &f->arena, float, gates *h *in );
		f->cellHidden[c] = LMB_NEW( &f->arena, float, gates *h *h );
		f->cellBias[c] = LMB_NEW( &f->arena, float, 2 * gates * h );
		for ( int i = 0; i < gates * h * in; ++i )
			f->cellInput[c][i] = (float)Drawn( f, 1.0 / sqrt( in ) );
		for ( int i = 0; i < gates * h * h; ++i )
			f->cellHidden[c][i] = (float)Drawn( f, 1.0 / sqrt( h ) );
		for ( int i = 0; i < 2 * gates * h; ++i )
			f->cellBias[c][i] = (float)Drawn( f, 0.3 );
	}
	for ( int i = 0; i <= m; ++i )
	{
		f->stepShift[i] = i < m ? Drawn( f, 0.5 ) : 0.01;
		f->stepScale[i] = i < m ? 0.7 : 100.0;
	}
	for ( int j = 0; j < n; ++j )
		f->base[j] = j % 2 == 0;
	f->def.hiddenLayers = 1;
	FillNet( f, &f->start, inputs, f->featureCount + n, states * f->cells * h, 0.5 );
	for ( int i = 0; i < h; ++i )
		inputs[i] = h - 1 - i;
	FillNet( f, &f->read, inputs, h, 2 * n, 1.0 );
	f->def.hiddenLayers = f->cells;
}

static inline void MakeNets( LimbFixture *f )
{
	int n = f->def.n, m = f->def.m, features = f->featureCount, triangle = n * ( n + 1 ) / 2;
	int32_t inputs[256];
	for ( int i = 0; i < 256; ++i )
		inputs[i] = i;
	if ( f->def.kind == lmb_limbAffine )
		FillNet( f, &f->acceleration, inputs, features, n * ( m + triangle + n + 1 ), 0.3 );
	if ( f->def.kind == lmb_limbPlain )
		FillNet( f, &f->acceleration, inputs, features + n + m, n, 2.0 );
	if ( f->def.kind >= lmb_limbGru )
		MakeRecurrent( f );
	if ( f->def.kind != lmb_limbLagrangian )
		return;
	f->massFloor = 0.2;
	FillNet( f, &f->mass, inputs, features, triangle, 0.8 );
	if ( f->def.potential )
		FillNet( f, &f->potential, inputs, features, 1, 3.0 );
	if ( f->def.dampingNet )
		FillNet( f, &f->damping, inputs, features + n, triangle, 0.3 );
	if ( f->def.driveNet )
		FillNet( f, &f->drive, inputs, features + n, n * m, 1.0 );
	for ( int i = 0; i < triangle; ++i )
		f->dampingConstant[i] = Drawn( f, 0.3 );
	for ( int i = 0; i < n * m; ++i )
		f->driveMatrix[i] = Drawn( f, 1.0 );
}

static inline void MakeTrust( LimbFixture *f )
{
	int d = f->trustCount = f->featureCount + f->def.n + f->def.m;
	f->centreCount = 23;
	for ( int i = 0; i < d; ++i )
	{
		f->trustInputs[i] = ( i * 7 + 3 ) % d; /* any order, some twice */
		f->mean[i] = Drawn( f, 0.5 );
		for ( int j = 0; j < d; ++j )
			f->whiten[i * d + j] = ( i == j ? 1.0 : 0.0 ) + Drawn( f, 0.1 );
	}
	for ( int i = 0; i < f->centreCount * d; ++i )
		f->centres[i] = (float)Drawn( f, 1.0 );
	f->trustScale = 1.7;
	for ( int i = 0; i < 2 * f->def.n + f->def.m + 5; ++i )
		f->growth[i] = 0.3 + fabs( Drawn( f, 0.5 ) );
}

static inline void AddNet( lmbTensorWriter *writer, const char *name, const FixtureNet *net )
{
	char text[64];
	snprintf( text, sizeof( text ), "%s.inputs", name );
	lmbTensorWriter_Add( writer, text, lmb_dataI32, 1, ( int64_t[] ){ net->sizes[0] }, net->inputs );
	snprintf( text, sizeof( text ), "%s.sizes", name );
	lmbTensorWriter_Add( writer, text, lmb_dataI32, 1, ( int64_t[] ){ net->layers + 1 }, net->sizes );
	snprintf( text, sizeof( text ), "%s.layers", name );
	lmbTensorWriter_Add( writer, text, lmb_dataF32, 1, ( int64_t[] ){ NetNumbers( net ) }, net->numbers );
}

static inline void AddDoubles( lmbTensorWriter *writer, const char *name, int64_t count, const double *data )
{
	lmbTensorWriter_Add( writer, name, lmb_dataF64, 1, &count, data );
}

static inline void AddRecurrent( lmbTensorWriter *writer, const LimbFixture *f )
{
	int gates = f->def.kind == lmb_limbLstm ? 4 : 3, h = f->hidden;
	char text[32];
	snprintf( text, sizeof( text ), "%d", f->cells );
	lmbTensorWriter_Metadata( writer, "layers", text );
	snprintf( text, sizeof( text ), "%d", h );
	lmbTensorWriter_Metadata( writer, "hidden", text );
	AddDoubles( writer, "step.shift", f->def.m + 1, f->stepShift );
	AddDoubles( writer, "step.scale", f->def.m + 1, f->stepScale );
	AddDoubles( writer, "read.base", f->def.n, f->base );
	for ( int c = 0; c < f->cells; ++c )
	{
		int64_t in = c == 0 ? f->def.m + 1 : h;
		snprintf( text, sizeof( text ), "cell%d.input", c );
		lmbTensorWriter_Add( writer, text, lmb_dataF32, 2, ( int64_t[] ){ gates * h, in }, f->cellInput[c] );
		snprintf( text, sizeof( text ), "cell%d.hidden", c );
		lmbTensorWriter_Add( writer, text, lmb_dataF32, 2, ( int64_t[] ){ gates * h, h }, f->cellHidden[c] );
		snprintf( text, sizeof( text ), "cell%d.bias", c );
		lmbTensorWriter_Add( writer, text, lmb_dataF32, 2, ( int64_t[] ){ 2, gates * h }, f->cellBias[c] );
	}
	AddNet( writer, "start", &f->start );
	AddNet( writer, "read", &f->read );
}

static inline void AddTrust( lmbTensorWriter *writer, const LimbFixture *f )
{
	int64_t d = f->trustCount;
	lmbTensorWriter_Add( writer, "trust.inputs", lmb_dataI32, 1, &d, f->trustInputs );
	lmbTensorWriter_Add( writer, "trust.whiten", lmb_dataF64, 2, ( int64_t[] ){ d, d }, f->whiten );
	AddDoubles( writer, "trust.mean", d, f->mean );
	AddDoubles( writer, "trust.scale", 1, &f->trustScale );
	AddDoubles( writer, "trust.growth", 2 * f->def.n + f->def.m + 5, f->growth );
	lmbTensorWriter_Add( writer, "trust.centres", lmb_dataF32, 2, ( int64_t[] ){ f->centreCount, d },
	                     f->centres );
}

static inline void AddLagrangian( lmbTensorWriter *writer, const LimbFixture *f )
{
	int n = f->def.n;
	AddNet( writer, "mass", &f->mass );
	AddDoubles( writer, "mass.floor", 1, &f->massFloor );
	if ( f->def.potential )
		AddNet( writer, "potential", &f->potential );
	if ( f->def.dampingConstant )
		AddDoubles( writer, "damping.constant", n * ( n + 1 ) / 2, f->dampingConstant );
	if ( f->def.dampingNet )
		AddNet( writer, "damping", &f->damping );
	if ( f->def.driveMatrix )
		lmbTensorWriter_Add( writer, "drive.matrix", lmb_dataF64, 2, ( int64_t[] ){ n, f->def.m },
		                     f->driveMatrix );
	if ( f->def.driveNet )
		AddNet( writer, "drive", &f->drive );
}

/* Writes the fixture's arrays as a model file; false when that fails. */
static inline bool WriteModel( const LimbFixture *f, const char *path )
{
	static const char *const kinds[] = { "lagrangian", "affine", "plain", "gru", "lstm" };
	static lmbTensorWriter writer;
	int64_t n = f->def.n, count = f->featureCount;
	lmbError error = { 0 };
	memset( &writer, 0, sizeof( writer ) );
	lmbTensorWriter_Metadata( &writer, "format", "limber.limb" );
	lmbTensorWriter_Metadata( &writer, "version", "1" );
	lmbTensorWriter_Metadata( &writer, "kind", kinds[f->def.kind] );
	lmbTensorWriter_Metadata( &writer, "hold", f->def.linear ? "linear" : "held" );
	lmbTensorWriter_Metadata( &writer, "step", "0.01" );
	lmbTensorWriter_Add( &writer, "dofs.names", lmb_dataU8, 1, ( int64_t[] ){ 3 * n }, f->dofNames );
	lmbTensorWriter_Add( &writer, "inputs.names", lmb_dataU8, 1, ( int64_t[] ){ 4 * (int64_t)f->def.m },
	                     f->inputNames );
	lmbTensorWriter_Add( &writer, "dofs.slides", lmb_dataI32, 1, &n, f->slides );
	lmbTensorWriter_Add( &writer, "features.angles", lmb_dataI32, 2, ( int64_t[] ){ count, n }, f->angles );
	lmbTensorWriter_Add( &writer, "features.kinds", lmb_dataI32, 1, &count, f->kinds );
	AddDoubles( &writer, "features.shift", count, f->shift );
	AddDoubles( &writer, "features.scale", count, f->scale );
	if ( f->def.kind == lmb_limbLagrangian )
		AddLagrangian( &writer, f );
	else if ( f->def.kind == lmb_limbAffine )
		AddNet( &writer, "affine", &f->acceleration );
	else if ( f->def.kind == lmb_limbPlain )
		AddNet( &writer, "plain", &f->acceleration );
	else
		AddRecurrent( &writer, f );
	if ( f->def.trust )
		AddTrust( &writer, f );
	return lmbTensorWriter_Write( &writer, path, &error ) == lmb_statusOk;
}

/* A model of the def with random numbers; Free it. NULL when it could not be written. */
static inline LimbFixture *LimbFixture_Make( const LimbDef *def )
{
	LimbFixture *f = calloc( 1, sizeof( *f ) );
	lmbError error = { 0 };
	f->def = *def;
	f->random = lmbRandom_Seed( def->seed, 3 );
	for ( int i = 0; i < def->n; ++i )
		memcpy( f->dofNames + 3 * i, ( char[] ){ 'q', (char)( 'a' + i ), 0 }, 3 );
	for ( int i = 0; i < def->m; ++i )
		memcpy( f->inputNames + 4 * i, ( char[] ){ 'u', (char)( 'a' + i / 8 ), (char)( '0' + i % 8 ), 0 },
		        4 );
	MakeFeatures( f );
	MakeNets( f );
	if ( def->trust )
		MakeTrust( f );
	strcpy( f->path, "/tmp/limber-limb-XXXXXX" );
	int file = mkstemp( f->path );
	if ( file < 0 )
		return NULL;
	close( file );
	if ( !WriteModel( f, f->path ) ||
	     lmbFile_Read( f->path, &f->arena, &f->bytes, &f->size, &error ) != lmb_statusOk )
	{
		printf( "fixture: %s\n", error.message );
		return NULL;
	}
	return f;
}

static inline void LimbFixture_Free( LimbFixture *f )
{
	unlink( f->path );
	lmbArena_Free( &f->arena );
	free( f );
}

/* The model in the fixture's arena, or NULL with the problem printed. */
static inline lmbLimb *LimbFixture_Load( LimbFixture *f )
{
	const char *problem = NULL;
	lmbLimb *model = NULL;
	size_t size = lmbLimb_Size( f->bytes, f->size );
	void *memory = lmbArena_New( &f->arena, size, 1 );
	if ( lmbLimb_Load( f->bytes, f->size, memory, size, &model, &problem ) != lmb_statusOk )
		printf( "fixture: %s\n", problem );
	return model;
}

static inline lmbLimbBody *LimbFixture_Body( LimbFixture *f, const lmbLimb *model, const lmbLimbDef *def )
{
	lmbLimbBody *body = NULL;
	size_t size = lmbLimbBody_Size( model, def );
	void *memory = lmbArena_New( &f->arena, size, 1 );
	if ( lmbLimbBody_Place( model, def, memory, size, &body ) != lmb_statusOk )
		printf( "fixture: the body could not be placed\n" );
	return body;
}

/* ---- The equations once more, in long double. ---- */

typedef long double Real;

static inline void TrueNet( const FixtureNet *net, const Real *list, Real *out )
{
	Real x[512], y[8192];
	const float *at = net->numbers;
	for ( int i = 0; i < net->sizes[0]; ++i )
		x[i] = list[net->inputs[i]];
	for ( int l = 0; l < net->layers; ++l )
	{
		int in = net->sizes[l], count = net->sizes[l + 1];
		for ( int o = 0; o < count; ++o )
		{
			y[o] = at[in * count + o];
			for ( int i = 0; i < in; ++i )
				y[o] += (Real)at[o * in + i] * x[i];
		}
		at += ( in + 1 ) * count;
		for ( int o = 0; o < count && l + 1 < net->layers; ++o )
			x[o] = tanhl( y[o] );
	}
	memcpy( out, y, (size_t)net->sizes[net->layers] * sizeof( Real ) );
}

static inline void TrueList( const LimbFixture *f, const Real *q, const Real *v, const Real *u, Real *list )
{
	int n = f->def.n;
	for ( int i = 0; i < f->featureCount; ++i )
	{
		Real phase = 0.0L;
		for ( int j = 0; j < n; ++j )
			phase += f->angles[i * n + j] * q[j];
		list[i] = f->kinds[i] == 0   ? sinl( phase )
		          : f->kinds[i] == 1 ? cosl( phase )
		                             : ( phase - f->shift[i] ) * f->scale[i];
	}
	memcpy( list + f->featureCount, v, (size_t)n * sizeof( Real ) );
	memcpy( list + f->featureCount + n, u, (size_t)f->def.m * sizeof( Real ) );
}

/* Full symmetric matrix K K^T of a packed lower triangle. */
static inline void Square( int n, const Real *k, Real *out )
{
	for ( int i = 0; i < n; ++i )
		for ( int j = 0; j < n; ++j )
		{
			out[i * n + j] = 0.0L;
			for ( int c = 0; c <= i && c <= j; ++c )
				out[i * n + j] += k[i * ( i + 1 ) / 2 + c] * k[j * ( j + 1 ) / 2 + c];
		}
}

static inline void TrueMass( const LimbFixture *f, const Real *q, Real *mass )
{
	Real list[256], k[136], zero[64] = { 0 };
	TrueList( f, q, zero, zero, list );
	TrueNet( &f->mass, list, k );
	for ( int i = 0; i < f->def.n; ++i )
	{
		Real *x = &k[i * ( i + 1 ) / 2 + i];
		*x = log1pl( expl( *x ) ) + f->massFloor;
	}
	Square( f->def.n, k, mass );
}

static inline Real TruePotential( const LimbFixture *f, const Real *q )
{
	Real list[256], out[1], zero[64] = { 0 };
	if ( !f->def.potential )
		return 0.0L;
	TrueList( f, q, zero, zero, list );
	TrueNet( &f->potential, list, out );
	return out[0];
}

typedef struct TrueTerms
{
	Real mass[256], bias[16], gravity[16], viscous[16], drive[16];
} TrueTerms;

/* Christoffel's symbols by central differences: with a step of 1e-5 in long double about 1e-10 off. */
static inline void TrueBias( const LimbFixture *f, const Real *q, const Real *v, TrueTerms *out )
{
	enum
	{
		most = 16
	};
	static Real slopes[most][most * most];
	int n = f->def.n;
	const Real width = 1e-5L;
	for ( int k = 0; k < n; ++k )
	{
		Real high[most * most], low[most * most], moved[most];
		memcpy( moved, q, (size_t)n * sizeof( Real ) );
		moved[k] = q[k] + width;
		TrueMass( f, moved, high );
		Real potential = TruePotential( f, moved );
		moved[k] = q[k] - width;
		TrueMass( f, moved, low );
		out->gravity[k] = ( potential - TruePotential( f, moved ) ) / ( 2.0L * width );
		for ( int i = 0; i < n * n; ++i )
			slopes[k][i] = ( high[i] - low[i] ) / ( 2.0L * width );
	}
	for ( int i = 0; i < n; ++i )
	{
		out->bias[i] = 0.0L;
		for ( int j = 0; j < n; ++j )
			for ( int k = 0; k < n; ++k )
				out->bias[i] += ( slopes[k][i * n + j] - 0.5L * slopes[i][j * n + k] ) * v[j] * v[k];
	}
}

static inline void TrueLagrangian( const LimbFixture *f, const Real *q, const Real *v, const Real *u,
                                   TrueTerms *out )
{
	int n = f->def.n, m = f->def.m, triangle = n * ( n + 1 ) / 2;
	Real list[256], k[136] = { 0 }, constant[136] = { 0 }, d[256], d0[256], g[16 * 64] = { 0 };
	TrueList( f, q, v, u, list );
	TrueMass( f, q, out->mass );
	TrueBias( f, q, v, out );
	for ( int i = 0; i < triangle && f->def.dampingConstant; ++i )
		constant[i] = f->dampingConstant[i];
	if ( f->def.dampingNet )
		TrueNet( &f->damping, list, k );
	Square( n, k, d );
	Square( n, constant, d0 );
	if ( f->def.driveNet )
		TrueNet( &f->drive, list, g );
	for ( int i = 0; i < n; ++i )
	{
		out->viscous[i] = out->drive[i] = 0.0L;
		for ( int j = 0; j < n; ++j )
			out->viscous[i] += ( d[i * n + j] + d0[i * n + j] ) * v[j];
		for ( int j = 0; j < m; ++j )
		{
			Real gain = g[i * m + j] + ( f->def.driveMatrix ? f->driveMatrix[i * m + j] : 0.0 );
			if ( !f->def.driveNet && !f->def.driveMatrix )
				gain = i == j;
			out->drive[i] += gain * u[j];
		}
	}
}

/* Gauss without pivots: M is positive definite. */
static inline void TrueSolve( int n, const Real *mass, Real *b )
{
	Real m[256];
	memcpy( m, mass, (size_t)( n * n ) * sizeof( Real ) );
	for ( int k = 0; k < n; ++k )
		for ( int i = k + 1; i < n; ++i )
		{
			Real factor = m[i * n + k] / m[k * n + k];
			for ( int j = k; j < n; ++j )
				m[i * n + j] -= factor * m[k * n + j];
			b[i] -= factor * b[k];
		}
	for ( int i = n - 1; i >= 0; --i )
	{
		for ( int j = i + 1; j < n; ++j )
			b[i] -= m[i * n + j] * b[j];
		b[i] /= m[i * n + i];
	}
}

static inline void TrueAcceleration( const LimbFixture *f, const Real *q, const Real *v, const Real *u,
                                     Real *a )
{
	int n = f->def.n, m = f->def.m, pairs = n * ( n + 1 ) / 2;
	Real list[256], out[8192];
	if ( f->def.kind == lmb_limbLagrangian )
	{
		TrueTerms terms;
		TrueLagrangian( f, q, v, u, &terms );
		for ( int i = 0; i < n; ++i )
			a[i] = terms.drive[i] - terms.bias[i] - terms.gravity[i] - terms.viscous[i];
		TrueSolve( n, terms.mass, a );
		return;
	}
	TrueList( f, q, v, u, list );
	TrueNet( &f->acceleration, list, out );
	for ( int i = 0; i < n; ++i )
	{
		a[i] = out[i];
		if ( f->def.kind == lmb_limbPlain )
			continue;
		a[i] = out[n * m + n * pairs + n * n + i];
		for ( int j = 0; j < m; ++j )
			a[i] += out[i * m + j] * u[j];
		for ( int j = 0, p = 0; j < n; ++j )
			for ( int k = 0; k <= j; ++k, ++p )
				a[i] += out[n * m + i * pairs + p] * v[j] * v[k];
		for ( int j = 0; j < n; ++j )
			a[i] += out[n * m + n * pairs + i * n + j] * v[j];
	}
}

static inline Real TrueEnergy( const LimbFixture *f, const Real *q, const Real *v )
{
	Real mass[256], energy = TruePotential( f, q );
	TrueMass( f, q, mass );
	for ( int i = 0; i < f->def.n; ++i )
		for ( int j = 0; j < f->def.n; ++j )
			energy += 0.5L * v[i] * mass[i * f->def.n + j] * v[j];
	return energy;
}

#endif
