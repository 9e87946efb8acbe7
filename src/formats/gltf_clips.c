/* Animation channels. */
#include "formats/character_rig.h"

#include "base/math3.h"

#include <stdio.h>
#include <string.h>

typedef struct ClipReader
{
	lmbCharacter *character;
	lmbArena *scratch;
	int equalTimes, foreign; /* for notes */
} ClipReader;

static lmbStatus ReadTimes( ClipReader *reader, const lmbJson *sampler, lmbChannel *channel, lmbError *error )
{
	lmbJson input = lmbJson_Key( sampler, "input" );
	lmbAccessor accessor;
	double *times = NULL;
	LMB_TRY( lmbGltf_Accessor( &reader->character->rig->gltf, &input, " SCALAR ", &accessor, error ) );
	LMB_TRY( lmbAccessor_Numbers( &accessor, &reader->character->arena, &times, error ) );
	for ( int i = 0; i < accessor.count; ++i )
	{
		if ( fabs( times[i] ) > 1e6 || ( i > 0 && times[i] < times[i - 1] ) )
			return lmbJson_Fail( &accessor.place, error, lmb_statusCorrupt,
			                     "key %d is at %g s, %s; export the animation again", i, times[i],
			                     fabs( times[i] ) > 1e6 ? "beyond 1e6 s" : "before the key in front of it" );
		if ( i > 0 && times[i] == times[i - 1] )
			reader->equalTimes += 1;
	}
	channel->times = times;
	channel->keyCount = accessor.count;
	return lmb_statusOk;
}

static lmbStatus ReadValues( ClipReader *reader, const lmbJson *sampler, lmbChannel *channel,
                             lmbError *error )
{
	static const char *const types[] = { " VEC3 ", " VEC4 ", " VEC3 ", " SCALAR " };
	lmbJson output = lmbJson_Key( sampler, "output" );
	lmbAccessor accessor;
	double *values = NULL;
	LMB_TRY(
	    lmbGltf_Accessor( &reader->character->rig->gltf, &output, types[channel->path], &accessor, error ) );
	LMB_TRY( lmbAccessor_Numbers( &accessor, &reader->character->arena, &values, error ) );
	int perKey = channel->interpolation == lmb_interpolationCubic ? 3 : 1;
	int entries = accessor.count / perKey;
	channel->width = channel->path == lmb_pathWeights ? entries / channel->keyCount : accessor.width;
	int expected = channel->path == lmb_pathWeights ? channel->width * channel->keyCount : channel->keyCount;
	if ( channel->width == 0 || entries != expected || accessor.count != entries * perKey )
		return lmbJson_Fail( &output, error, lmb_statusCorrupt,
		                     "%d values do not fit %d keys; export the animation again", accessor.count,
		                     channel->keyCount );
	channel->values = values;
	if ( channel->path != lmb_pathRotation )
		return lmb_statusOk;
	for ( int i = 0; i < channel->keyCount; ++i )
	{
		double *q = values + 4 * ( (size_t)i * (size_t)perKey + ( perKey == 3 ? 1 : 0 ) );
		if ( q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] < 1e-6 )
			return lmbJson_Fail( &accessor.place, error, lmb_statusNumerical,
			                     "key %d is no rotation (all zero); export the animation again", i );
		/* Integers miss unit length by up to 2e-5; a cubic's tangents belong to the value as stored. */
		if ( perKey == 1 )
			lmbQuat_Normalize( q, q );
	}
	return lmb_statusOk;
}

/* A node placed by a matrix that is animated all the same (the specification forbids it, files do it):
 * split the matrix, so that the parts that are not animated stay. */
static void SplitMatrix( lmbRigNode *node )
{
	double rotation[9];
	for ( int j = 0; j < 3; ++j )
	{
		double column[3] = { node->matrix[j], node->matrix[4 + j], node->matrix[8 + j] };
		double length = lmbLength( column );
		node->local[j] = node->matrix[4 * j + 3];
		node->local[7 + j] = length;
		for ( int i = 0; i < 3; ++i )
			rotation[3 * i + j] = length > 0.0 ? column[i] / length : i == j;
	}
	if ( lmbMat33_Determinant( rotation ) < 0.0 )
	{
		node->local[7] = -node->local[7];
		for ( int i = 0; i < 3; ++i )
			rotation[3 * i] = -rotation[3 * i];
	}
	lmbQuat_FromMat33( node->local + 3, rotation );
	node->fixed = false;
}

/* false in *kept: a channel of no interest (no node, or a path of an extension). */
static lmbStatus ReadTarget( ClipReader *reader, const lmbJson *place, lmbChannel *channel, bool *kept,
                             lmbError *error )
{
	static const char *const paths[] = { "translation", "rotation", "scale", "weights" };
	lmbRig *rig = reader->character->rig;
	lmbJson target = lmbJson_Key( place, "target" ), node = lmbJson_Key( &target, "node" );
	lmbJson path = lmbJson_Key( &target, "path" );
	const char *text = lmbJson_Text( &path );
	int64_t index = 0;
	*kept = false;
	if ( node.value == NULL )
	{
		reader->foreign += 1;
		return lmb_statusOk;
	}
	LMB_TRY( lmbJson_Int( &node, 0, rig->nodeCount - 1, &index, error ) );
	for ( int p = 0; p < 4; ++p )
		if ( text != NULL && strcmp( text, paths[p] ) == 0 )
		{
			channel->path = (lmbChannelPath)p;
			*kept = true;
		}
	channel->node = (int)index;
	channel->live = rig->liveOfNode[index];
	reader->foreign += *kept ? 0 : 1;
	return lmb_statusOk;
}

