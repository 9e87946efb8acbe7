#include "evaluate/raster.h"

#include "base/math3.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const double nearDistance = 1e-3; /* m */

enum
{
	rasterSideMax = 4096,
	samplesMax = 8,
	shadowCells = 96
};

double lmbColor_Linear( double encoded )
{
	return encoded <= 0.04045 ? encoded / 12.92 : pow( ( encoded + 0.055 ) / 1.055, 2.4 );
}

double lmbColor_Encoded( double linear )
{
	return linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow( linear, 1.0 / 2.4 ) - 0.055;
}

static void Normalize( double *v )
{
	double length = lmbLength( v );
	for ( int i = 0; i < 3; ++i )
		v[i] = length > 1e-150 ? v[i] / length : 0.0;
}

/* Camera axes in the scene (right, up, back) and the pixels per unit of slope. */
typedef struct View
{
	double right[3], up[3], back[3], eye[3];
	double focal;            /* samples */
	double centreX, centreY; /* samples */
} View;

static View MakeView( const lmbRaster *raster, const lmbCamera *camera )
{
	View view;
	const double vertical[3] = { 0.0, 1.0, 0.0 };
	memcpy( view.eye, camera->eye, sizeof( view.eye ) );
	lmbSub( view.back, camera->eye, camera->target );
	Normalize( view.back );
	lmbCross( view.right, vertical, view.back );
	Normalize( view.right );
	lmbCross( view.up, view.back, view.right );
	double rows = raster->height * raster->samples, columns = raster->width * raster->samples;
	view.focal = 0.5 * rows / tan( 0.5 * camera->fieldOfView );
	view.centreX = 0.5 * columns;
	view.centreY = 0.5 * rows;
	return view;
}

lmbLight lmbDefaultLight( const lmbCamera *camera )
{
	lmbRaster unit = { .width = 1, .height = 1, .samples = 1 };
	View view = MakeView( &unit, camera );
	lmbLight light = { .key = 0.62, .sky = 0.52, .ground = 0.20, .sheen = 0.06 };
	for ( int i = 0; i < 3; ++i )
		light.direction[i] = -0.55 * view.right[i] + 0.65 * view.up[i] + 0.6 * view.back[i];
	Normalize( light.direction );
	return light;
}

void lmbMesh_Normals( int vertexCount, const float *positions, int triangleCount, const int32_t *triangles,
                      float *normals )
{
	memset( normals, 0, 3 * (size_t)vertexCount * sizeof( float ) );
	for ( int t = 0; t < triangleCount; ++t )
	{
		double corner[3][3], a[3], b[3], normal[3];
		for ( int k = 0; k < 3; ++k )
			for ( int i = 0; i < 3; ++i )
				corner[k][i] = positions[3 * triangles[3 * t + k] + i];
		lmbSub( a, corner[1], corner[0] );
		lmbSub( b, corner[2], corner[0] );
		lmbCross( normal, a, b );
		if ( !isfinite( lmbDot( normal, normal ) ) )
			continue;
		for ( int k = 0; k < 3; ++k )
			for ( int i = 0; i < 3; ++i )
				normals[3 * triangles[3 * t + k] + i] += (float)normal[i];
	}
	for ( int v = 0; v < vertexCount; ++v )
	{
		double normal[3] = { normals[3 * v], normals[3 * v + 1], normals[3 * v + 2] };
		Normalize( normal );
		for ( int i = 0; i < 3; ++i )
			normals[3 * v + i] = (float)normal[i];
	}
}

lmbStatus lmbRaster_Make( lmbArena *arena, int width, int height, int samples, lmbRaster *out,
                          lmbError *error )
{
	if ( width < 1 || height < 1 || width > rasterSideMax || height > rasterSideMax || samples < 1 ||
	     samples > samplesMax )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "a raster of %d x %d pixels with %d x %d samples: sides must be from 1 to %d, "
		                     "samples from 1 to %d",
		                     width, height, samples, samples, rasterSideMax, samplesMax );
	size_t count = (size_t)width * (size_t)height * (size_t)samples * (size_t)samples;
	*out = ( lmbRaster ){ .width = width, .height = height, .samples = samples };
	out->color = LMB_NEW( arena, float, 3 * count );
	out->depth = LMB_NEW( arena, float, count );
	return out->color == NULL || out->depth == NULL ? lmbError_Memory( error ) : lmb_statusOk;
}

