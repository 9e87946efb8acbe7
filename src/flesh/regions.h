/* The network's regions: overlapping pieces of soft skin, one per bone that moves enough of it. */
#ifndef LMB_FLESH_REGIONS_H
#define LMB_FLESH_REGIONS_H

#include "flesh/tissue.h"
#include "flesh/tissue_surface.h"

typedef struct lmbRegionArea
{
	int bone, vertexCount;
	int32_t *vertices; /* (vertexCount) skin vertices with softness, ascending */
	double *weights;   /* (vertexCount) in (0, 1]; over all regions they sum to 1 at every soft vertex */
} lmbRegionArea;

typedef struct lmbRegionMap
{
	int count;
	lmbRegionArea *areas; /* (count) in order of bones */
	double *vertexAreas;  /* (the character's vertexCount) m^2: a vertex's share of the skin */
	uint8_t *soft;        /* (vertexCount) 1: softness >= 0.5, the vertices that errors are measured on */
	double softArea;      /* m^2, of those */
} lmbRegionMap;

typedef struct lmbRegionDef
{
	double smallest;  /* share of the soft skin that a bone must move for a region of its own, in [0, 1] */
	double spread;    /* m: how far the skin weights are diffused */
	double threshold; /* region weights up to this are taken off everywhere, in [0, 0.5) */
} lmbRegionDef;

/* 0.005, 4 % of the root of the skin's area (5.5 cm on a grown man), 0.05. */
lmbRegionDef lmbDefaultRegionDef( const lmbSurface *surface );

/* The map lives in the arena. A character without soft skin is lmb_statusInvalidArgument. */
lmbStatus lmbRegions_Make( const lmbCharacter *character, const lmbTissue *tissue, const lmbSurface *surface,
                           const lmbRegionDef *def, lmbArena *arena, lmbRegionMap *map, lmbError *error );

#endif
