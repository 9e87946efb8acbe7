#include "flesh/pipeline_results.h"

#include "base/files.h"
#include "evaluate/details_file.h"
#include "evaluate/report.h"
#include "evaluate/sheet.h"
#include "flesh/model.h"
#include "formats/bake.h"

#include <math.h>
#include <string.h>

lmbStatus lmbPipeline_RunEvaluate( void *context, json_t *facts, lmbError *error )
{
	lmbPipeline *pipeline = context;
	LMB_TRY( lmbPipeline_NeedTissue( pipeline, error ) );
	LMB_TRY( lmbPipeline_NeedModes( pipeline, error ) );
	LMB_TRY( lmbPipeline_NeedDataset( pipeline, error ) );
	LMB_TRY( lmbPipeline_NeedSprings( pipeline, error ) );
	lmbEvaluateInput input = { .character = pipeline->character,
	                           .tissue = pipeline->tissue,
	                           .modes = pipeline->modes,
	                           .springs = pipeline->springs,
	                           .dataset = pipeline->dataset,
	                           .model = lmbStages_Path( &pipeline->stages, "model.safetensors" ),
	                           .softSkin = pipeline->project->softSkin,
	                           .interpolation = pipeline->project->fit.interpolation };
	if ( input.model == NULL )
		return lmbError_Memory( error );
	lmbEvaluation *evaluation;
	LMB_TRY( lmbEvaluate( &input, &pipeline->stages.job, &evaluation, error ) );
	json_t *report = lmbReport_Json( evaluation );
	int failed = report == NULL || json_object_update( facts, report ) != 0;
	json_decref( report );
	char *path = lmbStages_Path( &pipeline->stages, lmbDetailsFile_Name );
	lmbStatus status = failed || path == NULL ? lmbError_Memory( error ) : lmb_statusOk;
	if ( status == lmb_statusOk )
		status = lmbDetailsFile_Write(
		    lmbReport_Details( pipeline->project->name, evaluation, pipeline->character, pipeline->springs ),
		    path, error );
	lmbEvaluation_Free( evaluation );
	lmbStages_Wrote( &pipeline->stages, lmbDetailsFile_Name );
	return status;
}

/* The springs that are wanted, or the best below them that the model has. */
static lmbLayer BestLayer( const lmbFleshInfo *info, lmbLayer wanted )
{
	if ( wanted == lmb_layerHybrid && !info->hasHybrid )
		wanted = lmb_layerModal;
	if ( wanted == lmb_layerModal && !info->hasFittedModes )
		wanted = lmb_layerModalUnfitted;
	if ( wanted == lmb_layerModalUnfitted && !info->hasModes )
		wanted = lmb_layerVertex;
	if ( wanted == lmb_layerVertex && !info->hasVertexSprings )
		wanted = info->hasModes ? lmb_layerModalUnfitted : lmb_layerNone;
	return wanted;
}

static const char *LayerName( lmbLayer layer )
{
	static const char *const names[] = { "still", "vertex", "modal_unfitted", "modal", "hybrid" };
	return names[layer];
}

/* The contact sheet. */

enum
{
	sheetRows = 4,
	sheetColumns = 4
};

/* The frame of each quarter of the sequence in which the tissue swings most. */
static void ChooseFrames( const lmbSequence *sequence, int frames[sheetRows] )
{
	size_t stride = 3 * (size_t)sequence->nodeCount;
	for ( int row = 0; row < sheetRows; ++row )
	{
		int from = row * sequence->frameCount / sheetRows,
		    to = ( row + 1 ) * sequence->frameCount / sheetRows;
		double most = -1.0;
		frames[row] = from;
		for ( int f = from; f < to; ++f )
		{
			double sum = 0.0;
			const float *still = sequence->still + (size_t)f * stride;
			const float *moving = sequence->moving + (size_t)f * stride;
			for ( size_t i = 0; i < stride; ++i )
				sum += ( (double)moving[i] - still[i] ) * ( (double)moving[i] - still[i] );
			if ( sequence->converged[f] == 0 || sum <= most )
				continue;
			most = sum;
			frames[row] = f;
		}
	}
}

