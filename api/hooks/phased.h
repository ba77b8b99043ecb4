/*
 * phased.h - call counts of a command that has hooks in some intervals of each phase only, scaled to the whole run (phase-aware remote
 * profiling, section 4): a clock's samples tell the phases (record/phase_switch.h), and what the runtime's counts grew by while hooks were in
 * stands for the phase's other intervals.
 *
 * With hooks a program is several times as slow. So time in the runtime is no work: an interval has as much of the program's own with hooks as
 * without them.
 */
#ifndef FATHOM_API_HOOKS_PHASED_H
#define FATHOM_API_HOOKS_PHASED_H

#include "api/hooks/hooked.h"
#include "pathmap/map/trie.h"
#include "pathmap/train/harvest.h"
#include "phases/sampling.h"

struct phased;

struct phased_options {
    double interval_ns; /* CPU time in user mode */
    struct phase_sampling sampling;
    struct image_cache *images;
    const struct host *host;
    struct hooked *hooked; /* its session has recording.on_request, and no limit of nodes. All are borrowed */
};

int phased_new(const struct phased_options *options, struct phased **out, struct fathom_error *err);
void phased_free(struct phased *phased); /* NULL is allowed */
/* Once the command has begun and waits, and then often. Once it fails, the command is told to end, and phased_end() says why. */
void phased_begin(void *phased, pid_t pid);
void phased_poll(void *phased);
/* When the command has ended: takes in what is left. */
int phased_end(struct phased *phased, struct fathom_error *err);
size_t phased_phases(const struct phased *phased, const struct phase_tally **out); /* weights in ns */
/* A new trie with the calls of a phase by its number, or of all with 0, scaled. */
int phased_trie(const struct phased *phased, uint32_t phase, struct trie **out, struct fathom_error *err);

#endif
