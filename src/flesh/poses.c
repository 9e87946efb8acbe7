#include "flesh/poses.h"

#include "base/math3.h"
#include "base/random.h"
#include "flesh/elasticity.h"
#include "flesh/skinning.h"

#include <stdlib.h>

static const double radian = 0.017453292519943295;
/* Share of the tissue's volume that a skinned pose may turn inside out, at least; twice the motions' own
 * worst where that is more. Natural motions of a heavy body reach 0.002; far above that, flesh folds in ways
 * that no body does, which is slow to solve and teaches nothing. */
static const double invertedLeast = 0.005;

typedef struct JointHabit
{
	double range;   /* rad, largest turn away from bind */
	double bone[3]; /* unit, bind axes: along the bone, about which turns are twists; 0: unknown */
	double axis[3]; /* unit: about which the motions turn this joint most; 0: they do not */
	double forward; /* in [0, 1]: chance that a far turn goes the way the motions mostly do */
} JointHabit;

struct lmbPoseSource
{
	lmbArena arena;
	const lmbCharacter *character;
	const lmbTissue *tissue;
	const lmbMotion **motions; /* (motionCount) trained ones */
	int motionCount;
	double duration; /* s, of all together */
	double spread;   /* rad */
	uint64_t seed;
	double invertedMax;
	JointHabit *joints; /* (boneCount) */
};

/* Share of the tissue's volume that the skinned pose turns inside out. */
static double InvertedShare( const lmbTissue *tissue, const double *bones, double *nodes )
{
	lmbWeights weights = { tissue->nodeCount, tissue->influenceCount, tissue->nodeBones,
	                       tissue->nodeWeights };
	double all = 0.0, inverted = 0.0;
	lmbSkin_Points( &weights, bones, tissue->nodes, nodes );
	for ( int t = 0; t < tissue->tetCount; ++t )
	{
		const int32_t *tet = tissue->tets + 4 * (size_t)t;
		double corners[12], posed[12], F[9];
		lmbElement element;
		for ( int i = 0; i < 4; ++i )
		{
			memcpy( corners + 3 * i, tissue->nodes + 3 * (size_t)tet[i], 3 * sizeof( double ) );
			memcpy( posed + 3 * i, nodes + 3 * (size_t)tet[i], 3 * sizeof( double ) );
		}
		if ( !lmbElement_Make( corners, &element ) )
			continue;
		lmbElement_Deformation( &element, posed, F );
		all += element.volume;
		inverted += lmbMat33_Determinant( F ) <= 0.0 ? element.volume : 0.0;
	}
	return all > 0.0 ? inverted / all : 0.0;
}

/* The turn of a unit quaternion as axis times angle, angle in [0, pi]. */
static void TurnOf( const double *q, double *turn )
{
	double sine = lmbLength( q ), sign = q[3] < 0.0 ? -1.0 : 1.0;
	double angle = 2.0 * atan2( sine, sign * q[3] );
	for ( int i = 0; i < 3; ++i )
		turn[i] = sine > 1e-12 ? sign * q[i] / sine * angle : 0.0;
}

static void QuatOfTurn( const double *turn, double *q )
{
	double angle = lmbLength( turn ), scale = angle > 1e-12 ? sin( 0.5 * angle ) / angle : 0.5;
	for ( int i = 0; i < 3; ++i )
		q[i] = scale * turn[i];
	q[3] = cos( 0.5 * angle );
	lmbQuat_Normalize( q, q );
}

static void FindBoneAxes( lmbPoseSource *source )
{
	const lmbCharacter *character = source->character;
	for ( int j = 0; j < character->boneCount; ++j )
	{
		double sum[3] = { 0.0 };
		for ( int child = j + 1; child < character->boneCount; ++child )
			for ( int i = 0; character->bones[child].parent == j && i < 3; ++i )
				sum[i] += character->bones[child].bind[4 * i + 3] - character->bones[j].bind[4 * i + 3];
		int parent = character->bones[j].parent;
		for ( int i = 0; lmbLength( sum ) == 0.0 && parent >= 0 && i < 3; ++i )
			source->joints[j].bone[i] =
			    character->bones[j].bind[4 * i + 3] - character->bones[parent].bind[4 * i + 3];
		if ( lmbLength( sum ) > 0.0 )
			memcpy( source->joints[j].bone, sum, sizeof( sum ) );
		double length = lmbLength( source->joints[j].bone );
		for ( int i = 0; i < 3; ++i )
			source->joints[j].bone[i] = length > 1e-9 ? source->joints[j].bone[i] / length : 0.0;
	}
}

