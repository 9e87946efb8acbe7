#include "carver.h"
#include "kernels/limb_wide.h"
#include "limb_model.h"

#include <math.h>
#include <string.h>

static const double stateLimit = 1e9, stepsLimit = 1e6;

struct lmbLimbBody
{
	const lmbLimb *model;
	lmbCoreDef def;
	lmbCoreWork work;
	lmbCoreState state;
};

static bool DefIsSound( const lmbLimbDef *def )
{
	return (int)def->integrator >= 0 && (int)def->integrator <= (int)lmb_integratorDormandPrince &&
	       def->maxStep >= 1e-9 && def->maxStep <= 1e3 && def->tolerance >= 1e-7 && def->tolerance <= 1.0;
}

/* Without memory only counts. */
static lmbLimbBody *Carve( const lmbLimb *model, lmbCarver *carver )
{
	lmbLimbBody *body = lmbCarver_Take( carver, 1, sizeof( *body ) );
	uint64_t floats = (uint64_t)lmbCore_LayerFloats( &model->core );
	float *first = lmbCarver_Take( carver, floats, sizeof( float ) );
	float *second = lmbCarver_Take( carver, floats, sizeof( float ) );
	float *hidden = lmbCarver_Take( carver, (uint64_t)lmbCore_HiddenFloats( &model->core ), sizeof( float ) );
	if ( body != NULL )
	{
		body->model = model;
		body->work.model = &model->core;
		body->work.layers[0] = first;
		body->work.layers[1] = second;
		body->state.hidden = hidden;
	}
	return body;
}

size_t lmbLimbBody_Size( const lmbLimb *model, const lmbLimbDef *def )
{
	lmbCarver carver = { NULL, 0 };
	if ( !DefIsSound( def ) )
		return 0;
	Carve( model, &carver );
	return (size_t)carver.used;
}

lmbStatus lmbLimbBody_Place( const lmbLimb *model, const lmbLimbDef *def, void *memory, size_t memorySize,
                             lmbLimbBody **body )
{
	const double still[lmb_limbMaxDofs] = { 0 };
	*body = NULL;
	size_t needed = lmbLimbBody_Size( model, def );
	if ( needed == 0 || memory == NULL || (uintptr_t)memory % 64 != 0 || memorySize < needed )
		return lmb_statusInvalidArgument;
	memset( memory, 0, needed );
	lmbCarver carver = { memory, 0 };
	lmbLimbBody *placed = Carve( model, &carver );
	placed->def = ( lmbCoreDef ){ (int)def->integrator, def->maxStep, def->tolerance,
	                              def->trust && model->info.hasTrust };
	placed->work.wide = lmbWide_Works();
	*body = placed;
	return lmbLimbBody_Start( placed, still, still );
}

static bool AreSound( const double *numbers, int count )
{
	for ( int i = 0; i < count; ++i )
		if ( !( fabs( numbers[i] ) <= stateLimit ) )
			return false;
	return true;
}

lmbStatus lmbLimbBody_Start( lmbLimbBody *body, const double *positions, const double *velocities )
{
	int n = body->model->info.dofCount;
	if ( !AreSound( positions, n ) || !AreSound( velocities, n ) )
		return lmb_statusInvalidArgument;
	lmbCoreState *state = &body->state;
	memcpy( state->positions, positions, (size_t)n * sizeof( double ) );
	memcpy( state->velocities, velocities, (size_t)n * sizeof( double ) );
	state->trial = state->trust = 0.0;
	if ( body->model->core.kind >= lmbCoreGru )
		lmbCore_StartRecurrent( &body->work, state );
	return lmb_statusOk;
}

void lmbLimbBody_State( const lmbLimbBody *body, double *positions, double *velocities )
{
	size_t bytes = (size_t)body->model->info.dofCount * sizeof( double );
	memcpy( positions, body->state.positions, bytes );
	memcpy( velocities, body->state.velocities, bytes );
}

lmbStatus lmbLimbBody_Step( lmbLimbBody *body, const double *inputs, const double *inputsEnd, double dt )
{
	int m = body->model->info.inputCount;
	const double *end = inputsEnd != NULL ? inputsEnd : inputs;
	if ( !( dt >= 0.0 && dt <= stepsLimit * body->def.maxStep ) || !AreSound( inputs, m ) ||
	     !AreSound( end, m ) )
		return lmb_statusInvalidArgument;
	if ( dt < 1e-300 ) /* no time; a share of it could not be told from none */
		return lmb_statusOk;
	lmbCoreResult result = lmbCore_Step( &body->work, &body->state, &body->def, inputs, end, dt );
	return result == lmbCoreOk         ? lmb_statusOk
	       : result == lmbCoreDiverged ? lmb_statusNumerical
	                                   : lmb_statusNotConverged;
}

double lmbLimbBody_Trust( const lmbLimbBody *body )
{
	return body->def.trust ? body->state.trust : -1.0;
}

lmbStatus lmbLimbBody_Acceleration( lmbLimbBody *body, const double *positions, const double *velocities,
                                    const double *inputs, double *accelerations )
{
	int n = body->model->info.dofCount;
	double found[lmb_limbMaxDofs];
	if ( body->model->core.kind >= lmbCoreGru )
		return lmb_statusUnsupported;
	if ( !AreSound( positions, n ) || !AreSound( velocities, n ) ||
	     !AreSound( inputs, body->model->info.inputCount ) )
		return lmb_statusInvalidArgument;
	lmbCore_Acceleration( &body->work, positions, velocities, inputs, found );
	for ( int i = 0; i < n; ++i )
		if ( !( fabs( found[i] ) <= 1e300 ) )
			return lmb_statusNumerical;
	memcpy( accelerations, found, (size_t)n * sizeof( double ) );
	return lmb_statusOk;
}

