/* The table of the keys of a character's project; only for project*.c. */
#ifndef LMB_FLESH_PROJECT_TABLE_H
#define LMB_FLESH_PROJECT_TABLE_H

#include "flesh/project.h"

extern const lmbProjectNoun lmbProjectBones, lmbProjectClips;

#endif
