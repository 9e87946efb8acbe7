#include "flesh/lattice.h"

#include "base/math3.h"

#include <stdlib.h>

enum
{
	mostLabels = 254,
	/* A connected part of the inside smaller than this many of a cell's 512 samples is left out: 0.6 % of
	 * the cell's volume, which is noise of sampling at a crease. */
	fewestSamples = 3
};

/* Corners 4 x + 2 y + z of the five tetrahedra of an even cell, each of positive volume: four at corners,
 * then the one in the middle. Odd cells are mirrored along x. */
static const int evenTets[lmbCellTets][4] = {
    { 0, 4, 2, 1 }, { 6, 2, 4, 7 }, { 5, 4, 1, 7 }, { 3, 1, 2, 7 }, { 4, 2, 1, 7 } };

static void CellTets( bool odd, int tets[lmbCellTets][4] )
{
	for ( int t = 0; t < lmbCellTets; ++t )
		for ( int c = 0; c < 4; ++c )
			/* Mirroring turns the volume's sign; exchanging two corners turns it back. */
			tets[t][c] = odd ? evenTets[t][c < 2 ? 1 - c : c] ^ 4 : evenTets[t][c];
}

/* Labels the connected parts of the inside within one cell; returns how many. */
static int LabelCell( const int16_t *winding, const uint8_t *gaps, uint8_t *labels )
{
	static const int steps[3] = { lmbCellSide * lmbCellSide, lmbCellSide, 1 };
	int16_t stack[lmbCellSamples];
	int count = 0;
	memset( labels, lmbNoCopy, lmbCellSamples );
	bool seen[lmbCellSamples] = { false };
	for ( int seed = 0; seed < lmbCellSamples && count < mostLabels; ++seed )
	{
		if ( seen[seed] || !lmbWinding_Inside( winding[seed] ) )
			continue;
		int head = 0, tail = 0;
		stack[tail++] = (int16_t)seed;
		seen[seed] = true;
		for ( ; head < tail; ++head )
			for ( int a = 0; a < 3; ++a )
			{
				int from = stack[head], place = from / steps[a] % lmbCellSide;
				int up = from + steps[a], down = from - steps[a];
				if ( place + 1 < lmbCellSide && !seen[up] && !( gaps[from] >> a & 1 ) &&
				     lmbWinding_Inside( winding[up] ) )
				{
					seen[up] = true;
					stack[tail++] = (int16_t)up;
				}
				if ( place > 0 && !seen[down] && !( gaps[down] >> a & 1 ) &&
				     lmbWinding_Inside( winding[down] ) )
				{
					seen[down] = true;
					stack[tail++] = (int16_t)down;
				}
			}
		if ( tail < fewestSamples )
			continue;
		for ( int i = 0; i < tail; ++i )
			labels[stack[i]] = (uint8_t)count;
		count += 1;
	}
	return count;
}

static lmbStatus LabelCells( lmbLattice *lattice, lmbError *error )
{
	const lmbSamples *samples = &lattice->samples;
	int cellCount = samples->grid.cellCount;
	lattice->first = LMB_NEW( &lattice->arena, int32_t, (size_t)cellCount + 1 );
	lattice->labels = LMB_NEW( &lattice->arena, uint8_t, (size_t)samples->blockCount * lmbCellSamples );
	if ( lattice->first == NULL || lattice->labels == NULL )
		return lmbError_Memory( error );
	for ( int c = 0; c < cellCount; ++c )
	{
		lattice->first[c] = lattice->copyCount;
		size_t offset = (size_t)samples->blocks[c] * lmbCellSamples;
		int copies = samples->blocks[c] < 0 ? samples->whole[c]
		                                    : LabelCell( samples->winding + offset, samples->gaps + offset,
		                                                 lattice->labels + offset );
		lattice->copyCount += copies;
	}
	lattice->first[cellCount] = lattice->copyCount;
	lattice->cells = LMB_NEW( &lattice->arena, lmbLatticeCell, lattice->copyCount );
	if ( lattice->cells == NULL )
		return lmbError_Memory( error );
	for ( int c = 0; c < cellCount; ++c )
		for ( int i = lattice->first[c]; i < lattice->first[c + 1]; ++i )
			lattice->cells[i].cell = c;
	return lmb_statusOk;
}

