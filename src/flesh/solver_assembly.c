/* Sums over tetrahedra: energy, gradient, Hessian, damping. Eight tetrahedra are worked on side by side in
 * plain loops over lanes that the compiler turns into vector code. Lanes never mix, and contraction is off,
 * so vectors do not change any result. Wider ones than every processor has gained 10 % at most: memory sets
 * the pace. */
#include "flesh/solver_private.h"

#include "base/math3.h"

#define LANES for ( int l = 0; l < lmbLanes; ++l )

typedef double Lane[lmbLanes];

static inline __attribute__( ( always_inline ) ) void Gather( const lmbBatch *batch, const double *x,
                                                              Lane *edges )
{
	for ( int a = 1; a < 4; ++a )
		for ( int i = 0; i < 3; ++i )
			LANES edges[3 * ( a - 1 ) + i][l] =
			    x[3 * (size_t)batch->corners[a][l] + i] - x[3 * (size_t)batch->corners[0][l] + i];
}

/* F_ij = sum_a edge_a,i gradient_a,j. */
static inline __attribute__( ( always_inline ) ) void Deformation( const lmbBatch *batch, Lane *edges,
                                                                   Lane *F )
{
	for ( int i = 0; i < 3; ++i )
		for ( int j = 0; j < 3; ++j )
			LANES F[3 * i + j][l] = edges[i][l] * batch->gradients[j][l] +
			                        edges[3 + i][l] * batch->gradients[3 + j][l] +
			                        edges[6 + i][l] * batch->gradients[6 + j][l];
}

static inline __attribute__( ( always_inline ) ) void Cofactors( Lane *F, Lane *C, double *J, double *I )
{
	LANES
	{
		C[0][l] = F[4][l] * F[8][l] - F[5][l] * F[7][l];
		C[1][l] = F[5][l] * F[6][l] - F[3][l] * F[8][l];
		C[2][l] = F[3][l] * F[7][l] - F[4][l] * F[6][l];
		C[3][l] = F[2][l] * F[7][l] - F[1][l] * F[8][l];
		C[4][l] = F[0][l] * F[8][l] - F[2][l] * F[6][l];
		C[5][l] = F[1][l] * F[6][l] - F[0][l] * F[7][l];
		C[6][l] = F[1][l] * F[5][l] - F[2][l] * F[4][l];
		C[7][l] = F[2][l] * F[3][l] - F[0][l] * F[5][l];
		C[8][l] = F[0][l] * F[4][l] - F[1][l] * F[3][l];
		J[l] = F[0][l] * C[0][l] + F[1][l] * C[1][l] + F[2][l] * C[2][l];
		double sum = F[0][l] * F[0][l];
		for ( int e = 1; e < 9; ++e )
			sum += F[e][l] * F[e][l];
		I[l] = sum;
	}
}

/* gradient += scale P gradient_a at every corner. */
static inline __attribute__( ( always_inline ) ) void ScatterStress( const lmbBatch *batch, Lane *P,
                                                                     double *gradient )
{
	Lane forces[12];
	for ( int i = 0; i < 3; ++i )
	{
		for ( int a = 1; a < 4; ++a )
		{
			const Lane *g = batch->gradients + 3 * ( a - 1 );
			LANES forces[3 * a + i][l] =
			    P[3 * i][l] * g[0][l] + P[3 * i + 1][l] * g[1][l] + P[3 * i + 2][l] * g[2][l];
		}
		LANES forces[i][l] = -( forces[3 + i][l] + forces[6 + i][l] + forces[9 + i][l] );
	}
	for ( int l = 0; l < batch->count; ++l )
		for ( int a = 0; a < 4; ++a )
			for ( int i = 0; i < 3; ++i )
				gradient[3 * (size_t)batch->corners[a][l] + i] += forces[3 * a + i][l];
}

/* Elastic energy density times volume of every lane, and scale x P. The logarithm is left to the caller:
 * `energy` lacks -scale mu/2 log1p( (I - 3) / 4 ). */
static inline __attribute__( ( always_inline ) ) void ElasticStress( const lmbBatch *batch, Lane *F, Lane *P,
                                                                     double *I, double *energy )
{
	Lane J;
	Cofactors( F, P, J, I );
	LANES
	{
		double i = I[l] - 3.0, j = J[l] - 1.0;
		energy[l] =
		    batch->scale[l] * ( 0.5 * batch->mu[l] * ( i - 1.5 * j ) + 0.5 * batch->lambda[l] * j * j );
		double a = batch->scale[l] * batch->mu[l] * ( 1.0 - 1.0 / ( I[l] + 1.0 ) );
		double p = batch->scale[l] * batch->lambda[l] * ( J[l] - batch->alpha[l] );
		for ( int e = 0; e < 9; ++e )
			P[e][l] = a * F[e][l] + p * P[e][l];
	}
}

