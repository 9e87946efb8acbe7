/* The soft body: a lattice of tetrahedra around the skin, held by bones inside it. How it is made, and the
 * numbers behind every choice: docs/derivations/tissue.md.
 *
 * Held nodes follow the pose by linear blend skinning with their own weights. A tetrahedron whose four nodes
 * are held has no unknowns; its energy is a number that the solver may leave out. */
#ifndef LMB_FLESH_TISSUE_H
#define LMB_FLESH_TISSUE_H

#include "base/job.h"
#include "formats/character.h"

typedef struct lmbTissue
{
	lmbArena arena;
	int nodeCount, tetCount, boneCount, vertexCount;
	int influenceCount;  /* per node */
	double cell;         /* m, edge of a lattice cell */
	double *nodes;       /* (nodeCount x 3) m, bind space */
	int32_t *tets;       /* (tetCount x 4) node indices, positive volume */
	double *fill;        /* (tetCount) share of the volume inside the skin, at least 0.1: scales the mass and
	                        the stiffness */
	double *young;       /* (tetCount) Pa */
	double *poisson;     /* (tetCount) */
	double *density;     /* (tetCount) kg/m^3 */
	double *mass;        /* (nodeCount) kg, lumped, fill included */
	uint8_t *held;       /* (nodeCount) 1: inside a bone, follows the blended pose exactly */
	int32_t *nodeBones;  /* (nodeCount x influenceCount) heaviest first */
	double *nodeWeights; /* (nodeCount x influenceCount) rows sum to 1; smooth ("diffused") */
	int32_t *skinTets;   /* (vertexCount) the tetrahedron that carries the vertex */
	double *skinWeights; /* (vertexCount x 4) barycentric, sums to 1, may reach slightly outside [0, 1] */
	double *softness;    /* (vertexCount) 0: artist's skinning, 1: tissue; smooth between */
} lmbTissue;

typedef struct lmbMaterial
{
	const char *bone; /* the region is where this bone has the largest weight; NULL: everywhere */
	double young;     /* Pa, in [100, 1e9] */
	double poisson;   /* in [0, 0.495] */
	double density;   /* kg/m^3, in [1, 1e5] */
} lmbMaterial;

typedef struct lmbBoneRadius
{
	const char *bone;
	double radius; /* m, taken as it is, however thin; 0: this bone holds nothing */
} lmbBoneRadius;

typedef struct lmbTissueDef
{
	double cell;                  /* m; 0: from nodeTarget */
	int nodeTarget;               /* aimed-at number of nodes when cell is 0; in [50, 200000] */
	double boneThickness;         /* radius of a bone as a share of its distance to the skin, in [0, 0.9];
	                                 at least one cell */
	const lmbMaterial *materials; /* (materialCount) later ones win */
	int materialCount;
	const lmbBoneRadius *radii; /* (radiusCount) overrides of what was measured */
	int radiusCount;
	const char *const *rigidBones; /* (rigidCount) skin of these bones and of all below them keeps the
	                                  artist's skinning; the lattice in it moves as one piece */
	int rigidCount;
} lmbTissueDef;

/* cell 0, nodeTarget 2400, boneThickness 0.35, one material (NULL, 50e3, 0.45, 1000), nothing rigid. */
lmbTissueDef lmbDefaultTissueDef( void );

typedef struct lmbTissueReport
{
	double mass;          /* kg, of all nodes; up to 1 % above density x volume, see fill */
	double volume;        /* m^3 of the lattice inside the skin, tetrahedra clipped */
	double surfaceVolume; /* m^3, of the skin by the divergence theorem; meaningful when closed. Parts that
	                         overlap (eyes in a head) count twice here and once in volume. */
	bool closed;          /* every edge has two triangles after welding */
	int componentCount;   /* connected parts of the welded skin */
	int heldCount;        /* nodes inside bones */
	int softVertexCount;  /* softness >= 0.5 */
	int splitCellCount;   /* cells that separate parts of the body share and that were split */
} lmbTissueReport;

/* On failure *out is NULL and error says what to change: a bone's name, a value out of its range
 * (lmb_statusInvalidArgument, lmb_statusNotFound), a skin too thin for its cells (lmb_statusUnsupported),
 * broken geometry (lmb_statusCorrupt). report and job may be NULL. The same bits for any number of threads.
 * Free with lmbTissue_Free. */
lmbStatus lmbTissue_Make( const lmbCharacter *character, const lmbTissueDef *def, const lmbJob *job,
                          lmbTissue **out, lmbTissueReport *report, lmbError *error );
void lmbTissue_Free( lmbTissue *tissue ); /* NULL is fine */

/* safetensors, format "limber.tissue", version 1: an array for each field above, named in snake case
 * ("skin_tets"), and "cell" and "bone_count" of one number. Load checks indices, signs, sums and volumes. */
lmbStatus lmbTissue_Write( const lmbTissue *tissue, const char *path, lmbError *error );
lmbStatus lmbTissue_Load( const char *path, lmbTissue **out, lmbError *error );
/* VTK XML unstructured grid that ParaView opens: tetrahedra, held, bone, fill, young. */
lmbStatus lmbTissue_WriteVtu( const lmbTissue *tissue, const char *path, lmbError *error );

/* Skin from nodes: out_v = (1 - softness) LBS_v + softness sum_k weight_k node_k. nodes (nodeCount x 3)
 * and bones in scene space; out (vertexCount x 3), apart from nodes. */
void lmbTissue_Skin( const lmbTissue *tissue, const lmbCharacter *character, const double *bones,
                     const double *nodes, double *out );

#endif