/* The copy that a sample of a cell belongs to, or -1. */
static int CopyAt( const lmbLattice *lattice, int cell, int sample )
{
	if ( lattice->first[cell] == lattice->first[cell + 1] )
		return -1;
	int block = lattice->samples.blocks[cell];
	int label = block < 0 ? 0 : lattice->labels[(size_t)block * lmbCellSamples + sample];
	return label == lmbNoCopy ? -1 : lattice->first[cell] + label;
}

static int32_t Root( int32_t *parents, int32_t i )
{
	while ( parents[i] != i )
		i = parents[i] = parents[parents[i]];
	return i;
}

static void Unite( int32_t *parents, int32_t a, int32_t b )
{
	a = Root( parents, a );
	b = Root( parents, b );
	parents[a > b ? a : b] = a > b ? b : a;
}

/* Joins the corners of two copies that share the face between them along an axis. */
static void GlueFace( int32_t *corners, int lower, int upper, int axis )
{
	int bit = 4 >> axis;
	for ( int c = 0; c < 8; ++c )
		if ( !( c & bit ) )
			Unite( corners, 8 * upper + c, 8 * lower + ( c | bit ) );
}

static void GlueCells( const lmbLattice *lattice, int cell, int neighbour, int axis, int32_t *corners )
{
	static const int steps[3] = { lmbCellSide * lmbCellSide, lmbCellSide, 1 };
	int block = lattice->samples.blocks[cell];
	int lastLower = -1, lastUpper = -1;
	for ( int i = 0; i < lmbCellSide; ++i )
		for ( int j = 0; j < lmbCellSide; ++j )
		{
			int from = i * steps[( axis + 1 ) % 3] + j * steps[( axis + 2 ) % 3];
			int last = from + ( lmbCellSide - 1 ) * steps[axis];
			int lower = CopyAt( lattice, cell, last ), upper = CopyAt( lattice, neighbour, from );
			bool gap =
			    block >= 0 && ( lattice->samples.gaps[(size_t)block * lmbCellSamples + last] >> axis & 1 );
			if ( lower < 0 || upper < 0 || gap || ( lower == lastLower && upper == lastUpper ) )
				continue;
			GlueFace( corners, lower, upper, axis );
			lastLower = lower;
			lastUpper = upper;
		}
}

static void GlueAll( const lmbLattice *lattice, int32_t *corners )
{
	const lmbGrid *grid = &lattice->samples.grid;
	for ( int i = 0; i < 8 * lattice->copyCount; ++i )
		corners[i] = i;
	for ( int x = 0; x < grid->dims[0]; ++x )
		for ( int y = 0; y < grid->dims[1]; ++y )
			for ( int z = 0; z < grid->dims[2]; ++z )
			{
				int cell = lmbGrid_Cell( grid, x, y, z );
				if ( lattice->first[cell] == lattice->first[cell + 1] )
					continue;
				if ( x + 1 < grid->dims[0] )
					GlueCells( lattice, cell, lmbGrid_Cell( grid, x + 1, y, z ), 0, corners );
				if ( y + 1 < grid->dims[1] )
					GlueCells( lattice, cell, lmbGrid_Cell( grid, x, y + 1, z ), 1, corners );
				if ( z + 1 < grid->dims[2] )
					GlueCells( lattice, cell, lmbGrid_Cell( grid, x, y, z + 1 ), 2, corners );
			}
}

static void GridIndex( const lmbGrid *grid, int cell, int *index )
{
	index[2] = cell % grid->dims[2];
	index[1] = cell / grid->dims[2] % grid->dims[1];
	index[0] = cell / grid->dims[2] / grid->dims[1];
}

