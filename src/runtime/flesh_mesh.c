#include "flesh_mesh.h"

#include "strips.h"

#include <math.h>

/* Of one packing. A vertex is alone on its bone when nothing else moves it, and turned when all around it is
 * alone on the same bone. */
typedef struct Mesh
{
	const lmbFleshFile *file;
	lmbStripMesh strips;
	bool *wanted;    /* (triangleCount) has a corner that is not turned */
	bool *turned;    /* (vertexCount) */
	int32_t *bones;  /* (vertexCount) of those that are alone on a bone, else -1 */
	int32_t *firsts; /* (boneCount) where each bone's turned vertices begin */
	double *sums;    /* (vertexCount x 3) of the faces' normals around turned vertices, bind space */
} Mesh;

static void TakeScratch( const lmbFleshFile *file, lmbCarver carver, Mesh *mesh, uint64_t *most )
{
	uint64_t vertices = (uint64_t)file->vertexCount, triangles = (uint64_t)file->triangleCount;
	mesh->file = file;
	mesh->strips = ( lmbStripMesh ){ .vertexCount = file->vertexCount,
	                                 .triangleCount = file->triangleCount,
	                                 .triangles = file->triangles };
	mesh->strips.heads = lmbCarver_Take( &carver, vertices, sizeof( int32_t ) );
	mesh->strips.next = lmbCarver_Take( &carver, triangles, 3 * sizeof( int32_t ) );
	mesh->strips.stamps = lmbCarver_Take( &carver, triangles, sizeof( int32_t ) );
	mesh->strips.wanted = mesh->wanted = lmbCarver_Take( &carver, triangles, sizeof( bool ) );
	mesh->turned = lmbCarver_Take( &carver, vertices, sizeof( bool ) );
	mesh->bones = lmbCarver_Take( &carver, vertices, sizeof( int32_t ) );
	mesh->firsts = lmbCarver_Take( &carver, (uint64_t)file->boneCount, sizeof( int32_t ) );
	mesh->sums = lmbCarver_Take( &carver, vertices, 3 * sizeof( double ) );
	*most = carver.used > *most ? carver.used : *most;
}

/* The bone that alone moves a vertex, or -1. */
static int32_t OnlyBone( const lmbFleshFile *file, int v )
{
	size_t first = (size_t)v * (size_t)file->influenceCount;
	bool alone = !( file->softness[v] > 0.0f ) && file->weights[first] == 1.0f;
	for ( int k = 1; k < file->influenceCount; ++k )
		alone = alone && file->weights[first + (size_t)k] == 0.0f;
	return alone ? file->vertexBones[first] : -1;
}

static void FindTurned( Mesh *mesh )
{
	const lmbFleshFile *file = mesh->file;
	for ( int v = 0; v < file->vertexCount; ++v )
	{
		mesh->bones[v] = OnlyBone( file, v );
		mesh->turned[v] = mesh->bones[v] >= 0;
	}
	for ( int t = 0; t < file->triangleCount; ++t )
	{
		const int32_t *corners = file->triangles + 3 * (size_t)t;
		int32_t bone = mesh->bones[corners[0]];
		if ( bone < 0 || mesh->bones[corners[1]] != bone || mesh->bones[corners[2]] != bone )
			mesh->turned[corners[0]] = mesh->turned[corners[1]] = mesh->turned[corners[2]] = false;
	}
	/* Vertices of a seam share their normal, so all of them are turned or none. */
	for ( int v = 0; v < file->vertexCount; ++v )
		if ( !mesh->turned[v] || mesh->bones[v] != mesh->bones[file->groups[v]] )
			mesh->turned[file->groups[v]] = false;
	for ( int v = 0; v < file->vertexCount; ++v )
		mesh->turned[v] = mesh->turned[file->groups[v]];
	for ( int t = 0; t < file->triangleCount; ++t )
	{
		const int32_t *corners = file->triangles + 3 * (size_t)t;
		mesh->wanted[t] = !mesh->turned[corners[0]] || !mesh->turned[corners[1]] || !mesh->turned[corners[2]];
	}
}

