#include "cli/view_page.h"

#include "flesh/model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Poses are sampled so often: all display rates that the page offers divide it. */
static const double poseRate = 120.0;

static const char marker[] = "<!--limber-data-->";

/* --- the page as the build made it --- */

lmbStatus lmbViewPage_Begin( lmbViewPage *page, const char *file, lmbError *error )
{
	char self[4096], path[4200];
	ssize_t length = readlink( "/proc/self/exe", self, sizeof( self ) - 1 );
	self[length > 0 ? length : 0] = 0;
	char *slash = strrchr( self, '/' );
	if ( slash != NULL )
		*slash = 0;
	snprintf( path, sizeof( path ), "%s/viewer/%s", slash != NULL ? self : ".", file );
	if ( !lmbFile_Exists( path ) )
		return lmbError_Set( error, lmb_statusNotFound,
		                     "%s: the page has not been made yet: run scripts/viewer in Limber's folder (it "
		                     "needs Node, npm, clang "
		                     "and lld, and installs them on Debian)",
		                     path );
	size_t size;
	LMB_TRY( lmbFile_Read( path, &page->arena, &page->before, &size, error ) );
	char *at = strstr( page->before, marker );
	if ( at == NULL )
		return lmbError_Set( error, lmb_statusCorrupt, "%s: has no place for data: run scripts/viewer",
		                     path );
	*at = 0;
	page->after = at + strlen( marker );
	return lmb_statusOk;
}

/* --- data --- */

lmbStatus lmbViewPage_Add( lmbViewPage *page, const char *name, const void *data, size_t size,
                           lmbError *error )
{
	if ( page->blobCount == page->blobMost )
	{
		int most = 2 * page->blobMost + 16;
		lmbViewBlob *blobs = LMB_NEW( &page->arena, lmbViewBlob, most );
		if ( blobs == NULL )
			return lmbError_Memory( error );
		if ( page->blobCount > 0 )
			memcpy( blobs, page->blobs, (size_t)page->blobCount * sizeof( *blobs ) );
		page->blobs = blobs;
		page->blobMost = most;
	}
	lmbViewBlob *blob = &page->blobs[page->blobCount++];
	snprintf( blob->name, sizeof( blob->name ), "%s", name );
	blob->data = data;
	blob->size = size;
	return lmb_statusOk;
}

lmbStatus lmbViewPage_AddFile( lmbViewPage *page, const char *name, const char *path, lmbError *error )
{
	char *data;
	size_t size;
	LMB_TRY( lmbFile_Read( path, &page->arena, &data, &size, error ) );
	return lmbViewPage_Add( page, name, data, size, error );
}

/* Model and character must be of one skin and one skeleton, since poses of the one drive the other. */
static lmbStatus CheckModel( const lmbViewDef *def, const lmbCharacter *character, lmbError *error )
{
	lmbModel model;
	lmbStatus status = lmbModel_Open( &model, def->model, error );
	if ( status == lmb_statusOk )
	{
		lmbFleshInfo info = lmbFlesh_Info( model.flesh );
		bool same = info.vertexCount == character->vertexCount && info.boneCount == character->boneCount;
		for ( int j = 0; same && j < info.boneCount; ++j )
			same = strcmp( lmbFlesh_BoneName( model.flesh, j ), character->bones[j].name ) == 0;
		if ( !same )
			status =
			    lmbError_Set( error, lmb_statusInvalidArgument,
			                  "%s has %d vertices and %d bones and was not made from %s (%d vertices, %d "
			                  "bones): give its own character",
			                  def->model, info.vertexCount, info.boneCount, character->path,
			                  character->vertexCount, character->boneCount );
	}
	lmbModel_Close( &model );
	return status;
}

static const lmbSequence *FindSequence( const lmbDataset *dataset, const char *name )
{
	for ( int i = 0; dataset != NULL && i < dataset->sequenceCount; ++i )
		if ( strcmp( dataset->sequences[i].name, name ) == 0 )
			return &dataset->sequences[i];
	return NULL;
}

