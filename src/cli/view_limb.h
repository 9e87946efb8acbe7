/* The page of `limber view` for a limb. */
#ifndef LMB_CLI_VIEW_LIMB_H
#define LMB_CLI_VIEW_LIMB_H

#include "cli/view_page.h"
#include "limb/project.h"

typedef struct lmbViewLimbDef
{
	const char *name;              /* above the figure */
	const char *model;             /* path */
	const lmbLimbProject *project; /* NULL: a model alone, which swings freely */
	const char *folder;            /* the project's output; NULL without a project */
	const char *const *motions;    /* NULL-terminated names; NULL: all */
} lmbViewLimbDef;

/* Whether a file says that it is a limb's model. */
bool lmbViewLimb_IsModel( const char *path );

/* As lmbViewPage_Make, with the trajectories of the project's tests that are in its folder. Everything is
 * copied into the page. */
lmbStatus lmbViewLimb_Make( const lmbViewLimbDef *def, lmbViewPage *page, lmbError *error );

#endif
