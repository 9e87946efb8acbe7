/* The lattice: conforming, exactly filled, mirrored, split between separate parts, for closed and open
 * skins. */
#include "flesh/lattice.h"

#include "base/math3.h"
#include "base/random.h"
#include "check.h"
#include "tissue_shapes.h"

typedef struct Cut
{
	lmbSurface surface;
	lmbLattice *lattice;
} Cut;

static Cut MakeCut( Shape *shape, double cell )
{
	const double origin[3] = { 0 };
	Cut cut = { .lattice = NULL };
	lmbError error = { 0 };
	if ( shape->character.boneCount == 0 )
		Shape_AddBone( shape, "root", -1, origin );
	CHECK_INT( lmbSurface_Make( &shape->character, &cut.surface, &error ), lmb_statusOk );
	CHECK_INT( lmbLattice_Make( &cut.surface, cell, NULL, &cut.lattice, &error ), lmb_statusOk );
	if ( cut.lattice == NULL )
		printf( "%s\n", error.message );
	CHECK_OR_STOP( cut.lattice != NULL );
	return cut;
}

static void FreeCut( Cut *cut, Shape *shape )
{
	lmbLattice_Free( cut->lattice );
	lmbSurface_Free( &cut->surface );
	Shape_Free( shape );
}

static double TetVolume( const lmbLattice *lattice, int tet )
{
	double edges[9];
	for ( int c = 0; c < 3; ++c )
		lmbSub( edges + 3 * c, lattice->nodes + 3 * lattice->tets[4 * tet + c + 1],
		        lattice->nodes + 3 * lattice->tets[4 * tet] );
	return lmbMat33_Determinant( edges ) / 6.0;
}

typedef struct FaceKey
{
	int32_t nodes[3];
	int side;
} FaceKey;

static int CompareFaceKeys( const void *left, const void *right )
{
	return memcmp( left, right, 3 * sizeof( int32_t ) );
}

static void Swap( int32_t *a, int32_t *b )
{
	int32_t c = *a;
	*a = *b;
	*b = c;
}

/* How many faces have one tetrahedron, and how many more than two. */
static void CountFaces( const lmbLattice *lattice, int *borders, int *crowded )
{
	size_t count = 4 * (size_t)lattice->tetCount;
	FaceKey *faces = calloc( count, sizeof( *faces ) );
	for ( size_t f = 0; f < count; ++f )
	{
		int32_t *n = faces[f].nodes;
		for ( size_t c = 0, at = 0; c < 4; ++c )
			if ( c != f % 4 )
				n[at++] = lattice->tets[f / 4 * 4 + c];
		for ( int i = 0; i < 3; ++i )
			for ( int j = 0; j < 2; ++j )
				if ( n[j] > n[j + 1] )
					Swap( &n[j], &n[j + 1] );
	}
	qsort( faces, count, sizeof( *faces ), CompareFaceKeys );
	*borders = *crowded = 0;
	for ( size_t begin = 0, end; begin < count; begin = end )
	{
		for ( end = begin; end < count && CompareFaceKeys( faces + begin, faces + end ) == 0; ++end )
			;
		*borders += end - begin == 1;
		*crowded += end - begin > 2;
	}
	free( faces );
}

static int CountParts( const lmbLattice *lattice )
{
	int *parents = calloc( (size_t)lattice->nodeCount, sizeof( int ) ), parts = 0;
	for ( int i = 0; i < lattice->nodeCount; ++i )
		parents[i] = i;
	for ( int changed = 1; changed; )
	{
		changed = 0;
		for ( int e = 0; e < 4 * lattice->tetCount; ++e )
		{
			int *a = parents + lattice->tets[e], *b = parents + lattice->tets[e / 4 * 4];
			if ( *a == *b )
				continue;
			*a = *b = *a < *b ? *a : *b;
			changed = 1;
		}
	}
	for ( int i = 0; i < lattice->nodeCount; ++i )
		parts += parents[i] == i;
	free( parents );
	return parts;
}

/* A box whose faces lie on grid planes: every cell is whole, so volumes, fill and faces are exact. The box
 * of 4 x 6 x 2 cells has 2 (24 + 12 + 8) = 88 cell faces outside, two triangles each. */
