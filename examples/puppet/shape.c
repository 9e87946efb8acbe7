/* The puppet's surface: a smooth union of round parts, polygonised by surface nets (Gibson 1998) on a
 * grid that is finer around the head, then slid along the surface to even out the triangles. */
#include "puppet.h"

#include "base/math3.h"

#include <stdbool.h>

/* A cone with round ends between two balls, squeezed by scale along the axes. */
typedef struct Part
{
	double a[3], b[3], radiusA, radiusB, scale[3];
	double blend; /* m: over how much it melts into the others */
	PuppetRegion region;
} Part;

/* The left half and the middle; the field is evaluated at |x|. */
static const Part bodyParts[] = {
    /* belly, chest, breast, shoulder, neck */
    { { 0, 0.905, 0.058 }, { 0, 0.905, 0.058 }, 0.197, 0.197, { 1.02, 1.00, 0.98 }, 0.032, puppetTrunk },
    { { 0, 1.115, -0.008 }, { 0, 1.115, -0.008 }, 0.146, 0.146, { 1.12, 0.92, 0.76 }, 0.032, puppetTrunk },
    { { 0.086, 1.092, 0.066 }, { 0.086, 1.092, 0.066 }, 0.068, 0.068, { 1, 1, 1 }, 0.026, puppetTrunk },
    { { 0.020, 1.178, -0.024 }, { 0.170, 1.190, -0.022 }, 0.078, 0.066, { 1, 1, 1 }, 0.030, puppetTrunk },
    { { 0, 1.200, -0.018 }, { 0, 1.310, 0.000 }, 0.078, 0.070, { 1, 1, 1 }, 0.028, puppetNeck },
    /* hip, buttock */
    { { 0.058, 0.740, -0.008 }, { 0.058, 0.740, -0.008 }, 0.118, 0.118, { 1, 0.90, 1 }, 0.034, puppetTrunk },
    { { 0.080, 0.724, -0.068 }, { 0.080, 0.724, -0.068 }, 0.088, 0.088, { 1, 1, 1 }, 0.028, puppetTrunk },
    /* thigh, calf, shin, foot */
    { { 0.128, 0.700, 0.000 }, { 0.198, 0.405, 0.010 }, 0.102, 0.068, { 1, 1, 1 }, 0.032, puppetLeg },
    { { 0.196, 0.410, 0.012 }, { 0.222, 0.285, -0.012 }, 0.066, 0.070, { 1, 1, 1 }, 0.030, puppetLeg },
    { { 0.222, 0.285, -0.012 }, { 0.246, 0.095, -0.006 }, 0.069, 0.048, { 1, 1, 1 }, 0.028, puppetLeg },
    { { 0.248, 0.064, -0.018 }, { 0.264, 0.058, 0.098 }, 0.062, 0.060, { 1.06, 0.94, 1 }, 0.020, puppetLeg },
    /* upper arm, lower arm, hand, thumb */
    { { 0.195, 1.184, -0.022 }, { 0.415, 1.082, -0.022 }, 0.073, 0.061, { 1, 1, 1 }, 0.028, puppetArm },
    { { 0.410, 1.085, -0.022 }, { 0.485, 1.049, -0.020 }, 0.060, 0.061, { 1, 1, 1 }, 0.024, puppetArm },
    { { 0.485, 1.049, -0.020 }, { 0.612, 0.990, -0.018 }, 0.060, 0.042, { 1, 1, 1 }, 0.024, puppetArm },
    { { 0.634, 0.980, -0.014 }, { 0.692, 0.953, -0.008 }, 0.050, 0.044, { 1, 0.92, 1.08 }, 0.018, puppetArm },
    { { 0.634, 0.979, 0.022 }, { 0.662, 0.967, 0.058 }, 0.029, 0.027, { 1, 1, 1 }, 0.014, puppetArm },
};

