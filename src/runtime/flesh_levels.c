#include "flesh_body.h"

#include <string.h>

static bool SameSprings( const lmbFleshBody *a, const lmbFleshBody *b, int modes )
{
	return memcmp( a->modeSprings, b->modeSprings, 2 * (size_t)modes * sizeof( double ) ) == 0;
}

/* Whether two bodies are levels of detail of one character, as far as their motion tells. */
static bool BelongTogether( const lmbFleshBody *a, const lmbFleshBody *b, int modes )
{
	const lmbFlesh *first = a->model, *second = b->model;
	if ( !a->hasModes || !b->hasModes || a->hasVertexSprings || b->hasVertexSprings ||
	     a->def.layer != b->def.layer || a->def.network != b->def.network ||
	     a->def.interpolation != b->def.interpolation || a->followsPose != b->followsPose ||
	     first->info.boneCount != second->info.boneCount ||
	     ( a->def.network && first->info.coefficientCount != second->info.coefficientCount ) )
		return false;
	size_t parents = (size_t)first->info.boneCount * sizeof( *first->parents );
	return memcmp( first->parents, second->parents, parents ) == 0 && SameSprings( a, b, modes );
}

/* Modes that the other lacks come to rest. */
static void TakeModes( const double *from, int fromCount, double *to, int count )
{
	int shared = count < fromCount ? count : fromCount;
	memset( to, 0, (size_t)count * sizeof( *to ) );
	memcpy( to, from, (size_t)shared * sizeof( *to ) );
}

lmbStatus lmbFleshBody_TakeOver( lmbFleshBody *body, const lmbFleshBody *from )
{
	int count = body->model->info.modeCount, fromCount = from->model->info.modeCount;
	size_t bones = (size_t)body->model->info.boneCount;
	size_t coefficients = body->def.network ? (size_t)body->model->info.coefficientCount : 0;
	if ( body == from )
		return lmb_statusOk;
	if ( !BelongTogether( body, from, count < fromCount ? count : fromCount ) )
		return lmb_statusInvalidArgument;
	*body->clock = *from->clock;
	memcpy( body->bones, from->bones, bones * 3 * 12 * sizeof( double ) );
	memcpy( body->turns, from->turns, bones * 9 * sizeof( double ) );
	memcpy( body->coefficients, from->coefficients, 3 * coefficients * sizeof( double ) );
	TakeModes( from->modes, fromCount, body->modes, count );
	TakeModes( from->modes + fromCount, fromCount, body->modes + count, count );
	if ( body->followsPose )
		TakeModes( from->modeLogs, fromCount, body->modeLogs, count );
	memcpy( body->push, from->push, sizeof( body->push ) );
	return lmb_statusOk;
}
