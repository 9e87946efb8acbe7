#include "evaluate/sheet.h"

#include "evaluate/raster.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum
{
	columnMax = 8,
	instantMax = 12,
	samples = 3,
	marginLeft = 84,
	marginRight = 20,
	headerHeight = 122,
	footerHeight = 20,
	captionHeight = 26
};

static const double fieldOfView = 0.28; /* rad: a long lens, so that rows look alike */
static const lmbColor paper = { 250, 248, 244 };
static const lmbColor ink = { 38, 40, 44 };
static const lmbColor faintInk = { 120, 122, 126 };
static const lmbColor rule = { 222, 220, 214 };
static const float plainAlbedo[3] = { 0.80f, 0.74f, 0.66f };

lmbSheetDef lmbDefaultSheetDef( void )
{
	return ( lmbSheetDef ){ .truth = -1,
	                        .cellWidth = 216,
	                        .cellHeight = 254,
	                        .yaw = 35.0 * 3.141592653589793 / 180.0,
	                        .pitch = 8.0 * 3.141592653589793 / 180.0 };
}

/* Stops of the heat colours in sRGB, falling in lightness. */
static const double heatStops[][3] = { { 232, 226, 214 }, { 246, 206, 122 }, { 236, 138, 62 },
                                       { 204, 62, 58 },   { 132, 22, 78 },   { 58, 10, 62 } };

void lmbSheet_HeatColor( double share, float *color )
{
	int spans = (int)( sizeof( heatStops ) / sizeof( heatStops[0] ) ) - 1;
	double x = share >= 0.0 ? ( share <= 1.0 ? share * spans : spans ) : ( share < 0.0 ? 0.0 : spans );
	int span = x >= spans ? spans - 1 : (int)x;
	double t = x - span;
	for ( int k = 0; k < 3; ++k )
	{
		double encoded = ( 1.0 - t ) * heatStops[span][k] + t * heatStops[span + 1][k];
		color[k] = (float)lmbColor_Linear( encoded / 255.0 );
	}
}

/* What all cells share while a sheet is drawn. */
typedef struct Sheet
{
	const lmbSheetDef *def;
	lmbArena arena;
	lmbPicture picture;
	lmbRaster raster;
	float *normals, *colors; /* (vertexCount x 3) */
	double scale;            /* m */
	double reach;            /* m: half the height that a cell shows */
	double ground;           /* m */
} Sheet;

static lmbStatus CheckDef( const lmbSheetDef *def, lmbError *error )
{
	const char *problem = NULL;
	if ( def->columnCount < 1 || def->columnCount > columnMax )
		problem = "columnCount must be from 1 to 8";
	else if ( def->instantCount < 1 || def->instantCount > instantMax )
		problem = "instantCount must be from 1 to 12";
	else if ( def->truth < -1 || def->truth >= def->columnCount )
		problem = "truth must be a column or -1";
	else if ( def->vertexCount < 1 || def->triangleCount < 0 )
		problem = "there must be vertices";
	else if ( def->cellWidth < 40 || def->cellHeight < 40 || def->cellWidth > 1024 || def->cellHeight > 1024 )
		problem = "cellWidth and cellHeight must be from 40 to 1024";
	else if ( !( def->scale >= 0.0 && def->scale < 1e6 ) )
		problem = "scale must be 0 or positive metres";
	else if ( !( fabs( def->yaw ) < 10.0 && fabs( def->pitch ) < 1.5 ) )
		problem = "pitch must be between -1.5 and 1.5 rad, yaw between -10 and 10";
	if ( problem != NULL )
		return lmbError_Set( error, lmb_statusInvalidArgument, "contact sheet: %s", problem );
	for ( int i = 0; i < 3 * def->triangleCount; ++i )
		if ( def->triangles[i] < 0 || def->triangles[i] >= def->vertexCount )
			return lmbError_Set( error, lmb_statusInvalidArgument,
			                     "contact sheet: triangle %d names vertex %d of %d", i / 3, def->triangles[i],
			                     def->vertexCount );
	return lmb_statusOk;
}