static const Part headParts[] = {
    { { 0, 1.437, 0.018 },
      { 0, 1.437, 0.018 },
      0.152,
      0.152,
      { 1.00, 0.99, 0.98 },
      0.020,
      puppetNeck }, /* skull
                     */
    { { 0.066, 1.376, 0.052 },
      { 0.066, 1.376, 0.052 },
      0.084,
      0.084,
      { 1, 1, 1 },
      0.025,
      puppetNeck },                                                                               /* cheek
                                                                                                   */
    { { 0, 1.336, 0.094 }, { 0, 1.336, 0.094 }, 0.048, 0.048, { 1.3, 1, 1 }, 0.022, puppetNeck }, /* chin */
    { { 0, 1.424, 0.176 }, { 0, 1.424, 0.176 }, 0.038, 0.038, { 1.08, 0.92, 1 }, 0.014, puppetNeck }, /* nose
                                                                                                       */
    { { 0.152, 1.420, 0.004 },
      { 0.164, 1.444, -0.008 },
      0.034,
      0.038,
      { 0.8, 1.1, 1 },
      0.014,
      puppetNeck }, /* ear */
};

static const double eye[3] = { 0.058, 1.476, 0.140 };
static const double eyeRadius = 0.030;
static const double eyeBlend = 0.008;

/* Paint. */
static const double paintedEye = 0.021;
static const double shoeTop = 0.100;
static const double shortsBottom = 0.505;

/* From the eye's middle, seen from the front. */
static double EyeDistance( const double *point )
{
	double offset[3];
	lmbSub( offset, point, eye );
	return point[2] > 0.08 ? hypot( offset[0], offset[1] ) : 1.0;
}

static double Waist( const double *point )
{
	return 0.795 - 0.30 * point[2];
}

enum
{
	bodyPartCount = sizeof( bodyParts ) / sizeof( bodyParts[0] ),
	headPartCount = sizeof( headParts ) / sizeof( headParts[0] )
};

static double Saturate( double t )
{
	return t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
}

static double SmoothStep( double t )
{
	t = Saturate( t );
	return t * t * ( 3.0 - 2.0 * t );
}

/* Where on its axis the ball lies that decides the distance: minimal |p - t axis| - radius( t ). */
static double AxisShare( const Part *part, const double *p, const double *axis )
{
	double length = lmbLength( axis );
	if ( length == 0.0 )
		return 0.0;
	double along = lmbDot( p, axis ) / length;
	double aside = sqrt( fmax( 0.0, lmbDot( p, p ) - along * along ) );
	double taper = ( part->radiusA - part->radiusB ) / length;
	return Saturate( ( along - aside * taper / sqrt( 1.0 - taper * taper ) ) / length );
}

/* The distance to a part: exact for scale 1, else right to first order near its surface. */
static double PartDistance( const Part *part, const double *point )
{
	double p[3], axis[3], offset[3], gradient[3];
	for ( int i = 0; i < 3; ++i )
	{
		p[i] = ( point[i] - part->a[i] ) / part->scale[i];
		axis[i] = ( part->b[i] - part->a[i] ) / part->scale[i];
	}
	double t = AxisShare( part, p, axis );
	lmbAddScaled( offset, p, -t, axis );
	for ( int i = 0; i < 3; ++i )
		gradient[i] = offset[i] / part->scale[i];
	double reach = lmbLength( offset ), slope = lmbLength( gradient );
	double radius = part->radiusA + t * ( part->radiusB - part->radiusA );
	return slope > 1e-9 ? ( reach - radius ) * reach / slope : -radius;
}

/* Smooth minimum, polynomial of third degree: twice continuously differentiable. */
static double Melt( double a, double b, double blend )
{
	double width = 6.0 * blend;
	double overlap = fmax( 0.0, width - fabs( a - b ) ) / width;
	return fmin( a, b ) - overlap * overlap * overlap * width / 6.0;
}

/* Below 0 inside. Depends on |x| only. */
static double Field( const double *at )
{
	double point[3] = { fabs( at[0] ), at[1], at[2] };
	double value = 1.0;
	for ( int i = 0; i < bodyPartCount; ++i )
		value = Melt( value, PartDistance( &bodyParts[i], point ), 0.6 * bodyParts[i].blend );
	for ( int i = 0; i < headPartCount; ++i )
		value = Melt( value, PartDistance( &headParts[i], point ), 0.6 * headParts[i].blend );
	double offset[3];
	lmbSub( offset, point, eye );
	return Melt( value, lmbLength( offset ) - eyeRadius, eyeBlend );
}

/* The region of the nearest part. */
static PuppetRegion FindRegion( const double *at )
{
	double point[3] = { fabs( at[0] ), at[1], at[2] }, nearest = 1e30;
	PuppetRegion region = puppetTrunk;
	for ( int i = 0; i < bodyPartCount + headPartCount; ++i )
	{
		const Part *part = i < bodyPartCount ? &bodyParts[i] : &headParts[i - bodyPartCount];
		double distance = PartDistance( part, point );
		if ( distance < nearest )
		{
			nearest = distance;
			region = part->region;
		}
	}
	return region;
}

