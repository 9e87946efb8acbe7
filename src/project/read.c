/* Reads a project file's text by the table of keys. */
#include "project/table.h"

#include "base/files.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

/* Reading of one file. */
typedef struct Reader
{
	lmbProjectFile *file;
	const lmbProjectTable *table;
	yaml_document_t *document;
	const char *path;   /* as the user gave it, for messages; NULL: a --set option */
	const char *folder; /* with its '/', or "" */
	lmbError *error;
} Reader;

static lmbStatus Fail( const Reader *reader, const yaml_node_t *node, const char *format, ... )
    __attribute__( ( format( printf, 3, 4 ) ) );

static lmbStatus Fail( const Reader *reader, const yaml_node_t *node, const char *format, ... )
{
	char text[800];
	va_list arguments;
	va_start( arguments, format );
	vsnprintf( text, sizeof( text ), format, arguments );
	va_end( arguments );
	if ( reader->path == NULL )
		return lmbError_Set( reader->error, lmb_statusInvalidArgument, "--set: %s", text );
	return lmbError_Set( reader->error, lmb_statusInvalidArgument, "%s:%zu:%zu: %s", reader->path,
	                     node->start_mark.line + 1, node->start_mark.column + 1, text );
}

/* Levenshtein's distance, case folded; long names are compared by their first 63 letters. */
static int EditDistance( const char *a, const char *b )
{
	enum
	{
		lengthLimit = 63
	};
	int row[lengthLimit + 1];
	int length = (int)strnlen( b, lengthLimit );
	for ( int j = 0; j <= length; ++j )
		row[j] = j;
	for ( int i = 0; a[i] != 0 && i < lengthLimit; ++i )
	{
		int diagonal = row[0];
		row[0] = i + 1;
		for ( int j = 0; j < length; ++j )
		{
			bool same = tolower( (unsigned char)a[i] ) == tolower( (unsigned char)b[j] );
			int best = diagonal + ( same ? 0 : 1 );
			best = row[j] + 1 < best ? row[j] + 1 : best;
			best = row[j + 1] + 1 < best ? row[j + 1] + 1 : best;
			diagonal = row[j + 1];
			row[j + 1] = best;
		}
	}
	return row[length];
}

const char *lmbProject_Nearest( const char *text, const char *const *names, int count )
{
	const char *nearest = NULL;
	int least = 0;
	for ( int i = 0; i < count; ++i )
	{
		int distance = EditDistance( text, names[i] );
		if ( nearest != NULL && distance >= least )
			continue;
		nearest = names[i];
		least = distance;
	}
	return nearest;
}

static const lmbProjectKey *FindKey( const lmbProjectTable *table, const char *section, const char *name )
{
	for ( int i = 0; i < table->keyCount; ++i )
		if ( strcmp( table->keys[i].section, section ) == 0 && strcmp( table->keys[i].name, name ) == 0 )
			return &table->keys[i];
	return NULL;
}

static bool IsSection( const lmbProjectTable *table, const char *name )
{
	for ( int i = 1; i < table->sectionCount; ++i )
		if ( strcmp( table->sections[i].name, name ) == 0 )
			return true;
	return false;
}

static lmbStatus UnknownKey( const Reader *reader, const yaml_node_t *node, const char *section,
                             const char *name )
{
	const lmbProjectTable *table = reader->table;
	const char *names[128];
	int count = 0;
	for ( int i = 0; i < table->keyCount && count < 100; ++i )
		if ( strcmp( table->keys[i].section, section ) == 0 )
			names[count++] = table->keys[i].name;
	for ( int i = 1; section[0] == 0 && i < table->sectionCount; ++i )
		names[count++] = table->sections[i].name;
	const char *dot = section[0] == 0 ? "" : ": ";
	for ( int i = 1; i < table->sectionCount; ++i )
		if ( FindKey( table, table->sections[i].name, name ) != NULL )
			return Fail( reader, node, "%s%sunknown key \"%s\"; it belongs under \"%s\"", section, dot, name,
			             table->sections[i].name );
	return Fail( reader, node, "%s%sunknown key \"%s\"; the nearest known one is \"%s\"", section, dot, name,
	             lmbProject_Nearest( name, names, count ) );
}

