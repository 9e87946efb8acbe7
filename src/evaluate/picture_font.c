#include "evaluate/picture.h"

#include <math.h>
#include <string.h>

/* A glyph is a width and strokes on a grid. A point is a digit (x) and a letter (y): 'd' is the
 * baseline, 'j' the height of small letters, 'm' that of capitals, 'a' the descender. A stroke starts
 * with '|' (straight pieces), '~' (quadratic B-spline with its ends held) or 'o' (the same, closed). */
typedef struct Glyph
{
	int width;
	const char *strokes;
} Glyph;

static const Glyph unknownGlyph = { 6, "|0d0m6m6d0d" };

static const Glyph glyphs[95] = {
    { 3, "" },                                  /* space */
    { 0, "|0m0g|0d0d" },                        /* ! */
    { 2, "|0m0k|2m2k" },                        /* " */
    { 6, "|1d3m|3d5m|0g6g|0j6j" },              /* # */
    { 6, "~6k6m0m0i6i6d0d0f|3c3n" },            /* $ */
    { 8, "o0i0m3m3i|1d7m|o5d5h8h8d" },          /* % */
    { 7, "|7d2k~2k2m5m5k0h0d5d6g" },            /* & */
    { 0, "|0m0k" },                             /* ' */
    { 2, "~2n0k0e2b" },                         /* ( */
    { 2, "~0n2k2e0b" },                         /* ) */
    { 4, "|2m2i|0l4j|0j4l" },                   /* * */
    { 6, "|0h6h|3e3k" },                        /* + */
    { 1, "|1e0b" },                             /* , */
    { 4, "|0h4h" },                             /* - */
    { 0, "|0d0d" },                             /* . */
    { 4, "|0c4n" },                             /* / */
    { 6, "o0d0m6m6d" },                         /* 0 */
    { 4, "|0k3m3d" },                           /* 1 */
    { 6, "~0k0m6m6i0d|0d6d" },                  /* 2 */
    { 6, "~0k0m6m6i2i~2i6i6d0d0f" },            /* 3 */
    { 6, "|5d5m0g6g" },                         /* 4 */
    { 6, "|5m1m0i~0i2j6j6d0d0f" },              /* 5 */
    { 6, "o0d0j6j6d~5m0m0g" },                  /* 6 */
    { 6, "|0m6m2d" },                           /* 7 */
    { 6, "o0d0i6i6do0i0m6m6i" },                /* 8 */
    { 6, "o0g0m6m6g~6j6d1d" },                  /* 9 */
    { 0, "|0d0d|0i0i" },                        /* : */
    { 1, "|1e0b|1i1i" },                        /* ; */
    { 5, "|5k0h5e" },                           /* < */
    { 5, "|0g5g|0i5i" },                        /* = */
    { 5, "|0k5h0e" },                           /* > */
    { 5, "~0k0m5m5j2i2g|2d2d" },                /* ? */
    { 8, "~6f4e3g3j5k6h6f8f8m0m0d6d" },         /* @ */
    { 6, "|0d3m6d|1g5g" },                      /* A */
    { 6, "|0d0m~0m5m5i0i~0i6i6d0d" },           /* B */
    { 6, "~6k6m0m0d6d6f" },                     /* C */
    { 6, "|0d0m~0m3m6m6d3d0d" },                /* D */
    { 5, "|5d0d0m5m|0i4i" },                    /* E */
    { 5, "|0d0m5m|0i4i" },                      /* F */
    { 6, "~6k6m0m0d6d6h|6h4h" },                /* G */
    { 6, "|0d0m|6d6m|0i6i" },                   /* H */
    { 0, "|0d0m" },                             /* I */
    { 4, "|4m4g~4g4d0d0f" },                    /* J */
    { 6, "|0d0m|6m0h|2j6d" },                   /* K */
    { 5, "|0m0d5d" },                           /* L */
    { 8, "|0d0m4f8m8d" },                       /* M */
    { 6, "|0d0m6d6m" },                         /* N */
    { 7, "o0d0m7m7d" },                         /* O */
    { 6, "|0d0m~0m3m6m6h3h0h" },                /* P */
    { 7, "o0d0m7m7d|4g7c" },                    /* Q */
    { 6, "|0d0m~0m3m6m6h3h0h|3h6d" },           /* R */
    { 6, "~6k6m0m0i6i6d0d0f" },                 /* S */
    { 6, "|3d3m|0m6m" },                        /* T */
    { 6, "|0m0g~0g0d6d6g|6g6m" },               /* U */
    { 6, "|0m3d6m" },                           /* V */
    { 8, "|0m2d4l6d8m" },                       /* W */
    { 6, "|0d6m|0m6d" },                        /* X */
    { 6, "|0m3h6m|3h3d" },                      /* Y */
    { 6, "|0m6m0d6d" },                         /* Z */
    { 2, "|2n0n0b2b" },                         /* [ */
    { 4, "|0n4c" },                             /* \ */
    { 2, "|0n2n2b0b" },                         /* ] */
    { 4, "|0k2m4k" },                           /* ^ */
    { 5, "|0c5c" },                             /* _ */
    { 1, "|0m1k" },                             /* ` */
    { 5, "o0d0j5j5d|5j5d" },                    /* a */
    { 5, "|0m0do0d0j5j5d" },                    /* b */
    { 5, "~5i5j0j0d5d5e" },                     /* c */
    { 5, "|5m5do0d0j5j5d" },                    /* d */
    { 5, "|0g5g~5g5j0j0d5d5e" },                /* e */
    { 4, "~4m1m1k|1k1d|0j3j" },                 /* f */
    { 5, "o0d0j5j5d|5j5c~5c5a0a0b" },           /* g */
    { 5, "|0m0d~0g0j5j5g|5g5d" },               /* h */
    { 0, "|0d0j|0m0m" },                        /* i */
    { 1, "|1j1c~1c1a0a|1m1m" },                 /* j */
    { 5, "|0m0d|5j0g|2h5d" },                   /* k */
    { 0, "|0d0m" },                             /* l */
    { 8, "|0d0j~0g0j4j4g|4g4d~4g4j8j8g|8g8d" }, /* m */
    { 5, "|0d0j~0g0j5j5g|5g5d" },               /* n */
    { 5, "o0d0j5j5d" },                         /* o */
    { 5, "|0a0jo0d0j5j5d" },                    /* p */
    { 5, "|5a5jo0d0j5j5d" },                    /* q */
    { 3, "|0d0j~0g0j3j" },                      /* r */
    { 4, "~4i4j0j0g4g4d0d0e" },                 /* s */
    { 3, "|1m1f~1f1d3d|0j3j" },                 /* t */
    { 5, "|0j0g~0g0d5d5g|5j5d" },               /* u */
    { 4, "|0j2d4j" },                           /* v */
    { 8, "|0j2d4j6d8j" },                       /* w */
    { 4, "|0d4j|0j4d" },                        /* x */
    { 4, "|0j2d|4j1b0a" },                      /* y */
    { 4, "|0j4j0d4d" },                         /* z */
    { 3, "~3n1n1k1i0h~0h1h1f1c3b" },            /* { */
    { 0, "|0n0b" },                             /* | */
    { 3, "~0n2n2k2i3h~3h2h2f2c0b" },            /* } */
    { 6, "~0h0i2j4h6h6i" },                     /* ~ */
};

