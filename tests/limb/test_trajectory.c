#include "limb/trajectory.h"

#include "base/files.h"
#include "base/random.h"
#include "formats/safetensors.h"

#include "check.h"

#include <stdlib.h>
#include <unistd.h>

static const char path[] = LMB_TEST_BUILD "/test_trajectory.safetensors";

/* Three trajectories that lack different things. */
static lmbTrajectories *MakeSet( int inputs )
{
	lmbTrajectories *set = NULL;
	lmbError error = { 0 };
	lmbRandom random = lmbRandom_Seed( 11, 0 );
	assert_int_equal( lmbTrajectories_New( 2, inputs, 3, &set, &error ), lmb_statusOk );
	set->dofNames[1] = lmbArena_String( &set->arena, "\xc3\xa9paule" );
	set->slides[0] = true;
	set->turns[1] = true;
	set->hold = lmb_inputLinear;
	static const char *const names[] = { "reach 1", "pulse", "x" };
	for ( int i = 0; i < 3; ++i )
	{
		assert_int_equal(
		    lmbTrajectories_Allocate( set, i, names[i], 4 + i, 0.01 * ( i + 1 ), i != 1, i == 2, &error ),
		    lmb_statusOk );
		lmbTrajectory *item = &set->items[i];
		for ( int k = 0; k < 2 * item->sampleCount; ++k )
		{
			item->positions[k] = lmbRandom_Normal( &random );
			if ( item->velocities != NULL )
				item->velocities[k] = lmbRandom_Normal( &random );
			if ( item->accelerations != NULL )
				item->accelerations[k] = lmbRandom_Normal( &random );
		}
		for ( int k = 0; k < inputs * item->sampleCount; ++k )
			item->inputs[k] = lmbRandom_Normal( &random );
	}
	return set;
}

static void CheckSame( const double *a, const double *b, int count )
{
	CHECK( ( a == NULL ) == ( b == NULL ) );
	CHECK( a == NULL || b == NULL || memcmp( a, b, (size_t)count * sizeof( double ) ) == 0 );
}

static void ReadsWhatItWrote( void **state )
{
	(void)state;
	for ( int inputs = 0; inputs < 4; inputs += 3 )
	{
		lmbError error = { 0 };
		lmbTrajectories *set = MakeSet( inputs ), *read = NULL;
		CHECK_INT( lmbTrajectories_Save( set, path, &error ), lmb_statusOk );
		CHECK_INT( lmbTrajectories_Load( path, &read, &error ), lmb_statusOk );
		CHECK_OR_STOP( read != NULL );
		CHECK_INT( read->dofCount, 2 );
		CHECK_INT( read->inputCount, inputs );
		CHECK_INT( read->count, 3 );
		CHECK_INT( read->hold, lmb_inputLinear );
		for ( int i = 0; i < 2; ++i )
		{
			CHECK_CONTAINS( read->dofNames[i], set->dofNames[i] );
			CHECK_INT( read->slides[i], set->slides[i] );
			CHECK_INT( read->turns[i], set->turns[i] );
		}
		for ( int i = 0; i < inputs; ++i )
			CHECK_CONTAINS( read->inputNames[i], set->inputNames[i] );
		for ( int i = 0; i < 3; ++i )
		{
			const lmbTrajectory *a = &set->items[i], *b = &read->items[i];
			CHECK_CONTAINS( b->name, a->name );
			CHECK_INT( b->sampleCount, a->sampleCount );
			CHECK_NEAR( b->step, a->step, 0.0 );
			CheckSame( a->positions, b->positions, 2 * a->sampleCount );
			CheckSame( a->velocities, b->velocities, 2 * a->sampleCount );
			CheckSame( a->accelerations, b->accelerations, 2 * a->sampleCount );
			CheckSame( a->inputs, b->inputs, inputs * a->sampleCount );
		}
		lmbTrajectories_Free( set );
		lmbTrajectories_Free( read );
	}
	unlink( path );
}

