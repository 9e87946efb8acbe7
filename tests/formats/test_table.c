/* Tables in text: what laboratories write, what spreadsheets do to it, and files that are out to hurt. */
#include "check.h"

#include "base/random.h"
#include "formats/number.h"
#include "formats/table.h"

#include <float.h>
#include <locale.h>
#include <stdlib.h>
#include <unistd.h>

static char path[256];
static lmbError error;

/* Reads a table from bytes. */
static lmbTable *Read( const void *bytes, size_t size, const lmbTableDef *def )
{
	snprintf( path, sizeof( path ), "%s/table-%ld.txt", LMB_TEST_BUILD, (long)getpid() );
	memset( &error, 0, sizeof( error ) );
	lmbTable *table = NULL;
	FILE *stream = fopen( path, "wb" ); /* not lmbFile_Write: thousands of files need not reach the disk */
	CHECK_OR_STOP( stream != NULL && fwrite( bytes, 1, size, stream ) == size && fclose( stream ) == 0 );
	lmbTable_Read( path, def, &table, &error );
	CHECK( ( table == NULL ) == ( error.status != lmb_statusOk ) );
	unlink( path );
	return table;
}

static lmbTable *ReadText( const char *text )
{
	return Read( text, strlen( text ), NULL );
}

/* Values row by row; NAN for missing. */
static void Expect( const char *text, const char *names, int rows, int columns, const double *values )
{
	lmbTable *table = ReadText( text );
	if ( table == NULL )
	{
		CheckReport( __FILE__, __LINE__, error.message );
		return;
	}
	char all[256] = "";
	for ( int c = 0; c < table->columnCount; ++c )
	{
		strncat( all, c > 0 ? "|" : "", sizeof( all ) - strlen( all ) - 1 );
		strncat( all, table->names[c], sizeof( all ) - strlen( all ) - 1 );
	}
	if ( strcmp( all, names ) != 0 || table->rowCount != rows || table->columnCount != columns )
	{
		printf( "in: %s\nnames: %s, %d rows, %d columns\n", text, all, table->rowCount, table->columnCount );
		CheckReport( __FILE__, __LINE__, "names or shape are not what was expected" );
	}
	else
		for ( int r = 0; r < rows; ++r )
			for ( int c = 0; c < columns; ++c )
			{
				double value = table->columns[c][r], expected = values[r * columns + c];
				if ( isnan( value ) != isnan( expected ) || ( !isnan( value ) && value != expected ) )
				{
					printf( "in: %s\n", text );
					CheckNear( __FILE__, __LINE__, "value", value, expected, 0.0 );
				}
			}
	lmbTable_Free( table );
}

static void Refuse( const char *text, lmbStatus status, const char *message )
{
	lmbTable *table = ReadText( text );
	if ( table != NULL )
		printf( "in: %s\n", text );
	CHECK_INT( error.status, status );
	CHECK_CONTAINS( error.message, message );
	lmbTable_Free( table );
}

#define V( ... )                                                                                             \
	( const double[] )                                                                                       \
	{                                                                                                        \
		__VA_ARGS__                                                                                          \
	}

