/* The tissue's vibration modes at rest with the bones held: K phi = w^2 M phi, mass-normalised. */
#ifndef LMB_FLESH_MODES_H
#define LMB_FLESH_MODES_H

#include "flesh/tissue.h"

typedef struct lmbModes
{
	lmbArena arena;
	int count, nodeCount;
	double *omegaSquared; /* (count) rad^2/s^2, ascending */
	double *shapes;       /* (count x nodeCount x 3) 1/sqrt(kg); zero at held nodes; phi^T M phi = 1 */
	double *residual;     /* (count) |K phi - w^2 M phi| / |K phi| */
} lmbModes;

lmbStatus lmbModes_Compute( const lmbTissue *tissue, int count, const lmbJob *job, lmbModes **out,
                            lmbError *error );
void lmbModes_Free( lmbModes *modes );
lmbStatus lmbModes_Write( const lmbModes *modes, const char *path, lmbError *error ); /* "limber.modes" */
lmbStatus lmbModes_Load( const char *path, lmbModes **out, lmbError *error );

#endif
