/* Bones inside the lattice: which nodes they hold.
 *
 * A bone is one rod from its joint to the joint of each child that carries skin; a bone without one ends
 * within the skin that it owns. A rod is `boneThickness` of the way to the skin thick at each place, and
 * at least one cell: a thinner one may hold a single line of nodes, about which the limb twists freely.
 * Rods have flat ends, and between the rods of two bones at a joint lies a gap of 1.45 cells, so that at
 * least one layer of free nodes takes up the bend; a joint between rods that meet inverts (min J -0.5 in a
 * study). Held nodes follow the diffused weights, not their rod alone. */
#include "flesh/tissue_build.h"

#include "base/math3.h"

#include <float.h>
#include <stdlib.h>

static const double jointGap = 1.45;     /* cells: above the longest edge of a tetrahedron, sqrt 2 */
static const double leastRadius = 1.0;   /* cells */
static const double leastShare = 0.1;    /* weight that a bone must have on a node to hold it */
static const double heldRigidity = 0.99; /* nodes this rigid by choice are held */

enum
{
	radiusPlaces = 17 /* along a rod */
};

typedef struct Rod
{
	int bone, child; /* child -1: a bone that ends in its skin */
	double start[3], direction[3], length;
	double trims[2]; /* m, left out at start and end */
	double radii[radiusPlaces];
} Rod;

/* What a bone owns of the skin. */
typedef struct Share
{
	double area, squared;  /* sums of weight x area and weight^2 x area */
	double centre[3];      /* mean place, by weight^2 x area */
	double spread, extent; /* m: mean distance from the joint; how far the skin goes along the axis */
	bool below;            /* the bone or one below it owns skin */
} Share;

typedef struct Skeleton
{
	lmbTissueBuild *build;
	Share *shares; /* (boneCount) */
	Rod *rods;
	int rodCount;
	double *fixedRadius; /* (boneCount) m, -1: measured */
	int *holds;          /* (boneCount) nodes that the bone's own rods hold */
	int32_t *holders;    /* (nodeCount) the bone whose rod or core holds a node, -1: none */
} Skeleton;

static void JointPlace( const lmbBone *bone, double *out )
{
	for ( int a = 0; a < 3; ++a )
		out[a] = bone->bind[4 * a + 3];
}

typedef void CornerVisit( Skeleton *skeleton, int bone, const double *point, double weight, double area );

/* Calls visit for every corner of every triangle and every bone that pulls at it. */
static void VisitCorners( Skeleton *skeleton, CornerVisit *visit )
{
	const lmbSurface *surface = &skeleton->build->surface;
	const lmbCharacter *character = skeleton->build->character;
	for ( size_t c = 0; c < 3 * (size_t)surface->triangleCount; ++c )
	{
		size_t row = (size_t)surface->vertices[c] * (size_t)character->influenceCount;
		const double *corners[3];
		double ab[3], ac[3], vector[3];
		for ( int k = 0; k < 3; ++k )
			corners[k] = surface->points + 3 * (size_t)surface->triangles[c / 3 * 3 + (size_t)k];
		lmbSub( ab, corners[1], corners[0] );
		lmbSub( ac, corners[2], corners[0] );
		lmbCross( vector, ab, ac );
		for ( int k = 0; k < character->influenceCount; ++k )
			if ( character->weights[row + k] > 0.0 )
				visit( skeleton, character->vertexBones[row + k], corners[c % 3], character->weights[row + k],
				       lmbLength( vector ) / 6.0 );
	}
}

static void AddShare( Skeleton *skeleton, int bone, const double *point, double weight, double area )
{
	Share *share = skeleton->shares + bone;
	double joint[3], arm[3], weighted = weight * weight * area;
	JointPlace( skeleton->build->character->bones + bone, joint );
	lmbSub( arm, point, joint );
	share->area += weight * area;
	share->squared += weighted;
	share->spread += weighted * lmbLength( arm );
	lmbAddScaled( share->centre, share->centre, weighted, point );
}

static void MeasureShares( Skeleton *skeleton )
{
	const lmbCharacter *character = skeleton->build->character;
	VisitCorners( skeleton, AddShare );
	for ( int j = character->boneCount - 1; j >= 0; --j )
	{
		Share *share = skeleton->shares + j;
		if ( share->squared > 0.0 )
		{
			share->spread /= share->squared;
			for ( int a = 0; a < 3; ++a )
				share->centre[a] /= share->squared;
		}
		share->below = share->below || share->area > 1e-9 * skeleton->build->surface.area;
		if ( character->bones[j].parent >= 0 && share->below )
			skeleton->shares[character->bones[j].parent].below = true;
	}
}

