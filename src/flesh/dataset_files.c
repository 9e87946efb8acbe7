#include "flesh/dataset_files.h"

#include "base/files.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const fileFormat = "limber.dataset";

lmbStatus lmbMotionRecord_Folder( int index, const char *name, lmbArena *arena, const char **out,
                                  lmbError *error )
{
	char text[96];
	int used = snprintf( text, sizeof( text ), "%02d-", index );
	for ( const char *c = name; *c != 0 && used < 70; ++c )
	{
		bool plain = ( *c >= 'a' && *c <= 'z' ) || ( *c >= 'A' && *c <= 'Z' ) || ( *c >= '0' && *c <= '9' ) ||
		             *c == '-' || *c == '_' || *c == '.';
		text[used++] = plain ? *c : '_';
	}
	text[used] = 0;
	*out = lmbArena_String( arena, text );
	return *out != NULL ? lmb_statusOk : lmbError_Memory( error );
}

static lmbStatus Path( char *out, const char *folder, const char *rest, lmbError *error )
{
	return lmbPath_Join( out, lmbDatasetPathSize, folder, rest, error );
}

lmbStatus lmbDatasetPath_Pose( char *out, const char *folder, int index, lmbError *error )
{
	char name[64];
	snprintf( name, sizeof( name ), "poses/%06d.safetensors", index );
	return Path( out, folder, name, error );
}

lmbStatus lmbDatasetPath_Shard( char *out, const char *folder, const lmbMotionRecord *motion,
                                const char *kind, int first, lmbError *error )
{
	char name[256];
	snprintf( name, sizeof( name ), "motions/%s/%s-%06d.safetensors", motion->folder, kind, first );
	return Path( out, folder, name, error );
}

lmbStatus lmbDatasetPath_Checkpoint( char *out, const char *folder, const lmbMotionRecord *motion,
                                     lmbError *error )
{
	char name[256];
	snprintf( name, sizeof( name ), "motions/%s/checkpoint.safetensors", motion->folder );
	return Path( out, folder, name, error );
}

/* One array's part of a file's hash; parts are added, so that their order does not matter. */
static uint64_t HashArray( const char *name, const void *data, size_t bytes )
{
	lmbHash hash;
	lmbHash_Begin( &hash );
	lmbHash_AddText( &hash, name );
	lmbHash_Add( &hash, data, bytes );
	return lmbHash_End( &hash );
}

lmbStatus lmbDatasetFile_Write( lmbTensorWriter *writer, const char *path, lmbError *error )
{
	uint64_t sum = 0;
	char text[lmbHashTextSize];
	for ( int i = 0; i < writer->tensorCount; ++i )
	{
		size_t bytes = lmbDataType_Size( writer->tensors[i].type );
		for ( int k = 0; k < writer->tensors[i].rank; ++k )
			bytes *= (size_t)writer->tensors[i].shape[k];
		sum += HashArray( writer->tensors[i].name, writer->tensors[i].data, bytes );
	}
	lmbHash_Text( sum, text );
	lmbTensorWriter_Metadata( writer, "content", text );
	return lmbTensorWriter_Write( writer, path, error );
}

/* That the arrays are what was written. */
static bool ContentHolds( const lmbTensorFile *file )
{
	static const char *const names[] = { "bones", "nodes", "iterations", "converged", "state", "frames" };
	uint64_t sum = 0;
	char found[lmbHashTextSize] = "", text[lmbHashTextSize];
	for ( size_t i = 0; i < sizeof( names ) / sizeof( names[0] ); ++i )
	{
		lmbTensor tensor;
		if ( lmbTensors_Find( file->data, file->size, names[i], &tensor ) == lmb_statusOk )
			sum += HashArray( names[i], tensor.data, tensor.bytes );
	}
	lmbHash_Text( sum, text );
	return lmbTensorFile_Metadata( file, "content", found, sizeof( found ) ) && strcmp( found, text ) == 0;
}

lmbStatus lmbDatasetFile_Open( lmbTensorFile *file, const char *path, const char *fingerprint,
                               lmbError *error )
{
	char found[lmbHashTextSize] = "";
	LMB_TRY( lmbTensorFile_Open( file, path, fileFormat, lmbDatasetVersion, error ) );
	if ( !lmbTensorFile_Metadata( file, "fingerprint", found, sizeof( found ) ) ||
	     strcmp( found, fingerprint ) != 0 )
		return lmbError_Set(
		    error, lmb_statusCorrupt,
		    "%s: belongs to other settings than the dataset's manifest; run the stage simulate "
		    "again",
		    path );
	if ( !ContentHolds( file ) )
		return lmbError_Set( error, lmb_statusCorrupt,
		                     "%s: its numbers are not those that were written; run the stage simulate again, "
		                     "which makes this file anew",
		                     path );
	return lmb_statusOk;
}

