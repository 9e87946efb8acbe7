/* What a Newton iteration costs, and how many a solve takes, over three sizes of one character:
 *
 *     bench_solver CHARACTER.glb [CLIP]
 *
 * Prints a table in Markdown. Times are of this thread's processor time, so that a busy machine does not
 * count; the split is the solver's own. Stills are consecutive frames at 60 Hz, steps follow at 240 Hz. */
#include "flesh/poses.h"
#include "flesh/solver.h"
#include "formats/motion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum
{
	stillFrames = 30,
	stepCount = 120,
	poseCount = 12
};

static double ProcessorSeconds( void )
{
	struct timespec now;
	clock_gettime( CLOCK_THREAD_CPUTIME_ID, &now );
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef struct Bench
{
	const lmbCharacter *character;
	const lmbMotion *motion;
	const lmbTissue *tissue;
	lmbSolver *solver;
	double *bones, *displacement, *nodes;
} Bench;

static lmbStatus RunStills( Bench *bench, lmbError *error )
{
	memset( bench->displacement, 0, 3 * (size_t)bench->tissue->nodeCount * sizeof( double ) );
	for ( int i = 0; i < stillFrames; ++i )
	{
		lmbSolveReport report;
		lmbMotion_Pose( bench->motion, 0.5 * bench->motion->duration + i / 60.0, bench->bones );
		LMB_TRY( lmbSolver_Still( bench->solver, bench->bones, bench->displacement, bench->nodes, NULL,
		                          &report, error ) );
	}
	return lmb_statusOk;
}

static lmbStatus RunSteps( Bench *bench, lmbError *error )
{
	lmbSolveReport report;
	double from = 0.5 * bench->motion->duration;
	lmbSolver_Begin( bench->solver, bench->bones, bench->nodes );
	for ( int i = 1; i <= stepCount; ++i )
	{
		lmbMotion_Pose( bench->motion, from + ( stillFrames - 1 ) / 60.0 + i / 240.0, bench->bones );
		LMB_TRY( lmbSolver_Step( bench->solver, bench->bones, 1.0 / 240.0, NULL, NULL, &report, error ) );
	}
	return lmb_statusOk;
}

static lmbStatus RunPoses( Bench *bench, lmbError *error )
{
	lmbSimulateDef def = lmbDefaultSimulateDef();
	lmbSimulateMotion motion = { bench->motion, true };
	lmbPoseSource *source;
	LMB_TRY( lmbPoseSource_Make( bench->character, bench->tissue, &motion, 1, &def, 1, &source, error ) );
	lmbStatus status = lmb_statusOk;
	for ( int i = 0; status == lmb_statusOk && i < poseCount; ++i )
	{
		lmbSolveReport report;
		memset( bench->displacement, 0, 3 * (size_t)bench->tissue->nodeCount * sizeof( double ) );
		status = lmbPoseSource_Draw( source, i, bench->bones, error );
		if ( status == lmb_statusOk )
			status = lmbSolver_Still( bench->solver, bench->bones, bench->displacement, NULL, NULL, &report,
			                          error );
	}
	lmbPoseSource_Free( source );
	return status;
}

typedef struct Kind
{
	const char *name;
	lmbStatus ( *run )( Bench *bench, lmbError *error );
	int solves;
} Kind;

static lmbStatus RunKind( Bench *bench, const Kind *kind, const lmbSolverPlanInfo *info, lmbError *error )
{
	lmbSolveReport before = lmbSolver_Totals( bench->solver );
	double start = ProcessorSeconds();
	LMB_TRY( kind->run( bench, error ) );
	double seconds = ProcessorSeconds() - start;
	lmbSolveReport after = lmbSolver_Totals( bench->solver );
	double iterations = after.iterations - before.iterations;
	double wall = after.totalSeconds - before.totalSeconds, scale = 1e3 * seconds / wall / iterations;
	printf( "| %d | %d | %d | %s | %.1f | %.1f | %.1f | %.1f | %.2f | %.2f | %.2f | %.2f | %.1f |\n",
	        bench->tissue->nodeCount, info->freeCount, bench->tissue->tetCount, kind->name,
	        1e3 * seconds / iterations, scale * ( after.assemblySeconds - before.assemblySeconds ),
	        scale * ( after.factorSeconds - before.factorSeconds ),
	        scale * ( after.solveSeconds - before.solveSeconds ), iterations / kind->solves,
	        (double)( after.factorizations - before.factorizations ) / kind->solves,
	        (double)( after.projections - before.projections ) / kind->solves,
	        (double)( after.linearIterations - before.linearIterations ) / kind->solves,
	        1e3 * seconds / kind->solves );
	fflush( stdout );
	return lmb_statusOk;
}

static lmbStatus RunSize( const lmbCharacter *character, const lmbMotion *motion, int nodeTarget,
                          lmbError *error )
{
	static const Kind kinds[] = { { "still, next frame", RunStills, stillFrames },
	                              { "time step", RunSteps, stepCount },
	                              { "still, random pose", RunPoses, poseCount } };
	lmbTissueDef tissueDef = lmbDefaultTissueDef();
	lmbTissueReport tissueReport;
	lmbTissue *tissue;
	lmbSolverPlan *plan;
	tissueDef.nodeTarget = nodeTarget;
	LMB_TRY( lmbTissue_Make( character, &tissueDef, NULL, &tissue, &tissueReport, error ) );
	static const char *const orderings[3] = { "the better", "METIS", "AMD" };
	for ( int ordering = 2; ordering >= 0; --ordering )
	{
		double start = ProcessorSeconds();
		LMB_TRY( lmbSolverPlan_Make( tissue, (lmbOrdering)ordering, &plan, error ) );
		lmbSolverPlanInfo info = lmbSolverPlan_Info( plan );
		fprintf( stderr, "%d nodes, %s: %.3g entries in the factor, %.3g operations, plan %.0f ms\n",
		         tissue->nodeCount, orderings[ordering], info.factorNonzeros, info.factorOperations,
		         1e3 * ( ProcessorSeconds() - start ) );
		if ( ordering > 0 )
			lmbSolverPlan_Free( plan );
	}
	lmbSolverPlanInfo info = lmbSolverPlan_Info( plan );
	lmbSolverDef solverDef = lmbDefaultSolverDef();
	Bench bench = { character, motion, tissue, NULL, NULL, NULL, NULL };
	LMB_TRY( lmbSolver_Make( plan, &solverDef, &bench.solver, error ) );
	bench.bones = calloc( 12 * (size_t)tissue->boneCount, sizeof( double ) );
	bench.displacement = calloc( 3 * (size_t)tissue->nodeCount, sizeof( double ) );
	bench.nodes = calloc( 3 * (size_t)tissue->nodeCount, sizeof( double ) );
	if ( bench.bones == NULL || bench.displacement == NULL || bench.nodes == NULL )
		return lmbError_Memory( error );
	for ( size_t i = 0; i < sizeof( kinds ) / sizeof( kinds[0] ); ++i )
		LMB_TRY( RunKind( &bench, kinds + i, &info, error ) );
	free( bench.bones );
	free( bench.displacement );
	free( bench.nodes );
	lmbSolver_Free( bench.solver );
	lmbSolverPlan_Free( plan );
	lmbTissue_Free( tissue );
	return lmb_statusOk;
}

static lmbStatus Run( const char *path, const char *clipName, lmbError *error )
{
	lmbImportDef import = { 0 };
	lmbMotionDef motionDef = lmbDefaultMotionDef();
	lmbCharacter *character;
	lmbMotion *motion;
	LMB_TRY( lmbCharacter_Load( path, &import, &character, error ) );
	int clip = clipName != NULL ? lmbCharacter_FindClip( character, clipName ) : 0;
	LMB_TRY( lmbMotion_Make( character, clip, &motionDef, &motion, error ) );
	printf( "| nodes | free | tetrahedra | solve | ms an iteration | assembly | factorisation | solve "
	        "| iterations a solve | factorisations | projections | linear iterations | ms a solve |\n"
	        "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n" );
	static const int targets[3] = { 1000, 2400, 8000 };
	for ( int i = 0; i < 3; ++i )
		LMB_TRY( RunSize( character, motion, targets[i], error ) );
	lmbMotion_Free( motion );
	lmbCharacter_Free( character );
	return lmb_statusOk;
}

int main( int argc, char **argv )
{
	lmbError error = { 0 };
	if ( argc < 2 )
	{
		fprintf( stderr, "usage: bench_solver CHARACTER.glb [CLIP]\n" );
		return 2;
	}
	if ( Run( argv[1], argc > 2 ? argv[2] : NULL, &error ) == lmb_statusOk )
		return 0;
	fprintf( stderr, "%s\n", error.message );
	return 1;
}
