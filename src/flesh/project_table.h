/* The table of the project file's keys; only for project*.c. */
#ifndef LMB_FLESH_PROJECT_TABLE_H
#define LMB_FLESH_PROJECT_TABLE_H

#include "flesh/project.h"

typedef enum lmbKeyKind
{
	lmb_keyNumber, /* double */
	lmb_keyCount,  /* int */
	lmb_keyFlag,   /* bool */
	lmb_keyText,   /* const char * */
	lmb_keyPath,   /* const char *, relative to the project file */
	lmb_keyBone,   /* const char *, a bone of the character */
	lmb_keyClip,   /* const char *, an animation of the character */
	lmb_keyChoice, /* an enumeration counting from 0 */
	lmb_keyVector, /* double[3] */
	lmb_keyTexts,  /* const char *const *, and int at countOffset */
	lmb_keyBones,  /* the same, bones of the character */
	lmb_keyRecords /* const record *, and int at countOffset */
} lmbKeyKind;

typedef struct lmbProjectKey
{
	const char *section; /* "" for the top level; a record's name for its members */
	const char *name;
	lmbKeyKind kind;
	size_t offset;      /* in lmbProject, or in the record */
	size_t countOffset; /* of lists */
	double minimum, maximum;
	const char *unit;           /* "" for none */
	const char *const *choices; /* of lmb_keyChoice, NULL-terminated */
	const char *record;         /* of lmb_keyRecords */
	const char *unset;          /* what an omitted key means when its default is no value */
	const char *says;
} lmbProjectKey;

/* The members of a list's entries. */
typedef struct lmbProjectRecord
{
	const char *name;
	size_t size;
	const void *defaults;
	const char *shorthand; /* Nullable: an entry that is one scalar sets this member */
} lmbProjectRecord;

typedef struct lmbProjectSection
{
	const char *name;
	const char *says;
} lmbProjectSection;

extern const lmbProjectKey lmbProjectKeys[];
extern const int lmbProjectKeyCount;
extern const lmbProjectSection lmbProjectSections[];
extern const int lmbProjectSectionCount;

const lmbProjectRecord *lmbProjectRecord_Find( const char *name );

/* Every default; strings are static, the arena is empty. */
void lmbProject_Defaults( lmbProject *project );

/* Reads the text of a project file; path NULL: of a --set option; folder with its '/', or "". */
lmbStatus lmbProject_Read( lmbProject *project, const char *path, const char *folder, const char *text,
                           size_t size, lmbError *error );

/* Where a text of the project stands in its file. */
typedef struct lmbProjectPlace
{
	const char *text; /* compared as a pointer */
	int line, column; /* from 1 */
	struct lmbProjectPlace *next;
} lmbProjectPlace;

#endif
