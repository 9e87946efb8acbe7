#include "formats/motion_curves.h"

#include "base/math3.h"
#include "flesh/skinning.h"

#include <stdlib.h>
#include <string.h>

static const int offsets[] = { 0, 3, 7 };          /* of a channel's path in local[10] */
static const size_t numberLimit = (size_t)1 << 27; /* 1 GiB of doubles */

lmbMotionDef lmbDefaultMotionDef( void )
{
	return ( lmbMotionDef ){ .warpIn = 0.5 };
}

static bool MovesSkeleton( const lmbChannel *channel )
{
	return channel->live >= 0 && channel->path != lmb_pathWeights;
}

/* The densest channel's keys per second. Cubic keys are a curve, not points: four samples to a key follow
 * it closely. */
static double DensestRate( const lmbRigClip *clip )
{
	double rate = 1.0;
	for ( int i = 0; i < clip->channelCount; ++i )
	{
		const lmbChannel *channel = &clip->channels[i];
		double span = channel->times[channel->keyCount - 1] - channel->times[0];
		if ( !MovesSkeleton( channel ) || !( span > 0.0 ) )
			continue;
		double own = ( channel->keyCount - 1 ) / span;
		rate = fmax( rate, channel->interpolation == lmb_interpolationCubic ? 4.0 * own : own );
	}
	return fmin( rate, 120.0 );
}

static lmbStatus CheckDef( const lmbCharacter *character, int clip, const lmbMotionDef *def, lmbError *error )
{
	if ( clip < 0 || clip >= character->clipCount )
		return lmbError_Set( error, lmb_statusNotFound, "%s: has %d animations, number %d is not among them",
		                     character->path, character->clipCount, clip );
	const lmbClip *source = &character->clips[clip];
	double length = source->end - source->start;
	if ( !( length > 0.0 ) )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "%s: the animation \"%.100s\" is a single pose; choose one that moves",
		                     character->path, source->name );
	if ( def->keyRate != 0.0 && !( def->keyRate >= 1.0 && def->keyRate <= 1000.0 ) )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "key rate %g Hz: must be 0 (the clip's own) or in 1 .. 1000", def->keyRate );
	if ( !( def->warpIn >= 0.0 && def->warpIn <= 5.0 ) )
		return lmbError_Set( error, lmb_statusInvalidArgument, "warp-in %g s: must be in 0 .. 5",
		                     def->warpIn );
	if ( !( def->start >= 0.0 && def->start < length ) )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "start %g s: the animation \"%.100s\" is %g s long", def->start, source->name,
		                     length );
	if ( !( def->duration >= 0.0 && isfinite( def->duration ) ) )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "duration %g s: must be 0 (to the end) or above", def->duration );
	return lmb_statusOk;
}

static lmbStatus Allocate( lmbMotion *motion, const lmbRigClip *clip, lmbError *error )
{
	lmbMotionCurves *curves = motion->curves;
	size_t numbers = 0;
	int count = 0;
	for ( int i = 0; i < clip->channelCount; ++i )
	{
		count += MovesSkeleton( &clip->channels[i] ) ? 1 : 0;
		numbers += 2 * (size_t)curves->keyCount * (size_t)clip->channels[i].width;
		if ( numbers > numberLimit )
			return lmbError_Set(
			    error, lmb_statusUnsupported,
			    "%s: %d keys of \"%.100s\" need more than 1 GiB; lower the key rate or cut the "
			    "motion",
			    motion->character->path, curves->keyCount, motion->name );
	}
	curves->curves = LMB_NEW( &motion->arena, lmbCurve, count );
	if ( curves->curves == NULL )
		return lmbError_Memory( error );
	return lmb_statusOk;
}

static void AlignSigns( double *quaternions, int count )
{
	for ( int i = 1; i < count; ++i )
	{
		double *q = quaternions + 4 * (size_t)i;
		const double *before = q - 4;
		double same = q[0] * before[0] + q[1] * before[1] + q[2] * before[2] + q[3] * before[3];
		for ( int c = 0; same < 0.0 && c < 4; ++c )
			q[c] = -q[c];
	}
}