/* Grid units. */
static const double capital = 9.0;
static const double spacing = 2.9;

enum
{
	segmentMax = 256,
	controlMax = 16,
	curveSteps = 6
};

/* A glyph as straight pieces in pixels. */
typedef struct Outline
{
	int count;
	double ends[segmentMax][4]; /* x0, y0, x1, y1 */
} Outline;

typedef struct Pen
{
	double x, y, scale; /* where the grid's origin (baseline, left) is, pixels per grid unit */
} Pen;

static void AddSegment( Outline *outline, const Pen *pen, const double *a, const double *b )
{
	if ( outline->count == segmentMax )
		return;
	double *end = outline->ends[outline->count++];
	end[0] = pen->x + pen->scale * a[0];
	end[1] = pen->y - pen->scale * a[1];
	end[2] = pen->x + pen->scale * b[0];
	end[3] = pen->y - pen->scale * b[1];
}

/* One span of a quadratic B-spline: from the middle (or the held end) before control point b to the
 * one after it. */
static void AddArc( Outline *outline, const Pen *pen, const double *a, const double *b, const double *c )
{
	double last[2] = { a[0], a[1] };
	for ( int step = 1; step <= curveSteps; ++step )
	{
		double t = (double)step / curveSteps, s = 1.0 - t;
		double point[2];
		for ( int i = 0; i < 2; ++i )
			point[i] = s * s * a[i] + 2.0 * s * t * b[i] + t * t * c[i];
		AddSegment( outline, pen, last, point );
		memcpy( last, point, sizeof( last ) );
	}
}

