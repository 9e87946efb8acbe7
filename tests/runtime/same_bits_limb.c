/* 600 steps of the limb's model on standard input under every integrator, with held and with straight inputs:
 * prints a hash of positions, velocities and trust of each. Uses nothing that differs between C libraries. */
#include <limber/limb.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum
{
	stepCount = 600
};

static unsigned long long Hash( unsigned long long hash, const double *numbers, int count )
{
	for ( int i = 0; i < count; ++i )
	{
		unsigned long long bits;
		memcpy( &bits, &numbers[i], sizeof( bits ) );
		hash = ( hash ^ bits ) * 1099511628211ull;
		hash ^= hash >> 31;
	}
	return hash;
}

static unsigned long long Run( const lmbLimb *model, const lmbLimbDef *def, int straight )
{
	lmbLimbBody *body = NULL;
	lmbLimbInfo info = lmbLimb_Info( model );
	size_t size = lmbLimbBody_Size( model, def );
	void *memory = aligned_alloc( 64, ( size / 64 + 1 ) * 64 );
	unsigned long long hash = 0;
	if ( size == 0 || lmbLimbBody_Place( model, def, memory, size, &body ) != lmb_statusOk )
		exit( 3 );
	for ( int n = 0; n < stepCount; ++n )
	{
		double inputs[lmb_limbMaxInputs], end[lmb_limbMaxInputs], q[lmb_limbMaxDofs], v[lmb_limbMaxDofs];
		for ( int i = 0; i < info.inputCount; ++i )
		{
			inputs[i] = 0.125 * ( ( 5 * n + 3 * i ) % 7 - 3 );
			end[i] = 0.125 * ( ( 5 * n + 5 + 3 * i ) % 7 - 3 );
		}
		double dt = n % 10 == 0 ? 0.004 + 0.00001 * n : 0.01;
		double result = (double)lmbLimbBody_Step( body, inputs, straight ? end : NULL, dt );
		double trust = lmbLimbBody_Trust( body );
		lmbLimbBody_State( body, q, v );
		hash = Hash( hash, &result, 1 );
		hash = Hash( hash, q, info.dofCount );
		hash = Hash( hash, v, info.dofCount );
		hash = Hash( hash, &trust, 1 );
	}
	free( memory );
	return hash;
}

int main( void )
{
	static char data[1 << 20];
	size_t size = fread( data, 1, sizeof( data ), stdin );
	size_t bytes = lmbLimb_Size( data, size );
	void *memory = aligned_alloc( 64, ( bytes / 64 + 1 ) * 64 );
	lmbLimb *model = NULL;
	const char *problem = NULL;
	if ( lmbLimb_Load( data, size, memory, bytes, &model, &problem ) != lmb_statusOk )
	{
		fprintf( stderr, "same_bits_limb: %s\n", problem );
		return 2;
	}
	for ( int integrator = 0; integrator <= (int)lmb_integratorDormandPrince; ++integrator )
		for ( int straight = 0; straight < 2; ++straight )
		{
			lmbLimbDef def = lmbDefaultLimbDef( model );
			def.integrator = (lmbIntegrator)integrator;
			printf( "integrator %d, straight %d: %016llx\n", integrator, straight,
			        Run( model, &def, straight ) );
		}
	free( memory );
	return 0;
}
