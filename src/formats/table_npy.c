/* Tables from NumPy's .npy, and from the arrays of an .npz that fit together. */
#include "formats/npy.h"
#include "formats/table_private.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unzip.h>

/* Deflate never gains more (a 258-byte match takes two bits at best), so a larger claim is a lie. */
static const uint64_t largestGain = 1032;
static const uint64_t largestTotal = (uint64_t)8 << 30;

enum
{
	mostArrays = 4096,
	chunkBytes = 1 << 20
};

/* An array with its place among the columns. */
typedef struct Part
{
	char *name;
	unsigned char *bytes; /* owned */
	lmbNpy array;
	bool turned; /* a sample in every column */
	bool used;
} Part;

static uint64_t Rows( const Part *part )
{
	return part->array.dims[part->turned ? 1 : 0];
}

static uint64_t Columns( const Part *part )
{
	return part->array.dims[part->turned ? 0 : 1];
}

static lmbStatus CheckShape( const lmbTable *table, uint64_t rows, uint64_t columns, lmbError *error )
{
	if ( rows < 1 || columns < 1 )
		return lmbError_Set( error, lmb_statusCorrupt,
		                     "%s: an array without elements; there is nothing to read", table->path );
	if ( columns > lmbTableMaxColumns || rows > INT_MAX - 1 )
		return lmbError_Set(
		    error, lmb_statusUnsupported,
		    "%s: %llu rows and %llu columns; at most %d and %d are read: a sample goes into a row",
		    table->path, (unsigned long long)rows, (unsigned long long)columns, INT_MAX - 1,
		    lmbTableMaxColumns );
	return lmb_statusOk;
}

/* The values of one array into columns from first on; infinite ones count as missing. */
static lmbStatus Fill( lmbTable *table, const Part *part, int first, lmbError *error )
{
	size_t infinite = 0, rounded = 0;
	bool whole = part->array.kind != 'f' && part->array.size == 8;
	int columns = (int)Columns( part );
	for ( int c = 0; c < columns; ++c )
		for ( int r = 0; r < table->rowCount; ++r )
		{
			uint64_t row = (uint64_t)r, column = (uint64_t)c;
			double value = part->turned ? lmbNpy_Value( &part->array, column, row )
			                            : lmbNpy_Value( &part->array, row, column );
			infinite += isinf( value ) != 0;
			rounded += whole && fabs( value ) > 9007199254740992.0;
			table->columns[first + c][r] = isfinite( value ) ? value : NAN;
		}
	if ( infinite > 0 )
		LMB_TRY( lmbTable_Note( table, error, "%s%s%zu infinite values count as missing", part->name,
		                        part->name[0] != 0 ? ": " : "", infinite ) );
	if ( rounded > 0 )
		LMB_TRY( lmbTable_Note( table, error, "%s%s%zu whole numbers beyond 2^53 are rounded", part->name,
		                        part->name[0] != 0 ? ": " : "", rounded ) );
	return lmb_statusOk;
}

/* Few rows and many columns: a channel in every row. */
static bool LooksTurned( const lmbNpy *array )
{
	return array->rank == 2 && array->dims[1] > 256 && array->dims[0] <= 256 &&
	       array->dims[1] / 8 > array->dims[0];
}

lmbStatus lmbTable_ReadNpy( lmbTable *table, const char *data, size_t size, lmbError *error )
{
	Part part = { .name = "" };
	table->format = lmb_tableNpy;
	LMB_TRY( lmbNpy_Parse( table->path, data, size, &part.array, error ) );
	if ( part.array.rank == 0 )
		return lmbError_Set( error, lmb_statusUnsupported,
		                     "%s: one number, not an array; a table has a row for every sample",
		                     table->path );
	part.turned = LooksTurned( &part.array );
	LMB_TRY( CheckShape( table, Rows( &part ), Columns( &part ), error ) );
	LMB_TRY( lmbTable_Allocate( table, (int)Rows( &part ), (int)Columns( &part ), error ) );
	if ( part.turned )
		LMB_TRY( lmbTable_Note( table, error,
		                        "%d rows of %d values are taken for %d channels: each row became a column",
		                        table->columnCount, table->rowCount, table->columnCount ) );
	return Fill( table, &part, 0, error );
}