static void AddStroke( Outline *outline, const Pen *pen, char kind, double ( *points )[2], int count )
{
	if ( kind == '|' || count < 3 )
	{
		for ( int i = 0; i + 1 < count; ++i )
			AddSegment( outline, pen, points[i], points[i + 1] );
		return;
	}
	int first = kind == 'o' ? 0 : 1, last = kind == 'o' ? count - 1 : count - 2;
	for ( int i = first; i <= last; ++i )
	{
		const double *before = points[( i + count - 1 ) % count], *after = points[( i + 1 ) % count];
		double a[2], c[2];
		for ( int k = 0; k < 2; ++k )
		{
			a[k] = kind != 'o' && i == first ? before[k] : 0.5 * ( before[k] + points[i][k] );
			c[k] = kind != 'o' && i == last ? after[k] : 0.5 * ( after[k] + points[i][k] );
		}
		AddArc( outline, pen, a, points[i], c );
	}
}

static void MakeOutline( const Glyph *glyph, const Pen *pen, Outline *outline )
{
	outline->count = 0;
	const char *text = glyph->strokes;
	while ( *text != '\0' )
	{
		char kind = *text++;
		double points[controlMax][2];
		int count = 0;
		while ( *text >= '0' && *text <= '9' && count < controlMax )
		{
			points[count][0] = text[0] - '0';
			points[count][1] = text[1] - 'd';
			count += 1;
			text += 2;
		}
		AddStroke( outline, pen, kind, points, count );
	}
}

static double DistanceSquared( const double *end, double x, double y )
{
	double dx = end[2] - end[0], dy = end[3] - end[1];
	double length = dx * dx + dy * dy;
	double t = length > 0.0 ? ( ( x - end[0] ) * dx + ( y - end[1] ) * dy ) / length : 0.0;
	t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
	double ex = x - end[0] - t * dx, ey = y - end[1] - t * dy;
	return ex * ex + ey * ey;
}

static uint8_t Mix( uint8_t below, uint8_t above, double share )
{
	return (uint8_t)( below + share * ( (double)above - below ) + 0.5 );
}

static void DrawOutline( lmbPicture *picture, const Outline *outline, double weight, lmbColor color )
{
	double box[4] = { 1e9, 1e9, -1e9, -1e9 };
	for ( int i = 0; i < outline->count; ++i )
		for ( int k = 0; k < 4; ++k )
		{
			box[k % 2] = fmin( box[k % 2], outline->ends[i][k] );
			box[2 + k % 2] = fmax( box[2 + k % 2], outline->ends[i][k] );
		}
	int left = (int)fmax( 0.0, floor( box[0] - weight ) ), top = (int)fmax( 0.0, floor( box[1] - weight ) );
	int right = (int)fmin( picture->width - 1.0, ceil( box[2] + weight ) );
	int bottom = (int)fmin( picture->height - 1.0, ceil( box[3] + weight ) );
	for ( int row = top; row <= bottom; ++row )
		for ( int column = left; column <= right; ++column )
		{
			double nearest = 1e18;
			for ( int i = 0; i < outline->count; ++i )
				nearest = fmin( nearest, DistanceSquared( outline->ends[i], column + 0.5, row + 0.5 ) );
			double cover = 0.5 + 0.5 * weight - sqrt( nearest );
			if ( cover <= 0.0 )
				continue;
			cover = fmin( cover, 1.0 );
			uint8_t *pixel = picture->pixels + 3 * ( (size_t)row * (size_t)picture->width + (size_t)column );
			pixel[0] = Mix( pixel[0], color.r, cover );
			pixel[1] = Mix( pixel[1], color.g, cover );
			pixel[2] = Mix( pixel[2], color.b, cover );
		}
}

static const Glyph *FindGlyph( char letter )
{
	return letter >= ' ' && letter <= '~' ? &glyphs[letter - ' '] : &unknownGlyph;
}

double lmbPicture_TextWidth( double size, const char *text )
{
	double width = 0.0;
	for ( const char *letter = text; *letter != '\0'; ++letter )
		width += FindGlyph( *letter )->width + ( letter[1] != '\0' ? spacing : 0.0 );
	return width * size / capital;
}

double lmbPicture_Text( lmbPicture *picture, double x, double y, const lmbLettering *lettering,
                        const char *text )
{
	double weight = lettering->weight > 0.0 ? lettering->weight : fmax( 1.0, lettering->size / 7.0 );
	Pen pen = { .x = x, .y = y, .scale = lettering->size / capital };
	if ( !( fabs( x ) < 1e6 && fabs( y ) < 1e6 && lettering->size > 0.0 && lettering->size < 1e4 ) )
		return x;
	double end = x;
	for ( const char *letter = text; *letter != '\0'; ++letter )
	{
		const Glyph *glyph = FindGlyph( *letter );
		Outline outline;
		MakeOutline( glyph, &pen, &outline );
		DrawOutline( picture, &outline, weight, lettering->color );
		end = pen.x + glyph->width * pen.scale;
		pen.x = end + spacing * pen.scale;
	}
	return end;
}
