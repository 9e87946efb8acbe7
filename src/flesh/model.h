/* One file that holds all that a moving body needs (docs/formats/model.md): written by the tools, read by
 * the runtime. */
#ifndef LMB_FLESH_MODEL_H
#define LMB_FLESH_MODEL_H

#include "base/arena.h"
#include "base/error.h"
#include "flesh/fit.h"
#include "flesh/network.h"
#include "flesh/tissue.h"
#include "formats/character.h"

#include <limber/flesh.h>

/* Packs a character and what was learned about it. tissue gives the softness, NULL counts as soft
 * everywhere; network and springs are Nullable; without both it is plain skinning. A fit that springs lacks
 * (NULL array) leaves its layer out of the model. Parts must belong together: bone, vertex and coefficient
 * counts that differ are an error that says which. */
lmbStatus lmbModel_Write( const lmbCharacter *character, const lmbTissue *tissue, const lmbNetwork *network,
                          const lmbSprings *springs, const char *path, lmbError *error );

/* A model file in memory, loaded by the runtime. */
typedef struct lmbModel
{
	lmbArena arena;
	lmbFlesh *flesh;
} lmbModel;

/* Close also after a failure. */
lmbStatus lmbModel_Open( lmbModel *model, const char *path, lmbError *error );
void lmbModel_Close( lmbModel *model );
/* An instance in the arena's memory; def NULL: the default. */
lmbStatus lmbModel_Body( const lmbModel *model, const lmbFleshDef *def, lmbArena *arena, lmbFleshBody **body,
                         lmbError *error );

#endif
