/* A table of numbers, whatever file it came from: CSV and its relatives, OpenSim .sto and .mot, NumPy .npy
 * and .npz. What a file may look like, and what is guessed: docs/formats/recordings.md.
 *
 * Thread safety: a table belongs to one thread at a time. Paths and names are UTF-8. */
#ifndef LMB_FORMATS_TABLE_H
#define LMB_FORMATS_TABLE_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>

enum
{
	lmbTableMaxColumns = 65536
};

typedef enum lmbTableFormat
{
	lmb_tableText,    /* columns separated by comma, semicolon, tab or spaces */
	lmb_tableOpenSim, /* .sto, .mot: a header that ends with "endheader" before the same */
	lmb_tableNpy,
	lmb_tableNpz
} lmbTableFormat;

typedef enum lmbTableAngles
{
	lmb_tableAnglesUnknown,
	lmb_tableAnglesRadians,
	lmb_tableAnglesDegrees
} lmbTableAngles;

/* One thing that the file says beside its numbers. */
typedef struct lmbTableText
{
	const char *key, *value;
} lmbTableText;

typedef struct lmbTable
{
	lmbArena arena;
	lmbTableFormat format;
	const char *path; /* as it was given to Read; "" for a table made here */
	int rowCount, columnCount;
	const char **names;    /* (columnCount) unique, never empty */
	const char **units;    /* (columnCount) as a row of units below the names said; NULL: not said */
	double **columns;      /* (columnCount) of (rowCount): NaN where a value is missing, never infinite */
	bool *text;            /* (columnCount) the column held words; its values are all NaN */
	int *lines;            /* (rowCount) of the file, counted from 1; NULL: no file, or not a text file */
	lmbTableAngles angles; /* what an OpenSim header said */
	bool named;            /* the file named its columns; otherwise they are "column1", .. */
	int factCount;
	lmbTableText *facts; /* (factCount) lines above the names, or small arrays of an .npz */
	int noteCount;
	const char **notes; /* (noteCount) what was guessed, mended or left out: sentences for the user */
} lmbTable;

typedef enum lmbTableHeader
{
	lmb_tableHeaderAuto, /* there is one if the line above the first numbers has as many cells */
	lmb_tableHeaderNone, /* the first line is numbers */
	lmb_tableHeaderFirst /* the first line that is no comment names the columns, even if by numbers */
} lmbTableHeader;

/* Zero is a valid def: everything is found out. */
typedef struct lmbTableDef
{
	char separator; /* ',', ';', '\t', ' ' (any run of spaces and tabs) or another; 0: found out */
	char decimal;   /* '.' or ','; 0: found out */
	lmbTableHeader header;
	const char *array; /* Nullable: the one array of an .npz to read; NULL: all that fit together */
} lmbTableDef;

/* Reads a table. What the file is is decided by its first bytes and a line "endheader", not by its name.
 * def is Nullable. Errors: lmb_statusIo; lmb_statusCorrupt for what breaks the format's rules (the message
 * names file, line or byte, column and remedy); lmb_statusUnsupported; lmb_statusInvalidArgument for a
 * wrong def; lmb_statusNotFound for array. On an error *out is NULL. Safe for hostile files: memory is at
 * most some twenty times the file's size, or what the file's own (checked) compressed data unpack to. */
lmbStatus lmbTable_Read( const char *path, const lmbTableDef *def, lmbTable **out, lmbError *error );

/* An empty table: values NaN, columns "column1", ..; both counts at least 1. Names are set by the caller. */
lmbStatus lmbTable_New( int rowCount, int columnCount, lmbTable **out, lmbError *error );
void lmbTable_Free( lmbTable *table ); /* NULL is fine */

/* A column by its name, else by its name in another case if that is one column only, else by its number
 * "#1".. . -1: no such column. */
int lmbTable_Column( const lmbTable *table, const char *name );
/* The same; an error names the file, the name and the columns that are there. */
lmbStatus lmbTable_Need( const lmbTable *table, const char *name, int *column, lmbError *error );
/* A fact's value, the key in any case; NULL when there is none. */
const char *lmbTable_Fact( const lmbTable *table, const char *key );
/* Adds a note (printf). */
lmbStatus lmbTable_Note( lmbTable *table, lmbError *error, const char *format, ... )
    __attribute__( ( format( printf, 3, 4 ) ) );

/* Comma, point, a line of names, "nan" for a missing value; every double reads back bit for bit (only the
 * payload of a NaN is lost). Names with commas, quotes or line ends are quoted (RFC 4180). */
lmbStatus lmbTable_WriteCsv( const lmbTable *table, const char *path, lmbError *error );
/* OpenSim's format, tab separated. name is the first line. angles goes into inDegrees (unknown: no); nothing
 * is converted. The first column is to be the time; it is named "time" in the file. */
lmbStatus lmbTable_WriteSto( const lmbTable *table, const char *path, const char *name, lmbTableAngles angles,
                             lmbError *error );
/* NumPy's .npz, deflated: for each column an array of (rowCount) doubles by its name, a slash in it made an
 * underscore. Two columns of one name, or a name beyond 251 bytes: lmb_statusUnsupported. The same table
 * gives the same bytes. */
lmbStatus lmbTable_WriteNpz( const lmbTable *table, const char *path, lmbError *error );
/* MATLAB's level 5, not compressed: `data`, a matrix (rowCount x columnCount) of doubles, and `names`, a cell
 * (1 x columnCount). 2 GiB or more: lmb_statusUnsupported. The same table gives the same bytes. */
lmbStatus lmbTable_WriteMatlab( const lmbTable *table, const char *path, lmbError *error );
/* By the ending of path, in any case: .npz; .mat; .sto and .mot, with name and angles; everything else is
 * CSV. */
lmbStatus lmbTable_Write( const lmbTable *table, const char *path, const char *name, lmbTableAngles angles,
                          lmbError *error );

#endif