enum
{
	habitSamples = 256 /* poses of the motions that are looked at for each joint's direction */
};

/* The dominant direction of a joint's turns, from their second moments about bind (power iteration). */
static void LearnJoint( JointHabit *joint, const double *moments, const double *mean )
{
	double axis[3] = { 1.0, 0.9, 0.8 }, next[3];
	for ( int iteration = 0; iteration < 100; ++iteration )
	{
		lmbMat33_Apply( next, moments, axis );
		double length = lmbLength( next );
		if ( !( length > 1e-8 ) ) /* turns below 1e-4 rad */
			return;
		for ( int i = 0; i < 3; ++i )
			axis[i] = next[i] / length;
	}
	lmbMat33_Apply( next, moments, axis );
	double rms = sqrt( lmbDot( next, axis ) ), bias = lmbDot( mean, axis );
	for ( int i = 0; i < 3; ++i )
		joint->axis[i] = bias < 0.0 ? -axis[i] : axis[i];
	joint->forward = 0.5 + 0.5 * fmin( 1.0, fabs( bias ) / rms );
}

/* Which motion, and when in it, for a share of all motions' time in [0, 1). */
static const lmbMotion *MotionAt( const lmbPoseSource *source, double share, double *time )
{
	double left = share * source->duration;
	int i = 0;
	while ( i + 1 < source->motionCount && left > source->motions[i]->duration )
		left -= source->motions[i++]->duration;
	*time = left;
	return source->motions[i];
}

static lmbStatus LearnHabits( lmbPoseSource *source, lmbError *error )
{
	int count = source->character->boneCount;
	double *bones = LMB_NEW( &source->arena, double, 12 * (size_t)count );
	double *rotations = LMB_NEW( &source->arena, double, 4 * (size_t)count );
	double *sums = LMB_NEW( &source->arena, double, 12 * (size_t)count );
	double *nodes = LMB_NEW( &source->arena, double, 3 * (size_t)source->tissue->nodeCount );
	if ( bones == NULL || rotations == NULL || sums == NULL || nodes == NULL )
		return lmbError_Memory( error );
	for ( int sample = 0; sample < habitSamples; ++sample )
	{
		double time, turn[3];
		const lmbMotion *motion = MotionAt( source, ( sample + 0.5 ) / habitSamples, &time );
		lmbMotion_Pose( motion, time, bones );
		if ( sample % 8 == 0 )
			source->invertedMax =
			    fmax( source->invertedMax, 2.0 * InvertedShare( source->tissue, bones, nodes ) );
		lmbPose_LocalRotations( source->character, bones, rotations );
		for ( int j = 0; j < count; ++j )
		{
			TurnOf( rotations + 4 * (size_t)j, turn );
			double *sum = sums + 12 * (size_t)j;
			for ( int i = 0; i < 3; ++i )
			{
				sum[9 + i] += turn[i] / habitSamples;
				for ( int k = 0; k < 3; ++k )
					sum[3 * i + k] += turn[i] * turn[k] / habitSamples;
			}
		}
	}
	for ( int j = 0; j < count; ++j )
		LearnJoint( source->joints + j, sums + 12 * (size_t)j, sums + 12 * (size_t)j + 9 );
	return lmb_statusOk;
}

static lmbStatus SetRanges( lmbPoseSource *source, const lmbSimulateDef *def, lmbError *error )
{
	for ( int j = 0; j < source->character->boneCount; ++j )
		source->joints[j].range = def->poseRange * radian;
	for ( int i = 0; i < def->rangeCount; ++i )
	{
		int bone = lmbCharacter_FindBone( source->character, def->ranges[i].bone );
		if ( bone < 0 )
			return lmbError_Set( error, lmb_statusNotFound, "%s: there is no bone \"%s\" to give a range to",
			                     source->character->path, def->ranges[i].bone );
		if ( !( def->ranges[i].degrees >= 0.0 && def->ranges[i].degrees <= 180.0 ) )
			return lmbError_Set( error, lmb_statusInvalidArgument,
			                     "the range of bone \"%s\" is %g degrees: must be in [0, 180]",
			                     def->ranges[i].bone, def->ranges[i].degrees );
		source->joints[bone].range = def->ranges[i].degrees * radian;
	}
	return lmb_statusOk;
}