/* Plays one column and keeps the chosen frames. skins [sheetRows]. */
static lmbStatus KeepFrames( const lmbModel *model, const lmbSequence *sequence, lmbLayer layer, bool network,
                             lmbTargetInterpolation interpolation, const int frames[sheetRows],
                             lmbArena *arena, const float **skins, lmbError *error )
{
	size_t bytes = 3 * (size_t)lmbFlesh_Info( model->flesh ).vertexCount * sizeof( float );
	lmbPlayer player;
	lmbStatus status = lmbPlayer_Open( &player, model, sequence, layer, network, interpolation, error );
	for ( int f = 0; f <= frames[sheetRows - 1] && status == lmb_statusOk; ++f )
	{
		const float *positions;
		status = lmbPlayer_Frame( &player, f, &positions, error );
		for ( int row = 0; row < sheetRows && status == lmb_statusOk; ++row )
		{
			if ( frames[row] != f )
				continue;
			float *copy = lmbArena_New( arena, bytes, 1 );
			if ( copy == NULL )
				status = lmbError_Memory( error );
			else
				skins[row] = memcpy( copy, positions, bytes );
		}
	}
	lmbPlayer_Close( &player );
	return status;
}

static lmbStatus KeepTruth( const lmbPipeline *pipeline, const lmbSequence *sequence,
                            const int frames[sheetRows], lmbArena *arena, const float **skins,
                            lmbError *error )
{
	size_t nodes = (size_t)pipeline->tissue->nodeCount, vertices = (size_t)pipeline->tissue->vertexCount;
	double *scratch = LMB_NEW( arena, double, 3 * ( nodes + vertices ) );
	for ( int row = 0; row < sheetRows; ++row )
	{
		float *skin = LMB_NEW( arena, float, 3 * vertices );
		if ( scratch == NULL || skin == NULL )
			return lmbError_Memory( error );
		lmbSequence_Skin( sequence, pipeline->tissue, pipeline->character, frames[row],
		                  sequence->moving + (size_t)frames[row] * 3 * nodes, scratch, skin );
		skins[row] = skin;
	}
	return lmb_statusOk;
}

static lmbStatus DrawSheet( lmbPipeline *pipeline, const lmbModel *model, const lmbSequence *sequence,
                            lmbArena *arena, lmbError *error )
{
	lmbFleshInfo info = lmbFlesh_Info( model->flesh );
	lmbTargetInterpolation interpolation = pipeline->project->fit.interpolation;
	lmbLayer best = BestLayer( &info, lmb_layerHybrid );
	int frames[sheetRows];
	ChooseFrames( sequence, frames );
	const float *skins[sheetColumns][sheetRows] = { 0 };
	LMB_TRY(
	    KeepFrames( model, sequence, lmb_layerNone, false, interpolation, frames, arena, skins[0], error ) );
	LMB_TRY(
	    KeepFrames( model, sequence, lmb_layerNone, true, interpolation, frames, arena, skins[1], error ) );
	LMB_TRY( KeepFrames( model, sequence, best, true, interpolation, frames, arena, skins[2], error ) );
	LMB_TRY( KeepTruth( pipeline, sequence, frames, arena, skins[3], error ) );
	lmbSheetColumn columns[sheetColumns] = { { "skinning", skins[0] },
	                                         { "network", skins[1] },
	                                         { LayerName( best ), skins[2] },
	                                         { "simulation", skins[3] } };
	double times[sheetRows];
	for ( int row = 0; row < sheetRows; ++row )
		times[row] = frames[row] / sequence->rate;
	char title[256], name[256];
	snprintf( title, sizeof( title ), "%s - %s (%s)", pipeline->project->name, sequence->name,
	          sequence->trained ? "trained" : "held out" );
	lmbSheetDef def = lmbDefaultSheetDef();
	def.title = title;
	def.vertexCount = pipeline->character->vertexCount;
	def.triangleCount = pipeline->character->triangleCount;
	def.triangles = pipeline->character->triangles;
	def.weights = pipeline->tissue->softness;
	def.columnCount = sheetColumns;
	def.columns = columns;
	def.truth = sheetColumns - 1;
	def.instantCount = sheetRows;
	def.times = times;
	lmbStages_FileName( name, sizeof( name ), "sheet-", sequence->name, ".png" );
	char *path = lmbStages_Path( &pipeline->stages, name );
	LMB_TRY( path != NULL ? lmbSheet_Write( &def, path, error ) : lmbError_Memory( error ) );
	lmbStages_Wrote( &pipeline->stages, name );
	return lmb_statusOk;
}