static void WholeCells( void **state )
{
	(void)state;
	Shape shape = { .bone = -1 };
	const double low[3] = { -0.2, -0.3, -0.1 }, high[3] = { 0.2, 0.3, 0.1 };
	Shape_AddBox( &shape, low, high );
	Cut cut = MakeCut( &shape, 0.1 );
	int borders, crowded;
	CountFaces( cut.lattice, &borders, &crowded );
	CHECK_INT( cut.lattice->tetCount, 5 * 4 * 6 * 2 );
	CHECK_INT( cut.lattice->nodeCount, 5 * 7 * 3 );
	CHECK_INT( borders, 176 );
	CHECK_INT( crowded, 0 );
	CHECK_INT( cut.lattice->splitCount, 0 );
	CHECK_NEAR( cut.lattice->volume, 0.048, 1e-12 );
	double sum = 0.0;
	for ( int t = 0; t < cut.lattice->tetCount; ++t )
	{
		CHECK_NEAR( cut.lattice->fill[t], 1.0, 1e-12 );
		CHECK( TetVolume( cut.lattice, t ) > 0.0 );
		sum += TetVolume( cut.lattice, t );
	}
	CHECK_NEAR( sum, 0.048, 1e-12 );
	FreeCut( &cut, &shape );
}

/* Fill of each tetrahedron of a ball against random points in it, the ball known in closed form. With 2,000
 * points the share has a standard deviation of at most 0.0112; 8 samples an edge of the cell add at most
 * about 0.05 in a sixth of a cell (a sample is 1.2 % of it, some 40 of 85 are cut). */
static void FillOfABall( void **state )
{
	(void)state;
	checkSeed = 5;
	lmbRandom random = lmbRandom_Seed( checkSeed, 0 );
	Shape shape = { .bone = -1 };
	const double centre[3] = { 0.013, 0.4, -0.2 }, radius = 0.25;
	Shape_AddCapsule( &shape, centre, centre, radius, 60, 120 );
	Cut cut = MakeCut( &shape, 0.07 );
	int borders, crowded;
	CountFaces( cut.lattice, &borders, &crowded );
	CHECK_INT( crowded, 0 );
	CHECK_INT( CountParts( cut.lattice ), 1 );
	double worst = 0.0;
	for ( int t = 0; t < cut.lattice->tetCount; ++t )
	{
		int inside = 0;
		for ( int i = 0; i < 2000; ++i )
		{
			double w[4], point[3] = { 0 }, total = 0.0, arm[3];
			for ( int k = 0; k < 4; ++k )
				total += w[k] = -log( 1.0 - lmbRandom_Uniform( &random ) ); /* uniform in the simplex */
			for ( int k = 0; k < 4; ++k )
				lmbAddScaled( point, point, w[k] / total,
				              cut.lattice->nodes + 3 * cut.lattice->tets[4 * t + k] );
			lmbSub( arm, point, centre );
			inside += lmbLength( arm ) < radius;
		}
		worst = fmax( worst, fabs( inside / 2000.0 - cut.lattice->fill[t] ) );
	}
	printf( "largest difference of fill from random points: %.3f\n", worst );
	CHECK( worst < 0.09 );
	FreeCut( &cut, &shape );
}

