/* The stages that make the model. Each reads its inputs from files, so that a resumed run sees what an
 * uninterrupted one sees. */
#include "flesh/pipeline_private.h"

#include "base/files.h"
#include "flesh/compact.h"
#include "flesh/model.h"
#include "flesh/pipeline_results.h"

#include <dirent.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static lmbStatus RunTissue( void *context, json_t *facts, lmbError *error )
{
	lmbPipeline *pipeline = context;
	LMB_TRY( lmbPipeline_NeedCharacter( pipeline, error ) );
	lmbTissueDef def;
	lmbTissueReport report = { 0 };
	lmbTissue *tissue;
	LMB_TRY( lmbProject_TissueDef( pipeline->project, &pipeline->stages.arena, &def, error ) );
	LMB_TRY( lmbTissue_Make( pipeline->character, &def, &pipeline->stages.job, &tissue, &report, error ) );
	lmbStages_Wrote( &pipeline->stages, "tissue.safetensors" );
	lmbStages_Wrote( &pipeline->stages, "tissue.vtu" );
	lmbStatus status =
	    lmbTissue_Write( tissue, lmbStages_Path( &pipeline->stages, "tissue.safetensors" ), error );
	if ( status == lmb_statusOk )
		status = lmbTissue_WriteVtu( tissue, lmbStages_Path( &pipeline->stages, "tissue.vtu" ), error );
	json_t *numbers =
	    json_pack( "{s:i, s:i, s:f, s:f, s:f, s:f, s:b, s:i, s:i, s:i, s:i}", "nodes", tissue->nodeCount,
	               "tetrahedra", tissue->tetCount, "mass_kg", report.mass, "volume_m3", report.volume,
	               "surface_volume_m3", report.surfaceVolume, "cell_m", tissue->cell, "closed", report.closed,
	               "components", report.componentCount, "held_nodes", report.heldCount, "soft_vertices",
	               report.softVertexCount, "split_cells", report.splitCellCount );
	json_object_update( facts, numbers );
	json_decref( numbers );
	lmbTissue_Free( tissue );
	return status;
}

static lmbStatus RunModes( void *context, json_t *facts, lmbError *error )
{
	lmbPipeline *pipeline = context;
	LMB_TRY( lmbPipeline_NeedTissue( pipeline, error ) );
	lmbModes *modes;
	LMB_TRY( lmbModes_Compute( pipeline->tissue, pipeline->project->modeCount, &pipeline->stages.job, &modes,
	                           error ) );
	lmbStages_Wrote( &pipeline->stages, "modes.safetensors" );
	lmbStatus status =
	    lmbModes_Write( modes, lmbStages_Path( &pipeline->stages, "modes.safetensors" ), error );
	const double turn = 6.283185307179586;
	json_object_set_new( facts, "count", json_integer( modes->count ) );
	if ( modes->count > 0 )
	{
		json_object_set_new( facts, "lowest_hz", json_real( sqrt( modes->omegaSquared[0] ) / turn ) );
		json_object_set_new( facts, "highest_hz",
		                     json_real( sqrt( modes->omegaSquared[modes->count - 1] ) / turn ) );
	}
	lmbModes_Free( modes );
	return status;
}

/* What the simulation could not solve, for the report. */
static lmbStatus SimulationFacts( lmbPipeline *pipeline, json_t *facts, lmbError *error )
{
	LMB_TRY( lmbPipeline_NeedDataset( pipeline, error ) );
	const lmbDataset *dataset = pipeline->dataset;
	int failedPoses = 0, frames = 0, failedFrames = 0;
	for ( int i = 0; i < dataset->poses.count; ++i )
		failedPoses += dataset->poses.converged[i] == 0;
	for ( int s = 0; s < dataset->sequenceCount; ++s )
		for ( int f = 0; f < dataset->sequences[s].frameCount; ++f, ++frames )
			failedFrames += dataset->sequences[s].converged[f] == 0;
	json_object_set_new( facts, "poses", json_integer( dataset->poses.count ) );
	json_object_set_new( facts, "poses_not_converged", json_integer( failedPoses ) );
	json_object_set_new( facts, "frames", json_integer( frames ) );
	json_object_set_new( facts, "frames_not_converged", json_integer( failedFrames ) );
	return lmb_statusOk;
}