static void Test_Dialects( void **state )
{
	(void)state;
	const double *values = V( 0.5, 1.25, -2, 1.5, 2.5, 3 );
	Expect( "a,b,c\n0.5,1.25,-2\n1.5,2.5,3\n", "a|b|c", 2, 3, values );
	Expect( "a,b,c\r\n0.5,1.25,-2\r\n1.5,2.5,3", "a|b|c", 2, 3, values );
	Expect( "a,b,c\r0.5,1.25,-2\r1.5,2.5,3\r", "a|b|c", 2, 3, values );
	Expect( "\xef\xbb\xbf"
	        "a;b;c\n0,5;1,25;-2\n1,5;2,5;3\n",
	        "a|b|c", 2, 3, values );
	Expect( "sep=;\r\na;b;c\r\n0,5;1,25;-2\r\n1,5;2,5;3\r\n", "a|b|c", 2, 3, values );
	Expect( "a\tb\tc\n 0,5\t1,25\t-2\n1,5 \t2,5\t3\n", "a|b|c", 2, 3, values );
	Expect( "  a  b  c\n  0.5   1.25  -2\n  1.5   2.5   3  \n", "a|b|c", 2, 3, values );
	Expect( "a b c\n0,5 1,25 -2\n1,5 2,5 3\n", "a|b|c", 2, 3, values );
	Expect( "0.5,1.25,-2\n1.5,2.5,3\n", "column1|column2|column3", 2, 3, values );
	Expect( "a, b, c\n0.5, 1.25, -2\n1.5, 2.5, 3\n", "a|b|c", 2, 3, values );
	Expect( "a,b,c,\n0.5,1.25,-2,\n1.5,2.5,3,\n", "a|b|c", 2, 3, values );
	Expect( "a,b,c\n0.5,1.25,-2,\n1.5,2.5,3,\n", "a|b|c", 2, 3, values );
	Expect( "a,b,c,,\n0.5,1.25,-2,,\n1.5,2.5,3,,\n,,,,\n", "a|b|c|column#4", 2, 4,
	        V( 0.5, 1.25, -2, NAN, 1.5, 2.5, 3, NAN ) );
	Expect( "# made by hand\n% so is this\n// a b c\n0.5 1.25 -2\n# in between\n1.5 2.5 3\n", "a|b|c", 2, 3,
	        values );
	Expect( "# a b c\n5e-1 125D-2 -2.0d0\n+1.5 .25E+1 3.\n", "a|b|c", 2, 3, values );
	Expect( "\"a\",\"b\",\"c\"\n\"0.5\",\"1.25\",\"-2\"\n1.5,2.5,3\n", "a|b|c", 2, 3, values );
	Expect( "Subject: 7\nrate,100\n\na,b,c\ns,deg,N m\n0.5,1.25,-2\n1.5,2.5,3\n", "a|b|c", 2, 3, values );
	/* R's write.table */
	Expect( "\"a\" \"b\"\n\"1\" 0.5 1.25\n\"2\" 1.5 2.5\n", "row|a|b", 2, 3, V( 1, 0.5, 1.25, 2, 1.5, 2.5 ) );
	/* pandas' to_csv with its index; channels named by numbers. */
	Expect( ",q\n0,0.5\n1,1.5\n", "column#1|q", 2, 2, V( 0, 0.5, 1, 1.5 ) );
	Expect( "time,1,2\n0,0.5,1\n1,1.5,2\n", "time|1|2", 2, 3, V( 0, 0.5, 1, 1, 1.5, 2 ) );
	Expect( "7\n8\n", "column1", 2, 1, V( 7, 8 ) );
	Expect( "0;0\n1;0\n2;0,5\n", "column1|column2", 3, 2, V( 0, 0, 1, 0, 2, 0.5 ) );
}

static void Test_MissingAndWords( void **state )
{
	(void)state;
	Expect( "t,q\n0,\n1,nan\n2,NA\n3,-1.#IND\n4,inf\n5,1e999\n6,7\n", "t|q", 7, 2,
	        V( 0, NAN, 1, NAN, 2, NAN, 3, NAN, 4, NAN, 5, NAN, 6, 7 ) );
	Expect( "t\tq\tv\n0\t\t1\n1\t2\t\n", "t|q|v", 2, 3, V( 0, NAN, 1, 1, 2, NAN ) );
	Expect( "t,q\n0,\n1,\n2,5\n", "t|q", 3, 2, V( 0, NAN, 1, NAN, 2, 5 ) );
	lmbTable *table = ReadText( "t,who,q\n0,me,1\n1,you,2\n" );
	CHECK_OR_STOP( table != NULL );
	CHECK( table->text[1] && !table->text[0] && isnan( table->columns[1][0] ) );
	CHECK_NEAR( table->columns[2][1], 2.0, 0.0 );
	CHECK_INT( table->noteCount, 1 );
	CHECK_CONTAINS( table->notes[0], "\"who\" holds words (\"me\")" );
	lmbTable_Free( table );
	table = ReadText( "t,q\n0,1\n1,inf\n2,-Infinity\n3,1\n4," );
	CHECK_OR_STOP( table != NULL );
	CHECK_CONTAINS( table->notes[0], "2 infinite values" );
	CHECK_INT( table->lines[3], 5 );
	lmbTable_Free( table );
	Refuse( "t,q\n0,1\n1,2\n2,abc\n3,4\n", lmb_statusCorrupt, ":4: column \"q\": \"abc\" is not a number" );
	Refuse( "t,q\nx,1\n1,2\n2,3\n3,4\n", lmb_statusCorrupt, ":2: column \"t\": \"x\" is not a number" );
}

