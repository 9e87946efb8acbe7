/* The tissue's vibration modes at rest with the bones held: K phi = w^2 M phi, mass-normalised. */
#ifndef LMB_FLESH_MODES_H
#define LMB_FLESH_MODES_H

#include "flesh/tissue.h"

typedef struct lmbModes
{
	lmbArena arena;
	int count, nodeCount;
	double *omegaSquared; /* (count) rad^2/s^2, ascending, > 0 */
	double *shapes;       /* (count x nodeCount x 3) 1/sqrt(kg); zero at held nodes; phi^T M phi = 1 */
	double *residual;     /* (count) |K phi - w^2 M phi| / |K phi| */
} lmbModes;

/* The `count` slowest modes (fewer when the tissue has fewer), by Lanczos iteration on the inverse (ARPACK
 * over CHOLMOD). K is the elastic energy's second derivative at rest, the solver's own; M the lumped mass.
 * A piece of tissue that no bone holds, or that can turn about the bones that hold it, moves without any
 * stiffness: such motions, below lmbModes_LowestHertz, are no springs; they are left out with a note to
 * the job. The sign of a shape makes its largest entry positive; modes of one frequency are some basis of
 * their plane. The same tissue and count give the same bits. ARPACK keeps state between calls, so calls
 * from several threads wait for one another; OpenBLAS is set to one thread. */
#define lmbModes_LowestHertz 0.05

lmbStatus lmbModes_Compute( const lmbTissue *tissue, int count, const lmbJob *job, lmbModes **out,
                            lmbError *error );
void lmbModes_Free( lmbModes *modes );
lmbStatus lmbModes_Write( const lmbModes *modes, const char *path, lmbError *error ); /* "limber.modes" */
lmbStatus lmbModes_Load( const char *path, lmbModes **out, lmbError *error );

#endif
