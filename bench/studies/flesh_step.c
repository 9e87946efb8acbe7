/* What a step of a body costs, and what bounds it:
 *   flesh_step [--kernels NAME] [MODEL ...]
 * For each model: microseconds of each part of a step, hot (the step before was the same body's) and cold
 * (after other work has streamed 64 MB), the bytes that it moves and its share of the bandwidth, and a whole
 * step of 1, 16 and 64 characters, one by one and together. Then the springs of
 * vertices alone from 1e3 to 1e7, with the share of this machine's bandwidth over as much memory. Times are
 * of the thread, typical. Every set of kernels that the processor has is run where none is named. */
#include "base/error.h"
#include "flesh/model.h"
#include "runtime/flesh_body.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum
{
	hotSteps = 400,
	coldSteps = 40,
	streamBytes = 64 << 20
};

static double Microseconds( void )
{
	struct timespec time;
	clock_gettime( CLOCK_THREAD_CPUTIME_ID, &time );
	return 1e6 * (double)time.tv_sec + 1e-3 * (double)time.tv_nsec;
}

static int CompareDoubles( const void *a, const void *b )
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/* The fastest tenth's slowest: what the machine does when others leave it alone. */
static double Typical( double *numbers, int count )
{
	qsort( numbers, (size_t)count, sizeof( *numbers ), CompareDoubles );
	return numbers[count / 10];
}

/* Every bone turned a little about its own axis through the middle of the skin, the body walking. */
static void MakePose( const lmbFlesh *model, int frame, float *bones, lmbFleshPose *pose )
{
	double time = frame / 60.0;
	lmbFleshInfo info = lmbFlesh_Info( model );
	for ( int j = 0; j < info.boneCount; ++j )
	{
		double angle = 0.2 * sin( 5.0 * time + j ), c = cos( angle ), s = sin( angle );
		const double matrix[12] = { c, -s, 0, s, s, c, 0, 1 - c, 0, 0, 1, 0 };
		for ( int i = 0; i < 12; ++i )
			bones[12 * j + i] = (float)matrix[i];
	}
	*pose =
	    ( lmbFleshPose ){ .bones = bones,
	                      .position = { 1.4 * time, 0.03 * sin( 9.0 * time ), 0.0 },
	                      .rotation = { 0.0f, (float)sin( 0.3 * time ), 0.0f, (float)cos( 0.3 * time ) } };
}

/* Other work: reads and writes memory until what the body used is gone from the nearer caches. */
static void Stream( unsigned char *memory )
{
	for ( size_t i = 0; i < streamBytes; i += 64 )
		memory[i] = (unsigned char)( memory[i] + 1 );
}

enum
{
	partPose,
	partNetwork,
	partModes,
	partVertices,
	partNormals,
	partAll,
	partCount
};
static const char *const partNames[partCount] = { "bones", "network", "modes", "vertices", "normals", "all" };

/* Each part by itself, in the order of a step, and all together; microseconds. */
static void StepInParts( lmbFleshBody *body, const lmbFleshPose *pose, double parts[partCount] )
{
	lmbFleshFrame frame;
	const lmbFleshMaps *maps;
	double at[partCount];
	double begin = Microseconds();
	lmbFleshBody_Begin( body, pose, 1.0 / 60.0, &frame, &maps );
	lmbFleshBody_PlaceBones( body, pose, &frame );
	at[partPose] = Microseconds();
	if ( body->def.network )
	{
		lmbFleshBody_BeginNetwork( body );
		for ( int r = 0; r < body->model->regionCount; ++r )
			lmbFleshBody_RunRegion( body, r );
	}
	at[partNetwork] = Microseconds();
	if ( body->hasModes )
		lmbFleshBody_StepModes( body, &frame, maps );
	at[partModes] = Microseconds();
	for ( int b = 0; b < body->model->blockCount; ++b )
		lmbFleshBody_StepBlock( body, b, &frame, maps );
	at[partVertices] = Microseconds();
	if ( body->def.normals )
		lmbFleshBody_FillNormals( body );
	at[partNormals] = Microseconds();
	lmbFleshBody_End( body, &frame );
	for ( int p = 0; p < partAll; ++p )
		parts[p] = at[p] - ( p == 0 ? begin : at[p - 1] );
	parts[partAll] = at[partNormals] - begin;
}

