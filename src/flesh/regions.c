#include "flesh/regions.h"

#include "base/math3.h"

#include <stdbool.h>

lmbRegionDef lmbDefaultRegionDef( const lmbSurface *surface )
{
	return ( lmbRegionDef ){ .smallest = 0.005, .spread = 0.04 * sqrt( surface->area ), .threshold = 0.05 };
}

/* Bone weights at the welded points, and the neighbours of each point. */
typedef struct Cover
{
	int pointCount, boneCount;
	double *weights;          /* (pointCount x boneCount) */
	double *next;             /* (pointCount x boneCount) */
	int32_t *first;           /* (pointCount + 1) into neighbours */
	int32_t *neighbours;      /* each edge as often as triangles use it, from both ends */
	double *softness, *areas; /* (pointCount) */
	double meanEdge;          /* m */
} Cover;

static void AddWeights( const lmbCharacter *character, const lmbTissue *tissue, const lmbSurface *surface,
                        Cover *cover )
{
	int32_t *uses = cover->first; /* counts for a moment; overwritten by Neighbours */
	for ( int v = 0; v < character->vertexCount; ++v )
	{
		int p = surface->vertexPoints[v];
		for ( int k = 0; k < character->influenceCount; ++k )
		{
			size_t at = (size_t)v * (size_t)character->influenceCount + (size_t)k;
			cover->weights[(size_t)p * cover->boneCount + character->vertexBones[at]] +=
			    character->weights[at];
		}
		cover->softness[p] += tissue->softness[v];
		uses[p] += 1;
	}
	for ( int p = 0; p < cover->pointCount; ++p )
	{
		cover->softness[p] /= uses[p] > 0 ? uses[p] : 1;
		for ( int j = 0; j < cover->boneCount; ++j )
			cover->weights[(size_t)p * cover->boneCount + j] /= uses[p] > 0 ? uses[p] : 1;
	}
}

static void Neighbours( const lmbSurface *surface, Cover *cover )
{
	memset( cover->first, 0, ( (size_t)cover->pointCount + 1 ) * sizeof( int32_t ) );
	double length = 0.0;
	for ( int t = 0; t < 3 * surface->triangleCount; ++t )
		cover->first[surface->triangles[t] + 1] += 2;
	for ( int p = 0; p < cover->pointCount; ++p )
		cover->first[p + 1] += cover->first[p];
	for ( int t = 0; t < surface->triangleCount; ++t )
		for ( int i = 0; i < 3; ++i )
		{
			int a = surface->triangles[3 * t + i], edge[3];
			for ( int k = 1; k < 3; ++k )
			{
				edge[k] = surface->triangles[3 * t + ( i + k ) % 3];
				cover->neighbours[cover->first[a]++] = edge[k];
			}
			double between[3];
			lmbSub( between, surface->points + 3 * (size_t)a, surface->points + 3 * (size_t)edge[1] );
			length += lmbLength( between );
		}
	for ( int p = cover->pointCount; p > 0; --p )
		cover->first[p] = cover->first[p - 1];
	cover->first[0] = 0;
	cover->meanEdge = surface->triangleCount > 0 ? length / ( 3.0 * surface->triangleCount ) : 0.0;
}

/* Half of every point's weights walk to its neighbours, `rounds` times: a random walk whose mean square way
 * is rounds / 2 edges^2. */
static void Diffuse( Cover *cover, int rounds )
{
	for ( int round = 0; round < rounds; ++round )
	{
		for ( int p = 0; p < cover->pointCount; ++p )
		{
			double *out = cover->next + (size_t)p * cover->boneCount;
			int begin = cover->first[p], end = cover->first[p + 1];
			const double *own = cover->weights + (size_t)p * cover->boneCount;
			for ( int j = 0; j < cover->boneCount; ++j )
				out[j] = end > begin ? 0.5 * own[j] : own[j];
			for ( int n = begin; n < end; ++n )
			{
				const double *other = cover->weights + (size_t)cover->neighbours[n] * cover->boneCount;
				for ( int j = 0; j < cover->boneCount; ++j )
					out[j] += 0.5 / ( end - begin ) * other[j];
			}
		}
		double *swap = cover->weights;
		cover->weights = cover->next;
		cover->next = swap;
	}
}

