/* The loops in which a step spends its time. The scalar versions define the results and the order of every
 * sum; vector versions must match them bit for bit.
 *
 * Lanes: vertices are worked on in blocks of lmbLanes, one array of lanes per coordinate; sums over shapes
 * run on tiles of lmbTile lanes, so that the sums stay in registers. */
#ifndef LMB_RUNTIME_KERNELS_H
#define LMB_RUNTIME_KERNELS_H

#include <stddef.h>
#include <stdint.h>

enum
{
	lmbLanes = 64, /* vertices of a block */
	lmbTile = 16,  /* lanes of a tile; divides lmbLanes */
	lmbBoneFloats = 16
};

/* One block's blended bones: rows of a 3x4 matrix, then an unnormalised quaternion. */
typedef struct lmbBlend
{
	float entry[lmbBoneFloats][lmbLanes];
} lmbBlend;

/* y = bias + W^T x, inputs in ascending order. weights (inputs x outputs), outputs a multiple of lmbTile;
 * bias Nullable. */
void lmbKernel_Dense( int inputs, int outputs, const float *weights, const float *bias, const float *x,
                      float *y );

/* Sums of shapes over a tile of one coordinate. shapes (count x lmbTile);
 * out[lane] = sum_i amounts[i] shapes[i][lane], i ascending. */
void lmbKernel_Shapes( int count, const float *shapes, const float *amounts, float *out );
/* Three sums over the same shapes, each as above. */
void lmbKernel_Shapes3( int count, const float *shapes, const float *const amounts[3], float *const out[3] );

/* Blends bones over a block. palette (bones x lmbBoneFloats): matrix and quaternion of each; bones and
 * weights (lmbLanes x influenceCount), heaviest first; used: how many of them to read. Quaternions are
 * turned to the half-space of the lane's first bone. */
void lmbKernel_Blend( const float *palette, const uint16_t *bones, const float *weights, int influenceCount,
                      int used, lmbBlend *blend );

/* out = M rest, points (3 x lmbLanes). */
void lmbKernel_Points( const lmbBlend *blend, const float *rest, float *out );
/* Makes the blend's quaternions unit length. */
void lmbKernel_Normalize( lmbBlend *blend );
/* out = R(q) in. q (4 x lmbLanes) unit, in and out (3 x lmbLanes), no overlap. */
void lmbKernel_Rotate( const float *q, const float *in, float *out );
/* out = m in for one 3x3 matrix; no overlap. */
void lmbKernel_Turn( const float *m, const float *in, float *out );

/* Sums of the face normals around each vertex, weighted by area: normals (vertexCount x 3) is zeroed first;
 * group[v] is where vertex v collects. Then each is made unit length (a vertex without area points up) and
 * copied to its group. positions (vertexCount x 3). */
void lmbKernel_Normals( int vertexCount, int triangleCount, const int32_t *triangles, const int32_t *group,
                        const float *positions, float *normals );

#endif