static bool OwnsSkin( const Skeleton *skeleton, int bone )
{
	return skeleton->shares[bone].area > 1e-9 * skeleton->build->surface.area;
}

static void MakeRod( Skeleton *skeleton, int bone, int child, const double *end )
{
	Rod *rod = skeleton->rods + skeleton->rodCount++;
	rod->bone = bone;
	rod->child = child;
	JointPlace( skeleton->build->character->bones + bone, rod->start );
	lmbSub( rod->direction, end, rod->start );
	rod->length = lmbLength( rod->direction );
	for ( int a = 0; a < 3; ++a )
		rod->direction[a] = rod->length > 0.0 ? rod->direction[a] / rod->length : ( a == 0 );
}

/* Children further along a coincident joint count as the joint's own, so a bone of no length does not hide
 * the one behind it. */
static void ChildRods( Skeleton *skeleton, int bone, double least )
{
	const lmbCharacter *character = skeleton->build->character;
	double joint[3], end[3], arm[3];
	JointPlace( character->bones + bone, joint );
	int children = 0, before = skeleton->rodCount;
	for ( int pass = 0; pass < 2; ++pass )
		for ( int c = bone + 1; c < character->boneCount; ++c )
		{
			if ( character->bones[c].parent != bone )
				continue;
			JointPlace( character->bones + c, end );
			lmbSub( arm, end, joint );
			children += pass == 0;
			/* A child without skin marks the bone's end only when it is the only child. */
			bool marks =
			    pass == 0 ? skeleton->shares[c].below : skeleton->rodCount == before && children == 1;
			if ( marks && lmbLength( arm ) > least )
				MakeRod( skeleton, bone, c, end );
		}
}

static void AddExtent( Skeleton *skeleton, int bone, const double *point, double weight, double area )
{
	Share *share = skeleton->shares + bone;
	double joint[3], arm[3], axis[3];
	(void)area;
	JointPlace( skeleton->build->character->bones + bone, joint );
	lmbSub( arm, point, joint );
	lmbSub( axis, share->centre, joint );
	double length = lmbLength( axis );
	if ( weight >= 0.5 && length > 0.0 )
		share->extent = fmax( share->extent, lmbDot( arm, axis ) / length );
}

/* Four fifths of the way to the far end of the bone's own skin, or a point where the skin lies all around
 * the joint (an eye). */
static void LeafRod( Skeleton *skeleton, int bone )
{
	const Share *share = skeleton->shares + bone;
	double joint[3], axis[3], end[3];
	JointPlace( skeleton->build->character->bones + bone, joint );
	lmbSub( axis, share->centre, joint );
	double length = lmbLength( axis );
	bool point = !( length > 0.2 * share->spread );
	double reach = point ? 0.0 : fmax( 0.8 * share->extent, length ) / length;
	lmbAddScaled( end, joint, reach, axis );
	MakeRod( skeleton, bone, -1, end );
}

static lmbStatus MakeRods( Skeleton *skeleton, lmbError *error )
{
	lmbTissueBuild *build = skeleton->build;
	int boneCount = build->character->boneCount;
	skeleton->shares = LMB_NEW( &build->scratch, Share, boneCount );
	skeleton->rods = LMB_NEW( &build->scratch, Rod, 2 * (size_t)boneCount );
	if ( skeleton->shares == NULL || skeleton->rods == NULL )
		return lmbError_Memory( error );
	MeasureShares( skeleton );
	VisitCorners( skeleton, AddExtent );
	double size[3];
	lmbSub( size, build->surface.high, build->surface.low );
	for ( int j = 0; j < boneCount; ++j )
	{
		int before = skeleton->rodCount;
		if ( !OwnsSkin( skeleton, j ) )
			continue;
		ChildRods( skeleton, j, 1e-4 * lmbLength( size ) );
		if ( skeleton->rodCount == before )
			LeafRod( skeleton, j );
	}
	return lmb_statusOk;
}

/* What a rod can still give away at its ends: it keeps at least one cell of length. */
static double Spare( const Rod *rod, double cell )
{
	return fmax( rod->length - cell - rod->trims[0] - rod->trims[1], 0.0 );
}