/* A body that is its own mirror image about x = 0 gets a lattice that is too, tetrahedron by tetrahedron. */
static void MirrorImage( void **state )
{
	(void)state;
	Shape shape = { .bone = -1 };
	for ( int side = -1; side <= 1; side += 2 )
	{
		const double a[3] = { 0.05 * side, 0.0, 0.0 }, b[3] = { 0.4 * side, 0.3, 0.1 };
		int first = shape.character.vertexCount, triangle = shape.character.triangleCount;
		const double start[3] = { 0.05, 0.0, 0.0 }, end[3] = { 0.4, 0.3, 0.1 };
		Shape_AddCapsule( &shape, side > 0 ? a : start, side > 0 ? b : end, 0.13, 8, 16 );
		for ( int v = first; side < 0 && v < shape.character.vertexCount; ++v )
			shape.character.bind[3 * v] *= -1.0;
		for ( int t = triangle; side < 0 && t < shape.character.triangleCount; ++t )
			Swap( shape.character.triangles + 3 * t, shape.character.triangles + 3 * t + 1 );
	}
	Cut cut = MakeCut( &shape, 0.06 );
	/* Two copies of a cell lie at one place, so tetrahedra are told apart by their fill as well. */
	const lmbLattice *l = cut.lattice;
	int alone = 0;
	for ( int t = 0; t < l->tetCount; ++t )
	{
		bool found = false;
		for ( int u = 0; u < l->tetCount && !found; ++u )
		{
			double off = fabs( l->fill[t] - l->fill[u] );
			for ( int a = 0; a < 3; ++a )
			{
				double sum = 0.0;
				for ( int k = 0; k < 4; ++k )
					sum += ( a == 0 ? 1.0 : -1.0 ) * l->nodes[3 * l->tets[4 * t + k] + a] +
					       l->nodes[3 * l->tets[4 * u + k] + a];
				off = fmax( off, fabs( sum ) );
			}
			found = off < 1e-9;
		}
		alone += !found;
	}
	CHECK( l->tetCount > 1000 );
	CHECK_INT( alone, 0 );
	FreeCut( &cut, &shape );
}

/* Two boxes 0.2 mm apart across one axis, cells of 5 cm: the gap is a thirtieth of a sample and lies within
 * cells. They must share no node, whichever the axis. Boxes that touch or overlap are one body. */
static void ThinGaps( void **state )
{
	(void)state;
	for ( int axis = 0; axis < 3; ++axis )
		for ( int kind = 0; kind < 3; ++kind )
		{
			Shape shape = { .bone = -1 };
			double low[3] = { 0.01, 0.02, 0.03 }, high[3] = { 0.21, 0.24, 0.19 };
			Shape_AddBox( &shape, low, high );
			double gap = kind == 0 ? 0.0002 : kind == 1 ? 0.0 : -0.02;
			double far = high[axis];
			low[axis] = far + gap;
			high[axis] = far + 0.17;
			Shape_AddBox( &shape, low, high );
			Cut cut = MakeCut( &shape, 0.05 );
			CHECK_INT( CountParts( cut.lattice ), kind == 0 ? 2 : 1 );
			CHECK( kind != 0 || cut.lattice->splitCount > 5 );
			FreeCut( &cut, &shape );
		}
}

/* Trousers: legs 1 mm apart that meet in a seat. Cells across the gap are split, and the lattice is one
 * part; vertices of a leg are carried by nodes of that leg. */
static void Legs( void **state )
{
	(void)state;
	Shape shape = { .bone = -1 };
	const double seatLow[3] = { -0.2, 0.5, -0.08 }, seatHigh[3] = { 0.3, 0.8, 0.08 };
	Shape_AddBox( &shape, seatLow, seatHigh );
	int seat = shape.character.vertexCount;
	for ( int side = -1; side <= 1; side += 2 )
	{
		double top[3] = { 0.1005 * side, 0.55, 0.0 }, bottom[3] = { 0.1005 * side, 0.0, 0.0 };
		Shape_AddCapsule( &shape, bottom, top, 0.1, 12, 40 );
	}
	int perLeg = ( shape.character.vertexCount - seat ) / 2;
	Cut cut = MakeCut( &shape, 0.06 );
	CHECK_INT( CountParts( cut.lattice ), 1 );
	CHECK( cut.lattice->splitCount > 10 );
	int wrong = 0, unplaced = 0, outside = 0;
	for ( int p = 0; p < cut.surface.pointCount; ++p )
	{
		const double *point = cut.surface.points + 3 * p;
		lmbPlace place = lmbLattice_Locate( cut.lattice, point, cut.surface.normals + 3 * p );
		unplaced += place.tet < 0;
		if ( place.tet < 0 || point[1] > 0.4 )
			continue;
		/* The nodes that carry a vertex of one leg carry none of the other: their tetrahedra reach no other
		 * side of the gap with a sample inside. Lowest part of a leg: no cell of it is joined to the other.
		 */
		for ( int k = 0; k < 4; ++k )
			outside += place.weights[k] < -0.3;
		for ( int q = 0; q < cut.surface.pointCount; ++q )
		{
			const double *other = cut.surface.points + 3 * q;
			if ( other[1] > 0.4 || point[0] * other[0] > 0.0 || fabs( other[0] ) > 0.02 ||
			     fabs( point[0] ) > 0.02 )
				continue;
			lmbPlace twin = lmbLattice_Locate( cut.lattice, other, cut.surface.normals + 3 * q );
			for ( int a = 0; a < 4; ++a )
				for ( int b = 0; b < 4; ++b )
					wrong += cut.lattice->tets[4 * place.tet + a] == cut.lattice->tets[4 * twin.tet + b];
		}
	}
	CHECK_INT( unplaced, 0 );
	CHECK_INT( wrong, 0 );
	CHECK_INT( outside, 0 );
	CHECK( perLeg > 100 );
	FreeCut( &cut, &shape );
}

