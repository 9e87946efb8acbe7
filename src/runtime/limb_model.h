/* What a loaded limb is made of. */
#ifndef LMB_RUNTIME_LIMB_MODEL_H
#define LMB_RUNTIME_LIMB_MODEL_H

#include <limber/limb.h>

#include "limb_core.h"

struct lmbLimb
{
	lmbCoreModel core;
	lmbLimbInfo info;
	uint64_t key; /* of the file's bytes: a saved state belongs to one model */
	const char *dofNames[lmb_limbMaxDofs], *inputNames[lmb_limbMaxInputs];
};

/* The model as a step reads it, for exports. */
const lmbCoreModel *lmbLimb_Core( const lmbLimb *model );

/* Floats of an instance's recurrent state; 0 for models with an integrator. */
int lmbCore_HiddenFloats( const lmbCoreModel *model );

#endif
