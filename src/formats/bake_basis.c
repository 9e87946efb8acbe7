#include "formats/bake_basis.h"

#include "base/blas.h"
#include "base/math3.h"
#include "learn/pca.h"

#include <cblas.h>
#include <lapacke.h>
#include <stdlib.h>
#include <string.h>

enum
{
	vertexBlock = 128, /* vertices of one task */
	startFrames = 800  /* frames that the first estimate looks at; the improvements use all */
};

/* Displacements are pulled back by (L^T L + eps)^-1 L^T for the first estimate only: blended matrices come
 * close to singular, and there the plain inverse would make fields of metres. */
static const double pullBackDamping = 1e-2;
/* A field is held to 0 this much, relative to how well the frames determine it: invisible where they do,
 * and what keeps a vertex still whose matrices are flat in all frames. */
static const double fieldRidge = 1e-5;
/* Below this, in metres RMS, there is nothing to bake. */
static const double nothing = 1e-7;

typedef struct Solver
{
	const lmbBakeProblem *problem;
	int targets;
	double *fields;                   /* (vertexCount x targets x 3) m, bind space */
	double *weights;                  /* (frameCount x targets) */
	double **work;                    /* [threads] scratch of one worker */
	double *frameSums, *frameLargest; /* (frameCount) squares of what is left, and its largest */
} Solver;

static size_t VertexCount( const lmbBakeProblem *problem )
{
	return (size_t)problem->character->vertexCount;
}

/* The skinning matrix of vertex v in frame f, and what skinning alone leaves of its position. */
static void Residual( const lmbBakeProblem *problem, size_t f, size_t v, double *blend, double *u )
{
	const lmbCharacter *character = problem->character;
	size_t width = (size_t)character->influenceCount;
	const double *bones = problem->bones + f * 12 * (size_t)character->boneCount;
	memset( blend, 0, 12 * sizeof( double ) );
	for ( size_t k = 0; k < width; ++k )
	{
		double weight = character->weights[v * width + k];
		const double *bone = bones + 12 * (size_t)character->vertexBones[v * width + k];
		for ( int e = 0; weight != 0.0 && e < 12; ++e )
			blend[e] += weight * bone[e];
	}
	double skinned[3];
	lmbMat34_Point( skinned, blend, character->bind + 3 * v );
	const float *position = problem->positions + 3 * ( f * VertexCount( problem ) + v );
	for ( int i = 0; i < 3; ++i )
		u[i] = (double)position[i] - skinned[i];
}

/* --- fields for given weights: one linear system per vertex --- */

/* Normal equations of vertex v, unknowns ordered (axis, target): block (i, j) is C^T diag(m_ij) C with
 * m = L^T L by frame, the right side C^T (L^T u). */
static lmbStatus SolveVertex( Solver *solver, size_t v, double *work )
{
	const lmbBakeProblem *problem = solver->problem;
	int n = solver->targets, size = 3 * n, frames = problem->frameCount;
	double *matrix = work, *right = matrix + (size_t)size * (size_t)size;
	double *scaled = right + size, *m = scaled + (size_t)frames * (size_t)n, *g = m + 6 * (size_t)frames;
	for ( int f = 0; f < frames; ++f )
	{
		double blend[12], u[3], linear[9], normal[9], pulled[3];
		Residual( problem, (size_t)f, v, blend, u );
		lmbMat34_Linear( linear, blend );
		lmbMat33_TransposedMultiply( normal, linear, linear );
		lmbMat33_ApplyTransposed( pulled, linear, u );
		const double unique[6] = { normal[0], normal[1], normal[2], normal[4], normal[5], normal[8] };
		for ( int e = 0; e < 6; ++e )
			m[(size_t)e * (size_t)frames + (size_t)f] = unique[e];
		for ( int i = 0; i < 3; ++i )
			g[(size_t)i * (size_t)frames + (size_t)f] = pulled[i];
	}
	static const int rows[6] = { 0, 0, 0, 1, 1, 2 }, columns[6] = { 0, 1, 2, 1, 2, 2 };
	for ( int e = 0; e < 6; ++e )
	{
		for ( int f = 0; f < frames; ++f )
			for ( int k = 0; k < n; ++k )
				scaled[(size_t)f * (size_t)n + (size_t)k] =
				    m[(size_t)e * (size_t)frames + (size_t)f] *
				    solver->weights[(size_t)f * (size_t)n + (size_t)k];
		cblas_dgemm( CblasRowMajor, CblasTrans, CblasNoTrans, n, n, frames, 1.0, solver->weights, n, scaled,
		             n, 0.0, matrix + (size_t)( rows[e] * n ) * (size_t)size + (size_t)( columns[e] * n ),
		             size );
	}
	double trace = 0.0;
	for ( int i = 0; i < 3; ++i )
		cblas_dgemv( CblasRowMajor, CblasTrans, frames, n, 1.0, solver->weights, n,
		             g + (size_t)i * (size_t)frames, 1, 0.0, right + i * n, 1 );
	for ( int i = 0; i < size; ++i )
		trace += matrix[(size_t)i * (size_t)size + (size_t)i];
	for ( int i = 0; i < size; ++i )
		matrix[(size_t)i * (size_t)size + (size_t)i] += fieldRidge * trace / size;
	bool solved = trace > 0.0 && LAPACKE_dposv( LAPACK_ROW_MAJOR, 'U', size, 1, matrix, size, right, 1 ) == 0;
	for ( int k = 0; k < n; ++k )
		for ( int i = 0; i < 3; ++i )
			solver->fields[( v * (size_t)n + (size_t)k ) * 3 + (size_t)i] = solved ? right[i * n + k] : 0.0;
	return lmb_statusOk;
}

