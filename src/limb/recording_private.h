/* Between the parts of the reader of recordings. */
#ifndef LMB_LIMB_RECORDING_PRIVATE_H
#define LMB_LIMB_RECORDING_PRIVATE_H

#include "limb/recording.h"

/* Which columns are what. */
typedef struct lmbRecordingColumns
{
	int time; /* -1: none */
	int counts[lmb_recordingRoleCount];
	int *items[lmb_recordingRoleCount]; /* (counts) in the table's arena */
	double *factors;                    /* (columnCount of the table) to SI */
	const char **units;                 /* (columnCount) what the file says, or "" */
	bool *slides;                       /* (counts of positions) in metres, not radians */
} lmbRecordingColumns;

/* strict: what is missing or does not fit is an error; otherwise as much as can be made out. Notes go to the
 * table. */
lmbStatus lmbRecordingColumns_Find( lmbTable *table, const lmbRecordingDef *def, bool strict,
                                    lmbRecordingColumns *out, lmbError *error );

/* Rows with usable stamps, in the order of time within each run (a run ends where the clock starts anew). */
typedef struct lmbRecordingStamps
{
	int count;
	int *rows;     /* (count) of the table */
	double *times; /* (count) s */
	int runCount;
	int *runs;   /* (runCount + 1) where each begins */
	double step; /* s: the typical one */
	double gap;  /* s: what counts as a gap */
	double jitter, jitterLargest, gapLargest;
	int repeated, backwards, missing, gapCount, firstBackwards; /* firstBackwards: row, -1 none */
	bool regular; /* every run is a constant step but for rounding */
} lmbRecordingStamps;

/* Arrays in the table's arena. */
lmbStatus lmbRecordingStamps_Find( lmbTable *table, const lmbRecordingDef *def,
                                   const lmbRecordingColumns *columns, lmbRecordingStamps *out,
                                   lmbError *error );

/* Whether stamps are a constant step, but for rounding to some power of ten of the file's unit (factor s). */
bool lmbRecordingStamps_Regular( const double *times, int count, double factor );

/* Values at new instants from samples at their own. times (count) increasing, values (count) may be NaN;
 * grid[k] = start + k step, (gridCount), inside the times. reach: s, half the window. */
typedef struct lmbResample
{
	int count;
	const double *times;
	double start, step;
	int gridCount;
	double reach;
	double *scratch; /* (11 count): room to work in */
} lmbResample;

lmbStatus lmbResample_Smooth( const lmbResample *resample, const double *values, double *out, int stride,
                              lmbError *error );
lmbStatus lmbResample_Input( const lmbResample *resample, lmbInputHold hold, const double *values,
                             double *out, int stride );

/* A stretch without long gaps, of one run of the clock, resampled. */
typedef struct lmbRecordingPiece
{
	const char *name;
	int count;
	double step;
	double *values; /* (count x width): positions, velocities, accelerations, inputs as there are */
} lmbRecordingPiece;

typedef struct lmbRecordingReader
{
	const lmbRecordingDef *def;
	const lmbJob *job;
	lmbArena arena;
	int pieceCount;
	lmbRecordingPiece *pieces;          /* grows by doubling, in the arena */
	int counts[lmb_recordingRoleCount]; /* of the first file */
	int width;
	const char *firstPath;
	const char **names; /* (width) cleaned, of the first file */
	bool *slides;       /* (positions) */
	int noteCount;
	const char **notes; /* of the first file: said once */
} lmbRecordingReader;

/* One file on its way. */
typedef struct lmbRecordingSource
{
	lmbTable *table;
	lmbRecordingColumns columns;
	lmbRecordingStamps stamps;
	int *order; /* (width) columns of the table */
	lmbRecordingRole *roles;
	int pieces; /* so far */
	int interpolated, unwrapped, tooShort;
	bool resampled;
} lmbRecordingSource;

/* The pieces of one run, stamps from to before to, added to the reader's. */
lmbStatus lmbRecordingReader_TakeRun( lmbRecordingReader *reader, lmbRecordingSource *source, int from,
                                      int to, lmbError *error );

#endif