bool lmbDatasetFile_IsThere( const char *path, const char *fingerprint )
{
	lmbTensorFile *file = calloc( 1, sizeof( *file ) );
	if ( file == NULL || !lmbFile_Exists( path ) )
	{
		free( file );
		return false;
	}
	bool there = lmbDatasetFile_Open( file, path, fingerprint, NULL ) == lmb_statusOk;
	lmbTensorFile_Close( file );
	free( file );
	return there;
}

void lmbDatasetFile_Begin( lmbTensorWriter *writer, const char *fingerprint )
{
	memset( writer, 0, sizeof( *writer ) );
	char version[16];
	snprintf( version, sizeof( version ), "%d", lmbDatasetVersion );
	lmbTensorWriter_Metadata( writer, "format", fileFormat );
	lmbTensorWriter_Metadata( writer, "version", version );
	lmbTensorWriter_Metadata( writer, "fingerprint", fingerprint );
}

static json_t *Vector( const double *v )
{
	return json_pack( "[f,f,f]", v[0], v[1], v[2] );
}

lmbStatus lmbManifest_Write( const lmbManifest *manifest, const char *folder, lmbError *error )
{
	json_t *motions = json_array();
	for ( int i = 0; i < manifest->motionCount; ++i )
	{
		const lmbMotionRecord *m = manifest->motions + i;
		json_array_append_new( motions,
		                       json_pack( "{s:s,s:s,s:b,s:i,s:f,s:o,s:s,s:s}", "name", m->name, "folder",
		                                  m->folder, "trained", (int)m->trained, "frames", m->frameCount,
		                                  "rate", m->rate, "origin", Vector( m->origin ), "still_fingerprint",
		                                  m->still, "moving_fingerprint", m->moving ) );
	}
	json_t *root = json_pack(
	    "{s:s,s:i,s:b,s:i,s:i,s:i,s:i,s:o,s:s,s:o}", "format", fileFormat, "version", lmbDatasetVersion,
	    "complete", (int)manifest->complete, "bones", manifest->boneCount, "nodes", manifest->nodeCount,
	    "shard_frames", lmbShardFrames, "poses", manifest->poseCount, "pose_origin",
	    Vector( manifest->poseOrigin ), "pose_fingerprint", manifest->poses, "motions", motions );
	if ( root != NULL && manifest->settings != NULL )
		json_object_set_new( root, "settings", json_loads( manifest->settings, 0, NULL ) );
	char *text = root != NULL ? json_dumps( root, JSON_INDENT( 2 ) | JSON_REAL_PRECISION( 17 ) ) : NULL;
	json_decref( root );
	char path[lmbDatasetPathSize];
	lmbStatus status = text == NULL ? lmbError_Memory( error ) : Path( path, folder, "dataset.json", error );
	if ( status == lmb_statusOk )
		status = lmbFile_Write( path, text, strlen( text ), error );
	free( text );
	return status;
}

/* Reads of one manifest: path for messages, the first problem kept. */
typedef struct Reader
{
	const char *path;
	lmbError *error;
	lmbStatus status;
} Reader;

static lmbStatus Bad( Reader *reader, const char *key, const char *wanted )
{
	if ( reader->status == lmb_statusOk )
		reader->status =
		    lmbError_Set( reader->error, lmb_statusCorrupt,
		                  "%s: \"%s\" must be %s; run the stage simulate again", reader->path, key, wanted );
	return reader->status;
}

static int ReadInt( Reader *reader, const json_t *object, const char *key, int low, int high )
{
	const json_t *value = json_object_get( object, key );
	json_int_t number = json_integer_value( value );
	char range[64];
	snprintf( range, sizeof( range ), "an integer in [%d, %d]", low, high );
	if ( !json_is_integer( value ) || number < low || number > high )
	{
		Bad( reader, key, range );
		return low;
	}
	return (int)number;
}

static const char *ReadText( Reader *reader, const json_t *object, const char *key, lmbArena *arena )
{
	const char *text = json_string_value( json_object_get( object, key ) );
	if ( text == NULL || strlen( text ) > 4000 )
	{
		Bad( reader, key, "a text" );
		return "";
	}
	const char *copy = lmbArena_String( arena, text );
	if ( copy == NULL && reader->status == lmb_statusOk )
		reader->status = lmbError_Memory( reader->error );
	return copy != NULL ? copy : "";
}

