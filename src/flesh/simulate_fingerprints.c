/* Fingerprints of what each part of a dataset is computed from, so that whatever still fits is kept. */
#include "flesh/simulate_private.h"

#include <string.h>

/* Raise it when the same settings lead to other numbers. */
static const int methodVersion = 1;

static void AddTissue( lmbHash *hash, const lmbTissue *tissue )
{
	size_t nodes = (size_t)tissue->nodeCount, tets = (size_t)tissue->tetCount;
	size_t influences = nodes * (size_t)tissue->influenceCount;
	lmbHash_Add( hash, tissue->nodes, 3 * nodes * sizeof( double ) );
	lmbHash_Add( hash, tissue->tets, 4 * tets * sizeof( int32_t ) );
	lmbHash_Add( hash, tissue->fill, tets * sizeof( double ) );
	lmbHash_Add( hash, tissue->young, tets * sizeof( double ) );
	lmbHash_Add( hash, tissue->poisson, tets * sizeof( double ) );
	lmbHash_Add( hash, tissue->mass, nodes * sizeof( double ) );
	lmbHash_Add( hash, tissue->held, nodes );
	lmbHash_Add( hash, tissue->nodeBones, influences * sizeof( int32_t ) );
	lmbHash_Add( hash, tissue->nodeWeights, influences * sizeof( double ) );
}

static void AddPhysics( lmbHash *hash, const lmbSimulateDef *def )
{
	lmbHash_Add( hash, &methodVersion, sizeof( methodVersion ) );
	lmbHash_Add( hash, def->gravity, sizeof( def->gravity ) );
	lmbHash_Add( hash, &def->tolerance, sizeof( def->tolerance ) );
	lmbHash_Add( hash, &def->iterationLimit, sizeof( def->iterationLimit ) );
}

/* The motion's poses at `count` times, `rate` a second. */
static void AddMotion( lmbHash *hash, const lmbSimulation *simulation, const lmbMotion *motion, double rate,
                       int count, double *bones )
{
	lmbHash_Add( hash, &rate, sizeof( rate ) );
	lmbHash_Add( hash, &count, sizeof( count ) );
	for ( int i = 0; i < count; ++i )
	{
		lmbMotion_Pose( motion, i / rate, bones );
		lmbHash_Add( hash, bones, 12 * (size_t)simulation->character->boneCount * sizeof( double ) );
	}
}

static void PoseFingerprint( lmbSimulation *simulation, const lmbHash *common, double *bones )
{
	const lmbSimulateDef *def = simulation->def;
	lmbHash hash = *common;
	uint64_t seed = simulation->job != NULL ? simulation->job->seed : 0;
	lmbHash_Add( &hash, &seed, sizeof( seed ) );
	lmbHash_Add( &hash, &def->poseSpread, sizeof( def->poseSpread ) );
	lmbHash_Add( &hash, &def->poseRange, sizeof( def->poseRange ) );
	for ( int i = 0; i < def->rangeCount; ++i )
	{
		lmbHash_AddText( &hash, def->ranges[i].bone );
		lmbHash_Add( &hash, &def->ranges[i].degrees, sizeof( double ) );
	}
	for ( int j = 0; j < simulation->character->boneCount; ++j )
	{
		lmbHash_Add( &hash, &simulation->character->bones[j].parent, sizeof( int ) );
		lmbHash_Add( &hash, simulation->character->bones[j].bind, 12 * sizeof( double ) );
	}
	for ( int i = 0; i < simulation->manifest.motionCount; ++i )
		if ( simulation->motions[i].trained )
			AddMotion( &hash, simulation, simulation->motions[i].motion, def->rate,
			           simulation->manifest.motions[i].frameCount, bones );
	lmbHash_Text( lmbHash_End( &hash ), simulation->manifest.poses );
}

lmbStatus lmbSimulation_Fingerprints( lmbSimulation *simulation, lmbError *error )
{
	const lmbSimulateDef *def = simulation->def;
	double *bones = LMB_NEW( &simulation->arena, double, 12 * (size_t)simulation->character->boneCount );
	if ( bones == NULL )
		return lmbError_Memory( error );
	lmbHash common;
	lmbHash_Begin( &common );
	AddTissue( &common, simulation->tissue );
	AddPhysics( &common, def );
	PoseFingerprint( simulation, &common, bones );
	for ( int i = 0; i < simulation->manifest.motionCount; ++i )
	{
		lmbMotionRecord *record = simulation->manifest.motions + i;
		lmbHash still = common;
		AddMotion( &still, simulation, simulation->motions[i].motion, def->rate, record->frameCount, bones );
		lmbHash_Text( lmbHash_End( &still ), record->still );
		lmbHash moving = common;
		int stepping = (int)def->stepping;
		lmbHash_Add( &moving, &stepping, sizeof( stepping ) );
		lmbHash_Add( &moving, &def->dampingMass, sizeof( def->dampingMass ) );
		lmbHash_Add( &moving, &def->dampingStiffness, sizeof( def->dampingStiffness ) );
		AddMotion( &moving, simulation, simulation->motions[i].motion, def->rate * simulation->substeps,
		           ( record->frameCount - 1 ) * simulation->substeps + 1, bones );
		lmbHash_Text( lmbHash_End( &moving ), record->moving );
	}
	return lmb_statusOk;
}
