/*
 * phased.h - counts the calls of a command that is hooked only in some intervals of each phase, and scales them to the whole run (phase-aware
 * remote profiling, section 4). A clock's samples detect the phases (record/phase_switch.h). What the runtime counted in hooked intervals
 * represents the phase's other intervals.
 *
 * Hooks slow a program down several times. Time in the runtime does not count as work, so that intervals have the same amount of the program's
 * own work with and without hooks.
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
    struct hooked *hooked; /* its session has recording.on_request, and no node limit. All are borrowed */
};

int phased_new(const struct phased_options *options, struct phased **out, struct fathom_error *err);
void phased_free(struct phased *phased); /* NULL is allowed */
/* Call the first once the command has started and waits, and the second often. A failure ends the command; phased_end() returns it. */
void phased_begin(void *phased, pid_t pid);
void phased_poll(void *phased);
/* Call it when the command has ended: reads the remaining counts. */
int phased_end(struct phased *phased, struct fathom_error *err);
size_t phased_phases(const struct phased *phased, const struct phase_tally **out); /* weights in ns */
/* A new trie with the scaled calls of a phase; 0: of all phases. */
int phased_trie(const struct phased *phased, uint32_t phase, struct trie **out, struct fathom_error *err);

#endif