/* The viscous term r/2 |w|_C^2 of displacement w: its energy, and P += r scale F* (2 mu E + lambda tr E),
 * E = sym( F*^T dF ). Hooke's constants follow from the reparametrised ones. */
static inline __attribute__( ( always_inline ) ) void
ViscousStress( const lmbBatch *batch, double factor, const Lane *F, Lane *dF, Lane *P, double *energy )
{
	Lane E[6], trace; /* E: xx yy zz xy yz zx */
	for ( int k = 0; k < 6; ++k )
	{
		int i = k % 3, j = k < 3 ? i : ( i + 1 ) % 3;
		LANES E[k][l] =
		    0.5 * ( F[i][l] * dF[j][l] + F[3 + i][l] * dF[3 + j][l] + F[6 + i][l] * dF[6 + j][l] +
		            F[j][l] * dF[i][l] + F[3 + j][l] * dF[3 + i][l] + F[6 + j][l] * dF[6 + i][l] );
	}
	LANES
	{
		double shear = factor * batch->scale[l] * 0.75 * batch->mu[l];
		double lame = factor * batch->scale[l] * ( batch->lambda[l] - 0.625 * batch->mu[l] );
		trace[l] = E[0][l] + E[1][l] + E[2][l];
		double square = E[0][l] * E[0][l] + E[1][l] * E[1][l] + E[2][l] * E[2][l] +
		                2.0 * ( E[3][l] * E[3][l] + E[4][l] * E[4][l] + E[5][l] * E[5][l] );
		energy[l] += shear * square + 0.5 * lame * trace[l] * trace[l];
		for ( int k = 0; k < 6; ++k )
			E[k][l] = 2.0 * shear * E[k][l] + ( k < 3 ? lame * trace[l] : 0.0 );
	}
	static const int place[9] = { 0, 3, 5, 3, 1, 4, 5, 4, 2 };
	for ( int i = 0; i < 3; ++i )
		for ( int j = 0; j < 3; ++j )
			LANES P[3 * i + j][l] += F[3 * i][l] * E[place[j]][l] + F[3 * i + 1][l] * E[place[3 + j]][l] +
			                         F[3 * i + 2][l] * E[place[6 + j]][l];
}

static double EvaluateBatches( const lmbSolver *solver, const double *x, const double *w, double factor,
                               double *gradient )
{
	const lmbSolverPlan *plan = solver->plan;
	double total = 0.0;
	for ( int b = 0; b < plan->batchCount; ++b )
	{
		const lmbBatch *batch = plan->batches + b;
		Lane edges[9], F[9], P[9], I, energy;
		Gather( batch, x, edges );
		Deformation( batch, edges, F );
		ElasticStress( batch, F, P, I, energy );
		if ( w != NULL )
		{
			Gather( batch, w, edges );
			Deformation( batch, edges, F );
			ViscousStress( batch, factor, (const Lane *)( solver->dampingF + 9 * lmbLanes * (size_t)b ), F, P,
			               energy );
		}
		ScatterStress( batch, P, gradient );
		for ( int l = 0; l < batch->count; ++l )
			total += energy[l] - 0.5 * batch->scale[l] * batch->mu[l] * log1p( 0.25 * ( I[l] - 3.0 ) );
	}
	return total;
}

double lmbSolver_Elastic( const lmbSolver *solver, const double *x, double *force )
{
	size_t count = 3 * (size_t)solver->plan->nodeCount;
	memset( force, 0, count * sizeof( *force ) );
	double energy = EvaluateBatches( solver, x, NULL, 0.0, force );
	for ( size_t e = 0; e < count; ++e )
		force[e] = -force[e];
	return energy;
}

