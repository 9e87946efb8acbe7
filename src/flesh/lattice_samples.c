#include "flesh/lattice_samples.h"

#include "base/math3.h"
#include "flesh/lattice_open.h"

static const int cellLimit = 1 << 23; /* at most 1 GB of rows */
static const int blockLimit = 400000; /* about 600 MB of samples */

/* The plane of a mirrored body, where there is one: bodies stand about 0 or about their own middle. */
static double GridCentre( const lmbSurface *surface, int axis )
{
	double middle = 0.5 * ( surface->low[axis] + surface->high[axis] );
	double size = surface->high[axis] - surface->low[axis];
	return fabs( middle ) < 0.02 * size ? 0.0 : middle;
}

lmbStatus lmbGrid_Make( const lmbSurface *surface, double cell, lmbGrid *grid, lmbError *error )
{
	double cells = 1.0, size = 0.0;
	grid->cell = cell;
	for ( int a = 0; a < 3; ++a )
	{
		double centre = GridCentre( surface, a );
		double half = fmax( surface->high[a] - centre, centre - surface->low[a] );
		double count = 2.0 * ( floor( half / cell ) + 2.0 );
		grid->origin[a] = centre - 0.5 * count * cell;
		grid->dims[a] = count < cellLimit ? (int)count : 0;
		cells *= count;
		size = fmax( size, 2.0 * half );
	}
	if ( !( cells < cellLimit ) )
		return lmbError_Set(
		    error, lmb_statusInvalidArgument,
		    "a cell of %g m cuts the skin's box, %g m long, into %.3g cells, more than %d; use "
		    "a larger cell",
		    cell, size, cells, cellLimit );
	grid->cellCount = (int)cells;
	return lmb_statusOk;
}

/* Cells that a box of space touches, widened so that a crossing between the last sample of one cell and
 * the first of the next marks both. */
static void CellRange( const lmbGrid *grid, const double *low, const double *high, double margin, int *from,
                       int *to )
{
	for ( int a = 0; a < 3; ++a )
	{
		double first = floor( ( low[a] - margin - grid->origin[a] ) / grid->cell );
		double last = floor( ( high[a] + margin - grid->origin[a] ) / grid->cell );
		from[a] = (int)fmin( fmax( first, 0.0 ), grid->dims[a] - 1 );
		to[a] = (int)fmin( fmax( last, 0.0 ), grid->dims[a] - 1 );
	}
}

enum
{
	cellTouched = 1, /* the skin may cross it */
	cellBorder = 2   /* a border of the skin is near: winding numbers vary quickly */
};

static void MarkTriangle( const lmbSurface *surface, const lmbGrid *grid, int triangle, uint8_t *marks )
{
	const double *corners[3];
	double low[3], high[3], ab[3], ac[3], normal[3];
	for ( int c = 0; c < 3; ++c )
		corners[c] = surface->points + 3 * (size_t)surface->triangles[3 * (size_t)triangle + c];
	for ( int a = 0; a < 3; ++a )
	{
		low[a] = fmin( fmin( corners[0][a], corners[1][a] ), corners[2][a] );
		high[a] = fmax( fmax( corners[0][a], corners[1][a] ), corners[2][a] );
	}
	lmbSub( ab, corners[1], corners[0] );
	lmbSub( ac, corners[2], corners[0] );
	lmbCross( normal, ab, ac );
	double margin = grid->cell / lmbCellSide;
	/* A large triangle's box holds many cells that its plane does not pass. */
	double reach =
	    ( 0.5 * grid->cell + margin ) * ( fabs( normal[0] ) + fabs( normal[1] ) + fabs( normal[2] ) );
	int from[3], to[3];
	CellRange( grid, low, high, margin, from, to );
	for ( int x = from[0]; x <= to[0]; ++x )
		for ( int y = from[1]; y <= to[1]; ++y )
			for ( int z = from[2]; z <= to[2]; ++z )
			{
				double arm[3] = { grid->origin[0] + ( x + 0.5 ) * grid->cell - corners[0][0],
				                  grid->origin[1] + ( y + 0.5 ) * grid->cell - corners[0][1],
				                  grid->origin[2] + ( z + 0.5 ) * grid->cell - corners[0][2] };
				if ( fabs( lmbDot( normal, arm ) ) <= reach )
					marks[lmbGrid_Cell( grid, x, y, z )] |= cellTouched;
			}
}

