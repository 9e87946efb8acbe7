/* Shared by the readers of tables; internal to src/formats. */
#ifndef LMB_FORMATS_TABLE_PRIVATE_H
#define LMB_FORMATS_TABLE_PRIVATE_H

#include "formats/table.h"

#include <stdlib.h>

/* One cell of a line of text: a piece of the file's bytes, spaces around it and quotes taken off. */
typedef struct lmbTableCell
{
	const char *text;
	size_t length;
	bool quoted; /* doubled quotes inside stand for one */
} lmbTableCell;

/* A walk over a text, record by record. Zero but for at, end, start and separator; Free at the end. */
typedef struct lmbTableScan
{
	const char *at, *end;
	int line; /* of the next record, from 1 */
	char separator;
	int recordLine;      /* of the record that Next gave */
	const char *record;  /* where it starts */
	bool comment;        /* it is a comment: one cell, the text behind the mark */
	bool openQuote;      /* a quotation mark that opened in it is not closed */
	int count, capacity; /* cells */
	lmbTableCell *cells;
} lmbTableScan;

/* The next record that is not blank; false at the end, or when there is no memory (count is then -1).
 * Comments start with #, % or //. */
bool lmbTableScan_Next( lmbTableScan *scan );
void lmbTableScan_Free( lmbTableScan *scan );
/* A cell's text, quotes undone, bytes that are no UTF-8 taken for Latin-1; NULL: no memory. */
char *lmbTableCell_Text( const lmbTableCell *cell, lmbArena *arena );

/* How a text is laid out. */
typedef struct lmbTableLayout
{
	char separator;
	int columnCount;
	int firstLine;                          /* of numbers */
	int namesLine, unitsLine;               /* 0: none */
	bool namesInComment, namesWithoutFirst; /* as NumPy's savetxt and R's write.table write */
} lmbTableLayout;

/* text starts at line firstLine of the file. */
lmbStatus lmbTableLayout_Find( const lmbTableDef *def, const char *path, const char *text, const char *end,
                               int firstLine, lmbTableLayout *layout, lmbError *error );

/* Each fills a table that is zero but for path. data has a zero byte behind its end. */
lmbStatus lmbTable_ReadText( lmbTable *table, const lmbTableDef *def, const char *data, size_t size,
                             lmbError *error );
lmbStatus lmbTable_ReadNpy( lmbTable *table, const char *data, size_t size, lmbError *error );
/* Reads table->path again, with minizip. */
lmbStatus lmbTable_ReadNpz( lmbTable *table, const lmbTableDef *def, lmbError *error );

/* Room for the columns, all NaN, with names "column1".. */
lmbStatus lmbTable_Allocate( lmbTable *table, int rowCount, int columnCount, lmbError *error );
lmbStatus lmbTable_AddFact( lmbTable *table, const char *key, const char *value, lmbError *error );
/* Makes names unique and not empty, with a note when that changes one. */
lmbStatus lmbTable_MendNames( lmbTable *table, lmbError *error );

#endif
