#include "flesh/compact.h"

#include "base/files.h"
#include "base/random.h"
#include "flesh/model.h"
#include "formats/safetensors.h"
#include "runtime/flesh_body.h"
#include "runtime/tensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
	numbersPerColumn = 3 * lmbLanes,
	randomPoses = 200
};

/* Shapes of one kind: the network's or the modes'. */
typedef struct Kind
{
	int count;    /* amounts */
	double *rms;  /* (count) of each amount over the motions, or as given */
	double *loss; /* (blocks x count x 3) m^2 summed over the block's vertices: with 0, 1 and 2 columns */
	lmbFileColumns columns;
} Kind;

typedef struct Compactor
{
	const char *path;
	const lmbMotion *const *motions;
	int motionCount;
	double tolerance;
	bool given; /* amounts, in place of motions */
	lmbArena arena;
	char *data;
	size_t size;
	lmbFleshFile file;
	lmbModel model; /* as it was */
	int softCount, blockCount;
	int32_t *order;                      /* (blockCount x lmbLanes) */
	int32_t *first, *regions, *inRegion; /* for each vertex, its places in regions: first (vertexCount + 1) */
	Kind network, modes;
} Compactor;

static lmbStatus PlayPose( lmbFleshBody *body, const double *bones, int boneCount, double dt, float *floats,
                           lmbFleshShape *shape )
{
	for ( int i = 0; i < 12 * boneCount; ++i )
		floats[i] = (float)bones[i];
	lmbFleshPose pose = { .bones = floats };
	return lmbFleshBody_Step( body, &pose, dt, shape );
}

static void AddSquares( double *sums, const float *amounts, int count )
{
	for ( int i = 0; i < count; ++i )
		sums[i] += (double)amounts[i] * amounts[i];
}

/* Root mean squares of all amounts over the motions. */
static lmbStatus MeasureMotions( Compactor *c, lmbFleshBody *body, double *bones, float *floats,
                                 lmbError *error )
{
	const double rate = 60.0;
	double frames = 0.0;
	for ( int m = 0; m < c->motionCount; ++m )
	{
		lmbFleshBody_Reset( body );
		for ( int n = 0; n <= c->motions[m]->duration * rate; ++n, frames += 1.0 )
		{
			lmbMotion_Pose( c->motions[m], n / rate, bones );
			if ( PlayPose( body, bones, c->file.boneCount, 1.0 / rate, floats, NULL ) != lmb_statusOk )
				return lmbError_Set( error, lmb_statusNumerical, "%s: motion %s has a pose out of range",
				                     c->path, c->motions[m]->name );
			AddSquares( c->network.rms, body->amplitudes, c->network.count );
			AddSquares( c->modes.rms, body->modeAmounts[0], c->modes.count );
		}
	}
	for ( int i = 0; i < c->network.count; ++i )
		c->network.rms[i] = sqrt( c->network.rms[i] / fmax( frames, 1.0 ) );
	for ( int i = 0; i < c->modes.count; ++i )
		c->modes.rms[i] = sqrt( c->modes.rms[i] / fmax( frames, 1.0 ) );
	return lmb_statusOk;
}

/* What the motions hardly use may still be used by others: the network's amounts count as in random poses
 * where they are larger there, and no mode as less than a tenth of the mean energy. */