static lmbStatus MakeCurve( lmbMotion *motion, const lmbChannel *channel, double cutoff, lmbError *error )
{
	lmbMotionCurves *curves = motion->curves;
	int count = curves->keyCount, width = channel->width;
	lmbCurve *curve = &curves->curves[curves->curveCount++];
	*curve = ( lmbCurve ){ .live = channel->live, .offset = offsets[channel->path], .width = width };
	curve->values = LMB_NEW( &motion->arena, double, (size_t)count *(size_t)width );
	curve->curvatures = LMB_NEW( &motion->arena, double, (size_t)count *(size_t)width );
	if ( curve->values == NULL || curve->curvatures == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < count; ++i )
		lmbChannel_Sample( channel, curves->firstKey + curves->step * i,
		                   curve->values + (size_t)i * (size_t)width );
	bool rotation = channel->path == lmb_pathRotation;
	if ( rotation )
		AlignSigns( curve->values, count );
	if ( cutoff > 0.0 )
		LMB_TRY( lmbLowPass_Run( curve->values, count, width, 1.0 / curves->step, cutoff, error ) );
	for ( int i = 0; rotation && i < count; ++i )
		lmbQuat_Normalize( curve->values + 4 * (size_t)i, curve->values + 4 * (size_t)i );
	return lmbSpline_Curvatures( curve->values, count, width, curves->step, curve->curvatures, error );
}

/* Files can hold numbers that overflow when nodes multiply; nothing behind the import should see them. */
static lmbStatus CheckPoses( const lmbMotion *motion, lmbError *error )
{
	const lmbCharacter *character = motion->character;
	double *bones = malloc( 12 * sizeof( double ) * (size_t)character->boneCount );
	if ( bones == NULL )
		return lmbError_Memory( error );
	bool finite = true;
	for ( int i = 0; i < motion->curves->keyCount && finite; ++i )
	{
		lmbMotion_Pose( motion, motion->duration * i / ( motion->curves->keyCount - 1 ), bones );
		for ( int k = 0; k < 12 * character->boneCount; ++k )
			finite = finite && fabs( bones[k] ) < 1e12;
	}
	free( bones );
	if ( finite )
		return lmb_statusOk;
	return lmbError_Set(
	    error, lmb_statusNumerical,
	    "%s: the animation \"%.100s\" moves joints beyond 1e12 m; repair it and export again",
	    character->path, motion->name );
}

static lmbStatus Make( lmbMotion *motion, int clip, const lmbMotionDef *def, lmbError *error )
{
	const lmbCharacter *character = motion->character;
	const lmbClip *source = &character->clips[clip];
	const lmbRigClip *channels = &character->rig->clips[clip];
	motion->name = source->name;
	motion->curves = LMB_NEW( &motion->arena, lmbMotionCurves, 1 );
	if ( motion->curves == NULL )
		return lmbError_Memory( error );
	lmbMotionCurves *curves = motion->curves;
	double length = source->end - source->start;
	double rate = def->keyRate != 0.0 ? def->keyRate : DensestRate( channels );
	double intervals = fmax( ceil( length * rate - 1e-6 ), 1.0 );
	if ( intervals > (double)numberLimit )
		return lmbError_Set( error, lmb_statusUnsupported, "%s: \"%.100s\" is %g s long; cut it",
		                     character->path, source->name, length );
	curves->keyCount = (int)intervals + 1;
	curves->step = length / intervals;
	curves->firstKey = source->start;
	curves->clip = clip;
	if ( def->cutoff != 0.0 && !( def->cutoff > 0.0 && def->cutoff < 0.5 / curves->step ) )
		return lmbError_Set(
		    error, lmb_statusInvalidArgument,
		    "cutoff %g Hz: must be 0 (none) or between 0 and half the key rate of \"%.100s\", "
		    "%g Hz",
		    def->cutoff, source->name, 0.5 / curves->step );
	LMB_TRY( Allocate( motion, channels, error ) );
	for ( int i = 0; i < channels->channelCount; ++i )
		if ( MovesSkeleton( &channels->channels[i] ) )
			LMB_TRY( MakeCurve( motion, &channels->channels[i], def->cutoff, error ) );

	double used = length - def->start;
	if ( def->duration > 0.0 )
		used = fmin( used, def->duration );
	curves->from = source->start + def->start;
	curves->warpIn = fmin( def->warpIn, 2.0 * used );
	motion->duration = used + 0.5 * curves->warpIn;
	return CheckPoses( motion, error );
}

lmbStatus lmbMotion_Make( const lmbCharacter *character, int clip, const lmbMotionDef *def, lmbMotion **out,
                          lmbError *error )
{
	*out = NULL;
	LMB_TRY( CheckDef( character, clip, def, error ) );
	lmbMotion *motion = calloc( 1, sizeof( *motion ) );
	if ( motion == NULL )
		return lmbError_Memory( error );
	motion->character = character;
	lmbStatus status = Make( motion, clip, def, error );
	if ( status == lmb_statusOk )
		*out = motion;
	else
		lmbMotion_Free( motion );
	return status;
}

