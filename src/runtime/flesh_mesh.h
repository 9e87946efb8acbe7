/* The mesh as normals read it. */
#ifndef LMB_RUNTIME_FLESH_MESH_H
#define LMB_RUNTIME_FLESH_MESH_H

#include "flesh_model.h"

/* Takes the mesh's memory, and with memory at hand fills it. Scratch lies behind what is taken, where later
 * parts may write: *most grows to what it reaches to. */
void lmbFleshMesh_Pack( lmbCarver *carver, const lmbFleshFile *file, lmbFlesh *model, uint64_t *most );

#endif