static const float *Reference( const lmbSheetDef *def, int instant )
{
	return def->columns[def->truth < 0 ? 0 : def->truth].positions[instant];
}

/* Middle of the finite vertices' box; false when there are none. half (Nullable): half its sides. */
static bool FindBox( const float *positions, int vertexCount, double *middle, double *half )
{
	double low[3] = { 1e30, 1e30, 1e30 }, high[3] = { -1e30, -1e30, -1e30 };
	for ( int v = 0; v < vertexCount; ++v )
		for ( int i = 0; i < 3; ++i )
		{
			double p = positions[3 * v + i];
			if ( fabs( p ) < 1e6 )
			{
				low[i] = fmin( low[i], p );
				high[i] = fmax( high[i], p );
			}
		}
	for ( int i = 0; i < 3; ++i )
	{
		middle[i] = 0.5 * ( low[i] + high[i] );
		half[i] = 0.5 * ( high[i] - low[i] );
	}
	return low[0] <= high[0] && low[1] <= high[1] && low[2] <= high[2];
}

static double Distance( const float *a, const float *b, int vertex )
{
	double sum = 0.0;
	for ( int i = 0; i < 3; ++i )
	{
		double d = (double)a[3 * vertex + i] - b[3 * vertex + i];
		sum += d * d;
	}
	return sqrt( sum );
}

/* Root of the weighted mean square of the distances; -1 when no vertex counts. */
static double RmsDistance( const lmbSheetDef *def, const float *positions, const float *truth )
{
	double sum = 0.0, total = 0.0;
	for ( int v = 0; v < def->vertexCount; ++v )
	{
		double weight = def->weights != NULL ? def->weights[v] : 1.0;
		double distance = Distance( positions, truth, v );
		if ( !isfinite( distance ) || !( weight > 0.0 ) )
			continue;
		sum += weight * distance * distance;
		total += weight;
	}
	return total > 0.0 ? sqrt( sum / total ) : -1.0;
}

/* 1, 2 or 5 times a power of ten, not below value. */
static double RoundUp( double value )
{
	double power = pow( 10.0, floor( log10( value ) ) );
	double steps[] = { 1.0, 2.0, 5.0, 10.0 };
	for ( int i = 0; i < 4; ++i )
		if ( value <= steps[i] * power * 1.0000001 )
			return steps[i] * power;
	return 10.0 * power;
}

/* The scale: the largest RMS of any cell, doubled, lies within; the few vertices above it look alike. */
static double FindScale( const lmbSheetDef *def )
{
	double largest = 0.0;
	for ( int instant = 0; instant < def->instantCount && def->truth >= 0; ++instant )
		for ( int column = 0; column < def->columnCount; ++column )
			largest = fmax( largest, RmsDistance( def, def->columns[column].positions[instant],
			                                      Reference( def, instant ) ) );
	return largest > 1e-9 && largest < 1e6 ? RoundUp( 2.0 * largest ) : 1e-3;
}

static void FindExtent( Sheet *sheet )
{
	const lmbSheetDef *def = sheet->def;
	double tall = 0.0, wide = 0.0;
	sheet->ground = 1e30;
	for ( int instant = 0; instant < def->instantCount; ++instant )
	{
		double middle[3], half[3];
		if ( !FindBox( Reference( def, instant ), def->vertexCount, middle, half ) )
			continue;
		tall = fmax( tall, half[1] );
		wide = fmax( wide, fabs( cos( def->yaw ) ) * half[0] + fabs( sin( def->yaw ) ) * half[2] );
		sheet->ground = fmin( sheet->ground, middle[1] - half[1] );
	}
	double aspect = (double)def->cellWidth / ( def->cellHeight - captionHeight );
	sheet->reach = fmax( 1e-6, 1.13 * fmax( tall, wide / aspect ) );
}

