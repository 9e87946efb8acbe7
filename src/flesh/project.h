/* The project file of a character: what character, which motions, and every setting of every stage.
 *
 * Read by the table lmbFleshProjectTable (project/table.h); docs/formats/project.md is printed from it.
 * Defaults are those of the stages' own lmbDefault...Def. */
#ifndef LMB_FLESH_PROJECT_H
#define LMB_FLESH_PROJECT_H

#include "flesh/fit.h"
#include "flesh/network.h"
#include "flesh/simulate.h"
#include "flesh/tissue.h"
#include "formats/motion.h"
#include "project/table.h"

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
	bool glb, pc2, mdd, usda;
	const char *const *motions; /* (motionCount) names; none: all of the project's */
	int motionCount;
} lmbProjectBake;

typedef struct lmbProject
{
	lmbProjectFile file;   /* its path is the character's when made from one */
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
	bool instant; /* no simulation, no network, nothing fitted */
} lmbProject;

extern const lmbProjectTable lmbFleshProjectTable;

/* Reads and checks a project file, as lmbProjectFile_Load. */
lmbStatus lmbProject_Load( const char *path, lmbProject **out, lmbError *error );
/* A project with every default, for a character without a project file. */
lmbStatus lmbProject_ForCharacter( const char *character, lmbProject **out, lmbError *error );
void lmbProject_Free( lmbProject *project ); /* NULL is fine */

/* That the bones and clips which the project names are there; the message says where it names them and
 * which name is nearest. */
lmbStatus lmbProject_Check( const lmbProject *project, const lmbCharacter *character, lmbError *error );

/* The tissue's definition: the project's materials behind the default one, which holds everywhere. Points
 * into the project and the arena. */
lmbStatus lmbProject_TissueDef( const lmbProject *project, lmbArena *arena, lmbTissueDef *out,
                                lmbError *error );
/* The definition of a motion, with what it takes over from the project. */
lmbMotionDef lmbProject_MotionDef( const lmbProject *project, const lmbProjectMotion *motion );

#endif
