#include "flesh/dataset.h"

#include "flesh/dataset_files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Copies one array of an open file, its shape checked, to where it belongs. */
static lmbStatus Copy( const lmbTensorFile *file, const char *name, lmbDataType type, int rank,
                       const int64_t *shape, void *out, lmbError *error )
{
	int64_t wanted[lmbTensorMaxRank];
	size_t bytes = lmbDataType_Size( type );
	const void *data;
	for ( int i = 0; i < rank; ++i )
	{
		wanted[i] = shape[i];
		bytes *= (size_t)shape[i];
	}
	LMB_TRY( lmbTensorFile_Get( file, name, type, rank, wanted, &data, error ) );
	memcpy( out, data, bytes );
	return lmb_statusOk;
}

/* Files must be there, and hold what the manifest promises, before memory is taken for it. */
static lmbStatus CheckSize( const char *path, double numbers, lmbError *error )
{
	struct stat info;
	if ( stat( path, &info ) != 0 )
		return lmbError_Set( error, lmb_statusNotFound, "%s: is missing; run the stage simulate again",
		                     path );
	if ( (double)info.st_size < 4.0 * numbers )
		return lmbError_Set( error, lmb_statusCorrupt,
		                     "%s: is too short for the manifest's counts of bones and nodes; run the stage "
		                     "simulate again",
		                     path );
	return lmb_statusOk;
}

static lmbStatus CheckSizes( const lmbManifest *manifest, const char *folder, lmbError *error )
{
	char path[lmbDatasetPathSize];
	double bones = 24.0 * manifest->boneCount, nodes = 3.0 * manifest->nodeCount;
	for ( int i = 0; i < manifest->poseCount; ++i )
	{
		LMB_TRY( lmbDatasetPath_Pose( path, folder, i, error ) );
		LMB_TRY( CheckSize( path, bones + nodes, error ) );
	}
	for ( int i = 0; i < manifest->motionCount; ++i )
		for ( int first = 0; first < manifest->motions[i].frameCount; first += lmbShardFrames )
		{
			double length = lmbShard_Length( manifest->motions[i].frameCount, first );
			LMB_TRY( lmbDatasetPath_Shard( path, folder, manifest->motions + i, "still", first, error ) );
			LMB_TRY( CheckSize( path, length * ( bones + nodes ), error ) );
			LMB_TRY( lmbDatasetPath_Shard( path, folder, manifest->motions + i, "moving", first, error ) );
			LMB_TRY( CheckSize( path, length * nodes, error ) );
		}
	return lmb_statusOk;
}

static lmbStatus LoadPose( lmbPoseSet *poses, const char *folder, const char *fingerprint, int index,
                           lmbTensorFile *file, lmbError *error )
{
	char path[lmbDatasetPathSize];
	size_t i = (size_t)index, bones = (size_t)poses->boneCount, nodes = (size_t)poses->nodeCount;
	LMB_TRY( lmbDatasetPath_Pose( path, folder, index, error ) );
	LMB_TRY( lmbDatasetFile_Open( file, path, fingerprint, error ) );
	LMB_TRY( Copy( file, "bones", lmb_dataF64, 2, ( int64_t[] ){ poses->boneCount, 12 },
	               poses->bones + 12 * bones * i, error ) );
	LMB_TRY( Copy( file, "nodes", lmb_dataF32, 2, ( int64_t[] ){ poses->nodeCount, 3 },
	               poses->nodes + 3 * nodes * i, error ) );
	return Copy( file, "converged", lmb_dataU8, 1, ( int64_t[] ){ 1 }, poses->converged + i, error );
}

static lmbStatus LoadPoses( lmbDataset *dataset, const lmbManifest *manifest, const char *folder,
                            lmbTensorFile *file, lmbError *error )
{
	lmbPoseSet *poses = &dataset->poses;
	size_t count = (size_t)manifest->poseCount;
	poses->count = manifest->poseCount;
	poses->boneCount = manifest->boneCount;
	poses->nodeCount = manifest->nodeCount;
	memcpy( poses->origin, manifest->poseOrigin, sizeof( poses->origin ) );
	poses->bones = LMB_NEW( &dataset->arena, double, 12 * count * (size_t)poses->boneCount );
	poses->nodes = LMB_NEW( &dataset->arena, float, 3 * count * (size_t)poses->nodeCount );
	poses->converged = LMB_NEW( &dataset->arena, uint8_t, count );
	if ( poses->bones == NULL || poses->nodes == NULL || poses->converged == NULL )
		return lmbError_Memory( error );
	lmbStatus status = lmb_statusOk;
	for ( int i = 0; status == lmb_statusOk && i < poses->count; ++i )
	{
		status = LoadPose( poses, folder, manifest->poses, i, file, error );
		lmbTensorFile_Close( file );
	}
	return status;
}

