/* Leaving out tetrahedra that hold next to nothing of the inside. A cell is kept whole when a corner of
 * the body enters it; most of its tetrahedra may then be empty, and a quarter of the nodes of a human
 * carried nothing else. */
#include "flesh/lattice.h"

#include "base/math3.h"

#include <stdlib.h>

static const double leastKept = 0.02; /* fill: less than a tetrahedron's two samples */
static const double crumb = 0.05;     /* cells of inside */

typedef struct Face
{
	int32_t nodes[3]; /* ascending */
	int32_t tet;
} Face;

static int CompareFaces( const void *left, const void *right )
{
	const Face *a = left, *b = right;
	for ( int i = 0; i < 3; ++i )
		if ( a->nodes[i] != b->nodes[i] )
			return a->nodes[i] < b->nodes[i] ? -1 : 1;
	return a->tet < b->tet ? -1 : a->tet > b->tet;
}

static Face *SortFaces( const lmbLattice *lattice, lmbArena *scratch )
{
	Face *faces = LMB_NEW( scratch, Face, 4 * (size_t)lattice->tetCount );
	for ( size_t f = 0; faces != NULL && f < 4 * (size_t)lattice->tetCount; ++f )
	{
		int32_t *n = faces[f].nodes;
		faces[f].tet = (int32_t)( f / 4 );
		for ( size_t c = 0, at = 0; c < 4; ++c )
			if ( c != f % 4 )
				n[at++] = lattice->tets[f / 4 * 4 + c];
		for ( int i = 0; i < 3; ++i )
			for ( int j = 0; j < 2; ++j )
				if ( n[j] > n[j + 1] )
				{
					int32_t swap = n[j];
					n[j] = n[j + 1];
					n[j + 1] = swap;
				}
	}
	if ( faces != NULL )
		qsort( faces, 4 * (size_t)lattice->tetCount, sizeof( *faces ), CompareFaces );
	return faces;
}

static int32_t Root( int32_t *parents, int32_t i )
{
	while ( parents[i] != i )
		i = parents[i] = parents[parents[i]];
	return i;
}

/* Tetrahedra joined through faces. keep NULL: all of them. */
static void JoinFaces( const lmbLattice *lattice, const Face *faces, const uint8_t *keep, int32_t *parents )
{
	for ( int32_t t = 0; t < lattice->tetCount; ++t )
		parents[t] = t;
	for ( size_t f = 1; f < 4 * (size_t)lattice->tetCount; ++f )
	{
		int32_t a = faces[f - 1].tet, b = faces[f].tet;
		if ( memcmp( faces[f - 1].nodes, faces[f].nodes, sizeof( faces[f].nodes ) ) != 0 ||
		     ( keep != NULL && !( keep[a] && keep[b] ) ) )
			continue;
		a = Root( parents, a );
		b = Root( parents, b );
		parents[a > b ? a : b] = a > b ? b : a;
	}
}

/* Where leaving out would cut a part off, or leave it on a hinge (joined by a node or an edge alone), the
 * part's cells get back all their tetrahedra. False when nothing was to mend. */
static bool Mend( const lmbLattice *lattice, int32_t *whole, int32_t *kept, int32_t *sizes, int32_t *largest,
                  uint8_t *keep )
{
	memset( sizes, 0, (size_t)lattice->tetCount * sizeof( *sizes ) );
	memset( largest, 0xff, (size_t)lattice->tetCount * sizeof( *largest ) );
	for ( int32_t t = 0; t < lattice->tetCount; ++t )
		sizes[Root( kept, t )] += keep[t];
	for ( int32_t t = 0; t < lattice->tetCount; ++t )
	{
		int32_t part = Root( whole, t ), root = Root( kept, t );
		if ( keep[t] && ( largest[part] < 0 || sizes[root] > sizes[largest[part]] ) )
			largest[part] = root;
	}
	bool mended = false;
	for ( int i = 0; i < lattice->copyCount; ++i )
	{
		const int32_t *tets = lattice->cells[i].tets;
		bool apart = false;
		for ( int k = 0; k < lmbCellTets; ++k )
			apart = apart || ( keep[tets[k]] && Root( kept, tets[k] ) != largest[Root( whole, tets[k] )] );
		for ( int k = 0; apart && k < lmbCellTets; ++k )
		{
			mended = mended || !keep[tets[k]];
			keep[tets[k]] = 1;
		}
	}
	return mended;
}

static double InsideVolume( const lmbLattice *lattice, int tet )
{
	const int32_t *n = lattice->tets + 4 * (size_t)tet;
	double edges[9];
	for ( int c = 0; c < 3; ++c )
		lmbSub( edges + 3 * c, lattice->nodes + 3 * (size_t)n[c + 1], lattice->nodes + 3 * (size_t)n[0] );
	return lattice->fill[tet] * lmbMat33_Determinant( edges ) / 6.0;
}

/* Crumbs: samples that touch the rest of the body by an edge or a corner only, at lips and nostrils. Their
 * skin does better on the tissue next to it. */