/* Cells within three quarters of a cell of a border edge, followed in steps of half a cell. */
static void MarkBorder( const lmbSurface *surface, const lmbGrid *grid, int border, uint8_t *marks )
{
	const double *a = surface->points + 3 * (size_t)surface->borders[2 * (size_t)border];
	const double *b = surface->points + 3 * (size_t)surface->borders[2 * (size_t)border + 1];
	double edge[3];
	lmbSub( edge, b, a );
	int steps = 1 + (int)( 2.0 * lmbLength( edge ) / grid->cell );
	for ( int s = 0; s <= steps; ++s )
	{
		double point[3];
		lmbAddScaled( point, a, (double)s / steps, edge );
		int from[3], to[3];
		CellRange( grid, point, point, 0.75 * grid->cell, from, to );
		for ( int x = from[0]; x <= to[0]; ++x )
			for ( int y = from[1]; y <= to[1]; ++y )
				for ( int z = from[2]; z <= to[2]; ++z )
					marks[lmbGrid_Cell( grid, x, y, z )] |= cellTouched | cellBorder;
	}
}

typedef struct Scan
{
	const lmbSurface *surface;
	const lmbJob *job;
	lmbSamples *samples;
	uint8_t *marks;
	lmbOpenCell *open; /* (blockCount); NULL when every part is balanced */
	lmbRows rows[3];
} Scan;

static int16_t Winding256( double winding )
{
	return (int16_t)lrint( fmin( fmax( 256.0 * winding, -32000.0 ), 32000.0 ) );
}

/* Open parts add what the cell knows about them, or every sample asks the tree (open cell near a border). */
static void FillOpen( const Scan *scan, int block, const int *first, const int *whole, const int *open,
                      int16_t *out )
{
	double row[lmbCellSide];
	lmbOpenCell_Row( scan->open + block, first[0] % lmbCellSide, first[1] % lmbCellSide, open, row );
	for ( int s = 0; s < lmbCellSide; ++s )
	{
		if ( scan->open[block].border )
		{
			double point[3];
			lmbGrid_SamplePoint( &scan->samples->grid, ( const int[3] ){ first[0], first[1], first[2] + s },
			                     point );
			row[s] = lmbTriangleTree_Winding( scan->surface->open, point, lmbWindingReach );
		}
		out[s] = Winding256( whole[s] + row[s] );
	}
}

/* A row whose crossings do not add up to zero met a rounding error at a corner; ask the tree instead. */
static void FillDamaged( const Scan *scan, int x, int y )
{
	lmbSamples *samples = scan->samples;
	for ( int z = 0; z < samples->grid.dims[2]; ++z )
	{
		int block = samples->blocks[lmbGrid_Cell( &samples->grid, x / lmbCellSide, y / lmbCellSide, z )];
		for ( int s = 0; block >= 0 && s < lmbCellSide; ++s )
		{
			double point[3];
			lmbGrid_SamplePoint( &samples->grid, ( const int[3] ){ x, y, z * lmbCellSide + s }, point );
			samples->winding[(size_t)block * lmbCellSamples +
			                 lmbCell_Sample( x % lmbCellSide, y % lmbCellSide, s )] =
			    Winding256( lmbTriangleTree_Winding( scan->surface->tree, point, lmbWindingReach ) );
		}
	}
}