/* Half of the gap from either rod where both can; where one is too short the other gives more. */
static void TrimRods( Skeleton *skeleton )
{
	const lmbBone *bones = skeleton->build->character->bones;
	double cell = skeleton->build->lattice->samples.grid.cell, gap = jointGap * cell;
	for ( int pass = 0; pass < 2; ++pass )
		for ( int i = 0; i < skeleton->rodCount; ++i )
			for ( int o = 0; o < skeleton->rodCount; ++o )
			{
				Rod *in = skeleton->rods + i, *out = skeleton->rods + o;
				if ( in->child < 0 || in->child != out->bone || bones[out->bone].parent != in->bone )
					continue;
				double missing = gap - in->trims[1] - out->trims[0];
				if ( pass == 0 )
				{
					/* A rod with gaps at both ends shares what it can give between them. */
					double fair = 0.5 * fmax( in->length - cell, 0.0 );
					in->trims[1] = fmin( fmax( 0.5 * gap, in->trims[1] ), fmax( fair, in->trims[1] ) );
					fair = out->child < 0 ? Spare( out, cell ) : 0.5 * fmax( out->length - cell, 0.0 );
					out->trims[0] = fmin( fmax( 0.5 * gap, out->trims[0] ), fmax( fair, out->trims[0] ) );
				}
				else if ( missing > 0.0 )
				{
					double more = fmin( missing, Spare( out, cell ) );
					out->trims[0] += more;
					in->trims[1] += fmin( missing - more, Spare( in, cell ) );
				}
			}
}

static void MeasureRadii( Skeleton *skeleton )
{
	const lmbTissueBuild *build = skeleton->build;
	double least = leastRadius * build->lattice->samples.grid.cell;
	for ( int i = 0; i < skeleton->rodCount; ++i )
	{
		Rod *rod = skeleton->rods + i;
		for ( int p = 0; p < radiusPlaces; ++p )
		{
			double point[3];
			lmbAddScaled( point, rod->start, rod->length * p / ( radiusPlaces - 1 ), rod->direction );
			double depth = lmbLattice_Inside( build->lattice, point )
			                   ? lmbTriangleTree_Nearest( build->surface.tree, point ).distance
			                   : 0.0;
			rod->radii[p] = skeleton->fixedRadius[rod->bone] >= 0.0
			                    ? skeleton->fixedRadius[rod->bone]
			                    : fmax( build->def->boneThickness * depth, least );
		}
	}
}

static double NodeShare( const lmbTissue *tissue, int node, int bone )
{
	double share = 0.0;
	for ( int k = 0; k < tissue->influenceCount; ++k )
		if ( tissue->nodeBones[(size_t)node * tissue->influenceCount + k] == bone )
			share += tissue->nodeWeights[(size_t)node * tissue->influenceCount + k];
	return share;
}

static bool InRod( const Rod *rod, const double *point )
{
	double arm[3], foot[3];
	lmbSub( arm, point, rod->start );
	double along = lmbDot( arm, rod->direction );
	double slack = 1e-9 * rod->radii[0];
	if ( rod->length > 0.0 &&
	     ( along < rod->trims[0] - slack || along > rod->length - rod->trims[1] + slack ) )
		return false;
	lmbAddScaled( foot, arm, rod->length > 0.0 ? -along : 0.0, rod->direction );
	double place = rod->length > 0.0 ? along / rod->length * ( radiusPlaces - 1 ) : 0.0;
	int low = (int)fmin( fmax( floor( place ), 0.0 ), radiusPlaces - 2 );
	double share = fmin( fmax( place - low, 0.0 ), 1.0 );
	double radius = ( 1.0 - share ) * rod->radii[low] + share * rod->radii[low + 1];
	return radius > 0.0 && lmbLength( foot ) <= radius + slack;
}

/* Rigid regions are held whole; between them and the rods of their neighbours lies the border where the
 * share of rigid weights rises, free to bend. */