/* The union of two balls: the lens where they overlap counts once. Volume of the lens in closed form. */
static void OverlappingParts( void **state )
{
	(void)state;
	Shape shape = { .bone = -1 };
	const double a[3] = { -0.1, 0, 0 }, b[3] = { 0.1, 0.013, 0.007 }, radius = 0.2;
	Shape_AddCapsule( &shape, a, a, radius, 40, 80 );
	Shape_AddCapsule( &shape, b, b, radius, 40, 80 );
	Cut cut = MakeCut( &shape, 0.04 );
	double arm[3];
	lmbSub( arm, b, a );
	double d = lmbLength( arm );
	double ball = 4.0 / 3.0 * shapePi * pow( radius, 3.0 );
	double lens = shapePi * ( 4.0 * radius + d ) * pow( 2.0 * radius - d, 2.0 ) / 12.0;
	CHECK_INT( cut.surface.componentCount, 2 );
	CHECK_INT( CountParts( cut.lattice ), 1 );
	CHECK_NEAR( cut.surface.volume / ( 2.0 * ball ), 1.0, 0.005 );
	CHECK_NEAR( cut.lattice->volume / ( 2.0 * ball - lens ), 1.0, 0.005 );
	FreeCut( &cut, &shape );
}

/* A ball inside out by itself is turned; inside another it is a cavity, and stays one. */
static void InsideOut( void **state )
{
	(void)state;
	const double centre[3] = { 0.02, 0, 0 };
	for ( int shell = 0; shell < 2; ++shell )
	{
		Shape shape = { .bone = -1 };
		Shape_AddCapsule( &shape, centre, centre, 0.1, 30, 60 );
		for ( int t = 0; t < shape.character.triangleCount; ++t )
			Swap( shape.character.triangles + 3 * t, shape.character.triangles + 3 * t + 1 );
		double small = 4.0 / 3.0 * shapePi * 0.001, large = 4.0 / 3.0 * shapePi * 0.008;
		if ( shell )
			Shape_AddCapsule( &shape, centre, centre, 0.2, 30, 60 );
		Cut cut = MakeCut( &shape, 0.03 );
		double expected = shell ? large - small : small;
		CHECK_NEAR( cut.surface.volume / expected, 1.0, 0.01 );
		CHECK_NEAR( cut.lattice->volume / expected, 1.0, 0.01 );
		FreeCut( &cut, &shape );
	}
}

/* A ball with a hole: what counts as inside is where the winding number, summed triangle by triangle,
 * passes one half. Samples where it is within 0.05 of that are left to the tree. */