/* The current member's bytes, unpacked piece by piece: a false claim of size costs no memory. */
static lmbStatus Unpack( const char *path, unzFile zip, const char *name, const unz_file_info64 *info,
                         uint64_t *total, unsigned char **out, size_t *outSize, lmbError *error )
{
	bool known = info->compression_method == 0 || info->compression_method == 8;
	if ( !known || ( info->flag & 1 ) != 0 )
		return lmbError_Set( error, lmb_statusUnsupported,
		                     "%s: %s is %s; numpy.savez and numpy.savez_compressed write what is read", path,
		                     name, known ? "encrypted" : "packed by another method than deflate" );
	*total += info->uncompressed_size;
	if ( info->uncompressed_size / largestGain > info->compressed_size || *total > largestTotal ||
	     info->uncompressed_size > largestTotal )
		return lmbError_Set(
		    error, lmb_statusCorrupt,
		    "%s: %s claims %llu bytes from %llu packed ones, which cannot be (or all arrays together "
		    "are more than 8 GiB)",
		    path, name, (unsigned long long)info->uncompressed_size,
		    (unsigned long long)info->compressed_size );
	size_t size = (size_t)info->uncompressed_size, capacity = 0, used = 0;
	unsigned char *bytes = NULL;
	bool memory = true, good = unzOpenCurrentFile( zip ) == UNZ_OK;
	while ( good && memory )
	{
		if ( used == capacity )
		{
			size_t larger = capacity == 0 ? chunkBytes : 2 * capacity;
			larger = larger > size + 1 ? size + 1 : larger; /* one more, to see that it ends there */
			unsigned char *grown = larger > capacity ? realloc( bytes, larger ) : NULL;
			good = larger > capacity;
			memory = !good || grown != NULL;
			if ( !good || !memory )
				break;
			bytes = grown;
			capacity = larger;
		}
		size_t want = capacity - used < chunkBytes ? capacity - used : chunkBytes;
		int got = unzReadCurrentFile( zip, bytes + used, (unsigned)want );
		good = got >= 0;
		if ( got <= 0 )
			break;
		used += (size_t)got;
	}
	good = unzCloseCurrentFile( zip ) == UNZ_OK && good && used == size; /* Close compares the check sum */
	if ( good && memory )
	{
		*out = bytes;
		*outSize = size;
		return lmb_statusOk;
	}
	free( bytes );
	return !memory ? lmbError_Memory( error )
	               : lmbError_Set(
	                     error, lmb_statusCorrupt,
	                     "%s: %s is damaged: %zu of %zu bytes could be unpacked, or their check sum is wrong",
	                     path, name, used, size );
}

/* One member; what is no array of numbers is left out with a note, unless it was asked for. */
static lmbStatus TakeMember( lmbTable *table, const lmbTableDef *def, unzFile zip, Part *part, bool *taken,
                             uint64_t *total, lmbError *error )
{
	unz_file_info64 info;
	char name[512] = "";
	*taken = false;
	if ( unzGetCurrentFileInfo64( zip, &info, name, sizeof( name ) - 1, NULL, 0, NULL, 0 ) != UNZ_OK )
		return lmbError_Set( error, lmb_statusCorrupt, "%s: the list of arrays is damaged; save it again",
		                     table->path );
	name[sizeof( name ) - 1] = 0;
	size_t length = strlen( name ), size = 0;
	if ( length < 4 || strcmp( name + length - 4, ".npy" ) != 0 )
		return lmbTable_Note( table, error, "%.200s in the archive is no array and is left out", name );
	lmbTableCell cell = { name, length - 4, false };
	char *clean = lmbTableCell_Text( &cell, &table->arena );
	if ( clean == NULL )
		return lmbError_Memory( error );
	if ( def->array != NULL && strcmp( def->array, clean ) != 0 )
		return lmb_statusOk;
	*part = ( Part ){ .name = clean };
	LMB_TRY( Unpack( table->path, zip, name, &info, total, &part->bytes, &size, error ) );
	char what[4600];
	snprintf( what, sizeof( what ), "%.4000s: array \"%.500s\"", table->path, clean );
	lmbError problem = { 0 };
	lmbStatus status = lmbNpy_Parse( what, part->bytes, size, &part->array, &problem );
	*taken = status == lmb_statusOk;
	if ( status == lmb_statusOk )
		return lmb_statusOk;
	free( part->bytes );
	part->bytes = NULL;
	if ( status == lmb_statusUnsupported && def->array == NULL )
		return lmbTable_Note( table, error, "left out: %s", problem.message + strlen( table->path ) + 2 );
	return lmbError_Set( error, status, "%s", problem.message );
}

static bool IsTimeName( const char *name )
{
	static const char *const names[] = { "time", "t", "times", "timestamp", "timestamps", "time_s" };
	for ( size_t i = 0; i < sizeof( names ) / sizeof( names[0] ); ++i )
		if ( strcasecmp( name, names[i] ) == 0 )
			return true;
	return false;
}

/* How many samples there are: as many as times, else the length that most of the numbers have. */
static uint64_t CommonRows( const Part *parts, int count )
{
	uint64_t best = 0, bestWeight = 0;
	for ( int i = 0; i < count; ++i )
	{
		if ( parts[i].array.rank == 0 )
			continue;
		if ( IsTimeName( parts[i].name ) && ( parts[i].array.rank == 1 || parts[i].array.dims[1] == 1 ) )
			return parts[i].array.dims[0];
		uint64_t rows = LooksTurned( &parts[i].array ) ? parts[i].array.dims[1] : parts[i].array.dims[0],
		         weight = 0;
		for ( int j = 0; j < count; ++j )
			if ( parts[j].array.rank > 0 &&
			     ( parts[j].array.dims[0] == rows || parts[j].array.dims[1] == rows ) )
				weight += parts[j].array.dims[0] * parts[j].array.dims[1];
		if ( weight > bestWeight || ( weight == bestWeight && rows > best ) )
		{
			best = rows;
			bestWeight = weight;
		}
	}
	return best;
}

