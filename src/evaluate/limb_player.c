#include "evaluate/limb_player.h"

#include <math.h>
#include <string.h>

lmbStatus lmbLimbPlayer_FromModel( const lmbLimb *model, const lmbLimbDef *def, int dofCount, int inputCount,
                                   lmbArena *arena, lmbLimbPlayer *out, lmbError *error )
{
	lmbLimbInfo info = lmbLimb_Info( model );
	if ( info.dofCount != dofCount || info.inputCount != inputCount )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "the model has %d joints and %d inputs, the motions have %d and %d",
		                     info.dofCount, info.inputCount, dofCount, inputCount );
	*out = ( lmbLimbPlayer ){ .dofCount = dofCount, .inputCount = inputCount };
	return lmbLimb_NewBody( model, def, arena, &out->body, error );
}

lmbLimbPlayer lmbLimbPlayer_FromEquations( lmbAccelerationOf *equations, void *context, int dofCount,
                                           int inputCount, double maxStep )
{
	return ( lmbLimbPlayer ){ .dofCount = dofCount,
	                          .inputCount = inputCount,
	                          .equations = equations,
	                          .context = context,
	                          .maxStep = maxStep };
}

/* The classical Runge-Kutta step; false when an acceleration is not finite. u and its end: straight between.
 */
static bool StepRk4( lmbLimbPlayer *player, const double *u, const double *end, double from, double to,
                     double dt )
{
	static const double at[4] = { 0.0, 0.5, 0.5, 1.0 }, weight[4] = { 1.0, 2.0, 2.0, 1.0 };
	int n = player->dofCount;
	double q[lmbLimbMaxDofs], v[lmbLimbMaxDofs], a[lmbLimbMaxDofs], input[lmbLimbMaxInputs];
	double dq[lmbLimbMaxDofs] = { 0 }, dv[lmbLimbMaxDofs] = { 0 };
	double lastV[lmbLimbMaxDofs] = { 0 }, lastA[lmbLimbMaxDofs] = { 0 };
	for ( int stage = 0; stage < 4; ++stage )
	{
		double share = from + at[stage] * ( to - from );
		for ( int i = 0; i < player->inputCount; ++i )
			input[i] = end != NULL ? u[i] + share * ( end[i] - u[i] ) : u[i];
		for ( int i = 0; i < n; ++i )
		{
			q[i] = player->positions[i] + at[stage] * dt * lastV[i];
			v[i] = player->velocities[i] + at[stage] * dt * lastA[i];
		}
		if ( !player->equations( player->context, q, v, input, a ) )
			return false;
		for ( int i = 0; i < n; ++i )
		{
			dq[i] += weight[stage] * v[i];
			dv[i] += weight[stage] * a[i];
			lastV[i] = v[i];
			lastA[i] = a[i];
		}
	}
	bool finite = true;
	for ( int i = 0; i < n; ++i )
	{
		player->positions[i] += dt / 6.0 * dq[i];
		player->velocities[i] += dt / 6.0 * dv[i];
		finite = finite && isfinite( player->positions[i] ) && isfinite( player->velocities[i] );
	}
	return finite;
}

/* One sample on; false when the motion has left all bounds. */
static lmbStatus Step( lmbLimbPlayer *player, const double *u, const double *end, double dt )
{
	if ( player->body != NULL )
	{
		lmbStatus status = lmbLimbBody_Step( player->body, u, end, dt );
		lmbLimbBody_State( player->body, player->positions, player->velocities );
		return status;
	}
	/* A ratio that is whole but for rounding is that whole number. */
	int parts = (int)ceil( dt / player->maxStep - 1e-9 );
	parts = parts < 1 ? 1 : parts;
	for ( int i = 0; i < parts; ++i )
		if ( !StepRk4( player, u, end, (double)i / parts, ( i + 1.0 ) / parts, dt / parts ) )
			return lmb_statusNumerical;
	return lmb_statusOk;
}

static lmbStatus Start( lmbLimbPlayer *player, const lmbTrajectory *trajectory, lmbError *error )
{
	int n = player->dofCount;
	for ( int i = 0; i < n; ++i )
	{
		player->positions[i] = trajectory->positions[i];
		if ( trajectory->velocities != NULL )
			player->velocities[i] = trajectory->velocities[i];
		else
			player->velocities[i] =
			    trajectory->sampleCount > 1
			        ? ( trajectory->positions[n + i] - trajectory->positions[i] ) / trajectory->step
			        : 0.0;
	}
	lmbStatus status = player->body != NULL
	                       ? lmbLimbBody_Start( player->body, player->positions, player->velocities )
	                       : lmb_statusOk;
	return status == lmb_statusOk ? status
	                              : lmbError_Set( error, status, "\"%s\" starts where no model can: %s",
	                                              trajectory->name, lmbStatus_Text( status ) );
}

lmbStatus lmbLimbPlayer_Run( lmbLimbPlayer *player, const lmbTrajectory *trajectory, lmbInputHold hold,
                             lmbLimbRollout *rollout, lmbError *error )
{
	size_t n = (size_t)player->dofCount, m = (size_t)player->inputCount;
	LMB_TRY( Start( player, trajectory, error ) );
	static const double none[lmbLimbMaxInputs] = { 0 }; /* a pointer is asked for even without inputs */
	rollout->finiteCount = trajectory->sampleCount;
	for ( int k = 0; k < trajectory->sampleCount; ++k )
	{
		memcpy( rollout->positions + (size_t)k * n, player->positions, n * sizeof( double ) );
		memcpy( rollout->velocities + (size_t)k * n, player->velocities, n * sizeof( double ) );
		if ( k + 1 == trajectory->sampleCount || rollout->finiteCount < trajectory->sampleCount )
			continue;
		const double *u = trajectory->inputs != NULL ? trajectory->inputs + (size_t)k * m : none;
		lmbStatus status =
		    Step( player, u, hold == lmb_inputLinear && trajectory->inputs != NULL ? u + m : NULL,
		          trajectory->step );
		if ( status == lmb_statusNumerical )
			rollout->finiteCount = k + 1;
		else if ( status != lmb_statusOk )
			return lmbError_Set( error, status, "\"%s\", sample %d: %s", trajectory->name, k,
			                     lmbStatus_Text( status ) );
	}
	return lmb_statusOk;
}

bool lmbLimbPlayer_Doubt( lmbLimbPlayer *player, const lmbTrajectory *trajectory, int sample, double *score,
                          double *error )
{
	static const double none[lmbLimbMaxInputs] = { 0 };
	size_t n = (size_t)player->dofCount, k = (size_t)sample;
	if ( player->body == NULL || trajectory->velocities == NULL || trajectory->accelerations == NULL )
		return false;
	const double *q = trajectory->positions + n * k, *v = trajectory->velocities + n * k;
	const double *u = trajectory->inputs != NULL ? trajectory->inputs + (size_t)player->inputCount * k : none;
	double a[lmbLimbMaxDofs], sum = 0.0;
	if ( lmbLimbBody_Acceleration( player->body, q, v, u, a ) != lmb_statusOk ||
	     lmbLimbBody_Start( player->body, q, v ) != lmb_statusOk )
		return false;
	(void)lmbLimbBody_Step( player->body, u, NULL,
	                        trajectory->step ); /* a step that diverges is scored too */
	*score = lmbLimbBody_Trust( player->body );
	for ( size_t i = 0; i < n; ++i )
		sum +=
		    ( a[i] - trajectory->accelerations[n * k + i] ) * ( a[i] - trajectory->accelerations[n * k + i] );
	*error = sqrt( sum );
	return *score >= 0.0 && isfinite( *error );
}
