#include "flesh/mirror.h"

#include "base/math3.h"

#include <lapacke.h>

enum
{
	samplePoints = 1500, /* skin points that the search for the plane looks at */
	refineRounds = 8
};

static const double skinTolerance = 0.01, boneTolerance = 0.03; /* of the root of the skin's area */
static const double weightTolerance = 0.15;

void lmbMirror_Vector( const lmbMirror *mirror, const double *a, double *out )
{
	lmbAddScaled( out, a, -2.0 * lmbDot( mirror->normal, a ), mirror->normal );
}

static void MirrorPoint( const lmbMirror *mirror, const double *a, double *out )
{
	lmbAddScaled( out, a, 2.0 * ( mirror->offset - lmbDot( mirror->normal, a ) ), mirror->normal );
}

/* The reflection at a plane as a 3x4 matrix. */
static void Reflection( const double *normal, double offset, double *m )
{
	for ( int i = 0; i < 3; ++i )
	{
		for ( int j = 0; j < 3; ++j )
			m[4 * i + j] = ( i == j ? 1.0 : 0.0 ) - 2.0 * normal[i] * normal[j];
		m[4 * i + 3] = 2.0 * offset * normal[i];
	}
}

void lmbMirror_Pose( const lmbMirror *mirror, int boneCount, const double *bones, double *out )
{
	double bind[12], scene[12], half[12];
	double level[3] = { mirror->normal[0], 0.0, mirror->normal[2] }, length = lmbLength( level );
	for ( int i = 0; i < 3; ++i )
		level[i] = length > 0.1 ? level[i] / length : i == 0;
	Reflection( mirror->normal, mirror->offset, bind );
	Reflection( level, mirror->offset, scene );
	for ( int j = 0; j < boneCount; ++j )
	{
		lmbMat34_Multiply( half, scene, bones + 12 * (size_t)j );
		lmbMat34_Multiply( out + 12 * (size_t)mirror->bones[j], half, bind );
	}
}

/* The skin's centre of area, and its principal axes as rows. */
static bool Axes( const lmbSurface *surface, double *centre, double *axes )
{
	double area = 0.0, covariance[9] = { 0 }, values[3];
	memset( centre, 0, 3 * sizeof( double ) );
	for ( int p = 0; p < surface->pointCount; ++p )
	{
		area += surface->areas[p];
		lmbAddScaled( centre, centre, surface->areas[p], surface->points + 3 * (size_t)p );
	}
	for ( int i = 0; i < 3; ++i )
		centre[i] /= area > 0.0 ? area : 1.0;
	for ( int p = 0; p < surface->pointCount; ++p )
	{
		double r[3];
		lmbSub( r, surface->points + 3 * (size_t)p, centre );
		for ( int i = 0; i < 9; ++i )
			covariance[i] += surface->areas[p] * r[i / 3] * r[i % 3];
	}
	if ( LAPACKE_dsyev( LAPACK_COL_MAJOR, 'V', 'U', 3, covariance, 3, values ) != 0 )
		return false;
	memcpy( axes, covariance, sizeof( covariance ) );
	return true;
}

/* Mean square distance of the sampled skin from its mirror image, and, for the next plane, the moments of
 * the pairs: means of both ends and the symmetric part of their cross moment. */
typedef struct Match
{
	double square, area;
	double own[3], other[3], cross[9];
} Match;

static Match MatchSkin( const lmbSurface *surface, const lmbMirror *mirror, int stride )
{
	Match match = { 0 };
	for ( int p = 0; p < surface->pointCount; p += stride )
	{
		double image[3], at[3] = { 0 }, w = surface->areas[p];
		const double *own = surface->points + 3 * (size_t)p;
		MirrorPoint( mirror, own, image );
		lmbNearest nearest = lmbTriangleTree_Nearest( surface->tree, image );
		if ( nearest.triangle < 0 )
			continue;
		for ( int k = 0; k < 3; ++k )
			lmbAddScaled( at, at, nearest.weights[k],
			              surface->points +
			                  3 * (size_t)surface->triangles[3 * (size_t)nearest.triangle + k] );
		match.square += w * nearest.distance * nearest.distance;
		match.area += w;
		for ( int i = 0; i < 3; ++i )
		{
			match.own[i] += w * own[i];
			match.other[i] += w * at[i];
			for ( int j = 0; j < 3; ++j )
				match.cross[3 * i + j] += 0.5 * w * ( own[i] * at[j] + own[j] * at[i] );
		}
	}
	return match;
}

