/* Point caches: the positions of a mesh's vertices frame by frame. Blender's Mesh Cache modifier, Maya and
 * 3ds Max read them.
 *
 * PC2 is little-endian: "POINTCACHE2\0", int32 version 1, int32 points, float32 start frame, float32 frames
 * per sample, int32 samples, then samples x points x 3 float32. MDD is big-endian: int32 frames, int32
 * points, float32 time [s] of every frame, then frames x points x 3 float32. */
#ifndef LMB_FORMATS_POINT_CACHE_H
#define LMB_FORMATS_POINT_CACHE_H

#include "base/files.h"

typedef enum lmbPointCacheFormat
{
	lmb_cachePc2, /* .pc2 */
	lmb_cacheMdd  /* .mdd */
} lmbPointCacheFormat;

const char *lmbPointCache_Extension( lmbPointCacheFormat format ); /* "pc2", "mdd" */

typedef struct lmbPointCache
{
	lmbArena arena;
	lmbPointCacheFormat format;
	int frameCount, pointCount;
	float *times;     /* (frameCount) MDD: seconds; PC2: frames */
	float *positions; /* (frameCount x pointCount x 3) in the file's own unit */
} lmbPointCache;

/* Reads a whole cache; the format is told by the file's beginning. Refuses files that end early or go on,
 * and positions that are not finite. Close also after a failure. */
lmbStatus lmbPointCache_Open( lmbPointCache *cache, const char *path, lmbError *error );
void lmbPointCache_Close( lmbPointCache *cache );

/* Writes a cache frame by frame; Commit after exactly frameCount frames, or Abort. */
typedef struct lmbPointCacheWriter
{
	lmbFileWriter file;
	lmbPointCacheFormat format;
	int frameCount, pointCount, written;
} lmbPointCacheWriter;

/* rate: frames per second, for MDD's times (a PC2 sample is one frame). Counts at least 1. */
lmbStatus lmbPointCacheWriter_Open( lmbPointCacheWriter *writer, const char *path, lmbPointCacheFormat format,
                                    int frameCount, int pointCount, double rate, lmbError *error );
/* positions (pointCount x 3). */
lmbStatus lmbPointCacheWriter_Frame( lmbPointCacheWriter *writer, const float *positions, lmbError *error );
lmbStatus lmbPointCacheWriter_Commit( lmbPointCacheWriter *writer, lmbError *error );
void lmbPointCacheWriter_Abort( lmbPointCacheWriter *writer );

#endif