double lmbSolver_Evaluate( lmbSolver *solver, const double *x, double *gradient )
{
	const lmbSolverPlan *plan = solver->plan;
	const lmbEnergyTerms *terms = &solver->terms;
	double *w = NULL;
	memset( gradient, 0, 3 * (size_t)plan->nodeCount * sizeof( *gradient ) );
	if ( terms->dampingFactor > 0.0 )
	{
		w = solver->difference;
		for ( size_t e = 0; e < 3 * (size_t)plan->nodeCount; ++e )
			w[e] = x[e] - terms->dampingTarget[e];
	}
	double energy = EvaluateBatches( solver, x, w, terms->dampingFactor, gradient );
	for ( size_t e = 0; e < 3 * (size_t)plan->freeCount; ++e )
	{
		double inertia = terms->massFactor * plan->mass[e / 3], away = x[e] - terms->massTarget[e];
		energy += 0.5 * inertia * away * away - terms->load[e] * x[e];
		gradient[e] += inertia * away - terms->load[e];
	}
	return energy;
}

/* What a stiffness block needs of a deformation: F gradient_a, cof F gradient_a, gradients' products. */
typedef struct BlockTerms
{
	Lane f[12], c[12]; /* (4 x 3) F and cof F applied to the hats' gradients */
	Lane dots[10];     /* gradient_a . gradient_b in the order of the blocks */
	Lane z[9];         /* F (gradient_a x gradient_b) of (1,2), (1,3), (2,3) */
} BlockTerms;

static inline __attribute__( ( always_inline ) ) void ApplyToGradients( const lmbBatch *batch, const Lane *M,
                                                                        Lane *out )
{
	for ( int i = 0; i < 3; ++i )
	{
		for ( int a = 1; a < 4; ++a )
		{
			const Lane *g = batch->gradients + 3 * ( a - 1 );
			LANES out[3 * a + i][l] =
			    M[3 * i][l] * g[0][l] + M[3 * i + 1][l] * g[1][l] + M[3 * i + 2][l] * g[2][l];
		}
		LANES out[i][l] = -( out[3 + i][l] + out[6 + i][l] + out[9 + i][l] );
	}
}

static inline __attribute__( ( always_inline ) ) void GradientProducts( const lmbBatch *batch, Lane *dots )
{
	const Lane *g = batch->gradients;
	Lane full[9];
	for ( int a = 0; a < 3; ++a )
		for ( int b = 0; b < 3; ++b )
			LANES full[3 * a + b][l] = g[3 * a][l] * g[3 * b][l] + g[3 * a + 1][l] * g[3 * b + 1][l] +
			                           g[3 * a + 2][l] * g[3 * b + 2][l];
	LANES
	{
		dots[0][l] = -( full[0][l] + full[3][l] + full[6][l] );
		dots[1][l] = -( full[1][l] + full[4][l] + full[7][l] );
		dots[2][l] = -( full[2][l] + full[5][l] + full[8][l] );
		dots[3][l] = full[1][l];
		dots[4][l] = full[2][l];
		dots[5][l] = full[5][l];
		dots[6][l] = -( dots[0][l] + dots[1][l] + dots[2][l] );
		dots[7][l] = full[0][l];
		dots[8][l] = full[4][l];
		dots[9][l] = full[8][l];
	}
}

static inline __attribute__( ( always_inline ) ) void GradientCrosses( const lmbBatch *batch, const Lane *F,
                                                                       Lane *z )
{
	static const int pairs[3][2] = { { 0, 1 }, { 0, 2 }, { 1, 2 } };
	for ( int k = 0; k < 3; ++k )
	{
		const Lane *p = batch->gradients + 3 * pairs[k][0], *q = batch->gradients + 3 * pairs[k][1];
		Lane cross[3];
		for ( int i = 0; i < 3; ++i )
		{
			int j = ( i + 1 ) % 3, m = ( i + 2 ) % 3;
			LANES cross[i][l] = p[j][l] * q[m][l] - p[m][l] * q[j][l];
		}
		for ( int i = 0; i < 3; ++i )
			LANES z[3 * k + i][l] =
			    F[3 * i][l] * cross[0][l] + F[3 * i + 1][l] * cross[1][l] + F[3 * i + 2][l] * cross[2][l];
	}
}

/* z of the pair of corners of block k, from those of (1,2), (1,3), (2,3): gradient_0 is minus the sum. */
static const double crossOfBlock[6][3] = { { 1, 1, 0 }, { -1, 0, 1 }, { 0, -1, -1 },
                                           { 1, 0, 0 }, { 0, 1, 0 },  { 0, 0, 1 } };

/* Blocks (row corner b, column corner a), each 9 lanes by columns:
 * a I (g_a.g_b) + s f_b f_a^T + lambda c_b c_a^T + p [z_ab]x, see docs/derivations/elasticity.md. */