/* Nodes in the order in which cells first name them. */
static lmbStatus NumberNodes( lmbLattice *lattice, lmbError *error )
{
	const lmbGrid *grid = &lattice->samples.grid;
	size_t count = 8 * (size_t)lattice->copyCount;
	lmbArena scratch = { 0 };
	int32_t *corners = LMB_NEW( &scratch, int32_t, count );
	int32_t *numbers = LMB_NEW( &scratch, int32_t, count );
	lattice->nodes = LMB_NEW( &lattice->arena, double, 3 * count );
	if ( corners == NULL || numbers == NULL || lattice->nodes == NULL )
	{
		lmbArena_Free( &scratch );
		return lmbError_Memory( error );
	}
	GlueAll( lattice, corners );
	memset( numbers, 0xff, count * sizeof( *numbers ) );
	for ( size_t i = 0; i < count; ++i )
	{
		int32_t root = Root( corners, (int32_t)i );
		lmbLatticeCell *cell = lattice->cells + i / 8;
		if ( numbers[root] < 0 )
		{
			int index[3], corner = (int)( i % 8 );
			GridIndex( grid, cell->cell, index );
			numbers[root] = lattice->nodeCount++;
			for ( int a = 0; a < 3; ++a )
				lattice->nodes[3 * (size_t)numbers[root] + a] =
				    grid->origin[a] + ( index[a] + ( corner >> ( 2 - a ) & 1 ) ) * grid->cell;
		}
		cell->nodes[i % 8] = numbers[root];
	}
	lmbArena_Free( &scratch );
	return lmb_statusOk;
}

/* Share of a sample's little cube that lies in the tetrahedron at corner 0 of a cell, x + y + z < 1, when
 * its own corner is at (x, y, z) samples: the cube is cut by a plane through its corners or not at all. */
static double CornerShare( int x, int y, int z )
{
	switch ( lmbCellSide - ( x + y + z ) )
	{
	case 1:
		return 1.0 / 6.0;
	case 2:
		return 5.0 / 6.0;
	default:
		return x + y + z < lmbCellSide ? 1.0 : 0.0;
	}
}

/* shares (5 x 512): how much of each sample's cube each tetrahedron of a cell has. */
static void SampleShares( bool odd, double shares[lmbCellTets][lmbCellSamples] )
{
	static const int evenCorners[4] = { 0, 6, 5, 3 };
	for ( int x = 0; x < lmbCellSide; ++x )
		for ( int y = 0; y < lmbCellSide; ++y )
			for ( int z = 0; z < lmbCellSide; ++z )
			{
				double rest = 1.0;
				int sample = lmbCell_Sample( x, y, z ), last = lmbCellSide - 1;
				for ( int t = 0; t < 4; ++t )
				{
					int corner = odd ? evenCorners[t] ^ 4 : evenCorners[t];
					shares[t][sample] = CornerShare( corner & 4 ? last - x : x, corner & 2 ? last - y : y,
					                                 corner & 1 ? last - z : z );
					rest -= shares[t][sample];
				}
				shares[4][sample] = fmax( rest, 0.0 );
			}
}

/* Which of the cell's earlier copies has the same tetrahedron, or -1. */
static int SameTet( const lmbLattice *lattice, int copy, int t, const int32_t *nodes )
{
	for ( int other = lattice->first[lattice->cells[copy].cell]; other < copy; ++other )
	{
		int tet = lattice->cells[other].tets[t];
		if ( memcmp( lattice->tets + 4 * (size_t)tet, nodes, 4 * sizeof( *nodes ) ) == 0 )
			return tet;
	}
	return -1;
}

static void CutCopy( lmbLattice *lattice, int copy, double shares[lmbCellTets][lmbCellSamples] )
{
	const lmbGrid *grid = &lattice->samples.grid;
	lmbLatticeCell *cell = lattice->cells + copy;
	int index[3], corners[lmbCellTets][4], block = lattice->samples.blocks[cell->cell];
	GridIndex( grid, cell->cell, index );
	CellTets( ( index[0] + index[1] + index[2] ) % 2 != 0, corners );
	const uint8_t *labels = block < 0 ? NULL : lattice->labels + (size_t)block * lmbCellSamples;
	int label = copy - lattice->first[cell->cell];
	for ( int t = 0; t < lmbCellTets; ++t )
	{
		double inside = 0.0, cubes = lmbCellSamples / ( t == 4 ? 3.0 : 6.0 );
		for ( int s = 0; s < lmbCellSamples; ++s )
			inside += labels == NULL || labels[s] == label ? shares[t][s] : 0.0;
		int32_t nodes[4];
		for ( int c = 0; c < 4; ++c )
			nodes[c] = cell->nodes[corners[t][c]];
		int tet = SameTet( lattice, copy, t, nodes );
		if ( tet < 0 )
		{
			tet = lattice->tetCount++;
			memcpy( lattice->tets + 4 * (size_t)tet, nodes, sizeof( nodes ) );
		}
		cell->tets[t] = tet;
		lattice->fill[tet] = fmin( lattice->fill[tet] + inside / cubes, 1.0 );
		lattice->volume += inside * pow( grid->cell / lmbCellSide, 3.0 );
	}
}