static lmbStatus SolveVertices( void *context, int index, int worker, lmbError *error )
{
	(void)error;
	Solver *solver = context;
	size_t first = (size_t)index * vertexBlock, count = VertexCount( solver->problem );
	for ( size_t v = first; v < count && v < first + vertexBlock; ++v )
		SolveVertex( solver, v, solver->work[worker] );
	return lmb_statusOk;
}

/* --- weights for given fields: one linear system per frame --- */

/* x (3 rows of stride targets) = L_fv B_v. */
static void PosedFields( const Solver *solver, size_t v, const double *blend, double *x )
{
	int n = solver->targets;
	const double *fields = solver->fields + v * (size_t)n * 3;
	for ( int i = 0; i < 3; ++i )
		for ( int k = 0; k < n; ++k )
			x[i * n + k] = blend[4 * i] * fields[3 * k] + blend[4 * i + 1] * fields[3 * k + 1] +
			               blend[4 * i + 2] * fields[3 * k + 2];
}

static lmbStatus SolveFrame( void *context, int index, int worker, lmbError *error )
{
	(void)error;
	Solver *solver = context;
	int n = solver->targets;
	double *matrix = solver->work[worker], *right = matrix + (size_t)n * (size_t)n, *x = right + n;
	double *u = x + (size_t)( 3 * vertexBlock ) * (size_t)n;
	size_t count = VertexCount( solver->problem );
	memset( matrix, 0, ( (size_t)n * (size_t)n + (size_t)n ) * sizeof( double ) );
	for ( size_t first = 0; first < count; first += vertexBlock )
	{
		int block = count - first < vertexBlock ? (int)( count - first ) : vertexBlock;
		for ( int b = 0; b < block; ++b )
		{
			double blend[12];
			Residual( solver->problem, (size_t)index, first + (size_t)b, blend, u + 3 * b );
			PosedFields( solver, first + (size_t)b, blend, x + (size_t)( 3 * b ) * (size_t)n );
		}
		cblas_dsyrk( CblasRowMajor, CblasUpper, CblasTrans, n, 3 * block, 1.0, x, n, 1.0, matrix, n );
		cblas_dgemv( CblasRowMajor, CblasTrans, 3 * block, n, 1.0, x, n, u, 1, 1.0, right, 1 );
	}
	double trace = 0.0;
	for ( int k = 0; k < n; ++k )
		trace += matrix[(size_t)k * (size_t)n + (size_t)k];
	for ( int k = 0; k < n; ++k )
		matrix[(size_t)k * (size_t)n + (size_t)k] += 1e-10 * trace;
	double *weights = solver->weights + (size_t)index * (size_t)n;
	memset( weights, 0, (size_t)n * sizeof( double ) );
	if ( trace > 0.0 && LAPACKE_dposv( LAPACK_ROW_MAJOR, 'U', n, 1, matrix, n, right, 1 ) == 0 )
		memcpy( weights, right, (size_t)n * sizeof( double ) );
	return lmb_statusOk;
}