void lmbMotion_Free( lmbMotion *motion )
{
	if ( motion == NULL )
		return;
	lmbArena_Free( &motion->arena );
	free( motion );
}

/* While x = t / warpIn runs from 0 to 1 the rate of clip time is 6 x^5 - 15 x^4 + 10 x^3: from 0 to 1,
 * first and second derivative 0 at both ends. Its integral is half of warpIn in the end. */
double lmbMotion_ClipTime( const lmbMotion *motion, double time )
{
	const lmbMotionCurves *curves = motion->curves;
	time = time > 0.0 ? fmin( time, motion->duration ) : 0.0;
	if ( time >= curves->warpIn )
		return curves->from + time - 0.5 * curves->warpIn;
	double x = time / curves->warpIn;
	return curves->from + curves->warpIn * x * x * x * x * ( x * x - 3.0 * x + 2.5 );
}

static void SampleCurve( const lmbCurve *curve, double step, int key, double f, double *out )
{
	size_t w = (size_t)curve->width;
	const double *y0 = curve->values + (size_t)key * w, *y1 = y0 + w;
	const double *m0 = curve->curvatures + (size_t)key * w, *m1 = m0 + w;
	double e = 1.0 - f, scale = step * step / 6.0;
	double c0 = scale * ( e * e * e - e ), c1 = scale * ( f * f * f - f );
	for ( size_t c = 0; c < w; ++c )
		out[c] = e * y0[c] + f * y1[c] + c0 * m0[c] + c1 * m1[c];
}

void lmbMotion_Local( const lmbMotion *motion, double time, double *local )
{
	const lmbMotionCurves *curves = motion->curves;
	lmbRig_SampleClip( motion->character->rig, -1, 0.0, local );
	double position = ( lmbMotion_ClipTime( motion, time ) - curves->firstKey ) / curves->step;
	double whole = fmin( fmax( floor( position ), 0.0 ), (double)( curves->keyCount - 2 ) );
	double f = fmin( fmax( position - whole, 0.0 ), 1.0 );
	for ( int i = 0; i < curves->curveCount; ++i )
	{
		const lmbCurve *curve = &curves->curves[i];
		double *out = local + 10 * (size_t)curve->live + curve->offset;
		SampleCurve( curve, curves->step, (int)whole, f, out );
		if ( curve->offset == 3 )
			lmbQuat_Normalize( out, out );
	}
}

void lmbMotion_Pose( const lmbMotion *motion, double time, double *bones )
{
	int count = motion->character->rig->liveCount;
	double local[10 * ( count > 0 ? count : 1 )];
	lmbMotion_Local( motion, time, local );
	lmbRig_Pose( motion->character, local, bones );
}

void lmbPose_FromLocalRotations( const lmbCharacter *character, const double *rotations, const double *root,
                                 double *bones )
{
	double identity[12];
	lmbMat34_Identity( identity );
	for ( int b = 0; b < character->boneCount; ++b )
	{
		int parent = character->bones[b].parent;
		const double *above = parent >= 0 ? bones + 12 * (size_t)parent : root != NULL ? root : identity;
		const double *frame = character->bones[b].bind;
		const double joint[3] = { frame[3], frame[7], frame[11] };
		double turn[9], linear[9], aboveLinear[9], place[3], moved[3], *bone = bones + 12 * (size_t)b;
		lmbQuat_ToMat33( turn, rotations + 4 * (size_t)b );
		lmbMat34_Linear( aboveLinear, above );
		lmbMat33_Multiply( linear, aboveLinear, turn );
		lmbMat34_Point( place, above, joint );
		lmbMat33_Apply( moved, linear, joint );
		for ( int i = 0; i < 3; ++i )
		{
			memcpy( bone + 4 * i, linear + 3 * i, 3 * sizeof( double ) );
			bone[4 * i + 3] = place[i] - moved[i];
		}
	}
}

void lmbPose_LocalRotations( const lmbCharacter *character, const double *bones, double *rotations )
{
	int count = character->boneCount;
	double turns[4 * ( count > 0 ? count : 1 )];
	lmbSkin_BoneQuaternions( count, bones, turns );
	for ( int b = 0; b < count; ++b )
	{
		int parent = character->bones[b].parent;
		const double *turn = turns + 4 * (size_t)b;
		double *out = rotations + 4 * (size_t)b;
		if ( parent < 0 )
		{
			memcpy( out, turn, 4 * sizeof( double ) );
			continue;
		}
		const double *above = turns + 4 * (size_t)parent;
		const double back[4] = { -above[0], -above[1], -above[2], above[3] };
		lmbQuat_Multiply( out, back, turn );
	}
}
