/* Small pictures for reports: rectangles, lettering, PNG. */
#ifndef LMB_EVALUATE_PICTURE_H
#define LMB_EVALUATE_PICTURE_H

#include "base/arena.h"
#include "base/error.h"

#include <stdint.h>

typedef struct lmbColor
{
	uint8_t r, g, b; /* sRGB */
} lmbColor;

typedef struct lmbPicture
{
	int width, height;
	uint8_t *pixels; /* (height x width x 3) sRGB, top row first */
} lmbPicture;

enum
{
	lmbPictureSideMax = 16384 /* pixels, of either side */
};

/* A picture filled with one colour, in the arena. Sides in [1, lmbPictureSideMax]. */
lmbStatus lmbPicture_Make( lmbArena *arena, int width, int height, lmbColor fill, lmbPicture *out,
                           lmbError *error );

/* Fills columns x .. x + width - 1 and rows y .. y + height - 1, as far as they lie in the picture. */
void lmbPicture_Rectangle( lmbPicture *picture, int x, int y, int width, int height, lmbColor color );

/* Lettering in a built-in stroke font, anti-aliased. size: height of capitals in pixels, below about
 * 6 it is no longer readable. weight: thickness of the strokes in pixels; 0 takes size / 7, at least
 * 1. x, y: left end of the baseline. ASCII; anything else draws a box. Returns the x where it ends. */
typedef struct lmbLettering
{
	double size, weight;
	lmbColor color;
} lmbLettering;

double lmbPicture_Text( lmbPicture *picture, double x, double y, const lmbLettering *lettering,
                        const char *text );
double lmbPicture_TextWidth( double size, const char *text );

/* 8-bit RGB PNG without a date, so the same picture gives the same bytes (of one zlib version). */
lmbStatus lmbPicture_WritePng( const lmbPicture *picture, const char *path, lmbError *error );

#endif
