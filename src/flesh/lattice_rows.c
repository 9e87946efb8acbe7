#include "flesh/lattice_rows.h"

#include "base/math3.h"

#include <stdlib.h>

/* More crossings than any sensible skin gives: 4 GB of them. */
static const size_t crossingLimit = (size_t)1 << 28;

/* Which side of the edge from a to b the point is on, +1 left, -1 right, 0 only when the edge itself
 * projects to a point. The edge is always taken from its lower point index to the higher one, so both
 * triangles at an edge get the same answer; exact zeros are decided as if the point were moved by
 * (e, e^2) for an infinitesimal e. */
static int Side( const double *a, const double *b, bool swap, double *value )
{
	const double *from = swap ? b : a, *to = swap ? a : b;
	double e = from[0] * to[1] - from[1] * to[0];
	int side = ( e > 0.0 ) - ( e < 0.0 );
	if ( side == 0 )
		side = ( from[1] > to[1] ) - ( from[1] < to[1] );
	if ( side == 0 )
		side = ( to[0] > from[0] ) - ( to[0] < from[0] );
	*value = swap ? -e : e;
	return swap ? -side : side;
}

/* The crossing of one row and one triangle. corners (3 x 3): u, v, place of each corner in sample
 * spacings; ids their point indices. */
static bool Cross( const double corners[3][3], const int32_t *ids, double u, double v, double *place,
                   int *jump )
{
	double local[3][2], values[3], sum = 0.0, low = INFINITY, high = -INFINITY;
	int sides[3];
	for ( int c = 0; c < 3; ++c )
	{
		local[c][0] = corners[c][0] - u;
		local[c][1] = corners[c][1] - v;
	}
	for ( int c = 0; c < 3; ++c )
	{
		int a = ( c + 1 ) % 3, b = ( c + 2 ) % 3;
		sides[c] = Side( local[a], local[b], ids[a] > ids[b], &values[c] );
		sum += values[c];
		low = fmin( low, corners[c][2] );
		high = fmax( high, corners[c][2] );
	}
	if ( sides[0] == 0 || sides[0] != sides[1] || sides[1] != sides[2] )
		return false;
	double at = 0.0;
	for ( int c = 0; c < 3; ++c )
		at += ( sum != 0.0 ? values[c] / sum : 1.0 / 3.0 ) * corners[c][2];
	*place = fmin( fmax( at, low ), high );
	/* Counter-clockwise seen from above means that the outside is above: a row going up leaves. */
	*jump = -sides[0];
	return true;
}

typedef struct Raw
{
	lmbCrossing crossing;
	size_t row;
} Raw;

typedef struct RawList
{
	Raw *items;
	size_t count, capacity;
} RawList;

static lmbStatus Append( RawList *list, const Raw *raw, lmbError *error )
{
	if ( list->count == list->capacity )
	{
		size_t capacity = list->capacity == 0 ? 4096 : 2 * list->capacity;
		if ( capacity > crossingLimit )
			return lmbError_Set(
			    error, lmb_statusInvalidArgument,
			    "the skin has too many overlapping triangles for this cell size; use a larger "
			    "cell or a simpler mesh" );
		Raw *items = realloc( list->items, capacity * sizeof( *items ) );
		if ( items == NULL )
			return lmbError_Memory( error );
		list->items = items;
		list->capacity = capacity;
	}
	list->items[list->count++] = *raw;
	return lmb_statusOk;
}

static lmbStatus CrossTriangle( const lmbSurface *surface, const lmbGrid *grid, const lmbRows *rows,
                                int triangle, RawList *list, lmbError *error )
{
	double corners[3][3], low[2] = { INFINITY, INFINITY }, high[2] = { -INFINITY, -INFINITY };
	const int32_t *ids = surface->triangles + 3 * (size_t)triangle;
	for ( int c = 0; c < 3; ++c )
		for ( int i = 0; i < 3; ++i )
		{
			int axis = ( rows->axis + 1 + i ) % 3;
			corners[c][i] = ( surface->points[3 * (size_t)ids[c] + axis] - grid->origin[axis] ) *
			                    ( lmbCellSide / grid->cell ) -
			                0.5;
			if ( i < 2 )
			{
				low[i] = fmin( low[i], corners[c][i] );
				high[i] = fmax( high[i], corners[c][i] );
			}
		}
	Raw raw = { .crossing.open = !surface->balanced[surface->components[triangle]] };
	for ( int u = (int)fmax( ceil( low[0] ), 0.0 ); u <= high[0] && u < rows->counts[0]; ++u )
		for ( int v = (int)fmax( ceil( low[1] ), 0.0 ); v <= high[1] && v < rows->counts[1]; ++v )
		{
			int jump;
			if ( !Cross( corners, ids, u, v, &raw.crossing.place, &jump ) )
				continue;
			raw.crossing.jump = (int8_t)jump;
			raw.row = (size_t)u * (size_t)rows->counts[1] + (size_t)v;
			LMB_TRY( Append( list, &raw, error ) );
		}
	return lmb_statusOk;
}

/* Entering goes before leaving at the same place, so that parts that touch stay joined. */
static bool Before( const lmbCrossing *a, const lmbCrossing *b )
{
	return a->place < b->place || ( a->place == b->place && a->jump > b->jump );
}

static void SortRow( lmbCrossing *crossings, size_t count )
{
	for ( size_t i = 1; i < count; ++i )
	{
		lmbCrossing moved = crossings[i];
		size_t j = i;
		for ( ; j > 0 && Before( &moved, &crossings[j - 1] ); --j )
			crossings[j] = crossings[j - 1];
		crossings[j] = moved;
	}
}

static lmbStatus Arrange( lmbRows *rows, const RawList *list, lmbError *error )
{
	size_t rowCount = (size_t)rows->counts[0] * (size_t)rows->counts[1];
	rows->first = calloc( rowCount + 2, sizeof( *rows->first ) );
	rows->crossings = calloc( list->count + 1, sizeof( *rows->crossings ) );
	if ( rows->first == NULL || rows->crossings == NULL )
		return lmbError_Memory( error );
	for ( size_t i = 0; i < list->count; ++i )
		rows->first[list->items[i].row + 2] += 1;
	for ( size_t r = 2; r < rowCount + 2; ++r )
		rows->first[r] += rows->first[r - 1];
	/* first[row + 1] runs from the row's begin to its end while the crossings drop into place. */
	for ( size_t i = 0; i < list->count; ++i )
		rows->crossings[rows->first[list->items[i].row + 1]++] = list->items[i].crossing;
	for ( size_t r = 0; r < rowCount; ++r )
		SortRow( rows->crossings + rows->first[r], rows->first[r + 1] - rows->first[r] );
	return lmb_statusOk;
}

lmbStatus lmbRows_Make( const lmbSurface *surface, const lmbGrid *grid, int axis, lmbRows *rows,
                        lmbError *error )
{
	rows->axis = axis;
	for ( int i = 0; i < 3; ++i )
		rows->counts[i] = grid->dims[( axis + 1 + i ) % 3] * lmbCellSide;
	RawList list = { 0 };
	lmbStatus status = lmb_statusOk;
	for ( int t = 0; status == lmb_statusOk && t < surface->triangleCount; ++t )
		status = CrossTriangle( surface, grid, rows, t, &list, error );
	if ( status == lmb_statusOk )
		status = Arrange( rows, &list, error );
	free( list.items );
	return status;
}

void lmbRows_Free( lmbRows *rows )
{
	free( rows->first );
	free( rows->crossings );
	*rows = ( lmbRows ){ 0 };
}
