/* NumPy's files, against what NumPy itself wrote (tests/golden/tables.py), whole, cut off and made to lie. */
#include "check.h"

#include "base/files.h"
#include "base/random.h"
#include "formats/table.h"

#include <stdlib.h>
#include <unistd.h>

static lmbError error;

static const char *Golden( const char *name )
{
	static char path[512];
	snprintf( path, sizeof( path ), "%s/tests/golden/tables/%s", LMB_TEST_SOURCE, name );
	return path;
}

static lmbTable *Read( const char *name, const lmbTableDef *def )
{
	lmbTable *table = NULL;
	memset( &error, 0, sizeof( error ) );
	lmbStatus status = lmbTable_Read( Golden( name ), def, &table, &error );
	CHECK_INT( status, error.status );
	CHECK( ( table == NULL ) == ( status != lmb_statusOk ) );
	return table;
}

static lmbTable *ReadBytes( const void *bytes, size_t size )
{
	char path[512];
	snprintf( path, sizeof( path ), "%s/numpy-%ld", LMB_TEST_BUILD, (long)getpid() );
	FILE *stream = fopen( path, "wb" );
	CHECK_OR_STOP( stream != NULL && fwrite( bytes, 1, size, stream ) == size && fclose( stream ) == 0 );
	lmbTable *table = NULL;
	memset( &error, 0, sizeof( error ) );
	lmbStatus status = lmbTable_Read( path, NULL, &table, &error );
	CHECK_INT( status, error.status );
	CHECK( ( table == NULL ) == ( status != lmb_statusOk ) );
	unlink( path );
	return table;
}

static void Refuse( const char *name, lmbStatus status, const char *message )
{
	lmbTable *table = Read( name, NULL );
	CHECK_INT( error.status, status );
	CHECK_CONTAINS( error.message, message );
	lmbTable_Free( table );
}

static double Real( int r, int c )
{
	return ( 4 * r + c ) / 8.0 - 1.5;
}

static double Whole( int r, int c )
{
	return 4 * r + c - 3;
}

static double Unsigned( int r, int c )
{
	return 4 * r + c;
}

static double Even( int r, int c )
{
	return ( r * 4 + c ) % 2 == 0 ? 0.0 : 1.0; /* whole % 2 == 0, and whole is 3 less */
}

static void Test_Types( void **state )
{
	(void)state;
	const struct
	{
		const char *name;
		double ( *value )( int, int );
	} files[] = {
	    { "f4-little.npy", Real },  { "f4-little-fortran.npy", Real }, { "f4-big.npy", Real },
	    { "f8-little.npy", Real },  { "f8-little-fortran.npy", Real }, { "f8-big.npy", Real },
	    { "version2.npy", Real },   { "f4-big-fortran.npy", Real },    { "f8-big-fortran.npy", Real },
	    { "version3.npy", Real },   { "i1-little.npy", Whole },        { "i2-little.npy", Whole },
	    { "i2-big.npy", Whole },    { "i4-little.npy", Whole },        { "i4-big.npy", Whole },
	    { "i8-little.npy", Whole }, { "i8-big.npy", Whole },           { "u2.npy", Unsigned },
	    { "bool.npy", Even },
	};
	for ( size_t i = 0; i < sizeof( files ) / sizeof( files[0] ); ++i )
	{
		lmbTable *table = Read( files[i].name, NULL );
		CHECK_OR_STOP( table != NULL );
		CHECK_INT( table->rowCount, 5 );
		CHECK_INT( table->columnCount, 3 );
		CHECK_INT( table->noteCount, 0 );
		CHECK( !table->named && table->lines == NULL && table->format == lmb_tableNpy );
		for ( int r = 0; r < 5; ++r )
			for ( int c = 0; c < 3; ++c )
				CHECK_NEAR( table->columns[c][r], files[i].value( r, c ), 0.0 );
		lmbTable_Free( table );
	}
}