static void Gradient( const double *point, double *gradient )
{
	const double step = 1e-5;
	for ( int i = 0; i < 3; ++i )
	{
		double low[3] = { point[0], point[1], point[2] }, high[3] = { point[0], point[1], point[2] };
		low[i] -= step;
		high[i] += step;
		gradient[i] = ( Field( high ) - Field( low ) ) / ( 2.0 * step );
	}
}

/* The grid: node (i, j, k); column i = 0 lies at x = -h/2 and is the mirror of i = 1, so the cells of
 * i = 0 straddle the middle and hold the vertices at x = 0. */
static const double spacing = 0.0280;     /* m, below the neck */
static const double headSpacing = 0.0150; /* m */

enum
{
	gridX = 48,
	gridY = 84,
	gridZ = 36,
	gridNodes = gridX * gridY * gridZ
};

typedef struct Grid
{
	double height[gridY];  /* m, of a layer of nodes */
	double step[gridY];    /* m, between its nodes */
	double *values;        /* (gridX x gridY x gridZ) */
	int32_t *cellVertices; /* (gridX x gridY x gridZ) or -1 */
} Grid;

static int NodeIndex( int i, int j, int k )
{
	return ( i * gridY + j ) * gridZ + k;
}

static void NodePoint( const Grid *grid, int i, int j, int k, double *point )
{
	double step = grid->step[j];
	point[0] = ( i - 0.5 ) * step;
	point[1] = grid->height[j];
	point[2] = ( k - 0.5 * ( gridZ - 1 ) ) * step + 0.02;
}

static lmbStatus MakeGrid( lmbArena *arena, Grid *grid, lmbError *error )
{
	grid->values = LMB_NEW( arena, double, gridNodes );
	grid->cellVertices = LMB_NEW( arena, int32_t, gridNodes );
	if ( grid->values == NULL || grid->cellVertices == NULL )
		return lmbError_Memory( error );
	double height = -2.0 * spacing;
	for ( int j = 0; j < gridY; ++j )
	{
		double share = SmoothStep( ( height - 1.20 ) / 0.16 );
		grid->height[j] = height;
		grid->step[j] = spacing + share * ( headSpacing - spacing );
		height += grid->step[j];
	}
	for ( int i = 0; i < gridX; ++i )
		for ( int j = 0; j < gridY; ++j )
			for ( int k = 0; k < gridZ; ++k )
			{
				double point[3];
				NodePoint( grid, i, j, k, point );
				grid->values[NodeIndex( i, j, k )] = Field( point );
			}
	return lmb_statusOk;
}

static const int cellCorners[8][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 1, 1, 0 },
                                       { 0, 0, 1 }, { 1, 0, 1 }, { 0, 1, 1 }, { 1, 1, 1 } };
static const int cellEdges[12][2] = { { 0, 1 }, { 2, 3 }, { 4, 5 }, { 6, 7 }, { 0, 2 }, { 1, 3 },
                                      { 4, 6 }, { 5, 7 }, { 0, 4 }, { 1, 5 }, { 2, 6 }, { 3, 7 } };

/* The middle of where the surface crosses the cell's edges; false when it does not. */
static bool CellPoint( const Grid *grid, int i, int j, int k, double *point )
{
	int count = 0;
	double sum[3] = { 0.0, 0.0, 0.0 };
	for ( int e = 0; e < 12; ++e )
	{
		const int *a = cellCorners[cellEdges[e][0]], *b = cellCorners[cellEdges[e][1]];
		double va = grid->values[NodeIndex( i + a[0], j + a[1], k + a[2] )];
		double vb = grid->values[NodeIndex( i + b[0], j + b[1], k + b[2] )];
		if ( ( va < 0.0 ) == ( vb < 0.0 ) )
			continue;
		double pa[3], pb[3], t = va / ( va - vb );
		NodePoint( grid, i + a[0], j + a[1], k + a[2], pa );
		NodePoint( grid, i + b[0], j + b[1], k + b[2], pb );
		for ( int n = 0; n < 3; ++n )
			sum[n] += pa[n] + t * ( pb[n] - pa[n] );
		count += 1;
	}
	for ( int n = 0; n < 3 && count > 0; ++n )
		point[n] = sum[n] / count;
	if ( i == 0 )
		point[0] = 0.0;
	return count > 0;
}

