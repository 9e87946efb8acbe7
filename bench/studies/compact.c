/* What making a model compact costs in size and accuracy:
 *   compact CHARACTER MODEL OUT [TOLERANCE_MM ...]
 * Writes OUT anew for each tolerance (default 0.02) and prints its bytes and how far it moved the soft skin
 * over all clips of the character. */
#include "base/files.h"
#include "flesh/compact.h"

#include <stdio.h>
#include <stdlib.h>

static int Fail( const lmbError *error )
{
	fprintf( stderr, "compact: %s\n", error->message );
	return 1;
}

static lmbStatus CompactOnce( const char *from, const char *to, lmbMotion **motions, int count,
                              double millimetres, lmbError *error )
{
	lmbArena arena = { 0 };
	char *data;
	size_t before, after;
	lmbCompactReport report;
	lmbStatus status = lmbFile_Read( from, &arena, &data, &before, error );
	if ( status == lmb_statusOk )
		status = lmbFile_Write( to, data, before, error );
	if ( status == lmb_statusOk )
		status = lmbModel_Compact( to, (const lmbMotion *const *)motions, count, 1e-3 * millimetres, &report,
		                           error );
	if ( status == lmb_statusOk )
		status = lmbFile_Read( to, &arena, &data, &after, error );
	if ( status == lmb_statusOk )
		printf( "| %.3f | %.2f | %.2f | %.4f | %.3f |\n", millimetres, 1e-6 * (double)before,
		        1e-6 * (double)after, 1e3 * report.rms, 1e3 * report.max );
	lmbArena_Free( &arena );
	return status;
}

int main( int argc, char **argv )
{
	lmbError error = { 0 };
	lmbCharacter *character;
	if ( argc < 4 )
	{
		fprintf( stderr, "usage: compact CHARACTER MODEL OUT [TOLERANCE_MM ...]\n" );
		return 1;
	}
	if ( lmbCharacter_Load( argv[1], NULL, &character, &error ) != lmb_statusOk )
		return Fail( &error );
	lmbMotion **motions = calloc( (size_t)character->clipCount, sizeof( *motions ) );
	lmbMotionDef def = lmbDefaultMotionDef();
	for ( int i = 0; i < character->clipCount; ++i )
		if ( lmbMotion_Make( character, i, &def, &motions[i], &error ) != lmb_statusOk )
			return Fail( &error );
	printf(
	    "| tolerance, mm | MB before | MB after | off by, mm RMS | mm at most |\n|---|---|---|---|---|\n" );
	for ( int i = 4; i < ( argc > 4 ? argc : 5 ); ++i )
		if ( CompactOnce( argv[2], argv[3], motions, character->clipCount, argc > 4 ? atof( argv[i] ) : 0.02,
		                  &error ) != lmb_statusOk )
			return Fail( &error );
	for ( int i = 0; i < character->clipCount; ++i )
		lmbMotion_Free( motions[i] );
	free( motions );
	lmbCharacter_Free( character );
	return 0;
}
