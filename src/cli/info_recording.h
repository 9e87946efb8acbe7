/* The part of `limber info` that is about recordings of limbs. */
#ifndef LMB_CLI_INFO_RECORDING_H
#define LMB_CLI_INFO_RECORDING_H

#include "cli/command.h"
#include "limb/recording.h"

/* Whether the ending of the name is that of a table. */
bool lmbInfo_IsRecording( const char *path );
/* Prints the summary, or fills the command's document. */
lmbStatus lmbInfo_Recording( lmbCommand *command, const char *path, const lmbRecordingDef *def,
                             lmbError *error );

#endif
