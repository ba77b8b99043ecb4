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
 * must stay for good. Hook i is function first_id + i, the number that probe_entry gets. changes: patch_step() will be
 * used. NULL, or the reason why the image cannot be hooked, which continues "left out because". */
const char *patch_prepare(struct patch *patch, const struct plan *plan, const struct patch_target *target,
                          uint32_t first_id, bool changes);
/* Installs the hooks, for the first time or again after the image was closed and reopened at the same place.
 * NULL, or the reason why not. */
const char *patch_apply(struct patch *patch);
/* The steps, in order, to take hooks out and put them in again while other threads run; see bursts.c. */
enum patch_step {
    PATCH_TRAPS,    /* an int3 at the entries */
    PATCH_TAILS_IN, /* and pads */
    PATCH_HEADS_IN,
    PATCH_TAILS_OUT,
    PATCH_HEADS_OUT,
    PATCH_PADS_OUT
};
/* Requires that the image's code is writable (patch_open()). */
void patch_step(const struct patch *patch, enum patch_step step);
/* Makes the image's code writable, or no longer. false: not permitted; then nothing is writable. */
bool patch_open(const struct patch *patch, bool open);
/* Whether an address is inside the bytes that the steps replace, where a thread would continue with other
 * instructions. */
bool patch_is_inside(const struct patch *patch, uint64_t pc);
/* Call when the image is no longer in memory: forgets its breakpoints. */
void patch_gone(struct patch *patch);
/* Removes the hooks from a loaded image while other threads run: code with breakpoints is restored, and other
 * hooks only run their function. */
void patch_leave(struct patch *patch);

#endif