static lmbStatus Fill( lmbPoseSource *source, const lmbSimulateMotion *motions, int motionCount,
                       const lmbSimulateDef *def, lmbError *error )
{
	source->joints = LMB_NEW( &source->arena, JointHabit, source->character->boneCount );
	source->motions = LMB_NEW( &source->arena, const lmbMotion *, motionCount );
	if ( source->joints == NULL || source->motions == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < motionCount; ++i )
		if ( motions[i].trained )
		{
			source->motions[source->motionCount++] = motions[i].motion;
			source->duration += motions[i].motion->duration;
		}
	FindBoneAxes( source );
	LMB_TRY( SetRanges( source, def, error ) );
	return source->motionCount > 0 ? LearnHabits( source, error ) : lmb_statusOk;
}

lmbStatus lmbPoseSource_Make( const lmbCharacter *character, const lmbTissue *tissue,
                              const lmbSimulateMotion *motions, int motionCount, const lmbSimulateDef *def,
                              uint64_t seed, lmbPoseSource **out, lmbError *error )
{
	*out = NULL;
	lmbPoseSource *source = calloc( 1, sizeof( *source ) );
	if ( source == NULL )
		return lmbError_Memory( error );
	source->character = character;
	source->tissue = tissue;
	source->spread = def->poseSpread * radian;
	source->seed = seed;
	source->invertedMax = invertedLeast;
	lmbStatus status = Fill( source, motions, motionCount, def, error );
	if ( status == lmb_statusOk )
		*out = source;
	else
		lmbPoseSource_Free( source );
	return status;
}

void lmbPoseSource_Free( lmbPoseSource *source )
{
	if ( source == NULL )
		return;
	lmbArena_Free( &source->arena );
	free( source );
}

/* Work space of one draw. */
typedef struct Draw
{
	const lmbPoseSource *source;
	lmbRandom random;
	double size;       /* of the random turns; shrinks with every rejected attempt */
	double *bones;     /* (boneCount x 12) */
	double *frames;    /* (frameCount x boneCount x 4) local rotations of the frames drawn so far */
	int frameCount;    /* in [1, framesMax] */
	int *frameOf;      /* (boneCount) */
	double *rotations; /* (boneCount x 4) */
	double *nodes;     /* (nodeCount x 3) */
} Draw;

enum
{
	framesMax = 8,
	attemptsMax = 20,
	patience = 5 /* attempts at full size */
};

static void DrawFrame( Draw *draw )
{
	const lmbPoseSource *source = draw->source;
	size_t count = (size_t)source->character->boneCount;
	double *rotations = draw->frames + 4 * count * (size_t)draw->frameCount, time;
	draw->frameCount += 1;
	if ( source->motionCount == 0 )
	{
		for ( size_t j = 0; j < count; ++j )
			rotations[4 * j + 3] = 1.0;
		return;
	}
	const lmbMotion *motion = MotionAt( source, lmbRandom_Uniform( &draw->random ), &time );
	lmbMotion_Pose( motion, time, draw->bones );
	lmbPose_LocalRotations( source->character, draw->bones, rotations );
}

/* A random turn of one joint, bind axes: a little every way; in one joint of three, far, about the axis that
 * the motions use or about any other (half and half). Twist keeps six tenths. */
static void RandomTurn( Draw *draw, int bone, double *turn )
{
	const JointHabit *joint = draw->source->joints + bone;
	double size = draw->size * draw->source->spread, axis[3];
	for ( int i = 0; i < 3; ++i )
	{
		turn[i] = size / sqrt( 3.0 ) * lmbRandom_Normal( &draw->random );
		axis[i] = lmbRandom_Normal( &draw->random );
	}
	double far = lmbRandom_Uniform( &draw->random ), way = lmbRandom_Uniform( &draw->random );
	double angle = 3.0 * size * fabs( lmbRandom_Normal( &draw->random ) ), length = lmbLength( axis );
	if ( far < 1.0 / 6.0 )
		lmbAddScaled( turn, turn, way < joint->forward ? angle : -angle, joint->axis );
	else if ( far < 1.0 / 3.0 && length > 0.0 )
		lmbAddScaled( turn, turn, angle / length, axis );
	lmbAddScaled( turn, turn, -0.4 * lmbDot( turn, joint->bone ), joint->bone );
}

