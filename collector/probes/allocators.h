/* allocators.h - the functions with which processes allocate, and the arguments that have the size: event
 * "allocator:BYTES" (probes.h). */
#ifndef FATHOM_COLLECTOR_PROBES_ALLOCATORS_H
#define FATHOM_COLLECTOR_PROBES_ALLOCATORS_H

#include <limits.h>
#include <sys/types.h>

#include "base/error.h"
#include "collector/verify/verify_wire.h"

/* Functions with the size in the same arguments. */
struct allocator {
    const char *fields;        /* fields of their probes; with two, the size is their product */
    const char *functions[10]; /* up to the first NULL */
};
extern const struct allocator allocators[VERIFY_ALLOCATORS];

/* The files with the processes' allocators, once each. */
struct allocator_files {
    struct allocator_file {
        char path[PATH_MAX]; /* as we see it */
        dev_t device;
        ino_t inode;
    } * list; /* the caller's to free, even on failure */
    size_t count, capacity;
};

/* For each process: its program, or else a library other than the C library, or else the C library. Errors of
 * proc_maps(); -ENOENT: none of the files has an allocator. */
int allocators_find(const pid_t *pids, size_t count, struct allocator_files *out, struct fathom_error *err);

#endif