/* What a key's value must be, for messages. */
static void KindName( const lmbProjectKey *key, char *out, size_t capacity )
{
	switch ( key->kind )
	{
	case lmb_keyNumber:
		snprintf( out, capacity, "a number" );
		return;
	case lmb_keyCount:
		snprintf( out, capacity, "a whole number" );
		return;
	case lmb_keyFlag:
		snprintf( out, capacity, "true or false" );
		return;
	case lmb_keyVector:
		snprintf( out, capacity, "a list of %s numbers", key->length == 2 ? "two" : "three" );
		return;
	case lmb_keyNumbers:
		snprintf( out, capacity, "a list of numbers" );
		return;
	case lmb_keyTexts:
		snprintf( out, capacity, "a list of names" );
		return;
	case lmb_keyPaths:
		snprintf( out, capacity, "a list of files" );
		return;
	case lmb_keyNames:
		snprintf( out, capacity, "a list of %s", key->what->many );
		return;
	case lmb_keyChoices:
		snprintf( out, capacity, "a list of words" );
		return;
	case lmb_keyRecords:
		snprintf( out, capacity, "a list of entries" );
		return;
	case lmb_keyPath:
		snprintf( out, capacity, "the name of a file" );
		return;
	case lmb_keyName:
		snprintf( out, capacity, "the name of %s", key->what->one );
		return;
	case lmb_keyText:
	case lmb_keyChoice:
		break;
	}
	snprintf( out, capacity, "a word" );
}

static lmbStatus WrongKind( const Reader *reader, const yaml_node_t *node, const lmbProjectKey *key )
{
	static const char *const what[] = { "nothing", "a single value", "a list", "a group of keys" };
	const char *got = what[node->type <= YAML_MAPPING_NODE ? node->type : 0];
	char must[64];
	KindName( key, must, sizeof( must ) );
	if ( node->type == YAML_SCALAR_NODE )
		return Fail( reader, node, "%s must be %s, not \"%.100s\"", key->name, must,
		             (const char *)node->data.scalar.value );
	return Fail( reader, node, "%s must be %s, not %s", key->name, must, got );
}

/* The scalar's text, or NULL for a list, a mapping, or an empty plain scalar (YAML's null). */
static const char *Scalar( const yaml_node_t *node )
{
	if ( node->type != YAML_SCALAR_NODE )
		return NULL;
	const char *text = (const char *)node->data.scalar.value;
	bool plain = node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	if ( strlen( text ) != node->data.scalar.length ) /* a zero byte inside */
		return NULL;
	if ( plain && ( text[0] == 0 || strcmp( text, "~" ) == 0 || strcmp( text, "null" ) == 0 ) )
		return NULL;
	return text;
}

static lmbStatus ReadNumber( const Reader *reader, const yaml_node_t *node, const lmbProjectKey *key,
                             double *out )
{
	const char *text = Scalar( node );
	if ( text == NULL || node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE )
		return WrongKind( reader, node, key );
	/* strtod also reads hexadecimal, "inf" and "nan", which a settings file should not have. */
	if ( strspn( text, "+-.0123456789eE" ) != strlen( text ) )
		return WrongKind( reader, node, key );
	char *end;
	double value = strtod( text, &end );
	if ( end == text || *end != 0 || ( key->kind == lmb_keyCount && value != floor( value ) ) )
		return WrongKind( reader, node, key );
	const char *space = key->unit != NULL ? " " : "";
	const char *unit = key->unit != NULL ? key->unit : "";
	if ( !( value >= key->minimum && value <= key->maximum ) )
		return Fail( reader, node, "%s must be in %.10g to %.10g%s%s, not %s", key->name, key->minimum,
		             key->maximum, space, unit, text );
	*out = value;
	return lmb_statusOk;
}

static lmbStatus ReadFlag( const Reader *reader, const yaml_node_t *node, const lmbProjectKey *key,
                           bool *out )
{
	const char *text = Scalar( node );
	bool yes = text != NULL && strcmp( text, "true" ) == 0;
	if ( !yes && ( text == NULL || strcmp( text, "false" ) != 0 ) )
		return WrongKind( reader, node, key );
	*out = yes;
	return lmb_statusOk;
}

static lmbStatus ReadChoice( const Reader *reader, const yaml_node_t *node, const lmbProjectKey *key,
                             int *out )
{
	const char *text = Scalar( node );
	char list[200] = "";
	for ( int i = 0; key->choices[i] != NULL; ++i )
	{
		if ( text != NULL && strcmp( text, key->choices[i] ) == 0 )
		{
			*out = i;
			return lmb_statusOk;
		}
		size_t used = strlen( list );
		snprintf( list + used, sizeof( list ) - used, "%s%s", i > 0 ? ", " : "", key->choices[i] );
	}
	return Fail( reader, node, "%s must be one of %s, not \"%.100s\"", key->name, list,
	             text != NULL ? text : "" );
}