static void HoldByRods( Skeleton *skeleton )
{
	const lmbTissueBuild *build = skeleton->build;
	lmbTissue *tissue = build->tissue;
	for ( int i = 0; i < tissue->nodeCount; ++i )
		for ( int r = 0; r < skeleton->rodCount; ++r )
		{
			const Rod *rod = skeleton->rods + r;
			if ( lmbRigidity( build->rigidShare[i] ) > 0.0 || !InRod( rod, tissue->nodes + 3 * (size_t)i ) ||
			     NodeShare( tissue, i, rod->bone ) < leastShare )
				continue;
			skeleton->holds[rod->bone] += 1;
			if ( !tissue->held[i] )
				skeleton->holders[i] = rod->bone;
			tissue->held[i] = 1;
		}
}

/* How much of a cell is the bone's own: weight x fill, 0 where the bone has less than half of the weight or
 * another bone holds a node of the cell or next to it (near). */
static double CoreWorth( const Skeleton *skeleton, const lmbLatticeCell *cell, int bone, const uint8_t *near )
{
	const lmbLattice *lattice = skeleton->build->lattice;
	double share = 0.0, fill = 0.0;
	for ( int c = 0; c < 8; ++c )
	{
		if ( cell->nodes[c] < 0 )
			continue;
		if ( near[cell->nodes[c]] )
			return 0.0;
		share += NodeShare( skeleton->build->tissue, cell->nodes[c], bone ) / 8.0;
	}
	for ( int t = 0; t < lmbCellTets; ++t )
		if ( cell->tets[t] >= 0 )
			fill += lattice->fill[cell->tets[t]] * ( t == 4 ? 1.0 / 3.0 : 1.0 / 6.0 );
	return share < 0.5 ? 0.0 : share * fill;
}

/* Nodes that another bone holds, or that share a tetrahedron with one that it holds. */
static void MarkNear( const Skeleton *skeleton, int bone, uint8_t *near )
{
	const lmbTissue *tissue = skeleton->build->tissue;
	memset( near, 0, (size_t)tissue->nodeCount );
	for ( size_t t = 0; t < (size_t)tissue->tetCount; ++t )
	{
		bool other = false;
		for ( int k = 0; k < 4; ++k )
		{
			int32_t node = tissue->tets[4 * t + k];
			other = other || ( tissue->held[node] && skeleton->holders[node] != bone );
		}
		for ( int k = 0; other && k < 4; ++k )
			near[tissue->tets[4 * t + k]] = 1;
	}
}

/* A bone that runs outside its own flesh (a rig that is not anatomy) or grazes it holds the cell that is
 * most its own, when there is one that it shares with few and that leaves a gap to what others hold. */
static lmbStatus HoldCores( Skeleton *skeleton, lmbError *error )
{
	lmbTissueBuild *build = skeleton->build;
	uint8_t *near = LMB_NEW( &build->scratch, uint8_t, build->tissue->nodeCount );
	if ( near == NULL )
		return lmbError_Memory( error );
	for ( int j = 0; j < build->tissue->boneCount; ++j )
	{
		if ( skeleton->holds[j] >= 4 || skeleton->fixedRadius[j] >= 0.0 || build->rigidBones[j] ||
		     !OwnsSkin( skeleton, j ) )
			continue;
		MarkNear( skeleton, j, near );
		const lmbLatticeCell *best = NULL;
		double most = 0.0;
		for ( int i = 0; i < build->lattice->copyCount; ++i )
		{
			double worth = CoreWorth( skeleton, build->lattice->cells + i, j, near );
			best = worth > most ? build->lattice->cells + i : best;
			most = fmax( worth, most );
		}
		for ( int c = 0; best != NULL && c < 8; ++c )
			if ( best->nodes[c] >= 0 )
			{
				build->tissue->held[best->nodes[c]] = 1;
				skeleton->holders[best->nodes[c]] = j;
			}
	}
	return lmb_statusOk;
}

static int32_t Root( int32_t *parents, int32_t i )
{
	while ( parents[i] != i )
		i = parents[i] = parents[parents[i]];
	return i;
}

/* For each connected part of the lattice whether its held nodes span a triangle, without which it could
 * move rigidly: the first held node, the one farthest from it, and the widest third. */
typedef struct Anchor
{
	int32_t first, far;
	double length, width;
} Anchor;