lmbStatus lmbPipeline_RunSheet( void *context, json_t *facts, lmbError *error )
{
	lmbPipeline *pipeline = context;
	json_t *files = json_array();
	json_object_set_new( facts, "files", files );
	if ( !pipeline->project->sheet )
		return lmb_statusOk;
	LMB_TRY( lmbPipeline_NeedTissue( pipeline, error ) );
	LMB_TRY( lmbPipeline_NeedDataset( pipeline, error ) );
	const lmbDataset *dataset = pipeline->dataset;
	lmbModel model;
	lmbStatus status =
	    lmbModel_Open( &model, lmbStages_Path( &pipeline->stages, "model.safetensors" ), error );
	bool anyHeldOut = false;
	for ( int i = 0; i < dataset->sequenceCount; ++i )
		anyHeldOut = anyHeldOut || !dataset->sequences[i].trained;
	for ( int i = 0; i < dataset->sequenceCount && status == lmb_statusOk; ++i )
	{
		const lmbSequence *sequence = &dataset->sequences[i];
		if ( ( anyHeldOut && sequence->trained ) || sequence->frameCount == 0 )
			continue;
		if ( lmbJob_Cancelled( &pipeline->stages.job ) )
		{
			status = lmbJob_CancelledStatus( error );
			break;
		}
		lmbArena arena = { 0 };
		status = DrawSheet( pipeline, &model, sequence, &arena, error );
		lmbArena_Free( &arena );
		lmbJob_Progress( &pipeline->stages.job, "motions", i + 1, dataset->sequenceCount, "" );
	}
	lmbModel_Close( &model );
	const char *name;
	json_t *value;
	json_object_foreach( pipeline->stages.written, name, value )
	    json_array_append_new( files, json_string( name ) );
	return status;
}

/* The bake. */

/* The model is stepped at least this often, so that its target is followed between sparse keys. */
static const double bakeStepRate = 60.0;

/* The skin at rate over a motion, through the runtime. */
static lmbStatus PlayMotion( lmbPipeline *pipeline, const lmbModel *model, const lmbMotion *motion,
                             lmbArena *arena, lmbBakeFrames *out, lmbError *error )
{
	const lmbProject *project = pipeline->project;
	double rate = project->bake.rate;
	int boneCount = pipeline->character->boneCount, substeps = (int)ceil( bakeStepRate / rate );
	int frameCount = (int)floor( motion->duration * rate + 1e-9 ) + 1;
	size_t skinNumbers = 3 * (size_t)pipeline->character->vertexCount;
	lmbSequence sequence = { .name = motion->name,
	                         .frameCount = ( frameCount - 1 ) * substeps + 1,
	                         .boneCount = boneCount,
	                         .rate = rate * substeps };
	sequence.bones = LMB_NEW( arena, double, (size_t)sequence.frameCount * 12 * (size_t)boneCount );
	float *positions = LMB_NEW( arena, float, (size_t)frameCount *skinNumbers );
	if ( sequence.bones == NULL || positions == NULL )
		return lmbError_Memory( error );
	for ( int f = 0; f < sequence.frameCount; ++f )
		lmbMotion_Pose( motion, f / sequence.rate, sequence.bones + (size_t)f * 12 * (size_t)boneCount );
	lmbFleshInfo info = lmbFlesh_Info( model->flesh );
	lmbPlayer player;
	lmbStatus status = lmbPlayer_Open( &player, model, &sequence, BestLayer( &info, project->bake.layer ),
	                                   info.hasNetwork, project->fit.interpolation, error );
	for ( int f = 0; f < sequence.frameCount && status == lmb_statusOk; ++f )
	{
		const float *skin;
		status = lmbPlayer_Frame( &player, f, &skin, error );
		if ( status == lmb_statusOk && f % substeps == 0 )
			memcpy( positions + (size_t)( f / substeps ) * skinNumbers, skin, skinNumbers * sizeof( float ) );
		if ( status == lmb_statusOk && lmbJob_Cancelled( &pipeline->stages.job ) )
			status = lmbJob_CancelledStatus( error );
	}
	lmbPlayer_Close( &player );
	*out = ( lmbBakeFrames ){ motion, frameCount, rate, positions };
	return status;
}