static void OpenSkin( void **state )
{
	(void)state;
	Shape shape = { .bone = -1 };
	const double centre[3] = { 0 };
	Shape_AddCapsule( &shape, centre, centre, 0.3, 16, 32 );
	int kept = 0;
	for ( int t = 0; t < shape.character.triangleCount; ++t )
	{
		int32_t *c = shape.character.triangles + 3 * t;
		if ( shape.character.bind[3 * c[0] + 1] > 0.2 )
			continue;
		memmove( shape.character.triangles + 3 * kept++, c, 3 * sizeof( int32_t ) );
	}
	shape.character.triangleCount = kept;
	/* A closed part besides, inside and outside of the open one. */
	const double other[3] = { 0.3, 0, 0 };
	Shape_AddCapsule( &shape, other, other, 0.1, 8, 16 );
	Cut cut = MakeCut( &shape, 0.07 );
	CHECK( !cut.surface.closed );
	CHECK_INT( cut.surface.balanced[0], 0 );
	CHECK_INT( cut.surface.balanced[1], 1 );
	const lmbGrid *grid = &cut.lattice->samples.grid;
	int wrong = 0, compared = 0, insides = 0;
	for ( int i = 0; i < grid->cellCount * lmbCellSamples; i += 37 )
	{
		int cell = i / lmbCellSamples, sample = i % lmbCellSamples;
		int place[3] = { cell / grid->dims[2] / grid->dims[1] * 8 + sample / 64,
		                 cell / grid->dims[2] % grid->dims[1] * 8 + sample / 8 % 8,
		                 cell % grid->dims[2] * 8 + sample % 8 };
		double point[3], winding = 0.0;
		for ( int a = 0; a < 3; ++a )
			point[a] = grid->origin[a] + ( place[a] + 0.5 ) * grid->cell / 8.0;
		for ( int t = 0; t < cut.surface.triangleCount; ++t )
			winding +=
			    lmbTriangle_Winding( cut.surface.points + 3 * cut.surface.triangles[3 * t],
			                         cut.surface.points + 3 * cut.surface.triangles[3 * t + 1],
			                         cut.surface.points + 3 * cut.surface.triangles[3 * t + 2], point );
		if ( fabs( winding - 0.5 ) < 0.05 )
			continue;
		compared += 1;
		insides += winding > 0.5;
		int block = cut.lattice->samples.blocks[cell];
		bool inside =
		    block < 0
		        ? cut.lattice->samples.whole[cell]
		        : lmbWinding_Inside( cut.lattice->samples.winding[(size_t)block * lmbCellSamples + sample] );
		wrong += inside != ( winding > 0.5 );
	}
	printf( "open skin: %d samples compared, %d inside\n", compared, insides );
	CHECK( insides > 500 );
	CHECK_INT( wrong, 0 );
	FreeCut( &cut, &shape );
}

/* Rows through edges and corners: vertices and edges exactly on sample rows must not open a row. */
static void RowsThroughCorners( void **state )
{
	(void)state;
	Shape shape = { .bone = -1 };
	/* A grid of cell 0.08 has samples at odd multiples of 0.005; so are the octahedron's corners, and all
	 * twelve edges lie in sample planes. */
	static const double corners[6][3] = { { 0.245, 0.005, 0.005 }, { -0.235, 0.005, 0.005 },
	                                      { 0.005, 0.245, 0.005 }, { 0.005, -0.235, 0.005 },
	                                      { 0.005, 0.005, 0.245 }, { 0.005, 0.005, -0.235 } };
	for ( int i = 0; i < 6; ++i )
		Shape_AddVertex( &shape, corners[i][0], corners[i][1], corners[i][2] );
	for ( int i = 0; i < 8; ++i )
	{
		int a = i & 1, b = 2 + ( i >> 1 & 1 ), c = 4 + ( i >> 2 & 1 );
		int odd = ( i & 1 ) ^ ( i >> 1 & 1 ) ^ ( i >> 2 & 1 );
		Shape_AddTriangle( &shape, a, odd ? c : b, odd ? b : c );
	}
	Cut cut = MakeCut( &shape, 0.08 );
	CHECK( cut.surface.closed );
	CHECK_NEAR( cut.surface.volume, 4.0 / 3.0 * pow( 0.24, 3.0 ), 1e-12 );
	int wrong = 0;
	const lmbGrid *grid = &cut.lattice->samples.grid;
	for ( int i = 0; i < grid->cellCount * lmbCellSamples; ++i )
	{
		int cell = i / lmbCellSamples, sample = i % lmbCellSamples;
		int place[3] = { cell / grid->dims[2] / grid->dims[1] * 8 + sample / 64,
		                 cell / grid->dims[2] % grid->dims[1] * 8 + sample / 8 % 8,
		                 cell % grid->dims[2] * 8 + sample % 8 };
		double norm = 0.0;
		for ( int a = 0; a < 3; ++a )
			norm += fabs( grid->origin[a] + ( place[a] + 0.5 ) * grid->cell / 8.0 - 0.005 );
		int block = cut.lattice->samples.blocks[cell];
		bool inside =
		    block < 0
		        ? cut.lattice->samples.whole[cell]
		        : lmbWinding_Inside( cut.lattice->samples.winding[(size_t)block * lmbCellSamples + sample] );
		if ( fabs( norm - 0.24 ) > 1e-9 )
			wrong += inside != ( norm < 0.24 );
	}
	CHECK_INT( wrong, 0 );
	FreeCut( &cut, &shape );
}

