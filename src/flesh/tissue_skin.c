#include "flesh/tissue_build.h"

#include "base/math3.h"
#include "flesh/skinning.h"

static double SmoothStep( double low, double high, double x )
{
	double t = fmin( fmax( ( x - low ) / ( high - low ), 0.0 ), 1.0 );
	return t * t * ( 3.0 - 2.0 * t );
}

double lmbRigidity( double share )
{
	return SmoothStep( 0.1, 0.6, share );
}

/* Skin that no inside carries (a sheet, a strand of hair) keeps the artist's skinning; its tetrahedron is
 * that of a neighbour, only so that every vertex has one. */
static void AdoptNeighbours( lmbTissueBuild *build )
{
	lmbTissue *tissue = build->tissue;
	const lmbSurface *surface = &build->surface;
	bool changed = true;
	for ( int sweep = 0; changed && sweep < 64; ++sweep )
	{
		changed = false;
		for ( int i = 0; i < surface->triangleCount; ++i )
		{
			/* Forwards and backwards in turn: long strips are numbered along their length. */
			int t = sweep % 2 == 0 ? i : surface->triangleCount - 1 - i;
			const int32_t *v = surface->vertices + 3 * (size_t)t;
			for ( int c = 0; c < 3; ++c )
			{
				int32_t from = v[c], to = v[( c + 1 ) % 3];
				if ( ( tissue->skinTets[from] < 0 ) == ( tissue->skinTets[to] < 0 ) )
					continue;
				if ( tissue->skinTets[from] < 0 )
					tissue->skinTets[from] = tissue->skinTets[to];
				else
					tissue->skinTets[to] = tissue->skinTets[from];
				changed = true;
			}
		}
	}
	for ( int v = 0; v < tissue->vertexCount; ++v )
		if ( tissue->skinTets[v] < 0 )
			tissue->skinTets[v] = 0;
}

static void PlaceVertex( lmbTissueBuild *build, int v )
{
	lmbTissue *tissue = build->tissue;
	int point = build->surface.vertexPoints[v];
	lmbPlace place = lmbLattice_Locate( build->lattice, build->character->bind + 3 * (size_t)v,
	                                    build->surface.normals + 3 * (size_t)point );
	build->reach[v] = place.distance;
	tissue->skinTets[v] = place.tet;
	if ( place.tet < 0 )
	{
		for ( int k = 0; k < 4; ++k )
			tissue->skinWeights[4 * (size_t)v + k] = 0.25;
		return;
	}
	double share = 0.0;
	for ( int k = 0; k < 4; ++k )
	{
		tissue->skinWeights[4 * (size_t)v + k] = place.weights[k];
		share += place.weights[k] * build->rigidShare[tissue->tets[4 * (size_t)place.tet + k]];
	}
	/* The samples of a surface's own inside are within a quarter of a cell; beyond three quarters the
	 * tissue that was found is somebody else's. */
	double near = 1.0 - SmoothStep( 0.25, 0.75, place.distance / tissue->cell );
	tissue->softness[v] = near * ( 1.0 - lmbRigidity( share ) );
}

lmbStatus lmbTissueBuild_Skin( lmbTissueBuild *build, lmbError *error )
{
	lmbTissue *tissue = build->tissue;
	size_t count = (size_t)tissue->vertexCount;
	tissue->skinTets = LMB_NEW( &tissue->arena, int32_t, count );
	tissue->skinWeights = LMB_NEW( &tissue->arena, double, 4 * count );
	tissue->softness = LMB_NEW( &tissue->arena, double, count );
	build->reach = LMB_NEW( &build->scratch, double, count );
	if ( tissue->skinTets == NULL || tissue->skinWeights == NULL || tissue->softness == NULL ||
	     build->reach == NULL )
		return lmbError_Memory( error );
	for ( int v = 0; v < tissue->vertexCount; ++v )
	{
		if ( v % 4096 == 0 && lmbJob_Cancelled( build->job ) )
			return lmbJob_CancelledStatus( error );
		PlaceVertex( build, v );
	}
	AdoptNeighbours( build );
	return lmb_statusOk;
}

void lmbTissue_Skin( const lmbTissue *tissue, const lmbCharacter *character, const double *bones,
                     const double *nodes, double *out )
{
	lmbWeights weights = { character->vertexCount, character->influenceCount, character->vertexBones,
	                       character->weights };
	lmbSkin_Points( &weights, bones, character->bind, out );
	for ( size_t v = 0; v < (size_t)tissue->vertexCount; ++v )
	{
		const int32_t *corners = tissue->tets + 4 * (size_t)tissue->skinTets[v];
		double softness = tissue->softness[v], soft[3] = { 0 };
		if ( softness == 0.0 )
			continue;
		for ( int k = 0; k < 4; ++k )
			lmbAddScaled( soft, soft, tissue->skinWeights[4 * v + k], nodes + 3 * (size_t)corners[k] );
		for ( int a = 0; a < 3; ++a )
			out[3 * v + a] = ( 1.0 - softness ) * out[3 * v + a] + softness * soft[a];
	}
}
