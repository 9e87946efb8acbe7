/* A software rasteriser for reports: z-buffer, smooth shading per sample, supersampling, a soft shadow
 * on the ground. Not fast, not a viewer; deterministic and without dependencies. */
#ifndef LMB_EVALUATE_RASTER_H
#define LMB_EVALUATE_RASTER_H

#include "evaluate/picture.h"

/* A perspective camera, Y up. eye and target must differ and not lie above one another. */
typedef struct lmbCamera
{
	double eye[3], target[3]; /* m */
	double fieldOfView;       /* rad, from the lowest to the highest row, in (0, pi) */
} lmbCamera;

/* Colour that leaves a matt surface with normal n (turned towards the eye):
 *   albedo * ( key * max( 0, n . direction ) + ground + ( sky - ground ) * ( 1 + n.y ) / 2 )
 *   + sheen * ( 1 - n . v )^3,  v the direction to the eye; in linear RGB, cut at 1. */
typedef struct lmbLight
{
	double direction[3]; /* unit, towards the light */
	double key, sky, ground, sheen;
} lmbLight;

/* A light from the upper left of the camera, suited to matt figures on a light ground. */
lmbLight lmbDefaultLight( const lmbCamera *camera );

typedef struct lmbMesh
{
	int vertexCount, triangleCount;
	const float *positions; /* (vertexCount x 3) m; a triangle with a number that is not finite is left out */
	const float *normals;   /* (vertexCount x 3) see lmbMesh_Normals */
	const int32_t *triangles; /* (triangleCount x 3) indices must be in range */
	const float *colors;      /* (vertexCount x 3) albedo, linear RGB; NULL: color everywhere */
	float color[3];           /* albedo, linear RGB */
} lmbMesh;

/* normals (vertexCount x 3): of the triangles around each vertex, weighted by area; unit, or zero where
 * there is none. */
void lmbMesh_Normals( int vertexCount, const float *positions, int triangleCount, const int32_t *triangles,
                      float *normals );

typedef struct lmbRaster
{
	int width, height, samples; /* pixels; samples x samples of them in each pixel */
	float *color;               /* (height samples x width samples x 3) linear RGB */
	float *depth;               /* (height samples x width samples) 1 / distance along the view; 0: nothing */
} lmbRaster;

/* In the arena; sides in [1, 4096], samples in [1, 8]. Cleared to black. */
lmbStatus lmbRaster_Make( lmbArena *arena, int width, int height, int samples, lmbRaster *out,
                          lmbError *error );
/* Background in linear RGB, depth to nothing. */
void lmbRaster_Clear( lmbRaster *raster, const float *color );
/* Both sides of a triangle are drawn. Triangles that reach to within 1 mm of the eye are left out. */
void lmbRaster_Draw( lmbRaster *raster, const lmbCamera *camera, const lmbLight *light, const lmbMesh *mesh );
/* Darkens the background where the ground y = height is under the mesh (light straight from above,
 * blurred over about softness metres), by the share strength at most. Call before Draw. */
typedef struct lmbShadow
{
	double height, softness; /* m */
	double strength;         /* in [0, 1] */
} lmbShadow;
void lmbRaster_Shadow( lmbRaster *raster, const lmbCamera *camera, const lmbShadow *shadow,
                       const lmbMesh *mesh );
/* Averages the samples in linear light and writes sRGB with its left upper corner at x, y; what lies
 * outside the picture is cut. */
void lmbRaster_Resolve( const lmbRaster *raster, lmbPicture *picture, int x, int y );

/* sRGB transfer functions (IEC 61966-2-1) between [0, 1] and [0, 1]. */
double lmbColor_Linear( double encoded );
double lmbColor_Encoded( double linear );

#endif