static inline __attribute__( ( always_inline ) ) void ElasticBlocks( const lmbBatch *batch, Lane *F,
                                                                     Lane *blocks )
{
	BlockTerms t;
	Lane C[9], J, I, a, s, p, q;
	Cofactors( F, C, J, I );
	ApplyToGradients( batch, F, t.f );
	ApplyToGradients( batch, C, t.c );
	GradientProducts( batch, t.dots );
	GradientCrosses( batch, F, t.z );
	LANES
	{
		double inverse = 1.0 / ( I[l] + 1.0 );
		a[l] = batch->scale[l] * batch->mu[l] * ( 1.0 - inverse );
		s[l] = batch->scale[l] * 2.0 * batch->mu[l] * inverse * inverse;
		p[l] = batch->scale[l] * batch->lambda[l] * ( J[l] - batch->alpha[l] );
		q[l] = batch->scale[l] * batch->lambda[l];
	}
	for ( int k = 0; k < lmbBlocks; ++k )
	{
		Lane *block = blocks + 9 * k;
		const Lane *fr = t.f + 3 * lmbBlockRow[k], *fc = t.f + 3 * lmbBlockColumn[k];
		const Lane *cr = t.c + 3 * lmbBlockRow[k], *cc = t.c + 3 * lmbBlockColumn[k];
		for ( int c = 0; c < 3; ++c )
			for ( int r = 0; r < 3; ++r )
				LANES block[3 * c + r][l] = s[l] * fr[r][l] * fc[c][l] + q[l] * cr[r][l] * cc[c][l] +
				                            ( r == c ? a[l] * t.dots[k][l] : 0.0 );
		for ( int axis = 0; k < 6 && axis < 3; ++axis )
		{
			const double *m = crossOfBlock[k];
			int next = ( axis + 1 ) % 3, last = ( axis + 2 ) % 3;
			LANES
			{
				double z = p[l] * ( m[0] * t.z[axis][l] + m[1] * t.z[3 + axis][l] + m[2] * t.z[6 + axis][l] );
				block[3 * next + last][l] += z;
				block[3 * last + next][l] -= z;
			}
		}
	}
}

static void ScatterBlocks( const lmbSolverPlan *plan, const lmbBatch *batch, Lane *blocks, double *values )
{
	for ( int l = 0; l < batch->count; ++l )
		for ( int k = 0; k < lmbBlocks; ++k )
		{
			if ( batch->slots[k][l] < 0 )
				continue;
			int32_t column = batch->corners[lmbBlockColumn[k]][l];
			size_t stride = 3 * (size_t)( plan->columnStart[column + 1] - plan->columnStart[column] );
			double *out = values + batch->slots[k][l];
			for ( int c = 0; c < 3; ++c )
				for ( int r = 0; r < 3; ++r )
					out[stride * c + r] += blocks[9 * k + 3 * c + r][l];
		}
}

/* Takes the negative eigenvalues out of the element Hessians of one batch. */
static void ProjectBlocks( const lmbBatch *batch, Lane *F, Lane *blocks )
{
	for ( int l = 0; l < batch->count; ++l )
	{
		lmbElastic elastic = { batch->mu[l], batch->lambda[l], batch->alpha[l] };
		double deformation[9], values[9], modes[9][9];
		for ( int e = 0; e < 9; ++e )
			deformation[e] = F[e][l];
		int count = lmbElastic_NegativeModes( &elastic, deformation, values, modes );
		for ( int m = 0; m < count; ++m )
		{
			/* The mode seen by the corners: mode times the gradients of their hats. */
			double seen[12] = { 0.0 }, factor = batch->scale[l] * values[m];
			for ( int a = 1; a < 4; ++a )
				for ( int i = 0; i < 3; ++i )
				{
					double sum = 0.0;
					for ( int j = 0; j < 3; ++j )
						sum += modes[m][3 * i + j] * batch->gradients[3 * ( a - 1 ) + j][l];
					seen[3 * a + i] = sum;
					seen[i] -= sum;
				}
			for ( int k = 0; k < lmbBlocks; ++k )
				for ( int c = 0; c < 3; ++c )
					for ( int r = 0; r < 3; ++r )
						blocks[9 * k + 3 * c + r][l] -=
						    factor * seen[3 * lmbBlockRow[k] + r] * seen[3 * lmbBlockColumn[k] + c];
		}
	}
}