static void Test_NamesAndFacts( void **state )
{
	(void)state;
	Expect( "q,q,Q,q#2\n1,2,3,4\n", "q|q#2#|Q|q#2", 1, 4, V( 1, 2, 3, 4 ) );
	Expect( "\"a, \"\"b\"\"\",\"c\nd\"\n1,2\n", "a, \"b\"|c d", 1, 2, V( 1, 2 ) );
	/* Latin-1 degrees, and UTF-8 that is cut off. */
	Expect( "t,q \xb0,\xe2\x82\n1,2,3\n", "t|q \xc2\xb0|\xc3\xa2\xc2\x82", 1, 3, V( 1, 2, 3 ) );
	lmbTable *table = ReadText( "Subject: 7\nrate = 100 Hz\n\nTime,q\n(s),[deg]\n0,1\n" );
	CHECK_OR_STOP( table != NULL );
	CHECK_CONTAINS( lmbTable_Fact( table, "subject" ), "7" );
	CHECK_CONTAINS( lmbTable_Fact( table, "RATE" ), "100 Hz" );
	CHECK( lmbTable_Fact( table, "rat" ) == NULL );
	CHECK_CONTAINS( table->units[1], "[deg]" );
	CHECK_INT( lmbTable_Column( table, "time" ), 0 );
	CHECK_INT( lmbTable_Column( table, "#2" ), 1 );
	CHECK_INT( lmbTable_Column( table, "#3" ), -1 );
	int column;
	CHECK_INT( lmbTable_Need( table, "q1", &column, &error ), lmb_statusNotFound );
	CHECK_CONTAINS( error.message, "no column \"q1\"; name one of \"Time\", \"q\", or #1 to #2" );
	lmbTable_Free( table );
}

static void Test_Refusals( void **state )
{
	(void)state;
	Refuse( "", lmb_statusCorrupt, "no line of numbers" );
	Refuse( "\n\n  \n", lmb_statusCorrupt, "no line of numbers" );
	Refuse( "time,q\n", lmb_statusCorrupt, "no line of numbers" );
	Refuse( "# only a comment\n", lmb_statusCorrupt, "no line of numbers" );
	Refuse( "the quick brown fox\njumps over the lazy dog\n", lmb_statusCorrupt, "no line of numbers" );
	Refuse( "t,q\n0,1\n1\n2,3\n", lmb_statusCorrupt, ":3: 1 cell where the other lines have 2" );
	Refuse( "t,q\n0,1\n1,2,3\n2,3\n", lmb_statusCorrupt, ":3: 3 cells where the other lines have 2" );
	Refuse( "t,q\n0,01,1,5\n0,02,1,6\n", lmb_statusCorrupt, "semicolons or tabs" );
	Refuse( "t;q\n0,5;1\n1.5;2\n", lmb_statusCorrupt,
	        ":3: \"1.5\" has a decimal point, but line 2 has a decimal comma" );
	Refuse( "t;q\n0;1.234,5\n1;2\n2;3\n", lmb_statusCorrupt, "\"1.234,5\" is not a number" );
	Refuse( "t,q\n0,1\n1,\"2\n2,3\n", lmb_statusCorrupt, ":3: a quotation mark that is never closed" );
	Refuse( "t,q,v\n0,1\n1,2\n", lmb_statusCorrupt, ":1: 3 cells stand above 2 columns" );
	CHECK( Read( "t,q\n0,\0001\n", 10, NULL ) == NULL );
	CHECK_CONTAINS( error.message, "byte 6 is zero" );
	CHECK( Read( "\xff\xfet\0,\0q\0", 8, NULL ) == NULL );
	CHECK_CONTAINS( error.message, "UTF-16" );
	lmbTableDef def = { .decimal = ';' };
	CHECK( Read( "1\n", 2, &def ) == NULL );
	CHECK_INT( error.status, lmb_statusInvalidArgument );
	lmbTable *table = NULL;
	CHECK_INT( lmbTable_Read( "no/such/file.csv", NULL, &table, &error ), lmb_statusIo );
	CHECK_CONTAINS( error.message, "no/such/file.csv: cannot open" );
	CHECK_INT( lmbTable_Read( "/", NULL, &table, &error ), lmb_statusIo );
}