/* The plane that brings own points best onto the others: sum w |S p - q|^2 is least for the normal that
 * makes n^T (sum w p q^T) n least, both centred, and the plane halfway between the means. */
static bool Refine( const Match *match, lmbMirror *mirror )
{
	double cross[9], values[3], half = 0.0;
	for ( int i = 0; i < 9; ++i )
		cross[i] = match->cross[i] -
		           0.5 *
		               ( match->own[i / 3] * match->other[i % 3] + match->own[i % 3] * match->other[i / 3] ) /
		               match->area;
	if ( LAPACKE_dsyev( LAPACK_COL_MAJOR, 'V', 'U', 3, cross, 3, values ) != 0 )
		return false;
	memcpy( mirror->normal, cross, 3 * sizeof( double ) );
	for ( int i = 0; i < 3; ++i )
		half += mirror->normal[i] * 0.5 * ( match->own[i] + match->other[i] ) / match->area;
	mirror->offset = half;
	return true;
}

/* The best of the coordinate and principal planes, then turned and moved until it fits. */
static bool FindPlane( const lmbSurface *surface, lmbMirror *mirror )
{
	static const double coordinates[9] = { 1, 0, 0, 0, 0, 1, 0, 1, 0 };
	double centre[3], axes[9], best = HUGE_VAL;
	int stride = surface->pointCount / samplePoints + 1;
	if ( !Axes( surface, centre, axes ) )
		return false;
	lmbMirror trial = *mirror;
	for ( int c = 0; c < 6; ++c )
	{
		memcpy( trial.normal, c < 3 ? coordinates + 3 * c : axes + 3 * ( c - 3 ), 3 * sizeof( double ) );
		trial.offset = lmbDot( trial.normal, centre );
		for ( int round = 0; round < refineRounds; ++round )
		{
			Match match = MatchSkin( surface, &trial, stride );
			if ( !( match.area > 0.0 ) )
				return false;
			/* Earlier candidates, the usual ones, win unless a later one is clearly better. */
			if ( match.square / match.area < ( best < HUGE_VAL && round == 0 ? 0.81 : 1.0 ) * best )
			{
				best = match.square / match.area;
				*mirror = trial;
			}
			if ( !Refine( &match, &trial ) )
				return false;
		}
	}
	return true;
}

/* Mean place of the joints of the tree below a bone, itself included; children come after parents. */
static void TreeCentre( const lmbCharacter *character, int bone, double *centre )
{
	int count = 0;
	memset( centre, 0, 3 * sizeof( double ) );
	for ( int j = bone; j < character->boneCount; ++j )
	{
		int above = j;
		while ( above > bone )
			above = character->bones[above].parent;
		if ( above != bone )
			continue;
		for ( int i = 0; i < 3; ++i )
			centre[i] += character->bones[j].bind[4 * i + 3];
		count += 1;
	}
	for ( int i = 0; i < 3; ++i )
		centre[i] /= count;
}

/* How far bone b is from the mirror image of bone a: its joint, and the tree below for bones that share a
 * joint. */
static double BoneDistance( const lmbCharacter *character, const lmbMirror *mirror, int a, int b,
                            double *joint )
{
	double from[3], to[3], off[3];
	for ( int i = 0; i < 3; ++i )
	{
		from[i] = character->bones[a].bind[4 * i + 3];
		to[i] = character->bones[b].bind[4 * i + 3];
	}
	MirrorPoint( mirror, from, off );
	lmbSub( off, off, to );
	*joint = lmbLength( off );
	TreeCentre( character, a, from );
	TreeCentre( character, b, to );
	MirrorPoint( mirror, from, off );
	lmbSub( off, off, to );
	return *joint + lmbLength( off );
}

/* Partners, parents first: a bone's partner is a child of its parent's partner. */
static bool PairBones( const lmbCharacter *character, lmbMirror *mirror, double tolerance )
{
	for ( int j = 0; j < character->boneCount; ++j )
		mirror->bones[j] = -1;
	for ( int j = 0; j < character->boneCount; ++j )
	{
		if ( mirror->bones[j] >= 0 )
			continue;
		int parent = character->bones[j].parent, image = parent < 0 ? -1 : mirror->bones[parent], best = -1;
		double least = HUGE_VAL, joint = 0.0, distance;
		for ( int k = j; k < character->boneCount; ++k )
		{
			if ( mirror->bones[k] >= 0 || character->bones[k].parent != image )
				continue;
			double apart = BoneDistance( character, mirror, j, k, &distance );
			if ( apart < least )
			{
				least = apart;
				best = k;
				joint = distance;
			}
		}
		if ( best < 0 || joint > tolerance )
			return false;
		mirror->boneError = fmax( mirror->boneError, joint );
		mirror->bones[j] = best;
		mirror->bones[best] = j;
	}
	return true;
}