static lmbStatus RunSimulate( void *context, json_t *facts, lmbError *error )
{
	lmbPipeline *pipeline = context;
	const lmbProject *project = pipeline->project;
	LMB_TRY( lmbPipeline_NeedTissue( pipeline, error ) );
	LMB_TRY( lmbPipeline_NeedMotions( pipeline, error ) );
	lmbSimulateMotion *motions = LMB_NEW( &pipeline->stages.arena, lmbSimulateMotion, pipeline->motionCount );
	char *folder = lmbStages_Path( &pipeline->stages, "simulation" );
	if ( motions == NULL || folder == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < pipeline->motionCount; ++i )
		motions[i] = ( lmbSimulateMotion ){ pipeline->motions[i], pipeline->trained[i] };
	lmbSimulateDef def = project->simulate;
	bool sharded = pipeline->stages.def->shardCount > 0;
	def.shardIndex = sharded ? pipeline->stages.def->shardIndex : 0;
	def.shardCount = sharded ? pipeline->stages.def->shardCount : 1;
	LMB_TRY( lmbSimulate( pipeline->character, pipeline->tissue, motions, pipeline->motionCount, &def,
	                      &pipeline->stages.job, folder, error ) );
	lmbStages_Wrote( &pipeline->stages, "simulation" );
	return sharded ? lmb_statusOk : SimulationFacts( pipeline, facts, error );
}

static const char *const checkpointPrefix = "train-", *const checkpointEnding = ".checkpoint.safetensors";

/* Checkpoints of finished training and of other settings are of no more use. */
static void RemoveCheckpoints( lmbPipeline *pipeline )
{
	DIR *folder = opendir( pipeline->stages.def->folder );
	struct dirent *entry;
	while ( folder != NULL && ( entry = readdir( folder ) ) != NULL )
	{
		size_t length = strlen( entry->d_name ), ending = strlen( checkpointEnding );
		if ( strncmp( entry->d_name, checkpointPrefix, strlen( checkpointPrefix ) ) != 0 || length < ending ||
		     strcmp( entry->d_name + length - ending, checkpointEnding ) != 0 )
			continue;
		char *path = lmbStages_Path( &pipeline->stages, entry->d_name );
		if ( path != NULL )
			unlink( path );
	}
	if ( folder != NULL )
		closedir( folder );
}

static lmbStatus RunTrain( void *context, json_t *facts, lmbError *error )
{
	lmbPipeline *pipeline = context;
	LMB_TRY( lmbPipeline_NeedTissue( pipeline, error ) );
	LMB_TRY( lmbPipeline_NeedDataset( pipeline, error ) );
	char name[128], text[lmbHashTextSize];
	lmbHash_Text( pipeline->stages.fingerprint, text );
	snprintf( name, sizeof( name ), "%s%s%s", checkpointPrefix, text, checkpointEnding );
	lmbTrainDef def = pipeline->project->train;
	def.checkpoint = lmbStages_Path( &pipeline->stages, name );
	lmbTrainReport report = { 0 };
	lmbNetwork *network;
	LMB_TRY( lmbNetwork_Train( pipeline->character, pipeline->tissue, pipeline->dataset, &def,
	                           &pipeline->stages.job, &network, &report, error ) );
	lmbStages_Wrote( &pipeline->stages, "network.safetensors" );
	lmbStatus status =
	    lmbNetwork_Write( network, lmbStages_Path( &pipeline->stages, "network.safetensors" ), error );
	json_t *numbers = json_pack(
	    "{s:f, s:f, s:f, s:f, s:i, s:i, s:i, s:i, s:i}", "rms_mm_unseen_poses", 1e3 * report.unseenRms,
	    "skinning_rms_mm_unseen_poses", 1e3 * report.unseenSkinningRms, "truncation_rms_mm_unseen_poses",
	    1e3 * report.truncationRms, "rms_mm_trained_poses", 1e3 * report.trainedRms, "poses",
	    report.poseCount, "unseen_poses", report.heldOutCount, "mirrored_poses", report.mirroredCount,
	    "regions", network->regionCount, "coefficients", network->coefficientCount );
	json_object_update( facts, numbers );
	json_decref( numbers );
	lmbNetwork_Free( network );
	if ( status == lmb_statusOk )
		RemoveCheckpoints( pipeline );
	return status;
}

static lmbStatus RunFit( void *context, json_t *facts, lmbError *error )
{
	lmbPipeline *pipeline = context;
	bool instant = pipeline->stages.def->instant;
	LMB_TRY( lmbPipeline_NeedTissue( pipeline, error ) );
	LMB_TRY( lmbPipeline_NeedModes( pipeline, error ) );
	if ( !instant )
	{
		LMB_TRY( lmbPipeline_NeedNetwork( pipeline, error ) );
		LMB_TRY( lmbPipeline_NeedDataset( pipeline, error ) );
	}
	lmbFitDef def = pipeline->project->fit;
	def.dampingMass = pipeline->project->simulate.dampingMass;
	def.dampingStiffness = pipeline->project->simulate.dampingStiffness;
	lmbSprings *springs;
	LMB_TRY( lmbSprings_Fit( pipeline->character, pipeline->tissue, pipeline->modes, pipeline->network,
	                         pipeline->dataset, &def, &pipeline->stages.job, &springs, error ) );
	lmbStages_Wrote( &pipeline->stages, "springs.safetensors" );
	lmbStatus status =
	    lmbSprings_Write( springs, lmbStages_Path( &pipeline->stages, "springs.safetensors" ), error );
	json_object_set_new( facts, "modes", json_integer( springs->modeCount ) );
	lmbSprings_Free( springs );
	return status;
}