/* Soft skin that bone j moves, m^2. */
static double SoftArea( const Cover *cover, int j )
{
	double area = 0.0;
	for ( int p = 0; p < cover->pointCount; ++p )
		area += cover->areas[p] * cover->softness[p] * cover->weights[(size_t)p * cover->boneCount + j];
	return area;
}

/* Bones with too little soft skin give theirs to their parent, children first; what reaches a root that has
 * too little goes to the bone with the most. */
static void MergeSmall( const lmbCharacter *character, Cover *cover, double least )
{
	int largest = 0;
	double most = -1.0;
	for ( int j = 0; j < cover->boneCount; ++j )
	{
		double area = SoftArea( cover, j );
		if ( area > most )
		{
			most = area;
			largest = j;
		}
	}
	for ( int j = cover->boneCount - 1; j >= 0; --j )
	{
		int heir = character->bones[j].parent >= 0 ? character->bones[j].parent : largest;
		if ( j == largest || heir == j || SoftArea( cover, j ) >= least )
			continue;
		for ( int p = 0; p < cover->pointCount; ++p )
		{
			double *row = cover->weights + (size_t)p * cover->boneCount;
			row[heir] += row[j];
			row[j] = 0.0;
		}
	}
}

/* w <- max( w - threshold, 0 ), scaled to sum to 1 again: continuous, so that regions end without a step. */
static void Trim( Cover *cover, double threshold )
{
	for ( int p = 0; p < cover->pointCount; ++p )
	{
		double *row = cover->weights + (size_t)p * cover->boneCount, sum = 0.0, most = 0.0;
		int heaviest = 0;
		for ( int j = 0; j < cover->boneCount; ++j )
			if ( row[j] > most )
			{
				most = row[j];
				heaviest = j;
			}
		for ( int j = 0; j < cover->boneCount; ++j )
		{
			row[j] = row[j] > threshold ? row[j] - threshold : 0.0;
			sum += row[j];
		}
		if ( !( sum > 0.0 ) ) /* more bones than 1 / threshold share the point evenly */
			row[heaviest] = sum = 1.0;
		for ( int j = 0; j < cover->boneCount; ++j )
			row[j] /= sum;
	}
}

static lmbStatus MakeAreas( const lmbCharacter *character, const lmbTissue *tissue, const lmbSurface *surface,
                            const Cover *cover, lmbArena *arena, lmbRegionMap *map, lmbError *error )
{
	map->areas = LMB_NEW( arena, lmbRegionArea, cover->boneCount );
	if ( map->areas == NULL )
		return lmbError_Memory( error );
	for ( int j = 0; j < cover->boneCount; ++j )
	{
		lmbRegionArea *area = &map->areas[map->count];
		*area = ( lmbRegionArea ){ .bone = j };
		for ( int pass = 0; pass < 2; ++pass )
		{
			int count = 0;
			for ( int v = 0; v < character->vertexCount; ++v )
			{
				double w = cover->weights[(size_t)surface->vertexPoints[v] * cover->boneCount + j];
				if ( !( tissue->softness[v] > 0.0 ) || !( w > 0.0 ) )
					continue;
				if ( pass == 1 )
				{
					area->vertices[count] = v;
					area->weights[count] = w;
				}
				count += 1;
			}
			if ( pass == 1 || count == 0 )
				break;
			area->vertexCount = count;
			area->vertices = LMB_NEW( arena, int32_t, count );
			area->weights = LMB_NEW( arena, double, count );
			if ( area->vertices == NULL || area->weights == NULL )
				return lmbError_Memory( error );
		}
		map->count += area->vertexCount > 0;
	}
	return lmb_statusOk;
}

