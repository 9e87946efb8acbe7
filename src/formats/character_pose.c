#include "formats/character_rig.h"

#include "base/math3.h"

#include <string.h>

/* The last key at or before time, in 0 .. keyCount - 2. */
static int FindKey( const double *times, int keyCount, double time )
{
	int low = 0, high = keyCount - 1;
	while ( high - low > 1 )
	{
		int middle = low + ( high - low ) / 2;
		if ( times[middle] <= time )
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Spherical interpolation along the shorter arc (Shoemake 1985). */
static void Slerp( const double *a, const double *b, double s, double *out )
{
	double cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
	double sign = cosine < 0.0 ? -1.0 : 1.0;
	cosine *= sign;
	double u = 1.0 - s, v = s;
	if ( cosine < 1.0 - 1e-12 )
	{
		double angle = acos( cosine ), sine = sin( angle );
		u = sin( u * angle ) / sine;
		v = sin( v * angle ) / sine;
	}
	for ( int i = 0; i < 4; ++i )
		out[i] = u * a[i] + sign * v * b[i];
	lmbQuat_Normalize( out, out );
}

/* glTF 2.0, appendix C "Animation Sampler Interpolation Modes". */
static void SampleCubic( const lmbChannel *channel, int key, double span, double s, double *out )
{
	size_t width = (size_t)channel->width;
	const double *from = channel->values + 3 * width * (size_t)key, *to = from + 3 * width;
	double s2 = s * s, s3 = s2 * s;
	double h00 = 2.0 * s3 - 3.0 * s2 + 1.0, h10 = span * ( s3 - 2.0 * s2 + s );
	double h01 = -2.0 * s3 + 3.0 * s2, h11 = span * ( s3 - s2 );
	for ( size_t i = 0; i < width; ++i )
		out[i] = h00 * from[width + i] + h10 * from[2 * width + i] + h01 * to[width + i] + h11 * to[i];
}

void lmbChannel_Sample( const lmbChannel *channel, double time, double *out )
{
	size_t width = (size_t)channel->width;
	bool cubic = channel->interpolation == lmb_interpolationCubic;
	size_t stride = cubic ? 3 * width : width, middle = cubic ? width : 0;
	int last = channel->keyCount - 1;
	bool rotation = channel->path == lmb_pathRotation;
	const double *times = channel->times;
	if ( !( time > times[0] ) || time >= times[last] )
	{
		int key = time >= times[last] ? last : 0;
		memcpy( out, channel->values + stride * (size_t)key + middle, width * sizeof( double ) );
	}
	else
	{
		int key = FindKey( times, channel->keyCount, time );
		const double *from = channel->values + stride * (size_t)key, *to = from + stride;
		double span = times[key + 1] - times[key];
		double s = span > 0.0 ? ( time - times[key] ) / span : 1.0;
		if ( channel->interpolation == lmb_interpolationStep )
			memcpy( out, from, width * sizeof( double ) );
		else if ( cubic )
			SampleCubic( channel, key, span, s, out );
		else if ( rotation )
			Slerp( from, to, s, out );
		else
			for ( size_t i = 0; i < width; ++i )
				out[i] = ( 1.0 - s ) * from[i] + s * to[i];
	}
	if ( rotation )
		lmbQuat_Normalize( out, out );
}

void lmbRig_SampleClip( const lmbRig *rig, int clip, double time, double *local )
{
	static const int offsets[] = { 0, 3, 7 };
	for ( int i = 0; i < rig->liveCount; ++i )
		memcpy( local + 10 * (size_t)i, rig->live[i].local, sizeof( rig->live[i].local ) );
	if ( clip < 0 )
		return;
	for ( int i = 0; i < rig->clips[clip].channelCount; ++i )
	{
		const lmbChannel *channel = &rig->clips[clip].channels[i];
		if ( channel->live >= 0 && channel->path != lmb_pathWeights )
			lmbChannel_Sample( channel, time, local + 10 * (size_t)channel->live + offsets[channel->path] );
	}
}

static void LocalMatrix( const double *local, double *matrix )
{
	double rotation[9];
	lmbQuat_ToMat33( rotation, local + 3 );
	for ( int i = 0; i < 3; ++i )
	{
		for ( int j = 0; j < 3; ++j )
			matrix[4 * i + j] = rotation[3 * i + j] * local[7 + j];
		matrix[4 * i + 3] = local[i];
	}
}

void lmbRig_WorldMatrices( const lmbRig *rig, const double *local, double *worlds )
{
	for ( int i = 0; i < rig->liveCount; ++i )
	{
		const lmbRigNode *node = &rig->live[i];
		double made[12];
		const double *matrix = made;
		if ( node->fixed )
			matrix = node->matrix;
		else
			LocalMatrix( local + 10 * (size_t)i, made );
		if ( node->parent >= 0 )
			lmbMat34_Multiply( worlds + 12 * (size_t)i, worlds + 12 * (size_t)node->parent, matrix );
		else
			memcpy( worlds + 12 * (size_t)i, matrix, sizeof( made ) );
	}
}

void lmbRig_Pose( const lmbCharacter *character, const double *local, double *bones )
{
	const lmbRig *rig = character->rig;
	double worlds[12 * ( rig->liveCount > 0 ? rig->liveCount : 1 )];
	lmbRig_WorldMatrices( rig, local, worlds );
	for ( int b = 0; b < character->boneCount; ++b )
	{
		double *bone = bones + 12 * (size_t)b;
		lmbMat34_Multiply( bone, worlds + 12 * (size_t)rig->boneLive[b], rig->inverseBinds + 12 * (size_t)b );
		for ( int i = 0; i < 12; ++i )
			bone[i] *= character->metresPerUnit;
	}
}

void lmbCharacter_Pose( const lmbCharacter *character, int clip, double time, double *bones )
{
	const lmbRig *rig = character->rig;
	double local[10 * ( rig->liveCount > 0 ? rig->liveCount : 1 )];
	lmbRig_SampleClip( rig, clip < character->clipCount ? clip : -1, time, local );
	lmbRig_Pose( character, local, bones );
}
