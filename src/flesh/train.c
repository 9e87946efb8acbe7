#include "flesh/train_parts.h"

#include "base/files.h"
#include "base/hash.h"
#include "base/math3.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char checkpointFormat[] = "limber.training";

lmbTrainDef lmbDefaultTrainDef( void )
{
	return ( lmbTrainDef ){ .coefficients = 24,
	                        .varianceKept = 0.9995,
	                        .hidden = 128,
	                        .layers = 1,
	                        .reach = 4,
	                        .ridge = 0.0,
	                        .mirror = true,
	                        .heldOutPoses = 0.2,
	                        .adamSteps = 2000,
	                        .lbfgsSteps = 200,
	                        .weightDecay = 1e-3 };
}

static lmbStatus CheckDef( const lmbTrainDef *def, lmbError *error )
{
	struct
	{
		const char *name;
		double value, low, high;
	} ranges[] = {
	    { "coefficients", def->coefficients, 1, lmbCoefficientsMax },
	    { "varianceKept", def->varianceKept, 1e-6, 1 },
	    { "hidden", def->hidden, 0, lmbHiddenMax },
	    { "layers", def->layers, 1, lmbHiddenLayersMax },
	    { "reach", def->reach, 0, 64 },
	    { "ridge", def->ridge, 0, 1e6 },
	    { "heldOutPoses", def->heldOutPoses, 0.05, 0.5 },
	    { "adamSteps", def->adamSteps, 0, 1e7 },
	    { "lbfgsSteps", def->lbfgsSteps, 0, 1e7 },
	    { "weightDecay", def->weightDecay, 0, 1e6 },
	};
	for ( size_t i = 0; i < sizeof( ranges ) / sizeof( ranges[0] ); ++i )
		if ( !( ranges[i].value >= ranges[i].low && ranges[i].value <= ranges[i].high ) )
			return lmbError_Set( error, lmb_statusInvalidArgument,
			                     "training: %s is %g; it must be in [%g, %g]", ranges[i].name,
			                     ranges[i].value, ranges[i].low, ranges[i].high );
	return lmb_statusOk;
}

static lmbStatus CheckParts( const lmbCharacter *character, const lmbTissue *tissue,
                             const lmbDataset *dataset, lmbError *error )
{
	bool fits = tissue->vertexCount == character->vertexCount && tissue->boneCount == character->boneCount;
	if ( dataset->poses.count > 0 )
		fits = fits && dataset->poses.boneCount == character->boneCount &&
		       dataset->poses.nodeCount == tissue->nodeCount;
	for ( int s = 0; s < dataset->sequenceCount; ++s )
		fits = fits && dataset->sequences[s].boneCount == character->boneCount &&
		       dataset->sequences[s].nodeCount == tissue->nodeCount;
	if ( fits )
		return lmb_statusOk;
	return lmbError_Set( error, lmb_statusInvalidArgument,
	                     "the character, its tissue and the simulated data do not belong together; make the "
	                     "tissue and simulate again" );
}

/* One training run. */
typedef struct Run
{
	lmbTrainSetup setup;
	const lmbTissue *tissue;
	lmbArena arena;
	lmbSurface surface;
	lmbMirror mirror;
	lmbTrainData data;
	lmbRegionMap map;
	lmbTrainedRegion *regions; /* (map.count) */
	char mark[lmbHashTextSize];
	pthread_mutex_t mutex; /* progress and checkpoint */
	int doneCount;
} Run;

/* Everything that the result depends on. */
static void MakeMark( Run *run )
{
	lmbHash hash;
	const lmbTrainDef *def = run->setup.def;
	const lmbTrainData *data = &run->data;
	uint64_t seed = run->setup.job != NULL ? run->setup.job->seed : 0;
	char settings[512];
	snprintf( settings, sizeof( settings ), "1 %d %.17g %d %d %d %.17g %d %.17g %d %d %.17g %llu",
	          def->coefficients, def->varianceKept, def->hidden, def->layers, def->reach, def->ridge,
	          def->mirror, def->heldOutPoses, def->adamSteps, def->lbfgsSteps, def->weightDecay,
	          (unsigned long long)seed );
	lmbHash_Begin( &hash );
	lmbHash_AddText( &hash, settings );
	lmbHash_Add( &hash, data->uses, (size_t)data->sampleCount );
	lmbHash_Add( &hash, data->features,
	             (size_t)data->sampleCount * (size_t)data->featureCount * sizeof( double ) );
	lmbHash_Add( &hash, data->displacement,
	             3 * (size_t)data->sampleCount * (size_t)data->vertexCount * sizeof( float ) );
	for ( int r = 0; r < run->map.count; ++r )
	{
		const lmbRegionArea *area = &run->map.areas[r];
		lmbHash_Add( &hash, &area->bone, sizeof( area->bone ) );
		lmbHash_Add( &hash, area->weights, (size_t)area->vertexCount * sizeof( double ) );
	}
	lmbHash_Text( lmbHash_End( &hash ), run->mark );
}