static void RaiseAmounts( Compactor *c, lmbFleshBody *body, double *bones, float *floats )
{
	int boneCount = c->file.boneCount;
	double *sums = LMB_NEW( &c->arena, double, c->network.count );
	double *rotations = LMB_NEW( &c->arena, double, 4 * boneCount );
	lmbRandom random = lmbRandom_Seed( 1, 1 );
	for ( int n = 0; n < randomPoses && c->motionCount > 0 && sums != NULL && rotations != NULL; ++n )
	{
		for ( int j = 0; j < boneCount; ++j )
		{
			for ( int i = 0; i < 3; ++i )
				rotations[4 * j + i] = 0.15 * lmbRandom_Normal( &random ); /* 17 degrees about each axis */
			rotations[4 * j + 3] = 1.0;
			double length = 0.0;
			for ( int i = 0; i < 4; ++i )
				length += rotations[4 * j + i] * rotations[4 * j + i];
			for ( int i = 0; i < 4; ++i )
				rotations[4 * j + i] /= sqrt( length );
		}
		lmbPose_FromLocalRotations( c->motions[0]->character, rotations, NULL, bones );
		if ( PlayPose( body, bones, boneCount, 0.0, floats, NULL ) == lmb_statusOk )
			AddSquares( sums, body->amplitudes, c->network.count );
	}
	for ( int i = 0; i < c->network.count && sums != NULL; ++i )
		c->network.rms[i] = fmax( c->network.rms[i], sqrt( sums[i] / randomPoses ) );
	double mean = 0.0;
	for ( int m = 0; m < c->modes.count; ++m )
		mean += sqrt( c->file.unfitted[2 * m] ) * c->modes.rms[m] / c->modes.count;
	for ( int m = 0; m < c->modes.count; ++m )
		c->modes.rms[m] = fmax( c->modes.rms[m], 0.1 * mean / sqrt( fmax( c->file.unfitted[2 * m], 1.0 ) ) );
}

static lmbStatus MeasureAmounts( Compactor *c, lmbError *error )
{
	lmbFleshBody *body;
	double *bones = LMB_NEW( &c->arena, double, 12 * c->file.boneCount );
	float *floats = LMB_NEW( &c->arena, float, 12 * c->file.boneCount );
	c->network.rms = LMB_NEW( &c->arena, double, c->network.count );
	c->modes.rms = LMB_NEW( &c->arena, double, c->modes.count );
	if ( bones == NULL || floats == NULL || c->network.rms == NULL || c->modes.rms == NULL )
		return lmbError_Memory( error );
	LMB_TRY( lmbModel_Body( &c->model, NULL, &c->arena, &body, error ) );
	LMB_TRY( MeasureMotions( c, body, bones, floats, error ) );
	RaiseAmounts( c, body, bones, floats );
	return lmb_statusOk;
}

/* Blocks of near vertices: halves of the widest side of their box, cut at whole blocks. */
typedef struct Point
{
	float at[3];
	int32_t vertex;
} Point;

static int ComparePoints( const Point *a, const Point *b, int axis )
{
	if ( a->at[axis] != b->at[axis] )
		return a->at[axis] < b->at[axis] ? -1 : 1;
	return a->vertex < b->vertex ? -1 : 1;
}
static int CompareX( const void *a, const void *b )
{
	return ComparePoints( a, b, 0 );
}
static int CompareY( const void *a, const void *b )
{
	return ComparePoints( a, b, 1 );
}
static int CompareZ( const void *a, const void *b )
{
	return ComparePoints( a, b, 2 );
}

static void SplitPoints( Point *points, int count )
{
	if ( count <= lmbLanes )
		return;
	static int ( *const compare[3] )( const void *, const void * ) = { CompareX, CompareY, CompareZ };
	int widest = 0;
	float width = -1.0f;
	for ( int axis = 0; axis < 3; ++axis )
	{
		float low = points[0].at[axis], high = low;
		for ( int i = 1; i < count; ++i )
		{
			low = fminf( low, points[i].at[axis] );
			high = fmaxf( high, points[i].at[axis] );
		}
		if ( high - low > width )
		{
			width = high - low;
			widest = axis;
		}
	}
	qsort( points, (size_t)count, sizeof( *points ), compare[widest] );
	int half = ( ( count + lmbLanes - 1 ) / lmbLanes + 1 ) / 2 * lmbLanes;
	SplitPoints( points, half );
	SplitPoints( points + half, count - half );
}

/* A block's vertices by how many bones move them, so that tiles of few bones come apart from those of many.
 */