static lmbCamera MakeCamera( const Sheet *sheet, int instant )
{
	const lmbSheetDef *def = sheet->def;
	lmbCamera camera = { .fieldOfView = fieldOfView };
	double half[3];
	if ( !FindBox( Reference( def, instant ), def->vertexCount, camera.target, half ) )
		memset( camera.target, 0, sizeof( camera.target ) );
	double distance = sheet->reach / tan( 0.5 * fieldOfView );
	camera.eye[0] = camera.target[0] + distance * cos( def->pitch ) * sin( def->yaw );
	camera.eye[1] = camera.target[1] + distance * sin( def->pitch );
	camera.eye[2] = camera.target[2] + distance * cos( def->pitch ) * cos( def->yaw );
	return camera;
}

static void CenterText( Sheet *sheet, double x, double y, const lmbLettering *lettering, const char *text )
{
	lmbPicture_Text( &sheet->picture, x - 0.5 * lmbPicture_TextWidth( lettering->size, text ), y, lettering,
	                 text );
}

static void ColorByError( Sheet *sheet, const float *positions, const float *truth )
{
	for ( int v = 0; v < sheet->def->vertexCount; ++v )
		lmbSheet_HeatColor( Distance( positions, truth, v ) / sheet->scale, sheet->colors + 3 * v );
}

static void DrawCell( Sheet *sheet, int column, int instant )
{
	const lmbSheetDef *def = sheet->def;
	const float *positions = def->columns[column].positions[instant];
	const float *truth = Reference( def, instant );
	bool plain = def->truth < 0 || column == def->truth;
	int x = marginLeft + column * def->cellWidth, y = headerHeight + instant * def->cellHeight;

	lmbMesh mesh = { .vertexCount = def->vertexCount,
	                 .triangleCount = def->triangleCount,
	                 .positions = positions,
	                 .normals = sheet->normals,
	                 .triangles = def->triangles,
	                 .colors = plain ? NULL : sheet->colors };
	memcpy( mesh.color, plainAlbedo, sizeof( mesh.color ) );
	lmbMesh_Normals( def->vertexCount, positions, def->triangleCount, def->triangles, sheet->normals );
	if ( !plain )
		ColorByError( sheet, positions, truth );

	float background[3] = { (float)lmbColor_Linear( paper.r / 255.0 ),
	                        (float)lmbColor_Linear( paper.g / 255.0 ),
	                        (float)lmbColor_Linear( paper.b / 255.0 ) };
	lmbCamera camera = MakeCamera( sheet, instant );
	lmbLight light = lmbDefaultLight( &camera );
	lmbShadow shadow = { .height = sheet->ground, .softness = 0.1 * sheet->reach, .strength = 0.45 };
	lmbRaster_Clear( &sheet->raster, background );
	lmbRaster_Shadow( &sheet->raster, &camera, &shadow, &mesh );
	lmbRaster_Draw( &sheet->raster, &camera, &light, &mesh );
	lmbRaster_Resolve( &sheet->raster, &sheet->picture, x, y );

	double rms = RmsDistance( def, positions, truth );
	char text[64];
	snprintf( text, sizeof( text ), "%.*f mm", rms < 9.95e-3 ? 2 : 1, 1e3 * rms );
	lmbLettering lettering = { .size = 10.0, .color = ink };
	if ( !plain && rms >= 0.0 )
		CenterText( sheet, x + 0.5 * def->cellWidth, y + def->cellHeight - 9.0, &lettering, text );
}

static void DrawLegend( Sheet *sheet )
{
	int width = 220, height = 12;
	int x = sheet->picture.width - marginRight - width - 12, y = 34;
	for ( int column = 0; column < width; ++column )
	{
		float linear[3];
		lmbSheet_HeatColor( ( column + 0.5 ) / width, linear );
		lmbColor color = { (uint8_t)( 255.0 * lmbColor_Encoded( linear[0] ) + 0.5 ),
		                   (uint8_t)( 255.0 * lmbColor_Encoded( linear[1] ) + 0.5 ),
		                   (uint8_t)( 255.0 * lmbColor_Encoded( linear[2] ) + 0.5 ) };
		lmbPicture_Rectangle( &sheet->picture, x + column, y, 1, height, color );
	}
	lmbLettering lettering = { .size = 9.0, .color = ink };
	lmbPicture_Text( &sheet->picture, x, y - 8.0, &lettering, "distance to the simulation" );
	for ( int tick = 0; tick <= 2; ++tick )
	{
		char text[48];
		snprintf( text, sizeof( text ), "%g%s", 1e3 * sheet->scale * tick / 2, tick == 2 ? " mm" : "" );
		lmbPicture_Rectangle( &sheet->picture, x + tick * ( width - 1 ) / 2, y + height, 1, 4, ink );
		CenterText( sheet, x + tick * ( width - 1 ) / 2.0, y + height + 17.0, &lettering, text );
	}
}

