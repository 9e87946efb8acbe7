#include "flesh/lattice_open.h"

#include "base/math3.h"

static const int places[lmbOpenPlaces] = { 0, lmbCellMiddle, lmbCellSide - 1 };

/* The change along a row from its middle sample to another one. */
static int ChangeFromMiddle( const int8_t *jumps, int sample )
{
	int change = 0;
	for ( int i = lmbCellMiddle; i < sample; ++i )
		change += jumps[i];
	for ( int i = sample; i < lmbCellMiddle; ++i )
		change -= jumps[i];
	return change;
}

static double WindingAt( const lmbSurface *surface, const lmbGrid *grid, const int *sample )
{
	double point[3];
	lmbGrid_SamplePoint( grid, sample, point );
	return lmbTriangleTree_Winding( surface->open, point, lmbWindingReach );
}

double lmbOpenCell_Middle( const lmbSurface *surface, const lmbGrid *grid, int x, int y, int z )
{
	int sample[3] = { x * lmbCellSide + lmbCellMiddle, y * lmbCellSide + lmbCellMiddle,
	                  z * lmbCellSide + lmbCellMiddle };
	return WindingAt( surface, grid, sample );
}

/* Which of the field's places a sample is, or -1. */
static int PlaceOf( int sample )
{
	for ( int p = 0; p < lmbOpenPlaces; ++p )
		if ( places[p] == sample % lmbCellSide )
			return p;
	return -1;
}

/* Where a crossing between two samples of one cell is counted, or NULL where nobody asks for it. */
static int8_t *Link( lmbOpenCell *cell, int axis, const int *sample )
{
	int x = sample[0] % lmbCellSide, y = sample[1] % lmbCellSide, z = sample[2] % lmbCellSide;
	if ( axis == 0 )
		return y == lmbCellMiddle && z == lmbCellMiddle ? cell->alongX + x : NULL;
	if ( axis == 1 )
		return z == lmbCellMiddle ? cell->alongY[x] + y : NULL;
	int i = PlaceOf( x ), j = PlaceOf( y );
	return i >= 0 && j >= 0 ? cell->alongZ[i][j] + z : NULL;
}

static void CountCrossings( const lmbSamples *samples, const lmbRows *rows, lmbOpenCell *cells )
{
	size_t row = 0;
	for ( int u = 0; u < rows->counts[0]; ++u )
		for ( int v = 0; v < rows->counts[1]; ++v, ++row )
			for ( size_t i = rows->first[row]; i < rows->first[row + 1]; ++i )
			{
				const lmbCrossing *crossing = rows->crossings + i;
				int at[3];
				at[rows->axis] = (int)ceil( crossing->place ) - 1; /* the last sample before it */
				at[( rows->axis + 1 ) % 3] = u;
				at[( rows->axis + 2 ) % 3] = v;
				if ( !crossing->open || at[rows->axis] < 0 )
					continue;
				int block = samples->blocks[lmbGrid_Cell( &samples->grid, at[0] / lmbCellSide,
				                                          at[1] / lmbCellSide, at[2] / lmbCellSide )];
				int8_t *link = block >= 0 ? Link( cells + block, rows->axis, at ) : NULL;
				if ( link != NULL )
					*link = (int8_t)( *link + crossing->jump );
			}
}

typedef struct Fields
{
	const lmbSurface *surface;
	const lmbSamples *samples;
	lmbOpenCell *cells;
} Fields;

static void MeasureField( const Fields *fields, int x, int y, int z, lmbOpenCell *cell )
{
	const lmbGrid *grid = &fields->samples->grid;
	double middle = lmbOpenCell_Middle( fields->surface, grid, x, y, z );
	bool steady = fabs( middle - rint( middle ) ) < lmbOpenSteady;
	for ( int i = 0; i < lmbOpenPlaces; ++i )
		for ( int j = 0; j < lmbOpenPlaces; ++j )
			for ( int k = 0; k < lmbOpenPlaces; ++k )
			{
				int sample[3] = { x * lmbCellSide + places[i], y * lmbCellSide + places[j],
				                  z * lmbCellSide + places[k] };
				int change = ChangeFromMiddle( cell->alongX, places[i] ) +
				             ChangeFromMiddle( cell->alongY[places[i]], places[j] ) +
				             ChangeFromMiddle( cell->alongZ[i][j], places[k] );
				cell->field[i][j][k] =
				    (float)( steady ? middle : WindingAt( fields->surface, grid, sample ) - change );
			}
}

static lmbStatus MeasureSlice( void *context, int x, int worker, lmbError *error )
{
	const Fields *fields = context;
	const lmbGrid *grid = &fields->samples->grid;
	(void)worker;
	(void)error;
	for ( int y = 0; y < grid->dims[1]; ++y )
		for ( int z = 0; z < grid->dims[2]; ++z )
		{
			int block = fields->samples->blocks[lmbGrid_Cell( grid, x, y, z )];
			if ( block >= 0 && !fields->cells[block].border )
				MeasureField( fields, x, y, z, fields->cells + block );
		}
	return lmb_statusOk;
}

lmbStatus lmbOpenCells_Measure( const lmbSurface *surface, const lmbSamples *samples, const lmbRows *rows,
                                lmbOpenCell *cells, const lmbJob *job, lmbError *error )
{
	for ( int axis = 0; axis < 3; ++axis )
		CountCrossings( samples, rows + axis, cells );
	Fields fields = { surface, samples, cells };
	return lmbJob_ForEach( job, samples->grid.dims[0], MeasureSlice, &fields, error );
}

/* Quadratic through samples 0, 4 and 7. */
static void Lagrange( int sample, double *weights )
{
	double s = sample;
	weights[0] = ( s - 4.0 ) * ( s - 7.0 ) / 28.0;
	weights[1] = s * ( s - 7.0 ) / -12.0;
	weights[2] = s * ( s - 4.0 ) / 21.0;
}

void lmbOpenCell_Row( const lmbOpenCell *cell, int x, int y, const int *counts, double *out )
{
	double wx[lmbOpenPlaces], wy[lmbOpenPlaces], wz[lmbOpenPlaces], line[lmbOpenPlaces] = { 0 };
	Lagrange( x, wx );
	Lagrange( y, wy );
	for ( int i = 0; i < lmbOpenPlaces; ++i )
		for ( int j = 0; j < lmbOpenPlaces; ++j )
			for ( int k = 0; k < lmbOpenPlaces; ++k )
				line[k] += wx[i] * wy[j] * (double)cell->field[i][j][k];
	int change = ChangeFromMiddle( cell->alongX, x ) + ChangeFromMiddle( cell->alongY[x], y );
	for ( int s = 0; s < lmbCellSide; ++s )
	{
		Lagrange( s, wz );
		out[s] = lmbDot( wz, line ) + change + counts[s] - counts[lmbCellMiddle];
	}
}
