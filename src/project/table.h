/* Project files: YAML, read and checked by a table that says each key's place, unit, range and meaning.
 *
 * One table for each kind of project (flesh/project_table.c, limb/project_table.c). Reading, checking, --set,
 * printing the defaults and the reference page all come from it. */
#ifndef LMB_PROJECT_TABLE_H
#define LMB_PROJECT_TABLE_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stdio.h>

typedef enum lmbKeyKind
{
	lmb_keyNumber,  /* double */
	lmb_keyCount,   /* int */
	lmb_keyFlag,    /* bool */
	lmb_keyText,    /* const char * */
	lmb_keyPath,    /* const char *, relative to the project file */
	lmb_keyName,    /* const char *, of something that the project's data must have, see what */
	lmb_keyChoice,  /* an enumeration counting from 0 */
	lmb_keyVector,  /* double[length] */
	lmb_keyNumbers, /* const double *, and int at countOffset */
	lmb_keyTexts,   /* const char *const *, and int at countOffset */
	lmb_keyPaths,   /* the same, each as for lmb_keyPath */
	lmb_keyNames,   /* the same, each as for lmb_keyName */
	lmb_keyChoices, /* const int *, each a choice, none twice, and int at countOffset */
	lmb_keyRecords  /* const record *, and int at countOffset */
} lmbKeyKind;

/* What the names of a key are names of: "a bone", "bones". Keys of the same thing share one address. */
typedef struct lmbProjectNoun
{
	const char *one, *many;
} lmbProjectNoun;

typedef struct lmbProjectKey
{
	const char *section; /* "" for the top level; a record's name for its members */
	const char *name;
	lmbKeyKind kind;
	int length;         /* of lmb_keyVector: 2 or 3 */
	size_t offset;      /* in the project, or in the record */
	size_t countOffset; /* of lists */
	double minimum, maximum;
	const char *unit;           /* NULL for none */
	const char *const *choices; /* of lmb_keyChoice and lmb_keyChoices, NULL-terminated */
	const lmbProjectNoun *what; /* of lmb_keyName and lmb_keyNames */
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
	const char *says;      /* where such entries stand */
} lmbProjectRecord;

typedef struct lmbProjectSection
{
	const char *name;
	const char *says;
} lmbProjectSection;

typedef struct lmbProjectTable
{
	const lmbProjectKey *keys;
	const lmbProjectSection *sections; /* the first is the top level, "" */
	const lmbProjectRecord *records;
	int keyCount, sectionCount, recordCount;
	const char *needed;                  /* the key or section that every such file has, and no other kind */
	const char *missing;                 /* what to say without it, behind "the key is missing; " */
	const char *example;                 /* the shortest file, for the defaults' and the empty file's text */
	size_t size;                         /* of the project's struct, which starts with a lmbProjectFile */
	void ( *defaults )( void *project ); /* every default into a zeroed project; strings are static */
	const char *title, *introduction;    /* of the reference page, Markdown */
} lmbProjectTable;

/* What every project keeps of the file that it was read from: the first member of its struct. */
typedef struct lmbProjectFile
{
	const lmbProjectTable *table;
	lmbArena arena;
	const char *path;               /* of the project file, or of what it stands for */
	struct lmbProjectPlace *places; /* where each text stands in the file */
	bool hasNeeded;
} lmbProjectFile;

/* Where a text of the project stands in its file. */
typedef struct lmbProjectPlace
{
	const char *text; /* compared as a pointer */
	int line, column; /* from 1 */
	struct lmbProjectPlace *next;
} lmbProjectPlace;

/* A project with every default; out points at its lmbProjectFile. Free with lmbProjectFile_Free. */
lmbStatus lmbProjectFile_New( const lmbProjectTable *table, const char *path, lmbProjectFile **out,
                              lmbError *error );
void lmbProjectFile_Free( lmbProjectFile *file ); /* NULL is fine */

/* Reads file->path. An unknown key, a wrong type, a number out of range is an error "file:line:column: ..."
 * with the nearest known key. Paths become relative to the file's folder. */
lmbStatus lmbProjectFile_Load( lmbProjectFile *file, lmbError *error );
/* Reads text as if it were the file; path NULL: of a --set option; folder with its '/', or "". */
lmbStatus lmbProjectFile_Read( lmbProjectFile *file, const char *path, const char *folder, const char *text,
                               size_t size, lmbError *error );
/* Changes one key, "simulate.poses=40", as if the file said so (relative paths: to the current folder). */
lmbStatus lmbProjectFile_Set( lmbProjectFile *file, const char *assignment, lmbError *error );

/* The place of a text; 1:1 when it has none (a default). */
void lmbProjectFile_Place( const lmbProjectFile *file, const char *text, int *line, int *column );
/* For output folders: the file's name without its ending, its folder's for project.yaml. NULL: no memory. */
const char *lmbProjectFile_Name( lmbArena *arena, const char *path );
/* Which of tables (count) the file at path is for, told by the key that each needs; -1: none, or not readable
 * as YAML, which loading it will tell. */
int lmbProjectFile_Kind( const char *path, const lmbProjectTable *const *tables, int count );

/* The settings of a section ("tissue", "simulate", "motions", ...) as text, one per line, complete and
 * canonical: equal text means equal settings. In the arena; NULL without memory. */
char *lmbProjectFile_Settings( const lmbProjectFile *file, const char *section, lmbArena *arena );

/* A project file with every key at its default, with comments; and the reference page in Markdown. */
void lmbProjectTable_PrintDefaults( const lmbProjectTable *table, FILE *stream );
void lmbProjectTable_PrintReference( const lmbProjectTable *table, FILE *stream );

const lmbProjectRecord *lmbProjectTable_FindRecord( const lmbProjectTable *table, const char *name );

/* The name among count nearest to text by edit distance; NULL when count is 0. */
const char *lmbProject_Nearest( const char *text, const char *const *names, int count );

#endif