static void SortByBones( const Compactor *c, int32_t *block )
{
	int bones[lmbLanes];
	for ( int l = 0; l < lmbLanes; ++l )
	{
		bones[l] = 0;
		for ( int k = 0; block[l] >= 0 && k < c->file.influenceCount; ++k )
			bones[l] += c->file.weights[(size_t)block[l] * (size_t)c->file.influenceCount + (size_t)k] > 0.0f;
	}
	for ( int l = 1; l < lmbLanes; ++l )
		for ( int at = l; at > 0 && bones[at] > bones[at - 1]; --at )
		{
			int count = bones[at];
			int32_t vertex = block[at];
			bones[at] = bones[at - 1];
			block[at] = block[at - 1];
			bones[at - 1] = count;
			block[at - 1] = vertex;
		}
}

static lmbStatus MakeOrder( Compactor *c, lmbError *error )
{
	for ( int v = 0; v < c->file.vertexCount; ++v )
		c->softCount += c->file.softness[v] > 0.0f;
	c->blockCount = ( c->softCount + lmbLanes - 1 ) / lmbLanes;
	Point *points = LMB_NEW( &c->arena, Point, c->softCount );
	c->order = LMB_NEW( &c->arena, int32_t, c->blockCount * lmbLanes );
	if ( points == NULL || c->order == NULL )
		return lmbError_Memory( error );
	int count = 0;
	for ( int v = 0; v < c->file.vertexCount; ++v )
	{
		if ( !( c->file.softness[v] > 0.0f ) )
			continue;
		memcpy( points[count].at, c->file.bind + 3 * (size_t)v, 3 * sizeof( float ) );
		points[count++].vertex = v;
	}
	SplitPoints( points, count );
	for ( int i = 0; i < c->blockCount * lmbLanes; ++i )
		c->order[i] = i < count ? points[i].vertex : -1;
	for ( int b = 0; b < c->blockCount; ++b )
		SortByBones( c, c->order + (size_t)b * lmbLanes );
	return lmb_statusOk;
}

/* Which regions move a vertex, and as which of their own vertices. */
static lmbStatus FindRegions( Compactor *c, lmbError *error )
{
	const lmbFleshFile *file = &c->file;
	int64_t total = 0;
	for ( int r = 0; r < file->regionCount; ++r )
		total += file->regions[r * lmbRegionColumns + lmbRegionVertices];
	c->first = LMB_NEW( &c->arena, int32_t, file->vertexCount + 2 );
	c->regions = LMB_NEW( &c->arena, int32_t, total );
	c->inRegion = LMB_NEW( &c->arena, int32_t, total );
	if ( c->first == NULL || c->regions == NULL || c->inRegion == NULL )
		return lmbError_Memory( error );
	for ( int64_t i = 0; i < total; ++i )
		c->first[file->regionVertices[i] + 2] += 1;
	for ( int v = 0; v < file->vertexCount; ++v )
		c->first[v + 2] += c->first[v + 1];
	const int32_t *vertices = file->regionVertices;
	for ( int r = 0; r < file->regionCount; ++r )
	{
		int count = file->regions[r * lmbRegionColumns + lmbRegionVertices];
		for ( int i = 0; i < count; ++i )
		{
			int at = c->first[vertices[i] + 1]++;
			c->regions[at] = r;
			c->inRegion[at] = i;
		}
		vertices += count;
	}
	return lmb_statusOk;
}

