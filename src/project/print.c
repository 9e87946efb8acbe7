/* What the table of keys says, as text: canonical settings, the defaults, the reference page. */
#include "project/table.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Text that grows in an arena: doubles its block, the old ones stay until the arena goes. */
typedef struct Text
{
	lmbArena *arena;
	char *data;
	size_t used, capacity;
	bool failed;
	bool brief; /* of a list's entries, only what differs from the defaults; for people */
} Text;

static void Append( Text *text, const char *format, ... ) __attribute__( ( format( printf, 2, 3 ) ) );

static void Append( Text *text, const char *format, ... )
{
	va_list arguments, again;
	va_start( arguments, format );
	va_copy( again, arguments );
	int length = vsnprintf( NULL, 0, format, arguments );
	va_end( arguments );
	size_t need = text->used + (size_t)( length > 0 ? length : 0 ) + 1;
	if ( need > text->capacity && !text->failed )
	{
		size_t capacity = need > 2 * text->capacity ? need + 1024 : 2 * text->capacity;
		char *data = lmbArena_New( text->arena, capacity, 1 );
		text->failed = data == NULL;
		if ( data != NULL && text->used > 0 )
			memcpy( data, text->data, text->used );
		text->data = data;
		text->capacity = capacity;
	}
	if ( !text->failed )
	{
		vsnprintf( text->data + text->used, text->capacity - text->used, format, again );
		text->used += (size_t)length;
	}
	va_end( again );
}

static void AppendQuoted( Text *text, const char *value )
{
	Append( text, "\"" );
	for ( ; value != NULL && *value != 0; ++value )
		Append( text, *value == '"' || *value == '\\' ? "\\%c" : "%c", *value );
	Append( text, "\"" );
}

static void AppendNumber( Text *text, double value )
{
	/* The shortest form that reads back as the same number. */
	char form[32];
	if ( fabs( value ) < 1e15 && value == floor( value ) )
	{
		Append( text, "%.0f", value );
		return;
	}
	for ( int digits = 6; digits <= 17; ++digits )
	{
		snprintf( form, sizeof( form ), "%.*g", digits, value );
		if ( strtod( form, NULL ) == value )
			break;
	}
	Append( text, "%s", form );
}

static void AppendNumbers( Text *text, const double *values, int count )
{
	Append( text, "[" );
	for ( int i = 0; i < count; ++i )
	{
		Append( text, "%s", i > 0 ? ", " : "" );
		AppendNumber( text, values[i] );
	}
	Append( text, "]" );
}

static void AppendRecords( Text *text, const lmbProjectTable *table, const lmbProjectKey *key,
                           const char *base );

static void AppendValue( Text *text, const lmbProjectTable *table, const lmbProjectKey *key,
                         const char *base )
{
	const void *at = base + key->offset;
	int count = *(const int *)( base + key->countOffset );
	switch ( key->kind )
	{
	case lmb_keyNumber:
		AppendNumber( text, *(const double *)at );
		break;
	case lmb_keyCount:
		Append( text, "%d", *(const int *)at );
		break;
	case lmb_keyFlag:
		Append( text, "%s", *(const bool *)at ? "true" : "false" );
		break;
	case lmb_keyChoice:
		Append( text, "%s", key->choices[*(const int *)at] );
		break;
	case lmb_keyVector:
		AppendNumbers( text, at, key->length );
		break;
	case lmb_keyNumbers:
		AppendNumbers( text, *(const double *const *)at, count );
		break;
	case lmb_keyChoices:
		Append( text, "[" );
		for ( int i = 0; i < count; ++i )
			Append( text, "%s%s", i > 0 ? ", " : "", key->choices[( *(const int *const *)at )[i]] );
		Append( text, "]" );
		break;
	case lmb_keyTexts:
	case lmb_keyPaths:
	case lmb_keyNames:
		Append( text, "[" );
		for ( int i = 0; i < count; ++i )
		{
			Append( text, "%s", i > 0 ? ", " : "" );
			AppendQuoted( text, ( *(const char *const *const *)at )[i] );
		}
		Append( text, "]" );
		break;
	case lmb_keyRecords:
		AppendRecords( text, table, key, base );
		break;
	case lmb_keyText:
	case lmb_keyPath:
	case lmb_keyName:
		AppendQuoted( text, *(const char *const *)at );
		break;
	}
}