/* Over steps of one body; memory NULL: hot. */
static void TimeParts( const lmbFlesh *model, lmbFleshBody *body, unsigned char *memory, int steps,
                       double typical[partCount] )
{
	double *times[partCount], parts[partCount];
	float *bones = calloc( (size_t)lmbFlesh_Info( model ).boneCount * 12, sizeof( float ) );
	for ( int p = 0; p < partCount; ++p )
		times[p] = calloc( (size_t)steps, sizeof( double ) );
	for ( int n = -10; n < steps; ++n )
	{
		lmbFleshPose pose;
		MakePose( model, n + 10, bones, &pose );
		if ( memory != NULL )
			Stream( memory );
		StepInParts( body, &pose, parts );
		for ( int p = 0; p < partCount && n >= 0; ++p )
			times[p][n] = parts[p];
	}
	for ( int p = 0; p < partCount; ++p )
	{
		typical[p] = Typical( times[p], steps );
		free( times[p] );
	}
	free( bones );
}

/* Microseconds of a step of one of so many characters, one after the other or together. */
static double TimeCrowd( const lmbModel *model, const lmbFleshDef *def, int characters, bool together )
{
	lmbArena arena = { 0 };
	lmbFleshBody *bodies[64];
	lmbFleshPose poses[64];
	lmbFleshShape shapes[64];
	double times[30];
	float *bones = LMB_NEW( &arena, float, 12 * lmbFlesh_Info( model->flesh ).boneCount );
	for ( int i = 0; i < characters; ++i )
		if ( lmbModel_Body( model, def, &arena, &bodies[i], NULL ) != lmb_statusOk )
			return 0.0;
	for ( int n = -5; n < 30; ++n )
	{
		for ( int i = 0; i < characters; ++i )
			MakePose( model->flesh, n + 5, bones, &poses[i] );
		double begin = Microseconds();
		if ( together )
			lmbFleshBody_StepMany( bodies, poses, characters, 1.0 / 60.0, NULL, shapes );
		for ( int i = 0; i < characters && !together; ++i )
			lmbFleshBody_Step( bodies[i], &poses[i], 1.0 / 60.0, &shapes[i] );
		if ( n >= 0 )
			times[n] = ( Microseconds() - begin ) / characters;
	}
	lmbArena_Free( &arena );
	return Typical( times, 30 );
}

static double DenseBytes( const lmbDense *dense )
{
	return (double)dense->inputs * dense->outputs * ( dense->weights != NULL ? 4.0 : 2.0 );
}

static double ColumnBytes( const lmbFileColumns *columns, int blocks )
{
	return columns->blocks == NULL ? 0.0 : columns->blocks[blocks] * ( 3.0 * lmbLanes + 8.0 );
}

/* Bytes that each part must move: arrays of the model and of the body, each once however often it is in
 * reach. */
static void CountBytes( const lmbFleshBody *body, double bytes[partCount] )
{
	const lmbFlesh *model = body->model;
	double soft = model->softBlockCount, vertices = model->info.vertexCount;
	memset( bytes, 0, partCount * sizeof( *bytes ) );
	for ( int r = 0; r < model->regionCount && body->def.network; ++r )
	{
		const lmbFleshRegion *region = &model->regions[r];
		bytes[partNetwork] += DenseBytes( &region->linear );
		for ( int layer = 0; layer < region->layerCount; ++layer )
			bytes[partNetwork] += DenseBytes( &region->layers[layer] );
		if ( model->networkColumns.blocks == NULL )
			bytes[partNetwork] += 12.0 * region->laneCount * region->coefficientCount;
	}
	bytes[partPose] = model->info.boneCount * ( 12.0 * 4.0 + 33.0 * 8.0 + lmbBoneFloats * 4.0 );
	if ( body->hasModes )
		bytes[partModes] = DenseBytes( &model->boneForcing ) + DenseBytes( &model->coefficientForcing ) +
		                   ( body->followsPose ? 4.0 * model->featureCount * model->modePad : 0.0 );
	bytes[partVertices] = 6.0 * lmbLanes * model->blockBones[model->blockCount] +
	                      16.0 * lmbLanes * model->blockCount + 12.0 * vertices;
	if ( body->def.network )
		bytes[partVertices] += ColumnBytes( &model->networkColumns, model->softBlockCount );
	if ( body->hasModes )
		bytes[partVertices] += model->modeColumns.blocks != NULL
		                           ? ColumnBytes( &model->modeColumns, model->softBlockCount )
		                           : 12.0 * lmbLanes * soft * model->info.modeCount;
	if ( body->hasVertexSprings ) /* state read and written, maps read */
		bytes[partVertices] += soft * lmbLanes * 4.0 * ( 2.0 * lmbVertexPlanes + lmbSpringPlanes );
	if ( body->def.normals ) /* sums are read and written once here, as are positions and normals */
		bytes[partNormals] = 4.0 * model->stripCount + 56.0 * vertices;
	for ( int p = 0; p < partAll; ++p )
		bytes[partAll] += bytes[p];
}

