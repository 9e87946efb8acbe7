/* Shared by limb/plant_mujoco*.c only. */
#ifndef LMB_LIMB_PLANT_MUJOCO_H
#define LMB_LIMB_PLANT_MUJOCO_H

#include "limb/plant_private.h"

#include <mujoco/mujoco.h>

typedef struct lmbMujoco
{
	mjModel *model;
	mjData *data;
} lmbMujoco;

/* Calls into MuJoCo. False when MuJoCo found an error that it would have ended the process for; *problem says
 * which, until the thread's next call. */
bool lmbMujoco_Guarded( void ( *call )( void *context ), void *context, const char **problem );

/* A plant of a model that was checked; takes both over, also when it fails. Names and starts are set. */
lmbStatus lmbMujoco_Wrap( mjModel *model, mjData *data, const char *name, lmbPlant **out, lmbError *error );

#endif