/* Whether an entry's member says nothing: it is the default and not what the entry is called by. */
static bool IsDefault( const lmbProjectRecord *record, const lmbProjectKey *member, const char *entry )
{
	const char *usual = (const char *)record->defaults + member->offset, *value = entry + member->offset;
	if ( record->shorthand != NULL && strcmp( record->shorthand, member->name ) == 0 )
		return false;
	switch ( member->kind )
	{
	case lmb_keyNumber:
		return memcmp( value, usual, sizeof( double ) ) == 0;
	case lmb_keyCount:
	case lmb_keyChoice:
		return memcmp( value, usual, sizeof( int ) ) == 0;
	case lmb_keyFlag:
		return *(const bool *)value == *(const bool *)usual;
	case lmb_keyText:
		return *(const char *const *)value == *(const char *const *)usual;
	default:
		return false;
	}
}

static void AppendRecords( Text *text, const lmbProjectTable *table, const lmbProjectKey *key,
                           const char *base )
{
	const lmbProjectRecord *record = lmbProjectTable_FindRecord( table, key->record );
	const char *entries = *(const char *const *)( base + key->offset );
	int count = *(const int *)( base + key->countOffset );
	Append( text, "[" );
	for ( int i = 0; i < count; ++i )
	{
		const char *entry = entries + (size_t)i * record->size, *separator = "";
		Append( text, i > 0 ? ", {" : "{" );
		for ( int k = 0; k < table->keyCount; ++k )
		{
			const lmbProjectKey *member = &table->keys[k];
			if ( strcmp( member->section, record->name ) != 0 )
				continue;
			if ( text->brief && IsDefault( record, member, entry ) )
				continue;
			Append( text, "%s %s: ", separator, member->name );
			AppendValue( text, table, member, entry );
			separator = text->brief ? "," : "";
		}
		Append( text, " }" );
	}
	Append( text, "]" );
}

char *lmbProjectFile_Settings( const lmbProjectFile *file, const char *section, lmbArena *arena )
{
	const lmbProjectTable *table = file->table;
	Text text = { .arena = arena };
	Append( &text, "%s", "" );
	for ( int i = 0; i < table->keyCount; ++i )
	{
		const lmbProjectKey *key = &table->keys[i];
		if ( strcmp( key->section, section ) != 0 )
			continue;
		Append( &text, "%s.%s: ", section, key->name );
		AppendValue( &text, table, key, (const char *)file );
		Append( &text, "\n" );
	}
	return text.failed ? NULL : text.data;
}

/* The default as a person reads it. */
static void AppendDefault( Text *text, const lmbProjectKey *key, const lmbProjectFile *defaults )
{
	const lmbProjectTable *table = defaults->table;
	const lmbProjectRecord *record = lmbProjectTable_FindRecord( table, key->section );
	const char *base = record != NULL ? record->defaults : (const char *)defaults;
	bool texts = key->kind == lmb_keyText || key->kind == lmb_keyName || key->kind == lmb_keyPath;
	if ( texts )
		Append( text, "%s", key->unset != NULL ? key->unset : "" );
	else if ( key->unset != NULL )
		Append( text, "%s", key->unset );
	else
		AppendValue( text, table, key, base );
}

static void AppendRange( Text *text, const lmbProjectKey *key )
{
	switch ( key->kind )
	{
	case lmb_keyNumber:
	case lmb_keyCount:
	case lmb_keyVector:
	case lmb_keyNumbers:
		AppendNumber( text, key->minimum );
		Append( text, " to " );
		AppendNumber( text, key->maximum );
		break;
	case lmb_keyFlag:
		Append( text, "true, false" );
		break;
	case lmb_keyChoice:
	case lmb_keyChoices:
		for ( int i = 0; key->choices[i] != NULL; ++i )
			Append( text, "%s%s", i > 0 ? ", " : "", key->choices[i] );
		break;
	case lmb_keyPath:
		Append( text, "a file" );
		break;
	case lmb_keyText:
		Append( text, "any text" );
		break;
	case lmb_keyName:
		Append( text, "%s", key->what->one );
		break;
	case lmb_keyTexts:
		Append( text, "a list of names" );
		break;
	case lmb_keyPaths:
		Append( text, "a list of files" );
		break;
	case lmb_keyNames:
		Append( text, "a list of %s", key->what->many );
		break;
	case lmb_keyRecords:
		Append( text, "a list, each a %s", key->record );
		break;
	}
}

