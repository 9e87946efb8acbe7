/* The bake's animations: those of the file widened to the new number of morph targets, and the new one. */
#include "formats/bake_glb.h"

#include "base/math3.h"

#include <stdio.h>
#include <string.h>

static const lmbBakedNode *FindBaked( const lmbBakeFile *file, int node )
{
	for ( int n = 0; n < file->nodeCount; ++n )
		if ( file->nodes[n].node == node )
			return &file->nodes[n];
	return NULL;
}

/* --- animations that were there --- */

static int SamplerUses( const json_t *channels, int sampler )
{
	int uses = 0;
	for ( size_t i = 0; i < json_array_size( channels ); ++i )
	{
		const json_t *value = json_object_get( json_array_get( channels, i ), "sampler" );
		uses += json_is_number( value ) && (int)json_number_value( value ) == sampler ? 1 : 0;
	}
	return uses;
}

/* A weights channel must have a number per target: give the new ones zeros. */
static lmbStatus WidenChannel( lmbBakeFile *file, json_t *animation, json_t *channelJson, int samplerIndex,
                               const lmbChannel *channel, int more, lmbError *error )
{
	size_t per = channel->interpolation == lmb_interpolationCubic ? 3 : 1, width = (size_t)channel->width;
	size_t entries = (size_t)channel->keyCount * per, wide = width + (size_t)more;
	lmbArena scratch = { 0 };
	float *values = LMB_NEW( &scratch, float, entries *wide );
	if ( values == NULL )
		return lmbError_Memory( error );
	for ( size_t i = 0; i < entries; ++i )
		for ( size_t k = 0; k < width; ++k )
			values[i * wide + k] = (float)channel->values[i * width + k];
	int accessor =
	    lmbGlbWriter_AddFloats( &file->writer, "SCALAR", values, entries * wide, lmb_glbData, false );
	lmbArena_Free( &scratch );
	json_t *samplers = json_object_get( animation, "samplers" );
	json_t *sampler = json_array_get( samplers, (size_t)samplerIndex );
	if ( SamplerUses( json_object_get( animation, "channels" ), samplerIndex ) > 1 )
	{
		sampler = json_copy( sampler );
		if ( sampler == NULL || json_array_append_new( samplers, sampler ) != 0 ||
		     json_object_set_new( channelJson, "sampler",
		                          json_integer( (json_int_t)json_array_size( samplers ) - 1 ) ) != 0 )
			return lmbError_Memory( error );
	}
	if ( json_object_set_new( sampler, "output", json_integer( accessor ) ) != 0 )
		return lmbError_Memory( error );
	return lmb_statusOk;
}

lmbStatus lmbBakeFile_WidenWeights( lmbBakeFile *file, lmbError *error )
{
	const lmbRig *rig = file->character->rig;
	for ( int c = 0; c < file->character->clipCount; ++c )
	{
		json_t *animation = lmbBakeFile_Entry( file, "animations", rig->clips[c].animation );
		json_t *channels = json_object_get( animation, "channels" );
		for ( int i = 0; i < rig->clips[c].channelCount; ++i )
		{
			const lmbChannel *channel = &rig->clips[c].channels[i];
			if ( channel->path != lmb_pathWeights || FindBaked( file, channel->node ) == NULL )
				continue;
			json_t *channelJson = json_array_get( channels, (size_t)channel->index );
			int sampler = (int)json_number_value( json_object_get( channelJson, "sampler" ) );
			LMB_TRY(
			    WidenChannel( file, animation, channelJson, sampler, channel, file->basis->targets, error ) );
		}
	}
	return lmb_statusOk;
}

/* --- the new animation --- */

typedef struct NewAnimation
{
	lmbBakeFile *file;
	json_t *samplers, *channels;
	int times, ends; /* accessors: every frame, and the first and last only */
} NewAnimation;

static double FrameTime( const lmbBakeFile *file, int frame )
{
	return frame / file->frames->rate;
}

static lmbStatus AddTimes( NewAnimation *animation, lmbError *error )
{
	lmbBakeFile *file = animation->file;
	int count = file->frames->frameCount;
	float *times = LMB_NEW( &file->arena, float, count );
	if ( times == NULL )
		return lmbError_Memory( error );
	for ( int f = 0; f < count; ++f )
		times[f] = (float)FrameTime( file, f );
	animation->times =
	    lmbGlbWriter_AddFloats( &file->writer, "SCALAR", times, (size_t)count, lmb_glbData, true );
	const float ends[2] = { times[0], times[count - 1] };
	animation->ends = count < 2
	                      ? animation->times
	                      : lmbGlbWriter_AddFloats( &file->writer, "SCALAR", ends, 2, lmb_glbData, true );
	return lmb_statusOk;
}

