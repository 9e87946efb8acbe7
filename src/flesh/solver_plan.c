/* What a tissue's solves have in common: numbering, pattern, element data, symbolic analysis. */
#include "flesh/solver_private.h"

#include "base/math3.h"

#include <stdlib.h>

/* Pairs of free nodes that share a tetrahedron, each node with itself too, as column << 32 | row with
 * column <= row: sorted, without repeats. */
static uint64_t *CollectPairs( const lmbTissue *tissue, const int32_t *number, int freeCount, size_t *count )
{
	size_t capacity = (size_t)tissue->tetCount * 6 + (size_t)freeCount, used = 0;
	uint64_t *pairs = malloc( capacity * sizeof( *pairs ) + 1 );
	if ( pairs == NULL )
		return NULL;
	for ( int node = 0; node < freeCount; ++node )
		pairs[used++] = (uint64_t)node << 32 | (uint64_t)node;
	for ( size_t t = 0; t < (size_t)tissue->tetCount; ++t )
		for ( int a = 0; a < 4; ++a )
			for ( int b = a + 1; b < 4; ++b )
			{
				int p = number[tissue->tets[4 * t + a]], q = number[tissue->tets[4 * t + b]];
				if ( p >= freeCount || q >= freeCount )
					continue;
				pairs[used++] = p < q ? (uint64_t)p << 32 | (uint64_t)q : (uint64_t)q << 32 | (uint64_t)p;
			}
	*count = used;
	return pairs;
}

static int ComparePairs( const void *a, const void *b )
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return ( x > y ) - ( x < y );
}

static size_t SortPairs( uint64_t *pairs, size_t count )
{
	qsort( pairs, count, sizeof( *pairs ), ComparePairs );
	size_t kept = 0;
	for ( size_t i = 0; i < count; ++i )
		if ( i == 0 || pairs[i] != pairs[i - 1] )
			pairs[kept++] = pairs[i];
	return kept;
}

static lmbStatus CholmodError( lmbSolverPlan *plan, lmbError *error, const char *what )
{
	if ( plan->common.status == CHOLMOD_OUT_OF_MEMORY )
		return lmbError_Memory( error );
	if ( plan->common.status == CHOLMOD_TOO_LARGE )
		return lmbError_Set( error, lmb_statusUnsupported,
		                     "the lattice is too fine for the direct solver: choose a larger cell" );
	return lmbError_Set( error, lmb_statusNumerical, "%s failed (CHOLMOD status %d)", what,
	                     plan->common.status );
}

static void UseOrdering( cholmod_common *common, int ordering, bool postorder )
{
	common->nmethods = 1;
	common->method[0].ordering = ordering;
	common->postorder = postorder;
}

/* order[k] = the free node (in first-come numbering) eliminated k-th. */
static lmbStatus TryOrder( lmbSolverPlan *plan, cholmod_sparse *graph, int ordering, double *operations,
                           int32_t *order, lmbError *error )
{
	cholmod_common *common = &plan->common;
	UseOrdering( common, ordering, true );
	common->supernodal = CHOLMOD_SIMPLICIAL;
	cholmod_factor *analysis = cholmod_analyze( graph, common );
	if ( analysis == NULL )
		return CholmodError( plan, error, "ordering the lattice" );
	const int *permutation = analysis->Perm;
	bool better = common->fl < *operations;
	for ( size_t k = 0; better && k < graph->nrow; ++k )
		order[k] = permutation[k];
	*operations = better ? common->fl : *operations;
	cholmod_free_factor( &analysis, common );
	return lmb_statusOk;
}

/* The order is found on the graph of nodes: three times smaller than the matrix's, and a node's three axes
 * stay together. */
static lmbStatus FindOrder( lmbSolverPlan *plan, const uint64_t *pairs, size_t pairCount,
                            lmbOrdering ordering, int32_t *order, lmbError *error )
{
	size_t n = (size_t)plan->freeCount;
	cholmod_sparse *graph =
	    cholmod_allocate_sparse( n, n, pairCount, true, true, -1, CHOLMOD_PATTERN, &plan->common );
	if ( graph == NULL )
		return CholmodError( plan, error, "ordering the lattice" );
	int *start = graph->p, *row = graph->i;
	memset( start, 0, ( n + 1 ) * sizeof( *start ) );
	for ( size_t i = 0; i < pairCount; ++i )
	{
		start[( pairs[i] >> 32 ) + 1] += 1;
		row[i] = (int)( pairs[i] & UINT32_MAX );
	}
	for ( size_t j = 0; j < n; ++j )
		start[j + 1] += start[j];
	double operations = INFINITY;
	lmbStatus status = lmb_statusOk;
	if ( ordering != lmb_orderingMetis )
		status = TryOrder( plan, graph, CHOLMOD_AMD, &operations, order, error );
	if ( status == lmb_statusOk && ordering != lmb_orderingAmd )
		status = TryOrder( plan, graph, CHOLMOD_METIS, &operations, order, error );
	cholmod_free_sparse( &graph, &plan->common );
	return status;
}