/* All shapes of a block: shapes (count x numbersPerColumn), axis by axis. */
static void GatherNetwork( const Compactor *c, int block, float *shapes )
{
	const lmbFleshFile *file = &c->file;
	memset( shapes, 0, (size_t)c->network.count * numbersPerColumn * sizeof( float ) );
	int coefficient = 0;
	const float *basis = file->basis;
	for ( int r = 0; r < file->regionCount; ++r )
	{
		const int32_t *region = file->regions + r * lmbRegionColumns;
		size_t vertices = (size_t)region[lmbRegionVertices];
		int coefficients = region[lmbRegionCoefficients];
		for ( int l = 0; l < lmbLanes; ++l )
		{
			int v = c->order[block * lmbLanes + l];
			for ( int k = v < 0 ? 0 : c->first[v]; v >= 0 && k < c->first[v + 1]; ++k )
				for ( int i = 0; c->regions[k] == r && i < coefficients; ++i )
					for ( int axis = 0; axis < 3; ++axis )
						shapes[( (size_t)( coefficient + i ) * 3 + (size_t)axis ) * lmbLanes + (size_t)l] =
						    basis[( (size_t)i * vertices + (size_t)c->inRegion[k] ) * 3 + (size_t)axis];
		}
		coefficient += coefficients;
		basis += (size_t)coefficients * vertices * 3;
	}
}

static void GatherModes( const Compactor *c, int block, float *shapes )
{
	for ( int m = 0; m < c->modes.count; ++m )
		for ( int l = 0; l < lmbLanes; ++l )
		{
			int v = c->order[block * lmbLanes + l];
			for ( int axis = 0; axis < 3; ++axis )
				shapes[( (size_t)m * 3 + (size_t)axis ) * lmbLanes + (size_t)l] =
				    v < 0 ? 0.0f
				          : c->file.shapes[( (size_t)m * (size_t)c->file.vertexCount + (size_t)v ) * 3 +
				                           (size_t)axis];
		}
}

/* A shape as whole numbers times a scale; what that leaves stays in shape. Returns the scale. */
static float Round( float *shape, int8_t *bytes )
{
	float most = 0.0f;
	for ( int i = 0; i < numbersPerColumn; ++i )
		most = fmaxf( most, fabsf( shape[i] ) );
	float scale = most / 127.0f;
	for ( int i = 0; i < numbersPerColumn; ++i )
	{
		double whole = scale > 0.0f ? floor( (double)shape[i] / scale + 0.5 ) : 0.0;
		bytes[i] = (int8_t)fmax( -127.0, fmin( 127.0, whole ) );
		shape[i] = (float)( (double)shape[i] - (double)scale * bytes[i] );
	}
	return scale;
}

static double Squares( const float *shape )
{
	double sum = 0.0;
	for ( int i = 0; i < numbersPerColumn; ++i )
		sum += (double)shape[i] * shape[i];
	return sum;
}

static void MeasureLosses( const Kind *kind, int block, float *shapes )
{
	int8_t bytes[numbersPerColumn];
	for ( int i = 0; i < kind->count; ++i )
	{
		float *shape = shapes + (size_t)i * numbersPerColumn;
		double *loss = kind->loss + ( (size_t)block * (size_t)kind->count + (size_t)i ) * 3;
		double weight = kind->rms[i] * kind->rms[i];
		for ( int columns = 0; columns < 3; ++columns )
		{
			loss[columns] = weight * Squares( shape );
			Round( shape, bytes );
		}
	}
}

/* How many columns a shape gets in a block at a price (m^2) for each. */
static int ChooseColumns( const double *loss, double price )
{
	int best = 0;
	for ( int columns = 1; columns < 3; ++columns )
		if ( loss[columns] + price * columns < loss[best] + price * best )
			best = columns;
	return best;
}

/* The highest price at which all losses together stay below the bound. */
static double FindPrice( const Kind *kind, int blockCount, double bound )
{
	double low = 1e-30, high = 1.0; /* m^2 */
	for ( int step = 0; step < 60; ++step )
	{
		double price = sqrt( low * high ), total = 0.0;
		for ( size_t i = 0; i < (size_t)blockCount * (size_t)kind->count; ++i )
			total += kind->loss[3 * i + (size_t)ChooseColumns( kind->loss + 3 * i, price )];
		if ( total <= bound )
			low = price;
		else
			high = price;
	}
	return low;
}