static lmbStatus ChooseParts( lmbTable *table, Part *parts, int count, uint64_t rows, uint64_t *columns,
                              lmbError *error )
{
	*columns = 0;
	for ( int i = 0; i < count; ++i )
	{
		Part *part = &parts[i];
		const lmbNpy *array = &part->array;
		part->turned = array->rank == 2 && array->dims[0] != rows && array->dims[1] == rows;
		part->used = array->rank > 0 && Rows( part ) == rows;
		if ( part->used )
			*columns += Columns( part );
		if ( part->turned )
			LMB_TRY( lmbTable_Note(
			    table, error, "array \"%.200s\": %llu rows of %llu values, each row became a column",
			    part->name, (unsigned long long)array->dims[0], (unsigned long long)rows ) );
		char text[64];
		if ( array->rank == 0 || ( !part->used && array->dims[0] == 1 && array->dims[1] == 1 ) )
		{
			snprintf( text, sizeof( text ), "%.17g", lmbNpy_Value( array, 0, 0 ) );
			LMB_TRY( lmbTable_AddFact( table, part->name, text, error ) );
		}
		else if ( !part->used )
			LMB_TRY( lmbTable_Note( table, error,
			                        "array \"%.200s\" (%llu x %llu) has not %llu rows and is left out",
			                        part->name, (unsigned long long)array->dims[0],
			                        (unsigned long long)array->dims[1], (unsigned long long)rows ) );
	}
	return lmb_statusOk;
}

static lmbStatus Combine( lmbTable *table, const lmbTableDef *def, Part *parts, int count, lmbError *error )
{
	if ( count == 0 && def->array != NULL )
		return lmbError_Set( error, lmb_statusNotFound, "%s: no array \"%.200s\" in it", table->path,
		                     def->array );
	uint64_t rows = CommonRows( parts, count ), columns;
	if ( rows == 0 )
		return lmbError_Set( error, lmb_statusCorrupt, "%s: no array of numbers with at least one row in it",
		                     table->path );
	LMB_TRY( ChooseParts( table, parts, count, rows, &columns, error ) );
	LMB_TRY( CheckShape( table, rows, columns, error ) );
	LMB_TRY( lmbTable_Allocate( table, (int)rows, (int)columns, error ) );
	table->named = true;
	int next = 0;
	for ( int i = 0; i < count; ++i )
	{
		if ( !parts[i].used )
			continue;
		uint64_t own = Columns( &parts[i] );
		LMB_TRY( Fill( table, &parts[i], next, error ) );
		for ( uint64_t c = 0; c < own; ++c )
		{
			size_t capacity = strlen( parts[i].name ) + 24;
			char *name = lmbArena_New( &table->arena, capacity, 1 );
			if ( name == NULL )
				return lmbError_Memory( error );
			if ( parts[i].array.rank == 1 )
				snprintf( name, capacity, "%s", parts[i].name );
			else
				snprintf( name, capacity, "%s%llu", parts[i].name, (unsigned long long)c + 1 );
			table->names[next++] = name;
		}
	}
	return lmbTable_MendNames( table, error );
}

lmbStatus lmbTable_ReadNpz( lmbTable *table, const lmbTableDef *def, lmbError *error )
{
	table->format = lmb_tableNpz;
	unzFile zip = unzOpen64( table->path );
	if ( zip == NULL )
		return lmbError_Set( error, lmb_statusCorrupt,
		                     "%s: a zip archive without its list of members; was it cut off?", table->path );
	Part *parts = calloc( mostArrays, sizeof( *parts ) );
	lmbStatus status = parts != NULL ? lmb_statusOk : lmbError_Memory( error );
	int count = 0, seen = 0, next = unzGoToFirstFile( zip );
	uint64_t total = 0;
	while ( status == lmb_statusOk && next == UNZ_OK )
	{
		bool taken;
		if ( seen++ == mostArrays )
			status = lmbError_Set( error, lmb_statusUnsupported, "%s: more than %d arrays; save fewer",
			                       table->path, mostArrays );
		else
			status = TakeMember( table, def, zip, &parts[count], &taken, &total, error );
		if ( status == lmb_statusOk )
		{
			count += taken;
			next = unzGoToNextFile( zip );
		}
	}
	if ( status == lmb_statusOk && next != UNZ_END_OF_LIST_OF_FILE && seen > 0 )
		status = lmbError_Set( error, lmb_statusCorrupt, "%s: the list of arrays is damaged; save it again",
		                       table->path );
	if ( status == lmb_statusOk )
		status = Combine( table, def, parts, count, error );
	for ( int i = 0; i < count; ++i )
		free( parts[i].bytes );
	free( parts );
	unzClose( zip );
	return status;
}