static lmbStatus BakeCaches( lmbPipeline *pipeline, const lmbBakeFrames *frames, lmbPointCacheFormat format,
                             const char *subfolder, json_t *facts, lmbError *error )
{
	char name[200];
	char *folder = lmbStages_Path( &pipeline->stages, subfolder );
	int count = 0;
	LMB_TRY( folder != NULL ? lmbFolder_Make( folder, error ) : lmbError_Memory( error ) );
	lmbStages_FileName( name, sizeof( name ), "", frames->motion->name, "" );
	LMB_TRY( lmbBake_WritePointCaches( pipeline->character, frames, format, folder, name, &count, error ) );
	lmbStages_Wrote( &pipeline->stages, subfolder );
	json_object_set_new( facts, subfolder, json_integer( count ) );
	return lmb_statusOk;
}

static lmbStatus BakeUsd( lmbPipeline *pipeline, const lmbBakeFrames *frames, lmbError *error )
{
	char name[256], path[4096];
	char *folder = lmbStages_Path( &pipeline->stages, "usda" );
	LMB_TRY( folder != NULL ? lmbFolder_Make( folder, error ) : lmbError_Memory( error ) );
	lmbStages_FileName( name, sizeof( name ), "", frames->motion->name, ".usda" );
	LMB_TRY( lmbPath_Join( path, sizeof( path ), folder, name, error ) );
	LMB_TRY( lmbBake_WriteUsd( pipeline->character, frames, path, error ) );
	lmbStages_Wrote( &pipeline->stages, "usda" );
	return lmb_statusOk;
}

/* Soft parts that swing by a twentieth of the body, all vertices taken together, are no flesh: the unit, the
 * stiffness or the bones are not what they should be, or the animation jumps. */
static void WarnOfWildness( lmbPipeline *pipeline, const char *motion, double swing )
{
	const lmbCharacter *character = pipeline->character;
	double low[3] = { HUGE_VAL, HUGE_VAL, HUGE_VAL }, high[3] = { -HUGE_VAL, -HUGE_VAL, -HUGE_VAL };
	for ( size_t i = 0; i < 3 * (size_t)character->vertexCount; ++i )
	{
		low[i % 3] = fmin( low[i % 3], character->bind[i] );
		high[i % 3] = fmax( high[i % 3], character->bind[i] );
	}
	double size = fmax( fmax( high[0] - low[0], high[1] - low[1] ), high[2] - low[2] );
	if ( swing > 0.05 * size )
		lmbJob_Note(
		    &pipeline->stages.job,
		    "bake: in \"%s\" the soft parts swing by %.3g m on a body of %.3g m: too much for flesh. "
		    "Look at the unit, stiffen the tissue (tissue.materials, young), keep parts rigid "
		    "(tissue.rigid), or "
		    "smooth the motion (motions.cutoff)",
		    motion, swing, size );
}