void lmbRaster_Clear( lmbRaster *raster, const float *color )
{
	size_t count =
	    (size_t)raster->width * (size_t)raster->height * (size_t)raster->samples * (size_t)raster->samples;
	for ( size_t i = 0; i < count; ++i )
		for ( int k = 0; k < 3; ++k )
			raster->color[3 * i + (size_t)k] = color[k];
	memset( raster->depth, 0, count * sizeof( float ) );
}

/* A corner of a triangle on the screen. Attributes over distance are linear there. */
typedef struct Corner
{
	double x, y;         /* samples */
	double inverse;      /* 1 / distance along the view */
	double attribute[9]; /* normal, colour, position */
} Corner;

static bool MakeCorner( const View *view, const lmbMesh *mesh, int vertex, Corner *corner )
{
	double point[3], offset[3];
	for ( int i = 0; i < 3; ++i )
	{
		point[i] = mesh->positions[3 * vertex + i];
		corner->attribute[i] = mesh->normals[3 * vertex + i];
		corner->attribute[3 + i] = mesh->colors != NULL ? mesh->colors[3 * vertex + i] : mesh->color[i];
		corner->attribute[6 + i] = point[i];
	}
	lmbSub( offset, point, view->eye );
	double distance = -lmbDot( offset, view->back );
	if ( !( distance > nearDistance ) || !isfinite( distance ) )
		return false;
	corner->inverse = 1.0 / distance;
	corner->x = view->centreX + view->focal * lmbDot( offset, view->right ) / distance;
	corner->y = view->centreY - view->focal * lmbDot( offset, view->up ) / distance;
	return fabs( corner->x ) < 1e7 && fabs( corner->y ) < 1e7;
}

static void Shade( const lmbLight *light, const double *attribute, const View *view, float *color )
{
	double normal[3] = { attribute[0], attribute[1], attribute[2] }, towards[3];
	Normalize( normal );
	lmbSub( towards, view->eye, attribute + 6 );
	Normalize( towards );
	double facing = lmbDot( normal, towards );
	double side = facing < 0.0 ? -1.0 : 1.0;
	double lit = light->key * fmax( 0.0, side * lmbDot( normal, light->direction ) ) + light->ground +
	             ( light->sky - light->ground ) * 0.5 * ( 1.0 + side * normal[1] );
	double edge = 1.0 - fmin( 1.0, side * facing );
	for ( int k = 0; k < 3; ++k )
		color[k] = (float)fmin( 1.0, attribute[3 + k] * lit + light->sheen * edge * edge * edge );
}

static double EdgeFunction( const Corner *a, const Corner *b, double x, double y )
{
	return ( b->x - a->x ) * ( y - a->y ) - ( b->y - a->y ) * ( x - a->x );
}

static void DrawTriangle( lmbRaster *raster, const View *view, const lmbLight *light, const Corner *corners )
{
	const Corner *a = &corners[0], *b = &corners[1], *c = &corners[2];
	double area = EdgeFunction( a, b, c->x, c->y );
	if ( !( fabs( area ) > 1e-12 ) )
		return;
	int columns = raster->width * raster->samples, rows = raster->height * raster->samples;
	int left = (int)fmax( 0.0, ceil( fmin( a->x, fmin( b->x, c->x ) ) - 0.5 ) );
	int right = (int)fmin( columns - 1.0, floor( fmax( a->x, fmax( b->x, c->x ) ) - 0.5 ) );
	int top = (int)fmax( 0.0, ceil( fmin( a->y, fmin( b->y, c->y ) ) - 0.5 ) );
	int bottom = (int)fmin( rows - 1.0, floor( fmax( a->y, fmax( b->y, c->y ) ) - 0.5 ) );
	for ( int row = top; row <= bottom; ++row )
		for ( int column = left; column <= right; ++column )
		{
			double x = column + 0.5, y = row + 0.5;
			double wa = EdgeFunction( b, c, x, y ) / area;
			double wb = EdgeFunction( c, a, x, y ) / area;
			double wc = EdgeFunction( a, b, x, y ) / area;
			if ( wa < 0.0 || wb < 0.0 || wc < 0.0 )
				continue;
			double inverse = wa * a->inverse + wb * b->inverse + wc * c->inverse;
			size_t sample = (size_t)row * (size_t)columns + (size_t)column;
			if ( !( inverse > raster->depth[sample] ) )
				continue;
			raster->depth[sample] = (float)inverse;
			double attribute[9];
			for ( int i = 0; i < 9; ++i )
				attribute[i] = ( wa * a->inverse * a->attribute[i] + wb * b->inverse * b->attribute[i] +
				                 wc * c->inverse * c->attribute[i] ) /
				               inverse;
			Shade( light, attribute, view, raster->color + 3 * sample );
		}
}

