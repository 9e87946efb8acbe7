/* The old factor as a preconditioner, in single precision: conjugate gradients correct what that costs,
 * and half the memory to read makes a solve about three times faster than cholmod_solve2 for one right side
 * (measured at 5,183 nodes, a million entries: see docs/results.md). */
#include "flesh/solver_private.h"

enum
{
	sumLanes = 16 /* of a sum: fixed, so that its order does not depend on the compiler's vectors */
};

lmbStatus lmbSolver_KeepFactor( lmbSolver *solver, lmbError *error )
{
	const cholmod_factor *factor = solver->factor;
	if ( solver->single == NULL )
	{
		solver->single = LMB_NEW( &solver->arena, float, factor->xsize );
		solver->singleVector = LMB_NEW( &solver->arena, float, factor->n );
		solver->singleRows = LMB_NEW( &solver->arena, float, factor->maxesize + sumLanes );
		if ( solver->single == NULL || solver->singleVector == NULL || solver->singleRows == NULL )
			return lmbError_Memory( error );
	}
	const double *values = factor->x;
	for ( size_t e = 0; e < factor->xsize; ++e )
		solver->single[e] = (float)values[e];
	return lmb_statusOk;
}

/* x <- L^-1 x. A supernode is a dense trapezoid: `columns` wide, `rows` high, column-major. */
static void Forward( const cholmod_factor *factor, const float *values, float *x, float *below )
{
	const int *super = factor->super, *rowStart = factor->pi, *valueStart = factor->px, *rows = factor->s;
	for ( size_t s = 0; s < factor->nsuper; ++s )
	{
		int columns = super[s + 1] - super[s], height = rowStart[s + 1] - rowStart[s];
		const float *a = values + valueStart[s];
		const int *row = rows + rowStart[s] + columns;
		float *own = x + super[s];
		int rest = height - columns;
		for ( int r = 0; r < rest; ++r )
			below[r] = 0.0f;
		for ( int c = 0; c < columns; ++c, a += height )
		{
			float v = own[c] / a[c];
			own[c] = v;
			for ( int r = c + 1; r < columns; ++r )
				own[r] -= a[r] * v;
			for ( int r = 0; r < rest; ++r )
				below[r] += a[columns + r] * v;
		}
		for ( int r = 0; r < rest; ++r )
			x[row[r]] -= below[r];
	}
}

static inline float SumProducts( const float *a, const float *b, int count )
{
	float lanes[sumLanes] = { 0.0f };
	int whole = count - count % sumLanes;
	for ( int i = 0; i < whole; i += sumLanes )
		for ( int l = 0; l < sumLanes; ++l )
			lanes[l] += a[i + l] * b[i + l];
	for ( int i = whole; i < count; ++i )
		lanes[i - whole] += a[i] * b[i];
	for ( int half = sumLanes / 2; half > 0; half /= 2 )
		for ( int l = 0; l < half; ++l )
			lanes[l] += lanes[l + half];
	return lanes[0];
}

/* x <- L^-T x. */
static void Backward( const cholmod_factor *factor, const float *values, float *x, float *below )
{
	const int *super = factor->super, *rowStart = factor->pi, *valueStart = factor->px, *rows = factor->s;
	for ( size_t s = factor->nsuper; s-- > 0; )
	{
		int columns = super[s + 1] - super[s], height = rowStart[s + 1] - rowStart[s];
		const float *a = values + valueStart[s] + (size_t)columns * (size_t)height;
		const int *row = rows + rowStart[s] + columns;
		float *own = x + super[s];
		int rest = height - columns;
		for ( int r = 0; r < rest; ++r )
			below[r] = x[row[r]];
		for ( int c = columns - 1; c >= 0; --c )
		{
			a -= height;
			float v = own[c] - SumProducts( a + columns, below, rest );
			for ( int r = c + 1; r < columns; ++r )
				v -= a[r] * own[r];
			own[c] = v / a[c];
		}
	}
}

void lmbSolver_ApplyKept( lmbSolver *solver, double *x )
{
	float *v = solver->singleVector;
	size_t count = solver->factor->n;
	/* Residuals are small numbers of newtons; single precision has the range for them. */
	for ( size_t e = 0; e < count; ++e )
		v[e] = (float)x[e];
	Forward( solver->factor, solver->single, v, solver->singleRows );
	Backward( solver->factor, solver->single, v, solver->singleRows );
	for ( size_t e = 0; e < count; ++e )
		x[e] = v[e];
}