/* A network made of the regions that are done; its arrays are the regions' own. */
static lmbStatus Assemble( const Run *run, lmbNetwork *network, lmbError *error )
{
	network->boneCount = run->setup.character->boneCount;
	network->vertexCount = run->setup.character->vertexCount;
	network->featureCount = run->data.featureCount;
	network->regions = LMB_NEW( &network->arena, lmbRegion, run->map.count );
	if ( network->regions == NULL )
		return lmbError_Memory( error );
	for ( int r = 0; r < run->map.count; ++r )
	{
		if ( !run->regions[r].done || run->regions[r].region.coefficientCount == 0 )
			continue;
		network->regions[network->regionCount++] = run->regions[r].region;
		network->coefficientCount += run->regions[r].region.coefficientCount;
	}
	return lmb_statusOk;
}

/* Called with the mutex held. */
static lmbStatus WriteCheckpoint( const Run *run, lmbError *error )
{
	if ( run->setup.def->checkpoint == NULL )
		return lmb_statusOk;
	lmbNetwork network = { 0 };
	lmbStatus status = Assemble( run, &network, error );
	if ( status == lmb_statusOk )
		status =
		    lmbNetworkFile_Write( &network, run->setup.def->checkpoint, checkpointFormat, run->mark, error );
	lmbArena_Free( &network.arena );
	return status;
}

static lmbStatus CopyRegion( const lmbRegion *from, lmbArena *arena, lmbRegion *to, lmbError *error )
{
	*to = *from;
	if ( !lmbRegion_Allocate( to, arena ) )
		return lmbError_Memory( error );
	size_t features = (size_t)from->featureCount, coefficients = (size_t)from->coefficientCount;
	memcpy( to->features, from->features, features * sizeof( int32_t ) );
	memcpy( to->vertices, from->vertices, (size_t)from->vertexCount * sizeof( int32_t ) );
	memcpy( to->basis, from->basis, 3 * coefficients * (size_t)from->vertexCount * sizeof( float ) );
	memcpy( to->linear, from->linear, coefficients * ( features + 1 ) * sizeof( float ) );
	memcpy( to->featureMean, from->featureMean, features * sizeof( float ) );
	memcpy( to->featureScale, from->featureScale, features * sizeof( float ) );
	for ( int l = 0; l < from->layerCount; ++l )
	{
		size_t in = (size_t)lmbRegion_LayerInputs( from, l ), out = (size_t)lmbRegion_LayerOutputs( from, l );
		memcpy( to->layerWeights[l], from->layerWeights[l], in * out * sizeof( float ) );
		memcpy( to->layerBias[l], from->layerBias[l], out * sizeof( float ) );
	}
	return lmb_statusOk;
}

/* Takes over the regions of an earlier, interrupted run of the same settings and data. Anything else at
 * that path, damaged files included, is as good as nothing: it will be overwritten. */
static lmbStatus Resume( Run *run, lmbError *error )
{
	const char *path = run->setup.def->checkpoint;
	lmbNetwork *saved = NULL;
	if ( path == NULL || !lmbFile_Exists( path ) ||
	     lmbNetworkFile_Load( path, checkpointFormat, run->mark, &saved, NULL ) != lmb_statusOk )
		return lmb_statusOk;
	lmbStatus status = lmb_statusOk;
	for ( int s = 0; s < saved->regionCount && status == lmb_statusOk; ++s )
		for ( int r = 0; r < run->map.count; ++r )
		{
			lmbTrainedRegion *region = &run->regions[r];
			if ( run->map.areas[r].bone != saved->regions[s].bone || region->done )
				continue;
			status = CopyRegion( &saved->regions[s], &region->arena, &region->region, error );
			region->done = status == lmb_statusOk;
			run->doneCount += region->done;
		}
	lmbJob_Note( run->setup.job, "going on from %s: %d of %d regions are trained", path, run->doneCount,
	             run->map.count );
	lmbNetwork_Free( saved );
	return status;
}

static lmbStatus TrainTask( void *context, int index, int worker, lmbError *error )
{
	Run *run = context;
	lmbTrainedRegion *out = &run->regions[index];
	(void)worker;
	if ( out->done )
		return lmb_statusOk;
	/* done becomes visible to other workers' checkpoints only once the region is whole. */
	lmbTrainedRegion made = { 0 };
	lmbStatus status = lmbTrainRegion( &run->setup, index, &made, error );
	pthread_mutex_lock( &run->mutex );
	*out = made;
	if ( status == lmb_statusOk )
	{
		run->doneCount += 1;
		status = WriteCheckpoint( run, error );
		char detail[160];
		snprintf( detail, sizeof( detail ), "%s: %.2f mm by regression, %.2f mm kept",
		          run->setup.character->bones[run->map.areas[index].bone].name, 1e3 * made.linearError,
		          1e3 * made.error );
		lmbJob_Progress( run->setup.job, "regions", run->doneCount, run->map.count, detail );
	}
	pthread_mutex_unlock( &run->mutex );
	return status;
}

