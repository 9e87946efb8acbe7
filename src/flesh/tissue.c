#include "flesh/tissue_build.h"

#include "base/math3.h"

#include <stdlib.h>

static const lmbMaterial defaultMaterials[] = { { NULL, 50e3, 0.45, 1000.0 } };

lmbTissueDef lmbDefaultTissueDef( void )
{
	return ( lmbTissueDef ){
	    .nodeTarget = 2400, .boneThickness = 0.35, .materials = defaultMaterials, .materialCount = 1 };
}

static const char *CharacterName( const lmbCharacter *character )
{
	return character->path != NULL ? character->path : "character";
}

static lmbStatus CheckBone( const lmbCharacter *character, const char *bone, const char *key,
                            lmbError *error )
{
	if ( bone != NULL && lmbCharacter_FindBone( character, bone ) >= 0 )
		return lmb_statusOk;
	return lmbError_Set(
	    error, lmb_statusNotFound,
	    "%s: %s names bone \"%s\", which the skeleton does not have; its first bone is \"%s\", "
	    "`limber info` lists all",
	    CharacterName( character ), key, bone != NULL ? bone : "(none)",
	    character->boneCount > 0 ? character->bones[0].name : "" );
}

static lmbStatus CheckRange( double value, double low, double high, const char *key, lmbError *error )
{
	if ( value >= low && value <= high )
		return lmb_statusOk;
	return lmbError_Set( error, lmb_statusInvalidArgument, "tissue: %s is %g, outside [%g, %g]", key, value,
	                     low, high );
}

static lmbStatus CheckDef( const lmbCharacter *character, const lmbTissueDef *def, lmbError *error )
{
	if ( def->cell != 0.0 )
		LMB_TRY( CheckRange( def->cell, 1e-6, 1e6, "cell", error ) );
	else
		LMB_TRY( CheckRange( def->nodeTarget, 50, 200000, "nodeTarget", error ) );
	LMB_TRY( CheckRange( def->boneThickness, 0.0, 0.9, "boneThickness", error ) );
	for ( int i = 0; i < def->materialCount; ++i )
	{
		const lmbMaterial *material = def->materials + i;
		if ( material->bone != NULL )
			LMB_TRY( CheckBone( character, material->bone, "a material", error ) );
		LMB_TRY( CheckRange( material->young, 100.0, 1e9, "a material's young", error ) );
		LMB_TRY( CheckRange( material->poisson, 0.0, 0.495, "a material's poisson", error ) );
		LMB_TRY( CheckRange( material->density, 1.0, 1e5, "a material's density", error ) );
	}
	for ( int i = 0; i < def->radiusCount; ++i )
	{
		LMB_TRY( CheckBone( character, def->radii[i].bone, "a radius", error ) );
		LMB_TRY( CheckRange( def->radii[i].radius, 0.0, 1e6, "a bone's radius", error ) );
	}
	for ( int i = 0; i < def->rigidCount; ++i )
		LMB_TRY( CheckBone( character, def->rigidBones[i], "the list of rigid bones", error ) );
	return lmb_statusOk;
}

/* About how many nodes a lattice has: one a cell inside, and the cells that the surface cuts. Only a
 * start for the search. */
static double FirstCell( const lmbSurface *surface, int nodeTarget )
{
	double low = 1e-9, high = 1e9;
	for ( int i = 0; i < 200; ++i )
	{
		double cell = sqrt( low * high );
		double nodes = fabs( surface->volume ) / ( cell * cell * cell ) + surface->area / ( cell * cell );
		*( nodes > nodeTarget ? &low : &high ) = cell;
	}
	return high;
}

/* Leaves out of the lattice what neither the inside nor the skin needs. */
static lmbStatus TrimToSkin( const lmbSurface *surface, lmbLattice *lattice, lmbError *error )
{
	uint8_t *keep = calloc( (size_t)lattice->tetCount + 1, 1 );
	if ( keep == NULL )
		return lmbError_Memory( error );
	for ( int p = 0; p < surface->pointCount; ++p )
	{
		lmbPlace place =
		    lmbLattice_Locate( lattice, surface->points + 3 * (size_t)p, surface->normals + 3 * (size_t)p );
		if ( place.tet >= 0 )
			keep[place.tet] = 1;
	}
	lmbStatus status = lmbLattice_Trim( lattice, keep, error );
	free( keep );
	return status;
}

