/* The skin made fit for questions about inside and outside: welded, sound triangles, turned outwards. */
#ifndef LMB_FLESH_TISSUE_SURFACE_H
#define LMB_FLESH_TISSUE_SURFACE_H

#include "flesh/winding.h"
#include "formats/character.h"

typedef struct lmbSurface
{
	lmbArena arena;
	int pointCount, triangleCount, componentCount;
	double *points;        /* (pointCount x 3) m, bind space: vertices at one place are one point */
	double *normals;       /* (pointCount x 3) unit, or 0 where the triangles say nothing */
	double *areas;         /* (pointCount) m^2, a third of the triangles around */
	int32_t *vertexPoints; /* (vertexCount) point of each vertex of the character */
	int32_t *triangles;    /* (triangleCount x 3) points; degenerate triangles left out */
	int32_t *vertices;     /* (triangleCount x 3) the character's vertices at the same corners */
	int32_t *components;   /* (triangleCount) connected part of each triangle */
	uint8_t *balanced;     /* (componentCount) 1: the part has no border, so winding numbers are whole */
	int32_t *borders;      /* (borderCount x 2) edges of the parts that are not balanced */
	int borderCount;
	bool closed;            /* every edge has exactly two triangles, one each way */
	double volume;          /* m^3, divergence theorem */
	double area;            /* m^2 */
	double low[3], high[3]; /* of the triangles */
	lmbTriangleTree *tree;  /* all triangles */
	lmbTriangleTree *open;  /* those of parts that are not balanced */
} lmbSurface;

/* The character's numbers may be anything: non-finite positions and indices out of range are errors.
 * Free with lmbSurface_Free also after a failure. surface must be zero. */
lmbStatus lmbSurface_Make( const lmbCharacter *character, lmbSurface *surface, lmbError *error );
void lmbSurface_Free( lmbSurface *surface );

#endif