/* What is left of frame index; with targets 0, what skinning alone leaves. */
static lmbStatus MeasureFrame( void *context, int index, int worker, lmbError *error )
{
	(void)error;
	(void)worker;
	Solver *solver = context;
	size_t n = (size_t)solver->targets, count = VertexCount( solver->problem );
	double sum = 0.0, largest = 0.0;
	for ( size_t v = 0; v < count; ++v )
	{
		double blend[12], u[3], field[3] = { 0 };
		Residual( solver->problem, (size_t)index, v, blend, u );
		for ( size_t k = 0; k < n; ++k )
			for ( int i = 0; i < 3; ++i )
				field[i] +=
				    solver->weights[(size_t)index * n + k] * solver->fields[( v * n + k ) * 3 + (size_t)i];
		for ( int i = 0; i < 3; ++i )
			u[i] -= blend[4 * i] * field[0] + blend[4 * i + 1] * field[1] + blend[4 * i + 2] * field[2];
		sum += lmbDot( u, u );
		largest = fmax( largest, lmbLength( u ) );
	}
	solver->frameSums[index] = sum;
	solver->frameLargest[index] = largest;
	return lmb_statusOk;
}

static lmbStatus Measure( Solver *solver, const lmbJob *job, double *rms, double *largest, lmbError *error )
{
	int frames = solver->problem->frameCount;
	LMB_TRY( lmbJob_ForEach( job, frames, MeasureFrame, solver, error ) );
	double sum = 0.0;
	*largest = 0.0;
	for ( int f = 0; f < frames; ++f )
	{
		sum += solver->frameSums[f];
		*largest = fmax( *largest, solver->frameLargest[f] );
	}
	*rms = sqrt( sum / ( (double)frames * (double)VertexCount( solver->problem ) ) );
	return lmb_statusOk;
}

/* --- first estimate: principal components of the displacements pulled back to bind space --- */

static void PullBack( const lmbBakeProblem *problem, size_t f, float *row )
{
	for ( size_t v = 0; v < VertexCount( problem ); ++v )
	{
		double blend[12], u[3], linear[9], normal[9], inverse[9], pulled[3], d[3];
		Residual( problem, f, v, blend, u );
		lmbMat34_Linear( linear, blend );
		lmbMat33_TransposedMultiply( normal, linear, linear );
		lmbMat33_ApplyTransposed( pulled, linear, u );
		for ( int i = 0; i < 3; ++i )
			normal[4 * i] += pullBackDamping;
		lmbMat33_Inverse( inverse, normal );
		lmbMat33_Apply( d, inverse, pulled );
		for ( int i = 0; i < 3; ++i )
			row[3 * v + (size_t)i] = (float)d[i];
	}
}

static lmbStatus FirstEstimate( Solver *solver, lmbArena *arena, lmbError *error )
{
	const lmbBakeProblem *problem = solver->problem;
	lmbArena scratch = { 0 };
	int step = ( problem->frameCount + startFrames - 1 ) / startFrames;
	int rows = ( problem->frameCount + step - 1 ) / step;
	size_t columns = 3 * VertexCount( problem );
	float *pulled = LMB_NEW( &scratch, float, (size_t)rows *columns );
	lmbPca pca = { 0 };
	lmbStatus status = lmb_statusOk;
	if ( pulled == NULL )
		status = lmbError_Memory( error );
	for ( int r = 0; status == lmb_statusOk && r < rows; ++r )
		PullBack( problem, (size_t)r * (size_t)step, pulled + (size_t)r * columns );
	const lmbSampleView view = { .rowCount = rows,
	                             .data = pulled,
	                             .stride = columns,
	                             .blockCount = problem->character->vertexCount,
	                             .blockWidth = 3 };
	if ( status == lmb_statusOk )
		status = lmbPca_Compute( &view, problem->targets, 1.0, 1, &scratch, &pca, error );
	solver->targets = pca.count;
	if ( status == lmb_statusOk )
	{
		size_t n = (size_t)pca.count;
		solver->fields = LMB_NEW( arena, double, n *columns );
		solver->weights = LMB_NEW( arena, double, n *(size_t)problem->frameCount );
		if ( solver->fields == NULL || solver->weights == NULL )
			status = lmbError_Memory( error );
		for ( size_t v = 0; status == lmb_statusOk && v < VertexCount( problem ); ++v )
			for ( size_t k = 0; k < n; ++k )
				for ( size_t i = 0; i < 3; ++i )
					solver->fields[( v * n + k ) * 3 + i] = pca.basis[k * columns + 3 * v + i];
	}
	lmbArena_Free( &scratch );
	return status;
}

