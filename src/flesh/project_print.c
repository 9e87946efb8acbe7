/* What the table of keys says, as text: canonical settings, the defaults, the reference page; and the check
 * of names against a character. */
#include "flesh/project_table.h"

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

static void AppendRecords( Text *text, const lmbProjectKey *key, const char *base );

static void AppendValue( Text *text, const lmbProjectKey *key, const char *base )
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
		for ( int i = 0; i < 3; ++i )
		{
			Append( text, "%s", i == 0 ? "[" : ", " );
			AppendNumber( text, ( (const double *)at )[i] );
		}
		Append( text, "]" );
		break;
	case lmb_keyTexts:
	case lmb_keyBones:
		Append( text, "[" );
		for ( int i = 0; i < count; ++i )
		{
			Append( text, "%s", i > 0 ? ", " : "" );
			AppendQuoted( text, ( *(const char *const *const *)at )[i] );
		}
		Append( text, "]" );
		break;
	case lmb_keyRecords:
		AppendRecords( text, key, base );
		break;
	case lmb_keyText:
	case lmb_keyPath:
	case lmb_keyBone:
	case lmb_keyClip:
		AppendQuoted( text, *(const char *const *)at );
		break;
	}
}

static void AppendRecords( Text *text, const lmbProjectKey *key, const char *base )
{
	const lmbProjectRecord *record = lmbProjectRecord_Find( key->record );
	const char *entries = *(const char *const *)( base + key->offset );
	int count = *(const int *)( base + key->countOffset );
	Append( text, "[" );
	for ( int i = 0; i < count; ++i )
	{
		Append( text, i > 0 ? ", {" : "{" );
		for ( int k = 0; k < lmbProjectKeyCount; ++k )
		{
			const lmbProjectKey *member = &lmbProjectKeys[k];
			if ( strcmp( member->section, record->name ) != 0 )
				continue;
			Append( text, " %s: ", member->name );
			AppendValue( text, member, entries + (size_t)i * record->size );
		}
		Append( text, " }" );
	}
	Append( text, "]" );
}

char *lmbProject_Settings( const lmbProject *project, const char *section, lmbArena *arena )
{
	Text text = { .arena = arena };
	Append( &text, "%s", "" );
	for ( int i = 0; i < lmbProjectKeyCount; ++i )
	{
		const lmbProjectKey *key = &lmbProjectKeys[i];
		if ( strcmp( key->section, section ) != 0 )
			continue;
		Append( &text, "%s.%s: ", section, key->name );
		AppendValue( &text, key, (const char *)project );
		Append( &text, "\n" );
	}
	return text.failed ? NULL : text.data;
}

/* The default as a person reads it. */
static void AppendDefault( Text *text, const lmbProjectKey *key, const lmbProject *defaults )
{
	const lmbProjectRecord *record = lmbProjectRecord_Find( key->section );
	const char *base = record != NULL ? record->defaults : (const char *)defaults;
	bool texts = key->kind == lmb_keyText || key->kind == lmb_keyBone || key->kind == lmb_keyClip ||
	             key->kind == lmb_keyPath;
	if ( texts )
		Append( text, "%s", key->unset != NULL ? key->unset : "" );
	else if ( key->unset != NULL )
		Append( text, "%s", key->unset );
	else
		AppendValue( text, key, base );
}

static void AppendRange( Text *text, const lmbProjectKey *key )
{
	switch ( key->kind )
	{
	case lmb_keyNumber:
	case lmb_keyCount:
	case lmb_keyVector:
		AppendNumber( text, key->minimum );
		Append( text, " to " );
		AppendNumber( text, key->maximum );
		break;
	case lmb_keyFlag:
		Append( text, "true, false" );
		break;
	case lmb_keyChoice:
		for ( int i = 0; key->choices[i] != NULL; ++i )
			Append( text, "%s%s", i > 0 ? ", " : "", key->choices[i] );
		break;
	case lmb_keyPath:
		Append( text, "a file" );
		break;
	case lmb_keyText:
		Append( text, "any text" );
		break;
	case lmb_keyBone:
		Append( text, "a bone" );
		break;
	case lmb_keyClip:
		Append( text, "an animation" );
		break;
	case lmb_keyTexts:
		Append( text, "a list of names" );
		break;
	case lmb_keyBones:
		Append( text, "a list of bones" );
		break;
	case lmb_keyRecords:
		Append( text, "a list, each a %s", key->record );
		break;
	}
}

static void PrintKeys( FILE *stream, const char *section, const lmbProject *defaults )
{
	fprintf( stream, "| key | default | unit | range | meaning |\n|---|---|---|---|---|\n" );
	for ( int i = 0; i < lmbProjectKeyCount; ++i )
	{
		const lmbProjectKey *key = &lmbProjectKeys[i];
		if ( strcmp( key->section, section ) != 0 )
			continue;
		lmbArena arena = { 0 };
		Text value = { .arena = &arena }, range = { .arena = &arena };
		AppendDefault( &value, key, defaults );
		AppendRange( &range, key );
		fprintf( stream, "| `%s` | %s | %s | %s | %s |\n", key->name, value.data != NULL ? value.data : "",
		         key->unit != NULL ? key->unit : "", range.data != NULL ? range.data : "", key->says );
		lmbArena_Free( &arena );
	}
}

