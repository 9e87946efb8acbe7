/* Weights of the lattice's nodes: for every bone the smoothest field whose values at the skin are the
 * artist's, minimising
 *
 *   sum over samples s of the skin  area_s ( w(x_s) - W_s )^2  +  l  integral |grad w|^2,
 *
 * a Laplace problem with one matrix for all bones. The length l is the wavelength of what is smoothed
 * away (over 2 pi): fields of one-hot skins get as smooth as the lattice can carry. Constants pass
 * unchanged, so rows sum to 1, and since no angle of the lattice is obtuse values stay near [0, 1]. */
#include "flesh/tissue_build.h"

#include "base/blas.h"
#include "base/math3.h"

#include <cholmod.h>
#include <stdlib.h>

static const double smoothing = 0.5; /* l in cells */

enum
{
	bonesAtOnce = 16,
	mostPieces = 32 /* of a triangle's edge */
};

/* A piece of a triangle of the skin. */
typedef struct SkinSample
{
	int32_t triangle, tet;
	double corners[3]; /* barycentric in the triangle */
	double weights[4]; /* barycentric in the tetrahedron */
	double area;       /* m^2 */
} SkinSample;

typedef struct SampleList
{
	SkinSample *items;
	size_t count, capacity;
} SampleList;

static lmbStatus AppendSample( const lmbTissueBuild *build, SampleList *list, int triangle,
                               const double *corners, const double *vector, double area, lmbError *error )
{
	const lmbSurface *surface = &build->surface;
	double point[3] = { 0 };
	for ( int c = 0; c < 3; ++c )
		lmbAddScaled( point, point, corners[c],
		              surface->points + 3 * (size_t)surface->triangles[3 * (size_t)triangle + c] );
	lmbPlace place = lmbLattice_Locate( build->lattice, point, vector );
	if ( place.tet < 0 || place.distance > 0.5 * build->lattice->samples.grid.cell )
		return lmb_statusOk;
	if ( list->count == list->capacity )
	{
		size_t capacity = list->capacity == 0 ? 4096 : 2 * list->capacity;
		SkinSample *items = realloc( list->items, capacity * sizeof( *items ) );
		if ( items == NULL )
			return lmbError_Memory( error );
		list->items = items;
		list->capacity = capacity;
	}
	SkinSample *sample = list->items + list->count++;
	*sample = ( SkinSample ){ .triangle = triangle, .tet = place.tet, .area = area };
	memcpy( sample->corners, corners, 3 * sizeof( double ) );
	memcpy( sample->weights, place.weights, sizeof( place.weights ) );
	return lmb_statusOk;
}

/* Triangles larger than half a cell are cut into n x n alike, so that coarse skins reach every cell. */
static lmbStatus SampleTriangle( const lmbTissueBuild *build, SampleList *list, int triangle,
                                 lmbError *error )
{
	const lmbSurface *surface = &build->surface;
	const double *p[3];
	double edges[3][3], vector[3], longest = 0.0;
	for ( int c = 0; c < 3; ++c )
		p[c] = surface->points + 3 * (size_t)surface->triangles[3 * (size_t)triangle + c];
	for ( int c = 0; c < 3; ++c )
	{
		lmbSub( edges[c], p[( c + 1 ) % 3], p[c] );
		longest = fmax( longest, lmbLength( edges[c] ) );
	}
	lmbCross( vector, edges[0], edges[1] );
	double area = 0.5 * lmbLength( vector );
	int n = (int)fmin( ceil( longest / ( 0.5 * build->lattice->samples.grid.cell ) ), mostPieces );
	n = n < 1 ? 1 : n;
	for ( int i = 0; i < n; ++i )
		for ( int j = 0; j < n - i; ++j )
			for ( int down = 0; down <= ( i + j < n - 1 ); ++down )
			{
				double u = ( i + ( down ? 2.0 : 1.0 ) / 3.0 ) / n, v = ( j + ( down ? 2.0 : 1.0 ) / 3.0 ) / n;
				double corners[3] = { 1.0 - u - v, u, v };
				LMB_TRY( AppendSample( build, list, triangle, corners, vector, area / ( n * n ), error ) );
			}
	return lmb_statusOk;
}