/* Bytes a second of reading so much memory over and over. */
static double ReadBandwidth( size_t bytes )
{
	size_t count = bytes / sizeof( uint32_t );
	uint32_t *numbers = calloc( count, sizeof( uint32_t ) ), total = 0;
	double times[15];
	for ( int n = 0; n < 15; ++n )
	{
		int repeats = (int)( 1 + 8000000 / count );
		double begin = Microseconds();
		for ( int r = 0; r < repeats; ++r )
		{
			uint32_t sum = total;
			for ( size_t i = 0; i < count; ++i )
				sum += numbers[i];
			total = sum + 1;
			numbers[total % count] = total;
		}
		times[n] = ( Microseconds() - begin ) / repeats;
	}
	free( numbers );
	return 1e6 * (double)( count * sizeof( uint32_t ) ) / Typical( times, 15 );
}

/* What the parts of the best layer move, and their share of the bandwidth over as much memory (hot) and over
 * so much that no cache holds it (cold). */
static void PrintBounds( const lmbFleshBody *body, const double hot[partCount], const double cold[partCount] )
{
	double bytes[partCount];
	CountBytes( body, bytes );
	double near = ReadBandwidth( (size_t)bytes[partAll] ), far = ReadBandwidth( (size_t)4 * streamBytes );
	printf( "| | | MB |" );
	for ( int p = 0; p < partCount; ++p )
		printf( " %.2f |", 1e-6 * bytes[p] );
	printf( "\n| | | hot, of %.0f GB/s |", 1e-9 * near );
	for ( int p = 0; p < partCount; ++p )
		printf( " %.0f %% |", 1e8 * bytes[p] / ( hot[p] * near ) );
	printf( "\n| | | cold, of %.0f GB/s |", 1e-9 * far );
	for ( int p = 0; p < partCount; ++p )
		printf( " %.0f %% |", 1e8 * bytes[p] / ( cold[p] * far ) );
	printf( "\n" );
}

static void PrintParts( const char *name, const char *layer, const char *how, const double parts[partCount] )
{
	printf( "| %s | %s | %s |", name, layer, how );
	for ( int p = 0; p < partCount; ++p )
		printf( " %.0f |", parts[p] );
	printf( "\n" );
	fflush( stdout );
}

static void TimeModel( const lmbModel *model, lmbKernelSet set, unsigned char *memory )
{
	static const char *const layers[] = { "none", "vertex", "modal unfitted", "modal", "hybrid" };
	lmbFleshDef def = lmbDefaultFleshDef( model->flesh ), best = def;
	def.kernels = best.kernels = set;
	for ( int layer = 0; layer <= (int)lmb_layerHybrid; ++layer )
	{
		lmbArena arena = { 0 };
		lmbFleshBody *body;
		def.layer = (lmbLayer)layer;
		if ( layer == lmb_layerModalUnfitted || lmbFleshBody_Size( model->flesh, &def ) == 0 )
			continue;
		if ( lmbModel_Body( model, &def, &arena, &body, NULL ) != lmb_statusOk )
			continue;
		double hot[partCount], cold[partCount];
		TimeParts( model->flesh, body, NULL, hotSteps, hot );
		PrintParts( lmbKernels_Name( set ), layers[layer], "hot", hot );
		TimeParts( model->flesh, body, memory, coldSteps, cold );
		PrintParts( lmbKernels_Name( set ), layers[layer], "cold", cold );
		if ( def.layer == best.layer )
			PrintBounds( body, hot, cold );
		lmbArena_Free( &arena );
	}
	printf( "\n" );
	for ( int together = 0; together < 2; ++together )
		printf( "%s, %s, %s, one of 1, 16 and 64 characters: %.0f, %.0f, %.0f us a step\n",
		        lmbKernels_Name( set ), layers[best.layer], together ? "StepMany" : "Step",
		        TimeCrowd( model, &best, 1, together ), TimeCrowd( model, &best, 16, together ),
		        TimeCrowd( model, &best, 64, together ) );
	printf( "\n" );
}

static int TimeFile( const char *path, int chosen, unsigned char *memory )
{
	lmbModel model;
	lmbError error = { 0 };
	if ( lmbModel_Open( &model, path, &error ) != lmb_statusOk )
	{
		fprintf( stderr, "flesh_step: %s\n", error.message );
		lmbModel_Close( &model );
		return 1;
	}
	lmbFleshInfo info = lmbFlesh_Info( model.flesh );
	lmbFleshDef def = lmbDefaultFleshDef( model.flesh );
	printf(
	    "%s: %d vertices in %d + %d blocks of %d (soft + rigid), %d triangles, %d bones, %d coefficients, "
	    "%d modes; an instance takes %.2f MB\n\n",
	    path, info.vertexCount, model.flesh->softBlockCount,
	    model.flesh->blockCount - model.flesh->softBlockCount, lmbLanes, info.triangleCount, info.boneCount,
	    info.coefficientCount, info.modeCount, 1e-6 * (double)lmbFleshBody_Size( model.flesh, &def ) );
	printf( "| kernels | layer | us |" );
	for ( int p = 0; p < partCount; ++p )
		printf( " %s |", partNames[p] );
	printf( "\n|---|---|---|" );
	for ( int p = 0; p < partCount; ++p )
		printf( "---|" );
	printf( "\n" );
	for ( int set = lmb_kernelsPlain; set < lmb_kernelsCount; ++set )
		if ( lmbKernels_Name( (lmbKernelSet)set ) != NULL && ( chosen == 0 || chosen == set ) )
			TimeModel( &model, (lmbKernelSet)set, memory );
	lmbModel_Close( &model );
	return 0;
}