static void AssembleElastic( const lmbSolver *solver, const double *x, bool project, double *values )
{
	const lmbSolverPlan *plan = solver->plan;
	for ( int b = 0; b < plan->batchCount; ++b )
	{
		const lmbBatch *batch = plan->batches + b;
		Lane edges[9], F[9], blocks[9 * lmbBlocks];
		Gather( batch, x, edges );
		Deformation( batch, edges, F );
		ElasticBlocks( batch, F, blocks );
		if ( project )
			ProjectBlocks( batch, F, blocks );
		ScatterBlocks( plan, batch, blocks, values );
	}
}

/* Blocks of C: mu ( (g_a.g_b) F F^T + (F g_a)(F g_b)^T ) + lambda (F g_b)(F g_a)^T, row b, column a. */
static inline __attribute__( ( always_inline ) ) void ViscousBlocks( const lmbBatch *batch, const Lane *F,
                                                                     Lane *blocks )
{
	BlockTerms t;
	Lane B[9], shear, lame;
	ApplyToGradients( batch, F, t.f );
	GradientProducts( batch, t.dots );
	for ( int i = 0; i < 3; ++i )
		for ( int j = 0; j < 3; ++j )
			LANES B[3 * i + j][l] = F[3 * i][l] * F[3 * j][l] + F[3 * i + 1][l] * F[3 * j + 1][l] +
			                        F[3 * i + 2][l] * F[3 * j + 2][l];
	LANES
	{
		shear[l] = batch->scale[l] * 0.75 * batch->mu[l];
		lame[l] = batch->scale[l] * ( batch->lambda[l] - 0.625 * batch->mu[l] );
	}
	for ( int k = 0; k < lmbBlocks; ++k )
	{
		const Lane *fr = t.f + 3 * lmbBlockRow[k], *fc = t.f + 3 * lmbBlockColumn[k];
		for ( int c = 0; c < 3; ++c )
			for ( int r = 0; r < 3; ++r )
				LANES blocks[9 * k + 3 * c + r][l] =
				    shear[l] * ( t.dots[k][l] * B[3 * r + c][l] + fc[r][l] * fr[c][l] ) +
				    lame[l] * fr[r][l] * fc[c][l];
	}
}

static void AssembleViscous( const lmbSolver *solver, const double *x, double *values )
{
	const lmbSolverPlan *plan = solver->plan;
	for ( int b = 0; b < plan->batchCount; ++b )
	{
		const lmbBatch *batch = plan->batches + b;
		Lane edges[9], blocks[9 * lmbBlocks];
		Lane *F = (Lane *)( solver->dampingF + 9 * lmbLanes * (size_t)b );
		Gather( batch, x, edges );
		Deformation( batch, edges, F );
		ViscousBlocks( batch, F, blocks );
		ScatterBlocks( plan, batch, blocks, values );
	}
}

static size_t ValueCount( const lmbSolverPlan *plan )
{
	return 9 * (size_t)plan->columnStart[plan->freeCount];
}

void lmbSolver_AssembleDamping( lmbSolver *solver, const double *x )
{
	memset( solver->dampingValues, 0, ValueCount( solver->plan ) * sizeof( double ) );
	AssembleViscous( solver, x, solver->dampingValues );
}

void lmbSolver_AssembleHessian( lmbSolver *solver, const double *x, bool project )
{
	const lmbSolverPlan *plan = solver->plan;
	double factor = solver->terms.dampingFactor, *values = solver->values;
	size_t count = ValueCount( plan );
	for ( size_t e = 0; e < count; ++e )
		values[e] = factor > 0.0 ? factor * solver->dampingValues[e] : 0.0;
	for ( size_t j = 0; j < (size_t)plan->freeCount; ++j )
	{
		size_t stride = 3 * (size_t)( plan->columnStart[j + 1] - plan->columnStart[j] );
		for ( size_t i = 0; i < 3; ++i )
			values[9 * (size_t)plan->columnStart[j] + stride * i + i] +=
			    solver->terms.massFactor * plan->mass[j];
	}
	AssembleElastic( solver, x, project, values );
}

double lmbSolver_SmallestVolumeRatio( const lmbSolver *solver, const double *x )
{
	double smallest = INFINITY;
	for ( int b = 0; b < solver->plan->batchCount; ++b )
	{
		const lmbBatch *batch = solver->plan->batches + b;
		Lane edges[9], F[9], C[9], J, I;
		Gather( batch, x, edges );
		Deformation( batch, edges, F );
		Cofactors( F, C, J, I );
		for ( int l = 0; l < batch->count; ++l )
			smallest = fmin( smallest, J[l] );
	}
	return smallest;
}