static void MirrorPositions( PuppetMesh *mesh )
{
	for ( int v = 0; v < mesh->halfCount; ++v )
	{
		const double *from = mesh->positions + 3 * v;
		double *to = mesh->positions + 3 * mesh->mirror[v];
		if ( mesh->mirror[v] == v )
			to[0] = 0.0;
		else
			to[0] = -from[0], to[1] = from[1], to[2] = from[2];
	}
}

/* Vertices of the half, then their mirror images. */
static lmbStatus AddVertices( lmbArena *arena, Grid *grid, PuppetMesh *mesh, lmbError *error )
{
	double *half = LMB_NEW( arena, double, 3 * gridNodes );
	mesh->mirror = LMB_NEW( arena, int32_t, 2 * gridNodes );
	if ( half == NULL || mesh->mirror == NULL )
		return lmbError_Memory( error );
	int count = 0, middle = 0;
	for ( int i = 0; i + 1 < gridX; ++i )
		for ( int j = 0; j + 1 < gridY; ++j )
			for ( int k = 0; k + 1 < gridZ; ++k )
			{
				bool crossed = CellPoint( grid, i, j, k, half + 3 * count );
				grid->cellVertices[NodeIndex( i, j, k )] = crossed ? count : -1;
				count += crossed;
				middle += crossed && i == 0;
			}
	mesh->halfCount = count;
	mesh->vertexCount = 2 * count - middle;
	mesh->positions = LMB_NEW( arena, double, 3 * mesh->vertexCount );
	if ( mesh->positions == NULL )
		return lmbError_Memory( error );
	memcpy( mesh->positions, half, 3 * (size_t)count * sizeof( double ) );
	for ( int v = 0; v < count; ++v ) /* those in the middle come first: i runs slowest */
		mesh->mirror[v] = v < middle ? v : count + v - middle;
	for ( int v = middle; v < count; ++v )
		mesh->mirror[mesh->mirror[v]] = v;
	MirrorPositions( mesh );
	return lmb_statusOk;
}

static void AddTriangle( PuppetMesh *mesh, int a, int b, int c )
{
	int32_t *triangle = mesh->triangles + 3 * mesh->triangleCount++;
	triangle[0] = a, triangle[1] = b, triangle[2] = c;
}

static double PointDistance( const PuppetMesh *mesh, int a, int b )
{
	double offset[3];
	lmbSub( offset, mesh->positions + 3 * a, mesh->positions + 3 * b );
	return lmbLength( offset );
}

/* Cuts every quad along its shorter diagonal, and its mirror image likewise. */
static void Triangulate( PuppetMesh *mesh )
{
	const int32_t *m = mesh->mirror;
	mesh->triangleCount = 0;
	for ( int q = 0; q < mesh->quadCount; ++q )
	{
		const int32_t *quad = mesh->quads + 4 * q;
		int start =
		    PointDistance( mesh, quad[0], quad[2] ) <= PointDistance( mesh, quad[1], quad[3] ) ? 0 : 1;
		int a = quad[start], b = quad[start + 1], c = quad[start + 2], d = quad[( start + 3 ) % 4];
		AddTriangle( mesh, a, b, c );
		AddTriangle( mesh, a, c, d );
		AddTriangle( mesh, m[a], m[c], m[b] );
		AddTriangle( mesh, m[a], m[d], m[c] );
	}
}

