/* What a motion keeps; internal to src/formats. */
#ifndef LMB_FORMATS_MOTION_CURVES_H
#define LMB_FORMATS_MOTION_CURVES_H

#include "formats/character_rig.h"
#include "formats/motion.h"

/* One animated translation, rotation or scale: a cubic spline over equally spaced keys. */
typedef struct lmbCurve
{
	int live;           /* node among the rig's */
	int offset;         /* 0 translation, 3 rotation, 7 scale: place in a node's local[10] */
	int width;          /* 3 or 4 */
	double *values;     /* (keyCount x width) */
	double *curvatures; /* (keyCount x width) second derivatives, 1/s^2 */
} lmbCurve;

typedef struct lmbMotionCurves
{
	int clip;
	double from;     /* s of clip time: where the motion starts */
	double warpIn;   /* s of motion time */
	double firstKey; /* s of clip time */
	double step;     /* s between keys */
	int keyCount;    /* at least 2 */
	int curveCount;
	lmbCurve *curves;
} lmbMotionCurves;

/* Clip time at a motion time, clamped to the motion. */
double lmbMotion_ClipTime( const lmbMotion *motion, double time );
/* local (liveCount x 10) of the rig's nodes at a motion time. */
void lmbMotion_Local( const lmbMotion *motion, double time, double *local );

/* Second derivatives of the not-a-knot cubic spline through equally spaced values, (count x width) both. */
lmbStatus lmbSpline_Curvatures( const double *values, int count, int width, double step, double *curvatures,
                                lmbError *error );
/* Zero-phase low-pass of every column: a fourth-order Butterworth filter (bilinear transform) run forwards
 * and backwards, so the amplitude at frequency f is divided by 1 + (tan(pi f/rate) / tan(pi cutoff/rate))^8.
 * cutoff in (0, rate/2). */
lmbStatus lmbLowPass_Run( double *values, int count, int width, double rate, double cutoff, lmbError *error );

#endif
