/* The page of `limber view`: what it is made of, and how it is written. */
#ifndef LMB_CLI_VIEW_PAGE_H
#define LMB_CLI_VIEW_PAGE_H

#include "base/files.h"
#include "flesh/pipeline_show.h"

#include <jansson.h>

/* Data that the page reads by name. */
typedef struct lmbViewBlob
{
	char name[32];
	const void *data; /* the page's arena, or the show's */
	size_t size;
} lmbViewBlob;

typedef struct lmbViewPage
{
	lmbArena arena;
	json_t *manifest;
	lmbViewBlob *blobs; /* (blobCount) */
	int blobCount, blobMost;
	char *before, *after; /* the page without its data, where the data go between */
} lmbViewPage;

typedef struct lmbViewDef
{
	const char *name;           /* above the figure */
	const char *model;          /* path */
	const char *const *motions; /* NULL-terminated names; NULL: all */
	lmbTargetInterpolation interpolation;
} lmbViewDef;

/* Reads the page as `scripts/viewer` made it beside this program (viewer/viewer.html), and gathers the
 * data. page is zero-initialised; show must outlive it. Errors: lmb_statusNotFound when the page was not made
 * or a motion is not there, lmb_statusInvalidArgument when model and character do not belong together. Close
 * also after a failure. */
lmbStatus lmbViewPage_Make( const lmbViewDef *def, const lmbShow *show, lmbViewPage *page, lmbError *error );
void lmbViewPage_Close( lmbViewPage *page );

/* What Make is made of, for pages of other things (view_limb.h): begins with a page that lies beside this
 * program (viewer/FILE); adds data, which must outlive the page, and a whole file. */
lmbStatus lmbViewPage_Begin( lmbViewPage *page, const char *file, lmbError *error );
lmbStatus lmbViewPage_Add( lmbViewPage *page, const char *name, const void *data, size_t size,
                           lmbError *error );
lmbStatus lmbViewPage_AddFile( lmbViewPage *page, const char *name, const char *path, lmbError *error );
/* Whether a motion is among those asked for (NULL-terminated; NULL: all are). */
bool lmbViewPage_Wanted( const char *const *motions, const char *name );

const lmbViewBlob *lmbViewPage_Blob( const lmbViewPage *page, const char *name ); /* NULL: none */

/* One file with everything in it, or (blobs false) only the page, which asks for data/NAME. */
lmbStatus lmbViewPage_Write( const lmbViewPage *page, bool blobs, FILE *stream, lmbError *error );

#endif