static void Test_Told( void **state )
{
	(void)state;
	lmbTableDef def = { .header = lmb_tableHeaderFirst };
	lmbTable *table = Read( "1,2\n3,4\n5,6\n", 12, &def );
	CHECK_OR_STOP( table != NULL );
	CHECK_CONTAINS( table->names[1], "2" );
	CHECK_INT( table->rowCount, 2 );
	lmbTable_Free( table );
	def = ( lmbTableDef ){ .separator = '|', .decimal = ',' };
	table = Read( "a|b\n3,5|4\n5|6\n", 14, &def );
	CHECK_OR_STOP( table != NULL );
	CHECK_NEAR( table->columns[0][0], 3.5, 0.0 );
	lmbTable_Free( table );
	/* Two columns by themselves, one when the comma is told to be the decimal mark. */
	def = ( lmbTableDef ){ .separator = ';', .decimal = ',' };
	table = Read( "1,5\n2,5\n", 8, &def );
	CHECK_OR_STOP( table != NULL );
	CHECK_INT( table->columnCount, 1 );
	CHECK_NEAR( table->columns[0][1], 2.5, 0.0 );
	lmbTable_Free( table );
}

/* The C library's strtod rounds correctly; ours must agree bit for bit, and printing must come back. */
static void Test_Numbers( void **state )
{
	(void)state;
	lmbNumberLocale locale;
	CHECK_OR_STOP( lmbNumberLocale_Begin( &locale, &error ) == lmb_statusOk );
	lmbRandom random = lmbRandom_Seed( checkSeed = 5, 1 );
	const double edges[] = { 0.0, 1.0,  DBL_MIN, DBL_TRUE_MIN, DBL_MAX, 9007199254740993.0,
	                         0.1, 1e22, 1e23,    5e-324 };
	int edgeCount = (int)( sizeof( edges ) / sizeof( edges[0] ) );
	for ( int i = 0; i < 200000; ++i )
	{
		double value, back;
		uint64_t bits = (uint64_t)lmbRandom_Bits( &random ) << 32 | lmbRandom_Bits( &random );
		memcpy( &value, &bits, sizeof( value ) );
		if ( i < edgeCount )
			value = edges[i];
		else if ( i % 2 == 0 )
			value = floor( 1e6 * lmbRandom_Normal( &random ) ) / 1e5;
		if ( !isfinite( value ) )
			continue;
		char text[lmbNumberTextSize], other[64];
		lmbNumber_Print( value, text );
		CHECK( lmbNumber_Parse( text, strlen( text ), '.', &back ) == lmb_numberFinite && back == value );
		snprintf( other, sizeof( other ), "%.*f", (int)( bits % 9 ), fmod( value, 1e9 ) );
		CHECK( lmbNumber_Parse( other, strlen( other ), '.', &back ) == lmb_numberFinite );
		CHECK_NEAR( back, strtod( other, NULL ), 0.0 );
		if ( checkFailures > 5 )
			break;
	}
	double value;
	const char *none[] = { ".",   "+",     "e5",  "1e",  "1e+",  "0x10",
	                       "1 2", "1.2.3", "1,5", "--1", "1e5x", "nanx" };
	for ( size_t i = 0; i < sizeof( none ) / sizeof( none[0] ); ++i )
		CHECK_INT( lmbNumber_Parse( none[i], strlen( none[i] ), '.', &value ), lmb_numberNone );
	const char *long0 = "0.1000000000000000055511151231257827021181583404541015625";
	CHECK( lmbNumber_Parse( long0, strlen( long0 ), '.', &value ) == lmb_numberFinite && value == 0.1 );
	CHECK( lmbNumber_Parse( "1e-999999999999", 15, '.', &value ) == lmb_numberFinite && value == 0.0 );
	CHECK_INT( lmbNumber_Parse( "1e999999999999", 14, '.', &value ), lmb_numberInfinite );
	lmbNumberLocale_End( &locale );
}