void lmbProject_PrintReference( FILE *stream )
{
	static const struct
	{
		const char *name, *says;
	} entries[] = {
	    { "material", "Entries of `tissue.materials`. Where none fits, the defaults below hold." },
	    { "radius", "Entries of `tissue.radii`." },
	    { "range", "Entries of `simulate.ranges`." },
	    { "motion",
	      "Entries of `motions.train` and `motions.held_out`. The name of an animation alone stands "
	      "for an entry with that `clip`." },
	};
	lmbProject defaults;
	lmbProject_Defaults( &defaults );
	fprintf(
	    stream,
	    "# The project file\n\n"
	    "A YAML file with everything that `limber run` needs to know. Every key but `character` may be left "
	    "out. Paths are relative to the file's own folder. A key that is not listed here, a value of "
	    "another type or outside its range is an error that names line and column.\n\n"
	    "Lengths are metres of the character's own size, after `unit`.\n\n"
	    "This page is printed by `limber run --reference`; `limber run --defaults` prints a project file "
	    "with every key at its default.\n" );
	for ( int i = 0; i < lmbProjectSectionCount; ++i )
	{
		const lmbProjectSection *section = &lmbProjectSections[i];
		fprintf( stream, "\n## %s%s%s\n\n%s\n\n", section->name[0] != 0 ? "`" : "Top level", section->name,
		         section->name[0] != 0 ? "`" : "", section->says );
		PrintKeys( stream, section->name, &defaults );
	}
	for ( size_t i = 0; i < sizeof( entries ) / sizeof( entries[0] ); ++i )
	{
		fprintf( stream, "\n## A %s\n\n%s\n\n", entries[i].name, entries[i].says );
		PrintKeys( stream, entries[i].name, &defaults );
	}
}

void lmbProject_PrintDefaults( FILE *stream )
{
	lmbProject defaults;
	lmbProject_Defaults( &defaults );
	fprintf( stream, "# Every key of a project file at its default. Only character must be there.\n" );
	for ( int s = 0; s < lmbProjectSectionCount; ++s )
	{
		const lmbProjectSection *section = &lmbProjectSections[s];
		bool top = section->name[0] == 0;
		if ( !top )
			fprintf( stream, "\n# %s\n%s:\n", section->says, section->name );
		for ( int i = 0; i < lmbProjectKeyCount; ++i )
		{
			const lmbProjectKey *key = &lmbProjectKeys[i];
			if ( strcmp( key->section, section->name ) != 0 )
				continue;
			lmbArena arena = { 0 };
			Text value = { .arena = &arena }, range = { .arena = &arena };
			AppendValue( &value, key, (const char *)&defaults );
			AppendRange( &range, key );
			const char *indent = top ? "" : "  ";
			bool texts = key->kind == lmb_keyText || key->kind == lmb_keyPath;
			const char *given = strcmp( key->name, "character" ) == 0 ? "character.glb" : "";
			fprintf( stream, "%s# %s\n", indent, key->says );
			if ( texts && given[0] == 0 )
				fprintf( stream, "%s#%s: %s\n", indent, key->name, key->unset );
			else
				fprintf( stream, "%s%s: %s  # %s%s%s\n", indent, key->name, texts ? given : value.data,
				         range.data, key->unit != NULL ? ", " : "", key->unit != NULL ? key->unit : "" );
			lmbArena_Free( &arena );
		}
	}
}

/* The check of names. */

static lmbStatus CheckName( const lmbProject *project, const lmbCharacter *character, lmbKeyKind kind,
                            const char *name, lmbError *error )
{
	bool clip = kind == lmb_keyClip;
	int count = clip ? character->clipCount : character->boneCount;
	if ( name == NULL ||
	     ( clip ? lmbCharacter_FindClip( character, name ) : lmbCharacter_FindBone( character, name ) ) >= 0 )
		return lmb_statusOk;
	const char **names = calloc( (size_t)count + 1, sizeof( *names ) );
	if ( names == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < count; ++i )
		names[i] = clip ? character->clips[i].name : character->bones[i].name;
	const char *nearest = lmbProject_Nearest( name, names, count );
	free( names );
	int line = 1, column = 1;
	for ( const lmbProjectPlace *place = project->places; place != NULL; place = place->next )
		if ( place->text == name )
		{
			line = place->line;
			column = place->column;
		}
	return lmbError_Set( error, lmb_statusNotFound, "%s:%d:%d: %s has no %s called \"%.100s\"%s%.100s%s",
	                     project->path, line, column, character->path, clip ? "animation" : "bone", name,
	                     nearest != NULL ? "; the nearest is \"" : "", nearest != NULL ? nearest : "",
	                     nearest != NULL ? "\"" : "" );
}

static lmbStatus CheckKeys( const lmbProject *project, const lmbCharacter *character, const char *section,
                            const char *base, lmbError *error )
{
	for ( int i = 0; i < lmbProjectKeyCount; ++i )
	{
		const lmbProjectKey *key = &lmbProjectKeys[i];
		bool record = lmbProjectRecord_Find( key->section ) != NULL;
		if ( section != NULL ? strcmp( key->section, section ) != 0 : record )
			continue;
		const char *at = base + key->offset;
		int count = *(const int *)( base + key->countOffset );
		if ( key->kind == lmb_keyBone || key->kind == lmb_keyClip )
			LMB_TRY( CheckName( project, character, key->kind, *(const char *const *)at, error ) );
		for ( int k = 0; key->kind == lmb_keyBones && k < count; ++k )
			LMB_TRY(
			    CheckName( project, character, lmb_keyBone, ( *(const char *const *const *)at )[k], error ) );
		for ( int k = 0; key->kind == lmb_keyRecords && k < count; ++k )
		{
			const char *entry =
			    *(const char *const *)at + (size_t)k * lmbProjectRecord_Find( key->record )->size;
			LMB_TRY( CheckKeys( project, character, key->record, entry, error ) );
		}
	}
	return lmb_statusOk;
}

lmbStatus lmbProject_Check( const lmbProject *project, const lmbCharacter *character, lmbError *error )
{
	return CheckKeys( project, character, NULL, (const char *)project, error );
}