/* A copy of the scalar whose place is remembered. */
static lmbStatus ReadText( const Reader *reader, const yaml_node_t *node, const lmbProjectKey *key,
                           const char **out )
{
	const char *text = Scalar( node );
	if ( text == NULL )
		return WrongKind( reader, node, key );
	lmbArena *arena = &reader->file->arena;
	char joined[4096];
	bool path = key->kind == lmb_keyPath || key->kind == lmb_keyPaths;
	if ( path )
		LMB_TRY( lmbPath_Join( joined, sizeof( joined ), reader->folder, text, reader->error ) );
	char *copy = lmbArena_String( arena, path ? joined : text );
	lmbProjectPlace *place = LMB_NEW( arena, lmbProjectPlace, 1 );
	if ( copy == NULL || place == NULL )
		return lmbError_Memory( reader->error );
	*place = ( lmbProjectPlace ){ copy, (int)node->start_mark.line + 1, (int)node->start_mark.column + 1,
	                              reader->file->places };
	reader->file->places = place;
	*out = copy;
	return lmb_statusOk;
}

static int ListLength( const yaml_node_t *node )
{
	return (int)( node->data.sequence.items.top - node->data.sequence.items.start );
}

static const yaml_node_t *ListItem( const Reader *reader, const yaml_node_t *node, int index )
{
	return yaml_document_get_node( reader->document, node->data.sequence.items.start[index] );
}

static lmbStatus ReadVector( const Reader *reader, const yaml_node_t *node, const lmbProjectKey *key,
                             double *out )
{
	if ( node->type != YAML_SEQUENCE_NODE || ListLength( node ) != key->length )
		return WrongKind( reader, node, key );
	for ( int i = 0; i < key->length; ++i )
		LMB_TRY( ReadNumber( reader, ListItem( reader, node, i ), key, out + i ) );
	return lmb_statusOk;
}

static lmbStatus ReadNumbers( const Reader *reader, const yaml_node_t *node, const lmbProjectKey *key,
                              const double **out, int *count )
{
	if ( node->type != YAML_SEQUENCE_NODE )
		return WrongKind( reader, node, key );
	double *numbers = LMB_NEW( &reader->file->arena, double, ListLength( node ) );
	if ( numbers == NULL )
		return lmbError_Memory( reader->error );
	for ( int i = 0; i < ListLength( node ); ++i )
		LMB_TRY( ReadNumber( reader, ListItem( reader, node, i ), key, &numbers[i] ) );
	*out = numbers;
	*count = ListLength( node );
	return lmb_statusOk;
}

static lmbStatus ReadChoices( const Reader *reader, const yaml_node_t *node, const lmbProjectKey *key,
                              const int **out, int *count )
{
	if ( node->type != YAML_SEQUENCE_NODE )
		return WrongKind( reader, node, key );
	int *choices = LMB_NEW( &reader->file->arena, int, ListLength( node ) );
	if ( choices == NULL )
		return lmbError_Memory( reader->error );
	for ( int i = 0; i < ListLength( node ); ++i )
	{
		LMB_TRY( ReadChoice( reader, ListItem( reader, node, i ), key, &choices[i] ) );
		for ( int k = 0; k < i; ++k )
			if ( choices[k] == choices[i] )
				return Fail( reader, ListItem( reader, node, i ), "%s: \"%s\" is here twice", key->name,
				             key->choices[choices[i]] );
	}
	*out = choices;
	*count = ListLength( node );
	return lmb_statusOk;
}

static lmbStatus ReadTexts( const Reader *reader, const yaml_node_t *node, const lmbProjectKey *key,
                            const char *const **out, int *count )
{
	if ( node->type != YAML_SEQUENCE_NODE )
		return WrongKind( reader, node, key );
	const char **texts = LMB_NEW( &reader->file->arena, const char *, ListLength( node ) );
	if ( texts == NULL )
		return lmbError_Memory( reader->error );
	for ( int i = 0; i < ListLength( node ); ++i )
		LMB_TRY( ReadText( reader, ListItem( reader, node, i ), key, &texts[i] ) );
	*out = texts;
	*count = ListLength( node );
	return lmb_statusOk;
}