static void RefusesToWriteWhatIsNotWhole( void **state )
{
	(void)state;
	lmbError error = { 0 };
	lmbTrajectories *set = MakeSet( 1 ), *none = NULL;
	unlink( path );
	set->items[2].name = "pulse";
	CHECK_INT( lmbTrajectories_Save( set, path, &error ), lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "\"pulse\"" );
	set->items[2].name = "y";
	set->items[1].inputs[3] = NAN;
	CHECK_INT( lmbTrajectories_Save( set, path, &error ), lmb_statusNumerical );
	CHECK_CONTAINS( error.message, "inputs of sample 3" );
	CHECK( !lmbFile_Exists( path ) );
	lmbTrajectories_Free( set );
	CHECK_INT( lmbTrajectories_New( 17, 0, 1, &none, &error ), lmb_statusInvalidArgument );
	CHECK( none == NULL );
	lmbTrajectories_Free( NULL );
}

/* What a file may say, and what of it is a lie. */
typedef struct Lie
{
	const char *hold, *names, *says;
	size_t nameBytes;
	int32_t samples[2], turns[2];
	double step, position;
	int64_t rows;
	lmbStatus status;
} Lie;

static void RefusesLies( void **state )
{
	(void)state;
	static const Lie lies[] = {
	    { "held", "a\0b", NULL, 4, { 1, 2 }, { 0, 1 }, 0.1, 0.5, 3, lmb_statusOk },
	    { "kept", "a\0b", "hold", 4, { 1, 2 }, { 0, 1 }, 0.1, 0.5, 3, lmb_statusCorrupt },
	    { "held", "a\0a", "called \"a\"", 4, { 1, 2 }, { 0, 1 }, 0.1, 0.5, 3, lmb_statusInvalidArgument },
	    { "held", "ab\0", "names", 4, { 1, 2 }, { 0, 1 }, 0.1, 0.5, 3, lmb_statusCorrupt },
	    { "held", "a\0bc", "names", 4, { 1, 2 }, { 0, 1 }, 0.1, 0.5, 3, lmb_statusCorrupt },
	    { "held", "a\0\xff", "UTF-8", 4, { 1, 2 }, { 0, 1 }, 0.1, 0.5, 3, lmb_statusCorrupt },
	    { "held", "a\0b", "samples", 4, { 1, 0 }, { 0, 1 }, 0.1, 0.5, 1, lmb_statusCorrupt },
	    { "held", "a\0b", "samples", 4, { 4, -1 }, { 0, 1 }, 0.1, 0.5, 3, lmb_statusCorrupt },
	    { "held",
	      "a\0b",
	      "positions",
	      4,
	      { 2147483647, 2147483647 },
	      { 0, 1 },
	      0.1,
	      0.5,
	      3,
	      lmb_statusCorrupt },
	    { "held", "a\0b", "positions", 4, { 1, 3 }, { 0, 1 }, 0.1, 0.5, 3, lmb_statusCorrupt },
	    { "held", "a\0b", "turns", 4, { 1, 2 }, { 0, 7 }, 0.1, 0.5, 3, lmb_statusCorrupt },
	    { "held", "a\0b", "steps", 4, { 1, 2 }, { 0, 1 }, -0.1, 0.5, 3, lmb_statusCorrupt },
	    { "held", "a\0b", "positions", 4, { 1, 2 }, { 0, 1 }, 0.1, INFINITY, 3, lmb_statusNumerical },
	};
	for ( size_t i = 0; i < sizeof( lies ) / sizeof( lies[0] ); ++i )
	{
		const Lie *lie = &lies[i];
		lmbError error = { 0 };
		lmbTrajectories *set = NULL;
		lmbTensorWriter *writer = calloc( 1, sizeof( *writer ) );
		CHECK_OR_STOP( writer != NULL );
		double steps[2] = { 0.1, lie->step }, positions[6] = { 1, 2, 3, 4, 5, lie->position };
		int32_t zeros[2] = { 0, 0 };
		lmbTensorWriter_Metadata( writer, "format", "limber.trajectories" );
		lmbTensorWriter_Metadata( writer, "version", "1" );
		lmbTensorWriter_Metadata( writer, "hold", lie->hold );
		lmbTensorWriter_Add( writer, "dofs.names", lmb_dataU8, 1, ( int64_t[] ){ 4 }, "p\0q" );
		lmbTensorWriter_Add( writer, "inputs.names", lmb_dataU8, 1, ( int64_t[] ){ 0 }, "" );
		lmbTensorWriter_Add( writer, "dofs.slides", lmb_dataI32, 1, ( int64_t[] ){ 2 }, zeros );
		lmbTensorWriter_Add( writer, "dofs.turns", lmb_dataI32, 1, ( int64_t[] ){ 2 }, lie->turns );
		lmbTensorWriter_Add( writer, "trajectories.names", lmb_dataU8, 1,
		                     ( int64_t[] ){ (int64_t)lie->nameBytes }, lie->names );
		lmbTensorWriter_Add( writer, "trajectories.samples", lmb_dataI32, 1, ( int64_t[] ){ 2 },
		                     lie->samples );
		lmbTensorWriter_Add( writer, "trajectories.steps", lmb_dataF64, 1, ( int64_t[] ){ 2 }, steps );
		lmbTensorWriter_Add( writer, "trajectories.velocities", lmb_dataI32, 1, ( int64_t[] ){ 2 }, zeros );
		lmbTensorWriter_Add( writer, "trajectories.accelerations", lmb_dataI32, 1, ( int64_t[] ){ 2 },
		                     zeros );
		lmbTensorWriter_Add( writer, "positions", lmb_dataF64, 2, ( int64_t[] ){ lie->rows, 2 }, positions );
		CHECK_INT( lmbTensorWriter_Write( writer, path, &error ), lmb_statusOk );
		CHECK_INT( lmbTrajectories_Load( path, &set, &error ), lie->status );
		if ( lie->says != NULL )
		{
			CHECK( set == NULL );
			CHECK_CONTAINS( error.message, lie->says );
			CHECK_CONTAINS( error.message, path );
		}
		lmbTrajectories_Free( set );
		free( writer );
	}
	unlink( path );
}

