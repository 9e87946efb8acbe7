/* A made-up character with every part that a model can have, its motion, and a plain run of the equations
 * in double that the runtime is measured against. */
#ifndef LMB_TESTS_FLESH_FIXTURE_H
#define LMB_TESTS_FLESH_FIXTURE_H

#include "base/math3.h"
#include "base/random.h"
#include "flesh/compact.h"
#include "flesh/model.h"
#include "flesh/skinning.h"
#include "runtime/springs.h"
#include "runtime/target.h"

#include <stdlib.h>
#include <unistd.h>

typedef struct FixtureDef
{
	uint64_t seed;
	int vertexCount, boneCount, influenceCount, regionCount, modeCount;
	int coefficients, hidden; /* per region, at most; regions differ */
	double rigidShare;        /* of the vertices */
	double regionShare;       /* of the vertices, in one region */
} FixtureDef;

static const FixtureDef smallFixture = { 7, 90, 4, 3, 3, 5, 6, 5, 0.2, 0.6 };
/* A human's size. */
static const FixtureDef largeFixture = { 8, 13380, 31, 4, 20, 32, 22, 64, 0.15, 0.15 };

typedef struct Fixture
{
	FixtureDef def;
	lmbArena arena;
	lmbRandom random;
	lmbCharacter character;
	lmbTissue tissue;
	lmbNetwork network;
	lmbSprings springs;
	double *joints; /* (boneCount x 3) in bind space */
	char path[64];
} Fixture;

static inline double FixtureUniform( Fixture *f, double low, double high )
{
	return low + ( high - low ) * lmbRandom_Uniform( &f->random );
}

static inline double *FixtureNumbers( Fixture *f, size_t count, double low, double high )
{
	double *numbers = LMB_NEW( &f->arena, double, count );
	for ( size_t i = 0; i < count; ++i )
		numbers[i] = FixtureUniform( f, low, high );
	return numbers;
}

static inline float *FixtureFloats( Fixture *f, size_t count, double low, double high )
{
	float *numbers = LMB_NEW( &f->arena, float, count );
	for ( size_t i = 0; i < count; ++i )
		numbers[i] = (float)FixtureUniform( f, low, high );
	return numbers;
}

/* A chain of bones up the y axis, vertices around it. Numbers that the file keeps as float are floats from
 * the start, so that rounding them is no difference. */
static inline void FixtureCharacter( Fixture *f )
{
	static const char *const names[] = { "hips", "spine", "head", "arm", "hand", "b5", "b6", "b7" };
	lmbCharacter *c = &f->character;
	int vertices = f->def.vertexCount, bones = f->def.boneCount, influences = f->def.influenceCount;
	c->vertexCount = vertices;
	c->boneCount = bones;
	c->influenceCount = influences;
	c->bones = LMB_NEW( &f->arena, lmbBone, bones );
	f->joints = LMB_NEW( &f->arena, double, 3 * bones );
	for ( int j = 0; j < bones; ++j )
	{
		c->bones[j].name = names[j % 8];
		c->bones[j].parent = j == 0 ? -1 : j == 3 ? 1 : j - 1;
		f->joints[3 * j + 1] = 0.9 + 0.25 * j;
	}
	c->bind = LMB_NEW( &f->arena, double, 3 * vertices );
	c->vertexBones = LMB_NEW( &f->arena, int32_t, vertices * influences );
	c->weights = LMB_NEW( &f->arena, double, vertices *influences );
	for ( int v = 0; v < vertices; ++v )
	{
		int home = (int)lmbRandom_Below( &f->random, (uint32_t)bones );
		double left = 1.0;
		for ( int i = 0; i < 3; ++i )
			c->bind[3 * v + i] = (float)( f->joints[3 * home + i] + FixtureUniform( f, -0.3, 0.3 ) );
		for ( int k = 0; k < influences; ++k )
		{
			bool last = k == influences - 1;
			double w = last ? left : (float)( left * FixtureUniform( f, 0.6, 1.0 ) );
			c->weights[v * influences + k] = w;
			c->vertexBones[v * influences + k] = ( home + k ) % bones;
			left -= w;
		}
	}
	c->triangleCount = vertices - 2;
	c->triangles = LMB_NEW( &f->arena, int32_t, 3 * c->triangleCount );
	for ( int t = 0; t < 3 * c->triangleCount; ++t )
		c->triangles[t] = t / 3 + t % 3;
	f->tissue.vertexCount = vertices;
	f->tissue.softness = LMB_NEW( &f->arena, double, vertices );
	for ( int v = 0; v < vertices; ++v )
		f->tissue.softness[v] =
		    lmbRandom_Uniform( &f->random ) < f->def.rigidShare ? 0.0 : (float)FixtureUniform( f, 0.1, 1.0 );
}