static lmbStatus ReadGroup( const Reader *reader, const yaml_node_t *node, const char *section, char *base );
static lmbStatus ReadValue( const Reader *reader, const yaml_node_t *node, const lmbProjectKey *key,
                            char *base );

static lmbStatus ReadRecords( const Reader *reader, const yaml_node_t *node, const lmbProjectKey *key,
                              const void **out, int *count )
{
	if ( node->type != YAML_SEQUENCE_NODE )
		return WrongKind( reader, node, key );
	const lmbProjectRecord *record = lmbProjectTable_FindRecord( reader->table, key->record );
	char *entries = lmbArena_New( &reader->file->arena, (size_t)ListLength( node ), record->size );
	if ( entries == NULL )
		return lmbError_Memory( reader->error );
	for ( int i = 0; i < ListLength( node ); ++i )
	{
		const yaml_node_t *item = ListItem( reader, node, i );
		char *entry = entries + (size_t)i * record->size;
		memcpy( entry, record->defaults, record->size );
		const lmbProjectKey *shorthand =
		    record->shorthand != NULL ? FindKey( reader->table, record->name, record->shorthand ) : NULL;
		if ( shorthand != NULL && item->type == YAML_SCALAR_NODE )
			LMB_TRY( ReadValue( reader, item, shorthand, entry ) );
		else
			LMB_TRY( ReadGroup( reader, item, record->name, entry ) );
		/* A name without "otherwise" (unset) must be given. */
		for ( int k = 0; k < reader->table->keyCount; ++k )
		{
			const lmbProjectKey *member = &reader->table->keys[k];
			bool names = member->kind == lmb_keyName || member->kind == lmb_keyPath;
			if ( names && member->unset == NULL && strcmp( member->section, record->name ) == 0 &&
			     *(const char **)( entry + member->offset ) == NULL )
				return Fail( reader, item, "this entry of %s needs \"%s\"", key->name, member->name );
		}
	}
	*out = entries;
	*count = ListLength( node );
	return lmb_statusOk;
}

static lmbStatus ReadValue( const Reader *reader, const yaml_node_t *node, const lmbProjectKey *key,
                            char *base )
{
	void *at = base + key->offset;
	int *count = (int *)( base + key->countOffset );
	double number = 0.0;
	switch ( key->kind )
	{
	case lmb_keyNumber:
		return ReadNumber( reader, node, key, at );
	case lmb_keyCount:
		LMB_TRY( ReadNumber( reader, node, key, &number ) );
		*(int *)at = (int)number;
		return lmb_statusOk;
	case lmb_keyFlag:
		return ReadFlag( reader, node, key, at );
	case lmb_keyChoice:
		return ReadChoice( reader, node, key, at );
	case lmb_keyVector:
		return ReadVector( reader, node, key, at );
	case lmb_keyNumbers:
		return ReadNumbers( reader, node, key, at, count );
	case lmb_keyChoices:
		return ReadChoices( reader, node, key, at, count );
	case lmb_keyTexts:
	case lmb_keyPaths:
	case lmb_keyNames:
		return ReadTexts( reader, node, key, at, count );
	case lmb_keyRecords:
		return ReadRecords( reader, node, key, at, count );
	case lmb_keyText:
	case lmb_keyPath:
	case lmb_keyName:
		break;
	}
	return ReadText( reader, node, key, at );
}

/* A mapping: the keys of a section, or of a list's entry, or (section "") of the whole file. */
static lmbStatus ReadGroup( const Reader *reader, const yaml_node_t *node, const char *section, char *base )
{
	const char *what = section[0] == 0 ? "a project file" : section;
	if ( node->type != YAML_MAPPING_NODE )
		return Fail( reader, node, "%s must be a group of keys (\"key: value\")", what );
	const yaml_node_pair_t *pairs = node->data.mapping.pairs.start;
	int count = (int)( node->data.mapping.pairs.top - pairs );
	for ( int i = 0; i < count; ++i )
	{
		const yaml_node_t *name = yaml_document_get_node( reader->document, pairs[i].key );
		const yaml_node_t *value = yaml_document_get_node( reader->document, pairs[i].value );
		const char *text = Scalar( name );
		if ( text == NULL )
			return Fail( reader, name, "%s: a key must be a word", what );
		for ( int k = 0; k < i; ++k )
		{
			const char *other = Scalar( yaml_document_get_node( reader->document, pairs[k].key ) );
			if ( other != NULL && strcmp( other, text ) == 0 )
				return Fail( reader, name, "\"%s\" is here twice", text );
		}
		const lmbProjectKey *key = FindKey( reader->table, section, text );
		if ( section[0] == 0 && strcmp( text, reader->table->needed ) == 0 )
			reader->file->hasNeeded = true;
		if ( key != NULL )
			LMB_TRY( ReadValue( reader, value, key, base ) );
		else if ( section[0] == 0 && IsSection( reader->table, text ) )
			LMB_TRY( ReadGroup( reader, value, text, base ) );
		else
			return UnknownKey( reader, name, section, text );
	}
	return lmb_statusOk;
}