/* A channel from values (frameCount x width); one that never changes keeps its ends only. */
static lmbStatus AddChannel( NewAnimation *animation, int node, const char *path, const float *values,
                             int width, lmbError *error )
{
	lmbBakeFile *file = animation->file;
	size_t count = (size_t)file->frames->frameCount, w = (size_t)width;
	bool constant = true;
	for ( size_t f = 1; f < count && constant; ++f )
		constant = memcmp( values, values + f * w, w * sizeof( float ) ) == 0;
	size_t kept = constant && count > 2 ? 2 : count;
	bool scalar = strcmp( path, "weights" ) == 0;
	int output = lmbGlbWriter_AddFloats( &file->writer,
	                                     scalar       ? "SCALAR"
	                                     : width == 3 ? "VEC3"
	                                                  : "VEC4",
	                                     values, kept * ( scalar ? w : 1 ), lmb_glbData, false );
	json_t *sampler =
	    json_pack( "{s:i, s:i, s:s}", "input", kept == count ? animation->times : animation->ends, "output",
	               output, "interpolation", "LINEAR" );
	if ( sampler == NULL || json_array_append_new( animation->samplers, sampler ) != 0 )
		return lmbError_Memory( error );
	json_t *channel =
	    json_pack( "{s:I, s:{s:i, s:s}}", "sampler", (json_int_t)json_array_size( animation->samplers ) - 1,
	               "target", "node", node, "path", path );
	if ( channel == NULL || json_array_append_new( animation->channels, channel ) != 0 )
		return lmbError_Memory( error );
	return lmb_statusOk;
}

/* glTF allows an animation on translation, rotation and scale only, not on a matrix. */
static lmbStatus ReplaceMatrix( lmbBakeFile *file, const lmbRigNode *live, lmbError *error )
{
	json_t *node = lmbBakeFile_Entry( file, "nodes", live->node );
	const double *l = live->local;
	if ( json_object_get( node, "matrix" ) == NULL )
		return lmb_statusOk;
	json_object_del( node, "matrix" );
	json_t *parts = json_pack( "{s:[f,f,f], s:[f,f,f,f], s:[f,f,f]}", "translation", l[0], l[1], l[2],
	                           "rotation", l[3], l[4], l[5], l[6], "scale", l[7], l[8], l[9] );
	int failed = parts == NULL ? -1 : json_object_update( node, parts );
	json_decref( parts );
	return failed != 0 ? lmbError_Memory( error ) : lmb_statusOk;
}

/* Joints and the nodes above them, from the motion's own curves. */
static lmbStatus AddSkeleton( NewAnimation *animation, lmbError *error )
{
	static const char *const paths[] = { "translation", "rotation", "scale" };
	lmbBakeFile *file = animation->file;
	const lmbRig *rig = file->character->rig;
	const lmbMotionCurves *curves = file->frames->motion->curves;
	size_t count = (size_t)file->frames->frameCount;
	lmbArena scratch = { 0 };
	double *local = LMB_NEW( &scratch, double, 10 * (size_t)rig->liveCount );
	float *values = LMB_NEW( &scratch, float, 4 * count * (size_t)curves->curveCount );
	lmbStatus status = local != NULL && values != NULL ? lmb_statusOk : lmbError_Memory( error );
	for ( size_t f = 0; status == lmb_statusOk && f < count; ++f )
	{
		lmbMotion_Local( file->frames->motion, FrameTime( file, (int)f ), local );
		for ( int c = 0; c < curves->curveCount; ++c )
		{
			const lmbCurve *curve = &curves->curves[c];
			size_t w = (size_t)curve->width;
			float *out = values + 4 * count * (size_t)c + f * w;
			double same = 0.0;
			for ( size_t i = 0; i < w; ++i )
			{
				out[i] = (float)local[10 * (size_t)curve->live + (size_t)curve->offset + i];
				same += f > 0 ? (double)out[i] * (double)out[(ptrdiff_t)i - (ptrdiff_t)w] : 0.0;
			}
			for ( size_t i = 0; curve->offset == 3 && same < 0.0 && i < w; ++i )
				out[i] = -out[i];
		}
	}
	for ( int c = 0; status == lmb_statusOk && c < curves->curveCount; ++c )
	{
		const lmbCurve *curve = &curves->curves[c];
		const lmbRigNode *live = &rig->live[curve->live];
		status = ReplaceMatrix( file, live, error );
		if ( status == lmb_statusOk )
			status = AddChannel( animation, live->node,
			                     paths[curve->offset == 0   ? 0
			                           : curve->offset == 3 ? 1
			                                                : 2],
			                     values + 4 * count * (size_t)c, curve->width, error );
	}
	lmbArena_Free( &scratch );
	return status;
}

