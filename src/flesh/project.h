/* The project file: what character, which motions, and every setting of every stage.
 *
 * One table (project_table.c) says each key's place, unit, range and meaning; reading, checking, printing
 * the defaults and the page docs/formats/project.md all come from it. Defaults are those of the stages' own
 * lmbDefault...Def. */
#ifndef LMB_FLESH_PROJECT_H
#define LMB_FLESH_PROJECT_H

#include "flesh/fit.h"
#include "flesh/network.h"
#include "flesh/simulate.h"
#include "flesh/tissue.h"
#include "formats/motion.h"

#include <stdio.h>

/* A motion of the project: a clip of the character, or a piece of one. */
typedef struct lmbProjectMotion
{
	const char *clip;
	const char *name;               /* NULL: the clip's */
	double start, duration;         /* s; as in lmbMotionDef */
	double keyRate, cutoff, warpIn; /* NaN: the project's */
} lmbProjectMotion;

typedef struct lmbProjectBake
{
	int targets;    /* morph targets of the GLB at most */
	lmbLayer layer; /* springs that are baked */
	double rate;    /* Hz */
	bool glb, pc2, mdd;
	const char *const *motions; /* (motionCount) names; none: all of the project's */
	int motionCount;
} lmbProjectBake;

typedef struct lmbProject
{
	lmbArena arena;
	const char *path;      /* of the project file, or of the character when made from one */
	const char *name;      /* for output folders */
	const char *character; /* path, resolved */
	lmbImportDef import;
	int seed;
	lmbTissueDef tissue;
	const lmbProjectMotion *trained; /* (trainedCount) */
	int trainedCount;
	const lmbProjectMotion *heldOut; /* (heldOutCount) */
	int heldOutCount;
	lmbMotionDef motion; /* keyRate, cutoff, warpIn for all */
	lmbSimulateDef simulate;
	int modeCount;
	lmbTrainDef train;
	lmbFitDef fit;
	double softSkin; /* vertices with at least this softness are judged */
	bool sheet;      /* draw the contact sheet */
	lmbProjectBake bake;
	bool instant;                   /* no simulation, no network, nothing fitted */
	struct lmbProjectPlace *places; /* where each text stands in the file, see lmbProject_Check */
} lmbProject;

/* Reads and checks a project file. An unknown key, a wrong type, a number out of range is an error
 * "file:line:column: ..." with the nearest known key. Paths are relative to the file's folder. */
lmbStatus lmbProject_Load( const char *path, lmbProject **out, lmbError *error );
/* A project with every default, for a character without a project file. */
lmbStatus lmbProject_ForCharacter( const char *character, lmbProject **out, lmbError *error );
void lmbProject_Free( lmbProject *project ); /* NULL is fine */

/* Changes one key, "simulate.poses=40", as if the file said so (relative paths: to the current folder). */
lmbStatus lmbProject_Set( lmbProject *project, const char *assignment, lmbError *error );

/* That the bones and clips which the project names are there; the message says where it names them and
 * which name is nearest. */
lmbStatus lmbProject_Check( const lmbProject *project, const lmbCharacter *character, lmbError *error );

/* The name of section index ("" for the top level), NULL after the last. */
const char *lmbProject_Section( int index );
/* The settings of a section ("tissue", "simulate", "motions", ...) as text, one per line, complete and
 * canonical: equal text means equal settings. In the arena; NULL without memory. */
char *lmbProject_Settings( const lmbProject *project, const char *section, lmbArena *arena );

/* The tissue's definition: the project's materials behind the default one, which holds everywhere. Points
 * into the project and the arena. */
lmbStatus lmbProject_TissueDef( const lmbProject *project, lmbArena *arena, lmbTissueDef *out,
                                lmbError *error );
/* The definition of a motion, with what it takes over from the project. */
lmbMotionDef lmbProject_MotionDef( const lmbProject *project, const lmbProjectMotion *motion );

/* A project file with every key at its default, with comments; and the reference page in Markdown. */
void lmbProject_PrintDefaults( FILE *stream );
void lmbProject_PrintReference( FILE *stream );

/* The name among count nearest to text by edit distance; NULL when count is 0. */
const char *lmbProject_Nearest( const char *text, const char *const *names, int count );

#endif