/* Trimming takes no inside away worth the name, leaves no part on a hinge, and keeps what it is told to. */
static void Trim( void **state )
{
	(void)state;
	Shape shape = { .bone = -1 };
	const double a[3] = { 0, 0, 0 }, b[3] = { 0.3, 0.5, 0.2 };
	Shape_AddCapsule( &shape, a, b, 0.1, 12, 24 );
	const double crumb[3] = { -0.3, 0, 0 };
	Shape_AddCapsule( &shape, crumb, crumb, 0.012, 6, 12 ); /* 0.03 cells */
	Cut cut = MakeCut( &shape, 0.06 );
	int before = cut.lattice->nodeCount;
	double volume = cut.lattice->volume;
	CHECK_INT( CountParts( cut.lattice ), 2 );
	uint8_t *keep = calloc( (size_t)cut.lattice->tetCount, 1 );
	lmbError error = { 0 };
	CHECK_INT( lmbLattice_Trim( cut.lattice, keep, &error ), lmb_statusOk );
	free( keep );
	printf( "trim: %d nodes of %d stay\n", cut.lattice->nodeCount, before );
	CHECK( cut.lattice->nodeCount < 0.9 * before );
	CHECK_INT( CountParts( cut.lattice ), 1 );
	CHECK_NEAR( cut.lattice->volume / volume, 1.0, 0.005 );
	uint8_t *used = calloc( (size_t)cut.lattice->nodeCount, 1 );
	int unused = 0;
	for ( int e = 0; e < 4 * cut.lattice->tetCount; ++e )
		used[cut.lattice->tets[e]] = 1;
	for ( int i = 0; i < cut.lattice->nodeCount; ++i )
		unused += !used[i];
	CHECK_INT( unused, 0 );
	free( used );
	/* The crumb's samples are no longer inside; the body's are. */
	CHECK( !lmbLattice_Inside( cut.lattice, crumb ) );
	CHECK( lmbLattice_Inside( cut.lattice, a ) );
	FreeCut( &cut, &shape );
}

static void CellsTooSmall( void **state )
{
	(void)state;
	Shape shape = { .bone = -1 };
	const double a[3] = { 0, 0, 0 };
	Shape_AddCapsule( &shape, a, a, 1.0, 8, 16 );
	Shape_AddBone( &shape, "root", -1, a );
	lmbSurface surface = { 0 };
	lmbLattice *lattice;
	lmbError error = { 0 };
	CHECK_INT( lmbSurface_Make( &shape.character, &surface, &error ), lmb_statusOk );
	const double cells[] = { 1e-3, 1e-6, 1e-300 };
	for ( int i = 0; i < 3; ++i )
	{
		CHECK_INT( lmbLattice_Make( &surface, cells[i], NULL, &lattice, &error ), lmb_statusInvalidArgument );
		CHECK( lattice == NULL );
		CHECK_CONTAINS( error.message, "larger cell" );
	}
	lmbSurface_Free( &surface );
	Shape_Free( &shape );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( WholeCells ), CHECK_TEST( FillOfABall ),   CHECK_TEST( MirrorImage ),
	    CHECK_TEST( ThinGaps ),   CHECK_TEST( Legs ),          CHECK_TEST( OverlappingParts ),
	    CHECK_TEST( InsideOut ),  CHECK_TEST( OpenSkin ),      CHECK_TEST( RowsThroughCorners ),
	    CHECK_TEST( Trim ),       CHECK_TEST( CellsTooSmall ),
	};
	return CHECK_RUN( tests );
}
