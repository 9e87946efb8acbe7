/* Checks that print file, line, expected and actual, go on, and fail the test at its end.
 *
 * Write tests as cmocka functions `static void Name( void **state )`, list them with CHECK_TEST( Name ),
 * and run the list with CHECK_RUN( tests ) from main. */
#ifndef LMB_TESTS_CHECK_H
#define LMB_TESTS_CHECK_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int checkFailures;
static uint64_t checkSeed; /* set it in a test that draws random numbers; failures print it */

static inline int CheckSetup( void **state )
{
	(void)state;
	checkFailures = 0;
	checkSeed = 0;
	return 0;
}

static inline int CheckTeardown( void **state )
{
	(void)state;
	return checkFailures == 0 ? 0 : 1;
}

static inline void CheckReport( const char *file, int line, const char *what )
{
	checkFailures += 1;
	printf( "%s:%d: %s (seed %llu)\n", file, line, what, (unsigned long long)checkSeed );
}

static inline void CheckNear( const char *file, int line, const char *name, double actual, double expected,
                              double tolerance )
{
	if ( fabs( actual - expected ) <= tolerance )
		return;
	char text[512];
	snprintf( text, sizeof( text ), "%s: expected %.17g within %.3g, actual %.17g, off by %.3g", name,
	          expected, tolerance, actual, actual - expected );
	CheckReport( file, line, text );
}

static inline void CheckInt( const char *file, int line, const char *name, long long actual,
                             long long expected )
{
	if ( actual == expected )
		return;
	char text[512];
	snprintf( text, sizeof( text ), "%s: expected %lld, actual %lld", name, expected, actual );
	CheckReport( file, line, text );
}

static inline void CheckContains( const char *file, int line, const char *text, const char *part )
{
	if ( strstr( text, part ) != NULL )
		return;
	char message[2048];
	snprintf( message, sizeof( message ), "expected \"%.500s\" in \"%.1400s\"", part, text );
	CheckReport( file, line, message );
}

#define CHECK( condition )                                                                                   \
	do                                                                                                       \
	{                                                                                                        \
		if ( !( condition ) )                                                                                \
			CheckReport( __FILE__, __LINE__, "expected true: " #condition );                                 \
	} while ( 0 )
/* |actual - expected| <= tolerance; a NaN fails. Say beside it where the tolerance comes from. */
#define CHECK_NEAR( actual, expected, tolerance )                                                            \
	CheckNear( __FILE__, __LINE__, #actual, ( actual ), ( expected ), ( tolerance ) )
#define CHECK_INT( actual, expected )                                                                        \
	CheckInt( __FILE__, __LINE__, #actual, (long long)( actual ), (long long)( expected ) )
#define CHECK_CONTAINS( text, part ) CheckContains( __FILE__, __LINE__, ( text ), ( part ) )
/* Ends the test when the rest cannot make sense without this. */
#define CHECK_OR_STOP( condition ) assert_true( condition )

#define CHECK_TEST( name ) cmocka_unit_test_setup_teardown( name, CheckSetup, CheckTeardown )
#define CHECK_RUN( tests ) cmocka_run_group_tests( tests, NULL, NULL )

/* A file of the shared folder, or skips the test with a message when the folder is absent. */
#define CHECK_SHARED( path )                                                                                 \
	do                                                                                                       \
	{                                                                                                        \
		FILE *checkStream = fopen( path, "rb" );                                                             \
		if ( checkStream == NULL )                                                                           \
		{                                                                                                    \
			printf( "skipped: %s is not here\n", path );                                                     \
			skip();                                                                                          \
		}                                                                                                    \
		else                                                                                                 \
			fclose( checkStream );                                                                           \
	} while ( 0 )

#endif
