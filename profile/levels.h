/*
 * levels.h - what is above the functions of a path: the cgroup, process or thread that ran them, its state, and the programs
 * that started it.
 *
 * Each is a frame of the kind FRAME_LEVEL, which is not a function: views and exporters show it where they show paths.
 */
#ifndef FATHOM_PROFILE_LEVELS_H
#define FATHOM_PROFILE_LEVELS_H

#include "profile/frames.h"

enum level {
    LEVEL_CGROUP,
    LEVEL_CONTAINER,
    LEVEL_SERVICE,
    LEVEL_EXE,
    LEVEL_COMM,
    LEVEL_PID,
    LEVEL_TID,
    LEVEL_STATE, /* "[running]", or why the thread is not on a CPU (perfdata/wait_reason.h) */
    LEVEL_KEYS,
    /* one frame per program: the process's, and those that started it (process/programs.h) */
    LEVEL_PROGRAMS = LEVEL_KEYS,
    LEVELS,
};

/* From the outermost inwards, each at most once. */
struct levels {
    uint8_t at[LEVELS];
    uint8_t count;
};

/* "cgroup", ...; for LEVEL_PROGRAMS "programs". */
const char *level_name(enum level level);
/* Whether the level follows from the process's cgroup. */
bool level_needs_cgroup(enum level level);
/* "cgroup,comm"; NULL: none. -EINVAL: no such name, or one twice. */
int levels_parse(const char *names, struct levels *out, struct fathom_error *err);
/* Appends LEVEL_PROGRAMS. */
void levels_add_programs(struct levels *levels);

/* The level of a FRAME_LEVEL. */
enum level level_of(const struct frame *frame);

#endif