/* One row along z through all its cells. */
static void FillRow( const Scan *scan, int x, int y )
{
	lmbSamples *samples = scan->samples;
	const lmbGrid *grid = &samples->grid;
	const lmbRows *rows = scan->rows + 2;
	size_t row = (size_t)x * (size_t)rows->counts[1] + (size_t)y;
	const lmbCrossing *next = rows->crossings + rows->first[row];
	const lmbCrossing *end = rows->crossings + rows->first[row + 1];
	bool middle = x % lmbCellSide == lmbCellMiddle && y % lmbCellSide == lmbCellMiddle;
	int closedCount = 0, openCount = 0;
	for ( int z = 0; z < grid->dims[2]; ++z )
	{
		int cell = lmbGrid_Cell( grid, x / lmbCellSide, y / lmbCellSide, z );
		int block = samples->blocks[cell], whole[lmbCellSide], open[lmbCellSide];
		for ( int s = 0; s < lmbCellSide; ++s )
		{
			for ( ; next < end && next->place <= z * lmbCellSide + s; ++next )
				*( next->open ? &openCount : &closedCount ) += next->jump;
			whole[s] = closedCount;
			open[s] = openCount;
		}
		if ( block < 0 )
		{
			/* The whole cell's open share was put here by FindUncertain. */
			if ( middle )
				samples->whole[cell] = lmbWinding_Inside( 256 * closedCount + 256 * samples->whole[cell] );
			continue;
		}
		int16_t *out = samples->winding + (size_t)block * lmbCellSamples +
		               lmbCell_Sample( x % lmbCellSide, y % lmbCellSide, 0 );
		int first[3] = { x, y, z * lmbCellSide };
		if ( scan->open != NULL )
			FillOpen( scan, block, first, whole, open, out );
		else
			for ( int s = 0; s < lmbCellSide; ++s )
				out[s] = Winding256( whole[s] );
	}
	for ( ; next < end; ++next )
		closedCount += next->open ? 0 : next->jump;
	if ( closedCount != 0 )
		FillDamaged( scan, x, y );
}

static lmbStatus FillSlice( void *context, int x, int worker, lmbError *error )
{
	Scan *scan = context;
	(void)worker;
	(void)error;
	for ( int y = 0; y < scan->rows[2].counts[1]; ++y )
		FillRow( scan, x, y );
	return lmb_statusOk;
}

/* Cells that no triangle touches are whole or empty, unless the open parts leave them undecided. */
static lmbStatus FindUncertain( void *context, int x, int worker, lmbError *error )
{
	Scan *scan = context;
	const lmbGrid *grid = &scan->samples->grid;
	(void)worker;
	(void)error;
	for ( int y = 0; y < grid->dims[1]; ++y )
		for ( int z = 0; z < grid->dims[2]; ++z )
		{
			int cell = lmbGrid_Cell( grid, x, y, z );
			if ( scan->marks[cell] != 0 )
				continue;
			double winding = lmbOpenCell_Middle( scan->surface, grid, x, y, z );
			if ( fabs( winding - rint( winding ) ) > lmbOpenSteady )
				scan->marks[cell] |= cellTouched;
			else
				scan->samples->whole[cell] = (uint8_t)fmin( fmax( rint( winding ), 0.0 ), 100.0 );
		}
	return lmb_statusOk;
}

static lmbStatus MarkCells( Scan *scan, lmbError *error )
{
	lmbSamples *samples = scan->samples;
	const lmbSurface *surface = scan->surface;
	for ( int t = 0; t < surface->triangleCount; ++t )
	{
		if ( t % 4096 == 0 && lmbJob_Cancelled( scan->job ) )
			return lmbJob_CancelledStatus( error );
		MarkTriangle( surface, &samples->grid, t, scan->marks );
	}
	for ( int b = 0; b < surface->borderCount; ++b )
		MarkBorder( surface, &samples->grid, b, scan->marks );
	if ( surface->borderCount > 0 )
		LMB_TRY( lmbJob_ForEach( scan->job, samples->grid.dims[0], FindUncertain, scan, error ) );
	for ( int c = 0; c < samples->grid.cellCount; ++c )
		samples->blocks[c] = scan->marks[c] != 0 ? samples->blockCount++ : -1;
	if ( samples->blockCount > blockLimit )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "at a cell of %g m the skin passes %d cells, more than %d; use a larger cell",
		                     samples->grid.cell, samples->blockCount, blockLimit );
	samples->winding = LMB_NEW( &samples->arena, int16_t, (size_t)samples->blockCount * lmbCellSamples );
	samples->gaps = LMB_NEW( &samples->arena, uint8_t, (size_t)samples->blockCount * lmbCellSamples );
	if ( samples->winding == NULL || samples->gaps == NULL )
		return lmbError_Memory( error );
	return lmb_statusOk;
}

/* Follows the winding number over the crossings between two samples. Passages shorter than a millionth of
 * a sample are rounding, not gaps. */