static void SumRestNormals( Mesh *mesh )
{
	const lmbFleshFile *file = mesh->file;
	for ( int64_t i = 0; i < 3 * (int64_t)file->vertexCount; ++i )
		mesh->sums[i] = 0.0;
	for ( int t = 0; t < file->triangleCount; ++t )
	{
		const int32_t *corners = file->triangles + 3 * (size_t)t;
		double e[3], f[3];
		for ( int i = 0; i < 3; ++i )
		{
			const float *a = file->bind + 3 * (size_t)corners[0];
			e[i] = (double)file->bind[3 * (size_t)corners[1] + (size_t)i] - a[i];
			f[i] = (double)file->bind[3 * (size_t)corners[2] + (size_t)i] - a[i];
		}
		const double n[3] = { e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2],
		                      e[0] * f[1] - e[1] * f[0] };
		for ( int corner = 0; corner < 3; ++corner )
			for ( int i = 0; i < 3 && mesh->turned[corners[corner]]; ++i )
				mesh->sums[3 * (size_t)file->groups[corners[corner]] + (size_t)i] += n[i];
	}
}

/* Turned vertices bone by bone, with unit normals. */
static void FillTurned( Mesh *mesh, lmbFlesh *model, lmbTurnedRun *runs, lmbTurned *turned )
{
	const lmbFleshFile *file = mesh->file;
	for ( int j = 0; j < file->boneCount; ++j )
		runs[j] = ( lmbTurnedRun ){ j, 0 };
	for ( int v = 0; v < file->vertexCount; ++v )
		if ( mesh->turned[v] )
			runs[mesh->bones[v]].count += 1;
	for ( int j = 0, first = 0; j < file->boneCount; first += runs[j++].count )
		mesh->firsts[j] = first;
	for ( int v = 0; v < file->vertexCount; ++v )
	{
		if ( !mesh->turned[v] )
			continue;
		const double *sum = mesh->sums + 3 * (size_t)file->groups[v];
		double length = sqrt( sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2] );
		lmbTurned *to = &turned[mesh->firsts[mesh->bones[v]]++];
		to->vertex = v;
		for ( int i = 0; i < 3; ++i )
			to->normal[i] = length > 0.0 ? (float)( sum[i] / length ) : 0.0f;
	}
	model->runs = runs;
	model->runCount = file->boneCount;
	model->turned = turned;
}

static void FillSeams( const Mesh *mesh, lmbFlesh *model, int32_t *seams )
{
	const lmbFleshFile *file = mesh->file;
	model->seams = seams;
	for ( int v = 0; v < file->vertexCount; ++v )
		if ( file->groups[v] != v && !mesh->turned[v] )
		{
			*seams++ = v;
			*seams++ = file->groups[v];
			model->seamCount += 1;
		}
}

void lmbFleshMesh_Pack( lmbCarver *carver, const lmbFleshFile *file, lmbFlesh *model, uint64_t *most )
{
	Mesh mesh;
	uint64_t seamCount = 0, aloneCount = 0;
	for ( int v = 0; v < file->vertexCount; ++v )
	{
		seamCount += file->groups[v] != v;
		aloneCount += OnlyBone( file, v ) >= 0;
	}
	int32_t *seams = lmbCarver_Take( carver, seamCount, 2 * sizeof( int32_t ) );
	lmbTurned *turned = lmbCarver_Take( carver, aloneCount, sizeof( lmbTurned ) );
	lmbTurnedRun *runs = lmbCarver_Take( carver, (uint64_t)file->boneCount, sizeof( lmbTurnedRun ) );
	int32_t *strips =
	    lmbCarver_Take( carver, (uint64_t)lmbStrips_Most( file->triangleCount ), sizeof( int32_t ) );
	TakeScratch( file, *carver, &mesh, most );
	if ( model == NULL || carver->memory == NULL )
		return;
	FindTurned( &mesh );
	SumRestNormals( &mesh );
	FillTurned( &mesh, model, runs, turned );
	FillSeams( &mesh, model, seams );
	model->strips = strips;
	model->stripCount = lmbStrips_Make( &mesh.strips, strips );
}