static void DropCrumbs( const lmbLattice *lattice, int32_t *whole, double *volumes, uint8_t *keep )
{
	double least = crumb * pow( lattice->samples.grid.cell, 3.0 ), most = 0.0;
	for ( int32_t t = 0; t < lattice->tetCount; ++t )
		volumes[Root( whole, t )] += InsideVolume( lattice, t );
	for ( int32_t t = 0; t < lattice->tetCount; ++t )
		most = fmax( most, volumes[t] );
	for ( int32_t t = 0; t < lattice->tetCount; ++t )
		if ( volumes[Root( whole, t )] < fmin( least, most ) )
			keep[t] = 0;
}

static bool ChooseTets( const lmbLattice *lattice, uint8_t *keep, lmbArena *scratch )
{
	size_t count = (size_t)lattice->tetCount;
	Face *faces = SortFaces( lattice, scratch );
	int32_t *whole = LMB_NEW( scratch, int32_t, count ), *kept = LMB_NEW( scratch, int32_t, count );
	int32_t *sizes = LMB_NEW( scratch, int32_t, count ), *largest = LMB_NEW( scratch, int32_t, count );
	double *volumes = LMB_NEW( scratch, double, count );
	if ( faces == NULL || whole == NULL || kept == NULL || sizes == NULL || largest == NULL ||
	     volumes == NULL )
		return false;
	for ( size_t t = 0; t < count; ++t )
		keep[t] = keep[t] || lattice->fill[t] >= leastKept;
	JoinFaces( lattice, faces, NULL, whole );
	DropCrumbs( lattice, whole, volumes, keep );
	do
		JoinFaces( lattice, faces, keep, kept );
	while ( Mend( lattice, whole, kept, sizes, largest, keep ) );
	return true;
}

static void Compact( lmbLattice *lattice, const uint8_t *keep, int32_t *nodeNumbers, int32_t *tetNumbers )
{
	memset( nodeNumbers, 0xff, (size_t)lattice->nodeCount * sizeof( *nodeNumbers ) );
	for ( int32_t t = 0; t < lattice->tetCount; ++t )
		for ( int c = 0; c < 4; ++c )
			if ( keep[t] )
				nodeNumbers[lattice->tets[4 * (size_t)t + c]] = 0;
	int nodeCount = 0, tetCount = 0;
	for ( int32_t i = 0; i < lattice->nodeCount; ++i )
	{
		if ( nodeNumbers[i] < 0 )
			continue;
		memmove( lattice->nodes + 3 * (size_t)nodeCount, lattice->nodes + 3 * (size_t)i,
		         3 * sizeof( *lattice->nodes ) );
		nodeNumbers[i] = nodeCount++;
	}
	for ( int32_t t = 0; t < lattice->tetCount; ++t )
	{
		tetNumbers[t] = keep[t] ? tetCount : -1;
		if ( !keep[t] )
			continue;
		for ( int c = 0; c < 4; ++c )
			lattice->tets[4 * (size_t)tetCount + c] = nodeNumbers[lattice->tets[4 * (size_t)t + c]];
		lattice->fill[tetCount++] = lattice->fill[t];
	}
	lattice->nodeCount = nodeCount;
	lattice->tetCount = tetCount;
	for ( int i = 0; i < lattice->copyCount; ++i )
	{
		lmbLatticeCell *cell = lattice->cells + i;
		for ( int c = 0; c < 8; ++c )
			cell->nodes[c] = nodeNumbers[cell->nodes[c]];
		for ( int k = 0; k < lmbCellTets; ++k )
			cell->tets[k] = tetNumbers[cell->tets[k]];
	}
}

/* Samples of copies that lost every tetrahedron count as outside from here on. */
static void EmptyCopies( lmbLattice *lattice )
{
	int copies = 0;
	lattice->splitCount = 0;
	for ( int i = 0; i < lattice->copyCount; ++i )
	{
		int kept = 0, cell = lattice->cells[i].cell, block = lattice->samples.blocks[cell];
		for ( int k = 0; k < lmbCellTets; ++k )
			kept += lattice->cells[i].tets[k] >= 0;
		copies = ( i == lattice->first[cell] ? 0 : copies ) + ( kept > 0 );
		lattice->splitCount += i + 1 == lattice->first[cell + 1] && copies > 1;
		if ( kept > 0 || block < 0 )
			continue;
		uint8_t *labels = lattice->labels + (size_t)block * lmbCellSamples;
		for ( int s = 0; s < lmbCellSamples; ++s )
			if ( labels[s] == i - lattice->first[cell] )
				labels[s] = lmbNoCopy;
	}
}

lmbStatus lmbLattice_Trim( lmbLattice *lattice, uint8_t *keep, lmbError *error )
{
	lmbArena scratch = { 0 };
	int32_t *nodeNumbers = LMB_NEW( &scratch, int32_t, lattice->nodeCount );
	int32_t *tetNumbers = LMB_NEW( &scratch, int32_t, lattice->tetCount );
	bool fine = nodeNumbers != NULL && tetNumbers != NULL && ChooseTets( lattice, keep, &scratch );
	if ( fine )
	{
		Compact( lattice, keep, nodeNumbers, tetNumbers );
		EmptyCopies( lattice );
		lattice->volume = 0.0;
		for ( int t = 0; t < lattice->tetCount; ++t )
			lattice->volume += InsideVolume( lattice, t );
	}
	lmbArena_Free( &scratch );
	return fine ? lmb_statusOk : lmbError_Memory( error );
}
