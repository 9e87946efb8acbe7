/* A limb's model from a file, for the tools. */
#ifndef LMB_LIMB_LOAD_H
#define LMB_LIMB_LOAD_H

#include "base/arena.h"
#include "base/error.h"

#include <limber/limb.h>

/* The model lives as long as the arena. Messages name the file. */
lmbStatus lmbLimb_LoadFile( const char *path, lmbArena *arena, lmbLimb **model, lmbError *error );
/* An instance of it in the arena. */
lmbStatus lmbLimb_NewBody( const lmbLimb *model, const lmbLimbDef *def, lmbArena *arena, lmbLimbBody **body,
                           lmbError *error );

#endif
