/* A body made for the network's tests: a closed tube along x with a root in the middle and two bones on
 * either side, symmetric at x = 0; tissue nodes that are the skin's own vertices; and a true displacement
 * that is a known smooth nonlinear function of the joints' rotations. */
#ifndef LMB_TESTS_FLESH_NETWORK_LIMB_H
#define LMB_TESTS_FLESH_NETWORK_LIMB_H

#include "base/math3.h"
#include "base/random.h"
#include "flesh/dataset.h"
#include "flesh/skinning.h"
#include "flesh/tissue.h"

#include <stdbool.h>

enum
{
	limbBones = 5,
	limbRings = 41,
	limbSides = 12,
	limbVertices = limbRings * limbSides + 2,
	limbTriangles = 2 * limbSides * ( limbRings - 1 ) + 2 * limbSides
};

static const double limbJoints[limbBones] = { 0.0, 0.2, 0.6, -0.2, -0.6 };
static const int limbParents[limbBones] = { -1, 0, 1, 0, 3 };
static const char *const limbNames[limbBones] = { "root", "a", "b", "c", "d" };

typedef struct Limb
{
	lmbArena arena;
	lmbCharacter character;
	lmbTissue tissue;
	lmbDataset dataset;
} Limb;

static inline void LimbWeights( double x, double *weights )
{
	/* Smooth hand-over around each joint, 0.15 m wide. */
	double a = 1.0 / ( 1.0 + exp( -( x - 0.2 ) / 0.04 ) ), b = 1.0 / ( 1.0 + exp( -( x - 0.6 ) / 0.04 ) );
	double c = 1.0 / ( 1.0 + exp( ( x + 0.2 ) / 0.04 ) ), d = 1.0 / ( 1.0 + exp( ( x + 0.6 ) / 0.04 ) );
	double all[limbBones] = { ( 1.0 - a ) * ( 1.0 - c ), a * ( 1.0 - b ), a * b, c * ( 1.0 - d ), c * d },
	       sum = 0.0;
	for ( int j = 0; j < limbBones; ++j )
		sum += all[j];
	for ( int j = 0; j < limbBones; ++j )
		weights[j] = all[j] / sum;
}

static inline void LimbSkin( Limb *limb )
{
	lmbCharacter *character = &limb->character;
	for ( int r = 0; r < limbRings; ++r )
		for ( int s = 0; s < limbSides; ++s )
		{
			double *p = character->bind + 3 * ( r * limbSides + s ), turn = 6.283185307179586 * s / limbSides;
			p[0] = -1.0 + 2.0 * r / ( limbRings - 1 );
			p[1] = 1.0 + 0.1 * cos( turn );
			p[2] = 0.12 * sin( turn );
		}
	double *ends = character->bind + 3 * limbRings * limbSides;
	ends[0] = -1.02, ends[1] = 1.0, ends[3] = 1.02, ends[4] = 1.0;
	int32_t *t = character->triangles;
	for ( int r = 0; r + 1 < limbRings; ++r )
		for ( int s = 0; s < limbSides; ++s )
		{
			int a = r * limbSides + s, b = r * limbSides + ( s + 1 ) % limbSides;
			int32_t quad[6] = { a, b, a + limbSides, b, b + limbSides, a + limbSides };
			memcpy( t, quad, sizeof( quad ) );
			t += 6;
		}
	for ( int s = 0; s < limbSides; ++s )
	{
		int last = ( limbRings - 1 ) * limbSides, next = ( s + 1 ) % limbSides;
		int32_t caps[6] = { limbRings * limbSides,     next,     s,
		                    limbRings * limbSides + 1, last + s, last + next };
		memcpy( t, caps, sizeof( caps ) );
		t += 6;
	}
	for ( int v = 0; v < limbVertices; ++v )
	{
		double weights[limbBones];
		LimbWeights( character->bind[3 * v], weights );
		for ( int k = 0; k < limbBones; ++k ) /* heaviest first */
		{
			int most = 0;
			for ( int j = 1; j < limbBones; ++j )
				most = weights[j] > weights[most] ? j : most;
			character->vertexBones[v * limbBones + k] = most;
			character->weights[v * limbBones + k] = weights[most];
			weights[most] = -1.0;
		}
	}
}

