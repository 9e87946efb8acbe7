#include "check.h"

#include "evaluate/raster.h"

#include <stdlib.h>

static const double pi = 3.14159265358979323846;

enum
{
	rings = 128,
	sectors = 256,
	sphereVertices = ( rings + 1 ) * sectors,
	sphereTriangles = 2 * rings * sectors,
	side = 200
};

static float spherePositions[3 * sphereVertices], sphereNormals[3 * sphereVertices];
static int32_t sphereTriangle[3 * sphereTriangles];

/* A unit sphere about the origin; its poles are rings of coinciding vertices, so it has degenerate
 * triangles too. */
static lmbMesh MakeSphere( void )
{
	for ( int ring = 0; ring <= rings; ++ring )
		for ( int sector = 0; sector < sectors; ++sector )
		{
			double polar = pi * ring / rings, around = 2.0 * pi * sector / sectors;
			float *p = spherePositions + 3 * ( ring * sectors + sector );
			p[0] = (float)( sin( polar ) * sin( around ) );
			p[1] = (float)cos( polar );
			p[2] = (float)( sin( polar ) * cos( around ) );
		}
	for ( int ring = 0; ring < rings; ++ring )
		for ( int sector = 0; sector < sectors; ++sector )
		{
			int next = ( sector + 1 ) % sectors;
			int a = ring * sectors + sector, b = ring * sectors + next;
			int32_t *t = sphereTriangle + 6 * ( ring * sectors + sector );
			t[0] = a, t[1] = a + sectors, t[2] = b + sectors;
			t[3] = a, t[4] = b + sectors, t[5] = b;
		}
	lmbMesh_Normals( sphereVertices, spherePositions, sphereTriangles, sphereTriangle, sphereNormals );
	return ( lmbMesh ){ .vertexCount = sphereVertices,
	                    .triangleCount = sphereTriangles,
	                    .positions = spherePositions,
	                    .normals = sphereNormals,
	                    .triangles = sphereTriangle,
	                    .color = { 0.8f, 0.5f, 0.25f } };
}

typedef struct Seen
{
	int count;
	double low[3], high[3], mean[3];
} Seen;

static Seen Look( const lmbRaster *raster )
{
	Seen seen = { 0, { 1e9, 1e9, 1e9 }, { -1e9, -1e9, -1e9 }, { 0, 0, 0 } };
	int total = raster->width * raster->height * raster->samples * raster->samples;
	for ( int i = 0; i < total; ++i )
	{
		if ( raster->depth[i] == 0.0f )
			continue;
		seen.count += 1;
		for ( int k = 0; k < 3; ++k )
		{
			double value = raster->color[3 * i + k];
			seen.low[k] = fmin( seen.low[k], value );
			seen.high[k] = fmax( seen.high[k], value );
			seen.mean[k] += value;
		}
	}
	for ( int k = 0; k < 3; ++k )
		seen.mean[k] /= seen.count > 0 ? seen.count : 1;
	return seen;
}

static void SphereAgreesWithClosedForm( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	lmbRaster raster;
	lmbError error = { 0 };
	lmbMesh mesh = MakeSphere();
	CHECK_OR_STOP( lmbRaster_Make( &arena, side, side, 2, &raster, &error ) == lmb_statusOk );
	float black[3] = { 0, 0, 0 };
	const double distance = 50.0;
	lmbCamera camera = { .eye = { 30.0, 0.0, 40.0 }, .fieldOfView = 0.05 };
	double focal = 0.5 * side * 2 / tan( 0.5 * camera.fieldOfView );

	/* A light behind the eye: no sky, so brightness over the disc is key times a cosine, whose mean
	 * over a disc is 2/3, plus the ambient part. */
	lmbLight light = { .direction = { 0.6, 0.0, 0.8 }, .key = 0.7, .sky = 0.1, .ground = 0.1 };
	lmbRaster_Clear( &raster, black );
	lmbRaster_Draw( &raster, &camera, &light, &mesh );
	Seen seen = Look( &raster );
	/* The outline of a sphere in a centred perspective is a circle of this radius. Tolerance: the
	 * polygon's area falls short by (2 pi / 256)^2 / 6 = 1e-4, counting samples adds about 3e-4. */
	double radius = focal / sqrt( distance * distance - 1.0 );
	CHECK_NEAR( seen.count / ( pi * radius * radius ), 1.0, 1e-3 );
	for ( int k = 0; k < 3; ++k )
	{
		/* 2e-3: at 50 radii the perspective hides 2 % of the rim's cosine. */
		CHECK_NEAR( seen.mean[k] / mesh.color[k], 0.1 + 0.7 * 2.0 / 3.0, 8e-3 );
		CHECK_NEAR( seen.high[k] / mesh.color[k], 0.8, 1e-4 );
	}

	/* A light from the side at 60 degrees: brightest where the normal points at it, ambient alone
	 * beyond the terminator. */
	double turn = 60.0 * pi / 180.0;
	light.direction[0] = 0.6 * cos( turn ) + 0.8 * sin( turn );
	light.direction[2] = 0.8 * cos( turn ) - 0.6 * sin( turn );
	lmbRaster_Clear( &raster, black );
	lmbRaster_Draw( &raster, &camera, &light, &mesh );
	seen = Look( &raster );
	for ( int k = 0; k < 3; ++k )
	{
		CHECK_NEAR( seen.high[k] / mesh.color[k], 0.8, 1e-3 );
		CHECK_NEAR( seen.low[k] / mesh.color[k], 0.1, 1e-6 );
	}

	/* Sky and ground alone: the top is lit by the sky, the bottom by the ground. */
	light = ( lmbLight ){ .direction = { 0, 1, 0 }, .key = 0.0, .sky = 0.9, .ground = 0.3 };
	lmbRaster_Clear( &raster, black );
	lmbRaster_Draw( &raster, &camera, &light, &mesh );
	seen = Look( &raster );
	/* 1e-2: the last sample before the pole lies up to half a sample, 1/400 of the radius, from it. */
	CHECK_NEAR( seen.high[0] / mesh.color[0], 0.9, 1e-2 );
	CHECK_NEAR( seen.low[0] / mesh.color[0], 0.3, 1e-2 );
	lmbArena_Free( &arena );
}