static lmbStatus CutCells( lmbLattice *lattice, lmbError *error )
{
	const lmbGrid *grid = &lattice->samples.grid;
	size_t most = (size_t)lmbCellTets * (size_t)lattice->copyCount;
	lattice->tets = LMB_NEW( &lattice->arena, int32_t, 4 * most );
	lattice->fill = LMB_NEW( &lattice->arena, double, most );
	double( *shares )[lmbCellTets][lmbCellSamples] = calloc( 2, sizeof( *shares ) );
	if ( lattice->tets == NULL || lattice->fill == NULL || shares == NULL )
	{
		free( shares );
		return lmbError_Memory( error );
	}
	SampleShares( false, shares[0] );
	SampleShares( true, shares[1] );
	for ( int i = 0; i < lattice->copyCount; ++i )
	{
		int index[3];
		GridIndex( grid, lattice->cells[i].cell, index );
		CutCopy( lattice, i, shares[( index[0] + index[1] + index[2] ) % 2] );
		lattice->splitCount += i > 0 && lattice->cells[i - 1].cell == lattice->cells[i].cell &&
		                       ( i == 1 || lattice->cells[i - 2].cell != lattice->cells[i].cell );
	}
	free( shares );
	return lmb_statusOk;
}

lmbStatus lmbLattice_Make( const lmbSurface *surface, double cell, const lmbJob *job, lmbLattice **out,
                           lmbError *error )
{
	*out = NULL;
	lmbGrid grid;
	LMB_TRY( lmbGrid_Make( surface, cell, &grid, error ) );
	lmbLattice *lattice = calloc( 1, sizeof( *lattice ) );
	if ( lattice == NULL )
		return lmbError_Memory( error );
	lmbStatus status = lmbSamples_Make( surface, &grid, job, &lattice->samples, error );
	if ( status == lmb_statusOk )
		status = LabelCells( lattice, error );
	if ( status == lmb_statusOk )
		status = NumberNodes( lattice, error );
	if ( status == lmb_statusOk )
		status = CutCells( lattice, error );
	if ( status != lmb_statusOk )
	{
		lmbLattice_Free( lattice );
		return status;
	}
	*out = lattice;
	return lmb_statusOk;
}

void lmbLattice_Free( lmbLattice *lattice )
{
	if ( lattice == NULL )
		return;
	lmbSamples_Free( &lattice->samples );
	lmbArena_Free( &lattice->arena );
	free( lattice );
}

/* Barycentric coordinates by volumes of the tetrahedron with one corner exchanged for the point. */
static void Barycentric( const lmbLattice *lattice, int tet, const double *point, double *weights )
{
	const int32_t *nodes = lattice->tets + 4 * (size_t)tet;
	double edges[9], inverse[9], arm[3];
	const double *base = lattice->nodes + 3 * (size_t)nodes[0];
	for ( int c = 0; c < 3; ++c )
		for ( int a = 0; a < 3; ++a )
			edges[3 * a + c] = lattice->nodes[3 * (size_t)nodes[c + 1] + a] - base[a];
	lmbMat33_Inverse( inverse, edges );
	lmbSub( arm, point, base );
	lmbMat33_Apply( weights + 1, inverse, arm );
	weights[0] = 1.0 - weights[1] - weights[2] - weights[3];
}