/* Entries of one column into place (kernels.h, lmbColumns). */
static void PlaceColumn( const int8_t *bytes, int column, int count, int8_t *entries )
{
	for ( int i = 0; i < numbersPerColumn; ++i )
		entries[( i / lmbTile * ( count / 2 ) + column / 2 ) * 2 * lmbTile + i % lmbTile * 2 + column % 2] =
		    bytes[i];
}

typedef void ( *Gather )( const Compactor *c, int block, float *shapes );

/* The block's columns: the first ones of all shapes, then those of what is left. */
static void FillColumns( const Kind *kind, int block, double price, float *shapes )
{
	int32_t first = kind->columns.blocks[block], count = kind->columns.blocks[block + 1] - first, column = 0;
	int32_t *amount = (int32_t *)kind->columns.amount + first;
	float *scales = (float *)kind->columns.scales + first;
	int8_t *entries = (int8_t *)kind->columns.entries + (size_t)first * numbersPerColumn;
	int8_t bytes[numbersPerColumn];
	for ( int round = 1; round < 3; ++round )
		for ( int i = 0; i < kind->count; ++i )
		{
			const double *loss = kind->loss + ( (size_t)block * (size_t)kind->count + (size_t)i ) * 3;
			if ( ChooseColumns( loss, price ) < round )
				continue;
			amount[column] = i;
			scales[column] = Round( shapes + (size_t)i * numbersPerColumn, bytes );
			PlaceColumn( bytes, column++, count, entries );
		}
}

static lmbStatus MakeColumns( Compactor *c, Kind *kind, Gather gather, bool *fits, lmbError *error )
{
	size_t cells = (size_t)c->blockCount * (size_t)kind->count;
	float *shapes = LMB_NEW( &c->arena, float, (size_t)kind->count *numbersPerColumn );
	int32_t *blocks = LMB_NEW( &c->arena, int32_t, c->blockCount + 1 );
	kind->loss = LMB_NEW( &c->arena, double, 3 * cells );
	if ( shapes == NULL || blocks == NULL || kind->loss == NULL )
		return lmbError_Memory( error );
	for ( int b = 0; b < c->blockCount; ++b )
	{
		gather( c, b, shapes );
		MeasureLosses( kind, b, shapes );
	}
	double price = FindPrice( kind, c->blockCount, c->tolerance * c->tolerance * c->softCount );
	for ( int b = 0; b < c->blockCount; ++b )
	{
		int count = 0;
		for ( int i = 0; i < kind->count; ++i )
			count += ChooseColumns( kind->loss + 3 * ( (size_t)b * (size_t)kind->count + (size_t)i ), price );
		count += count % 2;
		*fits = *fits && count <= lmbColumnLimit;
		blocks[b + 1] = blocks[b] + count;
	}
	kind->columns = ( lmbFileColumns ){
	    .blocks = blocks,
	    .amount = LMB_NEW( &c->arena, int32_t, blocks[c->blockCount] ),
	    .scales = LMB_NEW( &c->arena, float, blocks[c->blockCount] ),
	    .entries = LMB_NEW( &c->arena, int8_t, (size_t)blocks[c->blockCount] * numbersPerColumn ) };
	if ( kind->columns.amount == NULL || kind->columns.scales == NULL || kind->columns.entries == NULL )
		return lmbError_Memory( error );
	for ( int b = 0; *fits && b < c->blockCount; ++b )
	{
		gather( c, b, shapes );
		FillColumns( kind, b, price, shapes );
	}
	return lmb_statusOk;
}

