/*
 * levels.h - what stands above the functions of a path: the cgroup, process or thread that ran them, its state, and the programs that started it.
 *
 * Each is a frame of the kind FRAME_LEVEL, which is no function: views and exporters show it where they show paths.
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
    LEVEL_STATE, /* "[running]", or why the thread has no CPU (perfdata/wait_reason.h) */
    LEVEL_KEYS,
    LEVEL_PROGRAMS =
        LEVEL_KEYS, /* a frame for each program: of the process, and those that started it (process/programs.h) */
    LEVELS,
};

/* From the outermost inwards, each at most once. */
struct levels {
    uint8_t at[LEVELS];
    uint8_t count;
};

/* "cgroup", ...; of LEVEL_PROGRAMS "programs". */
const char *level_name(enum level level);
/* Whether it is told by the process's cgroup. */
bool level_needs_cgroup(enum level level);
/* "cgroup,comm"; NULL: none. -EINVAL: no such name, or one twice. */
int levels_parse(const char *names, struct levels *out, struct fathom_error *err);
/* Appends LEVEL_PROGRAMS. */
void levels_add_programs(struct levels *levels);

/* What a FRAME_LEVEL is of. */
enum level level_of(const struct frame *frame);

#endif
