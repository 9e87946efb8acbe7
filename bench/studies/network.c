/* How well the quasistatic network does, by setting, on data that `limber simulate` left:
 *   network CHARACTER TISSUE DATASET [--threads N] [--seed N] [VARIANT ...]
 * A variant is settings joined by commas, e.g. hidden=0,reach=1 (names of lmbTrainDef), or "default".
 * Prints, for each, a row of a table: seconds, errors in millimetres RMS over the soft skin (by area) on
 * poses kept apart and on the still frames of every motion, and skinning's own beside them. */
#include "flesh/network.h"
#include "flesh/train_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Bench
{
	lmbCharacter *character;
	lmbTissue *tissue;
	lmbDataset *dataset;
	lmbSurface surface;
	lmbRegionMap map;
	lmbArena arena;
} Bench;

static int Fail( const lmbError *error )
{
	fprintf( stderr, "network: %s\n", error->message );
	return 1;
}

/* "name=value" into a def; false when there is no such setting. */
static bool Set( lmbTrainDef *def, const char *name, double value )
{
	struct
	{
		const char *name;
		int *whole;
		double *real;
	} keys[] = {
	    { "coefficients", &def->coefficients, NULL },
	    { "variance", NULL, &def->varianceKept },
	    { "hidden", &def->hidden, NULL },
	    { "layers", &def->layers, NULL },
	    { "reach", &def->reach, NULL },
	    { "ridge", NULL, &def->ridge },
	    { "heldout", NULL, &def->heldOutPoses },
	    { "adam", &def->adamSteps, NULL },
	    { "lbfgs", &def->lbfgsSteps, NULL },
	    { "decay", NULL, &def->weightDecay },
	};
	for ( size_t i = 0; i < sizeof( keys ) / sizeof( keys[0] ); ++i )
	{
		if ( strcmp( name, keys[i].name ) != 0 )
			continue;
		if ( keys[i].whole != NULL )
			*keys[i].whole = (int)value;
		else
			*keys[i].real = value;
		return true;
	}
	if ( strcmp( name, "mirror" ) == 0 )
		def->mirror = value != 0.0;
	return strcmp( name, "mirror" ) == 0;
}

static bool Parse( const char *variant, lmbTrainDef *def )
{
	char copy[512];
	*def = lmbDefaultTrainDef();
	if ( strcmp( variant, "default" ) == 0 )
		return true;
	snprintf( copy, sizeof( copy ), "%s", variant );
	char *rest = copy;
	for ( char *part = strsep( &rest, "," ); part != NULL; part = strsep( &rest, "," ) )
	{
		char *equals = strchr( part, '=' );
		if ( equals == NULL )
			return false;
		*equals = 0;
		if ( !Set( def, part, atof( equals + 1 ) ) )
			return false;
	}
	return true;
}

/* RMS of the network's and of skinning's distance from the still frames of a motion, m. */
static void FrameErrors( Bench *bench, const lmbNetwork *network, const lmbSequence *sequence, double *own,
                         double *skinning )
{
	lmbArena arena = { 0 };
	size_t numbers = 3 * (size_t)bench->character->vertexCount;
	double *scratch = LMB_NEW( &arena, double, lmbTrain_ScratchSize( bench->character, bench->tissue ) );
	float *truth = LMB_NEW( &arena, float, numbers );
	double *guess = LMB_NEW( &arena, double, numbers );
	double *features = LMB_NEW( &arena, double, network->featureCount );
	double *z = LMB_NEW( &arena, double, network->coefficientCount );
	double sums[2] = { 0 }, count = 0.0;
	for ( int i = 0; i < sequence->frameCount; ++i )
	{
		if ( sequence->converged[i] == 0 )
			continue;
		const double *bones = sequence->bones + 12 * (size_t)i * (size_t)sequence->boneCount;
		lmbTrain_Displacement( bench->character, bench->tissue, bones,
		                       sequence->still + 3 * (size_t)i * (size_t)sequence->nodeCount, scratch,
		                       truth );
		lmbNetwork_Features( bench->character, bones, features );
		lmbNetwork_Coefficients( network, features, z );
		lmbNetwork_Displacement( network, z, guess );
		for ( size_t k = 0; k < numbers; ++k )
		{
			double share =
			    bench->map.soft[k / 3] != 0 ? bench->map.vertexAreas[k / 3] / bench->map.softArea : 0.0;
			sums[0] += share * ( guess[k] - (double)truth[k] ) * ( guess[k] - (double)truth[k] );
			sums[1] += share * (double)truth[k] * (double)truth[k];
		}
		count += 1.0;
	}
	*own = count > 0.0 ? sqrt( sums[0] / count ) : 0.0;
	*skinning = count > 0.0 ? sqrt( sums[1] / count ) : 0.0;
	lmbArena_Free( &arena );
}