static inline void FixtureRegion( Fixture *f, int index, lmbRegion *r )
{
	int bones = f->def.boneCount, vertices = f->def.vertexCount;
	r->bone = index % bones;
	r->coefficientCount = 1 + f->def.coefficients * ( index + 1 ) / f->def.regionCount;
	r->layerCount = index % 3; /* none, one dense layer, one hidden layer */
	r->hiddenCount = r->layerCount > 1 ? f->def.hidden + index : 0;
	r->features = LMB_NEW( &f->arena, int32_t, f->network.featureCount );
	for ( int i = index; i < f->network.featureCount; i += 2 )
		r->features[r->featureCount++] = i;
	r->vertices = LMB_NEW( &f->arena, int32_t, vertices );
	for ( int v = 0; v < vertices; ++v )
		if ( lmbRandom_Uniform( &f->random ) < f->def.regionShare )
			r->vertices[r->vertexCount++] = v;
	r->basis = FixtureFloats( f, (size_t)r->coefficientCount * r->vertexCount * 3, -0.02, 0.02 );
	for ( int i = 0; i < r->coefficientCount * r->vertexCount; ++i )
		for ( int axis = 0; axis < 3;
		      ++axis ) /* what is rigid has no displacement, as the stage train has it */
			r->basis[3 * i + axis] *= f->tissue.softness[r->vertices[i % r->vertexCount]] > 0.0;
	r->linear = FixtureFloats( f, (size_t)r->coefficientCount * ( r->featureCount + 1 ), -0.5, 0.5 );
	r->featureMean = FixtureFloats( f, r->featureCount, -0.3, 0.3 );
	r->featureScale = FixtureFloats( f, r->featureCount, 0.5, 2.0 );
	r->layerWeights = LMB_NEW( &f->arena, float *, r->layerCount );
	r->layerBias = LMB_NEW( &f->arena, float *, r->layerCount );
	for ( int l = 0; l < r->layerCount; ++l )
	{
		int in = l == 0 ? r->featureCount : r->hiddenCount;
		int out = l == r->layerCount - 1 ? r->coefficientCount : r->hiddenCount;
		r->layerWeights[l] = FixtureFloats( f, (size_t)in * out, -0.4, 0.4 );
		r->layerBias[l] = FixtureFloats( f, out, -0.2, 0.2 );
	}
	f->network.coefficientCount += r->coefficientCount;
}

