/*
 * level_frames.h - the levels above a sample's path, as frames.
 */
#ifndef FATHOM_PROFILE_LEVEL_FRAMES_H
#define FATHOM_PROFILE_LEVEL_FRAMES_H

#include "process/process.h"
#include "profile/levels.h"

/* The frames of a sample's level, from the outermost inwards, at most LEVEL_FRAMES: exactly one except for LEVEL_PROGRAMS.
 * process: NULL: unknown. Returns how many; -ENOMEM. */
#define LEVEL_FRAMES 64
int level_frames(enum level level, struct frames *frames, const struct process *process,
                 const struct sample *sample, uint32_t items[LEVEL_FRAMES]);

#endif