/* The simulated lattice of a motion; nothing where there is none of this length. */
static lmbStatus AddTruth( lmbViewPage *page, const lmbSequence *sequence, const lmbMotion *motion, int index,
                           json_t *facts, lmbError *error )
{
	if ( sequence == NULL || sequence->frameCount < 1 ||
	     fabs( ( sequence->frameCount - 1 ) / sequence->rate - motion->duration ) > 1.0 / sequence->rate )
		return lmb_statusOk;
	char name[32];
	snprintf( name, sizeof( name ), "truth-%d", index );
	size_t bytes = (size_t)sequence->frameCount * 3 * (size_t)sequence->nodeCount * sizeof( float );
	LMB_TRY( lmbViewPage_Add( page, name, sequence->moving, bytes, error ) );
	json_object_set_new( facts, "truth",
	                     json_pack( "{s:s, s:f, s:i, s:[f,f,f]}", "blob", name, "rate", sequence->rate,
	                                "frames", sequence->frameCount, "origin", sequence->origin[0],
	                                sequence->origin[1], sequence->origin[2] ) );
	return lmb_statusOk;
}

static lmbStatus AddMotion( lmbViewPage *page, const lmbShow *show, int index, lmbError *error )
{
	const lmbMotion *motion = show->motions[index];
	size_t numbers = 12 * (size_t)show->character->boneCount;
	int frames = (int)floor( motion->duration * poseRate + 1e-9 ) + 1;
	float *poses = LMB_NEW( &page->arena, float, (size_t)frames *numbers );
	double *bones = LMB_NEW( &page->arena, double, numbers );
	if ( poses == NULL || bones == NULL )
		return lmbError_Memory( error );
	for ( int f = 0; f < frames; ++f )
	{
		lmbMotion_Pose( motion, f / poseRate, bones );
		for ( size_t i = 0; i < numbers; ++i )
			poses[(size_t)f * numbers + i] = (float)bones[i];
	}
	char name[32];
	snprintf( name, sizeof( name ), "poses-%d", index );
	LMB_TRY( lmbViewPage_Add( page, name, poses, (size_t)frames * numbers * sizeof( float ), error ) );
	json_t *facts =
	    json_pack( "{s:s, s:b, s:f, s:f, s:i, s:s}", "name", motion->name, "trained", show->trained[index],
	               "duration", motion->duration, "rate", poseRate, "frames", frames, "blob", name );
	json_array_append_new( json_object_get( page->manifest, "motions" ), facts );
	return AddTruth( page, FindSequence( show->dataset, motion->name ), motion, index, facts, error );
}

bool lmbViewPage_Wanted( const char *const *motions, const char *name )
{
	for ( int i = 0; motions != NULL && motions[i] != NULL; ++i )
		if ( strcmp( motions[i], name ) == 0 )
			return true;
	return motions == NULL;
}

static lmbStatus CheckMotions( const lmbViewDef *def, const lmbShow *show, lmbError *error )
{
	for ( int i = 0; def->motions != NULL && def->motions[i] != NULL; ++i )
	{
		bool found = false;
		char names[600] = "";
		for ( int k = 0; k < show->motionCount; ++k )
		{
			size_t length = strlen( names );
			found = found || strcmp( def->motions[i], show->motions[k]->name ) == 0;
			snprintf( names + length, sizeof( names ) - length, "%s%s", k > 0 ? ", " : "",
			          show->motions[k]->name );
		}
		if ( !found )
			return lmbError_Set( error, lmb_statusNotFound,
			                     "--motion: there is no motion \"%.100s\"; there are: %s", def->motions[i],
			                     names );
	}
	return lmb_statusOk;
}