static inline void FixtureSprings( Fixture *f )
{
	lmbSprings *s = &f->springs;
	int vertices = f->def.vertexCount, modes = f->def.modeCount, bones = f->def.boneCount;
	s->vertexCount = vertices;
	s->modeCount = modes;
	s->boneCount = bones;
	s->coefficientCount = f->network.coefficientCount;
	s->vertexStiffness = FixtureNumbers( f, vertices, 200.0, 4000.0 );
	s->vertexDamping = FixtureNumbers( f, vertices, 2.0, 80.0 );
	s->remainderStiffness = FixtureNumbers( f, vertices, 500.0, 8000.0 );
	s->remainderDamping = FixtureNumbers( f, vertices, 5.0, 90.0 );
	s->modeStiffness = FixtureNumbers( f, modes, 100.0, 3000.0 );
	s->modeDamping = FixtureNumbers( f, modes, 1.0, 20.0 );
	s->modeStiffnessUnfitted = FixtureNumbers( f, modes, 100.0, 3000.0 );
	s->modeDampingUnfitted = FixtureNumbers( f, modes, 1.0, 20.0 );
	s->skinShapes = FixtureNumbers( f, (size_t)modes * vertices * 3, -0.3, 0.3 );
	for ( int i = 0; i < modes * vertices * 3; ++i )
		s->skinShapes[i] = (float)( s->skinShapes[i] * f->tissue.softness[i / 3 % vertices] );
	s->pairs = LMB_NEW( &f->arena, int32_t, 4 * bones );
	for ( int j = 0; j < bones; ++j )
	{
		const int32_t both[4] = { j, j, ( j + 1 ) % bones, j };
		memcpy( s->pairs + 4 * j, both, sizeof( both ) );
	}
	s->pairCount = 2 * bones;
	s->boneForcing = FixtureNumbers( f, (size_t)modes * s->pairCount * 12, -0.3, 0.3 );
	s->coefficientForcing = FixtureNumbers( f, (size_t)modes * s->coefficientCount, -0.05, 0.05 );
	for ( int i = 0; i < modes * s->pairCount * 12; ++i )
		s->boneForcing[i] = (float)s->boneForcing[i];
	for ( int i = 0; i < modes * s->coefficientCount; ++i )
		s->coefficientForcing[i] = (float)s->coefficientForcing[i];
	s->featureCount = f->network.featureCount;
	s->stiffnessWeights = FixtureNumbers( f, (size_t)modes * ( s->featureCount + 1 ), -0.4, 0.4 );
	s->stiffnessRange = FixtureNumbers( f, 2 * (size_t)modes, -0.6, -0.3 );
	for ( int m = 0; m < modes; ++m )
		s->stiffnessRange[2 * m + 1] += 0.9;
}

static inline void Fixture_Make( Fixture *f, const FixtureDef *def )
{
	memset( f, 0, sizeof( *f ) );
	f->def = *def;
	f->random = lmbRandom_Seed( def->seed, 1 );
	FixtureCharacter( f );
	f->network.boneCount = def->boneCount;
	f->network.vertexCount = def->vertexCount;
	f->network.featureCount = 3 + 9 * ( def->boneCount - 1 );
	f->network.regionCount = def->regionCount;
	f->network.regions = LMB_NEW( &f->arena, lmbRegion, def->regionCount );
	for ( int i = 0; i < def->regionCount; ++i )
		FixtureRegion( f, i, &f->network.regions[i] );
	FixtureSprings( f );
	strcpy( f->path, "/tmp/limber-flesh-XXXXXX" );
	int handle = mkstemp( f->path );
	if ( handle >= 0 )
		close( handle );
}

static inline void Fixture_Free( Fixture *f )
{
	unlink( f->path );
	lmbArena_Free( &f->arena );
}

/* Writes the whole model and opens it. */
static inline void Fixture_Open( Fixture *f, lmbModel *model )
{
	lmbError error = { 0 };
	lmbStatus status = lmbModel_Write( &f->character, &f->tissue, &f->network, &f->springs, f->path, &error );
	if ( status == lmb_statusOk )
		status = lmbModel_Open( model, f->path, &error );
	if ( status != lmb_statusOk )
		printf( "%s\n", error.message );
	CHECK_OR_STOP( status == lmb_statusOk );
}

/* Makes the model at path compact, for amounts as the fixture's motion has them. */
static inline bool Fixture_Compact( const Fixture *f, const char *path, double tolerance )
{
	double coefficients[512], modes[64];
	lmbError error = { 0 };
	lmbCompactReport report;
	for ( int i = 0; i < f->network.coefficientCount; ++i )
		coefficients[i] = 1.0;
	for ( int m = 0; m < f->def.modeCount; ++m )
		modes[m] = 0.1;
	lmbStatus status = lmbModel_CompactFor( path, coefficients, modes, tolerance, &report, &error );
	if ( status != lmb_statusOk )
		printf( "%s\n", error.message );
	return status == lmb_statusOk && report.compact;
}