static lmbStatus TryCell( const lmbTissueBuild *build, double cell, lmbLattice **out, lmbError *error )
{
	LMB_TRY( lmbLattice_Make( &build->surface, cell, build->job, out, error ) );
	lmbStatus status = TrimToSkin( &build->surface, *out, error );
	if ( status != lmb_statusOk )
	{
		lmbLattice_Free( *out );
		*out = NULL;
	}
	return status;
}

/* Tries cells until the number of nodes is within 2 % of the target; the nearest of seven is good enough,
 * since the count jumps with the place of the grid. */
static lmbStatus SearchCell( lmbTissueBuild *build, lmbError *error )
{
	double target = build->def->nodeTarget, best = INFINITY;
	double cell = FirstCell( &build->surface, build->def->nodeTarget );
	for ( int trial = 0; trial < 7 && best > 0.02; ++trial )
	{
		lmbLattice *lattice;
		lmbStatus status = TryCell( build, cell, &lattice, error );
		if ( status != lmb_statusOk && ( status != lmb_statusInvalidArgument || build->lattice == NULL ) )
			return status;
		if ( status != lmb_statusOk )
			break;
		double ratio = fmax( lattice->nodeCount, 1.0 ) / target;
		double off = fabs( log( ratio ) );
		if ( off < best )
		{
			lmbLattice_Free( build->lattice );
			build->lattice = lattice;
			best = off;
		}
		else
			lmbLattice_Free( lattice );
		/* Between the square and the cube of the cell's size, as the surface or the volume rules. */
		cell *= pow( fmin( fmax( ratio, 0.02 ), 50.0 ), 1.0 / 2.5 );
	}
	return lmb_statusOk;
}

static lmbStatus RefuseThin( const lmbTissueBuild *build, double share, lmbError *error )
{
	const lmbSurface *surface = &build->surface;
	double cell = build->lattice->samples.grid.cell;
	double thickness = 2.0 * fabs( surface->volume ) / surface->area;
	return lmbError_Set(
	    error, lmb_statusUnsupported,
	    "%s: %.0f %% of the skin has no inside that a lattice of %.3g m cells can find (the body "
	    "is about %.2g m thick on average, in %d parts, %s). If it is thin, use a smaller cell, "
	    "e.g. %.2g m; if it is a sheet, give it thickness or close it; if its triangles face "
	    "inwards, turn them outwards",
	    CharacterName( build->character ), 100.0 * share, cell, thickness, surface->componentCount,
	    surface->closed ? "closed" : "open", fmin( 0.5 * cell, fmax( thickness, 0.05 * cell ) ) );
}

static lmbStatus MakeLattice( lmbTissueBuild *build, lmbError *error )
{
	if ( build->def->cell != 0.0 )
		LMB_TRY( TryCell( build, build->def->cell, &build->lattice, error ) );
	else
		LMB_TRY( SearchCell( build, error ) );
	lmbLattice *lattice = build->lattice;
	if ( lattice->tetCount == 0 )
		return RefuseThin( build, 1.0, error );
	lmbTissue *tissue = build->tissue;
	tissue->nodeCount = lattice->nodeCount;
	tissue->tetCount = lattice->tetCount;
	tissue->boneCount = build->character->boneCount;
	tissue->vertexCount = build->character->vertexCount;
	tissue->cell = lattice->samples.grid.cell;
	tissue->nodes = LMB_NEW( &tissue->arena, double, 3 * (size_t)lattice->nodeCount );
	tissue->tets = LMB_NEW( &tissue->arena, int32_t, 4 * (size_t)lattice->tetCount );
	if ( tissue->nodes == NULL || tissue->tets == NULL )
		return lmbError_Memory( error );
	memcpy( tissue->nodes, lattice->nodes, 3 * (size_t)lattice->nodeCount * sizeof( double ) );
	memcpy( tissue->tets, lattice->tets, 4 * (size_t)lattice->tetCount * sizeof( int32_t ) );
	return lmb_statusOk;
}

