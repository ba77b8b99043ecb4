/* allocators.h - the functions by which processes allocate, and whose arguments tell how much: event "allocator:BYTES" (probes.h). */
#ifndef FATHOM_COLLECTOR_PROBES_ALLOCATORS_H
#define FATHOM_COLLECTOR_PROBES_ALLOCATORS_H

#include <limits.h>
#include <sys/types.h>

#include "base/error.h"
#include "collector/verify/verify_wire.h"

/* Those with the size in the same arguments. */
struct allocator {
    const char *fields;        /* of their probes: two, whose product it is */
    const char *functions[10]; /* up to the first NULL */
};
extern const struct allocator allocators[VERIFY_ALLOCATORS];

/* The files that have the processes' allocators, once each. */
struct allocator_files {
    struct allocator_file {
        char path[PATH_MAX]; /* as we see it */
        dev_t device;
        ino_t inode;
    } * list; /* the caller's to free, even on failure */
    size_t count, capacity;
};

/* Of each process its program, or else a library that is not the C library, or else that. Errors of proc_maps(); -ENOENT: none of its files has one. */
int allocators_find(const pid_t *pids, size_t count, struct allocator_files *out, struct fathom_error *err);

#endif
