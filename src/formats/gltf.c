#include "formats/gltf.h"

#include "base/files.h"

#include <stdlib.h>
#include <string.h>

/* 2^27 doubles are 1 GiB; a character of a million vertices needs a quarter of it. */
static const size_t readBudget = (size_t)1 << 27;
static const int64_t byteLimit = (int64_t)8 << 30;

static uint32_t ReadU32( const unsigned char *b )
{
	return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* Finds the JSON and BIN chunks of a .glb. */
static lmbStatus SplitChunks( lmbGltf *gltf, const unsigned char *data, size_t size, const char **json,
                              size_t *jsonSize, lmbError *error )
{
	static const uint32_t jsonType = 0x4E4F534A, binType = 0x004E4942;
	if ( size < 20 )
		return lmbError_Set( error, lmb_statusCorrupt, "%s: ends inside its header; copy or export it again",
		                     gltf->path );
	uint32_t version = ReadU32( data + 4 ), length = ReadU32( data + 8 );
	if ( version != 2 )
		return lmbError_Set( error, lmb_statusUnsupported,
		                     "%s: is version %u of binary glTF; convert it to glTF 2.0 (Blender does)",
		                     gltf->path, version );
	if ( length > size || length < 20 )
		return lmbError_Set( error, lmb_statusCorrupt,
		                     "%s: is %zu bytes long, its header says %u: it was cut short; copy or export it "
		                     "again",
		                     gltf->path, size, length );
	for ( size_t at = 12, index = 0; at + 8 <= length; ++index )
	{
		size_t chunkSize = ReadU32( data + at );
		uint32_t type = ReadU32( data + at + 4 );
		if ( chunkSize > length - at - 8 )
			return lmbError_Set( error, lmb_statusCorrupt,
			                     "%s: chunk %zu reaches beyond the end of the file; copy or export it again",
			                     gltf->path, index );
		if ( index == 0 && type == jsonType )
		{
			*json = (const char *)data + at + 8;
			*jsonSize = chunkSize;
		}
		else if ( index == 1 && type == binType )
		{
			gltf->chunk = data + at + 8;
			gltf->chunkSize = chunkSize;
		}
		at += 8 + chunkSize;
	}
	if ( *json == NULL )
		return lmbError_Set( error, lmb_statusCorrupt,
		                     "%s: does not begin with a JSON chunk; export it again", gltf->path );
	return lmb_statusOk;
}

static int Base64Value( int c )
{
	if ( c >= 'A' && c <= 'Z' )
		return c - 'A';
	if ( c >= 'a' && c <= 'z' )
		return c - 'a' + 26;
	if ( c >= '0' && c <= '9' )
		return c - '0' + 52;
	return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

static lmbStatus DecodeBase64( lmbGltf *gltf, const lmbJson *uri, const char *text, unsigned char **out,
                               size_t *outSize, lmbError *error )
{
	size_t length = strlen( text );
	while ( length > 0 && text[length - 1] == '=' )
		length -= 1;
	unsigned char *bytes = lmbArena_New( &gltf->arena, length / 4 * 3 + 3, 1 );
	if ( bytes == NULL )
		return lmbError_Memory( error );
	uint32_t bits = 0;
	size_t count = 0;
	for ( size_t i = 0; i < length; ++i )
	{
		int value = Base64Value( (unsigned char)text[i] );
		if ( value < 0 )
			return lmbJson_Fail( uri, error, lmb_statusCorrupt,
			                     "character %zu of the base64 data is not base64; export the file again", i );
		bits = bits << 6 | (uint32_t)value;
		if ( i % 4 != 0 )
			bytes[count++] = (unsigned char)( bits >> ( 6 - 2 * ( i % 4 ) ) );
	}
	*out = bytes;
	*outSize = count;
	return lmb_statusOk;
}

/* A URI of a file beside the .gltf. Others are refused: a character from a stranger must not make us
 * read, and bake into a file to be shared, what lies elsewhere on the disk. */
static lmbStatus DecodePath( lmbArena *arena, const lmbJson *place, const char *uri, char **out,
                             lmbError *error )
{
	size_t length = strlen( uri ), used = 0;
	char *name = lmbArena_New( arena, length + 1, 1 );
	if ( name == NULL )
		return lmbError_Memory( error );
	for ( size_t i = 0; i < length; ++i )
	{
		char hex[3] = { 0 };
		if ( uri[i] == '%' && i + 2 < length )
			memcpy( hex, uri + i + 1, 2 );
		char *end = hex;
		long code = hex[0] != 0 ? strtol( hex, &end, 16 ) : 0;
		bool escaped = end == hex + 2 && code > 0;
		name[used++] = escaped ? (char)code : uri[i];
		i += escaped ? 2 : 0;
	}
	if ( used == 0 || name[0] == '/' || strchr( name, ':' ) != NULL || strstr( name, "../" ) != NULL )
		return lmbJson_Fail( place, error, lmb_statusUnsupported,
		                     "\"%.200s\" is not a file beside the .gltf; put it there, or export as .glb",
		                     uri );
	*out = name;
	return lmb_statusOk;
}

lmbStatus lmbGltf_ReadBeside( lmbGltf *gltf, const lmbJson *place, const char *uri, lmbArena *arena,
                              char **data, size_t *size, lmbError *error )
{
	char *name = NULL, path[4096], folder[4096];
	LMB_TRY( DecodePath( arena, place, uri, &name, error ) );
	const char *slash = strrchr( gltf->path, '/' );
	size_t length = slash != NULL ? (size_t)( slash - gltf->path ) + 1 : 0;
	if ( length >= sizeof( folder ) )
		return lmbError_Set( error, lmb_statusInvalidArgument, "%s: the path is too long", gltf->path );
	memcpy( folder, gltf->path, length );
	folder[length] = 0;
	LMB_TRY( lmbPath_Join( path, sizeof( path ), folder, name, error ) );
	lmbError inner = { 0 };
	lmbStatus status = lmbFile_Read( path, arena, data, size, &inner );
	if ( status != lmb_statusOk )
		return lmbJson_Fail( place, error, status,
		                     "%s; keep the files that belong to it beside it, or export as .glb",
		                     inner.message );
	return lmb_statusOk;
}

static lmbStatus ReadBuffer( lmbGltf *gltf, const lmbJson *place, lmbGltfBuffer *buffer, bool first,
                             lmbError *error )
{
	lmbJson lengthPlace = lmbJson_Key( place, "byteLength" ), uriPlace = lmbJson_Key( place, "uri" );
	int64_t length = 0;
	LMB_TRY( lmbJson_NeedInt( &lengthPlace, 0, byteLimit, &length, error ) );
	const char *uri = lmbJson_Text( &uriPlace );
	const unsigned char *data = NULL;
	size_t size = 0;
	if ( uri == NULL )
	{
		data = first ? gltf->chunk : NULL;
		size = first ? gltf->chunkSize : 0;
	}
	else if ( strncmp( uri, "data:", 5 ) == 0 )
	{
		const char *comma = strstr( uri, ";base64," );
		if ( comma == NULL )
			return lmbJson_Fail( &uriPlace, error, lmb_statusUnsupported,
			                     "is a data URI without base64; export as .glb" );
		unsigned char *bytes = NULL;
		LMB_TRY( DecodeBase64( gltf, &uriPlace, comma + 8, &bytes, &size, error ) );
		data = bytes;
	}
	else
	{
		char *bytes = NULL;
		LMB_TRY( lmbGltf_ReadBeside( gltf, &uriPlace, uri, &gltf->arena, &bytes, &size, error ) );
		data = (const unsigned char *)bytes;
	}
	if ( data != NULL && size < (size_t)length )
		return lmbJson_Fail(
		    &lengthPlace, error, lmb_statusCorrupt,
		    "says %lld bytes, there are %zu; the data was cut short, copy or export it again",
		    (long long)length, size );
	buffer->data = data;
	buffer->size = data != NULL ? (size_t)length : 0;
	return lmb_statusOk;
}

static bool StartsWith( const char *text, const char *start )
{
	return strncmp( text, start, strlen( start ) ) == 0;
}

/* Extensions that change the looks only may be required; those that change geometry may not, unless known.
 */
static lmbStatus CheckExtensions( const lmbGltf *gltf, lmbError *error )
{
	static const char *const harmless[] = {
	    "KHR_mesh_quantization", "KHR_materials_", "KHR_texture_", "EXT_texture_",       "MSFT_texture_",
	    "KHR_lights_",           "KHR_xmp",        "VRM",          "KHR_node_visibility" };
	lmbJson list = lmbJson_Key( &gltf->top, "extensionsRequired" );
	for ( int i = 0; i < lmbJson_Count( &list ); ++i )
	{
		lmbJson item = lmbJson_Item( &list, i );
		const char *name = lmbJson_Text( &item );
		if ( name == NULL )
			return lmbJson_Fail( &item, error, lmb_statusCorrupt, "must be a name" );
		if ( strstr( name, "draco" ) != NULL || strstr( name, "meshopt" ) != NULL )
			return lmbJson_Fail(
			    &item, error, lmb_statusUnsupported,
			    "the geometry is compressed (%.60s); export again without compression, or run "
			    "`gltf-transform copy`, which writes it plain",
			    name );
		bool known = false;
		for ( size_t k = 0; k < sizeof( harmless ) / sizeof( harmless[0] ); ++k )
			known = known || StartsWith( name, harmless[k] );
		if ( !known )
			return lmbJson_Fail(
			    &item, error, lmb_statusUnsupported,
			    "the file cannot be read without %.60s, which is not known here; export again "
			    "without it",
			    name );
	}
	return lmb_statusOk;
}

static lmbStatus CheckVersion( const lmbGltf *gltf, lmbError *error )
{
	lmbJson asset = lmbJson_Key( &gltf->top, "asset" );
	lmbJson version = lmbJson_Key( &asset, "version" ), least = lmbJson_Key( &asset, "minVersion" );
	const char *text = lmbJson_Text( &version ), *leastText = lmbJson_Text( &least );
	if ( text == NULL )
		return lmbJson_Fail( &version, error, lmb_statusCorrupt,
		                     "is missing: this is not a glTF file; export the character as .glb" );
	if ( !StartsWith( text, "2." ) || ( leastText != NULL && strcmp( leastText, "2.0" ) != 0 ) )
		return lmbJson_Fail( &version, error, lmb_statusUnsupported,
		                     "glTF %.20s is not read; convert the file to glTF 2.0 (Blender does)",
		                     leastText != NULL ? leastText : text );
	return lmb_statusOk;
}

static lmbStatus ParseJson( lmbGltf *gltf, const char *json, size_t size, lmbError *error )
{
	json_error_t problem;
	gltf->root = json_loadb( json, size, 0, &problem );
	if ( gltf->root == NULL )
		return lmbError_Set( error, lmb_statusCorrupt,
		                     "%s: JSON line %d, column %d: %.150s; the file is damaged, export it again",
		                     gltf->path, problem.line, problem.column, problem.text );
	gltf->top = ( lmbJson ){ .path = gltf->path, .value = gltf->root };
	return lmb_statusOk;
}

static lmbStatus ReadContainer( lmbGltf *gltf, lmbError *error )
{
	char *data = NULL;
	const char *json = NULL;
	size_t size = 0, jsonSize = 0;
	LMB_TRY( lmbFile_Read( gltf->path, &gltf->arena, &data, &size, error ) );
	if ( size >= 4 && memcmp( data, "glTF", 4 ) == 0 )
	{
		LMB_TRY( SplitChunks( gltf, (const unsigned char *)data, size, &json, &jsonSize, error ) );
		return ParseJson( gltf, json, jsonSize, error );
	}
	size_t skip = size >= 3 && memcmp( data, "\xEF\xBB\xBF", 3 ) == 0 ? 3 : 0;
	size_t first = skip;
	while ( first < size && strchr( " \t\r\n", data[first] ) != NULL && data[first] != 0 )
		first += 1;
	if ( first >= size || data[first] != '{' )
		return lmbError_Set( error, lmb_statusUnsupported,
		                     "%s: is not glTF; export the character as .glb (Blender: File > Export > glTF)",
		                     gltf->path );
	return ParseJson( gltf, data + skip, size - skip, error );
}

lmbStatus lmbGltf_Open( lmbGltf *gltf, const char *path, lmbError *error )
{
	memset( gltf, 0, sizeof( *gltf ) );
	gltf->budget = readBudget;
	gltf->path = lmbArena_String( &gltf->arena, path );
	if ( gltf->path == NULL )
		return lmbError_Memory( error );
	LMB_TRY( ReadContainer( gltf, error ) );
	LMB_TRY( CheckVersion( gltf, error ) );
	LMB_TRY( CheckExtensions( gltf, error ) );
	lmbJson buffers = lmbJson_Key( &gltf->top, "buffers" );
	int count = lmbJson_Count( &buffers );
	gltf->buffers = LMB_NEW( &gltf->arena, lmbGltfBuffer, count );
	if ( gltf->buffers == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < count; ++i )
	{
		lmbJson place = lmbJson_Item( &buffers, i );
		LMB_TRY( ReadBuffer( gltf, &place, &gltf->buffers[i], i == 0, error ) );
		gltf->bufferCount = i + 1;
	}
	return lmb_statusOk;
}

void lmbGltf_Close( lmbGltf *gltf )
{
	json_decref( gltf->root );
	lmbArena_Free( &gltf->arena );
	memset( gltf, 0, sizeof( *gltf ) );
}
