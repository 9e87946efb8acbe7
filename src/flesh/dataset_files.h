/* The files of a dataset, for the stage that writes them and the loader. Format: docs/formats/dataset.md. */
#ifndef LMB_FLESH_DATASET_FILES_H
#define LMB_FLESH_DATASET_FILES_H

#include "base/arena.h"
#include "base/hash.h"
#include "formats/safetensors.h"

enum
{
	lmbShardFrames = 32, /* output frames in one file; also how often a moving sequence can be resumed */
	lmbDatasetVersion = 1
};

/* One motion as the manifest states it. */
typedef struct lmbMotionRecord
{
	const char *name;
	const char *folder; /* within the dataset's */
	bool trained;
	int frameCount;
	double rate; /* Hz */
	double origin[3];
	char still[lmbHashTextSize]; /* fingerprints */
	char moving[lmbHashTextSize];
} lmbMotionRecord;

typedef struct lmbManifest
{
	bool complete;
	int poseCount, boneCount, nodeCount, motionCount;
	double poseOrigin[3];
	char poses[lmbHashTextSize]; /* fingerprint */
	lmbMotionRecord *motions;
	const char *settings; /* Nullable: JSON text of an object, for people; written only */
} lmbManifest;

lmbStatus lmbManifest_Write( const lmbManifest *manifest, const char *folder, lmbError *error );
/* Names and records are allocated in the arena. */
lmbStatus lmbManifest_Read( const char *folder, lmbArena *arena, lmbManifest *out, lmbError *error );

/* "NN-name" with everything that is not plain ASCII letters, digits, '-', '_' and '.' replaced. */
lmbStatus lmbMotionRecord_Folder( int index, const char *name, lmbArena *arena, const char **out,
                                  lmbError *error );

enum
{
	lmbDatasetPathSize = 4096
};

lmbStatus lmbDatasetPath_Pose( char *out, const char *folder, int index, lmbError *error );
/* kind: "still" or "moving"; first: a multiple of lmbShardFrames. */
lmbStatus lmbDatasetPath_Shard( char *out, const char *folder, const lmbMotionRecord *motion,
                                const char *kind, int first, lmbError *error );
lmbStatus lmbDatasetPath_Checkpoint( char *out, const char *folder, const lmbMotionRecord *motion,
                                     lmbError *error );

/* A file of the dataset with this fingerprint, sound as a container. */
bool lmbDatasetFile_IsThere( const char *path, const char *fingerprint );
/* Opens one and checks its fingerprint and its arrays' hash. Close also after a failure. */
lmbStatus lmbDatasetFile_Open( lmbTensorFile *file, const char *path, const char *fingerprint,
                               lmbError *error );
/* The metadata every file of a dataset has. */
void lmbDatasetFile_Begin( lmbTensorWriter *writer, const char *fingerprint );
/* Writes it, with a hash of its arrays: one flipped bit and the file counts as not there. */
lmbStatus lmbDatasetFile_Write( lmbTensorWriter *writer, const char *path, lmbError *error );

static inline int lmbShard_Count( int frameCount )
{
	return ( frameCount + lmbShardFrames - 1 ) / lmbShardFrames;
}

static inline int lmbShard_Length( int frameCount, int first )
{
	return frameCount - first < lmbShardFrames ? frameCount - first : lmbShardFrames;
}

#endif