static lmbStatus FindRigid( lmbTissueBuild *build, lmbError *error )
{
	const lmbCharacter *character = build->character;
	build->rigidBones = LMB_NEW( &build->scratch, uint8_t, character->boneCount );
	build->carriers = LMB_NEW( &build->scratch, int32_t, character->boneCount );
	if ( build->rigidBones == NULL || build->carriers == NULL )
		return lmbError_Memory( error );
	for ( int i = 0; i < build->def->rigidCount; ++i )
		build->rigidBones[lmbCharacter_FindBone( character, build->def->rigidBones[i] )] = 1;
	for ( int j = 0; j < character->boneCount; ++j )
	{
		int parent = character->bones[j].parent;
		bool below = parent >= 0 && build->rigidBones[parent];
		build->carriers[j] = below ? build->carriers[parent] : j;
		build->rigidBones[j] = build->rigidBones[j] || below;
	}
	return lmb_statusOk;
}

/* The bone with the largest weight over a tetrahedron's nodes; of equals the first met. */
static int TetBone( const lmbTissue *tissue, int tet )
{
	int bones[4 * lmbMostInfluences], count = 0, best = 0;
	double sums[4 * lmbMostInfluences];
	for ( int c = 0; c < 4; ++c )
		for ( int k = 0; k < tissue->influenceCount; ++k )
		{
			size_t entry = (size_t)tissue->tets[4 * (size_t)tet + c] * tissue->influenceCount + k;
			int i = 0;
			while ( i < count && bones[i] != tissue->nodeBones[entry] )
				++i;
			if ( i == count )
			{
				bones[count] = tissue->nodeBones[entry];
				sums[count++] = 0.0;
			}
			sums[i] += tissue->nodeWeights[entry];
		}
	for ( int i = 1; i < count; ++i )
		if ( sums[i] > sums[best] )
			best = i;
	return bones[best];
}

static double TetVolume( const lmbTissue *tissue, int tet )
{
	const int32_t *n = tissue->tets + 4 * (size_t)tet;
	double edges[9];
	for ( int c = 0; c < 3; ++c )
		lmbSub( edges + 3 * c, tissue->nodes + 3 * (size_t)n[c + 1], tissue->nodes + 3 * (size_t)n[0] );
	return lmbMat33_Determinant( edges ) / 6.0;
}

static lmbMaterial BoneMaterial( const lmbTissueBuild *build, int bone )
{
	lmbMaterial chosen = defaultMaterials[0];
	for ( int i = 0; i < build->def->materialCount; ++i )
	{
		const lmbMaterial *material = build->def->materials + i;
		if ( material->bone == NULL || lmbCharacter_FindBone( build->character, material->bone ) == bone )
			chosen = *material;
	}
	return chosen;
}

static lmbStatus AssignMaterials( lmbTissueBuild *build, lmbError *error )
{
	lmbTissue *tissue = build->tissue;
	size_t count = (size_t)tissue->tetCount;
	tissue->fill = LMB_NEW( &tissue->arena, double, count );
	tissue->young = LMB_NEW( &tissue->arena, double, count );
	tissue->poisson = LMB_NEW( &tissue->arena, double, count );
	tissue->density = LMB_NEW( &tissue->arena, double, count );
	tissue->mass = LMB_NEW( &tissue->arena, double, tissue->nodeCount );
	lmbMaterial *chosen = LMB_NEW( &build->scratch, lmbMaterial, tissue->boneCount );
	if ( tissue->fill == NULL || tissue->young == NULL || tissue->poisson == NULL ||
	     tissue->density == NULL || tissue->mass == NULL || chosen == NULL )
		return lmbError_Memory( error );
	for ( int j = 0; j < tissue->boneCount; ++j )
		chosen[j] = BoneMaterial( build, j );
	for ( int t = 0; t < tissue->tetCount; ++t )
	{
		const lmbMaterial *material = chosen + TetBone( tissue, t );
		tissue->fill[t] = fmax( build->lattice->fill[t], LMB_LEAST_FILL );
		tissue->young[t] = material->young;
		tissue->poisson[t] = material->poisson;
		tissue->density[t] = material->density;
		double share = 0.25 * material->density * tissue->fill[t] * TetVolume( tissue, t );
		for ( int c = 0; c < 4; ++c )
			tissue->mass[tissue->tets[4 * (size_t)t + c]] += share;
	}
	return lmb_statusOk;
}

