/* Motions of the box tissue, simulated: what the spring tests learn from and are judged by. */
#ifndef LMB_TESTS_SHAKEN_BOX_H
#define LMB_TESTS_SHAKEN_BOX_H

#include "base/random.h"
#include "flesh/box_tissue.h"
#include "flesh/dataset.h"
#include "flesh/solver.h"

#include <stdlib.h>

typedef struct ShakeDef
{
	uint64_t seed;
	double travel; /* m, amplitude of the root's travel */
	double bend;   /* rad, amplitude of the joint's bending */
	double turn;   /* rad, amplitude of the root's turning about y */
	double seconds, rate;
	int substeps; /* dynamics steps a frame */
} ShakeDef;

/* Sines of 0.6 to 4 Hz, amplitude falling as 1 / f^2, coming up from rest over half a second. */
static inline double Shake_Curve( lmbRandom *random, double t )
{
	double ramp = t >= 0.5 ? 1.0 : t <= 0.0 ? 0.0 : 8.0 * t * t * t * ( 10.0 - 30.0 * t + 24.0 * t * t );
	double sum = 0.0;
	for ( int i = 0; i < 4; ++i )
	{
		double hertz = 0.6 * pow( 6.5, ( i + lmbRandom_Uniform( random ) ) / 4.0 );
		double phase = 6.283185307179586 * lmbRandom_Uniform( random );
		sum += sin( 6.283185307179586 * hertz * t + phase ) / ( hertz * hertz );
	}
	return ramp * sum;
}

static inline void Shake_Pose( const BoxDef *box, const ShakeDef *def, double t, double *bones )
{
	lmbRandom random = lmbRandom_Seed( def->seed, 0 );
	double move[3], bent[12 * 8], root[12];
	for ( int axis = 0; axis < 3; ++axis )
		move[axis] = def->travel * Shake_Curve( &random, t );
	double turn = def->turn * Shake_Curve( &random, t );
	Box_BendPose( box, def->bend * Shake_Curve( &random, t ), bent );
	double c = cos( turn ), s = sin( turn );
	const double placed[12] = { c, 0, s, move[0], 0, 1, 0, move[1], -s, 0, c, move[2] };
	memcpy( root, placed, sizeof( root ) );
	for ( int j = 0; j < box->boneCount; ++j )
		lmbMat34_Multiply( bones + 12 * j, root, bent + 12 * j );
}

/* One node array of doubles to the dataset's floats. */
static inline void Shake_Store( const double *nodes, size_t count, float *out )
{
	for ( size_t i = 0; i < count; ++i )
		out[i] = (float)nodes[i];
}

/* Simulates the motion; the sequence's arrays lie in the arena. Rayleigh beta as in the default solver. */
static inline void Shake_Simulate( const lmbTissue *tissue, const BoxDef *box, const ShakeDef *def,
                                   lmbArena *arena, const char *name, bool trained, lmbSequence *sequence )
{
	size_t nodes = 3 * (size_t)tissue->nodeCount, bones = 12 * (size_t)tissue->boneCount;
	int frames = (int)( def->seconds * def->rate ) + 1;
	*sequence = ( lmbSequence ){ .name = name,
	                             .trained = trained,
	                             .frameCount = frames,
	                             .boneCount = tissue->boneCount,
	                             .nodeCount = tissue->nodeCount,
	                             .rate = def->rate };
	sequence->bones = LMB_NEW( arena, double, bones *(size_t)frames );
	sequence->still = LMB_NEW( arena, float, nodes *(size_t)frames );
	sequence->moving = LMB_NEW( arena, float, nodes *(size_t)frames );
	sequence->converged = LMB_NEW( arena, uint8_t, frames );
	double *place = malloc( nodes * sizeof( double ) ), *displacement = calloc( nodes, sizeof( double ) );
	double pose[12 * 8];
	lmbError error = { 0 };
	lmbSolverDef solverDef = lmbDefaultSolverDef();
	solverDef.tolerance = 1e-8;
	lmbSolverPlan *plan = NULL;
	lmbSolver *still = NULL, *moving = NULL;
	lmbSolverPlan_Make( tissue, lmb_orderingAmd, &plan, &error );
	lmbSolver_Make( plan, &solverDef, &still, &error );
	lmbSolver_Make( plan, &solverDef, &moving, &error );
	for ( int n = 0; n < frames; ++n )
	{
		lmbSolveReport stillReport = { 0 }, movingReport = { .converged = true };
		double t = n / def->rate, dt = 1.0 / ( def->rate * def->substeps );
		Shake_Pose( box, def, t, pose );
		memcpy( sequence->bones + bones * (size_t)n, pose, bones * sizeof( double ) );
		lmbSolver_Still( still, pose, displacement, place, NULL, &stillReport, &error );
		Shake_Store( place, nodes, sequence->still + nodes * (size_t)n );
		if ( n == 0 )
			lmbSolver_Begin( moving, pose, place );
		for ( int s = 0; n > 0 && s < def->substeps; ++s )
		{
			Shake_Pose( box, def, t + ( s + 1 - def->substeps ) * dt, pose );
			lmbSolver_Step( moving, pose, dt, place, NULL, &movingReport, &error );
		}
		Shake_Store( place, nodes, sequence->moving + nodes * (size_t)n );
		sequence->converged[n] = stillReport.converged && movingReport.converged;
	}
	lmbSolver_Free( still );
	lmbSolver_Free( moving );
	lmbSolverPlan_Free( plan );
	free( place );
	free( displacement );
}

/* A beam with a bone along its axis, cells of 5 cm, 12 kg; soft all around. */
static inline BoxDef Shake_Box( void )
{
	BoxDef box = Box_DefaultDef();
	box.cells[0] = 6;
	box.cells[1] = box.cells[2] = 4;
	box.size[0] = 0.3;
	box.size[1] = box.size[2] = 0.2;
	box.core = 0.01;
	box.young = 20e3;
	return box;
}

#endif