static void Test_OtherArrays( void **state )
{
	(void)state;
	lmbTable *table = Read( "line.npy", NULL );
	CHECK_OR_STOP( table != NULL && table->columnCount == 1 && table->rowCount == 5 );
	CHECK_NEAR( table->columns[0][4], Real( 4, 1 ), 0.0 );
	lmbTable_Free( table );
	table = Read( "holes.npy", NULL );
	CHECK_OR_STOP( table != NULL );
	CHECK( isnan( table->columns[1][0] ) && isnan( table->columns[1][1] ) && isnan( table->columns[1][2] ) );
	CHECK_NEAR( table->columns[1][3], 4.0, 0.0 );
	CHECK_CONTAINS( table->notes[0], "2 infinite values" );
	lmbTable_Free( table );
	table = Read( "large.npy", NULL );
	CHECK_OR_STOP( table != NULL );
	CHECK_NEAR( table->columns[0][0], 9007199254740992.0, 0.0 ); /* ties to even */
	CHECK_NEAR( table->columns[0][1], -9223372036854775808.0, 0.0 );
	CHECK_NEAR( table->columns[0][2], 9223372036854775808.0, 0.0 );
	CHECK_CONTAINS( table->notes[0], "2^53" );
	lmbTable_Free( table );
	table = Read( "channels.npy", NULL );
	CHECK_OR_STOP( table != NULL && table->columnCount == 3 && table->rowCount == 300 );
	CHECK_NEAR( table->columns[2][7], 607.0, 0.0 );
	CHECK_CONTAINS( table->notes[0], "taken for 3 channels" );
	lmbTable_Free( table );
	Refuse( "number.npy", lmb_statusUnsupported, "one number" );
	Refuse( "empty.npy", lmb_statusCorrupt, "without elements" );
	Refuse( "cube.npy", lmb_statusUnsupported, "a.reshape(len(a), -1)" );
	Refuse( "complex.npy", lmb_statusUnsupported, "a.astype('float64')" );
	Refuse( "structured.npy", lmb_statusUnsupported, "numpy.savez(file" );
	Refuse( "objects.npy", lmb_statusUnsupported, "never read" );
}

static void Test_Archives( void **state )
{
	(void)state;
	for ( int i = 0; i < 2; ++i )
	{
		lmbTable *table = Read( i == 0 ? "stored.npz" : "deflated.npz", NULL );
		CHECK_OR_STOP( table != NULL );
		const char *names[] = { "t", "q1", "q2", "tau1", "tau2", "emg1", "emg2" };
		CHECK_OR_STOP( table->columnCount == 7 && table->rowCount == 5 );
		for ( int c = 0; c < 7; ++c )
			CHECK( strcmp( table->names[c], names[c] ) == 0 );
		for ( int r = 0; r < 5; ++r )
		{
			CHECK_NEAR( table->columns[0][r], r / 100.0, 0.0 );
			CHECK_NEAR( table->columns[2][r], Real( r, 1 ), 0.0 );
			CHECK_NEAR( table->columns[3][r], Real( r, 1 ), 0.0 );
			CHECK_NEAR( table->columns[4][r], Real( r, 2 ), 0.0 );
			CHECK_NEAR( table->columns[6][r], Real( r, 1 ), 0.0 );
		}
		CHECK_NEAR( atof( lmbTable_Fact( table, "dt" ) ), 0.01, 0.0 );
		CHECK_NEAR( atof( lmbTable_Fact( table, "mass" ) ), 1.5, 0.0 );
		CHECK_INT( table->noteCount, 3 );
		CHECK_CONTAINS( table->notes[0], "array \"who\": elements of type" );
		CHECK_CONTAINS( table->notes[1], "\"emg\": 2 rows of 5 values" );
		CHECK_CONTAINS( table->notes[2], "\"mvc\" (7 x 1) has not 5 rows" );
		lmbTable_Free( table );
		lmbTableDef def = { .array = "mvc" };
		table = Read( i == 0 ? "stored.npz" : "deflated.npz", &def );
		CHECK_OR_STOP( table != NULL && table->columnCount == 1 && table->rowCount == 7 );
		CHECK_NEAR( table->columns[0][6], 6.0, 0.0 );
		lmbTable_Free( table );
		def.array = "Q";
		CHECK( Read( i == 0 ? "stored.npz" : "deflated.npz", &def ) == NULL );
		CHECK_INT( error.status, lmb_statusNotFound );
		def.array = "who";
		CHECK( Read( "words.npz", &def ) == NULL );
		CHECK_INT( error.status, lmb_statusUnsupported );
	}
	lmbTable *table = Read( "zeros.npz", NULL );
	CHECK_OR_STOP( table != NULL && table->columnCount == 10 && table->rowCount == 100000 );
	CHECK_NEAR( table->columns[9][99999], 0.0, 0.0 );
	lmbTable_Free( table );
	Refuse( "words.npz", lmb_statusCorrupt, "no array of numbers" );
	Refuse( "nothing.npz", lmb_statusCorrupt, "without its list of members" );
}

