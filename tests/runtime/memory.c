/* For tools that watch memory (test_memory.sh): every call on a body, in every layer and with every set of
 * kernels, for the model on standard input. All memory is from malloc, unset, of exactly the size asked for
 * and between guards; results are read, so that a number made of memory never written is found. Fails when a
 * guard has changed; the model may only be read. */
#include <limber/flesh.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum
{
	guard = 4096 /* a page */
};

/* Whole pages, the guards among them. */
static size_t Whole( size_t size )
{
	return ( 2 * guard + size + guard - 1 ) / guard * guard;
}

static void Protect( void *base, size_t size, int how )
{
	if ( mprotect( base, Whole( size ), how ) != 0 )
		exit( 10 );
}

/* A block of exactly so many bytes, aligned to a page, between two guards. */
static char *Take( size_t size, void **base )
{
	*base = aligned_alloc( guard, Whole( size ) );
	if ( *base == NULL )
		exit( 3 );
	char *block = (char *)*base + guard;
	memset( *base, 0x5a, guard );
	memset( block + size, 0x5a, guard );
	return block;
}

static void CheckGuards( const char *block, size_t size, const char *what )
{
	for ( int i = 0; i < guard; ++i )
		if ( block[i - guard] != 0x5a || block[size + (size_t)i] != 0x5a )
		{
			fprintf( stderr, "memory: a write outside %s, byte %d of a guard\n", what, i );
			exit( 1 );
		}
}

static unsigned Sum( const void *bytes, size_t size )
{
	unsigned sum = 1;
	for ( size_t i = 0; i < size; ++i )
		sum = sum * 31 + ( (const unsigned char *)bytes )[i];
	return sum;
}

/* Branches on every number, which a tool that knows unset memory reports. */
static void Read( const float *numbers, int count )
{
	for ( int i = 0; i < count && numbers != NULL; ++i )
		if ( !( numbers[i] > -1e30f && numbers[i] < 1e30f ) )
		{
			fprintf( stderr, "memory: a number without bounds\n" );
			exit( 1 );
		}
}

static void MakePose( const lmbFleshInfo *info, int frame, float *bones, lmbFleshPose *pose )
{
	for ( int j = 0; j < info->boneCount; ++j )
		for ( int i = 0; i < 12; ++i )
			bones[12 * j + i] =
			    ( i % 5 == 0 ? 1.0f : 0.0f ) + 0.01f * (float)( ( 7 * frame + 3 * i + j ) % 11 );
	*pose = ( lmbFleshPose ){ .bones = bones,
	                          .position = { 0.02 * frame, 0.0, 0.01 * ( frame % 7 ) },
	                          .rotation = { 0.0f, 0.1f * (float)( frame % 5 ), 0.0f, 1.0f },
	                          .scale = frame % 6 == 0 ? 0.0f : 1.5f };
}

static void Direct( lmbFleshBody *body, const lmbFleshInfo *info, int frame )
{
	lmbFleshDirection direction = lmbDefaultFleshDirection();
	float *vertices = malloc( (size_t)info->vertexCount * sizeof( float ) ),
	      *bones = malloc( (size_t)info->boneCount * sizeof( float ) );
	for ( int i = 0; i < info->vertexCount; ++i )
		vertices[i] = 0.1f * (float)( i % 9 );
	for ( int i = 0; i < info->boneCount; ++i )
		bones[i] = 0.5f + (float)( i % 3 );
	direction.vertexGain = vertices;
	direction.boneGain = direction.boneStiffness = direction.boneDamping = bones;
	direction.limit = 0.1f;
	direction.acceleration[frame % 3] = 3.0;
	direction.slowsWithSize = frame % 2 == 0;
	direction.teleportSpeed = frame % 4 == 0 ? 0.5f : 0.0f;
	if ( lmbFleshBody_Direct( body, &direction ) != lmb_statusOk )
		exit( 4 );
	free( vertices );
	free( bones );
}