static void FindAnchors( const lmbTissue *tissue, int32_t *parents, Anchor *anchors )
{
	for ( int pass = 0; pass < 3; ++pass )
		for ( int32_t i = 0; i < tissue->nodeCount; ++i )
		{
			Anchor *anchor = anchors + Root( parents, i );
			if ( !tissue->held[i] )
				continue;
			if ( pass == 0 && anchor->first < 0 )
				anchor->first = anchor->far = i;
			double arm[3], axis[3], cross[3];
			lmbSub( arm, tissue->nodes + 3 * (size_t)i, tissue->nodes + 3 * (size_t)anchor->first );
			lmbSub( axis, tissue->nodes + 3 * (size_t)anchor->far,
			        tissue->nodes + 3 * (size_t)anchor->first );
			lmbCross( cross, arm, axis );
			if ( pass == 1 && lmbLength( arm ) > anchor->length )
			{
				anchor->length = lmbLength( arm );
				anchor->far = i;
			}
			if ( pass == 2 && anchor->length > 0.0 )
				anchor->width = fmax( anchor->width, lmbLength( cross ) / lmbLength( axis ) );
		}
}

/* Parts of the lattice that no bone anchors follow the pose whole. */
static lmbStatus HoldLoose( lmbTissueBuild *build, lmbError *error )
{
	lmbTissue *tissue = build->tissue;
	int32_t *parents = LMB_NEW( &build->scratch, int32_t, tissue->nodeCount );
	Anchor *anchors = LMB_NEW( &build->scratch, Anchor, tissue->nodeCount );
	if ( parents == NULL || anchors == NULL )
		return lmbError_Memory( error );
	for ( int32_t i = 0; i < tissue->nodeCount; ++i )
	{
		parents[i] = i;
		anchors[i].first = anchors[i].far = -1;
	}
	for ( size_t e = 0; e < 4 * (size_t)tissue->tetCount; ++e )
	{
		int32_t a = Root( parents, tissue->tets[e] ), b = Root( parents, tissue->tets[e / 4 * 4] );
		parents[a > b ? a : b] = a > b ? b : a;
	}
	FindAnchors( tissue, parents, anchors );
	int parts = 0, nodes = 0;
	for ( int32_t i = 0; i < tissue->nodeCount; ++i )
	{
		int32_t root = Root( parents, i );
		if ( anchors[root].width > 0.25 * tissue->cell )
			continue;
		parts += root == i;
		nodes += !tissue->held[i];
		tissue->held[i] = 1;
	}
	if ( nodes > 0 )
		lmbJob_Note(
		    build->job,
		    "%d nodes in %d separate parts of the body have no bone inside; they follow the skeleton "
		    "without moving on their own",
		    nodes, parts );
	return lmb_statusOk;
}

static lmbStatus ReadRadii( Skeleton *skeleton, lmbError *error )
{
	const lmbTissueBuild *build = skeleton->build;
	int boneCount = build->character->boneCount;
	skeleton->fixedRadius = LMB_NEW( &skeleton->build->scratch, double, boneCount );
	skeleton->holds = LMB_NEW( &skeleton->build->scratch, int, boneCount );
	skeleton->holders = LMB_NEW( &skeleton->build->scratch, int32_t, build->tissue->nodeCount );
	if ( skeleton->fixedRadius == NULL || skeleton->holds == NULL || skeleton->holders == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < build->tissue->nodeCount; ++i )
		skeleton->holders[i] = -1;
	for ( int j = 0; j < boneCount; ++j )
		skeleton->fixedRadius[j] = -1.0;
	for ( int i = 0; i < build->def->radiusCount; ++i )
		skeleton->fixedRadius[lmbCharacter_FindBone( build->character, build->def->radii[i].bone )] =
		    build->def->radii[i].radius;
	return lmb_statusOk;
}

lmbStatus lmbTissueBuild_Bones( lmbTissueBuild *build, lmbError *error )
{
	lmbTissue *tissue = build->tissue;
	Skeleton skeleton = { .build = build };
	tissue->held = LMB_NEW( &tissue->arena, uint8_t, tissue->nodeCount );
	if ( tissue->held == NULL )
		return lmbError_Memory( error );
	LMB_TRY( ReadRadii( &skeleton, error ) );
	LMB_TRY( MakeRods( &skeleton, error ) );
	TrimRods( &skeleton );
	MeasureRadii( &skeleton );
	HoldByRods( &skeleton );
	LMB_TRY( HoldCores( &skeleton, error ) );
	for ( int i = 0; i < tissue->nodeCount; ++i )
		if ( lmbRigidity( build->rigidShare[i] ) >= heldRigidity )
			tissue->held[i] = 1;
	return HoldLoose( build, error );
}