/* Weights to [-1, 1], strongest target first, the largest weight of each positive. */
static lmbStatus Finish( Solver *solver, lmbArena *arena, lmbBakeBasis *basis, lmbError *error )
{
	size_t n = (size_t)solver->targets, count = VertexCount( solver->problem );
	size_t frames = (size_t)solver->problem->frameCount;
	basis->targets = (int)n;
	basis->weights = LMB_NEW( arena, float, frames *n );
	basis->fields = LMB_NEW( arena, float, n *count * 3 );
	double *energy = LMB_NEW( arena, double, n ), *scale = LMB_NEW( arena, double, n );
	if ( !basis->weights || !basis->fields || !energy || !scale )
		return lmbError_Memory( error );
	for ( size_t k = 0; k < n; ++k )
	{
		double largest = 0.0, squares = 0.0, field = 0.0;
		for ( size_t f = 0; f < frames; ++f )
		{
			double weight = solver->weights[f * n + k];
			largest = fabs( weight ) > fabs( largest ) ? weight : largest;
			squares += weight * weight;
		}
		for ( size_t v = 0; v < count; ++v )
			field += lmbDot( solver->fields + ( v * n + k ) * 3, solver->fields + ( v * n + k ) * 3 );
		scale[k] = largest != 0.0 ? largest : 1.0;
		energy[k] = squares * field;
	}
	for ( size_t place = 0; place < n; ++place )
	{
		size_t k = 0;
		for ( size_t other = 1; other < n; ++other )
			k = energy[other] > energy[k] ? other : k;
		energy[k] = -1.0;
		for ( size_t f = 0; f < frames; ++f )
			basis->weights[f * n + place] = (float)( solver->weights[f * n + k] / scale[k] );
		for ( size_t v = 0; v < count; ++v )
			for ( size_t i = 0; i < 3; ++i )
				basis->fields[( place * count + v ) * 3 + i] =
				    (float)( solver->fields[( v * n + k ) * 3 + i] * scale[k] );
	}
	/* Measured below is what is written: float32. */
	for ( size_t i = 0; i < frames * n; ++i )
		solver->weights[i] = (double)basis->weights[i];
	for ( size_t v = 0; v < count; ++v )
		for ( size_t k = 0; k < n; ++k )
			for ( size_t i = 0; i < 3; ++i )
				solver->fields[( v * n + k ) * 3 + i] = (double)basis->fields[( k * count + v ) * 3 + i];
	return lmb_statusOk;
}

static lmbStatus AllocateWork( Solver *solver, const lmbJob *job, lmbArena *arena, lmbError *error )
{
	size_t n = (size_t)solver->targets, frames = (size_t)solver->problem->frameCount;
	size_t forVertices = 9 * n * n + 3 * n + frames * n + 9 * frames;
	size_t forFrames = n * n + n + 3 * vertexBlock * ( n + 1 );
	int threads = job != NULL && job->threads > 1 ? job->threads : 1;
	solver->work = LMB_NEW( arena, double *, threads );
	if ( solver->work == NULL )
		return lmbError_Memory( error );
	for ( int t = 0; t < threads; ++t )
	{
		solver->work[t] = LMB_NEW( arena, double, forVertices > forFrames ? forVertices : forFrames );
		if ( solver->work[t] == NULL )
			return lmbError_Memory( error );
	}
	return lmb_statusOk;
}

lmbStatus lmbBakeBasis_Find( const lmbBakeProblem *problem, const lmbJob *job, lmbArena *arena,
                             lmbBakeBasis *basis, lmbError *error )
{
	lmbBlas_Prepare();
	*basis = ( lmbBakeBasis ){ 0 };
	Solver solver = { .problem = problem };
	int frames = problem->frameCount;
	int blocks = ( problem->character->vertexCount + vertexBlock - 1 ) / vertexBlock;
	solver.frameSums = LMB_NEW( arena, double, frames );
	solver.frameLargest = LMB_NEW( arena, double, frames );
	if ( solver.frameSums == NULL || solver.frameLargest == NULL )
		return lmbError_Memory( error );
	LMB_TRY( Measure( &solver, job, &basis->dynamics, &basis->largestTruncation, error ) );
	basis->truncation = basis->dynamics;
	if ( basis->dynamics < nothing )
		return lmb_statusOk;
	LMB_TRY( FirstEstimate( &solver, arena, error ) );
	if ( solver.targets == 0 )
		return lmb_statusOk;
	LMB_TRY( AllocateWork( &solver, job, arena, error ) );
	LMB_TRY( lmbJob_ForEach( job, frames, SolveFrame, &solver, error ) );
	for ( int sweep = 0; sweep < problem->sweeps; ++sweep )
	{
		lmbJob_Progress( job, "sweeps", sweep, problem->sweeps, "" );
		LMB_TRY( lmbJob_ForEach( job, blocks, SolveVertices, &solver, error ) );
		LMB_TRY( lmbJob_ForEach( job, frames, SolveFrame, &solver, error ) );
	}
	LMB_TRY( Finish( &solver, arena, basis, error ) );
	return Measure( &solver, job, &basis->truncation, &basis->largestTruncation, error );
}