/* Bytes a second of x <- s x + x over so much memory. */
static double Bandwidth( float *numbers, size_t count )
{
	double times[15];
	for ( int n = 0; n < 15; ++n )
	{
		int repeats = (int)( 1 + 4000000 / count );
		double begin = Microseconds();
		for ( int r = 0; r < repeats; ++r )
		{
			float s = 1e-9f * (float)( r + n );
			for ( size_t i = 0; i < count; ++i )
				numbers[i] = s * numbers[i] + numbers[i];
		}
		times[n] = ( Microseconds() - begin ) / repeats;
	}
	return 8e6 * (double)count / Typical( times, 15 );
}

/* Vertex springs as they lie in a body: a block's state and map, and what drives it. */
static void TimeSprings( const lmbKernels *kernels, int vertices )
{
	const size_t perBlock = ( lmbSpringPlanes + 12 ) * lmbLanes;
	size_t blocks = ( (size_t)vertices + lmbLanes - 1 ) / lmbLanes, count = blocks * perBlock;
	float *numbers = aligned_alloc( 64, count * sizeof( float ) );
	lmbSpringMap map;
	lmbSpringMap_Make( 900.0, 12.0, 1.0 / 60.0, &map );
	for ( size_t i = 0; i < count; ++i )
		numbers[i] = 0.001f * (float)( i % 17 );
	double bandwidth = Bandwidth( numbers, count ), times[15];
	for ( size_t b = 0; b < blocks; ++b )
		for ( size_t l = 0; l < lmbLanes; ++l )
			lmbSpringMap_Store( &map, numbers + b * perBlock, lmbLanes, l );
	for ( int n = 0; n < 15; ++n )
	{
		int repeats = 1 + 400000 / vertices;
		double begin = Microseconds();
		for ( int r = 0; r < repeats; ++r )
			for ( size_t b = 0; b < blocks; ++b )
			{
				float *at = numbers + b * perBlock;
				lmbSpringBlock block = { at, at + 8 * lmbLanes, at + 11 * lmbLanes, at + 14 * lmbLanes,
				                         at + 17 * lmbLanes };
				kernels->springs( &block, false );
			}
		times[n] = ( Microseconds() - begin ) / repeats;
	}
	/* 20 numbers are read, 6 written. */
	double time = Typical( times, 15 ), moved = 26.0 * 4.0 * (double)( blocks * lmbLanes );
	printf( "| %s | %d | %.2f | %.1f | %.1f | %.0f %% |\n", kernels->name, vertices, 1e3 * time / vertices,
	        1e-3 * moved / time, 1e-9 * bandwidth, 100.0 * moved / ( 1e-6 * time * bandwidth ) );
	fflush( stdout );
	free( numbers );
}

int main( int argc, char **argv )
{
	int chosen = 0, failed = 0;
	unsigned char *memory = calloc( streamBytes, 1 );
	if ( argc > 2 && strcmp( argv[1], "--kernels" ) == 0 )
	{
		for ( int set = lmb_kernelsPlain; set < lmb_kernelsCount; ++set )
		{
			const char *name = lmbKernels_Name( (lmbKernelSet)set );
			if ( name != NULL && strcmp( name, argv[2] ) == 0 )
				chosen = set;
		}
		if ( chosen == 0 )
		{
			fprintf( stderr, "flesh_step: this processor has no kernels called \"%s\"\n", argv[2] );
			return 1;
		}
		argc -= 2;
		argv += 2;
	}
	for ( int i = 1; i < argc && failed == 0; ++i )
		failed = TimeFile( argv[i], chosen, memory );
	free( memory );
	printf( "| kernels | vertices | ns a vertex | GB/s | bandwidth, GB/s | of it "
	        "|\n|---|---|---|---|---|---|\n" );
	for ( int set = lmb_kernelsPlain; set < lmb_kernelsCount && failed == 0; ++set )
		if ( lmbKernels_Name( (lmbKernelSet)set ) != NULL && ( chosen == 0 || chosen == set ) )
			for ( int vertices = 1000; vertices <= 10000000; vertices *= 10 )
				TimeSprings( lmbKernels_Find( (lmbKernelSet)set ), vertices );
	return failed;
}
