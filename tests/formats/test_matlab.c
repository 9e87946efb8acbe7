/* Tables as MATLAB's level 5, read by matio; tests/cli/test_matlab.sh has SciPy read what `write FILE` makes.
 */
#include "check.h"
#include "formats/table.h"

#include <math.h>
#include <matio.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const names[] = { "time", "/jointset/elbow/value", "Wölbung Ω" };
static char path[512];
static lmbError error;

/* Numbers that show any loss; the script knows them. */
static lmbTable *Make( void )
{
	lmbTable *table;
	if ( lmbTable_New( 40, 3, &table, &error ) != lmb_statusOk )
		return NULL;
	for ( int c = 0; c < 3; ++c )
		table->names[c] = names[c];
	for ( int r = 0; r < 40; ++r )
	{
		table->columns[0][r] = r / 120.0;
		table->columns[1][r] = ( r % 2 != 0 ? -1.0 : 1.0 ) / ( 3.0 + r ) * pow( 2.0, r );
		table->columns[2][r] = r == 7 ? (double)NAN : 5e-324 * r;
	}
	return table;
}

static void MatioReads( void **state )
{
	(void)state;
	lmbTable *table = Make();
	CHECK_OR_STOP( table != NULL );
	CHECK_INT( lmbTable_Write( table, path, "", lmb_tableAnglesUnknown, &error ), lmb_statusOk );
	mat_t *file = Mat_Open( path, MAT_ACC_RDONLY );
	CHECK_OR_STOP( file != NULL );
	CHECK_INT( Mat_GetVersion( file ), MAT_FT_MAT5 );
	matvar_t *data = Mat_VarRead( file, "data" ), *cell = Mat_VarRead( file, "names" );
	CHECK_OR_STOP( data != NULL && cell != NULL );
	CHECK( data->class_type == MAT_C_DOUBLE && data->rank == 2 && data->dims[0] == 40 && data->dims[1] == 3 );
	for ( int c = 0; c < 3; ++c )
		CHECK( memcmp( (double *)data->data + 40 * (size_t)c, table->columns[c], 40 * sizeof( double ) ) ==
		       0 );
	CHECK( cell->class_type == MAT_C_CELL && cell->dims[0] == 1 && cell->dims[1] == 3 );
	matvar_t *name = Mat_VarGetCell( cell, 2 );
	CHECK_OR_STOP( name != NULL && name->class_type == MAT_C_CHAR );
	static const uint16_t units[] = { 'W', 0xF6, 'l', 'b', 'u', 'n', 'g', ' ', 0x3A9 };
	CHECK_INT( name->dims[1], 9 );
	CHECK( name->nbytes == sizeof( units ) && memcmp( name->data, units, sizeof( units ) ) == 0 );
	Mat_VarFree( data );
	Mat_VarFree( cell );
	Mat_Close( file );
	lmbTable *back;
	CHECK_INT( lmbTable_Read( path, NULL, &back, &error ), lmb_statusUnsupported );
	CHECK_CONTAINS( error.message, "MATLAB" );
	lmbTable_Free( table );
	unlink( path );
}

static void Refusals( void **state )
{
	(void)state;
	lmbTable *table = Make();
	CHECK_OR_STOP( table != NULL );
	table->names[1] = "\xC3(";
	CHECK_INT( lmbTable_WriteMatlab( table, path, &error ), lmb_statusUnsupported );
	CHECK_CONTAINS( error.message, "UTF-8" );
	CHECK( access( path, F_OK ) != 0 );
	table->names[1] = "b";
	CHECK_INT( lmbTable_WriteMatlab( table, "no/such/folder/x.mat", &error ), lmb_statusIo );
	int columns = table->columnCount;
	table->columnCount = 1 << 28; /* refused before a column is looked at */
	CHECK_INT( lmbTable_WriteMatlab( table, path, &error ), lmb_statusUnsupported );
	CHECK_CONTAINS( error.message, ".npz" );
	table->columnCount = columns;
	lmbTable_Free( table );
}

int main( int argc, char **argv )
{
	if ( argc == 3 && strcmp( argv[1], "write" ) == 0 )
	{
		lmbTable *table = Make();
		lmbStatus status =
		    table != NULL ? lmbTable_WriteMatlab( table, argv[2], &error ) : lmb_statusOutOfMemory;
		lmbTable_Free( table );
		return status != lmb_statusOk;
	}
	snprintf( path, sizeof( path ), "%s/table-%ld.MAT", LMB_TEST_BUILD, (long)getpid() );
	const struct CMUnitTest tests[] = { CHECK_TEST( MatioReads ), CHECK_TEST( Refusals ) };
	return CHECK_RUN( tests );
}