/* A file cut anywhere, or with any byte changed, is refused or read; never worse (under the sanitizers). */
static void SurvivesDamage( void **state )
{
	(void)state;
	lmbError error = { 0 };
	lmbArena arena = { 0 };
	lmbTrajectories *set = MakeSet( 2 ), *read = NULL;
	char *data = NULL;
	size_t size = 0;
	CHECK_INT( lmbTrajectories_Save( set, path, &error ), lmb_statusOk );
	lmbTrajectories_Free( set );
	CHECK_OR_STOP( lmbFile_Read( path, &arena, &data, &size, &error ) == lmb_statusOk );
	for ( size_t cut = 0; cut < size; cut += 7 )
	{
		CHECK_INT( lmbFile_Write( path, data, cut, &error ), lmb_statusOk );
		CHECK( lmbTrajectories_Load( path, &read, &error ) != lmb_statusOk );
	}
	lmbRandom random = lmbRandom_Seed( 5, 0 );
	for ( int i = 0; i < 400; ++i )
	{
		size_t at = lmbRandom_Below( &random, (uint32_t)size );
		char old = data[at];
		data[at] = (char)lmbRandom_Bits( &random );
		CHECK_INT( lmbFile_Write( path, data, size, &error ), lmb_statusOk );
		if ( lmbTrajectories_Load( path, &read, &error ) == lmb_statusOk )
			lmbTrajectories_Free( read );
		data[at] = old;
	}
	lmbArena_Free( &arena );
	unlink( path );
}

int main( void )
{
	const struct CMUnitTest tests[] = { CHECK_TEST( ReadsWhatItWrote ),
	                                    CHECK_TEST( RefusesToWriteWhatIsNotWhole ), CHECK_TEST( RefusesLies ),
	                                    CHECK_TEST( SurvivesDamage ) };
	return CHECK_RUN( tests );
}