/* Where the body is at a time: bones as the file takes them, and the same pose for the reference. */
typedef struct Placement
{
	float bones[32 * 12];
	lmbFleshPose pose;
} Placement;

static inline void AxisTurn( double *q, double x, double y, double z, double angle )
{
	double length = sqrt( x * x + y * y + z * z ), s = sin( 0.5 * angle ) / length;
	q[0] = s * x;
	q[1] = s * y;
	q[2] = s * z;
	q[3] = cos( 0.5 * angle );
}

/* A swaying chain whose joints stretch a little, under a root that walks in a curve and turns. rate scales
 * time, so 0 is a standing pose. */
static inline void Fixture_Pose( const Fixture *f, double time, Placement *out )
{
	double world[32][12];
	for ( int j = 0; j < f->def.boneCount; ++j )
	{
		double q[4], local[12], turn[9];
		AxisTurn( q, 1.0, 0.3 * j, 0.5, 0.5 * sin( 5.0 * time + j ) + 0.1 * j );
		lmbQuat_ToMat33( turn, q );
		int parent = f->character.bones[j].parent;
		for ( int i = 0; i < 3; ++i )
		{
			double stretch = 1.0 + 0.03 * sin( 3.0 * time + i );
			for ( int k = 0; k < 3; ++k )
				local[4 * i + k] = turn[3 * i + k] * stretch;
			local[4 * i + 3] = f->joints[3 * j + i] - ( parent >= 0 ? f->joints[3 * parent + i] : 0.0 );
		}
		if ( parent >= 0 )
			lmbMat34_Multiply( world[j], world[parent], local );
		else
			memcpy( world[j], local, sizeof( local ) );
		for ( int i = 0; i < 3; ++i )
		{
			for ( int k = 0; k < 3; ++k )
				out->bones[12 * j + 4 * i + k] = (float)world[j][4 * i + k];
			out->bones[12 * j + 4 * i + 3] =
			    (float)( world[j][4 * i + 3] -
			             lmbDot( ( double[] ){ world[j][4 * i], world[j][4 * i + 1], world[j][4 * i + 2] },
			                     f->joints + 3 * j ) );
		}
	}
	double root[4], tilt[4], turn[4];
	AxisTurn( root, 0.0, 1.0, 0.0, 1.2 * time );
	AxisTurn( tilt, 1.0, 0.0, 0.3, 0.2 * sin( 4.0 * time ) );
	lmbQuat_Multiply( turn, root, tilt );
	out->pose = ( lmbFleshPose ){ .bones = out->bones,
	                              .position = { 1.4 * time, 0.05 * sin( 9.0 * time ), 0.5 * cos( time ) } };
	for ( int i = 0; i < 4; ++i )
		out->pose.rotation[i] = (float)turn[i];
}

/* The equations of docs/formats/model.md, plainly: whole histories, world places, double. */
typedef struct Reference
{
	const Fixture *fixture;
	lmbFleshDef def;
	int known; /* frames so far, at most 4 */
	double steps[3];
	double *bones[4], *turns[4], *coefficients[4], *places[4]; /* world, newest first */
	double *rotations[2];                                      /* (vertexCount x 9), world, newest first */
	double *q, *qv;       /* (modeCount); times and through the fourth root of the ratio of stiffness */
	double *logs;         /* (modeCount) of that ratio, at the last frame */
	double *u, *v;        /* (vertexCount x 3) world axes */
	double *displacement; /* (vertexCount x 3) scratch */
	double *shape;        /* (vertexCount x 3) result, model space */
	lmbArena arena;
} Reference;