/* Channels of the clip that no joint follows: other nodes, and other meshes' weights. */
static lmbStatus AddOthers( NewAnimation *animation, lmbError *error )
{
	static const char *const paths[] = { "translation", "rotation", "scale", "weights" };
	lmbBakeFile *file = animation->file;
	const lmbRigClip *clip = &file->character->rig->clips[file->frames->motion->curves->clip];
	size_t count = (size_t)file->frames->frameCount;
	for ( int i = 0; i < clip->channelCount; ++i )
	{
		const lmbChannel *channel = &clip->channels[i];
		bool weights = channel->path == lmb_pathWeights;
		if ( weights ? FindBaked( file, channel->node ) != NULL : channel->live >= 0 )
			continue;
		size_t w = (size_t)channel->width;
		lmbArena scratch = { 0 };
		double *sample = LMB_NEW( &scratch, double, w );
		float *values = LMB_NEW( &scratch, float, count *w );
		lmbStatus status = sample != NULL && values != NULL ? lmb_statusOk : lmbError_Memory( error );
		for ( size_t f = 0; status == lmb_statusOk && f < count; ++f )
		{
			lmbChannel_Sample( channel, lmbMotion_ClipTime( file->frames->motion, FrameTime( file, (int)f ) ),
			                   sample );
			for ( size_t k = 0; k < w; ++k )
				values[f * w + k] = (float)sample[k];
		}
		if ( status == lmb_statusOk )
			status =
			    AddChannel( animation, channel->node, paths[channel->path], values, channel->width, error );
		lmbArena_Free( &scratch );
		LMB_TRY( status );
	}
	return lmb_statusOk;
}

/* The weights that a mesh's own targets have without animation. */
static void DefaultWeights( const lmbBakeFile *file, const lmbBakedNode *baked, double *out )
{
	json_t *own = json_object_get( lmbBakeFile_Entry( file, "nodes", baked->node ), "weights" );
	json_t *mesh = json_object_get( lmbBakeFile_Entry( file, "meshes", baked->mesh ), "weights" );
	for ( int k = 0; k < baked->before; ++k )
		out[k] = json_number_value( json_array_get( own != NULL ? own : mesh, (size_t)k ) );
}

static lmbStatus AddWeights( NewAnimation *animation, const lmbBakedNode *baked, lmbError *error )
{
	lmbBakeFile *file = animation->file;
	const lmbRigClip *clip = &file->character->rig->clips[file->frames->motion->curves->clip];
	const lmbChannel *old = NULL;
	for ( int i = 0; i < clip->channelCount; ++i )
		if ( clip->channels[i].path == lmb_pathWeights && clip->channels[i].node == baked->node &&
		     clip->channels[i].width == baked->before )
			old = &clip->channels[i];
	size_t count = (size_t)file->frames->frameCount, before = (size_t)baked->before;
	size_t own = (size_t)file->basis->targets, w = before + own;
	lmbArena scratch = { 0 };
	double *sample = LMB_NEW( &scratch, double, before );
	float *values = LMB_NEW( &scratch, float, count *w );
	if ( sample == NULL || values == NULL )
	{
		lmbArena_Free( &scratch );
		return lmbError_Memory( error );
	}
	DefaultWeights( file, baked, sample );
	for ( size_t f = 0; f < count; ++f )
	{
		if ( old != NULL )
			lmbChannel_Sample( old, lmbMotion_ClipTime( file->frames->motion, FrameTime( file, (int)f ) ),
			                   sample );
		for ( size_t k = 0; k < before; ++k )
			values[f * w + k] = (float)sample[k];
		memcpy( values + f * w + before, file->basis->weights + f * own, own * sizeof( float ) );
	}
	lmbStatus status = AddChannel( animation, baked->node, "weights", values, (int)w, error );
	lmbArena_Free( &scratch );
	return status;
}

lmbStatus lmbBakeFile_AddAnimation( lmbBakeFile *file, lmbError *error )
{
	json_t *animations = json_object_get( file->writer.root, "animations" );
	json_t *made = json_pack( "{s:s, s:[], s:[]}", "name", file->name, "samplers", "channels" );
	if ( made == NULL || json_array_append_new( animations, made ) != 0 )
		return lmbError_Memory( error );
	NewAnimation animation = { .file = file,
	                           .samplers = json_object_get( made, "samplers" ),
	                           .channels = json_object_get( made, "channels" ) };
	LMB_TRY( AddTimes( &animation, error ) );
	LMB_TRY( AddSkeleton( &animation, error ) );
	LMB_TRY( AddOthers( &animation, error ) );
	for ( int n = 0; n < file->nodeCount; ++n )
		LMB_TRY( AddWeights( &animation, &file->nodes[n], error ) );
	return lmb_statusOk;
}
