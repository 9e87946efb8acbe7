#include "check.h"

#include "base/files.h"
#include "evaluate/picture.h"
#include "evaluate/sheet.h"

#include <png.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/limber-picture-XXXXXX";
static char path[64];

static int MakeFolder( void **state )
{
	(void)state;
	if ( mkdtemp( folder ) == NULL )
		return 1;
	snprintf( path, sizeof( path ), "%s/picture.png", folder );
	return 0;
}

static int RemoveFolder( void **state )
{
	(void)state;
	unlink( path );
	return rmdir( folder ); /* fails when a temporary file was left behind */
}

/* Reads a PNG with libpng's simple interface; NULL when it is not one. Free the pixels. */
static uint8_t *ReadPng( const char *file, int *width, int *height )
{
	png_image image = { .version = PNG_IMAGE_VERSION };
	if ( !png_image_begin_read_from_file( &image, file ) )
		return NULL;
	image.format = PNG_FORMAT_RGB;
	uint8_t *pixels = malloc( PNG_IMAGE_SIZE( image ) );
	if ( !png_image_finish_read( &image, NULL, pixels, 0, NULL ) )
	{
		free( pixels );
		return NULL;
	}
	*width = (int)image.width;
	*height = (int)image.height;
	return pixels;
}

static void PngHoldsThePicture( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	lmbError error = { 0 };
	lmbPicture picture;
	CHECK_OR_STOP( lmbPicture_Make( &arena, 37, 21, ( lmbColor ){ 250, 240, 230 }, &picture, &error ) ==
	               lmb_statusOk );
	lmbPicture_Rectangle( &picture, -5, 3, 20, 1000, ( lmbColor ){ 1, 2, 3 } );
	lmbPicture_Rectangle( &picture, 30, 3, -4, 5, ( lmbColor ){ 9, 9, 9 } );
	lmbPicture_Rectangle( &picture, 400, 300, 5, 5, ( lmbColor ){ 9, 9, 9 } );
	CHECK_INT( lmbPicture_WritePng( &picture, path, &error ), lmb_statusOk );
	int width = 0, height = 0;
	uint8_t *pixels = ReadPng( path, &width, &height );
	CHECK_OR_STOP( pixels != NULL );
	CHECK_INT( width, 37 );
	CHECK_INT( height, 21 );
	CHECK( memcmp( pixels, picture.pixels, 37 * 21 * 3 ) == 0 );
	for ( int row = 0; row < 21; ++row )
		for ( int column = 0; column < 37; ++column )
			CHECK_INT( pixels[3 * ( row * 37 + column )], row >= 3 && column < 15 ? 1 : 250 );
	free( pixels );
	CHECK_INT( lmbPicture_WritePng( &picture, "/nowhere/at/all.png", &error ), lmb_statusIo );
	CHECK_CONTAINS( error.message, "/nowhere/at/all.png" );
	CHECK_INT( lmbPicture_Make( &arena, 0, 5, ( lmbColor ){ 0, 0, 0 }, &picture, &error ),
	           lmb_statusInvalidArgument );
	lmbArena_Free( &arena );
}

static double Ink( const lmbPicture *picture )
{
	double ink = 0.0;
	for ( int i = 0; i < picture->width * picture->height; ++i )
		ink += ( 255.0 - picture->pixels[3 * i] ) / 255.0;
	return ink;
}

/* An I is one stroke: its ink is that of a rod with round ends. Every sign draws something, and inside
 * the box that its width promises. */