static inline void Reference_Make( Reference *r, const Fixture *f, const lmbFleshDef *def )
{
	memset( r, 0, sizeof( *r ) );
	r->fixture = f;
	r->def = *def;
	int vertices = f->def.vertexCount, bones = f->def.boneCount, modes = f->def.modeCount;
	for ( int i = 0; i < 4; ++i )
	{
		r->bones[i] = LMB_NEW( &r->arena, double, 12 * bones );
		r->turns[i] = LMB_NEW( &r->arena, double, 9 * bones );
		r->coefficients[i] = LMB_NEW( &r->arena, double, f->network.coefficientCount );
		r->places[i] = LMB_NEW( &r->arena, double, 3 * vertices );
	}
	for ( int i = 0; i < 2; ++i )
		r->rotations[i] = LMB_NEW( &r->arena, double, 9 * vertices );
	r->q = LMB_NEW( &r->arena, double, modes );
	r->qv = LMB_NEW( &r->arena, double, modes );
	r->logs = LMB_NEW( &r->arena, double, modes );
	r->u = LMB_NEW( &r->arena, double, 3 * vertices );
	r->v = LMB_NEW( &r->arena, double, 3 * vertices );
	r->displacement = LMB_NEW( &r->arena, double, 3 * vertices );
	r->shape = LMB_NEW( &r->arena, double, 3 * vertices );
}

static inline void Reference_Free( Reference *r )
{
	lmbArena_Free( &r->arena );
}

static inline void RotateHistory( double **rows, int count )
{
	double *oldest = rows[count - 1];
	for ( int i = count - 1; i > 0; --i )
		rows[i] = rows[i - 1];
	rows[0] = oldest;
}

static inline double ReferenceTarget( const double *weights, double *const rows[4], size_t at )
{
	return weights[0] * rows[0][at] + weights[1] * rows[1][at] + weights[2] * rows[2][at] +
	       weights[3] * rows[3][at];
}

static inline void ReferenceForcing( const Reference *r, const double *weights, const double *turns,
                                     double *g )
{
	const lmbSprings *s = &r->fixture->springs;
	for ( int m = 0; m < s->modeCount; ++m )
	{
		g[m] = 0.0;
		for ( int p = 0; p < s->pairCount; ++p )
			for ( int i = 0; i < 3; ++i )
				for ( int k = 0; k < 4; ++k )
				{
					double entry = 0.0;
					for ( int a = 0; a < 3; ++a )
						entry +=
						    turns[9 * s->pairs[2 * p + 1] + 3 * a + i] *
						    ReferenceTarget( weights, r->bones, 12 * (size_t)s->pairs[2 * p] + 4 * a + k );
					g[m] += s->boneForcing[( (size_t)m * s->pairCount + p ) * 12 + 4 * i + k] * entry;
				}
		for ( int c = 0; c < s->coefficientCount && r->def.network; ++c )
			g[m] += s->coefficientForcing[m * s->coefficientCount + c] *
			        ReferenceTarget( weights, r->coefficients, (size_t)c );
	}
}

static inline void ReferenceSpring( const Reference *r, double k, double c, double dt, double start,
                                    double end, double *u, double *v )
{
	lmbSpringMap map;
	lmbSpringMap_Make( k, c, dt, &map );
	double x = *u, y = *v;
	if ( r->def.interpolation == lmb_targetLinear )
	{
		y -= start;
		start = end = 0.0;
	}
	*u = map.phi[0] * x + map.phi[1] * y - map.gamma[0] * start - map.gamma[1] * end;
	*v = map.phi[2] * x + map.phi[3] * y - map.gamma[2] * start - map.gamma[3] * end;
}