static void DrawFrame( Sheet *sheet )
{
	const lmbSheetDef *def = sheet->def;
	lmbLettering title = { .size = 17.0, .color = ink }, small = { .size = 10.0, .color = faintInk };
	lmbLettering label = { .size = 13.0, .color = ink };
	lmbPicture_Text( &sheet->picture, marginRight, 44.0, &title, def->title != NULL ? def->title : "" );
	if ( def->subtitle != NULL )
		lmbPicture_Text( &sheet->picture, marginRight, 68.0, &small, def->subtitle );
	int width = def->columnCount * def->cellWidth;
	for ( int column = 0; column < def->columnCount; ++column )
		CenterText( sheet, marginLeft + ( column + 0.5 ) * def->cellWidth, headerHeight - 14.0, &label,
		            def->columns[column].label );
	for ( int instant = 0; instant < def->instantCount; ++instant )
	{
		int y = headerHeight + instant * def->cellHeight;
		char text[48];
		snprintf( text, sizeof( text ), "%.2f s", def->times[instant] );
		lmbPicture_Rectangle( &sheet->picture, marginRight, y - 1, marginLeft - marginRight + width, 1,
		                      rule );
		lmbPicture_Text( &sheet->picture, marginRight, y + 24.0, &small, text );
	}
	if ( def->truth >= 0 )
		DrawLegend( sheet );
}

/* Steps of one in 255 cannot be seen, but cost a fifth of the file. */
static void RoundColors( lmbPicture *picture )
{
	size_t count = 3 * (size_t)picture->width * (size_t)picture->height;
	for ( size_t i = 0; i < count; ++i )
		picture->pixels[i] &= 0xfe;
}

static lmbStatus DrawSheet( Sheet *sheet, const char *path, lmbError *error )
{
	const lmbSheetDef *def = sheet->def;
	int width = marginLeft + def->columnCount * def->cellWidth + marginRight;
	int height = headerHeight + def->instantCount * def->cellHeight + footerHeight;
	LMB_TRY( lmbPicture_Make( &sheet->arena, width, height, paper, &sheet->picture, error ) );
	LMB_TRY( lmbRaster_Make( &sheet->arena, def->cellWidth, def->cellHeight - captionHeight, samples,
	                         &sheet->raster, error ) );
	sheet->normals = LMB_NEW( &sheet->arena, float, 3 * (size_t)def->vertexCount );
	sheet->colors = LMB_NEW( &sheet->arena, float, 3 * (size_t)def->vertexCount );
	if ( sheet->normals == NULL || sheet->colors == NULL )
		return lmbError_Memory( error );
	sheet->scale = def->scale > 0.0 ? def->scale : FindScale( def );
	FindExtent( sheet );
	for ( int instant = 0; instant < def->instantCount; ++instant )
		for ( int column = 0; column < def->columnCount; ++column )
			DrawCell( sheet, column, instant );
	DrawFrame( sheet );
	RoundColors( &sheet->picture );
	return lmbPicture_WritePng( &sheet->picture, path, error );
}

lmbStatus lmbSheet_Write( const lmbSheetDef *def, const char *path, lmbError *error )
{
	LMB_TRY( CheckDef( def, error ) );
	Sheet sheet = { .def = def };
	lmbStatus status = DrawSheet( &sheet, path, error );
	lmbArena_Free( &sheet.arena );
	return status;
}
