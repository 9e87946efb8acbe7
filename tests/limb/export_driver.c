/* Plays an exported model called "model": on the desk, and on a device under an emulator. */
#include "model.h"

#include "export_play.h"

#ifndef INTEGRATOR
#define INTEGRATOR 1
#endif

int main( void )
{
	static model_Body body;
	double q[model_dofCount], v[model_dofCount], a[model_dofCount], u[64], end[64];
	Play_Numbers( 0, 1, q, model_dofCount );
	Play_Numbers( 0, 2, v, model_dofCount );
	printf( "start %d\n", model_Start( &body, q, v ) );
	body.integrator = INTEGRATOR;
	for ( int step = 0; step < playSteps; ++step )
	{
		double trust;
		Play_Numbers( step, 3, u, model_inputCount );
		Play_Numbers( step, 4, end, model_inputCount );
		printf( "step %d\n", model_Step( &body, u, step % 3 == 0 ? end : 0, Play_Time( step ) ) );
		Play_Print( "q", body.positions, model_dofCount );
		Play_Print( "v", body.velocities, model_dofCount );
		trust = model_Trust( &body );
		Play_Print( "trust", &trust, 1 );
	}
#ifndef RECURRENT
	model_Acceleration( &body, q, v, u, a );
	Play_Print( "a", a, model_dofCount );
#endif
#ifdef LAGRANGIAN
	model_Torques torques;
	model_Inverse( &body, q, v, a, &torques );
	Play_Print( "input", torques.input, model_dofCount );
	Play_Print( "interaction", torques.interaction, model_dofCount );
#endif
	(void)a;
	return 0;
}