static lmbStatus Number( lmbSolverPlan *plan, lmbOrdering ordering, lmbError *error )
{
	const lmbTissue *tissue = plan->tissue;
	int32_t *order = LMB_NEW( &plan->arena, int32_t, plan->freeCount );
	int32_t *firstCome = LMB_NEW( &plan->arena, int32_t, plan->nodeCount );
	int32_t *nodeOf = LMB_NEW( &plan->arena, int32_t, plan->nodeCount );
	plan->inner = LMB_NEW( &plan->arena, int32_t, plan->nodeCount );
	plan->outer = LMB_NEW( &plan->arena, int32_t, plan->nodeCount );
	if ( order == NULL || firstCome == NULL || nodeOf == NULL || plan->inner == NULL || plan->outer == NULL )
		return lmbError_Memory( error );
	int nextFree = 0, nextHeld = plan->freeCount;
	for ( int node = 0; node < plan->nodeCount; ++node )
	{
		firstCome[node] = tissue->held[node] ? nextHeld++ : nextFree++;
		nodeOf[firstCome[node]] = node;
	}
	size_t count = 0;
	uint64_t *pairs = CollectPairs( tissue, firstCome, plan->freeCount, &count );
	if ( pairs == NULL )
		return lmbError_Memory( error );
	count = SortPairs( pairs, count );
	lmbStatus status = FindOrder( plan, pairs, count, ordering, order, error );
	free( pairs );
	for ( int k = 0; status == lmb_statusOk && k < plan->nodeCount; ++k )
	{
		plan->outer[k] = nodeOf[k < plan->freeCount ? order[k] : k];
		plan->inner[plan->outer[k]] = k;
	}
	return status;
}

/* Columns of blocks, and the same in CHOLMOD's terms. */
static lmbStatus MakePattern( lmbSolverPlan *plan, lmbError *error )
{
	size_t count = 0, n = (size_t)plan->freeCount;
	uint64_t *pairs = CollectPairs( plan->tissue, plan->inner, plan->freeCount, &count );
	if ( pairs == NULL )
		return lmbError_Memory( error );
	count = SortPairs( pairs, count );
	lmbStatus status = count > INT32_MAX / 9 ? lmbError_Set( error, lmb_statusUnsupported,
	                                                         "the lattice is too fine: choose a larger cell" )
	                                         : lmb_statusOk;
	plan->columnStart = LMB_NEW( &plan->arena, int32_t, n + 1 );
	plan->blockRow = LMB_NEW( &plan->arena, int32_t, count );
	plan->sparseStart = LMB_NEW( &plan->arena, int, 3 * n + 1 );
	plan->sparseRow = LMB_NEW( &plan->arena, int, 9 * count );
	if ( status == lmb_statusOk && ( plan->columnStart == NULL || plan->blockRow == NULL ||
	                                 plan->sparseStart == NULL || plan->sparseRow == NULL ) )
		status = lmbError_Memory( error );
	for ( size_t k = 0; status == lmb_statusOk && k < count; ++k )
	{
		plan->columnStart[( pairs[k] >> 32 ) + 1] += 1;
		plan->blockRow[k] = (int32_t)( pairs[k] & UINT32_MAX );
	}
	free( pairs );
	LMB_TRY( status );
	for ( size_t j = 0; j < n; ++j )
	{
		plan->columnStart[j + 1] += plan->columnStart[j];
		int32_t first = plan->columnStart[j], length = plan->columnStart[j + 1] - first;
		for ( int c = 0; c < 3; ++c )
		{
			int *row = plan->sparseRow + 9 * (size_t)first + (size_t)c * 3 * length;
			plan->sparseStart[3 * j + c] = 9 * first + c * 3 * length;
			for ( int32_t k = 0; k < 3 * length; ++k )
				row[k] = 3 * plan->blockRow[first + k / 3] + k % 3;
		}
	}
	plan->sparseStart[3 * n] = (int)( 9 * count );
	plan->info.matrixNonzeros = 9.0 * (double)count - 3.0 * (double)n;
	return lmb_statusOk;
}