/* The still shape of the pose, model space, to still; world places, bones and turns to the histories. */
static inline void ReferenceStill( Reference *r, const lmbFleshPose *pose, const double *root, double *still )
{
	const Fixture *f = r->fixture;
	int vertices = f->def.vertexCount, bones = f->def.boneCount;
	double palette[32 * 12], quaternions[32 * 4], turns[32 * 9];
	for ( int i = 0; i < 12 * bones; ++i )
		palette[i] = pose->bones[i];
	lmbSkin_BoneQuaternions( bones, palette, quaternions );
	lmbWeights weights = { vertices, f->def.influenceCount, f->character.vertexBones, f->character.weights };
	lmbSkin_Points( &weights, palette, f->character.bind, still );
	RotateHistory( r->rotations, 2 );
	lmbSkin_Rotations( &weights, quaternions, r->rotations[0] );
	for ( int j = 0; j < bones; ++j )
	{
		double world[12] = { root[0], root[1], root[2], pose->position[0],
		                     root[3], root[4], root[5], pose->position[1],
		                     root[6], root[7], root[8], pose->position[2] };
		lmbQuat_ToMat33( turns + 9 * j, quaternions + 4 * j );
		lmbMat33_Multiply( r->turns[0] + 9 * j, root, turns + 9 * j );
		lmbMat34_Multiply( r->bones[0] + 12 * j, world, palette + 12 * j );
	}
	if ( r->def.network )
	{
		/* Gravity is seen through the body's turn in the world: features of the world's matrices. */
		double features[300], *displacement = r->displacement;
		lmbNetwork_Features( &f->character, r->bones[0], features );
		lmbNetwork_Coefficients( &f->network, features, r->coefficients[0] );
		lmbNetwork_Displacement( &f->network, r->coefficients[0], displacement );
		for ( int v = 0; v < vertices; ++v )
		{
			double turned[3];
			lmbMat33_Apply( turned, r->rotations[0] + 9 * v, displacement + 3 * v );
			lmbAddScaled( still + 3 * v, still + 3 * v, 1.0, turned );
		}
	}
	for ( int v = 0; v < vertices; ++v )
	{
		double *place = r->places[0] + 3 * v, turned[9];
		lmbMat33_Apply( place, root, still + 3 * v );
		lmbAddScaled( place, place, 1.0, pose->position );
		lmbMat33_Multiply( turned, root, r->rotations[0] + 9 * v );
		memcpy( r->rotations[0] + 9 * v, turned, sizeof( turned ) );
	}
}

/* out = sum_m amounts_m Phi_m(v), bind axes. */
static inline void ReferenceShape( const Reference *r, const double *amounts, int v, double *out )
{
	out[0] = out[1] = out[2] = 0.0;
	const lmbSprings *s = &r->fixture->springs;
	for ( int m = 0; m < s->modeCount; ++m )
		lmbAddScaled( out, out, amounts[m], s->skinShapes + 3 * ( (size_t)m * s->vertexCount + v ) );
}

static inline void ReferenceVertex( Reference *r, int v, double dt, const lmbTargetWeights *weights,
                                    const double *gStart, const double *gEnd )
{
	const lmbSprings *s = &r->fixture->springs;
	bool hybrid = r->def.layer == lmb_layerHybrid;
	double start[3], end[3], shape[3], turned[3];
	for ( int i = 0; i < 3; ++i )
	{
		start[i] = ReferenceTarget( weights->start, r->places, 3 * (size_t)v + i );
		end[i] = ReferenceTarget( weights->end, r->places, 3 * (size_t)v + i );
	}
	if ( hybrid )
	{
		ReferenceShape( r, gStart, v, shape );
		lmbMat33_Apply( turned, r->rotations[1] + 9 * v, shape );
		lmbSub( start, start, turned );
		ReferenceShape( r, gEnd, v, shape );
		lmbMat33_Apply( turned, r->rotations[0] + 9 * v, shape );
		lmbSub( end, end, turned );
	}
	for ( int i = 0; i < 3; ++i )
		ReferenceSpring( r, hybrid ? s->remainderStiffness[v] : s->vertexStiffness[v],
		                 hybrid ? s->remainderDamping[v] : s->vertexDamping[v], dt, start[i], end[i],
		                 &r->u[3 * v + i], &r->v[3 * v + i] );
}

/* Steps the modes by dt (0: not at all), with k and c times rho = the mean of the two frames' log ratios, on
 * rho^(1/4) u and rho^(-1/4) u'. */
