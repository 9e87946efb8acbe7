/* How close a model comes to the simulation: sums over frames and vertices, and the numbers of the report.
 *
 * x_D is the dynamic truth, x_Q the quasistatic one, u = x_D - x_Q what dynamics adds. Of a model's skin x
 * over its own still shape N (the network's; skinning's for the column `instant`), with U = x - N:
 *   rms             sqrt( mean |x - x_D|^2 )
 *   captured_exact  1 - sum |u - U|^2 / sum |u|^2   with the springs driven by x_Q instead of N
 *   dynamic_share   1 - sum |u - U|^2 / sum |u|^2   with the model as it ships
 *   captured        1 - ( rms / rms of the network )^2
 *   captured_cap    1 - sum |N - x_Q|^2 / sum |N - x_D|^2: captured when U = u
 * A number without a meaning (nothing to divide by, a column that the model does not have) is NaN. */
#ifndef LMB_EVALUATE_METRICS_H
#define LMB_EVALUATE_METRICS_H

#include <stdbool.h>
#include <stdint.h>

typedef enum lmbColumn
{
	lmb_columnSkinning,
	lmb_columnNetwork,
	lmb_columnInstant,
	lmb_columnVertex,
	lmb_columnModalUnfitted,
	lmb_columnModal,
	lmb_columnHybrid,
	lmb_columnCount
} lmbColumn;

/* As metrics.json spells it: "modal_unfitted". */
const char *lmbColumn_Name( lmbColumn column );

/* One frame of one motion. Positions (vertexCount x 3) m, all in one space. */
typedef struct lmbScoreFrame
{
	int vertexCount;
	const uint8_t *judged;                 /* (vertexCount) 1: counts */
	const float *still, *moving;           /* x_Q, x_D */
	const float *columns[lmb_columnCount]; /* x of each model; NULL: not there */
} lmbScoreFrame;

/* Zero-initialise; add the frames; the order of adding is the order of summation. */
typedef struct lmbScoreSums
{
	int frameCount;
	double pointCount;             /* judged vertices x frames */
	double dynamics;               /* sum |u|^2 */
	double error[lmb_columnCount]; /* sum |x - x_D|^2 */
	double still[lmb_columnCount]; /* sum |x - x_Q|^2 */
	double shape[lmb_columnCount]; /* sum |u - U|^2 */
	double exact[lmb_columnCount]; /* the same, driven by x_Q */
	bool present[lmb_columnCount], exactPresent[lmb_columnCount];
} lmbScoreSums;

void lmbScore_AddFrame( lmbScoreSums *sums, const lmbScoreFrame *frame );
/* displacement (vertexCount x 3): U of a column's springs driven by x_Q. For frames that AddFrame was given
 * too, in a sums of its own or in the same. */
void lmbScore_AddExact( lmbScoreSums *sums, lmbColumn column, const lmbScoreFrame *frame,
                        const float *displacement );

typedef struct lmbScore
{
	int frameCount;
	double dynamicsRms;                    /* m, of u: what there is to capture */
	double rms[lmb_columnCount];           /* m, to x_D */
	double stillRms[lmb_columnCount];      /* m, to x_Q; of skinning and network */
	double capturedExact[lmb_columnCount]; /* of the spring layers */
	double dynamicShare[lmb_columnCount];  /* of instant and the spring layers */
	double captured[lmb_columnCount];      /* of the same, beside the network */
	double capturedCap;
} lmbScore;

lmbScore lmbScore_Finish( const lmbScoreSums *sums );

#endif