static lmbStatus SampleSkin( const lmbTissueBuild *build, SampleList *list, lmbError *error )
{
	for ( int t = 0; t < build->surface.triangleCount; ++t )
	{
		if ( t % 1024 == 0 && lmbJob_Cancelled( build->job ) )
			return lmbJob_CancelledStatus( error );
		LMB_TRY( SampleTriangle( build, list, t, error ) );
	}
	return lmb_statusOk;
}

/* Gradients of the four hat functions (4 x 3) and the volume. */
static double HatGradients( const lmbLattice *lattice, int tet, double *gradients )
{
	const int32_t *nodes = lattice->tets + 4 * (size_t)tet;
	double edges[9], inverse[9];
	for ( int c = 0; c < 3; ++c )
		for ( int a = 0; a < 3; ++a )
			edges[3 * a + c] =
			    lattice->nodes[3 * (size_t)nodes[c + 1] + a] - lattice->nodes[3 * (size_t)nodes[0] + a];
	lmbMat33_Inverse( inverse, edges );
	for ( int a = 0; a < 3; ++a )
	{
		gradients[a] = -inverse[a] - inverse[3 + a] - inverse[6 + a];
		for ( int c = 0; c < 3; ++c )
			gradients[3 * ( c + 1 ) + a] = inverse[3 * c + a];
	}
	return lmbMat33_Determinant( edges ) / 6.0;
}

static void AddEntry( cholmod_triplet *triplet, int a, int b, double value )
{
	( (int *)triplet->i )[triplet->nnz] = a > b ? a : b;
	( (int *)triplet->j )[triplet->nnz] = a > b ? b : a;
	( (double *)triplet->x )[triplet->nnz++] = value;
}

/* Every node is drawn, very weakly, to its nearest skin, so that a part of the lattice without any sample
 * still has an answer. */
static double NearestPull( const lmbTissueBuild *build )
{
	double cell = build->lattice->samples.grid.cell;
	return 1e-6 * smoothing * cell * cell;
}

static cholmod_sparse *Assemble( const lmbTissueBuild *build, const SampleList *samples,
                                 cholmod_common *common )
{
	const lmbLattice *lattice = build->lattice;
	size_t entries = 10 * ( (size_t)lattice->tetCount + samples->count ) + (size_t)lattice->nodeCount;
	size_t n = (size_t)lattice->nodeCount;
	cholmod_triplet *triplet = cholmod_allocate_triplet( n, n, entries, -1, CHOLMOD_REAL, common );
	if ( triplet == NULL )
		return NULL;
	double length = smoothing * lattice->samples.grid.cell;
	for ( int t = 0; t < lattice->tetCount; ++t )
	{
		double gradients[12], volume = HatGradients( lattice, t, gradients );
		double scale = length * volume * fmax( lattice->fill[t], LMB_LEAST_FILL );
		const int32_t *nodes = lattice->tets + 4 * (size_t)t;
		for ( int a = 0; a < 4; ++a )
			for ( int b = 0; b <= a; ++b )
				AddEntry( triplet, nodes[a], nodes[b],
				          scale * lmbDot( gradients + 3 * a, gradients + 3 * b ) );
	}
	for ( size_t s = 0; s < samples->count; ++s )
	{
		const SkinSample *sample = samples->items + s;
		const int32_t *nodes = lattice->tets + 4 * (size_t)sample->tet;
		for ( int a = 0; a < 4; ++a )
			for ( int b = 0; b <= a; ++b )
				AddEntry( triplet, nodes[a], nodes[b],
				          sample->area * sample->weights[a] * sample->weights[b] );
	}
	for ( int i = 0; i < lattice->nodeCount; ++i )
		AddEntry( triplet, i, i, NearestPull( build ) );
	cholmod_sparse *matrix = cholmod_triplet_to_sparse( triplet, triplet->nnz, common );
	cholmod_free_triplet( &triplet, common );
	return matrix;
}