static void PrintKeys( FILE *stream, const char *section, const lmbProjectFile *defaults )
{
	const lmbProjectTable *table = defaults->table;
	fprintf( stream, "| key | default | unit | range | meaning |\n|---|---|---|---|---|\n" );
	for ( int i = 0; i < table->keyCount; ++i )
	{
		const lmbProjectKey *key = &table->keys[i];
		if ( strcmp( key->section, section ) != 0 )
			continue;
		lmbArena arena = { 0 };
		Text value = { .arena = &arena, .brief = true }, range = { .arena = &arena };
		AppendDefault( &value, key, defaults );
		AppendRange( &range, key );
		fprintf( stream, "| `%s` | %s | %s | %s | %s |\n", key->name, value.data != NULL ? value.data : "",
		         key->unit != NULL ? key->unit : "", range.data != NULL ? range.data : "", key->says );
		lmbArena_Free( &arena );
	}
}

/* Long lists of a key's range need no second line in the file of defaults. */
static void PrintDefault( FILE *stream, const lmbProjectFile *defaults, const lmbProjectKey *key )
{
	const lmbProjectTable *table = defaults->table;
	lmbArena arena = { 0 };
	Text value = { .arena = &arena, .brief = true }, range = { .arena = &arena };
	AppendValue( &value, table, key, (const char *)defaults );
	AppendRange( &range, key );
	const char *indent = key->section[0] == 0 ? "" : "  ";
	bool texts = key->kind == lmb_keyText || key->kind == lmb_keyPath;
	const char *given = strcmp( key->name, table->needed ) == 0 ? strchr( table->example, ' ' ) + 1 : "";
	fprintf( stream, "%s# %s\n", indent, key->says );
	if ( key->unset != NULL || ( texts && given[0] == 0 ) )
		fprintf( stream, "%s#%s: %s\n", indent, key->name, key->unset );
	else
		fprintf( stream, "%s%s: %s  # %s%s%s\n", indent, key->name, texts ? given : value.data, range.data,
		         key->unit != NULL ? ", " : "", key->unit != NULL ? key->unit : "" );
	lmbArena_Free( &arena );
}

/* A project at its defaults, or NULL without memory: nothing is printed then. */
static lmbProjectFile *Defaults( const lmbProjectTable *table )
{
	lmbProjectFile *defaults = NULL;
	return lmbProjectFile_New( table, "", &defaults, NULL ) == lmb_statusOk ? defaults : NULL;
}

void lmbProjectTable_PrintReference( const lmbProjectTable *table, FILE *stream )
{
	lmbProjectFile *defaults = Defaults( table );
	if ( defaults == NULL )
		return;
	fprintf( stream, "# %s\n\n%s\n", table->title, table->introduction );
	for ( int i = 0; i < table->sectionCount; ++i )
	{
		const lmbProjectSection *section = &table->sections[i];
		fprintf( stream, "\n## %s%s%s\n\n%s\n\n", section->name[0] != 0 ? "`" : "Top level", section->name,
		         section->name[0] != 0 ? "`" : "", section->says );
		PrintKeys( stream, section->name, defaults );
	}
	for ( int i = 0; i < table->recordCount; ++i )
	{
		const lmbProjectRecord *record = &table->records[i];
		fprintf( stream, "\n## A %s\n\n%s\n\n", record->name, record->says );
		PrintKeys( stream, record->name, defaults );
	}
	lmbProjectFile_Free( defaults );
}

void lmbProjectTable_PrintDefaults( const lmbProjectTable *table, FILE *stream )
{
	lmbProjectFile *defaults = Defaults( table );
	if ( defaults == NULL )
		return;
	fprintf( stream, "# Every key of a project file at its default. Only %s must be there.\n",
	         table->needed );
	for ( int s = 0; s < table->sectionCount; ++s )
	{
		const lmbProjectSection *section = &table->sections[s];
		if ( section->name[0] != 0 )
			fprintf( stream, "\n# %s\n%s:\n", section->says, section->name );
		for ( int i = 0; i < table->keyCount; ++i )
			if ( strcmp( table->keys[i].section, section->name ) == 0 )
				PrintDefault( stream, defaults, &table->keys[i] );
	}
	lmbProjectFile_Free( defaults );
}