static void LetteringIsWhereItSays( void **state )
{
	(void)state;
	lmbArena arena = { 0 };
	lmbError error = { 0 };
	lmbPicture picture;
	lmbColor white = { 255, 255, 255 };
	lmbLettering lettering = { .size = 45.0, .weight = 5.0, .color = { 0, 0, 0 } };
	CHECK_OR_STOP( lmbPicture_Make( &arena, 120, 120, white, &picture, &error ) == lmb_statusOk );
	lmbPicture_Text( &picture, 60.0, 80.0, &lettering, "I" );
	/* 3 %: coverage by distance is exact along straight edges only, not around the round ends. */
	double rod = 45.0 * 5.0 + 3.14159 * 2.5 * 2.5;
	CHECK_NEAR( Ink( &picture ) / rod, 1.0, 0.03 );
	for ( char letter = '!'; letter <= '~'; ++letter )
	{
		char text[2] = { letter, 0 };
		lmbPicture_Rectangle( &picture, 0, 0, 120, 120, white );
		double end = lmbPicture_Text( &picture, 20.0, 80.0, &lettering, text );
		CHECK_NEAR( end - 20.0, lmbPicture_TextWidth( 45.0, text ), 1e-9 );
		CHECK( Ink( &picture ) > 15.0 );
		for ( int row = 0; row < 120; ++row )
			for ( int column = 0; column < 120; ++column )
				if ( picture.pixels[3 * ( row * 120 + column )] < 255 )
					CHECK( column >= 16 && column <= end + 4.0 && row >= 80 - 45 - 10 && row <= 80 + 20 );
	}
	CHECK_NEAR( lmbPicture_TextWidth( 9.0, "II" ), 2.9, 1e-9 );
	lmbPicture_Rectangle( &picture, 0, 0, 120, 120, white );
	lmbPicture_Text( &picture, NAN, 0.0, &lettering, "x" );
	lmbPicture_Text( &picture, 1e300, 0.0, &lettering, "x" );
	lmbPicture_Text( &picture, -3000.0, 50.0, &lettering, "x" );
	CHECK_NEAR( Ink( &picture ), 0.0, 0.0 );
	lmbPicture_Text( &picture, 110.0, 118.0, &lettering, "\xc3\xa4W" ); /* cut, not written outside */
	lmbArena_Free( &arena );
}

/* A tetrahedron on the ground, and copies moved by a known distance. */
static const int32_t tetrahedron[] = { 0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3 };
static float truth[2][12] = { { -0.5f, 0, -0.5f, 0.5f, 0, -0.5f, 0, 0, 0.6f, 0, 1, 0 },
                              { -0.5f, 0, -0.5f, 0.5f, 0, -0.5f, 0, 0, 0.6f, 0, 1.2f, 0 } };
static float moved[2][12], broken[2][12];

static lmbSheetDef MakeDef( lmbSheetColumn *columns, const float *( *positions )[2], double *times )
{
	for ( int instant = 0; instant < 2; ++instant )
		for ( int i = 0; i < 12; ++i )
		{
			moved[instant][i] = truth[instant][i] + ( i % 3 == 0 ? 0.05f : 0.0f );
			broken[instant][i] = i < 3 || instant == 1 ? NAN : truth[instant][i];
		}
	float( *sources[3] )[12] = { moved, broken, truth };
	const char *labels[3] = { "moved", "broken", "truth" };
	for ( int column = 0; column < 3; ++column )
	{
		for ( int instant = 0; instant < 2; ++instant )
			positions[column][instant] = sources[column][instant];
		columns[column] = ( lmbSheetColumn ){ labels[column], positions[column] };
	}
	times[0] = 0.25;
	times[1] = 1.5;
	lmbSheetDef def = lmbDefaultSheetDef();
	def.title = "tetrahedron";
	def.vertexCount = 4;
	def.triangleCount = 4;
	def.triangles = tetrahedron;
	def.columnCount = 3;
	def.columns = columns;
	def.truth = 2;
	def.instantCount = 2;
	def.times = times;
	return def;
}

static int CountNear( const uint8_t *pixels, int width, const int *box, const float *linear )
{
	/* Shading scales the three channels alike in linear light, so compare their proportions. */
	int count = 0;
	for ( int row = box[1]; row < box[3]; ++row )
		for ( int column = box[0]; column < box[2]; ++column )
		{
			const uint8_t *p = pixels + 3 * ( row * width + column );
			double r = pow( p[0] / 255.0, 2.2 ), g = pow( p[1] / 255.0, 2.2 );
			count += fabs( g / ( r + 1e-9 ) - linear[1] / linear[0] ) < 0.06;
		}
	return count;
}

