/* What the steps of lmbTissue_Make hand to one another. */
#ifndef LMB_FLESH_TISSUE_BUILD_H
#define LMB_FLESH_TISSUE_BUILD_H

#include "flesh/lattice.h"
#include "flesh/tissue.h"

enum
{
	lmbMostInfluences = 8 /* bones of a node */
};

/* Fill below this counts as this in mass and stiffness: a node that only slivers carry would make both
 * matrices nearly singular, and folds first where skin creases. With 0.05 a human's punches took a quarter
 * more Newton iterations than with 0.1; 0.1 adds at most 1 % to the mass of any character measured. */
#define LMB_LEAST_FILL 0.1

typedef struct lmbTissueBuild
{
	const lmbCharacter *character;
	const lmbTissueDef *def;
	const lmbJob *job;
	lmbSurface surface;
	lmbLattice *lattice;
	lmbTissue *tissue;
	lmbArena scratch;
	uint8_t *rigidBones; /* (boneCount) 1: chosen to stay rigid, itself or an ancestor */
	int32_t *carriers;   /* (boneCount) the bone that nodes follow for this one: the topmost rigid bone above
	                        it, else itself. A rigid hand's lattice does not bend with its fingers, which are
	                        thinner than its cells and would turn them inside out. */
	double *rigidShare;  /* (nodeCount) share of the node's weights on rigid bones */
	double *reach;       /* (vertexCount) m, from the vertex to the inside that carries it */
} lmbTissueBuild;

/* The steps, in order. Each allocates what it fills in the tissue's arena. */

/* nodeBones, nodeWeights, rigidShare: the skin's weights, diffused over the lattice. */
lmbStatus lmbTissueBuild_Weights( lmbTissueBuild *build, lmbError *error );
/* held: nodes inside bones, inside rigid regions, and of parts that no bone would hold otherwise. */
lmbStatus lmbTissueBuild_Bones( lmbTissueBuild *build, lmbError *error );
/* skinTets, skinWeights, softness, reach. */
lmbStatus lmbTissueBuild_Skin( lmbTissueBuild *build, lmbError *error );

/* How rigid a share of weights on rigid bones makes things: 0 below 0.1, 1 above 0.6, smooth between. */
double lmbRigidity( double share );

#endif