static lmbTable *Wild( int rows, int columns )
{
	lmbTable *table = NULL;
	CHECK_INT( lmbTable_New( rows, columns, &table, &error ), lmb_statusOk );
	lmbRandom random = lmbRandom_Seed( checkSeed = 9, 2 );
	for ( int c = 0; c < columns; ++c )
		for ( int r = 0; r < rows; ++r )
			table->columns[c][r] =
			    c == 0 ? r / 100.0
			           : ldexp( lmbRandom_Normal( &random ), (int)lmbRandom_Below( &random, 200 ) - 100 );
	table->columns[1][2] = NAN;
	return table;
}

static void CompareTables( const lmbTable *a, const lmbTable *b )
{
	CHECK_INT( a->rowCount, b->rowCount );
	CHECK_INT( a->columnCount, b->columnCount );
	int differ = 0;
	for ( int c = 0; c < a->columnCount && a->rowCount == b->rowCount; ++c )
		for ( int r = 0; r < a->rowCount; ++r )
			differ +=
			    isnan( a->columns[c][r] ) ? !isnan( b->columns[c][r] ) : a->columns[c][r] != b->columns[c][r];
	CHECK_INT( differ, 0 );
}

/* Bit for bit, also in a program whose locale has decimal commas (when the machine knows one). */
static void Test_WriteAndReadBack( void **state )
{
	(void)state;
	lmbTable *table = Wild( 300, 3 ), *back = NULL;
	table->names[1] = "a, \"b\"";
	table->names[2] = "# c";
	const char *old = setlocale( LC_ALL, NULL );
	CHECK( old != NULL );
	if ( setlocale( LC_ALL, "de_DE.UTF-8" ) == NULL )
		printf( "no German locale here: read and written in the C locale only\n" );
	snprintf( path, sizeof( path ), "%s/table-%ld.csv", LMB_TEST_BUILD, (long)getpid() );
	CHECK_INT( lmbTable_WriteCsv( table, path, &error ), lmb_statusOk );
	CHECK_INT( lmbTable_Read( path, NULL, &back, &error ), lmb_statusOk );
	CHECK_OR_STOP( back != NULL );
	CompareTables( table, back );
	for ( int c = 0; c < 3; ++c )
		CHECK( strcmp( table->names[c], back->names[c] ) == 0 );
	lmbTable_Free( back );
	CHECK_INT( lmbTable_WriteSto( table, path, "made\nup", lmb_tableAnglesDegrees, &error ), lmb_statusOk );
	CHECK_INT( lmbTable_Read( path, NULL, &back, &error ), lmb_statusOk );
	CHECK_OR_STOP( back != NULL );
	CompareTables( table, back );
	CHECK_INT( back->format, lmb_tableOpenSim );
	CHECK_INT( back->angles, lmb_tableAnglesDegrees );
	CHECK_INT( back->noteCount, 0 );
	CHECK_CONTAINS( back->names[0], "time" );
	CHECK_CONTAINS( back->names[1], "a__\"b\"" );
	CHECK_CONTAINS( lmbTable_Fact( back, "name" ), "made up" );
	lmbTable_Free( back );
	table->names[0] = "time";
	CHECK_INT( lmbTable_WriteNpz( table, path, &error ), lmb_statusOk );
	CHECK_INT( lmbTable_Read( path, NULL, &back, &error ), lmb_statusOk );
	CHECK_OR_STOP( back != NULL );
	CompareTables( table, back );
	CHECK_INT( back->format, lmb_tableNpz );
	for ( int c = 0; c < 3; ++c )
		CHECK( lmbTable_Column( back, table->names[c] ) >= 0 );
	lmbTable_Free( back );
	table->names[1] = "a/b";
	table->names[2] = "a_b";
	CHECK_INT( lmbTable_WriteNpz( table, path, &error ), lmb_statusUnsupported );
	CHECK_CONTAINS( error.message, "columns 2 and 3" );
	CHECK_INT( lmbTable_WriteNpz( table, "no/such/folder/x.npz", &error ), lmb_statusUnsupported );
	table->names[2] = "c";
	CHECK_INT( lmbTable_WriteNpz( table, "no/such/folder/x.npz", &error ), lmb_statusIo );
	CHECK_INT( lmbTable_WriteCsv( table, "no/such/folder/x.csv", &error ), lmb_statusIo );
	lmbTable_Free( table );
	setlocale( LC_ALL, "C" );
	unlink( path );
}