/* One quad around every grid edge that the surface crosses, on the half i >= 1. */
static lmbStatus AddFaces( lmbArena *arena, const Grid *grid, PuppetMesh *mesh, lmbError *error )
{
	/* A closed surface has about as many quads as vertices; each vertex of a cell is in 12 at most. */
	mesh->quads = LMB_NEW( arena, int32_t, 4 * 3 * mesh->halfCount );
	mesh->triangles = LMB_NEW( arena, int32_t, 3 * 4 * 3 * mesh->halfCount );
	if ( mesh->quads == NULL || mesh->triangles == NULL )
		return lmbError_Memory( error );
	for ( int i = 1; i + 1 < gridX; ++i )
		for ( int j = 1; j + 1 < gridY; ++j )
			for ( int k = 1; k + 1 < gridZ; ++k )
				for ( int axis = 0; axis < 3; ++axis )
				{
					int to[3] = { i, j, k }, u[3] = { 0, 0, 0 }, v[3] = { 0, 0, 0 };
					to[axis] += 1;
					u[( axis + 1 ) % 3] = 1;
					v[( axis + 2 ) % 3] = 1;
					bool inside = grid->values[NodeIndex( i, j, k )] < 0.0;
					if ( inside == ( grid->values[NodeIndex( to[0], to[1], to[2] )] < 0.0 ) )
						continue;
					int corners[4];
					int32_t *quad = mesh->quads + 4 * mesh->quadCount++;
					corners[0] = NodeIndex( i - u[0] - v[0], j - u[1] - v[1], k - u[2] - v[2] );
					corners[1] = NodeIndex( i - v[0], j - v[1], k - v[2] );
					corners[2] = NodeIndex( i, j, k );
					corners[3] = NodeIndex( i - u[0], j - u[1], k - u[2] );
					for ( int n = 0; n < 4; ++n )
						quad[n] = grid->cellVertices[corners[inside ? n : 3 - n]];
				}
	return lmb_statusOk;
}

/* Newton steps along the field's gradient. */
static void Project( double *point, int steps )
{
	for ( int step = 0; step < steps; ++step )
	{
		double gradient[3], value = Field( point );
		Gradient( point, gradient );
		double slope = lmbDot( gradient, gradient );
		if ( slope > 1e-6 )
			lmbAddScaled( point, point, -value / slope, gradient );
	}
}

/* Signed distance to the nearest edge of the paint, on the left half. */
static double PaintEdge( const double *point )
{
	double distance = 1.0;
	double edges[4] = { EyeDistance( point ) - paintedEye, point[1] - shoeTop, point[1] - shortsBottom,
	                    point[1] - Waist( point ) };
	for ( int i = 0; i < 4; ++i )
		if ( fabs( edges[i] ) < fabs( distance ) && ( i < 2 || point[0] < 0.40 ) )
			distance = edges[i];
	return distance;
}

static bool IsNearPaintEdge( const double *point )
{
	return fabs( PaintEdge( point ) ) < 0.3 * ( point[1] > 1.3 ? headSpacing : spacing );
}

/* Slides a vertex along the surface to the edge of the paint. */
static void SlideToPaintEdge( double *point )
{
	const double step = 1e-5;
	for ( int round = 0; round < 2; ++round )
	{
		double normal[3], slide[3], distance = PaintEdge( point );
		for ( int i = 0; i < 3; ++i )
		{
			double moved[3] = { point[0], point[1], point[2] };
			moved[i] += step;
			slide[i] = ( PaintEdge( moved ) - distance ) / step;
		}
		Gradient( point, normal );
		lmbAddScaled( slide, slide, -lmbDot( slide, normal ) / lmbDot( normal, normal ), normal );
		lmbAddScaled( point, point, -distance / fmax( 0.2, lmbDot( slide, slide ) ), slide );
		Project( point, 1 );
	}
}

static void SumNeighbours( const PuppetMesh *mesh, double *sums )
{
	memset( sums, 0, 4 * (size_t)mesh->vertexCount * sizeof( double ) );
	for ( int t = 0; t < mesh->triangleCount; ++t )
		for ( int k = 0; k < 3; ++k )
		{
			int v = mesh->triangles[3 * t + k], next = mesh->triangles[3 * t + ( k + 1 ) % 3];
			lmbAddScaled( sums + 4 * v, sums + 4 * v, 1.0, mesh->positions + 3 * next );
			sums[4 * v + 3] += 1.0;
		}
}

/* Moves every vertex along the surface towards the middle of its neighbours, some rounds; those close
 * to an edge of the paint at half time are put on it and stay there, so that it does not zigzag. */