/* m: what storing shapes as bytes may cost, RMS over the soft skin; measured and stated after each run. */
static const double compactTolerance = 4e-5;

static lmbStatus RunModel( void *context, json_t *facts, lmbError *error )
{
	lmbPipeline *pipeline = context;
	LMB_TRY( lmbPipeline_NeedTissue( pipeline, error ) );
	LMB_TRY( lmbPipeline_NeedSprings( pipeline, error ) );
	if ( !pipeline->stages.def->instant )
		LMB_TRY( lmbPipeline_NeedNetwork( pipeline, error ) );
	char *path = lmbStages_Path( &pipeline->stages, "model.safetensors" );
	LMB_TRY( lmbModel_Write( pipeline->character, pipeline->tissue, pipeline->network, pipeline->springs,
	                         path, error ) );
	lmbCompactReport report;
	LMB_TRY( lmbPipeline_NeedMotions( pipeline, error ) );
	LMB_TRY( lmbModel_Compact( path, (const lmbMotion *const *)pipeline->motions, pipeline->motionCount,
	                           compactTolerance, &report, error ) );
	lmbStages_Wrote( &pipeline->stages, "model.safetensors" );
	if ( report.compact )
	{
		json_object_set_new( facts, "compact_rms_mm", json_real( 1e3 * report.rms ) );
		json_object_set_new( facts, "compact_max_mm", json_real( 1e3 * report.max ) );
	}
	lmbModel model;
	lmbStatus status = lmbModel_Open( &model, path, error );
	if ( status == lmb_statusOk )
	{
		lmbFleshDef def = lmbDefaultFleshDef( model.flesh );
		struct stat info;
		if ( stat( path, &info ) == 0 )
			json_object_set_new( facts, "bytes", json_integer( (json_int_t)info.st_size ) );
		json_object_set_new( facts, "instance_bytes",
		                     json_integer( (json_int_t)lmbFleshBody_Size( model.flesh, &def ) ) );
	}
	lmbModel_Close( &model );
	return status;
}

#define BIT( stage ) ( 1u << ( stage ) )

const lmbStageSpec lmbFleshStages[lmb_stageCount] = {
    [lmb_stageTissue] =
        { .name = "tissue", .version = 1, .instant = true, .sections = { "tissue" }, .run = RunTissue },
    [lmb_stageModes] = { .name = "modes",
                         .version = 1,
                         .needs = BIT( lmb_stageTissue ),
                         .instant = true,
                         .sections = { "modes" },
                         .run = RunModes },
    [lmb_stageSimulate] = { .name = "simulate",
                            .version = 1,
                            .needs = BIT( lmb_stageTissue ),
                            .seed = true,
                            .sections = { "motions", "simulate" },
                            .run = RunSimulate },
    [lmb_stageTrain] = { .name = "train",
                         .version = 1,
                         .needs = BIT( lmb_stageTissue ) | BIT( lmb_stageSimulate ),
                         .seed = true,
                         .metrics = "network",
                         .sections = { "train" },
                         .run = RunTrain },
    [lmb_stageFit] = { .name = "fit",
                       .version = 2,
                       .needs = BIT( lmb_stageTissue ) | BIT( lmb_stageModes ) | BIT( lmb_stageSimulate ) |
                                BIT( lmb_stageTrain ),
                       .drops = BIT( lmb_stageSimulate ) | BIT( lmb_stageTrain ),
                       .instant = true,
                       .sections = { "fit", "simulate" },
                       .run = RunFit },
    [lmb_stageModel] = { .name = "model",
                         .version = 2,
                         .needs = BIT( lmb_stageTissue ) | BIT( lmb_stageTrain ) | BIT( lmb_stageFit ),
                         .drops = BIT( lmb_stageTrain ),
                         .instant = true,
                         .run = RunModel },
    [lmb_stageEvaluate] = { .name = "evaluate",
                            .version = 2,
                            .needs = BIT( lmb_stageTissue ) | BIT( lmb_stageModes ) |
                                     BIT( lmb_stageSimulate ) | BIT( lmb_stageFit ) | BIT( lmb_stageModel ),
                            .metrics = "",
                            .sections = { "evaluate", "fit" },
                            .run = lmbPipeline_RunEvaluate },
    [lmb_stageSheet] = { .name = "sheet",
                         .version = 1,
                         .needs = BIT( lmb_stageTissue ) | BIT( lmb_stageSimulate ) | BIT( lmb_stageModel ),
                         .sections = { "evaluate", "fit" },
                         .run = lmbPipeline_RunSheet },
    [lmb_stageBake] = { .name = "bake",
                        .version = 1,
                        .needs = BIT( lmb_stageModel ),
                        .instant = true,
                        .sections = { "bake", "motions", "fit" },
                        .run = lmbPipeline_RunBake },
};
