/* What a choice of tissue does to a character's poses: every STRIDE-th frame (30 Hz) of each clip, solved at
 * rest from the skinned pose.
 *   bench_tissue CHARACTER CELL STRIDE [RIGID_BONE...]
 * J is the volume ratio of a tetrahedron; "skin" the RMS distance of the solved skin from skinning. */
#include "base/math3.h"
#include "flesh/skinning.h"
#include "flesh/solver.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Bench
{
	lmbCharacter *character;
	lmbTissue *tissue;
	lmbSolver *solver;
	double *bones, *nodes, *displacement, *skin, *artist;
} Bench;

/* The least volume ratio of tetrahedra whose four nodes are held. */
static double LeastHeld( const Bench *bench, const double *nodes )
{
	const lmbTissue *tissue = bench->tissue;
	double least = INFINITY;
	for ( size_t t = 0; t < (size_t)tissue->tetCount; ++t )
	{
		const int32_t *n = tissue->tets + 4 * t;
		double rest[9], now[9];
		if ( !( tissue->held[n[0]] && tissue->held[n[1]] && tissue->held[n[2]] && tissue->held[n[3]] ) )
			continue;
		for ( int c = 0; c < 3; ++c )
		{
			lmbSub( rest + 3 * c, tissue->nodes + 3 * (size_t)n[c + 1], tissue->nodes + 3 * (size_t)n[0] );
			lmbSub( now + 3 * c, nodes + 3 * (size_t)n[c + 1], nodes + 3 * (size_t)n[0] );
		}
		least = fmin( least, lmbMat33_Determinant( now ) / lmbMat33_Determinant( rest ) );
	}
	return least;
}

static double SkinSquare( Bench *bench )
{
	const lmbCharacter *character = bench->character;
	lmbWeights weights = { character->vertexCount, character->influenceCount, character->vertexBones,
	                       character->weights };
	lmbTissue_Skin( bench->tissue, character, bench->bones, bench->nodes, bench->skin );
	lmbSkin_Points( &weights, bench->bones, character->bind, bench->artist );
	double sum = 0.0;
	for ( size_t i = 0; i < 3 * (size_t)character->vertexCount; ++i )
		sum += pow( bench->skin[i] - bench->artist[i], 2.0 );
	return sum / character->vertexCount;
}

static lmbStatus RunClip( Bench *bench, int clip, int stride, lmbError *error )
{
	const lmbClip *info = bench->character->clips + clip;
	int poses = 0, inverted = 0, failed = 0, iterations = 0;
	double square = 0.0, least = INFINITY, mean = 0.0, held = INFINITY, seconds = 0.0;
	for ( int frame = 0; frame / 30.0 < info->end - info->start; frame += stride )
	{
		lmbSolveReport report;
		lmbCharacter_Pose( bench->character, clip, info->start + frame / 30.0, bench->bones );
		memset( bench->displacement, 0, 3 * (size_t)bench->tissue->nodeCount * sizeof( double ) );
		LMB_TRY( lmbSolver_Still( bench->solver, bench->bones, bench->displacement, bench->nodes, NULL,
		                          &report, error ) );
		poses += 1;
		iterations += report.iterations;
		seconds += report.totalSeconds;
		failed += !report.converged;
		inverted += report.smallestVolumeRatio < 0.0;
		least = fmin( least, report.smallestVolumeRatio );
		mean += report.smallestVolumeRatio;
		held = fmin( held, LeastHeld( bench, bench->nodes ) );
		square += SkinSquare( bench );
	}
	printf( "%-20s %3d poses, %d failed, %.1f iterations of %.0f ms; least J %.2f, %.2f on average, %d poses "
	        "with an inverted tetrahedron; held ones %.2f; skin %.2f mm\n",
	        info->name, poses, failed, (double)iterations / poses, 1e3 * seconds / iterations, least,
	        mean / poses, inverted, held, 1e3 * sqrt( square / poses ) );
	return lmb_statusOk;
}

static lmbStatus Run( int argc, char **argv, lmbError *error )
{
	Bench bench = { 0 };
	lmbTissueDef def = lmbDefaultTissueDef();
	def.cell = atof( argv[2] );
	def.rigidBones = (const char *const *)argv + 4;
	def.rigidCount = argc - 4;
	LMB_TRY( lmbCharacter_Load( argv[1], &( lmbImportDef ){ 0 }, &bench.character, error ) );
	lmbTissueReport report;
	double start = lmbClock_Seconds();
	LMB_TRY( lmbTissue_Make( bench.character, &def, NULL, &bench.tissue, &report, error ) );
	printf( "%d nodes, %d tetrahedra, %d held, %.2f kg, %.5f m^3 (skin %.5f), %d split cells, %.2f s\n",
	        bench.tissue->nodeCount, bench.tissue->tetCount, report.heldCount, report.mass, report.volume,
	        report.surfaceVolume, report.splitCellCount, lmbClock_Seconds() - start );
	lmbSolverPlan *plan;
	lmbSolverDef solverDef = lmbDefaultSolverDef();
	LMB_TRY( lmbSolverPlan_Make( bench.tissue, lmb_orderingMetis, &plan, error ) );
	LMB_TRY( lmbSolver_Make( plan, &solverDef, &bench.solver, error ) );
	bench.bones = calloc( 12 * (size_t)bench.tissue->boneCount, sizeof( double ) );
	bench.nodes = calloc( 3 * (size_t)bench.tissue->nodeCount, sizeof( double ) );
	bench.displacement = calloc( 3 * (size_t)bench.tissue->nodeCount, sizeof( double ) );
	bench.skin = calloc( 3 * (size_t)bench.tissue->vertexCount, sizeof( double ) );
	bench.artist = calloc( 3 * (size_t)bench.tissue->vertexCount, sizeof( double ) );
	int stride = atoi( argv[3] ) > 0 ? atoi( argv[3] ) : 1;
	for ( int clip = 0; clip < bench.character->clipCount; ++clip )
		LMB_TRY( RunClip( &bench, clip, stride, error ) );
	return lmb_statusOk; /* the process ends here, and its memory with it */
}

int main( int argc, char **argv )
{
	lmbError error = { 0 };
	if ( argc < 4 )
	{
		fprintf( stderr, "usage: bench_tissue CHARACTER CELL STRIDE [RIGID_BONE...]\n" );
		return 2;
	}
	if ( Run( argc, argv, &error ) == lmb_statusOk )
		return 0;
	fprintf( stderr, "%s\n", error.message );
	return 1;
}