static void Play( lmbFleshBody *body, const lmbFleshInfo *info )
{
	size_t size = lmbFleshBody_StateSize( body );
	char *state = malloc( size );
	float *bones = malloc( (size_t)info->boneCount * 12 * sizeof( float ) );
	const lmbFleshStrike strike = { .point = { 0.1, 1.0, 0.0 }, .impulse = { 1.0, 2.0, 3.0 }, .radius = 1.0 };
	const double push[3] = { 0.1, 0.0, 0.2 };
	for ( int n = 0; n < 24; ++n )
	{
		lmbFleshPose pose;
		lmbFleshShape shape = { NULL, NULL };
		MakePose( info, n, bones, &pose );
		if ( n % 5 == 3 )
			Direct( body, info, n );
		if ( n == 7 )
			lmbFleshBody_Teleport( body );
		if ( n == 11 )
			lmbFleshBody_Appear( body );
		lmbFleshBody_Pause( body, n == 9 );
		lmbFleshBody_Sleep( body, n == 15 || n == 16 );
		if ( n % 8 == 5 && ( lmbFleshBody_Push( body, push ) != lmb_statusOk ||
		                     lmbFleshBody_Strike( body, &strike ) != lmb_statusOk ) )
			exit( 5 );
		if ( lmbFleshBody_Step( body, &pose, n % 4 == 0 ? 0.031 : 1.0 / 60.0, n % 3 == 1 ? NULL : &shape ) !=
		     lmb_statusOk )
			exit( 6 );
		Read( shape.positions, 3 * info->vertexCount );
		Read( shape.normals, 3 * info->vertexCount );
		if ( n % 6 == 2 &&
		     ( lmbFleshBody_Save( body, state, size ) != lmb_statusOk || Sum( state, size ) == 0 ||
		       lmbFleshBody_Restore( body, state, size ) != lmb_statusOk ) )
			exit( 7 );
	}
	free( state );
	free( bones );
}

static int PlayAll( const lmbFlesh *model )
{
	lmbFleshInfo info = lmbFlesh_Info( model );
	int played = 0;
	for ( int set = lmb_kernelsPlain; set < lmb_kernelsCount; ++set )
		for ( int kind = 0; kind < 5 * 2 * 2 && lmbKernels_Name( (lmbKernelSet)set ) != NULL; ++kind )
		{
			lmbFleshDef def = lmbDefaultFleshDef( model );
			lmbFleshBody *body = NULL;
			void *base;
			def.layer = (lmbLayer)( kind % 5 );
			def.interpolation = (lmbTargetInterpolation)( kind / 5 % 2 );
			def.normals = kind / 10 == 0;
			def.kernels = (lmbKernelSet)set;
			size_t size = lmbFleshBody_Size( model, &def );
			if ( size == 0 )
				continue;
			char *block = Take( size, &base );
			if ( lmbFleshBody_Place( model, &def, block, size, &body ) != lmb_statusOk )
				exit( 8 );
			Play( body, &info );
			CheckGuards( block, size, "an instance" );
			free( base );
			played += 1;
		}
	return played;
}

int main( int argc, char **argv )
{
	(void)argv;
	static char input[1 << 20];
	size_t size = fread( input, 1, sizeof( input ), stdin );
	void *dataBase, *memoryBase;
	char *data = Take( size, &dataBase );
	memcpy( data, input, size );
	size_t bytes = lmbFlesh_Size( data, size );
	char *memory = Take( bytes, &memoryBase );
	lmbFlesh *model = NULL;
	const char *problem = NULL;
	if ( lmbFlesh_Load( data, size, memory, bytes, &model, &problem ) != lmb_statusOk )
	{
		fprintf( stderr, "memory: %s\n", problem );
		return 2;
	}
	/* From here on a write to the model ends the program. */
	Protect( dataBase, size, PROT_READ );
	Protect( memoryBase, bytes, PROT_READ );
	int played = PlayAll( model );
	Protect( dataBase, size, PROT_READ | PROT_WRITE );
	Protect( memoryBase, bytes, PROT_READ | PROT_WRITE );
	CheckGuards( data, size, "the model's data" );
	CheckGuards( memory, bytes, "the model" );
	if ( argc > 1 ) /* a fault put in on purpose */
	{
		float *unset = malloc( 4 * sizeof( float ) );
		Read( unset, 4 );
		free( unset );
	}
	printf( "%d bodies\n", played );
	free( memoryBase );
	free( dataBase );
	return 0;
}