static void AddColumns( const Compactor *c, const Kind *kind, const char *part, lmbTensorWriter *writer )
{
	char name[64];
	int64_t blocks = c->blockCount + 1, count = kind->columns.blocks[c->blockCount],
	        bytes = count * numbersPerColumn;
	snprintf( name, sizeof( name ), "%s.blocks", part );
	lmbTensorWriter_Add( writer, name, lmb_dataI32, 1, &blocks, kind->columns.blocks );
	snprintf( name, sizeof( name ), "%s.columns", part );
	lmbTensorWriter_Add( writer, name, lmb_dataI32, 1, &count, kind->columns.amount );
	snprintf( name, sizeof( name ), "%s.scales", part );
	lmbTensorWriter_Add( writer, name, lmb_dataF32, 1, &count, kind->columns.scales );
	snprintf( name, sizeof( name ), "%s.entries", part );
	lmbTensorWriter_Add( writer, name, lmb_dataI8, 1, &bytes, kind->columns.entries );
}

/* Everything else as it was. */
static void CopyTensors( const Compactor *c, lmbTensorWriter *writer )
{
	static const char *const names[] = { "bind",
	                                     "triangles",
	                                     "vertex_bones",
	                                     "vertex_weights",
	                                     "softness",
	                                     "normal_groups",
	                                     "bone_parents",
	                                     "bone_names",
	                                     "network.features",
	                                     "network.linear",
	                                     "network.mean",
	                                     "network.scale",
	                                     "network.layers",
	                                     "modes.unfitted",
	                                     "modes.fitted",
	                                     "modes.pairs",
	                                     "modes.bone_forcing",
	                                     "modes.coefficient_forcing",
	                                     "modes.pose_stiffness",
	                                     "modes.pose_stiffness_range",
	                                     "springs.vertex",
	                                     "springs.remainder" };
	lmbTensor tensor;
	for ( size_t i = 0; i < sizeof( names ) / sizeof( names[0] ); ++i )
		if ( lmbTensors_Find( c->data, c->size, names[i], &tensor ) == lmb_statusOk )
			lmbTensorWriter_Add( writer, names[i], tensor.type, tensor.rank, tensor.shape, tensor.data );
}

static lmbStatus WriteCompact( Compactor *c, lmbError *error )
{
	lmbTensorWriter *writer = LMB_NEW( &c->arena, lmbTensorWriter, 1 );
	int32_t *regions = LMB_NEW( &c->arena, int32_t, c->file.regionCount * lmbRegionColumns );
	if ( writer == NULL || regions == NULL )
		return lmbError_Memory( error );
	lmbTensorWriter_Metadata( writer, "format", "limber.flesh" );
	lmbTensorWriter_Metadata( writer, "version", "2" );
	int64_t lanes = (int64_t)c->blockCount * lmbLanes, shape[2] = { c->file.regionCount, lmbRegionColumns };
	lmbTensorWriter_Add( writer, "soft_order", lmb_dataI32, 1, &lanes, c->order );
	CopyTensors( c, writer );
	if ( c->network.columns.blocks != NULL )
	{
		memcpy( regions, c->file.regions, (size_t)( shape[0] * shape[1] ) * sizeof( int32_t ) );
		for ( int r = 0; r < c->file.regionCount; ++r )
			regions[r * lmbRegionColumns + lmbRegionVertices] = 0;
		lmbTensorWriter_Add( writer, "network.regions", lmb_dataI32, 2, shape, regions );
		AddColumns( c, &c->network, "network", writer );
	}
	if ( c->modes.columns.blocks != NULL )
		AddColumns( c, &c->modes, "modes", writer );
	return lmbTensorWriter_Write( writer, c->path, error );
}