static inline void LimbMake( Limb *limb )
{
	memset( limb, 0, sizeof( *limb ) );
	lmbCharacter *character = &limb->character;
	lmbArena *arena = &limb->arena;
	*character = ( lmbCharacter ){ .path = "limb",
	                               .vertexCount = limbVertices,
	                               .triangleCount = limbTriangles,
	                               .boneCount = limbBones,
	                               .influenceCount = limbBones,
	                               .metresPerUnit = 1.0 };
	character->bind = LMB_NEW( arena, double, 3 * limbVertices );
	character->triangles = LMB_NEW( arena, int32_t, 3 * limbTriangles );
	character->vertexBones = LMB_NEW( arena, int32_t, limbVertices * limbBones );
	character->weights = LMB_NEW( arena, double, limbVertices *limbBones );
	character->bones = LMB_NEW( arena, lmbBone, limbBones );
	for ( int j = 0; j < limbBones; ++j )
	{
		character->bones[j] = ( lmbBone ){ .name = limbNames[j], .parent = limbParents[j] };
		lmbMat34_Identity( character->bones[j].bind );
		character->bones[j].bind[3] = limbJoints[j];
		character->bones[j].bind[7] = 1.0;
	}
	LimbSkin( limb );
	lmbTissue *tissue = &limb->tissue;
	*tissue = ( lmbTissue ){ .nodeCount = limbVertices,
	                         .boneCount = limbBones,
	                         .vertexCount = limbVertices,
	                         .influenceCount = limbBones,
	                         .cell = 0.05,
	                         .tetCount = limbVertices };
	tissue->nodes = character->bind;
	tissue->nodeBones = character->vertexBones;
	tissue->nodeWeights = character->weights;
	tissue->tets = LMB_NEW( arena, int32_t, 4 * limbVertices );
	tissue->skinTets = LMB_NEW( arena, int32_t, limbVertices );
	tissue->skinWeights = LMB_NEW( arena, double, 4 * limbVertices );
	tissue->softness = LMB_NEW( arena, double, limbVertices );
	for ( int v = 0; v < limbVertices; ++v )
	{
		for ( int k = 0; k < 4; ++k )
			tissue->tets[4 * v + k] = ( v + k ) % limbVertices;
		tissue->skinTets[v] = v;
		tissue->skinWeights[4 * v] = 1.0;
		double left = ( 0.98 - fabs( character->bind[3 * v] ) ) / 0.1; /* hands stay rigid */
		tissue->softness[v] = left <= 0.0 ? 0.0 : left >= 1.0 ? 1.0 : left * left * ( 3.0 - 2.0 * left );
	}
}

/* A pose from one rotation vector per bone (the root's turns the whole body). */
static inline void LimbPose( const double *turns, const double *place, double *bones )
{
	for ( int j = 0; j < limbBones; ++j )
	{
		const double *w = turns + 3 * j;
		double angle = lmbLength( w ), s = angle > 1e-12 ? sin( 0.5 * angle ) / angle : 0.5;
		double q[4] = { s * w[0], s * w[1], s * w[2], cos( 0.5 * angle ) }, rotation[9], local[12];
		lmbQuat_ToMat33( rotation, q );
		double joint[3] = { limbJoints[j], 1.0, 0.0 }, moved[3];
		lmbMat33_Apply( moved, rotation, joint );
		for ( int i = 0; i < 3; ++i )
		{
			memcpy( local + 4 * i, rotation + 3 * i, 3 * sizeof( double ) );
			local[4 * i + 3] = joint[i] - moved[i] + ( j == 0 ? place[i] : 0.0 );
		}
		if ( limbParents[j] < 0 )
			memcpy( bones, local, sizeof( local ) );
		else
			lmbMat34_Multiply( bones + 12 * j, bones + 12 * limbParents[j], local );
	}
}

/* The truth, in bind axes: bulging around each joint, d = sum_j g (0.4 e (R r - r) + 0.5 (3 - tr R) n),
 * e = exp( -|R r - r|^2 / 0.2^2 ), r from the joint, n its part across the tube, g a bump of 0.2 m around
 * the joint, R the joint's own rotation times half of the next one's. Covariant under reflections. */
static inline void LimbTruth( const Limb *limb, const double *bones, double *out )
{
	double quaternions[4 * limbBones], local[9 * limbBones];
	lmbSkin_BoneQuaternions( limbBones, bones, quaternions );
	for ( int j = 1; j < limbBones; ++j )
	{
		double a[9], b[9];
		lmbQuat_ToMat33( a, quaternions + 4 * limbParents[j] );
		lmbQuat_ToMat33( b, quaternions + 4 * j );
		lmbMat33_TransposedMultiply( local + 9 * j, a, b );
	}
	memset( out, 0, 3 * limbVertices * sizeof( double ) );
	for ( int v = 0; v < limbVertices; ++v )
		for ( int j = 1; j < limbBones; ++j )
		{
			const double *p = limb->character.bind + 3 * v;
			double r[3] = { p[0] - limbJoints[j], p[1] - 1.0, p[2] }, turned[3], next[3];
			double g = exp( -lmbDot( r, r ) / ( 0.2 * 0.2 ) ), bulge = 3.0;
			lmbMat33_Apply( turned, local + 9 * j, r );
			int child = j == 1 || j == 3 ? j + 1 : j - 1;
			lmbMat33_Apply( next, local + 9 * child, turned );
			lmbAddScaled( turned, turned, 0.5, next );
			for ( int i = 0; i < 3; ++i )
			{
				turned[i] -= 1.5 * r[i];
				bulge -= local[9 * j + 4 * i];
			}
			double e = exp( -lmbDot( turned, turned ) / ( 0.2 * 0.2 ) );
			for ( int i = 0; i < 3; ++i )
				out[3 * v + i] += g * ( 0.4 * e * turned[i] + ( i > 0 ? 0.5 * bulge * r[i] : 0.0 ) );
		}
}