static double WeightOf( const lmbCharacter *character, int vertex, int bone )
{
	double sum = 0.0;
	for ( int k = 0; k < character->influenceCount; ++k )
	{
		size_t at = (size_t)vertex * (size_t)character->influenceCount + (size_t)k;
		sum += character->vertexBones[at] == bone ? character->weights[at] : 0.0;
	}
	return sum;
}

/* Half the sum over bones of |weight at v - mirrored weight of its image|. Bones of v and of its images'
 * partners, each once. */
static double WeightDifference( const lmbCharacter *character, const lmbMirror *mirror, int v )
{
	double sum = 0.0;
	for ( int j = 0; j < character->boneCount; ++j )
	{
		double own = WeightOf( character, v, j ), other = 0.0;
		for ( int k = 0; k < 3; ++k )
			other += mirror->weights[3 * (size_t)v + k] *
			         WeightOf( character, mirror->vertices[3 * (size_t)v + k], mirror->bones[j] );
		sum += 0.5 * fabs( own - other );
	}
	return sum;
}

static void PairSkin( const lmbCharacter *character, const lmbSurface *surface, lmbMirror *mirror )
{
	double square = 0.0, area = 0.0;
	for ( int v = 0; v < character->vertexCount; ++v )
	{
		double image[3];
		MirrorPoint( mirror, character->bind + 3 * (size_t)v, image );
		lmbNearest nearest = lmbTriangleTree_Nearest( surface->tree, image );
		for ( int k = 0; k < 3; ++k )
		{
			mirror->vertices[3 * (size_t)v + k] =
			    nearest.triangle < 0 ? v : surface->vertices[3 * (size_t)nearest.triangle + k];
			mirror->weights[3 * (size_t)v + k] = nearest.triangle < 0 ? k == 0 : nearest.weights[k];
		}
		double share = surface->areas[surface->vertexPoints[v]];
		square += share * nearest.distance * nearest.distance;
		area += share;
	}
	mirror->skinError = area > 0.0 ? sqrt( square / area ) : 0.0;
}

static void CompareWeights( const lmbCharacter *character, const lmbSurface *surface, lmbMirror *mirror )
{
	double area = 0.0;
	for ( int v = 0; v < character->vertexCount; ++v )
	{
		double share = surface->areas[surface->vertexPoints[v]];
		mirror->weightError += share * WeightDifference( character, mirror, v );
		area += share;
	}
	mirror->weightError /= area > 0.0 ? area : 1.0;
}

lmbStatus lmbMirror_Find( const lmbCharacter *character, const lmbSurface *surface, lmbArena *arena,
                          lmbMirror *mirror, bool *found, const char **reason, lmbError *error )
{
	*found = false;
	*reason = "";
	memset( mirror, 0, sizeof( *mirror ) );
	mirror->bones = LMB_NEW( arena, int32_t, character->boneCount );
	mirror->vertices = LMB_NEW( arena, int32_t, 3 * (size_t)character->vertexCount );
	mirror->weights = LMB_NEW( arena, double, 3 * (size_t)character->vertexCount );
	if ( mirror->bones == NULL || mirror->vertices == NULL || mirror->weights == NULL )
		return lmbError_Memory( error );
	double size = sqrt( surface->area );
	if ( !FindPlane( surface, mirror ) )
	{
		*reason = "its skin has no area";
		return lmb_statusOk;
	}
	PairSkin( character, surface, mirror );
	if ( mirror->skinError > skinTolerance * size )
	{
		*reason = "its skin is not symmetric";
		return lmb_statusOk;
	}
	if ( !PairBones( character, mirror, boneTolerance * size ) )
	{
		*reason = "its bones are not symmetric";
		return lmb_statusOk;
	}
	CompareWeights( character, surface, mirror );
	*found = mirror->weightError <= weightTolerance;
	if ( !*found )
		*reason = "its skin weights are not symmetric";
	return lmb_statusOk;
}