/* Both models through all motions. */
static lmbStatus MeasureLoss( Compactor *c, const lmbModel *after, lmbCompactReport *report, lmbError *error )
{
	lmbFleshBody *bodies[2];
	const double rate = 60.0;
	double *bones = LMB_NEW( &c->arena, double, 12 * c->file.boneCount ), sum = 0.0, count = 0.0, most = 0.0;
	float *floats = LMB_NEW( &c->arena, float, 12 * c->file.boneCount );
	if ( bones == NULL || floats == NULL )
		return lmbError_Memory( error );
	LMB_TRY( lmbModel_Body( &c->model, NULL, &c->arena, &bodies[0], error ) );
	LMB_TRY( lmbModel_Body( after, NULL, &c->arena, &bodies[1], error ) );
	for ( int m = 0; m < c->motionCount; ++m )
	{
		lmbFleshBody_Reset( bodies[0] );
		lmbFleshBody_Reset( bodies[1] );
		for ( int n = 0; n <= c->motions[m]->duration * rate; ++n )
		{
			lmbFleshShape shapes[2];
			lmbMotion_Pose( c->motions[m], n / rate, bones );
			for ( int i = 0; i < 2; ++i )
				PlayPose( bodies[i], bones, c->file.boneCount, 1.0 / rate, floats, &shapes[i] );
			for ( int i = 0; i < c->softCount; ++i )
			{
				size_t at = 3 * (size_t)c->order[i];
				double squares = 0.0;
				for ( size_t k = at; k < at + 3; ++k )
				{
					double off = (double)shapes[0].positions[k] - shapes[1].positions[k];
					squares += off * off;
				}
				sum += squares;
				most = fmax( most, squares );
			}
			count += c->softCount;
		}
	}
	report->rms = sqrt( sum / fmax( count, 1.0 ) );
	report->max = sqrt( most );
	return lmb_statusOk;
}

static lmbStatus Compact( Compactor *c, lmbCompactReport *report, lmbError *error )
{
	const char *problem;
	bool fits = true;
	LMB_TRY( lmbFile_Read( c->path, &c->arena, &c->data, &c->size, error ) );
	lmbStatus status = lmbFleshFile_Read( c->data, c->size, &c->file, &problem );
	if ( status != lmb_statusOk )
		return lmbError_Set( error, status, "%s: %s; make the model again", c->path, problem );
	if ( c->file.softOrder != NULL || ( c->motionCount < 1 && !c->given ) )
		return lmb_statusOk;
	LMB_TRY( lmbModel_Open( &c->model, c->path, error ) );
	c->network.count = c->file.coefficientCount;
	c->modes.count = c->file.modeCount;
	LMB_TRY( MakeOrder( c, error ) );
	if ( !c->given )
		LMB_TRY( MeasureAmounts( c, error ) );
	if ( c->network.count > 0 )
	{
		LMB_TRY( FindRegions( c, error ) );
		LMB_TRY( MakeColumns( c, &c->network, GatherNetwork, &fits, error ) );
	}
	if ( c->modes.count > 0 )
		LMB_TRY( MakeColumns( c, &c->modes, GatherModes, &fits, error ) );
	if ( !fits || c->network.count + c->modes.count == 0 )
		return lmb_statusOk;
	LMB_TRY( WriteCompact( c, error ) );
	lmbModel after;
	status = lmbModel_Open( &after, c->path, error );
	if ( status == lmb_statusOk && !c->given )
		status = MeasureLoss( c, &after, report, error );
	lmbModel_Close( &after );
	report->compact = status == lmb_statusOk;
	return status;
}

static lmbStatus RunCompactor( Compactor *c, lmbCompactReport *report, lmbError *error )
{
	memset( report, 0, sizeof( *report ) );
	lmbStatus status = Compact( c, report, error );
	lmbModel_Close( &c->model );
	lmbArena_Free( &c->arena );
	return status;
}

lmbStatus lmbModel_Compact( const char *path, const lmbMotion *const *motions, int motionCount,
                            double tolerance, lmbCompactReport *report, lmbError *error )
{
	Compactor c = { .path = path, .motions = motions, .motionCount = motionCount, .tolerance = tolerance };
	return RunCompactor( &c, report, error );
}

lmbStatus lmbModel_CompactFor( const char *path, const double *coefficients, const double *modes,
                               double tolerance, lmbCompactReport *report, lmbError *error )
{
	Compactor c = { .path = path, .tolerance = tolerance, .given = true };
	c.network.rms = (double *)coefficients; /* only read when given */
	c.modes.rms = (double *)modes;
	return RunCompactor( &c, report, error );
}