static void Describe( const Bench *bench, const lmbNetwork *network )
{
	double work = 0.0, perceptrons = 0.0;
	for ( int r = 0; r < network->regionCount; ++r )
	{
		const lmbRegion *region = &network->regions[r];
		work += 3.0 * region->coefficientCount * region->vertexCount;
		perceptrons += region->layerCount > 0;
	}
	printf( "  %d regions (%g with a perceptron), %d coefficients, %.2f M multiply-adds a frame in the basis",
	        network->regionCount, perceptrons, network->coefficientCount, 1e-6 * work );
	printf( "\n" );
	for ( int r = 0; getenv( "DETAIL" ) != NULL && r < network->regionCount; ++r )
	{
		const lmbRegion *region = &network->regions[r];
		printf( "    %-20s %3d features %2d coefficients %5d vertices %d layers\n",
		        bench->character->bones[region->bone].name, region->featureCount, region->coefficientCount,
		        region->vertexCount, region->layerCount );
	}
}

static void Note( void *context, const char *line )
{
	(void)context;
	fprintf( stderr, "%s\n", line );
}

static void Progress( void *context, const char *unit, double done, double total, const char *detail )
{
	(void)context;
	if ( getenv( "DETAIL" ) != NULL )
		fprintf( stderr, "%s %g of %g: %s\n", unit, done, total, detail );
}

static int RunVariant( Bench *bench, const char *variant, const lmbJob *job )
{
	lmbTrainDef def;
	lmbError error = { 0 };
	lmbNetwork *network;
	lmbTrainReport report;
	if ( !Parse( variant, &def ) )
	{
		fprintf( stderr, "network: \"%s\": not a list of settings\n", variant );
		return 1;
	}
	double start = lmbClock_Seconds();
	if ( lmbNetwork_Train( bench->character, bench->tissue, bench->dataset, &def, job, &network, &report,
	                       &error ) != lmb_statusOk )
		return Fail( &error );
	printf( "| %s | %.0f | %.2f / %.2f | %.2f | %.2f |", variant, lmbClock_Seconds() - start,
	        1e3 * report.unseenRms, 1e3 * report.unseenSkinningRms, 1e3 * report.truncationRms,
	        1e3 * report.trainedRms );
	for ( int s = 0; s < bench->dataset->sequenceCount; ++s )
	{
		double own, skinning;
		FrameErrors( bench, network, &bench->dataset->sequences[s], &own, &skinning );
		printf( " %.2f / %.2f |", 1e3 * own, 1e3 * skinning );
	}
	printf( "\n" );
	Describe( bench, network );
	lmbNetwork_Free( network );
	return 0;
}

static lmbStatus Open( Bench *bench, char **paths, lmbError *error )
{
	lmbImportDef import = { 0 };
	LMB_TRY( lmbCharacter_Load( paths[0], &import, &bench->character, error ) );
	LMB_TRY( lmbTissue_Load( paths[1], &bench->tissue, error ) );
	LMB_TRY( lmbDataset_Load( paths[2], &bench->dataset, error ) );
	LMB_TRY( lmbSurface_Make( bench->character, &bench->surface, error ) );
	lmbRegionDef def = lmbDefaultRegionDef( &bench->surface );
	return lmbRegions_Make( bench->character, bench->tissue, &bench->surface, &def, &bench->arena,
	                        &bench->map, error );
}

int main( int count, char **arguments )
{
	static Bench bench;
	lmbError error = { 0 };
	lmbJob job = { .threads = 2, .note = Note, .progress = Progress };
	setvbuf( stdout, NULL, _IOLBF, 0 );
	if ( count < 4 )
	{
		fprintf( stderr, "usage: network CHARACTER TISSUE DATASET [--threads N] [--seed N] [VARIANT ...]\n" );
		return 2;
	}
	if ( Open( &bench, arguments + 1, &error ) != lmb_statusOk )
		return Fail( &error );
	printf( "| variant | s | unseen poses / skinning | truncation | trained |" );
	for ( int s = 0; s < bench.dataset->sequenceCount; ++s )
		printf( " %s%s |", bench.dataset->sequences[s].name,
		        bench.dataset->sequences[s].trained ? "" : " (unseen)" );
	printf( "\n" );
	int failed = 0;
	for ( int i = 4; i < count; ++i )
		if ( strcmp( arguments[i], "--threads" ) == 0 && i + 1 < count )
			job.threads = atoi( arguments[++i] );
		else if ( strcmp( arguments[i], "--seed" ) == 0 && i + 1 < count )
			job.seed = (uint64_t)atoll( arguments[++i] );
		else
			failed |= RunVariant( &bench, arguments[i], &job );
	return failed;
}