void lmbRaster_Draw( lmbRaster *raster, const lmbCamera *camera, const lmbLight *light, const lmbMesh *mesh )
{
	View view = MakeView( raster, camera );
	for ( int t = 0; t < mesh->triangleCount; ++t )
	{
		Corner corners[3];
		bool visible = true;
		for ( int k = 0; k < 3 && visible; ++k )
			visible = MakeCorner( &view, mesh, mesh->triangles[3 * t + k], &corners[k] );
		if ( visible )
			DrawTriangle( raster, &view, light, corners );
	}
}

/* The mesh seen from above: cover in cells of a square around it, blurred. */
typedef struct Footprint
{
	double x, z, cell; /* lower corner and edge of a cell, m */
	float cover[shadowCells][shadowCells];
} Footprint;

static void BlurRow( float *values, int stride, int radius )
{
	float copy[shadowCells];
	for ( int i = 0; i < shadowCells; ++i )
		copy[i] = values[i * stride];
	for ( int i = 0; i < shadowCells; ++i )
	{
		float sum = 0.0f;
		for ( int k = -radius; k <= radius; ++k )
			if ( i + k >= 0 && i + k < shadowCells )
				sum += copy[i + k];
		values[i * stride] = sum / (float)( 2 * radius + 1 );
	}
}

/* Lowers the cover of a body that is far above the ground: its shadow would be wide and faint. */
static void AddFootprint( Footprint *footprint, const lmbMesh *mesh, double height )
{
	for ( int t = 0; t < mesh->triangleCount; ++t )
	{
		double x[3], z[3], low = 1e30;
		for ( int k = 0; k < 3; ++k )
		{
			const float *p = mesh->positions + 3 * mesh->triangles[3 * t + k];
			x[k] = ( p[0] - footprint->x ) / footprint->cell;
			z[k] = ( p[2] - footprint->z ) / footprint->cell;
			low = fmin( low, p[1] - height );
		}
		double area = ( x[1] - x[0] ) * ( z[2] - z[0] ) - ( z[1] - z[0] ) * ( x[2] - x[0] );
		if ( !isfinite( area ) || area == 0.0 )
			continue;
		float cover = (float)exp( -fmax( 0.0, low ) / 0.6 );
		for ( int row = (int)fmax( 0.0, floor( fmin( z[0], fmin( z[1], z[2] ) ) ) );
		      row <= (int)fmin( shadowCells - 1.0, fmax( z[0], fmax( z[1], z[2] ) ) ); ++row )
			for ( int column = (int)fmax( 0.0, floor( fmin( x[0], fmin( x[1], x[2] ) ) ) );
			      column <= (int)fmin( shadowCells - 1.0, fmax( x[0], fmax( x[1], x[2] ) ) ); ++column )
			{
				float *cell = &footprint->cover[row][column];
				*cell = fmaxf( *cell, cover );
			}
	}
}