lmbStatus lmbLimbBody_Inverse( lmbLimbBody *body, const double *positions, const double *velocities,
                               const double *accelerations, lmbLimbTorques *torques )
{
	int n = body->model->info.dofCount;
	size_t bytes = sizeof( torques->input );
	lmbCoreTorques found;
	if ( body->model->core.kind != lmbCoreLagrangian )
		return lmb_statusUnsupported;
	if ( !AreSound( positions, n ) || !AreSound( velocities, n ) || !AreSound( accelerations, n ) )
		return lmb_statusInvalidArgument;
	lmbCore_Inverse( &body->work, positions, velocities, accelerations, &found );
	for ( int i = 0; i < n; ++i )
		if ( !( fabs( found.input[i] ) <= 1e300 ) )
			return lmb_statusNumerical;
	memcpy( torques->input, found.input, bytes );
	memcpy( torques->inertial, found.inertial, bytes );
	memcpy( torques->interaction, found.interaction, bytes );
	memcpy( torques->gravity, found.gravity, bytes );
	memcpy( torques->viscous, found.viscous, bytes );
	return lmb_statusOk;
}

/* Before a saved state: what it belongs to. Then positions, velocities, base (dofCount each), trial and
 * trust, then the hidden floats. */
typedef struct StateHeader
{
	uint64_t magic, key;
	uint32_t integrator, floats;
} StateHeader;

static StateHeader MakeHeader( const lmbLimbBody *body )
{
	return ( StateHeader ){ .magic = UINT64_C( 0x31657461747362 ), /* "bstate1" */
	                        .key = body->model->key,
	                        .integrator = (uint32_t)body->def.integrator,
	                        .floats = (uint32_t)lmbCore_HiddenFloats( &body->model->core ) };
}

static size_t DoubleCount( const lmbLimbBody *body )
{
	return 3 * (size_t)body->model->info.dofCount + 2;
}

static size_t HiddenBytes( const lmbLimbBody *body )
{
	return (size_t)lmbCore_HiddenFloats( &body->model->core ) * sizeof( float );
}

size_t lmbLimbBody_StateSize( const lmbLimbBody *body )
{
	return sizeof( StateHeader ) + DoubleCount( body ) * sizeof( double ) + HiddenBytes( body );
}

lmbStatus lmbLimbBody_Save( const lmbLimbBody *body, void *out, size_t size )
{
	if ( out == NULL || size < lmbLimbBody_StateSize( body ) )
		return lmb_statusInvalidArgument;
	const lmbCoreState *state = &body->state;
	size_t n = (size_t)body->model->info.dofCount, bytes = n * sizeof( double );
	StateHeader header = MakeHeader( body );
	double numbers[3 * lmb_limbMaxDofs + 2];
	memcpy( numbers, state->positions, bytes );
	memcpy( numbers + n, state->velocities, bytes );
	memcpy( numbers + 2 * n, state->base, bytes );
	numbers[3 * n] = state->trial;
	numbers[3 * n + 1] = state->trust;
	char *at = out;
	memcpy( at, &header, sizeof( header ) );
	at += sizeof( header );
	memcpy( at, numbers, DoubleCount( body ) * sizeof( double ) );
	at += DoubleCount( body ) * sizeof( double );
	if ( HiddenBytes( body ) > 0 )
		memcpy( at, state->hidden, HiddenBytes( body ) );
	return lmb_statusOk;
}

static bool FloatsAreSound( const char *bytes, size_t count )
{
	for ( size_t i = 0; i < count; ++i, bytes += sizeof( float ) )
	{
		float number;
		memcpy( &number, bytes, sizeof( number ) );
		if ( !( number >= -1e9f && number <= 1e9f ) )
			return false;
	}
	return true;
}

lmbStatus lmbLimbBody_Restore( lmbLimbBody *body, const void *state, size_t size )
{
	StateHeader expected = MakeHeader( body );
	const char *at = state;
	if ( state == NULL || size != lmbLimbBody_StateSize( body ) ||
	     memcmp( at, &expected, sizeof( expected ) ) != 0 )
		return lmb_statusInvalidArgument;
	at += sizeof( expected );
	size_t n = (size_t)body->model->info.dofCount, bytes = n * sizeof( double );
	double numbers[3 * lmb_limbMaxDofs + 2];
	memcpy( numbers, at, DoubleCount( body ) * sizeof( double ) );
	at += DoubleCount( body ) * sizeof( double );
	/* trial and trust are never negative; the trust score ends at 1e9. */
	if ( !AreSound( numbers, (int)DoubleCount( body ) ) || numbers[3 * n] < 0.0 || numbers[3 * n + 1] < 0.0 ||
	     !FloatsAreSound( at, expected.floats ) )
		return lmb_statusCorrupt;
	memcpy( body->state.positions, numbers, bytes );
	memcpy( body->state.velocities, numbers + n, bytes );
	memcpy( body->state.base, numbers + 2 * n, bytes );
	body->state.trial = numbers[3 * n];
	body->state.trust = numbers[3 * n + 1];
	if ( HiddenBytes( body ) > 0 )
		memcpy( body->state.hidden, at, HiddenBytes( body ) );
	return lmb_statusOk;
}