static inline void ReferenceModes( Reference *r, double dt, const double *gStart, const double *gEnd,
                                   double *amounts )
{
	const lmbSprings *s = &r->fixture->springs;
	bool fitted = r->def.layer != lmb_layerModalUnfitted;
	double features[300];
	lmbNetwork_Features( &r->fixture->character, r->bones[0], features );
	for ( int m = 0; m < s->modeCount; ++m )
	{
		const double *row = s->stiffnessWeights + (size_t)m * ( s->featureCount + 1 );
		double log = row[s->featureCount];
		for ( int i = 0; i < s->featureCount; ++i )
			log += row[i] * features[i];
		log = fmin( fmax( log, s->stiffnessRange[2 * m] ), s->stiffnessRange[2 * m + 1] );
		log = r->def.poseStiffness ? log : 0.0;
		double mean = 0.5 * ( log + r->logs[m] ), scale = exp( 0.25 * mean );
		double u = r->q[m] / scale, v = r->qv[m] * scale;
		if ( dt > 0.0 )
			ReferenceSpring( r, exp( mean ) * ( fitted ? s->modeStiffness[m] : s->modeStiffnessUnfitted[m] ),
			                 exp( mean ) * ( fitted ? s->modeDamping[m] : s->modeDampingUnfitted[m] ), dt,
			                 gStart[m], gEnd[m], &u, &v );
		r->q[m] = u * scale;
		r->qv[m] = v / scale;
		r->logs[m] = log;
		amounts[m] = r->q[m] * exp( -0.25 * log );
	}
}

static inline void Reference_Step( Reference *r, const lmbFleshPose *pose, double dt )
{
	const Fixture *f = r->fixture;

	bool modal = r->def.layer >= lmb_layerModalUnfitted;
	bool perVertex = r->def.layer == lmb_layerVertex || r->def.layer == lmb_layerHybrid;
	double q[4], root[9], gStart[64], gEnd[64];
	for ( int i = 0; i < 4; ++i )
		q[i] = pose->rotation[i];
	lmbQuat_Normalize( q, q );
	lmbQuat_ToMat33( root, q );
	RotateHistory( r->bones, 4 );
	RotateHistory( r->turns, 4 );
	RotateHistory( r->coefficients, 4 );
	RotateHistory( r->places, 4 );
	ReferenceStill( r, pose, root, r->shape );
	r->known += r->known < 4;
	r->steps[2] = r->steps[1];
	r->steps[1] = r->steps[0];
	r->steps[0] = dt;
	lmbTargetWeights weights;
	lmbTarget_Weights( r->def.interpolation, r->steps, r->known, &weights );
	bool moves = r->known > 1;
	if ( moves && modal )
	{
		ReferenceForcing( r, weights.start, r->turns[1], gStart );
		ReferenceForcing( r, weights.end, r->turns[0], gEnd );
	}
	double amounts[64] = { 0 };
	if ( modal )
		ReferenceModes( r, moves ? dt : 0.0, gStart, gEnd, amounts );
	for ( int v = 0; v < f->def.vertexCount; ++v )
	{
		double shape[3], turned[3], back[3];
		if ( f->tissue.softness[v] == 0.0 )
			continue;
		if ( moves && perVertex )
			ReferenceVertex( r, v, dt, &weights, gStart, gEnd );
		if ( modal )
		{
			ReferenceShape( r, amounts, v, shape );
			lmbMat33_Apply( turned, r->rotations[0] + 9 * v, shape );
			lmbMat33_ApplyTransposed( back, root, turned );
			lmbAddScaled( r->shape + 3 * v, r->shape + 3 * v, 1.0, back );
		}
		if ( perVertex )
		{
			lmbMat33_ApplyTransposed( back, root, r->u + 3 * v );
			lmbAddScaled( r->shape + 3 * v, r->shape + 3 * v, 1.0, back );
		}
	}
}

#endif