static void ReadFingerprint( Reader *reader, const json_t *object, const char *key, char *out )
{
	const char *text = json_string_value( json_object_get( object, key ) );
	if ( text == NULL || strlen( text ) != lmbHashTextSize - 1 )
		Bad( reader, key, "16 hexadecimal digits" );
	else
		memcpy( out, text, lmbHashTextSize );
}

static void ReadVector( Reader *reader, const json_t *object, const char *key, double *out )
{
	const json_t *value = json_object_get( object, key );
	bool good = json_is_array( value ) && json_array_size( value ) == 3;
	for ( size_t i = 0; good && i < 3; ++i )
	{
		good = json_is_number( json_array_get( value, i ) );
		out[i] = json_number_value( json_array_get( value, i ) );
		good = good && isfinite( out[i] );
	}
	if ( !good )
		Bad( reader, key, "three numbers" );
}

static void ReadMotion( Reader *reader, const json_t *object, lmbArena *arena, lmbMotionRecord *motion )
{
	motion->name = ReadText( reader, object, "name", arena );
	motion->folder = ReadText( reader, object, "folder", arena );
	/* It names a folder beside the manifest, nothing else. */
	if ( motion->folder[0] == 0 || strlen( motion->folder ) > 90 || strchr( motion->folder, '/' ) != NULL ||
	     strcmp( motion->folder, "." ) == 0 || strcmp( motion->folder, ".." ) == 0 )
		Bad( reader, "folder", "the name of a folder" );
	const json_t *trained = json_object_get( object, "trained" );
	if ( !json_is_boolean( trained ) )
		Bad( reader, "trained", "true or false" );
	motion->trained = json_is_true( trained );
	motion->frameCount = ReadInt( reader, object, "frames", 1, 10000000 );
	motion->rate = json_number_value( json_object_get( object, "rate" ) );
	if ( !( motion->rate >= 1e-3 && motion->rate <= 1e6 ) )
		Bad( reader, "rate", "a rate in Hz" );
	ReadVector( reader, object, "origin", motion->origin );
	ReadFingerprint( reader, object, "still_fingerprint", motion->still );
	ReadFingerprint( reader, object, "moving_fingerprint", motion->moving );
}

static lmbStatus ReadRoot( Reader *reader, const json_t *root, lmbArena *arena, lmbManifest *out )
{
	const char *format = json_string_value( json_object_get( root, "format" ) );
	if ( format == NULL || strcmp( format, fileFormat ) != 0 )
		return Bad( reader, "format", "\"limber.dataset\"" );
	if ( json_integer_value( json_object_get( root, "version" ) ) > lmbDatasetVersion )
		return lmbError_Set( reader->error, lmb_statusUnsupported,
		                     "%s: was written by a newer version of limber", reader->path );
	out->complete = json_is_true( json_object_get( root, "complete" ) );
	out->boneCount = ReadInt( reader, root, "bones", 1, 100000 );
	out->nodeCount = ReadInt( reader, root, "nodes", 1, 100000000 );
	ReadInt( reader, root, "shard_frames", lmbShardFrames, lmbShardFrames );
	out->poseCount = ReadInt( reader, root, "poses", 0, 100000 );
	ReadVector( reader, root, "pose_origin", out->poseOrigin );
	ReadFingerprint( reader, root, "pose_fingerprint", out->poses );
	const json_t *motions = json_object_get( root, "motions" );
	if ( !json_is_array( motions ) || json_array_size( motions ) > 100000 )
		return Bad( reader, "motions", "a list" );
	out->motionCount = (int)json_array_size( motions );
	out->motions = LMB_NEW( arena, lmbMotionRecord, out->motionCount );
	if ( out->motions == NULL )
		return lmbError_Memory( reader->error );
	for ( int i = 0; i < out->motionCount; ++i )
		ReadMotion( reader, json_array_get( motions, (size_t)i ), arena, out->motions + i );
	return reader->status;
}

lmbStatus lmbManifest_Read( const char *folder, lmbArena *arena, lmbManifest *out, lmbError *error )
{
	char path[lmbDatasetPathSize], *text;
	size_t size;
	json_error_t problem;
	memset( out, 0, sizeof( *out ) );
	LMB_TRY( Path( path, folder, "dataset.json", error ) );
	LMB_TRY( lmbFile_Read( path, arena, &text, &size, error ) );
	json_t *root = json_loadb( text, size, JSON_REJECT_DUPLICATES, &problem );
	if ( root == NULL )
		return lmbError_Set( error, lmb_statusCorrupt, "%s:%d: %s; run the stage simulate again", path,
		                     problem.line, problem.text );
	Reader reader = { path, error, lmb_statusOk };
	lmbStatus status = ReadRoot( &reader, root, arena, out );
	json_decref( root );
	return status;
}