/* The parser takes the square of the depth of brackets, so that a file of nothing else would hold it for
 * hours. A closing bracket without an opening one counts as none; brackets inside texts are counted too,
 * which no project comes near. */
static bool TooDeep( const char *text, size_t size )
{
	enum
	{
		deepest = 64
	};
	int depth = 0;
	for ( size_t i = 0; i < size && depth <= deepest; ++i )
	{
		depth += text[i] == '[' || text[i] == '{';
		depth -= ( text[i] == ']' || text[i] == '}' ) && depth > 0;
	}
	return depth > deepest;
}

lmbStatus lmbProjectFile_Read( lmbProjectFile *file, const char *path, const char *folder, const char *text,
                               size_t size, lmbError *error )
{
	Reader reader = { .file = file, .table = file->table, .path = path, .folder = folder, .error = error };
	yaml_parser_t parser;
	yaml_document_t document;
	if ( !yaml_parser_initialize( &parser ) )
		return lmbError_Memory( error );
	yaml_parser_set_input_string( &parser, (const unsigned char *)text, size );
	lmbStatus status = lmb_statusOk;
	if ( TooDeep( text, size ) )
	{
		yaml_parser_delete( &parser );
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "%s:1:1: brackets within brackets, more than 64 deep: not a project file",
		                     path != NULL ? path : "--set" );
	}
	if ( !yaml_parser_load( &parser, &document ) )
	{
		const char *problem = parser.problem != NULL ? parser.problem : "not YAML";
		const char *place = path != NULL ? path : "--set";
		status = lmbError_Set( error, lmb_statusInvalidArgument, "%s:%zu:%zu: %s", place,
		                       parser.problem_mark.line + 1, parser.problem_mark.column + 1, problem );
		yaml_parser_delete( &parser );
		return status;
	}
	reader.document = &document;
	const yaml_node_t *root = yaml_document_get_root_node( &document );
	if ( root == NULL )
		status = lmbError_Set( error, lmb_statusInvalidArgument,
		                       "%s:1:1: the file is empty; it needs at least \"%s\"",
		                       path != NULL ? path : "--set", file->table->example );
	else
		status = ReadGroup( &reader, root, "", (char *)file );
	yaml_document_delete( &document );
	yaml_parser_delete( &parser );
	return status;
}

/* Which of the tables' needed keys stands at the top of a document. */
static int DocumentKind( yaml_document_t *document, const lmbProjectTable *const *tables, int count )
{
	const yaml_node_t *root = yaml_document_get_root_node( document );
	if ( root == NULL || root->type != YAML_MAPPING_NODE )
		return -1;
	const yaml_node_pair_t *pair = root->data.mapping.pairs.start;
	for ( ; pair < root->data.mapping.pairs.top; ++pair )
	{
		const char *text = Scalar( yaml_document_get_node( document, pair->key ) );
		for ( int i = 0; text != NULL && i < count; ++i )
			if ( strcmp( text, tables[i]->needed ) == 0 )
				return i;
	}
	return -1;
}

int lmbProjectFile_Kind( const char *path, const lmbProjectTable *const *tables, int count )
{
	lmbArena arena = { 0 };
	char *text = NULL;
	size_t size = 0;
	int kind = -1;
	yaml_parser_t parser;
	yaml_document_t document;
	if ( lmbFile_Read( path, &arena, &text, &size, NULL ) == lmb_statusOk && !TooDeep( text, size ) &&
	     yaml_parser_initialize( &parser ) )
	{
		yaml_parser_set_input_string( &parser, (const unsigned char *)text, size );
		if ( yaml_parser_load( &parser, &document ) )
		{
			kind = DocumentKind( &document, tables, count );
			yaml_document_delete( &document );
		}
		yaml_parser_delete( &parser );
	}
	lmbArena_Free( &arena );
	return kind;
}