/* The tetrahedron of a copy that the point is in, or least outside of. */
static void PlaceInCopy( const lmbLattice *lattice, int copy, const double *point, lmbPlace *place )
{
	double best = -INFINITY;
	for ( int t = 0; t < lmbCellTets; ++t )
	{
		double weights[4];
		int tet = lattice->cells[copy].tets[t];
		if ( tet < 0 )
			continue;
		Barycentric( lattice, tet, point, weights );
		double least = fmin( fmin( weights[0], weights[1] ), fmin( weights[2], weights[3] ) );
		if ( least <= best )
			continue;
		best = least;
		place->tet = tet;
		memcpy( place->weights, weights, sizeof( weights ) );
	}
}

/* The copy at a sample numbered over the whole grid, or -1. */
static int CopyAtSample( const lmbLattice *lattice, const int *sample )
{
	const lmbGrid *grid = &lattice->samples.grid;
	for ( int a = 0; a < 3; ++a )
		if ( sample[a] < 0 || sample[a] >= grid->dims[a] * lmbCellSide )
			return -1;
	int cell =
	    lmbGrid_Cell( grid, sample[0] / lmbCellSide, sample[1] / lmbCellSide, sample[2] / lmbCellSide );
	return CopyAt(
	    lattice, cell,
	    lmbCell_Sample( sample[0] % lmbCellSide, sample[1] % lmbCellSide, sample[2] % lmbCellSide ) );
}

static void NearestSample( const lmbGrid *grid, const double *point, int *sample )
{
	for ( int a = 0; a < 3; ++a )
	{
		double place = floor( ( point[a] - grid->origin[a] ) * ( lmbCellSide / grid->cell ) );
		sample[a] = (int)fmin( fmax( place, -1e6 ), 1e9 );
	}
}

bool lmbLattice_Inside( const lmbLattice *lattice, const double *point )
{
	int sample[3];
	NearestSample( &lattice->samples.grid, point, sample );
	return CopyAtSample( lattice, sample ) >= 0;
}

typedef struct Search
{
	int copy, otherCopy; /* on the inner side of the skin, and on any side */
	double distance, otherDistance;
} Search;

static void LookAt( const lmbLattice *lattice, const int *sample, const double *point, const double *normal,
                    Search *search )
{
	int copy = CopyAtSample( lattice, sample );
	if ( copy < 0 )
		return;
	const lmbGrid *grid = &lattice->samples.grid;
	double arm[3];
	for ( int a = 0; a < 3; ++a )
		arm[a] = grid->origin[a] + ( sample[a] + 0.5 ) * ( grid->cell / lmbCellSide ) - point[a];
	double distance = lmbLength( arm );
	if ( distance < search->otherDistance )
	{
		search->otherDistance = distance;
		search->otherCopy = copy;
	}
	if ( distance < search->distance && lmbDot( arm, normal ) <= 0.0 )
	{
		search->distance = distance;
		search->copy = copy;
	}
}

lmbPlace lmbLattice_Locate( const lmbLattice *lattice, const double *point, const double *normal )
{
	const lmbGrid *grid = &lattice->samples.grid;
	double spacing = grid->cell / lmbCellSide;
	int centre[3];
	NearestSample( grid, point, centre );
	Search search = { -1, -1, INFINITY, INFINITY };
	/* Shells of samples around the point, until none farther out can be nearer. */
	for ( int r = 0; r <= lmbCellSide && search.distance > ( r - 0.5 ) * spacing; ++r )
		for ( int x = -r; x <= r; ++x )
			for ( int y = -r; y <= r; ++y )
			{
				bool rim = abs( x ) == r || abs( y ) == r;
				for ( int z = -r; z <= r; z += rim || r == 0 ? 1 : 2 * r )
					LookAt( lattice, ( const int[3] ){ centre[0] + x, centre[1] + y, centre[2] + z }, point,
					        normal, &search );
			}
	lmbPlace place = { .tet = -1, .distance = INFINITY };
	int copy = search.copy >= 0 ? search.copy : search.otherCopy;
	if ( copy < 0 )
		return place;
	PlaceInCopy( lattice, copy, point, &place );
	place.distance = search.copy >= 0 ? search.distance : search.otherDistance;
	return place;
}