/* Skin far from any inside, by area. */
static lmbStatus CheckThickness( const lmbTissueBuild *build, lmbError *error )
{
	double far = 0.0;
	const lmbSurface *surface = &build->surface;
	int next = 0; /* points are numbered by their first vertex */
	for ( int v = 0; v < build->tissue->vertexCount; ++v )
	{
		if ( surface->vertexPoints[v] != next )
			continue;
		if ( build->reach[v] > 0.5 * build->tissue->cell )
			far += surface->areas[next];
		next += 1;
	}
	if ( far > 0.5 * surface->area )
		return RefuseThin( build, far / surface->area, error );
	if ( far > 0.01 * surface->area )
		lmbJob_Note( build->job,
		             "%.0f %% of the skin is too thin for cells of %.3g m and keeps the artist's skinning",
		             100.0 * far / surface->area, build->tissue->cell );
	return lmb_statusOk;
}

/* A closed skin whose volume the lattice does not have is worth a line. */
static void ExplainVolume( const lmbTissueBuild *build )
{
	double share = build->lattice->volume / build->surface.volume - 1.0;
	if ( build->surface.closed && fabs( share ) > 0.02 )
		lmbJob_Note( build->job,
		             "the lattice holds %.3g m^3 inside the skin, %+.1f %% of the skin's own %.3g m^3: %s",
		             build->lattice->volume, 100.0 * share, build->surface.volume,
		             share < 0.0 && build->surface.componentCount > 1
		                 ? "parts that overlap count once, or are thinner than an eighth of a cell"
		                 : "parts of it are thinner than an eighth of a cell" );
}

static void FillReport( const lmbTissueBuild *build, lmbTissueReport *report )
{
	const lmbTissue *tissue = build->tissue;
	*report = ( lmbTissueReport ){ .volume = build->lattice->volume,
	                               .surfaceVolume = build->surface.volume,
	                               .closed = build->surface.closed,
	                               .componentCount = build->surface.componentCount,
	                               .splitCellCount = build->lattice->splitCount };
	for ( int i = 0; i < tissue->nodeCount; ++i )
	{
		report->mass += tissue->mass[i];
		report->heldCount += tissue->held[i];
	}
	for ( int v = 0; v < tissue->vertexCount; ++v )
		report->softVertexCount += tissue->softness[v] >= 0.5;
}

static lmbStatus Build( lmbTissueBuild *build, lmbError *error )
{
	LMB_TRY( CheckDef( build->character, build->def, error ) );
	LMB_TRY( lmbSurface_Make( build->character, &build->surface, error ) );
	LMB_TRY( FindRigid( build, error ) );
	LMB_TRY( MakeLattice( build, error ) );
	LMB_TRY( lmbTissueBuild_Weights( build, error ) );
	LMB_TRY( lmbTissueBuild_Bones( build, error ) );
	LMB_TRY( lmbTissueBuild_Skin( build, error ) );
	LMB_TRY( CheckThickness( build, error ) );
	return AssignMaterials( build, error );
}

lmbStatus lmbTissue_Make( const lmbCharacter *character, const lmbTissueDef *def, const lmbJob *job,
                          lmbTissue **out, lmbTissueReport *report, lmbError *error )
{
	*out = NULL;
	lmbTissueBuild build = { .character = character, .def = def, .job = job };
	build.tissue = calloc( 1, sizeof( *build.tissue ) );
	if ( build.tissue == NULL )
		return lmbError_Memory( error );
	lmbStatus status = Build( &build, error );
	if ( status == lmb_statusOk )
		ExplainVolume( &build );
	if ( status == lmb_statusOk && report != NULL )
		FillReport( &build, report );
	if ( status == lmb_statusOk )
		*out = build.tissue;
	else
		lmbTissue_Free( build.tissue );
	lmbArena_Free( &build.scratch );
	lmbLattice_Free( build.lattice );
	lmbSurface_Free( &build.surface );
	return status;
}

void lmbTissue_Free( lmbTissue *tissue )
{
	if ( tissue == NULL )
		return;
	lmbArena_Free( &tissue->arena );
	free( tissue );
}