/* The triangles around a vertex, a third of each. */
static lmbStatus VertexAreas( const lmbCharacter *character, const lmbTissue *tissue,
                              const lmbSurface *surface, lmbArena *arena, lmbRegionMap *map, lmbError *error )
{
	map->vertexAreas = LMB_NEW( arena, double, character->vertexCount );
	map->soft = LMB_NEW( arena, uint8_t, character->vertexCount );
	if ( map->vertexAreas == NULL || map->soft == NULL )
		return lmbError_Memory( error );
	for ( int t = 0; t < surface->triangleCount; ++t )
	{
		const int32_t *v = surface->vertices + 3 * (size_t)t;
		double a[3], b[3], normal[3];
		lmbSub( a, character->bind + 3 * (size_t)v[1], character->bind + 3 * (size_t)v[0] );
		lmbSub( b, character->bind + 3 * (size_t)v[2], character->bind + 3 * (size_t)v[0] );
		lmbCross( normal, a, b );
		for ( int i = 0; i < 3; ++i )
			map->vertexAreas[v[i]] += lmbLength( normal ) / 6.0;
	}
	for ( int v = 0; v < character->vertexCount; ++v )
	{
		map->soft[v] = tissue->softness[v] >= 0.5;
		map->softArea += map->soft[v] != 0 ? map->vertexAreas[v] : 0.0;
	}
	if ( map->softArea > 0.0 )
		return lmb_statusOk;
	return lmbError_Set( error, lmb_statusInvalidArgument,
	                     "no skin of the character is soft; list fewer rigid bones in the project" );
}

static lmbStatus Make( const lmbCharacter *character, const lmbTissue *tissue, const lmbSurface *surface,
                       const lmbRegionDef *def, lmbArena *scratch, lmbArena *arena, lmbRegionMap *map,
                       lmbError *error )
{
	Cover cover = { .pointCount = surface->pointCount, .boneCount = character->boneCount };
	size_t points = (size_t)cover.pointCount;
	cover.weights = LMB_NEW( scratch, double, points *(size_t)cover.boneCount );
	cover.next = LMB_NEW( scratch, double, points *(size_t)cover.boneCount );
	cover.first = LMB_NEW( scratch, int32_t, points + 1 );
	cover.neighbours = LMB_NEW( scratch, int32_t, 6 * (size_t)surface->triangleCount );
	cover.softness = LMB_NEW( scratch, double, points );
	cover.areas = surface->areas;
	if ( cover.weights == NULL || cover.next == NULL || cover.first == NULL || cover.neighbours == NULL ||
	     cover.softness == NULL )
		return lmbError_Memory( error );
	LMB_TRY( VertexAreas( character, tissue, surface, arena, map, error ) );
	AddWeights( character, tissue, surface, &cover );
	Neighbours( surface, &cover );
	double rounds = cover.meanEdge > 0.0 ? 2.0 * pow( def->spread / cover.meanEdge, 2.0 ) : 0.0;
	Diffuse( &cover, (int)fmin( ceil( rounds ), 2000.0 ) );
	MergeSmall( character, &cover, def->smallest * map->softArea );
	Trim( &cover, def->threshold );
	return MakeAreas( character, tissue, surface, &cover, arena, map, error );
}

lmbStatus lmbRegions_Make( const lmbCharacter *character, const lmbTissue *tissue, const lmbSurface *surface,
                           const lmbRegionDef *def, lmbArena *arena, lmbRegionMap *map, lmbError *error )
{
	memset( map, 0, sizeof( *map ) );
	lmbArena scratch = { 0 };
	lmbStatus status = Make( character, tissue, surface, def, &scratch, arena, map, error );
	lmbArena_Free( &scratch );
	return status;
}
