#include "evaluate/picture.h"

#include "base/files.h"

#include <math.h>
#include <png.h>
#include <setjmp.h>
#include <string.h>

lmbStatus lmbPicture_Make( lmbArena *arena, int width, int height, lmbColor fill, lmbPicture *out,
                           lmbError *error )
{
	if ( width < 1 || height < 1 || width > lmbPictureSideMax || height > lmbPictureSideMax )
		return lmbError_Set( error, lmb_statusInvalidArgument,
		                     "a picture of %d x %d pixels: sides must be from 1 to %d", width, height,
		                     lmbPictureSideMax );
	uint8_t *pixels = LMB_NEW( arena, uint8_t, (size_t)width * (size_t)height * 3 );
	if ( pixels == NULL )
		return lmbError_Memory( error );
	*out = ( lmbPicture ){ .width = width, .height = height, .pixels = pixels };
	lmbPicture_Rectangle( out, 0, 0, width, height, fill );
	return lmb_statusOk;
}

static int Clamp( int value, int low, int high )
{
	return value < low ? low : value > high ? high : value;
}

void lmbPicture_Rectangle( lmbPicture *picture, int x, int y, int width, int height, lmbColor color )
{
	int left = Clamp( x, 0, picture->width ), right = Clamp( x + width, 0, picture->width );
	int top = Clamp( y, 0, picture->height ), bottom = Clamp( y + height, 0, picture->height );
	for ( int row = top; row < bottom; ++row )
	{
		uint8_t *pixel = picture->pixels + 3 * ( (size_t)row * (size_t)picture->width + (size_t)left );
		for ( int column = left; column < right; ++column, pixel += 3 )
		{
			pixel[0] = color.r;
			pixel[1] = color.g;
			pixel[2] = color.b;
		}
	}
}

/* The writer and its error, for libpng's callbacks. */
typedef struct PngTarget
{
	lmbFileWriter writer;
	lmbError *error;
	lmbStatus status;
	jmp_buf escape;
} PngTarget;

static void PngWrite( png_structp png, png_bytep data, png_size_t size )
{
	PngTarget *target = png_get_io_ptr( png );
	target->status = lmbFileWriter_Write( &target->writer, data, size, target->error );
	if ( target->status != lmb_statusOk )
		longjmp( target->escape, 1 );
}

static void PngFlush( png_structp png )
{
	(void)png;
}

static void PngFail( png_structp png, png_const_charp message )
{
	PngTarget *target = png_get_error_ptr( png );
	target->status = lmbError_Set( target->error, lmb_statusIo, "%s: cannot write the PNG: %s",
	                               target->writer.path, message );
	longjmp( target->escape, 1 );
}

static void PngWarn( png_structp png, png_const_charp message )
{
	(void)png;
	(void)message;
}

static void PngEncode( PngTarget *target, png_structp png, png_infop info, const lmbPicture *picture )
{
	if ( setjmp( target->escape ) != 0 )
		return;
	png_set_write_fn( png, target, PngWrite, PngFlush );
	png_set_IHDR( png, info, (png_uint_32)picture->width, (png_uint_32)picture->height, 8, PNG_COLOR_TYPE_RGB,
	              PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT );
	png_set_compression_level( png, 9 );
	png_write_info( png, info );
	for ( int row = 0; row < picture->height; ++row )
		png_write_row( png, picture->pixels + 3 * (size_t)row * (size_t)picture->width );
	png_write_end( png, info );
}

lmbStatus lmbPicture_WritePng( const lmbPicture *picture, const char *path, lmbError *error )
{
	PngTarget target = { .error = error, .status = lmb_statusOk };
	LMB_TRY( lmbFileWriter_Open( &target.writer, path, error ) );
	png_structp png = png_create_write_struct( PNG_LIBPNG_VER_STRING, &target, PngFail, PngWarn );
	png_infop info = png == NULL ? NULL : png_create_info_struct( png );
	if ( info == NULL )
		target.status = lmbError_Memory( error );
	else
		PngEncode( &target, png, info, picture );
	png_destroy_write_struct( &png, &info );
	if ( target.status == lmb_statusOk )
		return lmbFileWriter_Commit( &target.writer, error );
	lmbFileWriter_Abort( &target.writer );
	return target.status;
}