static bool MakeFootprint( const lmbMesh *mesh, const lmbShadow *shadow, Footprint *footprint )
{
	double low[2] = { 1e30, 1e30 }, high[2] = { -1e30, -1e30 };
	for ( int v = 0; v < mesh->vertexCount; ++v )
		for ( int i = 0; i < 2; ++i )
		{
			double p = mesh->positions[3 * v + 2 * i];
			if ( fabs( p ) < 1e6 )
			{
				low[i] = fmin( low[i], p );
				high[i] = fmax( high[i], p );
			}
		}
	double side = fmax( high[0] - low[0], high[1] - low[1] ) + 6.0 * shadow->softness;
	if ( !( side > 0.0 && side < 1e7 ) )
		return false;
	memset( footprint, 0, sizeof( *footprint ) );
	footprint->cell = side / shadowCells;
	footprint->x = 0.5 * ( low[0] + high[0] - side );
	footprint->z = 0.5 * ( low[1] + high[1] - side );
	AddFootprint( footprint, mesh, shadow->height );
	int radius = (int)( 0.5 * shadow->softness / footprint->cell + 0.5 );
	for ( int pass = 0; pass < 3 && radius > 0; ++pass )
		for ( int i = 0; i < shadowCells; ++i )
		{
			BlurRow( &footprint->cover[i][0], 1, radius );
			BlurRow( &footprint->cover[0][i], shadowCells, radius );
		}
	return true;
}

static double SampleFootprint( const Footprint *footprint, double x, double z )
{
	double u = ( x - footprint->x ) / footprint->cell - 0.5, v = ( z - footprint->z ) / footprint->cell - 0.5;
	if ( !( u >= 0.0 && v >= 0.0 && u < shadowCells - 1.0 && v < shadowCells - 1.0 ) )
		return 0.0;
	int column = (int)u, row = (int)v;
	double s = u - column, t = v - row;
	const float *near = &footprint->cover[row][column], *far = &footprint->cover[row + 1][column];
	return ( 1.0 - t ) * ( ( 1.0 - s ) * near[0] + s * near[1] ) + t * ( ( 1.0 - s ) * far[0] + s * far[1] );
}

void lmbRaster_Shadow( lmbRaster *raster, const lmbCamera *camera, const lmbShadow *shadow,
                       const lmbMesh *mesh )
{
	Footprint footprint;
	if ( !MakeFootprint( mesh, shadow, &footprint ) )
		return;
	View view = MakeView( raster, camera );
	int columns = raster->width * raster->samples, rows = raster->height * raster->samples;
	for ( int row = 0; row < rows; ++row )
		for ( int column = 0; column < columns; ++column )
		{
			double ray[3];
			for ( int i = 0; i < 3; ++i )
				ray[i] = ( column + 0.5 - view.centreX ) / view.focal * view.right[i] -
				         ( row + 0.5 - view.centreY ) / view.focal * view.up[i] - view.back[i];
			double distance = ( shadow->height - view.eye[1] ) / ray[1];
			if ( !( distance > nearDistance && distance < 1e6 ) )
				continue;
			double cover = SampleFootprint( &footprint, view.eye[0] + distance * ray[0],
			                                view.eye[2] + distance * ray[2] );
			float *color = raster->color + 3 * ( (size_t)row * (size_t)columns + (size_t)column );
			for ( int k = 0; k < 3; ++k )
				color[k] *= (float)( 1.0 - shadow->strength * cover );
		}
}

void lmbRaster_Resolve( const lmbRaster *raster, lmbPicture *picture, int x, int y )
{
	int samples = raster->samples, columns = raster->width * samples;
	for ( int row = 0; row < raster->height; ++row )
		for ( int column = 0; column < raster->width; ++column )
		{
			int px = x + column, py = y + row;
			if ( px < 0 || py < 0 || px >= picture->width || py >= picture->height )
				continue;
			double sum[3] = { 0.0, 0.0, 0.0 };
			for ( int i = 0; i < samples; ++i )
				for ( int j = 0; j < samples; ++j )
					for ( int k = 0; k < 3; ++k )
						sum[k] += raster->color[3 * ( (size_t)( row * samples + i ) * (size_t)columns +
						                              (size_t)( column * samples + j ) ) +
						                        (size_t)k];
			uint8_t *pixel = picture->pixels + 3 * ( (size_t)py * (size_t)picture->width + (size_t)px );
			for ( int k = 0; k < 3; ++k )
			{
				double value = fmin( 1.0, fmax( 0.0, sum[k] / ( samples * samples ) ) );
				pixel[k] = (uint8_t)( 255.0 * lmbColor_Encoded( value ) + 0.5 );
			}
		}
}
