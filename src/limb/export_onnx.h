/* A limb's accelerations as an ONNX graph: from positions (1 x n), velocities (1 x n) and, where the model
 * has inputs, inputs (1 x m), all float, to accelerations (1 x n). Time is not in it: an integrator is the
 * caller's. A Lagrangian model also gives mass_factor (1 x n(n+1)/2), the lower triangle L of M = L L^T row
 * by row; its derivatives and the solution with L are nodes of the graph like the rest. */
#ifndef LMB_LIMB_EXPORT_ONNX_H
#define LMB_LIMB_EXPORT_ONNX_H

#include "base/error.h"

/* Reads the model file, writes the ONNX file. lmb_statusUnsupported for recurrent models, which have no
 * accelerations. */
lmbStatus lmbLimb_ExportOnnx( const char *path, const char *out, lmbError *error );

#endif
