/* What the time step and its rule cost in accuracy:
 *
 *     bench_stepping CHARACTER.glb CLIP CELL_METRES START_SECONDS FRAMES
 *
 * Runs part of a motion at 60 Hz frames with several rules and step rates against the trapezoidal rule at
 * 960 Hz, and prints how far they end up, beside the dynamic residual (moving less still shape). Frames from
 * the tenth on count: the start from rest has settled. */
#include "flesh/solver.h"
#include "formats/motion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
	settled = 10 /* frames */
};

typedef struct Bench
{
	lmbArena arena;
	lmbCharacter *character;
	lmbMotion *motion;
	lmbTissue *tissue;
	lmbSolverPlan *plan;
	double start;
	int frameCount;
	size_t numbers; /* of one frame */
	double *bones, *displacement;
	double *still, *reference, *moving; /* (frameCount x nodeCount x 3) */
} Bench;

static lmbStatus RunStill( Bench *bench, lmbError *error )
{
	lmbSolverDef def = lmbDefaultSolverDef();
	lmbSolver *solver;
	lmbSolveReport report;
	LMB_TRY( lmbSolver_Make( bench->plan, &def, &solver, error ) );
	for ( int f = 0; f < bench->frameCount; ++f )
	{
		lmbMotion_Pose( bench->motion, bench->start + f / 60.0, bench->bones );
		LMB_TRY( lmbSolver_Still( solver, bench->bones, bench->displacement,
		                          bench->still + (size_t)f * bench->numbers, NULL, &report, error ) );
	}
	lmbSolver_Free( solver );
	return lmb_statusOk;
}

static lmbStatus RunMoving( Bench *bench, const lmbSolverDef *def, int substeps, double *out,
                            lmbError *error )
{
	lmbSolver *solver;
	lmbSolveReport report;
	LMB_TRY( lmbSolver_Make( bench->plan, def, &solver, error ) );
	lmbMotion_Pose( bench->motion, bench->start, bench->bones );
	lmbSolver_Begin( solver, bench->bones, bench->still );
	memcpy( out, bench->still, bench->numbers * sizeof( double ) );
	double dt = 1.0 / ( 60.0 * substeps );
	for ( int step = 1; step <= ( bench->frameCount - 1 ) * substeps; ++step )
	{
		lmbMotion_Pose( bench->motion, bench->start + step * dt, bench->bones );
		LMB_TRY( lmbSolver_Step( solver, bench->bones, dt,
		                         out + (size_t)( ( step - 1 ) / substeps + 1 ) * bench->numbers, NULL,
		                         &report, error ) );
	}
	lmbSolver_Free( solver );
	return lmb_statusOk;
}

/* Mean square over nodes and frames, m^2. */
static double MeanSquare( const Bench *bench, const double *a, const double *b )
{
	double sum = 0.0;
	size_t from = settled * bench->numbers, to = (size_t)bench->frameCount * bench->numbers;
	for ( size_t e = from; e < to; ++e )
		sum += ( a[e] - b[e] ) * ( a[e] - b[e] );
	return 3.0 * sum / (double)( to - from );
}

static lmbStatus Compare( Bench *bench, lmbError *error )
{
	static const char *const names[3] = { "trapezoidal", "BDF2", "backward Euler" };
	static const struct
	{
		lmbTimeStepping stepping;
		int substeps;
		double tolerance;
	} cases[] = { { lmb_steppingTrapezoidal, 16, 1e-6 },
	              { lmb_steppingTrapezoidal, 8, 1e-6 },
	              { lmb_steppingTrapezoidal, 4, 1e-6 },
	              { lmb_steppingBdf2, 4, 1e-6 },
	              { lmb_steppingBackwardEuler, 4, 1e-6 } };
	lmbSolverDef def = lmbDefaultSolverDef();
	def.tolerance = 1e-9;
	LMB_TRY( RunStill( bench, error ) );
	LMB_TRY( RunMoving( bench, &def, 16, bench->reference, error ) );
	double residual = MeanSquare( bench, bench->reference, bench->still );
	printf(
	    "%d nodes; dynamic residual %.2f mm RMS\n\n| rule | steps a second | tolerance | differs, mm RMS | "
	    "share of the residual |\n|---|---|---|---|---|\n",
	    bench->tissue->nodeCount, 1e3 * sqrt( residual ) );
	for ( size_t i = 0; i < sizeof( cases ) / sizeof( cases[0] ); ++i )
	{
		def.tolerance = cases[i].tolerance;
		def.stepping = cases[i].stepping;
		LMB_TRY( RunMoving( bench, &def, cases[i].substeps, bench->moving, error ) );
		double away = MeanSquare( bench, bench->moving, bench->reference );
		printf( "| %s | %d | %g | %.4f | %.5f |\n", names[def.stepping], 60 * cases[i].substeps,
		        def.tolerance, 1e3 * sqrt( away ), away / residual );
		fflush( stdout );
	}
	return lmb_statusOk;
}

static lmbStatus Run( Bench *bench, char **arguments, lmbError *error )
{
	lmbImportDef import = { 0 };
	lmbMotionDef motionDef = lmbDefaultMotionDef();
	lmbTissueDef tissueDef = lmbDefaultTissueDef();
	lmbTissueReport report;
	LMB_TRY( lmbCharacter_Load( arguments[1], &import, &bench->character, error ) );
	LMB_TRY( lmbMotion_Make( bench->character, lmbCharacter_FindClip( bench->character, arguments[2] ),
	                         &motionDef, &bench->motion, error ) );
	tissueDef.cell = atof( arguments[3] );
	bench->start = atof( arguments[4] );
	bench->frameCount = atoi( arguments[5] );
	if ( bench->frameCount <= settled )
		return lmbError_Set( error, lmb_statusInvalidArgument, "more than %d frames are needed", settled );
	LMB_TRY( lmbTissue_Make( bench->character, &tissueDef, NULL, &bench->tissue, &report, error ) );
	LMB_TRY( lmbSolverPlan_Make( bench->tissue, lmb_orderingBest, &bench->plan, error ) );
	bench->numbers = 3 * (size_t)bench->tissue->nodeCount;
	size_t all = (size_t)bench->frameCount * bench->numbers;
	bench->bones = LMB_NEW( &bench->arena, double, 12 * (size_t)bench->tissue->boneCount );
	bench->displacement = LMB_NEW( &bench->arena, double, bench->numbers );
	bench->still = LMB_NEW( &bench->arena, double, all );
	bench->reference = LMB_NEW( &bench->arena, double, all );
	bench->moving = LMB_NEW( &bench->arena, double, all );
	if ( bench->bones == NULL || bench->displacement == NULL || bench->still == NULL ||
	     bench->reference == NULL || bench->moving == NULL )
		return lmbError_Memory( error );
	return Compare( bench, error );
}

int main( int argc, char **argv )
{
	lmbError error = { 0 };
	Bench bench = { 0 };
	if ( argc != 6 )
	{
		fprintf( stderr, "usage: bench_stepping CHARACTER.glb CLIP CELL_METRES START_SECONDS FRAMES\n" );
		return 2;
	}
	lmbStatus status = Run( &bench, argv, &error );
	if ( status != lmb_statusOk )
		fprintf( stderr, "%s\n", error.message );
	lmbSolverPlan_Free( bench.plan );
	lmbTissue_Free( bench.tissue );
	lmbMotion_Free( bench.motion );
	lmbCharacter_Free( bench.character );
	lmbArena_Free( &bench.arena );
	return status == lmb_statusOk ? 0 : 1;
}