static void Test_OpenSim( void **state )
{
	(void)state;
	const double *values = V( 0, 1.5, 0.1, 2.5 );
	/* Counts that lie, spaces or commas for tabs, an empty line, spaces at the ends. */
	Expect(
	    "Coordinates\nversion=1\nnRows=2\nnColumns=2\ninDegrees=no\nendheader\ntime\tq\n0\t1.5\n0.1\t2.5\n",
	    "time|q", 2, 2, values );
	Expect( "x\r\nnRows=9\r\nEndHeader \r\n\r\n  time   q  \r\n  0  1.5 \r\n 0.1  2.5\r\n", "time|q", 2, 2,
	        values );
	Expect( "x\nendheader\ntime,q\n0,1.5\n0.1,2.5\n", "time|q", 2, 2, values );
	Expect( "x\nendheader\ntime\tq\t\n0\t1.5\t\n0.1\t2.5\t\n", "time|q", 2, 2, values );
	lmbTable *table =
	    ReadText( "walk\nnRows=5\nnColumns=7\ninDegrees=yes\nendheader\ntime\tq\n0\t1.5\n0.1\t2.5\n0.2\n" );
	CHECK_OR_STOP( table != NULL );
	CHECK_INT( table->angles, lmb_tableAnglesDegrees );
	CHECK_INT( table->noteCount, 3 );
	CHECK_CONTAINS( table->notes[0], "line 9, the last, has 1 of 2 cells" );
	CHECK_CONTAINS( table->notes[1], "nRows=5, but there are 2 rows" );
	CHECK_CONTAINS( table->notes[2], "nColumns=7, but there are 2 columns" );
	lmbTable_Free( table );
	table = ReadText(
	    "name old.mot\ndatacolumns 2\ndatarows 99999999999999999999\nrange 0 1\nendheader\ntime\tq\n0\t1\n" );
	CHECK_OR_STOP( table != NULL );
	CHECK_INT( table->angles, lmb_tableAnglesUnknown );
	CHECK_INT( table->noteCount, 1 );
	lmbTable_Free( table );
	Refuse( "x\nDataType=Vec3\nendheader\ntime\tm\n0\t1,2,3\n", lmb_statusUnsupported, "flatten()" );
	Refuse( "x\nnRows=1000000000000\nendheader\n", lmb_statusCorrupt, "no line of numbers" );
}

/* Every prefix of a good file is read or refused, and nothing else happens (the sanitizers look on). */
static void Test_Truncated( void **state )
{
	(void)state;
	const char *whole = "name\r\nnRows=2\r\ninDegrees=yes\r\nendheader\r\ntime,\"q \"\"1\"\"\",# "
	                    "v\r\n0,1.5,2e-3\r\n,nan,\"3\"\r\n";
	for ( size_t length = 0; length <= strlen( whole ); ++length )
	{
		lmbTable *table = Read( whole, length, NULL );
		CHECK( table != NULL || error.message[0] != 0 );
		lmbTable_Free( table );
	}
	lmbRandom random = lmbRandom_Seed( checkSeed = 3, 3 );
	const char alphabet[] = "0123456789.,;\t \"\"\n\n\r#%e+-naif/=x\xff\xc3";
	for ( int i = 0; i < 5000; ++i )
	{
		char text[64];
		size_t length = lmbRandom_Below( &random, sizeof( text ) );
		for ( size_t k = 0; k < length; ++k )
			text[k] = alphabet[lmbRandom_Below( &random, sizeof( alphabet ) - 1 )];
		lmbTable *table = Read( text, length, NULL );
		if ( table != NULL )
			CHECK( table->rowCount >= 1 && table->columnCount >= 1 );
		lmbTable_Free( table );
	}
}

