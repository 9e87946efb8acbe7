/* What the Python package is compared with: the library called from C.
 *   reference layout          name, offset and size of every field of the public structs
 *   reference flesh MODEL     60 steps: positions and normals as raw floats on standard output
 *   reference limb MODEL      60 steps: positions, velocities and trust as raw doubles */
#include <limber/flesh.h>
#include <limber/limb.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELD( type, field )                                                                                 \
	printf( #type "." #field " %zu %zu\n", offsetof( lmb##type, field ), sizeof( ( (lmb##type *)0 )->field ) )
#define SIZE( type ) printf( #type " 0 %zu\n", sizeof( lmb##type ) )

static void PrintFlesh( void )
{
	SIZE( FleshInfo );
	FIELD( FleshInfo, vertexCount );
	FIELD( FleshInfo, triangleCount );
	FIELD( FleshInfo, boneCount );
	FIELD( FleshInfo, modeCount );
	FIELD( FleshInfo, coefficientCount );
	FIELD( FleshInfo, hasNetwork );
	FIELD( FleshInfo, hasVertexSprings );
	FIELD( FleshInfo, hasModes );
	FIELD( FleshInfo, hasFittedModes );
	FIELD( FleshInfo, hasHybrid );
	FIELD( FleshInfo, hasPoseStiffness );
	SIZE( FleshDef );
	FIELD( FleshDef, layer );
	FIELD( FleshDef, network );
	FIELD( FleshDef, interpolation );
	FIELD( FleshDef, normals );
	FIELD( FleshDef, poseStiffness );
	FIELD( FleshDef, kernels );
	SIZE( FleshPose );
	FIELD( FleshPose, bones );
	FIELD( FleshPose, position );
	FIELD( FleshPose, rotation );
	FIELD( FleshPose, scale );
	SIZE( FleshShape );
	FIELD( FleshShape, positions );
	FIELD( FleshShape, normals );
	SIZE( FleshDirection );
	FIELD( FleshDirection, gain );
	FIELD( FleshDirection, limit );
	FIELD( FleshDirection, vertexGain );
	FIELD( FleshDirection, stiffness );
	FIELD( FleshDirection, damping );
	FIELD( FleshDirection, acceleration );
	FIELD( FleshDirection, boneGain );
	FIELD( FleshDirection, boneStiffness );
	FIELD( FleshDirection, boneDamping );
	FIELD( FleshDirection, teleportSpeed );
	FIELD( FleshDirection, teleportForgets );
	FIELD( FleshDirection, slowsWithSize );
	SIZE( FleshStrike );
	FIELD( FleshStrike, point );
	FIELD( FleshStrike, impulse );
	FIELD( FleshStrike, radius );
}

static void PrintLimb( void )
{
	SIZE( LimbInfo );
	FIELD( LimbInfo, kind );
	FIELD( LimbInfo, dofCount );
	FIELD( LimbInfo, inputCount );
	FIELD( LimbInfo, parameterCount );
	FIELD( LimbInfo, hasTrust );
	FIELD( LimbInfo, linearInput );
	FIELD( LimbInfo, step );
	SIZE( LimbDef );
	FIELD( LimbDef, integrator );
	FIELD( LimbDef, maxStep );
	FIELD( LimbDef, tolerance );
	FIELD( LimbDef, trust );
	SIZE( LimbTorques );
	FIELD( LimbTorques, input );
	FIELD( LimbTorques, inertial );
	FIELD( LimbTorques, interaction );
	FIELD( LimbTorques, gravity );
	FIELD( LimbTorques, viscous );
}

static void *Block( size_t size )
{
	return aligned_alloc( 64, ( size / 64 + 1 ) * 64 );
}

static int PlayFlesh( const void *data, size_t size )
{
	lmbFlesh *model;
	lmbFleshBody *body;
	size_t bytes = lmbFlesh_Size( data, size );
	if ( lmbFlesh_Load( data, size, Block( bytes ), bytes, &model, NULL ) != lmb_statusOk )
		return 1;
	lmbFleshDef def = lmbDefaultFleshDef( model );
	bytes = lmbFleshBody_Size( model, &def );
	if ( lmbFleshBody_Place( model, &def, Block( bytes ), bytes, &body ) != lmb_statusOk )
		return 1;
	lmbFleshInfo info = lmbFlesh_Info( model );
	float *bones = calloc( (size_t)info.boneCount * 12, sizeof( float ) );
	for ( int n = 0; n < 60; ++n )
	{
		lmbFleshShape shape;
		for ( int j = 0; j < info.boneCount; ++j )
			for ( int i = 0; i < 12; ++i )
				bones[12 * j + i] =
				    (float)( ( i % 5 == 0 ? 1.0 : 0.0 ) + 0.01 * ( ( 7 * n + 3 * i + j ) % 11 ) );
		lmbFleshPose pose = { .bones = bones, .position = { 0.01 * n, 0.0, 0.02 * ( n % 7 ) } };
		pose.rotation[1] = 0.125f * (float)( n % 5 );
		pose.rotation[3] = 1.0f;
		if ( lmbFleshBody_Step( body, &pose, n % 3 == 0 ? 0.02 : 0.015, &shape ) != lmb_statusOk )
			return 1;
		fwrite( shape.positions, sizeof( float ), 3 * (size_t)info.vertexCount, stdout );
		fwrite( shape.normals, sizeof( float ), 3 * (size_t)info.vertexCount, stdout );
	}
	return 0;
}

static int PlayLimb( const void *data, size_t size )
{
	lmbLimb *model;
	lmbLimbBody *body;
	size_t bytes = lmbLimb_Size( data, size );
	if ( lmbLimb_Load( data, size, Block( bytes ), bytes, &model, NULL ) != lmb_statusOk )
		return 1;
	lmbLimbDef def = lmbDefaultLimbDef( model );
	bytes = lmbLimbBody_Size( model, &def );
	if ( lmbLimbBody_Place( model, &def, Block( bytes ), bytes, &body ) != lmb_statusOk )
		return 1;
	lmbLimbInfo info = lmbLimb_Info( model );
	for ( int n = 0; n < 60; ++n )
	{
		double inputs[lmb_limbMaxInputs], end[lmb_limbMaxInputs], q[lmb_limbMaxDofs], v[lmb_limbMaxDofs];
		for ( int i = 0; i < info.inputCount; ++i )
		{
			inputs[i] = 0.125 * ( ( 5 * n + 3 * i ) % 7 - 3 );
			end[i] = 0.125 * ( ( 3 * n + i ) % 7 - 3 );
		}
		if ( lmbLimbBody_Step( body, inputs, n % 2 == 0 ? end : NULL, 0.01 ) != lmb_statusOk )
			return 1;
		lmbLimbBody_State( body, q, v );
		double trust = lmbLimbBody_Trust( body );
		fwrite( q, sizeof( double ), (size_t)info.dofCount, stdout );
		fwrite( v, sizeof( double ), (size_t)info.dofCount, stdout );
		fwrite( &trust, sizeof( double ), 1, stdout );
	}
	return 0;
}

int main( int argc, char **argv )
{
	if ( argc == 2 && strcmp( argv[1], "layout" ) == 0 )
	{
		PrintFlesh();
		PrintLimb();
		return 0;
	}
	FILE *stream = argc == 3 ? fopen( argv[2], "rb" ) : NULL;
	if ( stream == NULL )
		return 2;
	size_t room = (size_t)1 << 24;
	void *data = Block( room );
	size_t size = fread( data, 1, room, stream );
	fclose( stream );
	return strcmp( argv[1], "limb" ) == 0 ? PlayLimb( data, size ) : PlayFlesh( data, size );
}