/* Both shards of the frames from `first` on. A frame counts only when both of its solves converged. */
static lmbStatus LoadShard( lmbSequence *sequence, const char *folder, const lmbMotionRecord *motion,
                            int first, bool moving, lmbTensorFile *file, lmbError *error )
{
	char path[lmbDatasetPathSize];
	uint8_t converged[lmbShardFrames];
	int length = lmbShard_Length( motion->frameCount, first );
	size_t start = (size_t)first;
	LMB_TRY( lmbDatasetPath_Shard( path, folder, motion, moving ? "moving" : "still", first, error ) );
	LMB_TRY( lmbDatasetFile_Open( file, path, moving ? motion->moving : motion->still, error ) );
	if ( !moving )
		LMB_TRY( Copy( file, "bones", lmb_dataF64, 3, ( int64_t[] ){ length, sequence->boneCount, 12 },
		               sequence->bones + 12 * start * (size_t)sequence->boneCount, error ) );
	LMB_TRY( Copy( file, "nodes", lmb_dataF32, 3, ( int64_t[] ){ length, sequence->nodeCount, 3 },
	               ( moving ? sequence->moving : sequence->still ) + 3 * start * (size_t)sequence->nodeCount,
	               error ) );
	LMB_TRY( Copy( file, "converged", lmb_dataU8, 1, ( int64_t[] ){ length }, converged, error ) );
	for ( int i = 0; i < length; ++i )
		sequence->converged[first + i] = converged[i] != 0 && ( !moving || sequence->converged[first + i] );
	return lmb_statusOk;
}

static lmbStatus LoadSequence( lmbDataset *dataset, const lmbManifest *manifest, int index,
                               const char *folder, lmbTensorFile *file, lmbError *error )
{
	const lmbMotionRecord *motion = manifest->motions + index;
	lmbSequence *sequence = dataset->sequences + index;
	size_t frames = (size_t)motion->frameCount;
	*sequence = ( lmbSequence ){ .name = motion->name,
	                             .trained = motion->trained,
	                             .frameCount = motion->frameCount,
	                             .boneCount = manifest->boneCount,
	                             .nodeCount = manifest->nodeCount,
	                             .rate = motion->rate };
	memcpy( sequence->origin, motion->origin, sizeof( sequence->origin ) );
	sequence->bones = LMB_NEW( &dataset->arena, double, 12 * frames * (size_t)sequence->boneCount );
	sequence->still = LMB_NEW( &dataset->arena, float, 3 * frames * (size_t)sequence->nodeCount );
	sequence->moving = LMB_NEW( &dataset->arena, float, 3 * frames * (size_t)sequence->nodeCount );
	sequence->converged = LMB_NEW( &dataset->arena, uint8_t, frames );
	if ( sequence->bones == NULL || sequence->still == NULL || sequence->moving == NULL ||
	     sequence->converged == NULL )
		return lmbError_Memory( error );
	lmbStatus status = lmb_statusOk;
	for ( int part = 0; status == lmb_statusOk && part < 2 * lmbShard_Count( motion->frameCount ); ++part )
	{
		status = LoadShard( sequence, folder, motion, part / 2 * lmbShardFrames, part % 2 == 1, file, error );
		lmbTensorFile_Close( file );
	}
	return status;
}

static lmbStatus Load( lmbDataset *dataset, const char *folder, lmbTensorFile *file, lmbError *error )
{
	lmbManifest manifest;
	LMB_TRY( lmbManifest_Read( folder, &dataset->arena, &manifest, error ) );
	if ( !manifest.complete )
		return lmbError_Set( error, lmb_statusNotFound,
		                     "%s: the simulation is not finished; run the stage simulate again to go on",
		                     folder );
	LMB_TRY( CheckSizes( &manifest, folder, error ) );
	LMB_TRY( LoadPoses( dataset, &manifest, folder, file, error ) );
	dataset->sequenceCount = manifest.motionCount;
	dataset->sequences = LMB_NEW( &dataset->arena, lmbSequence, manifest.motionCount );
	if ( dataset->sequences == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < manifest.motionCount; ++i )
		LMB_TRY( LoadSequence( dataset, &manifest, i, folder, file, error ) );
	return lmb_statusOk;
}

lmbStatus lmbDataset_Load( const char *folder, lmbDataset **out, lmbError *error )
{
	*out = NULL;
	lmbDataset *dataset = calloc( 1, sizeof( *dataset ) );
	lmbTensorFile *file = calloc( 1, sizeof( *file ) );
	lmbStatus status =
	    dataset != NULL && file != NULL ? Load( dataset, folder, file, error ) : lmbError_Memory( error );
	free( file );
	if ( status == lmb_statusOk )
		*out = dataset;
	else
		lmbDataset_Free( dataset );
	return status;
}

void lmbDataset_Free( lmbDataset *dataset )
{
	if ( dataset == NULL )
		return;
	lmbArena_Free( &dataset->arena );
	free( dataset );
}