static lmbStatus Relax( lmbArena *arena, PuppetMesh *mesh, int rounds, lmbError *error )
{
	double *sums = LMB_NEW( arena, double, 4 * mesh->vertexCount );
	bool *pinned = LMB_NEW( arena, bool, mesh->halfCount );
	if ( sums == NULL || pinned == NULL )
		return lmbError_Memory( error );
	for ( int round = 0; round < rounds; ++round )
	{
		Triangulate( mesh );
		SumNeighbours( mesh, sums );
		for ( int v = 0; v < mesh->halfCount; ++v )
		{
			double *point = mesh->positions + 3 * v, slide[3], normal[3];
			for ( int i = 0; i < 3; ++i )
				slide[i] = sums[4 * v + i] / sums[4 * v + 3] - point[i];
			Gradient( point, normal );
			lmbAddScaled( slide, slide, -lmbDot( slide, normal ) / lmbDot( normal, normal ), normal );
			lmbAddScaled( point, point, 0.5, slide );
			Project( point, 1 );
			if ( round == rounds / 2 )
				pinned[v] = IsNearPaintEdge( point );
			if ( pinned[v] )
				SlideToPaintEdge( point );
			if ( mesh->mirror[v] == v )
				point[0] = 0.0;
		}
		MirrorPositions( mesh );
	}
	return lmb_statusOk;
}

static void AddNormals( PuppetMesh *mesh )
{
	for ( int v = 0; v < mesh->halfCount; ++v )
	{
		double *normal = mesh->normals + 3 * v, *mirrored = mesh->normals + 3 * mesh->mirror[v];
		Gradient( mesh->positions + 3 * v, normal );
		if ( mesh->mirror[v] == v )
			normal[0] = 0.0;
		double length = lmbLength( normal );
		for ( int i = 0; i < 3; ++i )
			normal[i] /= length;
		if ( mesh->mirror[v] != v )
			mirrored[0] = -normal[0], mirrored[1] = normal[1], mirrored[2] = normal[2];
	}
}

static void Paint( const double *at, double *color )
{
	static const double skin[3] = { 0.80, 0.50, 0.33 }, cloth[3] = { 0.06, 0.22, 0.32 };
	static const double blush[3] = { 0.80, 0.28, 0.22 }, dark[3] = { 0.015, 0.012, 0.012 };
	static const double cheek[3] = { 0.098, 1.400, 0.135 }, nose[3] = { 0, 1.420, 0.210 };
	double point[3] = { fabs( at[0] ), at[1], at[2] }, toCheek[3], toNose[3];
	const double edge = 1e-3;
	lmbSub( toCheek, point, cheek );
	lmbSub( toNose, point, nose );
	bool shorts = point[1] > shortsBottom - edge && point[1] < Waist( point ) + edge && point[0] < 0.40;
	bool shoes = point[1] < shoeTop + edge;
	double red = 0.7 * SmoothStep( ( 0.055 - lmbLength( toCheek ) ) / 0.04 );
	red = fmax( red, 0.6 * SmoothStep( ( 0.05 - lmbLength( toNose ) ) / 0.03 ) );
	for ( int i = 0; i < 3; ++i )
	{
		color[i] = skin[i] + red * ( blush[i] - skin[i] );
		if ( shorts || shoes )
			color[i] = cloth[i];
		if ( EyeDistance( point ) < paintedEye + edge )
			color[i] = dark[i];
	}
}

lmbStatus PuppetMesh_Make( lmbArena *arena, PuppetMesh *mesh, lmbError *error )
{
	Grid grid;
	memset( mesh, 0, sizeof( *mesh ) );
	LMB_TRY( MakeGrid( arena, &grid, error ) );
	LMB_TRY( AddVertices( arena, &grid, mesh, error ) );
	LMB_TRY( AddFaces( arena, &grid, mesh, error ) );
	LMB_TRY( Relax( arena, mesh, 12, error ) );
	for ( int v = 0; v < mesh->halfCount; ++v )
		Project( mesh->positions + 3 * v, 3 );
	MirrorPositions( mesh );
	Triangulate( mesh );
	mesh->normals = LMB_NEW( arena, double, 3 * mesh->vertexCount );
	mesh->colors = LMB_NEW( arena, double, 3 * mesh->vertexCount );
	mesh->regions = LMB_NEW( arena, uint8_t, mesh->vertexCount );
	if ( mesh->normals == NULL || mesh->colors == NULL || mesh->regions == NULL )
		return lmbError_Memory( error );
	AddNormals( mesh );
	for ( int v = 0; v < mesh->vertexCount; ++v )
	{
		mesh->regions[v] = (uint8_t)FindRegion( mesh->positions + 3 * v );
		Paint( mesh->positions + 3 * v, mesh->colors + 3 * v );
	}
	return lmb_statusOk;
}
