/* Plays a limb's model for a second: embed_limb MODEL.safetensors. docs/guide/limb-embed.md explains it. */
#include <limber/limb.h>

#include <stdio.h>
#include <stdlib.h>

int main( int count, char **arguments )
{
	static _Alignas( 64 ) char file[1 << 24];
	FILE *stream = count == 2 ? fopen( arguments[1], "rb" ) : NULL;
	if ( stream == NULL )
		return 2;
	size_t size = fread( file, 1, sizeof( file ), stream );
	fclose( stream );

	const char *problem;
	lmbLimb *model;
	size_t modelSize = lmbLimb_Size( file, size );
	void *modelMemory = aligned_alloc( 64, ( modelSize + 127 ) / 64 * 64 );
	if ( lmbLimb_Load( file, size, modelMemory, modelSize, &model, &problem ) != lmb_statusOk )
	{
		fprintf( stderr, "%s: %s\n", arguments[1], problem );
		return 1;
	}
	lmbLimbDef def = lmbDefaultLimbDef( model );
	size_t bodySize = lmbLimbBody_Size( model, &def );
	void *bodyMemory = aligned_alloc( 64, ( bodySize + 127 ) / 64 * 64 );
	lmbLimbBody *body;
	if ( lmbLimbBody_Place( model, &def, bodyMemory, bodySize, &body ) != lmb_statusOk )
		return 1;
	double torques[lmb_limbMaxInputs] = { 0.5 }, angles[lmb_limbMaxDofs], speeds[lmb_limbMaxDofs];
	for ( int i = 0; i < 100; ++i )
	{
		lmbStatus status = lmbLimbBody_Step( body, torques, NULL, 0.01 );
		lmbLimbBody_State( body, angles, speeds );
		printf( "%.17g %.17g%s\n", angles[0], lmbLimbBody_Trust( body ), status == lmb_statusOk ? "" : " !" );
	}
	free( bodyMemory );
	free( modelMemory );
	return 0;
}