static lmbStatus ReadChannel( ClipReader *reader, const lmbJson *samplers, const lmbJson *place,
                              lmbChannel *channel, bool *kept, lmbError *error )
{
	static const char *const modes[] = { "LINEAR", "STEP", "CUBICSPLINE" };
	LMB_TRY( ReadTarget( reader, place, channel, kept, error ) );
	if ( !*kept )
		return lmb_statusOk;
	lmbJson samplerPlace = lmbJson_Key( place, "sampler" );
	int64_t index = 0;
	LMB_TRY( lmbJson_NeedInt( &samplerPlace, 0, lmbJson_Count( samplers ) - 1, &index, error ) );
	lmbJson sampler = lmbJson_Item( samplers, (int)index ), mode = lmbJson_Key( &sampler, "interpolation" );
	const char *text = mode.value != NULL ? lmbJson_Text( &mode ) : "LINEAR";
	int found = -1;
	for ( int i = 0; i < 3 && text != NULL; ++i )
		found = strcmp( text, modes[i] ) == 0 ? i : found;
	if ( found < 0 )
		return lmbJson_Fail(
		    &mode, error, lmb_statusUnsupported,
		    "is neither LINEAR, STEP nor CUBICSPLINE; bake the animation to keys and export again" );
	channel->interpolation = (lmbInterpolation)found;
	LMB_TRY( ReadTimes( reader, &sampler, channel, error ) );
	LMB_TRY( ReadValues( reader, &sampler, channel, error ) );
	lmbRigNode *node = channel->live >= 0 ? &reader->character->rig->live[channel->live] : NULL;
	if ( node != NULL && node->fixed && channel->path != lmb_pathWeights )
		SplitMatrix( node );
	return lmb_statusOk;
}

static lmbStatus ReadClip( ClipReader *reader, int index, lmbError *error )
{
	lmbCharacter *character = reader->character;
	lmbJson animations = lmbJson_Key( &character->rig->gltf.top, "animations" );
	lmbJson animation = lmbJson_Item( &animations, index ), name = lmbJson_Key( &animation, "name" );
	lmbJson channels = lmbJson_Key( &animation, "channels" ),
	        samplers = lmbJson_Key( &animation, "samplers" );
	lmbClip *clip = &character->clips[index];
	lmbRigClip *out = &character->rig->clips[index];
	out->animation = index;
	out->channels = LMB_NEW( &character->arena, lmbChannel, lmbJson_Count( &channels ) );
	char fallback[32];
	snprintf( fallback, sizeof( fallback ), "animation %d", index );
	const char *text = lmbJson_Text( &name );
	clip->name = lmbArena_String( &character->arena, text != NULL && text[0] != 0 ? text : fallback );
	if ( out->channels == NULL || clip->name == NULL )
		return lmbError_Memory( error );
	for ( int k = 0; k < lmbJson_Count( &channels ); ++k )
	{
		lmbJson place = lmbJson_Item( &channels, k );
		lmbChannel channel = { .index = k };
		bool kept = false;
		LMB_TRY( ReadChannel( reader, &samplers, &place, &channel, &kept, error ) );
		if ( !kept )
			continue;
		bool first = out->channelCount == 0;
		double start = channel.times[0], end = channel.times[channel.keyCount - 1];
		clip->start = first ? start : fmin( clip->start, start );
		clip->end = first ? end : fmax( clip->end, end );
		clip->keyCount = channel.keyCount > clip->keyCount ? channel.keyCount : clip->keyCount;
		out->channels[out->channelCount++] = channel;
	}
	return lmb_statusOk;
}

lmbStatus lmbGltf_ReadClips( lmbCharacter *character, lmbArena *scratch, lmbError *error )
{
	ClipReader reader = { .character = character, .scratch = scratch };
	lmbJson animations = lmbJson_Key( &character->rig->gltf.top, "animations" );
	int count = lmbJson_Count( &animations );
	if ( count > lmbRigClipLimit )
		return lmbJson_Fail( &animations, error, lmb_statusUnsupported,
		                     "%d animations, at most %d are read; split the file", count, lmbRigClipLimit );
	character->clips = LMB_NEW( &character->arena, lmbClip, count );
	character->rig->clips = LMB_NEW( &character->arena, lmbRigClip, count );
	if ( character->clips == NULL || character->rig->clips == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < count; ++i )
	{
		LMB_TRY( ReadClip( &reader, i, error ) );
		character->clipCount = i + 1;
	}
	if ( reader.equalTimes > 0 )
		lmbCharacter_Note( character,
		                   "%d animation keys share their time with the key before; the later one counts",
		                   reader.equalTimes );
	if ( reader.foreign > 0 )
		lmbCharacter_Note( character, "%d animation channels that do not move nodes are left alone",
		                   reader.foreign );
	return lmb_statusOk;
}
