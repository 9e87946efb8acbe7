#include "base/files.h"
#include "check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void MakeFolder( char *folder )
{
	strcpy( folder, "/tmp/limber-test-XXXXXX" );
	CHECK_OR_STOP( mkdtemp( folder ) != NULL );
}

static void WholeOrAbsent( void **state )
{
	(void)state;
	char folder[64], path[128];
	MakeFolder( folder );
	snprintf( path, sizeof( path ), "%s/data", folder );
	lmbError error = { 0 };
	lmbFileWriter writer;
	CHECK_INT( lmbFileWriter_Open( &writer, path, &error ), lmb_statusOk );
	CHECK_INT( lmbFileWriter_Write( &writer, "half", 4, &error ), lmb_statusOk );
	CHECK( !lmbFile_Exists( path ) );
	lmbFileWriter_Abort( &writer );
	CHECK( !lmbFile_Exists( path ) );
	CHECK( !lmbFile_Exists( writer.temporary ) );

	CHECK_INT( lmbFile_Write( path, "whole", 5, &error ), lmb_statusOk );
	lmbArena arena = { 0 };
	char *data = NULL;
	size_t size = 0;
	CHECK_INT( lmbFile_Read( path, &arena, &data, &size, &error ), lmb_statusOk );
	CHECK_INT( size, 5 );
	CHECK( data != NULL && strcmp( data, "whole" ) == 0 );
	lmbArena_Free( &arena );
	unlink( path );
	rmdir( folder );
}

static void ErrorsNameTheFile( void **state )
{
	(void)state;
	lmbError error = { 0 };
	lmbArena arena = { 0 };
	char *data;
	size_t size;
	CHECK_INT( lmbFile_Read( "/nowhere/at/all", &arena, &data, &size, &error ), lmb_statusIo );
	CHECK_CONTAINS( error.message, "/nowhere/at/all" );
	CHECK_INT( lmbFile_Read( "/tmp", &arena, &data, &size, &error ), lmb_statusIo );
	CHECK_CONTAINS( error.message, "/tmp" );
	CHECK_INT( lmbFile_Write( "/nowhere/file", "x", 1, &error ), lmb_statusIo );
	CHECK_CONTAINS( error.message, "/nowhere/file" );
	lmbArena_Free( &arena );
}

/* Whoever may rename in /dev would otherwise lose the device. */
static void OnlyFilesAreReplaced( void **state )
{
	(void)state;
	char folder[64], pipe[128];
	lmbError error = { 0 };
	struct stat info;
	MakeFolder( folder );
	snprintf( pipe, sizeof( pipe ), "%s/pipe", folder );
	CHECK_OR_STOP( mkfifo( pipe, 0600 ) == 0 );
	CHECK_INT( lmbFile_Write( pipe, "x", 1, &error ), lmb_statusIo );
	CHECK_CONTAINS( error.message, "a device or a pipe" );
	CHECK( stat( pipe, &info ) == 0 && S_ISFIFO( info.st_mode ) );
	CHECK_INT( lmbFile_Write( folder, "x", 1, &error ), lmb_statusIo );
	CHECK_CONTAINS( error.message, "a folder" );
	unlink( pipe );
	CHECK( rmdir( folder ) == 0 );
}

static void ArenaRefusesOverflow( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	CHECK( lmbArena_New( &arena, SIZE_MAX / 2, 16 ) == NULL );
	double *numbers = LMB_NEW( &arena, double, 5 );
	CHECK( numbers != NULL && (uintptr_t)numbers % 64 == 0 && numbers[4] == 0.0 );
	lmbArena_Free( &arena );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( WholeOrAbsent ),
	    CHECK_TEST( ErrorsNameTheFile ),
	    CHECK_TEST( OnlyFilesAreReplaced ),
	    CHECK_TEST( ArenaRefusesOverflow ),
	};
	return CHECK_RUN( tests );
}