static lmbStatus Finish( Run *run, lmbNetwork **out, lmbTrainReport *report, lmbError *error )
{
	lmbNetwork parts = { 0 };
	lmbNetwork *network = calloc( 1, sizeof( *network ) );
	lmbStatus status = network == NULL ? lmbError_Memory( error ) : Assemble( run, &parts, error );
	if ( status == lmb_statusOk )
	{
		*network = parts;
		network->arena = ( lmbArena ){ 0 };
		network->regions = LMB_NEW( &network->arena, lmbRegion, parts.regionCount );
		if ( network->regions == NULL )
			status = lmbError_Memory( error );
	}
	for ( int r = 0; status == lmb_statusOk && r < parts.regionCount; ++r )
		status = CopyRegion( &parts.regions[r], &network->arena, &network->regions[r], error );
	lmbArena_Free( &parts.arena );
	if ( status == lmb_statusOk && network->regionCount == 0 )
		status =
		    lmbError_Set( error, lmb_statusNumerical,
		                  "the skin never leaves the artist's skinning in the simulated data; is the tissue "
		                  "soft and are there poses?" );
	if ( status == lmb_statusOk )
		status = lmbTrain_Judge( &run->setup, run->tissue, network, report, error );
	if ( status == lmb_statusOk )
		*out = network;
	else
		lmbNetwork_Free( network );
	return status;
}

static lmbStatus Prepare( Run *run, const lmbDataset *dataset, lmbError *error )
{
	lmbTrainSetup *setup = &run->setup;
	bool symmetric = false;
	const char *reason = "";
	LMB_TRY( lmbSurface_Make( setup->character, &run->surface, error ) );
	lmbRegionDef regionDef = lmbDefaultRegionDef( &run->surface );
	LMB_TRY( lmbRegions_Make( setup->character, run->tissue, &run->surface, &regionDef, &run->arena,
	                          &run->map, error ) );
	if ( setup->def->mirror )
	{
		LMB_TRY( lmbMirror_Find( setup->character, &run->surface, &run->arena, &run->mirror, &symmetric,
		                         &reason, error ) );
		if ( !symmetric )
			lmbJob_Note( setup->job, "no mirrored samples: %s", reason );
	}
	LMB_TRY( lmbTrainData_Make( setup->character, run->tissue, dataset, setup->def,
	                            symmetric ? &run->mirror : NULL, setup->job, &run->arena, &run->data,
	                            error ) );
	int32_t *offsets = LMB_NEW( &run->arena, int32_t, setup->character->boneCount + 1 );
	run->regions = LMB_NEW( &run->arena, lmbTrainedRegion, run->map.count );
	if ( offsets == NULL || run->regions == NULL )
		return lmbError_Memory( error );
	lmbNetwork_FeatureOffsets( setup->character, offsets );
	setup->offsets = offsets;
	setup->data = &run->data;
	setup->map = &run->map;
	MakeMark( run );
	return Resume( run, error );
}

lmbStatus lmbNetwork_Train( const lmbCharacter *character, const lmbTissue *tissue, const lmbDataset *dataset,
                            const lmbTrainDef *def, const lmbJob *job, lmbNetwork **out,
                            lmbTrainReport *report, lmbError *error )
{
	*out = NULL;
	LMB_TRY( CheckDef( def, error ) );
	LMB_TRY( CheckParts( character, tissue, dataset, error ) );
	Run *run = calloc( 1, sizeof( *run ) );
	if ( run == NULL )
		return lmbError_Memory( error );
	run->setup = ( lmbTrainSetup ){ .character = character, .def = def, .job = job };
	run->tissue = tissue;
	pthread_mutex_init( &run->mutex, NULL );
	lmbTrainReport unused;
	lmbStatus status = Prepare( run, dataset, error );
	if ( status == lmb_statusOk )
		status = lmbJob_ForEach( job, run->map.count, TrainTask, run, error );
	if ( status == lmb_statusOk )
		status = Finish( run, out, report != NULL ? report : &unused, error );
	if ( status == lmb_statusOk && def->checkpoint != NULL )
		unlink( def->checkpoint );
	for ( int r = 0; run->regions != NULL && r < run->map.count; ++r )
		lmbArena_Free( &run->regions[r].arena );
	pthread_mutex_destroy( &run->mutex );
	lmbSurface_Free( &run->surface );
	lmbArena_Free( &run->arena );
	free( run );
	return status;
}
