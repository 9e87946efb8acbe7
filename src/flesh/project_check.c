/* The check of a project's names against a character. */
#include "flesh/project_table.h"

#include <stdlib.h>
#include <string.h>

static lmbStatus CheckName( const lmbProject *project, const lmbCharacter *character,
                            const lmbProjectNoun *what, const char *name, lmbError *error )
{
	bool clip = what == &lmbProjectClips;
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
	int line, column;
	lmbProjectFile_Place( &project->file, name, &line, &column );
	return lmbError_Set( error, lmb_statusNotFound, "%s:%d:%d: %s has no %s called \"%.100s\"%s%.100s%s",
	                     project->file.path, line, column, character->path, clip ? "animation" : "bone", name,
	                     nearest != NULL ? "; the nearest is \"" : "", nearest != NULL ? nearest : "",
	                     nearest != NULL ? "\"" : "" );
}

static lmbStatus CheckKeys( const lmbProject *project, const lmbCharacter *character, const char *section,
                            const char *base, lmbError *error )
{
	const lmbProjectTable *table = project->file.table;
	for ( int i = 0; i < table->keyCount; ++i )
	{
		const lmbProjectKey *key = &table->keys[i];
		bool record = lmbProjectTable_FindRecord( table, key->section ) != NULL;
		if ( section != NULL ? strcmp( key->section, section ) != 0 : record )
			continue;
		const char *at = base + key->offset;
		int count = *(const int *)( base + key->countOffset );
		if ( key->kind == lmb_keyName )
			LMB_TRY( CheckName( project, character, key->what, *(const char *const *)at, error ) );
		for ( int k = 0; key->kind == lmb_keyNames && k < count; ++k )
			LMB_TRY(
			    CheckName( project, character, key->what, ( *(const char *const *const *)at )[k], error ) );
		for ( int k = 0; key->kind == lmb_keyRecords && k < count; ++k )
		{
			const char *entry =
			    *(const char *const *)at + (size_t)k * lmbProjectTable_FindRecord( table, key->record )->size;
			LMB_TRY( CheckKeys( project, character, key->record, entry, error ) );
		}
	}
	return lmb_statusOk;
}

lmbStatus lmbProject_Check( const lmbProject *project, const lmbCharacter *character, lmbError *error )
{
	return CheckKeys( project, character, NULL, (const char *)project, error );
}