static bool LeavesBody( int winding, const lmbCrossing *begin, const lmbCrossing *end )
{
	for ( const lmbCrossing *c = begin; c + 1 < end; ++c )
	{
		winding += 256 * c->jump;
		if ( !lmbWinding_Inside( winding ) && c[1].place - c->place > 1e-6 )
			return true;
	}
	return false;
}

static void FindRowGaps( const lmbRows *rows, int u, int v, lmbSamples *samples )
{
	size_t row = (size_t)u * (size_t)rows->counts[1] + (size_t)v;
	const lmbCrossing *end = rows->crossings + rows->first[row + 1];
	const lmbCrossing *begin = rows->crossings + rows->first[row], *next;
	for ( ; begin < end; begin = next )
	{
		int sample = (int)ceil( begin->place ) - 1; /* the last sample before the crossing */
		for ( next = begin; next < end && next->place <= sample + 1; ++next )
			;
		if ( next - begin < 2 || sample < 0 )
			continue;
		int at[3];
		at[rows->axis] = sample;
		at[( rows->axis + 1 ) % 3] = u;
		at[( rows->axis + 2 ) % 3] = v;
		int block = samples->blocks[lmbGrid_Cell( &samples->grid, at[0] / lmbCellSide, at[1] / lmbCellSide,
		                                          at[2] / lmbCellSide )];
		if ( block < 0 )
			continue;
		size_t index = (size_t)block * lmbCellSamples +
		               lmbCell_Sample( at[0] % lmbCellSide, at[1] % lmbCellSide, at[2] % lmbCellSide );
		if ( LeavesBody( samples->winding[index], begin, next ) )
			samples->gaps[index] |= (uint8_t)( 1 << rows->axis );
	}
}

static lmbStatus ScanRows( Scan *scan, lmbError *error )
{
	lmbSamples *samples = scan->samples;
	for ( int axis = 0; axis < 3; ++axis )
	{
		if ( lmbJob_Cancelled( scan->job ) )
			return lmbJob_CancelledStatus( error );
		LMB_TRY( lmbRows_Make( scan->surface, &samples->grid, axis, scan->rows + axis, error ) );
	}
	if ( scan->surface->borderCount > 0 )
	{
		scan->open = LMB_NEW( &samples->arena, lmbOpenCell, samples->blockCount );
		if ( scan->open == NULL )
			return lmbError_Memory( error );
		for ( int c = 0; c < samples->grid.cellCount; ++c )
			if ( samples->blocks[c] >= 0 )
				scan->open[samples->blocks[c]].border = scan->marks[c] & cellBorder;
		LMB_TRY( lmbOpenCells_Measure( scan->surface, samples, scan->rows, scan->open, scan->job, error ) );
	}
	LMB_TRY( lmbJob_ForEach( scan->job, scan->rows[2].counts[0], FillSlice, scan, error ) );
	for ( int axis = 0; axis < 3; ++axis )
		for ( int u = 0; u < scan->rows[axis].counts[0]; ++u )
			for ( int v = 0; v < scan->rows[axis].counts[1]; ++v )
				FindRowGaps( scan->rows + axis, u, v, samples );
	return lmb_statusOk;
}

lmbStatus lmbSamples_Make( const lmbSurface *surface, const lmbGrid *grid, const lmbJob *job,
                           lmbSamples *samples, lmbError *error )
{
	samples->grid = *grid;
	samples->blocks = LMB_NEW( &samples->arena, int32_t, grid->cellCount );
	samples->whole = LMB_NEW( &samples->arena, uint8_t, grid->cellCount );
	Scan scan = { .surface = surface, .job = job, .samples = samples };
	scan.marks = LMB_NEW( &samples->arena, uint8_t, grid->cellCount );
	if ( samples->blocks == NULL || samples->whole == NULL || scan.marks == NULL )
		return lmbError_Memory( error );
	lmbStatus status = MarkCells( &scan, error );
	if ( status == lmb_statusOk )
		status = ScanRows( &scan, error );
	for ( int axis = 0; axis < 3; ++axis )
		lmbRows_Free( scan.rows + axis );
	return status;
}

void lmbSamples_Free( lmbSamples *samples )
{
	lmbArena_Free( &samples->arena );
}