static lmbStatus BakeMotion( lmbPipeline *pipeline, const lmbModel *model, const lmbMotion *motion,
                             lmbArena *arena, json_t *facts, lmbError *error )
{
	const lmbProjectBake *bake = &pipeline->project->bake;
	lmbBakeFrames frames;
	LMB_TRY( PlayMotion( pipeline, model, motion, arena, &frames, error ) );
	if ( bake->glb )
	{
		char name[256];
		lmbStages_FileName( name, sizeof( name ), "baked-", motion->name, ".glb" );
		lmbBakeDef def = lmbDefaultBakeDef();
		lmbBakeReport report = { 0 };
		def.targets = bake->targets;
		char *path = lmbStages_Path( &pipeline->stages, name );
		LMB_TRY( path != NULL ? lmbBake_WriteGlb( pipeline->character, &def, &frames, path,
		                                          &pipeline->stages.job, &report, error )
		                      : lmbError_Memory( error ) );
		lmbStages_Wrote( &pipeline->stages, name );
		json_object_set_new( facts, "file", json_string( name ) );
		json_object_set_new( facts, "animation", json_string( report.name ) );
		json_object_set_new( facts, "targets", json_integer( report.targets ) );
		json_object_set_new( facts, "dynamics_rms_mm", json_real( 1e3 * report.dynamics ) );
		json_object_set_new( facts, "truncation_rms_mm", json_real( 1e3 * report.truncation ) );
		json_object_set_new( facts, "truncation_largest_mm", json_real( 1e3 * report.largestTruncation ) );
		WarnOfWildness( pipeline, motion->name, report.dynamics );
	}
	if ( bake->pc2 )
		LMB_TRY( BakeCaches( pipeline, &frames, lmb_cachePc2, "pc2", facts, error ) );
	if ( bake->mdd )
		LMB_TRY( BakeCaches( pipeline, &frames, lmb_cacheMdd, "mdd", facts, error ) );
	if ( bake->usda )
		LMB_TRY( BakeUsd( pipeline, &frames, error ) );
	return lmb_statusOk;
}

/* Whether the project wants a motion baked. */
static bool Wanted( const lmbProjectBake *bake, const char *name )
{
	for ( int i = 0; i < bake->motionCount; ++i )
		if ( strcmp( bake->motions[i], name ) == 0 )
			return true;
	return bake->motionCount == 0;
}

/* That each name in bake.motions is a motion. */
static lmbStatus CheckBakeMotions( const lmbPipeline *pipeline, lmbError *error )
{
	const lmbProjectBake *bake = &pipeline->project->bake;
	for ( int i = 0; i < bake->motionCount; ++i )
	{
		bool found = false;
		for ( int k = 0; k < pipeline->motionCount; ++k )
			found = found || strcmp( bake->motions[i], pipeline->motions[k]->name ) == 0;
		if ( !found )
			return lmbError_Set( error, lmb_statusNotFound,
			                     "%s: bake.motions: \"%s\" is not one of the project's motions",
			                     pipeline->project->file.path, bake->motions[i] );
	}
	return lmb_statusOk;
}

lmbStatus lmbPipeline_RunBake( void *context, json_t *facts, lmbError *error )
{
	lmbPipeline *pipeline = context;
	LMB_TRY( lmbPipeline_NeedMotions( pipeline, error ) );
	LMB_TRY( CheckBakeMotions( pipeline, error ) );
	lmbModel model;
	lmbStatus status =
	    lmbModel_Open( &model, lmbStages_Path( &pipeline->stages, "model.safetensors" ), error );
	for ( int i = 0; i < pipeline->motionCount && status == lmb_statusOk; ++i )
	{
		const lmbMotion *motion = pipeline->motions[i];
		if ( !Wanted( &pipeline->project->bake, motion->name ) )
			continue;
		lmbArena arena = { 0 };
		json_t *numbers = json_object();
		status = BakeMotion( pipeline, &model, motion, &arena, numbers, error );
		json_object_set_new( facts, motion->name, numbers );
		lmbArena_Free( &arena );
	}
	lmbModel_Close( &model );
	return status;
}