static inline void LimbShape( const Limb *limb, const double *bones, float *nodes )
{
	static double displacement[3 * limbVertices], skinned[3 * limbVertices], rotations[9 * limbVertices];
	double quaternions[4 * limbBones];
	lmbWeights weights = { limbVertices, limbBones, limb->character.vertexBones, limb->character.weights };
	LimbTruth( limb, bones, displacement );
	lmbSkin_Points( &weights, bones, limb->character.bind, skinned );
	lmbSkin_BoneQuaternions( limbBones, bones, quaternions );
	lmbSkin_Rotations( &weights, quaternions, rotations );
	for ( int v = 0; v < limbVertices; ++v )
	{
		double turned[3];
		lmbMat33_Apply( turned, rotations + 9 * v, displacement + 3 * v );
		for ( int i = 0; i < 3; ++i )
			nodes[3 * v + i] = (float)( skinned[3 * v + i] + turned[i] );
	}
}

static inline void LimbRandomPose( lmbRandom *random, double spread, double *bones )
{
	double turns[3 * limbBones], place[3];
	for ( int i = 0; i < 3 * limbBones; ++i )
		turns[i] = spread * lmbRandom_Normal( random );
	for ( int i = 0; i < 3; ++i )
		place[i] = lmbRandom_Normal( random );
	LimbPose( turns, place, bones );
}

/* count random poses, a trained and a held-out sequence of 60 frames each. Every 20th pose is marked as not
 * converged and holds rubbish; so does all of the held-out sequence. */
static inline void LimbDataset( Limb *limb, int count, uint64_t seed )
{
	lmbArena *arena = &limb->arena;
	lmbPoseSet *poses = &limb->dataset.poses;
	lmbRandom random = lmbRandom_Seed( seed, 0 );
	*poses = ( lmbPoseSet ){ .count = count, .boneCount = limbBones, .nodeCount = limbVertices };
	poses->bones = LMB_NEW( arena, double, (size_t)count * 12 * limbBones );
	poses->nodes = LMB_NEW( arena, float, (size_t)count * 3 * limbVertices );
	poses->converged = LMB_NEW( arena, uint8_t, count );
	for ( int i = 0; i < count; ++i )
	{
		float *nodes = poses->nodes + (size_t)i * 3 * limbVertices;
		double *bones = poses->bones + (size_t)i * 12 * limbBones;
		LimbRandomPose( &random, 0.35, bones );
		LimbShape( limb, bones, nodes );
		poses->converged[i] = i % 20 != 7;
		if ( poses->converged[i] == 0 )
			nodes[5] = NAN;
	}
	limb->dataset.sequenceCount = 2;
	limb->dataset.sequences = LMB_NEW( arena, lmbSequence, 2 );
	for ( int s = 0; s < 2; ++s )
	{
		lmbSequence *sequence = &limb->dataset.sequences[s];
		*sequence = ( lmbSequence ){ .name = s == 0 ? "trained" : "kept",
		                             .trained = s == 0,
		                             .frameCount = 60,
		                             .boneCount = limbBones,
		                             .nodeCount = limbVertices,
		                             .rate = 30.0 };
		sequence->bones = LMB_NEW( arena, double, 60 * 12 * limbBones );
		sequence->still = LMB_NEW( arena, float, 60 * 3 * limbVertices );
		sequence->moving = sequence->still;
		sequence->converged = LMB_NEW( arena, uint8_t, 60 );
		for ( int i = 0; i < 60; ++i )
		{
			double turns[3 * limbBones] = { 0 }, place[3] = { 0.02 * i, 0.0, 0.0 };
			for ( int k = 0; k < 3 * limbBones; ++k )
				turns[k] = 0.5 * sin( 0.1 * ( 1 + s ) * i + k );
			LimbPose( turns, place, sequence->bones + i * 12 * limbBones );
			LimbShape( limb, sequence->bones + i * 12 * limbBones, sequence->still + i * 3 * limbVertices );
			sequence->converged[i] = 1;
			if ( s == 1 )
				sequence->still[i * 3 * limbVertices] = NAN;
		}
	}
}

static inline void LimbFree( Limb *limb )
{
	lmbArena_Free( &limb->arena );
}

#endif
