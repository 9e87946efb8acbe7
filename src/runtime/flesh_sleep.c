#include "flesh_body.h"

void lmbFleshBody_Sleep( lmbFleshBody *body, bool asleep )
{
	lmbFleshClock *clock = body->clock;
	if ( asleep )
		clock->sleep = lmb_sleepAsleep;
	else if ( clock->sleep == lmb_sleepAsleep )
		clock->sleep = lmb_sleepWaking;
}

/* The scale is taken to be what it was when the body fell asleep. */
lmbStatus lmbFleshBody_Doze( lmbFleshBody *body, double dt, lmbFleshShape *shape )
{
	lmbFleshClock *clock = body->clock;
	if ( !( dt >= 0.0 && dt <= 1e300 ) )
		return lmb_statusInvalidArgument;
	if ( clock->known > 0 && !clock->paused )
	{
		double slept = clock->slept + ( body->slowsWithSize ? dt / clock->scale : dt );
		clock->slept = slept < 1e300 ? slept : 1e300;
	}
	if ( shape != NULL )
		*shape = ( lmbFleshShape ){ body->positions, body->normals };
	return lmb_statusOk;
}