/* The nearer of two triangles wins, whatever their order. */
static void DepthDecides( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	lmbRaster raster;
	lmbError error = { 0 };
	CHECK_OR_STOP( lmbRaster_Make( &arena, 20, 20, 1, &raster, &error ) == lmb_statusOk );
	float black[3] = { 0, 0, 0 };
	lmbCamera camera = { .eye = { 0, 0, 5 }, .fieldOfView = 0.5 };
	lmbLight light = { .direction = { 0, 0, 1 }, .sky = 1.0, .ground = 1.0 };
	float positions[] = { -9, -9, 1, 9, -9, 1, 0, 9, 1, -9, -9, 0, 9, -9, 0, 0, 9, 0 };
	float normals[] = { 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1 };
	float colors[] = { 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0 };
	int32_t orders[2][6] = { { 0, 1, 2, 3, 4, 5 }, { 3, 4, 5, 0, 1, 2 } };
	for ( int order = 0; order < 2; ++order )
	{
		lmbMesh mesh = { .vertexCount = 6,
		                 .triangleCount = 2,
		                 .positions = positions,
		                 .normals = normals,
		                 .triangles = orders[order],
		                 .colors = colors };
		lmbRaster_Clear( &raster, black );
		lmbRaster_Draw( &raster, &camera, &light, &mesh );
		const float *middle = raster.color + 3 * ( 10 * 20 + 10 );
		CHECK_NEAR( middle[0], 1.0, 1e-6 );
		CHECK_NEAR( middle[1], 0.0, 1e-6 );
	}
	lmbArena_Free( &arena );
}

/* A square of two triangles has no hole along the diagonal and covers exactly its samples. */
static void SharedEdgesLeaveNoGap( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	lmbRaster raster;
	lmbError error = { 0 };
	CHECK_OR_STOP( lmbRaster_Make( &arena, 100, 100, 1, &raster, &error ) == lmb_statusOk );
	float black[3] = { 0, 0, 0 };
	lmbCamera camera = { .eye = { 0, 0, 10 }, .fieldOfView = 2.0 * atan( 0.1 ) }; /* 2 m in 100 rows */
	lmbLight light = { .direction = { 0, 0, 1 }, .sky = 1.0, .ground = 1.0 };
	float positions[] = { -0.501f, -0.501f, 0, 0.501f, -0.501f, 0, 0.501f, 0.501f, 0, -0.501f, 0.501f, 0 };
	float normals[] = { 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1 };
	int32_t triangles[] = { 0, 1, 2, 0, 2, 3 };
	lmbMesh mesh = { .vertexCount = 4,
	                 .triangleCount = 2,
	                 .positions = positions,
	                 .normals = normals,
	                 .triangles = triangles,
	                 .color = { 1, 1, 1 } };
	lmbRaster_Clear( &raster, black );
	lmbRaster_Draw( &raster, &camera, &light, &mesh );
	CHECK_INT( Look( &raster ).count, 50 * 50 );
	lmbArena_Free( &arena );
}