/* Limits a joint's turn away from bind to its range, or to what the motion itself has there. */
static void Limit( double *rotation, const double *base, double range )
{
	double turn[3], own[3];
	TurnOf( rotation, turn );
	TurnOf( base, own );
	double limit = fmax( range, lmbLength( own ) ), angle = lmbLength( turn );
	if ( angle <= limit )
		return;
	for ( int i = 0; i < 3; ++i )
		turn[i] *= limit / angle;
	QuatOfTurn( turn, rotation );
}

/* Blends from b towards the identity: share 0 keeps it. */
static void TowardsBind( double *rotation, double share )
{
	double turn[3];
	TurnOf( rotation, turn );
	for ( int i = 0; i < 3; ++i )
		turn[i] *= 1.0 - share;
	QuatOfTurn( turn, rotation );
}

static void DrawRotations( Draw *draw )
{
	const lmbCharacter *character = draw->source->character;
	draw->frameCount = 0;
	DrawFrame( draw );
	bool mixed = lmbRandom_Uniform( &draw->random ) < 0.6;
	double towardsBind = fmax( 0.0, 1.5 * lmbRandom_Uniform( &draw->random ) - 0.75 );
	double keep = draw->size;
	draw->size *= 0.5 + 1.25 * lmbRandom_Uniform( &draw->random );
	for ( int j = 0; j < character->boneCount; ++j )
	{
		int parent = character->bones[j].parent;
		double turn[3], change[4], base[4], *rotation = draw->rotations + 4 * (size_t)j;
		draw->frameOf[j] = parent >= 0 ? draw->frameOf[parent] : 0;
		if ( mixed && parent >= 0 && draw->frameCount < framesMax &&
		     lmbRandom_Uniform( &draw->random ) < 0.2 )
		{
			draw->frameOf[j] = draw->frameCount;
			DrawFrame( draw );
		}
		memcpy( base,
		        draw->frames + 4 * ( (size_t)draw->frameOf[j] * (size_t)character->boneCount + (size_t)j ),
		        sizeof( base ) );
		if ( parent >= 0 )
			TowardsBind( base, towardsBind );
		RandomTurn( draw, j, turn );
		/* Of a root only the direction of the vertical in its frame matters: a tilt, half as large. */
		for ( int i = 0; parent < 0 && i < 3; ++i )
			turn[i] *= 0.5;
		QuatOfTurn( turn, change );
		lmbQuat_Multiply( rotation, base, change );
		lmbQuat_Normalize( rotation, rotation );
		Limit( rotation, base, draw->source->joints[j].range );
	}
	draw->size = keep;
}

static lmbStatus DrawWith( Draw *draw, lmbArena *arena, double *bones, lmbError *error )
{
	const lmbPoseSource *source = draw->source;
	size_t count = (size_t)source->character->boneCount;
	draw->bones = bones;
	draw->frames = LMB_NEW( arena, double, 4 * count * framesMax );
	draw->rotations = LMB_NEW( arena, double, 4 * count );
	draw->frameOf = LMB_NEW( arena, int, count );
	draw->nodes = LMB_NEW( arena, double, 3 * (size_t)source->tissue->nodeCount );
	if ( draw->frames == NULL || draw->rotations == NULL || draw->frameOf == NULL || draw->nodes == NULL )
		return lmbError_Memory( error );
	draw->size = 1.0;
	for ( int attempt = 0; attempt < attemptsMax; ++attempt )
	{
		DrawRotations( draw );
		lmbPose_FromLocalRotations( source->character, draw->rotations, NULL, bones );
		if ( InvertedShare( source->tissue, bones, draw->nodes ) <= source->invertedMax )
			break;
		if ( attempt >= patience )
			draw->size *= 0.85;
	}
	return lmb_statusOk;
}

lmbStatus lmbPoseSource_Draw( const lmbPoseSource *source, int index, double *bones, lmbError *error )
{
	Draw draw = { .source = source, .random = lmbRandom_Seed( source->seed, (uint64_t)index ) };
	lmbArena arena = { 0 };
	lmbStatus status = DrawWith( &draw, &arena, bones, error );
	lmbArena_Free( &arena );
	return status;
}