static int32_t FindSlot( const lmbSolverPlan *plan, int32_t column, int32_t row )
{
	if ( row >= plan->freeCount )
		return -1;
	int32_t first = plan->columnStart[column], low = first, high = plan->columnStart[column + 1] - 1;
	while ( low < high )
	{
		int32_t middle = ( low + high ) / 2;
		if ( plan->blockRow[middle] < row )
			low = middle + 1;
		else
			high = middle;
	}
	return 9 * first + 3 * ( low - first );
}

typedef struct SortedTet
{
	int32_t corners[4]; /* inner, ascending */
	int32_t tet;
} SortedTet;

static int CompareTets( const void *a, const void *b )
{
	const SortedTet *x = a, *y = b;
	for ( int i = 0; i < 4; ++i )
		if ( x->corners[i] != y->corners[i] )
			return x->corners[i] < y->corners[i] ? -1 : 1;
	return x->tet - y->tet;
}

static lmbStatus FillLane( lmbSolverPlan *plan, const SortedTet *sorted, lmbBatch *batch, int lane,
                           lmbError *error )
{
	const lmbTissue *tissue = plan->tissue;
	const int32_t *tet = tissue->tets + 4 * (size_t)sorted->tet;
	lmbElement element;
	double corners[12];
	for ( int i = 0; i < 4; ++i )
		memcpy( corners + 3 * i, tissue->nodes + 3 * (size_t)tet[i], 3 * sizeof( double ) );
	if ( !lmbElement_Make( corners, &element ) || !isfinite( element.volume ) )
		return lmbError_Set( error, lmb_statusCorrupt, "tissue: tetrahedron %d has no positive volume",
		                     sorted->tet );
	lmbElastic elastic = lmbElastic_Make( tissue->young[sorted->tet], tissue->poisson[sorted->tet] );
	batch->scale[lane] = tissue->fill[sorted->tet] * element.volume;
	batch->mu[lane] = elastic.mu;
	batch->lambda[lane] = elastic.lambda;
	batch->alpha[lane] = elastic.alpha;
	for ( int i = 0; i < 4; ++i )
	{
		int place = 0;
		while ( sorted->corners[place] != plan->inner[tet[i]] )
			place += 1;
		batch->corners[place][lane] = sorted->corners[place];
		for ( int axis = 0; place > 0 && axis < 3; ++axis )
			batch->gradients[3 * ( place - 1 ) + axis][lane] = element.gradients[3 * i + axis];
	}
	for ( int k = 0; k < lmbBlocks; ++k )
		batch->slots[k][lane] =
		    FindSlot( plan, sorted->corners[lmbBlockColumn[k]], sorted->corners[lmbBlockRow[k]] );
	return lmb_statusOk;
}

static lmbStatus MakeBatches( lmbSolverPlan *plan, lmbError *error )
{
	const lmbTissue *tissue = plan->tissue;
	SortedTet *sorted = malloc( (size_t)tissue->tetCount * sizeof( *sorted ) + 1 );
	plan->batches = LMB_NEW( &plan->arena, lmbBatch, tissue->tetCount / lmbLanes + 1 );
	if ( sorted == NULL || plan->batches == NULL )
	{
		free( sorted );
		return lmbError_Memory( error );
	}
	int used = 0;
	for ( int t = 0; t < tissue->tetCount; ++t )
	{
		int32_t c[4];
		for ( int i = 0; i < 4; ++i )
		{
			int32_t node = plan->inner[tissue->tets[4 * (size_t)t + i]];
			int place = i;
			for ( ; place > 0 && c[place - 1] > node; --place )
				c[place] = c[place - 1];
			c[place] = node;
		}
		if ( c[0] >= plan->freeCount )
			continue; /* wholly inside a bone: no force, no energy that matters */
		memcpy( sorted[used].corners, c, sizeof( c ) );
		sorted[used++].tet = t;
	}
	/* Neighbours in the elimination order meet in the same cache lines. */
	qsort( sorted, (size_t)used, sizeof( *sorted ), CompareTets );
	lmbStatus status = lmb_statusOk;
	plan->batchCount = ( used + lmbLanes - 1 ) / lmbLanes;
	for ( int i = 0; status == lmb_statusOk && i < plan->batchCount * lmbLanes; ++i )
	{
		lmbBatch *batch = plan->batches + i / lmbLanes;
		status =
		    FillLane( plan, sorted + ( i < used ? i : i / lmbLanes * lmbLanes ), batch, i % lmbLanes, error );
		if ( i < used )
			batch->count += 1;
		else
			batch->scale[i % lmbLanes] = 0.0;
	}
	free( sorted );
	return status;
}