/* An .npy of one row of doubles with this header text. */
static size_t MakeNpy( unsigned char *out, const char *header, int version, size_t claim, size_t values )
{
	size_t length = strlen( header ), start = version == 1 ? 10 : 12;
	memcpy( out, "\x93NUMPY", 6 );
	out[6] = (unsigned char)version;
	out[7] = 0;
	for ( size_t i = 8; i < start; ++i )
		out[i] = (unsigned char)( claim >> ( 8 * ( i - 8 ) ) );
	memcpy( out + start, header, length );
	memset( out + start + length, 0, values );
	return start + length + values;
}

static void Test_LyingHeaders( void **state )
{
	(void)state;
	const struct
	{
		const char *header, *message;
	} cases[] = {
	    { "{'descr': '<f8', 'fortran_order': False, 'shape': (2000000000, 3), }\n",
	      "2000000000 x 3 elements" },
	    { "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}\n", "do not fit" },
	    { "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 1)}\n",
	      "beyond 64 bits" },
	    { "{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 3)}\n", "shape" },
	    { "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2}\n", "shape" },
	    { "{'descr': '<f8', 'fortran_order': False, 'shape': 3}\n", "shape" },
	    { "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (3,)}\n", "fortran_order" },
	    { "{'descr': '<f8', 'shape': (3,)}\n", "is not there" },
	    { "{'descr': '<f9', 'fortran_order': False, 'shape': (3,)}\n", "\"<f9\"" },
	    { "{'descr': '', 'fortran_order': False, 'shape': (3,)}\n", "descr" },
	    { "{'descr': '<f8, 'fortran_order': False, 'shape': (3,)}\n", "elements of type" },
	    { "{'descr': '<f8', 'import os': 1, 'shape': (3,)}\n", "unknown key" },
	    { "{'descr': '<f8', 'fortran_order': False, 'shape': (3,)", "broken" },
	    { "{'descr", "broken" },
	    { "", "broken" },
	};
	unsigned char bytes[512];
	for ( size_t i = 0; i < sizeof( cases ) / sizeof( cases[0] ); ++i )
	{
		size_t size = MakeNpy( bytes, cases[i].header, 1, strlen( cases[i].header ), 24 );
		lmbTable *table = ReadBytes( bytes, size );
		CHECK( table == NULL );
		CHECK_CONTAINS( error.message, cases[i].message );
		lmbTable_Free( table );
	}
	const char *good = "{'shape': (3L,), \"fortran_order\": True,'descr': \"<f8\"}";
	lmbTable *table = ReadBytes( bytes, MakeNpy( bytes, good, 1, strlen( good ), 24 ) );
	CHECK( table != NULL && table->rowCount == 3 );
	lmbTable_Free( table );
	CHECK( ReadBytes( bytes, MakeNpy( bytes, good, 2, 0xffffffff, 24 ) ) == NULL );
	CHECK_CONTAINS( error.message, "was it cut off?" );
	CHECK( ReadBytes( bytes, MakeNpy( bytes, good, 9, strlen( good ), 24 ) ) == NULL );
	CHECK_CONTAINS( error.message, "version 9" );
	CHECK( ReadBytes( bytes, MakeNpy( bytes, good, 1, strlen( good ), 23 ) ) == NULL );
	CHECK( ReadBytes( bytes, MakeNpy( bytes, good, 1, strlen( good ), 25 ) ) == NULL );
}

