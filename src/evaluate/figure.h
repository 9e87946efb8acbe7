/* Figures for papers: distance or error over time, drawn by gnuplot (docs/decisions/0010-figures.md). */
#ifndef LMB_EVALUATE_FIGURE_H
#define LMB_EVALUATE_FIGURE_H

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

typedef enum lmbFigureFormat
{
	lmb_figureSvg,
	lmb_figurePng
} lmbFigureFormat;

/* lmb_statusNotFound when there is no gnuplot to be started, with how to get one. */
lmbStatus lmbFigure_Check( lmbError *error );

/* Draws the content of an evaluation.json: for a character one panel for each motion (held-out ones, or all
 * when there are none), for a limb one for each test; twelve panels at most. The file is whole or not there.
 * Starts a process and waits for it. */
lmbStatus lmbFigure_Write( const json_t *details, lmbFigureFormat format, const char *path, lmbError *error );

/* What gnuplot is told; false when there is nothing to draw. */
bool lmbFigure_Script( const json_t *details, lmbFigureFormat format, FILE *stream );

#endif