static void MeasureForceScale( lmbSolverPlan *plan, double *nodeForce )
{
	const lmbTissue *tissue = plan->tissue;
	for ( int t = 0; t < tissue->tetCount; ++t )
	{
		double corners[12];
		lmbElement element;
		for ( int i = 0; i < 4; ++i )
			memcpy( corners + 3 * i, tissue->nodes + 3 * (size_t)tissue->tets[4 * (size_t)t + i],
			        3 * sizeof( double ) );
		lmbElement_Make( corners, &element );
		for ( int i = 0; i < 4; ++i )
			nodeForce[plan->inner[tissue->tets[4 * (size_t)t + i]]] +=
			    tissue->young[t] * tissue->fill[t] * element.volume * lmbLength( element.gradients + 3 * i );
	}
	double sum = 0.0;
	for ( int k = 0; k < plan->freeCount; ++k )
		sum += nodeForce[k] * nodeForce[k];
	plan->info.forceScale = sqrt( sum );
}

static lmbStatus Analyze( lmbSolverPlan *plan, lmbError *error )
{
	cholmod_common *common = &plan->common;
	size_t n = 3 * (size_t)plan->freeCount;
	cholmod_sparse pattern = { .nrow = n,
	                           .ncol = n,
	                           .nzmax = (size_t)plan->sparseStart[n],
	                           .p = plan->sparseStart,
	                           .i = plan->sparseRow,
	                           .stype = -1,
	                           .itype = CHOLMOD_INT,
	                           .xtype = CHOLMOD_PATTERN,
	                           .dtype = CHOLMOD_DOUBLE,
	                           .sorted = true,
	                           .packed = true };
	/* The nodes are in elimination order already; CHOLMOD then factors the matrix where it lies. */
	UseOrdering( common, CHOLMOD_NATURAL, false );
	common->supernodal = CHOLMOD_SUPERNODAL;
	plan->symbolic = cholmod_analyze( &pattern, common );
	if ( plan->symbolic == NULL )
		return CholmodError( plan, error, "the symbolic analysis" );
	plan->info.factorNonzeros = common->lnz;
	plan->info.factorOperations = common->fl;
	return lmb_statusOk;
}

static lmbStatus MakePlan( lmbSolverPlan *plan, lmbOrdering ordering, lmbError *error )
{
	const lmbTissue *tissue = plan->tissue;
	for ( int node = 0; node < plan->nodeCount; ++node )
	{
		plan->freeCount += !tissue->held[node];
		for ( int i = 0; i < 3; ++i )
			plan->centre[i] += tissue->nodes[3 * (size_t)node + i] / plan->nodeCount;
	}
	if ( plan->freeCount == 0 )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "tissue: every node is held by a bone; make the bones thinner" );
	plan->info.freeCount = plan->freeCount;
	LMB_TRY( Number( plan, ordering, error ) );
	LMB_TRY( MakePattern( plan, error ) );
	LMB_TRY( MakeBatches( plan, error ) );
	plan->mass = LMB_NEW( &plan->arena, double, plan->nodeCount );
	double *nodeForce = LMB_NEW( &plan->arena, double, plan->nodeCount );
	if ( plan->mass == NULL || nodeForce == NULL )
		return lmbError_Memory( error );
	for ( int k = 0; k < plan->nodeCount; ++k )
		plan->mass[k] = tissue->mass[plan->outer[k]];
	MeasureForceScale( plan, nodeForce );
	return Analyze( plan, error );
}

lmbStatus lmbSolverPlan_Make( const lmbTissue *tissue, lmbOrdering ordering, lmbSolverPlan **out,
                              lmbError *error )
{
	*out = NULL;
	lmbSolverPlan *plan = calloc( 1, sizeof( *plan ) );
	if ( plan == NULL )
		return lmbError_Memory( error );
	plan->tissue = tissue;
	plan->nodeCount = tissue->nodeCount;
	cholmod_start( &plan->common );
	plan->common.print = 0;
	lmbStatus status = MakePlan( plan, ordering, error );
	if ( status != lmb_statusOk )
	{
		lmbSolverPlan_Free( plan );
		return status;
	}
	*out = plan;
	return lmb_statusOk;
}

void lmbSolverPlan_Free( lmbSolverPlan *plan )
{
	if ( plan == NULL )
		return;
	cholmod_free_factor( &plan->symbolic, &plan->common );
	cholmod_finish( &plan->common );
	lmbArena_Free( &plan->arena );
	free( plan );
}

lmbSolverPlanInfo lmbSolverPlan_Info( const lmbSolverPlan *plan )
{
	return plan->info;
}