/* Adds scale x the skin's weights at a place of a triangle to the columns of bones first .. first + 15. */
static void AddSkinWeights( const lmbTissueBuild *build, int triangle, const double *corners, int first,
                            double scale, double *columns, size_t stride )
{
	const lmbCharacter *character = build->character;
	for ( int c = 0; c < 3; ++c )
	{
		size_t row =
		    (size_t)build->surface.vertices[3 * (size_t)triangle + c] * (size_t)character->influenceCount;
		for ( int k = 0; k < character->influenceCount; ++k )
		{
			int bone = build->carriers[character->vertexBones[row + k]] - first;
			if ( bone >= 0 && bone < bonesAtOnce )
				columns[(size_t)bone * stride] += scale * corners[c] * character->weights[row + k];
		}
	}
}

static void FillColumns( const lmbTissueBuild *build, const SampleList *samples, const lmbNearest *nearest,
                         int first, cholmod_dense *columns )
{
	size_t n = columns->nrow;
	double *values = columns->x;
	memset( values, 0, n * columns->ncol * sizeof( double ) );
	for ( size_t s = 0; s < samples->count; ++s )
	{
		const SkinSample *sample = samples->items + s;
		for ( int a = 0; a < 4; ++a )
			AddSkinWeights( build, sample->triangle, sample->corners, first,
			                sample->area * sample->weights[a],
			                values + build->lattice->tets[4 * (size_t)sample->tet + a], n );
	}
	for ( size_t i = 0; i < n; ++i )
		AddSkinWeights( build, nearest[i].triangle, nearest[i].weights, first, NearestPull( build ),
		                values + i, n );
}

/* Keeps the heaviest eight bones of each node, heaviest first; of equal ones the first bone. */
static void KeepHeaviest( lmbTissue *tissue, int node, int bone, double weight )
{
	int32_t *bones = tissue->nodeBones + (size_t)node * lmbMostInfluences;
	double *weights = tissue->nodeWeights + (size_t)node * lmbMostInfluences;
	int k = lmbMostInfluences - 1;
	if ( !( weight > weights[k] ) )
		return;
	for ( ; k > 0 && weight > weights[k - 1]; --k )
	{
		bones[k] = bones[k - 1];
		weights[k] = weights[k - 1];
	}
	bones[k] = bone;
	weights[k] = weight;
}

typedef struct Diffusion
{
	lmbTissueBuild *build;
	const SampleList *samples;
	lmbNearest *nearest; /* (nodeCount) skin */
	cholmod_factor *factor;
	cholmod_dense *columns;
	cholmod_common *common;
} Diffusion;

/* Bones first .. first + 15. */
static lmbStatus SolveBones( const Diffusion *diffusion, int first, lmbError *error )
{
	lmbTissueBuild *build = diffusion->build;
	size_t n = (size_t)build->tissue->nodeCount;
	FillColumns( build, diffusion->samples, diffusion->nearest, first, diffusion->columns );
	cholmod_dense *solution =
	    cholmod_solve( CHOLMOD_A, diffusion->factor, diffusion->columns, diffusion->common );
	if ( solution == NULL )
		return lmbError_Memory( error );
	for ( int b = 0; b < bonesAtOnce && first + b < build->tissue->boneCount; ++b )
		for ( size_t i = 0; i < n; ++i )
		{
			double weight = fmin( fmax( ( (double *)solution->x )[(size_t)b * n + i], 0.0 ), 1.0 );
			KeepHeaviest( build->tissue, (int)i, first + b, weight );
			if ( build->rigidBones[first + b] )
				build->rigidShare[i] += weight;
		}
	cholmod_free_dense( &solution, diffusion->common );
	return lmb_statusOk;
}

static lmbStatus SolveAll( Diffusion *diffusion, lmbError *error )
{
	const lmbTissueBuild *build = diffusion->build;
	if ( diffusion->nearest == NULL || diffusion->columns == NULL )
		return lmbError_Memory( error );
	for ( size_t i = 0; i < (size_t)build->tissue->nodeCount; ++i )
		diffusion->nearest[i] = lmbTriangleTree_Nearest( build->surface.tree, build->tissue->nodes + 3 * i );
	for ( int first = 0; first < build->tissue->boneCount; first += bonesAtOnce )
	{
		if ( lmbJob_Cancelled( build->job ) )
			return lmbJob_CancelledStatus( error );
		LMB_TRY( SolveBones( diffusion, first, error ) );
	}
	return lmb_statusOk;
}