static void BadNumbersAreLeftOut( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	lmbRaster raster;
	lmbError error = { 0 };
	CHECK_OR_STOP( lmbRaster_Make( &arena, 40, 30, 2, &raster, &error ) == lmb_statusOk );
	float black[3] = { 0, 0, 0 };
	lmbCamera camera = { .eye = { 0, 0, 5 }, .fieldOfView = 0.6 };
	lmbLight light = lmbDefaultLight( &camera );
	float positions[] = { 0, 0, 0, NAN, 0, 0, 0, INFINITY, 0, 1e30f, -1e30f, 0,
	                      0, 0, 9, 1,   0, 0, 0, 1,        0, 0.5f,  0.5f,   0 };
	int32_t triangles[] = { 0, 1, 5, 0, 2, 5, 0, 3, 5, 0, 4, 5, 0, 0, 0, 0, 5, 7, 5, 7, 6, 0, 5, 6 };
	float normals[24];
	lmbMesh_Normals( 8, positions, 8, triangles, normals );
	for ( int i = 0; i < 24; ++i )
		CHECK( isfinite( normals[i] ) );
	lmbMesh mesh = { .vertexCount = 8,
	                 .triangleCount = 8,
	                 .positions = positions,
	                 .normals = normals,
	                 .triangles = triangles,
	                 .color = { 1, 1, 1 } };
	lmbShadow shadow = { .height = -1.0, .softness = 0.1, .strength = 0.5 };
	lmbRaster_Clear( &raster, black );
	lmbRaster_Shadow( &raster, &camera, &shadow, &mesh );
	lmbRaster_Draw( &raster, &camera, &light, &mesh );
	Seen seen = Look( &raster );
	CHECK( seen.count > 0 ); /* the sound triangles are there */
	for ( int i = 0; i < 40 * 30 * 4 * 3; ++i )
		CHECK( isfinite( raster.color[i] ) );

	for ( int i = 0; i < 24; ++i )
		positions[i] = NAN;
	lmbRaster_Clear( &raster, black );
	lmbRaster_Shadow( &raster, &camera, &shadow, &mesh );
	lmbRaster_Draw( &raster, &camera, &light, &mesh );
	CHECK_INT( Look( &raster ).count, 0 );
	lmbArena_Free( &arena );
}

/* The shadow lies under the body and nowhere else. */
static void ShadowIsUnderTheBody( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	lmbRaster raster;
	lmbError error = { 0 };
	lmbMesh mesh = MakeSphere();
	CHECK_OR_STOP( lmbRaster_Make( &arena, side, side, 1, &raster, &error ) == lmb_statusOk );
	float white[3] = { 1, 1, 1 };
	lmbCamera camera = { .eye = { 0.0, 20.0, 0.01 }, .fieldOfView = 2.0 * atan( 0.2 ) }; /* 8.4 m at -1 */
	lmbShadow shadow = { .height = -1.0, .softness = 0.05, .strength = 0.5 };
	lmbRaster_Clear( &raster, white );
	lmbRaster_Shadow( &raster, &camera, &shadow, &mesh );
	double dark = 0.0;
	for ( int i = 0; i < side * side; ++i )
		dark += ( 1.0 - raster.color[3 * i] ) / shadow.strength;
	CHECK_NEAR( raster.color[3 * ( side / 2 * side + side / 2 )], 0.5 + 0.5 * 0.0, 0.1 );
	CHECK_NEAR( raster.color[0], 1.0, 1e-6 );
	/* A disc of radius 1 m, seen at 21 m; cells of 1/40 m round it outwards, cover fades upwards by
	 * exp( -height / 0.6 m ) from the ground: from half to all of the disc. */
	double metre = side / 8.4;
	CHECK( dark < 1.1 * pi * metre * metre );
	CHECK( dark > 0.4 * pi * metre * metre );
	lmbArena_Free( &arena );
}

static void SizesAreChecked( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	lmbRaster raster;
	lmbError error = { 0 };
	CHECK_INT( lmbRaster_Make( &arena, 0, 10, 1, &raster, &error ), lmb_statusInvalidArgument );
	CHECK_INT( lmbRaster_Make( &arena, 10, 5000, 1, &raster, &error ), lmb_statusInvalidArgument );
	CHECK_INT( lmbRaster_Make( &arena, 10, 10, 9, &raster, &error ), lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "samples from 1 to 8" );
	lmbArena_Free( &arena );
}

static void TransferFunctionsInvert( void **state )
{
	(void)state;
	/* Values of the standard: encoded 0.5 is linear 0.21404114048223255. */
	CHECK_NEAR( lmbColor_Linear( 0.5 ), 0.21404114048223255, 1e-15 );
	for ( int i = 0; i <= 255; ++i )
		/* 2e-4: the standard's rounded constants leave the two halves slightly apart at the knee. */
		CHECK_NEAR( lmbColor_Encoded( lmbColor_Linear( i / 255.0 ) ), i / 255.0, 2e-4 );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( SphereAgreesWithClosedForm ), CHECK_TEST( DepthDecides ),
	    CHECK_TEST( SharedEdgesLeaveNoGap ),      CHECK_TEST( BadNumbersAreLeftOut ),
	    CHECK_TEST( ShadowIsUnderTheBody ),       CHECK_TEST( SizesAreChecked ),
	    CHECK_TEST( TransferFunctionsInvert ),
	};
	return CHECK_RUN( tests );
}
