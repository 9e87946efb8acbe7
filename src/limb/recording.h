/* Recordings of a limb: from tables as laboratories have them (formats/table.h) to trajectories at a constant
 * step, and what is strange about them. The rules and the names that are guessed: docs/formats/recordings.md.
 */
#ifndef LMB_LIMB_RECORDING_H
#define LMB_LIMB_RECORDING_H

#include "base/job.h"
#include "formats/table.h"
#include "limb/trajectory.h"

/* Lists of columns are names separated by commas; * stands for any characters, ? for one, #3 for the third
 * column; NULL: guessed from the names (with a note), "": none. A list keeps its own order, a pattern gives
 * columns in the table's. */
typedef struct lmbRecordingDef
{
	lmbTableDef table;
	const char *time, *positions, *velocities, *accelerations, *inputs;
	const char *degrees,
	    *radians;       /* columns in deg, deg/s, deg/s^2, or rad; NULL: as the file says, else rad */
	const char *slides; /* of the positions, the ones in metres; NULL: none */
	double timeUnit;    /* s of one unit of the time column; 0: as the file says ("time (ms)"), else 1 */
	double rate;        /* Hz of the result; 0: the recording's own. Needed when there is no time column */
	double longestGap;  /* s: shorter ones are interpolated, longer ones split the recording; 0: 5 steps */
	int fewestSamples;  /* pieces with fewer are left out, with a note; at least 2 */
	double window;      /* half the width of the fit by which is resampled, in steps; in [3, 100] */
	bool unwrap;        /* angles that jump by more than half a turn go on instead */
	bool absolute;      /* angles against the world become angles against the previous segment */
	lmbInputHold hold;  /* what the inputs do between their samples */
} lmbRecordingDef;

/* Everything guessed, own rate, at least 16 samples, window 4, unwrapped, relative angles as they are, inputs
 * straight between samples. */
lmbRecordingDef lmbDefaultRecordingDef( void );

/* Reads files into one set of trajectories, in the order of the files and of time; names are the files'
 * without folder and ending, "#2" and so on for further pieces. All must have the same numbers of columns of
 * each kind.
 *
 * Sampled regularly with nothing missing, values are taken over bit for bit but for units. Otherwise the
 * value at each new instant is that of a polynomial of degree 5 fitted to the samples around it at their own
 * time stamps (least squares, tricube weights: Cleveland 1979, "Robust locally weighted regression"); held
 * inputs are the mean over the new step, linear ones the value on the line between stamps.
 *
 * job is Nullable; what was guessed, mended or left out goes to its note. Errors: those of lmbTable_Read, and
 * lmb_statusNotFound / lmb_statusInvalidArgument / lmb_statusCorrupt with file, row, column and remedy. */
lmbStatus lmbRecording_Read( const char *const *paths, int pathCount, const lmbRecordingDef *def,
                             const lmbJob *job, lmbTrajectories **out, lmbError *error );

typedef enum lmbRecordingRole
{
	lmb_recordingOther,
	lmb_recordingTime,
	lmb_recordingPosition,
	lmb_recordingVelocity,
	lmb_recordingAcceleration,
	lmb_recordingInput,
	lmb_recordingRoleCount
} lmbRecordingRole;

const char *lmbRecordingRole_Name( lmbRecordingRole role ); /* "other", "time", "position", .. */

/* One column, in the file's own unit. */
typedef struct lmbRecordingColumn
{
	const char *name, *unit; /* unit "": not known */
	lmbRecordingRole role;
	int missing;            /* values */
	double low, high, mean; /* NaN when all are missing */
	int suspicionCount;
	const char **suspicions; /* (suspicionCount) sentences */
} lmbRecordingColumn;

typedef struct lmbRecordingSummary
{
	lmbArena arena;
	const char *format; /* "text", "OpenSim", "npy", "npz" */
	int rowCount, columnCount;
	bool timed;                   /* there is a time column; the next are 0 otherwise */
	double start, end;            /* s */
	double rate;                  /* Hz: 1 / median step */
	double jitter, jitterLargest; /* s: root mean square and largest difference of a step from the median one,
	                                 gaps left out */
	bool regular;                 /* stamps are a constant step but for rounding */
	int repeated, backwards;      /* stamps equal to the one before, and before it */
	int gapCount;
	double gapLargest;           /* s */
	lmbRecordingColumn *columns; /* (columnCount) */
	int noteCount;
	const char **notes; /* (noteCount) of the table and of the columns' guesses */
} lmbRecordingSummary;

/* def as for Read; only its table, columns, units and longestGap count. Roles that cannot be made out are
 * "other". Free with lmbRecordingSummary_Free. */
lmbStatus lmbRecording_Summarise( const char *path, const lmbRecordingDef *def, lmbRecordingSummary **out,
                                  lmbError *error );
void lmbRecordingSummary_Free( lmbRecordingSummary *summary ); /* NULL is fine */

#endif