static lmbStatus Diffuse( lmbTissueBuild *build, const SampleList *samples, lmbError *error )
{
	cholmod_common common;
	cholmod_start( &common );
	common.print = 0;
	lmbBlas_Prepare();
	cholmod_sparse *matrix = Assemble( build, samples, &common );
	cholmod_factor *factor = matrix != NULL ? cholmod_analyze( matrix, &common ) : NULL;
	lmbStatus status = lmb_statusOk;
	if ( factor != NULL )
		cholmod_factorize( matrix, factor, &common );
	if ( factor == NULL || common.status < 0 )
		status = lmbError_Memory( error );
	else if ( common.status != CHOLMOD_OK )
		status =
		    lmbError_Set( error, lmb_statusNumerical,
		                  "the skin's weights could not be spread over the lattice: the matrix is singular" );
	else
	{
		size_t n = (size_t)build->tissue->nodeCount;
		Diffusion diffusion = { build,
		                        samples,
		                        LMB_NEW( &build->scratch, lmbNearest, n ),
		                        factor,
		                        cholmod_zeros( n, bonesAtOnce, CHOLMOD_REAL, &common ),
		                        &common };
		status = SolveAll( &diffusion, error );
		cholmod_free_dense( &diffusion.columns, &common );
	}
	cholmod_free_factor( &factor, &common );
	cholmod_free_sparse( &matrix, &common );
	cholmod_finish( &common );
	return status;
}

/* Rows sum to 1; unused places repeat the heaviest bone with weight 0, and columns that no node uses go. */
static void Normalize( lmbTissue *tissue )
{
	int most = 1;
	for ( size_t i = 0; i < (size_t)tissue->nodeCount; ++i )
	{
		double *weights = tissue->nodeWeights + i * lmbMostInfluences, sum = 0.0;
		for ( int k = 0; k < lmbMostInfluences; ++k )
		{
			weights[k] = k > 0 && weights[k] < 1e-4 * weights[0] ? 0.0 : weights[k];
			sum += weights[k];
			most = weights[k] > 0.0 && k + 1 > most ? k + 1 : most;
		}
		for ( int k = 0; k < lmbMostInfluences; ++k )
			weights[k] = sum > 0.0 ? weights[k] / sum : ( k == 0 );
	}
	for ( size_t i = 0; i < (size_t)tissue->nodeCount; ++i )
		for ( int k = 0; k < most; ++k )
		{
			double weight = tissue->nodeWeights[i * lmbMostInfluences + k];
			int32_t bone = tissue->nodeBones[i * lmbMostInfluences + k];
			tissue->nodeWeights[i * most + k] = weight;
			tissue->nodeBones[i * most + k] = weight > 0.0 ? bone : tissue->nodeBones[i * most];
		}
	tissue->influenceCount = most;
}

lmbStatus lmbTissueBuild_Weights( lmbTissueBuild *build, lmbError *error )
{
	lmbTissue *tissue = build->tissue;
	size_t count = (size_t)tissue->nodeCount * lmbMostInfluences;
	tissue->nodeBones = LMB_NEW( &tissue->arena, int32_t, count );
	tissue->nodeWeights = LMB_NEW( &tissue->arena, double, count );
	build->rigidShare = LMB_NEW( &build->scratch, double, tissue->nodeCount );
	if ( tissue->nodeBones == NULL || tissue->nodeWeights == NULL || build->rigidShare == NULL )
		return lmbError_Memory( error );
	SampleList samples = { 0 };
	lmbStatus status = SampleSkin( build, &samples, error );
	if ( status == lmb_statusOk )
		status = Diffuse( build, &samples, error );
	free( samples.items );
	if ( status == lmb_statusOk )
		Normalize( tissue );
	return status;
}