static void Test_Wide( void **state )
{
	(void)state;
	size_t columns = 1000000;
	char *text = malloc( 4 * columns + 64 );
	CHECK_OR_STOP( text != NULL );
	for ( size_t i = 0; i < 2 * columns; ++i )
		memcpy( text + 2 * i, ( i + 1 ) % columns == 0 ? "1\n" : "1,", 2 );
	CHECK( Read( text, 4 * columns, NULL ) == NULL );
	CHECK_CONTAINS( error.message, "1000000 columns, more than 65536; is it transposed" );
	/* One wide line and a million narrow ones must not ask for their product. */
	memset( text, '\n', 4 * columns );
	for ( size_t i = 0; i < 60000; ++i )
		memcpy( text + 2 * i, i + 1 < 60000 ? "1," : "1\n", 2 );
	for ( size_t i = 60000; i < 2 * columns; ++i )
		memcpy( text + 2 * i, "1\n", 2 );
	lmbTableDef def = { .separator = ',' };
	lmbTable *table = Read( text, 4 * columns, &def );
	CHECK( table == NULL );
	lmbTable_Free( table );
	free( text );
}

static void Test_RealFiles( void **state )
{
	(void)state;
	const struct
	{
		const char *file;
		int rows, columns;
		lmbTableAngles angles;
		const char *name;
		double first; /* of the last column */
	} files[] = {
	    { "arm26_InverseDynamics.sto", 121, 3, lmb_tableAnglesRadians, "r_elbow_flex_moment", -0.00419195 },
	    { "arm26_InverseKinematics.mot", 121, 3, lmb_tableAnglesDegrees, "r_elbow_flex", -0.05440752 },
	    { "arm26_Kinematics_q.sto", 961, 3, lmb_tableAnglesDegrees, "r_elbow_flex", 0.25601298 },
	    { "arm26_Kinematics_u.sto", 961, 3, lmb_tableAnglesDegrees, "r_elbow_flex", 13.05893793 },
	    { "arm26_Kinematics_dudt.sto", 961, 3, lmb_tableAnglesDegrees, "r_elbow_flex", 248.88034190 },
	    { "double_pendulum/swing_00.csv", 2667, 5, lmb_tableAnglesUnknown, "dphi2", -1.410456 },
	    { "two_link_characters/a.csv", 148, 9, lmb_tableAnglesUnknown, "tau2", 0.088448749 },
	};
	for ( size_t i = 0; i < sizeof( files ) / sizeof( files[0] ); ++i )
	{
		char file[512];
		snprintf( file, sizeof( file ), "%s/limb/%s", LMB_TEST_SHARED, files[i].file );
		CHECK_SHARED( file );
		lmbTable *table = NULL;
		CHECK_INT( lmbTable_Read( file, NULL, &table, &error ), lmb_statusOk );
		CHECK_OR_STOP( table != NULL );
		CHECK_INT( table->rowCount, files[i].rows );
		CHECK_INT( table->columnCount, files[i].columns );
		CHECK_INT( table->angles, files[i].angles );
		CHECK_INT( table->noteCount, 0 );
		CHECK( strcmp( table->names[files[i].columns - 1], files[i].name ) == 0 );
		CHECK_NEAR( table->columns[files[i].columns - 1][0], files[i].first, 0.0 );
		lmbTable_Free( table );
	}
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( Test_Dialects ),
	    CHECK_TEST( Test_MissingAndWords ),
	    CHECK_TEST( Test_NamesAndFacts ),
	    CHECK_TEST( Test_Refusals ),
	    CHECK_TEST( Test_Told ),
	    CHECK_TEST( Test_Numbers ),
	    CHECK_TEST( Test_WriteAndReadBack ),
	    CHECK_TEST( Test_OpenSim ),
	    CHECK_TEST( Test_Truncated ),
	    CHECK_TEST( Test_Wide ),
	    CHECK_TEST( Test_RealFiles ),
	};
	return CHECK_RUN( tests );
}