lmbStatus lmbViewPage_Make( const lmbViewDef *def, const lmbShow *show, lmbViewPage *page, lmbError *error )
{
	LMB_TRY( lmbViewPage_Begin( page, "viewer.html", error ) );
	LMB_TRY( CheckMotions( def, show, error ) );
	LMB_TRY( CheckModel( def, show->character, error ) );
	page->manifest = json_pack( "{s:s, s:i, s:b, s:[], s:[]}", "name", def->name, "interpolation",
	                            (int)def->interpolation, "tissue", show->tissue != NULL, "bones", "motions" );
	if ( page->manifest == NULL )
		return lmbError_Set( error, lmb_statusCorrupt, "the name \"%s\" is not UTF-8", def->name );
	json_t *bones = json_object_get( page->manifest, "bones" );
	for ( int j = 0; j < show->character->boneCount; ++j )
	{
		const lmbBone *bone = &show->character->bones[j];
		json_array_append_new( bones,
		                       json_pack( "{s:s, s:i, s:[f,f,f]}", "name", bone->name, "parent", bone->parent,
		                                  "position", bone->bind[3], bone->bind[7], bone->bind[11] ) );
	}
	LMB_TRY( lmbViewPage_AddFile( page, "model", def->model, error ) );
	if ( show->tissue != NULL )
		LMB_TRY( lmbViewPage_AddFile( page, "tissue", show->tissuePath, error ) );
	for ( int i = 0; i < show->motionCount; ++i )
		if ( lmbViewPage_Wanted( def->motions, show->motions[i]->name ) )
			LMB_TRY( AddMotion( page, show, i, error ) );
	return lmb_statusOk;
}

void lmbViewPage_Close( lmbViewPage *page )
{
	json_decref( page->manifest );
	lmbArena_Free( &page->arena );
}

const lmbViewBlob *lmbViewPage_Blob( const lmbViewPage *page, const char *name )
{
	for ( int i = 0; i < page->blobCount; ++i )
		if ( strcmp( page->blobs[i].name, name ) == 0 )
			return &page->blobs[i];
	return NULL;
}

/* --- writing --- */

/* In a page "<" could end the script that the manifest lies in; in JSON it occurs in strings alone. */
static void WriteManifest( const lmbViewPage *page, FILE *stream )
{
	char *text = json_dumps( page->manifest, JSON_COMPACT );
	fputs( "<script type=\"application/json\" id=\"limber-manifest\">", stream );
	for ( const char *c = text != NULL ? text : "{}"; *c != 0; ++c )
		if ( *c == '<' )
			fputs( "\\u003c", stream );
		else
			fputc( *c, stream );
	fputs( "</script>", stream );
	free( text );
}

static void WriteBase64( const unsigned char *data, size_t size, FILE *stream )
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	for ( size_t i = 0; i < size; i += 3 )
	{
		size_t left = size - i;
		unsigned bits = (unsigned)data[i] << 16 | ( left > 1 ? (unsigned)data[i + 1] << 8 : 0u ) |
		                ( left > 2 ? data[i + 2] : 0u );
		char four[4] = { digits[bits >> 18], digits[bits >> 12 & 63], left > 1 ? digits[bits >> 6 & 63] : '=',
		                 left > 2 ? digits[bits & 63] : '=' };
		fwrite( four, 1, 4, stream );
	}
}

lmbStatus lmbViewPage_Write( const lmbViewPage *page, bool blobs, FILE *stream, lmbError *error )
{
	fputs( page->before, stream );
	WriteManifest( page, stream );
	for ( int i = 0; blobs && i < page->blobCount; ++i )
	{
		fprintf( stream, "\n<script type=\"text/plain\" id=\"limber-blob-%s\">", page->blobs[i].name );
		WriteBase64( page->blobs[i].data, page->blobs[i].size, stream );
		fputs( "</script>", stream );
	}
	fputs( page->after, stream );
	if ( ferror( stream ) != 0 )
		return lmbError_Set( error, lmb_statusIo, "the page could not be written: %s", strerror( errno ) );
	return lmb_statusOk;
}
