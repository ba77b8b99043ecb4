/*
 * patch.h - installs the hooks of a plan in an image in memory.
 *
 * Either all hooks are installed or none: a failure leaves the image unchanged. The image's code must not run
 * in another thread while it is patched: at the program's start and inside dlopen, before the image's
 * constructors, it cannot be running.
 */
#ifndef FATHOM_PATHMAP_PROBE_PATCH_H
#define FATHOM_PATHMAP_PROBE_PATCH_H

#include "pathmap/probe/breakpoint.h"
#include "pathmap/wire/plan.h"

#define PATCH_SEGMENTS 8

/* Where an image is in memory. */
struct patch_target {
    uint64_t bias;      /* address in memory - address in the file */
    uint64_t low, high; /* all of the image, whole pages */
    struct patch_segment {
        uint64_t low, high; /* whole pages */
        int prot;
    } code[PATCH_SEGMENTS]; /* the executable segments */
    uint32_t code_count;
};

struct patch {
    struct plan plan;
    const struct patch_target *target;
    uint64_t trampolines; /* address of the region */
    uint64_t *entries;    /* address of each hook's trampoline */
    struct breakpoint_table breakpoints;
};

/* Writes the trampolines, not yet the image itself. The patch borrows the plan's data and the target, which
 * must stay for good. Hook i is function first_id + i, the number that probe_entry gets. NULL, or the reason
 * why the image cannot be hooked, which continues "left out because". */
const char *patch_prepare(struct patch *patch, const struct plan *plan, const struct patch_target *target,
                          uint32_t first_id);
/* Installs the hooks, for the first time or again after the image was closed and reopened at the same place.
 * NULL, or the reason why not. */
const char *patch_apply(struct patch *patch);
/* The image is no longer in memory: forgets its breakpoints. */
void patch_gone(struct patch *patch);
/* Removes the hooks from a loaded image while other threads run: code with breakpoints is restored, and other
 * hooks only run their function. */
void patch_leave(struct patch *patch);

#endif