static void SheetShowsTheError( void **state )
{
	(void)state;
	lmbError error = { 0 };
	lmbSheetColumn columns[3];
	const float *positions[3][2];
	double times[2];
	lmbSheetDef def = MakeDef( columns, positions, times );
	def.scale = 0.1; /* the moved column is 50 mm off everywhere: half of the scale */
	CHECK_INT( lmbSheet_Write( &def, path, &error ), lmb_statusOk );
	int width = 0, height = 0;
	uint8_t *pixels = ReadPng( path, &width, &height );
	CHECK_OR_STOP( pixels != NULL );
	CHECK( width > 3 * def.cellWidth && width < 3 * def.cellWidth + 200 );
	CHECK( height > 2 * def.cellHeight && height < 2 * def.cellHeight + 200 );
	float half[3];
	lmbSheet_HeatColor( 0.5, half );
	int left = width - 20 - 3 * def.cellWidth, top = height - 20 - 2 * def.cellHeight;
	int first[4] = { left, top + 30, left + def.cellWidth, top + def.cellHeight - 30 };
	int last[4] = { left + 2 * def.cellWidth, top + 30, left + 3 * def.cellWidth, top + def.cellHeight - 30 };
	/* Half a cell is body; a tenth must show the colour of half the scale, and none in the truth. */
	int area = def.cellWidth * def.cellHeight;
	CHECK( CountNear( pixels, width, first, half ) > area / 10 );
	CHECK( CountNear( pixels, width, last, half ) < area / 200 );
	free( pixels );
}

static void SheetRefusesNonsense( void **state )
{
	(void)state;
	lmbError error = { 0 };
	lmbSheetColumn columns[3];
	const float *positions[3][2];
	double times[2];
	lmbSheetDef good = MakeDef( columns, positions, times ), def = good;
	int32_t wild[12] = { 0, 1, 4 };
	def.triangles = wild;
	CHECK_INT( lmbSheet_Write( &def, path, &error ), lmb_statusInvalidArgument );
	CHECK_CONTAINS( error.message, "vertex 4 of 4" );
	def = good;
	def.columnCount = 9;
	CHECK_INT( lmbSheet_Write( &def, path, &error ), lmb_statusInvalidArgument );
	def = good;
	def.truth = 3;
	CHECK_INT( lmbSheet_Write( &def, path, &error ), lmb_statusInvalidArgument );
	def = good;
	def.truth = 1; /* a truth of holes: nothing to draw or compare, but no crash */
	CHECK_INT( lmbSheet_Write( &def, path, &error ), lmb_statusOk );
	CHECK_INT( lmbSheet_Write( &good, "/nowhere/at/all.png", &error ), lmb_statusIo );
}

static void HeatFallsInLightness( void **state )
{
	(void)state;
	double last = 2.0;
	for ( int i = 0; i <= 100; ++i )
	{
		float c[3];
		lmbSheet_HeatColor( i / 100.0, c );
		double luminance = 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]; /* ITU-R BT.709 */
		CHECK( luminance < last );
		last = luminance;
	}
	float end[3], nan[3];
	lmbSheet_HeatColor( 7.0, end );
	lmbSheet_HeatColor( NAN, nan );
	CHECK( memcmp( end, nan, sizeof( end ) ) == 0 );
}

int main( void )
{
	const struct CMUnitTest tests[] = {
	    CHECK_TEST( PngHoldsThePicture ),   CHECK_TEST( LetteringIsWhereItSays ),
	    CHECK_TEST( SheetShowsTheError ),   CHECK_TEST( SheetRefusesNonsense ),
	    CHECK_TEST( HeatFallsInLightness ),
	};
	return cmocka_run_group_tests( tests, MakeFolder, RemoveFolder );
}