static unsigned char *Load( const char *name, size_t *size, lmbArena *arena )
{
	char *data = NULL;
	CHECK_OR_STOP( lmbFile_Read( Golden( name ), arena, &data, size, &error ) == lmb_statusOk );
	return (unsigned char *)data;
}

static void Test_Truncated( void **state )
{
	(void)state;
	const char *names[] = { "f8-little.npy", "structured.npy", "deflated.npz", "stored.npz" };
	for ( size_t i = 0; i < 4; ++i )
	{
		lmbArena arena = { 0 };
		size_t size;
		unsigned char *bytes = Load( names[i], &size, &arena );
		for ( size_t length = 0; length < size; ++length )
		{
			lmbTable *table = ReadBytes( bytes, length );
			/* An archive's last three bytes belong to an empty comment: without them all is still there. */
			if ( table != NULL && !( i >= 2 && length + 3 >= size && table->columnCount == 7 ) )
				printf( "%s cut to %zu bytes was read\n", names[i], length );
			CHECK( table != NULL ? i >= 2 && length + 3 >= size && table->columnCount == 7
			                     : error.message[0] != 0 );
			lmbTable_Free( table );
		}
		lmbArena_Free( &arena );
	}
}

/* Bytes changed anywhere: read or refused; an archive's data are never read wrongly, its check sums see to
 * it. */
static void Test_Changed( void **state )
{
	(void)state;
	lmbRandom random = lmbRandom_Seed( checkSeed = 11, 1 );
	const char *names[] = { "f8-big-fortran.npy", "deflated.npz", "stored.npz" };
	for ( int i = 0; i < 6000; ++i )
	{
		lmbArena arena = { 0 };
		size_t size;
		unsigned char *bytes = Load( names[i % 3], &size, &arena );
		int changes = 1 + (int)lmbRandom_Below( &random, 3 );
		for ( int k = 0; k < changes; ++k )
			bytes[lmbRandom_Below( &random, (uint32_t)size )] = (unsigned char)lmbRandom_Bits( &random );
		lmbTable *table = ReadBytes( bytes, size );
		CHECK( table != NULL || error.message[0] != 0 );
		int column = table != NULL && i % 3 != 0 ? lmbTable_Column( table, "q2" ) : -1;
		if ( column >= 0 && table->rowCount == 5 )
			CHECK_NEAR( table->columns[column][3], Real( 3, 1 ), 0.0 );
		lmbTable_Free( table );
		lmbArena_Free( &arena );
	}
}

/* The sizes in the list of members (its records start with PK 1 2; packed at 20, unpacked at 24) are claims.
 */
static void Test_GigabyteClaim( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	size_t size;
	unsigned char *bytes = Load( "deflated.npz", &size, &arena );
	size_t list = 0;
	while ( list + 46 < size && memcmp( bytes + list, "PK\1\2", 4 ) != 0 )
		list += 1;
	CHECK_OR_STOP( list + 46 < size );
	bytes[list + 27] = 0x40;
	CHECK( ReadBytes( bytes, size ) == NULL );
	CHECK_CONTAINS( error.message, "t.npy claims 1073" );
	CHECK_CONTAINS( error.message, "which cannot be" );
	bytes[list + 22] = 0x30; /* 3 MB packed would do */
	CHECK( ReadBytes( bytes, size ) == NULL );
	CHECK_CONTAINS( error.message, "is damaged" );
	lmbArena_Free( &arena );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( Test_Types ),         CHECK_TEST( Test_OtherArrays ), CHECK_TEST( Test_Archives ),
	    CHECK_TEST( Test_LyingHeaders ),  CHECK_TEST( Test_Truncated ),   CHECK_TEST( Test_Changed ),
	    CHECK_TEST( Test_GigabyteClaim ),
	};
	return CHECK_RUN( tests );
}
